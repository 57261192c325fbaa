// Port of db/db_impl/db_impl_compaction_flush.cc (compactions).

package dbimpl

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/compaction/job"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

const dbMaxSequence = dbformat.MaxSequenceNumber

// manualCompaction is one step-wise CompactRange. The mutex protects it.
type manualCompaction struct {
	cfd        *db.ColumnFamilyData
	in         compaction.ManualRange
	exclusive  bool
	noTrivial  bool
	canceled   *atomic.Bool // the caller's, or one of its own; nil for CompactFiles
	status     error
	done       bool
	inProgress bool
	incomplete bool // a step ended; the next one is due
	end        dbformat.InternalKey
}

// broadcastAt wakes waiters after a while.
func (d *DBImpl) broadcastAt(after time.Duration) (stop func()) {
	t := time.AfterFunc(after, func() {
		d.mu.Lock()
		d.bgCond.Broadcast()
		d.mu.Unlock()
	})
	return func() { t.Stop() }
}

// prepicked is a compaction that was picked before it was scheduled.
type prepicked struct {
	c      *compaction.Compaction
	manual *manualCompaction
	token  *util.TaskLimiterToken // of compaction_thread_limiter; released when done
	repick bool                   // c only keeps a place; files are picked anew
}

// requestCompactionToken asks the family's compaction_thread_limiter, if it has
// one, for leave. force only counts.
func (d *DBImpl) requestCompactionToken(cfd *db.ColumnFamilyData, force bool, log *logging.LogBuffer) (token *util.TaskLimiterToken, ok bool) {
	limiter, limited := cfd.IOptions().CompactionThreadLimiter.(*util.ConcurrentTaskLimiterImpl)
	if !limited || limiter == nil {
		return nil, true
	}
	if token = limiter.GetToken(force); token == nil {
		return nil, false
	}
	if log != nil {
		logging.ToBuffer(log, "Thread limiter [%s] increase [%s] compaction task, force: %t, tasks after: %d",
			limiter.GetName(), cfd.GetName(), force, limiter.GetOutstandingTask())
	}
	return token, true
}

func (d *DBImpl) backgroundCallCompaction(p *prepicked, pri rocksdb.Priority, status *monitoring.ThreadStatusData) {
	if pri == rocksdb.BottomPriority {
		syncpoint.Process("DBImpl::BGWorkBottomCompaction")
	} else {
		syncpoint.Process("DBImpl::BGWorkCompaction")
	}
	syncpoint.Process("DBImpl::BackgroundCallCompaction:0")
	syncpoint.Process("BackgroundCallCompaction:0")
	if pri == rocksdb.BottomPriority {
		syncpoint.Process("BackgroundCallCompaction:0:BottomPri")
	}
	job := d.newJobContext()
	job.runsIn(status)
	job.bottomPool = pri == rocksdb.BottomPriority
	log := logging.NewLogBuffer(rocksdb.InfoLevel, d.infoLog)
	d.mu.Lock()
	d.st.numRunningCompacts++
	if pri == rocksdb.BottomPriority {
		d.st.numRunningBottom++
	}
	pending := d.captureOutputsLocked()
	err := d.backgroundCompactionLocked(job, log, p, pri)
	syncpoint.Process("BackgroundCallCompaction:1")
	quiet := err == nil || isShutdownOrDropped(err) || rocksdb.CodeOf(err) == rocksdb.CodeIncomplete || rocksdb.CodeOf(err) == rocksdb.CodeCompactionTooLarge
	switch {
	case rocksdb.CodeOf(err) == rocksdb.CodeBusy:
		d.bgCond.Broadcast()
		d.mu.Unlock()
		d.clock.SleepForMicroseconds(10000)
		d.mu.Lock()
	case rocksdb.CodeOf(err) == rocksdb.CodeCompactionTooLarge:
		d.bgCond.Broadcast()
		d.mu.Unlock()
		d.backoff()
		d.mu.Lock()
	case !quiet:
		n := d.families.GetDefault().InternalStats().BumpAndGetBackgroundErrorCount()
		d.bgCond.Broadcast()
		d.mu.Unlock()
		log.FlushBufferToLog()
		logging.Error(d.infoLog, "Waiting after background compaction error: %v, Accumulated background error counts: %d", err, n)
		d.backoff()
		d.mu.Lock()
	}
	if p != nil {
		p.token.Release()
	}
	d.releaseOutputsLocked(pending)
	d.findObsoleteFilesLocked(job, !quiet && rocksdb.CodeOf(err) != rocksdb.CodeBusy, false)
	syncpoint.Process("DBImpl::BackgroundCallCompaction:FoundObsoleteFiles")
	d.mu.Unlock()
	log.FlushBufferToLog()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
		syncpoint.Process("DBImpl::BackgroundCallCompaction:PurgedObsoleteFiles")
	}
	job.clean()
	d.mu.Lock()
	d.st.numRunningCompacts--
	if pri == rocksdb.BottomPriority {
		d.st.numRunningBottom--
	}
	*d.scheduledAtLocked(pri)--
	d.maybeScheduleLocked()
	d.notifyOnBackgroundJobPressureChangedLocked()
	d.bgCond.Broadcast()
	d.mu.Unlock()
}

// backgroundCompactionLocked runs one compaction: the one given, or the first
// that the queue's families have.
func (d *DBImpl) backgroundCompactionLocked(jc *jobContext, log *logging.LogBuffer, p *prepicked, pri rocksdb.Priority) (err error) {
	syncpoint.Process("DBImpl::BackgroundCompaction:Start")
	var c *compaction.Compaction
	var m *manualCompaction
	if p != nil {
		c, m = p.c, p.manual
	}
	switch {
	case d.errorHandler.IsBGWorkStopped():
		err = d.errorHandler.GetBGError()
	case d.shuttingDown.Load():
		err = rocksdb.ShutdownInProgress()
	case d.compactionAborted.Load() > 0:
		err = rocksdb.AllCompactionsAborted()
	case m != nil && m.canceled.Load():
		err = rocksdb.ManualCompactionPaused()
	}
	if err != nil {
		if p == nil {
			d.st.unscheduledCompacts++
		}
		if m != nil {
			m.status, m.done, m.inProgress = err, true, false
		}
		if c != nil {
			c.ReleaseCompactionFiles(err)
			c.Close()
		}
		return err
	}
	err = d.backgroundCompactLocked(jc, log, p)
	syncpoint.Process("DBImpl::BackgroundCompaction:Finish")
	return err
}

// backgroundCompactLocked picks files, unless they are picked, and compacts them.
func (d *DBImpl) backgroundCompactLocked(jc *jobContext, log *logging.LogBuffer, p *prepicked) (err error) {
	var c *compaction.Compaction
	var m *manualCompaction
	if p != nil {
		c, m = p.c, p.manual
	}
	if m == nil && d.st.exclusiveManual > 0 && (p == nil || p.repick) {
		syncpoint.Process("DBImpl::BackgroundCompaction()::Conflict")
	}
	switch {
	case m != nil:
		m.inProgress = true
		syncpoint.Process("DBImpl::BackgroundCompaction:InProgress")
		logging.ToBuffer(log, "[%s] Manual compaction from level-%d to level-%d", m.cfd.GetName(), m.in.InputLevel, c.OutputLevel())
	case p == nil:
		if d.st.exclusiveManual > 0 {
			d.st.unscheduledCompacts++
			return nil
		}
		var token *util.TaskLimiterToken
		c, token, err = d.pickFromQueueLocked(jc, log)
		if err == nil && c != nil && d.belongsToBottomPool(c) {
			d.forwardToBottomPoolLocked(c, token)
			return nil
		}
		defer token.Release()
		if err != nil || c == nil {
			return err
		}
	case p.repick:
		if c = d.repickLocked(c, log); c == nil {
			return nil
		}
	}
	err = d.runCompactionLocked(c, m, jc, log)
	d.finishManualLocked(m, err)
	c.Close()
	return err
}

// belongsToBottomPool tells whether an automatic compaction rewrites files into
// the last level, so that writes hardly ever wait for it.
func (d *DBImpl) belongsToBottomPool(c *compaction.Compaction) bool {
	if d.env.GetBackgroundThreads(rocksdb.BottomPriority) == 0 ||
		c.OutputLevel() == 0 || c.DeletionCompaction() || c.IsTrivialCopyCompaction() || c.IsTrivialMove() {
		return false
	}
	cfd := d.families.GetColumnFamily(c.CF().ID)
	if cfd == nil || cfd.IsDropped() {
		return false
	}
	io := cfd.IOptions()
	return c.OutputLevel() == cfd.Current().StorageInfo().MaxOutputLevel(io.AllowIngestBehind || io.CFAllowIngestBehind)
}

// forwardToBottomPoolLocked leaves a compaction that was picked to the pool of
// bottom priority. Its files stay taken meanwhile; with reduce_file_locking only
// its last sorted run does, and the pool picks anew.
func (d *DBImpl) forwardToBottomPoolLocked(c *compaction.Compaction, token *util.TaskLimiterToken) {
	const pri = rocksdb.BottomPriority
	syncpoint.Process("DBImpl::BackgroundCompaction:ForwardToBottomPriPool")
	p := &prepicked{c: c, token: token}
	if c.MutableCFOptions().CompactionOptionsUniversal.ReduceFileLocking {
		p.c, p.repick = d.families.GetColumnFamily(c.CF().ID).IntendCompaction(c, d.mutableDBOptions.Load()), true
	}
	d.st.bgBottomScheduled++
	d.schedule("compaction", func(status *monitoring.ThreadStatusData) { d.backgroundCallCompaction(p, pri, status) }, pri, d,
		func() { d.unscheduleCompactionLocked(p, pri) })
}

// dequeueCompactionLocked takes the first family of the queue whose
// compaction_thread_limiter lets it compact, nil when there is none.
// Upstream: DBImpl::PopFirstFromCompactionQueue.
func (d *DBImpl) dequeueCompactionLocked(log *logging.LogBuffer) (*db.ColumnFamilyData, *util.TaskLimiterToken) {
	for i, cfd := range d.st.compactionQueue {
		if token, ok := d.requestCompactionToken(cfd, false, log); ok {
			d.st.compactionQueue = slices.Delete(d.st.compactionQueue, i, i+1)
			cfd.SetQueuedForCompaction(false)
			return cfd, token
		}
	}
	return nil, nil
}

// pickFromQueueLocked asks the families of the queue, first in first out. The
// token is the caller's to release.
// Upstream: DBImpl::ShouldPickCompaction.
func (d *DBImpl) pickFromQueueLocked(jc *jobContext, log *logging.LogBuffer) (*compaction.Compaction, *util.TaskLimiterToken, error) {
	if len(d.st.compactionQueue) == 0 {
		return nil, nil, nil
	}
	cfd, token := d.dequeueCompactionLocked(log)
	if cfd == nil {
		// All are held back by limiters; try again a little later.
		d.st.unscheduledCompacts++
		return nil, nil, rocksdb.Busy()
	}
	if cfd.UnrefLocked(&jc.memtablesToFree) {
		return nil, token, nil
	}
	return d.pickLocked(cfd, rocksdb.LowPriority), token, nil
}

// repickLocked picks into the last level in place of a compaction that was only
// intended; nil when there is nothing to do there any more.
// Upstream: DBImpl::ResetBottomPriCompactionIntent.
func (d *DBImpl) repickLocked(intended *compaction.Compaction, log *logging.LogBuffer) *compaction.Compaction {
	intended.ReleaseCompactionFiles(nil)
	defer intended.Close()
	cfd := d.families.GetColumnFamily(intended.CF().ID)
	if cfd == nil || cfd.IsDropped() {
		return nil
	}
	d.computeScoreLocked(cfd)
	c := d.pickLocked(cfd, rocksdb.BottomPriority)
	if c == nil {
		logging.ToBuffer(log, "[%s] Pre-picked compaction repicked files for compaction as required, but upon re-evaluation, no compaction was found necessary \n", cfd.GetName())
	}
	return c
}

// pickLocked asks a family for a compaction that the pool of pri may run, nil
// when there is none.
func (d *DBImpl) pickLocked(cfd *db.ColumnFamilyData, pri rocksdb.Priority) *compaction.Compaction {
	mo := cfd.GetLatestMutableCFOptions()
	if mo.DisableAutoCompactions || cfd.IsDropped() {
		return nil
	}
	syncpoint.Process("DBImpl::BackgroundCompaction():BeforePickCompaction")
	snapshots, _ := d.st.snapshots.GetAll(dbMaxSequence)
	c := cfd.PickCompaction(mo, d.mutableDBOptions.Load(), snapshots, nil, pri == rocksdb.BottomPriority)
	if pri == rocksdb.BottomPriority {
		syncpoint.ProcessArg("DBImpl::BackgroundCompaction():AfterPickCompactionBottomPri", c)
	} else {
		syncpoint.Process("DBImpl::BackgroundCompaction():AfterPickCompaction")
	}
	if c == nil {
		return nil
	}
	n := 0
	for i := range c.NumInputLevels() {
		n += c.NumInputFiles(i)
	}
	monitoring.RecordInHistogram(d.stats, rocksdb.HistNumFilesInSingleCompaction, uint64(n))
	// There may be more to do beside it.
	d.enqueuePendingCompactionLocked(cfd)
	d.maybeScheduleLocked()
	return c
}

// runCompactionLocked does a compaction in the cheapest way it allows.
// m is nil for an automatic one.
func (d *DBImpl) runCompactionLocked(c *compaction.Compaction, m *manualCompaction, jc *jobContext, log *logging.LogBuffer) error {
	cfd := d.families.GetColumnFamily(c.CF().ID)
	if cfd == nil || cfd.IsDropped() {
		err := rocksdb.ColumnFamilyDropped()
		c.ReleaseCompactionFiles(err)
		return err
	}
	cfd.Ref() // it may be dropped meanwhile, and its last handle closed
	defer func() { cfd.UnrefLocked(&jc.memtablesToFree) }()
	room, enough := d.enoughRoomForCompactionLocked(cfd, c, log)
	if !enough {
		err := rocksdb.CompactionTooLarge()
		c.ReleaseCompactionFiles(err)
		if m == nil {
			d.enqueueAgainLocked(cfd)
		}
		return err
	}
	defer d.compactionEndedLocked(room)
	syncpoint.ProcessArg("DBImpl::BackgroundCompaction:BeforeCompaction", cfd)
	var err error
	switch {
	case c.DeletionCompaction():
		for _, f := range c.InputFiles(0) {
			c.Edit().DeleteFile(c.Level(), f.FD.GetNumber())
		}
		stats := &rocksdb.CompactionJobStats{NumInputFiles: c.NumInputFiles(0)}
		d.notifyCompactionBegin(cfd, c, stats, jc)
		d.notifyCompactionPreCommit(cfd, c, stats, jc, nil)
		err = d.applyCompactionEditLocked(cfd, c, jc)
		logging.ToBuffer(log, "[%s] Deleted %d files\n", cfd.GetName(), c.NumInputFiles(0))
		if err == nil {
			d.countFIFOCompaction(c)
		}
		d.notifyCompactionCompleted(cfd, c, stats, jc, err)
	case c.IsTrivialCopyCompaction():
		err = d.trivialCopyLocked(cfd, c, jc, log)
	case (m == nil || !m.noTrivial) && c.IsTrivialMove():
		err = d.trivialMoveLocked(cfd, c, jc, log)
	default:
		var canceled *atomic.Bool
		if m != nil {
			canceled = m.canceled
		}
		err = d.runCompactionJobLocked(cfd, c, canceled, jc, log)
	}
	if err != nil && !isShutdownOrDropped(err) && rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
		logging.Warn(d.infoLog, "Compaction error: %v", err)
		why := rocksdb.BackgroundErrorReasonCompaction
		if d.versions.IOStatus() != nil {
			why = rocksdb.BackgroundErrorReasonManifestWrite
		}
		d.errorHandler.SetBGError(err, why)
		if m == nil && !cfd.IsDropped() {
			d.enqueueAgainLocked(cfd)
		}
	}
	syncpoint.ProcessArg("DBImpl::BackgroundCompaction:AfterCompaction", cfd)
	return err
}

// enqueueAgainLocked lets a compaction that did not run be tried once its cause
// is gone; its inputs, released, count again.
func (d *DBImpl) enqueueAgainLocked(cfd *db.ColumnFamilyData) {
	d.computeScoreLocked(cfd)
	d.enqueuePendingCompactionLocked(cfd)
}

// computeScoreLocked takes files into account that a compaction has released.
func (d *DBImpl) computeScoreLocked(cfd *db.ColumnFamilyData) {
	cfd.Current().StorageInfo().ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
}

// countFIFOCompaction is upstream's DBImpl::UpdateFIFOCompactionStatus.
func (d *DBImpl) countFIFOCompaction(c *compaction.Compaction) {
	switch c.CompactionReason() {
	case rocksdb.CompactionReasonFIFOMaxSize:
		monitoring.RecordTick(d.stats, rocksdb.FIFOMaxSizeCompactions, 1)
	case rocksdb.CompactionReasonFIFOTtl:
		monitoring.RecordTick(d.stats, rocksdb.FIFOTTLCompactions, 1)
	}
}

// applyCompactionEditLocked commits c's edit and shows it to readers.
func (d *DBImpl) applyCompactionEditLocked(cfd *db.ColumnFamilyData, c *compaction.Compaction, jc *jobContext) error {
	released := false
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{c.Edit()}, Mutex: &d.mu,
		DBDirectory: d.dirs.DBDir(), ManifestWritten: func(err error) {
			released = true
			c.ReleaseCompactionFiles(err)
		}})
	if !released {
		c.ReleaseCompactionFiles(err)
	}
	d.installSuperVersionAndScheduleLocked(cfd, &jc.sv)
	return err
}

// trivialMoveLocked is upstream's DBImpl::PrepareTrivialMoveEdit.
func (d *DBImpl) trivialMoveLocked(cfd *db.ColumnFamilyData, c *compaction.Compaction, jc *jobContext, log *logging.LogBuffer) error {
	if jc.quiet {
		syncpoint.Process("DBImpl::CompactFilesImpl:TrivialMove")
	} else {
		syncpoint.Process("DBImpl::BackgroundCompaction:TrivialMove")
	}
	moved, bytes := 0, uint64(0)
	for i := range c.NumInputLevels() {
		if c.InputLevel(i) == c.OutputLevel() {
			continue
		}
		for _, f := range c.InputFiles(i) {
			c.Edit().DeleteFile(c.InputLevel(i), f.FD.GetNumber())
			c.Edit().AddFile(c.OutputLevel(), f.CloneForMove())
			logging.ToBuffer(log, "[%s] Moving #%d to level-%d %d bytes\n", cfd.GetName(), f.FD.GetNumber(), c.OutputLevel(), f.FD.GetFileSize())
			moved++
			bytes += f.FD.GetFileSize()
		}
	}
	if c.CompactionReason() == rocksdb.CompactionReasonLevelMaxLevelSize && cfd.IOptions().CompactionPri == rocksdb.RoundRobin {
		if at := c.Level(); at > 0 {
			vs := c.InputVersion().StorageInfo()
			c.Edit().AddCompactCursor(at, vs.GetNextCompactCursor(at, c.NumInputFiles(0)))
		}
	}
	stats := &rocksdb.CompactionJobStats{NumInputFiles: c.NumInputFiles(0), NumInputFilesTriviallyMoved: c.NumInputFiles(0)}
	d.notifyCompactionBegin(cfd, c, stats, jc)
	d.notifyCompactionPreCommit(cfd, c, stats, jc, nil)
	err := d.applyCompactionEditLocked(cfd, c, jc)
	cfd.InternalStats().IncBytesMoved(c.OutputLevel(), bytes)
	d.eventLogger.LogToBuffer(log, 1024).Add("job", jc.id).Add("event", "trivial_move").Add("destination_level", c.OutputLevel()).
		Add("files", moved).Add("total_files_size", bytes).End()
	logging.ToBuffer(log, "[%s] Moved #%d files to level-%d %d bytes %s: %s\n", cfd.GetName(), moved, c.OutputLevel(), bytes,
		statusText(err), cfd.Current().StorageInfo().LevelSummary())
	d.notifyCompactionCompleted(cfd, c, stats, jc, err)
	return err
}

// runCompactionJobLocked reads and writes tables until canceled, which may be
// nil, is true.
func (d *DBImpl) runCompactionJobLocked(cfd *db.ColumnFamilyData, c *compaction.Compaction, canceled *atomic.Bool, jc *jobContext, log *logging.LogBuffer) error {
	if !jc.quiet && syncpoint.Enabled {
		level := c.OutputLevel()
		syncpoint.ProcessArg("DBImpl::BackgroundCompaction:NonTrivial", &level)
	}
	snapshots, oldestConflict := d.st.snapshots.GetAll(dbMaxSequence)
	j := job.NewCompactionJob(&job.Config{
		Status: jc.status, ThreadID: jc.thread,
		JobID: jc.id, Compaction: c, CFD: cfd, DBName: d.dbName, DBOptions: d.immutable, MutableDBOptions: d.mutableDBOptions.Load(),
		FileOptions: d.compactionFileOpts, VersionSet: d.versions, Mutex: &d.mu, ShuttingDown: &d.shuttingDown,
		ManualCanceled: canceled, Aborted: &d.compactionAborted, LogBuffer: log, DBDirectory: d.dirs.DBDir(), OutputDirectory: d.dirs.DataDir(cfd, int(c.OutputPathID())),
		Statistics: d.stats, ErrorHandler: d.errorHandler, Snapshots: snapshots, EarliestWriteConflictSnapshot: oldestConflict,
		EventLogger: d.eventLogger, DBID: d.dbID, SessionID: d.sessionID, Env: d.env,
		BlobCallback: d.blobCallback(), BlobOutputDirectory: d.dirs.DataDir(cfd, 0), BottomPool: jc.bottomPool,
	})
	j.Prepare()
	jc.stats = j.Stats()
	d.notifyCompactionBegin(cfd, c, jc.stats, jc)
	d.mu.Unlock()
	switch {
	case jc.quiet:
		syncpoint.Process("CompactFilesImpl:0")
		syncpoint.Process("CompactFilesImpl:1")
	case jc.bottomPool:
		syncpoint.Process("DBImpl::BackgroundCompaction:NonTrivial:BeforeRunBottomPri")
	default:
		syncpoint.Process("DBImpl::BackgroundCompaction:NonTrivial:BeforeRun")
	}
	err := j.Run()
	if jc.quiet {
		syncpoint.Process("CompactFilesImpl:2")
		syncpoint.Process("CompactFilesImpl:3")
	} else {
		syncpoint.Process("DBImpl::BackgroundCompaction:NonTrivial:AfterRun")
	}
	d.mu.Lock()
	d.notifyCompactionPreCommit(cfd, c, jc.stats, jc, err)
	released := false
	installErr := j.Install(err, func(err error) {
		released = true
		c.ReleaseCompactionFiles(err)
	})
	if err == nil {
		err = installErr
	}
	if !released {
		c.ReleaseCompactionFiles(err)
	}
	if err == nil {
		d.installSuperVersionAndScheduleLocked(cfd, &jc.sv)
	}
	d.notifyCompactionCompleted(cfd, c, jc.stats, jc, err)
	return err
}

// notifyCompactionBegin tells listeners that a compaction begins; those that are
// not told hear nothing more of it.
func (d *DBImpl) notifyCompactionBegin(cfd *db.ColumnFamilyData, c *compaction.Compaction, stats *rocksdb.CompactionJobStats, jc *jobContext) {
	if jc.quiet || len(d.immutable.Listeners) == 0 || d.shuttingDown.Load() || c.IsManualCompaction() && d.manualPaused.Load() > 0 {
		return
	}
	c.SetNotifyOnCompactionCompleted()
	info := d.compactionJobInfo(cfd, c, stats, jc, nil)
	info.NumL0Files = c.InputVersion().StorageInfo().NumLevelFiles(0)
	d.mu.Unlock()
	syncpoint.Process("DBImpl::NotifyOnCompactionBegin::UnlockMutex")
	addTableProperties(info, c)
	for _, l := range d.immutable.Listeners {
		l.OnCompactionBegin(d, info)
	}
	d.mu.Lock()
}

// notifyCompactionPreCommit tells them, once, that the compaction's result is
// about to be installed or given up; the inputs still are its own.
func (d *DBImpl) notifyCompactionPreCommit(cfd *db.ColumnFamilyData, c *compaction.Compaction, stats *rocksdb.CompactionJobStats, jc *jobContext, err error) {
	if d.shuttingDown.Load() || !c.ShouldNotifyOnCompactionCompleted() || c.WasNotifyOnCompactionPreCommitCalled() {
		return
	}
	c.SetNotifyOnCompactionPreCommitCalled()
	info := d.compactionJobInfo(cfd, c, stats, jc, err)
	info.NumL0Files = cfd.Current().StorageInfo().NumLevelFiles(0)
	d.mu.Unlock()
	syncpoint.Process("DBImpl::NotifyOnCompactionPreCommit::UnlockMutex")
	addTableProperties(info, c)
	for _, l := range d.immutable.Listeners {
		l.OnCompactionPreCommit(d, info)
	}
	d.mu.Lock()
}

// notifyCompactionCompleted tells them that the compaction is over.
func (d *DBImpl) notifyCompactionCompleted(cfd *db.ColumnFamilyData, c *compaction.Compaction, stats *rocksdb.CompactionJobStats, jc *jobContext, err error) {
	if d.shuttingDown.Load() || !c.ShouldNotifyOnCompactionCompleted() {
		return
	}
	info := d.compactionJobInfo(cfd, c, stats, jc, err)
	info.NumL0Files = cfd.Current().StorageInfo().NumLevelFiles(0)
	d.mu.Unlock()
	syncpoint.Process("DBImpl::NotifyOnCompactionCompleted::UnlockMutex")
	addTableProperties(info, c)
	for _, l := range d.immutable.Listeners {
		l.OnCompactionCompleted(d, info)
	}
	d.mu.Lock()
}

func (d *DBImpl) compactionJobInfo(cfd *db.ColumnFamilyData, c *compaction.Compaction, stats *rocksdb.CompactionJobStats, jc *jobContext, err error) *rocksdb.CompactionJobInfo {
	info := &rocksdb.CompactionJobInfo{CFID: cfd.GetID(), CFName: cfd.GetName(), Status: err, JobID: jc.id, ThreadID: jc.thread,
		Aborted: err != nil && rocksdb.AsStatus(err).SubCode == rocksdb.SubCodeCompactionAborted, TableProperties: rocksdb.TablePropertiesCollection{},
		BaseInputLevel: c.StartLevel(), OutputLevel: c.OutputLevel(), CompactionReason: c.CompactionReason(), Compression: c.OutputCompression()}
	if stats != nil {
		info.Stats = *stats
	}
	for i := range c.NumInputLevels() {
		for _, f := range c.InputFiles(i) {
			info.InputFiles = append(info.InputFiles, d.tableFileName(cfd, f))
			info.InputFileInfos = append(info.InputFileInfos, rocksdb.CompactionFileInfo{Level: c.InputLevel(i), FileNumber: f.FD.GetNumber(), OldestBlobFileNumber: f.OldestBlobFileNumber})
		}
	}
	for _, f := range c.Edit().GetNewFiles() {
		info.OutputFiles = append(info.OutputFiles, d.tableFileName(cfd, f.Meta))
		info.OutputFileInfos = append(info.OutputFileInfos, rocksdb.CompactionFileInfo{Level: f.Level, FileNumber: f.Meta.FD.GetNumber(), OldestBlobFileNumber: f.Meta.OldestBlobFileNumber})
	}
	path := cfd.IOptions().CFPaths[0].Path
	info.BlobCompressionType = c.MutableCFOptions().BlobCompressionType
	info.BlobFileAdditionInfos = db.BlobFileAdditionInfos(path, c.Edit().GetBlobFileAdditions())
	for _, g := range c.Edit().GetBlobFileGarbages() {
		info.BlobFileGarbageInfos = append(info.BlobFileGarbageInfos, rocksdb.BlobFileGarbageInfo{
			BlobFileInfo:     rocksdb.BlobFileInfo{BlobFilePath: filename.BlobFileName(path, g.GetBlobFileNumber()), BlobFileNumber: g.GetBlobFileNumber()},
			GarbageBlobCount: g.GetGarbageBlobCount(), GarbageBlobBytes: g.GetGarbageBlobBytes()})
	}
	return info
}

// addTableProperties may read the inputs' properties from their files.
func addTableProperties(info *rocksdb.CompactionJobInfo, c *compaction.Compaction) {
	maps.Copy(info.TableProperties, c.GetOrInitInputTableProperties())
	maps.Copy(info.TableProperties, c.GetOutputTableProperties())
}

// finishManualLocked sets a manual compaction's state after a step.
func (d *DBImpl) finishManualLocked(m *manualCompaction, err error) {
	if m == nil {
		return
	}
	if err != nil {
		m.status, m.done = err, true
	}
	if len(m.end) == 0 {
		m.done = true
	} else if !m.done {
		// The next step begins where this one ended.
		m.in.Begin = m.end
	}
	m.inProgress = false
	m.incomplete = true
}

// CompactRange compacts the keys in [begin, end]; nil bounds are open.
func (d *DBImpl) CompactRange(o *rocksdb.CompactRangeOptions, cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return d.compactRangeTrimming(o, cf, begin, end, nil)
}

// compactRangeTrimming also drops what is newer than timestamp trimTS, unless it
// is nil.
// Upstream: DBImpl::CompactRangeInternal.
func (d *DBImpl) compactRangeTrimming(o *rocksdb.CompactRangeOptions, cf rocksdb.ColumnFamilyHandle, begin, end, trimTS []byte) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if o == nil {
		def := rocksdb.DefaultCompactRangeOptions()
		o = &def
	}
	if d.compactionAborted.Load() > 0 {
		return rocksdb.AllCompactionsAborted()
	}
	if d.manualPaused.Load() > 0 || o.Canceled != nil && o.Canceled.Load() {
		return rocksdb.ManualCompactionPaused()
	}
	cfd := d.cfd(cf)
	if int(o.TargetPathID) >= len(cfd.IOptions().CFPaths) {
		return rocksdb.InvalidArgument("Invalid target path ID")
	}
	if o.ChangeLevel && cfd.IOptions().CompactionStyle == rocksdb.CompactionStyleFIFO {
		return rocksdb.NotSupported("FIFO compaction does not support change_level.")
	}
	if ts := cfd.UserComparator().TimestampSize(); ts > 0 {
		if begin != nil {
			begin = dbformat.AppendKeyWithMaxTimestamp(nil, begin, ts)
		}
		if end != nil {
			end = dbformat.AppendKeyWithMinTimestamp(nil, end, ts)
		}
	}
	if len(o.FullHistoryTSLow) > 0 {
		if begin != nil || end != nil {
			return rocksdb.InvalidArgument("Cannot specify compaction range with full_history_ts_low")
		}
		if err := d.IncreaseFullHistoryTsLow(cf, o.FullHistoryTSLow); err != nil {
			return err
		}
	}
	flush := true
	if begin != nil && end != nil {
		sv := cfd.GetReferencedSuperVersion()
		var err error
		flush, err = cfd.RangesOverlapWithMemtables([]dbformat.UserKeyRange{{Start: begin, Limit: end}}, sv)
		d.returnSuperVersion(sv)
		if err != nil {
			return err
		}
	}
	if flush {
		fo := &rocksdb.FlushOptions{Wait: true, AllowWriteStall: o.AllowWriteStall}
		var err error
		if d.immutable.AtomicFlush {
			err = d.atomicFlushMemTables(nil, fo, rocksdb.FlushReasonManualCompaction)
		} else {
			err = d.flushMemTable(cfd, fo, rocksdb.FlushReasonManualCompaction)
		}
		if err != nil {
			return err
		}
	}
	final, err := d.compactLevels(o, cfd, begin, end, trimTS)
	if err == nil && final >= 0 && o.ChangeLevel {
		err = d.refitAfterCompaction(cfd, final, o.TargetLevel)
	}
	d.mu.Lock()
	d.maybeScheduleLocked()
	d.mu.Unlock()
	return err
}

// compactLevels compacts level by level and gives the last output level, -1
// when there was nothing.
func (d *DBImpl) compactLevels(o *rocksdb.CompactRangeOptions, cfd *db.ColumnFamilyData, begin, end, trimTS []byte) (int, error) {
	io := cfd.IOptions()
	behind := io.AllowIngestBehind || io.CFAllowIngestBehind
	switch {
	case io.CompactionStyle == rocksdb.CompactionStyleUniversal && cfd.NumberLevels() > 1:
		final := cfd.NumberLevels() - 1
		if behind {
			final--
		}
		_, err := d.runManualCompaction(cfd, compaction.CompactAllLevels, final, o, begin, end, trimTS, false, ^uint64(0))
		return final, err
	case io.CompactionStyle == rocksdb.CompactionStyleFIFO:
		_, err := d.runManualCompaction(cfd, 0, 0, o, begin, end, trimTS, false, ^uint64(0))
		return 0, err
	}
	first, err := d.firstOverlappedLevel(cfd, begin, end)
	if err != nil || first < 0 {
		return first, err
	}
	if io.CompactionStyle == rocksdb.CompactionStyleUniversal {
		_, err := d.runManualCompaction(cfd, first, first, o, begin, end, trimTS, true, ^uint64(0))
		return first, err
	}
	nextFile := d.versions.CurrentNextFileNumber()
	level, final := first, first
	for {
		if level > 0 {
			if io.LevelCompactionDynamicLevelBytes {
				if final+1 == io.NumLevels {
					break
				}
			} else {
				d.mu.Lock()
				nonEmpty := cfd.Current().StorageInfo().NumNonEmptyLevels()
				d.mu.Unlock()
				if final+1 >= nonEmpty {
					break
				}
			}
		}
		out := level + 1
		if io.LevelCompactionDynamicLevelBytes && level == 0 {
			out = compaction.CompactToBaseLevel
		}
		// What is to be trimmed has to be read.
		reached, err := d.runManualCompaction(cfd, level, out, o, begin, end, trimTS, len(trimTS) > 0, ^uint64(0))
		if err != nil {
			return final, err
		}
		if out == compaction.CompactToBaseLevel {
			level = reached
		} else {
			level++
		}
		final = level
		syncpoint.Process("DBImpl::RunManualCompaction()::1")
		syncpoint.Process("DBImpl::RunManualCompaction()::2")
	}
	filter := io.CompactionFilter != nil || io.CompactionFilterFactory != nil
	b := o.BottommostLevelCompaction
	if b == rocksdb.BottommostLevelCompactionForce || b == rocksdb.BottommostLevelCompactionForceOptimized ||
		b == rocksdb.BottommostLevelCompactionIfHaveCompactionFilter && filter {
		_, err = d.runManualCompaction(cfd, final, final, o, begin, end, trimTS, true, nextFile)
	}
	return final, err
}

// firstOverlappedLevel is the first level with keys in the range, -1 for none.
func (d *DBImpl) firstOverlappedLevel(cfd *db.ColumnFamilyData, begin, end []byte) (int, error) {
	sv := cfd.GetReferencedSuperVersion()
	defer d.returnSuperVersion(sv)
	vs := sv.Current.StorageInfo()
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	ro.IOActivity = rocksdb.IOActivityCompaction
	looksInside := begin != nil && end != nil && !splitByPartitioner(cfd.IOptions(), begin, end)
	for level := range vs.NumNonEmptyLevels() {
		overlap, err := false, error(nil)
		if looksInside {
			overlap, err = sv.Current.OverlapWithLevelIterator(&ro, begin, end, level)
		}
		if !looksInside || err != nil {
			overlap = vs.OverlapInLevel(level, begin, end)
		}
		if overlap {
			return level, nil
		}
	}
	return -1, nil
}

// splitByPartitioner tells whether a boundary of partitions lies in the range,
// ends included: a file across it has to be rewritten though it may have no key
// there.
func splitByPartitioner(io *options.ImmutableOptions, begin, end []byte) bool {
	if io.SstPartitionerFactory == nil {
		return false
	}
	p := io.SstPartitionerFactory.CreatePartitioner(&rocksdb.SstPartitionerContext{IsManualCompaction: true, OutputLevel: -1,
		SmallestUserKey: begin, LargestUserKey: end})
	return p != nil && !p.CanDoTrivialMove(begin, end)
}

// mustWaitLocked tells whether m has to wait for other manual compactions.
// Upstream: DBImpl::ShouldntRunManualCompaction, DBImpl::MCOverlap,
// DBImpl::HasExclusiveManualCompaction.
func (d *DBImpl) mustWaitLocked(m *manualCompaction) bool {
	if d.st.bgCompactionPaused > 0 {
		return true
	}
	if m.exclusive && (d.st.bgBottomScheduled > 0 || d.st.bgCompactScheduled > 0) {
		syncpoint.Process("DBImpl::RunManualCompaction:WaitScheduled")
		return true
	}
	for _, o := range d.st.manualCompactions {
		if o == m {
			break
		}
		if o.exclusive || m.exclusive {
			return true
		}
	}
	return false
}

// removeManualLocked is upstream's DBImpl::RemoveManualCompaction.
func (d *DBImpl) removeManualLocked(m *manualCompaction) {
	list := d.st.manualCompactions
	for i := range list {
		if list[i] == m {
			d.st.manualCompactions = append(list[:i], list[i+1:]...)
			break
		}
	}
	if m.exclusive {
		d.st.exclusiveManual--
	}
}

// runManualCompaction compacts one level into another, step by step, and gives
// the level that the output went to.
// Upstream: DBImpl::AddManualCompaction, DBImpl::HasPendingManualCompaction.
func (d *DBImpl) runManualCompaction(cfd *db.ColumnFamilyData, from, to int, o *rocksdb.CompactRangeOptions, begin, end, trimTS []byte, noTrivial bool, maxFile uint64) (reached int, err error) {
	m := &manualCompaction{cfd: cfd, exclusive: o.ExclusiveManualCompaction, noTrivial: noTrivial, canceled: o.Canceled}
	if m.canceled == nil {
		m.canceled = new(atomic.Bool)
	}
	m.in = compaction.ManualRange{InputLevel: from, OutputLevel: to, Options: o, MaxFileNumToIgnore: maxFile, TrimTS: string(trimTS)}
	if style := cfd.IOptions().CompactionStyle; style == rocksdb.CompactionStyleLevel {
		if begin != nil {
			m.in.Begin = dbformat.SetMinPossibleForUserKey(begin)
		}
		if end != nil {
			m.in.End = dbformat.SetMaxPossibleForUserKey(end)
		}
	}
	syncpoint.Process("DBImpl::RunManualCompaction:0")
	syncpoint.Process("DBImpl::RunManualCompaction:1")
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.manualPaused.Load() > 0 {
		syncpoint.Process("DBImpl::RunManualCompaction:PausedAtStart")
		return to, rocksdb.ManualCompactionPaused()
	}
	d.st.manualCompactions = append(d.st.manualCompactions, m)
	syncpoint.Process("DBImpl::RunManualCompaction:NotScheduled")
	if m.exclusive {
		d.st.exclusiveManual++
	}
	defer func() {
		d.removeManualLocked(m)
		d.maybeScheduleLocked()
		d.bgCond.Broadcast()
	}()
	reached = to
	if to == compaction.CompactToBaseLevel {
		reached = cfd.Current().StorageInfo().BaseLevel()
	}
	scheduled, unscheduled, pri := false, false, rocksdb.LowPriority
	for !m.done {
		switch {
		case d.shuttingDown.Load():
			m.status, m.done = rocksdb.ShutdownInProgress(), !m.inProgress && !scheduled
		case cfd.IsDropped() && !scheduled:
			m.status, m.done = rocksdb.ColumnFamilyDropped(cfd.GetName()), true
		case !scheduled && d.compactionAborted.Load() > 0:
			m.status, m.done = rocksdb.AllCompactionsAborted(), true
		case !scheduled && (d.manualPaused.Load() > 0 || m.canceled.Load()):
			m.status, m.done = rocksdb.ManualCompactionPaused(), true
		case !scheduled && d.errorHandler.IsBGWorkStopped():
			m.status, m.done = d.errorHandler.GetBGError(), true
		}
		if m.done {
			break
		}
		if scheduled || d.mustWaitLocked(m) {
			d.bgCond.Wait()
			if scheduled && !unscheduled && d.manualPaused.Load() > 0 {
				if d.env.UnSchedule(m, pri) > 0 {
					d.bgCond.Broadcast()
				}
				unscheduled = true
				syncpoint.Process("DBImpl::RunManualCompaction:Unscheduled")
			}
			if scheduled && m.incomplete {
				scheduled, m.incomplete = false, false
			}
			continue
		}
		c, stop, conflict := cfd.CompactRange(cfd.GetLatestMutableCFOptions(), d.mutableDBOptions.Load(), m.in)
		if c == nil {
			if conflict {
				d.bgCond.Wait()
				continue
			}
			m.done = true
			break
		}
		m.end = stop
		reached = c.OutputLevel()
		m.incomplete = false
		p := &prepicked{c: c, manual: m}
		p.token, _ = d.requestCompactionToken(cfd, true, nil)
		scheduled, unscheduled = true, false
		pri = rocksdb.LowPriority
		if c.BottommostLevel() && d.env.GetBackgroundThreads(rocksdb.BottomPriority) > 0 {
			pri = rocksdb.BottomPriority
		}
		*d.scheduledAtLocked(pri)++
		d.schedule("compaction", func(status *monitoring.ThreadStatusData) { d.backgroundCallCompaction(p, pri, status) }, pri, m,
			func() { d.unscheduleCompactionLocked(p, pri) })
		syncpoint.Process("DBImpl::RunManualCompaction:Scheduled")
	}
	return reached, m.status
}

// scheduledAtLocked is the number of compactions in the pool of pri.
func (d *DBImpl) scheduledAtLocked(pri rocksdb.Priority) *int {
	if pri == rocksdb.BottomPriority {
		return &d.st.bgBottomScheduled
	}
	return &d.st.bgCompactScheduled
}

// unscheduleCompactionLocked ends a compaction that the pool has not begun with; p
// is nil for one that is yet to be picked.
// Upstream: DBImpl::UnscheduleCompactionCallback.
func (d *DBImpl) unscheduleCompactionLocked(p *prepicked, pri rocksdb.Priority) {
	*d.scheduledAtLocked(pri)--
	if p != nil {
		if p.manual != nil {
			p.manual.status, p.manual.done = rocksdb.ManualCompactionPaused(), true
		}
		p.c.ReleaseCompactionFiles(rocksdb.ManualCompactionPaused())
		p.c.Close()
		p.token.Release()
	}
	syncpoint.Process("DBImpl::UnscheduleCompactionCallback")
}

// DisableManualCompaction makes running and later manual compactions end with
// Incomplete until EnableManualCompaction.
func (d *DBImpl) DisableManualCompaction() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.manualPaused.Add(1)
	for _, m := range d.st.manualCompactions {
		m.canceled.Store(true)
	}
	d.bgCond.Broadcast()
	for len(d.st.manualCompactions) > 0 {
		d.bgCond.Wait()
	}
}

// cancelManualCompactions ends manual compactions for good, those that wait for a
// thread as well.
func (d *DBImpl) cancelManualCompactions() {
	d.mu.Lock()
	pending := len(d.st.manualCompactions) > 0
	d.mu.Unlock()
	if pending {
		d.DisableManualCompaction()
	}
}

// EnableManualCompaction undoes one DisableManualCompaction.
func (d *DBImpl) EnableManualCompaction() {
	if d.manualPaused.Add(-1) < 0 {
		d.manualPaused.Store(0)
	}
}

// AbortAllCompactions ends running compactions and keeps others, automatic ones
// and manual ones, from running until ResumeAllCompactions was called as often.
// They end with SubCodeCompactionAborted, and what they wrote is deleted.
func (d *DBImpl) AbortAllCompactions() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.compactionAborted.Add(1)
	syncpoint.Process("DBImpl::AbortAllCompactions:FlagSet")
	for _, m := range d.st.manualCompactions {
		m.canceled.Store(true)
	}
	d.bgCond.Broadcast()
	for d.st.bgBottomScheduled > 0 || d.st.bgCompactScheduled > 0 || len(d.st.manualCompactions) > 0 {
		d.bgCond.Wait()
	}
}

// ResumeAllCompactions undoes one AbortAllCompactions. Automatic compactions that
// were aborted are tried again; upstream waits for the next flush.
func (d *DBImpl) ResumeAllCompactions() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.compactionAborted.Load() == 0 {
		logging.Warn(d.infoLog, "ResumeAllCompactions called without prior AbortAllCompactions")
		return
	}
	if d.compactionAborted.Add(-1) > 0 {
		return
	}
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			d.enqueueAgainLocked(cfd)
		}
	}
	d.maybeScheduleLocked()
}

// CompactionAbortCount is the number of AbortAllCompactions not undone.
func (d *DBImpl) CompactionAbortCount() uint64 { return uint64(d.compactionAborted.Load()) }

// EnableAutoCompaction turns automatic compactions of families on.
func (d *DBImpl) EnableAutoCompaction(cfs []rocksdb.ColumnFamilyHandle) error {
	for _, cf := range cfs {
		if err := d.SetOptions(cf, map[string]string{"disable_auto_compactions": "false"}); err != nil {
			return err
		}
	}
	return nil
}

func (d *DBImpl) refitAfterCompaction(cfd *db.ColumnFamilyData, level, target int) error {
	syncpoint.Process("DBImpl::CompactRange:BeforeRefit:1")
	syncpoint.Process("DBImpl::CompactRange:BeforeRefit:2")
	d.DisableManualCompaction()
	defer syncpoint.Process("DBImpl::CompactRange:PostRefitLevel:ManualCompactionEnabled")
	defer d.EnableManualCompaction()
	if err := d.PauseBackgroundWork(); err != nil {
		return err
	}
	syncpoint.Process("DBImpl::CompactRange:PreRefitLevel")
	err := d.refitLevel(cfd, level, target)
	syncpoint.Process("DBImpl::CompactRange:PostRefitLevel")
	if e := d.ContinueBackgroundWork(); err == nil {
		err = e
	}
	return err
}

// refitLevel moves a level's files to another one, when all between are empty;
// target -1 is the lowest possible.
func (d *DBImpl) refitLevel(cfd *db.ColumnFamilyData, level, target int) error {
	if target >= cfd.NumberLevels() {
		return rocksdb.InvalidArgument("Target level exceeds number of levels")
	}
	var sv db.SuperVersionContext
	defer sv.Clean()
	d.mu.Lock()
	defer d.mu.Unlock()
	vs := cfd.Current().StorageInfo()
	if vs.NumLevelFiles(level) == 0 {
		return nil
	}
	if d.st.refitting {
		return rocksdb.NotSupported("another thread is refitting")
	}
	d.st.refitting = true
	defer func() { d.st.refitting = false }()
	to := target
	if to < 0 {
		to = d.minimumEmptyLevel(vs, level)
	}
	if to == level {
		return nil
	}
	in := compaction.CompactionInputFiles{Level: level, Files: slices.Clone(vs.LevelFiles(level))}
	if err := mayRefit(cfd, &in, to); err != nil {
		return err
	}
	// Ingestions and other compactions see what is under way.
	mo, mdb := cfd.GetLatestMutableCFOptions(), d.mutableDBOptions.Load()
	p := compaction.DefaultParams()
	p.Inputs, p.OutputLevel, p.MaxCompactionBytes = []compaction.CompactionInputFiles{in}, to, math.MaxInt64
	p.Compression, p.CompressionOpts = mo.Compression, mo.CompressionOpts
	p.Reason, p.L0FilesMightOverlap = rocksdb.CompactionReasonRefitLevel, false
	c := compaction.NewCompaction(vs, cfd.IOptions(), mo, mdb, p)
	picker := cfd.CompactionPicker()
	picker.RegisterCompaction(c)
	syncpoint.Process("DBImpl::ReFitLevel:PostRegisterCompaction")
	e := &version.VersionEdit{}
	e.SetColumnFamily(cfd.GetID())
	for _, f := range in.Files {
		e.DeleteFile(level, f.FD.GetNumber())
		e.AddFile(to, f.CloneForMove())
	}
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{e}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	c.MarkFilesBeingCompacted(false)
	picker.UnregisterCompaction(c)
	d.installSuperVersionAndScheduleLocked(cfd, &sv)
	return err
}

// mayRefit tells why a level's files cannot be moved to another one, nil if they
// can: what is between has to be empty and to stay so.
func mayRefit(cfd *db.ColumnFamilyData, in *compaction.CompactionInputFiles, to int) error {
	vs, picker := cfd.Current().StorageInfo(), cfd.CompactionPicker()
	low, high := to, in.Level-1
	switch {
	case to > in.Level && in.Level == 0:
		return rocksdb.NotSupported("Cannot change from level 0 to other levels.")
	case to > in.Level:
		low, high = in.Level+1, to
	case to == 0 && len(in.Files) > 1:
		return rocksdb.Aborted("Moving more than 1 file from non-L0 to L0 is not allowed as it does not bring any benefit to read nor write throughput.")
	}
	smallest, largest := in.Files[0].Smallest, in.Files[len(in.Files)-1].Largest
	for l := low; l <= high; l++ {
		if vs.NumLevelFiles(l) > 0 {
			return rocksdb.NotSupported("Levels between source and target are not empty for a move.")
		}
		if picker.RangeOverlapWithCompaction(smallest.UserKey(), largest.UserKey(), l) {
			return rocksdb.NotSupported("Levels between source and target will have some ongoing compaction's output.")
		}
	}
	return nil
}

// minimumEmptyLevel is upstream's DBImpl::FindMinimumEmptyLevelFitting.
func (d *DBImpl) minimumEmptyLevel(vs *version.StorageInfo, level int) int {
	least := level
	for l := level - 1; l > 0; l-- {
		if vs.NumLevelFiles(l) > 0 || vs.MaxBytesForLevel(l) < vs.NumLevelBytes(level) {
			break
		}
		least = l
	}
	return least
}

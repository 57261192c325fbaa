// Port of db/db_impl/db_impl_compaction_flush.cc (flushes and scheduling).

package dbimpl

import (
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

type memtableT = memtable.MemTable

// flushRequest asks for the flush of families' memtables up to an ID each: of
// one family, or of several that are committed as one.
type flushRequest struct {
	reason   rocksdb.FlushReason
	atomic   bool
	families []familyFlush
	tries    int // how often it was taken from the queue to be put back
}

// familyFlush is one family's part of a request.
type familyFlush struct {
	cfd   *db.ColumnFamilyData
	maxID uint64
}

// isRecoveryFlush tells whether a flush is part of going on after an error.
func isRecoveryFlush(reason rocksdb.FlushReason) bool {
	return reason == rocksdb.FlushReasonErrorRecovery || reason == rocksdb.FlushReasonErrorRecoveryRetryFlush
}

// flushOfOne is a request for all memtables of a family that wait.
// Upstream: DBImpl::GenerateFlushRequest.
func flushOfOne(cfd *db.ColumnFamilyData, reason rocksdb.FlushReason) *flushRequest {
	return &flushRequest{reason: reason, families: []familyFlush{{cfd, cfd.Imm().GetLatestMemTableID(false)}}}
}

// backgroundJobLimits is how many jobs of a kind may be scheduled.
type backgroundJobLimits struct{ flushes, compactions int }

func (d *DBImpl) backgroundJobLimits() backgroundJobLimits {
	o := d.mutableDBOptions.Load()
	return getBGJobLimits(o.MaxBackgroundFlushes, o.MaxBackgroundCompactions, o.MaxBackgroundJobs, d.writeCtl.NeedSpeedupCompaction())
}

func getBGJobLimits(maxFlushes, maxCompactions, maxJobs int, parallelize bool) (l backgroundJobLimits) {
	if maxFlushes == -1 && maxCompactions == -1 {
		l.flushes = max(1, maxJobs/4)
		l.compactions = max(1, maxJobs-l.flushes)
	} else {
		l.flushes = max(1, maxFlushes)
		l.compactions = max(1, maxCompactions)
	}
	if !parallelize {
		l.compactions = 1
	}
	return l
}

// installSuperVersionAndScheduleLocked makes the family's state visible and
// schedules what it asks for.
func (d *DBImpl) installSuperVersionAndScheduleLocked(cfd *db.ColumnFamilyData, ctx *db.SuperVersionContext) {
	if cfd.IsDropped() {
		return
	}
	cfd.InstallSuperVersion(ctx, d)
	d.enqueuePendingCompactionLocked(cfd)
	d.maybeScheduleLocked()
	// The option may have changed.
	d.updateMaxInMemoryStateLocked()
}

// enqueueFlushLocked queues a request and tells whether it did; one of a family
// that is queued already, or has nothing to flush, it does not.
// Upstream: DBImpl::EnqueuePendingFlush.
func (d *DBImpl) enqueueFlushLocked(r *flushRequest) bool {
	if d.shuttingDown.Load() || len(r.families) == 0 {
		return false
	}
	if r.atomic {
		// It may stand in the queue beside other requests for the same families:
		// memtables that are being flushed are not picked again.
		for _, f := range r.families {
			f.cfd.Ref()
		}
		d.recordAtomicFlushRequest(r.reason)
	} else {
		cfd := r.families[0].cfd
		if cfd.QueuedForFlush() {
			if isRecoveryFlush(r.reason) {
				d.queuedFlushLocked(cfd).reason = r.reason // any other is dropped
			}
			return false
		}
		if !cfd.Imm().IsFlushPending() {
			return false
		}
		cfd.Ref()
		cfd.SetQueuedForFlush(true)
	}
	d.st.flushQueue = append(d.st.flushQueue, r)
	d.st.unscheduledFlushes++
	return true
}

// queuedFlushLocked is the request of a family that is queued by itself.
func (d *DBImpl) queuedFlushLocked(cfd *db.ColumnFamilyData) *flushRequest {
	i := slices.IndexFunc(d.st.flushQueue, func(r *flushRequest) bool { return !r.atomic && r.families[0].cfd == cfd })
	return d.st.flushQueue[i]
}

// enqueuePendingCompactionLocked is upstream's DBImpl::AddToCompactionQueue.
func (d *DBImpl) enqueuePendingCompactionLocked(cfd *db.ColumnFamilyData) {
	if cfd.QueuedForCompaction() || cfd.IsDropped() || !cfd.NeedsCompaction() {
		return
	}
	syncpoint.ProcessArg("EnqueuePendingCompaction::cfd", cfd)
	cfd.Ref()
	d.st.compactionQueue = append(d.st.compactionQueue, cfd)
	cfd.SetQueuedForCompaction(true)
	d.st.unscheduledCompacts++
}

// flushPool is where flushes run: with compactions when there is no pool of high
// priority.
func (d *DBImpl) flushPool() rocksdb.Priority {
	if d.env.GetBackgroundThreads(rocksdb.HighPriority) == 0 {
		return rocksdb.LowPriority
	}
	return rocksdb.HighPriority
}

// maybeScheduleLocked hands queued work to the thread pools.
func (d *DBImpl) maybeScheduleLocked() {
	syncpoint.Process("DBImpl::MaybeScheduleFlushOrCompaction:Start")
	st := &d.st
	if !st.opened || d.readOnly || st.bgWorkPaused > 0 || d.shuttingDown.Load() {
		return
	}
	if d.errorHandler.IsBGWorkStopped() && !d.errorHandler.IsRecoveryInProgress() {
		return // the flushes of a recovery are let through
	}
	limits := d.backgroundJobLimits()
	pool, sharing := d.flushPool(), 0
	if pool == rocksdb.LowPriority {
		sharing = st.bgCompactScheduled
	}
	for st.unscheduledFlushes > 0 && st.bgFlushScheduled+sharing < limits.flushes {
		if pool == rocksdb.HighPriority {
			syncpoint.ProcessArg("DBImpl::MaybeScheduleFlushOrCompaction:BeforeSchedule", &st.unscheduledFlushes)
		}
		d.scheduleFlushLocked(pool)
	}
	if st.exclusiveManual > 0 {
		syncpoint.Process("DBImpl::MaybeScheduleFlushOrCompaction:Conflict")
	}
	if st.bgCompactionPaused > 0 || d.compactionAborted.Load() > 0 || d.errorHandler.IsBGWorkStopped() || st.exclusiveManual > 0 {
		return
	}
	for st.bgCompactScheduled+st.bgBottomScheduled < limits.compactions && st.unscheduledCompacts > 0 {
		st.bgCompactScheduled++
		st.unscheduledCompacts--
		d.schedule("compaction", func(status *monitoring.ThreadStatusData) {
			d.backgroundCallCompaction(nil, rocksdb.LowPriority, status)
		}, rocksdb.LowPriority, d, func() { d.unscheduleCompactionLocked(nil, rocksdb.LowPriority) })
	}
}

// scheduleFlushLocked hands the next flush to a pool.
func (d *DBImpl) scheduleFlushLocked(pool rocksdb.Priority) {
	st := &d.st
	st.bgFlushScheduled++
	st.unscheduledFlushes--
	syncpoint.ProcessArg("DBImpl::MaybeScheduleFlushOrCompaction:AfterSchedule:0", &st.unscheduledFlushes)
	d.schedule("flush", func(status *monitoring.ThreadStatusData) {
		syncpoint.Process("DBImpl::BGWorkFlush")
		d.backgroundCallFlush(status)
		syncpoint.Process("DBImpl::BGWorkFlush:done")
	}, pool, d, func() {
		st.bgFlushScheduled--
		if pool == rocksdb.LowPriority {
			syncpoint.Process("DBImpl::UnscheduleLowFlushCallback")
		} else {
			syncpoint.Process("DBImpl::UnscheduleHighFlushCallback")
		}
	})
}

// popFlushLocked takes the first request of the queue.
// Upstream: DBImpl::PopFirstFromFlushQueue.
func (d *DBImpl) popFlushLocked() *flushRequest {
	r := d.st.flushQueue[0]
	d.st.flushQueue = d.st.flushQueue[1:]
	if !r.atomic {
		r.families[0].cfd.SetQueuedForFlush(false)
	}
	return r
}

// errorBackoff is how long a job waits after a failure, in microseconds.
const errorBackoff = 1000000

func (d *DBImpl) backgroundCallFlush(status *monitoring.ThreadStatusData) {
	syncpoint.Process("DBImpl::BackgroundCallFlush:start")
	syncpoint.Process("DBImpl::BackgroundCallFlush:Start:1")
	syncpoint.Process("DBImpl::BackgroundCallFlush:Start:2")
	job := d.newJobContext()
	job.runsIn(status)
	log := logging.NewLogBuffer(rocksdb.InfoLevel, d.infoLog)
	d.mu.Lock()
	d.st.numRunningFlushes++
	pending := d.captureOutputsLocked()
	postponed := false
	reason, err := d.backgroundFlushLocked(job, log, &postponed)
	if postponed {
		d.bgCond.Broadcast()
		d.mu.Unlock()
		syncpoint.Process("DBImpl::AfterRetainUDTReschedule:cb")
		d.clock.SleepForMicroseconds(errorBackoff / 10) // it is in the queue again
		d.mu.Lock()
	} else if err != nil && !isShutdownOrDropped(err) && reason != rocksdb.FlushReasonErrorRecovery {
		n := d.families.GetDefault().InternalStats().BumpAndGetBackgroundErrorCount()
		d.bgCond.Broadcast() // a waiting writer sees the error
		d.mu.Unlock()
		logging.Error(d.infoLog, "[JOB %d] Waiting after background flush error: %v Accumulated background error counts: %d", job.id, err, n)
		log.FlushBufferToLog()
		d.backoff()
		d.mu.Lock()
	}
	syncpoint.Process("DBImpl::BackgroundCallFlush:FlushFinish:0")
	d.releaseOutputsLocked(pending)
	if !postponed {
		d.findObsoleteFilesLocked(job, err != nil && !isShutdownOrDropped(err), false)
	}
	d.mu.Unlock()
	syncpoint.Process("DBImpl::BackgroundCallFlush:FilesFound")
	log.FlushBufferToLog()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
	}
	job.clean()
	syncpoint.Process("DBImpl::BackgroundCallFlush:ContextCleanedUp")
	d.mu.Lock()
	d.st.numRunningFlushes--
	d.st.bgFlushScheduled--
	d.maybeScheduleLocked()
	d.notifyOnBackgroundJobPressureChangedLocked()
	d.atomicFlushInstallCond.Broadcast()
	d.bgCond.Broadcast()
	d.mu.Unlock()
}

// backoff waits after a background error, but not past a shutdown.
func (d *DBImpl) backoff() {
	for i := 0; i < 100 && !d.shuttingDown.Load(); i++ {
		d.clock.SleepForMicroseconds(errorBackoff / 100)
	}
}

func isShutdownOrDropped(err error) bool {
	c := rocksdb.CodeOf(err)
	return c == rocksdb.CodeShutdownInProgress || c == rocksdb.CodeColumnFamilyDropped
}

// backgroundFlushLocked works on the first request of the queue that has
// something to do, and gives its reason. One that is put off to keep timestamps
// goes back to the queue; *postponed tells of it.
func (d *DBImpl) backgroundFlushLocked(job *jobContext, log *logging.LogBuffer, postponed *bool) (rocksdb.FlushReason, error) {
	if d.errorHandler.IsBGWorkStopped() {
		if !d.errorHandler.IsRecoveryInProgress() {
			d.st.unscheduledFlushes++ // the request stays, for the recovery to come
			return rocksdb.FlushReasonOthers, d.errorHandler.GetBGError()
		}
	} else if d.shuttingDown.Load() {
		return rocksdb.FlushReasonOthers, rocksdb.ShutdownInProgress()
	}
	for len(d.st.flushQueue) > 0 {
		r := d.popFlushLocked()
		if d.errorHandler.GetBGError() != nil && d.errorHandler.IsBGWorkStopped() && !isRecoveryFlush(r.reason) {
			// The request is dropped: when the error is gone, all are made anew.
			err := d.errorHandler.GetBGError()
			logging.ToBuffer(log, "[JOB %d] Abort flush due to background error %v", job.id, err)
			d.unrefRequestLocked(r, job)
			return r.reason, err
		}
		r.tries++
		if !r.atomic && d.shouldPostponeFlushLocked(r.families[0]) {
			cfd := r.families[0].cfd
			if cfd.UnrefLocked(&job.memtablesToFree) {
				return r.reason, nil
			}
			logging.ToBuffer(log, "FlushRequest for column family %s is re-scheduled to retain user-defined timestamps.", cfd.GetName())
			d.enqueueFlushLocked(r)
			*postponed = true
			return r.reason, rocksdb.TryAgain()
		}
		syncpoint.ProcessArg("DBImpl::BackgroundFlush:CheckFlushRequest:cb", &r.tries)
		due := &flushRequest{reason: r.reason, atomic: r.atomic}
		for _, f := range r.families {
			if !f.cfd.IsDropped() && f.cfd.Imm().IsFlushPending() {
				due.families = append(due.families, f)
				logging.ToBuffer(log, "Calling FlushMemTableToOutputFile with column family [%s], flush slots available %d, flush slots scheduled %d",
					f.cfd.GetName(), d.backgroundJobLimits().flushes, d.st.bgFlushScheduled)
			}
		}
		if len(due.families) == 0 {
			d.unrefRequestLocked(r, job)
			continue
		}
		var err error
		if r.atomic {
			err = d.atomicFlushMemTablesToOutputFilesLocked(due, job, log)
		} else {
			err = d.flushMemTableToOutputFileLocked(due.families[0].cfd, r.reason, job, log)
		}
		syncpoint.Process("DBImpl::BackgroundFlush:BeforeFlush")
		d.unrefRequestLocked(r, job)
		return r.reason, err
	}
	return rocksdb.FlushReasonOthers, nil
}

func (d *DBImpl) unrefRequestLocked(r *flushRequest, job *jobContext) {
	for _, f := range r.families {
		f.cfd.UnrefLocked(&job.memtablesToFree)
	}
}

// newFlushJobLocked makes the job of one family; its memtables are picked later.
func (d *DBImpl) newFlushJobLocked(f familyFlush, reason rocksdb.FlushReason, snapshots []rocksdb.SequenceNumber, job *jobContext, log *logging.LogBuffer, alone bool) *db.FlushJob {
	cfd := f.cfd
	mo := cfd.GetLatestMutableCFOptions()
	return db.NewFlushJob(&db.FlushJobConfig{
		DBName: d.dbName, CFD: cfd, DBOptions: d.immutable, MutableCFOptions: mo, MaxMemtableID: f.maxID,
		FileOptions: d.compactionFileOpts, VersionSet: d.versions, Mutex: &d.mu, ShuttingDown: &d.shuttingDown,
		Snapshots: snapshots, JobID: job.id, FlushReason: reason, LogBuffer: log, DBDirectory: d.dirs.DBDir(),
		OutputDirectory: d.dirs.DataDir(cfd, 0), OutputCompression: db.GetCompressionFlush(cfd.IOptions(), mo),
		Statistics: d.stats, EventLogger: d.eventLogger, SyncOutput: alone, WriteManifest: alone,
		DBID: d.dbID, SessionID: d.sessionID, HostID: d.hostID,
		Status: job.status, ThreadID: job.thread, MemtablesToFree: &job.memtablesToFree, ErrorHandler: d.errorHandler,
		SeqnoToTimeMapping: cfd.SeqnoToTimeMapping(), BlobCallback: d.blobCallback(), FastSstOpen: d.mutableDBOptions.Load().FastSstOpen,
	})
}

// flushMemTableToOutputFileLocked flushes one family: all memtables that wait
// now, since those that came after the request had no request of their own.
func (d *DBImpl) flushMemTableToOutputFileLocked(cfd *db.ColumnFamilyData, reason rocksdb.FlushReason, job *jobContext, log *logging.LogBuffer) error {
	// With several families, a WAL that the flushed memtable no longer needs may
	// hold other families' data that is not synced: sync before, so that a crash
	// cannot leave families at different points.
	needSync := !d.readOnly && (d.families.NumberOfColumnFamilies() > 1 || d.immutable.Allow2PC)
	f := familyFlush{cfd, ^uint64(0)}
	if needSync {
		// The mutex is released: what comes meanwhile is in logs not synced here.
		f.maxID = cfd.Imm().GetLatestMemTableID(false)
		if err := d.syncClosedLogsLocked(); err != nil {
			cfd.Imm().FlushRequested()
			if !isShutdownOrDropped(err) {
				d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonFlush)
			}
			return err
		}
	} else {
		syncpoint.Process("DBImpl::SyncClosedWals:Skip")
	}
	syncpoint.Process("DBImpl::FlushMemTableToOutputFile:BeforePickMemtables")
	if err := d.flushStoppedLocked(reason, job, log); err != nil {
		return err
	}
	snapshots, _ := d.st.snapshots.GetAll(dbMaxSequence)
	fj := d.newFlushJobLocked(f, reason, snapshots, job, log, true)
	fj.PickMemTable()
	syncpoint.ProcessArg("DBImpl::FlushMemTableToOutputFile:AfterPickMemtables", fj)
	d.notifyOnFlushBeginLocked(cfd, job, reason, fj.Meta())
	meta, err := fj.Run()
	if err == nil {
		// Whoever waits for listeners must not see the memtables gone before
		// they are told.
		notifies := len(d.immutable.Listeners) > 0 && len(fj.CommittedJobs()) > 0
		if notifies {
			cfd.Imm().AddPendingFlushNotifications(1)
		}
		d.installSuperVersionAndScheduleLocked(cfd, &job.sv)
		logging.ToBuffer(log, "[%s] Level summary: %s\n", cfd.GetName(), cfd.Current().StorageInfo().LevelSummary())
		d.notifyOnFlushCompletedLocked(cfd, fj.CommittedJobs())
		if notifies {
			cfd.Imm().AddPendingFlushNotifications(-1)
		}
		d.flushedToSstFileManagerLocked(cfd, meta)
	} else if !isShutdownOrDropped(err) && !fj.SkippedByBGError() {
		d.setFlushErrorLocked(err)
	}
	syncpoint.Process("DBImpl::FlushMemTableToOutputFile:Finish")
	return err
}

// setFlushErrorLocked records the error of a flush whose logs are synced, so
// that nothing is lost yet.
func (d *DBImpl) setFlushErrorLocked(err error) {
	why := rocksdb.BackgroundErrorReasonFlushNoWAL
	if d.versions.IOStatus() != nil {
		why = rocksdb.BackgroundErrorReasonManifestWriteNoWAL
	}
	d.errorHandler.SetBGError(err, why)
}

// flushStoppedLocked is the error in force that keeps a flush from picking
// memtables: the recovery's flush has to find them.
func (d *DBImpl) flushStoppedLocked(reason rocksdb.FlushReason, job *jobContext, log *logging.LogBuffer) error {
	if !d.errorHandler.IsBGWorkStopped() || isRecoveryFlush(reason) {
		return nil
	}
	err := d.errorHandler.GetBGError()
	logging.ToBuffer(log, "[JOB %d] Skip flush due to background error %v", job.id, err)
	return err
}

// syncClosedLogsLocked syncs the logs that are no longer written to. The mutex
// is released meanwhile.
func (d *DBImpl) syncClosedLogsLocked() error {
	recovering := d.errorHandler.IsRecoveryInProgress()
	d.mu.Unlock()
	syncpoint.Process("DBImpl::SyncClosedWals:Start")
	err := d.syncWALs(false, recovering)
	if err != nil {
		syncpoint.Process("DBImpl::SyncClosedWals:Failed")
	} else {
		syncpoint.Process("DBImpl::SyncClosedWals:end")
	}
	d.mu.Lock()
	syncpoint.Process("DBImpl::FlushMemTableToOutputFile:CommitWal:1")
	return err
}

// syncWALs makes the logs durable, the one that is written to only when asked
// to, and tells the MANIFEST. No lock is held.
func (d *DBImpl) syncWALs(includeCurrent, recovering bool) error {
	d.walMu.Lock()
	current := d.logNumber.Load()
	upTo := current
	if !includeCurrent {
		upTo--
	}
	for len(d.walMu.logs) > 0 && d.walMu.logs[0].number <= upTo && d.walMu.logs[0].gettingSynced {
		d.walMu.cond.Wait()
	}
	n := len(d.walMu.logs)
	if n == 0 || !includeCurrent && d.walMu.logs[0].number > upTo {
		d.walMu.Unlock()
		return nil
	}
	if includeCurrent && !d.walMu.logs[n-1].writer.File().WritableFile().IsSyncThreadSafe() {
		d.walMu.Unlock()
		return rocksdb.NotSupported("SyncWAL() is not supported for this implementation of WAL file; try setting Options::allow_mmap_writes to false")
	}
	var toSync []*wal.Writer
	for i := range d.walMu.logs {
		l := &d.walMu.logs[i]
		if l.number > upTo {
			break
		}
		l.prepareForSync()
		// One that is closed was synced when a later one could not be.
		if !l.writer.File().IsClosed() {
			toSync = append(toSync, l.writer)
		}
	}
	needDirSync := !d.walMu.dirSynced
	d.walMu.Unlock()
	if includeCurrent {
		syncpoint.Process("DBWALTest::SyncWALNotWaitWrite:1")
	}
	monitoring.RecordTick(d.stats, rocksdb.WALFileSynced, 1)
	err := d.syncWriters(toSync, current, recovering)
	if err != nil {
		logging.Error(d.infoLog, "WAL Sync error %v", err)
		d.walWriteStatusCheck(err)
	} else if needDirSync {
		err = d.syncWALDir()
	}
	if includeCurrent {
		syncpoint.Process("DBWALTest::SyncWALNotWaitWrite:2")
		syncpoint.Process("DBImpl::SyncWAL:BeforeMarkLogsSynced:1")
	} else {
		syncpoint.Process("DBImpl::SyncClosedWals:BeforeReLock")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		return d.markLogsSyncedLocked(upTo, needDirSync)
	}
	d.markLogsNotSynced(upTo)
	return err
}

// syncWriters syncs logs that are marked for it. Those before current, which
// nobody writes to any more, are closed afterwards, unless the jobs that delete
// them are to do so. One that may be used again has to be closed here: closing
// cuts the file. With recovering a log that failed before is tried again.
func (d *DBImpl) syncWriters(list []*wal.Writer, current uint64, recovering bool) error {
	closeInactive := d.immutable.RecycleLogFileNum > 0 || !d.immutable.BackgroundCloseInactiveWALs
	for _, w := range list {
		if recovering {
			w.File().ResetSeenError()
		}
		sync := w.File().Sync
		if w.GetLogNumber() >= current {
			sync = w.File().SyncWithoutFlush
		}
		if err := sync(rocksdb.NewIOOptions(), d.immutable.UseFsync); err != nil {
			return err
		}
		if closeInactive && w.GetLogNumber() < current {
			if err := w.Close(nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// stallHints say what the family's number of level 0 files does to writers.
func stallHints(cfd *db.ColumnFamilyData) (slowdown, stop bool) {
	mo := cfd.GetLatestMutableCFOptions()
	n := cfd.Current().StorageInfo().NumLevelFiles(0)
	return n >= mo.Level0SlowdownWritesTrigger, n >= mo.Level0StopWritesTrigger
}

// notifyOnFlushBeginLocked tells listeners; the mutex is released meanwhile. meta
// is nil where the file has no number yet.
func (d *DBImpl) notifyOnFlushBeginLocked(cfd *db.ColumnFamilyData, job *jobContext, reason rocksdb.FlushReason, meta *version.FileMetaData) {
	if len(d.immutable.Listeners) == 0 || d.shuttingDown.Load() {
		return
	}
	info := &rocksdb.FlushJobInfo{CFID: cfd.GetID(), CFName: cfd.GetName(), JobID: job.id, ThreadID: job.thread, FlushReason: reason}
	if meta != nil {
		info.FileNumber, info.FilePath = meta.FD.GetNumber(), d.tableFileName(cfd, meta)
	}
	info.TriggeredWritesSlowdown, info.TriggeredWritesStop = stallHints(cfd)
	d.mu.Unlock()
	for _, l := range d.immutable.Listeners {
		l.OnFlushBegin(d, info)
	}
	d.mu.Lock()
}

// notifyOnFlushCompletedLocked tells listeners of the flushes that a job has
// committed, its own or others'; the mutex is released meanwhile.
func (d *DBImpl) notifyOnFlushCompletedLocked(cfd *db.ColumnFamilyData, infos []*rocksdb.FlushJobInfo) {
	if len(d.immutable.Listeners) == 0 || d.shuttingDown.Load() || len(infos) == 0 {
		return
	}
	slowdown, stop := stallHints(cfd)
	d.mu.Unlock()
	for _, info := range infos {
		info.TriggeredWritesSlowdown, info.TriggeredWritesStop = slowdown, stop
		for _, l := range d.immutable.Listeners {
			l.OnFlushCompleted(d, info)
		}
		syncpoint.Process("DBImpl::NotifyOnFlushCompleted::PostAllOnFlushCompleted")
	}
	d.mu.Lock()
}

// notifyOnManualFlushScheduled tells listeners that a caller asked for a flush.
func (d *DBImpl) notifyOnManualFlushScheduled(cfds []*db.ColumnFamilyData, reason rocksdb.FlushReason) {
	if len(d.immutable.Listeners) == 0 || d.shuttingDown.Load() {
		return
	}
	var infos []rocksdb.ManualFlushInfo
	for _, cfd := range cfds {
		infos = append(infos, rocksdb.ManualFlushInfo{CFID: cfd.GetID(), CFName: cfd.GetName(), FlushReason: reason})
	}
	for _, l := range d.immutable.Listeners {
		l.OnManualFlushScheduled(d, infos)
	}
}

// Flush writes the family's memtables to tables.
func (d *DBImpl) Flush(o *rocksdb.FlushOptions, cf rocksdb.ColumnFamilyHandle) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if o == nil {
		def := rocksdb.DefaultFlushOptions()
		o = &def
	}
	cfd := d.cfd(cf)
	logging.Info(d.infoLog, "[%s] Manual flush start.", cfd.GetName())
	var err error
	if d.flushesAtomically(o) {
		err = d.atomicFlushMemTables([]*db.ColumnFamilyData{cfd}, o, rocksdb.FlushReasonManualFlush)
	} else {
		err = d.flushMemTable(cfd, o, rocksdb.FlushReasonManualFlush)
	}
	logging.Info(d.infoLog, "[%s] Manual flush finished, status: %s\n", cfd.GetName(), statusText(err))
	return err
}

// FlushFamilies is Flush of several families: as one with atomic flush, else
// one after the other up to the first error.
func (d *DBImpl) FlushFamilies(o *rocksdb.FlushOptions, cfs []rocksdb.ColumnFamilyHandle) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if o == nil {
		def := rocksdb.DefaultFlushOptions()
		o = &def
	}
	if !d.flushesAtomically(o) {
		for _, cf := range cfs {
			if err := d.Flush(o, cf); err != nil {
				return err
			}
		}
		return nil
	}
	var cfds []*db.ColumnFamilyData
	var names []string
	for _, cf := range cfs {
		cfds = append(cfds, d.cfd(cf))
		names = append(names, d.cfd(cf).GetName())
	}
	logging.Info(d.infoLog, "Manual atomic flush start.\n=====Column families:=====\n%s\n=====End of column families list=====", strings.Join(names, "\n"))
	err := d.atomicFlushMemTables(cfds, o, rocksdb.FlushReasonManualFlush)
	logging.Info(d.infoLog, "Manual atomic flush finished, status: %s\n=====Column families:=====\n%s\n=====End of column families list=====",
		statusText(err), strings.Join(names, "\n"))
	return err
}

func (d *DBImpl) flushAllColumnFamilies(o *rocksdb.FlushOptions, reason rocksdb.FlushReason) error {
	if d.flushesAtomically(o) {
		syncpoint.Process("DBImpl::FlushAllColumnFamilies:BeforeAtomicFlushMemTables")
		err := d.atomicFlushMemTables(nil, o, reason)
		if rocksdb.CodeOf(err) == rocksdb.CodeColumnFamilyDropped {
			err = nil
		}
		return err
	}
	d.mu.Lock()
	cfds := d.refFamiliesLocked()
	d.mu.Unlock()
	defer d.releaseFamilies(cfds)
	for _, cfd := range cfds {
		syncpoint.Process("DBImpl::FlushAllColumnFamilies:BeforeFlushMemTable")
		err := d.flushMemTable(cfd, o, reason)
		syncpoint.Process("DBImpl::FlushAllColumnFamilies:1")
		syncpoint.Process("DBImpl::FlushAllColumnFamilies:2")
		if err != nil && rocksdb.CodeOf(err) != rocksdb.CodeColumnFamilyDropped {
			return err
		}
	}
	return nil
}

// refFamiliesLocked gives all families that are not dropped, each with a
// reference; see releaseFamilies.
func (d *DBImpl) refFamiliesLocked() []*db.ColumnFamilyData {
	var cfds []*db.ColumnFamilyData
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			cfd.Ref()
			cfds = append(cfds, cfd)
		}
	}
	return cfds
}

// releaseFamilies takes the references off; mu is not held.
func (d *DBImpl) releaseFamilies(cfds []*db.ColumnFamilyData) {
	for _, cfd := range cfds {
		d.ReleaseColumnFamily(cfd)
	}
}

var errWritesStopped = rocksdb.TryAgain("Writes have been stopped, thus unable to perform manual flush. Please try again later after writes are resumed")

// flushMemTable switches the memtable, queues its flush and waits for it.
func (d *DBImpl) flushMemTable(cfd *db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason) error {
	if d.immutable.AtomicFlush {
		return d.atomicFlushMemTables([]*db.ColumnFamilyData{cfd}, o, reason)
	}
	if !o.Wait && d.writeCtl.IsStopped() {
		return errWritesStopped
	}
	if !o.AllowWriteStall {
		needed, err := d.waitUntilFlushWouldNotStallWrites(cfd)
		syncpoint.Process("DBImpl::FlushMemTable:StallWaitDone")
		if err != nil || !needed {
			return err
		}
	}
	d.mu.Lock()
	w := d.enterUnbatchedForSwitchLocked()
	return d.flushUnbatchedLocked(cfd, o, reason, func() { d.exitUnbatchedLocked(w) })
}

// flushUnbatchedLocked is flushMemTable once no write is under way. exit lets
// writes go on before it waits; nil keeps them out. It returns without the
// mutex.
func (d *DBImpl) flushUnbatchedLocked(cfd *db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason, exit func()) error {
	var ctx writeContext
	d.syncLastSequenceForRecoveryLocked(reason)
	var err error
	if !cfd.Mem().IsEmpty() || isRecoveryFlush(reason) {
		err = d.switchMemtableLocked(cfd, &ctx)
	}
	var pending []familyFlush
	request := func(cfd *db.ColumnFamilyData) {
		pending = append(pending, familyFlush{cfd, cfd.Imm().GetLatestMemTableID(false)})
		cfd.Imm().FlushRequested()
		cfd.Ref() // while it is waited for
		queued := cfd.QueuedForFlush()
		if d.enqueueFlushLocked(flushOfOne(cfd, reason)) || queued {
			cfd.SetFlushSkipReschedule()
		}
	}
	if err == nil && cfd.Imm().NumNotFlushed() > 0 {
		request(cfd)
	}
	if stats := d.laggingStatsFamilyLocked(cfd); err == nil && stats != nil {
		logging.Info(d.infoLog, "Force flushing stats CF with manual flush of %s to avoid holding old logs", cfd.GetName())
		if err = d.switchMemtableLocked(stats, &ctx); err == nil {
			request(stats)
		}
	}
	if len(pending) > 0 {
		d.maybeScheduleLocked()
	}
	if exit != nil {
		exit()
	}
	d.mu.Unlock()
	ctx.clean()
	d.notifyOnManualFlushScheduled([]*db.ColumnFamilyData{cfd}, reason)
	syncpoint.Process("DBImpl::FlushMemTable:AfterScheduleFlush")
	syncpoint.Process("DBImpl::FlushMemTable:BeforeWaitForBgFlush")
	if len(pending) > 0 && err == nil && o.Wait {
		d.mu.Lock()
		err = d.waitForFlushLocked(pending, reason, o.ListenerWait)
		d.mu.Unlock()
	}
	for _, f := range pending {
		d.ReleaseColumnFamily(f.cfd)
	}
	syncpoint.Process("DBImpl::FlushMemTable:FlushMemTableFinished")
	return err
}

// waitForFlushLocked waits until the families' memtables up to an ID each are
// flushed, and with listeners until these have been told.
// Upstream: DBImpl::WaitForFlushMemTables.
func (d *DBImpl) waitForFlushLocked(flushes []familyFlush, reason rocksdb.FlushReason, listeners bool) error {
	resuming := isRecoveryFlush(reason)
	for resuming || !d.errorHandler.IsDBStopped() {
		if d.shuttingDown.Load() {
			return rocksdb.ShutdownInProgress()
		}
		if err := d.errorHandler.GetRecoveryError(); err != nil {
			return err
		}
		if !resuming && d.errorHandler.IsBGWorkStopped() {
			if err := d.errorHandler.GetBGError(); rocksdb.AsStatus(err).Severity < rocksdb.SeverityHardError {
				return err
			}
		}
		dropped, finished := 0, 0
		for _, f := range flushes {
			imm := f.cfd.Imm()
			switch {
			case f.cfd.IsDropped():
				dropped++
			case imm.NumNotFlushed() != 0 && imm.GetEarliestMemTableID() <= f.maxID:
			case reason == rocksdb.FlushReasonExternalFileIngestion && f.cfd.GetSuperVersion().Imm != imm.Current():
				// An ingestion looks at the SuperVersion next.
			case listeners && imm.NumPendingFlushNotifications() > 0:
			default:
				finished++
			}
		}
		if dropped == 1 && len(flushes) == 1 {
			return rocksdb.ColumnFamilyDropped(flushes[0].cfd.GetName())
		}
		if dropped+finished == len(flushes) {
			return nil
		}
		d.bgCond.Wait()
	}
	return d.errorHandler.GetBGError()
}

// waitUntilFlushWouldNotStallWrites holds a manual flush back while it would
// make writers wait. needed is false when the memtable was flushed meanwhile.
func (d *DBImpl) waitUntilFlushWouldNotStallWrites(cfd *db.ColumnFamilyData) (needed bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	origID := cfd.Mem().GetID()
	for first := true; ; first = false {
		if !first {
			// As for writes: what would end the stall may never succeed.
			if d.errorHandler.IsBGWorkStopped() {
				return false, d.errorHandler.GetBGError()
			}
			syncpoint.Process("DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait")
			d.bgCond.Wait()
		}
		if cfd.IsDropped() {
			return false, rocksdb.ColumnFamilyDropped(cfd.GetName())
		}
		if d.shuttingDown.Load() {
			return false, rocksdb.ShutdownInProgress()
		}
		earliest := cfd.Mem().GetID()
		if cfd.Imm().NumNotFlushed() > 0 {
			earliest = min(earliest, cfd.Imm().GetEarliestMemTableID())
		}
		if earliest > origID {
			return false, nil
		}
		mo := cfd.GetLatestMutableCFOptions()
		vs := cfd.Current().StorageInfo()
		// What a mempurge left waits for the next flush.
		flushes := cfd.Imm().NumNotFlushed() >= cfd.IOptions().MinWriteBufferNumberToMerge &&
			(d.immutable.AtomicFlush || cfd.QueuedForFlush() || cfd.Imm().IsFlushRunning())
		if !flushes && vs.L0DelayTriggerCount() < mo.Level0FileNumCompactionTrigger {
			// No background work is due that would end a stall.
			return true, nil
		}
		c, _ := db.GetWriteStallConditionAndCause(cfd.GetUnflushedMemTableCountForWriteStallCheck(), vs.L0DelayTriggerCount()+1,
			vs.EstimatedCompactionNeededBytes(), mo, cfd.IOptions().MinWriteBufferNumberToMerge)
		if c == rocksdb.WriteStallConditionNormal {
			return true, nil
		}
	}
}

// FlushWAL is FlushWALWithOptions without a rate limit.
func (d *DBImpl) FlushWAL(sync bool) error {
	o := rocksdb.DefaultFlushWALOptions()
	o.Sync = sync
	return d.FlushWALWithOptions(&o)
}

// FlushWALWithOptions hands buffered WAL records to the file system, and syncs
// them when asked to.
func (d *DBImpl) FlushWALWithOptions(o *rocksdb.FlushWALOptions) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if d.immutable.ManualWALFlush {
		opts := rocksdb.DefaultIOOptions()
		opts.RateLimiterPriority = o.RateLimiterPriority
		d.walMu.Lock()
		err := d.walMu.logs[len(d.walMu.logs)-1].writer.WriteBuffer(&opts)
		d.walMu.Unlock()
		if err != nil {
			logging.Error(d.infoLog, "WAL flush error %v", err)
			d.walWriteStatusCheck(err)
			return err
		}
	}
	if !o.Sync {
		return nil
	}
	return d.SyncWAL()
}

// SyncWAL makes all writes so far durable. It may run beside writes.
func (d *DBImpl) SyncWAL() error {
	if d.readOnly {
		return d.readOnlyError()
	}
	syncpoint.Process("DBImpl::SyncWAL:Begin")
	err := d.syncWALs(true, false)
	syncpoint.Process("DBImpl::SyncWAL:BeforeMarkLogsSynced:2")
	return err
}

// LockWAL flushes the WAL and stops writes until UnlockWAL.
func (d *DBImpl) LockWAL() error {
	if d.readOnly {
		return d.readOnlyError()
	}
	d.mu.Lock()
	if d.st.lockWALCount > 0 {
		d.st.lockWALCount++
	} else {
		w := d.enterUnbatchedLocked()
		// The mutex was released meanwhile: another may have locked.
		if d.st.lockWALCount++; d.st.lockWALCount == 1 {
			d.st.lockWALToken = d.writeCtl.GetStopToken()
		}
		d.exitUnbatchedLocked(w)
	}
	d.mu.Unlock()
	err := d.FlushWAL(false)
	if err != nil {
		_ = d.UnlockWAL()
	}
	return err
}

// UnlockWAL undoes LockWAL.
func (d *DBImpl) UnlockWAL() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.st.lockWALCount == 0 {
		return rocksdb.Aborted("No LockWAL() in effect")
	}
	if d.st.lockWALCount--; d.st.lockWALCount == 0 {
		d.st.lockWALToken.Release()
		d.st.lockWALToken = nil
		d.bgCond.Broadcast()
	}
	return nil
}

// PauseBackgroundWork waits for running jobs and starts no others until
// ContinueBackgroundWork.
func (d *DBImpl) PauseBackgroundWork() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.st.bgCompactionPaused++
	for d.st.bgBottomScheduled > 0 || d.st.bgCompactScheduled > 0 || d.st.bgFlushScheduled > 0 {
		d.bgCond.Wait()
	}
	d.st.bgWorkPaused++
	return nil
}

// ContinueBackgroundWork undoes PauseBackgroundWork.
func (d *DBImpl) ContinueBackgroundWork() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.st.bgWorkPaused == 0 {
		return rocksdb.InvalidArgument("background work is not paused")
	}
	d.st.bgWorkPaused--
	d.st.bgCompactionPaused--
	if d.st.bgWorkPaused == 0 {
		d.maybeScheduleLocked()
	}
	return nil
}

// WaitForCompact waits until no flush or compaction is running or due.
func (d *DBImpl) WaitForCompact(o *rocksdb.WaitForCompactOptions) error {
	if o == nil {
		o = &rocksdb.WaitForCompactOptions{}
	}
	var err error
	switch {
	case o.Flush:
		err = d.flushAllColumnFamilies(&rocksdb.FlushOptions{Wait: true}, rocksdb.FlushReasonManualFlush)
	case o.CloseDB && d.hasUnpersistedData.Load() && !d.mutableDBOptions.Load().AvoidFlushDuringShutdown && !d.readOnly:
		err = d.flushAllColumnFamilies(&rocksdb.FlushOptions{Wait: true}, rocksdb.FlushReasonShutDown)
	}
	if err != nil {
		return err
	}
	syncpoint.Process("DBImpl::WaitForCompact:StartWaiting")
	deadline := uint64(0)
	if o.Timeout > 0 {
		deadline = d.clock.NowMicros() + uint64(o.Timeout.Microseconds())
		stop := d.broadcastAt(o.Timeout)
		defer stop()
	}
	d.mu.Lock()
	for {
		if d.shuttingDown.Load() {
			d.mu.Unlock()
			return rocksdb.ShutdownInProgress()
		}
		if d.st.bgWorkPaused > 0 && o.AbortOnPause {
			d.mu.Unlock()
			return rocksdb.Aborted()
		}
		st := &d.st
		if (st.bgBottomScheduled > 0 || st.bgCompactScheduled > 0 || st.bgFlushScheduled > 0 || st.unscheduledCompacts > 0 ||
			o.WaitForPurge && st.purge.scheduled > 0 ||
			st.unscheduledFlushes > 0 || d.errorHandler.IsRecoveryInProgress()) && d.errorHandler.GetBGError() == nil {
			if deadline > 0 && d.clock.NowMicros() >= deadline {
				d.mu.Unlock()
				return rocksdb.TimedOut()
			}
			if deadline == 0 {
				syncpoint.Process("DBImpl::WaitForCompact:InsideLoop")
			}
			d.bgCond.Wait()
			continue
		}
		err := d.errorHandler.GetBGError()
		d.mu.Unlock()
		if err == nil && o.CloseDB {
			return d.Close()
		}
		return err
	}
}

// Port of db/db_impl/db_impl_compaction_flush.cc (flushes and scheduling).

package dbimpl

import (
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

// flushRequest asks for the flush of families' memtables up to an ID each.
type flushRequest struct {
	reason   rocksdb.FlushReason
	families map[*db.ColumnFamilyData]uint64
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
	d.bgCond.Broadcast()
}

func (d *DBImpl) enqueueFlushLocked(r *flushRequest) {
	if d.shuttingDown.Load() || len(r.families) == 0 {
		return
	}
	for cfd := range r.families {
		if cfd.QueuedForFlush() || !cfd.Imm().IsFlushPending() {
			return
		}
		cfd.Ref()
		cfd.SetQueuedForFlush(true)
	}
	d.st.flushQueue = append(d.st.flushQueue, r)
	d.st.unscheduledFlushes++
}

func (d *DBImpl) enqueuePendingCompactionLocked(cfd *db.ColumnFamilyData) {
	if cfd.QueuedForCompaction() || cfd.IsDropped() || !cfd.NeedsCompaction() {
		return
	}
	cfd.Ref()
	d.st.compactionQueue = append(d.st.compactionQueue, cfd)
	cfd.SetQueuedForCompaction(true)
	d.st.unscheduledCompacts++
}

// maybeScheduleLocked hands queued work to the thread pools.
func (d *DBImpl) maybeScheduleLocked() {
	st := &d.st
	if !st.opened || d.readOnly || st.bgWorkPaused > 0 || d.shuttingDown.Load() {
		return
	}
	if d.errorHandler.IsBGWorkStopped() && !d.errorHandler.IsRecoveryInProgress() {
		return
	}
	limits := d.backgroundJobLimits()
	flushPool := rocksdb.HighPriority
	running := &st.bgFlushScheduled
	if d.env.GetBackgroundThreads(rocksdb.HighPriority) == 0 {
		flushPool = rocksdb.LowPriority
	}
	for st.unscheduledFlushes > 0 && *running < limits.flushes {
		st.bgFlushScheduled++
		st.unscheduledFlushes--
		d.env.Schedule(func() {
			syncpoint.Process("DBImpl::BGWorkFlush")
			d.backgroundCallFlush()
			syncpoint.Process("DBImpl::BGWorkFlush:done")
		}, flushPool, d, nil)
	}
	if st.bgCompactionPaused > 0 || d.errorHandler.IsBGWorkStopped() || st.exclusiveManual > 0 {
		return
	}
	for st.bgCompactScheduled+st.bgBottomScheduled < limits.compactions && st.unscheduledCompacts > 0 {
		st.bgCompactScheduled++
		st.unscheduledCompacts--
		d.env.Schedule(func() { d.backgroundCallCompaction(nil, rocksdb.LowPriority) }, rocksdb.LowPriority, d, nil)
	}
}

// popFlushLocked takes the first request of the queue.
func (d *DBImpl) popFlushLocked() *flushRequest {
	r := d.st.flushQueue[0]
	d.st.flushQueue = d.st.flushQueue[1:]
	for cfd := range r.families {
		cfd.SetQueuedForFlush(false)
	}
	return r
}

// errorBackoff is how long a job waits after a failure, in microseconds.
const errorBackoff = 1000000

func (d *DBImpl) backgroundCallFlush() {
	syncpoint.Process("DBImpl::BackgroundCallFlush:start")
	job := d.newJobContext()
	log := logging.NewLogBuffer(rocksdb.InfoLevel, d.infoLog)
	d.mu.Lock()
	d.st.numRunningFlushes++
	pending := d.captureOutputsLocked()
	err := d.backgroundFlushLocked(job, log)
	if err != nil && !isShutdownOrDropped(err) {
		n := d.families.GetDefault().InternalStats().BumpAndGetBackgroundErrorCount()
		d.bgCond.Broadcast() // a waiting writer sees the error
		d.mu.Unlock()
		logging.Error(d.infoLog, "[JOB %d] Waiting after background flush error: %v Accumulated background error counts: %d", job.id, err, n)
		log.FlushBufferToLog()
		d.backoff()
		d.mu.Lock()
	}
	d.releaseOutputsLocked(pending)
	d.findObsoleteFilesLocked(job, err != nil && !isShutdownOrDropped(err), false)
	d.mu.Unlock()
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

func (d *DBImpl) backgroundFlushLocked(job *jobContext, log *logging.LogBuffer) error {
	if d.errorHandler.IsBGWorkStopped() && !d.errorHandler.IsRecoveryInProgress() {
		return d.errorHandler.GetBGError()
	}
	if d.shuttingDown.Load() {
		return rocksdb.ShutdownInProgress()
	}
	var result error
	for len(d.st.flushQueue) > 0 {
		r := d.popFlushLocked()
		worked := false
		for cfd := range r.families {
			if cfd.IsDropped() || !cfd.Imm().IsFlushPending() {
				cfd.UnrefLocked(&job.memtablesToFree)
				continue
			}
			worked = true
			logging.Debug(d.infoLog, "Calling FlushMemTableToOutputFile with column family [%s], flush slots available %d", cfd.GetName(), d.backgroundJobLimits().flushes)
			if err := d.flushMemTableToOutputFileLocked(cfd, r.reason, job, log); err != nil && result == nil {
				result = err
			}
			cfd.UnrefLocked(&job.memtablesToFree)
		}
		if worked {
			break
		}
	}
	return result
}

// flushMemTableToOutputFileLocked flushes one family: all memtables that wait
// now, since those that came after the request had no request of their own.
func (d *DBImpl) flushMemTableToOutputFileLocked(cfd *db.ColumnFamilyData, reason rocksdb.FlushReason, job *jobContext, log *logging.LogBuffer) error {
	// With several families, a WAL that the flushed memtable no longer needs may
	// hold other families' data that is not synced: sync before, so that a crash
	// cannot leave families at different points.
	needSync := !d.readOnly && d.families.NumberOfColumnFamilies() > 1
	maxID := ^uint64(0)
	if needSync {
		// The mutex is released: what comes meanwhile is in logs not synced here.
		maxID = cfd.Imm().GetLatestMemTableID(false)
		if err := d.syncClosedLogsLocked(); err != nil {
			cfd.Imm().FlushRequested()
			d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonFlush)
			return err
		}
	}
	mo := cfd.GetLatestMutableCFOptions()
	snapshots, _ := d.st.snapshots.GetAll(dbMaxSequence)
	fj := db.NewFlushJob(&db.FlushJobConfig{
		DBName: d.dbName, CFD: cfd, DBOptions: d.immutable, MutableCFOptions: mo, MaxMemtableID: maxID,
		FileOptions: d.compactionFileOpts, VersionSet: d.versions, Mutex: &d.mu, ShuttingDown: &d.shuttingDown,
		Snapshots: snapshots, JobID: job.id, FlushReason: reason, LogBuffer: log, DBDirectory: d.dirs.DBDir(),
		OutputDirectory: d.dirs.DataDir(cfd, 0), OutputCompression: db.GetCompressionFlush(cfd.IOptions(), mo),
		Statistics: d.stats, EventLogger: d.eventLogger, SyncOutput: true, WriteManifest: true,
		DBID: d.dbID, SessionID: d.sessionID, HostID: d.hostID,
		MemtablesToFree: &job.memtablesToFree,
		BGError: func() error {
			if d.errorHandler.IsBGWorkStopped() {
				return d.errorHandler.GetBGError()
			}
			return nil
		},
	})
	fj.PickMemTable()
	d.notifyFlush(cfd, nil, fj, job, reason, true)
	meta, err := fj.Run()
	if err == nil {
		d.installSuperVersionAndScheduleLocked(cfd, &job.sv)
		vs := cfd.Current().StorageInfo()
		logging.ToBuffer(log, "[%s] Level summary: %s\n", cfd.GetName(), vs.LevelSummary())
		d.notifyFlush(cfd, meta, fj, job, reason, false)
		d.flushedToSstFileManagerLocked(cfd, meta)
	} else if !isShutdownOrDropped(err) {
		why := rocksdb.BackgroundErrorReasonFlush
		if d.totalLogSize.Load() == 0 {
			why = rocksdb.BackgroundErrorReasonFlushNoWAL
		}
		d.errorHandler.SetBGError(err, why)
	}
	return err
}

// syncClosedLogsLocked syncs the logs that are no longer written to. The mutex
// is released meanwhile.
func (d *DBImpl) syncClosedLogsLocked() error {
	d.mu.Unlock()
	err := d.syncWALs(false)
	d.mu.Lock()
	syncpoint.Process("DBImpl::FlushMemTableToOutputFile:CommitWal:1")
	return err
}

// syncWALs makes the logs durable, the one that is written to only when asked
// to, and tells the MANIFEST. No lock is held.
func (d *DBImpl) syncWALs(includeCurrent bool) error {
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
	err := d.syncWriters(toSync, current)
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
// cuts the file.
func (d *DBImpl) syncWriters(list []*wal.Writer, current uint64) error {
	closeInactive := d.immutable.RecycleLogFileNum > 0 || !d.immutable.BackgroundCloseInactiveWALs
	for _, w := range list {
		sync := w.File().Sync
		if w.GetLogNumber() >= current {
			sync = w.File().SyncWithoutFlush
		}
		if err := sync(&rocksdb.IOOptions{}, d.immutable.UseFsync); err != nil {
			return err
		}
		if closeInactive && w.GetLogNumber() < current {
			if err := w.Close(&rocksdb.IOOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// notifyFlush tells listeners that a flush begins or has completed.
func (d *DBImpl) notifyFlush(cfd *db.ColumnFamilyData, meta *version.FileMetaData, fj *db.FlushJob, job *jobContext, reason rocksdb.FlushReason, begin bool) {
	if len(d.immutable.Listeners) == 0 || d.shuttingDown.Load() {
		return
	}
	mo := cfd.GetLatestMutableCFOptions()
	numL0 := cfd.Current().StorageInfo().NumLevelFiles(0)
	info := &rocksdb.FlushJobInfo{CFID: cfd.GetID(), CFName: cfd.GetName(), JobID: job.id,
		TriggeredWritesSlowdown: numL0 >= mo.Level0SlowdownWritesTrigger, TriggeredWritesStop: numL0 >= mo.Level0StopWritesTrigger,
		FlushReason: reason}
	if meta != nil {
		info.FileNumber = meta.FD.GetNumber()
		info.FilePath = d.tableFileName(cfd, meta)
		info.SmallestSeqno, info.LargestSeqno = meta.FD.SmallestSeqno, meta.FD.LargestSeqno
		info.TableProperties = *fj.TableProperties()
	}
	d.mu.Unlock()
	for _, l := range d.immutable.Listeners {
		if begin {
			l.OnFlushBegin(d, info)
		} else {
			l.OnFlushCompleted(d, info)
		}
	}
	d.mu.Lock()
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
	switch {
	case o.ForceAtomicFlush:
		return rocksdb.NotSupported("FlushOptions.force_atomic_flush is not built yet")
	case o.ListenerWait:
		return rocksdb.NotSupported("FlushOptions.listener_wait is not built yet")
	}
	cfd := d.cfd(cf)
	logging.Info(d.infoLog, "[%s] Manual flush start.", cfd.GetName())
	err := d.flushMemTable(cfd, o, rocksdb.FlushReasonManualFlush)
	logging.Info(d.infoLog, "[%s] Manual flush finished, status: %s\n", cfd.GetName(), statusText(err))
	return err
}

func (d *DBImpl) flushAllColumnFamilies(o *rocksdb.FlushOptions, reason rocksdb.FlushReason) error {
	d.mu.Lock()
	var cfds []*db.ColumnFamilyData
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			cfd.Ref()
			cfds = append(cfds, cfd)
		}
	}
	d.mu.Unlock()
	var result error
	for _, cfd := range cfds {
		if result == nil {
			d.mu.Lock()
			dirty := !cfd.IsDropped() && (cfd.Imm().NumNotFlushed() != 0 || !cfd.Mem().IsEmpty())
			d.mu.Unlock()
			if dirty {
				if err := d.flushMemTable(cfd, o, reason); err != nil && !isShutdownOrDropped(err) {
					result = err
				}
			}
		}
		d.ReleaseColumnFamily(cfd)
	}
	return result
}

// flushMemTable switches the memtable, queues its flush and waits for it.
func (d *DBImpl) flushMemTable(cfd *db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason) error {
	if !o.Wait && d.writeCtl.IsStopped() {
		return rocksdb.TryAgain("Writes have been stopped, thus unable to perform manual flush. Please try again later after writes are resumed")
	}
	if !o.AllowWriteStall {
		needed, err := d.waitUntilFlushWouldNotStallWrites(cfd)
		if err != nil || !needed {
			return err
		}
	}
	d.mu.Lock()
	w := d.enterUnbatchedLocked()
	return d.flushUnbatchedLocked(cfd, o, reason, func() { d.writeThread.ExitUnbatched(w) })
}

// flushUnbatchedLocked is flushMemTable once no write is under way. exit lets
// writes go on before it waits; nil keeps them out. It returns without the
// mutex.
func (d *DBImpl) flushUnbatchedLocked(cfd *db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason, exit func()) error {
	var ctx writeContext
	var err error
	if !cfd.Mem().IsEmpty() {
		err = d.switchMemtableLocked(cfd, &ctx)
	}
	var maxID uint64
	pendingFlush := false
	if err == nil && cfd.Imm().NumNotFlushed() > 0 {
		maxID = cfd.Imm().GetLatestMemTableID(false)
		pendingFlush = true
		cfd.Imm().FlushRequested()
		d.enqueueFlushLocked(&flushRequest{reason: reason, families: map[*db.ColumnFamilyData]uint64{cfd: maxID}})
		d.maybeScheduleLocked()
	}
	if exit != nil {
		exit()
	}
	if err == nil && o.Wait && pendingFlush {
		err = d.waitForFlushLocked(cfd, maxID, reason)
	}
	d.mu.Unlock()
	ctx.clean()
	return err
}

// waitForFlushLocked waits until the family's memtables up to maxID are
// flushed.
func (d *DBImpl) waitForFlushLocked(cfd *db.ColumnFamilyData, maxID uint64, reason rocksdb.FlushReason) error {
	recovery := reason == rocksdb.FlushReasonErrorRecovery || reason == rocksdb.FlushReasonErrorRecoveryRetryFlush
	for {
		if d.shuttingDown.Load() {
			return rocksdb.ShutdownInProgress()
		}
		if d.errorHandler.IsBGWorkStopped() && !recovery {
			return d.errorHandler.GetBGError()
		}
		if recovery && d.errorHandler.GetBGError() != nil {
			return d.errorHandler.GetBGError()
		}
		if cfd.IsDropped() {
			return rocksdb.ColumnFamilyDropped(cfd.GetName())
		}
		if cfd.Imm().NumNotFlushed() == 0 || cfd.Imm().GetEarliestMemTableID() > maxID {
			return nil
		}
		d.bgCond.Wait()
	}
}

// waitUntilFlushWouldNotStallWrites holds a manual flush back while it would
// make writers wait. needed is false when the memtable was flushed meanwhile.
func (d *DBImpl) waitUntilFlushWouldNotStallWrites(cfd *db.ColumnFamilyData) (needed bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	origID := cfd.Mem().GetID()
	for first := true; ; first = false {
		if !first {
			syncpoint.Process("DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait")
			d.bgCond.Wait()
		}
		if cfd.IsDropped() {
			return false, rocksdb.ColumnFamilyDropped(cfd.GetName())
		}
		if d.shuttingDown.Load() {
			return false, rocksdb.ShutdownInProgress()
		}
		if d.errorHandler.IsBGWorkStopped() {
			return false, d.errorHandler.GetBGError()
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
		if mo.DisableAutoCompactions || mo.MaxWriteBufferNumber <= 1 {
			return true, nil
		}
		if cfd.Imm().NumNotFlushed() < cfd.IOptions().MinWriteBufferNumberToMerge && vs.L0DelayTriggerCount() == 0 {
			return true, nil
		}
		c, _ := db.GetWriteStallConditionAndCause(cfd.Imm().NumNotFlushed()+1, vs.L0DelayTriggerCount()+1, vs.EstimatedCompactionNeededBytes(),
			mo, cfd.IOptions().MinWriteBufferNumberToMerge)
		if c == rocksdb.WriteStallConditionNormal {
			return true, nil
		}
	}
}

// FlushWAL hands buffered WAL records to the file system, and syncs them when
// asked to.
func (d *DBImpl) FlushWAL(sync bool) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if d.immutable.ManualWALFlush {
		d.walMu.Lock()
		err := d.walMu.logs[len(d.walMu.logs)-1].writer.WriteBuffer(&rocksdb.IOOptions{})
		d.walMu.Unlock()
		if err != nil {
			logging.Error(d.infoLog, "WAL flush error %v", err)
			d.walWriteStatusCheck(err)
			return err
		}
	}
	if !sync {
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
	err := d.syncWALs(true)
	syncpoint.Process("DBImpl::SyncWAL:BeforeMarkLogsSynced:2")
	return err
}

// LockWAL flushes the WAL and stops writes until UnlockWAL.
func (d *DBImpl) LockWAL() error {
	if d.readOnly {
		return d.readOnlyError()
	}
	d.mu.Lock()
	if d.st.lockWALCount++; d.st.lockWALCount == 1 {
		w := d.enterUnbatchedLocked()
		d.st.lockWALToken = d.writeCtl.GetStopToken()
		d.writeThread.ExitUnbatched(w)
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
	if o.Flush {
		if err := d.flushAllColumnFamilies(&rocksdb.FlushOptions{Wait: false, AllowWriteStall: true}, rocksdb.FlushReasonManualFlush); err != nil {
			return err
		}
	}
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
			st.unscheduledFlushes > 0 || len(st.flushQueue) > 0 && d.errorHandler.GetBGError() == nil) && d.errorHandler.GetBGError() == nil {
			if deadline > 0 && d.clock.NowMicros() >= deadline {
				d.mu.Unlock()
				return rocksdb.TimedOut()
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

// Port of db/db_impl/db_impl_compaction_flush.cc (atomic flush).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// flushesAtomically tells whether a flush with options o is of several families
// at once.
func (d *DBImpl) flushesAtomically(o *rocksdb.FlushOptions) bool {
	return d.immutable.AtomicFlush || o.ForceAtomicFlush
}

func (d *DBImpl) recordAtomicFlushRequest(reason rocksdb.FlushReason) {
	t := rocksdb.AtomicFlushRequestReasonOther
	switch reason {
	case rocksdb.FlushReasonWriteBufferFull:
		t = rocksdb.AtomicFlushRequestReasonWriteBufferFull
	case rocksdb.FlushReasonWriteBufferManager:
		t = rocksdb.AtomicFlushRequestReasonWriteBufferManager
	case rocksdb.FlushReasonMemtableMaxRangeDeletions:
		t = rocksdb.AtomicFlushRequestReasonMemtableMaxRangeDeletions
	}
	monitoring.RecordTick(d.stats, t, 1)
}

// selectForAtomicFlushLocked gives those of the candidates that have something
// to flush; of all families when candidates is nil.
// Upstream: DBImpl::SelectColumnFamiliesForAtomicFlush.
func (d *DBImpl) selectForAtomicFlushLocked(candidates []*db.ColumnFamilyData, reason rocksdb.FlushReason) []*db.ColumnFamilyData {
	if candidates == nil {
		candidates = d.families.All()
	}
	var selected []*db.ColumnFamilyData
	for _, cfd := range candidates {
		if !cfd.IsDropped() && (cfd.Imm().NumNotFlushed() != 0 || !cfd.Mem().IsEmpty() || isRecoveryFlush(reason)) {
			selected = append(selected, cfd)
		}
	}
	return selected
}

// scheduleAtomicFlushLocked marks what waits of the families as one flush and
// queues it. Their memtables have just been switched.
// Upstream: DBImpl::AssignAtomicFlushSeq.
func (d *DBImpl) scheduleAtomicFlushLocked(cfds []*db.ColumnFamilyData, reason rocksdb.FlushReason) *flushRequest {
	seq := d.versions.LastSequence()
	r := &flushRequest{reason: reason, atomic: true}
	for _, cfd := range cfds {
		cfd.Imm().AssignAtomicFlushSeq(seq)
		cfd.Imm().FlushRequested()
		r.families = append(r.families, familyFlush{cfd, cfd.Imm().GetLatestMemTableID(true)})
	}
	d.enqueueFlushLocked(r)
	d.maybeScheduleLocked()
	return r
}

// atomicFlushMemTables flushes the families as one; all families when
// candidates is nil.
func (d *DBImpl) atomicFlushMemTables(candidates []*db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason) error {
	if !o.Wait && d.writeCtl.IsStopped() {
		return errWritesStopped
	}
	if candidates == nil {
		d.mu.Lock()
		candidates = d.refFamiliesLocked()
		d.mu.Unlock()
		defer d.releaseFamilies(candidates)
	}
	if !o.AllowWriteStall {
		needed := false
		for _, cfd := range candidates {
			n, err := d.waitUntilFlushWouldNotStallWrites(cfd)
			if err != nil {
				return err
			}
			needed = needed || n
		}
		if !needed {
			return nil
		}
	}
	d.mu.Lock()
	w := d.enterUnbatchedForSwitchLocked()
	return d.atomicFlushUnbatchedLocked(candidates, o, reason, func() { d.exitUnbatchedLocked(w) })
}

// atomicFlushUnbatchedLocked is atomicFlushMemTables once no write is under way;
// see flushUnbatchedLocked.
func (d *DBImpl) atomicFlushUnbatchedLocked(candidates []*db.ColumnFamilyData, o *rocksdb.FlushOptions, reason rocksdb.FlushReason, exit func()) error {
	var ctx writeContext
	d.syncLastSequenceForRecoveryLocked(reason)
	cfds := d.selectForAtomicFlushLocked(candidates, reason)
	var err error
	for _, cfd := range cfds {
		cfd.Ref() // while it is waited for
		if err == nil && (!cfd.Mem().IsEmpty() || isRecoveryFlush(reason)) {
			err = d.switchMemtableLocked(cfd, &ctx)
		}
	}
	var r *flushRequest
	if err == nil {
		r = d.scheduleAtomicFlushLocked(cfds, reason)
	}
	if exit != nil {
		exit()
	}
	d.mu.Unlock()
	ctx.clean()
	d.notifyOnManualFlushScheduled(cfds, reason)
	syncpoint.Process("DBImpl::AtomicFlushMemTables:AfterScheduleFlush")
	syncpoint.Process("DBImpl::AtomicFlushMemTables:BeforeWaitForBgFlush")
	if err == nil && o.Wait {
		d.mu.Lock()
		err = d.waitForFlushLocked(r.families, reason, o.ListenerWait)
		d.mu.Unlock()
	}
	d.releaseFamilies(cfds)
	return err
}

// atomicFlush is the work on one request for an atomic flush.
type atomicFlush struct {
	d     *DBImpl
	r     *flushRequest
	job   *jobContext
	log   *logging.LogBuffer
	jobs  []*db.FlushJob
	metas []*version.FileMetaData // nil where nothing was left to write
	errs  []error
	ran   []bool
}

// atomicFlushMemTablesToOutputFilesLocked writes a table of each family and
// commits them together: all or nothing.
func (d *DBImpl) atomicFlushMemTablesToOutputFilesLocked(r *flushRequest, job *jobContext, log *logging.LogBuffer) error {
	n := len(r.families)
	f := &atomicFlush{d: d, r: r, job: job, log: log, metas: make([]*version.FileMetaData, n), errs: make([]error, n), ran: make([]bool, n)}
	for _, x := range r.families {
		d.notifyOnFlushBeginLocked(x.cfd, job, r.reason, nil)
	}
	if err := d.syncClosedLogsLocked(); err != nil {
		if !isShutdownOrDropped(err) {
			d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonFlush)
		}
		for _, x := range r.families {
			x.cfd.Imm().FlushRequested()
		}
		return err
	}
	if err := d.flushStoppedLocked(r.reason, job, log); err != nil {
		return err
	}
	snapshots, _ := d.st.snapshots.GetAll(dbMaxSequence)
	for _, x := range r.families {
		fj := d.newFlushJobLocked(x, r.reason, snapshots, job, log, false)
		fj.PickMemTable()
		f.jobs = append(f.jobs, fj)
	}
	err := f.runLocked()
	if err == nil {
		if err = f.waitTurnLocked(); err != nil {
			f.rollbackLocked()
		}
	}
	if err == nil {
		err = f.commitLocked()
	}
	if err != nil {
		f.releaseTables()
		if rocksdb.CodeOf(err) != rocksdb.CodeColumnFamilyDropped && rocksdb.CodeOf(err) != rocksdb.CodeShutdownInProgress {
			d.setFlushErrorLocked(err)
		}
		return err
	}
	f.publishLocked()
	return nil
}

// runLocked writes the tables, the first family's last, and makes them durable.
// After an error nothing is left picked.
func (f *atomicFlush) runLocked() error {
	run := func(i int) {
		f.metas[i], f.errs[i] = f.jobs[i].Run()
		f.ran[i] = true
	}
	for i := 1; i < len(f.jobs); i++ {
		run(i)
	}
	if len(f.jobs) > 1 {
		syncpoint.Process("DBImpl::AtomicFlushMemTablesToOutputFiles:SomeFlushJobsComplete:1")
		syncpoint.Process("DBImpl::AtomicFlushMemTablesToOutputFiles:SomeFlushJobsComplete:2")
	}
	run(0)
	var err error
	for _, e := range f.errs {
		if e != nil && (err == nil || !isShutdownOrDropped(e)) {
			err = e
		}
	}
	if rocksdb.CodeOf(err) == rocksdb.CodeColumnFamilyDropped {
		err = nil // the others are flushed without it
	}
	if err == nil {
		err = f.syncDirectories()
	}
	if err != nil {
		f.rollbackLocked()
	}
	return err
}

func (f *atomicFlush) syncDirectories() error {
	done := map[rocksdb.FSDirectory]bool{}
	for _, x := range f.r.families {
		dir := f.d.dirs.DataDir(x.cfd, 0)
		if dir == nil || done[dir] {
			continue
		}
		done[dir] = true
		if err := dir.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced}); err != nil {
			return err
		}
	}
	return nil
}

// rollbackLocked makes the memtables of the jobs that succeeded wait again;
// the others have done so themselves.
func (f *atomicFlush) rollbackLocked() {
	for i, x := range f.r.families {
		if f.ran[i] && f.errs[i] == nil {
			x.cfd.Imm().RollbackMemtableFlush(f.jobs[i].MemTables(), false)
		}
	}
}

// isNextLocked tells whether nothing older than the request's memtables waits to
// be committed.
func (f *atomicFlush) isNextLocked() bool {
	for i, x := range f.r.families {
		if x.cfd.IsDropped() {
			continue
		}
		earliest := x.cfd.Imm().GetEarliestMemTableID()
		mems := f.jobs[i].MemTables()
		if len(mems) > 0 && earliest < mems[0].GetID() || len(mems) == 0 && earliest <= x.maxID {
			return false
		}
	}
	return true
}

// TestAtomicFlushTurn is what the sync points of waitTurnLocked show.
type TestAtomicFlushTurn struct {
	Err  error
	Wait bool
}

// waitTurnLocked waits until the jobs that have older memtables are done.
func (f *atomicFlush) waitTurnLocked() error {
	d := f.d
	recovery := isRecoveryFlush(f.r.reason)
	resuming := d.errorHandler.IsDBStopped() || recovery
	for !resuming || d.errorHandler.GetRecoveryError() == nil {
		var turn TestAtomicFlushTurn
		switch {
		case d.versions.IOStatus() != nil:
			turn.Err = d.versions.IOStatus() // whose turn it is is not decided any more
		case d.shuttingDown.Load():
			turn.Err = rocksdb.ShutdownInProgress()
		default:
			turn.Wait = !f.isNextLocked()
		}
		syncpoint.ProcessArg("DBImpl::AtomicFlushMemTablesToOutputFiles:WaitToCommit", &turn)
		if turn.Err != nil {
			return turn.Err
		}
		if !turn.Wait {
			break
		}
		syncpoint.ProcessArg("DBImpl::AtomicFlushMemTablesToOutputFiles:WaitCV", &turn)
		if !recovery && d.errorHandler.IsBGWorkStopped() {
			// The recovery waits for background work before it flushes.
			return d.errorHandler.GetBGError()
		}
		d.atomicFlushInstallCond.Wait()
		resuming = d.errorHandler.IsDBStopped() || recovery
	}
	if resuming {
		return d.errorHandler.GetRecoveryError()
	}
	return d.errorHandler.GetBGError()
}

// commitLocked puts all families' tables into the MANIFEST as one group.
func (f *atomicFlush) commitLocked() error {
	d := f.d
	var cfds []*db.ColumnFamilyData
	var lists []*db.MemTableList
	var mems [][]*memtable.MemTable
	var metas []*version.FileMetaData
	for i, x := range f.r.families {
		if m := f.jobs[i].MemTables(); !x.cfd.IsDropped() && len(m) > 0 {
			cfds = append(cfds, x.cfd)
			lists = append(lists, x.cfd.Imm())
			mems = append(mems, m)
			metas = append(metas, f.metas[i])
		}
	}
	return db.InstallMemtableAtomicFlushResults(&db.FlushCommit{VersionSet: d.versions, Mutex: &d.mu, DBDirectory: d.dirs.DBDir(),
		LogBuffer: f.log, Free: &f.job.memtablesToFree}, lists, cfds, mems, metas)
}

// releaseTables lets go of the readers of tables that no version will name.
func (f *atomicFlush) releaseTables() {
	for i := range f.jobs {
		if f.ran[i] && f.errs[i] == nil && f.metas[i] != nil {
			f.jobs[i].ReleaseTable()
		}
	}
}

// publishLocked shows the new tables to readers and tells listeners. The mutex
// has been held since the memtables went; a waiter for listeners must not see
// that before the last family's are told.
func (f *atomicFlush) publishLocked() {
	d := f.d
	infos := make([][]*rocksdb.FlushJobInfo, len(f.jobs))
	for i, x := range f.r.families {
		if x.cfd.IsDropped() || len(d.immutable.Listeners) == 0 {
			continue
		}
		if m := f.jobs[i].MemTables(); len(m) > 0 {
			if info := m[0].ReleaseFlushJobInfo(); info != nil {
				infos[i] = append(infos[i], info)
				x.cfd.Imm().AddPendingFlushNotifications(1)
			}
		}
	}
	for _, x := range f.r.families {
		if x.cfd.IsDropped() {
			continue
		}
		d.installSuperVersionAndScheduleLocked(x.cfd, &f.job.sv)
		logging.ToBuffer(f.log, "[%s] Level summary: %s\n", x.cfd.GetName(), x.cfd.Current().StorageInfo().LevelSummary())
	}
	for i, x := range f.r.families {
		if !x.cfd.IsDropped() {
			d.notifyOnFlushCompletedLocked(x.cfd, infos[i])
			if f.metas[i] != nil {
				d.flushedToSstFileManagerLocked(x.cfd, f.metas[i])
			}
		}
	}
	for i, x := range f.r.families {
		if len(infos[i]) > 0 {
			x.cfd.Imm().AddPendingFlushNotifications(-1)
		}
	}
	d.bgCond.Broadcast()
}

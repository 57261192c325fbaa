// Port of db/db_impl/db_impl.cc (Resume, ResumeImpl) and
// db_impl_compaction_flush.cc (RetryFlushesForErrorRecovery).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Resume tries to go on after a background error. Errors of severity Fatal and
// worse stay; Busy says that a recovery is under way already.
func (d *DBImpl) Resume() error {
	logging.Info(d.infoLog, "Resuming DB")
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.errorHandler.IsDBStopped() && !d.errorHandler.IsBGWorkStopped() {
		return nil
	}
	return d.errorHandler.Resume()
}

// ShutdownInitiatedLocked implements db.Recoverer.
func (d *DBImpl) ShutdownInitiatedLocked() bool { return d.st.shutdownInitiated }

// ResumeLocked implements db.Recoverer: it flushes, so that nothing depends on
// what may not have reached the WAL, and writes a new MANIFEST if that was where
// the error came from.
func (d *DBImpl) ResumeLocked(rc db.RecoverContext) error {
	d.waitForBackgroundWorkLocked()
	syncpoint.Process("DBImpl::ResumeImpl:Start")
	d.syncLastSequenceForResumeLocked()
	syncpoint.Process("DBImpl::ResumeImpl:AfterSyncSeq")
	var err error
	if d.st.shutdownInitiated {
		err = rocksdb.ShutdownInProgress()
	} else if e := d.errorHandler.GetBGError(); e != nil && rocksdb.AsStatus(e).Severity > rocksdb.SeverityHardError {
		logging.Info(d.infoLog, "DB resume requested but failed due to Fatal/Unrecoverable error")
		err = e
	}
	if d.readOnly {
		// Tables that could not be opened in the background; reads try again.
		if err == nil {
			err = d.errorHandler.ClearBGError()
		}
		return err
	}
	if err == nil {
		err = d.resumeManifestLocked()
	}
	if err == nil {
		if err = d.resumeFlushLocked(rc.FlushReason); err != nil {
			logging.Info(d.infoLog, "DB resume requested but failed due to Flush failure [%v]", err)
		}
	}
	job := d.newJobContext()
	d.findObsoleteFilesLocked(job, true, false)
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
	}
	job.clean()
	d.mu.Lock()
	if err == nil {
		err = d.errorHandler.ClearBGError()
	}
	if err == nil {
		logging.Info(d.infoLog, "Successfully resumed DB")
	} else {
		logging.Info(d.infoLog, "Failed to resume DB [%v]", err)
	}
	if d.st.shutdownInitiated {
		err = rocksdb.ShutdownInProgress()
	}
	if err == nil && rc.FlushAfterRecovery {
		// Requests that came meanwhile were dropped.
		if e := d.retryFlushesLocked(rocksdb.FlushReasonCatchUpAfterErrorRecovery, false); e != nil {
			logging.Info(d.infoLog, "The catch up flush after successful recovery failed [%v]", e)
		}
		if d.st.shutdownInitiated {
			err = rocksdb.ShutdownInProgress()
		}
	}
	if err == nil {
		for _, cfd := range d.families.All() {
			d.enqueuePendingCompactionLocked(cfd)
		}
		d.maybeScheduleLocked()
	}
	d.bgCond.Broadcast()
	return err
}

// resumeManifestLocked writes a new MANIFEST after an error of the last: there
// may be no flush that would.
func (d *DBImpl) resumeManifestLocked() error {
	if !rocksdb.IsIOError(d.versions.IOStatus()) {
		return nil
	}
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: d.families.GetDefault(), Edits: []*version.VersionEdit{{}},
		Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	if e := d.versions.IOStatus(); err != nil && e != nil {
		d.errorHandler.SetBGError(e, rocksdb.BackgroundErrorReasonManifestWrite)
	}
	return err
}

func (d *DBImpl) resumeFlushLocked(reason rocksdb.FlushReason) error {
	if reason == rocksdb.FlushReasonErrorRecoveryRetryFlush {
		return d.retryFlushesLocked(reason, true)
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	return d.flushAllColumnFamilies(&rocksdb.FlushOptions{Wait: true, AllowWriteStall: true}, reason)
}

// retryFlushesLocked flushes all memtables that wait, and switches none.
// Upstream: DBImpl::RetryFlushesForErrorRecovery.
func (d *DBImpl) retryFlushesLocked(reason rocksdb.FlushReason, wait bool) error {
	var cfds []*db.ColumnFamilyData
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() && cfd.Imm().NumNotFlushed() != 0 {
			cfd.Ref()
			cfd.Imm().FlushRequested()
			cfds = append(cfds, cfd)
		}
	}
	atomic := &flushRequest{reason: reason, atomic: true}
	var waits []familyFlush
	for _, cfd := range cfds {
		f := familyFlush{cfd, cfd.Imm().GetLatestMemTableID(d.immutable.AtomicFlush)}
		waits = append(waits, f)
		if d.immutable.AtomicFlush {
			atomic.families = append(atomic.families, f)
		} else {
			if d.enqueueFlushLocked(flushOfOne(cfd, reason)) {
				cfd.SetFlushSkipReschedule()
			}
		}
	}
	d.enqueueFlushLocked(atomic)
	d.maybeScheduleLocked()
	var err error
	if wait {
		err = d.waitForFlushLocked(waits, rocksdb.FlushReasonErrorRecoveryRetryFlush, false)
	}
	d.mu.Unlock()
	d.releaseFamilies(cfds)
	d.mu.Lock()
	return err
}

// syncLastSequenceForResumeLocked makes up for writes that were given numbers
// and failed, so that no later number is given twice.
func (d *DBImpl) syncLastSequenceForResumeLocked() {
	if !d.immutable.TwoWriteQueues {
		return
	}
	u := d.enterUnbatchedLocked()
	d.versions.SyncLastSequenceWithAllocated()
	d.exitUnbatchedLocked(u)
}

// syncLastSequenceForRecoveryLocked is the same where a recovery's flush
// switches memtables, no write being under way.
func (d *DBImpl) syncLastSequenceForRecoveryLocked(reason rocksdb.FlushReason) {
	if d.immutable.TwoWriteQueues && isRecoveryFlush(reason) {
		d.versions.SyncLastSequenceWithAllocated()
	}
}

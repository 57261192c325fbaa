// Port of db/db_impl/db_impl.cc (SchedulePurge, BackgroundCallPurge and what
// they do).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// purgeFile is a file that a background job is to delete.
type purgeFile struct {
	path, dir string
	fileType  rocksdb.FileType
	jobID     int
}

// purgeQueue is what users' calls leave to a background job, so that they do
// not wait for files to be deleted. mu protects it.
type purgeQueue struct {
	scheduled int
	files     map[uint64]purgeFile // by number
	logs      []*wal.Writer
	memtables []*memtable.MemTable
}

// CleanupSuperVersion implements db.SuperVersionHost.
func (d *DBImpl) CleanupSuperVersion(sv *db.SuperVersion) {
	d.cleanupSuperVersion(sv, false)
	monitoring.RecordTick(d.stats, rocksdb.NumberSuperversionCleanups, 1)
}

// returnSuperVersion releases one that was taken for a job, which upstream
// counts, as opposed to one that a read took and gives back.
func (d *DBImpl) returnSuperVersion(sv *db.SuperVersion) {
	sv.Release()
	monitoring.RecordTick(d.stats, rocksdb.NumberSuperversionReleases, 1)
}

// cleanupSuperVersion lets go of a SuperVersion without references and of the
// files that were kept for it alone; in the background if asked to.
func (d *DBImpl) cleanupSuperVersion(sv *db.SuperVersion, background bool) {
	job := d.newJobContext()
	d.mu.Lock()
	sv.CleanupLocked(&job.memtablesToFree)
	d.finishCleanupLocked(job, background || d.immutable.AvoidUnnecessaryBlockingIO)
}

// ReleaseColumnFamily implements db.SuperVersionHost.
func (d *DBImpl) ReleaseColumnFamily(cfd *db.ColumnFamilyData) {
	job := d.newJobContext()
	d.mu.Lock()
	dropped := cfd.IsDropped()
	cfd.UnrefLocked(&job.memtablesToFree)
	if !dropped {
		d.mu.Unlock()
		job.clean()
		return
	}
	d.finishCleanupLocked(job, d.immutable.AvoidUnnecessaryBlockingIO)
}

// finishCleanupLocked deletes what became obsolete, or leaves it to the
// background, and releases the mutex. Close waits for either; after it there is
// no background.
func (d *DBImpl) finishCleanupLocked(job *jobContext, background bool) {
	background = background && !d.st.closed
	d.findObsoleteFilesLocked(job, false, true)
	if background {
		q := &d.st.purge
		q.logs = append(q.logs, job.logsToFree...)
		q.memtables = append(q.memtables, job.memtablesToFree...)
		job.logsToFree, job.memtablesToFree = nil, nil
		if job.counted && !job.haveSomethingToDelete() {
			d.uncountPurgeLocked(job)
		}
		d.schedulePurgeLocked()
	}
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		job.background = background
		d.purgeObsoleteFiles(job)
	}
	job.clean()
}

// uncountPurgeLocked ends the job's part in the pending purges.
func (d *DBImpl) uncountPurgeLocked(job *jobContext) {
	if job.counted {
		job.counted = false
		if d.st.pendingPurgeJobs--; d.st.pendingPurgeJobs == 0 {
			d.bgCond.Broadcast()
		}
	}
}

// schedulePurgeLocked hands the queue to the pool of high priority.
// Upstream: DBImpl::SchedulePendingPurge.
func (d *DBImpl) schedulePurgeLocked() {
	d.st.purge.scheduled++
	d.env.Schedule(func() {
		syncpoint.Process("DBImpl::BGWorkPurge:start")
		d.backgroundCallPurge()
		syncpoint.Process("DBImpl::BGWorkPurge:end")
	}, rocksdb.HighPriority, nil, nil)
}

func (d *DBImpl) backgroundCallPurge() {
	syncpoint.Process("DBImpl::BackgroundCallPurge:beforeMutexLock")
	d.mu.Lock()
	defer d.mu.Unlock()
	q := &d.st.purge
	logs, memtables := q.logs, q.memtables
	q.logs, q.memtables = nil, nil
	d.mu.Unlock()
	for _, w := range logs {
		if err := d.closeLeavingLog(w); err != nil {
			logging.Warn(d.infoLog, "closing WAL %d: %v", w.GetLogNumber(), err)
		}
	}
	freeMemtables(memtables)
	d.mu.Lock()
	for len(q.files) > 0 {
		for number, f := range q.files {
			delete(q.files, number)
			d.mu.Unlock()
			d.deleteObsoleteFile(f.jobID, f.path, f.dir, f.fileType, number)
			d.mu.Lock()
			break // others may have added some
		}
	}
	q.scheduled--
	d.bgCond.Broadcast()
}

// Port of db/db_impl/db_impl_open.cc (tables opened in the background, of
// open_files_async).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// scheduleFileOpeningLocked starts the job that opens the tables that Open left
// out. It runs once; who reads a table before it gets there opens the table.
// Upstream: DBImpl::ScheduleAsyncFileOpening.
func (d *DBImpl) scheduleFileOpeningLocked() {
	if !d.immutable.OpenFilesAsync {
		return
	}
	var versions []*db.Version
	for _, cfd := range d.families.All() {
		if v := cfd.Current(); v.StorageInfo().NumNonEmptyLevels() > 0 {
			cfd.Ref()
			v.Ref()
			versions = append(versions, v)
		}
	}
	d.st.filesOpening = true
	pool := rocksdb.HighPriority
	if d.env.GetBackgroundThreads(pool) == 0 {
		pool = rocksdb.LowPriority
	}
	d.env.Schedule(func() { d.openFiles(versions) }, pool, nil, nil)
}

// openFiles is the background job.
// Upstream: DBImpl::BGWorkAsyncFileOpen.
func (d *DBImpl) openFiles(versions []*db.Version) {
	syncpoint.Process("DBImpl::BGWorkAsyncFileOpen::Start")
	for _, v := range versions {
		if v.CFD().IsDropped() {
			continue
		}
		if err := d.openFilesOf(v); err != nil {
			logging.Error(d.infoLog, "BGWorkAsyncFileOpen: LoadTableHandlers failed for CF %s: %v", v.CFD().GetName(), err)
			d.mu.Lock()
			d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonAsyncFileOpen)
			d.mu.Unlock()
			break
		}
	}
	syncpoint.Process("DBImpl::BGWorkAsyncFileOpen:Done")
	var free []*memtable.MemTable
	d.mu.Lock()
	for _, v := range versions {
		cfd := v.CFD()
		v.Unref()
		cfd.UnrefLocked(&free)
	}
	d.st.filesOpening = false
	d.bgCond.Broadcast()
	d.mu.Unlock()
	freeMemtables(free)
}

func (d *DBImpl) openFilesOf(v *db.Version) error {
	d.mu.Lock()
	mo := v.CFD().GetLatestMutableCFOptions()
	d.mu.Unlock()
	ro := rocksdb.DefaultReadOptions()
	return v.OpenTables(&db.LoadTableHandlersOptions{MaxThreads: d.immutable.MaxFileOpeningThreads, MutableCFOptions: mo,
		MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(mo), ReadOptions: &ro, InternalStats: v.CFD().InternalStats(),
		Stop: &d.shuttingDown})
}

// waitForFileOpeningLocked waits until the job is over, or the database closes.
func (d *DBImpl) waitForFileOpeningLocked() {
	syncpoint.Process("DBImpl::WaitForAsyncFileOpen::BeforeWait")
	for d.st.filesOpening && !d.shuttingDown.Load() {
		d.bgCond.Wait()
	}
}

// Port of db/db_impl/db_impl_debug.cc.

package dbimpl

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// What tests need to see and do. No other code calls these.

// TestFlushMemTable flushes a family's memtable.
func (d *DBImpl) TestFlushMemTable(wait, allowWriteStall bool, cf rocksdb.ColumnFamilyHandle) error {
	return d.flushMemTable(d.cfd(cf), &rocksdb.FlushOptions{Wait: wait, AllowWriteStall: allowWriteStall}, rocksdb.FlushReasonTest)
}

// TestAtomicFlushMemTables flushes families as one.
func (d *DBImpl) TestAtomicFlushMemTables(o *rocksdb.FlushOptions, cfs []rocksdb.ColumnFamilyHandle) error {
	var cfds []*db.ColumnFamilyData
	for _, cf := range cfs {
		cfds = append(cfds, d.cfd(cf))
	}
	return d.atomicFlushMemTables(cfds, o, rocksdb.FlushReasonTest)
}

// TestWaitForFlushMemTable waits until no memtable of the family waits to be
// flushed.
func (d *DBImpl) TestWaitForFlushMemTable(cf rocksdb.ColumnFamilyHandle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waitForFlushLocked([]familyFlush{{d.cfd(cf), dbformat.MaxSequenceNumber}}, rocksdb.FlushReasonTest, false)
}

// TestCompactRange compacts a level into the next one (universal and FIFO: into
// itself).
func (d *DBImpl) TestCompactRange(level int, begin, end []byte, cf rocksdb.ColumnFamilyHandle, disallowTrivialMove bool) error {
	cfd := d.cfd(cf)
	out := level + 1
	if s := cfd.IOptions().CompactionStyle; s == rocksdb.CompactionStyleUniversal || s == rocksdb.CompactionStyleFIFO {
		out = level
	}
	o := rocksdb.DefaultCompactRangeOptions()
	o.ExclusiveManualCompaction = true
	_, err := d.runManualCompaction(cfd, level, out, &o, begin, end, nil, disallowTrivialMove, ^uint64(0))
	return err
}

// TestRunManualCompaction compacts all of a level to another, never by a move.
func (d *DBImpl) TestRunManualCompaction(cf rocksdb.ColumnFamilyHandle, from, to int) error {
	o := rocksdb.DefaultCompactRangeOptions()
	o.ExclusiveManualCompaction = true
	_, err := d.runManualCompaction(d.cfd(cf), from, to, &o, nil, nil, nil, true, ^uint64(0))
	return err
}

// TestWaitForCompact waits until nothing is left to flush or to compact.
func (d *DBImpl) TestWaitForCompact() error { return d.WaitForCompact(nil) }

// TestWaitForBackgroundWork waits for the jobs that are scheduled.
func (d *DBImpl) TestWaitForBackgroundWork() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waitForBackgroundWorkLocked()
	return d.errorHandler.GetBGError()
}

// unbatched runs f as the only writer, with mu held.
func (d *DBImpl) unbatched(f func(ctx *writeContext) error) error {
	var ctx writeContext
	d.mu.Lock()
	w := d.enterUnbatchedLocked()
	err := f(&ctx)
	d.exitUnbatchedLocked(w)
	d.mu.Unlock()
	ctx.clean()
	return err
}

// TestLogsToFree counts the logs' writers that wait to be closed.
func (d *DBImpl) TestLogsToFree() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.st.logsToFree)
}

// TestWakeWriters has writers that wait look whether they may go on.
func (d *DBImpl) TestWakeWriters() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bgCond.Broadcast()
}

// TestBeginWrite becomes the only writer, with mu held until end is called.
func (d *DBImpl) TestBeginWrite() (end func()) {
	d.mu.Lock()
	w := d.enterUnbatchedLocked()
	return func() {
		d.mu.Unlock()
		d.mu.Lock()
		d.exitUnbatchedLocked(w)
		d.mu.Unlock()
	}
}

// TestSwitchMemtable makes the family's memtable immutable.
func (d *DBImpl) TestSwitchMemtable(cf rocksdb.ColumnFamilyHandle) error {
	return d.unbatched(func(ctx *writeContext) error { return d.switchMemtableLocked(d.cfd(cf), ctx) })
}

// TestSwitchWAL flushes what holds back the oldest log.
func (d *DBImpl) TestSwitchWAL() error { return d.unbatched(d.switchWALLocked) }

// TestLogfileNumber is the newest log's number.
func (d *DBImpl) TestLogfileNumber() uint64 { return d.logNumber.Load() }

// TestNumAliveLogs counts the logs that hold unflushed data, and the newest one.
func (d *DBImpl) TestNumAliveLogs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.st.aliveLogs)
}

// TestMaxTotalInMemoryState is the sum of all families' write buffers, in bytes.
func (d *DBImpl) TestMaxTotalInMemoryState() uint64 { return d.maxTotalInMemoryState.Load() }

// TestBGCompactionsAllowed is how many compactions may run now.
func (d *DBImpl) TestBGCompactionsAllowed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.backgroundJobLimits().compactions
}

// TestBGFlushesAllowed is how many flushes may run now.
func (d *DBImpl) TestBGFlushesAllowed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.backgroundJobLimits().flushes
}

// TestGetBGError is the error that stopped background work, or nil.
func (d *DBImpl) TestGetBGError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.errorHandler.GetBGError()
}

// TestWaitForPurge waits for files that are being deleted in the background.
func (d *DBImpl) TestWaitForPurge() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.st.purge.scheduled > 0 {
		d.bgCond.Wait()
	}
}

// TestIsRecoveryInProgress tells whether a Resume is running.
func (d *DBImpl) TestIsRecoveryInProgress() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.errorHandler.IsRecoveryInProgress()
}

// TestGetWalPreallocateBlockSize is how many bytes a log is preallocated by.
func (d *DBImpl) TestGetWalPreallocateBlockSize(writeBufferSize uint64) uint64 {
	return d.walPreallocateBlockSize(writeBufferSize)
}

// TestWriteController is the controller of the write rate.
func (d *DBImpl) TestWriteController() *writethread.WriteController { return d.writeCtl }

// TestDeleteObsoleteFiles looks through the directories and deletes what no
// version needs.
func (d *DBImpl) TestDeleteObsoleteFiles() {
	job := d.newJobContext()
	d.mu.Lock()
	d.findObsoleteFilesLocked(job, true, false)
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
	}
	job.clean()
}

// TestObsoleteFiles is what a look for obsolete files found.
type TestObsoleteFiles struct{ job *jobContext }

// TestFindObsoleteFiles looks for obsolete files; the result has to go to
// TestPurgeObsoleteFiles.
func (d *DBImpl) TestFindObsoleteFiles(force, noFullScan bool) *TestObsoleteFiles {
	f := &TestObsoleteFiles{d.newJobContext()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.findObsoleteFilesLocked(f.job, force, noFullScan)
	return f
}

// BlobFiles are the numbers of blob files to delete and of those that are live.
func (f *TestObsoleteFiles) BlobFiles() (obsolete, live []uint64) {
	for i := range f.job.blobDelete {
		obsolete = append(obsolete, f.job.blobDelete[i].BlobFileNumber)
	}
	for n := range f.job.blobLive {
		live = append(live, n)
	}
	return obsolete, live
}

// FullScanCandidates counts the files that a look through the directories found.
func (f *TestObsoleteFiles) FullScanCandidates() int { return len(f.job.fullScan) }

// AddCandidates adds files of a directory as if they had been found there, and
// takes numbers below pending for those that nobody is writing.
func (f *TestObsoleteFiles) AddCandidates(dir string, pending uint64, names ...string) {
	for _, n := range names {
		f.job.fullScan = append(f.job.fullScan, candidate{n, dir})
	}
	f.job.minPendingOutput, f.job.minBlobFileNumberToKeep = pending, pending
}

// TestPurgeObsoleteFiles deletes what was found.
func (d *DBImpl) TestPurgeObsoleteFiles(f *TestObsoleteFiles) {
	if f.job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(f.job)
	}
	f.job.clean()
}

// TestIsGrabbedForPurge tells whether a job has the file for deletion.
func (d *DBImpl) TestIsGrabbedForPurge(number uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.st.filesGrabbed[number]
}

// TestVersionSet is the set of versions; its methods want the mutex.
func (d *DBImpl) TestVersionSet() *db.VersionSet { return d.versions }

// TestTableCache is the cache of open tables.
func (d *DBImpl) TestTableCache() rocksdb.Cache { return d.tableCache }

// TestWithMutex runs f with mu held.
func (d *DBImpl) TestWithMutex(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// TestCFD gives the data of a family.
func (d *DBImpl) TestCFD(cf rocksdb.ColumnFamilyHandle) *db.ColumnFamilyData { return d.cfd(cf) }

// TestNewInternalIterator iterates over all entries of a family, hidden ones
// too; close it, then call done.
func (d *DBImpl) TestNewInternalIterator(cf rocksdb.ColumnFamilyHandle) (it internaliter.InternalIterator, done func()) {
	x := &Iterator{d: d, cfd: d.cfd(cf), ro: rocksdb.DefaultReadOptions()}
	x.sv = x.cfd.GetReferencedSuperVersion()
	return x.internalIterator(dbformat.MaxSequenceNumber, nil), x.sv.Release
}

// TestWALsTotalSize is the bytes in the logs that are not obsolete.
func (d *DBImpl) TestWALsTotalSize() uint64 { return d.totalLogSize.Load() }

// TestWALBufferIsEmpty tells whether nothing of the newest log waits to be handed
// to the file system.
func (d *DBImpl) TestWALBufferIsEmpty() bool {
	d.walMu.Lock()
	defer d.walMu.Unlock()
	return d.currentLog.BufferIsEmpty()
}

// TestGetFilesToQuarantine gives the files that a failed write of the MANIFEST
// may have named.
func (d *DBImpl) TestGetFilesToQuarantine() []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.errorHandler.GetFilesToQuarantine())
}

// TestSanitizeOptions gives options as Open makes them consistent.
func TestSanitizeOptions(dbName string, o *rocksdb.DBOptions) (rocksdb.DBOptions, error) {
	return sanitizeDBOptions(dbName, o, true)
}

// TestValidateOptions tells whether Open refuses the options.
func TestValidateOptions(o *rocksdb.DBOptions) error { return validateDBOptions(o) }

// TestNumRunningBottomCompactionsLocked counts compactions that run in the pool
// of bottom priority. The mutex is held.
func (d *DBImpl) TestNumRunningBottomCompactionsLocked() int { return d.st.numRunningBottom }

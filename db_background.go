// Port of include/rocksdb/db.h (calls about background work, the history of
// statistics, options and the environment).

package rocksdb

// PauseBackgroundWork waits until no flush or compaction runs and keeps new ones
// back until ContinueBackgroundWork was called as often.
func (x *DB) PauseBackgroundWork() error { return x.impl.PauseBackgroundWork() }

// ContinueBackgroundWork undoes one PauseBackgroundWork.
func (x *DB) ContinueBackgroundWork() error { return x.impl.ContinueBackgroundWork() }

// CancelAllBackgroundWork stops flushes and compactions for good, as before
// Close, and waits for those that run where wait is set.
func (x *DB) CancelAllBackgroundWork(wait bool) { x.impl.CancelAllBackgroundWork(wait) }

// DisableManualCompaction makes running and later manual compactions end with
// ErrIncomplete, until EnableManualCompaction was called as often.
func (x *DB) DisableManualCompaction() { x.impl.DisableManualCompaction() }

// EnableManualCompaction undoes one DisableManualCompaction.
func (x *DB) EnableManualCompaction() { x.impl.EnableManualCompaction() }

// AbortAllCompactions ends running compactions and keeps others, automatic ones
// and manual ones, from running until ResumeAllCompactions was called as often.
// They end with ErrIncomplete and SubCodeCompactionAborted, and what they wrote is
// deleted. Flushes go on.
func (x *DB) AbortAllCompactions() { x.impl.AbortAllCompactions() }

// ResumeAllCompactions undoes one AbortAllCompactions.
func (x *DB) ResumeAllCompactions() { x.impl.ResumeAllCompactions() }

// EnableAutoCompaction turns automatic compactions of families on which were
// opened with DisableAutoCompactions.
func (x *DB) EnableAutoCompaction(cfs []*ColumnFamily) error {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	return x.impl.EnableAutoCompaction(handles)
}

// LockWAL flushes buffered WAL records and then stops writes until UnlockWAL, so
// that the files of WALs may be copied.
func (x *DB) LockWAL() error { return x.impl.LockWAL() }

// UnlockWAL undoes one LockWAL.
func (x *DB) UnlockWAL() error { return x.impl.UnlockWAL() }

// Resume lets the database go on after a background error that stopped it and
// whose cause is gone.
func (x *DB) Resume() error { return x.impl.Resume() }

// GetStatsHistory gives the tickers as they were each StatsPersistPeriodSec, in
// [start, end) seconds since 1970.
func (x *DB) GetStatsHistory(start, end uint64) StatsHistoryIterator {
	return x.impl.GetStatsHistory(start, end)
}

// GetDBOptions gives the database's options in force.
func (x *DB) GetDBOptions() DBOptions { return x.impl.GetDBOptions() }

// GetEnv gives the environment that the database was opened with.
func (x *DB) GetEnv() Env { return x.impl.GetEnv() }

// GetApproximateSizes estimates the bytes that the keys of each range take, in
// ranges' order. o may be nil: tables alone.
func (c *ColumnFamily) GetApproximateSizes(o *SizeApproximationOptions, ranges []Range) ([]uint64, error) {
	sizes := make([]uint64, len(ranges))
	err := c.impl.GetApproximateSizes(o, c.ColumnFamilyHandleImpl, ranges, sizes)
	return sizes, err
}

// GetApproximateMemTableStats estimates number and bytes of the entries of a
// range in memtables.
func (c *ColumnFamily) GetApproximateMemTableStats(r Range) (count, size uint64) {
	return c.impl.GetApproximateMemTableStats(c.ColumnFamilyHandleImpl, r)
}

// GetColumnFamilyMetaData describes the family's files, by level; o selects some
// of them, nil is all.
func (c *ColumnFamily) GetColumnFamilyMetaData(o *GetColumnFamilyMetaDataOptions) ColumnFamilyMetaData {
	return c.impl.GetColumnFamilyMetaData(c.ColumnFamilyHandleImpl, o)
}

// GetAllColumnFamilyMetaData describes the files of every family, by level.
func (x *DB) GetAllColumnFamilyMetaData() []ColumnFamilyMetaData {
	return x.impl.GetAllColumnFamilyMetaData()
}

// GetCreationTimeOfOldestFile is when the oldest table was made, in seconds
// since the Unix epoch, 0 where one does not say. Without max_open_files of -1
// the error is ErrNotSupported.
func (x *DB) GetCreationTimeOfOldestFile() (uint64, error) {
	return x.impl.GetCreationTimeOfOldestFile()
}

// CompactFiles compacts the family's table files named, of which the directory
// does not matter, with those that have to go along, into outputLevel, in the
// caller's goroutine, and gives the paths of the new files, tables first, then
// blob files. outputPathID -1 is
// the family's only path. o may be nil; info, which may be nil, is filled in.
// Listeners are not told. The error is ErrAborted when a file is being compacted
// already.
func (c *ColumnFamily) CompactFiles(o *CompactionOptions, files []string, outputLevel, outputPathID int, info *CompactionJobInfo) ([]string, error) {
	return c.impl.CompactFiles(o, c.ColumnFamilyHandleImpl, files, outputLevel, outputPathID, info)
}

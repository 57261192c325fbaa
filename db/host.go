// Port of the calls that files of db/ make on DBImpl (db/db_impl/db_impl.h).
// Differs: small interfaces, implemented by package db_impl, break the cycle.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/snapshot"
	"github.com/rocksdb-go/rocksdb/db/writethread"
)

// SuperVersionHost cleans up after the last reference on something.
type SuperVersionHost interface {
	// CleanupSuperVersion takes the DB mutex and lets go of sv, whose last
	// reference is gone.
	CleanupSuperVersion(sv *SuperVersion)
	// ReleaseColumnFamily takes the DB mutex and drops a handle's reference.
	ReleaseColumnFamily(cfd *ColumnFamilyData)
}

// StatsHost is what properties ask of the database. The DB mutex is held.
type StatsHost interface {
	NumRunningFlushesLocked() int
	NumRunningCompactionsLocked() int
	// NumRunningCompactionSortedRunsLocked sums up over the families.
	NumRunningCompactionSortedRunsLocked() uint64
	IsFileDeletionsEnabledLocked() bool
	SnapshotsLocked() *snapshot.List
	ObsoleteSstFilesSizeLocked() uint64
	MinLogNumberToKeep() uint64
	MinObsoleteSstNumberToKeepLocked() uint64
	WriteController() *writethread.WriteController
	// CompactionAbortCount is the number of aborts not yet undone.
	CompactionAbortCount() uint64
}

// Port of include/rocksdb/db.h (GetMapProperty, GetAggregatedIntProperty,
// ResetStats, GetSortedWalFiles, GetCurrentWalFile, GetUpdatesSince).

package rocksdb

import "github.com/rocksdb-go/rocksdb/db"

// TransactionLogIterator gives the batches of the logs in the order they were
// written; it has to be closed.
type TransactionLogIterator = db.TransactionLogIterator

// BatchResult is a batch as it was written.
type BatchResult = db.BatchResult

// GetMapProperty gives a property by its parts, e.g. PropertyCFStats; ok is
// false when there is none of that name, or it has no parts.
func (c *ColumnFamily) GetMapProperty(name string) (values map[string]string, ok bool) {
	return c.impl.GetMapProperty(c.ColumnFamilyHandleImpl, name)
}

// GetAggregatedIntProperty sums a property that is a number up over all
// families; a block cache that they share counts once.
func (x *DB) GetAggregatedIntProperty(name string) (value uint64, ok bool) {
	return x.impl.GetAggregatedIntProperty(name)
}

// ResetStats sets what PropertyStats and the like count to zero.
func (x *DB) ResetStats() error { return x.impl.ResetStats() }

// GetSortedWalFiles lists the write-ahead logs that have data, archived ones
// included, by number.
func (x *DB) GetSortedWalFiles() ([]LogFile, error) { return x.impl.GetSortedWalFiles() }

// GetCurrentWalFile describes the log that is being written; without its
// StartSequence.
func (x *DB) GetCurrentWalFile() (LogFile, error) { return x.impl.GetCurrentWalFile() }

// GetUpdatesSince gives the batches from the one with seq on, as far as the logs
// go back. o may be nil. The error is NotFound for a sequence number that is not
// written yet.
func (x *DB) GetUpdatesSince(seq SequenceNumber, o *TransactionLogIteratorReadOptions) (*TransactionLogIterator, error) {
	return x.impl.GetUpdatesSince(seq, o)
}

// GetPropertiesOfAllTables gives the properties of the family's tables by path.
func (c *ColumnFamily) GetPropertiesOfAllTables() (map[string]*TableProperties, error) {
	return c.impl.GetPropertiesOfAllTables(c.ColumnFamilyHandleImpl)
}

// GetPropertiesOfTablesInRange gives, by path, those of the tables that have keys
// in one of the ranges; a limit counts as within.
func (c *ColumnFamily) GetPropertiesOfTablesInRange(ranges []Range) (map[string]*TableProperties, error) {
	return c.impl.GetPropertiesOfTablesInRange(c.ColumnFamilyHandleImpl, ranges)
}

// GetPropertiesOfTablesByLevel gives them by level and path.
func (c *ColumnFamily) GetPropertiesOfTablesByLevel() ([]map[string]*TableProperties, error) {
	return c.impl.GetPropertiesOfTablesByLevel(c.ColumnFamilyHandleImpl)
}

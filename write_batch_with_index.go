// Port of include/rocksdb/utilities/write_batch_with_index.h, as Go programs use
// it.

package rocksdb

import writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"

// WriteBatchWithIndex is a write batch that can be read, alone and together with
// a database, before its GetWriteBatch is written. It is not safe for concurrent
// use. Keys and values are copied into it; there is nothing to close.
type WriteBatchWithIndex struct {
	*writebatchwithindex.WriteBatchWithIndex
}

// WriteBatchWithIndexOptions make a WriteBatchWithIndex.
type WriteBatchWithIndexOptions = writebatchwithindex.Options

// WBWIIterator walks one family's entries of a batch, the newest of a key first.
type WBWIIterator = writebatchwithindex.Iterator

// WriteEntry is an entry of a WBWIIterator.
type WriteEntry = writebatchwithindex.WriteEntry

// WriteType is the kind of a WriteEntry.
type WriteType = writebatchwithindex.WriteType

// The kinds that a WBWIIterator shows.
const (
	PutRecord          = writebatchwithindex.PutRecord
	MergeRecord        = writebatchwithindex.MergeRecord
	DeleteRecord       = writebatchwithindex.DeleteRecord
	SingleDeleteRecord = writebatchwithindex.SingleDeleteRecord
	PutEntityRecord    = writebatchwithindex.PutEntityRecord
)

// CFStat counts a family's part of a WriteBatchWithIndex.
type CFStat = writebatchwithindex.CFStat

// BaseIterator is what a batch is laid over: an Iterator, or one's own.
type BaseIterator = writebatchwithindex.BaseIterator

// BaseDeltaIterator is an iterator with a batch laid over it.
type BaseDeltaIterator = writebatchwithindex.BaseDeltaIterator

// NewWriteBatchWithIndex makes an empty batch. The error is one of
// WriteBatchWithIndexOptions.ProtectionBytesPerKey.
func NewWriteBatchWithIndex(o WriteBatchWithIndexOptions) (*WriteBatchWithIndex, error) {
	b, err := writebatchwithindex.New(o)
	if err != nil {
		return nil, err
	}
	return &WriteBatchWithIndex{b}, nil
}

// IngestWriteBatchWithIndex applies b atomically without inserting its entries one
// by one: they become an immutable memtable of each family, whose flush is asked
// for. b must have been made with OverwriteKey and must not be changed any more;
// wo.DisableWAL has to be set. Pipelined and unordered writes, and families with
// timestamps, are NotSupported.
func (x *DB) IngestWriteBatchWithIndex(wo *WriteOptions, b *WriteBatchWithIndex) error {
	if b == nil {
		return InvalidArgument("Batch is nullptr!")
	}
	return x.impl.IngestWriteBatchWithIndex(wo, b.WriteBatchWithIndex)
}

// indexedDB is x for the batch; a nil one stays nil.
func indexedDB(x *DB) writebatchwithindex.DB {
	if x == nil {
		return nil
	}
	return x.impl
}

// GetFromBatchAndDB finds key's value as it would be once the batch is written to
// x. cf may be nil: the default family. The error is ErrNotFound when there is
// none; otherwise Release has to be called on value, which is released first.
func (b *WriteBatchWithIndex) GetFromBatchAndDB(x *DB, ro *ReadOptions, cf ColumnFamilyHandle, key []byte, value *PinnableSlice) error {
	return b.WriteBatchWithIndex.GetFromBatchAndDB(indexedDB(x), ro, cf, key, value)
}

// GetEntityFromBatchAndDB is GetFromBatchAndDB for an entity; cf must not be nil.
func (b *WriteBatchWithIndex) GetEntityFromBatchAndDB(x *DB, ro *ReadOptions, cf ColumnFamilyHandle, key []byte, columns *PinnableWideColumns) error {
	return b.WriteBatchWithIndex.GetEntityFromBatchAndDB(indexedDB(x), ro, cf, key, columns)
}

// MultiGetFromBatchAndDB is GetFromBatchAndDB for each key, at one state of the
// database; values and errs have keys' length.
func (b *WriteBatchWithIndex) MultiGetFromBatchAndDB(x *DB, ro *ReadOptions, cf ColumnFamilyHandle, keys [][]byte, values []PinnableSlice, errs []error) {
	b.WriteBatchWithIndex.MultiGetFromBatchAndDB(indexedDB(x), ro, cf, keys, values, errs)
}

// MultiGetEntityFromBatchAndDB is GetEntityFromBatchAndDB for each key, at one
// state of the database; results and errs have keys' length.
func (b *WriteBatchWithIndex) MultiGetEntityFromBatchAndDB(x *DB, ro *ReadOptions, cf ColumnFamilyHandle, keys [][]byte, results []PinnableWideColumns, errs []error) {
	b.WriteBatchWithIndex.MultiGetEntityFromBatchAndDB(indexedDB(x), ro, cf, keys, results, errs)
}

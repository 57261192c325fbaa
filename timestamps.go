// Port of include/rocksdb/db.h: the calls of column families whose keys have
// user-defined timestamps (see BytewiseComparatorWithU64Ts).

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/util"
)

// PutWithTimestamp stores value under key at time ts, which has the size that
// the family's comparator wants, here and below. Reads see it at
// ReadOptions.Timestamp ts and later.
func (c *ColumnFamily) PutWithTimestamp(wo *WriteOptions, key, ts, value []byte) error {
	return c.impl.PutWithTimestamp(wo, c.ColumnFamilyHandleImpl, key, ts, value)
}

// DeleteWithTimestamp removes key at time ts.
func (c *ColumnFamily) DeleteWithTimestamp(wo *WriteOptions, key, ts []byte) error {
	return c.impl.DeleteWithTimestamp(wo, c.ColumnFamilyHandleImpl, key, ts)
}

// SingleDeleteWithTimestamp removes key, which was put at most once since its
// last removal, at time ts.
func (c *ColumnFamily) SingleDeleteWithTimestamp(wo *WriteOptions, key, ts []byte) error {
	return c.impl.SingleDeleteWithTimestamp(wo, c.ColumnFamilyHandleImpl, key, ts)
}

// DeleteRangeWithTimestamp removes the keys in [begin, end) at time ts.
func (c *ColumnFamily) DeleteRangeWithTimestamp(wo *WriteOptions, begin, end, ts []byte) error {
	return c.impl.DeleteRangeWithTimestamp(wo, c.ColumnFamilyHandleImpl, begin, end, ts)
}

// MergeWithTimestamp adds an operand to key at time ts.
func (c *ColumnFamily) MergeWithTimestamp(wo *WriteOptions, key, ts, operand []byte) error {
	return c.impl.MergeWithTimestamp(wo, c.ColumnFamilyHandleImpl, key, ts, operand)
}

// GetWithTimestamp is Get at ReadOptions.Timestamp that also gives the entry's
// timestamp, a deletion's, too.
func (c *ColumnFamily) GetWithTimestamp(ro *ReadOptions, key []byte) (value PinnableSlice, ts []byte, err error) {
	err = c.impl.GetWithTimestamp(ro, c.ColumnFamilyHandleImpl, key, &value, &ts)
	return value, ts, err
}

// MultiGetWithTimestamps is MultiGet that also gives the entries' timestamps;
// timestamps has keys' length.
func (c *ColumnFamily) MultiGetWithTimestamps(ro *ReadOptions, keys [][]byte, values []PinnableSlice, timestamps [][]byte, errs []error) {
	c.impl.MultiGetWithTimestamps(ro, c.ColumnFamilyHandleImpl, keys, values, timestamps, errs)
}

// MultiGetCFWithTimestamps is MultiGetWithTimestamps over families, cfs having
// keys' length.
func (x *DB) MultiGetCFWithTimestamps(ro *ReadOptions, cfs []*ColumnFamily, keys [][]byte, values []PinnableSlice, timestamps [][]byte, errs []error) {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	x.impl.MultiGetCFWithTimestamps(ro, handles, keys, values, timestamps, errs)
}

// IncreaseFullHistoryTsLow raises the timestamp below which compactions may
// drop all but the newest version of a key; reads below it are refused once
// they did. It never falls.
func (c *ColumnFamily) IncreaseFullHistoryTsLow(ts []byte) error {
	return c.impl.IncreaseFullHistoryTsLow(c.ColumnFamilyHandleImpl, ts)
}

// GetFullHistoryTsLow gives that timestamp; nil when it was never set.
func (c *ColumnFamily) GetFullHistoryTsLow() ([]byte, error) {
	return c.impl.GetFullHistoryTsLow(c.ColumnFamilyHandleImpl)
}

// GetNewestUserDefinedTimestamp gives the newest timestamp the family has seen,
// nil for none. It is for families with PersistUserDefinedTimestamps off, others
// answer NotSupported.
func (c *ColumnFamily) GetNewestUserDefinedTimestamp() ([]byte, error) {
	return c.impl.GetNewestUserDefinedTimestamp(c.ColumnFamilyHandleImpl)
}

// OpenAndTrimHistory is OpenColumnFamilies that takes out all entries newer than
// timestamp trimTS of the families with timestamps, before anyone reads.
// DBOptions.AvoidFlushDuringRecovery is InvalidArgument.
func OpenAndTrimHistory(path string, o DBOptions, families []ColumnFamilyDescriptor, trimTS []byte) (*DB, []*ColumnFamily, error) {
	RegisterBuiltins()
	d, handles, err := dbimpl.OpenAndTrimHistory(&o, path, families, trimTS)
	if err != nil {
		return nil, nil, err
	}
	x, cfs := wrap(d, handles)
	return x, cfs, nil
}

// BytewiseComparatorWithU64Ts orders keys by their bytes, and the versions of a
// key, told apart by timestamps of 8 bytes (EncodeU64Ts), newest first.
func BytewiseComparatorWithU64Ts() Comparator { return util.BytewiseComparatorWithU64Ts() }

// ReverseBytewiseComparatorWithU64Ts orders keys the other way round, their
// versions also newest first.
func ReverseBytewiseComparatorWithU64Ts() Comparator {
	return util.ReverseBytewiseComparatorWithU64Ts()
}

// EncodeU64Ts makes a timestamp of these comparators.
func EncodeU64Ts(ts uint64) []byte { return util.EncodeU64Ts(ts) }

// DecodeU64Ts is the inverse of EncodeU64Ts.
func DecodeU64Ts(ts []byte) (uint64, error) { return util.DecodeU64Ts(ts) }

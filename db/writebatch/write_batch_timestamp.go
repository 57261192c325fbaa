// Port of db/write_batch.cc and db/write_batch_internal.h (user-defined
// timestamps).

package writebatch

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// UnknownTimestampSize is what UpdateTimestamps' function says of a column
// family it does not know.
const UnknownTimestampSize = math.MaxInt

// checkTimestamp finds out whether ts can be a timestamp of cf's.
func checkTimestamp(cf rocksdb.ColumnFamilyHandle, ts []byte) error {
	if cf == nil {
		return rocksdb.InvalidArgument("column family handle cannot be null")
	}
	switch n := cf.GetComparator().TimestampSize(); {
	case n == 0:
		return rocksdb.InvalidArgument("timestamp disabled")
	case n != len(ts):
		return rocksdb.InvalidArgument("timestamp size mismatch")
	}
	return nil
}

func (b *WriteBatch) addWithTimestamp(cf rocksdb.ColumnFamilyHandle, o *op, key, ts, value []byte) error {
	if err := checkTimestamp(cf, ts); err != nil {
		return err
	}
	b.hasKeyWithTimestamp = true
	return b.addByID(cf.GetID(), o, key, ts, value)
}

// PutWithTimestamp stores value under key at time ts, which has the size that
// cf's comparator wants; here and below.
func (b *WriteBatch) PutWithTimestamp(cf rocksdb.ColumnFamilyHandle, key, ts, value []byte) error {
	return b.addWithTimestamp(cf, &opPut, key, ts, value)
}

// DeleteWithTimestamp removes key at time ts.
func (b *WriteBatch) DeleteWithTimestamp(cf rocksdb.ColumnFamilyHandle, key, ts []byte) error {
	return b.addWithTimestamp(cf, &opDelete, key, ts, nil)
}

// SingleDeleteWithTimestamp removes key, which was put at most once, at time
// ts.
func (b *WriteBatch) SingleDeleteWithTimestamp(cf rocksdb.ColumnFamilyHandle, key, ts []byte) error {
	return b.addWithTimestamp(cf, &opSingleDelete, key, ts, nil)
}

// DeleteRangeWithTimestamp removes the keys in [begin, end) at time ts.
func (b *WriteBatch) DeleteRangeWithTimestamp(cf rocksdb.ColumnFamilyHandle, begin, end, ts []byte) error {
	return b.addWithTimestamp(cf, &opDeleteRange, begin, ts, end)
}

// MergeWithTimestamp adds a merge operand to key at time ts.
func (b *WriteBatch) MergeWithTimestamp(cf rocksdb.ColumnFamilyHandle, key, ts, operand []byte) error {
	return b.addWithTimestamp(cf, &opMerge, key, ts, operand)
}

// HasKeyWithTimestamp tells whether a key with a timestamp, or room for one,
// was added.
func (b *WriteBatch) HasKeyWithTimestamp() bool { return b.hasKeyWithTimestamp }

// NeedsInPlaceUpdateTimestamps tells whether some keys have room for a
// timestamp that UpdateTimestamps has yet to fill in.
func (b *WriteBatch) NeedsInPlaceUpdateTimestamps() bool { return b.needsInPlaceUpdate }

// UpdateTimestamps sets the timestamps of all keys whose column family has
// them. size gives a family's timestamp size: 0 leaves its keys alone,
// UnknownTimestampSize is an error, as is any other than ts's.
func (b *WriteBatch) UpdateTimestamps(ts []byte, size func(cf uint32) int) error {
	if len(ts) == 0 {
		return rocksdb.InvalidArgument("Timestamp is empty")
	}
	err := b.Iterate(&timestampUpdater{ts: ts, size: size, protection: b.Protection()})
	if err == nil {
		b.needsInPlaceUpdate = false
	}
	return err
}

// timestampUpdater overwrites timestamps in the batch it walks.
type timestampUpdater struct {
	HandlerBase
	ts   []byte
	size func(cf uint32) int

	protection []uint64 // of the entries from the next one on
}

func (u *timestampUpdater) update(cf uint32, keys ...[]byte) error {
	var sum *uint64
	if len(u.protection) > 0 {
		sum, u.protection = &u.protection[0], u.protection[1:]
	}
	switch u.size(cf) {
	case 0:
		return nil
	case UnknownTimestampSize:
		return rocksdb.NotFound()
	case len(u.ts):
	default:
		return rocksdb.InvalidArgument("timestamp size mismatch")
	}
	for i, key := range keys {
		if len(key) < len(u.ts) {
			return rocksdb.Corruption("key in a write batch is shorter than its timestamp")
		}
		if sum != nil {
			*sum ^= keyProtection(i, key)
		}
		copy(key[len(key)-len(u.ts):], u.ts)
		if sum != nil {
			*sum ^= keyProtection(i, key)
		}
	}
	return nil
}

// keyProtection is the part of an entry's checksum that its key has, or the end
// key of a range, which is its value.
func keyProtection(i int, key []byte) uint64 {
	if i > 0 {
		return dbformat.ProtectValue(key)
	}
	return dbformat.ProtectKey(key)
}

func (u *timestampUpdater) PutCF(cf uint32, key, _ []byte) error     { return u.update(cf, key) }
func (u *timestampUpdater) DeleteCF(cf uint32, key []byte) error     { return u.update(cf, key) }
func (u *timestampUpdater) SingleDeleteCF(cf uint32, k []byte) error { return u.update(cf, k) }
func (u *timestampUpdater) MergeCF(cf uint32, key, _ []byte) error   { return u.update(cf, key) }
func (u *timestampUpdater) PutBlobIndexCF(cf uint32, key, _ []byte) error {
	return u.update(cf, key)
}
func (u *timestampUpdater) DeleteRangeCF(cf uint32, begin, end []byte) error {
	return u.update(cf, begin, end)
}
func (u *timestampUpdater) MarkBeginPrepare(bool) error                  { return nil }
func (u *timestampUpdater) MarkEndPrepare([]byte) error                  { return nil }
func (u *timestampUpdater) MarkCommit([]byte) error                      { return nil }
func (u *timestampUpdater) MarkCommitWithTimestamp([]byte, []byte) error { return nil }
func (u *timestampUpdater) MarkRollback([]byte) error                    { return nil }
func (u *timestampUpdater) MarkNoop(bool) error                          { return nil }

// Port of db/write_batch_internal.h and db/write_batch.cc (entities, timed
// puts, transaction markers, adding by column family id). Differs: what
// upstream keeps in WriteBatchInternal are methods.

package writebatch

import (
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// PutByID and its kin add records to the column family of an id, key and value
// as they are to be stored: with the timestamp if there is one.
func (b *WriteBatch) PutByID(id uint32, key, value []byte) error {
	return b.addByID(id, &opPut, key, nil, value)
}

// DeleteByID is a deletion by family id.
func (b *WriteBatch) DeleteByID(id uint32, key []byte) error {
	return b.addByID(id, &opDelete, key, nil, nil)
}

// SingleDeleteByID is a single deletion by family id.
func (b *WriteBatch) SingleDeleteByID(id uint32, key []byte) error {
	return b.addByID(id, &opSingleDelete, key, nil, nil)
}

// DeleteRangeByID is a range deletion by family id.
func (b *WriteBatch) DeleteRangeByID(id uint32, begin, end []byte) error {
	return b.addByID(id, &opDeleteRange, begin, nil, end)
}

// MergeByID is a merge by family id.
func (b *WriteBatch) MergeByID(id uint32, key, operand []byte) error {
	return b.addByID(id, &opMerge, key, nil, operand)
}

// joinParts makes one slice of many.
func joinParts(parts [][]byte) []byte { return slices.Concat(parts...) }

// PutParts stores a value given in parts under a key given in parts.
func (b *WriteBatch) PutParts(cf rocksdb.ColumnFamilyHandle, key, value [][]byte) error {
	return b.add(cf, &opPut, joinParts(key), joinParts(value))
}

// PutEntityCF stores columns under key in cf, which must be given. The columns
// may be in any order.
func (b *WriteBatch) PutEntityCF(cf rocksdb.ColumnFamilyHandle, key []byte, columns rocksdb.WideColumns) error {
	if cf == nil {
		return rocksdb.InvalidArgument("Cannot call this method without a column family handle")
	}
	id, tsSize, err := b.family(cf)
	if err != nil {
		return err
	}
	if tsSize > 0 {
		return rocksdb.InvalidArgument("Cannot call this method on column family enabling timestamp")
	}
	if err := checkSizes(len(key), 0); err != nil {
		return err
	}
	sorted := slices.Clone(columns)
	wide.SortColumns(sorted)
	entity, err := wide.Serialize(nil, sorted)
	if err != nil {
		return err
	}
	return b.PutEntitySerialized(id, key, entity)
}

// PutEntityAttributeGroups stores an entity that is spread over several column
// families.
func (b *WriteBatch) PutEntityAttributeGroups(key []byte, groups []rocksdb.AttributeGroup) error {
	if len(groups) == 0 {
		return rocksdb.InvalidArgument("Cannot call this method with empty attribute groups")
	}
	for i := range groups {
		if err := b.PutEntityCF(groups[i].ColumnFamily, key, groups[i].Columns); err != nil {
			return err
		}
	}
	return nil
}

// PutEntitySerialized stores an entity in its stored form.
func (b *WriteBatch) PutEntitySerialized(id uint32, key, entity []byte) error {
	if uint64(len(entity)) > math.MaxUint32 {
		return rocksdb.InvalidArgument("wide column entity is too large")
	}
	return b.addByID(id, &opPutEntity, key, nil, entity)
}

// TimedPut stores value under key with the time of writing, in Unix seconds,
// for tiering; MaxUint64 is an ordinary put.
func (b *WriteBatch) TimedPut(cf rocksdb.ColumnFamilyHandle, key, value []byte, writeUnixTime uint64) error {
	id, tsSize, err := b.family(cf)
	if err != nil {
		return err
	}
	if tsSize > 0 {
		return rocksdb.NotSupported("TimedPut is not supported in combination with user-defined timestamps.")
	}
	return b.TimedPutByID(id, key, value, writeUnixTime)
}

// TimedPutByID is TimedPut into a family named by its ID.
func (b *WriteBatch) TimedPutByID(id uint32, key, value []byte, writeUnixTime uint64) error {
	if writeUnixTime == math.MaxUint64 {
		return b.PutByID(id, key, value)
	}
	if err := checkSizes(len(key), len(value)+8); err != nil {
		return err
	}
	sp := b.beginRecord(id, dbformat.TypeValuePreferredSeqno, dbformat.TypeColumnFamilyValuePreferredSeqno)
	b.appendKey(key, nil)
	b.rep = util.AppendVarint32(b.rep, uint32(len(value)+8))
	b.rep = seqnotime.PackValueAndWriteTime(b.rep, value, writeUnixTime)
	return b.endRecord(sp, hasTimedPut)
}

// InsertNoop adds a record that does nothing. A transaction begins its batch
// with it; MarkEndPrepare turns it into a begin-prepare.
func (b *WriteBatch) InsertNoop() {
	b.ensureHeader()
	b.rep = append(b.rep, byte(dbformat.TypeNoop))
}

func beginPrepareType(writeAfterCommit, unprepared bool) dbformat.ValueType {
	switch {
	case writeAfterCommit:
		return dbformat.TypeBeginPrepareXID
	case unprepared:
		return dbformat.TypeBeginUnprepareXID
	}
	return dbformat.TypeBeginPersistedPrepareXID
}

func (b *WriteBatch) insertMark(t dbformat.ValueType, flag uint32, parts ...[]byte) {
	b.ensureHeader()
	b.rep = append(b.rep, byte(t))
	for _, p := range parts {
		b.rep = util.AppendLengthPrefixedSlice(b.rep, p)
	}
	b.contentFlags |= flag
}

// InsertBeginPrepare opens a prepare section.
func (b *WriteBatch) InsertBeginPrepare(writeAfterCommit, unprepared bool) {
	b.insertMark(beginPrepareType(writeAfterCommit, unprepared), hasBeginPrepare)
}

// InsertEndPrepare closes the prepare section of transaction xid.
func (b *WriteBatch) InsertEndPrepare(xid []byte) {
	b.insertMark(dbformat.TypeEndPrepareXID, hasEndPrepare, xid)
}

// MarkEndPrepare makes all records so far the prepare section of transaction
// xid; the batch must begin with InsertNoop's record. Save points are
// forgotten.
func (b *WriteBatch) MarkEndPrepare(xid []byte, writeAfterCommit, unprepared bool) error {
	if len(b.rep) <= HeaderSize || b.rep[HeaderSize] != byte(dbformat.TypeNoop) {
		return rocksdb.InvalidArgument("a batch to prepare has to begin with a noop record")
	}
	b.savePoints = b.savePoints[:0]
	b.rep[HeaderSize] = byte(beginPrepareType(writeAfterCommit, unprepared))
	b.contentFlags |= hasBeginPrepare
	if unprepared {
		b.contentFlags |= hasBeginUnprepare
	}
	b.InsertEndPrepare(xid)
	return nil
}

// MarkCommit commits transaction xid.
func (b *WriteBatch) MarkCommit(xid []byte) {
	b.insertMark(dbformat.TypeCommitXID, hasCommit, xid)
}

// MarkCommitWithTimestamp commits transaction xid at a user-defined timestamp,
// which is not empty.
func (b *WriteBatch) MarkCommitWithTimestamp(xid, commitTS []byte) error {
	if len(commitTS) == 0 {
		return rocksdb.InvalidArgument("Timestamp is empty")
	}
	b.insertMark(dbformat.TypeCommitXIDAndTimestamp, hasCommit, commitTS, xid)
	return nil
}

// MarkRollback rolls transaction xid back.
func (b *WriteBatch) MarkRollback(xid []byte) {
	b.insertMark(dbformat.TypeRollbackXID, hasRollback, xid)
}

// AppendedByteSize is the size of two batches of these sizes joined; 0 is no
// batch.
func AppendedByteSize(left, right int) int {
	if left == 0 || right == 0 {
		return left + right
	}
	return left + right - HeaderSize
}

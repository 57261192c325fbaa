// Port of utilities/write_batch_with_index/write_batch_with_index.cc and
// include/rocksdb/utilities/write_batch_with_index.h: the batch and its index.
// Differs: keys with timestamps are found in the index after a rollback, too.

package writebatchwithindex

import (
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// Options make a WriteBatchWithIndex.
type Options struct {
	// BackupIndexComparator orders the keys of families whose comparator is not
	// known: those written without a handle. Nil: BytewiseComparator.
	BackupIndexComparator rocksdb.Comparator
	// ReservedBytes is the room that the batch begins with.
	ReservedBytes int
	// OverwriteKey keeps the newest update of a key alone in the index, and the
	// merges since.
	OverwriteKey bool
	// MaxBytes is the size that the batch refuses to grow over; 0: no limit.
	MaxBytes int
	// ProtectionBytesPerKey is 8 for checksums of the entries, else 0.
	ProtectionBytesPerKey uint64
}

// CFStat counts a family's part of the index.
type CFStat struct {
	EntryCount uint32 // entries in the index
	// OverwrittenSDCount is how many single deletions have been overwritten.
	OverwrittenSDCount uint32
}

// WriteBatchWithIndex is a write batch that can be read. It is not safe for
// concurrent use. Keys and values are copied into it.
type WriteBatchWithIndex struct {
	batch     *writebatch.WriteBatch
	overwrite bool
	backup    keyOrder
	orders    []keyOrder // by family id; no user comparator: backup

	list    *memtable.SkipList[entryRef]
	entries []indexEntry // by entryRef

	// A sub-batch has no key twice. lastSubBatch is where the last one begins, 0
	// as long as there was no duplicate.
	lastSubBatch int
	subBatches   int

	stats   map[uint32]CFStat
	opCount int
}

// New makes an empty batch. The error is one of Options.ProtectionBytesPerKey.
func New(o Options) (*WriteBatchWithIndex, error) {
	order := newKeyOrder(o.BackupIndexComparator)
	if order.user == nil {
		order = newKeyOrder(util.BytewiseComparator())
	}
	batch, err := writebatch.NewWithProtection(o.ReservedBytes, o.MaxBytes, o.ProtectionBytesPerKey, order.user.TimestampSize())
	if err != nil {
		return nil, err
	}
	b := &WriteBatchWithIndex{batch: batch, overwrite: o.OverwriteKey, backup: order}
	b.clearIndex()
	return b, nil
}

// GetWriteBatch gives the batch below, to be written; its records must not be
// changed but for their timestamps.
func (b *WriteBatchWithIndex) GetWriteBatch() *writebatch.WriteBatch { return b.batch }

// GetOverwriteKey tells whether the batch was made with Options.OverwriteKey.
func (b *WriteBatchWithIndex) GetOverwriteKey() bool { return b.overwrite }

// GetDataSize is the encoded size in bytes.
func (b *WriteBatchWithIndex) GetDataSize() int { return b.batch.GetDataSize() }

// SetMaxBytes limits the encoded size; 0 is no limit.
func (b *WriteBatchWithIndex) SetMaxBytes(n int) { b.batch.SetMaxBytes(n) }

// SubBatchCnt is the number of batches without duplicate keys that the batch
// would have to be cut into; it is counted with Options.OverwriteKey only.
func (b *WriteBatchWithIndex) SubBatchCnt() int { return b.subBatches }

// GetCFStats counts the index entries of each family that has some; the map is
// the batch's and must not be changed.
func (b *WriteBatchWithIndex) GetCFStats() map[uint32]CFStat { return b.stats }

// GetWBWIOpCount is the number of updates.
func (b *WriteBatchWithIndex) GetWBWIOpCount() int { return b.opCount }

// Put stores value under key in the default column family.
func (b *WriteBatchWithIndex) Put(key, value []byte) error { return b.PutCF(nil, key, value) }

// PutCF stores value under key in cf; nil is the default column family here and
// in the methods below, in the order of Options.BackupIndexComparator.
func (b *WriteBatchWithIndex) PutCF(cf rocksdb.ColumnFamilyHandle, key, value []byte) error {
	at := b.batch.GetDataSize()
	return b.added(cf, PutRecord, key, at, b.batch.PutCF(cf, key, value))
}

// PutEntityCF stores an entity under key in cf.
func (b *WriteBatchWithIndex) PutEntityCF(cf rocksdb.ColumnFamilyHandle, key []byte, columns rocksdb.WideColumns) error {
	at := b.batch.GetDataSize()
	return b.added(cf, PutEntityRecord, key, at, b.batch.PutEntityCF(cf, key, columns))
}

// Delete removes key from the default column family.
func (b *WriteBatchWithIndex) Delete(key []byte) error { return b.DeleteCF(nil, key) }

// DeleteCF removes key from cf.
func (b *WriteBatchWithIndex) DeleteCF(cf rocksdb.ColumnFamilyHandle, key []byte) error {
	at := b.batch.GetDataSize()
	return b.added(cf, DeleteRecord, key, at, b.batch.DeleteCF(cf, key))
}

// SingleDelete removes key, which was put at most once, from the default column
// family.
func (b *WriteBatchWithIndex) SingleDelete(key []byte) error { return b.SingleDeleteCF(nil, key) }

// SingleDeleteCF is SingleDelete in cf.
func (b *WriteBatchWithIndex) SingleDeleteCF(cf rocksdb.ColumnFamilyHandle, key []byte) error {
	at := b.batch.GetDataSize()
	return b.added(cf, SingleDeleteRecord, key, at, b.batch.SingleDeleteCF(cf, key))
}

// Merge adds a merge operand to key in the default column family.
func (b *WriteBatchWithIndex) Merge(key, operand []byte) error { return b.MergeCF(nil, key, operand) }

// MergeCF is Merge in cf.
func (b *WriteBatchWithIndex) MergeCF(cf rocksdb.ColumnFamilyHandle, key, operand []byte) error {
	at := b.batch.GetDataSize()
	return b.added(cf, MergeRecord, key, at, b.batch.MergeCF(cf, key, operand))
}

// PutLogData stores a blob that goes to the WAL only; it is not in the index.
func (b *WriteBatchWithIndex) PutLogData(blob []byte) error { return b.batch.PutLogData(blob) }

// refuse is the answer of a call that is not there, for a family that has to be
// named.
func refuse(cf rocksdb.ColumnFamilyHandle, what string) error {
	if cf == nil {
		return rocksdb.InvalidArgument("column family handle cannot be nullptr")
	}
	return rocksdb.NotSupported(what + " unsupported in WriteBatchWithIndex")
}

// PutWithTimestamp is refused, as upstream does: put without it and use
// WriteBatch.UpdateTimestamps.
func (b *WriteBatchWithIndex) PutWithTimestamp(cf rocksdb.ColumnFamilyHandle, _, _, _ []byte) error {
	return refuse(cf, "Put with a timestamp")
}

// DeleteWithTimestamp is refused; see PutWithTimestamp.
func (b *WriteBatchWithIndex) DeleteWithTimestamp(cf rocksdb.ColumnFamilyHandle, _, _ []byte) error {
	return refuse(cf, "Delete with a timestamp")
}

// SingleDeleteWithTimestamp is refused; see PutWithTimestamp.
func (b *WriteBatchWithIndex) SingleDeleteWithTimestamp(cf rocksdb.ColumnFamilyHandle, _, _ []byte) error {
	return refuse(cf, "SingleDelete with a timestamp")
}

// MergeWithTimestamp is refused.
func (b *WriteBatchWithIndex) MergeWithTimestamp(rocksdb.ColumnFamilyHandle, []byte, []byte, []byte) error {
	return rocksdb.NotSupported("Merge does not support user-defined timestamp")
}

// TimedPut is refused.
func (b *WriteBatchWithIndex) TimedPut(rocksdb.ColumnFamilyHandle, []byte, []byte, uint64) error {
	return rocksdb.NotSupported("TimedPut not supported by WriteBatchWithIndex")
}

// PutEntityAttributeGroups is refused.
func (b *WriteBatchWithIndex) PutEntityAttributeGroups(_ []byte, groups []rocksdb.AttributeGroup) error {
	if len(groups) == 0 {
		return rocksdb.InvalidArgument("Cannot call this method without attribute groups")
	}
	return rocksdb.NotSupported("PutEntity with AttributeGroups not supported by WriteBatchWithIndex")
}

// DeleteRange is refused.
func (b *WriteBatchWithIndex) DeleteRange([]byte, []byte) error {
	return rocksdb.NotSupported("DeleteRange unsupported in WriteBatchWithIndex")
}

// DeleteRangeCF is refused.
func (b *WriteBatchWithIndex) DeleteRangeCF(rocksdb.ColumnFamilyHandle, []byte, []byte) error {
	return b.DeleteRange(nil, nil)
}

// DeleteRangeWithTimestamp is refused.
func (b *WriteBatchWithIndex) DeleteRangeWithTimestamp(rocksdb.ColumnFamilyHandle, []byte, []byte, []byte) error {
	return b.DeleteRange(nil, nil)
}

// Clear drops all records and save points. Iterators stand nowhere then.
func (b *WriteBatchWithIndex) Clear() {
	b.batch.Clear()
	b.clearIndex()
}

// SetSavePoint remembers the present state on a stack.
func (b *WriteBatchWithIndex) SetSavePoint() { b.batch.SetSavePoint() }

// RollbackToSavePoint goes back to the last save point and removes it; NotFound
// when there is none. Iterators stand nowhere then.
func (b *WriteBatchWithIndex) RollbackToSavePoint() error {
	if err := b.batch.RollbackToSavePoint(); err != nil {
		return err
	}
	return b.rebuildIndex()
}

// PopSavePoint forgets the last save point; NotFound when there is none.
func (b *WriteBatchWithIndex) PopSavePoint() error { return b.batch.PopSavePoint() }

func (b *WriteBatchWithIndex) clearIndex() {
	b.list = memtable.NewSkipList(b.compareEntries, &heapArena{}, 0, 0)
	b.entries = b.entries[:0]
	b.lastSubBatch, b.subBatches = 0, 1
	b.stats = map[uint32]CFStat{}
	b.opCount = 0
}

// added indexes the record at an offset of the batch unless err, that of adding
// it, is set.
func (b *WriteBatchWithIndex) added(cf rocksdb.ColumnFamilyHandle, t WriteType, key []byte, at int, err error) error {
	if err != nil {
		return err
	}
	id := uint32(0)
	if cf != nil {
		id = cf.GetID()
		if c := cf.GetComparator(); c != nil {
			b.setOrder(id, c)
		}
	}
	b.index(id, t, key, at)
	return nil
}

// setOrder keeps the comparator of a family.
func (b *WriteBatchWithIndex) setOrder(id uint32, c rocksdb.Comparator) {
	for uint32(len(b.orders)) <= id {
		b.orders = append(b.orders, keyOrder{})
	}
	if b.orders[id].user == nil {
		b.orders[id] = newKeyOrder(c)
	}
}

// index makes the index show the record at an offset of the batch, whose key,
// without timestamp, is key.
// Upstream: Rep::AddOrUpdateIndexWithCfId.
func (b *WriteBatchWithIndex) index(id uint32, t WriteType, key []byte, at int) {
	b.opCount++
	updates, done := uint32(0), false
	if b.overwrite {
		updates, done = b.updateExisting(id, t, key, at)
	}
	if !done {
		b.addEntry(id, t, at, updates+1)
	}
}

// updateExisting moves key's newest entry to the record at an offset, unless
// that is a merge. updates is how often the key was updated before.
// Upstream: Rep::UpdateExistingEntryWithCfId.
func (b *WriteBatchWithIndex) updateExisting(id uint32, t WriteType, key []byte, at int) (updates uint32, done bool) {
	it := b.newIterator(id)
	it.Seek(key)
	if !it.matchesKey(key) {
		return 0, false
	}
	newest := &b.entries[it.it.Key()]
	updates = newest.updateCount
	if b.lastSubBatch <= newest.offset {
		b.lastSubBatch = at
		b.subBatches++
	}
	if newest.hasSingleDel && !newest.hasOverwrittenSingleDel {
		s := b.stats[id]
		s.OverwrittenSDCount++
		b.stats[id] = s
		newest.hasOverwrittenSingleDel = true
	}
	if t == SingleDeleteRecord {
		newest.hasSingleDel = true
	}
	if t == MergeRecord {
		return updates, false
	}
	// A memtable made of the batch numbers an overwritten single deletion as if
	// its count were 0, so that what comes later has to have a greater one.
	newest.updateCount++
	newest.offset = at
	return updates, true
}

// addEntry adds an index entry for the record at an offset of the batch.
func (b *WriteBatchWithIndex) addEntry(id uint32, t WriteType, at int, updates uint32) {
	rest := b.batch.Data()[at+1:]
	if id != 0 {
		_, rest, _ = util.GetVarint32(rest)
	}
	size, rest, _ := util.GetVarint32(rest)
	b.entries = append(b.entries, indexEntry{
		offset: at, keyOffset: b.batch.GetDataSize() - len(rest), keySize: int(size) - b.order(id).tsSize,
		family: id, updateCount: updates, hasSingleDel: t == SingleDeleteRecord,
	})
	b.list.Insert(entryRef(len(b.entries) - 1))
	s := b.stats[id]
	s.EntryCount++
	b.stats[id] = s
}

// rebuildIndex reads the whole batch; the error is a Corruption.
func (b *WriteBatchWithIndex) rebuildIndex() error {
	b.clearIndex()
	data := b.batch.Data()
	var rec writebatch.Record
	found := uint32(0)
	for input := data[writebatch.HeaderSize:]; len(input) > 0; {
		at := len(data) - len(input)
		var err error
		if input, err = writebatch.ReadRecord(input, &rec); err != nil {
			return err
		}
		t, err := writeTypeOf(rec.Tag)
		if err != nil {
			return err
		}
		switch t {
		case LogDataRecord, XIDRecord:
		case DeleteRangeRecord:
			return rocksdb.Corruption("unknown WriteBatch tag in ReBuildIndex", strconv.Itoa(int(rec.Tag)))
		default:
			found++
			b.index(rec.ColumnFamily, t, rec.Key[:len(rec.Key)-b.order(rec.ColumnFamily).tsSize], at)
		}
	}
	if found != b.batch.Count() {
		return rocksdb.Corruption("WriteBatch has wrong count")
	}
	return nil
}

// writeTypeOf is the kind of a record.
func writeTypeOf(tag dbformat.ValueType) (WriteType, error) {
	switch tag {
	case dbformat.TypeValue, dbformat.TypeColumnFamilyValue:
		return PutRecord, nil
	case dbformat.TypeDeletion, dbformat.TypeColumnFamilyDeletion:
		return DeleteRecord, nil
	case dbformat.TypeSingleDeletion, dbformat.TypeColumnFamilySingleDeletion:
		return SingleDeleteRecord, nil
	case dbformat.TypeRangeDeletion, dbformat.TypeColumnFamilyRangeDeletion:
		return DeleteRangeRecord, nil
	case dbformat.TypeMerge, dbformat.TypeColumnFamilyMerge:
		return MergeRecord, nil
	case dbformat.TypeWideColumnEntity, dbformat.TypeColumnFamilyWideColumnEntity:
		return PutEntityRecord, nil
	case dbformat.TypeLogData:
		return LogDataRecord, nil
	case dbformat.TypeNoop, dbformat.TypeBeginPrepareXID, dbformat.TypeBeginPersistedPrepareXID, dbformat.TypeBeginUnprepareXID,
		dbformat.TypeEndPrepareXID, dbformat.TypeCommitXID, dbformat.TypeCommitXIDAndTimestamp, dbformat.TypeRollbackXID:
		return XIDRecord, nil
	}
	return UnknownRecord, rocksdb.Corruption("unexpected WriteBatch tag", strconv.Itoa(int(tag)))
}

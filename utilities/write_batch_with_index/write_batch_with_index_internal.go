// Port of utilities/write_batch_with_index/write_batch_with_index_internal.{h,cc}:
// the order of the index and its iterator.

package writebatchwithindex

import (
	"bytes"
	"cmp"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// WriteType is the kind of a record.
type WriteType uint8

// The kinds.
const (
	PutRecord WriteType = iota
	MergeRecord
	DeleteRecord
	SingleDeleteRecord
	DeleteRangeRecord
	LogDataRecord
	XIDRecord
	PutEntityRecord
	UnknownRecord
)

// WriteEntry is an entry of the index: a record without its timestamp. Its
// slices point into the batch.
type WriteEntry struct {
	Type       WriteType
	Key, Value []byte // Value is the serialised entity of a PutEntityRecord
}

// entryRef is the number of an indexEntry.
type entryRef uint64

// indexEntry is what the index knows of a record.
type indexEntry struct {
	offset             int // of the record in the batch
	keyOffset, keySize int // without timestamp
	family             uint32
	// The fields below are kept with Options.OverwriteKey only.
	updateCount             uint32 // of the key, up to this entry, from 1
	hasSingleDel            bool   // a single deletion was added here
	hasOverwrittenSingleDel bool   // and then overwritten
}

// keyOrder compares keys without timestamps.
type keyOrder struct {
	user     rocksdb.Comparator
	bytewise bool
	tsSize   int
}

func newKeyOrder(c rocksdb.Comparator) keyOrder {
	if c == nil {
		return keyOrder{}
	}
	return keyOrder{user: c, bytewise: util.IsBytewise(c), tsSize: c.TimestampSize()}
}

func (o *keyOrder) compare(a, b []byte) int {
	if o.bytewise {
		return bytes.Compare(a, b)
	}
	return o.user.CompareWithoutTimestamp(a, false, b, false)
}

// order is that of a family.
func (b *WriteBatchWithIndex) order(id uint32) *keyOrder {
	if id < uint32(len(b.orders)) && b.orders[id].user != nil {
		return &b.orders[id]
	}
	return &b.backup
}

// GetUserComparator is the comparator that the index uses for a family.
func (b *WriteBatchWithIndex) GetUserComparator(id uint32) rocksdb.Comparator {
	return b.order(id).user
}

func (b *WriteBatchWithIndex) keyOf(e *indexEntry) []byte {
	return b.batch.Data()[e.keyOffset : e.keyOffset+e.keySize]
}

// compareEntries orders by family, key and, the newest first, offset.
func (b *WriteBatchWithIndex) compareEntries(x, y entryRef) int {
	e, f := &b.entries[x], &b.entries[y]
	if e.family != f.family {
		return cmp.Compare(e.family, f.family)
	}
	if c := b.order(e.family).compare(b.keyOf(e), b.keyOf(f)); c != 0 {
		return c
	}
	return cmp.Compare(f.offset, e.offset)
}

// Iterator walks the entries of one family in key order, the newest of a key
// first. The batch may be added to meanwhile; Clear and RollbackToSavePoint leave
// it standing nowhere. Next, Prev and what reads the entry require Valid.
type Iterator struct {
	b           *WriteBatchWithIndex
	id          uint32
	list        *memtable.SkipList[entryRef] // that it is in; another one after Clear
	it          memtable.SkipListIterator[entryRef]
	lower       []byte // nil: none
	upper       []byte
	outOfBounds bool
}

// NewIterator makes an iterator over a family's entries, nil being the default
// family; it needs no closing.
func (b *WriteBatchWithIndex) NewIterator(cf rocksdb.ColumnFamilyHandle) *Iterator {
	it := b.newIterator(familyID(cf))
	return &it
}

// NewIteratorByID is NewIterator for the family of that id.
func (b *WriteBatchWithIndex) NewIteratorByID(id uint32) *Iterator {
	it := b.newIterator(id)
	return &it
}

func (b *WriteBatchWithIndex) newIterator(id uint32) Iterator {
	return Iterator{b: b, id: id, list: b.list, it: b.list.NewIterator()}
}

func familyID(cf rocksdb.ColumnFamilyHandle) uint32 {
	if cf == nil {
		return 0
	}
	return cf.GetID()
}

// SetBounds limits the iterator to the keys in [lower, upper) from the next seek
// on; nil is no bound. The slices are copied.
func (i *Iterator) SetBounds(lower, upper []byte) {
	i.lower, i.upper = bytes.Clone(lower), bytes.Clone(upper)
}

// Valid tells whether the iterator stands on an entry.
func (i *Iterator) Valid() bool { return !i.outOfBounds && i.inFamily() }

// inFamily is Valid whatever the bounds.
func (i *Iterator) inFamily() bool {
	return i.list == i.b.list && i.it.Valid() && i.raw().family == i.id
}

func (i *Iterator) raw() *indexEntry { return &i.b.entries[i.it.Key()] }

func (i *Iterator) key() []byte { return i.b.keyOf(i.raw()) }

// Status is nil: there is nothing to go wrong.
func (i *Iterator) Status() error { return nil }

// Entry gives the entry; the slices are valid until the batch is cleared or
// rolled back.
func (i *Iterator) Entry() WriteEntry {
	var rec writebatch.Record
	e := i.raw()
	if _, err := writebatch.ReadRecord(i.b.batch.Data()[e.offset:], &rec); err != nil {
		return WriteEntry{Type: UnknownRecord}
	}
	t, _ := writeTypeOf(rec.Tag)
	return WriteEntry{Type: t, Key: rec.Key[:e.keySize], Value: rec.Value}
}

// HasOverWrittenSingleDel tells, with Options.OverwriteKey, whether a single
// deletion of the key was overwritten.
func (i *Iterator) HasOverWrittenSingleDel() bool { return i.raw().hasOverwrittenSingleDel }

// GetUpdateCount is, with Options.OverwriteKey, how often the key was updated up
// to this entry.
func (i *Iterator) GetUpdateCount() uint32 { return i.raw().updateCount }

// rewind makes the iterator one of the present index.
func (i *Iterator) rewind() {
	if i.list != i.b.list {
		i.list = i.b.list
		i.it.SetList(i.list)
	}
}

// seekKey goes to the first entry at or after key or, with past, after all of
// key's.
func (i *Iterator) seekKey(key []byte, past bool) {
	i.rewind()
	b, order := i.b, i.b.order(i.id)
	i.it.SeekFunc(func(r entryRef) bool {
		e := &b.entries[r]
		if e.family != i.id {
			return e.family < i.id
		}
		c := order.compare(b.keyOf(e), key)
		return c < 0 || past && c == 0
	})
}

// seekFamily goes to the first entry of a family, or past them all.
func (i *Iterator) seekFamily(past bool) {
	i.rewind()
	b := i.b
	i.it.SeekFunc(func(r entryRef) bool {
		f := b.entries[r].family
		return f < i.id || past && f == i.id
	})
}

// stepBack goes back by one, from the end to the last entry.
func (i *Iterator) stepBack() {
	if i.it.Valid() {
		i.it.Prev()
	} else {
		i.it.SeekToLast()
	}
}

// SeekToFirst goes to the first entry.
func (i *Iterator) SeekToFirst() {
	if i.lower != nil {
		i.seekKey(i.lower, false)
	} else {
		i.seekFamily(false)
	}
	i.checkBounds()
}

// SeekToLast goes to the last entry.
func (i *Iterator) SeekToLast() {
	if i.upper != nil {
		i.seekKey(i.upper, false)
	} else {
		i.seekFamily(true)
	}
	i.stepBack()
	i.checkBounds()
}

// Seek goes to the first entry, the newest of its key, at or after target.
func (i *Iterator) Seek(target []byte) {
	if i.beforeLower(target) {
		i.SeekToFirst()
		return
	}
	i.seekKey(target, false)
	i.checkBounds()
}

// SeekForPrev goes to the last entry, the oldest of its key, at or before
// target.
func (i *Iterator) SeekForPrev(target []byte) {
	if i.notBeforeUpper(target) {
		i.SeekToLast()
		return
	}
	i.seekKey(target, true)
	i.stepBack()
	i.checkBounds()
}

// Next moves to the next entry.
func (i *Iterator) Next() {
	i.it.Next()
	i.checkBounds()
}

// Prev moves to the entry before.
func (i *Iterator) Prev() {
	i.it.Prev()
	i.checkBounds()
}

func (i *Iterator) checkBounds() {
	i.outOfBounds = (i.lower != nil || i.upper != nil) && i.inFamily() && (i.notBeforeUpper(i.key()) || i.beforeLower(i.key()))
}

func (i *Iterator) beforeLower(key []byte) bool {
	return i.lower != nil && i.b.order(i.id).compare(key, i.lower) < 0
}

func (i *Iterator) notBeforeUpper(key []byte) bool {
	return i.upper != nil && i.b.order(i.id).compare(key, i.upper) >= 0
}

func (i *Iterator) matchesKey(key []byte) bool {
	return i.Valid() && i.b.order(i.id).compare(i.key(), key) == 0
}

// advanceKey moves to an entry of another key.
func (i *Iterator) advanceKey(forward bool) {
	if !i.Valid() {
		return
	}
	for key := i.key(); i.matchesKey(key); {
		if forward {
			i.Next()
		} else {
			i.Prev()
		}
	}
}

// NextKey moves to the first entry of the next key.
func (i *Iterator) NextKey() { i.advanceKey(true) }

// PrevKey moves to the first entry of the key before.
func (i *Iterator) PrevKey() {
	if i.advanceKey(false); i.Valid() {
		i.toFirstOfKey()
	}
}

// toFirstOfKey moves to the newest entry of the present key.
func (i *Iterator) toFirstOfKey() {
	if i.advanceKey(false); i.Valid() {
		i.Next()
	} else {
		i.SeekToFirst()
	}
}

// Result is what a batch says of a key.
type Result uint8

// The results: a value, a deletion, nothing, merge operands without what they are
// merged into, a record of an unexpected kind.
const (
	Found Result = iota
	Deleted
	NotFound
	MergeInProgress
	Failed
)

// FindLatestUpdate looks at the entries of the key that the iterator stands on,
// collects its newest merge operands in operands, and moves to the update below
// them, or to the oldest merge when there is none.
func (i *Iterator) FindLatestUpdate(operands *dbformat.MergeContext) Result {
	operands.Clear()
	if !i.Valid() {
		return NotFound
	}
	// It may stand on an older entry after SeekToLast or SeekForPrev.
	key := i.key()
	i.toFirstOfKey()
	result := NotFound
	for ; i.matchesKey(key); i.Next() {
		e := i.Entry()
		switch e.Type {
		case PutRecord, PutEntityRecord:
			return Found
		case DeleteRecord, SingleDeleteRecord:
			return Deleted
		case MergeRecord:
			result = MergeInProgress
			operands.PushOperand(e.Value, true)
		default:
			return Failed
		}
	}
	if i.Valid() {
		i.Prev()
	} else {
		i.SeekToLast()
	}
	return result
}

// FindLatestUpdateOf is FindLatestUpdate if the iterator stands on key; if not it
// stays where it is.
func (i *Iterator) FindLatestUpdateOf(key []byte, operands *dbformat.MergeContext) Result {
	if !i.matchesKey(key) {
		operands.Clear()
		return NotFound
	}
	return i.FindLatestUpdate(operands)
}

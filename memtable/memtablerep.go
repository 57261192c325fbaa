// Port of include/rocksdb/memtablerep.h. Differs: lookups take internal keys
// without length prefix; the callback with its argument is an EntryVisitor; a
// hint is a *Splice that the caller owns; inserts tell of duplicates in one
// form; concurrent inserts not supported are an error of the options, not of
// the call.

package memtable

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
)

// MemTableRep is a memtable's ordered container of entries. Reads may run
// beside one insert, or beside several if the factory supports concurrent
// inserts.
type MemTableRep interface {
	// Allocate gives room for an entry of size bytes, to be filled in and then
	// inserted. It may run concurrently.
	Allocate(size int) (KeyHandle, []byte)
	// Insert adds an entry. It is false when the factory notices duplicates and
	// the entry is one; so are the other forms.
	Insert(entry KeyHandle) bool
	// InsertWithHint starts the search at the hint, which is then updated.
	InsertWithHint(entry KeyHandle, hint *Splice) bool
	// InsertConcurrently may run beside itself.
	InsertConcurrently(entry KeyHandle) bool
	// InsertWithHintConcurrently is InsertConcurrently with a hint of the
	// caller's own.
	InsertWithHintConcurrently(entry KeyHandle, hint *Splice) bool
	// BatchPostProcess ends a batch of concurrent inserts.
	BatchPostProcess()
	// Contains tells whether an entry with the internal key's user key and
	// sequence number is there.
	Contains(internalKey []byte) bool
	// MarkReadOnly says that no insert follows.
	MarkReadOnly()
	// MarkFlushed says that the contents are in a table file.
	MarkFlushed()
	// Get hands the visitor the entries from the internal key on, as long as it
	// wants more, at least those of the key's user key.
	Get(internalKey []byte, v EntryVisitor)
	// GetAndValidate is Get with checks of what is passed on the way: the order
	// if checkOrder, the entries by validate unless that is nil. allowData lets
	// error texts name keys.
	GetAndValidate(internalKey []byte, v EntryVisitor, allowData, checkOrder bool, validate KeyValidation) error
	// MultiGet is Get for several internal keys in rising order.
	MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error
	// ApproximateNumEntries estimates the entries in [start, end), internal
	// keys; 0 if the container cannot tell.
	ApproximateNumEntries(start, end []byte) uint64
	// UniqueRandomSample gives about targetSampleSize of the numEntries entries
	// at random.
	UniqueRandomSample(numEntries, targetSampleSize uint64) ([]KeyHandle, error)
	// ApproximateMemoryUsage is the memory beside the arena's, in bytes.
	ApproximateMemoryUsage() int
	// NewIterator gives an iterator over all entries.
	NewIterator() Iterator
	// NewDynamicPrefixIterator gives an iterator that need not leave the prefix
	// it was seeked to.
	NewDynamicPrefixIterator() Iterator
	// IsMergeOperatorSupported and IsSnapshotSupported tell what a memtable of
	// this container can do.
	IsMergeOperatorSupported() bool
	IsSnapshotSupported() bool
}

// Iterator walks a container. Key, Next and Prev require Valid. The validating
// forms check what they pass; on an error the iterator is not valid any more.
type Iterator interface {
	Valid() bool
	// Key is the entry.
	Key() KeyHandle
	Next()
	Prev()
	// Seek moves to the first entry at or after the internal key.
	Seek(internalKey []byte)
	// SeekForPrev moves to the last entry at or before the internal key.
	SeekForPrev(internalKey []byte)
	RandomSeek()
	SeekToFirst()
	SeekToLast()
	NextAndValidate(allowData bool) error
	PrevAndValidate(allowData bool) error
	SeekAndValidate(internalKey []byte, allowData, checkOrder bool, validate KeyValidation) error
}

// MemTableRepFactory is a rocksdb.MemTableRepFactory of this engine.
type MemTableRepFactory interface {
	rocksdb.MemTableRepFactory
	// CreateMemTableRep makes an empty container with its memory from arena.
	// transform is the prefix extractor, logger the info log; both may be nil.
	CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
		transform rocksdb.SliceTransform, logger rocksdb.Logger) MemTableRep
}

// FamilyMemTableRepFactory is a MemTableRepFactory that wants to know for which
// column family a container is made; CreateMemTableRep is not called then.
type FamilyMemTableRepFactory interface {
	MemTableRepFactory
	CreateMemTableRepForFamily(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
		transform rocksdb.SliceTransform, logger rocksdb.Logger, columnFamilyID uint32) MemTableRep
}

// Factory gives the engine's side of an option; nil stands for the skip list.
// A factory from elsewhere is an error.
func Factory(f rocksdb.MemTableRepFactory) (MemTableRepFactory, error) {
	if f == nil {
		return NewSkipListFactory(0), nil
	}
	if m, ok := f.(MemTableRepFactory); ok {
		return m, nil
	}
	return nil, rocksdb.InvalidArgument("memtable_factory " + f.Name() + " is not one of package memtable")
}

// RepBase gives the optional methods of MemTableRep; embed it.
type RepBase struct{ arena *memory.ConcurrentArena }

// Allocate takes the entry from the arena.
func (b RepBase) Allocate(size int) (KeyHandle, []byte) {
	buf := b.arena.Allocate(size)
	return KeyHandle(&buf[0]), buf
}

// BatchPostProcess does nothing.
func (RepBase) BatchPostProcess() {}

// MarkReadOnly does nothing.
func (RepBase) MarkReadOnly() {}

// MarkFlushed does nothing.
func (RepBase) MarkFlushed() {}

// GetAndValidate is not supported.
func (RepBase) GetAndValidate([]byte, EntryVisitor, bool, bool, KeyValidation) error {
	return rocksdb.NotSupported("GetAndValidate() not implemented.")
}

// ApproximateNumEntries is 0.
func (RepBase) ApproximateNumEntries(_, _ []byte) uint64 { return 0 }

// UniqueRandomSample is not supported.
func (RepBase) UniqueRandomSample(_, _ uint64) ([]KeyHandle, error) {
	return nil, rocksdb.NotSupported("UniqueRandomSample of this memtable representation")
}

// IsMergeOperatorSupported is true.
func (RepBase) IsMergeOperatorSupported() bool { return true }

// IsSnapshotSupported is true.
func (RepBase) IsSnapshotSupported() bool { return true }

// IteratorBase gives the optional methods of Iterator; embed it.
type IteratorBase struct{}

// RandomSeek does nothing.
func (IteratorBase) RandomSeek() {}

// NextAndValidate is not supported.
func (IteratorBase) NextAndValidate(bool) error {
	return rocksdb.NotSupported("NextAndValidate() not implemented.")
}

// PrevAndValidate is not supported.
func (IteratorBase) PrevAndValidate(bool) error {
	return rocksdb.NotSupported("PrevAndValidate() not implemented.")
}

// SeekAndValidate is not supported.
func (IteratorBase) SeekAndValidate([]byte, bool, bool, KeyValidation) error {
	return rocksdb.NotSupported("SeekAndValidate() not implemented.")
}

// getByIterator is Get for containers without a better way.
func getByIterator(it Iterator, internalKey []byte, i int, v EntryVisitor) {
	for it.Seek(internalKey); it.Valid() && v.VisitEntry(i, it.Key()); it.Next() {
	}
}

// multiGetByIterator is MultiGet for containers without a better way.
func multiGetByIterator(it Iterator, keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	for i, key := range keys {
		if !checkOrder && validate == nil {
			getByIterator(it, key, i, v)
			continue
		}
		err := it.SeekAndValidate(key, allowData, checkOrder, validate)
		for err == nil && it.Valid() && v.VisitEntry(i, it.Key()) {
			err = it.NextAndValidate(allowData)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

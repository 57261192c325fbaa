// Port of memtable/vectorrep.cc and of VectorRepFactory in
// include/rocksdb/memtablerep.h. Differs: concurrent inserts append under the
// lock instead of gathering per thread until the batch ends; SeekForPrev works.

package memtable

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
)

// VectorRep keeps entries in the order they come and sorts them when they are
// first read after the memtable became immutable; an iterator made before sorts
// a copy. For bulk loads.
type VectorRep struct {
	RepBase
	cmp  *dbformat.InternalKeyComparator
	size atomic.Int64
	mu   struct {
		sync.RWMutex
		entries   []KeyHandle
		immutable bool
		sorted    bool
	}
}

// Insert appends an entry.
func (r *VectorRep) Insert(entry KeyHandle) bool {
	r.mu.Lock()
	r.mu.entries = append(r.mu.entries, entry)
	r.mu.Unlock()
	r.size.Add(1)
	return true
}

// InsertWithHint is Insert.
func (r *VectorRep) InsertWithHint(entry KeyHandle, _ *Splice) bool { return r.Insert(entry) }

// InsertConcurrently is Insert.
func (r *VectorRep) InsertConcurrently(entry KeyHandle) bool { return r.Insert(entry) }

// InsertWithHintConcurrently is Insert.
func (r *VectorRep) InsertWithHintConcurrently(entry KeyHandle, _ *Splice) bool {
	return r.Insert(entry)
}

// Contains looks at all entries.
func (r *VectorRep) Contains(internalKey []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.ContainsFunc(r.mu.entries, func(e KeyHandle) bool {
		return r.cmp.CompareKeySeq(EntryKey(e), internalKey) == 0
	})
}

// MarkReadOnly lets later iterators share one sorted vector.
func (r *VectorRep) MarkReadOnly() {
	r.mu.Lock()
	r.mu.immutable = true
	r.mu.Unlock()
}

// ApproximateMemoryUsage is the vector's.
func (r *VectorRep) ApproximateMemoryUsage() int { return int(r.size.Load()) * 8 }

// Get sorts and searches.
func (r *VectorRep) Get(internalKey []byte, v EntryVisitor) {
	getByIterator(r.NewIterator(), internalKey, 0, v)
}

// GetAndValidate is Get; the vector has no order to check. An entry check is
// not supported unless the memtable is empty.
func (r *VectorRep) GetAndValidate([]byte, EntryVisitor, bool, bool, KeyValidation) error {
	if r.size.Load() == 0 {
		return nil
	}
	return rocksdb.NotSupported("GetAndValidate() not implemented.")
}

// MultiGet searches for each key in one sorted vector.
func (r *VectorRep) MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	return multiGetByIterator(r.NewIterator(), keys, v, checkOrder, allowData, validate)
}

// NewIterator copies the vector unless the memtable is immutable.
func (r *VectorRep) NewIterator() Iterator {
	r.mu.RLock()
	defer r.mu.RUnlock()
	it := &vectorIterator{cmp: r.cmp, entries: r.mu.entries, shared: r}
	if !r.mu.immutable {
		it.entries, it.shared = slices.Clone(r.mu.entries), nil
	}
	it.at = len(it.entries)
	return it
}

// NewDynamicPrefixIterator is NewIterator.
func (r *VectorRep) NewDynamicPrefixIterator() Iterator { return r.NewIterator() }

func sortEntries(cmp *dbformat.InternalKeyComparator, entries []KeyHandle) {
	slices.SortFunc(entries, func(a, b KeyHandle) int { return cmp.CompareKeySeq(EntryKey(a), EntryKey(b)) })
}

// vectorIterator sorts on the first seek.
type vectorIterator struct {
	IteratorBase
	cmp     *dbformat.InternalKeyComparator
	entries []KeyHandle
	at      int        // len(entries) when not valid
	shared  *VectorRep // whose own the entries are; nil for a copy
	sorted  bool
}

func (i *vectorIterator) ensureSorted() {
	if i.sorted {
		return
	}
	i.sorted = true
	if i.shared == nil {
		sortEntries(i.cmp, i.entries)
		return
	}
	r := i.shared
	r.mu.Lock()
	if !r.mu.sorted {
		sortEntries(i.cmp, r.mu.entries)
		r.mu.sorted = true
	}
	r.mu.Unlock()
}

func (i *vectorIterator) Valid() bool    { return i.at < len(i.entries) }
func (i *vectorIterator) Key() KeyHandle { return i.entries[i.at] }
func (i *vectorIterator) Next()          { i.at++ }

func (i *vectorIterator) Prev() {
	if i.at--; i.at < 0 {
		i.at = len(i.entries)
	}
}

func (i *vectorIterator) Seek(internalKey []byte) {
	i.ensureSorted()
	i.at = sort.Search(len(i.entries), func(j int) bool {
		return i.cmp.CompareKeySeq(EntryKey(i.entries[j]), internalKey) >= 0
	})
}

// SeekAndValidate is supported where there is nothing to validate: a family
// without memtable writes may ask for it.
func (i *vectorIterator) SeekAndValidate([]byte, bool, bool, KeyValidation) error {
	if len(i.entries) == 0 {
		i.at = 0
		return nil
	}
	return rocksdb.NotSupported("SeekAndValidate() not implemented")
}

func (i *vectorIterator) SeekForPrev(internalKey []byte) {
	i.ensureSorted()
	i.at = sort.Search(len(i.entries), func(j int) bool {
		return i.cmp.CompareKeySeq(EntryKey(i.entries[j]), internalKey) > 0
	})
	i.Prev()
}

func (i *vectorIterator) SeekToFirst() {
	i.ensureSorted()
	i.at = 0
}

func (i *vectorIterator) SeekToLast() {
	i.ensureSorted()
	i.at = max(len(i.entries)-1, 0)
}

// VectorRepFactory makes VectorReps.
type VectorRepFactory struct {
	// Count is the number of entries to make room for at first.
	Count int
}

// NewVectorRepFactory makes the factory.
func NewVectorRepFactory(count int) *VectorRepFactory { return &VectorRepFactory{count} }

// Name is "VectorRepFactory".
func (*VectorRepFactory) Name() string { return "VectorRepFactory" }

// NickName is "vector".
func (*VectorRepFactory) NickName() string { return "vector" }

// ID is the name.
func (f *VectorRepFactory) ID() string { return f.Name() }

// IsInsertConcurrentlySupported is true.
func (*VectorRepFactory) IsInsertConcurrentlySupported() bool { return true }

// CanHandleDuplicatedKey is false.
func (*VectorRepFactory) CanHandleDuplicatedKey() bool { return false }

// CreateMemTableRep makes a *VectorRep.
func (f *VectorRepFactory) CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	_ rocksdb.SliceTransform, _ rocksdb.Logger) MemTableRep {
	r := &VectorRep{RepBase: RepBase{arena}, cmp: cmp}
	if f.Count > 0 {
		r.mu.entries = make([]KeyHandle, 0, f.Count)
	}
	return r
}

// Port of memtable/hash_skiplist_rep.cc. Differs: a key without prefix is its
// own prefix; an iterator over everything sorts a vector; buckets are Go
// objects, counted beside the arena's memory.

package memtable

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
)

type entryList = SkipList[KeyHandle]

func compareEntries(cmp *dbformat.InternalKeyComparator) func(a, b KeyHandle) int {
	return func(a, b KeyHandle) int { return cmp.CompareKeySeq(EntryKey(a), EntryKey(b)) }
}

// prefixOf gives the part of a user key that chooses its bucket.
func prefixOf(t rocksdb.SliceTransform, userKey []byte) []byte {
	if t.InDomain(userKey) {
		return t.Transform(userKey)
	}
	return userKey
}

// seekEntry moves to the first entry at or after the internal key.
func seekEntry(it *SkipListIterator[KeyHandle], cmp *dbformat.InternalKeyComparator, internalKey []byte) {
	it.SeekFunc(func(e KeyHandle) bool { return cmp.CompareKeySeq(EntryKey(e), internalKey) < 0 })
}

// HashSkipListRep hashes prefixes to buckets, each a small skip list. For
// lookups and iterators within one prefix.
type HashSkipListRep struct {
	RepBase
	cmp       *dbformat.InternalKeyComparator
	transform rocksdb.SliceTransform
	opts      HashSkipListRepFactory
	buckets   []atomic.Pointer[entryList]
	used      atomic.Int64 // buckets with a list
}

func (r *HashSkipListRep) bucketOf(internalKey []byte) *atomic.Pointer[entryList] {
	h := util.MurmurHash(prefixOf(r.transform, dbformat.ExtractUserKey(internalKey)), 0)
	return &r.buckets[h%uint64(len(r.buckets))]
}

// Insert adds an entry, which must not be there.
func (r *HashSkipListRep) Insert(entry KeyHandle) bool {
	b := r.bucketOf(EntryKey(entry))
	l := b.Load()
	if l == nil {
		l = NewSkipList(compareEntries(r.cmp), r.arena, r.opts.SkiplistHeight, r.opts.SkiplistBranchingFactor)
		b.Store(l)
		r.used.Add(1)
	}
	l.Insert(entry)
	return true
}

// InsertWithHint is Insert.
func (r *HashSkipListRep) InsertWithHint(entry KeyHandle, _ *Splice) bool { return r.Insert(entry) }

// InsertConcurrently is Insert; the factory refuses concurrent writers.
func (r *HashSkipListRep) InsertConcurrently(entry KeyHandle) bool { return r.Insert(entry) }

// InsertWithHintConcurrently is Insert.
func (r *HashSkipListRep) InsertWithHintConcurrently(entry KeyHandle, _ *Splice) bool {
	return r.Insert(entry)
}

// Contains looks into the key's bucket.
func (r *HashSkipListRep) Contains(internalKey []byte) bool {
	it := bucketIterator{rep: r}
	it.Seek(internalKey)
	return it.Valid() && r.cmp.CompareKeySeq(EntryKey(it.Key()), internalKey) == 0
}

// ApproximateMemoryUsage is the buckets'.
func (r *HashSkipListRep) ApproximateMemoryUsage() int {
	perList := int(unsafe.Sizeof(entryList{})) + 8*r.opts.SkiplistHeight
	return 8*len(r.buckets) + int(r.used.Load())*perList
}

// Get walks the key's bucket.
func (r *HashSkipListRep) Get(internalKey []byte, v EntryVisitor) {
	it := bucketIterator{rep: r}
	for it.Seek(internalKey); it.Valid() && v.VisitEntry(0, it.Key()); it.Next() {
	}
}

// MultiGet walks each key's bucket.
func (r *HashSkipListRep) MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	return multiGetByIterator(r.NewDynamicPrefixIterator(), keys, v, checkOrder, allowData, validate)
}

// NewIterator sorts all entries.
func (r *HashSkipListRep) NewIterator() Iterator {
	var entries []KeyHandle
	for i := range r.buckets {
		if l := r.buckets[i].Load(); l != nil {
			it := l.NewIterator()
			for it.SeekToFirst(); it.Valid(); it.Next() {
				entries = append(entries, it.Key())
			}
		}
	}
	sortEntries(r.cmp, entries)
	return &vectorIterator{cmp: r.cmp, entries: entries, at: len(entries), sorted: true}
}

// NewDynamicPrefixIterator stays in the bucket of the key last sought.
func (r *HashSkipListRep) NewDynamicPrefixIterator() Iterator { return &bucketIterator{rep: r} }

// bucketIterator walks one bucket's list; not valid where an order over all
// buckets would be needed.
type bucketIterator struct {
	IteratorBase
	rep *HashSkipListRep
	it  SkipListIterator[KeyHandle]
}

func (i *bucketIterator) Valid() bool    { return i.it.Valid() }
func (i *bucketIterator) Key() KeyHandle { return i.it.Key() }
func (i *bucketIterator) Next()          { i.it.Next() }
func (i *bucketIterator) Prev()          { i.it.Prev() }
func (i *bucketIterator) SeekToFirst()   { i.it.SetList(nil) }
func (i *bucketIterator) SeekToLast()    { i.it.SetList(nil) }

// setBucket chooses the key's bucket; false if it is empty.
func (i *bucketIterator) setBucket(internalKey []byte) bool {
	l := i.rep.bucketOf(internalKey).Load()
	i.it.SetList(l)
	return l != nil
}

func (i *bucketIterator) Seek(internalKey []byte) {
	if i.setBucket(internalKey) {
		seekEntry(&i.it, i.rep.cmp, internalKey)
	}
}

func (i *bucketIterator) SeekForPrev(internalKey []byte) {
	if !i.setBucket(internalKey) {
		return
	}
	seekEntry(&i.it, i.rep.cmp, internalKey)
	switch {
	case !i.it.Valid():
		i.it.SeekToLast()
	case i.rep.cmp.CompareKeySeq(EntryKey(i.it.Key()), internalKey) > 0:
		i.it.Prev()
	}
}

// HashSkipListRepFactory makes HashSkipListReps; it needs a prefix extractor.
type HashSkipListRepFactory struct {
	BucketCount             int
	SkiplistHeight          int
	SkiplistBranchingFactor int
}

// NewHashSkipListRepFactory makes the factory. Zeros stand for the defaults:
// 1000000 buckets, height 4, branching factor 4.
func NewHashSkipListRepFactory(bucketCount, skiplistHeight, skiplistBranchingFactor int) *HashSkipListRepFactory {
	f := &HashSkipListRepFactory{bucketCount, skiplistHeight, skiplistBranchingFactor}
	if f.BucketCount <= 0 {
		f.BucketCount = 1000000
	}
	if f.SkiplistHeight <= 0 {
		f.SkiplistHeight = 4
	}
	if f.SkiplistBranchingFactor <= 1 {
		f.SkiplistBranchingFactor = 4
	}
	return f
}

// Name is "HashSkipListRepFactory".
func (*HashSkipListRepFactory) Name() string { return "HashSkipListRepFactory" }

// NickName is "prefix_hash".
func (*HashSkipListRepFactory) NickName() string { return "prefix_hash" }

// ID is the name.
func (f *HashSkipListRepFactory) ID() string { return f.Name() }

// IsInsertConcurrentlySupported is false.
func (*HashSkipListRepFactory) IsInsertConcurrentlySupported() bool { return false }

// CanHandleDuplicatedKey is false.
func (*HashSkipListRepFactory) CanHandleDuplicatedKey() bool { return false }

// CreateMemTableRep makes a *HashSkipListRep; a plain skip list if there is no
// prefix extractor.
func (f *HashSkipListRepFactory) CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, _ rocksdb.Logger) MemTableRep {
	if transform == nil {
		return NewSkipListRep(cmp, arena, nil, 0)
	}
	opts := NewHashSkipListRepFactory(f.BucketCount, f.SkiplistHeight, f.SkiplistBranchingFactor)
	return &HashSkipListRep{
		RepBase:   RepBase{arena},
		cmp:       cmp,
		transform: transform,
		opts:      *opts,
		buckets:   make([]atomic.Pointer[entryList], opts.BucketCount),
	}
}

// Port of memtable/hash_linklist_rep.cc. Differs: a key without prefix is its
// own prefix; an iterator over everything sorts a vector; a bucket is a Go
// object from its first entry on, which upstream avoids to save memory; the
// table of buckets is Go memory, so huge_page_tlb_size has no effect.

package memtable

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// linkBucket is a sorted linked list, or a skip list once it has more than the
// threshold of entries. The kind does not change: a bucket that grows too large
// is replaced.
//
// The linked list's nodes are those of an InlineSkipList of height one.
type linkBucket struct {
	head    uintptr // first node; atomic. The arena keeps it
	entries atomic.Uint32
	list    *entryList // nil for a linked list
}

func (b *linkBucket) first() node {
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&b.head)))
}

// HashLinkListRep hashes prefixes to buckets of few entries each. For lookups
// and forward iterators within one prefix, with little memory.
type HashLinkListRep struct {
	RepBase
	cmp       *dbformat.InternalKeyComparator
	transform rocksdb.SliceTransform
	logger    rocksdb.Logger
	opts      HashLinkListRepFactory
	buckets   []atomic.Pointer[linkBucket]
	used      atomic.Int64
}

func (r *HashLinkListRep) bucketOf(internalKey []byte) (*atomic.Pointer[linkBucket], uint64) {
	h := util.GetSliceRangedNPHash(prefixOf(r.transform, dbformat.ExtractUserKey(internalKey)), uint64(len(r.buckets)))
	return &r.buckets[h], h
}

// Allocate gives the place for an entry, its link before it.
func (r *HashLinkListRep) Allocate(size int) (KeyHandle, []byte) {
	e := entryOf(r.arena.AllocatePointer(linkSize + size))
	return e, unsafe.Slice((*byte)(e), size)
}

// Insert adds an entry, which must not be there.
func (r *HashLinkListRep) Insert(entry KeyHandle) bool {
	key := EntryKey(entry)
	slot, hash := r.bucketOf(key)
	b := slot.Load()
	if b == nil {
		b = &linkBucket{}
		initNext(nodeOf(entry), 0, nil)
		b.head = uintptr(nodeOf(entry))
		b.entries.Store(1)
		slot.Store(b)
		r.used.Add(1)
		return true
	}
	n := b.entries.Load()
	if b.list != nil {
		b.list.Insert(entry)
		b.entries.Store(n + 1)
		return true
	}
	if t := r.opts.BucketEntriesLoggingThreshold; t > 0 && n == uint32(t) {
		logging.Info(r.logger, "HashLinkedList bucket %d has more than %d entries. Key to insert: %X", hash, n, key)
	}
	if n == r.opts.ThresholdUseSkiplist {
		c := &linkBucket{list: NewSkipList(compareEntries(r.cmp), r.arena, 0, 0)}
		for x := b.first(); x != nil; x = next(x, 0) {
			c.list.Insert(entryOf(x))
		}
		c.list.Insert(entry)
		c.entries.Store(n + 1)
		slot.Store(c)
		return true
	}
	b.entries.Store(n + 1)
	var prev node
	cur := b.first()
	for cur != nil && r.cmp.CompareKeySeq(EntryKey(entryOf(cur)), key) < 0 {
		prev, cur = cur, next(cur, 0)
	}
	x := nodeOf(entry)
	initNext(x, 0, cur)
	if prev != nil {
		setNext(prev, 0, x)
	} else {
		atomic.StoreUintptr(&b.head, uintptr(x))
	}
	return true
}

// InsertWithHint is Insert.
func (r *HashLinkListRep) InsertWithHint(entry KeyHandle, _ *Splice) bool { return r.Insert(entry) }

// InsertConcurrently is Insert; the factory refuses concurrent writers.
func (r *HashLinkListRep) InsertConcurrently(entry KeyHandle) bool { return r.Insert(entry) }

// InsertWithHintConcurrently is Insert.
func (r *HashLinkListRep) InsertWithHintConcurrently(entry KeyHandle, _ *Splice) bool {
	return r.Insert(entry)
}

// Contains looks into the key's bucket.
func (r *HashLinkListRep) Contains(internalKey []byte) bool {
	it := linkListIterator{rep: r}
	it.Seek(internalKey)
	return it.Valid() && r.cmp.CompareKeySeq(EntryKey(it.Key()), internalKey) == 0
}

// ApproximateMemoryUsage is the buckets'.
func (r *HashLinkListRep) ApproximateMemoryUsage() int {
	return 8*len(r.buckets) + int(r.used.Load())*int(unsafe.Sizeof(linkBucket{}))
}

// Get walks the key's bucket.
func (r *HashLinkListRep) Get(internalKey []byte, v EntryVisitor) {
	it := linkListIterator{rep: r}
	for it.Seek(internalKey); it.Valid() && v.VisitEntry(0, it.Key()); it.Next() {
	}
}

// MultiGet walks each key's bucket.
func (r *HashLinkListRep) MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	return multiGetByIterator(r.NewDynamicPrefixIterator(), keys, v, checkOrder, allowData, validate)
}

// NewIterator sorts all entries, and logs how they spread over the buckets if
// the factory asks for that.
func (r *HashLinkListRep) NewIterator() Iterator {
	var entries []KeyHandle
	var spread monitoring.HistogramImpl
	log := r.opts.IfLogBucketDistWhenFlush && r.logger != nil
	for i := range r.buckets {
		before := len(entries)
		if b := r.buckets[i].Load(); b != nil && b.list != nil {
			it := b.list.NewIterator()
			for it.SeekToFirst(); it.Valid(); it.Next() {
				entries = append(entries, it.Key())
			}
		} else if b != nil {
			for x := b.first(); x != nil; x = next(x, 0) {
				entries = append(entries, entryOf(x))
			}
		}
		if log {
			spread.Add(uint64(len(entries) - before))
		}
	}
	if log {
		logging.Info(r.logger, "hashLinkedList Entry distribution among buckets: %s", spread.ToString())
	}
	sortEntries(r.cmp, entries)
	return &vectorIterator{cmp: r.cmp, entries: entries, at: len(entries), sorted: true}
}

// NewDynamicPrefixIterator stays in the bucket of the key last sought, and only
// goes forward.
func (r *HashLinkListRep) NewDynamicPrefixIterator() Iterator { return &linkListIterator{rep: r} }

// linkListIterator walks a bucket of either kind.
type linkListIterator struct {
	IteratorBase
	rep    *HashLinkListRep
	node   node // of a linked list
	list   SkipListIterator[KeyHandle]
	isList bool
}

func (i *linkListIterator) Valid() bool {
	if i.isList {
		return i.list.Valid()
	}
	return i.node != nil
}

func (i *linkListIterator) Key() KeyHandle {
	if i.isList {
		return i.list.Key()
	}
	return entryOf(i.node)
}

func (i *linkListIterator) Next() {
	if i.isList {
		i.list.Next()
	} else {
		i.node = next(i.node, 0)
	}
}

func (i *linkListIterator) reset() { i.node, i.isList = nil, false }

// Prev, SeekForPrev, SeekToFirst and SeekToLast are not supported: the iterator
// is not valid after them.
func (i *linkListIterator) Prev()              { i.reset() }
func (i *linkListIterator) SeekForPrev([]byte) { i.reset() }
func (i *linkListIterator) SeekToFirst()       { i.reset() }
func (i *linkListIterator) SeekToLast()        { i.reset() }

func (i *linkListIterator) Seek(internalKey []byte) {
	i.reset()
	slot, _ := i.rep.bucketOf(internalKey)
	b := slot.Load()
	if b == nil {
		return
	}
	if b.list != nil {
		i.isList = true
		i.list.SetList(b.list)
		seekEntry(&i.list, i.rep.cmp, internalKey)
		return
	}
	for x := b.first(); x != nil; x = next(x, 0) {
		if i.rep.cmp.CompareKeySeq(EntryKey(entryOf(x)), internalKey) >= 0 {
			i.node = x
			return
		}
	}
}

// HashLinkListRepFactory makes HashLinkListReps; it needs a prefix extractor.
type HashLinkListRepFactory struct {
	BucketCount int
	// HugePageTLBSize is kept for the OPTIONS file only.
	HugePageTLBSize int
	// BucketEntriesLoggingThreshold logs a bucket of that many entries; 0 none.
	BucketEntriesLoggingThreshold int
	IfLogBucketDistWhenFlush      bool
	// ThresholdUseSkiplist is the number of entries up to which a bucket is a
	// linked list; at least 3.
	ThresholdUseSkiplist uint32
}

// NewHashLinkListRepFactory makes the factory with the defaults for all but the
// bucket count, 0 standing for 50000: log at 4096 entries, log the spread,
// threshold 256.
func NewHashLinkListRepFactory(bucketCount int) *HashLinkListRepFactory {
	if bucketCount <= 0 {
		bucketCount = 50000
	}
	return &HashLinkListRepFactory{
		BucketCount:                   bucketCount,
		BucketEntriesLoggingThreshold: 4096,
		IfLogBucketDistWhenFlush:      true,
		ThresholdUseSkiplist:          256,
	}
}

// Name is "HashLinkListRepFactory".
func (*HashLinkListRepFactory) Name() string { return "HashLinkListRepFactory" }

// NickName is "hash_linkedlist".
func (*HashLinkListRepFactory) NickName() string { return "hash_linkedlist" }

// ID is the name.
func (f *HashLinkListRepFactory) ID() string { return f.Name() }

// IsInsertConcurrentlySupported is false.
func (*HashLinkListRepFactory) IsInsertConcurrentlySupported() bool { return false }

// CanHandleDuplicatedKey is false.
func (*HashLinkListRepFactory) CanHandleDuplicatedKey() bool { return false }

// CreateMemTableRep makes a *HashLinkListRep; a plain skip list if there is no
// prefix extractor.
func (f *HashLinkListRepFactory) CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, logger rocksdb.Logger) MemTableRep {
	if transform == nil {
		return NewSkipListRep(cmp, arena, nil, 0)
	}
	opts := *f
	opts.ThresholdUseSkiplist = max(opts.ThresholdUseSkiplist, 3)
	if opts.BucketCount <= 0 {
		opts.BucketCount = 50000
	}
	return &HashLinkListRep{
		RepBase:   RepBase{arena},
		cmp:       cmp,
		transform: transform,
		logger:    logger,
		opts:      opts,
		buckets:   make([]atomic.Pointer[linkBucket], opts.BucketCount),
	}
}

// Port of memtable/inlineskiplist.h. Differs: it holds memtable entries only;
// bytewise order is decided on the first eight bytes of user key where they
// differ, other orders go through the comparator; links are kept as integers,
// so that stores to arena memory have no write barrier. The searches are in
// inlineskiplist_find.go, the iterator in inlineskiplist_iterator.go.

package memtable

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	// MaxPossibleHeight bounds a list's maximum height.
	MaxPossibleHeight = 32
	// DefaultMaxHeight and DefaultBranchingFactor are a memtable's.
	DefaultMaxHeight       = 12
	DefaultBranchingFactor = 4

	linkSize = 8
)

// node is the address of a node's level-0 link. The links of higher levels lie
// before it, the entry after:
//
//	next[height-1] ... next[1] next[0] entry
//	                           ^ node
//
// Until the node is inserted, its height is stashed in next[0].
type node = unsafe.Pointer

func link(n node, level int) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(n, -linkSize*level))
}

// next loads a link such that the node it leads to is seen whole.
func next(n node, level int) node { return atomic.LoadPointer(link(n, level)) }

// setNext publishes x, casNext does so if the link still is old.
func setNext(n node, level int, x node) {
	atomic.StoreUintptr((*uintptr)(unsafe.Pointer(link(n, level))), uintptr(x))
}

func casNext(n node, level int, old, x node) bool {
	return atomic.CompareAndSwapUintptr((*uintptr)(unsafe.Pointer(link(n, level))), uintptr(old), uintptr(x))
}

// initNext sets a link of a node nobody else sees yet.
func initNext(n node, level int, x node) {
	*(*uintptr)(unsafe.Pointer(link(n, level))) = uintptr(x)
}

// entryOf gives a node's entry, nodeOf the reverse.
func entryOf(n node) KeyHandle { return unsafe.Add(n, linkSize) }
func nodeOf(e KeyHandle) node  { return unsafe.Add(e, -linkSize) }

// Splice is a position in the list: for each level below height, nodes before
// and after it, where prev[i+1] <= prev[i] < next[i] <= next[i+1] in order of
// keys. prev[i] and next[i] need not be neighbours (any more). A key between
// them on one level is between them on all levels above.
//
// It is the hint of InsertWithHint; the zero value is a fresh one. A splice is
// used by one goroutine at a time.
type Splice struct {
	height      int
	comparisons uint64 // of keys, so far
	prev        [MaxPossibleHeight + 1]node
	next        [MaxPossibleHeight + 1]node
}

// InlineSkipList is a skip list of entries. Insert and InsertWithHint need
// outside synchronisation among all inserts; the Concurrently forms may run
// beside each other; reads may run beside everything. The arena must outlive
// all use.
type InlineSkipList struct {
	cmp       *dbformat.InternalKeyComparator
	arena     *memory.ConcurrentArena
	head      node
	fastSpan  uint8 // searchKey's
	maxLevels int32
	branching uint32
	levelBits int32 // log2 of branching, 0 if it is no power of two
	// maxHeight is the greatest height of any node; a reader that sees an old
	// one just starts lower.
	maxHeight atomic.Int32
	_         [64]byte
	// seqSplice is where the last Insert went.
	seqSplice Splice
}

// NewInlineSkipList makes an empty list with its memory from arena. Zero for
// maxHeight or branchingFactor means the default.
func NewInlineSkipList(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena, maxHeight, branchingFactor int) *InlineSkipList {
	if maxHeight <= 0 {
		maxHeight = DefaultMaxHeight
	}
	if branchingFactor <= 1 {
		branchingFactor = DefaultBranchingFactor
	}
	l := &InlineSkipList{
		cmp:       cmp,
		arena:     arena,
		maxLevels: int32(min(maxHeight, MaxPossibleHeight)),
		branching: uint32(branchingFactor),
	}
	if l.branching&(l.branching-1) == 0 {
		l.levelBits = int32(bits.TrailingZeros32(l.branching))
	}
	if cmp.IsBytewise() {
		l.fastSpan = bytewiseSpan
	}
	l.head = l.allocateNode(0, int(l.maxLevels))
	for i := range int(l.maxLevels) {
		initNext(l.head, i, nil)
	}
	l.maxHeight.Store(1)
	return l
}

func (l *InlineSkipList) randomHeight() int {
	if l.levelBits > 0 {
		h := bits.TrailingZeros64(rand.Uint64()|1<<63)/int(l.levelBits) + 1
		return min(h, int(l.maxLevels))
	}
	h := 1
	for h < int(l.maxLevels) && rand.Uint32N(l.branching) == 0 {
		h++
	}
	return h
}

func (l *InlineSkipList) allocateNode(entrySize, height int) node {
	n := unsafe.Add(l.arena.AllocatePointer(linkSize*height+entrySize), linkSize*(height-1))
	*(*uint64)(n) = uint64(height)
	return n
}

// AllocateKey gives the place for an entry of size bytes, to be filled in and
// then inserted. It may run concurrently.
func (l *InlineSkipList) AllocateKey(size int) (KeyHandle, []byte) {
	h := l.randomHeight()
	if syncpoint.Enabled {
		syncpoint.ProcessArg("InlineSkipList::RandomHeight::height", &h)
	}
	e := entryOf(l.allocateNode(size, h))
	return e, unsafe.Slice((*byte)(e), size)
}

// Insert adds an entry made by AllocateKey. It is false, and the entry is not
// added, when user key and sequence number are there already; so are the other
// forms. Rising keys cost constant time.
func (l *InlineSkipList) Insert(entry KeyHandle) bool {
	return l.insert(entry, &l.seqSplice, false, false)
}

// InsertWithHint is Insert near the place of the hint's last use: time grows
// with the logarithm of the distance.
func (l *InlineSkipList) InsertWithHint(entry KeyHandle, hint *Splice) bool {
	return l.insert(entry, hint, true, false)
}

// InsertConcurrently is Insert without outside synchronisation.
func (l *InlineSkipList) InsertConcurrently(entry KeyHandle) bool {
	var s Splice
	return l.insert(entry, &s, false, true)
}

// InsertConcurrentlyCounting is InsertConcurrently that adds the number of keys
// compared to to comparisons.
func (l *InlineSkipList) InsertConcurrentlyCounting(entry KeyHandle, comparisons *uint64) bool {
	var s Splice
	ok := l.insert(entry, &s, false, true)
	*comparisons += s.comparisons
	return ok
}

// KeyComparisons is the number of comparisons of keys that Insert has made.
func (l *InlineSkipList) KeyComparisons() uint64 { return l.seqSplice.comparisons }

// InsertWithHintConcurrently is InsertWithHint without outside
// synchronisation; the hint is the caller's alone.
func (l *InlineSkipList) InsertWithHintConcurrently(entry KeyHandle, hint *Splice) bool {
	return l.insert(entry, hint, true, true)
}

// insert links entry's node in. With partialFix only those levels of the
// splice are searched again that do not bracket the key; without it, any miss
// searches all of them, which is quicker for keys in no order.
func (l *InlineSkipList) insert(entry KeyHandle, s *Splice, partialFix, useCAS bool) bool {
	x := nodeOf(entry)
	height := int(*(*uint64)(x))
	var k searchKey
	k.init(l, EntryKey(entry))

	maxHeight := int(l.maxHeight.Load())
	for height > maxHeight {
		if l.maxHeight.CompareAndSwap(int32(maxHeight), int32(height)) {
			maxHeight = height
			break
		}
		maxHeight = int(l.maxHeight.Load())
	}

	recompute := maxHeight
	if s.height < maxHeight {
		// Never used, or the list has grown since.
		s.prev[maxHeight], s.next[maxHeight] = l.head, nil
		s.height = maxHeight
	} else {
		recompute = l.levelsToRecompute(&k, s, maxHeight, partialFix)
	}
	for i := recompute - 1; i >= 0; i-- {
		s.prev[i], s.next[i] = l.findSpliceForLevel(&k, s.prev[i+1], s.next[i+1], i)
	}

	// On level 0 an equal key would be one of the neighbours.
	valid := true
	for i := range height {
		if !useCAS && i >= recompute && next(s.prev[i], i) != s.next[i] {
			s.prev[i], s.next[i] = l.findSpliceForLevel(&k, s.prev[i], nil, i)
		}
		for {
			if i == 0 && !l.isNew(&k, s) {
				s.comparisons += k.comparisons
				return false
			}
			initNext(x, i, s.next[i])
			if !useCAS {
				setNext(s.prev[i], i, x)
				break
			}
			if casNext(s.prev[i], i, s.next[i], x) {
				break
			}
			// Somebody inserted here; few nodes lie between, so look from prev
			// on this level. That narrows it, and may break the order between
			// the splice's levels.
			s.prev[i], s.next[i] = l.findSpliceForLevel(&k, s.prev[i], nil, i)
			if i > 0 {
				valid = false
			}
		}
	}
	s.comparisons += k.comparisons
	if !valid {
		s.height = 0
		return true
	}
	for i := range height {
		s.prev[i] = x
	}
	if invariants.Enabled && !useCAS {
		l.checkSplice(&k, s)
	}
	return true
}

// isNew tells whether neither neighbour on level 0 is equal to the key.
func (l *InlineSkipList) isNew(k *searchKey, s *Splice) bool {
	if s.next[0] != nil {
		k.comparisons++
		if k.compareNode(s.next[0]) <= 0 {
			return false
		}
	}
	if s.prev[0] != l.head {
		k.comparisons++
		return k.compareNode(s.prev[0]) < 0
	}
	return true
}

// levelsToRecompute gives the number of lowest levels of s to search again for
// k: the level found brackets k tightly.
func (l *InlineSkipList) levelsToRecompute(k *searchKey, s *Splice, maxHeight int, partialFix bool) int {
	level := 0
	for level < maxHeight {
		prev, after := s.prev[level], s.next[level]
		switch {
		case next(prev, level) != after:
			// Inserts went past this splice. How many is not known, so move
			// up whatever the mode: that costs no comparison.
			level++
		case prev != l.head && !k.afterCounted(prev):
			if !partialFix {
				return maxHeight
			}
			for level < maxHeight && s.prev[level] == prev {
				level++
			}
		case after != nil && k.afterCounted(after):
			if !partialFix {
				return maxHeight
			}
			for level < maxHeight && s.next[level] == after {
				level++
			}
		default:
			return level
		}
	}
	return level
}

// checkSplice panics when the splice left behind by an insert is out of order.
func (l *InlineSkipList) checkSplice(k *searchKey, s *Splice) {
	for i := range s.height {
		if s.next[i] != nil && k.compareNode(s.next[i]) <= 0 {
			panic("memtable: splice's next is not after the key")
		}
		if s.prev[i] != l.head && k.compareNode(s.prev[i]) > 0 {
			panic("memtable: splice's prev is after the key")
		}
	}
}

// Port of memtable/skiplist.h. Differs: keys are 64-bit words (numbers, or
// addresses of entries); links are kept as integers.

package memtable

import (
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/memory"
)

// SkipListKey is what a SkipList holds: a number or an entry outside the Go
// heap.
type SkipListKey interface{ ~uint64 | unsafe.Pointer }

// SkipList is a skip list whose keys are apart from its nodes. Insert needs
// outside synchronisation; reads may run beside it. The allocator's memory must
// outlive all use.
//
// A node is its key followed by its links, level 0 first.
type SkipList[K SkipListKey] struct {
	cmp       func(a, b K) int
	alloc     memory.Allocator
	head      unsafe.Pointer
	branching uint32
	maxLevels int
	maxHeight atomic.Int32
	// prev is where the last Insert went, with prevHeight its node's height;
	// rising keys are then inserted without a search.
	prev       []unsafe.Pointer
	prevHeight int
}

// NewSkipList makes an empty list. Zero for maxHeight or branchingFactor means
// the default.
func NewSkipList[K SkipListKey](cmp func(a, b K) int, alloc memory.Allocator, maxHeight, branchingFactor int) *SkipList[K] {
	if maxHeight <= 0 {
		maxHeight = DefaultMaxHeight
	}
	if branchingFactor <= 1 {
		branchingFactor = DefaultBranchingFactor
	}
	l := &SkipList[K]{cmp: cmp, alloc: alloc, maxLevels: maxHeight, branching: uint32(branchingFactor), prevHeight: 1}
	var zero K
	l.head = l.newNode(zero, maxHeight)
	l.prev = make([]unsafe.Pointer, maxHeight)
	for i := range l.prev {
		l.prev[i] = l.head
		*l.linkInt(l.head, i) = 0
	}
	l.maxHeight.Store(1)
	return l
}

func (l *SkipList[K]) newNode(key K, height int) unsafe.Pointer {
	b := l.alloc.AllocateAligned(8 + linkSize*height)
	n := unsafe.Pointer(unsafe.SliceData(b))
	// Stored as an integer: no write barrier for memory off the heap.
	*(*uint64)(n) = *(*uint64)(unsafe.Pointer(&key))
	return n
}

func (l *SkipList[K]) linkInt(n unsafe.Pointer, level int) *uintptr {
	return (*uintptr)(unsafe.Add(n, 8+linkSize*level))
}

func (l *SkipList[K]) next(n unsafe.Pointer, level int) unsafe.Pointer {
	return atomic.LoadPointer((*unsafe.Pointer)(unsafe.Add(n, 8+linkSize*level)))
}

func keyOf[K SkipListKey](n unsafe.Pointer) K { return *(*K)(n) }

// keyIsAfterNode tells whether key is after n, which may be nil: infinite.
func (l *SkipList[K]) keyIsAfterNode(key K, n unsafe.Pointer) bool {
	return n != nil && l.cmp(keyOf[K](n), key) < 0
}

func (l *SkipList[K]) randomHeight() int {
	h := 1
	for h < l.maxLevels && rand.Uint32N(l.branching) == 0 {
		h++
	}
	return h
}

// findGreaterOrEqual gives the first node at or after key, nil if none.
func (l *SkipList[K]) findGreaterOrEqual(key K) unsafe.Pointer {
	x := l.head
	var bigger unsafe.Pointer
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		n := l.next(x, level)
		for n != bigger && l.keyIsAfterNode(key, n) {
			x = n
			n = l.next(x, level)
		}
		bigger = n
	}
	return bigger
}

// findFirst gives the first node that before is false of, nil if none. before
// is true of a key exactly if it is of all keys before that.
func (l *SkipList[K]) findFirst(before func(K) bool) unsafe.Pointer {
	x := l.head
	var seen unsafe.Pointer
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		n := l.next(x, level)
		for n != seen && n != nil && before(keyOf[K](n)) {
			x = n
			n = l.next(x, level)
		}
		seen = n
	}
	return seen
}

// findLessThan gives the last node before key, head if none. prev, if not nil,
// gets the last node before key on each level.
func (l *SkipList[K]) findLessThan(key K, prev []unsafe.Pointer) unsafe.Pointer {
	x := l.head
	var notBefore unsafe.Pointer
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		n := l.next(x, level)
		for n != notBefore && l.keyIsAfterNode(key, n) {
			x = n
			n = l.next(x, level)
		}
		if prev != nil {
			prev[level] = x
		}
		notBefore = n
	}
	return x
}

func (l *SkipList[K]) findLast() unsafe.Pointer {
	x := l.head
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		for n := l.next(x, level); n != nil; n = l.next(x, level) {
			x = n
		}
	}
	return x
}

// Insert adds a key that is not in the list.
func (l *SkipList[K]) Insert(key K) {
	p := l.prev[0]
	if !l.keyIsAfterNode(key, l.next(p, 0)) && (p == l.head || l.keyIsAfterNode(key, p)) {
		// Right behind the last insert: prev[0] is its node and stands for all
		// levels of it.
		for i := 1; i < l.prevHeight; i++ {
			l.prev[i] = p
		}
	} else {
		l.findLessThan(key, l.prev)
	}
	height := l.randomHeight()
	if top := int(l.maxHeight.Load()); height > top {
		for i := top; i < height; i++ {
			l.prev[i] = l.head
		}
		// A reader that sees the new height before the node finds nothing on
		// the new levels and goes down.
		l.maxHeight.Store(int32(height))
	}
	x := l.newNode(key, height)
	for i := range height {
		*l.linkInt(x, i) = uintptr(l.next(l.prev[i], i))
		atomic.StoreUintptr(l.linkInt(l.prev[i], i), uintptr(x))
	}
	l.prev[0] = x
	l.prevHeight = height
}

// Contains tells whether an equal key is in the list.
func (l *SkipList[K]) Contains(key K) bool {
	n := l.findGreaterOrEqual(key)
	return n != nil && l.cmp(keyOf[K](n), key) == 0
}

// SkipListIterator walks a list. Key, Next and Prev require Valid. It may be
// copied.
type SkipListIterator[K SkipListKey] struct {
	list *SkipList[K]
	node unsafe.Pointer
}

// NewIterator gives an iterator that is not valid yet.
func (l *SkipList[K]) NewIterator() SkipListIterator[K] { return SkipListIterator[K]{list: l} }

// SetList moves the iterator to another list; it is not valid then.
func (i *SkipListIterator[K]) SetList(l *SkipList[K]) { i.list, i.node = l, nil }

// Valid tells whether the iterator is at a key.
func (i *SkipListIterator[K]) Valid() bool { return i.node != nil }

// Key is the key.
func (i *SkipListIterator[K]) Key() K { return keyOf[K](i.node) }

// Next moves on by one.
func (i *SkipListIterator[K]) Next() { i.node = i.list.next(i.node, 0) }

// Prev moves back by one, by a search.
func (i *SkipListIterator[K]) Prev() {
	i.setUnlessHead(i.list.findLessThan(keyOf[K](i.node), nil))
}

func (i *SkipListIterator[K]) setUnlessHead(n unsafe.Pointer) {
	if n == i.list.head {
		n = nil
	}
	i.node = n
}

// Seek moves to the first key at or after target.
func (i *SkipListIterator[K]) Seek(target K) { i.node = i.list.findGreaterOrEqual(target) }

// SeekFunc moves to the first key that before is false of; see findFirst.
func (i *SkipListIterator[K]) SeekFunc(before func(K) bool) { i.node = i.list.findFirst(before) }

// SeekForPrev moves to the last key at or before target.
func (i *SkipListIterator[K]) SeekForPrev(target K) {
	x := i.list.findLessThan(target, nil)
	if n := i.list.next(x, 0); n != nil && i.list.cmp(keyOf[K](n), target) == 0 {
		x = n
	}
	i.setUnlessHead(x)
}

// SeekToFirst moves to the first key.
func (i *SkipListIterator[K]) SeekToFirst() { i.node = i.list.next(i.list.head, 0) }

// SeekToLast moves to the last key.
func (i *SkipListIterator[K]) SeekToLast() { i.setUnlessHead(i.list.findLast()) }

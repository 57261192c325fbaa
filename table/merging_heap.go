// Port of util/heap.h as used in table/merging_iterator.cc. Differs: concrete,
// and compares the first eight key bytes as an integer where the order is
// bytewise.

package table

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// heapItemType says what a heapItem stands for.
type heapItemType uint8

const (
	itemIterator         heapItemType = iota // a point iterator's key
	itemDeleteRangeStart                     // a tombstone's start
	itemDeleteRangeEnd                       // a tombstone's end
)

// heapItem is an element of a merge's heap: a point iterator, or an end of a
// range tombstone iterator's present tombstone.
type heapItem struct {
	iter      internaliter.IteratorWrapper
	tombstone dbformat.ParsedInternalKey
	prefix    uint64 // the key's first bytes, big-endian, filled up with zeros
	level     int
	typ       heapItemType
}

// setTombstoneKey leaves the type alone: it is TypeMaxValid always, which sorts
// before all entries of the same user key and sequence number.
func (h *heapItem) setTombstoneKey(k dbformat.ParsedInternalKey) {
	h.tombstone.UserKey, h.tombstone.Sequence = k.UserKey, k.Sequence
	h.prefix = keyPrefix(k.UserKey)
}

// keyPrefix never orders two keys otherwise than bytewise order does.
func keyPrefix(userKey []byte) uint64 {
	if len(userKey) >= 8 {
		return binary.BigEndian.Uint64(userKey)
	}
	var v uint64
	for i, b := range userKey {
		v |= uint64(b) << uint(56-8*i)
	}
	return v
}

// mergerHeap is a binary heap of items: the least key on top, or with max the
// greatest.
type mergerHeap struct {
	icmp     *dbformat.InternalKeyComparator
	bytewise bool
	max      bool
	items    []*heapItem
	// rootChild is the child of the root known to be the next in order, 0
	// when that is not known. While one iterator yields many keys in a row,
	// it spares one of two comparisons.
	rootChild int
	compared  uint64 // keys, since it was last counted
}

func (h *mergerHeap) init(icmp *dbformat.InternalKeyComparator, max bool) {
	h.icmp, h.bytewise, h.max = icmp, icmp.IsBytewise(), max
}

// compareItems orders by internal key.
func compareItems(icmp *dbformat.InternalKeyComparator, bytewise bool, a, b *heapItem) int {
	if bytewise && a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	if a.typ == itemIterator {
		if b.typ == itemIterator {
			return icmp.Compare(a.iter.Key(), b.iter.Key())
		}
		return icmp.CompareToParsed(a.iter.Key(), &b.tombstone)
	}
	if b.typ == itemIterator {
		return -icmp.CompareToParsed(b.iter.Key(), &a.tombstone)
	}
	return icmp.CompareParsed(&a.tombstone, &b.tombstone)
}

// before tells whether a belongs above b.
func (h *mergerHeap) before(a, b *heapItem) bool {
	h.compared++
	c := compareItems(h.icmp, h.bytewise, a, b)
	if h.max {
		return c > 0
	}
	return c < 0
}

func (h *mergerHeap) empty() bool    { return len(h.items) == 0 }
func (h *mergerHeap) top() *heapItem { return h.items[0] }

func (h *mergerHeap) clear() {
	h.items = h.items[:0]
	h.rootChild = 0
}

// recycled is an empty heap with the memory of h.
func (h *mergerHeap) recycled() mergerHeap {
	clear(h.items[:cap(h.items)])
	return mergerHeap{items: h.items[:0]}
}

func (h *mergerHeap) push(it *heapItem) {
	h.items = append(h.items, it)
	h.rootChild = 0
	i := len(h.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(it, h.items[parent]) {
			break
		}
		h.items[i] = h.items[parent]
		i = parent
	}
	h.items[i] = it
}

func (h *mergerHeap) pop() {
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	h.rootChild = 0
	if last > 1 {
		h.down()
	}
}

// replaceTop puts it, perhaps the top itself with a new key, in the top's
// place.
func (h *mergerHeap) replaceTop(it *heapItem) {
	h.items[0] = it
	h.down()
}

func (h *mergerHeap) down() {
	it := h.items[0]
	i, child := 0, h.rootChild
	if child == 0 {
		child = h.firstChild(0)
	}
	if child == 0 || !h.before(h.items[child], it) {
		h.rootChild = child
		return
	}
	h.rootChild = 0
	for {
		h.items[i] = h.items[child]
		i = child
		child = h.firstChild(i)
		if child == 0 || !h.before(h.items[child], it) {
			break
		}
	}
	h.items[i] = it
}

// firstChild gives the child of i that comes first, 0 when i has none.
func (h *mergerHeap) firstChild(i int) int {
	child := 2*i + 1
	if child >= len(h.items) {
		return 0
	}
	if r := child + 1; r < len(h.items) && h.before(h.items[r], h.items[child]) {
		return r
	}
	return child
}

// levelSet is a set of small numbers.
type levelSet struct {
	words []uint64
	n     int
}

// grow empties the set and makes room for numbers below n.
func (s *levelSet) grow(n int) {
	words := (n + 63) / 64
	s.words = slices.Grow(s.words[:0], words)[:words]
	s.clear()
}

func (s *levelSet) contains(i int) bool { return s.words[i>>6]>>uint(i&63)&1 != 0 }

func (s *levelSet) insert(i int) {
	if !s.contains(i) {
		s.words[i>>6] |= 1 << uint(i&63)
		s.n++
	}
}

func (s *levelSet) erase(i int) {
	if s.contains(i) {
		s.words[i>>6] &^= 1 << uint(i&63)
		s.n--
	}
}

func (s *levelSet) clear() {
	clear(s.words)
	s.n = 0
}

func (s *levelSet) eraseFrom(first int) {
	for i := first; s.n > 0 && i < len(s.words)*64; i++ {
		s.erase(i)
	}
}

// least gives the smallest member; there has to be one.
func (s *levelSet) least() int {
	for w, word := range s.words {
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

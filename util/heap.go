// Port of util/heap.h. Differs: the comparison is a function value; merging
// iterators, for which a call per comparison is too much, have their own.

package util

// BinaryHeap keeps the greatest of its elements at the top, by a less-than
// function. ReplaceTop takes one or two comparisons when the new element is
// again the greatest, which merging sorted runs relies on: the greater child of
// the root is remembered until the tree below the root changes.
type BinaryHeap[T any] struct {
	less      func(a, b T) bool
	data      []T
	rootChild int // index of the root's greater child; 0 when not known
}

// NewBinaryHeap makes an empty heap.
func NewBinaryHeap[T any](less func(a, b T) bool) *BinaryHeap[T] {
	return &BinaryHeap[T]{less: less}
}

// Push adds v.
func (h *BinaryHeap[T]) Push(v T) {
	h.data = append(h.data, v)
	h.upheap(len(h.data) - 1)
}

// Top is the greatest element; the heap must not be empty.
func (h *BinaryHeap[T]) Top() T { return h.data[0] }

// ReplaceTop puts v in place of the greatest element; the heap must not be
// empty.
func (h *BinaryHeap[T]) ReplaceTop(v T) {
	h.data[0] = v
	h.downheap()
}

// Pop removes the greatest element; the heap must not be empty.
func (h *BinaryHeap[T]) Pop() {
	last := len(h.data) - 1
	h.data[0] = h.data[last]
	var zero T
	h.data[last] = zero // keep nothing alive
	h.data = h.data[:last]
	if h.rootChild >= last {
		h.rootChild = 0
	}
	if last > 0 {
		h.downheap()
	}
}

// Clear removes all elements and keeps the memory.
func (h *BinaryHeap[T]) Clear() {
	clear(h.data)
	h.data = h.data[:0]
	h.rootChild = 0
}

// Empty tells whether there are no elements.
func (h *BinaryHeap[T]) Empty() bool { return len(h.data) == 0 }

// Size is the number of elements.
func (h *BinaryHeap[T]) Size() int { return len(h.data) }

// ResetRootCmpCache forgets which child of the root is the greater: for callers
// whose elements change their order in place.
func (h *BinaryHeap[T]) ResetRootCmpCache() { h.rootChild = 0 }

func (h *BinaryHeap[T]) upheap(i int) {
	v := h.data[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.data[parent], v) {
			break
		}
		h.data[i] = h.data[parent]
		i = parent
	}
	h.data[i] = v
	h.rootChild = 0
}

// downheap moves the root to its place.
func (h *BinaryHeap[T]) downheap() {
	v, i, picked := h.data[0], 0, 0
	for {
		left := 2*i + 1
		if left >= len(h.data) {
			break
		}
		picked = left
		if i == 0 && h.rootChild != 0 {
			picked = h.rootChild
		} else if right := left + 1; right < len(h.data) && h.less(h.data[left], h.data[right]) {
			picked = right
		}
		if !h.less(v, h.data[picked]) {
			break
		}
		h.data[i] = h.data[picked]
		i = picked
	}
	h.data[i] = v
	if i == 0 {
		h.rootChild = picked // nothing moved, so it stays the greater one
	} else {
		h.rootChild = 0
	}
}

// Port of util/vector_iterator.h. Differs: sits here because its iterator
// contract does.

package internaliter

import (
	"bytes"
	"sort"
)

// VectorIterator walks keys and values in memory.
type VectorIterator struct {
	Base
	keys, values [][]byte
	compare      func(a, b []byte) int
	current      int
}

// NewVectorIterator keeps keys and values. With a compare they are walked in
// its order, whatever the order given (equal keys as given); with nil they must
// come in bytewise order.
func NewVectorIterator(keys, values [][]byte, compare func(a, b []byte) int) *VectorIterator {
	v := &VectorIterator{keys: keys, values: values, compare: compare, current: len(keys)}
	if compare == nil {
		v.compare = bytes.Compare
		return v
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return compare(keys[order[i]], keys[order[j]]) < 0 })
	v.keys, v.values = make([][]byte, len(keys)), make([][]byte, len(keys))
	for i, o := range order {
		v.keys[i], v.values[i] = keys[o], values[o]
	}
	return v
}

// Valid tells whether the iterator stands on an entry.
func (v *VectorIterator) Valid() bool { return v.current >= 0 && v.current < len(v.keys) }

// SeekToFirst goes to the first entry.
func (v *VectorIterator) SeekToFirst() { v.current = 0 }

// SeekToLast goes to the last entry.
func (v *VectorIterator) SeekToLast() { v.current = len(v.keys) - 1 }

// Seek goes to the first entry at or after target.
func (v *VectorIterator) Seek(target []byte) {
	v.current = sort.Search(len(v.keys), func(i int) bool { return v.compare(v.keys[i], target) >= 0 })
}

// SeekForPrev goes to the last entry at or before target.
func (v *VectorIterator) SeekForPrev(target []byte) {
	v.current = sort.Search(len(v.keys), func(i int) bool { return v.compare(v.keys[i], target) > 0 }) - 1
}

// Next moves forward.
func (v *VectorIterator) Next() { v.current++ }

// NextAndGetResult moves forward.
func (v *VectorIterator) NextAndGetResult(res *IterateResult) bool { return NextAndGetResult(v, res) }

// Prev moves backward.
func (v *VectorIterator) Prev() { v.current-- }

// Key is the entry's key.
func (v *VectorIterator) Key() []byte { return v.keys[v.current] }

// UserKey is Key without its last eight bytes.
func (v *VectorIterator) UserKey() []byte { return ExtractUserKey(v.keys[v.current]) }

// Value is the entry's value.
func (v *VectorIterator) Value() []byte { return v.values[v.current] }

// Status is always nil.
func (v *VectorIterator) Status() error { return nil }

// IsKeyPinned is true.
func (v *VectorIterator) IsKeyPinned() bool { return true }

// IsValuePinned is true.
func (v *VectorIterator) IsValuePinned() bool { return true }

// Port of util/{kv_map,set_comparator}.h. Differs: a sorted slice of keys beside
// a map, since Go has no ordered map; for tests and small sets.

package util

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// KVMap is a map in a comparator's order. Not safe for concurrent use.
type KVMap struct {
	cmp    rocksdb.Comparator
	keys   []string
	values map[string]string
}

// NewKVMap makes an empty map; nil orders by bytes. Keys that the comparator
// finds equal must be equal bytes.
func NewKVMap(cmp rocksdb.Comparator) *KVMap {
	if cmp == nil {
		cmp = BytewiseComparator()
	}
	return &KVMap{cmp: cmp, values: make(map[string]string)}
}

func (m *KVMap) find(key string) (int, bool) {
	return slices.BinarySearchFunc(m.keys, key, func(a, b string) int { return m.cmp.Compare([]byte(a), []byte(b)) })
}

// Set adds or replaces.
func (m *KVMap) Set(key, value string) {
	if i, ok := m.find(key); !ok {
		m.keys = slices.Insert(m.keys, i, key)
	}
	m.values[key] = value
}

// Delete removes key if it is there.
func (m *KVMap) Delete(key string) {
	if i, ok := m.find(key); ok {
		m.keys = slices.Delete(m.keys, i, i+1)
		delete(m.values, key)
	}
}

// Get gives key's value.
func (m *KVMap) Get(key string) (string, bool) {
	v, ok := m.values[key]
	return v, ok
}

// Len is the number of keys.
func (m *KVMap) Len() int { return len(m.keys) }

// At gives the i-th key in order and its value.
func (m *KVMap) At(i int) (key, value string) { return m.keys[i], m.values[m.keys[i]] }

// LowerBound is the index of the first key at or after key.
func (m *KVMap) LowerBound(key string) int {
	i, _ := m.find(key)
	return i
}

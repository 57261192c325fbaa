// Port of include/rocksdb/iterator.h, with Go's iteration added.

package rocksdb

import (
	"iter"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
)

// Iterator walks a column family in key order. It is used by one goroutine at a
// time and has to be closed.
type Iterator struct{ *dbimpl.Iterator }

// Err is Status: what ended the iteration, nil at the end of the keys.
func (it *Iterator) Err() error { return it.Status() }

// All gives keys and values from the present position on, or from the first
// key when the iterator stands nowhere. Both are valid for one round.
func (it *Iterator) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if !it.Valid() && it.Status() == nil {
			it.SeekToFirst()
		}
		for ; it.Valid(); it.Next() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
	}
}

// Backward is All in falling order, from the last key when the iterator stands
// nowhere.
func (it *Iterator) Backward() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if !it.Valid() && it.Status() == nil {
			it.SeekToLast()
		}
		for ; it.Valid(); it.Prev() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
	}
}

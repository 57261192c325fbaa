// Port of include/rocksdb/iterator.h, with Go's iteration added.

package rocksdb

import (
	"iter"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
)

// Iterator walks a column family in key order. It is used by one goroutine at a
// time and has to be closed; a closed one is not valid and has an error.
type Iterator struct{ it *dbimpl.Iterator } // nil once closed

var errIteratorClosed = InvalidArgument("the iterator is closed")

// Valid tells whether the iterator stands on an entry.
func (it *Iterator) Valid() bool { return it.it != nil && it.it.Valid() }

// Status is what ended the iteration, nil at the end of the keys.
func (it *Iterator) Status() error {
	if it.it == nil {
		return errIteratorClosed
	}
	return it.it.Status()
}

// Err is Status.
func (it *Iterator) Err() error { return it.Status() }

// SeekToFirst goes to the first key.
func (it *Iterator) SeekToFirst() {
	if it.it != nil {
		it.it.SeekToFirst()
	}
}

// SeekToLast goes to the last key.
func (it *Iterator) SeekToLast() {
	if it.it != nil {
		it.it.SeekToLast()
	}
}

// Seek goes to the first key at or after target.
func (it *Iterator) Seek(target []byte) {
	if it.it != nil {
		it.it.Seek(target)
	}
}

// SeekForPrev goes to the last key at or before target.
func (it *Iterator) SeekForPrev(target []byte) {
	if it.it != nil {
		it.it.SeekForPrev(target)
	}
}

// Next moves to the next key. The iterator must be valid.
func (it *Iterator) Next() { it.it.Next() }

// Prev moves to the key before. The iterator must be valid.
func (it *Iterator) Prev() { it.it.Prev() }

// Key is the user key without timestamp, valid until the iterator moves. With
// ReadOptions.IterStartTS it is the internal key, which tells versions and
// deletions apart. The iterator must be valid.
func (it *Iterator) Key() []byte { return it.it.Key() }

// Value is the present value, of an entity its default column, valid until the
// iterator moves. The iterator must be valid.
func (it *Iterator) Value() []byte { return it.it.Value() }

// Columns gives the present entry's columns in order, of a plain value the
// default one alone; valid until the iterator moves. The iterator must be valid.
func (it *Iterator) Columns() WideColumns { return it.it.Columns() }

// Timestamp is the entry's timestamp. The iterator must be valid.
func (it *Iterator) Timestamp() []byte { return it.it.Timestamp() }

// PrepareValue loads a value that ReadOptions.AllowUnpreparedValue left unread;
// false is an error, which Status has. The iterator must be valid.
func (it *Iterator) PrepareValue() bool { return it.it.PrepareValue() }

// Refresh shows the present state, or a snapshot's; the iterator then stands
// nowhere.
func (it *Iterator) Refresh(snapshot Snapshot) error {
	if it.it == nil {
		return errIteratorClosed
	}
	return it.it.Refresh(snapshot)
}

// SetBounds changes the bounds, for the seeks to come; nil is none. It is for
// iterators that were made without an upper bound: one made with it leaves out
// range tombstones beyond.
func (it *Iterator) SetBounds(lower, upper []byte) {
	if it.it != nil {
		it.it.SetBounds(lower, upper)
	}
}

// Prepare announces the ranges that are to be scanned, in order; each seek
// thereafter begins the next of them, with the bounds set to the range's.
// NewMultiScan does all of that.
func (it *Iterator) Prepare(args *MultiScanArgs) {
	if it.it != nil {
		it.it.Prepare(args)
	}
}

// GetProperty answers iterator properties ("rocksdb.iterator.is-key-pinned",
// "rocksdb.iterator.super-version-number", …).
func (it *Iterator) GetProperty(name string) (string, error) {
	if it.it == nil {
		return "", errIteratorClosed
	}
	return it.it.GetProperty(name)
}

// Close lets go of everything the iterator holds. More than once is allowed.
func (it *Iterator) Close() error {
	if it.it == nil {
		return nil
	}
	err := it.it.Close()
	it.it.Recycle()
	it.it = nil
	return err
}

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

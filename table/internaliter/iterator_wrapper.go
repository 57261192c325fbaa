// Port of table/iterator_wrapper.h.

package internaliter

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// AsyncSeeker is an iterator that can begin a seek without waiting for what it
// has to read, so that the reads of several are under way at once. Upstream has
// Seek itself do that, and the status TryAgain.
type AsyncSeeker interface {
	// AsyncSeekable tells whether SeekAsync may be of use.
	AsyncSeekable() bool
	// SeekAsync is Seek, but where something has to be read it begins that and
	// returns true; Seek with the same target then waits for it. Until then the
	// iterator must not be used otherwise, but may be closed.
	SeekAsync(target []byte) (pending bool)
}

// IteratorWrapper holds an iterator and caches its validity and key. The zero
// value holds none. All moves must go through the wrapper.
type IteratorWrapper struct {
	iter   InternalIterator
	result IterateResult
	valid  bool
}

// Iter gives the iterator, nil when there is none.
func (w *IteratorWrapper) Iter() InternalIterator { return w.iter }

// Set puts it in and returns the iterator held before, which the caller closes.
func (w *IteratorWrapper) Set(it InternalIterator) InternalIterator {
	old := w.iter
	w.iter = it
	if it == nil {
		w.valid = false
	} else {
		w.update()
	}
	return old
}

// Close closes the iterator, where there is one, and drops it.
func (w *IteratorWrapper) Close() error {
	if w.iter == nil {
		return nil
	}
	err := w.iter.Close()
	w.iter, w.valid, w.result = nil, false, IterateResult{}
	return err
}

// Valid is the iterator's, cached.
func (w *IteratorWrapper) Valid() bool { return w.valid }

// Key is the iterator's, cached; only while Valid.
func (w *IteratorWrapper) Key() []byte { return w.result.Key }

// UserKey is Key without its last eight bytes; only while Valid.
func (w *IteratorWrapper) UserKey() []byte { return ExtractUserKey(w.result.Key) }

// Value is the iterator's.
func (w *IteratorWrapper) Value() []byte { return w.iter.Value() }

// WriteUnixTime is the iterator's.
func (w *IteratorWrapper) WriteUnixTime() uint64 { return w.iter.WriteUnixTime() }

// Status is the iterator's; nil when there is none.
func (w *IteratorWrapper) Status() error {
	if w.iter == nil {
		return nil
	}
	return w.iter.Status()
}

// PrepareValue loads the value unless that was done.
func (w *IteratorWrapper) PrepareValue() bool {
	if w.result.ValuePrepared {
		return true
	}
	if w.iter.PrepareValue() {
		w.result.ValuePrepared = true
		w.result.Key = w.iter.Key()
		return true
	}
	w.valid = false
	return false
}

// Next moves forward.
func (w *IteratorWrapper) Next() { w.valid = w.iter.NextAndGetResult(&w.result) }

// NextAndGetResult moves forward and copies what was found.
func (w *IteratorWrapper) NextAndGetResult(res *IterateResult) bool {
	w.valid = w.iter.NextAndGetResult(&w.result)
	*res = w.result
	return w.valid
}

// Prev moves backward.
func (w *IteratorWrapper) Prev() {
	w.iter.Prev()
	w.update()
}

// Seek goes to the first entry at or after key.
func (w *IteratorWrapper) Seek(key []byte) {
	w.iter.Seek(key)
	w.update()
}

// SeekAsync is Seek, but an AsyncSeeker's may be pending: the iterator is then
// not valid until Seek with the same key.
func (w *IteratorWrapper) SeekAsync(key []byte) (pending bool) {
	a, ok := w.iter.(AsyncSeeker)
	if !ok {
		w.Seek(key)
		return false
	}
	if a.SeekAsync(key) {
		w.valid = false
		return true
	}
	w.update()
	return false
}

// SeekForPrev goes to the last entry at or before key.
func (w *IteratorWrapper) SeekForPrev(key []byte) {
	w.iter.SeekForPrev(key)
	w.update()
}

// SeekToFirst goes to the first entry.
func (w *IteratorWrapper) SeekToFirst() {
	w.iter.SeekToFirst()
	w.update()
}

// SeekToLast goes to the last entry.
func (w *IteratorWrapper) SeekToLast() {
	w.iter.SeekToLast()
	w.update()
}

// MayBeOutOfLowerBound is the iterator's.
func (w *IteratorWrapper) MayBeOutOfLowerBound() bool { return w.iter.MayBeOutOfLowerBound() }

// UpperBoundCheckResult is that of the last move.
func (w *IteratorWrapper) UpperBoundCheckResult() IterBoundCheck { return w.result.BoundCheckResult }

// SetPinnedItersMgr passes mgr on.
func (w *IteratorWrapper) SetPinnedItersMgr(mgr *PinnedIteratorsManager) {
	w.iter.SetPinnedItersMgr(mgr)
}

// IsKeyPinned is the iterator's.
func (w *IteratorWrapper) IsKeyPinned() bool { return w.iter.IsKeyPinned() }

// IsValuePinned is the iterator's.
func (w *IteratorWrapper) IsValuePinned() bool { return w.iter.IsValuePinned() }

// IsValuePrepared tells whether PrepareValue was done at this place.
func (w *IteratorWrapper) IsValuePrepared() bool { return w.result.ValuePrepared }

// UpdateReadaheadState hands old's readahead state to the present iterator.
func (w *IteratorWrapper) UpdateReadaheadState(old InternalIterator) {
	if old != nil && w.iter != nil {
		var info ReadaheadFileInfo
		old.GetReadaheadState(&info)
		w.iter.SetReadaheadState(&info)
	}
}

// IsDeleteRangeSentinelKey is the iterator's.
func (w *IteratorWrapper) IsDeleteRangeSentinelKey() bool { return w.iter.IsDeleteRangeSentinelKey() }

// SetRangeDelReadSeqno passes seq on where there is an iterator.
func (w *IteratorWrapper) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) {
	if w.iter != nil {
		w.iter.SetRangeDelReadSeqno(seq)
	}
}

// Prepare passes the ranges on where there is an iterator.
func (w *IteratorWrapper) Prepare(opts any) {
	if w.iter != nil {
		w.iter.Prepare(opts)
	}
}

func (w *IteratorWrapper) update() {
	w.valid = w.iter.Valid()
	if w.valid {
		w.result.Key = w.iter.Key()
		w.result.BoundCheckResult = BoundUnknown
		w.result.ValuePrepared = false
	}
}

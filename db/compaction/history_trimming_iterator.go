// Port of db/history_trimming_iterator.h.

package compaction

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// HistoryTrimmingIterator passes over entries with timestamps newer than one.
type HistoryTrimmingIterator struct {
	internaliter.InternalIterator
	cmp rocksdb.Comparator
	ts  []byte
}

var _ internaliter.InternalIterator = (*HistoryTrimmingIterator)(nil)

// NewHistoryTrimmingIterator shows it's entries up to timestamp ts, which is
// kept.
func NewHistoryTrimmingIterator(it internaliter.InternalIterator, cmp rocksdb.Comparator, ts []byte) *HistoryTrimmingIterator {
	return &HistoryTrimmingIterator{it, cmp, ts}
}

// hidden tells whether the inner iterator is on an entry to pass over.
func (h *HistoryTrimmingIterator) hidden() bool {
	if !h.InternalIterator.Valid() {
		return false
	}
	user := dbformat.ExtractUserKey(h.InternalIterator.Key())
	return h.cmp.CompareTimestamp(dbformat.ExtractTimestampFromUserKey(user, h.cmp.TimestampSize()), h.ts) > 0
}

func (h *HistoryTrimmingIterator) forward() {
	for h.hidden() {
		h.InternalIterator.Next()
	}
}

func (h *HistoryTrimmingIterator) backward() {
	for h.hidden() {
		h.InternalIterator.Prev()
	}
}

// SeekToFirst goes to the first entry that is shown.
func (h *HistoryTrimmingIterator) SeekToFirst() {
	h.InternalIterator.SeekToFirst()
	h.forward()
}

// SeekToLast goes to the last entry that is shown.
func (h *HistoryTrimmingIterator) SeekToLast() {
	h.InternalIterator.SeekToLast()
	h.backward()
}

// Seek goes to the first entry shown at or after target.
func (h *HistoryTrimmingIterator) Seek(target []byte) {
	h.InternalIterator.Seek(target)
	h.forward()
}

// SeekForPrev goes to the last entry shown at or before target.
func (h *HistoryTrimmingIterator) SeekForPrev(target []byte) {
	h.InternalIterator.SeekForPrev(target)
	h.backward()
}

// Next goes to the next entry that is shown.
func (h *HistoryTrimmingIterator) Next() {
	h.InternalIterator.Next()
	h.forward()
}

// NextAndGetResult is Next, with what the entry is.
func (h *HistoryTrimmingIterator) NextAndGetResult(r *internaliter.IterateResult) bool {
	h.Next()
	if !h.Valid() {
		return false
	}
	r.Key = h.Key()
	r.BoundCheckResult = internaliter.BoundUnknown
	r.ValuePrepared = false
	return true
}

// Prev goes to the previous entry that is shown.
func (h *HistoryTrimmingIterator) Prev() {
	h.InternalIterator.Prev()
	h.backward()
}

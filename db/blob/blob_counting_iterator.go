// Port of db/blob/blob_counting_iterator.h. Differs: an entry that cannot be
// counted ends the iteration.

package blob

import (
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// CountingIterator is a compaction's input whose blobs are counted as what flows
// in. Each entry it comes to counts, so that it is walked once, forward.
// Upstream: BlobCountingIterator.
type CountingIterator struct {
	internaliter.InternalIterator
	meter *BlobGarbageMeter
	err   error // of counting
}

var _ internaliter.InternalIterator = (*CountingIterator)(nil)

// NewCountingIterator counts what it comes to, and the entry that it stands on
// already.
func NewCountingIterator(it internaliter.InternalIterator, meter *BlobGarbageMeter) *CountingIterator {
	c := &CountingIterator{InternalIterator: it, meter: meter}
	c.count()
	return c
}

func (c *CountingIterator) count() {
	if !c.InternalIterator.Valid() || c.InternalIterator.IsDeleteRangeSentinelKey() {
		return
	}
	syncpoint.Process("BlobCountingIterator::UpdateAndCountBlobIfNeeded:ProcessInFlow")
	c.err = c.meter.ProcessInFlow(c.Key(), c.Value())
}

// Valid tells whether the iterator stands on an entry.
func (c *CountingIterator) Valid() bool { return c.err == nil && c.InternalIterator.Valid() }

// Status is the iterator's, or the counting's.
func (c *CountingIterator) Status() error {
	if c.err != nil {
		return c.err
	}
	return c.InternalIterator.Status()
}

// SeekToFirst goes to the first entry.
func (c *CountingIterator) SeekToFirst() {
	c.InternalIterator.SeekToFirst()
	c.count()
}

// SeekToLast goes to the last entry.
func (c *CountingIterator) SeekToLast() {
	c.InternalIterator.SeekToLast()
	c.count()
}

// Seek goes to the first entry at or after target.
func (c *CountingIterator) Seek(target []byte) {
	c.InternalIterator.Seek(target)
	c.count()
}

// SeekForPrev goes to the last entry at or before target.
func (c *CountingIterator) SeekForPrev(target []byte) {
	c.InternalIterator.SeekForPrev(target)
	c.count()
}

// Next goes to the next entry.
func (c *CountingIterator) Next() {
	c.InternalIterator.Next()
	c.count()
}

// NextAndGetResult is Next.
func (c *CountingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	ok := c.InternalIterator.NextAndGetResult(res)
	c.count()
	return ok && c.err == nil
}

// Prev goes to the entry before.
func (c *CountingIterator) Prev() {
	c.InternalIterator.Prev()
	c.count()
}

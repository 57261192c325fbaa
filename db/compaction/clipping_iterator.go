// Port of db/compaction/clipping_iterator.h.

package compaction

import "github.com/rocksdb-go/rocksdb/table/internaliter"

// ClippingIterator shows the entries of an iterator from start up to end,
// excluded.
type ClippingIterator struct {
	internaliter.InternalIterator
	start, end []byte // nil is open
	cmp        internaliter.KeyComparator
	valid      bool
}

var _ internaliter.InternalIterator = (*ClippingIterator)(nil)

// NewClippingIterator takes it over as it stands. The bounds are kept.
func NewClippingIterator(it internaliter.InternalIterator, start, end []byte, cmp internaliter.KeyComparator) *ClippingIterator {
	c := &ClippingIterator{InternalIterator: it, start: start, end: end, cmp: cmp}
	c.updateAndEnforceUpperBound()
	c.enforceLowerBound()
	return c
}

// Valid tells whether the iterator stands on an entry within the bounds.
func (c *ClippingIterator) Valid() bool { return c.valid }

// SeekToFirst goes to the first entry within the bounds.
func (c *ClippingIterator) SeekToFirst() {
	if c.start != nil {
		c.InternalIterator.Seek(c.start)
	} else {
		c.InternalIterator.SeekToFirst()
	}
	c.updateAndEnforceUpperBound()
}

// SeekToLast goes to the last entry within the bounds.
func (c *ClippingIterator) SeekToLast() {
	if c.end != nil {
		c.seekBeforeEnd()
	} else {
		c.InternalIterator.SeekToLast()
	}
	c.updateAndEnforceLowerBound()
}

// seekBeforeEnd goes to the last entry below end.
func (c *ClippingIterator) seekBeforeEnd() {
	c.InternalIterator.SeekForPrev(c.end)
	if c.InternalIterator.Valid() && c.cmp.Compare(c.Key(), c.end) == 0 {
		c.InternalIterator.Prev()
	}
}

// Seek goes to the first entry at or after target.
func (c *ClippingIterator) Seek(target []byte) {
	switch {
	case c.start != nil && c.cmp.Compare(target, c.start) < 0:
		c.InternalIterator.Seek(c.start)
	case c.end != nil && c.cmp.Compare(target, c.end) >= 0:
		c.valid = false
		return
	default:
		c.InternalIterator.Seek(target)
	}
	c.updateAndEnforceUpperBound()
}

// SeekForPrev goes to the last entry at or before target.
func (c *ClippingIterator) SeekForPrev(target []byte) {
	switch {
	case c.start != nil && c.cmp.Compare(target, c.start) < 0:
		c.valid = false
		return
	case c.end != nil && c.cmp.Compare(target, c.end) >= 0:
		c.seekBeforeEnd()
	default:
		c.InternalIterator.SeekForPrev(target)
	}
	c.updateAndEnforceLowerBound()
}

// Next moves forward.
func (c *ClippingIterator) Next() {
	c.InternalIterator.Next()
	c.updateAndEnforceUpperBound()
}

// NextAndGetResult moves forward.
func (c *ClippingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	if c.valid = c.InternalIterator.NextAndGetResult(res); !c.valid {
		return false
	}
	if c.end != nil {
		c.enforceUpperBound(res.BoundCheckResult)
		if !c.valid {
			return false
		}
	}
	res.BoundCheckResult = internaliter.Inbound
	return true
}

// Prev moves backward.
func (c *ClippingIterator) Prev() {
	c.InternalIterator.Prev()
	c.updateAndEnforceLowerBound()
}

// PrepareValue loads the value; on an error the iterator is not valid any more.
func (c *ClippingIterator) PrepareValue() bool {
	if c.InternalIterator.PrepareValue() {
		return true
	}
	c.valid = false
	return false
}

// MayBeOutOfLowerBound is false.
func (c *ClippingIterator) MayBeOutOfLowerBound() bool { return false }

// UpperBoundCheckResult is Inbound.
func (c *ClippingIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	return internaliter.Inbound
}

func (c *ClippingIterator) enforceUpperBound(known internaliter.IterBoundCheck) {
	switch known {
	case internaliter.Inbound:
	case internaliter.OutOfBound:
		c.valid = false
	default:
		c.valid = c.cmp.Compare(c.Key(), c.end) < 0
	}
}

func (c *ClippingIterator) updateAndEnforceUpperBound() {
	c.valid = c.InternalIterator.Valid()
	if c.valid && c.end != nil {
		c.enforceUpperBound(c.InternalIterator.UpperBoundCheckResult())
	}
}

func (c *ClippingIterator) enforceLowerBound() {
	if c.valid && c.start != nil && c.InternalIterator.MayBeOutOfLowerBound() && c.cmp.Compare(c.Key(), c.start) < 0 {
		c.valid = false
	}
}

func (c *ClippingIterator) updateAndEnforceLowerBound() {
	c.valid = c.InternalIterator.Valid()
	c.enforceLowerBound()
}

// Port of table/iter_heap.h.

package internaliter

// KeyComparator orders internal keys.
type KeyComparator interface {
	Compare(a, b []byte) int
}

// MaxIteratorComparator puts the greatest key on top of a heap whose top is the
// greatest by Less.
type MaxIteratorComparator struct{ Comparator KeyComparator }

// Less compares the wrappers' keys; both have to be valid.
func (c MaxIteratorComparator) Less(a, b *IteratorWrapper) bool {
	return c.Comparator.Compare(a.Key(), b.Key()) < 0
}

// MinIteratorComparator puts the least key on top of such a heap.
type MinIteratorComparator struct{ Comparator KeyComparator }

// Less compares the wrappers' keys in reverse; both have to be valid.
func (c MinIteratorComparator) Less(a, b *IteratorWrapper) bool {
	return c.Comparator.Compare(a.Key(), b.Key()) > 0
}

// Port of db/pinned_iterators_manager.h. Differs: what is pinned is a Releaser
// or an iterator to close; a block pinned twice holds two references instead of
// being deduplicated by address.

package internaliter

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// PinnedIteratorsManager keeps blocks and iterators that keys and values still
// point into. It belongs to one goroutine. The zero value pins nothing.
type PinnedIteratorsManager struct {
	enabled   bool
	iters     []InternalIterator
	releasers []rocksdb.Releaser
}

// StartPinning lets iterators hand over what they would otherwise let go.
func (m *PinnedIteratorsManager) StartPinning() { m.enabled = true }

// PinningEnabled tells whether StartPinning came after the last
// ReleasePinnedData. It may be called on nil.
func (m *PinnedIteratorsManager) PinningEnabled() bool { return m != nil && m.enabled }

// PinIterator takes it over, to close it later.
func (m *PinnedIteratorsManager) PinIterator(it InternalIterator) {
	if it != nil {
		m.iters = append(m.iters, it)
	}
}

// PinReleaser takes one reference over.
func (m *PinnedIteratorsManager) PinReleaser(r rocksdb.Releaser) {
	if r != nil {
		m.releasers = append(m.releasers, r)
	}
}

// ReleasePinnedData ends pinning and gives all back. The first error of an
// iterator's Close is returned.
func (m *PinnedIteratorsManager) ReleasePinnedData() error {
	m.enabled = false
	var first error
	for i, it := range m.iters {
		if err := it.Close(); err != nil && first == nil {
			first = err
		}
		m.iters[i] = nil
	}
	m.iters = m.iters[:0]
	for i, r := range m.releasers {
		r.Release()
		m.releasers[i] = nil
	}
	m.releasers = m.releasers[:0]
	return first
}

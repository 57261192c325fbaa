// Port of table/compaction_merging_iterator.{h,cc}. Differs: the number of
// running sorted runs is counted through an atomic integer.

package table

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// CompactionChild is one sorted run of a compaction's input.
type CompactionChild struct {
	Point internaliter.InternalIterator
	// Tombstones of the run, nil for none; they hide nothing here.
	Tombstones *rangedel.TruncatedRangeDelIterator
	// SetSlot is as in MergeIteratorBuilder.AddPointAndTombstoneIterator.
	SetSlot func(slot **rangedel.TruncatedRangeDelIterator)
}

// CompactionMergingIterator walks all entries of sorted runs in order, deleted
// ones included, and shows the start of each range tombstone as a key of its
// own (IsDeleteRangeSentinelKey is true, the value empty), so that output files
// can be cut between tombstones. Files' boundaries, which levels show to keep
// the file open until its tombstones have been passed, are skipped.
//
// It goes forward only.
type CompactionMergingIterator struct {
	icmp       *dbformat.InternalKeyComparator
	heap       mergerHeap
	current    *heapItem
	err        error
	children   []heapItem
	starts     []heapItem
	tombstones []*rangedel.TruncatedRangeDelIterator
	startKeys  [][]byte // the encoded keys of starts
	sortedRuns *atomic.Int64
	pinned     *internaliter.PinnedIteratorsManager
}

var _ internaliter.InternalIterator = (*CompactionMergingIterator)(nil)

// NewCompactionMergingIterator takes the children over. sortedRuns, which may
// be nil, is raised by their number until Close.
func NewCompactionMergingIterator(icmp *dbformat.InternalKeyComparator, children []CompactionChild, sortedRuns *atomic.Int64) internaliter.InternalIterator {
	if len(children) == 0 {
		return internaliter.NewEmptyInternalIterator()
	}
	n := len(children)
	m := &CompactionMergingIterator{
		icmp: icmp, children: make([]heapItem, n), starts: make([]heapItem, n),
		tombstones: make([]*rangedel.TruncatedRangeDelIterator, n), startKeys: make([][]byte, n),
		sortedRuns: sortedRuns,
	}
	m.heap.init(icmp, false)
	for i, c := range children {
		m.children[i].level = i
		m.children[i].iter.Set(c.Point)
		m.starts[i].level = i
		m.starts[i].typ = itemDeleteRangeStart
		m.tombstones[i] = c.Tombstones
		if c.SetSlot != nil {
			c.SetSlot(&m.tombstones[i])
		}
	}
	if sortedRuns != nil {
		syncpoint.Process("CompactionMergingIterator::UpdateInternalStats")
		sortedRuns.Add(int64(n))
	}
	return m
}

func (m *CompactionMergingIterator) considerStatus(err error) {
	if err != nil && m.err == nil {
		m.err = err
	}
}

func (m *CompactionMergingIterator) moved(child *heapItem) bool {
	if !child.iter.Valid() {
		m.considerStatus(child.iter.Status())
		return false
	}
	key := child.iter.Key()
	n := len(key) - dbformat.NumInternalBytes
	if n < 0 {
		m.considerStatus(rocksdb.Corruptionf("internal key of %d bytes is too short", len(key)))
		return false
	}
	child.prefix = keyPrefix(key[:n])
	return true
}

func (m *CompactionMergingIterator) add(child *heapItem) {
	if m.moved(child) {
		m.heap.push(child)
	}
}

// setStart fills in the item of level's present tombstone.
func (m *CompactionMergingIterator) setStart(level int) *heapItem {
	item := &m.starts[level]
	k := m.tombstones[level].StartKey()
	b := dbformat.AppendInternalKey(m.startKeys[level][:0], k.UserKey, k.Sequence, k.Type)
	m.startKeys[level] = b
	k.UserKey = dbformat.ExtractUserKey(b) // outlives the file
	item.tombstone = k
	item.prefix = keyPrefix(k.UserKey)
	return item
}

func (m *CompactionMergingIterator) insertTombstone(level int) {
	if t := m.tombstones[level]; t != nil && t.Valid() {
		m.heap.push(m.setStart(level))
	}
}

// Valid tells whether the iterator stands on a key.
func (m *CompactionMergingIterator) Valid() bool { return m.current != nil && m.err == nil }

// Status is the first error of a child since the last seek.
func (m *CompactionMergingIterator) Status() error { return m.err }

// SeekToFirst goes to the first key.
func (m *CompactionMergingIterator) SeekToFirst() {
	m.heap.clear()
	m.err = nil
	for i := range m.children {
		m.children[i].iter.SeekToFirst()
		m.add(&m.children[i])
	}
	for i := range m.tombstones {
		if t := m.tombstones[i]; t != nil {
			t.SeekToFirst()
			m.insertTombstone(i)
		}
	}
	m.findNextVisibleKey()
}

// Seek goes to the first key at or after target.
func (m *CompactionMergingIterator) Seek(target []byte) {
	m.heap.clear()
	m.err = nil
	for i := range m.children {
		m.children[i].iter.Seek(target)
		m.add(&m.children[i])
	}
	pik := parseTarget(target)
	for i := range m.tombstones {
		t := m.tombstones[i]
		if t == nil {
			continue
		}
		for t.Seek(pik.UserKey); t.Valid(); t.Next() {
			if start := t.StartKey(); m.icmp.CompareParsed(&start, &pik) >= 0 {
				break
			}
		}
		m.insertTombstone(i)
	}
	m.findNextVisibleKey()
}

// Next goes to the next key.
func (m *CompactionMergingIterator) Next() {
	top := m.current
	if top.typ == itemIterator {
		top.iter.Next()
		if m.moved(top) {
			m.heap.replaceTop(top)
		} else {
			m.heap.pop()
		}
	} else {
		t := m.tombstones[top.level]
		if t.Next(); t.Valid() {
			m.heap.replaceTop(m.setStart(top.level))
		} else {
			m.heap.pop()
		}
	}
	m.findNextVisibleKey()
}

func (m *CompactionMergingIterator) findNextVisibleKey() {
	m.current = nil
	for !m.heap.empty() {
		top := m.heap.top()
		if top.typ != itemIterator || !top.iter.IsDeleteRangeSentinelKey() {
			m.current = top
			return
		}
		// The file's tombstones have all been passed. Go to the next file.
		top.iter.Next()
		if m.moved(top) {
			m.heap.replaceTop(top)
		} else {
			m.heap.pop()
		}
		m.insertTombstone(top.level)
	}
}

// Key is the present internal key.
func (m *CompactionMergingIterator) Key() []byte {
	if m.current.typ == itemIterator {
		return m.current.iter.Key()
	}
	return m.startKeys[m.current.level]
}

// UserKey is Key without its last eight bytes.
func (m *CompactionMergingIterator) UserKey() []byte { return dbformat.ExtractUserKey(m.Key()) }

// Value is empty for a tombstone's start.
func (m *CompactionMergingIterator) Value() []byte {
	if m.current.typ == itemIterator {
		return m.current.iter.Value()
	}
	return nil
}

// WriteUnixTime is the child's.
func (m *CompactionMergingIterator) WriteUnixTime() uint64 {
	if m.current.typ == itemIterator {
		return m.current.iter.WriteUnixTime()
	}
	return internaliter.UnknownUnixTime
}

// IsDeleteRangeSentinelKey is true for a tombstone's start.
func (m *CompactionMergingIterator) IsDeleteRangeSentinelKey() bool {
	return m.current.typ != itemIterator
}

// MayBeOutOfLowerBound is the child's.
func (m *CompactionMergingIterator) MayBeOutOfLowerBound() bool {
	return m.current.typ != itemIterator || m.current.iter.MayBeOutOfLowerBound()
}

// UpperBoundCheckResult is the child's.
func (m *CompactionMergingIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	if m.current.typ != itemIterator {
		return internaliter.BoundUnknown
	}
	return m.current.iter.UpperBoundCheckResult()
}

// PrepareValue loads a value left unread.
func (m *CompactionMergingIterator) PrepareValue() bool {
	if m.current.typ != itemIterator || m.current.iter.PrepareValue() {
		return true
	}
	m.considerStatus(m.current.iter.Status())
	return false
}

// SetPinnedItersMgr passes mgr on.
func (m *CompactionMergingIterator) SetPinnedItersMgr(mgr *internaliter.PinnedIteratorsManager) {
	m.pinned = mgr
	for i := range m.children {
		m.children[i].iter.SetPinnedItersMgr(mgr)
	}
}

// IsKeyPinned is the child's while pinning is on.
func (m *CompactionMergingIterator) IsKeyPinned() bool {
	return m.pinned.PinningEnabled() && m.current.typ == itemIterator && m.current.iter.IsKeyPinned()
}

// IsValuePinned is the child's while pinning is on.
func (m *CompactionMergingIterator) IsValuePinned() bool {
	return m.pinned.PinningEnabled() && m.current.typ == itemIterator && m.current.iter.IsValuePinned()
}

// NextAndGetResult is Next.
func (m *CompactionMergingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(m, res)
}

func (m *CompactionMergingIterator) onlyForward() {
	m.current = nil
	m.considerStatus(rocksdb.NotSupported("a compaction's merging iterator goes forward only"))
}

// SeekToLast is not supported.
func (m *CompactionMergingIterator) SeekToLast() { m.onlyForward() }

// SeekForPrev is not supported.
func (m *CompactionMergingIterator) SeekForPrev([]byte) { m.onlyForward() }

// Prev is not supported.
func (m *CompactionMergingIterator) Prev() { m.onlyForward() }

// GetProperty is not supported.
func (m *CompactionMergingIterator) GetProperty(name string) (string, error) {
	return "", rocksdb.NotSupported("iterator property", name)
}

// GetReadaheadState has nothing to give.
func (m *CompactionMergingIterator) GetReadaheadState(*internaliter.ReadaheadFileInfo) {}

// SetReadaheadState has nothing to take.
func (m *CompactionMergingIterator) SetReadaheadState(*internaliter.ReadaheadFileInfo) {}

// SetRangeDelReadSeqno does nothing: a compaction sees all.
func (m *CompactionMergingIterator) SetRangeDelReadSeqno(rocksdb.SequenceNumber) {}

// Prepare does nothing.
func (m *CompactionMergingIterator) Prepare(any) {}

// Close closes the children; the first error is returned.
func (m *CompactionMergingIterator) Close() error {
	var first error
	for i := range m.children {
		if err := m.children[i].iter.Close(); err != nil && first == nil {
			first = err
		}
	}
	if m.sortedRuns != nil {
		m.sortedRuns.Add(-int64(len(m.children)))
		m.sortedRuns = nil
	}
	m.heap.clear()
	m.current, m.tombstones = nil, nil
	return first
}

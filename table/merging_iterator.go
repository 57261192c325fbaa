// Port of table/merging_iterator.{h,cc}. Differs: children that may
// seek asynchronously say so (internaliter.AsyncSeeker); the builder hands out slots of tombstone iterators by callbacks.

package table

import (
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MergingIterator walks the entries of several sorted runs in order, without
// those that range tombstones delete. Children are ordered from the newest run
// to the oldest: a tombstone of child j deletes all that it covers in the
// children after j, and in j itself what has a smaller sequence number.
//
// Each child i has a point iterator and, where it has tombstones, an iterator
// over these cut to the file at hand. The heap has the point iterators' keys
// and, of each tombstone iterator, one end of its present tombstone: its start,
// and once the merge has passed that, its end. Then the tombstone is active.
// Going backward, ends and starts change places.
//
// A level's point iterator also shows the boundaries of its files as sentinel
// keys, at which its tombstone iterator is replaced by the next file's; a
// sentinel stays in the heap until the file's tombstones have been passed.
//
// Invariants between the calls of the interface, going forward:
//
//  1. The top of the heap, if any, is a point key, neither sentinel nor end of
//     a tombstone.
//  2. No tombstone deletes it.
//  3. For j <= i, the tombstones of j before the present one end before child
//     i's key: what they delete in i was skipped.
//  4. If j is active, its tombstone starts before the key of each child i >= j.
//
// And always:
//
//   - children: a point iterator is in the heap exactly when it is valid;
//   - rti: a tombstone iterator has one item in the heap when it is valid and
//     does not start at or after the upper bound, none otherwise;
//   - phi: that item has the start of the present tombstone, or its end;
//   - active: the active ones are those with their end in the heap.
//
// When a key of child i is found to be under an active tombstone of j < i, all
// from i on seek to that tombstone's end at once (it covers as much in each of
// them), and whatever tombstones they come to extend the target for those after
// them: a cascading seek.
type MergingIterator struct {
	icmp     *dbformat.InternalKeyComparator
	bytewise bool
	backward bool
	// hasTombstones tells whether tombstones is in use; it then has one
	// element a child, nil for those without.
	hasTombstones bool

	minHeap, maxHeap mergerHeap
	current          *heapItem // the top of the heap of the direction, or nil
	err              error     // the first error of a child since the last seek

	children   []heapItem
	ends       []heapItem // ends[i] is tombstones[i]'s item
	tombstones []*rangedel.TruncatedRangeDelIterator
	active     levelSet
	slots      []tombstoneSlot // of levels, while being built

	upperBound     []byte // user key without timestamp; bounds tombstones alone
	prefixSeekMode bool
	pinned         *internaliter.PinnedIteratorsManager
	perf           *rocksdb.PerfContext
	targetBuf      []byte // target of a seek to a tombstone's end
	searchKey      []byte // target as far as tombstones have extended it
	async          bool   // some child may seek asynchronously
	pending        []pendingSeek
}

// pendingSeek is a child whose seek to target has begun.
type pendingSeek struct {
	child  *heapItem
	target []byte
}

var _ internaliter.InternalIterator = (*MergingIterator)(nil)

// mergingIterators are closed iterators; they keep their memory.
var mergingIterators = sync.Pool{New: func() any { return new(MergingIterator) }}

func newMergingIterator(icmp *dbformat.InternalKeyComparator, prefixSeekMode bool, upperBound []byte) *MergingIterator {
	m := mergingIterators.Get().(*MergingIterator)
	m.icmp, m.bytewise, m.prefixSeekMode, m.upperBound = icmp, icmp.IsBytewise(), prefixSeekMode, upperBound
	m.minHeap.init(icmp, false)
	m.maxHeap.init(icmp, true)
	return m
}

func (m *MergingIterator) addIterator(it internaliter.InternalIterator) {
	m.children = append(m.children, heapItem{level: len(m.children)})
	m.children[len(m.children)-1].iter.Set(it)
	if a, ok := it.(internaliter.AsyncSeeker); ok && a.AsyncSeekable() {
		m.async = true
	}
	if m.pinned != nil {
		it.SetPinnedItersMgr(m.pinned)
	}
	m.current = nil
}

func (m *MergingIterator) finish() {
	m.active.grow(len(m.children))
	m.minHeap.items = slices.Grow(m.minHeap.items[:0], 2*len(m.children))
	if len(m.tombstones) == 0 {
		return
	}
	for len(m.tombstones) < len(m.children) {
		m.tombstones = append(m.tombstones, nil)
	}
	m.hasTombstones = true
	m.ends = slices.Grow(m.ends[:0], len(m.tombstones))[:len(m.tombstones)]
	for i := range m.ends {
		m.ends[i].level = i
		m.ends[i].typ = itemDeleteRangeStart
		m.ends[i].tombstone.Type = dbformat.TypeMaxValid
	}
}

// SetPerfContext makes moves count in perf.
func (m *MergingIterator) SetPerfContext(perf *rocksdb.PerfContext) { m.perf = perf }

// countCompared counts the heaps' comparisons of keys.
func (m *MergingIterator) countCompared() {
	if m.perf.CountEnabled() {
		m.perf.UserKeyComparisonCount += m.minHeap.compared + m.maxHeap.compared
	}
	m.minHeap.compared, m.maxHeap.compared = 0, 0
}

// SetRangeDelReadSeqno hides tombstones newer than seq.
func (m *MergingIterator) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) {
	for i := range m.children {
		m.children[i].iter.SetRangeDelReadSeqno(seq) // levels change files later
	}
	for _, t := range m.tombstones {
		if t != nil {
			t.SetRangeDelReadSeqno(seq)
		}
	}
}

// Valid tells whether the iterator stands on an entry.
func (m *MergingIterator) Valid() bool { return m.current != nil && m.err == nil }

// Status is the first error of a child since the last seek.
func (m *MergingIterator) Status() error { return m.err }

func (m *MergingIterator) considerStatus(err error) {
	if err != nil && m.err == nil {
		m.err = err
	}
}

// moved has to be called after each move of a child's iterator: it tells
// whether the child belongs into the heap.
func (m *MergingIterator) moved(child *heapItem) bool {
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

func (m *MergingIterator) clearHeaps() {
	m.minHeap.clear()
	m.maxHeap.clear()
}

func (m *MergingIterator) addToMinHeap(child *heapItem) {
	if m.moved(child) {
		m.minHeap.push(child)
	}
}

func (m *MergingIterator) addToMaxHeap(child *heapItem) {
	if m.moved(child) {
		m.maxHeap.push(child)
	}
}

func (m *MergingIterator) startsBeyondUpperBound(start *dbformat.ParsedInternalKey) bool {
	return m.upperBound != nil &&
		m.icmp.UserComparator().CompareWithoutTimestamp(start.UserKey, true, m.upperBound, false) >= 0
}

// insertTombstone puts an end of level's present tombstone into the heap of the
// direction, in the top's place when replaceTop is true. The far end, end
// forward and start backward, makes the tombstone active.
func (m *MergingIterator) insertTombstone(level int, start, replaceTop bool) {
	item, t := &m.ends[level], m.tombstones[level]
	h := &m.minHeap
	if m.backward {
		h = &m.maxHeap
	}
	if start {
		key := t.StartKey()
		if !m.backward && m.startsBeyondUpperBound(&key) {
			if replaceTop {
				h.pop()
			}
			return
		}
		item.setTombstoneKey(key)
		item.typ = itemDeleteRangeStart
	} else {
		item.setTombstoneKey(t.EndKey())
		item.typ = itemDeleteRangeEnd
	}
	if start == m.backward {
		m.active.insert(level)
	}
	if replaceTop {
		h.replaceTop(item)
	} else {
		h.push(item)
	}
}

// SeekToFirst goes to the first entry.
func (m *MergingIterator) SeekToFirst() {
	m.clearHeaps()
	m.active.clear()
	m.err = nil
	m.backward = false
	for i := range m.children {
		m.children[i].iter.SeekToFirst()
		m.addToMinHeap(&m.children[i])
	}
	for i, t := range m.tombstones {
		if t != nil {
			if t.SeekToFirst(); t.Valid() {
				m.insertTombstone(i, true, false)
			}
		}
	}
	m.findNextVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// SeekToLast goes to the last entry.
func (m *MergingIterator) SeekToLast() {
	m.clearHeaps()
	m.active.clear()
	m.err = nil
	m.backward = true
	for i := range m.children {
		m.children[i].iter.SeekToLast()
		m.addToMaxHeap(&m.children[i])
	}
	for i, t := range m.tombstones {
		if t != nil {
			if t.SeekToLast(); t.Valid() {
				m.insertTombstone(i, false, false)
			}
		}
	}
	m.findPrevVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// Seek goes to the first entry at or after target.
func (m *MergingIterator) Seek(target []byte) {
	m.err = nil
	m.backward = false
	m.seekImpl(target, 0, false)
	m.findNextVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// SeekForPrev goes to the last entry at or before target.
func (m *MergingIterator) SeekForPrev(target []byte) {
	m.err = nil
	m.backward = true
	m.seekForPrevImpl(target, 0, false)
	m.findPrevVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// Next goes to the next entry.
func (m *MergingIterator) Next() {
	if m.backward {
		m.switchToForward()
	}
	child := m.current
	child.iter.Next()
	if m.moved(child) {
		m.minHeap.replaceTop(child)
	} else {
		m.minHeap.pop()
	}
	m.findNextVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// NextAndGetResult is Next.
func (m *MergingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	m.Next()
	if !m.Valid() {
		return false
	}
	w := &m.current.iter
	res.Key = w.Key()
	res.BoundCheckResult = w.UpperBoundCheckResult()
	res.ValuePrepared = w.IsValuePrepared()
	return true
}

// Prev goes to the entry before.
func (m *MergingIterator) Prev() {
	if !m.backward {
		m.switchToBackward()
		if m.current == nil {
			return
		}
	}
	child := m.current
	child.iter.Prev()
	if m.moved(child) {
		m.maxHeap.replaceTop(child)
	} else {
		m.maxHeap.pop()
	}
	m.findPrevVisibleKey()
	if m.perf != nil {
		m.countCompared()
	}
}

// Key is the entry's internal key.
func (m *MergingIterator) Key() []byte { return m.current.iter.Key() }

// UserKey is Key without its last eight bytes.
func (m *MergingIterator) UserKey() []byte { return m.current.iter.UserKey() }

// Value is the entry's value.
func (m *MergingIterator) Value() []byte { return m.current.iter.Value() }

// WriteUnixTime is the child's.
func (m *MergingIterator) WriteUnixTime() uint64 { return m.current.iter.WriteUnixTime() }

// PrepareValue loads a value left unread.
func (m *MergingIterator) PrepareValue() bool {
	if m.current.iter.PrepareValue() {
		return true
	}
	m.considerStatus(m.current.iter.Status())
	if m.err == nil {
		m.err = rocksdb.Corruption("a value could not be read")
	}
	return false
}

// MayBeOutOfLowerBound is the child's.
func (m *MergingIterator) MayBeOutOfLowerBound() bool { return m.current.iter.MayBeOutOfLowerBound() }

// UpperBoundCheckResult is the child's.
func (m *MergingIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	return m.current.iter.UpperBoundCheckResult()
}

// SetPinnedItersMgr passes mgr on.
func (m *MergingIterator) SetPinnedItersMgr(mgr *internaliter.PinnedIteratorsManager) {
	m.pinned = mgr
	for i := range m.children {
		m.children[i].iter.SetPinnedItersMgr(mgr)
	}
}

// IsKeyPinned is the child's while pinning is on.
func (m *MergingIterator) IsKeyPinned() bool {
	return m.pinned.PinningEnabled() && m.current.iter.IsKeyPinned()
}

// IsValuePinned is the child's while pinning is on.
func (m *MergingIterator) IsValuePinned() bool {
	return m.pinned.PinningEnabled() && m.current.iter.IsValuePinned()
}

// IsDeleteRangeSentinelKey is false: sentinels are skipped.
func (m *MergingIterator) IsDeleteRangeSentinelKey() bool { return false }

// GetProperty is not supported.
func (m *MergingIterator) GetProperty(name string) (string, error) {
	return "", rocksdb.NotSupported("iterator property", name)
}

// GetReadaheadState has nothing to give.
func (m *MergingIterator) GetReadaheadState(*internaliter.ReadaheadFileInfo) {}

// SetReadaheadState has nothing to take.
func (m *MergingIterator) SetReadaheadState(*internaliter.ReadaheadFileInfo) {}

// Prepare passes the ranges on.
func (m *MergingIterator) Prepare(opts any) {
	for i := range m.children {
		m.children[i].iter.Prepare(opts)
	}
}

// Close closes the children; the first error is returned.
func (m *MergingIterator) Close() error {
	var first error
	for i := range m.children {
		if err := m.children[i].iter.Close(); err != nil && first == nil {
			first = err
		}
	}
	m.recycle()
	return first
}

// recycle forgets everything but memory. A closed iterator must not be used any
// more.
func (m *MergingIterator) recycle() {
	clear(m.children)
	clear(m.ends[:cap(m.ends)])
	clear(m.tombstones)
	clear(m.slots)
	m.active.clear()
	*m = MergingIterator{children: m.children[:0], ends: m.ends[:0], tombstones: m.tombstones[:0], active: m.active, slots: m.slots[:0],
		minHeap: m.minHeap.recycled(), maxHeap: m.maxHeap.recycled(), targetBuf: m.targetBuf[:0], searchKey: m.searchKey[:0]}
	if !invariants.Enabled {
		mergingIterators.Put(m)
	}
}

// MergeIteratorBuilder makes a MergingIterator, or gives the only child when
// there is nothing to merge.
type MergeIteratorBuilder struct {
	merge    *MergingIterator // nil once there is something else to give
	first    internaliter.InternalIterator
	useMerge bool
	pruned   bool
}

// LevelTombstones is a level's iterator: it is told where its tombstone
// iterator is kept, and sets that anew when it goes to another file.
type LevelTombstones interface {
	SetRangeDelIterSlot(slot **rangedel.TruncatedRangeDelIterator)
}

type tombstoneSlot struct {
	index int
	level LevelTombstones
}

// NewMergeIteratorBuilder keeps upperBound, a user key without timestamp or nil.
func NewMergeIteratorBuilder(icmp *dbformat.InternalKeyComparator, prefixSeekMode bool, upperBound []byte) *MergeIteratorBuilder {
	return &MergeIteratorBuilder{merge: newMergingIterator(icmp, prefixSeekMode, upperBound)}
}

// SetPerfContext makes the iterator's seeks count in perf.
func (b *MergeIteratorBuilder) SetPerfContext(perf *rocksdb.PerfContext) { b.merge.perf = perf }

// AddIterator adds a child without tombstones, older than those before.
func (b *MergeIteratorBuilder) AddIterator(it internaliter.InternalIterator) {
	if !b.useMerge && b.first != nil {
		b.merge.addIterator(b.first)
		b.useMerge = true
		b.first = nil
	}
	if b.useMerge {
		b.merge.addIterator(it)
	} else {
		b.first = it
	}
}

// AddPointAndTombstoneIterator adds a child with its tombstones, nil for none.
// level, nil but for level iterators, is told of its slot by Finish.
func (b *MergeIteratorBuilder) AddPointAndTombstoneIterator(point internaliter.InternalIterator, tombstone *rangedel.TruncatedRangeDelIterator,
	level LevelTombstones) {
	add := tombstone != nil || len(b.merge.tombstones) > 0 || level != nil
	if !b.useMerge && (add || b.first != nil) {
		b.useMerge = true
		if b.first != nil {
			b.merge.addIterator(b.first)
			b.first = nil
		}
	}
	if !b.useMerge {
		b.first = point
		return
	}
	b.merge.addIterator(point)
	if !add {
		return
	}
	for len(b.merge.tombstones) < len(b.merge.children)-1 {
		b.merge.tombstones = append(b.merge.tombstones, nil)
	}
	b.merge.tombstones = append(b.merge.tombstones, tombstone)
	if level != nil {
		b.merge.slots = append(b.merge.slots, tombstoneSlot{len(b.merge.tombstones) - 1, level})
	}
}

// SetMemtablePruned says that the first child is not the memtable.
func (b *MergeIteratorBuilder) SetMemtablePruned(pruned bool) { b.pruned = pruned }

// Finish gives the iterator, an empty one when there is no child. Where there
// are tombstones and it is not nil, setMemtableSlot is called with the place of
// the memtable's tombstone iterator, the first child's (nil when pruned), for a
// Refresh to set anew.
func (b *MergeIteratorBuilder) Finish(setMemtableSlot func(slot **rangedel.TruncatedRangeDelIterator)) internaliter.InternalIterator {
	syncpoint.ProcessArg("MergeIteratorBuilder::Finish:UseMergingIterator", b.useMerge)
	if !b.useMerge {
		b.merge.recycle()
		b.merge = nil
		if b.first == nil {
			return internaliter.NewEmptyInternalIterator()
		}
		return b.first
	}
	m := b.merge
	m.finish()
	for _, s := range m.slots {
		s.level.SetRangeDelIterSlot(&m.tombstones[s.index])
	}
	if setMemtableSlot != nil && m.hasTombstones {
		if b.pruned {
			setMemtableSlot(nil)
		} else {
			setMemtableSlot(&m.tombstones[0])
		}
	}
	return m
}

// NewMergingIterator merges list, which it takes over: an empty iterator when
// there is none, the only one itself.
func NewMergingIterator(icmp *dbformat.InternalKeyComparator, list []internaliter.InternalIterator, prefixSeekMode bool) internaliter.InternalIterator {
	b := NewMergeIteratorBuilder(icmp, prefixSeekMode, nil)
	for _, it := range list {
		b.AddIterator(it)
	}
	return b.Finish(nil)
}

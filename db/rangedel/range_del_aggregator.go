// Port of db/range_del_aggregator.{h,cc}. Differs: the two traversal
// directions share their heaps' code.

package rangedel

import (
	"slices"
	"sort"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// TruncatedRangeDelIterator is a view of a file's tombstones cut to the file's
// key bounds.
type TruncatedRangeDelIterator struct {
	iter                    *FragmentedRangeTombstoneIterator
	icmp                    *dbformat.InternalKeyComparator
	smallest, largest       dbformat.ParsedInternalKey
	hasSmallest, hasLargest bool
	smallestKey, largestKey []byte // the bounds as given
}

// NewTruncatedRangeDelIterator takes iter over. The bounds are encoded internal
// keys and are kept; nil is no bound.
func NewTruncatedRangeDelIterator(iter *FragmentedRangeTombstoneIterator, icmp *dbformat.InternalKeyComparator, smallest, largest []byte) *TruncatedRangeDelIterator {
	t := &TruncatedRangeDelIterator{iter: iter, icmp: icmp, smallestKey: smallest, largestKey: largest}
	if len(smallest) >= dbformat.NumInternalBytes {
		t.hasSmallest = true
		t.smallest = parseBound(smallest)
		// Before every entry with this sequence number.
		t.smallest.Type = dbformat.TypeMaxValid
	}
	if len(largest) >= dbformat.NumInternalBytes {
		t.hasLargest = true
		t.largest = parseBound(largest)
		switch {
		case t.largest.Type == dbformat.TypeRangeDeletion && t.largest.Sequence == dbformat.MaxSequenceNumber:
			// A tombstone's end extended the file to here: exclusive already.
		case t.largest.Sequence == 0:
			// The next file cannot start with this user key (it would need a
			// smaller sequence number), so no tombstone was cut here.
		default:
			// The user key may go on in the next file. The cut end has to
			// lie right after the largest key to cover it.
			t.largest.Sequence--
			t.largest.Type = dbformat.TypeMaxValid
		}
	}
	return t
}

func parseBound(key []byte) dbformat.ParsedInternalKey {
	seq, typ := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key))
	return dbformat.ParsedInternalKey{UserKey: dbformat.ExtractUserKey(key), Sequence: seq, Type: typ}
}

// SetRangeDelReadSeqno sets the upper bound of sequence numbers.
func (t *TruncatedRangeDelIterator) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) {
	t.iter.SetRangeDelReadSeqno(seq)
}

// SetTimestampUpperBound sets the upper bound of timestamps; nil for none.
func (t *TruncatedRangeDelIterator) SetTimestampUpperBound(ts []byte) {
	t.iter.SetTimestampUpperBound(ts)
}

// Valid tells whether the iterator stands on a fragment that reaches into the
// bounds.
func (t *TruncatedRangeDelIterator) Valid() bool {
	if !t.iter.Valid() {
		return false
	}
	if t.hasSmallest {
		end := t.iter.ParsedEndKey()
		if t.icmp.CompareParsed(&t.smallest, &end) >= 0 {
			return false
		}
	}
	if t.hasLargest {
		start := t.iter.ParsedStartKey()
		if t.icmp.CompareParsed(&start, &t.largest) >= 0 {
			return false
		}
	}
	return true
}

// Next goes to the next fragment in view.
func (t *TruncatedRangeDelIterator) Next() { t.iter.TopNext() }

// Prev goes to the fragment in view before.
func (t *TruncatedRangeDelIterator) Prev() { t.iter.TopPrev() }

// InternalNext goes to the next sequence number.
func (t *TruncatedRangeDelIterator) InternalNext() { t.iter.Next() }

// Seek goes to the fragment that covers target, a user key, or else to the
// first that ends after it.
func (t *TruncatedRangeDelIterator) Seek(target []byte) {
	if t.hasLargest {
		k := dbformat.ParsedInternalKey{UserKey: target, Sequence: dbformat.MaxSequenceNumber, Type: dbformat.TypeRangeDeletion}
		if t.icmp.CompareParsed(&t.largest, &k) <= 0 {
			t.iter.Invalidate()
			return
		}
	}
	if t.hasSmallest && t.icmp.CompareUserKey(target, t.smallest.UserKey) < 0 {
		target = t.smallest.UserKey
	}
	t.iter.Seek(target)
}

// SeekInternalKey goes to the first fragment whose end is after target, an
// internal key.
func (t *TruncatedRangeDelIterator) SeekInternalKey(target []byte) {
	if t.hasLargest && t.icmp.CompareToParsed(target, &t.largest) >= 0 {
		t.iter.Invalidate()
		return
	}
	if t.hasSmallest && t.icmp.CompareToParsed(target, &t.smallest) < 0 {
		// What ends after smallest ends after target too.
		t.iter.Seek(t.smallest.UserKey)
		return
	}
	t.iter.Seek(dbformat.ExtractUserKey(target))
	for t.Valid() {
		end := t.EndKey()
		if t.icmp.CompareToParsed(target, &end) < 0 {
			return
		}
		t.Next()
	}
}

// SeekForPrev goes to the fragment that covers target, a user key, or else to
// the last that starts before it.
func (t *TruncatedRangeDelIterator) SeekForPrev(target []byte) {
	if t.hasSmallest {
		k := dbformat.ParsedInternalKey{UserKey: target, Sequence: 0, Type: dbformat.TypeRangeDeletion}
		if t.icmp.CompareParsed(&k, &t.smallest) < 0 {
			t.iter.Invalidate()
			return
		}
	}
	if t.hasLargest && t.icmp.CompareUserKey(t.largest.UserKey, target) < 0 {
		target = t.largest.UserKey
	}
	t.iter.SeekForPrev(target)
	t.skipBeyondLargest()
}

// skipBeyondLargest goes back over fragments that start at or after the upper
// bound. The engine's own files have none: it cuts fragments at their bounds.
func (t *TruncatedRangeDelIterator) skipBeyondLargest() {
	if !t.hasLargest {
		return
	}
	for t.iter.Valid() {
		start := t.iter.ParsedStartKey()
		if t.icmp.CompareParsed(&start, &t.largest) < 0 {
			return
		}
		t.iter.TopPrev()
	}
}

// SeekToFirst goes to the first fragment within the bounds.
func (t *TruncatedRangeDelIterator) SeekToFirst() {
	if t.hasSmallest {
		t.iter.Seek(t.smallest.UserKey)
		return
	}
	t.iter.SeekToTopFirst()
}

// SeekToLast goes to the last fragment within the bounds.
func (t *TruncatedRangeDelIterator) SeekToLast() {
	if t.hasLargest {
		t.iter.SeekForPrev(t.largest.UserKey)
		t.skipBeyondLargest()
		return
	}
	t.iter.SeekToTopLast()
}

// StartKey is the fragment's start, not before the lower bound.
func (t *TruncatedRangeDelIterator) StartKey() dbformat.ParsedInternalKey {
	k := t.iter.ParsedStartKey()
	if t.hasSmallest && t.icmp.CompareParsed(&t.smallest, &k) > 0 {
		return t.smallest
	}
	return k
}

// EndKey is the fragment's exclusive end, not after the upper bound.
func (t *TruncatedRangeDelIterator) EndKey() dbformat.ParsedInternalKey {
	k := t.iter.ParsedEndKey()
	if t.hasLargest && t.icmp.CompareParsed(&k, &t.largest) > 0 {
		return t.largest
	}
	return k
}

// Seq is the fragment's sequence number.
func (t *TruncatedRangeDelIterator) Seq() rocksdb.SequenceNumber { return t.iter.Seq() }

// Timestamp is its timestamp.
func (t *TruncatedRangeDelIterator) Timestamp() []byte { return t.iter.Timestamp() }

// UpperBound is the greatest sequence number in view.
func (t *TruncatedRangeDelIterator) UpperBound() rocksdb.SequenceNumber { return t.iter.UpperBound() }

// LowerBound is the least sequence number in view.
func (t *TruncatedRangeDelIterator) LowerBound() rocksdb.SequenceNumber { return t.iter.LowerBound() }

// SplitBySnapshot is FragmentedRangeTombstoneIterator's, with the bounds.
func (t *TruncatedRangeDelIterator) SplitBySnapshot(snapshots []rocksdb.SequenceNumber) []*TruncatedRangeDelIterator {
	splits := t.iter.SplitBySnapshot(snapshots)
	out := make([]*TruncatedRangeDelIterator, len(splits))
	for i, s := range splits {
		out[i] = NewTruncatedRangeDelIterator(s, t.icmp, t.smallestKey, t.largestKey)
	}
	return out
}

// truncatedHeap is a binary heap of iterators ordered by an end of their
// present fragments.
type truncatedHeap struct {
	icmp     *dbformat.InternalKeyComparator
	byEnd    bool // by EndKey, else by StartKey
	greatest bool // the greatest on top, else the least
	items    []*TruncatedRangeDelIterator
}

func (h *truncatedHeap) before(a, b *TruncatedRangeDelIterator) bool {
	var ka, kb dbformat.ParsedInternalKey
	if h.byEnd {
		ka, kb = a.EndKey(), b.EndKey()
	} else {
		ka, kb = a.StartKey(), b.StartKey()
	}
	c := h.icmp.CompareParsed(&ka, &kb)
	if h.greatest {
		return c > 0
	}
	return c < 0
}

func (h *truncatedHeap) empty() bool                     { return len(h.items) == 0 }
func (h *truncatedHeap) top() *TruncatedRangeDelIterator { return h.items[0] }
func (h *truncatedHeap) clear()                          { h.items = h.items[:0] }

func (h *truncatedHeap) push(it *TruncatedRangeDelIterator) {
	h.items = append(h.items, it)
	i := len(h.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(h.items[i], h.items[parent]) {
			break
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *truncatedHeap) pop() *TruncatedRangeDelIterator {
	top := h.items[0]
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.down()
	return top
}

// down restores the order after the top changed.
func (h *truncatedHeap) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h.items) {
			return
		}
		if r := child + 1; r < len(h.items) && h.before(h.items[r], h.items[child]) {
			child = r
		}
		if !h.before(h.items[child], h.items[i]) {
			return
		}
		h.items[i], h.items[child] = h.items[child], h.items[i]
		i = child
	}
}

// rangeDelCursor follows the keys of a traversal in one direction. Active
// iterators stand on a fragment that covers the present key, inactive ones on
// the next fragment the traversal will come to; used-up ones are in neither
// heap.
type rangeDelCursor struct {
	icmp        *dbformat.InternalKeyComparator
	forward     bool
	unused      int // iterators of the stripe from here on are not placed yet
	active      truncatedHeap
	activeBySeq []*TruncatedRangeDelIterator // the active ones, newest first
	inactive    truncatedHeap
}

func makeRangeDelCursor(icmp *dbformat.InternalKeyComparator, forward bool) rangeDelCursor {
	return rangeDelCursor{
		icmp:    icmp,
		forward: forward,
		// Forward, the active fragment that ends first leaves first and the
		// inactive one that starts first comes first; backward, mirrored.
		active:   truncatedHeap{icmp: icmp, byEnd: forward, greatest: !forward},
		inactive: truncatedHeap{icmp: icmp, byEnd: !forward, greatest: !forward},
	}
}

func (c *rangeDelCursor) invalidate() {
	c.unused = 0
	c.active.clear()
	c.activeBySeq = c.activeBySeq[:0]
	c.inactive.clear()
}

// passed tells whether the traversal has left it's fragment behind.
func (c *rangeDelCursor) passed(it *TruncatedRangeDelIterator, k *dbformat.ParsedInternalKey) bool {
	if c.forward {
		end := it.EndKey()
		return c.icmp.CompareParsed(&end, k) <= 0
	}
	start := it.StartKey()
	return c.icmp.CompareParsed(k, &start) < 0
}

// reached tells whether the traversal has come to it's fragment.
func (c *rangeDelCursor) reached(it *TruncatedRangeDelIterator, k *dbformat.ParsedInternalKey) bool {
	if c.forward {
		start := it.StartKey()
		return c.icmp.CompareParsed(&start, k) <= 0
	}
	end := it.EndKey()
	return c.icmp.CompareParsed(k, &end) < 0
}

func (c *rangeDelCursor) advance(it *TruncatedRangeDelIterator) {
	if c.forward {
		it.Next()
	} else {
		it.Prev()
	}
}

func (c *rangeDelCursor) addNewIter(it *TruncatedRangeDelIterator, k *dbformat.ParsedInternalKey) {
	if c.forward {
		it.Seek(k.UserKey)
	} else {
		it.SeekForPrev(k.UserKey)
	}
	c.push(it, k)
}

func (c *rangeDelCursor) push(it *TruncatedRangeDelIterator, k *dbformat.ParsedInternalKey) {
	switch {
	case !it.Valid():
	case c.reached(it, k):
		at := sort.Search(len(c.activeBySeq), func(i int) bool { return c.activeBySeq[i].Seq() < it.Seq() })
		c.activeBySeq = slices.Insert(c.activeBySeq, at, it)
		c.active.push(it)
	default:
		c.inactive.push(it)
	}
}

func (c *rangeDelCursor) popActive() *TruncatedRangeDelIterator {
	it := c.active.pop()
	at := slices.Index(c.activeBySeq, it)
	c.activeBySeq = slices.Delete(c.activeBySeq, at, at+1)
	return it
}

func (c *rangeDelCursor) shouldDelete(k *dbformat.ParsedInternalKey) bool {
	for !c.active.empty() && c.passed(c.active.top(), k) {
		it := c.popActive()
		for c.advance(it); it.Valid() && c.passed(it, k); {
			c.advance(it)
		}
		c.push(it, k)
	}
	for !c.inactive.empty() && c.reached(c.inactive.top(), k) {
		it := c.inactive.pop()
		for it.Valid() && c.passed(it, k) {
			c.advance(it)
		}
		c.push(it, k)
	}
	return len(c.activeBySeq) > 0 && c.activeBySeq[0].Seq() > k.Sequence
}

// RangeDelPositioningMode is the direction of a traversal.
type RangeDelPositioningMode uint8

// The directions.
const (
	ForwardTraversal RangeDelPositioningMode = iota
	BackwardTraversal
)

// RangeDelAggregator gathers tombstones of memtables and files. Keys are asked
// in the order of a traversal; a change of direction or a jump backward has to
// be told by InvalidateRangeDelMapPositions.
type RangeDelAggregator interface {
	// AddTombstones takes iter over (nil and empty ones are ignored). The
	// bounds are those of its file, encoded internal keys that must outlive
	// the aggregator; nil is no bound.
	AddTombstones(iter *FragmentedRangeTombstoneIterator, smallest, largest []byte)
	// ShouldDelete tells whether a newer tombstone, of the same snapshot
	// stripe, covers the key.
	ShouldDelete(k *dbformat.ParsedInternalKey, mode RangeDelPositioningMode) bool
	InvalidateRangeDelMapPositions()
	IsEmpty() bool
	// AddFile is false for a file that was added before.
	AddFile(fileNumber uint64) bool
}

type filesSeen struct{ m map[uint64]struct{} }

// AddFile is RangeDelAggregator's.
func (f *filesSeen) AddFile(fileNumber uint64) bool {
	if _, ok := f.m[fileNumber]; ok {
		return false
	}
	if f.m == nil {
		f.m = make(map[uint64]struct{})
	}
	f.m[fileNumber] = struct{}{}
	return true
}

// stripeRep is the tombstones between two snapshots.
type stripeRep struct {
	icmp             *dbformat.InternalKeyComparator
	iters            []*TruncatedRangeDelIterator
	forward, reverse rangeDelCursor
	upper, lower     rocksdb.SequenceNumber
}

func (s *stripeRep) init(icmp *dbformat.InternalKeyComparator, upper, lower rocksdb.SequenceNumber) {
	s.icmp, s.upper, s.lower = icmp, upper, lower
	s.forward, s.reverse = makeRangeDelCursor(icmp, true), makeRangeDelCursor(icmp, false)
}

func (s *stripeRep) invalidate() {
	s.forward.invalidate()
	s.reverse.invalidate()
}

func (s *stripeRep) shouldDelete(k *dbformat.ParsedInternalKey, mode RangeDelPositioningMode) bool {
	if len(s.iters) == 0 || k.Sequence < s.lower || k.Sequence > s.upper {
		return false
	}
	c, other := &s.forward, &s.reverse
	if mode == BackwardTraversal {
		c, other = other, c
	}
	other.invalidate() // the iterators are shared
	for ; c.unused < len(s.iters); c.unused++ {
		c.addNewIter(s.iters[c.unused], k)
	}
	return c.shouldDelete(k)
}

// isRangeOverlapped tells whether a tombstone reaches into [start, end], user
// keys, both inclusive.
func (s *stripeRep) isRangeOverlapped(start, end []byte) bool {
	s.invalidate()
	// The types make equal keys of tombstones' ends less than startKey and
	// those of their starts less than endKey.
	startKey := dbformat.ParsedInternalKey{UserKey: start, Sequence: dbformat.MaxSequenceNumber}
	endKey := dbformat.ParsedInternalKey{UserKey: end}
	overlaps := func(it *TruncatedRangeDelIterator) bool {
		s, e := it.StartKey(), it.EndKey()
		return it.icmp.CompareParsed(&startKey, &e) < 0 && it.icmp.CompareParsed(&s, &endKey) <= 0
	}
	startsInside := func(it *TruncatedRangeDelIterator) bool {
		s := it.StartKey()
		return it.icmp.CompareParsed(&s, &endKey) <= 0
	}
	for _, it := range s.iters {
		checked := false
		for it.SeekForPrev(start); it.Valid() && startsInside(it); it.Next() {
			checked = true
			if overlaps(it) {
				return true
			}
		}
		if checked {
			continue
		}
		// Nothing starts at or before start; a fragment may start later in
		// the range.
		if it.SeekForPrev(end); it.Valid() && overlaps(it) {
			return true
		}
	}
	return false
}

// ReadRangeDelAggregator is for reads at one sequence number.
type ReadRangeDelAggregator struct {
	filesSeen
	icmp *dbformat.InternalKeyComparator
	rep  stripeRep
}

var _ RangeDelAggregator = (*ReadRangeDelAggregator)(nil)

// NewReadRangeDelAggregator sees tombstones up to upperBound.
func NewReadRangeDelAggregator(icmp *dbformat.InternalKeyComparator, upperBound rocksdb.SequenceNumber) *ReadRangeDelAggregator {
	a := &ReadRangeDelAggregator{icmp: icmp}
	a.rep.init(icmp, upperBound, 0)
	return a
}

// AddTombstones is RangeDelAggregator's.
func (a *ReadRangeDelAggregator) AddTombstones(iter *FragmentedRangeTombstoneIterator, smallest, largest []byte) {
	if iter == nil || iter.Empty() {
		return
	}
	a.rep.iters = append(a.rep.iters, NewTruncatedRangeDelIterator(iter, a.icmp, smallest, largest))
}

// ShouldDelete is RangeDelAggregator's.
func (a *ReadRangeDelAggregator) ShouldDelete(k *dbformat.ParsedInternalKey, mode RangeDelPositioningMode) bool {
	return a.rep.shouldDelete(k, mode)
}

// IsRangeOverlapped tells whether a tombstone reaches into [start, end], user
// keys, both inclusive.
func (a *ReadRangeDelAggregator) IsRangeOverlapped(start, end []byte) bool {
	return a.rep.isRangeOverlapped(start, end)
}

// InvalidateRangeDelMapPositions is RangeDelAggregator's.
func (a *ReadRangeDelAggregator) InvalidateRangeDelMapPositions() { a.rep.invalidate() }

// IsEmpty is RangeDelAggregator's.
func (a *ReadRangeDelAggregator) IsEmpty() bool { return len(a.rep.iters) == 0 }

// CompactionRangeDelAggregator is for compactions: a key is deleted only by a
// tombstone that every snapshot that sees the key sees as well.
type CompactionRangeDelAggregator struct {
	filesSeen
	icmp      *dbformat.InternalKeyComparator
	snapshots []rocksdb.SequenceNumber
	parents   []*TruncatedRangeDelIterator
	reps      []*stripeRep // by upper bound, ascending
	tsUpper   []byte
	trimTS    []byte
}

var _ RangeDelAggregator = (*CompactionRangeDelAggregator)(nil)

// NewCompactionRangeDelAggregator keeps snapshots (ascending) and the two
// timestamps: tombstones newer than either delete nothing, and NewIterator
// leaves out those newer than trimTS. Nil is no limit.
func NewCompactionRangeDelAggregator(icmp *dbformat.InternalKeyComparator, snapshots []rocksdb.SequenceNumber, fullHistoryTSLow, trimTS []byte) *CompactionRangeDelAggregator {
	a := &CompactionRangeDelAggregator{icmp: icmp, snapshots: snapshots, tsUpper: fullHistoryTSLow, trimTS: trimTS}
	if len(trimTS) > 0 && (len(a.tsUpper) == 0 || icmp.UserComparator().CompareTimestamp(trimTS, a.tsUpper) < 0) {
		a.tsUpper = trimTS
	}
	return a
}

// AddTombstones is RangeDelAggregator's.
func (a *CompactionRangeDelAggregator) AddTombstones(iter *FragmentedRangeTombstoneIterator, smallest, largest []byte) {
	if iter == nil || iter.Empty() {
		return
	}
	if len(a.trimTS) > 0 {
		iter.SetTimestampUpperBound(a.trimTS)
	}
	parent := NewTruncatedRangeDelIterator(iter, a.icmp, smallest, largest)
	a.parents = append(a.parents, parent)
	for _, split := range parent.SplitBySnapshot(a.snapshots) {
		upper := split.UpperBound()
		at := sort.Search(len(a.reps), func(i int) bool { return a.reps[i].upper >= upper })
		if at == len(a.reps) || a.reps[at].upper != upper {
			rep := &stripeRep{}
			rep.init(a.icmp, upper, split.LowerBound())
			a.reps = slices.Insert(a.reps, at, rep)
		}
		// The parent keeps its own limit: newer tombstones still have to be
		// written to the output.
		split.SetTimestampUpperBound(a.tsUpper)
		a.reps[at].iters = append(a.reps[at].iters, split)
	}
}

// ShouldDelete is RangeDelAggregator's.
func (a *CompactionRangeDelAggregator) ShouldDelete(k *dbformat.ParsedInternalKey, mode RangeDelPositioningMode) bool {
	for _, rep := range a.reps {
		if rep.upper >= k.Sequence {
			return rep.shouldDelete(k, mode)
		}
	}
	return false
}

// InvalidateRangeDelMapPositions is RangeDelAggregator's.
func (a *CompactionRangeDelAggregator) InvalidateRangeDelMapPositions() {
	for _, rep := range a.reps {
		rep.invalidate()
	}
}

// IsEmpty is RangeDelAggregator's.
func (a *CompactionRangeDelAggregator) IsEmpty() bool {
	for _, rep := range a.reps {
		if len(rep.iters) > 0 {
			return false
		}
	}
	return true
}

// NewIterator gives all tombstones, fragmented anew, without those no snapshot
// sees. Tombstones outside the bounds (internal keys; nil is none) are left
// out, but what is given may reach beyond them.
func (a *CompactionRangeDelAggregator) NewIterator(lower, upper []byte) (*FragmentedRangeTombstoneIterator, error) {
	a.InvalidateRangeDelMapPositions()
	m := &truncatedRangeDelMergingIter{icmp: a.icmp, lower: lower, upper: upper, children: a.parents, tsSize: a.icmp.TimestampSize()}
	m.heap.icmp = a.icmp
	list, err := NewFragmentedRangeTombstoneList(m, a.icmp, true, a.snapshots, true)
	if err != nil {
		return nil, err
	}
	return NewFragmentedRangeTombstoneIterator(list, a.icmp, dbformat.MaxSequenceNumber, nil, 0), nil
}

// truncatedRangeDelMergingIter merges tombstones by start key. It goes forward
// from SeekToFirst only.
type truncatedRangeDelMergingIter struct {
	internaliter.Base
	icmp         *dbformat.InternalKeyComparator
	lower, upper []byte
	heap         truncatedHeap // least start key on top
	children     []*TruncatedRangeDelIterator
	tsSize       int
	startBuf     []byte
	endBuf       []byte
}

func (m *truncatedRangeDelMergingIter) Valid() bool {
	if m.heap.empty() {
		return false
	}
	if m.upper == nil {
		return true
	}
	start := m.heap.top().StartKey()
	return m.icmp.CompareToParsed(m.upper, &start) >= 0
}

func (m *truncatedRangeDelMergingIter) SeekToFirst() {
	m.heap.clear()
	for _, c := range m.children {
		if m.lower != nil {
			// Seek goes by the user key; lower may lie after fragments that
			// end at the same one.
			c.Seek(dbformat.ExtractUserKey(m.lower))
			for c.Valid() {
				end := c.EndKey()
				if m.icmp.CompareToParsed(m.lower, &end) < 0 {
					break
				}
				c.InternalNext()
			}
		} else {
			c.SeekToFirst()
		}
		if c.Valid() {
			m.heap.push(c)
		}
	}
}

func (m *truncatedRangeDelMergingIter) Next() {
	top := m.heap.top()
	top.InternalNext()
	if top.Valid() {
		m.heap.down()
	} else {
		m.heap.pop()
	}
}

func (m *truncatedRangeDelMergingIter) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(m, res)
}

func (m *truncatedRangeDelMergingIter) Key() []byte {
	top := m.heap.top()
	m.startBuf = m.withTS(m.startBuf[:0], top.StartKey().UserKey, top)
	m.startBuf = dbformat.AppendInternalKeyFooter(m.startBuf, top.Seq(), dbformat.TypeRangeDeletion)
	return m.startBuf
}

func (m *truncatedRangeDelMergingIter) Value() []byte {
	top := m.heap.top()
	m.endBuf = m.withTS(m.endBuf[:0], top.EndKey().UserKey, top)
	return m.endBuf
}

func (m *truncatedRangeDelMergingIter) withTS(dst, key []byte, top *TruncatedRangeDelIterator) []byte {
	if m.tsSize == 0 {
		return append(dst, key...)
	}
	dst = append(dst, key[:len(key)-m.tsSize]...)
	return append(dst, top.Timestamp()...)
}

func (m *truncatedRangeDelMergingIter) UserKey() []byte { return dbformat.ExtractUserKey(m.Key()) }
func (m *truncatedRangeDelMergingIter) Status() error   { return nil }

// The rest of the interface is of no use here and leaves the iterator invalid.
func (m *truncatedRangeDelMergingIter) SeekToLast()        { m.heap.clear() }
func (m *truncatedRangeDelMergingIter) Seek([]byte)        { m.heap.clear() }
func (m *truncatedRangeDelMergingIter) SeekForPrev([]byte) { m.heap.clear() }
func (m *truncatedRangeDelMergingIter) Prev()              { m.heap.clear() }

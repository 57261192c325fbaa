// Port of db/range_tombstone_fragmenter.{h,cc}. Differs: a list copies its
// keys instead of pinning the blocks they came from; iterators are values that
// a caller may keep on its stack.

package rangedel

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// RangeTombstoneStack is one fragment and the place of its sequence numbers.
type RangeTombstoneStack struct {
	StartKey, EndKey       []byte
	SeqStartIdx, SeqEndIdx int
}

// FragmentedRangeTombstoneList holds tombstones as fragments that do not
// overlap. Tombstones a-e@3, c-g@7 become a-c@3, c-e@7,3 and e-g@7.
type FragmentedRangeTombstoneList struct {
	tombstones []RangeTombstoneStack
	seqs       []rocksdb.SequenceNumber
	timestamps [][]byte // beside seqs; empty without timestamps

	numUnfragmented int
	payloadBytes    int

	seqSetOnce sync.Once
	seqSet     []rocksdb.SequenceNumber // ascending

	arena []byte // the block that copies are cut from
}

// NewFragmentedRangeTombstoneList cuts up the tombstones that unfragmented has
// as its entries (internal start key and end key), which need not be sorted;
// it is closed afterwards. A nil iterator gives an empty list. forCompaction
// drops sequence numbers that no snapshot sees (ascending snapshots; not with
// timestamps). endIncludesTS is false when end keys lack their timestamps.
func NewFragmentedRangeTombstoneList(unfragmented internaliter.InternalIterator, icmp *dbformat.InternalKeyComparator,
	forCompaction bool, snapshots []rocksdb.SequenceNumber, endIncludesTS bool) (*FragmentedRangeTombstoneList, error) {
	l := &FragmentedRangeTombstoneList{}
	if unfragmented == nil {
		return l, nil
	}
	tsSize := icmp.TimestampSize()
	pad := tsSize > 0 && !endIncludesTS
	var in []unfragmentedTombstone
	sorted := true
	for unfragmented.SeekToFirst(); unfragmented.Valid(); unfragmented.Next() {
		key, value := unfragmented.Key(), unfragmented.Value()
		p, err := dbformat.ParseInternalKey(key, false)
		if err != nil {
			_ = unfragmented.Close()
			return nil, err
		}
		l.payloadBytes += len(key) + len(value)
		t := unfragmentedTombstone{start: l.copy(p.UserKey), seq: p.Sequence, typ: p.Type}
		if pad {
			t.end = dbformat.AppendKeyWithMinTimestamp(nil, value, tsSize)
			l.payloadBytes += tsSize
		} else {
			t.end = l.copy(value)
		}
		if len(t.start) < tsSize || len(t.end) < tsSize {
			_ = unfragmented.Close()
			return nil, rocksdb.Corruptionf("range tombstone's key is shorter than its timestamp of %d bytes", tsSize)
		}
		if n := len(in); n > 0 && in[n-1].compare(icmp, &t) > 0 {
			sorted = false
		}
		in = append(in, t)
	}
	err := unfragmented.Status()
	if cerr := unfragmented.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	l.numUnfragmented = len(in)
	if !sorted {
		slices.SortStableFunc(in, func(a, b unfragmentedTombstone) int { return a.compare(icmp, &b) })
	}
	f := fragmenter{list: l, icmp: icmp, tsSize: tsSize, forCompaction: forCompaction, snapshots: snapshots}
	f.run(in)
	return l, nil
}

type unfragmentedTombstone struct {
	start, end []byte
	seq        rocksdb.SequenceNumber
	typ        dbformat.ValueType
}

func (t *unfragmentedTombstone) compare(icmp *dbformat.InternalKeyComparator, o *unfragmentedTombstone) int {
	a := dbformat.ParsedInternalKey{UserKey: t.start, Sequence: t.seq, Type: t.typ}
	b := dbformat.ParsedInternalKey{UserKey: o.start, Sequence: o.seq, Type: o.typ}
	return icmp.CompareParsed(&a, &b)
}

func (l *FragmentedRangeTombstoneList) copy(b []byte) []byte {
	if cap(l.arena)-len(l.arena) < len(b) {
		l.arena = make([]byte, 0, max(512, 2*cap(l.arena), len(b)))
	}
	n := len(l.arena)
	l.arena = append(l.arena, b...)
	return l.arena[n:len(l.arena):len(l.arena)]
}

// fragmenter sweeps over the tombstones by start key.
type fragmenter struct {
	list          *FragmentedRangeTombstoneList
	icmp          *dbformat.InternalKeyComparator
	tsSize        int
	forCompaction bool
	snapshots     []rocksdb.SequenceNumber

	// cur is where the fragments not yet written begin.
	cur []byte
	// ends are the ends of the tombstones open at cur, ordered as internal
	// keys and without duplicates.
	ends []dbformat.ParsedInternalKey

	seqScratch []rocksdb.SequenceNumber
	tsScratch  [][]byte
}

func (f *fragmenter) run(in []unfragmentedTombstone) {
	for i := range in {
		t := &in[i]
		if len(f.ends) > 0 && f.icmp.CompareWithoutTimestamp(f.cur, t.start) != 0 {
			f.flush(t.start)
		}
		f.cur = t.start
		end := dbformat.ParsedInternalKey{UserKey: t.end, Sequence: t.seq, Type: dbformat.TypeRangeDeletion}
		at := sort.Search(len(f.ends), func(i int) bool { return f.icmp.CompareParsed(&f.ends[i], &end) >= 0 })
		if at == len(f.ends) || f.icmp.CompareParsed(&f.ends[at], &end) != 0 {
			f.ends = slices.Insert(f.ends, at, end)
		}
	}
	if n := len(f.ends); n > 0 {
		f.flush(f.ends[n-1].UserKey)
	}
}

// flush writes the fragments from cur to next and makes next the new cur.
func (f *fragmenter) flush(next []byte) {
	keep := len(f.ends) // the first end that is still of use after next
	for i := 0; i < len(f.ends); i++ {
		end := f.ends[i].UserKey
		if f.icmp.CompareWithoutTimestamp(f.cur, end) == 0 {
			continue // empty
		}
		last := f.icmp.CompareWithoutTimestamp(next, end) <= 0
		if last {
			end = next
			keep = i
		}
		f.emit(end, f.ends[i:])
		f.cur = end
		if last {
			break
		}
	}
	f.ends = append(f.ends[:0], f.ends[keep:]...)
	f.cur = next
}

// emit writes the fragment from cur to end, which all of open cover.
func (f *fragmenter) emit(end []byte, open []dbformat.ParsedInternalKey) {
	seqs, ts := f.seqScratch[:0], f.tsScratch[:0]
	for i := range open {
		seqs = append(seqs, open[i].Sequence)
		if f.tsSize > 0 {
			ts = append(ts, dbformat.ExtractTimestampFromUserKey(open[i].UserKey, f.tsSize))
		}
	}
	slices.SortFunc(seqs, func(a, b rocksdb.SequenceNumber) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	user := f.icmp.UserComparator()
	slices.SortFunc(ts, func(a, b []byte) int { return user.CompareTimestamp(b, a) })
	f.seqScratch, f.tsScratch = seqs, ts

	l := f.list
	startIdx := len(l.seqs)
	if f.forCompaction && f.tsSize == 0 {
		l.seqs = appendVisible(l.seqs, seqs, f.snapshots)
	} else {
		// For reads all are kept; with timestamps, compactions drop
		// tombstones later, by time.
		l.seqs = append(l.seqs, seqs...)
		l.timestamps = append(l.timestamps, ts...)
	}
	s := RangeTombstoneStack{StartKey: f.cur, EndKey: end, SeqStartIdx: startIdx, SeqEndIdx: len(l.seqs)}
	if f.tsSize > 0 {
		s.StartKey = dbformat.AppendUserKeyWithMaxTimestamp(nil, f.cur, f.tsSize)
		s.EndKey = dbformat.AppendUserKeyWithMaxTimestamp(nil, end, f.tsSize)
	}
	l.tombstones = append(l.tombstones, s)
}

// appendVisible appends those of seqs (descending) that are the newest seen by
// some snapshot or by the present.
func appendVisible(dst, seqs, snapshots []rocksdb.SequenceNumber) []rocksdb.SequenceNumber {
	next := dbformat.MaxSequenceNumber
	for _, seq := range seqs {
		if seq > next {
			continue
		}
		dst = append(dst, seq)
		i := sort.Search(len(snapshots), func(i int) bool { return snapshots[i] >= seq })
		if i == 0 {
			break // the oldest snapshot sees this one
		}
		next = snapshots[i-1]
	}
	return dst
}

// Tombstones gives the fragments; the slice must not be changed.
func (l *FragmentedRangeTombstoneList) Tombstones() []RangeTombstoneStack { return l.tombstones }

// Seq gives the sequence number at an index of a fragment.
func (l *FragmentedRangeTombstoneList) Seq(i int) rocksdb.SequenceNumber { return l.seqs[i] }

// Empty tells whether there are no tombstones.
func (l *FragmentedRangeTombstoneList) Empty() bool { return len(l.tombstones) == 0 }

// ContainsRange tells whether a tombstone's sequence number is in
// [lower, upper].
func (l *FragmentedRangeTombstoneList) ContainsRange(lower, upper rocksdb.SequenceNumber) bool {
	l.seqSetOnce.Do(func() {
		l.seqSet = slices.Clone(l.seqs)
		slices.Sort(l.seqSet)
		l.seqSet = slices.Compact(l.seqSet)
	})
	i := sort.Search(len(l.seqSet), func(i int) bool { return l.seqSet[i] >= lower })
	return i < len(l.seqSet) && l.seqSet[i] <= upper
}

// NumUnfragmentedTombstones counts the tombstones the list was made of.
func (l *FragmentedRangeTombstoneList) NumUnfragmentedTombstones() int { return l.numUnfragmented }

// TotalTombstonePayloadBytes is the size of their keys and values.
func (l *FragmentedRangeTombstoneList) TotalTombstonePayloadBytes() int { return l.payloadBytes }

// FragmentedRangeTombstoneListCache is a place for the list of a memtable that
// still changes: a write of a tombstone puts a new, empty cache in place, and
// the first reader fills it.
type FragmentedRangeTombstoneListCache struct {
	mu         sync.Mutex
	tombstones atomic.Pointer[FragmentedRangeTombstoneList]
}

// Get gives the list, made by build when nobody did so before. An error is not
// kept.
func (c *FragmentedRangeTombstoneListCache) Get(build func() (*FragmentedRangeTombstoneList, error)) (*FragmentedRangeTombstoneList, error) {
	if l := c.tombstones.Load(); l != nil {
		return l, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.tombstones.Load(); l != nil {
		return l, nil
	}
	l, err := build()
	if err == nil {
		c.tombstones.Store(l)
	}
	return l, err
}

// FragmentedRangeTombstoneIterator walks a list, in one of two ways that are
// not to be mixed: SeekToFirst, SeekToLast, Next and Prev visit every sequence
// number of every fragment; Seek, SeekForPrev and the Top methods visit each
// fragment once, at its newest sequence number within the bounds.
type FragmentedRangeTombstoneIterator struct {
	internaliter.Base
	list       *FragmentedRangeTombstoneList
	icmp       *dbformat.InternalKeyComparator
	upperBound rocksdb.SequenceNumber
	lowerBound rocksdb.SequenceNumber
	tsUpper    []byte // nil for none; borrowed
	pos        int    // fragment; len(list.tombstones) when invalid
	seqPos     int
	keyBuf     []byte
}

// NewFragmentedRangeTombstoneIterator views the sequence numbers in
// [lower, upper] and, where tsUpper is not empty, the timestamps up to it.
func NewFragmentedRangeTombstoneIterator(list *FragmentedRangeTombstoneList, icmp *dbformat.InternalKeyComparator,
	upper rocksdb.SequenceNumber, tsUpper []byte, lower rocksdb.SequenceNumber) *FragmentedRangeTombstoneIterator {
	it := &FragmentedRangeTombstoneIterator{}
	it.Init(list, icmp, upper, tsUpper, lower)
	return it
}

// Init makes an iterator in place, for callers that own its memory.
func (it *FragmentedRangeTombstoneIterator) Init(list *FragmentedRangeTombstoneList, icmp *dbformat.InternalKeyComparator,
	upper rocksdb.SequenceNumber, tsUpper []byte, lower rocksdb.SequenceNumber) {
	it.list, it.icmp, it.upperBound, it.lowerBound = list, icmp, upper, lower
	it.tsUpper = nil
	if len(tsUpper) > 0 {
		it.tsUpper = tsUpper
	}
	it.Invalidate()
}

// SetRangeDelReadSeqno sets the upper bound of sequence numbers.
func (it *FragmentedRangeTombstoneIterator) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) {
	it.upperBound = seq
}

// SetTimestampUpperBound sets the upper bound of timestamps; nil for none.
func (it *FragmentedRangeTombstoneIterator) SetTimestampUpperBound(ts []byte) {
	it.tsUpper = nil
	if len(ts) > 0 {
		it.tsUpper = ts
	}
}

// Invalidate leaves the iterator on no entry.
func (it *FragmentedRangeTombstoneIterator) Invalidate() {
	it.pos, it.seqPos = len(it.list.tombstones), len(it.list.seqs)
}

// Valid tells whether the iterator stands on a tombstone.
func (it *FragmentedRangeTombstoneIterator) Valid() bool { return it.pos < len(it.list.tombstones) }

// Empty tells whether the whole list is empty.
func (it *FragmentedRangeTombstoneIterator) Empty() bool { return it.list.Empty() }

// List gives the list.
func (it *FragmentedRangeTombstoneIterator) List() *FragmentedRangeTombstoneList { return it.list }

// UpperBound is the greatest sequence number in view.
func (it *FragmentedRangeTombstoneIterator) UpperBound() rocksdb.SequenceNumber { return it.upperBound }

// LowerBound is the least sequence number in view.
func (it *FragmentedRangeTombstoneIterator) LowerBound() rocksdb.SequenceNumber { return it.lowerBound }

// NumUnfragmentedTombstones is the list's.
func (it *FragmentedRangeTombstoneIterator) NumUnfragmentedTombstones() int {
	return it.list.numUnfragmented
}

// TotalTombstonePayloadBytes is the list's.
func (it *FragmentedRangeTombstoneIterator) TotalTombstonePayloadBytes() int {
	return it.list.payloadBytes
}

// SeekToFirst goes to the first sequence number of the first fragment.
func (it *FragmentedRangeTombstoneIterator) SeekToFirst() { it.pos, it.seqPos = 0, 0 }

// SeekToLast goes to the last sequence number of the last fragment.
func (it *FragmentedRangeTombstoneIterator) SeekToLast() {
	if it.list.Empty() {
		it.Invalidate()
		return
	}
	it.pos, it.seqPos = len(it.list.tombstones)-1, len(it.list.seqs)-1
}

// SeekToTopFirst goes to the first fragment in view.
func (it *FragmentedRangeTombstoneIterator) SeekToTopFirst() {
	if it.list.Empty() {
		it.Invalidate()
		return
	}
	it.pos = 0
	it.setMaxVisibleSeqAndTimestamp()
	it.scanForwardToVisibleTombstone()
}

// SeekToTopLast goes to the last fragment in view.
func (it *FragmentedRangeTombstoneIterator) SeekToTopLast() {
	if it.list.Empty() {
		it.Invalidate()
		return
	}
	it.pos = len(it.list.tombstones) - 1
	it.setMaxVisibleSeqAndTimestamp()
	it.scanBackwardToVisibleTombstone()
}

// Seek goes to the fragment in view that covers target, a user key, or else to
// the first one that ends after it.
func (it *FragmentedRangeTombstoneIterator) Seek(target []byte) {
	it.seekToCoveringTombstone(target)
	it.scanForwardToVisibleTombstone()
}

// SeekForPrev goes to the fragment in view that covers target, a user key, or
// else to the last one that starts before it.
func (it *FragmentedRangeTombstoneIterator) SeekForPrev(target []byte) {
	ts := it.list.tombstones
	lo, hi := 0, len(ts) // the first fragment that starts after target
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if it.icmp.CompareWithoutTimestamp(target, ts[mid].StartKey) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 {
		it.Invalidate()
		return
	}
	it.pos = lo - 1
	it.setMaxVisibleSeqAndTimestamp()
	it.scanBackwardToVisibleTombstone()
}

func (it *FragmentedRangeTombstoneIterator) seekToCoveringTombstone(target []byte) {
	ts := it.list.tombstones
	lo, hi := 0, len(ts) // the first fragment that ends after target
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if it.icmp.CompareWithoutTimestamp(target, ts[mid].EndKey) < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(ts) {
		it.Invalidate()
		return
	}
	it.pos = lo
	it.setMaxVisibleSeqAndTimestamp()
}

// setMaxVisibleSeqAndTimestamp goes to the newest entry of the fragment within
// the upper bounds, or to the fragment's end.
func (it *FragmentedRangeTombstoneIterator) setMaxVisibleSeqAndTimestamp() {
	t := &it.list.tombstones[it.pos]
	lo, hi := t.SeqStartIdx, t.SeqEndIdx
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if it.list.seqs[mid] > it.upperBound {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	it.seqPos = lo
	if it.tsUpper == nil || len(it.list.timestamps) == 0 {
		return
	}
	// Both run downward together, so the later of the two places satisfies
	// both bounds.
	user := it.icmp.UserComparator()
	hi = t.SeqEndIdx
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if user.CompareTimestamp(it.list.timestamps[mid], it.tsUpper) > 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	it.seqPos = lo
}

func (it *FragmentedRangeTombstoneIterator) outOfView() bool {
	return it.seqPos == it.list.tombstones[it.pos].SeqEndIdx || it.list.seqs[it.seqPos] < it.lowerBound
}

func (it *FragmentedRangeTombstoneIterator) scanForwardToVisibleTombstone() {
	for it.Valid() && it.outOfView() {
		if it.pos++; !it.Valid() {
			it.Invalidate()
			return
		}
		it.setMaxVisibleSeqAndTimestamp()
	}
}

func (it *FragmentedRangeTombstoneIterator) scanBackwardToVisibleTombstone() {
	for it.Valid() && it.outOfView() {
		if it.pos == 0 {
			it.Invalidate()
			return
		}
		it.pos--
		it.setMaxVisibleSeqAndTimestamp()
	}
}

// Next goes to the next sequence number.
func (it *FragmentedRangeTombstoneIterator) Next() {
	it.seqPos++
	if it.seqPos == it.list.tombstones[it.pos].SeqEndIdx {
		it.pos++
	}
}

// NextAndGetResult is Next.
func (it *FragmentedRangeTombstoneIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}

// Prev goes to the sequence number before.
func (it *FragmentedRangeTombstoneIterator) Prev() {
	if it.seqPos == 0 {
		it.Invalidate()
		return
	}
	it.seqPos--
	if !it.Valid() || it.seqPos < it.list.tombstones[it.pos].SeqStartIdx {
		it.pos--
	}
}

// TopNext goes to the next fragment in view.
func (it *FragmentedRangeTombstoneIterator) TopNext() {
	if it.pos++; !it.Valid() {
		it.Invalidate()
		return
	}
	it.setMaxVisibleSeqAndTimestamp()
	it.scanForwardToVisibleTombstone()
}

// TopPrev goes to the fragment in view before.
func (it *FragmentedRangeTombstoneIterator) TopPrev() {
	if it.pos == 0 {
		it.Invalidate()
		return
	}
	it.pos--
	it.setMaxVisibleSeqAndTimestamp()
	it.scanBackwardToVisibleTombstone()
}

// StartKey is the fragment's start, whose timestamp is not the tombstone's.
func (it *FragmentedRangeTombstoneIterator) StartKey() []byte {
	return it.list.tombstones[it.pos].StartKey
}

// EndKey is the fragment's exclusive end, whose timestamp is not the
// tombstone's.
func (it *FragmentedRangeTombstoneIterator) EndKey() []byte { return it.list.tombstones[it.pos].EndKey }

// Seq is the tombstone's sequence number.
func (it *FragmentedRangeTombstoneIterator) Seq() rocksdb.SequenceNumber {
	return it.list.seqs[it.seqPos]
}

// Timestamp is the tombstone's timestamp; nil without timestamps.
func (it *FragmentedRangeTombstoneIterator) Timestamp() []byte {
	if len(it.list.timestamps) == 0 {
		return nil
	}
	return it.list.timestamps[it.seqPos]
}

// Tombstone gives all of it; the slices are the list's.
func (it *FragmentedRangeTombstoneIterator) Tombstone() dbformat.RangeTombstone {
	t := dbformat.RangeTombstone{StartKey: it.StartKey(), EndKey: it.EndKey(), Seq: it.Seq()}
	if tsSize := it.icmp.TimestampSize(); tsSize > 0 {
		t.Timestamp = it.Timestamp()
		t.StartKey = withTimestamp(t.StartKey, t.Timestamp)
		t.EndKey = withTimestamp(t.EndKey, t.Timestamp)
	}
	return t
}

func withTimestamp(key, ts []byte) []byte {
	return append(append(make([]byte, 0, len(key)), key[:len(key)-len(ts)]...), ts...)
}

// ParsedStartKey is the start as an internal key.
func (it *FragmentedRangeTombstoneIterator) ParsedStartKey() dbformat.ParsedInternalKey {
	return dbformat.ParsedInternalKey{UserKey: it.StartKey(), Sequence: it.Seq(), Type: dbformat.TypeRangeDeletion}
}

// ParsedEndKey is the end as an exclusive internal key.
func (it *FragmentedRangeTombstoneIterator) ParsedEndKey() dbformat.ParsedInternalKey {
	return dbformat.ParsedInternalKey{UserKey: it.EndKey(), Sequence: dbformat.MaxSequenceNumber, Type: dbformat.TypeRangeDeletion}
}

// Key is the start as an encoded internal key, valid until the iterator moves.
func (it *FragmentedRangeTombstoneIterator) Key() []byte {
	it.keyBuf = dbformat.AppendInternalKey(it.keyBuf[:0], it.StartKey(), it.Seq(), dbformat.TypeRangeDeletion)
	return it.keyBuf
}

// UserKey is StartKey.
func (it *FragmentedRangeTombstoneIterator) UserKey() []byte { return it.StartKey() }

// Value is EndKey.
func (it *FragmentedRangeTombstoneIterator) Value() []byte { return it.EndKey() }

// IsValuePinned is true.
func (it *FragmentedRangeTombstoneIterator) IsValuePinned() bool { return true }

// Status is always nil.
func (it *FragmentedRangeTombstoneIterator) Status() error { return nil }

// MaxCoveringTombstoneSeqnum is the greatest sequence number within the upper
// bounds of a tombstone that covers userKey, 0 when there is none. The iterator
// then stands on that tombstone.
func (it *FragmentedRangeTombstoneIterator) MaxCoveringTombstoneSeqnum(userKey []byte) rocksdb.SequenceNumber {
	it.seekToCoveringTombstone(userKey)
	if it.Valid() && it.seqPos != it.list.tombstones[it.pos].SeqEndIdx &&
		it.icmp.CompareWithoutTimestamp(it.StartKey(), userKey) <= 0 {
		return it.Seq()
	}
	return 0
}

// SplitBySnapshot gives an iterator for each stripe of sequence numbers between
// neighbouring snapshots (ascending) that has tombstones, in ascending order;
// the stripe's upper end is the iterator's UpperBound.
func (it *FragmentedRangeTombstoneIterator) SplitBySnapshot(snapshots []rocksdb.SequenceNumber) []*FragmentedRangeTombstoneIterator {
	var splits []*FragmentedRangeTombstoneIterator
	lower := rocksdb.SequenceNumber(0)
	for i := 0; i <= len(snapshots); i++ {
		upper := dbformat.MaxSequenceNumber
		if i < len(snapshots) {
			upper = snapshots[i]
		}
		if it.list.ContainsRange(lower, upper) {
			splits = append(splits, NewFragmentedRangeTombstoneIterator(it.list, it.icmp, upper, it.tsUpper, lower))
		}
		lower = upper + 1
	}
	return splits
}

// Port of db/seqno_to_time_mapping.{h,cc}. Differs: a query of a mapping in the
// unenforced state puts it in order first; appends out of order are dropped
// rather than asserted against.

package seqnotime

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	// UnknownTimeBeforeAll is the time when none is known.
	UnknownTimeBeforeAll uint64 = 0
	// UnknownSeqnoBeforeAll is the sequence number when none is known.
	UnknownSeqnoBeforeAll rocksdb.SequenceNumber = 0
	// MaxSeqnoTimePairsPerSST is how many pairs an SST's property gets.
	MaxSeqnoTimePairsPerSST uint64 = 100
	// MaxSeqnoTimePairsPerCF is how many samples cover one column family's
	// time span.
	MaxSeqnoTimePairsPerCF uint64 = 100
	// MaxSeqnoToTimeEntries bounds the mapping of a whole database.
	MaxSeqnoToTimeEntries = MaxSeqnoTimePairsPerCF * 10
)

// SeqnoTimePair says that at Time (seconds) sequence numbers up to Seqno had
// been written and none above.
type SeqnoTimePair struct {
	Seqno rocksdb.SequenceNumber
	Time  uint64
}

func comparePairs(a, b SeqnoTimePair) int {
	if c := cmp.Compare(a.Seqno, b.Seqno); c != 0 {
		return c
	}
	return cmp.Compare(a.Time, b.Time)
}

// merge tries to make p stand for other too, which must not be before it.
func (p *SeqnoTimePair) merge(other SeqnoTimePair) bool {
	switch {
	case p.Seqno == other.Seqno:
		// The older time: nothing was written since.
		p.Time = min(p.Time, other.Time)
	case p.Time == other.Time:
		// The newer sequence number: a burst of writes ages out together.
		p.Seqno = max(p.Seqno, other.Seqno)
	case p.Time > other.Time:
		// The clock went back. Sampled times err on the late side, so the
		// earlier one is the better.
		*p = other
	default:
		return false
	}
	return true
}

// SeqnoToTimeMapping is a list of such pairs. Make it with
// NewSeqnoToTimeMapping.
type SeqnoToTimeMapping struct {
	maxTimeSpan uint64
	capacity    uint64
	pairs       []SeqnoTimePair
	unenforced  bool
}

// NewSeqnoToTimeMapping is empty and without limits.
func NewSeqnoToTimeMapping() *SeqnoToTimeMapping {
	return &SeqnoToTimeMapping{maxTimeSpan: math.MaxUint64, capacity: math.MaxUint64}
}

// SetMaxTimeSpan keeps one pair at or before the newest time less span seconds,
// and the pairs after it. It returns m.
func (m *SeqnoToTimeMapping) SetMaxTimeSpan(span uint64) *SeqnoToTimeMapping {
	m.maxTimeSpan = span
	if !m.unenforced {
		m.enforceMaxTimeSpan(0)
	}
	return m
}

// SetCapacity bounds the number of pairs; appends may exceed it by an eighth.
// It returns m.
func (m *SeqnoToTimeMapping) SetCapacity(capacity uint64) *SeqnoToTimeMapping {
	m.capacity = capacity
	if !m.unenforced {
		m.enforceCapacity(true)
	}
	return m
}

// GetCapacity is what SetCapacity set.
func (m *SeqnoToTimeMapping) GetCapacity() uint64 { return m.capacity }

// Size is the number of pairs.
func (m *SeqnoToTimeMapping) Size() int { return len(m.pairs) }

// Empty tells whether there are none.
func (m *SeqnoToTimeMapping) Empty() bool { return len(m.pairs) == 0 }

// Pairs gives the pairs; they must not be changed.
func (m *SeqnoToTimeMapping) Pairs() []SeqnoTimePair { return m.pairs }

// IsEnforced tells whether the mapping is in the enforced state.
func (m *SeqnoToTimeMapping) IsEnforced() bool { return !m.unenforced }

// PrePopulate fills an empty mapping with pairs interpolated between two, which
// must ascend; others are ignored.
func (m *SeqnoToTimeMapping) PrePopulate(fromSeqno, toSeqno rocksdb.SequenceNumber, fromTime, toTime uint64) {
	if len(m.pairs) > 0 || fromSeqno == 0 || toSeqno <= fromSeqno || fromTime == UnknownTimeBeforeAll || toTime < fromTime {
		return
	}
	for i := fromSeqno; i <= toSeqno; i++ {
		t := fromTime + (toTime-fromTime)*(i-fromSeqno)/(toSeqno-fromSeqno)
		m.pairs = append(m.pairs, SeqnoTimePair{i, t})
	}
}

// Append adds the newest pair and enters the enforced state. It is false when
// the pair was merged into the one before, or dropped.
func (m *SeqnoToTimeMapping) Append(seqno rocksdb.SequenceNumber, time uint64) bool {
	if m.capacity == 0 {
		return false
	}
	added := false
	p := SeqnoTimePair{seqno, time}
	switch n := len(m.pairs); {
	case seqno == 0: // not a written entry's
	case n == 0:
		m.unenforced = false
		m.pairs = append(m.pairs, p)
		return true
	case m.pairs[n-1].Seqno <= seqno:
		if !m.pairs[n-1].merge(p) {
			m.pairs = append(m.pairs, p)
			added = true
		}
	case m.unenforced:
		m.pairs = append(m.pairs, p)
		added = true
	}
	m.sortAndMerge()
	m.enforceMaxTimeSpan(0)
	m.enforceCapacity(false)
	return added
}

// Clear drops all pairs and enters the enforced state.
func (m *SeqnoToTimeMapping) Clear() {
	m.pairs = m.pairs[:0]
	m.unenforced = false
}

// Enforce enters the enforced state. With now (seconds) above 0 the time span
// ends there. It returns m.
func (m *SeqnoToTimeMapping) Enforce(now uint64) *SeqnoToTimeMapping {
	if m.unenforced {
		m.sortAndMerge()
		m.enforceMaxTimeSpan(now)
	} else if now > 0 {
		m.enforceMaxTimeSpan(now)
	}
	m.enforceCapacity(true)
	return m
}

// AddUnenforced adds a pair of any age and leaves the enforced state.
func (m *SeqnoToTimeMapping) AddUnenforced(seqno rocksdb.SequenceNumber, time uint64) {
	if seqno == 0 {
		return
	}
	m.unenforced = true
	m.pairs = append(m.pairs, SeqnoTimePair{seqno, time})
}

func (m *SeqnoToTimeMapping) sortAndMerge() {
	if !m.unenforced {
		return
	}
	m.unenforced = false
	if len(m.pairs) == 0 {
		return
	}
	slices.SortFunc(m.pairs, comparePairs)
	to := 0
	for _, p := range m.pairs[1:] {
		if !m.pairs[to].merge(p) {
			to++
			m.pairs[to] = p
		}
	}
	m.pairs = m.pairs[:to+1]
}

func (m *SeqnoToTimeMapping) enforceMaxTimeSpan(now uint64) {
	n := len(m.pairs)
	if n <= 1 {
		return
	}
	if now == 0 {
		now = m.pairs[n-1].Time
	}
	if now < m.maxTimeSpan {
		return
	}
	cutoff := now - m.maxTimeSpan
	drop := 0
	for n-drop >= 2 && m.pairs[drop].Time <= cutoff && m.pairs[drop+1].Time <= cutoff {
		drop++
	}
	m.pairs = slices.Delete(m.pairs, 0, drop)
}

// removal is a pair that may go; gap is the time between its neighbours.
type removal struct {
	gap uint64
	at  int
}

type removalHeap []removal

func (h removalHeap) Len() int { return len(h) }
func (h removalHeap) Less(i, j int) bool {
	return h[i].gap < h[j].gap || h[i].gap == h[j].gap && h[i].at < h[j].at // the older one first
}
func (h removalHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *removalHeap) Push(x any)   { *h = append(*h, x.(removal)) }
func (h *removalHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// enforceCapacity drops pairs, never the first or the last, so that the gaps
// left in time are small: again and again the one whose neighbours are closest.
func (m *SeqnoToTimeMapping) enforceCapacity(strict bool) {
	limit := m.capacity
	if limit == 0 {
		m.pairs = m.pairs[:0]
		return
	}
	limit = max(limit, 2)
	effective := limit
	if !strict {
		if effective += limit / 8; effective < limit {
			effective = math.MaxUint64
		}
	}
	n := len(m.pairs)
	if uint64(n) <= effective {
		return
	}
	prev, next := make([]int, n), make([]int, n)
	removed := make([]bool, n)
	h := make(removalHeap, 0, n)
	for i := range m.pairs {
		prev[i], next[i] = i-1, i+1
		if i > 0 && i < n-1 {
			h = append(h, removal{m.pairs[i+1].Time - m.pairs[i-1].Time, i})
		}
	}
	heap.Init(&h)
	for left := uint64(n) - limit; left > 0; {
		r := heap.Pop(&h).(removal)
		// Gaps grow as neighbours go; a stale one is put back with its size.
		if gap := m.pairs[next[r.at]].Time - m.pairs[prev[r.at]].Time; gap != r.gap {
			heap.Push(&h, removal{gap, r.at})
			continue
		}
		removed[r.at] = true
		next[prev[r.at]], prev[next[r.at]] = next[r.at], prev[r.at]
		left--
	}
	to := 0
	for i, p := range m.pairs {
		if !removed[i] {
			m.pairs[to] = p
			to++
		}
	}
	m.pairs = m.pairs[:to]
}

// GetProximalTimeBeforeSeqno is the newest known time no later than the write
// of seqno, or UnknownTimeBeforeAll.
func (m *SeqnoToTimeMapping) GetProximalTimeBeforeSeqno(seqno rocksdb.SequenceNumber) uint64 {
	m.sortAndMerge()
	i := m.findGreaterEqSeqno(seqno)
	if i == 0 {
		return UnknownTimeBeforeAll
	}
	return m.pairs[i-1].Time
}

// GetProximalSeqnoBeforeTime is the greatest sequence number known to have been
// written no later than time, or UnknownSeqnoBeforeAll.
func (m *SeqnoToTimeMapping) GetProximalSeqnoBeforeTime(time uint64) rocksdb.SequenceNumber {
	m.sortAndMerge()
	i := sort.Search(len(m.pairs), func(i int) bool { return m.pairs[i].Time > time })
	if i == 0 {
		return UnknownSeqnoBeforeAll
	}
	return m.pairs[i-1].Seqno
}

// GetCurrentTieringCutoffSeqnos gives the least sequence numbers whose times
// are to be preserved and which are kept out of the last level, for the two
// options in seconds. A cutoff whose option is off is given back as passed in.
func (m *SeqnoToTimeMapping) GetCurrentTieringCutoffSeqnos(now, preserveInternalTimeSeconds, precludeLastLevelDataSeconds uint64,
	preserveMin, precludeMin rocksdb.SequenceNumber) (rocksdb.SequenceNumber, rocksdb.SequenceNumber) {
	duration := max(preserveInternalTimeSeconds, precludeLastLevelDataSeconds)
	if duration == 0 {
		return preserveMin, precludeMin
	}
	before := func(d uint64) rocksdb.SequenceNumber {
		t := uint64(0)
		if now > d {
			t = now - d
		}
		return m.GetProximalSeqnoBeforeTime(t) + 1
	}
	preserveMin = before(duration)
	if precludeLastLevelDataSeconds > 0 {
		precludeMin = before(precludeLastLevelDataSeconds)
	}
	return preserveMin, precludeMin
}

func (m *SeqnoToTimeMapping) findGreaterEqSeqno(seqno rocksdb.SequenceNumber) int {
	return sort.Search(len(m.pairs), func(i int) bool { return m.pairs[i].Seqno >= seqno })
}

// EncodeTo appends the mapping to dst: nothing when it is empty, else
//
//	number of pairs   varint64
//	each pair         sequence number and time, each a varint64 and less the
//	                  pair's before
func (m *SeqnoToTimeMapping) EncodeTo(dst []byte) []byte {
	m.sortAndMerge()
	if len(m.pairs) == 0 {
		return dst
	}
	dst = util.AppendVarint64(dst, uint64(len(m.pairs)))
	var base SeqnoTimePair
	for _, p := range m.pairs {
		dst = util.AppendVarint64(dst, p.Seqno-base.Seqno)
		dst = util.AppendVarint64(dst, p.Time-base.Time)
		base = p
	}
	return dst
}

// DecodeFrom adds encoded pairs. An empty mapping without limits stays in the
// enforced state. On an error nothing is added.
func (m *SeqnoToTimeMapping) DecodeFrom(encoded []byte) error {
	before := len(m.pairs)
	if err := m.decode(encoded); err != nil {
		m.pairs = m.pairs[:before]
		return err
	}
	m.unenforced = m.unenforced || m.limited(before)
	return nil
}

func (m *SeqnoToTimeMapping) limited(before int) bool {
	return before > 0 || m.maxTimeSpan < math.MaxUint64 || m.capacity < math.MaxUint64
}

func (m *SeqnoToTimeMapping) decode(in []byte) error {
	if len(in) == 0 {
		return nil
	}
	count, in, ok := util.GetVarint64(in)
	if !ok {
		return rocksdb.Corruption("Invalid sequence number time size")
	}
	var p SeqnoTimePair
	for ; count > 0; count-- {
		var ds, dt uint64
		if ds, in, ok = util.GetVarint64(in); !ok {
			return rocksdb.Corruption("Invalid sequence number")
		}
		if dt, in, ok = util.GetVarint64(in); !ok {
			return rocksdb.Corruption("Invalid time")
		}
		if p.Seqno+ds < p.Seqno || p.Time+dt < p.Time {
			return rocksdb.Corruption("Sequence number time mapping exceeds 64 bits")
		}
		p.Seqno += ds
		p.Time += dt
		m.pairs = append(m.pairs, p)
	}
	if len(in) > 0 {
		return rocksdb.Corruption("Extra bytes at end of sequence number time mapping")
	}
	return nil
}

// CopyFromSeqnoRange adds those of src's pairs that answer
// GetProximalTimeBeforeSeqno for sequence numbers in [from, to].
func (m *SeqnoToTimeMapping) CopyFromSeqnoRange(src *SeqnoToTimeMapping, from, to rocksdb.SequenceNumber) {
	before := len(m.pairs)
	src.sortAndMerge()
	begin := src.findGreaterEqSeqno(from)
	end := begin
	if to >= from { // a file without entries gives a range that is none
		end = sort.Search(len(src.pairs), func(i int) bool { return src.pairs[i].Seqno > to })
	}
	if begin > 0 {
		begin--
	}
	m.pairs = append(m.pairs, src.pairs[begin:end]...)
	m.unenforced = m.unenforced || m.limited(before)
}

// CopyFrom adds all of src's pairs.
func (m *SeqnoToTimeMapping) CopyFrom(src *SeqnoToTimeMapping) {
	m.CopyFromSeqnoRange(src, UnknownSeqnoBeforeAll, 1<<56-1)
}

// ToHumanString is "seqno->time," for each pair.
func (m *SeqnoToTimeMapping) ToHumanString() string {
	var b []byte
	for _, p := range m.pairs {
		b = strconv.AppendUint(b, p.Seqno, 10)
		b = append(b, "->"...)
		b = strconv.AppendUint(b, p.Time, 10)
		b = append(b, ',')
	}
	return string(b)
}

// MinAndMaxPreserveSeconds combines the settings of column families; make it
// with NewMinAndMaxPreserveSeconds.
type MinAndMaxPreserveSeconds struct {
	MinPreserveSeconds uint64 // MaxUint64 while none is enabled
	MaxPreserveSeconds uint64
}

// NewMinAndMaxPreserveSeconds has no setting yet.
func NewMinAndMaxPreserveSeconds() MinAndMaxPreserveSeconds {
	return MinAndMaxPreserveSeconds{MinPreserveSeconds: math.MaxUint64}
}

// IsEnabled tells whether some column family tracks times.
func (s *MinAndMaxPreserveSeconds) IsEnabled() bool { return s.MinPreserveSeconds != math.MaxUint64 }

// Combine takes one column family's two options in; both 0 is off.
func (s *MinAndMaxPreserveSeconds) Combine(preserveInternalTimeSeconds, precludeLastLevelDataSeconds uint64) {
	if n := max(preserveInternalTimeSeconds, precludeLastLevelDataSeconds); n > 0 {
		s.MinPreserveSeconds = min(s.MinPreserveSeconds, n)
		s.MaxPreserveSeconds = max(s.MaxPreserveSeconds, n)
	}
}

// GetRecodingCadence is the number of seconds between samples; 0 when off.
func (s *MinAndMaxPreserveSeconds) GetRecodingCadence() uint64 {
	if !s.IsEnabled() {
		return 0
	}
	return (s.MinPreserveSeconds + MaxSeqnoTimePairsPerCF - 1) / MaxSeqnoTimePairsPerCF
}

// CapacityFor is how many pairs a database keeps for these settings: the least
// span's samples as far back as the greatest span goes.
func CapacityFor(s MinAndMaxPreserveSeconds) uint64 {
	if s.MaxPreserveSeconds/s.MinPreserveSeconds >= MaxSeqnoToTimeEntries/MaxSeqnoTimePairsPerCF {
		return MaxSeqnoToTimeEntries
	}
	return s.MaxPreserveSeconds * MaxSeqnoTimePairsPerCF / s.MinPreserveSeconds
}

// The values of timed puts end in 8 bytes, little endian: in the WAL and a
// fresh memtable a Unix time in seconds, later a sequence number.
const packedSize = 8

// PackValueAndWriteTime appends value and a Unix time to dst.
func PackValueAndWriteTime(dst, value []byte, unixWriteTime uint64) []byte {
	return util.AppendFixed64(append(dst, value...), unixWriteTime)
}

// PackValueAndSeqno appends value and a sequence number to dst.
func PackValueAndSeqno(dst, value []byte, seqno rocksdb.SequenceNumber) []byte {
	return util.AppendFixed64(append(dst, value...), seqno)
}

// ParsePackedValueWithWriteTime takes a packed value apart; false when it is
// too short. The value points into packed.
func ParsePackedValueWithWriteTime(packed []byte) (value []byte, unixWriteTime uint64, ok bool) {
	n := len(packed) - packedSize
	if n < 0 {
		return nil, 0, false
	}
	return packed[:n:n], util.DecodeFixed64(packed[n:]), true
}

// ParsePackedValueWithSeqno takes a packed value apart; false when it is too
// short. The value points into packed.
func ParsePackedValueWithSeqno(packed []byte) (value []byte, seqno rocksdb.SequenceNumber, ok bool) {
	return ParsePackedValueWithWriteTime(packed)
}

// ParsePackedValueForValue gives the value alone.
func ParsePackedValueForValue(packed []byte) (value []byte, ok bool) {
	value, _, ok = ParsePackedValueWithWriteTime(packed)
	return value, ok
}

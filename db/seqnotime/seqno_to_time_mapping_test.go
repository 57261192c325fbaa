// Port of db/seqno_time_test.cc: the parts that need no DB.

package seqnotime

import (
	"math"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
)

func eq[T comparable](t *testing.T, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func last(m *SeqnoToTimeMapping) SeqnoTimePair { return m.Pairs()[m.Size()-1] }

func wantPairs(t *testing.T, m *SeqnoToTimeMapping, want ...SeqnoTimePair) {
	t.Helper()
	if !slices.Equal(m.Pairs(), want) {
		t.Fatalf("pairs %v, want %v", m.Pairs(), want)
	}
}

func TestSeqnoTimeTest_MappingAppend(t *testing.T) {
	m := NewSeqnoToTimeMapping().SetMaxTimeSpan(100).SetCapacity(10)
	eq(t, false, m.Append(0, 100))
	eq(t, true, m.Append(3, 200))
	size := m.Size()
	eq(t, true, m.Append(10, 300))
	size++
	eq(t, size, m.Size())
	for _, c := range []struct{ seqno, time, wantSeqno, wantTime uint64 }{
		{10, 301, 10, 300}, {10, 299, 10, 299}, {11, 299, 11, 299}, {11, 250, 11, 250},
	} {
		eq(t, false, m.Append(c.seqno, c.time))
		eq(t, size, m.Size())
		eq(t, SeqnoTimePair{c.wantSeqno, c.wantTime}, last(m))
	}
}

func TestSeqnoTimeTest_CapacityLimits(t *testing.T) {
	m := NewSeqnoToTimeMapping().SetCapacity(3)
	for i := range uint64(4) {
		eq(t, true, m.Append(10+10*i, 300+100*i))
	}
	check := func(size int, seqno, time uint64) {
		t.Helper()
		eq(t, size, m.Size())
		eq(t, SeqnoTimePair{seqno, time}, last(m))
	}
	check(3, 40, 600)
	m.SetCapacity(2)
	check(2, 40, 600)
	eq(t, true, m.Append(50, 700))
	check(2, 50, 700)
	m.SetCapacity(1) // as 2
	check(2, 50, 700)
	eq(t, true, m.Append(60, 800))
	check(2, 60, 800)
	m.SetCapacity(0)
	eq(t, 0, m.Size())
	eq(t, false, m.Append(70, 900))
	eq(t, 0, m.Size())
	m.SetCapacity(math.MaxUint64)
	for i := uint64(1); i <= 10101; i++ {
		eq(t, true, m.Append(i, 11*i))
	}
	eq(t, 10101, m.Size())
}

func TestSeqnoTimeTest_TimeSpanLimits(t *testing.T) {
	m := NewSeqnoToTimeMapping()
	for range 2 {
		for i := uint64(1); i <= 63; i++ {
			eq(t, true, m.Append(1000+i, 1<<i))
		}
		eq(t, 63, m.Size())
		m.Clear()
		m.SetMaxTimeSpan(math.MaxUint64)
	}
	for i := uint64(1); i <= 63; i++ {
		m.Append(1000+i, 1<<i)
	}
	for _, c := range []struct {
		span uint64
		want int
	}{{10, 2}, {1, 2}, {0, 1}} {
		eq(t, c.want, m.SetMaxTimeSpan(c.span).Size())
	}
	eq(t, true, m.Append(2000, 1<<63+42))
	eq(t, 1, m.Size())

	m.Clear()
	m.SetMaxTimeSpan(100)
	for i, c := range []struct {
		time uint64
		want int
	}{{123, 1}, {134, 2}, {150, 3}, {189, 4}, {220, 5}, {233, 6}, {234, 6}, {235, 7}, {300, 6}, {350, 3}, {470, 2}} {
		eq(t, true, m.Append(1001+uint64(i), c.time))
		eq(t, c.want, m.Size())
	}
}

func TestSeqnoTimeTest_ProximalFunctions(t *testing.T) {
	m := NewSeqnoToTimeMapping().SetCapacity(10)
	const far = 1000000000000
	times := func(pairs ...uint64) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := m.GetProximalTimeBeforeSeqno(pairs[i]); got != pairs[i+1] {
				t.Fatalf("time before seqno %d is %d, want %d", pairs[i], got, pairs[i+1])
			}
		}
	}
	seqnos := func(pairs ...uint64) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := m.GetProximalSeqnoBeforeTime(pairs[i]); got != pairs[i+1] {
				t.Fatalf("seqno before time %d is %d, want %d", pairs[i], got, pairs[i+1])
			}
		}
	}
	times(1, UnknownTimeBeforeAll, far, UnknownTimeBeforeAll)
	seqnos(1, UnknownSeqnoBeforeAll, far, UnknownSeqnoBeforeAll)
	eq(t, true, m.Append(10, 500))
	times(9, UnknownTimeBeforeAll, 10, UnknownTimeBeforeAll, 11, 500, far, 500)
	seqnos(499, UnknownSeqnoBeforeAll, 500, 10, 501, 10, far, 10)
	eq(t, true, m.Append(20, 600))
	eq(t, true, m.Append(30, 700))
	eq(t, 3, m.Size())
	times(10, UnknownTimeBeforeAll, 11, 500, 20, 500, 21, 600, 30, 600, 31, 700, far, 700)
	seqnos(499, UnknownSeqnoBeforeAll, 500, 10, 501, 10, 599, 10, 600, 20, 601, 20, 699, 20, 700, 30, 701, 30, far, 30)
	eq(t, false, m.Append(30, 700))
	eq(t, 3, m.Size())
	times(30, 600, 31, 700)
	seqnos(699, 20, 700, 30)
	eq(t, false, m.Append(30, 800))
	times(30, 600, 31, 700)
	seqnos(699, 20, 700, 30, 800, 30)
	eq(t, true, m.Append(40, 900))
	times(30, 600, 41, 900)
	seqnos(899, 30, 900, 40)
	eq(t, false, m.Append(50, 900))
	times(49, 700, 51, 900)
	seqnos(899, 30, 900, 50)
}

func TestSeqnoTimeTest_PrePopulate(t *testing.T) {
	m := NewSeqnoToTimeMapping().SetMaxTimeSpan(100).SetCapacity(10)
	eq(t, 0, m.Size())
	m.PrePopulate(10, 11, 500, 600)
	eq(t, UnknownTimeBeforeAll, m.GetProximalTimeBeforeSeqno(10))
	eq(t, 500, m.GetProximalTimeBeforeSeqno(11))
	eq(t, 600, m.GetProximalTimeBeforeSeqno(12))
	m.Clear()
	const inc = 1234567
	m.PrePopulate(1, 12, inc, inc*2)
	for i := range uint64(13) {
		eq(t, i, m.GetProximalSeqnoBeforeTime(inc+i*inc/11-1))
	}
	m.Clear()
	m.PrePopulate(1, 34567, inc, inc*2)
	for _, ratio := range []float64{0, 0.433, 0.678, 0.987, 1} {
		eq(t, uint64(ratio*(34567-1))+1, m.GetProximalSeqnoBeforeTime(inc+uint64(ratio*inc+0.9999999)))
	}
}

func TestSeqnoTimeTest_CopyFromSeqnoRange(t *testing.T) {
	from, to := NewSeqnoToTimeMapping(), NewSeqnoToTimeMapping()
	check := func(a, b uint64, want int) {
		t.Helper()
		to.Clear()
		to.CopyFromSeqnoRange(from, a, b)
		if to.Size() != want {
			t.Fatalf("copy of %d..%d has %d pairs, want %d", a, b, to.Size(), want)
		}
	}
	const maxSeq = dbformat.MaxSequenceNumber
	check(0, 1000000, 0)
	check(100, 100, 0)
	check(maxSeq, 0, 0)
	eq(t, true, from.Append(10, 500))
	check(0, 1000000, 1)
	check(100, 100, 1)
	check(maxSeq, 0, 1)
	check(0, 9, 0)
	check(0, 10, 1)
	for i := range uint64(4) {
		eq(t, true, from.Append(20+10*i, 600+100*i))
	}
	check(0, 1000000, 5)
	check(100, 100, 1)
	check(19, 19, 1)
	check(maxSeq, 0, 1)
	check(0, 9, 0)
	check(0, 10, 1)
	check(20, 20, 2)
	check(20, 29, 2)
	check(20, 30, 3)
}

func TestSeqnoTimeTest_EnforceWithNow(t *testing.T) {
	const span = 420
	m := NewSeqnoToTimeMapping().SetMaxTimeSpan(span).SetCapacity(10)
	eq(t, 0, m.Enforce(500).Size())
	for i := range uint64(5) {
		eq(t, true, m.Append(10+10*i, 500+100*i))
	}
	eq(t, 5, m.Size())
	before := func(time, want uint64) {
		t.Helper()
		eq(t, want, m.GetProximalSeqnoBeforeTime(time))
	}
	before(500, 10)
	before(599, 10)
	before(600, 20)
	before(699, 20)
	before(700, 30)
	eq(t, 5, m.Enforce(500+span).Size())
	eq(t, 5, m.Enforce(599+span).Size())
	eq(t, 4, m.Enforce(600+span).Size())
	before(500, UnknownSeqnoBeforeAll)
	before(599, UnknownSeqnoBeforeAll)
	before(600, 20)
	before(699, 20)
	before(700, 30)
	eq(t, 4, m.Enforce(600+span).Size())
	eq(t, 4, m.Enforce(699+span).Size())
	eq(t, 2, m.Enforce(899+span).Size())
	before(799, UnknownSeqnoBeforeAll)
	before(899, 40)
	eq(t, 1, m.Enforce(10000000).Size())
	before(10000000, 50)
}

func TestSeqnoTimeTest_Sort(t *testing.T) {
	m := NewSeqnoToTimeMapping()
	m.AddUnenforced(10, 11)
	eq(t, 1, m.Enforce(0).Size())
	m.AddUnenforced(10, 11)
	eq(t, 1, m.Enforce(0).Size())
	m.AddUnenforced(10, 10)
	m.AddUnenforced(10, 12)
	wantPairs(t, m.Enforce(0), SeqnoTimePair{10, 10})
	m.AddUnenforced(9, 11)
	wantPairs(t, m.Enforce(0), SeqnoTimePair{10, 10})
	m.AddUnenforced(11, 9)
	wantPairs(t, m.Enforce(0), SeqnoTimePair{11, 9})
	m.AddUnenforced(1, 5)
	m.AddUnenforced(100, 100)
	wantPairs(t, m.Enforce(0), SeqnoTimePair{1, 5}, SeqnoTimePair{11, 9}, SeqnoTimePair{100, 100})
}

func reduced(t *testing.T, m *SeqnoToTimeMapping, capacity uint64) *SeqnoToTimeMapping {
	t.Helper()
	c := NewSeqnoToTimeMapping()
	c.CopyFrom(m)
	d := NewSeqnoToTimeMapping()
	if err := d.DecodeFrom(c.SetCapacity(capacity).EncodeTo(nil)); err != nil {
		t.Fatal(err)
	}
	eq(t, true, d.IsEnforced())
	return d
}

func TestSeqnoTimeTest_EncodeDecodeBasic(t *testing.T) {
	const samples, few = 1000, 51
	m := NewSeqnoToTimeMapping().SetCapacity(samples)
	eq(t, 0, len(m.EncodeTo(nil)))
	if err := m.DecodeFrom(nil); err != nil || m.Size() != 0 {
		t.Fatal(err, m.Size())
	}
	rnd := util.NewRandom(123)
	for i := uint64(1); i <= samples; i++ {
		eq(t, true, m.Append(i, i*10+uint64(rnd.Uniform(10))))
	}
	d := NewSeqnoToTimeMapping()
	if err := d.DecodeFrom(m.EncodeTo(nil)); err != nil {
		t.Fatal(err)
	}
	eq(t, true, d.IsEnforced())
	wantPairs(t, d, m.Pairs()...)

	d = reduced(t, m, few)
	eq(t, few, d.Size())
	for time := uint64(1); time <= samples*11; time += 1 + time/100 {
		orig, approx := m.GetProximalSeqnoBeforeTime(time), d.GetProximalSeqnoBeforeTime(time)
		const fuzz = samples * 3 / 2 / few
		if (orig == UnknownSeqnoBeforeAll) != (approx == UnknownSeqnoBeforeAll) || (orig == samples) != (approx == samples) ||
			approx+fuzz < orig || approx > orig {
			t.Fatalf("before time %d: %d, exactly %d", time, approx, orig)
		}
	}
}

func TestSeqnoTimeTest_EncodeDecodeMinimizeTimeGaps(t *testing.T) {
	m := NewSeqnoToTimeMapping().SetCapacity(10)
	for _, p := range []SeqnoTimePair{{1, 10}, {5, 17}, {6, 25}, {8, 30}} {
		m.Append(p.Seqno, p.Time)
	}
	wantPairs(t, reduced(t, m, 3), SeqnoTimePair{1, 10}, SeqnoTimePair{5, 17}, SeqnoTimePair{8, 30})
	for _, p := range []SeqnoTimePair{{10, 100}, {13, 200}, {40, 250}, {70, 300}} {
		m.Append(p.Seqno, p.Time)
	}
	wantPairs(t, reduced(t, m, 4), SeqnoTimePair{1, 10}, SeqnoTimePair{10, 100}, SeqnoTimePair{13, 200}, SeqnoTimePair{70, 300})
}

func TestPackValueAndSeqnoTest_Basic(t *testing.T) {
	packed := PackValueAndWriteTime(nil, []byte("foo"), 30)
	v, when, ok := ParsePackedValueWithWriteTime(packed)
	eq(t, true, ok)
	eq(t, "foo", string(v))
	eq(t, 30, when)
	v, ok = ParsePackedValueForValue(packed)
	eq(t, true, ok)
	eq(t, "foo", string(v))
}

func TestPackValueAndWriteTimeTest_Basic(t *testing.T) {
	packed := PackValueAndSeqno(nil, []byte("foo"), 30)
	v, seq, ok := ParsePackedValueWithSeqno(packed)
	eq(t, true, ok)
	eq(t, "foo", string(v))
	eq(t, 30, seq)
	_, ok = ParsePackedValueForValue(packed[:7])
	eq(t, false, ok)
}

func FuzzDecodeFrom(f *testing.F) {
	m := NewSeqnoToTimeMapping()
	m.Append(5, 10)
	m.Append(7, 20)
	f.Add(m.EncodeTo(nil))
	// Invariant: what is accepted is the same once written again, or was out
	// of order.
	f.Fuzz(func(t *testing.T, b []byte) {
		m := NewSeqnoToTimeMapping()
		if err := m.DecodeFrom(b); err != nil {
			if m.Size() != 0 {
				t.Fatal("pairs are left after an error")
			}
			return
		}
		d := NewSeqnoToTimeMapping()
		if err := d.DecodeFrom(m.EncodeTo(nil)); err != nil || !slices.Equal(d.Pairs(), m.Pairs()) {
			t.Fatal(err, d.Pairs(), m.Pairs())
		}
	})
}

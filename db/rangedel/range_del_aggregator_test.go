// Port of db/range_del_aggregator_test.cc.

package rangedel

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type parsed = dbformat.ParsedInternalKey

func uncut(s string) parsed {
	return parsed{UserKey: []byte(s), Sequence: maxSeq, Type: dbformat.TypeRangeDeletion}
}

func start(s string, seq rocksdb.SequenceNumber) parsed {
	return parsed{UserKey: []byte(s), Sequence: seq, Type: dbformat.TypeRangeDeletion}
}

func cut(s string, seq rocksdb.SequenceNumber) parsed {
	return parsed{UserKey: []byte(s), Sequence: seq, Type: dbformat.TypeMaxValid}
}

type scanCase struct {
	start, end parsed
	seq        rocksdb.SequenceNumber
}

type seekCase struct {
	target  string
	want    scanCase
	invalid bool
}

func checkTruncated(t *testing.T, it *TruncatedRangeDelIterator, want scanCase) {
	t.Helper()
	if !it.Valid() {
		t.Fatal("not valid")
	}
	s, e := it.StartKey(), it.EndKey()
	if bytewiseICmp.CompareParsed(&s, &want.start) != 0 || bytewiseICmp.CompareParsed(&e, &want.end) != 0 || it.Seq() != want.seq {
		t.Fatalf("at %s to %s seq %d, want %s to %s seq %d", s.DebugString(true, false), e.DebugString(true, false), it.Seq(),
			want.start.DebugString(true, false), want.end.DebugString(true, false), want.seq)
	}
}

func verifyIterator(t *testing.T, it *TruncatedRangeDelIterator, want ...scanCase) {
	t.Helper()
	it.SeekToFirst()
	for _, w := range want {
		checkTruncated(t, it, w)
		it.Next()
	}
	if it.Valid() {
		t.Fatal("more than expected")
	}
	it.SeekToLast()
	for i := len(want) - 1; i >= 0; i-- {
		checkTruncated(t, it, want[i])
		it.Prev()
	}
	if it.Valid() {
		t.Fatal("more than expected, backward")
	}
}

func verifyTruncatedSeek(t *testing.T, it *TruncatedRangeDelIterator, forPrev bool, cases ...seekCase) {
	t.Helper()
	for _, c := range cases {
		if forPrev {
			it.SeekForPrev([]byte(c.target))
		} else {
			it.Seek([]byte(c.target))
		}
		if c.invalid {
			if it.Valid() {
				t.Fatalf("seek to %q is valid", c.target)
			}
			continue
		}
		checkTruncated(t, it, c.want)
	}
}

// verifyShouldDelete takes "key@seq:+" for deleted and ":-" for not.
func verifyShouldDelete(t *testing.T, agg RangeDelAggregator, text string) {
	t.Helper()
	cases := strings.Fields(text)
	ask := func(c string, mode RangeDelPositioningMode) {
		t.Helper()
		key, rest, _ := strings.Cut(c, "@")
		seq, want, _ := strings.Cut(rest, ":")
		n, err := strconv.ParseUint(seq, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		p := parsed{UserKey: []byte(key), Sequence: n, Type: dbformat.TypeValue}
		if got := agg.ShouldDelete(&p, mode); got != (want == "+") {
			t.Errorf("%s (mode %d): deleted is %v", c, mode, got)
		}
	}
	for _, c := range cases {
		ask(c, ForwardTraversal)
	}
	for i := len(cases) - 1; i >= 0; i-- {
		ask(cases[i], BackwardTraversal)
	}
}

// verifyIsRangeOverlapped takes "start,end:+" or ":-".
func verifyIsRangeOverlapped(t *testing.T, agg *ReadRangeDelAggregator, text string) {
	t.Helper()
	for _, c := range strings.Fields(text) {
		keys, want, _ := strings.Cut(c, ":")
		a, b, _ := strings.Cut(keys, ",")
		if got := agg.IsRangeOverlapped([]byte(a), []byte(b)); got != (want == "+") {
			t.Errorf("%s: overlapped is %v", c, got)
		}
	}
}

func truncated(t *testing.T, text string, upper rocksdb.SequenceNumber, smallest, largest dbformat.InternalKey) *TruncatedRangeDelIterator {
	return NewTruncatedRangeDelIterator(makeIter(t, makeList(t, text, false), upper), bytewiseICmp, smallest, largest)
}

func addAll(t *testing.T, agg RangeDelAggregator, upper rocksdb.SequenceNumber, lists ...string) {
	for _, l := range lists {
		agg.AddTombstones(makeIter(t, makeList(t, l, false), upper), nil, nil)
	}
}

func TestRangeDelAggregatorTest_EmptyTruncatedIter(t *testing.T) {
	it := truncated(t, "", maxSeq, nil, nil)
	if it.SeekToFirst(); it.Valid() {
		t.Error("valid after SeekToFirst")
	}
	if it.SeekToLast(); it.Valid() {
		t.Error("valid after SeekToLast")
	}
}

const plain = "a-e@10 e-g@8 j-n@4"

var (
	plainA = scanCase{start("a", 10), uncut("e"), 10}
	plainE = scanCase{start("e", 8), uncut("g"), 8}
	plainJ = scanCase{start("j", 4), uncut("n"), 4}
)

func TestRangeDelAggregatorTest_UntruncatedIter(t *testing.T) {
	it := truncated(t, plain, maxSeq, nil, nil)
	verifyIterator(t, it, plainA, plainE, plainJ)
	verifyTruncatedSeek(t, it, false, seekCase{"d", plainA, false}, seekCase{"e", plainE, false}, seekCase{"ia", plainJ, false},
		seekCase{"n", scanCase{}, true}, seekCase{"", plainA, false})
	verifyTruncatedSeek(t, it, true, seekCase{"d", plainA, false}, seekCase{"e", plainE, false}, seekCase{"ia", plainE, false},
		seekCase{"n", plainJ, false}, seekCase{"", scanCase{}, true})
}

func TestRangeDelAggregatorTest_UntruncatedIterWithSnapshot(t *testing.T) {
	it := truncated(t, plain, 9, nil, nil)
	verifyIterator(t, it, plainE, plainJ)
	verifyTruncatedSeek(t, it, false, seekCase{"d", plainE, false}, seekCase{"e", plainE, false}, seekCase{"ia", plainJ, false},
		seekCase{"n", scanCase{}, true}, seekCase{"", plainE, false})
	verifyTruncatedSeek(t, it, true, seekCase{"d", scanCase{}, true}, seekCase{"e", plainE, false}, seekCase{"ia", plainE, false},
		seekCase{"n", plainJ, false}, seekCase{"", scanCase{}, true})
}

func TestRangeDelAggregatorTest_TruncatedIterPartiallyCutTombstones(t *testing.T) {
	it := truncated(t, plain, maxSeq, dbformat.NewInternalKey([]byte("d"), 7, dbformat.TypeValue), dbformat.NewInternalKey([]byte("m"), 9, dbformat.TypeValue))
	d := scanCase{cut("d", 7), uncut("e"), 10}
	j := scanCase{start("j", 4), cut("m", 8), 4}
	verifyIterator(t, it, d, plainE, j)
	verifyTruncatedSeek(t, it, false, seekCase{"d", d, false}, seekCase{"e", plainE, false}, seekCase{"ia", j, false},
		seekCase{"n", scanCase{}, true}, seekCase{"", d, false})
	verifyTruncatedSeek(t, it, true, seekCase{"d", d, false}, seekCase{"e", plainE, false}, seekCase{"ia", plainE, false},
		seekCase{"n", j, false}, seekCase{"", scanCase{}, true})
}

func TestRangeDelAggregatorTest_TruncatedIterFullyCutTombstones(t *testing.T) {
	it := truncated(t, plain, maxSeq, dbformat.NewInternalKey([]byte("f"), 7, dbformat.TypeValue), dbformat.NewInternalKey([]byte("i"), 9, dbformat.TypeValue))
	f := scanCase{cut("f", 7), uncut("g"), 8}
	verifyIterator(t, it, f)
	verifyTruncatedSeek(t, it, false, seekCase{"d", f, false}, seekCase{"f", f, false}, seekCase{"j", scanCase{}, true})
	verifyTruncatedSeek(t, it, true, seekCase{"d", scanCase{}, true}, seekCase{"f", f, false}, seekCase{"j", f, false})
}

func TestRangeDelAggregatorTest_SingleIterInAggregator(t *testing.T) {
	agg := NewReadRangeDelAggregator(bytewiseICmp, maxSeq)
	addAll(t, agg, maxSeq, "a-e@10 c-g@8")
	verifyShouldDelete(t, agg, "a@19:- b@9:+ d@9:+ e@7:+ g@7:-")
	verifyIsRangeOverlapped(t, agg, ",_:- _,a:+ a,c:+ d,f:+ g,l:-")
}

const second = "a-b@20 h-i@25 ii-j@15"

func TestRangeDelAggregatorTest_MultipleItersInAggregator(t *testing.T) {
	agg := NewReadRangeDelAggregator(bytewiseICmp, maxSeq)
	addAll(t, agg, maxSeq, "a-e@10 c-g@8", second)
	verifyShouldDelete(t, agg, "a@19:+ b@19:- b@9:+ d@9:+ e@7:+ g@7:- h@24:+ i@24:- ii@14:+ j@14:-")
	verifyIsRangeOverlapped(t, agg, ",_:- _,a:+ a,c:+ d,f:+ g,l:+ x,y:-")
}

func TestRangeDelAggregatorTest_MultipleItersInAggregatorWithUpperBound(t *testing.T) {
	agg := NewReadRangeDelAggregator(bytewiseICmp, 19)
	addAll(t, agg, 19, "a-e@10 c-g@8", second)
	verifyShouldDelete(t, agg, "a@19:- a@9:+ b@9:+ d@9:+ e@7:+ g@7:- h@24:- i@24:- ii@14:+ j@14:-")
	verifyIsRangeOverlapped(t, agg, ",_:- _,a:+ a,c:+ d,f:+ g,l:+ x,y:-")
}

var fileBounds = [3][2]dbformat.InternalKey{
	{dbformat.NewInternalKey([]byte("a"), 4, dbformat.TypeValue), dbformat.NewInternalKey([]byte("m"), maxSeq, dbformat.TypeRangeDeletion)},
	{dbformat.NewInternalKey([]byte("m"), 20, dbformat.TypeValue), dbformat.NewInternalKey([]byte("x"), maxSeq, dbformat.TypeRangeDeletion)},
	{dbformat.NewInternalKey([]byte("x"), 5, dbformat.TypeValue), dbformat.NewInternalKey([]byte("zz"), 30, dbformat.TypeValue)},
}

const boundOverlaps = ",_:- _,a:+ a,n:+ l,x:+ w,z:+ zzz,zz:- zz,zzz:-"

func TestRangeDelAggregatorTest_MultipleTruncatedItersInAggregator(t *testing.T) {
	agg := NewReadRangeDelAggregator(bytewiseICmp, 19)
	for _, b := range fileBounds {
		agg.AddTombstones(makeIter(t, makeList(t, "a-z@10", false), 19), b[0], b[1])
	}
	verifyShouldDelete(t, agg, "a@10:- a@9:- a@4:+ m@10:- m@9:+ x@10:- x@9:- x@5:+ z@9:-")
	verifyIsRangeOverlapped(t, agg, boundOverlaps)
}

func TestRangeDelAggregatorTest_MultipleTruncatedItersInAggregatorSameLevel(t *testing.T) {
	agg := NewReadRangeDelAggregator(bytewiseICmp, 19)
	add := func(i int) {
		agg.AddTombstones(makeIter(t, makeList(t, "a-z@10", false), 19), fileBounds[i][0], fileBounds[i][1])
	}
	add(0)
	verifyShouldDelete(t, agg, "a@10:- a@9:- a@4:+")
	add(1)
	verifyShouldDelete(t, agg, "m@10:- m@9:+")
	add(2)
	verifyShouldDelete(t, agg, "x@10:- x@9:- x@5:+ z@9:-")
	verifyIsRangeOverlapped(t, agg, boundOverlaps)
}

func newCompactionAgg(t *testing.T, snapshots []rocksdb.SequenceNumber, lists ...string) *CompactionRangeDelAggregator {
	agg := NewCompactionRangeDelAggregator(bytewiseICmp, snapshots, nil, nil)
	addAll(t, agg, maxSeq, lists...)
	return agg
}

func verifyNewIterator(t *testing.T, agg *CompactionRangeDelAggregator, lower, upper dbformat.InternalKey, want string) {
	t.Helper()
	it, err := agg.NewIterator(lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	verifyFragmentedRangeDels(t, it, want)
}

func TestRangeDelAggregatorTest_CompactionAggregatorNoSnapshots(t *testing.T) {
	agg := newCompactionAgg(t, nil, "a-e@10 c-g@8", second)
	verifyShouldDelete(t, agg, "a@19:+ b@19:- b@9:+ d@9:+ e@7:+ g@7:- h@24:+ i@24:- ii@14:+ j@14:-")
	verifyNewIterator(t, agg, nil, nil, "a-b@20 b-c@10 c-e@10 e-g@8 h-i@25 ii-j@15")
}

var twoSnapshots = []rocksdb.SequenceNumber{9, 19}

func TestRangeDelAggregatorTest_CompactionAggregatorWithSnapshots(t *testing.T) {
	agg := newCompactionAgg(t, twoSnapshots, "a-e@10 c-g@8", second)
	verifyShouldDelete(t, agg, "a@19:- a@9:- b@9:- d@9:- d@7:+ e@7:+ g@7:- h@24:+ i@24:- ii@14:+ j@14:-")
	verifyNewIterator(t, agg, nil, nil, "a-b@20 a-b@10 b-c@10 c-e@10 c-e@8 e-g@8 h-i@25 ii-j@15")
}

func rangeKey(s string, seq rocksdb.SequenceNumber) dbformat.InternalKey {
	return dbformat.NewInternalKey([]byte(s), seq, dbformat.TypeRangeDeletion)
}

func TestRangeDelAggregatorTest_CompactionAggregatorEmptyIteratorLeft(t *testing.T) {
	agg := newCompactionAgg(t, twoSnapshots, "a-e@10 c-g@8", second)
	// Upstream makes the bounds and asks nothing.
	verifyNewIterator(t, agg, rangeKey("_", 0), rangeKey("__", 0), "")
}

func TestRangeDelAggregatorTest_CompactionAggregatorEmptyIteratorRight(t *testing.T) {
	agg := newCompactionAgg(t, twoSnapshots, "a-e@10 c-g@8", second)
	verifyNewIterator(t, agg, rangeKey("p", 0), rangeKey("q", 0), "")
}

func TestRangeDelAggregatorTest_CompactionAggregatorBoundedIterator(t *testing.T) {
	agg := newCompactionAgg(t, twoSnapshots, "a-e@10 c-g@8", second)
	verifyNewIterator(t, agg, rangeKey("bb", 0), rangeKey("e", 9), "a-c@10 c-e@10 c-e@8")
}

func TestRangeDelAggregatorTest_CompactionAggregatorBoundedIteratorExtraFragments(t *testing.T) {
	agg := newCompactionAgg(t, twoSnapshots, "a-d@10 c-g@8", "b-c@20 d-f@30 h-i@25 ii-j@15")
	verifyNewIterator(t, agg, rangeKey("bb", 0), rangeKey("e", 0), "a-b@10 b-c@20 b-c@10 c-d@10 c-d@8 d-f@30 d-f@8 f-g@8")
}

// Port of db/db_iter_test.cc.

package dbiter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// check runs a script on a new iterator over entries at a sequence number.
func check(t *testing.T, entries string, seq uint64, script string, options ...iterOptions) {
	t.Helper()
	newIterTest(t, newTestIterator().load(entries), seq, options...).run(script)
}

func TestDBIteratorTest_PrepareForwardsValidatedScanRanges(t *testing.T) {
	it := newIterTest(t, newTestIterator().load("put a val_a; put b val_b"), 10)
	args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
	args.Insert([]byte("a"), []byte("c"))
	it.Prepare(&args)
	if it.Status() != nil || it.inner.prepares != 1 {
		t.Fatalf("%d calls, %v", it.inner.prepares, it.Status())
	}
}

func TestDBIteratorTest_PrepareDoesNotForwardInvalidScanRanges(t *testing.T) {
	it := newIterTest(t, newTestIterator().load("put a val_a; put b val_b"), 10)
	args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
	args.Insert([]byte("b"), []byte("d"))
	args.Insert([]byte("a"), []byte("c"))
	it.Prepare(&args)
	if !errors.Is(it.Status(), rocksdb.ErrInvalidArgument) || it.inner.prepares != 0 {
		t.Fatalf("%d calls, %v", it.inner.prepares, it.Status())
	}
}

func TestDBIteratorTest_DBIteratorPrevNext(t *testing.T) {
	check(t, "del a; del a; del a; del a; put a val_a; put b val_b", 10,
		"last b=val_b; prev a=val_a; next b=val_b; next end")
	check(t, "put a val_a; put b val_b; put b val_b; put c val_c", 10, "last c")
	check(t, "put a val_a; put b val_b; put c val_c; put d val_d; put e val_e; put f val_f", 10,
		"last c; next end; last c", upperBound("d"))
	// A bound that is no key.
	check(t, "put a val_a; put a val_a; put b val_b; put c val_c; put d val_d", 10,
		"last d; next end; last d; prev c", upperBound("z"))
	// The bound is the first key.
	check(t, "put a val_a; put a val_a; put a val_a; put b val_b; put b val_b", 10, "last end", upperBound("a"))

	// The bound's own entries are not walked through.
	var perf rocksdb.PerfContext
	perf.Level = rocksdb.EnableCount
	check(t, "put a val_a; put b val_b; put c val_c; put c val_c; put c val_c; put c val_c; put c val_c; put c val_c; put c val_c", 7,
		"last b", upperBound("c"), withPerf(&perf))
	if perf.InternalKeySkippedCount != 1 {
		t.Fatalf("%d internal keys skipped", perf.InternalKeySkippedCount)
	}
	// Entries before and after the iterator's sequence number.
	check(t, "put a val_a1; put a val_a2; put b val_b1; put c val_c1; put c val_c2; put c val_c3; put b val_b2; put d val_d1", 4,
		"last b=val_b1", upperBound("c"))
	// The bound is a deleted key.
	check(t, "put a val_a; del a; put b val_b; put c val_c", 10, "last end", upperBound("a"))
	check(t, "put a val_a; put b val_b; del b; put c val_c", 10, "last a; next end; last a", upperBound("c"))
	// Many deletions behind the bound.
	perf = rocksdb.PerfContext{Level: rocksdb.EnableCount}
	check(t, "put a val_a; put b val_b; del c; del d; del e; del f; del g; del h", 7, "last b", upperBound("c"), withPerf(&perf))
	if perf.InternalDeleteSkippedCount != 0 {
		t.Fatalf("%d deletions skipped", perf.InternalDeleteSkippedCount)
	}

	check(t, "del a; del a; del a; del a; put a val_a; put b val_b", 10, "first a=val_a; next b=val_b; prev a=val_a; prev end")
	check(t, strings.Repeat("put a val_a; put b val_b;", 5), 2, "last b=val_b; next end; last b=val_b")
	check(t, strings.Repeat("put a val_a;", 5)+"put b val_b; put c val_c", 10, "last c=val_c; prev b=val_b; next c=val_c")
}

func TestDBIteratorTest_DBIteratorEmpty(t *testing.T) {
	check(t, "", 0, "last end")
	check(t, "", 0, "first end")
}

func TestDBIteratorTest_DBIteratorUseSkipCountSkips(t *testing.T) {
	stats := monitoring.CreateDBStatistics()
	it := newIterTest(t, newTestIterator().load(strings.Repeat("put a a; put b b; put c c;", 200)), 2,
		func(c *Config, _ *rocksdb.ReadOptions) { c.Statistics = stats })
	for i, step := range []struct {
		script string
		want   uint64
	}{{"last c=c", 1}, {"prev b=b", 2}, {"prev a=a", 3}, {"prev end", 3}} {
		it.run(step.script)
		if n := stats.GetTickerCount(rocksdb.NumberOfReseeksInIteration); n != step.want {
			t.Fatalf("step %d: %d reseeks, want %d", i, n, step.want)
		}
	}
}

func numbered(kind string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d;", kind, i)
	}
	return b.String()
}

func TestDBIteratorTest_DBIteratorUseSkip(t *testing.T) {
	const head = "merge b merge_1; merge a merge_2;"
	const tail = "prev b=merge_1; prev a=merge_2; prev end"
	deletions := strings.Repeat("del c;", 200)
	for i := range 200 {
		seq := uint64(i + 2)
		check(t, head+numbered("put c", 200), seq, fmt.Sprintf("last c=%d;", i)+tail)
		check(t, head+deletions+"put c 200", seq, "last b=merge_1; prev a=merge_2; prev end")
		check(t, deletions+"put c 200", uint64(i), "last end; first end")
		check(t, head+numbered("put d", 200)+numbered("put c", 200), seq, fmt.Sprintf("last d=%d;", i)+tail)
		merged := make([]string, i+1)
		for j := range merged {
			merged[j] = strconv.Itoa(j)
		}
		check(t, "merge b b; merge a a;"+numbered("merge c", 200), seq, "last c="+strings.Join(merged, ",")+"; prev b=b; prev a=a; prev end")
	}
	check(t, head+deletions+"put c 200", 202, "last c=200;"+tail)
	check(t, deletions+"put c 200", 200, "last c=200; prev end; first c=200; next end")
}

func TestDBIteratorTest_DBIteratorSkipInternalKeys(t *testing.T) {
	// 0 is no limit.
	check(t, "put a val_a; del b; del b; put c val_c; put c val_c; del c; put d val_d", 10,
		"first a=val_a; next d=val_d; next end; last d=val_d; prev a=val_a; prev end", maxSkippable(0))
	// As many as the limit are let pass.
	check(t, "put a val_a; del b; del b; put c val_c", 10,
		"first a=val_a; next c=val_c; next end; last c=val_c; prev a=val_a; prev end", maxSkippable(2))
	check(t, "put a val_a; del b; del b; del b; put c val_c", 10,
		"first a=val_a; next incomplete; last c=val_c; prev incomplete", maxSkippable(2))
	// The count begins anew with each step.
	check(t, "put a val_a; del b; del b; put c val_c; del d; del d; del d; put e val_e", 10,
		"first a=val_a; next c=val_c; next incomplete", maxSkippable(2))
	check(t, "put a val_a; del b; del b; del b; put c val_c; del d; del d; put e val_e", 10,
		"last e=val_e; prev c=val_c; prev incomplete", maxSkippable(2))
	// Different keys.
	check(t, "put a val_a; del b; del c; del d; put e val_e", 10,
		"first a=val_a; next incomplete; last e=val_e; prev incomplete", maxSkippable(2))
	// Puts and deletions in turns.
	check(t, "put a val_a; put b val_b; del b; put c val_c; del c; put d val_d; del d; put e val_e", 10,
		"first a=val_a; next incomplete; last e=val_e; prev incomplete", maxSkippable(2))
	for i := 1; i <= 200; i++ {
		entries := "put a val_a;" + strings.Repeat("put b val_b; del b;", i) + "put c val_c"
		seq, limit := uint64(2*i+1), maxSkippable(uint64(i))
		script := "first a=val_a; next incomplete; last c=val_c; prev incomplete"
		check(t, entries, seq, script, limit, maxSequentialSkip(1000))
		if i > 9 {
			// With 8 sequential skips a reseek comes before the limit.
			script = "first a=val_a; next c=val_c; last c=val_c; prev a=val_a"
		}
		check(t, entries, seq, script, limit)
	}
}

func TestDBIteratorTest_DBIteratorTimedPutBasic(t *testing.T) {
	check(t, "timed a 0; merge a 1; timed b 0; del b; timed c 01; timed c 02; timed c 2; timed d 3", 7,
		"first a=0,1; next c=2; next d=3; next end; last d=3; prev c=2; prev a=0,1; prev end", maxSequentialSkip(1))
}

const fiveEntries = "put a 0; put b 0; del b; merge a 1; merge b 2"

func TestDBIteratorTest_DBIterator1(t *testing.T) {
	check(t, fiveEntries, 1, "first a=0; next b; next end")
}

func TestDBIteratorTest_DBIterator2(t *testing.T) {
	check(t, fiveEntries, 0, "first a=0; next end")
}

func TestDBIteratorTest_DBIterator3(t *testing.T) {
	check(t, fiveEntries, 2, "first a=0; next end")
}

func TestDBIteratorTest_DBIterator4(t *testing.T) {
	check(t, fiveEntries, 4, "first a=0,1; next b=2; next end")
}

func TestDBIteratorTest_DBIterator5(t *testing.T) {
	const entries = "merge a merge_1; merge a merge_2; merge a merge_3; put a put_1; merge a merge_4; merge a merge_5; merge a merge_6"
	for seq, want := range []string{"merge_1", "merge_1,merge_2", "merge_1,merge_2,merge_3", "put_1", "put_1,merge_4",
		"put_1,merge_4,merge_5", "put_1,merge_4,merge_5,merge_6"} {
		check(t, entries, uint64(seq), "last a="+want+"; prev end")
	}
	check(t, "put a val_a; sdel a; merge a merge_1; merge a merge_2; put b val_b", 10, "seek:b b; prev a")
}

func TestDBIteratorTest_DBIterator6(t *testing.T) {
	const entries = "merge a merge_1; merge a merge_2; merge a merge_3; del a; merge a merge_4; merge a merge_5; merge a merge_6"
	for seq, want := range []string{"merge_1", "merge_1,merge_2", "merge_1,merge_2,merge_3", "", "merge_4",
		"merge_4,merge_5", "merge_4,merge_5,merge_6"} {
		script := "last a=" + want + "; prev end"
		if want == "" {
			script = "last end"
		}
		check(t, entries, uint64(seq), script)
	}
}

func TestDBIteratorTest_DBIterator7(t *testing.T) {
	const entries = "merge a merge_1; put b val; merge b merge_2; del b; merge b merge_3; merge c merge_4; merge c merge_5;" +
		"del b; merge b merge_6; merge b merge_7; merge b merge_8; merge b merge_9; merge b merge_10; merge b merge_11; del c"
	const tail = "; prev a=merge_1; prev end"
	for _, c := range []struct {
		seq    uint64
		script string
	}{
		{0, "last a=merge_1; prev end"},
		{2, "last b=val,merge_2" + tail},
		{4, "last b=merge_3" + tail},
		{5, "last c=merge_4; prev b=merge_3" + tail},
		{6, "last c=merge_4,merge_5; prev b=merge_3" + tail},
		{7, "last c=merge_4,merge_5" + tail},
		{9, "last c=merge_4,merge_5; prev b=merge_6,merge_7" + tail},
		{13, "last c=merge_4,merge_5; prev b=merge_6,merge_7,merge_8,merge_9,merge_10,merge_11" + tail},
		{14, "last b=merge_6,merge_7,merge_8,merge_9,merge_10,merge_11" + tail},
	} {
		check(t, entries, c.seq, c.script)
	}
}

func TestDBIteratorTest_DBIterator8(t *testing.T) {
	check(t, "del a; put a 0; put b 0", 10, "last b=0; prev a=0")
}

func TestDBIteratorTest_DBIterator9(t *testing.T) {
	check(t, "merge a merge_1; merge a merge_2; merge b merge_3; merge b merge_4; merge d merge_5; merge d merge_6", 10,
		`last d; prev b=merge_3,merge_4; next d=merge_5,merge_6;
		seek:b b=merge_3,merge_4; prev a=merge_1,merge_2;
		seekp:b b=merge_3,merge_4; next d=merge_5,merge_6;
		seek:c d=merge_5,merge_6; prev b=merge_3,merge_4;
		seekp:c b=merge_3,merge_4; next d=merge_5,merge_6`)
}

func TestDBIteratorTest_DBIterator10(t *testing.T) {
	check(t, "put a 1; put b 2; put c 3; put d 4", 10,
		"seek:c c; prev b=2; next c=3; seekp:c c; next d=4; prev c=3")
}

func noMerger(c *Config, _ *rocksdb.ReadOptions) { c.Merger = nil }

func TestDBIteratorTest_SeekToLastOccurrenceSeq0(t *testing.T) {
	check(t, "put a 1; put b 2", 10, "first a=1; next b=2; next end", noMerger)
}

func TestDBIteratorTest_DBIterator11(t *testing.T) {
	check(t, "put a 0; put b 0; sdel b; merge a 1; merge b 2", 1, "first a=0; next b; next end")
}

func TestDBIteratorTest_DBIterator12(t *testing.T) {
	check(t, "put a 1; put b 2; put c 3; sdel b", 10, "last c=3; prev a=1; prev end", noMerger)
}

func TestDBIteratorTest_DBIterator13(t *testing.T) {
	key := "b" + strings.Repeat("\x00", 8)
	check(t, numbered("put "+key, 9), 2, "seek:b "+key+"=2", noMerger, maxSequentialSkip(3))
}

func TestDBIteratorTest_DBIterator14(t *testing.T) {
	check(t, "put b 0; put b 1; put b 2; put b 3; put a 4; put a 5; put a 6; put c 7; put c 8; put c 9", 4,
		"seek:b b=3; first a=4", noMerger, maxSequentialSkip(1))
}

// mergeIterTest is a DBIter over a merge of two iterators, the second of which
// grows while it is walked.
type mergeIterTest struct {
	*testing.T
	one, two *testIterator
	d        *DBIter
}

func newMergeIterTest(t *testing.T) *mergeIterTest {
	m := &mergeIterTest{T: t, one: newTestIterator(), two: newTestIterator()}
	for _, e := range []struct {
		it         *testIterator
		key, value string
		seq        uint64
	}{{m.one, "a", "1", 3}, {m.one, "f", "2", 5}, {m.one, "g", "3", 7}, {m.two, "a", "4", 6}, {m.two, "b", "5", 1}, {m.two, "c", "6", 2}, {m.two, "d", "7", 3}} {
		e.it.addAt(e.key, dbformat.TypeValue, e.value, e.seq, false)
	}
	m.one.finish()
	m.two.finish()
	merged := table.NewMergingIterator(m.one.icmp, []internaliter.InternalIterator{m.one, m.two}, false)
	m.d = New(defaultConfig(merged, m.one.icmp, 8, noMerger, maxSequentialSkip(3)))
	t.Cleanup(func() {
		if err := m.d.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *mergeIterTest) run(script string) {
	m.Helper()
	run(m.T, m.d, script)
}

// add adds a put of "7" to the second iterator for each sequence number.
func (m *mergeIterTest) add(key string, update bool, seqs ...uint64) {
	for _, seq := range seqs {
		m.two.addAt(key, dbformat.TypeValue, "7", seq, update)
	}
}

const backFromF = "prev d=7; prev c=6; prev b=5; prev a=4"

func TestDBIterWithMergeIterTest_InnerMergeIterator1(t *testing.T) {
	newMergeIterTest(t).run("first a=4; next b=5; next c=6; next d=7; next f=2; next g=3; next end")
}

func TestDBIterWithMergeIterTest_InnerMergeIterator2(t *testing.T) {
	newMergeIterTest(t).run("seekp:g g=3; prev f=2;" + backFromF)
}

// testRaceAtEnd lets grow run whenever the merge, turning round, has put a
// child before the present key.
func testRaceAtEnd(t *testing.T, grow func(m *mergeIterTest)) {
	m := newMergeIterTest(t)
	m.run("seek:f f=2")
	m.two.afterSeekBefore = func() { grow(m) }
	m.run(backFromF)
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace1(t *testing.T) {
	testRaceAtEnd(t, func(m *mergeIterTest) { m.add("z", false, 12) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace2(t *testing.T) {
	testRaceAtEnd(t, func(m *mergeIterTest) { m.add("z", false, 12, 11) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace3(t *testing.T) {
	testRaceAtEnd(t, func(m *mergeIterTest) { m.add("z", true, 16, 15, 14, 13, 12, 11) })
}

// testRaceBeforeZ is the same with a key "z" in the second iterator, grow
// running when it stands there.
func testRaceBeforeZ(t *testing.T, script string, prepare, grow func(m *mergeIterTest)) {
	m := newMergeIterTest(t)
	m.two.addAt("z", dbformat.TypeValue, "9", 4, false)
	prepare(m)
	m.run("seek:g g=3")
	m.two.afterSeekBefore = func() {
		if m.two.valid && string(m.two.UserKey()) == "z" {
			grow(m)
		}
	}
	m.run(script)
}

func unprepared(*mergeIterTest) {}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace4(t *testing.T) {
	testRaceBeforeZ(t, "prev f=2;"+backFromF, unprepared, func(m *mergeIterTest) { m.add("x", true, 16, 15, 14, 13, 12, 11) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace5(t *testing.T) {
	testRaceBeforeZ(t, "prev f=2;"+backFromF, unprepared, func(m *mergeIterTest) { m.add("x", true, 16, 15) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace6(t *testing.T) {
	testRaceBeforeZ(t, "prev f=2;"+backFromF, unprepared, func(m *mergeIterTest) { m.add("x", true, 16) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace7(t *testing.T) {
	testRaceBeforeZ(t, "prev f=2;"+backFromF, func(m *mergeIterTest) {
		for i, key := range []string{"u", "v", "w"} {
			m.one.addAt(key, dbformat.TypeValue, strconv.Itoa(10+i), 4, false)
		}
	}, func(m *mergeIterTest) { m.add("x", true, 16, 15, 14, 13, 12, 11) })
}

func TestDBIterWithMergeIterTest_InnerMergeIteratorDataRace8(t *testing.T) {
	testRaceBeforeZ(t, "prev f=2; prev d=7", unprepared, func(m *mergeIterTest) {
		m.add("x", true, 16)
		m.add("y", true, 17)
	})
}

func TestDBIteratorTest_SeekPrefixTombstones(t *testing.T) {
	for _, script := range []string{"seekp:z", "seek:a"} {
		perf := rocksdb.PerfContext{Level: rocksdb.EnableCount}
		check(t, "del b; del c; del d; del e; del f; del g", 10, script, withPerf(&perf), func(c *Config, ro *rocksdb.ReadOptions) {
			c.PrefixExtractor = util.NewNoopTransform()
			ro.PrefixSameAsStart = true
		})
		if perf.InternalKeySkippedCount != 0 {
			t.Fatalf("%s: %d internal keys skipped", script, perf.InternalKeySkippedCount)
		}
	}
}

func TestDBIteratorTest_SeekToFirstLowerBound(t *testing.T) {
	const keys = 3
	for i := range keys + 2 {
		want := strconv.Itoa(max(i, 1))
		if i == keys+1 {
			want = "end"
		}
		check(t, "put 1 val; put 2 val; put 3 val", 10, "first "+want, lowerBound(strconv.Itoa(i)))
	}
}

func TestDBIteratorTest_PrevLowerBound(t *testing.T) {
	check(t, "put 1 val; put 2 val; put 3 val", 10, "last 3; prev 2; prev end", lowerBound("2"))
}

func TestDBIteratorTest_SeekLessLowerBound(t *testing.T) {
	check(t, "put 1 val; put 2 val; put 3 val", 10, "seek:1 2", lowerBound("2"))
}

func TestDBIteratorTest_ReverseToForwardWithDisappearingKeys(t *testing.T) {
	inner := newTestIterator().load("put a A; put b B")
	for i := range 100 {
		inner.add("c"+strconv.Itoa(i), dbformat.TypeValue, "")
	}
	inner.finish()
	it := newIterTest(t, inner, 10, func(c *Config, _ *rocksdb.ReadOptions) { c.PrefixExtractor = util.NewCappedPrefixTransform(0) })
	it.run("seekp:a a")
	inner.vanish("a")
	it.run("next b")
	if inner.steps >= 20 {
		t.Fatalf("%d steps of the inner iterator", inner.steps)
	}
}

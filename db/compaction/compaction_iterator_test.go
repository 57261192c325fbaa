// Port of db/compaction/compaction_iterator_test.cc.

package compaction_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	tValue    = dbformat.TypeValue
	tDel      = dbformat.TypeDeletion
	tSD       = dbformat.TypeSingleDeletion
	tMerge    = dbformat.TypeMerge
	tBlob     = dbformat.TypeBlobIndex
	tEntity   = dbformat.TypeWideColumnEntity
	tTimed    = dbformat.TypeValuePreferredSeqno
	tRangeDel = dbformat.TypeRangeDeletion
	tDelTS    = dbformat.TypeDeletionWithTimestamp
	maxSeq    = dbformat.MaxSequenceNumber
)

func keyStr(userKey string, seq rocksdb.SequenceNumber, t dbformat.ValueType) string {
	return string(dbformat.NewInternalKey([]byte(userKey), seq, t))
}

func keyStrTS(ts uint64, userKey string, seq rocksdb.SequenceNumber, t dbformat.ValueType) string {
	return keyStr(string(util.AppendFixed64([]byte(userKey), ts)), seq, t)
}

// corruptKey has a type that tables do not hold.
func corruptKey(userKey string, seq rocksdb.SequenceNumber) string {
	return keyStr(userKey, seq, dbformat.TypeLogData)
}

func timed(v string, seqno uint64) string { return string(util.AppendFixed64([]byte(v), seqno)) }

func fixed64(v uint64) []byte { return util.AppendFixed64(nil, v) }

// noMergingMergeOp must not be asked to merge.
type noMergingMergeOp struct {
	rocksdb.MergeOperatorBase
	t *testing.T
}

func (noMergingMergeOp) Name() string { return "CompactionIteratorTest NoMergingMergeOp" }

func (o noMergingMergeOp) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	o.t.Error("unexpected full merge")
	return false
}

func (o noMergingMergeOp) PartialMergeMulti([]byte, [][]byte, []byte, rocksdb.Logger) ([]byte, bool) {
	o.t.Error("unexpected partial merge")
	return nil, false
}

// appendOp joins with commas; partial says whether operands alone can be.
type appendOp struct {
	rocksdb.MergeOperatorBase
	partial bool
}

func (appendOp) Name() string { return "StringAppendOperator" }

func (appendOp) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	parts := in.Operands
	if in.ExistingValue != nil {
		parts = slices.Insert(slices.Clone(parts), 0, in.ExistingValue)
	}
	out.NewValue = append(out.NewValue[:0], bytes.Join(parts, []byte(","))...)
	return true
}

func (o appendOp) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	return append(dst, bytes.Join(operands, []byte(","))...), o.partial
}

type filterFunc func(key string, vt rocksdb.CompactionFilterValueType, value string) (rocksdb.CompactionFilterDecision, string)

func (filterFunc) Name() string          { return "filterFunc" }
func (filterFunc) IgnoreSnapshots() bool { return true }
func (f filterFunc) FilterV3(_ int, key []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	d, skip := f(string(key), vt, string(existing))
	return d, nil, []byte(skip)
}

func filterAllKeys(string, rocksdb.CompactionFilterValueType, string) (rocksdb.CompactionFilterDecision, string) {
	return rocksdb.FilterRemove, ""
}

// stallingFilter removes everything and waits at keys from stallAt on.
type stallingFilter struct{ stallAt, lastSeen atomic.Int64 }

func (*stallingFilter) Name() string          { return "CompactionIteratorTest StallingFilter" }
func (*stallingFilter) IgnoreSnapshots() bool { return true }
func (f *stallingFilter) FilterV3(_ int, key []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	k, _ := strconv.ParseInt(string(key), 10, 64)
	f.lastSeen.Store(k)
	for k >= f.stallAt.Load() {
		runtime.Gosched()
	}
	return rocksdb.FilterRemove, nil, nil
}

func (f *stallingFilter) waitForStall(t *testing.T, k int64) {
	t.Helper()
	f.stallAt.Store(k)
	for f.lastSeen.Load() < k {
		runtime.Gosched()
	}
	if got := f.lastSeen.Load(); got != k {
		t.Errorf("filter is at %d, want %d", got, k)
	}
}

// loggingIterator notes what is asked of it.
type loggingIterator struct {
	*internaliter.VectorIterator
	log []string
}

func (it *loggingIterator) SeekToFirst() {
	it.log = append(it.log, "first")
	it.VectorIterator.SeekToFirst()
}

func (it *loggingIterator) Seek(target []byte) {
	it.log = append(it.log, fmt.Sprintf("seek %q", target))
	it.VectorIterator.Seek(target)
}

func (it *loggingIterator) Next() {
	it.log = append(it.log, "next")
	it.VectorIterator.Next()
}

func (it *loggingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}

type fakeCompaction struct{ bottommost, ingestBehind, notBeyond bool }

func (*fakeCompaction) Level() int                { return 0 }
func (*fakeCompaction) NumberLevels() int         { return 1 }
func (c *fakeCompaction) BottommostLevel() bool   { return c.bottommost }
func (c *fakeCompaction) AllowIngestBehind() bool { return c.ingestBehind }
func (c *fakeCompaction) KeyNotExistsBeyondOutputLevel([]byte, []int) bool {
	return c.bottommost || c.notBeyond
}

// testSnapshotChecker gives each snapshot a last visible sequence number.
type testSnapshotChecker struct {
	lastCommitted rocksdb.SequenceNumber
	snapshots     map[rocksdb.SequenceNumber]rocksdb.SequenceNumber
}

func (c *testSnapshotChecker) CheckInSnapshot(seq, snapshot rocksdb.SequenceNumber) dbformat.SnapshotCheckerResult {
	limit := c.lastCommitted
	if snapshot != maxSeq {
		limit = c.snapshots[snapshot]
	}
	if seq <= limit {
		return dbformat.SnapshotCheckerInSnapshot
	}
	return dbformat.SnapshotCheckerNotInSnapshot
}

// compactionIteratorTest is the fixture.
type compactionIteratorTest struct {
	t            *testing.T
	icmp         *dbformat.InternalKeyComparator
	useChecker   bool
	ingestBehind bool
	snapshots    []rocksdb.SequenceNumber
	visible      map[rocksdb.SequenceNumber]rocksdb.SequenceNumber
	shuttingDown atomic.Bool
	iter         *loggingIterator
	proxy        *fakeCompaction
	it           *compaction.CompactionIterator
}

// settings are InitIterators' and RunTest's rarer arguments.
type settings struct {
	lastCommitted    rocksdb.SequenceNumber // 0: all
	op               rocksdb.MergeOperator
	filter           rocksdb.CompactionFilter
	bottommost       bool
	conflictSnapshot rocksdb.SequenceNumber // 0: none
	notBeyond        bool
	tsLow            []byte
	rangeDelKeys     []string
	rangeDelValues   []string
}

func newCompactionIteratorTest(t *testing.T, cmp rocksdb.Comparator, useChecker bool) *compactionIteratorTest {
	return &compactionIteratorTest{t: t, icmp: dbformat.NewInternalKeyComparator(cmp), useChecker: useChecker,
		visible: map[rocksdb.SequenceNumber]rocksdb.SequenceNumber{}}
}

// eachParam runs the test without and with a snapshot checker.
func eachParam(t *testing.T, cmp rocksdb.Comparator, f func(c *compactionIteratorTest)) {
	for _, use := range []bool{true, false} {
		t.Run(fmt.Sprintf("snapshotChecker=%v", use), func(t *testing.T) { f(newCompactionIteratorTest(t, cmp, use)) })
	}
}

func byBytes(t *testing.T, f func(c *compactionIteratorTest)) {
	eachParam(t, util.BytewiseComparator(), f)
}

func byTS(t *testing.T, f func(c *compactionIteratorTest)) {
	eachParam(t, util.BytewiseComparatorWithU64Ts(), f)
}

func withChecker(t *testing.T) *compactionIteratorTest {
	return newCompactionIteratorTest(t, util.BytewiseComparator(), true)
}

func (c *compactionIteratorTest) addSnapshot(s rocksdb.SequenceNumber, visible ...rocksdb.SequenceNumber) {
	c.snapshots = append(c.snapshots, s)
	c.visible[s] = maxSeq
	if len(visible) > 0 {
		c.visible[s] = visible[0]
	}
}

func (c *compactionIteratorTest) clearSnapshots() {
	c.snapshots = nil
	clear(c.visible)
}

func vectorOf(ss []string) [][]byte {
	out := make([][]byte, len(ss))
	for i, s := range ss {
		out[i] = []byte(s)
	}
	return out
}

func (c *compactionIteratorTest) init(keys, values []string, s settings) {
	c.t.Helper()
	dels := internaliter.NewVectorIterator(vectorOf(s.rangeDelKeys), vectorOf(s.rangeDelValues), c.icmp.Compare)
	list, err := rangedel.NewFragmentedRangeTombstoneList(dels, c.icmp, false, nil, true)
	if err != nil {
		c.t.Fatal(err)
	}
	agg := rangedel.NewCompactionRangeDelAggregator(c.icmp, c.snapshots, nil, nil)
	agg.AddTombstones(rangedel.NewFragmentedRangeTombstoneIterator(list, c.icmp, maxSeq, nil, 0), nil, nil)
	if s.lastCommitted == 0 {
		s.lastCommitted = maxSeq
	}
	if s.conflictSnapshot == 0 {
		s.conflictSnapshot = maxSeq
	}
	o := compaction.CompactionIteratorOptions{Comparator: c.icmp, Snapshots: c.snapshots, EarliestSnapshot: maxSeq,
		EarliestWriteConflictSnapshot: s.conflictSnapshot, JobSnapshot: maxSeq, RangeDelAgg: agg, AllowDataInErrors: true,
		EnforceSingleDelContracts: true, CompactionFilter: s.filter, ShuttingDown: &c.shuttingDown, FullHistoryTSLow: s.tsLow}
	if len(c.snapshots) > 0 {
		o.EarliestSnapshot = c.snapshots[0]
	}
	if c.useChecker || s.lastCommitted < maxSeq {
		o.SnapshotChecker = &testSnapshotChecker{s.lastCommitted, c.visible}
	}
	if s.filter != nil || s.bottommost || s.notBeyond {
		c.proxy = &fakeCompaction{s.bottommost, c.ingestBehind, s.notBeyond}
		o.Compaction = c.proxy
	}
	o.MergeHelper = merge.NewMergeHelper(merge.MergeHelperOptions{UserComparator: c.icmp.UserComparator(), UserMergeOperator: s.op,
		CompactionFilter: s.filter, SnapshotChecker: o.SnapshotChecker, ShuttingDown: &c.shuttingDown})
	c.iter = &loggingIterator{VectorIterator: internaliter.NewVectorIterator(vectorOf(keys), vectorOf(values), c.icmp.Compare)}
	c.iter.SeekToFirst()
	o.Input = c.iter
	c.it = compaction.NewCompactionIterator(o)
	c.t.Cleanup(func() { _ = c.it.Close() })
}

// want checks the present entry; "*" takes any value.
func (c *compactionIteratorTest) want(key, value string) {
	c.t.Helper()
	if !c.it.Valid() || c.it.Status() != nil {
		c.t.Fatalf("valid %v, status %v; want key %q", c.it.Valid(), c.it.Status(), key)
	}
	if got := string(c.it.Key()); key != "*" && got != key {
		c.t.Fatalf("key %q, want %q", got, key)
	}
	if got := string(c.it.Value()); value != "*" && got != value {
		c.t.Fatalf("value %q, want %q", got, value)
	}
}

func (c *compactionIteratorTest) wantEnd() {
	c.t.Helper()
	if c.it.Valid() || c.it.Status() != nil {
		c.t.Fatalf("valid %v, status %v; want the end", c.it.Valid(), c.it.Status())
	}
}

func (c *compactionIteratorTest) run(keys, values, wantKeys, wantValues []string, s settings) {
	c.t.Helper()
	c.init(keys, values, s)
	c.it.SeekToFirst()
	for i := range wantKeys {
		c.want(wantKeys[i], wantValues[i])
		c.it.Next()
	}
	c.wantEnd()
}

func TestCompactionIteratorTest_EmptyResult(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.init([]string{keyStr("a", 5, tSD), keyStr("a", 3, tValue)}, []string{"", "val"}, settings{})
		c.it.SeekToFirst()
		c.wantEnd()
	})
}

func TestCompactionIteratorTest_CorruptionAfterSingleDeletion(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.init([]string{keyStr("a", 5, tSD), corruptKey("a", 3), keyStr("b", 10, tValue)}, []string{"", "val", "val2"}, settings{})
		c.it.SeekToFirst()
		c.want(keyStr("a", 5, tSD), "")
		c.it.Next()
		if c.it.Valid() || !rocksdb.IsCorruption(c.it.Status()) {
			c.t.Fatalf("valid %v, status %v", c.it.Valid(), c.it.Status())
		}
	})
}

func TestCompactionIteratorTest_TimedPutAndSingleDelete(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.init([]string{keyStr("a", 5, tSD), keyStr("a", 3, tTimed)}, []string{"", "val"}, settings{})
		c.it.SeekToFirst()
		c.wantEnd()
	})
}

func TestCompactionIteratorTest_SimpleRangeDeletion(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.run([]string{keyStr("morning", 5, tValue), keyStr("morning", 2, tValue), keyStr("night", 3, tValue)}, []string{"zao", "zao", "wan"},
			[]string{keyStr("morning", 5, tValue), keyStr("night", 3, tValue)}, []string{"zao", "wan"},
			settings{rangeDelKeys: []string{keyStr("ma", 4, tRangeDel)}, rangeDelValues: []string{"mz"}})
	})
}

func TestCompactionIteratorTest_RangeDeletionWithSnapshots(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.addSnapshot(10)
		c.run([]string{keyStr("morning", 15, tValue), keyStr("morning", 5, tValue), keyStr("night", 40, tValue), keyStr("night", 20, tValue)},
			[]string{"zao 15", "zao 5", "wan 40", "wan 20"},
			[]string{keyStr("morning", 5, tValue), keyStr("night", 40, tValue)}, []string{"zao 5", "wan 40"},
			settings{rangeDelKeys: []string{keyStr("ma", 28, tRangeDel)}, rangeDelValues: []string{"mz"}})
	})
}

func TestCompactionIteratorTest_TimedPutAndRangeDeletion(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.run([]string{keyStr("morning", 5, tTimed), keyStr("morning", 2, tTimed), keyStr("night", 3, tTimed)},
			[]string{timed("zao5", 0), timed("zao2", 0), timed("wan", 0)},
			[]string{keyStr("morning", 5, tTimed), keyStr("night", 3, tTimed)}, []string{timed("zao5", 0), timed("wan", 0)},
			settings{rangeDelKeys: []string{keyStr("ma", 4, tRangeDel)}, rangeDelValues: []string{"mz"}})
	})
}

func TestCompactionIteratorTest_CompactionFilterSkipUntil(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		t := c.t
		const value, operand = rocksdb.CompactionFilterValue, rocksdb.CompactionFilterMergeOperand
		filter := filterFunc(func(k string, vt rocksdb.CompactionFilterValueType, v string) (rocksdb.CompactionFilterDecision, string) {
			check := func(wantType rocksdb.CompactionFilterValueType, wantValue string) {
				if vt != wantType || v != wantValue {
					t.Errorf("filter of %q got type %d, value %q; want %d, %q", k, vt, v, wantType, wantValue)
				}
			}
			switch k {
			case "a":
				check(value, "av50")
				return rocksdb.FilterKeep, ""
			case "b":
				check(value, "bv60")
				return rocksdb.FilterRemoveAndSkipUntil, "d+"
			case "e":
				check(operand, "em71")
				return rocksdb.FilterKeep, ""
			case "f":
				if v == "fm65" {
					check(operand, "fm65")
					return rocksdb.FilterRemoveAndSkipUntil, "f"
				}
				check(operand, "fm30")
				return rocksdb.FilterRemoveAndSkipUntil, "g+"
			case "h":
				check(value, "hv91")
				return rocksdb.FilterKeep, ""
			case "i":
				check(operand, "im95")
				return rocksdb.FilterRemoveAndSkipUntil, "z"
			}
			t.Errorf("filter got %q", k)
			return rocksdb.FilterKeep, ""
		})
		c.run([]string{
			keyStr("a", 50, tValue), // keep
			keyStr("a", 45, tMerge),
			keyStr("b", 60, tValue), // skip to d+
			keyStr("b", 40, tValue), keyStr("c", 35, tValue), keyStr("d", 70, tMerge),
			keyStr("e", 71, tMerge), // keep
			keyStr("f", 65, tMerge), // skip to f: keep
			keyStr("f", 30, tMerge), // skip to g+
			keyStr("f", 25, tValue), keyStr("g", 90, tValue),
			keyStr("h", 91, tValue), // keep
			keyStr("i", 95, tMerge), // skip to z
			keyStr("j", 99, tValue), keyStr("k", 100, tTimed)},
			[]string{"av50", "am45", "bv60", "bv40", "cv35", "dm70", "em71", "fm65", "fm30", "fv25", "gv90", "hv91", "im95", "jv99", timed("kv100", 0)},
			[]string{keyStr("a", 50, tValue), keyStr("e", 71, tMerge), keyStr("h", 91, tValue)}, []string{"av50", "em71", "hv91"},
			settings{op: noMergingMergeOp{t: t}, filter: filter})
		seek := func(k string) string { return fmt.Sprintf("seek %q", keyStr(k, maxSeq, dbformat.ValueTypeForSeek)) }
		want := []string{"first", "next", "next", seek("d+"), "next", "next", seek("g+"), "next", seek("z")}
		if !slices.Equal(c.iter.log, want) {
			t.Errorf("calls of the input %q, want %q", c.iter.log, want)
		}
	})
}

func testShuttingDown(t *testing.T, keys []string) {
	byBytes(t, func(c *compactionIteratorTest) {
		filter := &stallingFilter{}
		c.init(keys, []string{"v1", "v2", "v3", "v4"}, settings{op: noMergingMergeOp{t: c.t}, filter: filter})
		c.proxy.notBeyond = true // no deletions stay for filtered keys
		done := make(chan struct{})
		var seekDone atomic.Bool
		go func() {
			defer close(done)
			c.it.SeekToFirst()
			seekDone.Store(true)
		}()
		filter.waitForStall(c.t, 1)
		filter.waitForStall(c.t, 2)
		c.shuttingDown.Store(true)
		if seekDone.Load() {
			c.t.Error("SeekToFirst returned while the filter was stalled")
		}
		filter.stallAt.Store(3)
		<-done
		if c.it.Valid() || rocksdb.CodeOf(c.it.Status()) != rocksdb.CodeShutdownInProgress {
			c.t.Errorf("valid %v, status %v", c.it.Valid(), c.it.Status())
		}
		if got := filter.lastSeen.Load(); got != 2 {
			c.t.Errorf("filter was called for %d", got)
		}
	})
}

func TestCompactionIteratorTest_ShuttingDownInFilter(t *testing.T) {
	testShuttingDown(t, []string{keyStr("1", 1, tValue), keyStr("2", 2, tValue), keyStr("3", 3, tValue), keyStr("4", 4, tValue)})
}

func TestCompactionIteratorTest_ShuttingDownInMerge(t *testing.T) {
	testShuttingDown(t, []string{keyStr("1", 1, tValue), keyStr("2", 2, tMerge), keyStr("3", 3, tMerge), keyStr("4", 4, tValue)})
}

// singleMergeOp concatenates; single operands too.
type singleMergeOp struct {
	rocksdb.MergeOperatorBase
	t *testing.T
}

func (singleMergeOp) Name() string             { return "CompactionIteratorTest SingleMergeOp" }
func (singleMergeOp) AllowSingleOperand() bool { return true }

func (o singleMergeOp) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if string(in.Key) != "c" {
		o.t.Errorf("full merge of %q", in.Key)
	}
	out.NewValue = append(out.NewValue[:0], in.ExistingValue...)
	for _, v := range in.Operands {
		out.NewValue = append(out.NewValue, v...)
	}
	return true
}

func (o singleMergeOp) PartialMergeMulti(key []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	want := map[string]int{"a": 1, "b": 2}[string(key)]
	if len(operands) != want {
		o.t.Errorf("partial merge of %q with %d operands, want %d", key, len(operands), want)
	}
	for _, v := range operands {
		dst = append(dst, v...)
	}
	return dst, true
}

func singleMergeFilter(t *testing.T) filterFunc {
	return func(k string, vt rocksdb.CompactionFilterValueType, v string) (rocksdb.CompactionFilterDecision, string) {
		switch {
		case k == "a" && (vt != rocksdb.CompactionFilterMergeOperand || v != "av1"),
			k == "b" && vt != rocksdb.CompactionFilterMergeOperand, k != "a" && k != "b" && k != "c":
			t.Errorf("filter got %q, type %d, value %q", k, vt, v)
		}
		return rocksdb.FilterKeep, ""
	}
}

func TestCompactionIteratorTest_SingleMergeOperand(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.init([]string{keyStr("a", 50, tMerge), keyStr("b", 70, tMerge), keyStr("b", 60, tMerge), keyStr("c", 90, tMerge), keyStr("c", 80, tValue)},
			[]string{"av1", "bv2", "bv1", "cv2", "cv1"}, settings{op: singleMergeOp{t: c.t}, filter: singleMergeFilter(c.t)})
		c.it.SeekToFirst()
		c.want(keyStr("a", 50, tMerge), "av1")
		c.it.Next()
		c.want("*", "bv1bv2")
		c.it.Next()
		c.want("*", "cv1cv2")
	})
}

func TestCompactionIteratorTest_TimedPutAndMerge(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.init([]string{keyStr("c", 90, tMerge), keyStr("c", 80, tTimed)}, []string{"cv2", timed("cv1", 0)},
			settings{op: singleMergeOp{t: c.t}, filter: singleMergeFilter(c.t)})
		c.it.SeekToFirst()
		c.want(keyStr("c", 90, tValue), "cv1cv2")
	})
}

func TestCompactionIteratorTest_ZeroOutSequenceAtBottomLevel(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.addSnapshot(1)
		c.run([]string{keyStr("a", 1, tValue), keyStr("b", 2, tValue)}, []string{"v1", "v2"},
			[]string{keyStr("a", 0, tValue), keyStr("b", 2, tValue)}, []string{"v1", "v2"}, settings{bottommost: true})
	})
}

func TestCompactionIteratorTest_RemoveDeletionAtBottomLevel(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.addSnapshot(1)
		c.run([]string{keyStr("a", 1, tDel), keyStr("b", 3, tDel), keyStr("b", 1, tValue)}, []string{"", "", ""},
			[]string{keyStr("b", 3, tDel), keyStr("b", 0, tValue)}, []string{"", ""}, settings{bottommost: true})
	})
}

func TestCompactionIteratorTest_RemoveSingleDeletionAtBottomLevel(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.addSnapshot(1)
		c.run([]string{keyStr("a", 1, tSD), keyStr("b", 2, tSD)}, []string{"", ""},
			[]string{keyStr("b", 2, tSD)}, []string{""}, settings{bottommost: true})
	})
}

var (
	mergesOfA      = []string{keyStr("a", 4, tMerge), keyStr("a", 3, tMerge), keyStr("a", 2, tMerge), keyStr("b", 1, tValue)}
	mergesOfAInput = []string{"a4", "a3", "a2", "b1"}
)

func TestCompactionIteratorTest_ConvertToPutAtBottom(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.run(mergesOfA, mergesOfAInput, []string{keyStr("a", 0, tValue), keyStr("b", 0, tValue)}, []string{"a2,a3,a4", "b1"},
			settings{op: appendOp{partial: true}, bottommost: true})
	})
}

func TestCompactionIteratorTest_ZeroSeqOfKeyAndSnapshot(t *testing.T) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.addSnapshot(0)
		keys, values := []string{keyStr("a", 0, tValue), keyStr("b", 0, tValue)}, []string{"a1", "b1"}
		c.run(keys, values, keys, values, settings{})
	})
}

func ingestBehind(t *testing.T, f func(c *compactionIteratorTest)) {
	byBytes(t, func(c *compactionIteratorTest) {
		c.ingestBehind = true
		f(c)
	})
}

func TestCompactionIteratorWithAllowIngestBehindTest_NoConvertToPutAtBottom(t *testing.T) {
	ingestBehind(t, func(c *compactionIteratorTest) {
		c.run(mergesOfA, mergesOfAInput, []string{keyStr("a", 4, tMerge), keyStr("b", 1, tValue)}, []string{"a2,a3,a4", "b1"},
			settings{op: appendOp{partial: true}, bottommost: true})
	})
}

func TestCompactionIteratorWithAllowIngestBehindTest_MergeToPutIfEncounteredPutAtBottom(t *testing.T) {
	ingestBehind(t, func(c *compactionIteratorTest) {
		keys := slices.Clone(mergesOfA)
		keys[2] = keyStr("a", 2, tValue)
		c.run(keys, mergesOfAInput, []string{keyStr("a", 4, tValue), keyStr("b", 1, tValue)}, []string{"a2,a3,a4", "b1"},
			settings{op: appendOp{partial: true}, bottommost: true})
	})
}

// levelParams are the pairs of bottommost level and key-not-beyond.
var levelParams = [][2]bool{{false, false}, {false, true}, {true, true}}

func TestCompactionIteratorTsGcTest_NoKeyEligibleForGC(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(103, "a", 4, tValue), keyStrTS(102, "a", 3, tDelTS), keyStrTS(104, "b", 5, tValue)}
		values := []string{"a3", "", "b2"}
		for _, p := range levelParams {
			c.run(keys, values, keys, values, settings{bottommost: p[0], notBeyond: p[1], tsLow: fixed64(102)})
		}
	})
}

func TestCompactionIteratorTsGcTest_NoMergeEligibleForGc(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(10002, "a", 102, tMerge), keyStrTS(10001, "a", 101, tMerge), keyStrTS(10000, "a", 100, tValue)}
		values := []string{"2", "1", "a0"}
		for _, p := range levelParams {
			c.run(keys, values, keys, values, settings{op: appendOp{}, bottommost: p[0], notBeyond: p[1]})
		}
	})
}

func TestCompactionIteratorTsGcTest_AllKeysOlderThanThreshold(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(103, "a", 4, tDelTS), keyStrTS(102, "a", 3, tValue), keyStrTS(101, "a", 2, tValue), keyStrTS(104, "b", 5, tValue)}
		values := []string{"", "a2", "a1", "b5"}
		low := fixed64(math.MaxUint64)
		// The snapshot keeps the deletion and the value under it.
		c.addSnapshot(3)
		c.run(keys, values, []string{keys[0], keys[1], keys[3]}, []string{"", "a2", "b5"}, settings{tsLow: low})
		c.clearSnapshots()
		// The key may be further down.
		c.run(keys, values, []string{keys[0], keys[3]}, []string{"", "b5"}, settings{tsLow: low})
		c.run(keys, values, []string{keys[3]}, []string{"b5"}, settings{notBeyond: true, tsLow: low})
	})
}

func TestCompactionIteratorTsGcTest_SomeMergesOlderThanThreshold(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(25000, "a", 2500, tMerge), keyStrTS(19000, "a", 2300, tMerge), keyStrTS(18000, "a", 1800, tMerge),
			keyStrTS(16000, "a", 1600, tValue), keyStrTS(19000, "f", 2000, tMerge), keyStrTS(17000, "f", 1700, tMerge),
			keyStrTS(15000, "f", 1600, tDelTS)}
		values := []string{"25", "19", "18", "16", "19", "17", ""}
		low := fixed64(20000)
		c.addSnapshot(1600)
		c.addSnapshot(1900)
		for _, p := range levelParams {
			wantKeys, wantValues := slices.Clone(keys), slices.Clone(values)
			if p[0] || p[1] {
				wantKeys, wantValues = wantKeys[:6], wantValues[:6] // the deletion goes
				if p[0] {
					wantKeys[3] = keyStrTS(0, "a", 0, tValue)
				}
			}
			c.run(keys, values, wantKeys, wantValues, settings{op: appendOp{}, bottommost: p[0], notBeyond: p[1], tsLow: low})
		}
		c.clearSnapshots()
		for _, p := range levelParams {
			wantKeys := []string{keyStrTS(25000, "a", 2500, tValue), keyStrTS(19000, "f", 2000, tValue)}
			if p[0] {
				wantKeys[1] = keyStrTS(0, "f", 0, tValue)
			}
			c.run(keys, values, wantKeys, []string{"16,18,19,25", "17,19"}, settings{op: appendOp{}, bottommost: p[0], notBeyond: p[1], tsLow: low})
		}
	})
}

func TestCompactionIteratorTsGcTest_NewHidesOldSameSnapshot(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(103, "a", 4, tDelTS), keyStrTS(102, "a", 3, tValue), keyStrTS(101, "a", 2, tValue), keyStrTS(100, "a", 1, tValue)}
		values := []string{"", "a2", "a1", "a0"}
		c.run(keys, values, keys[:3], values[:3], settings{tsLow: fixed64(102)})
	})
}

// tombstonesOfA have values and deletions of one key in turn.
func tombstonesOfA(del dbformat.ValueType) (keys, values []string) {
	return []string{keyStrTS(103, "a", 4, del), keyStrTS(102, "a", 3, tValue), keyStrTS(101, "a", 2, del), keyStrTS(100, "a", 1, tValue)},
		[]string{"", "a2", "", "a0"}
}

func TestCompactionIteratorTsGcTest_DropTombstones(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys, values := tombstonesOfA(tDelTS)
		c.addSnapshot(2)
		c.run(keys, values, keys[:2], values[:2], settings{notBeyond: true, tsLow: fixed64(102)})
		c.run(keys, values, keys[:2], values[:2], settings{bottommost: true, tsLow: fixed64(102)})
	})
}

func TestCompactionIteratorTsGcTest_RewriteTs(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys, values := tombstonesOfA(tDelTS)
		c.addSnapshot(1)
		c.addSnapshot(2)
		want := slices.Clone(keys)
		want[3] = keyStrTS(0, "a", 0, tValue)
		c.run(keys, values, want, values, settings{bottommost: true, notBeyond: true, tsLow: fixed64(102)})
	})
}

func TestCompactionIteratorTsGcTest_SingleDeleteNoKeyEligibleForGC(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(104, "a", 4, tSD), keyStrTS(103, "a", 3, tValue), keyStrTS(102, "b", 2, tValue)}
		values := []string{"", "a3", "b2"}
		for _, p := range levelParams {
			c.run(keys, values, keys, values, settings{bottommost: p[0], notBeyond: p[1], tsLow: fixed64(102)})
		}
	})
}

func TestCompactionIteratorTsGcTest_SingleDeleteDropTombstones(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys, values := tombstonesOfA(tSD)
		c.addSnapshot(2)
		for _, p := range levelParams {
			c.run(keys, values, keys[:2], values[:2], settings{bottommost: p[0], notBeyond: p[1], tsLow: fixed64(102)})
		}
	})
}

func TestCompactionIteratorTsGcTest_SingleDeleteAllKeysOlderThanThreshold(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		keys := []string{keyStrTS(103, "a", 4, tSD), keyStrTS(102, "a", 3, tValue), keyStrTS(104, "b", 5, tValue)}
		values := []string{"", "a2", "b5"}
		low := fixed64(math.MaxUint64)
		c.addSnapshot(3)
		c.run(keys, values, keys, values, settings{tsLow: low})
		c.clearSnapshots()
		c.run(keys, values, keys[2:], values[2:], settings{tsLow: low})
	})
}

func TestCompactionIteratorTsGcTest_ZeroSeqOfKeyAndSnapshot(t *testing.T) {
	byTS(t, func(c *compactionIteratorTest) {
		c.addSnapshot(0)
		keys, values := []string{keyStrTS(101, "a", 0, tValue), keyStrTS(102, "b", 0, tValue)}, []string{"a1", "b1"}
		c.run(keys, values, keys, values, settings{tsLow: fixed64(math.MaxUint64)})
	})
}

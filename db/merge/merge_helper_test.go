// Port of db/merge_helper_test.cc.

package merge

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// addOperator adds 8-byte numbers and can merge operands.
type addOperator struct{ rocksdb.MergeOperatorBase }

func (addOperator) Name() string { return "UInt64AddOperator" }

func number(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return util.DecodeFixed64(b)
}

func (addOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	sum := number(in.ExistingValue)
	for _, o := range in.Operands {
		sum += number(o)
	}
	out.NewValue = util.AppendFixed64(out.NewValue[:0], sum)
	return true
}

func (addOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	sum := uint64(0)
	for _, o := range operands {
		sum += number(o)
	}
	return util.AppendFixed64(dst, sum), true
}

// appendOperator joins strings with commas and cannot merge operands alone.
type appendOperator struct {
	rocksdb.MergeOperatorBase
	fail bool
	far  rocksdb.OpFailureScope
}

func (*appendOperator) Name() string { return "StringAppendTESTOperator" }

func (a *appendOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if a.fail {
		out.OpFailureScope = a.far
		return false
	}
	all := in.Operands
	if in.ExistingValue != nil {
		all = append([][]byte{in.ExistingValue}, all...)
	}
	out.NewValue = append(out.NewValue[:0], bytes.Join(all, []byte(","))...)
	return true
}

// filterNumber drops merge operands equal to a number.
type filterNumber struct {
	n       uint64
	lastKey []byte
}

func (*filterNumber) Name() string          { return "FilterNumber" }
func (*filterNumber) IgnoreSnapshots() bool { return true }

func (f *filterNumber) FilterV3(_ int, key []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	if vt == rocksdb.CompactionFilterMergeOperand {
		f.lastKey = bytes.Clone(key)
	}
	if number(existing) == f.n {
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterKeep, nil, nil
}

type helperTest struct {
	*testing.T
	op     rocksdb.MergeOperator
	filter rocksdb.CompactionFilter
	keys   [][]byte
	values [][]byte
	iter   *internaliter.VectorIterator
	helper *MergeHelper
	agg    *rangedel.CompactionRangeDelAggregator
}

var icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func (h *helperTest) add(key string, seq uint64, t dbformat.ValueType, value []byte) {
	h.keys = append(h.keys, dbformat.NewInternalKey([]byte(key), seq, t))
	h.values = append(h.values, value)
}

func (h *helperTest) run(stopBefore uint64, atBottom bool, latestSnapshot uint64) error {
	h.iter = internaliter.NewVectorIterator(h.keys, h.values, icmp.Compare)
	h.iter.SeekToFirst()
	h.helper = NewMergeHelper(MergeHelperOptions{
		UserComparator: icmp.UserComparator(), UserMergeOperator: h.op, CompactionFilter: h.filter, LatestSnapshot: latestSnapshot,
	})
	return h.helper.MergeUntil(h.iter, h.agg, stopBefore, atBottom, false, nil, nil, nil)
}

func num(v uint64) []byte { return util.AppendFixed64(nil, v) }

func keyStr(key string, seq uint64, t dbformat.ValueType) []byte {
	return dbformat.NewInternalKey([]byte(key), seq, t)
}

// wantOutput takes pairs of internal key and value, newest first.
func (h *helperTest) wantOutput(pairs ...[]byte) {
	h.Helper()
	it := NewMergeOutputIterator(h.helper)
	if it.Valid() {
		h.Fatal("output iterator is valid before SeekToFirst")
	}
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if 2*n >= len(pairs) || !bytes.Equal(it.Key(), pairs[2*n]) || !bytes.Equal(it.Value(), pairs[2*n+1]) {
			h.Fatalf("output %d is %q %q, want %q", n, it.Key(), it.Value(), pairs)
		}
		n++
	}
	if 2*n != len(pairs) || h.helper.NumKeys() != n {
		h.Fatalf("%d outputs, want %d", n, len(pairs)/2)
	}
}

// wantIter checks that the input stands on the i-th key, past the end for -1.
func (h *helperTest) wantIter(i int) {
	h.Helper()
	if i < 0 {
		if h.iter.Valid() {
			h.Fatalf("input stands on %q", h.iter.Key())
		}
		return
	}
	if !h.iter.Valid() || !bytes.Equal(h.iter.Key(), h.keys[i]) {
		h.Fatalf("input does not stand on key %d", i)
	}
}

func (h *helperTest) wantOK(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *helperTest) wantInProgress(err error) {
	h.Helper()
	if !errors.Is(err, rocksdb.ErrMergeInProgress) {
		h.Fatalf("got %v", err)
	}
}

const (
	tMerge  = dbformat.TypeMerge
	tValue  = dbformat.TypeValue
	tDelete = dbformat.TypeDeletion
)

func TestMergeHelperTest_MergeAtBottomSuccess(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 20, tMerge, num(1))
	h.add("a", 10, tMerge, num(3))
	h.add("b", 10, tMerge, num(4))
	h.wantOK(h.run(0, true, 0))
	h.wantIter(2)
	h.wantOutput(keyStr("a", 20, tValue), num(4))
}

func TestMergeHelperTest_MergeValue(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 40, tMerge, num(1))
	h.add("a", 30, tMerge, num(3))
	h.add("a", 20, tValue, num(4))
	h.add("a", 10, tMerge, num(1))
	h.wantOK(h.run(0, false, 0))
	h.wantIter(3)
	h.wantOutput(keyStr("a", 40, tValue), num(8))
}

func TestMergeHelperTest_SnapshotBeforeValue(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 50, tMerge, num(1))
	h.add("a", 40, tMerge, num(3))
	h.add("a", 30, tMerge, num(1))
	h.add("a", 20, tValue, num(4))
	h.add("a", 10, tMerge, num(1))
	h.wantInProgress(h.run(31, true, 0))
	h.wantIter(2)
	h.wantOutput(keyStr("a", 50, tMerge), num(4))
}

func TestMergeHelperTest_NoPartialMerge(t *testing.T) {
	h := &helperTest{T: t, op: &appendOperator{}}
	h.add("a", 50, tMerge, []byte("v2"))
	h.add("a", 40, tMerge, []byte("v"))
	h.add("a", 30, tMerge, []byte("v"))
	h.wantInProgress(h.run(31, true, 0))
	h.wantIter(2)
	h.wantOutput(keyStr("a", 50, tMerge), []byte("v2"), keyStr("a", 40, tMerge), []byte("v"))
}

func TestMergeHelperTest_SingleOperand(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 50, tMerge, num(1))
	h.wantInProgress(h.run(31, false, 0))
	h.wantIter(-1)
	h.wantOutput(keyStr("a", 50, tMerge), num(1))
}

func TestMergeHelperTest_MergeDeletion(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 30, tMerge, num(3))
	h.add("a", 20, tDelete, nil)
	h.wantOK(h.run(15, false, 0))
	h.wantIter(-1)
	h.wantOutput(keyStr("a", 30, tValue), num(3))
}

func TestMergeHelperTest_CorruptKey(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}}
	h.add("a", 30, tMerge, num(3))
	h.add("a", 25, tMerge, num(1))
	h.add("a", 20, 0x77, nil)
	h.wantInProgress(h.run(15, false, 0))
	h.wantIter(2)
	h.wantOutput(keyStr("a", 30, tMerge), num(4))
}

func TestMergeHelperTest_FilterMergeOperands(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}, filter: &filterNumber{n: 5}}
	for i, v := range []uint64{3, 5, 3, 1, 5} {
		h.add("a", uint64(30-i), tMerge, num(v))
	}
	h.add("a", 25, tValue, num(1))
	h.wantOK(h.run(15, false, 0))
	h.wantIter(-1)
	h.wantOutput(keyStr("a", 30, tValue), num(8))
}

func TestMergeHelperTest_FilterAllMergeOperands(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}, filter: &filterNumber{n: 5}}
	for i := range 6 {
		h.add("a", uint64(30-i), tMerge, num(5))
	}
	h.wantOK(h.run(15, false, 0))
	h.wantIter(-1)
	h.wantOutput()
	h.add("a", 24, tDelete, num(5))
	h.add("b", 23, tValue, num(5))
	h.wantOK(h.run(15, true, 0))
	h.wantOutput()
	h.wantIter(6)
	if !bytes.Equal(h.iter.Value(), num(5)) {
		t.Fatalf("value %q", h.iter.Value())
	}
}

func addFirstFiltered(h *helperTest) {
	for i, v := range []uint64{5, 5, 2, 1, 3, 5, 5} {
		h.add("a", uint64(31-i), tMerge, num(v))
	}
	h.add("b", 24, tValue, num(5))
}

func TestMergeHelperTest_FilterFirstMergeOperand(t *testing.T) {
	f := &filterNumber{n: 5}
	h := &helperTest{T: t, op: addOperator{}, filter: f}
	addFirstFiltered(h)
	h.wantOK(h.run(15, true, 0))
	h.wantIter(7)
	h.wantOutput(keyStr("a", 29, tValue), num(6))
	if string(f.lastKey) != "a" {
		t.Fatalf("the filter saw key %q", f.lastKey)
	}
}

func TestMergeHelperTest_DontFilterMergeOperandsBeforeSnapshotTest(t *testing.T) {
	h := &helperTest{T: t, op: addOperator{}, filter: &filterNumber{n: 5}}
	addFirstFiltered(h)
	h.wantOK(h.run(15, true, 32))
	h.wantIter(7)
	h.wantOutput(keyStr("a", 31, tValue), num(26))
}

// The rest has no upstream twin.

func TestMergeHelper_FailureScopes(t *testing.T) {
	for _, c := range []struct {
		scope rocksdb.OpFailureScope
		keep  bool
	}{{rocksdb.OpFailureScopeDefault, false}, {rocksdb.OpFailureScopeTryMerge, false}, {rocksdb.OpFailureScopeMustMerge, true}} {
		h := &helperTest{T: t, op: &appendOperator{fail: true, far: c.scope}}
		h.add("a", 30, tMerge, []byte("x"))
		h.add("a", 20, tValue, []byte("base"))
		err := h.run(0, true, 0)
		if c.keep {
			h.wantInProgress(err)
			h.wantIter(1)
			h.wantOutput(keyStr("a", 30, tMerge), []byte("x"))
			continue
		}
		if s := rocksdb.AsStatus(err); s == nil || s.Code != rocksdb.CodeCorruption || s.SubCode != rocksdb.SubCodeMergeOperatorFailed {
			t.Fatalf("scope %d: %v", c.scope, err)
		}
	}
}

func TestMergeHelper_RangeTombstone(t *testing.T) {
	h := &helperTest{T: t, op: &appendOperator{}}
	h.add("a", 30, tMerge, []byte("x"))
	h.add("a", 20, tMerge, []byte("gone"))
	h.add("a", 10, tValue, []byte("gone too"))
	tombstone := dbformat.RangeTombstone{StartKey: []byte("a"), EndKey: []byte("b"), Seq: 25}
	k, v := tombstone.Serialize()
	list, err := rangedel.NewFragmentedRangeTombstoneList(internaliter.NewVectorIterator([][]byte{k}, [][]byte{v}, nil), icmp, false, nil, true)
	h.wantOK(err)
	h.agg = rangedel.NewCompactionRangeDelAggregator(icmp, nil, nil, nil)
	h.agg.AddTombstones(rangedel.NewFragmentedRangeTombstoneIterator(list, icmp, dbformat.MaxSequenceNumber, nil, 0), nil, nil)
	h.wantOK(h.run(0, false, 0))
	h.wantIter(-1)
	h.wantOutput(keyStr("a", 30, tValue), []byte("x"))
}

func TestMergeHelper_WideColumnBase(t *testing.T) {
	entity := func(columns ...string) []byte {
		var w rocksdb.WideColumns
		for i := 0; i < len(columns); i += 2 {
			w = append(w, rocksdb.WideColumn{Name: []byte(columns[i]), Value: []byte(columns[i+1])})
		}
		b, err := wide.Serialize(nil, w)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct{ base, want []byte }{
		{entity("", "d", "n", "v"), entity("", "d,x", "n", "v")},
		{entity("n", "v"), entity("", ",x", "n", "v")},
	} {
		h := &helperTest{T: t, op: &appendOperator{}}
		h.add("a", 30, tMerge, []byte("x"))
		h.add("a", 20, dbformat.TypeWideColumnEntity, c.base)
		h.wantOK(h.run(0, false, 0))
		h.wantOutput(keyStr("a", 30, dbformat.TypeWideColumnEntity), c.want)
	}
}

// A filter may change operands or skip keys.
type changing struct {
	d rocksdb.CompactionFilterDecision
}

func (changing) Name() string          { return "changing" }
func (changing) IgnoreSnapshots() bool { return true }
func (c changing) FilterV3(_ int, _ []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return c.d, []byte("new"), []byte("c")
}

func TestMergeHelper_FilterDecisions(t *testing.T) {
	h := &helperTest{T: t, op: &appendOperator{}, filter: changing{rocksdb.FilterChangeValue}}
	h.add("a", 30, tMerge, []byte("x"))
	h.add("a", 20, tMerge, []byte("y"))
	h.wantOK(h.run(0, true, 0))
	h.wantOutput(keyStr("a", 30, tValue), []byte("new,new"))
	if _, ok := h.helper.FilteredUntil(); ok {
		t.Error("skips without being told")
	}

	h.filter = changing{rocksdb.FilterRemoveAndSkipUntil}
	h.wantOK(h.run(0, true, 0))
	h.wantOutput()
	until, ok := h.helper.FilteredUntil()
	if !ok || !bytes.Equal(until, dbformat.NewInternalKey([]byte("c"), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)) {
		t.Errorf("skips to %q, %v", until, ok)
	}
}

// Port of db/write_batch_test.cc, the cases that need no memtable. The others
// are in package db.

package writebatch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// failer is what fails a test: testing's and rapid's.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func noErr(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t failer, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
}

func wantText(t failer, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s\nwant\n%s", got, want)
	}
}

func wantCount(t failer, b *WriteBatch, n uint32) {
	t.Helper()
	if b.Count() != n {
		t.Fatalf("%d entries, want %d", b.Count(), n)
	}
}

// testHandler writes down what it sees.
type testHandler struct {
	seen  string
	count int
	limit int // 0: none
}

func (h *testHandler) add(name string, cf uint32, args ...string) error {
	h.count++
	if cf != 0 {
		name += "CF"
		args = slices.Insert(args, 0, fmt.Sprint(cf))
	}
	h.seen += name + "(" + strings.Join(args, ", ") + ")"
	return nil
}

func (h *testHandler) mark(name string, args ...string) error {
	h.seen += name + "(" + strings.Join(args, ", ") + ")"
	return nil
}

func (h *testHandler) PutCF(cf uint32, k, v []byte) error {
	return h.add("Put", cf, string(k), string(v))
}
func (h *testHandler) TimedPutCF(cf uint32, k, v []byte, at uint64) error {
	return h.add("TimedPut", cf, string(k), string(v), fmt.Sprint(at))
}
func (h *testHandler) PutEntityCF(cf uint32, k, entity []byte) error {
	text, err := wide.DumpEntity(entity, false)
	if err != nil {
		return err
	}
	return h.add("PutEntity", cf, string(k), text)
}
func (h *testHandler) DeleteCF(cf uint32, k []byte) error { return h.add("Delete", cf, string(k)) }
func (h *testHandler) SingleDeleteCF(cf uint32, k []byte) error {
	return h.add("SingleDelete", cf, string(k))
}
func (h *testHandler) DeleteRangeCF(cf uint32, b, e []byte) error {
	return h.add("DeleteRange", cf, string(b), string(e))
}
func (h *testHandler) MergeCF(cf uint32, k, v []byte) error {
	return h.add("Merge", cf, string(k), string(v))
}
func (h *testHandler) PutBlobIndexCF(cf uint32, k, v []byte) error {
	return h.add("PutBlobIndex", cf, string(k), string(v))
}
func (h *testHandler) LogData(blob []byte) {
	h.count++
	h.mark("LogData", string(blob))
}
func (h *testHandler) MarkBeginPrepare(unprepare bool) error {
	return h.mark("MarkBeginPrepare", fmt.Sprint(unprepare))
}
func (h *testHandler) MarkEndPrepare(xid []byte) error { return h.mark("MarkEndPrepare", string(xid)) }
func (h *testHandler) MarkNoop(empty bool) error       { return h.mark("MarkNoop", fmt.Sprint(empty)) }
func (h *testHandler) MarkRollback(xid []byte) error   { return h.mark("MarkRollback", string(xid)) }
func (h *testHandler) MarkCommit(xid []byte) error     { return h.mark("MarkCommit", string(xid)) }
func (h *testHandler) MarkCommitWithTimestamp(xid, ts []byte) error {
	return h.mark("MarkCommitWithTimestamp", string(xid), fmt.Sprintf("%X", ts))
}
func (h *testHandler) Continue() bool                  { return h.limit == 0 || h.count < h.limit }
func (h *testHandler) WriteAfterCommit() OptionState   { return OptionUnknown }
func (h *testHandler) WriteBeforePrepare() OptionState { return OptionUnknown }

func wantSeen(t failer, b *WriteBatch, want string) {
	t.Helper()
	h := &testHandler{}
	noErr(t, b.Iterate(h))
	wantText(t, h.seen, want)
}

// dummyFamily is a column family handle of an id and a comparator.
type dummyFamily struct {
	id   uint32
	ucmp rocksdb.Comparator
}

func family(id uint32) rocksdb.ColumnFamilyHandle {
	return dummyFamily{id, util.BytewiseComparator()}
}
func familyTS(id uint32) rocksdb.ColumnFamilyHandle {
	return dummyFamily{id, util.BytewiseComparatorWithU64Ts()}
}

func (d dummyFamily) GetName() string                   { return fmt.Sprint("family ", d.id) }
func (d dummyFamily) GetID() uint32                     { return d.id }
func (d dummyFamily) GetComparator() rocksdb.Comparator { return d.ucmp }
func (d dummyFamily) GetDescriptor() (rocksdb.ColumnFamilyDescriptor, error) {
	return rocksdb.ColumnFamilyDescriptor{}, rocksdb.NotSupported("GetDescriptor")
}

// bs makes bytes of a string; it keeps the tests readable.
func bs(s string) []byte { return []byte(s) }

func TestWriteBatchTest_OwnershipTransfer(t *testing.T) {
	rnd := util.NewRandom(301)
	var b WriteBatch
	noErr(t, b.Put(bs(rnd.RandomString(16)), bs(rnd.RandomString(1024))))
	data := b.Data()
	rep := b.Release()
	if &rep[0] != &data[0] {
		t.Fatal("Release has copied")
	}
	wantCount(t, &b, 0)
	again, err := NewFromRep(rep)
	noErr(t, err)
	if &again.Data()[0] != &data[0] {
		t.Fatal("NewFromRep has copied")
	}
	wantCount(t, again, 1)
}

func TestWriteBatchTest_PrepareCommit(t *testing.T) {
	b := New()
	b.InsertNoop()
	noErr(t, b.Put(bs("k1"), bs("v1")))
	noErr(t, b.Put(bs("k2"), bs("v2")))
	b.SetSavePoint()
	noErr(t, b.MarkEndPrepare(bs("xid1"), true, false))
	wantErr(t, b.RollbackToSavePoint(), rocksdb.ErrNotFound)
	b.MarkCommit(bs("xid1"))
	b.MarkRollback(bs("xid1"))
	wantCount(t, b, 2)
	wantSeen(t, b, "MarkBeginPrepare(false)Put(k1, v1)Put(k2, v2)MarkEndPrepare(xid1)MarkCommit(xid1)MarkRollback(xid1)")
	again, err := NewFromRep(b.Data())
	noErr(t, err)
	for i, x := range []*WriteBatch{b, again} {
		if !x.HasBeginPrepare() || !x.HasEndPrepare() || !x.HasCommit() || !x.HasRollback() || !x.HasPut() || x.HasMerge() {
			t.Errorf("batch %d: flags %b", i, x.flags())
		}
	}
}

// replayHandler applies at most limit writes; those of a prepared section when
// it is committed.
type replayHandler struct {
	HandlerBase
	seen     string
	ops      int
	limit    int
	prepared map[string]*WriteBatch
	buffered *WriteBatch
}

func (r *replayHandler) Continue() bool { return r.ops < r.limit }
func (r *replayHandler) PutCF(cf uint32, k, v []byte) error {
	if r.buffered != nil {
		return r.buffered.PutByID(cf, k, v)
	}
	r.seen += "Put(" + string(k) + ", " + string(v) + ")"
	r.ops++
	return nil
}
func (r *replayHandler) DeleteCF(cf uint32, k []byte) error {
	if r.buffered != nil {
		return r.buffered.DeleteByID(cf, k)
	}
	r.seen += "Delete(" + string(k) + ")"
	r.ops++
	return nil
}
func (r *replayHandler) MarkBeginPrepare(bool) error {
	r.buffered = New()
	return nil
}
func (r *replayHandler) MarkEndPrepare(xid []byte) error {
	r.prepared = map[string]*WriteBatch{string(xid): r.buffered}
	r.buffered = nil
	return nil
}
func (r *replayHandler) MarkNoop(bool) error { return nil }
func (r *replayHandler) MarkCommit(xid []byte) error {
	b := r.prepared[string(xid)]
	if b == nil {
		return rocksdb.Corruption("Missing prepared batch for commit")
	}
	delete(r.prepared, string(xid))
	return b.Iterate(r)
}

func TestWriteBatchTest_ContinueStopsMidBatch(t *testing.T) {
	b := New()
	noErr(t, b.Put(bs("k1"), bs("v1")))
	noErr(t, b.Delete(bs("k2")))
	noErr(t, b.Put(bs("k3"), bs("v3")))
	h := &replayHandler{limit: 2}
	noErr(t, b.Iterate(h))
	if h.ops != 2 {
		t.Fatalf("%d writes", h.ops)
	}
	wantText(t, h.seen, "Put(k1, v1)Delete(k2)")
}

func TestWriteBatchTest_ContinueStopsMidPreparedCommitReplay(t *testing.T) {
	b := New()
	b.InsertNoop()
	noErr(t, b.Put(bs("k1"), bs("v1")))
	noErr(t, b.Put(bs("k2"), bs("v2")))
	b.SetSavePoint()
	noErr(t, b.MarkEndPrepare(bs("xid1"), true, false))
	wantErr(t, b.RollbackToSavePoint(), rocksdb.ErrNotFound)
	b.MarkCommit(bs("xid1"))
	h := &replayHandler{limit: 1}
	noErr(t, b.Iterate(h))
	if h.ops != 1 {
		t.Fatalf("%d writes", h.ops)
	}
	wantText(t, h.seen, "Put(k1, v1)")
}

func TestWriteBatchTest_Continue(t *testing.T) {
	b := New()
	noErr(t, b.Put(bs("k1"), bs("v1")))
	noErr(t, b.Put(bs("k2"), bs("v2")))
	noErr(t, b.PutLogData(bs("blob1")))
	noErr(t, b.Delete(bs("k1")))
	noErr(t, b.SingleDelete(bs("k2")))
	noErr(t, b.PutLogData(bs("blob2")))
	noErr(t, b.Merge(bs("foo"), bs("bar")))
	h := &testHandler{limit: 5}
	noErr(t, b.Iterate(h))
	wantText(t, h.seen, "Put(k1, v1)Put(k2, v2)LogData(blob1)Delete(k1)SingleDelete(k2)")
}

func columns(id string) rocksdb.WideColumns {
	return rocksdb.WideColumns{{Name: bs(id + "_c_1_n"), Value: bs(id + "_c_1_v")}, {Name: bs(id + "_c_2_n"), Value: bs(id + "_c_2_v")}}
}

const (
	zeroEntity  = "0_c_1_n:0_c_1_v 0_c_2_n:0_c_2_v)"
	twoEntity   = "2_c_1_n:2_c_1_v 2_c_2_n:2_c_2_v)"
	threeEntity = "3_c_1_n:3_c_1_v 3_c_2_n:3_c_2_v)"
)

func TestWriteBatchTest_AttributeGroupTest(t *testing.T) {
	b := New()
	noErr(t, b.PutEntityAttributeGroups(bs("foo"), attributeGroups(family(0), columns("0"), family(2), columns("2"))))
	wantSeen(t, b, "PutEntity(foo, "+zeroEntity+"PutEntityCF(2, foo, "+twoEntity)
	if !b.HasPutEntity() {
		t.Fatal("no entity noticed")
	}
	wantErr(t, b.PutEntityAttributeGroups(bs("foo"), nil), rocksdb.ErrInvalidArgument)
	wantErr(t, b.PutEntityCF(nil, bs("foo"), columns("0")), rocksdb.ErrInvalidArgument)
	wantErr(t, b.PutEntityCF(familyTS(3), bs("foo"), columns("0")), rocksdb.ErrInvalidArgument)
}

// Columns are sorted on their way in, and the caller's are left alone.
func TestWriteBatch_PutEntitySorts(t *testing.T) {
	b := New()
	c := columns("0")
	slices.Reverse(c)
	noErr(t, b.PutEntityCF(family(0), bs("foo"), c))
	wantSeen(t, b, "PutEntity(foo, "+zeroEntity)
	wantText(t, string(c[0].Name), "0_c_2_n")
}

func TestWriteBatchTest_AttributeGroupSavePointTest(t *testing.T) {
	b := New()
	b.SetSavePoint()
	noErr(t, b.PutEntityAttributeGroups(bs("foo"), attributeGroups(family(0), columns("0"), family(2), columns("2"))))
	b.SetSavePoint()
	noErr(t, b.PutEntityAttributeGroups(bs("bar"), attributeGroups(family(0), columns("0"), family(3), columns("3"))))
	foo := "PutEntity(foo, " + zeroEntity + "PutEntityCF(2, foo, " + twoEntity
	wantSeen(t, b, foo+"PutEntity(bar, "+zeroEntity+"PutEntityCF(3, bar, "+threeEntity)
	noErr(t, b.RollbackToSavePoint())
	wantSeen(t, b, foo)
}

type rebuildHandler struct {
	HandlerBase
	to *WriteBatch
}

func (r rebuildHandler) PutCF(cf uint32, k, v []byte) error { return r.to.PutByID(cf, k, v) }
func (r rebuildHandler) PutEntityCF(cf uint32, k, entity []byte) error {
	return r.to.PutEntitySerialized(cf, k, entity)
}

func TestWriteBatchTest_IterateCanRebuildSerializedV2Entity(t *testing.T) {
	var index blobformat.BlobIndex
	noErr(t, index.DecodeFrom(blobformat.EncodeBlob(nil, 9, 123, 456, rocksdb.NoCompression)))
	cols := rocksdb.WideColumns{{Name: bs(""), Value: bs("default_inline")}, {Name: bs("ttl"), Value: bs("00000001")}}
	entity, err := wide.SerializeV2(nil, cols, []wide.BlobColumn{{Column: 0, Index: index}})
	noErr(t, err)
	b := New()
	noErr(t, b.PutEntitySerialized(7, bs("key"), entity))
	h := rebuildHandler{to: New()}
	noErr(t, b.Iterate(h))
	wantCount(t, h.to, b.Count())
	if !bytes.Equal(h.to.Data(), b.Data()) {
		t.Fatal("the rebuilt batch differs")
	}
}

func TestWriteBatchTest_ColumnFamiliesBatchTest(t *testing.T) {
	b := New()
	zero, two, three, eight := family(0), family(2), family(3), family(8)
	noErr(t, b.PutCF(zero, bs("foo"), bs("bar")))
	noErr(t, b.PutCF(two, bs("twofoo"), bs("bar2")))
	noErr(t, b.PutCF(eight, bs("eightfoo"), bs("bar8")))
	noErr(t, b.DeleteCF(eight, bs("eightfoo")))
	noErr(t, b.SingleDeleteCF(two, bs("twofoo")))
	noErr(t, b.DeleteRangeCF(two, bs("3foo"), bs("4foo")))
	noErr(t, b.MergeCF(three, bs("threethree"), bs("3three")))
	noErr(t, b.PutCF(zero, bs("foo"), bs("bar")))
	noErr(t, b.Merge(bs("omom"), bs("nom")))
	noErr(t, b.TimedPut(zero, bs("foo"), bs("bar"), 0))
	wantSeen(t, b, "Put(foo, bar)PutCF(2, twofoo, bar2)PutCF(8, eightfoo, bar8)DeleteCF(8, eightfoo)SingleDeleteCF(2, twofoo)"+
		"DeleteRangeCF(2, 3foo, 4foo)MergeCF(3, threethree, 3three)Put(foo, bar)Merge(omom, nom)TimedPut(foo, bar, 0)")
}

func TestWriteBatchTest_MemoryLimitTest(t *testing.T) {
	// 12 bytes of header and two puts of 8.
	b := NewWithOptions(0, 28)
	noErr(t, b.Put(bs("a"), bs("....")))
	noErr(t, b.Put(bs("b"), bs("....")))
	before := bytes.Clone(b.Data())
	err := b.Put(bs("c"), bs("...."))
	var s *rocksdb.Status
	if !errors.As(err, &s) || s.Code != rocksdb.CodeAborted || s.SubCode != rocksdb.SubCodeMemoryLimit {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Data(), before) {
		t.Fatal("the refused put has left something")
	}
}

func TestWriteBatchTest_SanityChecks(t *testing.T) {
	cf0, cf4 := familyTS(0), family(4)
	b := NewWithTimestampSize(0, 0, 8)
	wrong := make([]byte, 9)
	for _, c := range []struct {
		cf rocksdb.ColumnFamilyHandle
		ts []byte
	}{{nil, bs("ts")}, {cf4, bs("ts")}, {cf0, wrong}} {
		wantErr(t, b.PutWithTimestamp(c.cf, bs("key"), c.ts, bs("value")), rocksdb.ErrInvalidArgument)
		wantErr(t, b.DeleteWithTimestamp(c.cf, bs("key"), c.ts), rocksdb.ErrInvalidArgument)
		wantErr(t, b.SingleDeleteWithTimestamp(c.cf, bs("key"), c.ts), rocksdb.ErrInvalidArgument)
		wantErr(t, b.MergeWithTimestamp(c.cf, bs("key"), c.ts, bs("value")), rocksdb.ErrInvalidArgument)
		wantErr(t, b.DeleteRangeWithTimestamp(c.cf, bs("begin_key"), bs("end_key"), c.ts), rocksdb.ErrInvalidArgument)
	}
	b1 := NewWithTimestampSize(0, 0, len(wrong))
	wantErr(t, b1.PutCF(cf0, bs("key"), bs("value")), rocksdb.ErrInvalidArgument)
	wantErr(t, b1.DeleteCF(cf0, bs("key")), rocksdb.ErrInvalidArgument)
	wantErr(t, b1.SingleDeleteCF(cf0, bs("key")), rocksdb.ErrInvalidArgument)
	wantErr(t, b1.MergeCF(cf0, bs("key"), bs("value")), rocksdb.ErrInvalidArgument)
	wantErr(t, b1.DeleteRangeCF(cf0, bs("begin_key"), bs("end_key")), rocksdb.ErrInvalidArgument)
	for _, x := range []*WriteBatch{b, b1} {
		if x.Count() != 0 || x.HasKeyWithTimestamp() {
			t.Fatal("a refused record was added")
		}
	}
}

// timestampChecker wants all keys to end with the timestamp.
type timestampChecker struct {
	HandlerBase
	ts    string
	sizes map[uint32]int
	keys  int
}

func (c *timestampChecker) PutCF(cf uint32, key, _ []byte) error {
	n, ok := c.sizes[cf]
	if !ok || n > 0 && !strings.HasSuffix(string(key), c.ts) {
		return rocksdb.Corruption(fmt.Sprintf("family %d, key %q", cf, key))
	}
	if n > 0 {
		c.keys++
	}
	return nil
}

func TestWriteBatchTest_UpdateTimestamps(t *testing.T) {
	cf0, cf4, cf5 := family(0), familyTS(4), familyTS(5)
	fe, ef := strings.Repeat("\xfe", 8), strings.Repeat("\xef", 8)
	for i, c := range []struct {
		fill func(b *WriteBatch) error
		want bool
	}{
		{func(b *WriteBatch) error { return b.PutCF(cf0, bs("key"), bs("value")) }, false},
		{func(b *WriteBatch) error { return b.PutCF(cf4, bs("key"), bs("value")) }, true},
		{func(b *WriteBatch) error { return b.PutWithTimestamp(cf4, bs("key"), bs(fe), bs("value")) }, true},
		{func(b *WriteBatch) error { return b.DeleteWithTimestamp(cf4, bs("key"), bs(fe)) }, true},
		{func(b *WriteBatch) error { return b.DeleteCF(cf4, bs("key")) }, true},
		{func(b *WriteBatch) error { return b.SingleDeleteCF(cf4, bs("key")) }, true},
		{func(b *WriteBatch) error { return b.SingleDeleteWithTimestamp(cf4, bs("key"), bs(fe)) }, true},
	} {
		var b WriteBatch
		noErr(t, c.fill(&b))
		if b.HasKeyWithTimestamp() != c.want {
			t.Errorf("batch %d: key with timestamp %v", i, !c.want)
		}
	}

	b := New()
	key := make([]byte, 16)
	for range 10 {
		for _, cf := range []rocksdb.ColumnFamilyHandle{cf0, cf4, cf5} {
			noErr(t, b.PutCF(cf, key, bs("value")))
		}
	}
	if !b.NeedsInPlaceUpdateTimestamps() {
		t.Fatal("no timestamps to fill in")
	}
	sizes := map[uint32]int{0: 0, 4: 8, 5: 8}
	size := func(cf uint32) int {
		if n, ok := sizes[cf]; ok {
			return n
		}
		return UnknownTimestampSize
	}
	// Set twice: what was filled in can be changed.
	for _, ts := range []string{fe, ef} {
		noErr(t, b.UpdateTimestamps(bs(ts), size))
		c := &timestampChecker{ts: ts, sizes: sizes}
		noErr(t, b.Iterate(c))
		if c.keys != 20 || b.NeedsInPlaceUpdateTimestamps() {
			t.Fatalf("%d keys", c.keys)
		}
	}
	wantErr(t, b.UpdateTimestamps(nil, size), rocksdb.ErrInvalidArgument)
	wantErr(t, b.UpdateTimestamps(bs("short"), size), rocksdb.ErrInvalidArgument)
	delete(sizes, 5)
	wantErr(t, b.UpdateTimestamps(bs(fe), size), rocksdb.ErrNotFound)
}

// Both keys of a range have the timestamp.
func TestWriteBatch_DeleteRangeTimestamps(t *testing.T) {
	b := New()
	noErr(t, b.DeleteRangeCF(familyTS(4), bs("a"), bs("b")))
	noErr(t, b.UpdateTimestamps(bs("TTTTTTTT"), func(uint32) int { return 8 }))
	wantSeen(t, b, "DeleteRangeCF(4, aTTTTTTTT, bTTTTTTTT)")
	b.Clear()
	noErr(t, b.DeleteRangeWithTimestamp(familyTS(4), bs("a"), bs("b"), bs("SSSSSSSS")))
	wantSeen(t, b, "DeleteRangeCF(4, aSSSSSSSS, bSSSSSSSS)")
}

func TestWriteBatchTest_CommitWithTimestamp(t *testing.T) {
	b := New()
	ts := []byte{23, 0, 0, 0, 0, 0, 0, 0}
	noErr(t, b.MarkCommitWithTimestamp(bs("xid1"), ts))
	wantSeen(t, b, "MarkCommitWithTimestamp(xid1, 1700000000000000)")
	wantErr(t, b.MarkCommitWithTimestamp(bs("xid1"), nil), rocksdb.ErrInvalidArgument)
}

// The zero batch is an empty one, whatever is done with it first.
func TestWriteBatch_ZeroValue(t *testing.T) {
	for i, f := range []func(b *WriteBatch) error{
		func(b *WriteBatch) error { return b.Put(bs("k"), bs("v")) },
		func(b *WriteBatch) error { return b.PutLogData(bs("k")) },
		func(b *WriteBatch) error { b.InsertNoop(); return nil },
		func(b *WriteBatch) error { b.MarkCommit(bs("x")); return nil },
		func(b *WriteBatch) error { b.SetSequence(5); return nil },
		func(b *WriteBatch) error { b.SetSavePoint(); return b.RollbackToSavePoint() },
		func(b *WriteBatch) error { return b.Append(&WriteBatch{}, false) },
		func(b *WriteBatch) error { return b.Iterate(&testHandler{}) },
		func(b *WriteBatch) error { b.Clear(); return nil },
		func(b *WriteBatch) error { b.MarkWalTerminationPoint(); return nil },
	} {
		var b WriteBatch
		if b.Count() != 0 || b.Sequence() != 0 || b.GetDataSize() != HeaderSize || b.HasPut() {
			t.Fatal("the zero batch is not empty")
		}
		if err := f(&b); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		noErr(t, b.Put(bs("a"), bs("b")))
		again, err := NewFromRep(b.Data())
		noErr(t, err)
		noErr(t, again.Iterate(&testHandler{}))
	}
}

func TestCheckSizes(t *testing.T) {
	noErr(t, checkSizes(math.MaxUint32-8, math.MaxUint32))
	wantErr(t, checkSizes(math.MaxUint32-7, 0), rocksdb.ErrInvalidArgument)
	wantErr(t, checkSizes(0, math.MaxUint32+1), rocksdb.ErrInvalidArgument)
}

// A handler that says so gets the record once more, and no more than that.
type retryHandler struct {
	HandlerBase
	calls, refuse int
}

func (r *retryHandler) PutCF(uint32, []byte, []byte) error {
	r.calls++
	if r.calls <= r.refuse {
		return rocksdb.TryAgain()
	}
	return nil
}

func TestWriteBatch_TryAgain(t *testing.T) {
	b := New()
	noErr(t, b.Put(bs("a"), bs("b")))
	h := &retryHandler{refuse: 1}
	noErr(t, b.Iterate(h))
	if h.calls != 2 {
		t.Fatalf("%d calls", h.calls)
	}
	wantErr(t, b.Iterate(&retryHandler{refuse: 2}), rocksdb.ErrCorruption)
}

// A policy's WAL is refused under another.
type policyHandler struct {
	testHandler
	after, before OptionState
}

func (p *policyHandler) WriteAfterCommit() OptionState   { return p.after }
func (p *policyHandler) WriteBeforePrepare() OptionState { return p.before }

func TestWriteBatch_WritePolicies(t *testing.T) {
	batch := func(writeAfterCommit, unprepared bool) *WriteBatch {
		b := New()
		b.InsertNoop()
		noErr(t, b.Put(bs("k"), bs("v")))
		noErr(t, b.MarkEndPrepare(bs("x"), writeAfterCommit, unprepared))
		return b
	}
	committed := func() *policyHandler { return &policyHandler{after: OptionEnabled, before: OptionDisabled} }
	prepared := func() *policyHandler { return &policyHandler{after: OptionDisabled, before: OptionDisabled} }
	unprepared := func() *policyHandler { return &policyHandler{after: OptionDisabled, before: OptionEnabled} }
	for i, c := range []struct {
		b  *WriteBatch
		h  *policyHandler
		ok bool
	}{
		{batch(true, false), committed(), true}, {batch(true, false), prepared(), false}, {batch(true, false), unprepared(), false},
		{batch(false, false), committed(), false}, {batch(false, false), prepared(), true}, {batch(false, false), unprepared(), true},
		{batch(false, true), committed(), false}, {batch(false, true), prepared(), false}, {batch(false, true), unprepared(), true},
	} {
		err := c.b.Iterate(c.h)
		if c.ok {
			noErr(t, err)
		} else if !errors.Is(err, rocksdb.ErrNotSupported) {
			t.Errorf("%d: %v", i, err)
		}
	}
	wantErr(t, New().MarkEndPrepare(bs("x"), true, false), rocksdb.ErrInvalidArgument)
}

// drawRecord adds a random record to b and to the text that a testHandler
// makes of it.
func drawRecord(rt *rapid.T, b *WriteBatch, want *testHandler) {
	key := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "key")
	value := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "value")
	id := rapid.SampledFrom([]uint32{0, 1, 127, 128, math.MaxUint32}).Draw(rt, "family")
	cf := family(id)
	switch rapid.IntRange(0, 8).Draw(rt, "kind") {
	case 0:
		noErr(rt, b.PutCF(cf, key, value))
		noErr(rt, want.PutCF(id, key, value))
	case 1:
		noErr(rt, b.DeleteCF(cf, key))
		noErr(rt, want.DeleteCF(id, key))
	case 2:
		noErr(rt, b.SingleDeleteCF(cf, key))
		noErr(rt, want.SingleDeleteCF(id, key))
	case 3:
		noErr(rt, b.DeleteRangeCF(cf, key, value))
		noErr(rt, want.DeleteRangeCF(id, key, value))
	case 4:
		noErr(rt, b.MergeCF(cf, key, value))
		noErr(rt, want.MergeCF(id, key, value))
	case 5:
		noErr(rt, b.PutBlobIndex(id, key, value))
		noErr(rt, want.PutBlobIndexCF(id, key, value))
	case 6:
		noErr(rt, b.PutLogData(value))
		want.LogData(value)
	case 7:
		noErr(rt, b.TimedPut(cf, key, value, 77))
		noErr(rt, want.TimedPutCF(id, key, value, 77))
	case 8:
		noErr(rt, b.PutParts(cf, [][]byte{key, value}, [][]byte{value, key}))
		noErr(rt, want.PutCF(id, slices.Concat(key, value), slices.Concat(value, key)))
	}
}

func TestWriteBatch_RoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, want := New(), &testHandler{}
		type state struct {
			size int
			seen string
		}
		var saved []state
		for range rapid.IntRange(0, 20).Draw(rt, "records") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				b.SetSavePoint()
				saved = append(saved, state{b.GetDataSize(), want.seen})
			case 1:
				err := b.RollbackToSavePoint()
				if len(saved) == 0 {
					wantErr(rt, err, rocksdb.ErrNotFound)
					break
				}
				noErr(rt, err)
				want.seen = saved[len(saved)-1].seen
				saved = saved[:len(saved)-1]
			default:
				drawRecord(rt, b, want)
			}
		}
		wantSeen(rt, b, want.seen)
		again, err := NewFromRep(bytes.Clone(b.Data()))
		noErr(rt, err)
		wantSeen(rt, again, want.seen)
		if again.flags()&^b.flags() != 0 {
			rt.Fatalf("flags %b of a batch that says %b", again.flags(), b.flags())
		}
		joined := New()
		noErr(rt, joined.Append(b, false))
		noErr(rt, joined.Append(again, false))
		wantSeen(rt, joined, want.seen+want.seen)
		if n := AppendedByteSize(b.GetDataSize(), again.GetDataSize()); n != joined.GetDataSize() {
			rt.Fatalf("%d bytes, want %d", joined.GetDataSize(), n)
		}
	})
}

// Any bytes are either a batch or an error; what is a batch can be rebuilt.
func FuzzIterate(f *testing.F) {
	b := New()
	b.InsertNoop()
	noErr(f, b.PutCF(family(3), bs("key"), bs("value")))
	noErr(f, b.DeleteRangeCF(family(3), bs("a"), bs("b")))
	noErr(f, b.TimedPut(nil, bs("key"), bs("value"), 5))
	noErr(f, b.PutEntityCF(family(0), bs("foo"), columns("0")))
	noErr(f, b.PutLogData(bs("blob")))
	noErr(f, b.MarkEndPrepare(bs("xid"), true, false))
	noErr(f, b.MarkCommitWithTimestamp(bs("xid"), bs("12345678")))
	f.Add(b.Data())
	for n := range len(b.Data()) {
		f.Add(b.Data()[:n])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return // the handler below is not made for long batches
		}
		b, err := NewFromRep(bytes.Clone(data))
		if err != nil {
			wantErr(t, err, rocksdb.ErrCorruption)
			return
		}
		h := &testHandler{}
		err = b.Iterate(h)
		if h.count > len(data) {
			t.Fatal("more records than bytes")
		}
		if err != nil {
			wantErr(t, err, rocksdb.ErrCorruption)
			return
		}
		b.flags()
		_ = b.UpdateTimestamps(bs("12345678"), func(uint32) int { return 8 })
		noErr(t, b.IterateRange(&testHandler{}, HeaderSize, HeaderSize))
		_ = b.IterateRange(&testHandler{}, 0, len(data)+1)
	})
}

func TestWriteBatch_Allocations(t *testing.T) {
	b := NewWithOptions(4096, 0)
	key, value, cf := bs("key"), bs("value"), family(5)
	fill := func() {
		b.Clear()
		for range 10 {
			noErr(t, b.Put(key, value))
			noErr(t, b.DeleteCF(cf, key))
			noErr(t, b.PutCF(cf, key, value))
		}
	}
	if n := testing.AllocsPerRun(50, fill); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// attributeGroups makes groups of a family and columns each.
func attributeGroups(parts ...any) (list []rocksdb.AttributeGroup) {
	for i := 0; i < len(parts); i += 2 {
		list = append(list, rocksdb.AttributeGroup{ColumnFamily: parts[i].(rocksdb.ColumnFamilyHandle), Columns: parts[i+1].(rocksdb.WideColumns)})
	}
	return list
}

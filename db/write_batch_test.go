// Port of db/write_batch_test.cc, the cases that insert into a memtable. The
// others are in package db/writebatch.

package db

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"
)

// entryText makes text of a memtable's entry as upstream's tests do, and counts
// its kind.
func entryText(t *testing.T, key, value []byte, counts map[dbformat.ValueType]int) string {
	t.Helper()
	k, err := dbformat.ParseInternalKey(key, true)
	if err != nil {
		t.Fatal(err)
	}
	counts[k.Type]++
	var text string
	switch k.Type {
	case dbformat.TypeValue:
		text = fmt.Sprintf("Put(%s, %s)", k.UserKey, value)
	case dbformat.TypeDeletion:
		text = fmt.Sprintf("Delete(%s)", k.UserKey)
	case dbformat.TypeSingleDeletion:
		text = fmt.Sprintf("SingleDelete(%s)", k.UserKey)
	case dbformat.TypeRangeDeletion:
		text = fmt.Sprintf("DeleteRange(%s, %s)", k.UserKey, value)
	case dbformat.TypeMerge:
		text = fmt.Sprintf("Merge(%s, %s)", k.UserKey, value)
	case dbformat.TypeValuePreferredSeqno:
		v, at, ok := seqnotime.ParsePackedValueWithWriteTime(value)
		if !ok {
			t.Fatalf("value %q without its time", value)
		}
		text = fmt.Sprintf("TimedPut(%s, %s, %d)", k.UserKey, v, at)
	default:
		t.Fatalf("entry of type %d", k.Type)
	}
	return fmt.Sprintf("%s@%d", text, k.Sequence)
}

// printContents inserts a batch into a memtable and gives what is in it then.
func printContents(t *testing.T, b *writebatch.WriteBatch, withMergeOperator bool) string {
	t.Helper()
	dbo, cfo := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	if withMergeOperator {
		cfo.MergeOperator = mergeoperators.NewStringAppendOperator(",")
	}
	ioptions := options.NewImmutableOptions(&dbo, &cfo)
	cfd := &ColumnFamilyData{icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator()),
		ioptions: &ioptions}
	mutable := options.NewMutableCFOptions(&cfo)
	cfd.mutable.Store(&mutable)
	cfd.mem = memtable.New(cfd.icmp, cfd.ioptions, &mutable, nil, dbformat.MaxSequenceNumber, 0)
	cfd.mem.Ref()
	defer cfd.mem.Unref()
	in := MemTableInserter{Families: &ColumnFamilySet{byID: map[uint32]*ColumnFamilyData{0: cfd}, def: cfd}, Sequence: b.Sequence()}
	insertErr := in.Insert(b)

	counts := map[dbformat.ValueType]int{}
	var state strings.Builder
	ro := rocksdb.DefaultReadOptions()
	points := cfd.mem.NewIterator(&ro, nil, nil)
	for points.SeekToFirst(); points.Valid(); points.Next() {
		state.WriteString(entryText(t, points.Key(), points.Value(), counts))
	}
	if err := errors.Join(points.Status(), points.Close()); err != nil {
		t.Fatal(err)
	}
	ranges, err := cfd.mem.NewRangeTombstoneIterator(&ro, dbformat.MaxSequenceNumber, false)
	if err != nil {
		t.Fatal(err)
	}
	if ranges != nil {
		for ranges.SeekToFirst(); ranges.Valid(); ranges.Next() {
			state.WriteString(entryText(t, ranges.Key(), ranges.Value(), counts))
		}
	}
	if insertErr != nil {
		state.WriteString(insertErr.Error())
		return state.String()
	}
	n := 0
	for _, c := range counts {
		n += c
	}
	for _, c := range []struct {
		has bool
		t   dbformat.ValueType
	}{
		{b.HasPut(), dbformat.TypeValue}, {b.HasTimedPut(), dbformat.TypeValuePreferredSeqno}, {b.HasDelete(), dbformat.TypeDeletion},
		{b.HasSingleDelete(), dbformat.TypeSingleDeletion}, {b.HasDeleteRange(), dbformat.TypeRangeDeletion}, {b.HasMerge(), dbformat.TypeMerge},
	} {
		if c.has != (counts[c.t] > 0) {
			t.Errorf("the batch says %v of type %d, the memtable has %d", c.has, c.t, counts[c.t])
		}
	}
	if n != int(b.Count()) {
		state.WriteString("CountMismatch()")
	}
	return state.String()
}

type writeBatchTest struct {
	*testing.T
	*writebatch.WriteBatch
}

func newWriteBatchTest(t *testing.T) writeBatchTest { return writeBatchTest{t, writebatch.New()} }

func (b writeBatchTest) do(errs ...error) {
	b.Helper()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

func (b writeBatchTest) want(count int, entries ...string) {
	b.Helper()
	if got, want := printContents(b.T, b.WriteBatch, true), strings.Join(entries, ""); got != want {
		b.Fatalf("%s\nwant\n%s", got, want)
	}
	if b.Count() != uint32(count) {
		b.Fatalf("%d entries, want %d", b.Count(), count)
	}
}

func (b writeBatchTest) wantNotFound(err error) {
	b.Helper()
	if !errors.Is(err, rocksdb.ErrNotFound) {
		b.Fatal(err)
	}
}

func (b writeBatchTest) put(k, v string)   { b.Helper(); b.do(b.Put([]byte(k), []byte(v))) }
func (b writeBatchTest) del(k string)      { b.Helper(); b.do(b.Delete([]byte(k))) }
func (b writeBatchTest) single(k string)   { b.Helper(); b.do(b.SingleDelete([]byte(k))) }
func (b writeBatchTest) merge(k, v string) { b.Helper(); b.do(b.Merge([]byte(k), []byte(v))) }

func TestWriteBatchTest_Empty(t *testing.T) { newWriteBatchTest(t).want(0, "") }

func TestWriteBatchTest_Multiple(t *testing.T) {
	b := newWriteBatchTest(t)
	b.put("foo", "bar")
	b.del("box")
	b.do(b.DeleteRange([]byte("bar"), []byte("foo")))
	b.put("baz", "boo")
	b.SetSequence(100)
	if b.Sequence() != 100 {
		t.Fatal(b.Sequence())
	}
	b.want(4, "Put(baz, boo)@103", "Delete(box)@101", "Put(foo, bar)@100", "DeleteRange(bar, foo)@102")
}

func TestWriteBatchTest_Corruption(t *testing.T) {
	b := newWriteBatchTest(t)
	b.put("foo", "bar")
	b.del("box")
	b.SetSequence(200)
	b.do(b.SetContents(b.Data()[:b.GetDataSize()-1]))
	b.want(2, "Put(foo, bar)@200", "Corruption: bad WriteBatch Delete")
}

func TestWriteBatchTest_Append(t *testing.T) {
	b1, b2 := newWriteBatchTest(t), newWriteBatchTest(t)
	b1.SetSequence(200)
	b2.SetSequence(300)
	b1.do(b1.Append(b2.WriteBatch, false))
	b1.want(0, "")
	b2.put("a", "va")
	b1.do(b1.Append(b2.WriteBatch, false))
	b1.want(1, "Put(a, va)@200")
	b2.Clear()
	b2.put("b", "vb")
	b1.do(b1.Append(b2.WriteBatch, false))
	b1.want(2, "Put(a, va)@200", "Put(b, vb)@201")
	b2.del("foo")
	b1.do(b1.Append(b2.WriteBatch, false))
	b1.want(4, "Put(a, va)@200", "Put(b, vb)@202", "Put(b, vb)@201", "Delete(foo)@203")
	b2.Clear()
	b2.put("c", "cc")
	b2.put("d", "dd")
	b2.MarkWalTerminationPoint()
	b2.put("e", "ee")
	b1.do(b1.Append(b2.WriteBatch, true))
	b1.want(6, "Put(a, va)@200", "Put(b, vb)@202", "Put(b, vb)@201", "Put(c, cc)@204", "Put(d, dd)@205", "Delete(foo)@203")
	b2.want(3, "Put(c, cc)@0", "Put(d, dd)@1", "Put(e, ee)@2")
}

func TestWriteBatchTest_SingleDeletion(t *testing.T) {
	b := newWriteBatchTest(t)
	b.SetSequence(100)
	b.want(0, "")
	b.put("a", "va")
	b.want(1, "Put(a, va)@100")
	b.single("a")
	b.want(2, "SingleDelete(a)@101", "Put(a, va)@100")
}

func TestWriteBatchTest_PutNotImplemented(t *testing.T) {
	b := newWriteBatchTest(t)
	b.put("k1", "v1")
	b.want(1, "Put(k1, v1)@0")
	b.do(b.Iterate(&writebatch.HandlerBase{}))
}

func TestWriteBatchTest_TimedPutNotImplemented(t *testing.T) {
	b := newWriteBatchTest(t)
	b.do(b.TimedPut(nil, []byte("k1"), []byte("v1"), 30))
	b.want(1, "TimedPut(k1, v1, 30)@0")
	if err := b.Iterate(&writebatch.HandlerBase{}); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatal(err)
	}
	b.Clear()
	b.do(b.TimedPut(nil, []byte("k1"), []byte("v1"), math.MaxUint64))
	b.want(1, "Put(k1, v1)@0")
}

func TestWriteBatchTest_DeleteNotImplemented(t *testing.T) {
	b := newWriteBatchTest(t)
	b.del("k2")
	b.want(1, "Delete(k2)@0")
	b.do(b.Iterate(&writebatch.HandlerBase{}))
}

func TestWriteBatchTest_SingleDeleteNotImplemented(t *testing.T) {
	b := newWriteBatchTest(t)
	b.single("k2")
	b.want(1, "SingleDelete(k2)@0")
	b.do(b.Iterate(&writebatch.HandlerBase{}))
}

func TestWriteBatchTest_MergeNotImplemented(t *testing.T) {
	b := newWriteBatchTest(t)
	b.merge("foo", "bar")
	b.want(1, "Merge(foo, bar)@0")
	b.do(b.Iterate(&writebatch.HandlerBase{}))
}

func TestWriteBatchTest_MergeWithoutOperatorInsertionFailure(t *testing.T) {
	b := newWriteBatchTest(t)
	b.merge("foo", "bar")
	const want = "Invalid argument: Merge requires `ColumnFamilyOptions::merge_operator != nullptr`"
	if got := printContents(t, b.WriteBatch, false); got != want || b.Count() != 1 {
		t.Fatal(got)
	}
}

func TestWriteBatchTest_Blob(t *testing.T) {
	b := newWriteBatchTest(t)
	for i := range 3 {
		b.put(fmt.Sprint("k", i+1), fmt.Sprint("v", i+1))
	}
	b.do(b.PutLogData([]byte("blob1")))
	b.del("k2")
	b.single("k3")
	b.do(b.PutLogData([]byte("blob2")))
	b.merge("foo", "bar")
	b.want(6, "Merge(foo, bar)@5", "Put(k1, v1)@0", "Delete(k2)@3", "Put(k2, v2)@1", "SingleDelete(k3)@4", "Put(k3, v3)@2")
	h := &logDataHandler{}
	b.do(b.Iterate(h))
	const want = "Put(k1, v1)Put(k2, v2)Put(k3, v3)LogData(blob1)Delete(k2)SingleDelete(k3)LogData(blob2)Merge(foo, bar)"
	if h.seen != want {
		t.Fatal(h.seen)
	}
}

type logDataHandler struct {
	writebatch.HandlerBase
	seen string
}

func (h *logDataHandler) add(name string, args ...[]byte) error {
	text := make([]string, len(args))
	for i, a := range args {
		text[i] = string(a)
	}
	h.seen += name + "(" + strings.Join(text, ", ") + ")"
	return nil
}
func (h *logDataHandler) PutCF(_ uint32, k, v []byte) error       { return h.add("Put", k, v) }
func (h *logDataHandler) DeleteCF(_ uint32, k []byte) error       { return h.add("Delete", k) }
func (h *logDataHandler) SingleDeleteCF(_ uint32, k []byte) error { return h.add("SingleDelete", k) }
func (h *logDataHandler) MergeCF(_ uint32, k, v []byte) error     { return h.add("Merge", k, v) }
func (h *logDataHandler) LogData(blob []byte)                     { _ = h.add("LogData", blob) }

func TestWriteBatchTest_PutGatherSlices(t *testing.T) {
	b := newWriteBatchTest(t)
	b.put("foo", "bar")
	parts := func(s ...string) (p [][]byte) {
		for _, x := range s {
			p = append(p, []byte(x))
		}
		return p
	}
	b.do(b.PutParts(nil, parts("baz"), parts("header", "payload")))
	b.do(b.PutParts(nil, parts("key", "part2", "part3"), parts("value")))
	b.SetSequence(100)
	b.want(3, "Put(baz, headerpayload)@101", "Put(foo, bar)@100", "Put(keypart2part3, value)@102")
}

// familyHandler writes down what a batch has, family 0 as upstream's tests do.
type familyHandler struct {
	writebatch.HandlerBase
	seen strings.Builder
}

func (h *familyHandler) add(name string, cf uint32, args ...[]byte) error {
	if cf != 0 {
		name += "CF"
		args = append([][]byte{strconv.AppendUint(nil, uint64(cf), 10)}, args...)
	}
	fmt.Fprintf(&h.seen, "%s(%s)", name, bytes.Join(args, []byte(", ")))
	return nil
}

func (h *familyHandler) PutCF(cf uint32, k, v []byte) error { return h.add("Put", cf, k, v) }
func (h *familyHandler) DeleteCF(cf uint32, k []byte) error { return h.add("Delete", cf, k) }
func (h *familyHandler) SingleDeleteCF(cf uint32, k []byte) error {
	return h.add("SingleDelete", cf, k)
}
func (h *familyHandler) MergeCF(cf uint32, k, v []byte) error { return h.add("Merge", cf, k, v) }

// numbered is a handle of a family of no database.
type numbered struct {
	rocksdb.ColumnFamilyHandle
	id uint32
}

func (n numbered) GetID() uint32                   { return n.id }
func (numbered) GetComparator() rocksdb.Comparator { return util.BytewiseComparator() }

func TestWriteBatchTest_ColumnFamiliesBatchWithIndexTest(t *testing.T) {
	b, err := writebatchwithindex.New(writebatchwithindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bs := func(s string) []byte { return []byte(s) }
	zero, two, three, eight := numbered{id: 0}, numbered{id: 2}, numbered{id: 3}, numbered{id: 8}
	for i, err := range []error{
		b.PutCF(zero, bs("foo"), bs("bar")), b.PutCF(two, bs("twofoo"), bs("bar2")), b.PutCF(eight, bs("eightfoo"), bs("bar8")),
		b.DeleteCF(eight, bs("eightfoo")), b.SingleDeleteCF(two, bs("twofoo")), b.MergeCF(three, bs("threethree"), bs("3three")),
		b.PutCF(zero, bs("foo"), bs("bar")), b.Merge(bs("omom"), bs("nom")),
	} {
		if err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
	}
	if err := b.TimedPut(zero, bs("foo"), bs("bar"), 0); rocksdb.CodeOf(err) != rocksdb.CodeNotSupported {
		t.Error(err)
	}
	names := map[writebatchwithindex.WriteType]string{
		writebatchwithindex.PutRecord: "put", writebatchwithindex.DeleteRecord: "delete",
		writebatchwithindex.SingleDeleteRecord: "single-delete", writebatchwithindex.MergeRecord: "merge",
	}
	for _, c := range []struct {
		cf   rocksdb.ColumnFamilyHandle
		seek string
		want string
	}{
		{eight, "eightfoo", "delete eightfoo;put eightfoo bar8;"}, // the newest of a key first
		{two, "twofoo", "single-delete twofoo;put twofoo bar2;"},
		{nil, "gggg", "merge omom nom;"},
		{zero, "foo", "put foo bar;put foo bar;merge omom nom;"},
	} {
		got := ""
		it := b.NewIterator(c.cf)
		for it.Seek(bs(c.seek)); it.Valid(); it.Next() {
			e := it.Entry()
			got += strings.TrimSpace(fmt.Sprintf("%s %s %s", names[e.Type], e.Key, e.Value)) + ";"
		}
		if got != c.want {
			t.Errorf("from %s: %s, expected %s", c.seek, got, c.want)
		}
	}
	var h familyHandler
	if err := b.GetWriteBatch().Iterate(&h); err != nil {
		t.Fatal(err)
	}
	if want := "Put(foo, bar)PutCF(2, twofoo, bar2)PutCF(8, eightfoo, bar8)DeleteCF(8, eightfoo)SingleDeleteCF(2, twofoo)" +
		"MergeCF(3, threethree, 3three)Put(foo, bar)Merge(omom, nom)"; h.seen.String() != want {
		t.Errorf("the batch has %s", h.seen.String())
	}
}

func TestWriteBatchTest_SavePointTest(t *testing.T) {
	b := newWriteBatchTest(t)
	b.SetSavePoint()
	b.put("A", "a")
	b.put("B", "b")
	b.SetSavePoint()
	b.put("C", "c")
	b.del("A")
	b.SetSavePoint()
	b.SetSavePoint()
	b.do(b.RollbackToSavePoint())
	b.want(4, "Delete(A)@3", "Put(A, a)@0", "Put(B, b)@1", "Put(C, c)@2")
	b.do(b.RollbackToSavePoint())
	b.do(b.RollbackToSavePoint())
	b.want(2, "Put(A, a)@0", "Put(B, b)@1")
	b.del("A")
	b.put("B", "bb")
	b.do(b.RollbackToSavePoint())
	b.want(0, "")
	b.wantNotFound(b.RollbackToSavePoint())
	b.want(0, "")
	b.put("D", "d")
	b.del("A")
	b.SetSavePoint()
	b.put("A", "aaa")
	b.do(b.RollbackToSavePoint())
	b.want(2, "Delete(A)@1", "Put(D, d)@0")
	b.SetSavePoint()
	b.put("D", "d")
	b.del("A")
	b.do(b.RollbackToSavePoint())
	b.want(2, "Delete(A)@1", "Put(D, d)@0")
	b.wantNotFound(b.RollbackToSavePoint())
	b.want(2, "Delete(A)@1", "Put(D, d)@0")

	b2 := newWriteBatchTest(t)
	b2.wantNotFound(b2.RollbackToSavePoint())
	b2.want(0, "")
	b2.del("A")
	b2.SetSavePoint()
	b2.do(b2.RollbackToSavePoint())
	b2.want(1, "Delete(A)@0")
	b2.Clear()
	b2.want(0, "")
	b2.SetSavePoint()
	b2.del("B")
	b2.want(1, "Delete(B)@0")
	b2.SetSavePoint()
	b2.do(b2.RollbackToSavePoint())
	b2.want(1, "Delete(B)@0")
	b2.do(b2.RollbackToSavePoint())
	b2.want(0, "")
	b2.wantNotFound(b2.RollbackToSavePoint())
	b2.want(0, "")

	b3 := newWriteBatchTest(t)
	b3.wantNotFound(b3.PopSavePoint())
	b3.want(0, "")
	b3.SetSavePoint()
	b3.del("A")
	b3.do(b3.PopSavePoint())
	b3.want(1, "Delete(A)@0")
}

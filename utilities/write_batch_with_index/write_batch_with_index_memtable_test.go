// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc: the
// memtable of a batch.

package writebatchwithindex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/memtable/wbwi"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// memTable makes a memtable of a family of the batch, freed at the end.
func (x *wbwiTest) memTable(family uint32, stat rocksdb.CFStat, seqnos wbwi.SeqnoRange) *memtable.MemTable {
	io := options.NewImmutableOptions(&x.o.DBOptions, &x.o.ColumnFamilyOptions)
	mo := options.NewMutableCFOptions(&x.o.ColumnFamilyOptions)
	m := wbwi.NewMemTable(x.batch.WriteBatchWithIndex, family, stat, seqnos, io.InternalComparator, &io, &mo)
	m.Ref()
	x.Cleanup(func() {
		if m.Unref() == nil {
			x.Error("the memtable is still in use")
		}
		m.Free()
	})
	return m
}

// memGet is a key in a memtable: its value, an error, or "nothing".
func (x *wbwiTest) memGet(m *memtable.MemTable, key string, seq rocksdb.SequenceNumber) (string, *memtable.LookupState) {
	var lookup dbformat.LookupKey
	lookup.Set([]byte(key), seq, nil)
	st := &memtable.LookupState{}
	st.Reset()
	if !m.Get(&lookup, &x.ro, st, true) && st.Status == nil {
		return "nothing", st
	}
	return outcome(st.Value, st.Status), st
}

// memEntry is an internal key's "user@seq type".
func memEntry(ikey []byte) string {
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(ikey))
	return fmt.Sprintf("%s@%d %d", dbformat.ExtractUserKey(ikey), seq, t)
}

func fixedKey(i int) string { return fmt.Sprintf("key%06d", i) }

// expectedEntry is what a memtable has of a key.
type expectedEntry struct {
	key, value string // value may be notFound
	seq        rocksdb.SequenceNumber
}

func (x *wbwiTest) checkEntry(it internaliter.InternalIterator, e *expectedEntry) {
	x.Helper()
	if !it.Valid() || it.Status() != nil {
		x.Fatalf("no entry where %s is expected: %v", e.key, it.Status())
	}
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(it.Key()))
	deleted := t == dbformat.TypeDeletion || t == dbformat.TypeSingleDeletion
	if string(it.UserKey()) != e.key || seq != e.seq || deleted != (e.value == notFound) || !deleted && string(it.Value()) != e.value {
		x.Fatalf("%s with %q, expected %s@%d with %q", memEntry(it.Key()), it.Value(), e.key, e.seq, e.value)
	}
}

func TestWBWIMemTableTest_ReadFromWBWIMemtable(t *testing.T) {
	x := newWBWITest(t, true)
	const numUpdates = 2000
	const lower, visible, notVisible = 2, numUpdates + 2, 1
	seqnos := wbwi.SeqnoRange{LowerBound: lower, UpperBound: lower + numUpdates - 1}
	if !x.memTable(0, rocksdb.CFStat{}, wbwi.SeqnoRange{}).IsEmpty() {
		t.Fatal("a memtable of no numbers is not empty")
	}
	mem := x.memTable(0, rocksdb.CFStat{}, seqnos) // entries come below, which the database does not do
	rnd := util.NewRandom(301)
	expected := make([]expectedEntry, numUpdates)
	for i := range expected {
		n := i
		if i == numUpdates-1 {
			n++ // a key that is missing between others
		}
		expected[i] = expectedEntry{fixedKey(n), notFound, lower}
		if rnd.OneIn(2) {
			expected[i].value = rnd.HumanReadableString(50)
		}
	}
	update := func(e *expectedEntry) {
		x.Helper()
		switch {
		case e.value != notFound:
			x.must(x.batch.Put([]byte(e.key), []byte(e.value)))
		case rnd.OneIn(2):
			x.must(x.batch.SingleDelete([]byte(e.key)))
		default:
			x.must(x.batch.Delete([]byte(e.key)))
		}
		got, _ := x.memGet(mem, e.key, visible)
		x.expect(e.key, got, e.value)
	}
	util.RandomShuffle(expected, 301)
	for i := range expected {
		update(&expected[i])
	}
	x.do(&dummyHandle{1, rocksdb.BytewiseComparator()}, "put "+fixedKey(0)+" foo")
	slices.SortFunc(expected, func(a, b expectedEntry) int { return strings.Compare(a.key, b.key) })
	for range numUpdates / 5 {
		e := &expected[rnd.Uniform(numUpdates)]
		e.value = notFound
		if rnd.OneIn(2) {
			e.value = rnd.HumanReadableString(100)
		}
		update(e)
		e.seq++
	}

	for _, c := range []struct {
		key string
		seq rocksdb.SequenceNumber
	}{{fixedKey(numUpdates - 1), visible}, {fixedKey(0), notVisible}} {
		got, _ := x.memGet(mem, c.key, c.seq)
		x.expect(c.key, got, "nothing")
	}
	for i := range expected {
		got, _ := x.memGet(mem, expected[i].key, visible)
		x.expect(expected[i].key, got, expected[i].value)
	}
	x.checkMemMultiGet(mem, expected, notVisible, "")
	x.checkMemMultiGet(mem, expected, visible, "found")

	it := mem.NewIterator(&x.ro, nil, nil)
	for range 1000 {
		at := int(rnd.Uniform(numUpdates))
		for _, forPrev := range []bool{false, true} {
			if forPrev {
				it.SeekForPrev(dbformat.AppendInternalKey(nil, []byte(expected[at].key), 0, dbformat.ValueTypeForSeekForPrev))
			} else {
				it.Seek(dbformat.AppendInternalKey(nil, []byte(expected[at].key), visible, dbformat.ValueTypeForSeek))
			}
			x.checkEntry(it, &expected[at])
			steps := min(5, numUpdates-1-at)
			for i := range steps {
				it.Next()
				x.checkEntry(it, &expected[at+i+1])
			}
			for i := range steps {
				it.Prev()
				x.checkEntry(it, &expected[at+steps-i-1])
			}
		}
	}
	it.SeekToFirst()
	for i := range expected {
		x.checkEntry(it, &expected[i])
		it.Next()
	}
	if it.Valid() || it.Status() != nil {
		t.Error("more entries at the end", it.Status())
	}
	it.SeekToLast()
	for i := range expected {
		x.checkEntry(it, &expected[numUpdates-1-i])
		it.Prev()
	}
	if it.Valid() || it.Status() != nil {
		t.Error("more entries at the beginning", it.Status())
	}
	x.must(it.Close())

	meta := x.memTable(1, rocksdb.CFStat{EntryCount: 1}, seqnos)
	for key, want := range map[string]string{fixedKey(0): "foo", fixedKey(1): "nothing"} {
		got, _ := x.memGet(meta, key, visible)
		x.expect("of another family "+key, got, want)
	}
	it = meta.NewIterator(&x.ro, nil, nil)
	it.SeekToFirst()
	x.checkEntry(it, &expectedEntry{fixedKey(0), "foo", lower})
	if it.Next(); it.Valid() {
		t.Error("more entries in the other family")
	}
	x.must(it.Close())
}

// checkMemMultiGet looks all keys up in batches, and some that are missing; want
// is "" where nothing is to be seen.
func (x *wbwiTest) checkMemMultiGet(m *memtable.MemTable, expected []expectedEntry, seq rocksdb.SequenceNumber, want string) {
	x.Helper()
	for from := 0; from < len(expected)+table.MaxBatchSize; from += table.MaxBatchSize {
		var contexts [table.MaxBatchSize]table.KeyContext
		var values [table.MaxBatchSize]rocksdb.PinnableSlice
		var errs [table.MaxBatchSize]error
		var sorted []*table.KeyContext
		for i := range contexts {
			key := fixedKey(from + i + 10*len(expected))
			if from+i < len(expected) {
				key = expected[from+i].key
			}
			contexts[i] = table.KeyContext{Key: []byte(key), Value: &values[i], Err: &errs[i]}
			sorted = append(sorted, &contexts[i])
		}
		var ctx table.MultiGetContext
		ctx.Init(sorted, seq, nil)
		r := ctx.GetMultiGetRange()
		m.MultiGet(&x.ro, &r, nil, true, nil)
		for i := range contexts {
			got := outcome(values[i].Data(), errs[i])
			if want == "" || from+i >= len(expected) {
				x.expect(string(contexts[i].Key), got, "")
			} else {
				x.expect(string(contexts[i].Key), got, expected[from+i].value)
			}
		}
	}
}

func TestWBWIMemTableTest_IterEmitSingleDelete(t *testing.T) {
	x := newWBWITest(t, true)
	k := fixedKey
	x.do(nil, "put "+k(0)+" val0", "sdel "+k(0), "sdel "+k(1), "sdel "+k(2), "put "+k(1)+" val1",
		"sdel "+k(3), "put "+k(3)+" val3", "sdel "+k(3))
	mem := x.memTable(0, x.batch.GetCFStats()[0], wbwi.SeqnoRange{LowerBound: 1, UpperBound: 1 + uint64(x.batch.GetWriteBatch().Count())})
	if mem.NumEntries() != 6 {
		t.Errorf("%d entries", mem.NumEntries())
	}
	it, flush := mem.NewIterator(&x.ro, nil, nil), mem.NewFlushIterator(&x.ro, nil)
	it.SeekToFirst()
	flush.SeekToFirst()
	for i := range 4 {
		if !it.Valid() || !flush.Valid() {
			t.Fatal("too few entries")
		}
		x.expect("entry of the flush", memEntry(flush.Key()), memEntry(it.Key()))
		if i == 1 || i == 3 {
			// The single deletion that was overwritten is there, too, and older.
			if seq := dbformat.GetInternalKeySeqno(it.Key()); seq <= 1 {
				t.Errorf("entry %d has the number %d", i, seq)
			}
			flush.Next()
			x.expect("overwritten", memEntry(flush.Key()), fmt.Sprintf("%s@1 %d", k(i), dbformat.TypeSingleDeletion))
		}
		it.Next()
		flush.Next()
	}
	if it.Valid() || flush.Valid() {
		t.Error("more entries")
	}
	x.must(it.Status(), flush.Status(), it.Close(), flush.Close())
}

func TestWBWIMemTableTest_WBWIMemTableWithMerge(t *testing.T) {
	x := newWBWITest(t, true)
	const lower, upper = 10, 100
	mem := x.memTable(0, rocksdb.CFStat{}, wbwi.SeqnoRange{LowerBound: lower, UpperBound: upper})
	x.do(nil, "put a a1", "merge a a2", "merge a a3", "del b", "merge b b1", "merge c c1", "put c c2",
		"merge d d1", "merge d d2", "del d", "merge e e1", "merge f f1", "merge f f2", "sdel g")
	type entry struct {
		key   string
		seq   rocksdb.SequenceNumber
		t     dbformat.ValueType
		value string
	}
	expected := []entry{
		{"a", lower + 2, dbformat.TypeMerge, "a3"}, {"a", lower + 1, dbformat.TypeMerge, "a2"}, {"a", lower, dbformat.TypeValue, "a1"},
		{"b", lower + 1, dbformat.TypeMerge, "b1"}, {"b", lower, dbformat.TypeDeletion, ""},
		{"c", lower + 1, dbformat.TypeValue, "c2"},
		{"d", lower + 2, dbformat.TypeDeletion, ""}, {"d", lower, dbformat.TypeMerge, "d1"},
		{"e", lower, dbformat.TypeMerge, "e1"},
		{"f", lower + 1, dbformat.TypeMerge, "f2"}, {"f", lower, dbformat.TypeMerge, "f1"},
		{"g", lower, dbformat.TypeSingleDeletion, ""},
	}
	it := mem.NewIterator(&x.ro, nil, nil)
	check := func(i int) {
		x.Helper()
		if i < 0 || i == len(expected) {
			if it.Valid() || it.Status() != nil {
				x.Fatal("an entry beyond the ends", it.Status())
			}
			return
		}
		e := &expected[i]
		if !it.Valid() || it.Status() != nil {
			x.Fatalf("no entry where %v is expected", *e)
		}
		x.expect("entry", memEntry(it.Key()), fmt.Sprintf("%s@%d %d", e.key, e.seq, e.t))
		x.expect("value", string(it.Value()), e.value)
	}
	it.SeekToFirst()
	for i := range expected {
		check(i)
		it.Next()
	}
	check(len(expected))
	it.SeekToLast()
	for i := range slices.Backward(expected) {
		check(i)
		it.Prev()
	}
	check(-1)
	for i, e := range expected {
		ikey := dbformat.AppendInternalKey(nil, []byte(e.key), e.seq, e.t)
		it.Seek(ikey)
		check(i)
		if it.Next(); it.Valid() {
			check(i + 1)
			it.Prev()
			check(i)
		}
		it.SeekForPrev(ikey)
		check(i)
		if it.Prev(); it.Valid() {
			check(i - 1)
			it.Next()
			check(i)
		}
	}
	x.must(it.Close())

	for key, want := range map[string]string{
		"a": "a1,a2,a3", "b": "b1", "c": "c2", "d": notFound, "e": mergeInProgress, "f": mergeInProgress, "g": notFound,
	} {
		got, st := x.memGet(mem, key, upper)
		x.expect(key, got, want)
		operands := map[string]string{"e": "[e1]", "f": "[f1 f2]"}[key]
		if operands != "" {
			x.expect("operands of "+key, fmt.Sprintf("%s", st.Operands.GetOperands()), operands)
		}
	}
}

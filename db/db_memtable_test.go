// Port of db/db_memtable_test.cc. The integrity checks are in
// db_memtable_syncpoint_test.go.

package db_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/memory"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// hintFactory makes skip lists that note the hints of inserts, and for which
// family they are.
type hintFactory struct {
	*rep.SkipListFactory
	concurrent      bool
	last            *hintRep
	family          uint32
	concurrentHints atomic.Int64
}

func newHintFactory() *hintFactory { return &hintFactory{SkipListFactory: rep.NewSkipListFactory(0)} }

func (f *hintFactory) IsInsertConcurrentlySupported() bool { return f.concurrent }

func (f *hintFactory) CreateMemTableRepForFamily(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, logger rocksdb.Logger, family uint32) rep.MemTableRep {
	f.family = family
	f.last = &hintRep{MemTableRep: f.CreateMemTableRep(cmp, arena, transform, logger), factory: f}
	return f.last
}

type hintRep struct {
	rep.MemTableRep
	factory *hintFactory
	used    int
	fresh   bool // of the last insert's hint
	hint    *rep.Splice
}

func (r *hintRep) InsertWithHint(e rep.KeyHandle, hint *rep.Splice) bool {
	r.used++
	r.fresh, r.hint = *hint == rep.Splice{}, hint
	return r.MemTableRep.InsertWithHint(e, hint)
}

func (r *hintRep) InsertWithHintConcurrently(e rep.KeyHandle, hint *rep.Splice) bool {
	r.factory.concurrentHints.Add(1)
	return r.MemTableRep.InsertWithHintConcurrently(e, hint)
}

// underscorePrefix is a key up to its first underscore.
type underscorePrefix struct{}

func (underscorePrefix) Name() string { return "TestPrefixExtractor" }

func (underscorePrefix) InDomain(key []byte) bool { return bytes.IndexByte(key, '_') >= 0 }

func (underscorePrefix) Transform(key []byte) []byte { return key[:bytes.IndexByte(key, '_')+1] }

func (underscorePrefix) FullLengthEnabled() (int, bool) { return 0, false }

func (underscorePrefix) AsString() string { return "TestPrefixExtractor" }

func (underscorePrefix) SameResultWhenAppended([]byte) bool { return false }

func newMemTable(t *testing.T, o *rocksdb.Options) *memtable.MemTable {
	io, mo := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	m := memtable.New(io.InternalComparator, &io, &mo, nil, dbformat.MaxSequenceNumber, 0)
	t.Cleanup(m.Free)
	return m
}

func TestDBMemTableTest_DuplicateSeq(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.MemtableFactory = rep.NewSkipListFactory(0)
	m := newMemTable(t, &o)
	add := func(m *memtable.MemTable, seq uint64, kind dbformat.ValueType, key, value string, duplicate bool) {
		t.Helper()
		err := m.Add(seq, kind, []byte(key), []byte(value), false, nil, nil)
		if duplicate != errors.Is(err, rocksdb.ErrTryAgain) || !duplicate && err != nil {
			t.Fatalf("%s@%d: %v", key, seq, err)
		}
	}
	counts := func(m *memtable.MemTable, entries uint64) {
		t.Helper()
		if m.NumEntries() != entries || m.NumDeletion() != 0 || m.NumRangeDeletion() != 0 {
			t.Fatalf("%d entries, %d deletions, %d of ranges", m.NumEntries(), m.NumDeletion(), m.NumRangeDeletion())
		}
	}
	seq := uint64(123)
	add(m, seq, dbformat.TypeValue, "key", "value2", false)
	add(m, seq, dbformat.TypeValue, "key", "value2", true)
	add(m, seq, dbformat.TypeMerge, "key", "value2", true)
	add(m, seq+1, dbformat.TypeMerge, "key", "value2", false)
	add(m, seq, dbformat.TypeDeletion, "key", "", true)
	add(m, seq, dbformat.TypeSingleDeletion, "key", "", true)
	counts(m, 2)
	for i := range 10000 {
		duplicate := i%10 == 1
		if !duplicate {
			seq++
		}
		add(m, seq, dbformat.TypeValue, "foo", fmt.Sprintf("value%d", seq), duplicate)
	}

	o.MemtableInsertWithHintPrefixExtractor = underscorePrefix{}
	m = newMemTable(t, &o)
	add(m, seq, dbformat.TypeValue, "key_1", "value", false)
	add(m, seq, dbformat.TypeValue, "key_1", "value", true)

	m = newMemTable(t, &o)
	var info memtable.MemTablePostProcessInfo
	if err := m.Add(seq, dbformat.TypeValue, []byte("key"), []byte("value"), true, &info, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Add(seq, dbformat.TypeValue, []byte("key"), []byte("value"), true, &info, nil); !errors.Is(err, rocksdb.ErrTryAgain) {
		t.Fatal(err)
	}
	m.BatchPostProcess(&info)
	counts(m, 1)
}

func TestDBMemTableTest_ConcurrentMergeWrite(t *testing.T) {
	const ops = 1000
	o := rocksdb.DefaultOptions()
	var err error
	if o.MergeOperator, err = mergeoperators.New("uint64add"); err != nil {
		t.Fatal(err)
	}
	m := newMemTable(t, &o)
	if err := m.Add(0, dbformat.TypeValue, []byte("key"), make([]byte, 8), false, nil, nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, r := range [][2]uint64{{1, ops / 2}, {ops / 2, ops}} {
		wg.Go(func() {
			var info memtable.MemTablePostProcessInfo
			for seq := r[0]; seq < r[1]; seq++ {
				if err := m.Add(seq, dbformat.TypeMerge, []byte("key"), binary.LittleEndian.AppendUint64(nil, seq), true, &info, nil); err != nil {
					t.Error(err)
				}
			}
			m.BatchPostProcess(&info)
		})
	}
	wg.Wait()
	if m.NumEntries() != ops || m.NumDeletion() != 0 || m.NumRangeDeletion() != 0 {
		t.Errorf("%d entries, %d deletions, %d of ranges", m.NumEntries(), m.NumDeletion(), m.NumRangeDeletion())
	}
	ro := rocksdb.DefaultReadOptions()
	var st memtable.LookupState
	st.Reset()
	if !m.Get(dbformat.NewLookupKey([]byte("key"), dbformat.MaxSequenceNumber, nil), &ro, &st, false) || st.Status != nil {
		t.Fatal(st.Status)
	}
	if sum := binary.LittleEndian.Uint64(st.Value); sum != ops*(ops-1)/2 {
		t.Errorf("sum %d", sum)
	}
}

func TestDBMemTableTest_InsertWithHint(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := newHintFactory()
	o.AllowConcurrentMemtableWrite = false
	o.MemtableFactory, o.MemtableInsertWithHintPrefixExtractor = f, underscorePrefix{}
	x.reopen(o)
	r := f.last
	put := func(key, value string, fresh bool, hint *rep.Splice) *rep.Splice {
		t.Helper()
		x.mustPut(0, key, value)
		if r.fresh != fresh || hint != nil && r.hint != hint {
			t.Fatalf("%s: hint %p, fresh %v; want %p", key, r.hint, r.fresh, hint)
		}
		return r.hint
	}
	foo := put("foo_k1", "foo_v1", true, nil)
	put("foo_k2", "foo_v2", false, foo)
	put("foo_k3", "foo_v3", false, foo)
	bar := put("bar_k1", "bar_v1", true, nil)
	if bar == foo {
		t.Error("one hint for two prefixes")
	}
	put("bar_k2", "bar_v2", false, bar)
	x.mustPut(0, "NotInPrefixDomain", "vvv")
	for _, k := range []string{"foo_k1", "foo_k2", "foo_k3", "bar_k1", "bar_k2"} {
		x.wantGet(0, k, k[:4]+"v"+k[5:])
	}
	x.must(x.db.DeleteRange(nil, []byte("foo_k1"), []byte("foo_k4")))
	if r.used != 5 || r.hint != bar {
		t.Errorf("%d hints used", r.used)
	}
	x.wantGet(0, "NotInPrefixDomain", "vvv")
}

func TestDBMemTableTest_ColumnFamilyId(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := newHintFactory()
	o.AllowConcurrentMemtableWrite = false
	o.MemtableFactory = f
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for cf := range 2 {
		x.mustPut(cf, "key", "val")
		x.flush(cf)
		if f.family != uint32(cf) {
			t.Errorf("family %d, not %d", f.family, cf)
		}
	}
}

func TestDBMemTableTest_VectorConcurrentInsert(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowConcurrentMemtableWrite = true
	o.MemtableFactory = rep.NewVectorRepFactory(0)
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"cf1"}, o)
	for cfs, format := range []string{"value%[2]d", "CF%d%d"} {
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				b := rocksdb.NewWriteBatch()
				for j := i * 100; j < i*100+100; j++ {
					for cf := range cfs + 1 {
						if err := b.PutCF(x.cf(cf).Impl(), []byte(key(j)), fmt.Appendf(nil, format, cf, j)); err != nil {
							t.Error(err)
						}
					}
				}
				if err := x.db.Write(nil, b); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for cf := range cfs + 1 {
			it := x.cf(cf).NewIterator(nil)
			it.SeekToFirst()
			for i := range 1000 {
				if want := key(i) + "->" + fmt.Sprintf(format, cf, i); iterStatus(it) != want {
					t.Fatalf("family %d: %s, not %s", cf, iterStatus(it), want)
				}
				it.Next()
			}
			if it.Valid() || it.Err() != nil {
				t.Error(iterStatus(it), it.Err())
			}
			it.Close()
		}
	}
	x.flush(0)
	x.flush(1)
}

// With memtable_insert_hint_per_batch a batch that is inserted beside others
// goes on where it inserted last.
func TestMemtableInsertHintPerBatch(t *testing.T) {
	x := newDBTest(t)
	f := newHintFactory()
	f.concurrent = true
	o := x.currentOptions()
	o.MemtableFactory = f
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	wo := rocksdb.DefaultWriteOptions()
	wo.MemtableInsertHintPerBatch = true
	n := 0
	for f.concurrentHints.Load() == 0 { // until writers meet
		var wg sync.WaitGroup
		for range 8 {
			from := n
			n += 100
			wg.Go(func() {
				b := rocksdb.NewWriteBatch()
				for i := from; i < from+100; i++ {
					for cf := range 2 {
						if err := b.PutCF(x.cf(cf).Impl(), []byte(key(i)), fmt.Append(nil, cf, i)); err != nil {
							t.Error(err)
						}
					}
				}
				if err := x.db.Write(&wo, b); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	for cf := range 2 {
		for i := range n {
			x.wantGet(cf, key(i), fmt.Sprint(cf, i))
		}
	}
}

// No upstream twin: upstream tests its memtable through databases
// (db/db_memtable_test.cc); these cases need none.

package memtable

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// appendOperator joins operands by commas.
type appendOperator struct{ rocksdb.MergeOperatorBase }

func (appendOperator) Name() string { return "append" }

func (appendOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	out.NewValue = append(out.NewValue[:0], in.ExistingValue...)
	for _, o := range in.Operands {
		if len(out.NewValue) > 0 {
			out.NewValue = append(out.NewValue, ',')
		}
		out.NewValue = append(out.NewValue, o...)
	}
	return true
}

func TestMain(m *testing.M) {
	code := m.Run()
	if s := memory.GetStats(); code == 0 && s.Allocs != s.Frees {
		fmt.Printf("%d blocks of arenas leaked, %d bytes\n", s.Allocs-s.Frees, s.InUse)
		code = 1
	}
	os.Exit(code)
}

func newTestTable(t testing.TB, change func(o *rocksdb.ColumnFamilyOptions)) *MemTable {
	t.Helper()
	cf := rocksdb.DefaultColumnFamilyOptions()
	cf.MergeOperator = appendOperator{}
	cf.ArenaBlockSize = 64 << 10
	if change != nil {
		change(&cf)
	}
	db := rocksdb.DefaultDBOptions()
	io := options.NewImmutableOptions(&db, &cf)
	mo := options.NewMutableCFOptions(&cf)
	m := New(io.InternalComparator, &io, &mo, nil, 0, 0)
	m.Ref()
	t.Cleanup(func() {
		if m.Unref() != m {
			t.Error("memtable still referenced")
		}
		m.Free()
	})
	return m
}

func add(t testing.TB, m *MemTable, seq uint64, typ dbformat.ValueType, key, value string) {
	t.Helper()
	if err := m.Add(seq, typ, []byte(key), []byte(value), false, nil, nil); err != nil {
		t.Fatalf("Add(%d, %d, %q): %v", seq, typ, key, err)
	}
}

// get gives "value", "NOT_FOUND" (deleted), "MERGE(operands)", "" (nothing), or
// the error.
func get(m *MemTable, seq uint64, key string) string {
	ro := rocksdb.DefaultReadOptions()
	var st LookupState
	st.Reset()
	final := m.Get(dbformat.NewLookupKey([]byte(key), seq, nil), &ro, &st, false)
	switch {
	case final && st.Status == nil:
		return string(st.Value)
	case final && errors.Is(st.Status, rocksdb.ErrNotFound):
		return "NOT_FOUND"
	case !final && errors.Is(st.Status, rocksdb.ErrMergeInProgress):
		return fmt.Sprintf("MERGE(%s)", bytes.Join(st.Operands.GetOperands(), []byte(",")))
	case !final && st.Status == nil:
		return ""
	}
	return "error: " + st.Status.Error()
}

func TestMemTable_Get(t *testing.T) {
	for _, f := range []rocksdb.MemTableRepFactory{rep.NewSkipListFactory(0), rep.NewSkipListFactory(4), rep.NewVectorRepFactory(0)} {
		t.Run(f.ID(), func(t *testing.T) {
			m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) { o.MemtableFactory = f })
			if !m.IsEmpty() || get(m, 100, "a") != "" {
				t.Fatal("a new memtable has something")
			}
			add(t, m, 1, dbformat.TypeValue, "a", "a1")
			add(t, m, 2, dbformat.TypeValue, "b", "b2")
			add(t, m, 3, dbformat.TypeDeletion, "a", "")
			add(t, m, 4, dbformat.TypeMerge, "c", "c4")
			add(t, m, 5, dbformat.TypeMerge, "b", "b5")
			add(t, m, 6, dbformat.TypeMerge, "b", "b6")
			add(t, m, 7, dbformat.TypeMerge, "a", "a7")
			add(t, m, 8, dbformat.TypeSingleDeletion, "b", "")
			add(t, m, 9, dbformat.TypeValue, "b", "")
			for _, c := range []struct {
				seq       uint64
				key, want string
			}{
				{1, "a", "a1"}, {2, "a", "a1"}, {3, "a", "NOT_FOUND"}, {7, "a", "a7"}, {0, "a", ""},
				{2, "b", "b2"}, {5, "b", "b2,b5"}, {7, "b", "b2,b5,b6"}, {8, "b", "NOT_FOUND"}, {9, "b", ""},
				{3, "c", ""}, {9, "c", "MERGE(c4)"}, {9, "bb", ""}, {9, "", ""},
			} {
				if got := get(m, c.seq, c.key); got != c.want {
					t.Errorf("Get(%q at %d) = %q, want %q", c.key, c.seq, got, c.want)
				}
			}
			if m.NumEntries() != 9 || m.NumDeletion() != 2 || m.GetFirstSequenceNumber() != 1 {
				t.Errorf("counters: %d entries, %d deletions, first %d", m.NumEntries(), m.NumDeletion(), m.GetFirstSequenceNumber())
			}
			if n := m.CountSuccessiveMergeEntries(dbformat.NewLookupKey([]byte("b"), 7, nil), 10); n != 2 {
				t.Errorf("%d successive merges", n)
			}
		})
	}
}

func TestMemTable_DuplicateIsTryAgain(t *testing.T) {
	m := newTestTable(t, nil)
	add(t, m, 5, dbformat.TypeValue, "k", "v")
	err := m.Add(5, dbformat.TypeDeletion, []byte("k"), nil, false, nil, nil)
	if !errors.Is(err, rocksdb.ErrTryAgain) {
		t.Fatalf("duplicate: %v", err)
	}
	if m.NumEntries() != 1 || get(m, 9, "k") != "v" {
		t.Fatal("the duplicate had an effect")
	}
}

func TestMemTable_RangeTombstones(t *testing.T) {
	m := newTestTable(t, nil)
	for i := range 10 {
		add(t, m, uint64(i+1), dbformat.TypeValue, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	var info MemTablePostProcessInfo
	if err := m.Add(20, dbformat.TypeRangeDeletion, []byte("k3"), []byte("k6"), true, &info, nil); err != nil {
		t.Fatal(err)
	}
	m.BatchPostProcess(&info)
	add(t, m, 30, dbformat.TypeMerge, "k4", "m")
	check := func() {
		t.Helper()
		for i := range 10 {
			want := fmt.Sprint("v", i)
			if got := get(m, 19, fmt.Sprint("k", i)); got != want {
				t.Errorf("k%d before the tombstone: %q", i, got)
			}
			switch i {
			case 3, 5:
				want = "NOT_FOUND"
			case 4:
				want = "m"
			}
			if got := get(m, 100, fmt.Sprint("k", i)); got != want {
				t.Errorf("k%d: %q, want %q", i, got, want)
			}
		}
	}
	check()
	// A later tombstone must not be hidden by the cache of the first read.
	if err := m.Add(40, dbformat.TypeRangeDeletion, []byte("k9"), []byte("z"), true, &info, nil); err != nil {
		t.Fatal(err)
	}
	if got := get(m, 100, "k9"); got != "NOT_FOUND" {
		t.Errorf("k9: %q", got)
	}
	if m.NumRangeDeletion() != 1 || info.NumRangeDeletes != 2 {
		t.Errorf("counters: %d, %d", m.NumRangeDeletion(), info.NumRangeDeletes)
	}
	m.ConstructFragmentedRangeTombstones()
	m.MarkImmutable()
	if !m.IsFragmentedRangeTombstonesConstructed() {
		t.Error("tombstones are not fragmented")
	}
	ro := rocksdb.DefaultReadOptions()
	it, err := m.NewRangeTombstoneIterator(&ro, 100, true)
	if err != nil || it == nil {
		t.Fatalf("iterator: %v", err)
	}
	it.SeekToFirst()
	if !it.Valid() || string(it.StartKey()) != "k3" || string(it.EndKey()) != "k6" || it.Seq() != 20 {
		t.Errorf("first tombstone [%s, %s) at %d", it.StartKey(), it.EndKey(), it.Seq())
	}
	var lock sync.RWMutex
	if m.AddLogicallyRedundantRangeTombstone(50, []byte("a"), []byte("b"), &lock) {
		t.Error("tombstone added to an immutable memtable")
	}
}

func TestMemTable_RedundantTombstone(t *testing.T) {
	m := newTestTable(t, nil)
	add(t, m, 1, dbformat.TypeDeletion, "a", "")
	var lock sync.RWMutex
	lock.RLock()
	if m.AddLogicallyRedundantRangeTombstone(1, []byte("a"), []byte("b"), &lock) {
		t.Error("added during an ingestion")
	}
	lock.RUnlock()
	m.BumpIngestSeqnoBarrier(5)
	if m.AddLogicallyRedundantRangeTombstone(4, []byte("a"), []byte("b"), &lock) {
		t.Error("added below the barrier")
	}
	if !m.AddLogicallyRedundantRangeTombstone(5, []byte("a"), []byte("b"), &lock) {
		t.Error("not added")
	}
	if m.AddLogicallyRedundantRangeTombstone(5, []byte("a"), []byte("b"), &lock) {
		t.Error("duplicate added")
	}
	if m.NumRangeDeletion() != 1 || m.NumEntries() != 2 {
		t.Errorf("counters: %d, %d", m.NumRangeDeletion(), m.NumEntries())
	}
}

func TestMemTable_IteratorAgainstModel(t *testing.T) {
	for _, f := range []rocksdb.MemTableRepFactory{rep.NewSkipListFactory(0), rep.NewSkipListFactory(3), rep.NewVectorRepFactory(0)} {
		t.Run(f.ID(), func(t *testing.T) {
			m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
				o.MemtableFactory = f
				o.MemtableProtectionBytesPerKey = 4
			})
			rnd := rand.New(rand.NewSource(7))
			var keys [][]byte
			for i := range 500 {
				key := fmt.Sprintf("%04d", rnd.Intn(200))
				seq := uint64(i + 1)
				add(t, m, seq, dbformat.TypeValue, key, "v"+key)
				keys = append(keys, dbformat.NewInternalKey([]byte(key), seq, dbformat.TypeValue))
			}
			m.MarkImmutable()
			sortKeys(m.icmp, keys)
			ro := rocksdb.DefaultReadOptions()
			it := m.NewIterator(&ro, nil, nil)
			i := 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				if !bytes.Equal(it.Key(), keys[i]) || string(it.Value()) != "v"+string(it.UserKey()) {
					t.Fatalf("entry %d: %q", i, it.Key())
				}
				i++
			}
			if i != len(keys) || it.Status() != nil {
				t.Fatalf("%d entries, %v", i, it.Status())
			}
			for range 300 {
				j := rnd.Intn(len(keys))
				it.Seek(keys[j])
				for k := j; k < min(j+3, len(keys)); k++ {
					if !it.Valid() || !bytes.Equal(it.Key(), keys[k]) {
						t.Fatalf("Seek to %d, step %d", j, k-j)
					}
					it.Next()
				}
				it.SeekForPrev(keys[j])
				for k := j; k >= max(j-3, 0); k-- {
					if !it.Valid() || !bytes.Equal(it.Key(), keys[k]) {
						t.Fatalf("SeekForPrev to %d, step %d", j, j-k)
					}
					it.Prev()
				}
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func sortKeys(icmp *dbformat.InternalKeyComparator, keys [][]byte) {
	for i := range keys {
		for j := i; j > 0 && icmp.Compare(keys[j-1], keys[j]) > 0; j-- {
			keys[j-1], keys[j] = keys[j], keys[j-1]
		}
	}
}

func TestMemTable_FlushState(t *testing.T) {
	m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
		o.WriteBufferSize = 256 << 10
		o.ArenaBlockSize = 32 << 10
	})
	value := string(make([]byte, 1000))
	n := 0
	for ; !m.ShouldScheduleFlush(); n++ {
		if n > 1000 {
			t.Fatal("no flush asked for")
		}
		add(t, m, uint64(n+1), dbformat.TypeValue, fmt.Sprintf("%08d", n), value)
	}
	if n < 200 || n > 280 {
		t.Errorf("flush asked for after %d entries of 1 KB in 256 KB", n)
	}
	if !m.MarkFlushScheduled() || m.MarkFlushScheduled() || !m.HasFlushScheduled() || m.ShouldScheduleFlush() {
		t.Error("flush state")
	}
	if m.GetFlushReason() != rocksdb.FlushReasonWriteBufferFull {
		t.Errorf("reason %v", m.GetFlushReason())
	}
	if u := m.ApproximateMemoryUsage(); u < uint64(n*1000) || u > m.MemoryAllocatedBytes()+1000 {
		t.Errorf("usage %d, allocated %d", u, m.MemoryAllocatedBytes())
	}

	m = newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) { o.MemtableMaxRangeDeletions = 2 })
	for i := range 2 {
		var info MemTablePostProcessInfo
		if err := m.Add(uint64(i+1), dbformat.TypeRangeDeletion, []byte("a"), []byte("b"), true, &info, nil); err != nil {
			t.Fatal(err)
		}
		m.BatchPostProcess(&info)
	}
	if !m.ShouldScheduleFlush() || m.GetFlushReason() != rocksdb.FlushReasonMemtableMaxRangeDeletions {
		t.Error("range deletions did not ask for a flush")
	}
}

func TestMemTable_BloomAndHints(t *testing.T) {
	m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
		o.MemtablePrefixBloomSizeRatio = 0.1
		o.MemtableWholeKeyFiltering = true
		o.PrefixExtractor = util.NewFixedPrefixTransform(3)
		o.MemtableInsertWithHintPrefixExtractor = util.NewFixedPrefixTransform(3)
	})
	for i := range 1000 {
		add(t, m, uint64(i+1), dbformat.TypeValue, fmt.Sprintf("p%02d-%04d", i%7, i), "v")
	}
	if len(m.insertHints) != 7 {
		t.Errorf("%d hints", len(m.insertHints))
	}
	ro := rocksdb.DefaultReadOptions()
	perf := &rocksdb.PerfContext{}
	ro.PerfContext = perf
	found := 0
	var st LookupState
	for i := range 2000 {
		st.Reset()
		if m.Get(dbformat.NewLookupKey(fmt.Appendf(nil, "p%02d-%04d", i%7, i), 5000, nil), &ro, &st, false) {
			found++
		}
	}
	if found != 1000 || perf.BloomMemtableHitCount < 1000 || perf.BloomMemtableMissCount < 900 {
		t.Errorf("found %d, bloom hits %d, misses %d", found, perf.BloomMemtableHitCount, perf.BloomMemtableMissCount)
	}
	// A prefix iterator is spared a search.
	it := m.NewIterator(&ro, m.prefixExtractor, nil)
	if it.Seek(dbformat.NewInternalKey([]byte("zzz-1"), 5000, dbformat.ValueTypeForSeek)); it.Valid() {
		t.Error("prefix seek went beyond the filter")
	}
	if it.Seek(dbformat.NewInternalKey([]byte("p03-"), 5000, dbformat.ValueTypeForSeek)); !it.Valid() {
		t.Error("prefix seek found nothing")
	}
}

func TestMemTable_ConcurrentAdd(t *testing.T) {
	m := newTestTable(t, nil)
	const writers, each = 4, 3000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var info MemTablePostProcessInfo
			var hint Hint
			for i := range each {
				n := i*writers + w
				key := fmt.Appendf(nil, "%08d", n*7919%1000003)
				h := &hint
				if w%2 == 0 {
					h = nil
				}
				if err := m.Add(uint64(n+1), dbformat.TypeValue, key, key, true, &info, h); err != nil {
					t.Error(err)
				}
			}
			m.BatchPostProcess(&info)
		}()
	}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for i := 0; i < 2000; i++ {
			key := fmt.Sprintf("%08d", i*7919%1000003)
			if v := get(m, dbformat.MaxSequenceNumber, key); v != "" && v != key {
				t.Errorf("%s reads %q", key, v)
			}
		}
	}()
	wg.Wait()
	<-stop
	if m.NumEntries() != writers*each || m.GetFirstSequenceNumber() != 1 {
		t.Fatalf("%d entries, first %d", m.NumEntries(), m.GetFirstSequenceNumber())
	}
	if err := m.skip.List.TestValidate(); err != nil {
		t.Fatal(err)
	}
	for n := range writers * each {
		key := fmt.Sprintf("%08d", n*7919%1000003)
		if v := get(m, dbformat.MaxSequenceNumber, key); v != key {
			t.Fatalf("%s reads %q", key, v)
		}
	}
}

func TestMemTable_ChecksumFindsDamage(t *testing.T) {
	for _, bytesPerKey := range []uint32{1, 2, 4, 8} {
		m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) { o.MemtableProtectionBytesPerKey = bytesPerKey })
		add(t, m, 1, dbformat.TypeValue, "key", "value")
		if got := get(m, 9, "key"); got != "value" {
			t.Fatalf("%d bytes: %q", bytesPerKey, got)
		}
		ro := rocksdb.DefaultReadOptions()
		it := m.NewIterator(&ro, nil, nil)
		it.SeekToFirst()
		it.Value()[2] ^= 1
		if it.SeekToFirst(); it.Valid() || !errors.Is(it.Status(), rocksdb.ErrCorruption) {
			t.Errorf("%d bytes: iterator says %v", bytesPerKey, it.Status())
		}
		var st LookupState
		st.Reset()
		if !m.Get(dbformat.NewLookupKey([]byte("key"), 9, nil), &ro, &st, false) || !errors.Is(st.Status, rocksdb.ErrCorruption) {
			t.Errorf("%d bytes: Get says %v", bytesPerKey, st.Status)
		}
	}
}

func TestMemTable_MultiGet(t *testing.T) {
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprintf("batch_lookup=%v", batch), func(t *testing.T) {
			m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) { o.MemtableBatchLookupOptimization = batch })
			for i := range 100 {
				add(t, m, uint64(i+1), dbformat.TypeValue, fmt.Sprintf("k%03d", i), fmt.Sprint("v", i))
			}
			add(t, m, 200, dbformat.TypeMerge, "k011", "m")
			add(t, m, 201, dbformat.TypeMerge, "new", "n")
			add(t, m, 202, dbformat.TypeDeletion, "k012", "")
			names := []string{"a", "k010", "k011", "k012", "k013", "new", "zz"}
			want := []string{"", "v10", "v11,m", "NOT_FOUND", "v13", "MERGE", ""}
			contexts := make([]table.KeyContext, len(names))
			sorted := make([]*table.KeyContext, len(names))
			errs := make([]error, len(names))
			values := make([]rocksdb.PinnableSlice, len(names))
			for i := range names {
				contexts[i] = table.KeyContext{Key: []byte(names[i]), Err: &errs[i], Value: &values[i]}
				sorted[i] = &contexts[i]
			}
			var ctx table.MultiGetContext
			ctx.Init(sorted, 1000, nil)
			r := ctx.GetMultiGetRange()
			ro := rocksdb.DefaultReadOptions()
			m.MultiGet(&ro, &r, nil, false, nil)
			for i := range names {
				got := ""
				switch {
				case errors.Is(errs[i], rocksdb.ErrMergeInProgress):
					got = "MERGE"
				case errors.Is(errs[i], rocksdb.ErrNotFound):
					got = "NOT_FOUND"
				case errs[i] != nil:
					got = errs[i].Error()
				case r.CheckKeyDone(i):
					got = string(values[i].Data())
				}
				if got != want[i] || r.CheckKeyDone(i) != (got != "" && got != "MERGE") {
					t.Errorf("%s: %q, done %v; want %q", names[i], got, r.CheckKeyDone(i), want[i])
				}
			}
		})
	}
}

func TestMemTable_UpdateInPlace(t *testing.T) {
	for _, protection := range []uint32{0, 8} {
		m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
			o.InplaceUpdateSupport = true
			o.MemtableProtectionBytesPerKey = protection
		})
		long, short := string(bytes.Repeat([]byte{'l'}, 200)), "short"
		update := func(seq uint64, typ dbformat.ValueType, value string, entries uint64) {
			t.Helper()
			if err := m.Update(seq, typ, []byte("k"), []byte(value)); err != nil {
				t.Fatal(err)
			}
			if m.NumEntries() != entries {
				t.Fatalf("%d entries, want %d", m.NumEntries(), entries)
			}
			if got := get(m, 100, "k"); typ == dbformat.TypeValue && got != value {
				t.Fatalf("reads %q, want %q", got, value)
			}
		}
		update(1, dbformat.TypeValue, long, 1)
		update(2, dbformat.TypeValue, short, 1) // the length's varint shrinks too
		update(3, dbformat.TypeValue, "", 1)
		update(4, dbformat.TypeValue, long, 2)
		update(5, dbformat.TypeWideColumnEntity, string([]byte{1, 0}), 3)
		update(6, dbformat.TypeValue, "x", 4)
		if m.IsSnapshotSupported() {
			t.Error("snapshots are said to be supported")
		}
		ro := rocksdb.DefaultReadOptions()
		it := m.NewIterator(&ro, nil, nil)
		if it.SeekToFirst(); !it.Valid() || string(it.Value()) != "x" || it.IsValuePinned() {
			t.Errorf("iterator: %q, %v", it.Value(), it.Status())
		}
	}
}

func TestMemTable_UpdateCallback(t *testing.T) {
	answer, n := rocksdb.UpdatedInplace, 0
	m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
		o.InplaceUpdateSupport = true
		o.InplaceCallback = func(existing, delta []byte) (rocksdb.UpdateStatus, int, []byte) {
			if answer == rocksdb.UpdatedInplace {
				copy(existing, delta)
			}
			return answer, n, append([]byte("new "), delta...)
		}
	})
	if err := m.UpdateCallback(1, []byte("k"), []byte("d")); !errors.Is(err, rocksdb.ErrNotFound) {
		t.Fatalf("absent key: %v", err)
	}
	add(t, m, 1, dbformat.TypeValue, "k", "0123456789")
	step := func(seq uint64, delta, want string, entries uint64) {
		t.Helper()
		if err := m.UpdateCallback(seq, []byte("k"), []byte(delta)); err != nil {
			t.Fatal(err)
		}
		if got := get(m, 100, "k"); got != want || m.NumEntries() != entries {
			t.Fatalf("reads %q in %d entries, want %q in %d", got, m.NumEntries(), want, entries)
		}
	}
	n = 10
	step(2, "ab", "ab23456789", 1)
	n = 3
	step(3, "c", "cb2", 1)
	answer = rocksdb.UpdateFailed
	step(4, "d", "cb2", 1)
	answer = rocksdb.UpdatedNewValue
	step(5, "e", "new e", 2)
	answer, n = rocksdb.UpdatedInplace, 6
	if err := m.UpdateCallback(6, []byte("k"), nil); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatalf("a longer value in place: %v", err)
	}
}

func TestMemTable_Timestamps(t *testing.T) {
	m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) { o.Comparator = util.BytewiseComparatorWithU64Ts() })
	at := func(key string, ts uint64) string { return key + string(util.EncodeU64Ts(ts)) }
	add(t, m, 1, dbformat.TypeValue, at("a", 10), "a10")
	add(t, m, 2, dbformat.TypeValue, at("a", 20), "a20")
	add(t, m, 3, dbformat.TypeDeletionWithTimestamp, at("a", 30), "")
	add(t, m, 4, dbformat.TypeValue, at("b", 15), "b15")
	var info MemTablePostProcessInfo
	if err := m.Add(5, dbformat.TypeRangeDeletion, []byte(at("b", 25)), []byte(at("c", 25)), true, &info, nil); err != nil {
		t.Fatal(err)
	}
	m.BatchPostProcess(&info)
	if got := util.EncodeU64Ts(30); !bytes.Equal(m.GetNewestUDT(), got) {
		t.Errorf("newest timestamp %x", m.GetNewestUDT())
	}
	for _, c := range []struct {
		key   string
		ts    uint64
		want  string
		found uint64 // timestamp
	}{
		{"a", 5, "", 0}, {"a", 10, "a10", 10}, {"a", 29, "a20", 20}, {"a", 99, "NOT_FOUND", 30},
		{"b", 15, "b15", 15}, {"b", 24, "b15", 15}, {"b", 25, "NOT_FOUND", 25},
	} {
		ro := rocksdb.DefaultReadOptions()
		ts := util.EncodeU64Ts(c.ts)
		ro.Timestamp = ts
		var st LookupState
		st.Reset()
		st.WantTimestamp = true
		final := m.Get(dbformat.NewLookupKey([]byte(c.key), 100, ts), &ro, &st, false)
		got := string(st.Value)
		if errors.Is(st.Status, rocksdb.ErrNotFound) {
			got = "NOT_FOUND"
		} else if st.Status != nil {
			t.Fatal(st.Status)
		}
		if got != c.want || final != (c.want != "") {
			t.Errorf("%s at %d: %q", c.key, c.ts, got)
		}
		if final && !bytes.Equal(st.Timestamp, util.EncodeU64Ts(c.found)) {
			t.Errorf("%s at %d: timestamp %x", c.key, c.ts, st.Timestamp)
		}
	}
	ro := rocksdb.DefaultReadOptions()
	strip := m.NewTimestampStrippingIterator(&ro, nil, nil)
	n := 0
	for strip.SeekToFirst(); strip.Valid(); strip.Next() {
		if !bytes.Equal(strip.UserKey()[1:], util.MinU64Ts()) {
			t.Errorf("key %x keeps its timestamp", strip.Key())
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d entries", n)
	}
	del, err := m.NewTimestampStrippingRangeTombstoneIterator(&ro, 100)
	if err != nil {
		t.Fatal(err)
	}
	if del.SeekToFirst(); !del.Valid() || del.StartKey()[0] != 'b' || del.EndKey()[0] != 'c' || !bytes.Equal(del.Timestamp(), util.MinU64Ts()) {
		t.Errorf("tombstone [%x, %x) at %x", del.StartKey(), del.EndKey(), del.Timestamp())
	}
}

func TestMemTable_NoAllocationPerOperation(t *testing.T) {
	if syncpoint.Enabled {
		return // sync points box their arguments
	}
	m := newTestTable(t, nil)
	key := []byte("key00000")
	value := []byte("some value")
	seq := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		seq++
		if err := m.Add(seq, dbformat.TypeValue, key, value, false, nil, nil); err != nil {
			t.Fatal(err)
		}
	}); n > 0.1 {
		t.Errorf("Add: %v allocations", n)
	}
	var lk dbformat.LookupKey
	var st LookupState
	ro := rocksdb.DefaultReadOptions()
	if n := testing.AllocsPerRun(1000, func() {
		lk.Set(key, seq, nil)
		st.Reset()
		if !m.Get(&lk, &ro, &st, false) {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("Get: %v allocations", n)
	}
	it := m.NewIterator(&ro, nil, nil)
	if n := testing.AllocsPerRun(1000, func() {
		it.Seek(lk.InternalKey())
		it.Next()
	}); n != 0 {
		t.Errorf("Seek and Next: %v allocations", n)
	}
}

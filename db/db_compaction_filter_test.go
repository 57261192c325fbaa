// Port of db/db_compaction_filter_test.cc.

package db_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
)

// entryFilter is a compaction filter that is one function of an entry, and its
// factory for the files of one reason. It counts the plain values it is asked
// about and the ranges it skips.
type entryFilter struct {
	decide func(key, value []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte)
	// operands decides about merge operands; the zero value keeps them.
	operands rocksdb.CompactionFilterDecision
	reason   rocksdb.TableFileCreationReason
	// context looks at what a filter is made for, and tells whether one is.
	context func(*rocksdb.CompactionFilterContext) bool
	refused bool // the filter wants snapshots to be heeded

	asked, skips atomic.Int64
}

func (*entryFilter) Name() string            { return "EntryFilter" }
func (f *entryFilter) IgnoreSnapshots() bool { return !f.refused }

func (f *entryFilter) FilterV3(_ int, key []byte, vt rocksdb.CompactionFilterValueType, value []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if vt != rocksdb.CompactionFilterValue {
		return f.operands, nil, nil
	}
	f.asked.Add(1)
	d, newValue, skipUntil = f.decide(key, value)
	if d == rocksdb.FilterRemoveAndSkipUntil {
		f.skips.Add(1)
	}
	return d, newValue, skipUntil
}

func (f *entryFilter) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == f.reason
}

func (f *entryFilter) CreateCompactionFilter(c *rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	if f.context != nil && !f.context(c) {
		return nil
	}
	return f
}

// always makes one decision about all values.
func always(d rocksdb.CompactionFilterDecision) func(key, value []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return func(_, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) { return d, nil, nil }
}

func ofManual(c *rocksdb.CompactionFilterContext) bool { return c.IsManualCompaction }

func keepFilter() *entryFilter {
	return &entryFilter{decide: always(rocksdb.FilterKeep), reason: rocksdb.TableFileCreationReasonCompaction}
}

// deleteFilter drops all values and operands of files of a reason, of
// compactions only where they are manual.
func deleteFilter(reason rocksdb.TableFileCreationReason) *entryFilter {
	f := &entryFilter{decide: always(rocksdb.FilterRemove), operands: rocksdb.FilterRemove, reason: reason}
	if reason == rocksdb.TableFileCreationReasonCompaction {
		f.context = ofManual
	}
	return f
}

// skipEvenFilter skips the keys of even tens; they are numbers of 10 digits.
func skipEvenFilter() *entryFilter {
	return &entryFilter{reason: rocksdb.TableFileCreationReasonCompaction, context: ofManual,
		decide: func(key, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
			n, _ := strconv.Atoi(string(key))
			if n/10%2 == 0 {
				return rocksdb.FilterRemoveAndSkipUntil, nil, fmt.Appendf(nil, "%010d", n/10*10+10)
			}
			return rocksdb.FilterKeep, nil, nil
		}}
}

// putFiltered writes n keys to a family and flushes them.
func (x *dbTest) putFiltered(cf, n int) {
	x.Helper()
	for i := range n {
		x.mustPut(cf, fmt.Sprintf("B%010d", i), "xxxxxxxxxx")
	}
	x.flush(cf)
}

// wantAsked compacts a level and wants the filter asked so often.
func (x *dbTest) wantAsked(f *entryFilter, level int, want int64) {
	x.Helper()
	f.asked.Store(0)
	x.must(x.full().TestCompactRange(level, nil, nil, x.cf(1).Impl(), false))
	same(x, fmt.Sprintf("values the filter saw at level %d", level), f.asked.Load(), want)
}

// wantZeroed counts a family's entries in all files, and wants them without
// sequence numbers.
func (x *dbTest) wantZeroed(cf, want int) {
	x.Helper()
	it, done := x.full().TestNewInternalIterator(x.cf(cf).Impl())
	defer done()
	defer it.Close()
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		x.must(err)
		if k.Sequence != 0 {
			x.Errorf("%s has a sequence number", k.UserKey)
		}
		n++
	}
	x.must(it.Status())
	same(x, "entries", n, want)
}

// wantCounted counts what an iterator of a family gives.
func (x *dbTest) wantCounted(cf int, s rocksdb.Snapshot, want int) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s
	it := x.cf(cf).NewIterator(&ro)
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	x.must(it.Err())
	x.must(it.Close())
	same(x, "keys", n, want)
}

func TestDBTestCompactionFilter_CompactionFilter(t *testing.T) {
	const n = 5000
	x := newDBTest(t)
	o := x.currentOptions()
	f := keepFilter()
	o.MaxOpenFiles, o.NumLevels, o.CompactionFilterFactory = -1, 3, f
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	wantInL2 := func() {
		t.Helper()
		for level, files := range []bool{false, false, true} {
			if got := x.numTableFilesAtLevel(level, 1); got > 0 != files {
				t.Errorf("%d files at level %d", got, level)
			}
		}
	}
	for range 2 { // the second time over what the first wrote
		x.putFiltered(1, n)
		x.wantAsked(f, 0, n)
		x.wantAsked(f, 1, n)
		wantInL2()
	}
	x.wantZeroed(1, n)

	f = deleteFilter(rocksdb.TableFileCreationReasonCompaction)
	o.CompactionFilterFactory = f
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.putFiltered(1, n)
	x.wantFiles(1, "1")
	x.wantAsked(f, 0, n)
	x.wantAsked(f, 1, 0)
	same(x, "files of level 0", x.numTableFilesAtLevel(0, 1), 0)
	same(x, "files of level 1", x.numTableFilesAtLevel(1, 1), 0)
	x.wantCounted(1, nil, 0)
	x.wantZeroed(1, 0)
}

// A compaction whose output is no file at all.
func TestDBTestCompactionFilter_CompactionFilterDeletesAll(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionFilterFactory, o.DisableAutoCompactions = deleteFilter(rocksdb.TableFileCreationReasonCompaction), true
	x.destroyAndReopen(o)
	for table := range 4 {
		for i := range 10 + table {
			x.mustPut(0, fmt.Sprint(table*100+i), "val")
		}
		x.flush(0)
	}
	x.compact(0, "", "")
	same(x, "live files", x.totalTableFiles(0), 0)
	x.reopen(o)
	x.wantCounted(0, nil, 0)
}

// filterOfReason wants a value and a merged value dropped by one kind of files, and
// kept by the others.
func filterOfReason(t *testing.T, reason rocksdb.TableFileCreationReason, drops, keeps func(x *dbTest, o rocksdb.Options)) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionFilterFactory, o.MergeOperator = deleteFilter(reason), rocksdb.NewStringAppendOperator(",")
	x.reopen(o)
	write := func() {
		x.mustPut(0, "a", "v")
		x.mustMerge(0, "b", "v")
	}
	want := func(v string) {
		t.Helper()
		x.wantGet(0, "a", v)
		x.wantGet(0, "b", v)
	}
	write()
	drops(x, o)
	want("NOT_FOUND")
	write()
	keeps(x, o)
	want("v")
	x.compact(0, "", "")
	want("v")
}

func TestDBTestCompactionFilter_CompactionFilterFlush(t *testing.T) {
	filterOfReason(t, rocksdb.TableFileCreationReasonFlush,
		func(x *dbTest, _ rocksdb.Options) { x.flush(0) }, (*dbTest).reopen)
}

func TestDBTestCompactionFilter_CompactionFilterRecovery(t *testing.T) {
	filterOfReason(t, rocksdb.TableFileCreationReasonRecovery,
		(*dbTest).reopen, func(x *dbTest, _ rocksdb.Options) { x.flush(0) })
}

func TestDBTestCompactionFilterWithCompactParam_CompactionFilterWithValueChange(t *testing.T) {
	const n = 3001
	for name, c := range map[string]optionConfig{"Default": configDefault, "Universal": configUniversalCompaction,
		"UniversalMultiLevel": configUniversalCompactionMultiLevel, "LevelSubcompactions": configLevelSubcompactions,
		"UniversalSubcompactions": configUniversalSubcompactions} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			x.config = c
			o := x.currentOptions()
			o.NumLevels = 3
			o.CompactionFilterFactory = &entryFilter{reason: rocksdb.TableFileCreationReasonCompaction,
				decide: func(_, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
					return rocksdb.FilterChangeValue, []byte("NewValue"), nil
				}}
			x.destroyAndReopen(o)
			x.createAndReopenWithCF([]string{"pikachu"}, o)
			for range 2 {
				x.putFiltered(1, n)
				if c == configUniversalCompactionMultiLevel || c == configUniversalSubcompactions {
					x.compact(1, "", "")
					continue
				}
				for level := range 2 {
					x.must(x.full().TestCompactRange(level, nil, nil, x.cf(1).Impl(), false))
				}
			}
			for i := range n {
				x.wantGet(1, fmt.Sprintf("B%010d", i), "NewValue")
			}
		})
	}
}

// What a merge made is not shown to the filter.
func TestDBTestCompactionFilter_CompactionFilterWithMergeOperator(t *testing.T) {
	one, two, three, four := fixed64(1), fixed64(2), fixed64(3), fixed64(4)
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator, o.NumLevels = rocksdb.NewUInt64AddOperator(), 3
	o.CompactionFilterFactory = &entryFilter{reason: rocksdb.TableFileCreationReasonCompaction,
		decide: func(_, value []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
			if string(value) == two {
				return rocksdb.FilterRemove, nil, nil
			}
			return rocksdb.FilterKeep, nil, nil
		}}
	x.destroyAndReopen(o)
	merged := func(key, value, operand, want string) {
		t.Helper()
		x.puts(0, key, value, "flush")
		x.mustMerge(0, key, operand)
		x.flush(0)
		x.wantGet(0, key, want)
		x.compact(0, "", "")
		x.wantGet(0, key, want)
	}
	merged("foo", two, one, three)
	x.puts(0, "bar", two, "flush")
	x.compact(0, "", "")
	x.wantGet(0, "bar", "NOT_FOUND")
	x.mustMerge(0, "bar", two)
	x.flush(0)
	x.compact(0, "", "")
	x.wantGet(0, "bar", two)
	merged("foobar", one, two, three)
	merged("barfoo", two, two, four)
}

func TestDBTestCompactionFilter_CompactionFilterContextManual(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := keepFilter()
	var last *rocksdb.CompactionFilterContext
	f.context = func(c *rocksdb.CompactionFilterContext) bool { last = c; return true }
	o.CompactionStyle, o.CompactionFilterFactory = rocksdb.CompactionStyleUniversal, f
	o.Compression, o.Level0FileNumCompactionTrigger = rocksdb.NoCompression, 8
	x.reopen(o)
	const files = 3
	for j, n := 0, 400; j < files; j, n = j+1, n/2 { // each much smaller than the one before
		for i := range n {
			x.mustPut(0, fmt.Sprintf("B%08d%02d", i, j), "xxxxxxxxxx")
		}
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	f.asked.Store(0)
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	same(x, "tables", len(props), files)
	x.compact(0, "", "")
	same(x, "values the filter saw", f.asked.Load(), 700)
	same(x, "tables", x.totalTableFiles(0), 1)
	if last == nil || !last.IsFullCompaction || !last.IsManualCompaction || last.ColumnFamilyID != 0 || last.InputStartLevel != 0 ||
		len(last.InputTableProperties) != files {
		t.Fatalf("context %+v", last)
	}
	for name, p := range props {
		if got := last.InputTableProperties[name]; got == nil || got.NumEntries != p.NumEntries || got.OrigFileNumber != p.OrigFileNumber {
			t.Errorf("the context has other properties of %s: %+v", name, got)
		}
	}
	x.wantZeroed(0, 700)
}

func TestDBTestCompactionFilter_CompactionFilterContextCfId(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := keepFilter()
	var made, others atomic.Int32
	f.context = func(c *rocksdb.CompactionFilterContext) bool {
		made.Add(1)
		if c.ColumnFamilyID != 1 {
			others.Add(1)
		}
		return true
	}
	o.CompactionFilterFactory, o.Compression, o.Level0FileNumCompactionTrigger = f, rocksdb.NoCompression, 2
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for j, n := 0, 400; j < 3; j, n = j+1, n/2 {
		for i := range n {
			x.mustPut(1, fmt.Sprintf("B%08d%02d", i, j), "xxxxxxxxxx")
		}
		x.flush(1)
	}
	x.must(x.full().TestWaitForCompact())
	if made.Load() == 0 || others.Load() != 0 {
		t.Errorf("%d filters were made, %d of another family", made.Load(), others.Load())
	}
}

// Snapshots do not keep what a filter drops.
func TestDBTestCompactionFilter_CompactionFilterIgnoreSnapshot(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := &entryFilter{reason: rocksdb.TableFileCreationReasonCompaction, context: ofManual,
		decide: func(key, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
			if n, _ := strconv.Atoi(string(key)); n > 5 && n <= 105 {
				return rocksdb.FilterRemove, nil, nil
			}
			return rocksdb.FilterKeep, nil, nil
		}}
	o.CompactionFilterFactory, o.DisableAutoCompactions = f, true
	x.destroyAndReopen(o)
	var s rocksdb.Snapshot
	for table := range 4 {
		for i := range 10 {
			x.mustPut(0, fmt.Sprint(table*100+i), "val")
		}
		x.flush(0)
		if table == 0 {
			s = x.db.GetSnapshot()
		}
	}
	defer x.db.ReleaseSnapshot(s)
	x.compact(0, "", "")
	same(x, "values the filter saw", f.asked.Load(), 40)
	x.wantCounted(0, s, 6)
	x.wantCounted(0, nil, 30)
}

func TestDBTestCompactionFilter_SkipUntil(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	f := skipEvenFilter()
	o.CompactionFilterFactory, o.DisableAutoCompactions = f, true
	x.destroyAndReopen(o)
	each := func(do func(n int, key, value string)) {
		for table := range 4 { // [0, 38], [106, 149], [212, 260], [318, 371]
			for i := table * 6; i < 39+table*11; i++ {
				n := table*100 + i
				do(n, fmt.Sprintf("%010d", n), fmt.Sprint(table*1000+i))
			}
			do(-1, "", "")
		}
	}
	each(func(n int, key, value string) {
		if n < 0 {
			x.flush(0)
			return
		}
		x.mustPut(0, key, value)
	})
	x.compact(0, "", "")
	same(x, "ranges skipped", f.skips.Load(), 11) // of the tables: 2, 3, 3, 3
	each(func(n int, key, value string) {
		switch {
		case n < 0:
		case n/10%2 == 0:
			x.wantGet(0, key, "NOT_FOUND")
		default:
			x.wantGet(0, key, value)
		}
	})
}

// The seek past the skipped keys does not go by filters of prefixes.
func TestDBTestCompactionFilter_SkipUntilWithBloomFilter(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.WholeKeyFiltering, b.FilterPolicy = false, rocksdb.NewBloomFilterPolicy(100)
	f := skipEvenFilter()
	o.TableFactory, o.PrefixExtractor = rocksdb.NewBlockBasedTableFactory(b), rocksdb.NewCappedPrefixTransform(9)
	o.CompactionFilterFactory, o.DisableAutoCompactions = f, true
	x.destroyAndReopen(o)
	x.puts(0, "0000000010", "v10", "0000000020", "v20", "0000000050", "v50", "flush")
	x.compact(0, "", "")
	same(x, "ranges skipped", f.skips.Load(), 1)
	x.wantGet(0, "0000000010", "v10")
	x.wantGet(0, "0000000020", "NOT_FOUND")
	x.wantGet(0, "0000000050", "v50")
}

func refusedFilter(reason rocksdb.TableFileCreationReason) *entryFilter {
	return &entryFilter{decide: always(rocksdb.FilterRemove), refused: true, reason: reason}
}

func TestDBTestCompactionFilter_IgnoreSnapshotsFalse(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionFilter = refusedFilter(rocksdb.TableFileCreationReasonCompaction)
	x.destroyAndReopen(o)
	x.puts(0, "a", "v10", "z", "v20", "flush", "a", "v10", "z", "v20", "flush")
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrNotSupported)
}

func TestDBTestCompactionFilter_IgnoreSnapshotsFalseDuringFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionFilterFactory = refusedFilter(rocksdb.TableFileCreationReasonFlush)
	x.reopen(o)
	x.mustPut(0, "a", "v10")
	x.wantIs(x.db.Flush(nil), rocksdb.ErrNotSupported)
}

func TestDBTestCompactionFilter_IgnoreSnapshotsFalseRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionFilterFactory = refusedFilter(rocksdb.TableFileCreationReasonRecovery)
	x.reopen(o)
	x.mustPut(0, "a", "v10")
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
}

// A key that a filter purged may be deleted singly after it.
func TestDBTestCompactionFilter_DropKeyWithSingleDelete(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	x.reopen(o)
	x.puts(0, "a", "v0", "b", "v0")
	s := x.db.GetSnapshot()
	x.mustSingleDelete(0, "b")
	x.flush(0)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, o.NumLevels-1
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.db.ReleaseSnapshot(s)

	purging := o
	purging.CompactionFilter = &entryFilter{decide: func(key, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		if key[0] == 'b' {
			return rocksdb.FilterPurge, nil, nil
		}
		return rocksdb.FilterRemove, nil, nil
	}}
	purging.Level0FileNumCompactionTrigger = 2
	x.reopen(purging)
	x.puts(0, "b", "v1", "x", "v1", "flush", "r", "v1", "z", "v1", "flush")
	x.must(x.full().TestWaitForCompact())

	x.reopen(o)
	x.mustSingleDelete(0, "b")
	x.flush(0)
	cro = rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.wantGet(0, "b", "NOT_FOUND")
}

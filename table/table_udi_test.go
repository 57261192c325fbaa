// Port of table/table_test.cc: UserDefinedIndexTest. Differs: the basic case reads
// an ingested file, not one by SstFileReader.

package table_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// everyKeys ends a block after so many keys.
type everyKeys int

func (everyKeys) Name() string { return "CustomFlushBlockPolicy" }

func (n everyKeys) NewFlushBlockPolicy(*contract.BlockBasedTableOptions, contract.DataBlockBuilder) contract.FlushBlockPolicy {
	return &everyKeysPolicy{every: int(n)}
}

type everyKeysPolicy struct{ every, n int }

func (p *everyKeysPolicy) Update(_, _ []byte) bool {
	if p.n >= p.every {
		p.n = 1
		return true
	}
	p.n++
	return false
}

// testIndex has an entry for each block's last key, with the number of the
// block's keys, and empty ones for all other keys of five bytes. An iterator that
// was told of ranges counts their keys, by the property "count", and ends there.
type testIndex struct {
	anyKey bool // keys may have any length; no entries for them

	mu         sync.Mutex
	kinds      []keyKind
	badKeys    int // of another length than 5
	badSeeks   int // out of the order of the ranges
	seekErrors int // how many first seeks of an iterator fail
	nextErrors int
}

type keyKind struct {
	key  string
	kind blockbased.UserDefinedIndexValueType
}

func (f *testIndex) Name() string { return "test_index" }

func (f *testIndex) NewBuilder(*blockbased.UserDefinedIndexOption) (blockbased.UserDefinedIndexBuilder, error) {
	return &testIndexBuilder{f: f, entries: map[string]testIndexEntry{}}, nil
}

func (f *testIndex) NewReader(o *blockbased.UserDefinedIndexOption, b []byte) (blockbased.UserDefinedIndexReader, error) {
	r := &testIndexReader{f: f, cmp: o.Comparator}
	for len(b) > 0 {
		key, rest, ok := util.GetLengthPrefixedSlice(b)
		if !ok || len(rest) < 20 {
			return nil, rocksdb.Corruption("bad test index")
		}
		e := testIndexEntry{key: string(key)}
		e.handle.Offset, rest, _ = util.GetFixed64(rest)
		e.handle.Size, rest, _ = util.GetFixed64(rest)
		n, rest, _ := util.GetFixed32(rest)
		e.keys = int(n)
		r.entries = append(r.entries, e)
		b = rest
	}
	slices.SortFunc(r.entries, func(a, b testIndexEntry) int { return r.cmp.Compare([]byte(a.key), []byte(b.key)) })
	return r, nil
}

func (f *testIndex) add(n *int) {
	f.mu.Lock()
	*n++
	f.mu.Unlock()
}

type testIndexEntry struct {
	key    string
	handle format.BlockHandle
	keys   int // of the block; 0: no block's end
}

type testIndexBuilder struct {
	f       *testIndex
	entries map[string]testIndexEntry
	blocks  int
	keys    int // of this block
}

func (b *testIndexBuilder) AddIndexEntry(last, next []byte, h format.BlockHandle, _ blockbased.UserDefinedIndexEntryContext) {
	if b.keys == 0 {
		return
	}
	if !b.f.anyKey && (len(last) != 5 || next != nil && len(next) != 5) {
		b.f.add(&b.f.badKeys)
	}
	b.blocks++
	b.entries[string(last)] = testIndexEntry{string(last), h, b.keys}
	b.keys = 0
}

func (b *testIndexBuilder) OnKeyAdded(key []byte, kind blockbased.UserDefinedIndexValueType, _ []byte) {
	if strings.HasPrefix(string(key), "dummy") {
		return
	}
	b.f.mu.Lock()
	b.f.kinds = append(b.f.kinds, keyKind{string(key), kind})
	b.f.mu.Unlock()
	b.keys++
	if !b.f.anyKey {
		if len(key) != 5 {
			b.f.add(&b.f.badKeys)
		}
		b.entries[string(key)] = testIndexEntry{key: string(key)}
	}
}

func (b *testIndexBuilder) Finish() ([]byte, error) {
	if b.blocks == 0 {
		return nil, nil
	}
	var out []byte
	for _, e := range b.entries {
		out = util.AppendLengthPrefixedSlice(out, []byte(e.key))
		out = util.AppendFixed64(util.AppendFixed64(out, e.handle.Offset), e.handle.Size)
		out = util.AppendFixed32(out, uint32(e.keys))
	}
	return out, nil
}

func (b *testIndexBuilder) EstimatedSize() uint64 { return 0 }

type testIndexReader struct {
	f       *testIndex
	cmp     rocksdb.Comparator
	entries []testIndexEntry
}

func (r *testIndexReader) NewIterator(*rocksdb.ReadOptions) blockbased.UserDefinedIndexIterator {
	return &testIndexIterator{r: r, seekErrors: r.f.seekErrors, nextErrors: r.f.nextErrors}
}
func (r *testIndexReader) ApproximateMemoryUsage() int { return 0 }

type testIndexIterator struct {
	r                      *testIndexReader
	i                      int
	scans                  []rocksdb.ScanOptions
	scan                   int // how many were sought
	left                   int // keys
	seekErrors, nextErrors int
}

func (it *testIndexIterator) Prepare(scans []rocksdb.ScanOptions) { it.scans, it.scan = scans, 0 }

func (it *testIndexIterator) compare(i int, key []byte) int {
	return it.r.cmp.Compare([]byte(it.r.entries[i].key), key)
}

// outside tells whether the entry is at or behind the present range's limit.
func (it *testIndexIterator) outside() bool {
	if it.scan == 0 {
		return false
	}
	limit := it.scans[it.scan-1].Range.Limit
	return limit != nil && it.compare(it.i, limit) >= 0
}

// forward goes on to a block's end; end is the answer where there is none.
func (it *testIndexIterator) forward(res *internaliter.IterateResult, end internaliter.IterBoundCheck) bool {
	*res = internaliter.IterateResult{BoundCheckResult: end}
	if it.i >= len(it.r.entries) || it.outside() {
		return false
	}
	for it.i < len(it.r.entries) && it.r.entries[it.i].keys == 0 {
		it.i++
	}
	return it.found(res)
}

func (it *testIndexIterator) found(res *internaliter.IterateResult) bool {
	*res = internaliter.IterateResult{}
	if it.i < 0 || it.i >= len(it.r.entries) {
		return false
	}
	*res = internaliter.IterateResult{Key: []byte(it.r.entries[it.i].key), BoundCheckResult: internaliter.Inbound}
	return true
}

func (it *testIndexIterator) SeekToFirstAndGetResult(res *internaliter.IterateResult) error {
	it.i = 0
	it.forward(res, internaliter.BoundUnknown)
	return nil
}

func (it *testIndexIterator) SeekAndGetResult(key []byte, _ uint64, res *internaliter.IterateResult) error {
	if it.seekErrors > 0 {
		it.seekErrors--
		return rocksdb.IOError("seek")
	}
	if it.scans != nil {
		if it.scan >= len(it.scans) || it.r.cmp.Compare(it.scans[it.scan].Range.Start, key) != 0 {
			it.r.f.add(&it.r.f.badSeeks)
			return nil
		}
		it.left, _ = strconv.Atoi(it.scans[it.scan].PropertyBag["count"])
		it.scan++
	}
	it.i = sort.Search(len(it.r.entries), func(i int) bool { return it.compare(i, key) >= 0 })
	if it.forward(res, internaliter.OutOfBound) && it.scans != nil && it.left > 0 && it.compare(it.i, key) == 0 {
		it.left--
	}
	return nil
}

func (it *testIndexIterator) NextAndGetResult(res *internaliter.IterateResult) error {
	if it.nextErrors > 0 {
		it.nextErrors--
		return rocksdb.IOError("next")
	}
	if it.scans != nil && (it.outside() || it.left == 0) {
		*res = internaliter.IterateResult{BoundCheckResult: internaliter.OutOfBound}
		return nil
	}
	it.i++
	if it.forward(res, internaliter.BoundUnknown) {
		it.left -= min(it.left, it.r.entries[it.i].keys)
	}
	return nil
}

func (it *testIndexIterator) back(res *internaliter.IterateResult) error {
	for it.i >= 0 && it.r.entries[it.i].keys == 0 {
		it.i--
	}
	it.found(res)
	return nil
}

func (it *testIndexIterator) SeekToLastAndGetResult(res *internaliter.IterateResult) error {
	it.i = len(it.r.entries) - 1
	return it.back(res)
}

func (it *testIndexIterator) PrevAndGetResult(res *internaliter.IterateResult) error {
	it.i--
	return it.back(res)
}

func (it *testIndexIterator) Value() format.BlockHandle { return it.r.entries[it.i].handle }

// udiTest is what the cases share. reverse is the order of the keys.
type udiTest struct {
	*testing.T
	reverse bool
	index   *testIndex
	b       rocksdb.BlockBasedTableOptions
	o       rocksdb.Options
	dir     string
	files   int
	rnd     *util.Random
}

// eachUDI runs f for both orders.
func eachUDI(t *testing.T, f func(x *udiTest)) {
	for _, reverse := range []bool{false, true} {
		t.Run(fmt.Sprint("reverse=", reverse), func(t *testing.T) {
			x := &udiTest{T: t, reverse: reverse, index: &testIndex{}, b: rocksdb.DefaultBlockBasedTableOptions(),
				o: rocksdb.DefaultOptions(), dir: t.TempDir(), rnd: util.NewRandom(301)}
			x.b.UserDefinedIndexFactory, x.b.FlushBlockPolicyFactory = x.index, everyKeys(3)
			x.o.CreateIfMissing, x.o.Comparator = true, rocksdb.BytewiseComparator()
			if reverse {
				x.o.Comparator = rocksdb.ReverseBytewiseComparator()
			}
			x.tables()
			f(x)
			if x.index.badKeys != 0 || x.index.badSeeks != 0 {
				t.Errorf("%d keys of another length, %d seeks out of order", x.index.badKeys, x.index.badSeeks)
			}
		})
	}
}

func (x *udiTest) tables() { x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(x.b) }

// pick is the first in the forward order, the second in the reverse one.
func (x *udiTest) pick(forward, reverse int) int {
	if x.reverse {
		return reverse
	}
	return forward
}

// ordered gives the keys, which are in forward order, in the order of the test.
func (x *udiTest) ordered(keys ...string) []string {
	if x.reverse {
		slices.Reverse(keys)
	}
	return keys
}

func (x *udiTest) keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%02d", i)
	}
	return x.ordered(keys...)
}

// file writes a table with what f adds.
func (x *udiTest) file(f func(w *rocksdb.SstFileWriter)) string {
	x.Helper()
	path := filepath.Join(x.dir, fmt.Sprintf("%d.sst", x.files))
	x.files++
	w := rocksdb.NewSstFileWriter(x.o, nil)
	fatalIf(x.T, w.Open(path, rocksdb.TemperatureUnknown))
	f(w)
	fatalIf(x.T, w.Finish(nil))
	return path
}

// dataFile has keys with value, or with "value" and their number for "".
func (x *udiTest) dataFile(keys []string, value string) string {
	x.Helper()
	return x.file(func(w *rocksdb.SstFileWriter) {
		for _, k := range keys {
			v := value
			if v == "" {
				v = "value" + k[3:]
			}
			fatalIf(x.T, w.Put([]byte(k), []byte(v)))
		}
	})
}

func (x *udiTest) rangeDeletionFile() string {
	x.Helper()
	return x.file(func(w *rocksdb.SstFileWriter) {
		r := x.ordered("key", "keyz")
		fatalIf(x.T, w.DeleteRange([]byte(r[0]), []byte(r[1])))
	})
}

func (x *udiTest) open() (*rocksdb.DB, *rocksdb.ColumnFamily) {
	x.Helper()
	db, err := rocksdb.Open(filepath.Join(x.dir, "db"), x.o)
	fatalIf(x.T, err)
	cf, err := db.CreateColumnFamily(x.o.ColumnFamilyOptions, "new_cf")
	fatalIf(x.T, err)
	x.Cleanup(func() {
		fatalIf(x.T, cf.Close())
		fatalIf(x.T, db.Close())
	})
	return db, cf
}

func (x *udiTest) ingest(cf *rocksdb.ColumnFamily, files ...string) {
	x.Helper()
	fatalIf(x.T, cf.IngestExternalFile(files, nil))
}

func count(t *testing.T, it *rocksdb.Iterator) (n int) {
	t.Helper()
	for ; it.Valid(); it.Next() {
		n++
	}
	fatalIf(t, it.Status())
	return n
}

// scanArgs has ranges, of pairs of keys, with a count.
func (x *udiTest) scanArgs(n int, keys ...string) *rocksdb.MultiScanArgs {
	a := contract.DefaultMultiScanArgs(x.o.Comparator)
	for i := 0; i < len(keys); i += 2 {
		a.Ranges = append(a.Ranges, rocksdb.ScanOptions{
			Range:       rocksdb.RangeOpt{Start: []byte(keys[i]), Limit: []byte(keys[i+1])},
			PropertyBag: map[string]string{"count": strconv.Itoa(n)},
		})
	}
	return &a
}

func readOptions(f func(*rocksdb.ReadOptions)) *rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	f(&ro)
	return &ro
}

// seekAndCount counts from key on, to upper ("" for the end), with the index.
func (x *udiTest) seekAndCount(newIterator func(*rocksdb.ReadOptions) *rocksdb.Iterator, key, upper string) int {
	x.Helper()
	it := newIterator(readOptions(func(ro *rocksdb.ReadOptions) {
		ro.TableIndexFactory = x.index
		if upper != "" {
			ro.IterateUpperBound = []byte(upper)
		}
	}))
	defer it.Close()
	it.Seek([]byte(key))
	return count(x.T, it)
}

func testUDIBasic(t *testing.T, partitioned bool) {
	eachUDI(t, func(x *udiTest) {
		if partitioned {
			x.b.PartitionFilters, x.b.DecouplePartitionedFilters = true, true
			x.b.IndexType = rocksdb.TwoLevelIndexSearch
			x.tables()
		}
		_, cf := x.open()
		x.ingest(cf, x.dataFile(x.keys(100), ""))
		it := cf.NewIterator(nil)
		it.SeekToFirst()
		if n := count(x.T, it); n != 100 {
			x.Errorf("%d keys", n)
		}
		fatalIf(x.T, it.Close())
		if n := x.seekAndCount(cf.NewIterator, "key40", ""); n != x.pick(60, 41) {
			x.Errorf("%d keys from 40 on", n)
		}
		if n := x.seekAndCount(cf.NewIterator, "key40", []string{"key75", "key25"}[x.pick(0, 1)]); n != x.pick(35, 15) {
			x.Errorf("%d keys from 40 to a bound", n)
		}
		withIndex := readOptions(func(ro *rocksdb.ReadOptions) { ro.TableIndexFactory = x.index })

		x.index.seekErrors = 1
		it = cf.NewIterator(withIndex)
		it.Seek([]byte("key40"))
		if it.Valid() || it.Status() == nil {
			x.Error("a seek that failed has no error")
		}
		it.Close()
		x.index.seekErrors, x.index.nextErrors = 0, 1
		it = cf.NewIterator(withIndex)
		it.Seek([]byte([]string{"key09", "key92"}[x.pick(0, 1)]))
		for i := range x.pick(3, 2) {
			fatalIf(x.T, it.Status())
			if !it.Valid() {
				x.Fatalf("ends after %d entries", i)
			}
			it.Next()
		}
		if it.Valid() || it.Status() == nil {
			x.Error("a step that failed has no error")
		}
		it.Close()
		x.index.nextErrors = 0

		r := x.ordered("key10", "key50")
		it = cf.NewIterator(withIndex)
		defer it.Close()
		it.Prepare(x.scanArgs(25, r...))
		it.SetBounds(nil, []byte(r[1]))
		it.Seek([]byte(r[0]))
		if n := count(x.T, it); n != 29 { // the index may be two blocks late
			x.Errorf("%d keys for a count of 25", n)
		}
	})
}

func TestUserDefinedIndexTest_BasicTestWithPartitionedIndex(t *testing.T)    { testUDIBasic(t, true) }
func TestUserDefinedIndexTest_BasicTestWithoutPartitionedIndex(t *testing.T) { testUDIBasic(t, false) }

func TestUserDefinedIndexTest_InvalidArgumentTest1(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.o.CompressionOpts.ParallelThreads = 10
		w := rocksdb.NewSstFileWriter(x.o, nil)
		err := w.Open(filepath.Join(x.dir, "1.sst"), rocksdb.TemperatureUnknown)
		if err == nil {
			err = w.Put([]byte("foo"), []byte("bar"))
		}
		if !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Errorf("with parallel compression: %v", err)
		}
		if err := w.Finish(nil); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Errorf("Finish: %v", err)
		}
	})
}

func TestUserDefinedIndexTest_MergeWithUDI(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.o.MergeOperator = rocksdb.NewStringAppendOperator(",")
		path := x.file(func(w *rocksdb.SstFileWriter) { fatalIf(x.T, w.Merge([]byte("key_a"), []byte("val_a"))) })
		r := rocksdb.NewSstFileReader(x.o)
		fatalIf(x.T, r.Open(path))
		defer r.Close()
		it := r.NewIterator(nil)
		defer it.Close()
		it.SeekToFirst()
		if !it.Valid() || string(it.Key()) != "key_a" || string(it.Value()) != "val_a" {
			x.Fatalf("%v: %q, %q, %v", it.Valid(), it.Key(), it.Value(), it.Status())
		}
		if it.Next(); it.Valid() || it.Status() != nil {
			x.Errorf("more than one entry, or %v", it.Status())
		}
	})
}

func TestUserDefinedIndexTest_DBFlushWithMixedOpsAndUDI(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.index.anyKey = true
		x.o.MergeOperator = rocksdb.NewStringAppendOperator(",")
		db, _ := x.open()
		for _, err := range []error{
			db.Put(nil, []byte("key_aa"), []byte("val_put")),
			db.Merge(nil, []byte("key_bb"), []byte("val_merge")),
			db.Delete(nil, []byte("key_cc")),
			db.Put(nil, []byte("key_dd"), []byte("val_put2")),
			db.SingleDelete(nil, []byte("key_dd")),
			db.Put(nil, []byte("key_ee"), []byte("val_put3")),
			db.Flush(nil),
		} {
			fatalIf(x.T, err)
		}
		it := db.NewIterator(nil)
		defer it.Close()
		var got []string
		for k := range it.All() {
			got = append(got, string(k))
		}
		fatalIf(x.T, it.Err())
		if want := x.ordered("key_aa", "key_bb", "key_ee"); !slices.Equal(got, want) {
			x.Errorf("%q, want %q", got, want)
		}
	})
}

func TestUserDefinedIndexTest_ValueTypeMappingViaDBFlush(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.index.anyKey = true
		x.o.MergeOperator, x.o.DisableAutoCompactions = rocksdb.NewStringAppendOperator(","), true
		db, _ := x.open()
		entity := rocksdb.NewWriteBatch()
		fatalIf(x.T, entity.PutEntityCF(db.ColumnFamily, []byte("key_05_entity"), rocksdb.WideColumns{{Name: []byte("col1"), Value: []byte("val1")}}))
		for _, err := range []error{
			db.Put(nil, []byte("key_01_put"), []byte("v1")),
			db.Merge(nil, []byte("key_02_merge"), []byte("m1")),
			db.Delete(nil, []byte("key_03_del")),
			db.SingleDelete(nil, []byte("key_04_sdel")),
			db.Write(nil, entity),
			db.Flush(nil),
		} {
			fatalIf(x.T, err)
		}
		got := map[string]blockbased.UserDefinedIndexValueType{}
		for _, k := range x.index.kinds {
			got[k.key] = k.kind
		}
		for key, want := range map[string]blockbased.UserDefinedIndexValueType{
			"key_01_put": blockbased.UserDefinedIndexValue, "key_02_merge": blockbased.UserDefinedIndexMerge,
			"key_03_del": blockbased.UserDefinedIndexDelete, "key_04_sdel": blockbased.UserDefinedIndexDelete,
			"key_05_entity": blockbased.UserDefinedIndexOther,
		} {
			if kind, ok := got[key]; !ok || kind != want {
				x.Errorf("%s: %d (%v), want %d", key, kind, ok, want)
			}
		}
	})
}

func TestUserDefinedIndexTest_CompactionWithSnapshotsAndUDI(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.index.anyKey, x.o.DisableAutoCompactions = true, true
		x.b.FlushBlockPolicyFactory = nil
		x.tables()
		db, _ := x.open()
		fatalIf(x.T, db.Put(nil, []byte("key_aa"), []byte("v1")))
		fatalIf(x.T, db.Put(nil, []byte("key_bb"), []byte("v1")))
		fatalIf(x.T, db.Flush(nil))
		snapshot := db.GetSnapshot()
		fatalIf(x.T, db.Put(nil, []byte("key_aa"), []byte("v2")))
		fatalIf(x.T, db.Delete(nil, []byte("key_bb")))
		fatalIf(x.T, db.Flush(nil))
		fatalIf(x.T, db.CompactRange(nil, nil, nil))
		seen := map[string]int{} // by two flushes and the compaction
		for _, k := range x.index.kinds {
			seen[k.key]++
		}
		if seen["key_aa"] < 4 || seen["key_bb"] < 4 {
			x.Errorf("versions: %v", seen)
		}
		for _, c := range []struct {
			snapshot rocksdb.Snapshot
			want     []string
		}{{nil, []string{"key_aa=v2"}}, {snapshot, x.ordered("key_aa=v1", "key_bb=v1")}} {
			it := db.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = c.snapshot }))
			var got []string
			for k, v := range it.All() {
				got = append(got, string(k)+"="+string(v))
			}
			fatalIf(x.T, it.Err())
			it.Close()
			if !slices.Equal(got, c.want) {
				x.Errorf("%q, want %q", got, c.want)
			}
		}
		fatalIf(x.T, db.ReleaseSnapshot(snapshot))
	})
}

func TestUserDefinedIndexTest_IngestTest(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		_, cf := x.open()
		x.ingest(cf, x.dataFile(x.keys(100), ""))
		it := cf.NewIterator(nil)
		it.SeekToFirst()
		if n := count(x.T, it); n != 100 {
			x.Errorf("%d keys", n)
		}
		it.Close()
		if n := x.seekAndCount(cf.NewIterator, "key40", ""); n != x.pick(60, 41) {
			x.Errorf("%d keys from 40 on", n)
		}
		if n := x.seekAndCount(cf.NewIterator, "key40", []string{"key75", "key25"}[x.pick(0, 1)]); n != x.pick(35, 15) {
			x.Errorf("%d keys from 40 to a bound", n)
		}
	})
}

// scanCount is a range, of keys in forward order, and how many keys a scan of it
// gives in each order.
type scanCount struct {
	start, limit     string
	forward, reverse int
}

func (x *udiTest) multiScan(cf *rocksdb.ColumnFamily, n int, scans ...scanCount) {
	x.Helper()
	if x.reverse {
		slices.Reverse(scans)
	}
	var keys []string
	for _, s := range scans {
		keys = append(keys, x.ordered(s.start, s.limit)...)
	}
	it := cf.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.TableIndexFactory = x.index }))
	defer it.Close()
	it.Prepare(x.scanArgs(n, keys...))
	for i, s := range scans {
		it.SetBounds(nil, []byte(keys[2*i+1]))
		it.Seek([]byte(keys[2*i]))
		if got := count(x.T, it); got != x.pick(s.forward, s.reverse) {
			x.Errorf("%d keys from %s to %s for a count of %d, want %d", got, keys[2*i], keys[2*i+1], n, x.pick(s.forward, s.reverse))
		}
	}
}

func TestUserDefinedIndexTest_EmptyRangeTest(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		var keys []string
		for i := range 100 {
			if i/20%2 == 0 {
				keys = append(keys, fmt.Sprintf("key%02d", i))
			}
		}
		_, cf := x.open()
		x.ingest(cf, x.dataFile(x.ordered(keys...), ""))
		it := cf.NewIterator(nil)
		it.SeekToFirst()
		if n := count(x.T, it); n != 60 {
			x.Errorf("%d keys", n)
		}
		it.Close()
		x.multiScan(cf, 5, scanCount{"key25", "key30", 0, 0}, scanCount{"key33", "key37", 0, 0},
			scanCount{"key42", "key56", 8, 7}, scanCount{"key65", "key70", 0, 0},
			scanCount{"key85", "key87", 2, 2}, scanCount{"key991", "key999", 0, 0})
		x.multiScan(cf, 5, scanCount{"key18", "key25", 2, 1}, scanCount{"key38", "key43", 3, 4})
		x.multiScan(cf, 5, scanCount{"key15", "key26", 5, 4}, scanCount{"key38", "key46", 6, 7})
		x.multiScan(cf, 5, scanCount{"key10", "key26", 8, 8}, scanCount{"key38", "key49", 7, 9})
		x.multiScan(cf, 5, scanCount{"key75", "key991", 8, 9})
		x.multiScan(cf, 25, scanCount{"key75", "key991", 20, 20})
	})
}

func TestUserDefinedIndexTest_IngestFailTest(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.b.UserDefinedIndexFactory = nil
		x.tables()
		path := x.dataFile(x.keys(100), "")
		x.b.UserDefinedIndexFactory, x.b.FailIfNoUDIOnOpen = x.index, true
		x.tables()
		_, cf := x.open()
		if err := cf.IngestExternalFile([]string{path}, nil); err == nil {
			x.Error("a file without the index was ingested")
		}
		fatalIf(x.T, cf.SetOptions(map[string]string{"block_based_table_factory": "{fail_if_no_udi_on_open=false;}"}))
		x.ingest(cf, path)
	})
}

func TestUserDefinedIndexTest_IngestEmptyUDI(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		full := x.dataFile(x.keys(100), "")
		empty := x.file(func(w *rocksdb.SstFileWriter) { fatalIf(x.T, w.Put([]byte("dummy"), []byte("val"))) })
		x.index.badKeys = 0 // dummy has five letters as well, but no entry
		x.b.FailIfNoUDIOnOpen = true
		x.tables()
		db, cf := x.open()
		fatalIf(x.T, db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: cf, ExternalFiles: []string{full, empty}}}))
	})
}

func TestUserDefinedIndexTest_ConfigTest(t *testing.T) {
	registry.DefaultLibrary().AddFactory(registry.KindUserDefinedIndexFactory, "test_index",
		func(*rocksdb.ConfigOptions, string) (any, error) { return &testIndex{}, nil })
	eachUDI(t, func(x *udiTest) {
		path := x.dataFile(x.keys(100), "")
		x.b.UserDefinedIndexFactory = nil
		x.tables()
		cfg := rocksdb.DefaultConfigOptions()
		changed, err := options.GetColumnFamilyOptionsFromString(&cfg, &x.o.ColumnFamilyOptions,
			"block_based_table_factory={user_defined_index_factory=test_index;}")
		fatalIf(x.T, err)
		x.o.ColumnFamilyOptions = changed
		_, cf := x.open()
		x.ingest(cf, path)
		r := x.ordered("key10", "key50")
		it := cf.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.TableIndexFactory = x.index }))
		defer it.Close()
		it.Prepare(x.scanArgs(25, r...))
		it.SetBounds(nil, []byte(r[1]))
		it.Seek([]byte(r[0]))
		if n := count(x.T, it); n != 29 {
			x.Errorf("%d keys for a count of 25", n)
		}
	})
}

func (x *udiTest) universal() {
	x.o.NumLevels, x.o.CompactionStyle, x.o.DisableAutoCompactions = 50, rocksdb.CompactionStyleUniversal, true
}

func TestUserDefinedIndexTest_RangeDelete(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.universal()
		_, cf := x.open()
		x.ingest(cf, x.dataFile(x.keys(100), ""))
		x.ingest(cf, x.rangeDeletionFile(), x.dataFile(x.keys(100), ""))
		r := x.ordered("key10", "key25", "key80", "key95")
		it := cf.NewIterator(nil)
		defer it.Close()
		it.Prepare(x.scanArgs(9, r...))
		for i := 0; i < len(r); i += 2 {
			it.SetBounds(nil, []byte(r[i+1]))
			it.Seek([]byte(r[i]))
			if n := count(x.T, it); n != 15 {
				x.Errorf("%d keys from %s to %s", n, r[i], r[i+1])
			}
		}
	})
}

func TestUserDefinedIndexTest_QueryCrossTwoFiles(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		x.universal()
		x.o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(4)
		_, cf := x.open()
		x.ingest(cf, x.dataFile(x.keys(100), "old"))
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.ExclusiveManualCompaction, cro.BottommostLevelCompaction = true, rocksdb.BottommostLevelCompactionForce
		fatalIf(x.T, cf.CompactRange(&cro, nil, nil))
		if files := cf.GetColumnFamilyMetaData(nil).FileCount; files < 10 {
			x.Fatalf("%d files", files)
		}
		const limit = 2
		r := x.ordered("key16", "key24", "key26", "key34")
		check := func(want string) {
			x.Helper()
			it := cf.NewIterator(nil)
			defer it.Close()
			it.Prepare(x.scanArgs(limit, r...))
			for i := 0; i < len(r); i += 2 {
				it.SetBounds(nil, []byte(r[i+1]))
				n := 0
				for it.Seek([]byte(r[i])); it.Valid() && n < limit; it.Next() {
					if n++; string(it.Value()) != want {
						x.Errorf("%s: %s, not %s", it.Key(), it.Value(), want)
					}
				}
				fatalIf(x.T, it.Status())
				if n != limit {
					x.Errorf("%d keys from %s", n, r[i])
				}
			}
		}
		check("old")
		x.ingest(cf, x.rangeDeletionFile())
		x.ingest(cf, x.dataFile(x.keys(100), "new"))
		check("new")
	})
}

func TestUserDefinedIndexTest_MultiScanFailureTest(t *testing.T) {
	eachUDI(t, func(x *udiTest) {
		path := x.file(func(w *rocksdb.SstFileWriter) {
			for _, k := range x.keys(100) {
				fatalIf(x.T, w.Put([]byte(k), []byte(x.rnd.RandomString(1024))))
			}
		})
		_, cf := x.open()
		x.ingest(cf, path)
		r := x.ordered("key03", "key05", "key12", "key14")
		// scan prepares and gives the iterator, its upper bound at r[1].
		scan := func(args *rocksdb.MultiScanArgs) *rocksdb.Iterator {
			it := cf.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.TableIndexFactory = x.index }))
			it.SetBounds(nil, []byte(r[1]))
			it.Prepare(args)
			return it
		}
		refused := func(it *rocksdb.Iterator, text string) {
			x.Helper()
			if err := it.Status(); it.Valid() || !errors.Is(err, rocksdb.ErrInvalidArgument) || !strings.Contains(err.Error(), text) {
				x.Errorf("%v, want %q", err, text)
			}
			it.Close()
		}

		limited := x.scanArgs(5, r...)
		limited.MaxPrefetchSize = 3500
		it := scan(limited)
		n := 0
		for it.Seek([]byte(r[0])); it.Valid(); it.Next() {
			if x.o.Comparator.Compare(it.Key(), []byte(r[0])) < 0 || x.o.Comparator.Compare(it.Key(), []byte(r[1])) >= 0 {
				x.Errorf("%s is outside", it.Key())
			}
			n++
		}
		if n != 2 || it.Status() != nil {
			x.Errorf("%d keys, %v", n, it.Status())
		}
		it.SetBounds(nil, []byte(r[3]))
		if it.Seek([]byte(r[2])); !rocksdb.IsIncomplete(it.Status()) {
			x.Errorf("beyond the limit of reading ahead: %v", it.Status())
		}
		it.Close()

		refused(scan(x.scanArgs(5)), "Empty MultiScanArgs")
		it = scan(x.scanArgs(5, r[0], r[2]))
		it.SeekToFirst()
		refused(it, "No seek key for MultiScan")
		it = scan(x.scanArgs(5, r...))
		it.SetBounds(nil, []byte(r[3]))
		it.Seek([]byte(r[2]))
		refused(it, "Seek target does not match the start of the next prepared range at index 0")
		refused(scan(x.scanArgs(5, r[0], r[0])), "Scan start key is large or equal than limit at index 0")
		refused(scan(x.scanArgs(5, r[0], r[2], r[1], r[3])), "Overlapping ranges at index 1")
		const bound = "Upper bound is not set to the same limit value of the next prepared range at index 0"
		it = scan(x.scanArgs(5, r[0], r[1]))
		it.SetBounds(nil, []byte{})
		it.Seek([]byte(r[0]))
		refused(it, bound)
		it = scan(x.scanArgs(5, r[0], r[1]))
		if it.Seek([]byte(r[0])); !it.Valid() || it.Status() != nil {
			x.Errorf("the first range: %v", it.Status())
		}
		it.Seek([]byte(r[2]))
		refused(it, "Seek called after exhausting all of the scan ranges")
		it = scan(x.scanArgs(5, r[0], r[1]))
		it.SetBounds(nil, nil)
		it.Seek([]byte(r[0]))
		refused(it, bound)

		open := x.scanArgs(5, r[0], r[1])
		open.Ranges[0].Range.Limit = nil
		it = scan(open)
		it.SetBounds(nil, nil)
		if it.Seek([]byte(r[0])); !it.Valid() || it.Status() != nil {
			x.Errorf("a range without limit: %v", it.Status())
		}
		it.Close()
	})
}

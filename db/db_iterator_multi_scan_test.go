// Port of db/db_iterator_test.cc (DBMultiScanIteratorTest, and
// PrepareWithMultiScan of DBIteratorBaseTest).

package db_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

// scanTest runs a case with and without filling the cache.
type scanTest struct {
	*dbTest
	ro contract.ReadOptions
}

func eachFillCache(t *testing.T, f func(x *scanTest)) {
	for _, fill := range []bool{false, true} {
		t.Run("fill_cache="+strconv.FormatBool(fill), func(t *testing.T) {
			x := &scanTest{newDBTest(t), contract.DefaultReadOptions()}
			x.ro.FillCache = fill
			f(x)
		})
	}
}

// scanArgs make pairs of keys ranges; "" is no limit.
func scanArgs(keys ...string) *contract.MultiScanArgs {
	a := contract.DefaultMultiScanArgs(rocksdb.BytewiseComparator())
	for i := 0; i < len(keys); i += 2 {
		var limit []byte
		if keys[i+1] != "" {
			limit = []byte(keys[i+1])
		}
		a.Insert([]byte(keys[i]), limit)
	}
	return &a
}

// scan gives the keys of each range.
func (x *scanTest) scan(a *contract.MultiScanArgs) (ranges [][]string) {
	x.Helper()
	m := x.db.NewMultiScan(&x.ro, a)
	for s := range m.Scans() {
		keys := []string{}
		for k := range s {
			keys = append(keys, string(k))
		}
		ranges = append(ranges, keys)
	}
	x.must(m.Err())
	x.must(m.Close())
	return ranges
}

// wantScan wants, of each range, the keys numbered from up to to, or down.
func (x *scanTest) wantScan(a *contract.MultiScanArgs, name func(int) string, fromTo ...int) {
	x.Helper()
	got := x.scan(a)
	if len(got) != len(fromTo)/2 {
		x.Fatalf("%d ranges", len(got))
	}
	for i := range got {
		var want []string
		for n := fromTo[2*i]; n < fromTo[2*i+1]; n++ {
			want = append(want, name(n))
		}
		if a.Reverse {
			slices.Reverse(want)
		}
		if !slices.Equal(got[i], want) {
			x.Errorf("range %d: %q, want %q", i, got[i], want)
		}
	}
}

func k2(i int) string { return fmt.Sprintf("k%02d", i) }
func k3(i int) string { return fmt.Sprintf("k%03d", i) }
func k5(i int) string { return fmt.Sprintf("k%05d", i) }

// fill writes keys with random values and flushes them.
func (x *scanTest) fill(name func(int) string, n, valueSize int) {
	r := util.NewRandom(303)
	for i := range n {
		x.mustPut(0, name(i), string(r.RandomString(valueSize)))
	}
	x.flush(0)
}

// rewrite compacts all into new files.
func (x *scanTest) rewrite() {
	o := contract.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = contract.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&o, nil, nil))
}

// manyFiles are the options that make many small files of a compaction.
func (x *scanTest) manyFiles(size uint64) contract.Options {
	o := x.currentOptions()
	o.TargetFileSizeBase, o.Compression = size, contract.NoCompression
	o.DisableAutoCompactions = true
	return o
}

// blockAKey are options with each entry in a block of its own.
func (x *scanTest) blockAKey() contract.Options {
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.Statistics = rocksdb.NewStatistics()
	to := contract.DefaultBlockBasedTableOptions()
	to.FlushBlockPolicyFactory = blockbased.FlushBlockEveryKeyPolicyFactory{}
	to.BlockCache = rocksdb.NewLRUCache(10 << 20)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(to)
	return o
}

func TestDBMultiScanIteratorTest_BasicTest(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.fill(k2, 100, 10)
		x.wantScan(scanArgs("k03", "k10", "k25", "k50"), k2, 3, 10, 25, 50)
	})
}

func TestDBMultiScanIteratorTest_MixedBoundsTest(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.fill(k2, 100, 10)
		x.wantScan(scanArgs("k03", "k10", "k25", "", "k75", "k90"), k2, 3, 10, 25, 100, 75, 90)
		x.wantScan(scanArgs("k03", "", "k25", "k50", "k75", ""), k2, 3, 100, 25, 50, 75, 100)
	})
}

func TestDBMultiScanIteratorTest_RangeAcrossFiles(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(100 << 10))
		x.fill(key, 100, 2<<10)
		x.rewrite()
		if n := x.totalTableFiles(0); n < 2 {
			t.Fatalf("%d files", n)
		}
		x.wantScan(scanArgs(key(10), key(90)), key, 10, 90)
	})
}

func TestDBMultiScanIteratorTest_FailureTest(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.currentOptions()
		o.Compression = contract.NoCompression
		x.destroyAndReopen(o)
		x.fill(k2, 100, 1024)
		a := scanArgs("k04", "k06", "k12", "k14")
		a.MaxPrefetchSize = 4500
		it := x.db.NewIterator(&x.ro)
		it.Prepare(a)
		it.SetBounds(nil, []byte("k06"))
		n := 0
		for it.Seek([]byte("k04")); it.Valid(); it.Next() {
			n++
		}
		x.must(it.Status())
		if n != 2 {
			t.Errorf("%d keys", n)
		}
		it.SetBounds(nil, []byte("k14"))
		it.Seek([]byte("k12"))
		if s := contract.AsStatus(it.Status()); s == nil || s.SubCode != contract.SubCodePrefetchLimitReached {
			t.Errorf("past the limit: %v", it.Status())
		}
		it.Close()

		it = x.db.NewIterator(&x.ro)
		a.MaxPrefetchSize = 0
		it.Prepare(a)
		it.SetBounds(nil, []byte("k14"))
		if it.Seek([]byte("k12")); contract.CodeOf(it.Status()) != contract.CodeInvalidArgument {
			t.Errorf("seek out of turn: %v", it.Status())
		}
		it.Close()
	})
}

func TestDBMultiScanIteratorTest_OutOfL0FileRange(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.fill(k2, 100, 1024)
		x.rewrite()
		x.fill(k2, 10, 1024)
		if n := x.numTableFilesAtLevel(0, 0); n != 1 {
			t.Fatalf("%d files on level 0", n)
		}
		x.wantScan(scanArgs("k04", "k06", "k12", "k14"), k2, 4, 6, 12, 14)
	})
}

func TestDBMultiScanIteratorTest_RangeBetweenFiles(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(100 << 10))
		x.fill(key, 100, 2<<10)
		x.rewrite()
		files := x.db.GetLiveFilesMetaData()
		if len(files) < 2 {
			t.Fatalf("%d files", len(files))
		}
		slices.SortFunc(files, func(a, b contract.LiveFileMetaData) int { return slices.Compare(a.SmallestKey, b.SmallestKey) })
		at := func(k []byte) (n int) { fmt.Sscanf(string(k), "key%06d", &n); return n }
		first, second := &files[0], &files[1]
		a := scanArgs(string(first.SmallestKey), string(first.LargestKey)+"0", string(second.SmallestKey)+"0", string(second.LargestKey))
		x.wantScan(a, key, at(first.SmallestKey), at(first.LargestKey)+1, at(second.SmallestKey)+1, at(second.LargestKey))
		a.UseAsyncIO = true
		// Between the files there is nothing.
		x.wantScan(scanArgs(string(first.LargestKey)+"0", string(first.LargestKey)+"5"), key, 0, 0)
	})
}

func TestDBMultiScanIteratorTest_ReseekAcrossBlocksSameUserKey(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.blockAKey()
		o.MaxSequentialSkipInIterations = 3
		x.destroyAndReopen(o)
		for i := range 7 {
			x.mustPut(0, "key_a", "value_"+strconv.Itoa(i))
			s := x.db.GetSnapshot()
			defer x.db.ReleaseSnapshot(s)
		}
		x.mustPut(0, "key_b", "value_b")
		x.flush(0)
		for _, reverse := range []bool{false, true} { // upstream's reverse scan fails
			a := scanArgs("key_a", "key_c")
			a.Reverse = reverse
			m := x.db.NewMultiScan(&x.ro, a)
			got := map[string]string{}
			for s := range m.Scans() {
				for k, v := range s {
					got[string(k)] = string(v)
				}
			}
			x.must(m.Err())
			x.must(m.Close())
			if len(got) != 2 || got["key_a"] != "value_6" || got["key_b"] != "value_b" {
				t.Errorf("reverse %v: %v", reverse, got)
			}
		}
	})
}

func TestDBMultiScanIteratorTest_AsyncPrefetchAcrossMultipleFiles(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.manyFiles(1 << 15)
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.fill(k5, 1000, 1<<10)
		x.rewrite()
		if n := x.totalTableFiles(0); n <= 3 {
			t.Fatalf("%d files", n)
		}
		tracker := iodispatcher.NewTrackingIODispatcher(nil)
		a := scanArgs("k00000", "k00100", "k00500", "k00600", "k00800", "k00900")
		a.UseAsyncIO, a.IODispatcher = true, tracker
		x.wantScan(a, k5, 0, 100, 500, 600, 800, 900)
		if n := tracker.Total(); n.AsyncReads < 75 || n.SyncReads != 0 || n.IORequests < 4 || len(tracker.ReadSets) < 4 {
			t.Errorf("%d tables: %+v", len(tracker.ReadSets), n)
		}
	})
}

func TestDBMultiScanIteratorTest_ReversePrefetchAcrossMultipleRanges(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(1 << 15))
		x.fill(key, 1000, 1<<10)
		x.rewrite()
		for _, async := range []bool{false, true} {
			tracker := iodispatcher.NewTrackingIODispatcher(nil)
			a := scanArgs(key(100), key(200), key(500), key(600), key(800), key(900))
			a.Reverse, a.IODispatcher, a.UseAsyncIO = true, tracker, async
			x.wantScan(a, key, 100, 200, 500, 600, 800, 900)
			if len(tracker.ReadSets) == 0 {
				t.Error("nothing was read ahead")
			}
		}
	})
}

func TestDBMultiScanIteratorTest_ReverseUnreleasedPrefetchBlocksCountAsWasted(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.blockAKey()
		x.destroyAndReopen(o)
		x.fill(key, 40, 100)
		x.rewrite()
		a := scanArgs(key(0), key(40))
		a.Reverse = true
		m := x.db.NewMultiScan(&x.ro, a)
		for s := range m.Scans() {
			for k := range s {
				if string(k) != key(39) {
					t.Errorf("first %s", k)
				}
				break
			}
			break
		}
		x.must(m.Err())
		x.must(m.Close())
		// To show the last entry, the one before has to be looked at.
		if n := o.Statistics.GetTickerCount(contract.MultiscanPrefetchBlocksWasted); n != 38 {
			t.Errorf("%d blocks wasted", n)
		}
	})
}

func TestDBMultiScanIteratorTest_ReverseRequiresLimits(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		a := scanArgs("a", "", "b", "c")
		a.Reverse = true
		m := x.db.NewMultiScan(&x.ro, a)
		for range m.Scans() {
			t.Error("a range")
		}
		if contract.CodeOf(m.Err()) != contract.CodeInvalidArgument {
			t.Error(m.Err())
		}
		x.must(m.Close())
	})
}

func TestDBMultiScanIteratorTest_AsyncPrefetchMultipleLevels(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(1 << 15))
		x.fill(k5, 500, 1<<10)
		x.rewrite()
		x.fill(func(i int) string { return k5(250 + i) }, 500, 1<<10)
		a := scanArgs("k00000", "k00100", "k00240", "k00260", "k00700", "k00900")
		a.UseAsyncIO = true
		x.wantScan(a, k5, 0, 100, 240, 260, 700, 750)
	})
}

func TestDBMultiScanIteratorTest_AsyncPrefetchWithDeleteRange(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(1 << 15))
		x.fill(k5, 1000, 1<<10)
		x.rewrite()
		x.must(x.db.DeleteRange(nil, []byte("k00050"), []byte("k00550")))
		x.flush(0)
		a := scanArgs("k00000", "k00100", "k00500", "k00600", "k00800", "k00900")
		a.UseAsyncIO = true
		x.wantScan(a, k5, 0, 50, 550, 600, 800, 900)
	})
}

func TestDBMultiScanIteratorTest_IODispatcherStatsVerification(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.manyFiles(1 << 15))
		x.fill(k5, 500, 1<<10)
		x.rewrite()
		tracker := iodispatcher.NewTrackingIODispatcher(nil)
		a := scanArgs("k00000", "k00200", "k00300", "k00400")
		a.IODispatcher = tracker
		x.wantScan(a, k5, 0, 200, 300, 400)
		if n := tracker.Total(); n.SyncReads+n.CacheHits == 0 || n.AsyncReads != 0 {
			t.Errorf("%+v", n)
		}
	})
}

func TestDBMultiScanIteratorTest_IODispatcherPrefetchKnownBlocks(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.blockAKey())
		x.fill(k3, 100, 100)
		tracker := iodispatcher.NewTrackingIODispatcher(nil)
		a := scanArgs("k000", "k020", "k050", "k060")
		a.IODispatcher = tracker
		x.ro.FillCache = false
		x.wantScan(a, k3, 0, 20, 50, 60)
		if n := tracker.Total(); n.SyncReads < 30 || n.SyncReads > 32 || n.BlocksPrefetched != n.SyncReads || len(tracker.ReadSets) != 1 {
			t.Errorf("%+v", n)
		}
	})
}

func TestDBMultiScanIteratorTest_IODispatcherCacheHitVerification(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		x.destroyAndReopen(x.blockAKey())
		x.fill(k3, 50, 100)
		x.ro.FillCache = true
		for round := range 2 {
			tracker := iodispatcher.NewTrackingIODispatcher(nil)
			a := scanArgs("k000", "k025")
			a.IODispatcher = tracker
			x.wantScan(a, k3, 0, 25)
			n := tracker.Total()
			if round == 0 && n.SyncReads < 25 || round == 1 && n.CacheHits < 25 {
				t.Errorf("scan %d: %+v", round, n)
			}
		}
	})
}

func TestDBMultiScanIteratorTest_WastedBlocksTracking(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.blockAKey()
		x.destroyAndReopen(o)
		x.fill(k3, 100, 100)
		x.rewrite()
		x.wantScan(scanArgs("k000", "k020", "k050", "k070"), k3, 0, 20, 50, 70)
		// The block of each limit, whose key the index does not tell.
		if n := o.Statistics.GetTickerCount(contract.MultiscanPrefetchBlocksWasted); n == 0 || n > 2 {
			t.Errorf("%d blocks wasted", n)
		}
	})
}

func TestDBMultiScanIteratorTest_PrefetchStatsRecorded(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.blockAKey()
		x.destroyAndReopen(o)
		x.fill(k3, 50, 100)
		x.rewrite()
		x.ro.FillCache = true
		perf := &contract.PerfContext{Level: contract.EnableCount}
		x.ro.PerfContext = perf
		ticker := o.Statistics.GetTickerCount
		x.wantScan(scanArgs("k000", "k049"), k3, 0, 49)
		if ticker(contract.MultiscanPrepareCalls) != 1 || ticker(contract.MultiscanBlocksPrefetched) < 49 ||
			ticker(contract.MultiscanPrefetchBytes) < 49*100 || ticker(contract.MultiscanIORequests) == 0 ||
			ticker(contract.MultiscanBlocksFromCache) != 0 || ticker(contract.MultiscanPrepareErrors) != 0 {
			t.Error("tickers of the first scan")
		}
		if perf.MultiscanPrepareCount != 1 || perf.MultiscanBlocksPrefetched != ticker(contract.MultiscanBlocksPrefetched) ||
			perf.MultiscanPrefetchBytes != ticker(contract.MultiscanPrefetchBytes) {
			t.Errorf("perf context: %+v", perf.MultiscanPrepareCount)
		}
		x.wantScan(scanArgs("k000", "k049"), k3, 0, 49)
		if ticker(contract.MultiscanBlocksFromCache) < 49 {
			t.Errorf("%d blocks from the cache", ticker(contract.MultiscanBlocksFromCache))
		}
	})
}

func TestDBIteratorBaseTest_PrepareWithMultiScanAllowsSingleUnboundedRange(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "a", "1")
	x.mustPut(0, "b", "2")
	x.flush(0)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.Prepare(scanArgs("a", ""))
	x.must(it.Status())
	n := 0
	for it.Seek([]byte("a")); it.Valid(); it.Next() {
		n++
	}
	if x.must(it.Status()); n != 2 {
		t.Errorf("%d keys", n)
	}
}

func TestDBIteratorBaseTest_PrepareWithMultiScanRejectsRepeatedPrepare(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "a", "1")
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.Prepare(scanArgs("a", "b"))
	x.must(it.Status())
	if it.Prepare(scanArgs("a", "b")); contract.CodeOf(it.Status()) != contract.CodeInvalidArgument || it.Valid() {
		t.Error(it.Status())
	}
}

// noAsyncFS has no asynchronous reads and wants none asked for.
type noAsyncFS struct {
	contract.FileSystem
	t *testing.T
}

type noAsyncFile struct {
	contract.FSRandomAccessFile
	t *testing.T
}

func (f *noAsyncFS) SupportedOps() int64 {
	return f.FileSystem.SupportedOps() &^ (1 << contract.AsyncIO)
}

func (f *noAsyncFS) Poll([]contract.IOHandle, int) error {
	f.t.Error("Poll")
	return contract.NotSupported("Poll")
}

func (f *noAsyncFS) AbortIO([]contract.IOHandle) error {
	f.t.Error("AbortIO")
	return contract.NotSupported("AbortIO")
}

func (f *noAsyncFS) NewRandomAccessFile(name string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	file, err := f.FileSystem.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return noAsyncFile{file, f.t}, nil
}

func (f noAsyncFile) ReadAsync(*contract.FSReadRequest, *contract.IOOptions, func(*contract.FSReadRequest)) (contract.IOHandle, error) {
	f.t.Error("ReadAsync")
	return nil, contract.NotSupported("ReadAsync")
}

func TestDBMultiScanIteratorTest_AsyncIOFallbackWithoutFSSupport(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.manyFiles(1 << 15)
		o.Env = env.NewCompositeEnvWrapper(x.env, &noAsyncFS{x.env.GetFileSystem(), t}, nil)
		x.destroyAndReopen(o)
		x.fill(k5, 1000, 1<<10)
		x.rewrite()
		tracker := iodispatcher.NewTrackingIODispatcher(nil)
		a := scanArgs("k00000", "k00100", "k00500", "k00600", "k00800", "k00900")
		a.UseAsyncIO, a.IODispatcher = true, tracker
		x.wantScan(a, k5, 0, 100, 500, 600, 800, 900)
		if n := tracker.Total(); n.AsyncReads != 0 || n.SyncReads == 0 {
			t.Errorf("%+v", n)
		}
		x.close()
	})
}

// Refresh under a bound does not lose the range tombstones beyond it.
func TestSetBoundsAfterRefresh(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		x := newDBTest(t)
		for _, k := range []string{"a", "b", "c", "d"} {
			x.mustPut(0, k, k)
		}
		x.flush(0)
		x.must(x.db.DeleteRange(nil, []byte("b"), []byte("d")))
		if flushed {
			x.flush(0)
		}
		it := x.db.NewIterator(nil)
		it.SetBounds(nil, []byte("b"))
		x.must(it.Refresh(nil))
		it.SetBounds(nil, []byte("d"))
		got := ""
		for it.Seek([]byte("a")); it.Valid(); it.Next() {
			got += string(it.Key())
		}
		if got != "a" {
			t.Errorf("flushed %t: keys %q", flushed, got)
		}
		x.must(it.Status())
		x.must(it.Close())
	}
}

// Port of util/io_dispatcher_test.cc. It is here because it needs the tables'
// block handles. Differs: reads are told by the ReadSets' counts.

package blockbased_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

// dispatchTest is a table of so many blocks and a dispatcher.
type dispatchTest struct {
	*testing.T
	table   *blockbased.BlockBasedTable
	handles []format.BlockHandle
	d       *iodispatcher.IODispatcher
	stats   rocksdb.Statistics
	ro      rocksdb.ReadOptions
}

func newDispatchTest(t *testing.T, blocks int, noCache bool) *dispatchTest {
	t.Helper()
	return newDispatchTestWith(t, blocks, dispatchOptions{noCache: noCache})
}

type dispatchOptions struct {
	noCache, direct, mmap bool
	compression           rocksdb.CompressionType // of every other block
	fs                    rocksdb.FileSystem      // nil is the default
	tableStats            bool                    // the table counts in stats too
}

func newDispatchTestWith(t *testing.T, blocks int, d dispatchOptions) *dispatchTest {
	t.Helper()
	x := &dispatchTest{T: t, ro: rocksdb.DefaultReadOptions(), stats: monitoring.CreateDBStatistics()}
	p := &readerParam{compression: d.compression, direct: d.direct, index: rocksdb.BinarySearch, udt: "none", threads: 1}
	s := p.spec()
	if d.noCache {
		s.bbto.BlockCache, s.bbto.NoBlockCache = nil, true
	} else {
		s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(32 << 20)
	}
	direct := s.reader
	s.reader = func(o *table.TableReaderOptions) {
		direct(o)
		o.IOptions.AllowMmapReads, o.FileOptions.UseMmapReads = d.mmap, d.mmap
		if o.IOptions.FS = d.fs; d.fs == nil {
			o.IOptions.FS = env.DefaultFileSystem()
		}
		if d.tableStats {
			o.IOptions.Stats = x.stats
		}
	}
	x.table, _ = p.make(t, s, readerEntries(blocks, d.compression != rocksdb.NoCompression, 0, false))
	x.handles = x.table.DataBlockHandles()
	if len(x.handles) != blocks {
		t.Fatalf("%d blocks", len(x.handles))
	}
	x.limit(0)
	return x
}

// limit makes a dispatcher with memory for so many blocks; 0 is no limit.
func (x *dispatchTest) limit(blocks int) { x.limitBytes(uint64(blocks) * x.size(0)) }

func (x *dispatchTest) limitBytes(n uint64) {
	x.d = iodispatcher.NewIODispatcher(&rocksdb.IODispatcherOptions{MaxPrefetchMemoryBytes: n, Statistics: x.stats})
}

// size is a block's in the file.
func (x *dispatchTest) size(i int) uint64 { return x.handles[i].Size + format.BlockTrailerSize }

func (x *dispatchTest) submit(handles []format.BlockHandle, async bool) *blockbased.ReadSet {
	x.Helper()
	return x.submitCoalesced(handles, async, 16<<10)
}

func (x *dispatchTest) submitCoalesced(handles []format.BlockHandle, async bool, threshold uint64) *blockbased.ReadSet {
	x.Helper()
	s, err := x.d.SubmitJob(&blockbased.IOJob{Table: x.table, BlockHandles: handles, IOCoalesceThreshold: threshold,
		ReadOptions: &x.ro, Async: async})
	if err != nil {
		x.Fatal(err)
	}
	return s
}

// read reads block i, checks that it is that block's contents and gives it back.
func (x *dispatchTest) read(s *blockbased.ReadSet, i int) {
	x.Helper()
	e, err := s.ReadIndex(i)
	if err != nil {
		x.Fatal(err)
	}
	if e.Value() == nil || e.Value().Size() == 0 {
		x.Fatalf("block %d is empty", i)
	}
	e.Release()
}

func (x *dispatchTest) wantUsed(want uint64) {
	x.Helper()
	if got := x.d.MemoryUsed(); got != want {
		x.Errorf("%d bytes used, want %d", got, want)
	}
}

func available(s *blockbased.ReadSet, n int) (k int) {
	for i := range n {
		if s.IsBlockAvailable(i) {
			k++
		}
	}
	return k
}

// eachDispatch runs test with synchronous and asynchronous reads.
func eachDispatch(t *testing.T, blocks int, test func(x *dispatchTest, async bool)) {
	for name, async := range map[string]bool{"sync": false, "async": true} {
		t.Run(name, func(t *testing.T) { test(newDispatchTest(t, blocks, false), async) })
	}
}

func TestIODispatcherTest_BasicSSTRead(t *testing.T) {
	eachDispatch(t, 20, func(x *dispatchTest, async bool) {
		s := x.submit(x.handles, async)
		for i := range x.handles {
			x.read(s, i)
		}
		if _, err := s.ReadIndex(20); err == nil {
			x.Error("block out of range")
		}
		e, err := s.ReadOffset(x.handles[7].Offset)
		if err != nil {
			x.Fatal(err)
		}
		e.Release()
		if _, err := s.ReadOffset(x.handles[7].Offset + 1); err == nil {
			x.Error("offset of no block")
		}
		s.Close()
	})
}

func TestIODispatcherTest_AsyncAndSyncRead(t *testing.T) {
	x := newDispatchTest(t, 20, false)
	x.ro.FillCache = false
	for _, async := range []bool{false, true} {
		s := x.submit(x.handles, async)
		for i := range x.handles {
			x.read(s, i)
		}
		want := blockbased.ReadSetStats{SyncReads: 20, BlocksPrefetched: 20, IORequests: 1, PrefetchBytes: s.Stats().PrefetchBytes}
		if async {
			want.SyncReads, want.AsyncReads = 0, 20
		}
		if s.Stats() != want {
			t.Errorf("async %v: %+v", async, s.Stats())
		}
		s.Close()
	}
}

func TestIODispatcherTest_StatisticsTracking(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	s := x.submit(x.handles[:5], false)
	for i := range 5 {
		x.read(s, i)
	}
	s.Close()
	s = x.submit(x.handles, false)
	if n := s.Stats(); n.CacheHits != 5 || n.SyncReads != 5 || n.BlocksPrefetched != 5 {
		t.Errorf("%+v", n)
	}
	s.Close()
}

func TestIODispatcherTest_VerifyCoalescing(t *testing.T) {
	eachDispatch(t, 30, func(x *dispatchTest, async bool) {
		// Out of order, a small gap and a large one.
		hs := append(append([]format.BlockHandle{}, x.handles[20:25]...), x.handles[0], x.handles[1], x.handles[4])
		s := x.submit(hs, async)
		if n := s.Stats(); n.IORequests != 2 || n.CoalescedNonadjacent != 1 || n.BlocksPrefetched != 8 ||
			n.PrefetchBytes < 10*x.size(0)-64 {
			x.Errorf("%+v", n)
		}
		for i := range hs {
			x.read(s, i)
		}
		e, err := s.ReadOffset(x.handles[4].Offset)
		if err != nil {
			x.Fatal(err)
		}
		e.Release()
		s.Close()
	})
}

func TestIODispatcherTest_ReadSetDestroysUnpinsBlocks(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	for range 2 { // the second time the blocks are the cache's
		s := x.submit(x.handles, false)
		x.read(s, 0)
		if n := s.Close(); n != 9 {
			t.Errorf("%d blocks were not asked for", n)
		}
		if available(s, 10) != 0 {
			t.Error("blocks after Close")
		}
	}
}

func TestIODispatcherTest_NoMemoryLimitWhenZero(t *testing.T) {
	eachDispatch(t, 30, func(x *dispatchTest, async bool) {
		s := x.submit(x.handles, async)
		if n := available(s, 30); n != 30 {
			x.Errorf("%d blocks", n)
		}
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_MemoryLimitBlocksWhenExceeded(t *testing.T) {
	eachDispatch(t, 30, func(x *dispatchTest, async bool) {
		x.limit(7)
		s := x.submit(x.handles, async)
		for i := range x.handles {
			x.read(s, i)
			if x.d.MemoryUsed() > 7*x.size(0) {
				x.Fatal("over the limit")
			}
		}
		s.Close()
		x.wantUsed(0)
		granted := x.stats.GetTickerCount(rocksdb.PrefetchMemoryBytesGranted)
		if granted == 0 || granted != x.stats.GetTickerCount(rocksdb.PrefetchMemoryBytesReleased) ||
			x.stats.GetTickerCount(rocksdb.PrefetchMemoryRequestsBlocked) == 0 {
			x.Errorf("%d bytes granted", granted)
		}
	})
}

func TestIODispatcherTest_PartialPrefetchPrioritizesEarlierIndices(t *testing.T) {
	eachDispatch(t, 10, func(x *dispatchTest, async bool) {
		x.limitBytes(x.size(0) + x.size(1) + x.size(2))
		s := x.submit(x.handles, async)
		for i := range 10 {
			if s.IsBlockAvailable(i) != (i < 3) {
				x.Errorf("block %d", i)
			}
		}
		s.Close()
	})
}

func TestIODispatcherTest_CoalescedGroupsSplitByMemoryBudget(t *testing.T) {
	eachDispatch(t, 15, func(x *dispatchTest, async bool) {
		x.limit(5)
		s := x.submit(x.handles, async)
		if n := s.Stats(); n.BlocksPrefetched > 5 || n.BlocksPrefetched == 0 {
			x.Errorf("%+v", n)
		}
		for i := range x.handles {
			x.read(s, i)
			s.ReleaseBlock(i)
		}
		if n := s.Stats(); n.BlocksPrefetched < 10 || n.IORequests < 3 {
			x.Errorf("%+v", n)
		}
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_BlockReleaseTriggersWaitingJob(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	x.limitBytes(x.size(0) * 6)
	first := x.submit(x.handles[:5], true)
	second := x.submit(x.handles[5:], true)
	if n := available(second, 5); n != 0 {
		t.Errorf("%d blocks", n)
	}
	for i := range 5 {
		first.ReleaseBlock(i)
	}
	if n := available(second, 5); n != 5 {
		t.Errorf("%d blocks once there is memory", n)
	}
	first.Close()
	for i := range 5 {
		x.read(second, i)
	}
	second.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_MultipleReadSetsShareMemoryBudget(t *testing.T) {
	eachDispatch(t, 12, func(x *dispatchTest, async bool) {
		x.limit(8)
		a, b := x.submit(x.handles[:6], async), x.submit(x.handles[6:], async)
		if available(a, 6) != 6 || available(b, 6) != 0 {
			x.Errorf("%d and %d blocks", available(a, 6), available(b, 6))
		}
		for i := range 6 {
			x.read(a, i)
			x.read(b, i)
		}
		a.Close()
		b.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_MemoryReleasedOnReadSetDestruction(t *testing.T) {
	eachDispatch(t, 10, func(x *dispatchTest, async bool) {
		x.limitBytes(1 << 20)
		s := x.submit(x.handles, async)
		if x.d.MemoryUsed() == 0 {
			x.Error("nothing in use")
		}
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_MemoryReleasedAfterReadIndexThenReleaseBlock(t *testing.T) {
	eachDispatch(t, 10, func(x *dispatchTest, async bool) {
		x.limitBytes(1 << 20)
		s := x.submit(x.handles, async)
		for i := range 10 {
			x.read(s, i)
			s.ReleaseBlock(i) // not once more
		}
		x.wantUsed(0)
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_DestructorReleasesMemoryAfterReadIndex(t *testing.T) {
	eachDispatch(t, 10, func(x *dispatchTest, async bool) {
		x.limitBytes(1 << 20)
		s := x.submit(x.handles, async)
		x.read(s, 3)
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_OversizedBlocksFallbackToSyncRead(t *testing.T) {
	eachDispatch(t, 5, func(x *dispatchTest, async bool) {
		x.limitBytes(100)
		s := x.submit(x.handles, async)
		if available(s, 5) != 0 {
			x.Error("blocks beyond the memory")
		}
		for i := range 5 {
			x.read(s, i)
		}
		if n := s.Stats(); n.SyncReads != 5 || n.BlocksPrefetched != 0 {
			x.Errorf("%+v", n)
		}
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_MemoryAccountingWithPartialGroupConsumption(t *testing.T) {
	eachDispatch(t, 10, func(x *dispatchTest, async bool) {
		x.limit(5)
		s := x.submit(x.handles, async)
		x.read(s, 0)
		x.read(s, 7) // of a group that waits
		x.read(s, 1)
		s.ReleaseBlock(8)
		s.Close()
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_ReleaseBlockRemovesBlockFromCoalescedAsyncRead(t *testing.T) {
	x := newDispatchTest(t, 5, false)
	s := x.submit(x.handles, true)
	s.ReleaseBlock(1)
	s.ReleaseBlock(2)
	if s.IsBlockAvailable(1) || !s.IsBlockAvailable(3) {
		t.Error("availability")
	}
	for _, i := range []int{0, 3, 4} {
		x.read(s, i)
	}
	if n := s.Stats(); n.IORequests != 1 || n.SyncReads != 0 {
		t.Errorf("%+v", n)
	}
	s.Close()
}

func TestIODispatcherTest_ReleaseLastBlockFromCoalescedAsyncReadAbortsIO(t *testing.T) {
	x := newDispatchTest(t, 5, false)
	x.limitBytes(1 << 20)
	s := x.submit(x.handles, true)
	for i := range 5 {
		s.ReleaseBlock(i)
	}
	x.wantUsed(0)
	x.read(s, 2) // anew
	if n := s.Stats(); n.SyncReads != 1 || n.AsyncReads != 0 {
		t.Errorf("%+v", n)
	}
	s.Close()
}

func TestIODispatcherTest_SubmitJobWithoutBlockCacheSkipsCacheLookup(t *testing.T) {
	x := newDispatchTest(t, 5, true)
	for range 2 {
		s := x.submit(x.handles, true)
		for i := range 5 {
			x.read(s, i)
		}
		if n := s.Stats(); n.CacheHits != 0 || n.AsyncReads != 5 {
			t.Errorf("%+v", n)
		}
		s.Close()
	}
}

func TestIODispatcherTest_FillCacheFalseStillLooksUpExistingCacheEntries(t *testing.T) {
	x := newDispatchTest(t, 5, false)
	s := x.submit(x.handles[:2], false)
	x.read(s, 0)
	x.read(s, 1)
	s.Close()
	x.ro.FillCache = false
	for range 2 {
		s = x.submit(x.handles, false)
		for i := range 5 {
			x.read(s, i)
		}
		if n := s.Stats(); n.CacheHits != 2 || n.SyncReads != 3 {
			t.Errorf("%+v", n)
		}
		s.Close()
	}
}

func TestIODispatcherTest_SubmitJobNeverBlocks(t *testing.T) {
	eachDispatch(t, 20, func(x *dispatchTest, async bool) {
		x.limit(2)
		var sets []*blockbased.ReadSet
		for range 5 {
			sets = append(sets, x.submit(x.handles, async))
		}
		for _, s := range sets {
			for i := range x.handles {
				x.read(s, i)
			}
		}
		for _, s := range sets {
			s.Close()
		}
		x.wantUsed(0)
	})
}

func TestIODispatcherTest_PartialPrefetchDispatchesWhatFits(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	x.limitBytes(x.size(0) + x.size(1) + x.size(2))
	s := x.submit(x.handles, true)
	if n := s.Stats(); n.BlocksPrefetched != 3 || n.IORequests != 1 {
		t.Errorf("%+v", n)
	}
	x.wantUsed(x.size(0) + x.size(1) + x.size(2))
	for i := range x.handles {
		x.read(s, i)
	}
	if n := s.Stats(); n.AsyncReads < 3 || n.AsyncReads+n.SyncReads != 10 {
		t.Errorf("%+v", n)
	}
	s.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_SyncPrefetchWithMemoryLimit(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	x.limit(4)
	s := x.submit(x.handles, false)
	if n := available(s, 10); n == 0 || n > 4 {
		t.Errorf("%d blocks", n)
	}
	for i := range x.handles {
		x.read(s, i)
	}
	if n := s.Stats(); n.SyncReads != 10 || n.AsyncReads != 0 {
		t.Errorf("%+v", n)
	}
	s.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_SingleBlockLargerThanTotalMemory(t *testing.T) {
	x := newDispatchTest(t, 1, false)
	x.limitBytes(x.size(0) - 1)
	s := x.submit(x.handles, true)
	x.wantUsed(0)
	x.read(s, 0)
	if n := s.Stats(); n.SyncReads != 1 || n.IORequests != 0 {
		t.Errorf("%+v", n)
	}
	s.Close()
}

func TestIODispatcherTest_OversizedBlocksWithSyncIO(t *testing.T) {
	x := newDispatchTest(t, 4, false)
	x.limitBytes(1)
	s := x.submit(x.handles, false)
	for i := range 4 {
		x.read(s, i)
	}
	if n := s.Stats(); n.SyncReads != 4 || n.BlocksPrefetched != 0 {
		t.Errorf("%+v", n)
	}
	s.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_MultipleSSTFiles(t *testing.T) {
	a, b := newDispatchTest(t, 6, false), newDispatchTest(t, 8, false)
	b.d = a.d
	x, y := a.submit(a.handles, true), b.submit(b.handles, true)
	for i := range b.handles {
		if i < 6 {
			a.read(x, i)
		}
		b.read(y, i)
	}
	if x.Stats().AsyncReads != 6 || y.Stats().AsyncReads != 8 {
		t.Errorf("%+v, %+v", x.Stats(), y.Stats())
	}
	x.Close()
	y.Close()
}

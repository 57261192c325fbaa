// Port of db/db_etc2_test.cc (caches, reads).

package db_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// pinL0Options pin what is read first of level 0's tables.
func (x *dbTest) pinL0Options(unlimitedFiles bool, c rocksdb.Cache) rocksdb.Options {
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) {
		b.CacheIndexAndFilterBlocks, b.PinL0FilterAndIndexBlocksInCache = true, true
		b.FilterPolicy, b.BlockCache = rocksdb.NewBloomFilterPolicy(20), c
	})
	o.Statistics = rocksdb.NewStatistics()
	if unlimitedFiles {
		o.MaxOpenFiles = -1
	}
	return o
}

// cacheUse are misses and hits of filter and index blocks.
type cacheUse struct{ filterMiss, filterHit, indexMiss, indexHit int }

func (u cacheUse) plus(misses, hits int) cacheUse {
	return cacheUse{u.filterMiss + misses, u.filterHit + hits, u.indexMiss + misses, u.indexHit + hits}
}

func (x *dbTest) cacheUse() cacheUse {
	return cacheUse{x.ticker(contract.BlockCacheFilterMiss), x.ticker(contract.BlockCacheFilterHit),
		x.ticker(contract.BlockCacheIndexMiss), x.ticker(contract.BlockCacheIndexHit)}
}

// pinnedLevels leaves [a z] at level 1 and [a2 z2] at level 0, with nothing of them
// in the cache but what is pinned.
func (x *dbTest) pinnedLevels(unlimitedFiles, close bool) rocksdb.Options {
	x.Helper()
	x.createAndReopenWithCF(pikachu[1:], x.pinL0Options(unlimitedFiles, nil))
	x.puts(1, "a", "begin", "z", "end", "flush")
	x.moveFilesToLevel(1, 1)
	same(x, "files at level 1", x.numTableFilesAtLevel(1, 1), 1)
	c := rocksdb.NewLRUCache(64 << 10)
	o := x.pinL0Options(unlimitedFiles, c)
	x.reopenWithColumnFamilies(pikachu, o)
	x.puts(1, "a2", "begin2", "z2", "end2", "flush")
	if close {
		x.close()
	}
	c.EraseUnRefEntries()
	return o
}

// eachPinL0 runs f with upstream's parameters.
func eachPinL0(t *testing.T, f func(x *dbTest, unlimitedFiles, noPreload bool)) {
	for _, p := range [][2]bool{{true, false}, {false, false}, {false, true}} {
		t.Run(fmt.Sprintf("unlimitedFiles=%t,noPreload=%t", p[0], p[1]), func(t *testing.T) { f(newDBTest(t), p[0], p[1]) })
	}
}

func TestPinL0IndexAndFilterBlocksTest_IndexAndFilterBlocksOfNewTableAddedToCacheWithPinning(t *testing.T) {
	eachPinL0(t, func(x *dbTest, unlimitedFiles, _ bool) {
		x.createAndReopenWithCF(pikachu[1:], x.pinL0Options(unlimitedFiles, nil))
		x.puts(1, "key", "val", "flush")
		want := cacheUse{filterMiss: 1, indexMiss: 1}
		same(x, "use of the cache", x.cacheUse(), want)
		x.wantTicker(contract.BlockCacheAdd, 2)
		x.wantTicker(contract.BlockCacheDataMiss, 0)
		// All is pinned from here on.
		if !x.cf(1).KeyMayExist(nil, []byte("key")) {
			x.Error("the key is said not to exist")
		}
		same(x, "use of the cache", x.cacheUse(), want)
		x.wantGet(1, "key", "val")
		same(x, "use of the cache", x.cacheUse(), want)
	})
}

func TestPinL0IndexAndFilterBlocksTest_MultiLevelIndexAndFilterBlocksCachedWithPinning(t *testing.T) {
	eachPinL0(t, func(x *dbTest, unlimitedFiles, _ bool) {
		x.pinnedLevels(unlimitedFiles, false)
		before := x.cacheUse()
		x.wantGet(1, "a2", "begin2") // at level 0
		same(x, "use of the cache", x.cacheUse(), before)
		x.wantGet(1, "a", "begin") // at level 1
		after := x.cacheUse()
		same(x, "filter misses", after.filterMiss, before.filterMiss+1)
		same(x, "index misses", after.indexMiss, before.indexMiss+1)
	})
}

func TestDBTest2_TestWriteBufferNoLimitWithCache(t *testing.T) {
	x := newDBTest(t)
	co := contract.DefaultLRUCacheOptions(10000000)
	co.NumShardBits, co.HighPriPoolRatio, co.MetadataChargePolicy = 1, 0, contract.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(co)
	x.must(err)
	o := x.currentOptions()
	o.ArenaBlockSize, o.WriteBufferSize, o.WriteBufferManager = 4096, 50000, memtable.NewWriteBufferManager(0, c, false)
	x.reopen(o)
	x.mustPut(0, "foo", "bar")
	if n := c.GetUsage(); n <= 128000 { // one dummy entry is 256 KB
		t.Errorf("the cache is charged %d bytes", n)
	}
}

func encodedEntrySize(keySize, valueSize int) int {
	b := binary.AppendUvarint(nil, 0)
	b = binary.AppendUvarint(b, uint64(keySize))
	b = binary.AppendUvarint(b, uint64(valueSize))
	return len(b) + keySize + valueSize
}

// readAmp are what was of use and what was read, in bytes.
func (x *dbTest) readAmp() (useful, total float64) {
	return float64(x.ticker(contract.ReadAmpEstimateUsefulBytes)), float64(x.ticker(contract.ReadAmpTotalReadBytes))
}

// readAmpOptions count with a bit for so many bytes and a cache that holds all.
func (x *dbTest) readAmpOptions(bytesPerBit uint32) rocksdb.Options {
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) {
		b.UseDeltaEncoding, b.BlockCache, b.ReadAmpBytesPerBit = false, rocksdb.NewLRUCache(1<<30), bytesPerBit
	})
	o.Statistics = rocksdb.NewStatistics()
	return o
}

// wantAllOfUse checks that what was read was used; bits of more than a byte are
// coarse.
func wantAllOfUse(t *testing.T, bytesPerBit uint32, useful, total float64) {
	t.Helper()
	if bytesPerBit == 1 {
		same(t, "bytes of use", useful, total)
	} else if math.Abs(useful/total-1) > 0.01 {
		t.Errorf("%g of %g bytes were of use", useful, total)
	}
}

// readAmpEntries is how many entries fillForReadAmp writes, a fifth of upstream's.
const readAmpEntries = 2000

// fillForReadAmp makes a database with one table.
func (x *dbTest) fillForReadAmp(bytesPerBit uint32) (rocksdb.Options, *util.Random) {
	x.Helper()
	o, rnd := x.readAmpOptions(bytesPerBit), util.NewRandom(301)
	x.destroyAndReopen(o)
	for i := range readAmpEntries {
		x.mustPut(0, key(i), rnd.RandomString(100))
	}
	x.flush(0)
	return o, rnd
}

func TestDBTest2_ReadAmpBitmap(t *testing.T) {
	x := newDBTest(t)
	for _, bytesPerBit := range []uint32{1, 16} {
		o, rnd := x.fillForReadAmp(bytesPerBit)
		x.reopen(o)
		expected := 0
		read := map[int]bool{}
		for range readAmpEntries * 5 {
			i := int(rnd.Next()) % readAmpEntries
			v := x.get(0, key(i))
			if !read[i] {
				read[i] = true
				expected += encodedEntrySize(len(key(i))+8, len(v))
			}
			useful, total := x.readAmp()
			if math.Abs(float64(expected)-useful)/total > 0.02 {
				t.Fatalf("%g of %g bytes were of use, not %d", useful, total, expected)
			}
		}
		for _, k := range x.keysOf(x.db.NewIterator(nil)) {
			x.get(0, k)
		}
		useful, total := x.readAmp()
		wantAllOfUse(t, bytesPerBit, useful, total)
	}
}

func TestDBTest2_ReadAmpBitmapLiveInCacheAfterDBClose(t *testing.T) {
	x := newDBTest(t)
	for _, bytesPerBit := range []uint32{1, 16} {
		o, _ := x.fillForReadAmp(bytesPerBit)
		var useful, total float64
		for first := range 2 {
			// The blocks of the first round stay in the cache, the statistics do not.
			o.Statistics = rocksdb.NewStatistics()
			x.reopen(o)
			for i := first; i < readAmpEntries; i += 2 {
				if x.get(0, key(i)) == "NOT_FOUND" {
					t.Fatalf("%s is gone", key(i))
				}
			}
			u, n := x.readAmp()
			useful, total = useful+u, total+n
		}
		wantAllOfUse(t, bytesPerBit, useful, total)
	}
}

func TestDBTest2_TestNumPread(t *testing.T) {
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) { b.NoBlockCache = true })
	x.reopen(o)
	var reads, opens int
	x.fault.SetErrorInjector(func(op, name string) error {
		switch {
		case !strings.HasSuffix(name, ".sst"):
		case op == "Read":
			reads++
		case op == "NewRandomAccessFile":
			opens++
		}
		return nil
	})
	defer x.fault.SetErrorInjector(nil)
	want := func(what string, r, o int) {
		t.Helper()
		same(t, what+": reads", reads, r)
		same(t, what+": opens", opens, o)
		reads, opens = 0, 0
	}
	x.puts(0, "bar", "foo", "foo", "bar", "flush")
	want("flush", 4, 1) // footer, meta index, properties, index
	x.wantGet(0, "foo", "bar")
	want("lookup", 1, 0)
	x.puts(0, "bar2", "foo2", "foo2", "bar2", "flush")
	want("flush", 4, 1)
	x.compact(0, "", "")
	want("compaction", 6, 1) // two data blocks, and the opening of the new table
	x.wantGet(0, "bar2", "foo2")
	want("lookup", 1, 0)
}

func TestDBTest2_PinnableSliceAndMmapReads(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowMmapReads, o.MaxOpenFiles, o.Compression = true, 100, rocksdb.NoCompression
	x.reopen(o)
	x.puts(0, "foo", "bar", "flush")
	read := func(pinned bool) rocksdb.PinnableSlice {
		t.Helper()
		v, err := x.db.Get(nil, []byte("foo"))
		x.must(err)
		same(t, "pinned", v.IsPinned(), pinned)
		same(t, "value", string(v.Data()), "bar")
		return v
	}
	// A mapped file may go with a compaction: its bytes are copied.
	v := read(false)
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), true))
	same(t, "value", string(v.Data()), "bar")
	v.Release()
	// It may be closed when the table cache is full.
	x.close()
	x.must(x.tryReadOnlyReopen(o))
	v = read(false)
	v.Release()
	x.close()
	o.MaxOpenFiles = -1
	x.must(x.tryReadOnlyReopen(o))
	v = read(true)
	v.Release()
}

// flakyReads makes one in n reads of tables fail.
type flakyReads struct {
	rnd    *util.Random
	oneIn  uint32
	failed int
}

func (f *flakyReads) inject(op, name string) error {
	if op == "Read" && strings.HasSuffix(name, ".sst") && f.rnd.OneIn(int(f.oneIn)) {
		f.failed++
		return rocksdb.IOError("random error")
	}
	return nil
}

func TestDBTest2_PartitionedIndexPrefetchFailure(t *testing.T) {
	x := newDBTest(t)
	var c rocksdb.Cache
	o := blockTable(x.last, func(b *contract.BlockBasedTableOptions) {
		b.IndexType, b.MetadataBlockSize, b.BlockSize = contract.TwoLevelIndexSearch, 128, 128
		b.BlockCache, b.CacheIndexAndFilterBlocks = rocksdb.NewLRUCache(16<<20), true
		c = b.BlockCache
	})
	o.MaxOpenFiles = 20
	x.destroyAndReopen(o)
	// Each read opens the table anew.
	x.full().TestTableCache().SetCapacity(0)
	c.SetCapacity(0)
	rnd := util.NewRandom(301)
	for i := range 1024 { // a quarter of upstream's
		x.mustPut(0, key(i), rnd.RandomString(32))
	}
	x.flush(0)
	f := &flakyReads{rnd: util.NewRandom(17), oneIn: 8}
	x.fault.SetErrorInjector(f.inject)
	defer x.fault.SetErrorInjector(nil)
	for range 300 {
		f.failed = 0
		v, err := x.db.Get(nil, []byte(key(1)))
		if err == nil {
			v.Release()
		}
		if f.failed > 0 != (err != nil) {
			t.Fatalf("%d reads failed: %v", f.failed, err)
		}
	}
}

func TestDBTest2_BackgroundPurgeTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	m := memtable.NewWriteBufferManager(1<<20, nil, false)
	o.WriteBufferManager, o.AvoidUnnecessaryBlockingIO = m, true
	x.destroyAndReopen(o)
	base := m.MemoryUsage()
	x.mustPut(0, "a", "a")
	it := x.db.NewIterator(nil)
	x.must(it.Err())
	x.flush(0)
	if n := m.MemoryUsage(); n <= base {
		t.Errorf("%d bytes, %d before", n, base)
	}
	wake := x.blockThreads(rocksdb.HighPriority)
	x.must(it.Close())
	// The memtable is freed by the pool, which is busy.
	if n := m.MemoryUsage(); n <= base {
		t.Errorf("%d bytes, %d before", n, base)
	}
	wake()
	x.blockThreads(rocksdb.HighPriority)()
	same(t, "bytes", m.MemoryUsage(), base)
}

// oldStats counts what is recorded and keeps nothing.
type oldStats struct {
	rocksdb.Statistics
	ticks, times atomic.Int64
}

func (s *oldStats) RecordTick(rocksdb.Ticker, uint64) { s.ticks.Add(1) }

func (s *oldStats) MeasureTime(rocksdb.Histogram, uint64) { s.times.Add(1) }

func (s *oldStats) RecordInHistogram(h rocksdb.Histogram, n uint64) { s.MeasureTime(h, n) }

func (s *oldStats) ReportTimeToHistogram(h rocksdb.Histogram, n uint64) { s.MeasureTime(h, n) }

func (*oldStats) HistEnabledForType(rocksdb.Histogram) bool { return false }

func TestDBTest2_OldStatsInterface(t *testing.T) {
	x := newDBTest(t)
	s := &oldStats{Statistics: rocksdb.NewStatistics()}
	o := x.currentOptions()
	o.Statistics = s
	x.reopen(o)
	x.mustPut(0, "foo", "bar")
	x.wantGet(0, "foo", "bar")
	x.flush(0)
	x.wantGet(0, "foo", "bar")
	if s.ticks.Load() == 0 || s.times.Load() == 0 {
		t.Errorf("%d ticks, %d times", s.ticks.Load(), s.times.Load())
	}
}

// Port of db/db_block_cache_test.cc.

package db_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	blockCacheBlocks    = 10
	blockCacheValueSize = 100
)

// blockCacheTest counts what tables do with the block cache.
type blockCacheTest struct {
	*dbTest
	o    rocksdb.Options
	last map[rocksdb.Ticker]uint64
}

func newBlockCacheTest(t *testing.T) *blockCacheTest {
	x := &blockCacheTest{dbTest: newDBTest(t), last: map[rocksdb.Ticker]uint64{}}
	x.o = x.currentOptions()
	x.o.CreateIfMissing, x.o.Statistics = true, rocksdb.NewStatistics()
	return x
}

func (x *blockCacheTest) tables(b rocksdb.BlockBasedTableOptions) {
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
}

// smallBlocks are options by which each entry gets a block of its own.
func smallBlocks() rocksdb.BlockBasedTableOptions {
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize = 1
	return b
}

// initTable writes so many entries, which go to a table when the database is opened
// again.
func (x *blockCacheTest) initTable() {
	x.Helper()
	for i := range blockCacheBlocks {
		x.mustPut(0, strconv.Itoa(i), strings.Repeat("a", blockCacheValueSize))
	}
}

// lruCache has one shard, and charges no bookkeeping.
func (x *blockCacheTest) lruCache(capacity int) rocksdb.Cache {
	x.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.MetadataChargePolicy = 0, rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(o)
	x.must(err)
	return c
}

func (x *blockCacheTest) ticker(t rocksdb.Ticker) uint64 { return x.o.Statistics.GetTickerCount(t) }

// want compares tickers: pairs of one and its value.
func (x *blockCacheTest) want(pairs ...any) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		t := pairs[i].(rocksdb.Ticker)
		if got := x.ticker(t); got != uint64(pairs[i+1].(int)) {
			x.Fatalf("%s is %d, want %d", t, got, pairs[i+1])
		}
	}
}

// wantMore is want of what was added since record or wantMore.
func (x *blockCacheTest) wantMore(pairs ...any) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		t := pairs[i].(rocksdb.Ticker)
		got := x.ticker(t)
		if got-x.last[t] != uint64(pairs[i+1].(int)) {
			x.Fatalf("%s grew by %d, want %d", t, got-x.last[t], pairs[i+1])
		}
		x.last[t] = got
	}
}

func (x *blockCacheTest) record(tickers ...rocksdb.Ticker) {
	for _, t := range tickers {
		x.last[t] = x.ticker(t)
	}
}

// wantCounters is wantMore of misses, hits, insertions and failed ones.
func (x *blockCacheTest) wantCounters(misses, hits, adds, failures int) {
	x.Helper()
	x.wantMore(rocksdb.BlockCacheMiss, misses, rocksdb.BlockCacheHit, hits, rocksdb.BlockCacheAdd, adds, rocksdb.BlockCacheAddFailures, failures)
}

func (x *blockCacheTest) recordCounters() {
	x.record(rocksdb.BlockCacheMiss, rocksdb.BlockCacheHit, rocksdb.BlockCacheAdd, rocksdb.BlockCacheAddFailures)
}

// seekTo gives an iterator on a key.
func (x *blockCacheTest) seekTo(ro *rocksdb.ReadOptions, i int) *rocksdb.Iterator {
	it := x.db.NewIterator(ro)
	it.Seek([]byte(strconv.Itoa(i)))
	return it
}

func TestDBBlockCacheTest_IteratorBlockCacheUsage(t *testing.T) {
	x := newBlockCacheTest(t)
	x.initTable()
	b := smallBlocks()
	b.BlockCache = x.lruCache(0)
	x.tables(b)
	x.reopen(x.o)
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false
	if n := b.BlockCache.GetUsage(); n != 0 {
		t.Fatalf("%d bytes are used", n)
	}
	it := x.seekTo(&ro, 0)
	if !it.Valid() {
		t.Fatal(it.Err())
	}
	if b.BlockCache.GetUsage() == 0 {
		t.Error("the iterator's block is not charged")
	}
	x.must(it.Close())
	if n := b.BlockCache.GetUsage(); n != 0 {
		t.Errorf("%d bytes are used after it", n)
	}
}

func TestDBBlockCacheTest_TestWithoutCompressedBlockCache(t *testing.T) {
	x := newBlockCacheTest(t)
	x.initTable()
	b := smallBlocks()
	c := x.lruCache(0)
	b.BlockCache = c
	x.tables(b)
	x.reopen(x.o)
	x.recordCounters()
	var its [blockCacheBlocks - 1]*rocksdb.Iterator
	for i := range its {
		its[i] = x.seekTo(nil, i)
		x.must(its[i].Err())
		x.wantCounters(1, 0, 1, 0)
	}
	usage := c.GetUsage()
	if usage == 0 {
		t.Fatal("nothing is used")
	}
	c.SetCapacity(usage)
	if n := c.GetPinnedUsage(); n != usage {
		t.Errorf("%d bytes of %d are pinned", n, usage)
	}
	c.SetStrictCapacityLimit(true)
	it := x.seekTo(nil, blockCacheBlocks-1)
	if err := it.Err(); rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeMemoryLimit {
		t.Errorf("beyond the limit: %v", err)
	}
	x.wantCounters(1, 0, 0, 1)
	_ = it.Close() // the error again
	for _, it := range its {
		x.must(it.Close())
		x.wantCounters(0, 0, 0, 0)
	}
	if n := c.GetPinnedUsage(); n != 0 {
		t.Errorf("%d bytes are pinned", n)
	}
	for i := range its {
		its[i] = x.seekTo(nil, i)
		x.must(its[i].Err())
		x.wantCounters(0, 1, 0, 0)
	}
	for _, it := range its {
		x.must(it.Close())
	}
}

func TestDBBlockCacheTest_IndexAndFilterBlocksOfNewTableAddedToCache(t *testing.T) {
	x := newBlockCacheTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.FilterPolicy = true, rocksdb.NewBloomFilterPolicy(20)
	x.tables(b)
	x.createAndReopenWithCF([]string{"pikachu"}, x.o)
	x.mustPut(1, "key", "val")
	x.flush(1)
	x.want(rocksdb.BlockCacheIndexMiss, 1, rocksdb.BlockCacheFilterMiss, 1, rocksdb.BlockCacheAdd, 2, rocksdb.BlockCacheDataMiss, 0)
	if n := x.intProperty(0, "rocksdb.estimate-table-readers-mem"); n != 0 {
		t.Errorf("table readers take %d bytes", n)
	}
	for i := range 2 {
		x.cf(1).KeyMayExist(nil, []byte("key"))
		x.want(rocksdb.BlockCacheFilterMiss, 1, rocksdb.BlockCacheFilterHit, i+1)
	}
	hits := int(x.ticker(rocksdb.BlockCacheIndexHit))
	for i := range 2 {
		x.get(1, "key")
		x.want(rocksdb.BlockCacheIndexMiss, 1, rocksdb.BlockCacheIndexHit, hits+i+1)
	}
}

func TestDBBlockCacheTest_FillCacheAndIterateDB(t *testing.T) {
	x := newBlockCacheTest(t)
	x.initTable()
	o := rocksdb.DefaultLRUCacheOptions(10)
	o.NumShardBits, o.StrictCapacityLimit = 0, true
	c, err := rocksdb.NewLRUCacheWithOptions(o)
	x.must(err)
	b := smallBlocks()
	b.BlockCache = c
	x.tables(b)
	x.reopen(x.o)
	for i := 1; i <= 6; i += 2 {
		x.mustPut(0, fmt.Sprintf("key%d", i), fmt.Sprintf("val%d", i))
		x.mustPut(0, fmt.Sprintf("key%d", i+1), fmt.Sprintf("val%d", i+1))
		x.flush(0)
	}
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false
	it := x.seekTo(&ro, 0)
	n := 0
	for ; it.Valid(); it.Next() {
		n++
	}
	x.must(it.Err())
	x.must(it.Close())
	if n != blockCacheBlocks+6 {
		t.Errorf("%d entries", n)
	}
}

func TestDBBlockCacheTest_IndexAndFilterBlocksStats(t *testing.T) {
	x := newBlockCacheTest(t)
	c := x.lruCache(500) // for the first two blocks
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.BlockCache, b.FilterPolicy = true, c, rocksdb.NewBloomFilterPolicy(20)
	x.tables(b)
	x.createAndReopenWithCF([]string{"pikachu"}, x.o)
	x.mustPut(1, "longer_key", "val")
	x.flush(1)
	index, filter := x.ticker(rocksdb.BlockCacheIndexBytesInsert), x.ticker(rocksdb.BlockCacheFilterBytesInsert)
	if index == 0 || filter == 0 || uint64(c.GetUsage()) != index+filter {
		t.Fatalf("%d bytes of indexes and %d of filters, %d used", index, filter, c.GetUsage())
	}
	c.SetCapacity(int(index + filter))
	x.mustPut(1, "key", "val")
	x.flush(1)
	if x.ticker(rocksdb.BlockCacheIndexBytesInsert) <= index || x.ticker(rocksdb.BlockCacheFilterBytesInsert) <= filter {
		t.Error("nothing more was inserted")
	}
}

// warmByFlushes makes a database whose flushes put data blocks into the cache.
func (x *blockCacheTest) warmByFlushes() {
	x.Helper()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache, b.PrepopulateBlockCache = rocksdb.NewLRUCache(1<<25), rocksdb.PrepopulateBlockCacheFlushOnly
	x.tables(b)
	x.destroyAndReopen(x.o)
}

func TestDBBlockCacheTest_WarmCacheWithDataBlocksDuringFlush(t *testing.T) {
	x := newBlockCacheTest(t)
	x.warmByFlushes()
	value := strings.Repeat("a", blockCacheValueSize)
	for i := 1; i <= blockCacheBlocks; i++ {
		x.mustPut(0, strconv.Itoa(i), value)
		x.flush(0)
		x.want(rocksdb.BlockCacheDataAdd, i)
		x.wantGet(0, strconv.Itoa(i), value)
		x.want(rocksdb.BlockCacheDataMiss, 0, rocksdb.BlockCacheDataHit, i)
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.want(rocksdb.BlockCacheDataAdd, blockCacheBlocks)
}

// insertCache notes the priorities of insertions.
type insertCache struct {
	rocksdb.Cache
	inserts map[rocksdb.CachePriority]int
}

func newInsertCache() *insertCache {
	return &insertCache{rocksdb.NewLRUCache(1 << 25), map[rocksdb.CachePriority]int{}}
}

func (c *insertCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, p rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	if helper.Role != rocksdb.CacheEntryRoleMisc { // the collector of statistics
		c.inserts[p]++
	}
	return c.Cache.Insert(key, obj, helper, charge, p, wantHandle)
}

func TestDBBlockCacheTest_WarmCacheWithDataBlocksDuringCompaction(t *testing.T) {
	x := newBlockCacheTest(t)
	x.o.DisableAutoCompactions = true
	c := newInsertCache()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache, b.PrepopulateBlockCache = c, rocksdb.PrepopulateBlockCacheFlushAndCompaction
	x.tables(b)
	x.destroyAndReopen(x.o)
	value := strings.Repeat("a", blockCacheValueSize)
	clear(c.inserts)
	x.mustPut(0, "key", value)
	x.flush(0)
	if c.inserts[rocksdb.CachePriorityLow] == 0 || c.inserts[rocksdb.CachePriorityBottom] != 0 {
		t.Errorf("a flush inserted %v", c.inserts)
	}
	x.mustPut(0, "key", value+"2") // no trivial move
	x.flush(0)
	added := x.ticker(rocksdb.BlockCacheDataAdd)
	clear(c.inserts)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&cro, nil, nil))
	if x.ticker(rocksdb.BlockCacheDataAdd) <= added || c.inserts[rocksdb.CachePriorityBottom] == 0 || c.inserts[rocksdb.CachePriorityLow] != 0 {
		t.Errorf("a compaction inserted %v", c.inserts)
	}
	x.record(rocksdb.BlockCacheDataMiss)
	x.wantGet(0, "key", value+"2")
	x.wantMore(rocksdb.BlockCacheDataMiss, 0)
}

func TestDBBlockCacheTest1_WarmCacheWithBlocksDuringFlush(t *testing.T) {
	for _, partitioned := range []bool{true, false} {
		t.Run(fmt.Sprintf("partitioned=%t", partitioned), func(t *testing.T) {
			x := newBlockCacheTest(t)
			x.o.DisableAutoCompactions, x.o.CompressionOpts.MaxDictBytes = true, 123
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.BlockCache, b.FilterPolicy = rocksdb.NewLRUCache(1<<25), rocksdb.NewBloomFilterPolicy(10)
			blocks, filterHits := 1, 2
			if partitioned {
				b.PartitionFilters, b.IndexType = true, rocksdb.TwoLevelIndexSearch
				blocks, filterHits = 2, 3
			}
			b.CacheIndexAndFilterBlocks, b.PrepopulateBlockCache = true, rocksdb.PrepopulateBlockCacheFlushOnly
			x.tables(b)
			x.destroyAndReopen(x.o)
			value := strings.Repeat("a", blockCacheValueSize)
			for i := 1; i <= blockCacheBlocks; i++ {
				x.mustPut(0, strconv.Itoa(i), value)
				x.flush(0)
				x.want(rocksdb.BlockCacheDataAdd, i, rocksdb.BlockCacheIndexAdd, blocks*i, rocksdb.BlockCacheFilterAdd, blocks*i)
				x.wantGet(0, strconv.Itoa(i), value)
				x.want(rocksdb.BlockCacheDataMiss, 0, rocksdb.BlockCacheDataHit, i, rocksdb.BlockCacheIndexMiss, 0,
					rocksdb.BlockCacheIndexHit, 3*i, rocksdb.BlockCacheFilterHit, filterHits*i, rocksdb.BlockCacheFilterMiss, 0,
					rocksdb.BlockCacheMiss, 0)
			}
			cro := rocksdb.DefaultCompactRangeOptions()
			cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
			x.must(x.db.CompactRange(&cro, nil, nil))
			// The new table's index and filter come with opening it.
			x.want(rocksdb.BlockCacheDataAdd, blockCacheBlocks, rocksdb.BlockCacheIndexAdd, blocks*(1+blockCacheBlocks),
				rocksdb.BlockCacheFilterAdd, blocks*(1+blockCacheBlocks))
		})
	}
}

func TestDBBlockCacheTest_DynamicOptions(t *testing.T) {
	x := newBlockCacheTest(t)
	x.warmByFlushes()
	value := strings.Repeat("a", blockCacheValueSize)
	for i, c := range []struct {
		set  string
		warm int
	}{{"", 1}, {"kDisable", 0}, {"kFlushOnly", 1}, {"kFlushAndCompaction", 1}, {"kDisable", 0}} {
		if c.set != "" {
			x.must(x.db.SetOptions(map[string]string{"block_based_table_factory": "{prepopulate_block_cache=" + c.set + ";}"}))
		}
		x.record(rocksdb.BlockCacheDataAdd, rocksdb.BlockCacheDataMiss, rocksdb.BlockCacheDataHit)
		x.mustPut(0, strconv.Itoa(i), value)
		x.flush(0)
		x.wantMore(rocksdb.BlockCacheDataAdd, c.warm)
		x.wantGet(0, strconv.Itoa(i), value)
		x.wantMore(rocksdb.BlockCacheDataAdd, 1-c.warm, rocksdb.BlockCacheDataMiss, 1-c.warm, rocksdb.BlockCacheDataHit, c.warm)
	}
}

func TestDBBlockCacheTest_IndexAndFilterBlocksCachePriority(t *testing.T) {
	for _, high := range []bool{false, true} {
		x := newBlockCacheTest(t)
		c := newInsertCache()
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.CacheIndexAndFilterBlocks, b.BlockCache, b.FilterPolicy = true, c, rocksdb.NewBloomFilterPolicy(20)
		b.CacheIndexAndFilterBlocksWithHighPriority = high
		x.tables(b)
		x.destroyAndReopen(x.o)
		clear(c.inserts)
		x.mustPut(0, "foo", "value")
		x.mustPut(0, "bar", "value")
		x.flush(0)
		want := func(meta, data int) {
			t.Helper()
			highs, lows := 0, meta+data
			if high {
				highs, lows = meta, data
			}
			if c.inserts[rocksdb.CachePriorityHigh] != highs || c.inserts[rocksdb.CachePriorityLow] != lows {
				t.Errorf("high %t: inserted %v", high, c.inserts)
			}
		}
		x.want(rocksdb.BlockCacheIndexMiss, 1, rocksdb.BlockCacheFilterMiss, 1, rocksdb.BlockCacheAdd, 2, rocksdb.BlockCacheDataMiss, 0)
		want(2, 0)
		x.wantGet(0, "foo", "value")
		x.want(rocksdb.BlockCacheIndexMiss, 1, rocksdb.BlockCacheFilterMiss, 1, rocksdb.BlockCacheAdd, 3, rocksdb.BlockCacheDataMiss, 1)
		want(2, 1)
	}
}

func TestDBBlockCacheTest_ParanoidFileChecks(t *testing.T) {
	x := newBlockCacheTest(t)
	x.o.Level0FileNumCompactionTrigger, x.o.ParanoidFileChecks = 2, true
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.FilterPolicy = false, rocksdb.NewBloomFilterPolicy(20)
	x.tables(b)
	x.createAndReopenWithCF([]string{"pikachu"}, x.o)
	table := func(suffix string) {
		x.mustPut(1, "1_key"+suffix, "val"+suffix)
		x.mustPut(1, "9_key"+suffix, "val"+suffix)
		x.flush(1)
	}
	table("")
	x.want(rocksdb.BlockCacheAdd, 1)
	table("2") // and a compaction
	x.must(x.db.WaitForCompact(nil))
	x.want(rocksdb.BlockCacheAdd, 3)
	x.must(x.cf(1).SetOptions(map[string]string{"paranoid_file_checks": "false"}))
	table("3")
	table("4")
	x.must(x.db.WaitForCompact(nil))
	x.want(rocksdb.BlockCacheAdd, 3)
}

func TestDBBlockCacheTest_CacheCompressionDict(t *testing.T) {
	const files, entries, size = 4, 128, 1024
	rnd := util.NewRandom(301)
	for _, version := range []uint32{6, 7} {
		for _, c := range []struct {
			t     rocksdb.CompressionType
			dicts bool
		}{{rocksdb.NoCompression, false}, {rocksdb.SnappyCompression, false}, {rocksdb.ZlibCompression, true}, {rocksdb.BZip2Compression, false},
			{rocksdb.LZ4Compression, true}, {rocksdb.LZ4HCCompression, true}, {rocksdb.ZSTD, true}} {
			x := newBlockCacheTest(t)
			x.o.BottommostCompression = c.t
			x.o.BottommostCompressionOpts.MaxDictBytes, x.o.BottommostCompressionOpts.Enabled = 4096, true
			x.o.NumLevels, x.o.TargetFileSizeBase = 2, entries*size
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.CacheIndexAndFilterBlocks, b.BlockCache, b.FormatVersion = true, newInsertCache(), version
			x.tables(b)
			x.destroyAndReopen(x.o)
			dict := []rocksdb.Ticker{rocksdb.BlockCacheCompressionDictMiss, rocksdb.BlockCacheCompressionDictHit, rocksdb.BlockCacheCompressionDictAdd}
			wantDict := func(misses, hits, adds int) {
				t.Helper()
				if c.dicts {
					x.wantMore(dict[0], misses, dict[1], hits, dict[2], adds)
				}
			}
			x.record(dict...)
			for i := range files {
				if n := x.numTableFilesAtLevel(0, 0); n != i {
					t.Fatalf("%d tables in level 0", n)
				}
				for j := range entries {
					x.mustPut(0, fmt.Sprintf("key%06d", j*files+i), rnd.RandomString(size))
				}
				x.flush(0)
			}
			x.must(x.db.WaitForCompact(nil))
			x.wantFiles(0, "0,4")
			wantDict(files, 0, files) // read with the table
			x.recordCounters()
			x.record(dict...)
			if x.get(0, fmt.Sprintf("key%06d", files*entries-1)) == "NOT_FOUND" {
				t.Error("a key is gone")
			}
			if c.dicts {
				x.wantCounters(1, 2, 1, 0)
			}
			wantDict(0, 1, 0)
		}
	}
}

// cacheTypes runs f with a cache of each kind, of one shard.
func cacheTypes(t *testing.T, f func(t *testing.T, c rocksdb.Cache)) {
	const capacity = 1 << 25
	lru := rocksdb.DefaultLRUCacheOptions(capacity)
	lru.NumShardBits, lru.MetadataChargePolicy = 0, rocksdb.DontChargeCacheMetadata
	fixed := rocksdb.DefaultHyperClockCacheOptions(capacity)
	fixed.NumShardBits, fixed.MetadataChargePolicy = 0, rocksdb.DontChargeCacheMetadata
	auto := fixed
	fixed.EstimatedEntryCharge = 4096
	for name, open := range map[string]func() (rocksdb.Cache, error){
		"LRUCache":             func() (rocksdb.Cache, error) { return rocksdb.NewLRUCacheWithOptions(lru) },
		"FixedHyperClockCache": func() (rocksdb.Cache, error) { return rocksdb.NewHyperClockCache(fixed) },
		"AutoHyperClockCache":  func() (rocksdb.Cache, error) { return rocksdb.NewHyperClockCache(auto) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := open()
			if err != nil {
				t.Fatal(err)
			}
			f(t, c)
		})
	}
}

// liarCache does not find what is there, once, at the lookup chosen.
// Upstream: LookupLiarCache.
type liarCache struct {
	rocksdb.CacheWrapper
	liesIn int // lookups; 0 for never
}

func (c *liarCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, p rocksdb.CachePriority, stats rocksdb.Statistics) rocksdb.CacheHandle {
	if c.liesIn > 0 {
		if c.liesIn--; c.liesIn == 0 {
			return nil
		}
	}
	return c.Cache.Lookup(key, helper, ctx, p, stats)
}

func TestDBBlockCacheTypeTest_AddRedundantStats(t *testing.T) {
	cacheTypes(t, func(t *testing.T, base rocksdb.Cache) {
		x := newBlockCacheTest(t)
		liar := &liarCache{CacheWrapper: rocksdb.CacheWrapper{Cache: base}}
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.CacheIndexAndFilterBlocks, b.BlockCache, b.FilterPolicy = true, liar, rocksdb.NewBloomFilterPolicy(50)
		x.tables(b)
		x.destroyAndReopen(x.o)
		x.puts(0, "foo", "value", "bar", "value", "flush")
		// added wants so many insertions and redundant ones of index, filter and data.
		added := func(index, filter, data, redundantIndex, redundantFilter, redundantData int) {
			t.Helper()
			x.want(rocksdb.BlockCacheIndexAdd, index, rocksdb.BlockCacheFilterAdd, filter, rocksdb.BlockCacheDataAdd, data,
				rocksdb.BlockCacheAdd, index+filter+data,
				rocksdb.BlockCacheIndexAddRedundant, redundantIndex, rocksdb.BlockCacheFilterAddRedundant, redundantFilter,
				rocksdb.BlockCacheDataAddRedundant, redundantData, rocksdb.BlockCacheAddRedundant, redundantIndex+redundantFilter+redundantData)
		}
		x.wantGet(0, "foo", "value")
		added(1, 1, 1, 0, 0, 0)
		liar.liesIn = 2
		x.wantGet(0, "bar", "value")
		added(2, 1, 1, 1, 0, 0)
		liar.liesIn = 1
		x.wantGet(0, "this key was not added", "NOT_FOUND")
		added(2, 2, 1, 1, 1, 0)
		it := x.db.NewIterator(nil)
		defer it.Close()
		liar.liesIn = 2 // the index is first
		it.SeekToFirst()
		if !it.Valid() || string(it.Key()) != "bar" || string(it.Value()) != "value" {
			t.Errorf("%q; %v", it.Key(), it.Status())
		}
		added(2, 2, 2, 1, 1, 1)
	})
}

func TestDBBlockCacheTypeTest_Uncache(t *testing.T) {
	for _, partitioned := range []bool{false, true} {
		for _, aggressiveness := range []uint32{0, 1, 2, 10000} {
			t.Run(fmt.Sprintf("partitioned=%t/%d", partitioned, aggressiveness), func(t *testing.T) {
				cacheTypes(t, func(t *testing.T, c rocksdb.Cache) { uncache(t, c, partitioned, aggressiveness) })
			})
		}
	}
}

func uncache(t *testing.T, c rocksdb.Cache, partitioned bool, aggressiveness uint32) {
	x := newBlockCacheTest(t)
	x.o.UncacheAggressiveness = aggressiveness
	x.o.StatsDumpPeriodSec, x.o.StatsPersistPeriodSec = 0, 0
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.BlockCache, b.FilterPolicy, b.PartitionFilters = true, c, rocksdb.NewBloomFilterPolicy(10), partitioned
	const blocks, files = 10, 3
	meta := 2
	if partitioned {
		b.IndexType, meta = rocksdb.TwoLevelIndexSearch, 4
	}
	x.tables(b)
	x.destroyAndReopen(x.o)
	base := c.GetOccupancyCount() // the collector of statistics
	rnd := util.NewRandom(301)
	write := func(key func(i int) string) {
		for i := range blocks {
			x.mustPut(0, key(i), rnd.RandomString(int(b.BlockSize)))
			if i >= blocks-files {
				x.flush(0)
			}
		}
		if n := x.numTableFilesAtLevel(0, 0); n != files {
			t.Fatalf("%d tables in level 0", n)
		}
	}
	read := func(key func(i int) string) {
		t.Helper()
		for i := range blocks {
			if x.get(0, key(i)) == "NOT_FOUND" {
				t.Fatalf("%s is gone", key(i))
			}
		}
	}
	count := func(want int) {
		t.Helper()
		if n := c.GetOccupancyCount(); n != want {
			t.Fatalf("%d entries in the cache, want %d", n, want)
		}
	}
	quiet := func() {
		t.Helper()
		x.want(rocksdb.BlockCacheAdd, 0, rocksdb.BlockCacheMiss, 0)
		if x.ticker(rocksdb.BlockCacheHit) == 0 {
			t.Error("no hit")
		}
	}
	key := func(i int) string { return fmt.Sprintf("key%06d", i) }
	write(func(i int) string { return key(i * 7 % blocks) }) // files overlap
	read(key)
	count(base + blocks + meta*files)

	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForBackgroundWork())
	x.wantFiles(0, "0,1")
	read(key)
	old := 0
	if aggressiveness == 0 {
		old = blocks + meta*files
	}
	count(base + old + blocks + meta)
	if twice := c.GetUsage() >= 2*blocks*int(b.BlockSize); twice != (aggressiveness == 0) {
		t.Errorf("%d bytes are used", c.GetUsage())
	}

	before, usage := c.GetOccupancyCount(), c.GetUsage()
	x.must(x.o.Statistics.Reset())
	x.reopen(x.o)
	read(key)
	count(before)
	if n := c.GetUsage(); n != usage {
		t.Errorf("%d bytes are used, %d before opening again", n, usage)
	}
	quiet()

	// A trivial move makes no file obsolete.
	other := func(i int) string { return fmt.Sprintf("altkey%06d", i) }
	write(other)
	read(other)
	count(before + blocks + meta*files)
	x.must(x.o.Statistics.Reset())
	x.must(x.db.CompactRange(nil, []byte(other(0)), []byte(other(blocks))))
	x.wantFiles(0, fmt.Sprintf("0,%d", 1+files))
	read(other)
	count(before + blocks + meta*files)
	quiet()
}

func TestCacheKeyTest_DBImplSessionIdStructure(t *testing.T) {
	var upper, lower [2]uint64
	for i := range upper {
		x := newDBTest(t)
		var err error
		upper[i], lower[i], err = uniqueid.DecodeSessionId(x.db.GetDbSessionId())
		x.must(err)
	}
	// Sessions of a process differ in the lower half of the lower word alone.
	if upper[0] != upper[1] || lower[0]>>32 != lower[1]>>32 || lower[0] == lower[1] {
		t.Errorf("sessions %x and %x", lower[0], lower[1])
	}
}

func TestDBBlockCachePinningTest_TwoLevelDB(t *testing.T) {
	tiers := []rocksdb.PinningTier{rocksdb.PinningTierNone, rocksdb.PinningTierFlushedAndSimilar, rocksdb.PinningTierAll}
	for _, partitioned := range []bool{false, true} {
		for _, top := range tiers {
			for _, partition := range tiers {
				for _, whole := range tiers {
					t.Run(fmt.Sprintf("%t/%d/%d/%d", partitioned, top, partition, whole), func(t *testing.T) {
						pinnedTwoLevelDB(t, partitioned, rocksdb.MetadataCacheOptions{TopLevelIndexPinning: top, PartitionPinning: partition, UnpartitionedPinning: whole})
					})
				}
			}
		}
	}
}

// pinnedTwoLevelDB has a table in level 0, and one with a dictionary in level 1. What
// is not pinned is to be missed once it was erased.
func pinnedTwoLevelDB(t *testing.T, partitioned bool, pin rocksdb.MetadataCacheOptions) {
	const keySize, blockSize, perFile = 32, 128, 512
	x := newBlockCacheTest(t)
	x.o.Compression, x.o.CompressionOpts.MaxDictBytes = rocksdb.LZ4Compression, 4<<10
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache, b.BlockSize, b.MetadataBlockSize = rocksdb.NewLRUCache(1<<20), blockSize, blockSize
	b.CacheIndexAndFilterBlocks, b.MetadataCacheOptions, b.FilterPolicy = true, pin, rocksdb.NewBloomFilterPolicy(10)
	if partitioned {
		b.IndexType, b.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
	}
	x.tables(b)
	x.reopen(x.o)
	rnd := util.NewRandom(301)
	key := func(i int) string { return fmt.Sprintf("key%06d", i) }
	for i := range 2 {
		for j := range perFile {
			x.mustPut(0, key(i*perFile+j), rnd.RandomString(keySize))
		}
		x.flush(0)
		if i == 0 {
			cro := rocksdb.DefaultCompactRangeOptions()
			cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
			x.must(x.db.CompactRange(&cro, nil, nil))
		}
	}
	for level, k := range []string{key(perFile), key(0)} {
		missed := func(t rocksdb.PinningTier) int {
			if t == rocksdb.PinningTierNone || level == 1 && t == rocksdb.PinningTierFlushedAndSimilar {
				return 1
			}
			return 0
		}
		meta, dict := missed(pin.UnpartitionedPinning), missed(pin.UnpartitionedPinning)
		if partitioned {
			meta = missed(pin.TopLevelIndexPinning) + missed(pin.PartitionPinning)
		}
		b.BlockCache.EraseUnRefEntries()
		x.record(rocksdb.BlockCacheFilterMiss, rocksdb.BlockCacheIndexMiss, rocksdb.BlockCacheCompressionDictMiss)
		x.get(0, k)
		x.wantMore(rocksdb.BlockCacheFilterMiss, meta, rocksdb.BlockCacheIndexMiss, meta, rocksdb.BlockCacheCompressionDictMiss, dict)
	}
}

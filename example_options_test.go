// No upstream twin: examples of options, caches, tables and limits.

package rocksdb_test

import (
	"errors"
	"fmt"

	"github.com/rocksdb-go/rocksdb"
)

func ExampleOptions() {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.WriteBufferSize = 16 << 20
	o.MaxBackgroundJobs = 4
	o.Compression = rocksdb.LZ4Compression
	o.BottommostCompression = rocksdb.ZSTD
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	db, done := openTemp(o)
	defer done()
	fmt.Println(db.GetOptions().WriteBufferSize, db.GetDBOptions().MaxBackgroundJobs)
	// Output: 16777216 4
}

func ExampleGetOptionsFromString() {
	o, err := rocksdb.GetOptionsFromString(nil, rocksdb.DefaultOptions(),
		"create_if_missing=true;write_buffer_size=8M;compression=kZSTD;"+
			"block_based_table_factory={block_size=8k;filter_policy=bloomfilter:10:false}")
	check(err)
	fmt.Println(o.CreateIfMissing, o.WriteBufferSize, o.Compression == rocksdb.ZSTD)
	_, err = rocksdb.GetOptionsFromString(nil, o, "no_such_option=1")
	fmt.Println(errors.Is(err, rocksdb.ErrInvalidArgument))
	// Output:
	// true 8388608 true
	// true
}

func ExampleLoadLatestOptions() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.WriteBufferSize = true, 1<<20
	db, err := rocksdb.Open(dir, o)
	check(err)
	check(db.Close())

	dbOptions, families, err := rocksdb.LoadLatestOptions(nil, dir, nil) // as they were
	check(err)
	db, _, err = rocksdb.OpenColumnFamilies(dir, dbOptions, families)
	check(err)
	fmt.Println(db.GetOptions().WriteBufferSize)
	check(db.Close())
	// Output: 1048576
}

func ExampleColumnFamily_SetOptions() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.SetOptions(map[string]string{"write_buffer_size": "131072", "disable_auto_compactions": "true"}))
	check(db.SetDBOptions(map[string]string{"max_background_jobs": "6"}))
	fmt.Println(db.GetOptions().WriteBufferSize, db.GetDBOptions().MaxBackgroundJobs)
	fmt.Println(db.SetOptions(map[string]string{"comparator": "x"}) != nil) // not while it is open
	// Output:
	// 131072 6
	// true
}

func ExampleNewBlockBasedTableFactory() {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.BlockSize = 16 << 10
	t.BlockCache = rocksdb.NewLRUCache(64 << 20)
	t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	t.CacheIndexAndFilterBlocks = true
	o := rocksdb.DefaultOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(get(db.ColumnFamily, "a"), t.BlockCache.GetUsage() > 0)
	// Output: <a> true
}

func ExampleNewRibbonFilterPolicy() {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.FilterPolicy = rocksdb.NewRibbonFilterPolicy(10, 0) // Bloom where flushes write, ribbon below
	t.IndexType = rocksdb.TwoLevelIndexSearch
	t.PartitionFilters = true
	o := rocksdb.DefaultOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	db, done := openTemp(o)
	defer done()
	fill(db, "a", "b")
	check(db.CompactRange(nil, nil, nil))
	fmt.Println(get(db.ColumnFamily, "b"), get(db.ColumnFamily, "c"))
	// Output: <b> (none)
}

func ExampleNewLRUCacheWithOptions() {
	co := rocksdb.DefaultLRUCacheOptions(8 << 20)
	co.HighPriPoolRatio = 0.2 // index and filter blocks keep that much
	cache, err := rocksdb.NewLRUCacheWithOptions(co)
	check(err)
	fmt.Println(cache.GetCapacity(), cache.GetUsage())
	// Output: 8388608 0
}

func ExampleNewHyperClockCache() {
	co := rocksdb.DefaultHyperClockCacheOptions(8 << 20)
	co.EstimatedEntryCharge = 4 << 10 // about a block
	cache, err := rocksdb.NewHyperClockCache(co)
	check(err)
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.BlockCache = cache // one cache may serve several databases
	o := rocksdb.DefaultOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(get(db.ColumnFamily, "a"), cache.GetUsage() > 0)
	// Output: <a> true
}

func ExampleNewWriteBufferManager() {
	o := rocksdb.DefaultOptions()
	o.WriteBufferManager = rocksdb.NewWriteBufferManager(64<<20, nil, false) // for all databases that share it
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	fmt.Println(o.WriteBufferManager.MemoryUsage() > 0)
	// Output: true
}

func ExampleNewGenericRateLimiter() {
	limiter, err := rocksdb.NewGenericRateLimiter(100<<20, 100_000, 10, rocksdb.WritesOnly, false)
	check(err)
	o := rocksdb.DefaultOptions()
	o.RateLimiter = limiter // flushes and compactions
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(limiter.GetTotalBytesThrough(rocksdb.IOTotal) > 0, limiter.GetBytesPerSecond())
	// Output: true 104857600
}

func ExampleNewSstFileManager() {
	manager := rocksdb.NewSstFileManager(nil, nil, 0)
	defer manager.Close()
	manager.SetMaxAllowedSpaceUsage(1 << 30)
	o := rocksdb.DefaultOptions()
	o.SstFileManager = manager
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(len(manager.GetTrackedFiles()), manager.GetTotalSize() > 0, manager.IsMaxAllowedSpaceReached())
	// Output: 1 true false
}

func ExampleNewMemEnv() {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = rocksdb.NewMemEnv(rocksdb.DefaultEnv()), true // no file is written
	db, err := rocksdb.Open("/in/memory", o)
	check(err)
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(get(db.ColumnFamily, "a"))
	check(db.Close())
	// Output: <a>
}

func ExampleNewVectorRepFactory() {
	o := rocksdb.DefaultOptions()
	o.MemtableFactory, o.AllowConcurrentMemtableWrite = rocksdb.NewVectorRepFactory(0), false // for loads
	db, done := openTemp(o)
	defer done()
	fill(db, "b", "a")
	fmt.Println(get(db.ColumnFamily, "a"))
	// Output: <a>
}

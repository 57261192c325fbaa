// Port of cache/lru_cache_test.cc: DBSecondaryCacheTest. Differs: unique ids of files
// play no part in keys, so that no file system has to refuse them.

package cache_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/util"
)

// secondaryDBTest is databases with blocks of 4 KiB above a TestSecondaryCache.
type secondaryDBTest struct {
	*testing.T
	sec  *cache.TestSecondaryCache
	opts rocksdb.Options
	rnd  *util.Random
	dir  string
	db   *rocksdb.DB
}

// eachDBCacheType runs a test for some types of caches, of a capacity in bytes.
func eachDBCacheType(t *testing.T, capacity int, types []string, f func(x *secondaryDBTest)) {
	for _, typ := range types {
		t.Run(typ, func(t *testing.T) {
			x := &secondaryDBTest{T: t, sec: cache.NewTestSecondaryCache(t, 2048*kib, false), rnd: util.NewRandom(301), dir: t.TempDir()}
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.BlockSize = 4 * kib
			b.BlockCache = cache.NewCacheAbove(t, typ, capacity, x.sec)
			x.opts = rocksdb.DefaultOptions()
			x.opts.CreateIfMissing, x.opts.ParanoidFileChecks = true, true
			x.opts.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			f(x)
		})
	}
}

var (
	anyCache = []string{"lru", "fixed_hyper_clock", "auto_hyper_clock"}
	lruCache = []string{"lru"} // the others do not look at the capacity on a release
)

func (x *secondaryDBTest) check(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *secondaryDBTest) open() {
	x.Helper()
	var err error
	x.db, err = rocksdb.Open(x.dir, x.opts)
	x.check(err)
}

func (x *secondaryDBTest) close() { x.check(x.db.Close()) }

func (x *secondaryDBTest) fill(db *rocksdb.DB, first, n, size int) {
	x.Helper()
	for i := range n {
		x.check(db.Put(nil, tieredKey(first+i), []byte(x.rnd.RandomString(size))))
	}
	x.check(db.Flush(nil))
}

func (x *secondaryDBTest) compact(db *rocksdb.DB, to string) {
	x.Helper()
	x.check(db.CompactRange(nil, []byte("a"), []byte(to)))
}

func (x *secondaryDBTest) get(db *rocksdb.DB, i, size int) {
	x.Helper()
	v, err := db.Get(nil, tieredKey(i))
	x.check(err)
	if len(v.Data()) != size {
		x.Fatalf("%d bytes", len(v.Data()))
	}
	v.Release()
}

func (x *secondaryDBTest) used(inserts, lookups uint32) {
	x.Helper()
	if x.sec.NumInserts() != inserts || x.sec.NumLookups() != lookups {
		x.Fatalf("%d inserts, %d lookups, want %d and %d", x.sec.NumInserts(), x.sec.NumLookups(), inserts, lookups)
	}
}

// read is a Get and what it leads to.
type read struct {
	key              int
	inserts, lookups uint32
}

func (x *secondaryDBTest) reads(rs ...read) {
	x.Helper()
	for _, r := range rs {
		x.get(x.db, r.key, 1007)
		x.used(r.inserts, r.lookups)
	}
}

// Six pairs make a block of 4 KiB and one of half of that. A cache of 4 KiB keeps the
// second one only.
func TestDBSecondaryCacheTest_TestSecondaryCacheCorrectness1(t *testing.T) {
	eachDBCacheType(t, 4*kib, lruCache, func(x *secondaryDBTest) {
		x.open()
		defer x.close()
		x.fill(x.db, 0, 6, 1007)
		x.used(0, 2) // the new file is checked
		x.compact(x.db, "z")
		x.used(1, 3)
		x.reads(read{0, 1, 4}, read{5, 1, 5}, read{5, 1, 5}, read{0, 1, 6}, read{0, 1, 7})
	})
}

func TestDBSecondaryCacheTest_TestSecondaryCacheCorrectness2(t *testing.T) {
	eachDBCacheType(t, 6100, lruCache, func(x *secondaryDBTest) { // either block, not both
		x.open()
		defer x.close()
		x.fill(x.db, 0, 6, 1007)
		x.used(1, 2)
		x.compact(x.db, "z")
		x.used(2, 3)
		x.reads(read{0, 2, 3}, read{5, 2, 4}, read{5, 2, 4}, read{0, 2, 5}, read{0, 2, 5})
	})
}

func TestDBSecondaryCacheTest_NoSecondaryCacheInsertion(t *testing.T) {
	eachDBCacheType(t, 1024*kib, anyCache, func(x *secondaryDBTest) {
		x.open()
		defer x.close()
		x.fill(x.db, 0, 6, 1000)
		x.used(0, 2)
		x.compact(x.db, "z")
		x.used(0, 2)
		x.get(x.db, 0, 1000)
		x.used(0, 2)
	})
}

func TestDBSecondaryCacheTest_SecondaryCacheIntensiveTesting(t *testing.T) {
	eachDBCacheType(t, 8*kib, anyCache, func(x *secondaryDBTest) {
		const n = 256
		x.open()
		defer x.close()
		x.fill(x.db, 0, n, 1000)
		x.compact(x.db, "z")
		index := util.NewRandom(47)
		for range 1000 {
			x.get(x.db, int(index.Next()%n), 1000)
		}
		if x.sec.NumInserts() == 0 || x.sec.NumLookups() == 0 {
			t.Errorf("%d inserts, %d lookups", x.sec.NumInserts(), x.sec.NumLookups())
		}
	})
}

func TestDBSecondaryCacheTest_SecondaryCacheFailureTest(t *testing.T) {
	eachDBCacheType(t, 4*kib, lruCache, func(x *secondaryDBTest) {
		x.open()
		defer x.close()
		x.fill(x.db, 0, 6, 1007)
		x.used(0, 2)
		x.sec.InjectFailure(true)
		x.compact(x.db, "z")
		x.used(0, 3)
		x.reads(read{0, 0, 4}, read{5, 0, 5}, read{5, 0, 5}, read{0, 0, 6}, read{0, 0, 7})
		x.sec.InjectFailure(false)
	})
}

func TestDBSecondaryCacheTest_TestSecondaryCacheOptionBasic(t *testing.T) {
	eachDBCacheType(t, 4*kib, anyCache, func(x *secondaryDBTest) {
		x.opts.LowestUsedCacheTier = rocksdb.VolatileTier
		x.open()
		defer x.close()
		x.fill(x.db, 0, 6, 1007)
		x.fill(x.db, 70, 6, 1007)
		x.used(0, 0)
		x.compact(x.db, "z")
		x.used(0, 0)
		x.reads(read{0, 0, 0}, read{5, 0, 0}, read{5, 0, 0}, read{70, 0, 0}, read{75, 0, 0})
	})
}

func TestDBSecondaryCacheTest_TestSecondaryCacheOptionChange(t *testing.T) {
	eachDBCacheType(t, 4*kib, lruCache, func(x *secondaryDBTest) {
		x.opts.LowestUsedCacheTier = rocksdb.VolatileTier
		x.open()
		x.fill(x.db, 0, 6, 1007)
		x.fill(x.db, 70, 6, 1007)
		x.used(0, 0)
		x.compact(x.db, "z")
		x.used(0, 0)
		x.reads(read{0, 0, 0}, read{5, 0, 0}, read{5, 0, 0})
		x.close()
		x.opts.LowestUsedCacheTier = rocksdb.NonVolatileBlockTier
		x.open()
		defer x.close()
		x.reads(read{70, 0, 1}, read{75, 0, 2})
	})
}

func TestDBSecondaryCacheTest_TestSecondaryCacheOptionTwoDB(t *testing.T) {
	eachDBCacheType(t, 4*kib, lruCache, func(x *secondaryDBTest) {
		x.open()
		defer x.close()
		o := x.opts
		o.LowestUsedCacheTier = rocksdb.VolatileTier
		db2, err := rocksdb.Open(t.TempDir(), o)
		x.check(err)
		defer func() { x.check(db2.Close()) }()
		x.fill(x.db, 0, 6, 1007)
		x.used(0, 2)
		x.fill(db2, 0, 6, 1007)
		x.used(1, 2)
		x.compact(x.db, "b") // there is nothing
		x.compact(db2, "b")
		x.used(1, 2)
		x.reads(read{0, 1, 3}, read{5, 1, 4})
		for _, key := range []int{0, 5} {
			x.get(db2, key, 1007)
			x.used(1, 4)
		}
	})
}

// Lookups of a batch that a secondary cache answers at once, late, or not.
func TestDBSecondaryCacheTest_TestSecondaryCacheMultiGet(t *testing.T) {
	const keys, size = 8, 4000 // a block each
	eachDBCacheType(t, 1024*kib, lruCache, func(x *secondaryDBTest) {
		below := &notingSecondaryCache{TestSecondaryCache: x.sec}
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockSize, b.CacheIndexAndFilterBlocks = 4*kib, false
		b.BlockCache = cache.NewCacheAbove(x.T, "lru", 1024*kib, below)
		x.opts.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		x.open()
		defer x.close()
		x.fill(x.db, 0, keys, size)
		x.used(0, keys) // the new file is checked
		empty := func() {
			b.BlockCache.SetCapacity(0)
			b.BlockCache.SetCapacity(1024 * kib)
		}
		empty()
		x.used(keys, keys)
		below.keys = nil
		for i := range keys {
			x.get(x.db, i, size)
		}
		x.used(keys, 2*keys)
		asked := below.keys
		empty()
		x.get(x.db, 2, size)
		x.get(x.db, 7, size)
		x.sec.SetResultMap(map[string]cache.LookupResult{asked[3]: cache.LookupDefer, asked[4]: cache.LookupDeferAndFail, asked[5]: cache.LookupFail})
		before := x.sec.NumLookups()
		ids := make([][]byte, keys)
		for i := range ids {
			ids[i] = tieredKey(i)
		}
		values, errs := make([]rocksdb.PinnableSlice, keys), make([]error, keys)
		x.db.MultiGet(nil, ids, values, errs)
		if n := x.sec.NumLookups() - before; n != 5 { // 0, 1, 3, 4 and 6; 5 is not counted
			x.Errorf("%d lookups", n)
		}
		for i := range values {
			x.check(errs[i])
			if len(values[i].Data()) != size {
				x.Errorf("%d bytes", len(values[i].Data()))
			}
			values[i].Release()
		}
	})
}

// notingSecondaryCache notes the keys it is asked for.
type notingSecondaryCache struct {
	*cache.TestSecondaryCache
	keys []string
}

func (c *notingSecondaryCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, wait, erase bool, stats rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	c.keys = append(c.keys, string(key))
	return c.TestSecondaryCache.Lookup(key, helper, ctx, wait, erase, stats)
}

// Port of cache/lru_cache_test.cc: DBSecondaryCacheTest, dumps of caches. Differs:
// unique ids of files play no part in keys.

package cache_test

import (
	"bytes"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// countingCache counts what is done to a cache.
// Upstream: CacheWithStats.
type countingCache struct {
	rocksdb.CacheWrapper
	inserts, lookups atomic.Int64
}

func (c *countingCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, p rocksdb.CachePriority, want bool) (rocksdb.CacheHandle, error) {
	c.inserts.Add(1)
	return c.Cache.Insert(key, obj, helper, charge, p, want)
}

func (c *countingCache) InsertCompressed(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, p rocksdb.CachePriority, want bool, compressed []byte, typ rocksdb.CompressionType) (rocksdb.CacheHandle, error) {
	c.inserts.Add(1)
	return c.CacheWrapper.InsertCompressed(key, obj, helper, charge, p, want, compressed, typ)
}

func (c *countingCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, p rocksdb.CachePriority, stats rocksdb.Statistics) rocksdb.CacheHandle {
	c.lookups.Add(1)
	return c.Cache.Lookup(key, helper, ctx, p, stats)
}

// dumpTest fills databases of 64 blocks of 4 KiB, whose cache is dumped, and
// loaded below another one.
type dumpTest struct {
	*testing.T
	fs    *fsutil.FaultInjectionTestFS
	o     rocksdb.Options
	cache *countingCache
}

const dumpKeys, dumpBlocks = 256, 64

func newDumpTest(t *testing.T, typ string) *dumpTest {
	x := &dumpTest{T: t, fs: fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())}
	x.o = rocksdb.DefaultOptions()
	x.o.CreateIfMissing, x.o.Env = true, env.NewCompositeEnvWrapper(env.Default(), x.fs, nil)
	x.use(cache.NewCacheAbove(t, typ, 1024*kib, nil))
	return x
}

// use makes databases to be opened use a cache.
func (x *dumpTest) use(c rocksdb.Cache) {
	x.cache = &countingCache{CacheWrapper: rocksdb.CacheWrapper{Cache: c}}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize, b.BlockCache = 4*kib, x.cache
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
}

func (x *dumpTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *dumpTest) open(dir string) *rocksdb.DB {
	x.Helper()
	db, err := rocksdb.Open(dir, x.o)
	x.must(err)
	return db
}

// fill writes keys, from "k" on, with a value of a repeated byte into one table, and
// compacts from "a" to end.
func (x *dumpTest) fill(db *rocksdb.DB, value byte, end string) {
	x.Helper()
	for i := range dumpKeys {
		x.must(db.Put(nil, tieredKey(i), bytes.Repeat([]byte{value}, 1000)))
	}
	x.must(db.Flush(nil))
	x.must(db.CompactRange(nil, []byte("a"), []byte(end)))
}

// read reads all keys and wants so many insertions of blocks; each key is looked
// up once.
func (x *dumpTest) read(db *rocksdb.DB, value byte, inserts int64) {
	x.Helper()
	i0, l0 := x.cache.inserts.Load(), x.cache.lookups.Load()
	for i := range dumpKeys {
		v, err := db.Get(nil, tieredKey(i))
		x.must(err)
		if !bytes.Equal(v.Data(), bytes.Repeat([]byte{value}, 1000)) {
			x.Fatalf("key %d: %.20q", i, v.Data())
		}
		v.Release()
	}
	if i, l := x.cache.inserts.Load()-i0, x.cache.lookups.Load()-l0; i != inserts || l != dumpKeys {
		x.Errorf("%d insertions, %d lookups; want %d, %d", i, l, inserts, dumpKeys)
	}
}

func (x *dumpTest) dump(path string, db *rocksdb.DB) {
	x.Helper()
	w, err := rocksdb.NewToFileCacheDumpWriter(x.fs, nil, path)
	x.must(err)
	d := rocksdb.NewDefaultCacheDumper(rocksdb.CacheDumpOptions{}, x.cache, w)
	x.must(d.SetDumpFilter(db))
	x.must(d.DumpCacheEntriesToWriter())
}

// load puts the dump below a new cache, which is used from now.
func (x *dumpTest) load(path, typ string) *cache.TestSecondaryCache {
	x.Helper()
	sec := cache.NewTestSecondaryCache(x.T, 2048*kib, true)
	x.use(cache.NewCacheAbove(x.T, typ, 1024*kib, sec))
	r, err := rocksdb.NewFromFileCacheDumpReader(x.fs, nil, path)
	x.must(err)
	defer r.Close()
	x.must(rocksdb.NewDefaultCacheDumpedLoader(sec, r).RestoreCacheEntriesToSecondaryCache())
	if sec.NumInserts() != dumpBlocks || sec.NumLookups() != 0 {
		x.Errorf("%d insertions, %d lookups below", sec.NumInserts(), sec.NumLookups())
	}
	return sec
}

func (x *dumpTest) wantFromBelow(sec *cache.TestSecondaryCache) {
	x.Helper()
	if sec.NumInserts() != dumpBlocks || sec.NumLookups() != dumpBlocks {
		x.Errorf("%d insertions, %d lookups below", sec.NumInserts(), sec.NumLookups())
	}
}

func TestDBSecondaryCacheTest_LRUCacheDumpLoadBasic(t *testing.T) {
	for _, typ := range anyCache {
		t.Run(typ, func(t *testing.T) {
			x := newDumpTest(t, typ)
			dir := t.TempDir()
			db := x.open(dir)
			x.fill(db, 'a', "z")
			x.read(db, 'a', dumpBlocks-1) // the compaction has read one
			path := filepath.Join(dir, "cache_dump")
			x.dump(path, db)
			x.must(db.Close())
			sec := x.load(path, typ)
			db = x.open(dir)
			defer db.Close()
			x.read(db, 'a', 0)
			x.wantFromBelow(sec)
		})
	}
}

func TestDBSecondaryCacheTest_LRUCacheDumpLoadWithFilter(t *testing.T) {
	for _, typ := range anyCache {
		t.Run(typ, func(t *testing.T) {
			x := newDumpTest(t, typ)
			dir := t.TempDir()
			db, other := x.open(dir), x.open(t.TempDir())
			x.fill(db, 'a', "b")
			x.fill(other, 'b', "b")
			x.read(db, 'a', dumpBlocks)
			x.read(other, 'b', dumpBlocks)
			path := filepath.Join(dir, "cache_dump")
			x.dump(path, db)
			x.must(db.Close())
			x.must(other.Close())
			sec := x.load(path, typ)
			db = x.open(dir)
			// No file is read.
			x.fs.SetFilesystemActive(false, rocksdb.IOError("Retryable IO Error"))
			x.read(db, 'a', 0)
			x.wantFromBelow(sec)
			x.fs.SetFilesystemActive(true, nil)
			x.must(db.Close())
		})
	}
}

// A dump that is cut off or changed is Corruption.
func TestCacheDump_Damage(t *testing.T) {
	x := newDumpTest(t, "lru")
	dir := t.TempDir()
	db := x.open(dir)
	defer db.Close()
	x.fill(db, 'a', "b")
	path := filepath.Join(dir, "cache_dump")
	x.dump(path, db)
	whole, err := rocksdb.ReadFileToString(x.fs, path, nil)
	x.must(err)
	for _, damaged := range [][]byte{nil, whole[:3], whole[:len(whole)/2], whole[:len(whole)-1], append([]byte{whole[0], 255}, whole[2:]...),
		append(append([]byte(nil), whole[:len(whole)-3]...), 'x', 'y', 'z')} {
		x.must(rocksdb.WriteStringToFile(x.fs, damaged, path, false, nil, nil))
		r, err := rocksdb.NewFromFileCacheDumpReader(x.fs, nil, path)
		x.must(err)
		err = rocksdb.NewDefaultCacheDumpedLoader(cache.NewTestSecondaryCache(t, 2048*kib, true), r).RestoreCacheEntriesToSecondaryCache()
		if !rocksdb.IsCorruption(err) {
			t.Errorf("%d bytes of %d: %v", len(damaged), len(whole), err)
		}
		x.must(r.Close())
	}
}

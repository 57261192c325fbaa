// Port of cache/tiered_secondary_cache_test.cc.

package cache_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
)

// nvmCache is a third tier: bytes as they were given.
type nvmCache struct {
	rocksdb.SecondaryCacheWrapper // of nothing: what is not here is not called
	t                             *testing.T
	readyBeforeWait               bool
	mu                            sync.Mutex
	values                        map[string]nvmValue
	saved, hits, misses           int
	prefix                        []byte
}

type nvmValue struct {
	data []byte
	typ  rocksdb.CompressionType
}

func (c *nvmCache) Name() string            { return "TestSecondaryCache" }
func (c *nvmCache) SupportForceErase() bool { return false }

func (c *nvmCache) Insert([]byte, any, *rocksdb.CacheItemHelper, bool) error {
	c.t.Error("an object goes to the third tier")
	return nil
}

func (c *nvmCache) InsertSaved(key, saved []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.prefix == nil {
		c.prefix = bytes.Clone(key[:8])
	}
	if !bytes.Equal(c.prefix, key[:8]) || source != rocksdb.VolatileTier {
		c.t.Errorf("key %x, tier %d", key, source)
	}
	c.saved++
	c.values[string(key)] = nvmValue{bytes.Clone(saved), typ}
	return nil
}

func (c *nvmCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, wait, _ bool, _ rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	c.mu.Lock()
	v, ok := c.values[string(key)]
	if ok {
		c.hits++
	} else {
		c.misses++
	}
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	obj, size, err := helper.Create(v.data, v.typ, rocksdb.VolatileTier, ctx, nil)
	if err != nil {
		c.t.Error(err)
		return nil, false
	}
	return &nvmResult{obj, size, wait || c.readyBeforeWait}, true
}

func (c *nvmCache) WaitAll(hs []rocksdb.SecondaryCacheResultHandle) {
	for _, h := range hs {
		if h.IsReady() {
			c.t.Error("a result that is ready is waited for")
		}
		h.(*nvmResult).ready = true
	}
}

type nvmResult struct {
	obj   any
	size  int
	ready bool
}

func (r *nvmResult) IsReady() bool { return r.ready }
func (r *nvmResult) Wait()         {}
func (r *nvmResult) Value() any    { return r.obj }
func (r *nvmResult) Size() int     { return r.size }

// tieredDBTest is a database of 4 pairs a block above a tiered cache.
type tieredDBTest struct {
	*testing.T
	cache rocksdb.Cache
	nvm   *nvmCache
	ratio float64
	stats rocksdb.Statistics
	db    *rocksdb.DB
}

const kib = 1024

// newTieredDBTest makes the caches, of KiB; nvm tells of a third tier. set changes
// the database's options.
func newTieredDBTest(t *testing.T, primary, compressed int, nvm bool, policy rocksdb.TieredAdmissionPolicy, readyBeforeWait bool, tier rocksdb.CacheTier, set ...func(o *rocksdb.Options)) *tieredDBTest {
	t.Helper()
	x := &tieredDBTest{T: t, stats: rocksdb.NewStatistics()}
	lru := rocksdb.DefaultLRUCacheOptions(0)
	lru.NumShardBits, lru.HighPriPoolRatio = 0, 0
	o := rocksdb.TieredCacheOptions{
		LRU: &lru, CacheType: rocksdb.CacheTypeLRU, AdmPolicy: policy, TotalCapacity: (primary + compressed) * kib,
		CompCacheOpts: rocksdb.DefaultCompressedSecondaryCacheOptions(0),
	}
	o.CompCacheOpts.NumShardBits = 0
	x.ratio = float64(compressed*kib) / float64(o.TotalCapacity)
	o.CompressedSecondaryRatio = x.ratio
	if nvm {
		x.nvm = &nvmCache{t: t, values: map[string]nvmValue{}, readyBeforeWait: readyBeforeWait}
		o.NvmSecCache = x.nvm
	}
	var err error
	x.cache, err = rocksdb.NewTieredCache(o)
	x.check(err)

	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache, b.BlockSize, b.CacheIndexAndFilterBlocks = x.cache, 4*kib, false
	d := rocksdb.DefaultOptions()
	d.CreateIfMissing, d.Compression, d.Statistics, d.ParanoidFileChecks = true, rocksdb.LZ4Compression, x.stats, false
	d.LowestUsedCacheTier = tier
	d.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	for _, f := range set {
		f(&d)
	}
	x.db, err = rocksdb.Open(t.TempDir(), d)
	x.check(err)
	t.Cleanup(func() { x.check(x.db.Close()) })
	rnd := util.NewRandom(301)
	for i := range 256 {
		half := rnd.RandomString(503)
		x.check(x.db.Put(nil, tieredKey(i), []byte(half+half+"x")))
	}
	x.check(x.db.Flush(nil))
	return x
}

func tieredKey(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }

func (x *tieredDBTest) check(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *tieredDBTest) get(i int) {
	x.Helper()
	v, err := x.db.Get(nil, tieredKey(i))
	x.check(err)
	if len(v.Data()) != 1007 {
		x.Fatalf("%d bytes", len(v.Data()))
	}
	v.Release()
}

func (x *tieredDBTest) multiGet(is ...int) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.AsyncIO = true
	var keys [][]byte
	for _, i := range is {
		keys = append(keys, tieredKey(i))
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	x.db.MultiGet(&ro, keys, values, errs)
	for i := range keys {
		x.check(errs[i])
		if len(values[i].Data()) != 1007 {
			x.Fatalf("%d bytes", len(values[i].Data()))
		}
		values[i].Release()
	}
}

// third checks what has been done to the third tier.
func (x *tieredDBTest) third(saved, misses, hits int) {
	x.Helper()
	if x.nvm.saved != saved || x.nvm.misses != misses || x.nvm.hits != hits {
		x.Fatalf("%d saved, %d misses, %d hits, want %d, %d, %d", x.nvm.saved, x.nvm.misses, x.nvm.hits, saved, misses, hits)
	}
}

func (x *tieredDBTest) blockMisses(want uint64) {
	x.Helper()
	if n := x.stats.GetTickerCount(rocksdb.BlockCacheMiss); n != want {
		x.Fatalf("%d misses of the block cache, want %d", n, want)
	}
}

const (
	autoPolicy = rocksdb.AdmPolicyAuto
	lowestTier = rocksdb.NonVolatileBlockTier
)

func TestDBTieredSecondaryCacheTest_BasicTest(t *testing.T) {
	// The upper cache's 256 KiB are those that the lower one's reservation takes,
	// as reservations come in that size.
	x := newTieredDBTest(t, 256, 5, true, autoPolicy, false, lowestTier)
	x.get(0)
	x.third(1, 1, 0)
	x.get(5)
	x.third(2, 2, 0)
	// From the third tier; placeholders above.
	x.get(0)
	x.third(2, 2, 1)
	// The second time it comes into the upper cache.
	x.get(0)
	x.third(2, 2, 2)
	x.get(0)
	x.third(2, 2, 2)
	// The same for 5, which evicts 0.
	x.get(5)
	x.third(2, 2, 3)
	x.get(5)
	x.third(2, 2, 4)
	x.get(5)
	x.third(2, 2, 4)
	// The compressed cache has 0's placeholder, and takes it now.
	x.get(0)
	x.third(2, 2, 5)
	x.get(0)
	x.third(2, 2, 5)
}

func TestDBTieredSecondaryCacheTest_BasicMultiGetTest(t *testing.T) {
	x := newTieredDBTest(t, 260, 10, true, autoPolicy, false, lowestTier)
	for _, step := range []struct{ first, saved, misses, hits int }{
		{0, 3, 3, 0}, {12, 6, 6, 0}, {0, 6, 6, 3}, {0, 6, 6, 6}, {0, 6, 6, 6}, {12, 6, 6, 9}, {12, 6, 6, 12}, {12, 6, 6, 12},
	} {
		x.multiGet(step.first, step.first+4, step.first+8)
		x.third(step.saved, step.misses, step.hits)
	}
}

func TestDBTieredSecondaryCacheTest_WaitAllTest(t *testing.T) {
	x := newTieredDBTest(t, 250, 20, true, autoPolicy, false, lowestTier)
	x.multiGet(0, 4, 8)
	x.third(3, 3, 0)
	x.multiGet(12, 16, 20)
	x.third(6, 6, 0)
	x.get(4) // placeholders
	x.multiGet(24, 28, 32, 36)
	x.third(10, 10, 1)
	x.get(4) // into the compressed cache
	// 4 is found there at once, the others in the third tier later.
	x.multiGet(0, 4, 8)
	x.third(10, 10, 4)
}

func TestDBTieredSecondaryCacheTest_ReadyBeforeWaitAllTest(t *testing.T) {
	x := newTieredDBTest(t, 250, 20, true, autoPolicy, true, lowestTier)
	x.multiGet(0, 4, 8)
	x.third(3, 3, 0)
	x.blockMisses(3)
	x.multiGet(12, 16, 20)
	x.third(6, 6, 0)
	x.blockMisses(6)
	x.multiGet(0, 4, 8)
	x.third(6, 6, 3)
	x.blockMisses(6)
	// Clear the upper cache.
	x.check(rocksdb.UpdateTieredCache(x.cache, -1, 1, rocksdb.AdmPolicyMax))
	x.check(rocksdb.UpdateTieredCache(x.cache, -1, x.ratio, rocksdb.AdmPolicyMax))
	x.multiGet(0, 32, 36)
	x.third(8, 8, 4)
	x.blockMisses(8)
	x.multiGet(0, 32, 36)
	x.third(8, 8, 4)
	x.blockMisses(8)
}

func TestDBTieredSecondaryCacheTest_IterateTest(t *testing.T) {
	x := newTieredDBTest(t, 250, 10, true, autoPolicy, false, lowestTier)
	for pass := range 2 {
		ro := rocksdb.DefaultReadOptions()
		ro.ReadaheadSize = 256 * kib
		it := x.db.NewIterator(&ro)
		it.SeekToFirst()
		for i := range 31 {
			if !it.Valid() || !bytes.Equal(it.Key(), tieredKey(i)) || len(it.Value()) != 1007 {
				t.Fatalf("at %d: %v", i, it.Err())
			}
			it.Next()
		}
		x.third(8, 8, 8*pass)
		x.check(it.Close())
	}
}

func TestDBTieredSecondaryCacheTest_VolatileTierTest(t *testing.T) {
	x := newTieredDBTest(t, 256, 5, true, autoPolicy, false, rocksdb.VolatileTier)
	x.get(0)
	x.third(0, 0, 0)
}

// eachPolicy runs a test of two tiers.
func eachPolicy(t *testing.T, compressed int, f func(x *tieredDBTest, policy rocksdb.TieredAdmissionPolicy, usage func() int)) {
	for policy, name := range map[rocksdb.TieredAdmissionPolicy]string{
		rocksdb.AdmPolicyAuto: "Auto", rocksdb.AdmPolicyPlaceholder: "Placeholder",
		rocksdb.AdmPolicyAllowCacheHits: "AllowCacheHits", rocksdb.AdmPolicyAllowAll: "AllowAll",
	} {
		t.Run(name, func(t *testing.T) {
			x := newTieredDBTest(t, 256, compressed, false, policy, false, lowestTier)
			f(x, policy, x.cache.(*cache.CacheWithSecondaryAdapter).GetSecondaryCache().(*cache.CompressedSecondaryCache).GetUsage)
		})
	}
}

func TestDBTieredAdmPolicyTest_CompressedOnlyTest(t *testing.T) {
	eachPolicy(t, 10, func(x *tieredDBTest, _ rocksdb.TieredAdmissionPolicy, usage func() int) {
		before := usage()
		x.get(0)
		x.get(5)
		if usage() != before {
			t.Errorf("usage %d, before %d", usage(), before)
		}
	})
}

func TestDBTieredAdmPolicyTest_CompressedCacheAdmission(t *testing.T) {
	eachPolicy(t, 5, func(x *tieredDBTest, policy rocksdb.TieredAdmissionPolicy, usage func() int) {
		before := usage()
		x.get(0)
		x.get(5) // evicts what 0 has loaded
		// A placeholder takes less.
		if more := usage() - before; (more > 128) != (policy == rocksdb.AdmPolicyAllowAll) {
			t.Errorf("policy %d: %d bytes more", policy, more)
		}
	})
}

// bufferFS gives buffers of its own where several reads are asked for.
type bufferFS struct{ rocksdb.FileSystemWrapper }

type bufferFile struct{ rocksdb.FSRandomAccessFile }

func (f bufferFS) SupportedOps() int64 { return 1<<rocksdb.AsyncIO | 1<<rocksdb.FSBuffer }

func (f bufferFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	file, err := f.FileSystem.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return bufferFile{file}, nil
}

func (f bufferFile) MultiRead(reqs []rocksdb.FSReadRequest, o *rocksdb.IOOptions) error {
	for i := range reqs {
		r := &reqs[i]
		own := make([]byte, r.Len)
		r.Result, r.Status = f.Read(r.Offset, r.Len, o, own)
		r.FSScratch = own
	}
	return nil
}

func TestDBTieredSecondaryCacheTest_FSBufferTest(t *testing.T) {
	x := newTieredDBTest(t, 250, 20, true, autoPolicy, true, lowestTier, func(o *rocksdb.Options) {
		o.Env = env.NewCompositeEnvWrapper(env.Default(), bufferFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}, nil)
	})
	x.multiGet(0, 4, 8)
	x.third(3, 3, 0)
	x.get(12)
	x.third(4, 4, 0)
	x.blockMisses(4)
}

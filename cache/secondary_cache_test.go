// Port of cache/lru_cache_test.cc: BasicSecondaryCacheTest.

package cache

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// LookupResult is what a TestSecondaryCache does on a lookup.
type LookupResult int

// The actions: find at once, miss, find in WaitAll, or fail there.
const (
	LookupSuccess LookupResult = iota
	LookupFail
	LookupDefer
	LookupDeferAndFail
)

// TestSecondaryCache keeps bytes in an LRU cache and counts what is done to it.
type TestSecondaryCache struct {
	rocksdb.SecondaryCacheWrapper // of nothing: what is not here is not called
	cache                         *LRUCache
	takesSaved                    bool
	inject                        atomic.Bool
	inserts, lookups              atomic.Uint32
	mu                            struct {
		sync.Mutex
		results map[string]LookupResult
		prefix  []byte
		t       testing.TB
	}
}

// NewTestSecondaryCache makes one of a capacity; takesSaved: InsertSaved inserts.
func NewTestSecondaryCache(t testing.TB, capacity int, takesSaved bool) *TestSecondaryCache {
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.MetadataChargePolicy = 0, dontCharge
	c, err := NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &TestSecondaryCache{cache: c, takesSaved: takesSaved}
	s.mu.t = t
	return s
}

func (s *TestSecondaryCache) Name() string { return "TestSecondaryCache" }

// InjectFailure makes inserts fail.
func (s *TestSecondaryCache) InjectFailure(on bool) { s.inject.Store(on) }

func (s *TestSecondaryCache) SetResultMap(m map[string]LookupResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.results = m
}

func (s *TestSecondaryCache) NumInserts() uint32 { return s.inserts.Load() }
func (s *TestSecondaryCache) NumLookups() uint32 { return s.lookups.Load() }

// checkPrefix checks that all keys begin alike, as those of one file do.
func (s *TestSecondaryCache) checkPrefix(key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.prefix == nil {
		s.mu.prefix = bytes.Clone(key[:8])
	}
	if !bytes.Equal(s.mu.prefix, key[:8]) {
		s.mu.t.Errorf("key %x does not begin with %x", key, s.mu.prefix)
	}
}

func (s *TestSecondaryCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, _ bool) error {
	if s.inject.Load() {
		return rocksdb.Corruption("Insertion Data Corrupted")
	}
	s.checkPrefix(key)
	s.inserts.Add(1)
	b := make([]byte, 8+helper.SizeOf(obj))
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	if err := helper.SaveTo(obj, 0, b[8:]); err != nil {
		return err
	}
	_, err := s.cache.Insert(key, b, noopHelper, len(b)-8, rocksdb.CachePriorityLow, false)
	return err
}

func (s *TestSecondaryCache) InsertSaved(key, saved []byte, _ rocksdb.CompressionType, _ rocksdb.CacheTier) error {
	if !s.takesSaved {
		return nil
	}
	return s.Insert(key, &saved, sliceHelper, true)
}

func (s *TestSecondaryCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, _, _ bool, _ rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	s.mu.Lock()
	result := s.mu.results[string(key)]
	s.mu.Unlock()
	if result == LookupFail {
		return nil, false
	}
	s.lookups.Add(1)
	h := s.cache.Lookup(key, nil, nil, 0, nil)
	if h == nil {
		return nil, false
	}
	defer s.cache.Release(h, false)
	r := &testResult{ready: result == LookupSuccess}
	if result != LookupDeferAndFail {
		var err error
		if r.value, r.size, err = helper.Create(h.Value().([]byte)[8:], rocksdb.NoCompression, rocksdb.VolatileTier, ctx, nil); err != nil {
			return nil, false
		}
	}
	return r, true
}

func (s *TestSecondaryCache) SupportForceErase() bool { return false }
func (s *TestSecondaryCache) Erase([]byte)            {}

func (s *TestSecondaryCache) WaitAll(hs []rocksdb.SecondaryCacheResultHandle) {
	for _, h := range hs {
		h.(*testResult).ready = true
	}
}

func (s *TestSecondaryCache) SetCapacity(int) error { return rocksdb.NotSupported("SetCapacity") }
func (s *TestSecondaryCache) GetCapacity() (int, error) {
	return 0, rocksdb.NotSupported("GetCapacity")
}
func (s *TestSecondaryCache) Deflate(int) error           { return rocksdb.NotSupported("Deflate") }
func (s *TestSecondaryCache) Inflate(int) error           { return rocksdb.NotSupported("Inflate") }
func (s *TestSecondaryCache) GetPrintableOptions() string { return "" }

type testResult struct {
	value any
	size  int
	ready bool
}

func (r *testResult) IsReady() bool { return r.ready }
func (r *testResult) Wait()         {}
func (r *testResult) Value() any    { return r.value }
func (r *testResult) Size() int     { return r.size }

// basicSecTest is a cache of 1024 bytes above a TestSecondaryCache.
type basicSecTest struct {
	*aboveTest
	sec  *TestSecondaryCache
	keys [6][]byte
}

func newBasicSecTest(t *testing.T, typ string, capacity int, strict bool) *basicSecTest {
	t.Helper()
	x := &basicSecTest{sec: NewTestSecondaryCache(t, capacity, true)}
	c := newCacheOfType(t, typ, 1024, 1, func(o *rocksdb.ShardedCacheOptions) {
		o.NumShardBits, o.StrictCapacityLimit, o.MetadataChargePolicy, o.SecondaryCache = 0, strict, dontCharge, x.sec
	})
	x.aboveTest = &aboveTest{&secTest{T: t}, c, monitoring.CreateDBStatistics()}
	for i := range x.keys {
		x.keys[i] = CreateUniqueForCacheLifetime(c).AsSlice()
	}
	return x
}

func (x *basicSecTest) used(inserts, lookups uint32) {
	x.Helper()
	if x.sec.NumInserts() != inserts || x.sec.NumLookups() != lookups {
		x.Fatalf("%d inserts, %d lookups, want %d and %d", x.sec.NumInserts(), x.sec.NumLookups(), inserts, lookups)
	}
}

func (x *basicSecTest) hits(want uint64) {
	x.Helper()
	if n := x.stats.GetTickerCount(rocksdb.SecondaryCacheHits); n != want {
		x.Fatalf("%d hits, want %d", n, want)
	}
	if n := x.cache.(*CacheWithSecondaryAdapter).Counters().SecondaryHits; n != want {
		x.Fatalf("%d hits counted, want %d", n, want)
	}
}

func (x *basicSecTest) warm(key, value []byte) {
	x.Helper()
	if err := x.sec.InsertSaved(key, value, rocksdb.NoCompression, rocksdb.VolatileTier); err != nil {
		x.Fatal(err)
	}
}

func randomStrings(n, size int) (s [][]byte) {
	rnd := util.NewRandom(301)
	for range n {
		s = append(s, []byte(rnd.RandomString(size)))
	}
	return s
}

func TestBasicSecondaryCacheTest_BasicTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := newBasicSecTest(t, typ, 4096, false)
		s := randomStrings(3, 1021)
		x.warm(x.keys[2], s[2])
		x.put(x.keys[0], s[0], itemHelper)
		x.put(x.keys[1], s[1], itemHelper)
		x.get(x.keys[1], s[1], itemHelper)
		x.get(x.keys[0], s[0], itemHelper) // comes up, the other one goes down
		x.get(x.keys[2], s[2], itemHelper)
		x.used(3, 2)
		x.hits(2)
	})
}

func TestBasicSecondaryCacheTest_StatsTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := newBasicSecTest(t, typ, 4096, false)
		s := randomStrings(3, 1020)
		roles := []rocksdb.CacheEntryRole{rocksdb.CacheEntryRoleFilterBlock, rocksdb.CacheEntryRoleIndexBlock, rocksdb.CacheEntryRoleDataBlock}
		for i := range roles {
			x.warm(x.keys[i], s[i])
		}
		for i, role := range roles {
			x.get(x.keys[i], s[i], &itemHelpers[role])
		}
		x.used(3, 3)
		x.hits(3)
		for _, ticker := range []rocksdb.Ticker{rocksdb.SecondaryCacheFilterHits, rocksdb.SecondaryCacheIndexHits, rocksdb.SecondaryCacheDataHits} {
			if n := x.stats.GetTickerCount(ticker); n != 1 {
				t.Errorf("ticker %d is %d", ticker, n)
			}
		}
	})
}

func TestBasicSecondaryCacheTest_BasicFailTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := newBasicSecTest(t, typ, 2048, false)
		s := randomStrings(1, 1020)
		x.put(x.keys[0], s[0], itemHelper)
		x.get(x.keys[1], nil, nil)
		x.get(x.keys[1], nil, itemHelper)
		l := rocksdb.AsyncLookupHandle{Key: x.keys[1], Helper: itemHelper, CreateContext: &x.ctx, Priority: rocksdb.CachePriorityLow}
		rocksdb.StartAsyncLookup(x.cache, &l)
		if rocksdb.WaitAsyncLookup(x.cache, &l) != nil {
			t.Fatal("found")
		}
	})
}

func TestBasicSecondaryCacheTest_SaveFailTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := newBasicSecTest(t, typ, 2048, false)
		s := randomStrings(2, 1020)
		x.put(x.keys[0], s[0], itemFailHelper)
		x.used(0, 0)
		x.put(x.keys[1], s[1], itemFailHelper)
		x.used(1, 0)
		x.get(x.keys[1], s[1], itemFailHelper)
		x.get(x.keys[0], nil, itemFailHelper)
		x.get(x.keys[1], s[1], itemFailHelper)
		x.used(1, 1)
	})
}

func TestBasicSecondaryCacheTest_CreateFailTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := newBasicSecTest(t, typ, 2048, false)
		s := randomStrings(2, 1020)
		x.put(x.keys[0], s[0], itemHelper)
		x.put(x.keys[1], s[1], itemHelper)
		x.ctx.fail = true
		x.get(x.keys[1], s[1], itemHelper)
		x.get(x.keys[0], nil, itemHelper)
		x.get(x.keys[1], s[1], itemHelper)
		x.used(1, 1)
	})
}

func TestBasicSecondaryCacheTest_FullCapacityTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		for _, strict := range []bool{false, true} {
			x := newBasicSecTest(t, typ, 2048, strict)
			s := randomStrings(2, 1020)
			k1, k2 := x.keys[0], x.keys[1]
			plain := itemHelper.WithoutSecondaryCompat
			x.put(k1, s[0], itemHelper)
			x.put(k2, s[1], itemHelper)
			h2 := x.cache.Lookup(k2, itemHelper, &x.ctx, rocksdb.CachePriorityLow, nil)
			if h2 == nil {
				t.Fatal("2 is missing")
			}
			x.get(k1, nil, plain)
			// There is no room in the cache, the lookup succeeds all the same.
			h1 := x.cache.Lookup(k1, itemHelper, &x.ctx, rocksdb.CachePriorityLow, nil)
			if h1 == nil {
				t.Fatal("1 is missing")
			}
			x.used(1, 1)
			// 2 goes if 1 was charged; a HyperClockCache does not look at the
			// capacity on a release.
			x.cache.Release(h2, false)
			x.cache.Release(h1, false)
			if strict || typ != "lru" {
				x.get(k2, s[1], plain)
			} else {
				x.get(k2, nil, plain)
			}
			x.used(1, 1)
		}
	})
}

func TestBasicSecondaryCacheTest_BasicWaitAllTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		x := &basicSecTest{sec: NewTestSecondaryCache(t, 32*1024, false)}
		c := newCacheOfType(t, typ, 1024, 1, func(o *rocksdb.ShardedCacheOptions) {
			o.NumShardBits, o.MetadataChargePolicy, o.SecondaryCache = 2, dontCharge, x.sec
		})
		x.aboveTest = &aboveTest{&secTest{T: t}, c, nil}
		const n = 32
		file := NewOffsetableCacheKey("foo", "bar", 1)
		var keys, values [][]byte
		for i, v := range randomStrings(n, 1020) {
			k := file.WithOffset(uint64(i)).AsSlice()
			x.put(k, v, itemHelper)
			keys, values = append(keys, k), append(values, v)
		}
		if typ == "lru" {
			c.SetCapacity(0) // all goes down
		} else { // it does not act at once
			for i := uint64(9000); i < 9030; i++ {
				if _, err := c.Insert(file.WithOffset(i).AsSlice(), nil, noopItemHelper, 256, rocksdb.CachePriorityLow, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		x.used(n, 0)
		c.SetCapacity(32 * 1024)
		x.sec.SetResultMap(map[string]LookupResult{
			string(keys[3]): LookupDefer, string(keys[4]): LookupDeferAndFail, string(keys[5]): LookupFail,
		})
		var hs []*rocksdb.AsyncLookupHandle
		for _, k := range keys[:6] {
			l := &rocksdb.AsyncLookupHandle{Key: k, Helper: itemHelper, CreateContext: &x.ctx, Priority: rocksdb.CachePriorityLow}
			hs = append(hs, l)
			rocksdb.StartAsyncLookup(c, l)
		}
		c.(rocksdb.TieredCache).WaitAll(hs)
		for i, l := range hs {
			if l.IsPending() {
				t.Fatalf("lookup %d is pending", i)
			}
			if i == 4 || i == 5 {
				if l.Result != nil {
					t.Fatalf("lookup %d did not fail", i)
				}
				continue
			}
			if l.Result == nil || !bytes.Equal(l.Result.Value().(*testItem).buf, values[i]) {
				t.Fatalf("lookup %d: found %t", i, l.Result != nil)
			}
			c.Release(l.Result, false)
		}
	})
}

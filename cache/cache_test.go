// Port of cache/cache_test.cc.

package cache

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	testCacheSize    = 1000
	testNumShardBits = 4
)

type cacheTest struct {
	*testing.T
	cache   *LRUCache
	deleted []int
	helper  *rocksdb.CacheItemHelper
}

func newTestCache(t *testing.T, capacity, shardBits int, strict bool, policy rocksdb.CacheMetadataChargePolicy) *LRUCache {
	t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.StrictCapacityLimit, o.MetadataChargePolicy = shardBits, strict, policy
	c, err := NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const dontCharge = rocksdb.DontChargeCacheMetadata

func newCacheTest(t *testing.T) *cacheTest {
	c := &cacheTest{T: t, cache: newTestCache(t, testCacheSize, testNumShardBits, false, dontCharge)}
	c.helper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc, Deleter: func(o any) { c.deleted = append(c.deleted, o.(int)) }}
	return c
}

func encodeKey(k int) []byte { return util.AppendFixed32(nil, uint32(k)) }

func (c *cacheTest) lookup(key int) int {
	h := c.cache.Lookup(encodeKey(key), nil, nil, 0, nil)
	if h == nil {
		return -1
	}
	v := h.Value().(int)
	c.cache.Release(h, false)
	return v
}

func (c *cacheTest) insert(key, value int, charge ...int) {
	c.Helper()
	n := 1
	if len(charge) > 0 {
		n = charge[0]
	}
	if _, err := c.cache.Insert(encodeKey(key), value, c.helper, n, rocksdb.CachePriorityHigh, false); err != nil {
		c.Fatal(err)
	}
}

func (c *cacheTest) erase(key int) { c.cache.Erase(encodeKey(key)) }

func equal[T comparable](t testing.TB, want, got T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func mustInsert(t *testing.T, c *LRUCache, key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, handle bool) rocksdb.CacheHandle {
	t.Helper()
	h, err := c.Insert(key, obj, helper, charge, rocksdb.CachePriorityLow, handle)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCacheTest_UsageTest(t *testing.T) {
	const capacity = 100000
	cache := newTestCache(t, capacity, 6, false, dontCharge)
	precise := newTestCache(t, capacity, 0, false, rocksdb.FullChargeCacheMetadata)
	equal(t, 0, cache.GetUsage())
	equal(t, 0, precise.GetUsage())
	usage := 0
	for i := 1; i < 100; i++ {
		key := encodeKey(i)
		n := len(key) + 5
		mustInsert(t, cache, key, "abcdef", noopHelper, n, false)
		mustInsert(t, precise, key, "abcdef", noopHelper, n, false)
		usage += n
		equal(t, usage, cache.GetUsage())
		if usage >= precise.GetUsage() {
			t.Fatal("metadata is not charged")
		}
	}
	cache.EraseUnRefEntries()
	precise.EraseUnRefEntries()
	equal(t, 0, cache.GetUsage())
	equal(t, 0, precise.GetUsage())
	for i := 1; i < capacity; i++ {
		key := encodeKey(1000 + i)
		mustInsert(t, cache, key, "abcdef", noopHelper, len(key)+5, false)
		mustInsert(t, precise, key, "abcdef", noopHelper, len(key)+5, false)
	}
	for _, c := range []*LRUCache{cache, precise} {
		if u := c.GetUsage(); u >= capacity || u <= capacity*95/100 {
			t.Fatalf("usage %d is not close to capacity", u)
		}
	}
}

func TestCacheTest_PinnedUsageTest(t *testing.T) {
	const capacity = 200000
	cache := newTestCache(t, capacity, 8, false, dontCharge)
	precise := newTestCache(t, capacity, 8, false, rocksdb.FullChargeCacheMetadata)
	pinned := 0
	var handles, preciseHandles []rocksdb.CacheHandle
	check := func() {
		t.Helper()
		equal(t, pinned, cache.GetPinnedUsage())
		if pinned >= precise.GetPinnedUsage() && pinned > 0 {
			t.Fatal("metadata is not charged")
		}
	}
	for i := 1; i < 100; i++ {
		key := encodeKey(i)
		n := len(key) + 5
		h := mustInsert(t, cache, key, "abcdef", noopHelper, n, true)
		p := mustInsert(t, precise, key, "abcdef", noopHelper, n, true)
		pinned += n
		check()
		if i%2 == 0 {
			cache.Release(h, false)
			precise.Release(p, false)
			pinned -= n
			check()
		} else {
			handles, preciseHandles = append(handles, h), append(preciseHandles, p)
		}
		if i%3 == 0 {
			handles = append(handles, cache.Lookup(key, nil, nil, 0, nil))
			preciseHandles = append(preciseHandles, precise.Lookup(key, nil, nil, 0, nil))
			if i%2 == 0 {
				pinned += n
			}
			check()
		}
	}
	precisePinned := precise.GetPinnedUsage()
	for i := 1; i < 2*capacity; i++ {
		key := encodeKey(1000 + i)
		mustInsert(t, cache, key, "abcdef", noopHelper, len(key)+5, false)
		mustInsert(t, precise, key, "abcdef", noopHelper, len(key)+5, false)
	}
	equal(t, pinned, cache.GetPinnedUsage())
	equal(t, precisePinned, precise.GetPinnedUsage())
	cache.EraseUnRefEntries()
	precise.EraseUnRefEntries()
	equal(t, pinned, cache.GetPinnedUsage())
	equal(t, precisePinned, precise.GetPinnedUsage())
	for i := range handles {
		cache.Release(handles[i], false)
		precise.Release(preciseHandles[i], false)
	}
	equal(t, 0, cache.GetPinnedUsage())
	equal(t, 0, precise.GetPinnedUsage())
	cache.EraseUnRefEntries()
	precise.EraseUnRefEntries()
	equal(t, 0, cache.GetUsage())
	equal(t, 0, precise.GetUsage())
}

func TestCacheTest_HitAndMiss(t *testing.T) {
	c := newCacheTest(t)
	equal(t, -1, c.lookup(100))
	c.insert(100, 101)
	equal(t, 101, c.lookup(100))
	equal(t, -1, c.lookup(200))
	equal(t, -1, c.lookup(300))
	c.insert(200, 201)
	equal(t, 101, c.lookup(100))
	equal(t, 201, c.lookup(200))
	equal(t, -1, c.lookup(300))
	c.insert(100, 102)
	equal(t, 102, c.lookup(100))
	equal(t, 201, c.lookup(200))
	equal(t, -1, c.lookup(300))
	equal(t, 1, len(c.deleted))
	equal(t, 101, c.deleted[0])
}

func TestCacheTest_InsertSameKey(t *testing.T) {
	c := newCacheTest(t)
	c.insert(1, 1)
	c.insert(1, 2)
	equal(t, 2, c.lookup(1))
}

func TestCacheTest_Erase(t *testing.T) {
	c := newCacheTest(t)
	c.erase(200)
	equal(t, 0, len(c.deleted))
	c.insert(100, 101)
	c.insert(200, 201)
	for range 2 {
		c.erase(100)
		equal(t, -1, c.lookup(100))
		equal(t, 201, c.lookup(200))
		equal(t, 1, len(c.deleted))
		equal(t, 101, c.deleted[0])
	}
}

func TestCacheTest_EntriesArePinned(t *testing.T) {
	c := newCacheTest(t)
	c.insert(100, 101)
	h1 := c.cache.Lookup(encodeKey(100), nil, nil, 0, nil)
	equal(t, 101, h1.Value().(int))
	equal(t, 1, c.cache.GetUsage())
	c.insert(100, 102)
	h2 := c.cache.Lookup(encodeKey(100), nil, nil, 0, nil)
	equal(t, 102, h2.Value().(int))
	equal(t, 0, len(c.deleted))
	equal(t, 2, c.cache.GetUsage())
	c.cache.Release(h1, false)
	equal(t, 1, len(c.deleted))
	equal(t, 101, c.deleted[0])
	equal(t, 1, c.cache.GetUsage())
	c.erase(100)
	equal(t, -1, c.lookup(100))
	equal(t, 1, len(c.deleted))
	equal(t, 1, c.cache.GetUsage())
	c.cache.Release(h2, false)
	equal(t, 2, len(c.deleted))
	equal(t, 102, c.deleted[1])
	equal(t, 0, c.cache.GetUsage())
}

func TestCacheTest_EvictionPolicy(t *testing.T) {
	c := newCacheTest(t)
	c.insert(100, 101)
	c.insert(200, 201)
	for i := range 2 * testCacheSize {
		c.insert(1000+i, 2000+i)
		equal(t, 101, c.lookup(100))
	}
	equal(t, 101, c.lookup(100))
	equal(t, -1, c.lookup(200))
}

func TestCacheTest_ExternalRefPinsEntries(t *testing.T) {
	c := newCacheTest(t)
	c.insert(100, 101)
	h := c.cache.Lookup(encodeKey(100), nil, nil, 0, nil)
	equal(t, true, c.cache.Ref(h))
	equal(t, 101, h.Value().(int))
	equal(t, 1, c.cache.GetUsage())
	for i := range 3 {
		if i > 0 {
			c.cache.Release(h, false)
		}
		for j := range 2*testCacheSize + 100 {
			c.insert(1000+j, 2000+j)
		}
		if i < 2 {
			equal(t, 101, c.lookup(100))
		}
	}
	equal(t, -1, c.lookup(100))
}

func TestCacheTest_EvictionPolicyRef(t *testing.T) {
	c := newCacheTest(t)
	for i := range 4 {
		c.insert(100+i, 101+i)
	}
	for i := range 4 {
		c.insert(200+i, 101+i)
	}
	var handles []rocksdb.CacheHandle
	for i := range 4 {
		handles = append(handles, c.cache.Lookup(encodeKey(200+i), nil, nil, 0, nil))
	}
	for i := range 4 {
		c.insert(300+i, 101+i)
	}
	for i := range 100 * testCacheSize {
		c.insert(1000+i, 2000+i)
	}
	for i := range 4 {
		equal(t, -1, c.lookup(100+i))
		equal(t, -1, c.lookup(300+i))
		equal(t, 101+i, c.lookup(200+i))
	}
	for _, h := range handles {
		c.cache.Release(h, false)
	}
}

func TestCacheTest_EvictEmptyCache(t *testing.T) {
	c := newTestCache(t, 1, 0, false, dontCharge)
	mustInsert(t, c, encodeKey(1000), nil, noopHelper, 10, false)
	equal(t, 0, c.GetUsage())
}

func TestCacheTest_EraseFromDeleter(t *testing.T) {
	c := newTestCache(t, 10, 0, false, dontCharge)
	foo, bar := encodeKey(1234), encodeKey(5678)
	erases := &rocksdb.CacheItemHelper{Deleter: func(any) { c.Erase(foo) }}
	mustInsert(t, c, foo, nil, noopHelper, 1, false)
	mustInsert(t, c, bar, nil, erases, 1, false)
	c.Erase(bar)
	equal(t, nil, c.Lookup(foo, nil, nil, 0, nil))
	equal(t, nil, c.Lookup(bar, nil, nil, 0, nil))
}

func TestCacheTest_ErasedHandleState(t *testing.T) {
	c := newCacheTest(t)
	c.insert(100, 1000)
	h1 := c.cache.Lookup(encodeKey(100), nil, nil, 0, nil)
	h2 := c.cache.Lookup(encodeKey(100), nil, nil, 0, nil)
	equal(t, h1, h2)
	equal(t, 1000, h1.Value().(int))
	c.erase(100)
	equal(t, -1, c.lookup(100))
	c.cache.Release(h1, false)
	equal(t, -1, c.lookup(100))
	equal(t, 0, len(c.deleted))
	c.cache.Release(h2, false)
	equal(t, 1, len(c.deleted))
}

func TestCacheTest_HeavyEntries(t *testing.T) {
	c := newCacheTest(t)
	weight := func(i int) int {
		if i&1 != 0 {
			return 1
		}
		return 10
	}
	index := 0
	for added := 0; added < 2*testCacheSize; index++ {
		c.insert(index, 1000+index, weight(index))
		added += weight(index)
	}
	cached := 0
	for i := range index {
		if r := c.lookup(i); r >= 0 {
			cached += weight(i)
			equal(t, 1000+i, r)
		}
	}
	if cached > testCacheSize+testCacheSize/10 {
		t.Fatalf("weight %d is cached", cached)
	}
}

func TestCacheTest_NewId(t *testing.T) {
	c := newCacheTest(t)
	if a, b := c.cache.NewID(), c.cache.NewID(); a == b {
		t.Fatalf("%d twice", a)
	}
}

func TestCacheTest_ReleaseAndErase(t *testing.T) {
	c := newCacheTest(t)
	c.cache = newTestCache(t, 5, 0, false, dontCharge)
	h := mustInsert(t, c.cache, encodeKey(100), 100, c.helper, 1, true)
	equal(t, 5, c.cache.GetCapacity())
	equal(t, 1, c.cache.GetUsage())
	equal(t, 0, len(c.deleted))
	equal(t, true, c.cache.Release(h, true))
	equal(t, 1, len(c.deleted))
}

func TestCacheTest_ReleaseWithoutErase(t *testing.T) {
	c := newCacheTest(t)
	c.cache = newTestCache(t, 5, 0, false, dontCharge)
	h := mustInsert(t, c.cache, encodeKey(100), 100, c.helper, 1, true)
	equal(t, 5, c.cache.GetCapacity())
	equal(t, 1, c.cache.GetUsage())
	equal(t, 0, len(c.deleted))
	equal(t, false, c.cache.Release(h, false))
	equal(t, 0, len(c.deleted))
}

func TestCacheTest_SetCapacity(t *testing.T) {
	c := newTestCache(t, 5, 0, false, dontCharge)
	handles := make([]rocksdb.CacheHandle, 10)
	check := func(capacity, usage int) {
		t.Helper()
		equal(t, capacity, c.GetCapacity())
		equal(t, usage, c.GetUsage())
	}
	for i := range 5 {
		handles[i] = mustInsert(t, c, encodeKey(i+1), i+1, noopHelper, 1, true)
	}
	check(5, 5)
	c.SetCapacity(10)
	check(10, 5)
	for i := 5; i < 10; i++ {
		handles[i] = mustInsert(t, c, encodeKey(i+1), i+1, noopHelper, 1, true)
	}
	check(10, 10)
	for i := range 5 {
		c.Release(handles[i], false)
	}
	check(10, 10)
	c.SetCapacity(7)
	check(7, 7)
	for i := 5; i < 10; i++ {
		c.Release(handles[i], false)
	}
	c.DisownData()
	check(7, 7)
}

func isMemoryLimit(err error) bool {
	return errors.Is(err, &rocksdb.Status{Code: rocksdb.CodeAborted, SubCode: rocksdb.SubCodeMemoryLimit})
}

func TestLRUCacheTest_SetStrictCapacityLimit(t *testing.T) {
	c := newTestCache(t, 5, 0, false, dontCharge)
	handles := make([]rocksdb.CacheHandle, 10)
	for i := range 10 {
		if handles[i] = mustInsert(t, c, encodeKey(i+1), i+1, noopHelper, 1, true); handles[i] == nil {
			t.Fatal("no handle")
		}
	}
	equal(t, 10, c.GetUsage())
	extra := encodeKey(100)
	c.SetStrictCapacityLimit(true)
	h, err := c.Insert(extra, 0, noopHelper, 1, rocksdb.CachePriorityLow, true)
	equal(t, true, isMemoryLimit(err))
	equal(t, nil, h)
	equal(t, 10, c.GetUsage())
	for _, h := range handles {
		c.Release(h, false)
	}

	c2 := newTestCache(t, 5, 0, true, dontCharge)
	for i := range 5 {
		handles[i] = mustInsert(t, c2, encodeKey(i+1), i+1, noopHelper, 1, true)
	}
	h, err = c2.Insert(extra, 0, noopHelper, 1, rocksdb.CachePriorityLow, true)
	equal(t, true, isMemoryLimit(err))
	equal(t, nil, h)
	mustInsert(t, c2, extra, 0, noopHelper, 1, false)
	equal(t, 5, c2.GetUsage())
	equal(t, nil, c2.Lookup(extra, nil, nil, 0, nil))
	for i := range 5 {
		c2.Release(handles[i], false)
	}
}

func TestCacheTest_OverCapacity(t *testing.T) {
	const n = 10
	c := newTestCache(t, n, 0, false, dontCharge)
	var handles []rocksdb.CacheHandle
	for i := range n + 1 {
		handles = append(handles, mustInsert(t, c, encodeKey(i+1), i+1, noopHelper, 1, true))
	}
	for i := range n + 1 {
		h := c.Lookup(encodeKey(i+1), nil, nil, 0, nil)
		if h == nil {
			t.Fatalf("key %d is not there", i+1)
		}
		c.Release(h, false)
	}
	equal(t, n+1, c.GetUsage())
	for _, h := range handles {
		c.Release(h, false)
	}
	equal(t, n, c.GetUsage())
	for i := range n + 1 {
		h := c.Lookup(encodeKey(i+1), nil, nil, 0, nil)
		equal(t, i != 0, h != nil)
		if h != nil {
			c.Release(h, false)
		}
	}
}

func TestCacheTest_ApplyToAllEntriesTest(t *testing.T) {
	c := newCacheTest(t)
	var want, got []string
	for i := range 10 {
		c.insert(i, i*2, i+1)
		want = append(want, fmt.Sprintf("%d,%d,%d", i, i*2, i+1))
	}
	c.cache.ApplyToAllEntries(func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper) {
		got = append(got, fmt.Sprintf("%d,%d,%d", util.DecodeFixed32(key), obj, charge))
		equal(t, c.helper, helper)
	})
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestCacheTest_ApplyToAllEntriesDuringResize(t *testing.T) {
	const special = 100
	c := newCacheTest(t)
	usage := 0
	for i := range special {
		c.insert(i, i*2, 2)
		usage += 2
	}
	seen := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.cache.ApplyToAllEntries(func(_ []byte, _ any, charge int, _ *rocksdb.CacheItemHelper) {
			if charge == 2 {
				seen++
			}
		})
	}()
	for i := special; i < special*5; i++ {
		c.insert(i, i*2, 1)
		usage++
	}
	<-done
	equal(t, usage, c.cache.GetUsage())
	equal(t, special, seen)
}

func TestCacheTest_ApplyToHandleTest(t *testing.T) {
	c := newCacheTest(t)
	for i := range 10 {
		c.insert(i, i*2, i+1)
	}
	for i := range 10 {
		h := c.cache.Lookup(encodeKey(i), nil, nil, 0, nil)
		called := false
		c.cache.ApplyToHandle(h, func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper) {
			called = true
			equal(t, i, int(util.DecodeFixed32(key)))
			equal(t, i*2, obj.(int))
			equal(t, i+1, charge)
			equal(t, c.helper, helper)
		})
		equal(t, true, called)
		c.cache.Release(h, false)
	}
}

func TestCacheTest_DefaultShardBits(t *testing.T) {
	for _, c := range []struct{ capacity, want int }{
		{32 * DefaultMinShardSize, 5}, {DefaultMinShardSize / 1000 * 999, 0}, {3 << 30, 6}, {128 * DefaultMinShardSize, 6},
	} {
		equal(t, c.want, newTestCache(t, c.capacity, -1, false, dontCharge).GetNumShardBits())
	}
}

func TestCacheTest_GetChargeAndDeleter(t *testing.T) {
	c := newCacheTest(t)
	c.insert(1, 2)
	h := c.cache.Lookup(encodeKey(1), nil, nil, 0, nil)
	equal(t, 2, h.Value().(int))
	equal(t, 1, c.cache.GetCharge(h))
	equal(t, c.helper, c.cache.GetCacheItemHelper(h))
	c.cache.Release(h, false)
}

func newSeededCache(t *testing.T, seed int32) (c *LRUCache, ordered bool) {
	t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(2)
	o.HashSeed, o.NumShardBits, o.MetadataChargePolicy = seed, 0, dontCharge
	c, err := NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	mustInsert(t, c, encodeKey(1), nil, noopHelper, 1, false)
	mustInsert(t, c, encodeKey(2), nil, noopHelper, 1, false)
	var keys [][]byte
	c.ApplyToAllEntries(func(key []byte, _ any, _ int, _ *rocksdb.CacheItemHelper) { keys = append(keys, bytes.Clone(key)) })
	equal(t, 2, len(keys))
	return c, bytes.Compare(keys[0], keys[1]) < 0
}

func TestCacheTest_CacheUniqueSeeds(t *testing.T) {
	seen := map[uint32]bool{}
	var orders [2]bool
	for range 20000 {
		c, ordered := newSeededCache(t, rocksdb.QuasiRandomHashSeed)
		equal(t, false, seen[c.GetHashSeed()])
		seen[c.GetHashSeed()] = true
		if ordered {
			orders[1] = true
		} else {
			orders[0] = true
		}
	}
	equal(t, [2]bool{true, true}, orders)
}

func TestCacheTest_CacheHostSeed(t *testing.T) {
	first, firstOrder := newSeededCache(t, rocksdb.HostHashSeed)
	for i := range 10 {
		seed := rocksdb.HostHashSeed
		if i == 5 {
			seed = int32(first.GetHashSeed())
		}
		c, ordered := newSeededCache(t, seed)
		equal(t, first.GetHashSeed(), c.GetHashSeed())
		equal(t, firstOrder, ordered)
	}
}

// Port of cache/cache_reservation_manager_test.cc.

package cache

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	entry            = DummyEntrySize
	metadataOverhead = 10000
)

type reservationTest struct {
	*testing.T
	cache *LRUCache
	m     *CacheReservationManager
}

func newReservationTest(t *testing.T, capacity int, strict, delayed bool) *reservationTest {
	c := newTestCache(t, capacity, 0, strict, rocksdb.FullChargeCacheMetadata)
	return &reservationTest{t, c, NewCacheReservationManager(c, rocksdb.CacheEntryRoleMisc, delayed)}
}

func (r *reservationTest) update(n int) {
	r.Helper()
	if err := r.m.UpdateCacheReservation(n); err != nil {
		r.Fatal(err)
	}
}

func (r *reservationTest) check(used, entries int) {
	r.Helper()
	equal(r, used, r.m.GetTotalMemoryUsed())
	equal(r, entries*entry, r.m.GetTotalReservedCacheSize())
	r.checkPinned(entries * entry)
}

func (r *reservationTest) checkPinned(n int) {
	r.Helper()
	if p := r.cache.GetPinnedUsage(); p < n || p >= n+metadataOverhead {
		r.Fatalf("pinned usage is %d, want %d", p, n)
	}
}

func TestCacheReservationManagerTest_GenerateCacheKey(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(entry)
	r.checkPinned(entry)
	key := CreateUniqueForCacheLifetime(r.cache)
	key.offsetEtc64--
	equal(t, CacheKey{0, 2}, key)
	h := r.cache.Lookup(key.AsSlice(), nil, nil, 0, nil)
	if h == nil {
		t.Fatal("the placeholder is not under this key")
	}
	r.cache.Release(h, false)
}

func TestCacheReservationManagerTest_KeepCacheReservationTheSame(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(entry)
	r.check(entry, 1)
	pinned := r.cache.GetPinnedUsage()
	r.update(entry)
	r.check(entry, 1)
	equal(t, pinned, r.cache.GetPinnedUsage())
}

func TestCacheReservationManagerTest_IncreaseCacheReservationByMultiplesOfDummyEntrySize(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(2 * entry)
	r.check(2*entry, 2)
}

func TestCacheReservationManagerTest_IncreaseCacheReservationNotByMultiplesOfDummyEntrySize(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(2*entry + entry/2)
	r.check(2*entry+entry/2, 3)
}

func TestCacheReservationManagerIncreaseReservcationOnFullCacheTest_IncreaseCacheReservationOnFullCache(t *testing.T) {
	const small = 4 * entry
	r := newReservationTest(t, small, true, false)
	full := func() {
		t.Helper()
		equal(t, true, isMemoryLimit(r.m.UpdateCacheReservation(small+1)))
		equal(t, small+1, r.m.GetTotalMemoryUsed())
		for _, n := range []int{r.m.GetTotalReservedCacheSize(), r.cache.GetPinnedUsage()} {
			if n < entry || n > small {
				t.Fatalf("%d bytes are reserved", n)
			}
		}
	}
	full()
	r.update(small / 2)
	r.check(small/2, 2)
	full()
	r.cache.SetCapacity(4096 * entry)
	r.update(small + 1)
	r.check(small+1, 5)
}

func TestCacheReservationManagerTest_DecreaseCacheReservationByMultiplesOfDummyEntrySize(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(2 * entry)
	r.check(2*entry, 2)
	r.update(entry)
	r.check(entry, 1)
}

func TestCacheReservationManagerTest_DecreaseCacheReservationNotByMultiplesOfDummyEntrySize(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(2 * entry)
	r.check(2*entry, 2)
	r.update(entry / 2)
	r.check(entry/2, 1)
}

func TestCacheReservationManagerWithDelayedDecreaseTest_DecreaseCacheReservationWithDelayedDecrease(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, true)
	r.update(8 * entry)
	r.check(8*entry, 8)
	pinned := r.cache.GetPinnedUsage()
	for _, n := range []int{6, 7} {
		r.update(n * entry)
		r.check(n*entry, 8)
		equal(t, pinned, r.cache.GetPinnedUsage())
	}
	r.update(6*entry - 1)
	r.check(6*entry-1, 6)
}

func TestCacheReservationManagerDestructorTest_ReleaseRemainingDummyEntriesOnDestruction(t *testing.T) {
	r := newReservationTest(t, 4096*entry, false, false)
	r.update(entry)
	r.checkPinned(entry)
	r.m.Close()
	equal(t, 0, r.cache.GetPinnedUsage())
}

func TestCacheReservationHandleTest_HandleTest(t *testing.T) {
	r := newReservationTest(t, 1<<30, false, false)
	h1, err := r.m.MakeCacheReservation(entry)
	equal(t, nil, err)
	r.check(entry, 1)
	h2, err := r.m.MakeCacheReservation(2 * entry)
	equal(t, nil, err)
	r.check(3*entry, 3)
	h1.Release()
	h1.Release()
	r.check(2*entry, 2)
	h2.Release()
	r.check(0, 0)
	equal(t, 0, r.cache.GetPinnedUsage())

	c := NewConcurrentCacheReservationManager(r.m)
	equal(t, nil, c.UpdateCacheReservationBy(3*entry))
	equal(t, 3*entry, c.GetTotalMemoryUsed())
	h3, err := c.MakeCacheReservation(entry)
	equal(t, nil, err)
	equal(t, 4*entry, c.GetTotalReservedCacheSize())
	h3.Release()
	equal(t, nil, c.UpdateCacheReservationBy(-5*entry))
	equal(t, 0, c.GetTotalReservedCacheSize())
}

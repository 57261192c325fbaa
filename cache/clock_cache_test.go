// Port of cache/lru_cache_test.cc: ClockCacheTest.

package cache

import (
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type clockTest struct {
	*testing.T
	s *clockShard
}

// clockKind is a kind of table.
type clockKind bool

const (
	fixedTable clockKind = false
	autoTables clockKind = true
)

// eachClockTable runs a test for both.
func eachClockTable(t *testing.T, f func(t *testing.T, kind clockKind)) {
	t.Run("Fixed", func(t *testing.T) { f(t, fixedTable) })
	t.Run("Auto", func(t *testing.T) { f(t, autoTables) })
}

func (k clockKind) newTest(t *testing.T, capacity int, strict bool, effortCap int) clockTest {
	o := rocksdb.DefaultHyperClockCacheOptions(capacity)
	o.StrictCapacityLimit, o.EvictionEffortCap, o.MetadataChargePolicy = strict, effortCap, rocksdb.DontChargeCacheMetadata
	s := new(clockShard)
	if k == autoTables {
		s.initAuto(capacity, 1, &o)
	} else {
		s.init(capacity, 1, &o)
	}
	return clockTest{t, s}
}

// deleteCounter counts how often its deleter ran.
type deleteCounter struct{ deleted int }

var deleteCounterHelper = &rocksdb.CacheItemHelper{
	Role:    rocksdb.CacheEntryRoleMisc,
	Deleter: func(obj any) { obj.(*deleteCounter).deleted++ },
}

// badHash varies in bits that choose no slot, cheapHash in all.
func badHash(key int) *[2]uint64 { return &[2]uint64{uint64(key)<<56 + 1234, 5678} }
func cheapHash(i uint64) *[2]uint64 {
	return &[2]uint64{i * 0x85EBCA77C2B2AE63, i * 0xC2B2AE3D27D4EB4F}
}

func (c clockTest) insertAt(hash *[2]uint64, charge int, p rocksdb.CachePriority, wantHandle bool) (*ClockHandle, error) {
	return c.s.insert(&clockEntry{*hash, nil, noopHelper, charge}, p, wantHandle)
}

func (c clockTest) insert(key byte, p rocksdb.CachePriority) error {
	_, err := c.insertAt(badHash(int(key)), 1, p, false)
	return err
}

func (c clockTest) lookup(key byte, useful bool) bool {
	h := c.s.lookup(badHash(int(key)))
	if h == nil {
		return false
	}
	c.s.release(h, useful, false)
	return true
}

// full checks that an insert fails for a full cache, or not.
func (c clockTest) full(err error, want bool) {
	c.Helper()
	if want != isMemoryLimit(err) || !want && err != nil {
		c.Fatalf("%v, want full: %t", err, want)
	}
}

func TestClockCacheTest_Misc(t *testing.T) { eachClockTable(t, testClockMisc) }

func testClockMisc(t *testing.T, kind clockKind) {
	o := rocksdb.DefaultHyperClockCacheOptions(1 << 20)
	if kind == fixedTable {
		o.EstimatedEntryCharge = 4096
	}
	c, err := NewHyperClockCache(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{16, 15, 17, 1000, 11, 0} {
		_, err := c.Insert(make([]byte, n), nil, noopHelper, 1, rocksdb.CachePriorityLow, false)
		if (err == nil) != (n == CacheKeySize) {
			t.Errorf("key of %d bytes: %v", n, err)
		}
	}
	if c.Lookup(make([]byte, 15), nil, nil, 0, nil) != nil || c.Ref(nil) || c.Release(nil, false) {
		t.Error("found")
	}
	c.Erase(make([]byte, 15))
}

func TestClockCacheTest_Limits(t *testing.T) { eachClockTable(t, testClockLimits) }

func testClockLimits(t *testing.T, kind clockKind) {
	const capacity = 64
	c := kind.newTest(t, capacity, false, 30)
	for _, strict := range []bool{false, true, false} {
		c.s.strict.Store(strict)
		_, err := c.insertAt(badHash('x'), capacity+2, rocksdb.CachePriorityLow, false)
		c.full(err, strict)
		h, err := c.insertAt(badHash('x'), capacity, rocksdb.CachePriorityLow, true)
		c.full(err, false)
		c.full(c.insert('a', rocksdb.CachePriorityLow), strict)
		c.s.release(h, false, false)

		// More than the table holds, first of charge 0.
		const n = capacity*5 + 1
		var held []*ClockHandle
		err = nil
		for i := 0; i < n && err == nil; i++ {
			hash := badHash('x')
			hash[1] = uint64(i)
			charge := 0
			if i+capacity >= n {
				charge = 1
			}
			h, err = c.insertAt(hash, charge, rocksdb.CachePriorityLow, true)
			if err == nil {
				held = append(held, h)
			}
			if i == 0 {
				c.full(err, false)
			}
		}
		c.full(err, strict)
		c.full(c.insert('a', rocksdb.CachePriorityLow), strict)
		if c.s.occupancy.Load() != c.s.occupancyLimit.Load() || c.s.occupancy.Load() >= int64(c.s.tableSize()) {
			t.Fatalf("occupancy %d of %d, limit %d", c.s.occupancy.Load(), c.s.tableSize(), c.s.occupancyLimit.Load())
		}
		for _, h := range held {
			c.s.release(h, true, false)
		}
	}
}

func TestClockCacheTest_ClockEvictionTest(t *testing.T) {
	eachClockTable(t, testClockClockEvictionTest)
}

func testClockClockEvictionTest(t *testing.T, kind clockKind) {
	const bottom, low, high = rocksdb.CachePriorityBottom, rocksdb.CachePriorityLow, rocksdb.CachePriorityHigh
	for _, strict := range []bool{false, true} {
		c := kind.newTest(t, 6, strict, 30)
		ins := func(keys string, p rocksdb.CachePriority) {
			t.Helper()
			for i := range len(keys) {
				if err := c.insert(keys[i], p); err != nil {
					t.Fatal(err)
				}
			}
		}
		look := func(keys string, useful, want bool) {
			t.Helper()
			for i := range len(keys) {
				if c.lookup(keys[i], useful) != want {
					t.Fatalf("strict %t: %c found: %t", strict, keys[i], !want)
				}
			}
		}
		for i, p := range []rocksdb.CachePriority{bottom, low, high, bottom, low, high} {
			ins("abcdef"[i:i+1], p)
		}
		look("abcdef", false, true)
		// Bottom priority goes first, even before new entries of low,
		ins("gh", low)
		look("ad", false, false)
		look("bcef", false, true)
		look("gh", true, true)
		// then the old of low,
		ins("ij", low)
		look("be", false, false)
		look("cf", false, true)
		look("gh", true, true)
		look("ij", false, true)
		// then the old of high,
		ins("kl", low)
		look("cf", false, false)
		look("ghijkl", false, true)
		// then about the least useful.
		ins("mn", high)
		look("ghkl", false, true)
		look("ij", false, false)
		c.s.capacity.Store(4)
		ins("op", low)
		look("ghkl", false, false)
		look("mnop", false, true)
		look("mn", true, true)
		c.s.capacity.Store(6)
		ins("qrst", high)
		look("op", false, false)
		look("mnqrst", false, true)
	}
}

func TestClockCacheTest_ClockEvictionEffortCapTest(t *testing.T) {
	eachClockTable(t, testClockClockEvictionEffortCapTest)
}

func testClockClockEvictionEffortCapTest(t *testing.T, kind clockKind) {
	for _, strict := range []bool{true, false} {
		for _, effortCap := range []int{-42, 0, 1, 10, 100, 1000} {
			const capacity, count = 1000, 999
			// A table large enough to exceed the capacity by far.
			c := kind.newTest(t, 3*capacity, strict, effortCap)
			c.s.capacity.Store(capacity)
			var held []*ClockHandle
			for i := range uint64(2 * count) {
				h, err := c.insertAt(cheapHash(i), 1, rocksdb.CachePriorityLow, i < count)
				if err != nil {
					t.Fatal(err)
				}
				if i < count {
					held = append(held, h)
				}
			}
			got := float64(c.s.occupancy.Load())
			effective := float64(max(1, effortCap) + 1)
			want, tolerance := count*(1+1.4/effective), count*0.6/effective+1
			if strict {
				want, tolerance = capacity, 0
			}
			if got < want-tolerance || got > want+tolerance {
				t.Errorf("strict %t, cap %d: occupancy %v, want %v ± %v", strict, effortCap, got, want, tolerance)
			}
			for _, h := range held {
				c.s.release(h, true, false)
			}
		}
	}
}

func TestClockCacheTest_ClockCounterOverflowTest(t *testing.T) {
	eachClockTable(t, testClockClockCounterOverflowTest)
}

func testClockClockCounterOverflowTest(t *testing.T, kind clockKind) {
	c := kind.newTest(t, 6, false, 30)
	v := new(deleteCounter)
	h, err := c.s.insert(&clockEntry{*badHash('x'), v, deleteCounterHelper, 1}, rocksdb.CachePriorityHigh, true)
	if err != nil {
		t.Fatal(err)
	}
	release := func(n uint64) {
		h.add((n - 1) * clockReleaseOne)
		c.s.release(h, true, false)
	}
	refAndRelease := func() {
		for range 10000 {
			h.add(1234567 * clockAcquireOne)
			release(1234567)
		}
	}
	h.add(123456789 * clockAcquireOne)
	refAndRelease()
	// An invisible entry takes another way through release.
	c.s.erase(badHash('x'))
	refAndRelease()
	release(123456789)
	if v.deleted != 0 {
		t.Fatal("deleted with a reference left")
	}
	c.s.release(h, true, false)
	if v.deleted != 1 {
		t.Fatal("not deleted")
	}
}

func TestClockCacheTest_ClockTableFull(t *testing.T) { eachClockTable(t, testClockClockTableFull) }

func testClockClockTableFull(t *testing.T, kind clockKind) {
	c := kind.newTest(t, 6, false, 30)
	size := c.s.tableSize()
	c.s.occupancyLimit.Store(int64(size + 100))
	c.s.capacity.Store(int64(size + 100))
	v := new(deleteCounter)
	deleted := func(want int) {
		t.Helper()
		if v.deleted != want {
			t.Fatalf("%d deleted, want %d", v.deleted, want)
		}
	}
	// The last three find no slot.
	var held []*ClockHandle
	for i := range size + 3 {
		h, err := c.s.insert(&clockEntry{*badHash(i), v, deleteCounterHelper, 1}, rocksdb.CachePriorityHigh, true)
		if err != nil || h == nil {
			t.Fatal(err)
		}
		held = append(held, h)
	}
	for i := range size + 3 {
		h := c.s.lookup(badHash(i))
		if (h != nil) != (i < size) {
			t.Fatalf("%d of %d found: %t", i, size, h != nil)
		}
		if h != nil {
			c.s.release(h, true, false)
		}
	}
	for i, h := range held {
		c.s.release(h, true, false)
		deleted(max(0, i+1-size))
	}
	for i := size + 2; i >= 0; i-- {
		c.s.erase(badHash(i))
		deleted(3 + max(0, size-i))
	}
	c.empty(t)
}

// empty checks that nothing is left in the table, not even displacements.
func (c clockTest) empty(t *testing.T) {
	t.Helper()
	if c.s.auto != nil {
		c.s.auto.each(func(h *ClockHandle) { t.Fatalf("an entry is left: %x", h.meta.Load()) })
	}
	for i := range c.s.slots {
		if h := &c.s.slots[i]; h.load()&clockVisibleState != 0 || h.displacements.Load() != 0 {
			t.Fatalf("slot %d: %x, %d displacements", i, h.meta.Load(), h.displacements.Load())
		}
	}
	if c.s.occupancy.Load() != 0 || c.s.usage.Load() != 0 || c.s.standaloneUsage.Load() != 0 {
		t.Fatalf("occupancy %d, usage %d", c.s.occupancy.Load(), c.s.usage.Load())
	}
}

func TestClockCacheTest_CollidingInsertEraseTest(t *testing.T) {
	eachClockTable(t, testClockCollidingInsertEraseTest)
}

func testClockCollidingInsertEraseTest(t *testing.T, kind clockKind) {
	c := kind.newTest(t, 6, false, 30)
	v := new(deleteCounter)
	deleted := func(want int) {
		t.Helper()
		if v.deleted != want {
			t.Fatalf("%d deleted, want %d", v.deleted, want)
		}
		v.deleted = 0
	}
	insert := func(key byte, wantHandle bool) *ClockHandle {
		t.Helper()
		h, err := c.s.insert(&clockEntry{*badHash(int(key)), v, deleteCounterHelper, 1}, rocksdb.CachePriorityHigh, wantHandle)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	find := func(key byte, want *ClockHandle) {
		t.Helper()
		for _, erase := range []bool{true, false} { // but it is not the last reference
			h := c.s.lookup(badHash(int(key)))
			if h != want {
				t.Fatalf("%c: %p, not %p", key, h, want)
			}
			if h != nil && c.s.release(h, true, erase) {
				t.Fatalf("%c freed", key)
			}
		}
	}
	release := func(h *ClockHandle, erase, freed bool) {
		t.Helper()
		if c.s.release(h, true, erase) != freed {
			t.Fatalf("freed: %t", !freed)
		}
	}
	h1, h2, h3 := insert('x', true), insert('y', true), insert('z', true)
	find('x', h1)
	find('y', h2)
	find('z', h3)
	c.s.erase(badHash('x'))
	c.s.erase(badHash('x'))
	deleted(0)
	find('x', nil)
	find('y', h2)
	find('z', h3)
	// Beside the invisible one.
	insert('x', false)
	h := c.s.lookup(badHash('x'))
	if h == nil || h == h1 {
		t.Fatal(h)
	}
	release(h, true, true)
	deleted(1)
	release(h1, false, true)
	deleted(1)
	find('y', h2)
	find('z', h3)
	release(h2, false, false)
	deleted(0)
	if c.s.lookup(badHash('y')) != h2 {
		t.Fatal("y not found")
	}
	release(h2, true, true)
	deleted(1)
	find('y', nil)
	find('z', h3)
	release(h3, false, false)
	deleted(0)
	c.s.erase(badHash('z'))
	deleted(1)
	find('z', nil)
	c.empty(t)
}

func TestClockCacheTest_TableSizesTest(t *testing.T) {
	for _, size := range []int{1, 5, 123, 2345, 345678} {
		for _, count := range []float64{1.1, 2.2, 511.9, 512.1, 2345} {
			check := func(policy rocksdb.CacheMetadataChargePolicy) {
				t.Helper()
				o := rocksdb.DefaultHyperClockCacheOptions(int(float64(size) * count))
				o.EstimatedEntryCharge, o.MetadataChargePolicy = size, policy
				c, err := NewHyperClockCache(o)
				if err != nil {
					t.Fatal(err)
				}
				if policy == rocksdb.DontChargeCacheMetadata && c.GetUsage() != 0 {
					t.Errorf("usage %d", c.GetUsage())
				}
				slots := float64(c.GetTableAddressCount())
				entries := count
				if policy == rocksdb.FullChargeCacheMetadata {
					entries = float64(o.Capacity-c.GetUsage()) / float64(size)
				}
				if slots < entries/clockLoadFactor || slots > entries/clockLoadFactor*2 {
					t.Errorf("size %d, count %v: %v slots", size, count, slots)
				}
			}
			check(rocksdb.DontChargeCacheMetadata)
			if size >= 512 {
				check(rocksdb.FullChargeCacheMetadata)
			}
		}
	}
}

// TestHyperClockCache_Concurrent uses few keys from many goroutines, then finds
// that every object was freed once.
func TestHyperClockCache_Concurrent(t *testing.T) {
	eachClockTable(t, testHyperClockConcurrent)
}

func testHyperClockConcurrent(t *testing.T, kind clockKind) {
	o := rocksdb.DefaultHyperClockCacheOptions(100)
	o.NumShardBits, o.MinAvgEntryCharge, o.MetadataChargePolicy = 1, 1, rocksdb.DontChargeCacheMetadata
	if kind == fixedTable {
		o.EstimatedEntryCharge = 1
	}
	for _, strict := range []bool{false, true} {
		o.StrictCapacityLimit = strict
		c, err := NewHyperClockCache(o)
		if err != nil {
			t.Fatal(err)
		}
		type object struct {
			key   uint64
			freed atomic.Bool
		}
		var made, freed atomic.Int64
		helper := &rocksdb.CacheItemHelper{Deleter: func(obj any) {
			if obj.(*object).freed.Swap(true) {
				t.Error("freed twice")
			}
			freed.Add(1)
		}}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				rnd := rand.New(rand.NewSource(int64(g)))
				for range 5000 {
					k := CacheKey{7, uint64(rnd.Intn(200))}
					h := c.LookupKey(k)
					switch op := rnd.Intn(20); {
					case op == 0:
						c.Erase(k.AsSlice())
					case op == 1:
						c.SetCapacity(50 + rnd.Intn(100))
					case op == 2:
						c.ApplyToAllEntries(func(key []byte, obj any, _ int, _ *rocksdb.CacheItemHelper) {
							if k, _ := CacheKeyFromBytes(key); obj.(*object).key != k.offsetEtc64 || obj.(*object).freed.Load() {
								t.Error("a wrong or freed object")
							}
						})
					case h == nil:
						made.Add(1)
						var err error
						if h, err = c.InsertKey(k, &object{key: k.offsetEtc64}, helper, 1, rocksdb.CachePriority(rnd.Intn(3)), op%2 == 0); err != nil {
							made.Add(-1)
						} else if op%2 != 0 {
							h = nil
						}
					case op == 3:
						c.RefHandle(h)
						c.ReleaseHandle(h, true)
					}
					if h == nil {
						continue
					}
					if v := h.Value().(*object); v.key != k.offsetEtc64 || v.freed.Load() {
						t.Error("a wrong or freed object")
					}
					c.ReleaseHandle(h, rnd.Intn(10) == 0)
				}
			}()
		}
		wg.Wait()
		c.EraseUnRefEntries()
		if made.Load() != freed.Load() || c.GetUsage() != 0 || c.GetPinnedUsage() != 0 || c.GetOccupancyCount() != 0 {
			t.Errorf("made %d, freed %d, usage %d, occupancy %d", made.Load(), freed.Load(), c.GetUsage(), c.GetOccupancyCount())
		}
		for i := range c.shards {
			clockTest{t, &c.shards[i]}.empty(t)
		}
	}
}

// BenchmarkLookup is of what is there, from as many goroutines as -cpu says.
func BenchmarkLookup(b *testing.B) {
	const entries = 4096
	hyperClock := func(estimate int) *HyperClockCache {
		o := rocksdb.DefaultHyperClockCacheOptions(32 << 20)
		o.EstimatedEntryCharge = estimate
		c, err := NewHyperClockCache(o)
		if err != nil {
			b.Fatal(err)
		}
		for i := range uint64(entries) {
			c.InsertKey(CacheKey{1, i}, nil, noopHelper, 4096, rocksdb.CachePriorityLow, false)
		}
		return c
	}
	run := func(name string, op func(k CacheKey)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := uint64(0); pb.Next(); i += 17 {
					op(CacheKey{1, i % entries})
				}
			})
		})
	}
	lru := NewLRUCacheOfCapacity(32 << 20)
	for i := range uint64(entries) {
		lru.InsertKey(CacheKey{1, i}, nil, noopHelper, 4096, rocksdb.CachePriorityLow, false)
	}
	run("LRU", func(k CacheKey) {
		if h := lru.LookupKey(k); h != nil {
			lru.ReleaseHandle(h, false)
		}
	})
	for _, c := range []*HyperClockCache{hyperClock(4096), hyperClock(0)} {
		run(c.Name(), func(k CacheKey) {
			if h := c.LookupKey(k); h != nil {
				c.ReleaseHandle(h, false)
			}
		})
	}
}

// Port of utilities/simulator_cache/cache_simulator_test.cc.

package simcache

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

const (
	simBlockPrefix = "test-block-"
	simKeyPrefix   = "test-get-"
	simFirstBlock  = 100
)

// simTest is a simulator and its cache.
type simTest struct {
	*testing.T
	cache rocksdb.Cache
	sim   *CacheSimulator
}

func lruOf(t *testing.T, capacity uint64) rocksdb.Cache {
	t.Helper()
	c, err := newLRU(capacity, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newSimTest makes a simulator over a large cache, with or without a ghost cache.
func newSimTest(t *testing.T, ghost bool, newSim func(*GhostCache, rocksdb.Cache) *CacheSimulator) *simTest {
	t.Helper()
	x := &simTest{T: t, cache: lruOf(t, 1<<30)}
	var g *GhostCache
	if ghost {
		g = NewGhostCache(lruOf(t, 1<<20))
	}
	x.sim = newSim(g, x.cache)
	return x
}

func hybrid(insertBlocks bool) func(*GhostCache, rocksdb.Cache) *CacheSimulator {
	return func(g *GhostCache, c rocksdb.Cache) *CacheSimulator {
		return NewHybridRowBlockCacheSimulator(g, c, insertBlocks)
	}
}

func blockKey(n int) []byte { return fmt.Appendf(nil, "%s%d", simBlockPrefix, n) }

// getKey is an internal key.
func getKey(name string) []byte { return []byte(simKeyPrefix + name + strings.Repeat("c", 8)) }

func getRecord(id uint64) *tracereplay.BlockCacheTraceRecord {
	return &tracereplay.BlockCacheTraceRecord{BlockType: tracereplay.BlockTraceDataBlock, BlockSize: 4096, BlockKey: blockKey(simFirstBlock),
		AccessTimestamp: 1e6, CFName: "test", Caller: rocksdb.CallerUserGet, Level: 6, GetID: id, ReferencedKey: getKey("1"),
		ReferencedKeyExistInBlock: true, ReferencedDataSize: 100, NumKeysInBlock: 300}
}

func compactionRecord() *tracereplay.BlockCacheTraceRecord {
	return &tracereplay.BlockCacheTraceRecord{BlockType: tracereplay.BlockTraceDataBlock, BlockSize: 4096, BlockKey: blockKey(1000),
		AccessTimestamp: 1e6, CFName: "test", Caller: rocksdb.CallerCompaction, Level: 6, SSTFDNumber: 1000, NoInsert: true}
}

// want compares the numbers; ratios are cut to whole percents.
func (x *simTest) want(accesses uint64, ratio int, userAccesses uint64, userRatio int) {
	x.Helper()
	s := x.sim.MissRatioStats()
	if s.TotalAccesses() != accesses || int(s.MissRatio()) != ratio || s.UserAccesses() != userAccesses || int(s.UserMissRatio()) != userRatio {
		x.Fatalf("%d accesses (%.1f%% missed), %d by users (%.1f%%); want %d (%d%%), %d (%d%%)",
			s.TotalAccesses(), s.MissRatio(), s.UserAccesses(), s.UserMissRatio(), accesses, ratio, userAccesses, userRatio)
	}
}

// wantCached wants the cache to have a key, or not.
func (x *simTest) wantCached(key string, want bool) {
	x.Helper()
	if lookup(x.cache, []byte(key)) != want {
		x.Fatalf("%q in the cache: %t", key, !want)
	}
}

// wantBlocks wants the cache to have those of the blocks from first to end that
// in says.
func (x *simTest) wantBlocks(first, end int, in func(int) bool) {
	x.Helper()
	for n := first; n < end; n++ {
		x.wantCached(string(blockKey(n)), in(n))
	}
}

// rowKey is the row of a key of file 0.
func rowKey(name string) string { return "0_" + simKeyPrefix + name }

func TestCacheSimulatorTest_GhostCache(t *testing.T) {
	g := NewGhostCache(lruOf(t, 1<<20))
	for i, c := range []struct {
		key  string
		want bool
	}{{"test1", false}, {"test1", true}, {"test1", true}, {"test2", false}, {"test2", true}} {
		if g.Admit([]byte(c.key)) != c.want {
			t.Errorf("%d: %s admitted %t", i, c.key, !c.want)
		}
	}
}

func TestCacheSimulatorTest_CacheSimulator(t *testing.T) {
	x := newSimTest(t, false, NewCacheSimulator)
	for range 2 {
		x.sim.Access(getRecord(1))
	}
	x.want(2, 50, 2, 50)
	for range 2 {
		x.sim.Access(compactionRecord())
	}
	x.want(4, 75, 2, 50)
	x.sim.ResetCounter()
	x.want(0, -1, 0, -1)
	x.wantCached(string(blockKey(simFirstBlock)), true)
	x.wantCached(string(blockKey(1000)), false)
}

func TestCacheSimulatorTest_GhostCacheSimulator(t *testing.T) {
	x := newSimTest(t, true, NewCacheSimulator)
	for range 2 {
		x.sim.Access(getRecord(1))
	}
	x.want(2, 100, 2, 100)
}

func TestCacheSimulatorTest_PrioritizedCacheSimulator(t *testing.T) {
	x := newSimTest(t, false, NewPrioritizedCacheSimulator)
	for range 2 {
		x.sim.Access(getRecord(1))
	}
	x.want(2, 50, 2, 50)
	x.wantCached(string(blockKey(simFirstBlock)), true)
}

func TestCacheSimulatorTest_GhostPrioritizedCacheSimulator(t *testing.T) {
	x := newSimTest(t, true, NewPrioritizedCacheSimulator)
	for range 2 {
		x.sim.Access(getRecord(1))
	}
	x.want(2, 100, 2, 100)
}

func TestCacheSimulatorTest_HybridRowBlockCacheSimulator(t *testing.T) {
	x := newSimTest(t, false, hybrid(true))
	block := simFirstBlock
	run := func(n int, r *tracereplay.BlockCacheTraceRecord) {
		for range n {
			r.BlockKey = blockKey(block)
			x.sim.Access(r)
			block++
		}
	}
	first := getRecord(1)
	first.GetFromUserSpecifiedSnapshot = true
	run(10, first)
	x.want(10, 100, 10, 100)
	x.wantCached(rowKey("1"), true)
	x.wantBlocks(simFirstBlock, block, func(int) bool { return true })

	// The row is there, so that no block is read.
	second := getRecord(2)
	second.ReferencedDataSize, second.ReferencedKeyExistInBlock, second.GetFromUserSpecifiedSnapshot = 0, false, true
	run(5, second)
	x.want(15, 66, 15, 66)
	x.wantCached(rowKey("1"), true)
	x.wantBlocks(simFirstBlock, block, func(n int) bool { return n < 110 })

	// A row without a size is not inserted.
	third := getRecord(3)
	third.ReferencedDataSize, third.ReferencedKeyExistInBlock, third.ReferencedKey = 0, false, []byte(simKeyPrefix+"third_get")
	run(5, third)
	x.want(20, 75, 20, 75)
	x.wantCached("0_"+simKeyPrefix+"third_get", false)
	x.wantBlocks(simFirstBlock, block, func(n int) bool { return n < 110 || n >= 115 })
}

func TestCacheSimulatorTest_HybridRowBlockCacheSimulatorGetTest(t *testing.T) {
	o := rocksdb.DefaultLRUCacheOptions(16)
	o.NumShardBits, o.HighPriPoolRatio, o.MetadataChargePolicy = 1, 0, rocksdb.DontChargeCacheMetadata
	c, err := cache.NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	x := &simTest{T: t, cache: c, sim: NewHybridRowBlockCacheSimulator(nil, c, true)}
	r := getRecord(1)
	r.BlockSize, r.AccessTimestamp = 1, 0
	access := func(id uint64, block, key string, size uint64) {
		r.AccessTimestamp++
		r.GetID, r.BlockKey, r.ReferencedKey, r.ReferencedDataSize = id, []byte(block), getKey(key), size
		x.sim.Access(r)
	}
	check := func(usage int, accesses, misses uint64, blocks, rows string) {
		t.Helper()
		s := x.sim.MissRatioStats()
		if c.GetUsage() != usage || s.TotalAccesses() != accesses || s.TotalMisses() != misses {
			t.Fatalf("usage %d, %d accesses, %d misses; want %d, %d, %d", c.GetUsage(), s.TotalAccesses(), s.TotalMisses(), usage, accesses, misses)
		}
		for _, b := range strings.Fields(blocks) {
			x.wantCached(b, true)
		}
		for _, k := range strings.Fields(rows) {
			x.wantCached(rowKey(k), true)
		}
	}
	access(1, "1", "1", 0) // a row without a size is not inserted
	check(1, 1, 1, "1", "")
	access(1, "2", "1", 1)
	check(3, 2, 2, "1 2", "1")
	access(1, "3", "1", 1) // the row is there
	check(4, 3, 3, "1 2 3", "1")
	access(2, "4", "1", 0) // another Get of that key
	check(4, 4, 3, "1 2 3", "1")
	// A Get of three files and keys, of which it finds the second.
	access(3, "3", "2", 1)
	check(5, 5, 3, "1 2 3", "1 2")
	access(3, "4", "1", 1)
	check(5, 6, 3, "1 2 3", "1 2")
	access(3, "4", "3", 1)
	check(5, 7, 3, "1 2 3", "1 2")
	access(4, "5", "4", 1)
	check(7, 8, 4, "1 2 3 5", "1 2 4")
	for n := 6; n < 100; n++ { // so many blocks put the rows out
		access(0, strconv.Itoa(n), "4", 1)
	}
	access(4, "100", "4", 1) // the row is not inserted again
	check(16, 103, 99, "", "")
	for _, k := range []string{"1", "2", "4"} {
		x.wantCached(rowKey(k), false)
	}
}

func TestCacheSimulatorTest_HybridRowBlockNoInsertCacheSimulator(t *testing.T) {
	x := newSimTest(t, false, hybrid(false))
	r := getRecord(1)
	for n := simFirstBlock; n < simFirstBlock+9; n++ {
		r.BlockKey = blockKey(n)
		x.sim.Access(r)
	}
	x.wantCached(rowKey("1"), true)
	x.wantBlocks(simFirstBlock, simFirstBlock+9, func(int) bool { return false })
}

func TestCacheSimulatorTest_GhostHybridRowBlockCacheSimulator(t *testing.T) {
	x := newSimTest(t, true, hybrid(false))
	x.sim.Access(getRecord(1))
	x.sim.Access(getRecord(2))
	x.want(2, 100, 2, 100)
	for range 10 { // the second Get has inserted the row
		x.sim.Access(getRecord(3))
	}
	x.want(12, 16, 12, 16)
}

// Configurations run side by side; what comes before the warmup's end is not
// counted.
func TestBlockCacheTraceSimulator(t *testing.T) {
	if _, err := NewBlockCacheTraceSimulator(0, 1, []CacheConfiguration{{CacheName: "clock", CacheCapacities: []uint64{1}}}); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Error(err)
	}
	names := []string{"ghost_lru", "lru", "lru_hybrid", "lru_hybrid_no_insert_on_row_miss", "lru_priority"}
	var list []CacheConfiguration
	for i := range names {
		list = append(list, CacheConfiguration{CacheName: names[len(names)-1-i], NumShardBits: 1, GhostCacheCapacity: 1 << 20, CacheCapacities: []uint64{1 << 20, 1 << 30}})
	}
	s, err := NewBlockCacheTraceSimulator(2, 1, list)
	if err != nil {
		t.Fatal(err)
	}
	r := getRecord(1)
	for second := range uint64(4) {
		r.AccessTimestamp, r.GetID = (1+second)*microsInSecond, 1+second
		s.Access(r)
	}
	for i, c := range s.SimCaches() {
		if c.Configuration.CacheName != names[i] || len(c.Simulators) != 2 {
			t.Fatalf("%+v", c)
		}
		for _, sim := range c.Simulators {
			if st := sim.MissRatioStats(); st.TotalAccesses() != 2 || st.TotalMisses() != 0 || len(st.NumAccessesTimeline()) != 4 {
				t.Errorf("%s: %d accesses, %d misses", names[i], st.TotalAccesses(), st.TotalMisses())
			}
		}
	}
}

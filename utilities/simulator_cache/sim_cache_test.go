// Port of utilities/simulator_cache/sim_cache_test.cc.

package simcache_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/simulator_cache"
)

// simTest is a database with a SimCache.
type simTest struct {
	*testing.T
	dir   string
	stats rocksdb.Statistics
	db    *rocksdb.DB
	was   [4]uint64
}

// open opens the database with a block for each key.
func (x *simTest) open(c rocksdb.Cache) {
	x.Helper()
	if x.dir == "" {
		x.dir = x.TempDir()
		x.stats = rocksdb.NewStatistics()
	}
	if x.db != nil {
		x.check(x.db.Close())
	}
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.Statistics, o.DisableAutoCompactions = true, x.stats, true
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.BlockSize = 1
	if c != nil {
		t.BlockCache = c
	}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	var err error
	x.db, err = rocksdb.Open(x.dir, o)
	x.check(err)
	x.was = x.counters()
}

func (x *simTest) check(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *simTest) counters() (n [4]uint64) {
	for i, ticker := range []rocksdb.Ticker{rocksdb.BlockCacheMiss, rocksdb.BlockCacheHit, rocksdb.BlockCacheAdd, rocksdb.BlockCacheAddFailures} {
		n[i] = x.stats.GetTickerCount(ticker)
	}
	return n
}

// counted checks misses, hits, inserts and failed ones since the last call.
func (x *simTest) counted(want ...uint64) {
	x.Helper()
	now := x.counters()
	for i := range now {
		if now[i]-x.was[i] != want[i] {
			x.Fatalf("counters %v after %v, want %v more", now, x.was, want)
		}
	}
	x.was = now
}

func (x *simTest) seek(i int) *rocksdb.Iterator {
	it := x.db.NewIterator(nil)
	it.Seek([]byte(strconv.Itoa(i)))
	return it
}

func newSim(t *testing.T, capacity, shardBits int) *simcache.SimCache {
	t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.MetadataChargePolicy = shardBits, rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(o)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simcache.NewSimCache(c, 20000, 0)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

func TestSimCacheTest_SimCache(t *testing.T) {
	const numBlocks, valueSize = 5, 1000
	x := &simTest{T: t}
	x.open(nil)
	for i := range numBlocks * 2 {
		x.check(x.db.Put(nil, []byte(strconv.Itoa(i)), []byte(strings.Repeat("a", valueSize))))
	}
	sim := newSim(t, 0, 0)
	x.open(sim)
	defer func() { x.check(x.db.Close()) }()
	base := sim.GetMissCounter() // the collector of figures about the cache

	var held []*rocksdb.Iterator
	for i := range numBlocks {
		it := x.seek(i)
		x.check(it.Err())
		x.counted(1, 0, 1, 0)
		held = append(held, it)
	}
	if n := sim.GetHitCounter() + sim.GetMissCounter() - base; n != numBlocks || sim.GetHitCounter() != 0 {
		t.Fatalf("%d lookups, %d hits", n, sim.GetHitCounter())
	}
	usage := sim.GetUsage()
	if usage == 0 || usage != sim.GetSimUsage() {
		t.Fatalf("usage %d, simulated %d", usage, sim.GetSimUsage())
	}
	sim.SetCapacity(usage)
	if sim.GetPinnedUsage() != usage {
		t.Fatalf("pinned %d of %d", sim.GetPinnedUsage(), usage)
	}
	sim.SetStrictCapacityLimit(true)
	it := x.seek(numBlocks*2 - 1)
	if err := it.Err(); !errors.Is(err, &rocksdb.Status{Code: rocksdb.CodeAborted, SubCode: rocksdb.SubCodeMemoryLimit}) {
		t.Fatal(err)
	}
	x.counted(1, 0, 0, 1)
	_ = it.Close()

	for _, it := range held {
		x.check(it.Close())
		x.counted(0, 0, 0, 0)
	}
	for i := range numBlocks {
		it := x.seek(i)
		x.check(it.Close())
		x.counted(0, 1, 0, 0)
	}
	if n := sim.GetHitCounter(); n != 5 {
		t.Fatalf("%d hits", n)
	}
	for i := numBlocks; i < numBlocks*2; i++ {
		it := x.seek(i)
		x.check(it.Close())
		x.counted(1, 0, 1, 0)
	}
	if n := sim.GetHitCounter() + sim.GetMissCounter() - base; n != 3*numBlocks+1 || sim.GetHitCounter() != 6 || sim.GetPinnedUsage() != 0 {
		t.Fatalf("%d lookups, %d hits, %d pinned", n, sim.GetHitCounter(), sim.GetPinnedUsage())
	}
}

func TestSimCacheTest_SimCacheLogging(t *testing.T) {
	const n = 20
	x := &simTest{T: t}
	sim := newSim(t, 1<<20, -1)
	x.open(sim)
	defer func() { x.check(x.db.Close()) }()
	key := func(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }
	for i := range n {
		x.check(x.db.Put(nil, key(i), []byte("val")))
		x.check(x.db.Flush(nil))
	}
	read := func() {
		t.Helper()
		for i := range n {
			v, err := x.db.Get(nil, key(i))
			x.check(err)
			if string(v.Data()) != "val" {
				t.Fatalf("%q", v.Data())
			}
			v.Release()
		}
	}
	log := filepath.Join(t.TempDir(), "cache_log.txt")
	fs := rocksdb.DefaultEnv().GetFileSystem()
	x.check(sim.StartActivityLogging(log, fs, 0))
	read()
	read()
	sim.StopActivityLogging()
	x.check(sim.GetActivityLoggingStatus())
	text, err := os.ReadFile(log)
	x.check(err)
	lookups, adds := 0, 0
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "LOOKUP - "):
			lookups++
		case strings.HasPrefix(line, "ADD - "):
			adds++
		}
	}
	if lookups != n*2 || adds != n {
		t.Errorf("%d lookups and %d adds in\n%s", lookups, adds, text)
	}
	// Now it stops by itself.
	const maxSize = 512
	x.check(sim.StartActivityLogging(log, fs, maxSize))
	for range 10 {
		read()
	}
	x.check(sim.GetActivityLoggingStatus())
	info, err := os.Stat(log)
	x.check(err)
	if info.Size() >= maxSize+100 || info.Size() <= maxSize-100 {
		t.Errorf("the file has %d bytes", info.Size())
	}
}

// Port of cache/cache_bench.cc and cache/cache_bench_tool.cc. Differs: the simulation
// of cache keys and the stress of instances are not built.

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{out: stdout}
	return gflags.Program(args, stdout, stderr, &b.Flags, rocksdb.GetRocksVersionAsString(true), func(set *gflags.Set) error {
		if err := refuseUnbuilt(set); err != nil {
			return err
		}
		return b.run()
	})
}

func refuseUnbuilt(set *gflags.Set) error {
	for _, f := range set.All() {
		if f.HasTag("unbuilt") && !f.IsDefault() {
			return rocksdb.NotSupported("cache_bench: --" + f.Name + " is not built yet")
		}
	}
	return nil
}

// bench is a run. The thresholds divide 64-bit numbers into operations.
type bench struct {
	Flags
	out        io.Writer
	cache      rocksdb.Cache
	maxKey     uint64
	thresholds [5]uint64
	helpers    [3]*rocksdb.CacheItemHelper

	mu           sync.Mutex
	hits, misses uint64
	pinned       int
	latency      *monitoring.HistogramImpl
	busy         time.Duration
	stop         chan struct{}
	statsDone    chan struct{}
	statsHist    *monitoring.HistogramImpl
	statsReport  string
	result       uint64 // of all reads, so that they are done
}

var roles = [3]rocksdb.CacheEntryRole{rocksdb.CacheEntryRoleDataBlock, rocksdb.CacheEntryRoleIndexBlock, rocksdb.CacheEntryRoleFilterBlock}

func (b *bench) makeHelpers() {
	free := func(obj any) { memory.Free(*obj.(*[]byte)) }
	for i, role := range roles {
		b.helpers[i] = &rocksdb.CacheItemHelper{
			Role: role, Deleter: free,
			SizeOf: func(obj any) int { return len(*obj.(*[]byte)) },
			SaveTo: func(obj any, from int, out []byte) error {
				copy(out, (*obj.(*[]byte))[from:])
				return nil
			},
			Create: func(data []byte, _ rocksdb.CompressionType, _ rocksdb.CacheTier, _ rocksdb.CacheCreateContext, _ rocksdb.MemoryAllocator) (any, int, error) {
				v := memory.Alloc(max(len(data), 1))[:len(data)]
				copy(v, data)
				return &v, len(data), nil
			},
			WithoutSecondaryCompat: &rocksdb.CacheItemHelper{Role: role, Deleter: free},
		}
	}
}

func (b *bench) run() error {
	if b.ValueBytes == 0 || b.ResidentRatio <= 0 || b.Threads == 0 {
		return rocksdb.InvalidArgument("--value_bytes, --resident_ratio and --threads are to be above 0")
	}
	const hundredth = math.MaxUint64 / 100
	sum := uint64(0)
	for i, p := range []uint32{b.LookupInsertPercent, b.InsertPercent, b.BlindInsertPercent, b.LookupPercent, b.ErasePercent} {
		sum += uint64(p)
		b.thresholds[i] = hundredth * sum
	}
	if sum != 100 {
		return rocksdb.InvalidArgument("Percentages must add to 100.")
	}
	if b.Seed == 0 {
		b.Seed = uint32(time.Now().UnixNano())
		fmt.Fprintf(b.out, "Using seed = %d\n", b.Seed)
	}
	b.maxKey = max(uint64(float64(b.CacheSize)/b.ResidentRatio/float64(b.ValueBytes)), 1)
	b.makeHelpers()
	var err error
	if b.cache, err = b.makeCache(); err != nil {
		return err
	}
	if b.PopulateCache {
		if err := b.populate(); err != nil {
			return err
		}
	}
	b.printEnv()
	return b.measure()
}

func (b *bench) makeCache() (rocksdb.Cache, error) {
	var secondary rocksdb.SecondaryCache
	if b.SecondaryCacheURI != "" {
		o := rocksdb.DefaultConfigOptions()
		var err error
		if secondary, err = cache.SecondaryCacheFromString(&o, b.SecondaryCacheURI); err != nil {
			return nil, rocksdb.InvalidArgument("No secondary cache registered matching string: "+b.SecondaryCacheURI, "status="+err.Error())
		}
	}
	seed := int32(b.Seed & math.MaxInt32)
	hcc := rocksdb.DefaultHyperClockCacheOptions(int(b.CacheSize))
	hcc.NumShardBits, hcc.HashSeed, hcc.EvictionEffortCap, hcc.SecondaryCache = int(b.NumShardBits), seed, int(b.EvictionEffortCap), secondary
	switch b.CacheType {
	case "clock_cache":
		return nil, rocksdb.InvalidArgument("Old clock cache implementation has been removed.")
	case "fixed_hyper_clock_cache":
		hcc.EstimatedEntryCharge = int(b.ValueBytes)
		if b.ValueBytesEstimate > 0 {
			hcc.EstimatedEntryCharge = int(b.ValueBytesEstimate)
		}
		return cache.MakeSharedHyperClockCache(hcc)
	case "hyper_clock_cache", "auto_hyper_clock_cache":
		if b.ValueBytesEstimate > 0 {
			hcc.MinAvgEntryCharge = int(b.ValueBytesEstimate)
		}
		return cache.MakeSharedHyperClockCache(hcc)
	case "lru_cache":
		lru := rocksdb.DefaultLRUCacheOptions(int(b.CacheSize))
		lru.NumShardBits, lru.HashSeed, lru.SecondaryCache = int(b.NumShardBits), seed, secondary
		return cache.MakeSharedLRUCache(lru)
	}
	return nil, rocksdb.InvalidArgument("Cache type not supported.")
}

// keyGen makes keys of 16 bytes, which lie differently in memory.
type keyGen struct{ data [27]byte }

func (g *keyGen) next(rnd *util.Random64, maxKey uint64, skew uint32) []byte {
	raw := rnd.Next()
	for range skew {
		raw = min(raw, rnd.Next())
	}
	key := util.FastRange64(raw, maxKey)
	g.data[0], g.data[9], g.data[18] = 42, 11, 4
	for _, at := range [3]int{1, 10, 19} {
		binary.LittleEndian.PutUint64(g.data[at:], key)
	}
	off := key % 8
	return g.data[off : off+cache.CacheKeySize]
}

func (b *bench) value(rnd *util.Random64) *[]byte {
	n := int(b.ValueBytes)
	v := memory.Alloc(n)[:n]
	random := max(1, min(n, int(b.CompressibleToRatio*float64(n))))
	i := 0
	for ; i < random; i += 8 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], rnd.Next())
		copy(v[i:], word[:])
	}
	for ; i < n; i++ {
		v[i] = v[i%random]
	}
	return &v
}

func (b *bench) insert(key []byte, rnd *util.Random64, helper *rocksdb.CacheItemHelper, wantHandle bool) (rocksdb.CacheHandle, error) {
	return b.cache.Insert(key, b.value(rnd), helper, int(b.ValueBytes), rocksdb.CachePriorityLow, wantHandle)
}

// populate inserts until the cache does not grow any more.
func (b *bench) populate() error {
	rnd := util.NewRandom64(uint64(b.Seed))
	var gen keyGen
	most, sinceGrown, sinceMissed := 0, 0, 0
	for sinceGrown < 100 && sinceMissed < 100 {
		key := gen.next(rnd, b.maxKey, b.Skew)
		if h := b.cache.Lookup(key, nil, nil, rocksdb.CachePriorityLow, nil); h != nil {
			b.cache.Release(h, false)
			sinceMissed++
			continue
		}
		sinceMissed = 0
		if _, err := b.insert(key, rnd, b.helpers[0], false); err != nil {
			return err
		}
		h := b.cache.Lookup(key, nil, nil, rocksdb.CachePriorityLow, nil)
		if h == nil {
			return rocksdb.Corruption("Failed to lookup key just inserted.")
		}
		b.cache.Release(h, false)
		if n := b.cache.GetOccupancyCount(); n > most {
			most, sinceGrown = n, 0
		} else {
			sinceGrown++
		}
	}
	fmt.Fprintf(b.out, "Population complete (%d entries, %g average charge)\n", most, float64(b.CacheSize)/float64(most))
	return nil
}

// shardBits is the cache's, without what is below it.
func (b *bench) shardBits() int {
	c := b.cache
	if a, ok := c.(*cache.CacheWithSecondaryAdapter); ok {
		c = a.GetCache()
	}
	if s, ok := c.(interface{ GetNumShardBits() int }); ok {
		return s.GetNumShardBits()
	}
	return 0
}

func (b *bench) printEnv() {
	populate, stats := 0, "disabled"
	if b.PopulateCache {
		populate = 1
	}
	if b.GatherStats {
		stats = fmt.Sprintf("enabled (%dms, %d/lock)", b.GatherStatsSleepMs, b.GatherStatsEntriesPerLock)
	}
	const line = "----------------------------\n"
	fmt.Fprintf(b.out, line+"RocksDB version     : %s\nCache impl name     : %s\nDMutex impl name    : sync.Mutex\n"+
		"Number of threads   : %d\nOps per thread      : %d\nCache size          : %s\nNum shard bits      : %d\nMax key             : %d\n"+
		"Resident ratio      : %g\nSkew degree         : %d\nPopulate cache      : %d\nLookup+Insert pct   : %d%%\nInsert percentage   : %d%%\n"+
		"Lookup percentage   : %d%%\nErase percentage    : %d%%\nGather stats        : %s\n"+line,
		rocksdb.GetRocksVersionAsString(false), b.cache.Name(), b.Threads, b.OpsPerThread, util.BytesToHumanString(b.CacheSize), b.shardBits(), b.maxKey,
		b.ResidentRatio, b.Skew, populate, b.LookupInsertPercent, b.InsertPercent, b.LookupPercent, b.ErasePercent, stats)
}

func (b *bench) measure() error {
	b.latency, b.statsHist = monitoring.NewHistogramImpl(), monitoring.NewHistogramImpl()
	b.stop, b.statsDone = make(chan struct{}), make(chan struct{})
	go b.gather()
	errs := make([]error, b.Threads)
	var users sync.WaitGroup
	start := time.Now()
	for i := range b.Threads {
		users.Add(1)
		go func() {
			defer users.Done()
			errs[i] = b.operate(i)
		}()
	}
	users.Wait()
	elapsed := time.Since(start)
	close(b.stop)
	<-b.statsDone
	if err := errors.Join(errs...); err != nil {
		return err
	}
	ops := float64(b.Threads) * float64(b.OpsPerThread)
	fmt.Fprintf(b.out, "Complete in %.3f s; Rough parallel ops/sec = %d\n", elapsed.Seconds(), uint64(ops/elapsed.Seconds()))
	fmt.Fprintf(b.out, "Thread ops/sec = %d\n", uint64(ops/b.busy.Seconds()))
	fmt.Fprintf(b.out, "Lookup hit ratio: %g\n", float64(b.hits)/float64(b.hits+b.misses))
	occupancy, slots := b.cache.GetOccupancyCount(), b.tableSize()
	fmt.Fprintf(b.out, "Final load factor: %g (%d / %d)\n", float64(occupancy)/float64(slots), occupancy, slots)
	fmt.Fprintf(b.out, "Final pinned count: %d\n", b.pinned)
	if b.Histograms {
		fmt.Fprintf(b.out, "\nOperation latency (ns):\n%s", b.latency.ToString())
		if b.GatherStats {
			fmt.Fprintf(b.out, "\nGather stats latency (us):\n%s", b.statsHist.ToString())
		}
	}
	if b.ReportProblems {
		fmt.Fprintln(b.out)
		if n := b.cache.GetPinnedUsage(); n > 0 && b.SecondaryCacheURI == "" {
			fmt.Fprintf(b.out, "%d bytes are still pinned\n", n)
		}
	}
	fmt.Fprint(b.out, b.statsReport)
	return nil
}

func (b *bench) tableSize() int {
	if t, ok := b.cache.(interface{ GetTableAddressCount() int }); ok {
		return t.GetTableAddressCount()
	}
	return 0
}

// use reads what was found, so that it is really loaded.
func (b *bench) use(h rocksdb.CacheHandle) uint64 {
	if b.Lean {
		return 0
	}
	return util.NPHash64(*h.Value().(*[]byte), 0)
}

// operate does a thread's operations.
func (b *bench) operate(tid uint32) error {
	rnd := util.NewRandom64(uint64(b.Seed) + 1 + uint64(tid))
	hist := monitoring.NewHistogramImpl()
	var gen keyGen
	var hits, misses, result uint64
	var pinned []rocksdb.CacheHandle
	keep := (int(float64(b.CacheSize)*b.PinnedRatio/float64(b.ValueBytes)+0.999999) + int(tid)) / int(b.Threads)
	untilChange := uint64(0)
	begin := time.Now()
	for range b.OpsPerThread {
		key := gen.next(rnd, b.maxKey, b.Skew)
		op := rnd.Next()
		if b.VaryCapacityRatio > 0 && tid == 0 {
			if untilChange == 0 {
				cut := float64(rnd.Next()) / math.MaxUint64 * b.VaryCapacityRatio
				b.cache.SetCapacity(int(float64(b.CacheSize) * (1 - cut)))
				untilChange = b.OpsPerThread / 100
			} else {
				untilChange--
			}
		}
		var start time.Time
		if b.Histograms {
			start = time.Now()
		}
		var h rocksdb.CacheHandle
		var err error
		switch t := &b.thresholds; {
		case op < t[0]:
			if h = b.cache.Lookup(key, b.helpers[1], nil, rocksdb.CachePriorityLow, nil); h != nil {
				hits++
				result += b.use(h)
			} else {
				misses++
				h, err = b.insert(key, rnd, b.helpers[1], true)
			}
		case op < t[1]:
			h, err = b.insert(key, rnd, b.helpers[2], true)
		case op < t[2]:
			_, err = b.insert(key, rnd, b.helpers[2], false)
		case op < t[3]:
			if h = b.cache.Lookup(key, b.helpers[1], nil, rocksdb.CachePriorityLow, nil); h != nil {
				hits++
				result += b.use(h)
			} else {
				misses++
			}
		case op < t[4]:
			b.cache.Erase(key)
		}
		if err != nil {
			return err
		}
		if h != nil {
			pinned = append(pinned, h)
		}
		if b.Histograms {
			hist.Add(uint64(time.Since(start)))
		}
		if b.Usleep > 0 {
			time.Sleep(time.Duration(rnd.Uniform(uint64(b.Usleep)+1)) * time.Microsecond)
		}
		for len(pinned) > keep {
			b.cache.Release(pinned[0], false)
			pinned = pinned[1:]
		}
	}
	if b.EarlyExit {
		os.Exit(0)
	}
	b.mu.Lock()
	b.hits, b.misses, b.pinned = b.hits+hits, b.misses+misses, b.pinned+len(pinned)
	b.result += result
	b.busy += time.Since(begin)
	b.mu.Unlock()
	b.latency.MergeImpl(hist)
	for _, h := range pinned {
		b.cache.Release(h, false)
	}
	return nil
}

// gather goes over the entries now and then.
func (b *bench) gather() {
	defer close(b.statsDone)
	if !b.GatherStats {
		return
	}
	for {
		select {
		case <-b.stop:
			return
		case <-time.After(time.Duration(b.GatherStatsSleepMs) * time.Millisecond):
		}
		var keySize, charges, entries uint64
		helpers := map[*rocksdb.CacheItemHelper]bool{}
		start := time.Now()
		b.cache.ApplyToAllEntries(func(key []byte, _ any, charge int, helper *rocksdb.CacheItemHelper) {
			keySize += uint64(len(key))
			charges += uint64(charge)
			entries++
			helpers[helper] = true
		})
		occupancy, slots := b.cache.GetOccupancyCount(), b.tableSize()
		if b.Histograms {
			b.statsHist.Add(uint64(time.Since(start).Microseconds()))
		}
		n := float64(max(entries, 1))
		b.statsReport = fmt.Sprintf("\nMost recent cache entry stats:\nNumber of entries: %d\nTable occupancy: %d / %d = %g%%\nTotal charge: %s\n"+
			"Average key size: %g\nAverage charge: %s\nUnique helpers: %d\n", entries, occupancy, slots, 100*float64(occupancy)/float64(max(slots, 1)),
			util.BytesToHumanString(charges), float64(keySize)/n, util.BytesToHumanString(uint64(float64(charges)/n)), len(helpers))
	}
}

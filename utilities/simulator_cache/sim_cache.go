// Port of utilities/simulator_cache/sim_cache.cc and
// include/rocksdb/utilities/sim_cache.h.

package simcache

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// SimCache is a cache that also keeps its keys in another one, of the capacity that
// is simulated, whose objects are empty. Release and other calls of handles go to
// the real cache alone.
type SimCache struct {
	rocksdb.CacheWrapper
	keys         rocksdb.Cache
	hits, misses atomic.Uint64
	stats        atomic.Pointer[rocksdb.Statistics] // the last lookup's
	log          activityLog
}

var (
	_ rocksdb.TieredCache = (*SimCache)(nil)

	keyHelper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}
)

// NewSimCache simulates a capacity in bytes with an LRU cache of 1<<numShardBits
// shards (-1 chooses), whose metadata is not charged.
func NewSimCache(c rocksdb.Cache, simCapacity, numShardBits int) (*SimCache, error) {
	o := rocksdb.DefaultLRUCacheOptions(simCapacity)
	o.NumShardBits, o.MetadataChargePolicy = numShardBits, rocksdb.DontChargeCacheMetadata
	sim, err := cache.NewLRUCache(o)
	if err != nil {
		return nil, err
	}
	return NewSimCacheOf(sim, c), nil
}

// NewSimCacheOf keeps the keys of what goes to c in sim.
func NewSimCacheOf(sim, c rocksdb.Cache) *SimCache {
	return &SimCache{CacheWrapper: rocksdb.CacheWrapper{Cache: c}, keys: sim}
}

// Name is "SimCache".
func (c *SimCache) Name() string { return "SimCache" }

// Insert implements rocksdb.Cache.
func (c *SimCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	c.noteInsert(key, charge, priority)
	return c.Cache.Insert(key, obj, helper, charge, priority, wantHandle)
}

// InsertCompressed implements rocksdb.TieredCache.
func (c *SimCache) InsertCompressed(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool, compressed []byte, typ rocksdb.CompressionType) (rocksdb.CacheHandle, error) {
	c.noteInsert(key, charge, priority)
	return c.CacheWrapper.InsertCompressed(key, obj, helper, charge, priority, wantHandle, compressed, typ)
}

// noteInsert leaves a key that is there already where it is in the order.
func (c *SimCache) noteInsert(key []byte, charge int, priority rocksdb.CachePriority) {
	if h := c.keys.Lookup(key, nil, nil, rocksdb.CachePriorityLow, nil); h != nil {
		c.keys.Release(h, false)
	} else {
		_, _ = c.keys.Insert(key, nil, keyHelper, charge, priority, false) // simulated, as far as it goes
	}
	c.log.add(key, charge)
}

// Lookup implements rocksdb.Cache.
func (c *SimCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, priority rocksdb.CachePriority, stats rocksdb.Statistics) rocksdb.CacheHandle {
	c.noteLookup(key, stats)
	return c.Cache.Lookup(key, helper, ctx, priority, stats)
}

// StartAsyncLookup implements rocksdb.TieredCache.
func (c *SimCache) StartAsyncLookup(h *rocksdb.AsyncLookupHandle) {
	c.noteLookup(h.Key, h.Stats)
	c.CacheWrapper.StartAsyncLookup(h)
}

func (c *SimCache) noteLookup(key []byte, stats rocksdb.Statistics) {
	if stats != nil {
		c.stats.Store(&stats)
	}
	if h := c.keys.Lookup(key, nil, nil, rocksdb.CachePriorityLow, nil); h != nil {
		c.keys.Release(h, false)
		c.hits.Add(1)
		monitoring.RecordTick(stats, rocksdb.SimBlockCacheHit, 1)
	} else {
		c.misses.Add(1)
		monitoring.RecordTick(stats, rocksdb.SimBlockCacheMiss, 1)
	}
	c.log.lookup(key)
}

// Erase implements rocksdb.Cache.
func (c *SimCache) Erase(key []byte) {
	c.Cache.Erase(key)
	c.keys.Erase(key)
}

// EraseUnRefEntries implements rocksdb.Cache.
func (c *SimCache) EraseUnRefEntries() {
	c.Cache.EraseUnRefEntries()
	c.keys.EraseUnRefEntries()
}

// DisownData implements rocksdb.Cache.
func (c *SimCache) DisownData() {
	c.Cache.DisownData()
	c.keys.DisownData()
}

// GetSimCapacity is the simulated capacity in bytes.
func (c *SimCache) GetSimCapacity() int { return c.keys.GetCapacity() }

// GetSimUsage is the charge of what would be there.
func (c *SimCache) GetSimUsage() int { return c.keys.GetUsage() }

// SetSimCapacity changes the simulated capacity.
func (c *SimCache) SetSimCapacity(capacity int) { c.keys.SetCapacity(capacity) }

// GetHitCounter and GetMissCounter count lookups in the simulated cache.
func (c *SimCache) GetHitCounter() uint64 { return c.hits.Load() }

// GetMissCounter is the number of lookups that would have missed.
func (c *SimCache) GetMissCounter() uint64 { return c.misses.Load() }

// ResetCounter sets both to 0, and the tickers of the statistics last used.
func (c *SimCache) ResetCounter() {
	c.hits.Store(0)
	c.misses.Store(0)
	if s := c.stats.Load(); s != nil {
		(*s).SetTickerCount(rocksdb.SimBlockCacheHit, 0)
		(*s).SetTickerCount(rocksdb.SimBlockCacheMiss, 0)
	}
}

// ToString gives the counters in three lines.
func (c *SimCache) ToString() string {
	hits, misses := c.GetHitCounter(), c.GetMissCounter()
	rate := 0.0
	if n := hits + misses; n > 0 {
		rate = float64(hits) * 100 / float64(n)
	}
	return fmt.Sprintf("SimCache MISSes:  %d\nSimCache HITs:    %d\nSimCache HITRATE: %.2f\n", misses, hits, rate)
}

// GetPrintableOptions implements rocksdb.Cache.
func (c *SimCache) GetPrintableOptions() string {
	return "    cache_options:\n" + c.Cache.GetPrintableOptions() + "    sim_cache_options:\n" + c.keys.GetPrintableOptions()
}

// StartActivityLogging writes a line for each lookup and insert to a file, which is
// replaced, until it has maxSize bytes; 0 is no limit.
func (c *SimCache) StartActivityLogging(name string, fs rocksdb.FileSystem, maxSize uint64) error {
	return c.log.start(name, fs, maxSize)
}

// StopActivityLogging ends that.
func (c *SimCache) StopActivityLogging() { c.log.stop() }

// GetActivityLoggingStatus is the first error of logging.
func (c *SimCache) GetActivityLoggingStatus() error {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.mu.err
}

// activityLog is the file of StartActivityLogging.
type activityLog struct {
	on atomic.Bool
	mu struct {
		sync.Mutex
		file    *file.WritableFileWriter // nil when off
		maxSize uint64
		err     error // the first
	}
}

func (l *activityLog) start(name string, fs rocksdb.FileSystem, maxSize uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
	o := rocksdb.DefaultFileOptions()
	f, err := file.CreateWritableFileWriter(fs, name, &o, &file.WriterOptions{})
	if err != nil {
		return err
	}
	l.mu.file, l.mu.maxSize = f, maxSize
	l.on.Store(true)
	return nil
}

func (l *activityLog) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
}

func (l *activityLog) stopLocked() {
	if l.mu.file == nil {
		return
	}
	l.on.Store(false)
	l.failedLocked(l.mu.file.Close(nil))
	l.mu.file = nil
}

func (l *activityLog) failedLocked(err error) {
	if l.mu.err == nil {
		l.mu.err = err
	}
}

func (l *activityLog) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.file == nil {
		return
	}
	l.failedLocked(l.mu.file.Append(nil, []byte(line), 0))
	if l.mu.maxSize > 0 && l.mu.file.GetFileSize() >= l.mu.maxSize || l.mu.err != nil {
		l.stopLocked()
	}
}

func hexOf(key []byte) string { return strings.ToUpper(fmt.Sprintf("%x", key)) }

func (l *activityLog) lookup(key []byte) {
	if l.on.Load() {
		l.write("LOOKUP - " + hexOf(key) + "\n")
	}
}

func (l *activityLog) add(key []byte, size int) {
	if l.on.Load() {
		l.write(fmt.Sprintf("ADD - %s - %d\n", hexOf(key), size))
	}
}

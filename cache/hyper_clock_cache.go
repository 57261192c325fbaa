// Port of cache/clock_cache.{h,cc}: BaseHyperClockCache and its options.

package cache

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// HyperClockCache is a cache in which looking up does not lock, for keys of 16
// bytes only, that is blocks. Entries of the same key do not replace each other.
// Evicting is by CLOCK, with more rounds for higher priorities. Its table grows
// (upstream's AutoHyperClockCache), or has the size that an estimate of the
// entries' charge gives (FixedHyperClockCache).
type HyperClockCache struct {
	shardedCacheBase
	shards         []clockShard
	minEntryCharge int
}

var _ rocksdb.Cache = (*HyperClockCache)(nil)

// NewHyperClockCache makes a cache; it fails for a shard count out of range.
func NewHyperClockCache(opts rocksdb.HyperClockCacheOptions) (*HyperClockCache, error) {
	if opts.NumShardBits >= 20 {
		return nil, rocksdb.InvalidArgumentf("HyperClockCacheOptions.NumShardBits %d: the cache cannot be sharded into so many pieces", opts.NumShardBits)
	}
	if opts.SecondaryCache != nil {
		return nil, rocksdb.InvalidArgument("HyperClockCacheOptions.SecondaryCache is for MakeSharedHyperClockCache")
	}
	if opts.NumShardBits < 0 {
		// Few large shards, that large entries do not crowd one of them.
		opts.NumShardBits = GetDefaultCacheShardBits(opts.Capacity, clockMinShardSize)
	}
	c := new(HyperClockCache)
	c.minEntryCharge = max(opts.MinAvgEntryCharge, 1)
	c.shardedCacheBase.init(&opts.ShardedCacheOptions)
	c.shards = make([]clockShard, c.GetNumShards())
	perShard := c.computePerShardCapacity(opts.Capacity)
	for i := range c.shards {
		if opts.EstimatedEntryCharge > 0 {
			c.shards[i].init(perShard, opts.EstimatedEntryCharge, &opts)
		} else {
			c.shards[i].initAuto(perShard, c.minEntryCharge, &opts)
		}
	}
	return c, nil
}

// SetEvictionCallback implements rocksdb.EvictionNotifier.
func (c *HyperClockCache) SetEvictionCallback(f rocksdb.EvictionCallback) {
	var inner *func(h *ClockHandle, wasHit bool) bool
	if f != nil {
		g := func(h *ClockHandle, wasHit bool) bool { return f(c.unhash(&h.hash).AsSlice(), h, wasHit) }
		inner = &g
	}
	for i := range c.shards {
		c.shards[i].onEvict.Store(inner)
	}
}

// NewHyperClockCacheOfCapacity makes a cache of a capacity in bytes with
// upstream's default options: its table grows.
func NewHyperClockCacheOfCapacity(capacity int) *HyperClockCache {
	c, err := NewHyperClockCache(rocksdb.DefaultHyperClockCacheOptions(capacity))
	if err != nil { // the defaults are in range
		panic(err)
	}
	return c
}

// Name is "AutoHyperClockCache" or "FixedHyperClockCache".
func (c *HyperClockCache) Name() string {
	if c.shards[0].auto != nil {
		return "AutoHyperClockCache"
	}
	return "FixedHyperClockCache"
}

func (c *HyperClockCache) hashKey(k CacheKey) (hash [2]uint64) {
	hash[1], hash[0] = util.BijectiveHash2x64(k.offsetEtc64, k.fileNumEtc64^uint64(c.hashSeed), 0)
	return hash
}

func (c *HyperClockCache) unhash(hash *[2]uint64) (k CacheKey) {
	k.offsetEtc64, k.fileNumEtc64 = util.BijectiveUnhash2x64(hash[1], hash[0], 0)
	k.fileNumEtc64 ^= uint64(c.hashSeed)
	return k
}

func (c *HyperClockCache) shard(hash *[2]uint64) *clockShard {
	return &c.shards[uint32(hash[0]>>32)&c.shardMask]
}

// LookupKey is Lookup for hot paths: nil when there is no entry.
func (c *HyperClockCache) LookupKey(key CacheKey) *ClockHandle {
	hash := c.hashKey(key)
	return c.shard(&hash).lookup(&hash)
}

// InsertKey is Insert for hot paths.
func (c *HyperClockCache) InsertKey(key CacheKey, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (*ClockHandle, error) {
	e := clockEntry{c.hashKey(key), obj, helper, charge}
	return c.shard(&e.hash).insert(&e, priority, wantHandle)
}

// ReleaseHandle is Release for hot paths.
func (c *HyperClockCache) ReleaseHandle(h *ClockHandle, eraseIfLastRef bool) bool {
	return c.shard(&h.hash).release(h, true, eraseIfLastRef)
}

// RefHandle is Ref for hot paths.
func (c *HyperClockCache) RefHandle(h *ClockHandle) { h.add(clockAcquireOne) }

// Insert implements rocksdb.Cache.
func (c *HyperClockCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	k, ok := CacheKeyFromBytes(key)
	if !ok {
		return nil, rocksdb.NotSupported(fmt.Sprintf("HyperClockCache only supports keys of %d bytes", CacheKeySize))
	}
	h, err := c.InsertKey(k, obj, helper, charge, priority, wantHandle)
	if h == nil || !wantHandle {
		return nil, err
	}
	return h, err
}

// CreateStandalone implements rocksdb.Cache.
func (c *HyperClockCache) CreateStandalone(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, allowUncharged bool) rocksdb.CacheHandle {
	k, ok := CacheKeyFromBytes(key)
	if !ok {
		return nil
	}
	e := clockEntry{c.hashKey(k), obj, helper, charge}
	if h := c.shard(&e.hash).createStandalone(&e, allowUncharged); h != nil {
		return h
	}
	return nil
}

// Lookup implements rocksdb.Cache.
func (c *HyperClockCache) Lookup(key []byte, _ *rocksdb.CacheItemHelper, _ rocksdb.CacheCreateContext, _ rocksdb.CachePriority, _ rocksdb.Statistics) rocksdb.CacheHandle {
	if k, ok := CacheKeyFromBytes(key); ok {
		if h := c.LookupKey(k); h != nil {
			return h
		}
	}
	return nil
}

// Ref implements rocksdb.Cache.
func (c *HyperClockCache) Ref(h rocksdb.CacheHandle) bool {
	e, ok := h.(*ClockHandle)
	if ok {
		c.RefHandle(e)
	}
	return ok
}

// Release implements rocksdb.Cache.
func (c *HyperClockCache) Release(h rocksdb.CacheHandle, eraseIfLastRef bool) bool {
	e, ok := h.(*ClockHandle)
	return ok && e != nil && c.ReleaseHandle(e, eraseIfLastRef)
}

// Erase implements rocksdb.Cache.
func (c *HyperClockCache) Erase(key []byte) {
	if k, ok := CacheKeyFromBytes(key); ok {
		hash := c.hashKey(k)
		c.shard(&hash).erase(&hash)
	}
}

// SetCapacity implements rocksdb.Cache; inserts evict what exceeds it.
func (c *HyperClockCache) SetCapacity(capacity int) {
	c.config.Lock()
	defer c.config.Unlock()
	c.config.capacity = capacity
	perShard := int64(c.computePerShardCapacity(capacity))
	for i := range c.shards {
		s := &c.shards[i]
		s.capacity.Store(perShard)
		if s.auto != nil {
			n := autoMaxBuckets(int(perShard), c.minEntryCharge, s.metadata)
			s.auto.maxUsed.Store(max(n, s.auto.used.Load()))
		}
	}
}

// SetStrictCapacityLimit implements rocksdb.Cache.
func (c *HyperClockCache) SetStrictCapacityLimit(strict bool) {
	c.config.Lock()
	defer c.config.Unlock()
	c.config.strictCapacityLimit = strict
	for i := range c.shards {
		c.shards[i].strict.Store(strict)
	}
}

func (c *HyperClockCache) sum(f func(*clockShard) int) (n int) {
	for i := range c.shards {
		n += f(&c.shards[i])
	}
	return n
}

// GetUsage implements rocksdb.Cache.
func (c *HyperClockCache) GetUsage() int {
	return c.sum(func(s *clockShard) int { return int(s.usage.Load()) })
}

// GetPinnedUsage implements rocksdb.Cache; it looks at all slots.
func (c *HyperClockCache) GetPinnedUsage() int { return c.sum((*clockShard).pinnedUsage) }

// GetOccupancyCount implements rocksdb.Cache.
func (c *HyperClockCache) GetOccupancyCount() int {
	return c.sum(func(s *clockShard) int { return int(s.occupancy.Load()) })
}

// GetTableAddressCount is the number of slots, or of the buckets so far.
func (c *HyperClockCache) GetTableAddressCount() int {
	return c.sum((*clockShard).tableSize)
}

// GetUsageOf implements rocksdb.Cache.
func (c *HyperClockCache) GetUsageOf(h rocksdb.CacheHandle) int { return c.GetCharge(h) }

// GetCharge implements rocksdb.Cache.
func (c *HyperClockCache) GetCharge(h rocksdb.CacheHandle) int {
	if e, ok := h.(*ClockHandle); ok {
		return e.totalCharge
	}
	return 0
}

// GetCacheItemHelper implements rocksdb.Cache.
func (c *HyperClockCache) GetCacheItemHelper(h rocksdb.CacheHandle) *rocksdb.CacheItemHelper {
	if e, ok := h.(*ClockHandle); ok {
		return e.helper
	}
	return nil
}

// ApplyToHandle calls f for one entry.
func (c *HyperClockCache) ApplyToHandle(h rocksdb.CacheHandle, f func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper)) {
	if e, ok := h.(*ClockHandle); ok {
		f(c.unhash(&e.hash).Append(nil), e.value, e.totalCharge, e.helper)
	}
}

// ApplyToAllEntries implements rocksdb.Cache.
func (c *HyperClockCache) ApplyToAllEntries(f func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper)) {
	for i := range c.shards {
		c.shards[i].apply(false, func(h *ClockHandle) { c.ApplyToHandle(h, f) })
	}
}

// EraseUnRefEntries implements rocksdb.Cache.
func (c *HyperClockCache) EraseUnRefEntries() {
	for i := range c.shards {
		c.shards[i].eraseUnRefEntries()
	}
}

// DisownData implements rocksdb.Cache; see LRUCache.DisownData.
func (c *HyperClockCache) DisownData() {}

// GetPrintableOptions implements rocksdb.Cache.
func (c *HyperClockCache) GetPrintableOptions() string {
	return c.printableOptions()
}

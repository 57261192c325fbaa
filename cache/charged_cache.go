// Port of cache/charged_cache.{h,cc}.

package cache

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// ChargedCache charges what a cache uses (the blob cache) to another one (the block
// cache), so that one limit holds for both.
type ChargedCache struct {
	rocksdb.CacheWrapper
	reservation *ConcurrentCacheReservationManager
}

var _ rocksdb.TieredCache = (*ChargedCache)(nil)

// NewChargedCache charges c to blockCache.
func NewChargedCache(c, blockCache rocksdb.Cache) *ChargedCache {
	return &ChargedCache{
		CacheWrapper: rocksdb.CacheWrapper{Cache: c},
		reservation: NewConcurrentCacheReservationManager(
			NewCacheReservationManager(blockCache, rocksdb.CacheEntryRoleBlobCache, false)),
	}
}

// Name is "ChargedCache".
func (c *ChargedCache) Name() string { return "ChargedCache" }

// GetCache is the cache that is charged.
func (c *ChargedCache) GetCache() rocksdb.Cache { return c.Cache }

// GetCacheReservationManager is what charges it.
func (c *ChargedCache) GetCacheReservationManager() *ConcurrentCacheReservationManager {
	return c.reservation
}

// update makes the reservation fit. Where the block cache is full and strict, what
// could be reserved stays.
func (c *ChargedCache) update() { _ = c.reservation.UpdateCacheReservation(c.Cache.GetUsage()) }

// Insert implements rocksdb.Cache.
func (c *ChargedCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	return c.InsertCompressed(key, obj, helper, charge, priority, wantHandle, nil, rocksdb.NoCompression)
}

// InsertCompressed implements rocksdb.TieredCache.
func (c *ChargedCache) InsertCompressed(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool, compressed []byte, typ rocksdb.CompressionType) (rocksdb.CacheHandle, error) {
	h, err := c.CacheWrapper.InsertCompressed(key, obj, helper, charge, priority, wantHandle, compressed, typ)
	if err == nil {
		c.update() // it may have evicted others
	}
	return h, err
}

// Lookup implements rocksdb.Cache.
func (c *ChargedCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, priority rocksdb.CachePriority, stats rocksdb.Statistics) rocksdb.CacheHandle {
	h := c.Cache.Lookup(key, helper, ctx, priority, stats)
	if helper != nil && helper.Create != nil {
		if _, tiered := c.Cache.(rocksdb.TieredCache); tiered {
			c.update() // it may have come up from a secondary cache
		}
	}
	return h
}

// WaitAll implements rocksdb.TieredCache.
func (c *ChargedCache) WaitAll(hs []*rocksdb.AsyncLookupHandle) {
	c.CacheWrapper.WaitAll(hs)
	c.update()
}

// Release implements rocksdb.Cache.
func (c *ChargedCache) Release(h rocksdb.CacheHandle, eraseIfLastRef bool) bool {
	n := c.Cache.GetUsageOf(h)
	erased := c.Cache.Release(h, eraseIfLastRef)
	if erased {
		_ = c.reservation.UpdateCacheReservationBy(-n) // a decrease cannot fail
	}
	return erased
}

// Erase implements rocksdb.Cache.
func (c *ChargedCache) Erase(key []byte) {
	c.Cache.Erase(key)
	c.update()
}

// EraseUnRefEntries implements rocksdb.Cache.
func (c *ChargedCache) EraseUnRefEntries() {
	c.Cache.EraseUnRefEntries()
	c.update()
}

// SetCapacity implements rocksdb.Cache.
func (c *ChargedCache) SetCapacity(capacity int) {
	c.Cache.SetCapacity(capacity)
	c.update()
}

// Close gives the reservation back.
func (c *ChargedCache) Close() { _ = c.reservation.UpdateCacheReservation(0) }

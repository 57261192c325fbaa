// Port of include/rocksdb/advanced_cache.h: CacheWrapper.

package rocksdb

// CacheWrapper hands every call on to Cache, those of TieredCache and
// EvictionNotifier too; embed it to change some. Where Cache is no TieredCache, its
// lookups are never pending, and what is compressed is not used.
type CacheWrapper struct{ Cache }

var _ TieredCache = CacheWrapper{}

// InsertCompressed implements TieredCache.
func (w CacheWrapper) InsertCompressed(key []byte, obj any, helper *CacheItemHelper, charge int, priority CachePriority, wantHandle bool, compressed []byte, typ CompressionType) (CacheHandle, error) {
	if t, ok := w.Cache.(TieredCache); ok {
		return t.InsertCompressed(key, obj, helper, charge, priority, wantHandle, compressed, typ)
	}
	return w.Cache.Insert(key, obj, helper, charge, priority, wantHandle)
}

// StartAsyncLookup implements TieredCache.
func (w CacheWrapper) StartAsyncLookup(h *AsyncLookupHandle) { StartAsyncLookup(w.Cache, h) }

// WaitAll implements TieredCache.
func (w CacheWrapper) WaitAll(hs []*AsyncLookupHandle) {
	if t, ok := w.Cache.(TieredCache); ok {
		t.WaitAll(hs)
	}
}

// GetSecondaryCacheCapacity implements TieredCache.
func (w CacheWrapper) GetSecondaryCacheCapacity() (int, error) {
	if t, ok := w.Cache.(TieredCache); ok {
		return t.GetSecondaryCacheCapacity()
	}
	return 0, NotSupported("GetSecondaryCacheCapacity of", w.Cache.Name())
}

// GetSecondaryCachePinnedUsage implements TieredCache.
func (w CacheWrapper) GetSecondaryCachePinnedUsage() (int, error) {
	if t, ok := w.Cache.(TieredCache); ok {
		return t.GetSecondaryCachePinnedUsage()
	}
	return 0, NotSupported("GetSecondaryCachePinnedUsage of", w.Cache.Name())
}

// SetEvictionCallback implements EvictionNotifier.
func (w CacheWrapper) SetEvictionCallback(f EvictionCallback) {
	if n, ok := w.Cache.(EvictionNotifier); ok {
		n.SetEvictionCallback(f)
	}
}

// GetTableAddressCount is the cache's, 0 where it has none.
func (w CacheWrapper) GetTableAddressCount() int {
	if t, ok := w.Cache.(interface{ GetTableAddressCount() int }); ok {
		return t.GetTableAddressCount()
	}
	return 0
}

// ReportProblems is the cache's, where it has any to report.
func (w CacheWrapper) ReportProblems(log Logger) {
	if r, ok := w.Cache.(ProblemReporter); ok {
		r.ReportProblems(log)
	}
}

// GetHashSeed is the cache's, 0 where it has none.
func (w CacheWrapper) GetHashSeed() uint32 {
	if t, ok := w.Cache.(interface{ GetHashSeed() uint32 }); ok {
		return t.GetHashSeed()
	}
	return 0
}

// MemoryAllocator is the cache's, nil where it has none.
func (w CacheWrapper) MemoryAllocator() MemoryAllocator {
	if t, ok := w.Cache.(interface{ MemoryAllocator() MemoryAllocator }); ok {
		return t.MemoryAllocator()
	}
	return nil
}

// ApplyToHandle calls f for one entry.
func (w CacheWrapper) ApplyToHandle(h CacheHandle, f func(key []byte, obj any, charge int, helper *CacheItemHelper)) {
	if t, ok := w.Cache.(interface {
		ApplyToHandle(h CacheHandle, f func(key []byte, obj any, charge int, helper *CacheItemHelper))
	}); ok {
		t.ApplyToHandle(h, f)
	}
}

// StartAsyncLookup begins a lookup in c, which need not be a TieredCache.
func StartAsyncLookup(c Cache, h *AsyncLookupHandle) {
	if t, ok := c.(TieredCache); ok {
		t.StartAsyncLookup(h)
		return
	}
	h.FoundDummy = false // it may have been used before
	h.Result = c.Lookup(h.Key, h.Helper, h.CreateContext, h.Priority, h.Stats)
}

// WaitAsyncLookup ends a lookup in c and gives its result.
func WaitAsyncLookup(c Cache, h *AsyncLookupHandle) CacheHandle {
	if t, ok := c.(TieredCache); ok {
		t.WaitAll([]*AsyncLookupHandle{h})
	}
	return h.Result
}

// Port of cache/tiered_secondary_cache.{h,cc}.

package cache

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// TieredSecondaryCache puts a third tier, usually on a device, below a compressed
// secondary cache. The third gets the blocks read from files as they are; one found
// there goes up, to the compressed cache or past it, as if it had been read from
// the file. What a tier evicts goes nowhere.
type TieredSecondaryCache struct {
	rocksdb.SecondaryCacheWrapper
	nvm rocksdb.SecondaryCache
}

var _ rocksdb.SecondaryCache = (*TieredSecondaryCache)(nil)

// NewTieredSecondaryCache puts nvm below comp.
func NewTieredSecondaryCache(comp, nvm rocksdb.SecondaryCache) *TieredSecondaryCache {
	return &TieredSecondaryCache{rocksdb.SecondaryCacheWrapper{Target: comp}, nvm}
}

// Name is "TieredSecondaryCache".
func (c *TieredSecondaryCache) Name() string { return "TieredSecondaryCache" }

// Insert takes nothing: evicted entries are let go.
func (c *TieredSecondaryCache) Insert([]byte, any, *rocksdb.CacheItemHelper, bool) error { return nil }

// InsertSaved goes to the third tier.
func (c *TieredSecondaryCache) InsertSaved(key, saved []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier) error {
	return c.nvm.InsertSaved(key, saved, typ, source)
}

// tieredCreateContext is what the third tier hands to tieredHelper.
type tieredCreateContext struct {
	key         []byte
	adviseErase bool
	helper      *rocksdb.CacheItemHelper
	inner       rocksdb.CacheCreateContext
	comp        rocksdb.SecondaryCache
	stats       rocksdb.Statistics
}

// CachePerfContext implements rocksdb.PerfContextHolder.
func (c *tieredCreateContext) CachePerfContext() *rocksdb.PerfContext {
	if p, ok := c.inner.(rocksdb.PerfContextHolder); ok {
		return p.CachePerfContext()
	}
	return nil
}

// tieredHelper makes the upper cache's object, and offers the bytes to the
// compressed cache unless the upper one is going to keep the object.
var tieredHelper = &rocksdb.CacheItemHelper{
	Role:   rocksdb.CacheEntryRoleMisc,
	SizeOf: func(any) int { return 0 },
	SaveTo: func(any, int, []byte) error { return rocksdb.NotSupported("saving an object of a lookup") },
	Create: func(data []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier, ctx rocksdb.CacheCreateContext, alloc rocksdb.MemoryAllocator) (any, int, error) {
		c, ok := ctx.(*tieredCreateContext)
		if !ok {
			return nil, 0, rocksdb.InvalidArgument("another cache's context")
		}
		if !c.adviseErase && typ != rocksdb.NoCompression {
			_ = c.comp.InsertSaved(c.key, data, typ, source) // it need not take it
			monitoring.RecordTick(c.stats, rocksdb.CompressedSecondaryCachePromotions, 1)
		} else {
			monitoring.RecordTick(c.stats, rocksdb.CompressedSecondaryCachePromotionSkips, 1)
		}
		return c.helper.Create(data, typ, source, c.inner, alloc)
	},
	WithoutSecondaryCompat: &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc},
}

// Lookup asks the compressed cache, then the third tier.
func (c *TieredSecondaryCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, wait, adviseErase bool, stats rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	// The object must not come back here when it is evicted: kept in any case.
	if h, _ := c.Target.Lookup(key, helper, ctx, wait, adviseErase, stats); h != nil {
		return h, true
	}
	inner := &tieredCreateContext{key, adviseErase, helper, ctx, c.Target, stats}
	h, kept := c.nvm.Lookup(key, tieredHelper, inner, wait, adviseErase, stats)
	if h == nil || wait {
		return h, kept
	}
	return &tieredResult{inner: h}, kept
}

// tieredResult is a lookup in the third tier, told apart from the compressed
// cache's by its type.
type tieredResult struct {
	inner rocksdb.SecondaryCacheResultHandle // nil once done
	value any
	size  int
}

func (h *tieredResult) complete() {
	if h.inner != nil {
		h.size, h.value = h.inner.Size(), h.inner.Value()
		h.inner = nil
	}
}

// IsReady implements rocksdb.SecondaryCacheResultHandle, as do the others.
func (h *tieredResult) IsReady() bool {
	if h.inner != nil && h.inner.IsReady() {
		h.complete()
	}
	return h.inner == nil
}

// Wait waits for the third tier.
func (h *tieredResult) Wait() {
	if h.inner != nil {
		h.inner.Wait()
		h.complete()
	}
}

// Value is the object.
func (h *tieredResult) Value() any { return h.value }

// Size is its charge.
func (h *tieredResult) Size() int { return h.size }

// WaitAll waits for the third tier's lookups.
func (c *TieredSecondaryCache) WaitAll(hs []rocksdb.SecondaryCacheResultHandle) {
	var mine []*tieredResult
	var inner []rocksdb.SecondaryCacheResultHandle
	for _, h := range hs {
		if t, ok := h.(*tieredResult); ok && !t.IsReady() {
			mine = append(mine, t)
			inner = append(inner, t.inner)
		}
	}
	if len(mine) == 0 {
		return
	}
	c.nvm.WaitAll(inner)
	for _, t := range mine {
		t.complete()
	}
}

// Port of utilities/fault_injection_secondary_cache.{h,cc}. Differs: one sequence of
// random numbers, under a lock, for all goroutines; capacity calls other than
// SetCapacity and GetCapacity go to the cache below too.

package utilities

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// FaultInjectionSecondaryCache makes inserts and lookups of a secondary cache fail
// now and then.
type FaultInjectionSecondaryCache struct {
	rocksdb.SecondaryCacheWrapper
	oneIn      int
	compressed bool // the cache below finds at once

	mu struct {
		sync.Mutex
		rnd *util.Random
	}
}

var _ rocksdb.SecondaryCache = (*FaultInjectionSecondaryCache)(nil)

// NewFaultInjectionSecondaryCache makes one operation in oneIn, above 0, fail.
func NewFaultInjectionSecondaryCache(base rocksdb.SecondaryCache, seed uint32, oneIn int) *FaultInjectionSecondaryCache {
	c := &FaultInjectionSecondaryCache{
		SecondaryCacheWrapper: rocksdb.SecondaryCacheWrapper{Target: base}, oneIn: max(oneIn, 1),
		compressed: base.Name() == "CompressedSecondaryCache",
	}
	c.mu.rnd = util.NewRandom(seed)
	return c
}

// Name is "FaultInjectionSecondaryCache".
func (c *FaultInjectionSecondaryCache) Name() string { return "FaultInjectionSecondaryCache" }

func (c *FaultInjectionSecondaryCache) fails() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.rnd.OneIn(c.oneIn)
}

// Insert fails with an IOError, or goes on.
func (c *FaultInjectionSecondaryCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, force bool) error {
	if c.fails() {
		return rocksdb.IOError("injected fault of a secondary cache")
	}
	return c.Target.Insert(key, obj, helper, force)
}

// InsertSaved takes nothing.
func (c *FaultInjectionSecondaryCache) InsertSaved([]byte, []byte, rocksdb.CompressionType, rocksdb.CacheTier) error {
	return nil
}

// Lookup misses, at once or in the end, or goes on.
func (c *FaultInjectionSecondaryCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, wait, adviseErase bool, stats rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	// An object that was made is the caller's to free: what finds at once fails
	// before it looks.
	if (c.compressed || wait) && c.fails() {
		return nil, false
	}
	h, kept := c.Target.Lookup(key, helper, ctx, wait, adviseErase, stats)
	if h == nil || c.compressed || wait {
		return h, kept
	}
	return &faultyResult{cache: c, base: h, helper: helper}, kept
}

// WaitAll ends lookups, some of them with a miss.
func (c *FaultInjectionSecondaryCache) WaitAll(hs []rocksdb.SecondaryCacheResultHandle) {
	var inner []rocksdb.SecondaryCacheResultHandle
	for _, h := range hs {
		if r, ok := h.(*faultyResult); !ok {
			inner = append(inner, h)
		} else if r.base != nil {
			inner = append(inner, r.base)
		}
	}
	c.Target.WaitAll(inner)
	for _, h := range hs {
		if r, ok := h.(*faultyResult); ok {
			r.complete()
		}
	}
}

// faultyResult is a lookup that may still miss.
type faultyResult struct {
	cache  *FaultInjectionSecondaryCache
	base   rocksdb.SecondaryCacheResultHandle // nil once done
	helper *rocksdb.CacheItemHelper
	value  any
	size   int
}

func (r *faultyResult) complete() {
	if r.base == nil {
		return
	}
	r.value, r.size = r.base.Value(), r.base.Size()
	r.base = nil
	if r.value != nil && r.cache.fails() {
		if r.helper.Deleter != nil {
			r.helper.Deleter(r.value)
		}
		r.value, r.size = nil, 0
	}
}

// IsReady implements rocksdb.SecondaryCacheResultHandle, as do the others.
func (r *faultyResult) IsReady() bool {
	if r.base != nil && r.base.IsReady() {
		r.complete()
	}
	return r.base == nil
}

// Wait waits for the cache below.
func (r *faultyResult) Wait() {
	if r.base != nil {
		r.base.Wait()
		r.complete()
	}
}

// Value is the object.
func (r *faultyResult) Value() any { return r.value }

// Size is its charge.
func (r *faultyResult) Size() int { return r.size }

// Port of table/block_based/block_cache.{h,cc}: entries' helpers, also for
// secondary caches.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// cacheContext is what an object is made with of bytes from a secondary cache. It
// lives as long as the lookup.
type cacheContext struct {
	t    *BlockBasedTable
	bt   block.BlockType
	d    rocksdb.Decompressor // of the block, with its dictionary
	perf *rocksdb.PerfContext
}

// CachePerfContext implements rocksdb.PerfContextHolder.
func (c *cacheContext) CachePerfContext() *rocksdb.PerfContext { return c.perf }

// createObject is the helpers' Create.
func createObject(data []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier, ctx rocksdb.CacheCreateContext, alloc rocksdb.MemoryAllocator) (any, int, error) {
	c, ok := ctx.(*cacheContext)
	if !ok || source != rocksdb.VolatileTier {
		return nil, 0, rocksdb.InvalidArgument("a block from a secondary cache without a table to make it for")
	}
	contents, err := c.contents(data, typ, alloc)
	if err != nil {
		return nil, 0, err
	}
	switch c.bt {
	case block.TypeFilter:
		f := c.t.create.parseFilter(contents)
		return f, f.ApproximateMemoryUsage(), nil
	case block.TypeCompressionDictionary:
		d, err := c.t.create.parseDict(contents)
		if err != nil {
			return nil, 0, err
		}
		return d, d.ApproximateMemoryUsage(), nil
	}
	b := c.t.create.parseBlock(contents, c.bt)
	return b, b.ApproximateMemoryUsage(), nil
}

func (c *cacheContext) contents(data []byte, typ rocksdb.CompressionType, alloc rocksdb.MemoryAllocator) (format.BlockContents, error) {
	if alloc == nil {
		alloc = c.t.allocator
	}
	if typ == rocksdb.NoCompression {
		contents := format.AllocateBlock(len(data), alloc)
		copy(contents.Data, data)
		return contents, nil
	}
	if c.d == nil {
		return format.BlockContents{}, rocksdb.Corruption("a compressed block from a secondary cache for a table without compression")
	}
	args := rocksdb.DecompressArgs{CompressionType: typ, CompressedData: data}
	return table.DecompressBlockData(&args, c.d, c.t.ioptions.Stats, c.perf, format.BlockMemory{Allocator: alloc})
}

func freeObject(obj any) {
	if f, ok := obj.(block.Freer); ok {
		f.Free()
	}
}

// savedBytes is what a secondary cache keeps of an object.
func savedBytes(obj any) []byte {
	switch o := obj.(type) {
	case *block.Block:
		return o.Data()
	case *ParsedFullFilterBlock:
		return o.contents.Data
	case *DecompressorDict:
		return o.contents.Data
	}
	return nil
}

func helperFor(role rocksdb.CacheEntryRole) *rocksdb.CacheItemHelper {
	return &rocksdb.CacheItemHelper{
		Role: role, Deleter: freeObject,
		SizeOf: func(obj any) int { return len(savedBytes(obj)) },
		SaveTo: func(obj any, from int, out []byte) error {
			copy(out, savedBytes(obj)[from:])
			return nil
		},
		Create:                 createObject,
		WithoutSecondaryCompat: &rocksdb.CacheItemHelper{Role: role, Deleter: freeObject},
	}
}

// cacheItemHelpers is by block type; nil for kinds that are not cached.
var cacheItemHelpers = [block.TypeInvalid + 1]*rocksdb.CacheItemHelper{
	block.TypeData:                  helperFor(rocksdb.CacheEntryRoleDataBlock),
	block.TypeFilter:                helperFor(rocksdb.CacheEntryRoleFilterBlock),
	block.TypeFilterPartitionIndex:  helperFor(rocksdb.CacheEntryRoleFilterMetaBlock),
	block.TypeCompressionDictionary: helperFor(rocksdb.CacheEntryRoleOtherBlock),
	block.TypeRangeDeletion:         helperFor(rocksdb.CacheEntryRoleOtherBlock),
	block.TypeIndex:                 helperFor(rocksdb.CacheEntryRoleIndexBlock),
}

// helper is a kind's, without what secondary caches need where they are not to be
// used (lowest_used_cache_tier).
func (t *BlockBasedTable) helper(bt block.BlockType) *rocksdb.CacheItemHelper {
	if h := cacheItemHelpers[bt]; h != nil && t.ioptions.LowestUsedCacheTier == rocksdb.VolatileTier {
		return h.WithoutSecondaryCompat
	}
	return cacheItemHelpers[bt]
}

// wantsCompressed tells whether a tier below takes blocks as they are in files.
func (t *BlockBasedTable) wantsCompressed() bool {
	if t.ioptions.LowestUsedCacheTier == rocksdb.VolatileTier {
		return false
	}
	w, ok := t.tiered.(interface{ WantsCompressed() bool })
	return !ok || w.WantsCompressed()
}

// keyBufs are for caches that take keys as byte strings.
var keyBufs = sync.Pool{New: func() any { b := make([]byte, 0, cache.CacheKeySize); return &b }}

// cacheLookup looks in the block cache alone, not in tiers below it.
func (t *BlockBasedTable) cacheLookup(key cache.CacheKey, bt block.BlockType) rocksdb.CacheHandle {
	if t.lru != nil {
		// A nil *LRUHandle must not become a handle.
		if h := t.lru.LookupKey(key); h != nil {
			return h
		}
		return nil
	}
	if t.hyperClock != nil {
		if h := t.hyperClock.LookupKey(key); h != nil {
			return h
		}
		return nil
	}
	return t.cacheLookupAny(key, cacheItemHelpers[bt].WithoutSecondaryCompat, nil, bt)
}

// cacheLookupFull looks in the tiers below too; d is for a block of that kind.
// Upstream: BlockBasedTable::GetDataBlockFromCache.
func (t *BlockBasedTable) cacheLookupFull(rc *readContext, key cache.CacheKey, bt block.BlockType, d rocksdb.Decompressor) rocksdb.CacheHandle {
	if t.lru != nil || t.hyperClock != nil {
		return t.cacheLookup(key, bt)
	}
	return t.cacheLookupAny(key, t.helper(bt), &cacheContext{t, bt, d, rc.ro.PerfContext}, bt)
}

func (t *BlockBasedTable) cacheLookupAny(key cache.CacheKey, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, bt block.BlockType) rocksdb.CacheHandle {
	buf := keyBufs.Get().(*[]byte)
	*buf = key.Append((*buf)[:0])
	h := t.blockCache.Lookup(*buf, helper, ctx, t.cachePriority(bt), t.ioptions.Stats)
	keyBufs.Put(buf)
	return h
}

// cacheInsert gives a handle on the new entry. compressed, of typ, is for tiers
// below; empty is none.
func (t *BlockBasedTable) cacheInsert(key cache.CacheKey, obj any, bt block.BlockType, charge int, compressed []byte, typ rocksdb.CompressionType) (rocksdb.CacheHandle, error) {
	helper, priority := t.helper(bt), t.cachePriority(bt)
	switch {
	case t.lru != nil:
		h, err := t.lru.InsertKey(key, obj, helper, charge, priority, true)
		if err != nil {
			return nil, err
		}
		return h, nil
	case t.hyperClock != nil:
		h, err := t.hyperClock.InsertKey(key, obj, helper, charge, priority, true)
		if err != nil {
			return nil, err
		}
		return h, nil
	case t.tiered != nil:
		return t.tiered.InsertCompressed(key.AsSlice(), obj, helper, charge, priority, true, compressed, typ)
	}
	return t.blockCache.Insert(key.AsSlice(), obj, helper, charge, priority, true)
}

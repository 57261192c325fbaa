// Port of cache/compressed_secondary_cache.{h,cc}. Differs: a value's length and tag
// are fields beside its bytes (the charge is as if they were in front); counts are
// the cache's own, as evictions belong to no reader's perf context.

package cache

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// compTagSize is what upstream keeps in front of the bytes: source and type.
const compTagSize = 2

// compValue is an entry's object: bytes as they were given or compressed. source
// VolatileCompressedTier means that typ is this cache's doing.
type compValue struct {
	source rocksdb.CacheTier
	typ    rocksdb.CompressionType
	data   []byte                  // of memory.Alloc or allocator; nil where there are chunks
	chunks *valueChunk             // with EnableCustomSplitMerge
	alloc  rocksdb.MemoryAllocator // nil: memory.Alloc
}

// valueChunk is a part of the tag and bytes.
type valueChunk struct {
	next *valueChunk
	data []byte
}

const (
	// chunkHeader is the size of upstream's chunk without its first byte.
	chunkHeader = 23
	chunkStruct = 24
)

// mallocBinSizes are sizes of which an allocator wastes nothing.
var mallocBinSizes = [...]int{128, 256, 512, 1024, 2048, 4096, 8192, 16384}

var compHelper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc, Deleter: func(obj any) {
	v, ok := obj.(*compValue)
	if !ok || v == nil {
		return // a placeholder
	}
	for c := v.chunks; c != nil; c = c.next {
		memory.Free(c.data)
	}
	switch {
	case v.data == nil:
	case v.alloc != nil:
		v.alloc.Deallocate(v.data)
	default:
		memory.Free(v.data)
	}
}}

// sliceHelper is for bytes that are to be kept as they are.
var sliceHelper = &rocksdb.CacheItemHelper{
	Role:   rocksdb.CacheEntryRoleMisc,
	SizeOf: func(obj any) int { return len(*obj.(*[]byte)) },
	SaveTo: func(obj any, from int, out []byte) error {
		copy(out, (*obj.(*[]byte))[from:])
		return nil
	},
	Create: func([]byte, rocksdb.CompressionType, rocksdb.CacheTier, rocksdb.CacheCreateContext, rocksdb.MemoryAllocator) (any, int, error) {
		return nil, 0, rocksdb.NotSupported("bytes are no object")
	},
	WithoutSecondaryCompat: &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc},
}

// SliceCacheItemHelper is upstream's kSliceCacheItemHelper: of a *[]byte that a
// secondary cache copies.
func SliceCacheItemHelper() *rocksdb.CacheItemHelper { return sliceHelper }

// CompressedSecondaryCache is a secondary cache in memory whose values are
// compressed. What comes the first time leaves a placeholder, what comes again
// while that is there is taken; what is looked up for the upper cache to keep
// leaves a placeholder behind.
type CompressedSecondaryCache struct {
	cache        *LRUCache
	opts         rocksdb.CompressedSecondaryCacheOptions
	compressor   rocksdb.Compressor // nil for none
	decompressor rocksdb.Decompressor
	reservation  *ConcurrentCacheReservationManager
	disabled     atomic.Bool

	capacity struct {
		sync.Mutex
		bytes int
	}

	insertReal, insertDummy, uncompressedBytes, compressedBytes atomic.Uint64
	buffers                                                     sync.Pool // *[]byte
}

var _ rocksdb.SecondaryCache = (*CompressedSecondaryCache)(nil)

// NewCompressedSecondaryCache makes one; NotSupported for a compression that is not
// built in.
func NewCompressedSecondaryCache(o rocksdb.CompressedSecondaryCacheOptions) (*CompressedSecondaryCache, error) {
	if !compression.CompressionTypeSupported(o.CompressionType) {
		return nil, rocksdb.NotSupported("CompressedSecondaryCacheOptions.CompressionType", compression.CompressionTypeToString(o.CompressionType))
	}
	o.SecondaryCache = nil
	lru, err := NewLRUCache(o.LRUCacheOptions)
	if err != nil {
		return nil, err
	}
	c := &CompressedSecondaryCache{cache: lru, opts: o}
	m := compression.GetBuiltinV2CompressionManager()
	c.compressor = m.GetCompressor(&c.opts.CompressionOpts, o.CompressionType)
	c.decompressor = m.GetDecompressorOptimizeFor(o.CompressionType)
	c.reservation = NewConcurrentCacheReservationManager(NewCacheReservationManager(lru, rocksdb.CacheEntryRoleMisc, false))
	c.capacity.bytes = o.Capacity
	c.disabled.Store(o.Capacity == 0)
	return c, nil
}

// Name is "CompressedSecondaryCache".
func (c *CompressedSecondaryCache) Name() string { return "CompressedSecondaryCache" }

// doneHandle is a result that is ready at once.
type doneHandle struct {
	value  any
	charge int
}

// IsReady implements rocksdb.SecondaryCacheResultHandle, as do the others.
func (h *doneHandle) IsReady() bool { return true }

// Wait does nothing.
func (h *doneHandle) Wait() {}

// Value is the object.
func (h *doneHandle) Value() any { return h.value }

// Size is its charge.
func (h *doneHandle) Size() int { return h.charge }

func (c *CompressedSecondaryCache) buffer(n int) *[]byte {
	b, ok := c.buffers.Get().(*[]byte)
	if !ok {
		b = new([]byte)
	}
	*b = slices.Grow((*b)[:0], n)[:n]
	return b
}

// Lookup implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, _, adviseErase bool, stats rocksdb.Statistics) (rocksdb.SecondaryCacheResultHandle, bool) {
	if c.disabled.Load() {
		return nil, false
	}
	h := c.cache.Lookup(key, nil, nil, 0, nil)
	if h == nil {
		return nil, false
	}
	v, ok := h.Value().(*compValue)
	if !ok {
		c.cache.Release(h, false)
		monitoring.RecordTick(stats, rocksdb.CompressedSecondaryCacheDummyHits, 1)
		return nil, false
	}
	obj, charge, err := c.create(v, helper, ctx)
	if err != nil {
		c.cache.Release(h, true)
		return nil, false
	}
	c.cache.Release(h, adviseErase)
	if adviseErase {
		_, _ = c.cache.Insert(key, nil, compHelper, 0, rocksdb.CachePriorityLow, false) // only a note
	}
	monitoring.RecordTick(stats, rocksdb.CompressedSecondaryCacheHits, 1)
	return &doneHandle{obj, charge}, !adviseErase
}

// create makes the object of an entry.
func (c *CompressedSecondaryCache) create(v *compValue, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext) (any, int, error) {
	saved, source, typ := v.data, v.source, v.typ
	if v.chunks != nil {
		merged := mergeChunksIntoValue(v.chunks, c.buffer(0))
		defer c.buffers.Put(merged)
		saved = (*merged)[compTagSize:]
	}
	if source == rocksdb.VolatileCompressedTier {
		if typ != rocksdb.NoCompression {
			args := rocksdb.DecompressArgs{CompressionType: typ, CompressedData: saved}
			if err := c.decompressor.ExtractUncompressedSize(&args); err != nil {
				return nil, 0, err
			}
			out := c.buffer(int(args.UncompressedSize))
			defer c.buffers.Put(out)
			if err := c.decompressor.DecompressBlock(&args, *out); err != nil {
				return nil, 0, err
			}
			saved, typ = *out, rocksdb.NoCompression
		}
		source = rocksdb.VolatileTier // as if it came from the upper cache
	}
	return helper.Create(saved, typ, source, ctx, c.opts.MemoryAllocator)
}

// maybeInsertDummy notes a key that is not there.
func (c *CompressedSecondaryCache) maybeInsertDummy(key []byte) bool {
	if h := c.cache.Lookup(key, nil, nil, 0, nil); h != nil {
		c.cache.Release(h, false)
		return false
	}
	c.insertDummy.Add(1)
	_, _ = c.cache.Insert(key, nil, compHelper, 0, rocksdb.CachePriorityLow, false) // only a note
	return true
}

// Insert implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, force bool) error {
	if obj == nil {
		return rocksdb.InvalidArgument("a placeholder for a secondary cache")
	}
	if !force && c.maybeInsertDummy(key) {
		return nil
	}
	return c.insertInternal(key, obj, helper, rocksdb.NoCompression, rocksdb.VolatileCompressedTier)
}

// InsertSaved implements rocksdb.SecondaryCache. It takes what is compressed and is
// not to be split.
func (c *CompressedSecondaryCache) InsertSaved(key, saved []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier) error {
	if source == rocksdb.VolatileCompressedTier || typ == rocksdb.NoCompression || c.opts.EnableCustomSplitMerge || c.maybeInsertDummy(key) {
		return nil
	}
	return c.insertInternal(key, &saved, sliceHelper, typ, source)
}

func (c *CompressedSecondaryCache) insertInternal(key []byte, obj any, helper *rocksdb.CacheItemHelper, from rocksdb.CompressionType, source rocksdb.CacheTier) error {
	n := helper.SizeOf(obj)
	raw := c.buffer(compTagSize + n)
	defer c.buffers.Put(raw)
	if err := helper.SaveTo(obj, 0, (*raw)[compTagSize:]); err != nil {
		return err
	}
	v := &compValue{source: source, typ: from}
	tagged := *raw
	if c.compressor != nil && from == rocksdb.NoCompression && n > 0 && !c.opts.DoNotCompressRoles.Contains(helper.Role) {
		out := c.buffer(compTagSize + n - 1)
		defer c.buffers.Put(out)
		size, typ, err := c.compressor.CompressBlock(tagged[compTagSize:], (*out)[compTagSize:], nil)
		if err != nil {
			return err
		}
		c.uncompressedBytes.Add(uint64(n))
		if typ == rocksdb.NoCompression {
			size = n
		} else {
			tagged = (*out)[:compTagSize+size]
		}
		c.compressedBytes.Add(uint64(size))
		v.typ = typ
	}
	c.insertReal.Add(1)
	charge := 0
	if c.opts.EnableCustomSplitMerge {
		v.chunks, charge = splitValueIntoChunks(tagged)
	} else {
		header := compTagSize + util.VarintLength(uint64(len(tagged)))
		data := tagged[compTagSize:]
		if a := c.opts.MemoryAllocator; a != nil {
			v.alloc, v.data = a, a.Allocate(max(len(data), 1))
			charge = a.UsableSize(v.data, len(data)) + header
		} else {
			v.data = memory.Alloc(max(len(data), 1))
			charge = memory.MallocUsableSize(header + len(data))
		}
		v.data = v.data[:len(data)]
		copy(v.data, data)
	}
	_, err := c.cache.Insert(key, v, compHelper, charge, rocksdb.CachePriorityLow, false) // without a handle it does not fail
	return err
}

// splitValueIntoChunks copies a value to a chain of chunks, and gives their charge.
// A chunk takes what is left unless that is well between two sizes of allocators.
func splitValueIntoChunks(value []byte) (head *valueChunk, charge int) {
	tail := &head
	for len(value) > 0 {
		size := chunkHeader + len(value)
		i := 0
		for i < len(mallocBinSizes) && mallocBinSizes[i] <= size {
			i++
		}
		if i > 0 && i < len(mallocBinSizes) && mallocBinSizes[i]-size >= mallocBinSizes[0] {
			size = mallocBinSizes[i-1]
		}
		n := size - chunkStruct + 1
		c := &valueChunk{data: memory.Alloc(n)[:n]}
		copy(c.data, value)
		value = value[n:]
		*tail, tail = c, &c.next
		charge += size
	}
	return head, charge
}

// mergeChunksIntoValue puts a chain together in b.
func mergeChunksIntoValue(head *valueChunk, b *[]byte) *[]byte {
	*b = (*b)[:0]
	for c := head; c != nil; c = c.next {
		*b = append(*b, c.data...)
	}
	return b
}

// SupportForceErase implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) SupportForceErase() bool { return true }

// Erase implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) Erase(key []byte) { c.cache.Erase(key) }

// WaitAll implements rocksdb.SecondaryCache; lookups are ready at once.
func (c *CompressedSecondaryCache) WaitAll([]rocksdb.SecondaryCacheResultHandle) {}

// SetCapacity implements rocksdb.SecondaryCache; 0 turns it off.
func (c *CompressedSecondaryCache) SetCapacity(capacity int) error {
	c.capacity.Lock()
	defer c.capacity.Unlock()
	c.capacity.bytes = capacity
	c.cache.SetCapacity(capacity)
	c.disabled.Store(capacity == 0)
	return nil
}

// GetCapacity implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) GetCapacity() (int, error) {
	c.capacity.Lock()
	defer c.capacity.Unlock()
	return c.capacity.bytes, nil
}

// Deflate implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) Deflate(decrease int) error {
	return c.reservation.UpdateCacheReservationBy(decrease)
}

// Inflate implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) Inflate(increase int) error {
	return c.reservation.UpdateCacheReservationBy(-increase)
}

// GetPrintableOptions implements rocksdb.SecondaryCache.
func (c *CompressedSecondaryCache) GetPrintableOptions() string {
	return c.cache.GetPrintableOptions() + fmt.Sprintf("    compression_type : %s\n    compression_opts : %s\n",
		compression.CompressionTypeToString(c.opts.CompressionType), compression.CompressionOptionsToString(&c.opts.CompressionOpts))
}

// GetUsage is the charge of what is there, in bytes.
func (c *CompressedSecondaryCache) GetUsage() int { return c.cache.GetUsage() }

// GetPinnedUsage is the charge of reservations and of entries being read.
func (c *CompressedSecondaryCache) GetPinnedUsage() int { return c.cache.GetPinnedUsage() }

// CompressedSecondaryCounters are what a cache has done, of all users together;
// upstream has them in perf contexts.
type CompressedSecondaryCounters struct {
	InsertReal, InsertDummy, UncompressedBytes, CompressedBytes uint64
}

// Counters gives the figures so far.
func (c *CompressedSecondaryCache) Counters() CompressedSecondaryCounters {
	return CompressedSecondaryCounters{c.insertReal.Load(), c.insertDummy.Load(), c.uncompressedBytes.Load(), c.compressedBytes.Load()}
}

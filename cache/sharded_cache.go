// Port of cache/sharded_cache.{h,cc}. Differs: the shards live in the concrete
// caches, for direct calls; this file has what they share.

package cache

import (
	"fmt"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const seedMask = 0x7fffffff

// quasiRandomSeeds counts the caches of this process, so that each gets its
// own seed.
var quasiRandomSeeds atomic.Uint32

var processSeed = sync.OnceValue(func() uint32 {
	var b [8]byte
	util.EncodeFixed64(b[:], uint64(os.Getpid()))
	return util.Lower32of64(util.NPHash64(b[:], uint64(time.Now().UnixNano())))
})

func determineSeed(option int32) uint32 {
	if option >= 0 {
		return uint32(option)
	}
	if option == rocksdb.HostHashSeed {
		if host, err := os.Hostname(); err == nil {
			return util.GetSliceHash([]byte(host)) & seedMask
		}
		return processSeed() & seedMask
	}
	// Consecutive numbers times an odd constant stay distinct within 31 bits,
	// and the folding by 17 bits is a bijection too.
	v := (processSeed() + quasiRandomSeeds.Add(1)) & seedMask
	v = v * 1150630961 & seedMask
	v ^= v >> 17
	return v * 1320603883 & seedMask
}

// shardedCacheBase is the configuration all shards share.
type shardedCacheBase struct {
	lastID    atomic.Uint64
	shardMask uint32
	hashSeed  uint32
	allocator rocksdb.MemoryAllocator

	config struct {
		sync.Mutex
		strictCapacityLimit bool
		capacity            int
	}
}

func (c *shardedCacheBase) init(o *rocksdb.ShardedCacheOptions) {
	c.lastID.Store(1)
	c.shardMask = 1<<uint(o.NumShardBits) - 1
	c.hashSeed = determineSeed(o.HashSeed)
	c.allocator = o.MemoryAllocator
	c.config.strictCapacityLimit = o.StrictCapacityLimit
	c.config.capacity = o.Capacity
}

// MemoryAllocator is what cached blocks should be allocated with; nil is the
// engine's own way.
func (c *shardedCacheBase) MemoryAllocator() rocksdb.MemoryAllocator { return c.allocator }

func (c *shardedCacheBase) computePerShardCapacity(capacity int) int {
	n := c.GetNumShards()
	return (capacity + n - 1) / n
}

// GetNumShards is the number of shards, a power of two.
func (c *shardedCacheBase) GetNumShards() int { return int(c.shardMask) + 1 }

// GetNumShardBits is its logarithm.
func (c *shardedCacheBase) GetNumShardBits() int { return bits.OnesCount32(c.shardMask) }

// GetHashSeed is the seed of the keys' hash.
func (c *shardedCacheBase) GetHashSeed() uint32 { return c.hashSeed }

// NewID gives a number unique within this cache.
func (c *shardedCacheBase) NewID() uint64 { return c.lastID.Add(1) - 1 }

// GetCapacity is the limit in bytes.
func (c *shardedCacheBase) GetCapacity() int {
	c.config.Lock()
	defer c.config.Unlock()
	return c.config.capacity
}

// HasStrictCapacityLimit tells whether inserts fail when the cache is full.
func (c *shardedCacheBase) HasStrictCapacityLimit() bool {
	c.config.Lock()
	defer c.config.Unlock()
	return c.config.strictCapacityLimit
}

func (c *shardedCacheBase) printableOptions() string {
	c.config.Lock()
	capacity, strict := c.config.capacity, 0
	if c.config.strictCapacityLimit {
		strict = 1
	}
	c.config.Unlock()
	allocator := "None"
	if c.allocator != nil {
		allocator = c.allocator.Name()
	}
	return fmt.Sprintf("    capacity : %d\n    num_shard_bits : %d\n    strict_capacity_limit : %d\n    memory_allocator : %s\n",
		capacity, c.GetNumShardBits(), strict, allocator)
}

// DefaultMinShardSize is the least size of a shard that the number of shards
// is chosen for.
const DefaultMinShardSize = 512 * 1024

// GetDefaultCacheShardBits gives the logarithm of the number of shards for a
// capacity: shards of at least minShardSize bytes, at most 64 of them.
func GetDefaultCacheShardBits(capacity, minShardSize int) int {
	n := 0
	for shards := capacity / minShardSize >> 1; shards != 0; shards >>= 1 {
		if n++; n >= 6 {
			break
		}
	}
	return n
}

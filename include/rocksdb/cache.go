// Port of include/rocksdb/{cache,advanced_cache}.h. Differs: objects are Go
// values; a key is any byte string (16 bytes for blocks).

package rocksdb

// CacheEntryRole says what an entry is, for statistics and charging.
type CacheEntryRole uint8

// The roles, in upstream's order.
const (
	CacheEntryRoleDataBlock CacheEntryRole = iota
	CacheEntryRoleFilterBlock
	CacheEntryRoleFilterMetaBlock
	CacheEntryRoleDeprecatedFilterBlock
	CacheEntryRoleIndexBlock
	CacheEntryRoleOtherBlock
	CacheEntryRoleWriteBuffer
	CacheEntryRoleCompressionDictionaryBuildingBuffer
	CacheEntryRoleFilterConstruction
	CacheEntryRoleBlockBasedTableReader
	CacheEntryRoleFileMetadata
	CacheEntryRoleBlobValue
	CacheEntryRoleBlobCache
	CacheEntryRoleMisc
	NumCacheEntryRoles
)

// CachePriority decides how soon an entry is evicted.
type CachePriority uint8

// The priorities.
const (
	CachePriorityHigh CachePriority = iota
	CachePriorityLow
	CachePriorityBottom
)

// CacheMetadataChargePolicy decides whether an entry's own bookkeeping counts
// against the capacity.
type CacheMetadataChargePolicy uint8

// The policies.
const (
	DontChargeCacheMetadata CacheMetadataChargePolicy = iota
	FullChargeCacheMetadata
)

// CacheItemHelper describes a kind of entry. Helpers are package variables and
// compared by address.
type CacheItemHelper struct {
	Role CacheEntryRole
	// Deleter frees the object once the last reference is gone; may be nil.
	Deleter func(obj any)
	// SizeOf and SaveTo serialise the object for a secondary cache; nil when
	// the kind cannot be.
	SizeOf func(obj any) int
	SaveTo func(obj any, from int, out []byte) error
	// Create makes the object of serialised bytes.
	Create func(data []byte) (obj any, charge int, err error)
}

// CacheHandle is a reference on an entry.
type CacheHandle interface {
	// Value is the object; nil for a placeholder.
	Value() any
}

// Cache maps keys to objects within a capacity in bytes. Each handle that
// Insert or Lookup returns has to be released once.
type Cache interface {
	Name() string
	// Insert adds obj, replacing an entry of the same key. On an error (strict
	// limit met) obj is not taken and stays the caller's. When wantHandle is
	// false the entry may be evicted at once, its deleter run, and nil is
	// returned.
	Insert(key []byte, obj any, helper *CacheItemHelper, charge int, priority CachePriority, wantHandle bool) (CacheHandle, error)
	// CreateStandalone makes an entry outside the table, charged to the cache.
	CreateStandalone(key []byte, obj any, helper *CacheItemHelper, charge int, allowUncharged bool) CacheHandle
	// Lookup gives nil when there is no entry.
	Lookup(key []byte, helper *CacheItemHelper, priority CachePriority, stats Statistics) CacheHandle
	// Ref adds a reference to a held handle.
	Ref(h CacheHandle) bool
	// Release drops a reference; true when that freed the entry.
	Release(h CacheHandle, eraseIfLastRef bool) bool
	Erase(key []byte)
	// NewID gives a number unique within this cache.
	NewID() uint64
	SetCapacity(capacity int)
	SetStrictCapacityLimit(strict bool)
	HasStrictCapacityLimit() bool
	GetCapacity() int
	GetUsage() int
	GetUsageOf(h CacheHandle) int
	GetPinnedUsage() int
	GetOccupancyCount() int
	GetCharge(h CacheHandle) int
	GetCacheItemHelper(h CacheHandle) *CacheItemHelper
	// ApplyToAllEntries calls f for each entry, with locks held for parts of
	// the table only.
	ApplyToAllEntries(f func(key []byte, obj any, charge int, helper *CacheItemHelper))
	EraseUnRefEntries()
	// DisownData lets the process exit without freeing the entries.
	DisownData()
	GetPrintableOptions() string
}

// Values of ShardedCacheOptions.HashSeed that choose a seed: one that differs
// from cache to cache, or one that depends on the host alone.
const (
	QuasiRandomHashSeed int32 = -1
	HostHashSeed        int32 = -2
)

// ShardedCacheOptions are common to the caches made of shards.
type ShardedCacheOptions struct {
	Capacity int // bytes
	// NumShardBits makes 1<<n shards; -1 chooses by capacity (shards of at
	// least 512 KiB, at most 64 of them).
	NumShardBits int
	// StrictCapacityLimit makes Insert fail rather than exceed Capacity.
	StrictCapacityLimit bool
	MemoryAllocator     MemoryAllocator // nil for the default
	// MetadataChargePolicy charges bookkeeping by default.
	MetadataChargePolicy CacheMetadataChargePolicy
	// HashSeed is a seed in 0..1<<31-1, QuasiRandomHashSeed or HostHashSeed.
	HashSeed int32
}

// LRUCacheOptions configure package cache's NewLRUCache.
type LRUCacheOptions struct {
	ShardedCacheOptions
	// HighPriPoolRatio and LowPriPoolRatio are the parts of the capacity that
	// entries of these priorities (and for the low pool, entries hit before)
	// keep against others; their sum is at most 1. Default 0.5 and 0.
	HighPriPoolRatio float64
	LowPriPoolRatio  float64
}

// DefaultLRUCacheOptions gives upstream's defaults for a capacity in bytes.
func DefaultLRUCacheOptions(capacity int) LRUCacheOptions {
	return LRUCacheOptions{
		ShardedCacheOptions: defaultShardedCacheOptions(capacity),
		HighPriPoolRatio:    0.5,
	}
}

func defaultShardedCacheOptions(capacity int) ShardedCacheOptions {
	return ShardedCacheOptions{
		Capacity:             capacity,
		NumShardBits:         -1,
		MetadataChargePolicy: FullChargeCacheMetadata,
		HashSeed:             HostHashSeed,
	}
}

// HyperClockCacheOptions configure package cache's NewHyperClockCache.
type HyperClockCacheOptions struct {
	ShardedCacheOptions
	// EstimatedEntryCharge, when above 0, is the average charge of an entry
	// and fixes the table's size; 0 lets the table grow with its contents.
	EstimatedEntryCharge int
	// MinAvgEntryCharge bounds the growing table's size from above. Default
	// 450.
	MinAvgEntryCharge int
	// EvictionEffortCap bounds how much pinned entries may slow evictions.
	// Default 30.
	EvictionEffortCap int
}

// DefaultHyperClockCacheOptions gives upstream's defaults for a capacity in
// bytes.
func DefaultHyperClockCacheOptions(capacity int) HyperClockCacheOptions {
	return HyperClockCacheOptions{
		ShardedCacheOptions: defaultShardedCacheOptions(capacity),
		MinAvgEntryCharge:   450,
		EvictionEffortCap:   30,
	}
}

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

// CacheCreateContext is what a kind of entry needs besides its bytes to make
// objects of them: settings, decompressors. It is given to Lookup and handed on to
// CacheItemHelper.Create. One that is a PerfContextHolder is counted in.
type CacheCreateContext any

// PerfContextHolder is a CacheCreateContext with a perf context, which may be nil.
type PerfContextHolder interface{ CachePerfContext() *PerfContext }

// CacheItemHelper describes a kind of entry. Helpers are package variables and
// compared by address.
type CacheItemHelper struct {
	Role CacheEntryRole
	// Deleter frees the object once the last reference is gone; may be nil.
	Deleter func(obj any)
	// SizeOf, SaveTo and Create carry the object through a secondary cache; all
	// or none are nil. SaveTo writes len(out) of the SizeOf bytes, beginning with
	// from. Create makes the object of such bytes, which are not its own, or of
	// what source, the tier that answers for it, has compressed of them.
	SizeOf func(obj any) int
	SaveTo func(obj any, from int, out []byte) error
	Create func(data []byte, typ CompressionType, source CacheTier, ctx CacheCreateContext, alloc MemoryAllocator) (obj any, charge int, err error)
	// WithoutSecondaryCompat is the helper of the same role and deleter without
	// the three, for entries that are in a secondary cache already.
	WithoutSecondaryCompat *CacheItemHelper
}

// IsSecondaryCacheCompatible tells whether entries can go through a secondary
// cache.
func (h *CacheItemHelper) IsSecondaryCacheCompatible() bool { return h != nil && h.SizeOf != nil }

// CacheHandle is a reference on an entry.
type CacheHandle interface {
	// Value is the object; nil for a placeholder.
	Value() any
}

// RedundantInsert is a handle that can tell that an entry of the same key was in
// the cache when Insert gave it. Upstream: Status::OkOverwritten.
type RedundantInsert interface{ WasRedundant() bool }

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
	// Lookup gives nil when there is no entry. Where there is a secondary cache
	// and the helper can be used with it, that is asked too; ctx, which may be
	// nil, is for the helper's Create.
	Lookup(key []byte, helper *CacheItemHelper, ctx CacheCreateContext, priority CachePriority, stats Statistics) CacheHandle
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

// EvictionCallback is told of an entry that is evicted, which is no longer found,
// and whether Lookup had found it. True means that it has taken the object over:
// the deleter does not run. It must not use the cache.
type EvictionCallback func(key []byte, h CacheHandle, wasHit bool) bool

// EvictionNotifier is a cache that tells of evictions. nil takes a callback away.
type EvictionNotifier interface{ SetEvictionCallback(f EvictionCallback) }

// ProblemReporter is a cache that can tell whether it is badly configured for what
// is in it; the periodic dump of statistics asks. Upstream: Cache::ReportProblems.
type ProblemReporter interface{ ReportProblems(log Logger) }

// TieredCache is a cache with tiers below.
type TieredCache interface {
	Cache
	// InsertCompressed is Insert with the object's bytes as they are on disk,
	// compressed by typ, for the tiers below. Empty bytes are none.
	InsertCompressed(key []byte, obj any, helper *CacheItemHelper, charge int, priority CachePriority, wantHandle bool, compressed []byte, typ CompressionType) (CacheHandle, error)
	// StartAsyncLookup begins what Lookup does: h.IsPending afterwards means that
	// WaitAll has to be called with it. h must not be moved meanwhile.
	StartAsyncLookup(h *AsyncLookupHandle)
	// WaitAll ends lookups; those that are not pending are left alone.
	WaitAll(hs []*AsyncLookupHandle)
	// GetSecondaryCacheCapacity is in bytes, without what is deflated.
	GetSecondaryCacheCapacity() (int, error)
	// GetSecondaryCachePinnedUsage is what reservations take of it, in bytes.
	GetSecondaryCachePinnedUsage() (int, error)
}

// AsyncLookupHandle is a lookup on its way. The first five fields are the caller's.
type AsyncLookupHandle struct {
	Key           []byte
	Helper        *CacheItemHelper
	CreateContext CacheCreateContext
	Priority      CachePriority
	Stats         Statistics

	// Result is valid once the lookup is not pending; nil is a miss.
	Result CacheHandle

	// What caches keep here meanwhile.
	Pending      SecondaryCacheResultHandle
	PendingCache SecondaryCache
	FoundDummy   bool
	KeptInSec    bool
}

// IsPending tells whether the lookup waits for WaitAll.
func (h *AsyncLookupHandle) IsPending() bool { return h.Pending != nil }

// IsReady tells whether WaitAll would not wait.
func (h *AsyncLookupHandle) IsReady() bool { return h.Pending == nil || h.Pending.IsReady() }

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
	// SecondaryCache takes what is evicted and is asked for what is missed; nil
	// is none.
	SecondaryCache SecondaryCache
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

// CompressedSecondaryCacheOptions configure package cache's
// NewCompressedSecondaryCache. It is made of an LRUCache; SecondaryCache is not
// used.
type CompressedSecondaryCacheOptions struct {
	LRUCacheOptions
	// CompressionType, LZ4Compression by default, of what comes uncompressed.
	CompressionType CompressionType
	CompressionOpts CompressionOptions
	// EnableCustomSplitMerge cuts values into chunks of allocators' sizes.
	EnableCustomSplitMerge bool
	// DoNotCompressRoles are stored as they are; filter blocks by default.
	DoNotCompressRoles CacheEntryRoleSet
}

// DefaultCompressedSecondaryCacheOptions gives upstream's defaults for a capacity
// in bytes.
func DefaultCompressedSecondaryCacheOptions(capacity int) CompressedSecondaryCacheOptions {
	return CompressedSecondaryCacheOptions{
		LRUCacheOptions: DefaultLRUCacheOptions(capacity), CompressionType: LZ4Compression, CompressionOpts: DefaultCompressionOptions(),
		DoNotCompressRoles: MakeCacheEntryRoleSet(CacheEntryRoleFilterBlock),
	}
}

// CacheEntryRoleSet is a set of roles.
type CacheEntryRoleSet uint32

// MakeCacheEntryRoleSet makes the set of some roles.
func MakeCacheEntryRoleSet(roles ...CacheEntryRole) (s CacheEntryRoleSet) {
	for _, r := range roles {
		s |= 1 << r
	}
	return s
}

// Contains tells whether r is in s.
func (s CacheEntryRoleSet) Contains(r CacheEntryRole) bool { return s>>r&1 != 0 }

// PrimaryCacheType is the kind of a tiered cache's upper cache.
type PrimaryCacheType uint8

// The kinds.
const (
	CacheTypeLRU PrimaryCacheType = iota
	CacheTypeHCC
)

// TieredAdmissionPolicy decides what a tiered cache's tiers take from each other.
type TieredAdmissionPolicy uint8

// The policies, in upstream's order.
const (
	// AdmPolicyAuto is AdmPolicyThreeQueue with a third tier, AdmPolicyPlaceholder
	// without.
	AdmPolicyAuto TieredAdmissionPolicy = iota
	// AdmPolicyPlaceholder takes an entry at its second coming; the first leaves
	// a placeholder.
	AdmPolicyPlaceholder
	// AdmPolicyAllowCacheHits also takes an evicted entry that was looked up.
	AdmPolicyAllowCacheHits
	// AdmPolicyThreeQueue is for three tiers: blocks read from files go to the
	// third compressed as they are, evicted ones nowhere.
	AdmPolicyThreeQueue
	// AdmPolicyAllowAll takes every evicted entry.
	AdmPolicyAllowAll
	// AdmPolicyMax is no policy: UpdateTieredCache leaves it as it is.
	AdmPolicyMax
)

// TieredCacheOptions configure package cache's NewTieredCache.
type TieredCacheOptions struct {
	// LRU or HCC, by CacheType, has the upper cache's options; Capacity and
	// SecondaryCache in them are not used.
	LRU       *LRUCacheOptions
	HCC       *HyperClockCacheOptions
	CacheType PrimaryCacheType
	AdmPolicy TieredAdmissionPolicy
	// CompCacheOpts are the compressed secondary cache's; Capacity is not used.
	CompCacheOpts CompressedSecondaryCacheOptions
	// TotalCapacity, in bytes, is both caches'; CompressedSecondaryRatio is the
	// lower one's part of it.
	TotalCapacity            int
	CompressedSecondaryRatio float64
	// NvmSecCache is the third tier; nil is none.
	NvmSecCache SecondaryCache
}

// Port of include/rocksdb/table.h. Differs: TableFactory has names and options
// only; package table's Factory adds the readers and builders. The constructors
// are in the packages of the formats.

package rocksdb

import "math"

// ChecksumType is a block checksum; the number is in each file's footer.
type ChecksumType uint8

// The checksums.
const (
	NoChecksum ChecksumType = iota
	CRC32c
	XXHash
	XXHash64
	XXH3
)

// PinningTier says which metadata blocks stay in the block cache while their
// file is open.
type PinningTier uint8

// The tiers.
const (
	// PinningTierFallback follows the older options
	// PinTopLevelIndexAndFilter and PinL0FilterAndIndexBlocksInCache.
	PinningTierFallback PinningTier = iota
	PinningTierNone
	// PinningTierFlushedAndSimilar pins for files about as small as flushes.
	PinningTierFlushedAndSimilar
	PinningTierAll
)

// MetadataCacheOptions selects the pinning of each kind of metadata block.
type MetadataCacheOptions struct {
	TopLevelIndexPinning PinningTier
	PartitionPinning     PinningTier
	UnpartitionedPinning PinningTier
}

// CacheEntryRoleDecision says whether memory is charged to the block cache.
type CacheEntryRoleDecision uint8

// The decisions.
const (
	CacheEntryRoleEnabled CacheEntryRoleDecision = iota
	CacheEntryRoleDisabled
	CacheEntryRoleFallback
)

// CacheEntryRoleOptions are the options of one role.
type CacheEntryRoleOptions struct{ Charged CacheEntryRoleDecision }

// CacheUsageOptions says which memory is charged to the block cache.
type CacheUsageOptions struct {
	Options          CacheEntryRoleOptions
	OptionsOverrides map[CacheEntryRole]CacheEntryRoleOptions
}

// IndexType is the form of a block-based table's index.
type IndexType uint8

// The forms.
const (
	BinarySearch IndexType = iota
	HashSearch
	TwoLevelIndexSearch
	BinarySearchWithFirstKey
)

// BlockSearchType is how a key is found in an index block.
type BlockSearchType uint8

// The ways.
const (
	BlockSearchBinary BlockSearchType = iota
	BlockSearchInterpolation
	BlockSearchAuto
)

// DataBlockIndexType is the form of the index inside a data block.
type DataBlockIndexType uint8

// The forms.
const (
	DataBlockBinarySearch DataBlockIndexType = iota
	DataBlockBinaryAndHash
)

// IndexShorteningMode says which index keys may be shortened.
type IndexShorteningMode uint8

// The modes.
const (
	NoShortening IndexShorteningMode = iota
	ShortenSeparators
	ShortenSeparatorsAndSuccessor
)

// PrepopulateBlockCache says which blocks are put in the cache as they are
// written.
type PrepopulateBlockCache uint8

// The choices.
const (
	PrepopulateBlockCacheDisable PrepopulateBlockCache = iota
	PrepopulateBlockCacheFlushOnly
	PrepopulateBlockCacheFlushAndCompaction
)

// BlockBasedTableOptions are the options of the default table format.
type BlockBasedTableOptions struct {
	// FlushBlockPolicyFactory decides when a block is full; nil (default) is by
	// BlockSize and BlockSizeDeviation.
	FlushBlockPolicyFactory FlushBlockPolicyFactory
	// CacheIndexAndFilterBlocks keeps index and filter blocks in the block
	// cache instead of with the open file. Default false.
	CacheIndexAndFilterBlocks bool
	// CacheIndexAndFilterBlocksWithHighPriority puts them in the cache's high
	// priority pool. Default true.
	CacheIndexAndFilterBlocksWithHighPriority bool
	// PinL0FilterAndIndexBlocksInCache pins those of level 0. Default false.
	PinL0FilterAndIndexBlocksInCache bool
	// PinTopLevelIndexAndFilter pins the top level of partitioned ones.
	// Default true.
	PinTopLevelIndexAndFilter bool
	// MetadataCacheOptions refines the two above.
	MetadataCacheOptions MetadataCacheOptions
	// IndexType. Default BinarySearch.
	IndexType IndexType
	// IndexBlockSearchType. Default BlockSearchBinary.
	IndexBlockSearchType BlockSearchType
	// DataBlockIndexType. Default DataBlockBinarySearch.
	DataBlockIndexType DataBlockIndexType
	// DataBlockHashTableUtilRatio is entries over buckets of the data block's
	// hash index. Default 0.75.
	DataBlockHashTableUtilRatio float64
	// Checksum of new files' blocks. Default XXH3.
	Checksum ChecksumType
	// NoBlockCache reads without a block cache. Default false.
	NoBlockCache bool
	// BlockCache; nil (default) makes one of 32 MiB.
	BlockCache Cache
	// PersistentCache keeps blocks on a device; nil (default) is none.
	PersistentCache PersistentCache
	// BlockSize is the wanted size of an uncompressed data block, in bytes.
	// Default 4096.
	BlockSize uint64
	// BlockSizeDeviation closes a block early when less than this percentage
	// of BlockSize is left and the next entry would exceed it. Default 10.
	BlockSizeDeviation int
	// BlockRestartInterval is the number of entries between restart points.
	// Default 16.
	BlockRestartInterval int
	// IndexBlockRestartInterval is the same for index blocks. Default 1.
	IndexBlockRestartInterval int
	// MetadataBlockSize is the wanted size of index and filter partitions, in
	// bytes. Default 4096.
	MetadataBlockSize uint64
	// CacheUsageOptions says which memory is charged to the block cache.
	CacheUsageOptions CacheUsageOptions
	// PartitionFilters cuts filters like TwoLevelIndexSearch cuts the index.
	// Default false.
	PartitionFilters bool
	// DecouplePartitionedFilters lets filter partitions end where they like.
	// Default true.
	DecouplePartitionedFilters bool
	// OptimizeFiltersForMemory sizes filters to the allocator's classes.
	// Default true.
	OptimizeFiltersForMemory bool
	// UseDeltaEncoding stores keys as differences in data blocks. Default true.
	UseDeltaEncoding bool
	// FilterPolicy; nil (default) is none.
	FilterPolicy FilterPolicy
	// UserDefinedIndexFactory adds an index of the application's making.
	UserDefinedIndexFactory UserDefinedIndexFactory
	// UseUDIAsPrimaryIndex reads by that index. Default false.
	UseUDIAsPrimaryIndex bool
	// FailIfNoUDIOnOpen refuses files without it. Default false.
	FailIfNoUDIOnOpen bool
	// WholeKeyFiltering puts whole keys in filters. Default true.
	WholeKeyFiltering bool
	// DetectFilterConstructCorruption checks each filter as it is built.
	// Default false.
	DetectFilterConstructCorruption bool
	// VerifyCompression decompresses each block as it is written. Default
	// false.
	VerifyCompression bool
	// ReadAmpBytesPerBit, when not 0, measures how much of each loaded block
	// is used, one bit for so many bytes. Default 0.
	ReadAmpBytesPerBit uint32
	// FormatVersion of new files, 2 to 7. Default 7.
	FormatVersion uint32
	// SeparateKeyValueInDataBlock stores keys and values apart. Default false.
	SeparateKeyValueInDataBlock bool
	// UniformCVThreshold is the coefficient of variation below which a block
	// counts as uniform; negative (default -1) marks none.
	UniformCVThreshold float64
	// EnableIndexCompression. Default true.
	EnableIndexCompression bool
	// BlockAlign pads blocks to pages of 4096 bytes. Default false.
	BlockAlign bool
	// SuperBlockAlignmentSize keeps blocks from crossing multiples of it; 0
	// (default) does not. Bytes, a power of two.
	SuperBlockAlignmentSize uint64
	// SuperBlockAlignmentSpaceOverheadRatio limits the padding to the
	// alignment size divided by it. Default 128.
	SuperBlockAlignmentSpaceOverheadRatio uint64
	// IndexShortening. Default ShortenSeparators.
	IndexShortening IndexShorteningMode
	// MaxAutoReadaheadSize limits automatic readahead, in bytes; 0 turns it
	// off. Default 256 KiB.
	MaxAutoReadaheadSize uint64
	// PrepopulateBlockCache. Default PrepopulateBlockCacheDisable.
	PrepopulateBlockCache PrepopulateBlockCache
	// InitialAutoReadaheadSize is where automatic readahead starts, in bytes.
	// Default 8 KiB.
	InitialAutoReadaheadSize uint64
	// NumFileReadsForAutoReadahead is the number of sequential reads that start
	// readahead. Default 2.
	NumFileReadsForAutoReadahead uint64
}

// Names of option structs and table formats.
const (
	BlockBasedTableOptionsName = "BlockTableOptions"
	PlainTableOptionsName      = "PlainTableOptions"
	CuckooTableOptionsName     = "CuckooTableOptions"

	BlockCacheOptsName  = "BlockCache"
	BlockBasedTableName = "BlockBasedTable"
	PlainTableName      = "PlainTable"
	CuckooTableName     = "CuckooTable"
)

// DefaultBlockBasedTableOptions gives the defaults.
func DefaultBlockBasedTableOptions() BlockBasedTableOptions {
	return BlockBasedTableOptions{
		CacheIndexAndFilterBlocksWithHighPriority: true,
		PinTopLevelIndexAndFilter:                 true,
		DataBlockHashTableUtilRatio:               0.75,
		Checksum:                                  XXH3,
		BlockSize:                                 4 * 1024,
		BlockSizeDeviation:                        10,
		BlockRestartInterval:                      16,
		IndexBlockRestartInterval:                 1,
		MetadataBlockSize:                         4096,
		CacheUsageOptions: CacheUsageOptions{
			Options: CacheEntryRoleOptions{Charged: CacheEntryRoleFallback},
		},
		DecouplePartitionedFilters:            true,
		OptimizeFiltersForMemory:              true,
		UseDeltaEncoding:                      true,
		WholeKeyFiltering:                     true,
		FormatVersion:                         7,
		UniformCVThreshold:                    -1,
		EnableIndexCompression:                true,
		SuperBlockAlignmentSpaceOverheadRatio: 128,
		IndexShortening:                       ShortenSeparators,
		MaxAutoReadaheadSize:                  256 * 1024,
		InitialAutoReadaheadSize:              8 * 1024,
		NumFileReadsForAutoReadahead:          2,
	}
}

// Properties of block-based tables.
const (
	BlockBasedTablePropertyIndexType                  = "rocksdb.block.based.table.index.type"
	BlockBasedTablePropertyWholeKeyFiltering          = "rocksdb.block.based.table.whole.key.filtering"
	BlockBasedTablePropertyPrefixFiltering            = "rocksdb.block.based.table.prefix.filtering"
	BlockBasedTablePropertyDecoupledPartitionedFilter = "rocksdb.block.based.table.decoupled.partitioned.filters"
)

// EncodingType is how a plain table stores keys.
type EncodingType uint8

// The encodings.
const (
	EncodingPlain EncodingType = iota
	EncodingPrefix
)

// PlainTableVariableLength as UserKeyLen allows keys of any length.
const PlainTableVariableLength uint32 = 0

// Properties of plain tables.
const (
	PlainTablePropertyEncodingType   = "rocksdb.plain.table.encoding.type"
	PlainTablePropertyBloomVersion   = "rocksdb.plain.table.bloom.version"
	PlainTablePropertyNumBloomBlocks = "rocksdb.plain.table.bloom.numblocks"
)

// PlainTableOptions are the options of the plain table format.
type PlainTableOptions struct {
	// UserKeyLen is the length of all keys in bytes, or
	// PlainTableVariableLength (default).
	UserKeyLen uint32
	// BloomBitsPerKey; 0 is no filter. Default 10.
	BloomBitsPerKey int
	// HashTableRatio is prefixes over buckets; 0 is binary search. Default
	// 0.75.
	HashTableRatio float64
	// IndexSparseness is one index entry for so many keys of a prefix.
	// Default 16.
	IndexSparseness uint64
	// HugePageTLBSize allocates from huge pages of that size in bytes.
	// Default 0.
	HugePageTLBSize uint64
	// EncodingType. Default EncodingPlain.
	EncodingType EncodingType
	// FullScanMode allows only whole scans, without an index. Default false.
	FullScanMode bool
	// StoreIndexInFile keeps index and filter in the file. Default false.
	StoreIndexInFile bool
}

// DefaultPlainTableOptions gives the defaults.
func DefaultPlainTableOptions() PlainTableOptions {
	return PlainTableOptions{BloomBitsPerKey: 10, HashTableRatio: 0.75, IndexSparseness: 16}
}

// Properties of cuckoo tables.
const (
	CuckooTablePropertyEmptyKey            = "rocksdb.cuckoo.bucket.empty.key"
	CuckooTablePropertyValueLength         = "rocksdb.cuckoo.value.length"
	CuckooTablePropertyNumHashFunc         = "rocksdb.cuckoo.hash.num"
	CuckooTablePropertyCuckooBlockSize     = "rocksdb.cuckoo.hash.cuckooblocksize"
	CuckooTablePropertyHashTableSize       = "rocksdb.cuckoo.hash.size"
	CuckooTablePropertyIsLastLevel         = "rocksdb.cuckoo.file.islastlevel"
	CuckooTablePropertyIdentityAsFirstHash = "rocksdb.cuckoo.hash.identityfirst"
	CuckooTablePropertyUseModuleHash       = "rocksdb.cuckoo.hash.usemodule"
	CuckooTablePropertyUserKeyLength       = "rocksdb.cuckoo.hash.userkeylength"
)

// CuckooTableOptions are the options of the cuckoo table format.
type CuckooTableOptions struct {
	// HashTableRatio is entries over buckets. Default 0.9.
	HashTableRatio float64
	// MaxSearchDepth limits the search for a free bucket. Default 100.
	MaxSearchDepth uint32
	// CuckooBlockSize is the number of buckets looked at per hash. Default 5.
	CuckooBlockSize uint32
	// IdentityAsFirstHash uses the key itself as the first hash. Default false.
	IdentityAsFirstHash bool
	// UseModuleHash uses a remainder rather than a mask. Default true.
	UseModuleHash bool
}

// DefaultCuckooTableOptions gives the defaults.
func DefaultCuckooTableOptions() CuckooTableOptions {
	return CuckooTableOptions{
		HashTableRatio: 0.9, MaxSearchDepth: 100, CuckooBlockSize: 5, UseModuleHash: true,
	}
}

// TableFactory is a table format with its options. The engine's formats are
// package table's Factory, which adds readers and builders.
type TableFactory interface {
	Name() string
	Configurable
	PrintableOptions
	// Clone copies the factory with its options; caches are shared.
	Clone() TableFactory
	IsDeleteRangeSupported() bool
}

// PersistentCache keeps blocks on a device across restarts.
type PersistentCache interface {
	Insert(key, data []byte) error
	Lookup(key []byte) ([]byte, error)
	// IsCompressed tells whether blocks are kept as they are in the file.
	IsCompressed() bool
	Stats() []map[string]float64 // by tier
	GetPrintableOptions() string
	NewID() uint64
}

// UserDefinedIndexFactory makes indexes of the application's own kind; package
// table/block_based says what its builders and readers have to do.
type UserDefinedIndexFactory interface{ Name() string }

// BlockBufferLease is memory lent for one block, or several read together.
type BlockBufferLease struct {
	// Data has the size and alignment that were asked for, or more; with an
	// alignment above 1 its length is a multiple of it too.
	Data []byte
	// Release gives the memory back; called once, by any goroutine, as soon as no
	// block in it is used any more. Not nil.
	Release func()
}

// ReadScopedBlockBufferProvider lends memory for the blocks of scans. One that is
// shared by scans of several goroutines is called concurrently.
type ReadScopedBlockBufferProvider interface {
	// Allocate lends size bytes aligned to alignment (a power of two).
	Allocate(size, alignment int) (BlockBufferLease, error)
}

// UnknownTTL as ColumnFamilyOptions.TTL or PeriodicCompactionSeconds lets the
// engine choose.
const UnknownTTL uint64 = math.MaxUint64 - 1

// Port of the name tables of options/options_helper.cc, options/db_options.cc
// and table/block_based/block_based_table_factory.cc.

package options

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// enum reads and writes one enum type by name.
type enum interface {
	parse(name string, addr any) bool
	name(addr any) (string, bool)
	equal(a, b any) bool
}

type enumName[T comparable] struct {
	name  string
	value T
}

type enumTable[T comparable] []enumName[T]

func (t enumTable[T]) parse(name string, addr any) bool {
	for i := range t {
		if t[i].name == name {
			*addr.(*T) = t[i].value
			return true
		}
	}
	return false
}

func (t enumTable[T]) name(addr any) (string, bool) { return t.nameOf(*addr.(*T)) }

func (t enumTable[T]) nameOf(v T) (string, bool) {
	for i := range t {
		if t[i].value == v {
			return t[i].name, true
		}
	}
	return "", false
}

func (t enumTable[T]) equal(a, b any) bool { return *a.(*T) == *b.(*T) }

// EnumCodec is the codec of an enum that is written by name; it is for enums
// that the contract does not know.
func EnumCodec[T comparable](names map[string]T) Codec {
	t := make(enumTable[T], 0, len(names))
	for _, name := range sortedKeys(names) {
		t = append(t, enumName[T]{name, names[name]})
	}
	return enumCodec{t}
}

type enumCodec struct{ enum }

func (c enumCodec) Parse(_ *rocksdb.ConfigOptions, name, value string, addr any) error {
	if !c.parse(value, addr) {
		return rocksdb.InvalidArgument("No mapping for enum ", name)
	}
	return nil
}

func (c enumCodec) Serialize(_ *rocksdb.ConfigOptions, name string, addr any) (string, error) {
	if s, ok := c.name(addr); ok {
		return s, nil
	}
	return "", rocksdb.InvalidArgument("No mapping for enum ", name)
}

func (c enumCodec) Equal(_ *rocksdb.ConfigOptions, _ string, a, b any) (bool, string) {
	return c.equal(a, b), ""
}

var (
	compressionTypes = func() enumTable[rocksdb.CompressionType] {
		t := enumTable[rocksdb.CompressionType]{
			{"kNoCompression", rocksdb.NoCompression},
			{"kSnappyCompression", rocksdb.SnappyCompression},
			{"kZlibCompression", rocksdb.ZlibCompression},
			{"kBZip2Compression", rocksdb.BZip2Compression},
			{"kLZ4Compression", rocksdb.LZ4Compression},
			{"kLZ4HCCompression", rocksdb.LZ4HCCompression},
			{"kXpressCompression", rocksdb.XpressCompression},
			{"kZSTD", rocksdb.ZSTD},
			{"kDisableCompressionOption", rocksdb.DisableCompressionOption},
		}
		for c := int(rocksdb.FirstCustomCompression); c <= int(rocksdb.LastCustomCompression); c++ {
			t = append(t, enumName[rocksdb.CompressionType]{fmt.Sprintf("kCustomCompression%02X", c), rocksdb.CompressionType(c)})
		}
		return t
	}()
	compactionStyles = enumTable[rocksdb.CompactionStyle]{
		{"kCompactionStyleLevel", rocksdb.CompactionStyleLevel},
		{"kCompactionStyleUniversal", rocksdb.CompactionStyleUniversal},
		{"kCompactionStyleFIFO", rocksdb.CompactionStyleFIFO},
		{"kCompactionStyleNone", rocksdb.CompactionStyleNone},
	}
	compactionPris = enumTable[rocksdb.CompactionPri]{
		{"kByCompensatedSize", rocksdb.ByCompensatedSize},
		{"kOldestLargestSeqFirst", rocksdb.OldestLargestSeqFirst},
		{"kOldestSmallestSeqFirst", rocksdb.OldestSmallestSeqFirst},
		{"kMinOverlappingRatio", rocksdb.MinOverlappingRatio},
		{"kRoundRobin", rocksdb.RoundRobin},
	}
	compactionStopStyles = enumTable[rocksdb.CompactionStopStyle]{
		{"kCompactionStopStyleSimilarSize", rocksdb.CompactionStopStyleSimilarSize},
		{"kCompactionStopStyleTotalSize", rocksdb.CompactionStopStyleTotalSize},
	}
	temperatures = enumTable[rocksdb.Temperature]{
		{"kUnknown", rocksdb.TemperatureUnknown},
		{"kHot", rocksdb.TemperatureHot},
		{"kWarm", rocksdb.TemperatureWarm},
		{"kCool", rocksdb.TemperatureCool},
		{"kCold", rocksdb.TemperatureCold},
		{"kIce", rocksdb.TemperatureIce},
	}
	checksumTypes = enumTable[rocksdb.ChecksumType]{
		{"kNoChecksum", rocksdb.NoChecksum},
		{"kCRC32c", rocksdb.CRC32c},
		{"kxxHash", rocksdb.XXHash},
		{"kxxHash64", rocksdb.XXHash64},
		{"kXXH3", rocksdb.XXH3},
	}
	encodingTypes = enumTable[rocksdb.EncodingType]{
		{"kPlain", rocksdb.EncodingPlain},
		{"kPrefix", rocksdb.EncodingPrefix},
	}
	prepopulateBlobCaches = enumTable[rocksdb.PrepopulateBlobCache]{
		{"kDisable", rocksdb.PrepopulateBlobCacheDisable},
		{"kFlushOnly", rocksdb.PrepopulateBlobCacheFlushOnly},
	}
	walRecoveryModes = enumTable[rocksdb.WALRecoveryMode]{
		{"kTolerateCorruptedTailRecords", rocksdb.TolerateCorruptedTailRecords},
		{"kAbsoluteConsistency", rocksdb.AbsoluteConsistency},
		{"kPointInTimeRecovery", rocksdb.PointInTimeRecovery},
		{"kSkipAnyCorruptedRecords", rocksdb.SkipAnyCorruptedRecords},
	}
	cacheTiers = enumTable[rocksdb.CacheTier]{
		{"kVolatileTier", rocksdb.VolatileTier},
		{"kVolatileCompressedTier", rocksdb.VolatileCompressedTier},
		{"kNonVolatileBlockTier", rocksdb.NonVolatileBlockTier},
	}
	infoLogLevels = enumTable[rocksdb.InfoLogLevel]{
		{"DEBUG_LEVEL", rocksdb.DebugLevel},
		{"INFO_LEVEL", rocksdb.InfoLevel},
		{"WARN_LEVEL", rocksdb.WarnLevel},
		{"ERROR_LEVEL", rocksdb.ErrorLevel},
		{"FATAL_LEVEL", rocksdb.FatalLevel},
		{"HEADER_LEVEL", rocksdb.HeaderLevel},
	}
	pinningTiers = enumTable[rocksdb.PinningTier]{
		{"kFallback", rocksdb.PinningTierFallback},
		{"kNone", rocksdb.PinningTierNone},
		{"kFlushedAndSimilar", rocksdb.PinningTierFlushedAndSimilar},
		{"kAll", rocksdb.PinningTierAll},
	}
	indexTypes = enumTable[rocksdb.IndexType]{
		{"kBinarySearch", rocksdb.BinarySearch},
		{"kHashSearch", rocksdb.HashSearch},
		{"kTwoLevelIndexSearch", rocksdb.TwoLevelIndexSearch},
		{"kBinarySearchWithFirstKey", rocksdb.BinarySearchWithFirstKey},
	}
	blockSearchTypes = enumTable[rocksdb.BlockSearchType]{
		{"kBinary", rocksdb.BlockSearchBinary},
		{"kInterpolation", rocksdb.BlockSearchInterpolation},
		{"kAuto", rocksdb.BlockSearchAuto},
	}
	dataBlockIndexTypes = enumTable[rocksdb.DataBlockIndexType]{
		{"kDataBlockBinarySearch", rocksdb.DataBlockBinarySearch},
		{"kDataBlockBinaryAndHash", rocksdb.DataBlockBinaryAndHash},
	}
	indexShorteningModes = enumTable[rocksdb.IndexShorteningMode]{
		{"kNoShortening", rocksdb.NoShortening},
		{"kShortenSeparators", rocksdb.ShortenSeparators},
		{"kShortenSeparatorsAndSuccessor", rocksdb.ShortenSeparatorsAndSuccessor},
	}
	prepopulateBlockCaches = enumTable[rocksdb.PrepopulateBlockCache]{
		{"kDisable", rocksdb.PrepopulateBlockCacheDisable},
		{"kFlushOnly", rocksdb.PrepopulateBlockCacheFlushOnly},
		{"kFlushAndCompaction", rocksdb.PrepopulateBlockCacheFlushAndCompaction},
	}
)

// enumOf gives the names for the enum that addr points to, nil when it is none.
func enumOf(addr any) enum {
	switch addr.(type) {
	case *rocksdb.CompressionType:
		return compressionTypes
	case *rocksdb.CompactionStyle:
		return compactionStyles
	case *rocksdb.CompactionPri:
		return compactionPris
	case *rocksdb.CompactionStopStyle:
		return compactionStopStyles
	case *rocksdb.Temperature:
		return temperatures
	case *rocksdb.ChecksumType:
		return checksumTypes
	case *rocksdb.EncodingType:
		return encodingTypes
	case *rocksdb.PrepopulateBlobCache:
		return prepopulateBlobCaches
	case *rocksdb.WALRecoveryMode:
		return walRecoveryModes
	case *rocksdb.CacheTier:
		return cacheTiers
	case *rocksdb.InfoLogLevel:
		return infoLogLevels
	case *rocksdb.PinningTier:
		return pinningTiers
	case *rocksdb.IndexType:
		return indexTypes
	case *rocksdb.BlockSearchType:
		return blockSearchTypes
	case *rocksdb.DataBlockIndexType:
		return dataBlockIndexTypes
	case *rocksdb.IndexShorteningMode:
		return indexShorteningModes
	case *rocksdb.PrepopulateBlockCache:
		return prepopulateBlockCaches
	}
	return nil
}

// CompressionTypeByName is the type of an OPTIONS file's name for it, as
// "kZSTD".
func CompressionTypeByName(name string) (t rocksdb.CompressionType, ok bool) {
	ok = compressionTypes.parse(name, &t)
	return t, ok
}

// CompressionTypeName is the inverse of CompressionTypeByName.
func CompressionTypeName(t rocksdb.CompressionType) (name string, ok bool) {
	return compressionTypes.nameOf(t)
}

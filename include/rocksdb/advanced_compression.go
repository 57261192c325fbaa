// Port of include/rocksdb/advanced_compression.h. Differs: working areas are
// plain values given back by hand, and dictionary configurations are structs
// with a kind instead of variants.

package rocksdb

// CompressionDictKind says how a dictionary comes about.
type CompressionDictKind uint8

// The kinds.
const (
	DictDisabled CompressionDictKind = iota
	DictSampling
	DictPreDefined
)

// CompressionDictConfig is a Compressor's wish for a dictionary, and what it
// is then given.
type CompressionDictConfig struct {
	Kind           CompressionDictKind
	MaxSampleBytes int    // for DictSampling: how much to collect
	DictData       []byte // for DictPreDefined: the dictionary
	SampleData     []byte // for DictSampling: the samples, one after another
	SampleLens     []int  // and their lengths
}

// Compressor compresses blocks. Methods other than CompressBlock with one
// working area are safe for concurrent use.
type Compressor interface {
	Name() string
	ID() string
	// GetDictGuidance says what dictionary would help for that kind of block.
	GetDictGuidance(blockType CacheEntryRole) CompressionDictConfig
	// GetSerializedDict is the dictionary in use, to be stored with the file;
	// nil for none.
	GetSerializedDict() []byte
	// GetPreferredCompressionType is the type most blocks will have;
	// DisableCompressionOption when not known.
	GetPreferredCompressionType() CompressionType
	// GetRecommendedParallelThreads is 0 for no recommendation.
	GetRecommendedParallelThreads() uint32
	Clone() Compressor
	// MaybeCloneSpecialized gives a compressor for one kind of block and a
	// dictionary; nil when it would not differ.
	MaybeCloneSpecialized(blockType CacheEntryRole, dict CompressionDictConfig) (Compressor, error)
	// ObtainWorkingArea gives scratch state for one goroutine, nil when there
	// is none; it goes back by ReleaseWorkingArea.
	ObtainWorkingArea() any
	ReleaseWorkingArea(area any)
	// CompressBlock compresses src into dst, whose length is the greatest
	// accepted size. It returns the size and the type to store with it; type
	// NoCompression means that src is to be stored instead, and then n == 0
	// says that nothing was tried and n > 0 that the result was too long.
	CompressBlock(src, dst []byte, area any) (n int, t CompressionType, err error)
}

// DecompressArgs describes a block to decompress.
type DecompressArgs struct {
	CompressionType CompressionType
	// CompressedData loses its length prefix in ExtractUncompressedSize.
	CompressedData   []byte
	UncompressedSize uint64 // bytes
	WorkingArea      any    // may be nil
}

// Decompressor is safe for concurrent use, working areas excepted.
type Decompressor interface {
	Name() string
	ObtainWorkingArea(preferred CompressionType) any
	ReleaseWorkingArea(area any)
	GetSerializedDict() []byte
	// MaybeCloneForDict gives a decompressor for a file's dictionary, which it
	// keeps.
	MaybeCloneForDict(serializedDict []byte) (Decompressor, error)
	ApproximateOwnedMemoryUsage() int // bytes
	// ExtractUncompressedSize reads the size and cuts its encoding off.
	ExtractUncompressedSize(args *DecompressArgs) error
	// DecompressBlock fills dst, which has length args.UncompressedSize.
	DecompressBlock(args *DecompressArgs, dst []byte) error
}

// CompressionManager makes compressors and decompressors. Files name the
// CompatibilityName of the manager they were written with.
type CompressionManager interface {
	Name() string
	CompatibilityName() string
	// FindCompatibleCompressionManager gives a manager that reads files of that
	// compatibility name, nil when there is none.
	FindCompatibleCompressionManager(compatibilityName string) CompressionManager
	SupportsCompressionType(t CompressionType) bool
	CompressionTypeToString(t CompressionType) string
	// GetCompressorForSST may return nil: no compression for this file.
	GetCompressorForSST(ctx *FilterBuildingContext, opts *CompressionOptions, preferred CompressionType) Compressor
	GetCompressor(opts *CompressionOptions, t CompressionType) Compressor
	GetDecompressor() Decompressor
	GetDecompressorOptimizeFor(t CompressionType) Decompressor
	GetDecompressorForTypes(types []CompressionType) Decompressor
}

// CompressorWrapper passes everything on to another compressor; embed it and
// write the methods that differ. Clone and MaybeCloneSpecialized give bare
// clones of the wrapped one: most wrappers write both anew.
type CompressorWrapper struct{ Compressor }

// DecompressorWrapper passes everything on to another decompressor.
// MaybeCloneForDict gives a bare clone of the wrapped one.
type DecompressorWrapper struct{ Decompressor }

// CompressionManagerWrapper passes everything on to another manager; embed it
// and write the methods that differ. Files of the wrapper's own
// CompatibilityName are read with the wrapper even where
// FindCompatibleCompressionManager is the wrapped one's.
type CompressionManagerWrapper struct{ CompressionManager }

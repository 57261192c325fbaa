// Port of util/compression.cc: the built-in decompressor and manager.

package compression

import (
	"bytes"
	"compress/bzip2"
	"io"
	"sync"

	"github.com/golang/snappy"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// BuiltinCompatibilityName is what files of format_version 7 name.
const BuiltinCompatibilityName = "BuiltinV2"

// Decompressor decompresses blocks of all built-in types, with a file's
// dictionary where it has one.
type Decompressor struct {
	name string
	dict []byte
	zstd *sync.Pool // of *zstdDecoder
}

// Name is upstream's class name.
func (d *Decompressor) Name() string { return d.name }

// ObtainWorkingArea gives none: decoders are pooled.
func (d *Decompressor) ObtainWorkingArea(rocksdb.CompressionType) any { return nil }

// ReleaseWorkingArea has nothing to do.
func (d *Decompressor) ReleaseWorkingArea(any) {}

// GetSerializedDict is the dictionary, nil for none.
func (d *Decompressor) GetSerializedDict() []byte { return d.dict }

// MaybeCloneForDict makes a decompressor that uses (and keeps) a dictionary.
func (d *Decompressor) MaybeCloneForDict(dict []byte) (rocksdb.Decompressor, error) {
	if len(dict) == 0 {
		return nil, rocksdb.Corruption("Decompression dictionary is empty")
	}
	return &Decompressor{
		name: "BuiltinDecompressorV2WithDict", dict: dict,
		zstd: &sync.Pool{New: func() any { return newZSTDDecoder(dict) }},
	}, nil
}

// ApproximateOwnedMemoryUsage is the size of upstream's object: decoders are
// shared by all users of a dictionary.
func (d *Decompressor) ApproximateOwnedMemoryUsage() int {
	if d.dict == nil {
		return 8
	}
	return 24
}

// ExtractUncompressedSize implements rocksdb.Decompressor.
func (d *Decompressor) ExtractUncompressedSize(args *rocksdb.DecompressArgs) error {
	size, rest, err := UncompressedSize(args.CompressionType, args.CompressedData)
	if err == nil {
		args.UncompressedSize, args.CompressedData = uint64(size), rest
	}
	return err
}

// DecompressBlock implements rocksdb.Decompressor.
func (d *Decompressor) DecompressBlock(args *rocksdb.DecompressArgs, dst []byte) error {
	return d.Decompress(args.CompressionType, args.CompressedData, dst)
}

// maxRatio bounds what each algorithm can make of one input byte.
var maxRatio = [rocksdb.LastBuiltinCompression + 1]int{
	rocksdb.SnappyCompression: 64,
	rocksdb.ZlibCompression:   1032,
	rocksdb.BZip2Compression:  1 << 16,
	rocksdb.LZ4Compression:    255,
	rocksdb.LZ4HCCompression:  255,
	rocksdb.ZSTD:              1 << 16,
}

// UncompressedSize reads how long a block of type t is when uncompressed; rest
// is what Decompress takes. A size beyond all possibility is a corruption.
func UncompressedSize(t rocksdb.CompressionType, block []byte) (size int, rest []byte, err error) {
	switch t {
	case rocksdb.SnappyCompression:
		n, err := snappy.DecodedLen(block)
		if err != nil {
			return 0, nil, errSnappyLength
		}
		size, rest = n, block
	case rocksdb.ZlibCompression, rocksdb.BZip2Compression, rocksdb.LZ4Compression,
		rocksdb.LZ4HCCompression, rocksdb.ZSTD:
		n, r, ok := util.GetVarint32(block)
		if !ok {
			return 0, nil, errUncompressedSize
		}
		size, rest = int(n), r
	default:
		return 0, nil, notSupported(t)
	}
	if uint64(size) > uint64(len(rest))*uint64(maxRatio[t])+64 {
		return 0, nil, rocksdb.Corruptionf("%s block of %d bytes cannot hold %d bytes",
			CompressionTypeToString(t), len(rest), size)
	}
	return size, rest, nil
}

// Decompress fills dst, whose length is that of UncompressedSize, from its
// rest.
func (d *Decompressor) Decompress(t rocksdb.CompressionType, rest, dst []byte) error {
	switch t {
	case rocksdb.SnappyCompression:
		out, err := snappy.Decode(dst, rest)
		if err != nil || len(out) != len(dst) {
			return errSnappy
		}
		return nil
	case rocksdb.ZlibCompression:
		return zlibDecompress(rest, dst, d.dict)
	case rocksdb.BZip2Compression:
		if !readExactly(bzip2.NewReader(bytes.NewReader(rest)), dst) {
			return errBZip2
		}
		return nil
	case rocksdb.LZ4Compression, rocksdb.LZ4HCCompression:
		return lz4Decompress(rest, dst, d.dict)
	case rocksdb.ZSTD:
		z := d.zstd.Get().(*zstdDecoder)
		err := z.decompress(rest, dst)
		d.zstd.Put(z)
		return err
	}
	return notSupported(t)
}

// readExactly fills dst and checks that r ends there.
func readExactly(r io.Reader, dst []byte) bool {
	if _, err := io.ReadFull(r, dst); err != nil {
		return false
	}
	var more [1]byte
	n, err := r.Read(more[:])
	for n == 0 && err == nil {
		n, err = r.Read(more[:])
	}
	return n == 0 && err == io.EOF
}

func notSupported(t rocksdb.CompressionType) error {
	return rocksdb.NotSupported("Compression type not supported or not built-in", CompressionTypeToString(t))
}

var (
	errSnappyLength     = rocksdb.Corruption("Error reading snappy compressed length")
	errSnappy           = rocksdb.Corruption("Error decompressing snappy data")
	errBZip2            = rocksdb.Corruption("Error decompressing bzip2 data")
	errUncompressedSize = rocksdb.Corruption("Unable to extract uncompressed size")
)

type builtinManager struct{}

var (
	theManager      builtinManager
	theDecompressor = &Decompressor{name: "BuiltinDecompressorV2", zstd: &zstdDecoders}
)

// GetBuiltinV2CompressionManager is the manager of files that name no other.
func GetBuiltinV2CompressionManager() rocksdb.CompressionManager { return theManager }

// GetBuiltinDecompressor is its decompressor, without a dictionary.
func GetBuiltinDecompressor() *Decompressor { return theDecompressor }

func (builtinManager) Name() string              { return "BuiltinCompressionManagerV2" }
func (builtinManager) CompatibilityName() string { return BuiltinCompatibilityName }

// FindCompatibleCompressionManager gives a registered manager for other names
// than the built-in one's.
func (m builtinManager) FindCompatibleCompressionManager(name string) rocksdb.CompressionManager {
	if name == BuiltinCompatibilityName {
		return m
	}
	return registered(name)
}

func registered(name string) rocksdb.CompressionManager {
	cfg := rocksdb.DefaultConfigOptions()
	m, err := registry.NewObject[rocksdb.CompressionManager](&cfg, registry.KindCompressionManager, name)
	if err != nil {
		return nil
	}
	return m
}

// FindCompatible gives a manager that reads files of a compatibility name: the
// one given where the name is its own, one that it knows, a registered one. nil
// stands for the built-in manager, and for having found none.
func FindCompatible(m rocksdb.CompressionManager, name string) rocksdb.CompressionManager {
	if m != nil {
		if m.CompatibilityName() == name {
			return m
		}
		if found := m.FindCompatibleCompressionManager(name); found != nil {
			return found
		}
	}
	return theManager.FindCompatibleCompressionManager(name)
}

func (builtinManager) SupportsCompressionType(t rocksdb.CompressionType) bool {
	return CompressionTypeSupported(t)
}

func (builtinManager) CompressionTypeToString(t rocksdb.CompressionType) string {
	return CompressionTypeToString(t)
}

func (m builtinManager) GetCompressorForSST(_ *rocksdb.FilterBuildingContext, opts *rocksdb.CompressionOptions, preferred rocksdb.CompressionType) rocksdb.Compressor {
	return m.GetCompressor(opts, preferred)
}

// GetCompressor gives nil for no compression. A type that cannot be written
// falls back on the default. LZ4 and LZ4HC share the levels: below 1 is LZ4
// with that acceleration, from 1 on LZ4HC; each name has its own default.
func (builtinManager) GetCompressor(opts *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	if opts.MaxCompressedBytesPerKB <= 0 {
		return nil
	}
	if !CompressionTypeSupported(t) {
		t = GetDefaultCompressionType()
	}
	switch t {
	case rocksdb.SnappyCompression:
		return newSnappyCompressor(opts, nil)
	case rocksdb.ZlibCompression:
		return newZlibCompressor(opts, nil)
	case rocksdb.BZip2Compression:
		return newBZip2Compressor(opts, nil)
	case rocksdb.LZ4Compression, rocksdb.LZ4HCCompression:
		hc := opts.Level >= 1
		if opts.Level == rocksdb.DefaultCompressionLevel {
			hc = t == rocksdb.LZ4HCCompression
		}
		return newLZ4Compressor(opts, hc, nil)
	case rocksdb.ZSTD:
		return newZSTDCompressor(opts, nil)
	}
	return nil
}

func (builtinManager) GetDecompressor() rocksdb.Decompressor { return theDecompressor }

func (builtinManager) GetDecompressorOptimizeFor(rocksdb.CompressionType) rocksdb.Decompressor {
	return theDecompressor
}

func (builtinManager) GetDecompressorForTypes(types []rocksdb.CompressionType) rocksdb.Decompressor {
	if len(types) == 0 {
		return nil
	}
	return theDecompressor
}

// LegacyForceBuiltinCompression compresses src at dst's end even where that
// makes it longer, as blob files do; c is a built-in compressor.
func LegacyForceBuiltinCompression(c rocksdb.Compressor, area any, dst, src []byte) ([]byte, error) {
	// Snappy is the worst case by factor (19/16 is enough), bzip2 by addition.
	bound := (19*len(src))>>4 + 4096
	start := len(dst)
	if cap(dst)-start < bound {
		grown := make([]byte, start, start+bound)
		copy(grown, dst)
		dst = grown
	}
	n, t, err := c.CompressBlock(src, dst[start:start+bound], area)
	if err != nil {
		return nil, err
	}
	if t == rocksdb.NoCompression {
		return nil, rocksdb.Corruption("Compression unexpectedly declined or aborted")
	}
	return dst[:start+n], nil
}

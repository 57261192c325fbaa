// Port of test_util/testutil.h (CompressorCustomAlg, DecompressorCustomAlg).

package testutil

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// CompressorCustomAlg compresses by LZ4 and puts a header before it: the custom
// type and, fixed32, the dictionary's hash.
type CompressorCustomAlg struct {
	rocksdb.CompressorWrapper
	t    rocksdb.CompressionType
	hash uint32
}

const customHeader = 5

// NewCompressorCustomAlg makes a compressor of custom type t over an LZ4 one; nil
// is the built-in.
func NewCompressorCustomAlg(lz4 rocksdb.Compressor, t rocksdb.CompressionType) *CompressorCustomAlg {
	if lz4 == nil {
		o := rocksdb.DefaultCompressionOptions()
		lz4 = compression.GetBuiltinV2CompressionManager().GetCompressor(&o, rocksdb.LZ4Compression)
	}
	return &CompressorCustomAlg{rocksdb.CompressorWrapper{Compressor: lz4}, t, util.GetSliceHash(lz4.GetSerializedDict())}
}

// Name is upstream's class name.
func (c *CompressorCustomAlg) Name() string { return "CompressorCustomAlg" }

// ID is the name.
func (c *CompressorCustomAlg) ID() string { return c.Name() }

// GetPreferredCompressionType is the custom type.
func (c *CompressorCustomAlg) GetPreferredCompressionType() rocksdb.CompressionType { return c.t }

// Clone makes an independent one.
func (c *CompressorCustomAlg) Clone() rocksdb.Compressor {
	return NewCompressorCustomAlg(c.Compressor.Clone(), c.t)
}

// MaybeCloneSpecialized wraps the wrapped compressor's special clone.
func (c *CompressorCustomAlg) MaybeCloneSpecialized(role rocksdb.CacheEntryRole, d rocksdb.CompressionDictConfig) (rocksdb.Compressor, error) {
	s, err := c.Compressor.MaybeCloneSpecialized(role, d)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = c.Compressor.Clone()
	}
	return NewCompressorCustomAlg(s, c.t), nil
}

// CompressBlock implements rocksdb.Compressor.
func (c *CompressorCustomAlg) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	n, t, err := c.Compressor.CompressBlock(src, dst, area)
	if err != nil || t == rocksdb.NoCompression {
		return n, t, err
	}
	if n+customHeader > len(dst) {
		return n, rocksdb.NoCompression, nil
	}
	copy(dst[customHeader:], dst[:n])
	dst[0] = byte(c.t)
	binary.LittleEndian.PutUint32(dst[1:], c.hash)
	return n + customHeader, c.t, nil
}

// DecompressorCustomAlg reads what CompressorCustomAlg writes, of any custom
// type, and the built-in types.
type DecompressorCustomAlg struct {
	rocksdb.DecompressorWrapper
	hash    uint32
	allowed map[rocksdb.CompressionType]bool // nil: all
}

// NewDecompressorCustomAlg makes a decompressor of blocks of the types alone; nil
// allows all.
func NewDecompressorCustomAlg(types []rocksdb.CompressionType) *DecompressorCustomAlg {
	var allowed map[rocksdb.CompressionType]bool
	if types != nil {
		allowed = make(map[rocksdb.CompressionType]bool)
		for _, t := range types {
			allowed[t] = true
		}
	}
	return newDecompressorCustomAlg(compression.GetBuiltinDecompressor(), allowed)
}

func newDecompressorCustomAlg(d rocksdb.Decompressor, allowed map[rocksdb.CompressionType]bool) *DecompressorCustomAlg {
	return &DecompressorCustomAlg{rocksdb.DecompressorWrapper{Decompressor: d}, util.GetSliceHash(d.GetSerializedDict()), allowed}
}

// Name is upstream's class name.
func (d *DecompressorCustomAlg) Name() string { return "DecompressorCustomAlg" }

// MaybeCloneForDict wraps the wrapped decompressor's clone.
func (d *DecompressorCustomAlg) MaybeCloneForDict(dict []byte) (rocksdb.Decompressor, error) {
	c, err := d.Decompressor.MaybeCloneForDict(dict)
	if err != nil {
		return nil, err
	}
	return newDecompressorCustomAlg(c, d.allowed), nil
}

func isCustom(t rocksdb.CompressionType) bool {
	return t >= rocksdb.FirstCustomCompression && t <= rocksdb.LastCustomCompression
}

// asLZ4 calls f with what lies under a custom type.
func (d *DecompressorCustomAlg) asLZ4(args *rocksdb.DecompressArgs, f func(*rocksdb.DecompressArgs) error) error {
	t := args.CompressionType
	if d.allowed != nil && !d.allowed[t] {
		return rocksdb.Corruption("a block of a type that the file does not name")
	}
	if isCustom(t) {
		args.CompressionType = rocksdb.LZ4Compression
		defer func() { args.CompressionType = t }()
	}
	return f(args)
}

// ExtractUncompressedSize implements rocksdb.Decompressor.
func (d *DecompressorCustomAlg) ExtractUncompressedSize(args *rocksdb.DecompressArgs) error {
	if t := args.CompressionType; isCustom(t) {
		b := args.CompressedData
		if len(b) < customHeader || b[0] != byte(t) || binary.LittleEndian.Uint32(b[1:]) != d.hash {
			return rocksdb.Corruption("bad header of a custom block")
		}
		args.CompressedData = b[customHeader:]
	}
	return d.asLZ4(args, d.Decompressor.ExtractUncompressedSize)
}

// DecompressBlock implements rocksdb.Decompressor.
func (d *DecompressorCustomAlg) DecompressBlock(args *rocksdb.DecompressArgs, dst []byte) error {
	return d.asLZ4(args, func(a *rocksdb.DecompressArgs) error { return d.Decompressor.DecompressBlock(a, dst) })
}

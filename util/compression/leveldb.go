// No upstream twin: the compression of LevelDB's tables, for importing them.

package compression

import (
	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// levelDBZstd is LevelDB's number for zstd, which is RocksDB's for zlib. Its
// blocks are plain frames that tell their size, without one in front.
const levelDBZstd = rocksdb.ZlibCompression

// levelDBDecompressor reads blocks of tables without a format_version.
type levelDBDecompressor struct{ *Decompressor }

// GetLevelDBDecompressor gives the decompressor of LevelDB's blocks: Snappy and
// zstd, under LevelDB's numbers. Other types are NotSupported.
func GetLevelDBDecompressor() rocksdb.Decompressor { return levelDBDecompressor{theDecompressor} }

// Name implements rocksdb.Decompressor.
func (levelDBDecompressor) Name() string { return "LevelDBDecompressor" }

// ExtractUncompressedSize implements rocksdb.Decompressor.
func (d levelDBDecompressor) ExtractUncompressedSize(args *rocksdb.DecompressArgs) error {
	switch args.CompressionType {
	case rocksdb.SnappyCompression:
		return d.Decompressor.ExtractUncompressedSize(args)
	case levelDBZstd:
		var h zstd.Header
		if err := h.Decode(args.CompressedData); err != nil {
			return rocksdb.Corruption("ZSTD", err.Error()).Wrap(err)
		}
		if !h.HasFCS {
			return rocksdb.Corruption("ZSTD frame does not tell its size")
		}
		args.UncompressedSize = h.FrameContentSize
		return nil
	}
	return rocksdb.NotSupported("compression of an old table", CompressionTypeToString(args.CompressionType))
}

// DecompressBlock implements rocksdb.Decompressor.
func (d levelDBDecompressor) DecompressBlock(args *rocksdb.DecompressArgs, dst []byte) error {
	if args.CompressionType == levelDBZstd {
		return d.Decompress(rocksdb.ZSTD, args.CompressedData, dst)
	}
	return d.Decompressor.DecompressBlock(args, dst)
}

// MaybeCloneForDict implements rocksdb.Decompressor: there are no dictionaries.
func (levelDBDecompressor) MaybeCloneForDict([]byte) (rocksdb.Decompressor, error) {
	return nil, rocksdb.NotSupported("dictionary in an old table")
}

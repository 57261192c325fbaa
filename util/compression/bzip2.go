// Port of util/compression.cc: bzip2. Differs: as in compressors.go.

package compression

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// bzip2Compressor writes blocks as bzip2 files of block size 1 (100 kB), as
// upstream does whatever the level. A dictionary is stored and not used.
type bzip2Compressor struct{ compressorBase }

func newBZip2Compressor(opts *rocksdb.CompressionOptions, dict []byte) *bzip2Compressor {
	c := &bzip2Compressor{}
	c.init(opts, rocksdb.BZip2Compression, "BuiltinBZip2CompressorV2", dict)
	c.newArea = func() any { return new(bzip2Encoder) }
	c.clone = func(dict []byte) rocksdb.Compressor { return newBZip2Compressor(c.opts, dict) }
	return c
}

// CompressBlock implements rocksdb.Compressor.
func (c *bzip2Compressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	n, ok := startBlock(src, dst)
	if !ok {
		return 0, rocksdb.NoCompression, nil
	}
	a, temporary := c.area(area)
	size, ok := a.(*bzip2Encoder).encode(dst[n:], src)
	if temporary {
		c.ReleaseWorkingArea(a)
	}
	if !ok {
		return 1, rocksdb.NoCompression, nil
	}
	return n + size, rocksdb.BZip2Compression, nil
}

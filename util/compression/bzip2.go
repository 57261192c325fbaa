// Port of util/compression.cc: bzip2. Differs: as in compressors.go.

package compression

import (
	"github.com/dsnet/compress/bzip2"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// bzip2Compressor writes blocks as bzip2 files of block size 1 (100 kB), as
// upstream does whatever the level. A dictionary is stored and not used.
type bzip2Compressor struct{ compressorBase }

type bzip2Area struct {
	out fixedWriter
	w   *bzip2.Writer
}

func newBZip2Compressor(opts *rocksdb.CompressionOptions, dict []byte) *bzip2Compressor {
	c := &bzip2Compressor{}
	c.init(opts, rocksdb.BZip2Compression, "BuiltinBZip2CompressorV2", dict)
	c.newArea = func() any { return new(bzip2Area) }
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
	w := a.(*bzip2Area)
	w.out = fixedWriter{b: dst, n: n}
	err := w.write(src)
	n, full := w.out.n, w.out.full
	w.out.b = nil
	if temporary {
		c.ReleaseWorkingArea(a)
	}
	switch {
	case err != nil:
		return 0, rocksdb.NoCompression, rocksdb.Corruption("bzip2 compression", err.Error()).Wrap(err)
	case full:
		return 1, rocksdb.NoCompression, nil
	}
	return n, rocksdb.BZip2Compression, nil
}

func (w *bzip2Area) write(src []byte) (err error) {
	if w.w == nil {
		w.w, err = bzip2.NewWriter(&w.out, &bzip2.WriterConfig{Level: bzip2.BestSpeed})
	} else {
		err = w.w.Reset(&w.out)
	}
	if err == nil {
		_, err = w.w.Write(src)
	}
	if err == nil {
		err = w.w.Close()
	}
	return err
}

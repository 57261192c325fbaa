// Port of the ZSTD parts of util/compression.cc and of
// util/compression_context_cache.cc. Differs: the frames are valid for the C
// library but not the same as its own; its levels fall into four (fastest,
// default, better, best); dictionaries are trained by another method.

package compression

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// zstdDictMagic begins a dictionary with tables; all else is raw content.
const zstdDictMagic = 0xEC30A437

func isZSTDDict(d []byte) bool {
	return len(d) >= 8 && binary.LittleEndian.Uint32(d) == zstdDictMagic
}

func sanitizeZSTDCompressionLevel(level int) int {
	switch level {
	case rocksdb.DefaultCompressionLevel:
		return 3
	case 0:
		return -1
	}
	return level
}

type zstdCompressor struct {
	compressorBase
	dict []byte
}

// zstdArea is a working area: an encoder of its own and room for its output.
type zstdArea struct {
	enc *zstd.Encoder
	buf []byte
	err error
}

func newZSTDCompressor(opts *rocksdb.CompressionOptions, dict []byte) *zstdCompressor {
	c := &zstdCompressor{dict: dict}
	c.init(opts, rocksdb.ZSTD, "BuiltinZSTDCompressorV2", dict)
	if opts.Level < 0 {
		c.parallel = 1
	}
	c.newArea = func() any {
		enc, err := newZSTDEncoder(c.opts.Level, c.opts.Checksum, c.dict)
		return &zstdArea{enc: enc, err: err}
	}
	c.clone = func(dict []byte) rocksdb.Compressor { return newZSTDCompressor(c.opts, dict) }
	return c
}

func newZSTDEncoder(level int, checksum bool, dict []byte) (*zstd.Encoder, error) {
	level = sanitizeZSTDCompressionLevel(level)
	opts := []zstd.EOption{
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		// As the C library: text without repetitions is compressed too, but for
		// negative levels.
		zstd.WithAllLitEntropyCompression(level >= 0),
		zstd.WithEncoderCRC(checksum),
		zstd.WithZeroFrames(true),
		zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(true),
	}
	if len(dict) > 0 {
		if isZSTDDict(dict) {
			opts = append(opts, zstd.WithEncoderDict(dict))
		} else {
			opts = append(opts, zstd.WithEncoderDictRaw(0, dict))
		}
	} else {
		// Blocks are small; a window of 1 MiB keeps the encoder's tables so.
		opts = append(opts, zstd.WithWindowSize(1<<20))
	}
	return zstd.NewWriter(nil, opts...)
}

// CompressBlock implements rocksdb.Compressor.
func (c *zstdCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	n, ok := startBlock(src, dst)
	if !ok {
		return 0, rocksdb.NoCompression, nil
	}
	a, temporary := c.area(area)
	if temporary {
		defer c.ReleaseWorkingArea(a)
	}
	w := a.(*zstdArea)
	if w.err != nil {
		return 0, rocksdb.NoCompression, rocksdb.Corruption("ZSTD compression", w.err.Error()).Wrap(w.err)
	}
	w.buf = w.enc.EncodeAll(src, w.buf[:0])
	if len(w.buf) > len(dst)-n {
		return 1, rocksdb.NoCompression, nil
	}
	return n + copy(dst[n:], w.buf), rocksdb.ZSTD, nil
}

// ZSTDTrainDictionary makes a dictionary of samples, laid one after another;
// nil where they give none.
func ZSTDTrainDictionary(samples []byte, sampleLens []int, maxDictBytes int) []byte {
	return buildZSTDDict(samples, sampleLens, maxDictBytes, 0)
}

// ZSTDFinalizeDictionary makes a dictionary whose content is the samples'
// beginning.
func ZSTDFinalizeDictionary(samples []byte, sampleLens []int, maxDictBytes, level int) []byte {
	return buildZSTDDict(samples, sampleLens, maxDictBytes, level)
}

func buildZSTDDict(samples []byte, sampleLens []int, maxDictBytes, level int) []byte {
	var parts [][]byte
	for _, n := range sampleLens {
		if n < 0 || n > len(samples) {
			return nil
		}
		parts = append(parts, samples[:n])
		samples = samples[n:]
	}
	if len(parts) == 0 || maxDictBytes < zstdDictSizeMin {
		return nil
	}
	// How much the tables before the content take is known only afterwards.
	for content := maxDictBytes - 128; content >= zstdDictContentMin; {
		d, err := dict.BuildZstdDict(parts, dict.Options{
			MaxDictSize: content,
			HashBytes:   6,
			ZstdDictID:  1,
			ZstdLevel:   zstd.EncoderLevelFromZstd(sanitizeZSTDCompressionLevel(level)),
		})
		if err != nil {
			return nil
		}
		if len(d) <= maxDictBytes {
			return d
		}
		content = min(content, len(d)) - (len(d) - maxDictBytes)
	}
	return nil
}

// Sizes in bytes: the C library trains no smaller dictionary, and refuses one
// with less content.
const (
	zstdDictSizeMin    = 256
	zstdDictContentMin = 128
)

// zstdDecoders are shared by all decompressors without a dictionary.
var zstdDecoders = sync.Pool{New: func() any { return newZSTDDecoder(nil) }}

type zstdDecoder struct {
	dec *zstd.Decoder
	err error
}

func newZSTDDecoder(dict []byte) *zstdDecoder {
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true),
	}
	if len(dict) > 0 {
		if isZSTDDict(dict) {
			opts = append(opts, zstd.WithDecoderDicts(dict))
		} else {
			opts = append(opts, zstd.WithDecoderDictRaw(0, dict))
		}
	}
	d, err := zstd.NewReader(nil, opts...)
	return &zstdDecoder{d, err}
}

func (d *zstdDecoder) decompress(src, dst []byte) error {
	if d.err != nil {
		return rocksdb.Corruption("ZSTD dictionary", d.err.Error()).Wrap(d.err)
	}
	// With the capacity limited to what is expected, nothing is allocated.
	out, err := d.dec.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return rocksdb.Corruption("ZSTD", err.Error()).Wrap(err)
	}
	if len(out) != len(dst) {
		return errZSTDSize
	}
	if len(dst) > 0 && &out[0] != &dst[0] {
		copy(dst, out)
	}
	return nil
}

var errZSTDSize = rocksdb.Corruption("ZSTD decompression size mismatch")

// Port of util/compression.cc: what compressors share, Snappy and zlib.
// Differs: the bytes of compressed blocks are valid for the C libraries but not
// the same as theirs; of zlib's strategies there are the default one, which
// stands for the others, too, and Huffman coding alone; zlib's window is the
// 16 KiB that readers assume, whatever window_bits says.

package compression

import (
	"bytes"
	"sync"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/flate"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// compressorBase gives the built-in compressors their common methods. The
// embedding type sets the functions after init.
type compressorBase struct {
	opts     *rocksdb.CompressionOptions // a copy of our own
	typ      rocksdb.CompressionType
	name     string
	parallel uint32
	stored   []byte // the dictionary to store with the file
	pool     sync.Pool
	newArea  func() any
	clone    func(dict []byte) rocksdb.Compressor
}

func (c *compressorBase) init(opts *rocksdb.CompressionOptions, t rocksdb.CompressionType, name string, dict []byte) {
	o := *opts
	c.opts, c.typ, c.name, c.parallel, c.stored = &o, t, name, opts.ParallelThreads, dict
}

// Name is upstream's class name.
func (c *compressorBase) Name() string { return c.name }

// ID is the name.
func (c *compressorBase) ID() string { return c.name }

// GetDictGuidance asks for samples when a dictionary is wanted.
func (c *compressorBase) GetDictGuidance(rocksdb.CacheEntryRole) rocksdb.CompressionDictConfig {
	if c.opts.MaxDictBytes == 0 {
		return rocksdb.CompressionDictConfig{Kind: rocksdb.DictDisabled}
	}
	n := int(c.opts.MaxDictBytes)
	if c.typ == rocksdb.ZSTD && c.opts.ZSTDMaxTrainBytes > 0 {
		n = int(c.opts.ZSTDMaxTrainBytes)
	}
	return rocksdb.CompressionDictConfig{Kind: rocksdb.DictSampling, MaxSampleBytes: n}
}

// GetSerializedDict is the dictionary, also where the algorithm ignores it:
// files have always stored it.
func (c *compressorBase) GetSerializedDict() []byte { return c.stored }

// GetPreferredCompressionType is the type of blocks.
func (c *compressorBase) GetPreferredCompressionType() rocksdb.CompressionType { return c.typ }

// GetRecommendedParallelThreads is the option, or 1 for fast algorithms.
func (c *compressorBase) GetRecommendedParallelThreads() uint32 { return c.parallel }

// Clone makes an independent copy.
func (c *compressorBase) Clone() rocksdb.Compressor { return c.clone(c.stored) }

// MaybeCloneSpecialized makes a compressor with a dictionary; nil for none.
func (c *compressorBase) MaybeCloneSpecialized(_ rocksdb.CacheEntryRole, d rocksdb.CompressionDictConfig) (rocksdb.Compressor, error) {
	var dict []byte
	switch d.Kind {
	case rocksdb.DictSampling:
		if len(d.SampleData) == 0 {
			return nil, nil
		}
		var err error
		if dict, err = c.dictOf(d); err != nil {
			return nil, err
		}
	case rocksdb.DictPreDefined:
		dict = d.DictData
	}
	if d.Kind == rocksdb.DictDisabled || (d.Kind == rocksdb.DictPreDefined && len(dict) == 0) {
		return nil, nil
	}
	return c.clone(dict), nil
}

func (c *compressorBase) dictOf(d rocksdb.CompressionDictConfig) ([]byte, error) {
	if c.typ == rocksdb.ZSTD && c.opts.ZSTDMaxTrainBytes > 0 {
		if c.opts.UseZSTDDictTrainer {
			return ZSTDTrainDictionary(d.SampleData, d.SampleLens, int(c.opts.MaxDictBytes)), nil
		}
		return ZSTDFinalizeDictionary(d.SampleData, d.SampleLens, int(c.opts.MaxDictBytes), c.opts.Level), nil
	}
	return d.SampleData, nil
}

// ObtainWorkingArea takes one of the pool.
func (c *compressorBase) ObtainWorkingArea() any {
	if a := c.pool.Get(); a != nil {
		return a
	}
	return c.newArea()
}

// ReleaseWorkingArea gives it back.
func (c *compressorBase) ReleaseWorkingArea(area any) {
	if area != nil {
		c.pool.Put(area)
	}
}

// area gives the caller's working area, or one of the pool that is to be
// released afterwards.
func (c *compressorBase) area(given any) (area any, temporary bool) {
	if given != nil {
		return given, false
	}
	return c.ObtainWorkingArea(), true
}

type snappyCompressor struct{ compressorBase }

type snappyArea struct{ buf []byte }

func newSnappyCompressor(opts *rocksdb.CompressionOptions, dict []byte) *snappyCompressor {
	c := &snappyCompressor{}
	c.init(opts, rocksdb.SnappyCompression, "BuiltinSnappyCompressorV2", dict)
	c.parallel = 1
	c.newArea = func() any { return new(snappyArea) }
	c.clone = func(dict []byte) rocksdb.Compressor { return newSnappyCompressor(c.opts, dict) }
	return c
}

// CompressBlock implements rocksdb.Compressor.
func (c *snappyCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	max := snappy.MaxEncodedLen(len(src))
	if max < 0 {
		return 0, rocksdb.NoCompression, nil
	}
	a, temporary := c.area(area)
	w := a.(*snappyArea)
	if cap(w.buf) < max {
		w.buf = make([]byte, max)
	}
	out := snappy.Encode(w.buf[:max], src)
	n := len(out)
	fits := n <= len(dst)
	if fits {
		copy(dst, out)
	}
	if temporary {
		c.ReleaseWorkingArea(a)
	}
	if !fits {
		return 1, rocksdb.NoCompression, nil
	}
	return n, rocksdb.SnappyCompression, nil
}

// zlibWindow is the greatest distance that readers are prepared for
// (windowBits -14).
const zlibWindow = 16 << 10

type zlibCompressor struct {
	compressorBase
	dict []byte // the last zlibWindow bytes
}

// zlibArea has a deflater for blocks within the window and, once needed, one
// that keeps to it for longer ones, and one for tiny ones, which the levels up
// to 6 store.
type zlibArea struct {
	out    fixedWriter
	small  *flate.Writer
	window *flate.Writer
	tiny   *flate.Writer
}

const (
	zlibTiny      = 128 // bytes
	zlibTinyLevel = 7

	zlibHuffmanOnly = 2 // a strategy
)

// fixedWriter fills a slice; a write beyond it is lost and noted.
type fixedWriter struct {
	b    []byte
	n    int
	full bool
}

func (w *fixedWriter) Write(p []byte) (int, error) {
	if len(p) > len(w.b)-w.n {
		w.full = true
		return len(p), nil
	}
	w.n += copy(w.b[w.n:], p)
	return len(p), nil
}

func newZlibCompressor(opts *rocksdb.CompressionOptions, dict []byte) *zlibCompressor {
	c := &zlibCompressor{dict: dict}
	if len(dict) > zlibWindow {
		c.dict = dict[len(dict)-zlibWindow:]
	}
	if opts.Strategy == zlibHuffmanOnly {
		c.dict = nil // nothing is repeated from it
	}
	c.init(opts, rocksdb.ZlibCompression, "BuiltinZlibCompressorV2", dict)
	c.newArea = func() any { return new(zlibArea) }
	c.clone = func(dict []byte) rocksdb.Compressor { return newZlibCompressor(c.opts, dict) }
	return c
}

func (c *zlibCompressor) writer(w *zlibArea, n int) (*flate.Writer, error) {
	huffman := c.opts.Strategy == zlibHuffmanOnly
	if n > zlibWindow && len(c.dict) == 0 && !huffman {
		if w.window == nil {
			var err error
			w.window, err = flate.NewWriterWindow(&w.out, zlibWindow)
			return w.window, err
		}
		w.window.Reset(&w.out)
		return w.window, nil
	}
	if n <= zlibTiny && len(c.dict) == 0 && !huffman && (c.opts.Level == rocksdb.DefaultCompressionLevel || c.opts.Level > 1 && c.opts.Level < zlibTinyLevel) {
		if w.tiny == nil {
			var err error
			w.tiny, err = flate.NewWriter(&w.out, zlibTinyLevel)
			return w.tiny, err
		}
		w.tiny.Reset(&w.out)
		return w.tiny, nil
	}
	if w.small == nil {
		level := c.opts.Level
		if level == rocksdb.DefaultCompressionLevel || level < 0 || level > 9 {
			level = flate.DefaultCompression
		}
		if huffman {
			level = flate.HuffmanOnly
		}
		var err error
		w.small, err = flate.NewWriterDict(&w.out, level, c.dict)
		return w.small, err
	}
	if len(c.dict) > 0 {
		w.small.ResetDict(&w.out, c.dict)
	} else {
		w.small.Reset(&w.out)
	}
	return w.small, nil
}

// CompressBlock implements rocksdb.Compressor.
func (c *zlibCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	n, ok := startBlock(src, dst)
	if !ok {
		return 0, rocksdb.NoCompression, nil
	}
	a, temporary := c.area(area)
	w := a.(*zlibArea)
	w.out = fixedWriter{b: dst, n: n}
	fw, err := c.writer(w, len(src))
	if err == nil {
		_, err = fw.Write(src)
	}
	if err == nil {
		err = fw.Close()
	}
	n, full := w.out.n, w.out.full
	w.out.b = nil
	if temporary {
		c.ReleaseWorkingArea(a)
	}
	switch {
	case err != nil:
		return 0, rocksdb.NoCompression, rocksdb.Corruption("zlib compression", err.Error()).Wrap(err)
	case full:
		return 1, rocksdb.NoCompression, nil
	}
	return n, rocksdb.ZlibCompression, nil
}

// inflater is a pooled raw inflate decoder with its source.
type inflater struct {
	src bytes.Reader
	r   interface {
		Read([]byte) (int, error)
	}
}

var inflaters = sync.Pool{New: func() any {
	f := new(inflater)
	f.r = flate.NewReader(&f.src)
	return f
}}

func zlibDecompress(src, dst, dict []byte) error {
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	f.src.Reset(src)
	if err := f.r.(flate.Resetter).Reset(&f.src, dict); err != nil {
		return errZlib
	}
	ok := readExactly(f.r, dst)
	f.src.Reset(nil)
	if !ok {
		return errZlib
	}
	return nil
}

var errZlib = rocksdb.Corruption("Failed zlib inflate")

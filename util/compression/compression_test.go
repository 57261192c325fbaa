// Port of util/compression_test.cc, as far as it is about the built-in
// algorithms.

package compression

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var writable = []rocksdb.CompressionType{
	rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.BZip2Compression, rocksdb.LZ4Compression,
	rocksdb.LZ4HCCompression, rocksdb.ZSTD,
}

// sample gives n bytes that compress, more or less by mix.
func sample(n int, mix int64) []byte {
	r := rand.New(rand.NewSource(mix + int64(n)))
	var b []byte
	for len(b) < n {
		switch r.Intn(3) {
		case 0:
			b = append(b, fmt.Sprintf("key%08d=value", r.Intn(1000))...)
		case 1:
			x := make([]byte, r.Intn(30))
			r.Read(x)
			b = append(b, x...)
		default:
			b = append(b, bytes.Repeat([]byte{byte(r.Intn(4))}, r.Intn(300))...)
		}
	}
	return b[:n]
}

func roundTrip(t *testing.T, c rocksdb.Compressor, d rocksdb.Decompressor, src []byte) int {
	t.Helper()
	dst := make([]byte, len(src)+len(src)/4+700)
	n, typ, err := c.CompressBlock(src, dst, nil)
	if err != nil || typ != c.GetPreferredCompressionType() {
		t.Fatalf("%s of %d bytes: type %d, %v", c.Name(), len(src), typ, err)
	}
	args := &rocksdb.DecompressArgs{CompressionType: typ, CompressedData: dst[:n]}
	if err := d.ExtractUncompressedSize(args); err != nil {
		t.Fatal(err)
	}
	if args.UncompressedSize != uint64(len(src)) {
		t.Fatalf("%s: size %d, want %d", c.Name(), args.UncompressedSize, len(src))
	}
	out := make([]byte, len(src))
	if err := d.DecompressBlock(args, out); err != nil {
		t.Fatalf("%s of %d bytes: %v", c.Name(), len(src), err)
	}
	if !bytes.Equal(out, src) {
		t.Fatalf("%s of %d bytes: other bytes came back", c.Name(), len(src))
	}
	return n
}

func TestBuiltin_RoundTrip(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	for _, typ := range writable {
		for _, level := range []int{rocksdb.DefaultCompressionLevel, -5, 1, 6, 12} {
			opts := rocksdb.DefaultCompressionOptions()
			opts.Level = level
			c := m.GetCompressor(&opts, typ)
			for _, n := range []int{1, 12, 13, 14, 100, 4096, 16 << 10, 65546, 65547, 65548, 200 << 10} {
				roundTrip(t, c, m.GetDecompressor(), sample(n, 1))
				roundTrip(t, c, m.GetDecompressor(), bytes.Repeat([]byte("a"), n))
			}
		}
	}
}

func TestBuiltin_Dictionary(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	for _, typ := range writable {
		for _, dictLen := range []int{9, 1000, 20 << 10, 64 << 10, 100 << 10} {
			opts := rocksdb.DefaultCompressionOptions()
			opts.MaxDictBytes = uint32(dictLen)
			base := m.GetCompressor(&opts, typ)
			dict := sample(dictLen, 7)
			c, err := base.MaybeCloneSpecialized(rocksdb.CacheEntryRoleDataBlock,
				rocksdb.CompressionDictConfig{Kind: rocksdb.DictSampling, SampleData: dict, SampleLens: []int{dictLen}})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.GetSerializedDict(), dict) {
				t.Fatal("dictionary lost")
			}
			d, err := m.GetDecompressor().MaybeCloneForDict(dict)
			if err != nil {
				t.Fatal(err)
			}
			src := append(bytes.Clone(dict[len(dict)/2:]), sample(3000, 3)...)
			with, without := roundTrip(t, c, d, src), roundTrip(t, base, m.GetDecompressor(), src)
			if DictCompressionTypeSupported(typ) && dictLen >= 1000 && with > without {
				t.Errorf("%s: %d bytes with a dictionary of %d, %d without", c.Name(), with, dictLen, without)
			}
			roundTrip(t, c, d, sample(70<<10, 4))
		}
	}
}

func TestBuiltin_TrainedDictionary(t *testing.T) {
	opts := rocksdb.DefaultCompressionOptions()
	opts.MaxDictBytes, opts.ZSTDMaxTrainBytes = 8<<10, 100<<10
	for _, opts.UseZSTDDictTrainer = range []bool{true, false} {
		m := GetBuiltinV2CompressionManager()
		c := m.GetCompressor(&opts, rocksdb.ZSTD)
		if g := c.GetDictGuidance(rocksdb.CacheEntryRoleDataBlock); g.Kind != rocksdb.DictSampling || g.MaxSampleBytes != 100<<10 {
			t.Fatalf("guidance %+v", g)
		}
		var data []byte
		var lens []int
		for i := 0; i < 40; i++ {
			s := sample(2000, int64(i))
			data, lens = append(data, s...), append(lens, len(s))
		}
		dc, err := c.MaybeCloneSpecialized(rocksdb.CacheEntryRoleDataBlock,
			rocksdb.CompressionDictConfig{Kind: rocksdb.DictSampling, SampleData: data, SampleLens: lens})
		if err != nil {
			t.Fatal(err)
		}
		dict := dc.GetSerializedDict()
		if len(dict) == 0 || len(dict) > 8<<10 || !isZSTDDict(dict) {
			t.Fatalf("dictionary of %d bytes", len(dict))
		}
		d, err := m.GetDecompressor().MaybeCloneForDict(dict)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, dc, d, sample(2000, 99))
	}
}

// TestZSTDDictionarySizes trains dictionaries of any size that C++ would.
func TestZSTDDictionarySizes(t *testing.T) {
	var data []byte
	var lens []int
	for i := range 40 {
		s := sample(2000, int64(i))
		data, lens = append(data, s...), append(lens, len(s))
	}
	m := GetBuiltinV2CompressionManager()
	for _, size := range []int{256, 300, 512, 1000, 1024, 1500, 2048, 16 << 10} {
		for i, d := range [][]byte{ZSTDTrainDictionary(data, lens, size), ZSTDFinalizeDictionary(data, lens, size, 3)} {
			if len(d) == 0 || len(d) > size || !isZSTDDict(d) {
				t.Errorf("%d, kind %d: a dictionary of %d bytes", size, i, len(d))
				continue
			}
			opts := rocksdb.DefaultCompressionOptions()
			dec, err := m.GetDecompressor().MaybeCloneForDict(d)
			if err != nil {
				t.Fatal(err)
			}
			roundTrip(t, newZSTDCompressor(&opts, d), dec, sample(2000, 99))
		}
	}
	if d := ZSTDTrainDictionary(data, lens, 255); d != nil {
		t.Errorf("255: %d bytes", len(d))
	}
}

func TestBuiltin_RejectsWhatDoesNotShrink(t *testing.T) {
	src := make([]byte, 4096)
	rand.New(rand.NewSource(1)).Read(src)
	opts := rocksdb.DefaultCompressionOptions()
	for _, typ := range writable {
		c := GetBuiltinV2CompressionManager().GetCompressor(&opts, typ)
		n, got, err := c.CompressBlock(src, make([]byte, len(src)*7/8), nil)
		if err != nil || got != rocksdb.NoCompression || n != 1 {
			t.Errorf("%s: %d, type %d, %v", c.Name(), n, got, err)
		}
		if typ == rocksdb.SnappyCompression {
			continue
		}
		if n, got, err = c.CompressBlock(src, make([]byte, 4), nil); err != nil || got != rocksdb.NoCompression || n != 0 {
			t.Errorf("%s into 4 bytes: %d, type %d, %v", c.Name(), n, got, err)
		}
	}
	opts.MaxCompressedBytesPerKB = 0
	if GetBuiltinV2CompressionManager().GetCompressor(&opts, rocksdb.ZSTD) != nil {
		t.Error("a compressor that may not keep anything")
	}
}

func TestBuiltin_LZ4LevelSelection(t *testing.T) {
	for _, tc := range []struct {
		typ   rocksdb.CompressionType
		level int
		want  string
	}{
		{rocksdb.LZ4Compression, rocksdb.DefaultCompressionLevel, "BuiltinLZ4CompressorV2"},
		{rocksdb.LZ4HCCompression, rocksdb.DefaultCompressionLevel, "BuiltinLZ4HCCompressorV2"},
		{rocksdb.LZ4Compression, 3, "BuiltinLZ4HCCompressorV2"},
		{rocksdb.LZ4HCCompression, -3, "BuiltinLZ4CompressorV2"},
		{rocksdb.LZ4HCCompression, 0, "BuiltinLZ4CompressorV2"},
	} {
		opts := rocksdb.DefaultCompressionOptions()
		opts.Level = tc.level
		if c := GetBuiltinV2CompressionManager().GetCompressor(&opts, tc.typ); c.Name() != tc.want {
			t.Errorf("type %d level %d: %s, want %s", tc.typ, tc.level, c.Name(), tc.want)
		}
	}
}

func TestBuiltin_CorruptBlocks(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	opts := rocksdb.DefaultCompressionOptions()
	for _, typ := range writable {
		c := m.GetCompressor(&opts, typ)
		src := sample(3000, 5)
		dst := make([]byte, 5000)
		n, _, err := c.CompressBlock(src, dst, nil)
		if err != nil {
			t.Fatal(err)
		}
		check := func(b []byte) {
			size, rest, err := UncompressedSize(typ, b)
			if err == nil {
				err = theDecompressor.Decompress(typ, rest, make([]byte, size))
			}
			if err != nil && !errors.Is(err, rocksdb.ErrCorruption) {
				t.Fatalf("%s: %v", c.Name(), err)
			}
		}
		for cut := 0; cut < n; cut += 7 {
			check(dst[:cut])
		}
		for i := 0; i < n; i += 3 {
			b := bytes.Clone(dst[:n])
			b[i] ^= 0x55
			check(b)
		}
	}
	// A size that cannot be is refused before anything is allocated.
	if _, _, err := UncompressedSize(rocksdb.LZ4Compression, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1}); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Error(err)
	}
	for _, typ := range []rocksdb.CompressionType{rocksdb.XpressCompression, 0x90} {
		if _, _, err := UncompressedSize(typ, src40()); !errors.Is(err, rocksdb.ErrNotSupported) {
			t.Error(err)
		}
	}
	if _, err := theDecompressor.MaybeCloneForDict(nil); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Error(err)
	}
}

func src40() []byte { return make([]byte, 40) }

func TestBuiltin_Names(t *testing.T) {
	for v := 0; v < 256; v++ {
		typ := rocksdb.CompressionType(v)
		if got := CompressionTypeFromString(CompressionTypeToString(typ)); got != typ {
			t.Errorf("%d: %q reads as %d", v, CompressionTypeToString(typ), got)
		}
	}
	if s := CompressionTypeToString(0x8a); s != "Custom8A" {
		t.Error(s)
	}
	if s := CompressionTypeToString(0x0c); s != "Reserved0C" {
		t.Error(s)
	}
	opts := rocksdb.DefaultCompressionOptions()
	const want = "window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; zstd_max_train_bytes=0; enabled=0; " +
		"max_dict_buffer_bytes=0; use_zstd_dict_trainer=1; max_compressed_bytes_per_kb=896; checksum=0; "
	if got := CompressionOptionsToString(&opts); got != want {
		t.Error(got)
	}
}

func TestLegacyForceBuiltinCompression(t *testing.T) {
	opts := rocksdb.DefaultCompressionOptions()
	src := make([]byte, 1000)
	rand.New(rand.NewSource(2)).Read(src)
	for _, typ := range writable {
		c := GetBuiltinV2CompressionManager().GetCompressor(&opts, typ)
		out, err := LegacyForceBuiltinCompression(c, nil, []byte("head"), src)
		if err != nil || !bytes.HasPrefix(out, []byte("head")) {
			t.Fatal(err)
		}
		size, rest, err := UncompressedSize(typ, out[4:])
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, size)
		if err := theDecompressor.Decompress(typ, rest, got); err != nil || !bytes.Equal(got, src) {
			t.Fatal(c.Name(), err)
		}
	}
}

func TestStreaming(t *testing.T) {
	c, err := NewStreamingCompress(rocksdb.ZSTD, 100)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewStreamingUncompress(rocksdb.ZSTD)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 50, 1000, 300 << 10} {
		src := sample(n, 8)
		c.Compress(src)
		var got []byte
		for {
			piece, more := c.Next()
			if len(piece) > 100 {
				t.Fatalf("piece of %d bytes", len(piece))
			}
			out, err := u.Uncompress(piece)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, out...)
			if !more {
				break
			}
		}
		if !bytes.Equal(got, src) {
			t.Fatalf("%d bytes: other bytes came back", n)
		}
	}
	if _, err := u.Uncompress([]byte("no frame")); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Error(err)
	}
	rec := CompressionTypeRecord{rocksdb.ZSTD}
	var back CompressionTypeRecord
	if rest, err := back.DecodeFrom(append(rec.AppendTo(nil), 'x')); err != nil || back != rec || string(rest) != "x" {
		t.Error(back, err)
	}
	if _, err := back.DecodeFrom([]byte{4, 0, 0, 0}); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Error(err)
	}
}

func TestNoAllocationOnceWarm(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	opts := rocksdb.DefaultCompressionOptions()
	src := sample(4096, 5)
	for _, typ := range writable {
		if typ == rocksdb.BZip2Compression {
			continue // its libraries allocate; no one chooses it for speed
		}
		c := m.GetCompressor(&opts, typ)
		area := c.ObtainWorkingArea()
		dst, out := make([]byte, 8192), make([]byte, len(src))
		n, _, err := c.CompressBlock(src, dst, area)
		if err != nil {
			t.Fatal(err)
		}
		allocs := testing.AllocsPerRun(50, func() {
			if _, _, err := c.CompressBlock(src, dst, area); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 0 {
			t.Errorf("%s: %v allocations to compress", c.Name(), allocs)
		}
		allocs = testing.AllocsPerRun(50, func() {
			size, rest, err := UncompressedSize(typ, dst[:n])
			if err == nil {
				err = theDecompressor.Decompress(typ, rest, out[:size])
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		budget := 0.0
		if typ == rocksdb.ZlibCompression {
			budget = 1 // the inflate library's, at each reset
		}
		if allocs > budget {
			t.Errorf("%s: %v allocations to decompress", c.Name(), allocs)
		}
	}
}

func BenchmarkCompress(b *testing.B) {
	opts := rocksdb.DefaultCompressionOptions()
	for _, typ := range writable {
		for _, n := range []int{4 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%dK", CompressionTypeToString(typ), n>>10), func(b *testing.B) {
				c := GetBuiltinV2CompressionManager().GetCompressor(&opts, typ)
				src, dst, area := sample(n, 5), make([]byte, 2*n), c.ObtainWorkingArea()
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := c.CompressBlock(src, dst, area); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDecompress(b *testing.B) {
	opts := rocksdb.DefaultCompressionOptions()
	for _, typ := range writable {
		b.Run(CompressionTypeToString(typ), func(b *testing.B) {
			c := GetBuiltinV2CompressionManager().GetCompressor(&opts, typ)
			src, dst := sample(4096, 5), make([]byte, 8192)
			n, _, err := c.CompressBlock(src, dst, nil)
			if err != nil {
				b.Fatal(err)
			}
			out := make([]byte, len(src))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				_, rest, _ := UncompressedSize(typ, dst[:n])
				if err := theDecompressor.Decompress(typ, rest, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestDBCompressionTest_GetRecommendedParallelThreads(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	o := rocksdb.DefaultCompressionOptions()
	check := func(ct rocksdb.CompressionType, want uint32) {
		t.Helper()
		if got := m.GetCompressor(&o, ct).GetRecommendedParallelThreads(); got != want {
			t.Errorf("type %d, level %d: %d threads", ct, o.Level, got)
		}
	}
	o.ParallelThreads = 1
	for _, ct := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.LZ4Compression,
		rocksdb.LZ4HCCompression, rocksdb.ZSTD} {
		check(ct, 1)
	}
	// Fast ones do not gain by it.
	o.ParallelThreads, o.Level = 8, 3
	check(rocksdb.SnappyCompression, 1)
	check(rocksdb.ZlibCompression, 8)
	check(rocksdb.ZSTD, 8)
	for _, ct := range []rocksdb.CompressionType{rocksdb.LZ4Compression, rocksdb.LZ4HCCompression} {
		for _, o.Level = range []int{-10, -1, 0, 1, 4, 9, 12} {
			want := uint32(1)
			if o.Level >= 1 {
				want = 8
			}
			check(ct, want)
		}
	}
	o.Level = -1
	check(rocksdb.ZSTD, 1)
	o.Level = 0
	check(rocksdb.ZSTD, 8)
}

// compressAt compresses src whole and takes it apart again.
func compressAt(t *testing.T, ct rocksdb.CompressionType, level int, src []byte) ([]byte, rocksdb.CompressionType) {
	t.Helper()
	m := GetBuiltinV2CompressionManager()
	o := rocksdb.DefaultCompressionOptions()
	o.Level = level
	out := make([]byte, 2*len(src)+1024)
	n, used, err := m.GetCompressor(&o, ct).CompressBlock(src, out, nil)
	if err != nil || used == rocksdb.NoCompression {
		t.Fatalf("type %d, level %d: used %d, %v", ct, level, used, err)
	}
	d := m.GetDecompressor()
	args := rocksdb.DecompressArgs{CompressionType: used, CompressedData: out[:n]}
	if err := d.ExtractUncompressedSize(&args); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, args.UncompressedSize)
	if err := d.DecompressBlock(&args, back); err != nil || !bytes.Equal(back, src) {
		t.Fatalf("type %d, level %d: something else came back, %v", ct, level, err)
	}
	return out[:n], used
}

func TestDBCompressionTest_UnifiedLZ4LZ4HCLevels(t *testing.T) {
	src := bytes.Repeat([]byte("abcdefgh"), 256)
	byLevel := map[int][]byte{}
	for _, level := range []int{-1, 0, -3, -65537, -65538, -1000000, -2000000000, 1, 4, 9, 12, 13, 100, 1000, 2000000000} {
		a, usedA := compressAt(t, rocksdb.LZ4Compression, level, src)
		b, usedB := compressAt(t, rocksdb.LZ4HCCompression, level, src)
		want := rocksdb.LZ4Compression
		if level >= 1 {
			want = rocksdb.LZ4HCCompression
		}
		if usedA != want || usedB != want || !bytes.Equal(a, b) {
			t.Errorf("level %d: used %d and %d", level, usedA, usedB)
		}
		byLevel[level] = a
		// Levels beyond the ends are the ends.
		same := level
		switch {
		case level == 0:
			same = -1
		case level < -65537:
			same = -65537
		case level > 12:
			same = 12
		}
		if !bytes.Equal(a, byLevel[same]) {
			t.Errorf("level %d is not as %d", level, same)
		}
	}
	for _, ct := range []rocksdb.CompressionType{rocksdb.LZ4Compression, rocksdb.LZ4HCCompression} {
		if _, used := compressAt(t, ct, rocksdb.DefaultCompressionLevel, src); used != ct {
			t.Errorf("type %d: used %d", ct, used)
		}
	}
}

func TestDBCompressionTest_ZSTDLevelZeroMapsToMinusOne(t *testing.T) {
	rnd := util.NewRandom(301)
	var src []byte
	for range 2000 {
		src = append(src, rnd.RandomString(16)...)
		src = append(src, "xxxxxxxx"...)
	}
	zero, _ := compressAt(t, rocksdb.ZSTD, 0, src)
	minusOne, _ := compressAt(t, rocksdb.ZSTD, -1, src)
	three, _ := compressAt(t, rocksdb.ZSTD, 3, src)
	if !bytes.Equal(zero, minusOne) || bytes.Equal(zero, three) {
		t.Errorf("%d, %d and %d bytes", len(zero), len(minusOne), len(three))
	}
}

// TestZlibStrategy: Huffman coding alone repeats nothing, with a dictionary, too.
func TestZlibStrategy(t *testing.T) {
	m := GetBuiltinV2CompressionManager()
	src := bytes.Repeat([]byte("key=value,"), 4000)
	for _, n := range []int{100, 4000, len(src)} {
		sizes := map[int]int{}
		for _, strategy := range []int{0, 2} {
			opts := rocksdb.DefaultCompressionOptions()
			opts.Strategy = strategy
			c, d := m.GetCompressor(&opts, rocksdb.ZlibCompression), m.GetDecompressor()
			sizes[strategy] = roundTrip(t, c, d, src[:n])
			dd, err := d.MaybeCloneForDict(src[:1000])
			if err != nil {
				t.Fatal(err)
			}
			dc, err := c.MaybeCloneSpecialized(rocksdb.CacheEntryRoleDataBlock,
				rocksdb.CompressionDictConfig{Kind: rocksdb.DictPreDefined, DictData: src[:1000]})
			if err != nil {
				t.Fatal(err)
			}
			roundTrip(t, dc, dd, src[:n])
		}
		if sizes[2] < n*3/8 || sizes[0] > n/2 {
			t.Errorf("%d bytes: %v", n, sizes)
		}
	}
}

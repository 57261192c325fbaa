// Port of BaseDistribution and its kinds, RandomGenerator, KeyGenerator,
// TimestampEmulator and Benchmark::GenerateKeyFromInt of
// tools/db_bench_tool.cc.

package main

import (
	"math/rand/v2"
	"strings"

	"github.com/rocksdb-go/rocksdb/util"
)

type distributionType uint8

const (
	distributionFixed distributionType = iota
	distributionUniform
	distributionNormal
)

func stringToDistributionType(s string) (distributionType, bool) {
	switch strings.ToLower(s) {
	case "fixed":
		return distributionFixed, true
	case "uniform":
		return distributionUniform, true
	case "normal":
		return distributionNormal, true
	}
	return 0, false
}

// valueSizes draws the sizes of values. Only fixed sizes repeat from run to
// run: upstream seeds the other kinds from the system as well.
type valueSizes struct {
	kind              distributionType
	fixed             uint32
	smallest, biggest uint32
	gen               *util.Random32
	normal            normalDistribution
}

func newValueSizes(kind distributionType, fixed, smallest, biggest uint32) *valueSizes {
	d := &valueSizes{kind: kind, fixed: fixed, smallest: smallest, biggest: biggest}
	if kind != distributionFixed {
		d.gen = util.NewRandom32(rand.Uint32())
		// 99.7% of the values are between the two.
		d.normal.mean = float64(smallest+biggest) / 2
		d.normal.stddev = float64(biggest-smallest) / 6
	}
	return d
}

func (d *valueSizes) generate() uint32 {
	switch d.kind {
	case distributionUniform:
		return d.smallest + uint32(uniformInt(d.gen, uint64(d.biggest-d.smallest)))
	case distributionNormal:
		v := d.normal.next(func() float64 {
			return (float64(d.gen.Next()) + float64(d.gen.Next())*(1<<32)) / (1 << 64)
		})
		return min(max(uint32(max(v, 0)), d.smallest), d.biggest)
	}
	return d.fixed
}

// randomGenerator hands out values: slices of one megabyte of text that
// compresses as asked. The same for every seed.
type randomGenerator struct {
	data        []byte
	pos         int
	sizes       *valueSizes
	rnd         *util.Random
	samePercent int
}

func newRandomGenerator(f *Flags, kind distributionType, valueSize int) *randomGenerator {
	g := &randomGenerator{rnd: util.NewRandom(301), samePercent: int(f.SameValuePercentage)}
	biggest := int(f.ValueSizeMax)
	if kind == distributionFixed {
		biggest = valueSize
	}
	g.sizes = newValueSizes(kind, uint32(valueSize), uint32(f.ValueSizeMin), uint32(f.ValueSizeMax))
	// More than a compression window and than any value.
	enough := max(1048576, biggest)
	g.data = make([]byte, 0, enough+100)
	for len(g.data) < enough {
		g.data = appendCompressible(g.data, g.rnd, f.CompressionRatio, 100)
	}
	return g
}

// appendCompressible appends n bytes of which a share of ratio is random.
func appendCompressible(dst []byte, rnd *util.Random, ratio float64, n int) []byte {
	raw := rnd.RandomBinaryString(max(1, int(float64(n)*ratio)))
	for end := len(dst) + n; len(dst) < end; {
		dst = append(dst, raw[:min(len(raw), end-len(dst))]...)
	}
	return dst
}

// generateN gives n bytes, which stay valid and must not be changed.
func (g *randomGenerator) generateN(n int) []byte {
	if g.rnd.PercentTrue(g.samePercent) {
		return g.data[:n:n]
	}
	if g.pos+n > len(g.data) {
		g.pos = 0
	}
	g.pos += n
	return g.data[g.pos-n : g.pos : g.pos]
}

// generate gives a value of a size of the distribution.
func (g *randomGenerator) generate() []byte { return g.generateN(int(g.sizes.generate())) }

type writeMode uint8

const (
	writeRandom writeMode = iota
	writeSequential
	writeUniqueRandom
)

// keyGenerator gives the numbers that keys are made of.
type keyGenerator struct {
	rand   *util.Random64
	mode   writeMode
	num    uint64
	next   uint64
	values []uint64 // writeUniqueRandom: 0 … num-1, shuffled
}

func newKeyGenerator(rand *util.Random64, mode writeMode, num uint64, seed int64) *keyGenerator {
	g := &keyGenerator{rand: rand, mode: mode, num: num}
	if mode == writeUniqueRandom {
		g.values = make([]uint64, num)
		for i := range g.values {
			g.values[i] = uint64(i)
		}
		shuffle(g.values, uint32(seed))
	}
	return g
}

// draw gives the next number; ok is false when a unique sequence is used up.
func (g *keyGenerator) draw() (n uint64, ok bool) {
	switch g.mode {
	case writeSequential:
		g.next++
		return g.next - 1, true
	case writeRandom:
		return g.rand.Next() % g.num, true
	}
	return g.fetchNext()
}

// usedUp tells whether a unique sequence is.
func (g *keyGenerator) usedUp() bool {
	return g.mode == writeUniqueRandom && g.next >= uint64(len(g.values))
}

func (g *keyGenerator) fetchNext() (uint64, bool) {
	n, ok := g.fetch(g.next)
	g.next++
	return n, ok
}

// fetch gives the number at index of a unique sequence.
func (g *keyGenerator) fetch(index uint64) (uint64, bool) {
	if index >= uint64(len(g.values)) {
		return 0, false
	}
	return g.values[index], true
}

// keyMaker turns numbers into keys:
//
//	prefix, padded with '0' to prefixSize | number, big-endian, padded with '0'
//
// where the prefix is there only with keysPerPrefix > 0, and is the number
// modulo the number of prefixes.
type keyMaker struct {
	keySize       int
	prefixSize    int
	keysPerPrefix int64
	existing      [][]byte // keys of --use_existing_keys, instead of made ones
}

// generate writes the key of v into key, of keySize bytes, and gives it; with
// existing keys the result is another slice, not to be changed.
func (m *keyMaker) generate(v uint64, numKeys int64, key []byte) []byte {
	if len(m.existing) > 0 {
		return m.existing[v%uint64(len(m.existing))]
	}
	pos := 0
	if m.keysPerPrefix > 0 {
		// At least one prefix: upstream divides by zero with more keys a
		// prefix than keys.
		prefix := v % max(1, uint64(numKeys/m.keysPerPrefix))
		n := min(m.prefixSize, 8)
		putBigEndian(key[:n], prefix)
		for i := 8; i < m.prefixSize; i++ {
			key[i] = '0'
		}
		pos = m.prefixSize
	}
	n := min(len(key)-pos, 8)
	if n == 8 {
		k := key[pos : pos+8]
		k[0], k[1], k[2], k[3] = byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32)
		k[4], k[5], k[6], k[7] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	} else {
		putBigEndian(key[pos:pos+n], v)
	}
	for i := pos + n; i < len(key); i++ {
		key[i] = '0'
	}
	return key
}

// putBigEndian writes the low len(dst) bytes of v.
func putBigEndian(dst []byte, v uint64) {
	for i := range dst {
		dst[i] = byte(v >> (8 * (len(dst) - i - 1)))
	}
}

// keyBuffer gives a buffer for generate.
func (m *keyMaker) keyBuffer() []byte { return make([]byte, m.keySize) }

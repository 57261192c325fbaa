// Port of util/bloom_impl.h. Differs: the static classes are function groups
// with the class as prefix; the AVX2 probe and prefetching have no twin.

package util

import "math"

// BloomMathStandardFpRate estimates the false positive rate of a filter whose
// bits may be anywhere.
func BloomMathStandardFpRate(bitsPerKey float64, numProbes int) float64 {
	return math.Pow(1-math.Exp(-float64(numProbes)/bitsPerKey), float64(numProbes))
}

// BloomMathCacheLocalFpRate estimates the rate of a filter whose bits for a key
// all lie in one cache line: the mean of a line one standard deviation over and
// one under the average load.
func BloomMathCacheLocalFpRate(bitsPerKey float64, numProbes, cacheLineBits int) float64 {
	if bitsPerKey <= 0 {
		return 1
	}
	line := float64(cacheLineBits)
	keys := line / bitsPerKey
	stddev := math.Sqrt(keys)
	crowded := BloomMathStandardFpRate(line/(keys+stddev), numProbes)
	uncrowded := BloomMathStandardFpRate(line/(keys-stddev), numProbes)
	return (crowded + uncrowded) / 2
}

// BloomMathFingerprintFpRate estimates the rate that comes of hashes of
// fingerprintBits being equal, for a key against numKeys.
func BloomMathFingerprintFpRate(numKeys uint64, fingerprintBits int) float64 {
	estimate := float64(numKeys) * math.Pow(0.5, float64(fingerprintBits))
	if estimate > 0.0001 {
		return 1 - math.Exp(-estimate)
	}
	return estimate - estimate*estimate*0.5 // 1-exp loses digits here
}

// BloomMathIndependentProbabilitySum is the probability that one or both of two
// independent events happen.
func BloomMathIndependentProbabilitySum(rate1, rate2 float64) float64 {
	return rate1 + rate2 - rate1*rate2
}

// FastLocalBloom is the Bloom filter of format_version 5 and later. It is an
// array of 64-byte lines. Of a key's Hash64 the lower half picks the line (by
// FastRange32) and the upper half the bits in it: the top nine bits of h, h*g,
// h*g*g... modulo 2^32, with g = 0x9e3779b9. Bit b is bit b%8 of byte b/8.

// FastLocalBloomLineSize is the number of bytes of a line; a filter is a whole
// number of lines.
const FastLocalBloomLineSize = 64

const fastLocalBloomGolden = 0x9e3779b9

// FastLocalBloomEstimatedFpRate estimates the false positive rate.
func FastLocalBloomEstimatedFpRate(keys, bytes uint64, numProbes, hashBits int) float64 {
	return BloomMathIndependentProbabilitySum(
		BloomMathCacheLocalFpRate(8*float64(bytes)/float64(keys), numProbes, 512),
		BloomMathFingerprintFpRate(keys, hashBits))
}

// fastLocalBloomProbes[i] is the most thousandths of a bit per key for which
// i+1 probes are best.
var fastLocalBloomProbes = [...]int{2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501}

// FastLocalBloomChooseNumProbes gives the number of probes for a number of
// thousandths of bits per key.
func FastLocalBloomChooseNumProbes(millibitsPerKey int) int {
	for i, most := range fastLocalBloomProbes {
		if millibitsPerKey <= most {
			return i + 1
		}
	}
	if millibitsPerKey > 50000 {
		return 24
	}
	return (millibitsPerKey-1)/2000 - 1
}

// FastLocalBloomAddHash adds a key by the halves of its Hash64, h1 the lower.
// data is the lines alone, of which there must be one.
func FastLocalBloomAddHash(h1, h2 uint32, numProbes int, data []byte) {
	FastLocalBloomAddHashPrepared(h2, numProbes, data[FastLocalBloomPrepareHash(h1, len(data)):])
}

// FastLocalBloomAddHashPrepared adds a key to the line at the front of data.
func FastLocalBloomAddHashPrepared(h2 uint32, numProbes int, data []byte) {
	line := (*[FastLocalBloomLineSize]byte)(data)
	for h := h2; numProbes > 0; numProbes-- {
		bit := h >> (32 - 9)
		line[bit>>3] |= 1 << (bit & 7)
		h *= fastLocalBloomGolden
	}
}

// FastLocalBloomPrepareHash gives the offset of a key's line in lenBytes bytes.
func FastLocalBloomPrepareHash(h1 uint32, lenBytes int) uint32 {
	return FastRange32(h1, uint32(lenBytes)>>6) << 6
}

// FastLocalBloomHashMayMatch tells whether a key may have been added. A filter
// of less than one line, which only damage makes, matches everything.
func FastLocalBloomHashMayMatch(h1, h2 uint32, numProbes int, data []byte) bool {
	if len(data) < FastLocalBloomLineSize {
		return true
	}
	return FastLocalBloomHashMayMatchPrepared(h2, numProbes, data[FastLocalBloomPrepareHash(h1, len(data)):])
}

// FastLocalBloomHashMayMatchPrepared asks the line at the front of data.
func FastLocalBloomHashMayMatchPrepared(h2 uint32, numProbes int, data []byte) bool {
	line := (*[FastLocalBloomLineSize]byte)(data)
	for h := h2; numProbes > 0; numProbes-- {
		bit := h >> (32 - 9)
		if line[bit>>3]&(1<<(bit&7)) == 0 {
			return false
		}
		h *= fastLocalBloomGolden
	}
	return true
}

// LegacyNoLocalityBloom is the filter of the plain table without locality: bits
// h, h+d, h+2d... modulo the total, d being h rotated right by 17.

// LegacyNoLocalityBloomChooseNumProbes gives 1 to 30 probes.
func LegacyNoLocalityBloomChooseNumProbes(bitsPerKey int) int {
	return min(max(int(float64(bitsPerKey)*0.69), 1), 30) // 0.69 is about ln 2
}

// LegacyNoLocalityBloomAddHash adds a key by its BloomHash.
func LegacyNoLocalityBloomAddHash(h, totalBits uint32, numProbes int, data []byte) {
	delta := h>>17 | h<<15
	for ; numProbes > 0; numProbes-- {
		bit := h % totalBits
		data[bit/8] |= 1 << (bit % 8)
		h += delta
	}
}

// LegacyNoLocalityBloomHashMayMatch tells whether a key may have been added;
// always for a filter without bits or smaller than totalBits.
func LegacyNoLocalityBloomHashMayMatch(h, totalBits uint32, numProbes int, data []byte) bool {
	if totalBits == 0 || uint64(len(data))*8 < uint64(totalBits) {
		return true
	}
	delta := h>>17 | h<<15
	for ; numProbes > 0; numProbes-- {
		bit := h % totalBits
		if data[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// LegacyLocalityBloom is the full filter of format_version below 5 (without
// extra rotations) and the plain table's with locality (with them). A key's
// bits are in one line of 2^log2LineBytes bytes, which h modulo the number of
// lines picks; the bits are h, h+d... modulo a line's, d being h rotated right
// by 17. Extra rotations turn h right by 11 for the line, and by the bits of a
// bit number between probes.

// LegacyLocalityBloomEstimatedFpRate estimates the false positive rate of the
// form without extra rotations, for 64-byte lines.
func LegacyLocalityBloomEstimatedFpRate(keys, bytes uint64, numProbes int) float64 {
	bitsPerKey := 8 * float64(bytes) / float64(keys)
	rate := BloomMathCacheLocalFpRate(bitsPerKey, numProbes, 512)
	// What reusing bits of h for line and bits costs; found by experiment.
	rate += 0.1 / (bitsPerKey*0.75 + 22)
	return BloomMathIndependentProbabilitySum(rate, BloomMathFingerprintFpRate(keys, 32))
}

// LegacyLocalityBloomPrepareHashMayMatch gives the offset of a key's line.
func LegacyLocalityBloomPrepareHashMayMatch(h, numLines uint32, log2LineBytes uint, extraRotates bool) uint32 {
	if extraRotates {
		h = h>>11 | h<<21
	}
	return h % numLines << log2LineBytes
}

// LegacyLocalityBloomAddHash adds a key by its BloomHash; data holds numLines
// lines.
func LegacyLocalityBloomAddHash(h, numLines uint32, numProbes int, data []byte, log2LineBytes uint, extraRotates bool) {
	line := data[LegacyLocalityBloomPrepareHashMayMatch(h, numLines, log2LineBytes, extraRotates):]
	log2Bits := log2LineBytes + 3
	delta := h>>17 | h<<15
	for ; numProbes > 0; numProbes-- {
		bit := h & (1<<log2Bits - 1)
		line[bit/8] |= 1 << (bit % 8)
		if extraRotates {
			h = h>>log2Bits | h<<(32-log2Bits)
		}
		h += delta
	}
}

// LegacyLocalityBloomHashMayMatch tells whether a key may have been added;
// always when data does not hold numLines lines, or there are none.
func LegacyLocalityBloomHashMayMatch(h, numLines uint32, numProbes int, data []byte, log2LineBytes uint, extraRotates bool) bool {
	if numLines == 0 || log2LineBytes > 28 || uint64(len(data)) < uint64(numLines)<<log2LineBytes {
		return true
	}
	at := LegacyLocalityBloomPrepareHashMayMatch(h, numLines, log2LineBytes, extraRotates)
	return LegacyLocalityBloomHashMayMatchPrepared(h, numProbes, data[at:], log2LineBytes, extraRotates)
}

// LegacyLocalityBloomHashMayMatchPrepared asks the line at the front of data.
func LegacyLocalityBloomHashMayMatchPrepared(h uint32, numProbes int, data []byte, log2LineBytes uint, extraRotates bool) bool {
	line := data[:1<<log2LineBytes]
	log2Bits := log2LineBytes + 3
	delta := h>>17 | h<<15
	for ; numProbes > 0; numProbes-- {
		bit := h & (1<<log2Bits - 1)
		if line[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		if extraRotates {
			h = h>>log2Bits | h<<(32-log2Bits)
		}
		h += delta
	}
	return true
}

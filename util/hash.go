// Port of util/hash.{h,cc} and util/hash128.h.

package util

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Hash is the 32-bit hash of the legacy Bloom filter and of sharding; its
// values are part of file formats. It is MurmurHash1 but for the last one to
// three bytes, which count as signed.
func Hash(data []byte, seed uint32) uint32 {
	const m = 0xc6a4a793
	h := seed ^ uint32(len(data))*m
	for len(data) >= 4 {
		h += DecodeFixed32(data)
		h *= m
		h ^= h >> 16
		data = data[4:]
	}
	if len(data) == 0 {
		return h
	}
	for i, c := range data {
		h += uint32(int32(int8(c))) << uint(8*i)
	}
	h *= m
	return h ^ h>>24
}

// Hash64 is the 64-bit hash of the format's filters; its values are part of
// file formats. Seeds that differ by one give dependent values.
func Hash64(data []byte, seed uint64) uint64 { return XXPH3_64bitsWithSeed(data, seed) }

// NPHash64 is a 64-bit hash that may change between releases: for memory only.
func NPHash64(data []byte, seed uint64) uint64 { return XXPH3_64bitsWithSeed(data, seed) }

// Hash128 is the 128-bit hash of data; its values are part of file formats.
func Hash128(data []byte) Unsigned128 { return Hash128WithSeed(data, 0) }

// Hash128WithSeed is Hash128 with a seed.
func Hash128WithSeed(data []byte, seed uint64) Unsigned128 {
	h := xxh3.Hash128Seed(data, seed)
	return Unsigned128{Hi: h.Hi, Lo: h.Lo}
}

// GetSliceHash128 is Hash128.
func GetSliceHash128(data []byte) Unsigned128 { return Hash128WithSeed(data, 0) }

// Hash2x64 is Hash128 in two halves.
func Hash2x64(data []byte, seed uint64) (high64, low64 uint64) {
	h := xxh3.Hash128Seed(data, seed)
	return h.Hi, h.Lo
}

const (
	bijectiveSecretLow  = 0x59973f0033362349
	bijectiveSecretHigh = 0xc202797692d63d58
	bijectiveMul        = 0x165667919E3779F9
	bijectiveLen        = (16 - 1) << 54
)

func xxh3Avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= bijectiveMul
	return h ^ h>>32
}

func xxh3Unavalanche(h uint64) uint64 {
	const mulInverse = 0x8da8ee41d6df849
	h ^= h >> 32
	h *= mulInverse
	return h ^ h>>37
}

// BijectiveHash2x64 hashes 128 bits to 128 bits, one to one; it is Hash2x64 of
// the 16 little-endian bytes.
func BijectiveHash2x64(inHigh64, inLow64, seed uint64) (high64, low64 uint64) {
	hi, lo := bits.Mul64(inLow64^inHigh64^(bijectiveSecretLow-seed), xxPrime64x1)
	lo += bijectiveLen
	inHigh64 ^= bijectiveSecretHigh + seed
	hi += inHigh64 + uint64(uint32(inHigh64))*(xxPrime32x2-1)
	lo ^= bits.ReverseBytes64(hi)
	hi2, lo2 := bits.Mul64(lo, xxPrime64x2)
	return xxh3Avalanche(hi2 + hi*xxPrime64x2), xxh3Avalanche(lo2)
}

// BijectiveUnhash2x64 is the inverse of BijectiveHash2x64.
func BijectiveUnhash2x64(inHigh64, inLow64, seed uint64) (high64, low64 uint64) {
	const (
		prime64x1Inverse = 0x887493432badb37
		prime64x2Inverse = 0xba79078168d4baf
		prime32x2Inverse = 0xb6c92f47
	)
	lo, hi := xxh3Unavalanche(inLow64), xxh3Unavalanche(inHigh64)
	lo *= prime64x2Inverse
	carry, _ := bits.Mul64(lo, xxPrime64x2)
	hi = (hi - carry) * prime64x2Inverse
	lo ^= bits.ReverseBytes64(hi)
	lo -= bijectiveLen
	lo *= prime64x1Inverse
	carry, _ = bits.Mul64(lo, xxPrime64x1)
	hi -= carry
	low32 := uint32(hi) * prime32x2Inverse
	hi -= uint64(low32) * (xxPrime32x2 - 1)
	hi ^= bijectiveSecretHigh + seed
	lo ^= hi ^ (bijectiveSecretLow - seed)
	return hi, lo
}

// BloomHash is the legacy Bloom filter's hash of a key.
func BloomHash(key []byte) uint32 { return Hash(key, 0xbc9f1d34) }

// GetSliceHash64 is Hash64 with seed 0: the hash of a filter's key.
func GetSliceHash64(key []byte) uint64 { return XXPH3_64bitsWithSeed(key, 0) }

// GetSliceNPHash64 is NPHash64 with seed 0.
func GetSliceNPHash64(key []byte) uint64 { return XXPH3_64bitsWithSeed(key, 0) }

// GetSlicePartsNPHash64 is NPHash64 of the concatenation of parts.
func GetSlicePartsNPHash64(parts [][]byte, seed uint64) uint64 {
	if len(parts) == 1 {
		return NPHash64(parts[0], seed)
	}
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return NPHash64(all, seed)
}

// GetSliceRangedNPHash maps key to [0, rangeSize).
func GetSliceRangedNPHash(key []byte, rangeSize uint64) uint64 {
	return FastRange64(GetSliceNPHash64(key), rangeSize)
}

// GetSliceHash is Hash with the seed upstream uses for generic keys.
func GetSliceHash(key []byte) uint32 { return Hash(key, 397) }

// Upper32of64 is the upper half of v.
func Upper32of64(v uint64) uint32 { return uint32(v >> 32) }

// Lower32of64 is the lower half of v.
func Lower32of64(v uint64) uint32 { return uint32(v) }

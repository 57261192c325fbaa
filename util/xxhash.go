// Port of util/xxhash.{h,cc}. Differs: XXH64 and XXH3 come from libraries;
// XXH32 is here. Only one-shot forms, with and without a trailing byte.

package util

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"
)

// ComputeXXH32 is the XXH32 of data with seed 0.
func ComputeXXH32(data []byte) uint32 { return xxh32(data, 0, false) }

// ComputeXXH32WithLastByte is the XXH32 of data followed by last: a block's
// checksum covers its type byte, which need not be beside it in memory.
func ComputeXXH32WithLastByte(data []byte, last byte) uint32 { return xxh32(data, last, true) }

// ComputeXXH64 is the XXH64 of data with seed 0.
func ComputeXXH64(data []byte) uint64 { return xxhash.Sum64(data) }

// ComputeXXH64WithLastByte is the XXH64 of data followed by last.
func ComputeXXH64WithLastByte(data []byte, last byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(data) // never fails
	tail := [1]byte{last}
	_, _ = d.Write(tail[:])
	return d.Sum64()
}

// ComputeXXH3 is the released XXH3's 64-bit hash of data; filters use the
// preview, XXPH3_64bits.
func ComputeXXH3(data []byte) uint64 { return xxh3.Hash(data) }

// ComputeXXH3WithSeed is ComputeXXH3 with a seed.
func ComputeXXH3WithSeed(data []byte, seed uint64) uint64 { return xxh3.HashSeed(data, seed) }

func xxh32Round(acc, in uint32) uint32 {
	return bits.RotateLeft32(acc+in*xxPrime32x2, 13) * xxPrime32x1
}

// xxh32 hashes data and, if hasLast, last after it, with seed 0. A last byte
// that completes a stripe of 16 is handled by copying that stripe.
func xxh32(data []byte, last byte, hasLast bool) uint32 {
	total := len(data)
	if hasLast {
		total++
	}
	var h uint32 = xxPrime32x5
	in := data
	var stripe [16]byte
	if total >= 16 {
		p1, p2 := uint32(xxPrime32x1), uint32(xxPrime32x2)
		v1, v2, v3, v4 := p1+p2, p2, uint32(0), -p1
		for len(in) >= 16 {
			v1 = xxh32Round(v1, le32(in, 0))
			v2 = xxh32Round(v2, le32(in, 4))
			v3 = xxh32Round(v3, le32(in, 8))
			v4 = xxh32Round(v4, le32(in, 12))
			in = in[16:]
		}
		if hasLast && len(in) == 15 {
			copy(stripe[:], in)
			stripe[15] = last
			v1 = xxh32Round(v1, le32(stripe[:], 0))
			v2 = xxh32Round(v2, le32(stripe[:], 4))
			v3 = xxh32Round(v3, le32(stripe[:], 8))
			v4 = xxh32Round(v4, le32(stripe[:], 12))
			in, hasLast = nil, false
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) + bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += uint32(total)
	n := copy(stripe[:], in)
	if hasLast {
		stripe[n] = last
		n++
	}
	tail := stripe[:n]
	for ; len(tail) >= 4; tail = tail[4:] {
		h = bits.RotateLeft32(h+le32(tail, 0)*xxPrime32x3, 17) * xxPrime32x4
	}
	for _, c := range tail {
		h = bits.RotateLeft32(h+uint32(c)*xxPrime32x5, 11) * xxPrime32x1
	}
	h ^= h >> 15
	h *= xxPrime32x2
	h ^= h >> 13
	h *= xxPrime32x3
	return h ^ h>>16
}

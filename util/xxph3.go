// Port of util/xxph3.h. Differs: one-shot 64-bit hash only, scalar; upstream's
// other variants are unused there.

package util

import (
	"encoding/binary"
	"math/bits"
)

// XXPH3 is a preview of XXH3 that RocksDB froze for its filters; the released
// XXH3 gives other values. One deliberate change of RocksDB's is kept too: the
// hash of the empty string is a hash of the seed, not zero.
//
// Inputs are treated by length: 0, 1-3, 4-8, 9-16, 17-128, 129-240 bytes, and
// longer ones in stripes of 64 bytes.

const (
	xxPrime32x1 = 0x9E3779B1
	xxPrime32x2 = 0x85EBCA77
	xxPrime32x3 = 0xC2B2AE3D
	xxPrime32x4 = 0x27D4EB2F
	xxPrime32x5 = 0x165667B1

	xxPrime64x1 = 0x9E3779B185EBCA87
	xxPrime64x2 = 0xC2B2AE3D27D4EB4F
	xxPrime64x3 = 0x165667B19E3779F9
	xxPrime64x4 = 0x85EBCA77C2B2AE63
	xxPrime64x5 = 0x27D4EB2F165667C5

	xxphSecretSize    = 192
	xxphSecretSizeMin = 136
	xxphStripeLen     = 64
	xxphRounds        = (xxphSecretSize - xxphStripeLen) / 8
	xxphBlockLen      = xxphStripeLen * xxphRounds
	xxphMidsizeMax    = 240
)

var xxphSecret = [xxphSecretSize]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
	0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
	0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
	0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
	0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
	0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
	0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
	0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
	0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

// xxphSecretWords[i] is the little-endian word at byte 8*i of the secret.
var xxphSecretWords = func() (w [xxphSecretSize / 8]uint64) {
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(xxphSecret[8*i:])
	}
	return w
}()

func le32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

func le64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func xxphFold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func xxphAvalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= xxPrime64x3
	return h ^ h>>32
}

// XXPH3_64bits is XXPH3_64bitsWithSeed with seed 0.
func XXPH3_64bits(data []byte) uint64 { return XXPH3_64bitsWithSeed(data, 0) }

// XXPH3_64bitsWithSeed is the preview-XXH3 hash of data.
func XXPH3_64bitsWithSeed(data []byte, seed uint64) uint64 {
	n := len(data)
	switch {
	case n > xxphMidsizeMax:
		if seed == 0 {
			return xxphLong(data, &xxphSecret)
		}
		return xxphLongSeeded(data, seed)
	case n > 128:
		return xxph129to240(data, seed)
	case n > 16:
		return xxph17to128(data, seed)
	case n > 8:
		lo := le64(data, 0) ^ (xxphSecretWords[0] + seed)
		hi := le64(data, n-8) ^ (xxphSecretWords[1] - seed)
		return xxphAvalanche(uint64(n) + lo + hi + xxphFold(lo, hi))
	case n >= 4:
		word := uint64(le32(data, 0)) | uint64(le32(data, n-4))<<32
		keyed := word ^ (xxphSecretWords[0] + seed)
		mix := uint64(n) + (keyed^keyed>>51)*xxPrime32x1
		return xxphAvalanche((mix ^ mix>>47) * xxPrime64x2)
	case n > 0:
		word := uint32(data[0]) | uint32(data[n>>1])<<8 | uint32(data[n-1])<<16 | uint32(n)<<24
		keyed := uint64(word) ^ (uint64(uint32(xxphSecretWords[0])) + seed)
		return xxphAvalanche(keyed * xxPrime64x1)
	default:
		return xxphFold(seed+xxphSecretWords[0], xxPrime64x2)
	}
}

// xxphMix hashes the 16 bytes at data[at:] with the secret words w and w+1.
func xxphMix(data []byte, at, w int, seed uint64) uint64 {
	return xxphFold(le64(data, at)^(xxphSecretWords[w]+seed), le64(data, at+8)^(xxphSecretWords[w+1]-seed))
}

func xxph17to128(data []byte, seed uint64) uint64 {
	n := len(data)
	acc := uint64(n) * xxPrime64x1
	if n > 32 {
		if n > 64 {
			if n > 96 {
				acc += xxphMix(data, 48, 12, seed)
				acc += xxphMix(data, n-64, 14, seed)
			}
			acc += xxphMix(data, 32, 8, seed)
			acc += xxphMix(data, n-48, 10, seed)
		}
		acc += xxphMix(data, 16, 4, seed)
		acc += xxphMix(data, n-32, 6, seed)
	}
	acc += xxphMix(data, 0, 0, seed)
	acc += xxphMix(data, n-16, 2, seed)
	return xxphAvalanche(acc)
}

func xxph129to240(data []byte, seed uint64) uint64 {
	const startOffset, lastOffset = 3, 17
	n := len(data)
	acc := uint64(n) * xxPrime64x1
	for i := 0; i < 8; i++ {
		acc += xxphMix(data, 16*i, 2*i, seed)
	}
	acc = xxphAvalanche(acc)
	mixAt := func(at, secretAt int) uint64 {
		return xxphFold(le64(data, at)^(le64(xxphSecret[:], secretAt)+seed),
			le64(data, at+8)^(le64(xxphSecret[:], secretAt+8)-seed))
	}
	for i := 8; i < n/16; i++ {
		acc += mixAt(16*i, 16*(i-8)+startOffset)
	}
	acc += mixAt(n-16, xxphSecretSizeMin-lastOffset)
	return xxphAvalanche(acc)
}

func xxphLongSeeded(data []byte, seed uint64) uint64 {
	var secret [xxphSecretSize]byte
	for i := 0; i < len(xxphSecretWords); i += 2 {
		binary.LittleEndian.PutUint64(secret[8*i:], xxphSecretWords[i]+seed)
		binary.LittleEndian.PutUint64(secret[8*i+8:], xxphSecretWords[i+1]-seed)
	}
	return xxphLong(data, &secret)
}

func xxphLong(data []byte, secret *[xxphSecretSize]byte) uint64 {
	const lastAccStart, mergeStart = 7, 11
	acc := [8]uint64{xxPrime32x3, xxPrime64x1, xxPrime64x2, xxPrime64x3,
		xxPrime64x4, xxPrime32x2, xxPrime64x5, xxPrime32x1}
	in := data
	for len(in) >= xxphBlockLen {
		for s := 0; s < xxphRounds; s++ {
			xxphStripe(&acc, in[s*xxphStripeLen:], secret[8*s:])
		}
		for i := range acc {
			a := acc[i]
			a ^= a >> 47
			a ^= le64(secret[:], xxphSecretSize-xxphStripeLen+8*i)
			acc[i] = a * xxPrime32x1
		}
		in = in[xxphBlockLen:]
	}
	for s := 0; len(in) >= xxphStripeLen; s++ {
		xxphStripe(&acc, in, secret[8*s:])
		in = in[xxphStripeLen:]
	}
	if len(in) > 0 {
		xxphStripe(&acc, data[len(data)-xxphStripeLen:], secret[xxphSecretSize-xxphStripeLen-lastAccStart:])
	}
	h := uint64(len(data)) * xxPrime64x1
	for i := 0; i < 8; i += 2 {
		h += xxphFold(acc[i]^le64(secret[:], mergeStart+8*i), acc[i+1]^le64(secret[:], mergeStart+8*i+8))
	}
	return xxphAvalanche(h)
}

// xxphStripe adds the first 64 bytes of in to acc.
func xxphStripe(acc *[8]uint64, in, secret []byte) {
	in, secret = in[:xxphStripeLen], secret[:xxphStripeLen]
	for i := range acc {
		v := binary.LittleEndian.Uint64(in[8*i : 8*i+8])
		k := v ^ binary.LittleEndian.Uint64(secret[8*i:8*i+8])
		acc[i] += v + (k&0xffffffff)*(k>>32)
	}
}

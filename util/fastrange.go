// Port of util/fastrange.h.

package util

import "math/bits"

// FastRange32 maps a uniform 32-bit hash to [0, n) by its upper bits, without
// dividing.
func FastRange32(hash, n uint32) uint32 { return uint32(uint64(hash) * uint64(n) >> 32) }

// FastRange64 maps a uniform 64-bit hash to [0, n) by its upper bits, without
// dividing.
func FastRange64(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// FastRangeGeneric is FastRange32 or FastRange64 by the hash's type, for any
// unsigned type of range no wider than the hash.
func FastRangeGeneric[H uint32 | uint64, R uint8 | uint16 | uint32 | uint64](hash H, n R) R {
	switch h := any(hash).(type) {
	case uint32:
		return R(uint64(h) * uint64(n) >> 32)
	case uint64:
		return R(FastRange64(h, uint64(n)))
	}
	return 0
}

// Port of util/math.h. Differs: ConstexprFloorLog2 is FloorLog2 (Go has no
// compile-time functions); BitwiseAnd, which serves C++'s integer promotion,
// has no twin.

package util

import (
	"math/bits"
	"unsafe"
)

// Integer is any integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

func bitSize[T Integer]() uint {
	var v T
	return uint(unsafe.Sizeof(v)) * 8
}

// bitsOf gives v's own bits, with no sign extension.
func bitsOf[T Integer](v T) uint64 { return uint64(v) << (64 - bitSize[T]()) >> (64 - bitSize[T]()) }

// BottomNBits keeps the lowest n bits of v; 0 <= n < v's width.
func BottomNBits[T Integer](v T, n int) T { return T(uint64(v) & (uint64(1)<<uint(n) - 1)) }

// FloorLog2 is the index of the highest one bit; v > 0.
func FloorLog2[T Integer](v T) int { return bits.Len64(bitsOf(v)) - 1 }

// CountTrailingZeroBits is the index of the lowest one bit; v != 0.
func CountTrailingZeroBits[T Integer](v T) int { return bits.TrailingZeros64(uint64(v)) }

// BitsSetToOne counts the one bits.
func BitsSetToOne[T Integer](v T) int { return bits.OnesCount64(bitsOf(v)) }

// BitParity is BitsSetToOne modulo 2.
func BitParity[T Integer](v T) int { return BitsSetToOne(v) & 1 }

// EndianSwapValue reverses the bytes of v.
func EndianSwapValue[T Integer](v T) T {
	return T(bits.ReverseBytes64(uint64(v)) >> (64 - bitSize[T]()))
}

// ReverseBits reverses the bits of v.
func ReverseBits[T Integer](v T) T { return T(bits.Reverse64(uint64(v)) >> (64 - bitSize[T]())) }

// DownwardInvolution mixes higher bits into lower ones so that applying it
// twice gives v back, the highest one bit stays, and it distributes over xor.
func DownwardInvolution[T Integer](v T) T {
	r := bitsOf(v)
	r ^= r >> 32
	r ^= (r & 0xffff0000ffff0000) >> 16
	r ^= (r & 0xff00ff00ff00ff00) >> 8
	r ^= (r & 0xf0f0f0f0f0f0f0f0) >> 4
	r ^= (r & 0xcccccccccccccccc) >> 2
	r ^= (r & 0xaaaaaaaaaaaaaaaa) >> 1
	return T(r)
}

// Port of util/math128.h. Differs: methods in place of operators.

package util

import "math/bits"

// Unsigned128 is a 128-bit unsigned integer. Values compare with ==.
type Unsigned128 struct{ Hi, Lo uint64 }

// Lower64of128 is the lower half of v.
func Lower64of128(v Unsigned128) uint64 { return v.Lo }

// Upper64of128 is the upper half of v.
func Upper64of128(v Unsigned128) uint64 { return v.Hi }

// Multiply64to128 is the full product.
func Multiply64to128(a, b uint64) Unsigned128 {
	hi, lo := bits.Mul64(a, b)
	return Unsigned128{Hi: hi, Lo: lo}
}

// Lsh is v << n; n < 128.
func (v Unsigned128) Lsh(n uint) Unsigned128 {
	if n >= 64 {
		return Unsigned128{Hi: v.Lo << (n - 64)}
	}
	return Unsigned128{Hi: v.Hi<<n | v.Lo>>(64-n), Lo: v.Lo << n}
}

// Rsh is v >> n; n < 128.
func (v Unsigned128) Rsh(n uint) Unsigned128 {
	if n >= 64 {
		return Unsigned128{Lo: v.Hi >> (n - 64)}
	}
	return Unsigned128{Hi: v.Hi >> n, Lo: v.Lo>>n | v.Hi<<(64-n)}
}

// And is v & w.
func (v Unsigned128) And(w Unsigned128) Unsigned128 { return Unsigned128{v.Hi & w.Hi, v.Lo & w.Lo} }

// Or is v | w.
func (v Unsigned128) Or(w Unsigned128) Unsigned128 { return Unsigned128{v.Hi | w.Hi, v.Lo | w.Lo} }

// Xor is v ^ w.
func (v Unsigned128) Xor(w Unsigned128) Unsigned128 { return Unsigned128{v.Hi ^ w.Hi, v.Lo ^ w.Lo} }

// Not is ^v.
func (v Unsigned128) Not() Unsigned128 { return Unsigned128{^v.Hi, ^v.Lo} }

// Cmp gives -1, 0, 1.
func (v Unsigned128) Cmp(w Unsigned128) int {
	switch {
	case v == w:
		return 0
	case v.Hi < w.Hi || v.Hi == w.Hi && v.Lo < w.Lo:
		return -1
	default:
		return 1
	}
}

// IsZero tells whether v is 0.
func (v Unsigned128) IsZero() bool { return v.Hi|v.Lo == 0 }

// BottomNBits keeps the lowest n bits; 0 <= n < 128.
func (v Unsigned128) BottomNBits(n int) Unsigned128 {
	if n >= 64 {
		return Unsigned128{Hi: BottomNBits(v.Hi, n-64), Lo: v.Lo}
	}
	return Unsigned128{Lo: BottomNBits(v.Lo, n)}
}

// FloorLog2 is the index of the highest one bit; v != 0.
func (v Unsigned128) FloorLog2() int {
	if v.Hi != 0 {
		return 64 + FloorLog2(v.Hi)
	}
	return FloorLog2(v.Lo)
}

// CountTrailingZeroBits is the index of the lowest one bit; v != 0.
func (v Unsigned128) CountTrailingZeroBits() int {
	if v.Lo != 0 {
		return bits.TrailingZeros64(v.Lo)
	}
	return 64 + bits.TrailingZeros64(v.Hi)
}

// BitsSetToOne counts the one bits.
func (v Unsigned128) BitsSetToOne() int { return bits.OnesCount64(v.Hi) + bits.OnesCount64(v.Lo) }

// BitParity is BitsSetToOne modulo 2.
func (v Unsigned128) BitParity() int { return bits.OnesCount64(v.Hi^v.Lo) & 1 }

// EndianSwapValue reverses the bytes.
func (v Unsigned128) EndianSwapValue() Unsigned128 {
	return Unsigned128{Hi: bits.ReverseBytes64(v.Lo), Lo: bits.ReverseBytes64(v.Hi)}
}

// ReverseBits reverses the bits.
func (v Unsigned128) ReverseBits() Unsigned128 {
	return Unsigned128{Hi: bits.Reverse64(v.Lo), Lo: bits.Reverse64(v.Hi)}
}

// DownwardInvolution is as for smaller integers.
func (v Unsigned128) DownwardInvolution() Unsigned128 {
	return Unsigned128{Hi: DownwardInvolution(v.Hi), Lo: DownwardInvolution(v.Hi ^ v.Lo)}
}

// EncodeFixed128 writes v little-endian to the first 16 bytes of b.
func EncodeFixed128(b []byte, v Unsigned128) {
	_ = b[15]
	EncodeFixed64(b, v.Lo)
	EncodeFixed64(b[8:], v.Hi)
}

// DecodeFixed128 reads the first 16 bytes of b, which must be there.
func DecodeFixed128(b []byte) Unsigned128 {
	_ = b[15]
	return Unsigned128{Lo: DecodeFixed64(b), Hi: DecodeFixed64(b[8:])}
}

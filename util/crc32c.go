// Port of util/crc32c.{h,cc}. Differs: the checksum is the standard library's,
// which uses the CPU's instructions; only masking and combining are here.

package util

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Crc32cValue is the CRC-32C of data.
func Crc32cValue(data []byte) uint32 { return crc32.Update(0, castagnoli, data) }

// Crc32cExtend is the CRC-32C of A+data, where crc is that of A.
func Crc32cExtend(crc uint32, data []byte) uint32 { return crc32.Update(crc, castagnoli, data) }

const crc32cMaskDelta = 0xa282ead8

// Crc32cMask is the form in which CRCs are stored: data that holds its own CRC
// would otherwise have troublesome CRCs.
func Crc32cMask(crc uint32) uint32 { return (crc>>15 | crc<<17) + crc32cMaskDelta }

// Crc32cUnmask is the inverse of Crc32cMask.
func Crc32cUnmask(masked uint32) uint32 {
	rot := masked - crc32cMaskDelta
	return rot>>17 | rot<<15
}

// crc32cPow2Bytes[i] is x^(8*2^i) modulo the polynomial, bit-reflected: what
// 2^i zero bytes multiply a CRC by.
var crc32cPow2Bytes = func() (t [64]uint32) {
	p := uint32(1) << 23 // x^8; x^0 is the top bit
	for i := range t {
		t[i] = p
		p = crc32cMultiply(p, p)
	}
	return t
}()

// crc32cMultiply multiplies two bit-reflected polynomials modulo the CRC's.
func crc32cMultiply(a, b uint32) uint32 {
	var p uint32
	for i := 31; i >= 0; i-- {
		p ^= b & -(a >> uint(i) & 1)
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return p
}

// Crc32cCombine is the CRC-32C of A+B, given that of A (crc1), that of B (crc2)
// and B's length in bytes. It takes time in the logarithm of that length. CRCs
// are unmasked.
func Crc32cCombine(crc1, crc2 uint32, crc2Len uint64) uint32 {
	for i := 0; crc2Len != 0; i++ {
		if crc2Len&1 != 0 {
			crc1 = crc32cMultiply(crc32cPow2Bytes[i], crc1)
		}
		crc2Len >>= 1
	}
	return crc1 ^ crc2
}

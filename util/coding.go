// Port of util/coding.{h,cc} and util/coding_lean.h. Differs: encoders append to a
// slice, decoders return what is left of their input and whether they succeeded.

package util

import (
	"encoding/binary"
	"math/bits"
)

// Integer encodings of the on-disk formats. A fixed integer is little-endian.
// A varint holds seven bits a byte, least significant first, with the top bit
// set in each byte but the last; bits beyond the integer's width are dropped,
// as upstream does. A length-prefixed slice is a varint32 and that many bytes.

// MaxVarint32Length and MaxVarint64Length are the longest encodings in bytes.
const (
	MaxVarint32Length = 5
	MaxVarint64Length = 10
)

// EncodeFixed16 writes v to the first two bytes of b.
func EncodeFixed16(b []byte, v uint16) { binary.LittleEndian.PutUint16(b, v) }

// EncodeFixed32 writes v to the first four bytes of b.
func EncodeFixed32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

// EncodeFixed64 writes v to the first eight bytes of b.
func EncodeFixed64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// DecodeFixed16 reads the first two bytes of b, which must be there.
func DecodeFixed16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

// DecodeFixed32 reads the first four bytes of b, which must be there.
func DecodeFixed32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// DecodeFixed64 reads the first eight bytes of b, which must be there.
func DecodeFixed64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// AppendFixed16 appends the two bytes of v.
func AppendFixed16(dst []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(dst, v) }

// AppendFixed32 appends the four bytes of v.
func AppendFixed32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

// AppendFixed64 appends the eight bytes of v.
func AppendFixed64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// GetFixed16 takes a fixed integer from the front of src.
func GetFixed16(src []byte) (v uint16, rest []byte, ok bool) {
	if len(src) < 2 {
		return 0, src, false
	}
	return binary.LittleEndian.Uint16(src), src[2:], true
}

// GetFixed32 takes a fixed integer from the front of src.
func GetFixed32(src []byte) (v uint32, rest []byte, ok bool) {
	if len(src) < 4 {
		return 0, src, false
	}
	return binary.LittleEndian.Uint32(src), src[4:], true
}

// GetFixed64 takes a fixed integer from the front of src.
func GetFixed64(src []byte) (v uint64, rest []byte, ok bool) {
	if len(src) < 8 {
		return 0, src, false
	}
	return binary.LittleEndian.Uint64(src), src[8:], true
}

// EncodeVarint32 writes v to the front of b, which must have room, and returns
// the number of bytes written.
func EncodeVarint32(b []byte, v uint32) int { return EncodeVarint64(b, uint64(v)) }

// EncodeVarint64 writes v to the front of b, which must have room, and returns
// the number of bytes written.
func EncodeVarint64(b []byte, v uint64) int {
	i := 0
	for v >= 0x80 {
		b[i] = byte(v) | 0x80
		v >>= 7
		i++
	}
	b[i] = byte(v)
	return i + 1
}

// AppendVarint32 appends v as a varint.
func AppendVarint32(dst []byte, v uint32) []byte {
	if v < 0x80 {
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, uint64(v))
}

// AppendVarint64 appends v as a varint.
func AppendVarint64(dst []byte, v uint64) []byte {
	if v < 0x80 {
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, v)
}

// I64ToZigzag maps small negative and positive numbers to small unsigned ones.
func I64ToZigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// ZigzagToI64 is the inverse of I64ToZigzag.
func ZigzagToI64(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// AppendVarsignedint64 appends v zigzag-coded as a varint.
func AppendVarsignedint64(dst []byte, v int64) []byte {
	return AppendVarint64(dst, I64ToZigzag(v))
}

// VarintLength is the number of bytes a varint of v takes.
func VarintLength(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// DecodeVarint32 reads a varint at the front of src and gives its length, 0 if
// src is truncated or the varint longer than five bytes.
func DecodeVarint32(src []byte) (v uint32, n int) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint32(src[0]), 1
	}
	return decodeVarint32Slow(src)
}

func decodeVarint32Slow(src []byte) (uint32, int) {
	var v uint32
	for i := 0; i < len(src) && i < MaxVarint32Length; i++ {
		c := src[i]
		v |= uint32(c&0x7f) << (7 * uint(i))
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// DecodeVarint64 reads a varint at the front of src and gives its length, 0 if
// src is truncated or the varint longer than ten bytes.
func DecodeVarint64(src []byte) (v uint64, n int) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint64(src[0]), 1
	}
	return decodeVarint64Slow(src)
}

func decodeVarint64Slow(src []byte) (uint64, int) {
	var v uint64
	for i := 0; i < len(src) && i < MaxVarint64Length; i++ {
		c := src[i]
		v |= uint64(c&0x7f) << (7 * uint(i))
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// GetVarint32 takes a varint from the front of src.
func GetVarint32(src []byte) (v uint32, rest []byte, ok bool) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint32(src[0]), src[1:], true
	}
	v, n := decodeVarint32Slow(src)
	return v, src[n:], n > 0
}

// GetVarint64 takes a varint from the front of src.
func GetVarint64(src []byte) (v uint64, rest []byte, ok bool) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint64(src[0]), src[1:], true
	}
	v, n := decodeVarint64Slow(src)
	return v, src[n:], n > 0
}

// GetVarsignedint64 takes a zigzag-coded varint from the front of src.
func GetVarsignedint64(src []byte) (v int64, rest []byte, ok bool) {
	u, rest, ok := GetVarint64(src)
	return ZigzagToI64(u), rest, ok
}

// AppendLengthPrefixedSlice appends the length of s as a varint32 and s.
func AppendLengthPrefixedSlice(dst, s []byte) []byte {
	return append(AppendVarint32(dst, uint32(len(s))), s...)
}

// AppendLengthPrefixedSliceParts appends the concatenation of parts as one
// length-prefixed slice.
func AppendLengthPrefixedSliceParts(dst []byte, parts ...[]byte) []byte {
	return AppendLengthPrefixedSlicePartsWithPadding(dst, 0, parts...)
}

// AppendLengthPrefixedSlicePartsWithPadding is AppendLengthPrefixedSliceParts
// with padding zero bytes at the end of the slice, counted in its length.
func AppendLengthPrefixedSlicePartsWithPadding(dst []byte, padding int, parts ...[]byte) []byte {
	total := padding
	for _, p := range parts {
		total += len(p)
	}
	dst = AppendVarint32(dst, uint32(total))
	for _, p := range parts {
		dst = append(dst, p...)
	}
	return append(dst, make([]byte, padding)...)
}

// GetLengthPrefixedSlice takes a length-prefixed slice from the front of src;
// s is a part of src. On failure rest is src, unchanged.
func GetLengthPrefixedSlice(src []byte) (s, rest []byte, ok bool) {
	n, rest, ok := GetVarint32(src)
	if !ok || uint64(n) > uint64(len(rest)) {
		return nil, src, false
	}
	return rest[:n:n], rest[n:], true
}

// GetSliceUntil takes the bytes before the first delimiter from the front of
// src, and drops the delimiter; all of src if there is none.
func GetSliceUntil(src []byte, delimiter byte) (s, rest []byte) {
	for i, c := range src {
		if c == delimiter {
			return src[:i], src[i+1:]
		}
	}
	return src, src[len(src):]
}

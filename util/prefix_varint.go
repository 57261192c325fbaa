// Port of util/prefix_varint.h.

package util

import "math/bits"

// A prefix varint tells its length in its first byte: the number of zero bits
// below the lowest one bit is the number of bytes that follow. The payload is
// the little-endian word shifted right past that bit.
//
//	xxxxxxx1  1 byte,   7 bits      xx100000  6 bytes, 42 bits
//	xxxxxx10  2 bytes, 14 bits      x1000000  7 bytes, 49 bits
//	xxxxx100  3 bytes, 21 bits      10000000  8 bytes, 56 bits
//	xxxx1000  4 bytes, 28 bits      00000000  9 bytes: a fixed64 follows
//	xxx10000  5 bytes, 35 bits
//
// The 32-bit form uses the first five lengths only.
const (
	MaxPrefixVarint32Length = 5
	MaxPrefixVarint64Length = 9
	// InvalidPrefixVarint32AddlByteCount is what PrefixVarint32AddlByteCount
	// gives for a byte that cannot start a 32-bit prefix varint.
	InvalidPrefixVarint32AddlByteCount = MaxPrefixVarint32Length
)

// PrefixVarint32Length is the encoded length of v in bytes.
func PrefixVarint32Length(v uint32) int { return VarintLength(uint64(v)) }

// PrefixVarint64Length is the encoded length of v in bytes.
func PrefixVarint64Length(v uint64) int { return min(VarintLength(v), MaxPrefixVarint64Length) }

// AppendPrefixVarint32 appends v.
func AppendPrefixVarint32(dst []byte, v uint32) []byte {
	return appendPrefixWord(dst, uint64(v), PrefixVarint32Length(v))
}

// AppendPrefixVarint64 appends v.
func AppendPrefixVarint64(dst []byte, v uint64) []byte {
	return AppendPrefixVarint64WithMinimumBytes(dst, v, 0)
}

// AppendPrefixVarint64WithMinimumBytes appends v in at least minimumBytes
// bytes, which must be below MaxPrefixVarint64Length; decoders accept such
// padded forms.
func AppendPrefixVarint64WithMinimumBytes(dst []byte, v uint64, minimumBytes int) []byte {
	n := max(PrefixVarint64Length(v), minimumBytes)
	if n >= MaxPrefixVarint64Length {
		return AppendFixed64(append(dst, 0), v)
	}
	return appendPrefixWord(dst, v, n)
}

func appendPrefixWord(dst []byte, v uint64, n int) []byte {
	word := v<<uint(n) | 1<<uint(n-1)
	for i := 0; i < n; i++ {
		dst = append(dst, byte(word>>uint(8*i)))
	}
	return dst
}

// PrefixVarint32AddlByteCount tells how many bytes follow first, or
// InvalidPrefixVarint32AddlByteCount.
func PrefixVarint32AddlByteCount(first byte) int {
	return min(bits.TrailingZeros8(first), InvalidPrefixVarint32AddlByteCount)
}

// PrefixVarint64AddlByteCount tells how many bytes follow first.
func PrefixVarint64AddlByteCount(first byte) int { return bits.TrailingZeros8(first) }

// DecodePrefixVarint32 decodes from the first byte and those that follow it; it
// fails on an invalid first byte, too few bytes, or a value beyond 32 bits.
func DecodePrefixVarint32(first byte, addl []byte) (uint32, bool) {
	n := PrefixVarint32AddlByteCount(first)
	if n == InvalidPrefixVarint32AddlByteCount || len(addl) < n {
		return 0, false
	}
	v := loadPrefixWord(first, addl[:n]) >> uint(n+1)
	return uint32(v), v>>32 == 0
}

// DecodePrefixVarint64 decodes from the first byte and those that follow it; it
// fails on too few bytes only.
func DecodePrefixVarint64(first byte, addl []byte) (uint64, bool) {
	n := PrefixVarint64AddlByteCount(first)
	if len(addl) < n {
		return 0, false
	}
	if n == MaxPrefixVarint64Length-1 {
		return DecodeFixed64(addl), true
	}
	return loadPrefixWord(first, addl[:n]) >> uint(n+1), true
}

func loadPrefixWord(first byte, addl []byte) uint64 {
	word := uint64(first)
	for i, c := range addl {
		word |= uint64(c) << uint(8*(i+1))
	}
	return word
}

// GetPrefixVarint32 takes a prefix varint from the front of src; on failure
// rest is src.
func GetPrefixVarint32(src []byte) (v uint32, rest []byte, ok bool) {
	if len(src) == 0 {
		return 0, src, false
	}
	if v, ok = DecodePrefixVarint32(src[0], src[1:]); !ok {
		return 0, src, false
	}
	return v, src[1+PrefixVarint32AddlByteCount(src[0]):], true
}

// GetPrefixVarint64 takes a prefix varint from the front of src; on failure
// rest is src.
func GetPrefixVarint64(src []byte) (v uint64, rest []byte, ok bool) {
	if len(src) == 0 {
		return 0, src, false
	}
	if v, ok = DecodePrefixVarint64(src[0], src[1:]); !ok {
		return 0, src, false
	}
	return v, src[1+PrefixVarint64AddlByteCount(src[0]):], true
}

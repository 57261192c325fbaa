// Port of table/block_based/block_util.h.

package block

import (
	"encoding/binary"
	"math/bits"

	"github.com/rocksdb-go/rocksdb/util"
)

const numInternalBytes = 8

// entryHeader is the decoded start of an entry.
type entryHeader struct {
	shared, nonShared, valueLength, valueOffset uint32
}

// decodeHeader reads the varints at the start of b: shared, non-shared, the
// value's length unless noLength, and the value's offset if withOffset. It
// returns their size, 0 when b does not hold them.
func decodeHeader(b []byte, h *entryHeader, noLength, withOffset bool) int {
	n := 0
	for i := 0; i < 4; i++ {
		var to *uint32
		switch i {
		case 0:
			to = &h.shared
		case 1:
			to = &h.nonShared
		case 2:
			if noLength {
				h.valueLength = 0
				continue
			}
			to = &h.valueLength
		case 3:
			if !withOffset {
				return n
			}
			to = &h.valueOffset
		}
		if n < len(b) && b[n] < 0x80 {
			*to = uint32(b[n])
			n++
			continue
		}
		v, m := util.DecodeVarint32(b[n:])
		if m <= 0 {
			return 0
		}
		*to = v
		n += m
	}
	return n
}

// differenceOffset is the length of the common prefix.
func differenceOffset(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)>>3
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// readBe64FromKey reads up to 8 bytes of the user key from offset on as a
// big-endian number, zeros where it is shorter, so that numbers order as keys.
func readBe64FromKey(key []byte, isUserKey bool, offset int) uint64 {
	if !isUserKey {
		key = key[:len(key)-numInternalBytes]
	}
	if offset > len(key) {
		offset = len(key)
	}
	key = key[offset:]
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

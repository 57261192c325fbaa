// Port of table/format.{h,cc}: block checksums.

package format

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// lastBytePrime spreads a block's last byte over an XXH3 checksum.
const lastBytePrime uint32 = 0x6b9083d9

// ComputeBuiltinChecksum is the checksum of data: CRC32c masked, or the lower
// 32 bits of an xxhash with seed 0. XXH3 is taken of all bytes but the last,
// which is then mixed in by a multiplication; of no bytes it is 0. NoChecksum
// and unknown types give 0.
func ComputeBuiltinChecksum(t rocksdb.ChecksumType, data []byte) uint32 {
	switch t {
	case rocksdb.CRC32c:
		return util.Crc32cMask(util.Crc32cValue(data))
	case rocksdb.XXHash:
		return util.ComputeXXH32(data)
	case rocksdb.XXHash64:
		return uint32(util.ComputeXXH64(data))
	case rocksdb.XXH3:
		n := len(data)
		if n == 0 {
			return 0
		}
		return uint32(util.ComputeXXH3(data[:n-1])) ^ uint32(data[n-1])*lastBytePrime
	default:
		return 0
	}
}

// ComputeBuiltinChecksumWithLastByte is ComputeBuiltinChecksum of data followed
// by last, without joining the two.
func ComputeBuiltinChecksumWithLastByte(t rocksdb.ChecksumType, data []byte, last byte) uint32 {
	switch t {
	case rocksdb.CRC32c:
		b := [1]byte{last}
		return util.Crc32cMask(util.Crc32cExtend(util.Crc32cValue(data), b[:]))
	case rocksdb.XXHash:
		return util.ComputeXXH32WithLastByte(data, last)
	case rocksdb.XXHash64:
		return uint32(util.ComputeXXH64WithLastByte(data, last))
	case rocksdb.XXH3:
		return uint32(util.ComputeXXH3(data)) ^ uint32(last)*lastBytePrime
	default:
		return 0
	}
}

// IsSupportedChecksumType tells whether files may carry t.
func IsSupportedChecksumType(t rocksdb.ChecksumType) bool { return t <= rocksdb.XXH3 }

// ChecksumModifierForContext is added to the checksum of the block at offset,
// so that a block of another place or file does not pass: the base mixed with
// both halves of the offset, or 0 when the base is 0 (formats before 6).
func ChecksumModifierForContext(base uint32, offset uint64) uint32 {
	if base == 0 {
		return 0
	}
	return base ^ (uint32(offset) + uint32(offset>>32))
}

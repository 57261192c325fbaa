// Port of db/kv_checksum.h. Differs: a checksum is a plain number of 64 bits;
// what upstream protects, strips and updates by methods is put in and taken out
// by exclusive or.

package dbformat

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// The seeds make a swap of parts visible.
const (
	protectionSeedKey      = 0
	protectionSeedValue    = 0xD28AAD72F49BD50B
	protectionSeedType     = 0xA5155AE5E937AA16
	protectionSeedSequence = 0x77A00858DDD37F21
	protectionSeedFamily   = 0x4A2AB5CBD26F542C
)

// ProtectKey is a user key's part of a checksum.
func ProtectKey(userKey []byte) uint64 { return util.NPHash64(userKey, protectionSeedKey) }

// ProtectValue is a value's part of a checksum.
func ProtectValue(value []byte) uint64 { return util.NPHash64(value, protectionSeedValue) }

// ProtectType is a value type's part of a checksum.
func ProtectType(t ValueType) uint64 { return util.NPHash64([]byte{byte(t)}, protectionSeedType) }

// ProtectKVO is the checksum of key, value and type.
func ProtectKVO(userKey, value []byte, t ValueType) uint64 {
	return ProtectKey(userKey) ^ ProtectValue(value) ^ ProtectType(t)
}

// ProtectSequence is a sequence number's part of a checksum.
func ProtectSequence(seq rocksdb.SequenceNumber) uint64 {
	var s [8]byte
	binary.LittleEndian.PutUint64(s[:], seq)
	return util.NPHash64(s[:], protectionSeedSequence)
}

// ProtectColumnFamily is a column family id's part of a checksum.
func ProtectColumnFamily(id uint32) uint64 {
	var s [4]byte
	binary.LittleEndian.PutUint32(s[:], id)
	return util.NPHash64(s[:], protectionSeedFamily)
}

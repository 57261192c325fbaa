// Port of db/kv_checksum.h, the part that protects memtable entries. Differs:
// the checksum of a whole entry in one call.

package memtable

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// The seeds make a swap of parts visible.
const (
	seedKey      = 0
	seedValue    = 0xD28AAD72F49BD50B
	seedType     = 0xA5155AE5E937AA16
	seedSequence = 0x77A00858DDD37F21
)

// protect is an entry's checksum: the parts' hashes under exclusive or.
func protect(userKey, value []byte, t dbformat.ValueType, seq rocksdb.SequenceNumber) uint64 {
	var s [8]byte
	binary.LittleEndian.PutUint64(s[:], seq)
	return util.NPHash64(userKey, seedKey) ^ util.NPHash64(value, seedValue) ^
		util.NPHash64([]byte{byte(t)}, seedType) ^ util.NPHash64(s[:], seedSequence)
}

// encodeChecksum writes the low 1, 2, 4 or 8 bytes, as dst is long.
func encodeChecksum(dst []byte, sum uint64) {
	for i := range dst {
		dst[i] = byte(sum >> (8 * i))
	}
}

// VerifyEntryChecksum checks an entry against the checksum of that many bytes
// behind it; with 0 there is none. allowData lets the error name the key.
func VerifyEntryChecksum(entry rep.KeyHandle, protectionBytesPerKey int, allowData bool) error {
	if protectionBytesPerKey == 0 {
		return nil
	}
	key, value, sum := rep.EntryKeyValueChecksum(entry, protectionBytesPerKey)
	if len(key) < dbformat.NumInternalBytes {
		return rocksdb.Corruption("Memtable entry internal key length too short.")
	}
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key))
	var want [8]byte
	encodeChecksum(want[:protectionBytesPerKey], protect(dbformat.ExtractUserKey(key), value, t, seq))
	if string(want[:protectionBytesPerKey]) == string(sum) {
		return nil
	}
	const msg = "Corrupted memtable entry, per key-value checksum verification failed."
	if allowData {
		return rocksdb.Corruptionf("%sValue type: %d. User key: %X. seq: %d.", msg, t, dbformat.ExtractUserKey(key), seq)
	}
	return rocksdb.Corruption(msg)
}

// Port of db/memtable.cc (VerifyEntryChecksum, VerifyEncodedEntry) and
// db/kv_checksum.h (Encode).

package memtable

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// protect is an entry's checksum: the parts' hashes under exclusive or.
func protect(userKey, value []byte, t dbformat.ValueType, seq rocksdb.SequenceNumber) uint64 {
	return dbformat.ProtectKVO(userKey, value, t) ^ dbformat.ProtectSequence(seq)
}

// verifyEncodedEntry compares an entry, just encoded, with the checksum that
// came down with the write.
// Upstream: MemTable::VerifyEncodedEntry.
func verifyEncodedEntry(encoded []byte, sum uint64) error {
	key, rest, ok := util.GetLengthPrefixedSlice(encoded)
	if !ok {
		return rocksdb.Corruption("Internal key length too long")
	}
	if len(key) < dbformat.NumInternalBytes {
		return rocksdb.Corruption("Internal key length too short")
	}
	value, rest, ok := util.GetLengthPrefixedSlice(rest)
	if !ok {
		return rocksdb.Corruption("Value length too long")
	}
	if len(rest) > 0 {
		return rocksdb.Corruption("Value length too short")
	}
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key))
	if protect(dbformat.ExtractUserKey(key), value, t, seq) != sum {
		return rocksdb.Corruption("ProtectionInfo mismatch")
	}
	return nil
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

// Port of include/rocksdb/memtablerep.h, its entries (see doc.go for their
// format). Differs: reads of entries give slices of arena memory.

package memtable

import (
	"encoding/binary"
	"unsafe"
)

// KeyHandle is an entry's place in the arena: the address of its first byte.
type KeyHandle = unsafe.Pointer

// varintAt decodes the varint32 at p, which this process wrote, and gives the
// place after it.
func varintAt(p unsafe.Pointer) (int, unsafe.Pointer) {
	if b := *(*byte)(p); b < 0x80 {
		return int(b), unsafe.Add(p, 1)
	}
	return varintAtSlow(p)
}

func varintAtSlow(p unsafe.Pointer) (int, unsafe.Pointer) {
	v := 0
	for shift := 0; shift <= 28; shift += 7 {
		b := *(*byte)(p)
		p = unsafe.Add(p, 1)
		v |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return v, p
}

// EntryKey gives an entry's internal key: memory of the arena.
func EntryKey(entry KeyHandle) []byte {
	n, p := varintAt(entry)
	return unsafe.Slice((*byte)(p), n)
}

// EntryKeyValue gives an entry's internal key and value: memory of the arena.
func EntryKeyValue(entry KeyHandle) (key, value []byte) {
	n, p := varintAt(entry)
	m, q := varintAt(unsafe.Add(p, n))
	return unsafe.Slice((*byte)(p), n), unsafe.Slice((*byte)(q), m)
}

// EntryKeyValueChecksum also gives the checksum of checksumBytes bytes behind
// the value.
func EntryKeyValueChecksum(entry KeyHandle, checksumBytes int) (key, value, checksum []byte) {
	key, value = EntryKeyValue(entry)
	end := unsafe.Add(unsafe.Pointer(unsafe.SliceData(value)), len(value))
	return key, value, unsafe.Slice((*byte)(end), checksumBytes)
}

// EntryValueSpace gives an entry's bytes from the value's length to the end of
// the checksum, for an update in place.
func EntryValueSpace(entry KeyHandle, checksumBytes int) []byte {
	n, p := varintAt(entry)
	p = unsafe.Add(p, n)
	m, _ := varintAt(p)
	return unsafe.Slice((*byte)(p), uvarintLen(m)+m+checksumBytes)
}

// EncodedLength is the size of an entry without checksum.
func EncodedLength(internalKeySize, valueSize int) int {
	return uvarintLen(internalKeySize) + internalKeySize + uvarintLen(valueSize) + valueSize
}

func uvarintLen(v int) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// EncodeEntry writes an entry without checksum into buf, which must hold
// EncodedLength bytes, and gives the length. packed is seq<<8 | type.
func EncodeEntry(buf, userKey []byte, packed uint64, value []byte) int {
	n := binary.PutUvarint(buf, uint64(len(userKey)+8))
	n += copy(buf[n:], userKey)
	binary.LittleEndian.PutUint64(buf[n:], packed)
	n += 8
	n += binary.PutUvarint(buf[n:], uint64(len(value)))
	return n + copy(buf[n:], value)
}

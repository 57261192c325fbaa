// Port of db/write_batch.cc (checksums of entries: protection_bytes_per_key).

package writebatch

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// NewWithProtection is NewWithTimestampSize for a batch whose entries carry
// checksums of protectionBytesPerKey bytes from when they are added until they
// are in a memtable: 0 for none, or 8.
func NewWithProtection(reserved, maxBytes int, protectionBytesPerKey uint64, tsSize int) (*WriteBatch, error) {
	b := NewWithTimestampSize(reserved, maxBytes, tsSize)
	return b, b.UpdateProtectionInfo(protectionBytesPerKey)
}

// GetProtectionBytesPerKey is 8 where entries carry checksums, else 0.
func (b *WriteBatch) GetProtectionBytesPerKey() uint64 {
	if b.protected {
		return 8
	}
	return 0
}

// UpdateProtectionInfo gives all entries checksums (8), computed now where they
// have none, or takes them off (0).
func (b *WriteBatch) UpdateProtectionInfo(bytesPerKey uint64) error {
	switch {
	case bytesPerKey == 0:
		b.protected = false
		b.protection = b.protection[:0]
		return nil
	case bytesPerKey != 8:
		return rocksdb.NotSupported("WriteBatch protection info must be zero or eight bytes/key")
	case b.protected:
		return nil
	}
	b.protection = b.protection[:0]
	err := b.eachEntry(func(_ int, sum uint64) bool {
		b.protection = append(b.protection, sum)
		return true
	})
	b.protected = err == nil
	return err
}

// VerifyChecksum compares the entries with their checksums; nil for a batch
// without.
func (b *WriteBatch) VerifyChecksum() error {
	if !b.protected {
		return nil
	}
	n, same := 0, true
	err := b.eachEntry(func(i int, sum uint64) bool {
		n = i + 1
		same = i < len(b.protection) && b.protection[i] == sum
		return same
	})
	switch {
	case err != nil:
		return err
	case !same:
		return errProtection
	case n != len(b.protection) || n != int(b.Count()):
		return rocksdb.Corruption("WriteBatch has wrong count")
	}
	return nil
}

var errProtection = rocksdb.Corruption("ProtectionInfo mismatch")

// Protection is the checksums of the entries in order, nil for a batch without.
// They are b's.
func (b *WriteBatch) Protection() []uint64 {
	if !b.protected {
		return nil
	}
	return b.protection
}

// EntryProtection is an entry's checksum: of its key and value as stored, its
// type without regard to the column family, and the family's id.
func EntryProtection(id uint32, key, value []byte, t dbformat.ValueType) uint64 {
	return dbformat.ProtectKVO(key, value, t) ^ dbformat.ProtectColumnFamily(id)
}

// eachEntry computes the checksum of each entry, until f says no.
func (b *WriteBatch) eachEntry(f func(i int, sum uint64) bool) error {
	if len(b.rep) <= HeaderSize {
		return nil
	}
	var rec Record
	i := 0
	for input := b.rep[HeaderSize:]; len(input) > 0; {
		var err error
		if input, err = ReadRecord(input, &rec); err != nil {
			return err
		}
		sum, ok := recordProtection(&rec)
		if !ok {
			continue
		}
		if !f(i, sum) {
			return nil
		}
		i++
	}
	return nil
}

// recordProtection is EntryProtection of a record; ok is false for those that are
// no entries.
func recordProtection(rec *Record) (sum uint64, ok bool) {
	t, ok := entryType(rec.Tag)
	if !ok {
		return 0, false
	}
	value := rec.Value
	if t == dbformat.TypeValuePreferredSeqno {
		value = value[:len(value)+8] // as it is stored: the time is behind it
	}
	return EntryProtection(rec.ColumnFamily, rec.Key, value, t), true
}

// entryType is a tag's type without regard to the column family; ok is false for
// records that are no entries.
func entryType(tag dbformat.ValueType) (t dbformat.ValueType, ok bool) {
	switch tag {
	case dbformat.TypeValue, dbformat.TypeColumnFamilyValue:
		return dbformat.TypeValue, true
	case dbformat.TypeDeletion, dbformat.TypeColumnFamilyDeletion:
		return dbformat.TypeDeletion, true
	case dbformat.TypeSingleDeletion, dbformat.TypeColumnFamilySingleDeletion:
		return dbformat.TypeSingleDeletion, true
	case dbformat.TypeRangeDeletion, dbformat.TypeColumnFamilyRangeDeletion:
		return dbformat.TypeRangeDeletion, true
	case dbformat.TypeMerge, dbformat.TypeColumnFamilyMerge:
		return dbformat.TypeMerge, true
	case dbformat.TypeBlobIndex, dbformat.TypeColumnFamilyBlobIndex:
		return dbformat.TypeBlobIndex, true
	case dbformat.TypeWideColumnEntity, dbformat.TypeColumnFamilyWideColumnEntity:
		return dbformat.TypeWideColumnEntity, true
	case dbformat.TypeValuePreferredSeqno, dbformat.TypeColumnFamilyValuePreferredSeqno:
		return dbformat.TypeValuePreferredSeqno, true
	}
	return 0, false
}

// protectLast gives the entry that ends the batch its checksum. from is where
// its record begins.
func (b *WriteBatch) protectLast(from int) error {
	var rec Record
	if _, err := ReadRecord(b.rep[from:], &rec); err != nil {
		return err
	}
	sum, _ := recordProtection(&rec)
	b.protection = append(b.protection, sum)
	return nil
}

// appendProtection takes over the checksums of src's first n entries.
func (b *WriteBatch) appendProtection(src *WriteBatch, n uint32) error {
	if src.protected && len(src.protection) != int(src.Count()) || b.protected && len(b.protection) != int(b.Count()) {
		return rocksdb.Corruption("Write batch has inconsistent count and number of checksums")
	}
	if !src.protected {
		// Only a batch that is empty still takes entries without checksums.
		b.protected = false
		return nil
	}
	b.protected = b.protected || b.Count() == 0
	if b.protected {
		b.protection = append(b.protection, src.protection[:n]...)
	}
	return nil
}

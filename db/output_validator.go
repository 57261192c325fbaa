// Port of db/output_validator.{h,cc}.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// OutputValidator watches the entries of one table: that they come in order,
// and, where asked for, that what is read back is what was written.
type OutputValidator struct {
	icmp       *dbformat.InternalKeyComparator
	prev       []byte
	hash       uint64
	enableHash bool
}

// NewOutputValidator sees no entry yet. hash is 0, or the hash so far of a
// table that is being resumed.
func NewOutputValidator(icmp *dbformat.InternalKeyComparator, enableHash bool, hash uint64) *OutputValidator {
	return &OutputValidator{icmp: icmp, enableHash: enableHash, hash: hash}
}

// Add sees an entry. Out-of-order keys are a corruption; equal ones are not.
func (v *OutputValidator) Add(key, value []byte) error {
	if v.enableHash {
		v.hash = util.NPHash64(key, v.hash)
		v.hash = util.NPHash64(value, v.hash)
	}
	if len(key) < dbformat.NumInternalBytes {
		return rocksdb.Corruption("Compaction tries to write a key without internal bytes.")
	}
	if len(v.prev) > 0 && v.icmp.Compare(key, v.prev) < 0 {
		return rocksdb.Corruption("Compaction sees out-of-order keys.")
	}
	v.prev = append(v.prev[:0], key...)
	return nil
}

// CompareValidator tells whether both saw the same entries.
func (v *OutputValidator) CompareValidator(o *OutputValidator) bool { return v.hash == o.hash }

// GetHash is the hash of what was seen; its value is not kept on disk.
func (v *OutputValidator) GetHash() uint64 { return v.hash }

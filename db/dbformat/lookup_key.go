// Port of db/lookup_key.h.

package dbformat

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// LookupKey is a key to look up in a memtable and in tables. It may be reused:
// Set keeps the buffer.
type LookupKey struct {
	buf    []byte // varint32 internal-key length | user key | footer
	kstart int
}

// NewLookupKey makes a key that finds the newest entry of userKey visible at
// seq.
func NewLookupKey(userKey []byte, seq rocksdb.SequenceNumber, ts []byte) *LookupKey {
	k := &LookupKey{}
	k.Set(userKey, seq, ts)
	return k
}

// Set makes k the key of userKey (with timestamp ts appended) at seq.
func (k *LookupKey) Set(userKey []byte, seq rocksdb.SequenceNumber, ts []byte) {
	b := binary.AppendUvarint(k.buf[:0], uint64(len(userKey)+len(ts)+NumInternalBytes))
	k.kstart = len(b)
	b = append(b, userKey...)
	b = append(b, ts...)
	k.buf = binary.LittleEndian.AppendUint64(b, PackSequenceAndType(seq, ValueTypeForSeek))
}

// MemtableKey is the form memtables compare: length prefix and internal key.
func (k *LookupKey) MemtableKey() []byte { return k.buf }

// InternalKey is the internal key.
func (k *LookupKey) InternalKey() []byte { return k.buf[k.kstart:] }

// UserKey is the user key, timestamp included.
func (k *LookupKey) UserKey() []byte { return k.buf[k.kstart : len(k.buf)-NumInternalBytes] }

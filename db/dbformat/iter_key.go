// Port of db/dbformat.h (IterKey).

package dbformat

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// IterKey holds the present key of an iterator: either a copy in a buffer that
// is kept from key to key, or a pinned slice of somebody else's. The zero value
// holds the empty user key.
type IterKey struct {
	key        []byte
	buf        []byte
	spare      []byte // the buffer before, for keys made of the present one
	isInternal bool
}

// Clear empties the key and keeps the buffer.
func (k *IterKey) Clear() { k.key = nil }

// Size is the key's length in bytes.
func (k *IterKey) Size() int { return len(k.key) }

// Key gives the bytes, internal or user key as they were set.
func (k *IterKey) Key() []byte { return k.key }

// GetInternalKey gives the bytes of an internal key.
func (k *IterKey) GetInternalKey() []byte { return k.key }

// GetUserKey gives the user key.
func (k *IterKey) GetUserKey() []byte {
	if !k.isInternal {
		return k.key
	}
	return ExtractUserKey(k.key)
}

// IsUserKey tells whether a user key is held.
func (k *IterKey) IsUserKey() bool { return !k.isInternal }

// IsKeyPinned tells whether the bytes are not a copy.
func (k *IterKey) IsKeyPinned() bool {
	return len(k.key) > 0 && (len(k.buf) == 0 || &k.key[0] != &k.buf[0])
}

// SetInternalKey holds key, copied when asked to.
func (k *IterKey) SetInternalKey(key []byte, copyKey bool) {
	k.isInternal = true
	k.set(key, copyKey)
}

// SetUserKey holds a user key, copied when asked to.
func (k *IterKey) SetUserKey(key []byte, copyKey bool) {
	k.isInternal = false
	k.set(key, copyKey)
}

func (k *IterKey) set(key []byte, copyKey bool) {
	if !copyKey {
		k.key = key
		return
	}
	k.buf = append(k.buf[:0], key...)
	k.key = k.buf
}

// SetInternalKeyParts encodes a copy of an internal key.
func (k *IterKey) SetInternalKeyParts(userKey []byte, seq rocksdb.SequenceNumber, t ValueType) {
	k.isInternal = true
	k.buf = AppendInternalKey(k.buf[:0], userKey, seq, t)
	k.key = k.buf
}

// TrimAppend keeps the first shared bytes of the key and appends nonShared.
// Keys that share prefixes are read from a block so.
func (k *IterKey) TrimAppend(shared int, nonShared []byte) {
	if k.IsKeyPinned() {
		k.buf = append(k.buf[:0], k.key[:shared]...)
	}
	k.buf = append(k.buf[:shared], nonShared...)
	k.key = k.buf
}

// TrimAppendWithTimestamp is TrimAppend where neither part has the timestamp
// that the held key has: the least one of tsSize bytes is put at the end of the
// user key.
func (k *IterKey) TrimAppendWithTimestamp(shared int, nonShared []byte, tsSize int) {
	footer := 0
	if k.isInternal {
		footer = NumInternalBytes
	}
	// The held key without its timestamp is old[:at] and old[at+tsSize:].
	old := k.key
	at := max(len(old)-footer-tsSize, 0)
	b := append(k.spare[:0], old[:min(shared, at)]...)
	if shared > at {
		b = append(b, old[at+tsSize:shared+tsSize]...)
	}
	b = append(b, nonShared...)
	n := len(b) - footer
	for range tsSize {
		b = append(b, 0)
	}
	copy(b[n+tsSize:], b[n:n+footer])
	clear(b[n : n+tsSize])
	k.buf, k.spare = b, k.buf
	k.key = b
}

// Swap exchanges the keys and buffers of k and other.
func (k *IterKey) Swap(other *IterKey) { *k, *other = *other, *k }

// UpdateInternalKey rewrites the footer of the copied internal key.
func (k *IterKey) UpdateInternalKey(seq rocksdb.SequenceNumber, t ValueType) {
	UpdateInternalKey(k.key, seq, t)
}

// OwnKey makes a pinned key a copy.
func (k *IterKey) OwnKey() {
	if k.IsKeyPinned() {
		k.set(k.key, true)
	}
}

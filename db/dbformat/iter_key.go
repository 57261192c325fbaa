// Port of db/dbformat.h (IterKey).

package dbformat

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// IterKey holds the present key of an iterator: either a copy in a buffer that
// is kept from key to key, or a pinned slice of somebody else's.
type IterKey struct {
	key    []byte
	buf    []byte
	isUser bool
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
	if k.isUser {
		return k.key
	}
	return ExtractUserKey(k.key)
}

// IsUserKey tells whether a user key is held.
func (k *IterKey) IsUserKey() bool { return k.isUser }

// IsKeyPinned tells whether the bytes are not a copy.
func (k *IterKey) IsKeyPinned() bool {
	return len(k.key) > 0 && (len(k.buf) == 0 || &k.key[0] != &k.buf[0])
}

// SetInternalKey holds key, copied when asked to.
func (k *IterKey) SetInternalKey(key []byte, copyKey bool) {
	k.isUser = false
	k.set(key, copyKey)
}

// SetUserKey holds a user key, copied when asked to.
func (k *IterKey) SetUserKey(key []byte, copyKey bool) {
	k.isUser = true
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
	k.isUser = false
	k.buf = AppendInternalKey(k.buf[:0], userKey, seq, t)
	k.key = k.buf
}

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

// Port of cache/cache_key.{h,cc}.

package cache

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

// CacheKeySize is the length of a CacheKey in bytes.
const CacheKeySize = 16

// CacheKey names a block in a cache. Its bytes are the two words, little
// endian. The values are dealt out so that the makers never meet:
//
//	fileNumEtc64  offsetEtc64       made by
//	0             0                 the zero value: empty
//	0             1 .. 1<<63-1      CreateUniqueForCacheLifetime
//	0             1<<63 ..          CreateUniqueForProcessLifetime
//	> 0           any               OffsetableCacheKey.WithOffset
type CacheKey struct {
	fileNumEtc64 uint64
	offsetEtc64  uint64
}

// IsEmpty tells whether k is the zero value.
func (k CacheKey) IsEmpty() bool { return k.fileNumEtc64 == 0 && k.offsetEtc64 == 0 }

// Append appends the key's 16 bytes to dst.
func (k CacheKey) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, k.fileNumEtc64)
	return binary.LittleEndian.AppendUint64(dst, k.offsetEtc64)
}

// AsSlice gives the key's 16 bytes in a new slice; hot paths use Append or
// LRUCache.LookupKey.
func (k CacheKey) AsSlice() []byte { return k.Append(make([]byte, 0, CacheKeySize)) }

// CacheKeyFromBytes is the inverse of AsSlice; false when b has another length.
func CacheKeyFromBytes(b []byte) (CacheKey, bool) {
	if len(b) != CacheKeySize {
		return CacheKey{}, false
	}
	return CacheKey{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}

// CreateUniqueForCacheLifetime makes a key no other maker gives in this cache.
func CreateUniqueForCacheLifetime(c rocksdb.Cache) CacheKey {
	return CacheKey{0, c.NewID() + 1} // all zeros stays the empty key
}

var processLifetimeCounter atomic.Uint64

// CreateUniqueForProcessLifetime makes a key unique in this process; it counts
// down from the top, away from the caches' own numbers.
func CreateUniqueForProcessLifetime() CacheKey {
	return CacheKey{0, -processLifetimeCounter.Add(1)}
}

// OffsetableCacheKey makes the keys of one file's blocks. It derives from the
// SST's unique id (see package uniqueid), so that a file keeps its keys when
// the database is opened again, copied or backed up.
//
// The unique id has session_lower, which ends in a counter of sessions, and a
// hash xored with the file number. Three numbers of unknown but usually small
// size (session counter, file number, offset) have to share 128 bits:
//
//	fileNumEtc64 = involution(session_lower) ^ reverse(hash ^ file number)
//	offsetEtc64  = reverse(session_lower) ^ offset
//
// where reverse mirrors the bits and the involution spreads set bits downward,
// so that small numbers never overlap. The map is a bijection.
type OffsetableCacheKey struct{ key CacheKey }

// NewOffsetableCacheKey makes a file's base key; of malformed ids it takes a
// hash, and never gives the empty key.
func NewOffsetableCacheKey(dbID, dbSessionID string, fileNumber uint64) OffsetableCacheKey {
	id, _ := uniqueid.GetSstInternalUniqueId(dbID, dbSessionID, fileNumber, true) // forced: no error
	return OffsetableCacheKeyFromInternalUniqueId(uniqueid.UniqueId64x2{id[0], id[1]})
}

// OffsetableCacheKeyFromInternalUniqueId makes the base key of an internal
// unique id (the empty one for the null id).
func OffsetableCacheKeyFromInternalUniqueId(id uniqueid.UniqueId64x2) OffsetableCacheKey {
	sessionLower, fileNumEtc := id[0], id[1]
	if sessionLower == 0 {
		sessionLower = fileNumEtc
	}
	k := CacheKey{
		fileNumEtc64: util.DownwardInvolution(sessionLower) ^ bits.Reverse64(fileNumEtc),
		offsetEtc64:  bits.Reverse64(sessionLower),
	}
	// The first word must not be 0 whatever the offset; the second is not 0
	// here, so exchanging them keeps the map one to one.
	if k.fileNumEtc64 == 0 {
		k.fileNumEtc64, k.offsetEtc64 = k.offsetEtc64, k.fileNumEtc64
	}
	return OffsetableCacheKey{k}
}

// ToInternalUniqueId is the inverse of OffsetableCacheKeyFromInternalUniqueId.
func (k OffsetableCacheKey) ToInternalUniqueId() uniqueid.UniqueId64x2 {
	a, b := k.key.fileNumEtc64, k.key.offsetEtc64
	if b == 0 {
		a, b = b, a
	}
	lower := bits.Reverse64(b)
	return uniqueid.UniqueId64x2{lower, bits.Reverse64(a ^ util.DownwardInvolution(lower))}
}

// IsEmpty tells whether k is the zero value.
func (k OffsetableCacheKey) IsEmpty() bool { return k.key.fileNumEtc64 == 0 }

// WithOffset is the key of what the file has at an offset, or under another
// number unique in the file.
func (k OffsetableCacheKey) WithOffset(offset uint64) CacheKey {
	return CacheKey{k.key.fileNumEtc64, k.key.offsetEtc64 ^ offset}
}

// WithOffsetForMinSizeRecord is the key of a record at a byte offset in a file
// whose records all are at least 5 bytes long: blocks with their trailers and
// embedded blobs.
func (k OffsetableCacheKey) WithOffsetForMinSizeRecord(offset uint64) CacheKey {
	return k.WithOffset(offset >> 2)
}

// CommonPrefix gives the 8 bytes all of the file's keys start with.
func (k OffsetableCacheKey) CommonPrefix() []byte {
	return binary.LittleEndian.AppendUint64(nil, k.key.fileNumEtc64)
}

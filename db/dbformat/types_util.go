// Port of utilities/types_util.cc.

package dbformat

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// GetInternalKeyForSeek appends to dst the internal key to seek a user key
// (without timestamp) with in a raw table iterator.
func GetInternalKeyForSeek(dst, userKey []byte, cmp rocksdb.Comparator) ([]byte, error) {
	if cmp == nil {
		return dst, rocksdb.InvalidArgument("Constructing an internal key requires user key comparator.")
	}
	ts := cmp.MaxTimestamp()
	if cmp.TimestampSize() != len(ts) {
		return dst, rocksdb.InvalidArgument("The maximum timestamp returned by Comparator::GetMaxTimestamp is invalid.")
	}
	dst = append(append(dst, userKey...), ts...)
	return binary.LittleEndian.AppendUint64(dst, PackSequenceAndType(MaxSequenceNumber, ValueTypeForSeek)), nil
}

// GetInternalKeyForSeekForPrev is GetInternalKeyForSeek for SeekForPrev.
func GetInternalKeyForSeekForPrev(dst, userKey []byte, cmp rocksdb.Comparator) ([]byte, error) {
	if cmp == nil {
		return dst, rocksdb.InvalidArgument("Constructing an internal key requires user key comparator.")
	}
	ts := cmp.MinTimestamp()
	if cmp.TimestampSize() != len(ts) {
		return dst, rocksdb.InvalidArgument("The minimum timestamp returned by Comparator::GetMinTimestamp is invalid.")
	}
	dst = append(append(dst, userKey...), ts...)
	return binary.LittleEndian.AppendUint64(dst, PackSequenceAndType(0, ValueTypeForSeekForPrev)), nil
}

// ParseEntry takes an internal key, as a raw table iterator gives it, apart.
// The result points into it.
func ParseEntry(internalKey []byte, cmp rocksdb.Comparator) (rocksdb.ParsedEntryInfo, error) {
	var p rocksdb.ParsedEntryInfo
	if len(internalKey) < NumInternalBytes {
		return p, rocksdb.InvalidArgument("Internal key size invalid.")
	}
	if cmp == nil {
		return p, rocksdb.InvalidArgument("Parsing an internal key requires user key comparator.")
	}
	k, err := ParseInternalKey(internalKey, false)
	if err != nil {
		return p, err
	}
	n := cmp.TimestampSize()
	if len(k.UserKey) < n {
		return p, rocksdb.InvalidArgument("User key(with timestamp) size invalid.")
	}
	p.UserKey, p.Sequence, p.Type = k.UserKey, k.Sequence, GetEntryType(k.Type)
	if n > 0 {
		p.UserKey, p.Timestamp = StripTimestampFromUserKey(k.UserKey, n), ExtractTimestampFromUserKey(k.UserKey, n)
	}
	return p, nil
}

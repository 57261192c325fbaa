// Port of db/dbformat.{h,cc}.

package dbformat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// ValueType is the kind of an entry in memtables, SSTs and the WAL. The
// numbers are on disk.
type ValueType uint8

// The value types. Those marked "WAL" occur in write batches only.
const (
	TypeDeletion                        ValueType = 0x0
	TypeValue                           ValueType = 0x1
	TypeMerge                           ValueType = 0x2
	TypeLogData                         ValueType = 0x3 // WAL
	TypeColumnFamilyDeletion            ValueType = 0x4 // WAL
	TypeColumnFamilyValue               ValueType = 0x5 // WAL
	TypeColumnFamilyMerge               ValueType = 0x6 // WAL
	TypeSingleDeletion                  ValueType = 0x7
	TypeColumnFamilySingleDeletion      ValueType = 0x8 // WAL
	TypeBeginPrepareXID                 ValueType = 0x9 // WAL
	TypeEndPrepareXID                   ValueType = 0xA // WAL
	TypeCommitXID                       ValueType = 0xB // WAL
	TypeRollbackXID                     ValueType = 0xC // WAL
	TypeNoop                            ValueType = 0xD // WAL
	TypeColumnFamilyRangeDeletion       ValueType = 0xE // WAL
	TypeRangeDeletion                   ValueType = 0xF // the range-del meta block
	TypeColumnFamilyBlobIndex           ValueType = 0x10
	TypeBlobIndex                       ValueType = 0x11
	TypeBeginPersistedPrepareXID        ValueType = 0x12 // WAL
	TypeBeginUnprepareXID               ValueType = 0x13 // WAL
	TypeDeletionWithTimestamp           ValueType = 0x14
	TypeCommitXIDAndTimestamp           ValueType = 0x15 // WAL
	TypeWideColumnEntity                ValueType = 0x16
	TypeColumnFamilyWideColumnEntity    ValueType = 0x17 // WAL
	TypeValuePreferredSeqno             ValueType = 0x18
	TypeColumnFamilyValuePreferredSeqno ValueType = 0x19 // WAL
	TypeMaxValid                        ValueType = 0x1A // bounds only
	MaxValue                            ValueType = 0x7F // never stored
)

// Value types to seek with: the greatest, which sorts first among the entries
// of one sequence number, and the least.
const (
	ValueTypeForSeek        = TypeValuePreferredSeqno
	ValueTypeForSeekForPrev = TypeDeletion
)

// MaxSequenceNumber is the greatest sequence number, 2^56-1.
const MaxSequenceNumber rocksdb.SequenceNumber = 1<<56 - 1

// DisableGlobalSequenceNumber says that a file has no global sequence number.
const DisableGlobalSequenceNumber rocksdb.SequenceNumber = 1<<64 - 1

// NumInternalBytes is the size of an internal key's footer.
const NumInternalBytes = 8

// RangeTombstoneSentinel is the footer of a file boundary made by a range
// tombstone's exclusive end.
const RangeTombstoneSentinel = uint64(MaxSequenceNumber)<<8 | uint64(TypeRangeDeletion)

// IsValueType tells whether t may stand in a memtable's point entries or an
// SST's data blocks.
func IsValueType(t ValueType) bool {
	return t <= TypeMerge || t == TypeSingleDeletion || t == TypeBlobIndex ||
		t == TypeDeletionWithTimestamp || t == TypeWideColumnEntity || t == TypeValuePreferredSeqno
}

// IsExtendedValueType also admits range deletions and the bound type.
func IsExtendedValueType(t ValueType) bool {
	return IsValueType(t) || t == TypeRangeDeletion || t == TypeMaxValid
}

// GetEntryType gives the user's view of a value type.
func GetEntryType(t ValueType) rocksdb.EntryType {
	switch t {
	case TypeValue:
		return rocksdb.EntryPut
	case TypeDeletion:
		return rocksdb.EntryDelete
	case TypeDeletionWithTimestamp:
		return rocksdb.EntryDeleteWithTimestamp
	case TypeSingleDeletion:
		return rocksdb.EntrySingleDelete
	case TypeMerge:
		return rocksdb.EntryMerge
	case TypeRangeDeletion:
		return rocksdb.EntryRangeDeletion
	case TypeBlobIndex:
		return rocksdb.EntryBlobIndex
	case TypeWideColumnEntity:
		return rocksdb.EntryWideColumnEntity
	case TypeValuePreferredSeqno:
		return rocksdb.EntryTimedPut
	}
	return rocksdb.EntryOther
}

// ParsedInternalKey is an internal key taken apart. UserKey points into the
// parsed bytes.
type ParsedInternalKey struct {
	UserKey  []byte
	Sequence rocksdb.SequenceNumber
	Type     ValueType
}

// DebugString formats the key as upstream does: 'KEY' seq:S, type:T.
func (k *ParsedInternalKey) DebugString(logErrKey, hex bool) string {
	text := "<redacted>"
	if logErrKey {
		text = util.SliceToString(k.UserKey, hex)
	}
	return "'" + text + "' seq:" + strconv.FormatUint(k.Sequence, 10) + ", type:" + strconv.Itoa(int(k.Type))
}

// PackSequenceAndType makes the footer of an internal key.
func PackSequenceAndType(seq rocksdb.SequenceNumber, t ValueType) uint64 {
	return seq<<8 | uint64(t)
}

// UnPackSequenceAndType is the inverse of PackSequenceAndType.
func UnPackSequenceAndType(packed uint64) (rocksdb.SequenceNumber, ValueType) {
	return packed >> 8, ValueType(packed)
}

// AppendInternalKey appends the encoding of userKey, seq and t to dst.
func AppendInternalKey(dst, userKey []byte, seq rocksdb.SequenceNumber, t ValueType) []byte {
	dst = append(dst, userKey...)
	return binary.LittleEndian.AppendUint64(dst, PackSequenceAndType(seq, t))
}

// AppendInternalKeyFooter appends only the 8 bytes of seq and t.
func AppendInternalKeyFooter(dst []byte, seq rocksdb.SequenceNumber, t ValueType) []byte {
	return binary.LittleEndian.AppendUint64(dst, PackSequenceAndType(seq, t))
}

// ParseInternalKey takes a key apart; logErrKey puts the key into the error's
// text.
func ParseInternalKey(key []byte, logErrKey bool) (ParsedInternalKey, error) {
	n := len(key)
	if n < NumInternalBytes {
		return ParsedInternalKey{}, rocksdb.Corruption(fmt.Sprintf("Corrupted Key: Internal Key too small. Size=%d. ", n))
	}
	footer := binary.LittleEndian.Uint64(key[n-NumInternalBytes:])
	p := ParsedInternalKey{UserKey: key[:n-NumInternalBytes], Sequence: footer >> 8, Type: ValueType(footer)}
	if IsExtendedValueType(p.Type) {
		return p, nil
	}
	return p, rocksdb.Corruption("Corrupted Key", p.DebugString(logErrKey, true))
}

// ExtractUserKey gives the user-key part of an internal key of at least 8
// bytes.
func ExtractUserKey(key []byte) []byte { return key[:len(key)-NumInternalBytes] }

// ExtractUserKeyAndStripTimestamp also takes the timestamp of tsSize bytes off.
func ExtractUserKeyAndStripTimestamp(key []byte, tsSize int) []byte {
	return key[:len(key)-NumInternalBytes-tsSize]
}

// StripTimestampFromUserKey takes the last tsSize bytes off a user key.
func StripTimestampFromUserKey(userKey []byte, tsSize int) []byte {
	return userKey[:len(userKey)-tsSize]
}

// ExtractTimestampFromUserKey gives the last tsSize bytes of a user key.
func ExtractTimestampFromUserKey(userKey []byte, tsSize int) []byte {
	return userKey[len(userKey)-tsSize:]
}

// ExtractTimestampFromKey gives the timestamp in an internal key.
func ExtractTimestampFromKey(key []byte, tsSize int) []byte {
	return ExtractTimestampFromUserKey(ExtractUserKey(key), tsSize)
}

// ExtractInternalKeyFooter gives the packed sequence number and type.
func ExtractInternalKeyFooter(key []byte) uint64 {
	return binary.LittleEndian.Uint64(key[len(key)-NumInternalBytes:])
}

// ExtractValueType gives an internal key's type.
func ExtractValueType(key []byte) ValueType { return ValueType(key[len(key)-NumInternalBytes]) }

// GetInternalKeySeqno gives an internal key's sequence number.
func GetInternalKeySeqno(key []byte) rocksdb.SequenceNumber {
	return ExtractInternalKeyFooter(key) >> 8
}

// UpdateInternalKey rewrites the footer of key in place.
func UpdateInternalKey(key []byte, seq rocksdb.SequenceNumber, t ValueType) {
	binary.LittleEndian.PutUint64(key[len(key)-NumInternalBytes:], PackSequenceAndType(seq, t))
}

// AppendKeyWithMinTimestamp appends key and tsSize zero bytes.
func AppendKeyWithMinTimestamp(dst, key []byte, tsSize int) []byte {
	dst = append(dst, key...)
	for range tsSize {
		dst = append(dst, 0)
	}
	return dst
}

// AppendKeyWithMaxTimestamp appends key and tsSize 0xff bytes.
func AppendKeyWithMaxTimestamp(dst, key []byte, tsSize int) []byte {
	dst = append(dst, key...)
	for range tsSize {
		dst = append(dst, 0xff)
	}
	return dst
}

// AppendUserKeyWithMinTimestamp appends key, its timestamp replaced by the
// least.
func AppendUserKeyWithMinTimestamp(dst, key []byte, tsSize int) []byte {
	return AppendKeyWithMinTimestamp(dst, key[:len(key)-tsSize], tsSize)
}

// AppendUserKeyWithMaxTimestamp appends key, its timestamp replaced by the
// greatest.
func AppendUserKeyWithMaxTimestamp(dst, key []byte, tsSize int) []byte {
	return AppendKeyWithMaxTimestamp(dst, key[:len(key)-tsSize], tsSize)
}

// PadInternalKeyWithMinTimestamp inserts the least timestamp before the
// footer.
func PadInternalKeyWithMinTimestamp(dst, key []byte, tsSize int) []byte {
	n := len(key) - NumInternalBytes
	return append(AppendKeyWithMinTimestamp(dst, key[:n], tsSize), key[n:]...)
}

// PadInternalKeyWithMaxTimestamp inserts the greatest timestamp before the
// footer.
func PadInternalKeyWithMaxTimestamp(dst, key []byte, tsSize int) []byte {
	n := len(key) - NumInternalBytes
	return append(AppendKeyWithMaxTimestamp(dst, key[:n], tsSize), key[n:]...)
}

// StripTimestampFromInternalKey removes the timestamp before the footer.
func StripTimestampFromInternalKey(dst, key []byte, tsSize int) []byte {
	n := len(key) - NumInternalBytes
	return append(append(dst, key[:n-tsSize]...), key[n:]...)
}

// ReplaceInternalKeyWithMinTimestamp sets the timestamp to the least.
func ReplaceInternalKeyWithMinTimestamp(dst, key []byte, tsSize int) []byte {
	n := len(key) - NumInternalBytes
	return append(AppendKeyWithMinTimestamp(dst, key[:n-tsSize], tsSize), key[n:]...)
}

// InternalKey is an encoded internal key that owns its bytes.
type InternalKey []byte

// NewInternalKey encodes a copy of userKey.
func NewInternalKey(userKey []byte, seq rocksdb.SequenceNumber, t ValueType) InternalKey {
	return AppendInternalKey(make([]byte, 0, len(userKey)+NumInternalBytes), userKey, seq, t)
}

// Valid tells whether k parses.
func (k InternalKey) Valid() bool {
	_, err := ParseInternalKey(k, false)
	return err == nil
}

// UserKey gives the user-key part.
func (k InternalKey) UserKey() []byte { return ExtractUserKey(k) }

// SetMaxPossibleForUserKey gives the greatest internal key of userKey: all its
// entries are at or before it.
func SetMaxPossibleForUserKey(userKey []byte) InternalKey {
	return NewInternalKey(userKey, 0, TypeDeletion)
}

// SetMinPossibleForUserKey gives the least internal key of userKey: all its
// entries are at or after it.
func SetMinPossibleForUserKey(userKey []byte) InternalKey {
	return NewInternalKey(userKey, MaxSequenceNumber, ValueTypeForSeek)
}

// DebugString formats the key for people.
func (k InternalKey) DebugString(hex bool) string {
	p, err := ParseInternalKey(k, false)
	if err != nil {
		return "(bad)" + util.EscapeString(k)
	}
	return p.DebugString(true, hex)
}

// InternalKeyComparator orders internal keys. It is concrete so that per-key
// loops call it directly; bytewise order takes no interface call at all.
type InternalKeyComparator struct {
	user     rocksdb.Comparator
	bytewise bool
	tsSize   int
}

// NewInternalKeyComparator orders user keys by user.
func NewInternalKeyComparator(user rocksdb.Comparator) *InternalKeyComparator {
	return &InternalKeyComparator{user: user, bytewise: util.IsBytewise(user), tsSize: user.TimestampSize()}
}

// Name is "rocksdb.InternalKeyComparator:" and the user comparator's name.
func (c *InternalKeyComparator) Name() string {
	return "rocksdb.InternalKeyComparator:" + c.user.Name()
}

// UserComparator gives the order of user keys.
func (c *InternalKeyComparator) UserComparator() rocksdb.Comparator { return c.user }

// IsBytewise tells whether user keys are ordered by bytes.Compare.
func (c *InternalKeyComparator) IsBytewise() bool { return c.bytewise }

// TimestampSize is the user comparator's.
func (c *InternalKeyComparator) TimestampSize() int { return c.tsSize }

// Compare orders two internal keys of at least 8 bytes.
func (c *InternalKeyComparator) Compare(a, b []byte) int {
	na, nb := len(a)-NumInternalBytes, len(b)-NumInternalBytes
	var r int
	if c.bytewise {
		r = bytes.Compare(a[:na], b[:nb])
	} else {
		r = c.user.Compare(a[:na], b[:nb])
	}
	if r != 0 {
		return r
	}
	fa, fb := binary.LittleEndian.Uint64(a[na:]), binary.LittleEndian.Uint64(b[nb:])
	if fa > fb {
		return -1
	}
	if fa < fb {
		return 1
	}
	return 0
}

// CompareKeySeq orders by user key and sequence number, leaving the type out.
func (c *InternalKeyComparator) CompareKeySeq(a, b []byte) int {
	r := c.CompareUserKey(ExtractUserKey(a), ExtractUserKey(b))
	if r != 0 {
		return r
	}
	sa, sb := GetInternalKeySeqno(a), GetInternalKeySeqno(b)
	if sa > sb {
		return -1
	}
	if sa < sb {
		return 1
	}
	return 0
}

// CompareParsed orders two parsed keys.
func (c *InternalKeyComparator) CompareParsed(a, b *ParsedInternalKey) int {
	if r := c.CompareUserKey(a.UserKey, b.UserKey); r != 0 {
		return r
	}
	fa, fb := PackSequenceAndType(a.Sequence, a.Type), PackSequenceAndType(b.Sequence, b.Type)
	if fa > fb {
		return -1
	}
	if fa < fb {
		return 1
	}
	return 0
}

// CompareToParsed orders an encoded key against a parsed one.
func (c *InternalKeyComparator) CompareToParsed(a []byte, b *ParsedInternalKey) int {
	if r := c.CompareUserKey(ExtractUserKey(a), b.UserKey); r != 0 {
		return r
	}
	fa, fb := ExtractInternalKeyFooter(a), PackSequenceAndType(b.Sequence, b.Type)
	if fa > fb {
		return -1
	}
	if fa < fb {
		return 1
	}
	return 0
}

// CompareUserKey orders two user keys.
func (c *InternalKeyComparator) CompareUserKey(a, b []byte) int {
	if c.bytewise {
		return bytes.Compare(a, b)
	}
	return c.user.Compare(a, b)
}

// EqualUserKey tells whether two user keys are equal.
func (c *InternalKeyComparator) EqualUserKey(a, b []byte) bool {
	if c.bytewise {
		return bytes.Equal(a, b)
	}
	return c.user.Equal(a, b)
}

// CompareWithoutTimestamp orders user keys by what precedes their timestamps.
func (c *InternalKeyComparator) CompareWithoutTimestamp(a, b []byte) int {
	if c.bytewise {
		return bytes.Compare(a, b)
	}
	return c.user.CompareWithoutTimestamp(a, true, b, true)
}

// FindShortestInternalKeySeparator appends to dst an internal key k with
// start <= k < limit, its user key shortened where possible.
func (c *InternalKeyComparator) FindShortestInternalKeySeparator(dst, start, limit []byte) []byte {
	us, ul := ExtractUserKey(start), ExtractUserKey(limit)
	base := len(dst)
	dst = c.user.FindShortestSeparator(dst, us, ul)
	if short := dst[base:]; len(short) <= len(us) && c.CompareUserKey(us, short) < 0 {
		return AppendInternalKeyFooter(dst, MaxSequenceNumber, ValueTypeForSeek)
	}
	return append(dst[:base], start...)
}

// FindShortInternalKeySuccessor appends to dst an internal key >= key.
func (c *InternalKeyComparator) FindShortInternalKeySuccessor(dst, key []byte) []byte {
	uk := ExtractUserKey(key)
	base := len(dst)
	dst = c.user.FindShortSuccessor(dst, uk)
	if short := dst[base:]; len(short) <= len(uk) && c.CompareUserKey(uk, short) < 0 {
		return AppendInternalKeyFooter(dst, MaxSequenceNumber, ValueTypeForSeek)
	}
	return append(dst[:base], key...)
}

// RangeTombstone is one range deletion: keys in [StartKey, EndKey) written
// before Seq are gone. Timestamp is empty without user-defined timestamps.
type RangeTombstone struct {
	StartKey, EndKey []byte
	Seq              rocksdb.SequenceNumber
	Timestamp        []byte
}

// Serialize gives the internal key and the value of the tombstone as the
// range-del block stores them.
func (t *RangeTombstone) Serialize() (InternalKey, []byte) {
	return NewInternalKey(t.StartKey, t.Seq, TypeRangeDeletion), t.EndKey
}

// SerializeKey gives the tombstone's internal key.
func (t *RangeTombstone) SerializeKey() InternalKey {
	return NewInternalKey(t.StartKey, t.Seq, TypeRangeDeletion)
}

// SerializeEndKey gives the end as an exclusive internal-key bound: before any
// entry of the end key, whatever its timestamp.
func (t *RangeTombstone) SerializeEndKey() InternalKey {
	if n := len(t.Timestamp); n > 0 && len(t.EndKey) >= n {
		k := make([]byte, 0, len(t.EndKey)+NumInternalBytes)
		k = AppendUserKeyWithMaxTimestamp(k, t.EndKey, n)
		return AppendInternalKeyFooter(k, MaxSequenceNumber, TypeRangeDeletion)
	}
	return NewInternalKey(t.EndKey, MaxSequenceNumber, TypeRangeDeletion)
}

// NewRangeTombstone makes a tombstone whose keys' timestamps are replaced by
// ts, which may be empty. It owns its keys.
func NewRangeTombstone(start, end []byte, seq rocksdb.SequenceNumber, ts []byte) RangeTombstone {
	t := RangeTombstone{StartKey: bytes.Clone(start), EndKey: bytes.Clone(end), Seq: seq}
	if n := len(ts); n > 0 {
		copy(t.StartKey[len(start)-n:], ts)
		copy(t.EndKey[len(end)-n:], ts)
		t.Timestamp = t.StartKey[len(start)-n:]
	}
	return t
}

// UserKeyRange is a range of user keys; nil bounds are open.
type UserKeyRange struct{ Start, Limit []byte }

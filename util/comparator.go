// Port of util/comparator.cc. Differs: timestamps' helpers are here as well
// (db/dbformat.h has them upstream), and so is the order of numbers
// (test_util/testutil.cc); the object registry is another package's.

package util

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The built-in orders' names, as stored in files.
const (
	BytewiseComparatorName               = "leveldb.BytewiseComparator"
	ReverseBytewiseComparatorName        = "rocksdb.ReverseBytewiseComparator"
	BytewiseComparatorWithU64TsName      = BytewiseComparatorName + u64TsSuffix
	ReverseBytewiseComparatorWithU64Name = ReverseBytewiseComparatorName + u64TsSuffix
	Uint64ComparatorName                 = "rocksdb.Uint64Comparator"

	u64TsSuffix = ".u64ts"
	u64TsSize   = 8
)

// The comparators are empty structs: two values of one type are equal, so that
// IsBytewise is a type test and no identity has to be kept.
type (
	bytewiseComparator        struct{ noTimestamp }
	reverseBytewiseComparator struct{ noTimestamp }
	bytewiseU64Ts             struct{ u64Ts }
	reverseBytewiseU64Ts      struct{ u64Ts }
)

// BytewiseComparator orders keys by their bytes; the default.
func BytewiseComparator() rocksdb.Comparator { return bytewiseComparator{} }

// ReverseBytewiseComparator is the opposite of BytewiseComparator.
func ReverseBytewiseComparator() rocksdb.Comparator { return reverseBytewiseComparator{} }

// BytewiseComparatorWithU64Ts orders keys that end with a fixed64 timestamp:
// by their bytes, and newer timestamps first.
func BytewiseComparatorWithU64Ts() rocksdb.Comparator { return bytewiseU64Ts{} }

// ReverseBytewiseComparatorWithU64Ts orders in reverse, and newer timestamps
// first.
func ReverseBytewiseComparatorWithU64Ts() rocksdb.Comparator { return reverseBytewiseU64Ts{} }

type uint64Comparator struct{ rocksdb.ComparatorBase }

var theUint64Comparator = newUint64Comparator()

func newUint64Comparator() rocksdb.Comparator {
	c := &uint64Comparator{}
	c.Self = c
	return c
}

// Uint64Comparator orders keys as little-endian numbers of eight bytes. Keys of
// another length are ordered by it, and then bytewise.
func Uint64Comparator() rocksdb.Comparator { return theUint64Comparator }

// Name is upstream's.
func (*uint64Comparator) Name() string { return Uint64ComparatorName }

// Compare orders two keys.
func (*uint64Comparator) Compare(a, b []byte) int {
	if len(a) != 8 || len(b) != 8 {
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	}
	return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
}

// CanKeysWithDifferentByteContentsBeEqual is false.
func (*uint64Comparator) CanKeysWithDifferentByteContentsBeEqual() bool { return false }

// IsBytewise tells whether c is BytewiseComparator(), so that a caller may use
// bytes.Compare in its stead.
func IsBytewise(c rocksdb.Comparator) bool {
	_, ok := c.(bytewiseComparator)
	return ok
}

// IsReverseBytewise tells whether c is ReverseBytewiseComparator().
func IsReverseBytewise(c rocksdb.Comparator) bool {
	_, ok := c.(reverseBytewiseComparator)
	return ok
}

// BuiltinComparator gives the built-in comparator of that name.
func BuiltinComparator(name string) (c rocksdb.Comparator, ok bool) {
	switch name {
	case BytewiseComparatorName:
		return BytewiseComparator(), true
	case ReverseBytewiseComparatorName:
		return ReverseBytewiseComparator(), true
	case Uint64ComparatorName:
		return Uint64Comparator(), true
	case BytewiseComparatorWithU64TsName:
		return BytewiseComparatorWithU64Ts(), true
	case ReverseBytewiseComparatorWithU64Name:
		return ReverseBytewiseComparatorWithU64Ts(), true
	}
	return nil, false
}

// noTimestamp holds the timestamp methods of an order without timestamps.
type noTimestamp struct{}

func (noTimestamp) TimestampSize() int                   { return 0 }
func (noTimestamp) CompareTimestamp(ts1, ts2 []byte) int { return 0 }
func (noTimestamp) MaxTimestamp() []byte                 { return nil }
func (noTimestamp) MinTimestamp() []byte                 { return nil }
func (noTimestamp) TimestampToString([]byte) string      { return "" }

func (bytewiseComparator) Name() string            { return BytewiseComparatorName }
func (bytewiseComparator) Compare(a, b []byte) int { return bytes.Compare(a, b) }
func (bytewiseComparator) Equal(a, b []byte) bool  { return bytes.Equal(a, b) }

func (bytewiseComparator) CompareWithoutTimestamp(a []byte, _ bool, b []byte, _ bool) int {
	return bytes.Compare(a, b)
}

func (bytewiseComparator) CanKeysWithDifferentByteContentsBeEqual() bool { return false }

func (bytewiseComparator) RootComparator() rocksdb.Comparator { return bytewiseComparator{} }

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func (bytewiseComparator) FindShortestSeparator(dst, start, limit []byte) []byte {
	diff := commonPrefix(start, limit)
	if diff >= len(start) || diff >= len(limit) || start[diff] >= limit[diff] {
		return append(dst, start...) // one is the other's prefix, or start > limit
	}
	if diff == len(limit)-1 && start[diff]+1 == limit[diff] {
		// One more in this byte would be limit itself or beyond: keep it and
		// raise the first later byte that can be raised.
		for diff++; diff < len(start) && start[diff] == 0xff; diff++ {
		}
		if diff == len(start) {
			return append(dst, start...)
		}
	}
	dst = append(dst, start[:diff+1]...)
	dst[len(dst)-1]++
	return dst
}

func (bytewiseComparator) FindShortSuccessor(dst, key []byte) []byte {
	for i, c := range key {
		if c != 0xff {
			dst = append(dst, key[:i+1]...)
			dst[len(dst)-1]++
			return dst
		}
	}
	return append(dst, key...)
}

func (bytewiseComparator) IsSameLengthImmediateSuccessor(s, t []byte) bool {
	if len(s) != len(t) {
		return false
	}
	diff := commonPrefix(s, t)
	if diff == len(s) || s[diff] == 0xff || s[diff]+1 != t[diff] {
		return false
	}
	for i := diff + 1; i < len(s); i++ {
		if s[i] != 0xff || t[i] != 0 {
			return false
		}
	}
	return true
}

func (reverseBytewiseComparator) Name() string            { return ReverseBytewiseComparatorName }
func (reverseBytewiseComparator) Compare(a, b []byte) int { return bytes.Compare(b, a) }
func (reverseBytewiseComparator) Equal(a, b []byte) bool  { return bytes.Equal(a, b) }

func (reverseBytewiseComparator) CompareWithoutTimestamp(a []byte, _ bool, b []byte, _ bool) int {
	return bytes.Compare(b, a)
}

func (reverseBytewiseComparator) CanKeysWithDifferentByteContentsBeEqual() bool { return false }

func (reverseBytewiseComparator) RootComparator() rocksdb.Comparator {
	return reverseBytewiseComparator{}
}

func (reverseBytewiseComparator) FindShortestSeparator(dst, start, limit []byte) []byte {
	diff := commonPrefix(start, limit)
	if diff < len(start) && diff < len(limit) && start[diff] > limit[diff] {
		return append(dst, start[:diff+1]...) // shorter is later in reverse
	}
	return append(dst, start...)
}

func (reverseBytewiseComparator) FindShortSuccessor(dst, key []byte) []byte {
	return append(dst, key...)
}

// IsSameLengthImmediateSuccessor is false, as upstream has it: a true answer
// would let auto_prefix_mode miss keys.
func (reverseBytewiseComparator) IsSameLengthImmediateSuccessor(s, t []byte) bool { return false }

// u64Ts holds what the two orders with fixed64 timestamps share.
type u64Ts struct{}

func (u64Ts) FindShortestSeparator(dst, start, limit []byte) []byte { return append(dst, start...) }
func (u64Ts) FindShortSuccessor(dst, key []byte) []byte             { return append(dst, key...) }
func (u64Ts) IsSameLengthImmediateSuccessor(s, t []byte) bool       { return false }
func (u64Ts) CanKeysWithDifferentByteContentsBeEqual() bool         { return true }
func (u64Ts) TimestampSize() int                                    { return u64TsSize }
func (u64Ts) MaxTimestamp() []byte                                  { return MaxU64Ts() }
func (u64Ts) MinTimestamp() []byte                                  { return MinU64Ts() }
func (u64Ts) CompareTimestamp(ts1, ts2 []byte) int                  { return compareU64Ts(ts1, ts2) }

func (u64Ts) TimestampToString(ts []byte) string {
	v, err := DecodeU64Ts(ts)
	if err != nil {
		v = 0
	}
	return strconv.FormatUint(v, 10)
}

// tsOf gives a timestamp's number; bytes that are no timestamp count as 0.
func tsOf(ts []byte) uint64 {
	if len(ts) != u64TsSize {
		return 0
	}
	return DecodeFixed64(ts)
}

func compareU64Ts(ts1, ts2 []byte) int {
	a, b := tsOf(ts1), tsOf(ts2)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// splitU64Ts parts a key from its timestamp. A key too short for one is all
// key: it can only come from damaged data.
func splitU64Ts(key []byte) (user, ts []byte) {
	if len(key) < u64TsSize {
		return key, nil
	}
	return key[:len(key)-u64TsSize], key[len(key)-u64TsSize:]
}

func stripU64Ts(key []byte, hasTS bool) []byte {
	if hasTS {
		key, _ = splitU64Ts(key)
	}
	return key
}

func (bytewiseU64Ts) Name() string                       { return BytewiseComparatorWithU64TsName }
func (bytewiseU64Ts) RootComparator() rocksdb.Comparator { return bytewiseComparator{} }

func (bytewiseU64Ts) Compare(a, b []byte) int {
	ka, ta := splitU64Ts(a)
	kb, tb := splitU64Ts(b)
	if r := bytes.Compare(ka, kb); r != 0 {
		return r
	}
	return compareU64Ts(tb, ta)
}

func (c bytewiseU64Ts) Equal(a, b []byte) bool { return c.Compare(a, b) == 0 }

func (bytewiseU64Ts) CompareWithoutTimestamp(a []byte, aHasTS bool, b []byte, bHasTS bool) int {
	return bytes.Compare(stripU64Ts(a, aHasTS), stripU64Ts(b, bHasTS))
}

func (reverseBytewiseU64Ts) Name() string { return ReverseBytewiseComparatorWithU64Name }

func (reverseBytewiseU64Ts) RootComparator() rocksdb.Comparator { return reverseBytewiseComparator{} }

func (reverseBytewiseU64Ts) Compare(a, b []byte) int {
	ka, ta := splitU64Ts(a)
	kb, tb := splitU64Ts(b)
	if r := bytes.Compare(kb, ka); r != 0 {
		return r
	}
	return compareU64Ts(tb, ta)
}

func (c reverseBytewiseU64Ts) Equal(a, b []byte) bool { return c.Compare(a, b) == 0 }

func (reverseBytewiseU64Ts) CompareWithoutTimestamp(a []byte, aHasTS bool, b []byte, bHasTS bool) int {
	return bytes.Compare(stripU64Ts(b, bHasTS), stripU64Ts(a, aHasTS))
}

// EncodeU64Ts gives a new fixed64 timestamp.
func EncodeU64Ts(ts uint64) []byte { return AppendFixed64(nil, ts) }

// AppendU64Ts appends a fixed64 timestamp to a user key.
func AppendU64Ts(dst []byte, ts uint64) []byte { return AppendFixed64(dst, ts) }

// DecodeU64Ts reads a fixed64 timestamp; any other length is an error.
func DecodeU64Ts(ts []byte) (uint64, error) {
	if len(ts) != u64TsSize {
		return 0, rocksdb.InvalidArgument("U64Ts timestamp size mismatch.")
	}
	return DecodeFixed64(ts), nil
}

// MaxU64Ts is the greatest timestamp; the caller owns it.
func MaxU64Ts() []byte { return EncodeU64Ts(math.MaxUint64) }

// MinU64Ts is the least timestamp; the caller owns it.
func MinU64Ts() []byte { return EncodeU64Ts(0) }

// Port of db/db_with_timestamp_test_util.{h,cc}.

package db_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
)

// tsComparator orders keys bytewise, with timestamps of 16 bytes: low and high
// half as little-endian numbers, newest first.
type tsComparator struct{ rocksdb.Comparator }

func newTSComparator() tsComparator { return tsComparator{util.BytewiseComparator()} }

const tsSize = 16

func (tsComparator) Name() string                                      { return "TestComparator" }
func (tsComparator) TimestampSize() int                                { return tsSize }
func (tsComparator) FindShortestSeparator(dst, start, _ []byte) []byte { return append(dst, start...) }
func (tsComparator) FindShortSuccessor(dst, key []byte) []byte         { return append(dst, key...) }
func (tsComparator) CanKeysWithDifferentByteContentsBeEqual() bool     { return true }
func (tsComparator) IsSameLengthImmediateSuccessor(_, _ []byte) bool   { return false }
func (c tsComparator) RootComparator() rocksdb.Comparator              { return c }
func (tsComparator) MaxTimestamp() []byte                              { return bytes.Repeat([]byte{0xff}, tsSize) }
func (tsComparator) MinTimestamp() []byte                              { return make([]byte, tsSize) }
func (tsComparator) TimestampToString(ts []byte) string                { return fmt.Sprintf("%x", ts) }
func (c tsComparator) Equal(a, b []byte) bool                          { return c.Compare(a, b) == 0 }
func (c tsComparator) strip(k []byte, has bool) []byte {
	if has {
		return k[:len(k)-tsSize]
	}
	return k
}

func (c tsComparator) Compare(a, b []byte) int {
	if r := c.CompareWithoutTimestamp(a, true, b, true); r != 0 {
		return r
	}
	return -c.CompareTimestamp(a[len(a)-tsSize:], b[len(b)-tsSize:])
}

func (c tsComparator) CompareWithoutTimestamp(a []byte, aHasTS bool, b []byte, bHasTS bool) int {
	return bytes.Compare(c.strip(a, aHasTS), c.strip(b, bHasTS))
}

func (tsComparator) CompareTimestamp(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return cmp.Compare(len(a), len(b))
	}
	le := binary.LittleEndian
	if r := cmp.Compare(le.Uint64(a[8:]), le.Uint64(b[8:])); r != 0 {
		return r
	}
	return cmp.Compare(le.Uint64(a), le.Uint64(b))
}

// timestamp makes one of tsComparator's.
func timestamp(low, high uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, low), high)
}

// u64ts makes a timestamp of 8 bytes.
func u64ts(ts uint64) []byte { return util.EncodeU64Ts(ts) }

// key1 makes a key whose bytes order as the numbers do.
func key1(k uint64) []byte { return binary.BigEndian.AppendUint64(nil, k) }

// readAt gives options to read at a timestamp; nil for none.
func readAt(ts []byte) *rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.Timestamp = ts
	return &ro
}

// checkIterUserEntry wants the iterator on key, with this timestamp and, unless
// it is a deletion, value.
func checkIterUserEntry(t testing.TB, it *rocksdb.Iterator, key []byte, deletion bool, value string, ts []byte) {
	t.Helper()
	if !it.Valid() {
		t.Fatalf("not valid (%v), want %x", it.Err(), key)
	}
	if !bytes.Equal(it.Key(), key) || !deletion && string(it.Value()) != value || !bytes.Equal(it.Timestamp(), ts) {
		t.Fatalf("%x = %q at %x, want %x = %q at %x", it.Key(), it.Value(), it.Timestamp(), key, value, ts)
	}
}

// checkIterEntry wants the iterator, which shows versions, on this entry; seq 0
// is any.
func checkIterEntry(t testing.TB, it *rocksdb.Iterator, key []byte, seq uint64, typ dbformat.ValueType, value string, ts []byte) {
	t.Helper()
	if !it.Valid() {
		t.Fatalf("not valid (%v), want %x", it.Err(), key)
	}
	p, err := dbformat.ParseInternalKey(it.Key(), true)
	if err != nil {
		t.Fatal(err)
	}
	want := append(bytes.Clone(key), ts...)
	if !bytes.Equal(p.UserKey, want) || p.Type != typ || seq != 0 && p.Sequence != seq ||
		typ == dbformat.TypeValue && string(it.Value()) != value || !bytes.Equal(it.Timestamp(), ts) {
		t.Fatalf("%x (type %d, seq %d) = %q at %x, want %x (type %d, seq %d) = %q at %x",
			p.UserKey, p.Type, p.Sequence, it.Value(), it.Timestamp(), want, typ, seq, value, ts)
	}
}

// wantInvalid wants the error InvalidArgument.
func wantInvalid(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatalf("%s: %v, want InvalidArgument", what, err)
	}
}

// wantGetTS wants value and timestamp of a key.
func wantGetTS(t testing.TB, cf *rocksdb.ColumnFamily, ro *rocksdb.ReadOptions, key []byte, value string, ts []byte) {
	t.Helper()
	v, got, err := cf.GetWithTimestamp(ro, key)
	if err != nil {
		t.Fatalf("%x at %x: %v", key, ro.Timestamp, err)
	}
	if string(v.Data()) != value || !bytes.Equal(got, ts) {
		t.Fatalf("%x at %x: %q of %x, want %q of %x", key, ro.Timestamp, v.Data(), got, value, ts)
	}
	v.Release()
}

// Port of utilities/types_util_test.cc.

package dbformat_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// entryKey makes an internal key, with timestamps of fixed64.
func entryKey(user string, seq uint64, typ dbformat.ValueType, ts ...uint64) []byte {
	k := []byte(user)
	for _, t := range ts {
		k = binary.LittleEndian.AppendUint64(k, t)
	}
	return binary.LittleEndian.AppendUint64(k, dbformat.PackSequenceAndType(seq, typ))
}

func wantEntry(t *testing.T, key []byte, cmp rocksdb.Comparator, user, ts string, seq uint64, typ rocksdb.EntryType) {
	t.Helper()
	p, err := dbformat.ParseEntry(key, cmp)
	if err != nil {
		t.Fatal(err)
	}
	if string(p.UserKey) != user || string(p.Timestamp) != ts || p.Sequence != seq || p.Type != typ {
		t.Errorf("%q at %q, %d of type %v; want %q at %q, %d of type %v", p.UserKey, p.Timestamp, p.Sequence, p.Type, user, ts, seq, typ)
	}
}

func TestParseEntryTest_InvalidInternalKey(t *testing.T) {
	if _, err := dbformat.ParseEntry([]byte("foo"), util.BytewiseComparator()); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := dbformat.ParseEntry(entryKey("foo", 3, dbformat.TypeValue), nil); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestParseEntryTest_Basic(t *testing.T) {
	cmp := util.BytewiseComparator()
	wantEntry(t, entryKey("foo", 3, dbformat.TypeValue), cmp, "foo", "", 3, rocksdb.EntryPut)
	wantEntry(t, entryKey("bar", 5, dbformat.TypeDeletion), cmp, "bar", "", 5, rocksdb.EntryDelete)
}

func TestParseEntryTest_UserKeyIncludesTimestamp(t *testing.T) {
	cmp := util.BytewiseComparatorWithU64Ts()
	wantEntry(t, entryKey("foo", 3, dbformat.TypeValue, 50), cmp, "foo", string(util.EncodeU64Ts(50)), 3, rocksdb.EntryPut)
	wantEntry(t, entryKey("bar", 5, dbformat.TypeDeletion, 30), cmp, "bar", string(util.EncodeU64Ts(30)), 5, rocksdb.EntryDelete)
}

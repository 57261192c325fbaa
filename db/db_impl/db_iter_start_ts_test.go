// No upstream twin yet: db/db_with_timestamp_basic_test.cc has many cases; this
// is iter_start_ts through memtable and tables.

package dbimpl_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestDBImpl_IterStartTS(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Comparator = util.BytewiseComparatorWithU64Ts()
	db, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	ts := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	write := func(key string, at uint64, value string) {
		t.Helper()
		b := writebatch.NewWithTimestampSize(0, 0, 8)
		cf := db.ColumnFamily
		err := b.PutWithTimestamp(cf, []byte(key), ts(at), []byte(value))
		if value == "" {
			b = writebatch.NewWithTimestampSize(0, 0, 8)
			err = b.DeleteWithTimestamp(cf, []byte(key), ts(at))
		}
		if err == nil {
			err = db.Write(nil, b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("a", 1, "a1")
	write("b", 1, "b1")
	write("a", 2, "a2")
	if err := db.Flush(nil); err != nil {
		t.Fatal(err)
	}
	write("a", 3, "")
	write("b", 4, "b4")
	write("a", 5, "a5")

	// Without its timestamp a batch is refused.
	b := writebatch.NewWithTimestampSize(0, 0, 8)
	if err := b.Put([]byte("a"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(nil, b); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatal(err)
	}

	ro := rocksdb.DefaultReadOptions()
	for _, c := range []struct {
		from, to uint64
		want     []string
	}{
		{1, 5, []string{"a@5=a5", "a@3-", "a@2=a2", "a@1=a1", "b@4=b4", "b@1=b1"}},
		{2, 4, []string{"a@3-", "a@2=a2", "b@4=b4"}},
		{3, 3, []string{"a@3-"}},
		{6, 9, nil},
	} {
		ro.Timestamp, ro.IterStartTS = ts(c.to), ts(c.from)
		it := db.NewIterator(&ro)
		text := func() string {
			k, err := dbformat.ParseInternalKey(it.Key(), true)
			if err != nil {
				t.Fatal(err)
			}
			at := binary.LittleEndian.Uint64(it.Timestamp())
			s := fmt.Sprintf("%s@%d=%s", dbformat.StripTimestampFromUserKey(k.UserKey, 8), at, it.Value())
			if k.Type == dbformat.TypeDeletionWithTimestamp {
				s = fmt.Sprintf("%s@%d-", dbformat.StripTimestampFromUserKey(k.UserKey, 8), at)
			}
			return s
		}
		i := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if i >= len(c.want) || text() != c.want[i] {
				t.Fatalf("%d to %d, entry %d: %s, want %v", c.from, c.to, i, text(), c.want)
			}
			i++
		}
		if i != len(c.want) || it.Err() != nil {
			t.Fatalf("%d to %d: %d entries, want %v; %v", c.from, c.to, i, c.want, it.Err())
		}
		for it.SeekToLast(); it.Valid(); it.Prev() {
			i--
			if i < 0 || text() != c.want[i] {
				t.Fatalf("%d to %d, entry %d: %s, want %v", c.from, c.to, i, text(), c.want)
			}
		}
		if i != 0 || it.Err() != nil {
			t.Fatalf("%d to %d backward: %d left; %v", c.from, c.to, i, it.Err())
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ro.IterStartTS = []byte("short")
	it := db.NewIterator(&ro)
	if !errors.Is(it.Err(), rocksdb.ErrInvalidArgument) {
		t.Fatal(it.Err())
	}
	if err := it.Close(); err != nil {
		t.Log(err)
	}
}

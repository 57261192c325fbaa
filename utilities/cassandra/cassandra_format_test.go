// Port of utilities/cassandra/cassandra_format_test.cc,
// utilities/cassandra/cassandra_row_merge_test.cc and
// utilities/cassandra/test_utils.{h,cc}.

package cassandra

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	testTTL = 86400
	// The kinds of test columns are masks.
	plain    int8 = 0
	deleted       = DeletionMask
	expiring      = ExpirationMask
)

// spec is a test column: its kind, index and time.
type spec struct {
	mask, index int8
	timestamp   int64
}

func micros(seconds int64) int64 { return seconds * microsPerSecond }

func testColumn(s spec) ColumnBase {
	switch s.mask {
	case deleted:
		return NewTombstone(s.mask, s.index, int32(s.timestamp/microsPerSecond), s.timestamp)
	case expiring:
		return NewExpiringColumn(s.mask, s.index, s.timestamp, []byte("edata"), testTTL)
	}
	return NewColumn(s.mask, s.index, s.timestamp, []byte("data"))
}

func testRow(specs ...spec) RowValue {
	var columns Columns
	last := int64(0)
	for _, s := range specs {
		columns = append(columns, testColumn(s))
		last = max(last, s.timestamp)
	}
	return NewRowValue(columns, last)
}

func testRowTombstone(timestamp int64) RowValue {
	return NewRowTombstone(int32(timestamp/microsPerSecond), timestamp)
}

// wantColumns wants a row to have these columns.
func wantColumns(t *testing.T, r RowValue, want ...spec) {
	t.Helper()
	if r.IsTombstone() || len(r.Columns()) != len(want) {
		t.Fatalf("%d columns, not %d; deleted %t", len(r.Columns()), len(want), r.IsTombstone())
	}
	for i, c := range r.Columns() {
		if got := (spec{c.Mask(), c.Index(), c.Timestamp()}); got != want[i] {
			t.Errorf("column %d is %v, not %v", i, got, want[i])
		}
	}
}

// wantSerialized wants the stored form of a column, and the column read back.
func wantSerialized(t *testing.T, c ColumnBase, want ...[]byte) {
	t.Helper()
	b := c.Serialize(nil)
	if joined := bytes.Join(want, nil); c.Size() != len(joined) || !bytes.Equal(b, joined) {
		t.Fatalf("%x of size %d, not %x", b, c.Size(), joined)
	}
	back, rest, ok := DeserializeColumn(append(bytes.Clone(b), "rest"...))
	if !ok || string(rest) != "rest" {
		t.Fatalf("read back: %t, %q left", ok, rest)
	}
	if back.Index() != c.Index() || back.Mask() != c.Mask() || back.Timestamp() != c.Timestamp() || back.Size() != c.Size() {
		t.Errorf("read back: %+v, not %+v", back, c)
	}
	if again := back.Serialize(b); !bytes.Equal(again, append(bytes.Clone(b), b...)) {
		t.Errorf("%x once more", again)
	}
	for n := range b {
		if _, _, ok := DeserializeColumn(b[:n]); ok {
			t.Errorf("%d bytes of %d are a column", n, len(b))
		}
	}
}

const testTime = 1494022807044

func i8(v int8) []byte   { return Serialize(nil, v) }
func i32(v int32) []byte { return Serialize(nil, v) }
func i64(v int64) []byte { return Serialize(nil, v) }

func TestColumnTest_Column(t *testing.T) {
	wantSerialized(t, NewColumn(0, 1, testTime, []byte("data")), i8(0), i8(1), i64(testTime), i32(4), []byte("data"))
}

func TestExpiringColumnTest_ExpiringColumn(t *testing.T) {
	wantSerialized(t, NewExpiringColumn(ExpirationMask, 3, testTime, []byte("data"), 3600),
		i8(ExpirationMask), i8(3), i64(testTime), i32(4), []byte("data"), i32(3600))
}

func TestTombstoneTest_Tombstone(t *testing.T) {
	wantSerialized(t, NewTombstone(DeletionMask, 2, testTime/1000, testTime), i8(DeletionMask), i8(2), i32(testTime/1000), i64(testTime))
}

func TestTombstoneTest_TombstoneCollectable(t *testing.T) {
	const grace = 16440
	now := time.Now().Unix()
	for delta, want := range map[int64]bool{-10: true, 600: false} {
		at := now - grace + delta
		if got := NewTombstone(DeletionMask, 0, int32(at), micros(at)).Collectable(grace); got != want {
			t.Errorf("%d seconds off the grace period: %t", delta, got)
		}
	}
}

// wantRow wants the stored form of a row, and the row read back.
func wantRow(t *testing.T, r RowValue, tombstone bool, modified int64, want ...[]byte) {
	t.Helper()
	check := func(r RowValue) {
		t.Helper()
		b := r.Serialize(nil)
		if joined := bytes.Join(want, nil); r.Size() != len(joined) || !bytes.Equal(b, joined) {
			t.Fatalf("%x of size %d, not %x", b, r.Size(), joined)
		}
		if r.IsTombstone() != tombstone || r.LastModifiedTime() != modified {
			t.Errorf("deleted %t, modified at %d", r.IsTombstone(), r.LastModifiedTime())
		}
	}
	check(r)
	back, err := DeserializeRowValue(r.Serialize(nil))
	if err != nil {
		t.Fatal(err)
	}
	check(back)
}

func TestRowValueTest_RowTombstone(t *testing.T) {
	wantRow(t, NewRowTombstone(testTime/1000, testTime), true, testTime, i32(testTime/1000), i64(testTime))
}

func TestRowValueTest_RowWithColumns(t *testing.T) {
	columns := Columns{NewExpiringColumn(ExpirationMask, 0, testTime, []byte("edata"), 3600),
		NewColumn(0, 1, testTime+4, []byte("data")), NewTombstone(DeletionMask, 2, 1494022801, testTime-1)}
	wantRow(t, NewRowValue(columns, testTime+4), false, testTime+4, i32(math.MaxInt32), i64(math.MinInt64),
		i8(ExpirationMask), i8(0), i64(testTime), i32(5), []byte("edata"), i32(3600),
		i8(0), i8(1), i64(testTime+4), i32(4), []byte("data"),
		i8(DeletionMask), i8(2), i32(1494022801), i64(testTime-1))
}

func TestRowValueTest_PurgeTtlShouldRemvoeAllColumnsExpired(t *testing.T) {
	now := time.Now().Unix()
	r := testRow(spec{plain, 0, micros(now)}, spec{expiring, 1, micros(now - testTTL - 10)}, spec{expiring, 2, micros(now)}, spec{deleted, 3, micros(now)})
	r, changed := r.RemoveExpiredColumns()
	wantColumns(t, r, spec{plain, 0, micros(now)}, spec{expiring, 2, micros(now)}, spec{deleted, 3, micros(now)})
	if _, again := r.RemoveExpiredColumns(); !changed || again {
		t.Errorf("changed %t, and once more %t", changed, again)
	}
}

func TestRowValueTest_ExpireTtlShouldConvertExpiredColumnsToTombstones(t *testing.T) {
	now := time.Now().Unix()
	r := testRow(spec{plain, 0, micros(now)}, spec{expiring, 1, micros(now - testTTL - 10)}, spec{expiring, 2, micros(now)}, spec{deleted, 3, micros(now)})
	r, changed := r.ConvertExpiredColumnsToTombstones()
	wantColumns(t, r, spec{plain, 0, micros(now)}, spec{deleted, 1, micros(now - 10)}, spec{expiring, 2, micros(now)}, spec{deleted, 3, micros(now)})
	if _, again := r.ConvertExpiredColumnsToTombstones(); !changed || again {
		t.Errorf("changed %t, and once more %t", changed, again)
	}
}

func TestRowValueMergeTest_Merge(t *testing.T) {
	wantColumns(t, MergeRows([]RowValue{
		testRow(spec{deleted, 0, 5}, spec{plain, 1, 8}, spec{expiring, 2, 5}),
		testRow(spec{plain, 0, 2}, spec{expiring, 1, 5}, spec{deleted, 2, 7}, spec{expiring, 7, 17}),
		testRow(spec{expiring, 0, 6}, spec{deleted, 1, 5}, spec{plain, 2, 4}, spec{deleted, 11, 11}),
	}), spec{expiring, 0, 6}, spec{plain, 1, 8}, spec{deleted, 2, 7}, spec{expiring, 7, 17}, spec{deleted, 11, 11})
}

func TestRowValueMergeTest_MergeWithRowTombstone(t *testing.T) {
	rows := []RowValue{
		testRowTombstone(11),
		testRow(spec{plain, 0, 5}, spec{plain, 1, 6}),   // before the deletion
		testRow(spec{plain, 2, 10}, spec{plain, 3, 12}), // on both sides
		testRow(spec{plain, 4, 13}, spec{plain, 5, 14}),
	}
	wantColumns(t, MergeRows(rows), spec{plain, 3, 12}, spec{plain, 4, 13}, spec{plain, 5, 14})
	r := MergeRows(append(rows, testRowTombstone(15), testRowTombstone(17)))
	if !r.IsTombstone() || r.LastModifiedTime() != 17 {
		t.Errorf("deleted %t, modified at %d", r.IsTombstone(), r.LastModifiedTime())
	}
}

// Rows that are damaged are told, kept by the filter and fail a merge.
func TestRowValue_Damaged(t *testing.T) {
	r := testRow(spec{plain, 0, 5}, spec{expiring, 1, 6})
	whole := r.Serialize(nil)
	huge := append(bytes.Clone(whole[:22]), 0x7f, 0xff, 0xff, 0xff) // the value's size
	deletedWithColumns := append(i32(1), whole[4:]...)
	for _, b := range [][]byte{nil, whole[:11], whole[:13], whole[:len(whole)-1], huge, deletedWithColumns} {
		if _, err := DeserializeRowValue(b); !rocksdb.IsCorruption(err) {
			t.Errorf("%x: %v", b, err)
		}
		if d, _, _ := NewCassandraCompactionFilter(true, 0).FilterV3(0, nil, rocksdb.CompactionFilterValue, b); d != rocksdb.FilterKeep {
			t.Errorf("%x: the filter decides %d", b, d)
		}
		m := NewCassandraValueMergeOperator(0, 0)
		if m.FullMergeV2(&rocksdb.MergeOperationInput{Operands: [][]byte{whole, b}}, &rocksdb.MergeOperationOutput{}) {
			t.Errorf("%x was merged", b)
		}
		if _, ok := m.PartialMergeMulti(nil, [][]byte{b, whole}, nil, nil); ok {
			t.Errorf("%x was merged", b)
		}
	}
}

func FuzzDeserializeRowValue(f *testing.F) {
	r := testRow(spec{plain, 0, 5}, spec{expiring, 1, 6}, spec{deleted, 2, 7})
	f.Add(r.Serialize(nil))
	d := testRowTombstone(11)
	f.Add(d.Serialize(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DeserializeRowValue(b); err == nil && !bytes.Equal(r.Serialize(nil), b) {
			t.Errorf("%x is stored as %x", b, r.Serialize(nil))
		}
	})
}

// Port of db/blob/blob_garbage_meter_test.cc.

package blob

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func blobKey(userKey string, t dbformat.ValueType) []byte {
	return dbformat.NewInternalKey([]byte(userKey), 123, t)
}

func wantFlow(t *testing.T, m *BlobGarbageMeter, number uint64, in, out BlobStats) {
	t.Helper()
	f := m.Flows()[number]
	if f == nil || f.In != in || f.Out != out || !f.IsValid() || f.HasGarbage() != (in.Count > out.Count) {
		t.Fatalf("file %d: %+v, want %+v and %+v", number, f, in, out)
	}
	if f.HasGarbage() && (f.GetGarbageCount() != in.Count-out.Count || f.GetGarbageBytes() != in.Bytes-out.Bytes) {
		t.Errorf("file %d: %d blobs of garbage, %d bytes", number, f.GetGarbageCount(), f.GetGarbageBytes())
	}
}

func TestBlobGarbageMeterTest_MeasureGarbage(t *testing.T) {
	var m BlobGarbageMeter
	stats := map[uint64]*[2]BlobStats{4: {}, 5: {}}
	for _, b := range []struct {
		userKey            string
		file, offset, size uint64
		c                  rocksdb.CompressionType
		in, out            bool
	}{
		{"key", 4, 1234, 555, rocksdb.LZ4Compression, true, true},
		{"other_key", 4, 6789, 101010, rocksdb.LZ4Compression, true, true},
		{"yet_another_key", 5, 22222, 3456, rocksdb.LZ4Compression, true, true},
		{"foo_key", 5, 77777, 8888, rocksdb.LZ4Compression, true, true},
		{"bar_key", 5, 999999, 1212, rocksdb.LZ4Compression, true, false},
		{"baz_key", 5, 1234567, 890, rocksdb.LZ4Compression, true, false},
		{"new_key", 6, 7777, 9999, rocksdb.NoCompression, false, true},
	} {
		key, value := blobKey(b.userKey, dbformat.TypeBlobIndex), blobformat.EncodeBlob(nil, b.file, b.offset, b.size, b.c)
		bytes := b.size + blobformat.CalculateAdjustmentForRecordHeader(uint64(len(b.userKey)))
		if b.in {
			if err := m.ProcessInFlow(key, value); err != nil {
				t.Fatal(err)
			}
			stats[b.file][0].Add(bytes)
		}
		if b.out {
			if err := m.ProcessOutFlow(key, value); err != nil {
				t.Fatal(err)
			}
			if s := stats[b.file]; s != nil {
				s[1].Add(bytes)
			}
		}
	}
	if len(m.Flows()) != 2 {
		t.Errorf("%d files", len(m.Flows()))
	}
	for number, s := range stats {
		wantFlow(t, &m, number, s[0], s[1])
	}
	if m.Flows()[4].HasGarbage() || m.Flows()[5].GetGarbageCount() != 2 {
		t.Errorf("file 4 has garbage: %t, file 5: %d blobs", m.Flows()[4].HasGarbage(), m.Flows()[5].GetGarbageCount())
	}
}

// both processes an entry in and out.
func both(t *testing.T, key, value []byte, wantErr bool) {
	t.Helper()
	var m BlobGarbageMeter
	if err := m.ProcessInFlow(key, value); (err != nil) != wantErr {
		t.Errorf("in: %v", err)
	}
	if err := m.ProcessOutFlow(key, value); (err != nil) != wantErr {
		t.Errorf("out: %v", err)
	}
	if len(m.Flows()) != 0 {
		t.Errorf("%d files", len(m.Flows()))
	}
}

func TestBlobGarbageMeterTest_PlainValue(t *testing.T) {
	both(t, blobKey("user_key", dbformat.TypeValue), []byte("value"), false)
}

func TestBlobGarbageMeterTest_SameFileBlobIndex(t *testing.T) {
	var same blobformat.BlobIndex
	value := blobformat.EncodeBlob(nil, blobformat.CurrentFileBlobIndexFileNumber, 123, 456, rocksdb.NoCompression)
	if err := same.DecodeFrom(value); err != nil || !same.IsSameFile() {
		t.Fatalf("%s, %v", same.DebugString(false), err)
	}
	both(t, blobKey("user_key", dbformat.TypeBlobIndex), value, false)
}

func TestBlobGarbageMeterTest_CorruptInternalKey(t *testing.T) {
	both(t, []byte("i_am_corrupt"), []byte("value"), true)
}

func TestBlobGarbageMeterTest_CorruptBlobIndex(t *testing.T) {
	both(t, blobKey("user_key", dbformat.TypeBlobIndex), []byte("i_am_not_a_blob_index"), true)
}

func TestBlobGarbageMeterTest_InlinedTTLBlobIndex(t *testing.T) {
	both(t, blobKey("user_key", dbformat.TypeBlobIndex), blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("inlined")), true)
}

func TestBlobGarbageMeterTest_WideColumnEntity(t *testing.T) {
	key := blobKey("entity_key", dbformat.TypeWideColumnEntity)
	columns := rocksdb.WideColumns{{Value: []byte("default_inline")}, {Name: []byte("blob_attr"), Value: []byte("blob_inline")},
		{Name: []byte("ttl"), Value: []byte("00000001")}}
	index := func(number, offset, size uint64) (x blobformat.BlobIndex) {
		if err := x.DecodeFrom(blobformat.EncodeBlob(nil, number, offset, size, rocksdb.NoCompression)); err != nil {
			t.Fatal(err)
		}
		return x
	}
	def, attr := index(4, 123, 555), index(5, 456, 777)
	in, err := wide.SerializeV2(nil, columns, []wide.BlobColumn{{Column: 0, Index: def}, {Column: 1, Index: attr}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := wide.SerializeV2(nil, columns, []wide.BlobColumn{{Column: 0, Index: def}})
	if err != nil {
		t.Fatal(err)
	}
	var m BlobGarbageMeter
	if err := m.ProcessInFlow(key, in); err != nil {
		t.Fatal(err)
	}
	if err := m.ProcessOutFlow(key, out); err != nil {
		t.Fatal(err)
	}
	adjustment := blobformat.CalculateAdjustmentForRecordHeader(uint64(len("entity_key")))
	if len(m.Flows()) != 2 {
		t.Errorf("%d files", len(m.Flows()))
	}
	wantFlow(t, &m, 4, BlobStats{1, 555 + adjustment}, BlobStats{1, 555 + adjustment})
	wantFlow(t, &m, 5, BlobStats{1, 777 + adjustment}, BlobStats{})
}

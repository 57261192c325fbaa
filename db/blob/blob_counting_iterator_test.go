// Port of db/blob/blob_counting_iterator_test.cc.

package blob

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestBlobCountingIteratorTest_CountBlobs(t *testing.T) {
	icmp := dbformat.NewInternalKeyComparator(util.BytewiseComparator())
	users := []string{"key0", "key1", "key2"}
	keys := [][]byte{dbformat.NewInternalKey([]byte(users[0]), 1, dbformat.TypeBlobIndex),
		dbformat.NewInternalKey([]byte(users[1]), 2, dbformat.TypeBlobIndex), dbformat.NewInternalKey([]byte(users[2]), 3, dbformat.TypeValue)}
	files, sizes := []uint64{4, 6}, []uint64{2000, 4000}
	values := [][]byte{blobformat.EncodeBlob(nil, files[0], 1000, sizes[0], rocksdb.NoCompression),
		blobformat.EncodeBlob(nil, files[1], 2000, sizes[1], rocksdb.NoCompression), []byte("raw_value")}
	var m BlobGarbageMeter
	it := NewCountingIterator(internaliter.NewVectorIterator(keys, values, icmp.Compare), &m)

	// at wants the iterator on entry i, or after the last one, with so many blobs
	// counted of each file.
	at := func(what string, i int, counts ...uint64) {
		t.Helper()
		if it.Valid() != (i < len(keys)) || it.Status() != nil {
			t.Fatalf("%s: valid is %t, %v", what, it.Valid(), it.Status())
		}
		if it.Valid() && (string(it.Key()) != string(keys[i]) || string(it.UserKey()) != users[i] || string(it.Value()) != string(values[i])) {
			t.Fatalf("%s: %q = %q", what, it.Key(), it.Value())
		}
		for j, n := range counts {
			var got BlobStats
			if f := m.Flows()[files[j]]; f != nil {
				got = f.In
			}
			each := sizes[j] + blobformat.CalculateAdjustmentForRecordHeader(uint64(len(users[j])))
			if got.Count != n || got.Bytes != n*each {
				t.Fatalf("%s: file %d has %+v, not %d blobs", what, files[j], got, n)
			}
		}
	}
	end := len(keys)
	it.SeekToFirst()
	at("SeekToFirst", 0, 1, 0)
	it.Next()
	at("Next", 1, 1, 1)
	it.Next()
	at("Next", 2, 1, 1)
	it.Next()
	at("Next", end, 1, 1)

	it.SeekToFirst()
	at("SeekToFirst", 0, 2, 1)
	for i := 1; i <= end; i++ {
		var r internaliter.IterateResult
		if ok := it.NextAndGetResult(&r); ok != (i < end) || ok && string(r.Key) != string(keys[i]) {
			t.Fatalf("NextAndGetResult to %d: %t, %q", i, ok, r.Key)
		}
		at("NextAndGetResult", i, 2, 2)
	}

	it.SeekToLast()
	at("SeekToLast", 2, 2, 2)
	it.Prev()
	at("Prev", 1, 2, 3)
	it.Prev()
	at("Prev", 0, 3, 3)
	it.Prev()
	at("Prev", end, 3, 3)

	after, before := dbformat.NewInternalKey([]byte("zzz"), 1, dbformat.TypeValue), dbformat.NewInternalKey([]byte("aaa"), 1, dbformat.TypeValue)
	it.Seek(keys[0])
	at("Seek", 0, 4, 3)
	it.Seek(keys[1])
	at("Seek", 1, 4, 4)
	it.Seek(keys[2])
	at("Seek", 2, 4, 4)
	it.Seek(after)
	at("Seek", end, 4, 4)
	it.SeekForPrev(before)
	at("SeekForPrev", end, 4, 4)
	it.SeekForPrev(keys[0])
	at("SeekForPrev", 0, 5, 4)
	it.SeekForPrev(keys[1])
	at("SeekForPrev", 1, 5, 5)
	it.SeekForPrev(keys[2])
	at("SeekForPrev", 2, 5, 5)
}

func TestBlobCountingIteratorTest_CorruptBlobIndex(t *testing.T) {
	keys := [][]byte{dbformat.NewInternalKey([]byte("user_key"), 1, dbformat.TypeBlobIndex)}
	var m BlobGarbageMeter
	it := NewCountingIterator(internaliter.NewVectorIterator(keys, [][]byte{[]byte("i_am_not_a_blob_index")}, nil), &m)
	it.SeekToFirst()
	if it.Valid() || !rocksdb.IsCorruption(it.Status()) {
		t.Errorf("valid is %t, %v", it.Valid(), it.Status())
	}
}

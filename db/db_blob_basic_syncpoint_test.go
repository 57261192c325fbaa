//go:build syncpoint

// Port of db/blob/db_blob_basic_test.cc (what needs sync points). Differs: it
// stands with the other cases of whole databases.

package db_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBBlobBasicTest_GetBlob_CorruptIndex(t *testing.T) {
	x := newBlobTest(t)
	x.puts(0, "key", "blob", "flush")
	syncpoint.SetCallBack("Version::Get::TamperWithBlobIndex", func(arg any) {
		index := arg.(*[]byte)
		*index = (*index)[1:]
	})
	syncpoint.EnableProcessing()
	_, err := x.db.Get(nil, []byte("key"))
	x.wantIs(err, rocksdb.ErrCorruption)
}

func TestDBBlobBasicTest_MultiGetBlob_CorruptIndex(t *testing.T) {
	x := newBlobTest(t)
	x.puts(0, "foo0", "blob_value0", "foo1", "blob_value1", "foo2", "blob_value2", "key", "blob", "flush")
	syncpoint.SetCallBack("Version::MultiGet::TamperWithBlobIndex", func(arg any) {
		if k := arg.(*table.KeyContext); string(k.Key) == "key" {
			k.Value.PinSelf(append([]byte(nil), k.Value.Data()[1:]...))
		}
	})
	syncpoint.EnableProcessing()
	values, errs := x.multiGetRaw(0, rocksdb.DefaultReadOptions(), "foo0", "foo1", "foo2", "key")
	for i, want := range []string{"blob_value0", "blob_value1", "blob_value2"} {
		x.must(errs[i])
		same(x, "value", values[i], want)
	}
	x.wantIs(errs[3], rocksdb.ErrCorruption)
}

// A table that cannot be opened does not keep the blobs of other tables away.
func TestDBBlobBasicTest_MultiGetFindTable_IOError(t *testing.T) {
	x := newBlobTest(t)
	x.full().TestTableCache().SetCapacity(0) // every read opens its tables
	x.puts(0, "key1", "blob1", "flush", "key2", "blob2", "flush")
	var opened atomic.Int32
	syncpoint.SetCallBack("TableCache::MultiGet:FindTable", func(arg any) {
		if opened.Add(1) == 2 {
			*arg.(*error) = contract.IOError("injected")
		}
	})
	syncpoint.EnableProcessing()
	values, errs := x.multiGetRaw(0, rocksdb.DefaultReadOptions(), "key1", "key2")
	x.wantIs(errs[0], rocksdb.ErrIOError)
	x.must(errs[1])
	same(x, "value", values[1], "blob2")
}

// Blobs of one file are asked for in the order of their places, so that direct
// reads that touch become one.
func TestDBBlobBasicTest_MultiGetWithDirectIO(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	table := x.dir + "/test.sst"
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	x.must(w.Open(table, contract.TemperatureUnknown))
	x.must(w.Put([]byte("b"), []byte("b_value")))
	x.must(w.Finish(nil))
	o.EnableBlobFiles, o.MinBlobSize, o.UseDirectReads, o.AllowIngestBehind = true, 1000, true, true
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(1)
	x.reopenDirect(o)
	a, b, d := strings.Repeat("a", 3000), strings.Repeat("b", 6000), strings.Repeat("d", 3000)
	x.puts(0, "a", a, "b", b, "d", d, "flush", "c", strings.Repeat("c", 3000), "flush")
	x.compact(0, "", "")
	same(x, "files of level 1", x.numTableFilesAtLevel(1, 0), 4)
	io := rocksdb.DefaultIngestExternalFileOptions()
	io.IngestBehind = true
	x.must(x.db.IngestExternalFile([]string{table}, &io))
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&cro, []byte("b"), []byte("b")))
	same(x, "files of level 1", x.numTableFilesAtLevel(1, 0), 3)
	same(x, "files of level 6", x.numTableFilesAtLevel(6, 0), 1)
	var reads atomic.Int32
	syncpoint.SetCallBack("RandomAccessFileReader::MultiRead:AlignedReqs", func(arg any) {
		reads.Add(1)
		if n := len(*arg.(*[]contract.FSReadRequest)); n != 1 {
			t.Errorf("%d reads at once", n)
		}
	})
	syncpoint.EnableProcessing()
	x.wantMultiGet(rocksdb.DefaultReadOptions(), "a", a, "d", d, "b", b)
	if reads.Load() == 0 {
		t.Error("no reads at once")
	}
}

// eachIOError runs f with file systems that fail from a sync point on; begin makes
// the sync point act.
func eachIOError(t *testing.T, points []string, f func(x *dbTest, begin func(skip int32)), change ...func(o *rocksdb.Options)) {
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			x := newBlobTest(t, change...)
			t.Cleanup(func() { x.fault.SetFilesystemActive(true, nil) })
			f(x, func(skip int32) {
				var n atomic.Int32
				syncpoint.SetCallBack("BlobFileReader::"+point, func(any) {
					if n.Add(1) > skip {
						x.fault.SetFilesystemActive(false, contract.IOError(point))
					}
				})
				syncpoint.EnableProcessing()
			})
		})
	}
}

var blobReadPoints = []string{"OpenFile:NewRandomAccessFile", "GetBlob:ReadFromFile"}

var blobBatchReadPoints = []string{"OpenFile:NewRandomAccessFile", "MultiGetBlob:ReadFromFile"}

func TestDBBlobBasicIOErrorTest_GetBlob_IOError(t *testing.T) {
	eachIOError(t, blobReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "key", "blob_value", "flush")
		begin(0)
		_, err := x.db.Get(nil, []byte("key"))
		x.wantIs(err, rocksdb.ErrIOError)
	})
}

func TestDBBlobBasicIOErrorMultiGetTest_MultiGetBlobs_IOError(t *testing.T) {
	eachIOError(t, blobBatchReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "first_key", "first_value", "second_key", "second_value", "flush")
		begin(0)
		_, errs := x.multiGetRaw(0, rocksdb.DefaultReadOptions(), "first_key", "second_key")
		x.wantIs(errs[0], rocksdb.ErrIOError)
		x.wantIs(errs[1], rocksdb.ErrIOError)
	})
}

func TestDBBlobBasicIOErrorMultiGetTest_MultipleBlobFiles(t *testing.T) {
	eachIOError(t, blobBatchReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "key1", "blob1", "flush", "key2", "blob2", "flush")
		begin(1)
		values, errs := x.multiGetRaw(0, rocksdb.DefaultReadOptions(), "key1", "key2")
		x.must(errs[0])
		same(x, "value", values[0], "blob1")
		x.wantIs(errs[1], rocksdb.ErrIOError)
	})
}

func TestDBBlobBasicIOErrorTest_CompactionFilterReadBlob_IOError(t *testing.T) {
	eachIOError(t, blobReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "foo", "foo_blob_value", "flush")
		begin(0)
		x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrIOError)
	}, padded("").set)
}

// The error of a read is not taken for a corruption.
func TestDBBlobBasicIOErrorTest_GetEntityMergeWithBlobBaseIOError(t *testing.T) {
	eachIOError(t, blobReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "key", "base_value", "flush")
		x.mustMerge(0, "key", "merge_operand")
		x.flush(0)
		begin(0)
		var p contract.PinnableWideColumns
		x.wantIs(x.db.GetEntity(nil, []byte("key"), &p), rocksdb.ErrIOError)
		_, err := x.db.Get(nil, []byte("key"))
		x.wantIs(err, rocksdb.ErrIOError)
	}, appending)
}

func TestDBBlobBasicIOErrorTest_IterateBlobsAllowUnpreparedValue_IOError(t *testing.T) {
	eachIOError(t, blobReadPoints, func(x *dbTest, begin func(int32)) {
		x.puts(0, "key", "blob_value", "flush")
		begin(0)
		ro := rocksdb.DefaultReadOptions()
		ro.AllowUnpreparedValue = true
		it := x.db.NewIterator(&ro)
		defer it.Close()
		it.SeekToFirst()
		if !it.Valid() || string(it.Key()) != "key" || len(it.Value()) != 0 || it.Err() != nil {
			x.Fatalf("%q = %q, %v", it.Key(), it.Value(), it.Err())
		}
		if it.PrepareValue() || it.Valid() {
			x.Error("a value that cannot be read")
		}
		x.wantIs(it.Err(), rocksdb.ErrIOError)
	})
}

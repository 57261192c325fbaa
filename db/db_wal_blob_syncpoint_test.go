//go:build syncpoint

// Port of db/db_wal_test.cc (recovery that writes blob files).

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// unflushed writes and checks that there is no file yet.
func (x *dbTest) unflushed(keys map[string]string) {
	x.Helper()
	for k, v := range keys {
		x.mustPut(0, k, v)
	}
	if s := x.storage(0); s.NumNonEmptyLevels() != 0 || len(s.GetBlobFiles()) != 0 {
		x.Fatal("there are files already")
	}
}

func (x *dbTest) recoveryBlobOptions() rocksdb.Options {
	o := x.defaultOptions()
	o.EnableBlobFiles = true
	o.AvoidFlushDuringRecovery = false
	o.DisableAutoCompactions = true
	return o
}

func TestDBWALTest_RecoverWithBlob(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key1", "short")
	x.unflushed(map[string]string{"key2": "long_value"})
	o := x.recoveryBlobOptions()
	o.MinBlobSize = 10
	x.reopen(o)
	x.wantGet(0, "key1", "short")
	x.wantGet(0, "key2", "long_value")

	s := x.storage(0)
	tables, blobs := s.LevelFiles(0), s.GetBlobFiles()
	if len(tables) != 1 || len(blobs) != 1 {
		t.Fatalf("%d tables, %d blob files", len(tables), len(blobs))
	}
	f, b := tables[0], blobs[0]
	if string(f.Smallest.UserKey()) != "key1" || string(f.Largest.UserKey()) != "key2" ||
		f.FD.SmallestSeqno != 1 || f.FD.LargestSeqno != 2 || f.OldestBlobFileNumber != b.GetBlobFileNumber() {
		t.Errorf("table %s … %s, sequence numbers %d … %d, oldest blob file %d", f.Smallest.UserKey(), f.Largest.UserKey(),
			f.FD.SmallestSeqno, f.FD.LargestSeqno, f.OldestBlobFileNumber)
	}
	if b.GetTotalBlobCount() != 1 {
		t.Errorf("%d blobs", b.GetTotalBlobCount())
	}
	is := x.full().DefaultColumnFamily().CFD().InternalStats()
	c := is.TESTGetCompactionStats()[0]
	if c.BytesWritten != f.FD.GetFileSize() || c.BytesWrittenBlob != b.GetTotalBlobBytes() || c.NumOutputFiles != 1 || c.NumOutputFilesBlob != 1 {
		t.Errorf("stats of level 0: %+v", c)
	}
	if flushed := is.GetCFStats(db.BytesFlushed); flushed != c.BytesWritten+c.BytesWrittenBlob {
		t.Errorf("%d bytes flushed", flushed)
	}
}

func TestDBWALTest_RecoverWithBlobMultiSST(t *testing.T) {
	x := newDBTest(t)
	large := dummyString(1<<12, 'a')
	keys := map[string]string{}
	for i := range 64 {
		keys[key(i)] = large
	}
	x.unflushed(keys)
	o := x.recoveryBlobOptions()
	o.WriteBufferSize = 1 << 16
	x.reopen(o)
	for k := range keys {
		x.wantGet(0, k, large)
	}
	s := x.storage(0)
	if n := len(s.LevelFiles(0)); n <= 1 || len(s.GetBlobFiles()) != n {
		t.Errorf("%d tables, %d blob files", n, len(s.GetBlobFiles()))
	}
}

func TestDBRecoveryTestBlobError_RecoverWithBlobError(t *testing.T) {
	for _, point := range []string{"BlobFileBuilder::WriteBlobToFile:AddRecord", "BlobFileBuilder::WriteBlobToFile:AppendFooter"} {
		t.Run(point, func(t *testing.T) {
			x := newDBTest(t)
			x.mustPut(0, "key", "blob")
			syncpoint.SetCallBack(point, func(arg any) { *arg.(*error) = rocksdb.IOError(point) })
			syncpoint.EnableProcessing()
			defer syncpoint.ClearAllCallBacks()
			defer syncpoint.DisableProcessing()
			if err := x.tryReopen(x.recoveryBlobOptions()); err == nil {
				t.Fatal("opened")
			}
			for _, kind := range []rocksdb.FileType{rocksdb.TableFile, rocksdb.BlobFile} {
				if files := x.files(kind); len(files) != 0 {
					t.Error(fmt.Sprint("left: ", files))
				}
			}
		})
	}
}

// Port of db/blob/blob_file_builder_test.cc, the cases that need sync points.

//go:build syncpoint

package blob

import (
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestBlobFileBuilderIOErrorTest_IOError(t *testing.T) {
	for _, point := range []string{"OpenBlobFileIfNeeded:NewWritableFile", "OpenBlobFileIfNeeded:WriteHeader",
		"WriteBlobToFile:AddRecord", "WriteBlobToFile:AppendFooter"} {
		t.Run(point, func(t *testing.T) {
			b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) { cf.BlobFileSize = 8 })
			t.Cleanup(syncpoint.Reset)
			syncpoint.SetCallBack("BlobFileBuilder::"+point, func(arg any) { *arg.(*error) = rocksdb.IOError(point) })
			syncpoint.EnableProcessing()
			if _, err := b.b.Add([]byte("1"), []byte("deadbeef")); !rocksdb.IsIOError(err) {
				t.Errorf("got %v", err)
			}
			syncpoint.DisableProcessing()
			want := []string{b.path(2)}
			if point == "OpenBlobFileIfNeeded:NewWritableFile" {
				want = nil
			}
			if !slices.Equal(b.b.Paths(), want) || len(b.b.Additions()) != 0 {
				t.Errorf("paths %v, %d additions", b.b.Paths(), len(b.b.Additions()))
			}
			b.b.Abandon(rocksdb.IOError(point))
		})
	}
}

func TestBlobFileBuilderTest_CompressionError(t *testing.T) {
	b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
		cf.BlobCompressionType = rocksdb.SnappyCompression
	})
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack("BlobFileBuilder::CompressBlobIfNeeded:TamperWithReturnValue", func(arg any) {
		*arg.(*error) = rocksdb.Corruption("tampered with")
	})
	syncpoint.EnableProcessing()
	if index, err := b.b.Add([]byte("1"), []byte("deadbeef")); index != nil || !rocksdb.IsCorruption(err) {
		t.Errorf("index %x, %v", index, err)
	}
	if !slices.Equal(b.b.Paths(), []string{b.path(2)}) || len(b.b.Additions()) != 0 {
		t.Errorf("paths %v, %d additions", b.b.Paths(), len(b.b.Additions()))
	}
	b.b.Abandon(nil)
}

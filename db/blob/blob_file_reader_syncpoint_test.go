// Port of db/blob/blob_file_reader_test.cc, the cases that fail a read or
// tamper with what it gave through a sync point.

//go:build syncpoint

package blob

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

func TestBlobFileReaderDecodingErrorTest_DecodingError(t *testing.T) {
	for _, point := range []string{"ReadHeader", "ReadFooter", "GetBlob"} {
		t.Run(point, func(t *testing.T) {
			b := newBlobTest(t)
			at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")[0]
			t.Cleanup(syncpoint.Reset)
			syncpoint.SetCallBack("BlobFileReader::"+point+":TamperWithResult", func(arg any) {
				data := arg.(*[]byte)
				*data = (*data)[:len(*data)-1]
			})
			syncpoint.EnableProcessing()
			r, err := b.open(testFamily)
			if point == "GetBlob" {
				b.noErr(err)
				defer r.Close()
				var value []byte
				if value, _, err = r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression, nil); value != nil {
					t.Errorf("got %q", value)
				}
			}
			b.wantCorruption(err)
		})
	}
}

func TestBlobFileReaderIOErrorTest_IOError(t *testing.T) {
	for _, point := range []string{"OpenFile:NewRandomAccessFile", "ReadHeader:ReadFromFile", "ReadFooter:ReadFromFile", "GetBlob:ReadFromFile"} {
		t.Run(point, func(t *testing.T) {
			b := newBlobTest(t)
			at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")[0]
			fs := fsutil.NewFaultInjectionTestFS(b.io.FS)
			b.io.FS = fs
			t.Cleanup(syncpoint.Reset)
			syncpoint.SetCallBack("BlobFileReader::"+point, func(any) { fs.SetFilesystemActive(false, rocksdb.IOError(point)) })
			syncpoint.EnableProcessing()
			r, err := b.open(testFamily)
			if point == "GetBlob:ReadFromFile" {
				b.noErr(err)
				defer r.Close()
				var value []byte
				var n uint64
				if value, n, err = r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression, nil); value != nil || n != 0 {
					t.Errorf("got %q, %d bytes", value, n)
				}
			}
			if !rocksdb.IsIOError(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

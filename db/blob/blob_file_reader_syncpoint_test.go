// Port of db/blob/blob_file_reader_test.cc, the cases that tamper with what was
// read through a sync point.

//go:build syncpoint

package blob

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
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
				if value, _, err = r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression); value != nil {
					t.Errorf("got %q", value)
				}
			}
			b.wantCorruption(err)
		})
	}
}

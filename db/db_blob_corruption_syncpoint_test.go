//go:build syncpoint

// Port of db/blob/db_blob_corruption_test.cc. Differs: it stands with the other
// cases of whole databases.

package db_test

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBBlobCorruptionTest_VerifyWholeBlobFileChecksum(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles, o.MinBlobSize = true, 0
	o.FileChecksumGenFactory = rocksdb.GetFileChecksumGenCrc32cFactory()
	x.reopen(o)
	x.puts(0, "key_1", "blob_value_1", "flush", "key_2", "blob_value_2", "flush")
	x.must(x.db.VerifyFileChecksums(nil))
	x.close()

	blobs := x.files(rocksdb.BlobFile)
	newest := blobs[len(blobs)-1]
	data, err := os.ReadFile(newest)
	x.must(err)
	data[0] ^= 0x80
	data[1] ^= 0x80
	x.must(os.WriteFile(newest, data, 0o644))
	x.reopen(o)
	var mismatches atomic.Int64
	syncpoint.SetCallBack("DBImpl::VerifyFullFileChecksum:mismatch", func(arg any) {
		mismatches.Add(1)
		if err, _ := arg.(*error); err == nil || *err == nil {
			t.Errorf("a mismatch that is no error: %v", arg)
		}
	})
	syncpoint.EnableProcessing()
	x.wantIs(x.db.VerifyFileChecksums(nil), rocksdb.ErrCorruption)
	if n := mismatches.Load(); n != 1 {
		t.Errorf("%d mismatches", n)
	}
}

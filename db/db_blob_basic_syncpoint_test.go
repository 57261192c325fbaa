//go:build syncpoint

// Port of db/blob/db_blob_basic_test.cc (what needs sync points). Differs: it
// stands with the other cases of whole databases.

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
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

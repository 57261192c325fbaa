//go:build syncpoint

// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc (what
// needs sync points).

package writebatchwithindex_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestWriteBatchWithIndexTest_NewIteratorWithBaseMergePrepareValue(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.o.EnableBlobFiles = true // so that PrepareValue has something to do
		x.open()
		x.dbDo("put a aa", "put c cc", "put e ee")
		x.must(x.db.Flush(nil))
		x.do(x.cf(), "merge a aa1", "merge c cc1", "merge e ee1")
		base := x.ro
		base.AllowUnpreparedValue = true
		it := x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&base), &x.ro)
		x.walk(it, "first -> a=aa,aa1", "next -> c=cc,cc1", "next -> e=ee,ee1", "next -> -",
			"last -> e=ee,ee1", "prev -> c=cc,cc1", "prev -> a=aa,aa1", "prev -> -")
		x.must(it.Close())

		syncpoint.SetCallBack("BlobFileReader::GetBlob:TamperWithResult", func(arg any) {
			record := arg.(*[]byte)
			*record = (*record)[1:]
		})
		syncpoint.EnableProcessing()
		defer func() {
			syncpoint.DisableProcessing()
			syncpoint.ClearAllCallBacks()
		}()
		it = x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&base), &x.ro)
		x.walk(it, "first -> "+corruption, "last -> "+corruption)
		x.must(it.Close())
	})
}

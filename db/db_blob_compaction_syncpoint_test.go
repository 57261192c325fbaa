//go:build syncpoint

// Port of db/blob/db_blob_compaction_test.cc (what needs sync points). Differs: it
// stands with the other cases of whole databases.

package db_test

import (
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBBlobCompactionTest_SkipUntilFilter(t *testing.T) {
	skip := blobFilter(func([]byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		return rocksdb.FilterRemoveAndSkipUntil, nil, []byte("z")
	})
	x := newBlobTest(t, skip.set)
	x.puts(0, "a", "a_value", "b", "b_value", "c", "c_value", "flush")
	var counted atomic.Int32
	syncpoint.SetCallBack("BlobCountingIterator::UpdateAndCountBlobIfNeeded:ProcessInFlow", func(any) { counted.Add(1) })
	syncpoint.EnableProcessing()
	x.compact(0, "", "")
	syncpoint.DisableProcessing()
	for _, k := range []string{"a", "b", "c"} {
		x.wantGet(0, k, "NOT_FOUND")
	}
	same(x, "entries gone over", counted.Load(), 3) // not by a seek
}

func TestDBBlobCompactionTest_CorruptedBlobIndex(t *testing.T) {
	x := newBlobTest(t, padded("").set)
	x.puts(0, "key", "blob", "flush")
	syncpoint.SetCallBack("CompactionIterator::InvokeFilterIfNeeded::TamperWithBlobIndex", func(arg any) {
		index := arg.(*[]byte)
		*index = (*index)[1:]
	})
	syncpoint.EnableProcessing()
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrCorruption)
}

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

// compactWithReadahead compacts and wants all blobs read through a prefetch
// buffer.
func (x *dbTest) compactWithReadahead() {
	x.Helper()
	var others atomic.Int32
	syncpoint.SetCallBack("BlobFileReader::GetBlob:ReadFromFile", func(any) { others.Add(1) })
	syncpoint.EnableProcessing()
	x.compact(0, "", "")
	syncpoint.DisableProcessing()
	same(x, "blobs read one by one", others.Load(), 0)
	x.wantBlobBytes(true, true)
}

func readahead(o *rocksdb.Options) {
	o.BlobCompactionReadaheadSize, o.DisableAutoCompactions = 1<<10, true
}

func TestDBBlobCompactionTest_CompactionReadaheadGarbageCollection(t *testing.T) {
	x := newBlobTest(t, readahead, func(o *rocksdb.Options) {
		o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 1
	})
	x.puts(0, "key", "lime", "foo", "bar", "flush", "key", "pie", "foo", "baz", "flush")
	x.compactWithReadahead()
	x.wantGet(0, "key", "pie")
	x.wantGet(0, "foo", "baz")
}

func TestDBBlobCompactionTest_CompactionReadaheadFilter(t *testing.T) {
	x := newBlobTest(t, readahead, padded("pie").set)
	x.puts(0, "key", "lime", "foo", "bar", "flush")
	x.compactWithReadahead()
	x.wantGet(0, "key", "limepie")
	x.wantGet(0, "foo", "barpie")
}

func TestDBBlobCompactionTest_CompactionReadaheadMerge(t *testing.T) {
	x := newBlobTest(t, readahead, appending)
	x.puts(0, "key", "lime", "foo", "bar", "flush")
	x.mustMerge(0, "key", "pie")
	x.mustMerge(0, "foo", "baz")
	x.flush(0)
	x.compactWithReadahead()
	x.wantGet(0, "key", "lime,pie")
	x.wantGet(0, "foo", "bar,baz")
}

//go:build syncpoint

// Port of db/blob/db_blob_index_test.cc (blobs embedded in table files that cannot
// be read).

package db_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// failEmbeddedBlobs makes reads of embedded blobs fail while f runs.
func failEmbeddedBlobs(err error, f func()) {
	syncpoint.SetCallBack("BlockBasedTable::MaybeResolveEmbeddedValue:InjectError", func(arg any) { *arg.(*error) = err })
	syncpoint.EnableProcessing()
	f()
	syncpoint.Reset()
}

// compactionFails wants a compaction of an entity that cannot be read to fail by
// the error of the read.
func compactionFails(t *testing.T, e blobEntity) {
	x := newEmbeddedTest(t)
	x.ingestEmbedded(e)
	x.puts(0, "k1", "v1", "k3", "v3", "flush") // so that it is no move of the table
	failEmbeddedBlobs(contract.IOError("injected embedded blob read error"), func() {
		err := x.db.CompactRange(nil, nil, nil)
		x.wantIs(err, rocksdb.ErrIOError)
		if strings.Contains(err.Error(), "Invalid blob file number") {
			t.Error(err)
		}
	})
}

func TestDBBlobIndexTest_EmbeddedBlobResolveErrorDuringCompactionNotMasked(t *testing.T) {
	compactionFails(t, blobEntity{"k2", columns("", "d", "big", strings.Repeat("c", 1024))})
}

func TestDBBlobIndexTest_EmbeddedBlobResolveErrorWholeValueDuringCompactionNotMasked(t *testing.T) {
	compactionFails(t, blobValue("k2", strings.Repeat("b", 1024)))
}

func TestDBBlobIndexTest_EmbeddedBlobWideColumnGetEntityCorruptionSurfaced(t *testing.T) {
	x := newEmbeddedTest(t)
	x.ingestEmbedded(blobEntity{"k", columns("", "d", "big", strings.Repeat("Z", 1024))})
	failEmbeddedBlobs(contract.Corruption("injected embedded blob error"), func() {
		var p contract.PinnableWideColumns
		x.wantIs(x.db.GetEntity(nil, []byte("k"), &p), rocksdb.ErrCorruption)
	})
}

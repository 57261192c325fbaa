//go:build syncpoint

// Port of table/sst_file_reader_test.cc (the case with a sync point).

package table_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestSstFileReaderTest_VerifyNumEntriesCorruption(t *testing.T) {
	x := newSstReaderTest(t)
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack("PropertyBlockBuilder::AddTableProperty:Start", func(arg any) {
		arg.(*rocksdb.TableProperties).NumEntries = 101
	})
	syncpoint.EnableProcessing()
	x.createFile(numbered(asUint64)[:99])
	err := x.open(x.name).VerifyNumEntries(nil)
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(),
		"Table property expects 101 entries when excluding range deletions, but scanning the table returned 99 entries") {
		t.Error(err)
	}
}

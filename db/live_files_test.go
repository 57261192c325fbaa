// No upstream twin: logs in the list of live files.

package db_test

import (
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// TestLiveFiles_LogNotClosedYet: a log that is complete and synced, and still open
// until the next job deletes files, is to be copied. To link a file that is open
// for writing is refused by some file systems.
func TestLiveFiles_LogNotClosedYet(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.currentOptions())
	x.mustPut(0, key(1), "val1")
	x.must(x.full().TestSwitchMemtable(nil))
	x.mustPut(0, key(2), "val2")
	x.must(x.db.SyncWAL())
	if n := x.full().TestLogsToFree(); n != 1 {
		t.Fatalf("%d logs wait to be closed", n)
	}
	files, err := x.db.GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{WALSizeForFlush: math.MaxUint64})
	x.must(err)
	logs := 0
	for i := range files {
		if f := &files[i]; f.FileType == rocksdb.WalFile {
			logs++
			if !f.TrimToSize || f.Size == 0 {
				t.Errorf("%s, %d bytes, may be linked", f.RelativeFilename, f.Size)
			}
		}
	}
	same(t, "logs", logs, 2)
}

//go:build syncpoint

// Port of db/options_file_test.cc.

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestOptionsFileTest_ObsoleteOptionsFilesPurgedInBackgroundOnOpen(t *testing.T) {
	defer syncpoint.Reset()
	dir, o := freshOptions(t)
	makeStaleOptionsFiles(t, dir, o)
	o.CreateIfMissing = false
	o.AvoidUnnecessaryBlockingIO = true
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "Test:ReleasePurge", Successor: "DBImpl::BGWorkPurge:start"})
	syncpoint.EnableProcessing()
	d := openForOptions(t, dir, o)
	defer d.Close()
	if n := len(optionsFiles(t, dir)); n <= 2 {
		t.Errorf("Open left %d OPTIONS files", n)
	}
	syncpoint.Process("Test:ReleasePurge")
	d.Impl().TestWaitForPurge()
	if n := len(optionsFiles(t, dir)); n > 2 {
		t.Errorf("%d OPTIONS files", n)
	}
	// With the database open, too.
	for range 3 {
		if err := d.SetOptions(map[string]string{"level0_file_num_compaction_trigger": "9"}); err != nil {
			t.Fatal(err)
		}
	}
	d.Impl().TestWaitForPurge()
	if n := len(optionsFiles(t, dir)); n > 2 {
		t.Errorf("%d OPTIONS files after SetOptions", n)
	}
}

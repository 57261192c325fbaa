// Port of db/obsolete_files_test.cc (fixture and the cases without sync points).
// Differs: 2000 keys of upstream's 50000 a file.

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// newObsoleteFilesTest is newDelTest's database, which compacts two tables of
// level 0.
func newObsoleteFilesTest(t *testing.T) (delTest, rocksdb.Options) {
	t.Helper()
	return newDelTest(t, func(o *rocksdb.Options) {
		o.Level0FileNumCompactionTrigger, o.DisableAutoCompactions = 2, false
		o.StatsDumpPeriodSec = 0
	})
}

func (x delTest) createLevel0Files(files, keys int) {
	x.Helper()
	for i := range files {
		x.addKeys(keys, i*keys)
		x.must(x.full().TestFlushMemTable(true, false, x.cf(0).Impl()))
		x.must(x.full().TestWaitForCompact())
	}
}

func TestObsoleteFilesTest_DeleteObsoleteOptionsFile(t *testing.T) {
	x, o := newObsoleteFilesTest(t)
	x.createLevel0Files(2, 2000)
	x.wantCounts(o.WALDir, 1, 0, 0)
	x.must(x.db.DisableFileDeletions())
	for i := range 4 {
		value := "true"
		if i%2 == 1 {
			value = "false"
		}
		x.must(x.db.SetOptions(map[string]string{"paranoid_file_checks": value}))
	}
	x.must(x.db.EnableFileDeletions())
	x.close()
	if n := x.countFiles(rocksdb.OptionsFile); n != 2 {
		t.Errorf("%d OPTIONS files", n)
	}
}

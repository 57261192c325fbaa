// Port of db/deletefile_test.cc (fixture and the case without sync points).
// Differs: 2000 keys of upstream's 50000 a file; no enable_thread_tracking, which
// nothing here looks at.

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
)

// delTest is a database whose logs are in a directory below it, and which looks
// for obsolete files at every chance.
type delTest struct{ *dbTest }

func newDelTest(t *testing.T, change ...func(o *rocksdb.Options)) (delTest, rocksdb.Options) {
	t.Helper()
	x := delTest{newDBTest(t)}
	o := x.currentOptions()
	o.DeleteObsoleteFilesPeriodMicros = 0
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 1000<<20, 1000<<20, 1000<<20
	o.WALTTLSeconds, o.WALSizeLimitMB = 300, 1024
	o.WALDir = filepath.Join(x.dir, "wal_files")
	for _, f := range change {
		f(&o)
	}
	x.destroyAndReopen(o)
	return x, o
}

func (x delTest) addKeys(n, from int) {
	x.Helper()
	for i := from; i < from+n; i++ {
		k := []byte(fmt.Sprint(i))
		x.must(x.db.Put(nil, k, k))
	}
}

// createTwoLevels leaves a table in each of levels 1 and 2 with the same keys.
func (x delTest) createTwoLevels() {
	x.Helper()
	write := func(levels int) {
		x.addKeys(2000, 10000)
		x.must(x.full().TestFlushMemTable(true, false, x.cf(0).Impl()))
		x.must(x.full().TestWaitForFlushMemTable(x.cf(0).Impl()))
		for l := range levels {
			x.must(x.full().TestCompactRange(l, nil, nil, x.cf(0).Impl(), false))
		}
	}
	write(2)
	write(1)
}

// compactToLevel2 compacts all keys.
func (x delTest) compactToLevel2() {
	x.Helper()
	co := rocksdb.DefaultCompactRangeOptions()
	co.ChangeLevel, co.TargetLevel = true, 2
	x.must(x.db.CompactRange(&co, []byte("0"), []byte("999999")))
}

// wantCounts counts a directory's logs, tables and MANIFESTs; -1 is any.
func (x delTest) wantCounts(dir string, logs, tables, manifests int) {
	x.Helper()
	entries, err := os.ReadDir(dir)
	x.must(err)
	got := map[rocksdb.FileType]int{}
	for _, e := range entries {
		if p, ok := filename.ParseFileName(e.Name(), ""); ok {
			got[p.Type]++
		}
	}
	for typ, want := range map[rocksdb.FileType]int{rocksdb.WalFile: logs, rocksdb.TableFile: tables, rocksdb.DescriptorFile: manifests} {
		if want >= 0 && got[typ] != want {
			x.Fatalf("%d files of type %v in %s, not %d", got[typ], typ, filepath.Base(dir), want)
		}
	}
}

func (x delTest) wantTables(n int) { x.Helper(); x.wantCounts(x.dir, 0, n, 1) }

// purgingIterator makes an iterator whose files are deleted in the background.
func (x delTest) purgingIterator() *rocksdb.Iterator {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.BackgroundPurgeOnIteratorCleanup = true
	it := x.db.NewIterator(&ro)
	x.must(it.Status())
	ro.BackgroundPurgeOnIteratorCleanup = false // the iterator has a copy
	return it
}

func TestDeleteFileTest_PurgeObsoleteFilesTest(t *testing.T) {
	x, o := newDelTest(t)
	x.createTwoLevels()
	x.wantCounts(o.WALDir, 1, 0, 0)
	x.wantTables(2)
	x.compactToLevel2()
	x.wantTables(1)

	x.reopen(o)
	x.createTwoLevels()
	it := x.db.NewIterator(nil)
	x.must(it.Status())
	x.compactToLevel2()
	x.must(it.Status())
	x.wantTables(3)
	x.must(it.Close())
	x.wantTables(1)
}

func TestDeleteFileTest_BackgroundPurgeIteratorTest(t *testing.T) {
	x, _ := newDelTest(t)
	x.createTwoLevels()
	it := x.purgingIterator()
	x.compactToLevel2()
	x.wantTables(3)
	wake := sleepingTask(x.env, rocksdb.HighPriority)
	x.must(it.Close())
	// Nothing is deleted by the one who closes the iterator.
	x.wantTables(3)
	wake()
	sleepingTask(x.env, rocksdb.HighPriority)()
	x.wantTables(1)
}

func TestDeleteFileTest_BackgroundPurgeCopyOptions(t *testing.T) {
	x, _ := newDelTest(t)
	x.createTwoLevels()
	it := x.purgingIterator()
	x.compactToLevel2()
	x.wantTables(3)
	x.must(it.Close())
	sleepingTask(x.env, rocksdb.HighPriority)()
	x.wantTables(1)
}

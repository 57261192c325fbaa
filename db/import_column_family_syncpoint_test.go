//go:build syncpoint

// Port of db/import_column_family_test.cc (the case that needs sync points).

package db_test

import (
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestImportColumnFamilyTest_AssignEpochNumberToMultipleCF(t *testing.T) {
	x := newImportTest(t, nil)
	x.env.SetBackgroundThreads(2, rocksdb.LowPriority)
	x.o.LevelCompactionDynamicLevelBytes = true
	x.o.MaxBackgroundJobs = 8
	// Compactions run side by side.
	x.o.SoftPendingCompactionBytesLimit = 10
	x.destroyAndReopen(x.o)
	x.createAndReopenWithCF([]string{"CF1", "CF2"}, x.o)
	flushBoth := func() {
		x.flush(1)
		x.flush(2)
	}
	for _, from := range []int{100, 0} {
		x.putAll(x.cf(1), from, from+100, "_val")
		x.putAll(x.cf(2), 1000+from, 1100+from, "_val")
		flushBoth()
	}
	x.moveFilesToLevel(6, 1)
	x.moveFilesToLevel(6, 2)
	x.putAll(x.cf(1), 100, 200, "_val")
	x.flush(1)
	x.putAll(x.cf(2), 1020, 1030, "_val")
	x.flush(2)
	for i := 0; i < 20; i += 10 {
		x.putAll(x.cf(1), i, i+10, "_val")
		x.putAll(x.cf(2), 1000+i, 1010+i, "_val")
		flushBoth()
	}
	m1, m2 := x.export(x.db, x.cf(1)), x.export(x.db, x.cf(2))
	var n atomic.Int32
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:NonTrivial:BeforeRun", func(any) {
		if n.Add(1) == 1 {
			syncpoint.Process("WaitForSecondCompaction")
		}
	})
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::BackgroundCompaction:AfterCompaction", Successor: "WaitForSecondCompaction"})
	seen := map[uint64]int{}
	syncpoint.EnableProcessing()
	cf := x.imports("CF3", false, m1, m2)
	x.must(x.db.WaitForCompact(nil))
	syncpoint.Reset()
	for _, l := range cf.GetColumnFamilyMetaData(nil).Levels {
		for _, f := range l.Files {
			if l.Level == 0 {
				seen[f.EpochNumber]++
			}
		}
	}
	for e, k := range seen {
		if k > 1 {
			t.Errorf("%d files of level 0 have the epoch number %d", k, e)
		}
	}
	for i := range 200 {
		x.wantRead(cf, key(i), key(i)+"_val")
		x.wantRead(cf, key(1000+i), key(1000+i)+"_val")
	}
}

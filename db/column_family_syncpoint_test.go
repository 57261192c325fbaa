//go:build syncpoint

// Port of db/column_family_test.cc, the cases that need sync points.

package db_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const afterRun = "DBImpl::BackgroundCompaction:NonTrivial:AfterRun"

// inOrder orders sync points: each pair is "before", "after".
func inOrder(pairs ...[2]string) {
	var list []syncpoint.Pair
	for _, p := range pairs {
		list = append(list, syncpoint.Pair{Predecessor: p[0], Successor: p[1]})
	}
	syncpoint.LoadDependency(list...)
}

func endSyncPoints() {
	syncpoint.DisableProcessing()
	syncpoint.ClearAllCallBacks()
}

// beside runs f in a goroutine; the result waits for it.
func (x *cfTest) beside(f func() error) (wait func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := f(); err != nil {
			x.Error(err)
		}
	})
	return wg.Wait
}

// onCompactions passes the points of the first compaction's end, and then those
// of the second one's.
func onCompactions(first, second []string) {
	var n atomic.Int32
	syncpoint.SetCallBack(afterRun, func(any) {
		var points []string
		switch n.Add(1) {
		case 1:
			points = first
		case 2:
			points = second
		}
		for _, p := range points {
			syncpoint.Process(p)
		}
	})
	syncpoint.EnableProcessing()
}

// newMixedTest is a database of a default family, one with universal compaction
// and one with levels, where compactions may run side by side.
func newMixedTest(t *testing.T) (x *cfTest, one, two rocksdb.ColumnFamilyOptions) {
	x = newCFTest(t)
	x.open()
	x.create([]string{"one", "two"})
	def, one, two := x.mixedOptions()
	x.dbo.MaxBackgroundCompactions = 3
	x.reopen(def, one, two)
	return x, one, two
}

// wantMixed checks the outcome: a table a family.
func (x *cfTest) wantMixed() {
	x.Helper()
	x.wantFiles("1", 1)
	x.wantFiles("0,1", 2)
	x.compactAll(2, true)
	x.wantFiles("0,1", 2)
	x.wantSaved(1)
	endSyncPoints()
	x.close()
}

// pressure makes compactions run side by side.
func (x *cfTest) pressure() {
	t := x.full().TestWriteController().GetCompactionPressureToken()
	x.Cleanup(t.Release)
}

func TestColumnFamilyTest_CreateCFRaceWithGetAggProperty(t *testing.T) {
	x := newCFTest(t)
	x.open()
	inOrder([2]string{"DBImpl::WriteOptionsFile:1", "ColumnFamilyTest.CreateCFRaceWithGetAggProperty:1"},
		[2]string{"ColumnFamilyTest.CreateCFRaceWithGetAggProperty:2", "DBImpl::WriteOptionsFile:2"})
	syncpoint.EnableProcessing()
	var c *rocksdb.ColumnFamily
	wait := x.beside(func() (err error) {
		c, err = x.db.CreateColumnFamily(x.cfo, "one")
		return err
	})
	syncpoint.Process("ColumnFamilyTest.CreateCFRaceWithGetAggProperty:1")
	_, ok := x.db.GetAggregatedIntProperty("rocksdb.estimate-table-readers-mem")
	x.want(ok, "no property")
	syncpoint.Process("ColumnFamilyTest.CreateCFRaceWithGetAggProperty:2")
	wait()
	syncpoint.DisableProcessing()
	x.want(c != nil, "no family")
	x.must(c.Close())
}

func TestColumnFamilyTest_MultipleManualCompactions(t *testing.T) {
	x, one, two := newMixedTest(t)
	x.fillTables(1, one.Level0FileNumCompactionTrigger-2, 1, true)
	// The second family's compaction runs while the first one's is.
	inOrder([2]string{"ColumnFamilyTest::MultiManual:4", "ColumnFamilyTest::MultiManual:1"},
		[2]string{"ColumnFamilyTest::MultiManual:2", "ColumnFamilyTest::MultiManual:5"},
		[2]string{"ColumnFamilyTest::MultiManual:2", "ColumnFamilyTest::MultiManual:3"})
	onCompactions([]string{"ColumnFamilyTest::MultiManual:4", "ColumnFamilyTest::MultiManual:3"}, nil)
	first := x.beside(func() error { return x.tryCompactAll(1, false) })
	x.fillTables(2, two.Level0FileNumCompactionTrigger-2, 1)
	second := x.beside(func() error {
		syncpoint.Process("ColumnFamilyTest::MultiManual:1")
		err := x.tryCompactAll(2, false)
		syncpoint.Process("ColumnFamilyTest::MultiManual:2")
		return err
	})
	syncpoint.Process("ColumnFamilyTest::MultiManual:5")
	first()
	second()
	x.wantMixed()
}

func TestColumnFamilyTest_AutomaticAndManualCompactions(t *testing.T) {
	x, one, two := newMixedTest(t)
	x.pressure()
	// A manual compaction of one family runs while an automatic one of another
	// is.
	inOrder([2]string{"ColumnFamilyTest::AutoManual:4", "ColumnFamilyTest::AutoManual:1"},
		[2]string{"ColumnFamilyTest::AutoManual:2", "ColumnFamilyTest::AutoManual:5"},
		[2]string{"ColumnFamilyTest::AutoManual:2", "ColumnFamilyTest::AutoManual:3"})
	onCompactions([]string{"ColumnFamilyTest::AutoManual:4", "ColumnFamilyTest::AutoManual:3"}, nil)
	x.fillTables(1, one.Level0FileNumCompactionTrigger, 1, true)
	syncpoint.Process("ColumnFamilyTest::AutoManual:1")
	x.fillTables(2, two.Level0FileNumCompactionTrigger-2, 1)
	manual := x.beside(func() error {
		err := x.tryCompactAll(2, false)
		syncpoint.Process("ColumnFamilyTest::AutoManual:2")
		return err
	})
	syncpoint.Process("ColumnFamilyTest::AutoManual:5")
	manual()
	x.waitForCompaction()
	x.wantMixed()
}

func TestColumnFamilyTest_ManualAndAutomaticCompactions(t *testing.T) {
	x, one, two := newMixedTest(t)
	x.pressure()
	x.fillTables(1, one.Level0FileNumCompactionTrigger-2, 1, true)
	// An automatic compaction of one family runs while a manual one of another
	// is.
	inOrder([2]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:1"},
		[2]string{"ColumnFamilyTest::ManualAuto:5", "ColumnFamilyTest::ManualAuto:2"},
		[2]string{"ColumnFamilyTest::ManualAuto:2", "ColumnFamilyTest::ManualAuto:3"})
	onCompactions([]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:3"}, []string{"ColumnFamilyTest::ManualAuto:2"})
	manual := x.beside(func() error { return x.tryCompactAll(1, false) })
	syncpoint.Process("ColumnFamilyTest::ManualAuto:1")
	x.fillTables(2, two.Level0FileNumCompactionTrigger, 1)
	syncpoint.Process("ColumnFamilyTest::ManualAuto:5")
	manual()
	x.waitForCompaction()
	x.wantMixed()
}

// newOneFamilyTest is a database of a default family and one with the options
// that change made of the universal ones; it has two tables less than trigger
// compaction.
func newOneFamilyTest(t *testing.T, change func(o *rocksdb.ColumnFamilyOptions)) (x *cfTest, one rocksdb.ColumnFamilyOptions) {
	x = newCFTest(t)
	x.open()
	x.create([]string{"one"})
	def, one, _ := x.mixedOptions()
	if change != nil {
		change(&one)
	}
	x.dbo.MaxBackgroundCompactions = 3
	x.reopen(def, one)
	x.pressure()
	return x, one
}

// wantFewTables checks the outcome: at most two tables in level 0.
func (x *cfTest) wantFewTables() {
	x.Helper()
	n := x.numTableFilesAtLevel(0, 1)
	x.want(n <= 2, "%d tables in level 0", n)
	x.wantSaved(1)
	endSyncPoints()
}

func TestColumnFamilyTest_SameCFManualManualCompactions(t *testing.T) {
	x, one := newOneFamilyTest(t, nil)
	trigger := one.Level0FileNumCompactionTrigger
	x.fillTables(1, trigger-2, 1, true)
	// The second manual compaction comes while the first one runs.
	inOrder([2]string{"ColumnFamilyTest::ManualManual:4", "ColumnFamilyTest::ManualManual:2"},
		[2]string{"ColumnFamilyTest::ManualManual:4", "ColumnFamilyTest::ManualManual:5"},
		[2]string{"ColumnFamilyTest::ManualManual:1", "ColumnFamilyTest::ManualManual:2"},
		[2]string{"ColumnFamilyTest::ManualManual:1", "ColumnFamilyTest::ManualManual:3"})
	onCompactions([]string{"ColumnFamilyTest::ManualManual:4", "ColumnFamilyTest::ManualManual:3"}, []string{"ColumnFamilyTest::ManualManual:2"})
	first := x.beside(func() error { return x.tryCompactAll(1, true) })
	syncpoint.Process("ColumnFamilyTest::ManualManual:5")
	x.waitForFlush(1)
	// The manual compaction has flushed what was left; its tables are still there,
	// and no automatic one runs beside an exclusive one.
	x.fillTables(1, trigger-2, trigger, true)
	second := x.beside(func() error { return x.tryCompactAll(1, false) })
	syncpoint.Process("ColumnFamilyTest::ManualManual:1")
	first()
	second()
	x.waitForCompaction()
	x.wantFewTables()
}

// sameFamilyManualAuto runs automatic compactions of a family while a manual one
// is under way; order is that of the points ManualAuto:N.
func sameFamilyManualAuto(t *testing.T, change func(o *rocksdb.ColumnFamilyOptions), order ...[2]string) *cfTest {
	x, one := newOneFamilyTest(t, change)
	trigger := one.Level0FileNumCompactionTrigger
	x.fillTables(1, trigger-2, 1, true)
	inOrder(order...)
	onCompactions([]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:3"}, []string{"ColumnFamilyTest::ManualAuto:2"})
	manual := x.beside(func() error { return x.tryCompactAll(1, false) })
	syncpoint.Process("ColumnFamilyTest::ManualAuto:5")
	x.waitForFlush(1)
	x.fillTables(1, trigger, trigger, true)
	syncpoint.Process("ColumnFamilyTest::ManualAuto:1")
	manual()
	x.waitForCompaction()
	return x
}

func TestColumnFamilyTest_SameCFManualAutomaticCompactions(t *testing.T) {
	x := sameFamilyManualAuto(t, nil,
		[2]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:2"},
		[2]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:5"},
		[2]string{"ColumnFamilyTest::ManualAuto:1", "ColumnFamilyTest::ManualAuto:2"},
		[2]string{"ColumnFamilyTest::ManualAuto:1", "ColumnFamilyTest::ManualAuto:3"})
	x.wantFewTables()
}

func TestColumnFamilyTest_SameCFManualAutomaticCompactionsLevel(t *testing.T) {
	// The manual compaction ends only after the picker of automatic ones looked
	// at the level.
	x := sameFamilyManualAuto(t, func(o *rocksdb.ColumnFamilyOptions) {
		o.CompactionStyle = rocksdb.CompactionStyleLevel
		o.Level0FileNumCompactionTrigger = 3
	},
		[2]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:2"},
		[2]string{"ColumnFamilyTest::ManualAuto:4", "ColumnFamilyTest::ManualAuto:5"},
		[2]string{"ColumnFamilyTest::ManualAuto:3", "ColumnFamilyTest::ManualAuto:2"},
		[2]string{"LevelCompactionPicker::PickCompactionBySize:0", "ColumnFamilyTest::ManualAuto:3"},
		[2]string{"ColumnFamilyTest::ManualAuto:1", "ColumnFamilyTest::ManualAuto:3"})
	x.wantFiles("0,1", 1)
	x.wantSaved(1)
	endSyncPoints()
}

func TestColumnFamilyTest_SameCFAutomaticManualCompactions(t *testing.T) {
	x, one := newOneFamilyTest(t, nil)
	trigger := one.Level0FileNumCompactionTrigger
	// The automatic compaction ends only after the manual one found that it is
	// in the way.
	inOrder([2]string{"ColumnFamilyTest::AutoManual:4", "ColumnFamilyTest::AutoManual:2"},
		[2]string{"ColumnFamilyTest::AutoManual:4", "ColumnFamilyTest::AutoManual:5"},
		[2]string{"CompactionPicker::CompactRange:Conflict", "ColumnFamilyTest::AutoManual:3"})
	onCompactions([]string{"ColumnFamilyTest::AutoManual:4", "ColumnFamilyTest::AutoManual:3"}, []string{"ColumnFamilyTest::AutoManual:2"})
	x.fillTables(1, trigger, 1, true)
	syncpoint.Process("ColumnFamilyTest::AutoManual:5")
	for range trigger - 2 {
		x.putRandom(1, 10, 12000, true)
		x.putRandom(1, 1, 10, true)
		x.waitForFlush(1)
	}
	x.compactAll(1, false)
	syncpoint.Process("ColumnFamilyTest::AutoManual:1")
	x.waitForCompaction()
	x.wantFiles("1", 1)
	x.wantSaved(1)
	endSyncPoints()
}

func TestColumnFamilyTest_FlushAndDropRaceCondition(t *testing.T) {
	const n = 10000
	x := newCFTest(t)
	x.dbo.CreateMissingColumnFamilies = true
	x.open("default", "one")
	o := x.manyTables()
	o.MaxWriteBufferNumber = 20
	x.reopen(o, o)
	// The drop is committed while the flush is under way, the flush ends before
	// the drop does.
	inOrder([2]string{"VersionSet::LogAndApply::ColumnFamilyDrop:0", "FlushJob::WriteLevel0Table"},
		[2]string{"VersionSet::LogAndApply::ColumnFamilyDrop:1", "FlushJob::InstallResults"},
		[2]string{"FlushJob::InstallResults", "VersionSet::LogAndApply::ColumnFamilyDrop:2"})
	syncpoint.EnableProcessing()
	release := blockPool(x.dbo.Env, rocksdb.HighPriority)
	x.putRandom(1, n, 100)
	dropped := x.beside(func() error { return x.db.DropColumnFamily(x.cfs[1]) })
	release()
	blockPool(x.dbo.Env, rocksdb.HighPriority)() // the flush is over

	it := x.cfs[1].NewIterator(nil)
	it.SeekToFirst()
	x.wantCount(it, n)
	dropped()
	endSyncPoints()
	x.destroy()
}

func (x *cfTest) wantOpenWALs(want int64) {
	x.Helper()
	n := x.fs.openWALs.Load()
	x.want(n == want, "%d open WALs, not %d", n, want)
}

// putSync writes an entry and syncs the logs.
func (x *cfTest) putSync(cf int) {
	x.Helper()
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	x.must(x.cfs[cf].Put(&wo, []byte("fodor"), []byte("mirko")))
}

func (x *cfTest) wantFodor() {
	x.Helper()
	x.reopen()
	x.wantGet(0, "fodor", "mirko")
	x.wantGet(1, "fodor", "mirko")
	x.close()
}

func TestColumnFamilyTest_FlushCloseWALFiles(t *testing.T) {
	x := newCFTest(t)
	x.dbo.MaxBackgroundFlushes = 1
	x.cfo.MemtableFactory = newSpecialSkipListFactory(2)
	x.open()
	x.create([]string{"one"})
	x.put(1, "fodor", "mirko")
	x.put(0, "fodor", "mirko")
	x.put(1, "fodor", "mirko")
	inOrder([2]string{"DBImpl::BGWorkFlush:done", "FlushCloseWALFiles:0"})
	syncpoint.EnableProcessing()
	// No flush runs.
	release := blockPool(x.dbo.Env, rocksdb.HighPriority)
	x.putSync(1)
	x.wantOpenWALs(2)
	release()
	syncpoint.Process("FlushCloseWALFiles:0")
	syncpoint.DisableProcessing()
	x.wantOpenWALs(1)
	x.wantFodor()
}

// newWALIteratorTest has an iterator that holds what was flushed, and three
// entries after that, the last of which fills its memtable.
func newWALIteratorTest(t *testing.T, ro *rocksdb.ReadOptions) (*cfTest, *rocksdb.Iterator) {
	x := newCFTest(t)
	x.dbo.MaxBackgroundFlushes = 1
	x.dbo.BackgroundCloseInactiveWALs = true
	x.cfo.MemtableFactory = newSpecialSkipListFactory(2)
	x.open()
	x.create([]string{"one"})
	x.put(1, "fodor", "mirko")
	it := x.cfs[1].NewIterator(ro)
	x.must(it.Status())
	x.flush(1)
	x.put(1, "fodor", "mirko")
	x.put(0, "fodor", "mirko")
	x.put(1, "fodor", "mirko")
	return x, it
}

func TestColumnFamilyTest_IteratorCloseWALFile1(t *testing.T) {
	x, it := newWALIteratorTest(t, nil)
	release := blockPool(x.dbo.Env, rocksdb.HighPriority)
	x.putSync(1)
	x.wantOpenWALs(2)
	// The iterator's end closes the log that is not written any more.
	x.must(it.Close())
	x.wantOpenWALs(1)
	release()
	x.waitForFlush(1)
	x.wantFodor()
}

func TestColumnFamilyTest_IteratorCloseWALFile2(t *testing.T) {
	ro := rocksdb.DefaultReadOptions()
	ro.BackgroundPurgeOnIteratorCleanup = true
	x, it := newWALIteratorTest(t, &ro)
	x.dbo.Env.SetBackgroundThreads(max(2, x.dbo.Env.GetBackgroundThreads(rocksdb.HighPriority)), rocksdb.HighPriority)
	inOrder([2]string{"ColumnFamilyTest::IteratorCloseWALFile2:0", "DBImpl::BGWorkPurge:start"},
		[2]string{"ColumnFamilyTest::IteratorCloseWALFile2:2", "DBImpl::BackgroundCallFlush:start"},
		[2]string{"DBImpl::BGWorkPurge:end", "ColumnFamilyTest::IteratorCloseWALFile2:1"})
	syncpoint.EnableProcessing()
	x.putSync(1)
	x.wantOpenWALs(2)
	// A background job closes it.
	x.must(it.Close())
	x.wantOpenWALs(2)
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:0")
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:1")
	x.wantOpenWALs(1)
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:2")
	x.waitForFlush(1)
	x.wantOpenWALs(1)
	syncpoint.DisableProcessing()
	x.wantFodor()
}

func TestColumnFamilyTest_ForwardIteratorCloseWALFile(t *testing.T) {
	x := newCFTest(t)
	x.dbo.Env.SetBackgroundThreads(max(2, x.dbo.Env.GetBackgroundThreads(rocksdb.HighPriority)), rocksdb.HighPriority)
	x.dbo.MaxBackgroundFlushes = 1
	x.dbo.BackgroundCloseInactiveWALs = true
	x.cfo.MemtableFactory = newSpecialSkipListFactory(3)
	x.cfo.Level0FileNumCompactionTrigger = 2
	x.open()
	x.create([]string{"one"})
	fill := func() {
		x.put(1, "fodor", "mirko")
		x.put(1, "fodar2", "mirko")
	}
	fill()
	x.flush(1)
	ro := rocksdb.DefaultReadOptions()
	ro.Tailing, ro.BackgroundPurgeOnIteratorCleanup = true, true
	it := x.cfs[1].NewIterator(&ro)
	// The iterator keeps the first table from being deleted.
	fill()
	x.flush(1)
	x.waitForCompaction()
	x.put(1, "fodor", "mirko")
	x.put(1, "fodor", "mirko")
	x.put(0, "fodor", "mirko")
	x.put(1, "fodor", "mirko")
	inOrder([2]string{"ColumnFamilyTest::IteratorCloseWALFile2:0", "DBImpl::BGWorkPurge:start"},
		[2]string{"ColumnFamilyTest::IteratorCloseWALFile2:2", "DBImpl::BackgroundCallFlush:start"},
		[2]string{"DBImpl::BGWorkPurge:end", "ColumnFamilyTest::IteratorCloseWALFile2:1"})
	syncpoint.EnableProcessing()
	x.putSync(1)
	x.fs.deleted.Store(0)
	wantDeleted := func(want int64) {
		t.Helper()
		n := x.fs.deleted.Load()
		x.want(n == want, "%d files deleted, not %d", n, want)
	}
	x.wantOpenWALs(2)
	// The seek lets go of the old state, and leaves the rest to a background job.
	it.Seek(nil)
	x.must(it.Status())
	x.wantOpenWALs(2)
	wantDeleted(0)
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:0")
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:1")
	x.wantOpenWALs(1)
	wantDeleted(1)
	syncpoint.Process("ColumnFamilyTest::IteratorCloseWALFile2:2")
	x.waitForFlush(1)
	x.wantOpenWALs(1)
	wantDeleted(1)
	x.must(it.Close())
	syncpoint.DisableProcessing()
	x.wantFodor()
}

func TestColumnFamilyTest_LogSyncConflictFlush(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two")
	x.put(0, "", "")
	x.put(1, "foo", "bar")
	// Logs are switched twice between the end of a sync and its bookkeeping.
	inOrder([2]string{"DBImpl::SyncWAL:BeforeMarkLogsSynced:1", "ColumnFamilyTest::LogSyncConflictFlush:1"},
		[2]string{"ColumnFamilyTest::LogSyncConflictFlush:2", "DBImpl::SyncWAL:BeforeMarkLogsSynced:2"})
	syncpoint.EnableProcessing()
	synced := x.beside(x.db.SyncWAL)
	syncpoint.Process("ColumnFamilyTest::LogSyncConflictFlush:1")
	x.flush(1)
	x.put(1, "foo", "bar")
	x.flush(1)
	syncpoint.Process("ColumnFamilyTest::LogSyncConflictFlush:2")
	synced()
	syncpoint.DisableProcessing()
	x.close()
}

func TestColumnFamilyTest_DISABLED_CreateAndDropRace(t *testing.T) {
	x := newCFTest(t)
	x.dbo.CreateMissingColumnFamilies = true
	x.open("default", "one", "two", "three")
	// While one drop writes the OPTIONS file, another one waits for it, with a
	// comparator that goes away then.
	var started sync.Once
	persisting := make(chan struct{})
	syncpoint.SetCallBack("PersistRocksDBOptions:start", func(any) { started.Do(func() { close(persisting) }) })
	syncpoint.EnableProcessing()
	other := x.beside(func() error {
		<-persisting
		return x.db.DropColumnFamily(x.cfs[1])
	})
	x.drop(2)
	other()
	endSyncPoints()
	x.drop() // nothing more
	x.must(x.cfs[1].Close())
	x.cfs[1], x.names[1] = nil, ""
	if got := fmt.Sprint(x.liveNames()); got != "[default three]" {
		t.Fatalf("families %s", got)
	}
	x.reopen()
	x.close()
	x.wantFamilies("default", "three")
}

func TestColumnFamilyTest_CreateAndDropPeriodicRace(t *testing.T) {
	for _, lastOn := range []bool{false, true} {
		t.Run(fmt.Sprintf("last=%t", lastOn), func(t *testing.T) {
			x := newCFTest(t)
			syncpoint.SetCallBack("DBImpl::RegisterRecordSeqnoTimeWorker:BeforePeriodicTaskType", func(any) { runtime.Gosched() })
			syncpoint.EnableProcessing()
			others, last := x.cfo, x.cfo
			if lastOn {
				last.PreserveInternalTimeSeconds = 1000000
			} else {
				others.PreserveInternalTimeSeconds = 1000000
			}
			x.open("default")
			var waits []func()
			for i := range 12 {
				waits = append(waits, x.beside(func() error {
					cf, err := x.db.CreateColumnFamily(others, fmt.Sprint(i))
					if err != nil {
						return err
					}
					return errors.Join(x.db.DropColumnFamily(cf), cf.Close())
				}))
			}
			cf, err := x.db.CreateColumnFamily(last, "last")
			x.must(err)
			for _, wait := range waits {
				wait()
			}
			if on := x.db.Impl().TestPeriodicTaskScheduler().TestHasTask(db.PeriodicTaskRecordSeqnoTime); on != lastOn {
				t.Fatalf("the recorder runs: %t", on)
			}
			x.must(x.db.DropColumnFamily(cf))
			x.must(cf.Close())
			endSyncPoints()
		})
	}
}

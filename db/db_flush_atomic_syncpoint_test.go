//go:build syncpoint

// Port of db/db_flush_test.cc (atomic flush).

package db_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func flushAll(x *dbTest, o *rocksdb.FlushOptions) error {
	return x.db.FlushColumnFamilies(o, x.cfs)
}

var noWAL = func() *rocksdb.WriteOptions {
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	return &wo
}()

// putNoWAL writes without log.
func (x *dbTest) putNoWAL(cf int, key, value string) {
	x.Helper()
	x.must(x.cf(cf).Put(noWAL, []byte(key), []byte(value)))
}

// wantMemtables checks how many immutable memtables a family has and whether
// the active one is empty.
func (x *dbTest) wantMemtables(cf, immutable int, empty bool) {
	x.Helper()
	cfd := x.cf(cf).Impl().CFD()
	x.full().TestWithMutex(func() {
		if n := cfd.Imm().NumNotFlushed(); n != immutable || cfd.Mem().IsEmpty() != empty {
			x.Errorf("family %d: %d immutable memtables, not %d; empty %v", cf, n, immutable, !empty)
		}
	})
}

// eachAtomic runs f with atomic_flush off and on.
func eachAtomic(t *testing.T, f func(x *dbTest, o rocksdb.Options)) {
	for _, atomic := range []bool{false, true} {
		t.Run(fmt.Sprint(atomic), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.AtomicFlush = atomic
			f(x, o)
		})
	}
}

func atomicTest(t *testing.T, families ...string) (*dbTest, rocksdb.Options) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AtomicFlush = true
	if len(families) > 0 {
		x.createAndReopenWithCF(families, o)
	}
	return x, o
}

// reasonListener counts flushes and checks why they are done.
type reasonListener struct {
	rocksdb.EventListenerBase
	t       *testing.T
	want    rocksdb.FlushReason
	began   atomic.Int32
	flushed atomic.Int32
}

func (l *reasonListener) OnFlushBegin(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	l.began.Add(1)
	if info.FlushReason != l.want {
		l.t.Errorf("flush of %s: reason %v, not %v", info.CFName, info.FlushReason, l.want)
	}
}

func (l *reasonListener) OnFlushCompleted(rocksdb.DBRef, *rocksdb.FlushJobInfo) { l.flushed.Add(1) }

func TestDBAtomicFlushTest_ManualAtomicFlush(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		o.Statistics = monitoring.CreateDBStatistics()
		o.WriteBufferSize = 64 << 20
		l := &reasonListener{t: t, want: rocksdb.FlushReasonManualFlush}
		o.Listeners = append(o.Listeners, l)
		x.createAndReopenWithCF([]string{"pikachu", "eevee"}, o)
		for i := range x.cfs {
			x.putNoWAL(i, "key", "value")
			x.wantMemtables(i, 0, false)
		}
		x.must(flushAll(x, nil))
		want := uint64(0)
		if o.AtomicFlush {
			want = 1
		}
		for ticker, n := range map[rocksdb.Ticker]uint64{
			rocksdb.AtomicFlushRequestReasonOther:                     want,
			rocksdb.AtomicFlushRequestReasonWriteBufferFull:           0,
			rocksdb.AtomicFlushRequestReasonWriteBufferManager:        0,
			rocksdb.AtomicFlushRequestReasonMemtableMaxRangeDeletions: 0,
		} {
			if got := o.Statistics.GetTickerCount(ticker); got != n {
				t.Errorf("ticker %d is %d, not %d", ticker, got, n)
			}
		}
		for i := range x.cfs {
			x.wantMemtables(i, 0, true)
		}
		if n := l.flushed.Load(); int(n) != len(x.cfs) {
			t.Errorf("%d flushes", n)
		}
	})
}

func TestDBAtomicFlushTest_PrecomputeMinLogNumberToKeepNon2PC(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		o.WriteBufferSize = 64 << 20
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		for i := range x.cfs {
			x.mustPut(i, "key", "value")
		}
		least := func() uint64 {
			var n uint64
			x.full().TestWithMutex(func() { n = x.full().Versions().MinLogNumberToKeep() })
			return n
		}
		number := func(cf int) (n uint64) {
			x.full().TestWithMutex(func() { n = x.cf(cf).Impl().CFD().GetLogNumber() })
			return n
		}
		x.must(x.db.FlushColumnFamilies(nil, x.cfs[:1]))
		if least() != number(1) {
			t.Fatalf("log %d is kept, the other family needs %d", least(), number(1))
		}
		x.must(flushAll(x, nil))
		if want := x.full().TestLogfileNumber(); least() != want || min(number(0), number(1)) != want {
			t.Fatalf("log %d is kept, families need %d and %d, the newest is %d", least(), number(0), number(1), want)
		}
	})
}

func TestDBAtomicFlushTest_AtomicFlushTriggeredByMemTableFull(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		o.WriteBufferSize = 4096
		inOrder([2]string{"DBImpl::BackgroundCallFlush:FlushFinish:0", "BeforeCheck"})
		syncpoint.EnableProcessing()
		x.createAndReopenWithCF([]string{"pikachu", "eevee"}, o)
		for i := range x.cfs {
			x.putNoWAL(i, "key", "value")
		}
		for i := range 4000 {
			x.putNoWAL(2, fmt.Sprintf("key%d", i), fmt.Sprintf("value%d", i))
		}
		syncpoint.Process("BeforeCheck")
		for i := range 2 {
			x.wantMemtables(i, 0, o.AtomicFlush)
		}
		endSyncPoints()
	})
}

func TestDBAtomicFlushTest_AtomicFlushRollbackSomeJobs(t *testing.T) {
	x, _ := atomicTest(t, "pikachu", "eevee")
	inOrder([2]string{"DBImpl::AtomicFlushMemTablesToOutputFiles:SomeFlushJobsComplete:1", "test:1"},
		[2]string{"test:2", "DBImpl::AtomicFlushMemTablesToOutputFiles:SomeFlushJobsComplete:2"})
	syncpoint.EnableProcessing()
	for i := range x.cfs {
		x.putNoWAL(i, "key", "value")
	}
	x.must(flushAll(x, &rocksdb.FlushOptions{}))
	syncpoint.Process("test:1")
	x.fault.SetFilesystemActive(false, nil)
	syncpoint.Process("test:2")
	for _, c := range x.cfs {
		if x.full().TestWaitForFlushMemTable(c) == nil {
			t.Error("flush without a file system")
		}
	}
	for i := range x.cfs {
		x.wantMemtables(i, 1, true)
	}
	x.fault.SetFilesystemActive(true, nil)
	endSyncPoints()
}

func TestDBAtomicFlushTest_FlushMultipleCFs_DropSomeBeforeRequestFlush(t *testing.T) {
	x, _ := atomicTest(t, "pikachu", "eevee")
	for i := range x.cfs {
		x.putNoWAL(i, "key", "value")
	}
	x.must(x.db.DropColumnFamily(x.cfs[1]))
	if err := flushAll(x, nil); !errors.Is(err, rocksdb.ErrColumnFamilyDropped) {
		t.Fatal(err)
	}
}

func TestDBAtomicFlushTest_FlushMultipleCFs_DropSomeAfterScheduleFlushBeforeFlushJobRun(t *testing.T) {
	x, o := atomicTest(t, "pikachu", "eevee")
	inOrder([2]string{"DBImpl::AtomicFlushMemTables:AfterScheduleFlush", "BeforeDropCF"},
		[2]string{"AfterDropCF", "DBImpl::BackgroundCallFlush:start"})
	syncpoint.EnableProcessing()
	for i := range x.cfs {
		x.putNoWAL(i, "key", "value")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("BeforeDropCF")
		if err := x.db.DropColumnFamily(x.cfs[1]); err != nil {
			t.Error(err)
		}
		syncpoint.Process("AfterDropCF")
	})
	x.must(flushAll(x, nil))
	wg.Wait()
	for i := range x.cfs {
		x.wantGet(i, "key", "value")
	}
	x.reopenWithColumnFamilies([]string{"default", "eevee"}, o)
	for i := range x.cfs {
		x.wantGet(i, "key", "value")
	}
	endSyncPoints()
}

func TestDBAtomicFlushTest_TriggerFlushAndClose(t *testing.T) {
	const n = 4
	x, o := atomicTest(t)
	o.MemtableFactory = newSpecialSkipListFactory(n)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for i := range n {
		x.mustPut(0, fmt.Sprintf("key%d", i), fmt.Sprintf("value%d", i))
	}
	x.mustPut(0, "key", "value")
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.wantGet(0, "key", "value")
}

func TestDBAtomicFlushTest_PickMemtablesRaceWithBackgroundFlush(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 4, 2
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.must(x.full().PauseBackgroundWork())
		x.mustPut(0, "key00", "value00")
		x.mustPut(1, "key10", "value10")
		x.must(flushAll(x, &rocksdb.FlushOptions{}))
		x.mustPut(0, "key01", "value01")
		x.must(x.db.Flush(&rocksdb.FlushOptions{}))
		x.must(x.db.DropColumnFamily(x.cfs[1]))
		x.must(x.cfs[1].Close())
		x.cfs = x.cfs[:1]
		x.must(x.full().ContinueBackgroundWork())
		x.must(x.full().TestWaitForFlushMemTable(x.cfs[0]))
	})
}

func TestDBAtomicFlushTest_CFDropRaceWithWaitForFlushMemTables(t *testing.T) {
	x, _ := atomicTest(t, "pikachu")
	inOrder([2]string{"DBImpl::AtomicFlushMemTables:AfterScheduleFlush", "BeforeDrop"},
		[2]string{"AfterFree", "DBImpl::BackgroundCallFlush:start"},
		[2]string{"DBImpl::BackgroundCallFlush:start", "DBImpl::AtomicFlushMemTables:BeforeWaitForBgFlush"})
	syncpoint.EnableProcessing()
	x.mustPut(0, "key", "value")
	x.mustPut(1, "key", "value")
	var wg sync.WaitGroup
	dropped := x.cfs[1]
	wg.Go(func() {
		syncpoint.Process("BeforeDrop")
		if err := x.db.DropColumnFamily(dropped); err != nil {
			t.Error(err)
		}
		if err := dropped.Close(); err != nil {
			t.Error(err)
		}
		syncpoint.Process("AfterFree")
	})
	o := rocksdb.DefaultFlushOptions()
	o.AllowWriteStall = true
	x.must(x.full().TestAtomicFlushMemTables(&o, []rocksdb.ColumnFamilyHandle{x.cfs[0], dropped}))
	wg.Wait()
	x.cfs = x.cfs[:1]
	x.close()
	endSyncPoints()
}

func TestDBAtomicFlushTest_RollbackAfterFailToInstallResults(t *testing.T) {
	x, o := atomicTest(t, "pikachu")
	for i := range x.cfs {
		x.mustPut(i, "a", "value")
	}
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0",
		func(any) { x.fault.SetFilesystemActive(false, nil) })
	syncpoint.EnableProcessing()
	if err := flushAll(x, nil); err == nil {
		t.Fatal("flush without a file system")
	}
	x.fault.SetFilesystemActive(true, nil)
	endSyncPoints()
	// The group's first records are in the MANIFEST, and do not count.
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	for i := range x.cfs {
		x.wantGet(i, "a", "value")
	}
}

func TestDBAtomicFlushTest_FailureInMultiCfAutomaticFlush(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		const n = 4
		o.MemtableFactory = newSpecialSkipListFactory(n)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		for i := range x.cfs {
			x.mustPut(i, "a", "value")
		}
		syncpoint.SetCallBack("DBImpl::ScheduleFlushes:PreSwitchMemtable", func(any) { x.fault.SetFilesystemActive(false, nil) })
		syncpoint.EnableProcessing()
		for i := 1; i < n; i++ {
			x.mustPut(0, fmt.Sprintf("key%d", i), fmt.Sprintf("value%d", i))
		}
		x.must(x.full().TestWaitForFlushMemTable(x.cfs[0]))
		if x.put(0, "x", "y") == nil {
			t.Error("write after a failed switch of the memtable")
		}
		x.fault.SetFilesystemActive(true, nil)
		x.close()
		endSyncPoints()
	})
}

// One flush waits for its turn to commit while another one's write of the
// MANIFEST fails: it sees that, and ends.
func TestDBAtomicFlushTest_BgThreadNoWaitAfterManifestError(t *testing.T) {
	x, o := atomicTest(t)
	o.MaxBackgroundJobs, o.MaxWriteBufferNumber = 8, 8
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.putNoWAL(0, "a", "v_0_a")
	x.putNoWAL(1, "a", "v_1_a")
	inOrder([2]string{"second:WaitToCommit", "first:BeforeWriteManifest"})
	var mu sync.Mutex
	var turns []dbimpl.TestAtomicFlushTurn
	waited := false
	syncpoint.SetCallBack("DBImpl::AtomicFlushMemTablesToOutputFiles:WaitToCommit", func(arg any) {
		turn := *arg.(*dbimpl.TestAtomicFlushTurn)
		mu.Lock()
		turns = append(turns, turn)
		first := turn.Wait && !waited
		waited = waited || turn.Wait
		mu.Unlock()
		if first {
			syncpoint.Process("second:WaitToCommit")
		}
	})
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0",
		func(any) { syncpoint.Process("first:BeforeWriteManifest") })
	var once atomic.Bool
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifest", func(any) {
		if once.Swap(true) {
			return
		}
		x.putNoWAL(0, "b", "v_1_b")
		if err := x.db.FlushColumnFamilies(&rocksdb.FlushOptions{}, x.cfs[:1]); err != nil {
			t.Error(err)
		}
	})
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:AfterSyncManifest",
		func(arg any) { *arg.(*error) = rocksdb.IOError("Injected failure") })
	syncpoint.EnableProcessing()
	if err := flushAll(x, nil); !errors.Is(err, rocksdb.ErrIOError) {
		t.Fatal(err)
	}
	x.close()
	endSyncPoints()
	// The first one's turn, then the second one waits and sees the error.
	if len(turns) < 3 || turns[0].Wait || turns[0].Err != nil || !turns[1].Wait || !errors.Is(turns[len(turns)-1].Err, rocksdb.ErrIOError) {
		t.Errorf("turns %+v", turns)
	}
}

func TestDBAtomicFlushTest_NoWaitWhenWritesStopped(t *testing.T) {
	eachAtomic(t, func(x *dbTest, o rocksdb.Options) {
		o.MaxWriteBufferNumber = 2
		o.MemtableFactory = newSpecialSkipListFactory(1)
		x.reopen(o)
		inOrder([2]string{"DBImpl::DelayWrite:Start", "test:0"})
		syncpoint.EnableProcessing()
		x.must(x.full().PauseBackgroundWork())
		for i := range o.MaxWriteBufferNumber {
			x.mustPut(0, fmt.Sprintf("k%d", i), fmt.Sprintf("v%d", i))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := x.put(0, "k", "v"); err != nil {
				t.Error(err)
			}
		})
		syncpoint.Process("test:0")
		if err := x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: true}); !errors.Is(err, rocksdb.ErrTryAgain) {
			t.Errorf("flush while writes are stopped: %v", err)
		}
		x.must(x.full().ContinueBackgroundWork())
		x.must(x.full().TestWaitForFlushMemTable(nil))
		wg.Wait()
		endSyncPoints()
	})
}

func retryable(msg string) error {
	s := *rocksdb.IOError(msg)
	s.Retryable = true
	return &s
}

// manyFlushes are options with which each entry fills a memtable and several
// flushes run at once.
func manyFlushes(x *dbTest, atomic bool, flushes int) rocksdb.Options {
	o := x.currentOptions()
	o.AtomicFlush = atomic
	o.MemtableFactory = newSpecialSkipListFactory(1)
	o.MaxWriteBufferNumber, o.MaxBackgroundFlushes = 64, flushes
	x.env.SetBackgroundThreads(4, rocksdb.HighPriority)
	return o
}

// failFirstFlush makes the first table's writing fail in a way that may be
// retried, after points have been passed; it counts the tables.
func failFirstFlush(points ...string) *atomic.Int32 {
	n := &atomic.Int32{}
	syncpoint.SetCallBack("FlushJob::WriteLevel0Table:s", func(arg any) {
		if n.Add(1) == 1 {
			*arg.(*error) = retryable("injected foobar")
			for _, p := range points {
				syncpoint.Process(p)
			}
		}
	})
	return n
}

func TestDBFlushTest_NonAtomicFlushRollbackPendingFlushes(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(manyFlushes(x, false, 4))
	failFirstFlush("Let mem1 flush start", "Wait for mem1 flush to finish")
	inOrder([2]string{"Let mem1 flush start", "Mem1 flush starts"},
		[2]string{"DBImpl::BGWorkFlush:done", "Wait for mem1 flush to finish"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "Wait for error recover"})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	syncpoint.Process("Mem1 flush starts")
	x.mustPut(0, key(3), "val3")
	syncpoint.Process("Wait for error recover")
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables", n)
	}
	endSyncPoints()
}

func TestDBFlushTest_AbortNonAtomicFlushWhenBGError(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(manyFlushes(x, false, 4))
	failFirstFlush("Let mem1 flush start", "Wait for mem1 flush to finish", "Let mem2 flush start", "Wait for mem2 to start writing table")
	var tables atomic.Int32
	syncpoint.SetCallBack("FlushJob::WriteLevel0Table", func(any) {
		if tables.Add(1) == 3 {
			return
		}
	})
	syncpoint.SetCallBack("FlushJob::Start", func(any) {
		if tables.Load() == 1 { // mem0's and mem1's have begun, and mem1's is written
			syncpoint.Process("Mem2 flush starts writing table")
		}
	})
	inOrder([2]string{"Let mem1 flush start", "Mem1 flush starts"},
		[2]string{"DBImpl::BGWorkFlush:done", "Wait for mem1 flush to finish"},
		[2]string{"Let mem2 flush start", "Mem2 flush starts"},
		[2]string{"Mem2 flush starts writing table", "Wait for mem2 to start writing table"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "Wait for error recover"})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	syncpoint.Process("Mem1 flush starts")
	x.mustPut(0, key(3), "val3")
	syncpoint.Process("Mem2 flush starts")
	x.mustPut(0, key(4), "val4")
	syncpoint.Process("Wait for error recover")
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables", n)
	}
	endSyncPoints()
}

func TestDBFlushTest_NonAtomicNormalFlushAbortWhenBGError(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(manyFlushes(x, false, 1))
	tables := failFirstFlush()
	inOrder([2]string{"Let error recovery start", "RecoverFromRetryableBGIOError:BeforeStart"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "Wait for error recover"})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	_ = x.full().TestWaitForFlushMemTable(nil) // it may end before the flush begins
	x.mustPut(0, key(3), "val3")
	if x.full().TestWaitForFlushMemTable(nil) == nil {
		t.Error("no error while the recovery waits")
	}
	if n := x.numTableFilesAtLevel(0, 0); n != 0 {
		t.Errorf("%d tables", n)
	}
	syncpoint.Process("Let error recovery start")
	syncpoint.Process("Wait for error recover")
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables", n)
	}
	if n := tables.Load(); n != 2 {
		t.Errorf("%d tables were written", n)
	}
	endSyncPoints()
}

func TestDBFlushTest_DBStuckAfterAtomicFlushError(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(manyFlushes(x, true, 4))
	failFirstFlush("Let flush for mem1 start", "Wait for flush for mem1")
	inOrder([2]string{"Let flush for mem1 start", "Flush for mem1"},
		[2]string{"DBImpl::AtomicFlushMemTablesToOutputFiles:WaitCV", "Wait for flush for mem1"},
		[2]string{"RecoverFromRetryableBGIOError:BeforeStart", "Wait for resume to start"},
		[2]string{"Recovery should continue here", "RecoverFromRetryableBGIOError:BeforeStart2"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "Wait for error recover"})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	syncpoint.Process("Flush for mem1")
	x.mustPut(0, key(3), "val3")
	syncpoint.Process("Wait for resume to start")
	x.mustPut(0, key(4), "val4")
	if x.full().TestWaitForBackgroundWork() == nil {
		t.Error("no background error")
	}
	if n := x.numTableFilesAtLevel(0, 0); n != 0 {
		t.Errorf("%d tables", n)
	}
	syncpoint.Process("Recovery should continue here")
	syncpoint.Process("Wait for error recover")
	x.must(x.full().TestWaitForBackgroundWork())
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables", n)
	}
	endSyncPoints()
}

// blockingListener holds OnFlushCompleted until released.
type blockingListener struct {
	rocksdb.EventListenerBase
	onlyFirst         bool
	n                 atomic.Int32
	entered, released chan struct{}
	returned          atomic.Bool
}

func newBlockingListener(onlyFirst bool) *blockingListener {
	return &blockingListener{onlyFirst: onlyFirst, entered: make(chan struct{}), released: make(chan struct{})}
}

func (l *blockingListener) OnFlushCompleted(rocksdb.DBRef, *rocksdb.FlushJobInfo) {
	if n := l.n.Add(1); n != 1 {
		if !l.onlyFirst {
			<-l.released
		}
		return
	}
	close(l.entered)
	<-l.released
	l.returned.Store(true)
}

// wantListenerWait checks that flush returns only after the listener has.
func wantListenerWait(x *dbTest, l *blockingListener, flush func(o *rocksdb.FlushOptions) error) {
	x.Helper()
	var returned atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := flush(&rocksdb.FlushOptions{Wait: true, ListenerWait: true}); err != nil {
			x.Error(err)
		}
		if !l.returned.Load() {
			x.Error("flush returned before the listener")
		}
		returned.Store(true)
	})
	<-l.entered
	for range 10 {
		x.full().DisableManualCompaction()
		x.full().EnableManualCompaction()
	}
	time.Sleep(time.Millisecond)
	if returned.Load() {
		x.Error("flush returned before the listener")
	}
	close(l.released)
	wg.Wait()
}

func TestDBFlushTest_ListenerWaitWaitsForOnFlushCompleted(t *testing.T) {
	x := newDBTest(t)
	l := newBlockingListener(false)
	o := x.currentOptions()
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	x.mustPut(0, "k", "v")
	wantListenerWait(x, l, x.db.Flush)
}

func TestDBFlushTest_ListenerWaitAtomicFlushWaitsForAllOnFlushCompleted(t *testing.T) {
	x, o := atomicTest(t)
	l := newBlockingListener(true)
	o.Listeners = append(o.Listeners, l)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.mustPut(0, "k0", "v0")
	x.mustPut(1, "k1", "v1")
	wantListenerWait(x, l, func(o *rocksdb.FlushOptions) error { return flushAll(x, o) })
}

func TestDBFlushTest_FixUnrecoverableWriteDuringAtomicFlushWaitUntilFlushWouldNotStallWrites(t *testing.T) {
	x, o := atomicTest(t)
	o.AvoidFlushDuringShutdown = true
	o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger = 2, 2, -1
	x.createAndReopenWithCF([]string{"cf1"}, o)
	wake := sleepingTask(x.env, rocksdb.LowPriority)
	x.mustPut(1, "dontcare", "dontcare")
	x.flush(1)
	x.putNoWAL(1, "k1", "v1")
	inOrder([2]string{"DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait", "test:Write"})
	syncpoint.EnableProcessing()
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("test:Write")
		// The family that was empty when the flush was asked for belongs to it.
		x.putNoWAL(0, "k2", "v2")
		x.putNoWAL(1, "k3", "v3")
		wake()
		x.moveFilesToLevel(1, 1)
	})
	_, _, err := x.full().GetLiveFiles(true)
	x.must(err)
	wg.Wait()
	x.reopenWithColumnFamilies([]string{"default", "cf1"}, o)
	x.wantGet(1, "k3", "v3")
	x.wantGet(0, "k2", "v2")
	endSyncPoints()
}

func TestDBFlushTest_FixFlushReasonRaceFromConcurrentFlushes(t *testing.T) {
	x, o := atomicTest(t)
	o.DisableAutoCompactions = true
	x.createAndReopenWithCF([]string{"cf1"}, o)
	x.mustPut(0, key(0), "v")
	x.mustPut(1, key(0), "v")
	wake := sleepingTask(x.env, rocksdb.HighPriority)
	var paused atomic.Bool
	syncpoint.SetCallBack("DBImpl::AtomicFlushMemTables:AfterScheduleFlush", func(any) {
		if paused.Swap(true) {
			return
		}
		if err := x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: true}); err != nil {
			t.Error(err)
		}
		wake()
	})
	syncpoint.EnableProcessing()
	_, _, err := x.full().GetLiveFiles(true)
	x.must(err)
	if !paused.Load() {
		t.Error("the flush was not paused")
	}
	endSyncPoints()
}

// A crash in the middle of the group's records leaves the families where they
// were: the tables do not count, the logs do.
func TestAtomicFlushIncompleteGroup(t *testing.T) {
	for _, point := range []string{"VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0", "VersionSet::ProcessManifestWrites:AfterSyncManifest"} {
		t.Run(point, func(t *testing.T) {
			x, o := atomicTest(t, "a", "b")
			for i := range x.cfs {
				x.mustPut(i, "k", "flushed")
			}
			x.must(flushAll(x, nil))
			for i := range x.cfs {
				x.mustPut(i, "k", "v")
			}
			x.must(x.full().SyncWAL())
			syncpoint.SetCallBack(point, func(any) { x.fault.SetFilesystemActive(false, nil) })
			syncpoint.EnableProcessing()
			err := flushAll(x, nil)
			endSyncPoints()
			x.close()
			_ = x.fault.DeleteFilesCreatedAfterLastDirSync(nil)
			x.fault.DropUnsyncedFileData()
			x.fault.ResetState()
			x.fault.SetFilesystemActive(true, nil)
			t.Logf("flush: %v", err)
			x.reopenWithColumnFamilies([]string{"default", "a", "b"}, o)
			for i := range x.cfs {
				x.wantGet(i, "k", "v")
			}
		})
	}
}

// force_atomic_flush flushes as one without atomic_flush.
func TestAtomicFlushForce(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = monitoring.CreateDBStatistics()
	x.createAndReopenWithCF([]string{"a"}, o)
	for i := range x.cfs {
		x.putNoWAL(i, "k", "v")
	}
	groups := 0
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0", func(any) { groups++ })
	syncpoint.EnableProcessing()
	fo := rocksdb.DefaultFlushOptions()
	fo.ForceAtomicFlush = true
	x.must(flushAll(x, &fo))
	endSyncPoints()
	if n := o.Statistics.GetTickerCount(rocksdb.AtomicFlushRequestReasonOther); n != 1 || groups != 1 {
		t.Errorf("%d requests, %d groups", n, groups)
	}
	for i := range x.cfs {
		x.wantMemtables(i, 0, true)
		x.mustPut(i, "k2", "v")
	}
	x.must(x.db.Flush(&fo))
	x.wantMemtables(0, 0, true)
	x.wantMemtables(1, 0, false)
	// A flush of the usual kind goes on from there.
	x.must(x.cfs[1].Flush(nil))
	x.wantMemtables(1, 0, true)
}

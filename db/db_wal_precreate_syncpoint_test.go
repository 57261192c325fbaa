//go:build syncpoint

// Port of db/db_wal_test.cc (async_wal_precreate).

package db_test

import (
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// precreateOptions make logs ahead, and count.
func (x *dbTest) precreateOptions() rocksdb.Options {
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.AsyncWALPrecreate = true
	o.RecycleLogFileNum = 0
	o.WriteBufferSize = 1024
	o.MaxWriteBufferNumber = 4
	return o
}

func (x *dbTest) wantTickers(o *rocksdb.Options, want map[rocksdb.Ticker]uint64) {
	x.Helper()
	for t, n := range want {
		if got := o.Statistics.GetTickerCount(t); got != n {
			x.Errorf("ticker %d is %d, not %d", t, got, n)
		}
	}
}

// afterPrecreation opens and waits until a log was made ahead, or could not be.
func (x *dbTest) afterPrecreation(open func()) {
	x.Helper()
	const done = "AsyncWalPrecreate:PrecreateDone"
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::BGWorkAsyncWALPrecreate:Done", Successor: done})
	syncpoint.EnableProcessing()
	open()
	syncpoint.Process(done)
}

// futureWal is the number of the log that was made ahead.
func (x *dbTest) futureWal() uint64 {
	x.Helper()
	n := x.walNumbers()
	if len(n) < 2 || n[len(n)-1] == x.full().TestLogfileNumber() {
		x.Fatalf("logs %v, and %d is written to", n, x.full().TestLogfileNumber())
	}
	return n[len(n)-1]
}

func TestDBWALTest_AsyncWalPrecreateWaitsForPendingFile(t *testing.T) {
	x := newDBTest(t)
	o := x.precreateOptions()
	syncpoint.LoadDependency(
		syncpoint.Pair{Predecessor: "DBImpl::BGWorkAsyncWALPrecreate:BeforePublish", Successor: "Test:WorkerBlocked"},
		syncpoint.Pair{Predecessor: "Test:AllowPublish", Successor: "DBImpl::BGWorkAsyncWALPrecreate:Publish"},
		syncpoint.Pair{Predecessor: "DBImpl::WaitForAsyncWALPrecreate:BeforeWait", Successor: "Test:ForegroundWaiting"})
	syncpoint.EnableProcessing()
	x.reopen(o)
	syncpoint.Process("Test:WorkerBlocked")
	x.mustPut(0, "fill", "value")
	switched := make(chan error, 1)
	go func() { switched <- x.full().TestSwitchMemtable(nil) }()
	syncpoint.Process("Test:ForegroundWaiting")
	syncpoint.Process("Test:AllowPublish")
	x.must(<-switched)
	x.mustPut(0, "trigger", "value")
	x.wantGet(0, "trigger", "value")
	x.wantTickers(&o, map[rocksdb.Ticker]uint64{rocksdb.WALPrecreateHit: 1, rocksdb.WALPrecreateWaited: 1, rocksdb.WALPrecreateMiss: 0})
}

func TestDBWALTest_AsyncWalPrecreateConsumesReadyFile(t *testing.T) {
	x := newDBTest(t)
	o := x.precreateOptions()
	x.afterPrecreation(func() { x.reopen(o) })
	prepared := x.futureWal()
	x.mustPut(0, "fill", "value")
	x.must(x.full().TestSwitchMemtable(nil))
	if n := x.full().TestLogfileNumber(); n != prepared {
		t.Errorf("log %d is written to, not %d", n, prepared)
	}
	x.wantTickers(&o, map[rocksdb.Ticker]uint64{rocksdb.WALPrecreateHit: 1, rocksdb.WALPrecreateWaited: 0, rocksdb.WALPrecreateMiss: 0})
}

func TestDBWALTest_AsyncWalPrecreateRecoveryToleratesActualFutureWal(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AsyncWALPrecreate = true
	o.TrackAndVerifyWALs, o.TrackAndVerifyWALsInManifest = true, true
	o.AvoidFlushDuringShutdown, o.AvoidFlushDuringRecovery = true, true
	x.afterPrecreation(func() { x.destroyAndReopen(o) })
	st, err := os.Stat(filename.LogFileName(x.dir, x.futureWal()))
	x.must(err)
	if st.Size() != 0 {
		t.Errorf("a log made ahead has %d bytes", st.Size())
	}
	x.mustPut(0, "key", "value")
	x.reopen(o)
	x.wantGet(0, "key", "value")
	x.mustPut(0, "after-recovery", "value2")
	x.wantGet(0, "after-recovery", "value2")
}

func TestDBWALTest_AsyncWalPrecreateDeletesFileOnStartFailure(t *testing.T) {
	x := newDBTest(t)
	o := x.precreateOptions()
	x.afterPrecreation(func() { x.reopen(o) })
	syncpoint.SetCallBack("DBImpl::StartWALFile:AfterCompressionTypeRecord", func(arg any) {
		*arg.(*error) = rocksdb.IOError("injected async WAL start failure")
	})
	prepared := x.futureWal()
	x.mustPut(0, "fill", "value")
	if err := x.full().TestSwitchMemtable(nil); err == nil {
		t.Error("the memtable was switched")
	}
	if _, err := os.Stat(filename.LogFileName(x.dir, prepared)); !os.IsNotExist(err) {
		t.Errorf("the log is there: %v", err)
	}
	x.wantTickers(&o, map[rocksdb.Ticker]uint64{rocksdb.WALPrecreateHit: 1})
}

func TestDBWALTest_AsyncWalPrecreateFailureFallsBackToSyncCreation(t *testing.T) {
	x := newDBTest(t)
	o := x.precreateOptions()
	syncpoint.SetCallBack("DBImpl::Open:AfterDeleteFiles", func(any) {
		failed := false // only the background job makes files now
		x.fault.SetErrorInjector(func(op, name string) error {
			if op == "NewWritableFile" && isWal(name) && !failed {
				failed = true
				return rocksdb.IOError("injected")
			}
			return nil
		})
	})
	x.afterPrecreation(func() { x.reopen(o) })
	x.fault.SetErrorInjector(nil)
	x.wantTickers(&o, map[rocksdb.Ticker]uint64{rocksdb.WALPrecreateFailed: 1})
	x.mustPut(0, "fill", "value")
	x.must(x.full().TestSwitchMemtable(nil))
	x.wantTickers(&o, map[rocksdb.Ticker]uint64{rocksdb.WALPrecreateMiss: 1})
}

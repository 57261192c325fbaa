//go:build syncpoint

// Port of db/error_handler_fs_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// errorListener may refuse recoveries and waits for their ends.
type errorListener struct {
	rocksdb.EventListenerBase
	noAutoRecovery bool
	override       atomic.Pointer[rocksdb.Status] // replaces the next error
	ended          chan error                     // the new error of each recovery
}

func (l *errorListener) OnErrorRecoveryBegin(_ rocksdb.BackgroundErrorReason, _ error, auto *bool) {
	if l.noAutoRecovery {
		*auto = false
	}
}

func (l *errorListener) OnErrorRecoveryEnd(info *rocksdb.BackgroundErrorRecoveryInfo) {
	l.ended <- info.NewBGError
}

func (l *errorListener) OnBackgroundError(_ rocksdb.BackgroundErrorReason, err *error) {
	if s := l.override.Swap(nil); s != nil {
		*err = s
	}
}

// quickClock waits a fiftieth of the time: after errors there are seconds.
type quickClock struct{ rocksdb.SystemClockWrapper }

func (c *quickClock) Name() string { return "QuickClock" }

func (c *quickClock) SleepForMicroseconds(micros int) { c.Target.SleepForMicroseconds(micros / 50) }

func (c *quickClock) TimedWait(wake <-chan struct{}, deadline uint64) bool {
	now := c.NowMicros()
	return c.Target.TimedWait(wake, now+(max(deadline, now)-now)/50)
}

type errorTest struct {
	*dbTest
	listener *errorListener
	o        rocksdb.Options
}

// newErrorTest opens a database with a listener; set changes the options.
func newErrorTest(t *testing.T, auto bool, set func(o *rocksdb.Options)) *errorTest {
	x := &errorTest{dbTest: newDBTest(t), listener: &errorListener{noAutoRecovery: !auto, ended: make(chan error, 100)}}
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fault, &quickClock{rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}})
	x.o = x.defaultOptions()
	x.o.Listeners = append(x.o.Listeners, x.listener)
	x.o.Statistics = rocksdb.NewStatistics()
	if set != nil {
		set(&x.o)
	}
	x.destroyAndReopen(x.o)
	return x
}

// waitForRecovery gives the error after the next recovery's end.
func (x *errorTest) waitForRecovery() error {
	x.Helper()
	select {
	case err := <-x.listener.ended:
		return err
	case <-time.After(time.Minute):
		x.Fatal("no recovery")
		return nil
	}
}

// failAt makes the file system fail with err from a point on.
func (x *errorTest) failAt(point string, err error) {
	syncpoint.SetCallBack(point, func(any) { x.fault.SetFilesystemActive(false, err) })
	syncpoint.EnableProcessing()
}

func (x *errorTest) activate() {
	endSyncPoints()
	x.fault.SetFilesystemActive(true, nil)
}

func (x *errorTest) wantSeverity(err error, want rocksdb.Severity) {
	x.Helper()
	if err == nil || rocksdb.AsStatus(err).Severity != want {
		x.Fatalf("%v, severity not %d", err, want)
	}
}

func (x *errorTest) wantTickers(bg, io, retryable, auto uint64) {
	x.Helper()
	for ticker, want := range map[rocksdb.Ticker]uint64{
		rocksdb.ErrorHandlerBGErrorCount: bg, rocksdb.ErrorHandlerBGIOErrorCount: io,
		rocksdb.ErrorHandlerBGRetryableIOErrorCount: retryable, rocksdb.ErrorHandlerAutoresumeCount: auto,
	} {
		if got := x.o.Statistics.GetTickerCount(ticker); got != want {
			x.Errorf("ticker %d: %d, not %d", ticker, got, want)
		}
	}
}

func flushNow(x *errorTest) error { return x.db.Flush(nil) }

func TestDBErrorHandlingFSTest_FlushWriteError(t *testing.T) {
	x := newErrorTest(t, false, nil)
	x.mustPut(0, key(0), "val")
	x.failAt("FlushJob::Start", rocksdb.NoSpace("Out of space"))
	x.wantSeverity(flushNow(x), rocksdb.SeverityHardError)
	x.activate()
	x.must(x.full().Resume())
	x.wantTickers(1, 1, 0, 0)
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
}

func noSpaceRetryable() error {
	s := *rocksdb.NoSpace("Retryable IO Error")
	s.Retryable = true
	return &s
}

func TestDBErrorHandlingFSTest_FlushWriteNoSpaceError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 2, 100000 })
	x.mustPut(0, key(1), "val1")
	x.failAt("BuildTable:BeforeFinishBuildTable", noSpaceRetryable())
	x.wantSeverity(flushNow(x), rocksdb.SeverityHardError)
	x.activate()
	x.must(x.full().Resume())
	x.wantTickers(1, 1, 0, 0)
}

func TestDBErrorHandlingFSTest_FlushWriteRetryableError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount = 0 })
	for i, point := range []string{"BuildTable:BeforeFinishBuildTable", "BuildTable:BeforeSyncTable", "BuildTable:BeforeCloseTableFile"} {
		value := fmt.Sprintf("val%d", i)
		x.mustPut(0, key(i), value)
		x.failAt(point, retryable("Retryable IO Error"))
		x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
		x.activate()
		x.must(x.full().Resume())
		if i == 0 {
			x.wantTickers(1, 1, 1, 0)
		}
		x.reopen(x.o)
		x.wantGet(0, key(i), value)
	}
}

func TestDBErrorHandlingFSTest_FlushWriteFileScopeError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount = 0 })
	s := *rocksdb.IOError("File Scope Data Loss Error")
	s.DataLoss, s.Scope = true, rocksdb.IOErrorScopeFile
	noRetry := s
	noRetry.DataLoss = false
	for i, err := range []error{&s, &s, &s, &noRetry} {
		point := []string{"BuildTable:BeforeFinishBuildTable", "BuildTable:BeforeSyncTable", "BuildTable:BeforeCloseTableFile", "BuildTable:BeforeFinishBuildTable"}[i]
		x.mustPut(0, key(i), "val")
		x.failAt(point, err)
		x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
		x.activate()
		x.must(x.full().Resume())
		x.reopen(x.o)
		x.wantGet(0, key(i), "val")
	}
}

func TestDBErrorHandlingFSTest_ManifestWriteError(t *testing.T) {
	x := newErrorTest(t, false, nil)
	old := x.files(rocksdb.DescriptorFile)
	x.mustPut(0, key(0), "val")
	x.flush(0)
	x.mustPut(0, key(1), "val")
	x.failAt("VersionSet::LogAndApply:WriteManifest", rocksdb.NoSpace("Out of space"))
	x.wantSeverity(flushNow(x), rocksdb.SeverityHardError)
	x.activate()
	x.must(x.full().Resume())
	if now := x.files(rocksdb.DescriptorFile); len(now) != 1 || now[0] == old[0] {
		t.Errorf("MANIFEST %v after %v", now, old)
	}
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_ManifestWriteRetryableError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount = 0 })
	old := x.files(rocksdb.DescriptorFile)
	x.mustPut(0, key(0), "val")
	x.flush(0)
	x.mustPut(0, key(1), "val")
	x.failAt("VersionSet::LogAndApply:WriteManifest", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	x.activate()
	x.must(x.full().Resume())
	if now := x.files(rocksdb.DescriptorFile); len(now) != 1 || now[0] == old[0] {
		t.Errorf("MANIFEST %v after %v", now, old)
	}
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_CompactionWriteError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 2 })
	x.mustPut(0, key(0), "va;")
	x.mustPut(0, key(2), "va;")
	x.flush(0)
	x.listener.override.Store(rocksdb.NoSpace().WithSeverity(rocksdb.SeverityHardError))
	inOrder([2]string{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"})
	x.failAt("BackgroundCallCompaction:0", rocksdb.NoSpace("Out of space"))
	x.mustPut(0, key(1), "val")
	x.flush(0)
	x.wantSeverity(x.full().TestWaitForCompact(), rocksdb.SeverityHardError)
	x.activate()
	x.must(x.full().Resume())
}

func TestDBErrorHandlingFSTest_CorruptionError(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 2 })
	x.mustPut(0, key(0), "va;")
	x.mustPut(0, key(2), "va;")
	x.flush(0)
	inOrder([2]string{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"})
	x.failAt("BackgroundCallCompaction:0", rocksdb.Corruption("Corruption"))
	x.mustPut(0, key(1), "val")
	x.flush(0)
	x.wantSeverity(x.full().TestWaitForCompact(), rocksdb.SeverityUnrecoverableError)
	x.activate()
	if x.full().Resume() == nil {
		t.Error("resumed from a corruption")
	}
}

func TestDBErrorHandlingFSTest_AutoRecoverFlushError(t *testing.T) {
	x := newErrorTest(t, true, nil)
	x.mustPut(0, key(0), "val")
	x.failAt("FlushJob::Start", rocksdb.NoSpace("Out of space"))
	x.wantSeverity(flushNow(x), rocksdb.SeverityHardError)
	x.activate()
	if err := x.waitForRecovery(); err != nil {
		t.Fatal(err)
	}
	x.mustPut(0, key(1), "val")
	x.wantTickers(1, 1, 0, 0)
	x.must(x.full().SyncWAL())
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_FailRecoverFlushError(t *testing.T) {
	x := newErrorTest(t, true, nil)
	x.mustPut(0, key(0), "val")
	x.failAt("FlushJob::Start", rocksdb.NoSpace("Out of space"))
	x.wantSeverity(flushNow(x), rocksdb.SeverityHardError)
	x.close() // while the recovery waits for space
	x.activate()
}

func TestDBErrorHandlingFSTest_FlushWritNoWALRetryableErrorAutoRecover1(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 2, 100000 })
	x.putNoWAL(0, key(1), "val1")
	inOrder([2]string{"RecoverFromRetryableBGIOError:LoopOut", "test:1"})
	x.failAt("BuildTable:BeforeFinishBuildTable", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	x.wantGet(0, key(1), "val1")
	syncpoint.Process("test:1")
	x.wantGet(0, key(1), "val1")
	x.activate()
	x.wantTickers(3, 3, 3, 1)
	if err := x.waitForRecovery(); !errors.Is(err, rocksdb.ErrAborted) {
		t.Error(err)
	}
	x.putNoWAL(0, key(2), "val2")
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	x.wantGet(0, key(2), "val2")
	x.must(x.full().Resume())
	x.putNoWAL(0, key(3), "val3")
	x.flush(0)
	x.wantGet(0, key(3), "val3")
}

func TestDBErrorHandlingFSTest_FlushWritRetryableErrorAutoRecover1(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 2, 100000 })
	x.mustPut(0, key(1), "val1")
	x.failAt("BuildTable:BeforeFinishBuildTable", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	x.activate()
	if err := x.waitForRecovery(); err != nil {
		t.Fatal(err)
	}
	x.wantGet(0, key(1), "val1")
	x.reopen(x.o)
	x.wantGet(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	x.flush(0)
	x.wantGet(0, key(2), "val2")
}

func TestDBErrorHandlingFSTest_WALWriteRetryableErrorAutoRecover1(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) {
		o.WritableFileMaxBufferSize, o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 32768, 2, 100000
	})
	rnd := util.NewRandom(301)
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	write := func(from int) error {
		b := rocksdb.NewWriteBatch()
		for i := from; i < from+100; i++ {
			x.must(b.Put([]byte(key(i)), []byte(rnd.RandomString(1024))))
		}
		return x.db.Write(&wo, b)
	}
	x.must(write(0))
	inOrder([2]string{"WALWriteErrorDone", "RecoverFromRetryableBGIOError:BeforeStart"},
		[2]string{"RecoverFromRetryableBGIOError:BeforeResume0", "WALWriteError1:0"},
		[2]string{"WALWriteError1:1", "RecoverFromRetryableBGIOError:BeforeResume1"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "WALWriteError1:2"})
	var n atomic.Int32
	syncpoint.SetCallBack("WritableFileWriter::Append:BeforePrepareWrite", func(any) {
		if n.Add(1) > 2 {
			x.fault.SetFilesystemActive(false, retryable("Retryable IO Error"))
		}
	})
	syncpoint.EnableProcessing()
	if err := write(100); !errors.Is(err, rocksdb.ErrIOError) {
		t.Fatal(err)
	}
	syncpoint.Process("WALWriteErrorDone")
	syncpoint.Process("WALWriteError1:0")
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.ClearAllCallBacks()
	syncpoint.Process("WALWriteError1:1")
	syncpoint.Process("WALWriteError1:2")
	endSyncPoints()
	check := func(last int) {
		t.Helper()
		for i := range last {
			there := x.get(0, key(i)) != "NOT_FOUND"
			if want := i < 100 || i >= 200; there != want {
				t.Fatalf("key %d: %v", i, there)
			}
		}
	}
	check(200)
	x.reopen(x.o)
	check(200)
	x.must(write(200))
	x.reopen(x.o)
	check(300)
}

// A writer that waits in a stall and the recovery from a full device do not wait
// for each other: the write gives the error, or goes on once there is space.
func TestNoSpaceWhileWriterIsStalled(t *testing.T) {
	for _, pipelined := range []bool{false, true} {
		t.Run(fmt.Sprint(pipelined), func(t *testing.T) {
			x := newErrorTest(t, true, func(o *rocksdb.Options) {
				o.WriteBufferSize, o.MaxWriteBufferNumber, o.EnablePipelinedWrite = 64<<10, 2, pipelined
			})
			// The flush fails only when the writer is stalled.
			inOrder([2]string{"DBImpl::DelayWrite:Wait", "DBImpl::BackgroundCallFlush:start"})
			x.failAt("FlushJob::Start", rocksdb.NoSpace("Out of space"))
			var wg sync.WaitGroup
			var failure error
			wg.Go(func() {
				for i := 0; i < 3000 && failure == nil; i++ {
					failure = x.db.Put(noWAL, []byte(key(i)), []byte(dummyString(200, 'x')))
				}
			})
			done := make(chan bool)
			go func() { wg.Wait(); close(done) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("the writer hangs")
			}
			if !rocksdb.IsNoSpace(failure) {
				t.Fatal(failure)
			}
			x.activate()
			if err := x.waitForRecovery(); err != nil {
				t.Fatal(err)
			}
			x.putNoWAL(0, "again", "v")
			x.wantGet(0, key(0), dummyString(200, 'x'))
		})
	}
}

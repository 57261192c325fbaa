//go:build syncpoint

// Port of db/db_write_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// pause lets others run, in loops that wait for them.
func pause() { runtime.Gosched() }

// eachWriteMode runs f with the plain, the two-queue and the pipelined mode.
func eachWriteMode(t *testing.T, f func(x *dbTest, o rocksdb.Options)) {
	for name, c := range map[string]optionConfig{"default": configDefault, "two queues": configConcurrentWALWrites, "pipelined": configPipelinedWrite} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			x.config = c
			x.reopen(x.currentOptions())
			f(x, x.currentOptions())
		})
	}
}

func TestDBWriteTest_SyncAndDisableWAL(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, _ rocksdb.Options) {
		wo := rocksdb.DefaultWriteOptions()
		wo.Sync, wo.DisableWAL = true, true
		if err := x.db.Put(&wo, []byte("foo"), []byte("bar")); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Error(err)
		}
		b := rocksdb.NewWriteBatch()
		x.must(b.Put([]byte("foo"), []byte("bar")))
		if err := x.db.Write(&wo, b); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Error(err)
		}
	})
}

// stallWriters starts a writer that leads, and others behind it while a fourth
// level 0 file is about to stall them; slowdown says who waits. point is where
// the first one is held.
func stallWriters(x *dbTest, o rocksdb.Options, point string, slowdown ...bool) {
	o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = 4, 4
	x.reopen(o)
	n := 0
	next := func() string { n++; return fmt.Sprintf("foo%d", n) }
	for range 3 {
		x.mustPut(0, next(), "bar")
		x.flush(0)
	}
	x.mustPut(0, next(), "bar")
	var writers atomic.Int32
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Start", func(any) { writers.Add(1) })
	inOrder([2]string{"test:1", "DBImpl::BackgroundCallFlush:start"}, [2]string{"test:2", point}, [2]string{"test:3", "BackgroundCallCompaction:0"})
	syncpoint.EnableProcessing()
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	var wg sync.WaitGroup
	for i, slow := range slowdown {
		k := next()
		wg.Go(func() {
			wo := rocksdb.DefaultWriteOptions()
			wo.NoSlowdown = !slow
			if err := x.db.Put(&wo, []byte(k), []byte("bar")); err != nil && !(wo.NoSlowdown && errors.Is(err, rocksdb.ErrIncomplete)) {
				x.Error(err)
			}
		})
		for writers.Load() < int32(i)+1 {
			pause()
		}
	}
	syncpoint.Process("test:1")
	x.must(x.full().TestWaitForFlushMemTable(nil))
	syncpoint.Process("test:2")
	syncpoint.Process("test:3")
	wg.Wait()
	endSyncPoints()
}

func TestDBWriteTest_WriteStallRemoveNoSlowdownWrite(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		stallWriters(x, o, "DBImplWrite::PipelinedWriteImpl:AfterJoinBatchGroup", true, true, false, true)
	})
}

func TestDBWriteTest_WriteThreadHangOnWriteStall(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		stallWriters(x, o, "DBImpl::WriteImpl:BeforeLeaderEnters", true, true, false, true, false, true)
	})
}

func TestDBWriteTest_IOErrorOnWALWritePropagateToWriteThreadFollower(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		const n = 5
		x.reopen(o)
		x.fault.SetFilesystemActive(false, nil)
		var ready, leaders atomic.Int32
		syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Wait", func(arg any) {
			ready.Add(1)
			if arg.(*writethread.Writer).State() == writethread.StateGroupLeader {
				leaders.Add(1)
				for ready.Load() < n {
					pause()
				}
			}
		})
		syncpoint.EnableProcessing()
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if err := x.put(0, fmt.Sprintf("key%d", i), "value"); (err == nil) != o.ManualWALFlush {
					x.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if leaders.Load() != 1 {
			x.Errorf("%d leaders", leaders.Load())
		}
		_ = x.full().Resume()
		x.fault.SetFilesystemActive(true, nil)
		x.close()
		endSyncPoints()
	})
}

func TestDBWriteTestUnparameterized_PipelinedWriteRace(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnablePipelinedWrite = true
	x.destroyAndReopen(o)
	var count, active atomic.Int32
	var secondStarting, secondInProgress, logged atomic.Bool
	var leader atomic.Pointer[writethread.Writer]
	one := func() {
		if err := x.put(0, fmt.Sprintf("foo%d", count.Add(1)), "bar"); err != nil {
			t.Error(err)
		}
		active.Add(-1)
	}
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Wait", func(arg any) {
		if secondStarting.Load() {
			secondInProgress.Store(true)
			return
		}
		w := arg.(*writethread.Writer)
		if w.State() == writethread.StateGroupLeader {
			active.Add(1)
			if leader.CompareAndSwap(nil, w) {
				for active.Load() < 2 {
					pause()
				}
			}
			return
		}
		// So that followers leave the group before it goes to the memtables.
		w.DisableMemtable = true
		active.Add(1)
	})
	syncpoint.SetCallBack("WriteThread::ExitAsBatchGroupLeader:Start", func(arg any) {
		if arg.(*writethread.WriteGroup).Leader == leader.Load() && !logged.Swap(true) {
			for active.Load() < 3 {
				pause()
			}
		}
	})
	var waited atomic.Bool
	syncpoint.SetCallBack("WriteThread::ExitAsBatchGroupLeader:AfterCompleteWriters", func(arg any) {
		if arg.(*writethread.WriteGroup).Leader == leader.Load() && !waited.Swap(true) {
			for !secondInProgress.Load() {
				pause()
			}
		}
	})
	syncpoint.EnableProcessing()
	var wg sync.WaitGroup
	wg.Go(one)
	for leader.Load() == nil {
		pause()
	}
	wg.Go(func() {
		one()
		secondStarting.Store(true)
		one()
	})
	for !logged.Load() {
		pause()
	}
	wg.Go(one)
	wg.Wait()
	endSyncPoints()
}

func TestDBWriteTest_ManualWalFlushInEffect(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		x.reopen(o)
		check := func() {
			x.Helper()
			x.mustPut(0, "key0", "value")
			if x.full().TestWALBufferIsEmpty() == o.ManualWALFlush {
				x.Error("buffer after a write")
			}
			x.must(x.full().FlushWAL(false))
			if !x.full().TestWALBufferIsEmpty() {
				x.Error("buffer after FlushWAL")
			}
		}
		check()
		x.must(x.full().TestSwitchWAL())
		check()
	})
}

func TestDBWriteTest_UnflushedPutRaceWithTrackedWalSync(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o.ManualWALFlush, o.TrackAndVerifyWALsInManifest = true, true
		x.reopen(o)
		x.mustPut(0, "key1", "val1")
		syncpoint.SetCallBack("DBImpl::SyncWAL:Begin", func(any) { x.mustPut(0, "key2", "val2") })
		syncpoint.EnableProcessing()
		x.must(x.full().FlushWAL(true))
		x.wantGet(0, "key2", "val2")
		endSyncPoints()
		x.close()
		x.fault.DropUnsyncedFileData()
		x.reopen(o)
	})
}

func TestDBWriteTest_InactiveWalFullySyncedBeforeUntracked(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		x.reopen(o)
		x.mustPut(0, "key1", "val1")
		syncpoint.SetCallBack("DBImpl::SyncWAL:BeforeMarkLogsSynced:1", func(any) {
			x.mustPut(0, "key2", "val2")
			x.must(x.full().TestSwitchMemtable(nil))
		})
		syncpoint.EnableProcessing()
		x.must(x.full().FlushWAL(true))
		endSyncPoints()
		x.mustPut(0, "key3", "val3")
		x.must(x.full().FlushWAL(true))
		x.close()
		x.fault.DropUnsyncedFileData()
		x.reopen(o)
		for i := 1; i <= 3; i++ {
			x.wantGet(0, fmt.Sprintf("key%d", i), fmt.Sprintf("val%d", i))
		}
	})
}

func TestDBWriteTest_IOErrorOnWALWriteTriggersReadOnlyMode(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		x.reopen(o)
		for i := range 2 {
			x.fault.SetFilesystemActive(i != 0, nil)
			if err := x.put(0, fmt.Sprintf("key%d", i), "value"); (err == nil) != o.ManualWALFlush {
				x.Errorf("write %d: %v", i, err)
			}
		}
		x.close()
	})
}

func TestDBWriteTest_IOErrorOnSwitchMemtable(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		rnd := util.NewRandom(301)
		o.WritableFileMaxBufferSize, o.WriteBufferSize, o.WALBytesPerSync = 4<<20, 3*512*1024, 256*1024
		o.ManualWALFlush = true
		x.reopen(o)
		x.fault.SetFilesystemActive(false, rocksdb.IOError("Not active"))
		var err error
		for i := 0; i < 4*512 && err == nil; i++ {
			err = x.put(0, key(i), rnd.RandomString(1024))
		}
		if err == nil || rocksdb.AsStatus(err).Severity != rocksdb.SeverityFatalError {
			x.Errorf("%v", err)
		}
		x.fault.SetFilesystemActive(true, nil)
		x.close()
	})
}

func TestDBWriteTest_LockWALInEffect(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o.DisableAutoCompactions, o.ParanoidChecks, o.MaxBGErrorResumeCount = true, false, 0
		x.reopen(o)
		wantBuffer := func(empty bool) {
			x.Helper()
			if x.full().TestWALBufferIsEmpty() != empty {
				x.Errorf("buffer empty %v", !empty)
			}
		}
		x.mustPut(0, "key0", "value")
		wantBuffer(!o.ManualWALFlush)
		x.must(x.full().LockWAL())
		wantBuffer(true)
		number := x.full().TestLogfileNumber()
		for _, stall := range []bool{true, false} {
			if err := x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: stall}); !errors.Is(err, rocksdb.ErrTryAgain) {
				x.Error(err)
			}
		}
		if n := x.full().TestLogfileNumber(); n != number {
			x.Errorf("log %d, not %d", n, number)
		}
		x.must(x.full().UnlockWAL())
		x.must(x.full().TestSwitchWAL())
		if x.full().TestLogfileNumber() == number {
			x.Error("no new log")
		}
		x.mustPut(0, "key1", "value")
		wantBuffer(!o.ManualWALFlush)
		x.must(x.full().LockWAL())
		wantBuffer(true)
		x.must(x.full().UnlockWAL())
		x.must(x.full().TestWaitForFlushMemTable(nil))

		x.fault.SetFilesystemActive(false, nil)
		err := x.put(0, "key2", "value")
		if o.ManualWALFlush {
			x.must(err)
			if x.full().LockWAL() == nil {
				x.Error("LockWAL without a file system")
			}
		} else {
			if err == nil {
				x.Error("write without a file system")
			}
			x.must(x.full().LockWAL())
			x.must(x.full().UnlockWAL())
		}
		x.fault.SetFilesystemActive(true, nil)
		x.must(x.full().Resume())
		x.mustPut(0, "key3", "value")
		x.wantGet(0, "key3", "value")
		if x.full().UnlockWAL() == nil {
			x.Error("UnlockWAL without LockWAL")
		}
		x.close()
	})
}

func TestDBWriteTest_LockWALConcurrentRecursive(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		x.reopen(o)
		x.mustPut(0, "k1", "k1_orig")
		x.must(x.full().LockWAL())
		frozen := x.db.GetLatestSequenceNumber()
		table := x.dir + "/external.sst"
		w := rocksdb.NewSstFileWriter(o, nil)
		x.must(w.Open(table, rocksdb.TemperatureUnknown))
		x.must(w.Put([]byte("k2"), []byte("k2_val")))
		x.must(w.Finish(nil))
		var ingested, flushed, written atomic.Bool
		var wg sync.WaitGroup
		beside := func(done *atomic.Bool, f func() error) {
			wg.Go(func() {
				if err := f(); err != nil {
					x.Error(err)
				}
				done.Store(true)
			})
		}
		beside(&ingested, func() error {
			io := rocksdb.DefaultIngestExternalFileOptions()
			io.MoveFiles = true
			return x.db.IngestExternalFile([]string{table}, &io)
		})
		beside(&flushed, func() error { return x.db.Flush(&rocksdb.FlushOptions{Wait: true, AllowWriteStall: true}) })
		beside(&written, func() error { return x.put(0, "k1", "k1_mod") })
		wantLocked := func() {
			x.Helper()
			if written.Load() || ingested.Load() || flushed.Load() {
				x.Errorf("while locked: written %v, ingested %v, flushed %v", written.Load(), ingested.Load(), flushed.Load())
			}
			x.wantGet(0, "k1", "k1_orig")
		}
		x.must(x.full().LockWAL())
		x.wantGet(0, "k1", "k1_orig")
		_, err := x.full().GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{WALSizeForFlush: ^uint64(0)})
		x.must(err)
		inOrder([2]string{"ParallelLockAcquired", "MainUnlocks"}, [2]string{"MainAllowsParallelUnlock", "ParallelUnlocks"})
		syncpoint.EnableProcessing()
		wg.Go(func() {
			if err := x.full().LockWAL(); err != nil {
				x.Error(err)
			}
			syncpoint.Process("ParallelLockAcquired")
			syncpoint.Process("ParallelUnlocks")
			if err := x.full().UnlockWAL(); err != nil {
				x.Error(err)
			}
		})
		syncpoint.Process("MainUnlocks")
		x.must(x.full().UnlockWAL())
		pause()
		wantLocked()
		x.must(x.full().UnlockWAL())
		wantLocked()
		x.wantGet(0, "k2", "NOT_FOUND")
		if n := x.db.GetLatestSequenceNumber(); n != frozen {
			x.Errorf("sequence number %d, not %d", n, frozen)
		}
		syncpoint.Process("MainAllowsParallelUnlock")
		wg.Wait()
		endSyncPoints()
		x.wantGet(0, "k1", "k1_mod")
		x.wantGet(0, "k2", "k2_val")
		x.mustPut(0, "k3", "val")
		x.wantGet(0, "k3", "val")
	})
}

func TestDBWriteTest_ConcurrentlyDisabledWAL(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o.Statistics = rocksdb.NewStatistics()
		x.reopen(o)
		large := dummyString(100<<10, 'X')
		var wg sync.WaitGroup
		for t := range 10 {
			wg.Go(func() {
				for i := range 10 {
					err := x.db.Put(noWAL, fmt.Appendf(nil, "K_%d_%d", t, i), []byte(large))
					if err == nil {
						err = x.put(0, fmt.Sprintf("WAL_KEY_%d_%d", i, i), "0")
					}
					if err == nil {
						err = x.full().SyncWAL()
					}
					if err != nil {
						x.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := o.Statistics.GetTickerCount(rocksdb.WALFileBytes); n > 100<<10 {
			x.Errorf("%d bytes of logs", n)
		}
	})
}

// damageLog makes record n of a log, counted from 1, belong to another one.
func damageLog(x *dbTest, path string, number uint64, n int) {
	x.Helper()
	f, err := file.CreateSequentialFileReader(x.env.GetFileSystem(), path, &rocksdb.FileOptions{}, nil)
	x.must(err)
	r := wal.NewReader(f, wal.ReaderOptions{LogNumber: number})
	for range n {
		if _, ok := r.ReadRecord(rocksdb.PointInTimeRecovery); !ok {
			x.Fatal("too few records")
		}
	}
	at := r.LastRecordOffset()
	x.must(r.Close())
	h, err := os.OpenFile(path, os.O_RDWR, 0)
	x.must(err)
	_, err = h.WriteAt([]byte{0xff, 0, 0, 0}, int64(at)+7)
	x.must(err)
	x.must(h.Close())
}

func recycleOptions(o rocksdb.Options) rocksdb.Options {
	o.RecycleLogFileNum, o.AvoidFlushDuringRecovery = 0, true
	o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	return o
}

func TestDBWriteTest_RecycleLogTest(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o = recycleOptions(o)
		x.reopen(o)
		x.mustPut(0, key(1), "val1")
		x.mustPut(0, key(2), "val1")
		l, err := x.db.GetCurrentWalFile()
		x.must(err)
		x.reopen(o)
		x.mustPut(0, key(3), "val3")
		damageLog(x, filename.LogFileName(x.dir, l.LogNumber), l.LogNumber, 2)
		x.reopen(o)
		x.wantGet(0, key(1), "val1")
		x.wantGet(0, key(2), "NOT_FOUND")
		x.wantGet(0, key(3), "NOT_FOUND")
	})
}

func TestDBWriteTest_RecycleLogTestCFAheadOfWAL(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o = recycleOptions(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.mustPut(1, key(1), "val1")
		x.mustPut(0, key(2), "val2")
		l, err := x.db.GetCurrentWalFile()
		x.must(err)
		x.flush(1)
		x.mustPut(1, key(3), "val3")
		if o.ManualWALFlush {
			x.must(x.full().FlushWAL(false))
		}
		damageLog(x, filename.LogFileName(x.dir, l.LogNumber), l.LogNumber, 2)
		if err := x.tryReopenWithColumnFamilies([]string{"default", "pikachu"}, o); !errors.Is(err, rocksdb.ErrCorruption) {
			x.Error(err)
		}
	})
}

func TestDBWriteTest_RecycleLogToggleTest(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o = recycleOptions(o)
		x.destroyAndReopen(o)
		x.mustPut(0, key(1), "val1")
		o.RecycleLogFileNum = 1
		x.reopen(o)
		x.mustPut(0, key(2), "val1")
		x.flush(0)
		x.mustPut(0, key(1), "val2")
		x.flush(0)
		x.reopen(o)
		x.wantGet(0, key(1), "val2")
	})
}

// Writers of all modes beside flushes: nothing is lost, also after a crash.
func TestWriteModesUnderLoad(t *testing.T) {
	for name, set := range map[string]func(o *rocksdb.Options){
		"plain":      func(*rocksdb.Options) {},
		"pipelined":  func(o *rocksdb.Options) { o.EnablePipelinedWrite = true },
		"unordered":  func(o *rocksdb.Options) { o.UnorderedWrite = true },
		"two queues": func(o *rocksdb.Options) { o.TwoWriteQueues = true },
		"both":       func(o *rocksdb.Options) { o.TwoWriteQueues, o.UnorderedWrite = true, true },
		"atomic":     func(o *rocksdb.Options) { o.UnorderedWrite, o.AtomicFlush = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			set(&o)
			o.WriteBufferSize, o.MaxTotalWALSize = 64<<10, 256<<10
			x.createAndReopenWithCF([]string{"a"}, o)
			const writers, n = 8, 400
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range n {
						b := rocksdb.NewWriteBatch()
						k := fmt.Appendf(nil, "%d_%d", w, i)
						err := errors.Join(b.PutCF(x.cfs[0], k, k), b.PutCF(x.cfs[1], k, append(k, dummyString(100, 'x')...)))
						if w == 0 && i%50 == 0 { // the log alone
							_, e := x.full().WriteImpl(nil, rocksdb.NewWriteBatch(), walOnly)
							err = errors.Join(err, e)
						}
						wo := rocksdb.DefaultWriteOptions()
						wo.Sync = i%100 == 0
						if err := errors.Join(err, x.db.Write(&wo, b)); err != nil {
							t.Error(err)
							return
						}
						x.wantGet(0, string(k), string(k))
					}
				})
			}
			wg.Wait()
			if got := x.db.GetLatestSequenceNumber(); got != 2*writers*n {
				t.Errorf("sequence number %d", got)
			}
			check := func() {
				for w := range writers {
					for i := range n {
						k := fmt.Sprintf("%d_%d", w, i)
						x.wantGet(0, k, k)
						x.wantGet(1, k, k+dummyString(100, 'x'))
					}
				}
			}
			check()
			x.must(x.full().SyncWAL())
			x.fault.SetFilesystemActive(false, nil)
			x.close()
			x.fault.DropUnsyncedFileData()
			x.fault.ResetState()
			x.fault.SetFilesystemActive(true, nil)
			x.reopenWithColumnFamilies([]string{"default", "a"}, o)
			check()
		})
	}
}

func TestDBWriteTest_WriteThreadWaitNanosCounter(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, _ rocksdb.Options) {
		const mine = "DBWriteTest::WriteThreadWaitNanosCounter:"
		syncpoint.LoadDependency(
			syncpoint.Pair{Predecessor: "WriteThread::EnterAsBatchGroupLeader:End", Successor: mine + "WriteFunc"},
			syncpoint.Pair{Predecessor: "WriteThread::AwaitState:BlockingWaiting", Successor: mine + "SleepFunc:1"},
			syncpoint.Pair{Predecessor: mine + "SleepFunc:2", Successor: "WriteThread::ExitAsBatchGroupLeader:Start"})
		syncpoint.EnableProcessing()
		defer syncpoint.Reset()
		var wg sync.WaitGroup
		wg.Go(func() {
			syncpoint.Process(mine + "SleepFunc:1")
			time.Sleep(2 * time.Millisecond)
			syncpoint.Process(mine + "SleepFunc:2")
		})
		wg.Go(func() {
			wo := rocksdb.DefaultWriteOptions()
			wo.PerfContext = &rocksdb.PerfContext{Level: rocksdb.EnableWait}
			syncpoint.Process(mine + "WriteFunc")
			if err := x.db.Put(&wo, []byte("bar"), []byte("val2")); err != nil {
				t.Error(err)
			}
			if n := wo.PerfContext.WriteThreadWaitNanos; n <= 2000000 {
				t.Errorf("waited %d ns", n)
			}
		})
		if err := x.db.Put(nil, []byte("foo"), []byte("val1")); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

func TestDBWriteTest_IngestWriteBatchWithIndex(t *testing.T) {
	eachWriteMode(t, func(x *dbTest, o rocksdb.Options) {
		o.DisableAutoCompactions = true
		cfo := x.currentOptions()
		cfo.MergeOperator = mergeoperators.NewStringAppendOperator(",")
		x.createColumnFamilies([]string{"cf1", "cf2"}, cfo)
		x.reopenWithColumnFamilies([]string{"default", "cf1", "cf2"}, o, cfo, cfo)
		wo := rocksdb.DefaultWriteOptions()
		newBatch := func(overwrite bool) *rocksdb.WriteBatchWithIndex {
			b, err := rocksdb.NewWriteBatchWithIndex(rocksdb.WriteBatchWithIndexOptions{BackupIndexComparator: o.Comparator, OverwriteKey: overwrite})
			x.must(err)
			return b
		}
		refused := func(b *rocksdb.WriteBatchWithIndex) {
			x.Helper()
			if err := x.db.IngestWriteBatchWithIndex(&wo, b); !errors.Is(err, rocksdb.ErrNotSupported) {
				x.Fatal(err)
			}
		}
		bs := func(s string) []byte { return []byte(s) }
		b := newBatch(true)
		x.must(errors.Join(b.Put(bs("key1"), bs("value1")), b.Put(bs("key2"), bs("value2"))))
		refused(b) // with a WAL
		wo.DisableWAL = true
		if o.EnablePipelinedWrite {
			refused(b)
			return
		}
		x.must(x.db.IngestWriteBatchWithIndex(&wo, b))
		x.wantGet(0, "key1", "value1")
		x.wantGet(0, "key2", "value2")

		b = newBatch(true)
		x.must(errors.Join(b.Put(bs("key2"), bs("value3")), b.Delete(bs("key1"))))
		x.must(x.db.IngestWriteBatchWithIndex(&wo, b))
		x.wantGet(0, "key1", "NOT_FOUND")
		x.wantGet(0, "key2", "value3")

		ofCF1 := newBatch(true)
		x.must(errors.Join(ofCF1.PutCF(x.cf(1), bs("cf1_key1"), bs("cf1_value1")), ofCF1.DeleteCF(x.cf(1), bs("cf1_key2"))))
		x.must(x.db.IngestWriteBatchWithIndex(&wo, ofCF1))
		x.wantGet(1, "cf1_key1", "cf1_value1")
		x.wantGet(1, "cf1_key2", "NOT_FOUND")

		b = newBatch(true)
		x.must(errors.Join(b.MergeCF(x.cf(2), bs("cf2_key1"), bs("cf2_value1")), b.MergeCF(x.cf(2), bs("cf2_key1"), bs("cf2_value2"))))
		x.must(x.db.IngestWriteBatchWithIndex(&wo, b))
		x.wantGet(2, "cf2_key1", "cf2_value1,cf2_value2")

		b = newBatch(false)
		x.must(b.Put(bs("key1"), bs("value1")))
		refused(b)
		x.must(x.db.IngestWriteBatchWithIndex(&wo, newBatch(true))) // an empty one

		x.destroyAndReopen(o)
		if err := x.db.IngestWriteBatchWithIndex(&wo, ofCF1); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Error("a batch of a family that is not there:", err)
		}
		x.mustPut(0, "key1", "value4") // the database goes on
		x.wantGet(0, "key1", "value4")
	})
}

var walOnly = &dbimpl.WriteImplOptions{DisableMemtable: true}

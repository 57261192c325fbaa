//go:build syncpoint

// Port of db/db_compaction_test.cc (the first half: waiting for compactions, and
// compactions that wait).

package db_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// waitTest is a case of upstream's DBCompactionWaitForCompactTest: one file of
// level 0 less than what is compacted.
type waitTest struct {
	*dbTest
	rocksdb.WaitForCompactOptions
	o rocksdb.Options
}

func eachWait(t *testing.T, f func(x *waitTest)) {
	bools := []bool{false, true}
	for _, abort := range bools {
		for _, flush := range bools {
			for _, closes := range bools {
				for _, timeout := range []time.Duration{0, time.Hour} {
					t.Run(fmt.Sprintf("abort=%t,flush=%t,close=%t,timeout=%v", abort, flush, closes, timeout), func(t *testing.T) {
						w := rocksdb.WaitForCompactOptions{AbortOnPause: abort, Flush: flush, CloseDB: closes, Timeout: timeout}
						f(newWaitTest(t, w))
					})
				}
			}
		}
	}
}

func newWaitTest(t *testing.T, w rocksdb.WaitForCompactOptions) *waitTest {
	const files, keys = 2, 4
	x := &waitTest{dbTest: newCompactionTest(t), WaitForCompactOptions: w}
	x.o = x.currentOptions()
	x.o.Level0FileNumCompactionTrigger = files + 1
	x.destroyAndReopen(x.o)
	// Which of two files of one size is picked is left open: here the first is larger.
	rnd := util.NewRandom(301)
	for i := range files {
		x.putRange(rnd, map[int]string{}, i*keys, i*keys+keys, 110-i*10)
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "2")
	return x
}

func (x *waitTest) wait() error { return x.full().WaitForCompact(&x.WaitForCompactOptions) }

// fillMemtable puts what is one file more once it is flushed.
func (x *waitTest) fillMemtable() { x.generateRandomFile(util.NewRandom(123), false) }

func TestDBCompactionWaitForCompactTest_WaitForCompactWaitsOnCompactionToFinish(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		const point = "DBCompactionTest::WaitForCompactWaitsOnCompactionToFinish"
		var done atomic.Int64
		syncpoint.SetCallBack("CompactionJob::Run():EndStatusSet", func(arg any) {
			if *arg.(*error) == nil {
				done.Add(1)
			}
		})
		syncpoint.SetCallBack("DBImpl::MaybeScheduleFlushOrCompaction:BeforeSchedule", func(arg any) {
			if *arg.(*int) <= 0 {
				x.Error("nothing is to be flushed")
			}
		})
		order(point, "DBImpl::MaybeScheduleFlushOrCompaction:BeforeSchedule")
		x.fillMemtable()
		same(x, "compactions", done.Load(), 0)
		x.close()
		syncpoint.Process(point)
		same(x, "compactions", done.Load(), 0)
		x.reopen(x.o) // makes the file
		x.must(x.wait())
		if done.Load() == 0 {
			x.Error("no compaction")
		}
		syncpoint.Reset()
	})
}

func TestDBCompactionWaitForCompactTest_WaitForCompactAbortOnPause(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		x.fillMemtable()
		x.flush(0)
		x.must(x.db.PauseBackgroundWork())
		if !x.AbortOnPause {
			x.must(x.db.ContinueBackgroundWork())
		}
		if err := x.wait(); x.AbortOnPause != errors.Is(err, rocksdb.ErrAborted) || !x.AbortOnPause && err != nil {
			x.Error(err)
		}
	})
}

func TestDBCompactionWaitForCompactTest_WaitForCompactShutdownWhileWaiting(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		const point = "DBCompactionTest::WaitForCompactShutdownWhileWaiting:"
		order("CompactionJob::Run():Start", point+"0", "DBImpl::WaitForCompact:StartWaiting", point+"1",
			"DBImpl::~DBImpl:WaitJob", "CompactionJob::Run():End")
		x.fillMemtable()
		x.flush(0)
		syncpoint.Process(point + "0")
		waited, closed := make(chan error), make(chan error)
		go func() { waited <- x.wait() }()
		syncpoint.Process(point + "1")
		go func() { closed <- x.db.Close() }()
		if err := <-waited; rocksdb.CodeOf(err) != rocksdb.CodeShutdownInProgress {
			x.Error(err)
		}
		x.must(<-closed)
		syncpoint.Reset()
	})
}

func TestDBCompactionWaitForCompactTest_WaitForCompactWithOptionToFlush(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		compactions, flushes := passes("DBImpl::BackgroundCompaction:AfterCompaction"), passes("FlushJob::End")
		syncpoint.EnableProcessing()
		want := func(c, f int64) {
			x.Helper()
			same(x, "compactions", compactions.Load(), c)
			same(x, "flushes", flushes.Load(), f)
		}
		x.mustPut(0, key(0), "some random string") // is in the first file, too
		want(0, 0)
		x.wantFiles(0, "2")
		x.must(x.wait())
		shape := "2"
		if x.Flush {
			want(1, 1)
			shape = "1,2"
		} else {
			want(0, 0)
		}
		if !x.CloseDB {
			x.wantFiles(0, shape)
		}
		compactions.Store(0)
		flushes.Store(0)
		x.reopen(x.o)
		same(x, "flushes", flushes.Load(), 0)
		if x.Flush {
			same(x, "compactions", compactions.Load(), 0)
		} else {
			// The log's entries were made a file.
			x.must(x.wait())
			same(x, "compactions", compactions.Load(), 1)
		}
		if !x.CloseDB {
			x.wantFiles(0, "1,2")
		}
		syncpoint.Reset()
	})
}

func TestDBCompactionWaitForCompactTest_WaitForCompactWithOptionToFlushAndCloseDB(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		compactions, flushes := passes("DBImpl::BackgroundCompaction:Finish"), passes("FlushJob::End")
		syncpoint.EnableProcessing()
		wo := rocksdb.DefaultWriteOptions()
		wo.DisableWAL = true
		x.must(x.db.Put(&wo, []byte(key(0)), []byte("some random string")))
		same(x, "flushes", flushes.Load(), 0)
		x.wantFiles(0, "2")
		x.must(x.wait())
		flushed := int64(0)
		if x.Flush || x.CloseDB {
			flushed = 1
		}
		same(x, "flushes", flushes.Load(), flushed)
		if !x.CloseDB {
			same(x, "compactions", compactions.Load(), flushed)
			x.close() // flushes what is in no log
		}
		flushes.Store(0)
		x.reopen(x.o)
		same(x, "flushes", flushes.Load(), 0)
		if compactions.Load() == 0 { // it was ended by the shutdown
			x.must(x.wait())
		}
		same(x, "compactions", compactions.Load(), 1)
		if !x.CloseDB {
			x.wantFiles(0, "1,2")
		}
		syncpoint.Reset()
	})
}

func TestDBCompactionWaitForCompactTest_WaitForCompactToTimeout(t *testing.T) {
	eachWait(t, func(x *waitTest) {
		const point = "DBCompactionTest::WaitForCompactToTimeout"
		order(point, "CompactionJob::Run():Start")
		x.fillMemtable()
		x.flush(0)
		if x.Timeout > 0 {
			x.Timeout = time.Millisecond
		} else { // the wait would not end
			syncpoint.Process(point)
		}
		if err := x.wait(); x.Timeout > 0 != errors.Is(err, rocksdb.ErrTimedOut) || x.Timeout == 0 && err != nil {
			x.Error(err)
		}
		syncpoint.Reset()
	})
}

// fillLevel0 flushes files with the same two keys.
func (x *dbTest) fillLevel0(cf, files int, o rocksdb.FlushOptions) {
	x.Helper()
	rnd := util.NewRandom(301)
	for range files {
		x.puts(cf, key(0), rnd.RandomString(1024), key(1), rnd.RandomString(1024))
		x.must(x.cf(cf).Flush(&o))
	}
}

// delayedOptions begin to slow writes down at 8 files of level 0.
func (x *dbTest) delayedOptions(trigger int) rocksdb.Options {
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger = trigger, 8
	return o
}

func TestDBCompactionTest_CompactRangeDelayedByL0FileCount(t *testing.T) {
	for _, c := range []struct {
		trigger int
		until   string // the automatic compaction may end
	}{
		{4, "DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait"},
		{8, "DBImpl::FlushMemTable:StallWaitDone"}, // a stall cannot be avoided, there is no delay
	} {
		x := newCompactionTest(t)
		x.reopen(x.delayedOptions(c.trigger))
		order(c.until, "CompactionJob::Run():End")
		x.fillLevel0(0, 7, rocksdb.DefaultFlushOptions())
		x.compact(0, "", "")
		x.must(x.full().TestWaitForCompact())
		x.wantLevelFiles(0, 0)
		if x.numTableFilesAtLevel(1, 0) == 0 {
			t.Error("level 1 has no file")
		}
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_CompactRangeDelayedByImmMemTableCount(t *testing.T) {
	const limit = 8
	for _, c := range []struct {
		merge int
		until string // flushes may go on
	}{
		{1, "DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait"},
		{limit, "DBImpl::FlushMemTable:StallWaitDone"}, // a stall cannot be avoided, there is no delay
	} {
		x := newCompactionTest(t)
		o := x.currentOptions()
		o.DisableAutoCompactions, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = true, limit+1, c.merge
		x.reopen(o)
		order(c.until, "FlushJob::WriteLevel0Table")
		rnd := util.NewRandom(301)
		fo := rocksdb.DefaultFlushOptions()
		fo.Wait, fo.AllowWriteStall = false, true
		for range limit - 1 {
			x.mustPut(0, key(0), rnd.RandomString(1024))
			x.must(x.db.Flush(&fo))
		}
		x.mustPut(0, key(0), rnd.RandomString(1024)) // one memtable more is flushed
		x.compact(0, "", "")
		x.waitForFlush(0)
		x.wantLevelFiles(0, 0)
		if x.numTableFilesAtLevel(1, 0) == 0 {
			t.Error("level 1 has no file")
		}
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_CompactRangeShutdownWhileDelayed(t *testing.T) {
	const point = "DBCompactionTest::CompactRangeShutdownWhileDelayed:"
	for _, drop := range []bool{true, false} {
		x := newCompactionTest(t)
		x.createAndReopenWithCF([]string{"one"}, x.delayedOptions(4))
		// The automatic compaction does not end before the manual one.
		order("DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait", point+"PreShutdown",
			point+"PostManual", "CompactionJob::Run():End")
		x.fillLevel0(1, 7, rocksdb.DefaultFlushOptions())
		done := make(chan error)
		go func() { done <- x.cf(1).CompactRange(nil, nil, nil) }()
		syncpoint.Process(point + "PreShutdown")
		want := rocksdb.CodeShutdownInProgress
		if drop {
			x.must(x.db.DropColumnFamily(x.cf(1)))
			want = rocksdb.CodeColumnFamilyDropped
		} else {
			x.db.CancelAllBackgroundWork(false)
		}
		same(t, "code", rocksdb.CodeOf(<-done), want)
		syncpoint.Process(point + "PostManual")
		if err := x.full().TestWaitForCompact(); drop != (err == nil) {
			t.Errorf("drop=%t: %v", drop, err)
		}
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_CompactRangeSkipFlushAfterDelay(t *testing.T) {
	const point = "DBCompactionTest::CompactRangeSkipFlushAfterDelay:"
	x := newCompactionTest(t)
	x.reopen(x.delayedOptions(4))
	// A flush takes the memtable that was there when CompactRange began.
	order("DBImpl::WaitUntilFlushWouldNotStallWrites:StallWait", point+"PreFlush",
		point+"PostFlush", "DBImpl::FlushMemTable:StallWaitDone",
		"DBImpl::FlushMemTable:StallWaitDone", "CompactionJob::Run():End")
	fo := rocksdb.DefaultFlushOptions()
	fo.AllowWriteStall = true
	x.fillLevel0(0, 7, fo)
	done := make(chan error)
	go func() { done <- x.db.CompactRange(nil, nil, nil) }()
	syncpoint.Process(point + "PreFlush")
	rnd := util.NewRandom(302)
	x.mustPut(0, "0", rnd.RandomString(1024))
	x.must(x.db.Flush(&fo))
	x.mustPut(0, "0", rnd.RandomString(1024))
	syncpoint.Process(point + "PostFlush")
	x.must(<-done)
	x.wantInt(0, rocksdb.PropertyNumEntriesActiveMemTable, 1) // its own flush was left out
}

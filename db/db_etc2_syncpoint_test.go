//go:build syncpoint

// Port of db/db_etc2_test.cc.

package db_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// compactionInputs counts the inputs of compactions that begin and end.
type compactionInputs struct {
	rocksdb.EventListenerBase
	x            *dbTest
	begun, ended atomic.Int64
}

func (l *compactionInputs) check(i *rocksdb.CompactionJobInfo) int64 {
	if i.CFName != "default" || i.BaseInputLevel != 0 || i.CompactionReason != contract.CompactionReasonLevelL0FilesNum {
		l.x.Errorf("compaction of %s from level %d for %v", i.CFName, i.BaseInputLevel, i.CompactionReason)
	}
	return int64(len(i.InputFiles))
}

func (l *compactionInputs) OnCompactionBegin(_ rocksdb.DBRef, i *rocksdb.CompactionJobInfo) {
	l.begun.Add(l.check(i))
}

func (l *compactionInputs) OnCompactionCompleted(_ rocksdb.DBRef, i *rocksdb.CompactionJobInfo) {
	l.ended.Add(l.check(i))
}

func TestDBTest2_CompactionStall(t *testing.T) {
	const point = "DBTest2::CompactionStall:"
	x := newDBTest(t)
	order("DBImpl::BGWorkCompaction", point+"0", "DBImpl::BGWorkCompaction", point+"1",
		point+"2", "DBImpl::NotifyOnCompactionBegin::UnlockMutex", point+"3", "DBImpl::NotifyOnCompactionCompleted::UnlockMutex")
	l := &compactionInputs{x: x}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 4, 40
	o.Listeners = append(o.Listeners, l)
	x.destroyAndReopen(o)
	pressure := x.full().TestWriteController().GetCompactionPressureToken()
	defer pressure.Release()
	rnd := util.NewRandom(301)
	files := func(n int) {
		for range n {
			for range 10 {
				x.mustPut(0, rnd.RandomString(10), rnd.RandomString(10))
			}
			x.flush(0)
		}
	}
	files(4)
	syncpoint.Process(point + "0")
	syncpoint.ClearTrace()
	files(6)
	for _, n := range []string{"1", "2", "3"} {
		syncpoint.Process(point + n)
	}
	x.must(x.full().TestWaitForCompact())
	if n := x.numTableFilesAtLevel(0, 0); n >= 4 {
		t.Errorf("%d files at level 0", n)
	}
	if n := l.ended.Load(); n <= 6 || l.begun.Load() != n {
		t.Errorf("%d inputs begun, %d ended", l.begun.Load(), n)
	}
}

func forceOptimized() *rocksdb.CompactRangeOptions {
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction, cro.BottommostLevelCompaction = false, contract.BottommostLevelCompactionForceOptimized
	return &cro
}

// pairsOfKeys flushes files of two keys each.
func (x *dbTest) pairsOfKeys(keys ...int) {
	x.Helper()
	for i := 0; i < len(keys); i += 2 {
		x.mustPut(0, key(keys[i]), "a")
		x.mustPut(0, key(keys[i+1]), "a")
		x.flush(0)
	}
}

func TestDBTest2_AutomaticCompactionOverlapManualCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.MaxBackgroundJobs = 3, 20
	x.destroyAndReopen(o)
	x.pairsOfKeys(0, 5, 10, 15)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.wantFiles(0, "0,0,2")
	stats := func(level string) string { return x.mapProperty(0, "rocksdb.cfstats")["compaction."+level+".NumFiles"] }
	for level, want := range map[string]string{"L0": "", "L1": "", "L2": "2.000000", "Sum": "2.000000"} {
		if got := stats(level); got != want && !(want == "" && got == "0.000000") {
			t.Errorf("%s has %q files, not %q", level, got, want)
		}
	}
	// Two files are made that fit into level 2 beside those that are there, but not
	// beside the one they are compacted to.
	syncpoint.SetCallBack("CompactionJob::Run():Start", func(any) {
		x.setOptions("level0_file_num_compaction_trigger", "2", "max_bytes_for_level_base", "1")
		x.pairsOfKeys(6, 7, 8, 9)
	})
	syncpoint.EnableProcessing()
	x.must(x.db.CompactRange(forceOptimized(), nil, nil))
	syncpoint.DisableProcessing()
	if got := stats("L2"); got != "1.000000" {
		t.Errorf("L2 has %s files", got)
	}
}

func TestDBTest2_ManualCompactionOverlapManualCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.MaxBackgroundJobs, o.DisableAutoCompactions = 2, 20, true
	x.destroyAndReopen(o)
	x.pairsOfKeys(0, 5, 10, 15)
	x.compact(0, "", "")
	x.wantFiles(0, "0,2")
	var once sync.Once
	other := make(chan error, 1)
	syncpoint.SetCallBack("CompactionJob::Run():Start", func(any) {
		once.Do(func() {
			x.pairsOfKeys(6, 7, 8, 9)
			go func() { // has to wait for the compaction under way
				cro := rocksdb.DefaultCompactRangeOptions()
				cro.ExclusiveManualCompaction = false
				other <- x.db.CompactRange(&cro, []byte(key(6)), []byte(key(9)))
			}()
			time.Sleep(100 * time.Millisecond)
		})
	})
	syncpoint.EnableProcessing()
	x.must(x.db.CompactRange(forceOptimized(), nil, nil))
	x.must(<-other)
}

func isPaused(err error) bool {
	return rocksdb.CodeOf(err) == rocksdb.CodeIncomplete && contract.AsStatus(err).SubCode == contract.SubCodeManualCompactionPaused
}

// pauseCompactFiles has CompactFiles find that manual compactions are paused.
func pauseCompactFiles(t *testing.T) {
	syncpoint.SetCallBack("TestCompactFiles:PausingManualCompaction:3", func(arg any) {
		paused := arg.(*atomic.Int32)
		same(t, "paused", paused.Load(), 0)
		paused.Add(1)
	})
}

func TestDBTest2_PausingManualCompaction1(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 7
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 2 {
		for i := range 10 {
			x.mustPut(0, key(i), rnd.RandomString(50))
		}
		x.flush(0)
	}
	paused := 0
	syncpoint.SetCallBack("CompactionJob::Run():PausingManualCompaction:1", func(arg any) {
		if c := arg.(*atomic.Bool); c != nil {
			c.Store(true)
		}
		paused++
	})
	pauseCompactFiles(t)
	syncpoint.EnableProcessing()
	before := x.tableNames()
	if err := x.db.CompactRange(nil, nil, nil); !isPaused(err) {
		t.Errorf("CompactRange: %v", err)
	}
	x.must(x.full().TestWaitForCompact())
	if !slices.Equal(x.tableNames(), before) {
		t.Error("the files have changed")
	}
	same(t, "pauses", paused, 1)
	paused = 0
	if _, err := x.db.CompactFiles(nil, before, 0, -1, nil); !isPaused(err) {
		t.Errorf("CompactFiles: %v", err)
	}
	x.must(x.full().TestWaitForCompact())
	if !slices.Equal(x.tableNames(), before) {
		t.Error("the files have changed")
	}
	same(t, "pauses", paused, 0)
	syncpoint.Reset()
	x.db.EnableManualCompaction() // takes back what the callback did
}

// sevenLevels has two files at level 0, three at level 1 and so on.
func (x *dbTest) sevenLevels() {
	x.Helper()
	const levels = 7
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, levels
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range levels {
		for j := range levels - i + 1 {
			for k := range 100 { // a tenth of upstream's
				x.mustPut(0, key(k+j*100), rnd.RandomString(50))
			}
			x.flush(0)
		}
		for l := 1; l < levels-i; l++ {
			x.moveFilesToLevel(l, 0)
		}
	}
	x.wantFiles(0, "2,3,4,5,6,7,8")
}

func (x *dbTest) wantAllCompacted(o *rocksdb.CompactRangeOptions) {
	x.Helper()
	x.must(x.db.CompactRange(o, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,0,0,2")
}

func TestDBTest2_PausingManualCompaction3(t *testing.T) {
	x := newDBTest(t)
	x.sevenLevels()
	runs := passes("CompactionJob::Run():PausingManualCompaction:1")
	syncpoint.EnableProcessing()
	x.db.DisableManualCompaction()
	if err := x.db.CompactRange(nil, nil, nil); !isPaused(err) {
		t.Error(err)
	}
	x.must(x.full().TestWaitForCompact())
	same(t, "runs", runs.Load(), 0)
	x.wantFiles(0, "2,3,4,5,6,7,8")
	x.db.EnableManualCompaction()
	x.wantAllCompacted(nil)
}

func TestDBTest2_PausingManualCompaction4(t *testing.T) {
	x := newDBTest(t)
	x.sevenLevels()
	runs := 0
	syncpoint.SetCallBack("CompactionJob::Run():PausingManualCompaction:2", func(arg any) {
		if c := arg.(*atomic.Bool); c != nil {
			c.Store(true)
		}
		runs++
	})
	syncpoint.EnableProcessing()
	if err := x.db.CompactRange(nil, nil, nil); !isPaused(err) {
		t.Error(err)
	}
	x.must(x.full().TestWaitForCompact())
	same(t, "runs", runs, 1)
	x.wantFiles(0, "2,3,4,5,6,7,8")
	syncpoint.Reset()
	x.wantAllCompacted(nil)
}

func TestDBTest2_CancelManualCompaction1(t *testing.T) {
	x := newDBTest(t)
	x.sevenLevels()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.Canceled = &atomic.Bool{}
	cro.Canceled.Store(true)
	runs := passes("CompactionJob::Run():PausingManualCompaction:1")
	var levels atomic.Int64
	limit := int64(-1)
	syncpoint.SetCallBack("DBImpl::RunManualCompaction()::1", func(any) {
		if levels.Add(1) == limit {
			cro.Canceled.Store(true)
		}
	})
	syncpoint.EnableProcessing()
	canceled := func() {
		t.Helper()
		if err := x.db.CompactRange(&cro, nil, nil); !isPaused(err) {
			t.Error(err)
		}
		x.must(x.full().TestWaitForCompact())
	}
	canceled()
	same(t, "levels compacted", levels.Load(), 0)
	same(t, "runs", runs.Load(), 0)
	x.wantFiles(0, "2,3,4,5,6,7,8")
	limit = 3
	cro.Canceled.Store(false)
	canceled()
	same(t, "levels compacted", levels.Load(), 3)
	syncpoint.Reset()
	cro.Canceled.Store(false)
	x.wantAllCompacted(&cro)
}

// flushBetween writes v2 and flushes between two points, once the database has
// v1.
func flushBetween(t *testing.T, first, second string, read func(x *dbTest)) {
	x := newDBTest(t)
	x.mustPut(0, "foo", "v1")
	order(first, "flush:1", "flush:2", second)
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("flush:1")
		fo := rocksdb.DefaultFlushOptions()
		if err := errors.Join(x.put(0, "foo", "v2"), x.db.Flush(&fo)); err != nil {
			t.Error(err)
		}
		syncpoint.Process("flush:2")
	})
	read(x)
	wg.Wait()
}

func wantIterated(x *dbTest, it *rocksdb.Iterator, want string) {
	x.Helper()
	it.Seek([]byte("foo"))
	same(x, "entry", iterStatus(it), want)
	x.must(errors.Join(it.Err(), it.Close()))
}

func TestDBTest2_IterRaceFlush1(t *testing.T) {
	flushBetween(t, "DBImpl::NewIterator:1", "DBImpl::NewIterator:2", func(x *dbTest) {
		wantIterated(x, x.db.NewIterator(nil), "foo->v2")
	})
}

func TestDBTest2_IterRaceFlush2(t *testing.T) {
	flushBetween(t, "DBImpl::NewIterator:3", "DBImpl::NewIterator:4", func(x *dbTest) {
		wantIterated(x, x.db.NewIterator(nil), "foo->v1")
	})
}

func TestDBTest2_IterRefreshRaceFlush(t *testing.T) {
	flushBetween(t, "ArenaWrappedDBIter::Refresh:1", "ArenaWrappedDBIter::Refresh:2", func(x *dbTest) {
		it := x.db.NewIterator(nil)
		x.must(errors.Join(it.Err(), it.Refresh(nil)))
		wantIterated(x, it, "foo->v2")
	})
}

func TestDBTest2_GetRaceFlush1(t *testing.T) {
	flushBetween(t, "DBImpl::GetImpl:1", "DBImpl::GetImpl:2", func(x *dbTest) {
		if got := x.get(0, "foo"); got != "v1" && got != "v2" {
			x.Errorf("foo is %s", got)
		}
	})
}

func TestDBTest2_GetRaceFlush2(t *testing.T) {
	flushBetween(t, "DBImpl::GetImpl:3", "DBImpl::GetImpl:4", func(x *dbTest) {
		if got := x.get(0, "foo"); got != "v1" && got != "v2" {
			x.Errorf("foo is %s", got)
		}
	})
}

func TestDBTest2_LowPriWrite(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 12, 30
	o.DelayedWriteRate = 8 << 20
	x.reopen(o)
	var limited atomic.Int64
	syncpoint.SetCallBack("GenericRateLimiter::Request:1", func(arg any) {
		limited.Add(1)
		same(t, "rate", arg.(*atomic.Int64).Load(), 1<<20)
	})
	// Level 6 is large, so that there is not much to compact for its size.
	rnd := util.NewRandom(301)
	x.mustPut(0, "", rnd.RandomString(102400))
	x.flush(0)
	x.moveFilesToLevel(6, 0)
	x.mustPut(0, "", "")
	x.flush(0)
	x.moveFilesToLevel(5, 0)
	order("DBTest.LowPriWrite:0", "DBImpl::BGWorkCompaction")
	low, high := rocksdb.DefaultWriteOptions(), rocksdb.DefaultWriteOptions()
	low.LowPri = true
	for range 6 {
		x.mustPutWith(0, "", "", &high)
		x.mustPutWith(0, "", "", &low)
		x.flush(0)
	}
	same(t, "limited", limited.Load(), 0)
	x.mustPutWith(0, "", "", &low)
	same(t, "limited", limited.Load(), 1)
	x.mustPutWith(0, "", "", &high)
	same(t, "limited", limited.Load(), 1)
	big := dummyString(1<<18, 'x') // a quarter of upstream's
	x.mustPutWith(0, "", big, &low)
	if limited.Load() <= 1 {
		t.Error("a large value is not limited")
	}
	limited.Store(0)
	x.mustPutWith(0, "", big, &high)
	same(t, "limited", limited.Load(), 0)
	syncpoint.Process("DBTest.LowPriWrite:0")
	syncpoint.DisableProcessing()
	x.must(x.full().TestWaitForCompact())
	syncpoint.EnableProcessing()
	x.mustPutWith(0, "", "", &low)
	x.mustPutWith(0, "", "", &high)
	same(t, "limited", limited.Load(), 0)
}

func TestDBTest2_LiveFilesOmitObsoleteFiles(t *testing.T) {
	const point = "DBTest2::LiveFilesOmitObsoleteFiles:"
	x := newDBTest(t)
	// What a flush found obsolete is not listed, though it is deleted later on.
	syncpoint.SetCallBack("DBImpl::PurgeObsoleteFiles:Begin", func(any) { time.Sleep(200 * time.Millisecond) })
	order("DBImpl::BackgroundCallFlush:FilesFound", point+"FlushTriggered", "DBImpl::PurgeObsoleteFiles:End", point+"LiveFilesCaptured")
	x.mustPut(0, "key", "val")
	fo := rocksdb.DefaultFlushOptions()
	fo.Wait = false
	x.must(x.db.Flush(&fo))
	syncpoint.Process(point + "FlushTriggered")
	x.must(x.db.DisableFileDeletions())
	wals := x.wals()
	syncpoint.Process(point + "LiveFilesCaptured")
	there := x.walNumbers()
	for _, w := range wals {
		if !slices.Contains(there, w.LogNumber) {
			t.Errorf("log %d is gone", w.LogNumber)
		}
	}
	x.must(x.db.EnableFileDeletions())
}

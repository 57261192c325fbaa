//go:build syncpoint

// Port of db/db_test.cc (jobs that meet, limits of pending compaction, samples of
// reads).

package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// order has points wait: each for the one before it, by pairs.
func order(points ...string) {
	var list []syncpoint.Pair
	for i := 0; i < len(points); i += 2 {
		list = append(list, syncpoint.Pair{Predecessor: points[i], Successor: points[i+1]})
	}
	syncpoint.LoadDependency(list...)
	syncpoint.EnableProcessing()
}

func TestDBTest_GetThreadStatus(t *testing.T) {
	x := newDBTest(t)
	pools := []rocksdb.Priority{rocksdb.HighPriority, rocksdb.LowPriority, rocksdb.BottomPriority}
	types := []contract.ThreadType{contract.ThreadTypeHighPriority, contract.ThreadTypeLowPriority, contract.ThreadTypeBottomPriority}
	for _, p := range pools {
		x.poolSize(1, p)
	}
	o := x.plainOptions()
	o.EnableThreadTracking = true
	x.reopen(o)
	families := func(want ...string) {
		t.Helper()
		list, err := x.env.GetThreadList()
		x.must(err)
		for _, s := range list {
			if s.CFName != "" && !strings.Contains(" "+strings.Join(want, " ")+" ", " "+s.CFName+" ") {
				t.Errorf("a worker of family %s", s.CFName)
			}
		}
	}
	for round := range 2 {
		for _, counts := range [][3]int{{3, 10, 2}, {2, 15, 1}, {5, 3, 4}} {
			for i, p := range pools {
				x.env.SetBackgroundThreads(counts[i], p)
			}
			eventually(t, fmt.Sprintf("not as many threads as %v", counts), func() bool {
				list, err := x.env.GetThreadList()
				x.must(err)
				got := [3]int{}
				for _, s := range list {
					for i, typ := range types {
						if s.ThreadType == typ {
							got[i]++
						}
					}
				}
				return got == counts
			})
		}
		if round == 0 {
			x.createAndReopenWithCF([]string{"pikachu", "about-to-remove"}, o)
			families("default", "pikachu", "about-to-remove")
		}
	}
	x.must(x.db.DropColumnFamily(x.cfs[2]))
	x.must(x.cfs[2].Close())
	x.cfs = x.cfs[:2]
	families("default", "pikachu")
	x.close()
	families()
}

// busyOptions make many flushes and compactions.
func (x *dbTest) busyOptions(sub uint32) rocksdb.Options {
	const entry, entries, level0 = 1000, 40, 4
	x.poolSize(3, rocksdb.HighPriority)
	x.poolSize(5, rocksdb.LowPriority)
	o := x.plainOptions()
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = entry*entries, entry*entries, entry*entries*level0
	o.Compression, o.EnableThreadTracking, o.Level0FileNumCompactionTrigger = rocksdb.NoCompression, true, level0
	o.MaxBytesForLevelMultiplier, o.MaxBackgroundCompactions, o.MaxSubcompactions = 2, 5, sub
	o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = 1<<10, 1<<10
	return o
}

// makeBusy writes until enough jobs were seen; late is called near the end.
func (x *dbTest) makeBusy(late func()) {
	x.Helper()
	rnd, k, flushes, compactions := util.NewRandom(301), 0, 0, 0
	for file := range 16 * 4 {
		for range 40 {
			x.mustPut(0, fmt.Sprint(k), rnd.RandomString(984))
			k++
		}
		flushes += x.operations(contract.OpFlush)
		compactions += x.operations(contract.OpCompaction)
		if flushes > 1 && compactions > 3 {
			break
		}
		if file == 15*4 {
			late()
		}
	}
	if compactions < 1 {
		x.Error("no compaction was seen")
	}
}

func TestDBTestWithParam_PreShutdownMultipleCompaction(t *testing.T) {
	const point = "DBTest::PreShutdownMultipleCompaction:"
	eachCompactionParam(t, func(x *dbTest, sub uint32, _ bool) {
		x.reopen(x.busyOptions(sub))
		order("FlushJob::FlushJob()", "CompactionJob::Run():Start",
			"CompactionJob::Run():Start", point+"Preshutdown",
			"CompactionJob::Run():Start", point+"VerifyCompaction",
			point+"Preshutdown", "CompactionJob::Run():End",
			"CompactionJob::Run():End", point+"VerifyPreshutdown")
		x.makeBusy(func() { syncpoint.Process(point + "Preshutdown") })
		syncpoint.Process(point + "Preshutdown")
		x.db.CancelAllBackgroundWork(false)
		syncpoint.Process(point + "VerifyPreshutdown")
		x.must(x.full().TestWaitForBackgroundWork())
		same(x, "compactions", x.operations(contract.OpCompaction), 0)
		syncpoint.Reset()
	})
}

func TestDBTestWithParam_PreShutdownCompactionMiddle(t *testing.T) {
	const point = "DBTest::PreShutdownCompactionMiddle:"
	eachCompactionParam(t, func(x *dbTest, sub uint32, _ bool) {
		x.reopen(x.busyOptions(sub))
		order(point+"Preshutdown", "CompactionJob::Run():Inprogress",
			"CompactionJob::Run():Start", point+"VerifyCompaction",
			"CompactionJob::Run():Inprogress", "CompactionJob::Run():End",
			"CompactionJob::Run():End", point+"VerifyPreshutdown")
		x.makeBusy(func() { syncpoint.Process(point + "VerifyCompaction") })
		x.db.CancelAllBackgroundWork(false)
		syncpoint.Process(point + "Preshutdown")
		syncpoint.Process(point + "VerifyPreshutdown")
		x.must(x.full().TestWaitForBackgroundWork())
		same(x, "compactions", x.operations(contract.OpCompaction), 0)
		syncpoint.Reset()
	})
}

// twoKeys flushes files of the same two keys.
func (x *dbTest) twoKeys(files int, rnd *util.Random) {
	x.Helper()
	for range files {
		for j := range 2 {
			x.mustPut(0, key(j), rnd.RandomString(1024))
		}
		x.flush(0)
	}
}

func TestDBTest_AutomaticConflictsWithManualCompaction(t *testing.T) {
	const point = "DBTest::AutomaticConflictsWithManualCompaction:"
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 999999, 999999
	o.MaxBackgroundCompactions = 10
	x.destroyAndReopen(o)
	conflicts := passes("DBImpl::MaybeScheduleFlushOrCompaction:Conflict")
	order("DBImpl::BackgroundCompaction:Start", point+"PrePuts", point+"PostPuts", "DBImpl::BackgroundCompaction:NonTrivial:AfterRun")
	rnd := util.NewRandom(301)
	x.twoKeys(2, rnd)
	manual := make(chan error)
	go func() {
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.ExclusiveManualCompaction = true
		manual <- x.db.CompactRange(&cro, nil, nil)
	}()
	syncpoint.Process(point + "PrePuts")
	x.twoKeys(50, rnd)
	syncpoint.Process(point + "PostPuts")
	if conflicts.Load() == 0 {
		t.Error("no conflict")
	}
	for i := range 2 {
		if x.get(0, key(i)) == "NOT_FOUND" {
			t.Errorf("%s is lost", key(i))
		}
	}
	syncpoint.DisableProcessing()
	x.must(<-manual)
	x.must(x.full().TestWaitForCompact())
}

func TestDBTest_CompactFilesShouldTriggerAutoCompaction(t *testing.T) {
	const point = "DBTest::CompactFilesShouldTriggerAutoCompaction:"
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxBackgroundCompactions, o.Level0FileNumCompactionTrigger = 1, 4
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 36, 36
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	x.twoKeys(2, rnd)
	level0 := func() []contract.SstFileMetaData { return x.db.GetColumnFamilyMetaData(nil).Levels[0].Files }
	file := level0()[0].Name
	order("CompactFilesImpl:0", point+"Begin", point+"End", "CompactFilesImpl:1")
	done := make(chan error)
	go func() {
		_, err := x.db.CompactFiles(nil, []string{file}, 0, -1, nil)
		done <- err
	}()
	syncpoint.Process(point + "Begin")
	x.twoKeys(20, rnd)
	if n := len(level0()); n <= 4 {
		t.Errorf("%d files at level 0", n)
	}
	syncpoint.Process(point + "End")
	x.must(<-done)
	x.must(x.full().TestWaitForCompact())
	if n := len(level0()); n > 4 {
		t.Errorf("%d files at level 0", n)
	}
}

func TestDBTest_FlushesInParallelWithCompactRange(t *testing.T) {
	const point = "DBTest::FlushesInParallelWithCompactRange:"
	for iter := range 3 {
		x := newDBTest(t)
		o := x.currentOptions()
		if iter == 2 {
			o.CompactionStyle = rocksdb.CompactionStyleUniversal
		}
		o.WriteBufferSize, o.Level0FileNumCompactionTrigger, o.NumLevels = 110<<10, 4, 4
		o.Compression, o.MaxBytesForLevelBase, o.TargetFileSizeBase, o.MaxWriteBufferNumber = rocksdb.NoCompression, 450<<10, 98<<10, 2
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		for range 14 {
			x.generateRandomFile(rnd, true)
		}
		if iter == 1 { // between the compactions of two levels
			order("DBImpl::RunManualCompaction()::1", point+"1", point+"2", "DBImpl::RunManualCompaction()::2")
		} else {
			order("CompactionJob::Run():Start", point+"1", point+"2", "CompactionJob::Run():End")
		}
		done := make(chan error)
		go func() { done <- x.db.CompactRange(nil, []byte("a"), []byte("z")) }()
		syncpoint.Process(point + "1")
		for range 3 { // with two memtables allowed, flushes have to go on
			x.generateRandomFile(rnd, false)
		}
		syncpoint.Process(point + "2")
		x.must(<-done)
		syncpoint.Reset()
		x.close()
	}
}

func TestDBTest_DelayedWriteRate(t *testing.T) {
	const perMemtable, flushes, slowdown = 100, 12, 0.8
	x := newDBTest(t)
	x.poolSize(1, rocksdb.LowPriority)
	clock, e := x.emulatedTime(true)
	o := x.currentOptions()
	o.Env, o.WriteBufferSize, o.MaxWriteBufferNumber, o.MaxBackgroundCompactions = e, 100000000, 256, 1
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 3, 3, 999999
	o.DelayedWriteRate, o.MemtableFactory = 20000000, newSpecialSkipListFactory(perMemtable)
	x.createAndReopenWithCF(pikachu[1:], o)
	task := x.newPoolSleeper()
	task.schedule(rocksdb.LowPriority)
	for i := range 3 {
		x.mustPut(0, key(i), dummyString(10000, 'x'))
		x.flush(0)
	}
	rnd := util.NewRandom(301)
	x.mustPut(0, "", "")
	start, estimated, rate := clock.NowMicros(), uint64(0), float64(o.DelayedWriteRate)
	for i := range flushes {
		size := 0
		for range perMemtable {
			n := int(rnd.Uniform(20))
			x.mustPut(0, key(i), dummyString(n*n*n, 'x'))
			size += n*n*n + 18
			if rnd.Uniform(20) == 6 {
				clock.SleepForMicroseconds(2666)
			}
		}
		x.waitForFlush(0)
		estimated += uint64(float64(size) * 1000000 / rate)
		rate *= slowdown * slowdown // for the memtable's switch, and for the flush
	}
	if spent := clock.NowMicros() - start; spent <= estimated/2 || spent >= estimated*2 {
		t.Errorf("writes took %d, about %d were to be expected", spent, estimated)
	}
	task.wakeUp()
	task.waitUntilDone()
}

func TestDBTest_HardLimit(t *testing.T) {
	x := newDBTest(t)
	x.poolSize(1, rocksdb.LowPriority)
	o := x.currentOptions()
	o.MaxWriteBufferNumber, o.WriteBufferSize, o.ArenaBlockSize = 256, roomForEntries, 4096
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 999999, 999999
	o.HardPendingCompactionBytesLimit, o.MaxBytesForLevelBase, o.MaxBackgroundCompactions = 800<<10, 10000000000, 1
	o.MemtableFactory = newSpecialSkipListFactory(99)
	task := x.newPoolSleeper()
	task.schedule(rocksdb.LowPriority)
	x.createAndReopenWithCF(pikachu[1:], o)
	var stalls atomic.Int64
	syncpoint.SetCallBack("DBImpl::DelayWrite:Wait", func(any) {
		stalls.Add(1)
		task.wakeUp()
	})
	syncpoint.EnableProcessing()
	rnd, k := util.NewRandom(301), 0
	five := func() {
		for range 5 {
			x.generateFile(0, rnd, &k, false)
			x.waitForFlush(0)
		}
	}
	five()
	same(t, "stalls", stalls.Load(), 0)
	five()
	if stalls.Load() == 0 {
		t.Error("no stall")
	}
	syncpoint.DisableProcessing()
	task.waitUntilDone()
}

// stallListener keeps the last condition of writes.
type stallListener struct {
	rocksdb.EventListenerBase
	mu  sync.Mutex
	now rocksdb.WriteStallCondition
}

func (l *stallListener) OnStallConditionsChanged(i *rocksdb.WriteStallInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = i.Cur
}

func (l *stallListener) is(c rocksdb.WriteStallCondition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now == c
}

func TestDBTest_SoftLimit(t *testing.T) {
	x := newDBTest(t)
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	l := &stallListener{now: contract.WriteStallConditionNormal}
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.DelayedWriteRate = 100000, 256, 20000
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1, 3, 999999
	o.SoftPendingCompactionBytesLimit, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 160000, 99999999, 50000
	o.MaxBytesForLevelMultiplier, o.MaxBackgroundCompactions, o.Compression = 10, 1, rocksdb.NoCompression
	o.Listeners = append(o.Listeners, l)
	syncpoint.EnableProcessing()
	x.reopen(o)
	value := dummyString(5000, 'x')
	flush := func() { x.must(x.full().TestFlushMemTable(true, true, x.cf(0).Impl())) }
	for _, level := range []int{3, 2} { // 360 KB in each
		for i := range 72 {
			x.mustPut(0, key(i), value)
			if i%10 == 0 {
				flush()
			}
		}
		x.must(x.full().TestWaitForCompact())
		x.moveFilesToLevel(level, 0)
	}
	x.mustPut(0, key(0), "")
	task := x.newPoolSleeper()
	sleep := func() {
		task.schedule(rocksdb.LowPriority)
		task.waitUntilSleeping()
	}
	// three puts level 0's score to 3; listeners are told when a flush cleans up.
	three := func(from, to int) {
		for i := range 3 {
			x.mustPut(0, key(from+i), value)
			x.mustPut(0, key(to-i), value)
			cleaned := make(chan struct{}, 10)
			syncpoint.SetCallBack("DBImpl::BackgroundCallFlush:ContextCleanedUp", func(any) { cleaned <- struct{}{} })
			flush()
			<-cleaned
			syncpoint.ClearCallBack("DBImpl::BackgroundCallFlush:ContextCleanedUp")
		}
	}
	delayed := func(want bool) {
		t.Helper()
		same(t, "writes are delayed", x.full().TestWriteController().NeedsDelay(), want)
		c := contract.WriteStallConditionNormal
		if want {
			c = contract.WriteStallConditionDelayed
		}
		if !l.is(c) {
			t.Errorf("the listener was not told of %v", c)
		}
	}
	sleep()
	three(0, 100)
	delayed(true)
	task.wakeUp()
	task.waitUntilDone()
	x.must(x.full().TestWaitForCompact())
	same(t, "files at level 1", x.numTableFilesAtLevel(1, 0), 1)
	delayed(false)

	// Compactions are let through one at a time.
	syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) { task.schedule(rocksdb.LowPriority) })
	one := func() {
		task.wakeUp()
		task.waitUntilSleeping()
	}
	sleep()
	three(10, 90)
	one()
	// Level 1 has 10 KB too much: about 100 KB to compact by the multiplier.
	same(t, "files at level 1", x.numTableFilesAtLevel(1, 0), 1)
	delayed(false)
	three(20, 80)
	one()
	// It has 40 KB too much now, by a fanout of 4 about 200 KB.
	same(t, "files at level 1", x.numTableFilesAtLevel(1, 0), 1)
	delayed(true)
	one()
	delayed(false)
	x.setOptions("max_bytes_for_level_base", "5000")
	x.mustPut(0, "", "")
	x.flush(0)
	delayed(true)
	task.waitUntilSleeping()
	syncpoint.DisableProcessing()
	task.wakeUp()
	task.waitUntilDone()
}

func TestDBTest_DeletingOldWalAfterDrop(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxTotalWALSize, o.Compression, o.WriteBufferSize = 8192, rocksdb.NoCompression, 1<<20
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<30, 1<<30, 1<<30
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	order("Test:AllowFlushes", "DBImpl::BGWorkFlush", "DBImpl::BGWorkFlush:done", "Test:WaitForFlush")
	x.createColumnFamilies([]string{"cf1", "cf2"}, o)
	put := func(c *rocksdb.ColumnFamily, k string) { x.must(c.Put(nil, []byte(k), []byte(dummyString(8192, 'v')))) }
	put(x.db.ColumnFamily, "key1")
	put(x.db.ColumnFamily, "key2")
	// The oldest log's families are to be flushed now.
	x.must(x.db.DropColumnFamily(x.cfs[0]))
	syncpoint.Process("Test:AllowFlushes")
	syncpoint.Process("Test:WaitForFlush")
	before := x.full().TestLogfileNumber()
	put(x.cfs[1], "key3")
	put(x.cfs[1], "key4")
	if after := x.full().TestLogfileNumber(); after <= before {
		t.Errorf("log %d after %d", after, before)
	}
}

func TestDBTest_CreationTimeOfOldestFile(t *testing.T) {
	x := newDBTest(t)
	clock, e := x.emulatedTime(false)
	clock.SetMockSleep(true)
	o := x.currentOptions()
	o.MaxOpenFiles, o.Env = -1, e
	now := func() uint64 {
		n, err := clock.GetCurrentTime()
		x.must(err)
		return uint64(n)
	}
	first := now()
	clock.MockSleepForSeconds(50 * 60 * 60)
	second := now()
	// Tables say so themselves, the MANIFEST does not.
	times := make(chan uint64, 2)
	syncpoint.SetCallBack("PropertyBlockBuilder::AddTableProperty:Start", func(arg any) {
		arg.(*rocksdb.TableProperties).FileCreationTime = <-times
	})
	syncpoint.SetCallBack("FileMetaData::FileMetaData", func(arg any) { arg.(*version.FileMetaData).FileCreationTime = 0 })
	syncpoint.EnableProcessing()
	rnd := util.NewRandom(301)
	for _, c := range [][3]uint64{{0, first, 0}, {first, second, first}} {
		x.destroyAndReopen(o)
		times <- c[0]
		times <- c[1]
		for i := range 2 {
			for j := range 32 {
				x.mustPut(0, key(i*32+j), rnd.RandomString(100))
			}
			x.flush(0)
		}
		got, err := x.db.GetCreationTimeOfOldestFile()
		x.must(err)
		same(t, "creation time", got, c[2])
	}
	o = x.currentOptions()
	o.MaxOpenFiles = 10
	x.destroyAndReopen(o)
	_, err := x.db.GetCreationTimeOfOldestFile()
	x.wantIs(err, rocksdb.ErrNotSupported)
}

func TestDBTest_ShuttingDownNotBlockStalledWrites(t *testing.T) {
	const point = "DBTest::ShuttingDownNotBlockStalledWrites"
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	rnd := util.NewRandom(403)
	for i := range 20 {
		x.mustPut(0, fmt.Sprint("key_", i), rnd.RandomString(10))
		x.flush(0)
	}
	same(t, "tables", x.countFiles(rocksdb.TableFile), 20)
	var compactions sync.WaitGroup
	shutdown := make(chan struct{})
	syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) {
		<-shutdown
		time.Sleep(300 * time.Millisecond) // the shutdown is known by then
	})
	order("DBImpl::DelayWrite:Wait", point, point, "BackgroundCallCompaction:0")
	o.Level0StopWritesTrigger, o.DisableAutoCompactions = 20, false
	x.reopen(o)
	compactions.Go(func() {
		if err := x.put(0, "key_101", "101"); !isShutdown(err) {
			t.Error(err)
		}
	})
	syncpoint.Process(point)
	close(shutdown)
	x.db.CancelAllBackgroundWork(true)
	compactions.Wait()
}

// sampled has every read counted, and gives a file's counters.
func (x *dbTest) sampled(o rocksdb.Options) (file func(level int) (*atomic.Uint64, *atomic.Uint64)) {
	syncpoint.SetCallBack("should_sample_file_read:override", func(arg any) { *arg.(*bool) = true })
	syncpoint.EnableProcessing()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	return func(level int) (*atomic.Uint64, *atomic.Uint64) {
		x.Helper()
		files := x.level(level)
		same(x, "files", len(files), 1)
		return &files[0].Stats.NumReadsSampled, &files[0].Stats.NumCollapsibleEntryReadsSampled
	}
}

func (x *dbTest) scanAll() {
	x.Helper()
	it := x.db.NewIterator(nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
	}
	x.must(errors.Join(it.Err(), it.Close()))
}

func TestDBTest_FileReadSampledStats(t *testing.T) {
	x := newDBTest(t)
	file := x.sampled(x.currentOptions())
	x.mustPut(0, "key1", "val1")
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	n, _ := file(1)
	n.Store(0)
	x.wantGet(0, "key1", "val1")
	same(t, "reads by Get", n.Load(), monitoring.FileReadSampleRate)
	n.Store(0)
	x.scanAll()
	same(t, "reads by a scan", n.Load(), monitoring.FileReadSampleRate)
	x.mustPut(0, "key2", "val2")
	x.flush(0)
	n, _ = file(0)
	n.Store(0)
	x.wantGet(0, "key2", "val2")
	same(t, "reads of level 0", n.Load(), monitoring.FileReadSampleRate)
}

func TestDBTest_FileCollapsibleEntryReadSampledStats(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = x.mergeOperator("stringappend")
	file := x.sampled(o)
	x.puts(0, "a", "val_a", "b", "val_b")
	x.mustDelete(0, "b")
	x.mustMerge(0, "c", "merge_c")
	x.puts(0, "d", "val_d")
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	gets := func(n *atomic.Uint64) {
		t.Helper()
		n.Store(0)
		x.wantGet(0, "a", "val_a")
		same(t, "collapsible reads of a key that is there", n.Load(), 0)
		x.wantGet(0, "aa", "NOT_FOUND")
		same(t, "collapsible reads of one that is not", n.Load(), monitoring.FileReadSampleRate)
	}
	_, n := file(1)
	gets(n)
	n.Store(0)
	x.scanAll()
	same(t, "collapsible reads by a scan, of a deletion and an operand", n.Load(), 2*monitoring.FileReadSampleRate)
	x.destroyAndReopen(x.last)
	x.puts(0, "a", "val_a")
	x.mustDelete(0, "b")
	x.puts(0, "d", "val_d")
	x.flush(0)
	_, n = file(0)
	gets(n)
}

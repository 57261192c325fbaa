//go:build syncpoint

// Port of db/db_compaction_test.cc (manual compactions turned off, dynamic
// levels, verified records).

package db_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// openForManual opens a database whose level 0 is compacted from so many files
// on.
func openForManual(t *testing.T, trigger int) *dbTest {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = trigger
	x.reopen(o)
	return x
}

// sameTwo flushes tables of the keys 1 and 2.
func (x *dbTest) sameTwo(n int) {
	x.Helper()
	for range n {
		x.puts(0, key(1), "value1", key(2), "value2", "flush")
	}
}

// compactBeside compacts a range in a goroutine.
func (x *dbTest) compactBeside(exclusive bool, begin, end []byte) (done chan error) {
	done = make(chan error, 1)
	go func() {
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.ExclusiveManualCompaction = exclusive
		done <- x.db.CompactRange(&cro, begin, end)
	}()
	return done
}

func TestDBCompactionTest_DisableMultiManualCompaction(t *testing.T) {
	x := openForManual(t, 10)
	for level := 2; level > 0; level-- {
		for i := range 10 {
			x.mustPut(0, key(i), "value")
			if i%2 == 1 {
				x.flush(0)
			}
		}
		x.moveFilesToLevel(level, 0)
	}
	task := x.newPoolSleeper()
	task.schedule(rocksdb.LowPriority)
	one := x.compactBeside(false, []byte(key(0)), []byte(key(3)))
	two := x.compactBeside(false, []byte(key(4)), []byte(key(7)))
	x.db.DisableManualCompaction()
	x.wantIs(<-one, rocksdb.ErrIncomplete)
	x.wantIs(<-two, rocksdb.ErrIncomplete)
	task.wakeUp()
	task.waitUntilDone()
	x.waitForCompact()
}

func TestDBCompactionTest_DisableJustStartedManualCompaction(t *testing.T) {
	const point = "DBCompactionTest::DisableJustStartedManualCompaction:PreDisableManualCompaction"
	x := openForManual(t, 4)
	x.sameTwo(2)
	order("DBImpl::BGWorkCompaction", point, "DBImpl::RunManualCompaction:Unscheduled", "BackgroundCallCompaction:0")
	done := x.compactBeside(true, nil, nil)
	syncpoint.Process(point)
	x.db.DisableManualCompaction()
	x.wantIs(<-done, rocksdb.ErrIncomplete)
}

func TestDBCompactionTest_DisableInProgressManualCompaction(t *testing.T) {
	const point = "DBCompactionTest::DisableInProgressManualCompaction:PreDisableManualCompaction"
	x := openForManual(t, 4)
	order("DBImpl::BackgroundCompaction:InProgress", point, "DBImpl::RunManualCompaction:Unscheduled", "CompactionJob::Run():Start")
	x.sameTwo(2)
	done := x.compactBeside(true, nil, nil)
	syncpoint.Process(point)
	x.db.DisableManualCompaction()
	x.wantIs(<-done, rocksdb.ErrIncomplete)
}

// queueFull has a manual compaction and an automatic one wait in the pool.
func queueFull(t *testing.T) (x *dbTest, task *poolSleeper, done chan error) {
	const point = "DBCompactionTest::QueueFull:PreDisableManualCompaction"
	x = openForManual(t, 4)
	order("DBImpl::RunManualCompaction:Scheduled", point)
	task = x.newPoolSleeper()
	task.schedule(rocksdb.LowPriority)
	x.sameTwo(2)
	done = x.compactBeside(true, nil, nil)
	syncpoint.Process(point)
	x.sameTwo(4) // the files that wait do not count
	x.wantFiles(0, "6")
	return x, task, done
}

func TestDBCompactionTest_DisableManualCompactionThreadQueueFull(t *testing.T) {
	x, task, done := queueFull(t)
	x.db.DisableManualCompaction()
	x.wantIs(<-done, rocksdb.ErrIncomplete) // before the pool comes to it
	task.wakeUp()
	task.waitUntilDone()
	x.waitForCompact()
	x.wantFiles(0, "0,1")
}

func TestDBCompactionTest_DisableManualCompactionThreadQueueFullDBClose(t *testing.T) {
	x, task, done := queueFull(t)
	x.db.DisableManualCompaction()
	x.wantIs(<-done, rocksdb.ErrIncomplete)
	x.must(x.db.Close())
	task.wakeUp()
	task.waitUntilDone()
}

func TestDBCompactionTest_DBCloseWithManualCompaction(t *testing.T) {
	x, task, done := queueFull(t)
	x.must(x.db.Close())
	x.wantIs(<-done, rocksdb.ErrIncomplete)
	task.wakeUp()
	task.waitUntilDone()
}

func TestDBCompactionTest_DisableManualCompactionDoesNotWaitForDrainingAutomaticCompaction(t *testing.T) {
	x := openForManual(t, 4)
	var completed atomic.Bool
	syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) {
		x.db.DisableManualCompaction()
		completed.Store(true)
	})
	order("DBImpl::BGWorkCompaction", "DBImpl::RunManualCompaction:NotScheduled",
		"DBImpl::RunManualCompaction:WaitScheduled", "BackgroundCallCompaction:0")
	x.sameTwo(4)
	x.wantIs(<-x.compactBeside(true, nil, nil), rocksdb.ErrIncomplete)
	x.waitForCompact()
	same(t, "turned off within the automatic compaction", completed.Load(), true)
}

func TestDBCompactionTest_ChangeLevelConflictsWithManual(t *testing.T) {
	const point = "DBCompactionTest::ChangeLevelConflictsWithManual:PreForegroundCompactRange"
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels = 3
	x.reopen(o)
	rnd := util.NewRandom(301)
	two := func() { x.puts(0, key(0), rnd.RandomString(990), key(1), rnd.RandomString(990)) }
	two()
	x.changeLevel(2)
	x.wantFiles(0, "0,0,1")
	// A level is moved, and manual compactions are off for it, just before
	// another manual compaction is registered.
	order("DBImpl::CompactRange:BeforeRefit:1", point,
		"DBImpl::RunManualCompaction:0", "DBImpl::CompactRange:BeforeRefit:2",
		"DBImpl::CompactRange:PreRefitLevel", "DBImpl::RunManualCompaction:1",
		"DBImpl::RunManualCompaction:PausedAtStart", "DBImpl::CompactRange:PostRefitLevel",
		"DBImpl::CompactRange:PostRefitLevel:ManualCompactionEnabled", "BackgroundCallCompaction:0")
	done := make(chan error)
	go func() { done <- x.db.CompactRange(toLevel(1), nil, nil) }()
	syncpoint.Process(point)
	two()
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrIncomplete)
	x.must(<-done)
	syncpoint.Reset()
}

func TestDBCompactionTest_BottomPriCompactionCountsTowardConcurrencyLimit(t *testing.T) {
	const point = "DBCompactionTest::BottomPriCompactionCountsTowardConcurrencyLimit:"
	for _, reduce := range []bool{false, true} {
		x := newCompactionTest(t)
		x.poolSize(1, rocksdb.BottomPriority)
		o := x.currentOptions()
		o.Level0FileNumCompactionTrigger, o.NumLevels, o.CompactionStyle = 4, 3, rocksdb.CompactionStyleUniversal
		o.CompactionOptionsUniversal.ReduceFileLocking = reduce
		x.destroyAndReopen(o)
		x.puts(0, key(0), "val", "flush")
		x.moveFilesToLevel(2, 0)
		order("DBImpl::BGWorkBottomCompaction", point+"PreTriggerCompaction", point+"PostTriggerCompaction", "BackgroundCallCompaction:0")
		done := make(chan error)
		go func() { done <- x.db.CompactRange(bottommost(rocksdb.BottommostLevelCompactionForce), nil, nil) }()
		resume := x.pauseCompactions() // what is scheduled stays in the queue
		syncpoint.Process(point + "PreTriggerCompaction")
		for range 4 {
			x.puts(0, key(0), "val", "flush")
		}
		same(t, "compactions in the queue", x.env.GetThreadPoolQueueLen(rocksdb.LowPriority), 0)
		syncpoint.Process(point + "PostTriggerCompaction")
		resume()
		x.must(<-done)
		x.close()
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_BottommostFileCompactionAllowIngestBehind(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.AllowIngestBehind = true
	x.destroyAndReopen(o)
	x.puts(0, "infinite", "compaction loop", "infinite", "loop", "flush")
	x.moveFilesToLevel(1, 0)
	x.puts(0, "bumpseqnum", "", "flush")
	s := x.db.GetSnapshot()
	// Sequence numbers are not zeroed, so that nothing is won by compacting the
	// last files over and over.
	picked := passes("LevelCompactionPicker::PickCompaction:Return")
	syncpoint.EnableProcessing()
	x.db.ReleaseSnapshot(s)
	x.waitForCompact()
	same(t, "compactions", picked.Load(), 0)
}

func TestDBCompactionTest_TurnOnLevelCompactionDynamicLevelBytes(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Compression, o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 6, rocksdb.NoCompression, 1<<20, 10
	x.destroyAndReopen(o)
	x.mustPut(0, key(1), "val1")
	rnd := util.NewRandom(33)
	for i := 2; i <= 1<<10; i++ { // more than the base level takes, or it would be drained
		x.mustPut(0, key(i), rnd.RandomString(2<<10))
	}
	x.flush(0)
	x.moveFilesToLevel(2, 0)
	x.puts(0, key(2), "val2", "flush")
	x.moveFilesToLevel(2, 0)
	x.puts(0, key(1), "new_val1", "flush")
	x.moveFilesToLevel(1, 0)
	x.puts(0, key(3), "val3", "flush")
	x.wantFiles(0, "1,1,2")
	reopen := func(dynamic bool) {
		t.Helper()
		for i, v := range []string{"new_val1", "val2", "val3"} {
			x.wantGet(0, key(i+1), v)
		}
		o.LevelCompactionDynamicLevelBytes = dynamic
		x.reopen(o)
	}
	reopen(true)
	x.wantFiles(0, "1,0,0,0,1,2") // pushed down as far as possible, but for level 0
	reopen(false)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,1,0,0,1,2")
	reopen(true)
	// To level 3 while opening, from where it may be drained.
	x.wantLevelFiles(1, 0)
	x.wantLevelFiles(2, 0)
	reopen(true)
}

func TestDBCompactionTest_TurnOnLevelCompactionDynamicLevelBytesUCToLC(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 50
	x.createAndReopenWithCF(pikachu[1:], o)
	rnd := util.NewRandom(33)
	for i := range 10 {
		x.puts(1, key(i), rnd.RandomString(1000), "flush")
	}
	x.must(x.cf(1).CompactRange(toLevel(1), nil, nil))
	x.wantFiles(1, "0,1")
	o.CompactionStyle, o.LevelCompactionDynamicLevelBytes = rocksdb.CompactionStyleLevel, true
	for range 2 { // the second time from the MANIFEST
		x.reopenWithColumnFamilies(pikachu, o)
		x.wantFiles(1, strings.Repeat("0,", 49)+"1")
	}
}

func TestDBCompactionTest_DisallowRefitFilesFromNonL0ToL02(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels = 3
	x.destroyAndReopen(o)
	one := x.db.GetSnapshot()
	x.puts(0, "a", "@1", "k", "@2")
	two := x.db.GetSnapshot()
	x.puts(0, "k", "@3", "z", "v3", "flush")
	cutBefore("k", 2, false) // between the versions of k
	cro := forceOptimized()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	x.must(x.db.CompactRange(cro, nil, nil))
	x.wantFiles(0, "0,0,2")
	var bounds []string
	for _, f := range x.level(2) {
		bounds = append(bounds, string(f.Smallest.UserKey())+string(f.Largest.UserKey()))
	}
	same(t, "bounds", strings.Join(bounds, " "), "ak kz")
	x.wantIs(x.db.CompactRange(toLevel(0), nil, nil), rocksdb.ErrAborted)
	x.db.ReleaseSnapshot(one)
	x.db.ReleaseSnapshot(two)
}

// drained has 32 tables of 64 KB in levels that grow by two; each is called after
// each of them, and with the key that follows.
func drained(t *testing.T, each func(x *dbTest, file, next int)) (x *dbTest) {
	const file, value = 64 << 10, 1 << 10
	x = newCompactionTest(t)
	o := x.currentOptions()
	o.Compression, o.LevelCompactionDynamicLevelBytes, o.MaxBytesForLevelBase = rocksdb.NoCompression, true, 256<<10
	o.MaxBytesForLevelMultiplier, o.NumLevels = 2, 5
	x.reopen(o)
	rnd := util.NewRandom(301)
	for f := range 32 {
		for i := range file / value {
			x.mustPut(0, key(f*file/value+i), rnd.RandomString(value))
		}
		x.flush(0)
		each(x, f, (f+1)*file/value)
	}
	x.waitForCompact()
	return x
}

// usedLevels counts the levels from 1 on that have files.
func (x *dbTest) usedLevels() (n int) {
	for level := 1; level < x.storage(0).NumLevels(); level++ {
		if x.numTableFilesAtLevel(level, 0) > 0 {
			n++
		}
	}
	return n
}

func TestDBCompactionTest_DrainUnnecessaryLevelsAfterMultiplierChanged(t *testing.T) {
	x := drained(t, func(*dbTest, int, int) {})
	before := x.usedLevels()
	x.setOptions("max_bytes_for_level_multiplier", "10")
	x.waitForCompact()
	if n := x.usedLevels(); n >= before {
		t.Errorf("%d levels are used, %d were", n, before)
	}
}

func TestDBCompactionTest_DrainUnnecessaryLevelsAfterDBBecomesSmall(t *testing.T) {
	const last = 8 // of the files that are deleted
	end := 0
	x := drained(t, func(x *dbTest, file, next int) {
		if file == last { // they are in the last level
			x.compact(0, "", "")
			x.wantLevelFiles(4, last+1)
			end = next - 64
		}
	})
	before := x.usedLevels()
	x.setOptions("disable_auto_compactions", "true")
	x.deleteRange(0, key(0), key(end))
	x.compact(0, key(0), key(end))
	deleted := x.usedLevels()
	x.setOptions("disable_auto_compactions", "false")
	x.waitForCompact()
	if n := x.usedLevels(); before < deleted || deleted <= n {
		t.Errorf("%d levels were used, %d after the deletion, %d are now", before, deleted, n)
	}
}

// moveWhileCompacting compacts a range, and lets an automatic compaction move its
// output down before it goes on.
func (x *dbTest) moveWhileCompacting(begin, end int) {
	x.Helper()
	order("DBImpl::BackgroundCompaction():AfterPickCompaction", "DBImpl::RunManualCompaction()::1")
	x.must(x.db.CompactRange(bottommost(rocksdb.BottommostLevelCompactionForce), []byte(key(begin)), []byte(key(end))))
	x.waitForCompact()
	syncpoint.Reset()
}

const baseLevelBytes = 1 << 20 // an eighth of upstream's

func (x *dbTest) wholeRangeOptions(dynamic bool) rocksdb.Options {
	o := x.currentOptions()
	o.NumLevels, o.LevelCompactionDynamicLevelBytes, o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 7, dynamic, baseLevelBytes, 2
	o.Compression, o.TargetFileSizeBase = rocksdb.NoCompression, 2*baseLevelBytes
	return o
}

func TestDBCompactionTest_ManualCompactionCompactAllKeysInRange(t *testing.T) {
	x := newCompactionTest(t)
	x.destroyAndReopen(x.wholeRangeOptions(false))
	rnd := util.NewRandom(301)
	x.puts(0, key(1000), rnd.RandomString(100), "flush")
	x.moveFilesToLevel(2, 0)
	x.wantLevelFiles(2, 1)
	x.puts(0, key(5), rnd.RandomString(baseLevelBytes/3), key(6), rnd.RandomString(baseLevelBytes/3), "flush")
	x.moveFilesToLevel(1, 0)
	x.wantLevelFiles(1, 1)
	x.mustPut(0, key(1), rnd.RandomString(baseLevelBytes/2))
	x.moveWhileCompacting(1, 6)
	x.wantLevelFiles(2, 2) // the range in one table
}

func TestDBCompactionTest_ManualCompactionCompactAllKeysInRangeDynamicLevelBytes(t *testing.T) {
	x := newCompactionTest(t)
	x.destroyAndReopen(x.wholeRangeOptions(true))
	rnd := util.NewRandom(301)
	third := func() string { return rnd.RandomString(baseLevelBytes / 3) }
	x.puts(0, key(5), rnd.RandomString(3*baseLevelBytes/2), "flush")
	x.compact(0, "", "")
	x.wantLevelFiles(6, 1)
	x.puts(0, key(3), third(), key(4), third(), "flush")
	x.moveFilesToLevel(5, 0)
	x.wantLevelFiles(5, 1)
	x.puts(0, key(1), third(), key(2), third()) // more than that level takes
	x.moveWhileCompacting(1, 4)
	x.wantLevelFiles(6, 2)
	x.wantLevelFiles(5, 0)
}

// partCounter counts compactions and their parts.
type partCounter struct {
	rocksdb.EventListenerBase
	compactions, parts atomic.Int64
}

func (l *partCounter) OnSubcompactionCompleted(*rocksdb.SubcompactionJobInfo) { l.parts.Add(1) }

func (l *partCounter) OnCompactionCompleted(rocksdb.DBRef, *rocksdb.CompactionJobInfo) {
	l.compactions.Add(1)
}

func TestDBCompactionTest_NumberOfSubcompactions(t *testing.T) {
	for n := int64(1); n <= 8; n++ {
		x := newCompactionTest(t)
		l := &partCounter{}
		o := x.currentOptions()
		o.Compression, o.TargetFileSizeBase, o.Level0FileNumCompactionTrigger = rocksdb.NoCompression, 100<<10, 2
		o.MaxSubcompactions, o.Listeners = uint32(n), append(o.Listeners, l)
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		for file := range 2 { // of ten tables' sizes
			for i := file; i < 2000; i += 2 {
				x.mustPut(0, key(i), rnd.RandomString(500))
			}
			x.flush(0)
		}
		x.waitForCompact()
		same(t, "compactions", l.compactions.Load(), 1)
		same(t, "parts", l.parts.Load(), n)
		x.close()
	}
}

// recordCountFails compacts two tables with a hook at a point whose flag is set
// the nth time, or every nth time, and wants a corruption that says so.
func recordCountFails(t *testing.T, set func(o *rocksdb.Options), tombstone bool, point, message string, now func(n int64) bool) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.CompactionVerifyRecordCount = 3, true
	set(&o)
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for _, first := range []int{1, 0} {
		if first == 0 && tombstone {
			x.deleteRange(0, key(10), key(15))
		}
		for i := first; i < 20; i += 2 {
			x.mustPut(0, key(i), rnd.RandomString(100))
		}
		x.flush(0)
	}
	var n atomic.Int64
	syncpoint.SetCallBack(point, func(arg any) {
		if now(n.Add(1)) {
			*arg.(*bool) = true
		}
	})
	syncpoint.EnableProcessing()
	err := x.db.CompactRange(nil, nil, nil)
	x.wantIs(err, rocksdb.ErrCorruption)
	if !strings.Contains(err.Error(), message) {
		t.Error(err)
	}
	syncpoint.Reset()
}

const (
	inputKeysDiffer  = "Compaction number of input keys does not match number of keys processed."
	outputKeysDiffer = "Number of keys in compaction output SST files does not match number of keys added."
)

func everySeventh(n int64) bool { return n%7 == 0 }

func TestDBCompactionTest_VerifyInputRecordCount(t *testing.T) {
	recordCountFails(t, func(*rocksdb.Options) {}, false, "CompactionJob::ProcessKeyValueCompaction()::stop", inputKeysDiffer,
		func(n int64) bool { return n == 10 })
}

func TestDBCompactionTest_VerifyOutputRecordCountBlockBasedTable(t *testing.T) {
	recordCountFails(t, func(*rocksdb.Options) {}, true, "BlockBasedTableBuilder::Add::skip", outputKeysDiffer, everySeventh)
}

func TestDBCompactionTest_VerifyOutputRecordCountPlainTable(t *testing.T) {
	recordCountFails(t, func(o *rocksdb.Options) {
		p := rocksdb.DefaultPlainTableOptions()
		p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness = 0, 2, 0.8, 3
		p.EncodingType = contract.EncodingPrefix
		o.TableFactory, o.PrefixExtractor = rocksdb.NewPlainTableFactory(p), rocksdb.NewFixedPrefixTransform(8)
		o.AllowConcurrentMemtableWrite = false
	}, false, "PlainTableBuilder::Add::skip", outputKeysDiffer, everySeventh)
}

func TestDBCompactionTest_ReleaseCompactionDuringManifestWrite(t *testing.T) {
	x := newCompactionTest(t)
	x.poolSize(3, rocksdb.LowPriority)
	x.poolSize(3, rocksdb.BottomPriority)
	o := x.currentOptions()
	o.MaxBackgroundCompactions, o.NumLevels = 3, 4
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	table := func(level int, keys ...int) {
		for _, k := range keys {
			x.mustPut(0, key(k), rnd.RandomString(20))
		}
		x.flush(0)
		x.moveFilesToLevel(level, 0)
	}
	for _, k := range []int{1, 10, 100} {
		table(3, k)
	}
	for _, k := range []int{100, 1, 10} {
		table(2, k, k+1)
	}
	x.wantFiles(0, "0,0,3,3")
	// The first that writes the MANIFEST waits for the two others, which are
	// written together.
	var entered, ended atomic.Int64
	syncpoint.SetCallBack("VersionSet::LogAndApply:BeforeWriterWaiting", func(any) {
		if entered.Add(1) == 3 {
			syncpoint.Process("all threads to enter LogAndApply")
		}
	})
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:AfterCompaction", func(arg any) {
		if ended.Add(1) > 1 && arg.(*db.ColumnFamilyData).CompactionPicker().IsCompactionInProgress() {
			t.Error("a compaction is not released")
		}
	})
	order("all threads to enter LogAndApply", "VersionSet::LogAndApply:WriteManifestStart")
	var done []chan error
	for _, k := range []int{1, 10, 100} {
		done = append(done, x.compactBeside(false, []byte(key(k)), []byte(key(k+1))))
	}
	for _, d := range done {
		x.must(<-d)
	}
	syncpoint.Reset()
	same(t, "compactions", fmt.Sprint(ended.Load()), "3")
}

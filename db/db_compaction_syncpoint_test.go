//go:build syncpoint

// Port of db/db_compaction_test.cc (the first half: moves, pools, conflicts).

package db_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// moves counts compactions that move files and those that rewrite them.
type moves struct {
	t                  *testing.T
	trivial, rewriting *atomic.Int64
}

func countMoves(t *testing.T) *moves {
	m := &moves{t, passes("DBImpl::BackgroundCompaction:TrivialMove"), passes("DBImpl::BackgroundCompaction:NonTrivial")}
	syncpoint.EnableProcessing()
	return m
}

func (m *moves) want(trivial, rewriting int64) {
	m.t.Helper()
	if a, b := m.trivial.Load(), m.rewriting.Load(); a != trivial || b != rewriting {
		m.t.Fatalf("%d moves and %d other compactions, not %d and %d", a, b, trivial, rewriting)
	}
}

// take is want, and counts anew.
func (m *moves) take(trivial, rewriting int64) {
	m.t.Helper()
	m.want(trivial, rewriting)
	m.trivial.Store(0)
	m.rewriting.Store(0)
}

// moveListener wants each compaction to move a number of files.
type moveListener struct {
	rocksdb.EventListenerBase
	x    *dbTest
	want int
}

func (l *moveListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	if n := info.Stats.NumInputFilesTriviallyMoved; n != l.want {
		l.x.Errorf("%d files are moved, not %d", n, l.want)
	}
}

// wantPressure lets compactions run in parallel until the test ends.
func (x *dbTest) wantPressure() {
	t := x.full().TestWriteController().GetCompactionPressureToken()
	x.Cleanup(t.Release)
}

func TestDBCompactionTest_UniversalReduceFileLockingRepickNothing(t *testing.T) {
	const trigger = 3
	x := newCompactionTest(t)
	x.poolSize(1, rocksdb.BottomPriority)
	o := x.currentOptions()
	o.CompactionStyle, o.NumLevels, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, 3, trigger
	o.CompactionOptionsUniversal.ReduceFileLocking = true
	o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 1
	o.MaxBackgroundJobs = 3 // one compaction in each pool
	x.destroyAndReopen(o)
	x.wantPressure()
	repicked := atomic.Int64{}
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction():AfterPickCompactionBottomPri", func(arg any) {
		repicked.Add(1)
		// Some of its files went into the compaction of the other pool.
		if c := arg.(*compaction.Compaction); c != nil {
			t.Error("a compaction was picked: ", c.CompactionReason())
		}
	})
	order("DBImpl::BackgroundCompaction:ForwardToBottomPriPool", "LowPriCompaction",
		"DBImpl::BackgroundCompaction:NonTrivial", "DBImpl::BGWorkBottomCompaction")
	x.putFlush("file_locked_for_bottom_pri_compaction", "value")
	for i := 1; i < trigger; i++ {
		x.putFlush(fmt.Sprint("file_not_locked_for_bottom_pri_compaction", i), "value")
	}
	syncpoint.Process("LowPriCompaction")
	x.putFlush("a_new_file_to_pick_for_low_pri_compaction", "value")
	x.must(x.full().TestWaitForCompact())
	same(t, "picks of the bottom pool", repicked.Load(), 1)
}

func TestDBCompactionTest_SkipStatsUpdateTest(t *testing.T) {
	x := newCompactionTest(t)
	o := deletionTriggerOptions(x.currentOptions())
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.putRange(util.NewRandom(301), map[int]string{}, 0, deletionKeysPerBuffer*128, deletionValueSize)
	x.flush(0)
	o.MaxOpenFiles = 20
	for _, skip := range []bool{true, false} {
		x.close()
		updates := passes("VersionStorageInfo::UpdateAccumulatedStats")
		syncpoint.EnableProcessing()
		o.SkipStatsUpdateOnDBOpen = skip
		x.reopen(o)
		if n := updates.Load(); n > 0 == skip {
			t.Errorf("skip=%t: statistics were updated by %d files", skip, n)
		}
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_TestTableReaderForCompaction(t *testing.T) {
	const trigger = 3
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.MaxOpenFiles, o.Level0FileNumCompactionTrigger, o.TableCacheNumshardbits = 20, trigger, 2
	x.destroyAndReopen(o)
	var lookups atomic.Int64
	syncpoint.SetCallBack("TableCache::FindTable:0", func(arg any) {
		if noIO := arg.(bool); !noIO { // for a table's properties
			lookups.Add(1)
		}
	})
	readers := passes("TableCache::GetTableReader:0")
	syncpoint.EnableProcessing()
	// step does something to tables, reads a key, and checks how many lookups both
	// take and how many tables are opened before.
	step := func(what string, do func(), k int, allLookups, opened int64) {
		t.Helper()
		lookups.Store(0)
		readers.Store(0)
		do()
		x.must(x.full().TestWaitForCompact())
		if lookups.Load() == 0 {
			t.Errorf("%s: no lookup", what)
		}
		same(t, what+": tables opened", readers.Load(), opened)
		x.wantGet(0, key(k), key(k))
		same(t, what+": lookups", lookups.Load(), allLookups)
		same(t, what+": tables opened at last", readers.Load(), opened)
	}
	for k := range trigger {
		x.mustPut(0, key(k), key(k))
		x.mustPut(0, key(10-k), "bar")
		if k < trigger-1 {
			step("flush", func() { x.flush(0) }, k, 2, 1)
		}
	}
	// Tables are opened to verify them, none as inputs.
	step("flush and compaction", func() { x.flush(0) }, 1, 5, 2)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	step("compaction", func() { x.must(x.db.CompactRange(&cro, nil, nil)) }, 1, 3, 1)
}

func TestDBCompactionTest_CompactRangeBottomPri(t *testing.T) {
	x := newCompactionTest(t)
	for _, k := range []int{50, 100, 200} {
		x.putFlush(key(k), "")
	}
	x.changeLevel(2)
	x.wantFiles(0, "0,0,3")
	for i := 1; i <= 2; i++ {
		x.puts(0, key(i), "", key(199), "", "flush")
	}
	x.wantFiles(0, "2,0,3")
	var low, bottom, running atomic.Int64
	syncpoint.SetCallBack("BackgroundCallCompaction:1", func(any) {
		running.Add(int64(x.full().TestNumRunningBottomCompactionsLocked()))
	})
	syncpoint.SetCallBack("ThreadPoolImpl::Impl::BGThread:BeforeRun", func(arg any) {
		switch *arg.(*rocksdb.Priority) {
		case rocksdb.LowPriority:
			low.Add(1)
		case rocksdb.BottomPriority:
			if low.Load() == 0 {
				t.Error("the bottom pool begins")
			}
			bottom.Add(1)
		}
	})
	syncpoint.EnableProcessing()
	x.poolSize(1, rocksdb.BottomPriority)
	want := func(lows, bottoms int64) {
		t.Helper()
		same(t, "jobs of the low pool", low.Load(), lows)
		same(t, "jobs of the bottom pool", bottom.Load(), bottoms)
	}
	x.compact(0, "", "") // into level 1, and into level 2
	want(1, 1)
	if running.Load() == 0 {
		t.Error("no compaction ran in the bottom pool")
	}
	x.wantFiles(0, "0,0,2")
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&cro, nil, nil))
	want(1, 2)
	x.env.SetBackgroundThreads(0, rocksdb.BottomPriority)
	x.must(x.db.CompactRange(&cro, nil, nil))
	want(2, 2)
}

func TestDBCompactionTestWithParam_TrivialMoveOneFile(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		m := countMoves(x.T)
		o := x.options()
		o.WriteBufferSize = 100000000
		o.Listeners = append(o.Listeners, &moveListener{x: x.dbTest, want: 1})
		x.destroyAndReopen(o)
		values := map[int]string{}
		x.putRange(util.NewRandom(301), values, 0, 80, 10<<10)
		x.reopen(o) // moves it all to level 0
		x.wantFiles(0, "1")
		file := x.db.GetLiveFilesMetaData()[0]
		x.compactRange(0, func(*rocksdb.CompactRangeOptions) {})
		x.wantFiles(0, "0,1")
		moved := x.db.GetLiveFilesMetaData()[0]
		same(x, "name", moved.Name, file.Name)
		same(x, "size", moved.Size, file.Size)
		x.wantRange(values, 0, 80)
		m.want(1, 0)
	})
}

func TestDBCompactionTestWithParam_TrivialMoveNonOverlappingFiles(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		const size = 1 << 10 // a tenth of upstream's
		m := countMoves(x.T)
		ranges := [][2]int{{100, 199}, {300, 399}, {0, 99}, {200, 299}, {600, 699}, {400, 499}, {500, 550}, {551, 599}}
		rnd, values := util.NewRandom(301), map[int]string{}
		compacted := func(moved int) {
			o := x.options()
			o.DisableAutoCompactions, o.WriteBufferSize = true, 10<<20
			o.Listeners = append(o.Listeners, &moveListener{x: x.dbTest, want: moved})
			x.destroyAndReopen(o)
			for _, r := range ranges {
				x.putRange(rnd, values, r[0], r[1]+1, size)
				x.flush(0)
			}
			x.wantFiles(0, "8")
			x.compactRange(0, func(*rocksdb.CompactRangeOptions) {})
			x.wantRange(values, 0, 700)
		}
		compacted(len(ranges))
		x.wantFiles(0, "0,8")
		m.take(1, 0)
		ranges[6][1] = 560 // overlaps the next one
		compacted(0)
		m.want(0, 1)
	})
}

func TestDBCompactionTestWithParam_TrivialMoveTargetLevel(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		const size = 1 << 10 // a tenth of upstream's
		m := countMoves(x.T)
		o := x.options()
		o.DisableAutoCompactions, o.WriteBufferSize, o.NumLevels = true, 10<<20, 7
		o.Listeners = append(o.Listeners, &moveListener{x: x.dbTest, want: 2})
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		x.putRange(rnd, values, 0, 301, size)
		x.flush(0)
		x.putRange(rnd, values, 600, 701, size)
		x.flush(0)
		x.wantFiles(0, "2")
		x.compactRange(0, func(o *rocksdb.CompactRangeOptions) { o.ChangeLevel, o.TargetLevel = true, 6 })
		x.wantFiles(0, "0,0,0,0,0,0,2")
		m.want(1, 0)
		x.wantRange(values, 0, 301)
		x.wantRange(values, 600, 701)
	})
}

func TestDBCompactionTestWithParam_ManualCompactionPartial(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		const point, size = "DBCompaction::ManualPartial:", 1 << 10 // a tenth of upstream's
		var first atomic.Bool
		syncpoint.SetCallBack("DBImpl::BackgroundCompaction:NonTrivial:AfterRun", func(any) {
			if first.CompareAndSwap(false, true) {
				syncpoint.Process(point + "4")
				syncpoint.Process(point + "3")
			} else {
				syncpoint.Process(point + "2")
			}
		})
		// The second compaction that rewrites comes after the first one has run, and
		// neither is installed before it was checked that none is.
		order(point+"4", point+"1", point+"5", point+"2", point+"5", point+"3")
		m := countMoves(x.T)
		o := x.options()
		o.WriteBufferSize, o.NumLevels, o.TargetFileSizeBase = 10<<20, 7, 1<<20
		o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 3, 3
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		fill := func(from, end int) {
			x.putRange(rnd, values, from, end, size)
			x.flush(0)
		}
		fill(0, 100)
		fill(100, 300)
		x.wantFiles(0, "2")
		x.compactRange(0, func(o *rocksdb.CompactRangeOptions) { o.ChangeLevel, o.TargetLevel = true, 6 })
		x.wantFiles(0, "0,0,0,0,0,0,2")
		m.want(1, 0)
		fill(0, 200)
		x.wantFiles(0, "1,0,0,0,0,0,2")
		x.moveFilesToLevel(5, 0)
		x.wantFiles(0, "0,0,0,0,0,1,2")
		m.want(6, 0)
		done := make(chan error)
		go func() { done <- x.db.CompactRange(nil, []byte(key(0)), []byte(key(199))) }()
		syncpoint.Process(point + "1")
		fill(300, 401)
		fill(400, 501)
		fill(500, 601)
		x.wantFiles(0, "3,0,0,0,0,1,2")
		syncpoint.Process(point + "5")
		x.must(x.full().TestWaitForCompact())
		x.must(<-done)
		x.wantFiles(0, "0,1,0,0,0,0,1")
		x.wantRange(values, 0, 601)
	})
}

func TestDBCompactionTest_ManualCompactionWithUnorderedWrite(t *testing.T) {
	const point = "DBCompactionTest::ManualCompactionWithUnorderedWrite:WaitWriteWAL"
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.UnorderedWrite = true
	x.destroyAndReopen(o)
	x.puts(0, "foo", "v1", "flush", "bar", "v1")
	order("DBImpl::WriteImpl:UnorderedWriteAfterWriteWAL", point,
		"DBImpl::WaitForPendingWrites:BeforeBlock", "DBImpl::WriteImpl:BeforeUnorderedWriteMemtable")
	done := make(chan error)
	go func() { done <- x.put(0, "foo", "v2") }()
	syncpoint.Process(point)
	x.compact(0, "", "")
	x.must(<-done)
	x.wantGet(0, "foo", "v2")
	syncpoint.Reset()
	x.reopen(o)
	x.wantGet(0, "foo", "v2")
}

func TestDBCompactionTestWithParam_TrivialMoveToLastLevelWithFiles(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		const size = 1 << 10 // a tenth of upstream's
		m := countMoves(x.T)
		o := x.options()
		o.WriteBufferSize = 100000000
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		x.putRange(rnd, values, 0, 100, size)
		x.flush(0)
		x.wantFiles(0, "1")
		x.compactRange(0, func(o *rocksdb.CompactRangeOptions) { o.ChangeLevel, o.TargetLevel = true, 3 })
		x.wantFiles(0, "0,0,0,1")
		m.want(1, 0)
		x.putRange(rnd, values, 100, 200, size)
		x.flush(0)
		x.wantFiles(0, "1,0,0,1")
		x.compactRange(0, func(*rocksdb.CompactRangeOptions) {}) // level by level
		x.wantFiles(0, "0,0,0,2")
		m.want(4, 0)
		x.wantRange(values, 0, 200)
	})
}

func TestDBCompactionTest_ManualAutoRace(t *testing.T) {
	const trigger, point = 4, "DBCompactionTest::ManualAutoRace:1"
	// The automatic compaction finds the exclusive one in its way, as it picks
	// files or picks them anew.
	race := func(style rocksdb.CompactionStyle, reduceLocking bool, shape string, points ...string) {
		x := newCompactionTest(t)
		if style == rocksdb.CompactionStyleUniversal {
			x.poolSize(2, rocksdb.BottomPriority)
		}
		o := x.currentOptions()
		o.NumLevels, o.Level0FileNumCompactionTrigger, o.CompactionStyle = 3, trigger, style
		o.CompactionOptionsUniversal.ReduceFileLocking = reduceLocking
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"exclusive_manual_compaction_cf"}, o)
		conflicts := passes("DBImpl::BackgroundCompaction()::Conflict")
		order(points...)
		x.puts(1, "foo", "", "bar", "", "flush", "foo", "", "bar", "")
		for range trigger {
			x.puts(0, "foo", "", "bar", "", "flush")
		}
		syncpoint.Process(point)
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.ExclusiveManualCompaction = true
		x.must(x.cf(1).CompactRange(&cro, nil, nil))
		x.wantFiles(1, shape)
		x.must(x.full().TestWaitForCompact())
		if conflicts.Load() == 0 {
			t.Errorf("style %v, reduce_file_locking=%t: no conflict", style, reduceLocking)
		}
		x.wantFiles(0, shape) // at last
		syncpoint.Reset()
	}
	const waits = "DBImpl::RunManualCompaction:WaitScheduled"
	race(rocksdb.CompactionStyleLevel, false, "0,1", "DBImpl::BGWorkCompaction", point, waits, "BackgroundCallCompaction:0")
	race(rocksdb.CompactionStyleUniversal, false, "0,0,1", "DBImpl::BGWorkCompaction", point, waits, "BackgroundCallCompaction:0")
	race(rocksdb.CompactionStyleUniversal, true, "0,0,1", "DBImpl::BackgroundCompaction:ForwardToBottomPriPool", point,
		waits, "BackgroundCallCompaction:0:BottomPri")
}

func TestDBCompactionTestWithParam_CompressLevelCompaction(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		o := x.options()
		o.MemtableFactory = newSpecialSkipListFactory(99)
		o.WriteBufferSize, o.ArenaBlockSize = roomForEntries, 4<<10
		o.Level0FileNumCompactionTrigger, o.NumLevels, o.MaxBytesForLevelBase = 2, 4, 400<<10
		// A file may be moved to level 1, not to level 2.
		o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.NoCompression, rocksdb.ZlibCompression}
		matches := passes("Compaction::InputCompressionMatchesOutput:Matches")
		differs := passes("Compaction::InputCompressionMatchesOutput:DidntMatch")
		m := countMoves(x.T)
		x.reopen(o)
		rnd, keys := util.NewRandom(301), 0
		for range 4 {
			x.generateFile(0, rnd, &keys, true)
		}
		same(x, "tables", x.countFiles(rocksdb.TableFile), 4)
		for n := range 9 {
			x.generateFile(0, rnd, &keys, true)
			want := "1,4"
			if n > 0 {
				want = fmt.Sprint("1,4,", n)
			}
			x.wantFiles(0, want)
		}
		same(x, "matches", matches.Load(), 12)
		if d := differs.Load(); d == 0 || d%8 != 0 { // as often for each compaction
			x.Errorf("%d differences", d)
		}
		m.want(12, 8)
		syncpoint.Reset()
		x.wantGenerated(0, keys)
		x.reopen(o)
		x.wantGenerated(0, keys)
	})
}

func TestDBCompactionTest_SuggestCompactRangeNoTwoLevel0Compactions(t *testing.T) {
	const point = "DBCompactionTest::SuggestCompactRangeNoTwoLevel0Compactions:"
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.ArenaBlockSize, o.MaxWriteBufferNumber = 110<<10, 4<<10, 2
	o.Level0FileNumCompactionTrigger, o.NumLevels, o.Compression = 4, 4, rocksdb.NoCompression
	o.MaxBytesForLevelBase, o.TargetFileSizeBase, o.MaxBackgroundCompactions = 450<<10, 98<<10, 2
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 10 {
		x.generateRandomFile(rnd, true)
	}
	x.compact(0, "", "")
	order("CompactionJob::Run():Start", point+"1", point+"2", "CompactionJob::Run():End")
	fill := func() {
		for range o.Level0FileNumCompactionTrigger + 1 {
			x.generateRandomFile(rnd, false)
			x.flush(0)
		}
	}
	fill()
	syncpoint.Process(point + "1")
	x.generateRandomFile(rnd, false)
	x.waitForFlush(0)
	x.must(x.cf(0).SuggestCompactRange(nil, nil))
	fill()
	syncpoint.Process(point + "2")
	x.must(x.full().TestWaitForCompact())
}

func TestDBCompactionTestWithParam_ForceBottommostLevelCompaction(t *testing.T) {
	shortKey := func(i int) string { return fmt.Sprintf("key%04d", i) }
	eachSubcompactions(t, func(x *compactionTest) {
		const size = 1 << 10 // a tenth of upstream's
		m := countMoves(x.T)
		o := x.options()
		o.TargetFileSizeBase, o.WriteBufferSize = 100000000, 100000000
		o.Comparator = newOrder("ShortKeyComparator", func(a, b []byte) int {
			if len(a) > 8 || len(b) > 8 {
				x.Errorf("%q is compared with %q", a, b)
			}
			return bytes.Compare(a, b)
		})
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		var values []string
		hundred := func() {
			for range 100 {
				values = append(values, rnd.RandomString(size))
				x.mustPut(0, shortKey(len(values)-1), values[len(values)-1])
			}
			x.flush(0)
		}
		compact := func(b rocksdb.BottommostLevelCompaction) {
			x.Helper()
			cro := rocksdb.DefaultCompactRangeOptions()
			cro.BottommostLevelCompaction = b
			x.must(x.db.CompactRange(&cro, nil, nil))
		}
		hundred()
		x.wantFiles(0, "1")
		x.changeLevel(3)
		x.wantFiles(0, "0,0,0,1")
		m.take(1, 0)
		hundred()
		x.wantFiles(0, "1,0,0,1")
		compact(rocksdb.BottommostLevelCompactionForceOptimized) // moved three times, then rewritten
		x.wantFiles(0, "0,0,0,1")
		m.take(3, 1)
		hundred()
		x.wantFiles(0, "1,0,0,1")
		compact(rocksdb.BottommostLevelCompactionSkip)
		x.wantFiles(0, "0,0,0,2")
		m.want(3, 0)
		for i, v := range values {
			x.wantGet(0, shortKey(i), v)
		}
	})
}

func TestDBCompactionTestWithParam_IntraL0Compaction(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const point, size = "DBCompactionTest::IntraL0Compaction:L0ToL1Ready", 100 << 10 // a tenth of upstream's
		c := rocksdb.NewLRUCache(64 << 20)
		o := blockTable(x.options(), func(t *rocksdb.BlockBasedTableOptions) {
			t.BlockCache, t.CacheIndexAndFilterBlocks, t.PinL0FilterAndIndexBlocksInCache = c, true, true
		})
		o.Compression, o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = rocksdb.NoCompression, 5, 2
		o.Statistics, o.WriteBufferSize = rocksdb.NewStatistics(), 200<<10
		x.destroyAndReopen(o)
		value := util.NewRandom(301).RandomString(size)
		// Files 0 to 4 go to level 1 while of files 5 to 9 the last four, each of
		// half the size of file 5, are compacted within level 0.
		order("LevelCompactionPicker::PickCompaction:Return", point,
			"LevelCompactionPicker::PickCompactionBySize:0", "CompactionJob::Run():Start")
		for i := range 10 {
			x.mustPut(0, key(0), "") // prevents a move
			if i == 5 {
				syncpoint.Process(point)
				x.mustPut(0, key(i+1), value+value)
			} else {
				x.mustPut(0, key(i+1), value)
			}
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		syncpoint.Reset()
		same(x, "files of level 0", len(x.level(0)), 2)
		if len(x.level(1)) == 0 {
			x.Error("level 1 has no file")
		}
		for _, f := range x.level(0) {
			if f.FD.GetFileSize() < 2*size {
				x.Errorf("file %d has %d bytes", f.FD.GetNumber(), f.FD.GetFileSize())
			}
		}
		// The index of the compaction's output is not pinned.
		misses := x.ticker(rocksdb.BlockCacheIndexMiss)
		c.EraseUnRefEntries()
		x.wantGet(0, key(0), "")
		x.wantTicker(rocksdb.BlockCacheIndexMiss, misses+1)
	})
}

func TestDBCompactionTestWithParam_IntraL0CompactionDoesNotObsoleteDeletions(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const point, size = "DBCompactionTest::IntraL0CompactionDoesNotObsoleteDeletions:L0ToL1Ready", 100 << 10
		o := x.options()
		o.Compression, o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = rocksdb.NoCompression, 5, 2
		x.destroyAndReopen(o)
		value := util.NewRandom(301).RandomString(size)
		order("LevelCompactionPicker::PickCompaction:Return", point,
			"LevelCompactionPicker::PickCompactionBySize:0", "CompactionJob::Run():Start")
		// Files 0 to 4 have a key and go to level 1; files 5 to 9 delete it and are
		// compacted within level 0 meanwhile.
		for i := range 10 {
			if i < 5 {
				x.mustPut(0, key(0), "")
			} else {
				x.mustDelete(0, key(0))
			}
			if i == 5 {
				syncpoint.Process(point)
			}
			x.mustPut(0, key(i+1), value)
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		syncpoint.Reset()
		same(x, "files of level 0", len(x.level(0)), 1)
		if len(x.level(1)) == 0 {
			x.Error("level 1 has no file")
		}
		if n := x.level(0)[0].FD.GetFileSize(); n < 4*size {
			x.Errorf("the file of level 0 has %d bytes", n)
		}
		x.wantGet(0, key(0), "NOT_FOUND")
	})
}

// sortedRuns counts files of level 0 and levels with files below it.
func (x *dbTest) sortedRuns() int {
	n := len(x.level(0))
	for level := 1; level < x.storage(0).NumLevels(); level++ {
		if len(x.level(level)) > 0 {
			n++
		}
	}
	return n
}

func TestDBCompactionTestWithParam_FullCompactionInBottomPriThreadPool(t *testing.T) {
	const trigger = 3
	eachSubcompactions(t, func(x *compactionTest) {
		x.poolSize(1, rocksdb.BottomPriority)
		run := func(style rocksdb.CompactionStyle, reduceLocking bool) {
			o := x.currentOptions() // upstream's, too, has the parameter not count
			o.CompactionStyle, o.NumLevels, o.Level0FileNumCompactionTrigger = style, 4, trigger
			o.LevelCompactionDynamicLevelBytes = style == rocksdb.CompactionStyleLevel
			o.CompactionOptionsUniversal.ReduceFileLocking = reduceLocking
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
			o.WriteBufferSize, o.TargetFileSizeBase = 100<<10, 32<<10
			x.destroyAndReopen(o)
			jobs := passes("DBImpl::BGWorkBottomCompaction")
			syncpoint.EnableProcessing()
			rnd := util.NewRandom(301)
			for n := range trigger {
				same(x, "sorted runs", x.sortedRuns(), n)
				keys := 0
				x.generateFile(0, rnd, &keys, true)
			}
			x.must(x.full().TestWaitForCompact())
			same(x, "jobs of the bottom pool", jobs.Load(), 1)
			same(x, "sorted runs", x.sortedRuns(), 1)
			syncpoint.Reset()
		}
		run(rocksdb.CompactionStyleLevel, false)
		run(rocksdb.CompactionStyleUniversal, false)
		run(rocksdb.CompactionStyleUniversal, true)
	})
}

// statsCollector counts what ends, by its reason.
type statsCollector struct {
	rocksdb.EventListenerBase
	mu     sync.Mutex
	counts [rocksdb.NumCompactionReasons]int
}

func (c *statsCollector) count(r rocksdb.CompactionReason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[r]++
}

func (c *statsCollector) OnCompactionCompleted(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	c.count(info.CompactionReason)
}

func (c *statsCollector) OnExternalFileIngested(rocksdb.DBRef, *rocksdb.ExternalFileIngestionInfo) {
	c.count(rocksdb.CompactionReasonExternalSstIngestion)
}

func (c *statsCollector) OnFlushCompleted(rocksdb.DBRef, *rocksdb.FlushJobInfo) {
	c.count(rocksdb.CompactionReasonFlush)
}

// wantCompactionStats checks the family's statistics by reason against those of
// a listener.
func (x *dbTest) wantCompactionStats(c *statsCollector) {
	x.Helper()
	var counts [rocksdb.NumCompactionReasons]int
	x.full().TestWithMutex(func() {
		for level, s := range x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats() {
			sum := 0
			for r, n := range s.CountsByReason {
				counts[r] += n
				sum += n
			}
			same(x, fmt.Sprint("compactions of level ", level), sum, s.Count)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	same(x, "compactions by reason", counts, c.counts)
}

func TestDBCompactionTest_CompactionStatsTest(t *testing.T) {
	const files, keys = 32, 500 // a tenth of upstream's keys
	x := newCompactionTest(t)
	c := &statsCollector{}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	o.Listeners = append(o.Listeners, c)
	x.destroyAndReopen(o)
	wantNone := func() {
		t.Helper()
		x.wantInt(0, rocksdb.PropertyNumRunningCompactions, 0)
		x.wantInt(0, rocksdb.PropertyNumRunningCompactionSortedRuns, 0)
	}
	wantNone()
	counted := passes("CompactionMergingIterator::UpdateInternalStats")
	syncpoint.EnableProcessing()
	for range files {
		for j := range keys {
			x.mustPut(0, fmt.Sprint(j), "A")
		}
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.wantCompactionStats(c)
	wantNone()
	if counted.Load() == 0 {
		t.Error("sorted runs were not counted")
	}
}

//go:build syncpoint

// Port of db/compaction/tiered_compaction_test.cc (what needs sync points). Differs:
// processor times, which may be 0, are not compared.

package db_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const maxSequence = 1<<56 - 1

// tieredTest is a database that keeps what is newer than a sequence number out of
// the last, cold level, and figures of its compactions.
type tieredTest struct {
	*dbTest
	o       rocksdb.Options
	cold    atomic.Uint64 // up to here data is cold
	job     rocksdb.CompactionJobStats
	want    []db.CompactionStats
	wantTop db.CompactionStats // of the proximal level
}

func newTieredTest(t *testing.T, levels int) *tieredTest {
	x := &tieredTest{dbTest: newDBTest(t), want: make([]db.CompactionStats, levels)}
	syncpoint.SetCallBack("Compaction::SupportsPerKeyPlacement:Enabled", func(arg any) { *arg.(*bool) = true })
	syncpoint.SetCallBack("CompactionJob::PrepareTimes():preclude_last_level_min_seqno",
		func(arg any) { *arg.(*rocksdb.SequenceNumber) = x.cold.Load() })
	syncpoint.SetCallBack("CompactionJob::Install:AfterUpdateCompactionJobStats",
		func(arg any) { x.job = *arg.(*rocksdb.CompactionJobStats) })
	syncpoint.EnableProcessing()
	x.o = x.currentOptions()
	x.o.LastLevelTemperature, x.o.NumLevels, x.o.Level0FileNumCompactionTrigger = rocksdb.TemperatureCold, levels, 4
	x.o.Statistics, x.o.MaxSubcompactions = rocksdb.NewStatistics(), 10
	return x
}

// makeCold lets everything written so far go to the last level.
func (x *tieredTest) makeCold() { x.cold.Store(x.full().GetLatestSequenceNumber()) }

func (x *tieredTest) internalStats() *db.InternalStats { return x.cf(0).Impl().CFD().InternalStats() }

// top are the figures of the outputs on the proximal level.
func (x *tieredTest) top() db.CompactionStats {
	return x.internalStats().TESTGetPerKeyPlacementCompactionStats()
}

func (x *tieredTest) atLevel(level int) db.CompactionStats {
	return x.internalStats().TESTGetCompactionStats()[level]
}

// expect adds a job's figures to those expected of a level, -1 for the proximal one.
func (x *tieredTest) expect(level int, reason contract.CompactionReason, s db.CompactionStats) {
	s.Reason, s.Count, s.Micros = reason, 1, 1
	if level < 0 {
		x.wantTop.Add(&s)
	} else {
		x.want[level].Add(&s)
	}
}

func (x *tieredTest) resetStats() {
	x.Helper()
	x.must(x.db.ResetStats())
	clear(x.want)
	x.wantTop = db.CompactionStats{}
}

// verify compares figures with those expected, sizes roughly, and those of the last
// job, into outputLevel.
func (x *tieredTest) verify(outputLevel int, rangeDels uint64) {
	x.Helper()
	for level := range x.want {
		x.compare(fmt.Sprint("L", level), x.atLevel(level), x.want[level])
	}
	top, out := x.top(), x.atLevel(outputLevel)
	x.compare("proximal level", top, x.wantTop)
	if j := &x.job; j.NumInputFiles != out.NumInputFilesInOutputLevel+out.NumInputFilesInNonOutputLevels ||
		j.NumInputRecords != out.NumInputRecords-rangeDels || j.NumOutputFiles != out.NumOutputFiles+top.NumOutputFiles ||
		j.NumOutputRecords != out.NumOutputRecords+top.NumOutputRecords {
		x.Fatalf("job %+v", *j)
	}
}

func (x *tieredTest) compare(what string, got, want db.CompactionStats) {
	x.Helper()
	for _, n := range [][2]*uint64{{&got.BytesReadNonOutputLevels, &want.BytesReadNonOutputLevels},
		{&got.BytesReadOutputLevel, &want.BytesReadOutputLevel}, {&got.BytesReadBlob, &want.BytesReadBlob},
		{&got.BytesWritten, &want.BytesWritten}, {&got.BytesMoved, &want.BytesMoved}} {
		if g, w := *n[0], *n[1]; 2*max(g, w)-2*min(g, w) > g {
			x.Fatalf("%s: %d bytes, want about %d", what, g, w)
		}
	}
	if (got.Micros > 0) != (want.Micros > 0) {
		x.Fatalf("%s: %d µs", what, got.Micros)
	}
	// What is left is compared exactly.
	for _, s := range []*db.CompactionStats{&got, &want} {
		s.BytesReadNonOutputLevels, s.BytesReadOutputLevel, s.BytesReadBlob, s.BytesMoved = 0, 0, 0, 0
		s.BytesWritten, s.BytesWrittenPreComp, s.Micros, s.CPUMicros, s.Reason = 0, 0, 0, 0, 0
	}
	if got != want {
		x.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}

// bytesPerFile is about the size of a flushed table here.
const bytesPerFile = 1952

// fourTables flushes tables of 100 keys, ten of which each time are new, and gives
// the last sequence number of each.
func (x *tieredTest) fourTables() (seqs []uint64) {
	x.Helper()
	for i := range 4 {
		for j := range 100 {
			x.mustPut(0, key(i*10+j), fmt.Sprint("value", i))
		}
		x.flush(0)
		seqs = append(seqs, x.full().GetLatestSequenceNumber())
	}
	return seqs
}

func (x *tieredTest) expectFourFlushes() {
	for range 4 {
		x.expect(0, contract.CompactionReasonFlush, db.CompactionStats{BytesWritten: bytesPerFile, NumOutputFiles: 1, NumInputRecords: 100, NumOutputRecords: 100})
	}
}

func (x *tieredTest) deleteRange(first, end int) {
	x.Helper()
	x.must(x.db.DeleteRange(nil, []byte(key(first)), []byte(key(end))))
}

func (x *tieredTest) compactAll() {
	x.Helper()
	x.must(x.db.CompactRange(nil, nil, nil))
}

func (x *tieredTest) wantDroppedRangeDels(want uint64) {
	x.Helper()
	if got := x.o.Statistics.GetTickerCount(contract.CompactionRangeDelDropObsolete); got != want {
		x.Fatalf("%d range deletions dropped, want %d", got, want)
	}
}

func TestTieredCompactionTest_SequenceBasedTieredStorageUniversal(t *testing.T) {
	const last = 6
	const sizeAmp, manual = contract.CompactionReasonUniversalSizeAmplification, contract.CompactionReasonManualCompaction
	x := newTieredTest(t, last+1)
	x.o.CompactionStyle = rocksdb.CompactionStyleUniversal
	x.destroyAndReopen(x.o)
	seqs := x.fourTables()
	x.expectFourFlushes()
	x.waitForCompact()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	written := x.top().BytesWritten
	x.expect(last, sizeAmp, db.CompactionStats{BytesReadNonOutputLevels: 4 * bytesPerFile, NumInputFilesInNonOutputLevels: 4,
		NumInputRecords: 400, NumDroppedRecords: 270})
	x.expect(-1, sizeAmp, db.CompactionStats{BytesWritten: written, NumOutputFiles: 1, NumOutputRecords: 130})
	x.verify(last, 0)

	// The first table's data grows cold.
	x.resetStats()
	x.cold.Store(seqs[0])
	x.compactAll()
	x.waitForCompact()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	read := written
	written = x.top().BytesWritten
	x.expect(last, manual, db.CompactionStats{BytesWritten: x.atLevel(last).BytesWritten, BytesReadNonOutputLevels: read,
		NumInputFilesInNonOutputLevels: 1, NumInputRecords: 130, NumOutputRecords: 10, NumOutputFiles: 1})
	x.expect(-1, manual, db.CompactionStats{BytesWritten: written, NumOutputFiles: 1, NumOutputRecords: 120})
	x.verify(last, 0)

	for i := range 10 {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.resetStats()
	x.compactAll()
	x.waitForCompact()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	s := x.atLevel(last)
	written = x.top().BytesWritten
	if written >= s.BytesReadNonOutputLevels+s.BytesReadOutputLevel {
		x.Fatalf("%d bytes written", written)
	}
	x.expect(last, manual, db.CompactionStats{BytesReadNonOutputLevels: s.BytesReadNonOutputLevels, BytesReadOutputLevel: s.BytesReadOutputLevel,
		NumInputFilesInNonOutputLevels: 2, NumInputFilesInOutputLevel: 1, NumInputRecords: 140, NumDroppedRecords: 20})
	x.expect(-1, manual, db.CompactionStats{BytesWritten: written, NumOutputFiles: 1, NumOutputRecords: 120})
	x.verify(last, 0)

	// A snapshot keeps range deletions, hot and cold.
	snap := x.db.GetSnapshot()
	x.cold.Store(seqs[2])
	x.deleteRange(25, 35)
	x.flush(0)
	x.resetStats()
	x.compactAll()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	s = x.atLevel(last)
	written = x.top().BytesWritten
	if written <= s.BytesWritten {
		x.Fatalf("%d bytes written to the proximal level, %d to the last", written, s.BytesWritten)
	}
	x.expect(last, manual, db.CompactionStats{BytesWritten: s.BytesWritten, BytesReadNonOutputLevels: s.BytesReadNonOutputLevels,
		NumInputFilesInNonOutputLevels: 2, NumInputRecords: 121, NumDroppedRecords: 1, NumOutputRecords: 20, NumOutputFiles: 1})
	x.expect(-1, manual, db.CompactionStats{BytesWritten: written, NumOutputFiles: 1, NumOutputRecords: 100})
	x.verify(last, 1)
	for i := range 100 {
		want := "NOT_FOUND"
		if i >= 10 && (i < 25 || i >= 35) {
			want = fmt.Sprint("value", min(i/10, 3))
		}
		x.wantGet(0, key(i), want)
	}

	x.deleteRange(30, 130)
	x.flush(0)
	x.compactAll()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	x.wantDroppedRangeDels(0)
	x.must(x.db.ReleaseSnapshot(snap))
	x.compactAll()
	x.wantFiles(0, "0,0,0,0,0,0,1")
	x.wantHotCold(false, true)
	x.wantDroppedRangeDels(3)
	// Cold data has no sequence numbers any more, and stays cold.
	x.cold.Store(seqs[1])
	x.compactAll()
	x.wantFiles(0, "0,0,0,0,0,0,1")
	x.wantHotCold(false, true)
}

func TestTieredCompactionTest_LevelColdRangeDelete(t *testing.T) {
	x := newTieredTest(t, 7)
	x.destroyAndReopen(x.o)
	x.cold.Store(maxSequence)
	for i := range 100 {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,1") // at the bottom, but not on the last level
	x.wantHotCold(true, false)
	x.moveFilesToLevel(6, 0)
	x.wantFiles(0, "0,0,0,0,0,0,1")
	snap := x.db.GetSnapshot()
	x.deleteRange(10, 50)
	// Cold, but not to come below the range deletion, which would delete them.
	for i := 20; i < 30; i++ {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.makeCold()
	for i := 30; i < 40; i++ {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.compactForced()
	for i := range 100 {
		want := fmt.Sprint("value", i)
		if i >= 10 && i < 20 || i >= 40 && i < 50 {
			want = "NOT_FOUND"
		}
		x.wantGet(0, key(i), want)
	}
	x.must(x.db.ReleaseSnapshot(snap))
}

// everyKey cuts tables before every key.
var everyKey = cutAt{func(string) bool { return true }}

// tableWithDeletions is the number of the live table that has some, 0 for none; it
// has one, and another entry.
func (x *tieredTest) tableWithDeletions(level int) (number uint64) {
	x.Helper()
	for _, f := range x.db.GetLiveFilesMetaData() {
		if f.NumDeletions == 0 {
			continue
		}
		if f.Level != level || f.NumEntries != 2 || f.NumDeletions != 1 {
			x.Fatalf("L%d has a table of %d entries, %d deletions", f.Level, f.NumEntries, f.NumDeletions)
		}
		number = f.FileNumber
	}
	return number
}

func TestTieredCompactionTest_LevelOutofBoundaryRangeDelete(t *testing.T) {
	x := newTieredTest(t, 3)
	x.o.SstPartitionerFactory = everyKey
	x.destroyAndReopen(x.o)
	x.cold.Store(maxSequence)
	for i := range 10 {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.flush(0)
	x.moveFilesToLevel(2, 0)
	x.wantHotCold(false, true)
	x.wantFiles(0, "0,0,10")
	x.makeCold()
	snap := x.db.GetSnapshot()
	x.deleteRange(3, 5)
	x.flush(0)
	x.compactForced()
	// The range deletion is alone on the proximal level.
	x.wantHotCold(true, true)
	x.wantFiles(0, "0,1,10")
	if f := x.storage(0).LevelFiles(1)[0]; f.NumEntries != 1 || f.NumDeletions != 1 || f.Temperature != rocksdb.TemperatureUnknown {
		x.Fatalf("%d entries, %d deletions, temperature %v", f.NumEntries, f.NumDeletions, f.Temperature)
	}
	x.releaseBehindRangeDeletion(snap, 1, 0, 6, "0,2,10", "0,2,7", "0,1,8", "0,0,8")
}

// releaseBehindRangeDeletion writes two keys, with a snapshot between them, and lets
// go of snap, which keeps a range deletion on the proximal level, and then of the
// other one. files are those after each compaction.
func (x *tieredTest) releaseBehindRangeDeletion(snap rocksdb.Snapshot, proximal, first, second int, files ...string) {
	x.Helper()
	x.makeCold()
	x.mustPut(0, key(first), "new value0")
	snap2 := x.db.GetSnapshot()
	x.mustPut(0, key(second), "new value6")
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, files[0])
	if x.tableWithDeletions(proximal) == 0 {
		x.Fatal("the range deletion is gone")
	}
	x.must(x.db.ReleaseSnapshot(snap))
	x.compactForced()
	x.wantFiles(0, files[1])
	if n := x.tableWithDeletions(proximal); n != 0 {
		x.Fatalf("the range deletion is in table %d", n)
	}
	// The second key is not in the second snapshot, and stays.
	x.makeCold()
	x.compactForced()
	x.wantFiles(0, files[2])
	x.wantHotCold(true, true)
	x.must(x.db.ReleaseSnapshot(snap2))
	x.compactForced()
	x.wantFiles(0, files[3])
	x.wantHotCold(false, true)
}

func TestTieredCompactionTest_UniversalRangeDelete(t *testing.T) {
	x := newTieredTest(t, 7)
	x.o.CompactionStyle, x.o.SstPartitionerFactory = rocksdb.CompactionStyleUniversal, everyKey
	x.destroyAndReopen(x.o)
	for i := range 10 {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,10")
	x.wantHotCold(true, false)
	x.makeCold()
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,0,10")
	x.wantHotCold(false, true)
	// Hot, but it goes with what it deletes.
	x.deleteRange(3, 5)
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,0,8")
	snap := x.db.GetSnapshot()
	x.deleteRange(6, 8)
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1,8")
	x.releaseBehindRangeDeletion(snap, 5, 4, 9, "0,0,0,0,0,2,8", "0,0,0,0,0,2,6", "0,0,0,0,0,1,7", "0,0,0,0,0,0,7")
}

func TestTieredCompactionTest_SequenceBasedTieredStorageLevel(t *testing.T) {
	const last = 6
	const manual = contract.CompactionReasonManualCompaction
	x := newTieredTest(t, last+1)
	x.destroyAndReopen(x.o)
	x.cold.Store(maxSequence)
	x.fourTables()
	x.expectFourFlushes()
	x.waitForCompact()
	x.wantFiles(0, "0,1")
	x.wantHotCold(true, false)
	written := x.atLevel(1).BytesWritten
	x.expect(1, contract.CompactionReasonLevelL0FilesNum, db.CompactionStats{BytesWritten: written, BytesReadNonOutputLevels: 4 * bytesPerFile,
		NumInputFilesInNonOutputLevels: 4, NumInputRecords: 400, NumDroppedRecords: 270, NumOutputRecords: 130, NumOutputFiles: 1})
	x.verify(1, 0)

	// What is on the last level stays there.
	x.moveFilesToLevel(last, 0)
	x.resetStats()
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,0,1")
	x.wantHotCold(false, true)
	x.expect(last, manual, db.CompactionStats{BytesWritten: written, BytesReadOutputLevel: written, NumInputFilesInOutputLevel: 1,
		NumInputRecords: 130, NumOutputRecords: 130, NumOutputFiles: 1})
	x.verify(last, 0)

	// All of it is overwritten by what is hot.
	x.makeCold()
	seqs := x.fourTables()
	x.waitForCompact()
	x.wantFiles(0, "0,1,0,0,0,0,1")
	x.wantHotCold(true, true)
	x.resetStats()
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	top := x.top().BytesWritten
	for level := 2; level < last; level++ {
		x.want[level].BytesMoved = top
	}
	x.expect(last, manual, db.CompactionStats{BytesReadNonOutputLevels: top, BytesReadOutputLevel: written, NumInputFilesInNonOutputLevels: 1,
		NumInputFilesInOutputLevel: 1, NumInputRecords: 260, NumDroppedRecords: 130})
	x.expect(-1, manual, db.CompactionStats{BytesWritten: top, NumOutputFiles: 1, NumOutputRecords: 130})
	x.verify(last, 0)

	// At the bottom without being on the last level it has lost its sequence numbers.
	x.cold.Store(seqs[1])
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	x.moveFilesToLevel(last, 0)
	seqs = x.fourTables()
	x.waitForCompact()
	x.cold.Store(seqs[0])
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	for i := range 10 {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	x.cold.Store(seqs[2])
	x.moveFilesToLevel(last, 0)

	snap := x.db.GetSnapshot()
	x.deleteRange(25, 35)
	x.puts(0, key(0), "value0", key(100), "value0", "flush") // the range that may come up
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	for i := 1; i < 130; i++ {
		if found := x.get(0, key(i)) != "NOT_FOUND"; found != (i >= 10 && (i < 25 || i >= 35)) {
			x.Fatalf("key %d found: %t", i, found)
		}
	}
	x.mustDelete(0, key(0))
	x.deleteRange(30, 101)
	x.flush(0)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	x.wantDroppedRangeDels(0)
	x.must(x.db.ReleaseSnapshot(snap))
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
	x.wantDroppedRangeDels(3) // one of them was in two tables
	x.cold.Store(seqs[1])
	x.compactAll()
	x.wantFiles(0, "0,0,0,0,0,1,1")
	x.wantHotCold(true, true)
}

// eachPrecludeOption runs f with data kept out of the last level, which preclude puts
// into force, and not, for both ways to change options.
func eachPrecludeOption(t *testing.T, f func(x *precludeTest, enabled bool, preclude func())) {
	for _, enabled := range []bool{false, true} {
		t.Run(fmt.Sprintf("preclude=%t", enabled), func(t *testing.T) {
			eachConfigWay(t, func(x *precludeTest) {
				f(x, enabled, func() {
					x.Helper()
					x.o.MaxBackgroundJobs = 8
					seconds := uint64(0)
					if enabled {
						seconds = 2000
					}
					x.preclude(seconds)
					if x.dynamic {
						x.must(x.db.SetDBOptions(map[string]string{"max_background_jobs": "8"}))
					}
				})
			})
		})
	}
}

func TestPrecludeLastLevelOptionalTest_LastLevelOnlyCompactionNoPreclude(t *testing.T) {
	eachPrecludeOption(t, func(x *precludeTest, enabled bool, preclude func()) {
		x.o.PreserveInternalTimeSeconds = 2000
		x.destroyAndReopen(x.o)
		x.overlappingTables(0, 4, x.longValue)
		x.waitForCompact()
		x.wantFiles(0, "0,0,0,0,0,0,1")
		// While the last level alone is compacted, four tables of level 0 are to go to the
		// proximal one.
		const started, write, picked, finish = "Test:ManualStarted", "Test:Write", "Test:Picked", "Test:FinishManual"
		var running, verified atomic.Bool
		syncpoint.SetCallBack("CompactionJob::ProcessKeyValueCompaction()::Processing", func(arg any) {
			if arg.(*compaction.Compaction).IsManualCompaction() {
				running.Store(true)
				syncpoint.Process(started)
				syncpoint.Process(finish)
				running.Store(false)
			}
		})
		syncpoint.SetCallBack("UniversalCompactionBuilder::PickCompaction:Return", func(arg any) {
			c := arg.(*compaction.Compaction)
			if (c == nil) != (enabled && running.Load()) {
				x.Errorf("a compaction was picked: %t", c != nil)
			}
			verified.Store(true)
			if c == nil || !c.IsManualCompaction() {
				syncpoint.Process(picked)
			}
		})
		inOrder([2]string{started, write}, [2]string{picked, finish})
		syncpoint.EnableProcessing()
		preclude()
		manual := make(chan error)
		go func() {
			o := rocksdb.DefaultCompactRangeOptions()
			o.BottommostLevelCompaction, o.ExclusiveManualCompaction = rocksdb.BottommostLevelCompactionForce, false
			manual <- x.db.CompactRange(&o, nil, nil)
		}()
		syncpoint.Process(write)
		token := x.full().TestWriteController().GetCompactionPressureToken()
		x.overlappingTables(4, 8, shortValue)
		x.must(<-manual)
		x.waitForCompact()
		if files := x.filesPerLevel(0); (files == "0,0,0,0,0,1,1") == enabled {
			x.Fatalf("tables %s", files)
		}
		if !verified.Load() {
			x.Fatal("no compaction was looked for")
		}
		endSyncPoints()
		token.Release()
	})
}

func TestPrecludeLastLevelOptionalTest_PeriodicCompactionToProximalLevel(t *testing.T) {
	const keys = 100
	eachPrecludeOption(t, func(x *precludeTest, enabled bool, preclude func()) {
		x.o.PreserveInternalTimeSeconds, x.o.PeriodicCompactionSeconds = 20000, 10000
		x.destroyAndReopen(x.o)
		for i := range 3 * keys {
			x.mustPut(0, key(i), x.longValue())
			x.pass(1)
		}
		x.flush(0)
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,0,1")
		preclude()
		const started, written, picked, finish = "Test:SizeRatioStarted", "Test:DoneWrite", "Test:Picked", "Test:FinishSizeRatio"
		var running atomic.Bool
		syncpoint.SetCallBack("CompactionJob::ProcessKeyValueCompaction()::Processing", func(arg any) {
			if arg.(*compaction.Compaction).OutputLevel() == 5 {
				running.Store(true)
				syncpoint.Process(started)
				syncpoint.Process(finish)
				running.Store(false)
			}
		})
		syncpoint.SetCallBack("UniversalCompactionBuilder::PickCompaction:Return", func(arg any) {
			c := arg.(*compaction.Compaction)
			switch {
			case !running.Load():
			case enabled:
				if c != nil {
					x.Error("a compaction was picked")
				}
			case c == nil || c.CompactionReason() != contract.CompactionReasonPeriodicCompaction || c.StartLevel() != 6:
				x.Error("no periodic compaction of the last level was picked")
			}
			syncpoint.Process(picked)
		})
		inOrder([2]string{started, written}, [2]string{picked, finish})
		syncpoint.EnableProcessing()
		token := x.full().TestWriteController().GetCompactionPressureToken()
		for i := range 3 {
			for range keys {
				x.mustPut(0, key(i*(keys-1)+i), string(x.rnd.RandomString(10)))
				x.pass(1)
			}
			x.flush(0)
		}
		syncpoint.Process(written)
		x.clock.MockSleepForSeconds(10000)
		for i := range 3 * keys {
			x.mustPut(0, key(i), string(x.rnd.RandomString(10)))
			x.pass(1)
		}
		x.flush(0)
		x.waitForCompact()
		endSyncPoints()
		token.Release()
	})
}

func TestPrecludeLastLevelTest_RangeDelsCauseFileEndpointsToOverlap(t *testing.T) {
	const files, perFile, valueBytes = 3, 5, 4 << 10 // five keys a table, as tables are cut
	eachConfigWay(t, func(x *precludeTest) {
		x.o.LastLevelTemperature, x.o.PreserveInternalTimeSeconds, x.o.PrecludeLastLevelDataSeconds = rocksdb.TemperatureCold, 600, 1
		x.o.TargetFileSizeBase = 4 * valueBytes
		x.destroyAndReopen(x.o)
		verify := func() {
			x.Helper()
			for i := range files * perFile {
				deleted := i == 4 || i == 5 || i == 7 || i == 9 || i == 10
				if found := x.get(0, key(i)) != "NOT_FOUND"; found == deleted {
					x.Fatalf("key %d found: %t", i, found)
				}
			}
		}
		write := func(first int) {
			x.Helper()
			for i := range files * perFile {
				x.mustPut(0, key(first+i), string(x.rnd.RandomString(valueBytes)))
				x.pass(10)
			}
		}
		write(3)
		snap1 := x.db.GetSnapshot()
		write(0)
		snap2 := x.db.GetSnapshot()
		x.deleteRange(perFile-1, perFile+1)
		x.deleteRange(perFile+2, perFile+3)
		x.deleteRange(2*perFile-1, 2*perFile+1)
		x.flush(0)
		x.pass(10)
		verify()
		var placed atomic.Int32
		syncpoint.SetCallBack("UniversalCompactionBuilder::PickCompaction:Return", func(arg any) {
			if c := arg.(*compaction.Compaction); c != nil && c.SupportsPerKeyPlacement() {
				if r := c.GetProximalOutputRangeType(); r != compaction.ProximalOutputNonLastRange {
					x.Errorf("range %s", r)
				}
				placed.Add(1)
			}
		})
		syncpoint.EnableProcessing()
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,3,3")
		verify()
		// The middle table alone is written anew, first with both snapshots, then without.
		rewrite := func(n int32, want string) {
			x.Helper()
			x.must(x.db.SuggestCompactRange([]byte(key(perFile+1)), []byte(key(perFile+2))))
			x.waitForCompact()
			x.wantFiles(0, want)
			if placed.Load() != n {
				x.Fatalf("%d compactions with two outputs, want %d", placed.Load(), n)
			}
			verify()
		}
		rewrite(1, "0,0,0,0,0,3,3")
		x.must(x.db.ReleaseSnapshot(snap2))
		rewrite(2, "0,0,0,0,0,3,3")
		x.must(x.db.ReleaseSnapshot(snap1))
		rewrite(3, "0,0,0,0,0,2,3")
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,0,3")
		verify()
	})
}

func TestPrecludeLastLevelTestBase_RangeDelAtProximalSeqnoBoundaryStaysInLastLevel(t *testing.T) {
	x := newPrecludeTest(t, true)
	x.o.CompactionStyle, x.o.DisableAutoCompactions = rocksdb.CompactionStyleLevel, true
	x.destroyAndReopen(x.o)
	x.puts(0, key(2), "old", key(12), "old")
	snap := x.db.GetSnapshot()
	x.deleteRange(2, 12)
	x.flush(0)
	x.moveFilesToLevel(6, 0)
	for _, keys := range [][2]int{{0, 4}, {5, 9}} {
		x.puts(0, key(keys[0]), "hot", key(keys[1]), "hot", "flush")
		x.moveFilesToLevel(5, 0)
	}
	x.wantFiles(0, "0,0,0,0,0,2,1")
	syncpoint.SetCallBack("CompactionJob::PrepareTimes():preclude_last_level_min_seqno", func(arg any) { *arg.(*rocksdb.SequenceNumber) = 0 })
	syncpoint.EnableProcessing()
	x.must(x.db.SetOptions(map[string]string{"preclude_last_level_data_seconds": "10000"}))
	meta := x.db.GetColumnFamilyMetaData(nil)
	_, err := x.db.CompactFiles(nil, []string{meta.Levels[5].Files[1].Name, meta.Levels[6].Files[0].Name}, 6, -1, nil)
	x.must(err)
	for level, want := range map[int]bool{5: false, 6: true} {
		var n uint64
		for _, f := range x.storage(0).LevelFiles(level) {
			n += f.NumRangeDeletions
		}
		if (n > 0) != want {
			x.Errorf("L%d has %d range deletions", level, n)
		}
	}
	x.must(x.db.ReleaseSnapshot(snap))
}

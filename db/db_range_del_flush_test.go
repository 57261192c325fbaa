// Port of db/db_range_del_test.cc (flushes that range deletions ask for, file
// errors, subcompactions, TTL). Differs: a file of its own.

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// maxRangeDeletions runs a case in which one range deletion asks for a flush,
// and gives the number of flushes.
func (x *dbTest) maxRangeDeletions(atomic bool) int {
	x.Helper()
	c := &flushCounter{want: contract.FlushReasonMemtableMaxRangeDeletions}
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Statistics.SetStatsLevel(contract.StatsLevelAll)
	o.AtomicFlush, o.DisableAutoCompactions, o.MemtableMaxRangeDeletions = atomic, true, 1
	o.Listeners = append(o.Listeners, c)
	if atomic {
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.mustPut(1, key(0), "value")
	} else {
		x.destroyAndReopen(o)
	}
	x.deleteRange(0, key(0), key(10))
	x.mustPut(0, key(0), "value") // carries the request out
	x.must(x.full().TestWaitForFlushMemTable(x.cf(0).Impl()))
	x.must(x.full().TestWaitForBackgroundWork())
	flushes := x.ticker(contract.TickerFlushReasonMemtableMaxRangeDeletions)
	for _, other := range []contract.Ticker{contract.TickerFlushReasonWriteBufferFull, contract.AtomicFlushRequestReasonWriteBufferFull,
		contract.AtomicFlushRequestReasonWriteBufferManager, contract.AtomicFlushRequestReasonOther} {
		x.wantTicker(other, 0)
	}
	if int(c.n.Load()) != flushes || c.other.Load() != 0 {
		x.Fatalf("%d flushes told of, %d of them for other reasons; %d counted", c.n.Load(), c.other.Load(), flushes)
	}
	return flushes
}

func TestDBRangeDelTest_AtomicFlushReasonStatsMemtableMaxRangeDeletions(t *testing.T) {
	x := newDBTest(t)
	if n := x.maxRangeDeletions(true); n < 2 {
		t.Error(n)
	}
	x.wantTicker(contract.AtomicFlushRequestReasonMemtableMaxRangeDeletions, 1)
}

func TestDBRangeDelTest_FlushReasonStatsMemtableMaxRangeDeletions(t *testing.T) {
	x := newDBTest(t)
	if n := x.maxRangeDeletions(false); n == 0 {
		t.Error(n)
	}
	x.wantTicker(contract.AtomicFlushRequestReasonMemtableMaxRangeDeletions, 0)
	x.wantTicker(contract.TickerFlushReasonWriteBufferManager, 0)
}

func TestDBRangeDelTest_RangeDelReseekAfterFileReadError(t *testing.T) {
	x, rnd := newDBTest(t), newRandom()
	fs := &readFault{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	o := x.onFS(x.currentOptions(), fs)
	o.NumLevels = 7
	table := func(level int, keys ...int) string {
		t.Helper()
		for _, k := range keys {
			x.mustPut(0, key(k), rnd.str(100))
		}
		x.flushTo(level)
		for _, f := range x.db.GetLiveFilesMetaData() {
			if f.Level == level {
				return f.Name
			}
		}
		return ""
	}
	tombstone := func() {
		x.deleteRange(0, key(3), key(6))
		x.flushTo(5)
	}
	x.destroyAndReopen(o)
	table(6, 3, 6)
	tombstone()
	f := table(4, 2)
	table(4, 1)
	fs.suffix = f
	it := x.iter(0)
	it.walk("first", "="+key(1), "next")
	it.wantError(contract.IsIOError) // the reseek over the tombstone keeps the error

	fs.suffix = ""
	x.destroyAndReopen(o)
	table(6, 1, 5)
	tombstone()
	f = table(4, 2)
	table(4, 7, 8)
	it = x.iter(0)
	it.walk("last", "="+key(8))
	fs.suffix, fs.anyOffset = f, true
	it.Prev() // goes on until there is another user key
	it.wantError(contract.IsIOError)
	fs.suffix = ""
}

func TestDBRangeDelTest_LevelCompactOutputCutAtRangeTombstoneForTtlFiles(t *testing.T) {
	x, rnd := newDBTest(t), newRandom()
	clock := env.NewEmulatedSystemClock(x.env.GetSystemClock(), false)
	clock.SetMockSleep(true)
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fault, clock)
	o := x.currentOptions()
	o.Compression, o.CompactionPri, o.DisableAutoCompactions = contract.NoCompression, contract.MinOverlappingRatio, true
	o.TTL, o.TargetFileSizeBase = 24*60*60, 8<<10
	x.destroyAndReopen(o)
	for _, level := range []int{3, 1} { // so that later compactions are not into the last level
		for i := 5; i < 10; i++ {
			x.mustPut(0, key(i), rnd.str(1<<10))
		}
		x.flushTo(level)
	}
	x.wantFiles(0, "0,1,0,1")
	clock.MockSleepForSeconds(20 * 60 * 60)
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(11), key(12))
	x.puts(0, key(0), rnd.str(1<<10), "flush")
	x.wantFiles(0, "1,1,0,1")
	clock.MockSleepForSeconds(10 * 60 * 60)
	x.moveFilesToLevel(1, 0)
	// The new key, the old table's keys, the tombstone.
	x.wantFiles(0, "0,3,0,1")
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_ValidUniversalSubcompactionBoundaries(t *testing.T) {
	const perFile, files, levels = 100, 4, 4
	x, rnd := newDBTest(t), newRandom()
	o := x.currentOptions()
	u := &o.CompactionOptionsUniversal
	u.MinMergeWidth, u.MaxMergeWidth, u.SizeRatio = files, files, 10
	o.CompactionStyle, o.Level0FileNumCompactionTrigger, o.MaxSubcompactions = contract.CompactionStyleUniversal, files, 4
	o.MemtableFactory, o.NumLevels = newSpecialSkipListFactory(perFile), levels
	o.TargetFileSizeBase, o.TargetFileSizeMultiplier = perFile<<10, 1
	x.reopen(o)
	for i := range levels - 1 {
		last := i == levels-2
		size := 990
		if last {
			size = 600 // or tombstones would cause a compaction too early
		}
		for j := range files {
			if last {
				mid := (j + 1 - j%2) * perFile
				x.deleteRange(0, key(mid-5), key(mid+5))
			}
			for k := range perFile {
				x.mustPut(0, key(j*perFile+k), rnd.str(size))
			}
			x.mustPut(0, "", "") // causes the flush
			x.must(x.full().TestWaitForFlushMemTable(x.cf(0).Impl()))
			if n := x.numTableFilesAtLevel(0, 0); j < files-1 && n != j+1 {
				t.Fatal(x.filesPerLevel(0))
			}
		}
		x.must(x.full().TestWaitForCompact())
		least := files
		if last {
			least = files - 1
		}
		if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(levels-1-i, 0) < least {
			t.Fatal(x.filesPerLevel(0))
		}
	}
	// Subcompactions that keep tombstones.
	x.compactLevel(1, "", "")
	x.iter(0).count(false)
}

//go:build syncpoint

// Port of db/db_universal_compaction_test.cc.

package db_test

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// universalTest is a case of a number of levels, with or without exclusive manual
// compactions.
type universalTest struct {
	*dbTest
	levels    int
	exclusive bool
	rnd       random
	next      []int // the next key of each family
}

func eachUniversal(t *testing.T, levels []int, f func(x *universalTest)) {
	for _, n := range levels {
		for _, exclusive := range []bool{false, true} {
			t.Run(fmt.Sprintf("levels=%d,exclusive=%t", n, exclusive), func(t *testing.T) {
				x := &universalTest{newDBTest(t), n, exclusive, newRandom(), make([]int, 3)}
				defer x.close()
				f(x)
			})
		}
	}
}

var universalLevels = []int{1, 3, 5}

// options have a memtable of about 100 KB, and tables of 32 KB.
func (x *universalTest) options(trigger int) rocksdb.Options {
	o := x.currentOptions()
	o.CompactionStyle, o.NumLevels, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, x.levels, trigger
	o.WriteBufferSize, o.ArenaBlockSize, o.TargetFileSizeBase = 105<<10, 4<<10, 32<<10
	return o
}

// runs are the sorted runs of a family.
func (x *dbTest) runs(cf int) (n int) {
	for i, l := range x.cf(cf).GetColumnFamilyMetaData(nil).Levels {
		if i == 0 {
			n = len(l.Files)
		} else if len(l.Files) > 0 {
			n++
		}
	}
	return n
}

func (x *dbTest) wantRuns(cf, want int) {
	x.Helper()
	if n := x.runs(cf); n != want {
		x.Fatalf("family %d has %d sorted runs, not %d: %s", cf, n, want, x.filesPerLevel(cf))
	}
}

// newFile fills a memtable and waits for what follows.
func (x *universalTest) newFile(cf int) {
	x.Helper()
	x.generateFile(cf, x.rnd.Random, &x.next[cf], true)
}

// sized flushes a table of n values of 1 KB, and waits for compactions. Upstream's
// memtables fill up instead, and how full they are varies here.
func (x *universalTest) sized(cf, n int) {
	x.Helper()
	for range n {
		x.mustPut(cf, key(x.next[cf]), x.rnd.str(990))
		x.next[cf]++
	}
	x.flush(cf)
	x.waitForCompact()
}

// bigValues writes n values of 10 KB, and waits for their flush.
func (x *universalTest) bigValues(cf, n int, value func() string) {
	x.Helper()
	for range n {
		x.mustPut(cf, key(x.next[cf]), value())
		x.next[cf]++
	}
	x.waitForFlush(cf)
}

func (x *universalTest) incompressible() string { return x.rnd.str(10000) }

// contextChecker makes filters that keep all, and checks what they are made for.
type contextChecker struct {
	t            *testing.T
	full, manual atomic.Bool // expected
}

func (*contextChecker) Name() string { return "KeepFilterFactory" }

func (*contextChecker) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == rocksdb.TableFileCreationReasonCompaction
}

func (f *contextChecker) CreateCompactionFilter(c *rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	if c.IsFullCompaction != f.full.Load() || c.IsManualCompaction != f.manual.Load() {
		f.t.Errorf("full compaction %t, manual %t", c.IsFullCompaction, c.IsManualCompaction)
	}
	return &valueFilter{}
}

func TestDBTestUniversalCompaction_UniversalCompactionSingleSortedRun(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		f := &contextChecker{t: x.T}
		o := x.options(0) // which is made 1
		o.MemtableFactory, o.WriteBufferSize = newSpecialSkipListFactory(99), roomForEntries
		u := &o.CompactionOptionsUniversal
		u.SizeRatio, u.MinMergeWidth, u.MaxSizeAmplificationPercent = 10, 2, 0
		o.CompactionFilterFactory = f
		x.destroyAndReopen(o)
		same(x, "trigger", x.db.GetOptions().Level0FileNumCompactionTrigger, 1)
		f.full.Store(true)
		for range 16 {
			x.newFile(0)
			x.wantRuns(0, 1)
		}
		x.mustPut(0, key(x.next[0]), "")
		x.waitForCompact()
		x.wantRuns(0, 1)
	})
}

func TestDBTestUniversalCompaction_OptimizeFiltersForHits(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := blockTable(x.options(4), func(b *rocksdb.BlockBasedTableOptions) {
			b.CacheIndexAndFilterBlocks, b.FilterPolicy = true, rocksdb.NewBloomFilterPolicy(10)
		})
		o.CompactionOptionsUniversal.SizeRatio = 5
		o.OptimizeFiltersForHits, o.Statistics, o.MemtableFactory = true, rocksdb.NewStatistics(), newSpecialSkipListFactory(3)
		x.destroyAndReopen(o)
		x.poolSize(1, rocksdb.LowPriority)
		task := x.newPoolSleeper()
		task.schedule(rocksdb.LowPriority)
		for i := range o.Level0FileNumCompactionTrigger {
			x.mustPut(0, key(i*10), "val")
			if i > 0 {
				x.waitForFlush(0)
			}
			x.puts(0, key(30+i*10), "val", key(60+i*10), "val")
		}
		x.mustPut(0, "", "")
		x.waitForFlush(0)
		missing := func() {
			x.Helper()
			for i := 5; i < 90; i += 10 {
				x.wantGet(0, key(i), "NOT_FOUND")
			}
		}
		missing()
		useful := x.ticker(rocksdb.BloomFilterUseful)
		if useful == 0 {
			x.Fatal("no filter was of use")
		}
		// Of the tables that may have the key, all but the last one are filtered.
		x.wantGet(0, key(35), "NOT_FOUND")
		useful += x.numTableFilesAtLevel(0, 0) - 1
		x.wantTicker(rocksdb.BloomFilterUseful, useful)
		task.wakeUp()
		task.waitUntilDone()
		x.waitForCompact()
		missing()
		x.wantTicker(rocksdb.BloomFilterUseful, useful)
	})
}

func TestDBTestUniversalCompaction_UniversalCompactionTrigger(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		f := &contextChecker{t: x.T}
		o := x.options(4)
		o.WriteBufferSize, o.TargetFileSizeBase = 1<<20, rocksdb.DefaultOptions().TargetFileSizeBase
		o.CompactionOptionsUniversal.SizeRatio, o.CompactionFilterFactory = 5, f
		x.destroyAndReopen(o)
		x.createAndReopenWithCF(pikachu[1:], o)
		stage := func(full bool, runs ...int) {
			x.Helper()
			f.full.Store(full)
			for _, n := range runs {
				x.sized(1, 100)
				x.wantRuns(1, n)
			}
		}
		// Sizes of the runs, in hundreds of values, are 1, 1 1, 1 1 1, and,
		// compacted, 4.
		stage(true, 1, 2, 3, 1)
		// Then 4 0.4, 4 0.4 1, and 4 2.4.
		f.full.Store(false)
		x.sized(1, 40)
		stage(false, 3, 2, 3, 3, 4) // 4 2.4 1; 4 2.4 2; 4 2.4 2 1, where nothing is picked
		stage(true, 1)
	})
}

func TestDBTestUniversalCompaction_UniversalCompactionSizeAmplification(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.options(3)
		o.WriteBufferSize, o.ArenaBlockSize = 100<<10, 0
		x.destroyAndReopen(o)
		x.createAndReopenWithCF(pikachu[1:], o)
		o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
		x.reopenWithColumnFamilies(pikachu, o)
		for i := range 2 {
			x.bigValues(1, 11, x.incompressible)
			x.wantRuns(1, i+1)
		}
		x.flush(1) // a small run
		x.waitForCompact()
		x.wantRuns(1, 1)
	})
}

// countUniversalPicks counts what the picker picks, and what for.
func countUniversalPicks(why contract.CompactionReason) (all, forIt *atomic.Int64) {
	all, forIt = new(atomic.Int64), new(atomic.Int64)
	syncpoint.SetCallBack("UniversalCompactionBuilder::PickCompaction:Return", func(arg any) {
		if c := arg.(*compaction.Compaction); c != nil {
			all.Add(1)
			if c.CompactionReason() == why {
				forIt.Add(1)
			}
		}
	})
	syncpoint.EnableProcessing()
	return all, forIt
}

func TestDBTestUniversalCompaction_DynamicUniversalCompactionSizeAmplification(t *testing.T) {
	x := &universalTest{newDBTest(t), 1, false, newRandom(), make([]int, 3)}
	o := x.options(3)
	o.WriteBufferSize, o.ArenaBlockSize = 100<<10, 0
	o.CompactionOptionsUniversal.SizeRatio, o.CompactionOptionsUniversal.MinMergeWidth = 100, 100 // nothing is compacted
	x.destroyAndReopen(o)
	picked, forSize := countUniversalPicks(contract.CompactionReasonUniversalSizeAmplification)
	x.createAndReopenWithCF(pikachu[1:], o)
	for i := range 2 {
		x.bigValues(1, 11, x.incompressible)
		x.wantRuns(1, i+1)
	}
	x.flush(1)
	x.waitForCompact()
	x.wantRuns(1, 3)
	percent := func() uint32 { return x.cf(1).GetOptions().CompactionOptionsUniversal.MaxSizeAmplificationPercent }
	same(t, "size amplification", percent(), 200)
	x.must(x.cf(1).SetOptions(pairs([]string{"compaction_options_universal", "{max_size_amplification_percent=110;}"})))
	same(t, "size amplification", percent(), 110)
	x.waitForCompact()
	x.wantRuns(1, 1)
	same(t, "compactions", picked.Load(), 1)
	same(t, "compactions for size amplification", forSize.Load(), 1)
}

func TestDBTestUniversalCompaction_DynamicUniversalCompactionReadAmplification(t *testing.T) {
	x := &universalTest{newDBTest(t), 1, false, newRandom(), make([]int, 3)}
	o := x.options(3)
	o.WriteBufferSize, o.ArenaBlockSize = 100<<10, 0
	u := &o.CompactionOptionsUniversal
	u.MaxSizeAmplificationPercent, u.SizeRatio, u.MinMergeWidth = 2000, 0, 100 // nothing is compacted
	x.destroyAndReopen(o)
	picked, forRatio := countUniversalPicks(contract.CompactionReasonUniversalSizeRatio)
	x.createAndReopenWithCF(pikachu[1:], o)
	for i := range 3 {
		x.bigValues(1, 11, x.incompressible)
		x.wantRuns(1, i+1)
	}
	x.flush(1)
	x.waitForCompact()
	x.wantRuns(1, 4)
	same(t, "compactions", picked.Load(), 0)
	x.must(x.cf(1).SetOptions(pairs([]string{"compaction_options_universal", "{min_merge_width=2;max_merge_width=2;size_ratio=100;}"})))
	now := x.cf(1).GetOptions().CompactionOptionsUniversal
	if now.MinMergeWidth != 2 || now.MaxMergeWidth != 2 || now.SizeRatio != 100 {
		t.Fatalf("%+v", now)
	}
	x.waitForCompact()
	// Of 0.3 1 1 1, two are compacted to 2, and that with the last one: the ratio
	// does not reach for 0.3, and no more than two may be merged at once.
	x.wantRuns(1, 2)
	same(t, "compactions", picked.Load(), 2)
	same(t, "compactions for the ratio", forRatio.Load(), 2)
}

func TestDBTestUniversalCompaction_CompactFilesOnUniversalCompaction(t *testing.T) {
	x := newDBTest(t)
	x.changeCompactOptions()
	o := x.currentOptions()
	o.Compression, o.WriteBufferSize = rocksdb.NoCompression, 10000
	o.TargetFileSizeBase = rocksdb.DefaultOptions().WriteBufferSize
	x.createAndReopenWithCF(pikachu[1:], o)
	same(t, "style", o.CompactionStyle, rocksdb.CompactionStyleUniversal)
	rnd := newRandom()
	for i := 1024; i >= 0; i-- {
		x.mustPut(1, fmt.Sprint(i), rnd.str(984))
	}
	x.waitForFlush(1)
	x.waitForCompact()
	files := func() (names []string) {
		for _, f := range x.cf(1).GetColumnFamilyMetaData(nil).Levels[0].Files {
			names = append(names, f.Name)
		}
		return names
	}
	compact := func(level int, names ...string) error {
		_, err := x.cf(1).CompactFiles(nil, names, level, -1, nil)
		return err
	}
	all := files()
	var some []string
	for _, f := range all {
		if rnd.OneIn(2) {
			some = append(some, f)
		}
	}
	if len(some) == 0 {
		some = all[:1]
	}
	if compact(1, some...) == nil {
		t.Error("compacted to a level that there is not")
	}
	x.must(compact(0, some...))
	all = files()
	for _, f := range all {
		for _, was := range some {
			if f == was {
				t.Errorf("%s is still there", f)
			}
		}
	}
	x.must(compact(0, all[0], all[len(all)-1])) // and what is between
	same(t, "files", len(files()), 1)
}

func TestDBTestUniversalCompaction_UniversalCompactionTargetLevel(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.CompactionStyle, o.WriteBufferSize, o.NumLevels, o.DisableAutoCompactions = rocksdb.CompactionStyleUniversal, 100<<10, 7, true
		x.destroyAndReopen(o)
		rnd := newRandom()
		for _, r := range [][2]int{{0, 210}, {200, 300}, {250, 260}} {
			for i := r[0]; i < r[1]; i++ {
				x.mustPut(0, key(i), rnd.str(100))
			}
			x.flush(0)
		}
		x.wantFiles(0, "3")
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.ChangeLevel, cro.TargetLevel, cro.ExclusiveManualCompaction = true, 4, exclusive
		x.must(x.db.CompactRange(&cro, nil, nil))
		x.wantFiles(0, "0,0,0,0,1")
		x.close()
	}
}

func TestDBTestUniversalCompactionMultiLevels_UniversalCompactionMultiLevels(t *testing.T) {
	eachUniversal(t, []int{3, 20}, func(x *universalTest) {
		const n = 5000
		o := x.options(8)
		o.WriteBufferSize, o.ArenaBlockSize, o.MaxBackgroundCompactions = 20<<10, 0, 3
		x.createAndReopenWithCF(pikachu[1:], o)
		o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
		x.reopenWithColumnFamilies(pikachu, o)
		for i := range 2 * n {
			x.mustPut(1, key(i%n), key(i))
		}
		x.waitForCompact()
		for i := n; i < 2*n; i++ {
			x.wantGet(1, key(i%n), key(i))
		}
	})
}

// universalTrivialMoves writes n keys in order, and wants tables to have been
// moved, and none rewritten below level 0. moved tells whether some were
// rewritten as well.
func (x *dbTest) universalTrivialMoves(n int, o rocksdb.Options) (rewritten int64) {
	x.Helper()
	moves, jobs := passes("DBImpl::BackgroundCompaction:TrivialMove"), new(atomic.Int64)
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:NonTrivial", func(arg any) {
		jobs.Add(1)
		if level := *arg.(*int); level != 0 {
			x.Errorf("rewritten to level %d", level)
		}
	})
	syncpoint.EnableProcessing()
	o.CompactionStyle, o.CompactionOptionsUniversal.AllowTrivialMove = rocksdb.CompactionStyleUniversal, true
	x.destroyAndReopen(o)
	x.createAndReopenWithCF(pikachu[1:], o)
	o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
	x.reopenWithColumnFamilies(pikachu, o)
	for i := range n {
		x.mustPut(1, key(i), key(i))
	}
	x.flush(1)
	x.waitForCompact()
	syncpoint.DisableProcessing()
	if moves.Load() == 0 {
		x.Error("no table was moved")
	}
	return jobs.Load()
}

func TestDBTestUniversalCompactionMultiLevels_UniversalCompactionTrivialMove(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.WriteBufferSize, o.TargetFileSizeBase = 3, 20<<10, 32<<10
	o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 3, 2
	if x.universalTrivialMoves(30000, o) == 0 {
		t.Error("no table was rewritten")
	}
}

func TestDBTestUniversalCompaction_UniversalCompactionTrivialMoveTest1(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.WriteBufferSize, o.TargetFileSizeBase = 2, 20<<10, 32<<10
	o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 3, 1
	if x.universalTrivialMoves(50000, o) == 0 {
		t.Error("no table was rewritten")
	}
}

func TestDBTestUniversalCompaction_UniversalCompactionTrivialMoveTest2(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.WriteBufferSize, o.TargetFileSizeBase = 15, 20<<10, 64<<10
	o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 8, 2
	x.universalTrivialMoves(40000, o)
}

func TestDBTestUniversalCompaction_UniversalCompactionOptions(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.options(4)
		o.WriteBufferSize, o.CompactionOptionsUniversal.CompressionSizePercent = 1<<20, -1
		x.destroyAndReopen(o)
		x.createAndReopenWithCF(pikachu[1:], o)
		for _, want := range []int{1, 2, 3, 1} {
			x.sized(1, 100)
			x.wantRuns(1, want)
		}
	})
}

func TestDBTestUniversalCompaction_UniversalCompactionStopStyleSimilarSize(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.options(4)
		o.WriteBufferSize = 1 << 20
		o.CompactionOptionsUniversal.SizeRatio, o.CompactionOptionsUniversal.StopStyle = 10, rocksdb.CompactionStopStyleSimilarSize
		x.destroyAndReopen(o)
		for _, c := range []struct{ values, runs int }{
			{100, 1}, {100, 2}, {100, 3}, {100, 1}, // 4
			{40, 2}, {100, 3}, {100, 3}, // 4 0.4; 4 0.4 1; 4 0.4 2
			{100, 4}, // nothing is picked
		} {
			x.sized(0, c.values)
			x.wantRuns(0, c.runs)
		}
	})
}

// compressibleRuns writes so many runs of values that Snappy makes smaller by a
// fifth, and gives the size of all tables.
func (x *universalTest) compressibleRuns(runs, values int) (size uint64) {
	x.Helper()
	for range runs {
		x.bigValues(0, values, func() string {
			s := x.rnd.RandomBinaryString(8000)
			return s + s[:2000]
		})
		x.waitForCompact()
	}
	return x.db.GetColumnFamilyMetaData(nil).Size
}

func TestDBTestUniversalCompaction_UniversalCompactionCompressRatio1(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.options(2)
		o.WriteBufferSize, o.ArenaBlockSize, o.CompactionOptionsUniversal.CompressionSizePercent = 100<<10, 0, 70
		x.destroyAndReopen(o)
		// The first compactions, of 2, of 4, and of 1 1 3.2, are compressed.
		for i := range 3 {
			if n := x.compressibleRuns(2, 11); n >= 110000*uint64(i+1)*2*9/10 {
				x.Fatalf("%d runs have %d bytes", 2*i+2, n)
			}
		}
		// The newest of 2 4 8 is not.
		if n := x.compressibleRuns(8, 11); n <= 110000*11*8/10+110000*2 {
			x.Fatalf("%d bytes", n)
		}
	})
}

func TestDBTestUniversalCompaction_UniversalCompactionCompressRatio2(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.options(2)
		o.WriteBufferSize, o.ArenaBlockSize, o.CompactionOptionsUniversal.CompressionSizePercent = 100<<10, 0, 95
		x.destroyAndReopen(o)
		// The newest of 2 4 8 is compressed too.
		if n := x.compressibleRuns(14, 12); n >= 120000*12*82/100+120000*2 {
			x.Fatalf("%d bytes", n)
		}
	})
}

func TestDBTestUniversalCompaction_IncreaseUniversalCompactionNumLevels(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		t.Run(fmt.Sprintf("exclusive=%t", exclusive), func(t *testing.T) {
			x := &universalTest{newDBTest(t), 1, exclusive, newRandom(), make([]int, 3)}
			o := x.options(3)
			o.WriteBufferSize, o.ArenaBlockSize, o.TargetFileSizeBase = 200<<10, 0, x.defaultOptions().TargetFileSizeBase
			o.MemtableFactory = newSpecialSkipListFactory(10)
			x.createAndReopenWithCF(pikachu[1:], o)
			fill := func(last int) {
				x.Helper()
				for ; x.next[1] <= last; x.next[1]++ {
					x.mustPut(1, key(x.next[1]), x.rnd.str(1000))
					x.waitForFlush(1)
					x.waitForCompact()
				}
				x.flush(1)
				x.waitForCompact()
			}
			verify := func() {
				x.Helper()
				it := x.iter(1)
				n := 0
				for it.SeekToFirst(); it.Valid(); it.Next() {
					same(x, "key", string(it.Key()), key(n))
					n++
				}
				x.must(it.Status())
				same(x, "keys", n, x.next[1])
			}
			fill(200)
			o.NumLevels = 4
			x.reopenWithColumnFamilies(pikachu, o)
			verify()
			fill(600)
			verify()
			if x.numTableFilesAtLevel(3, 1) == 0 {
				t.Fatal(x.filesPerLevel(1))
			}
			// Back to one level: all goes to level 0, and a new MANIFEST has no
			// records of higher ones.
			o.TargetFileSizeBase = math.MaxInt32
			x.reopenWithColumnFamilies(pikachu, o)
			cro := rocksdb.DefaultCompactRangeOptions()
			cro.ChangeLevel, cro.TargetLevel, cro.ExclusiveManualCompaction = true, 0, exclusive
			x.must(x.cf(1).CompactRange(&cro, nil, nil))
			x.reopenWithColumnFamilies(pikachu, o)
			o.NumLevels = 1
			x.reopenWithColumnFamilies(pikachu, o)
			fill(800)
			verify()
		})
	}
}

func TestDBTestUniversalCompactionParallel_UniversalCompactionParallel(t *testing.T) {
	for _, levels := range []int{1, 10} {
		t.Run(fmt.Sprintf("levels=%d", levels), func(t *testing.T) {
			const n = 12000
			x := &universalTest{newDBTest(t), levels, false, newRandom(), nil}
			o := x.options(3)
			o.WriteBufferSize, o.ArenaBlockSize, o.TargetFileSizeBase = 1<<10, 0, 1<<10
			o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = 3, 3
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
			x.destroyAndReopen(o)
			x.createAndReopenWithCF(pikachu[1:], o)
			// The first of the compactions waits for a second one.
			var running atomic.Int32
			parallel := make(chan struct{})
			var seen atomic.Bool
			syncpoint.SetCallBack("CompactionJob::Run():Start", func(any) {
				if running.Add(1) > 1 && !seen.Swap(true) {
					close(parallel)
				}
				<-parallel
			})
			syncpoint.SetCallBack("CompactionJob::Run():End", func(any) { running.Add(-1) })
			syncpoint.EnableProcessing()
			x.reopenWithColumnFamilies(pikachu, o)
			for i := range 2 * n {
				x.mustPut(1, key(i%n), key(i))
			}
			x.waitForCompact()
			syncpoint.Reset()
			same(t, "running compactions", running.Load(), 0)
			for range 2 {
				for i := n; i < 2*n; i++ {
					x.wantGet(1, key(i%n), key(i))
				}
				x.reopenWithColumnFamilies(pikachu, o)
			}
		})
	}
}

func TestDBTestUniversalCompactionParallel_PickByFileNumberBug(t *testing.T) {
	const point = "DBTestUniversalCompactionParallel::PickByFileNumberBug:"
	for _, levels := range []int{1, 10} {
		t.Run(fmt.Sprintf("levels=%d", levels), func(t *testing.T) {
			x := &universalTest{newDBTest(t), levels, false, newRandom(), nil}
			o := x.options(7)
			o.WriteBufferSize, o.ArenaBlockSize, o.TargetFileSizeBase, o.MaxBackgroundCompactions = 1<<10, 0, 1<<20, 2
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = math.MaxUint32
			x.destroyAndReopen(o)
			picked, _ := countUniversalPicks(0)
			order(point+"0", "BackgroundCallCompaction:0",
				"UniversalCompactionBuilder::PickCompaction:Return", point+"1",
				point+"2", "CompactionJob::Run():Start")
			n := 1
			write := func(count int) {
				for range count {
					x.mustPut(0, key(n), key(n))
					n++
				}
				x.flush(0)
			}
			compactionStarts := func() {
				syncpoint.Process(point + "0")
				syncpoint.Process(point + "1")
			}
			sevenAnd := func(more int) {
				for range 7 {
					write(10)
				}
				compactionStarts()
				syncpoint.ClearTrace()
				for i := range more { // of sizes that no ratio puts together
					write(1000 - 100*i)
				}
			}
			sevenAnd(3)
			syncpoint.Process(point + "2")
			x.waitForCompact()
			// The score is below one once the first is picked.
			same(t, "compactions", picked.Load(), 1)
			same(t, "tables", x.totalTableFiles(0), 4)
			syncpoint.ClearTrace()
			syncpoint.DisableProcessing()
			n = 1
			picked.Store(0)
			x.destroyAndReopen(o)
			syncpoint.EnableProcessing()
			sevenAnd(8)
			compactionStarts()
			syncpoint.Process(point + "2")
			x.waitForCompact()
			if picked.Load() < 2 {
				t.Errorf("%d compactions", picked.Load())
			}
		})
	}
}

// A full compaction waits in the bottom pool while another merges newer files.
func TestDBTestUniversalCompaction_ConcurrentBottomPriLowPriCompactions(t *testing.T) {
	const trigger, added = 3, "DBTestUniversalCompaction:ConcurrentBottomPriLowPriCompactions:0"
	eachUniversal(t, []int{3, 5}, func(x *universalTest) {
		for _, reduceLocking := range []bool{true, false} {
			x.env.SetBackgroundThreads(1, rocksdb.BottomPriority)
			o := x.options(trigger)
			o.WriteBufferSize = 1 << 20 // flushes are asked for
			o.CompactionOptionsUniversal.ReduceFileLocking = reduceLocking
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
			o.MaxBackgroundCompactions = 2
			x.destroyAndReopen(o)
			pressure := x.full().TestWriteController().GetCompactionPressureToken()
			picked := "DBImpl::BackgroundCompaction:ForwardToBottomPriPool"
			if reduceLocking {
				picked = "DBImpl::BackgroundCompaction():AfterPickCompactionBottomPri"
			}
			syncpoint.LoadDependency(syncpoint.Pair{Predecessor: picked, Successor: added},
				syncpoint.Pair{Predecessor: "DBImpl::BackgroundCompaction:NonTrivial:BeforeRun", Successor: "DBImpl::BackgroundCompaction:NonTrivial:BeforeRunBottomPri"})
			syncpoint.EnableProcessing()
			for i := range 2 {
				for range trigger {
					for k := range 100 {
						x.mustPut(0, key(k), x.rnd.str(990))
					}
					x.flush(0)
				}
				if i == 0 {
					syncpoint.Process(added)
				}
			}
			x.waitForCompact()
			// The first went to the last level, the second above it.
			x.wantRuns(0, 2)
			if x.numTableFilesAtLevel(0, 0) == 0 || x.numTableFilesAtLevel(x.levels-1, 0) == 0 {
				t.Errorf("reduce_file_locking %t: tables %s", reduceLocking, x.filesPerLevel(0))
			}
			syncpoint.Reset()
			pressure.Release()
			x.env.SetBackgroundThreads(0, rocksdb.BottomPriority)
		}
	})
}

func TestDBTestUniversalCompaction_RecalculateScoreAfterPicking(t *testing.T) {
	eachUniversal(t, universalLevels, func(x *universalTest) {
		o := x.currentOptions()
		o.MemtableFactory = newSpecialSkipListFactory(99)
		o.CompactionOptionsUniversal.MaxMergeWidth, o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 4, math.MaxUint32
		o.CompactionStyle, o.Level0FileNumCompactionTrigger, o.NumLevels = rocksdb.CompactionStyleUniversal, 8, x.levels
		x.reopen(o)
		attempts := passes("DBImpl::BackgroundCompaction:Start")
		syncpoint.EnableProcessing()
		for i := range 8 {
			x.wantRuns(0, i)
			x.next[0] = 0
			x.newFile(0)
		}
		x.waitForCompact()
		// The compaction of four brings the score below one.
		same(x, "compactions", attempts.Load(), 1)
		x.wantRuns(0, 5)
	})
}

func TestDBTestUniversalCompaction_FinalSortedRunCompactFilesConflict(t *testing.T) {
	const point = "DBTestUniversalCompaction:FinalSortedRunCompactFilesConflict:0"
	for _, levels := range universalLevels {
		t.Run(fmt.Sprintf("levels=%d", levels), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.CompactionStyle, o.Compression, o.NumLevels = rocksdb.CompactionStyleUniversal, rocksdb.NoCompression, levels
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent, o.CompactionOptionsUniversal.MinMergeWidth = 50, 2
			o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 2, 2
			x.reopen(o)
			defer x.full().TestWriteController().GetCompactionPressureToken().Release()
			x.puts(0, "key", "val", "flush")
			x.compact(0, "", "")
			last := x.db.GetColumnFamilyMetaData(nil).Levels[levels-1].Files
			same(t, "files", len(last), 1)
			order("CompactFilesImpl:0", point, "DBImpl::BackgroundCompaction():AfterPickCompaction", "CompactFilesImpl:1")
			done := make(chan error)
			go func() {
				_, err := x.db.CompactFiles(nil, []string{last[0].Name}, levels-1, -1, nil)
				done <- err
			}()
			syncpoint.Process(point)
			x.puts(0, "key", "val", "flush", "key", "val", "flush")
			x.waitForCompact()
			x.must(<-done)
		})
	}
}

// Port of db/db_universal_compaction_test.cc (tables in several directories).

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// dbPaths gives directories of the sizes, the first one being base.
func dbPaths(base string, sizes ...uint64) (list []rocksdb.DBPath) {
	for i, n := range sizes {
		dir := base
		if i > 0 {
			dir = fmt.Sprint(base, "_", i+1)
		}
		list = append(list, rocksdb.DBPath{Path: dir, TargetSize: n})
	}
	return list
}

// tablesIn counts the tables that are in a directory.
func tablesIn(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	return len(names)
}

// pathOptions compact two runs of about 110 KB or more, in level 0 alone.
func (x *dbTest) pathOptions(ratio uint32) rocksdb.Options {
	o := x.currentOptions()
	o.MemtableFactory = newSpecialSkipListFactory(99)
	o.CompactionStyle, o.CompactionOptionsUniversal.SizeRatio, o.NumLevels = rocksdb.CompactionStyleUniversal, ratio, 1
	o.WriteBufferSize, o.ArenaBlockSize, o.Level0FileNumCompactionTrigger = roomForEntries, 4<<10, 2
	return o
}

// pathCounts are how many tables some of the directories have to have.
type pathCounts map[int]int

// fourPathSteps are what the tables of directories for 300 KB, 300 KB, 500 KB and
// 1 GB come to. Sizes of the runs are in memtables.
var fourPathSteps = []pathCounts{
	{}, {}, {}, // the first three stay
	{2: 1},             // 4
	{2: 1, 0: 1},       // 1 4
	{2: 1, 1: 1, 0: 0}, // 2 4
	{2: 1, 1: 1, 0: 0}, // 3 4
	{3: 1},             // 8
	{3: 1, 0: 1},       // 1 8
	{3: 1, 1: 1},       // 2 8
	{3: 1, 1: 1, 0: 0}, // 3 8
	{2: 1, 3: 1},       // 4 8
	{3: 1, 2: 1, 0: 0}, // 5 8
}

const kb = 1 << 10

// fillPaths writes a memtable to each family a step, and checks what its
// directories have then, and that all is there, before and after reopen.
func (x *dbTest) fillPaths(steps []pathCounts, reopen func(), families ...[]rocksdb.DBPath) {
	x.Helper()
	rnd, next := util.NewRandom(301), make([]int, len(families))
	for step, want := range steps {
		for cf := range families {
			x.generateFile(cf, rnd, &next[cf], true)
		}
		for cf, dirs := range families {
			for i, n := range want {
				if got := tablesIn(dirs[i].Path); got != n {
					x.Fatalf("step %d, family %d: %d tables in directory %d, not %d", step, cf, got, i, n)
				}
			}
		}
	}
	for range 2 {
		for cf := range families {
			for i := range next[cf] {
				if n := len(x.get(cf, key(i))); n != 1 && n != 990 {
					x.Fatalf("family %d: %s has %d bytes", cf, key(i), n)
				}
			}
		}
		reopen()
	}
}

func TestDBTestUniversalCompaction_UniversalCompactionFourPaths(t *testing.T) {
	x := newDBTest(t)
	o := x.pathOptions(5)
	o.DBPaths = dbPaths(x.dir, 300*kb, 300*kb, 500*kb, 1<<30)
	x.reopen(o)
	x.fillPaths(fourPathSteps, func() { x.reopen(o) }, o.DBPaths)
	x.destroy(o)
}

func TestDBTestUniversalCompaction_UniversalCompactionCFPathUse(t *testing.T) {
	x := newDBTest(t)
	o := x.pathOptions(10)
	sizes := []uint64{300 * kb, 300 * kb, 500 * kb, 1 << 30}
	o.DBPaths = dbPaths(x.dir, sizes...)
	one, two := o, o
	one.CFPaths, two.CFPaths = dbPaths(x.dir+"cf1", sizes...), dbPaths(x.dir+"cf2", sizes...)
	x.reopen(o)
	x.createColumnFamilies([]string{"one"}, one)
	x.createColumnFamilies([]string{"two"}, two)
	reopen := func() { x.reopenWithColumnFamilies([]string{"default", "one", "two"}, o, one, two) }
	reopen()
	x.fillPaths(fourPathSteps, reopen, o.DBPaths, one.CFPaths, two.CFPaths)
	for _, cf := range slices.Concat(one.CFPaths, two.CFPaths) {
		x.must(os.RemoveAll(cf.Path))
	}
}

func TestDBTestUniversalCompaction_UniversalCompactionSecondPathRatio(t *testing.T) {
	x := newDBTest(t)
	o := x.pathOptions(5)
	o.DBPaths = dbPaths(x.dir, 500*kb, 1<<30)
	x.reopen(o)
	x.fillPaths([]pathCounts{
		{}, {}, {}, // the first three stay
		{1: 1},       // 4
		{1: 1, 0: 1}, // 1 4
		{1: 1, 0: 1}, // 2 4
		{1: 2, 0: 0}, // 3 4
		{1: 1, 0: 0}, // 8
		{1: 1, 0: 1}, // 1 8
		{1: 1, 0: 1}, // 2 8
		{1: 2, 0: 0}, // 3 8
		{1: 2, 0: 0}, // 4 8
		{1: 2, 0: 0}, // 5 8
	}, func() { x.reopen(o) }, o.DBPaths)
	x.destroy(o)
}

func TestDBTestUniversalManualCompactionOutputPathId_ManualCompactionOutputPathId(t *testing.T) {
	for _, levels := range []int{1, 8} {
		for _, exclusive := range []bool{false, true} {
			t.Run(fmt.Sprintf("levels=%d,exclusive=%t", levels, exclusive), func(t *testing.T) {
				x := newDBTest(t)
				o := x.currentOptions()
				o.DBPaths = dbPaths(x.dir, 1000000000, 1000000000)
				o.CompactionStyle, o.NumLevels, o.TargetFileSizeBase = rocksdb.CompactionStyleUniversal, levels, 1<<30
				o.Level0FileNumCompactionTrigger = 10
				x.destroyAndReopen(o)
				x.createAndReopenWithCF(pikachu[1:], o)
				want := func(first, second int) { // live tables of the directories
					t.Helper()
					n := map[string]int{}
					for _, l := range x.cf(1).GetColumnFamilyMetaData(nil).Levels {
						for _, f := range l.Files {
							n[f.Directory]++
						}
					}
					if n[o.DBPaths[0].Path] != first || n[o.DBPaths[1].Path] != second {
						t.Fatalf("%v, not %d and %d", n, first, second)
					}
				}
				again := func() { x.reopenWithColumnFamilies(pikachu, o) }
				compact := func(path uint32) error {
					cro := rocksdb.DefaultCompactRangeOptions()
					cro.TargetPathID, cro.ExclusiveManualCompaction = path, exclusive
					return x.cf(1).CompactRange(&cro, nil, nil)
				}
				x.makeTables(3, "p", "q", 1)
				x.must(x.full().TestWaitForCompact())
				want(2, 0)
				same(t, "tables in the second directory", tablesIn(o.DBPaths[1].Path), 0)
				x.must(compact(1))
				want(0, 1)
				again()
				want(0, 1)
				x.makeTables(1, "p", "q", 1)
				want(1, 1)
				again()
				want(1, 1)
				x.must(compact(0))
				want(1, 0)
				x.wantIs(compact(2), rocksdb.ErrInvalidArgument)
			})
		}
	}
}

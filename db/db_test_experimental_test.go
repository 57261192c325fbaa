// Port of db/db_test.cc (SuggestCompactRange, PromoteL0).

package db_test

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const keysOfNewRandomFile = 51

// newRandomFile fills a memtable of keysOfNewRandomFile entries and waits for its
// flush and for compactions.
func (x *dbTest) newRandomFile(rnd *util.Random) {
	x.Helper()
	for range keysOfNewRandomFile {
		x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(2000))
	}
	x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(200))
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.must(x.full().TestWaitForCompact())
}

// contextFactory keeps the context of the last filter asked for.
type contextFactory struct {
	last rocksdb.CompactionFilterContext
}

func (*contextFactory) Name() string { return "CompactionFilterFactoryGetContext" }

func (*contextFactory) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == rocksdb.TableFileCreationReasonCompaction
}

func (f *contextFactory) CreateCompactionFilter(c *rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	f.last = *c
	return nil
}

func suggestOptions(x *dbTest) rocksdb.Options {
	o := x.currentOptions()
	o.MemtableFactory = newSpecialSkipListFactory(keysOfNewRandomFile)
	o.WriteBufferSize, o.ArenaBlockSize = 200<<10, 4<<10
	o.Level0FileNumCompactionTrigger, o.NumLevels = 4, 4
	o.Compression = rocksdb.NoCompression
	o.MaxBytesForLevelBase, o.TargetFileSizeBase = 450<<10, 98<<10
	o.MaxCompactionBytes = 1 << 60
	return o
}

func (x *dbTest) suggest(begin, end []byte) {
	x.Helper()
	x.must(x.cf(0).SuggestCompactRange(begin, end))
	x.must(x.full().TestWaitForCompact())
}

func (x *dbTest) wantLevelFiles(level, want int) {
	x.Helper()
	if n := x.numTableFilesAtLevel(level, 0); n != want {
		x.Fatalf("%d files at level %d, not %d: %s", n, level, want, x.filesPerLevel(0))
	}
}

func TestDBTest_SuggestCompactRangeTest(t *testing.T) {
	x := newDBTest(t)
	o := suggestOptions(x)
	f := &contextFactory{}
	o.CompactionFilterFactory = f
	x.reopen(o)
	rnd := util.NewRandom(301)
	for range 10 {
		x.newRandomFile(rnd)
	}
	if f.last.IsManualCompaction {
		t.Error("manual")
	}
	for x.numTableFilesAtLevel(0, 0) == 0 && x.numTableFilesAtLevel(1, 0) == 0 {
		x.newRandomFile(rnd)
	}
	for range 3 {
		x.suggest(nil, nil)
	}
	x.wantLevelFiles(0, 0)
	x.wantLevelFiles(1, 0)
	x.newRandomFile(rnd)
	x.wantLevelFiles(0, 1)
	x.suggest([]byte("a"), []byte("b"))
	x.wantLevelFiles(0, 1)
	x.suggest([]byte("j"), []byte("m"))
	if f.last.IsManualCompaction {
		t.Error("manual")
	}
	x.wantLevelFiles(0, 0)
	x.wantLevelFiles(1, 0)
}

func TestDBTest_SuggestCompactRangeUniversal(t *testing.T) {
	x := newDBTest(t)
	o := suggestOptions(x)
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	x.reopen(o)
	rnd := util.NewRandom(301)
	for range 10 {
		x.newRandomFile(rnd)
	}
	x.wantFiles(0, "1,2,3,4")
	for range 3 {
		x.suggest(nil, nil)
	}
	for level := range 3 {
		x.wantLevelFiles(level, 0)
	}
	x.newRandomFile(rnd)
	x.wantLevelFiles(0, 1)
	x.suggest([]byte("a"), []byte("b"))
	x.wantLevelFiles(0, 1)
	x.suggest([]byte("j"), []byte("m"))
	x.wantLevelFiles(0, 0)
	x.wantLevelFiles(1, 0)
}

func TestDBTest_PromoteL0(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.WriteBufferSize = 10 << 20
	o.UncacheAggressiveness = 300
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	values := map[int]string{}
	ranges := [][2]int{{81, 160}, {0, 80}, {161, 240}, {241, 320}}
	for _, r := range ranges {
		for i := r[0]; i < r[1]; i++ {
			values[i] = rnd.RandomString(10 << 10)
			x.mustPut(0, key(i), values[i])
		}
		x.flush(0)
	}
	x.wantFiles(0, "4")
	x.must(x.cf(0).PromoteL0(2))
	x.wantFiles(0, "0,0,4")
	check := func() {
		t.Helper()
		for i, v := range values {
			x.wantGet(0, key(i), v)
		}
	}
	check()
	x.reopen(o)
	x.wantFiles(0, "0,0,4")
	check()
}

func TestDBTest_PromoteL0Failure(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.WriteBufferSize = 10 << 20
	x.destroyAndReopen(o)
	x.mustPut(0, key(0), "")
	x.mustPut(0, key(3), "")
	x.flush(0)
	x.mustPut(0, key(1), "")
	x.flush(0)
	refused := func(target int) {
		t.Helper()
		if err := x.cf(0).PromoteL0(target); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Error(err)
		}
	}
	refused(1)
	x.compact(0, "", "")
	if x.numTableFilesAtLevel(1, 0) == 0 {
		t.Error(x.filesPerLevel(0))
	}
	x.mustPut(0, key(5), "")
	x.flush(0)
	refused(1)
	refused(0)
	refused(7)
}

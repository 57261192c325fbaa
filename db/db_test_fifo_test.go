// Port of db/db_test.cc (FIFO compaction).

package db_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func (x *dbTest) fifoOptions() rocksdb.Options {
	o := x.plainOptions()
	o.CompactionStyle, o.ArenaBlockSize, o.Compression = rocksdb.CompactionStyleFIFO, 4096, rocksdb.NoCompression
	return o
}

// flushedFiles flushes files of so many values of 980 bytes, and waits for the
// compaction after each.
func (x *dbTest) flushedFiles(rnd *util.Random, files, keys, step, base int) {
	x.Helper()
	for i := range files {
		for j := range keys {
			x.mustPut(0, strconv.Itoa(i*step+j+base), rnd.RandomString(980))
		}
		x.flush(0)
		x.must(x.full().TestWaitForCompact())
	}
}

func (x *dbTest) wantLevel0(want int) {
	x.Helper()
	same(x, "files at level 0", x.numTableFilesAtLevel(0, 0), want)
}

func TestDBTestWithParam_FIFOCompactionTest(t *testing.T) {
	for _, sub := range []uint32{1, 4} {
		for _, exclusive := range []bool{false, true} {
			for _, manual := range []bool{false, true} {
				t.Run(fmt.Sprintf("subcompactions=%d,exclusive=%t,manual=%t", sub, exclusive, manual), func(t *testing.T) {
					x := newDBTest(t)
					o := x.fifoOptions()
					o.WriteBufferSize, o.CompactionOptionsFIFO.MaxTableFilesSize = 100<<10, 500<<10
					o.MaxSubcompactions, o.DisableAutoCompactions = sub, manual
					x.destroyAndReopen(o)
					rnd := util.NewRandom(301)
					for i := range 6 {
						for j := range 110 {
							x.mustPut(0, strconv.Itoa(i*100+j), rnd.RandomString(980))
						}
						x.waitForFlush(0)
					}
					if manual {
						cro := rocksdb.DefaultCompactRangeOptions()
						cro.ExclusiveManualCompaction, cro.ChangeLevel = exclusive, true
						x.wantIs(x.db.CompactRange(&cro, nil, nil), rocksdb.ErrNotSupported)
						cro.ChangeLevel = false
						x.must(x.db.CompactRange(&cro, nil, nil))
					} else {
						x.must(x.full().TestWaitForCompact())
					}
					x.wantLevel0(5)
					for i := range 50 {
						x.wantGet(0, strconv.Itoa(i), "NOT_FOUND")
					}
				})
			}
		}
	}
}

// withinLimit merges small files and holds the limit of 1.5 MB.
func (x *dbTest) withinLimit(o rocksdb.Options) {
	x.Helper()
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	x.flushedFiles(rnd, 60, 20, 20, 0)
	x.wantLevel0(10)
	x.flushedFiles(rnd, 60, 20, 20, 2000)
	if n := x.numTableFilesAtLevel(0, 0); n <= 10 || n >= 18 {
		x.Errorf("%d files", n)
	}
	if n := x.sizeAtLevel(0); n > o.CompactionOptionsFIFO.MaxTableFilesSize {
		x.Errorf("%d bytes", n)
	}
}

func TestDBTest_FIFOCompactionTestWithCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.fifoOptions()
	o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 20<<10, 6
	o.CompactionOptionsFIFO.MaxTableFilesSize, o.CompactionOptionsFIFO.AllowCompaction = 1500<<10, true
	x.withinLimit(o)
}

func TestDBTest_FIFOCompactionStyleWithCompactionAndDelete(t *testing.T) {
	x := newDBTest(t)
	o := x.fifoOptions()
	o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 20<<10, 3
	o.CompactionOptionsFIFO.MaxTableFilesSize, o.CompactionOptionsFIFO.AllowCompaction = 1500<<10, true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	three := func(f func(key string), files int, want string) {
		t.Helper()
		for i := range 3 {
			x.mustPut(0, fmt.Sprint("a", i), rnd.RandomString(500))
			f(fmt.Sprint("key", i))
			x.mustPut(0, fmt.Sprint("z", i), rnd.RandomString(500))
			x.flush(0)
			x.must(x.full().TestWaitForCompact())
		}
		x.wantLevel0(files)
		for i := range 3 {
			x.wantGet(0, fmt.Sprint("key", i), want)
		}
	}
	three(func(k string) { x.mustPut(0, k, "") }, 1, "")
	three(func(k string) { x.mustDelete(0, k) }, 2, "NOT_FOUND")
}

func TestDBTest_FIFOCompactionWithTTLAndMaxOpenFilesTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.TTL = rocksdb.CompactionStyleFIFO, 600
	for _, n := range []int{0, 100} {
		o.MaxOpenFiles = n
		x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
	}
	o.MaxOpenFiles = -1
	x.reopen(o)
}

func TestDBTest_FIFOCompactionWithTTLAndVariousTableFormatsTest(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.CompactionStyle, o.TTL = rocksdb.CompactionStyleFIFO, 600
	b := rocksdb.DefaultBlockBasedTableOptions()
	f := rocksdb.NewBlockBasedTableFactory(b)
	o.TableFactory = f
	x.reopen(o)
	x.destroy(o)
	o.TableFactory = rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
	x.destroy(o)
	o.TableFactory = adaptive(t, f, f, nil, nil)
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
}

func TestDBTest_FIFOCompactionWithTTLTest(t *testing.T) {
	x := newDBTest(t)
	clock, e := x.emulatedTime(false)
	clock.SetMockSleep(true)
	o := x.fifoOptions()
	o.Env, o.WriteBufferSize = e, 10<<10
	o.CompactionOptionsFIFO = contract.CompactionOptionsFIFO{MaxTableFilesSize: 150 << 10}
	o.TTL = 60 * 60
	rnd := util.NewRandom(301)
	// older lets two hours pass, after which nothing has changed by itself.
	older := func(files int) {
		t.Helper()
		x.wantLevel0(files)
		clock.MockSleepForSeconds(2 * 60 * 60)
		x.must(x.full().TestWaitForCompact())
		x.wantLevel0(files)
	}
	within := func() {
		t.Helper()
		if n := x.sizeAtLevel(0); n > o.CompactionOptionsFIFO.MaxTableFilesSize {
			t.Errorf("%d bytes", n)
		}
	}
	// Expired files go with a manual compaction,
	x.destroyAndReopen(o)
	x.flushedFiles(rnd, 10, 10, 20, 0)
	older(10)
	x.compact(0, "", "")
	x.wantLevel0(0)
	// and with an automatic one, for which a flush is needed.
	x.destroyAndReopen(o)
	x.flushedFiles(rnd, 10, 10, 20, 0)
	older(10)
	x.flushedFiles(rnd, 1, 10, 20, 0)
	x.wantLevel0(1)
	within()
	// Where that is not enough, the size decides.
	x.destroyAndReopen(o)
	x.flushedFiles(rnd, 3, 10, 20, 0)
	older(3)
	x.flushedFiles(rnd, 5, 140, 20, 0)
	within()
	// Of 10 files 6 are merged into one.
	o.CompactionOptionsFIFO.AllowCompaction, o.Level0FileNumCompactionTrigger = true, 6
	x.destroyAndReopen(o)
	x.flushedFiles(rnd, 10, 10, 20, 0)
	older(5)
	x.flushedFiles(rnd, 10, 10, 20, 0)
	x.wantLevel0(5)
	within()
	// Nothing expires.
	o.WriteBufferSize, o.CompactionOptionsFIFO.MaxTableFilesSize = 20<<10, 1500<<10
	x.withinLimit(o)
}

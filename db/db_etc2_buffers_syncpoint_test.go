//go:build syncpoint

// Port of db/db_etc2_test.cc (shared write buffers, pinned blocks, CPU time).

package db_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// exactArenas has memtables take no more memory than what they hold.
func exactArenas() {
	syncpoint.SetCallBack("Arena::Arena:0", func(arg any) { *arg.(*int) = 1 })
	syncpoint.SetCallBack("Arena::AllocateNewBlock:0", func(arg any) {
		counted := arg.(*[2]int)
		counted[0] = counted[1]
	})
	syncpoint.EnableProcessing()
}

// tablesOf counts the tables of a database's families.
func tablesOf(d *rocksdb.DB, families ...string) (counts []int) {
	files := d.GetLiveFilesMetaData()
	for _, name := range families {
		n := 0
		for _, f := range files {
			if f.ColumnFamilyName == name {
				n++
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// settle waits for flushes of all families and for what listeners are told.
func settle(x *dbTest, dbs ...*rocksdb.DB) {
	x.Helper()
	for i := range x.cfs {
		x.waitForFlush(i)
	}
	for _, d := range append(dbs, x.db) {
		x.must(d.Impl().TestWaitForFlushMemTable(nil))
		x.must(d.Impl().TestWaitForBackgroundWork())
	}
}

func TestDBTestSharedWriteBufferAcrossCFs_SharedWriteBufferAcrossCFs(t *testing.T) {
	for _, p := range []struct{ option, charged bool }{{true, false}, {false, false}, {false, true}} {
		t.Run(fmt.Sprintf("option=%t,charged=%t", p.option, p.charged), func(t *testing.T) { testSharedWriteBuffer(t, p.option, p.charged) })
	}
}

func testSharedWriteBuffer(t *testing.T, option, charged bool) {
	x := newDBTest(t)
	exactArenas()
	l := &flushCounter{want: rocksdb.FlushReasonManualFlush}
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Statistics.SetStatsLevel(contract.StatsLevelAll)
	o.ArenaBlockSize, o.AvoidFlushDuringShutdown, o.WriteBufferSize = 4096, true, 500000
	o.Listeners = append(o.Listeners, l)
	c := rocksdb.NewLRUCache(4 << 20)
	switch {
	case option:
		o.DBWriteBufferSize = 120000
	case charged:
		o.WriteBufferManager = memtable.NewWriteBufferManager(114285, c, false)
	default:
		o.WriteBufferManager = memtable.NewWriteBufferManager(114285, nil, false)
	}
	names := []string{"default", "pikachu", "dobrynia", "nikitich"}
	x.createAndReopenWithCF(names[1:], o)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	put := func(cf, k, size int) {
		t.Helper()
		x.mustPutWith(cf, key(k), dummyString(size, 'a'), &wo)
		if charged && size >= 10000 {
			if n := c.GetUsage(); n < 256<<10 || n > 2*256<<10 {
				t.Errorf("the cache is charged %d bytes", n)
			}
		}
		settle(x)
	}
	want := func(counts ...int) {
		t.Helper()
		if got := tablesOf(x.db, names...); !slices.Equal(got, counts) {
			t.Fatalf("tables: %v, not %v", got, counts)
		}
	}
	x.mustPutWith(3, key(1), "a", &wo)
	x.flush(3)
	x.mustPutWith(3, key(1), "a", &wo)
	x.mustPutWith(0, key(1), "a", &wo)
	x.flush(0)
	want(1, 0, 0, 1)
	same(t, "flushes for another reason", l.other.Load(), 0)

	l.want = rocksdb.FlushReasonWriteBufferManager
	put(3, 1, 30000)
	put(0, 1, 60000)
	put(2, 1, 1)
	want(1, 0, 0, 1) // the limit is not reached
	put(3, 2, 30000)
	put(0, 1, 1)
	want(1, 0, 0, 2) // the family that was written first goes
	put(2, 1, 30000)
	put(2, 1, 1)
	put(2, 1, 1)
	want(1, 0, 0, 2)
	put(2, 2, 10000)
	put(3, 1, 1)
	for range 3 {
		put(0, 1, 1)
	}
	want(2, 0, 0, 2)
	put(1, 1, 1)
	put(2, 1, 80000)
	put(1, 1, 1)
	put(2, 1, 1)
	want(2, 0, 1, 2) // not the one that never was flushed, which is small
	same(t, "flushes for another reason", l.other.Load(), 0)

	flushes := uint64(x.ticker(contract.TickerFlushReasonWriteBufferManager))
	if flushes == 0 {
		t.Error("no flush is counted for the manager")
	}
	x.wantTicker(contract.TickerFlushReasonWriteBufferFull, 0)
	for _, h := range []contract.Histogram{contract.HistFlushMemtableMemoryBytes, contract.HistFlushMemtableTotalDataSize} {
		if d := o.Statistics.GetHistogramData(h); d.Count < flushes || d.Sum == 0 {
			t.Errorf("%v: %d values, sum %d", h, d.Count, d.Sum)
		}
	}
	d := o.Statistics.GetHistogramData(contract.HistFlushWriteBufferManagerMemtableMemoryBytes)
	if d.Count != flushes || d.Sum == 0 {
		t.Errorf("%d values for %d flushes, sum %d", d.Count, flushes, d.Sum)
	}
	if charged {
		if n := c.GetUsage(); n < 256<<10 {
			t.Errorf("the cache is charged %d bytes", n)
		}
		x.close()
		o.WriteBufferManager.(*memtable.WriteBufferManager).Close()
		if n := c.GetUsage(); n >= 256<<10 {
			t.Errorf("the cache is charged %d bytes for nothing", n)
		}
	}
}

func TestDBTest2_SharedWriteBufferLimitAcrossDB(t *testing.T) {
	x := newDBTest(t)
	exactArenas()
	l := &flushCounter{want: rocksdb.FlushReasonWriteBufferManager}
	o := x.currentOptions()
	o.ArenaBlockSize, o.AvoidFlushDuringShutdown, o.WriteBufferSize = 4096, true, 500000
	o.Listeners = append(o.Listeners, l)
	o.WriteBufferManager = memtable.NewWriteBufferManager(120000, nil, false)
	x.createAndReopenWithCF([]string{"cf1", "cf2"}, o)
	other, err := rocksdb.Open(filepath.Join(filepath.Dir(x.dir), "db2"), o)
	x.must(err)
	defer func() { x.must(other.Close()) }()
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	put := func(cf, k, size int) { // to the other database with cf -1
		t.Helper()
		value := dummyString(size, 'a')
		if cf < 0 {
			x.must(other.Put(&wo, []byte(key(k)), []byte(value)))
		} else {
			x.mustPutWith(cf, key(k), value, &wo)
		}
		settle(x, other)
	}
	want := func(counts ...int) {
		t.Helper()
		if got := append(tablesOf(x.db, "default", "cf1", "cf2"), tablesOf(other, "default")...); !slices.Equal(got, counts) {
			t.Fatalf("tables: %v, not %v", got, counts)
		}
	}
	put(2, 1, 70000)
	put(0, 1, 20000)
	put(-1, 2, 20000)
	put(2, 1, 1)
	first := tablesOf(x.db, "default", "cf1", "cf2")
	same(t, "tables", first[0]+first[1]+first[2], 1)
	same(t, "tables of the other database", tablesOf(other, "default")[0], 0)
	put(-1, 2, 70000)
	put(2, 1, 1)
	want(1, 0, 1, 0) // another family of the first database
	put(-1, 3, 40000)
	put(-1, 1, 1)
	want(1, 0, 1, 1)
	same(t, "flushes for another reason", l.other.Load(), 0)
}

func TestPinL0IndexAndFilterBlocksTest_DisablePrefetchingNonL0IndexAndFilter(t *testing.T) {
	eachPinL0(t, func(x *dbTest, unlimitedFiles, noPreload bool) {
		o := x.pinnedLevels(unlimitedFiles, true)
		base := x.cacheUse()
		if noPreload { // too few for tables to be opened beforehand; 20 are the least
			o.MaxOpenFiles = 13
			syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = 13 })
			syncpoint.EnableProcessing()
		}
		x.reopenWithColumnFamilies(pikachu, o)
		syncpoint.Reset()
		// Where tables are opened with the database, nothing is read ahead of the one at
		// level 1; a lookup then misses. Opened by a lookup, it misses and then hits.
		late := 0
		if noPreload {
			late = 1
		}
		want := func(what string, misses, hits int) {
			x.Helper()
			same(x, what, x.cacheUse(), base.plus(misses, hits))
		}
		want("after opening", 1-late, 0)
		x.wantGet(1, "a2", "begin2") // at level 0
		want("after a lookup at level 0", 1, 0)
		x.wantGet(1, "a", "begin") // at level 1
		want("after a lookup at level 1", 2, late)
		x.compact(1, "a", "zzzzz")
		x.must(x.full().TestWaitForCompact())
		use := x.cacheUse()
		same(x, "filters after a compaction", [2]int{use.filterMiss, use.filterHit}, [2]int{base.filterMiss + 3, base.filterHit + late})
		same(x, "indexes after a compaction", [2]int{use.indexMiss, use.indexHit}, [2]int{base.indexMiss + 3, base.indexHit + 2 + late})
		x.wantGet(1, "a", "begin")
		use = x.cacheUse()
		same(x, "filters at last", [2]int{use.filterMiss, use.filterHit}, [2]int{base.filterMiss + 3, base.filterHit + 1 + late})
		same(x, "indexes at last", [2]int{use.indexMiss, use.indexHit}, [2]int{base.indexMiss + 3, base.indexHit + 3 + late})
	})
}

// dummySeconds go by while a table is looked for.
const dummySeconds = 1000000

// newCPUTest opens a database whose clock counts readings of CPU time, and whose
// tables are opened by each read.
func newCPUTest(t *testing.T) (*dbTest, *env.EmulatedSystemClock) {
	x := newDBTest(t)
	c, e := x.emulatedTime(false)
	o := x.currentOptions()
	o.Env = e
	x.destroyAndReopen(o)
	x.full().TestTableCache().SetCapacity(0)
	return x, c
}

// sleepInFindTable lets the clock, but no CPU time, go on.
func sleepInFindTable(c *env.EmulatedSystemClock) {
	syncpoint.SetCallBack("TableCache::FindTable:0", func(any) { c.MockSleepForSeconds(dummySeconds) })
	syncpoint.EnableProcessing()
}

func wantBelow(t *testing.T, what string, nanos, least uint64) {
	t.Helper()
	if nanos < least || nanos >= dummySeconds*1e9 {
		t.Errorf("%s: %d ns", what, nanos)
	}
}

func TestDBTest2_TestPerfContextGetCpuTime(t *testing.T) {
	x, c := newCPUTest(t)
	x.puts(0, "foo", "bar", "flush")
	c.ResetCounters()
	c.SetMockSleep(true)
	perf := &rocksdb.PerfContext{Level: rocksdb.EnableTimeExceptForMutex}
	same(t, "foo", x.getPerf(0, "foo", perf), "bar")
	same(t, "CPU time", perf.GetCPUNanos, 0)
	same(t, "readings of CPU time", c.GetCPUCounter(), 0)
	sleepInFindTable(c)
	perf.Level = rocksdb.EnableTimeAndCPUTimeExceptForMutex
	same(t, "foo", x.getPerf(0, "foo", perf), "bar")
	if n := c.GetCPUCounter(); n < 2 {
		t.Errorf("CPU time was read %d times", n)
	}
	wantBelow(t, "get_cpu_nanos", perf.GetCPUNanos, 0)
	if perf.FindTableNanos <= dummySeconds*1e9 {
		t.Errorf("find_table_nanos is %d", perf.FindTableNanos)
	}
}

func TestDBTest2_TestPerfContextIterCpuTime(t *testing.T) {
	x, c := newCPUTest(t)
	for i := range 10 {
		x.mustPut(0, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	x.flush(0)
	for i := range 10 {
		x.wantGet(0, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	c.ResetCounters()
	c.SetMockSleep(true)
	perf := &rocksdb.PerfContext{Level: rocksdb.EnableTimeExceptForMutex}
	walk := func(check func(what string, nanos uint64)) {
		t.Helper()
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = perf })
		it.walk("seek k0", "k0->v0", "for-prev k9", "k9->v9", "last", "k9->v9", "first", "k0->v0")
		check("iter_seek_cpu_nanos", perf.IterSeekCPUNanos)
		it.walk("next", "k1->v1")
		check("iter_next_cpu_nanos", perf.IterNextCPUNanos)
		it.walk("prev", "k0->v0")
		check("iter_prev_cpu_nanos", perf.IterPrevCPUNanos)
		x.must(it.Close())
	}
	walk(func(what string, nanos uint64) { same(t, what, nanos, 0) })
	same(t, "readings of CPU time", c.GetCPUCounter(), 0)
	sleepInFindTable(c)
	perf.Level = rocksdb.EnableTimeAndCPUTimeExceptForMutex
	walk(func(what string, nanos uint64) { wantBelow(t, what, nanos, 1) })
	if n := c.GetCPUCounter(); n < 12 {
		t.Errorf("CPU time was read %d times", n)
	}
	if perf.FindTableNanos <= dummySeconds*1e9 {
		t.Errorf("find_table_nanos is %d", perf.FindTableNanos)
	}
}

func TestDBTest2_ZSTDChecksum(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.CompressionOpts.MaxCompressedBytesPerKB, o.CompressionOpts.Checksum = rocksdb.ZSTD, 1024, true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(33)
	x.mustPut(0, key(0), rnd.RandomString(4<<10))
	// The frame's checksum are its last four bytes.
	syncpoint.SetCallBack("BlockBasedTableBuilder::WriteBlock:TamperWithCompressedData", func(arg any) {
		b := *arg.(*[]byte)
		b[len(b)-1]++
	})
	syncpoint.EnableProcessing()
	x.flush(0)
	_, err := x.db.Get(nil, []byte(key(0)))
	x.wantIs(err, rocksdb.ErrCorruption)
	o.ParanoidFileChecks = true
	x.destroyAndReopen(o)
	x.mustPut(0, key(0), rnd.RandomString(4<<10))
	x.wantIs(x.db.Flush(nil), rocksdb.ErrCorruption)
}

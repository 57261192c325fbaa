//go:build syncpoint

// Port of monitoring/stats_history_test.cc.

package db_test

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// statsHistoryTest is a database that lives by a mock clock.
type statsHistoryTest struct {
	*dbTest
	clock   *mockSystemClock
	mockEnv rocksdb.Env
}

func newStatsHistoryTest(t *testing.T) *statsHistoryTest {
	x := &statsHistoryTest{dbTest: newDBTest(t)}
	x.close()
	x.clock, x.mockEnv = x.mockTime()
	return x
}

func (x *statsHistoryTest) options(persistPeriod uint32) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.StatsPersistPeriodSec = persistPeriod
	o.Env = x.mockEnv
	return o
}

// pass lets seconds go by and waits for the tasks that are due then.
func (x *statsHistoryTest) pass(seconds int) {
	x.full().TestWaitForPeriodicTaskRun(func() { x.clock.MockSleepForSeconds(seconds) })
}

func (x *statsHistoryTest) set(name, value string) {
	x.Helper()
	x.must(x.full().SetDBOptions(map[string]string{name: value}))
}

// counted counts how often a sync point is passed.
func counted(point string) *atomic.Int64 {
	var n atomic.Int64
	syncpoint.SetCallBack(point, func(any) { n.Add(1) })
	syncpoint.EnableProcessing()
	return &n
}

// history reads the snapshots of [0, end).
func (x *statsHistoryTest) history(end uint64, each func(at uint64, stats map[string]uint64)) {
	x.Helper()
	it := x.db.GetStatsHistory(0, end)
	for ; it.Valid(); it.Next() {
		each(it.GetStatsTime(), it.GetStatsMap())
	}
	x.must(it.Err())
}

// countStatsKeys counts the entries of the hidden family.
func (x *statsHistoryTest) countStatsKeys() (n int) {
	x.Helper()
	it := x.full().NewIterator(nil, x.full().PersistentStatsColumnFamily())
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	x.must(it.Status())
	x.must(it.Close())
	return n
}

func (x *statsHistoryTest) equal(what string, got, want uint64) {
	x.Helper()
	if got != want {
		x.Fatalf("%s: %d, want %d", what, got, want)
	}
}

func TestStatsHistoryTest_RunStatsDumpPeriodSec(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	o := x.options(rocksdb.DefaultOptions().StatsPersistPeriodSec)
	o.StatsDumpPeriodSec = period
	counter := counted("DBImpl::DumpStats:1")
	x.reopen(o)
	x.equal("stats_dump_period_sec", uint64(x.full().GetDBOptions().StatsDumpPeriodSec), period)
	x.pass(period - 1)
	x.pass(period)
	if counter.Load() < 1 {
		t.Fatal("no dump")
	}
	x.set("stats_dump_period_sec", "0")
	old := counter.Load()
	for range 19 {
		x.clock.MockSleepForSeconds(period)
	}
	x.pass(0)
	x.equal("dumps", uint64(counter.Load()), uint64(old))
}

func TestStatsHistoryTest_StatsPersistScheduling(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	counter := counted("DBImpl::PersistStats:Entry")
	x.reopen(x.options(period))
	x.equal("stats_persist_period_sec", uint64(x.full().GetDBOptions().StatsPersistPeriodSec), period)
	x.pass(period - 1)
	x.pass(period)
	if counter.Load() < 1 {
		t.Fatal("not persisted")
	}
	x.set("stats_persist_period_sec", "0")
	old := counter.Load()
	x.pass(2 * period)
	x.equal("persisted", uint64(counter.Load()), uint64(old))
}

func TestStatsHistoryTest_PersistentStatsFreshInstall(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	counter := counted("DBImpl::PersistStats:Entry")
	x.reopen(x.options(0))
	x.set("stats_persist_period_sec", strconv.Itoa(period))
	x.equal("stats_persist_period_sec", uint64(x.full().GetDBOptions().StatsPersistPeriodSec), period)
	x.pass(period)
	if counter.Load() < 1 {
		t.Fatal("not persisted")
	}
}

func TestStatsHistoryTest_GetStatsHistoryInMemory(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(x.currentOptions())
	x.createColumnFamilies([]string{"pikachu"}, o)
	x.must(x.db.Put(nil, []byte("foo"), []byte("bar")))
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.pass(period - 1)
	x.pass(period)
	it := x.db.GetStatsHistory(0, x.clock.NowSeconds()+1)
	x.set("stats_persist_period_sec", "0")
	count := 0
	for ; it.Valid(); it.Next() {
		x.equal("time", it.GetStatsTime(), x.clock.NowSeconds())
		count += len(it.GetStatsMap())
	}
	if count == 0 {
		t.Fatal("no statistics")
	}
	for range 10 {
		x.pass(1)
	}
	again := 0
	x.history(x.clock.NowSeconds(), func(_ uint64, stats map[string]uint64) { again += len(stats) })
	x.equal("statistics later on", uint64(again), uint64(count))
}

func TestStatsHistoryTest_InMemoryStatsHistoryPurging(t *testing.T) {
	const period, iterations = 1, 10
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(x.currentOptions())
	x.createColumnFamilies([]string{"pikachu"}, o)
	x.must(x.db.Put(nil, []byte("foo"), []byte("bar")))
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	walk := func() {
		it := x.db.NewIterator(nil)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if string(it.Key()) != string(it.Value()) {
				t.Errorf("%s: %s", it.Key(), it.Value())
			}
		}
		x.must(it.Err())
		x.must(it.Close())
	}
	x.mustDelete(0, "foo")
	for _, k := range []string{"sol", "epic", "ltd"} {
		x.mustPut(0, k, k)
	}
	for _, k := range []string{"sol", "epic", "ltd"} {
		x.wantGet(0, k, k)
	}
	walk()
	x.flush(0)
	x.mustDelete(0, "sol")
	x.must(x.db.CompactRange(nil, nil, nil))
	for _, k := range []string{"saigon", "noodle talk", "ping bistro"} {
		x.mustPut(0, k, k)
	}
	walk()
	x.flush(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	for range iterations {
		x.pass(period)
	}
	var count, slices, countLater, slicesLater uint64
	x.history(x.clock.NowSeconds()+1, func(_ uint64, stats map[string]uint64) {
		slices++
		count += uint64(len(stats))
	})
	size := x.full().TestEstimateInMemoryStatsHistorySize()
	if slices < iterations-1 {
		t.Fatalf("%d snapshots", slices)
	}
	// Room for one snapshot and a half.
	limit := size / slices * 3 / 2
	x.set("stats_history_buffer_size", strconv.FormatUint(limit, 10))
	x.equal("stats_history_buffer_size", uint64(x.full().GetDBOptions().StatsHistoryBufferSize), limit)
	for range iterations {
		x.pass(period)
	}
	x.history(x.clock.NowSeconds()+1, func(_ uint64, stats map[string]uint64) {
		slicesLater++
		countLater += uint64(len(stats))
	})
	sizeLater := x.full().TestEstimateInMemoryStatsHistorySize()
	x.equal("snapshots kept", slicesLater, 1)
	if sizeLater == 0 || sizeLater >= limit || countLater == 0 || countLater >= count {
		t.Errorf("%d bytes of %d, %d statistics after %d", sizeLater, limit, countLater, count)
	}
}

// persisted opens a database with two families and the history on disk.
func (x *statsHistoryTest) persisted(period uint32) rocksdb.Options {
	o := x.options(period)
	o.Statistics = rocksdb.NewStatistics()
	o.PersistStatsToDisk = true
	x.reopen(x.currentOptions())
	x.createColumnFamilies([]string{"pikachu"}, o)
	x.must(x.db.Put(nil, []byte("foo"), []byte("bar")))
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.wantGet(0, "foo", "bar")
	return o
}

func TestStatsHistoryTest_GetStatsHistoryFromDisk(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	o := x.persisted(period)
	x.pass(period - 1)
	var keys [3]int
	for i := range keys {
		x.pass(period)
		keys[i] = x.countStatsKeys()
	}
	if keys[1] < keys[0] || keys[2]-keys[1] != keys[1]-keys[0] {
		t.Fatalf("%v keys", keys)
	}
	var count, slices, nonZero [2]int
	read := func(run int) {
		x.history(x.clock.NowSeconds()+1, func(at uint64, stats map[string]uint64) {
			if run == 0 {
				x.equal("time", at, uint64(period*(slices[run]+2)-1))
			}
			slices[run]++
			count[run] += len(stats)
			for _, n := range stats {
				if n != 0 {
					nonZero[run]++
				}
			}
		})
	}
	read(0)
	x.equal("snapshots", uint64(slices[0]), 3)
	x.equal("statistics", uint64(count[0]), uint64(keys[2]-2)) // two keys are versions
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	read(1)
	if count[0] != count[1] || slices[0] != slices[1] || nonZero[0] != nonZero[1] {
		t.Errorf("%v statistics, %v snapshots, %v not zero", count, slices, nonZero)
	}
}

func TestStatsHistoryTest_PersitentStatsVerifyValue(t *testing.T) {
	const period, sample = 5, "rocksdb.num.iterator.deleted"
	x := newStatsHistoryTest(t)
	o := x.persisted(period)
	x.pass(period - 1)
	for range 3 {
		x.pass(period)
		x.countStatsKeys()
	}
	x.pass(period)
	want := o.Statistics.GetTickerMap()[sample]
	read := func() (sum uint64) {
		i := 2
		x.history(x.clock.NowSeconds()+1, func(at uint64, stats map[string]uint64) {
			x.equal("time", at, uint64(period*i-1))
			i++
			sum += stats[sample]
		})
		return sum
	}
	x.equal(sample, read(), want)
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.equal(sample+" after reopening", read(), want)
}

func TestStatsHistoryTest_PersistentStatsCreateColumnFamilies(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.Statistics = rocksdb.NewStatistics()
	o.PersistStatsToDisk = true
	x.must(x.tryReopen(o))
	x.createColumnFamilies([]string{"one", "two", "three"}, o)
	x.mustPut(1, "foo", "bar")
	x.reopenWithColumnFamilies([]string{"default", "one", "two", "three"}, o)
	x.wantGet(2, "foo", "bar")
	x.createColumnFamilies([]string{"four"}, o)
	all := []string{"default", "one", "two", "three", "four"}
	x.reopenWithColumnFamilies(all, o)
	x.wantGet(2, "foo", "bar")
	x.pass(period - 1)
	x.pass(period)
	if x.countStatsKeys() == 0 {
		t.Error("nothing is persisted")
	}
	walWrites := func() (n uint64) {
		x.history(x.clock.NowSeconds(), func(_ uint64, stats map[string]uint64) { n += stats["rocksdb.write.wal"] })
		return n
	}
	x.equal("writes to the log", walWrites(), 1)

	o.PersistStatsToDisk = false
	x.reopenWithColumnFamilies(all, o)
	x.equal("families", uint64(len(x.full().Versions().GetColumnFamilySet().All())), 6)
	x.wantGet(2, "foo", "bar")
	const hidden = "___rocksdb_stats_history___"
	if _, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, hidden); err == nil {
		t.Error("made once more")
	}
	o.PersistStatsToDisk = true
	x.reopenWithColumnFamilies(all, o)
	if _, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, hidden); err == nil {
		t.Error("made once more")
	}
	x.equal("writes to the log", walWrites(), 1)
	x.destroy(o)
}

func TestStatsHistoryTest_PersistentStatsReadOnly(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "bar", "v2")
	x.close()
	o := x.currentOptions()
	o.StatsPersistPeriodSec = 5
	o.PersistStatsToDisk = true
	x.must(x.tryReadOnlyReopen(o))
	x.wantGet(0, "bar", "v2")
	x.close()
	x.must(x.tryReopen(o))
	x.flush(0)
	x.close()
	x.must(x.tryReadOnlyReopen(o))
	x.wantGet(0, "bar", "v2")
}

func TestStatsHistoryTest_ForceManualFlushStatsCF(t *testing.T) {
	const period = 5
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.WriteBufferSize = 10 << 20
	o.Statistics = rocksdb.NewStatistics()
	o.PersistStatsToDisk = true
	x.reopen(x.currentOptions())
	x.createColumnFamilies([]string{"pikachu"}, o)
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.pass(period - 1)
	logs := func() (def, stats, test uint64) {
		x.full().TestWithMutex(func() {
			def = x.full().TestCFD(x.full().DefaultColumnFamily()).GetLogNumber()
			stats = x.full().PersistentStatsColumnFamily().CFD().GetLogNumber()
			test = x.full().TestCFD(x.cf(1).Impl()).GetLogNumber()
		})
		return def, stats, test
	}
	put := func(cf int, key, value string) {
		x.Helper()
		x.mustPut(cf, key, value)
		x.wantGet(cf, key, value)
	}
	put(0, "foo", "v0")
	put(0, "bar", "v0")
	put(1, "Eevee", "v0")
	x.pass(period)
	// The hidden family and the default one were made after the log that pikachu
	// is in.
	x.flush(0)
	if def, stats, test := logs(); test >= stats || test >= def {
		t.Fatalf("logs %d %d %d", def, stats, test)
	}
	put(0, "foo1", "v1")
	put(0, "bar1", "v1")
	put(1, "Vaporeon", "v1")
	// Flushing pikachu leaves the hidden family alone with the oldest log.
	x.flush(1)
	if def, stats, test := logs(); stats != test || stats <= def {
		t.Fatalf("logs %d %d %d", def, stats, test)
	}
	put(0, "foo2", "v2")
	put(0, "bar2", "v2")
	x.pass(period)
	x.flush(0)
	if def, stats, test := logs(); stats != test || stats != def {
		t.Fatalf("logs %d %d %d", def, stats, test)
	}
	put(0, "foo3", "v3")
	put(0, "bar3", "v3")
	put(1, "Jolteon", "v3")
	x.pass(period)
	x.flush(1)
	if def, stats, test := logs(); stats >= test || stats != def {
		t.Fatalf("logs %d %d %d", def, stats, test)
	}
}

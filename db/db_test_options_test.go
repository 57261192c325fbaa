// Port of db/db_test.cc (options changed while open, jobs at shutdown, time of
// merges and filters).

package db_test

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// poolSleeper holds up a pool until it is woken.
type poolSleeper struct {
	x                       *dbTest
	mu                      sync.Mutex
	cond                    *sync.Cond
	awake, done, isSleeping bool
}

func (x *dbTest) newPoolSleeper() *poolSleeper {
	s := &poolSleeper{x: x}
	s.cond = sync.NewCond(&s.mu)
	x.Cleanup(s.wakeUp)
	return s
}

// schedule puts the task into a pool, anew.
func (s *poolSleeper) schedule(pri rocksdb.Priority) {
	s.mu.Lock()
	s.awake, s.done = false, false
	s.mu.Unlock()
	s.x.env.Schedule(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.isSleeping = true
		s.cond.Broadcast()
		for !s.awake {
			s.cond.Wait()
		}
		s.isSleeping, s.done = false, true
		s.cond.Broadcast()
	}, pri, nil, nil)
}

func (s *poolSleeper) until(f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !f() {
		s.cond.Wait()
	}
}

func (s *poolSleeper) waitUntilSleeping() { s.until(func() bool { return s.isSleeping && !s.awake }) }

func (s *poolSleeper) waitUntilDone() { s.until(func() bool { return s.done }) }

func (s *poolSleeper) wakeUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awake = true
	s.cond.Broadcast()
}

func TestDBTest_DynamicCompactionOptions(t *testing.T) {
	const k4, k32, k64, k128, m1 = 1 << 12, 1 << 15, 1 << 16, 1 << 17, 1 << 20
	x := newDBTest(t)
	o := x.plainOptions()
	o.LevelCompactionDynamicLevelBytes, o.Compression, o.SoftPendingCompactionBytesLimit = false, rocksdb.NoCompression, m1
	o.WriteBufferSize, o.ArenaBlockSize, o.MaxWriteBufferNumber = k64, 4*k4, 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 3, 4, 8
	o.TargetFileSizeBase, o.MaxCompactionBytes, o.TargetFileSizeMultiplier = k64, 10*k64, 1
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = k128, 4
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	x.destroyAndReopen(o)
	generate := func(start, kb, stride int) {
		rnd := util.NewRandom(301)
		for i := range kb {
			x.mustPut(0, key(start+stride*i), rnd.RandomString(1024))
		}
		x.waitForFlush(0)
	}
	sizes := func(count int, about uint64) {
		t.Helper()
		live := x.db.GetLiveFilesMetaData()
		same(t, "files", len(live), count)
		for _, f := range live {
			if f.Size > about+k4 || f.Size < about-k4 {
				t.Errorf("a file of %d bytes, not about %d", f.Size, about)
			}
		}
	}
	generate(0, 64, 1)
	x.wantLevel0(1)
	generate(0, 64, 1)
	x.wantLevel0(2)
	generate(0, 64, 1)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1")
	sizes(1, k64)
	x.setOptions("level0_file_num_compaction_trigger", "2", "target_file_size_base", fmt.Sprint(k32))
	generate(0, 64, 1)
	x.wantFiles(0, "1,1")
	generate(0, 64, 1)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,2")
	sizes(2, k32)

	within := func(level int, low, high uint64) {
		t.Helper()
		if n := x.sizeAtLevel(level); n <= low || n >= high {
			t.Errorf("level %d has %d bytes, not %d to %d", level, n, low, high)
		}
	}
	x.setOptions("max_bytes_for_level_base", fmt.Sprint(m1))
	for i := range 96 { // more than the first two levels are to hold
		generate(i, 64, 96)
	}
	x.must(x.full().TestWaitForCompact())
	within(1, m1/2, m1+m1/2)
	within(2, 2*m1, 6*m1)
	x.setOptions("max_bytes_for_level_multiplier", "2", "max_bytes_for_level_base", fmt.Sprint(k128))
	for i := range 20 {
		generate(i, 64, 32)
	}
	x.must(x.full().TestWaitForCompact())
	if n := x.sizeAtLevel(1) + x.sizeAtLevel(2) + x.sizeAtLevel(3); n >= k128*7*3/2 {
		t.Errorf("%d bytes in levels 1 to 3", n)
	}

	// Writes stop at so many files of level 0.
	rnd := util.NewRandom(301)
	flush := func(stall bool) { x.must(x.full().TestFlushMemTable(true, stall, x.cf(0).Impl())) }
	stopsAt := func(want int) {
		t.Helper()
		flush(true)
		x.compact(0, "", "")
		task := x.newPoolSleeper()
		task.schedule(rocksdb.LowPriority)
		task.waitUntilSleeping()
		x.wantLevel0(0)
		n := 0
		for n < 64 && !x.full().TestWriteController().IsStopped() {
			x.mustPut(0, key(n), rnd.RandomString(1024))
			flush(true)
			n++
		}
		same(t, "flushes before writes stop", n, want)
		task.wakeUp()
		task.waitUntilDone()
	}
	stopsAt(8)
	x.must(x.full().TestWaitForCompact())
	x.setOptions("level0_stop_writes_trigger", "6")
	stopsAt(6)

	for _, disable := range []bool{true, false} {
		x.setOptions("disable_auto_compactions", fmt.Sprint(disable))
		x.compact(0, "", "")
		x.wantLevel0(0)
		for i := range 4 {
			x.mustPut(0, key(i), rnd.RandomString(1024))
			flush(false)
		}
		x.must(x.full().TestWaitForCompact())
		if n := x.numTableFilesAtLevel(0, 0); disable && n != 4 || !disable && n >= 4 {
			t.Errorf("%d files at level 0, compactions disabled: %t", n, disable)
		}
	}
}

func TestDBTest_DynamicFIFOCompactionOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.TTL = 0
	x.destroyAndReopen(o)
	want := func(size, ttl uint64, allow bool) {
		t.Helper()
		got := x.db.GetOptions()
		same(t, "max_table_files_size", got.CompactionOptionsFIFO.MaxTableFilesSize, size)
		same(t, "ttl", got.TTL, ttl)
		same(t, "allow_compaction", got.CompactionOptionsFIFO.AllowCompaction, allow)
	}
	want(1<<30, 0, false)
	x.setOptions("compaction_options_fifo", "{max_table_files_size=23;}")
	want(23, 0, false)
	x.setOptions("ttl", "97")
	want(23, 97, false)
	x.setOptions("ttl", "203")
	want(23, 203, false)
	x.setOptions("compaction_options_fifo", "{allow_compaction=true;}")
	want(23, 203, true)
	x.setOptions("compaction_options_fifo", "{max_table_files_size=31;}")
	want(31, 203, true)
	x.setOptions("compaction_options_fifo", "{max_table_files_size=51;allow_compaction=true;}")
	x.setOptions("ttl", "49")
	want(51, 49, true)
}

func TestDBTest_DynamicUniversalCompactionOptions(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.plainOptions())
	want := func(ratio, width uint32, amp int) {
		t.Helper()
		u := x.db.GetOptions().CompactionOptionsUniversal
		same(t, "size_ratio", uint32(u.SizeRatio), ratio)
		same(t, "min_merge_width", uint32(u.MinMergeWidth), width)
		same(t, "max_merge_width", uint32(u.MaxMergeWidth), math.MaxUint32)
		same(t, "max_size_amplification_percent", uint32(u.MaxSizeAmplificationPercent), 200)
		same(t, "compression_size_percent", int(u.CompressionSizePercent), -1)
		same(t, "stop_style", u.StopStyle, rocksdb.CompactionStopStyleTotalSize)
		same(t, "allow_trivial_move", u.AllowTrivialMove, false)
		same(t, "max_read_amp", u.MaxReadAmp, amp)
	}
	want(1, 2, -1)
	x.setOptions("compaction_options_universal", "{size_ratio=7;}")
	want(7, 2, -1)
	x.setOptions("compaction_options_universal", "{min_merge_width=11;max_read_amp=0;}")
	want(7, 11, 0)
}

// creationFS fails to make files, so many of a hundred.
type creationFS struct {
	rocksdb.FileSystemWrapper
	rate atomic.Int64
	mu   sync.Mutex
	rnd  *util.Random
}

func (f *creationFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	f.mu.Lock()
	fail := int64(f.rnd.Uniform(100)) < f.rate.Load()
	f.mu.Unlock()
	if fail {
		return nil, rocksdb.IOError("simulated random write error")
	}
	return f.Target().NewWritableFile(name, o)
}

func TestDBTest_FileCreationRandomFailure(t *testing.T) {
	const keys, rounds = 4096, 20
	x := newDBTest(t)
	fs := &creationFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}, rnd: util.NewRandom(301)}
	o := x.onFS(x.plainOptions(), fs)
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 100000, 200000, 1000000, 2
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	values := make([]string, keys)
	for j := range rounds {
		if j == rounds/2 {
			fs.rate.Store(90)
		}
		for k := range keys {
			v := rnd.RandomString(100)
			if err := x.put(0, key(k), v); err == nil {
				values[k] = v
			} else if j < rounds/2 {
				t.Fatal(err)
			}
		}
	}
	x.wantIs(x.full().TestWaitForFlushMemTable(x.cf(0).Impl()), rocksdb.ErrIOError)
	x.wantIs(x.full().TestWaitForCompact(), rocksdb.ErrIOError)
	check := func() {
		t.Helper()
		for k, v := range values {
			x.wantGet(0, key(k), v)
		}
	}
	check()
	fs.rate.Store(0)
	x.reopen(o)
	check()
}

func TestDBTest_DynamicMiscOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.MaxSequentialSkipInIterations, o.Compression, o.Statistics = 16, rocksdb.NoCompression, rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	reseeks := func(start int, want uint64) {
		t.Helper()
		rnd := util.NewRandom(301)
		x.mustPut(0, key(start), rnd.RandomString(8))
		for range 10 {
			x.mustPut(0, key(start+1), rnd.RandomString(8))
		}
		x.mustPut(0, key(start+2), rnd.RandomString(8))
		it := x.db.NewIterator(nil)
		defer it.Close()
		it.Seek([]byte(key(start + 1)))
		same(t, "key", string(it.Key()), key(start+1))
		it.Next()
		same(t, "key", string(it.Key()), key(start+2))
		same(t, "reseeks", o.Statistics.GetTickerCount(rocksdb.NumberOfReseeksInIteration), want)
	}
	reseeks(100, 0)
	x.setOptions("max_sequential_skip_in_iterations", "4")
	x.must(x.full().TestFlushMemTable(true, false, x.cf(0).Impl()))
	reseeks(200, 1)
	x.setOptions("max_sequential_skip_in_iterations", "16")
	x.must(x.full().TestFlushMemTable(true, false, x.cf(0).Impl()))
	reseeks(300, 1)

	x.createAndReopenWithCF(pikachu[1:], o)
	set := func(cf int, kv ...string) {
		t.Helper()
		x.must(x.cfs[cf].SetOptions(pairs(kv)))
	}
	latest := func(cf int) rocksdb.Options { return x.cfs[cf].GetOptions() }
	set(1, "soft_pending_compaction_bytes_limit", "200", "hard_pending_compaction_bytes_limit", "300")
	same(t, "soft limit", latest(1).SoftPendingCompactionBytesLimit, 200)
	same(t, "hard limit", latest(1).HardPendingCompactionBytesLimit, 300)
	set(1, "report_bg_io_stats", "true")
	same(t, "report_bg_io_stats", latest(1).ReportBGIOStats, true)
	for _, c := range []struct {
		name string
		want rocksdb.CompressionType
	}{{"kNoCompression", rocksdb.NoCompression}, {"kSnappyCompression", rocksdb.SnappyCompression}} {
		set(0, "compression", c.name)
		same(t, "compression", latest(0).Compression, c.want)
	}
	set(1, "paranoid_file_checks", "true")
	same(t, "paranoid_file_checks", latest(1).ParanoidFileChecks, true)
	same(t, "report_bg_io_stats", latest(1).ReportBGIOStats, true)
}

func TestDBTest_CloseSpeedup(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.ArenaBlockSize, o.Level0FileNumCompactionTrigger = 110<<10, 4<<10, 2
	o.NumLevels, o.MaxBytesForLevelBase, o.MaxWriteBufferNumber = 4, 400*1024, 16
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	x.destroyAndReopen(o)
	low, high := x.newPoolSleeper(), x.newPoolSleeper()
	low.schedule(rocksdb.LowPriority)
	high.schedule(rocksdb.HighPriority)
	rnd, k := util.NewRandom(301), 0
	for range 5 {
		x.generateFile(0, rnd, &k, false)
	}
	same(t, "tables", x.countFiles(rocksdb.TableFile), 0)
	x.close()
	same(t, "tables", x.countFiles(rocksdb.TableFile), 0)
	high.wakeUp()
	high.waitUntilDone()
	low.wakeUp()
	low.waitUntilDone()
	x.destroy(o)
}

// delayedMerge takes a millisecond an operand, by the clock, and gives "".
type delayedMerge struct {
	contract.MergeOperatorBase
	clock *env.EmulatedSystemClock
}

func (*delayedMerge) Name() string { return "DelayedMergeOperator" }

func (m *delayedMerge) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	m.clock.MockSleepForMicroseconds(1000 * int64(len(in.Operands)))
	out.NewValue = out.NewValue[:0]
	return true
}

func TestDBTest_MergeTestTime(t *testing.T) {
	x := newDBTest(t)
	clock, e := x.emulatedTime(true)
	o := x.currentOptions()
	o.Env, o.Statistics, o.MergeOperator = e, rocksdb.NewStatistics(), &delayedMerge{clock: clock}
	x.destroyAndReopen(o)
	spent := func() uint64 { return o.Statistics.GetTickerCount(rocksdb.MergeOperationTotalTime) }
	same(t, "time of merges", spent(), 0)
	x.mustPut(0, "foo", "1")
	x.flush(0)
	x.mustMerge(0, "foo", "2")
	x.flush(0)
	x.mustMerge(0, "foo", "3")
	x.flush(0)
	x.wantGet(0, "foo", "")
	same(t, "time of merges", spent(), 2000000)
	it := x.db.NewIterator(nil)
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	x.must(errors.Join(it.Err(), it.Close()))
	same(t, "entries", n, 1)
	same(t, "time of merges", spent(), 4000000)
	if o.Statistics.GetTickerCount(rocksdb.FlushWriteBytes) == 0 {
		t.Error("no bytes of flushes")
	}
}

// eachCompactionParam runs f for the parameters of DBTestWithParam.
func eachCompactionParam(t *testing.T, f func(x *dbTest, subcompactions uint32, exclusive bool)) {
	for _, sub := range []uint32{1, 4} {
		for _, exclusive := range []bool{false, true} {
			t.Run(fmt.Sprintf("subcompactions=%d,exclusive=%t", sub, exclusive), func(t *testing.T) { f(newDBTest(t), sub, exclusive) })
		}
	}
}

// sleepyFilter keeps everything, in a millisecond each where it has a clock.
type sleepyFilter struct{ clock *env.EmulatedSystemClock }

func (sleepyFilter) Name() string          { return "SleepyFilter" }
func (sleepyFilter) IgnoreSnapshots() bool { return true }
func (f sleepyFilter) FilterV3(int, []byte, contract.CompactionFilterValueType, []byte) (contract.CompactionFilterDecision, []byte, []byte) {
	if f.clock == nil {
		return contract.FilterKeep, nil, nil
	}
	f.clock.MockSleepForMicroseconds(1000)
	return contract.FilterRemove, nil, nil
}

type sleepyFactory struct{ sleepyFilter }

func (sleepyFactory) ShouldFilterTableFileCreation(r contract.TableFileCreationReason) bool {
	return r == contract.TableFileCreationReasonCompaction
}

func (f sleepyFactory) CreateCompactionFilter(*contract.CompactionFilterContext) contract.CompactionFilter {
	return f.sleepyFilter
}

func compactExclusively(x *dbTest, exclusive bool) {
	x.Helper()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction = exclusive
	x.must(x.db.CompactRange(&cro, nil, nil))
}

func TestDBTestWithParam_MergeCompactionTimeTest(t *testing.T) {
	eachCompactionParam(t, func(x *dbTest, sub uint32, exclusive bool) {
		clock, e := x.emulatedTime(true)
		o := x.currentOptions()
		o.Env, o.Statistics, o.MergeOperator = e, rocksdb.NewStatistics(), &delayedMerge{clock: clock}
		o.CompactionFilterFactory, o.DisableAutoCompactions, o.MaxSubcompactions = sleepyFactory{}, true, sub
		x.destroyAndReopen(o)
		const n = 100 // a tenth of upstream's
		for range n {
			x.mustMerge(0, "foo", "TEST")
			x.flush(0)
		}
		x.waitForFlush(0)
		compactExclusively(x, exclusive)
		same(x, "time of merges", o.Statistics.GetTickerCount(rocksdb.MergeOperationTotalTime), n*1000000)
	})
}

func TestDBTestWithParam_FilterCompactionTimeTest(t *testing.T) {
	eachCompactionParam(t, func(x *dbTest, sub uint32, exclusive bool) {
		clock, e := x.emulatedTime(true)
		o := x.currentOptions()
		o.Env, o.Statistics, o.CompactionFilterFactory = e, rocksdb.NewStatistics(), sleepyFactory{sleepyFilter{clock}}
		o.DisableAutoCompactions, o.MaxSubcompactions = true, sub
		o.Statistics.SetStatsLevel(contract.ExceptTimeForMutex)
		x.destroyAndReopen(o)
		n := uint64(0)
		for table := range 4 {
			for i := range 10 + table {
				x.mustPut(0, fmt.Sprint(table*100+i), "val")
				n++
			}
			x.flush(0)
		}
		compactExclusively(x, exclusive)
		same(x, "files", len(x.db.GetLiveFilesMetaData()), 0)
		x.reopen(o)
		it := x.db.NewIterator(nil)
		it.SeekToFirst()
		x.must(errors.Join(it.Err(), it.Close()))
		same(x, "time of filters", o.Statistics.GetTickerCount(rocksdb.FilterOperationTotalTime), n*1000000)
	})
}

// tickCounter counts how often a ticker is recorded.
type tickCounter struct {
	rocksdb.Statistics
	ticker rocksdb.Ticker
	n      atomic.Int64
}

func (s *tickCounter) RecordTick(t rocksdb.Ticker, count uint64) {
	if t == s.ticker && count > 0 {
		s.n.Add(1)
	}
	s.Statistics.RecordTick(t, count)
}

func TestDBTestWithParam_CompactionTotalTimeTest(t *testing.T) {
	eachCompactionParam(t, func(x *dbTest, sub uint32, exclusive bool) {
		stats := &tickCounter{Statistics: rocksdb.NewStatistics(), ticker: rocksdb.CompactionCPUTotalTime}
		o := x.currentOptions()
		o.DisableAutoCompactions, o.Statistics, o.MaxSubcompactions = true, stats, sub
		stats.SetStatsLevel(contract.ExceptTimeForMutex)
		x.destroyAndReopen(o)
		n := int64(0)
		for table := range 4 {
			for i := range 1000 {
				x.mustPut(0, fmt.Sprint(table*1000+i), "val")
				n++
			}
			x.mustPut(0, "0", "val") // the tables overlap
			n++
			x.flush(0)
		}
		compactExclusively(x, exclusive)
		// Every 1024 entries and at the end, unless no time has passed by the clock.
		if got := stats.n.Load(); got < 1 || got > n/1024+1 {
			x.Errorf("the time was recorded %d times", got)
		}
		h := stats.GetHistogramData(rocksdb.HistCompactionCPUTime)
		same(x, "compactions", h.Count, 1)
		same(x, "time", uint64(h.Max), stats.GetTickerCount(rocksdb.CompactionCPUTotalTime))
	})
}

func TestDBTest_TestLogCleanup(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber = 64<<10, 2
	x.reopen(o)
	for i := range 20000 { // a fifth of upstream's
		x.mustPut(0, key(i), "val")
		if n := x.full().TestLogsToFree(); n >= 3 {
			t.Fatalf("%d logs wait to be closed", n)
		}
	}
}

// generateRandomFile fills a memtable of 51 entries.
func (x *dbTest) generateRandomFile(rnd *util.Random, wait bool) {
	x.Helper()
	for range keysOfRandomFile {
		x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(2000))
	}
	x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(200))
	if wait {
		x.waitForFlush(0)
		x.must(x.full().TestWaitForCompact())
	}
}

func TestDBTest_LastWriteBufferDelay(t *testing.T) {
	x := newDBTest(t)
	x.poolSize(1, rocksdb.HighPriority)
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.DelayedWriteRate = 100000, 4, 20000
	o.Compression, o.DisableAutoCompactions, o.MemtableFactory = rocksdb.NoCompression, true, newSpecialSkipListFactory(3)
	x.reopen(o)
	task := x.newPoolSleeper()
	task.schedule(rocksdb.HighPriority)
	task.waitUntilSleeping()
	ctl := x.full().TestWriteController()
	for range 3 {
		for j := range 3 {
			x.mustPut(0, key(j), "")
		}
		same(t, "delayed", ctl.NeedsDelay(), false)
	}
	x.mustPut(0, key(0), "") // needs the last memtable allowed
	same(t, "delayed", ctl.NeedsDelay(), true)
	task.wakeUp()
	task.waitUntilDone()
}

// fullCache takes nothing in.
type fullCache struct{ rocksdb.Cache }

func (fullCache) Name() string { return "FailInsertionCache" }
func (fullCache) Insert([]byte, any, *contract.CacheItemHelper, int, contract.CachePriority, bool) (contract.CacheHandle, error) {
	return nil, rocksdb.Aborted("full")
}

func TestDBTest_RowCache(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics, o.RowCache = rocksdb.NewStatistics(), rocksdb.NewLRUCache(8192)
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "bar")
	x.flush(0)
	want := func(hits, misses uint64) {
		t.Helper()
		same(t, "hits", o.Statistics.GetTickerCount(rocksdb.RowCacheHit), hits)
		same(t, "misses", o.Statistics.GetTickerCount(rocksdb.RowCacheMiss), misses)
	}
	want(0, 0)
	x.wantGet(0, "foo", "bar")
	want(0, 1)
	x.wantGet(0, "foo", "bar")
	want(1, 1)
	o.RowCache = fullCache{o.RowCache}
	x.must(o.Statistics.Reset())
	x.reopen(o)
	x.wantGet(0, "foo", "bar")
	want(0, 1)
	x.wantGet(0, "foo", "bar")
	want(0, 2)
}

// rowCache gives a database with foo in its row cache, and checks whether the
// entry is pinned.
func (x *dbTest) rowCache() (pinned func(want bool)) {
	x.Helper()
	c, err := cache.NewLRUCache(contract.DefaultLRUCacheOptions(8192))
	x.must(err)
	o := x.currentOptions()
	o.Statistics, o.RowCache = rocksdb.NewStatistics(), c
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "bar")
	x.flush(0)
	x.wantGet(0, "foo", "bar")
	return func(want bool) {
		x.Helper()
		same(x, "rows", c.GetOccupancyCount(), 1)
		same(x, "the row is pinned", c.GetPinnedUsage() > 0, want)
	}
}

func TestDBTest_PinnableSliceAndRowCache(t *testing.T) {
	x := newDBTest(t)
	pinned := x.rowCache()
	pinned(false)
	v, err := x.db.Get(nil, []byte("foo"))
	x.must(err)
	same(t, "value", string(v.Data()), "bar")
	pinned(true)
	v.Release()
	pinned(false)
}

func TestDBTest_ReusePinnableSlice(t *testing.T) {
	x := newDBTest(t)
	pinned := x.rowCache()
	pinned(false)
	values, errs, keys := make([]rocksdb.PinnableSlice, 1), make([]error, 1), [][]byte{[]byte("foo")}
	for name, get := range map[string]func(){
		"Get":      func() { errs[0] = x.db.GetInto(nil, keys[0], &values[0]) },
		"MultiGet": func() { x.db.MultiGet(nil, keys, values, errs) },
		"families": func() { x.db.MultiGetCF(nil, []*rocksdb.ColumnFamily{x.db.ColumnFamily}, keys, values, errs) },
	} {
		for range 2 {
			get()
			x.must(errs[0])
			same(t, name, string(values[0].Data()), "bar")
		}
		pinned(true)
		values[0].Release()
		pinned(false)
	}
}

// unsafeSyncFS has logs that cannot be synced while they are written.
type unsafeSyncFS struct{ rocksdb.FileSystemWrapper }

type unsafeSyncFile struct{ rocksdb.FSWritableFileWrapper }

func (unsafeSyncFile) IsSyncThreadSafe() bool { return false }

func (f unsafeSyncFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.Target().NewWritableFile(name, o)
	if p, ok := filename.ParseFileName(filepath.Base(name), ""); err != nil || !ok || p.Type != rocksdb.WalFile {
		return w, err
	}
	return unsafeSyncFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}}, nil
}

func TestDBTest_UnsupportedManualSync(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.onFS(x.currentOptions(), unsafeSyncFS{rocksdb.FileSystemWrapper{FileSystem: x.fault}}))
	x.wantIs(x.db.SyncWAL(), rocksdb.ErrNotSupported)
}

func TestDBTest_MemoryUsageWithMaxWriteBufferSizeToMaintain(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxWriteBufferSizeToMaintain, o.WriteBufferSize = 10000, 160000
	x.reopen(o)
	rnd := util.NewRandom(301)
	cfd := x.full().TestCFD(x.cf(0).Impl())
	exceeded := false
	for i := range 1000 {
		x.mustPut(0, fmt.Sprint("keykey_", i), rnd.RandomString(1000))
		x.waitForFlush(0)
		var active, all uint64
		x.full().TestWithMutex(func() {
			active = cfd.Mem().ApproximateMemoryUsage()
			all = active + cfd.Imm().ApproximateMemoryUsage()
		})
		// Above the limit it may be until the next write.
		over := all > active && active >= 10000 && all > 10000+o.WriteBufferSize
		if over && exceeded {
			t.Fatalf("%d bytes of memtables, %d in use", all, active)
		}
		exceeded = over
	}
}

func TestDBTest_FlushOnDestroy(t *testing.T) {
	x := newDBTest(t)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	x.mustPutWith(0, "foo", "v1", &wo)
	x.db.CancelAllBackgroundWork(false)
}

func isShutdown(err error) bool { return rocksdb.CodeOf(err) == rocksdb.CodeShutdownInProgress }

func TestDBTest_PreShutdownFlush(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
	x.mustPut(1, "key", "value")
	x.db.CancelAllBackgroundWork(false)
	if err := x.cf(1).CompactRange(nil, nil, nil); !isShutdown(err) {
		t.Error(err)
	}
}

func TestDBTestWithParam_PreShutdownManualCompaction(t *testing.T) {
	eachCompactionParam(t, func(x *dbTest, sub uint32, _ bool) {
		o := x.currentOptions()
		o.MaxSubcompactions = sub
		x.createAndReopenWithCF(pikachu[1:], o)
		for _, levels := range []int{7, 3} {
			x.makeTables(3, "p", "q", 1)
			x.wantFiles(1, "1,1,1")
			x.compact(1, "", "c")
			x.wantFiles(1, "1,1,1")
			x.compact(1, "r", "z")
			x.wantFiles(1, "1,1,1")
			x.compact(1, "p", "q")
			x.wantFiles(1, "0,0,1")
			x.makeTables(3, "c", "e", 1)
			x.wantFiles(1, "1,1,2")
			x.compact(1, "b", "f")
			x.wantFiles(1, "0,0,2")
			x.makeTables(1, "a", "z", 1)
			x.wantFiles(1, "1,0,2")
			x.db.CancelAllBackgroundWork(false)
			if err := x.cf(1).CompactRange(nil, nil, nil); !isShutdown(err) {
				x.Error(err)
			}
			x.wantFiles(1, "1,0,2")
			if levels == 7 {
				o = x.currentOptions()
				o.NumLevels = 3
				x.destroyAndReopen(o)
				x.createAndReopenWithCF(pikachu[1:], o)
			}
		}
	})
}

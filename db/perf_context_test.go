// Port of db/perf_context_test.cc. Differs: a context is a value in the options;
// what upstream prints with --verbose is not kept. Only waits for the DB mutex
// are counted, so that they need no delay to be told from others.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	root "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

const perfKeys = 100

// perfTest is a database whose calls count in perf.
type perfTest struct {
	*testing.T
	dir  string
	db   *root.DB
	perf rocksdb.PerfContext
	ro   rocksdb.ReadOptions
	wo   rocksdb.WriteOptions
}

func newPerfTest(t *testing.T, set func(*root.Options)) *perfTest {
	x := &perfTest{T: t, dir: t.TempDir(), ro: rocksdb.DefaultReadOptions(), wo: rocksdb.DefaultWriteOptions()}
	x.ro.PerfContext, x.wo.PerfContext = &x.perf, &x.perf
	x.perf.Level = rocksdb.EnableCount
	x.open(false, set)
	t.Cleanup(x.close)
	return x
}

func (x *perfTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *perfTest) open(readOnly bool, set func(*root.Options)) {
	x.Helper()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.MaxOpenFiles = true, -1
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 1000000000, 8, 7
	if set != nil {
		set(&o)
	}
	var err error
	if readOnly {
		x.db, err = root.OpenForReadOnly(x.dir, o)
	} else {
		x.db, err = root.Open(x.dir, o)
	}
	x.must(err)
}

func (x *perfTest) close() {
	if x.db != nil {
		x.must(x.db.Close())
		x.db = nil
	}
}

func (x *perfTest) put(i int) {
	x.Helper()
	x.must(x.db.Put(&x.wo, fmt.Appendf(nil, "k%d", i), fmt.Appendf(nil, "v%d", i)))
}

// get wants the value that put wrote.
func (x *perfTest) get(i int) {
	x.Helper()
	v, err := x.db.Get(&x.ro, fmt.Appendf(nil, "k%d", i))
	x.must(err)
	if want := fmt.Sprintf("v%d", i); string(v.Data()) != want {
		x.Fatalf("%q, not %q", v.Data(), want)
	}
	v.Release()
}

// multiGet is get by a batch of one.
func (x *perfTest) multiGet(i int) {
	x.Helper()
	var values [1]rocksdb.PinnableSlice
	var errs [1]error
	x.db.MultiGet(&x.ro, [][]byte{fmt.Appendf(nil, "k%d", i)}, values[:], errs[:])
	x.must(errs[0])
	values[0].Release()
}

// positive wants counters above 0, and zero those that are 0.
func (x *perfTest) positive(counters map[string]uint64) {
	x.Helper()
	for name, n := range counters {
		if n == 0 {
			x.Errorf("%s is 0", name)
		}
	}
}

func (x *perfTest) zero(counters map[string]uint64) {
	x.Helper()
	for name, n := range counters {
		if n != 0 {
			x.Errorf("%s is %d", name, n)
		}
	}
}

func TestPerfContextTest_SeekIntoDeletion(t *testing.T) {
	x := newPerfTest(t, nil)
	for i := range perfKeys {
		x.put(i)
	}
	for i := range perfKeys - 1 {
		x.must(x.db.Delete(&x.wo, fmt.Appendf(nil, "k%d", i)))
	}
	for i := range perfKeys - 1 {
		x.perf.Reset()
		if _, err := x.db.Get(&x.ro, fmt.Appendf(nil, "k%d", i)); !rocksdb.IsNotFound(err) {
			t.Fatal(err)
		}
		x.positive(map[string]uint64{"comparisons of Get": x.perf.UserKeyComparisonCount})
	}
	func() {
		it := x.db.NewIterator(&x.ro)
		defer it.Close()
		x.perf.Reset()
		it.SeekToFirst()
		x.positive(map[string]uint64{"deletions skipped": x.perf.InternalDeleteSkippedCount, "keys skipped": x.perf.InternalKeySkippedCount,
			"comparisons of SeekToFirst": x.perf.UserKeyComparisonCount})
	}()
	for i := range perfKeys {
		it := x.db.NewIterator(&x.ro)
		x.perf.Reset()
		it.Seek(fmt.Appendf(nil, "k%d", i))
		x.positive(map[string]uint64{"comparisons of Seek": x.perf.UserKeyComparisonCount})
		if !it.Valid() {
			t.Fatalf("k%d: %v", i, it.Err())
		}
		it.Next()
		x.must(it.Err())
		it.Close()
	}
}

func TestPerfContextTest_StopWatchNanoOverhead(t *testing.T) {
	w := stopwatch.NewStopWatchNano(rocksdb.DefaultSystemClock(), true)
	var sum uint64
	for range 10000 {
		sum += w.ElapsedNanos(true)
	}
	if sum == 0 || sum > 60e9 {
		t.Errorf("%d ns", sum)
	}
}

func TestPerfContextTest_StopWatchOverhead(t *testing.T) {
	clock := rocksdb.DefaultSystemClock()
	start := clock.NowMicros()
	w := stopwatch.NewStopWatch(clock, nil, rocksdb.HistDBGet)
	for range 10000 {
		w.Stop() // without statistics it does nothing
	}
	if n := clock.NowMicros() - start; n > 60e6 {
		t.Errorf("%d µs", n)
	}
}

// profileQueries writes with a flush in the middle, and reads all; timed says
// that the context has times, too.
func profileQueries(t *testing.T, level rocksdb.PerfLevel, timed bool) {
	x := newPerfTest(t, nil)
	x.perf.Level = level
	for i := range perfKeys {
		x.put(i)
		if i == perfKeys/2 {
			x.must(x.db.Flush(nil))
		}
	}
	p := &x.perf
	if timed {
		x.positive(map[string]uint64{"pre and post": p.WritePreAndPostProcessTime, "WAL": p.WriteWALTime, "memtable": p.WriteMemtableTime,
			"scheduling": p.WriteSchedulingFlushesCompactionsTime, "comparisons of Put": p.UserKeyComparisonCount})
		x.zero(map[string]uint64{"delay": p.WriteDelayTime, "wait": p.WriteThreadWaitNanos})
	}
	read := func(get func(int)) map[string]uint64 {
		p.Reset()
		for i := range perfKeys {
			get(i)
		}
		return map[string]uint64{"comparisons": p.UserKeyComparisonCount, "snapshot": p.GetSnapshotTime, "memtables": p.GetFromMemtableTime,
			"files": p.GetFromOutputFilesTime, "memtables checked": p.GetFromMemtableCount, "post": p.GetPostProcessTime}
	}
	get, mget := read(x.get), read(x.multiGet)
	if timed {
		x.positive(get)
		x.positive(mget)
	}
	x.close()
	x.open(true, nil)
	get, mget = read(x.get), read(x.multiGet)
	if timed {
		x.zero(map[string]uint64{"post": get["post"]})
		delete(get, "post")
		x.positive(get)
		x.positive(mget)
	}
	if level == rocksdb.DisablePerf && x.perf.PerfCounters != (rocksdb.PerfCounters{}) {
		t.Errorf("counted while disabled: %s", x.perf.ToString(true))
	}
}

func TestPerfContextTest_KeyComparisonCount(t *testing.T) {
	profileQueries(t, rocksdb.EnableCount, false)
	profileQueries(t, rocksdb.DisablePerf, false)
	profileQueries(t, rocksdb.EnableTime, true)
}

func TestPerfContextTest_SeekKeyComparison(t *testing.T) {
	x := newPerfTest(t, nil)
	x.perf.Level = rocksdb.EnableTime
	for i := range perfKeys {
		x.perf.Reset()
		x.put(i)
		x.positive(map[string]uint64{"WAL": x.perf.WriteWALTime})
	}
	for i := range perfKeys {
		it := x.db.NewIterator(&x.ro)
		x.perf.Reset()
		it.Seek(fmt.Appendf(nil, "k%d", i))
		if !it.Valid() || string(it.Value()) != fmt.Sprintf("v%d", i) {
			t.Fatalf("k%d: %v", i, it.Err())
		}
		x.positive(map[string]uint64{"comparisons": x.perf.UserKeyComparisonCount})
		it.Close()
	}
	it := x.db.NewIterator(&x.ro)
	defer it.Close()
	n := 0
	for it.SeekToFirst(); it.Valid(); n++ {
		x.perf.Reset()
		it.Next()
	}
	x.must(it.Err())
	if n != perfKeys {
		t.Errorf("%d keys", n)
	}
}

func TestPerfContextTest_DBMutexLockCounter(t *testing.T) {
	for _, level := range []rocksdb.PerfLevel{rocksdb.EnableTimeExceptForMutex, rocksdb.EnableTime} {
		for _, ticker := range []rocksdb.Ticker{0, rocksdb.DBMutexWaitMicros} {
			m := monitoring.NewInstrumentedMutex(nil, nil, ticker)
			p := rocksdb.PerfContext{Level: level}
			m.Lock()
			begun, done := make(chan bool), make(chan bool)
			go func() {
				close(begun)
				m.LockPerf(&p)
				m.Unlock()
				close(done)
			}()
			<-begun
			rocksdb.DefaultSystemClock().SleepForMicroseconds(100000) // the other is waiting then
			m.Unlock()
			<-done
			if want := level == rocksdb.EnableTime && ticker == rocksdb.DBMutexWaitMicros; want != (p.DBMutexLockNanos > 0) {
				t.Errorf("level %d, ticker %d: %d ns", level, ticker, p.DBMutexLockNanos)
			}
		}
	}
}

func TestPerfContextTest_FalseDBMutexWait(t *testing.T) {
	for _, ticker := range []rocksdb.Ticker{0, rocksdb.DBMutexWaitMicros} {
		m := monitoring.NewInstrumentedMutex(nil, nil, ticker)
		c := monitoring.NewInstrumentedCondVar(m)
		p := rocksdb.PerfContext{Level: rocksdb.EnableTime}
		m.Lock()
		c.TimedWaitPerf(100, &p) // long past
		m.Unlock()
		if want := ticker == rocksdb.DBMutexWaitMicros; want != (p.DBConditionWaitNanos > 0) {
			t.Errorf("ticker %d: %d ns", ticker, p.DBConditionWaitNanos)
		}
	}
}

func TestPerfContextTest_ToString(t *testing.T) {
	p := rocksdb.PerfContext{}
	p.BlockReadCount = 12345
	if s := p.ToString(false); !strings.Contains(s, "= 0") || !strings.Contains(s, "= 12345") {
		t.Error(s)
	}
	if s := p.ToString(true); strings.Contains(s, "= 0") || !strings.Contains(s, "= 12345") {
		t.Error(s)
	}
}

func withStringAppend(o *root.Options) { o.MergeOperator = mergeoperators.NewStringAppendOperator(",") }

func TestPerfContextTest_MergeOperatorTime(t *testing.T) {
	x := newPerfTest(t, withStringAppend)
	for i := 1; i <= 4; i++ {
		x.must(x.db.Merge(nil, []byte("k1"), fmt.Appendf(nil, "val%d", i)))
	}
	x.perf.Level = rocksdb.EnableTime
	check := func(where string) {
		t.Helper()
		x.perf.Reset()
		v, err := x.db.Get(&x.ro, []byte("k1"))
		x.must(err)
		v.Release()
		x.positive(map[string]uint64{"merge operator, " + where: x.perf.MergeOperatorTimeNanos})
	}
	check("memtable")
	x.must(x.db.Flush(nil))
	check("table")
	x.must(x.db.CompactRange(nil, nil, nil))
	check("compacted table")
}

// The counters by level are written and read as upstream's macros do.
func levelled() *rocksdb.PerfContext {
	p := &rocksdb.PerfContext{Level: rocksdb.EnableCount}
	p.EnablePerLevelPerfContext()
	return p
}

func countUseful(p *rocksdb.PerfContext, level int, n uint64) {
	if l := p.AtLevel(level); l != nil {
		l.BloomFilterUseful += n
	}
}

func TestPerfContextTest_CopyAndMove(t *testing.T) {
	p := levelled()
	countUseful(p, 5, 1)
	c := p.Clone()
	p.ClearPerLevelPerfContext()
	p.Reset()
	if n := c.LevelToPerfContext[5].BloomFilterUseful; n != 1 {
		t.Errorf("the copy has %d", n)
	}
	if len(p.LevelToPerfContext) != 0 {
		t.Errorf("%d levels are left", len(p.LevelToPerfContext))
	}
}

func TestPerfContextTest_PerfContextDisableEnable(t *testing.T) {
	p := levelled()
	p.AtLevel(0).BloomFilterFullPositive++
	p.DisablePerLevelPerfContext()
	countUseful(p, 5, 1)
	p.EnablePerLevelPerfContext()
	p.AtLevel(0).BlockCacheHitCount++
	p.DisablePerLevelPerfContext()
	c := p.Clone()
	if l := c.LevelToPerfContext[0]; l.BloomFilterFullPositive != 1 || l.BlockCacheHitCount != 1 {
		t.Errorf("%+v", l)
	}
	if l := c.LevelToPerfContext[5]; l != nil && l.BloomFilterUseful != 0 {
		t.Errorf("counted while disabled: %+v", l)
	}
}

func TestPerfContextTest_PerfContextByLevelGetSet(t *testing.T) {
	p := levelled()
	p.AtLevel(0).BloomFilterFullPositive++
	countUseful(p, 5, 1)
	countUseful(p, 7, 1)
	countUseful(p, 7, 1)
	p.AtLevel(2).BloomFilterFullTruePositive++
	p.AtLevel(0).BlockCacheHitCount++
	p.AtLevel(2).BlockCacheHitCount += 5
	p.AtLevel(3).BlockCacheMissCount += 2
	p.AtLevel(1).BlockCacheMissCount += 4
	if n := p.AtLevel(0).BloomFilterUseful; n != 0 {
		t.Errorf("level 0: %d", n)
	}
	s := p.ToString(true)
	for _, want := range []string{"bloom_filter_useful = 1@level5, 2@level7", "bloom_filter_full_positive = 1@level0",
		"bloom_filter_full_true_positive = 1@level2", "block_cache_hit_count = 1@level0, 5@level2", "block_cache_miss_count = 4@level1, 2@level3"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in %q", want, s)
		}
	}
}

// cpuClock adds a microsecond of CPU time at each look, so that no thread's clock
// is too coarse and no change of threads matters.
type cpuClock struct {
	rocksdb.SystemClock
	cpu uint64
}

func (c *cpuClock) CPUNanos() uint64 {
	c.cpu += 1000
	return c.cpu
}

func TestPerfContextTest_CPUTimer(t *testing.T) {
	x := newPerfTest(t, func(o *root.Options) {
		o.Env = env.NewCompositeEnvWrapper(env.Default(), env.DefaultFileSystem(), &cpuClock{SystemClock: rocksdb.DefaultSystemClock()})
	})
	x.perf.Level = rocksdb.EnableTimeAndCPUTimeExceptForMutex
	for i := range perfKeys {
		x.put(i)
	}
	last := []byte("k99")
	x.perf.Reset()
	x.get(0)
	x.positive(map[string]uint64{"Get": x.perf.GetCPUNanos})
	it := x.db.NewIterator(&x.ro)
	defer it.Close()
	step := func(what string, move func(), counter *uint64, value string) {
		t.Helper()
		x.perf.Reset()
		move()
		if !it.Valid() || string(it.Value()) != value {
			t.Fatalf("%s: %v", what, it.Err())
		}
		x.positive(map[string]uint64{what: *counter})
	}
	step("Seek", func() { it.Seek(last) }, &x.perf.IterSeekCPUNanos, "v99")
	step("SeekForPrev", func() { it.SeekForPrev(last) }, &x.perf.IterSeekCPUNanos, "v99")
	step("SeekToLast", it.SeekToLast, &x.perf.IterSeekCPUNanos, "v99")
	step("SeekToFirst", it.SeekToFirst, &x.perf.IterSeekCPUNanos, "v0")
	step("Next", it.Next, &x.perf.IterNextCPUNanos, "v1")
	step("Prev", it.Prev, &x.perf.IterPrevCPUNanos, "v0")
	x.perf.Reset()
	count := uint64(0)
	for i := range perfKeys {
		it.Seek(fmt.Appendf(nil, "k%d", i))
		if n := x.perf.IterSeekCPUNanos; n <= count {
			t.Fatalf("%d after %d", n, count)
		}
		count = x.perf.IterSeekCPUNanos
	}
	other := x.db.NewIterator(&x.ro)
	if x.perf.IterSeekCPUNanos != count {
		t.Error("making an iterator is counted as a seek")
	}
	other.Seek(last)
	if x.perf.IterSeekCPUNanos <= count {
		t.Error("the other iterator's seek is not counted")
	}
	count = x.perf.IterSeekCPUNanos
	other.Close()
	if x.perf.IterSeekCPUNanos != count {
		t.Error("closing an iterator is counted as a seek")
	}
}

func TestPerfContextTest_MergeOperandCount(t *testing.T) {
	x := newPerfTest(t, withStringAppend)
	const numKeys = 3
	keys := [][]byte{[]byte("key0"), []byte("key1"), []byte("key2")}
	// Key i has a value and i+1 operands, which snapshots keep apart.
	for i, key := range keys {
		x.must(x.db.Put(nil, key, fmt.Appendf(nil, "value%d", i)))
		for j := range i + 1 {
			s := x.db.GetSnapshot()
			defer x.db.ReleaseSnapshot(s)
			x.must(x.db.Merge(nil, key, fmt.Appendf(nil, "value%d%d", i, j)))
		}
	}
	wantLookups := func(what string, n int) {
		t.Helper()
		if got := x.perf.InternalMergePointLookupCount; got != uint64(n) {
			t.Errorf("%s: %d operands, not %d", what, got, n)
		}
		x.perf.Reset()
	}
	verify := func(where string) {
		x.perf.Reset()
		for i, key := range keys {
			v, err := x.db.Get(&x.ro, key)
			x.must(err)
			v.Release()
			wantLookups(where+", Get", i+1)
		}
		values, errs := make([]rocksdb.PinnableSlice, numKeys), make([]error, numKeys)
		x.db.MultiGet(&x.ro, keys, values, errs)
		for i := range errs {
			x.must(errs[i])
			values[i].Release()
		}
		wantLookups(where+", MultiGet", numKeys*(numKeys+1)/2)
		it := x.db.NewIterator(&x.ro)
		defer it.Close()
		walk := func(i int) {
			t.Helper()
			if string(it.Key()) != string(keys[i]) || x.perf.InternalMergeCount != uint64(i+1) {
				t.Errorf("%s: %q after %d operands", where, it.Key(), x.perf.InternalMergeCount)
			}
			x.perf.Reset()
		}
		i := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			walk(i)
			i++
		}
		for it.SeekToLast(); it.Valid(); it.Prev() {
			i--
			walk(i)
		}
		x.must(it.Err())
	}
	verify("memtable")
	x.must(x.db.Flush(nil))
	verify("table")
}

func TestPerfContextTest_WriteMemtableTimePerfLevel(t *testing.T) {
	x := newPerfTest(t, nil)
	x.perf.Level = rocksdb.EnableWait
	x.put(1)
	x.positive(map[string]uint64{"memtable": x.perf.WriteMemtableTime})
	x.perf.Level = rocksdb.EnableCount
	x.perf.Reset()
	x.put(0)
	x.zero(map[string]uint64{"memtable": x.perf.WriteMemtableTime})
}

// syncReadsFS has no asynchronous reads.
type syncReadsFS struct{ rocksdb.FileSystemWrapper }

func (f syncReadsFS) SupportedOps() int64 {
	return f.FileSystem.SupportedOps() &^ (1 << rocksdb.AsyncIO)
}

// A lookup begun counts in the context it was given, from nothing.
func TestPerfContextTest_AsyncCallbackStatsStartEmptyOnSyncFallback(t *testing.T) {
	x := newPerfTest(t, func(o *root.Options) {
		fs := syncReadsFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
		o.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
	})
	keys, values := [][]byte{[]byte("key"), []byte("key2")}, []string{"value", "value2"}
	for i, k := range keys {
		x.must(x.db.Put(nil, k, []byte(values[i])))
	}
	x.perf.GetReadBytes, x.perf.MultigetReadBytes = 13, 29 // of another's lookups
	perf := rocksdb.PerfContext{Level: rocksdb.EnableCount}
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext, ro.AsyncIO = &perf, true
	v, err := x.db.GetAsync(&ro, keys[0]).Wait()
	x.must(err)
	if string(v.Data()) != values[0] || perf.GetReadBytes != uint64(len(values[0])) || x.perf.GetReadBytes != 13 {
		t.Errorf("%q, %d bytes read", v.Data(), perf.GetReadBytes)
	}
	v.Release()
	vs, errs := x.db.MultiGetAsync(&ro, keys).Wait()
	for i := range vs {
		x.must(errs[i])
		if string(vs[i].Data()) != values[i] {
			t.Errorf("%q", vs[i].Data())
		}
		vs[i].Release()
	}
	if perf.MultigetReadBytes != uint64(len(values[0])+len(values[1])) || x.perf.MultigetReadBytes != 29 {
		t.Errorf("%d bytes read by MultiGet", perf.MultigetReadBytes)
	}
}

// Port of db/db_properties_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
)

func (x *dbTest) wantInt(cf int, name string, want uint64) {
	x.Helper()
	if got := x.intProperty(cf, name); got != want {
		x.Errorf("%s is %d, not %d", name, got, want)
	}
}

func (x *dbTest) noInt(cf int, name string) {
	x.Helper()
	if got, ok := x.cf(cf).GetIntProperty(name); ok {
		x.Errorf("%s is %d, not missing", name, got)
	}
}

func (x *dbTest) wantAggregated(name string, want uint64) {
	x.Helper()
	if got, ok := x.db.GetAggregatedIntProperty(name); !ok || got != want {
		x.Errorf("%s of all is %d, not %d", name, got, want)
	}
}

func (x *dbTest) mapProperty(cf int, name string) map[string]string {
	x.Helper()
	m, ok := x.cf(cf).GetMapProperty(name)
	if !ok {
		x.Fatalf("no map property %s", name)
	}
	return m
}

// sleepingTask holds a background pool's only goroutine until wake is called.
func sleepingTask(e rocksdb.Env, pri rocksdb.Priority) (wake func()) {
	e.SetBackgroundThreads(1, pri)
	asleep, woken, done := make(chan bool), make(chan bool), make(chan bool)
	e.Schedule(func() {
		close(asleep)
		<-woken
		close(done)
	}, pri, nil, nil)
	<-asleep
	return func() {
		close(woken)
		<-done
	}
}

// steppedClock stands still but for sleeps.
type steppedClock struct {
	rocksdb.SystemClock
	micros atomic.Uint64
}

func newSteppedClock() *steppedClock {
	c := &steppedClock{SystemClock: env.Default().GetSystemClock()}
	c.micros.Store(c.SystemClock.NowMicros())
	return c
}

func (c *steppedClock) NowMicros() uint64              { return c.micros.Load() }
func (c *steppedClock) NowNanos() uint64               { return c.micros.Load() * 1000 }
func (c *steppedClock) GetCurrentTime() (int64, error) { return int64(c.micros.Load() / 1e6), nil }
func (c *steppedClock) SleepForMicroseconds(n int)     { c.micros.Add(uint64(n)) }

func TestDBPropertiesTest_Empty(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		o := x.currentOptions()
		o.WriteBufferSize = 100000
		o.AllowConcurrentMemtableWrite = false
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		const entries = "rocksdb.num-entries-active-mem-table"
		x.wantInt(1, entries, 0)
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.wantInt(1, entries, 1)
		// The flush that comes next waits.
		wake := sleepingTask(x.env, rocksdb.HighPriority)
		x.mustPut(1, "k1", dummyString(100000, 'x'))
		x.wantInt(1, entries, 2)
		x.mustPut(1, "k2", dummyString(100000, 'y'))
		x.wantInt(1, entries, 1)
		x.wantGet(1, "foo", "v1")
		wake()

		const enabled = "rocksdb.is-file-deletions-enabled"
		for range 3 {
			x.must(x.full().DisableFileDeletions())
			x.wantInt(0, enabled, 0)
		}
		for _, want := range []uint64{0, 0, 1} {
			x.must(x.full().EnableFileDeletions())
			x.wantInt(0, enabled, want)
		}
	})
}

func TestDBPropertiesTest_CurrentVersionNumber(t *testing.T) {
	x := newDBTest(t)
	const number = "rocksdb.current-super-version-number"
	v1 := x.intProperty(0, number)
	x.mustPut(0, "12345678", "")
	x.wantInt(0, number, v1)
	x.flush(0)
	if v3 := x.intProperty(0, number); v3 <= v1 {
		t.Errorf("%d after %d", v3, v1)
	}
}

func TestDBPropertiesTest_GetAggregatedIntPropertyTest(t *testing.T) {
	x := newDBTest(t)
	const keySize, valueSize, keys = 100, 500, 100
	o := x.currentOptions()
	o.WriteBufferSize = (keySize + valueSize) * keys / 10
	o.MinWriteBufferNumberToMerge = 1000
	o.MaxWriteBufferNumber = 1000
	x.createAndReopenWithCF([]string{"one", "two", "three", "four"}, o)
	r := util.NewRandom(301)
	for cf := range x.cfs {
		for range keys {
			x.mustPut(cf, r.RandomString(keySize), r.RandomString(valueSize))
		}
	}
	var sum uint64
	for cf := range x.cfs {
		sum += x.intProperty(cf, rocksdb.PropertySizeAllMemTables)
	}
	if sum == 0 {
		t.Error("memtables take no memory")
	}
	x.wantAggregated(rocksdb.PropertySizeAllMemTables, sum)
	if _, ok := x.db.GetAggregatedIntProperty(rocksdb.PropertyDBStats); ok {
		t.Error("text was summed up")
	}
	for cf := range x.cfs {
		before, _ := x.db.GetAggregatedIntProperty(rocksdb.PropertyEstimateTableReadersMem)
		x.flush(cf)
		after, ok := x.db.GetAggregatedIntProperty(rocksdb.PropertyEstimateTableReadersMem)
		if !ok || after <= before {
			t.Errorf("%d after %d", after, before)
		}
	}
}

// smallCache is one without charge for its own memory.
func smallCache(t *testing.T, capacity int) rocksdb.Cache {
	t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits = 0
	o.MetadataChargePolicy = rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func insert(t *testing.T, c rocksdb.Cache, key string, charge int, pinned bool) rocksdb.CacheHandle {
	t.Helper()
	h, err := c.Insert([]byte(key), "value", &rocksdb.CacheItemHelper{}, charge, rocksdb.CachePriorityLow, pinned)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func withBlockCache(o rocksdb.Options, c rocksdb.Cache) rocksdb.Options {
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.BlockCache = c
	table.NoBlockCache = c == nil
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	return o
}

func TestDBPropertiesTest_AggregateBlockCacheProperty(t *testing.T) {
	x := newDBTest(t)
	c := smallCache(t, 1000)
	x.createAndReopenWithCF([]string{"one", "two", "three", "four"}, withBlockCache(x.currentOptions(), c))
	insert(t, c, "block1", 100, false)
	block2 := insert(t, c, "block2", 200, true)
	x.wantAggregated(rocksdb.PropertyBlockCacheCapacity, 1000)
	x.wantAggregated(rocksdb.PropertyBlockCacheUsage, 300)
	x.wantAggregated(rocksdb.PropertyBlockCachePinnedUsage, 200)
	c.Release(block2, false)
}

func TestDBPropertiesTest_ValidateSampleNumber(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.Level0StopWritesTrigger = 1000
	x.destroyAndReopen(o)
	n := 0
	for _, files := range []int{20, 10} {
		for range files {
			for range files / 10 {
				n++
				x.mustPut(0, strconv.Itoa(n), "foo")
			}
			x.flush(0)
		}
	}
	// A sample of 20 files, unless all are open.
	x.reopen(o)
	x.wantInt(0, "rocksdb.estimate-num-keys", 45)
	o.MaxOpenFiles = -1
	x.reopen(o)
	x.wantInt(0, "rocksdb.estimate-num-keys", 50)
}

// tableShape is what the tables of a test are filled with.
type tableShape struct{ puts, merges, rangeDeletions, keySize, valueSize, bloomBits, blockSize int }

func (s *tableShape) options(x *dbTest) rocksdb.Options {
	o := x.currentOptions()
	o.Compression = rocksdb.NoCompression
	o.MergeOperator, _ = rocksdb.NewMergeOperator("put")
	o.DisableAutoCompactions = true
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.FilterPolicy = rocksdb.NewBloomFilterPolicy(float64(s.bloomBits))
	table.BlockSize = uint64(s.blockSize)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	return o
}

func (s *tableShape) makeTable(x *dbTest, r *util.Random) {
	x.Helper()
	for range s.puts {
		x.mustPut(0, r.RandomString(s.keySize), r.RandomString(s.valueSize))
	}
	for range s.merges {
		x.mustMerge(0, r.RandomString(s.keySize), r.RandomString(s.valueSize))
	}
	for range s.rangeDeletions {
		start := r.RandomString(s.keySize)
		x.must(x.db.DeleteRange(nil, []byte(start), []byte(start+strings.Repeat("\x00", s.valueSize-s.keySize))))
	}
	x.flush(0)
}

// tableFigures are the aggregated properties of interest.
type tableFigures map[string]float64

func (x *dbTest) tableFigures(name string) tableFigures {
	x.Helper()
	figures := tableFigures{}
	for part := range strings.SplitSeq(x.property(0, name), "; ") {
		k, v, ok := strings.Cut(part, "=")
		if i := strings.LastIndex(part, ")="); i > 0 {
			k, v = part[:strings.Index(part, " (")], part[i+2:]
		}
		n, err := strconv.ParseFloat(v, 64)
		if ok && err == nil {
			figures[k] = n
		}
	}
	return figures
}

// check compares the figures with what so many tables of a shape should have;
// bias is how far sizes may be off, that of blocks twice as near.
func (f tableFigures) check(t *testing.T, s *tableShape, tables int, filterBias, bias, blocksBias float64) {
	t.Helper()
	n := float64(tables)
	perTable := float64(s.puts + s.merges)
	entries := n * (perTable + float64(s.rangeDeletions))
	for name, want := range map[string]float64{
		"raw key size": entries * float64(s.keySize+8), "raw value size": entries * float64(s.valueSize),
		"# entries": entries, "# deletions": n * float64(s.rangeDeletions), "# range deletions": n * float64(s.rangeDeletions),
	} {
		if f[name] != want {
			t.Errorf("%s is %v, not %v", name, f[name], want)
		}
	}
	if f["# merge operands"] > n*float64(s.merges) {
		t.Errorf("%v merge operands", f["# merge operands"])
	}
	blocks := n * perTable * float64(s.keySize-s.keySize/4+s.valueSize) / float64(s.blockSize)
	const cacheLine = 64
	near := func(name string, want, bias float64) {
		t.Helper()
		got := f[name]
		if got == 0 || max(got-want, want-got)/(got+want) >= bias {
			t.Errorf("%s is %v, not about %v", name, got, want)
		}
	}
	near("# data blocks", blocks, blocksBias)
	near("data block size", n*perTable*float64(s.keySize+8+s.valueSize), bias)
	near("index block size", blocks*float64(s.keySize/5-1), bias)
	near("filter block size", n*((perTable*float64(s.bloomBits)+7)/8+cacheLine/2), filterBias)
}

func TestDBPropertiesTest_AggregatedTableProperties(t *testing.T) {
	for _, tables := range []int{40, 70} {
		x := newDBTest(t)
		s := &tableShape{puts: 100, merges: 15, rangeDeletions: 5, keySize: 80, valueSize: 200, bloomBits: 20, blockSize: 1024}
		x.destroyAndReopen(s.options(x))
		snapshot := x.db.GetSnapshot()
		r := util.NewRandom(5632)
		for range tables {
			s.makeTable(x, r)
		}
		x.tableFigures(rocksdb.PropertyAggregatedTableProperties).check(t, s, tables, 0.1, 0.1, 0.05)
		x.must(x.db.ReleaseSnapshot(snapshot))
	}
}

func TestDBPropertiesTest_AggregatedTablePropertiesAtLevel(t *testing.T) {
	x := newDBTest(t)
	s := &tableShape{puts: 10, merges: 2, rangeDeletions: 2, keySize: 50, valueSize: 400, bloomBits: 20, blockSize: 1024}
	o := s.options(x)
	o.Level0FileNumCompactionTrigger = 2
	o.TargetFileSizeBase = 8192
	o.MaxBytesForLevelBase = 10000
	o.MaxBytesForLevelMultiplier = 2
	x.destroyAndReopen(o)
	// So that range tombstones stay.
	snapshot := x.db.GetSnapshot()
	r := util.NewRandom(301)
	for tables := 1; tables <= 40; tables++ {
		s.makeTable(x, r)
		x.compact(0, "", "")
		sum := tableFigures{}
		for level := range 7 {
			for k, v := range x.tableFigures(rocksdb.PropertyAggregatedTablePropertiesAtLevel + strconv.Itoa(level)) {
				sum[k] += v
			}
		}
		all := x.tableFigures(rocksdb.PropertyAggregatedTableProperties)
		for _, name := range []string{"data block size", "index block size", "filter block size", "raw key size", "raw value size",
			"# data blocks", "# entries", "# deletions", "# merge operands", "# range deletions"} {
			if sum[name] != all[name] {
				t.Fatalf("%s of the levels is %v, of all %v", name, sum[name], all[name])
			}
		}
		if tables > 3 {
			all.check(t, s, tables, 0.5, 0.5, 0.25)
		}
	}
	if _, ok := x.db.GetProperty(rocksdb.PropertyAggregatedTablePropertiesAtLevel + "7"); ok {
		t.Error("there is a level 7")
	}
	x.must(x.db.ReleaseSnapshot(snapshot))
}

func TestDBPropertiesTest_NumImmutableMemTable(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.MaxWriteBufferNumber = 4
		o.MinWriteBufferNumberToMerge = 3
		o.WriteBufferSize = 1000000
		o.MaxWriteBufferSizeToMaintain = 5 * 1000000
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		wo := rocksdb.DefaultWriteOptions()
		wo.DisableWAL = true
		big := dummyString(2*1000000, 'x')
		put := func(key, value string) {
			t.Helper()
			x.must(x.cf(1).Put(&wo, []byte(key), []byte(value)))
		}
		del := func(key string) {
			t.Helper()
			x.must(x.cf(1).Delete(&wo, []byte(key)))
		}
		memtablesRead := func(key string, want uint64) {
			t.Helper()
			ro := rocksdb.DefaultReadOptions()
			ro.PerfContext = &rocksdb.PerfContext{Level: rocksdb.EnableTime}
			v, err := x.cf(1).Get(&ro, []byte(key))
			x.must(err)
			v.Release()
			if got := ro.PerfContext.GetFromMemtableCount; got != want {
				t.Errorf("%s: %d memtables were read, not %d", key, got, want)
			}
		}
		const imm, active, inImm = "rocksdb.num-immutable-mem-table", "rocksdb.num-entries-active-mem-table", "rocksdb.num-entries-imm-mem-tables"
		put("k1", big)
		x.wantInt(1, imm, 0)
		x.wantInt(1, rocksdb.PropertyNumImmutableMemTableFlushed, 0)
		x.wantInt(1, active, 1)
		memtablesRead("k1", 1)
		put("k2", big)
		x.wantInt(1, imm, 1)
		x.wantInt(1, active, 1)
		x.wantInt(1, inImm, 1)
		memtablesRead("k1", 2)
		memtablesRead("k2", 1)
		put("k3", big)
		x.wantInt(1, imm, 2)
		x.wantInt(1, active, 1)
		x.wantInt(1, inImm, 2)
		memtablesRead("k2", 2)
		memtablesRead("k3", 1)
		memtablesRead("k1", 3)
		x.flush(1)
		x.wantInt(1, imm, 0)
		x.wantInt(1, rocksdb.PropertyNumImmutableMemTableFlushed, 3)
		if x.intProperty(1, "rocksdb.cur-size-active-mem-table") == 0 {
			t.Error("an empty memtable takes no memory")
		}
		base := x.intProperty(1, "rocksdb.estimate-num-keys")
		del("k2")
		put("k3", "")
		del("k3")
		x.wantInt(1, "rocksdb.num-deletes-active-mem-table", 2)
		x.wantInt(1, active, 3)
		put("k2", big)
		put("k2", big)
		x.wantInt(1, inImm, 4)
		x.wantInt(1, "rocksdb.num-deletes-imm-mem-tables", 2)
		x.wantInt(1, "rocksdb.estimate-num-keys", base+1)
	}
}

func TestDBPropertiesTest_ConcurrentWriteMemTableProperties(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowConcurrentMemtableWrite = true
	o.FlushVerifyMemtableCount = true
	x.destroyAndReopen(o)
	const writers, each = 4, 100
	parallel := func(write func(w, i int) error) {
		t.Helper()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					if err := write(w, i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	parallel(func(w, i int) error { return x.db.Put(nil, fmt.Appendf(nil, "k_%d_%d", w, i), []byte("val")) })
	x.wantInt(0, "rocksdb.num-entries-active-mem-table", writers*each)
	parallel(func(w, i int) error {
		key := fmt.Appendf(nil, "d_%d_%d", w, i)
		if i%2 == 0 {
			return x.db.Delete(nil, key)
		}
		return x.db.SingleDelete(nil, key)
	})
	x.wantInt(0, "rocksdb.num-entries-active-mem-table", 2*writers*each)
	x.wantInt(0, "rocksdb.num-deletes-active-mem-table", writers*each)
	x.flush(0)
}

func TestDBPropertiesTest_ApproximateMemoryUsage(t *testing.T) {
	x := newDBTest(t)
	const rounds, writes, keySize, valueSize = 5, 100, 100, 1000
	o := x.currentOptions()
	o.WriteBufferSize = 1000
	o.MinWriteBufferNumberToMerge = 4
	o.Compression = rocksdb.NoCompression
	x.destroyAndReopen(o)
	r := util.NewRandom(301)
	sizes := func() (active, unflushed, all uint64) {
		return x.intProperty(0, "rocksdb.cur-size-active-mem-table"), x.intProperty(0, "rocksdb.cur-size-all-mem-tables"), x.intProperty(0, "rocksdb.size-all-mem-tables")
	}
	same := func(when string) {
		t.Helper()
		if active, unflushed, all := sizes(); active != unflushed || unflushed != all {
			t.Errorf("%s: %d, %d, %d", when, active, unflushed, all)
		}
	}
	fill := func() {
		t.Helper()
		for range writes {
			x.mustPut(0, r.RandomString(keySize), r.RandomString(valueSize))
		}
	}
	same("without data")
	var previous uint64
	for range rounds {
		fill()
		x.must(x.full().TestWaitForFlushMemTable(nil))
		_, unflushed, all := sizes()
		if unflushed != all {
			t.Errorf("without iterators: %d, %d", unflushed, all)
		}
		previous = all
	}
	var iterators []*rocksdb.Iterator
	for range rounds {
		iterators = append(iterators, x.db.NewIterator(nil))
		fill()
		x.flush(0)
		active, unflushed, all := sizes()
		if all <= active || all <= unflushed || all <= previous {
			t.Errorf("with iterators: %d, %d, %d after %d", active, unflushed, all, previous)
		}
		previous = all
	}
	for _, it := range iterators {
		x.must(it.Err())
		x.must(it.Close())
		_, _, all := sizes()
		if all >= previous {
			t.Errorf("%d after an iterator less, %d before", all, previous)
		}
		previous = all
	}
	same("after the iterators")
	x.reopen(o)
	same("reopened")
}

func TestDBPropertiesTest_EstimatePendingCompBytes(t *testing.T) {
	x := newDBTest(t)
	wake := sleepingTask(x.env, rocksdb.LowPriority)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	o.MaxBackgroundCompactions = 1
	o.MaxBackgroundFlushes = 1
	o.MaxWriteBufferNumber = 10
	o.WriteBufferSize = 1000000
	x.reopen(o)
	const pending = "rocksdb.estimate-pending-compaction-bytes"
	big := dummyString(2*1000000, 'x')
	x.mustPut(0, "k1", big)
	x.flush(0)
	x.wantInt(0, pending, 0)
	for _, key := range []string{"k2", "k3"} {
		x.mustPut(0, key, big)
		x.flush(0)
		if x.intProperty(0, pending) == 0 {
			t.Error("nothing to compact")
		}
	}
	wake()
	x.must(x.db.WaitForCompact(&rocksdb.WaitForCompactOptions{}))
	x.wantInt(0, pending, 0)
}

func TestDBPropertiesTest_EstimateCompressionRatio(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.NumLevels = 3
	x.reopen(o)
	x.must(x.db.SetOptions(map[string]string{"compression_per_level": "kNoCompression:kSnappyCompression"}))
	if c := x.db.GetOptions().CompressionPerLevel; len(c) != 2 || c[0] != rocksdb.NoCompression || c[1] != rocksdb.SnappyCompression {
		t.Fatal(c)
	}
	ratio := func(level int) float64 {
		t.Helper()
		v, err := strconv.ParseFloat(x.property(0, rocksdb.PropertyCompressionRatioAtLevelPrefix+strconv.Itoa(level)), 64)
		x.must(err)
		return v
	}
	if r := ratio(0); r != -1 {
		t.Errorf("%v without files", r)
	}
	for i := range 3 {
		for j := range 1000 {
			x.mustPut(0, fmt.Sprintf("%d%dkey", i, j), dummyString(100, 'a'))
		}
		x.flush(0)
	}
	if r := ratio(0); r >= 1 || r <= 0 {
		t.Errorf("%v without compression", r)
	}
	if r := ratio(1); r != -1 {
		t.Errorf("%v in an empty level", r)
	}
	x.compact(0, "", "")
	if r := ratio(0); r != -1 {
		t.Errorf("%v in L0 after the compaction", r)
	}
	if r := ratio(1); r <= 10 {
		t.Errorf("%v in L1 after the compaction", r)
	}
}

func TestDBPropertiesTest_EstimateNumKeysUnderflow(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "foo", "bar")
	x.mustDelete(0, "foo")
	x.mustDelete(0, "foo")
	x.wantInt(0, "rocksdb.estimate-num-keys", 0)
}

func TestDBPropertiesTest_EstimateOldestKeyTime(t *testing.T) {
	x := newDBTest(t)
	clock := newSteppedClock()
	o := x.currentOptions()
	o.Env = env.NewCompositeEnvWrapper(x.env, nil, clock)
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal, rocksdb.CompactionStyleNone} {
		o.CompactionStyle = style
		x.destroyAndReopen(o)
		x.mustPut(0, "foo", "bar")
		x.noInt(0, rocksdb.PropertyEstimateOldestKeyTime)
	}
	now, _ := clock.GetCurrentTime()
	start := uint64(now)
	sleep := func(seconds int) { clock.SleepForMicroseconds(seconds * 1000 * 1000) }
	o.CompactionStyle = rocksdb.CompactionStyleFIFO
	o.TTL = 300
	o.MaxOpenFiles = -1
	o.CompactionOptionsFIFO.AllowCompaction = false
	x.destroyAndReopen(o)
	sleep(100)
	x.mustPut(0, "k1", "v1")
	x.wantInt(0, rocksdb.PropertyEstimateOldestKeyTime, start+100)
	x.flush(0)
	x.wantFiles(0, "1")
	x.wantInt(0, rocksdb.PropertyEstimateOldestKeyTime, start+100)
	for i, files := range []string{"2", "3"} {
		sleep(100)
		x.mustPut(0, fmt.Sprintf("k%d", i+2), "v")
		x.flush(0)
		x.wantFiles(0, files)
		x.wantInt(0, rocksdb.PropertyEstimateOldestKeyTime, start+100)
	}
	sleep(150)
	x.compact(0, "", "")
	x.wantFiles(0, "2")
	x.wantInt(0, rocksdb.PropertyEstimateOldestKeyTime, start+200)
	sleep(100)
	x.compact(0, "", "")
	x.wantFiles(0, "1")
	x.wantInt(0, rocksdb.PropertyEstimateOldestKeyTime, start+300)
	sleep(100)
	x.compact(0, "", "")
	x.wantFiles(0, "")
	x.noInt(0, rocksdb.PropertyEstimateOldestKeyTime)
}

// sizesListener looks at the sizes of tables when a compaction is complete.
type sizesListener struct {
	rocksdb.EventListenerBase
	x      *dbTest
	before uint64
	called int
}

func (l *sizesListener) OnCompactionCompleted(rocksdb.DBRef, *rocksdb.CompactionJobInfo) {
	l.called++
	total := l.x.intProperty(0, rocksdb.PropertyTotalSstFilesSize)
	live := l.x.intProperty(0, rocksdb.PropertyLiveSstFilesSize)
	if total <= l.before || live == 0 || live >= l.before {
		l.x.Errorf("%d bytes in all, %d live, after %d", total, live, l.before)
	}
}

func TestDBPropertiesTest_SstFilesSize(t *testing.T) {
	x := newDBTest(t)
	listener := &sizesListener{x: x}
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.Listeners = []rocksdb.EventListener{listener}
	x.reopen(o)
	for i := range 10 {
		x.mustPut(0, fmt.Sprintf("key%d", i), dummyString(1000, 'v'))
	}
	x.flush(0)
	for i := range 5 {
		x.mustDelete(0, fmt.Sprintf("key%d", i))
	}
	x.flush(0)
	listener.before = x.intProperty(0, rocksdb.PropertyTotalSstFilesSize)
	if listener.before == 0 {
		t.Fatal("tables have no size")
	}
	x.wantInt(0, rocksdb.PropertyObsoleteSstFilesSize, 0)
	x.must(x.full().DisableFileDeletions())
	x.compact(0, "", "")
	if listener.called != 1 {
		t.Errorf("%d compactions", listener.called)
	}
	x.wantInt(0, rocksdb.PropertyObsoleteSstFilesSize, listener.before)
	x.must(x.full().EnableFileDeletions())
	x.wantInt(0, rocksdb.PropertyObsoleteSstFilesSize, 0)
}

// keptListener checks that a compaction's new tables are protected.
type keptListener struct {
	rocksdb.EventListenerBase
	x       *dbTest
	checked atomic.Bool
}

func (l *keptListener) OnTableFileCreated(info *rocksdb.TableFileCreationInfo) {
	if info.Reason != rocksdb.TableFileCreationReasonCompaction {
		return
	}
	f, ok := filename.ParseFileName(filepath.Base(info.FilePath), "")
	bound := l.x.intProperty(0, rocksdb.PropertyMinObsoleteSstNumberToKeep)
	if !ok || f.Type != rocksdb.TableFile || bound > f.Number {
		l.x.Errorf("table %s was made while %d is the least that stays", info.FilePath, bound)
	}
	l.checked.Store(true)
}

func TestDBPropertiesTest_MinObsoleteSstNumberToKeep(t *testing.T) {
	x := newDBTest(t)
	listener := &keptListener{x: x}
	o := x.currentOptions()
	o.Listeners = []rocksdb.EventListener{listener}
	o.Level0FileNumCompactionTrigger = 4
	x.destroyAndReopen(o)
	for range 4 {
		x.mustPut(0, "key1", "val")
		x.mustPut(0, "key2", "val")
		x.flush(0)
	}
	x.must(x.db.WaitForCompact(&rocksdb.WaitForCompactOptions{}))
	if !listener.checked.Load() {
		t.Error("no compaction made a table")
	}
}

// cacheProperties fills a cache and compares its properties; the names are of
// capacity, usage and pinned usage.
func cacheProperties(x *dbTest, c rocksdb.Cache, capacity, usage, pinned string, size1, size2, size3 int) {
	x.Helper()
	want := func(u, p int) {
		x.Helper()
		x.wantInt(0, capacity, uint64(c.GetCapacity()))
		x.wantInt(0, usage, uint64(u))
		x.wantInt(0, pinned, uint64(p))
	}
	want(0, 0)
	insert(x.T, c, "item1", size1, false)
	want(size1, 0)
	item2 := insert(x.T, c, "item2", size2, true)
	after := size2
	if size1+size2 <= c.GetCapacity() {
		after += size1
	}
	want(after, size2)
	item3 := insert(x.T, c, "item3", size3, true)
	want(size2+size3, size2+size3)
	c.Release(item2, false)
	c.Release(item3, false)
	// The second had to go.
	want(size3, 0)
}

func TestDBPropertiesTest_BlobCacheProperties(t *testing.T) {
	x := newDBTest(t)
	c := smallCache(t, 100)
	o := x.currentOptions()
	o.BlobCache = c
	x.reopen(o)
	cacheProperties(x, c, rocksdb.PropertyBlobCacheCapacity, rocksdb.PropertyBlobCacheUsage, rocksdb.PropertyBlobCachePinnedUsage, 70, 60, 80)
}

func TestDBPropertiesTest_BlockCacheProperties(t *testing.T) {
	x := newDBTest(t)
	x.reopen(withBlockCache(x.currentOptions(), nil))
	x.noInt(0, rocksdb.PropertyBlockCacheCapacity)
	x.noInt(0, rocksdb.PropertyBlockCacheUsage)
	x.noInt(0, rocksdb.PropertyBlockCachePinnedUsage)
	c := smallCache(t, 100)
	x.reopen(withBlockCache(x.currentOptions(), c))
	cacheProperties(x, c, rocksdb.PropertyBlockCacheCapacity, rocksdb.PropertyBlockCacheUsage, rocksdb.PropertyBlockCachePinnedUsage, 50, 30, 80)
}

func TestDBPropertiesTest_GetMapPropertyDbStats(t *testing.T) {
	x := newDBTest(t)
	clock := newSteppedClock()
	o := x.currentOptions()
	o.Env = env.NewCompositeEnvWrapper(x.env, nil, clock)
	x.reopen(o)
	want := func(uptime string, userBytes, walBytes, self, withWAL int) {
		t.Helper()
		m := x.mapProperty(0, rocksdb.PropertyDBStats)
		for name, value := range map[string]string{
			"db.uptime": uptime, "db.wal_bytes_written": strconv.Itoa(walBytes), "db.wal_syncs": "0",
			"db.user_bytes_written": strconv.Itoa(userBytes), "db.user_writes_by_other": "0",
			"db.user_writes_by_self": strconv.Itoa(self), "db.user_writes_with_wal": strconv.Itoa(withWAL),
			"db.user_write_stall_micros": "0",
		} {
			if m[name] != value {
				t.Errorf("%s is %s, not %s", name, m[name], value)
			}
		}
	}
	want("0.000000", 0, 0, 0, 0)
	clock.SleepForMicroseconds(1500000)
	want("1.500000", 0, 0, 0, 0)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	put := rocksdb.NewWriteBatch()
	x.must(put.Put([]byte("key"), []byte("val")))
	x.must(x.db.Write(&wo, put))
	user := put.GetDataSize()
	want("1.500000", user, 0, 1, 0)
	del := rocksdb.NewWriteBatch()
	x.must(del.Delete([]byte("key")))
	x.must(x.db.Write(nil, del))
	want("1.500000", user+del.GetDataSize(), del.GetDataSize(), 2, 1)
}

func TestDBPropertiesTest_GetMapPropertyBlockCacheEntryStats(t *testing.T) {
	x := newDBTest(t)
	m := x.mapProperty(0, rocksdb.PropertyBlockCacheEntryStats)
	names := []string{cache.BlockCacheEntryStatsCacheID, cache.BlockCacheEntryStatsCacheCapacityBytes,
		cache.BlockCacheEntryStatsLastCollectionDurationSeconds, cache.BlockCacheEntryStatsLastCollectionAgeSeconds}
	for role := range rocksdb.NumCacheEntryRoles {
		names = append(names, cache.BlockCacheEntryStatsEntryCount(role), cache.BlockCacheEntryStatsUsedBytes(role), cache.BlockCacheEntryStatsUsedPercent(role))
	}
	for _, name := range names {
		if _, ok := m[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	if len(m) != len(names) {
		t.Errorf("%d values, not %d", len(m), len(names))
	}
}

func TestDBPropertiesTest_GetMapPropertyWriteStallStats(t *testing.T) {
	for _, byMemory := range []bool{true, false} {
		t.Run(fmt.Sprintf("WriteBufferManager=%v", byMemory), func(t *testing.T) { writeStallStats(newDBTest(t), byMemory) })
	}
}

func writeStallStats(x *dbTest, byMemory bool) {
	o := x.currentOptions()
	if byMemory {
		o.WriteBufferManager = rocksdb.NewWriteBufferManager(100000, nil, true)
	} else {
		o.MaxWriteBufferNumber = 2
		o.DisableAutoCompactions = true
	}
	x.createAndReopenWithCF([]string{"heavy_write_cf"}, o)
	value := func(cf int, property, name string, want int) {
		x.Helper()
		if got := x.mapProperty(cf, property)[name]; got != strconv.Itoa(want) {
			x.Errorf("family %d: %s is %q, not %d", cf, name, got, want)
		}
	}
	const ofMemory, ofMemtables = "write-buffer-manager-limit-stops", "memtable-limit-stops"
	value(0, rocksdb.PropertyDBWriteStallStats, ofMemory, 0)
	for cf := range 2 {
		value(cf, rocksdb.PropertyCFWriteStallStats, rocksdb.WriteStallStatsTotalStops, 0)
		value(cf, rocksdb.PropertyCFWriteStallStats, rocksdb.WriteStallStatsTotalDelays, 0)
	}
	wake := sleepingTask(x.env, rocksdb.HighPriority)
	defer wake()
	stops := 0
	if byMemory {
		big := dummyString(100000, 'a')
		x.mustPut(1, key(1), big)
		wo := rocksdb.DefaultWriteOptions()
		wo.NoSlowdown = true
		err := x.cf(1).Put(&wo, []byte(key(2)), []byte(big))
		if !errors.Is(err, rocksdb.ErrIncomplete) || !strings.Contains(err.Error(), "Write stall") {
			x.Errorf("a write that would stall: %v", err)
		}
		value(0, rocksdb.PropertyDBWriteStallStats, ofMemory, 1)
	} else {
		fo := rocksdb.DefaultFlushOptions()
		fo.AllowWriteStall, fo.Wait = true, false
		for i := range 2 {
			x.mustPut(1, key(i+1), "a")
			x.must(x.cf(1).Flush(&fo))
		}
		stops = 1
		value(0, rocksdb.PropertyDBWriteStallStats, ofMemory, 0)
	}
	for cf, want := range []int{0, stops} {
		value(cf, rocksdb.PropertyCFWriteStallStats, rocksdb.WriteStallStatsTotalStops, want)
		value(cf, rocksdb.PropertyCFWriteStallStats, ofMemtables, want)
		value(cf, rocksdb.PropertyCFWriteStallStats, rocksdb.WriteStallStatsTotalDelays, 0)
		value(cf, rocksdb.PropertyCFWriteStallStats, "memtable-limit-delays", 0)
	}
}

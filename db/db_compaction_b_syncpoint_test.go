//go:build syncpoint

// Port of db/db_compaction_test.cc (limiters, direct reads, priorities, round
// robin, manual compactions).

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// limitedTasks counts the compactions of the families that share a limiter.
type limitedTasks struct {
	limiter    contract.ConcurrentTaskLimiter
	limit      int
	now, most  int
	overstayed bool
}

func TestDBCompactionTest_CompactionLimiter(t *testing.T) {
	const perFile, families = 10, 17
	x := newCompactionTest(t)
	var limiters []*limitedTasks
	for i := 1; i <= 3; i++ {
		limiters = append(limiters, &limitedTasks{limiter: rocksdb.NewConcurrentTaskLimiter(fmt.Sprint("limiter_", i), int32(i)), limit: i})
	}
	unlimited := rocksdb.NewConcurrentTaskLimiter("unique_limiter", -1)
	o := x.currentOptions()
	o.WriteBufferSize, o.ArenaBlockSize, o.NumLevels = roomForEntries, 4096, 3
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 64, 64
	o.MaxBackgroundJobs, o.MaxWriteBufferNumber, o.MemtableFactory = 64, 10, newSpecialSkipListFactory(perFile)
	x.destroyAndReopen(o)
	names, all, of := []string{"default"}, []rocksdb.Options{o}, map[string]*limitedTasks{}
	for i := 1; i < families; i++ {
		name, mine := strconv.FormatInt(int64(i-1), 16), o
		if mine.CompactionThreadLimiter = unlimited; i > 1 {
			of[name] = limiters[i%3]
			mine.CompactionThreadLimiter = limiters[i%3].limiter
		}
		x.createColumnFamilies([]string{name}, mine)
		names, all = append(names, name), append(all, mine)
	}
	x.reopenWithColumnFamilies(names, all...)
	var mu sync.Mutex
	count := func(point string, n int) {
		syncpoint.SetCallBack(point, func(arg any) {
			mu.Lock()
			defer mu.Unlock()
			if l := of[arg.(*db.ColumnFamilyData).GetName()]; l != nil {
				l.now += n
				l.most = max(l.most, l.now)
				l.overstayed = l.overstayed || l.now < 0
			}
		})
	}
	count("DBImpl::BackgroundCompaction:BeforeCompaction", 1)
	count("DBImpl::BackgroundCompaction:AfterCompaction", -1)
	syncpoint.EnableProcessing()
	x.poolSize(16, rocksdb.HighPriority)
	x.poolSize(48, rocksdb.LowPriority)
	release := blockPool(x.env, rocksdb.LowPriority)
	file := func(cf int) {
		for i := range perFile {
			x.mustPut(cf, key(i), "")
		}
		x.mustPut(cf, "", "") // the one too many
	}
	for range 4 {
		for cf := range families {
			file(cf)
		}
		for cf := range families {
			x.waitForFlush(cf)
		}
	}
	for cf := range families {
		same(t, "files", x.numTableFilesAtLevel(0, cf), 4)
	}
	// So many files of one family make all compactions be scheduled.
	for i := range 4 {
		file(0)
		x.waitForFlush(0)
		same(t, "files", x.numTableFilesAtLevel(0, 0), 4+i+1)
	}
	eventually(t, "compactions are not all scheduled", func() bool { return x.env.GetThreadPoolQueueLen(rocksdb.LowPriority) == families })
	release()
	for cf := range families {
		x.waitForFlush(cf)
	}
	x.waitForCompact()
	for i, l := range limiters {
		if l.most > l.limit || l.now != 0 || l.overstayed || l.limiter.GetOutstandingTask() != 0 {
			t.Errorf("limiter %d: %+v", i+1, l)
		}
	}
	// A manual compaction takes no notice of a limit.
	unlimited.SetMaxOutstandingTask(0)
	for i := range perFile {
		x.mustPut(1, key(i), "")
	}
	x.mustPut(1, "", "")
	x.waitForFlush(1)
	same(t, "files", x.numTableFilesAtLevel(0, 1), 1)
	x.compact(1, key(0), key(perFile))
	x.waitForCompact()
}

func TestDBCompactionDirectIOTest_DirectIO(t *testing.T) {
	for _, direct := range []bool{false, true} {
		x := newCompactionTest(t)
		o := x.onFS(x.currentOptions(), mockenv.NewMockFileSystem(env.Default().GetSystemClock(), true))
		o.DisableAutoCompactions, o.UseDirectIOForFlushAndCompaction = true, direct
		x.reopen(o)
		opened := false
		syncpoint.SetCallBack("CompactionJob::OpenCompactionOutputFile", func(arg any) {
			opened = true
			if got := *arg.(*bool); got != direct {
				t.Errorf("direct writes: %t, not %t", got, direct)
			}
		})
		syncpoint.EnableProcessing()
		x.createAndReopenWithCF(pikachu[1:], o)
		x.makeTables(3, "p", "q", 1)
		x.wantFiles(1, "1,1,1")
		x.compact(1, "p", "q")
		x.wantFiles(1, "0,0,1")
		same(t, "an output was opened", opened, true)
		x.close()
		syncpoint.Reset()
	}
}

// directReads are what a compaction with use_direct_io_for_compaction_reads does.
type directReads struct {
	opens, direct    atomic.Int64 // of readers of their own; of files past the cache
	malformed        atomic.Int64
	unshared, shared atomic.Int64 // readers that keep from the block cache; that do not
	bound            atomic.Int64
}

func countDirectReads() *directReads {
	c := &directReads{}
	syncpoint.SetCallBack("TableCache::FindTable:FreshTableReader", func(arg any) {
		c.opens.Add(1)
		if o := arg.(*tablecache.OpenOptions); !o.Ephemeral || !o.AvoidSharedMetadataCache || !o.SkipFilters {
			c.malformed.Add(1)
		}
	})
	syncpoint.SetCallBack("NewRandomAccessFile:O_DIRECT", func(any) { c.direct.Add(1) })
	syncpoint.SetCallBack("BlockBasedTable::PrefetchIndexAndFilterBlocks:SharedMetadataCache", func(arg any) {
		if avoid := arg.([2]bool); avoid[0] {
			c.unshared.Add(1)
			if avoid[1] {
				c.shared.Add(1)
			}
		}
	})
	syncpoint.SetCallBack("VersionSet::MakeInputIterator:NewCompactionMergingIterator", func(arg any) { c.bound.Add(int64(*arg.(*int))) })
	syncpoint.EnableProcessing()
	return c
}

// twoOverlapping flushes two tables of the same keys.
func (x *dbTest) twoOverlapping(value string) {
	x.Helper()
	for range 2 {
		for i := range 64 {
			x.mustPut(0, key(i), value)
		}
		x.flush(0)
	}
}

func TestDBCompactionTest_UseDirectIoForCompactionReadsOffStaysBuffered(t *testing.T) {
	x := newCompactionTest(t)
	c := countDirectReads()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.twoOverlapping(dummyString(4096, 'v'))
	x.compact(0, "", "")
	same(t, "inputs", c.bound.Load(), 2)
	same(t, "readers of their own", c.opens.Load(), 0)
	same(t, "direct opens", c.direct.Load(), 0)
}

func TestDBCompactionTest_UseDirectIoForCompactionReadsUsesBoundedEphemeralReaders(t *testing.T) {
	x := newCompactionTest(t)
	o := blockTable(x.onMockFS(true), func(b *rocksdb.BlockBasedTableOptions) {
		b.BlockCache, b.CacheIndexAndFilterBlocks, b.PinL0FilterAndIndexBlocksInCache = rocksdb.NewLRUCache(64<<20), true, true
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	})
	o.DisableAutoCompactions, o.MaxSubcompactions, o.Statistics = true, 3, rocksdb.NewStatistics()
	c := countDirectReads()
	x.reopen(o)
	x.twoOverlapping(dummyString(4096, 'v'))
	x.compact(0, "", "")
	if n := c.opens.Load(); n == 0 || n > c.bound.Load() || c.malformed.Load() > 0 {
		t.Errorf("%d readers for %d inputs, %d of them malformed", n, c.bound.Load(), c.malformed.Load())
	}
	if c.unshared.Load() == 0 || c.shared.Load() > 0 {
		t.Errorf("%d readers keep from the cache, of which %d do not", c.unshared.Load(), c.shared.Load())
	}
}

// directCompactionReads opens a database whose compactions alone read directly;
// the test ends where the file system cannot.
func directCompactionReads(t *testing.T, set func(o *rocksdb.Options)) *dbTest {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.UseDirectIOForCompactionReads, o.Level0FileNumCompactionTrigger = true, true, 100
	set(&o)
	x.destroy(x.last)
	x.reopenDirect(o)
	return x
}

func smallLevels(o *rocksdb.Options) {
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 64<<10, 64<<10, 256<<10
}

func TestDBCompactionTest_UseDirectIoForCompactionReadsEndToEnd(t *testing.T) {
	x := directCompactionReads(t, func(*rocksdb.Options) {})
	c, value := countDirectReads(), dummyString(4096, 'v')
	x.twoOverlapping(value)
	x.wantGet(0, key(0), value)
	same(t, "direct opens before the compaction", c.direct.Load(), 0)
	x.compact(0, "", "")
	if c.opens.Load() == 0 || c.direct.Load() == 0 {
		t.Errorf("%d readers, %d direct opens", c.opens.Load(), c.direct.Load())
	}
	for i := range 64 {
		x.wantGet(0, key(i), value)
	}
}

func TestDBCompactionTest_UseDirectIoForCompactionReadsLevelIteratorWithTombstones(t *testing.T) {
	x := directCompactionReads(t, smallLevels)
	c, runs := countDirectReads(), passes("CompactionJob::Run():Start")
	want := map[int]string{}
	// Of each range the middle half is deleted.
	wave := func(value string, begin, end int) {
		n := end - begin
		for i := begin; i < end; i++ {
			x.mustPut(0, key(i), value)
			want[i] = value
		}
		from, to := begin+n/4, begin+3*n/4
		x.deleteRange(0, key(from), key(to))
		for i := from; i < to; i++ {
			want[i] = "NOT_FOUND"
		}
		x.flush(0)
	}
	first, second := dummyString(1024, '1'), dummyString(1024, '2')
	for i := 0; i < 800; i += 200 {
		wave(first, i, i+200)
	}
	x.compact(0, "", "")
	wave(second, 50, 250)
	wave(second, 350, 550)
	ran, direct := runs.Load(), c.direct.Load()
	x.compact(0, "", "")
	if runs.Load() == ran || c.direct.Load() == direct {
		t.Errorf("%d compactions, %d direct opens", runs.Load()-ran, c.direct.Load()-direct)
	}
	seen := map[string]int{}
	for i := range 800 {
		x.wantGet(0, key(i), want[i])
		seen[want[i]]++
	}
	same(t, "kinds of keys", len(seen), 3)
}

func TestDBCompactionTest_UseDirectIoForCompactionReadsConcurrentReadStress(t *testing.T) {
	const n, size = 512, 256
	x := directCompactionReads(t, smallLevels)
	round := func(c byte, every int) {
		for i := range n {
			x.mustPut(0, key(i), dummyString(size, c))
			if i > 0 && i%every == 0 {
				x.flush(0)
			}
		}
		x.flush(0)
	}
	round('b', 128)
	var stop atomic.Bool
	var reads atomic.Int64
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Go(func() {
			for i := r * 7919; !stop.Load(); i++ {
				v, err := x.db.Get(nil, []byte(key(i%n)))
				if err != nil {
					t.Error(err)
					return
				}
				v.Release()
				reads.Add(1)
			}
		})
	}
	for i := range 4 {
		round('A'+byte(i), 64)
		x.compact(0, "", "")
	}
	eventually(t, "no reads", func() bool { return reads.Load() > 0 })
	stop.Store(true)
	readers.Wait()
	for i := range n {
		x.wantGet(0, key(i), dummyString(size, 'D'))
	}
}

func TestCompactionPriTest_Test(t *testing.T) {
	for _, pri := range []rocksdb.CompactionPri{rocksdb.ByCompensatedSize, rocksdb.OldestLargestSeqFirst, rocksdb.OldestSmallestSeqFirst,
		rocksdb.MinOverlappingRatio, rocksdb.RoundRobin} {
		t.Run(fmt.Sprint(pri), func(t *testing.T) {
			const n = 5000
			x := newCompactionTest(t)
			o := x.currentOptions()
			o.WriteBufferSize, o.CompactionPri, o.HardPendingCompactionBytesLimit = 16<<10, pri, 256<<10
			o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier, o.Compression = 64<<10, 4, rocksdb.NoCompression
			x.destroyAndReopen(o)
			rnd := util.NewRandom(301)
			keys := make([]int, n)
			for i := range keys {
				j := int(rnd.Uniform(i + 1))
				keys[i], keys[j] = keys[j], i
			}
			for _, k := range keys {
				x.mustPut(0, key(k), rnd.RandomString(102))
			}
			x.waitForCompact()
			for i := range n {
				if x.get(0, key(i)) == "NOT_FOUND" {
					t.Fatalf("%s is lost", key(i))
				}
			}
		})
	}
}

func TestDBCompactionTest_PersistRoundRobinCompactCursor(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxBytesForLevelBase, o.TargetFileSizeBase, o.Level0FileNumCompactionTrigger = 16<<10, 128<<10, 64<<10, 4
	o.CompactionPri, o.MaxBytesForLevelMultiplier, o.NumLevels, o.Compression = rocksdb.RoundRobin, 4, 3, rocksdb.NoCompression
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 30 { // files enough for compactions from level 1 to level 2
		for range 16 {
			x.mustPut(0, rnd.RandomString(24), rnd.RandomString(1000))
		}
		x.flush(0)
	}
	x.waitForCompact()
	cursors := func() (list []string) {
		for _, c := range x.storage(0).GetCompactCursors() {
			list = append(list, string(c))
		}
		return list
	}
	before := cursors()
	x.reopen(o)
	same(t, "cursors", fmt.Sprintf("%q", cursors()), fmt.Sprintf("%q", before))
	if strings.Join(before, "") == "" {
		t.Error("no cursors")
	}
}

func TestDBCompactionTestWithParam_RoundRobinWithoutAdditionalResources(t *testing.T) {
	const point = "DBCompactionTest::RoundRobinWithoutAdditionalResources:0"
	const perBuffer = 20
	eachSubcompactions(t, func(x *compactionTest) {
		o := x.options()
		o.NumLevels, o.Level0FileNumCompactionTrigger, o.TargetFileSizeBase, o.CompactionPri = 4, 3, perBuffer<<10, rocksdb.RoundRobin
		o.MaxBytesForLevelBase, o.DisableAutoCompactions, o.MaxBackgroundCompactions, o.MaxCompactionBytes = 30*perBuffer<<10, true, 1, 100000000
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		for level := 2; level > 0; level-- {
			files := []int{0, 33, 100}[level]
			for i := range files {
				for j := range perBuffer {
					x.mustPut(0, key(2*i*perBuffer+2*j+level-1), rnd.RandomString(1010))
				}
				x.flush(0)
			}
			x.moveFilesToLevel(level, 0)
			x.wantLevelFiles(level, files)
		}
		planned := 0
		syncpoint.SetCallBack("CompactionJob::GenSubcompactionBoundaries:0", func(arg any) {
			planned = *arg.(*int)
			if planned != int(o.MaxSubcompactions) {
				x.Errorf("%d parts", planned)
			}
		})
		order(point, "BackgroundCallCompaction:0")
		x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.cf(0)}))
		syncpoint.Process(point)
		x.waitForCompact()
		if planned == 0 {
			x.Error("nothing was compacted")
		}
	})
}

func TestDBCompactionTest_RoundRobinCutOutputAtCompactCursor(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Compression, o.WriteBufferSize, o.MaxBytesForLevelBase = 3, rocksdb.NoCompression, 4<<10, 64<<10
	o.MaxBytesForLevelMultiplier, o.Level0FileNumCompactionTrigger, o.CompactionPri = 4, 4, rocksdb.RoundRobin
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	cursor := dbformat.AppendInternalKey(nil, []byte(key(600)), 100, dbformat.TypeValue)
	x.storage(0).AddCursorForOneLevel(2, dbformat.InternalKey(cursor))
	rnd := util.NewRandom(301)
	for odd, size := range []int{102, 1014} { // the second files overlap, and are not just moved
		for i := range 50 {
			for j := range 50 {
				x.mustPut(0, key(j*2+odd+i*100), rnd.RandomString(size))
			}
		}
		// Only here, lest a file of both comes to level 1 and is moved.
		x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.cf(0)}))
		x.waitForCompact()
		x.must(x.cf(0).SetOptions(map[string]string{"disable_auto_compactions": "true"}))
	}
	for _, f := range x.level(2) {
		if bytes.Compare(f.Smallest.UserKey(), []byte(key(600))) < 0 && bytes.Compare(f.Largest.UserKey(), []byte(key(600))) > 0 {
			t.Errorf("file %d from %q to %q", f.FD.GetNumber(), f.Smallest.UserKey(), f.Largest.UserKey())
		}
	}
}

// constantMerge makes "bar" of any operands.
type constantMerge struct{ contract.MergeOperator }

func (constantMerge) Name() string { return "Noop" }

func (constantMerge) FullMergeV2(_ *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	out.NewValue = []byte("bar")
	return true
}

func TestDBCompactionTest_PartialManualCompaction(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Level0FileNumCompactionTrigger, o.Compression = 3, 10, rocksdb.NoCompression
	o.MergeOperator, o.TargetFileSizeBase = constantMerge{x.mergeOperator("put")}, 10240
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 8 {
		for range 10 {
			x.mustMerge(0, "foo", rnd.RandomString(1024))
		}
		x.flush(0)
	}
	x.moveFilesToLevel(2, 0)
	x.setOptions("max_compaction_bytes", fmt.Sprint(x.intProperty(0, contract.PropertyLiveSstFilesSize)/2))
	x.must(x.db.CompactRange(forceOptimized(), nil, nil))
}

func TestDBCompactionTest_ConcurrentFIFOPickingSameFileBug(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.DisableAutoCompactions, o.MaxBackgroundJobs = 3, true, 3
	x.destroyAndReopen(o)
	x.puts(0, "k1", "v1", "flush")
	x.moveFilesToLevel(2, 0)
	o.CompactionStyle, o.MaxOpenFiles, o.CompactionOptionsFIFO.MaxTableFilesSize = rocksdb.CompactionStyleFIFO, -1, 1
	x.reopen(o)
	compact := func() error { return x.db.CompactRange(nil, []byte("k1"), []byte("k2")) }
	second, once := make(chan error, 1), sync.Once{}
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifestStart", func(any) {
		once.Do(func() {
			// The second compaction still sees the file that the first one deletes.
			// Upstream makes one without inputs then; here there is none.
			order("SecondCompaction", "VersionSet::LogAndApply:WriteManifest")
			go func() {
				err := compact()
				syncpoint.Process("SecondCompaction")
				second <- err
			}()
		})
	})
	syncpoint.EnableProcessing()
	x.must(compact())
	syncpoint.DisableProcessing()
	x.must(<-second)
}

func TestDBCompactionTest_ManualCompactionFailsInReadOnlyMode(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 4 {
		x.puts(0, "key1", rnd.RandomString(1024), "key2", rnd.RandomString(1024), "flush")
	}
	x.wantFiles(0, "4")
	x.fault.SetFilesystemActive(false, nil)
	defer x.fault.SetFilesystemActive(true, nil)
	if x.put(0, "key3", "") == nil { // outside the range: no flush is in the way
		t.Fatal("written")
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction = false
	for range 2 {
		if x.db.CompactRange(&cro, []byte("key1"), []byte("key2")) == nil {
			t.Error("compacted")
		}
	}
}

func TestDBCompactionTest_ManualCompactionBottomLevelOptimized(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Level0FileNumCompactionTrigger, o.Compression = 3, 5, rocksdb.NoCompression
	o.MergeOperator, o.TargetFileSizeBase = constantMerge{x.mergeOperator("put")}, 1024
	o.MaxBytesForLevelMultiplier, o.DisableAutoCompactions = 2, true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	fill := func(prefix string) {
		for i := range 80 {
			x.mustPut(0, fmt.Sprint(prefix, i), rnd.RandomString(1024))
			if i%10 == 9 {
				x.flush(0)
			}
		}
	}
	reread := func() int {
		return x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats()[2].NumInputFilesInOutputLevel
	}
	fill("foo")
	x.moveFilesToLevel(2, 0)
	fill("bar")
	same(t, "inputs at the last level", reread(), 0)
	x.must(x.db.CompactRange(forceOptimized(), nil, nil))
	same(t, "inputs at the last level", reread(), 0)
}

func TestDBCompactionTest_ManualCompactionMax(t *testing.T) {
	x := newCompactionTest(t)
	jobs := passes("DBImpl::BGWorkCompaction")
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	average := func(level int) (n uint64) {
		for _, f := range x.level(level) {
			n += f.CompensatedFileSize
		}
		return n / uint64(len(x.level(level)))
	}
	var l1, l2, total uint64 // averages, and all
	generate := func() {
		rnd := util.NewRandom(301)
		fill := func(n, file, step int) {
			for i := range n {
				for j := range 10 {
					x.mustPut(0, key(i*file+j*step), rnd.RandomString(1024))
				}
				x.flush(0)
			}
		}
		fill(100, 10, 1)
		x.moveFilesToLevel(2, 0)
		fill(10, 100, 10)
		x.moveFilesToLevel(1, 0)
		l1, l2 = average(1), average(2)
		total = l1*10 + l2*100
	}
	compact := func() int64 {
		jobs.Store(0)
		x.compact(0, "", "")
		return jobs.Load()
	}
	x.destroyAndReopen(o)
	generate()
	same(t, "compactions", compact(), 1) // of 1.6 GB at most
	x.destroyAndReopen(o)
	generate()
	o.MaxCompactionBytes, o.TargetFileSizeBase = total/5+l2*10, total/5 // not quite a strict bound
	x.reopen(o)
	same(t, "compactions", compact(), 5)
	o.MaxCompactionBytes, o.TargetFileSizeBase = l1/2, l1/2
	x.destroyAndReopen(o)
	generate()
	if n := compact(); n <= 10 { // it goes on all the same
		t.Errorf("%d compactions", n)
	}
	o.MaxCompactionBytes = 0
	x.destroyAndReopen(o)
	generate()
	x.setOptions("max_compaction_bytes", fmt.Sprint(total/2+10*l2), "target_file_size_base", fmt.Sprint(total/2))
	same(t, "compactions", compact(), 2)
}

func TestDBCompactionTest_CompactionDuringShutdown(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.DisableAutoCompactions = 2, true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 20 {
		x.mustPut(0, fmt.Sprint("foo", i), rnd.RandomString(1024))
		if i%10 == 9 {
			x.flush(0)
		}
	}
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:NonTrivial:BeforeRun", func(any) { x.db.CancelAllBackgroundWork(false) })
	syncpoint.EnableProcessing()
	if err := x.db.CompactRange(nil, nil, nil); err != nil && !isShutdown(err) {
		t.Error(err)
	}
	x.must(x.full().TestGetBGError())
}

func TestDBCompactionTestWithParam_FixFileIngestionCompactionDeadlock(t *testing.T) {
	const perFile = 100
	eachSubcompactions(t, func(x *compactionTest) {
		o := x.options()
		o.WriteBufferSize, o.Level0FileNumCompactionTrigger, o.MemtableFactory = roomForEntries, o.Level0StopWritesTrigger, newSpecialSkipListFactory(perFile)
		x.destroyAndReopen(o)
		path := x.external("test.sst", o, func(w *rocksdb.SstFileWriter) { x.must(w.Put([]byte(key(perFile-1)), []byte("value"))) })
		order("DBImpl::IngestExternalFile:AfterIncIngestFileCounter", "BackgroundCallCompaction:0")
		rnd := util.NewRandom(301)
		for i := range o.Level0FileNumCompactionTrigger {
			for j := range perFile {
				x.mustPut(0, key(j), rnd.RandomString(990))
			}
			if i > 0 {
				x.waitForFlush(0)
				x.wantLevelFiles(0, i)
			}
		}
		// As many files as stop writes, and a key in memory that the file ingested
		// overlaps: its flush must not wait for the stall's end, which the
		// compaction brings, which waits for the ingestion.
		x.ingest(path)
		x.waitForCompact()
		x.close()
		syncpoint.Reset()
	})
}

// consistencyFails swaps the files that a check compares.
func consistencyFails(point string) {
	syncpoint.SetCallBack(point, func(arg any) { arg.(interface{ Swap() }).Swap() })
	syncpoint.EnableProcessing()
}

func TestDBCompactionTest_ConsistencyFailTest(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.ForceConsistencyChecks = true
	x.destroyAndReopen(o)
	consistencyFails("VersionBuilder::CheckConsistency0")
	x.puts(0, "foo", "bar", "flush", "foo", "bar")
	x.wantIs(x.db.Flush(nil), rocksdb.ErrCorruption)
	if x.put(0, "foo", "bar") == nil {
		t.Error("written after the corruption")
	}
	syncpoint.DisableProcessing()
}

func TestDBCompactionTest_ConsistencyFailTest2(t *testing.T) {
	x := newCompactionTest(t)
	o := blockTable(x.currentOptions(), func(b *rocksdb.BlockBasedTableOptions) { b.BlockSize = 400 })
	o.ForceConsistencyChecks, o.TargetFileSizeBase, o.Level0FileNumCompactionTrigger = true, 1000, 2
	x.destroyAndReopen(o)
	consistencyFails("VersionBuilder::CheckConsistency1")
	value := util.NewRandom(301).RandomString(1000)
	x.puts(0, "foo1", value, "z", "", "flush", "foo2", value, "z", "")
	if err := x.db.Flush(nil); err != nil && !errors.Is(err, rocksdb.ErrCorruption) {
		t.Fatal(err)
	}
	if x.full().TestWaitForCompact() == nil {
		t.Error("compacted")
	}
	if x.put(0, "foo", "bar") == nil {
		t.Error("written after the corruption")
	}
	syncpoint.DisableProcessing()
}

// Port of db/db_compaction_test.cc (the first half, without sync points).

package db_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
)

// newCompactionTest has the pools that a process begins with, whatever earlier
// tests made of them.
func newCompactionTest(t *testing.T) *dbTest {
	x := newDBTest(t)
	x.poolSize(0, rocksdb.BottomPriority)
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	return x
}

// compactionTest is a case of upstream's DBCompactionTestWithParam.
type compactionTest struct {
	*dbTest
	subcompactions uint32
	exclusive      bool
}

// eachSubcompactions runs f with one and with several subcompactions.
func eachSubcompactions(t *testing.T, f func(x *compactionTest)) {
	for _, n := range []uint32{1, 4} {
		t.Run(fmt.Sprintf("subcompactions=%d", n), func(t *testing.T) {
			f(&compactionTest{newCompactionTest(t), n, false})
		})
	}
}

// eachManual also varies whether manual compactions run alone.
func eachManual(t *testing.T, f func(x *compactionTest)) {
	for _, n := range []uint32{1, 4} {
		for _, exclusive := range []bool{true, false} {
			t.Run(fmt.Sprintf("subcompactions=%d,exclusive=%t", n, exclusive), func(t *testing.T) {
				f(&compactionTest{newCompactionTest(t), n, exclusive})
			})
		}
	}
}

func (x *compactionTest) options() rocksdb.Options {
	o := x.currentOptions()
	o.MaxSubcompactions = x.subcompactions
	return o
}

// compactRange compacts all of a family, changed by set.
func (x *compactionTest) compactRange(cf int, set func(o *rocksdb.CompactRangeOptions)) {
	x.Helper()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction = x.exclusive
	set(&cro)
	x.must(x.cf(cf).CompactRange(&cro, nil, nil))
}

// changeLevel compacts everything and moves it to a level.
func (x *dbTest) changeLevel(level int) {
	x.Helper()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, level
	x.must(x.db.CompactRange(&cro, nil, nil))
}

// putRange puts the keys of [from, end) with random values, and keeps those in
// values.
func (x *dbTest) putRange(rnd *util.Random, values map[int]string, from, end, size int) {
	x.Helper()
	for i := from; i < end; i++ {
		values[i] = rnd.RandomString(size)
		x.mustPut(0, key(i), values[i])
	}
}

func (x *dbTest) wantRange(values map[int]string, from, end int) {
	x.Helper()
	for i := from; i < end; i++ {
		x.wantGet(0, key(i), values[i])
	}
}

// tablesIn counts the tables of a directory.
func (x *dbTest) tablesIn(dir string) (n int) {
	x.Helper()
	names, err := env.DefaultFileSystem().GetChildren(dir, &rocksdb.IOOptions{})
	if err != nil && !rocksdb.IsPathNotFound(err) {
		x.Fatal(err)
	}
	for _, name := range names {
		if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.TableFile {
			n++
		}
	}
	return n
}

// Sizes of the tests of compactions that deletions set off: a quarter of
// upstream's data in trees with two levels less.
const (
	deletionValueSize     = 1000
	deletionKeysPerBuffer = 4
)

func deletionTriggerOptions(o rocksdb.Options) rocksdb.Options {
	o.Compression = rocksdb.NoCompression
	o.WriteBufferSize = deletionKeysPerBuffer * (deletionValueSize + 24)
	o.MinWriteBufferNumberToMerge, o.MaxWriteBufferSizeToMaintain = 1, 0
	o.NumLevels, o.Level0FileNumCompactionTrigger = 6, 1
	o.TargetFileSizeBase, o.TargetFileSizeMultiplier = uint64(o.WriteBufferSize*2), 2
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = o.TargetFileSizeBase*2, 2
	o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 100
	return o
}

// settled waits for flushes and compactions and gives the size of n keys.
func (x *dbTest) settled(n int) uint64 {
	x.Helper()
	x.waitForFlush(0)
	x.must(x.full().TestWaitForCompact())
	return x.size(key(0), key(n-1))
}

func TestDBCompactionTestWithParam_CompactionDeletionTrigger(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const keys = deletionKeysPerBuffer * 256
		for _, mode := range []string{"level", "level, no statistics at open", "universal"} {
			o := deletionTriggerOptions(x.options())
			o.SkipStatsUpdateOnDBOpen = mode == "level, no statistics at open"
			if mode == "universal" {
				o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 1
			}
			x.destroyAndReopen(o)
			x.putRange(util.NewRandom(301), map[int]string{}, 0, keys, deletionValueSize)
			before := x.settled(keys)
			for k := range keys {
				x.mustDelete(0, key(k))
			}
			x.flush(0)
			after := x.settled(keys)
			if mode == "universal" && after != 0 || after >= before/2 {
				x.Fatalf("%s: %d bytes became %d", mode, before, after)
			}
		}
	})
}

// deleteReopened deletes the keys without compactions, which leaves at least so many
// bytes, and reopens with them.
func (x *dbTest) deleteReopened(o rocksdb.Options, keys int, before uint64) {
	x.Helper()
	o.CreateIfMissing, o.DisableAutoCompactions = false, true
	x.reopen(o)
	for k := range keys {
		x.mustDelete(0, key(k))
	}
	if n := x.size(key(0), key(keys-1)); n < before {
		x.Fatalf("%d bytes became %d without compactions", before, n)
	}
	o.DisableAutoCompactions = false
	x.reopen(o)
}

func TestDBCompactionTestWithParam_CompactionDeletionTriggerReopen(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const keys = deletionKeysPerBuffer * 128
		for _, universal := range []bool{false, true} {
			o := deletionTriggerOptions(x.options())
			if universal {
				o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 1
			}
			x.destroyAndReopen(o)
			values := map[int]string{}
			x.putRange(util.NewRandom(301), values, 0, keys, deletionValueSize)
			before := x.settled(keys)
			x.deleteReopened(o, keys, before)
			for k := range keys / 10 {
				x.mustPut(0, key(k), values[k])
			}
			if n := x.settled(keys); n >= 3*before/5 {
				x.Fatalf("%d bytes became %d", before, n)
			}
		}
	})
}

func TestDBCompactionTest_DisableStatsUpdateReopen(t *testing.T) {
	const keys = deletionKeysPerBuffer * 128
	for _, skip := range []bool{true, false} {
		x := newCompactionTest(t)
		o := deletionTriggerOptions(x.currentOptions())
		o.SkipStatsUpdateOnDBOpen = skip
		x.destroyAndReopen(o)
		x.putRange(util.NewRandom(301), map[int]string{}, 0, keys, deletionValueSize)
		x.flush(0)
		x.must(x.full().TestWaitForCompact())
		// No deletion meets its key above level 3 unless sizes are compensated.
		x.moveFilesToLevel(3, 0)
		before := x.size(key(0), key(keys-1))
		x.deleteReopened(o, keys, before)
		if n := x.settled(keys); skip && n < before || !skip && n >= before/2 {
			x.Fatalf("skip=%t: %d bytes became %d", skip, before, n)
		}
	}
}

func TestDBCompactionTestWithParam_CompactionTrigger(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const keys, trigger = 100, 3
		o := x.options()
		o.WriteBufferSize, o.ArenaBlockSize = roomForEntries, 4<<10
		o.NumLevels, o.Level0FileNumCompactionTrigger = 3, trigger
		o.MemtableFactory = newSpecialSkipListFactory(keys)
		x.createAndReopenWithCF(pikachu[1:], o)
		rnd := util.NewRandom(301)
		fill := func() {
			for i := range keys {
				x.mustPut(1, key(i), rnd.RandomString(990))
			}
			x.mustPut(1, "", "") // one too many
		}
		for n := range trigger - 1 {
			fill()
			x.waitForFlush(1)
			same(x, "files of level 0", x.numTableFilesAtLevel(0, 1), n+1)
		}
		fill()
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(1, "0,1")
	})
}

func TestDBCompactionTest_BGCompactionsAllowed(t *testing.T) {
	const keys, trigger, families = 100, 2, 4
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.ArenaBlockSize = roomForEntries, 4<<10
	o.NumLevels, o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger = 3, trigger, 20
	o.SoftPendingCompactionBytesLimit, o.MaxBackgroundCompactions = 1<<30, 3
	o.MemtableFactory = newSpecialSkipListFactory(keys)
	x.createAndReopenWithCF([]string{"one", "two", "three"}, o)
	rnd := util.NewRandom(301)
	for cf := range families {
		// Level 1 is small, and level 2 so large that no debt arises.
		x.mustPut(cf, key(0), rnd.RandomString(102400))
		x.flush(cf)
		x.moveFilesToLevel(2, cf)
		x.mustPut(cf, key(0), "")
		x.flush(cf)
		x.moveFilesToLevel(1, cf)
	}
	x.env.SetBackgroundThreads(4, rocksdb.LowPriority)
	fill := func(cf, files int) {
		t.Helper()
		for i := range keys {
			x.mustPut(cf, key(i), "")
		}
		x.mustPut(cf, "", "")
		x.waitForFlush(cf)
		same(t, "files of level 0", x.numTableFilesAtLevel(0, cf), files)
	}
	fillAll := func() {
		t.Helper()
		for cf := range families {
			for n := range trigger {
				fill(cf, n+1)
			}
		}
		// All have something to compact, none enough to speed up.
		same(t, "compactions scheduled", x.env.GetThreadPoolQueueLen(rocksdb.LowPriority), 1)
	}
	release := blockPool(x.env, rocksdb.LowPriority)
	fillAll()
	for n := range trigger {
		fill(2, trigger+n+1)
	}
	same(t, "compactions scheduled", x.env.GetThreadPoolQueueLen(rocksdb.LowPriority), 3)
	release()
	x.must(x.full().TestWaitForCompact())
	// It comes back to one.
	release = blockPool(x.env, rocksdb.LowPriority)
	fillAll()
	release()
}

func TestDBCompactionTestWithParam_CompactionsGenerateMultipleFiles(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const size = 10000 // a tenth of upstream's
		o := x.options()
		o.WriteBufferSize, o.TargetFileSizeBase = 100000000, 200<<10
		x.createAndReopenWithCF(pikachu[1:], o)
		same(x, "files of level 0", x.numTableFilesAtLevel(0, 1), 0)
		rnd := util.NewRandom(301)
		var values []string
		for i := range 80 {
			values = append(values, rnd.RandomString(size))
			x.mustPut(1, key(i), values[i])
		}
		x.reopenWithColumnFamilies(pikachu, o) // moves it all to level 0
		x.must(x.full().TestCompactRange(0, nil, nil, x.cf(1).Impl(), true))
		same(x, "files of level 0", x.numTableFilesAtLevel(0, 1), 0)
		if n := x.numTableFilesAtLevel(1, 1); n < 2 {
			x.Fatalf("%d files at level 1", n)
		}
		for i, v := range values {
			x.wantGet(1, key(i), v)
		}
	})
}

func TestDBCompactionTest_MinorCompactionsHappen(t *testing.T) {
	x := newCompactionTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.WriteBufferSize = 10000
		x.createAndReopenWithCF(pikachu[1:], o)
		value := func(i int) string { return key(i) + dummyString(1000, 'v') }
		before := x.totalTableFiles(1)
		for i := range 500 {
			x.mustPut(1, key(i), value(i))
		}
		if n := x.totalTableFiles(1); n <= before {
			t.Fatalf("%d files, there were %d", n, before)
		}
		for range 2 {
			for i := range 500 {
				x.wantGet(1, key(i), value(i))
			}
			x.reopenWithColumnFamilies(pikachu, o)
		}
	}
}

// userKeyCrossFile hides a key of one file by an entry of the next one, and has
// both compacted with others that overlap only the second one.
func userKeyCrossFile(t *testing.T, hide func(x *dbTest, key string)) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	x.destroyAndReopen(o)
	x.puts(0, "4", "A", "3", "A", "flush", "2", "A")
	hide(x, "3")
	x.flush(0)
	x.wantGet(0, "3", "NOT_FOUND")
	x.compact(0, "", "")
	x.wantGet(0, "3", "NOT_FOUND")
	for range 3 {
		x.putFlush("2", "B")
	}
	x.must(x.full().TestWaitForCompact())
	x.wantGet(0, "3", "NOT_FOUND")
}

func TestDBCompactionTest_UserKeyCrossFile1(t *testing.T) {
	userKeyCrossFile(t, func(x *dbTest, key string) { x.mustDelete(0, key) })
}

func TestDBCompactionTest_UserKeyCrossFile2(t *testing.T) {
	userKeyCrossFile(t, func(x *dbTest, key string) { x.mustSingleDelete(0, key) })
}

func TestDBCompactionTest_CompactionSstPartitioner(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(4)
	x.destroyAndReopen(o)
	x.puts(0, "aaaa1", "A", "bbbb1", "B", "flush", "aaaa1", "A2", "flush")
	x.compact(0, "", "")
	same(t, "files", len(x.tableNames()), 2)
	x.wantGet(0, "aaaa1", "A2")
	x.wantGet(0, "bbbb1", "B")
}

func TestDBCompactionTest_CompactionSstPartitionWithManualCompaction(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	x.destroyAndReopen(o)
	x.puts(0, "000015", "A", "000025", "B", "flush", "000015", "A2", "000025", "B2", "flush")
	x.compact(0, "", "")
	same(t, "files", len(x.tableNames()), 1)
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(5)
	x.reopen(o)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	// Neither range has a key; the end of the second one is in another partition.
	for i, r := range [][2]string{{"000017", "000019"}, {"000019", "000020"}} {
		x.must(x.db.CompactRange(&cro, []byte(r[0]), []byte(r[1])))
		same(t, "files", len(x.tableNames()), i+1)
		x.wantGet(0, "000015", "A2")
		x.wantGet(0, "000025", "B2")
	}
}

func TestDBCompactionTest_CompactionSstPartitionerNonTrivial(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 1
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(4)
	x.destroyAndReopen(o)
	x.puts(0, "aaaa1", "A", "bbbb1", "B", "flush")
	x.must(x.full().TestWaitForCompact())
	same(t, "files", len(x.tableNames()), 2)
	x.wantGet(0, "aaaa1", "A")
	x.wantGet(0, "bbbb1", "B")
}

func TestDBCompactionTest_ZeroSeqIdCompaction(t *testing.T) {
	x := newCompactionTest(t)
	collector := &flushedFileCollector{}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	o.Listeners = append(o.Listeners, collector)
	x.destroyAndReopen(o)
	co := rocksdb.DefaultCompactionOptions()
	co.Compression, co.OutputFileSizeLimit = rocksdb.NoCompression, 4096
	value := dummyString(int(co.OutputFileSizeLimit)/5, 'A')
	var snapshots []rocksdb.Snapshot
	for _, keys := range []string{"123333", "345678"} {
		for _, k := range strings.Split(keys, "") {
			x.mustPut(0, k, value)
			snapshots = append(snapshots, x.db.GetSnapshot())
		}
		x.flush(0)
	}
	_, err := x.db.CompactFiles(&co, collector.get(), 1, -1, nil)
	x.must(err)
	for _, s := range snapshots {
		x.db.ReleaseSnapshot(s) // the first "3" may get sequence number 0
	}
	for range o.Level0FileNumCompactionTrigger {
		x.putFlush("2", "A")
	}
	x.must(x.full().TestWaitForCompact())
	x.mustPut(0, "", "")
}

func TestDBCompactionTest_ManualCompactionUnknownOutputSize(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	x.destroyAndReopen(o)
	for i := range 2 {
		for range o.Level0FileNumCompactionTrigger {
			x.puts(0, strconv.Itoa(2*i), "A", strconv.Itoa(2*i+1), "A", "flush")
		}
		x.must(x.full().TestWaitForCompact())
	}
	x.setOptions("level0_file_num_compaction_trigger", "2")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,2")
	x.setOptions("level0_file_num_compaction_trigger", "3")
	co := rocksdb.DefaultCompactionOptions() // no limit to the outputs' size
	co.Compression = rocksdb.NoCompression
	_, err := x.db.CompactFiles(&co, x.tableNames(), 1, -1, nil)
	x.must(err)
}

func TestDBCompactionTest_RecoverDuringMemtableCompaction(t *testing.T) {
	const big = 100000 // a hundredth of upstream's
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.puts(1, "foo", "v1", "big1", dummyString(big, 'x'), "big2", dummyString(1000, 'y'), "bar", "v2")
		x.reopenWithColumnFamilies(pikachu, x.currentOptions())
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v2")
		x.wantGet(1, "big1", dummyString(big, 'x'))
		x.wantGet(1, "big2", dummyString(1000, 'y'))
	})
}

// leastSizeListener wants compactions of files that a collector marked, of a least
// size each.
type leastSizeListener struct {
	rocksdb.EventListenerBase
	x     *dbTest
	least int64
}

func (l *leastSizeListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	if info.CompactionReason != rocksdb.CompactionReasonFilesMarkedForCompaction {
		l.x.Errorf("a compaction for %v", info.CompactionReason)
	}
	for _, path := range info.InputFiles {
		if n := l.x.fileSize(path); n < l.least {
			l.x.Errorf("%s has %d bytes", path, n)
		}
	}
}

func TestDBCompactionTest_CompactionWithDeletionsAndMinFileSize(t *testing.T) {
	const leastSize, deletions, keys, added, valueSize = 32 << 10, 50, 100, 50, 1024
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 1<<20, 100
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{
		rocksdb.NewCompactOnDeletionCollectorFactory(keys, deletions, 0.5, leastSize)}
	o.Listeners = append(o.Listeners, &leastSizeListener{x: x, least: leastSize})
	x.destroyAndReopen(o)
	rnd, values := util.NewRandom(301), map[int]string{}
	x.putRange(rnd, values, 0, keys, valueSize)
	x.flush(0)
	same(t, "files", len(x.tableNames()), 1)
	// Too small to matter.
	x.puts(0, "small_file_key1", rnd.RandomString(512), "small_file_key2", rnd.RandomString(512), "flush")
	x.mustDelete(0, "small_file_key1")
	x.flush(0)
	for i := range deletions {
		x.mustDelete(0, key(i))
	}
	x.putRange(rnd, values, keys, keys+added, valueSize)
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "2,1")
	for i := range deletions {
		x.wantGet(0, key(i), "NOT_FOUND")
	}
	x.wantRange(values, deletions, keys+added)
}

// subcompactionCounter counts those that ended.
type subcompactionCounter struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	ended int
}

func (l *subcompactionCounter) OnSubcompactionCompleted(*rocksdb.SubcompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
}

func (l *subcompactionCounter) take() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.ended = 0 }()
	return l.ended
}

func TestDBCompactionTestWithParam_PartialOverlappingL0(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const size = 1 << 10 // a tenth of upstream's
		l := &subcompactionCounter{}
		o := x.options()
		o.DisableAutoCompactions, o.WriteBufferSize, o.TargetFileSizeBase = true, 10<<20, 200<<10
		o.Listeners = append(o.Listeners, l)
		x.destroyAndReopen(o)
		// Without an output level that has keys there are no subcompactions.
		x.puts(0, "key", "", "kez", "", "flush", "key", "", "kez", "", "flush")
		x.compact(0, "", "")
		// They overlap too much to be moved, little enough for parts of some files
		// only.
		ranges := [][2]int{{100, 199}, {198, 399}, {397, 600}, {598, 800}, {799, 900}, {895, 999}}
		rnd, values := util.NewRandom(301), map[int]string{}
		for _, r := range ranges {
			x.putRange(rnd, values, r[0], r[1]+1, size)
			x.flush(0)
		}
		x.wantFiles(0, "6,1")
		l.take()
		x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.cf(0)}))
		x.must(x.full().TestWaitForCompact())
		if n := l.take(); x.subcompactions > 3 && n < 3 {
			x.Errorf("%d subcompactions", n)
		}
		x.wantLevelFiles(0, 0)
		if n := x.numTableFilesAtLevel(1, 0); n < 2 {
			x.Errorf("%d files at level 1", n)
		}
		x.wantRange(values, 100, 1000)
	})
}

func TestDBCompactionTest_L0_CompactionBug_Issue44_a(t *testing.T) {
	x := newCompactionTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		reopen := func() { x.reopenWithColumnFamilies(pikachu, x.currentOptions()) }
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "b", "v")
		reopen()
		x.mustDelete(1, "b")
		x.mustDelete(1, "a")
		reopen()
		x.mustDelete(1, "a")
		reopen()
		x.mustPut(1, "a", "v")
		reopen()
		reopen()
		same(t, "contents", x.contents(1), "(a->v)")
		x.must(x.full().TestWaitForCompact())
		same(t, "contents", x.contents(1), "(a->v)")
	}
}

func TestDBCompactionTest_L0_CompactionBug_Issue44_b(t *testing.T) {
	x := newCompactionTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		reopen := func() { x.reopenWithColumnFamilies(pikachu, x.currentOptions()) }
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "", "")
		reopen()
		x.mustDelete(1, "e")
		x.mustPut(1, "", "")
		reopen()
		x.mustPut(1, "c", "cv")
		reopen()
		x.mustPut(1, "", "")
		reopen()
		x.mustPut(1, "", "")
		x.must(x.full().TestWaitForCompact())
		reopen()
		x.mustPut(1, "d", "dv")
		reopen()
		x.mustPut(1, "", "")
		reopen()
		x.mustDelete(1, "d")
		x.mustDelete(1, "b")
		reopen()
		same(t, "contents", x.contents(1), "(->)(c->cv)")
		x.must(x.full().TestWaitForCompact())
		same(t, "contents", x.contents(1), "(->)(c->cv)")
	}
}

func TestDBCompactionTestWithParam_ConvertCompactionStyle(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		const levelKeys, universalKeys, size = 201, 601, 2500 // a quarter of upstream's bytes
		rnd := util.NewRandom(301)
		o := x.options()
		o.WriteBufferSize, o.ArenaBlockSize = 28<<10, 4<<10
		o.NumLevels, o.Level0FileNumCompactionTrigger = 4, 3
		o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 125<<10, 1
		o.TargetFileSizeBase, o.TargetFileSizeMultiplier = 50<<10, 1
		x.createAndReopenWithCF(pikachu[1:], o)
		for i := range levelKeys {
			x.mustPut(1, key(i), rnd.RandomString(size))
		}
		x.flush(1)
		x.must(x.full().TestWaitForCompact())
		if n := x.totalTableFiles(1); n < 2 || n == x.numTableFilesAtLevel(0, 1) {
			x.Fatalf("files per level: %s", x.filesPerLevel(1))
		}
		// Universal compaction in one level is refused.
		o = x.currentOptions()
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 1
		if err := x.tryReopenWithColumnFamilies(pikachu, o); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Fatal(err)
		}
		// All is made one file of level 0.
		o = x.currentOptions()
		o.DisableAutoCompactions, o.NumLevels = true, 4
		o.TargetFileSizeBase, o.TargetFileSizeMultiplier = math.MaxInt32, 1
		o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = math.MaxInt32, 1
		x.reopenWithColumnFamilies(pikachu, o)
		x.compactRange(1, func(o *rocksdb.CompactRangeOptions) {
			o.ChangeLevel, o.TargetLevel = true, 0
			o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		})
		x.wantFiles(1, "1")
		// Now it works, and goes on.
		o = x.currentOptions()
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 4
		o.WriteBufferSize, o.ArenaBlockSize, o.Level0FileNumCompactionTrigger = 28<<10, 4<<10, 3
		x.reopenWithColumnFamilies(pikachu, o)
		o.NumLevels = 1
		x.reopenWithColumnFamilies(pikachu, o)
		for i := levelKeys / 2; i < universalKeys; i++ {
			x.mustPut(1, key(i), rnd.RandomString(size))
		}
		x.flush(0)
		x.flush(1)
		x.must(x.full().TestWaitForCompact())
		it := x.cf(1).NewIterator(nil)
		n := 0
		for k := range it.All() {
			same(x, "key", string(k), key(n))
			n++
		}
		x.must(errors.Join(it.Err(), it.Close()))
		same(x, "keys", n, universalKeys)
	})
}

// Port of db/db_compaction_test.cc (the first half: paths, manual compactions,
// time to live).

package db_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// threePaths are directories for tables of about 500 KiB, 4 MiB and 1 GiB, the
// first one the database's own or the prefix itself.
func threePaths(prefix string) []rocksdb.DBPath {
	return []rocksdb.DBPath{{Path: prefix, TargetSize: 500 << 10}, {Path: prefix + "_2", TargetSize: 4 << 20}, {Path: prefix + "_3", TargetSize: 1 << 30}}
}

func (x *compactionTest) pathOptions() rocksdb.Options {
	o := x.options()
	o.DBPaths = threePaths(x.dir)
	o.MemtableFactory = newSpecialSkipListFactory(99)
	o.WriteBufferSize, o.ArenaBlockSize = roomForEntries, 4<<10
	o.Level0FileNumCompactionTrigger, o.NumLevels, o.MaxBytesForLevelBase = 2, 4, 400<<10
	return o
}

func (x *dbTest) wantTablesIn(paths []rocksdb.DBPath, want ...int) {
	x.Helper()
	for i, n := range want {
		if got := x.tablesIn(paths[i].Path); got != n {
			x.Fatalf("path %d has %d tables, not %d", i, got, n)
		}
	}
}

// wantGenerated checks the keys of generateFile up to n.
func (x *dbTest) wantGenerated(cf, n int) {
	x.Helper()
	for i := range n {
		if v := x.get(cf, key(i)); v == "NOT_FOUND" || len(v) != 1 && len(v) != 990 {
			x.Fatalf("family %d: %s has %d bytes", cf, key(i), len(v))
		}
	}
}

func TestDBCompactionTestWithParam_LevelCompactionThirdPath(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		o := x.pathOptions()
		x.destroyAndReopen(o)
		rnd, keys := util.NewRandom(301), 0
		for range 4 {
			x.generateFile(0, rnd, &keys, true)
		}
		same(x, "tables of the second path", x.tablesIn(o.DBPaths[1].Path), 3)
		x.generateFile(0, rnd, &keys, true)
		x.wantFiles(0, "1,4")
		x.wantTablesIn(o.DBPaths, 1, 4)
		for n := 1; n <= 8; n++ {
			x.generateFile(0, rnd, &keys, true)
			x.wantFiles(0, fmt.Sprintf("1,4,%d", n))
			x.wantTablesIn(o.DBPaths, 1, 4, n)
		}
		x.wantGenerated(0, keys)
		x.reopen(o)
		x.wantGenerated(0, keys)
		x.destroy(o)
	})
}

func TestDBCompactionTestWithParam_LevelCompactionPathUse(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		o := x.pathOptions()
		x.destroyAndReopen(o)
		rnd, keys := util.NewRandom(301), 0
		generate := func() {
			keys = 0
			x.generateFile(0, rnd, &keys, true)
		}
		for range 4 {
			generate()
		}
		same(x, "tables of the second path", x.tablesIn(o.DBPaths[1].Path), 1)
		generate()
		x.wantFiles(0, "1,1")
		x.wantTablesIn(o.DBPaths, 1, 1)
		for range 4 {
			generate()
			x.wantFiles(0, "0,1")
			x.wantTablesIn(o.DBPaths, 0, 1, 0)
			generate()
			x.wantFiles(0, "1,1")
			x.wantTablesIn(o.DBPaths, 1, 1, 0)
		}
		x.wantGenerated(0, keys)
		x.reopen(o)
		x.wantGenerated(0, keys)
		x.destroy(o)
	})
}

func TestDBCompactionTestWithParam_LevelCompactionCFPathUse(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		all := []rocksdb.Options{x.pathOptions(), x.pathOptions(), x.pathOptions()}
		paths := [][]rocksdb.DBPath{all[0].DBPaths, threePaths(x.dir + "cf1"), threePaths(x.dir + "cf2")}
		names := []string{"default", "one", "two"}
		for i := 1; i < len(all); i++ {
			all[i].CFPaths = paths[i]
			x.createColumnFamilies(names[i:i+1], all[i])
		}
		x.reopenWithColumnFamilies(names, all...)
		rnd, keys := util.NewRandom(301), make([]int, len(all))
		generate := func() {
			for cf := range keys {
				x.generateFile(cf, rnd, &keys[cf], true)
			}
		}
		want := func(files string, tables ...int) {
			x.Helper()
			for cf := range all {
				if files != "" {
					x.wantFiles(cf, files)
				}
				x.wantTablesIn(paths[cf], tables...)
			}
		}
		wantAll := func() {
			for cf, n := range keys {
				x.wantGenerated(cf, n)
			}
		}
		// What level 1 takes is too much for the first path.
		for range 3 {
			generate()
		}
		want("", 1, 2)
		generate()
		generate()
		want("1,4", 1, 4)
		generate()
		want("1,4,1", 1, 4, 1)
		generate()
		want("1,4,2", 1, 4, 2)
		wantAll()

		infos, err := x.db.GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{WALSizeForFlush: ^uint64(0)})
		x.must(err)
		tables := map[string]int{}
		for _, f := range infos {
			if f.FileType == rocksdb.TableFile {
				tables[f.Directory]++
				st, err := os.Stat(f.Directory + "/" + f.RelativeFilename)
				x.must(err)
				same(x, "size of "+f.RelativeFilename, f.Size, uint64(st.Size()))
			}
		}
		same(x, "directories", len(tables), 9)
		for _, p := range paths {
			for i, n := range []int{1, 4, 2} {
				same(x, p[i].Path, tables[p[i].Path], n)
			}
		}
		x.reopenWithColumnFamilies(names, all...)
		wantAll()
	})
}

func TestDBCompactionTestWithParam_ManualCompaction(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		for _, levels := range []int{7, 3} {
			o := x.options()
			o.NumLevels, o.Statistics = levels, rocksdb.NewStatistics()
			x.destroyAndReopen(o)
			x.createAndReopenWithCF(pikachu[1:], o)
			x.makeTables(3, "p", "q", 1)
			x.wantFiles(1, "1,1,1")
			x.compact(1, "", "c") // before the files
			x.wantFiles(1, "1,1,1")
			x.compact(1, "r", "z") // after them
			x.wantFiles(1, "1,1,1")
			x.compact(1, "p", "q")
			x.wantFiles(1, "0,0,1")
			x.makeTables(3, "c", "e", 1)
			x.wantFiles(1, "1,1,2")
			x.compact(1, "b", "f") // only those
			x.wantFiles(1, "0,0,2")
			x.makeTables(1, "a", "z", 1)
			x.wantFiles(1, "1,0,2")
			added := x.ticker(rocksdb.BlockCacheAdd)
			x.compactRange(1, func(*rocksdb.CompactRangeOptions) {})
			x.wantTicker(rocksdb.BlockCacheAdd, added) // the block cache is left alone
			x.wantFiles(1, "0,0,1")
		}
	})
}

func TestDBCompactionTestWithParam_ManualLevelCompactionOutputPathId(t *testing.T) {
	eachManual(t, func(x *compactionTest) {
		for _, levels := range []int{7, 3} {
			o := x.options()
			o.NumLevels = levels
			o.DBPaths = []rocksdb.DBPath{{Path: x.dir + "_2", TargetSize: 2 * 10485760},
				{Path: x.dir + "_3", TargetSize: 100 * 10485760}, {Path: x.dir + "_4", TargetSize: 120 * 10485760}}
			x.destroyAndReopen(o)
			x.createAndReopenWithCF(pikachu[1:], o)
			three := func(first, last string) {
				for range 3 {
					x.puts(1, first, "begin", last, "end", "flush")
				}
			}
			compact := func(begin, end string) {
				x.Helper()
				cro := rocksdb.DefaultCompactRangeOptions()
				cro.TargetPathID = 1
				x.must(x.cf(1).CompactRange(&cro, []byte(begin), []byte(end)))
				x.must(x.full().TestWaitForCompact())
			}
			want := func(files string, tables ...int) {
				x.Helper()
				x.wantFiles(1, files)
				x.wantTablesIn(o.DBPaths, tables...)
				same(x, "tables of the database's directory", x.tablesIn(x.dir), 0)
			}
			three("p", "q")
			want("3", 3)
			x.compact(1, "", "c")
			x.compact(1, "r", "z")
			want("3", 3)
			compact("p", "q")
			want("0,1", 0, 1)
			three("c", "e")
			x.wantFiles(1, "3,1")
			compact("b", "f")
			want("0,2", 0, 2)
			x.puts(1, "a", "begin", "z", "end", "flush")
			want("1,2", 1, 2)
			x.compactRange(1, func(o *rocksdb.CompactRangeOptions) { o.TargetPathID = 1 })
			x.must(x.full().TestWaitForCompact())
			want("0,1", 0, 1)
		}
	})
}

func TestDBCompactionTest_FilesDeletedAfterCompaction(t *testing.T) {
	x := newCompactionTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "foo", "v2")
		x.compact(1, "a", "z")
		files := len(x.tableNames())
		for range 10 {
			x.mustPut(1, "foo", "v2")
			x.compact(1, "a", "z")
		}
		same(t, "files", len(x.tableNames()), files)
	}
}

func TestDBCompactionTestWithParam_PartialCompactionFailure(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		const keySize, entrySize, perBuffer, files = 16, 1000, 100, 5
		fs := &failureFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
		o := x.onFS(rocksdb.DefaultOptions(), fs)
		o.CreateIfMissing, o.LevelCompactionDynamicLevelBytes, o.MaxSubcompactions = true, false, x.subcompactions
		o.WriteBufferSize, o.MaxWriteBufferNumber = perBuffer*entrySize, 2
		o.TargetFileSizeBase = uint64(o.WriteBufferSize)
		o.Level0FileNumCompactionTrigger = files
		o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = files*o.TargetFileSizeBase, 2
		o.Compression = rocksdb.NoCompression
		wake := x.blockThreads(rocksdb.LowPriority)
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[string]string{}
		for range files * perBuffer {
			k := rnd.RandomString(keySize)
			values[k] = rnd.RandomString(entrySize - keySize)
			x.mustPut(0, k, values[k])
			x.waitForFlush(0)
		}
		x.must(x.full().TestFlushMemTable(true, false, nil))
		before := x.numTableFilesAtLevel(0, 0)
		if before < files {
			x.Fatalf("%d files", before)
		}
		fs.nonWritable.Store(true)
		wake()
		if err := x.full().TestWaitForCompact(); err == nil {
			x.Fatal("the compaction succeeded")
		}
		x.wantLevelFiles(1, 0)
		x.wantLevelFiles(0, before)
		wantAll := func() {
			for k, v := range values {
				x.wantGet(0, k, v)
			}
		}
		wantAll()
		fs.nonWritable.Store(false)
		x.reopen(o)
		wantAll()
	})
}

func TestDBCompactionTestWithParam_DeleteMovedFileAfterCompaction(t *testing.T) {
	eachSubcompactions(t, func(x *compactionTest) {
		for _, period := range []uint64{rocksdb.DefaultDBOptions().DeleteObsoleteFilesPeriodMicros, 0} {
			const size = 1 << 10 // a tenth of upstream's
			o := x.options()
			o.DeleteObsoleteFilesPeriodMicros, o.Level0FileNumCompactionTrigger = period, 2
			o.TargetFileSizeBase = 220 << 10
			l := &deletionListener{}
			o.Listeners = append(o.Listeners, l)
			x.destroyAndReopen(o)
			rnd := util.NewRandom(301)
			twoTables := func(from int) {
				for i := range 2 {
					x.putRange(rnd, map[int]string{}, from+i*50, from+i*50+100, size)
					x.flush(0)
				}
			}
			twoTables(0)
			x.must(x.full().TestWaitForCompact())
			x.wantFiles(0, "0,1")
			wake := x.blockThreads(rocksdb.LowPriority)
			o.MaxBytesForLevelBase = 100 << 10
			x.reopen(o)
			it := x.db.NewIterator(nil)
			x.wantFiles(0, "0,1")
			wake()
			x.must(x.full().TestWaitForCompact())
			x.wantFiles(0, "0,0,1") // moved
			names := x.tableNames()
			same(x, "files", len(names), 1)
			moved := x.dir + names[0]
			twoTables(100)
			x.must(x.full().TestWaitForCompact())
			x.wantFiles(0, "0,0,2") // merged with the file
			if _, err := os.Stat(moved); err != nil {
				x.Fatal("the iterator's file is gone: ", err)
			}
			l.expect(moved)
			x.must(it.Err())
			x.must(it.Close())
			if _, err := os.Stat(moved); !os.IsNotExist(err) {
				x.Fatal("the file is still there: ", err)
			}
			l.mu.Lock()
			same(x, "deletions told", l.matched, 1)
			l.mu.Unlock()
		}
	})
}

func TestDBCompactionTest_SanitizeCompactionOptionsTest(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	for _, c := range []struct {
		compactions      int
		soft, hard, want uint64
	}{{5, 0, 100, 100}, {3, 200, 150, 150}} {
		o.MaxBackgroundCompactions = c.compactions
		o.SoftPendingCompactionBytesLimit, o.HardPendingCompactionBytesLimit = c.soft, c.hard
		x.destroyAndReopen(o)
		same(t, "soft limit", x.db.GetOptions().SoftPendingCompactionBytesLimit, c.want)
	}
}

func TestDBCompactionTest_OptimizedDeletionObsoleting(t *testing.T) {
	const files = 4
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.Statistics = files, rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	// Keys 1 and 3 have files of their own in levels 1 and 2.
	for level := 2; level >= 1; level-- {
		for i := range 2 {
			x.putFlush(key(2*i+1), "val")
		}
		x.moveFilesToLevel(level, 0)
		x.wantLevelFiles(level, 2)
	}
	// Of the deletions of keys 1 to 4 those of 2 and 4 have nothing under them.
	for i := range files {
		x.mustPut(0, key(0), "val") // prevents a move
		x.mustDelete(0, key(i+1))
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	for i := range files {
		x.wantGet(0, key(i+1), "NOT_FOUND")
	}
	x.wantTicker(rocksdb.CompactionOptimizedDelDropObsolete, 2)
	x.wantTicker(rocksdb.CompactionKeyDropObsolete, 2)
}

func TestDBCompactionTest_CompactFilesOverlapInL0Bug(t *testing.T) {
	x := newCompactionTest(t)
	x.putFlush(key(0), "old_val")
	x.putFlush(key(0), "new_val")
	files := x.db.GetColumnFamilyMetaData(nil).Levels[0].Files
	same(t, "files", len(files), 2)
	// The older file overlaps the newer one, and goes with it.
	_, err := x.db.CompactFiles(nil, []string{files[0].Name}, 1, -1, nil)
	x.must(err)
	x.wantGet(0, key(0), "new_val")
}

func TestDBCompactionTest_LevelTtlCompactionOutputCuttingIteractingWithOther(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.Compression, o.TTL, o.MaxOpenFiles = e, rocksdb.NoCompression, 24*60*60, -1
	o.CompactionPri, o.TargetFileSizeBase, o.DisableAutoCompactions = rocksdb.MinOverlappingRatio, 4<<10, true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	fill := func(level, size int, keys ...int) {
		for _, k := range keys {
			x.mustPut(0, key(k), rnd.RandomString(size))
		}
		x.flush(0)
		x.moveFilesToLevel(level, 0)
	}
	fill(6, 1<<10, 3, 0) // tables are not cut by age in the last level
	fill(2, 4<<10, 2, 3)
	fill(1, 4<<10, 0, 1, 3)
	x.wantFiles(0, "0,1,1,0,0,0,1")
	clock.MockSleepForSeconds(36 * 60 * 60)
	x.must(x.full().TestRunManualCompaction(x.cf(0).Impl(), 1, 2))
	// Cut before key 2 for its size, not again before key 3 for its age.
	x.wantFiles(0, "0,0,2,0,0,0,1")
}

func TestDBCompactionTest_LevelTtlBooster(t *testing.T) {
	const keys, files, size = 32, 3, 1000
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.TTL, o.PeriodicCompactionSeconds, o.MaxOpenFiles = e, 10*60*60, 480*60*60, -1
	o.Level0FileNumCompactionTrigger, o.MaxBytesForLevelBase = 2, 5*keys*size
	o.CompactionPri = rocksdb.MinOverlappingRatio
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range files {
		x.putRange(rnd, map[int]string{}, i*keys, i*keys+keys, size)
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.moveFilesToLevel(2, 0)
	x.wantFiles(0, "0,0,3")
	two := func(from, size int) {
		for i := range 2 {
			for j := range keys {
				x.mustPut(0, key(from+2*j+i), rnd.RandomString(size))
			}
			x.flush(0)
			x.must(x.full().TestWaitForCompact())
		}
	}
	two(0, size)
	x.wantFiles(0, "0,1,3")
	// The old file of level 1 is picked for its age though others are cheaper.
	clock.MockSleepForSeconds(8 * 60 * 60)
	two(keys*2, size*2)
	x.setOptions("level0_file_num_compaction_trigger", "1")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1,2")
	x.setOptions("level0_file_num_compaction_trigger", "2")
	if n := x.sizeAtLevel(1); n <= keys*4*size {
		t.Errorf("level 1 has %d bytes", n)
	}
}

func TestDBCompactionTest_CompactRangeFlushOverlappingMemtable(t *testing.T) {
	ends := []string{"", "a", "b", "c", "d", "e"} // "" is open
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	for i, begin := range ends {
		for j, end := range append(ends[1:], "") {
			if j+1 < i {
				continue
			}
			x.puts(0, "b", "val", "d", "val")
			x.compact(0, begin, end)
			left := x.intProperty(0, rocksdb.PropertyNumEntriesImmMemTables) + x.intProperty(0, rocksdb.PropertyNumEntriesActiveMemTable)
			want := uint64(0)
			overlaps := begin <= "d" && end >= "b" && (begin != "c" || end != "c")
			if begin != "" && end != "" && !overlaps {
				want = 2
			}
			if left != want {
				t.Fatalf("[%q, %q]: %d entries in memtables, not %d", begin, end, left, want)
			}
			x.flush(0)
		}
	}
}

// subcompactionListener wants subcompactions within compactions, each with a
// number of its own, and the number of level 0 files that is expected.
type subcompactionListener struct {
	rocksdb.EventListenerBase
	x             *dbTest
	mu            sync.Mutex
	running       map[int]map[int]bool // subcompactions by job
	total         int
	before, after int // files of level 0; -1 is any
}

func (l *subcompactionListener) expect(before, after int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func (l *subcompactionListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[info.JobID] != nil || l.before >= 0 && info.NumL0Files != l.before {
		l.x.Errorf("job %d begins with %d files in level 0", info.JobID, info.NumL0Files)
	}
	l.running[info.JobID] = map[int]bool{}
}

func (l *subcompactionListener) OnCompactionCompleted(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if subs, ok := l.running[info.JobID]; !ok || len(subs) > 0 || l.after >= 0 && info.NumL0Files != l.after {
		l.x.Errorf("job %d ends with %d subcompactions and %d files in level 0", info.JobID, len(subs), info.NumL0Files)
	}
	delete(l.running, info.JobID)
}

func (l *subcompactionListener) OnSubcompactionBegin(info *rocksdb.SubcompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	subs := l.running[info.JobID]
	if subs == nil || subs[info.SubcompactionJobID] {
		l.x.Errorf("job %d begins subcompaction %d", info.JobID, info.SubcompactionJobID)
		return
	}
	subs[info.SubcompactionJobID] = true
	l.total++
}

func (l *subcompactionListener) OnSubcompactionCompleted(info *rocksdb.SubcompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running[info.JobID][info.SubcompactionJobID] {
		l.x.Errorf("job %d ends subcompaction %d", info.JobID, info.SubcompactionJobID)
	}
	delete(l.running[info.JobID], info.SubcompactionJobID)
}

func TestDBCompactionTest_SubcompactionEvent(t *testing.T) {
	x := newCompactionTest(t)
	l := &subcompactionListener{x: x, running: map[int]map[int]bool{}, before: -1, after: -1}
	o := x.currentOptions()
	o.TargetFileSizeBase, o.Level0FileNumCompactionTrigger = 1024, 10
	o.Listeners = append(o.Listeners, l)
	x.destroyAndReopen(o)
	fill := func(first, step int) {
		for j := range 10 {
			k := first + j*step
			x.mustPut(0, key(k), fmt.Sprint("value", k))
		}
		x.flush(0)
	}
	for i := range 4 {
		fill(i*10, 1)
	}
	x.moveFilesToLevel(2, 0)
	x.wantFiles(0, "0,0,4")
	for i := range 2 {
		fill(i*20, 2)
	}
	l.expect(2, 0)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,2,4")
	l.expect(0, -1)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.MaxSubcompactions = 4
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.must(x.full().TestWaitForCompact())
	l.mu.Lock()
	defer l.mu.Unlock()
	same(t, "compactions that run", len(l.running), 0)
	if l.total == 0 {
		t.Error("no subcompactions")
	}
}

// begunListener counts tables begun.
type begunListener struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	begun int
}

func (l *begunListener) OnTableFileCreationStarted(*rocksdb.TableFileCreationBriefInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
}

func TestDBCompactionTest_CompactionHasEmptyOutput(t *testing.T) {
	x := newCompactionTest(t)
	l := &begunListener{}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	x.puts(0, "a", "val", "b", "val", "flush")
	x.mustDelete(0, "a")
	x.mustDelete(0, "b")
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "")
	l.mu.Lock()
	defer l.mu.Unlock()
	same(t, "tables begun", l.begun, 2) // those of the flushes
}

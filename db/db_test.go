// Port of db/db_test.cc. Differs: values and rounds scaled down where slow.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

var pikachu = []string{"default", "pikachu"}

func TestDBTest_WriteEmptyBatch(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(1, "foo", "bar")
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	x.must(x.db.Write(&wo, rocksdb.NewWriteBatch()))
	x.reopenWithColumnFamilies(pikachu, o)
	x.wantGet(1, "foo", "bar")
}

func TestDBTest_LevelLimitReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	// A quarter of upstream's sizes.
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = o.WriteBufferSize/4, o.TargetFileSizeBase/4, o.MaxBytesForLevelBase/4
	x.createAndReopenWithCF(pikachu[1:], o)
	value := dummyString(256<<10, ' ')
	for i := 0; x.numTableFilesAtLevel(2, 1) == 0; i++ {
		x.mustPut(1, key(i), value)
	}
	more := o
	more.NumLevels, more.MaxBytesForLevelMultiplierAdditional = 1, []int{1}
	err := x.tryReopenWithColumnFamilies(pikachu, more)
	x.wantIs(err, rocksdb.ErrInvalidArgument)
	if want := "Invalid argument: db has more levels than options.num_levels"; err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
	more.NumLevels, more.MaxBytesForLevelMultiplierAdditional = 10, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	x.reopenWithColumnFamilies(pikachu, more)
}

func TestDBTest_PutSingleDeleteGet(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo2", "v2")
		x.wantGet(1, "foo2", "v2")
		x.mustSingleDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")
	})
}

func TestDBTest_SingleDeleteFlush(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF(pikachu[1:], o)
		// On the second level, apart from the compaction of the rest.
		x.mustPut(1, "foo", "first")
		x.mustPut(1, "bar", "one")
		x.flush(1)
		x.moveFilesToLevel(2, 1)
		// Deletions behind a put.
		x.mustSingleDelete(1, "foo")
		x.mustPut(1, "foo", "second")
		x.mustDelete(1, "bar")
		x.mustPut(1, "bar", "two")
		x.flush(1)
		x.mustSingleDelete(1, "foo")
		x.mustDelete(1, "bar")
		x.flush(1)
		x.compact(1, "", "")
		x.wantGet(1, "bar", "NOT_FOUND")
		x.wantGet(1, "foo", "NOT_FOUND")
	})
}

func TestDBTest_SingleDeletePutFlush(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF(pikachu[1:], o)
		x.mustPut(1, "foo", "")
		x.mustPut(1, "a", "")
		x.mustSingleDelete(1, "a")
		x.flush(1)
		x.wantEntries("a", 1, "[ ]")
	})
}

func TestDBTest_GetLevel0Ordering(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		// The older file comes first by its smallest key.
		x.mustPut(1, "bar", "b")
		x.mustPut(1, "foo", "v1")
		x.flush(1)
		x.mustPut(1, "foo", "v2")
		x.flush(1)
		x.wantGet(1, "foo", "v2")
	})
}

func TestDBTest_WrongLevel0Config(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger = 1, 2, 3
	x.destroyAndReopen(o)
}

func TestDBTest_GetOrderedByLevels(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.compact(1, "a", "z")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo", "v2")
		x.wantGet(1, "foo", "v2")
		x.flush(1)
		x.wantGet(1, "foo", "v2")
	})
}

func TestDBTest_GetPicksCorrectFile(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.mustPut(1, "a", "va")
		x.compact(1, "a", "b")
		x.mustPut(1, "x", "vx")
		x.compact(1, "x", "y")
		x.mustPut(1, "f", "vf")
		x.compact(1, "f", "g")
		x.wantGet(1, "a", "va")
		x.wantGet(1, "f", "vf")
		x.wantGet(1, "x", "vx")
	})
}

func TestDBTest_GetEncountersEmptyLevel(t *testing.T) {
	eachOptions(t, skipUniversalCompaction|skipFIFOCompaction, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		put := func() {
			x.mustPut(1, "a", "begin")
			x.mustPut(1, "z", "end")
			x.flush(1)
		}
		put()
		x.moveFilesToLevel(2, 1)
		put()
		if x.numTableFilesAtLevel(0, 1) == 0 || x.numTableFilesAtLevel(2, 1) == 0 {
			x.Fatalf("files: %s", x.filesPerLevel(1))
		}
		x.must(x.full().TestCompactRange(1, nil, nil, x.cf(1).Impl(), false))
		x.wantFiles(1, "1,0,1")
		for range 1000 {
			x.wantGet(1, "missing", "NOT_FOUND")
		}
		x.must(x.full().TestWaitForCompact())
		if n := x.numTableFilesAtLevel(0, 1); n != 1 {
			x.Fatalf("%d files at level 0", n)
		}
	})
}

func TestDBTest_FlushMultipleMemtable(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		wo := rocksdb.DefaultWriteOptions()
		wo.DisableWAL = true
		o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.MaxWriteBufferSizeToMaintain = 4, 3, -1
		x.createAndReopenWithCF(pikachu[1:], o)
		x.must(x.cf(1).Put(&wo, []byte("foo"), []byte("v1")))
		x.flush(1)
		x.must(x.cf(1).Put(&wo, []byte("bar"), []byte("v1")))
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v1")
		x.flush(1)
	}
}

func TestDBTest_FailMoreDbPaths(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	for i := range 5 {
		path := rocksdb.DBPath{Path: x.dir, TargetSize: 10000000}
		if i > 0 {
			path = rocksdb.DBPath{Path: fmt.Sprintf("%s_%d", x.dir, i+1), TargetSize: 1000000}
		}
		o.DBPaths = append(o.DBPaths, path)
	}
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
}

func minLevelToCompress(t *testing.T, windowBits int) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.ArenaBlockSize = 100<<10, 4096
	o.NumLevels, o.Level0FileNumCompactionTrigger = 3, 3
	o.CompressionOpts.WindowBits = windowBits
	fill := func() {
		t.Helper()
		rnd := util.NewRandom(301)
		for num := 1; num <= int(o.Level0FileNumCompactionTrigger); num++ {
			for i := range 12 {
				x.mustPut(0, key(i), rnd.RandomString(10000))
			}
			if num < int(o.Level0FileNumCompactionTrigger) {
				x.must(x.full().TestWaitForFlushMemTable(nil))
				if n := x.numTableFilesAtLevel(0, 0); n != num {
					t.Fatalf("%d files at level 0, want %d", n, num)
				}
			}
		}
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "0,1")
	}
	const none, snappy = rocksdb.NoCompression, rocksdb.SnappyCompression
	o.CompressionPerLevel = []rocksdb.CompressionType{none, snappy, snappy}
	x.reopen(o)
	fill()
	o.CompressionPerLevel = []rocksdb.CompressionType{none, none, snappy}
	x.destroyAndReopen(o)
	fill()
}

func TestDBTest_MinLevelToCompress1(t *testing.T) { minLevelToCompress(t, -14) }

func TestDBTest_MinLevelToCompress2(t *testing.T) { minLevelToCompress(t, 15) }

func TestDBTest_UnremovableSingleDelete(t *testing.T) {
	// Were the single deletion dropped, a later one would take the newer put
	// away and show the older one.
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF(pikachu[1:], o)
		x.mustPut(1, "foo", "first")
		s := x.db.GetSnapshot()
		x.mustSingleDelete(1, "foo")
		x.mustPut(1, "foo", "second")
		x.flush(1)
		x.wantGetAt(1, "foo", s, "first")
		x.wantGet(1, "foo", "second")
		x.compact(1, "", "")
		x.wantEntries("foo", 1, "[ second, SDEL, first ]")
		x.mustSingleDelete(1, "foo")
		x.wantGetAt(1, "foo", s, "first")
		x.wantGet(1, "foo", "NOT_FOUND")
		x.compact(1, "", "")
		x.wantGetAt(1, "foo", s, "first")
		x.wantGet(1, "foo", "NOT_FOUND")
		x.must(x.db.ReleaseSnapshot(s))
	})
}

// overLastLevel puts foo on level 2 and a wider file on level 1.
func (x *dbTest) overLastLevel() {
	x.Helper()
	x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
	x.mustPut(1, "foo", "v1")
	x.flush(1)
	x.moveFilesToLevel(2, 1)
	x.wantFiles(1, "0,0,1")
	x.mustPut(1, "a", "begin")
	x.mustPut(1, "z", "end")
	x.flush(1)
	x.moveFilesToLevel(1, 1)
	x.wantFiles(1, "0,1,1")
}

func TestDBTest_DeletionMarkers1(t *testing.T) {
	x := newDBTest(t)
	x.overLastLevel()
	x.mustDelete(1, "foo")
	x.mustPut(1, "foo", "v2")
	x.wantEntries("foo", 1, "[ v2, DEL, v1 ]")
	x.flush(1)
	x.wantEntries("foo", 1, "[ v2, v1 ]")
	x.must(x.full().TestCompactRange(0, nil, []byte("z"), x.cf(1).Impl(), false))
	x.wantEntries("foo", 1, "[ v2, v1 ]") // the last level is not in the compaction
	x.must(x.full().TestCompactRange(1, nil, nil, x.cf(1).Impl(), false))
	x.wantEntries("foo", 1, "[ v2 ]")
}

func TestDBTest_DeletionMarkers2(t *testing.T) {
	x := newDBTest(t)
	x.overLastLevel()
	x.mustDelete(1, "foo")
	x.wantEntries("foo", 1, "[ DEL, v1 ]")
	x.flush(1)
	x.wantEntries("foo", 1, "[ DEL, v1 ]")
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(1).Impl(), false))
	x.wantEntries("foo", 1, "[ DEL, v1 ]") // a file of the last level has the key
	x.must(x.full().TestCompactRange(1, nil, nil, x.cf(1).Impl(), false))
	x.wantEntries("foo", 1, "[ ]")
}

func TestDBTest_OverlapInLevel0(t *testing.T) {
	eachOptions(t, skipUniversalCompaction|skipFIFOCompaction, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		put := func(keys ...string) {
			for _, k := range keys {
				x.mustPut(1, k, "v"+k)
			}
			x.flush(1)
		}
		put("100", "999")
		x.moveFilesToLevel(2, 1)
		x.mustDelete(1, "100")
		x.mustDelete(1, "999")
		x.flush(1)
		x.moveFilesToLevel(1, 1)
		x.wantFiles(1, "0,1,1")
		put("300", "500")
		put("200", "600", "900")
		x.wantFiles(1, "2,1,1")
		tables, err := x.cf(1).GetPropertiesOfAllTables()
		x.must(err)
		seen := map[string]bool{}
		for _, p := range tables {
			seen[fmt.Sprint(p.DBID, p.DBSessionID, p.OrigFileNumber)] = true
			if p.DBID == "" || p.DBSessionID == "" || p.OrigFileNumber == 0 {
				x.Errorf("no unique id: %q %q %d", p.DBID, p.DBSessionID, p.OrigFileNumber)
			}
		}
		if len(seen) != 4 {
			x.Errorf("%d unique ids of 4 tables", len(seen))
		}
		x.must(x.full().TestCompactRange(1, nil, nil, x.cf(1).Impl(), false))
		x.must(x.full().TestCompactRange(2, nil, nil, x.cf(1).Impl(), false))
		x.wantFiles(1, "2")
		x.mustDelete(1, "600")
		x.flush(1)
		x.wantFiles(1, "3")
		x.wantGet(1, "600", "NOT_FOUND")
	})
}

func TestDBTest_ComparatorCheck(t *testing.T) {
	x := newDBTest(t)
	other := newOrder("rocksdb.NewComparator", func(a, b []byte) int { return strings.Compare(string(a), string(b)) })
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		x.createAndReopenWithCF(pikachu[1:], o)
		changed := o
		changed.Comparator = other
		if err := x.tryReopenWithColumnFamilies(pikachu, o, changed); err == nil || !strings.Contains(err.Error(), "comparator") {
			t.Errorf("opened with another comparator: %v", err)
		}
	}
}

func TestDBTest_CustomComparator(t *testing.T) {
	x := newDBTest(t)
	number := func(k []byte) int {
		s := string(k)
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), 0, 64)
		if err != nil || s[0] != '[' || s[len(s)-1] != ']' {
			t.Errorf("key %q", s)
		}
		return int(n)
	}
	order := newOrder("test.NumberComparator", func(a, b []byte) int { return number(a) - number(b) })
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.Comparator, o.WriteBufferSize, o.ArenaBlockSize = order, 4096, 4096
		x.destroyAndReopen(o)
		x.createAndReopenWithCF(pikachu[1:], o)
		x.mustPut(1, "[10]", "ten")
		x.mustPut(1, "[0x14]", "twenty")
		for range 2 {
			for k, want := range map[string]string{"[10]": "ten", "[0xa]": "ten", "[20]": "twenty", "[0x14]": "twenty",
				"[15]": "NOT_FOUND", "[0xf]": "NOT_FOUND"} {
				x.wantGet(1, k, want)
			}
			x.compact(1, "[0]", "[9999]")
		}
		for range 2 {
			for i := range 1000 {
				k := fmt.Sprintf("[%d]", i*10)
				x.mustPut(1, k, k)
			}
			x.compact(1, "[0]", "[1000000]")
		}
	}
}

func TestDBTest_DBOpen_Options(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	dir := filepath.Join(t.TempDir(), "db_options_test")
	open := func(create, errorIfExists bool, want string) {
		t.Helper()
		o.CreateIfMissing, o.ErrorIfExists = create, errorIfExists
		db, err := rocksdb.Open(dir, o)
		if want != "" {
			if err == nil || db != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, not %q", err, want)
			}
			return
		}
		x.must(err)
		x.must(db.Close())
	}
	open(false, false, "does not exist")
	open(true, false, "")
	open(false, true, "exists")
	open(true, false, "")
}

func TestDBTest_DBOpen_Change_NumLevels(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(1, "a", "123")
	x.mustPut(1, "b", "234")
	x.flush(1)
	x.moveFilesToLevel(3, 1)
	o.CreateIfMissing, o.NumLevels = false, 2
	err := x.tryReopenWithColumnFamilies(pikachu, o)
	if err == nil || !strings.Contains(err.Error(), "Invalid argument") || x.db != nil {
		t.Errorf("opened with too few levels: %v", err)
	}
}

func TestDBTest_DestroyDBMetaDatabase(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	dir := filepath.Join(t.TempDir(), "db_meta")
	meta := filename.MetaDatabaseName(dir, 0)
	dirs := []string{dir, meta, filename.MetaDatabaseName(meta, 0)}
	for _, d := range dirs {
		db, err := rocksdb.Open(d, o)
		x.must(err)
		x.must(db.Close())
	}
	x.must(rocksdb.DestroyDB(dir, o))
	o.CreateIfMissing = false
	for _, d := range dirs {
		if _, err := rocksdb.Open(d, o); err == nil {
			t.Errorf("%s is still there", d)
		}
	}
}

func TestDBTest_BlockBasedTablePrefixHashIndexTest(t *testing.T) {
	x := newDBTest(t)
	o, b := x.currentOptions(), rocksdb.DefaultBlockBasedTableOptions()
	b.IndexType = rocksdb.HashSearch
	o.TableFactory, o.PrefixExtractor = rocksdb.NewBlockBasedTableFactory(b), util.NewCappedPrefixTransform(2)
	x.reopen(o)
	x.mustPut(0, "kk1", "v1")
	x.mustPut(0, "kk2", "v2")
	x.mustPut(0, "kk", "v3")
	x.mustPut(0, "k", "v4")
	x.flush(0)
	x.wantGet(0, "kk1", "v1")
	x.wantGet(0, "kk2", "v2")
	x.wantGet(0, "kk", "v3")
	x.wantGet(0, "k", "v4")
}

func TestDBTest_ChecksumTest(t *testing.T) {
	x := newDBTest(t)
	o, b := x.currentOptions(), rocksdb.DefaultBlockBasedTableOptions()
	with := func(c rocksdb.ChecksumType) {
		b.Checksum = c
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		x.reopen(o)
	}
	with(rocksdb.CRC32c)
	x.mustPut(0, "a", "b")
	x.mustPut(0, "c", "d")
	x.flush(0)
	with(rocksdb.XXHash)
	x.mustPut(0, "e", "f")
	x.mustPut(0, "g", "h")
	x.flush(0)
	for range 2 {
		with(rocksdb.CRC32c)
		for k, v := range map[string]string{"a": "b", "c": "d", "e": "f", "g": "h"} {
			x.wantGet(0, k, v)
		}
	}
}

func TestDBTest_TableOptionsSanitizeTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	if x.db.GetOptions().AllowMmapReads {
		t.Error("allow_mmap_reads is set")
	}
	o.TableFactory, o.PrefixExtractor = rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions()), util.NewNoopTransform()
	x.destroy(o)
	if err := x.tryReopen(o); errors.Is(err, rocksdb.ErrNotSupported) {
		t.Error(err)
	}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.IndexType = rocksdb.HashSearch
	o = x.currentOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.wantIs(x.tryReopen(o), rocksdb.ErrInvalidArgument)
	o.PrefixExtractor = util.NewFixedPrefixTransform(1)
	x.reopen(o)
}

func TestDBTest_ConcurrentMemtableNotSupported(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowConcurrentMemtableWrite, o.SoftPendingCompactionBytesLimit, o.HardPendingCompactionBytesLimit = true, 0, 100
	x.destroy(o)
	o.MemtableFactory = memtable.NewHashLinkListRepFactory(4)
	if err := x.tryReopen(o); err == nil {
		t.Error("opened with concurrent writes to hash_linkedlist")
	}
	linked := o.ColumnFamilyOptions
	o.MemtableFactory = memtable.NewSkipListFactory(0)
	x.reopen(o)
	if _, err := x.db.CreateColumnFamily(linked, "name"); err == nil {
		t.Error("a family with concurrent writes to hash_linkedlist was made")
	}
}

func TestDBTest_L0L1L2AndUpHitCounter(t *testing.T) {
	const levels, keysPerLevel = 3, 1000
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(o)
	n := 0
	for output := levels - 1; output >= 0; output-- {
		for range keysPerLevel {
			x.mustPut(0, key(n), "val")
			n++
		}
		x.flush(0)
		x.moveFilesToLevel(output, 0)
	}
	tickers := []rocksdb.Ticker{rocksdb.GetHitL0, rocksdb.GetHitL1, rocksdb.GetHitL2AndUp}
	want := func(count uint64) {
		t.Helper()
		for _, ticker := range tickers {
			if got := o.Statistics.GetTickerCount(ticker); got != count {
				t.Errorf("ticker %d is %d, want %d", ticker, got, count)
			}
		}
	}
	want(0)
	for i := range n {
		x.wantGet(0, key(i), "val")
	}
	want(keysPerLevel)
}

func TestDBTest_EmptyCompactedDB(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxOpenFiles = -1
	x.must(x.tryReadOnlyReopen(o))
	x.wantIs(x.put(0, "new", "value"), rocksdb.ErrNotSupported)
}

func TestDBTest_CompactRangeWithEmptyBottomLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 2
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 2 {
		x.mustPut(0, key(0), rnd.RandomString(1024))
		x.flush(0)
	}
	x.wantFiles(0, "2")
	x.compact(0, "", "")
	x.wantFiles(0, "0,2")
}

func TestDBTest_LargeBatchWithColumnFamilies(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	x.createAndReopenWithCF(pikachu[1:], o)
	n := 0
	for i := range 3 {
		for range 3 {
			batch := rocksdb.NewWriteBatch()
			for batch.GetDataSize() <= (1+i)<<19 {
				data := dummyString(3000, byte(n%127+20))
				n++
				data += strconv.Itoa(n)
				x.must(batch.PutCF(x.cf(0).Impl(), []byte(data), []byte(data)))
			}
			x.must(x.db.Write(nil, batch))
		}
	}
	x.reopenWithColumnFamilies(pikachu, o)
}

func TestDBTest_CreateColumnFamilyShouldFailOnIncompatibleOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxOpenFiles = 100
	x.reopen(o)
	o.TTL = 3600
	c, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "pikachu")
	x.must(err)
	x.must(c.Close())
}

func TestDBTest_PauseBackgroundWorkTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	x.reopen(o)
	x.must(x.db.PauseBackgroundWork())
	var done atomic.Bool
	failed := make(chan error, 1)
	go func() {
		rnd := util.NewRandom(301)
		var err error
		for i := 0; i < 10000 && err == nil; i++ {
			err = x.put(0, rnd.RandomString(10), rnd.RandomString(10))
		}
		done.Store(true)
		failed <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if done.Load() {
		t.Error("the writer did not wait for a flush")
	}
	x.must(x.db.ContinueBackgroundWork())
	x.must(<-failed)
}

func TestDBTest_ThreadLocalPtrDeadlock(t *testing.T) {
	x := newDBTest(t)
	var flushes atomic.Int64
	var wg sync.WaitGroup
	done := func() bool { return flushes.Load() > 10 }
	wg.Go(func() {
		for i := 0; !done() && !t.Failed(); i++ {
			fo := rocksdb.DefaultFlushOptions()
			if err := errors.Join(x.put(0, "hi", strconv.Itoa(i)), x.db.Flush(&fo)); err != nil {
				t.Error(err)
			}
			flushes.Add(1)
		}
	})
	for range 10 {
		wg.Go(func() {
			for !done() && !t.Failed() {
				finished := make(chan error)
				go func() {
					it := x.db.NewIterator(nil)
					err := it.Err()
					it.Close()
					finished <- err
				}()
				if err := <-finished; err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestDBTest_LargeBlockSizeTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(0, "foo", "bar")
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize = 8 << 30
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	if err := x.tryReopenWithColumnFamilies(pikachu, o); err == nil {
		t.Error("opened with a block size of 8 GiB")
	}
}

func TestDBTest_ReadOnlyCloseDoesNotDeleteWriterFiles(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.mustPut(0, "before", "value")
	x.flush(0)
	reader, err := rocksdb.OpenForReadOnly(x.dir, o)
	x.must(err)
	x.mustPut(0, "after", "value")
	x.flush(0)
	files := x.db.GetLiveFilesMetaData()
	if len(files) < 2 {
		t.Fatalf("%d files", len(files))
	}
	newest := files[0]
	for _, f := range files {
		if f.FileNumber > newest.FileNumber {
			newest = f
		}
	}
	path := filepath.Join(newest.Directory, newest.RelativeFilename)
	wantThere := func(path string) {
		t.Helper()
		_, err := os.Stat(path)
		x.must(err)
	}
	wantThere(path)
	x.must(reader.Close())
	wantThere(path)
}

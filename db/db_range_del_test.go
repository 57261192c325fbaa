// Port of db/db_range_del_test.cc (writing, flushing, compacting, lookups).

package db_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// rangeDelSkipConfigs leaves out what DeleteRange does not go together with.
const rangeDelSkipConfigs = skipPlainTable | skipMmapReads | skipRowCache

// numKey is the key i under Uint64Comparator.
func numKey(i int) string { return string(binary.NativeEndian.AppendUint64(nil, uint64(i))) }

// level lists the files of a level, in the order the version has them.
func (x *dbTest) level(level int) []*version.FileMetaData { return x.storage(0).LevelFiles(level) }

// compactLevel compacts a level into the next, rewriting the files.
func (x *dbTest) compactLevel(level int, begin, end string) {
	x.Helper()
	x.must(x.full().TestCompactRange(level, boundOf(begin), boundOf(end), x.cf(0).Impl(), true))
}

func boundOf(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// flushTo flushes and moves the file to a level.
func (x *dbTest) flushTo(level int) {
	x.Helper()
	x.flush(0)
	x.moveFilesToLevel(level, 0)
}

// ignoring reads a key as if there were no range deletions.
func (x *dbTest) ignoring(key string) string {
	ro := readOptions(func(ro *contract.ReadOptions) { ro.IgnoreRangeDeletions = true })
	v, err := x.db.Get(ro, []byte(key))
	if rocksdb.IsNotFound(err) {
		return "NOT_FOUND"
	}
	x.must(err)
	defer v.Release()
	return string(v.Data())
}

// random gives values as upstream's generator does.
type random struct{ *util.Random }

func newRandom() random { return random{util.NewRandom(301)} }

func (r random) str(n int) string { return string(r.RandomString(n)) }

func TestDBRangeDelTest_NonBlockBasedTableNotSupported(t *testing.T) {
	x := newDBTest(t)
	x.config = configPlainTableAllBytesPrefix
	x.destroyAndReopen(x.currentOptions())
	if err := x.db.DeleteRange(nil, []byte("dr1"), []byte("dr1")); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
}

func TestDBRangeDelTest_WriteBatchWithIndexNotSupported(t *testing.T) {
	b, err := rocksdb.NewWriteBatchWithIndex(rocksdb.WriteBatchWithIndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := newDBTest(t)
	for _, err := range []error{b.DeleteRangeCF(x.cf(0), []byte("dr1"), []byte("dr1")), b.DeleteRange([]byte("dr1"), []byte("dr1"))} {
		if !errors.Is(err, rocksdb.ErrNotSupported) {
			t.Error(err)
		}
	}
}

func TestDBRangeDelTest_EndSameAsStartCoversNothing(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "b", "val")
	x.deleteRange(0, "b", "b")
	x.wantGet(0, "b", "val")
}

func TestDBRangeDelTest_EndComesBeforeStartInvalidArgument(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "b", "val")
	if err := x.db.DeleteRange(nil, []byte("b"), []byte("a")); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatal(err)
	}
	x.wantGet(0, "b", "val")
}

func TestDBRangeDelTest_FlushOutputHasOnlyRangeTombstones(t *testing.T) {
	eachOptions(t, rangeDelSkipConfigs, func(x *dbTest) {
		x.deleteRange(0, "dr1", "dr2")
		x.flush(0)
		if n := x.numTableFilesAtLevel(0, 0); n != 1 {
			x.Fatal(n)
		}
	})
}

func TestDBRangeDelTest_DictionaryCompressionWithOnlyRangeTombstones(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompressionOpts.MaxDictBytes = 16384
	x.reopen(o)
	x.deleteRange(0, "dr1", "dr2")
	x.flush(0)
	x.wantFiles(0, "1")
}

func TestDBRangeDelTest_CompactionOutputHasOnlyRangeTombstone(t *testing.T) {
	eachOptions(t, rangeDelSkipConfigs|skipUniversalCompaction|skipFIFOCompaction, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		s := x.db.GetSnapshot() // keeps the tombstone from being obsolete
		x.deleteRange(0, "a", "z")
		x.flush(0)
		x.wantFiles(0, "1")
		x.compactLevel(0, "", "")
		x.wantFiles(0, "0,1")
		x.wantTicker(contract.CompactionRangeDelDropObsolete, 0)
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestDBRangeDelTest_CompactionOutputFilesExactlyFilled(t *testing.T) {
	const perFile, files = 4, 2
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSizeDeviation = 50 })
	o.DisableAutoCompactions = true
	o.Level0FileNumCompactionTrigger = files
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.NumLevels, o.TargetFileSizeBase = 2, 9<<10
	x.reopen(o)
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(0), key(1))
	r := newRandom()
	for i := range files {
		for j := range perFile {
			x.mustPut(0, key(i*perFile+j), r.str(3<<10))
			if j == 0 && i > 0 {
				x.waitForFlush(0)
			}
		}
	}
	x.mustPut(0, "", "") // triggers the last flush
	x.waitForFlush(0)
	x.wantFiles(0, "2")
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,2")
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_MaxCompactionBytesCutsOutputFiles(t *testing.T) {
	const files, perFile, valueSize = 2, 1 << 8, 1 << 12
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = rocksdb.Uint64Comparator()
	o.DisableAutoCompactions = true
	o.Level0FileNumCompactionTrigger = files
	o.MaxCompactionBytes = perFile * valueSize
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.TargetFileSizeBase = 1
	x.destroyAndReopen(o)
	s := x.db.GetSnapshot()
	r := newRandom()
	x.puts(0, numKey(0), r.str(valueSize), numKey(perFile-1), r.str(valueSize), "flush",
		numKey(perFile), r.str(valueSize), numKey(perFile*2-1), r.str(valueSize), "flush")
	x.moveFilesToLevel(2, 0)
	x.wantFiles(0, "0,0,2")
	x.must(x.db.SetOptions(map[string]string{"target_file_size_base": fmt.Sprint(100 * o.MaxCompactionBytes)}))
	x.deleteRange(0, numKey(0), numKey(files*perFile-1)) // in all files of the output
	for i := range files {
		for j := range perFile {
			x.mustPut(0, numKey(perFile*i+j), r.str(valueSize))
		}
		x.mustPut(0, numKey(perFile), "")
		x.waitForFlush(0)
		if n := x.numTableFilesAtLevel(0, 0); n != i+1 {
			t.Fatal(n)
		}
	}
	x.compactLevel(0, "", "")
	out := x.level(1)
	if x.numTableFilesAtLevel(0, 0) != 0 || len(out) < 2 {
		t.Fatal(x.filesPerLevel(0))
	}
	icmp := dbformat.NewInternalKeyComparator(o.Comparator)
	for i := range len(out) - 1 {
		if icmp.Compare(out[i].Largest, out[i+1].Smallest) >= 0 {
			t.Fatalf("files %d and %d overlap", i, i+1)
		}
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_SentinelsOmittedFromOutputFile(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "before", "the snapshot")
	s := x.db.GetSnapshot()
	x.deleteRange(0, "a", "b")
	x.deleteRange(0, "c", "d")
	x.deleteRange(0, "e", "f")
	x.flush(0)
	x.wantFiles(0, "1")
	if n := x.level(0)[0].FD.SmallestSeqno; n == 0 {
		t.Fatal(n)
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_FlushRangeDelsSameStartKey(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "b1", "val")
	x.deleteRange(0, "a", "c")
	x.mustPut(0, "b2", "val")
	x.deleteRange(0, "a", "b")
	for i := range 2 {
		if i > 0 {
			x.flush(0)
			x.wantFiles(0, "1")
		}
		x.wantGet(0, "b1", "NOT_FOUND")
		x.wantGet(0, "b2", "val")
	}
}

func TestDBRangeDelTest_CompactRangeDelsSameStartKey(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, "unused", "val", "b1", "val", "flush")
	x.deleteRange(0, "a", "c")
	x.flush(0)
	x.deleteRange(0, "a", "b")
	x.flush(0)
	x.wantFiles(0, "3")
	x.wantGet(0, "b1", "NOT_FOUND")
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,1")
	x.wantGet(0, "b1", "NOT_FOUND")
}

func TestDBRangeDelTest_FlushRemovesCoveredKeys(t *testing.T) {
	const num, begin, end = 300, 50, 250
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = rocksdb.Uint64Comparator()
	x.destroyAndReopen(o)
	var s rocksdb.Snapshot
	for i := range num {
		switch i {
		case num / 3:
			s = x.db.GetSnapshot()
		case 2 * num / 3:
			x.deleteRange(0, numKey(begin), numKey(end))
		}
		x.mustPut(0, numKey(i), "val")
	}
	x.flush(0)
	for i := range num {
		want := "NOT_FOUND"
		if i < begin || i > end || i < num/3 || i >= 2*num/3 {
			want = "val"
		}
		if got := x.ignoring(numKey(i)); got != want {
			t.Fatalf("%d: %s", i, got)
		}
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_CompactionRemovesCoveredKeys(t *testing.T) {
	const perFile, files = 100, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = rocksdb.Uint64Comparator()
	o.DisableAutoCompactions, o.NumLevels = true, 2
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	for i := range files {
		if i > 0 { // half of the file before
			x.deleteRange(0, numKey((i-1)*perFile), numKey((i-1)*perFile+perFile/2))
		}
		x.mustPut(0, numKey(perFile*files), "val") // no trivial move
		for j := range perFile {
			x.mustPut(0, numKey(i*perFile+j), "val")
		}
		x.waitForFlush(0)
		if n := x.numTableFilesAtLevel(0, 0); n != i+1 {
			t.Fatal(n)
		}
	}
	x.compact(0, "", "")
	if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) == 0 {
		t.Fatal(x.filesPerLevel(0))
	}
	x.wantTicker(contract.CompactionKeyDropRangeDel, (files-1)*perFile/2)
	for i := range files {
		for j := range perFile {
			want := "NOT_FOUND"
			if i == files-1 || j >= perFile/2 {
				want = "val"
			}
			if got := x.ignoring(numKey(i*perFile + j)); got != want {
				t.Fatalf("%d: %s", i*perFile+j, got)
			}
		}
	}
}

func TestDBRangeDelTest_ValidLevelSubcompactionBoundaries(t *testing.T) {
	const perFile, files, fileBytes = 100, 4, 100 << 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 3
	o.Level0FileNumCompactionTrigger = files
	o.MaxBytesForLevelBase, o.MaxSubcompactions = 2*fileBytes, 4
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.TargetFileSizeBase, o.TargetFileSizeMultiplier, o.MaxCompactionBytes = fileBytes, 1, 1500
	x.reopen(o)
	r := newRandom()
	for i := range 2 {
		for j := range files {
			if i > 0 { // the same ranges in two files
				mid := (j + (1 - j%2)) * perFile
				x.deleteRange(0, key(mid-5), key(mid+5))
			}
			for k := range perFile {
				x.mustPut(0, key(j*perFile+k), r.str(990))
			}
			x.mustPut(0, "", "")
			x.waitForFlush(0)
			if j < files-1 {
				if n := x.numTableFilesAtLevel(0, 0); n != j+1 {
					t.Fatal(n)
				}
				continue
			}
			x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.cf(0)}))
			x.must(x.full().TestWaitForCompact())
			x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "true"}))
			if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) == 0 || x.numTableFilesAtLevel(2, 0) == 0 {
				t.Fatal(x.filesPerLevel(0))
			}
		}
	}
}

func TestDBRangeDelTest_CompactionRemovesCoveredMergeOperands(t *testing.T) {
	const perFile, files = 3, 3
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 2
	o.MemtableFactory = newSpecialSkipListFactory(2 * perFile)
	o.MergeOperator = x.mergeOperator("uint64add")
	x.reopen(o)
	for i := 0; i <= files*perFile; i++ {
		if i%perFile == 0 && i/perFile == files-1 {
			x.deleteRange(0, "key", "key_")
		}
		x.mustMerge(0, "key", fixed64(uint64(i)))
		x.mustPut(0, "prevent_trivial_move", "")
		if i > 0 && i%perFile == 0 {
			x.waitForFlush(0)
		}
	}
	if got := x.ignoring("key"); got != fixed64(45) {
		t.Fatalf("%q", got)
	}
	x.compact(0, "", "")
	if got := x.ignoring("key"); got != fixed64(30) { // 6+7+8+9
		t.Fatalf("%q", got)
	}
}

func TestDBRangeDelTest_PutDeleteRangeMergeFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = x.mergeOperator("uint64add")
	x.reopen(o)
	x.mustPut(0, "key", fixed64(1))
	x.deleteRange(0, "key", "key_")
	x.mustMerge(0, "key", fixed64(1))
	x.flush(0)
	x.wantGet(0, "key", fixed64(1))
}

func TestDBRangeDelTest_ObsoleteTombstoneCleanup(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 2
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(o)
	x.deleteRange(0, "dr1", "dr10")
	x.puts(0, "key", "val", "flush")
	s := x.db.GetSnapshot()
	x.deleteRange(0, "dr2", "dr20")
	x.puts(0, "key", "val", "flush")
	x.wantFiles(0, "2")
	x.compact(0, "", "")
	x.wantFiles(0, "0,1")
	x.wantTicker(contract.CompactionRangeDelDropObsolete, 1)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_TableEvictedDuringScan(t *testing.T) {
	const num, begin, end, ranges = 25, 0, 7, 5
	x := newDBTest(t)
	blocks := rocksdb.NewLRUCache(8 << 20)
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.CacheIndexAndFilterBlocks, t.BlockCache = true, blocks })
	o.Comparator = rocksdb.Uint64Comparator()
	o.Level0FileNumCompactionTrigger, o.Level0StopWritesTrigger, o.NumLevels = 4, 4, 2
	o.MemtableFactory = newSpecialSkipListFactory(1)
	x.destroyAndReopen(o)
	s := x.db.GetSnapshot()
	for i := range num {
		x.mustPut(0, numKey(i), "val")
		if i > 0 {
			x.waitForFlush(0)
		}
		if i >= num/2 && i < num/2+ranges {
			x.deleteRange(0, numKey(begin), numKey(end))
		}
	}
	x.must(x.full().TestWaitForCompact())
	if n := x.numTableFilesAtLevel(1, 0); n <= 1 {
		t.Fatal(n)
	}
	it := x.iter(0)
	it.SeekToFirst()
	for level := range 2 { // readers are now held by the iterator alone
		for _, f := range x.level(level) {
			x.cf(0).Impl().CFD().TableCache().Evict(f.FD.GetNumber())
		}
	}
	want := end
	for ; it.Valid(); it.Next() {
		if string(it.Key()) != numKey(want) {
			t.Fatalf("%x, want %d", it.Key(), want)
		}
		want++
		blocks.EraseUnRefEntries()
	}
	x.must(it.Status())
	if want != num {
		t.Fatal(want)
	}
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))

	o.MaxOpenFiles = 1
	x.reopen(o)
	summary, err := x.cf(0).Impl().CFD().Current().TablesRangeTombstoneSummary(100)
	if err != nil || summary == "" {
		t.Fatal(summary, err)
	}
}

func TestDBRangeDelTest_GetCoveredKeyFromMutableMemtable(t *testing.T) {
	eachOptions(t, rangeDelSkipConfigs, func(x *dbTest) {
		x.mustPut(0, "key", "val")
		x.deleteRange(0, "a", "z")
		x.wantGet(0, "key", "NOT_FOUND")
	})
}

func TestDBRangeDelTest_GetCoveredKeyFromImmutableMemtable(t *testing.T) {
	eachOptions(t, rangeDelSkipConfigs, func(x *dbTest) {
		o := x.currentOptions()
		o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 3, 2
		o.MemtableFactory = newSpecialSkipListFactory(1)
		x.destroyAndReopen(o)
		x.mustPut(0, "key", "val")
		x.deleteRange(0, "a", "z")
		x.mustPut(0, "blah", "val")
		x.wantGet(0, "key", "NOT_FOUND")
	})
}

func TestDBRangeDelTest_GetCoveredKeyFromSst(t *testing.T) {
	eachOptions(t, rangeDelSkipConfigs, func(x *dbTest) {
		x.mustPut(0, "key", "val")
		s := x.db.GetSnapshot()
		x.deleteRange(0, "a", "z")
		x.flush(0)
		x.wantGet(0, "key", "NOT_FOUND")
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestDBRangeDelTest_GetCoveredMergeOperandFromMemtable(t *testing.T) {
	const ops = 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = x.mergeOperator("uint64add")
	x.reopen(o)
	for i := range ops {
		x.mustMerge(0, "key", fixed64(uint64(i)))
		if i == ops/2 {
			x.deleteRange(0, "key", "key_")
		}
	}
	x.wantGet(0, "key", fixed64(30)) // 6+7+8+9
	if got := x.ignoring("key"); got != fixed64(45) {
		t.Fatalf("%q", got)
	}
}

// inEveryPlace writes keys into a table, an immutable and the active memtable,
// each covered by a range deletion.
func (x *dbTest) inEveryPlace() rocksdb.Snapshot {
	o := x.currentOptions()
	o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 4, 3
	o.MemtableFactory = newSpecialSkipListFactory(1)
	x.reopen(o)
	x.mustPut(0, "sst_key", "val")
	s := x.db.GetSnapshot()
	x.deleteRange(0, "a", "z")
	x.flush(0)
	x.mustPut(0, "imm_key", "val")
	x.deleteRange(0, "a", "z")
	x.mustPut(0, "mem_key", "val")
	x.deleteRange(0, "a", "z")
	return s
}

func TestDBRangeDelTest_GetIgnoresRangeDeletions(t *testing.T) {
	x := newDBTest(t)
	s := x.inEveryPlace()
	for _, k := range []string{"sst_key", "imm_key", "mem_key"} {
		if got := x.ignoring(k); got != "val" {
			t.Fatal(k, got)
		}
		x.wantGet(0, k, "NOT_FOUND")
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_SubcompactionHasEmptyDedicatedRangeDelFile(t *testing.T) {
	const files, perFile = 2, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.Level0FileNumCompactionTrigger, o.MaxSubcompactions, o.NumLevels, o.TargetFileSizeBase = files, 2, 2, 4096
	x.reopen(o)
	x.mustPut(0, key(0), "val")
	x.flushTo(1)
	for i := range perFile {
		x.mustPut(0, key(i), dummyString(1024, 'a'))
	}
	x.flush(0)
	x.deleteRange(0, key(0), key(perFile))
	s := x.db.GetSnapshot() // protects the next one, which lies past the first subcompaction
	x.deleteRange(0, key(perFile+1), key(perFile+2))
	x.flush(0)
	x.wantFiles(0, "2,1")
	x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.cf(0)}))
	x.must(x.full().TestWaitForCompact())
	if x.contents(0) != "" {
		t.Fatal(x.contents(0))
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_MemtableBloomFilter(t *testing.T) {
	const memtableSize, filterSize, keys = 1 << 20, 1 << 13, 1000
	x := newDBTest(t)
	o := x.currentOptions()
	o.MemtablePrefixBloomSizeRatio = float64(filterSize) / memtableSize
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(8)
	o.WriteBufferSize = memtableSize
	x.reopen(o)
	for i := range keys {
		x.mustPut(0, key(i), "val")
	}
	x.flush(0)
	x.deleteRange(0, key(0), key(keys))
	for i := range keys {
		x.wantGet(0, key(i), "NOT_FOUND")
	}
}

func TestDBRangeDelTest_CompactionTreatsSplitInputLevelDeletionAtomically(t *testing.T) {
	const files, valueSize = 4, 4 << 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression = contract.NoCompression
	o.Level0FileNumCompactionTrigger = files
	o.MemtableFactory = newSpecialSkipListFactory(2)
	o.TargetFileSizeBase, o.MaxCompactionBytes = valueSize/2, 1500
	for _, how := range []string{"CompactFiles", "CompactRange", "automatic"} {
		x.destroyAndReopen(o)
		x.mustPut(0, key(0), "")
		x.flushTo(2)
		x.wantFiles(0, "0,0,1")
		s := x.db.GetSnapshot()
		x.deleteRange(0, key(0), key(2*files))
		v := newRandom().str(valueSize)
		for j := range files {
			x.puts(0, key(j), v, key(2*files-1-j), v)
			if j > 0 {
				x.waitForFlush(0)
				if n := x.numTableFilesAtLevel(0, 0); n != j {
					t.Fatal(n)
				}
			}
		}
		x.mustPut(0, "", "")
		x.waitForFlush(0)
		x.must(x.full().TestWaitForCompact())
		if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) != files {
			t.Fatal(how, x.filesPerLevel(0))
		}
		switch how {
		case "CompactFiles":
			co := contract.DefaultCompactionOptions()
			meta := x.cf(0).GetColumnFamilyMetaData(nil)
			_, err := x.cf(0).CompactFiles(&co, []string{meta.Levels[1].Files[0].Name}, 2, -1, nil)
			x.must(err)
			if n := x.numTableFilesAtLevel(1, 0); n != 0 {
				t.Fatal(n)
			}
		case "CompactRange":
			x.compact(0, key(0), key(1))
			if n := x.numTableFilesAtLevel(1, 0); n != 3 {
				t.Fatal(n)
			}
		default:
			x.must(x.db.SetOptions(map[string]string{"max_bytes_for_level_base": "10000"}))
			x.must(x.full().TestWaitForCompact())
			if n := x.numTableFilesAtLevel(1, 0); n != 1 {
				t.Fatal(n)
			}
		}
		if x.numTableFilesAtLevel(2, 0) == 0 {
			t.Fatal(how, x.filesPerLevel(0))
		}
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func wantBound(t *testing.T, got dbformat.InternalKey, user string, seq contract.SequenceNumber, typ dbformat.ValueType) {
	t.Helper()
	if want := dbformat.NewInternalKey([]byte(user), seq, typ); !bytes.Equal(got, want) {
		t.Fatalf("%s, want %s", got.DebugString(false), want.DebugString(false))
	}
}

func TestDBRangeDelTest_RangeTombstoneEndKeyAsSstableUpperBound(t *testing.T) {
	const files, valueSize = 2, 4 << 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.Level0FileNumCompactionTrigger = files
	o.MemtableFactory = newSpecialSkipListFactory(2)
	o.TargetFileSizeBase = valueSize / 2
	x.destroyAndReopen(o)
	x.mustPut(0, key(0), "")
	x.flushTo(2)
	x.wantFiles(0, "0,0,1")
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(0), key(2*files))
	v := newRandom().str(valueSize)
	for j := range files {
		x.puts(0, key(j), v, key(2*files-1-j), v, "flush")
	}
	x.wantFiles(0, "2,0,1")
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,2,1")
	const max, rd, put = dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion, dbformat.TypeValue
	wantBound(t, x.level(1)[0].Largest, key(2), max, rd)
	wantBound(t, x.level(1)[1].Smallest, key(2), 6, put)

	x.wantGet(0, key(2), v)
	x.must(x.full().TestCompactRange(1, []byte(key(3)), nil, nil, false))
	x.wantFiles(0, "0,1,2")
	x.wantGet(0, key(2), v)
	wantBound(t, x.level(2)[1].Smallest, key(2), 6, put)
	wantBound(t, x.level(2)[1].Largest, key(4), max, rd)

	// The other file must not overlap it.
	x.must(x.full().TestCompactRange(1, []byte(key(0)), []byte(key(0)), nil, false))
	x.wantFiles(0, "0,0,3")
	wantBound(t, x.level(2)[0].Largest, key(1), max, rd)
	wantBound(t, x.level(2)[1].Smallest, key(1), 5, put)
	wantBound(t, x.level(2)[1].Largest, key(2), max, rd)
	wantBound(t, x.level(2)[2].Smallest, key(2), 6, put)
	wantBound(t, x.level(2)[2].Largest, key(4), max, rd)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_UnorderedTombstones(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.currentOptions())
	x.puts(0, "a", "a", "flush")
	x.must(x.full().TestCompactRange(0, nil, nil, nil, false))
	x.wantFiles(0, "0,1")
	x.deleteRange(0, "b", "c")
	s := x.db.GetSnapshot() // another stripe
	x.deleteRange(0, "a", "b")
	x.flush(0)
	x.must(x.db.ReleaseSnapshot(s))
	f := x.level(0)
	if len(f) != 1 || string(f[0].Smallest.UserKey()) != "a" || string(f[0].Largest.UserKey()) != "c" {
		t.Fatal(len(f))
	}
	x.wantGet(0, "a", "NOT_FOUND")
}

// lastOperand is a merge operator that cannot merge in part.
type lastOperand struct{}

func (lastOperand) Name() string { return "MockMergeOperator" }

func (lastOperand) FullMergeV2(in *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	out.NewValue = append(out.NewValue[:0], in.Operands[len(in.Operands)-1]...)
	return true
}

func (lastOperand) PartialMergeMulti([]byte, [][]byte, []byte, contract.Logger) ([]byte, bool) {
	return nil, false
}

func (lastOperand) AllowSingleOperand() bool  { return false }
func (lastOperand) ShouldMerge([][]byte) bool { return false }

func TestDBRangeDelTest_KeyAtOverlappingEndpointReappears(t *testing.T) {
	const fileBytes, valueSize, files = 1 << 20, 1 << 10, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.MergeOperator, o.TargetFileSizeBase = lastOperand{}, fileBytes
	x.reopen(o)
	x.mustMerge(0, "key", "dummy")
	x.flushTo(3) // what follows is not bottommost
	r := newRandom()
	var s rocksdb.Snapshot
	for i := range files {
		for range fileBytes / valueSize {
			x.mustMerge(0, "key", r.str(valueSize))
		}
		if i == files-1 {
			s = x.db.GetSnapshot() // keeps the operands
			x.deleteRange(0, "key", "key_")
		}
		x.flush(0)
	}
	if n := x.numTableFilesAtLevel(0, 0); n != files {
		t.Fatal(n)
	}
	x.wantGet(0, "key", "NOT_FOUND")
	for level := range 2 {
		x.compactLevel(level, "", "")
		if x.numTableFilesAtLevel(level, 0) != 0 || x.numTableFilesAtLevel(level+1, 0) <= 1 {
			t.Fatal(x.filesPerLevel(0))
		}
		x.wantGet(0, "key", "NOT_FOUND")
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_UntruncatedTombstoneDoesNotDeleteNewerKey(t *testing.T) {
	const fileBytes, valueSize, files = 1 << 20, 1 << 10, 4
	const maxKey, overwritten = files * fileBytes / valueSize, 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.MergeOperator, o.TargetFileSizeBase, o.NumLevels = lastOperand{}, fileBytes, 2
	x.reopen(o)
	r := newRandom()
	var snapshots [2]rocksdb.Snapshot
	for i := range files {
		for j := range fileBytes / valueSize {
			k := key(0)
			if i >= files/2 {
				k = key(1 + i*fileBytes/valueSize + j)
			}
			x.mustMerge(0, k, r.str(valueSize))
		}
		if i == 0 {
			snapshots[0] = x.db.GetSnapshot()
		}
		if i == files-1 {
			snapshots[1] = x.db.GetSnapshot()
			x.deleteRange(0, key(0), key(maxKey+1))
		}
		x.flush(0)
	}
	count := func(want int) {
		t.Helper()
		it := x.iter(0)
		if n := it.count(false); n != want || it.Status() != nil {
			t.Fatal(n, it.Status())
		}
		x.must(it.Close())
	}
	count(0)
	x.compact(0, "", "")
	if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) < files {
		t.Fatal(x.filesPerLevel(0))
	}
	for i := maxKey; i > maxKey-overwritten; i-- {
		x.mustMerge(0, key(i), r.str(valueSize))
	}
	x.flush(0)
	count(overwritten)
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
	x.compact(0, key(maxKey-overwritten+1), key(maxKey)) // their sequence numbers become 0
	if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) < files {
		t.Fatal(x.filesPerLevel(0))
	}
	count(overwritten)
}

func TestDBRangeDelTest_DeletedMergeOperandReappearsIterPrev(t *testing.T) {
	const fileBytes, valueSize, keys, files = 1 << 20, 1 << 10, 3, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.MergeOperator, o.TargetFileSizeBase = lastOperand{}, fileBytes
	x.reopen(o)
	r := newRandom()
	var s rocksdb.Snapshot
	for i := range files {
		for j := range fileBytes / valueSize {
			x.mustMerge(0, key(j%keys), r.str(valueSize))
			if i == 0 && j == keys {
				s = x.db.GetSnapshot()
				x.deleteRange(0, key(0), key(keys+1))
			}
		}
		x.flush(0)
	}
	x.compact(0, "", "")
	if x.numTableFilesAtLevel(0, 0) != 0 || x.numTableFilesAtLevel(1, 0) <= 1 {
		t.Fatal(x.filesPerLevel(0))
	}
	it := x.iter(0)
	if n := it.count(true); n != keys || it.Status() != nil {
		t.Fatal(n, it.Status())
	}
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_RangeTombstoneWrittenToMinimalSsts(t *testing.T) {
	const fileBytes, valueSize = 1 << 20, 4 << 10
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	o.MaxCompactionBytes, o.TargetFileSizeBase, o.WriteBufferSize = 2*fileBytes, 2*fileBytes, 2*fileBytes
	x.reopen(o)
	r := newRandom()
	for _, c := range []string{"a", "b", "c"} {
		for i := range fileBytes / valueSize {
			x.mustPut(0, c+key(i), r.str(valueSize))
		}
		x.flushTo(2)
	}
	x.wantFiles(0, "0,0,3")
	x.mustPut(0, "a", "val")
	x.deleteRange(0, "c"+key(1), "d")
	x.puts(0, "c"+key(1), "value", "flush")
	x.compactLevel(0, "c"+key(1), "d")
	x.wantFiles(0, "0,2,3")
	l1 := slices.Clone(x.level(1))
	slices.SortFunc(l1, func(a, b *version.FileMetaData) int { return bytes.Compare(a.Smallest, b.Smallest) })
	for i, want := range []string{"a", "a", "c" + key(1), "d"} {
		k := l1[i/2].Smallest
		if i%2 == 1 {
			k = l1[i/2].Largest
		}
		if string(k.UserKey()) != want {
			t.Fatal(k.DebugString(false), want)
		}
	}
	props, err := x.cf(0).GetPropertiesOfAllTables()
	x.must(err)
	found := 0
	for name, p := range props {
		want := uint64(0)
		if strings.HasSuffix(name, fmt.Sprintf("%06d.sst", l1[1].FD.GetNumber())) {
			want, found = 1, found+1
		}
		if p.NumRangeDeletions != want {
			t.Fatal(name, p.NumRangeDeletions)
		}
	}
	if found != 1 {
		t.Fatal(found)
	}
}

// cutAt is a partitioner that cuts before keys.
type cutAt struct{ cut func(key string) bool }

func (cutAt) Name() string { return "SingleKeySstPartitioner" }
func (c cutAt) ShouldPartition(r *contract.PartitionerRequest) contract.PartitionerResult {
	if c.cut(string(r.CurrentUserKey)) {
		return contract.Required
	}
	return contract.NotRequired
}

func (cutAt) CanDoTrivialMove(smallest, largest []byte) bool                              { return false }
func (c cutAt) CreatePartitioner(*contract.SstPartitionerContext) contract.SstPartitioner { return c }

func TestDBRangeDelTest_CompactionEmitRangeTombstoneToSSTPartitioner(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.SstPartitionerFactory = cutAt{func(string) bool { return true }}
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	r := newRandom()
	x.mustPut(0, key(4), r.str(10))
	x.flushTo(5)
	x.mustPut(0, key(1), r.str(10))
	x.deleteRange(0, key(2), key(5))
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	if n := x.numTableFilesAtLevel(1, 0); n != 2 {
		t.Fatal(n)
	}
}

// grandparents makes two files of four keys each on level 2, under options that
// keep compactions small; without skip.
func (x *dbTest) grandparents(n, skip int) random {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.TargetFileSizeBase, o.MaxCompactionBytes = 9*1024, 9*1024
	x.destroyAndReopen(o)
	r := newRandom()
	for i := range n {
		if i != skip {
			x.mustPut(0, key(i), r.str(3<<10))
		}
	}
	x.flush(0)
	x.wantFiles(0, "1")
	x.moveFilesToLevel(2, 0)
	x.wantFiles(0, "0,0,2")
	return r
}

func TestDBRangeDelTest_OversizeCompactionGapBetweenPointKeyAndTombstone(t *testing.T) {
	x := newDBTest(t)
	r := x.grandparents(8, -1)
	x.mustPut(0, key(0), r.str(1<<10))
	x.deleteRange(0, key(5), key(6))
	x.puts(0, key(8), r.str(1<<10), "flush")
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,3,2")
}

func TestDBRangeDelTest_OversizeCompactionGapBetweenTombstone(t *testing.T) {
	x := newDBTest(t)
	x.grandparents(8, -1)
	x.deleteRange(0, key(0), key(1))
	x.deleteRange(0, key(7), key(8))
	x.flush(0)
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,2,2")
}

func TestDBRangeDelTest_OversizeCompactionPointKeyWithinRangetombstone(t *testing.T) {
	x := newDBTest(t)
	r := x.grandparents(9, 5)
	x.deleteRange(0, key(0), key(9))
	x.puts(0, key(5), r.str(1<<10), "flush")
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,2,2")
}

func TestDBRangeDelTest_OverlappedTombstones(t *testing.T) {
	x := newDBTest(t)
	x.grandparents(8, -1)
	x.deleteRange(0, key(1), key(9))
	x.flush(0)
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,1,2") // a tombstone is not cut
	x.compactLevel(1, "", "")
	x.wantFiles(0, "0,0,1")
}

func TestDBRangeDelTest_OverlappedKeys(t *testing.T) {
	x := newDBTest(t)
	x.grandparents(8, -1)
	for i := 1; i < 9; i++ {
		x.mustPut(0, key(i), "0x123")
	}
	x.flush(0)
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,3,2")
	x.compactLevel(1, "", "")
	x.wantFiles(0, "0,0,3")
}

// Port of db/external_sst_file_test.cc. Differs: what needs sync points is in
// external_sst_file_syncpoint_test.go.

package db_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
)

// add is a file's way into the database; the zero value refuses sequence
// numbers.
type add struct {
	seqno, writeSeqno, noVerify, behind, fillCache, twoPhase, fileInfo bool
}

// addEntries makes a file of the next number and ingests it into a family.
func (x *extTest) addEntries(cf int, o rocksdb.Options, es []extEntry, a add) error {
	x.id++
	path, info, err := x.tryWrite(o, nil, fmt.Sprint(x.id), es)
	if err != nil {
		return err
	}
	arg := rocksdb.IngestExternalFileArg{ColumnFamily: x.cf(cf), ExternalFiles: []string{path}, Options: *ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.AllowGlobalSeqno, o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = a.seqno, a.seqno && a.writeSeqno, !a.noVerify
		o.IngestBehind, o.FillCache = a.behind, a.fillCache
	})}
	if a.fileInfo {
		arg.FileInfos = []*rocksdb.PreparedFileInfo{info.PreparedFileInfo}
	}
	if a.twoPhase {
		h, err := x.db.PrepareFileIngestion([]rocksdb.IngestExternalFileArg{arg})
		if err != nil {
			return err
		}
		err = x.db.CommitFileIngestionHandle(h)
		if err != nil {
			return err
		}
	} else if err := x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}); err != nil {
		return err
	}
	if cf == 0 {
		applyTo(x.data, es)
	}
	return nil
}

// addKeys is addEntries of puts of keys, whose values name the file.
func (x *extTest) addKeys(o rocksdb.Options, a add, keys ...int) error {
	return x.addEntries(0, o, entriesOf(keys, "P", nil, x.id+1), a)
}

// deprecatedAdd is addFile as this suite does it.
func (x *extTest) deprecatedAdd(files []string, move, skipSnapshotCheck bool) error {
	return x.db.IngestExternalFile(files, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.MoveFiles, o.SnapshotConsistency = move, !skipSnapshotCheck
		o.AllowGlobalSeqno, o.AllowBlockingFlush, o.WriteGlobalSeqno = false, false, true
	}))
}

func (x *extTest) argOf(cf int, files ...string) rocksdb.IngestExternalFileArg {
	return rocksdb.IngestExternalFileArg{ColumnFamily: x.cf(cf), ExternalFiles: files, Options: *ingestOptions()}
}

func (x *extTest) prepare(args ...rocksdb.IngestExternalFileArg) *rocksdb.FileIngestionHandle {
	x.Helper()
	h, err := x.db.PrepareFileIngestion(args)
	x.must(err)
	return h
}

func TestExternalSSTFileTest_IngestionTimingHistogram(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Statistics.SetStatsLevel(rocksdb.StatsLevelAll)
	x.destroyAndReopen(o)
	want := func(n uint64) {
		t.Helper()
		for _, h := range []rocksdb.Histogram{rocksdb.HistIngestExternalFilePrepareTime, rocksdb.HistIngestExternalFileRunTime} {
			if d := o.Statistics.GetHistogramData(h); d.Count != n || d.Max <= 0 {
				t.Fatalf("histogram %d: %+v", h, d)
			}
		}
	}
	x.must(x.addEntries(0, o, kv("k1", "v1", "k2", "v2", "k3", "v3"), add{seqno: true}))
	want(1)
	x.must(x.addEntries(0, o, kv("k4", "v4", "k5", "v5"), add{seqno: true}))
	want(2)
	x.wantErr(x.db.IngestExternalFile([]string{"/path/does/not/exist.sst"}, nil))
	want(2)
}

func TestExternalSSTFileTest_PrepareThenCommit(t *testing.T) {
	x := newExtTest(t)
	h := x.prepare(x.argOf(0, x.write(x.currentOptions(), "only_1", kv("k1", "v1", "k2", "v2", "k3", "v3"))))
	x.wantGet(0, "k1", "NOT_FOUND")
	// It is not forgotten.
	if err := x.db.Close(); rocksdb.CodeOf(err) != rocksdb.CodeAborted {
		t.Fatal(err)
	}
	x.must(x.db.CommitFileIngestionHandle(h))
	x.wantAll(0, "k1", "v1", "k2", "v2", "k3", "v3")
}

func TestExternalSSTFileTest_ParallelFileOpenWithFileOpeningThreads(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.MaxOpenFiles = -1
	x.destroyAndReopen(o)
	var files []string
	for f := range 8 {
		es := puts(f*50, f*50+50, "val")
		files = append(files, x.write(o, fmt.Sprint(f), es))
		applyTo(x.data, es)
	}
	x.must(x.db.IngestExternalFile(files, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.FileOpeningThreads = 4 })))
	x.verify(x.data)
}

func TestExternalSSTFileTest_LmaxPrefetchSkipDoesNotDisableL0Prefetch(t *testing.T) {
	x := newExtTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache = rocksdb.NewLRUCache(32 << 20)
	b.CacheIndexAndFilterBlocks = true
	b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.MaxOpenFiles, o.NumLevels, o.OptimizeFiltersForHits = true, -1, 2, false
	o.Statistics = rocksdb.NewStatistics()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	ingest := func(name, value string, bottommost, prefetched bool) {
		t.Helper()
		path, info := x.writeInfo(o, name, kv(key(10), value))
		arg := x.argOf(0, path)
		arg.FileInfos = []*rocksdb.PreparedFileInfo{info.PreparedFileInfo}
		arg.Options.FailIfNotBottommostLevel, arg.Options.PrefetchLmaxIndexAndFilterBlocks = bottommost, false
		for _, k := range []rocksdb.Ticker{rocksdb.BlockCacheIndexAdd, rocksdb.BlockCacheFilterAdd} {
			o.Statistics.GetAndResetTickerCount(k)
		}
		x.must(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}))
		for _, k := range []rocksdb.Ticker{rocksdb.BlockCacheIndexAdd, rocksdb.BlockCacheFilterAdd} {
			if n := o.Statistics.GetAndResetTickerCount(k); (n > 0) != prefetched {
				t.Fatalf("%s: ticker %d is %d", name, k, n)
			}
		}
	}
	ingest("lazy_lmax.sst", "v10", true, false)
	x.wantFiles(0, "0,1")
	ingest("l0.sst", "v11", false, true)
	x.wantFiles(0, "1,1")
}

func TestExternalSSTFileTest_AbortPreparedIngestion(t *testing.T) {
	x := newExtTest(t)
	path := x.write(x.currentOptions(), "only_1", kv("x", "1"))
	h := x.prepare(x.argOf(0, path))
	x.must(h.Abort())
	x.wantGet(0, "x", "NOT_FOUND")
	if n := x.countFiles(rocksdb.TableFile); n != 0 {
		t.Fatalf("%d tables are left", n)
	}
	x.wantCode(x.db.CommitFileIngestionHandle(h), rocksdb.CodeInvalidArgument)
	x.wantCode(h.Abort(), rocksdb.CodeInvalidArgument)
	x.must(x.db.CommitFileIngestionHandle(x.prepare(x.argOf(0, path))))
	x.wantGet(0, "x", "1")
}

func TestExternalSSTFileTest_MultiHandleAtomicCommit(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF([]string{"cf1", "cf2", "cf3"}, o)
	h1 := x.prepare(x.argOf(1, x.write(o, "cf1", kv("a", "1"))), x.argOf(2, x.write(o, "cf2_1", kv("b", "h1", "b1", "10"))))
	h2 := x.prepare(x.argOf(2, x.write(o, "cf2_2", kv("b", "h2", "b2", "20"))), x.argOf(3, x.write(o, "cf3", kv("c", "3"))))
	x.wantGet(1, "a", "NOT_FOUND")
	x.wantGet(2, "b1", "NOT_FOUND")
	x.wantGet(3, "c", "NOT_FOUND")
	x.must(x.db.CommitFileIngestionHandles([]*rocksdb.FileIngestionHandle{h1, h2}))
	x.wantGet(1, "a", "1")
	x.wantAll(2, "b", "h2", "b1", "10", "b2", "20")
	x.wantGet(3, "c", "3")
}

func TestExternalSSTFileTest_MultiHandleSameColumnFamilyIncompatibleOptions(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	f1, f2 := x.write(o, "1", kv("a", "1")), x.write(o, "2", kv("b", "2"))
	noFill := x.argOf(0, f2)
	noFill.Options.FillCache = false
	h1, h2 := x.prepare(x.argOf(0, f1)), x.prepare(noFill)
	x.wantCode(x.db.CommitFileIngestionHandles([]*rocksdb.FileIngestionHandle{h1, h2}), rocksdb.CodeInvalidArgument)
	x.wantAll(0, "a", "NOT_FOUND", "b", "NOT_FOUND")
	x.must(x.db.CommitFileIngestionHandle(x.prepare(x.argOf(0, f1))))
	x.wantGet(0, "a", "1")
}

func TestExternalSSTFileTest_PrepareFileIngestionValidationErrors(t *testing.T) {
	x := newExtTest(t)
	_, err := x.db.PrepareFileIngestion(nil)
	x.wantCode(err, rocksdb.CodeInvalidArgument)
	arg := x.argOf(0, x.write(x.currentOptions(), "1", kv("k", "v")))
	arg.Options.MoveFiles, arg.Options.LinkFiles = true, true
	h, err := x.db.PrepareFileIngestion([]rocksdb.IngestExternalFileArg{arg})
	x.wantCode(err, rocksdb.CodeInvalidArgument)
	if h != nil {
		t.Fatal("a handle")
	}
}

func TestExternalSSTFileTest_IngestWithFileInfoRangeDeletion(t *testing.T) {
	x := newExtTest(t)
	x.mustPut(0, key(20), "live20")
	x.mustPut(0, key(25), "live25")
	x.flush(0)
	x.must(x.addEntries(0, x.currentOptions(), []extEntry{{'P', key(30), "v30"}, {'R', key(20), key(26)}}, add{seqno: true, fileInfo: true}))
	x.wantAll(0, key(20), "NOT_FOUND", key(25), "NOT_FOUND", key(30), "v30")
}

func TestExternalSSTFileTest_IngestWithFileInfoVerifiesChecksum(t *testing.T) {
	x := newExtTest(t)
	path, info := x.writeInfo(x.currentOptions(), "corrupt.sst", puts(0, 100, "v"))
	for i := range int64(8) {
		x.flipByte(path, 64+i)
	}
	arg := x.argOf(0, path)
	arg.FileInfos = []*rocksdb.PreparedFileInfo{info.PreparedFileInfo}
	arg.Options.VerifyChecksumsBeforeIngest = true
	x.wantCode(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}), rocksdb.CodeCorruption)
}

func TestExternalSSTFileTest_IngestWithFileInfoRejectsWriteGlobalSeqno(t *testing.T) {
	x := newExtTest(t)
	path, info := x.writeInfo(x.currentOptions(), "wgs.sst", kv(key(1), "v1"))
	arg := x.argOf(0, path)
	arg.FileInfos = []*rocksdb.PreparedFileInfo{info.PreparedFileInfo}
	arg.Options.WriteGlobalSeqno = true
	x.wantCode(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}), rocksdb.CodeInvalidArgument)
}

func TestExternalSSTFileTest_IngestWithFileInfoRejectsMissingDbGeneratedSeqnoBounds(t *testing.T) {
	x := newExtTest(t)
	path, info := x.writeInfo(x.currentOptions(), "missing_seqno_bounds.sst", kv(key(1), "v1"))
	missing := *info.PreparedFileInfo
	missing.TableProperties.KeySmallestSeqno, missing.TableProperties.KeyLargestSeqno = 1<<64-1, 1<<64-1
	arg := x.argOf(0, path)
	arg.FileInfos = []*rocksdb.PreparedFileInfo{&missing}
	arg.Options.AllowDBGeneratedFiles, arg.Options.SnapshotConsistency = true, false
	err := x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg})
	x.wantCode(err, rocksdb.CodeCorruption)
	if !strings.Contains(err.Error(), "Unknown largest seqno") {
		t.Fatal(err)
	}
}

func TestExternalSSTFileTest_IngestWithFileInfoPreparedKeyBoundTypes(t *testing.T) {
	x := newExtTest(t)
	_, info := x.writeInfo(x.currentOptions(), "prepared_key_bound_types.sst", []extEntry{{'P', key(10), "v10"}, {'R', key(20), key(30)}})
	check := func(k []byte, user string, seq uint64, typ dbformat.ValueType) {
		t.Helper()
		p, err := dbformat.ParseInternalKey(k, true)
		x.must(err)
		if string(p.UserKey) != user || p.Sequence != seq || p.Type != typ {
			t.Fatal(p.DebugString(true, false))
		}
	}
	check(info.PreparedFileInfo.Smallest, key(10), 0, dbformat.TypeValue)
	check(info.PreparedFileInfo.Largest, key(30), dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion)
}

func TestExternalSSTFileTest_ComparatorMismatch(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.Comparator = rocksdb.ReverseBytewiseComparator()
	path := x.write(o, "file.sst", kv("foo", "val", "bar", "val1"))
	x.wantErr(x.deprecatedAdd([]string{path}, false, false))
}

func TestExternalSSTFileTest_NoBlockCache(t *testing.T) {
	x := newExtTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache = rocksdb.NewLRUCache(32 << 20)
	b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	b.CacheIndexAndFilterBlocks = true
	o := x.currentOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.reopen(o)
	properties := func() {
		t.Helper()
		all, err := x.full().GetPropertiesOfAllTables(nil)
		x.must(err)
		for name, p := range all {
			if p.IndexSize == 0 || p.FilterSize == 0 {
				t.Fatalf("%s: %+v", name, p)
			}
		}
	}
	before := b.BlockCache.GetUsage()
	x.must(x.addKeys(o, add{fillCache: true}, 1, 2))
	x.wantFiles(0, "0,0,0,0,0,0,1")
	if b.BlockCache.GetUsage() <= before {
		t.Fatal("the block cache was not filled")
	}
	properties()
	before = b.BlockCache.GetUsage()
	x.must(x.addKeys(o, add{}, 3, 4))
	if n := b.BlockCache.GetUsage(); n != before {
		t.Fatalf("usage %d, before %d", n, before)
	}
	properties()
}

func TestExternalSSTFileTest_BasicWideColumn(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	w := rocksdb.NewSstFileWriter(o, nil)
	path := x.sst + "wide_column_file.sst"
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	columns := func(k int) rocksdb.WideColumns {
		v := key(k) + "_val"
		return rocksdb.WideColumns{{Name: []byte("attr_0"), Value: []byte(v + "_0")}, {Name: []byte("attr_1"), Value: []byte(v + "_1")}}
	}
	for k := range 10 {
		// In any order.
		c := columns(k)
		if k%2 == 1 {
			slices.Reverse(c)
		}
		x.must(w.PutEntity([]byte(key(k)), c))
	}
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	x.wantInfo(info, path, 10, key(0), key(9), 0, "", "")
	x.must(x.deprecatedAdd([]string{path}, true, false))
	it := x.db.NewIterator(nil)
	defer it.Close()
	k := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if got, want := wide.DumpWideColumns(it.Columns(), false), wide.DumpWideColumns(columns(k), false); string(it.Key()) != key(k) || got != want {
			t.Fatalf("%q: %s", it.Key(), got)
		}
		k++
	}
	x.must(it.Err())
	if k != 10 {
		t.Fatalf("%d entities", k)
	}
}

func TestExternalSSTFileTest_AddListAtomicity(t *testing.T) {
	x := newExtTest(t)
	for {
		o := x.currentOptions()
		x.recreateDir()
		var files []string
		for i := range 9 {
			path, info := x.writeInfo(o, fmt.Sprintf("file%d.sst", i), puts(i*100, i*100+100, "_val"))
			x.wantInfo(info, path, 100, key(i*100), key(i*100+99), 0, "", "")
			files = append(files, path)
		}
		x.wantErr(x.deprecatedAdd(append(slices.Clone(files), x.sst+"file9.sst"), false, false))
		for k := range 900 {
			x.wantGet(0, key(k), "NOT_FOUND")
		}
		x.must(x.deprecatedAdd(files, false, false))
		for k := range 900 {
			x.wantGet(0, key(k), key(k)+"_val")
		}
		if !x.changeOptions(skipPlainTable | skipFIFOCompaction) {
			return
		}
	}
}

func TestExternalSSTFileTest_SkipSnapshot(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	f1, f2 := x.write(o, "file1.sst", puts(0, 100, "_val")), x.write(o, "file2.sst", puts(100, 300, "_val"))
	x.must(x.deprecatedAdd([]string{f1}, false, false))
	s1 := x.db.GetSnapshot()
	x.wantErr(x.deprecatedAdd([]string{f2}, false, false))
	x.must(x.deprecatedAdd([]string{f2}, false, true))
	x.must(x.db.ReleaseSnapshot(s1))
	f3 := x.write(o, "file3.sst", puts(300, 400, "_val"))
	x.wantGet(0, key(300), "NOT_FOUND")
	s2 := x.db.GetSnapshot()
	x.must(x.deprecatedAdd([]string{f3}, false, true))
	x.wantGet(0, key(300), key(300)+"_val")
	x.wantGetAt(0, key(300), s2, key(300)+"_val")
	x.must(x.db.ReleaseSnapshot(s2))
}

func TestExternalSSTFileTest_MultiThreaded(t *testing.T) {
	const files, perFile = 10, 200
	x := newExtTest(t)
	for {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.recreateDir()
		x.destroyAndReopen(o)
		var names [files]string
		var wg sync.WaitGroup
		for i := range files {
			wg.Go(func() {
				path, _, err := x.tryWrite(o, nil, fmt.Sprintf("file_%d.sst", i), puts(i*perFile, (i+1)*perFile, ""))
				if err != nil {
					t.Error(err)
				}
				names[i] = path
			})
		}
		wg.Wait()
		var added atomic.Int32
		for id := range files {
			wg.Go(func() {
				first := id / 2 * 2
				list := names[first:min(first+2, files)]
				// Twice each; the second finds the keys, or the files moved.
				if x.deprecatedAdd(list, id%3 == 0, false) == nil {
					added.Add(int32(len(list)))
				}
			})
		}
		wg.Wait()
		if added.Load() != files {
			t.Fatalf("%d files were added", added.Load())
		}
		for k := 0; k < files*perFile; k += 100 {
			x.mustPut(0, key(k), key(k)+"_new")
		}
		for range 2 {
			for k := range files * perFile {
				want := key(k)
				if k%100 == 0 {
					want += "_new"
				}
				x.wantGet(0, key(k), want)
			}
			x.flush(0)
			x.compact(0, "", "")
		}
		if !x.changeOptions(skipPlainTable | skipFIFOCompaction) {
			return
		}
	}
}

func TestExternalSSTFileTest_IngestNonExistingFile(t *testing.T) {
	x := newExtTest(t)
	x.wantErr(x.db.IngestExternalFile([]string{"non_existing_file"}, nil))
	for range 2 {
		x.mustPut(0, key(1), key(1))
		x.mustPut(0, key(9), key(9))
		x.flush(0)
	}
	// Obsolete files are found: the failure let go of its file numbers.
	x.compact(0, "", "")
	x.must(x.full().TestWaitForCompact())
	if n := x.countFiles(rocksdb.TableFile); n != 1 {
		t.Fatalf("%d tables", n)
	}
}

func TestExternalSSTFileTest_CompactDuringAddFileRandom(t *testing.T) {
	const ranges = 100
	x := newExtTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.NumLevels = 2, 2
	x.destroyAndReopen(o)
	for id := range ranges {
		from := id * 10
		var keys []int
		for k := from + 1; k < from+10; k++ {
			keys = append(keys, k)
		}
		x.mustPut(0, key(from), key(from))
		x.mustPut(0, key(from+10), key(from+10))
		x.flush(0)
		var wg sync.WaitGroup
		if id%10 == 0 {
			wg.Go(func() {
				if err := x.db.CompactRange(nil, nil, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := x.addKeys(o, add{seqno: true}, keys...); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
	}
	for id := range ranges {
		from := id * 10
		x.wantGet(0, key(from), key(from))
		x.wantGet(0, key(from+10), key(from+10))
		for k := from + 1; k < from+10; k++ {
			x.wantGet(0, key(k), key(k)+fmt.Sprint(id+1))
		}
	}
}

func TestExternalSSTFileTest_AddExternalSstFileWithCustomCompartor(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.Comparator = rocksdb.ReverseBytewiseComparator()
	x.destroyAndReopen(o)
	var f []string
	for i := range 10 {
		es := puts(i*10, i*10+15, "")
		for j := range es {
			es[j].value = es[j].key
		}
		slices.Reverse(es)
		f = append(f, x.write(o, fmt.Sprintf("%d.sst", i), es))
	}
	x.wantErr(x.deprecatedAdd([]string{f[0], f[4], f[5], f[7]}, false, false)) // 4 and 5 overlap
	x.must(x.deprecatedAdd([]string{f[0], f[2]}, false, false))
	x.wantErr(x.deprecatedAdd([]string{f[3], f[7]}, false, false)) // 2 and 3 overlap
	x.must(x.deprecatedAdd([]string{f[4], f[6], f[8]}, false, false))
	for i := range 100 {
		want := key(i)
		if i%20 > 14 {
			want = "NOT_FOUND"
		}
		x.wantGet(0, key(i), want)
	}
}

func TestExternalSSTFileTest_CompactAddedFiles(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.NumLevels = 3
	x.destroyAndReopen(o)
	for _, keys := range [][]int{{1, 10}, {2, 9}, {3, 8}, {4, 7}} {
		x.must(x.addKeys(o, add{}, keys...))
	}
	x.compact(0, "", "")
	x.verify(x.data)
}

func TestExternalSSTFileTest_SstFileWriterNonSharedKeys(t *testing.T) {
	x := newExtTest(t)
	suffix := strings.Repeat("X", 100)
	var pairs []string
	for _, k := range []string{"A", "BB", "CC", "CXD", "CZZZ", "ZAAAX"} {
		pairs = append(pairs, k+suffix, "VAL")
	}
	x.must(x.deprecatedAdd([]string{x.write(x.currentOptions(), "not_shared", kv(pairs...))}, false, false))
	x.wantAll(0, pairs...)
}

func TestExternalSSTFileTest_DirtyExit(t *testing.T) {
	x := newExtTest(t)
	w := rocksdb.NewSstFileWriter(x.currentOptions(), nil)
	// Destroyed without Finish.
	x.must(w.Close())
	// Destroyed with a failing Finish.
	w = rocksdb.NewSstFileWriter(x.currentOptions(), nil)
	x.must(w.Open(x.sst+"/dirty_exit", rocksdb.TemperatureUnknown))
	x.wantErr(w.Finish(nil))
	x.must(w.Close())
}

func TestExternalSSTFileTest_FileWithCFInfo(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF([]string{"koko", "toto"}, o)
	file := func(cf int, name string) string {
		c := rocksdb.DefaultSstFileWriterOptions()
		if cf >= 0 {
			c.ColumnFamily = x.cf(cf)
		}
		path, _, err := x.tryWrite(o, &c, name, kv("K1", "V1", "K2", "V2"))
		x.must(err)
		return path
	}
	def, cf1, cf2, unknown := file(0, "default.sst"), file(1, "cf1.sst"), file(2, "cf2.sst"), file(-1, "unknown.sst")
	// A family takes its own files and those of no family.
	x.ingest(0, unknown)
	x.wantErr(x.cf(0).IngestExternalFile([]string{cf1}, nil))
	x.wantErr(x.cf(0).IngestExternalFile([]string{cf2}, nil))
	x.ingest(0, def)
	x.ingest(1, unknown)
	x.wantErr(x.cf(1).IngestExternalFile([]string{def}, nil))
	x.wantErr(x.cf(1).IngestExternalFile([]string{cf2}, nil))
	x.ingest(1, cf1)
	x.ingest(2, unknown)
	x.wantErr(x.cf(2).IngestExternalFile([]string{def}, nil))
	x.wantErr(x.cf(2).IngestExternalFile([]string{cf1}, nil))
	x.ingest(2, cf2)
	// A family that was dropped takes none.
	x.must(x.db.DropColumnFamily(x.cf(1)))
	x.wantErr(x.cf(1).IngestExternalFile([]string{unknown}, nil))
	x.ingest(2, unknown)
}

func TestExternalSSTFileTest_SkipBloomFilter(t *testing.T) {
	x := newExtTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	b.CacheIndexAndFilterBlocks = true
	o := x.currentOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	o.Statistics = rocksdb.NewStatistics()
	// The block cache's tickers tell whether filters were read.
	x.destroyAndReopen(o)
	x.ingest(0, x.write(o, "sst_with_bloom.sst", kv("Key1", "Value1")))
	x.wantGet(0, "Key1", "Value1")
	if n := o.Statistics.GetTickerCount(rocksdb.BlockCacheFilterHit) + o.Statistics.GetTickerCount(rocksdb.BlockCacheFilterMiss); n < 1 {
		t.Fatal("no filter was read")
	}
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	plain := o
	b.FilterPolicy = nil
	plain.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.ingest(0, x.write(plain, "sst_with_no_bloom.sst", kv("Key1", "Value1")))
	x.wantGet(0, "Key1", "Value1")
	if n := o.Statistics.GetTickerCount(rocksdb.BlockCacheFilterHit) + o.Statistics.GetTickerCount(rocksdb.BlockCacheFilterMiss); n != 0 {
		t.Fatalf("%d filters were read", n)
	}
}

func TestExternalSSTFileTest_SnapshotInconsistencyBug(t *testing.T) {
	const n = 10000
	x := newExtTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	for k := range n {
		x.mustPut(0, key(k), key(k)+"_V1")
	}
	s := x.db.GetSnapshot()
	// It overwrites all keys.
	x.must(x.addEntries(0, o, puts(0, n, "_V2"), add{seqno: true}))
	for k := range n {
		x.wantGetAt(0, key(k), s, key(k)+"_V1")
		x.wantGet(0, key(k), key(k)+"_V2")
	}
	x.must(x.db.ReleaseSnapshot(s))
}

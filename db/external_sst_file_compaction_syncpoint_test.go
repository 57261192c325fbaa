//go:build syncpoint

// Port of db/external_sst_file_test.cc (cases with sync points: compaction and
// writes at the same time, files that are not read).

package db_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// countPoint counts how often a point is passed.
func countPoint(name string) *atomic.Int32 {
	n := &atomic.Int32{}
	syncpoint.SetCallBack(name, func(any) { n.Add(1) })
	syncpoint.EnableProcessing()
	return n
}

const readPath = "ExternalSstFileIngestionJob::GetIngestedFileInfo:ReadPath"

func TestExternalSSTFileTest_IngestWithFileInfo(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	reads := countPoint(readPath)
	with := add{seqno: true, fileInfo: true}
	x.must(x.addEntries(0, o, kv(key(1), "a1", key(2), "a2", key(3), "a3"), with))
	if n := reads.Load(); n != 0 {
		t.Fatalf("%d files read", n)
	}
	x.mustPut(0, key(2), "old2")
	x.flush(0)
	x.must(x.addEntries(0, o, kv(key(2), "new2", key(4), "new4"), with))
	if n := reads.Load(); n != 0 {
		t.Fatalf("%d files read", n)
	}
	x.must(x.addEntries(0, o, kv(key(8), "c8"), add{seqno: true}))
	if reads.Load() == 0 {
		t.Error("no file read")
	}
	endSyncPoints()
	x.verify(x.data)
}

func TestExternalSSTFileTest_GetPreparedFileInfoForExternalSstIngestion(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	dir := x.dir + "_source"
	source, err := rocksdb.Open(dir, o)
	x.must(err)
	x.must(source.Put(nil, []byte(key(10)), []byte("v10")))
	x.must(source.Flush(nil))
	files := source.GetLiveFilesMetaData()
	if len(files) != 1 || files[0].LargestSeqno == 0 {
		t.Fatalf("files %v", files)
	}
	path := filepath.Join(files[0].Directory, files[0].RelativeFilename)
	for _, wrong := range []string{files[0].RelativeFilename, x.dir + "_wrong/" + files[0].RelativeFilename} {
		info, err := source.GetPreparedFileInfoForExternalSstIngestion(wrong)
		x.wantCode(err, rocksdb.CodeInvalidArgument)
		if info != nil {
			t.Error("information with an error")
		}
	}
	info, err := source.GetPreparedFileInfoForExternalSstIngestion(path)
	x.must(err)
	if info.FileSize != files[0].Size || info.TableProperties.KeyLargestSeqno != files[0].LargestSeqno {
		t.Errorf("size %d, largest number %d", info.FileSize, info.TableProperties.KeyLargestSeqno)
	}
	arg := x.argOf(0, path)
	arg.FileInfos = []*rocksdb.PreparedFileInfo{info}
	arg.Options.AllowDBGeneratedFiles, arg.Options.SnapshotConsistency = true, false
	reads := countPoint(readPath)
	x.must(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}))
	if n := reads.Load(); n != 0 {
		t.Errorf("%d files read", n)
	}
	endSyncPoints()
	x.wantGet(0, key(10), "v10")
	x.must(source.Close())
	x.must(os.RemoveAll(dir))
}

// heldCompaction holds the compaction that four flushes of write start; the
// result lets it end.
func (x *extTest) heldCompaction(write func()) (release func()) {
	inOrder([2]string{"test:Flushed", "BackgroundCallCompaction:0"},
		[2]string{"DBImpl::BackgroundCompaction:Start", "test:Compacting"},
		[2]string{"test:Ingested", "DBImpl::BackgroundCompaction:NonTrivial:AfterRun"})
	syncpoint.EnableProcessing()
	for range 4 {
		write()
		x.flush(0)
	}
	syncpoint.Process("test:Flushed")
	syncpoint.Process("test:Compacting")
	return func() { syncpoint.Process("test:Ingested") }
}

// putKeys puts keys from and to included.
func (x *extTest) putKeys(from, to int) {
	x.Helper()
	for k := from; k <= to; k++ {
		x.putRange(k, k, key(k)+"put")
	}
}

func TestExternalSSTFileTest_PickedLevel(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.DisableAutoCompactions, o.Level0FileNumCompactionTrigger, o.NumLevels = false, 4, 4
		x.destroyAndReopen(o)
		way := add{twoPhase: a.twoPhase}
		x.must(x.addKeys(o, way, 1, 10))
		x.wantFiles(0, "0,0,0,1")
		x.must(x.addKeys(o, way, 2, 9)) // overlaps the first
		x.wantFiles(0, "0,0,1,1")
		release := x.heldCompaction(func() {
			x.putKeys(3, 3)
			x.putKeys(8, 8)
		})
		x.wantFiles(0, "4,0,1,1")
		// Overlaps both files and the compaction's output.
		x.must(x.addKeys(o, add{seqno: true, twoPhase: a.twoPhase}, 4, 7))
		x.wantFiles(0, "5,0,1,1")
		x.must(x.addKeys(o, add{noVerify: true, twoPhase: a.twoPhase}, 9000, 9001)) // overlaps nothing
		x.wantFiles(0, "5,0,1,2")
		release()
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "1,1,1,2")
		x.verify(x.data)
		endSyncPoints()
	})
}

func TestExternalSSTFileTest_PickedLevelDynamic(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.Level0FileNumCompactionTrigger, o.NumLevels = false, 4, 4
	o.LevelCompactionDynamicLevelBytes = true
	x.destroyAndReopen(o)
	release := x.heldCompaction(func() {
		x.putKeys(20, 30)
		x.putKeys(50, 60)
	})
	// Overlaps the output of the compaction to the base level.
	x.must(x.addKeys(o, add{seqno: true}, 31, 32, 33, 34))
	x.wantFiles(0, "5")
	x.must(x.addKeys(o, add{}, 9000, 9001)) // does not
	x.wantFiles(0, "5,0,0,1")
	release()
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "1,0,0,2")

	o.DisableAutoCompactions = true
	x.reopen(o)
	for _, s := range []struct {
		keys []int
		want string
	}{{[]int{1, 15, 19}, "1,0,0,3"}, {[]int{1000, 1001, 1002}, "1,0,0,4"}, {[]int{500, 600, 700}, "1,0,0,5"},
		{[]int{2, 10}, "2,0,0,5"}, {[]int{3, 9}, "3,0,0,5"}} {
		x.must(x.addKeys(o, add{}, s.keys...))
		x.wantFiles(0, s.want)
	}
	x.verify(x.data)
	x.putKeys(5, 10)
	x.flush(0)
	x.wantFiles(0, "4,0,0,5")
	x.must(x.addKeys(o, add{}, 650, 651, 652))
	x.wantFiles(0, "5,0,0,5")
	x.verify(x.data)
	endSyncPoints()
}

func TestExternalSSTFileTest_AddFileTrivialMoveBug(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.NumLevels = 3
	o.IncreaseParallelism(20)
	x.destroyAndReopen(o)
	for _, keys := range [][]int{{1, 4}, {2, 3}, {10, 14}, {12, 13}, {20, 24}, {22, 23}} {
		x.must(x.addKeys(o, add{}, keys...))
	}
	var called atomic.Bool
	syncpoint.SetCallBack("CompactionJob::Run():Start", func(any) {
		if called.Swap(true) {
			return
		}
		if err := x.db.SetOptions(map[string]string{"max_bytes_for_level_base": "1"}); err != nil {
			t.Error(err)
		}
		// Fits into the last level, but overlaps what the compaction writes there.
		if err := x.addKeys(o, add{seqno: true}, 15, 16); err != nil {
			t.Error(err)
		}
	})
	syncpoint.EnableProcessing()
	co := rocksdb.DefaultCompactRangeOptions()
	co.ExclusiveManualCompaction = false
	x.must(x.db.CompactRange(&co, nil, nil))
	x.must(x.full().TestWaitForCompact())
	endSyncPoints()
	if !called.Load() {
		t.Error("no compaction")
	}
	x.verify(x.data)
}

func TestExternalSSTFileTest_WithUnorderedWrite(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.UnorderedWrite = true
	x.destroyAndReopen(o)
	inOrder([2]string{"DBImpl::WriteImpl:UnorderedWriteAfterWriteWAL", "test:Logged"},
		[2]string{"DBImpl::WaitForPendingWrites:BeforeBlock", "DBImpl::WriteImpl:BeforeUnorderedWriteMemtable"})
	syncpoint.SetCallBack("DBImpl::IngestExternalFile:NeedFlush", func(arg any) {
		if !*arg.(*bool) {
			t.Error("no flush needed")
		}
	})
	x.mustPut(0, "foo", "v1")
	syncpoint.EnableProcessing()
	var writer sync.WaitGroup
	writer.Go(func() {
		if err := x.put(0, "bar", "v2"); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process("test:Logged")
	x.must(x.addEntries(0, o, kv("bar", "v3"), add{seqno: true}))
	x.wantGet(0, "bar", "v3")
	writer.Wait()
	endSyncPoints()
}

func TestExternalSSTFileTest_CompactionDeadlock(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.NumLevels = 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 4, 4
	x.destroyAndReopen(o)
	inOrder([2]string{"DBImpl::DelayWrite:Wait", "test:Delayed"},
		[2]string{"test:Ingest", "DBImpl::AddFile:Start"},
		[2]string{"DBImpl::AddFile:MutexLock", "test:Locked"},
		[2]string{"test:Compact", "BackgroundCallCompaction:0"})
	syncpoint.EnableProcessing()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := x.addKeys(o, add{}, 5, 6); err != nil {
			t.Error(err)
		}
	})
	for k := 1; k <= 4; k++ {
		x.mustPut(0, key(k), "memtable")
		x.flush(0)
	}
	// Waits, at the head of the writers, for the compaction.
	wg.Go(func() {
		if err := x.put(0, key(10), "memtable"); err != nil {
			t.Error(err)
		}
	})
	for _, point := range []string{"test:Delayed", "test:Ingest", "test:Locked", "test:Compact"} {
		syncpoint.Process(point)
	}
	done := make(chan bool)
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the writers wait for each other")
	}
	endSyncPoints()
}

func TestExternalSSTFileTest_IngestFileWrittenWithCompressionDictionary(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.Compression = rocksdb.ZSTD
	o.CompressionOpts.MaxDictBytes, o.CompressionOpts.ZSTDMaxTrainBytes = 1<<14, 1<<18
	x.destroyAndReopen(o)
	dictionaries := countPoint("BlockBasedTableBuilder::WriteCompressionDictBlock:RawDict")
	rnd := util.NewRandom(301)
	var es []extEntry
	for k := range 1 << 10 {
		es = append(es, extEntry{'P', key(k), rnd.RandomString(1 << 10)})
	}
	x.must(x.addEntries(0, o, es, add{}))
	if n := dictionaries.Load(); n != 1 {
		t.Errorf("%d dictionaries", n)
	}
	endSyncPoints()
	x.verify(x.data)
}

func TestExternalSSTFileTest_OverlappingRanges(t *testing.T) {
	rnd := util.NewRandom(301)
	eachExtOptions(t, skipNone, func(x *extTest) {
		var seqno atomic.Uint64
		var needFlush, overlaps atomic.Bool
		syncpoint.SetCallBack("ExternalSstFileIngestionJob::Run", func(arg any) { seqno.Store(*arg.(*rocksdb.SequenceNumber)) })
		syncpoint.SetCallBack("DBImpl::IngestExternalFile:NeedFlush", func(arg any) { needFlush.Store(*arg.(*bool)) })
		syncpoint.SetCallBack("ExternalSstFileIngestionJob::AssignLevelAndSeqnoForIngestedFile", func(arg any) { overlaps.Store(*arg.(*bool)) })
		syncpoint.EnableProcessing()
		o := x.currentOptions()
		x.destroyAndReopen(o)
		universal := skipped(x.config, skipUniversalCompaction)
		for i := range 100 {
			from := int(rnd.Uniform(20000))
			to := from + 10 + int(rnd.Uniform(41))
			if i > 0 && i%5 == 0 {
				x.putRange(from, to, key(i)+"_put")
			} else {
				conflict := false
				for k := from; k <= to; k++ {
					_, has := x.data[key(k)]
					conflict = conflict || has
				}
				var es []extEntry
				for k := from; k <= to; k++ {
					es = append(es, extEntry{'P', key(k), key(i) + "_add_file"})
				}
				err := x.deprecatedAdd([]string{x.write(o, key(i), es)}, false, false)
				want := conflict || universal && (needFlush.Load() || seqno.Load() > 0 || overlaps.Load())
				if (err != nil) != want {
					x.Fatalf("range %d to %d: %v, conflict %t", from, to, err, want)
				}
				if err == nil {
					applyTo(x.data, es)
				}
			}
			if i > 0 && i%50 == 0 {
				x.flush(0)
			}
			if i > 0 && i%75 == 0 {
				x.compact(0, "", "")
			}
		}
		for k, v := range x.data {
			x.wantGet(0, k, v)
		}
		endSyncPoints()
	})
}

//go:build syncpoint

// Port of db/db_compaction_test.cc (order of level 0, levels that change, blob
// files, checksums handed to the file system).

package db_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/version"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// rangeConflict ingests k2 and k3 while k1 to k4 are compacted: the ingestion has
// chosen its level, and gives up the mutex for the MANIFEST, while the compaction
// passes the point at which it knows its own.
func rangeConflict(t *testing.T, point string, auto bool, levels int, compact func(x *dbTest)) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.DisableAutoCompactions = levels, !auto
	if auto {
		o.Level0FileNumCompactionTrigger = 1
	}
	x.destroyAndReopen(o)
	if auto {
		resume, inner := x.pauseCompactions(), compact
		compact = func(x *dbTest) {
			resume()
			inner(x)
		}
	}
	file := func(name string, keys ...string) string {
		return x.external(name, o, func(w *rocksdb.SstFileWriter) {
			for _, k := range keys {
				x.must(w.Put([]byte(k), []byte("v2")))
			}
		})
	}
	if levels == 3 { // later files with k2 go to level 1 or above
		x.ingest(file("dummy.sst", "k2"))
		x.wantFiles(0, "0,0,1")
	}
	x.puts(0, "k1", "v", "k4", "v", "flush")
	if levels == 3 {
		x.wantFiles(0, "1,0,1")
	} else {
		x.moveFilesToLevel(6, 0)
		x.wantFiles(0, "0,0,0,0,0,0,1")
	}
	s2 := file("ingested_s2.sst", "k2", "k3")
	syncpoint.SetCallBack("ExternalSstFileIngestionJob::Run", func(any) {
		// Once it is known, for the point itself passes after this callback.
		syncpoint.LoadDependency(syncpoint.Pair{Predecessor: point, Successor: "VersionSet::LogAndApply:WriteManifest"})
	})
	order("ExternalSstFileIngestionJob::Run", "PreCompaction")
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.ingest(s2)
	}()
	syncpoint.Process("PreCompaction")
	compact(x)
	<-done
	syncpoint.Reset()
}

func TestDBCompactionTestWithOngoingFileIngestionParam_RangeConflictCheck(t *testing.T) {
	from, to := []byte("k1"), []byte("k4")
	t.Run("AutoCompaction", func(t *testing.T) {
		rangeConflict(t, "DBImpl::BackgroundCompaction():AfterPickCompaction", true, 3, func(x *dbTest) { x.waitForCompact() })
	})
	t.Run("NonRefitLevelCompactRange", func(t *testing.T) {
		rangeConflict(t, "ColumnFamilyData::CompactRange:Return", false, 3, func(x *dbTest) { x.must(x.db.CompactRange(nil, from, to)) })
	})
	t.Run("RefitLevelCompactRange", func(t *testing.T) {
		rangeConflict(t, "DBImpl::CompactRange:PostRefitLevel", false, 7, func(x *dbTest) {
			cro := rocksdb.DefaultCompactRangeOptions()
			cro.ChangeLevel, cro.TargetLevel = true, 5
			err := x.db.CompactRange(&cro, from, to)
			x.wantIs(err, rocksdb.ErrNotSupported)
			if !strings.Contains(err.Error(), "some ongoing compaction's output") {
				x.Error(err)
			}
		})
	})
	t.Run("CompactFiles", func(t *testing.T) {
		rangeConflict(t, "DBImpl::CompactFilesImpl::PostSanitizeAndConvertCompactionInputFiles", false, 3, func(x *dbTest) {
			_, err := x.db.CompactFiles(nil, x.namesAt(0), 1, -1, nil)
			x.wantIs(err, rocksdb.ErrAborted)
			if !strings.Contains(err.Error(), "A running compaction is writing to the same output level") {
				x.Error(err)
			}
		})
	})
}

// namesAt are the names of a level's tables.
func (x *dbTest) namesAt(level int) (names []string) {
	for _, f := range x.db.GetColumnFamilyMetaData(nil).Levels[level].Files {
		names = append(names, f.Name)
	}
	return names
}

// misorderTest is a case of upstream's DBCompactionTestL0FilesMisorderCorruption:
// a compaction of ingested files must not make level 0 look newer than the
// memtable that is flushed next.
type misorderTest struct {
	*dbTest
	o        rocksdb.Options
	path     *atomic.Int64 // how often the compaction asked for was picked
	files    int
	snapshot rocksdb.Snapshot
}

func newMisorderTest(t *testing.T, style rocksdb.CompactionStyle, manual bool, set func(o *rocksdb.Options)) *misorderTest {
	x := &misorderTest{dbTest: newCompactionTest(t)}
	o := x.currentOptions()
	o.Compression, o.ForceConsistencyChecks, o.CompactionStyle, o.DisableAutoCompactions = rocksdb.NoCompression, true, style, manual
	switch style {
	case rocksdb.CompactionStyleLevel: // two less than the files that there are
		o.NumLevels, o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 7, 5, 2
		o.WriteBufferSize, o.MaxWriteBufferNumber = 2<<20, 6
	case rocksdb.CompactionStyleUniversal:
		o.NumLevels, o.Level0FileNumCompactionTrigger = 1, 5
	case rocksdb.CompactionStyleFIFO:
		o.MaxOpenFiles, o.NumLevels, o.Level0FileNumCompactionTrigger = -1, 1, 3
	}
	set(&o)
	x.o = o
	x.destroyAndReopen(o)
	if style != rocksdb.CompactionStyleLevel { // ingested files get a sequence number of their own
		x.snapshot = x.db.GetSnapshot()
	}
	return x
}

func (x *misorderTest) ingestOne(k, value string) {
	x.Helper()
	x.ingest(x.external("sst_file"+k, x.o, func(w *rocksdb.SstFileWriter) { x.must(w.Put([]byte(k), []byte(value))) }))
	x.files++
}

// old flushes a table of keys with old values.
func (x *misorderTest) old(keys ...string) {
	x.Helper()
	for _, k := range keys {
		x.mustPut(0, k, "old")
	}
	x.flush(0)
	x.files++
}

// pauseCompactions holds up the pool until the result is called.
func (x *dbTest) pauseCompactions() (resume func()) {
	x.poolSize(1, rocksdb.LowPriority) // whatever the options made of it
	task := x.newPoolSleeper()
	task.schedule(rocksdb.LowPriority)
	task.waitUntilSleeping()
	return func() {
		task.wakeUp()
		task.waitUntilDone()
	}
}

// newestOfLevel0 is the largest sequence number of the newest table.
func (x *misorderTest) newestOfLevel0() contract.SequenceNumber {
	var newest *version.FileMetaData
	for _, f := range x.level(0) {
		if newest == nil || f.FD.GetNumber() > newest.FD.GetNumber() {
			newest = f
		}
	}
	return newest.FD.LargestSeqno
}

// compactAndFlush compacts all of level 0, flushes the memtable, which is older
// than what was ingested, and wants its values all the same.
func (x *misorderTest) compactAndFlush(compact func(), keys ...string) {
	x.Helper()
	x.wantLevelFiles(0, x.files)
	compact()
	if x.path != nil && x.path.Load() == 0 {
		x.Error("the compaction was picked for another reason")
	}
	syncpoint.Reset()
	x.wantLevelFiles(0, 1)
	compacted := x.newestOfLevel0()
	x.flush(0)
	x.wantLevelFiles(0, 2)
	if flushed := x.newestOfLevel0(); flushed >= compacted {
		x.Errorf("the compacted table ends at %d, the flushed one at %d", compacted, flushed)
	}
	for _, k := range keys {
		x.wantGet(0, k, "new")
	}
	if x.snapshot != nil {
		x.db.ReleaseSnapshot(x.snapshot)
	}
	x.close()
}

func TestDBCompactionTestL0FilesMisorderCorruption_FlushAfterIntraL0LevelCompactionWithIngestedFile(t *testing.T) {
	x := newMisorderTest(t, rocksdb.CompactionStyleLevel, false, func(*rocksdb.Options) {})
	for i := range 10 {
		x.mustPut(0, key(i), "") // nothing is just moved
	}
	x.flush(0)
	x.compact(0, "", key(99))
	x.wantLevelFiles(0, 0)
	resume := x.pauseCompactions()
	var keys []string
	for i := range 6 {
		if keys = append(keys, key(i)); i%2 == 0 {
			x.ingestOne(key(i), "old")
		} else {
			x.old(key(i))
		}
	}
	for _, k := range keys {
		x.mustPut(0, k, "new")
	}
	x.wantLevelFiles(0, 6)
	x.ingestOne(key(6), "new")
	x.path = passes("PickCostBasedIntraL0Compaction")
	syncpoint.SetCallBack("PostPickFileToCompact", func(arg any) { *arg.(*bool) = false })
	syncpoint.EnableProcessing()
	x.compactAndFlush(func() { resume(); x.waitForCompact() }, append(keys, key(6))...)
}

func TestDBCompactionTestL0FilesMisorderCorruption_FlushAfterIntraL0UniversalCompactionWithIngestedFile(t *testing.T) {
	for _, c := range []struct {
		name, point   string
		amplification uint32
		width         uint32
		mark          func(s *version.StorageInfo, f *version.FileMetaData)
	}{
		{"PickPeriodicCompaction", "PostPickPeriodicCompaction", 200, 2,
			func(s *version.StorageInfo, f *version.FileMetaData) { s.TESTAddFileMarkedForPeriodicCompaction(0, f) }},
		{"PickCompactionToReduceSizeAmp", "PickCompactionToReduceSizeAmpReturnNonnullptr", 50, 2, nil},
		{"PickCompactionToReduceSortedRuns", "PickCompactionToReduceSortedRunsReturnNonnullptr", 400, 2, nil},
		{"PickDeleteTriggeredCompaction", "PickDeleteTriggeredCompactionReturnNonnullptr", 400, 6,
			func(s *version.StorageInfo, f *version.FileMetaData) { s.TESTAddFileMarkedForCompaction(0, f) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newMisorderTest(t, rocksdb.CompactionStyleUniversal, false, func(o *rocksdb.Options) {
				o.CompactionOptionsUniversal.MaxSizeAmplificationPercent, o.CompactionOptionsUniversal.MinMergeWidth = c.amplification, c.width
			})
			resume := x.pauseCompactions()
			x.old("k1", "k3")
			x.old("k4", "k5")
			x.old("k6", "k7")
			x.puts(0, "k1", "new", "k2", "new")
			x.ingestOne("k8", "dummy")
			x.ingestOne("k9", "dummy")
			if c.mark != nil {
				for _, f := range x.level(0) {
					c.mark(x.storage(0), f)
				}
			}
			x.path = new(atomic.Int64)
			syncpoint.SetCallBack(c.point, func(arg any) {
				if p, ok := arg.(*compaction.Compaction); !ok || p != nil {
					x.path.Add(1)
				}
			})
			syncpoint.EnableProcessing()
			x.compactAndFlush(func() { resume(); x.waitForCompact() }, "k1", "k2")
		})
	}
}

// threeFiles is a table of old values and two ingested ones, with new values in
// the memtable.
func (x *misorderTest) threeFiles() {
	x.Helper()
	x.old("k1", "k3")
	x.puts(0, "k1", "new", "k2", "new")
	x.ingestOne("k4", "dummy")
	x.ingestOne("k5", "dummy")
}

func TestDBCompactionTestL0FilesMisorderCorruption_FlushAfterIntraL0FIFOCompactionWithIngestedFile(t *testing.T) {
	x := newMisorderTest(t, rocksdb.CompactionStyleFIFO, false, func(o *rocksdb.Options) { o.CompactionOptionsFIFO.AllowCompaction = true })
	resume := x.pauseCompactions()
	x.threeFiles()
	x.path = passes("PickCostBasedIntraL0Compaction")
	syncpoint.EnableProcessing()
	x.compactAndFlush(func() { resume(); x.waitForCompact() }, "k1", "k2")
}

func eachMisorderStyle(t *testing.T, f func(x *misorderTest)) {
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleUniversal, rocksdb.CompactionStyleFIFO} {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			f(newMisorderTest(t, style, true, func(o *rocksdb.Options) { o.CompactionOptionsFIFO.AllowCompaction = true }))
		})
	}
}

func TestDBCompactionTestL0FilesMisorderCorruptionWithParam_FlushAfterIntraL0CompactFileWithIngestedFile(t *testing.T) {
	eachMisorderStyle(t, func(x *misorderTest) {
		x.threeFiles()
		x.compactAndFlush(func() {
			_, err := x.db.CompactFiles(nil, x.namesAt(0), 0, -1, nil)
			x.must(err)
		}, "k1", "k2")
	})
}

func TestDBCompactionTestL0FilesMisorderCorruptionWithParam_FlushAfterIntraL0CompactRangeWithIngestedFile(t *testing.T) {
	eachMisorderStyle(t, func(x *misorderTest) {
		x.threeFiles()
		if x.o.CompactionStyle == rocksdb.CompactionStyleFIFO {
			x.path = passes("PickCostBasedIntraL0Compaction")
			syncpoint.EnableProcessing()
		}
		x.compactAndFlush(func() { x.compact(0, "k3", "k5") }, "k1", "k2") // not what the memtable has
	})
}

func TestDBCompactionTest_SingleLevelUniveresal(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.DisableAutoCompactions, o.NumLevels = rocksdb.CompactionStyleUniversal, true, 1
	x.destroyAndReopen(o)
	rnd := util.NewRandom(31)
	for i := range 10 {
		for j := range 50 {
			x.mustPut(0, key(i*100+j), rnd.RandomString(50))
		}
		x.flush(0)
	}
	x.wantFiles(0, "10")
	x.compact(0, "", "")
	x.wantFiles(0, "1")
}

// sequences flushes ten tables, no two of which overlap.
func (x *dbTest) sequences() {
	x.Helper()
	for i := range 10 {
		for j := 1; j < 255; j++ {
			k := make([]byte, 11)
			k[10-i] = byte(j)
			x.mustPut(0, string(k), dummyString(i, 'A'))
		}
		x.flush(0)
	}
}

func TestDBCompactionTest_SingleOverlappingNonL0BottommostManualCompaction(t *testing.T) {
	for _, b := range []rocksdb.BottommostLevelCompaction{rocksdb.BottommostLevelCompactionForce, rocksdb.BottommostLevelCompactionForceOptimized} {
		x := newCompactionTest(t)
		o := x.currentOptions()
		o.DisableAutoCompactions, o.NumLevels = true, 7
		x.destroyAndReopen(o)
		x.sequences()
		x.moveFilesToLevel(4, 0)
		x.wantLevelFiles(4, 10)
		x.must(x.db.CompactRange(bottommost(b), nil, nil))
		x.wantLevelFiles(4, 1)
		x.close()
	}
}

func TestDBCompactionTestWithBottommostParam_SequenceKeysManualCompaction(t *testing.T) {
	for _, b := range []rocksdb.BottommostLevelCompaction{rocksdb.BottommostLevelCompactionSkip, rocksdb.BottommostLevelCompactionIfHaveCompactionFilter,
		rocksdb.BottommostLevelCompactionForce, rocksdb.BottommostLevelCompactionForceOptimized} {
		for _, dynamic := range []bool{false, true} {
			x := newCompactionTest(t)
			o := x.currentOptions()
			o.DisableAutoCompactions, o.NumLevels, o.LevelCompactionDynamicLevelBytes = true, 7, dynamic
			x.destroyAndReopen(o)
			x.sequences()
			x.wantFiles(0, "10")
			moves := passes("DBImpl::BackgroundCompaction:TrivialMove")
			syncpoint.EnableProcessing()
			x.must(x.db.CompactRange(bottommost(b), nil, nil))
			if moves.Load() == 0 {
				t.Error("level 0 was not just moved")
			}
			want, prefix := "10", "0,"
			if b == rocksdb.BottommostLevelCompactionForce || b == rocksdb.BottommostLevelCompactionForceOptimized {
				want = "1"
			}
			if dynamic {
				prefix = "0,0,0,0,0,0,"
			}
			x.wantFiles(0, prefix+want)
			x.close()
			syncpoint.Reset()
		}
	}
}

// subcompactionsOf changes max_subcompactions from 10 to 2, and wants compactions
// picked with each.
func subcompactionsOf(t *testing.T, style rocksdb.CompactionStyle, point string) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.MaxSubcompactions, o.CompactionStyle, o.TargetFileSizeBase = 10, style, 1<<10
	x.destroyAndReopen(o)
	for _, n := range []uint32{10, 2} {
		if n != 10 {
			x.setDBOptions("max_subcompactions", fmt.Sprint(n))
		}
		same(t, "max_subcompactions", x.db.GetDBOptions().MaxSubcompactions, n)
		var picked atomic.Int64
		syncpoint.SetCallBack(point, func(arg any) {
			if c := arg.(*compaction.Compaction); c != nil {
				picked.Add(1)
				if c.MaxSubcompactions() != n {
					t.Errorf("%d parts, not %d", c.MaxSubcompactions(), n)
				}
			}
		})
		syncpoint.EnableProcessing()
		for range 8 {
			for i := range 500 {
				x.mustPut(0, fmt.Sprint(i), "A")
			}
			x.flush(0)
		}
		x.waitForCompact()
		if picked.Load() == 0 {
			t.Error("no compaction")
		}
		syncpoint.Reset()
	}
}

func TestDBCompactionTest_UpdateLevelSubCompactionTest(t *testing.T) {
	subcompactionsOf(t, rocksdb.CompactionStyleLevel, "LevelCompactionPicker::PickCompaction:Return")
}

func TestDBCompactionTest_UpdateUniversalSubCompactionTest(t *testing.T) {
	subcompactionsOf(t, rocksdb.CompactionStyleUniversal, "UniversalCompactionBuilder::PickCompaction:Return")
}

func toLevel(level int) *rocksdb.CompactRangeOptions {
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, level
	return &cro
}

func TestChangeLevelConflictsWithAuto_TestConflict(t *testing.T) {
	for _, level := range []int{0, 1} {
		x := newCompactionTest(t)
		o := x.currentOptions()
		o.Level0FileNumCompactionTrigger = 2
		x.reopen(o)
		x.puts(0, "foo", "v1", "bar", "v1", "flush")
		x.changeLevel(2)
		x.wantFiles(0, "0,0,1")
		order("DBImpl::CompactRange:BeforeRefit:1", "AutoCompactionFinished1", "AutoCompactionFinished2", "DBImpl::CompactRange:BeforeRefit:2")
		done := make(chan struct{})
		go func() {
			defer close(done)
			syncpoint.Process("AutoCompactionFinished1")
			x.puts(0, "bar", "v2", "foo", "v2", "flush", "bar", "v3", "foo", "v3", "flush")
			x.waitForCompact()
			syncpoint.Process("AutoCompactionFinished2")
		}()
		if x.db.CompactRange(toLevel(level), nil, nil) == nil {
			t.Error("moved into a level that is not empty")
		}
		<-done
		syncpoint.Reset()
		x.wantGet(0, "foo", "v3")
		x.close()
	}
}

// refitTest has tables in all of three levels.
func refitTest(t *testing.T) (x *dbTest, next int) {
	x = newCompactionTest(t)
	o := x.currentOptions()
	o.MemtableFactory, o.Level0FileNumCompactionTrigger, o.NumLevels = newSpecialSkipListFactory(99), 2, 3
	x.reopen(o)
	rnd, k := util.NewRandom(301), 0
	x.generateFile(0, rnd, &k, true)
	x.wantFiles(0, "1")
	x.changeLevel(2)
	x.wantFiles(0, "0,0,2")
	first := k
	x.generateFile(0, rnd, &k, true)
	x.generateFile(0, rnd, &k, true)
	x.wantFiles(0, "1,1,2")
	return x, first
}

func TestDBCompactionTest_ChangeLevelCompactRangeConflictsWithManual(t *testing.T) {
	const point = "DBCompactionTest::ChangeLevelCompactRangeConflictsWithManual:"
	x, _ := refitTest(t)
	order("DBImpl::RunManualCompaction()::1", point+"PutFG", point+"FlushedFG", "DBImpl::RunManualCompaction()::2",
		"DBImpl::CompactRange:PreRefitLevel", point+"CompactFG", point+"CompactedFG", "DBImpl::CompactRange:PostRefitLevel")
	done := make(chan error)
	go func() { done <- x.db.CompactRange(toLevel(1), nil, nil) }()
	// A new table, between the compactions of two levels, that overlaps one of
	// those which are moved.
	syncpoint.Process(point + "PutFG")
	x.puts(0, key(1), "val", "flush")
	syncpoint.Process(point + "FlushedFG")
	syncpoint.Process(point + "CompactFG")
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrIncomplete)
	syncpoint.Process(point + "CompactedFG")
	x.must(<-done)
	syncpoint.Reset()
}

func TestDBCompactionTest_ChangeLevelErrorPathTest(t *testing.T) {
	x, first := refitTest(t)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,2,2")
	// Only the last level has these keys.
	if x.db.CompactRange(toLevel(1), []byte(key(0)), []byte(key(first-1))) == nil {
		t.Error("moved into a level that is not empty")
	}
	x.wantFiles(0, "0,2,2")
	x.changeLevel(1)
	x.wantFiles(0, "0,5")
}

// threeVersions flushes two keys three times, and lets blobs be written.
func (x *dbTest) threeVersions() {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	for _, v := range []string{"first_value", "second_value", "third_value"} {
		x.puts(0, "first_key", v, "second_key", v, "flush")
	}
	o.EnableBlobFiles = true
	x.reopen(o)
}

func (x *dbTest) compactionStats(level int) db.CompactionStats {
	return x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats()[level]
}

func TestDBCompactionTest_CompactionWithBlob(t *testing.T) {
	x := newCompactionTest(t)
	x.threeVersions()
	x.compact(0, "", "")
	x.wantGet(0, "first_key", "third_value")
	x.wantGet(0, "second_key", "third_value")
	tables, blobs := x.level(1), x.storage(0).GetBlobFiles()
	if len(tables) != 1 || len(blobs) != 1 {
		t.Fatalf("%d tables, %d blob files", len(tables), len(blobs))
	}
	table, blob := tables[0], blobs[0]
	same(t, "smallest key", string(table.Smallest.UserKey()), "first_key")
	same(t, "largest key", string(table.Largest.UserKey()), "second_key")
	same(t, "oldest blob file", table.OldestBlobFileNumber, blob.GetBlobFileNumber())
	same(t, "blobs", blob.GetTotalBlobCount(), 2)
	s := x.compactionStats(1)
	same(t, "bytes of blobs read", s.BytesReadBlob, 0)
	same(t, "bytes of tables", s.BytesWritten, table.FD.GetFileSize())
	same(t, "bytes of blobs", s.BytesWrittenBlob, blob.GetTotalBlobBytes())
	same(t, "tables", s.NumOutputFiles, 1)
	same(t, "blob files", s.NumOutputFilesBlob, 1)
}

func TestDBCompactionTestBlobError_CompactionError(t *testing.T) {
	for point, tables := range map[string]int{"BlobFileBuilder::WriteBlobToFile:AddRecord": 0, "BlobFileBuilder::WriteBlobToFile:AppendFooter": 1} {
		t.Run(point, func(t *testing.T) {
			x := newCompactionTest(t)
			x.threeVersions()
			syncpoint.SetCallBack(point, func(arg any) { *arg.(*error) = rocksdb.IOError(point) })
			syncpoint.EnableProcessing()
			x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrIOError)
			syncpoint.Reset()
			if len(x.level(1)) > 0 || len(x.storage(0).GetBlobFiles()) > 0 {
				t.Error("files were installed")
			}
			s := x.compactionStats(1)
			same(t, "bytes of blobs read", s.BytesReadBlob, 0)
			same(t, "bytes of blobs", s.BytesWrittenBlob, 0)
			same(t, "blob files", s.NumOutputFilesBlob, 0)
			same(t, "tables", s.NumOutputFiles, tables) // the table of an unfinished blob file was written
			same(t, "bytes of tables were written", s.BytesWritten > 0, tables > 0)
		})
	}
}

func (x *dbTest) blobNumbers() (list []uint64) {
	for _, f := range x.storage(0).GetBlobFiles() {
		list = append(list, f.GetBlobFileNumber())
	}
	return list
}

// eachBlobGC runs f with a database of one blob a file, whose compactions collect
// the files up to a cutoff.
func eachBlobGC(t *testing.T, f func(x *dbTest, cutoff float64, keepBlobs bool)) {
	for _, cutoff := range []float64{0, 0.5, 1} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("cutoff=%g,blobs=%t", cutoff, keep), func(t *testing.T) {
				x := newCompactionTest(t)
				o := x.currentOptions()
				o.DisableAutoCompactions, o.EnableBlobFiles, o.BlobFileSize, o.EnableBlobGarbageCollection = true, true, 32, true
				o.BlobGarbageCollectionAgeCutoff = cutoff
				x.destroyAndReopen(o)
				f(x, cutoff, keep)
			})
		}
	}
}

// wantCollected wants the first files of before to be gone, and the others to be
// the first of those that there are.
func (x *dbTest) wantCollected(before []uint64, gone, files int) {
	x.Helper()
	now := x.blobNumbers()
	same(x, "blob files", len(now), files)
	for i, n := range before[gone:] {
		same(x, "blob file", now[i], n)
	}
}

func TestDBCompactionTestBlobGC_CompactionWithBlobGCOverrides(t *testing.T) {
	const n = 128
	eachBlobGC(t, func(x *dbTest, cutoff float64, _ bool) {
		x.setOptions("blob_garbage_collection_age_cutoff", "0")
		for i := range n {
			x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
			if i%2 == 1 {
				x.flush(0)
			}
		}
		before := x.blobNumbers()
		same(x, "blob files", len(before), n)
		x.setOptions("enable_blob_files", "false") // what is collected goes to the tables
		cro := rocksdb.DefaultCompactRangeOptions()
		cro.BlobGarbageCollectionPolicy, cro.BlobGarbageCollectionAgeCutoff = contract.BlobGarbageCollectionPolicyForce, cutoff
		x.must(x.db.CompactRange(&cro, nil, nil))
		same(x, "bytes of blobs", x.compactionStats(1).BytesWrittenBlob, 0)
		gone := int(cutoff * n)
		x.wantCollected(before, gone, n-gone)
		for i := range n {
			x.wantGet(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
		}
	})
}

func TestDBCompactionTestBlobGC_CompactionWithBlobGC(t *testing.T) {
	eachBlobGC(t, func(x *dbTest, cutoff float64, keepBlobs bool) {
		x.puts(0, "first_key", "first_value", "second_key", "second_value", "flush", "third_key", "third_value", "fourth_key", "fourth_value", "flush")
		before := x.blobNumbers()
		same(x, "blob files", len(before), 4)
		gone, files := int(cutoff*4), 4
		if !keepBlobs {
			x.setOptions("enable_blob_files", "false")
			files -= gone
		}
		x.compact(0, "", "")
		for _, k := range []string{"first", "second", "third", "fourth"} {
			x.wantGet(0, k+"_key", k+"_value")
		}
		x.wantCollected(before, gone, files)
		s := x.compactionStats(1)
		same(x, "blobs were read", s.BytesReadBlob > 0, cutoff > 0)
		if cutoff > 0 && keepBlobs {
			same(x, "bytes of blobs", s.BytesWrittenBlob, s.BytesReadBlob)
		} else {
			same(x, "bytes of blobs", s.BytesWrittenBlob, 0)
		}
	})
}

// blobGCError compacts tables of which the last has what last writes, and wants
// a corruption.
func blobGCError(t *testing.T, minSize uint64, last func(x *dbTest)) {
	x := newCompactionTest(t)
	o := x.plainOptions()
	o.DisableAutoCompactions, o.EnableBlobFiles, o.MinBlobSize, o.EnableBlobGarbageCollection = true, true, minSize, true
	o.BlobGarbageCollectionAgeCutoff = 1
	x.reopen(o)
	x.puts(0, "first_key", "first_value", "second_key", "second_value", "flush", "third_key", "third_value")
	last(x)
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrCorruption)
	syncpoint.Reset()
}

func TestDBCompactionTest_CompactionWithBlobGCError_CorruptIndex(t *testing.T) {
	blobGCError(t, 0, func(x *dbTest) {
		x.puts(0, "fourth_key", "fourth_value", "flush")
		syncpoint.SetCallBack("CompactionIterator::GarbageCollectBlobIfNeeded::TamperWithBlobIndex", func(arg any) {
			index := arg.(*[]byte)
			*index = (*index)[1:]
		})
		syncpoint.EnableProcessing()
	})
}

func TestDBCompactionTest_CompactionWithBlobGCError_InlinedTTLIndex(t *testing.T) {
	blobGCError(t, 10, func(x *dbTest) {
		x.fakeIndex("fourth_key", blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("short")))
	})
}

func TestDBCompactionTest_CompactionWithBlobGCError_IndexWithInvalidFileNumber(t *testing.T) {
	blobGCError(t, 0, func(x *dbTest) {
		x.fakeIndex("fourth_key", blobformat.EncodeBlob(nil, 1000, 1234, 5678, rocksdb.NoCompression))
	})
}

// handoffTest lets compactions write with checksums of their data.
type handoffTest struct {
	*dbTest
	o rocksdb.Options
}

func newHandoffTest(t *testing.T, types ...rocksdb.FileType) *handoffTest {
	x := &handoffTest{dbTest: newCompactionTest(t)}
	x.o = x.currentOptions()
	x.o.Level0FileNumCompactionTrigger, x.o.NumLevels = 2, 3
	x.o.ChecksumHandoffFileTypes = contract.NewFileTypeSet(types...)
	x.Cleanup(x.fault.NoDataCorruptionBeforeWrite)
	return x
}

// compaction flushes two tables in a fresh database whose file system checks sums
// of the kind, and gives what their compaction, before which something happens,
// comes to.
func (x *handoffTest) compaction(kind rocksdb.ChecksumType, before func()) error {
	x.Helper()
	x.fault.SetChecksumHandoffFuncType(kind)
	x.destroyAndReopen(x.o)
	x.puts(0, key(0), "value1", key(2), "value2", "flush")
	if before != nil {
		var once sync.Once
		syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) { once.Do(before) })
		order("DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0")
	}
	x.puts(0, key(1), "value3", "flush")
	err := x.full().TestWaitForCompact()
	syncpoint.Reset()
	x.fault.NoDataCorruptionBeforeWrite()
	return err
}

// otherSum makes the file system expect another kind of checksum.
func (x *handoffTest) otherSum() { x.fault.SetChecksumHandoffFuncType(rocksdb.XXHash) }

func TestDBCompactionTest_CompactionWithChecksumHandoff1(t *testing.T) {
	x := newHandoffTest(t, rocksdb.TableFile)
	x.must(x.compaction(rocksdb.CRC32c, nil))
	x.wantSeverity(x.compaction(rocksdb.CRC32c, x.otherSum), contract.SeverityUnrecoverableError)
	x.must(x.compaction(rocksdb.NoChecksum, nil))
	x.wantSeverity(x.compaction(rocksdb.CRC32c, x.fault.IngestDataCorruptionBeforeWrite), contract.SeverityUnrecoverableError)
}

func TestDBCompactionTest_CompactionWithChecksumHandoff2(t *testing.T) {
	x := newHandoffTest(t) // nobody asks for checksums
	x.must(x.compaction(rocksdb.CRC32c, nil))
	x.must(x.compaction(rocksdb.CRC32c, x.otherSum))
	x.must(x.compaction(rocksdb.NoChecksum, nil))
	x.must(x.compaction(rocksdb.CRC32c, x.fault.IngestDataCorruptionBeforeWrite))
}

func TestDBCompactionTest_CompactionWithChecksumHandoffManifest1(t *testing.T) {
	x := newHandoffTest(t, rocksdb.DescriptorFile)
	x.must(x.compaction(rocksdb.CRC32c, nil))
	x.wantSeverity(x.compaction(rocksdb.CRC32c, x.otherSum), contract.SeverityFatalError)
}

func TestDBCompactionTest_CompactionWithChecksumHandoffManifest2(t *testing.T) {
	x := newHandoffTest(t, rocksdb.DescriptorFile)
	x.must(x.compaction(rocksdb.NoChecksum, nil))
	x.wantSeverity(x.compaction(rocksdb.CRC32c, x.fault.IngestDataCorruptionBeforeWrite), contract.SeverityFatalError)
}

func TestDBCompactionTest_CompactFilesSupportKeyPlacementRangeConflict(t *testing.T) {
	x := newCompactionTest(t)
	o := x.plainOptions()
	o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 3
	x.destroyAndReopen(o)
	x.puts(0, "k1", "v", "k5", "v", "flush")
	x.must(x.db.CompactRange(forceOptimized(), nil, nil))
	x.wantFiles(0, "0,0,1")
	x.puts(0, "k3", "v", "flush", "k4", "v", "flush")
	x.must(x.cf(0).PromoteL0(1))
	x.wantFiles(0, "0,2,1")
	x.puts(0, "k2", "v", "flush")
	x.wantFiles(0, "1,2,1")
	o.PrecludeLastLevelDataSeconds = 1
	x.reopen(o)
	first, second, last := x.namesAt(0), x.namesAt(1), x.namesAt(2)
	compact := func(level int, names ...string) error {
		_, err := x.db.CompactFiles(nil, names, level, -1, nil)
		return err
	}
	// The compaction into the last level writes to the one above as well, where
	// the other one does.
	syncpoint.SetCallBack("CompactFilesImpl:0", func(any) { x.wantIs(compact(2, second[1], last[0]), rocksdb.ErrAborted) })
	syncpoint.EnableProcessing()
	x.must(compact(1, first[0], second[0]))
	syncpoint.Reset()
}

//go:build syncpoint

// Port of db/db_compaction_abort_test.cc.

package db_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// abortTest is a database of what was last written to each key.
type abortTest struct {
	*dbTest
	expected map[string]string
}

func newAbortTest(t *testing.T, set func(o *rocksdb.Options)) *abortTest {
	x := &abortTest{newDBTest(t), map[string]string{}}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.MaxSubcompactions, o.DisableAutoCompactions = 4, 2, true
	o.Statistics = rocksdb.NewStatistics()
	set(&o)
	x.reopen(o)
	return x
}

// populate flushes files of so many keys, the same ones in each or not.
func (x *abortTest) populate(files, keys, size int, overlapping bool) {
	x.Helper()
	rnd := util.NewRandom(301)
	for i := range files {
		for j := range keys {
			k := key(j)
			if !overlapping {
				k = key(j + i*keys)
			}
			x.expected[k] = rnd.RandomString(size)
			x.mustPut(0, k, x.expected[k])
		}
		x.flush(0)
	}
}

func (x *abortTest) wantAll() {
	x.Helper()
	for k, v := range x.expected {
		x.wantGet(0, k, v)
	}
}

// abortAt aborts all compactions once a point is passed for the nth time, and
// holds that one until it knows. The result waits for the abort's end.
func (x *abortTest) abortAt(point string, n int) (wait func()) {
	order("DBImpl::AbortAllCompactions:FlagSet", "DBCompactionAbortTest::Aborting")
	done := make(chan struct{})
	var mu sync.Mutex
	syncpoint.SetCallBack(point, func(any) {
		mu.Lock()
		n--
		now := n == 0
		mu.Unlock()
		if now {
			go func() {
				x.db.AbortAllCompactions()
				close(done)
			}()
			syncpoint.Process("DBCompactionAbortTest::Aborting")
		}
	})
	return func() {
		<-done
		syncpoint.Reset()
	}
}

func (x *abortTest) wantAborted(err error) {
	x.Helper()
	x.wantIs(err, contract.AllCompactionsAborted())
}

// abortCompactRange aborts a manual compaction, and runs it again.
func (x *abortTest) abortCompactRange(point string, o *rocksdb.CompactRangeOptions) {
	x.Helper()
	written := x.ticker(rocksdb.CompactWriteBytes)
	wait := x.abortAt(point, 1)
	x.wantAborted(x.db.CompactRange(o, nil, nil))
	if x.ticker(rocksdb.CompactionAborted) == 0 {
		x.Error("the abort is not counted")
	}
	wait()
	same(x, "aborts", x.intProperty(0, contract.PropertyCompactionAbortCount), 1)
	x.db.ResumeAllCompactions()
	same(x, "aborts", x.intProperty(0, contract.PropertyCompactionAbortCount), 0)
	x.must(x.db.CompactRange(o, nil, nil))
	if x.ticker(rocksdb.CompactWriteBytes) <= written {
		x.Error("nothing was compacted")
	}
	x.wantAll()
}

const (
	atPart  = "CompactionJob::ProcessKeyValueCompaction:Start"
	atParts = "CompactionJob::RunSubcompactions:BeforeStart"
)

func TestDBCompactionAbortSubcompactionTest_AbortWithVaryingSubcompactions(t *testing.T) {
	for _, sub := range []uint32{1, 2, 4} {
		t.Run(fmt.Sprint(sub), func(t *testing.T) {
			x := newAbortTest(t, func(o *rocksdb.Options) { o.MaxSubcompactions = sub })
			x.populate(4, 100, 100, true)
			x.abortCompactRange(atParts, nil)
		})
	}
}

func TestDBCompactionAbortStyleTest_AbortCompaction(t *testing.T) {
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal, rocksdb.CompactionStyleFIFO} {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			x := newAbortTest(t, func(o *rocksdb.Options) {
				o.MaxSubcompactions, o.CompactionStyle = 1, style
				o.CompactionOptionsUniversal.SizeRatio = 10
				if style == rocksdb.CompactionStyleFIFO { // nothing is deleted for its size
					o.CompactionOptionsFIFO.MaxTableFilesSize, o.CompactionOptionsFIFO.AllowCompaction, o.MaxOpenFiles = 100<<20, true, -1
				}
			})
			x.populate(4, 100, 100, true)
			x.abortCompactRange(atParts, nil)
		})
	}
}

func TestDBCompactionAbortTest_AbortManualCompaction(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger, o.MaxSubcompactions = 10, 1 })
	x.populate(5, 100, 1000, true)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction = true
	x.abortCompactRange(atPart, &cro)
}

func TestDBCompactionAbortTest_AbortAutomaticCompaction(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = false })
	wait := x.abortAt(atPart, 1)
	x.populate(4, 100, 1000, true)
	x.waitForCompact()
	wait()
	x.db.ResumeAllCompactions()
	x.populate(1, 100, 1000, true)
	x.waitForCompact()
	x.wantAll()
}

// What was aborted is tried again without a flush in between, where upstream
// waits for one.
func TestResumedCompaction(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = false })
	wait := x.abortAt(atPart, 1)
	x.populate(4, 100, 1000, true)
	x.waitForCompact()
	wait()
	x.wantFiles(0, "4")
	x.db.ResumeAllCompactions()
	x.waitForCompact()
	x.wantFiles(0, "0,1")
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortScheduledAutomaticCompactionBeforePick(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) {
		o.MaxBackgroundCompactions, o.MaxSubcompactions, o.DisableAutoCompactions = 1, 1, false
	})
	wait := x.abortAt("BackgroundCallCompaction:0", 1)
	x.populate(5, 100, 1000, true)
	wait()
	written := x.ticker(rocksdb.CompactWriteBytes)
	x.db.ResumeAllCompactions()
	x.waitForCompact()
	if x.ticker(rocksdb.CompactWriteBytes) <= written {
		t.Error("nothing was compacted")
	}
	if n := x.numTableFilesAtLevel(0, 0); n >= 5 {
		t.Errorf("%d files at level 0", n)
	}
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortAndVerifyNoOutputFiles(t *testing.T) {
	x := newAbortTest(t, func(*rocksdb.Options) {})
	x.populate(4, 100, 1000, true)
	wait := x.abortAt(atPart, 1)
	x.wantAborted(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "4")
	wait()
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "0,1")
	x.wantAll()
}

func TestDBCompactionAbortTest_MultipleAbortResumeSequence(t *testing.T) {
	x := newAbortTest(t, func(*rocksdb.Options) {})
	x.populate(4, 100, 1000, true)
	for range 3 {
		wait := x.abortAt(atPart, 1)
		x.wantAborted(x.db.CompactRange(nil, nil, nil))
		wait()
		x.db.ResumeAllCompactions()
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortWithOutputFilesCleanup(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.NumLevels, o.TargetFileSizeBase = 2, 50<<10 })
	x.populate(4, 100, 100, true)
	wait := x.abortAt(atParts, 1)
	x.wantAborted(x.db.CompactRange(nil, nil, nil))
	x.wantLevelFiles(1, 0)
	wait()
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "0,1")
	x.wantAll()
}

func TestDBCompactionAbortTest_NestedAbortResumeCalls(t *testing.T) {
	x := newAbortTest(t, func(*rocksdb.Options) {})
	x.populate(4, 100, 1000, true)
	x.db.AbortAllCompactions()
	x.db.AbortAllCompactions()
	x.db.ResumeAllCompactions()
	x.wantAborted(x.db.CompactRange(nil, nil, nil))
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortCompactFilesAPI(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 100 })
	x.populate(4, 100, 1000, true)
	var names []string
	for _, f := range x.db.GetColumnFamilyMetaData(nil).Levels[0].Files {
		names = append(names, f.Name)
	}
	compact := func() error {
		_, err := x.db.CompactFiles(nil, names, 1, -1, nil)
		return err
	}
	wait := x.abortAt(atPart, 1)
	x.wantAborted(compact())
	wait()
	x.wantAborted(compact())
	x.db.ResumeAllCompactions()
	x.must(compact())
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortDoesNotAffectFlush(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 100 })
	x.db.AbortAllCompactions()
	x.populate(2, 100, 1000, false)
	x.wantFiles(0, "2")
	x.db.ResumeAllCompactions()
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortBeforeCompactionStarts(t *testing.T) {
	x := newAbortTest(t, func(*rocksdb.Options) {})
	x.populate(4, 100, 1000, true)
	x.db.AbortAllCompactions()
	x.wantAborted(x.db.CompactRange(nil, nil, nil))
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantLevelFiles(0, 0)
}

func TestDBCompactionAbortTest_AbortWithInProgressFileCleanup(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) {
		o.MaxSubcompactions, o.TargetFileSizeBase = 1, 32<<10
		o.EnableBlobFiles, o.BlobFileSize, o.EnableBlobGarbageCollection = true, 1<<20, true
		o.BlobGarbageCollectionAgeCutoff, o.BlobGarbageCollectionForceThreshold = 1, 0
	})
	x.populate(4, 2000, 50, true) // more than the records between two looks at the abort
	wantOnlyLive := func() {
		t.Helper()
		m := x.db.GetColumnFamilyMetaData(nil)
		tables := 0
		for _, l := range m.Levels {
			tables += len(l.Files)
		}
		same(t, "tables", x.countFiles(rocksdb.TableFile), tables)
		same(t, "blob files", x.countFiles(rocksdb.BlobFile), len(m.BlobFiles))
		if tables == 0 || len(m.BlobFiles) == 0 {
			t.Fatal("no tables or no blob files")
		}
	}
	wantOnlyLive()
	wait := x.abortAt("BlobFileBuilder::WriteBlobToFile:AddRecord", 100)
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrIncomplete)
	wait()
	wantOnlyLive()
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortBottommostLevelCompaction(t *testing.T) {
	x := newAbortTest(t, func(o *rocksdb.Options) {
		o.NumLevels, o.Level0FileNumCompactionTrigger, o.MaxSubcompactions = 4, 2, 1
		o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 10<<10, 2
	})
	x.populate(6, 100, 500, false)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.populate(4, 100, 500, true)
	wait := x.abortAt(atPart, 1)
	o := bottommost(rocksdb.BottommostLevelCompactionForce)
	x.wantAborted(x.db.CompactRange(o, nil, nil))
	wait()
	x.db.ResumeAllCompactions()
	x.must(x.db.CompactRange(o, nil, nil))
	x.wantAll()
}

func TestDBCompactionAbortTest_AbortThenAtomicRangeReplace(t *testing.T) {
	x := newAbortTest(t, func(*rocksdb.Options) {})
	x.populate(4, 100, 500, true)
	x.wantAll()
	wait := x.abortAt(atPart, 1)
	x.wantAborted(x.db.CompactRange(nil, nil, nil))
	wait()
	rnd := util.NewRandom(42)
	file := x.external("atomic_replace_1.sst", x.last, func(w *rocksdb.SstFileWriter) {
		clear(x.expected)
		for i := range 50 {
			v := "replaced_" + rnd.RandomString(100)
			x.must(w.Put([]byte(key(i)), []byte(v)))
			x.expected[key(i)] = v
		}
	})
	replace := func(files ...string) error {
		o := rocksdb.DefaultIngestExternalFileOptions()
		o.SnapshotConsistency = false
		return x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: x.cf(0), ExternalFiles: files,
			Options: o, AtomicReplaceRange: &contract.RangeOpt{}}})
	}
	x.must(replace(file))
	x.db.ResumeAllCompactions()
	x.wantAll()
	for i := 50; i < 100; i++ {
		x.wantGet(0, key(i), "NOT_FOUND")
	}
}

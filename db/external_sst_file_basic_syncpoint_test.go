//go:build syncpoint

// Port of db/external_sst_file_basic_test.cc (what needs sync points).

package db_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestExternalSSTFileBasicTest_FadviseTrigger(t *testing.T) {
	x := newExtTest(t)
	var total uint64
	syncpoint.SetCallBack("SstFileWriter::Rep::InvalidatePageCache", func(arg any) { total += *arg.(*uint64) })
	syncpoint.EnableProcessing()
	var es []extEntry
	for i := range 10000 {
		es = append(es, extEntry{'P', key(i), key(i)})
	}
	c := rocksdb.DefaultSstFileWriterOptions()
	c.InvalidatePageCache = false
	_, _, err := x.tryWrite(x.currentOptions(), &c, "file_fadvise_disable.sst", es)
	x.must(err)
	if total != 0 {
		t.Fatalf("%d bytes", total)
	}
	c.InvalidatePageCache = true
	_, info, err := x.tryWrite(x.currentOptions(), &c, "file_fadvise_enable.sst", es)
	x.must(err)
	if total == 0 || total != info.FileSize {
		t.Fatalf("%d bytes of %d", total, info.FileSize)
	}
}

func TestExternalSSTFileBasicTest_SyncFailure(t *testing.T) {
	for i, step := range []string{"SyncIngestedFile", "SyncDir", "SyncGlobalSeqno"} {
		t.Run(step, func(t *testing.T) {
			x := newExtTest(t)
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.Env = true, x.env
			x.destroyAndReopen(o)
			if i == 2 {
				x.mustPut(0, "foo", "v1")
			}
			path := x.write(o, "sync_failure.sst", kv("bar", "v2"))
			s := x.db.GetSnapshot()
			syncpoint.SetCallBack("ExternalSstFileIngestionJob::Before"+step, func(any) { x.fault.SetFilesystemActive(false, nil) })
			syncpoint.SetCallBack("ExternalSstFileIngestionJob::After"+step, func(any) { x.fault.SetFilesystemActive(true, nil) })
			syncpoint.EnableProcessing()
			err := x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
				o.MoveFiles, o.WriteGlobalSeqno = i == 0, i == 2
			}))
			syncpoint.Reset()
			x.wantErr(err)
			x.must(x.db.ReleaseSnapshot(s))
			// Nothing is left of it, nor is the file gone.
			x.wantFile(path, true)
			if n := x.countFiles(rocksdb.TableFile); n != 0 {
				t.Fatalf("%d tables", n)
			}
			x.wantGet(0, "bar", "NOT_FOUND")
		})
	}
}

func TestExternalSSTFileBasicTest_SyncFileNotSupported(t *testing.T) {
	x := newExtTest(t)
	syncpoint.SetCallBack("ExternalSstFileIngestionJob::CheckSyncReturnCode", func(arg any) { *arg.(*error) = rocksdb.NotSupported() })
	syncpoint.EnableProcessing()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.Env = true, x.env
	x.destroyAndReopen(o)
	path := x.write(o, "sync_file_not_supported_test.sst", kv("bar", "v2"))
	s := x.db.GetSnapshot()
	x.must(x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.MoveFiles = true })))
	x.must(x.db.ReleaseSnapshot(s))
	x.wantGet(0, "bar", "v2")
}

func TestExternalSSTFileBasicTest_IngestFileWithBadBlockChecksum(t *testing.T) {
	for _, write := range []bool{true, false} {
		t.Run(fmt.Sprint(write), func(t *testing.T) {
			var changed atomic.Bool
			eachIngestionOptions(t, func(x *extTest) {
				syncpoint.SetCallBack("BlockBasedTableBuilder::WriteMaybeCompressedBlock:TamperWithChecksum", func(arg any) {
					if changed.CompareAndSwap(false, true) {
						arg.([]byte)[0] ^= 1
					}
				})
				o := x.currentOptions()
				x.destroyAndReopen(o)
				changed.Store(false)
				syncpoint.EnableProcessing()
				x.wantCode(x.generate(o, write, true, []int{1, 2, 3, 4, 5, 6}, "P"), rocksdb.CodeCorruption)
				syncpoint.Reset()
			})
		})
	}
}

func TestExternalSSTFileBasicTest_IngestExternalFileWithCorruptedPropsBlock(t *testing.T) {
	for _, write := range []bool{true, false} {
		t.Run(fmt.Sprint(write), func(t *testing.T) {
			rnd := util.NewRandom(301)
			eachIngestionOptions(t, func(x *extTest) {
				var offset, size uint64
				syncpoint.SetCallBack("BlockBasedTableBuilder::WritePropertiesBlock:GetPropsBlockOffset", func(arg any) { offset = *arg.(*uint64) })
				syncpoint.SetCallBack("BlockBasedTableBuilder::WritePropertiesBlock:GetPropsBlockSize", func(arg any) { size = *arg.(*uint64) })
				syncpoint.EnableProcessing()
				path := x.write(x.currentOptions(), "0", puts(0, 100, "0"))
				syncpoint.Reset()
				if size <= 8 {
					t.Fatal("no properties")
				}
				x.flipByte(path, int64(offset)+int64(rnd.Uniform(int(size-8))))
				x.wantCode(x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
					o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = write, true
				})), rocksdb.CodeCorruption)
			})
		})
	}
}

// filterChecker is a listener that compares compactions' figures.
type filterChecker struct {
	rocksdb.EventListenerBase
	mu sync.Mutex
	t  *testing.T
	// input files, those at the output level; files left out, those at the
	// output level.
	in, inOutput, filtered, filteredOutput int
	skipped                                uint64
}

func (c *filterChecker) expectSkipped(n uint64) {
	c.mu.Lock()
	c.skipped = n
	c.mu.Unlock()
}

func (c *filterChecker) OnCompactionCompleted(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &info.Stats
	if int(s.NumInputFiles) != c.in || int(s.NumInputFilesAtOutputLevel) != c.inOutput || int(s.NumFilteredInputFiles) != c.filtered ||
		int(s.NumFilteredInputFilesAtOutputLevel) != c.filteredOutput || s.TotalSkippedInputBytes != c.skipped {
		c.t.Errorf("compaction of %d (%d) files, left out %d (%d) of %d bytes; not %+v", s.NumInputFiles, s.NumInputFilesAtOutputLevel,
			s.NumFilteredInputFiles, s.NumFilteredInputFilesAtOutputLevel, s.TotalSkippedInputBytes, []any{c.in, c.inOutput, c.filtered, c.filteredOutput, c.skipped})
	}
}

// universalExt opens a universally compacted database with the listener.
func universalExt(t *testing.T, c *filterChecker) (*extTest, rocksdb.Options) {
	x := newExtTest(t)
	c.t = t
	o := x.currentOptions()
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	o.Listeners = append(o.Listeners, c)
	x.destroyAndReopen(o)
	return x, o
}

// expectInputs makes every compaction's number of input iterators checked and
// counted.
func expectInputs(t *testing.T, want int, then func(n int)) *atomic.Int32 {
	var n atomic.Int32
	syncpoint.SetCallBack("VersionSet::MakeInputIterator:NewCompactionMergingIterator", func(arg any) {
		if got := *arg.(*int); got != want {
			t.Errorf("%d inputs, not %d", got, want)
		}
		if k := n.Add(1); then != nil {
			then(int(k))
		}
	})
	syncpoint.EnableProcessing()
	return &n
}

func TestExternalSSTFileBasicTest_AtomicReplaceDataWithStandaloneRangeDeletion(t *testing.T) {
	c := &filterChecker{in: 1, filtered: 2, filteredOutput: 2}
	x, o := universalExt(t, c)
	f1, i1 := x.writeInfo(o, "file1.sst", kv("a", "a1", "b", "b1"))
	f2, i2 := x.writeInfo(o, "file2.sst", kv("x", "x1", "y", "y1"))
	c.expectSkipped(i1.FileSize + i2.FileSize)
	x.ingest(0, f1, f2)
	x.wantAll(0, "a", "a1", "b", "b1", "x", "x1", "y", "y1")
	x.wantLevel(6, 2)
	files := []string{x.write(o, "file2.sst", []extEntry{{'R', "a", "z"}}), x.write(o, "file3.sst", kv("a", "a2", "b", "b2")), x.write(o, "file4.sst", kv("x", "x2", "y", "y2"))}
	s := x.db.GetSnapshot()
	before := x.db.GetLatestSequenceNumber()
	x.ingest(0, files...)
	x.wantSeqno(before + 3)
	x.wantFiles(0, "0,0,0,0,2,1,2")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,2,1,2")
	n := expectInputs(t, 1, nil)
	x.must(x.db.ReleaseSnapshot(s))
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,2")
	if n.Load() == 0 {
		t.Fatal("no compaction")
	}
	x.wantAll(0, "a", "a2", "b", "b2", "x", "x2", "y", "y2")
}

func TestExternalSSTFileBasicTest_PartiallyReplaceDataWithOneStandaloneRangeDeletion(t *testing.T) {
	c := &filterChecker{in: 2, inOutput: 1, filtered: 1, filteredOutput: 1}
	x, o := universalExt(t, c)
	f1, i1 := x.writeInfo(o, "file1.sst", kv("a", "a1", "b", "b1"))
	c.expectSkipped(i1.FileSize)
	x.ingest(0, f1, x.write(o, "file2.sst", kv("x", "x1", "y", "y")))
	x.wantAll(0, "a", "a1", "b", "b1", "x", "x1", "y", "y")
	x.wantLevel(6, 2)
	files := []string{x.write(o, "file2.sst", []extEntry{{'R', "a", "y"}}), x.write(o, "file3.sst", kv("a", "a2", "b", "b2")), x.write(o, "file4.sst", kv("h", "h1", "x", "x2"))}
	n := expectInputs(t, 2, nil)
	x.ingest(0, files...)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,2,0,1")
	if n.Load() == 0 {
		t.Fatal("no compaction")
	}
	x.wantAll(0, "a", "a2", "b", "b2", "h", "h1", "x", "x2", "y", "y")
}

func TestExternalSSTFileBasicTest_PartiallyReplaceDataWithMultipleStandaloneRangeDeletions(t *testing.T) {
	c := &filterChecker{in: 1, filtered: 1, filteredOutput: 1}
	x, o := universalExt(t, c)
	f1, i1 := x.writeInfo(o, "file1.sst", kv("a", "a1"))
	f3, i3 := x.writeInfo(o, "file3.sst", kv("x", "x1"))
	x.ingest(0, f1, x.write(o, "file2.sst", kv("h", "h")), f3)
	x.wantAll(0, "a", "a1", "h", "h", "x", "x1")
	x.wantLevel(6, 3)
	files := []string{x.write(o, "file4.sst", []extEntry{{'R', "a", "b"}}), x.write(o, "file5.sst", []extEntry{{'R', "x", "y"}}),
		x.write(o, "file6.sst", kv("a", "a2")), x.write(o, "file7.sst", kv("x", "x2"))}
	n := expectInputs(t, 1, func(n int) {
		if n == 2 {
			c.expectSkipped(i3.FileSize)
		}
	})
	c.expectSkipped(i1.FileSize)
	x.ingest(0, files...)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,2,0,1")
	if n.Load() != 2 {
		t.Fatalf("%d compactions", n.Load())
	}
	x.wantAll(0, "a", "a2", "h", "h", "x", "x2")
}

func TestExternalSSTFileBasicTest_StandaloneRangeDeletionEndKeyIsExclusive(t *testing.T) {
	c := &filterChecker{in: 2, inOutput: 1}
	x, o := universalExt(t, c)
	x.ingest(0, x.write(o, "file1.sst", kv("a", "a", "b", "b")))
	x.wantAll(0, "a", "a", "b", "b")
	x.wantLevel(6, 1)
	n := expectInputs(t, 2, nil)
	x.ingest(0, x.write(o, "file2.sst", []extEntry{{'R', "a", "b"}}))
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,0,0,0,0,1")
	if n.Load() == 0 {
		t.Fatal("no compaction")
	}
	x.wantAll(0, "a", "NOT_FOUND", "b", "b")
}

func TestExternalSSTFileBasicTest_VerifySstUniqueId(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	x.mustPut(0, "k", "put_val")
	x.flush(0)
	x.ingest(0, x.write(o, "file_to_ingest.sst", kv("k", "ingested_val")))
	// A file as an older writer made it.
	syncpoint.SetCallBack("PropertyBlockBuilder::AddTableProperty:Start", func(arg any) {
		p := arg.(*rocksdb.TableProperties)
		p.DBSessionID, p.DBID = "", ""
	})
	var skipped, passed atomic.Int32
	syncpoint.SetCallBack("BlockBasedTable::Open::SkippedVerifyUniqueId", func(any) { skipped.Add(1) })
	syncpoint.SetCallBack("BlockBasedTable::Open::PassedVerifyUniqueId", func(any) { passed.Add(1) })
	syncpoint.EnableProcessing()
	want := func(s, p int32) {
		t.Helper()
		if skipped.Load() != s || passed.Load() != p {
			t.Fatalf("skipped %d, passed %d; not %d, %d", skipped.Load(), passed.Load(), s, p)
		}
	}
	if !o.VerifySstUniqueIDInManifest {
		t.Fatal("verify_sst_unique_id_in_manifest is off")
	}
	x.reopen(o)
	want(0, 2) // one flushed, one ingested
	x.ingest(0, x.write(o, "file_to_ingest2.sst", kv("k", "ingested_val")))
	want(2, 2) // opened by the ingestion, and as a table
	skipped.Store(0)
	passed.Store(0)
	x.reopen(o)
	want(1, 2)
}

func TestExternalSSTFileBasicTest_StableSnapshotWhileLoggingToManifest(t *testing.T) {
	x := newExtTest(t)
	x.mustPut(0, "k", "put_val")
	x.flush(0)
	path := x.write(x.currentOptions(), "file_to_ingest.sst", kv("k", "ingested_val"))
	var s rocksdb.Snapshot
	writes := 0
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifest", func(any) {
		// The first write reserves file numbers.
		if writes++; writes == 2 {
			syncpoint.DisableProcessing()
			s = x.db.GetSnapshot()
			x.wantGetAt(0, "k", s, "put_val")
		}
	})
	syncpoint.EnableProcessing()
	x.ingest(0, path)
	seqno := x.db.GetLatestSequenceNumber()
	if s == nil || seqno != s.GetSequenceNumber()+1 {
		t.Fatalf("sequence number %d, snapshot %v", seqno, s)
	}
	x.wantGetAt(0, "k", s, "put_val")
	x.must(x.db.ReleaseSnapshot(s))
	x.reopen(x.currentOptions())
	x.wantGet(0, "k", "ingested_val")
	x.mustPut(0, "k", "put_val")
	x.wantSeqno(seqno + 1)
}

//go:build syncpoint

// Port of db/db_sst_test.cc (what needs sync points).

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// countPaths counts how often a sync point is passed with a path of the
// extension; every path where that is "".
func countPaths(point, ext string) *atomic.Int64 {
	n := new(atomic.Int64)
	syncpoint.SetCallBack(point, func(arg any) {
		if path, _ := arg.(string); strings.HasSuffix(path, ext) || strings.Contains(path, ext+file.TrashExtension) {
			n.Add(1)
		}
	})
	return n
}

func wantCountOf(t *testing.T, what string, n *atomic.Int64, want int) {
	t.Helper()
	if got := n.Load(); got != int64(want) {
		t.Fatalf("%s: %d, not %d", what, got, want)
	}
}

func TestDBSSTTest_DBWithSstFileManager(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	added, deleted, moved := countPaths("SstFileManagerImpl::OnAddFile", ""), countPaths("SstFileManagerImpl::OnDeleteFile", ""),
		countPaths("SstFileManagerImpl::OnMoveFile", "")
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.SstFileManager = m
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for range 25 {
		x.generateNewRandomFile(rnd)
		x.flush(0)
		x.must(x.full().TestWaitForFlushMemTable(nil))
		x.must(x.full().TestWaitForCompact())
		x.wantTracked(m, rocksdb.TableFile)
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantTracked(m, rocksdb.TableFile)
	if added.Load() < 25 || deleted.Load() == 0 {
		t.Errorf("%d files added, %d deleted", added.Load(), deleted.Load())
	}
	wantCountOf(t, "files moved", moved, 0)
	x.close()
	x.wantNothingTracked(m)
	x.reopen(o)
	x.wantTracked(m, rocksdb.TableFile)
	x.close()
	x.wantNothingTracked(m)
	m = x.newSFM(0, 0.25)
	o.SstFileManager = m
	x.reopen(o)
	x.wantTracked(m, rocksdb.TableFile)
	x.close()
}

func TestDBSSTTest_DBWithSstFileManagerForBlobFiles(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	added, deleted, moved := countPaths("SstFileManagerImpl::OnAddFile", ".blob"), countPaths("SstFileManagerImpl::OnDeleteFile", ".blob"),
		countPaths("SstFileManagerImpl::OnMoveFile", "")
	scheduled, untracked := countPaths("SstFileManagerImpl::ScheduleFileDeletion", ".blob"), countPaths("SstFileManagerImpl::OnUntrackFile", "")
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.SstFileManager = m
	o.EnableBlobFiles = true
	o.BlobFileSize = 32 // a blob a file
	x.destroyAndReopen(o)
	for i := range 10 {
		x.mustPut(0, fmt.Sprint("Key_", i), fmt.Sprint("Value_", i))
		x.flush(0)
		x.must(x.full().TestWaitForFlushMemTable(nil))
		x.must(x.full().TestWaitForCompact())
		x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	}
	blobs := x.countFiles(rocksdb.BlobFile)
	wantCountOf(t, "blob files added", added, blobs)
	wantCountOf(t, "blob files deleted", deleted, 0)
	wantCountOf(t, "blob files scheduled", scheduled, 0)
	wantCountOf(t, "files moved", moved, 0)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	all := x.countFiles(rocksdb.TableFile) + blobs
	closeAll := func() {
		t.Helper()
		untracked.Store(0)
		x.close()
		wantCountOf(t, "files untracked", untracked, all)
		x.wantNothingTracked(m)
	}
	closeAll()
	x.reopen(o)
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	closeAll()
	m = x.newSFM(0, 0.25)
	o.SstFileManager = m
	x.reopen(o)
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	wantCountOf(t, "blob files deleted", deleted, 0)
	wantCountOf(t, "blob files scheduled", scheduled, 0)
	closeAll()
	// Destroying deletes blob files by way of the manager, which does not know
	// them any more.
	scheduled, deleted = countPaths("SstFileManagerImpl::ScheduleUnaccountedFileDeletion", ".blob"), countPaths("DeleteScheduler::OnDeleteFile", ".blob")
	x.destroy(o)
	wantCountOf(t, "blob files deleted", deleted, blobs)
	wantCountOf(t, "blob files scheduled", scheduled, blobs)
}

func TestDBSSTTest_DBWithSstFileManagerForBlobFilesWithGC(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.EnableBlobFiles = true
	o.BlobFileSize = 32
	o.DisableAutoCompactions = true
	o.EnableBlobGarbageCollection = true
	o.BlobGarbageCollectionAgeCutoff = 0.5
	added, deleted, moved := countPaths("SstFileManagerImpl::OnAddFile", ".blob"), countPaths("SstFileManagerImpl::OnDeleteFile", ".blob"),
		countPaths("SstFileManagerImpl::OnMoveFile", "")
	scheduled := countPaths("SstFileManagerImpl::ScheduleFileDeletion", ".blob")
	syncpoint.EnableProcessing()
	x.destroyAndReopen(o)
	pairs := [][2]string{{"first_key", "first_value"}, {"second_key", "second_value"}, {"third_key", "third_value"},
		{"fourth_key", "fourth_value"}, {"fifth_key", "fifth_value"}}
	for i, p := range pairs {
		x.mustPut(0, p[0], p[1])
		if i == 1 || i == 4 {
			x.flush(0)
		}
	}
	original := x.files(rocksdb.BlobFile)
	if len(original) != 5 {
		t.Fatalf("%d blob files", len(original))
	}
	wantCountOf(t, "blob files added", added, 5)
	wantCountOf(t, "blob files deleted", deleted, 0)
	wantCountOf(t, "blob files scheduled", scheduled, 0)
	wantCountOf(t, "files moved", moved, 0)
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)

	cutoff := int(o.BlobGarbageCollectionAgeCutoff * float64(len(original)))
	// Without blob files, values collected from old ones go into the table.
	x.must(x.db.SetOptions(map[string]string{"enable_blob_files": "false"}))
	added.Store(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	m.WaitForEmptyTrash()
	for _, p := range pairs {
		x.wantGet(0, p[0], p[1])
	}
	left := x.files(rocksdb.BlobFile)
	if fmt.Sprint(left) != fmt.Sprint(original[cutoff:]) {
		t.Fatalf("blob files: %v, not %v", left, original[cutoff:])
	}
	wantCountOf(t, "blob files added", added, 0)
	wantCountOf(t, "blob files deleted", deleted, cutoff)
	wantCountOf(t, "blob files scheduled", scheduled, cutoff)
	wantCountOf(t, "files moved", moved, 0)
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	x.close()
	x.wantNothingTracked(m)
	scheduled, deleted = countPaths("SstFileManagerImpl::ScheduleUnaccountedFileDeletion", ".blob"), countPaths("DeleteScheduler::OnDeleteFile", ".blob")
	x.destroy(o)
	m.WaitForEmptyTrash()
	wantCountOf(t, "blob files deleted", deleted, 3)
	wantCountOf(t, "blob files scheduled", scheduled, 3)
}

// jumpingClock passes the time of a wait at once.
type jumpingClock struct{ *env.EmulatedSystemClock }

func (c jumpingClock) TimedWait(_ <-chan struct{}, deadlineMicros uint64) bool {
	if now := c.NowMicros(); deadlineMicros > now {
		c.MockSleepForMicroseconds(int64(deadlineMicros - now))
	}
	return true
}

func (x *dbTest) newJumpingSFM(rate int64, ratio float64) (*rocksdb.SstFileManagerImpl, jumpingClock) {
	c := jumpingClock{env.NewEmulatedSystemClock(env.Default().GetSystemClock(), true)}
	m := file.NewSstFileManagerImpl(c, x.env.GetFileSystem(), nil, rate, ratio, file.DefaultBytesMaxDeleteChunk)
	x.Cleanup(m.Close)
	return m, c
}

// fourTables makes four tables of the same keys.
func (x *dbTest) fourTables(wo *rocksdb.WriteOptions) {
	x.Helper()
	for v := byte('a'); v <= 'd'; v++ {
		for _, k := range []string{"Key2", "Key3", "Key4", "Key1", "Key4"} {
			x.must(x.db.Put(wo, []byte(k), []byte(dummyString(1024, v))))
		}
		x.flush(0)
	}
	x.wantFiles(0, "4")
}

func TestDBSSTTestRateLimit_RateLimitedDelete(t *testing.T) {
	for _, otherWALDir := range []bool{false, true} {
		t.Run(fmt.Sprintf("other_wal_dir=%t", otherWALDir), func(t *testing.T) {
			x := newDBTest(t)
			x.destroy(x.last)
			inOrder([2]string{"test:Compacted", "DeleteScheduler::BackgroundEmptyTrash"})
			var penalties []uint64
			syncpoint.SetCallBack("DeleteScheduler::BackgroundEmptyTrash:Wait", func(arg any) { penalties = append(penalties, arg.(uint64)) })
			syncpoint.EnableProcessing()
			o := x.currentOptions()
			o.DisableAutoCompactions = true
			o.Statistics = rocksdb.NewStatistics()
			wo := rocksdb.DefaultWriteOptions()
			if wo.DisableWAL = !otherWALDir; otherWALDir {
				o.WALDir = x.dir + "_wal"
			}
			const rate = 10 << 10
			m, clock := x.newJumpingSFM(0, 0)
			m.SetDeleteRateBytesPerSecond(rate)
			m.SetMaxTrashDBRatio(1.1)
			o.SstFileManager = m
			x.reopen(o)
			x.fourTables(&wo)
			live := x.db.GetLiveFilesMetaData()
			x.must(x.db.CompactRange(nil, nil, nil))
			x.must(x.full().TestWaitForCompact())
			x.wantFiles(0, "0,1")

			start := clock.NowMicros()
			syncpoint.Process("test:Compacted")
			m.WaitForEmptyTrash()
			spent := float64(clock.NowMicros() - start)
			if len(penalties) != len(live) {
				t.Fatalf("%d penalties for %d tables", len(penalties), len(live))
			}
			size, want := uint64(0), uint64(0)
			for i, f := range live {
				size += f.Size
				if want = size * 1000000 / rate; penalties[i] != want {
					t.Errorf("penalty %d is %d, not %d", i, penalties[i], want)
				}
			}
			if spent < 0.9*float64(want) || spent > 1.1*float64(want) {
				t.Errorf("took %.0f µs, not about %d", spent, want)
			}
			x.wantTicker(rocksdb.FilesMarkedTrash, 4)
			x.wantTicker(rocksdb.FilesDeletedImmediately, 0)
			x.close()
			endSyncPoints()
		})
	}
}

func TestDBSSTTest_RateLimitedWALDelete(t *testing.T) {
	x := newDBTest(t)
	x.destroy(x.last)
	var penalties atomic.Int64
	syncpoint.SetCallBack("DeleteScheduler::BackgroundEmptyTrash:Wait", func(any) { penalties.Add(1) })
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.Compression = rocksdb.NoCompression
	m, _ := x.newJumpingSFM(0, 0)
	m.SetDeleteRateBytesPerSecond(10 << 10)
	m.SetMaxTrashDBRatio(3.1)
	o.SstFileManager = m
	x.reopen(o)
	syncpoint.EnableProcessing()
	x.fourTables(nil)
	c := rocksdb.DefaultCompactRangeOptions()
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&c, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1")
	m.WaitForEmptyTrash()
	wantCountOf(t, "tables and logs deleted slowly", &penalties, 8)
}

func TestDBObsoleteFileDeletionOnOpenTest_Basic(t *testing.T) {
	for _, ratio := range []float64{0, 0.5, 1, 1.2} {
		t.Run(fmt.Sprint("max_trash_db_ratio=", ratio), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			m := x.newSFM(1<<20, ratio)
			o.SstFileManager = m
			var background atomic.Int64
			syncpoint.SetCallBack("DeleteScheduler::DeleteTrashFile:DeleteFile", func(any) { background.Add(1) })
			syncpoint.EnableProcessing()
			x.destroy(x.last)
			x.must(os.MkdirAll(x.dir, 0o755))
			var paths []string
			for _, n := range []string{"001.sst.trash", "002.sst.trash", "003.sst.trash"} {
				paths = append(paths, x.dir+"/"+n)
			}
			// Of two tables that nobody knows, both have to count before the first
			// is deleted.
			paths = append(paths, filename.MakeTableFileName(x.dir, 100), filename.MakeTableFileName(x.dir, 99))
			for _, p := range paths {
				x.must(os.WriteFile(p, []byte("abc"), 0o644))
			}
			x.reopen(o)
			m.WaitForEmptyTrash()
			for _, p := range paths {
				if _, err := os.Stat(p); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: %v", p, err)
				}
			}
			// All that is there is trash, a ratio of 1: with that all is deleted
			// slowly.
			if n := background.Load(); n > 5 || ratio >= 1 && n != 5 {
				t.Errorf("%d files deleted in the background", n)
			}
			if m.GetTotalSize() != 0 || m.GetTotalTrashSize() != 0 {
				t.Errorf("%d bytes left, %d of trash", m.GetTotalSize(), m.GetTotalTrashSize())
			}
			x.close()
			endSyncPoints()
		})
	}
}

func TestDBSSTTest_DeleteSchedulerMultipleDBPaths(t *testing.T) {
	x := newDBTest(t)
	var deleted atomic.Int64
	// The scheduler may find that there is too much trash, and delete at once.
	for _, p := range []string{"DeleteScheduler::DeleteTrashFile:DeleteFile", "DeleteScheduler::DeleteFile"} {
		syncpoint.SetCallBack(p, func(any) { deleted.Add(1) })
	}
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.DBPaths = []rocksdb.DBPath{{Path: x.dir, TargetSize: 100 << 10}, {Path: x.dir + "_2", TargetSize: 100 << 10}}
	m := x.newSFM(1<<20, 1.1)
	o.SstFileManager = m
	x.destroyAndReopen(o)
	syncpoint.EnableProcessing()
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	fill := func(from int, v byte) {
		t.Helper()
		for i := from; i < from+4; i++ {
			x.must(x.db.Put(&wo, fmt.Append(nil, "Key", i), []byte(dummyString(1024, v))))
			x.flush(0)
		}
	}
	c := rocksdb.DefaultCompactRangeOptions()
	c.TargetPathID = 1
	fill(0, 'A')
	x.wantFiles(0, "4")
	x.must(x.db.CompactRange(&c, []byte("Key0"), []byte("Key3")))
	x.wantFiles(0, "0,1")
	fill(4, 'B')
	x.wantFiles(0, "4,1")
	x.must(x.db.CompactRange(&c, []byte("Key4"), []byte("Key7")))
	x.must(x.full().TestWaitForCompact())
	x.full().TestWaitForPurge()
	x.wantFiles(0, "0,2")
	m.WaitForEmptyTrash()
	wantCountOf(t, "tables deleted", &deleted, 8)
	// Tables of the other path go the same way.
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&c, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.full().TestWaitForPurge()
	x.wantFiles(0, "0,1")
	m.WaitForEmptyTrash()
	wantCountOf(t, "tables deleted", &deleted, 10)
}

func TestDBSSTTest_DestroyDBWithRateLimitedDelete(t *testing.T) {
	x := newDBTest(t)
	var deleted atomic.Int64
	syncpoint.SetCallBack("DeleteScheduler::DeleteTrashFile:DeleteFile", func(any) { deleted.Add(1) })
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	m := x.newSFM(0, 0)
	o.SstFileManager = m
	x.destroyAndReopen(o)
	for i := range 4 {
		x.mustPut(0, fmt.Sprint("Key", i), dummyString(1024, 'A'))
		x.flush(0)
	}
	x.wantFiles(0, "4")
	x.close()
	tables, logs := x.countFiles(rocksdb.TableFile), x.countFiles(rocksdb.WalFile)
	if tables == 0 || logs == 0 {
		t.Fatalf("%d tables, %d logs", tables, logs)
	}
	m.SetDeleteRateBytesPerSecond(1 << 20)
	m.SetMaxTrashDBRatio(1000)
	x.destroy(o)
	if _, err := os.Stat(x.dir); !errors.Is(err, os.ErrNotExist) {
		left, _ := filepath.Glob(x.dir + "/*")
		t.Errorf("the directory is there: %v, %v", err, left)
	}
	m.WaitForEmptyTrash()
	wantCountOf(t, "files deleted slowly", &deleted, tables+logs)
}

func TestDBSSTTest_DBWithMaxSpaceAllowedWithBlobFiles(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.DisableAutoCompactions = true
	o.EnableBlobFiles = true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 10 {
		x.mustPut(0, key(i), rnd.RandomString(50))
	}
	x.flush(0)
	if _, size := x.dataFiles(rocksdb.BlobFile); size == 0 {
		t.Fatal("no blob files")
	}
	x.wantTracked(m, rocksdb.TableFile, rocksdb.BlobFile)
	m.SetMaxAllowedSpaceUsage(m.GetTotalSize() + 1)
	var reached, deleted atomic.Int64
	syncpoint.SetCallBack("BlobFileCompletionCallback::CallBack::MaxAllowedSpaceReached", func(any) { reached.Add(1) })
	syncpoint.SetCallBack("BuildTable::AfterDeleteFile", func(any) { deleted.Add(1) })
	inOrder([2]string{"BuildTable::AfterDeleteFile", "test:Deleted"})
	syncpoint.EnableProcessing()
	x.mustPut(0, "key1", "val1")
	if err := x.db.Flush(nil); err == nil {
		t.Fatal("a flush beyond the space allowed")
	}
	syncpoint.Process("test:Deleted")
	if reached.Load() == 0 || deleted.Load() == 0 {
		t.Errorf("reached %d times, %d blob files deleted", reached.Load(), deleted.Load())
	}
}

func TestDBSSTTest_CancellingCompactionsWorks(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.Level0FileNumCompactionTrigger = 2
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	var completed atomic.Int64
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction():CancelledCompaction", func(any) {
		m.SetMaxAllowedSpaceUsage(0)
		if n := m.GetCompactionsReservedSize(); n != 0 {
			t.Errorf("%d bytes are reserved", n)
		}
	})
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:NonTrivial:AfterRun", func(any) { completed.Add(1) })
	syncpoint.EnableProcessing()
	x.tenRandomKeys(m)
	// The compaction is tried again, once there is room.
	x.must(x.full().TestWaitForCompact())
	if completed.Load() == 0 || m.GetCompactionsReservedSize() != 0 {
		t.Errorf("%d compactions; %d bytes are reserved", completed.Load(), m.GetCompactionsReservedSize())
	}
	if x.ticker(rocksdb.CompactionCancelled) == 0 {
		t.Error("no cancelled compaction counted")
	}
	x.wantTicker(rocksdb.FilesMarkedTrash, 0)
	x.wantTicker(rocksdb.FilesDeletedImmediately, 4)
}

// tenRandomKeys makes two tables of ten keys; the space allowed does not
// suffice to compact them.
func (x *dbTest) tenRandomKeys(m *rocksdb.SstFileManagerImpl) {
	x.Helper()
	rnd := util.NewRandom(301)
	for table := range 2 {
		for i := range 10 {
			x.mustPut(0, key(i), rnd.RandomString(50))
		}
		x.flush(0)
		if table == 0 {
			_, size := x.dataFiles(rocksdb.TableFile)
			m.SetMaxAllowedSpaceUsage(2*size + 1)
		}
	}
}

func TestDBSSTTest_CancellingManualCompactionsWorks(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.Statistics = rocksdb.NewStatistics()
	flushed := &flushedFileCollector{}
	o.Listeners = append(o.Listeners, flushed)
	x.destroyAndReopen(o)
	x.tenRandomKeys(m)
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrCompactionTooLarge)
	x.must(x.full().TestWaitForCompact())
	none := func() {
		t.Helper()
		if n := m.GetCompactionsReservedSize(); n != 0 {
			t.Fatalf("%d bytes are reserved", n)
		}
	}
	none()
	x.wantTicker(rocksdb.CompactionCancelled, 1)
	co := rocksdb.DefaultCompactionOptions()
	_, err := x.db.CompactFiles(&co, flushed.get(), 0, -1, nil)
	x.wantIs(err, rocksdb.ErrCompactionTooLarge)
	x.must(x.full().TestWaitForCompact())
	x.wantTicker(rocksdb.CompactionCancelled, 2)
	none()

	m.SetMaxAllowedSpaceUsage(0)
	var completed atomic.Int64
	syncpoint.SetCallBack("CompactFilesImpl:End", func(any) { completed.Add(1) })
	syncpoint.EnableProcessing()
	_, err = x.db.CompactFiles(&co, flushed.get(), 0, -1, nil)
	x.must(err)
	x.must(x.full().TestWaitForCompact())
	none()
	if completed.Load() == 0 {
		t.Error("no compaction of files")
	}
}

func TestDBSSTTest_DBWithMaxSpaceAllowedRandomized(t *testing.T) {
	x := newDBTest(t)
	var failed, onFlush, onCompaction atomic.Int64
	syncpoint.SetCallBack("DBImpl::FlushMemTableToOutputFile:MaxAllowedSpaceReached", func(arg any) {
		failed.Add(1)
		onFlush.Add(1)
		*arg.(*error) = nil // so that a compaction meets the limit too
	})
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction():CancelledCompaction", func(arg any) { *arg.(*bool) = true })
	syncpoint.SetCallBack("CompactionJob::FinishCompactionOutputFile:MaxAllowedSpaceReached", func(any) {
		failed.Add(1)
		onCompaction.Add(1)
	})
	for _, limit := range []uint64{1 << 20, 4 << 20} {
		failed.Store(0)
		syncpoint.ClearTrace()
		syncpoint.EnableProcessing()
		m := x.newSFM(0, 0.25)
		o := x.currentOptions()
		o.SstFileManager = m
		o.WriteBufferSize = 512 << 10
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		m.SetMaxAllowedSpaceUsage(limit)
		for x.put(0, rnd.RandomString(10), rnd.RandomString(50)) == nil {
		}
		if failed.Load() == 0 {
			t.Error("writes failed without a limit reached")
		}
		if _, size := x.dataFiles(rocksdb.TableFile); size < limit {
			t.Errorf("failed at %d bytes of %d", size, limit)
		}
		syncpoint.DisableProcessing()
	}
	if onFlush.Load() == 0 || onCompaction.Load() == 0 {
		t.Errorf("%d flushes and %d compactions met the limit", onFlush.Load(), onCompaction.Load())
	}
}

func TestDBSSTTest_GetTotalSstFilesSize(t *testing.T) {
	x := newDBTest(t)
	// Tables of compactions have no such time: all have to be of one size.
	syncpoint.SetCallBack("FlushJob::WriteLevel0Table:oldest_ancester_time", func(arg any) { *arg.(*uint64) = 0 })
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.Compression = rocksdb.NoCompression
	x.destroyAndReopen(o)
	for i := range 5 {
		for j := range 10 {
			x.mustPut(0, key(j), fmt.Sprint("val_file_", i))
		}
		x.flush(0)
	}
	x.wantFiles(0, "5")
	single := x.db.GetLiveFilesMetaData()[0].Size
	x.wantSizes(5, 5, single)
	it1 := x.db.NewIterator(nil)
	x.must(it1.Status())
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "0,1")
	x.wantSizes(1, 6, single)
	it2 := x.db.NewIterator(nil)
	x.must(it2.Status())
	for i := range 10 {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "")
	x.wantSizes(0, 6, single)
	x.must(it1.Close())
	x.wantSizes(0, 1, single)
	x.must(it2.Close())
	x.wantSizes(0, 0, single)
}

// Blob files that compactions make and delete are reported to the manager.
func TestDBSSTTest_DBWithSFMForBlobFilesAtomicFlush(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.EnableBlobFiles = true
	o.MinBlobSize = 0
	o.DisableAutoCompactions = true
	o.EnableBlobGarbageCollection = true
	o.BlobGarbageCollectionAgeCutoff = 0.5
	o.AtomicFlush = true
	added, deleted := countPaths("SstFileManagerImpl::OnAddFile", ".blob"), countPaths("SstFileManagerImpl::OnDeleteFile", ".blob")
	scheduled := countPaths("SstFileManagerImpl::ScheduleFileDeletion", ".blob")
	syncpoint.EnableProcessing()
	x.destroyAndReopen(o)
	x.puts(0, "key_1", "value_1", "key_2", "value_2", "key_3", "value_3", "key_4", "value_4")
	x.flush(0)
	x.puts(0, "key_3", "new_value_3", "key_4", "new_value_4") // garbage
	x.flush(0)
	x.puts(0, "Key5", "blob_value5", "Key6", "blob_value6")
	x.flush(0)
	wantCountOf(t, "blob files added", added, 3)
	wantCountOf(t, "blob files deleted", deleted, 0)
	wantCountOf(t, "blob files scheduled", scheduled, 0)
	added.Store(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	wantCountOf(t, "blob files added", added, 1)
	wantCountOf(t, "blob files scheduled", scheduled, 1)
	m.WaitForEmptyTrash()
	wantCountOf(t, "blob files deleted", deleted, 1)
	x.close()
	scheduled, deleted = countPaths("SstFileManagerImpl::ScheduleUnaccountedFileDeletion", ".blob"), countPaths("DeleteScheduler::OnDeleteFile", ".blob")
	x.destroy(o)
	m.WaitForEmptyTrash()
	wantCountOf(t, "blob files deleted", deleted, 3)
	wantCountOf(t, "blob files scheduled", scheduled, 3)
}

//go:build syncpoint

// Port of utilities/checkpoint/checkpoint_test.cc (what needs sync points).

package checkpoint_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func inOrder(t *testing.T, pairs ...[2]string) {
	var list []syncpoint.Pair
	for _, p := range pairs {
		list = append(list, syncpoint.Pair{Predecessor: p[0], Successor: p[1]})
	}
	syncpoint.LoadDependency(list...)
	t.Cleanup(syncpoint.Reset)
	syncpoint.EnableProcessing()
}

func counted(t *testing.T, point, suffix string) *atomic.Int64 {
	n := new(atomic.Int64)
	syncpoint.SetCallBack(point, func(arg any) {
		if path, _ := arg.(string); strings.HasSuffix(path, suffix) {
			n.Add(1)
		}
	})
	t.Cleanup(syncpoint.Reset)
	syncpoint.EnableProcessing()
	return n
}

var five = []string{"one", "two", "three", "four", "five"}

func TestCheckpointTest_CheckpointCF(t *testing.T) {
	x := newCPTest(t)
	x.withFamilies(x.o, five...)
	inOrder(t, [2]string{"test:Written", "DBImpl::FlushAllColumnFamilies:2"}, [2]string{"DBImpl::FlushAllColumnFamilies:1", "test:Write"})
	names := append([]string{"Default"}, five...)
	put := func(suffix string) {
		t.Helper()
		for i, n := range names {
			x.put(i, n, n+suffix)
		}
	}
	put("")
	done := make(chan error)
	go func() { done <- x.tryCheckpoint(0) }()
	syncpoint.Process("test:Write")
	put("1")
	syncpoint.Process("test:Written")
	x.must(<-done)
	syncpoint.DisableProcessing()
	put("2")
	x.flush(0)
	var want []string
	for _, n := range names {
		want = append(want, n, n+"1")
	}
	x.wantSnapshot(five, want...)
}

func TestCheckpointTest_CheckpointCFNoFlush(t *testing.T) {
	x := newCPTest(t)
	x.withFamilies(x.o, five...)
	x.put(0, "Default", "Default")
	x.put(1, "one", "one")
	x.flush(0)
	x.put(2, "two", "two")
	flushes := counted(t, "DBImpl::BackgroundCallFlush:start", "")
	x.checkpoint(1000000)
	syncpoint.DisableProcessing()
	if n := flushes.Load(); n != 0 {
		t.Errorf("%d flushes", n)
	}
	x.put(1, "one", "two")
	x.flush(1)
	x.put(2, "two", "twentytwo")
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, x.o))
	x.wantSnapshot(five, "Default", "Default", "one", "one", "two", "two")
}

// The MANIFEST changes right after the live files are listed.
func TestCheckpointTest_CurrentFileModifiedWhileCheckpointing(t *testing.T) {
	x := newCPTest(t)
	x.o.MaxManifestFileSize, x.o.MaxManifestSpaceAmpPct = 0, 0
	x.reopen(x.o)
	inOrder(t, [2]string{"CheckpointImpl::CreateCheckpoint:FlushDone", "test:Put"},
		[2]string{"CheckpointImpl::CreateCheckpoint:SavedLiveFiles1", "VersionSet::LogAndApply:WriteManifest"},
		[2]string{"VersionSet::LogAndApply:WriteManifestDone", "CheckpointImpl::CreateCheckpoint:SavedLiveFiles2"})
	done := make(chan error)
	go func() { done <- x.tryCheckpoint(0) }()
	syncpoint.Process("test:Put")
	x.put(0, "Default", "Default1")
	x.flush(0)
	x.must(<-done)
	syncpoint.DisableProcessing()
	x.wantSnapshot(nil)
}

func TestCheckpointTest_CheckpointWithLockWALNoWALCrossThreadFlushes(t *testing.T) {
	x := newCPTest(t)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	x.must(x.db.Put(&wo, []byte("foo"), []byte("foo_value")))
	x.must(x.db.LockWAL())
	inOrder(t, [2]string{"DBImpl::WaitForPendingWrites:BeforeBlock", "test:Unlock"})
	done := make(chan error, 1)
	go func() { done <- x.tryCheckpoint(0) }()
	syncpoint.Process("test:Unlock")
	select {
	case err := <-done:
		t.Fatalf("the checkpoint did not wait: %v", err)
	default:
	}
	x.must(x.db.UnlockWAL())
	x.must(<-done)
	syncpoint.DisableProcessing()
	x.close()
	x.wantSnapshot(nil, "foo", "foo_value")
}

func TestCheckpointTest_CheckpointWithArchievedLog(t *testing.T) {
	x := newCPTest(t)
	inOrder(t, [2]string{"WalManager::ArchiveWALFile", "test:Archived"})
	o := x.o
	o.WALTTLSeconds = 3600
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.put(0, "key1", strings.Repeat("a", 1<<20))
	x.flush(0) // the first log goes to the archive
	x.put(0, "key2", strings.Repeat("a", 1024))
	syncpoint.Process("test:Archived")
	// With the archived log there are more bytes than the limit, without fewer.
	x.checkpoint(1 << 20)
	if n, _ := x.db.GetProperty("rocksdb.num-files-at-level0"); n != "1" {
		t.Errorf("%s tables on level 0", n)
	}
	x.wantSnapshot(nil, "key1", strings.Repeat("a", 1<<20), "key2", strings.Repeat("a", 1024))
}

func TestCheckpointDestroyTest_DisableEnableSlowDeletion(t *testing.T) {
	for _, slow := range []bool{true, false} {
		t.Run(fmt.Sprint("slow=", slow), func(t *testing.T) {
			x := newCPTest(t)
			rate := int64(0)
			if slow {
				rate = 1 << 20
			}
			m := rocksdb.NewSstFileManager(x.db.GetEnv(), nil, rate)
			defer m.Close()
			m.SetMaxTrashDBRatio(1)
			x.o.NumLevels = 2
			x.o.DisableAutoCompactions = true
			x.o.SstFileManager = m
			x.destroyAndReopen(x.o)
			levels := func(l0, l1 int) {
				t.Helper()
				for level, want := range []int{l0, l1} {
					if n, _ := x.db.GetProperty(fmt.Sprint("rocksdb.num-files-at-level", level)); n != fmt.Sprint(want) {
						t.Fatalf("level %d: %s tables, not %d", level, n, want)
					}
				}
			}
			x.put(0, "foo", "a")
			x.flush(0)
			x.put(0, "bar", "b")
			x.flush(0)
			x.must(x.db.CompactRange(nil, nil, nil))
			for i := range 10 {
				x.put(0, "bar", fmt.Sprint("val", i))
				x.flush(0)
			}
			levels(10, 2)
			x.checkpoint(0)
			x.must(x.db.CompactRange(nil, nil, nil))
			levels(0, 2)
			x.wantSnapshot(nil, "foo", "a")
			x.wantSnapshot(nil, "bar", "val9")
			x.db.Impl().TestDeleteObsoleteFiles()
			m.WaitForEmptyTrash()
			// Of the checkpoint's twelve tables one is still the database's.
			background, atOnce := counted(t, "DeleteScheduler::DeleteTrashFile:DeleteFile", ".sst.trash"), counted(t, "DeleteScheduler::DeleteFile", ".sst")
			x.must(rocksdb.DestroyDB(x.snapshot, x.o))
			wantBackground, wantAtOnce := int64(0), int64(12)
			if slow {
				wantBackground, wantAtOnce = 11, 1
			}
			if background.Load() != wantBackground || atOnce.Load() != wantAtOnce {
				t.Errorf("%d tables deleted slowly and %d at once, not %d and %d", background.Load(), atOnce.Load(), wantBackground, wantAtOnce)
			}
			x.want(0, "foo", "a")
			x.want(0, "bar", "val9")
			x.close()
		})
	}
}

// liveFiles lists the live files and tells whether families were flushed as
// one.
func (x *cpTest) liveFiles(atomicFlush bool) bool {
	x.Helper()
	n := counted(x.T, "DBImpl::AtomicFlushMemTables:AfterScheduleFlush", "")
	lo := rocksdb.LiveFilesStorageInfoOptions{AtomicFlush: atomicFlush}
	_, err := x.db.GetLiveFilesStorageInfo(&lo)
	x.must(err)
	syncpoint.Reset()
	return n.Load() > 0
}

func TestCheckpointTest_CheckpointCFAtomicFlushOverride(t *testing.T) {
	x := newCPTest(t)
	names := []string{"one", "two", "three"}
	x.withFamilies(x.o, names...)
	x.put(0, "key0", "val0_old")
	x.put(1, "key1", "val1_old")
	x.flush(0)
	x.flush(1)
	want := []string{"key0", "val0", "key1", "val1", "key2", "val2", "key3", "val3"}
	for i := range 4 {
		x.put(i, want[2*i], want[2*i+1])
	}
	if !x.liveFiles(true) {
		t.Error("families are not flushed as one")
	}
	x.checkpoint(0)
	x.wantSnapshot(names, want...)
}

func TestCheckpointTest_CheckpointCFDefaultNoAtomicFlush(t *testing.T) {
	x := newCPTest(t)
	x.withFamilies(x.o, "one", "two")
	for i := range 3 {
		x.put(i, fmt.Sprint("key", i), fmt.Sprint("val", i))
	}
	if x.liveFiles(false) {
		t.Error("families are flushed as one")
	}
}

func TestCheckpointTest_CheckpointAtomicFlushOverrideSingleCF(t *testing.T) {
	x := newCPTest(t)
	x.put(0, "key", "val")
	if !x.liveFiles(true) {
		t.Error("the family is not flushed atomically")
	}
	x.want(0, "key", "val")
}

func TestCheckpointTest_CheckpointAtomicFlushOverrideWithDBAtomicFlush(t *testing.T) {
	x := newCPTest(t)
	o := x.o
	o.AtomicFlush = true
	x.withFamilies(o, "one", "two")
	for i := range 3 {
		x.put(i, fmt.Sprint("key", i), fmt.Sprint("val", i))
	}
	if !x.liveFiles(true) {
		t.Error("families are not flushed as one")
	}
	for i := range 3 {
		x.want(i, fmt.Sprint("key", i), fmt.Sprint("val", i))
	}
}

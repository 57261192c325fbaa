//go:build syncpoint

// Port of db/obsolete_files_test.cc (the cases with sync points).

package db_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestObsoleteFilesTest_RaceForObsoleteFileDeletion(t *testing.T) {
	x, o := newObsoleteFilesTest(t)
	inOrder([2]string{"DBImpl::BackgroundCallCompaction:FoundObsoleteFiles", "test:Find"},
		[2]string{"DBImpl::BackgroundCallCompaction:PurgedObsoleteFiles", "test:Purge"})
	syncpoint.SetCallBack("DBImpl::DeleteObsoleteFileImpl:AfterDeletion", func(arg any) {
		if err := *arg.(*error); err != nil {
			t.Error(err)
		}
	})
	syncpoint.SetCallBack("DBImpl::CloseHelper:PendingPurgeFinished", func(arg any) {
		if grabbed := arg.(map[uint64]bool); len(grabbed) > 0 {
			t.Errorf("files left for purge: %v", grabbed)
		}
	})
	syncpoint.EnableProcessing()
	x.createLevel0Files(2, 2000)
	x.wantCounts(o.WALDir, 1, 0, 0)
	var user sync.WaitGroup
	user.Go(func() {
		syncpoint.Process("test:Find")
		found := x.full().TestFindObsoleteFiles(true, false)
		syncpoint.Process("test:Purge")
		x.full().TestPurgeObsoleteFiles(found)
	})
	user.Wait()
	x.close()
	endSyncPoints()
}

// deletedBlobs notes the blob files that are deleted from now on.
func deletedBlobs() (list func() []string) {
	var mu sync.Mutex
	var deleted []string
	syncpoint.SetCallBack("DBImpl::DeleteObsoleteFileImpl::BeforeDeletion", func(arg any) {
		mu.Lock()
		defer mu.Unlock()
		if path := *arg.(*string); strings.HasSuffix(path, ".blob") {
			deleted = append(deleted, path)
		}
	})
	syncpoint.EnableProcessing()
	return func() []string {
		endSyncPoints()
		slices.Sort(deleted)
		return deleted
	}
}

func TestObsoleteFilesTest_BlobFiles(t *testing.T) {
	const first, second, old, pending = 234, 456, 123, 567
	x, _ := newObsoleteFilesTest(t)
	x.full().TestWithMutex(func() {
		x.full().TestVersionSet().AddObsoleteBlobFile(first, x.dir)
		shared := blob.NewSharedBlobFileMetaData(second, 100, 2000000, "CRC32B", "\x6d\xbd\xf2\x3a", nil)
		m := blob.NewBlobFileMetaData(shared, nil, 0, 0)
		x.storage(0).AddBlobFile(m)
	})
	found := x.full().TestFindObsoleteFiles(false, false)
	obsolete, live := found.BlobFiles()
	if !slices.Equal(obsolete, []uint64{first}) || !slices.Equal(live, []uint64{second}) {
		t.Fatalf("obsolete %v, live %v", obsolete, live)
	}
	if !x.full().TestIsGrabbedForPurge(first) {
		t.Error("not grabbed for purge")
	}
	found.AddCandidates(x.dir, pending, filename.BlobFileName("", old), filename.BlobFileName("", first), filename.BlobFileName("", second), filename.BlobFileName("", pending))
	deleted := deletedBlobs()
	x.full().TestPurgeObsoleteFiles(found)
	if got, want := deleted(), []string{filename.BlobFileName(x.dir, old), filename.BlobFileName(x.dir, first)}; !slices.Equal(got, want) {
		t.Errorf("deleted %v, not %v", got, want)
	}
	if x.full().TestIsGrabbedForPurge(first) {
		t.Error("grabbed for purge yet")
	}
}

func TestObsoleteFilesTest_FooterlessBlobFileIsKeptDuringPurge(t *testing.T) {
	const number = 777
	x, o := newObsoleteFilesTest(t)
	path := filename.BlobFileName(x.dir, number)
	dest, err := file.CreateWritableFileWriter(x.env.GetFileSystem(), path, rocksdb.NewFileOptions(&o.DBOptions), nil)
	x.must(err)
	w := blob.NewBlobLogWriter(dest, x.env.GetSystemClock(), nil, number, false)
	x.must(w.WriteHeader(nil, &blobformat.BlobLogHeader{Version: 1}))
	_, err = w.AddRecord(nil, []byte("key"), []byte("blob"))
	x.must(err)
	x.must(dest.Close(nil))
	found := x.full().TestFindObsoleteFiles(false, false)
	found.AddCandidates(x.dir, number+1, filename.BlobFileName("", number))
	deleted := deletedBlobs()
	x.full().TestPurgeObsoleteFiles(found)
	if got := deleted(); len(got) > 0 {
		t.Errorf("deleted %v", got)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestObsoleteFilesTest_GetSortedWalFilesHangsAfterNoopPurge(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key", "value")
	it := x.db.NewIterator(nil)
	x.flush(0)
	syncpoint.SetCallBack("FindObsoleteFiles::PostMutexUnlock", func(any) {
		syncpoint.Process("test:Unlocked")
		syncpoint.Process("test:GoOn")
	})
	inOrder([2]string{"test:Unlocked", "test:List"}, [2]string{"DBImpl::GetSortedWalFilesImpl:WaitPurge", "test:GoOn"})
	syncpoint.EnableProcessing()
	var lister sync.WaitGroup
	lister.Go(func() {
		syncpoint.Process("test:List")
		if _, err := x.full().GetSortedWalFiles(); err != nil {
			t.Error(err)
		}
	})
	x.must(it.Close())
	lister.Wait()
	endSyncPoints()
}

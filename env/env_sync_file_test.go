// Port of env/env_test.cc (SyncFile, WriteStringToFile, unique ids).

package env_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// syncFileFS counts what SyncFile does, and fails it.
type syncFileFS struct {
	rocksdb.FileSystemWrapper
	reopenErr, syncErr, closeErr   error
	reopens, syncs, fsyncs, closes int
}

type syncFileFile struct {
	rocksdb.FSWritableFileWrapper
	fs *syncFileFS
}

func newSyncFileFS() *syncFileFS {
	return &syncFileFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
}

func (f *syncFileFS) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	f.reopens++
	if f.reopenErr != nil {
		return nil, f.reopenErr
	}
	w, err := f.FileSystem.ReopenWritableFile(name, opts)
	return &syncFileFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, err
}

func (f *syncFileFS) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystem.NewWritableFile(name, opts)
	return &syncFileFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, err
}

func (f *syncFileFS) SyncFile(name string, fileOpts *rocksdb.FileOptions, opts *rocksdb.IOOptions, useFsync bool) error {
	return rocksdb.FileSystemBase{Self: f}.SyncFile(name, fileOpts, opts, useFsync)
}

func (w *syncFileFile) Sync(*rocksdb.IOOptions) error {
	w.fs.syncs++
	return w.fs.syncErr
}

func (w *syncFileFile) Fsync(*rocksdb.IOOptions) error {
	w.fs.fsyncs++
	return w.fs.syncErr
}

func (w *syncFileFile) Close(opts *rocksdb.IOOptions) error {
	w.fs.closes++
	if err := w.FSWritableFile.Close(opts); err != nil {
		return err
	}
	return w.fs.closeErr
}

func (f *syncFileFS) check(t *testing.T, reopens, syncs, fsyncs, closes int) {
	t.Helper()
	eq(t, [4]int{f.reopens, f.syncs, f.fsyncs, f.closes}, [4]int{reopens, syncs, fsyncs, closes})
}

func fileToSync(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "f")
	ok(t, rocksdb.WriteStringToFile(env.DefaultFileSystem(), []byte("sync-file-test"), name, false, nil, nil))
	return name
}

func TestEnvTest_FileSystemSyncFileDefaultUsesSyncAndFsync(t *testing.T) {
	fs, name := newSyncFileFS(), fileToSync(t)
	ok(t, fs.SyncFile(name, nil, nil, false))
	fs.check(t, 1, 1, 0, 1)
	ok(t, fs.SyncFile(name, nil, nil, true))
	fs.check(t, 2, 1, 1, 2)
	ok(t, env.DefaultFileSystem().SyncFile(name, nil, nil, true))
}

func TestEnvTest_FileSystemSyncFileDefaultReturnsReopenError(t *testing.T) {
	fs := newSyncFileFS()
	fs.reopenErr = rocksdb.NotSupported("injected reopen failure")
	eq(t, rocksdb.IsNotSupported(fs.SyncFile("unused", nil, nil, false)), true)
	fs.check(t, 1, 0, 0, 0)
}

func TestEnvTest_FileSystemSyncFileDefaultReturnsCloseErrorAfterSuccessfulSync(t *testing.T) {
	fs, name := newSyncFileFS(), fileToSync(t)
	fs.closeErr = rocksdb.IOError("injected close failure")
	if err := fs.SyncFile(name, nil, nil, false); !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), "close failure") {
		t.Fatalf("error %v", err)
	}
	fs.check(t, 1, 1, 0, 1)
}

func TestEnvTest_FileSystemSyncFileDefaultReturnsSyncErrorBeforeCloseError(t *testing.T) {
	fs, name := newSyncFileFS(), fileToSync(t)
	fs.syncErr = rocksdb.IOError("injected sync failure")
	fs.closeErr = rocksdb.IOError("injected close failure")
	if err := fs.SyncFile(name, nil, nil, false); !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), "sync failure") {
		t.Fatalf("error %v", err)
	}
	fs.check(t, 1, 1, 0, 1)
}

func TestEnvTest_WriteStringToFileClosesFile(t *testing.T) {
	fs, name := newSyncFileFS(), filepath.Join(t.TempDir(), "f")
	ok(t, rocksdb.WriteStringToFile(fs, []byte("hello world"), name, false, nil, nil))
	eq(t, fs.closes, 1)
	data, err := rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	eq(t, string(data), "hello world")
}

func TestEnvTest_WriteStringToFileCloseFailureDeletesFile(t *testing.T) {
	fs, name := newSyncFileFS(), filepath.Join(t.TempDir(), "f")
	fs.closeErr = rocksdb.IOError("injected close failure")
	nok(t, rocksdb.WriteStringToFile(fs, []byte("hello world"), name, false, nil, nil))
	notFound(t, env.DefaultFileSystem().FileExists(name, nil))
}

// noDuplicates draws ids on several goroutines at once.
func noDuplicates[T comparable](t *testing.T, generate func() T) map[T]bool {
	t.Helper()
	const goroutines, each = 8, 1000
	var mu sync.Mutex
	var wg sync.WaitGroup
	ids := map[T]bool{}
	for range goroutines {
		wg.Go(func() {
			mine := make([]T, each)
			for i := range mine {
				mine[i] = generate()
			}
			mu.Lock()
			defer mu.Unlock()
			for _, id := range mine {
				ids[id] = true
			}
		})
	}
	wg.Wait()
	eq(t, len(ids), goroutines*each)
	return ids
}

func TestEnvTest_GenerateUniqueId(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for id := range noDuplicates(t, env.Default().GenerateUniqueID) {
		if !form.MatchString(id) {
			t.Fatalf("id %q", id)
		}
	}
}

func TestEnvTest_GenerateDbSessionId(t *testing.T) {
	form := regexp.MustCompile(`^[0-9A-Z]{20}$`)
	for id := range noDuplicates(t, env.GenerateDBSessionID) {
		if !form.MatchString(id) {
			t.Fatalf("id %q", id)
		}
	}
}

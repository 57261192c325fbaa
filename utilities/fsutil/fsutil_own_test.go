// No upstream twin: upstream tests these file systems only through the
// database.

package fsutil

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestCountedFileSystem(t *testing.T) {
	fs := NewCountedFileSystem(env.DefaultFileSystem())
	dir := t.TempDir()
	name, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	ok(t, w.Append([]byte("hello"), nil))
	ok(t, w.Flush(nil))
	ok(t, w.Sync(nil))
	ok(t, w.Fsync(nil))
	ok(t, w.Close(nil))

	d, err := fs.NewDirectory(dir, nil)
	ok(t, err)
	ok(t, d.Fsync(nil))
	ok(t, d.FsyncWithDirOptions(nil, rocksdb.DirFsyncOptions{}))
	ok(t, d.Close(nil))
	_ = d.Close(nil)

	s, err := fs.NewSequentialFile(name, nil)
	ok(t, err)
	_, err = s.Read(3, nil, make([]byte, 3))
	ok(t, err)
	ok(t, s.Close())
	r, err := fs.NewRandomAccessFile(name, nil)
	ok(t, err)
	_, err = r.Read(1, 2, nil, make([]byte, 2))
	ok(t, err)
	reqs := []rocksdb.FSReadRequest{
		{Offset: 0, Len: 1, Scratch: make([]byte, 1)},
		{Offset: 1, Len: 4, Scratch: make([]byte, 4)},
	}
	ok(t, r.MultiRead(reqs, nil))
	ok(t, r.Close())

	rw, err := fs.NewRandomRWFile(name, nil)
	ok(t, err)
	ok(t, rw.Write(0, []byte("HE"), nil))
	_, err = rw.Read(0, 5, nil, make([]byte, 5))
	ok(t, err)
	ok(t, rw.Close(nil))

	_, err = fs.NewWritableFile(filepath.Join(dir, "none", "x"), nil)
	nok(t, err)
	nok(t, fs.DeleteFile(other, nil))
	ok(t, fs.RenameFile(name, other, nil))
	ok(t, fs.DeleteFile(other, nil))

	want := strings.Join([]string{
		"Num files opened: 5", "Num files deleted: 1", "Num files renamed: 1",
		"Num Flush(): 1", "Num Sync(): 1", "Num Fsync(): 1", "Num Dir Fsync(): 2",
		"Num Close(): 5", "Num Dir Open(): 1", "Num Dir Close(): 1",
		"Num Read(): 5", "Num Append(): 2", "Num bytes read: 15",
		"Num bytes written: 7", "",
	}, "\n")
	eq(t, fs.PrintCounters(), want)

	fs.Counters().Writes.RecordOp(rocksdb.NotSupported(), 9)
	fs.Counters().Writes.RecordOp(rocksdb.IOError(), 9)
	eq(t, fs.Counters().Writes.Ops.Load(), 3)
	eq(t, fs.Counters().Writes.Bytes.Load(), 7)
	fs.ResetCounters()
	if got := fs.PrintCounters(); strings.ContainsAny(got, "123456789") {
		t.Fatal(got)
	}
}

func TestFaultInjectionTestEnv(t *testing.T) {
	e := NewFaultInjectionTestEnv(env.Default())
	var asEnv rocksdb.Env = e
	fs := asEnv.GetFileSystem()
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	ok(t, w.Append([]byte("kept"), nil))
	ok(t, w.Sync(nil))
	ok(t, w.Append([]byte("lost"), nil))
	got, err := rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	eq(t, string(got), "keptlost")

	e.SetFilesystemActive(false, rocksdb.IOError("gone"))
	nok(t, w.Append([]byte("x"), nil))
	nok(t, w.Close(nil))
	eq(t, e.GetError().Error(), rocksdb.IOError("gone").Error())
	e.DropUnsyncedFileData()
	e.SetFilesystemActive(true, nil)
	got, err = rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	eq(t, string(got), "kept")

	// The directory was never synced, so the crash takes the file.
	ok(t, e.DeleteFilesCreatedAfterLastDirSync())
	eq(t, rocksdb.IsNotFound(fs.FileExists(name, nil)), true)
}

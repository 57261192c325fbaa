// Port of env/mock_env_test.cc.

package mockenv_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMockEnvTest_Corrupt(t *testing.T) {
	const good, corrupted, name = "this is a good string, synced to disk", "this part may be corrupted", "/dir/f"
	e := mockenv.Create(env.Default())
	fs := e.GetFileSystem()
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	ok(t, w.Append([]byte(good), nil))
	if n := w.GetFileSize(nil); n != uint64(len(good)) {
		t.Fatalf("size %d", n)
	}
	r, err := fs.NewRandomAccessFile(name, nil)
	ok(t, err)
	scratch := make([]byte, 100)
	read := func(off, n int) string {
		t.Helper()
		got, err := r.Read(uint64(off), n, nil, scratch)
		ok(t, err)
		return string(got)
	}
	if s := read(0, len(good)); s != good {
		t.Fatalf("read %q", s)
	}
	// What is synced is not damaged.
	ok(t, w.Fsync(nil))
	ok(t, e.CorruptBuffer(name))
	if s := read(0, len(good)); s != good {
		t.Fatalf("read %q", s)
	}
	ok(t, w.Append([]byte(corrupted), nil))
	if s := read(len(good), len(corrupted)); s != corrupted {
		t.Fatalf("read %q", s)
	}
	ok(t, e.CorruptBuffer(name))
	if s := read(len(good), len(corrupted)); s == corrupted {
		t.Fatal("not damaged")
	}
	if s := read(0, len(good)); s != good {
		t.Fatalf("read %q", s)
	}
	if e.CorruptBuffer("/none") == nil {
		t.Error("damaged a file that is not there")
	}
}

func TestMockEnvTest_FakeSleeping(t *testing.T) {
	clock := mockenv.Create(env.Default()).GetSystemClock()
	now, err := clock.GetCurrentTime()
	ok(t, err)
	clock.SleepForMicroseconds(3 * 1000 * 1000)
	after, err := clock.GetCurrentTime()
	ok(t, err)
	if d := after - now; d != 3 && d != 4 {
		t.Errorf("%d seconds passed", d)
	}
}

// The cases below are not upstream's.

func TestMockFileSystem_DeletedFileStaysReadable(t *testing.T) {
	fs := mockenv.NewMockFileSystem(rocksdb.DefaultSystemClock(), false)
	ok(t, rocksdb.WriteStringToFile(fs, []byte("old"), "/f", true, nil, nil))
	r, err := fs.NewRandomAccessFile("/f", nil)
	ok(t, err)
	ok(t, rocksdb.WriteStringToFile(fs, []byte("new"), "/f", true, nil, nil))
	got, err := r.Read(0, 10, nil, make([]byte, 10))
	ok(t, err)
	if string(got) != "old" {
		t.Errorf("read %q", got)
	}
	now, err := rocksdb.ReadFileToString(fs, "/f", nil)
	ok(t, err)
	if string(now) != "new" {
		t.Errorf("read %q", now)
	}
}

func TestMockFileSystem_LinksAndDirectories(t *testing.T) {
	fs := mockenv.NewMockFileSystem(rocksdb.DefaultSystemClock(), false)
	ok(t, fs.CreateDir("/a", nil))
	ok(t, rocksdb.WriteStringToFile(fs, []byte("x"), "/a/f", true, nil, nil))
	ok(t, fs.LinkFile("/a/f", "/a/g", nil))
	if n, err := fs.NumFileLinks("/a/f", nil); err != nil || n != 2 {
		t.Errorf("%d links, %v", n, err)
	}
	if same, err := fs.AreFilesSame("/a/f", "/a/g", nil); err != nil || !same {
		t.Errorf("same %v, %v", same, err)
	}
	ok(t, fs.RenameFile("/a", "/b", nil))
	names, err := fs.GetChildren("/b", nil)
	ok(t, err)
	if len(names) != 2 || names[0] != "f" || names[1] != "g" {
		t.Errorf("children %q", names)
	}
	if fs.DeleteDir("/b", nil) == nil {
		t.Error("deleted a directory with files in it")
	}
	if is, err := fs.IsDirectory("/b", nil); err != nil || !is {
		t.Errorf("directory %v, %v", is, err)
	}
	if is, err := fs.IsDirectory("/b/f", nil); err != nil || is {
		t.Errorf("directory %v, %v", is, err)
	}
	if _, err := fs.NewSequentialFile("/b/f", &rocksdb.FileOptions{EnvOptions: rocksdb.EnvOptions{UseDirectReads: true}}); !rocksdb.IsNotSupported(err) {
		t.Errorf("direct reads: %v", err)
	}
}

func TestMockFileSystem_Lock(t *testing.T) {
	fs := mockenv.NewMockFileSystem(rocksdb.DefaultSystemClock(), false)
	l, err := fs.LockFile("/LOCK", nil)
	ok(t, err)
	if _, err := fs.LockFile("/LOCK", nil); !rocksdb.IsIOError(err) {
		t.Errorf("second lock: %v", err)
	}
	if _, err := fs.NewSequentialFile("/LOCK", nil); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Errorf("reading a lock file: %v", err)
	}
	ok(t, fs.UnlockFile(l, nil))
	l, err = fs.LockFile("/LOCK", nil)
	ok(t, err)
	ok(t, fs.UnlockFile(l, nil))
}

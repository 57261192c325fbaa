// Port of env/env_basic_test.cc.

package env_test

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// envTest runs f in an empty directory of each of the file systems.
func envTest(t *testing.T, f func(t *testing.T, fs rocksdb.FileSystem, dir string)) {
	dir := t.TempDir()
	chroot, err := env.NewChrootFileSystem(env.DefaultFileSystem(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Default", func(t *testing.T) { f(t, env.DefaultFileSystem(), dir) })
	t.Run("Chroot", func(t *testing.T) {
		ok(t, chroot.CreateDir("/test", nil))
		f(t, chroot, "/test")
	})
	t.Run("MemEnv", func(t *testing.T) {
		fs := mockenv.NewMemEnv(env.Default()).GetFileSystem()
		ok(t, fs.CreateDir("/test", nil))
		f(t, fs, "/test")
		ok(t, file.DestroyDir(fs, "/test"))
	})
	t.Run("Encrypted", func(t *testing.T) {
		fs, err := env.NewEncryptedFS(env.DefaultFileSystem(), env.NewCTRProvider(env.NewROT13Cipher(32)))
		ok(t, err)
		f(t, fs, t.TempDir())
	})
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func nok(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}

func notFound(t *testing.T, err error) {
	t.Helper()
	if !rocksdb.IsNotFound(err) {
		t.Fatalf("error %v, want NotFound", err)
	}
}

func eq[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func writeFile(t *testing.T, fs rocksdb.FileSystem, name string, parts ...string) {
	t.Helper()
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	for _, p := range parts {
		ok(t, w.Append([]byte(p), nil))
	}
	ok(t, w.Close(nil))
}

func fileSize(t *testing.T, fs rocksdb.FileSystem, name string) uint64 {
	t.Helper()
	n, err := fs.GetFileSize(name, nil)
	ok(t, err)
	return n
}

func children(t *testing.T, fs rocksdb.FileSystem, dir string) []string {
	t.Helper()
	names, err := fs.GetChildren(dir, nil)
	ok(t, err)
	return names
}

func TestEnvBasicTestWithParam_Basics(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		notFound(t, fs.FileExists(dir+"/non_existent", nil))
		_, err := fs.GetFileSize(dir+"/non_existent", nil)
		nok(t, err)
		eq(t, len(children(t, fs, dir)), 0)

		writeFile(t, fs, dir+"/f")
		ok(t, fs.FileExists(dir+"/f", nil))
		eq(t, fileSize(t, fs, dir+"/f"), 0)
		names := children(t, fs, dir)
		if len(names) != 1 || names[0] != "f" {
			t.Fatalf("children %q", names)
		}
		ok(t, fs.DeleteFile(dir+"/f", nil))

		writeFile(t, fs, dir+"/f1", "abc")
		writeFile(t, fs, dir+"/f2")
		eq(t, fileSize(t, fs, dir+"/f1"), 3)

		nok(t, fs.RenameFile(dir+"/non_existent", dir+"/g", nil))
		ok(t, fs.RenameFile(dir+"/f1", dir+"/g", nil))
		notFound(t, fs.FileExists(dir+"/f1", nil))
		ok(t, fs.FileExists(dir+"/g", nil))
		eq(t, fileSize(t, fs, dir+"/g"), 3)
		ok(t, fs.RenameFile(dir+"/f2", dir+"/g", nil))
		eq(t, fileSize(t, fs, dir+"/g"), 0)

		seq, err := fs.NewSequentialFile(dir+"/non_existent", nil)
		nok(t, err)
		eq(t, seq, nil)
		ra, err := fs.NewRandomAccessFile(dir+"/non_existent", nil)
		nok(t, err)
		eq(t, ra, nil)

		nok(t, fs.DeleteFile(dir+"/non_existent", nil))
		ok(t, fs.DeleteFile(dir+"/g", nil))
		notFound(t, fs.FileExists(dir+"/g", nil))
		eq(t, len(children(t, fs, dir)), 0)
		_, err = fs.GetChildren(dir+"/non_existent", nil)
		notFound(t, err)
	})
}

func TestEnvBasicTestWithParam_ReadWrite(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		writeFile(t, fs, dir+"/f", "hello ", "world")
		scratch := make([]byte, 1000)

		seq, err := fs.NewSequentialFile(dir+"/f", nil)
		ok(t, err)
		defer seq.Close()
		read := func(n int, want string) {
			t.Helper()
			got, err := seq.Read(n, nil, scratch)
			ok(t, err)
			eq(t, string(got), want)
		}
		read(5, "hello")
		ok(t, seq.Skip(1))
		read(1000, "world")
		read(1000, "")
		ok(t, seq.Skip(100))
		read(1000, "")

		ra, err := fs.NewRandomAccessFile(dir+"/f", nil)
		ok(t, err)
		defer ra.Close()
		readAt := func(off uint64, n int, want string) {
			t.Helper()
			got, err := ra.Read(off, n, nil, scratch)
			ok(t, err)
			eq(t, string(got), want)
		}
		readAt(6, 5, "world")
		readAt(0, 5, "hello")
		readAt(10, 100, "d")
		readAt(1000, 5, "")
	})
}

func TestEnvBasicTestWithParam_Misc(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		w, err := fs.NewWritableFile(dir+"/b", nil)
		ok(t, err)
		ok(t, w.Sync(nil))
		ok(t, w.Flush(nil))
		ok(t, w.Close(nil))
	})
}

func TestEnvBasicTestWithParam_LargeWrite(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		const size = 300 * 1024
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i)
		}
		writeFile(t, fs, dir+"/f", "foo", string(data))
		seq, err := fs.NewSequentialFile(dir+"/f", nil)
		ok(t, err)
		defer seq.Close()
		scratch := make([]byte, 2*size)
		got, err := seq.Read(3, nil, scratch)
		ok(t, err)
		eq(t, string(got), "foo")
		var all []byte
		for len(all) < size {
			got, err := seq.Read(size-len(all), nil, scratch)
			ok(t, err)
			if len(got) == 0 {
				t.Fatalf("file ends after %d bytes", len(all))
			}
			all = append(all, got...)
		}
		if !bytes.Equal(all, data) {
			t.Fatal("other data read than written")
		}
	})
}

func TestEnvMoreTestWithParam_GetModTime(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		ok(t, fs.CreateDirIfMissing(dir+"/dir1", nil))
		_, err := fs.GetFileModificationTime(dir+"/dir1", nil)
		ok(t, err)
	})
}

func TestEnvMoreTestWithParam_MakeDir(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		ok(t, fs.CreateDir(dir+"/j", nil))
		ok(t, fs.FileExists(dir+"/j", nil))
		eq(t, len(children(t, fs, dir)), 1)
		nok(t, fs.CreateDir(dir+"/j", nil))
		ok(t, fs.CreateDirIfMissing(dir+"/j", nil))
		ok(t, fs.DeleteDir(dir+"/j", nil))
		notFound(t, fs.FileExists(dir+"/j", nil))
	})
}

func TestEnvMoreTestWithParam_GetChildren(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		attrs := func() int {
			t.Helper()
			a, err := fs.GetChildrenFileAttributes(dir, nil)
			ok(t, err)
			return len(a)
		}
		ok(t, fs.CreateDirIfMissing(dir, nil))
		ok(t, fs.FileExists(dir, nil))
		eq(t, len(children(t, fs, dir)), 0)
		eq(t, attrs(), 0)

		for _, name := range []string{"niu", "you", "guo"} {
			ok(t, fs.CreateDirIfMissing(dir+"/"+name, nil))
		}
		names := children(t, fs, dir)
		eq(t, len(names), 3)
		eq(t, attrs(), 3)
		for _, name := range names {
			ok(t, fs.DeleteDir(dir+"/"+name, nil))
		}

		ok(t, fs.DeleteDir(dir, nil))
		nok(t, fs.FileExists(dir, nil))
		_, err := fs.GetChildren(dir, nil)
		nok(t, err)
		_, err = fs.GetChildrenFileAttributes(dir, nil)
		nok(t, err)

		ok(t, fs.CreateDir(dir, nil))
		writeFile(t, fs, dir+"/file")
		names, err = fs.GetChildren(dir+"/file", nil)
		nok(t, err)
		eq(t, len(names), 0)
	})
}

func TestEnvMoreTestWithParam_GetChildrenIgnoresDotAndDotDot(t *testing.T) {
	envTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string) {
		writeFile(t, fs, dir+"/test_file", "test data")
		names := children(t, fs, dir)
		eq(t, len(names), 1)
		eq(t, names[0], "test_file")
	})
}

// No upstream twin: mapped writing, which upstream's database tests cover.

package env

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestPosixMmapFile(t *testing.T) {
	fs := DefaultFileSystem()
	for _, fallocate := range []bool{true, false} {
		opts := rocksdb.DefaultFileOptions()
		opts.UseMmapWrites, opts.AllowFallocate = true, fallocate
		name := filepath.Join(t.TempDir(), "f")
		w, err := fs.NewWritableFile(name, &opts)
		noError(t, err)
		if _, isMapped := w.(*posixMmapFile); !isMapped {
			t.Log("no mapped writing here")
		}
		var want []byte
		for i := range 300 {
			p := bytes.Repeat([]byte{byte(i)}, 1000+i)
			want = append(want, p...)
			noError(t, w.Append(p, nil))
			if i%100 == 0 {
				noError(t, w.Sync(nil))
			}
		}
		wantInt(t, int(w.GetFileSize(nil)), len(want))
		noError(t, w.Fsync(nil))
		noError(t, w.Close(nil))
		noError(t, w.Close(nil))

		// Reopened in the middle of a page.
		w, err = fs.ReopenWritableFile(name, &opts)
		noError(t, err)
		wantInt(t, int(w.GetFileSize(nil)), len(want))
		noError(t, w.Append([]byte("tail"), nil))
		want = append(want, "tail"...)
		noError(t, w.Close(nil))

		got, err := rocksdb.ReadFileToString(fs, name, nil)
		noError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("file of %d bytes, want %d", len(got), len(want))
		}
		ropts := rocksdb.DefaultFileOptions()
		ropts.UseMmapReads = true
		r, err := fs.NewRandomAccessFile(name, &ropts)
		noError(t, err)
		part, err := r.Read(uint64(len(want)-4), 100, nil, nil)
		noError(t, err)
		if string(part) != "tail" {
			t.Errorf("read %q", part)
		}
		if _, err := r.Read(uint64(len(want)+1), 1, nil, nil); !rocksdb.IsIOError(err) {
			t.Errorf("read beyond the end: %v", err)
		}
		noError(t, r.Close())
	}
}

func TestReopenAndReuse(t *testing.T) {
	fs, name := DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	noError(t, rocksdb.WriteStringToFile(fs, make([]byte, 8192), name, false, nil, nil))
	opts := rocksdb.DefaultFileOptions()
	w, err := fs.ReopenWritableFile(name, &opts)
	noError(t, err)
	wantInt(t, int(w.GetFileSize(nil)), 8192)
	noError(t, w.Append([]byte("x"), nil))
	noError(t, w.Close(nil))
	n, err := fs.GetFileSize(name, nil)
	noError(t, err)
	wantInt(t, int(n), 8193)

	w, err = fs.ReuseWritableFile(name+"2", name, &opts)
	noError(t, err)
	noError(t, w.Append([]byte("y"), nil))
	noError(t, w.Close(nil))
	if !rocksdb.IsNotFound(fs.FileExists(name, nil)) {
		t.Error("the old name is still there")
	}
	data, err := rocksdb.ReadFileToString(fs, name+"2", nil)
	noError(t, err)
	wantInt(t, len(data), 8193) // written over from the start
	wantInt(t, int(data[0]), 'y')
}

func TestReadDoesNotAllocate(t *testing.T) {
	fs, name := DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	noError(t, rocksdb.WriteStringToFile(fs, make([]byte, 8192), name, false, nil, nil))
	r, err := fs.NewRandomAccessFile(name, nil)
	noError(t, err)
	defer r.Close()
	scratch := make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() { _, _ = r.Read(100, 4096, nil, scratch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

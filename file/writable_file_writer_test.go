// Port of util/file_reader_writer_test.cc (DBWritableFileWriterTest). Differs:
// no database is opened, none is needed.

package file_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// writeWithChecksums appends records with and without a checksum to a file that
// verifies what is handed to it, and compares the file.
func writeWithChecksums(t *testing.T, opts *rocksdb.FileOptions, buffered bool, n int) (written int) {
	t.Helper()
	fs := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetChecksumHandoffFuncType(rocksdb.CRC32c)
	name := filepath.Join(t.TempDir(), "test_file")
	w, err := file.CreateWritableFileWriter(fs, name, opts, &file.WriterOptions{PerformDataVerification: true, BufferedDataWithChecksum: buffered})
	ok(t, err)
	rnd, size := util.NewRandom(301), util.NewRandom(47)
	var want []byte
	appendData := func(p []byte, withCRC bool) {
		crc := uint32(0)
		if withCRC {
			crc = util.Crc32cValue(p)
		}
		io := rocksdb.DefaultIOOptions()
		io.RateLimiterPriority = rocksdb.IOHigh
		ok(t, w.Append(&io, p, crc))
		want = append(want, p...)
	}
	for range n {
		appendData([]byte(rnd.RandomString(int(size.Next()%10000))), true)
		appendData([]byte(rnd.RandomString(int(size.Next()%97))), false)
		if size.OneIn(2) {
			ok(t, w.Flush(nil))
		}
	}
	appendData(bytes.Repeat([]byte("large"), 300000), true)
	appendData(bytes.Repeat([]byte("large"), 300000), false)
	ok(t, w.Pad(nil, 1000))
	want = append(want, make([]byte, 1000)...)
	ok(t, w.Sync(nil, true))
	ok(t, w.Close(nil))
	got, err := rocksdb.ReadFileToString(env.DefaultFileSystem(), name, nil)
	ok(t, err)
	if !bytes.Equal(got, want) {
		t.Fatalf("file of %d bytes, want %d", len(got), len(want))
	}
	return len(want)
}

func TestDBWritableFileWriterTest_AppendWithChecksum(t *testing.T) {
	opts := rocksdb.DefaultFileOptions()
	writeWithChecksums(t, &opts, true, 500)
	opts.UseDirectWrites = true
	writeWithChecksums(t, &opts, true, 100)
}

func TestDBWritableFileWriterTest_AppendVerifyNoChecksum(t *testing.T) {
	opts := rocksdb.DefaultFileOptions()
	writeWithChecksums(t, &opts, false, 500)
	opts.UseDirectWrites = true
	writeWithChecksums(t, &opts, false, 100)
}

func TestDBWritableFileWriterTest_AppendWithChecksumRateLimiter(t *testing.T) {
	opts := rocksdb.DefaultFileOptions()
	limiter, err := ratelimiter.NewGenericRateLimiter(64<<20, 10000, 10, rocksdb.WritesOnly, false, 0)
	ok(t, err)
	opts.RateLimiter = limiter
	for _, buffered := range []bool{true, false} {
		before := opts.RateLimiter.GetTotalBytesThrough(rocksdb.IOTotal)
		start := time.Now()
		n := writeWithChecksums(t, &opts, buffered, 20)
		// Flush, Sync and Close are not limited here.
		charged := opts.RateLimiter.GetTotalBytesThrough(rocksdb.IOTotal) - before
		if charged == 0 || charged > int64(n) {
			t.Errorf("%d bytes charged of %d, in %v", charged, n, time.Since(start))
		}
	}
}

// The cases below are not upstream's.

type sumGenerator struct{ sum int }

func (g *sumGenerator) Update(data []byte) {
	for _, b := range data {
		g.sum += int(b)
	}
}
func (g *sumGenerator) Finalize()           {}
func (g *sumGenerator) GetChecksum() string { return string(rune(g.sum)) }
func (g *sumGenerator) Name() string        { return "sum" }

type sumFactory struct{}

func (sumFactory) Name() string { return "sums" }
func (sumFactory) CreateFileChecksumGenerator(ctx rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	if ctx.RequestedChecksumFuncName == "unknown" {
		return nil
	}
	return &sumGenerator{}
}

func TestWritableFileWriter_FileChecksum(t *testing.T) {
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	w, err := file.CreateWritableFileWriter(fs, name, nil, &file.WriterOptions{FileChecksumGenFactory: sumFactory{}})
	ok(t, err)
	ok(t, w.Append(nil, []byte("abc"), 0))
	ok(t, w.Pad(nil, 5))
	eq(t, w.GetFileChecksum(), rocksdb.UnknownFileChecksum)
	ok(t, w.Close(nil))
	eq(t, w.GetFileChecksum(), string(rune('a'+'b'+'c')))
	eq(t, w.GetFileChecksumFuncName(), "sum")

	sum, fn, err := file.GenerateOneFileChecksum(fs, name, sumFactory{}, nil)
	ok(t, err)
	eq(t, sum, w.GetFileChecksum())
	eq(t, fn, "sum")
	for _, requested := range []string{"unknown", "other"} {
		_, _, err = file.GenerateOneFileChecksum(fs, name, sumFactory{}, &file.ChecksumOptions{RequestedFuncName: requested})
		eq(t, rocksdb.CodeOf(err), rocksdb.CodeInvalidArgument)
	}
}

// What a failed append held is gone: it is not written by a later one, whose
// place in the file it would take.
func TestWritableFileWriter_FailedAppendIsForgotten(t *testing.T) {
	fs := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
	name := filepath.Join(t.TempDir(), "test_file")
	opts := rocksdb.DefaultFileOptions()
	w, err := file.CreateWritableFileWriter(fs, name, &opts, &file.WriterOptions{})
	ok(t, err)
	ok(t, w.Append(nil, []byte("first"), 0))
	ok(t, w.Flush(nil))
	ok(t, w.Append(nil, []byte("lost"), 0))
	fs.SetFilesystemActive(false, rocksdb.IOError("no device"))
	if err := w.Flush(nil); err == nil {
		t.Fatal("flushed to a dead file system")
	}
	fs.SetFilesystemActive(true, nil)
	if err := w.Append(nil, []byte("more"), 0); err == nil {
		err = w.Flush(nil)
		if err == nil {
			t.Error("written after a failed append")
		}
	}
	_ = w.Close(nil)
	got, err := rocksdb.ReadFileToString(env.DefaultFileSystem(), name, nil)
	ok(t, err)
	if string(got) != "first" {
		t.Errorf("file has %q", got)
	}
}

func TestFileUtil(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), t.TempDir()
	ok(t, file.CreateFile(fs, dir+"/a", bytes.Repeat([]byte("x"), 10000), true))
	ok(t, file.CopyFile(fs, dir+"/a", dir+"/b", 0, nil))
	ok(t, file.CopyFile(fs, dir+"/a", dir+"/c", 5000, &file.CopyOptions{UseFsync: true}))
	for name, want := range map[string]uint64{"a": 10000, "b": 10000, "c": 5000} {
		n, err := fs.GetFileSize(dir+"/"+name, nil)
		ok(t, err)
		eq(t, n, want)
	}
	eq(t, rocksdb.IsCorruption(file.CopyFile(fs, dir+"/c", dir+"/d", 6000, nil)), true)
	ok(t, file.DeleteDBFile(fs, nil, dir+"/a", "", false, false))
	ok(t, file.DestroyDir(fs, dir))
	ok(t, file.DestroyDir(fs, dir))
}

func TestSetCurrentFile(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), t.TempDir()
	d, err := fs.NewDirectory(dir, nil)
	ok(t, err)
	ok(t, file.SetCurrentFile(nil, fs, dir, 5, rocksdb.TemperatureUnknown, d))
	data, err := rocksdb.ReadFileToString(fs, dir+"/CURRENT", nil)
	ok(t, err)
	eq(t, string(data), "MANIFEST-000005\n")
	ok(t, file.SetIdentityFile(nil, env.Default(), dir, rocksdb.TemperatureUnknown, ""))
	data, err = rocksdb.ReadFileToString(fs, dir+"/IDENTITY", nil)
	ok(t, err)
	eq(t, len(data), 36)
	names, err := fs.GetChildren(dir, nil)
	ok(t, err)
	eq(t, len(names), 2)
	ok(t, d.Close(nil))
}

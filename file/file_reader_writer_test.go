// Port of util/file_reader_writer_test.cc.

package file_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const mb = 1 << 20

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

func eq[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// fakeFile is a file in memory that checks what is done to it.
type fakeFile struct {
	rocksdb.FSWritableFileBase
	data     []byte
	size     uint64
	keep     bool // data, not only size
	directIO bool
	fail     error
	check    func(opts *rocksdb.IOOptions)
	onAppend func(data []byte)
	onRange  func(offset, n uint64)
	onClose  func()

	appendErrors, flushErrors int
}

func newFakeFile() *fakeFile {
	f := &fakeFile{FSWritableFileBase: rocksdb.NewFSWritableFileBase(nil), keep: true}
	f.Self = f
	return f
}

func (f *fakeFile) called(opts *rocksdb.IOOptions) error {
	if f.check != nil {
		f.check(opts)
	}
	return f.fail
}

func (f *fakeFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	if err := f.called(opts); err != nil {
		f.appendErrors++
		return err
	}
	if f.onAppend != nil {
		f.onAppend(data)
	}
	if f.keep {
		f.data = append(f.data, data...)
	}
	f.size += uint64(len(data))
	return nil
}

func (f *fakeFile) PositionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	if err := f.called(opts); err != nil {
		return err
	}
	if offset%512 != 0 || len(data)%512 != 0 {
		return rocksdb.InvalidArgumentf("write of %d bytes at %d", len(data), offset)
	}
	f.data = append(f.data[:offset], data...)
	f.size += uint64(len(data))
	return nil
}

func (f *fakeFile) Truncate(size uint64, opts *rocksdb.IOOptions) error {
	if f.keep {
		f.data = f.data[:size]
	}
	return f.called(opts)
}

func (f *fakeFile) Close(opts *rocksdb.IOOptions) error {
	if f.onClose != nil {
		f.onClose()
	}
	if f.check != nil {
		f.check(opts)
	}
	return nil
}

func (f *fakeFile) Flush(opts *rocksdb.IOOptions) error {
	err := f.called(opts)
	if err != nil {
		f.flushErrors++
	}
	return err
}

func (f *fakeFile) Sync(opts *rocksdb.IOOptions) error  { return f.called(opts) }
func (f *fakeFile) Fsync(opts *rocksdb.IOOptions) error { return f.called(opts) }

func (f *fakeFile) PrepareWrite(_ uint64, _ int, opts *rocksdb.IOOptions) {
	if f.check != nil {
		f.check(opts)
	}
}

func (f *fakeFile) RangeSync(offset, n uint64, opts *rocksdb.IOOptions) error {
	if f.onRange != nil {
		f.onRange(offset, n)
	}
	return f.called(opts)
}

func (f *fakeFile) IsSyncThreadSafe() bool                { return true }
func (f *fakeFile) UseDirectIO() bool                     { return f.directIO }
func (f *fakeFile) GetFileSize(*rocksdb.IOOptions) uint64 { return f.size }

func TestWritableFileWriterTest_RangeSync(t *testing.T) {
	f := newFakeFile()
	f.keep = false
	lastSynced := uint64(0)
	f.onRange = func(offset, n uint64) {
		if offset%4096 != 0 || n%4096 != 0 || offset != lastSynced {
			t.Errorf("range %d, %d after %d", offset, n, lastSynced)
		}
		lastSynced = offset + n
		if f.size < lastSynced+mb || f.size > 2*mb && f.size >= lastSynced+2*mb {
			t.Errorf("synced %d of %d", lastSynced, f.size)
		}
	}
	f.onClose = func() {
		if f.size < lastSynced+mb || f.size >= lastSynced+2*mb || f.size <= 10*mb {
			t.Errorf("synced %d of %d", lastSynced, f.size)
		}
	}
	opts := rocksdb.DefaultFileOptions()
	opts.BytesPerSync = mb
	w := file.NewWritableFileWriter(f, "", &opts, nil)
	randomWrites(t, w)
	ok(t, w.Close(nil))
}

func randomWrites(t *testing.T, w *file.WritableFileWriter) {
	t.Helper()
	r := util.NewRandom(301)
	large := make([]byte, 10*mb)
	for i := range 1000 {
		skew := 10
		if i >= 700 {
			skew = 15
		}
		n := r.Skewed(skew)*100 + r.Uniform(100)
		ok(t, w.Append(nil, large[:n], 0))
		if r.Uniform(10) == 0 {
			ok(t, w.Flush(nil))
		}
	}
}

func TestWritableFileWriterTest_IncrementalBuffer(t *testing.T) {
	r := util.NewRandom(301)
	const attempts = 24
	for attempt := range attempts {
		noFlush := attempt%3 == 0
		opts := rocksdb.DefaultFileOptions()
		opts.WritableFileMaxBufferSize = 700 << 10
		if attempt < attempts/2 {
			opts.WritableFileMaxBufferSize = 512 << 10
		}
		f := newFakeFile()
		f.directIO = attempt%2 == 1
		w := file.NewWritableFileWriter(f, "", &opts, nil)
		var want []byte
		for range 20 {
			p := []byte(r.RandomString(int(r.Skewed(16)*100 + r.Uniform(100))))
			ok(t, w.Append(nil, p, 0))
			want = append(want, p...)
			if !noFlush && r.Uniform(10) == 0 {
				ok(t, w.Flush(nil))
			}
		}
		ok(t, w.Flush(nil))
		eq(t, w.GetFileSize(), uint64(len(want)))
		ok(t, w.Close(nil))
		if !bytes.Equal(f.data, want) {
			t.Fatalf("attempt %d: file of %d bytes, want %d", attempt, len(f.data), len(want))
		}
	}
}

func TestWritableFileWriterTest_AlignedBufferedWrites(t *testing.T) {
	r := util.NewRandom(301)
	opts := rocksdb.DefaultFileOptions()
	opts.WritableFileMaxBufferSize = 8 * mb
	f := newFakeFile()
	f.onAppend = func(data []byte) {
		if n := len(data); n&(n-1) != 0 {
			t.Errorf("write of %d bytes", n)
		}
	}
	w := file.NewWritableFileWriter(f, "", &opts, nil)
	var want []byte
	for left := 2 * 8 * mb; left > 0; {
		p := []byte(r.RandomString(min(left, int(4096+r.Uniform(8192)))))
		ok(t, w.Append(nil, p, 0))
		want = append(want, p...)
		left -= len(p)
	}
	ok(t, w.Flush(nil))
	ok(t, w.Close(nil))
	eq(t, bytes.Equal(f.data, want), true)
}

func TestWritableFileWriterTest_BufferWithZeroCapacityDirectIO(t *testing.T) {
	opts := rocksdb.DefaultFileOptions()
	opts.UseDirectWrites, opts.WritableFileMaxBufferSize = true, 0
	_, err := file.CreateWritableFileWriter(env.DefaultFileSystem(), "dont_care", &opts, nil)
	eq(t, rocksdb.CodeOf(err), rocksdb.CodeInvalidArgument)
}

func TestWritableFileWriterTest_AppendStatusReturn(t *testing.T) {
	f := newFakeFile()
	f.directIO = true
	w := file.NewWritableFileWriter(f, "", nil, nil)
	ok(t, w.Append(nil, make([]byte, 2*mb), 0))
	f.fail = rocksdb.IOError("Fake IO error")
	nok(t, w.Append(nil, make([]byte, 2*mb), 0))
	eq(t, w.SeenError(), true)
	// From now on all is refused, though the file would work again.
	f.fail = nil
	for _, err := range []error{w.Append(nil, nil, 0), w.Flush(nil), w.Sync(nil, false), w.SyncWithoutFlush(nil, false), w.Pad(nil, 1)} {
		if !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), "Writer has previous error.") {
			t.Errorf("error %v", err)
		}
	}
	nok(t, w.Close(nil))
	eq(t, w.IsClosed(), true)
}

// highPriorityWriter writes to a file of high priority, which expects each call
// to have it.
func highPriorityWriter(t *testing.T) *file.WritableFileWriter {
	f := newFakeFile()
	f.keep = false
	f.SetIOPriority(rocksdb.IOHigh)
	f.check = func(opts *rocksdb.IOOptions) {
		if opts.RateLimiterPriority != rocksdb.IOHigh {
			t.Errorf("priority %d", opts.RateLimiterPriority)
		}
	}
	return file.NewWritableFileWriter(f, "", nil, nil)
}

func TestWritableFileWriterIOPriorityTest_Append(t *testing.T) {
	ok(t, highPriorityWriter(t).Append(nil, []byte("abc"), 0))
}

func TestWritableFileWriterIOPriorityTest_Pad(t *testing.T) {
	ok(t, highPriorityWriter(t).Pad(nil, 500))
}

func TestWritableFileWriterIOPriorityTest_Flush(t *testing.T) {
	ok(t, highPriorityWriter(t).Flush(nil))
}

func TestWritableFileWriterIOPriorityTest_Close(t *testing.T) {
	ok(t, highPriorityWriter(t).Close(nil))
}

func TestWritableFileWriterIOPriorityTest_Sync(t *testing.T) {
	w := highPriorityWriter(t)
	ok(t, w.Sync(nil, false))
	ok(t, w.Sync(nil, true))
}

func TestWritableFileWriterIOPriorityTest_SyncWithoutFlush(t *testing.T) {
	w := highPriorityWriter(t)
	ok(t, w.SyncWithoutFlush(nil, false))
	ok(t, w.SyncWithoutFlush(nil, true))
}

func TestWritableFileWriterIOPriorityTest_BasicOp(t *testing.T) {
	w := highPriorityWriter(t)
	randomWrites(t, w)
	ok(t, w.Close(nil))
}

// errorListener counts failures told of.
type errorListener struct {
	rocksdb.EventListenerBase
	t      *testing.T
	errors int
}

func (l *errorListener) ShouldBeNotifiedOnFileIO() bool { return true }

func (l *errorListener) OnIOError(info *rocksdb.IOErrorInfo) {
	l.errors++
	if info.FilePath == "" || info.IOStatus == nil {
		l.t.Errorf("info %+v", info)
	}
}

func TestDBWritableFileWriterTest_IOErrorNotification(t *testing.T) {
	l := &errorListener{t: t}
	f := newFakeFile()
	w := file.NewWritableFileWriter(f, "test_file", nil, &file.WriterOptions{
		Listeners: []rocksdb.EventListener{l}, PerformDataVerification: true, BufferedDataWithChecksum: true})
	want := func(appends, flushes, told int) {
		t.Helper()
		eq(t, [3]int{f.appendErrors, f.flushErrors, l.errors}, [3]int{appends, flushes, told})
	}
	f.fail = rocksdb.IOError("Fake IO error")
	nok(t, w.Append(nil, make([]byte, 2*mb), 0))
	want(1, 0, 1)
	w.ResetSeenError()
	nok(t, w.Flush(nil))
	want(1, 1, 2)
	w.ResetSeenError()
	f.fail = nil
	ok(t, w.Append(nil, make([]byte, 2*mb), 0))
	want(1, 1, 2)
}

// source is a file in memory to read from.
type source struct {
	rocksdb.FSRandomAccessFileBase
	data  []byte
	reads int
}

func newSource(s string) *source {
	f := &source{data: []byte(s)}
	f.Self = f
	return f
}

func (s *source) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	s.reads++
	if offset > uint64(len(s.data)) {
		return nil, rocksdb.InvalidArgument("invalid Read offset")
	}
	return scratch[:copy(scratch[:n], s.data[offset:])], nil
}

func (s *source) Close() error { return nil }

// readaheadRandom runs f with files of two readahead sizes.
func readaheadRandom(t *testing.T, f func(t *testing.T, readahead int, reset func(s string), read func(offset, n int) string)) {
	for _, readahead := range []int{1 << 12, 1 << 16} {
		t.Run(fmt.Sprint(readahead), func(t *testing.T) {
			scratch := make([]byte, 2*readahead)
			var r rocksdb.FSRandomAccessFile
			read := func(offset, n int) string {
				got, err := r.Read(uint64(offset), n, nil, scratch)
				if err != nil && rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
					t.Fatal(err)
				}
				return string(got)
			}
			f(t, readahead, func(s string) { r = file.NewReadaheadRandomAccessFile(newSource(s), readahead) }, read)
		})
	}
}

func TestReadaheadRandomAccessFileTest_EmptySourceStr(t *testing.T) {
	readaheadRandom(t, func(t *testing.T, readahead int, reset func(string), read func(offset, n int) string) {
		reset("")
		eq(t, read(0, 1), "")
		eq(t, read(0, 0), "")
		eq(t, read(13, 13), "")
	})
}

func TestReadaheadRandomAccessFileTest_SourceStrLenLessThanReadaheadSize(t *testing.T) {
	readaheadRandom(t, func(t *testing.T, readahead int, reset func(string), read func(offset, n int) string) {
		const s = "abcdefghijklmnopqrs"
		reset(s)
		eq(t, read(3, 4), s[3:7])
		eq(t, read(0, 3), s[:3])
		eq(t, read(0, len(s)), s)
		eq(t, read(7, 30), s[7:])
		eq(t, read(100, 100), "")
	})
}

func TestReadaheadRandomAccessFileTest_SourceStrLenGreaterThanReadaheadSize(t *testing.T) {
	readaheadRandom(t, func(t *testing.T, readahead int, reset func(string), read func(offset, n int) string) {
		rng := util.NewRandom(42)
		for k := range 20 {
			s := rng.HumanReadableString(k*readahead + int(rng.Uniform(readahead)))
			reset(s)
			for range 100 {
				off, n := int(rng.Uniform(len(s))), int(rng.Uniform(readahead))
				eq(t, read(off, n), s[off:min(len(s), off+n)])
			}
		}
	})
}

func TestReadaheadRandomAccessFileTest_ReadExceedsReadaheadSize(t *testing.T) {
	readaheadRandom(t, func(t *testing.T, readahead int, reset func(string), read func(offset, n int) string) {
		rng := util.NewRandom(7)
		s := rng.HumanReadableString(4*readahead + int(rng.Uniform(readahead)))
		reset(s)
		for range 100 {
			off, n := int(rng.Uniform(len(s))), readahead+int(rng.Uniform(readahead))
			eq(t, read(off, n), s[off:min(len(s), off+n)])
		}
	})
}

// seqSource is a file in memory to read through.
type seqSource struct {
	rocksdb.FSSequentialFileBase
	data  string
	reads int
}

func (s *seqSource) Read(n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	s.reads++
	c := copy(scratch[:n], s.data)
	s.data = s.data[c:]
	return scratch[:c], nil
}

func (s *seqSource) Skip(n uint64) error {
	s.data = s.data[min(n, uint64(len(s.data))):]
	return nil
}

func (s *seqSource) Close() error { return nil }

// readaheadSequential runs f with files of four readahead sizes.
func readaheadSequential(t *testing.T, f func(t *testing.T, readahead int, reset func(s string) *file.SequentialFileReader, read func(n int) string)) {
	for _, readahead := range []int{1 << 8, 1 << 12, 1 << 16, 1 << 18} {
		t.Run(fmt.Sprint(readahead), func(t *testing.T) {
			scratch := make([]byte, 2*readahead)
			var r *file.SequentialFileReader
			reset := func(s string) *file.SequentialFileReader {
				r = file.NewSequentialFileReader(&seqSource{data: s}, "test", &file.SequentialReaderOptions{ReadaheadSize: readahead})
				return r
			}
			f(t, readahead, reset, func(n int) string {
				got, err := r.Read(n, scratch, rocksdb.IOTotal, nil)
				ok(t, err)
				return string(got)
			})
		})
	}
}

func TestReadaheadSequentialFileTest_EmptySourceStr(t *testing.T) {
	readaheadSequential(t, func(t *testing.T, _ int, reset func(string) *file.SequentialFileReader, read func(int) string) {
		reset("")
		eq(t, read(0), "")
		eq(t, read(1), "")
		eq(t, read(13), "")
	})
}

func TestReadaheadSequentialFileTest_SourceStrLenLessThanReadaheadSize(t *testing.T) {
	readaheadSequential(t, func(t *testing.T, _ int, reset func(string) *file.SequentialFileReader, read func(int) string) {
		const s = "abcdefghijklmnopqrs"
		reset(s)
		eq(t, read(3), s[:3])
		eq(t, read(1), s[3:4])
		eq(t, read(len(s)), s[4:])
		eq(t, read(100), "")
	})
}

// readThrough reads files of some lengths in pieces of at least atLeast bytes,
// with and without skipping every other one.
func readThrough(t *testing.T, readahead, atLeast int, reset func(string) *file.SequentialFileReader, read func(int) string) {
	rng := util.NewRandom(42)
	for _, skip := range []bool{false, true} {
		for k := range 10 {
			s := rng.HumanReadableString(k*readahead + int(rng.Uniform(readahead)))
			r := reset(s)
			off := 0
			for i := range 100 {
				n := atLeast + int(rng.Uniform(readahead))
				if skip && i%2 == 0 {
					ok(t, r.Skip(uint64(n)))
				} else {
					eq(t, read(n), s[off:min(len(s), off+n)])
				}
				off = min(off+n, len(s))
			}
		}
	}
}

func TestReadaheadSequentialFileTest_SourceStrLenGreaterThanReadaheadSize(t *testing.T) {
	readaheadSequential(t, func(t *testing.T, readahead int, reset func(string) *file.SequentialFileReader, read func(int) string) {
		readThrough(t, readahead, 0, reset, read)
	})
}

func TestReadaheadSequentialFileTest_ReadExceedsReadaheadSize(t *testing.T) {
	readaheadSequential(t, func(t *testing.T, readahead int, reset func(string) *file.SequentialFileReader, read func(int) string) {
		readThrough(t, readahead, readahead, reset, read)
	})
}

// failingFS fails reads of sequential files on demand.
type failingFS struct {
	rocksdb.FileSystemWrapper
	err   error
	fails int
}

type failingSeq struct {
	rocksdb.FSSequentialFileWrapper
	fs *failingFS
}

func (f *failingFS) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	s, err := f.FileSystem.NewSequentialFile(name, opts)
	return &failingSeq{rocksdb.FSSequentialFileWrapper{FSSequentialFile: s}, f}, err
}

func (s *failingSeq) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if s.fs.err != nil {
		s.fs.fails++
		return nil, s.fs.err
	}
	return s.FSSequentialFile.Read(n, opts, scratch)
}

func TestLineFileReaderTest_LineFileReaderTest(t *testing.T) {
	const lines = 1000
	line := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteByte(byte('0' + i%10))
			b.WriteString("xxxxxxxxxxxxxxxx")
		}
		return b.String()
	}
	fs := &failingFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: mockenv.NewMemEnv(env.Default()).GetFileSystem()}}
	w, err := fs.NewWritableFile("testfile", nil)
	ok(t, err)
	for i := range lines {
		ok(t, w.Append([]byte(line(i)+"\n"), nil))
	}
	ok(t, w.Close(nil))

	r, err := file.CreateLineFileReader(fs, "testfile", nil, nil)
	ok(t, err)
	count := 0
	next := func() bool {
		got, more := r.ReadLine(rocksdb.IOTotal)
		if more {
			eq(t, string(got), line(count))
			count++
		}
		eq(t, r.GetLineNumber(), uint64(count))
		return more
	}
	for next() {
	}
	ok(t, r.GetStatus())
	eq(t, count, lines)
	eq(t, next(), false)
	ok(t, r.GetStatus())
	ok(t, r.Close())

	r, err = file.CreateLineFileReader(fs, "testfile", nil, nil)
	ok(t, err)
	count = 0
	for count < lines/4 {
		eq(t, next(), true)
	}
	ok(t, r.GetStatus())
	fs.err = rocksdb.Corruption("test")
	for next() {
	}
	eq(t, rocksdb.IsCorruption(r.GetStatus()), true)
	if count >= lines/2 {
		t.Errorf("%d lines read", count)
	}
	eq(t, fs.fails, 1)
	eq(t, next(), false)
	eq(t, rocksdb.IsCorruption(r.GetStatus()), true)
	eq(t, fs.fails, 1)
}

// The case below is not upstream's.

func TestWritableFileWriter_DoesNotAllocate(t *testing.T) {
	f := newFakeFile()
	f.keep = false
	w := file.NewWritableFileWriter(f, "", nil, nil)
	data := make([]byte, 100)
	ok(t, w.Append(nil, make([]byte, 2*mb), 0))
	if n := testing.AllocsPerRun(1000, func() {
		_ = w.Append(nil, data, 0)
		_ = w.Flush(nil)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

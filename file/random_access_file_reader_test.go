// Port of file/random_access_file_reader_test.cc.

package file_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

// pretendDirect says that it is read directly, where the disk has no direct I/O.
type pretendDirect struct {
	rocksdb.FSRandomAccessFileWrapper
}

func (pretendDirect) UseDirectIO() bool { return true }

// seen is a file that notes the requests it gets.
type seen struct {
	rocksdb.FSRandomAccessFileWrapper
	reqs        []rocksdb.FSReadRequest
	nullScratch bool
}

func (s *seen) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	s.reqs = append([]rocksdb.FSReadRequest(nil), reqs...)
	return s.FSRandomAccessFile.MultiRead(reqs, opts)
}

func (s *seen) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	s.nullScratch = s.nullScratch || req.Scratch == nil
	return s.FSRandomAccessFile.ReadAsync(req, opts, cb)
}

// openDirect gives a directly read file of random content.
func openDirect(t *testing.T, pages int, o *file.ReaderOptions) (r *file.RandomAccessFileReader, f *seen, content string) {
	t.Helper()
	content = util.NewRandom(1).RandomString(pages * rocksdb.DefaultPageSize)
	name := filepath.Join(t.TempDir(), "f")
	fs := env.DefaultFileSystem()
	ok(t, rocksdb.WriteStringToFile(fs, []byte(content), name, true, nil, nil))
	opts := rocksdb.DefaultFileOptions()
	opts.UseDirectReads = true
	raf, err := fs.NewRandomAccessFile(name, &opts)
	if errors.Is(err, syscall.EINVAL) {
		raf, err = fs.NewRandomAccessFile(name, nil)
		raf = pretendDirect{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: raf}}
	}
	ok(t, err)
	f = &seen{FSRandomAccessFileWrapper: rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: raf}}
	r = file.NewRandomAccessFileReader(f, name, o)
	t.Cleanup(func() { ok(t, r.Close()) })
	eq(t, r.UseDirectIO(), true)
	return r, f, content
}

func TestRandomAccessFileReaderTest_ReadDirectIO(t *testing.T) {
	limiter, err := ratelimiter.NewGenericRateLimiter(64<<20, 10000, 10, rocksdb.AllIO, false, 0)
	ok(t, err)
	r, _, content := openDirect(t, 1, &file.ReaderOptions{RateLimiter: limiter})
	page := r.Alignment()
	off, n := page/2, page/3
	for _, pri := range []rocksdb.IOPriority{rocksdb.IOLow, rocksdb.IOTotal} {
		opts := rocksdb.DefaultIOOptions()
		opts.RateLimiterPriority = pri
		got, err := r.Read(&opts, uint64(off), n, nil, new(file.AlignedBuf))
		ok(t, err)
		eq(t, string(got), content[off:off+n])
	}
	eq(t, limiter.GetTotalBytesThrough(rocksdb.IOTotal), int64(page))
}

func TestRandomAccessFileReaderTest_ReadDirectIOCopiesToScratch(t *testing.T) {
	r, _, content := openDirect(t, 1, nil)
	page := r.Alignment()
	off, n := page/2, page/3
	scratch := make([]byte, n)
	got, err := r.Read(nil, uint64(off), n, scratch, nil)
	ok(t, err)
	eq(t, &got[0], &scratch[0])
	eq(t, string(got), content[off:off+n])
	got, err = r.Read(nil, uint64(len(content))-5, n, scratch, nil)
	ok(t, err)
	eq(t, string(got), content[len(content)-5:])
	got, err = r.Read(nil, uint64(len(content))+5, n, scratch, nil)
	ok(t, err)
	eq(t, len(got), 0)
}

// external is memory that tests lend to a reader.
type external struct {
	buf              []byte
	calls            int
	size, alignment_ int
}

func (e *external) alloc(size, alignment int) ([]byte, error) {
	e.calls++
	e.size, e.alignment_ = size, alignment
	b := make([]byte, size+alignment)
	for uintptr(unsafe.Pointer(&b[0]))%uintptr(alignment) != 0 {
		b = b[1:]
	}
	e.buf = b[:size]
	return e.buf, nil
}

func (e *external) holds(b []byte) bool {
	at := uintptr(unsafe.Pointer(&b[0])) - uintptr(unsafe.Pointer(&e.buf[0]))
	return at+uintptr(len(b)) <= uintptr(len(e.buf))
}

func TestRandomAccessFileReaderTest_ReadDirectIOUsesExternalBuffer(t *testing.T) {
	r, _, content := openDirect(t, 1, nil)
	page := r.Alignment()
	off, n := page/4, page/2
	var e external
	got, err := r.Read(nil, uint64(off), n, nil, &file.AlignedBuf{Alloc: e.alloc})
	ok(t, err)
	eq(t, string(got), content[off:off+n])
	eq(t, [3]int{e.calls, e.size, e.alignment_}, [3]int{1, page, page})
	eq(t, &got[0], &e.buf[off])
	_, err = r.Read(nil, 0, n, nil, &file.AlignedBuf{Alloc: func(int, int) ([]byte, error) { return nil, rocksdb.Busy("no memory") }})
	eq(t, rocksdb.CodeOf(err), rocksdb.CodeBusy)
}

func TestRandomAccessFileReaderTest_MultiReadDirectIO(t *testing.T) {
	r, f, content := openDirect(t, 3, nil)
	page := r.Alignment()
	q := page / 4
	for _, c := range []struct {
		ranges  [][2]int // offset and length, in quarters of a page
		aligned [][2]int // in pages
	}{
		{[][2]int{{0, 1}, {2, 2}}, [][2]int{{0, 1}}},
		{[][2]int{{0, 1}, {2, 4}, {7, 1}}, [][2]int{{0, 2}}},
		{[][2]int{{1, 2}, {5, 2}, {9, 2}}, [][2]int{{0, 3}}},
		{[][2]int{{1, 2}, {9, 2}}, [][2]int{{0, 1}, {2, 1}}},
	} {
		var reqs []rocksdb.FSReadRequest
		for _, x := range c.ranges {
			reqs = append(reqs, rocksdb.FSReadRequest{Offset: uint64(x[0] * q), Len: x[1] * q})
		}
		ok(t, r.MultiRead(nil, reqs, new(file.AlignedBuf)))
		for i := range reqs {
			ok(t, reqs[i].Status)
			off := int(reqs[i].Offset)
			eq(t, string(reqs[i].Result), content[off:off+reqs[i].Len])
		}
		eq(t, len(f.reqs), len(c.aligned))
		for i, a := range c.aligned {
			ok(t, f.reqs[i].Status)
			eq(t, [2]int{int(f.reqs[i].Offset), f.reqs[i].Len}, [2]int{a[0] * page, a[1] * page})
		}
	}
}

func TestRandomAccessFileReaderTest_MultiReadDirectIOUsesExternalBuffer(t *testing.T) {
	r, _, content := openDirect(t, 3, nil)
	page := r.Alignment()
	reqs := []rocksdb.FSReadRequest{
		{Offset: uint64(page / 4), Len: page / 2},
		{Offset: uint64(2*page + page/4), Len: page / 2},
	}
	var e external
	ok(t, r.MultiRead(nil, reqs, &file.AlignedBuf{Alloc: e.alloc}))
	eq(t, [3]int{e.calls, e.size, e.alignment_}, [3]int{1, 2 * page, page})
	for i := range reqs {
		ok(t, reqs[i].Status)
		off := int(reqs[i].Offset)
		eq(t, string(reqs[i].Result), content[off:off+reqs[i].Len])
		eq(t, e.holds(reqs[i].Result), true)
	}
}

func TestRandomAccessFileReaderTest_ReadAsyncDirectIOAlignedNullScratch(t *testing.T) {
	r, f, content := openDirect(t, 1, nil)
	for _, c := range []struct{ off, n int }{{0, r.Alignment()}, {100, 200}} {
		req := rocksdb.FSReadRequest{Offset: uint64(c.off), Len: c.n}
		done := false
		h, err := r.ReadAsync(&req, nil, func(q *rocksdb.FSReadRequest) {
			done = true
			ok(t, q.Status)
			eq(t, string(q.Result), content[c.off:c.off+c.n])
		}, new(file.AlignedBuf))
		ok(t, err)
		if h != nil {
			ok(t, env.DefaultFileSystem().Poll([]rocksdb.IOHandle{h}, 1))
			h.Release()
		}
		eq(t, done, true)
		eq(t, f.nullScratch, false)
	}
}

func TestFSReadRequest_Align(t *testing.T) {
	r := rocksdb.FSReadRequest{Offset: 2000, Len: 2000}
	a := file.Align(&r, 1024)
	eq(t, [2]int{int(a.Offset), a.Len}, [2]int{1024, 3072})
	eq(t, file.End(&r), 4000)
}

func TestFSReadRequest_TryMerge(t *testing.T) {
	for _, c := range []struct {
		dest, src, want [2]int
		merges          bool
	}{
		{[2]int{0, 10}, [2]int{15, 10}, [2]int{}, false},
		{[2]int{0, 10}, [2]int{10, 10}, [2]int{0, 20}, true},
		{[2]int{0, 10}, [2]int{5, 10}, [2]int{0, 15}, true},
		{[2]int{0, 10}, [2]int{5, 5}, [2]int{0, 10}, true},
		{[2]int{0, 10}, [2]int{5, 1}, [2]int{0, 10}, true},
		{[2]int{0, 10}, [2]int{0, 10}, [2]int{0, 10}, true},
		{[2]int{0, 10}, [2]int{0, 5}, [2]int{0, 10}, true},
	} {
		for _, reverse := range []bool{true, false} {
			dest := rocksdb.FSReadRequest{Offset: uint64(c.dest[0]), Len: c.dest[1]}
			src := rocksdb.FSReadRequest{Offset: uint64(c.src[0]), Len: c.src[1]}
			if reverse {
				dest, src = src, dest
			}
			eq(t, file.TryMerge(&dest, &src), c.merges)
			if c.merges {
				eq(t, [2]int{int(dest.Offset), dest.Len}, c.want)
			}
		}
	}
}

// The cases below are not upstream's.

func TestRandomAccessFileReader_Counts(t *testing.T) {
	src := newSource("0123456789")
	stats := monitoring.NewStatisticsImpl(nil)
	r := file.NewRandomAccessFileReader(src, "f", &file.ReaderOptions{
		Stats: stats, HistType: rocksdb.HistSSTReadMicros, FileTemperature: rocksdb.TemperatureWarm, IsLastLevel: true})
	io := rocksdb.DefaultIOOptions()
	io.IOStats = &rocksdb.IOStatsContext{Level: rocksdb.EnableTimeAndCPUTimeExceptForMutex}
	io.IOActivity = rocksdb.IOActivityCompaction
	scratch := make([]byte, 10)
	got, err := r.Read(&io, 3, 4, scratch, nil)
	ok(t, err)
	eq(t, string(got), "3456")
	for ticker, want := range map[rocksdb.Ticker]uint64{
		rocksdb.LastLevelReadBytes: 4, rocksdb.LastLevelReadCount: 1, rocksdb.NonLastLevelReadCount: 0,
		rocksdb.WarmFileReadBytes: 4, rocksdb.WarmFileReadCount: 1, rocksdb.HotFileReadCount: 0,
	} {
		eq(t, stats.GetTickerCount(ticker), want)
	}
	eq(t, stats.GetHistogramData(rocksdb.HistSSTReadMicros).Count, 1)
	eq(t, stats.GetHistogramData(rocksdb.HistFileReadCompactionMicros).Count, 1)
	eq(t, io.IOStats.BytesRead, 4)
	eq(t, io.IOStats.FileIOStatsByTemperature.WarmFileReadCount, 1)
	if io.IOStats.ReadNanos == 0 {
		t.Error("no time")
	}
}

func TestRandomAccessFileReader_DoesNotAllocate(t *testing.T) {
	r := file.NewRandomAccessFileReader(newSource("0123456789"), "f", &file.ReaderOptions{
		Stats: monitoring.NewStatisticsImpl(nil), HistType: rocksdb.HistSSTReadMicros})
	scratch := make([]byte, 10)
	io := rocksdb.DefaultIOOptions()
	if n := testing.AllocsPerRun(1000, func() { _, _ = r.Read(&io, 3, 4, scratch, nil) }); n != 0 && !syncpoint.Enabled { // their arguments are boxed
		t.Errorf("%v allocations", n)
	}
	direct, _, _ := openDirect(t, 1, nil)
	if n := testing.AllocsPerRun(1000, func() { _, _ = direct.Read(&io, 3, 4, scratch, nil) }); n > 0.1 && !syncpoint.Enabled {
		t.Errorf("%v allocations of a direct read", n)
	}
}

// Port of file/prefetch_test.cc (FilePrefetchBufferTest with asynchronous reads,
// FSBufferPrefetchTest).

//go:build syncpoint

package file_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// bufferReuseFS brings its own buffers. What FSScratch holds is not where the
// data begins.
type bufferReuseFS struct{ rocksdb.FileSystem }

func (f *bufferReuseFS) SupportedOps() int64 { return 1<<rocksdb.AsyncIO | 1<<rocksdb.FSBuffer }

func (f *bufferReuseFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.FileSystem.NewRandomAccessFile(name, o)
	return &bufferReuseFile{r}, err
}

type bufferReuseFile struct{ rocksdb.FSRandomAccessFile }

func (f *bufferReuseFile) MultiRead(reqs []rocksdb.FSReadRequest, o *rocksdb.IOOptions) error {
	for i := range reqs {
		r := &reqs[i]
		data := make([]byte, r.Len)
		r.Result, r.Status = f.Read(r.Offset, r.Len, o, data)
		r.FSScratch = &data
	}
	return nil
}

// filePrefetchTest is a prefetchTest over a file of a real file system.
func newFilePrefetchTest(t *testing.T, fs rocksdb.FileSystem, size int, o *file.PrefetchBufferOptions) *prefetchTest {
	t.Helper()
	p := &prefetchTest{T: t, content: util.NewRandom(1).RandomString(size), stats: monitoring.NewStatisticsImpl(nil)}
	name := filepath.Join(t.TempDir(), "f")
	ok(t, rocksdb.WriteStringToFile(env.DefaultFileSystem(), []byte(p.content), name, false, nil, nil))
	var err error
	p.r, err = file.CreateRandomAccessFileReader(fs, name, &rocksdb.FileOptions{}, &file.ReaderOptions{Stats: p.stats, HistType: rocksdb.HistSSTReadMicros})
	ok(t, err)
	o.Stats, o.FS = p.stats, fs
	p.b = file.NewFilePrefetchBuffer(o)
	t.Cleanup(func() {
		syncpoint.DisableProcessing()
		syncpoint.ClearAllCallBacks()
		p.b.Close()
		ok(t, p.r.Close())
	})
	return p
}

func (p *prefetchTest) prefetchAsync(off, n int) {
	p.Helper()
	_, hit, err := p.b.PrefetchAsync(nil, p.r, uint64(off), n)
	ok(p.T, err)
	eq(p.T, hit, false)
}

// wantBuffers compares offset and size of each buffer, and of the one for
// blocks that lie in two.
func (p *prefetchTest) wantBuffers(overlap [2]int, bufs ...[2]int) {
	p.Helper()
	o := p.b.OverlapState()
	eq(p.T, [2]int{int(o.Offset), o.Size}, overlap)
	var got [][2]int
	for _, s := range p.b.BufferStates() {
		got = append(got, [2]int{int(s.Offset), s.Size})
	}
	for i, want := range bufs {
		if i >= len(got) || got[i] != want {
			p.Fatalf("buffers %v, want %v", got, bufs)
		}
	}
}

func (p *prefetchTest) wantAndReset(hits, useful uint64, forCompaction bool) {
	p.Helper()
	if forCompaction {
		return
	}
	eq(p.T, p.stats.GetAndResetTickerCount(rocksdb.PrefetchHits), hits)
	eq(p.T, p.stats.GetAndResetTickerCount(rocksdb.PrefetchBytesUseful), useful)
}

// count counts how often a sync point is passed.
func count(point string) *int {
	n := new(int)
	syncpoint.SetCallBack(point, func(any) { *n++ })
	syncpoint.EnableProcessing()
	return n
}

func TestFilePrefetchBufferTest_SeekWithBlockCacheHit(t *testing.T) {
	p := newFilePrefetchTest(t, env.DefaultFileSystem(), 32768, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 16384, MaxReadaheadSize: 16384}})
	p.prefetchAsync(0, 4096)
	p.b.UpdateReadPattern(0, 4096, false) // found in the block cache
	p.read(8192, 8192, false)
}

func TestFilePrefetchBufferTest_SeekWithoutAlignment(t *testing.T) {
	for _, implicit := range []bool{true, false} {
		params := file.ReadaheadParams{InitialReadaheadSize: 16384, MaxReadaheadSize: 16384, NumFileReadsForAutoReadahead: 2, NumBuffers: 2}
		if implicit {
			params.InitialReadaheadSize, params.ImplicitAutoReadahead = 8192, true
		}
		p := newFilePrefetchTest(t, env.DefaultFileSystem(), 32768, &file.PrefetchBufferOptions{ReadaheadParams: params})
		calls := count("FilePrefetchBuffer::ReadAsync")
		n := p.r.Alignment() / 2
		p.prefetchAsync(n, n)
		p.read(n, n, false)
		if *calls == 0 {
			t.Fatal("no asynchronous read")
		}
		want := uint64(0)
		if implicit {
			want = uint64(n)
		}
		eq(t, p.b.GetPrefetchOffset(), want)
	}
}

func TestFilePrefetchBufferTest_NoSyncWithAsyncIO(t *testing.T) {
	p := newFilePrefetchTest(t, env.DefaultFileSystem(), 32768, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 8192, MaxReadaheadSize: 16384, NumBuffers: 2}})
	calls, syncReads := count("FilePrefetchBuffer::ReadAsync"), count("RandomAccessFileReader::Read")
	p.prefetchAsync(3000, 4000)
	p.read(3000, 4000, false)
	eq(t, *syncReads, 0)
	eq(t, *calls, 2)
}

func TestFilePrefetchBufferTest_PollErrorPropagation(t *testing.T) {
	p := newFilePrefetchTest(t, env.DefaultFileSystem(), 32768, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 16384, MaxReadaheadSize: 16384}})
	p.prefetchAsync(0, 4096)
	eq(t, p.b.BufferStates()[0].InProgress, true)
	syncpoint.SetCallBack("FilePrefetchBuffer::PollIfNeeded:IOStatus", func(arg any) {
		*arg.(*error) = rocksdb.IOError("Injected Poll error for testing")
	})
	syncpoint.EnableProcessing()
	_, hit, err := p.b.TryReadFromCache(nil, p.r, 0, 4096, false)
	eq(t, hit, false)
	if !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), "Injected Poll error") {
		t.Fatal(err)
	}
	// What upstream's does not look at: the next read is as if nothing were.
	syncpoint.DisableProcessing()
	p.read(0, 4096, false)
}

func TestFilePrefetchBufferTest_ReadAsyncSyncFallbackOnNotSupported(t *testing.T) {
	p := newFilePrefetchTest(t, env.DefaultFileSystem(), 32768, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 16384, MaxReadaheadSize: 16384, NumBuffers: 2}})
	syncpoint.SetCallBack("RandomAccessFileReader::ReadAsync:InjectStatus", func(arg any) {
		*arg.(*error) = rocksdb.NotSupported("ReadAsync")
	})
	syncpoint.EnableProcessing()
	p.read(0, 4096, false)
	for _, s := range p.b.BufferStates() {
		eq(t, s.InProgress, false)
	}
}

// fsBufferTests runs f with each kind of buffers.
func fsBufferTests(t *testing.T, f func(t *testing.T, fs rocksdb.FileSystem, async, forCompaction bool, buffers int)) {
	for name, c := range map[string]struct{ async, forCompaction bool }{"sync": {}, "compaction": {false, true}, "async": {true, false}} {
		t.Run(name, func(t *testing.T) {
			if c.async {
				f(t, env.DefaultFileSystem(), true, false, 2)
				return
			}
			f(t, &bufferReuseFS{env.DefaultFileSystem()}, false, c.forCompaction, 1)
		})
	}
}

func TestFSBufferPrefetchTest_FSBufferPrefetchStatsInternals(t *testing.T) {
	fsBufferTests(t, func(t *testing.T, fs rocksdb.FileSystem, async, forCompaction bool, buffers int) {
		p := newFilePrefetchTest(t, fs, 32768, &file.PrefetchBufferOptions{Usage: file.UserScanPrefetch,
			ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 8192, MaxReadaheadSize: 8192, NumBuffers: buffers}})
		writes := count("FilePrefetchBuffer::CopyDataToOverlapBuffer:Complete")
		none := [2]int{}
		p.read(0, 4096, forCompaction)
		p.wantAndReset(0, 0, false)
		if async {
			eq(t, p.b.BufferStates()[1].InProgress, true)
			p.wantBuffers(none, [2]int{0, 8192}, [2]int{8192, 4096})
		} else {
			p.wantBuffers(none, [2]int{0, 12288})
		}

		p.b.UpdateReadPattern(4096, 4096, false) // found in the block cache
		p.read(8192, 8192, forCompaction)
		p.wantAndReset(0, 4096, forCompaction)
		if async {
			p.wantBuffers(none, [2]int{8192, 12288}, [2]int{20480, 4096})
		} else {
			p.wantBuffers([2]int{8192, 8192}, [2]int{12288, 12288})
			eq(t, *writes, 2)
		}

		p.read(12288, 4096, forCompaction)
		p.wantAndReset(1, 4096, forCompaction)
		if async {
			p.wantBuffers(none, [2]int{8192, 12288}, [2]int{20480, 4096})
		} else {
			p.wantBuffers([2]int{8192, 8192}, [2]int{12288, 12288})
			eq(t, *writes, 2)
		}

		p.read(16000, 10000, forCompaction)
		p.wantAndReset(0, 8576, forCompaction)
		if async {
			p.wantBuffers([2]int{16000, 10000}, [2]int{24576, 8192}, [2]int{32768, 4096})
			eq(t, *writes, 3)
			eq(t, p.b.BufferStates()[1].InProgress, true)
		} else {
			p.wantBuffers([2]int{16000, 10000}, [2]int{24576, 8192})
			eq(t, *writes, 4)
		}
	})
}

func TestFSBufferPrefetchTest_FSBufferPrefetchUnalignedReads(t *testing.T) {
	fsBufferTests(t, func(t *testing.T, fs rocksdb.FileSystem, async, forCompaction bool, buffers int) {
		p := newFilePrefetchTest(t, fs, 1000, &file.PrefetchBufferOptions{
			ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 5, MaxReadaheadSize: 100, NumBuffers: buffers}})
		writes := count("FilePrefetchBuffer::CopyDataToOverlapBuffer:Complete")
		none, whole := [2]int{}, [2]int{0, 1000}
		want := func(overlap, buf [2]int) {
			t.Helper()
			if async {
				overlap, buf = none, whole
			}
			p.wantBuffers(overlap, buf)
		}
		p.read(5, 3, forCompaction)
		want(none, [2]int{5, 8})
		if async {
			p.wantBuffers(none, whole, [2]int{4096, 4096})
			eq(t, p.b.BufferStates()[1].InProgress, true)
		}
		p.read(16, 7, forCompaction)
		want(none, [2]int{16, 17})
		// Backwards.
		_, hit, err := p.b.TryReadFromCache(nil, p.r, 10, 8, forCompaction)
		ok(t, err)
		eq(t, hit, async)
		p.read(27, 6, forCompaction)
		want(none, [2]int{16, 17})
		p.read(30, 20, forCompaction)
		want([2]int{30, 20}, [2]int{33, 37})
		if !async {
			eq(t, *writes, 2)
		}
	})
}

func TestFSBufferPrefetchTest_FSBufferPrefetchRandomized(t *testing.T) {
	fsBufferTests(t, func(t *testing.T, fs rocksdb.FileSystem, async, forCompaction bool, buffers int) {
		p := newFilePrefetchTest(t, fs, 4<<20, &file.PrefetchBufferOptions{
			ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 512, MaxReadaheadSize: 2048, NumBuffers: buffers}})
		rnd := util.NewRandom(987654)
		off := 0
		for i := range 1000 {
			if off >= len(p.content) {
				break
			}
			n := int(rnd.Uniform(16 << 10))
			got, hit, err := p.b.TryReadFromCache(nil, p.r, uint64(off), n, forCompaction)
			ok(t, err)
			if n > 0 {
				eq(t, hit, true)
			}
			if string(got) != p.content[off:min(len(p.content), off+n)] {
				t.Fatalf("%d bytes at %d: other data", n, off)
			}
			off += n
			switch i % 4 {
			case 0: // skip what is read ahead
				off += 2 * 2048
			case 1: // skip some of it
				off += 1024
			}
		}
	})
}

// TestFilePrefetchBuffer_RandomOffsets: whatever the offsets, with seeks in
// between, the buffer gives the file's bytes or says that it cannot.
func TestFilePrefetchBuffer_RandomOffsets(t *testing.T) {
	fsBufferTests(t, func(t *testing.T, fs rocksdb.FileSystem, async, forCompaction bool, buffers int) {
		p := newFilePrefetchTest(t, fs, 256<<10, &file.PrefetchBufferOptions{
			ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 3000, MaxReadaheadSize: 20000, NumBuffers: buffers + 1}})
		rnd := util.NewRandom(7)
		off, hits := 0, 0
		for range 20000 {
			n := int(rnd.Uniform(9000))
			switch rnd.Uniform(10) {
			case 0:
				off = int(rnd.Uniform(len(p.content) + 5000))
			case 1:
				off += int(rnd.Uniform(10000))
			}
			if async && rnd.OneIn(4) {
				got, hit, err := p.b.PrefetchAsync(nil, p.r, uint64(off), n)
				ok(t, err)
				if hit && string(got) != p.content[off:off+n] {
					t.Fatalf("%d bytes at %d: other data", n, off)
				}
				if hit {
					continue
				}
				if rnd.OneIn(3) { // the block was in the cache after all
					p.b.UpdateReadPattern(uint64(off), n, false)
					off += n
					continue
				}
			}
			got, hit, err := p.b.TryReadFromCache(nil, p.r, uint64(off), n, forCompaction)
			ok(t, err)
			if hit {
				hits++
				if string(got) != p.content[off:min(len(p.content), off+n)] {
					t.Fatalf("%d bytes at %d: other data", n, off)
				}
			}
			off += n
		}
		if hits < 10 {
			t.Errorf("%d hits only", hits)
		}
	})
}

// No upstream twin: MultiRead, ReadAsync, Poll and AbortIO against Read, in all
// modes and by several goroutines; leaks, allocations, speed.

package env

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// writeRandom makes a file of size random bytes.
func writeRandom(t testing.TB, fs rocksdb.FileSystem, size int) (name string, content []byte) {
	t.Helper()
	content = make([]byte, size)
	rnd := rand.New(rand.NewPCG(301, uint64(size)))
	for i := range content {
		content[i] = byte(rnd.Uint32())
	}
	name = filepath.Join(t.TempDir(), "f")
	noErrorTB(t, os.WriteFile(name, content, 0600))
	f, err := os.Open(name)
	noErrorTB(t, err)
	noErrorTB(t, f.Sync()) // or direct reads wait for it
	noErrorTB(t, f.Close())
	return name, content
}

// part is what a read of content brings.
func part(content []byte, offset uint64, n int) []byte {
	if offset >= uint64(len(content)) {
		return nil
	}
	return content[offset:min(uint64(len(content)), offset+uint64(n))]
}

func TestMultiReadAgainstContent(t *testing.T) {
	const size = 1<<20 + 1000
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeRandom(t, fs, size)
		for _, direct := range []bool{false, true} {
			r := openForReads(t, fs, name, direct)
			unit := 1
			if r.UseDirectIO() {
				unit = r.GetRequiredBufferAlignment()
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for _, count := range []int{0, 1, 2, 3, 255, 256, 257, 700} {
				reqs := make([]rocksdb.FSReadRequest, count)
				for i := range reqs {
					off := rnd.IntN(size+20000) / unit * unit
					n := (rnd.IntN(5) * rnd.IntN(3000)) / unit * unit
					reqs[i] = rocksdb.FSReadRequest{Offset: uint64(off), Len: n, Scratch: alignedBytes(n, 0), Status: rocksdb.Busy()}
				}
				noError(t, r.MultiRead(reqs, nil))
				for i := range reqs {
					q := &reqs[i]
					noError(t, q.Status)
					wantBytes(t, q.Result, part(content, q.Offset, q.Len))
				}
			}
			noError(t, r.Close())
		}
	})
}

func TestMultiReadErrors(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeRandom(t, fs, 10000)
		r := openForReads(t, fs, name, false)
		defer r.Close()
		reqs := []rocksdb.FSReadRequest{
			{Offset: 10, Len: 100, Scratch: make([]byte, 100)},
			{Offset: math.MaxUint64, Len: 100, Scratch: make([]byte, 100)},
			{Offset: math.MaxInt64 - 5, Len: 100, Scratch: make([]byte, 100)},
			{Offset: 10, Len: 100, Scratch: make([]byte, 99)},
			{Offset: 10, Len: -1},
			{Offset: 9990, Len: 100, Scratch: make([]byte, 200)},
		}
		noError(t, r.MultiRead(reqs, nil))
		noError(t, reqs[0].Status)
		wantBytes(t, reqs[0].Result, content[10:110])
		for i, code := range map[int]rocksdb.Code{1: rocksdb.CodeIOError, 2: rocksdb.CodeIOError, 3: rocksdb.CodeInvalidArgument, 4: rocksdb.CodeInvalidArgument} {
			if got := rocksdb.CodeOf(reqs[i].Status); got != code || reqs[i].Result != nil {
				t.Errorf("request %d: %v", i, reqs[i].Status)
			}
		}
		noError(t, reqs[5].Status)
		wantBytes(t, reqs[5].Result, content[9990:])

		// A directory opens, but does not read: the same error in every mode.
		d := openForReads(t, fs, filepath.Dir(name), false)
		defer d.Close()
		_, want := d.Read(0, 100, nil, make([]byte, 100))
		if runtime.GOOS == "linux" && want == nil {
			t.Fatal("a directory was read")
		}
		reqs = reqs[:2]
		reqs[1].Offset = 0
		noError(t, d.MultiRead(reqs, nil))
		for i := range reqs {
			if want != nil && (reqs[i].Status == nil || rocksdb.CodeOf(reqs[i].Status) != rocksdb.CodeOf(want)) {
				t.Errorf("request %d: %v, want %v", i, reqs[i].Status, want)
			}
		}
		h, err := d.ReadAsync(&reqs[0], nil, func(*rocksdb.FSReadRequest) {})
		noError(t, err)
		noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
		if want != nil && rocksdb.CodeOf(reqs[0].Status) != rocksdb.CodeOf(want) {
			t.Errorf("asynchronous: %v, want %v", reqs[0].Status, want)
		}
		h.Release()
	})
}

func TestReadAsyncArguments(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeRandom(t, fs, 10000)
		r := openForReads(t, fs, name, false)
		defer r.Close()
		called := 0
		cb := func(*rocksdb.FSReadRequest) { called++ }
		for _, q := range []rocksdb.FSReadRequest{{Len: 100}, {Len: -1}, {Len: 2, Scratch: make([]byte, 1)}} {
			if h, err := r.ReadAsync(&q, nil, cb); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || h != nil {
				t.Errorf("handle %v, error %v", h, err)
			}
		}
		wantInt(t, called, 0)
		empty := rocksdb.FSReadRequest{Offset: 5, Status: rocksdb.Busy()}
		h, err := r.ReadAsync(&empty, nil, cb)
		if h != nil || err != nil || empty.Status != nil || called != 1 {
			t.Fatalf("an empty read: handle %v, error %v, status %v, %d calls", h, err, empty.Status, called)
		}
		far := rocksdb.FSReadRequest{Offset: math.MaxUint64, Len: 10, Scratch: make([]byte, 10)}
		if h, err := r.ReadAsync(&far, nil, cb); h != nil || err != nil || !rocksdb.IsIOError(far.Status) {
			t.Fatalf("far beyond: handle %v, error %v, status %v", h, err, far.Status)
		}
		// At and across the end.
		for _, off := range []uint64{9990, 10000, 20000} {
			q := rocksdb.FSReadRequest{Offset: off, Len: 100, Scratch: make([]byte, 100)}
			h, err := r.ReadAsync(&q, nil, cb)
			noError(t, err)
			noError(t, fs.Poll([]rocksdb.IOHandle{nil, h}, 2))
			noError(t, q.Status)
			wantBytes(t, q.Result, part(content, off, 100))
			// Once more is nothing.
			before := called
			noError(t, fs.Poll([]rocksdb.IOHandle{h, h}, 2))
			noError(t, fs.AbortIO([]rocksdb.IOHandle{h}))
			wantInt(t, called, before)
			noError(t, q.Status)
			h.Release()
		}
		strange := []rocksdb.IOHandle{&mockIOHandle{}}
		for _, err := range []error{fs.Poll(strange, 1), fs.AbortIO(strange)} {
			if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
				t.Errorf("a strange handle: %v", err)
			}
		}
		noError(t, fs.Poll(nil, 5))
		noError(t, fs.AbortIO(nil))
	})
}

func TestPollMinCompletions(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		const count = 20
		name, content := writeRandom(t, fs, count*testSector)
		r := openForReads(t, fs, name, true)
		defer r.Close()
		reqs := make([]rocksdb.FSReadRequest, count)
		var handles []rocksdb.IOHandle
		called := 0
		for i := range reqs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * testSector), Len: testSector, Scratch: alignedBytes(testSector, 0)}
			h, err := r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) { called++ })
			noError(t, err)
			handles = append(handles, h)
		}
		for _, need := range []int{0, 1, 7, count, count + 5} {
			noError(t, fs.Poll(handles, need))
			if called < min(need, count) {
				t.Fatalf("%d callbacks, want %d", called, need)
			}
		}
		wantInt(t, called, count)
		for i := range reqs {
			noError(t, reqs[i].Status)
			wantBytes(t, reqs[i].Result, content[i*testSector:(i+1)*testSector])
			handles[i].Release()
		}
	})
}

// openFiles counts descriptors.
func openFiles(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(names)
}

// TestReadAsyncConcurrent has goroutines that begin reads, poll some, abort
// some, and hand some to another goroutine; then nothing may be left.
func TestReadAsyncConcurrent(t *testing.T) {
	const size = 1 << 20
	filesBefore, goroutinesBefore := openFiles(t), runtime.NumGoroutine()
	t.Run("Reads", func(t *testing.T) {
		asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
			name, content := writeRandom(t, fs, size)
			r := openForReads(t, fs, name, true)
			buffered := openForReads(t, fs, name, false)
			var callbacks, begun atomic.Int64
			handed := make(chan []asyncCase, 100)
			var poller, workers sync.WaitGroup
			poller.Go(func() {
				for cases := range handed {
					finishCases(t, fs, cases, content, false)
				}
			})
			for g := range 8 {
				workers.Go(func() {
					rnd := rand.New(rand.NewPCG(uint64(g), 7))
					for range 30 {
						f, unit := r, testSector
						if rnd.IntN(2) == 0 {
							f, unit = buffered, 1
						}
						cases := make([]asyncCase, 1+rnd.IntN(20))
						for i := range cases {
							n := (testSector + rnd.IntN(4*testSector)) / unit * unit
							c := &cases[i]
							c.req = &rocksdb.FSReadRequest{Offset: uint64(rnd.IntN(size) / unit * unit), Len: n, Scratch: alignedBytes(n, 0)}
							h, err := f.ReadAsync(c.req, nil, func(*rocksdb.FSReadRequest) { callbacks.Add(1) })
							if err != nil {
								t.Error(err)
								return
							}
							begun.Add(1)
							c.handle = h
						}
						switch rnd.IntN(4) {
						case 0:
							handed <- cases
						case 1:
							finishCases(t, fs, cases, content, true)
						default:
							finishCases(t, fs, cases, content, false)
						}
					}
				})
			}
			workers.Wait()
			close(handed)
			poller.Wait()
			if c, b := callbacks.Load(), begun.Load(); c != b {
				t.Errorf("%d callbacks of %d reads", c, b)
			}
			noError(t, r.Close())
			noError(t, buffered.Close())
			for _, q := range fs.async.mu.queues {
				q.reapLocked()
				if len(q.free) != asyncQueueDepth || len(q.waiters) != 0 || q.taking {
					t.Errorf("a queue has %d free slots, %d waiters, taking %v", len(q.free), len(q.waiters), q.taking)
				}
			}
			wantInt(t, len(fs.async.tokens), 0)
		})
	})
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > goroutinesBefore && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutinesBefore {
		t.Errorf("%d goroutines, %d before", n, goroutinesBefore)
	}
	if n := openFiles(t); n > filesBefore {
		t.Errorf("%d files are open, %d before", n, filesBefore)
	}
}

type asyncCase struct {
	req    *rocksdb.FSReadRequest
	handle rocksdb.IOHandle
}

// finishCases polls or aborts, checks what was read and releases the handles.
func finishCases(t *testing.T, fs rocksdb.FileSystem, cases []asyncCase, content []byte, abort bool) {
	handles := make([]rocksdb.IOHandle, len(cases))
	for i := range cases {
		handles[i] = cases[i].handle
	}
	var err error
	if abort {
		// Another goroutine polls at the same time.
		var other sync.WaitGroup
		other.Go(func() { _ = fs.Poll(handles, len(handles)) })
		err = fs.AbortIO(handles)
		other.Wait()
	} else {
		if err = fs.Poll(handles, len(handles)/2); err == nil {
			err = fs.Poll(handles, len(handles))
		}
	}
	if err != nil {
		t.Error(err)
	}
	for i := range cases {
		q := cases[i].req
		switch {
		case abort && rocksdb.CodeOf(q.Status) == rocksdb.CodeAborted:
		case q.Status != nil:
			t.Errorf("read at %d: %v", q.Offset, q.Status)
		case string(q.Result) != string(part(content, q.Offset, q.Len)):
			t.Errorf("read at %d: %d bytes, other than expected", q.Offset, len(q.Result))
		}
		handles[i].Release()
	}
}

func TestMultiReadConcurrent(t *testing.T) {
	const size = 1 << 20
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeRandom(t, fs, size)
		r := openForReads(t, fs, name, true)
		defer r.Close()
		var workers sync.WaitGroup
		for g := range 6 {
			workers.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(g), 9))
				reqs := make([]rocksdb.FSReadRequest, 300)
				for range 5 {
					for i := range reqs {
						reqs[i] = rocksdb.FSReadRequest{Offset: uint64(rnd.IntN(size) / testSector * testSector), Len: testSector, Scratch: alignedBytes(testSector, 0)}
					}
					if err := r.MultiRead(reqs, nil); err != nil {
						t.Error(err)
					}
					for i := range reqs {
						if reqs[i].Status != nil || string(reqs[i].Result) != string(part(content, reqs[i].Offset, testSector)) {
							t.Errorf("request %d: %v", i, reqs[i].Status)
						}
					}
				}
			})
		}
		workers.Wait()
		if n := len(fs.async.mu.idle); n > 6 {
			t.Errorf("%d rings for 6 goroutines", n)
		}
	})
}

// TestReadAsyncManyUnderWay begins more reads than all the shared rings take.
func TestReadAsyncManyUnderWay(t *testing.T) {
	const count = 3 * asyncQueueDepth
	fs := asyncFS(t, AsyncReadAuto)
	name, content := writeRandom(t, fs, 1<<20)
	r := openForReads(t, fs, name, false)
	defer r.Close()
	reqs := make([]rocksdb.FSReadRequest, count)
	var handles []rocksdb.IOHandle
	called := 0
	for i := range reqs {
		reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * 300), Len: 100, Scratch: make([]byte, 100)}
		h, err := r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) { called++ })
		noError(t, err)
		handles = append(handles, h)
	}
	noError(t, fs.Poll(handles, count))
	wantInt(t, called, count)
	for i := range reqs {
		noError(t, reqs[i].Status)
		wantBytes(t, reqs[i].Result, part(content, reqs[i].Offset, 100))
		handles[i].Release()
	}
}

// TestReadAsyncForgotten releases reads that are under way and drops all of
// theirs. Memory that is then allocated may not be what the system writes to.
func TestReadAsyncForgotten(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		const size = 1 << 20
		name, content := writeSectors(t, fs, size)
		r := openForReads(t, fs, name, true)
		defer r.Close()
		for range 10 {
			for range 4 {
				h, err := r.ReadAsync(&rocksdb.FSReadRequest{Len: size, Scratch: alignedBytes(size, 0)}, nil, func(*rocksdb.FSReadRequest) {
					t.Error("the callback of a forgotten read")
				})
				noError(t, err)
				h.Release()
			}
			runtime.GC()
			runtime.GC()
			var fresh [8][]byte
			for i := range fresh {
				fresh[i] = alignedBytes(size, 0)
			}
			time.Sleep(5 * time.Millisecond)
			for i := range fresh {
				wantBytes(t, fresh[i], make([]byte, size))
			}
		}
		req := rocksdb.FSReadRequest{Len: size, Scratch: alignedBytes(size, 0)}
		h, err := r.ReadAsync(&req, nil, func(*rocksdb.FSReadRequest) {})
		noError(t, err)
		noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
		noError(t, req.Status)
		wantBytes(t, req.Result, content)
		h.Release()
	})
}

// TestReadAsyncPassingErrors tells the queue of errors that a pread mends.
func TestReadAsyncPassingErrors(t *testing.T) {
	fs := asyncFS(t, AsyncReadGoroutines)
	name, content := writeRandom(t, fs, 10000)
	file := openForReads(t, fs, name, false).(*posixRandomAccessFile)
	for _, errno := range []syscall.Errno{syscall.EINTR, syscall.EAGAIN, syscall.ECANCELED, syscall.EIO} {
		req := &rocksdb.FSReadRequest{Offset: 5, Len: 10, Scratch: make([]byte, 10)}
		h := &asyncRead{q: &fs.async.byGoroutine, r: file, req: req, buf: req.Scratch, n: -int(errno), done: true, cb: func(*rocksdb.FSReadRequest) {}}
		noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
		if errno == syscall.EIO {
			if !rocksdb.IsIOError(req.Status) || len(req.Result) != 0 {
				t.Errorf("%v: %v", errno, req.Status)
			}
			continue
		}
		noError(t, req.Status)
		wantBytes(t, req.Result, content[5:15])
	}
	noError(t, file.Close())
	req := &rocksdb.FSReadRequest{Offset: 5, Len: 10, Scratch: make([]byte, 10)}
	h := &asyncRead{q: &fs.async.byGoroutine, r: file, req: req, buf: req.Scratch, n: -int(syscall.EAGAIN), done: true, cb: func(*rocksdb.FSReadRequest) {}}
	noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
	if !rocksdb.IsIOError(req.Status) {
		t.Errorf("of a closed file: %v", req.Status)
	}
}

func TestRocksDbIOUringEnable(t *testing.T) {
	defer RocksDbIOUringEnable(true)
	a := defaultFileSystem().async
	works := a.usesRings()
	RocksDbIOUringEnable(false)
	if a.usesRings() {
		t.Error("io_uring is used though forbidden")
	}
	RocksDbIOUringEnable(true)
	if a.usesRings() != works {
		t.Error("io_uring does not come back")
	}
	if !rocksdb.CheckFSFeatureSupport(DefaultFileSystem(), rocksdb.AsyncIO) {
		t.Error("no asynchronous reads")
	}
}

func TestAsyncReadsDoNotAllocate(t *testing.T) {
	if syncpoint.Enabled || invariants.Enabled {
		t.Skip("counts the build without tags")
	}
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		const count = 32
		name, _ := writeRandom(t, fs, 1<<20)
		r := openForReads(t, fs, name, false)
		defer r.Close()
		reqs := make([]rocksdb.FSReadRequest, count)
		handles := make([]rocksdb.IOHandle, count)
		for i := range reqs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * 4096), Len: 4096, Scratch: make([]byte, 4096)}
		}
		cb := func(*rocksdb.FSReadRequest) {}
		// The pools may be emptied by a collection in between.
		if n := testing.AllocsPerRun(100, func() { _ = r.MultiRead(reqs, nil) }); n > 2 {
			t.Errorf("MultiRead of %d allocates %v times", count, n)
		}
		n := testing.AllocsPerRun(100, func() {
			for i := range reqs {
				handles[i], _ = r.ReadAsync(&reqs[i], nil, cb)
			}
			_ = fs.Poll(handles, count)
			for _, h := range handles {
				h.Release()
			}
		})
		if n > 4 {
			t.Errorf("%d ReadAsync and Poll allocate %v times", count, n)
		}
	})
}

// BenchmarkMultiRead reads 32 random blocks of 4 KiB: directly, where the file
// system can, and from the system's cache.
func BenchmarkMultiRead(b *testing.B) {
	const count, size = 32, 256 << 20
	fs := asyncFS(b, AsyncReadAuto)
	name, _ := writeRandom(b, fs, size)
	reqs := make([]rocksdb.FSReadRequest, count)
	for i := range reqs {
		reqs[i] = rocksdb.FSReadRequest{Len: testSector, Scratch: alignedBytes(testSector, 0)}
	}
	handles := make([]rocksdb.IOHandle, count)
	cb := func(*rocksdb.FSReadRequest) {}
	async := func(r rocksdb.FSRandomAccessFile) {
		for i := range reqs {
			h, err := r.ReadAsync(&reqs[i], nil, cb)
			noErrorTB(b, err)
			handles[i] = h
		}
		noErrorTB(b, fs.Poll(handles, count))
		for _, h := range handles {
			h.Release()
		}
	}
	multi := func(r rocksdb.FSRandomAccessFile) { noErrorTB(b, r.MultiRead(reqs, nil)) }
	serial := func(r rocksdb.FSRandomAccessFile) {
		for i := range reqs {
			reqs[i].Result, reqs[i].Status = r.Read(reqs[i].Offset, reqs[i].Len, nil, reqs[i].Scratch)
		}
	}
	for _, direct := range []bool{true, false} {
		r := openForReads(b, fs, name, direct)
		for _, c := range []struct {
			name string
			mode AsyncReadMode
			f    func(rocksdb.FSRandomAccessFile)
		}{
			{"Pread", AsyncReadAuto, serial},
			{"IOUring", AsyncReadIOUring, multi},
			{"Goroutines", AsyncReadGoroutines, multi},
			{"ReadAsyncIOUring", AsyncReadIOUring, async},
			{"ReadAsyncGoroutines", AsyncReadGoroutines, async},
		} {
			b.Run(fmt.Sprintf("%s/direct=%v", c.name, r.UseDirectIO()), func(b *testing.B) {
				fs.SetAsyncReadMode(c.mode)
				rnd := rand.New(rand.NewPCG(1, 1))
				b.SetBytes(count * testSector)
				b.ReportAllocs()
				for b.Loop() {
					for i := range reqs {
						reqs[i].Offset = uint64(rnd.IntN(size/testSector) * testSector)
					}
					c.f(r)
					for i := range reqs {
						noErrorTB(b, reqs[i].Status)
					}
				}
				b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "reads/s")
			})
		}
		noErrorTB(b, r.Close())
	}
}

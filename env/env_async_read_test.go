// Port of env/env_test.cc (the cases of io_uring). Differs: direct I/O is real;
// the cases run with io_uring and with goroutines.

package env

import (
	"bytes"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const testSector = 4096

// alignedBytes is memory for direct I/O.
func alignedBytes(n int, c byte) []byte {
	b := make([]byte, n+testSector)
	b = b[-uintptr(unsafe.Pointer(&b[0]))%testSector:][:n:n]
	for i := range b {
		b[i] = c
	}
	return b
}

// asyncFS is a file system of its own, closed with the test.
func asyncFS(t testing.TB, mode AsyncReadMode) *PosixFileSystem {
	fs := newPosixFileSystem()
	fs.SetAsyncReadMode(mode)
	t.Cleanup(fs.async.close)
	return fs
}

// asyncTest runs f with io_uring, where there is one, with goroutines, and with
// goroutines because the system refuses the rings.
func asyncTest(t *testing.T, f func(t *testing.T, fs *PosixFileSystem)) {
	t.Run("IOUring", func(t *testing.T) {
		fs := asyncFS(t, AsyncReadIOUring)
		if !fs.async.usesRings() {
			t.Skip("no io_uring here")
		}
		f(t, fs)
	})
	t.Run("Goroutines", func(t *testing.T) { f(t, asyncFS(t, AsyncReadGoroutines)) })
	t.Run("Refused", func(t *testing.T) {
		fs := asyncFS(t, AsyncReadAuto)
		fs.async.state.Store(ringsRefused)
		f(t, fs)
	})
}

// writeSectors makes a file of size bytes whose sectors hold 1, 2, …
func writeSectors(t testing.TB, fs rocksdb.FileSystem, size int) (name string, content []byte) {
	t.Helper()
	content = make([]byte, size)
	for i := range content {
		content[i] = byte(i/testSector + 1)
	}
	name = filepath.Join(t.TempDir(), "f")
	w, err := fs.NewWritableFile(name, nil)
	noErrorTB(t, err)
	noErrorTB(t, w.Append(content, nil))
	noErrorTB(t, w.Close(nil))
	return name, content
}

func noErrorTB(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openForReads opens a file; with direct I/O, where the file system has it.
func openForReads(t testing.TB, fs rocksdb.FileSystem, name string, direct bool) rocksdb.FSRandomAccessFile {
	t.Helper()
	opts := rocksdb.DefaultFileOptions()
	opts.UseDirectReads = direct
	r, err := fs.NewRandomAccessFile(name, &opts)
	if err != nil && direct {
		t.Log("no direct I/O here")
		opts.UseDirectReads = false
		r, err = fs.NewRandomAccessFile(name, &opts)
	}
	noErrorTB(t, err)
	return r
}

func wantBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, other than the %d expected", len(got), len(want))
	}
}

func TestEnvPosixTest_NonAlignedDirectIOMultiReadBeyondFileSize(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeSectors(t, fs, 4095)
		r := openForReads(t, fs, name, true)
		defer r.Close()
		alignment := uint64(r.GetRequiredBufferAlignment())
		var reqs []rocksdb.FSReadRequest
		for _, x := range [][2]uint64{{0, 2047}, {2047, 4096 - 2047}} {
			from := x[0] / alignment * alignment
			n := int((x[0]+x[1]+alignment-1)/alignment*alignment - from)
			reqs = append(reqs, rocksdb.FSReadRequest{Offset: from, Len: n, Scratch: alignedBytes(n, 0)})
		}
		noError(t, r.MultiRead(reqs, nil))
		for i := range reqs {
			q := &reqs[i]
			noError(t, q.Status)
			wantBytes(t, q.Result, content[q.Offset:min(q.Offset+uint64(q.Len), 4095)])
		}
	})
}

// readAsyncFS mocks asynchronous reads: a goroutine each, every second fails.
type readAsyncFS struct {
	rocksdb.FileSystemWrapper
	workers sync.WaitGroup
}

type readAsyncFile struct {
	rocksdb.FSRandomAccessFile
	fs      *readAsyncFS
	counter int
}

type mockIOHandle struct {
	req  *rocksdb.FSReadRequest
	cb   func(*rocksdb.FSReadRequest)
	fail bool
}

func (*mockIOHandle) Release() {}

func (fs *readAsyncFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	f, err := fs.Target().NewRandomAccessFile(name, opts)
	return &readAsyncFile{FSRandomAccessFile: f, fs: fs}, err
}

func (fs *readAsyncFS) Poll(handles []rocksdb.IOHandle, _ int) error {
	fs.workers.Wait()
	for _, x := range handles {
		if h := x.(*mockIOHandle); h.fail {
			h.req.Status = rocksdb.IOError()
			h.cb(h.req)
		}
	}
	return nil
}

func (r *readAsyncFile) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	h := &mockIOHandle{req: req, cb: cb, fail: r.counter%2 == 1}
	r.counter++
	if !h.fail {
		r.fs.workers.Go(func() {
			req.Result, req.Status = r.Read(req.Offset, req.Len, opts, req.Scratch)
			cb(req)
		})
	}
	return h, nil
}

func TestTestAsyncRead_ReadAsync(t *testing.T) {
	const sectors = 8
	fs := &readAsyncFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: DefaultFileSystem()}}
	name, content := writeSectors(t, fs, sectors*testSector)
	r, err := fs.NewRandomAccessFile(name, nil)
	noError(t, err)
	defer r.Close()
	reqs := make([]rocksdb.FSReadRequest, sectors)
	var called [sectors]atomic.Int32
	var handles []rocksdb.IOHandle
	for i := range reqs {
		reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * testSector), Len: testSector, Scratch: make([]byte, testSector)}
		h, err := r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) { called[i].Add(1) })
		noError(t, err)
		handles = append(handles, h)
	}
	noError(t, fs.Poll(handles, sectors))
	for i := range reqs {
		wantInt(t, int(called[i].Load()), 1)
		if i%2 == 1 {
			if !rocksdb.IsIOError(reqs[i].Status) {
				t.Errorf("read %d: %v", i, reqs[i].Status)
			}
			continue
		}
		noError(t, reqs[i].Status)
		wantBytes(t, reqs[i].Result, content[i*testSector:(i+1)*testSector])
	}
	for _, h := range handles {
		h.Release()
	}
}

func TestTestAsyncRead_InterleavingIOUringOperations(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		const sectors = 8
		name, content := writeSectors(t, fs, sectors*testSector)
		r := openForReads(t, fs, name, false)
		defer r.Close()
		async, multi := make([]rocksdb.FSReadRequest, sectors), make([]rocksdb.FSReadRequest, sectors)
		var handles []rocksdb.IOHandle
		called := 0
		for i := range async {
			async[i] = rocksdb.FSReadRequest{Offset: uint64(i * testSector), Len: testSector, Scratch: make([]byte, testSector)}
			multi[i] = async[i]
			multi[i].Scratch = make([]byte, testSector)
			h, err := r.ReadAsync(&async[i], nil, func(*rocksdb.FSReadRequest) { called++ })
			noError(t, err)
			handles = append(handles, h)
		}
		noError(t, r.MultiRead(multi, nil))
		check := func(reqs []rocksdb.FSReadRequest) {
			for i := range reqs {
				noError(t, reqs[i].Status)
				wantInt(t, int(reqs[i].Offset), i*testSector)
				wantBytes(t, reqs[i].Result, content[i*testSector:(i+1)*testSector])
			}
		}
		check(multi)
		wantInt(t, called, 0) // not before Poll
		noError(t, fs.Poll(handles, sectors))
		wantInt(t, called, sectors)
		check(async)
		for _, h := range handles {
			h.Release()
		}
	})
}

// readSpec is an offset and a length.
type readSpec [2]int

// abortIOTest begins the reads and aborts them at once, several times.
func abortIOTest(t *testing.T, fileSize int, specs []readSpec, direct bool, iterations int) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, _ := writeSectors(t, fs, fileSize)
		for range iterations {
			r := openForReads(t, fs, name, direct)
			reqs := make([]rocksdb.FSReadRequest, len(specs))
			var handles []rocksdb.IOHandle
			called := 0
			for i, s := range specs {
				reqs[i] = rocksdb.FSReadRequest{Offset: uint64(s[0]), Len: s[1], Scratch: alignedBytes(s[1], 0)}
				h, err := r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) { called++ })
				noError(t, err)
				handles = append(handles, h)
			}
			noError(t, fs.AbortIO(handles))
			wantInt(t, called, len(specs))
			for i, h := range handles {
				if rocksdb.CodeOf(reqs[i].Status) != rocksdb.CodeAborted || reqs[i].Result != nil {
					t.Fatalf("read %d: %v", i, reqs[i].Status)
				}
				if a := h.(*asyncRead); !a.done || !a.finished.yes {
					t.Fatalf("read %d is not finished", i)
				}
				h.Release()
			}
			noError(t, r.Close())
		}
	})
}

func TestTestAsyncRead_AbortIOOverlappingAligned(t *testing.T) {
	abortIOTest(t, 64<<10, []readSpec{{0, 16384}, {8192, 16384}, {16384, 16384}, {24576, 16384}}, false, 1)
}

func TestTestAsyncRead_AbortIOUnalignedOffsets(t *testing.T) {
	abortIOTest(t, 64<<10, []readSpec{{1000, 8192}, {5000, 12288}, {15000, 8192}, {25500, 16384}}, false, 1)
}

func TestTestAsyncRead_AbortIOMixedOffsets(t *testing.T) {
	abortIOTest(t, 128<<10, []readSpec{{0, 4096}, {1500, 8192}, {4096, 20480}, {7000, 4096}, {16384, 32768}, {50000, 8192}}, false, 1)
}

func TestTestAsyncRead_AbortIOStress(t *testing.T) {
	var specs []readSpec
	for i := range 16 {
		specs = append(specs, readSpec{i * 4000, 8192 + i%4*4096})
	}
	abortIOTest(t, 256<<10, specs, false, 1)
}

func TestTestAsyncRead_AbortIOReversedHandles(t *testing.T) {
	abortIOTest(t, 2<<20, []readSpec{{0, 1 << 20}, {1 << 20, 4096}}, true, 100)
}

func TestTestAsyncRead_AbortIOPartialHandlesBug(t *testing.T) {
	asyncTest(t, func(t *testing.T, fs *PosixFileSystem) {
		name, content := writeSectors(t, fs, 2<<20)
		r := openForReads(t, fs, name, true)
		defer r.Close()
		specs := []readSpec{{0, 1 << 20}, {1 << 20, 4096}, {1<<20 + 4096, 4096}}
		reqs := make([]rocksdb.FSReadRequest, len(specs))
		var handles []rocksdb.IOHandle
		called := 0
		for i, s := range specs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(s[0]), Len: s[1], Scratch: alignedBytes(s[1], 0)}
			h, err := r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) { called++ })
			noError(t, err)
			handles = append(handles, h)
		}
		time.Sleep(200 * time.Millisecond) // all are done, none is taken
		noError(t, fs.AbortIO(handles[:1]))
		wantInt(t, called, 1)
		if rocksdb.CodeOf(reqs[0].Status) != rocksdb.CodeAborted {
			t.Errorf("the aborted read: %v", reqs[0].Status)
		}
		noError(t, fs.Poll(handles[1:], 2))
		wantInt(t, called, 3)
		for i := 1; i < 3; i++ {
			noError(t, reqs[i].Status)
			wantBytes(t, reqs[i].Result, content[specs[i][0]:specs[i][0]+4096])
		}
		for _, h := range handles {
			h.Release()
		}
	})
}

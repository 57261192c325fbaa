// No upstream twin: the rings themselves, and a system that refuses them.

package env

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestIORingLayout(t *testing.T) {
	wantInt(t, int(unsafe.Sizeof(ioSQE{})), 64)
	wantInt(t, int(unsafe.Sizeof(ioCQE{})), 16)
	wantInt(t, int(unsafe.Sizeof(ioParams{})), 120)
	wantInt(t, int(unsafe.Offsetof(ioSQE{}.userData)), 32)
	wantInt(t, int(unsafe.Offsetof(ioParams{}.sqOff)), 40)
	wantInt(t, int(unsafe.Offsetof(ioParams{}.cqOff)), 80)
}

func needIORing(t *testing.T, entries, cqEntries uint32) *ioRing {
	r, err := newIORing(entries, cqEntries)
	if err != nil {
		t.Skip("no io_uring here: ", err)
	}
	t.Cleanup(r.close)
	return r
}

func TestIORing(t *testing.T) {
	r := needIORing(t, 4, 8)
	f, err := os.Open(os.Args[0])
	noError(t, err)
	defer f.Close()
	sys := sysFile{int(f.Fd())}
	bufs := make([][]byte, 4)
	read := func() {
		for i := range bufs {
			bufs[i] = make([]byte, 4)
			if !r.prepareRead(sys, bufs[i], uint64(i), uint64(100+i)) {
				t.Fatal("no place")
			}
		}
		if r.prepareRead(sys, bufs[0], 0, 0) || r.prepareCancel(0, 0) {
			t.Fatal("a place in a full ring")
		}
	}
	read()
	var back []uint64
	r.takeBack(func(data uint64) { back = append(back, data) })
	if len(back) != 4 || back[0] != 100 || back[3] != 103 || r.pending() != 0 {
		t.Fatalf("took back %v, %d pending", back, r.pending())
	}
	for range 10 { // round the rings
		read()
		seen := 0
		for n := 0; n < 4; {
			k, err := r.enter(4)
			if err != nil && !isRetryable(err) {
				t.Fatal(err)
			}
			n += k
		}
		for seen < 4 {
			data, n, ok := r.take()
			if !ok {
				_ = r.await(1)
				continue
			}
			seen++
			wantInt(t, n, 4)
			if data < 100 || data > 103 {
				t.Fatalf("completion of %d", data)
			}
		}
		if got := string(bufs[0]); got != "\x7fELF" || string(bufs[1][:3]) != "ELF" {
			t.Fatalf("read %q", got)
		}
	}
	noError(t, r.probe())
}

func TestNewIORingFails(t *testing.T) {
	_, err := newIORing(0, 8)
	if err == nil {
		t.Fatal("a ring without entries")
	}
	for err, want := range map[error]bool{unix.ENOSYS: true, unix.EPERM: true, unix.EACCES: true, unix.EMFILE: false, unix.ENOMEM: false} {
		if isRefusal(err) != want {
			t.Errorf("%v is a refusal: %v", err, !want)
		}
	}
}

// TestReadAsyncThreadEnds begins reads in threads that end at once: the kernel
// cancels what a thread began.
func TestReadAsyncThreadEnds(t *testing.T) {
	fs := asyncFS(t, AsyncReadIOUring)
	if !fs.async.usesRings() {
		t.Skip("no io_uring here")
	}
	name, content := writeRandom(t, fs, 1<<20)
	r := openForReads(t, fs, name, true)
	defer r.Close()
	for range 50 {
		req := rocksdb.FSReadRequest{Len: 1 << 20, Scratch: alignedBytes(1<<20, 0)}
		begun := make(chan rocksdb.IOHandle)
		go func() {
			runtime.LockOSThread() // never unlocked
			h, err := r.ReadAsync(&req, nil, func(*rocksdb.FSReadRequest) {})
			if err != nil {
				t.Error(err)
			}
			begun <- h
		}()
		h := <-begun
		noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
		noError(t, req.Status)
		wantBytes(t, req.Result, content)
		h.Release()
	}
}

const refuseVariable = "ROCKSDB_TEST_REFUSE_IO_URING"

// refuseIOUring makes the system answer as container runtimes' filters do, to
// this process for good.
func refuseIOUring(t *testing.T, errno unix.Errno) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_IO_URING_SETUP},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	noError(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	const setModeFilter, allThreads = 1, 1
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, allThreads, uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		t.Skip("no system call filters here: ", e)
	}
}

func TestIOUringRefusedBySystem(t *testing.T) {
	refusals := map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}
	if errno, child := refusals[os.Getenv(refuseVariable)]; child {
		refuseIOUring(t, errno)
		if _, err := newIORing(8, 8); !errors.Is(err, errno) {
			t.Fatalf("a ring gives %v", err)
		}
		readsWithoutIOUring(t)
		return
	}
	for name := range refusals {
		cmd := exec.Command(os.Args[0], "-test.run=^TestIOUringRefusedBySystem$", "-test.v")
		cmd.Env = append(os.Environ(), refuseVariable+"="+name)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		} else if strings.Contains(string(out), "SKIP") {
			t.Skipf("%s", out)
		}
	}
}

// readsWithoutIOUring reads by goroutines, and not at all asynchronously when
// only rings are wanted.
func readsWithoutIOUring(t *testing.T) {
	fs := asyncFS(t, AsyncReadAuto)
	name, content := writeRandom(t, fs, 100000)
	r := openForReads(t, fs, name, false)
	defer r.Close()
	for _, mode := range []AsyncReadMode{AsyncReadAuto, AsyncReadIOUring} {
		fs.SetAsyncReadMode(mode)
		if got := rocksdb.CheckFSFeatureSupport(fs, rocksdb.AsyncIO); got != (mode == AsyncReadAuto) {
			t.Errorf("mode %d: asynchronous reads: %v", mode, got)
		}
		reqs := make([]rocksdb.FSReadRequest, 50)
		for i := range reqs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * 1999), Len: 1000, Scratch: make([]byte, 1000)}
		}
		noError(t, r.MultiRead(reqs, nil))
		for i := range reqs {
			noError(t, reqs[i].Status)
			wantBytes(t, reqs[i].Result, part(content, reqs[i].Offset, 1000))
		}
		reqs[0].Result = nil
		h, err := r.ReadAsync(&reqs[0], nil, func(*rocksdb.FSReadRequest) {})
		if mode == AsyncReadIOUring {
			if !rocksdb.IsNotSupported(err) || h != nil {
				t.Errorf("ReadAsync without a ring: %v, %v", h, err)
			}
			continue
		}
		noError(t, err)
		noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
		noError(t, reqs[0].Status)
		wantBytes(t, reqs[0].Result, content[:1000])
		h.Release()
	}
}

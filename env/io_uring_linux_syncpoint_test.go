//go:build linux && syncpoint

// No upstream twin: a kernel that fails in each of the ways it may.

package env

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// faultyRings gives a file read with io_uring alone, its content, and a way to
// have hooks at what a ring does; they end with the test.
func faultyRings(t *testing.T) (fs *PosixFileSystem, r rocksdb.FSRandomAccessFile, content []byte) {
	fs = asyncFS(t, AsyncReadIOUring)
	if !fs.async.usesRings() {
		t.Skip("no io_uring here")
	}
	name, content := writeRandom(t, fs, 1<<20)
	r = openForReads(t, fs, name, false)
	t.Cleanup(func() {
		syncpoint.Reset()
		_ = r.Close()
	})
	return fs, r, content
}

func onEnter(f func(*ioEnter)) {
	syncpoint.SetCallBack("ioRing::enter", func(arg any) { f(arg.(*ioEnter)) })
	syncpoint.EnableProcessing()
}

func someRequests(count int) []rocksdb.FSReadRequest {
	reqs := make([]rocksdb.FSReadRequest, count)
	for i := range reqs {
		reqs[i] = rocksdb.FSReadRequest{Offset: uint64(i * 1501), Len: 1000, Scratch: make([]byte, 1000), Status: rocksdb.Busy()}
	}
	return reqs
}

func checkRequests(t *testing.T, reqs []rocksdb.FSReadRequest, content []byte) {
	t.Helper()
	for i := range reqs {
		if reqs[i].Status != nil {
			t.Fatalf("request %d: %v", i, reqs[i].Status)
		}
		wantBytes(t, reqs[i].Result, part(content, reqs[i].Offset, reqs[i].Len))
	}
}

// readAllAsync begins the reads and polls them. begun counts those that could
// be begun; the first other's error is returned.
func readAllAsync(t *testing.T, fs rocksdb.FileSystem, r rocksdb.FSRandomAccessFile, reqs []rocksdb.FSReadRequest) (begun int, err error) {
	t.Helper()
	var handles []rocksdb.IOHandle
	for i := range reqs {
		var h rocksdb.IOHandle
		if h, err = r.ReadAsync(&reqs[i], nil, func(*rocksdb.FSReadRequest) {}); err != nil {
			break
		}
		handles = append(handles, h)
	}
	noError(t, fs.Poll(handles, len(handles)))
	for _, h := range handles {
		h.Release()
	}
	return len(handles), err
}

func TestIOUringPassingFailures(t *testing.T) {
	fs, r, content := faultyRings(t)
	for name, f := range map[string]func(call int, c *ioEnter){
		"EveryOther": func(call int, c *ioEnter) {
			if call%2 == 0 {
				c.err = unix.EINTR
			}
		},
		"ManyAgain": func(call int, c *ioEnter) {
			if call%30 != 0 {
				c.err = unix.EAGAIN
			}
		},
		"Busy": func(call int, c *ioEnter) {
			if call%3 != 0 {
				c.err = unix.EBUSY
			}
		},
		"OneAtATime": func(_ int, c *ioEnter) {
			if c.submit > 1 {
				c.submit, c.wait = 1, 0
			}
		},
		"OneThenAgain": func(call int, c *ioEnter) {
			switch {
			case call%2 == 0:
				c.err = unix.EAGAIN
			case c.submit > 1:
				c.submit, c.wait = 1, 0
			}
		},
		"WaitsInterrupted": func(call int, c *ioEnter) {
			if c.submit > 0 {
				c.wait = 0
			} else if call%2 == 0 {
				c.err = unix.EINTR
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			call, failed := 0, 0
			onEnter(func(c *ioEnter) {
				call++
				before := *c
				f(call, c)
				if *c != before {
					failed++
				}
			})
			reqs := someRequests(300)
			noError(t, r.MultiRead(reqs, nil))
			checkRequests(t, reqs, content)
			reqs = someRequests(40)
			_, err := readAllAsync(t, fs, r, reqs)
			noError(t, err)
			checkRequests(t, reqs, content)
			if failed == 0 {
				t.Error("no call failed")
			}
		})
	}
}

// TestIOUringNoMemory has a kernel that takes no request, for lack of memory or
// for ever for the time being: pread does it, but ReadAsync cannot begin.
func TestIOUringNoMemory(t *testing.T) {
	fs, r, content := faultyRings(t)
	for _, errno := range []unix.Errno{unix.ENOMEM, unix.EAGAIN} {
		taken := 0
		onEnter(func(c *ioEnter) {
			switch {
			case c.submit > 0 && taken < 3:
				taken++
				c.submit, c.wait = 1, 0
			case c.submit > 0:
				c.err = errno
			}
		})
		reqs := someRequests(300)
		noError(t, r.MultiRead(reqs, nil))
		checkRequests(t, reqs, content)
		reqs = someRequests(5)
		taken = 0
		begun, err := readAllAsync(t, fs, r, reqs)
		if begun != 3 || !rocksdb.IsIOError(err) {
			t.Errorf("%v: began %d, then %v", errno, begun, err)
		}
		checkRequests(t, reqs[:begun], content)
		syncpoint.Reset()
		_, err = readAllAsync(t, fs, r, reqs)
		noError(t, err)
		checkRequests(t, reqs, content)
	}
}

// TestIOUringFails has a kernel that takes some requests and then fails for
// good: MultiRead fails, and the ring is not used again.
func TestIOUringFails(t *testing.T) {
	fs, r, content := faultyRings(t)
	for _, fault := range []ioEnter{{err: unix.EINVAL}, {}} {
		calls := 0
		onEnter(func(c *ioEnter) {
			calls++
			switch {
			case calls == 1:
				c.submit, c.wait = 100, 0
			case calls == 2:
				*c = fault // fails, or takes nothing
			case calls < 20:
				c.err = unix.EINVAL // the waits as well
			}
		})
		reqs := someRequests(300)
		err := r.MultiRead(reqs, nil)
		if !rocksdb.IsIOError(err) {
			t.Fatalf("error %v", err)
		}
		for i := range reqs {
			if reqs[i].Status != err || reqs[i].Result != nil {
				t.Fatalf("request %d: %v", i, reqs[i].Status)
			}
		}
		wantInt(t, len(fs.async.mu.idle), 0)

		req := someRequests(1)
		onEnter(func(c *ioEnter) { *c = fault })
		if begun, err := readAllAsync(t, fs, r, req); begun != 0 || !rocksdb.IsIOError(err) {
			t.Errorf("began %d, then %v", begun, err)
		}
		syncpoint.Reset()
		reqs = someRequests(300)
		noError(t, r.MultiRead(reqs, nil))
		checkRequests(t, reqs, content)
		_, err = readAllAsync(t, fs, r, reqs)
		noError(t, err)
		checkRequests(t, reqs, content)
	}
}

func TestIOUringCompletions(t *testing.T) {
	fs, r, content := faultyRings(t)
	completions := 0
	onTake := func(f func(n *int)) {
		completions = 0
		syncpoint.SetCallBack("ioRing::take", func(arg any) {
			completions++
			f(arg.(*int))
		})
		syncpoint.EnableProcessing()
	}
	for _, errno := range []unix.Errno{unix.EINTR, unix.EAGAIN, unix.ECANCELED} {
		onTake(func(n *int) {
			if completions%2 == 0 {
				*n = -int(errno)
			}
		})
		reqs := someRequests(300)
		noError(t, r.MultiRead(reqs, nil))
		checkRequests(t, reqs, content)
		if completions <= 300 {
			t.Error("nothing was read again")
		}
		reqs = someRequests(20)
		_, err := readAllAsync(t, fs, r, reqs)
		noError(t, err)
		checkRequests(t, reqs, content)
	}
	// Errors of one read are its own; so is a count that cannot be.
	for _, bad := range []int{-int(unix.EIO), 1001} {
		onTake(func(n *int) {
			if completions == 7 {
				*n = bad
			}
		})
		for _, async := range []bool{false, true} {
			completions = 0
			reqs := someRequests(20)
			if async {
				_, err := readAllAsync(t, fs, r, reqs)
				noError(t, err)
			} else {
				noError(t, r.MultiRead(reqs, nil))
			}
			failed := 0
			for i := range reqs {
				if reqs[i].Status == nil {
					wantBytes(t, reqs[i].Result, part(content, reqs[i].Offset, reqs[i].Len))
				} else if failed++; !rocksdb.IsIOError(reqs[i].Status) || len(reqs[i].Result) != 0 {
					t.Errorf("request %d: %v", i, reqs[i].Status)
				}
			}
			wantInt(t, failed, 1)
		}
	}
}

// TestIOUringShortReadAsync: a short read is handed on as it is.
func TestIOUringShortReadAsync(t *testing.T) {
	fs, r, content := faultyRings(t)
	syncpoint.SetCallBack("UpdateResults::io_uring_result", func(arg any) { *arg.(*int) = 10 })
	syncpoint.EnableProcessing()
	reqs := someRequests(3)
	_, err := readAllAsync(t, fs, r, reqs)
	noError(t, err)
	for i := range reqs {
		noError(t, reqs[i].Status)
		wantBytes(t, reqs[i].Result, part(content, reqs[i].Offset, 10))
	}
}

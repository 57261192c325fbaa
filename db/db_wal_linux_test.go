// Port of db/db_wal_test.cc (preallocated space). Differs: the space that a
// crash leaves allocated is allocated here, and a file system looks at a log as
// it is deleted.

package db_test

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
)

// allocated is the bytes that a file takes on the device.
func (x *dbTest) allocated(path string) uint64 {
	x.Helper()
	var st syscall.Stat_t
	x.must(syscall.Stat(path, &st))
	return uint64(st.Blocks) * 512
}

// preallocate gives a file space beyond its end, as a log has that is written
// to. false where the file system does not tell, or cannot.
func (x *dbTest) preallocate(path string, size uint64) bool {
	x.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	x.must(err)
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, int64(size)); err != nil {
		x.Logf("no preallocation: %v", err)
		return false
	}
	return x.allocated(path) >= size
}

// preallocatedLog closes the database under o with a small log that has space
// allocated; size 0 where that cannot be seen.
func (x *dbTest) preallocatedLog(o rocksdb.Options, write bool) (path string, size uint64) {
	x.Helper()
	x.destroyAndReopen(o)
	size = x.full().TestGetWalPreallocateBlockSize(o.WriteBufferSize)
	if write {
		x.mustPut(0, "foo", "v1")
		logs := x.wals()
		if len(logs) != 1 || logs[0].SizeFileBytes >= 1<<10 {
			x.Fatalf("logs: %+v", logs)
		}
	}
	path = filename.LogFileName(x.dir, x.full().TestLogfileNumber())
	x.close()
	if n := x.allocated(path); n >= size {
		x.Errorf("%d bytes are allocated to a closed log", n)
	}
	if !x.preallocate(path, size) {
		size = 0
	}
	return path, size
}

func TestDBWALTest_TruncateLastLogAfterRecoverWithoutFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	path, size := x.preallocatedLog(o, true)
	x.reopen(o)
	logs := x.wals()
	if len(logs) != 1 || logs[0].SizeFileBytes >= 1<<10 {
		t.Fatalf("logs: %+v", logs)
	}
	if n := x.allocated(path); size > 0 && n >= size {
		t.Errorf("%d bytes are allocated", n)
	}
	x.wantGet(0, "foo", "v1")
}

// checkCutBeforeDeletion reopens; the log that was flushed has given its space
// back before it is deleted, for a process that crashes again and again may not
// get as far as that.
func (x *dbTest) checkCutBeforeDeletion(o rocksdb.Options, write bool) {
	x.Helper()
	path, size := x.preallocatedLog(o, write)
	var seen atomic.Bool
	o.Env = x.walEnv(&walFS{onDelete: func(name string) bool {
		if name == path {
			seen.Store(true)
			if n := x.allocated(path); size > 0 && n >= size {
				x.Errorf("%d bytes are allocated to a log that is deleted", n)
			}
		}
		return false
	}})
	x.reopen(o)
	if !seen.Load() {
		x.Error("the log was not deleted")
	}
}

func TestDBWALTest_TruncateLastLogAfterRecoverWithFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	x.checkCutBeforeDeletion(o, true)
	x.wantGet(0, "foo", "v1")
}

func TestDBWALTest_TruncateLastLogAfterRecoverWALEmpty(t *testing.T) {
	x := newDBTest(t)
	x.checkCutBeforeDeletion(x.currentOptions(), false)
}

func TestDBWALTest_ReadOnlyRecoveryNoTruncate(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	path, _ := x.preallocatedLog(o, true)
	before := x.allocated(path)
	x.must(x.tryReadOnlyReopen(o))
	logs := x.wals()
	if len(logs) != 1 || logs[0].SizeFileBytes >= 1<<10 || filename.LogFileName(x.dir, logs[0].LogNumber) != path {
		t.Fatalf("logs: %+v", logs)
	}
	if n := x.allocated(path); n != before {
		t.Errorf("%d bytes are allocated, before %d", n, before)
	}
	x.wantGet(0, "foo", "v1")
}

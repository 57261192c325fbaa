// Port of util/filelock_test.cc. Differs: the other process is this test
// started again, since a Go process cannot fork.

package env_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const lockFileVariable = "ROCKSDB_TEST_LOCK_FILE"

// TestMain locks the file that it is told of, in the process that
// otherProcessCanLock starts.
func TestMain(m *testing.M) {
	if name := os.Getenv(lockFileVariable); name != "" {
		l, err := env.DefaultFileSystem().LockFile(name, nil)
		if err != nil {
			os.Exit(3)
		}
		if env.DefaultFileSystem().UnlockFile(l, nil) != nil {
			os.Exit(4)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func otherProcessCanLock(t *testing.T, name string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockFileVariable+"="+name)
	err := cmd.Run()
	if err == nil {
		return true
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Fatal(err)
	}
	return false
}

func TestLockTest_LockBySameThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fs := env.DefaultFileSystem()
	name := filepath.Join(t.TempDir(), "LOCK")
	l, err := fs.LockFile(name, nil)
	ok(t, err)
	eq(t, l.Path(), name)
	eq(t, otherProcessCanLock(t, name), false)

	_, err = fs.LockFile(name, nil)
	if !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), strconv.FormatUint(env.Default().GetThreadID(), 10)) {
		t.Fatalf("second lock: %v", err)
	}
	for _, part := range []string{"IO error: lock hold by current process, acquire time ", " acquiring thread ", ": " + name + ": No locks available"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %q", part, err)
		}
	}
	eq(t, otherProcessCanLock(t, name), false)

	ok(t, fs.UnlockFile(l, nil))
	eq(t, otherProcessCanLock(t, name), true)
	nok(t, fs.UnlockFile(l, nil))
}

// Upstream has no such case: under another name the lock would be lost.
func TestLockFileOtherName(t *testing.T) {
	fs := env.DefaultFileSystem()
	dir := t.TempDir()
	name, link := filepath.Join(dir, "LOCK"), filepath.Join(dir, "LINK")
	l, err := fs.LockFile(name, nil)
	ok(t, err)
	ok(t, os.Symlink(name, link))
	_, err = fs.LockFile(link, nil)
	nok(t, err)
	eq(t, otherProcessCanLock(t, name), false)
	ok(t, fs.UnlockFile(l, nil))
}

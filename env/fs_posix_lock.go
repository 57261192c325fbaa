// Port of env/fs_posix.cc (LockFile, UnlockFile).

package env

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// lockHolding says who in this process holds a lock.
type lockHolding struct {
	acquireTime     int64 // seconds since 1970
	acquiringThread uint64
	info            os.FileInfo
}

// lockedFiles records the locks this process holds, by path.
var lockedFiles struct {
	mu     sync.Mutex
	byPath map[string]lockHolding
}

type posixFileLock struct {
	path string
	f    sysFile
}

func (l *posixFileLock) Path() string { return l.path }

// findHoldingLocked looks a file up by its path, then by identity: closing a
// second descriptor of a locked file would drop its lock. lockedFiles.mu is
// held.
func findHoldingLocked(path string) (lockHolding, bool) {
	if h, ok := lockedFiles.byPath[path]; ok {
		return h, true
	}
	if fi, err := os.Stat(path); err == nil {
		for _, h := range lockedFiles.byPath {
			if h.info != nil && os.SameFile(fi, h.info) {
				return h, true
			}
		}
	}
	return lockHolding{}, false
}

// LockFile makes the file when missing and locks it; it does not wait.
func (p *PosixFileSystem) LockFile(name string, opts *rocksdb.IOOptions) (rocksdb.FileLock, error) {
	lockedFiles.mu.Lock()
	defer lockedFiles.mu.Unlock()
	if h, ok := findHoldingLocked(name); ok {
		return nil, IOError(fmt.Sprintf("lock hold by current process, acquire time %d acquiring thread %d",
			h.acquireTime, h.acquiringThread), name, syscall.ENOLCK)
	}
	f, err := openSys(name, os.O_RDWR|os.O_CREATE, 0644, true)
	if err != nil {
		return nil, IOError("while open a file for lock", name, err)
	}
	if err := f.lock(true); err != nil {
		_ = f.close()
		return nil, IOError("While lock file", name, err)
	}
	h := lockHolding{acquireTime: time.Now().Unix(), acquiringThread: threadID()}
	h.info, _ = os.Stat(name)
	if lockedFiles.byPath == nil {
		lockedFiles.byPath = map[string]lockHolding{}
	}
	lockedFiles.byPath[name] = h
	return &posixFileLock{path: name, f: f}, nil
}

// UnlockFile gives a lock up; it cannot be used after that.
func (p *PosixFileSystem) UnlockFile(lock rocksdb.FileLock, _ *rocksdb.IOOptions) error {
	l, ok := lock.(*posixFileLock)
	if !ok {
		return rocksdb.InvalidArgument("UnlockFile", "lock is not one of PosixFileSystem")
	}
	lockedFiles.mu.Lock()
	defer lockedFiles.mu.Unlock()
	if _, held := lockedFiles.byPath[l.path]; !held {
		return IOError("unlock", l.path, syscall.ENOLCK)
	}
	delete(lockedFiles.byPath, l.path)
	err := l.f.lock(false)
	_ = l.f.close()
	if err != nil {
		return IOError("unlock", l.path, err)
	}
	return nil
}

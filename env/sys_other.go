//go:build !linux

// No upstream twin: what sys_linux.go has, over package os. No direct I/O, no
// preallocation, no range sync, no advice.

package env

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const oDirect = 0

// sysFile is an open file or directory. Its zero value is not one.
type sysFile struct{ f *os.File }

func unwrapPathError(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

func openSys(name string, flags int, mode uint32, _ bool) (sysFile, error) {
	f, err := os.OpenFile(name, flags, os.FileMode(mode))
	return sysFile{f}, unwrapPathError(err)
}

func openSysDir(name string) (sysFile, error) { return openSys(name, os.O_RDONLY, 0, true) }

func isEINTR(error) bool { return false } // package os retries

func eofToNil(n int, err error) (int, error) {
	if err == io.EOF {
		err = nil
	}
	return n, unwrapPathError(err)
}

func (f sysFile) close() error               { return unwrapPathError(f.f.Close()) }
func (f sysFile) read(p []byte) (int, error) { return eofToNil(f.f.Read(p)) }
func (f sysFile) pread(p []byte, off int64) (int, error) {
	return eofToNil(f.f.ReadAt(p, off))
}
func (f sysFile) write(p []byte) (int, error) { return eofToNil(f.f.Write(p)) }
func (f sysFile) pwrite(p []byte, off int64) (int, error) {
	return eofToNil(f.f.WriteAt(p, off))
}
func (f sysFile) seek(off int64, whence int) (int64, error) {
	pos, err := f.f.Seek(off, whence)
	return pos, unwrapPathError(err)
}
func (f sysFile) ftruncate(size int64) error { return unwrapPathError(f.f.Truncate(size)) }
func (f sysFile) fsync() error               { return unwrapPathError(f.f.Sync()) }
func (f sysFile) fdatasync() error           { return unwrapPathError(f.f.Sync()) }
func (f sysFile) number() int                { return int(f.f.Fd()) }

func (f sysFile) size() (uint64, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return 0, unwrapPathError(err)
	}
	return uint64(fi.Size()), nil
}

func (f sysFile) isDir() (bool, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return false, unwrapPathError(err)
	}
	return fi.IsDir(), nil
}

func (f sysFile) fallocate(bool, int64, int64) error          { return syscall.ENOSYS }
func (f sysFile) releaseTail(int64, int64)                    {}
func (f sysFile) isSyncFileRangeSupported() bool              { return false }
func (f sysFile) syncFileRange(int64, int64, bool) error      { return syscall.ENOSYS }
func (f sysFile) dropCache(int64, int64) error                { return nil }
func (f sysFile) readahead(int64, int64) error                { return nil }
func (f sysFile) advise(rocksdb.AccessPattern)                {}
func madvise([]byte, rocksdb.AccessPattern)                   {}
func (f sysFile) setWriteHint(rocksdb.WriteLifeTimeHint) bool { return false }
func (f sysFile) uniqueID([]byte) int                         { return 0 }
func (f sysFile) supportsFastAllocate() bool                  { return false }
func (f sysFile) isBtrfs() bool                               { return false }
func (f sysFile) inMemory() bool                              { return false }
func (f sysFile) deviceOf() (major, minor uint32, ok bool)    { return 0, 0, false }

func access(name string) error {
	_, err := os.Stat(name)
	return unwrapPathError(err)
}

func numLinks(fs.FileInfo) uint64 { return 1 }

func threadID() uint64 { return uint64(os.Getpid()) }

func unlink(name string) error {
	if fi, err := os.Lstat(name); err == nil && fi.IsDir() {
		return syscall.EISDIR
	}
	return os.Remove(name)
}

func rmdir(name string) error {
	if fi, err := os.Lstat(name); err == nil && !fi.IsDir() {
		return syscall.ENOTDIR
	}
	return os.Remove(name)
}

// Port of utilities/env_timed.{h,cc}. Differs: there is no thread-local perf
// context; the times are the file system's own.

package fsutil

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// TimedFileSystem measures how long its target takes. It is safe for concurrent
// use.
type TimedFileSystem struct {
	rocksdb.FileSystemWrapper
	perf rocksdb.PerfContext // its Env… fields, changed atomically
}

// NewTimedFileSystem measures base.
func NewTimedFileSystem(base rocksdb.FileSystem) *TimedFileSystem {
	return &TimedFileSystem{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: base}}
}

// NewTimedEnv is base with a TimedFileSystem.
func NewTimedEnv(base rocksdb.Env) rocksdb.Env {
	return env.NewCompositeEnvWrapper(base, NewTimedFileSystem(base.GetFileSystem()), nil)
}

// Name is TimedFS.
func (t *TimedFileSystem) Name() string { return "TimedFS" }

// EnvNanos gives the times so far, in nanoseconds, in the fields of a PerfContext
// whose names begin with Env.
func (t *TimedFileSystem) EnvNanos() rocksdb.PerfContext {
	var out rocksdb.PerfContext
	from, to := timedFields(&t.perf), timedFields(&out)
	for i := range from {
		*to[i] = atomic.LoadUint64(from[i])
	}
	return out
}

func timedFields(p *rocksdb.PerfContext) []*uint64 {
	return []*uint64{
		&p.EnvNewSequentialFileNanos, &p.EnvNewRandomAccessFileNanos, &p.EnvNewWritableFileNanos,
		&p.EnvReuseWritableFileNanos, &p.EnvNewRandomRwFileNanos, &p.EnvNewDirectoryNanos,
		&p.EnvFileExistsNanos, &p.EnvGetChildrenNanos, &p.EnvGetChildrenFileAttributesNanos,
		&p.EnvDeleteFileNanos, &p.EnvCreateDirNanos, &p.EnvCreateDirIfMissingNanos,
		&p.EnvDeleteDirNanos, &p.EnvGetFileSizeNanos, &p.EnvGetFileModificationTimeNanos,
		&p.EnvRenameFileNanos, &p.EnvLinkFileNanos, &p.EnvLockFileNanos,
		&p.EnvUnlockFileNanos, &p.EnvNewLoggerNanos,
	}
}

// timed begins a measurement; the function it gives ends it.
func timed(nanos *uint64) func() {
	clock := rocksdb.DefaultSystemClock()
	start := clock.NowNanos()
	return func() { atomic.AddUint64(nanos, clock.NowNanos()-start) }
}

// NewSequentialFile is measured.
func (t *TimedFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	defer timed(&t.perf.EnvNewSequentialFileNanos)()
	return t.Target().NewSequentialFile(name, opts)
}

// NewRandomAccessFile is measured.
func (t *TimedFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	defer timed(&t.perf.EnvNewRandomAccessFileNanos)()
	return t.Target().NewRandomAccessFile(name, opts)
}

// NewWritableFile is measured.
func (t *TimedFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	defer timed(&t.perf.EnvNewWritableFileNanos)()
	return t.Target().NewWritableFile(name, opts)
}

// ReuseWritableFile is measured.
func (t *TimedFileSystem) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	defer timed(&t.perf.EnvReuseWritableFileNanos)()
	return t.Target().ReuseWritableFile(name, oldName, opts)
}

// NewRandomRWFile is measured.
func (t *TimedFileSystem) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	defer timed(&t.perf.EnvNewRandomRwFileNanos)()
	return t.Target().NewRandomRWFile(name, opts)
}

// NewDirectory is measured.
func (t *TimedFileSystem) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	defer timed(&t.perf.EnvNewDirectoryNanos)()
	return t.Target().NewDirectory(name, opts)
}

// FileExists is measured.
func (t *TimedFileSystem) FileExists(name string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvFileExistsNanos)()
	return t.Target().FileExists(name, opts)
}

// GetChildren is measured.
func (t *TimedFileSystem) GetChildren(dir string, opts *rocksdb.IOOptions) ([]string, error) {
	defer timed(&t.perf.EnvGetChildrenNanos)()
	return t.Target().GetChildren(dir, opts)
}

// GetChildrenFileAttributes is measured.
func (t *TimedFileSystem) GetChildrenFileAttributes(dir string, opts *rocksdb.IOOptions) ([]rocksdb.FileAttributes, error) {
	defer timed(&t.perf.EnvGetChildrenFileAttributesNanos)()
	return t.Target().GetChildrenFileAttributes(dir, opts)
}

// DeleteFile is measured.
func (t *TimedFileSystem) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvDeleteFileNanos)()
	return t.Target().DeleteFile(name, opts)
}

// CreateDir is measured.
func (t *TimedFileSystem) CreateDir(name string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvCreateDirNanos)()
	return t.Target().CreateDir(name, opts)
}

// CreateDirIfMissing is measured.
func (t *TimedFileSystem) CreateDirIfMissing(name string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvCreateDirIfMissingNanos)()
	return t.Target().CreateDirIfMissing(name, opts)
}

// DeleteDir is measured.
func (t *TimedFileSystem) DeleteDir(name string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvDeleteDirNanos)()
	return t.Target().DeleteDir(name, opts)
}

// GetFileSize is measured.
func (t *TimedFileSystem) GetFileSize(name string, opts *rocksdb.IOOptions) (uint64, error) {
	defer timed(&t.perf.EnvGetFileSizeNanos)()
	return t.Target().GetFileSize(name, opts)
}

// GetFileModificationTime is measured.
func (t *TimedFileSystem) GetFileModificationTime(name string, opts *rocksdb.IOOptions) (uint64, error) {
	defer timed(&t.perf.EnvGetFileModificationTimeNanos)()
	return t.Target().GetFileModificationTime(name, opts)
}

// RenameFile is measured.
func (t *TimedFileSystem) RenameFile(src, target string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvRenameFileNanos)()
	return t.Target().RenameFile(src, target, opts)
}

// LinkFile is measured.
func (t *TimedFileSystem) LinkFile(src, target string, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvLinkFileNanos)()
	return t.Target().LinkFile(src, target, opts)
}

// LockFile is measured.
func (t *TimedFileSystem) LockFile(name string, opts *rocksdb.IOOptions) (rocksdb.FileLock, error) {
	defer timed(&t.perf.EnvLockFileNanos)()
	return t.Target().LockFile(name, opts)
}

// UnlockFile is measured.
func (t *TimedFileSystem) UnlockFile(lock rocksdb.FileLock, opts *rocksdb.IOOptions) error {
	defer timed(&t.perf.EnvUnlockFileNanos)()
	return t.Target().UnlockFile(lock, opts)
}

// NewLogger is measured.
func (t *TimedFileSystem) NewLogger(name string, opts *rocksdb.IOOptions) (rocksdb.Logger, error) {
	defer timed(&t.perf.EnvNewLoggerNanos)()
	return t.Target().NewLogger(name, opts)
}

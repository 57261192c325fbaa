// Port of env/fs_readonly.h. Differs: reopening, truncating and mapping a file
// for writing are refused as well.

package env

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// ReadOnlyFileSystem refuses all that would change its target.
type ReadOnlyFileSystem struct{ rocksdb.FileSystemWrapper }

// NewReadOnlyFileSystem wraps base.
func NewReadOnlyFileSystem(base rocksdb.FileSystem) *ReadOnlyFileSystem {
	return &ReadOnlyFileSystem{rocksdb.FileSystemWrapper{FileSystem: base}}
}

func failReadOnly() error { return rocksdb.IOError("Attempted write to ReadOnlyFileSystem") }

// Name is ReadOnlyFileSystem.
func (r *ReadOnlyFileSystem) Name() string { return "ReadOnlyFileSystem" }

// NewWritableFile fails.
func (r *ReadOnlyFileSystem) NewWritableFile(string, *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return nil, failReadOnly()
}

// ReopenWritableFile fails.
func (r *ReadOnlyFileSystem) ReopenWritableFile(string, *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return nil, failReadOnly()
}

// ReuseWritableFile fails.
func (r *ReadOnlyFileSystem) ReuseWritableFile(string, string, *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return nil, failReadOnly()
}

// NewRandomRWFile fails.
func (r *ReadOnlyFileSystem) NewRandomRWFile(string, *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	return nil, failReadOnly()
}

// NewMemoryMappedFileBuffer fails.
func (r *ReadOnlyFileSystem) NewMemoryMappedFileBuffer(string) (rocksdb.FSMemoryMappedFileBuffer, error) {
	return nil, failReadOnly()
}

// NewDirectory fails: a directory is opened to be synced.
func (r *ReadOnlyFileSystem) NewDirectory(string, *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	return nil, failReadOnly()
}

// DeleteFile fails.
func (r *ReadOnlyFileSystem) DeleteFile(string, *rocksdb.IOOptions) error { return failReadOnly() }

// Truncate fails.
func (r *ReadOnlyFileSystem) Truncate(string, uint64, *rocksdb.IOOptions) error {
	return failReadOnly()
}

// CreateDir fails.
func (r *ReadOnlyFileSystem) CreateDir(string, *rocksdb.IOOptions) error { return failReadOnly() }

// CreateDirIfMissing fails if it is missing.
func (r *ReadOnlyFileSystem) CreateDirIfMissing(name string, opts *rocksdb.IOOptions) error {
	if is, err := r.IsDirectory(name, opts); err == nil && is {
		return nil
	}
	return failReadOnly()
}

// DeleteDir fails.
func (r *ReadOnlyFileSystem) DeleteDir(string, *rocksdb.IOOptions) error { return failReadOnly() }

// RenameFile fails.
func (r *ReadOnlyFileSystem) RenameFile(string, string, *rocksdb.IOOptions) error {
	return failReadOnly()
}

// LinkFile fails.
func (r *ReadOnlyFileSystem) LinkFile(string, string, *rocksdb.IOOptions) error {
	return failReadOnly()
}

// SyncFile fails.
func (r *ReadOnlyFileSystem) SyncFile(string, *rocksdb.FileOptions, *rocksdb.IOOptions, bool) error {
	return failReadOnly()
}

// LockFile fails: it would make the file.
func (r *ReadOnlyFileSystem) LockFile(string, *rocksdb.IOOptions) (rocksdb.FileLock, error) {
	return nil, failReadOnly()
}

// NewLogger fails.
func (r *ReadOnlyFileSystem) NewLogger(string, *rocksdb.IOOptions) (rocksdb.Logger, error) {
	return nil, failReadOnly()
}

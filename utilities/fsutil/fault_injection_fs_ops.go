// Port of utilities/fault_injection_fs.{h,cc} (the FileSystem methods).

package fsutil

import (
	"errors"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const smallFileSize = 1024 // files smaller than that come back when replaced

func ioOptionsOf(opts *rocksdb.FileOptions) *rocksdb.IOOptions {
	if opts == nil {
		return nil
	}
	return &opts.IOOptions
}

// NewDirectory opens a directory whose syncs are noted.
func (f *FaultInjectionTestFS) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	d, err := f.FileSystem.NewDirectory(name, opts)
	if err != nil {
		return nil, err
	}
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" {
		trimmed = name
	}
	return &testFSDirectory{rocksdb.FSDirectoryWrapper{FSDirectory: d}, f, trimmed}, nil
}

// FileExists may fail.
func (f *FaultInjectionTestFS) FileExists(name string, opts *rocksdb.IOOptions) error {
	if err := f.guard(FaultInjectionMetadataRead, opts, "FileExists", name, ErrorDetail{}); err != nil {
		return err
	}
	return f.FileSystem.FileExists(name, opts)
}

// GetChildren may fail.
func (f *FaultInjectionTestFS) GetChildren(dir string, opts *rocksdb.IOOptions) ([]string, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "GetChildren", dir, ErrorDetail{}); err != nil {
		return nil, err
	}
	return f.FileSystem.GetChildren(dir, opts)
}

// GetChildrenFileAttributes may fail.
func (f *FaultInjectionTestFS) GetChildrenFileAttributes(dir string, opts *rocksdb.IOOptions) ([]rocksdb.FileAttributes, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "GetChildrenFileAttributes", dir, ErrorDetail{}); err != nil {
		return nil, err
	}
	return f.FileSystem.GetChildrenFileAttributes(dir, opts)
}

// NewWritableFile makes a tracked file.
func (f *FaultInjectionTestFS) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if err := f.active(); err != nil {
		return nil, err
	}
	if f.directWritable() {
		return f.FileSystem.NewWritableFile(name, opts)
	}
	if err := f.maybeInject(FaultInjectionWrite, ioOptionsOf(opts), "NewWritableFile", name, ErrorDetail{}); err != nil {
		return nil, err
	}
	if err := f.validateWrite(name, "NewWritableFile", true); err != nil {
		return nil, err
	}
	w, err := f.FileSystem.NewWritableFile(name, opts)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trackLocked(name, contractOf(opts))
	return f.newWritableFileLocked(name, w, false), nil
}

// ReopenWritableFile tracks a file that was tracked, or is made by it.
func (f *FaultInjectionTestFS) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if err := f.active(); err != nil {
		return nil, err
	}
	if f.directWritable() {
		return f.FileSystem.ReopenWritableFile(name, opts)
	}
	if err := f.maybeInject(FaultInjectionWrite, ioOptionsOf(opts), "ReopenWritableFile", name, ErrorDetail{}); err != nil {
		return nil, err
	}
	exists := true
	if err := f.FileSystem.FileExists(name, nil); rocksdb.IsNotFound(err) {
		exists = false
	} else if err != nil {
		return nil, err
	}
	w, err := f.FileSystem.ReopenWritableFile(name, opts)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.mu.states[name] != nil:
	case !exists:
		f.trackLocked(name, contractOf(opts))
	default:
		return w, nil // made by somebody else
	}
	return f.newWritableFileLocked(name, w, exists), nil
}

// SyncFile reopens the file here, so that its sync is noted.
func (f *FaultInjectionTestFS) SyncFile(name string, fileOpts *rocksdb.FileOptions, opts *rocksdb.IOOptions, useFsync bool) error {
	return rocksdb.FileSystemBase{Self: f}.SyncFile(name, fileOpts, opts, useFsync)
}

// ReuseWritableFile renames and makes the file anew.
func (f *FaultInjectionTestFS) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if err := f.validateWrite(oldName, "ReuseWritableFile", true); err != nil {
		return nil, err
	}
	if err := f.RenameFile(oldName, name, ioOptionsOf(opts)); err != nil {
		return nil, err
	}
	return f.NewWritableFile(name, opts)
}

// NewRandomRWFile opens a file whose data are not tracked.
func (f *FaultInjectionTestFS) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	if err := f.active(); err != nil {
		return nil, err
	}
	if f.directWritable() {
		return f.FileSystem.NewRandomRWFile(name, opts)
	}
	if err := f.maybeInject(FaultInjectionWrite, ioOptionsOf(opts), "NewRandomRWFile", name, ErrorDetail{}); err != nil {
		return nil, err
	}
	if err := f.validateWrite(name, "NewRandomRWFile", true); err != nil {
		return nil, err
	}
	w, err := f.FileSystem.NewRandomRWFile(name, opts)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trackLocked(name, contractOf(opts))
	return &testFSRandomRWFile{rocksdb.FSRandomRWFileWrapper{FSRandomRWFile: w}, f, name}, nil
}

// NewRandomAccessFile opens a file whose reads may fail.
func (f *FaultInjectionTestFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	if err := f.guard(FaultInjectionRead, ioOptionsOf(opts), "NewRandomAccessFile", name, ErrorDetail{}); err != nil {
		return nil, err
	}
	if err := f.validateReadOpen(name, "NewRandomAccessFile"); err != nil {
		return nil, err
	}
	r, err := f.FileSystem.NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, err
	}
	return &testFSRandomAccessFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: r}, f, name, strings.HasSuffix(name, ".sst")}, nil
}

// NewSequentialFile opens a file whose reads may fail, and see what is not
// synced.
func (f *FaultInjectionTestFS) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	if err := f.guard(FaultInjectionRead, ioOptionsOf(opts), "NewSequentialFile", name, ErrorDetail{}); err != nil {
		return nil, err
	}
	if err := f.validateReadOpen(name, "NewSequentialFile"); err != nil {
		return nil, err
	}
	s, err := f.FileSystem.NewSequentialFile(name, opts)
	if err != nil {
		return nil, err
	}
	return &testFSSequentialFile{FSSequentialFileWrapper: rocksdb.FSSequentialFileWrapper{FSSequentialFile: s}, fs: f, name: name}, nil
}

// DeleteFile may fail.
func (f *FaultInjectionTestFS) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	if err := f.guard(FaultInjectionMetadataWrite, opts, "DeleteFile", name, ErrorDetail{}); err != nil {
		return err
	}
	if err := f.FileSystem.DeleteFile(name, opts); err != nil {
		return err
	}
	f.UntrackFile(name)
	return nil
}

// GetFileSize counts what is not synced, unless that is hidden.
func (f *FaultInjectionTestFS) GetFileSize(name string, opts *rocksdb.IOOptions) (uint64, error) {
	f.mu.Lock()
	fail := f.mu.failFileSizeSst
	f.mu.Unlock()
	if fail && strings.HasSuffix(name, ".sst") {
		return 0, rocksdb.IOError("FileSystem::GetFileSize failed")
	}
	if err := f.guard(FaultInjectionMetadataRead, opts, "GetFileSize", name, ErrorDetail{}); err != nil {
		return 0, err
	}
	size, err := f.FileSystem.GetFileSize(name, opts)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.mu.states[name]; s != nil && !f.mu.hideUnsyncedData {
		size = s.posAtLastAppend
	}
	return size, nil
}

// GetFileModificationTime may fail.
func (f *FaultInjectionTestFS) GetFileModificationTime(name string, opts *rocksdb.IOOptions) (uint64, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "GetFileModificationTime", name, ErrorDetail{}); err != nil {
		return 0, err
	}
	return f.FileSystem.GetFileModificationTime(name, opts)
}

// RenameFile moves what is known of the file, and remembers what it replaced
// if that is small.
func (f *FaultInjectionTestFS) RenameFile(src, target string, opts *rocksdb.IOOptions) error {
	if err := f.guard(FaultInjectionMetadataWrite, opts, "RenameFile", src, twoFiles(target)); err != nil {
		return err
	}
	var previous overwritten
	if f.FileSystem.FileExists(target, nil) == nil {
		if size, err := f.FileSystem.GetFileSize(target, nil); err == nil && size < smallFileSize {
			if data, err := rocksdb.ReadFileToString(f.FileSystem, target, nil); err == nil {
				previous = append(overwritten{}, data...)
			}
		}
	}
	if err := f.FileSystem.RenameFile(src, target, opts); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	move(f.mu.states, src, target)
	move(f.mu.open, src, target)
	move(f.mu.contracts, src, target)
	dir, base := splitName(src)
	if _, isNew := f.mu.newFiles[dir][base]; isNew {
		delete(f.mu.newFiles[dir], base)
		f.newFileLocked(target, previous)
	}
	return nil
}

func move[V any](m map[string]V, from, to string) {
	if v, ok := m[from]; ok {
		m[to] = v
		delete(m, from)
	}
}

// LinkFile lets both names be the same file.
func (f *FaultInjectionTestFS) LinkFile(src, target string, opts *rocksdb.IOOptions) error {
	if err := f.guard(FaultInjectionMetadataWrite, opts, "LinkFile", src, twoFiles(target)); err != nil {
		return err
	}
	f.mu.Lock()
	_, open := f.mu.open[src]
	refuse := open && !f.mu.allowLinkOpen
	f.mu.Unlock()
	if refuse {
		return rocksdb.InvalidArgument("Attempt to LinkFile while open for write", src)
	}
	if err := f.FileSystem.LinkFile(src, target, opts); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.mu.states[src]; s != nil {
		f.mu.states[target] = s
	}
	if c, ok := f.mu.contracts[src]; ok {
		f.mu.contracts[target] = c
	}
	dir, base := splitName(src)
	if _, isNew := f.mu.newFiles[dir][base]; isNew {
		f.newFileLocked(target, nil)
	}
	return nil
}

// NumFileLinks may fail.
func (f *FaultInjectionTestFS) NumFileLinks(name string, opts *rocksdb.IOOptions) (uint64, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "NumFileLinks", name, ErrorDetail{}); err != nil {
		return 0, err
	}
	return f.FileSystem.NumFileLinks(name, opts)
}

// AreFilesSame may fail.
func (f *FaultInjectionTestFS) AreFilesSame(first, second string, opts *rocksdb.IOOptions) (bool, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "AreFilesSame", first, twoFiles(second)); err != nil {
		return false, err
	}
	return f.FileSystem.AreFilesSame(first, second, opts)
}

// GetAbsolutePath may fail.
func (f *FaultInjectionTestFS) GetAbsolutePath(path string, opts *rocksdb.IOOptions) (string, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "GetAbsolutePath", path, ErrorDetail{}); err != nil {
		return "", err
	}
	return f.FileSystem.GetAbsolutePath(path, opts)
}

// IsDirectory may fail.
func (f *FaultInjectionTestFS) IsDirectory(path string, opts *rocksdb.IOOptions) (bool, error) {
	if err := f.guard(FaultInjectionMetadataRead, opts, "IsDirectory", path, ErrorDetail{}); err != nil {
		return false, err
	}
	return f.FileSystem.IsDirectory(path, opts)
}

// GetFreeSpace is none while the file system is inactive for want of space.
func (f *FaultInjectionTestFS) GetFreeSpace(path string, opts *rocksdb.IOOptions) (uint64, error) {
	if err := f.active(); err != nil && errors.Is(err, rocksdb.ErrNoSpace) {
		return 0, nil
	}
	if err := f.maybeInject(FaultInjectionMetadataRead, opts, "GetFreeSpace", path, ErrorDetail{}); err != nil {
		return 0, err
	}
	return f.FileSystem.GetFreeSpace(path, opts)
}

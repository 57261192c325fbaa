// Port of env/fs_remap.{h,cc}. Differs: the encoding is a field, not a virtual
// method; ReuseWritableFile maps the new name too, which upstream replaces by
// the old one.

package env

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// PathEncoder turns paths into those of a target file system.
type PathEncoder interface {
	// EncodePath is for a path that has to exist.
	EncodePath(path string) (string, error)
	// EncodePathWithNewBasename is for one whose parent has to exist.
	EncodePathWithNewBasename(path string) (string, error)
}

// RemapFileSystem shows the target's files under other paths.
type RemapFileSystem struct {
	rocksdb.FileSystemWrapper
	enc PathEncoder
}

// NewRemapFileSystem maps by enc.
func NewRemapFileSystem(base rocksdb.FileSystem, enc PathEncoder) *RemapFileSystem {
	return &RemapFileSystem{rocksdb.FileSystemWrapper{FileSystem: base}, enc}
}

// Name is RemapFileSystem.
func (r *RemapFileSystem) Name() string { return "RemapFileSystem" }

func (r *RemapFileSystem) encodeAll(paths []string) ([]string, error) {
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		p, err := r.enc.EncodePathWithNewBasename(path)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// withNew calls f with the mapped path of a file that may be missing.
func withNew[T any](r *RemapFileSystem, path string, f func(string) (T, error)) (T, error) {
	p, err := r.enc.EncodePathWithNewBasename(path)
	if err != nil {
		var zero T
		return zero, err
	}
	return f(p)
}

// withOld calls f with the mapped path of a file that exists.
func withOld[T any](r *RemapFileSystem, path string, f func(string) (T, error)) (T, error) {
	p, err := r.enc.EncodePath(path)
	if err != nil {
		var zero T
		return zero, err
	}
	return f(p)
}

func (r *RemapFileSystem) doNew(path string, f func(string) error) error {
	p, err := r.enc.EncodePathWithNewBasename(path)
	if err != nil {
		return err
	}
	return f(p)
}

func (r *RemapFileSystem) doOld(path string, f func(string) error) error {
	p, err := r.enc.EncodePath(path)
	if err != nil {
		return err
	}
	return f(p)
}

// RegisterDBPaths maps the paths.
func (r *RemapFileSystem) RegisterDBPaths(paths []string) error {
	p, err := r.encodeAll(paths)
	if err != nil {
		return err
	}
	return r.FileSystem.RegisterDBPaths(p)
}

// UnregisterDBPaths maps the paths.
func (r *RemapFileSystem) UnregisterDBPaths(paths []string) error {
	p, err := r.encodeAll(paths)
	if err != nil {
		return err
	}
	return r.FileSystem.UnregisterDBPaths(p)
}

// NewSequentialFile maps the path.
func (r *RemapFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSSequentialFile, error) {
		return r.FileSystem.NewSequentialFile(p, opts)
	})
}

// NewRandomAccessFile maps the path.
func (r *RemapFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSRandomAccessFile, error) {
		return r.FileSystem.NewRandomAccessFile(p, opts)
	})
}

// NewWritableFile maps the path.
func (r *RemapFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSWritableFile, error) {
		return r.FileSystem.NewWritableFile(p, opts)
	})
}

// ReopenWritableFile maps the path.
func (r *RemapFileSystem) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSWritableFile, error) {
		return r.FileSystem.ReopenWritableFile(p, opts)
	})
}

// ReuseWritableFile maps both paths.
func (r *RemapFileSystem) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSWritableFile, error) {
		return withOld(r, oldName, func(old string) (rocksdb.FSWritableFile, error) {
			return r.FileSystem.ReuseWritableFile(p, old, opts)
		})
	})
}

// NewRandomRWFile maps the path.
func (r *RemapFileSystem) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	return withNew(r, name, func(p string) (rocksdb.FSRandomRWFile, error) {
		return r.FileSystem.NewRandomRWFile(p, opts)
	})
}

// NewMemoryMappedFileBuffer maps the path.
func (r *RemapFileSystem) NewMemoryMappedFileBuffer(name string) (rocksdb.FSMemoryMappedFileBuffer, error) {
	return withOld(r, name, r.FileSystem.NewMemoryMappedFileBuffer)
}

// remapDirectory maps the path that a sync may name.
type remapDirectory struct {
	rocksdb.FSDirectoryWrapper
	fs *RemapFileSystem
}

func (d *remapDirectory) FsyncWithDirOptions(opts *rocksdb.IOOptions, o rocksdb.DirFsyncOptions) error {
	if o.RenamedNewName != "" {
		p, err := d.fs.enc.EncodePath(o.RenamedNewName)
		if err != nil {
			return err
		}
		o.RenamedNewName = p
	}
	return d.FSDirectory.FsyncWithDirOptions(opts, o)
}

// NewDirectory maps the path.
func (r *RemapFileSystem) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	return withNew(r, name, func(p string) (rocksdb.FSDirectory, error) {
		d, err := r.FileSystem.NewDirectory(p, opts)
		if err != nil {
			return nil, err
		}
		return &remapDirectory{rocksdb.FSDirectoryWrapper{FSDirectory: d}, r}, nil
	})
}

// FileExists maps the path.
func (r *RemapFileSystem) FileExists(name string, opts *rocksdb.IOOptions) error {
	return r.doNew(name, func(p string) error { return r.FileSystem.FileExists(p, opts) })
}

// GetChildren maps the path.
func (r *RemapFileSystem) GetChildren(dir string, opts *rocksdb.IOOptions) ([]string, error) {
	return withOld(r, dir, func(p string) ([]string, error) { return r.FileSystem.GetChildren(p, opts) })
}

// GetChildrenFileAttributes maps the path.
func (r *RemapFileSystem) GetChildrenFileAttributes(dir string, opts *rocksdb.IOOptions) ([]rocksdb.FileAttributes, error) {
	return withOld(r, dir, func(p string) ([]rocksdb.FileAttributes, error) {
		return r.FileSystem.GetChildrenFileAttributes(p, opts)
	})
}

// DeleteFile maps the path.
func (r *RemapFileSystem) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	return r.doOld(name, func(p string) error { return r.FileSystem.DeleteFile(p, opts) })
}

// Truncate maps the path.
func (r *RemapFileSystem) Truncate(name string, size uint64, opts *rocksdb.IOOptions) error {
	return r.doOld(name, func(p string) error { return r.FileSystem.Truncate(p, size, opts) })
}

// CreateDir maps the path.
func (r *RemapFileSystem) CreateDir(name string, opts *rocksdb.IOOptions) error {
	return r.doNew(name, func(p string) error { return r.FileSystem.CreateDir(p, opts) })
}

// CreateDirIfMissing maps the path.
func (r *RemapFileSystem) CreateDirIfMissing(name string, opts *rocksdb.IOOptions) error {
	return r.doNew(name, func(p string) error { return r.FileSystem.CreateDirIfMissing(p, opts) })
}

// DeleteDir maps the path.
func (r *RemapFileSystem) DeleteDir(name string, opts *rocksdb.IOOptions) error {
	return r.doOld(name, func(p string) error { return r.FileSystem.DeleteDir(p, opts) })
}

// GetFileSize maps the path.
func (r *RemapFileSystem) GetFileSize(name string, opts *rocksdb.IOOptions) (uint64, error) {
	return withOld(r, name, func(p string) (uint64, error) { return r.FileSystem.GetFileSize(p, opts) })
}

// GetFileModificationTime maps the path.
func (r *RemapFileSystem) GetFileModificationTime(name string, opts *rocksdb.IOOptions) (uint64, error) {
	return withOld(r, name, func(p string) (uint64, error) {
		return r.FileSystem.GetFileModificationTime(p, opts)
	})
}

// IsDirectory maps the path.
func (r *RemapFileSystem) IsDirectory(path string, opts *rocksdb.IOOptions) (bool, error) {
	return withOld(r, path, func(p string) (bool, error) { return r.FileSystem.IsDirectory(p, opts) })
}

// RenameFile maps both paths; a source that is missing is a PathNotFound.
func (r *RemapFileSystem) RenameFile(src, target string, opts *rocksdb.IOOptions) error {
	s, err := r.enc.EncodePath(src)
	if err != nil {
		if rocksdb.IsNotFound(err) {
			return rocksdb.PathNotFound(err.Error()).Wrap(err)
		}
		return err
	}
	return r.doNew(target, func(t string) error { return r.FileSystem.RenameFile(s, t, opts) })
}

// LinkFile maps both paths.
func (r *RemapFileSystem) LinkFile(src, target string, opts *rocksdb.IOOptions) error {
	return r.doOld(src, func(s string) error {
		return r.doNew(target, func(t string) error { return r.FileSystem.LinkFile(s, t, opts) })
	})
}

// NumFileLinks maps the path.
func (r *RemapFileSystem) NumFileLinks(name string, opts *rocksdb.IOOptions) (uint64, error) {
	return withOld(r, name, func(p string) (uint64, error) { return r.FileSystem.NumFileLinks(p, opts) })
}

// AreFilesSame maps both paths.
func (r *RemapFileSystem) AreFilesSame(first, second string, opts *rocksdb.IOOptions) (bool, error) {
	return withOld(r, first, func(a string) (bool, error) {
		return withOld(r, second, func(b string) (bool, error) { return r.FileSystem.AreFilesSame(a, b, opts) })
	})
}

// SyncFile maps the path.
func (r *RemapFileSystem) SyncFile(name string, fileOpts *rocksdb.FileOptions, opts *rocksdb.IOOptions, useFsync bool) error {
	return r.doNew(name, func(p string) error { return r.FileSystem.SyncFile(p, fileOpts, opts, useFsync) })
}

// LockFile maps the path. Unlocking goes by the lock alone.
func (r *RemapFileSystem) LockFile(name string, opts *rocksdb.IOOptions) (rocksdb.FileLock, error) {
	return withNew(r, name, func(p string) (rocksdb.FileLock, error) { return r.FileSystem.LockFile(p, opts) })
}

// NewLogger maps the path.
func (r *RemapFileSystem) NewLogger(name string, opts *rocksdb.IOOptions) (rocksdb.Logger, error) {
	return withNew(r, name, func(p string) (rocksdb.Logger, error) { return r.FileSystem.NewLogger(p, opts) })
}

// GetAbsolutePath stays among the paths shown.
func (r *RemapFileSystem) GetAbsolutePath(path string, _ *rocksdb.IOOptions) (string, error) {
	if path != "" && path[0] == '/' {
		return path, nil
	}
	return "", rocksdb.NotSupported("GetAbsolutePath", path)
}

// GetFreeSpace maps the path.
func (r *RemapFileSystem) GetFreeSpace(path string, opts *rocksdb.IOOptions) (uint64, error) {
	return withNew(r, path, func(p string) (uint64, error) { return r.FileSystem.GetFreeSpace(p, opts) })
}

// DiscardCacheForDirectory maps the path.
func (r *RemapFileSystem) DiscardCacheForDirectory(path string) {
	if p, err := r.enc.EncodePath(path); err == nil {
		r.FileSystem.DiscardCacheForDirectory(p)
	}
}

// OptimizeForCompactionTableRead maps the directories; what cannot be mapped
// is left out.
func (r *RemapFileSystem) OptimizeForCompactionTableRead(opts *rocksdb.FileOptions, useDirectReads bool, dbPaths []string) *rocksdb.FileOptions {
	p, err := r.encodeAll(dbPaths)
	if err != nil {
		p = nil
	}
	return r.FileSystem.OptimizeForCompactionTableRead(opts, useDirectReads, p)
}

// Port of env/fs_posix.cc. Differs: a file locked under another name (link,
// relative path) is found as well; a file reopened for direct writes is not
// opened with O_APPEND, under which Linux ignores the offset that a write
// names; GetAbsolutePath joins a relative path to the working directory. Poll,
// AbortIO and SupportedOps are in async_read.go.

package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// PosixFileSystem is the operating system's file system.
type PosixFileSystem struct {
	rocksdb.FileSystemBase
	ownerOnly  atomic.Bool
	blockSizes *logicalBlockSizeCache
	async      *asyncReads

	// mmapWrites is settled by the first file that is to be written mapped:
	// only some file systems allocate fast enough.
	mmapOnce sync.Once
	mmapOff  bool
}

var defaultFileSystem = sync.OnceValue(newPosixFileSystem)

func newPosixFileSystem() *PosixFileSystem {
	p := &PosixFileSystem{async: newAsyncReads(), blockSizes: newLogicalBlockSizeCache(logicalBlockSizeOf, func(dir string) (int, error) {
		return ofDirectory(dir, logicalBlockSizeOf)
	})}
	p.Self = p
	return p
}

// DefaultFileSystem is the process's PosixFileSystem.
func DefaultFileSystem() rocksdb.FileSystem { return defaultFileSystem() }

// Name is PosixFileSystem.
func (p *PosixFileSystem) Name() string { return "PosixFileSystem" }

// NickName is that of the default file system.
func (p *PosixFileSystem) NickName() string { return rocksdb.DefaultFileSystemName }

// RegisterDBPaths remembers the block sizes of the directories' devices.
func (p *PosixFileSystem) RegisterDBPaths(paths []string) error {
	return p.blockSizes.refAndCache(paths)
}

// UnregisterDBPaths is the reverse.
func (p *PosixFileSystem) UnregisterDBPaths(paths []string) error {
	p.blockSizes.unrefAndTryRemove(paths)
	return nil
}

// SetAllowNonOwnerAccess says whether files made from now on may be read by
// other users, as they may by default.
func (p *PosixFileSystem) SetAllowNonOwnerAccess(allow bool) { p.ownerOnly.Store(!allow) }

func (p *PosixFileSystem) fileMode() uint32 {
	if p.ownerOnly.Load() {
		return 0600
	}
	return 0644
}

func orDefault(opts *rocksdb.FileOptions) *rocksdb.FileOptions {
	if opts == nil {
		o := rocksdb.DefaultFileOptions()
		opts = &o
	}
	return opts
}

// open opens a file as opts say and counts the time.
func (p *PosixFileSystem) open(name string, flags int, opts *rocksdb.FileOptions) (sysFile, error) {
	stats := opts.IOOptions.IOStats
	t := startTimer(stats)
	f, err := openSys(name, flags, p.fileMode(), opts.SetFDCloexec)
	if stats != nil {
		t.stop(&stats.OpenNanos)
	}
	return f, err
}

func (p *PosixFileSystem) sectorSize(direct bool, name string, f sysFile) int {
	if !direct {
		return rocksdb.DefaultPageSize
	}
	return p.blockSizes.get(name, f)
}

// NewSequentialFile opens a file; UseDirectReads holds unless UseMmapReads.
func (p *PosixFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	opts = orDefault(opts)
	direct := opts.UseDirectReads && !opts.UseMmapReads
	flags := os.O_RDONLY
	if direct {
		flags |= oDirect
	}
	f, err := p.open(name, flags, opts)
	if err != nil {
		return nil, IOError("While opening a file for sequentially reading", name, err)
	}
	return &posixSequentialFile{name: name, f: f, directIO: direct, sectorSize: p.sectorSize(direct, name, f)}, nil
}

// NewRandomAccessFile opens a file; with UseMmapReads it is mapped.
func (p *PosixFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	opts = orDefault(opts)
	direct := opts.UseDirectReads && !opts.UseMmapReads
	flags := os.O_RDONLY
	if direct {
		flags |= oDirect
		syncpoint.ProcessArg("NewRandomAccessFile:O_DIRECT", &flags)
	}
	f, err := p.open(name, flags, opts)
	if err != nil {
		return nil, IOError("While open a file for random read", name, err)
	}
	if !opts.UseMmapReads {
		r := &posixRandomAccessFile{name: name, f: f, directIO: direct, sectorSize: p.sectorSize(direct, name, f), async: p.async}
		r.Self = r
		return r, nil
	}
	region, err := mapWhole(f, name, false)
	if err != nil {
		_ = f.close()
		return nil, err
	}
	m := &posixMmapReadableFile{name: name, f: f, region: region}
	m.Self = m
	return m, nil
}

func mapWhole(f sysFile, name string, writable bool) ([]byte, error) {
	size, err := sizeOf(f, name)
	if err != nil {
		return nil, err
	}
	region, err := f.mmap(0, size, writable)
	if err != nil {
		return nil, IOError("while mmap file for read", name, err)
	}
	return region, nil
}

func sizeOf(f sysFile, name string) (uint64, error) {
	size, err := f.size()
	if err != nil {
		return 0, IOError(fmt.Sprintf("while fstat a file for size with fd %d", f.number()), name, err)
	}
	return size, nil
}

// writableFlags gives the flags for a file to write, and whether it is written
// directly.
func writableFlags(opts *rocksdb.FileOptions) (flags int, direct bool) {
	switch {
	case opts.UseMmapWrites:
		return os.O_RDWR, false // a mapping needs reading
	case opts.UseDirectWrites:
		return os.O_WRONLY | oDirect, true
	}
	return os.O_WRONLY, false
}

func (p *PosixFileSystem) finishWritable(name string, f sysFile, opts *rocksdb.FileOptions, direct bool, size uint64) (rocksdb.FSWritableFile, error) {
	if opts.UseMmapWrites {
		p.mmapOnce.Do(func() { p.mmapOff = !f.supportsFastAllocate() })
		if !p.mmapOff {
			m, err := newPosixMmapFile(name, f, opts, size)
			if err != nil {
				_ = f.close()
				return nil, err
			}
			return m, nil
		}
	}
	return newPosixWritableFile(name, f, p.sectorSize(direct, name, f), opts, direct, size), nil
}

func (p *PosixFileSystem) openWritableFile(name string, opts *rocksdb.FileOptions, reopen bool) (rocksdb.FSWritableFile, error) {
	opts = orDefault(opts)
	flags, direct := writableFlags(opts)
	flags |= os.O_CREATE
	switch {
	case !reopen:
		flags |= os.O_TRUNC
	case !direct && !opts.UseMmapWrites:
		flags |= os.O_APPEND
	}
	f, err := p.open(name, flags, opts)
	if err != nil {
		return nil, IOError("While open a file for appending", name, err)
	}
	var size uint64
	if reopen {
		if size, err = sizeOf(f, name); err == nil {
			if _, serr := f.seek(int64(size), io.SeekStart); serr != nil {
				err = IOError("While open a file for appending", name, serr)
			}
		}
		if err != nil {
			_ = f.close()
			return nil, err
		}
	}
	return p.finishWritable(name, f, opts, direct, size)
}

// NewWritableFile makes a new file or empties an old one.
func (p *PosixFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return p.openWritableFile(name, opts, false)
}

// ReopenWritableFile appends to a file.
func (p *PosixFileSystem) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return p.openWritableFile(name, opts, true)
}

// ReuseWritableFile opens the old file before it renames it, so that its blocks
// stay.
func (p *PosixFileSystem) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	opts = orDefault(opts)
	flags, direct := writableFlags(opts)
	f, err := p.open(oldName, flags, opts)
	if err != nil {
		return nil, IOError("while reopen file for write", name, err)
	}
	if err := os.Rename(oldName, name); err != nil {
		_ = f.close()
		return nil, IOError("while rename file to "+name, oldName, err)
	}
	return p.finishWritable(name, f, opts, direct, 0)
}

// NewRandomRWFile opens an existing file.
func (p *PosixFileSystem) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	f, err := p.open(name, os.O_RDWR, orDefault(opts))
	if err != nil {
		return nil, IOError("While open file for random read/write", name, err)
	}
	return &posixRandomRWFile{name: name, f: f}, nil
}

// NewMemoryMappedFileBuffer maps an existing file.
func (p *PosixFileSystem) NewMemoryMappedFileBuffer(name string) (rocksdb.FSMemoryMappedFileBuffer, error) {
	f, err := openSys(name, os.O_RDWR, 0, true)
	if err != nil {
		return nil, IOError("While open file for raw mmap buffer access", name, err)
	}
	region, err := mapWhole(f, name, true)
	_ = f.close() // the mapping stays
	if err != nil {
		return nil, err
	}
	return &posixMemoryMappedFileBuffer{region}, nil
}

// NewDirectory opens a directory.
func (p *PosixFileSystem) NewDirectory(name string, _ *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	f, err := openSysDir(name)
	if err != nil {
		return nil, IOError("While open directory", name, err)
	}
	return &posixDirectory{name: name, f: f, btrfs: f.isBtrfs()}, nil
}

// FileExists is nil, NotFound, or an IOError when it cannot be told.
func (p *PosixFileSystem) FileExists(name string, _ *rocksdb.IOOptions) error {
	err := access(name)
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return rocksdb.NotFound()
	case errors.As(err, &errno):
		switch errno {
		case syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ENOTDIR:
			return rocksdb.NotFound()
		}
	}
	return rocksdb.IOError(fmt.Sprintf("Unexpected error(%d) accessing file `%s' ", int(errno), name)).Wrap(err)
}

// GetChildren lists a directory; a missing one is NotFound.
func (p *PosixFileSystem) GetChildren(dir string, opts *rocksdb.IOOptions) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
			return nil, rocksdb.NotFound()
		}
		return nil, IOError("While opendir", dir, err)
	}
	defer d.Close()
	if opts == nil || !opts.DoNotRecurse {
		names, err := d.Readdirnames(-1)
		return names, readdirError(dir, err)
	}
	entries, err := d.ReadDir(-1)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, readdirError(dir, err)
}

func readdirError(dir string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return rocksdb.NotFound()
	}
	return IOError("While readdir", dir, err)
}

// DeleteFile unlinks a file.
func (p *PosixFileSystem) DeleteFile(name string, _ *rocksdb.IOOptions) error {
	if err := unlink(name); err != nil {
		return IOError("while unlink() file", name, err)
	}
	return nil
}

// Truncate cuts or extends a file that is not open.
func (p *PosixFileSystem) Truncate(name string, size uint64, _ *rocksdb.IOOptions) error {
	if err := os.Truncate(name, int64(size)); err != nil {
		return IOError(fmt.Sprintf("While truncate file to size %d", size), name, err)
	}
	return nil
}

// CreateDir makes a directory.
func (p *PosixFileSystem) CreateDir(name string, _ *rocksdb.IOOptions) error {
	if err := os.Mkdir(name, 0755); err != nil {
		return IOError("While mkdir", name, err)
	}
	return nil
}

// CreateDirIfMissing accepts one that exists.
func (p *PosixFileSystem) CreateDirIfMissing(name string, _ *rocksdb.IOOptions) error {
	err := os.Mkdir(name, 0755)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return IOError("While mkdir if missing", name, err)
	}
	if fi, serr := os.Stat(name); serr != nil || !fi.IsDir() {
		return rocksdb.IOError("`" + name + "' exists but is not a directory")
	}
	return nil
}

// DeleteDir removes an empty directory.
func (p *PosixFileSystem) DeleteDir(name string, _ *rocksdb.IOOptions) error {
	if err := rmdir(name); err != nil {
		return IOError("file rmdir", name, err)
	}
	return nil
}

// GetFileSize asks by name.
func (p *PosixFileSystem) GetFileSize(name string, _ *rocksdb.IOOptions) (uint64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return 0, IOError("while stat a file for size", name, err)
	}
	return uint64(fi.Size()), nil
}

// GetFileModificationTime is in seconds.
func (p *PosixFileSystem) GetFileModificationTime(name string, _ *rocksdb.IOOptions) (uint64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return 0, IOError("while stat a file for modification time", name, err)
	}
	return uint64(fi.ModTime().Unix()), nil
}

// RenameFile replaces target in one step.
func (p *PosixFileSystem) RenameFile(src, target string, _ *rocksdb.IOOptions) error {
	if err := os.Rename(src, target); err != nil {
		return IOError("While renaming a file to "+target, src, err)
	}
	return nil
}

// LinkFile makes a hard link; across devices it is NotSupported.
func (p *PosixFileSystem) LinkFile(src, target string, _ *rocksdb.IOOptions) error {
	err := os.Link(src, target)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EXDEV):
		return rocksdb.NotSupported("No cross FS links allowed")
	case errors.Is(err, syscall.ENOTSUP):
		return rocksdb.NotSupported("Links not supported by FS")
	}
	return IOError("while link file to "+target, src, err)
}

// NumFileLinks counts hard links.
func (p *PosixFileSystem) NumFileLinks(name string, _ *rocksdb.IOOptions) (uint64, error) {
	fi, err := os.Stat(name)
	if err != nil {
		return 0, IOError("while stat a file for num file links", name, err)
	}
	return numLinks(fi), nil
}

// AreFilesSame compares device and inode.
func (p *PosixFileSystem) AreFilesSame(first, second string, _ *rocksdb.IOOptions) (bool, error) {
	a, err := os.Stat(first)
	if err != nil {
		return false, IOError("stat file", first, err)
	}
	b, err := os.Stat(second)
	if err != nil {
		return false, IOError("stat file", second, err)
	}
	return os.SameFile(a, b), nil
}

// GetTestDirectory is $TEST_TMPDIR, or one under the system's temporary
// directory.
func (p *PosixFileSystem) GetTestDirectory(opts *rocksdb.IOOptions) (string, error) {
	dir := os.Getenv("TEST_TMPDIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("rocksdbtest-%d", os.Geteuid()))
	}
	return dir, p.CreateDirIfMissing(dir, opts)
}

// NewLogger makes an info log in a new file.
func (p *PosixFileSystem) NewLogger(name string, _ *rocksdb.IOOptions) (rocksdb.Logger, error) {
	return newLogger(p, name)
}

func newLogger(fs rocksdb.FileSystem, name string) (rocksdb.Logger, error) {
	l, err := logging.NewEnvLogger(fs, name, rocksdb.DefaultSystemClock(), threadID)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// GetAbsolutePath does not look whether there is such a file.
func (p *PosixFileSystem) GetAbsolutePath(path string, _ *rocksdb.IOOptions) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", rocksdb.IOError(errnoStr(err)).Wrap(err)
	}
	return abs, nil
}

// IsDirectory opens path to see.
func (p *PosixFileSystem) IsDirectory(path string, _ *rocksdb.IOOptions) (bool, error) {
	f, err := openSysDir(path)
	if err != nil {
		return false, IOError("While open for IsDirectory()", path, err)
	}
	is, err := f.isDir()
	_ = f.close()
	if err != nil {
		return false, IOError("While doing stat for IsDirectory()", path, err)
	}
	return is, nil
}

// GetFreeSpace counts the reserve for the root user only.
func (p *PosixFileSystem) GetFreeSpace(path string, _ *rocksdb.IOOptions) (uint64, error) {
	n, err := freeSpace(path)
	if err != nil {
		return 0, IOError("While doing statvfs", path, err)
	}
	return n, nil
}

// OptimizeForLogWrite writes neither mapped nor directly, so that another
// process can follow the log.
func (p *PosixFileSystem) OptimizeForLogWrite(opts *rocksdb.FileOptions, walBytesPerSync, writableFileMaxBufferSize uint64) *rocksdb.FileOptions {
	o := p.FileSystemBase.OptimizeForLogWrite(opts, walBytesPerSync, writableFileMaxBufferSize)
	o.UseMmapWrites, o.UseDirectWrites, o.FallocateWithKeepSize = false, false, true
	return o
}

// OptimizeForManifestWrite writes neither mapped nor directly.
func (p *PosixFileSystem) OptimizeForManifestWrite(opts *rocksdb.FileOptions) *rocksdb.FileOptions {
	o := p.FileSystemBase.OptimizeForManifestWrite(opts)
	o.UseMmapWrites, o.UseDirectWrites, o.FallocateWithKeepSize = false, false, true
	return o
}

// OptimizeForCompactionTableRead bounds the read-ahead by what the devices of
// dbPaths take in one request; the kernel would silently read less.
func (p *PosixFileSystem) OptimizeForCompactionTableRead(opts *rocksdb.FileOptions, useDirectReads bool, dbPaths []string) *rocksdb.FileOptions {
	o := p.FileSystemBase.OptimizeForCompactionTableRead(opts, useDirectReads, dbPaths)
	if o.UseDirectReads || o.CompactionReadaheadSize == 0 {
		return o
	}
	limit := uint64(0)
	for _, dir := range dbPaths {
		kb, err := ofDirectory(dir, maxSectorsKBOf)
		if err != nil {
			return o
		}
		if n := uint64(kb) * 1024; limit == 0 || n < limit {
			limit = n
		}
	}
	if limit > 0 {
		o.CompactionReadaheadSize = min(o.CompactionReadaheadSize, limit)
	}
	return o
}

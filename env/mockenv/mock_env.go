// Port of env/mock_env.{h,cc}. Differs: directories are marked as such, a
// directory with something in it is not deleted, and the info log is the one
// other file systems have.

package mockenv

import (
	"slices"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// MockFileSystem keeps files in memory. It is safe for concurrent use.
type MockFileSystem struct {
	rocksdb.FileSystemBase
	clock            rocksdb.SystemClock
	supportsDirectIO bool

	mu struct {
		sync.Mutex
		files map[string]*memFile // by normalized path
	}
}

// NewMockFileSystem has no files. clock gives modification times; opening for
// direct I/O is NotSupported unless supportsDirectIO.
func NewMockFileSystem(clock rocksdb.SystemClock, supportsDirectIO bool) *MockFileSystem {
	m := &MockFileSystem{clock: clock, supportsDirectIO: supportsDirectIO}
	m.Self = m
	m.mu.files = map[string]*memFile{}
	return m
}

// Name is MemoryFileSystem.
func (m *MockFileSystem) Name() string { return "MemoryFileSystem" }

// OptionsPtr has "supports_direct_io".
func (m *MockFileSystem) OptionsPtr(name string) any {
	if name == rocksdb.MockFSOptionsName {
		return &m.supportsDirectIO
	}
	return nil
}

func normalize(path string) string {
	p := filename.NormalizePath(path)
	if len(p) > 1 && p[len(p)-1] == filename.FilePathSeparator {
		p = p[:len(p)-1]
	}
	return p
}

func orDefault(opts *rocksdb.FileOptions) *rocksdb.FileOptions {
	if opts == nil {
		o := rocksdb.DefaultFileOptions()
		opts = &o
	}
	return opts
}

// openToRead finds a file to be read. direct is what its options ask for.
func (m *MockFileSystem) openToRead(name string, direct bool) (*memFile, error) {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	switch {
	case f == nil:
		return nil, rocksdb.PathNotFound(name)
	case f.kind == lockFile:
		return nil, rocksdb.InvalidArgument(name, "Cannot open a lock file.")
	case f.kind == directory:
		return nil, rocksdb.IOError(name, "Is a directory")
	case direct && !m.supportsDirectIO:
		return nil, rocksdb.NotSupported("Direct I/O Not Supported")
	}
	return f, nil
}

// NewSequentialFile opens a file.
func (m *MockFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	opts = orDefault(opts)
	f, err := m.openToRead(name, opts.UseDirectReads)
	if err != nil {
		return nil, err
	}
	return &mockSequentialFile{f: f, directIO: opts.UseDirectReads, mmap: opts.UseMmapReads}, nil
}

// NewRandomAccessFile opens a file.
func (m *MockFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	opts = orDefault(opts)
	f, err := m.openToRead(name, opts.UseDirectReads)
	if err != nil {
		return nil, err
	}
	r := &mockRandomAccessFile{f: f, directIO: opts.UseDirectReads, mmap: opts.UseMmapReads}
	r.Self = r
	return r, nil
}

// NewRandomRWFile opens an existing file.
func (m *MockFileSystem) NewRandomRWFile(name string, _ *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	f, err := m.openToRead(name, false)
	if err != nil {
		return nil, err
	}
	return &mockRandomRWFile{f}, nil
}

func (m *MockFileSystem) openToWrite(name string, opts *rocksdb.FileOptions, reopen bool) (rocksdb.FSWritableFile, error) {
	name, opts = normalize(name), orDefault(opts)
	if opts.UseDirectWrites && !m.supportsDirectIO {
		return nil, rocksdb.NotSupported("Direct I/O Not Supported")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	if f != nil && f.kind == directory {
		return nil, rocksdb.IOError(name, "Is a directory")
	}
	if f == nil || !reopen {
		f = newMemFile(m.clock, name, regular)
		m.mu.files[name] = f
	}
	w := &mockWritableFile{FSWritableFileBase: rocksdb.NewFSWritableFileBase(opts), f: f, limiter: opts.RateLimiter}
	w.Self = w
	return w, nil
}

// NewWritableFile makes a file; what has an old one of that name open keeps
// that.
func (m *MockFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return m.openToWrite(name, opts, false)
}

// ReopenWritableFile appends to a file, or makes it.
func (m *MockFileSystem) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return m.openToWrite(name, opts, true)
}

type mockDirectory struct{}

func (mockDirectory) Fsync(*rocksdb.IOOptions) error { return nil }
func (mockDirectory) FsyncWithDirOptions(*rocksdb.IOOptions, rocksdb.DirFsyncOptions) error {
	return nil
}
func (mockDirectory) Close(*rocksdb.IOOptions) error { return nil }
func (mockDirectory) GetUniqueID([]byte) int         { return 0 }

// NewDirectory opens a directory, which need not exist.
func (m *MockFileSystem) NewDirectory(string, *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	return mockDirectory{}, nil
}

// childrenLocked gives the names in a directory and whether there is such a
// directory.
func (m *MockFileSystem) childrenLocked(dir string) (names []string, found bool) {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for path, f := range m.mu.files {
		if path == dir {
			found = found || f.kind == directory
		} else if rest, ok := strings.CutPrefix(path, prefix); ok {
			found = true
			rest, _, _ = strings.Cut(rest, "/")
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), found
}

// FileExists finds files and directories.
func (m *MockFileSystem) FileExists(name string, _ *rocksdb.IOOptions) error {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.files[name] != nil {
		return nil
	}
	if _, found := m.childrenLocked(name); found {
		return nil
	}
	return rocksdb.NotFound()
}

// GetChildren lists a directory, sorted.
func (m *MockFileSystem) GetChildren(dir string, _ *rocksdb.IOOptions) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names, found := m.childrenLocked(normalize(dir))
	if !found {
		return nil, rocksdb.NotFound(dir)
	}
	return names, nil
}

// DeleteFile deletes a file.
func (m *MockFileSystem) DeleteFile(name string, _ *rocksdb.IOOptions) error {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	if f == nil {
		return rocksdb.PathNotFound(name)
	}
	if f.kind == directory {
		return rocksdb.IOError(name, "Is a directory")
	}
	delete(m.mu.files, name)
	return nil
}

func (m *MockFileSystem) find(name string) (*memFile, error) {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	if f == nil {
		return nil, rocksdb.PathNotFound(name)
	}
	return f, nil
}

// Truncate cuts a file; it does not extend one.
func (m *MockFileSystem) Truncate(name string, size uint64, _ *rocksdb.IOOptions) error {
	f, err := m.find(name)
	if err != nil {
		return err
	}
	f.truncate(size)
	return nil
}

// CreateDir makes a directory; its parent need not exist.
func (m *MockFileSystem) CreateDir(name string, _ *rocksdb.IOOptions) error {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.files[name] != nil {
		return rocksdb.IOError("While mkdir", name, "File exists")
	}
	m.mu.files[name] = newMemFile(m.clock, name, directory)
	return nil
}

// CreateDirIfMissing accepts one that exists.
func (m *MockFileSystem) CreateDirIfMissing(name string, _ *rocksdb.IOOptions) error {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	if f != nil && f.kind != directory {
		return rocksdb.IOError("`" + name + "' exists but is not a directory")
	}
	if f == nil {
		m.mu.files[name] = newMemFile(m.clock, name, directory)
	}
	return nil
}

// DeleteDir removes an empty directory.
func (m *MockFileSystem) DeleteDir(name string, _ *rocksdb.IOOptions) error {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	names, found := m.childrenLocked(name)
	switch {
	case !found:
		return rocksdb.PathNotFound(name)
	case len(names) > 0:
		return rocksdb.IOError("file rmdir", name, "Directory not empty")
	}
	delete(m.mu.files, name)
	return nil
}

// GetFileSize asks by name.
func (m *MockFileSystem) GetFileSize(name string, _ *rocksdb.IOOptions) (uint64, error) {
	f, err := m.find(name)
	if err != nil {
		return 0, err
	}
	return f.size(), nil
}

// GetFileModificationTime is by the clock given.
func (m *MockFileSystem) GetFileModificationTime(name string, _ *rocksdb.IOOptions) (uint64, error) {
	f, err := m.find(name)
	if err != nil {
		return 0, err
	}
	return f.modifiedTime(), nil
}

// RenameFile renames a file, or a directory with all that is in it.
func (m *MockFileSystem) RenameFile(src, target string, _ *rocksdb.IOOptions) error {
	src, target = normalize(src), normalize(target)
	m.mu.Lock()
	defer m.mu.Unlock()
	_, isDir := m.childrenLocked(src)
	if m.mu.files[src] == nil && !isDir {
		return rocksdb.PathNotFound(src)
	}
	if src == target {
		return nil
	}
	moved := map[string]*memFile{}
	for path, f := range m.mu.files {
		if path == src {
			moved[target] = f
		} else if rest, ok := strings.CutPrefix(path, src+"/"); ok {
			moved[target+"/"+rest] = f
		} else {
			continue
		}
		delete(m.mu.files, path)
	}
	for path, f := range moved {
		m.mu.files[path] = f
	}
	return nil
}

// LinkFile gives a file a second name, replacing target.
func (m *MockFileSystem) LinkFile(src, target string, _ *rocksdb.IOOptions) error {
	src, target = normalize(src), normalize(target)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[src]
	if f == nil {
		return rocksdb.PathNotFound(src)
	}
	m.mu.files[target] = f
	return nil
}

// NumFileLinks counts a file's names.
func (m *MockFileSystem) NumFileLinks(name string, _ *rocksdb.IOOptions) (uint64, error) {
	f, err := m.find(name)
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := uint64(0)
	for _, other := range m.mu.files {
		if other == f {
			n++
		}
	}
	return n, nil
}

// AreFilesSame tells whether two names are one file's.
func (m *MockFileSystem) AreFilesSame(first, second string, _ *rocksdb.IOOptions) (bool, error) {
	a, err := m.find(first)
	if err != nil {
		return false, err
	}
	b, err := m.find(second)
	return a == b, err
}

// SyncFile does nothing.
func (m *MockFileSystem) SyncFile(string, *rocksdb.FileOptions, *rocksdb.IOOptions, bool) error {
	return nil
}

// IsDirectory tells whether path was made as one or has something in it.
func (m *MockFileSystem) IsDirectory(path string, _ *rocksdb.IOOptions) (bool, error) {
	path = normalize(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	_, found := m.childrenLocked(path)
	if !found && m.mu.files[path] == nil {
		return false, rocksdb.PathNotFound(path)
	}
	return found, nil
}

type mockFileLock string

func (l mockFileLock) Path() string { return string(l) }

// LockFile makes a lock file and locks it.
func (m *MockFileSystem) LockFile(name string, _ *rocksdb.IOOptions) (rocksdb.FileLock, error) {
	name = normalize(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.mu.files[name]
	if f == nil {
		f = newMemFile(m.clock, name, lockFile)
		m.mu.files[name] = f
	}
	if f.kind != lockFile {
		return nil, rocksdb.InvalidArgument(name, "Not a lock file.")
	}
	if f.locked {
		return nil, rocksdb.IOError(name, "lock is already held.")
	}
	f.locked = true
	return mockFileLock(name), nil
}

// UnlockFile gives a lock up; its file may be gone.
func (m *MockFileSystem) UnlockFile(lock rocksdb.FileLock, _ *rocksdb.IOOptions) error {
	name := lock.Path()
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.mu.files[name]; f != nil {
		if f.kind != lockFile {
			return rocksdb.InvalidArgument(name, "Not a lock file.")
		}
		f.locked = false
	}
	return nil
}

// GetTestDirectory is /test.
func (m *MockFileSystem) GetTestDirectory(*rocksdb.IOOptions) (string, error) { return "/test", nil }

// NewLogger makes an info log in a new file.
func (m *MockFileSystem) NewLogger(name string, _ *rocksdb.IOOptions) (rocksdb.Logger, error) {
	l, err := logging.NewEnvLogger(m, name, m.clock, env.Default().GetThreadID)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// GetAbsolutePath knows no working directory.
func (m *MockFileSystem) GetAbsolutePath(path string, _ *rocksdb.IOOptions) (string, error) {
	p := normalize(path)
	if p == "" || p[0] != '/' {
		return "", rocksdb.NotSupported("GetAbsolutePath")
	}
	return p, nil
}

// CorruptBuffer damages up to 512 bytes of what was written to a file since it
// was synced.
func (m *MockFileSystem) CorruptBuffer(name string) error {
	f, err := m.find(name)
	if err != nil {
		return rocksdb.IOError(normalize(name), "File not found")
	}
	f.corruptBuffer()
	return nil
}

// MockEnv is an Env whose files are in memory.
type MockEnv struct{ *env.CompositeEnv }

// Create makes a MockEnv whose time passes by sleeping only. Threads are
// base's.
func Create(base rocksdb.Env) *MockEnv {
	return CreateWithClock(base, env.NewEmulatedSystemClock(base.GetSystemClock(), true))
}

// CreateWithClock makes a MockEnv with a clock of its own.
func CreateWithClock(base rocksdb.Env, clock rocksdb.SystemClock) *MockEnv {
	return &MockEnv{env.NewCompositeEnvWrapper(base, NewMockFileSystem(clock, true), clock)}
}

// NewMemEnv is Create.
func NewMemEnv(base rocksdb.Env) rocksdb.Env { return Create(base) }

// Name is MockEnv.
func (e *MockEnv) Name() string { return "MockEnv" }

// CorruptBuffer is the file system's.
func (e *MockEnv) CorruptBuffer(name string) error {
	return e.GetFileSystem().(*MockFileSystem).CorruptBuffer(name)
}

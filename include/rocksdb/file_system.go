// Port of include/rocksdb/file_system.h. Differs: results are returned, not
// filled in; options are passed by pointer, nil meaning the defaults; the
// debug context travels in IOOptions; files are closed, since Go has no
// destructors; a wrapper is a struct that embeds its target (see
// file_system_wrapper.go for those and for the embeddable defaults).

package rocksdb

import "time"

// FSIOPriority is a file system's own priority of a request.
type FSIOPriority uint8

// The priorities.
const (
	FSIOLow FSIOPriority = iota
	FSIOHigh
	FSIOTotal
)

// IOType says what kind of data a request carries.
type IOType uint8

// The kinds.
const (
	IOTypeData IOType = iota
	IOTypeFilter
	IOTypeIndex
	IOTypeMetadata
	IOTypeWAL
	IOTypeManifest
	IOTypeLog
	IOTypeUnknown
	IOTypeInvalid
)

// FSSupportedOps is an optional ability of a file system; SupportedOps gives
// the set as bits 1<<op.
type FSSupportedOps uint8

// The abilities: reads that return before they are done; buffers handed out by
// the file system; re-reading with stronger verification; Prefetch.
const (
	AsyncIO FSSupportedOps = iota
	FSBuffer
	VerifyAndReconstructRead
	FSPrefetch
)

// IOOptions belongs to one request. A nil *IOOptions means DefaultIOOptions.
// It is read during the call only; one value may serve many calls.
type IOOptions struct {
	// Timeout is a hint; 0 is none.
	Timeout time.Duration
	Prio    FSIOPriority
	// RateLimiterPriority: IOTotal is not to be limited.
	RateLimiterPriority IOPriority
	Type                IOType
	// PropertyBag carries what only the file system understands.
	PropertyBag map[string]string
	// ForceDirFsync makes a directory's Fsync happen where the file system
	// would leave it out as needless.
	ForceDirFsync bool
	// DoNotRecurse asks GetChildren not to enter sub-directories, for file
	// systems that would.
	DoNotRecurse bool
	// VerifyAndReconstructRead asks for a read from redundant copies after a
	// corruption; see FSSupportedOps.
	VerifyAndReconstructRead bool
	IOActivity               IOActivity
	// IOStats receives counts and times when it is not nil.
	IOStats *IOStatsContext
	// Dbg is for the file system to report in; may be nil.
	Dbg *IODebugContext
}

// DefaultIOOptions are low priority, not rate limited, of unknown type.
func DefaultIOOptions() IOOptions {
	return IOOptions{
		RateLimiterPriority: IOTotal,
		Type:                IOTypeUnknown,
		IOActivity:          IOActivityUnknown,
	}
}

// NewIOOptions gives DefaultIOOptions to point to. The zero value says that the
// call is part of a flush.
func NewIOOptions() *IOOptions {
	o := DefaultIOOptions()
	return &o
}

// IODebugContext carries a request's id down and messages up.
type IODebugContext struct {
	FilePath string
	Counters map[string]uint64
	Msg      string
	// RequestID is nil when there is none.
	RequestID *string
	CostInfo  any
}

// DirFsyncReason says what a directory is synced for.
type DirFsyncReason uint8

// The reasons.
const (
	DirFsyncNewFileSynced DirFsyncReason = iota
	DirFsyncFileRenamed
	DirFsyncDirRenamed
	DirFsyncFileDeleted
	DirFsyncDefault
)

// DirFsyncOptions tells a directory why it is synced, so that a file system
// can do less.
type DirFsyncOptions struct {
	Reason DirFsyncReason
	// RenamedNewName is the full new path, with DirFsyncFileRenamed.
	RenamedNewName string
}

// FileOpenContract is a set of promises made when a file is opened.
type FileOpenContract uint8

// The promises.
const (
	FileOpenDefault                    FileOpenContract = 0
	FileOpenNoReopenForWrite           FileOpenContract = 1 << 0
	FileOpenNoReadersWhileOpenForWrite FileOpenContract = 1 << 1
)

// Has tells whether all of the promises in c are made.
func (f FileOpenContract) Has(c FileOpenContract) bool { return f&c == c }

// MaxFileOpenMetadataSize bounds what GetFileOpenMetadata gives, in bytes.
const MaxFileOpenMetadataSize = 8 * 1024

// FileOptions says how a file is opened. A nil *FileOptions means
// DefaultFileOptions; the zero value does not.
type FileOptions struct {
	EnvOptions
	IOOptions    IOOptions
	Temperature  Temperature
	OpenContract FileOpenContract
	// HandoffChecksumType is the checksum handed to AppendWithVerification.
	HandoffChecksumType ChecksumType
	WriteHint           WriteLifeTimeHint
	// FileChecksum and FileChecksumFuncName are the whole file's, when known.
	FileChecksum         string
	FileChecksumFuncName string
	// FileMetadata is what GetFileOpenMetadata gave for the file; nil when
	// there is none.
	FileMetadata []byte
}

// DefaultFileOptions are those of a default DBOptions.
func DefaultFileOptions() FileOptions {
	return FileOptions{
		EnvOptions:          DefaultEnvOptions(),
		IOOptions:           DefaultIOOptions(),
		HandoffChecksumType: CRC32c,
	}
}

// NewFileOptions takes them from a database's options; its Env's file system,
// if there is one, then changes what it cannot do.
func NewFileOptions(db *DBOptions) *FileOptions {
	o := DefaultFileOptions()
	o.UseMmapReads = db.AllowMmapReads
	o.UseMmapWrites = db.AllowMmapWrites
	o.UseDirectReads = db.UseDirectReads
	o.SetFDCloexec = db.IsFDCloseOnExec
	o.BytesPerSync = db.BytesPerSync
	o.CompactionReadaheadSize = db.CompactionReadaheadSize
	o.RateLimiter = db.RateLimiter
	o.WritableFileMaxBufferSize = db.WritableFileMaxBufferSize
	o.AllowFallocate = db.AllowFallocate
	o.StrictBytesPerSync = db.StrictBytesPerSync
	o.Temperature = db.MetadataWriteTemperature
	if db.Env != nil {
		db.Env.GetFileSystem().SanitizeFileOptions(&o)
	}
	return &o
}

// DefaultFileSystemName is the second name of the system's file system.
const DefaultFileSystemName = "DefaultFileSystem"

// FileLock is a lock held on a file; give it to UnlockFile.
type FileLock interface {
	// Path is the locked file's.
	Path() string
}

// FileSystem is a tree of files. Errors: a missing file or directory is an
// IOError with SubCodePathNotFound, but FileExists answers NotFound; a full
// device is SubCodeNoSpace; an ability that is missing is NotSupported.
// Implementations embed FileSystemBase for the optional methods.
type FileSystem interface {
	Name() string
	// RegisterDBPaths and UnregisterDBPaths tell which directories databases
	// use.
	RegisterDBPaths(paths []string) error
	UnregisterDBPaths(paths []string) error

	NewSequentialFile(name string, opts *FileOptions) (FSSequentialFile, error)
	NewRandomAccessFile(name string, opts *FileOptions) (FSRandomAccessFile, error)
	// NewWritableFile makes a new file; one of that name is emptied.
	NewWritableFile(name string, opts *FileOptions) (FSWritableFile, error)
	// ReopenWritableFile appends to the file, which is made when missing.
	ReopenWritableFile(name string, opts *FileOptions) (FSWritableFile, error)
	// ReuseWritableFile renames oldName to name and writes over it from its
	// start.
	ReuseWritableFile(name, oldName string, opts *FileOptions) (FSWritableFile, error)
	// NewRandomRWFile opens an existing file for reading and writing.
	NewRandomRWFile(name string, opts *FileOptions) (FSRandomRWFile, error)
	// NewMemoryMappedFileBuffer maps an existing file for reading and writing.
	NewMemoryMappedFileBuffer(name string) (FSMemoryMappedFileBuffer, error)
	NewDirectory(name string, opts *IOOptions) (FSDirectory, error)

	// FileExists is nil when there is a file or directory of that name, an
	// error of code NotFound when there is none.
	FileExists(name string, opts *IOOptions) error
	// GetChildren gives the names in dir, without "." and "..".
	GetChildren(dir string, opts *IOOptions) ([]string, error)
	GetChildrenFileAttributes(dir string, opts *IOOptions) ([]FileAttributes, error)
	DeleteFile(name string, opts *IOOptions) error
	Truncate(name string, size uint64, opts *IOOptions) error
	// CreateDir fails when there is one.
	CreateDir(name string, opts *IOOptions) error
	CreateDirIfMissing(name string, opts *IOOptions) error
	// DeleteDir wants it empty.
	DeleteDir(name string, opts *IOOptions) error
	GetFileSize(name string, opts *IOOptions) (uint64, error)
	// GetFileModificationTime is in seconds since 1970.
	GetFileModificationTime(name string, opts *IOOptions) (uint64, error)
	// RenameFile replaces target.
	RenameFile(src, target string, opts *IOOptions) error
	LinkFile(src, target string, opts *IOOptions) error
	// SyncFile syncs a file that is not open.
	SyncFile(name string, fileOpts *FileOptions, opts *IOOptions, useFsync bool) error
	NumFileLinks(name string, opts *IOOptions) (uint64, error)
	AreFilesSame(first, second string, opts *IOOptions) (bool, error)
	// LockFile makes the file when missing and locks it against other
	// processes and against this one; it does not wait.
	LockFile(name string, opts *IOOptions) (FileLock, error)
	UnlockFile(lock FileLock, opts *IOOptions) error
	// GetTestDirectory makes a directory for tests and names it.
	GetTestDirectory(opts *IOOptions) (string, error)
	// NewLogger makes an info log in a new file.
	NewLogger(name string, opts *IOOptions) (Logger, error)
	GetAbsolutePath(path string, opts *IOOptions) (string, error)
	IsDirectory(path string, opts *IOOptions) (bool, error)
	// GetFreeSpace is in bytes, for an unprivileged user.
	GetFreeSpace(path string, opts *IOOptions) (uint64, error)

	// SanitizeFileOptions changes what this file system cannot do.
	SanitizeFileOptions(opts *FileOptions)
	// The OptimizeFor methods return changed copies of opts. The values that
	// they take are those of the database's options.
	OptimizeForLogRead(opts *FileOptions) *FileOptions
	OptimizeForManifestRead(opts *FileOptions) *FileOptions
	OptimizeForLogWrite(opts *FileOptions, walBytesPerSync uint64, writableFileMaxBufferSize uint64) *FileOptions
	OptimizeForManifestWrite(opts *FileOptions) *FileOptions
	OptimizeForCompactionTableWrite(opts *FileOptions, useDirectIOForFlushAndCompaction bool) *FileOptions
	OptimizeForCompactionTableRead(opts *FileOptions, useDirectReads bool, dbPaths []string) *FileOptions
	OptimizeForBlobFileRead(opts *FileOptions, useDirectReads bool) *FileOptions

	// Poll waits until minCompletions of the handles are done; their
	// callbacks run before it returns.
	Poll(handles []IOHandle, minCompletions int) error
	// AbortIO cancels what is not done; callbacks of those get Aborted.
	AbortIO(handles []IOHandle) error
	DiscardCacheForDirectory(path string)
	// SupportedOps is the set of abilities, bits 1<<FSSupportedOps.
	SupportedOps() int64
}

// CheckFSFeatureSupport tells whether fs has an ability.
func CheckFSFeatureSupport(fs FileSystem, op FSSupportedOps) bool {
	return fs.SupportedOps()&(1<<op) != 0
}

// FSSequentialFile is read from front to back by one goroutine.
type FSSequentialFile interface {
	// Read reads up to n bytes into scratch, which holds n or more, and
	// returns them; the result may point elsewhere than into scratch and is
	// valid until the next call. Nothing at the file's end.
	Read(n int, opts *IOOptions, scratch []byte) ([]byte, error)
	// Skip goes on by n bytes; beyond the end is at the end.
	Skip(n uint64) error
	// PositionedRead reads at an offset; with direct I/O only.
	PositionedRead(offset uint64, n int, opts *IOOptions, scratch []byte) ([]byte, error)
	UseDirectIO() bool
	GetRequiredBufferAlignment() int
	// InvalidateCache drops cached pages; length 0 is to the end.
	InvalidateCache(offset, length uint64) error
	GetTemperature() Temperature
	Close() error
}

// FSReadRequest is one of several reads asked for at once.
type FSReadRequest struct {
	Offset uint64
	Len    int
	// Scratch holds Len bytes or is nil, when the file system is to bring its
	// own buffer (FSBuffer).
	Scratch []byte
	// Result and Status are set by the reader. Result is in Scratch, or in the
	// file system's buffer.
	Result []byte
	Status error
	// FSScratch keeps the file system's buffer alive.
	FSScratch any
}

// IOHandle is a read under way.
type IOHandle interface {
	// Release frees the handle, after Poll or AbortIO.
	Release()
}

// AccessPattern is a hint of how a file will be read.
type AccessPattern uint8

// The patterns.
const (
	AccessNormal AccessPattern = iota
	AccessRandom
	AccessSequential
	AccessWillNeed
	AccessWontNeed
)

// FSRandomAccessFile is read at any offset. It is safe for concurrent use.
type FSRandomAccessFile interface {
	// Read reads up to n bytes at offset into scratch, which holds n or more.
	// The result may point elsewhere than into scratch (a mapped file), and is
	// then valid until Close. It is short only at the file's end.
	Read(offset uint64, n int, opts *IOOptions, scratch []byte) ([]byte, error)
	// MultiRead does all the requests and sets their Result and Status. It
	// returns an error only when none could be tried.
	MultiRead(reqs []FSReadRequest, opts *IOOptions) error
	// Prefetch asks the system to load a range.
	Prefetch(offset uint64, n int, opts *IOOptions) error
	// ReadAsync begins a read; cb is called with the request once it is done,
	// during Poll or before ReadAsync returns. A nil handle: it was done at
	// once. req and its Scratch have to live until then.
	ReadAsync(req *FSReadRequest, opts *IOOptions, cb func(*FSReadRequest)) (IOHandle, error)
	// GetUniqueID writes to id what identifies the file's contents on this
	// machine, and returns the length; 0 when there is no such thing.
	GetUniqueID(id []byte) int
	Hint(pattern AccessPattern)
	UseDirectIO() bool
	GetRequiredBufferAlignment() int
	InvalidateCache(offset, length uint64) error
	GetFileSize() (uint64, error)
	// GetFileOpenMetadata gives what makes a later opening cheaper.
	GetFileOpenMetadata() ([]byte, error)
	GetTemperature() Temperature
	Close() error
}

// DataVerificationInfo is handed to the file system with the data.
type DataVerificationInfo struct {
	// Checksum is of the data, of the kind FileOptions.HandoffChecksumType,
	// 4 bytes, least first.
	Checksum []byte
}

// FSWritableFile is written by one goroutine, mostly at its end. Data may
// reach the system only with Flush and the device only with Sync.
type FSWritableFile interface {
	Append(data []byte, opts *IOOptions) error
	AppendWithVerification(data []byte, opts *IOOptions, info DataVerificationInfo) error
	// PositionedAppend writes at an offset; with direct I/O only, where data
	// and offset are aligned.
	PositionedAppend(data []byte, offset uint64, opts *IOOptions) error
	PositionedAppendWithVerification(data []byte, offset uint64, opts *IOOptions, info DataVerificationInfo) error
	// Truncate sets the size; needed before Close after padded writes.
	Truncate(size uint64, opts *IOOptions) error
	// Close does not sync. A second Close does nothing.
	Close(opts *IOOptions) error
	Flush(opts *IOOptions) error
	// Sync makes the data durable, Fsync the metadata as well.
	Sync(opts *IOOptions) error
	Fsync(opts *IOOptions) error
	// IsSyncThreadSafe tells whether Sync and Fsync may run beside Append and
	// Flush.
	IsSyncThreadSafe() bool
	UseDirectIO() bool
	GetRequiredBufferAlignment() int
	SetWriteLifeTimeHint(hint WriteLifeTimeHint)
	GetWriteLifeTimeHint() WriteLifeTimeHint
	// SetIOPriority sets the file's own priority for rate limiting; IOTotal
	// is not limited.
	SetIOPriority(pri IOPriority)
	GetIOPriority() IOPriority
	// GetFileSize is the size of the valid data.
	GetFileSize(opts *IOOptions) uint64
	// SetPreallocationBlockSize sets the step of preallocation in bytes; 0 is
	// none.
	SetPreallocationBlockSize(size int)
	GetPreallocationStatus() (blockSize, lastAllocatedBlock int)
	GetUniqueID(id []byte) int
	InvalidateCache(offset, length uint64) error
	// RangeSync starts writing back a range; it waits only as
	// StrictBytesPerSync says.
	RangeSync(offset, nbytes uint64, opts *IOOptions) error
	// PrepareWrite preallocates for a write to come.
	PrepareWrite(offset uint64, length int, opts *IOOptions)
	Allocate(offset, length uint64, opts *IOOptions) error
}

// FSRandomRWFile is read and written at any offset. It is not safe for
// concurrent use.
type FSRandomRWFile interface {
	Write(offset uint64, data []byte, opts *IOOptions) error
	// Read is as FSRandomAccessFile's.
	Read(offset uint64, n int, opts *IOOptions, scratch []byte) ([]byte, error)
	Flush(opts *IOOptions) error
	Sync(opts *IOOptions) error
	Fsync(opts *IOOptions) error
	Close(opts *IOOptions) error
	UseDirectIO() bool
	GetRequiredBufferAlignment() int
	GetTemperature() Temperature
}

// FSMemoryMappedFileBuffer is a mapped file.
type FSMemoryMappedFileBuffer interface {
	// Data is the mapping; valid until Close.
	Data() []byte
	Close() error
}

// FSDirectory is an open directory.
type FSDirectory interface {
	// Fsync makes the directory's entries durable.
	Fsync(opts *IOOptions) error
	FsyncWithDirOptions(opts *IOOptions, dirOpts DirFsyncOptions) error
	Close(opts *IOOptions) error
	GetUniqueID(id []byte) int
}

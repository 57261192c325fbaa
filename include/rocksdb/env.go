// Port of include/rocksdb/env.h. Differs: Env is an interface over a file
// system, a clock and the thread pools; file operations are methods of its
// FileSystem and time is its SystemClock's, there is no second set of them.
// Wrap an Env by embedding it in a struct.

package rocksdb

// DefaultPageSize is the alignment direct I/O assumes, in bytes.
const DefaultPageSize = 4 * 1024

// WriteLifeTimeHint tells the device how long a file's data will live.
type WriteLifeTimeHint uint8

// The hints; the numbers are the kernel's.
const (
	WriteLifeNotSet WriteLifeTimeHint = iota
	WriteLifeNone
	WriteLifeShort
	WriteLifeMedium
	WriteLifeLong
	WriteLifeExtreme
)

// IOActivity says which operation a read or write serves, for statistics.
type IOActivity uint8

// The activities. From FirstCustomIOActivity to LastCustomIOActivity they are
// the application's own.
const (
	IOActivityFlush                               IOActivity = 0
	IOActivityCompaction                          IOActivity = 1
	IOActivityDBOpen                              IOActivity = 2
	IOActivityGet                                 IOActivity = 3
	IOActivityMultiGet                            IOActivity = 4
	IOActivityDBIterator                          IOActivity = 5
	IOActivityVerifyDBChecksum                    IOActivity = 6
	IOActivityVerifyFileChecksums                 IOActivity = 7
	IOActivityGetEntity                           IOActivity = 8
	IOActivityMultiGetEntity                      IOActivity = 9
	IOActivityGetFileChecksumsFromCurrentManifest IOActivity = 10
	FirstCustomIOActivity                         IOActivity = 0x80
	LastCustomIOActivity                          IOActivity = 0xFE
	IOActivityUnknown                             IOActivity = 0xFF
)

var ioActivityText = [...]string{
	"Flush", "Compaction", "DBOpen", "Get", "MultiGet", "DBIterator",
	"VerifyDBChecksum", "VerifyFileChecksums", "GetEntity", "MultiGetEntity",
	"GetFileChecksumsFromCurrentManifest",
}

// String is upstream's name of the activity.
func (a IOActivity) String() string {
	switch {
	case int(a) < len(ioActivityText):
		return ioActivityText[a]
	case a >= FirstCustomIOActivity && a <= LastCustomIOActivity:
		const digits = "0123456789ABCDEF"
		return "CustomIOActivity" + string([]byte{digits[a>>4], digits[a&15]})
	case a == IOActivityUnknown:
		return "Unknown"
	}
	return "Invalid"
}

// FileAttributes describes one entry of a directory.
type FileAttributes struct {
	Name        string // without the directory
	SizeBytes   uint64
	Temperature Temperature
}

// EnvOptions says how a file is opened and written. The zero value is not the
// default: begin with DefaultEnvOptions.
type EnvOptions struct {
	UseMmapReads    bool
	UseMmapWrites   bool
	UseDirectReads  bool
	UseDirectWrites bool
	// AllowFallocate permits preallocation.
	AllowFallocate bool
	// SetFDCloexec closes the descriptor in child processes.
	SetFDCloexec bool
	// BytesPerSync starts writing back each time that many bytes were
	// written; 0 leaves it to the system.
	BytesPerSync uint64
	// StrictBytesPerSync waits for the previous range before it goes on.
	StrictBytesPerSync bool
	// FallocateWithKeepSize leaves the file's size as it is when
	// preallocating.
	FallocateWithKeepSize bool
	// CompactionReadaheadSize is in bytes.
	CompactionReadaheadSize uint64
	// WritableFileMaxBufferSize bounds a writer's buffer, in bytes.
	WritableFileMaxBufferSize uint64
	// RateLimiter may be nil.
	RateLimiter RateLimiter
}

// DefaultEnvOptions are those of a default DBOptions.
func DefaultEnvOptions() EnvOptions {
	return EnvOptions{
		AllowFallocate:            true,
		SetFDCloexec:              true,
		FallocateWithKeepSize:     true,
		CompactionReadaheadSize:   2 * 1024 * 1024,
		WritableFileMaxBufferSize: 1024 * 1024,
	}
}

// NewEnvOptions takes them from a database's options; its Env's file system
// then changes what it cannot do.
func NewEnvOptions(db *DBOptions) EnvOptions { return NewFileOptions(db).EnvOptions }

// Env is what the engine needs of the system: files, time and threads.
// Package env has the default one and the means to compose others.
type Env interface {
	Name() string
	GetFileSystem() FileSystem
	GetSystemClock() SystemClock

	// Schedule queues fn for the pool of that priority. unsched, if not nil,
	// is run instead of fn when UnSchedule takes the job out by its tag.
	Schedule(fn func(), pri Priority, tag any, unsched func())
	// UnSchedule drops the queued jobs of a tag and returns how many.
	UnSchedule(tag any, pri Priority) int
	// StartThread runs fn on a goroutine of its own, for which WaitForJoin
	// waits.
	StartThread(fn func())
	WaitForJoin()
	// ReserveThreads takes up to n waiting threads out of service and returns
	// how many; ReleaseThreads gives them back.
	ReserveThreads(n int, pri Priority) int
	ReleaseThreads(n int, pri Priority) int
	GetThreadPoolQueueLen(pri Priority) int
	SetBackgroundThreads(n int, pri Priority)
	GetBackgroundThreads(pri Priority) int
	IncBackgroundThreadsIfNeeded(n int, pri Priority)
	// LowerThreadPoolIOPriority and LowerThreadPoolCPUPriority ask the system
	// to prefer other work.
	LowerThreadPoolIOPriority(pri Priority)
	LowerThreadPoolCPUPriority(pri Priority, cpu CPUPriority) error

	GetHostName() (string, error)
	// GetThreadID identifies the calling thread in logs.
	GetThreadID() uint64
	// GetThreadList describes the background threads and what they do.
	GetThreadList() ([]ThreadStatus, error)
	// GenerateUniqueID makes a name no other process makes: 36 characters.
	GenerateUniqueID() string
	// SetAllowNonOwnerAccess opens created files to other users (the default)
	// or to their owner alone.
	SetAllowNonOwnerAccess(allow bool) error
}

// DefaultEnvName is the second name of the process's Env.
const DefaultEnvName = "DefaultEnv"

// EnvWrapper forwards all to the Env it embeds; embed it and override.
type EnvWrapper struct{ Env }

// Target is the wrapped Env.
func (w *EnvWrapper) Target() Env { return w.Env }

// Inner is the wrapped Env, nil where there is none.
func (w *EnvWrapper) Inner() Customizable {
	if w.Env == nil {
		return nil
	}
	return w.Env
}

// OptionsPtr has "target".
func (w *EnvWrapper) OptionsPtr(name string) any {
	if name == EnvTargetOptionsName {
		return &w.Env
	}
	return nil
}

// ValidateOptions wants a target.
func (w *EnvWrapper) ValidateOptions(*DBOptions, *ColumnFamilyOptions) error {
	if w.Env == nil {
		return InvalidArgument("Target Env not specified")
	}
	return nil
}

// Names of the option structs of what makes up an Env and of other plug-ins
// below package options, for OptionsPtr.
const (
	EnvTargetOptionsName         = "EnvTarget"
	FileSystemTargetOptionsName  = "FileSystemTarget"
	SystemClockTargetOptionsName = "SystemClockTarget"
	CompositeFSOptionsName       = "CompositeFileSystem"
	CompositeClockOptionsName    = "CompositeClock"
	ChrootDirOptionsName         = "chroot_dir"
	MockFSOptionsName            = "MockFileSystem"
	EncryptedFSOptionsName       = "EncryptionProvider"
	CTRProviderOptionsName       = "Cipher"
	ROT13CipherOptionsName       = "ROT13BlockCipherOptions"

	StatisticsOptionsName            = "StatisticsOptions"
	MemoryAllocatorTargetOptionsName = "MemoryAllocatorTarget"
)

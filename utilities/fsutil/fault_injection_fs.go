// Port of utilities/fault_injection_fs.{h,cc}. Differs: an error context is not
// a thread's, but that of the operations of one IOStatsContext or one activity,
// or the file system's; a file's state is shared, not copied at each
// append, and keeps unsynced data that a later sync by name makes durable;
// errors of the target's sync are returned; linking a file that is open for
// writing is an error, not an abort.

package fsutil

import (
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// FaultInjectionIOType is a class of operations to fail.
type FaultInjectionIOType uint8

// The classes.
const (
	FaultInjectionRead FaultInjectionIOType = iota
	FaultInjectionWrite
	FaultInjectionMetadataRead
	FaultInjectionMetadataWrite
	numFaultInjectionIOTypes
)

// Injected is in the message of each injected error.
const Injected = "injected"

const failedToWriteToWAL = "failed to write to WAL"

// IsInjectedError tells whether err was injected, and its message has marker.
func IsInjectedError(err error, marker string) bool {
	if err == nil {
		return false
	}
	msg := rocksdb.AsStatus(err).Message
	return strings.Contains(msg, Injected) && strings.Contains(msg, marker)
}

// IsFailedToWriteToWALError tells whether err is an injected one of the log.
func IsFailedToWriteToWALError(err error) bool { return IsInjectedError(err, failedToWriteToWAL) }

// fileState is what is known of a file made here. It is guarded by the file
// system's mutex.
type fileState struct {
	posAtLastAppend uint64
	posAtLastSync   uint64
	buffer          []byte // appended and not in the target
}

// isFullySynced tells whether a crash would lose nothing of the file.
func (s *fileState) isFullySynced() bool { return s.posAtLastAppend == s.posAtLastSync }

// drop keeps n bytes of the buffer.
func (s *fileState) drop(n int) {
	s.posAtLastAppend -= uint64(len(s.buffer) - n)
	s.buffer = s.buffer[:n]
}

// overwritten says what to do with a new file whose directory was not synced:
// nil deletes it, else its name gets these contents back.
type overwritten []byte

// errorContext decides when to fail.
type errorContext struct {
	mu                     sync.Mutex
	rand                   *util.Random
	oneIn                  int
	enabled                bool
	retryable, hasDataLoss bool
	count                  int
}

// errorContexts are the contexts of one scope, by class.
type errorContexts [numFaultInjectionIOTypes]*errorContext

// ErrorScope says whose operations an error context is for. Where several
// apply, Stats goes before Activity, and that before the whole file system.
type ErrorScope struct {
	// Stats, when not nil: the operations that report to it, as those of calls
	// whose ReadOptions or WriteOptions have it. It stands for upstream's
	// thread.
	Stats *rocksdb.IOStatsContext
	// Activity, when Stats is nil and it is not IOActivityUnknown: its
	// operations.
	Activity rocksdb.IOActivity
}

// FaultInjectionTestFS wraps a file system for tests of crashes and errors. It
// is safe for concurrent use.
type FaultInjectionTestFS struct {
	rocksdb.FileSystemWrapper
	log *InjectedErrorLog

	mu struct {
		sync.Mutex
		inactive         bool
		err              error // of all operations while inactive
		directWritable   bool
		unsyncedDataLoss bool
		hideUnsyncedData bool
		allowLinkOpen    bool
		states           map[string]*fileState
		open             map[string]rocksdb.FileOpenContract
		contracts        map[string]rocksdb.FileOpenContract
		newFiles         map[string]map[string]overwritten // by directory and name
		contexts         [numFaultInjectionIOTypes]*errorContext
		byStats          map[*rocksdb.IOStatsContext]*errorContexts
		byActivity       map[rocksdb.IOActivity]*errorContexts
		injectedErrors   int
		injector         func(op, name string) error
		excludedActivity map[rocksdb.IOActivity]bool
		excludedTypes    map[rocksdb.FileType]bool
		excludedWrites   map[rocksdb.FileType]bool
		corruptWrites    bool
		handoffType      rocksdb.ChecksumType
		failUniqueID     bool
		failFileSizeSst  bool
		failOpenSizeSst  bool
	}
}

// NewFaultInjectionTestFS wraps base; for now nothing fails.
func NewFaultInjectionTestFS(base rocksdb.FileSystem) *FaultInjectionTestFS {
	f := &FaultInjectionTestFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: base}}
	f.mu.err = rocksdb.Corruption("Not active")
	f.mu.handoffType = rocksdb.CRC32c
	f.resetLocked()
	return f
}

// Name is FaultInjectionTestFS.
func (f *FaultInjectionTestFS) Name() string { return "FaultInjectionTestFS" }

// SetInjectedErrorLog records each injected error from now on; l may be nil.
// Not while the file system is in use.
func (f *FaultInjectionTestFS) SetInjectedErrorLog(l *InjectedErrorLog) { f.log = l }

func (f *FaultInjectionTestFS) resetLocked() {
	f.mu.states = map[string]*fileState{}
	f.mu.open = map[string]rocksdb.FileOpenContract{}
	f.mu.contracts = map[string]rocksdb.FileOpenContract{}
	f.mu.newFiles = map[string]map[string]overwritten{}
	f.mu.inactive = false
}

// ResetState forgets all files, with what they did not sync, and makes the
// file system active.
func (f *FaultInjectionTestFS) ResetState() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resetLocked()
}

// SetFilesystemActive turns all operations into failures with err, or Corruption
// when err is nil, and back.
func (f *FaultInjectionTestFS) SetFilesystemActive(active bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.inactive = !active
	if err == nil {
		err = rocksdb.Corruption("Not active")
	}
	if !active {
		f.mu.err = err
	}
}

// IsFilesystemActive is the reverse of SetFilesystemActive.
func (f *FaultInjectionTestFS) IsFilesystemActive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.mu.inactive
}

// SetFileSystemIOError changes what operations fail with while inactive.
func (f *FaultInjectionTestFS) SetFileSystemIOError(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.err = err
}

// GetError is what operations fail with while inactive.
func (f *FaultInjectionTestFS) GetError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.err
}

// active is nil, or the error to fail with.
func (f *FaultInjectionTestFS) active() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.inactive {
		return f.mu.err
	}
	return nil
}

// SetFilesystemDirectWritable lets files be made in the target, untracked.
func (f *FaultInjectionTestFS) SetFilesystemDirectWritable(writable bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.directWritable = writable
}

func (f *FaultInjectionTestFS) directWritable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.directWritable
}

// SetInjectUnsyncedDataLoss makes files opened from now on keep in memory what
// they append until they sync.
func (f *FaultInjectionTestFS) SetInjectUnsyncedDataLoss(inject bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.unsyncedDataLoss = inject
}

// SetReadUnsyncedData says whether reading sees what is not synced, as it does
// by default.
func (f *FaultInjectionTestFS) SetReadUnsyncedData(read bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.hideUnsyncedData = !read
}

// ReadUnsyncedData is what SetReadUnsyncedData set.
func (f *FaultInjectionTestFS) ReadUnsyncedData() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.mu.hideUnsyncedData
}

// SetAllowLinkOpenFile permits links to files that are open for writing.
func (f *FaultInjectionTestFS) SetAllowLinkOpenFile(allow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.allowLinkOpen = allow
}

// HasOpenFile tells whether a file made here is open for writing.
func (f *FaultInjectionTestFS) HasOpenFile() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.mu.open) != 0
}

// IngestDataCorruptionBeforeWrite makes writes with checksums fail as corrupt.
func (f *FaultInjectionTestFS) IngestDataCorruptionBeforeWrite() { f.setCorruptWrites(true) }

// NoDataCorruptionBeforeWrite is the reverse.
func (f *FaultInjectionTestFS) NoDataCorruptionBeforeWrite() { f.setCorruptWrites(false) }

func (f *FaultInjectionTestFS) setCorruptWrites(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.corruptWrites = on
}

// SetChecksumHandoffFuncType is the kind of checksum that writes hand over;
// NoChecksum is not verified.
func (f *FaultInjectionTestFS) SetChecksumHandoffFuncType(t rocksdb.ChecksumType) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.handoffType = t
}

// SetFailGetUniqueID makes files have no unique id.
func (f *FaultInjectionTestFS) SetFailGetUniqueID(fail bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.failUniqueID = fail
}

// SetFailRandomAccessGetFileSizeSst makes open table files not know their size.
func (f *FaultInjectionTestFS) SetFailRandomAccessGetFileSizeSst(fail bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.failOpenSizeSst = fail
}

// SetFailFilesystemGetFileSizeSst makes GetFileSize of table files fail.
func (f *FaultInjectionTestFS) SetFailFilesystemGetFileSizeSst(fail bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.failFileSizeSst = fail
}

// SetErrorContext makes one in oneIn operations of a class fail, once enabled.
// oneIn 0 is none.
func (f *FaultInjectionTestFS) SetErrorContext(t FaultInjectionIOType, seed uint32, oneIn int, retryable, hasDataLoss bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.contexts[t] = &errorContext{rand: util.NewRandom(seed), oneIn: oneIn, retryable: retryable, hasDataLoss: hasDataLoss}
}

// SetScopedErrorContext is SetErrorContext for a scope. The context is not
// enabled yet.
func (f *FaultInjectionTestFS) SetScopedErrorContext(s ErrorScope, t FaultInjectionIOType, seed uint32, oneIn int, retryable, hasDataLoss bool) {
	c := &errorContext{rand: util.NewRandom(seed), oneIn: oneIn, retryable: retryable, hasDataLoss: hasDataLoss}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case s.Stats != nil:
		if f.mu.byStats == nil {
			f.mu.byStats = map[*rocksdb.IOStatsContext]*errorContexts{}
		}
		if f.mu.byStats[s.Stats] == nil {
			f.mu.byStats[s.Stats] = &errorContexts{}
		}
		f.mu.byStats[s.Stats][t] = c
	case s.Activity != rocksdb.IOActivityUnknown:
		if f.mu.byActivity == nil {
			f.mu.byActivity = map[rocksdb.IOActivity]*errorContexts{}
		}
		if f.mu.byActivity[s.Activity] == nil {
			f.mu.byActivity[s.Activity] = &errorContexts{}
		}
		f.mu.byActivity[s.Activity][t] = c
	default:
		f.mu.contexts[t] = c
	}
}

// scoped is the context of a scope, nil when it has none.
func (f *FaultInjectionTestFS) scoped(s ErrorScope, t FaultInjectionIOType) *errorContext {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all *errorContexts
	switch {
	case s.Stats != nil:
		all = f.mu.byStats[s.Stats]
	case s.Activity != rocksdb.IOActivityUnknown:
		all = f.mu.byActivity[s.Activity]
	default:
		return f.mu.contexts[t]
	}
	if all == nil {
		return nil
	}
	return all[t]
}

// EnableScopedErrorInjection begins, or ends, to fail the classes of a scope;
// no classes are all.
func (f *FaultInjectionTestFS) EnableScopedErrorInjection(s ErrorScope, on bool, types ...FaultInjectionIOType) {
	if len(types) == 0 {
		types = allFaultInjectionIOTypes
	}
	for _, t := range types {
		if c := f.scoped(s, t); c != nil {
			c.mu.Lock()
			c.enabled = on
			c.mu.Unlock()
		}
	}
}

// GetAndResetScopedErrorCount counts the failures of a class and scope since it
// was last asked.
func (f *FaultInjectionTestFS) GetAndResetScopedErrorCount(s ErrorScope, t FaultInjectionIOType) int {
	c := f.scoped(s, t)
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count
	c.count = 0
	return n
}

// InjectedErrors counts all errors that contexts injected.
func (f *FaultInjectionTestFS) InjectedErrors() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.injectedErrors
}

// contextForLocked is the context that an operation is asked of.
func (f *FaultInjectionTestFS) contextForLocked(t FaultInjectionIOType, opts *rocksdb.IOOptions) *errorContext {
	if opts != nil {
		if all := f.mu.byStats[opts.IOStats]; opts.IOStats != nil && all != nil {
			return all[t]
		}
		if all := f.mu.byActivity[opts.IOActivity]; all != nil {
			return all[t]
		}
	}
	return f.mu.contexts[t]
}

func (f *FaultInjectionTestFS) context(t FaultInjectionIOType) *errorContext {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.contexts[t]
}

func (f *FaultInjectionTestFS) enable(on bool, types ...FaultInjectionIOType) {
	for _, t := range types {
		if c := f.context(t); c != nil {
			c.mu.Lock()
			c.enabled = on
			c.mu.Unlock()
		}
	}
}

var allFaultInjectionIOTypes = []FaultInjectionIOType{
	FaultInjectionRead, FaultInjectionWrite, FaultInjectionMetadataRead, FaultInjectionMetadataWrite}

// EnableErrorInjection begins to fail a class as its context says.
func (f *FaultInjectionTestFS) EnableErrorInjection(t FaultInjectionIOType) { f.enable(true, t) }

// DisableErrorInjection ends it.
func (f *FaultInjectionTestFS) DisableErrorInjection(t FaultInjectionIOType) { f.enable(false, t) }

// EnableAllErrorInjection begins with all classes that have a context.
func (f *FaultInjectionTestFS) EnableAllErrorInjection() {
	f.enable(true, allFaultInjectionIOTypes...)
}

// DisableAllErrorInjection ends with all.
func (f *FaultInjectionTestFS) DisableAllErrorInjection() {
	f.enable(false, allFaultInjectionIOTypes...)
}

// GetAndResetInjectedErrorCount counts the failures of a class since it was
// last asked.
func (f *FaultInjectionTestFS) GetAndResetInjectedErrorCount(t FaultInjectionIOType) int {
	c := f.context(t)
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count
	c.count = 0
	return n
}

// SetErrorInjector asks inject before each operation, by its method's name and
// the file's; an error is what the operation then fails with. nil ends it.
// Upstream has no such thing.
func (f *FaultInjectionTestFS) SetErrorInjector(inject func(op, name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.injector = inject
}

func setOf[T comparable](all []T) map[T]bool {
	s := make(map[T]bool, len(all))
	for _, v := range all {
		s[v] = true
	}
	return s
}

// SetIOActivitiesExcludedFromFaultInjection keeps errors away from activities.
func (f *FaultInjectionTestFS) SetIOActivitiesExcludedFromFaultInjection(a ...rocksdb.IOActivity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.excludedActivity = setOf(a)
}

// SetFileTypesExcludedFromFaultInjection keeps errors away from kinds of file.
func (f *FaultInjectionTestFS) SetFileTypesExcludedFromFaultInjection(t ...rocksdb.FileType) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.excludedTypes = setOf(t)
}

// SetFileTypesExcludedFromWriteFaultInjection keeps errors of class Write away
// from kinds of file.
func (f *FaultInjectionTestFS) SetFileTypesExcludedFromWriteFaultInjection(t ...rocksdb.FileType) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.excludedWrites = setOf(t)
}

// typeOf parses a file's name; info logs may have any prefix.
func typeOf(name string) (rocksdb.FileType, bool) {
	base := path.Base(name)
	if p, ok := filename.ParseFileName(base, ""); ok {
		return p.Type, true
	}
	prefix := ""
	if base == "LOG" || strings.HasPrefix(base, "LOG.old") {
		prefix = "LOG"
	} else if i := strings.LastIndex(base, "_LOG"); i >= 0 {
		if rest := base[i+len("_LOG"):]; rest == "" || strings.HasPrefix(rest, ".old") {
			prefix = base[:i+len("_LOG")]
		}
	}
	if prefix == "" {
		return 0, false
	}
	p, ok := filename.ParseFileName(base, prefix)
	return p.Type, ok && p.Type == rocksdb.InfoLogFile
}

func (f *FaultInjectionTestFS) excluded(t FaultInjectionIOType, opts *rocksdb.IOOptions, name string) bool {
	activity := rocksdb.IOActivityUnknown
	if opts != nil {
		activity = opts.IOActivity
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.excludedActivity[activity] {
		return true
	}
	if len(f.mu.excludedTypes) == 0 && len(f.mu.excludedWrites) == 0 {
		return false
	}
	ft, ok := typeOf(name)
	return ok && (f.mu.excludedTypes[ft] || t == FaultInjectionWrite && f.mu.excludedWrites[ft])
}

func injectedMessage(t FaultInjectionIOType, op, name string) string {
	switch t {
	case FaultInjectionRead:
		return "injected read error"
	case FaultInjectionWrite:
		if ft, ok := typeOf(name); ok && ft == rocksdb.WalFile && strings.HasSuffix(op, "Append") {
			return "injected write error " + failedToWriteToWAL
		}
		return "injected write error"
	case FaultInjectionMetadataRead:
		return "injected metadata read error"
	}
	return "injected metadata write error"
}

// maybeInject is the error that an operation is to fail with, mostly nil.
func (f *FaultInjectionTestFS) maybeInject(t FaultInjectionIOType, opts *rocksdb.IOOptions, op, name string, detail ErrorDetail) error {
	f.mu.Lock()
	c, injector := f.contextForLocked(t, opts), f.mu.injector
	f.mu.Unlock()
	if injector != nil {
		if err := injector(op, name); err != nil {
			return err
		}
	}
	if c == nil {
		return nil
	}
	c.mu.Lock()
	fail := c.enabled && c.oneIn > 0 && !f.excluded(t, opts, name) && c.rand.OneIn(c.oneIn)
	if fail {
		c.count++
	}
	c.mu.Unlock()
	if !fail {
		return nil
	}
	s := rocksdb.IOError(injectedMessage(t, op, name))
	s.Retryable, s.DataLoss = c.retryable, c.hasDataLoss
	f.mu.Lock()
	f.mu.injectedErrors++
	f.mu.Unlock()
	f.log.Record(op, name, detail, s)
	if t == FaultInjectionWrite {
		syncpoint.Process("FaultInjectionTestFS::InjectMetadataWriteError:Injected")
	}
	return s
}

// guard is active and maybeInject.
func (f *FaultInjectionTestFS) guard(t FaultInjectionIOType, opts *rocksdb.IOOptions, op, name string, detail ErrorDetail) error {
	if err := f.active(); err != nil {
		return err
	}
	return f.maybeInject(t, opts, op, name, detail)
}

// DropUnsyncedFileData forgets all that was not synced.
func (f *FaultInjectionTestFS) DropUnsyncedFileData() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.mu.states {
		if !s.isFullySynced() {
			s.drop(0)
		}
	}
}

// DropRandomUnsyncedFileData forgets an end of each file's unsynced data, and
// keeps the rest as a crash may.
func (f *FaultInjectionTestFS) DropRandomUnsyncedFileData(rnd *util.Random) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.mu.states {
		if !s.isFullySynced() && len(s.buffer) > 0 {
			s.drop(int(rnd.Uniform(len(s.buffer))))
		}
	}
}

// DeleteFilesCreatedAfterLastDirSync undoes what a crash would undo of the
// directories: new files go, small files that were replaced come back.
func (f *FaultInjectionTestFS) DeleteFilesCreatedAfterLastDirSync(opts *rocksdb.IOOptions) error {
	f.mu.Lock()
	dirs := make(map[string]map[string]overwritten, len(f.mu.newFiles))
	for dir, files := range f.mu.newFiles {
		dirs[dir] = maps.Clone(files)
	}
	f.mu.Unlock()
	for dir, files := range dirs {
		for name, previous := range files {
			full := dir + "/" + name
			var err error
			if previous == nil {
				err = f.DeleteFile(full, opts)
			} else {
				err = rocksdb.WriteStringToFile(f.FileSystem, previous, full, true, nil, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func splitName(name string) (dir, base string) {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// UntrackFile forgets a file.
func (f *FaultInjectionTestFS) UntrackFile(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.untrackLocked(name)
}

func (f *FaultInjectionTestFS) untrackLocked(name string) {
	dir, base := splitName(name)
	delete(f.mu.newFiles[dir], base)
	delete(f.mu.states, name)
	delete(f.mu.open, name)
	delete(f.mu.contracts, name)
}

// trackLocked begins to track a file just made.
func (f *FaultInjectionTestFS) trackLocked(name string, contract rocksdb.FileOpenContract) {
	f.untrackLocked(name)
	f.mu.open[name] = contract
	f.mu.contracts[name] = contract
	f.newFileLocked(name, nil)
}

func (f *FaultInjectionTestFS) newFileLocked(name string, previous overwritten) {
	dir, base := splitName(name)
	if f.mu.newFiles[dir] == nil {
		f.mu.newFiles[dir] = map[string]overwritten{}
	}
	f.mu.newFiles[dir][base] = previous
}

// syncDir makes a directory's entries safe.
func (f *FaultInjectionTestFS) syncDir(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.newFiles, dir)
}

func contractOf(opts *rocksdb.FileOptions) rocksdb.FileOpenContract {
	if opts == nil {
		return rocksdb.FileOpenDefault
	}
	return opts.OpenContract
}

func (f *FaultInjectionTestFS) validateReadOpen(name, op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, open := f.mu.open[name]; open && c.Has(rocksdb.FileOpenNoReadersWhileOpenForWrite) {
		return rocksdb.NotSupported(op + " violates no-readers-while-open-for-write contract: " + name)
	}
	return nil
}

// validateWrite holds a file to the promise not to be written again. A missing
// file has made none; it may have gone without DeleteFile.
func (f *FaultInjectionTestFS) validateWrite(name, op string, allowMissing bool) error {
	f.mu.Lock()
	c := f.mu.contracts[name]
	f.mu.Unlock()
	if !c.Has(rocksdb.FileOpenNoReopenForWrite) {
		return nil
	}
	if allowMissing {
		err := f.FileSystem.FileExists(name, nil)
		if rocksdb.IsNotFound(err) {
			f.mu.Lock()
			delete(f.mu.contracts, name)
			f.mu.Unlock()
			return nil
		}
		if err != nil {
			return err
		}
	}
	return rocksdb.NotSupported(op + " violates no-reopen-for-write contract: " + name)
}

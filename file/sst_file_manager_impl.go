// Port of file/sst_file_manager_impl.{h,cc}. Differs: the error handler is an
// interface, compactions are known by their sizes, Close has to be called.

package file

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const recoverEvery = 5 * microsInSecond

// Defaults of NewSstFileManager.
const (
	DefaultMaxTrashDBRatio     = 0.25
	DefaultBytesMaxDeleteChunk = 64 << 20
)

// ErrorRecoverer is a database that waits for free space; databases'
// ErrorHandler is one. Values are compared.
type ErrorRecoverer interface {
	RecoverFromBGError() error
	GetBGError() error
}

// SstFileManagerImpl tracks files of databases. It is safe for concurrent use.
type SstFileManagerImpl struct {
	clock     rocksdb.SystemClock
	fs        rocksdb.FileSystem
	logger    rocksdb.Logger
	scheduler *DeleteScheduler
	closed    chan struct{}
	recovery  sync.WaitGroup

	mu struct {
		sync.Mutex
		closing              bool
		totalFilesSize       uint64
		compactionBufferSize uint64
		compactionsReserved  uint64
		trackedFiles         map[string]uint64
		maxAllowedSpace      uint64
		path                 string // whose free space counts
		bgErr                error
		reservedDiskBuffer   uint64
		freeSpaceTrigger     uint64
		errorHandlers        []ErrorRecoverer
		recovering           bool // clearError runs
		current              ErrorRecoverer
	}
}

var _ FileDeleter = (*SstFileManagerImpl)(nil)
var _ rocksdb.SstFileManager = (*SstFileManagerImpl)(nil)

// NewSstFileManagerImpl makes one; logger may be nil. A bytesMaxDeleteChunk of
// 0 never cuts files.
func NewSstFileManagerImpl(clock rocksdb.SystemClock, fs rocksdb.FileSystem, logger rocksdb.Logger,
	rateBytesPerSec int64, maxTrashDBRatio float64, bytesMaxDeleteChunk uint64) *SstFileManagerImpl {
	m := &SstFileManagerImpl{clock: clock, fs: fs, logger: logger, closed: make(chan struct{})}
	m.mu.trackedFiles = map[string]uint64{}
	m.scheduler = newDeleteScheduler(clock, fs, rateBytesPerSec, logger, m, maxTrashDBRatio, bytesMaxDeleteChunk)
	return m
}

// NewSstFileManager makes one for env's files; fs, if not nil, is used instead.
// rateBytesPerSec 0 deletes at once.
func NewSstFileManager(env rocksdb.Env, fs rocksdb.FileSystem, logger rocksdb.Logger,
	rateBytesPerSec int64, maxTrashDBRatio float64, bytesMaxDeleteChunk uint64) *SstFileManagerImpl {
	if fs == nil {
		fs = env.GetFileSystem()
	}
	return NewSstFileManagerImpl(env.GetSystemClock(), fs, logger, rateBytesPerSec, maxTrashDBRatio, bytesMaxDeleteChunk)
}

// Close ends recovery and background deletion. Databases that use the manager
// have to be closed before.
func (m *SstFileManagerImpl) Close() {
	m.mu.Lock()
	if !m.mu.closing {
		m.mu.closing = true
		close(m.closed)
	}
	m.mu.Unlock()
	m.recovery.Wait()
	m.scheduler.Close()
}

// DeleteScheduler is the manager's.
func (m *SstFileManagerImpl) DeleteScheduler() *DeleteScheduler { return m.scheduler }

// OnAddFile begins to track a file, asking for its size.
func (m *SstFileManagerImpl) OnAddFile(path string) error {
	size, err := m.fs.GetFileSize(path, nil)
	if err != nil {
		return err
	}
	m.OnAddFileWithSize(path, size)
	return nil
}

// OnAddFileWithSize begins to track a file, or gives it a new size.
func (m *SstFileManagerImpl) OnAddFileWithSize(path string, size uint64) {
	m.mu.Lock()
	m.addLocked(path, size)
	m.mu.Unlock()
	syncpoint.ProcessArg("SstFileManagerImpl::OnAddFile", path)
}

func (m *SstFileManagerImpl) addLocked(path string, size uint64) {
	m.mu.totalFilesSize += size - m.mu.trackedFiles[path]
	m.mu.trackedFiles[path] = size
}

func (m *SstFileManagerImpl) removeLocked(path string) {
	m.mu.totalFilesSize -= m.mu.trackedFiles[path]
	delete(m.mu.trackedFiles, path)
}

// OnDeleteFile forgets a file that is gone.
func (m *SstFileManagerImpl) OnDeleteFile(path string) {
	m.forget(path)
	syncpoint.ProcessArg("SstFileManagerImpl::OnDeleteFile", path)
}

// OnUntrackFile forgets a file.
func (m *SstFileManagerImpl) OnUntrackFile(path string) {
	m.forget(path)
	syncpoint.ProcessArg("SstFileManagerImpl::OnUntrackFile", path)
}

func (m *SstFileManagerImpl) forget(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.removeLocked(path)
}

// OnMoveFile notes a file's new name and returns its size.
func (m *SstFileManagerImpl) OnMoveFile(oldPath, newPath string) uint64 {
	m.mu.Lock()
	size := m.mu.trackedFiles[oldPath]
	m.addLocked(newPath, size)
	m.removeLocked(oldPath)
	m.mu.Unlock()
	syncpoint.Process("SstFileManagerImpl::OnMoveFile")
	return size
}

// SetMaxAllowedSpaceUsage bounds the tracked files' total size.
func (m *SstFileManagerImpl) SetMaxAllowedSpaceUsage(maxAllowedSpace uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.maxAllowedSpace = maxAllowedSpace
}

// SetCompactionBufferSize is the room that compactions have to leave.
func (m *SstFileManagerImpl) SetCompactionBufferSize(size uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.compactionBufferSize = size
}

// IsMaxAllowedSpaceReached compares the total size with the bound.
func (m *SstFileManagerImpl) IsMaxAllowedSpaceReached() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.maxAllowedSpace > 0 && m.mu.totalFilesSize >= m.mu.maxAllowedSpace
}

// IsMaxAllowedSpaceReachedIncludingCompactions counts what running compactions
// may write.
func (m *SstFileManagerImpl) IsMaxAllowedSpaceReachedIncludingCompactions() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.maxAllowedSpace > 0 && m.mu.totalFilesSize+m.mu.compactionsReserved >= m.mu.maxAllowedSpace
}

func severityOf(err error) rocksdb.Severity {
	if err == nil {
		return rocksdb.SeverityNoError
	}
	return rocksdb.AsStatus(err).Severity
}

// EnoughRoomForCompaction reserves inputSize bytes, the size of a compaction's
// input files, if there is room for them; inputPath is one of those files. Each
// true has to be followed by OnCompactionCompletion. bgError is the database's.
func (m *SstFileManagerImpl) EnoughRoomForCompaction(inputSize uint64, inputPath string, bgError error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	needed := m.mu.compactionsReserved + inputSize + m.mu.compactionBufferSize
	if m.mu.maxAllowedSpace != 0 && needed+m.mu.totalFilesSize > m.mu.maxAllowedSpace {
		return false
	}
	// Only a database that has met a full device is held to the device's free
	// space, so that it does not slow down others.
	if rocksdb.IsNoSpace(bgError) && severityOf(m.mu.bgErr) == rocksdb.SeveritySoftError {
		free, err := m.fs.GetFreeSpace(inputPath, nil)
		if err != nil {
			free = 0
		}
		if m.mu.compactionBufferSize == 0 {
			needed += m.mu.reservedDiskBuffer
		}
		if free < needed+inputSize {
			logging.Error(m.logger, "free space [%d bytes] is less than needed headroom [%d bytes]\n", free, needed)
			return false
		}
	}
	m.mu.compactionsReserved += inputSize
	m.mu.freeSpaceTrigger = m.mu.compactionsReserved
	return true
}

// OnCompactionCompletion gives a reservation back.
func (m *SstFileManagerImpl) OnCompactionCompletion(inputSize uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.compactionsReserved -= min(inputSize, m.mu.compactionsReserved)
}

// GetCompactionsReservedSize is what running compactions may write.
func (m *SstFileManagerImpl) GetCompactionsReservedSize() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.compactionsReserved
}

// GetTotalSize is that of the tracked files.
func (m *SstFileManagerImpl) GetTotalSize() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.totalFilesSize
}

// GetTrackedFiles copies the map of paths to sizes.
func (m *SstFileManagerImpl) GetTrackedFiles() map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.mu.trackedFiles)
}

// GetDeleteRateBytesPerSecond is the scheduler's.
func (m *SstFileManagerImpl) GetDeleteRateBytesPerSecond() int64 {
	return m.scheduler.GetRateBytesPerSecond()
}

// SetDeleteRateBytesPerSecond is the scheduler's.
func (m *SstFileManagerImpl) SetDeleteRateBytesPerSecond(rate int64) {
	m.scheduler.SetRateBytesPerSecond(rate)
}

// GetMaxTrashDBRatio is the scheduler's.
func (m *SstFileManagerImpl) GetMaxTrashDBRatio() float64 { return m.scheduler.GetMaxTrashDBRatio() }

// SetMaxTrashDBRatio is the scheduler's.
func (m *SstFileManagerImpl) SetMaxTrashDBRatio(ratio float64) { m.scheduler.SetMaxTrashDBRatio(ratio) }

// GetTotalTrashSize is the scheduler's.
func (m *SstFileManagerImpl) GetTotalTrashSize() uint64 { return m.scheduler.GetTotalTrashSize() }

// SetStatisticsPtr is the scheduler's.
func (m *SstFileManagerImpl) SetStatisticsPtr(stats rocksdb.Statistics) {
	m.scheduler.SetStatisticsPtr(stats)
}

// ReserveDiskBuffer adds to the space that has to be free for a database to go
// on after its device was full; path is where.
func (m *SstFileManagerImpl) ReserveDiskBuffer(size uint64, path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.reservedDiskBuffer += size
	if m.mu.path == "" {
		m.mu.path = path
	}
}

// StartErrorRecovery tries every five seconds, once there is free space, to let
// h go on. bgError is of severity soft or hard.
func (m *SstFileManagerImpl) StartErrorRecovery(h ErrorRecoverer, bgError error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch severityOf(bgError) {
	case rocksdb.SeveritySoftError:
		if m.mu.bgErr == nil {
			m.mu.bgErr = bgError
		}
	case rocksdb.SeverityHardError:
		m.mu.bgErr = bgError
	default:
		return
	}
	if slices.Contains(m.mu.errorHandlers, h) {
		return
	}
	m.mu.errorHandlers = append(m.mu.errorHandlers, h)
	if !m.mu.recovering && !m.mu.closing {
		m.mu.recovering = true
		m.recovery.Go(m.clearError)
	}
}

// CancelErrorRecovery takes h off the list; false when it was not on it, or is
// being recovered at the moment.
func (m *SstFileManagerImpl) CancelErrorRecovery(h ErrorRecoverer) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.current == h {
		m.mu.current = nil
		return false
	}
	if i := slices.Index(m.mu.errorHandlers, h); i >= 0 {
		m.mu.errorHandlers = slices.Delete(m.mu.errorHandlers, i, i+1)
		return true
	}
	return false
}

// checkFreeSpaceLocked says whether there is enough to try again.
func (m *SstFileManagerImpl) checkFreeSpaceLocked() error {
	free, err := m.fs.GetFreeSpace(m.mu.path, nil)
	if err != nil {
		return err
	}
	if m.mu.maxAllowedSpace > 0 {
		free = min(free, m.mu.maxAllowedSpace)
	}
	switch severityOf(m.mu.bgErr) {
	case rocksdb.SeverityHardError:
		if free < m.mu.reservedDiskBuffer {
			logging.Error(m.logger, "free space [%d bytes] is less than required disk buffer [%d bytes]\n", free, m.mu.reservedDiskBuffer)
			return rocksdb.NoSpace()
		}
	case rocksdb.SeveritySoftError:
		if free < m.mu.freeSpaceTrigger {
			logging.Warn(m.logger, "free space [%d bytes] is less than free space for compaction trigger [%d bytes]\n", free, m.mu.freeSpaceTrigger)
			return rocksdb.NoSpace()
		}
	}
	return nil
}

// clearError recovers the databases on the list one after another, until it is
// empty or Close.
func (m *SstFileManagerImpl) clearError() {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.mu.recovering = false }()
	for len(m.mu.errorHandlers) > 0 && !m.mu.closing {
		if m.checkFreeSpaceLocked() == nil {
			m.recoverFirstLocked()
		}
		if len(m.mu.errorHandlers) > 0 {
			deadline := m.clock.NowMicros() + recoverEvery
			m.mu.Unlock()
			m.clock.TimedWait(m.closed, deadline)
			m.mu.Lock()
		}
	}
	if len(m.mu.errorHandlers) == 0 {
		logging.Info(m.logger, "Clearing error\n")
		m.mu.bgErr = nil
	}
}

// recoverFirstLocked gives up m.mu while the database recovers. current tells
// CancelErrorRecovery that it does, and is nil afterwards if it was called.
func (m *SstFileManagerImpl) recoverFirstLocked() {
	h := m.mu.errorHandlers[0]
	m.mu.current = h
	m.mu.Unlock()
	err := h.RecoverFromBGError()
	syncpoint.Process("SstFileManagerImpl::ErrorCleared")
	m.mu.Lock()
	if m.mu.current != nil {
		// It may have recovered and met a full device again.
		bg := m.mu.current.GetBGError()
		if err == nil && rocksdb.IsNoSpace(bg) && severityOf(bg) < rocksdb.SeverityFatalError {
			err = bg
		}
		m.mu.current = nil
	}
	if err == nil || errors.Is(err, rocksdb.ErrShutdownInProgress) || severityOf(err) >= rocksdb.SeverityFatalError {
		if i := slices.Index(m.mu.errorHandlers, h); i >= 0 {
			m.mu.errorHandlers = slices.Delete(m.mu.errorHandlers, i, i+1)
		}
	}
}

// ScheduleFileDeletion deletes a tracked file; see DeleteScheduler.DeleteFile.
func (m *SstFileManagerImpl) ScheduleFileDeletion(path, dirToSync string, forceBG bool) error {
	syncpoint.ProcessArg("SstFileManagerImpl::ScheduleFileDeletion", path)
	return m.scheduler.DeleteFile(path, dirToSync, forceBG)
}

// ScheduleUnaccountedFileDeletion deletes a file that is not tracked; see
// DeleteScheduler.DeleteUnaccountedFile.
func (m *SstFileManagerImpl) ScheduleUnaccountedFileDeletion(path, dirToSync string, forceBG bool, bucket *int32) error {
	syncpoint.ProcessArg("SstFileManagerImpl::ScheduleUnaccountedFileDeletion", path)
	return m.scheduler.DeleteUnaccountedFile(path, dirToSync, forceBG, bucket)
}

// WaitForEmptyTrash is the scheduler's.
func (m *SstFileManagerImpl) WaitForEmptyTrash() { m.scheduler.WaitForEmptyTrash() }

// NewTrashBucket is the scheduler's.
func (m *SstFileManagerImpl) NewTrashBucket() *int32 { return m.scheduler.NewTrashBucket() }

// WaitForEmptyTrashBucket is the scheduler's.
func (m *SstFileManagerImpl) WaitForEmptyTrashBucket(bucket int32) {
	m.scheduler.WaitForEmptyTrashBucket(bucket)
}

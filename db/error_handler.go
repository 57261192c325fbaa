// Port of db/error_handler.{h,cc}. Differs: the database is reached through
// Recoverer; the error in force can be read without a lock.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// RecoverContext is how a recovery flushes.
type RecoverContext struct {
	// FlushReason is FlushReasonErrorRecovery, which switches all memtables, or
	// FlushReasonErrorRecoveryRetryFlush, which flushes what waits already.
	FlushReason rocksdb.FlushReason
	// FlushAfterRecovery makes up for the requests that were dropped meanwhile.
	FlushAfterRecovery bool
}

// Recoverer is what the handler needs of the database. The DB mutex is held.
type Recoverer interface {
	// ResumeLocked does the work of a recovery and ends with ClearBGError.
	ResumeLocked(ctx RecoverContext) error
	// ShutdownInitiatedLocked tells that the database is being closed.
	ShutdownInitiatedLocked() bool
}

// ErrorHandler keeps the error that stopped background work, and recovers from
// it where that may help: from a full device through the SstFileManager, from
// errors that may be retried by a goroutine of its own, from others when the
// user calls Resume. The DB mutex protects it; GetBGError and IsDBStopped take
// none.
type ErrorHandler struct {
	db        Recoverer
	dbOptions *options.ImmutableDBOptions
	mutex     sync.Locker
	cond      *sync.Cond // on mutex; woken when a recovery ends

	bgError atomic.Pointer[rocksdb.Status] // written under the mutex
	stopped atomic.Bool                    // severity is Hard or worse

	// recoveryError is what went wrong during the recovery under way.
	recoveryError error
	// autoRecovery lets the SstFileManager recover from a full device; without,
	// soft errors stop background work.
	autoRecovery      bool
	recovering        bool
	softErrorNoBGWork bool // a soft error that stops all but the recovery's work
	allowDBShutdown   bool
	context           RecoverContext
	quarantine        []uint64 // numbers of files that a failed MANIFEST write named

	ending bool          // no more recoveries
	wake   chan struct{} // closed with ending
	thread chan struct{} // of the last recovery goroutine, closed at its end; nil: none
}

// NewErrorHandler makes a handler without an error. cond is on mu.
func NewErrorHandler(db Recoverer, o *options.ImmutableDBOptions, mu sync.Locker, cond *sync.Cond) *ErrorHandler {
	return &ErrorHandler{db: db, dbOptions: o, mutex: mu, cond: cond, allowDBShutdown: true, wake: make(chan struct{})}
}

// EnableAutoRecovery lets the SstFileManager wait for space.
func (h *ErrorHandler) EnableAutoRecovery() { h.autoRecovery = true }

// AddFilesToQuarantine implements FileQuarantine: a MANIFEST write failed, and
// what it wrote may name these files all the same.
func (h *ErrorHandler) AddFilesToQuarantine(numbers []uint64) {
	h.quarantine = append(h.quarantine, numbers...)
	logging.Info(h.dbOptions.InfoLog, "ErrorHandler: added file numbers %v to quarantine.\n", numbers)
}

// ClearFilesToQuarantine implements FileQuarantine: a new MANIFEST says which
// files there are.
func (h *ErrorHandler) ClearFilesToQuarantine() {
	h.quarantine = nil
	logging.Info(h.dbOptions.InfoLog, "ErrorHandler: cleared files in quarantine.\n")
}

// GetFilesToQuarantine lists files that must not be deleted.
func (h *ErrorHandler) GetFilesToQuarantine() []uint64 { return h.quarantine }

// severityOf decides how far an error stops the database.
func severityOf(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason, paranoid bool) rocksdb.Severity {
	if sev, ok := severityOfSubCode(s, reason, paranoid); ok {
		return sev
	}
	// unless gives sev, or nothing where paranoid_checks is off.
	unless := func(sev rocksdb.Severity) rocksdb.Severity {
		if !paranoid {
			return rocksdb.SeverityNoError
		}
		return sev
	}
	manifest := reason == rocksdb.BackgroundErrorReasonManifestWrite || reason == rocksdb.BackgroundErrorReasonManifestWriteNoWAL
	switch reason {
	case rocksdb.BackgroundErrorReasonCompaction, rocksdb.BackgroundErrorReasonFlush,
		rocksdb.BackgroundErrorReasonFlushNoWAL, rocksdb.BackgroundErrorReasonWriteCallback:
		switch s.Code {
		case rocksdb.CodeCorruption:
			return unless(rocksdb.SeverityUnrecoverableError)
		case rocksdb.CodeIOError:
			return unless(rocksdb.SeverityFatalError)
		}
	case rocksdb.BackgroundErrorReasonAsyncFileOpen:
		switch s.Code {
		case rocksdb.CodeCorruption:
			return unless(rocksdb.SeverityUnrecoverableError)
		case rocksdb.CodeIncomplete, rocksdb.CodeNotSupported:
			return unless(rocksdb.SeverityFatalError)
		}
		return unless(rocksdb.SeveritySoftError)
	}
	if manifest || reason == rocksdb.BackgroundErrorReasonMemTable || reason == rocksdb.BackgroundErrorReasonFlushNoWAL ||
		reason == rocksdb.BackgroundErrorReasonWriteCallback {
		return rocksdb.SeverityFatalError
	}
	return unless(rocksdb.SeverityFatalError)
}

// severityOfSubCode knows full devices, exceeded space limits, and writers that
// are fenced off.
func severityOfSubCode(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason, paranoid bool) (sev rocksdb.Severity, ok bool) {
	if s.Code != rocksdb.CodeIOError || reason == rocksdb.BackgroundErrorReasonMemTable || reason == rocksdb.BackgroundErrorReasonAsyncFileOpen {
		return 0, false
	}
	file := reason == rocksdb.BackgroundErrorReasonCompaction || reason == rocksdb.BackgroundErrorReasonFlush ||
		reason == rocksdb.BackgroundErrorReasonFlushNoWAL
	switch s.SubCode {
	case rocksdb.SubCodeNoSpace:
		switch {
		case file && !paranoid:
			return rocksdb.SeverityNoError, true
		case reason == rocksdb.BackgroundErrorReasonCompaction:
			return rocksdb.SeveritySoftError, true
		}
		return rocksdb.SeverityHardError, true
	case rocksdb.SubCodeSpaceLimit:
		if file && paranoid {
			return rocksdb.SeverityHardError, true
		}
	case rocksdb.SubCodeIOFenced:
		return rocksdb.SeverityFatalError, true
	}
	return 0, false
}

// SetBGError records what went wrong in the background or in the write path,
// tells listeners, and begins a recovery where one is possible. The DB mutex is
// held; it is released while listeners run.
func (h *ErrorHandler) SetBGError(err error, reason rocksdb.BackgroundErrorReason) {
	h.setBGError(err, reason, false)
}

// SetWALError is SetBGError for an error of a log.
func (h *ErrorHandler) SetWALError(err error, reason rocksdb.BackgroundErrorReason) {
	h.setBGError(err, reason, true)
}

func (h *ErrorHandler) setBGError(err error, reason rocksdb.BackgroundErrorReason, walRelated bool) {
	if err == nil {
		return
	}
	s := rocksdb.AsStatus(err)
	logging.Warn(h.dbOptions.InfoLog, "Background IO error %s, reason %d", s.Error(), reason)
	monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerBGErrorCount, 1)
	monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerBGIOErrorCount, 1)
	inFile := s.Scope == rocksdb.IOErrorScopeFile
	switch {
	case s.DataLoss && !inFile:
		h.record(s.WithSeverity(rocksdb.SeverityUnrecoverableError))
		logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Set background IO error as unrecoverable error\n")
		h.context = RecoverContext{FlushReason: rocksdb.FlushReasonErrorRecovery}
		h.notify(s.WithSeverity(rocksdb.SeverityUnrecoverableError), reason, false)
	case h.dbOptions.ManualWALFlush && walRelated && s.Code == rocksdb.CodeIOError:
		// What was buffered of the log may be lost while memtables have it; a
		// recovery that flushes one family after the other could leave them at
		// different points.
		h.record(s.WithSeverity(rocksdb.SeverityFatalError))
		logging.Warn(h.dbOptions.InfoLog, "ErrorHandler: A potentially WAL error happened, set background IO error as fatal error\n")
		h.context = RecoverContext{FlushReason: rocksdb.FlushReasonErrorRecovery}
		h.notify(s.WithSeverity(rocksdb.SeverityFatalError), reason, false)
	case s.SubCode != rocksdb.SubCodeNoSpace && (inFile || s.Retryable):
		h.setRetryable(s, reason)
	default:
		h.setKnown(s, reason)
	}
}

// setRetryable deals with an error whose cause may be gone at the next try. A
// file that could not be written is not written on: another takes its place.
func (h *ErrorHandler) setRetryable(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason) {
	monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerBGRetryableIOErrorCount, 1)
	logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Set background retryable IO error\n")
	if reason == rocksdb.BackgroundErrorReasonCompaction {
		// The compaction is queued again.
		monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerAutoresumeCount, 1)
		logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Compaction will schedule by itself to resume\n")
		h.notify(s, reason, false)
		return
	}
	sev := rocksdb.SeverityHardError
	ctx := RecoverContext{FlushReason: rocksdb.FlushReasonErrorRecovery}
	if reason == rocksdb.BackgroundErrorReasonFlushNoWAL || reason == rocksdb.BackgroundErrorReasonManifestWriteNoWAL {
		// The logs are all right, and writes go on; so memtables are not
		// switched at each try, which would make many small ones.
		sev = rocksdb.SeveritySoftError
		h.softErrorNoBGWork = true
		ctx.FlushReason = rocksdb.FlushReasonErrorRecoveryRetryFlush
	}
	h.record(s.WithSeverity(sev))
	h.context = ctx
	h.notify(s.WithSeverity(sev), reason, h.dbOptions.MaxBGErrorResumeCount > 0)
	h.startRecoverFromRetryable()
}

// setKnown deals with all other errors.
func (h *ErrorHandler) setKnown(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason) {
	e := s.WithSeverity(severityOf(s, reason, h.dbOptions.ParanoidChecks))
	if h.recovering && h.recoveryError == nil {
		h.recoveryError = e
	}
	auto := h.autoRecovery && e.Severity < rocksdb.SeverityFatalError
	noSpace := e.SubCode == rocksdb.SubCodeNoSpace || e.SubCode == rocksdb.SubCodeSpaceLimit
	if noSpace {
		e, auto = h.overrideNoSpace(e, auto)
	}
	if e.Severity == rocksdb.SeverityNoError {
		h.notify(e, reason, false)
		return
	}
	e, auto = h.notify(e, reason, auto)
	if e == nil || e.Severity <= h.severity() {
		logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Hit less severe background error\n")
		return
	}
	h.bgError.Store(e)
	stop := e.Severity >= rocksdb.SeverityHardError
	logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Set regular background error, auto_recovery=%v, stop=%v\n", auto, stop)
	h.context = RecoverContext{FlushReason: rocksdb.FlushReasonErrorRecovery}
	if auto {
		h.recovering = true
		if m := h.sstFileManager(); noSpace && m != nil {
			m.StartErrorRecovery(h, e)
		}
	}
	if stop {
		h.stopped.Store(true)
	}
}

func (h *ErrorHandler) severity() rocksdb.Severity {
	if s := h.bgError.Load(); s != nil {
		return s.Severity
	}
	return rocksdb.SeverityNoError
}

// record keeps s if it is worse than the error in force.
func (h *ErrorHandler) record(s *rocksdb.Status) {
	if h.recovering && h.recoveryError == nil {
		h.recoveryError = s
	}
	if s.Severity > h.severity() {
		h.bgError.Store(s)
	}
	if h.severity() >= rocksdb.SeverityHardError {
		h.stopped.Store(true)
	}
}

// notify tells listeners, with the mutex released; they may change the error
// and refuse the recovery.
func (h *ErrorHandler) notify(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason, auto bool) (*rocksdb.Status, bool) {
	if len(h.dbOptions.Listeners) == 0 {
		return s, auto
	}
	h.mutex.Unlock()
	defer h.mutex.Lock()
	var e error = s
	for _, l := range h.dbOptions.Listeners {
		l.OnBackgroundError(reason, &e)
		if auto {
			l.OnErrorRecoveryBegin(reason, e, &auto)
		}
	}
	if e == nil {
		return nil, auto
	}
	return rocksdb.AsStatus(e), auto
}

// notifyRecoveryEnd tells listeners; the mutex is released meanwhile.
func (h *ErrorHandler) notifyRecoveryEnd(old, now error) {
	if len(h.dbOptions.Listeners) == 0 {
		return
	}
	h.mutex.Unlock()
	defer h.mutex.Lock()
	syncpoint.Process("NotifyOnErrorRecoveryEnd:MutexUnlocked:1")
	syncpoint.Process("NotifyOnErrorRecoveryEnd:MutexUnlocked:2")
	for _, l := range h.dbOptions.Listeners {
		l.OnErrorRecoveryCompleted(old)
		l.OnErrorRecoveryEnd(&rocksdb.BackgroundErrorRecoveryInfo{OldBGError: old, NewBGError: now})
	}
}

func (h *ErrorHandler) sstFileManager() *file.SstFileManagerImpl {
	m, _ := h.dbOptions.SstFileManager.(*file.SstFileManagerImpl)
	return m
}

// overrideNoSpace says whether waiting for space can help.
func (h *ErrorHandler) overrideNoSpace(e *rocksdb.Status, auto bool) (*rocksdb.Status, bool) {
	switch {
	case e.Severity >= rocksdb.SeverityFatalError:
		return e, auto
	case h.sstFileManager() == nil:
		return e, false
	case h.dbOptions.Allow2PC && e.Severity <= rocksdb.SeveritySoftError:
		// The newest log may be incomplete, and prepared transactions need it.
		return e.WithSeverity(rocksdb.SeverityFatalError), false
	}
	if len(h.dbOptions.DBPaths) > 0 {
		if _, err := h.dbOptions.Env.GetFileSystem().GetFreeSpace(h.dbOptions.DBPaths[0].Path, rocksdb.NewIOOptions()); rocksdb.IsNotSupported(err) {
			auto = false
		}
	}
	return e, auto
}

// GetBGError gives the error in force, nil when there is none. No lock is
// needed.
func (h *ErrorHandler) GetBGError() error {
	if s := h.bgError.Load(); s != nil {
		return s
	}
	return nil
}

// GetRecoveryError is what went wrong in the recovery under way, or the last.
func (h *ErrorHandler) GetRecoveryError() error { return h.recoveryError }

// IsDBStopped tells whether writes are refused. No lock is needed.
func (h *ErrorHandler) IsDBStopped() bool { return h.stopped.Load() }

// IsBGWorkStopped tells whether flushes and compactions are not run, but for
// those of a recovery.
func (h *ErrorHandler) IsBGWorkStopped() bool {
	s := h.bgError.Load()
	return s != nil && (s.Severity >= rocksdb.SeverityHardError || !h.autoRecovery || h.softErrorNoBGWork)
}

// IsRecoveryInProgress tells whether a recovery is running or going to.
func (h *ErrorHandler) IsRecoveryInProgress() bool { return h.recovering }

// ReadyForShutdown tells whether the database may be closed.
func (h *ErrorHandler) ReadyForShutdown() bool { return !h.recovering && h.allowDBShutdown }

// ClearBGError forgets the error and tells listeners, unless something went
// wrong during the recovery; that it gives then.
func (h *ErrorHandler) ClearBGError() error {
	if h.recoveryError != nil {
		return h.recoveryError
	}
	old := h.GetBGError()
	h.stopped.Store(false)
	h.bgError.Store(nil)
	h.recovering, h.softErrorNoBGWork = false, false
	if !h.db.ShutdownInitiatedLocked() {
		// The mutex is released, and Close must not run on.
		h.allowDBShutdown = false
		h.notifyRecoveryEnd(old, nil)
		h.allowDBShutdown = true
	}
	h.cond.Broadcast()
	return h.recoveryError
}

// Resume is the user's RecoverFromBGError. The mutex is held.
func (h *ErrorHandler) Resume() error {
	if h.recovering {
		return rocksdb.Busy("Recovery already in progress")
	}
	noBGWork := h.softErrorNoBGWork
	h.recovering, h.softErrorNoBGWork = true, false
	h.context.FlushReason = rocksdb.FlushReasonErrorRecovery
	if noBGWork {
		h.context.FlushReason = rocksdb.FlushReasonErrorRecoveryRetryFlush
	}
	err := h.recover(noBGWork)
	h.recovering = false
	h.cond.Broadcast()
	return err
}

// RecoverFromBGError implements file.ErrorRecoverer: the SstFileManager found
// space. The mutex is not held.
func (h *ErrorHandler) RecoverFromBGError() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	err := h.recover(h.softErrorNoBGWork)
	// Otherwise it is tried again.
	if rocksdb.CodeOf(err) == rocksdb.CodeShutdownInProgress || h.severity() >= rocksdb.SeverityFatalError {
		h.recovering = false
	}
	h.cond.Broadcast()
	return err
}

func (h *ErrorHandler) recover(noBGWork bool) error {
	h.recoveryError = nil
	if h.severity() == rocksdb.SeveritySoftError && h.context.FlushReason == rocksdb.FlushReasonErrorRecovery {
		return h.ClearBGError() // nothing was lost
	}
	err := h.db.ResumeLocked(h.context)
	h.softErrorNoBGWork = err != nil && noBGWork
	return err
}

// startRecoverFromRetryable begins the goroutine that tries again.
func (h *ErrorHandler) startRecoverFromRetryable() {
	if h.bgError.Load() == nil || h.dbOptions.MaxBGErrorResumeCount <= 0 || h.recovering {
		return
	}
	if h.ending {
		h.notifyRecoveryEnd(h.GetBGError(), rocksdb.ShutdownInProgress())
		return
	}
	monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerAutoresumeCount, 1)
	logging.Info(h.dbOptions.InfoLog, "ErrorHandler: Call StartRecoverFromRetryableBGIOError to resume\n")
	h.recovering = true
	if last := h.thread; last != nil {
		h.mutex.Unlock()
		syncpoint.Process("StartRecoverFromRetryableBGIOError:BeforeWaitingForOtherThread")
		<-last
		syncpoint.Process("StartRecoverFromRetryableBGIOError:AfterWaitingForOtherThread")
		h.mutex.Lock()
	}
	done := make(chan struct{})
	h.thread = done
	go func() {
		defer close(done)
		h.recoverFromRetryable()
	}()
}

// recoverFromRetryable tries, up to max_bgerror_resume_count times, to go on.
func (h *ErrorHandler) recoverFromRetryable() {
	syncpoint.Process("RecoverFromRetryableBGIOError:BeforeStart")
	syncpoint.Process("RecoverFromRetryableBGIOError:BeforeStart2")
	h.mutex.Lock()
	defer h.mutex.Unlock()
	defer h.cond.Broadcast()
	ctx := h.context
	ctx.FlushAfterRecovery = true
	tries := uint64(0)
	defer func() {
		if tries > 0 {
			monitoring.RecordInHistogram(h.dbOptions.Stats, rocksdb.HistErrorHandlerAutoresumeRetryCount, tries)
		}
	}()
	for left := h.dbOptions.MaxBGErrorResumeCount; left > 0; left-- {
		if h.ending {
			break
		}
		syncpoint.Process("RecoverFromRetryableBGIOError:BeforeResume0")
		syncpoint.Process("RecoverFromRetryableBGIOError:BeforeResume1")
		h.recoveryError = nil
		tries++
		err := h.db.ResumeLocked(ctx)
		monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerAutoresumeRetryTotalCount, 1)
		if rocksdb.CodeOf(err) == rocksdb.CodeShutdownInProgress || h.severity() >= rocksdb.SeverityFatalError {
			h.recovering = false
			h.notifyRecoveryEnd(h.GetBGError(), h.GetBGError())
			return
		}
		if e := h.recoveryError; e != nil && rocksdb.AsStatus(e).Severity <= rocksdb.SeverityHardError && rocksdb.AsStatus(e).Retryable {
			h.waitBeforeRetry()
			continue
		}
		if h.recoveryError == nil && err == nil {
			syncpoint.Process("RecoverFromRetryableBGIOError:RecoverSuccess")
			monitoring.RecordTick(h.dbOptions.Stats, rocksdb.ErrorHandlerAutoresumeSuccessCount, 1)
			return
		}
		h.recovering = false
		now := h.recoveryError
		if now == nil {
			now = err
		}
		h.notifyRecoveryEnd(h.GetBGError(), now)
		return
	}
	h.recovering = false
	if h.ending {
		h.notifyRecoveryEnd(h.GetBGError(), rocksdb.ShutdownInProgress())
		return
	}
	h.notifyRecoveryEnd(h.GetBGError(), rocksdb.Aborted("Exceeded resume retry count"))
	syncpoint.Process("RecoverFromRetryableBGIOError:LoopOut")
}

// waitBeforeRetry waits bgerror_resume_retry_interval, or until the end.
func (h *ErrorHandler) waitBeforeRetry() {
	h.mutex.Unlock()
	defer h.mutex.Lock()
	syncpoint.Process("RecoverFromRetryableBGIOError:BeforeWait0")
	syncpoint.Process("RecoverFromRetryableBGIOError:BeforeWait1")
	clock := h.dbOptions.Clock
	clock.TimedWait(h.wake, clock.NowMicros()+h.dbOptions.BGErrorResumeRetryInterval)
}

// CancelErrorRecoveryForShutDown ends recoveries and lets no other begin. The
// mutex is held, and released meanwhile.
func (h *ErrorHandler) CancelErrorRecoveryForShutDown() {
	h.autoRecovery = false
	if m := h.sstFileManager(); m != nil {
		h.mutex.Unlock()
		cancelled := m.CancelErrorRecovery(h)
		h.mutex.Lock()
		if cancelled {
			h.recovering = false
		}
	}
	h.EndAutoRecovery()
}

// EndAutoRecovery ends the recovery goroutine and waits for it.
func (h *ErrorHandler) EndAutoRecovery() {
	if !h.ending {
		h.ending = true
		close(h.wake)
	}
	if t := h.thread; t != nil {
		h.thread = nil
		h.mutex.Unlock()
		<-t
		h.mutex.Lock()
	}
	syncpoint.Process("PostEndAutoRecovery")
}

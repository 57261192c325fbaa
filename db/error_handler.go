// Port of db/error_handler.{h,cc}. Differs: one table instead of four; recovery
// by itself (auto-recovery threads) is not there yet, Resume is called by the
// user.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// ErrorHandler keeps the error that stopped background work. The DB mutex
// protects it, but for IsDBStopped and the like, which take none.
type ErrorHandler struct {
	dbOptions  *options.ImmutableDBOptions
	mutex      *sync.Mutex
	bgError    *rocksdb.Status
	recovering bool
	quarantine []uint64    // numbers of files that a failed MANIFEST write named
	stopped    atomic.Bool // severity is Hard or worse
	bgStopped  atomic.Bool
}

// NewErrorHandler makes a handler without an error.
func NewErrorHandler(o *options.ImmutableDBOptions, mu *sync.Mutex) *ErrorHandler {
	return &ErrorHandler{dbOptions: o, mutex: mu}
}

// AddFilesToQuarantine implements FileQuarantine: a MANIFEST write failed, and
// what it wrote may name these files all the same.
func (h *ErrorHandler) AddFilesToQuarantine(numbers []uint64) {
	h.quarantine = append(h.quarantine, numbers...)
	logging.Info(h.dbOptions.Logger, "ErrorHandler: added file numbers %v to quarantine.\n", numbers)
}

// ClearFilesToQuarantine implements FileQuarantine: a new MANIFEST says which
// files there are.
func (h *ErrorHandler) ClearFilesToQuarantine() {
	h.quarantine = nil
	logging.Info(h.dbOptions.Logger, "ErrorHandler: cleared files in quarantine.\n")
}

// GetFilesToQuarantine lists files that must not be deleted.
func (h *ErrorHandler) GetFilesToQuarantine() []uint64 { return h.quarantine }

// severityOf decides how far an error stops the database.
func severityOf(s *rocksdb.Status, reason rocksdb.BackgroundErrorReason, paranoid bool) rocksdb.Severity {
	noSpace := s.Code == rocksdb.CodeIOError && (s.SubCode == rocksdb.SubCodeNoSpace || s.SubCode == rocksdb.SubCodeSpaceLimit)
	switch reason {
	case rocksdb.BackgroundErrorReasonCompaction:
		switch {
		case noSpace:
			return rocksdb.SeveritySoftError
		case s.Code == rocksdb.CodeIOError && s.SubCode == rocksdb.SubCodeIOFenced:
			return rocksdb.SeverityFatalError
		case s.Code == rocksdb.CodeCorruption && paranoid:
			return rocksdb.SeverityUnrecoverableError
		case s.Code == rocksdb.CodeIOError && paranoid:
			return rocksdb.SeverityFatalError
		case !paranoid:
			return rocksdb.SeverityNoError
		}
	case rocksdb.BackgroundErrorReasonFlush, rocksdb.BackgroundErrorReasonFlushNoWAL,
		rocksdb.BackgroundErrorReasonManifestWrite, rocksdb.BackgroundErrorReasonManifestWriteNoWAL:
		switch {
		case noSpace:
			return rocksdb.SeverityHardError
		case s.Code == rocksdb.CodeCorruption && paranoid:
			return rocksdb.SeverityUnrecoverableError
		case s.Code == rocksdb.CodeIOError && paranoid:
			return rocksdb.SeverityFatalError
		case !paranoid:
			return rocksdb.SeverityNoError
		}
	case rocksdb.BackgroundErrorReasonWriteCallback:
		switch {
		case noSpace:
			return rocksdb.SeverityHardError
		case s.Code == rocksdb.CodeCorruption && paranoid:
			return rocksdb.SeverityUnrecoverableError
		case !paranoid:
			return rocksdb.SeverityNoError
		}
	case rocksdb.BackgroundErrorReasonMemTable:
		return rocksdb.SeverityFatalError
	}
	return rocksdb.SeverityFatalError
}

// SetBGError records err, tells listeners, and gives the error now in force,
// nil when err stops nothing. The DB mutex is held; it is released while
// listeners run.
func (h *ErrorHandler) SetBGError(err error, reason rocksdb.BackgroundErrorReason) error {
	if err == nil {
		return nil
	}
	s := rocksdb.AsStatus(err)
	sev := s.Severity
	if sev == rocksdb.SeverityNoError {
		sev = severityOf(s, reason, h.dbOptions.ParanoidChecks)
	}
	logging.Warn(h.dbOptions.InfoLog, "Background IO error %s, reason %d, severity %d", s.Error(), reason, sev)
	if sev == rocksdb.SeverityNoError {
		return nil
	}
	worse := s.WithSeverity(sev)
	for _, l := range h.dbOptions.Listeners {
		h.mutex.Unlock()
		var e error = worse
		l.OnBackgroundError(reason, &e)
		h.mutex.Lock()
		if e == nil {
			return nil
		}
		worse = rocksdb.AsStatus(e)
	}
	if h.bgError == nil || worse.Severity > h.bgError.Severity {
		h.bgError = worse
	}
	h.stopped.Store(h.bgError.Severity >= rocksdb.SeverityHardError)
	h.bgStopped.Store(h.bgError.Severity >= rocksdb.SeveritySoftError)
	return h.bgError
}

// GetBGError gives the error in force, nil when there is none; the DB mutex is
// held.
func (h *ErrorHandler) GetBGError() error {
	if h.bgError == nil {
		return nil
	}
	return h.bgError
}

// IsDBStopped tells whether writes are refused.
func (h *ErrorHandler) IsDBStopped() bool { return h.stopped.Load() }

// IsBGWorkStopped tells whether flushes and compactions are not run.
func (h *ErrorHandler) IsBGWorkStopped() bool { return h.bgStopped.Load() }

// IsRecoveryInProgress tells whether a Resume is running.
func (h *ErrorHandler) IsRecoveryInProgress() bool { return h.recovering }

// BeginRecovery and EndRecovery bracket a Resume.
func (h *ErrorHandler) BeginRecovery() { h.recovering = true }

// EndRecovery ends it; on success the error is forgotten.
func (h *ErrorHandler) EndRecovery(err error) {
	h.recovering = false
	if err == nil {
		h.ClearBGError()
	}
}

// ClearBGError forgets the error and tells listeners.
func (h *ErrorHandler) ClearBGError() {
	if h.bgError == nil {
		return
	}
	h.bgError = nil
	h.stopped.Store(false)
	h.bgStopped.Store(false)
}

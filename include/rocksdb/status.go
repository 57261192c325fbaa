// Port of include/rocksdb/{status,io_status}.h and util/status.cc. Differs:
// there is no OK object (nil is), a corruption may carry a file and an offset,
// and a cause may be wrapped.

package rocksdb

import (
	"errors"
	"fmt"
)

// Code is the kind of an error.
type Code uint8

// The codes. Success is a nil error; CodeOK appears in one *Status alone,
// ErrMergeOperandThresholdExceeded.
const (
	CodeOK Code = iota
	CodeNotFound
	CodeCorruption
	CodeNotSupported
	CodeInvalidArgument
	CodeIOError
	CodeMergeInProgress
	CodeIncomplete
	CodeShutdownInProgress
	CodeTimedOut
	CodeAborted
	CodeBusy
	CodeExpired
	CodeTryAgain
	CodeCompactionTooLarge
	CodeColumnFamilyDropped
	maxCode
)

// SubCode narrows a Code.
type SubCode uint8

// The subcodes.
const (
	SubCodeNone SubCode = iota
	SubCodeMutexTimeout
	SubCodeLockTimeout
	SubCodeLockLimit
	SubCodeNoSpace
	SubCodeDeadlock
	SubCodeStaleFile
	SubCodeMemoryLimit
	SubCodeSpaceLimit
	SubCodePathNotFound
	SubCodeMergeOperandsInsufficientCapacity
	SubCodeManualCompactionPaused
	SubCodeOverwritten
	SubCodeTxnNotPrepared
	SubCodeIOFenced
	SubCodeMergeOperatorFailed
	SubCodeMergeOperandThresholdExceeded
	SubCodePrefetchLimitReached
	SubCodeNotExpectedCodePath
	SubCodeCompactionAborted
	maxSubCode
)

// Severity says how far a background error stops the database.
type Severity uint8

// The severities, in rising order.
const (
	SeverityNoError Severity = iota
	SeveritySoftError
	SeverityHardError
	SeverityFatalError
	SeverityUnrecoverableError
)

// IOErrorScope is how much a failed file operation concerns.
type IOErrorScope uint8

// The scopes. A file's error is as good as a retryable one: another file takes
// its place.
const (
	IOErrorScopeFileSystem IOErrorScope = iota
	IOErrorScopeFile
	IOErrorScopeRange
)

var codeText = [maxCode]string{
	CodeOK:                  "OK",
	CodeNotFound:            "NotFound: ",
	CodeCorruption:          "Corruption: ",
	CodeNotSupported:        "Not implemented: ",
	CodeInvalidArgument:     "Invalid argument: ",
	CodeIOError:             "IO error: ",
	CodeMergeInProgress:     "Merge in progress: ",
	CodeIncomplete:          "Result incomplete: ",
	CodeShutdownInProgress:  "Shutdown in progress: ",
	CodeTimedOut:            "Operation timed out: ",
	CodeAborted:             "Operation aborted: ",
	CodeBusy:                "Resource busy: ",
	CodeExpired:             "Operation expired: ",
	CodeTryAgain:            "Operation failed. Try again.: ",
	CodeCompactionTooLarge:  "Compaction too large: ",
	CodeColumnFamilyDropped: "Column family dropped: ",
}

var subCodeText = [maxSubCode]string{
	SubCodeMutexTimeout:                      "Timeout Acquiring Mutex",
	SubCodeLockTimeout:                       "Timeout waiting to lock key",
	SubCodeLockLimit:                         "Failed to acquire lock due to max_num_locks limit",
	SubCodeNoSpace:                           "No space left on device",
	SubCodeDeadlock:                          "Deadlock",
	SubCodeStaleFile:                         "Stale file handle",
	SubCodeMemoryLimit:                       "Memory limit reached",
	SubCodeSpaceLimit:                        "Space limit reached",
	SubCodePathNotFound:                      "No such file or directory",
	SubCodeMergeOperandsInsufficientCapacity: "Insufficient capacity for merge operands",
	SubCodeManualCompactionPaused:            "Manual compaction paused",
	SubCodeOverwritten:                       " (overwritten)",
	SubCodeTxnNotPrepared:                    "Txn not prepared",
	SubCodeIOFenced:                          "IO fenced off",
	SubCodeMergeOperatorFailed:               "Merge operator failed",
	SubCodeMergeOperandThresholdExceeded:     "Number of operands merged exceeded threshold",
	SubCodePrefetchLimitReached:              "MultiScan reached file prefetch limit",
	SubCodeNotExpectedCodePath:               "Not expected code path",
	SubCodeCompactionAborted:                 "All compactions aborted",
}

// Status is the engine's only error type. A Status is immutable once it has
// been returned.
type Status struct {
	Code      Code
	SubCode   SubCode
	Severity  Severity
	Retryable bool
	DataLoss  bool
	Scope     IOErrorScope
	Message   string // without the code's text
	File      string // the damaged or failing file, "" when there is none
	Offset    uint64 // byte offset in File; only with HasOffset
	HasOffset bool
	Cause     error // what was wrapped, nil when nothing was
}

// Error gives upstream's Status::ToString text, followed by file and offset
// where they are known and the message does not name the file itself.
func (s *Status) Error() string {
	if s == nil {
		return "OK"
	}
	text := "Unknown code: "
	if s.Code < maxCode {
		text = codeText[s.Code]
	}
	if s.SubCode != SubCodeNone && s.SubCode < maxSubCode {
		text += subCodeText[s.SubCode]
		if s.Message != "" {
			text += ": "
		}
	}
	text += s.Message
	if s.File != "" {
		text += " in file " + s.File
		if s.HasOffset {
			text += fmt.Sprintf(" offset %d", s.Offset)
		}
	}
	return text
}

// Unwrap gives the cause, so that errors.Is finds the system's error.
func (s *Status) Unwrap() error { return s.Cause }

// Is matches by code, and by subcode where the target has one: every
// corruption is ErrCorruption.
func (s *Status) Is(target error) bool {
	t, ok := target.(*Status)
	return ok && t.Code == s.Code && (t.SubCode == SubCodeNone || t.SubCode == s.SubCode)
}

// The errors to match with errors.Is. ErrNotFound is also what Get returns.
var (
	ErrNotFound            = &Status{Code: CodeNotFound}
	ErrCorruption          = &Status{Code: CodeCorruption}
	ErrNotSupported        = &Status{Code: CodeNotSupported}
	ErrInvalidArgument     = &Status{Code: CodeInvalidArgument}
	ErrIOError             = &Status{Code: CodeIOError}
	ErrMergeInProgress     = &Status{Code: CodeMergeInProgress}
	ErrIncomplete          = &Status{Code: CodeIncomplete}
	ErrShutdownInProgress  = &Status{Code: CodeShutdownInProgress}
	ErrTimedOut            = &Status{Code: CodeTimedOut}
	ErrAborted             = &Status{Code: CodeAborted}
	ErrBusy                = &Status{Code: CodeBusy}
	ErrExpired             = &Status{Code: CodeExpired}
	ErrTryAgain            = &Status{Code: CodeTryAgain}
	ErrCompactionTooLarge  = &Status{Code: CodeCompactionTooLarge}
	ErrColumnFamilyDropped = &Status{Code: CodeColumnFamilyDropped}
	ErrNoSpace             = &Status{Code: CodeIOError, SubCode: SubCodeNoSpace}
	ErrPathNotFound        = &Status{Code: CodeIOError, SubCode: SubCodePathNotFound}

	// ErrMergeOperandThresholdExceeded is a mark, not a failure: the value that
	// comes with it is good. Only reads with
	// ReadOptions.MergeOperandCountThreshold give it.
	// Upstream: Status::OkMergeOperandThresholdExceeded.
	ErrMergeOperandThresholdExceeded = &Status{Code: CodeOK, SubCode: SubCodeMergeOperandThresholdExceeded}
)

func newStatus(code Code, sub SubCode, msg []string) *Status {
	s := &Status{Code: code, SubCode: sub}
	for i, m := range msg {
		if i > 0 && m != "" {
			s.Message += ": "
		}
		s.Message += m
	}
	return s
}

// NotFound makes an error of that code; messages are joined by ": ", as in
// all the constructors here.
func NotFound(msg ...string) *Status { return newStatus(CodeNotFound, SubCodeNone, msg) }

// Corruption says that stored data contradicts itself. Name the file with In
// or InAt.
func Corruption(msg ...string) *Status { return newStatus(CodeCorruption, SubCodeNone, msg) }

// Corruptionf is Corruption with a format.
func Corruptionf(format string, args ...any) *Status {
	return newStatus(CodeCorruption, SubCodeNone, []string{fmt.Sprintf(format, args...)})
}

// NotSupported names what is not supported.
func NotSupported(msg ...string) *Status { return newStatus(CodeNotSupported, SubCodeNone, msg) }

// InvalidArgument names the argument or option and what is wrong with it.
func InvalidArgument(msg ...string) *Status {
	return newStatus(CodeInvalidArgument, SubCodeNone, msg)
}

// InvalidArgumentf is InvalidArgument with a format.
func InvalidArgumentf(format string, args ...any) *Status {
	return newStatus(CodeInvalidArgument, SubCodeNone, []string{fmt.Sprintf(format, args...)})
}

// IOError is a failure of the file system; see also WrapIO.
func IOError(msg ...string) *Status { return newStatus(CodeIOError, SubCodeNone, msg) }

// NoSpace is IOError with SubCodeNoSpace.
func NoSpace(msg ...string) *Status { return newStatus(CodeIOError, SubCodeNoSpace, msg) }

// PathNotFound is IOError with SubCodePathNotFound.
func PathNotFound(msg ...string) *Status { return newStatus(CodeIOError, SubCodePathNotFound, msg) }

// MergeInProgress says that a merge could not be finished.
func MergeInProgress(msg ...string) *Status { return newStatus(CodeMergeInProgress, SubCodeNone, msg) }

// Incomplete says that a limit set by the caller was met.
func Incomplete(msg ...string) *Status { return newStatus(CodeIncomplete, SubCodeNone, msg) }

// ShutdownInProgress says that the database is closing.
func ShutdownInProgress(msg ...string) *Status {
	return newStatus(CodeShutdownInProgress, SubCodeNone, msg)
}

// ManualCompactionPaused says that a manual compaction was stopped.
func ManualCompactionPaused() *Status {
	return WithSubCode(CodeIncomplete, SubCodeManualCompactionPaused)
}

// AllCompactionsAborted says that a compaction was stopped with all others.
func AllCompactionsAborted() *Status {
	return WithSubCode(CodeIncomplete, SubCodeCompactionAborted)
}

// TimedOut says that a deadline passed.
func TimedOut(msg ...string) *Status { return newStatus(CodeTimedOut, SubCodeNone, msg) }

// Aborted says that the operation was given up.
func Aborted(msg ...string) *Status { return newStatus(CodeAborted, SubCodeNone, msg) }

// Busy says that a resource is taken.
func Busy(msg ...string) *Status { return newStatus(CodeBusy, SubCodeNone, msg) }

// Expired says that a transaction's time has run out.
func Expired(msg ...string) *Status { return newStatus(CodeExpired, SubCodeNone, msg) }

// TryAgain says that the same call may succeed later.
func TryAgain(msg ...string) *Status { return newStatus(CodeTryAgain, SubCodeNone, msg) }

// CompactionTooLarge says that a compaction exceeds its limits.
func CompactionTooLarge(msg ...string) *Status {
	return newStatus(CodeCompactionTooLarge, SubCodeNone, msg)
}

// ColumnFamilyDropped says that the column family is gone.
func ColumnFamilyDropped(msg ...string) *Status {
	return newStatus(CodeColumnFamilyDropped, SubCodeNone, msg)
}

// WithSubCode makes an error of any code and subcode.
func WithSubCode(code Code, sub SubCode, msg ...string) *Status { return newStatus(code, sub, msg) }

// In names the file; it returns a copy.
func (s *Status) In(file string) *Status {
	c := *s
	c.File = file
	return &c
}

// InAt names the file and the byte offset; it returns a copy.
func (s *Status) InAt(file string, offset uint64) *Status {
	c := *s
	c.File, c.Offset, c.HasOffset = file, offset, true
	return &c
}

// Wrap keeps cause for errors.Is and errors.As; it returns a copy.
func (s *Status) Wrap(cause error) *Status {
	c := *s
	c.Cause = cause
	return &c
}

// WithSeverity sets the severity; it returns a copy.
func (s *Status) WithSeverity(sev Severity) *Status {
	c := *s
	c.Severity = sev
	return &c
}

// AppendMessage adds delim and msg to the message of err, keeping its code; an
// err that is not a *Status becomes an IOError that wraps it.
func AppendMessage(err error, delim, msg string) *Status {
	c := *AsStatus(err)
	c.Message += delim + msg
	return &c
}

// AsStatus gives err as a *Status: itself, the one it wraps, or an IOError
// around it; nil stays nil.
func AsStatus(err error) *Status {
	if err == nil {
		return nil
	}
	var s *Status
	if errors.As(err, &s) {
		return s
	}
	return IOError(err.Error()).Wrap(err)
}

// CodeOf gives err's code; CodeOK for nil.
func CodeOf(err error) Code {
	if err == nil {
		return CodeOK
	}
	return AsStatus(err).Code
}

// IsNotFound, IsCorruption and the like are errors.Is without the
// allocation-prone generality; for hot paths.
func IsNotFound(err error) bool { return err != nil && CodeOf(err) == CodeNotFound }

// IsCorruption tells whether err is a corruption.
func IsCorruption(err error) bool { return err != nil && CodeOf(err) == CodeCorruption }

// IsIncomplete tells whether err is an Incomplete.
func IsIncomplete(err error) bool { return err != nil && CodeOf(err) == CodeIncomplete }

// IsIOError tells whether err is an IOError.
func IsIOError(err error) bool { return err != nil && CodeOf(err) == CodeIOError }

// IsNotSupported tells whether err is a NotSupported.
func IsNotSupported(err error) bool { return err != nil && CodeOf(err) == CodeNotSupported }

// IsPathNotFound tells whether err says that a file or directory is missing.
func IsPathNotFound(err error) bool {
	var s *Status
	return errors.As(err, &s) && s.SubCode == SubCodePathNotFound && (s.Code == CodeIOError || s.Code == CodeNotFound)
}

// IsNoSpace tells whether err says that the device is full.
func IsNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) }

// Port of logging/auto_roll_logger.{h,cc}. Differs: a reader-writer lock keeps
// a file from being closed under a writer, where upstream counts references.

package logging

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	maxHeaderLength            = 1023
	callNowMicrosEveryNRecords = 100
)

// AutoRollLogger writes the info log and begins a new file when one is too
// large or too old; the old file gets a time in its name. Header lines are
// repeated in each new file. It is safe for concurrent use.
type AutoRollLogger struct {
	rocksdb.LoggerBase
	fs             rocksdb.FileSystem
	clock          rocksdb.SystemClock
	dbname         string
	dbLogDir       string
	dbAbsolutePath string
	logName        string

	maxLogFileSize    int
	logFileTimeToRoll uint64 // seconds
	keepLogFileNum    int

	// The time in seconds is asked for once in some records.
	nowEvery       atomic.Uint64
	cachedNow      atomic.Uint64
	cachedNowCount atomic.Uint64
	ctime          atomic.Uint64 // when the file was begun

	// mu is held for reading while a line is written, for writing while the
	// file is changed.
	mu struct {
		sync.RWMutex
		logger      rocksdb.Logger // nil when the file could not be made
		status      error
		headers     []string
		oldLogFiles []string // oldest first
		closed      bool
	}
}

// NewAutoRollLogger puts an existing log aside and begins a new one. maxSize
// is in bytes, timeToRoll in seconds; 0 turns that reason off. Of the files,
// keep are kept.
func NewAutoRollLogger(fs rocksdb.FileSystem, clock rocksdb.SystemClock, dbname, dbLogDir string,
	maxSize int, timeToRoll uint64, keep int, level rocksdb.InfoLogLevel) (*AutoRollLogger, error) {
	l := &AutoRollLogger{
		fs: fs, clock: clock, dbname: dbname, dbLogDir: dbLogDir, dbAbsolutePath: dbname,
		maxLogFileSize: maxSize, logFileTimeToRoll: timeToRoll, keepLogFileNum: keep,
	}
	l.nowEvery.Store(callNowMicrosEveryNRecords)
	l.LoggerBase.SetInfoLogLevel(level)
	abs, err := fs.GetAbsolutePath(dbname, nil)
	switch {
	case err == nil:
		l.dbAbsolutePath = abs
	case !rocksdb.IsNotSupported(err):
		return nil, err
	}
	l.logName = filename.InfoLogFileName(dbname, l.dbAbsolutePath, dbLogDir)
	l.mu.Lock()
	defer l.mu.Unlock()
	if fs.FileExists(l.logName, nil) == nil {
		l.rollLogFileLocked()
	}
	if err := l.getExistingFilesLocked(); err != nil {
		return nil, err
	}
	if err := l.resetLoggerLocked(); err != nil {
		return nil, err
	}
	if err := l.trimOldLogFilesLocked(); err != nil {
		_ = l.mu.logger.Close()
		return nil, err
	}
	return l, nil
}

func (l *AutoRollLogger) nowSeconds() uint64 { return l.clock.NowMicros() / 1e6 }

func (l *AutoRollLogger) resetLoggerLocked() error {
	syncpoint.Process("AutoRollLogger::ResetLogger:BeforeNewLogger")
	logger, err := l.fs.NewLogger(l.logName, nil)
	syncpoint.Process("AutoRollLogger::ResetLogger:AfterNewLogger")
	l.mu.logger, l.mu.status = logger, err
	if err != nil {
		l.mu.logger = nil
		return err
	}
	logger.SetInfoLogLevel(l.LoggerBase.GetInfoLogLevel())
	if logger.GetLogFileSize() == rocksdb.DoNotSupportGetLogFileSize {
		l.mu.status = rocksdb.NotSupported("The underlying logger doesn't support GetLogFileSize()")
		return l.mu.status
	}
	now := l.nowSeconds()
	l.cachedNow.Store(now)
	l.ctime.Store(now)
	l.cachedNowCount.Store(0)
	return nil
}

// rollLogFileLocked closes the file and gives it its old name. Failures are
// let go: the next file will then replace it.
func (l *AutoRollLogger) rollLogFileLocked() {
	now := l.clock.NowMicros()
	var oldName string
	for {
		oldName = filename.OldInfoLogFileName(l.dbname, now, l.dbAbsolutePath, l.dbLogDir)
		if l.fs.FileExists(oldName, nil) != nil {
			break
		}
		now++ // two rolls within a microsecond
	}
	if l.mu.logger != nil {
		_ = l.mu.logger.Close()
	}
	_ = l.fs.RenameFile(l.logName, oldName, nil)
	l.mu.oldLogFiles = append(l.mu.oldLogFiles, oldName)
}

func (l *AutoRollLogger) getExistingFilesLocked() error {
	dir, names, err := filename.GetInfoLogFiles(l.fs, l.dbLogDir, l.dbname)
	if err != nil {
		return err
	}
	slices.Sort(names) // by time
	l.mu.oldLogFiles = l.mu.oldLogFiles[:0]
	for _, name := range names {
		l.mu.oldLogFiles = append(l.mu.oldLogFiles, dir+"/"+name)
	}
	return nil
}

func (l *AutoRollLogger) trimOldLogFilesLocked() error {
	for len(l.mu.oldLogFiles) > 0 && len(l.mu.oldLogFiles) >= l.keepLogFileNum {
		oldest := l.mu.oldLogFiles[0]
		// It is forgotten whether or not it could be deleted.
		l.mu.oldLogFiles = l.mu.oldLogFiles[1:]
		if err := l.fs.DeleteFile(oldest, nil); err != nil {
			return err
		}
	}
	return nil
}

func (l *AutoRollLogger) logExpired() bool {
	if l.logFileTimeToRoll == 0 {
		return false
	}
	if l.cachedNowCount.Add(1) > l.nowEvery.Load() {
		l.cachedNow.Store(l.nowSeconds())
		l.cachedNowCount.Store(1)
	}
	return l.cachedNow.Load() >= l.ctime.Load()+l.logFileTimeToRoll
}

func (l *AutoRollLogger) logFull() bool {
	return l.maxLogFileSize > 0 && l.mu.logger.GetLogFileSize() >= l.maxLogFileSize
}

// Logv writes a line, after beginning a new file if need be.
func (l *AutoRollLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if !l.Admits(level) {
		return
	}
	l.mu.RLock()
	if l.mu.logger != nil && (l.logExpired() || l.logFull()) {
		l.mu.RUnlock()
		l.roll()
		l.mu.RLock()
	}
	if l.mu.logger != nil {
		l.mu.logger.Logv(level, format, args...)
	}
	l.mu.RUnlock()
}

// roll begins a new file unless another goroutine has just done so.
func (l *AutoRollLogger) roll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	expired := l.logFileTimeToRoll > 0 && l.cachedNow.Load() >= l.ctime.Load()+l.logFileTimeToRoll
	if l.mu.closed || l.mu.logger == nil || !expired && !l.logFull() {
		return
	}
	l.rollLogFileLocked()
	if l.resetLoggerLocked() != nil {
		return // there is no log to say it in
	}
	err := l.trimOldLogFilesLocked()
	for _, h := range l.mu.headers {
		l.mu.logger.LogHeader("%s", h)
	}
	if err != nil {
		Warn(l.mu.logger, "Fail to trim old info log file: %s", err)
	}
}

// LogHeader writes a line and keeps it for the files to come, cut to 1023
// bytes.
func (l *AutoRollLogger) LogHeader(format string, args ...any) {
	data := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.logger == nil {
		return
	}
	l.mu.headers = append(l.mu.headers, data[:min(len(data), maxHeaderLength)])
	l.mu.logger.LogHeader("%s", data)
}

// Flush flushes the current file.
func (l *AutoRollLogger) Flush() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	syncpoint.Process("AutoRollLogger::Flush:PinnedLogger")
	if l.mu.logger != nil {
		l.mu.logger.Flush()
	}
}

// GetLogFileSize is that of the current file.
func (l *AutoRollLogger) GetLogFileSize() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.mu.logger == nil {
		return 0
	}
	return l.mu.logger.GetLogFileSize()
}

// GetInfoLogLevel is the current file's.
func (l *AutoRollLogger) GetInfoLogLevel() rocksdb.InfoLogLevel {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.mu.logger == nil {
		return l.LoggerBase.GetInfoLogLevel()
	}
	return l.mu.logger.GetInfoLogLevel()
}

// SetInfoLogLevel changes it for this file and those to come.
func (l *AutoRollLogger) SetInfoLogLevel(level rocksdb.InfoLogLevel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.LoggerBase.SetInfoLogLevel(level)
	if l.mu.logger != nil {
		l.mu.logger.SetInfoLogLevel(level)
	}
}

// GetStatus is the error that the last file could not be begun with.
func (l *AutoRollLogger) GetStatus() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mu.status
}

// SetCallNowMicrosEveryNRecords says how many lines may pass until the clock
// is asked again.
func (l *AutoRollLogger) SetCallNowMicrosEveryNRecords(n uint64) { l.nowEvery.Store(n) }

// Close closes the current file.
func (l *AutoRollLogger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed || l.mu.logger == nil {
		return nil
	}
	l.mu.closed = true
	return l.mu.logger.Close()
}

// CreateLoggerFromOptions gives the database's info log: the one of the
// options, or a new file, with an existing one put aside. opts.Env is not nil.
func CreateLoggerFromOptions(dbname string, opts *rocksdb.DBOptions) (rocksdb.Logger, error) {
	if opts.InfoLog != nil {
		return opts.InfoLog, nil
	}
	if opts.Env == nil {
		return nil, rocksdb.InvalidArgument("DBOptions.Env", "not set")
	}
	fs, clock := opts.Env.GetFileSystem(), opts.Env.GetSystemClock()
	abs, err := fs.GetAbsolutePath(dbname, nil)
	syncpoint.ProcessArg("rocksdb::CreateLoggerFromOptions:AfterGetPath", &err)
	if err != nil {
		return nil, err
	}
	// With a log directory of its own the log does not need the database's.
	if err := fs.CreateDirIfMissing(dbname, nil); err != nil && opts.DBLogDir == "" {
		return nil, err
	}
	if opts.DBLogDir != "" {
		if err := fs.CreateDirIfMissing(opts.DBLogDir, nil); err != nil {
			return nil, err
		}
	}
	if opts.LogFileTimeToRoll > 0 || opts.MaxLogFileSize > 0 {
		l, err := NewAutoRollLogger(fs, clock, dbname, opts.DBLogDir, int(opts.MaxLogFileSize),
			uint64(opts.LogFileTimeToRoll), int(opts.KeepLogFileNum), opts.InfoLogLevel)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	name := filename.InfoLogFileName(dbname, abs, opts.DBLogDir)
	oldName := filename.OldInfoLogFileName(dbname, clock.NowMicros(), abs, opts.DBLogDir)
	if err := putLogAside(fs, name, oldName); err != nil {
		return nil, err
	}
	logger, err := fs.NewLogger(name, nil)
	if err != nil {
		return nil, err
	}
	logger.SetInfoLogLevel(opts.InfoLogLevel)
	return logger, nil
}

// putLogAside renames a log if there is one. It may vanish in between, which
// is not an error.
func putLogAside(fs rocksdb.FileSystem, name, oldName string) error {
	err := fs.FileExists(name, nil)
	if err == nil {
		err = fs.RenameFile(name, oldName, nil)
		if rocksdb.IsPathNotFound(err) {
			err = fs.FileExists(name, nil)
		}
	}
	if rocksdb.IsNotFound(err) {
		return nil
	}
	return err
}

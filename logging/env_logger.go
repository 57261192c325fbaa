// Port of logging/env_logger.h. Differs: it keeps its own small buffer, since
// package file is built on this one.

package logging

import (
	"fmt"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	flushEvery     = 5 * time.Second
	envLoggerFlush = 64 << 10 // buffered bytes that are written at once
	maxLineLength  = 64 << 10
)

// EnvLogger writes the info log to a file. It is safe for concurrent use.
type EnvLogger struct {
	rocksdb.LoggerBase
	clock    rocksdb.SystemClock
	threadID func() uint64

	mu struct {
		sync.Mutex
		file      rocksdb.FSWritableFile
		buf       []byte
		written   int // bytes handed to file
		lastFlush uint64
		closed    bool
	}
}

// NewEnvLogger makes an info log in a new file. threadID numbers the calling
// thread in each line; clock says when to flush. The level is ErrorLevel until
// it is set.
func NewEnvLogger(fs rocksdb.FileSystem, name string, clock rocksdb.SystemClock, threadID func() uint64) (*EnvLogger, error) {
	opts := rocksdb.DefaultFileOptions()
	file, err := fs.NewWritableFile(name, &opts)
	if err != nil {
		return nil, err
	}
	l := &EnvLogger{clock: clock, threadID: threadID}
	l.mu.file = file
	l.SetInfoLogLevel(rocksdb.ErrorLevel)
	return l, nil
}

// appendTime appends t in local time, as lines begin.
func appendTime(dst []byte, t time.Time) []byte {
	return t.AppendFormat(dst, "2006/01/02-15:04:05.000000")
}

// Logv writes a line, with the level's name for levels other than Info.
func (l *EnvLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if !l.Admits(level) {
		return
	}
	l.write(LevelFormat(level, format), args, level >= rocksdb.WarnLevel && level != rocksdb.HeaderLevel)
}

// LogHeader writes a line at any level.
func (l *EnvLogger) LogHeader(format string, args ...any) { l.write(format, args, false) }

func (l *EnvLogger) write(format string, args []any, flush bool) {
	now := time.Now()
	tid := l.threadID()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return
	}
	start := len(l.mu.buf)
	buf := appendTime(l.mu.buf, now)
	buf = fmt.Appendf(buf, " %d ", tid)
	buf = fmt.Appendf(buf, format, args...)
	if len(buf)-start > maxLineLength {
		buf = buf[:start+maxLineLength-1]
	}
	if buf[len(buf)-1] != '\n' {
		buf = append(buf, '\n')
	}
	l.mu.buf = buf
	micros := l.clock.NowMicros()
	switch {
	case flush || micros-l.mu.lastFlush >= uint64(flushEvery/time.Microsecond):
		l.flushLocked()
	case len(l.mu.buf) >= envLoggerFlush:
		l.appendLocked()
	}
}

// appendLocked hands the buffer to the file. A failure loses the lines: there
// is nowhere to report it.
func (l *EnvLogger) appendLocked() {
	if len(l.mu.buf) > 0 && l.mu.file.Append(l.mu.buf, nil) == nil {
		l.mu.written += len(l.mu.buf)
	}
	l.mu.buf = l.mu.buf[:0]
}

func (l *EnvLogger) flushLocked() {
	if len(l.mu.buf) > 0 {
		l.appendLocked()
		_ = l.mu.file.Flush(nil)
	}
	l.mu.lastFlush = l.clock.NowMicros()
}

// Flush hands buffered lines to the system.
func (l *EnvLogger) Flush() {
	syncpoint.Process("EnvLogger::Flush:Begin1")
	syncpoint.Process("EnvLogger::Flush:Begin2")
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.mu.closed {
		l.flushLocked()
	}
}

// GetLogFileSize counts buffered bytes as well.
func (l *EnvLogger) GetLogFileSize() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.written + len(l.mu.buf)
}

// Close writes what is buffered and closes the file; lines that come later are
// dropped.
func (l *EnvLogger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return nil
	}
	var err error
	if len(l.mu.buf) > 0 {
		err = l.mu.file.Append(l.mu.buf, nil)
		l.mu.written += len(l.mu.buf)
		l.mu.buf = nil
	}
	l.mu.closed = true
	if cerr := l.mu.file.Close(nil); err == nil {
		err = cerr
	}
	if err != nil {
		return rocksdb.IOError("Close of log file failed with error:" + rocksdb.AsStatus(err).Message).Wrap(err)
	}
	return nil
}

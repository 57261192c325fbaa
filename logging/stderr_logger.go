// Port of util/stderr_logger.{h,cc}. Differs: the stream is given.

package logging

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// StreamLogger writes the info log to a stream, as tools do to the error
// stream. Safe for concurrent use.
type StreamLogger struct {
	rocksdb.LoggerBase
	threadID func() uint64
	mu       struct {
		sync.Mutex
		w io.Writer
	}
}

// NewStreamLogger makes a logger of lines from level on. threadID numbers the
// calling thread.
func NewStreamLogger(w io.Writer, level rocksdb.InfoLogLevel, threadID func() uint64) *StreamLogger {
	l := &StreamLogger{threadID: threadID}
	l.mu.w = w
	l.SetInfoLogLevel(level)
	return l
}

// Logv writes a line, with the level's name for levels other than Info.
func (l *StreamLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if !l.Admits(level) {
		return
	}
	buf := appendTime(nil, time.Now())
	buf = fmt.Appendf(buf, " %x ", l.threadID())
	buf = fmt.Appendf(buf, LevelFormat(level, format), args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.mu.w.Write(append(buf, '\n')) // nobody is left to tell
}

// LogHeader writes a line of level Info: there is no file to head.
func (l *StreamLogger) LogHeader(format string, args ...any) {
	l.Logv(rocksdb.InfoLevel, format, args...)
}

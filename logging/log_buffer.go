// Port of logging/log_buffer.{h,cc}. Differs: a line keeps its bytes itself,
// no arena.

package logging

import (
	"fmt"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DefaultMaxLogSize bounds a buffered line with its bookkeeping, in bytes.
const DefaultMaxLogSize = 512

// bufferedLogOverhead is the part of a line's size that is not text.
const bufferedLogOverhead = 18

type bufferedLog struct {
	at      time.Time
	message string
}

// LogBuffer collects lines, to be logged when a lock is no longer held. It is
// not safe for concurrent use.
type LogBuffer struct {
	level   rocksdb.InfoLogLevel
	infoLog rocksdb.Logger
	logs    []bufferedLog
}

// NewLogBuffer logs at one level; infoLog may be nil.
func NewLogBuffer(level rocksdb.InfoLogLevel, infoLog rocksdb.Logger) *LogBuffer {
	return &LogBuffer{level: level, infoLog: infoLog}
}

// AddLogToBuffer keeps a line, cut to maxLogSize less some bookkeeping.
func (b *LogBuffer) AddLogToBuffer(maxLogSize int, format string, args ...any) {
	if b.infoLog == nil || b.level < b.infoLog.GetInfoLogLevel() {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if limit := max(maxLogSize-bufferedLogOverhead, 0); len(msg) > limit {
		msg = msg[:limit]
	}
	b.logs = append(b.logs, bufferedLog{time.Now(), msg})
}

// IsEmpty tells whether no line waits.
func (b *LogBuffer) IsEmpty() bool { return len(b.logs) == 0 }

// FlushBufferToLog logs the lines with the times they were added.
func (b *LogBuffer) FlushBufferToLog() {
	for _, log := range b.logs {
		Log(b.infoLog, b.level, "(Original Log Time %s) %s", appendTime(nil, log.at), log.message)
	}
	b.logs = b.logs[:0]
}

// ToBuffer adds a line with the place it is called from. b may be nil.
func ToBuffer(b *LogBuffer, format string, args ...any) {
	if b != nil {
		b.AddLogToBuffer(DefaultMaxLogSize, place(1)+format, args...)
	}
}

// ToBufferMaxSize is ToBuffer with a bound of its own.
func ToBufferMaxSize(b *LogBuffer, maxLogSize int, format string, args ...any) {
	if b != nil {
		b.AddLogToBuffer(maxLogSize, place(1)+format, args...)
	}
}

// Port of include/rocksdb/env.h (Logger, InfoLogLevel). Differs: an interface;
// the level filter is each logger's own, LoggerBase gives it.

package rocksdb

import (
	"math"
	"sync/atomic"
)

// InfoLogLevel is the weight of a line of the info log.
type InfoLogLevel uint8

// The levels, in rising order. A header line is written at any level and
// again at the head of each file that the log rolls to.
const (
	DebugLevel InfoLogLevel = iota
	InfoLevel
	WarnLevel
	ErrorLevel
	FatalLevel
	HeaderLevel
	NumInfoLogLevels
)

// DoNotSupportGetLogFileSize is what GetLogFileSize gives when the logger has
// no file.
const DoNotSupportGetLogFileSize = math.MaxInt

// Logger receives the info log. A nil Logger is a legal option: log through
// package logging's helpers, which accept it.
type Logger interface {
	// Logv formats a line as fmt.Sprintf does and writes it, unless level is
	// below the logger's own. No newline is needed at the end.
	Logv(level InfoLogLevel, format string, args ...any)
	// LogHeader writes a line that belongs at the head of each log file.
	LogHeader(format string, args ...any)
	// Flush hands buffered lines to the system; it does not sync.
	Flush()
	// GetLogFileSize is the current file's size in bytes, or
	// DoNotSupportGetLogFileSize.
	GetLogFileSize() int
	GetInfoLogLevel() InfoLogLevel
	SetInfoLogLevel(level InfoLogLevel)
	// Close flushes and closes the log; a second Close does nothing.
	Close() error
}

// LoggerBase keeps a logger's level and gives defaults of the optional
// methods. Embed it and write Logv (which checks Admits) and LogHeader.
type LoggerBase struct{ level atomic.Uint32 }

// Admits tells whether a line of that level is to be written.
func (l *LoggerBase) Admits(level InfoLogLevel) bool { return uint32(level) >= l.level.Load() }

// Flush does nothing.
func (l *LoggerBase) Flush() {}

// GetLogFileSize is DoNotSupportGetLogFileSize.
func (l *LoggerBase) GetLogFileSize() int { return DoNotSupportGetLogFileSize }

// GetInfoLogLevel is DebugLevel until it is set.
func (l *LoggerBase) GetInfoLogLevel() InfoLogLevel { return InfoLogLevel(l.level.Load()) }

// SetInfoLogLevel sets the least level that is written.
func (l *LoggerBase) SetInfoLogLevel(level InfoLogLevel) { l.level.Store(uint32(level)) }

// Close does nothing.
func (l *LoggerBase) Close() error { return nil }

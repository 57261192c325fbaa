// Port of logging/logging.h and the logging functions of env/env.cc. Differs:
// functions instead of macros; the caller's place comes from the runtime, and
// only for a line that is written.

package logging

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

var levelNames = [rocksdb.NumInfoLogLevels]string{"DEBUG", "INFO", "WARN", "ERROR", "FATAL", ""}

// LevelFormat puts "[WARN] " and the like before a format; Info and Header
// lines have nothing there. For implementations of Logger.
func LevelFormat(level rocksdb.InfoLogLevel, format string) string {
	if level == rocksdb.InfoLevel || level >= rocksdb.HeaderLevel {
		return format
	}
	return "[" + levelNames[level] + "] " + format
}

// sourceRoot is what the paths of this module's files begin with.
var sourceRoot = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "logging/logging.go")
}()

// place names the file and line that is skip calls above its caller, as a
// prefix of a format.
func place(skip int) string {
	_, file, line, ok := runtime.Caller(skip + 1)
	if !ok {
		return ""
	}
	file = strings.ReplaceAll(strings.TrimPrefix(file, sourceRoot), "%", "%%")
	return "[" + file + ":" + strconv.Itoa(line) + "] "
}

func logAt(l rocksdb.Logger, level rocksdb.InfoLogLevel, format string, args []any) {
	if l != nil && l.GetInfoLogLevel() <= level {
		l.Logv(level, place(2)+format, args...)
	}
}

// Debug logs a line at DebugLevel, with the place it is called from. l may be
// nil.
func Debug(l rocksdb.Logger, format string, args ...any) {
	logAt(l, rocksdb.DebugLevel, format, args)
}

// Info logs a line at InfoLevel, as Debug.
func Info(l rocksdb.Logger, format string, args ...any) { logAt(l, rocksdb.InfoLevel, format, args) }

// Warn logs a line at WarnLevel, as Debug.
func Warn(l rocksdb.Logger, format string, args ...any) { logAt(l, rocksdb.WarnLevel, format, args) }

// Error logs a line at ErrorLevel, as Debug.
func Error(l rocksdb.Logger, format string, args ...any) {
	logAt(l, rocksdb.ErrorLevel, format, args)
}

// Fatal logs a line at FatalLevel, as Debug. It does not end the program.
func Fatal(l rocksdb.Logger, format string, args ...any) {
	logAt(l, rocksdb.FatalLevel, format, args)
}

// Header logs a header line, without a place. l may be nil.
func Header(l rocksdb.Logger, format string, args ...any) {
	Log(l, rocksdb.HeaderLevel, format, args...)
}

// Log logs a line without a place. l may be nil.
func Log(l rocksdb.Logger, level rocksdb.InfoLogLevel, format string, args ...any) {
	switch {
	case l == nil || l.GetInfoLogLevel() > level:
	case level == rocksdb.HeaderLevel:
		l.LogHeader(format, args...)
	default:
		l.Logv(level, format, args...)
	}
}

// Flush flushes a log that may be nil.
func Flush(l rocksdb.Logger) {
	if l != nil {
		l.Flush()
	}
}

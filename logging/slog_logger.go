// No upstream twin: a log/slog.Logger as the info log.

package logging

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// slogLogger hands lines to a slog.Logger, whose handler filters by level too.
type slogLogger struct {
	rocksdb.LoggerBase
	l *slog.Logger
}

// NewSlogLogger gives what DBOptions.InfoLog takes: lines go to l as messages,
// Fatal as Error, Header as Info with the attribute header. The level begins at
// InfoLevel; what is below it is not formatted. Closing it does nothing to l.
func NewSlogLogger(l *slog.Logger) rocksdb.Logger {
	s := &slogLogger{l: l}
	s.SetInfoLogLevel(rocksdb.InfoLevel)
	return s
}

func slogLevel(level rocksdb.InfoLogLevel) slog.Level {
	switch level {
	case rocksdb.DebugLevel:
		return slog.LevelDebug
	case rocksdb.WarnLevel:
		return slog.LevelWarn
	case rocksdb.ErrorLevel, rocksdb.FatalLevel:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Logv implements rocksdb.Logger.
func (s *slogLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if !s.Admits(level) {
		return
	}
	s.write(slogLevel(level), format, args)
}

// LogHeader implements rocksdb.Logger.
func (s *slogLogger) LogHeader(format string, args ...any) {
	s.write(slog.LevelInfo, format, args, slog.Bool("header", true))
}

func (s *slogLogger) write(level slog.Level, format string, args []any, attrs ...slog.Attr) {
	ctx := context.Background()
	if s.l.Enabled(ctx, level) {
		s.l.LogAttrs(ctx, level, strings.TrimRight(fmt.Sprintf(format, args...), "\n"), attrs...)
	}
}

// Port of KeepFilter and ExpiredTimeFilter of tools/db_bench_tool.cc,
// and of util/stderr_logger.{h,cc}.

package main

import (
	"encoding/binary"
	"fmt"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// keepFilter keeps everything: the cost of having a filter.
type keepFilter struct{}

// Name is upstream's.
func (keepFilter) Name() string { return "KeepFilter" }

// FilterV3 keeps.
func (keepFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	return rocksdb.FilterKeep, nil, nil
}

// IgnoreSnapshots is true, as it must be.
func (keepFilter) IgnoreSnapshots() bool { return true }

// expiredTimeFilter removes what is older than --time_range.
type expiredTimeFilter struct {
	clock     *timestampEmulator
	timeRange uint64
}

// Name is upstream's.
func (expiredTimeFilter) Name() string { return "ExpiredTimeFilter" }

// FilterV3 decides by the time in the key.
func (f expiredTimeFilter) FilterV3(_ int, key []byte, vt rocksdb.CompactionFilterValueType, _ []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if vt == rocksdb.CompactionFilterValue && keyExpired(f.clock, key, f.timeRange) {
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterKeep, nil, nil
}

// IgnoreSnapshots is true, as it must be.
func (expiredTimeFilter) IgnoreSnapshots() bool { return true }

// keyExpired compares the second eight bytes of a key of timeseries with the
// clock.
func keyExpired(clock *timestampEmulator, key []byte, timeRange uint64) bool {
	if len(key) < 16 {
		return false
	}
	return clock.now.Load()-binary.BigEndian.Uint64(key[8:]) > timeRange
}

// stderrLogger writes the info log to standard error.
type stderrLogger struct {
	rocksdb.LoggerBase
	out *outputs
}

// Logv writes one line.
func (l *stderrLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if l.Admits(level) {
		l.LogHeader(format, args...)
	}
}

// LogHeader writes one line at any level.
func (l *stderrLogger) LogHeader(format string, args ...any) {
	l.out.errf("%s 0 %s\n", time.Now().Format("2006/01/02-15:04:05.000000"), fmt.Sprintf(format, args...))
}

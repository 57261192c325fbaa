// Port of file/file_util.h (PrepareIOFromReadOptions and its like).

package file

import (
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// defaultIOOptions stands for a nil *IOOptions; it is never written to.
var defaultIOOptions = rocksdb.DefaultIOOptions()

func orDefault(opts *rocksdb.IOOptions) *rocksdb.IOOptions {
	if opts == nil {
		return &defaultIOOptions
	}
	return opts
}

// PrepareIOFromReadOptions sets in opts what ro says of files: timeout,
// priority, activity, statistics, request id. A passed deadline is TimedOut.
// Both are the caller's; a nil ro means the defaults.
func PrepareIOFromReadOptions(ro *rocksdb.ReadOptions, clock rocksdb.SystemClock, opts *rocksdb.IOOptions) error {
	if ro == nil {
		return nil
	}
	if ro.RequestID != "" {
		if opts.Dbg == nil {
			opts.Dbg = &rocksdb.IODebugContext{}
		}
		if opts.Dbg.RequestID == nil {
			id := ro.RequestID
			opts.Dbg.RequestID = &id
		}
	}
	if ro.Deadline != 0 {
		now := time.Duration(clock.NowMicros()) * time.Microsecond
		if now >= ro.Deadline {
			return rocksdb.TimedOut("Deadline exceeded")
		}
		opts.Timeout = ro.Deadline - now
	}
	if ro.IOTimeout != 0 && (opts.Timeout == 0 || ro.IOTimeout < opts.Timeout) {
		opts.Timeout = ro.IOTimeout
	}
	opts.RateLimiterPriority = ro.RateLimiterPriority
	opts.IOActivity = ro.IOActivity
	opts.IOStats = ro.IOStatsContext
	return nil
}

// PrepareIOFromWriteOptions sets in opts what wo says of files. A nil wo means
// the defaults.
func PrepareIOFromWriteOptions(wo *rocksdb.WriteOptions, opts *rocksdb.IOOptions) {
	if wo == nil {
		return
	}
	opts.RateLimiterPriority = wo.RateLimiterPriority
	opts.IOActivity = wo.IOActivity
	opts.IOStats = wo.IOStatsContext
}

// startNanos times a step for field of an IOStatsContext, if that collects
// times.
func startNanos(t *monitoring.PerfStepTimer, stats *rocksdb.IOStatsContext, field *uint64, clock rocksdb.SystemClock) {
	if stats.Enabled(rocksdb.EnableTimeExceptForMutex) {
		t.Start(field, clock)
	}
}

func startCPUNanos(t *monitoring.PerfStepTimer, stats *rocksdb.IOStatsContext, field *uint64, clock rocksdb.SystemClock) {
	if stats.Enabled(rocksdb.EnableTimeAndCPUTimeExceptForMutex) {
		t.StartCPU(field, clock)
	}
}

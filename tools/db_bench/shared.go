// Port of SharedState, SharedState::Duration and ThreadState of
// tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// exitCode is an error whose message was printed already.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// fatalError ends a benchmark in an orderly way: its line is printed, then what.
type fatalError struct {
	err  error
	what string
}

func (e *fatalError) Error() string { return e.what + ": " + e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// sharedState is what the workers of one run of a benchmark share.
type sharedState struct {
	env *environment
	// writeRateLimiter is replaced by --sine_write_rate.
	writeRateLimiter atomic.Pointer[limiter]
	readRateLimiter  *limiter
	// mixReadLimiter is readRateLimiter's place with --sine_mix_rate.
	mixReadLimiter atomic.Pointer[limiter]
	total          int
	done           atomic.Int64 // workers that ended

	fatal    atomic.Bool
	watchdog *time.Timer // under mu
	mu       struct {
		sync.Mutex
		err error // the first one
	}
}

// setFatal keeps the first error and asks the others to stop.
func (s *sharedState) setFatal(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.err != nil {
		return
	}
	s.mu.err = err
	s.fatal.Store(true)
	if secs := s.env.flags.FatalShutdownWatchdogSeconds; secs > 0 {
		s.watchdog = time.AfterFunc(time.Duration(secs)*time.Second, func() {
			s.env.out.errf("Fatal-shutdown watchdog: graceful shutdown did not complete within %d seconds; forcing immediate exit.\n", secs)
			os.Exit(1)
		})
	}
}

// limiter is a rate limiter that takes requests of any size.
type limiter struct{ rocksdb.RateLimiter }

// request waits for n bytes or operations, a burst at a time.
func (l *limiter) request(n int64, op rocksdb.OpType) {
	for n > 0 {
		part := min(n, max(1, l.GetSingleBurstBytes()))
		l.Request(part, rocksdb.IOHigh, nil, op)
		n -= part
	}
}

// duration says when a loop of operations ends: after maxSeconds, or, when
// that is 0, after maxOps.
type duration struct {
	ops, maxOps int64
	opsPerStage int64
	nextCheck   int64 // look at the clock when ops gets there
	granularity int64
	maxSeconds  uint64
	startAt     uint64 // microseconds
	shared      *sharedState
}

func (s *sharedState) makeDuration(maxSeconds, maxOps, opsPerStage int64) *duration {
	if opsPerStage <= 0 {
		opsPerStage = max(maxOps, 1)
	}
	g := max(1, int64(s.env.flags.OpsBetweenDurationChecks))
	return &duration{
		maxOps: maxOps, opsPerStage: opsPerStage, nextCheck: g, granularity: g,
		maxSeconds: uint64(max(maxSeconds, 0)), startAt: s.env.clock.NowMicros(), shared: s,
	}
}

func (d *duration) stage() int64 { return min(d.ops, d.maxOps-1) / d.opsPerStage }

// finished counts the next n operations and tells whether not to do them.
func (d *duration) finished(n int64) bool {
	d.ops += max(n, 1)
	if d.ops >= d.nextCheck && d.check() {
		return true
	}
	return d.maxSeconds == 0 && d.ops > d.maxOps
}

// check is the part of finished that is not done for each operation.
func (d *duration) check() bool {
	d.nextCheck = (d.ops/d.granularity + 1) * d.granularity
	if d.shared.fatal.Load() {
		return true
	}
	return d.maxSeconds > 0 && (d.shared.env.clock.NowMicros()-d.startAt)/1000000 >= d.maxSeconds
}

// threadState is one worker of one run of a benchmark. ro and wo are its own
// copies of the benchmark's options, with its own PerfContext.
type threadState struct {
	tid    int
	rand   *util.Random64
	stats  *stats
	shared *sharedState
	ro     rocksdb.ReadOptions
	wo     rocksdb.WriteOptions
	perf   rocksdb.PerfContext

	clock           *timestampEmulator // nil where keys have no timestamps
	latest          bool               // reads are at the newest timestamp
	writeTS, readTS [timestampSize]byte
}

func newThreadState(b *benchmark, index int, seed int64, shared *sharedState) *threadState {
	t := &threadState{
		tid: index, rand: util.NewRandom64(uint64(b.tool.seedBase + seed)),
		stats: newStats(&b.tool.env), shared: shared, ro: b.readOptions, wo: b.writeOptions,
		clock: b.clock, latest: b.flags.ReadWithLatestUserTimestamp,
	}
	if level := rocksdb.PerfLevel(b.flags.PerfLevel); level > rocksdb.DisablePerf {
		t.perf.Level = level
		t.perf.EnablePerLevelPerfContext()
		t.ro.PerfContext, t.wo.PerfContext = &t.perf, &t.perf
	}
	return t
}

// failed prints a worker's error, and gives what ends the run at once.
func (t *threadState) failed(context string, err error) error {
	t.stats.env.out.errf("%s: %v\n", context, err)
	return exitCode(1)
}

// fatal prints a worker's error, and gives what ends the run in an orderly way.
func (t *threadState) fatal(context, what string, err error) error {
	t.stats.env.out.errf("%s: %v\n", context, err)
	return &fatalError{err, what}
}

// limitReads waits for n reads' worth of --benchmark_read_rate_limit, each
// time count gets to the end of n.
func (t *threadState) limitReads(count, n int64) {
	if l := t.shared.readRateLimiter; l != nil && count%n == n-1 {
		l.request(n, rocksdb.OpTypeRead)
	}
}

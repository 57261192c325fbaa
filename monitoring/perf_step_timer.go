// Port of monitoring/{perf_step_timer,perf_context_imp,iostats_context_imp}.h.
// Differs: a value with explicit Start instead of macros, since there is no
// thread-local context to name a metric of.

package monitoring

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// PerfStepTimer adds a duration in nanoseconds to a counter of a PerfContext or
// IOStatsContext. The zero value is stopped, and then costs nothing:
//
//	var t monitoring.PerfStepTimer
//	if pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
//		t.Start(&pc.GetFromMemtableTime, clock)
//	}
//	…
//	t.Stop()
type PerfStepTimer struct {
	clock   rocksdb.SystemClock
	metric  *uint64
	start   uint64
	running bool
	cpu     bool
	ticker  rocksdb.Ticker
	stats   rocksdb.Statistics
}

// Start begins to measure for metric; a nil clock is the default clock.
// Upstream: PERF_TIMER_GUARD, PERF_TIMER_START, PERF_TIMER_GUARD_WITH_CLOCK.
func (t *PerfStepTimer) Start(metric *uint64, clock rocksdb.SystemClock) {
	t.begin(metric, clock, false)
}

// StartCPU begins to measure CPU time, from EnableTimeAndCPUTimeExceptForMutex.
// Upstream: PERF_CPU_TIMER_GUARD.
func (t *PerfStepTimer) StartCPU(metric *uint64, clock rocksdb.SystemClock) {
	t.begin(metric, clock, true)
}

// StartTicker begins to measure for metric, if that is not nil, and for ticker,
// to which Stop adds microseconds, if stats is not nil.
// Upstream: PERF_CONDITIONAL_TIMER_FOR_MUTEX_GUARD.
func (t *PerfStepTimer) StartTicker(metric *uint64, clock rocksdb.SystemClock, stats rocksdb.Statistics, ticker rocksdb.Ticker) {
	if metric == nil && stats == nil {
		return
	}
	t.stats, t.ticker = stats, ticker
	t.begin(metric, clock, false)
}

func (t *PerfStepTimer) begin(metric *uint64, clock rocksdb.SystemClock, cpu bool) {
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	t.metric, t.clock, t.cpu, t.running = metric, clock, cpu, true
	t.start = t.now()
}

// Measure adds the time since Start or the last Measure, and goes on.
// Upstream: PERF_TIMER_MEASURE.
func (t *PerfStepTimer) Measure() {
	if t.running {
		now := t.now()
		if t.metric != nil && now > t.start {
			*t.metric += now - t.start
		}
		t.start = now
	}
}

// Stop adds the time since Start or the last Measure. It may be called on a
// stopped timer.
// Upstream: PERF_TIMER_STOP.
func (t *PerfStepTimer) Stop() {
	if !t.running {
		return
	}
	t.running = false
	now := t.now()
	// The CPU clock goes backwards when the goroutine has changed threads.
	if now <= t.start {
		return
	}
	if t.metric != nil {
		*t.metric += now - t.start
	}
	if t.stats != nil {
		t.stats.RecordTick(t.ticker, (now-t.start)/1000)
	}
}

func (t *PerfStepTimer) now() uint64 {
	if t.cpu {
		return t.clock.CPUNanos()
	}
	return t.clock.NowNanos()
}

// Port of util/stop_watch.h. Differs: Stop instead of a destructor.

package stopwatch

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// StopWatch measures from its making to Stop, for up to two histograms of timers
// and for *elapsed, in microseconds.
type StopWatch struct {
	clock          rocksdb.SystemClock
	stats          rocksdb.Statistics
	elapsed        *uint64
	startTime      uint64
	totalDelay     uint64
	delayStartTime uint64 // 0 while no delay is measured
	hist1, hist2   rocksdb.Histogram
	overwrite      bool
	statsEnabled   bool
	delayEnabled   bool
}

// Micros is a clock's time for telling times apart. SystemClock.NowMicros asks the
// operating system twice, for the time of day as well.
func Micros(clock rocksdb.SystemClock) uint64 { return clock.NowNanos() / 1000 }

// NewStopWatch measures for hist1; stats may be nil.
func NewStopWatch(clock rocksdb.SystemClock, stats rocksdb.Statistics, hist1 rocksdb.Histogram) StopWatch {
	return NewStopWatchElapsed(clock, stats, hist1, rocksdb.HistogramEnumMax, nil, true, false)
}

// NewStopWatchElapsed measures for hist1 and hist2 (HistogramEnumMax: none), and
// for *elapsed unless elapsed is nil: Stop sets it with overwrite and adds to it
// otherwise. With delayEnabled the time between DelayStart and DelayStop is taken
// off.
func NewStopWatchElapsed(clock rocksdb.SystemClock, stats rocksdb.Statistics, hist1, hist2 rocksdb.Histogram,
	elapsed *uint64, overwrite, delayEnabled bool) StopWatch {
	w := StopWatch{
		clock:        clock,
		stats:        stats,
		elapsed:      elapsed,
		hist1:        rocksdb.HistogramEnumMax,
		hist2:        rocksdb.HistogramEnumMax,
		overwrite:    overwrite,
		delayEnabled: delayEnabled,
	}
	if stats != nil && stats.GetStatsLevel() > rocksdb.ExceptTimers {
		if stats.HistEnabledForType(hist1) {
			w.hist1 = hist1
		}
		if hist2 != rocksdb.HistogramEnumMax && stats.HistEnabledForType(hist2) {
			w.hist2 = hist2
		}
		w.statsEnabled = w.hist1 != rocksdb.HistogramEnumMax || w.hist2 != rocksdb.HistogramEnumMax
	}
	if w.statsEnabled || elapsed != nil {
		w.startTime = Micros(clock)
	}
	return w
}

// Stop ends the measurement; call it once.
func (w *StopWatch) Stop() {
	if !w.statsEnabled && w.elapsed == nil {
		return
	}
	took := Micros(w.clock) - w.startTime
	if w.elapsed != nil {
		if w.overwrite {
			*w.elapsed = took
		} else {
			*w.elapsed += took
		}
		if w.delayEnabled {
			*w.elapsed -= w.totalDelay
		}
		took = *w.elapsed
	}
	if w.hist1 != rocksdb.HistogramEnumMax {
		w.stats.ReportTimeToHistogram(w.hist1, took)
	}
	if w.hist2 != rocksdb.HistogramEnumMax {
		w.stats.ReportTimeToHistogram(w.hist2, took)
	}
}

// DelayStart begins a delay, unless one has begun.
func (w *StopWatch) DelayStart() {
	if w.elapsed != nil && w.delayEnabled && w.delayStartTime == 0 {
		w.delayStartTime = Micros(w.clock)
	}
}

// DelayStop ends a delay, if one has begun.
func (w *StopWatch) DelayStop() {
	if w.elapsed != nil && w.delayEnabled && w.delayStartTime != 0 {
		w.totalDelay += Micros(w.clock) - w.delayStartTime
	}
	w.delayStartTime = 0
}

// GetDelay is the sum of the delays; 0 when they are not measured.
func (w *StopWatch) GetDelay() uint64 {
	if !w.delayEnabled {
		return 0
	}
	return w.totalDelay
}

// StartTime is when the measurement began, on a clock that only tells times
// apart; 0 when nothing is measured.
func (w *StopWatch) StartTime() uint64 { return w.startTime }

// StopWatchNano measures in nanoseconds. The zero value has no clock; only
// ElapsedNanosSafe and IsStarted may be called on it.
type StopWatchNano struct {
	clock      rocksdb.SystemClock
	start      uint64
	useCPUTime bool
}

// NewStopWatchNano measures from Start, or from now with autoStart. clock may be
// nil if only ElapsedNanosSafe is called.
func NewStopWatchNano(clock rocksdb.SystemClock, autoStart bool) StopWatchNano {
	w := StopWatchNano{clock: clock}
	if autoStart {
		w.Start()
	}
	return w
}

// NewStopWatchCPUNano is NewStopWatchNano for the CPU time of the thread.
func NewStopWatchCPUNano(clock rocksdb.SystemClock, autoStart bool) StopWatchNano {
	w := StopWatchNano{clock: clock, useCPUTime: true}
	if autoStart {
		w.Start()
	}
	return w
}

func (w *StopWatchNano) now() uint64 {
	if w.useCPUTime {
		return w.clock.CPUNanos()
	}
	return w.clock.NowNanos()
}

// Start begins, or begins anew.
func (w *StopWatchNano) Start() { w.start = w.now() }

// IsStarted tells whether Start was called.
func (w *StopWatchNano) IsStarted() bool { return w.start != 0 }

// ElapsedNanos is the time since the start, which reset moves to now. CPU time
// that went backwards, because the goroutine changed threads, is 0.
func (w *StopWatchNano) ElapsedNanos(reset bool) uint64 {
	now := w.now()
	elapsed := now - w.start
	if now < w.start {
		elapsed = 0
	}
	if reset {
		w.start = now
	}
	return elapsed
}

// ElapsedNanosSafe is ElapsedNanos, or 0 without a clock.
func (w *StopWatchNano) ElapsedNanosSafe(reset bool) uint64 {
	if w.clock == nil {
		return 0
	}
	return w.ElapsedNanos(reset)
}

// ElapsedMicros is ElapsedNanos in microseconds.
func (w *StopWatchNano) ElapsedMicros(reset bool) uint64 { return w.ElapsedNanos(reset) / 1000 }

// No upstream twin: util/stop_watch.h for reads. A StopWatch that tells its time
// to a variable would put that on the heap at each read.

package file

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// readTimer measures a read in microseconds, less the waits for the rate
// limiter, if there are statistics.
type readTimer struct {
	start, delayed, delayStart uint64
	running                    bool
	hist1, hist2               rocksdb.Histogram
}

func (r *RandomAccessFileReader) startTimer(a rocksdb.IOActivity) readTimer {
	t := readTimer{hist1: rocksdb.HistogramEnumMax, hist2: rocksdb.HistogramEnumMax}
	if r.stats == nil {
		return t
	}
	if r.stats.GetStatsLevel() > rocksdb.ExceptTimers {
		if r.stats.HistEnabledForType(r.histType) {
			t.hist1 = r.histType
		}
		if h := readHistogram(r.stats, a); r.stats.HistEnabledForType(h) {
			t.hist2 = h
		}
	}
	t.start, t.running = stopwatch.Micros(r.clock), true
	return t
}

func (r *RandomAccessFileReader) startDelay(t *readTimer) {
	if t.running {
		t.delayStart = stopwatch.Micros(r.clock)
	}
}

func (r *RandomAccessFileReader) stopDelay(t *readTimer) {
	if t.running {
		t.delayed += stopwatch.Micros(r.clock) - t.delayStart
	}
}

// stopTimer records the time and returns it; 0 without statistics.
func (r *RandomAccessFileReader) stopTimer(t *readTimer) uint64 {
	if !t.running {
		return 0
	}
	took := stopwatch.Micros(r.clock) - t.start
	took -= min(took, t.delayed)
	if t.hist1 != rocksdb.HistogramEnumMax {
		r.stats.RecordInHistogram(t.hist1, took)
	}
	if t.hist2 != rocksdb.HistogramEnumMax {
		r.stats.RecordInHistogram(t.hist2, took)
	}
	return took
}

// No upstream twin: upstream tests these through a database.

package stopwatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

func check(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %d, want %d", what, got, want)
	}
}

func TestStopWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := rocksdb.DefaultSystemClock()
		stats := monitoring.CreateDBStatistics()
		w := NewStopWatch(clock, stats, rocksdb.HistDBGet)
		time.Sleep(30 * time.Microsecond)
		w.Stop()
		check(t, "sum", stats.GetHistogramData(rocksdb.HistDBGet).Sum, 30)

		elapsed := uint64(100)
		w = NewStopWatchElapsed(clock, stats, rocksdb.HistDBSeek, rocksdb.HistDBWrite, &elapsed, true, true)
		time.Sleep(10 * time.Microsecond)
		w.DelayStart()
		w.DelayStart()
		time.Sleep(5 * time.Microsecond)
		w.DelayStop()
		w.DelayStop()
		time.Sleep(10 * time.Microsecond)
		check(t, "delay", w.GetDelay(), 5)
		w.Stop()
		check(t, "elapsed", elapsed, 20)
		check(t, "first histogram", stats.GetHistogramData(rocksdb.HistDBSeek).Sum, 20)
		check(t, "second histogram", stats.GetHistogramData(rocksdb.HistDBWrite).Sum, 20)

		w = NewStopWatchElapsed(clock, nil, rocksdb.HistDBSeek, rocksdb.HistogramEnumMax, &elapsed, false, false)
		time.Sleep(7 * time.Microsecond)
		w.Stop()
		check(t, "elapsed in all", elapsed, 27)

		stats.SetStatsLevel(rocksdb.ExceptTimers)
		w = NewStopWatch(clock, stats, rocksdb.HistDBGet)
		check(t, "start without timers", w.StartTime(), 0)
		w.Stop()
		check(t, "values", stats.GetHistogramData(rocksdb.HistDBGet).Count, 1)
	})
}

func TestStopWatchNano(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewStopWatchNano(rocksdb.DefaultSystemClock(), false)
		if w.IsStarted() {
			t.Error("started by itself")
		}
		w.Start()
		time.Sleep(2 * time.Microsecond)
		check(t, "elapsed", w.ElapsedNanos(true), 2000)
		time.Sleep(3 * time.Microsecond)
		check(t, "elapsed since the reset", w.ElapsedNanos(false), 3000)
		check(t, "microseconds", w.ElapsedMicros(false), 3)
		var none StopWatchNano
		check(t, "without a clock", none.ElapsedNanosSafe(true), 0)
	})
}

func TestStopWatch_NoAllocation(t *testing.T) {
	clock := rocksdb.DefaultSystemClock()
	stats := monitoring.CreateDBStatistics()
	if n := testing.AllocsPerRun(100, func() {
		w := NewStopWatch(clock, stats, rocksdb.HistDBGet)
		defer w.Stop()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// No upstream twin: upstream tests these through a database.

package monitoring

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestInstrumentedMutex_MeasuresWaits(t *testing.T) {
	stats := CreateDBStatistics()
	stats.SetStatsLevel(rocksdb.StatsLevelAll)
	m := NewInstrumentedMutex(stats, nil, rocksdb.DBMutexWaitMicros)
	pc := rocksdb.PerfContext{Level: rocksdb.EnableTime}
	m.LockPerf(&pc)
	checkEqual(t, "try", m.TryLock(), false)
	go func() {
		time.Sleep(20 * time.Millisecond)
		m.Unlock()
	}()
	m.LockPerf(&pc)
	m.Unlock()
	if pc.DBMutexLockNanos == 0 || stats.GetTickerCount(rocksdb.DBMutexWaitMicros) == 0 {
		t.Errorf("waited %d ns, ticker %d", pc.DBMutexLockNanos, stats.GetTickerCount(rocksdb.DBMutexWaitMicros))
	}
	if got := stats.GetTickerCount(rocksdb.DBMutexWaitMicros); got > pc.DBMutexLockNanos {
		t.Errorf("ticker %d is not in microseconds of %d ns", got, pc.DBMutexLockNanos)
	}
}

func TestInstrumentedCondVar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stats := CreateDBStatistics()
		m := NewInstrumentedMutex(stats, nil, rocksdb.DBMutexWaitMicros)
		c := NewInstrumentedCondVar(m)
		clock := rocksdb.DefaultSystemClock()

		// A timed wait that nobody ends.
		m.Lock()
		start := clock.NowMicros()
		checkEqual(t, "timed out", c.TimedWait(start+1500), true)
		checkEqual(t, "waited", clock.NowMicros()-start, 1500)
		checkEqual(t, "deadline in the past", c.TimedWait(start), true)
		m.Unlock()

		// Signal wakes one, SignalAll the others.
		woken := 0
		pc := rocksdb.PerfContext{Level: rocksdb.EnableTime}
		for i := range 3 {
			go func() {
				m.Lock()
				defer m.Unlock()
				if i == 0 {
					c.WaitPerf(&pc)
				} else if c.TimedWait(clock.NowMicros() + 1e9) {
					t.Error("timed out before its time")
				}
				woken++
			}()
			synctest.Wait()
		}
		check := func(want int) {
			t.Helper()
			synctest.Wait()
			m.Lock()
			defer m.Unlock()
			checkEqual(t, "woken", woken, want)
		}
		check(0)
		time.Sleep(time.Millisecond)
		c.Signal()
		check(1)
		checkEqual(t, "condition wait", pc.DBConditionWaitNanos, 1000000)
		c.SignalAll()
		check(3)
		c.Signal() // nobody waits: no effect on later waits
		m.Lock()
		checkEqual(t, "timed out", c.TimedWait(clock.NowMicros()+10), true)
		m.Unlock()
		checkEqual(t, "ticker", stats.GetTickerCount(rocksdb.DBMutexWaitMicros), 0) // below StatsLevelAll
	})
}

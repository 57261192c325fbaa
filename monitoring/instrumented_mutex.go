// Port of monitoring/instrumented_mutex.{h,cc}. Differs: the PerfContext is
// handed in; the ticker counts microseconds, as its name says (upstream adds
// nanoseconds); the condition variable is a list of channels, since Go's has no
// timed wait.

package monitoring

import (
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// InstrumentedMutex is a mutex that measures how long it was waited for, at
// StatsLevelAll and at PerfLevel EnableTime. The zero value measures nothing.
type InstrumentedMutex struct {
	mu     sync.Mutex
	stats  rocksdb.Statistics
	clock  rocksdb.SystemClock
	ticker rocksdb.Ticker
}

// NewInstrumentedMutex counts waits in ticker; stats may be nil. The counters of
// a PerfContext are those of the DB mutex: they count only with ticker
// DBMutexWaitMicros.
func NewInstrumentedMutex(stats rocksdb.Statistics, clock rocksdb.SystemClock, ticker rocksdb.Ticker) *InstrumentedMutex {
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	return &InstrumentedMutex{stats: stats, clock: clock, ticker: ticker}
}

// Measure makes m measure as NewInstrumentedMutex does; before m is used.
func (m *InstrumentedMutex) Measure(stats rocksdb.Statistics, clock rocksdb.SystemClock, ticker rocksdb.Ticker) {
	m.stats, m.clock, m.ticker = stats, clock, ticker
}

// Lock locks m.
func (m *InstrumentedMutex) Lock() { m.LockPerf(nil) }

// LockPerf locks m and adds the wait to pc.
func (m *InstrumentedMutex) LockPerf(pc *rocksdb.PerfContext) {
	if m.mu.TryLock() {
		return
	}
	var metric *uint64
	if pc.Enabled(rocksdb.EnableTime) {
		metric = &pc.DBMutexLockNanos
	}
	t := m.timer(metric)
	m.mu.Lock()
	t.Stop()
}

// timer starts measuring a wait, where anybody wants to know.
func (m *InstrumentedMutex) timer(metric *uint64) (t PerfStepTimer) {
	if m.clock == nil || m.ticker != rocksdb.DBMutexWaitMicros {
		return t
	}
	stats := m.stats
	if stats != nil && stats.GetStatsLevel() <= rocksdb.ExceptTimeForMutex {
		stats = nil
	}
	t.StartTicker(metric, m.clock, stats, m.ticker)
	return t
}

// TryLock locks m if that needs no wait, and tells whether it did.
func (m *InstrumentedMutex) TryLock() bool { return m.mu.TryLock() }

// Unlock unlocks m.
func (m *InstrumentedMutex) Unlock() { m.mu.Unlock() }

// InstrumentedCondVar is a condition variable over an InstrumentedMutex, which
// measures waits likewise. Waiters are woken in the order they came.
type InstrumentedCondVar struct {
	mutex *InstrumentedMutex

	mu      sync.Mutex // guards waiters
	waiters []chan struct{}
}

// NewInstrumentedCondVar gives a condition variable over mutex.
func NewInstrumentedCondVar(mutex *InstrumentedMutex) *InstrumentedCondVar {
	return &InstrumentedCondVar{mutex: mutex}
}

// Wait unlocks the mutex, waits for a signal and locks the mutex again. There
// are no spurious wake-ups, but another goroutine may have come first.
func (c *InstrumentedCondVar) Wait() { c.WaitPerf(nil) }

// WaitPerf is Wait that adds the wait to pc.
func (c *InstrumentedCondVar) WaitPerf(pc *rocksdb.PerfContext) {
	var metric *uint64
	if pc.Enabled(rocksdb.EnableTime) {
		metric = &pc.DBConditionWaitNanos
	}
	t := c.mutex.timer(metric)
	wake := c.enqueue()
	c.mutex.Unlock()
	<-wake
	c.mutex.mu.Lock()
	t.Stop()
}

// TimedWait is Wait until the mutex's clock shows deadlineMicros; it returns
// true when that came first.
func (c *InstrumentedCondVar) TimedWait(deadlineMicros uint64) bool {
	return c.TimedWaitPerf(deadlineMicros, nil)
}

// TimedWaitPerf is TimedWait that adds the wait to pc.
func (c *InstrumentedCondVar) TimedWaitPerf(deadlineMicros uint64, pc *rocksdb.PerfContext) bool {
	var metric *uint64
	if pc.Enabled(rocksdb.EnableTime) {
		metric = &pc.DBConditionWaitNanos
	}
	clock := c.mutex.clock
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	t := c.mutex.timer(metric)
	wake := c.enqueue()
	c.mutex.Unlock()
	timedOut := clock.TimedWait(wake, deadlineMicros)
	if c.abandon(wake) {
		timedOut = false // signalled after the clock gave up; the signal is ours
	}
	c.mutex.mu.Lock()
	t.Stop()
	return timedOut
}

func (c *InstrumentedCondVar) enqueue() chan struct{} {
	wake := make(chan struct{}, 1)
	c.mu.Lock()
	c.waiters = append(c.waiters, wake)
	c.mu.Unlock()
	return wake
}

// abandon takes wake off the list; it returns true when it had been signalled.
func (c *InstrumentedCondVar) abandon(wake chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiters, wake)
	if i < 0 {
		return true
	}
	c.waiters = slices.Delete(c.waiters, i, i+1)
	return false
}

// Signal wakes the longest waiter, if any. The mutex need not be held.
func (c *InstrumentedCondVar) Signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiters) > 0 {
		c.waiters[0] <- struct{}{}
		c.waiters = slices.Delete(c.waiters, 0, 1)
	}
}

// SignalAll wakes all waiters. The mutex need not be held.
func (c *InstrumentedCondVar) SignalAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, wake := range c.waiters {
		wake <- struct{}{}
		c.waiters[i] = nil
	}
	c.waiters = c.waiters[:0]
}

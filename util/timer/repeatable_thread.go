// Port of util/repeatable_thread.h. Differs: the name is for profiles only.

package timer

import (
	"context"
	"runtime/pprof"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// RepeatableThread calls a function again and again on a goroutine of its own.
// Cancel it to end that goroutine.
type RepeatableThread struct {
	function func()
	clock    rocksdb.SystemClock
	delayUs  uint64
	done     chan struct{} // closed when the goroutine has ended

	mutex   *monitoring.InstrumentedMutex // guards running
	cond    *monitoring.InstrumentedCondVar
	running bool
}

// NewRepeatableThread calls function initialDelayUs microseconds from now, and
// then delayUs after each time it has returned. A nil clock is the default clock.
func NewRepeatableThread(function func(), threadName string, clock rocksdb.SystemClock, delayUs, initialDelayUs uint64) *RepeatableThread {
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	r := &RepeatableThread{
		function: function,
		clock:    clock,
		delayUs:  delayUs,
		done:     make(chan struct{}),
		mutex:    monitoring.NewInstrumentedMutex(nil, clock, 0),
		running:  true,
	}
	r.cond = monitoring.NewInstrumentedCondVar(r.mutex)
	go pprof.Do(context.Background(), pprof.Labels("thread", "rocksdb:"+threadName), func(context.Context) {
		defer close(r.done)
		for alive := r.wait(initialDelayUs); alive; alive = r.wait(r.delayUs) {
			r.function()
		}
	})
	return r
}

// Cancel ends the repetition, after the function has returned if it is running.
// It may be called several times.
func (r *RepeatableThread) Cancel() {
	r.mutex.Lock()
	if r.running {
		r.running = false
		r.cond.SignalAll()
	}
	r.mutex.Unlock()
	<-r.done
}

// IsRunning tells whether Cancel has not been called.
func (r *RepeatableThread) IsRunning() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.running
}

// wait returns false when cancelled.
func (r *RepeatableThread) wait(delayUs uint64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for until := r.clock.NowMicros() + delayUs; r.running && r.clock.NowMicros() < until; {
		r.cond.TimedWait(until)
	}
	return r.running
}

// Port of util/timer.h. Differs: a running function is not in the heap; a name
// is free again as soon as Cancel has returned.

package timer

import (
	"container/heap"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// functionInfo is a function and when it runs.
type functionInfo struct {
	fn            func()
	name          string
	nextRunTimeUs uint64
	repeatEveryUs uint64 // 0: once
	valid         bool   // false once cancelled
	heapIndex     int
}

// functionHeap has the function that runs next on top.
type functionHeap []*functionInfo

func (h functionHeap) Len() int           { return len(h) }
func (h functionHeap) Less(i, j int) bool { return h[i].nextRunTimeUs < h[j].nextRunTimeUs }
func (h functionHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}
func (h *functionHeap) Push(x any) {
	f := x.(*functionInfo)
	f.heapIndex = len(*h)
	*h = append(*h, f)
}
func (h *functionHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return f
}

// Timer runs functions by the clock on one goroutine, in the order they are due.
// Long work belongs in a thread pool. Start and Shutdown must not be called at
// the same time; the rest is safe for concurrent use.
type Timer struct {
	clock rocksdb.SystemClock
	mutex *monitoring.InstrumentedMutex // guards the rest
	cond  *monitoring.InstrumentedCondVar

	running   bool
	stopped   chan struct{} // closed when the goroutine of this Start has ended
	executing *functionInfo // nil: none
	heap      functionHeap
	byName    map[string]*functionInfo // those in heap, and executing if it is valid
}

// NewTimer gives a timer that has not started. A nil clock is the default clock.
func NewTimer(clock rocksdb.SystemClock) *Timer {
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	t := &Timer{
		clock:  clock,
		mutex:  monitoring.NewInstrumentedMutex(nil, clock, 0),
		byName: make(map[string]*functionInfo),
	}
	t.cond = monitoring.NewInstrumentedCondVar(t.mutex)
	return t
}

// Add runs fn after startAfterUs microseconds, and then again repeatEveryUs after
// each time it has returned (0: never). It returns false when there is a function
// of that name already.
func (t *Timer) Add(fn func(), name string, startAfterUs, repeatEveryUs uint64) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.byName[name] != nil {
		return false
	}
	f := &functionInfo{
		fn:            fn,
		name:          name,
		nextRunTimeUs: t.clock.NowMicros() + startAfterUs,
		repeatEveryUs: repeatEveryUs,
		valid:         true,
	}
	heap.Push(&t.heap, f)
	t.byName[name] = f
	t.cond.SignalAll()
	return true
}

// Cancel makes the function of that name run no more, and waits for it to return
// if it is running.
func (t *Timer) Cancel(name string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	f := t.byName[name]
	if f == nil {
		return
	}
	f.valid = false
	delete(t.byName, name)
	if f != t.executing {
		heap.Remove(&t.heap, f.heapIndex)
		return
	}
	for t.executing == f {
		t.waitForTaskLocked()
	}
}

// CancelAll is Cancel for all functions.
func (t *Timer) CancelAll() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.cancelAllLocked()
}

func (t *Timer) cancelAllLocked() {
	if t.executing != nil {
		t.executing.valid = false
	}
	t.heap = nil
	clear(t.byName)
	for f := t.executing; f != nil && t.executing == f; {
		t.waitForTaskLocked()
	}
}

// waitForTaskLocked waits until the timer changes.
func (t *Timer) waitForTaskLocked() {
	syncpoint.Process("Timer::WaitForTaskCompleteIfNecessary:TaskExecuting")
	t.cond.Wait()
}

// Start begins to run functions; false when that had begun already.
func (t *Timer) Start() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.running {
		return false
	}
	t.running = true
	t.stopped = make(chan struct{})
	go t.run(t.stopped)
	return true
}

// Shutdown cancels all functions and ends the goroutine; false when it had not
// started. The timer may be started again.
func (t *Timer) Shutdown() bool {
	t.mutex.Lock()
	if !t.running {
		t.mutex.Unlock()
		return false
	}
	t.running = false
	t.cancelAllLocked()
	t.cond.SignalAll()
	stopped := t.stopped
	t.mutex.Unlock()
	<-stopped
	return true
}

// HasPendingTask tells whether a function will run, or is running and has not
// been cancelled.
func (t *Timer) HasPendingTask() bool { return t.PendingTaskNum() > 0 }

// PendingTaskNum is the number of those functions.
func (t *Timer) PendingTaskNum() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.byName)
}

func (t *Timer) run(stopped chan<- struct{}) {
	defer close(stopped)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.running {
		if len(t.heap) == 0 {
			syncpoint.Process("Timer::Run::Waiting")
			t.cond.Wait()
			continue
		}
		if f := t.heap[0]; f.nextRunTimeUs > t.clock.NowMicros() {
			t.cond.TimedWait(f.nextRunTimeUs)
			continue
		}
		f := heap.Pop(&t.heap).(*functionInfo)
		t.executing = f
		t.mutex.Unlock()
		f.fn()
		t.mutex.Lock()
		t.executing = nil
		t.cond.SignalAll()
		switch {
		case !f.valid: // Cancel has taken it off byName
		case f.repeatEveryUs > 0:
			f.nextRunTimeUs = t.clock.NowMicros() + f.repeatEveryUs
			heap.Push(&t.heap, f)
		default:
			delete(t.byName, f.name)
		}
	}
}

// TestWaitForRun waits until nothing is due, calls advance, which moves the clock,
// and waits until nothing is due again. Upstream: TEST_WaitForRun.
func (t *Timer) TestWaitForRun(advance func()) {
	idle := func() {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		for t.running && (t.executing != nil || len(t.heap) > 0 && t.heap[0].nextRunTimeUs <= t.clock.NowMicros()) {
			t.cond.Wait()
		}
	}
	idle()
	advance()
	t.mutex.Lock()
	t.cond.SignalAll()
	t.mutex.Unlock()
	idle()
}

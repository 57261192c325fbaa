// Port of util/timer_queue.h. Differs: cancelled handlers are told before any
// other is called, in the order they were cancelled; after CancelAll the queue
// works as before.

package timer

import (
	"container/heap"
	"sync"
	"time"
)

// TimerHandler is called when its time has come, or with aborted when it was
// cancelled. It returns whether to be called again, and after how many
// milliseconds (-1: as many as before); an aborted one is not.
type TimerHandler func(aborted bool) (repeat bool, milliseconds int64)

type workItem struct {
	end     time.Time
	period  time.Duration
	id      uint64
	handler TimerHandler
}

type workHeap []*workItem

func (h workHeap) Len() int           { return len(h) }
func (h workHeap) Less(i, j int) bool { return h[i].end.Before(h[j].end) }
func (h workHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *workHeap) Push(x any)        { *h = append(*h, x.(*workItem)) }
func (h *workHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}

// TimerQueue calls handlers by the time, on one goroutine.
type TimerQueue struct {
	mu struct {
		sync.Mutex
		items    workHeap
		aborted  []*workItem // cancelled, to be told so
		lastID   uint64
		finished bool
	}
	changed chan struct{} // one token: something is new in mu
	done    chan struct{} // closed when the goroutine has ended
}

// NewTimerQueue starts a queue; Shutdown ends it.
func NewTimerQueue() *TimerQueue {
	q := &TimerQueue{changed: make(chan struct{}, 1), done: make(chan struct{})}
	go q.run()
	return q
}

func (q *TimerQueue) notify() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Add calls handler after that many milliseconds and gives an ID to cancel it
// by; 0 after Shutdown, when the handler is not called.
func (q *TimerQueue) Add(milliseconds int64, handler TimerHandler) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.finished {
		return 0
	}
	period := time.Duration(milliseconds) * time.Millisecond
	q.mu.lastID++
	heap.Push(&q.mu.items, &workItem{end: time.Now().Add(period), period: period, id: q.mu.lastID, handler: handler})
	q.notify()
	return q.mu.lastID
}

// Cancel calls the handler of that ID with aborted, soon; false when it was too
// late or there is none.
func (q *TimerQueue) Cancel(id uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.mu.items {
		if w.id == id {
			heap.Remove(&q.mu.items, i)
			q.mu.aborted = append(q.mu.aborted, w)
			q.notify()
			return true
		}
	}
	return false
}

// CancelAll is Cancel for all handlers; it returns how many there were.
func (q *TimerQueue) CancelAll() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cancelAllLocked()
}

func (q *TimerQueue) cancelAllLocked() int {
	n := len(q.mu.items)
	q.mu.aborted = append(q.mu.aborted, q.mu.items...)
	q.mu.items = nil
	q.notify()
	return n
}

// Shutdown cancels all handlers, waits until they were told and ends the
// goroutine. It may be called several times.
func (q *TimerQueue) Shutdown() {
	q.mu.Lock()
	if !q.mu.finished {
		q.mu.finished = true
		q.cancelAllLocked()
	}
	q.mu.Unlock()
	<-q.done
}

func (q *TimerQueue) run() {
	defer close(q.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, finished := q.work()
		if finished {
			return
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-q.changed:
		}
	}
}

// work calls what is due, and returns how long there will be nothing to do.
func (q *TimerQueue) work() (wait time.Duration, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if len(q.mu.aborted) > 0 {
			w := q.mu.aborted[0]
			q.mu.aborted = q.mu.aborted[1:]
			q.mu.Unlock()
			w.handler(true)
			q.mu.Lock()
			continue
		}
		if q.mu.finished {
			return 0, true
		}
		if len(q.mu.items) == 0 {
			return time.Hour, false
		}
		if wait = time.Until(q.mu.items[0].end); wait > 0 {
			return wait, false
		}
		w := heap.Pop(&q.mu.items).(*workItem)
		q.mu.Unlock()
		repeat, ms := w.handler(false)
		q.mu.Lock()
		if repeat && !q.mu.finished {
			if ms != -1 {
				w.period = time.Duration(ms) * time.Millisecond
			}
			w.end = time.Now().Add(w.period)
			heap.Push(&q.mu.items, w)
		}
	}
}

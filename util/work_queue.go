// Port of util/work_queue.h. Differs: a Go channel could not change its bound or
// refuse a push after the end, so that it stays a queue with a mutex.

package util

import "sync"

// WorkQueue hands items from any number of pushers to any number of poppers, in
// order. Safe for concurrent use.
type WorkQueue[T any] struct {
	mu struct {
		sync.Mutex
		readers, writers, finish sync.Cond
		items                    []T
		maxSize                  int
		done                     bool
	}
}

// NewWorkQueue makes an empty queue of at most maxSize items; 0 is no bound.
func NewWorkQueue[T any](maxSize int) *WorkQueue[T] {
	q := new(WorkQueue[T])
	q.mu.maxSize = maxSize
	q.mu.readers.L, q.mu.writers.L, q.mu.finish.L = &q.mu, &q.mu, &q.mu
	return q
}

func (q *WorkQueue[T]) fullLocked() bool {
	return q.mu.maxSize != 0 && len(q.mu.items) >= q.mu.maxSize
}

// Push adds item, waiting for room; false, and nothing added, after Finish.
func (q *WorkQueue[T]) Push(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.fullLocked() && !q.mu.done {
		q.mu.writers.Wait()
	}
	if q.mu.done {
		return false
	}
	q.mu.items = append(q.mu.items, item)
	q.mu.readers.Signal()
	return true
}

// Pop takes the oldest item, waiting for one; ok is false once the queue is
// empty and finished.
func (q *WorkQueue[T]) Pop() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.mu.items) == 0 && !q.mu.done {
		q.mu.readers.Wait()
	}
	if len(q.mu.items) == 0 {
		return item, false
	}
	item = q.mu.items[0]
	var zero T
	q.mu.items[0] = zero // keep nothing alive
	q.mu.items = q.mu.items[1:]
	q.mu.writers.Signal()
	return item, true
}

// SetMaxSize sets the bound; items over it stay.
func (q *WorkQueue[T]) SetMaxSize(maxSize int) {
	q.mu.Lock()
	q.mu.maxSize = maxSize
	q.mu.Unlock()
	q.mu.writers.Broadcast()
}

// Finish promises that no item will be pushed any more.
func (q *WorkQueue[T]) Finish() {
	q.mu.Lock()
	q.mu.done = true
	q.mu.Unlock()
	q.mu.readers.Broadcast()
	q.mu.writers.Broadcast()
	q.mu.finish.Broadcast()
}

// WaitUntilFinished waits for Finish, not for the queue to be empty.
func (q *WorkQueue[T]) WaitUntilFinished() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.mu.done {
		q.mu.finish.Wait()
	}
}

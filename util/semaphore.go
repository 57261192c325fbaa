// Port of util/semaphore.h.

package util

import "sync"

// CountingSemaphore counts permits. Safe for concurrent use.
type CountingSemaphore struct {
	mu struct {
		sync.Mutex
		released sync.Cond
		count    int
	}
}

// NewCountingSemaphore makes a semaphore with so many permits.
func NewCountingSemaphore(startingCount int) *CountingSemaphore {
	s := new(CountingSemaphore)
	s.mu.released.L = &s.mu
	s.mu.count = startingCount
	return s
}

// Acquire takes a permit, waiting for one.
func (s *CountingSemaphore) Acquire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.mu.count == 0 {
		s.mu.released.Wait()
	}
	s.mu.count--
}

// TryAcquire takes a permit if there is one.
func (s *CountingSemaphore) TryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.count == 0 {
		return false
	}
	s.mu.count--
	return true
}

// Release gives n permits.
func (s *CountingSemaphore) Release(n int) {
	s.mu.Lock()
	s.mu.count += n
	s.mu.Unlock()
	s.mu.released.Broadcast()
}

// BinarySemaphore has one permit or none: releasing twice counts once. Safe for
// concurrent use.
type BinarySemaphore struct{ permit chan struct{} }

// NewBinarySemaphore makes a semaphore with a permit if startingCount > 0.
func NewBinarySemaphore(startingCount int) *BinarySemaphore {
	s := &BinarySemaphore{permit: make(chan struct{}, 1)}
	if startingCount > 0 {
		s.Release()
	}
	return s
}

// Acquire takes the permit, waiting for it.
func (s *BinarySemaphore) Acquire() { <-s.permit }

// TryAcquire takes the permit if it is there.
func (s *BinarySemaphore) TryAcquire() bool {
	select {
	case <-s.permit:
		return true
	default:
		return false
	}
}

// Release gives the permit.
func (s *BinarySemaphore) Release() {
	select {
	case s.permit <- struct{}{}:
	default:
	}
}

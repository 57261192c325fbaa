// Port of cache/cache_reservation_manager.{h,cc}. Differs: the role is a
// value; handles are released by a call.

package cache

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DummyEntrySize is the charge of one placeholder entry, in bytes.
const DummyEntrySize = 256 * 1024

var placeholderHelpers = func() (h [rocksdb.NumCacheEntryRoles]rocksdb.CacheItemHelper) {
	for i := range h {
		h[i].Role = rocksdb.CacheEntryRole(i)
	}
	return h
}()

// PlaceholderHelper describes placeholder entries (nil objects) of a role.
func PlaceholderHelper(r rocksdb.CacheEntryRole) *rocksdb.CacheItemHelper {
	return &placeholderHelpers[r]
}

// CacheReservationManager charges memory used elsewhere to a cache by
// placeholder entries of DummyEntrySize, which it keeps referenced. It is not
// safe for concurrent use, GetTotalReservedCacheSize apart; see
// ConcurrentCacheReservationManager.
type CacheReservationManager struct {
	cache           rocksdb.Cache
	role            rocksdb.CacheEntryRole
	delayedDecrease bool
	allocated       atomic.Int64
	memoryUsed      int
	dummyHandles    []rocksdb.CacheHandle
}

// NewCacheReservationManager charges to c under a role. With delayedDecrease,
// placeholders stay until less than 3/4 of them is needed, as memory given
// back is often wanted again and inserts are dear.
func NewCacheReservationManager(c rocksdb.Cache, role rocksdb.CacheEntryRole, delayedDecrease bool) *CacheReservationManager {
	return &CacheReservationManager{cache: c, role: role, delayedDecrease: delayedDecrease}
}

// UpdateCacheReservation makes the reservation fit newMemoryUsed bytes, rounded
// up to DummyEntrySize. An error (a cache with a strict limit is full) leaves
// what could be reserved; the memory counts as used all the same.
func (m *CacheReservationManager) UpdateCacheReservation(newMemoryUsed int) error {
	m.memoryUsed = newMemoryUsed
	allocated := int(m.allocated.Load())
	switch {
	case newMemoryUsed > allocated:
		return m.increase(newMemoryUsed)
	case newMemoryUsed == allocated, m.delayedDecrease && newMemoryUsed >= allocated/4*3:
		return nil
	}
	for newMemoryUsed+DummyEntrySize <= int(m.allocated.Load()) {
		last := len(m.dummyHandles) - 1
		m.cache.Release(m.dummyHandles[last], true)
		m.dummyHandles[last] = nil
		m.dummyHandles = m.dummyHandles[:last]
		m.allocated.Add(-DummyEntrySize)
	}
	return nil
}

func (m *CacheReservationManager) increase(newMemoryUsed int) error {
	for newMemoryUsed > int(m.allocated.Load()) {
		key := CreateUniqueForCacheLifetime(m.cache).AsSlice()
		h, err := m.cache.Insert(key, nil, PlaceholderHelper(m.role), DummyEntrySize, rocksdb.CachePriorityLow, true)
		if err != nil {
			return err
		}
		m.dummyHandles = append(m.dummyHandles, h)
		m.allocated.Add(DummyEntrySize)
	}
	return nil
}

// MakeCacheReservation adds n bytes until the handle is released. The handle is
// there on an error too.
func (m *CacheReservationManager) MakeCacheReservation(n int) (*CacheReservationHandle, error) {
	err := m.UpdateCacheReservation(m.memoryUsed + n)
	return &CacheReservationHandle{release: func() { _ = m.UpdateCacheReservation(m.memoryUsed - n) }}, err // a decrease cannot fail
}

// GetTotalReservedCacheSize is the charge of the placeholders.
func (m *CacheReservationManager) GetTotalReservedCacheSize() int { return int(m.allocated.Load()) }

// GetTotalMemoryUsed is the last figure given.
func (m *CacheReservationManager) GetTotalMemoryUsed() int { return m.memoryUsed }

// Close gives the whole reservation back.
func (m *CacheReservationManager) Close() {
	for _, h := range m.dummyHandles {
		m.cache.Release(h, true)
	}
	m.dummyHandles = nil
	m.allocated.Store(0)
}

// CacheReservationHandle is a reservation made by MakeCacheReservation.
type CacheReservationHandle struct{ release func() }

// Release ends the reservation; more calls than one do nothing.
func (h *CacheReservationHandle) Release() {
	if h != nil && h.release != nil {
		h.release()
		h.release = nil
	}
}

// ConcurrentCacheReservationManager is a CacheReservationManager under a mutex.
type ConcurrentCacheReservationManager struct {
	mu struct {
		sync.Mutex
		m *CacheReservationManager
	}
}

// NewConcurrentCacheReservationManager takes m over.
func NewConcurrentCacheReservationManager(m *CacheReservationManager) *ConcurrentCacheReservationManager {
	c := &ConcurrentCacheReservationManager{}
	c.mu.m = m
	return c
}

// UpdateCacheReservation is CacheReservationManager's.
func (c *ConcurrentCacheReservationManager) UpdateCacheReservation(newMemoryUsed int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.m.UpdateCacheReservation(newMemoryUsed)
}

// UpdateCacheReservationBy changes the memory used by delta bytes, not below 0.
func (c *ConcurrentCacheReservationManager) UpdateCacheReservationBy(delta int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.m.UpdateCacheReservation(max(c.mu.m.memoryUsed+delta, 0))
}

// MakeCacheReservation is CacheReservationManager's.
func (c *ConcurrentCacheReservationManager) MakeCacheReservation(n int) (*CacheReservationHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	inner, err := c.mu.m.MakeCacheReservation(n)
	return &CacheReservationHandle{release: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		inner.Release()
	}}, err
}

// GetTotalReservedCacheSize is CacheReservationManager's.
func (c *ConcurrentCacheReservationManager) GetTotalReservedCacheSize() int {
	return c.mu.m.GetTotalReservedCacheSize()
}

// GetTotalMemoryUsed is CacheReservationManager's.
func (c *ConcurrentCacheReservationManager) GetTotalMemoryUsed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.m.GetTotalMemoryUsed()
}

// Port of memtable/write_buffer_manager.cc.

package memtable

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// WriteBufferManager is the engine's rocksdb.WriteBufferManager.
type WriteBufferManager struct {
	bufferSize   atomic.Uint64
	mutableLimit atomic.Uint64
	memoryUsed   atomic.Uint64
	memoryActive atomic.Uint64 // of memtables that take writes
	allowStall   atomic.Bool
	stallActive  atomic.Bool // changed with mu held

	cache struct {
		sync.Mutex
		reservation *cache.CacheReservationManager // nil without a cache; constant
	}
	mu struct {
		sync.Mutex
		queue []rocksdb.StallInterface
	}
}

var _ rocksdb.WriteBufferManager = (*WriteBufferManager)(nil)

// NewWriteBufferManager makes a manager with a limit of bufferSize bytes, 0 for
// none. The memory is charged to blockCache unless that is nil. allowStall lets
// writers wait while the limit is exceeded.
func NewWriteBufferManager(bufferSize uint64, blockCache rocksdb.Cache, allowStall bool) *WriteBufferManager {
	m := &WriteBufferManager{}
	m.bufferSize.Store(bufferSize)
	m.mutableLimit.Store(mutableLimit(bufferSize))
	m.allowStall.Store(allowStall)
	if blockCache != nil {
		// A memtable's memory goes up and down a lot: give dummy entries back
		// late.
		m.cache.reservation = cache.NewCacheReservationManager(blockCache, rocksdb.CacheEntryRoleWriteBuffer, true)
	}
	return m
}

// mutableLimit is 7/8, in an order that does not overflow.
func mutableLimit(bufferSize uint64) uint64 { return bufferSize - (bufferSize+7)/8 }

// Enabled tells whether there is a limit.
func (m *WriteBufferManager) Enabled() bool { return m.bufferSize.Load() > 0 }

// CostToCache tells whether there is a cache.
func (m *WriteBufferManager) CostToCache() bool { return m.cache.reservation != nil }

// MemoryUsage is the memory of all memtables.
func (m *WriteBufferManager) MemoryUsage() uint64 { return m.memoryUsed.Load() }

// MutableMemtableMemoryUsage is the memory of memtables that take writes.
func (m *WriteBufferManager) MutableMemtableMemoryUsage() uint64 { return m.memoryActive.Load() }

// DummyEntriesInCacheUsage is what the cache is charged.
func (m *WriteBufferManager) DummyEntriesInCacheUsage() uint64 {
	if m.cache.reservation == nil {
		return 0
	}
	m.cache.Lock()
	defer m.cache.Unlock()
	return uint64(m.cache.reservation.GetTotalReservedCacheSize())
}

// BufferSize is the limit.
func (m *WriteBufferManager) BufferSize() uint64 { return m.bufferSize.Load() }

// SetBufferSize changes the limit.
func (m *WriteBufferManager) SetBufferSize(newSize uint64) {
	m.bufferSize.Store(newSize)
	m.mutableLimit.Store(mutableLimit(newSize))
	m.MaybeEndWriteStall()
}

// SetAllowStall says whether writers may wait.
func (m *WriteBufferManager) SetAllowStall(allow bool) {
	m.allowStall.Store(allow)
	m.MaybeEndWriteStall()
}

// ShouldFlush tells whether a memtable should be flushed.
func (m *WriteBufferManager) ShouldFlush() bool {
	size := m.bufferSize.Load()
	if size == 0 {
		return false
	}
	active := m.memoryActive.Load()
	if active > m.mutableLimit.Load() {
		return true
	}
	// Over the limit, but if more than half is being flushed already, one flush
	// more would not help.
	return m.memoryUsed.Load() >= size && active >= size/2
}

// ShouldStall tells whether writers should wait.
func (m *WriteBufferManager) ShouldStall() bool {
	if !m.allowStall.Load() || !m.Enabled() {
		return false
	}
	return m.IsStallActive() || m.IsStallThresholdExceeded()
}

// IsStallActive tells whether writers wait.
func (m *WriteBufferManager) IsStallActive() bool { return m.stallActive.Load() }

// IsStallThresholdExceeded tells whether the limit is reached.
func (m *WriteBufferManager) IsStallThresholdExceeded() bool {
	return m.memoryUsed.Load() >= m.bufferSize.Load()
}

// ReserveMem counts memory taken.
func (m *WriteBufferManager) ReserveMem(mem uint64) {
	if m.cache.reservation != nil {
		m.changeCharged(mem)
	} else if m.Enabled() {
		m.memoryUsed.Add(mem)
	}
	if m.Enabled() {
		m.memoryActive.Add(mem)
	}
}

// changeCharged adds delta, which may be a negative number's two's complement,
// to the memory used and charges the cache for the sum. A full strict cache
// refuses part of that; the memtable has its memory already, so the charge
// stays behind until the next change.
func (m *WriteBufferManager) changeCharged(delta uint64) {
	m.cache.Lock()
	defer m.cache.Unlock()
	_ = m.cache.reservation.UpdateCacheReservation(int(m.memoryUsed.Add(delta)))
}

// ScheduleFreeMem says that memory is on its way out.
func (m *WriteBufferManager) ScheduleFreeMem(mem uint64) {
	if m.Enabled() {
		m.memoryActive.Add(-mem)
	}
}

// FreeMem counts memory given back.
func (m *WriteBufferManager) FreeMem(mem uint64) {
	if m.cache.reservation != nil {
		m.changeCharged(-mem)
	} else if m.Enabled() {
		m.memoryUsed.Add(-mem)
	}
	m.MaybeEndWriteStall()
}

// BeginWriteStall queues a database; it is signalled at once if there is no
// stall any more.
func (m *WriteBufferManager) BeginWriteStall(s rocksdb.StallInterface) {
	m.mu.Lock()
	stalled := m.ShouldStall()
	if stalled {
		m.stallActive.Store(true)
		m.mu.queue = append(m.mu.queue, s)
	}
	m.mu.Unlock()
	if !stalled {
		s.Signal()
	}
}

// MaybeEndWriteStall signals all queued databases unless the limit is still
// exceeded.
func (m *WriteBufferManager) MaybeEndWriteStall() {
	if m.allowStall.Load() && m.IsStallThresholdExceeded() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stallActive.Load() {
		return
	}
	m.stallActive.Store(false)
	for _, s := range m.mu.queue {
		s.Signal()
	}
	m.mu.queue = nil
}

// RemoveDBFromQueue takes a database out of the queue and signals it.
func (m *WriteBufferManager) RemoveDBFromQueue(s rocksdb.StallInterface) {
	if m.Enabled() && m.allowStall.Load() {
		m.mu.Lock()
		m.mu.queue = slices.DeleteFunc(m.mu.queue, func(q rocksdb.StallInterface) bool { return q == s })
		m.mu.Unlock()
	}
	s.Signal()
}

// Close gives the cache's charge back.
func (m *WriteBufferManager) Close() {
	if m.cache.reservation != nil {
		m.cache.Lock()
		defer m.cache.Unlock()
		m.cache.reservation.Close()
	}
}

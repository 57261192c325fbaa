// Port of memtable/alloc_tracker.cc and memory/allocator.h's AllocTracker.

package memory

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// AllocTracker reports one arena's memory to a WriteBufferManager. Allocate
// may run concurrently with itself; DoneAllocating and FreeMem need outside
// synchronisation.
type AllocTracker struct {
	writeBufferManager rocksdb.WriteBufferManager
	bytesAllocated     atomic.Uint64
	doneAllocating     bool
	freed              bool
}

// NewAllocTracker makes a tracker; a nil manager makes all calls do nothing.
func NewAllocTracker(m rocksdb.WriteBufferManager) *AllocTracker {
	return &AllocTracker{writeBufferManager: m}
}

func (t *AllocTracker) active() bool {
	return t.writeBufferManager != nil && (t.writeBufferManager.Enabled() || t.writeBufferManager.CostToCache())
}

// Allocate reports bytes taken.
func (t *AllocTracker) Allocate(bytes int) {
	if t.active() {
		t.bytesAllocated.Add(uint64(bytes))
		t.writeBufferManager.ReserveMem(uint64(bytes))
	}
}

// DoneAllocating says that the memtable takes no more writes: its memory is on
// its way out.
func (t *AllocTracker) DoneAllocating() {
	if t.doneAllocating || t.writeBufferManager == nil {
		return
	}
	if t.active() {
		t.writeBufferManager.ScheduleFreeMem(t.bytesAllocated.Load())
	}
	t.doneAllocating = true
}

// FreeMem reports everything given back.
func (t *AllocTracker) FreeMem() {
	t.DoneAllocating()
	if t.freed || t.writeBufferManager == nil {
		return
	}
	if t.active() {
		t.writeBufferManager.FreeMem(t.bytesAllocated.Load())
	}
	t.freed = true
}

// IsFreed tells whether FreeMem ran.
func (t *AllocTracker) IsFreed() bool { return t.writeBufferManager == nil || t.freed }

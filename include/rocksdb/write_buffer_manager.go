// Port of include/rocksdb/write_buffer_manager.h. Differs: an interface here,
// made by package memtable's NewWriteBufferManager.

package rocksdb

// StallInterface is a database that the manager may hold back. Engine use.
type StallInterface interface {
	// Block waits until Signal was called since the last state change.
	Block()
	// Signal wakes Block.
	Signal()
}

// WriteBufferManager limits the memory of the memtables of one or more
// databases, and may charge it to a block cache. All sizes are bytes. Its
// methods are safe for concurrent use; those after SetAllowStall are for the
// engine.
type WriteBufferManager interface {
	// Enabled tells whether there is a limit.
	Enabled() bool
	// CostToCache tells whether the memory is charged to a cache.
	CostToCache() bool
	// MemoryUsage is the memory of all memtables; only kept when there is a
	// limit or a cache.
	MemoryUsage() uint64
	// MutableMemtableMemoryUsage is the memory of memtables that still take
	// writes; only kept when there is a limit.
	MutableMemtableMemoryUsage() uint64
	// DummyEntriesInCacheUsage is what the cache is charged at present.
	DummyEntriesInCacheUsage() uint64
	// BufferSize is the limit, 0 for none.
	BufferSize() uint64
	// SetBufferSize changes the limit; newSize must be above 0.
	SetBufferSize(newSize uint64)
	// SetAllowStall says whether writers wait while the limit is exceeded.
	SetAllowStall(allow bool)

	// ShouldFlush tells the writer that a memtable should be flushed: the
	// mutable memtables exceed 7/8 of the limit, or everything exceeds the
	// limit and at least half of it is mutable.
	ShouldFlush() bool
	// ShouldStall tells the writer to wait.
	ShouldStall() bool
	// IsStallActive tells whether writers wait at present.
	IsStallActive() bool
	// IsStallThresholdExceeded tells whether the usage reached the limit.
	IsStallThresholdExceeded() bool
	// ReserveMem counts memory taken by a mutable memtable.
	ReserveMem(mem uint64)
	// ScheduleFreeMem says that mem bytes are on their way out: their
	// memtable takes no more writes.
	ScheduleFreeMem(mem uint64)
	// FreeMem counts memory that was given back.
	FreeMem(mem uint64)
	// BeginWriteStall queues a database to be signalled when the stall ends;
	// it is signalled at once when there is no stall any more.
	BeginWriteStall(s StallInterface)
	// MaybeEndWriteStall signals the queued databases if usage permits.
	MaybeEndWriteStall()
	// RemoveDBFromQueue takes a database out of the queue and signals it.
	RemoveDBFromQueue(s StallInterface)
	// Close returns what is charged to the cache.
	Close()
}

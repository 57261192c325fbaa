// Package memory gives the engine memory that the garbage collector neither
// scans nor counts: arenas for memtables and blocks for the block cache.
//
// Main types:
//   - Alloc and Free: a size-class allocator for cached blocks and for the
//     arenas' own blocks.
//   - Arena: one goroutine's bump allocator, freed as a whole.
//   - ConcurrentArena: the same for many goroutines; what a memtable uses.
//   - AllocTracker: tells a WriteBufferManager what an arena takes.
//   - DefaultMemoryAllocator, CountedMemoryAllocator: the contract's
//     MemoryAllocator over Alloc and Free.
//
// On Linux the memory comes from mmap. Elsewhere, and under the race detector
// (which only sees Go memory), it is ordinary Go memory and Free leaves it to
// the collector.
//
// Invariants:
//   - Off-heap memory holds no pointer into the Go heap; pointers between
//     off-heap objects are kept as integers, so no write barrier sees them.
//   - A block is freed once, by any goroutine, with the capacity it was given
//     with. Under the tag "invariants" a freed block is poisoned, a write to it
//     is found when it is handed out again, and most double frees panic.
//   - Address space of size-class spans is never unmapped, only its pages are
//     given back: a stale pointer never meets a Go heap that moved in.
//
// Lock order: a class's lock, then the span pool's; ConcurrentArena's lock is
// held while a block is allocated and the tracker is told.
//
// Read block_allocator.go first, then concurrent_arena.go.
package memory

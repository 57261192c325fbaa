// Package memory gives the engine memory that the garbage collector neither
// scans nor counts: arenas for memtables and blocks for the block cache.
//
// Main types:
//   - Alloc and Free: a size-class allocator for cached blocks and for the
//     arenas' small and irregular blocks. Arenas' regular blocks come from
//     regions of huge pages (region_allocator.go).
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
//   - Address space of spans and regions is never unmapped, only its pages are
//     given back; blocks above 64 KiB that are no arena's regular ones are.
//
// Lock order: ConcurrentArena's lock, then the pools' (a class's before the
// span pool's) or those of the WriteBufferManager that the tracker tells.
//
// Read block_allocator.go first, then concurrent_arena.go.
package memory

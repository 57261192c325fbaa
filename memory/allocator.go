// Port of memory/allocator.h. Differs: memory comes as slices of that length;
// the huge-page form of AllocateAligned is a method of its own. AllocTracker is
// in alloc_tracker.go.

package memory

// Allocator is what an arena gives. Memory is freed with the arena only.
type Allocator interface {
	// Allocate gives bytes (> 0) at any alignment.
	Allocate(bytes int) []byte
	// AllocateAligned gives bytes (> 0) aligned for any plain type.
	AllocateAligned(bytes int) []byte
	// BlockSize is the size of the regular blocks.
	BlockSize() int
}

var (
	_ Allocator = (*Arena)(nil)
	_ Allocator = (*ConcurrentArena)(nil)
)

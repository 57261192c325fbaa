// Port of include/rocksdb/memory_allocator.h. Differs: memory is handed out as
// slices; the jemalloc and memkind allocators need C and are absent.

package rocksdb

// MemoryAllocator gives and takes back memory for cached blocks. Its methods
// are safe for concurrent use.
type MemoryAllocator interface {
	// Name is upstream's class name, e.g. "DefaultMemoryAllocator".
	Name() string
	// Allocate gives a slice of length size, owned by the caller until
	// Deallocate. Its contents are not defined.
	Allocate(size int) []byte
	// Deallocate takes back a slice that Allocate returned: the same start,
	// any length, the capacity unchanged.
	Deallocate(b []byte)
	// UsableSize is what a slice of Allocate(allocationSize) really takes, in
	// bytes.
	UsableSize(b []byte, allocationSize int) int
}

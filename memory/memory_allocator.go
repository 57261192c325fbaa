// Port of memory/memory_allocator.cc, memory/memory_allocator_impl.h and
// utilities/memory_allocators.h. Differs: no jemalloc, no memkind; both need C.

package memory

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DefaultMemoryAllocator is the contract's MemoryAllocator over Alloc and Free.
type DefaultMemoryAllocator struct{}

// Name is "DefaultMemoryAllocator".
func (DefaultMemoryAllocator) Name() string { return "DefaultMemoryAllocator" }

// Allocate is Alloc; a size of 0 gives an empty slice.
func (DefaultMemoryAllocator) Allocate(size int) []byte {
	if size <= 0 {
		return nil
	}
	return Alloc(size)
}

// Deallocate is Free.
func (DefaultMemoryAllocator) Deallocate(b []byte) { Free(b) }

// UsableSize is the slot's size.
func (DefaultMemoryAllocator) UsableSize(b []byte, _ int) int { return cap(b) }

// CountedMemoryAllocator counts the calls to the allocator it wraps.
type CountedMemoryAllocator struct {
	target        rocksdb.MemoryAllocator
	allocations   atomic.Uint64
	deallocations atomic.Uint64
}

// NewCountedMemoryAllocator wraps target; nil stands for the default one.
func NewCountedMemoryAllocator(target rocksdb.MemoryAllocator) *CountedMemoryAllocator {
	if target == nil {
		target = DefaultMemoryAllocator{}
	}
	return &CountedMemoryAllocator{target: target}
}

// Name is "CountedMemoryAllocator".
func (*CountedMemoryAllocator) Name() string { return "CountedMemoryAllocator" }

// Inner is the allocator it wraps.
func (m *CountedMemoryAllocator) Inner() rocksdb.Customizable { return m.target }

// OptionsPtr has "target".
func (m *CountedMemoryAllocator) OptionsPtr(name string) any {
	if name == rocksdb.MemoryAllocatorTargetOptionsName {
		return &m.target
	}
	return nil
}

// Allocate counts and forwards.
func (m *CountedMemoryAllocator) Allocate(size int) []byte {
	m.allocations.Add(1)
	return m.target.Allocate(size)
}

// Deallocate counts and forwards.
func (m *CountedMemoryAllocator) Deallocate(b []byte) {
	m.deallocations.Add(1)
	m.target.Deallocate(b)
}

// UsableSize forwards.
func (m *CountedMemoryAllocator) UsableSize(b []byte, allocationSize int) int {
	return m.target.UsableSize(b, allocationSize)
}

// NumAllocations and NumDeallocations are the counts.
func (m *CountedMemoryAllocator) NumAllocations() uint64 { return m.allocations.Load() }

// NumDeallocations counts the calls of Deallocate.
func (m *CountedMemoryAllocator) NumDeallocations() uint64 { return m.deallocations.Load() }

// CreateMemoryAllocator makes the built-in allocator of that name.
func CreateMemoryAllocator(name string) (rocksdb.MemoryAllocator, error) {
	switch name {
	case "DefaultMemoryAllocator":
		return DefaultMemoryAllocator{}, nil
	case "CountedMemoryAllocator":
		return NewCountedMemoryAllocator(nil), nil
	case "JemallocNodumpAllocator", "MemkindKmemAllocator":
		return nil, rocksdb.NotSupported("memory allocator " + name)
	}
	return nil, rocksdb.InvalidArgument("unknown memory allocator", name)
}

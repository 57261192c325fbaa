// Port of memory/memory_allocator_test.cc, as far as there is an allocator
// without C.

package memory

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestMemoryAllocatorTest_Allocate(t *testing.T) {
	for _, name := range []string{"DefaultMemoryAllocator", "CountedMemoryAllocator"} {
		t.Run(name, func(t *testing.T) {
			m, err := CreateMemoryAllocator(name)
			if err != nil {
				t.Fatal(err)
			}
			b := m.Allocate(1024)
			if len(b) != 1024 || m.UsableSize(b, 1024) < 1024 {
				t.Fatalf("len %d, usable %d", len(b), m.UsableSize(b, 1024))
			}
			m.Deallocate(b)
			if c, ok := m.(*CountedMemoryAllocator); ok && (c.NumAllocations() != 1 || c.NumDeallocations() != 1) {
				t.Fatalf("counts %d and %d", c.NumAllocations(), c.NumDeallocations())
			}
		})
	}
}

func TestMemoryAllocatorTest_CreateAllocator(t *testing.T) {
	for _, name := range []string{"DefaultMemoryAllocator", "CountedMemoryAllocator"} {
		m, err := CreateMemoryAllocator(name)
		if err != nil || m.Name() != name {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if _, err := CreateMemoryAllocator("JemallocNodumpAllocator"); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatalf("jemalloc: %v", err)
	}
	if _, err := CreateMemoryAllocator("no such"); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatalf("unknown name: %v", err)
	}
}

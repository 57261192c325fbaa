// No upstream twin: the role malloc plays for arenas' regular blocks.

package memory

import (
	"sync"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/internal/invariants"
)

// Regular blocks of arenas have few different sizes and are used for random
// access as a whole, where page-table walks cost as much as the cache misses.
// They are therefore cut from regions that ask the system for transparent huge
// pages. A block that is freed waits for a request of its size.
const (
	regionSize  = 32 << 20
	hugeAlign   = 2 << 20
	maxRegional = 8 << 20
	// regionFloor bounds the free blocks that are kept resident.
	regionFloor = 64 << 20
)

var regionPool struct {
	sync.Mutex
	rest     []byte // of the newest region
	resident map[int][]unsafe.Pointer
	empty    map[int][]unsafe.Pointer // their pages were given back
	bytes    int                      // in resident
}

// allocBlock gives an arena's regular block; freeBlock takes it back.
func allocBlock(size int) []byte {
	if !offHeap || size < 64<<10 || size > maxRegional {
		return Alloc(size)
	}
	full := (size + pageSize - 1) &^ (pageSize - 1)
	largeAllocs.Add(1)
	largeBytes.Add(int64(full))
	regionPool.Lock()
	defer regionPool.Unlock()
	if p := pop(regionPool.resident, full); p != nil {
		regionPool.bytes -= full
		b := unsafe.Slice((*byte)(p), full)
		if invariants.Enabled {
			checkPoison(b)
			fill(b, freshByte)
		}
		return b[:size]
	}
	if p := pop(regionPool.empty, full); p != nil {
		return unsafe.Slice((*byte)(p), full)[:size]
	}
	if len(regionPool.rest) < full {
		// The old rest is lost: address space, not memory.
		p := mapPages(regionSize + hugeAlign)
		if p == nil {
			panic("memory: the system refuses to map more memory")
		}
		skip := -int(uintptr(p)) & (hugeAlign - 1)
		p = unsafe.Add(p, skip)
		adviseHuge(p, regionSize)
		regionPool.rest = unsafe.Slice((*byte)(p), regionSize)
	}
	b := regionPool.rest[:full:full]
	regionPool.rest = regionPool.rest[full:]
	return b[:size]
}

func freeBlock(b []byte) {
	size := cap(b)
	if !offHeap || size < 64<<10 || size > maxRegional {
		Free(b)
		return
	}
	b = b[:size]
	if invariants.Enabled {
		poison(b)
	}
	largeFrees.Add(1)
	largeBytes.Add(-int64(size))
	p := unsafe.Pointer(unsafe.SliceData(b))
	regionPool.Lock()
	defer regionPool.Unlock()
	if regionPool.bytes+size <= regionFloor {
		push(&regionPool.resident, size, p)
		regionPool.bytes += size
		return
	}
	discardPages(p, size)
	push(&regionPool.empty, size, p)
}

func pop(m map[int][]unsafe.Pointer, size int) unsafe.Pointer {
	list := m[size]
	if len(list) == 0 {
		return nil
	}
	p := list[len(list)-1]
	m[size] = list[:len(list)-1]
	return p
}

func push(m *map[int][]unsafe.Pointer, size int, p unsafe.Pointer) {
	if *m == nil {
		*m = make(map[int][]unsafe.Pointer)
	}
	(*m)[size] = append((*m)[size], p)
}

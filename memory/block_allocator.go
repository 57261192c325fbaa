// No upstream twin: the role malloc plays for cached blocks and arena blocks.

package memory

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/internal/invariants"
)

// Sizes up to maxSmall come from spans of equal slots; larger ones are whole
// pages. Slots grow by an eighth, so at most that much of a slot is unused.
//
//	span:  | span header (64 bytes) | slot | slot | ... | tail |
//
// A span's start is a multiple of spanSize, which is how Free finds it. Slots
// never used are not resident: they are carved from the front on demand.
const (
	pageSize   = 4096
	spanSize   = 512 << 10
	chunkSpans = 16 // spans mapped at once
	maxSmall   = 64 << 10
	numClasses = 80

	// spanFloor and largeFloor bound the free memory that is kept resident;
	// what is freed beyond goes back to the system.
	spanFloor  = 16
	largeFloor = 32 << 20

	// Under the tag "invariants" freed blocks hold the one, blocks just handed
	// out the other.
	poisonByte = 0xdb
	freshByte  = 0xcb
)

// span heads a span's memory. It lies off the heap and points there only.
type span struct {
	next, prev *span
	free       unsafe.Pointer // freed slots, linked through their first word
	class      int32
	capacity   int32
	used       int32
	carved     int32
	_          [24]byte
}

// sizeClass is the spans of one slot size.
type sizeClass struct {
	mu struct {
		sync.Mutex
		partial *span // spans with room, doubly linked
		allocs  uint64
		frees   uint64
		spans   uint64
	}
	_ [64]byte
}

var (
	classes [numClasses]sizeClass

	// spanPool is spans that no class uses. The first floor of them are
	// resident.
	spanPool struct {
		sync.Mutex
		free []unsafe.Pointer
	}

	// largePool is freed page runs by size.
	largePool struct {
		sync.Mutex
		free  map[int][]unsafe.Pointer
		bytes int
	}

	largeAllocs, largeFrees atomic.Uint64
	largeBytes              atomic.Int64
)

// classOf gives the class of a size in 1..maxSmall.
func classOf(n int) int {
	if n <= 128 {
		return (n - 1) >> 4
	}
	// 8 classes a doubling: exponent and the three bits after the top one.
	shift := bits.Len(uint(n-1)) - 4
	return (shift-4)*8 + int(uint(n-1)>>shift)
}

// classSize is the slot size of a class.
func classSize(c int) int {
	if c < 8 {
		return (c + 1) << 4
	}
	shift := (c-8)/8 + 4
	return ((c-8)%8 + 9) << shift
}

// Alloc gives n bytes (n > 0) off the Go heap, not zeroed, aligned to 16. The
// capacity is the whole slot; the owner must pass the slice to Free with its
// start and capacity unchanged.
func Alloc(n int) []byte {
	if n <= 0 {
		panic(fmt.Sprintf("memory: Alloc(%d)", n))
	}
	if n > maxSmall {
		return allocLarge(n)
	}
	c := classOf(n)
	size := classSize(c)
	class := &classes[c]
	if !offHeap {
		class.mu.Lock()
		class.mu.allocs++
		class.mu.Unlock()
		return make([]byte, n, size)
	}
	class.mu.Lock()
	s := class.mu.partial
	if s == nil {
		s = newSpan(c, size)
		class.mu.spans++
		class.link(s)
	}
	p := s.free
	recycled := p != nil
	if recycled {
		s.free = *(*unsafe.Pointer)(p)
	} else {
		p = unsafe.Add(unsafe.Pointer(s), int(unsafe.Sizeof(span{}))+int(s.carved)*size)
		s.carved++
	}
	if s.used++; s.used == s.capacity {
		class.unlink(s)
	}
	class.mu.allocs++
	class.mu.Unlock()
	b := unsafe.Slice((*byte)(p), size)
	if invariants.Enabled {
		if recycled {
			checkPoison(b[8:])
		}
		fill(b, freshByte)
	}
	return b[:n]
}

// Free takes back a slice that Alloc returned. Nil is ignored.
func Free(b []byte) {
	size := cap(b)
	if size == 0 {
		return
	}
	b = b[:size]
	if invariants.Enabled {
		poison(b)
	}
	if size > maxSmall {
		freeLarge(b)
		return
	}
	if !offHeap {
		class := &classes[classOf(size)]
		class.mu.Lock()
		class.mu.frees++
		class.mu.Unlock()
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	s := (*span)(unsafe.Add(p, -int(uintptr(p)&(spanSize-1))))
	class := &classes[s.class]
	class.mu.Lock()
	*(*unsafe.Pointer)(p) = s.free
	s.free = p
	class.mu.frees++
	if s.used == s.capacity {
		class.link(s)
	}
	if s.used--; s.used == 0 {
		class.unlink(s)
		class.mu.spans--
		class.mu.Unlock()
		releaseSpan(s)
		return
	}
	class.mu.Unlock()
}

func (c *sizeClass) link(s *span) {
	s.prev, s.next = nil, c.mu.partial
	if s.next != nil {
		s.next.prev = s
	}
	c.mu.partial = s
}

func (c *sizeClass) unlink(s *span) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		c.mu.partial = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
}

// newSpan takes a span for class c.
func newSpan(c, size int) *span {
	spanPool.Lock()
	if len(spanPool.free) == 0 {
		mapChunkLocked()
	}
	last := len(spanPool.free) - 1
	s := (*span)(spanPool.free[last])
	spanPool.free = spanPool.free[:last]
	spanPool.Unlock()
	*s = span{class: int32(c), capacity: int32((spanSize - int(unsafe.Sizeof(span{}))) / size)}
	return s
}

// mapChunkLocked adds spans to the pool, whose lock is held. Out of memory is
// a panic, as it is for the Go heap.
func mapChunkLocked() {
	const n = (chunkSpans + 1) * spanSize
	p := mapPages(n)
	if p == nil {
		panic("memory: the system refuses to map more memory")
	}
	skip := -int(uintptr(p)) & (spanSize - 1)
	if skip > 0 {
		unmapPages(p, skip)
	}
	if tail := spanSize - skip; tail > 0 {
		unmapPages(unsafe.Add(p, skip+chunkSpans*spanSize), tail)
	}
	// The last one is taken first: lowest address on top.
	for i := chunkSpans - 1; i >= 0; i-- {
		spanPool.free = append(spanPool.free, unsafe.Add(p, skip+i*spanSize))
	}
}

// releaseSpan puts an empty span into the pool.
func releaseSpan(s *span) {
	spanPool.Lock()
	full := len(spanPool.free) >= spanFloor
	if !full {
		spanPool.free = append(spanPool.free, unsafe.Pointer(s))
	}
	spanPool.Unlock()
	if full {
		discardPages(unsafe.Pointer(s), spanSize)
		spanPool.Lock()
		// Discarded ones go to the bottom: resident ones are taken first.
		spanPool.free = append(spanPool.free, nil)
		copy(spanPool.free[1:], spanPool.free)
		spanPool.free[0] = unsafe.Pointer(s)
		spanPool.Unlock()
	}
}

func allocLarge(n int) []byte {
	size := (n + pageSize - 1) &^ (pageSize - 1)
	largeAllocs.Add(1)
	largeBytes.Add(int64(size))
	if !offHeap {
		return make([]byte, n, size)
	}
	var p unsafe.Pointer
	largePool.Lock()
	if list := largePool.free[size]; len(list) > 0 {
		p = list[len(list)-1]
		largePool.free[size] = list[:len(list)-1]
		largePool.bytes -= size
	}
	largePool.Unlock()
	if p == nil {
		if p = mapPages(size); p == nil {
			panic("memory: the system refuses to map more memory")
		}
	} else if invariants.Enabled {
		checkPoison(unsafe.Slice((*byte)(p), size))
		fill(unsafe.Slice((*byte)(p), size), freshByte)
	}
	return unsafe.Slice((*byte)(p), size)[:n]
}

func freeLarge(b []byte) {
	size := cap(b)
	largeFrees.Add(1)
	largeBytes.Add(-int64(size))
	if !offHeap {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	largePool.Lock()
	keep := largePool.bytes+size <= largeFloor
	if keep {
		if largePool.free == nil {
			largePool.free = make(map[int][]unsafe.Pointer)
		}
		largePool.free[size] = append(largePool.free[size], p)
		largePool.bytes += size
	}
	largePool.Unlock()
	if !keep {
		unmapPages(p, size)
	}
}

// poison fills a block about to be freed, and panics when it looks freed
// already.
func poison(b []byte) {
	if n := min(len(b), 64); n > 8 {
		freed := true
		for _, c := range b[8:n] {
			freed = freed && c == poisonByte
		}
		if freed {
			panic("memory: block freed twice")
		}
	}
	fill(b, poisonByte)
}

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

func checkPoison(b []byte) {
	for _, c := range b {
		if c != poisonByte {
			panic("memory: freed block was written to")
		}
	}
}

// Stats counts what Alloc and Free did.
type Stats struct {
	Allocs, Frees uint64
	// InUse is the bytes of blocks not freed yet, whole slots.
	InUse int64
	// Mapped is the bytes of spans in use and of large blocks and regions'
	// blocks, whether in use or kept resident.
	Mapped int64
}

// GetStats gives the counters. A program that closed everything has as many
// frees as allocs; the difference is a leak.
func GetStats() Stats {
	var s Stats
	for i := range classes {
		c := &classes[i]
		c.mu.Lock()
		s.Allocs += c.mu.allocs
		s.Frees += c.mu.frees
		s.InUse += int64(c.mu.allocs-c.mu.frees) * int64(classSize(i))
		s.Mapped += int64(c.mu.spans) * spanSize
		c.mu.Unlock()
	}
	large := largeBytes.Load()
	s.Allocs += largeAllocs.Load()
	s.Frees += largeFrees.Load()
	s.InUse += large
	largePool.Lock()
	s.Mapped += large + int64(largePool.bytes)
	largePool.Unlock()
	regionPool.Lock()
	s.Mapped += int64(regionPool.bytes)
	regionPool.Unlock()
	return s
}

// No upstream twin: memory of the Go heap for an index.

package writebatchwithindex

import (
	"unsafe"

	"github.com/rocksdb-go/rocksdb/memory"
)

// heapArena is a memory.Allocator whose memory the collector frees: a batch is
// dropped, not closed. Skip list nodes point to each other by plain integers,
// which is safe since chunks keeps every chunk and the heap does not move.
type heapArena struct {
	chunks [][]uint64
	free   []uint64
}

var _ memory.Allocator = (*heapArena)(nil)

const (
	firstChunkWords = 64
	lastChunkWords  = 8192
)

// Allocate implements memory.Allocator.
func (a *heapArena) Allocate(bytes int) []byte { return a.AllocateAligned(bytes) }

// AllocateAligned implements memory.Allocator.
func (a *heapArena) AllocateAligned(bytes int) []byte {
	words := (bytes + 7) / 8
	if words > len(a.free) {
		size := firstChunkWords
		if n := len(a.chunks); n > 0 {
			size = min(2*len(a.chunks[n-1]), lastChunkWords)
		}
		a.free = make([]uint64, max(size, words))
		a.chunks = append(a.chunks, a.free)
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a.free))), bytes)
	a.free = a.free[words:]
	return b
}

// BlockSize implements memory.Allocator.
func (a *heapArena) BlockSize() int { return lastChunkWords * 8 }

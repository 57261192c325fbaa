// Port of memory/concurrent_arena.{h,cc}. Differs: no shard per core, since a
// goroutine has no core; the current block's end is moved by one atomic add
// instead, which takes no lock and loses no shard remainders. All requests are
// aligned to 8 bytes.

package memory

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// ConcurrentArena is an arena for many goroutines. Free needs all of them to
// be done.
type ConcurrentArena struct {
	cur       atomic.Pointer[arenaBlock]
	allocated atomic.Int64 // bytes of all blocks
	number    atomic.Int64 // blocks beside the inline one
	irregular atomic.Int64
	blockSize int
	hugePage  int

	mu struct {
		sync.Mutex
		blocks blockList
	}
}

// arenaBlock is a block that is being used up. next may run past size when
// goroutines race for the last bytes; the block is used up then.
type arenaBlock struct {
	base unsafe.Pointer
	size int64
	_    [48]byte
	next atomic.Int64
	_    [56]byte
}

// NewConcurrentArena makes an arena; the arguments are NewArena's.
func NewConcurrentArena(blockSize int, tracker *AllocTracker, hugePageSize int) *ConcurrentArena {
	a := &ConcurrentArena{blockSize: OptimizeBlockSize(blockSize)}
	syncpoint.ProcessArg("Arena::Arena:0", &a.blockSize)
	a.hugePage = hugeBlockSize(a.blockSize, hugePageSize)
	a.mu.blocks = blockList{blockSize: a.blockSize, tracker: tracker}
	a.publishLocked(a.mu.blocks.inline(), 0)
	return a
}

// publishLocked makes b the current block, used bytes of which are taken. The
// lock is held, but in the constructor.
func (a *ConcurrentArena) publishLocked(b []byte, used int) {
	block := &arenaBlock{base: unsafe.Pointer(unsafe.SliceData(b)), size: int64(len(b))}
	block.next.Store(int64(used))
	a.cur.Store(block)
	a.fixupLocked()
}

func (a *ConcurrentArena) fixupLocked() {
	a.allocated.Store(int64(a.mu.blocks.memory))
	a.number.Store(int64(a.mu.blocks.number()))
	a.irregular.Store(int64(a.mu.blocks.irregular))
}

// AllocatePointer gives bytes (> 0) aligned to 8.
func (a *ConcurrentArena) AllocatePointer(bytes int) unsafe.Pointer {
	n := (int64(bytes) + 7) &^ 7
	b := a.cur.Load()
	// The look before the add keeps a big request from using up the block.
	if b.next.Load()+n <= b.size {
		if end := b.next.Add(n); end <= b.size {
			return unsafe.Add(b.base, end-n)
		}
	}
	return a.allocateSlow(n, b)
}

func (a *ConcurrentArena) allocateSlow(n int64, seen *arenaBlock) unsafe.Pointer {
	a.mu.Lock()
	defer a.mu.Unlock()
	for b := a.cur.Load(); b != seen; b = a.cur.Load() {
		if b.next.Load()+n <= b.size {
			if end := b.next.Add(n); end <= b.size {
				return unsafe.Add(b.base, end-n)
			}
		}
		seen = b
	}
	if n > int64(a.blockSize/4) {
		b := a.mu.blocks.irregularBlock(int(n))
		a.fixupLocked()
		return unsafe.Pointer(unsafe.SliceData(b))
	}
	b := a.mu.blocks.regularBlock(a.hugePage)
	a.publishLocked(b, int(n))
	return unsafe.Pointer(unsafe.SliceData(b))
}

// Allocate gives bytes (> 0).
func (a *ConcurrentArena) Allocate(bytes int) []byte {
	return unsafe.Slice((*byte)(a.AllocatePointer(bytes)), bytes)
}

// AllocateAligned gives bytes (> 0) aligned to 8.
func (a *ConcurrentArena) AllocateAligned(bytes int) []byte { return a.Allocate(bytes) }

// AllocateAlignedHuge is AllocateAligned, in whole huge pages of its own when
// the arena was made with huge pages and the system has enough left; otherwise
// a warning goes to the logger, if there is one.
func (a *ConcurrentArena) AllocateAlignedHuge(bytes, hugePageSize int, logger rocksdb.Logger) []byte {
	if a.hugePage > 0 && hugePageSize > 0 {
		size := (bytes + hugePageSize - 1) / hugePageSize * hugePageSize
		a.mu.Lock()
		b := a.mu.blocks.hugeBlock(size)
		a.fixupLocked()
		a.mu.Unlock()
		if b != nil {
			return b[:bytes:bytes]
		}
		if logger != nil {
			logger.Logv(rocksdb.WarnLevel, "AllocateAligned fail to allocate huge TLB pages of %d bytes", size)
		}
	}
	return a.Allocate(bytes)
}

// ApproximateMemoryUsage is the memory handed out, padding included.
func (a *ConcurrentArena) ApproximateMemoryUsage() int {
	return int(a.allocated.Load()+a.number.Load()*8) - a.AllocatedAndUnused()
}

// MemoryAllocatedBytes is the memory of all blocks.
func (a *ConcurrentArena) MemoryAllocatedBytes() int { return int(a.allocated.Load()) }

// AllocatedAndUnused is what is left of the current block.
func (a *ConcurrentArena) AllocatedAndUnused() int {
	b := a.cur.Load()
	return int(max(b.size-b.next.Load(), 0))
}

// IrregularBlockNum counts the blocks made for one big request.
func (a *ConcurrentArena) IrregularBlockNum() int { return int(a.irregular.Load()) }

// BlockSize is the size of the regular blocks.
func (a *ConcurrentArena) BlockSize() int { return a.blockSize }

// Free gives all memory back, and tells the tracker. Nothing of the arena may
// be used afterwards.
func (a *ConcurrentArena) Free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.blocks.free()
	a.cur.Store(&arenaBlock{})
}

// Port of memory/arena.{h,cc}. Differs: blocks come from Alloc; the inline
// block is a block like the others, but counted as upstream's.

package memory

import (
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	// InlineSize is the size of an arena's first block.
	InlineSize = 2048
	// MinBlockSize and MaxBlockSize bound the size of the regular blocks.
	MinBlockSize = 4096
	MaxBlockSize = 2 << 30
	// AlignUnit is the alignment of AllocateAligned.
	AlignUnit = 16
)

// OptimizeBlockSize brings a block size into MinBlockSize..MaxBlockSize and up
// to a multiple of AlignUnit.
func OptimizeBlockSize(blockSize int) int {
	blockSize = min(max(blockSize, MinBlockSize), MaxBlockSize)
	return (blockSize + AlignUnit - 1) &^ (AlignUnit - 1)
}

// Arena is a bump allocator for one goroutine. Aligned requests come from a
// block's front, the others from its back, which saves padding. A request of
// more than a quarter block that does not fit gets a block of its own
// ("irregular").
type Arena struct {
	blocks blockList
	// The free part of the current block is block[front:back].
	block       []byte
	front, back int
	hugePage    int // size of huge-page blocks, 0 for none
}

// blockList owns an arena's blocks and counts them.
type blockList struct {
	blockSize int
	tracker   *AllocTracker
	owned     [][]byte // by Alloc
	regular   [][]byte // by allocBlock
	huge      [][]byte
	memory    int // bytes of all blocks
	irregular int
}

// NewArena makes an arena with regular blocks of blockSize bytes (see
// OptimizeBlockSize). The tracker may be nil. A hugePageSize above 0 makes
// regular blocks come from the system's huge pages while it has some.
func NewArena(blockSize int, tracker *AllocTracker, hugePageSize int) *Arena {
	a := &Arena{blocks: blockList{blockSize: OptimizeBlockSize(blockSize), tracker: tracker}}
	syncpoint.ProcessArg("Arena::Arena:0", &a.blocks.blockSize)
	a.block = a.blocks.inline()
	a.back = len(a.block)
	a.hugePage = hugeBlockSize(a.blocks.blockSize, hugePageSize)
	return a
}

// hugeBlockSize rounds the block size up to whole huge pages.
func hugeBlockSize(blockSize, hugePageSize int) int {
	if hugePageSize > 0 && blockSize > hugePageSize {
		return (blockSize + hugePageSize - 1) / hugePageSize * hugePageSize
	}
	return hugePageSize
}

// inline makes the first block.
func (l *blockList) inline() []byte {
	b := Alloc(InlineSize)
	l.owned = append(l.owned, b)
	l.count(InlineSize)
	return b
}

func (l *blockList) count(bytes int) {
	l.memory += bytes
	if l.tracker != nil {
		l.tracker.Allocate(bytes)
	}
}

// irregularBlock makes a block for one request of size bytes.
func (l *blockList) irregularBlock(size int) []byte {
	l.irregular++
	b := Alloc(size)
	l.owned = append(l.owned, b)
	counted := [2]int{cap(b), size}
	syncpoint.ProcessArg("Arena::AllocateNewBlock:0", &counted)
	l.count(counted[0])
	return b
}

// regularBlock makes a block of the arena's size, or of hugeSize huge pages if
// that is not 0 and the system has them.
func (l *blockList) regularBlock(hugeSize int) []byte {
	if hugeSize > 0 {
		if b := l.hugeBlock(hugeSize); b != nil {
			return b
		}
	}
	b := allocBlock(l.blockSize)
	l.regular = append(l.regular, b)
	l.count(cap(b))
	return b
}

// hugeBlock makes a block of huge pages, nil when there are none left.
func (l *blockList) hugeBlock(size int) []byte {
	p := mapHugePages(size)
	if p == nil {
		return nil
	}
	b := unsafe.Slice((*byte)(p), size)
	l.huge = append(l.huge, b)
	l.count(size)
	return b
}

// free gives all blocks back.
func (l *blockList) free() {
	for _, b := range l.owned {
		Free(b)
	}
	for _, b := range l.regular {
		freeBlock(b)
	}
	for _, b := range l.huge {
		unmapPages(unsafe.Pointer(unsafe.SliceData(b)), len(b))
	}
	if l.tracker != nil {
		l.tracker.FreeMem()
	}
	*l = blockList{blockSize: l.blockSize}
}

// number is the count of blocks beside the inline one.
func (l *blockList) number() int { return len(l.owned) - 1 + len(l.regular) + len(l.huge) }

// Allocate gives bytes at any alignment.
func (a *Arena) Allocate(bytes int) []byte {
	if bytes <= a.back-a.front {
		a.back -= bytes
		return a.block[a.back : a.back+bytes : a.back+bytes]
	}
	return a.allocateFallback(bytes, false)
}

// AllocateAligned gives bytes aligned to AlignUnit.
func (a *Arena) AllocateAligned(bytes int) []byte {
	slop := -a.front & (AlignUnit - 1)
	if needed := bytes + slop; needed <= a.back-a.front {
		start := a.front + slop
		a.front += needed
		return a.block[start : start+bytes : start+bytes]
	}
	return a.allocateFallback(bytes, true)
}

// AllocateAlignedHuge is AllocateAligned, in whole huge pages of its own when
// the arena was made with huge pages and the system has enough left; otherwise
// a warning goes to the logger, if there is one.
func (a *Arena) AllocateAlignedHuge(bytes, hugePageSize int, logger rocksdb.Logger) []byte {
	if a.hugePage > 0 && hugePageSize > 0 {
		size := (bytes + hugePageSize - 1) / hugePageSize * hugePageSize
		if b := a.blocks.hugeBlock(size); b != nil {
			return b[:bytes:bytes]
		}
		if logger != nil {
			logger.Logv(rocksdb.WarnLevel, "AllocateAligned fail to allocate huge TLB pages of %d bytes", size)
		}
	}
	return a.AllocateAligned(bytes)
}

func (a *Arena) allocateFallback(bytes int, aligned bool) []byte {
	if bytes > a.blocks.blockSize/4 {
		b := a.blocks.irregularBlock(bytes)
		return b[:bytes:bytes]
	}
	// What is left of the current block is lost.
	b := a.blocks.regularBlock(a.hugePage)
	a.block, a.front, a.back = b, 0, len(b)
	if aligned {
		a.front = bytes
		return b[:bytes:bytes]
	}
	a.back -= bytes
	return b[a.back : a.back+bytes : a.back+bytes]
}

// ApproximateMemoryUsage is the memory handed out, padding included.
func (a *Arena) ApproximateMemoryUsage() int {
	return a.blocks.memory + a.blocks.number()*8 - (a.back - a.front)
}

// MemoryAllocatedBytes is the memory of all blocks.
func (a *Arena) MemoryAllocatedBytes() int { return a.blocks.memory }

// AllocatedAndUnused is what is left of the current block.
func (a *Arena) AllocatedAndUnused() int { return a.back - a.front }

// IrregularBlockNum counts the blocks made for one big request.
func (a *Arena) IrregularBlockNum() int { return a.blocks.irregular }

// BlockSize is the size of the regular blocks.
func (a *Arena) BlockSize() int { return a.blocks.blockSize }

// IsInInlineBlock tells whether the first block is still the only one.
func (a *Arena) IsInInlineBlock() bool { return a.blocks.number() == 0 }

// Free gives all memory back, and tells the tracker. Nothing of the arena may
// be used afterwards.
func (a *Arena) Free() {
	a.blocks.free()
	a.block, a.front, a.back = nil, 0, 0
}

// Port of table/format.{h,cc}: block contents. Differs: what is not borrowed
// lies outside the Go heap and is freed by hand.

package format

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
)

// BlockContents is an uncompressed block's bytes, without trailer, and the
// memory behind them. It is moved, not copied: exactly one holder calls Free.
type BlockContents struct {
	Data []byte

	allocation []byte // nil when Data is borrowed
	allocator  rocksdb.MemoryAllocator
}

// AllocateBlock gives n bytes of allocator, or, where that is nil, of the
// engine's own memory outside the Go heap.
func AllocateBlock(n int, allocator rocksdb.MemoryAllocator) BlockContents {
	c := BlockContents{allocator: allocator}
	if allocator != nil {
		c.allocation = allocator.Allocate(max(n, 1))
	} else {
		c.allocation = memory.Alloc(max(n, 1))
	}
	c.Data = c.allocation[:n]
	return c
}

// BorrowBlock wraps bytes that somebody else keeps.
func BorrowBlock(data []byte) BlockContents { return BlockContents{Data: data} }

// OwnBytes tells whether Free gives memory back.
func (c *BlockContents) OwnBytes() bool { return c.allocation != nil }

// UsableSize is the memory behind the block in bytes; 0 when it is borrowed.
func (c *BlockContents) UsableSize() int {
	if c.allocation == nil {
		return 0
	}
	if c.allocator != nil && c.allocation != nil {
		return c.allocator.UsableSize(c.allocation, len(c.Data))
	}
	return MallocUsableSize(len(c.allocation))
}

// DataUsage is the length of the data of a block with memory of its own, or what
// that memory's allocator says; 0 when it is borrowed.
func (c *BlockContents) DataUsage() int {
	if c.allocation == nil || c.allocator != nil {
		return c.UsableSize()
	}
	return len(c.Data)
}

// MallocUsableSize is what glibc's malloc_usable_size says of an allocation of n
// bytes. Charges and sizes of filters go by it, so that they are upstream's on
// Linux; what is really taken differs little.
func MallocUsableSize(n int) int { return memory.MallocUsableSize(n) }

// ApproximateMemoryUsage is UsableSize and the size of upstream's object.
func (c *BlockContents) ApproximateMemoryUsage() int { return c.UsableSize() + 40 }

// Free gives the memory back; Data is gone then.
func (c *BlockContents) Free() {
	if c.allocation != nil {
		if c.allocator != nil {
			c.allocator.Deallocate(c.allocation)
		} else {
			memory.Free(c.allocation)
		}
	}
	*c = BlockContents{}
}

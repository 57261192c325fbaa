// Port of table/format.cc and table/block_based/block_based_table_reader.cc (blocks
// in the memory of a ReadScopedBlockBufferProvider).

package format

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// Lease is memory that a provider lent. It goes back once the maker of the lease
// and all blocks in it have let go of it, which any goroutine may do.
type Lease struct {
	memory rocksdb.BlockBufferLease
	refs   atomic.Int32
}

// NewLease borrows size bytes or more at a multiple of alignment, a power of two.
// What cannot be used goes back, and is an InvalidArgument.
// Upstream: AllocateReadScopedBlockBuffer.
func NewLease(p rocksdb.ReadScopedBlockBufferProvider, size, alignment int) (*Lease, error) {
	m, err := p.Allocate(size, alignment)
	if err != nil {
		return nil, err
	}
	if m.Release == nil {
		return nil, rocksdb.InvalidArgument("ReadScopedBlockBufferProvider returned an invalid lease: no Release")
	}
	mask := alignment - 1
	switch {
	case len(m.Data) < size:
		err = rocksdb.InvalidArgumentf("ReadScopedBlockBufferProvider returned an invalid lease: %d bytes of %d", len(m.Data), size)
	case (int(uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))))|len(m.Data))&mask != 0:
		err = rocksdb.InvalidArgumentf("ReadScopedBlockBufferProvider returned a misaligned lease, not at a multiple of %d", alignment)
	default:
		l := &Lease{memory: m}
		l.refs.Store(1)
		return l, nil
	}
	m.Release()
	return nil, err
}

// Bytes is the memory, whole.
func (l *Lease) Bytes() []byte { return l.memory.Data }

// Ref takes one more reference, for another Release.
func (l *Lease) Ref() { l.refs.Add(1) }

// Release lets go; the last one gives the memory back.
func (l *Lease) Release() {
	if l.refs.Add(-1) == 0 {
		l.memory.Release()
	}
}

// Block makes a block of bytes in the memory.
func (l *Lease) Block(data []byte) BlockContents {
	l.Ref()
	return BlockContents{Data: data, allocation: data, allocator: (*leaseAllocator)(l)}
}

// leaseAllocator is a Lease as the allocator of the blocks in it.
type leaseAllocator Lease

func (*leaseAllocator) Name() string                      { return "ReadScopedBlockBufferProvider" }
func (*leaseAllocator) Allocate(int) []byte               { return nil }
func (l *leaseAllocator) Deallocate([]byte)               { (*Lease)(l).Release() }
func (*leaseAllocator) UsableSize(_ []byte, size int) int { return size }

// BlockMemory says where the memory of blocks comes from: Provider, where there is
// none Allocator, and without both the engine's own.
type BlockMemory struct {
	Allocator rocksdb.MemoryAllocator
	Provider  rocksdb.ReadScopedBlockBufferProvider
}

// Allocate gives n bytes. Only a provider may refuse.
func (m BlockMemory) Allocate(n int) (BlockContents, error) {
	if m.Provider == nil {
		return AllocateBlock(n, m.Allocator), nil
	}
	l, err := NewLease(m.Provider, n, 1)
	if err != nil {
		return BlockContents{}, err
	}
	defer l.Release()
	return l.Block(l.Bytes()[:n]), nil
}

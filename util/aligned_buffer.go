// Port of util/aligned_buffer.h. Differs: memory is the Go heap's; GrowableBuffer
// is a plain slice in Go.

package util

import (
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// TruncateToPageBoundary rounds s down to a multiple of pageSize, a power of
// two.
func TruncateToPageBoundary(pageSize, s uint64) uint64 { return s &^ (pageSize - 1) }

// Roundup rounds x up to a multiple of y.
func Roundup(x, y uint64) uint64 { return (x + y - 1) / y * y }

// Rounddown rounds x down to a multiple of y.
func Rounddown(x, y uint64) uint64 { return x / y * y }

// IsAlignedOffset tells whether n is a multiple of alignment.
func IsAlignedOffset(n uint64, alignment int) bool { return n%uint64(alignment) == 0 }

// IsAlignedAddress tells whether b starts at a multiple of alignment.
func IsAlignedAddress(b []byte, alignment int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(alignment) == 0
}

// AlignedSlice gives n zero bytes that start at a multiple of alignment, a power
// of two.
func AlignedSlice(n, alignment int) []byte {
	raw := make([]byte, n+alignment-1)
	skip := 0
	if past := int(uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & uintptr(alignment-1)); past != 0 {
		skip = alignment - past
	}
	return raw[skip : skip+n : skip+n]
}

// AlignedBuffer is a buffer whose start, capacity and, after padding, size are
// multiples of an alignment, for direct I/O. Not safe for concurrent use.
type AlignedBuffer struct {
	alignment int
	buf       []byte // length is the current size, capacity the buffer's
}

// SetAlignment sets the alignment, a power of two, for the next allocation.
func (b *AlignedBuffer) SetAlignment(alignment int) { b.alignment = alignment }

// Alignment is the alignment.
func (b *AlignedBuffer) Alignment() int { return b.alignment }

// Capacity is the number of bytes it can hold.
func (b *AlignedBuffer) Capacity() int { return cap(b.buf) }

// CurrentSize is the number of bytes it holds.
func (b *AlignedBuffer) CurrentSize() int { return len(b.buf) }

// BufferStart gives the bytes it holds; they change with it.
func (b *AlignedBuffer) BufferStart() []byte { return b.buf }

// Destination gives the room behind the bytes it holds; SetSize counts what was
// put there.
func (b *AlignedBuffer) Destination() []byte { return b.buf[len(b.buf):cap(b.buf)] }

// SetSize sets the number of bytes it holds, at most the capacity.
func (b *AlignedBuffer) SetSize(n int) { b.buf = b.buf[:n] }

// Clear empties it.
func (b *AlignedBuffer) Clear() { b.buf = b.buf[:0] }

// Release gives the memory to the caller and leaves a buffer of no capacity.
func (b *AlignedBuffer) Release() []byte {
	buf := b.buf
	b.buf = nil
	return buf
}

// SetBuffer takes over memory that holds data already; it is not aligned.
func (b *AlignedBuffer) SetBuffer(data []byte) {
	b.alignment = 1
	b.buf = data[:len(data):len(data)]
}

// AllocateNewBuffer makes room for requestedCapacity bytes, rounded up, and
// empties the buffer.
func (b *AlignedBuffer) AllocateNewBuffer(requestedCapacity int) {
	capacity := int(Roundup(uint64(requestedCapacity), uint64(b.alignment)))
	b.buf = AlignedSlice(capacity, b.alignment)[:0]
}

// ReallocateKeeping is AllocateNewBuffer that keeps n bytes from offset on (all
// bytes if n is 0). It does nothing if they would not fit.
func (b *AlignedBuffer) ReallocateKeeping(requestedCapacity, offset, n int) {
	if n == 0 {
		n = len(b.buf)
	}
	if requestedCapacity < n {
		return
	}
	old := b.buf
	b.AllocateNewBuffer(requestedCapacity)
	b.buf = append(b.buf, old[offset:offset+n]...)
}

// AllocateNewBufferFrom takes the memory from allocator, which gives at least
// size bytes; start and length must be aligned.
func (b *AlignedBuffer) AllocateNewBufferFrom(requestedCapacity int, allocator func(size, alignment int) ([]byte, error)) error {
	if allocator == nil {
		b.AllocateNewBuffer(requestedCapacity)
		return nil
	}
	size := int(Roundup(uint64(requestedCapacity), uint64(b.alignment)))
	mem, err := allocator(size, b.alignment)
	switch {
	case err != nil:
		return err
	case mem == nil:
		return rocksdb.InvalidArgument("AlignedBuffer allocator returned null data")
	case len(mem) < size:
		return rocksdb.InvalidArgument("AlignedBuffer allocator returned short buffer")
	case !IsAlignedAddress(mem, b.alignment):
		return rocksdb.InvalidArgument("AlignedBuffer allocator returned misaligned buffer")
	case !IsAlignedOffset(uint64(len(mem)), b.alignment):
		return rocksdb.InvalidArgument("AlignedBuffer allocator returned misaligned size")
	}
	b.buf = mem[:0:len(mem)]
	return nil
}

// Append copies what fits of src to the end and gives the number of bytes.
func (b *AlignedBuffer) Append(src []byte) int {
	n := min(len(src), cap(b.buf)-len(b.buf))
	b.buf = append(b.buf, src[:n]...)
	return n
}

// Read copies bytes from offset on to dest and gives their number.
func (b *AlignedBuffer) Read(dest []byte, offset int) int {
	if offset >= len(b.buf) {
		return 0
	}
	return copy(dest, b.buf[offset:])
}

// PadToAlignmentWith fills up to a multiple of the alignment.
func (b *AlignedBuffer) PadToAlignmentWith(padding byte) {
	b.PadWith(int(Roundup(uint64(len(b.buf)), uint64(b.alignment)))-len(b.buf), padding)
}

// PadWith appends n bytes, for which there must be room.
func (b *AlignedBuffer) PadWith(n int, padding byte) {
	room := b.Destination()[:n]
	for i := range room {
		room[i] = padding
	}
	b.buf = b.buf[:len(b.buf)+n]
}

// RefitTail moves the n bytes from offset on to the start and drops the rest:
// what a direct write left over, with its padding.
func (b *AlignedBuffer) RefitTail(offset, n int) {
	whole := b.buf[:cap(b.buf)]
	copy(whole, whole[offset:offset+n])
	b.buf = whole[:n]
}

// Port of util/aligned_buffer.h (what this package needs of it).

package file

import (
	"sync"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// newAligned makes a slice of n bytes whose address is a multiple of align, a
// power of two.
func newAligned(n, align int) []byte {
	if align <= 1 {
		return make([]byte, n)
	}
	b := make([]byte, n+align)
	skip := 0
	if rest := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1)); rest != 0 {
		skip = align - rest
	}
	return b[skip : skip+n : skip+n]
}

func isAligned(b []byte, align int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))&uintptr(align-1) == 0
}

// roundDown and roundUp go to a multiple of align, a power of two.
func roundDown(v uint64, align int) uint64 { return v &^ uint64(align-1) }

func roundUp(v uint64, align int) uint64 { return (v + uint64(align-1)) &^ uint64(align-1) }

// AlignedBuf owns the memory that direct reads go to. It may be used again for
// a later read, which overwrites it. The zero value is ready.
type AlignedBuf struct {
	// Alloc, if not nil, gives the memory: size bytes or more at a multiple of
	// alignment, owned by whoever set it. It is then asked at each read.
	Alloc func(size, alignment int) ([]byte, error)

	buf []byte
}

// Release forgets the memory, which whoever holds a result of it keeps.
func (a *AlignedBuf) Release() { a.buf = nil }

// Trim forgets memory of more than n bytes.
func (a *AlignedBuf) Trim(n int) {
	if cap(a.buf) > n {
		a.buf = nil
	}
}

// get returns n bytes of aligned memory.
func (a *AlignedBuf) get(n, align int) ([]byte, error) {
	if a.Alloc != nil {
		b, err := a.Alloc(n, align)
		if err != nil {
			return nil, err
		}
		if len(b) < n || !isAligned(b, align) {
			return nil, rocksdb.InvalidArgumentf("allocator gave %d bytes, want %d aligned to %d", len(b), n, align)
		}
		a.buf = b
	} else if cap(a.buf) < n || !isAligned(a.buf, align) {
		a.buf = newAligned(n, align)
	}
	return a.buf[:n], nil
}

// alignedPool lends memory to direct reads that copy.
var alignedPool = sync.Pool{New: func() any { return new(AlignedBuf) }}

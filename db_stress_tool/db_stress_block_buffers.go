// Port of db_stress_tool/db_stress_test_base.cc (StressReadScopedBlockBufferProvider).

package dbstresstool

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// blockBuffers lends memory to a worker's scans and checks how it is asked and
// that all comes back.
type blockBuffers struct {
	fail func(text string) // of an invariant

	mu   sync.Mutex
	live int
}

// Allocate implements rocksdb.ReadScopedBlockBufferProvider.
func (p *blockBuffers) Allocate(size, alignment int) (rocksdb.BlockBufferLease, error) {
	if size <= 0 || alignment <= 0 || alignment&(alignment-1) != 0 {
		p.fail(fmt.Sprintf("%d bytes are asked for, at a multiple of %d", size, alignment))
		return rocksdb.BlockBufferLease{}, rocksdb.InvalidArgument("size or alignment")
	}
	n := (size + alignment - 1) &^ (alignment - 1)
	b := make([]byte, n+alignment)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (alignment - 1)
	p.mu.Lock()
	p.live++
	p.mu.Unlock()
	var released atomic.Bool
	return rocksdb.BlockBufferLease{Data: b[skip : skip+n : skip+n], Release: func() {
		if released.Swap(true) {
			p.fail("memory comes back twice")
			return
		}
		// Whoever still reads a block in it is to see.
		for i := range b {
			b[i] = 0xdb
		}
		p.mu.Lock()
		p.live--
		p.mu.Unlock()
	}}, nil
}

// close checks that nothing is lent any more.
func (p *blockBuffers) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live != 0 {
		p.fail(fmt.Sprintf("%d pieces of memory did not come back", p.live))
	}
}

// Port of util/dynamic_bloom.{h,cc}. Differs: memory comes from a function, not
// an Allocator.

package util

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// DynamicBloom is the memtable's Bloom filter: a number of bits set in advance,
// never written to disk. Queries may run beside each other and beside adding;
// adding beside adding needs the Concurrently forms. A key that another
// goroutine is just adding may be missed; the memtable's own publication of the
// entry orders that.
//
// Each step sets two bits of one 64-bit word; the steps' words are neighbours.
type DynamicBloom struct {
	words           []uint64
	numDoubleProbes int
}

// NewDynamicBloom makes a filter of at least totalBits bits (> 0). numProbes is
// even and at most 10. alloc gives memory of the asked number of bytes, aligned
// to 8, that lives as long as the filter; nil takes it from the Go heap.
func NewDynamicBloom(totalBits, numProbes uint32, alloc func(bytes int) []byte) *DynamicBloom {
	b := &DynamicBloom{numDoubleProbes: max(1, int(numProbes+1)/2)}
	// With a power of two of words a block, word^i stays in the block.
	blockWords := 1
	for blockWords < b.numDoubleProbes {
		blockWords *= 2
	}
	blocks := (max(1, int(totalBits)) + blockWords*64 - 1) / (blockWords * 64)
	n := blocks * blockWords
	if alloc == nil {
		b.words = make([]uint64, n)
		return b
	}
	// Blocks start at a multiple of their size, so as not to straddle lines.
	raw := alloc(8 * (n + blockWords - 1))
	skip := 0
	if past := int(uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % uintptr(8*blockWords)); past != 0 {
		skip = 8*blockWords - past
	}
	b.words = unsafe.Slice((*uint64)(unsafe.Pointer(&raw[skip])), n)
	clear(b.words)
	return b
}

// Add adds a key; no other adding may run.
func (b *DynamicBloom) Add(key []byte) { b.AddHash(BloomHash(key)) }

// AddConcurrently adds a key.
func (b *DynamicBloom) AddConcurrently(key []byte) { b.AddHashConcurrently(BloomHash(key)) }

const dynamicBloomSpread = 0x9e3779b97f4a7c13

func dynamicBloomMask(h uint64) uint64 { return 1<<(h&63) | 1<<(h>>6&63) }

// AddHash adds a key by its BloomHash; no other adding may run.
func (b *DynamicBloom) AddHash(h32 uint32) {
	a := FastRange32(h32, uint32(len(b.words)))
	h := dynamicBloomSpread * uint64(h32)
	for i := 0; i < b.numDoubleProbes; i++ {
		w := &b.words[a^uint32(i)]
		atomic.StoreUint64(w, atomic.LoadUint64(w)|dynamicBloomMask(h))
		h = bits.RotateLeft64(h, -12)
	}
}

// AddHashConcurrently adds a key by its BloomHash.
func (b *DynamicBloom) AddHashConcurrently(h32 uint32) {
	a := FastRange32(h32, uint32(len(b.words)))
	h := dynamicBloomSpread * uint64(h32)
	for i := 0; i < b.numDoubleProbes; i++ {
		w, mask := &b.words[a^uint32(i)], dynamicBloomMask(h)
		if atomic.LoadUint64(w)&mask != mask {
			atomic.OrUint64(w, mask)
		}
		h = bits.RotateLeft64(h, -12)
	}
}

// MayContain tells whether key may have been added.
func (b *DynamicBloom) MayContain(key []byte) bool { return b.MayContainHash(BloomHash(key)) }

// MayContainAll answers for several keys; mayMatch is as long as keys.
func (b *DynamicBloom) MayContainAll(keys [][]byte, mayMatch []bool) {
	for i, k := range keys {
		mayMatch[i] = b.MayContain(k)
	}
}

// MayContainHash is MayContain by the key's BloomHash.
func (b *DynamicBloom) MayContainHash(h32 uint32) bool {
	a := FastRange32(h32, uint32(len(b.words)))
	h := dynamicBloomSpread * uint64(h32)
	for i := 0; i < b.numDoubleProbes; i++ {
		mask := dynamicBloomMask(h)
		if atomic.LoadUint64(&b.words[a^uint32(i)])&mask != mask {
			return false
		}
		h = bits.RotateLeft64(h, -12)
	}
	return true
}

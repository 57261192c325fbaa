// Port of util/dynamic_bloom_test.cc.

package util_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/util"
)

func checkContains(t *testing.T, b *util.DynamicBloom, want bool, keys ...string) {
	t.Helper()
	all, may := make([][]byte, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		all[i] = []byte(k)
		if got := b.MayContain(all[i]); got != want {
			t.Errorf("MayContain(%q) = %v", k, got)
		}
	}
	b.MayContainAll(all, may)
	for i, got := range may {
		if got != want {
			t.Errorf("MayContainAll: %q is %v", keys[i], got)
		}
	}
}

// smallBlooms makes the two sizes that small tests use.
func smallBlooms() []*util.DynamicBloom {
	return []*util.DynamicBloom{util.NewDynamicBloom(100, 2, nil), util.NewDynamicBloom(64*8*2-1, 2, nil)}
}

func TestDynamicBloomTest_EmptyFilter(t *testing.T) {
	for _, b := range smallBlooms() {
		checkContains(t, b, false, "hello", "world")
	}
}

func TestDynamicBloomTest_Small(t *testing.T) {
	for _, b := range smallBlooms() {
		b.Add([]byte("hello"))
		b.Add([]byte("world"))
		checkContains(t, b, true, "hello", "world")
		checkContains(t, b, false, "x", "foo")
	}
}

func TestDynamicBloomTest_SmallConcurrentAdd(t *testing.T) {
	for _, b := range smallBlooms() {
		b.AddConcurrently([]byte("hello"))
		b.AddConcurrently([]byte("world"))
		checkContains(t, b, true, "hello", "world")
		checkContains(t, b, false, "x", "foo")
	}
}

// bloomKey writes a key for i into buf: i, and with nonseq a multiple of it.
func bloomKey(buf *[16]byte, i uint64, nonseq bool) []byte {
	util.EncodeFixed64(buf[:], i)
	if !nonseq {
		return buf[:8]
	}
	util.EncodeFixed64(buf[8:], i*123)
	return buf[:]
}

func nextBloomNum(n uint32) uint32 {
	switch {
	case n < 10:
		return n + 1
	case n < 100:
		return n + 10
	case n < 1000:
		return n + 100
	}
	return n * 26 / 10
}

func TestDynamicBloomTest_VaryingLengths(t *testing.T) {
	var buf [16]byte
	mediocre, good := 0, 0
	for _, nonseq := range []bool{false, true} {
		for num := uint32(1); num <= 400000; num = nextBloomNum(num) {
			b := util.NewDynamicBloom(num*10, 6, nil)
			for i := uint64(0); i < uint64(num); i++ {
				b.Add(bloomKey(&buf, i, nonseq))
			}
			for i := uint64(0); i < uint64(num); i++ {
				if !b.MayContain(bloomKey(&buf, i, nonseq)) {
					t.Fatalf("%d keys: %d is missing", num, i)
				}
			}
			positives := 0
			for i := uint64(0); i < 30000; i++ {
				if b.MayContain(bloomKey(&buf, i+1000000000, nonseq)) {
					positives++
				}
			}
			if float64(positives)/30000 > 0.0125 {
				mediocre++
			} else {
				good++
			}
		}
	}
	if mediocre > good/25 {
		t.Errorf("%d mediocre filters, %d good", mediocre, good)
	}
}

func TestDynamicBloomTest_concurrent_with_perf(t *testing.T) {
	const threads, numKeys = 4, 512 * 1024
	b := util.NewDynamicBloom(numKeys*10, 6, nil)
	each := func(from, to uint64, do func(key []byte)) {
		var wg sync.WaitGroup
		for th := uint64(0); th < threads; th++ {
			wg.Go(func() {
				var buf [16]byte
				for i := from + th; i <= to; i += threads {
					do(bloomKey(&buf, i, false))
				}
			})
		}
		wg.Wait()
	}
	each(1, numKeys, b.AddConcurrently)
	var missing, positives atomic.Uint64
	each(1, numKeys, func(key []byte) {
		if !b.MayContain(key) {
			missing.Add(1)
		}
	})
	each(numKeys+1, 2*numKeys, func(key []byte) {
		if b.MayContain(key) {
			positives.Add(1)
		}
	})
	if missing.Load() != 0 || positives.Load() > numKeys/50 {
		t.Errorf("%d missing, %d false positives", missing.Load(), positives.Load())
	}
}

// TestDynamicBloomAlloc has no upstream twin: memory from elsewhere, not aligned
// and not clean.
func TestDynamicBloomAlloc(t *testing.T) {
	var asked int
	b := util.NewDynamicBloom(5000, 6, func(n int) []byte {
		asked = n
		words := make([]uint64, n/8+2)
		for i := range words {
			words[i] = ^uint64(0)
		}
		return unsafe.Slice((*byte)(unsafe.Pointer(&words[1])), n)
	})
	if asked < 5000/8 {
		t.Errorf("asked for %d bytes", asked)
	}
	checkContains(t, b, false, "a", "b", "c")
	b.Add([]byte("a"))
	checkContains(t, b, true, "a")
	checkContains(t, b, false, "b", "c")
}

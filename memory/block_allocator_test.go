// No upstream twin: tests block_allocator.go, which upstream leaves to malloc.

package memory

import (
	"math/rand"
	"sync"
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/internal/invariants"
)

func TestSizeClasses(t *testing.T) {
	last := -1
	for n := 1; n <= maxSmall; n++ {
		c := classOf(n)
		size := classSize(c)
		if c < last || c > last+1 || c >= numClasses {
			t.Fatalf("size %d: class %d after %d", n, c, last)
		}
		last = c
		if size < n || size%16 != 0 || n > 128 && size-n > n/8 {
			t.Fatalf("size %d: slot of %d", n, size)
		}
		if classOf(size) != c {
			t.Fatalf("slot size %d of class %d is in class %d", size, c, classOf(size))
		}
	}
	if last != numClasses-1 {
		t.Fatalf("last class is %d", last)
	}
}

// TestAllocFree allocates and frees in random order from several goroutines,
// each block filled with its owner's pattern.
func TestAllocFree(t *testing.T) {
	before := GetStats()
	var wg sync.WaitGroup
	handed := make(chan []byte, 64) // blocks freed by another goroutine
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(int64(g)))
			var live [][]byte
			check := func(b []byte) {
				for _, c := range b[1:] {
					if c != b[0] {
						t.Error("block was overwritten")
						return
					}
				}
			}
			for range 5000 {
				if len(live) > 0 && rnd.Intn(2) == 0 {
					i := rnd.Intn(len(live))
					b := live[i]
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
					check(b)
					if rnd.Intn(4) == 0 {
						select {
						case handed <- b:
							continue
						default:
						}
					}
					Free(b)
					continue
				}
				n := 1 + rnd.Intn(9000)
				if rnd.Intn(100) == 0 {
					n = 1 + rnd.Intn(300000)
				}
				b := Alloc(n)
				if len(b) != n || offHeap && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%16 != 0 {
					t.Errorf("bad block for %d", n)
				}
				pattern := byte(rnd.Intn(128))
				for i := range b {
					b[i] = pattern
				}
				live = append(live, b)
				select {
				case other := <-handed:
					check(other)
					Free(other)
				default:
				}
			}
			for _, b := range live {
				check(b)
				Free(b)
			}
		}()
	}
	wg.Wait()
	close(handed)
	for b := range handed {
		Free(b)
	}
	after := GetStats()
	if got := (after.Allocs - after.Frees) - (before.Allocs - before.Frees); got != 0 {
		t.Fatalf("%d blocks leaked", got)
	}
	if after.InUse != before.InUse {
		t.Fatalf("in use: %d, before %d", after.InUse, before.InUse)
	}
}

func TestFreedSpansAreKeptToAFloor(t *testing.T) {
	if !offHeap {
		t.Log("blocks are Go memory in this build: only the counters are checked")
	}
	var blocks [][]byte
	for range 64 * spanSize / 4096 {
		blocks = append(blocks, Alloc(4096))
	}
	if m := GetStats().Mapped; offHeap && m < 64*spanSize {
		t.Fatalf("%d bytes mapped for %d", m, 64*spanSize)
	}
	for _, b := range blocks {
		Free(b)
	}
	if m := GetStats().Mapped; offHeap && m > 8*spanSize+largeFloor+regionFloor {
		t.Fatalf("%d bytes still in use", m)
	}
}

// TestArenaBlocksAreReused fills arenas one after the other: their regular
// blocks come back, and stay within the floor.
func TestArenaBlocksAreReused(t *testing.T) {
	before := GetStats()
	for round := range 20 {
		a := NewConcurrentArena(1<<20, nil, 0)
		for range 16 << 20 / 1024 {
			b := a.Allocate(1024)
			b[0], b[1023] = byte(round), byte(round)
		}
		if got := a.MemoryAllocatedBytes(); got < 16<<20 || got > 18<<20 {
			t.Fatalf("%d bytes for 16 MiB", got)
		}
		a.Free()
	}
	// More than the floor at once.
	var arenas []*ConcurrentArena
	for range 3 {
		a := NewConcurrentArena(4<<20, nil, 0)
		for range 10 {
			a.Allocate(1 << 20)[0] = 1
			a.Allocate(3 << 20)[0] = 1
		}
		arenas = append(arenas, a)
	}
	for _, a := range arenas {
		a.Free()
	}
	after := GetStats()
	if after.InUse != before.InUse || after.Allocs-after.Frees != before.Allocs-before.Frees {
		t.Fatalf("in use %d, before %d", after.InUse, before.InUse)
	}
	if grown := after.Mapped - before.Mapped; grown > regionFloor+largeFloor+8*spanSize {
		t.Fatalf("%d bytes more are kept", grown)
	}
}

func TestInvariantsFindMisuse(t *testing.T) {
	if !invariants.Enabled {
		b := Alloc(100)
		Free(b)
		return // the checks exist under the tag only
	}
	mustPanic := func(name string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s went unnoticed", name)
			}
		}()
		f()
	}
	keep := Alloc(5000) // so that the span stays with its class
	defer Free(keep)
	b := Alloc(5000)
	Free(b)
	mustPanic("double free", func() { Free(b) })
	if offHeap {
		b[2000] = 1
		mustPanic("write after free", func() { Alloc(5000) })
	}
}

func TestConcurrentArena(t *testing.T) {
	a := NewConcurrentArena(64<<10, nil, 0)
	var wg sync.WaitGroup
	blocks := make([][][]byte, 4)
	for g := range blocks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(int64(g)))
			for range 20000 {
				n := 1 + rnd.Intn(200)
				if rnd.Intn(1000) == 0 {
					n = 20000 + rnd.Intn(1000)
				}
				b := a.Allocate(n)
				for i := range b {
					b[i] = byte(g)
				}
				blocks[g] = append(blocks[g], b)
			}
		}()
	}
	wg.Wait()
	total := 0
	for g, list := range blocks {
		for _, b := range list {
			total += len(b)
			for _, c := range b {
				if c != byte(g) {
					t.Fatal("blocks overlap")
				}
			}
		}
	}
	usage := a.ApproximateMemoryUsage()
	if usage < total || usage > total+total/5 {
		t.Fatalf("usage %d of %d bytes", usage, total)
	}
	if a.IrregularBlockNum() == 0 || a.MemoryAllocatedBytes() < usage-int(a.number.Load())*8 {
		t.Fatalf("irregular %d, allocated %d", a.IrregularBlockNum(), a.MemoryAllocatedBytes())
	}
	a.Free()
}

func BenchmarkAllocFree4K(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Free(Alloc(4096 + 5))
	}
}

func BenchmarkConcurrentArena(b *testing.B) {
	a := NewConcurrentArena(1<<20, nil, 0)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.AllocatePointer(64)
		if n++; n == 1<<20 {
			n = 0
			a.Free()
			a = NewConcurrentArena(1<<20, nil, 0)
		}
	}
	a.Free()
}

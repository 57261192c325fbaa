// Port of memory/arena_test.cc. Differs: ArenaTest.UnmappedAllocation and
// MmapTest look at pages through mincore-free means: getrusage, on Linux only
// (arena_linux_test.go).

package memory

import (
	"math/rand"
	"testing"
)

const hugePageSizeForTest = 2 << 20

func forBothPageSizes(t *testing.T, f func(t *testing.T, hugePageSize int)) {
	t.Run("huge_page_size=0", func(t *testing.T) { f(t, 0) })
	t.Run("huge_page_size=2MiB", func(t *testing.T) { f(t, hugePageSizeForTest) })
}

// checkMemoryAllocated allows what the allocator rounds up, a tenth.
func checkMemoryAllocated(allocated, expected int) bool {
	return allocated >= expected && allocated <= expected+expected/10
}

func TestArenaTest_Empty(t *testing.T) {
	a := NewArena(MinBlockSize, nil, 0)
	if !a.IsInInlineBlock() || a.ApproximateMemoryUsage() != 0 {
		t.Fatalf("empty arena: usage %d", a.ApproximateMemoryUsage())
	}
	a.Free()
}

func TestArenaTest_MemoryAllocatedBytes(t *testing.T) {
	forBothPageSizes(t, func(t *testing.T, huge int) {
		const n, blockSize = 17, 32 * 1024
		a := NewArena(blockSize, nil, huge)
		defer a.Free()
		// More than a quarter of a block: a block of its own each.
		for range n {
			a.Allocate(12 * 1024)
		}
		expected := 12*1024*n + InlineSize
		if got := a.MemoryAllocatedBytes(); !checkMemoryAllocated(got, expected) {
			t.Fatalf("irregular blocks: %d, want about %d", got, expected)
		}
		a.Allocate(InlineSize - 1)
		// Less: one regular block for all of them.
		for range n {
			a.Allocate(99)
		}
		got := a.MemoryAllocatedBytes()
		if huge > 0 {
			if !checkMemoryAllocated(got, expected+blockSize) && !checkMemoryAllocated(got, expected+huge) {
				t.Fatalf("regular block: %d over %d", got, expected)
			}
		} else if !checkMemoryAllocated(got, expected+blockSize) {
			t.Fatalf("regular block: %d, want about %d", got, expected+blockSize)
		}
		// More than a block.
		expected = got + 8<<20*n
		for range n {
			a.Allocate(8 << 20)
		}
		if got := a.MemoryAllocatedBytes(); !checkMemoryAllocated(got, expected) {
			t.Fatalf("big blocks: %d, want about %d", got, expected)
		}
	})
}

func TestArenaTest_ApproximateMemoryUsage(t *testing.T) {
	forBothPageSizes(t, func(t *testing.T, huge int) {
		const blockSize = 4096
		const entrySize = blockSize / 8
		a := NewArena(blockSize, nil, huge)
		defer a.Free()
		if a.ApproximateMemoryUsage() != 0 {
			t.Fatalf("usage of an empty arena: %d", a.ApproximateMemoryUsage())
		}
		for _, n := range []int{AlignUnit, InlineSize/2 - 2*AlignUnit, InlineSize / 2} {
			if !a.IsInInlineBlock() {
				t.Fatal("left the inline block early")
			}
			a.AllocateAligned(n)
		}
		if !a.IsInInlineBlock() || a.ApproximateMemoryUsage() != InlineSize-AlignUnit {
			t.Fatalf("inline: usage %d", a.ApproximateMemoryUsage())
		}
		if !checkMemoryAllocated(a.MemoryAllocatedBytes(), InlineSize) {
			t.Fatalf("inline: allocated %d", a.MemoryAllocatedBytes())
		}
		a.AllocateAligned(entrySize)
		if a.IsInInlineBlock() {
			t.Fatal("still in the inline block")
		}
		mem := a.MemoryAllocatedBytes()
		if !checkMemoryAllocated(mem, blockSize+InlineSize) &&
			(huge == 0 || !checkMemoryAllocated(mem, huge+InlineSize)) {
			t.Fatalf("first block: allocated %d", mem)
		}
		usage := a.ApproximateMemoryUsage()
		if usage >= mem {
			t.Fatalf("usage %d not below allocated %d", usage, mem)
		}
		for i := 1; i < blockSize/entrySize; i++ {
			a.AllocateAligned(entrySize)
			if a.MemoryAllocatedBytes() != mem || a.ApproximateMemoryUsage() != usage+entrySize {
				t.Fatalf("entry %d: allocated %d, usage %d", i, a.MemoryAllocatedBytes(), a.ApproximateMemoryUsage())
			}
			usage += entrySize
		}
		if usage <= mem && (huge == 0 || usage+huge-blockSize != mem) {
			t.Fatalf("full block: usage %d, allocated %d", usage, mem)
		}
	})
}

func TestArenaTest_Simple(t *testing.T) {
	forBothPageSizes(t, func(t *testing.T, huge int) {
		a := NewArena(MinBlockSize, nil, huge)
		defer a.Free()
		testArenaSimple(t, a, a.ApproximateMemoryUsage)
	})
	t.Run("ConcurrentArena", func(t *testing.T) {
		a := NewConcurrentArena(MinBlockSize, nil, 0)
		defer a.Free()
		testArenaSimple(t, a, nil)
	})
}

// testArenaSimple fills blocks of all sizes and looks whether they overlap.
func testArenaSimple(t *testing.T, a Allocator, usage func() int) {
	const n = 100000
	rnd := rand.New(rand.NewSource(301))
	allocated := make([][]byte, 0, n)
	total := 0
	for i := range n {
		var s int
		switch {
		case i%(n/10) == 0:
			s = i
		case rnd.Intn(4000) == 0:
			s = rnd.Intn(6000)
		case rnd.Intn(10) == 0:
			s = rnd.Intn(100)
		default:
			s = rnd.Intn(20)
		}
		s = max(s, 1)
		var b []byte
		if rnd.Intn(10) == 0 {
			b = a.AllocateAligned(s)
		} else {
			b = a.Allocate(s)
		}
		if len(b) != s {
			t.Fatalf("%d bytes instead of %d", len(b), s)
		}
		for j := range b {
			b[j] = byte(i)
		}
		total += s
		allocated = append(allocated, b)
		if usage == nil {
			continue
		}
		if u := usage(); u < total || i > n/10 && float64(u) > float64(total)*1.10 {
			t.Fatalf("after %d: usage %d of %d bytes", i, u, total)
		}
	}
	for i, b := range allocated {
		for _, c := range b {
			if c != byte(i) {
				t.Fatalf("block %d was overwritten", i)
			}
		}
	}
}

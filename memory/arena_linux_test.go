//go:build linux && !race

// Port of memory/arena_test.cc, the cases that count page faults.

package memory

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minorFaults gives the process's minor page faults so far.
func minorFaults(t *testing.T) int64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt
}

func TestMmapTest_AllocateLazyZeroed(t *testing.T) {
	const length = (1234567 + pageSize - 1) &^ (pageSize - 1)
	p := mapPages(length)
	if p == nil {
		t.Fatal("mapPages failed")
	}
	defer unmapPages(p, length)
	words := unsafe.Slice((*uint64)(p), length/8)
	half := len(words) / 2
	for _, part := range [][2]int{{0, half}, {half, len(words)}} {
		before := minorFaults(t)
		for i := part[0]; i < part[1]; i++ {
			if words[i] != 0 {
				t.Fatalf("word %d is not zero", i)
			}
			words[i] = uint64(i)
		}
		if faults := minorFaults(t) - before; faults < length/2/pageSize {
			t.Fatalf("%d faults for half of %d bytes: not lazy", faults, length)
		}
	}
	for i, w := range words {
		if w != uint64(i) {
			t.Fatalf("word %d reads %d", i, w)
		}
	}
}

func TestArenaTest_UnmappedAllocation(t *testing.T) {
	const blockSize = 1 << 20
	a := NewArena(blockSize, nil, 0)
	defer a.Free()
	// Blocks kept from before may come first.
	for i := 0; ; i++ {
		b := a.Allocate(blockSize)
		before := minorFaults(t)
		for j := range b {
			b[j] = byte(j)
		}
		if minorFaults(t)-before >= blockSize*3/4/pageSize {
			return
		}
		if i == 1000 {
			t.Fatal("no block with unmapped pages came")
		}
	}
}

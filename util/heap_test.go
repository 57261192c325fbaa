// Port of util/heap_test.cc. Differs: the reference is a sorted slice.

package util_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func TestHeapTest_Test(t *testing.T) {
	for _, c := range []struct {
		name     string
		maxSize  int
		maxValue uint64
		seed     uint64
	}{
		{"Basic", 1000, 3000, 0x1b575cf05b708945},
		{"SmallValues", 100, 10, 0x5ae213f7bd5dccd0},
		{"SmallHeap", 10, math.MaxUint64, 0x3e1fa8f4d01707cf},
		{"TwoElementHeap", 2, 5, 0x4b5e13ea988c6abc},
		{"OneElementHeap", 1, 3, 0x176a1019ab0b612e},
	} {
		t.Run(c.name, func(t *testing.T) { testHeap(t, c.maxSize, c.maxValue, c.seed) })
	}
}

func testHeap(t *testing.T, maxSize int, maxValue, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	value := func() uint64 {
		if maxValue == math.MaxUint64 {
			return rng.Uint64()
		}
		return rng.Uint64N(maxValue + 1)
	}
	h := util.NewBinaryHeap(func(a, b uint64) bool { return a < b })
	var ref []uint64 // sorted, the greatest last
	push := func(v uint64) {
		i, _ := slices.BinarySearch(ref, v)
		ref = slices.Insert(ref, i, v)
	}
	drains, draining := 0, false
	for i := 0; i < 100000; i++ {
		if len(ref) == 0 {
			draining = false
		}
		switch {
		case !draining && (len(ref) == 0 || rng.Float64() < 0.4):
			v := value()
			h.Push(v)
			push(v)
			if len(ref) == maxSize {
				draining = true
				drains++
			}
		case rng.Float64() < 0.5:
			v := value()
			h.ReplaceTop(v)
			ref = ref[:len(ref)-1]
			push(v)
		default:
			h.Pop()
			ref = ref[:len(ref)-1]
		}
		if h.Size() != len(ref) || h.Empty() != (len(ref) == 0) {
			t.Fatalf("step %d: size %d, want %d", i, h.Size(), len(ref))
		}
		if len(ref) > 0 && h.Top() != ref[len(ref)-1] {
			t.Fatalf("step %d: top %d, want %d", i, h.Top(), ref[len(ref)-1])
		}
	}
	if drains == 0 {
		t.Error("never full")
	}
	h.Clear()
	if !h.Empty() {
		t.Error("not empty after Clear")
	}
}

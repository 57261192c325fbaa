// Port of util/random_test.cc.

package util_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func TestRandomTest_Uniform(t *testing.T) {
	const average = 20
	for _, seed := range []uint32{0, 1, 2, 37, 4096} {
		r := util.NewRandom(seed)
		for _, n := range []int{1, 2, 8, 12, 100} {
			counts := make([]int, n)
			for i := 0; i < n*average; i++ {
				counts[r.Uniform(n)]++
			}
			variance := int(math.Sqrt(float64(n))*2 + 4)
			for i, c := range counts {
				if c < max(1, average-variance) || c > average+variance+1 {
					t.Errorf("seed %d range %d: %d came %d times", seed, n, i, c)
				}
			}
		}
	}
}

func checkOneIn(t *testing.T, n int, oneIn func(int) bool) {
	t.Helper()
	const average = 100
	count := 0
	for i := 0; i < average*n; i++ {
		if oneIn(n) {
			count++
		}
	}
	low, high := average-15, average+15
	switch {
	case n < 1:
		low, high = 0, 0
	case n == 1:
		low, high = average, average
	}
	if count < low || count > high {
		t.Errorf("one in %d: %d", n, count)
	}
}

func TestRandomTest_OneIn(t *testing.T) {
	r := util.NewRandom(42)
	for _, n := range []int{1, 2, 8, 12, 100, 1234} {
		checkOneIn(t, n, r.OneIn)
	}
}

func TestRandomTest_OneInOpt(t *testing.T) {
	r := util.NewRandom(42)
	for _, n := range []int{-12, 0, 1, 2, 8, 12, 100, 1234} {
		checkOneIn(t, n, r.OneInOpt)
	}
	if r.OneInOpt(0) || r.OneInOpt(-12) {
		t.Error("true for no range")
	}
}

func TestRandomTest_PercentTrue(t *testing.T) {
	r := util.NewRandom(42)
	for _, pct := range []int{-12, 0, 1, 2, 10, 50, 90, 98, 99, 100, 1234} {
		const samples = 10000
		count := 0
		for i := 0; i < samples; i++ {
			if r.PercentTrue(pct) {
				count++
			}
		}
		got := (count*100 + samples/2) / samples
		if got != min(max(pct, 0), 100) || pct <= 0 && count != 0 || pct >= 100 && count != samples {
			t.Errorf("%d%%: %d of %d", pct, count, samples)
		}
	}
}

// TestRandomNumbers has no upstream twin: the sums are those of upstream's
// classes built with libstdc++.
func TestRandomNumbers(t *testing.T) {
	check := func(what string, want uint64, n int, next func(i int) uint64) {
		t.Helper()
		var sum uint64
		for i := 0; i < n; i++ {
			sum = sum*31 + next(i)
		}
		if sum != want {
			t.Errorf("%s: %d, want %d", what, sum, want)
		}
	}
	r64 := util.NewRandom64(1000)
	check("Random64.Next", 3207970063425736600, 100000, func(int) uint64 { return r64.Next() })
	r64 = util.NewRandom64(7)
	n64 := [...]uint64{1, 2, 3, 10, 1000000007, 1<<63 + 5, math.MaxUint64, 1 << 40}
	check("Random64.Uniform", 63230515426363183, 100000, func(i int) uint64 { return r64.Uniform(n64[i%8]) })
	check("Random64.Skewed", 5262576012360876706, 10000, func(int) uint64 { return r64.Skewed(40) })
	r32 := util.NewRandom32(1000)
	check("Random32.Next", 17761924258914419600, 100000, func(int) uint64 { return uint64(r32.Next()) })
	r32 = util.NewRandom32(7)
	n32 := [...]uint32{1, 2, 3, 10, 1000000007, 1<<31 + 5, math.MaxUint32, 1 << 20}
	check("Random32.Uniform", 18218568041556159477, 100000, func(i int) uint64 { return uint64(r32.Uniform(n32[i%8])) })
	r := util.NewRandom(301)
	check("Random", 13500067822039902933, 30000, func(i int) uint64 {
		switch i % 3 {
		case 0:
			return r.Next64()
		case 1:
			return uint64(r.Skewed(20))
		}
		return uint64(r.Uniform(17))
	})
	if got := util.NewRandom(0x80000000).Next(); got != 16807 {
		t.Errorf("seed 0: %d", got)
	}
}

// TestRandomStrings has no upstream twin.
func TestRandomStrings(t *testing.T) {
	r := util.NewRandom(301)
	for _, c := range []struct {
		what      string
		s         string
		low, high byte
	}{
		{"RandomString", r.RandomString(5000), ' ', '~'},
		{"HumanReadableString", r.HumanReadableString(5000), 'a', 'z'},
		{"RandomBinaryString", r.RandomBinaryString(5000), 0, 126},
	} {
		if len(c.s) != 5000 {
			t.Errorf("%s: %d bytes", c.what, len(c.s))
		}
		b := []byte(c.s)
		if slices.Min(b) != c.low || slices.Max(b) != c.high {
			t.Errorf("%s: %d to %d", c.what, slices.Min(b), slices.Max(b))
		}
		if again := util.NewRandom(301).RandomString(5000); c.what == "RandomString" && !strings.EqualFold(again, c.s) {
			t.Errorf("%s: not repeatable", c.what)
		}
	}
	s := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	util.RandomShuffle(s, 1)
	if slices.IsSorted(s) {
		t.Error("not shuffled")
	}
	slices.Sort(s)
	if s[0] != 0 || s[9] != 9 || len(slices.Compact(s)) != 10 {
		t.Errorf("shuffle lost elements: %v", s)
	}
}

// No upstream twin: bloom_test.cc asks these through a filter policy; here are
// the same filters by themselves.

package util_test

import (
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func TestFastLocalBloom(t *testing.T) {
	for _, keys := range []uint64{1, 100, 10000, 100000} {
		data := make([]byte, (keys*10+511)/512*64)
		probes := util.FastLocalBloomChooseNumProbes(10000)
		var buf [16]byte
		hash := func(i uint64) (lower, upper uint32) {
			h := util.GetSliceHash64(bloomKey(&buf, i, true))
			return util.Lower32of64(h), util.Upper32of64(h)
		}
		for i := uint64(0); i < keys; i++ {
			lower, upper := hash(i)
			util.FastLocalBloomAddHash(lower, upper, probes, data)
		}
		positives := 0
		for i := uint64(0); i < keys; i++ {
			lower, upper := hash(i)
			if !util.FastLocalBloomHashMayMatch(lower, upper, probes, data) {
				t.Fatalf("%d keys: %d is missing", keys, i)
			}
			lower, upper = hash(i + 1000000000)
			if util.FastLocalBloomHashMayMatch(lower, upper, probes, data) {
				positives++
			}
		}
		expected := util.FastLocalBloomEstimatedFpRate(keys, uint64(len(data)), probes, 64) * float64(keys)
		if got := float64(positives); got > poissonUpperBound(expected*1.1, frequentPoisson) ||
			keys >= 10000 && got < poissonLowerBound(expected*0.9, frequentPoisson) {
			t.Errorf("%d keys: %d false positives, expected %g", keys, positives, expected)
		}
	}
	if !util.FastLocalBloomHashMayMatch(1, 2, 6, make([]byte, 63)) {
		t.Error("less than a line does not match")
	}
}

func TestFastLocalBloomChooseNumProbes(t *testing.T) {
	for millibits, want := range map[int]int{
		0: 1, 2080: 1, 2081: 2, 5100: 3, 8300: 5, 10000: 6, 10071: 7, 14001: 8, 18300: 10, 25501: 12,
		25502: 11, 28001: 13, 50000: 23, 50001: 24, 1000000: 24,
	} {
		if got := util.FastLocalBloomChooseNumProbes(millibits); got != want {
			t.Errorf("%d: %d, want %d", millibits, got, want)
		}
	}
}

func TestLegacyBlooms(t *testing.T) {
	const keys, lines, log2Line = 10000, 197, 6 // an even number of lines does badly
	noLocality := make([]byte, keys*10/8)
	locality := [2][]byte{make([]byte, lines<<log2Line), make([]byte, lines<<log2Line)}
	probes := util.LegacyNoLocalityBloomChooseNumProbes(10)
	if probes != 6 || util.LegacyNoLocalityBloomChooseNumProbes(0) != 1 || util.LegacyNoLocalityBloomChooseNumProbes(100) != 30 {
		t.Errorf("%d probes", probes)
	}
	var buf [16]byte
	hash := func(i uint64) uint32 { return util.BloomHash(bloomKey(&buf, i, true)) }
	for i := uint64(0); i < keys; i++ {
		util.LegacyNoLocalityBloomAddHash(hash(i), keys*10, probes, noLocality)
		util.LegacyLocalityBloomAddHash(hash(i), lines, probes, locality[0], log2Line, false)
		util.LegacyLocalityBloomAddHash(hash(i), lines, probes, locality[1], log2Line, true)
	}
	ask := func(h uint32) [3]bool {
		return [3]bool{
			util.LegacyNoLocalityBloomHashMayMatch(h, keys*10, probes, noLocality),
			util.LegacyLocalityBloomHashMayMatch(h, lines, probes, locality[0], log2Line, false),
			util.LegacyLocalityBloomHashMayMatch(h, lines, probes, locality[1], log2Line, true),
		}
	}
	var positives [3]int
	for i := uint64(0); i < keys; i++ {
		if got := ask(hash(i)); got != [3]bool{true, true, true} {
			t.Fatalf("%d is missing: %v", i, got)
		}
		for k, yes := range ask(hash(i + 1000000000)) {
			if yes {
				positives[k]++
			}
		}
	}
	if p := util.LegacyLocalityBloomEstimatedFpRate(keys, lines<<log2Line, probes) * keys; math.Abs(p-float64(positives[1])) > p/4 {
		t.Errorf("%d false positives, expected %g", positives[1], p)
	}
	for k, n := range positives {
		if n == 0 || n > keys*2/100 {
			t.Errorf("filter %d: %d false positives", k, n)
		}
	}
	// Filters that are not what their numbers say match.
	if !util.LegacyNoLocalityBloomHashMayMatch(7, 0, 6, nil) || !util.LegacyNoLocalityBloomHashMayMatch(7, 100, 6, make([]byte, 12)) ||
		!util.LegacyLocalityBloomHashMayMatch(7, 0, 6, nil, 6, false) ||
		!util.LegacyLocalityBloomHashMayMatch(7, 2, 6, make([]byte, 127), 6, false) ||
		!util.LegacyLocalityBloomHashMayMatch(7, 2, 6, make([]byte, 127), 200, false) {
		t.Error("a damaged filter does not match")
	}
}

func TestBloomMath(t *testing.T) {
	if r := util.BloomMathStandardFpRate(10, 6); math.Abs(r-0.00844) > 0.0001 {
		t.Errorf("standard: %g", r)
	}
	if r := util.BloomMathCacheLocalFpRate(0, 6, 512); r != 1 {
		t.Errorf("no bits: %g", r)
	}
	if r := util.BloomMathFingerprintFpRate(1<<20, 32); math.Abs(r-1.0/4096) > 1e-7 {
		t.Errorf("fingerprints: %g", r)
	}
	if r := util.BloomMathIndependentProbabilitySum(0.5, 0.5); r != 0.75 {
		t.Errorf("sum: %g", r)
	}
}

// FuzzBloom asks damaged filters.
func FuzzBloom(f *testing.F) {
	f.Add([]byte{}, uint32(1), uint32(2), uint32(3), uint8(6), uint8(6))
	f.Add(make([]byte, 130), uint32(1), uint32(2), uint32(2), uint8(6), uint8(6))
	f.Fuzz(func(t *testing.T, data []byte, h1, h2, lines uint32, probes, log2Line uint8) {
		full := data[:len(data)/64*64]
		for i := range full {
			full[i] = 0xff
		}
		if !util.FastLocalBloomHashMayMatch(h1, h2, int(probes), full) {
			t.Error("a filter of ones does not match")
		}
		a := util.LegacyLocalityBloomHashMayMatch(h1, lines, int(probes), full, uint(log2Line), false)
		b := util.LegacyLocalityBloomHashMayMatch(h1, lines, int(probes), full, uint(log2Line), true)
		c := util.LegacyNoLocalityBloomHashMayMatch(h1, lines, int(probes), full)
		if !a || !b || !c {
			t.Error("a legacy filter of ones does not match")
		}
	})
}

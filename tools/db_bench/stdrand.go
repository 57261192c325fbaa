// No upstream twin: the pieces of libstdc++'s <random> and <algorithm> that
// db_bench's data depends on, number for number.

package main

import (
	"math"

	"github.com/rocksdb-go/rocksdb/util"
)

// defaultRandomEngine is std::default_random_engine: minstd_rand0.
type defaultRandomEngine struct{ x uint64 }

const minstdModulus = 1<<31 - 1

func newDefaultRandomEngine(seed uint32) *defaultRandomEngine {
	x := uint64(seed) % minstdModulus
	if x == 0 {
		x = 1
	}
	return &defaultRandomEngine{x}
}

func (e *defaultRandomEngine) next() uint64 {
	e.x = e.x * 16807 % minstdModulus
	return e.x
}

// canonical is std::generate_canonical<double, 53>: two numbers of the engine.
func (e *defaultRandomEngine) canonical() float64 {
	const values = minstdModulus - 1 // the engine gives 1 … 2^31-2
	sum := float64(e.next() - 1)
	sum += float64(e.next()-1) * values
	if v := sum / (values * values); v < 1 {
		return v
	}
	return math.Nextafter(1, 0)
}

// bernoulli is std::bernoulli_distribution(p).
func (e *defaultRandomEngine) bernoulli(p float64) bool { return e.canonical() < p }

// normalDistribution is std::normal_distribution<double>, Marsaglia's polar
// method: every other number comes from the pair before. canonical gives
// numbers in [0, 1).
type normalDistribution struct {
	mean, stddev float64
	saved        float64
	hasSaved     bool
}

func (d *normalDistribution) next(canonical func() float64) float64 {
	if d.hasSaved {
		d.hasSaved = false
		return d.saved*d.stddev + d.mean
	}
	var x, y, r2 float64
	for {
		x = float64(2*canonical()) - 1
		y = float64(2*canonical()) - 1
		r2 = float64(x*x) + float64(y*y)
		if r2 <= 1 && r2 != 0 {
			break
		}
	}
	mult := math.Sqrt(-2 * math.Log(r2) / r2)
	d.saved, d.hasSaved = x*mult, true
	return float64(y*mult*d.stddev) + d.mean
}

// uniformInt is std::uniform_int_distribution<uint64_t>(0, most) over mt19937.
func uniformInt(g *util.Random32, most uint64) uint64 {
	const engineMost = math.MaxUint32
	switch {
	case most < engineMost:
		return uint64(g.Uniform(uint32(most + 1)))
	case most == engineMost:
		return uint64(g.Next())
	}
	for {
		high := uniformInt(g, most>>32) << 32
		v := high + uint64(g.Next())
		if v <= most && v >= high {
			return v
		}
	}
}

// shuffle is std::shuffle with std::mt19937(seed): where the engine's range is
// wide enough, one number of it gives two positions.
func shuffle(s []uint64, seed uint32) {
	n := uint64(len(s))
	if n < 2 {
		return
	}
	g := util.NewRandom32(seed)
	swap := func(i, j uint64) { s[i], s[j] = s[j], s[i] }
	if math.MaxUint32/n < n {
		for i := uint64(1); i < n; i++ {
			swap(i, uniformInt(g, i))
		}
		return
	}
	i := uint64(1)
	if n%2 == 0 {
		swap(i, uniformInt(g, 1))
		i++
	}
	for ; i < n; i += 2 {
		width := i + 1
		both := uniformInt(g, width*(width+1)-1)
		swap(i, both/(width+1))
		swap(i+1, both%(width+1))
	}
}

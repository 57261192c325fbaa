// No upstream twin: Python's random in the few forms that the tables want.

package main

import (
	"math"
	"math/rand/v2"
)

// random draws parameters; a seed gives the same ones again.
type random struct{ *rand.Rand }

// draw gives a parameter's value for a run.
type draw func() any

func newRandom(seed uint64) *random { return &random{rand.New(rand.NewPCG(seed, 0))} }

func (r *random) seed(seed uint64) { r.Rand = newRandom(seed).Rand }

// intIn is one of lo to hi.
func (r *random) intIn(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

func (r *random) logNormal(mean, deviation float64) float64 {
	return math.Exp(mean + deviation*r.NormFloat64())
}

func (r *random) choice(values ...any) any { return values[r.IntN(len(values))] }

// of is a draw among values.
func (r *random) of(values ...any) draw { return func() any { return r.choice(values...) } }

// between is a draw of lo to hi.
func (r *random) between(lo, hi int) draw { return func() any { return r.intIn(lo, hi) } }

// oneIn is a draw that is 1 once in n times and 0 otherwise.
func (r *random) oneIn(n int) draw {
	return func() any {
		if r.IntN(n) == 0 {
			return 1
		}
		return 0
	}
}

func (r *random) draw(f func() any) draw { return f }

// once is the value that all runs of a test share.
func once(d draw) any { return d() }

//go:build killpoint

// Port of test_util/sync_point.{h,cc} (KillPoint). Differs: dies by SIGKILL,
// not by a SIGTERM that a handler sees.

package killpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
)

// Enabled tells whether kill points are compiled in.
const Enabled = true

type setting struct {
	odds    int
	exclude []string
}

var current atomic.Pointer[setting]

// Set makes the process die at one in odds passages of a point whose name has
// none of the prefixes; 0 is never.
func Set(odds int, excludePrefixes []string) {
	if odds <= 0 {
		current.Store(nil)
		return
	}
	current.Store(&setting{odds, excludePrefixes})
}

// Odds is what Set set.
func Odds() int {
	if s := current.Load(); s != nil {
		return s.odds
	}
	return 0
}

// Random marks a named point.
func Random(name string) { RandomWithWeight(name, 1) }

// RandomWithWeight marks a named point with odds weight times longer.
func RandomWithWeight(name string, weight int) {
	s := current.Load()
	if s == nil {
		return
	}
	for _, p := range s.exclude {
		if p != "" && strings.HasPrefix(name, p) {
			return
		}
	}
	if rand.IntN(s.odds*weight) == 0 {
		die(name)
	}
}

func die(name string) {
	fmt.Fprintf(os.Stdout, "Crashing at %s\n", name)
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // until the signal arrives
}

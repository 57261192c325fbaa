// Port of cache/cache_test.cc (MiscBlockCacheTest.UncacheAggressivenessAdvisor).

package blockbased

import (
	"strings"
	"testing"
)

// The advisor goes on through each trace of reports, and no further.
func TestMiscBlockCacheTest_UncacheAggressivenessAdvisor(t *testing.T) {
	for aggressiveness, traces := range map[uint32][]string{
		1: {"0", "11111111111111111111110"},
		2: {"00", "0110", "1100", "0" + strings.Repeat("1", 63) + "00", "0" + strings.Repeat("1", 35) + "0"},
		3: {"000", "01010", "111000", "00" + strings.Repeat("1", 34) + "00", "00" + strings.Repeat("1", 20) + "0"},
		4: {"000", "01010", "111000", "00" + strings.Repeat("1", 20) + "00", "00" + strings.Repeat("1", 13) + "0"},
		6: {"000", "01010", "111000", "00" + strings.Repeat("1", 13) + "00", "00" + strings.Repeat("1", 7) + "0"},
		// A threshold of 50%, and of 10%.
		69:  {"0000", "010000", "01010000", "101010100010101000"},
		230: {strings.Repeat("0", 12), "0000000000010000000000", "00000000000100000000010000000000"},
	} {
		for _, trace := range traces {
			a := newUncacheAdvisor(aggressiveness)
			for i, c := range trace {
				if !a.shouldContinue() {
					t.Fatalf("aggressiveness %d stops at %d of %s", aggressiveness, i, trace)
				}
				a.report(c == '1')
			}
			if a.shouldContinue() {
				t.Errorf("aggressiveness %d goes on after %s", aggressiveness, trace)
			}
		}
	}
}

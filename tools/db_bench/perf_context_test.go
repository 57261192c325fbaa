// No upstream twin: the comparisons of keys against those that upstream's tool
// counts.

package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPerfContext_KeyComparisons holds the numbers of comparisons within a quarter
// of what db_bench v11.8.1 prints for the command line. Heights of skip list
// nodes are drawn, and where many high nodes stand at once a single run counts a
// third more, so that the median of five runs is taken.
func TestPerfContext_KeyComparisons(t *testing.T) {
	t.Chdir(t.TempDir())
	want := []float64{481680, 461623}
	counts := make([][]float64, len(want))
	var out string
	for range 5 {
		var code int
		out, code = runTool(t, append([]string{"--db=db"},
			strings.Fields("--seed=42 --num=20000 --benchmarks=fillrandom,readrandom --perf_level=5")...)...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		found := regexp.MustCompile(`user_key_comparison_count = (\d+)`).FindAllStringSubmatch(out, -1)
		if len(found) != len(want) {
			t.Fatalf("%d counts in %s", len(found), out)
		}
		for i, f := range found {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			counts[i] = append(counts[i], n)
		}
	}
	for i, w := range want {
		slices.Sort(counts[i])
		if n := counts[i][2]; n < 0.75*w || n > 1.25*w {
			t.Errorf("%.0f comparisons, upstream's %.0f", counts[i], w)
		}
	}
	for _, name := range []string{"write_wal_time", "write_memtable_time", "write_pre_and_post_process_time", "get_from_memtable_time", "get_cpu_nanos"} {
		if !regexp.MustCompile(name + ` = [1-9]`).MatchString(out) {
			t.Errorf("%s is 0", name)
		}
	}
}

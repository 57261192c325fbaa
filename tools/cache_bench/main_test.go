// No upstream twin: cache_bench.

package main

import (
	"strings"
	"testing"
)

func runBench(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(append([]string{"cache_bench"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCacheBench(t *testing.T) {
	small := []string{"--threads=3", "--ops_per_thread=2000", "--cache_size=400000", "--value_bytes=500", "--seed=7", "--gather_stats", "--gather_stats_sleep_ms=1"}
	for _, kind := range []string{"lru_cache", "hyper_clock_cache", "auto_hyper_clock_cache", "fixed_hyper_clock_cache"} {
		for _, more := range []string{"--skew=2", "--secondary_cache_uri=compressed_secondary_cache://capacity=200K", "--vary_capacity_ratio=0.3"} {
			code, out, errs := runBench(append(small, "--cache_type="+kind, more)...)
			if code != 0 {
				t.Fatalf("%s %s: %s", kind, more, errs)
			}
			for _, want := range []string{"Population complete (", "Number of threads   : 3\n", "Complete in ", "Thread ops/sec = ", "Lookup hit ratio: 0.",
				"Final load factor: ", "Operation latency (ns):\n"} {
				if !strings.Contains(out, want) {
					t.Errorf("%s %s: no %q in\n%s", kind, more, want, out)
				}
			}
			if strings.Contains(out, "still pinned") {
				t.Errorf("%s %s:\n%s", kind, more, out)
			}
		}
	}
}

func TestCacheBenchRefuses(t *testing.T) {
	for arg, want := range map[string]string{
		"--cache_type=clock_cache":         "Old clock cache implementation has been removed.",
		"--cache_type=none":                "Cache type not supported.",
		"--erase_percent=2":                "Percentages must add to 100.",
		"--stress_cache_key":               "--stress_cache_key",
		"--secondary_cache_uri=nothing://": "No secondary cache registered matching string",
		"--nothing":                        "nothing",
	} {
		if code, out, errs := runBench(arg); code == 0 || !strings.Contains(out+errs, want) {
			t.Errorf("%s: %d, %s%s", arg, code, out, errs)
		}
	}
}

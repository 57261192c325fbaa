// No upstream twin: seeks with a hash index, as the C++ engine's db_bench does them.

package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/internal/engines"
)

var seekCounts = regexp.MustCompile(`\((\d+ of \d+) found\)|number\.db\.(seek|next)\.found COUNT : (\d+)`)

// TestHashIndexSeeks_AsEngine: about half of the prefixes that are sought are not
// in the database; what a seek of those gives depends on the mode, and is the same
// here as in C++, whoever wrote the tables.
func TestHashIndexSeeks_AsEngine(t *testing.T) {
	cpp := engines.Tool(t, "db_bench")
	common := strings.Fields("--use_hash_search=1 --prefix_size=8 --keys_per_prefix=10 --key_size=16 --value_size=20 --format_version=5 " +
		"--compression_type=none --memtablerep=skip_list --threads=1 --num=4000")
	run := func(here bool, args ...string) string {
		t.Helper()
		args = append(args, common...)
		if here {
			out, code := runTool(t, args...)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, out)
			}
			return out
		}
		out, err := exec.Command(cpp, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	for _, writtenHere := range []bool{false, true} {
		db := filepath.Join(t.TempDir(), "db")
		run(writtenHere, "--db="+db, "--seed=3", "--writes=300", "--benchmarks=fillrandom,flush,compact")
		for _, mode := range []string{"--total_order_seek=true", "--total_order_seek=false",
			"--prefix_same_as_start=true", "--auto_prefix_mode=true"} {
			counts := func(here bool) []string {
				return seekCounts.FindAllString(run(here, "--db="+db, "--seed=7", "--use_existing_db=1", "--statistics",
					"--seek_nexts=3", "--reads=3000", "--benchmarks=seekrandom", mode), -1)
			}
			got, want := counts(true), counts(false)
			if len(want) != 3 || strings.Join(got, "; ") != strings.Join(want, "; ") {
				t.Errorf("written here %v, %s: %q, C++ %q", writtenHere, mode, got, want)
			}
		}
	}
}

// No upstream twin: tests of the benchmarks of approximate.go.

package main

import (
	"regexp"
	"strings"
	"testing"
)

func wantOutput(t *testing.T, re string, args ...string) {
	t.Helper()
	out, code := runTool(t, append([]string{"--progress_reports=false"}, args...)...)
	if code != 0 || !regexp.MustCompile(re).MatchString(out) {
		t.Errorf("%v: exit %d, want %s in %s", args, code, re, out)
	}
}

func TestApproximate_Sizes(t *testing.T) {
	wantOutput(t, `(?s)entries_per_batch = 3\n.*approximatesizerandom : .* 300 operations;\s+\(Avg approx size=[1-9][0-9.e+]*\)`,
		"--db="+t.TempDir()+"/db", "--num=20000", "--reads=100", "--batch_size=3", "--compression_type=none",
		"--benchmarks=fillseq,flush,approximatesizerandom")
}

func TestApproximate_MemtableStats(t *testing.T) {
	dir := "--db=" + t.TempDir() + "/db"
	wantOutput(t, `(?s)approximatememtablestats : .* 100 operations;.*Reported entry count stats \(expected 500\):\s+Count: 100 Average: [1-9]`,
		dir, "--num=20000", "--reads=100", "--batch_size=500", "--benchmarks=fillseq,approximatememtablestats")
	out, code := runTool(t, dir, "--num=500", "--batch_size=500", "--benchmarks=fillseq,approximatememtablestats")
	if code != 1 || !strings.Contains(out, "--num has to be more than --batch_size") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestStatsHistory(t *testing.T) {
	wantOutput(t, `(?s)------ .*:.* ------\n \d+   rocksdb\..*  \d+\n`,
		"--db="+t.TempDir()+"/db", "--num=300000", "--duration=3", "--statistics", "--stats_persist_period_sec=1", "--benchmarks=overwrite,stats_history")
}

// TestCompactLevel: level 0 goes to the level that has files, and then that one,
// which is the last, has nowhere to go.
func TestCompactLevel(t *testing.T) {
	dir := "--db=" + t.TempDir() + "/db"
	for _, dynamic := range []string{"false", "true"} {
		wantOutput(t, `(?s)compact0 found 0 files to compact\ncompact1 found no data beyond L\d\n.*`+
			`compact0 found 1 files to compact from L0 to L\d\ncompact0 found 0 files to compact`,
			dir, "--num=2000", "--level_compaction_dynamic_level_bytes="+dynamic, "--level0_file_num_compaction_trigger=100",
			"--benchmarks=fillrandom,flush,compact,compact0,compact1,overwrite,flush,compact0,compact0")
	}
}

// TestPrintStalls: only with the flags of tools/benchmark.sh.
func TestPrintStalls(t *testing.T) {
	dir := "--db=" + t.TempDir() + "/db"
	wantOutput(t, `(?m)^Stalls\(count\): 0 level0_slowdown, .* 0 memtable_slowdown, cumulative 0 total count$`,
		dir, "--num=1000", "--stats_interval_seconds=60", "--stats_per_interval=1", "--benchmarks=fillseq,stats")
	if n := stallCount("\nWrite Stall (count): a: 1, l0-file-count-limit-stops: 12, total-stops: 13\n", "l0-file-count-limit-stops"); n != 12 {
		t.Errorf("%d stalls", n)
	}
	if out, _ := runTool(t, dir, "--num=1000", "--benchmarks=fillseq,stats"); strings.Contains(out, "Stalls(count)") {
		t.Error(out)
	}
}

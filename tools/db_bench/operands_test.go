// No upstream twin: the benchmarks of merge operands find what was merged.

package main

import (
	"regexp"
	"testing"
)

func TestMergeOperands_AreFound(t *testing.T) {
	dir := t.TempDir()
	out, code := runTool(t, "--db="+dir+"/a", "--benchmarks=getmergeoperands", "--merge_operator=sortlist", "--progress_reports=0")
	if code != 0 || !regexp.MustCompile(`(?s)Found key\? 1\nGet: .*API call: 1,2,3,4,5,\n--- GetMergeOperands API --- \nFound key\? 1\n.*List: 0 : 1,2,3,.*List: 3 : `).MatchString(out) {
		t.Errorf("exit %d: %s", code, out)
	}
	out, code = runTool(t, "--db="+dir+"/b", "--benchmarks=mergerandom,readrandomoperands", "--merge_operator=stringappend", "--num=50", "--reads=200",
		"--merge_keys=10", "--value_size=10", "--progress_reports=0")
	if code != 0 || !regexp.MustCompile(`readrandomoperands .*\(\d+ of 200 found\)`).MatchString(out) || regexp.MustCompile(`\(0 of 200 found\)`).MatchString(out) {
		t.Errorf("exit %d: %s", code, out)
	}
}

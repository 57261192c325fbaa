// No upstream twin: benchmarks on keys with timestamps.

package main

import (
	"strings"
	"testing"
)

func TestUserTimestamps(t *testing.T) {
	common := []string{"--db=" + t.TempDir(), "--user_timestamp_size=8", "--num=200", "--threads=1", "--compression_type=none", "--seed=1"}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{args: "fillseq,readseq,readreverse,seekrandom[-W1-X2] --use_existing_db=0", want: "\nseekrandom [AVG "},
		{args: "deleterandom,deleteseq,overwrite,multireadrandom,readrandomfast,newiterator", want: "\nnewiterator "},
		// fillseq's keys lost their last bytes to the timestamps; these have both.
		{args: "updaterandom,updaterandom,updaterandom,updaterandom,updaterandom,updaterandom --num=5", want: "found:5)"},
		{args: "appendrandom,xorupdaterandom,readrandomwriterandom,randomwithverify", want: "\nrandomwithverify "},
		{args: "readwhilewriting,readwhilescanning --threads=2", want: "\nreadwhilescanning "},
		{args: "readrandom --read_with_latest_user_timestamp=false", want: "\nreadrandom "},
		{args: "readrandomentity", want: "readrandomentity does not support user timestamps\n", code: 1},
		{args: "multireadentity", want: "multireadentity does not support user timestamps\n", code: 1},
		{args: "readrandom --user_timestamp_size=7", want: "Only 64 bits timestamps are supported.\n", code: 1},
		{args: "mergerandom --merge_operator=put", want: "merge error: Invalid argument: cannot call this method on column family default that enables timestamp\n", code: 1},
	} {
		args := append(append([]string{}, common...), strings.Fields("--use_existing_db=1 --benchmarks="+c.args)...)
		if out, code := runTool(t, args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, not %q: %s", c.args, code, c.want, out)
		}
	}
}

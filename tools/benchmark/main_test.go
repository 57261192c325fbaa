// No upstream twin: tests of the port of tools/benchmark.sh, with a program in
// db_bench's place.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const output = `fillrandom   :       2.500 micros/op 400000 ops/sec 2.500 seconds 1000000 operations;  160.5 MB/s
Microseconds per write:
Count: 1000000 Average: 2.4  StdDev: 1.0
Min: 1  Median: 2.1  Max: 812
Percentiles: P50: 2.10 P75: 2.90 P99: 9.40 P99.9: 30.20 P99.99: 99.90
 Sum      5/0   512.50 MB   0.0      0.1     0.0      0.1       0.9      0.8       0.0   1.2     11.0    160.0      5.10              4.20         6    0.850       0      0       0.3       0.4
Blob file count: 2, total size: 1.4 GB, garbage size: 0.0 GB, space amp: 1.0
Uptime(secs): 2.6 total, 2.6 interval
Flush(GB): cumulative 0.500, interval 0.500
Cumulative compaction: 0.75 GB write, 60.50 MB/s write, 0.10 GB read, 8.00 MB/s read, 5.1 seconds
Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, total-delays: 3, total-stops: 4
Cumulative writes: 1M writes, 1M keys, 1M commit groups, 1.0 writes per commit group, ingest: 0.50 GB, 100.00 MB/s
Cumulative stall: 00:00:0.500 H:M:S, 19.2 percent
`

// runFake runs a command line with a db_bench that prints text and ends with
// code.
func runFake(t *testing.T, text, code string, env map[string]string, args ...string) (out string, exit int, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range map[string]string{"out": text, "LOG": "x 1 RocksDB version: 11.8.1\nx 1 Git sha 0123456789abcdef\n",
		"db_bench": "#!/bin/sh\ncat " + dir + "/out\nexit " + code + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	get := func(name string) string {
		if v, ok := env[name]; ok {
			return v
		}
		return map[string]string{"DB_DIR": dir, "WAL_DIR": dir, "OUTPUT_DIR": dir, "NUM_KEYS": "1000", "JOB_ID": "j1"}[name]
	}
	var b bytes.Buffer
	exit = run(args, get, filepath.Join(dir, "db_bench"), &b)
	return b.String(), exit, dir
}

func TestBenchmark_Report(t *testing.T) {
	out, code, dir := runFake(t, output, "0", nil, "bulkload", "--more=1")
	report, err := os.ReadFile(filepath.Join(dir, "report.tsv"))
	if code != 0 || err != nil {
		t.Fatalf("exit %d, error %v: %s", code, err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(report)), "\n")
	names, values := strings.Split(lines[len(lines)-2], "\t"), strings.Split(lines[len(lines)-1], "\t")
	if len(names) != len(values) || len(names) != len(columns) {
		t.Fatalf("%d names, %d values", len(names), len(values))
	}
	want := map[string]string{"ops_sec": "400000", "mb_sec": "160.5", "lsm_sz": "512MB", "blob_sz": "1GB", "c_wgb": "0.8", "w_amp": "2.5",
		"c_mbps": "60.5", "c_wsecs": "5", "c_csecs": "4", "b_rgb": "0", "b_wgb": "0", "usec_op": "2.5", "p50": "2.1", "p99": "9", "p99.9": "30",
		"p99.99": "100", "pmax": "812", "uptime": "3", "stall%": "19.2", "Nstall": "7", "test": "bulkload", "version": "11.8.1",
		"job_id": "j1", "githash": "0123456789"}
	for i, name := range names {
		if w, ok := want[name]; ok && values[i] != w {
			t.Errorf("%s is %s, want %s", name, values[i], w)
		}
		if values[i] == "" {
			t.Errorf("%s is empty", name)
		}
	}
	for _, part := range []string{"--benchmarks=fillrandom,stats", "--benchmarks=compact,stats", "--memtablerep=vector", "--more=1", "Completed bulkload"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %s in %s", part, out)
		}
	}
}

func TestBenchmark_Failures(t *testing.T) {
	for _, c := range []struct {
		text, code string
		env        map[string]string
		job        string
		exit       int
		want       string
	}{
		{"oops\n", "7", nil, "readrandom", 7, "failed\tNA"},
		{"oops\n", "0", nil, "readrandom", 1, "failed\tNA"},
		{output, "0", nil, "nosuch", exitUnknownJob, "unknown job nosuch"},
		{output, "0", nil, "randomtransaction", exitUnknownJob, "job randomtransaction is not supported yet"},
		{output, "0", map[string]string{"DB_DIR": ""}, "readrandom", exitInvalidArgs, "DB_DIR is not defined"},
		{output, "0", map[string]string{"NUM_KEYS": "many"}, "readrandom", exitInvalidArgs, "NUM_KEYS is :: many :: and must be a number"},
		{output, "0", map[string]string{"COMPACTION_STYLE": "odd"}, "readrandom", exitInvalidArgs, "must be one of leveled, universal, blob"},
		{output, "0", nil, "--help", 0, "usage: benchmark"},
	} {
		if out, exit, _ := runFake(t, c.text, c.code, c.env, c.job); exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s %v: exit %d: %s", c.job, c.env, exit, out)
		}
	}
}

// TestBenchmark_AllJobs: every job of upstream's runs or is refused by name.
func TestBenchmark_AllJobs(t *testing.T) {
	s, err := readSettings(func(name string) string {
		return map[string]string{"DB_DIR": "d", "WAL_DIR": "d", "COMPACTION_STYLE": "blob", "USE_O_DIRECT": "1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq("bulkload flush_mt_l0 waitforcompaction fillseq_disable_wal fillseq_enable_wal overwrite overwritesome " +
		"overwriteandwait updaterandom mergerandom filluniquerandom readrandom multireadrandom fwdrange revrange readwhilewriting readwhilemerging " +
		"fwdrangewhilewriting revrangewhilewriting fwdrangewhilemerging revrangewhilemerging") {
		jobs := s.jobsOf(name)
		if len(jobs) == 0 {
			t.Errorf("no job %s", name)
		}
		for _, j := range jobs {
			all := strings.Join(j.flags, " ")
			if !strings.Contains(all, "--enable_blob_files=true") || !strings.Contains(all, "--use_direct_reads") || !strings.Contains(all, "--db=d ") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
	if j := s.jobsOf("revrangewhilemerging")[0]; j.bench != "seekrandomwhilemerging" || !strings.Contains(strings.Join(j.flags, " "), "--reverse_iterator=true") {
		t.Errorf("%+v", j)
	}
}

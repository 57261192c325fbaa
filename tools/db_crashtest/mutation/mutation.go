// No upstream twin: proof that the stress test sees what it is there to see.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mutation is a fault put into the engine: in file, once is replaced by by.
type mutation struct {
	name     string
	file     string
	once, by string
	flags    []string // of db_stress
	test     string   // of package db, that loses what was not synced; in the place of db_stress
}

var mutations = []mutation{
	{
		name: "a sync of the WAL is dropped",
		file: "db/db_impl/db_impl_write_wal.go",
		once: "err = f.Sync(&d.walIOOptions, d.immutable.UseFsync)",
		by:   "_ = f",
		test: "TestFaultInjectionTest_WriteOptionSyncTest|TestFaultInjectionTestSplitted_FaultTest",
	},
	{
		name: "an iterator skips the range tombstones of the memtable",
		file: "db/db_impl/db_impl_read.go",
		once: "if ro.IgnoreRangeDeletions {\n\t\t\tb.AddIterator(point)",
		by:   "if ro.IgnoreRangeDeletions || !immutable {\n\t\t\tb.AddIterator(point)",
		flags: []string{"--delrangepercent=10", "--delpercent=5", "--readpercent=20", "--iterpercent=30", "--prefixpercent=0", "--writepercent=35",
			"--verify_iterator_with_expected_state_one_in=1"},
	},
	{
		name:  "a write takes the sequence number of the one before",
		file:  "db/db_impl/db_impl_write.go",
		once:  "first := lastSequence + 1\n",
		by:    "first := max(1, lastSequence)\n",
		flags: []string{"--acquire_snapshot_one_in=10", "--snapshot_hold_ops=1000", "--max_key=1000", "--writepercent=55", "--readpercent=30"},
	},
	{
		name: "the fsync of a new table's directory is forgotten",
		file: "db/flush_job.go",
		once: "err = c.OutputDirectory.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})",
		by:   "err = nil",
		test: "TestFaultInjectionTestSplitted_FaultTest",
	},
	{
		name:  "the block cache gives another block",
		file:  "table/block_based/block_cache.go",
		once:  "return base.WithOffsetForMinSizeRecord(h.Offset)",
		by:    "return base.WithOffsetForMinSizeRecord(h.Offset &^ 0xffff)",
		flags: []string{"--flush_one_in=500"},
	},
}

// common are the flags of every run.
var common = []string{"--max_key=10000", "--threads=8", "--column_families=2", "--ops_per_thread=5000", "--reopen=0", "--clear_column_family_one_in=0",
	"--destroy_db_initially=1", "--compression_manager=none", "--compression_type=none", "--remote_compaction_worker_threads=0",
	"--approximate_size_one_in=0", "--write_buffer_size=1048576", "--nooverwritepercent=1", "--prefix_size=-1", "--prefixpercent=0",
	"--readpercent=50", "--iterpercent=10", "--writepercent=35", "--delpercent=5", "--delrangepercent=0"}

func main() {
	limit := flag.Duration("limit", 5*time.Minute, "time to catch a mutant in")
	only := flag.String("only", "", "a part of the names of the mutations to run")
	flag.Parse()
	missed := 0
	for i := range mutations {
		m := &mutations[i]
		if !strings.Contains(m.name, *only) {
			continue
		}
		begin := time.Now()
		how, err := m.run(*limit)
		switch {
		case err != nil:
			missed++
			fmt.Printf("ERROR  %s: %v\n", m.name, err)
		case how == "":
			missed++
			fmt.Printf("MISSED %s in %v\n", m.name, *limit)
		default:
			fmt.Printf("caught %s after %v: %s\n", m.name, time.Since(begin).Round(time.Second), how)
		}
	}
	if missed > 0 {
		os.Exit(1)
	}
}

// run builds the mutant and runs it with one seed after the other; how is what
// the run that failed wrote first, empty when none did.
func (m *mutation) run(limit time.Duration) (how string, err error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	overlay, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	if m.test != "" {
		return m.runTest(overlay, limit)
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-tags", "killpoint,invariants", "-o", filepath.Join(dir, "db_stress"), "./tools/db_stress")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	expected := filepath.Join(dir, "expected")
	end := time.Now().Add(limit)
	for seed := 1; time.Now().Before(end); seed++ {
		if err := os.RemoveAll(expected); err != nil {
			return "", err
		}
		if err := os.MkdirAll(expected, 0o755); err != nil {
			return "", err
		}
		args := append(append([]string(nil), common...), m.flags...)
		args = append(args, fmt.Sprintf("--seed=%d", seed), "--db="+filepath.Join(dir, "db"), "--expected_values_dir="+expected)
		ctx, cancel := context.WithDeadline(context.Background(), end)
		cmd := exec.CommandContext(ctx, filepath.Join(dir, "db_stress"), args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		failed := cmd.Run() != nil && ctx.Err() == nil
		cancel()
		if line, _, _ := strings.Cut(errs.String(), "\n"); failed || line != "" {
			return fmt.Sprintf("%.160s", line+" "), nil
		}
	}
	return "", nil
}

// runTest runs the mutation's test; how is the first line that tells of a
// failure.
func (m *mutation) runTest(overlay string, limit time.Duration) (how string, err error) {
	cmd := exec.Command("go", "test", "-short", "-count=1", "-overlay", overlay, "-timeout", limit.String(), "-run", m.test, "./db")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) {
		return "", err
	}
	if strings.Contains(string(out), "[build failed]") {
		return "", fmt.Errorf("%s", exit.Stderr)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "_test.go:") && !strings.Contains(line, "close: ") {
			return strings.TrimSpace(line), nil
		}
	}
	return "go test failed", nil
}

// overlay makes what go build -overlay wants to have the mutation in.
func (m *mutation) overlay(dir string) (name string, err error) {
	top, err := os.Getwd()
	if err != nil {
		return "", err
	}
	path := filepath.Join(top, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.once); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, not once", m.file, m.once, n)
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.once, m.by, 1)), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o644)
}

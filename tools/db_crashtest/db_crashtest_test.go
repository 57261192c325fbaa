// Port of tools/db_crashtest_test.py (the rules). Differs: the rest of it is
// about Python's diagnostics, which are not there.

package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// finalize gives the parameters that a run would have, with set in them and
// nothing pinned off.
func finalize(t *testing.T, tableNames []string, set params) params {
	t.Helper()
	s, err := newSession(&options{testType: "blackbox", initialSeed: 1}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	p := make(params)
	for _, name := range tableNames {
		maps.Copy(p, params(s.tables[name]))
	}
	p["db"] = t.TempDir()
	maps.Copy(p, set)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if d, ok := p[name].(draw); ok {
			p[name] = d()
		}
	}
	s.sanitize(p)
	return p
}

func wantParams(t *testing.T, p, want params) {
	t.Helper()
	for name, v := range want {
		if p[name] != v {
			t.Errorf("%s = %v, want %v", name, p[name], v)
		}
	}
}

func TestDBCrashTestTest_FinalizeDisablesTestBatchesSnapshotsWhenDisableWal(t *testing.T) {
	p := finalize(t, []string{"default"}, params{"disable_wal": 1, "test_batches_snapshots": 1, "inplace_update_support": 0})
	wantParams(t, p, params{"disable_wal": 1, "test_batches_snapshots": 0})
}

func TestDBCrashTestTest_FinalizeDisablesTestBatchesSnapshotsForBlobDirectWrite(t *testing.T) {
	p := finalize(t, []string{"default", "blob_direct_write_multi_get_entity"}, params{"test_batches_snapshots": 1})
	wantParams(t, p, params{"enable_blob_direct_write": 1, "disable_wal": 1, "test_batches_snapshots": 0})
}

func TestDBCrashTestTest_FinalizeDisablesSqfcRangeQueriesWithRangeConversion(t *testing.T) {
	p := finalize(t, []string{"default"}, params{"test_batches_snapshots": 0, "use_multiscan": 0, "use_sqfc_for_range_queries": 1, "min_tombstones_for_range_conversion": 2})
	wantParams(t, p, params{"min_tombstones_for_range_conversion": 2, "use_sqfc_for_range_queries": 0})
}

func TestDBCrashTestTest_FinalizeSanitizesIncompatibleFlagsForMultiDb(t *testing.T) {
	p := finalize(t, []string{"default"}, params{"num_dbs": 3, "clear_column_family_one_in": 10, "test_multi_ops_txns": 1})
	wantParams(t, p, params{"clear_column_family_one_in": 0, "test_multi_ops_txns": 0})
}

func TestDBCrashTestTest_FinalizePreservesFlagsForSingleDb(t *testing.T) {
	p := finalize(t, []string{"default"}, params{"num_dbs": 1, "clear_column_family_one_in": 10})
	wantParams(t, p, params{"clear_column_family_one_in": 10, "tolerate_non_injected_io_errors_for_remote_dbs": 0})
}

func TestDBCrashTestTest_FinalizeDisablesTolerateNonInjectedIoErrorsForLocalDb(t *testing.T) {
	p := finalize(t, []string{"default"}, params{"tolerate_non_injected_io_errors_for_remote_dbs": 1})
	wantParams(t, p, params{"tolerate_non_injected_io_errors_for_remote_dbs": 0})
}

// In every kind of test and for many seeds the operations are a whole, and what
// is not built is off.
func TestSession_Command(t *testing.T) {
	for _, kind := range []string{"", "simple", "cf_consistency", "test_best_efforts_recovery", "enable_ts"} {
		for _, typ := range []string{"blackbox", "whitebox"} {
			for seed := range uint64(50) {
				s, err := newSession(&options{testType: typ, initialSeed: seed, switches: map[string]bool{kind: true}}, io.Discard)
				if err != nil {
					t.Fatal(err)
				}
				test := s.testParams()
				test["db"] = t.TempDir()
				args, p, err := s.command(test)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for _, name := range []string{"readpercent", "prefixpercent", "writepercent", "delpercent", "delrangepercent", "iterpercent"} {
					sum += p.num(name)
				}
				if sum != 100 {
					t.Errorf("%s %s, seed %d: %v percent", typ, kind, seed, sum)
				}
				if kind == "enable_ts" && p.num("persist_user_defined_timestamps") == 0 && (p.num("disable_wal") != 0 || p.num("atomic_flush") != 0) {
					t.Errorf("%s, seed %d: writes without a log are lost by families apart", typ, seed)
				}
				for name, off := range s.pins {
					if v, ok := p[name]; ok && v != off {
						t.Errorf("%s %s, seed %d: %s is %v", typ, kind, seed, name, v)
					}
				}
				again, err := newSession(&options{testType: typ, initialSeed: seed, switches: map[string]bool{kind: true}}, io.Discard)
				if err != nil {
					t.Fatal(err)
				}
				test = again.testParams()
				test["db"] = p["db"]
				if other, _, err := again.command(test); err != nil || !slices.Equal(args, other) {
					t.Fatalf("%s %s, seed %d: not the same the second time (%v)", typ, kind, seed, err)
				}
			}
		}
	}
}

func TestParseArgs(t *testing.T) {
	o, err := parseArgs([]string{"blackbox", "--simple", "--duration=35", "--interval", "8", "--some_flag=x", "--initial_random_seed_override=7", "--bloom_bits=2.5", "--compaction_style=2"})
	if err != nil {
		t.Fatal(err)
	}
	wantParams(t, o.given, params{"duration": 35, "interval": 8, "bloom_bits": 2.5, "compaction_style": 2})
	if o.testType != "blackbox" || !o.switches["simple"] || o.initialSeed != 7 || !slices.Equal(o.passedOn, []string{"--some_flag=x"}) {
		t.Errorf("%+v", o)
	}
	for _, bad := range [][]string{nil, {"greybox"}, {"blackbox", "--duration"}, {"blackbox", "--duration=x"}} {
		if _, err := parseArgs(bad); err == nil {
			t.Errorf("%v parses", bad)
		}
	}
}

// stub writes a program that stands for db_stress.
func stub(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stress")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBlackbox(t *testing.T) {
	t.Setenv("TEST_TMPDIR", t.TempDir())
	var out, errs bytes.Buffer
	good := stub(t, `case "$*" in *verification_only=1*|*destroy_db_and_exit*) exit 0;; esac; exec sleep 60`)
	if code := run([]string{"blackbox", "--duration=1", "--interval=1", "--stress_cmd=" + good}, &out, &errs); code != 0 {
		t.Fatalf("code %d: %s%s", code, &out, &errs)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !strings.HasPrefix(lines[len(lines)-1], "blackbox crash test passed: ") {
		t.Errorf("last line %q", lines[len(lines)-1])
	}
	out.Reset()
	bad := stub(t, `echo lost >&2; exit 1`)
	if code := run([]string{"blackbox", "--duration=1", "--interval=5", "--stress_cmd=" + bad}, &out, &errs); code != 2 {
		t.Fatalf("code %d after a failure", code)
	}
	text := out.String()
	at := strings.Index(text, "db_crashtest --rerun=")
	if at < 0 || !strings.Contains(text, "lost") || !strings.Contains(text, "iteration's seed") {
		t.Fatalf("output %s", text)
	}
	dir := strings.TrimSpace(text[at+len("db_crashtest --rerun="):])
	if code := run([]string{"--rerun=" + dir}, &out, &errs); code != 2 {
		t.Errorf("code %d of the rerun: %s", code, &errs)
	}
}

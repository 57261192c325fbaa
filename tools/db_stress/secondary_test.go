// No upstream twin: short runs of db_stress with a secondary instance.

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStressSecondary: a secondary instance is read beside the database, as each
// kind of test does it.
func TestStressSecondary(t *testing.T) {
	common := []string{"--test_secondary=1", "--column_families=3", "--threads=4", "--max_key=1000", "--active_width=1000", "--ops_per_thread=800",
		"--clear_column_family_one_in=0", "--write_buffer_size=65536", "--flush_one_in=200", "--readpercent=10", "--prefixpercent=0", "--writepercent=70",
		"--delpercent=15", "--delrangepercent=0", "--iterpercent=5", "--verify_db_one_in=100", "--continuous_verification_interval=20"}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"Logged", []string{"--reopen=0"}},
		{"Reopened", []string{"--reopen=2", "--manual_wal_flush_one_in=100"}},
		{"Unlogged", []string{"--reopen=0", "--disable_wal=1"}},
		{"CFConsistency", []string{"--reopen=0", "--test_cf_consistency=1"}},
		{"CFConsistencyUnlogged", []string{"--reopen=0", "--test_cf_consistency=1", "--disable_wal=1"}},
		{"Databases", []string{"--reopen=0", "--num_dbs=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmp := t.TempDir()
			base := filepath.Join(tmp, "secondaries")
			cmd := exec.Command(os.Args[0], append(append([]string{"--db=" + filepath.Join(tmp, "db"), "--secondaries_base=" + base}, common...), c.flags...)...)
			cmd.Env = append(os.Environ(), childVariable+"=1", "TEST_TMPDIR="+tmp)
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Verification successful")) {
				t.Fatalf("db_stress ended: %v\n%s", err, out)
			}
			logs, err := filepath.Glob(filepath.Join(base, "*LOG"))
			if more, _ := filepath.Glob(filepath.Join(base, "db_*", "LOG")); err != nil || len(logs)+len(more) == 0 {
				t.Errorf("no secondary instance in %s (%v)", base, err)
			}
		})
	}
}

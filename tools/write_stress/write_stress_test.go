// No upstream twin: write_stress.

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func runStress(args ...string) (code int, stderr string) {
	var errs strings.Builder
	code = run(append([]string{"write_stress"}, args...), &errs, &errs)
	return code, errs.String()
}

func TestWriteStress(t *testing.T) {
	db := filepath.Join(t.TempDir(), "db")
	common := []string{"--db=" + db, "--runtime_sec=1", "--iterator_hold_sec=0", "--prefix_mutate_period_sec=0.01", "--value_size=1000"}
	if code, errs := runStress(append(common, "--low_open_files_mode", "--delete_obsolete_files_with_fullscan")...); code != 0 || errs != "" {
		t.Fatalf("%d, %s", code, errs)
	}
	// What is left over is found.
	s := &writeStress{Flags: Flags{DB: db}}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	// A compaction that ends would delete it.
	if err := s.db.PauseBackgroundWork(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(db, "987654.sst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.checkFiles(); err == nil || !strings.Contains(err.Error(), "found a table file in DB path that should have been deleted: 987654.sst") {
		t.Error(err)
	}
	if err := errors.Join(s.db.ContinueBackgroundWork(), s.db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestWriteStressRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"--nothing":              "ERROR: unknown command line flag 'nothing'",
		"--key_size=2":           "--key_size",
		"--runtime_sec=x":        "ERROR: illegal value 'x'",
		"--db=" + file + "/x/db": "can't open database: ",
	} {
		if code, errs := runStress("--db="+filepath.Join(dir, "db"), "--runtime_sec=0", arg); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d, %s", arg, code, errs)
		}
	}
}

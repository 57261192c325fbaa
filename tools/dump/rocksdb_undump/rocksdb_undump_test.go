// No upstream twin: the command line.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools/dump"
)

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	o := engine.DefaultOptions()
	o.CreateIfMissing = true
	db, err := engine.Open(filepath.Join(dir, "db"), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := dump.Dump(&dump.DumpOptions{DBPath: filepath.Join(dir, "db"), DumpLocation: file}, &o); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"", 1, "Please set --db_path and --dump_location"},
		{"--db_path=" + dir + "/to --dump_location=" + file + " --compact --db_options=num_levels=4", 0, ""},
		{"--db_path=" + dir + "/to --dump_location=" + file + " --db_options=nope=1", 1, "Cannot parse provided db_options"},
		{"--db_path=" + dir + "/to --dump_location=" + dir + "/none", 1, "Unable to open dump file"},
		{"--nope", 1, "unknown command line flag 'nope'"},
	} {
		var out bytes.Buffer
		if code := run(append([]string{"rocksdb_undump"}, strings.Fields(c.args)...), &out, &out); code != c.code || !strings.Contains(out.String(), c.text) {
			t.Errorf("%s: exit code %d: %s", c.args, code, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "to", "CURRENT")); err != nil {
		t.Error(err)
	}
}

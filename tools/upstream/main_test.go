// No upstream twin: the command from its command line.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/internal/xref"
)

// shared is this module, read once.
var shared *xref.Ref

// call runs the command in the module's root.
func call(t *testing.T, in string, args ...string) (code int, out, errw string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(in), out: &o, err: &e, ref: shared}
	code = a.run(args)
	shared = a.ref
	return code, o.String(), e.String()
}

func TestCommands(t *testing.T) {
	for _, x := range []struct {
		args []string
		in   string
		code int
		want string
	}{
		{[]string{"where", "DBImpl::WriteImpl", "--json"}, "", exitOK, `"symbol": "(*DBImpl).writeImpl"`},
		{[]string{"where", "ldb", "dump_wal"}, "", exitOK, "tools/ldb_cmd"},
		{[]string{"where", "NoSuchNameAnywhere"}, "", exitNo, "no name of upstream or of this module"},
		{[]string{"where", "DBImpl::WriteImpl", "NoSuchNameAnywhere"}, "", exitNo, "writeImpl"},
		{[]string{"where"}, "", exitUsage, ""},
		{[]string{"status", "db/db_iter.cc"}, "", exitOK, "db/dbiter/db_iter.go"},
		{[]string{"status", "no/such/dir"}, "", exitNo, "no file or directory"},
		{[]string{"patch", "-"}, "--- a/db/db_iter.cc\n+++ b/db/db_iter.cc\n@@ -5 +5 @@ void DBIter::Prev() {\n-a\n+b\n", exitOK, "everything is placed: 1 files, 1 hunks"},
		{[]string{"patch", "-"}, "--- a/no/such.cc\n+++ b/no/such.cc\n@@ -5 +5 @@\n-a\n+b\n", exitNo, "not everything is placed"},
		{[]string{"patch", "-"}, "nothing\n", exitUsage, ""},
		{[]string{"patch", "/no/such/file"}, "", exitUsage, ""},
		{[]string{"completion", "bash"}, "", exitOK, "complete -F _upstream upstream"},
		{[]string{"completion", "tcsh"}, "", exitUsage, ""},
		{[]string{"no-such-command"}, "", exitUsage, ""},
		{[]string{"help"}, "", exitOK, "usage: upstream"},
		{nil, "", exitUsage, ""},
	} {
		code, out, errw := call(t, x.in, x.args...)
		if code != x.code || !strings.Contains(out, x.want) || code == exitUsage && errw == "" {
			t.Errorf("%v: exit %d, out %q, err %q", x.args, code, out[:min(len(out), 600)], errw)
		}
	}
}

func TestStatusJSON(t *testing.T) {
	_, out, errw := call(t, "", "status", "monitoring", "--json")
	var s xref.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err, errw)
	}
	if len(s.Dirs) != 1 || s.Dirs[0].Dir != "monitoring" || s.Facts["tickers"].All != 263 {
		t.Errorf("%+v", s.Dirs)
	}
	_, text, _ := call(t, "", "status", "monitoring")
	if lines := strings.Split(strings.TrimSpace(text), "\n"); !strings.HasPrefix(lines[len(lines)-1], "total: ") {
		t.Errorf("last line %q", lines[len(lines)-1])
	}
}

// TestFacts reads a small tree, then one with more in it.
func TestFacts(t *testing.T) {
	tree, dir := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("include/rocksdb/version.h", "#define ROCKSDB_MAJOR 1\n#define ROCKSDB_MINOR 2\n#define ROCKSDB_PATCH 3\n")
	write("db/x.cc", "void A::B() {}\n")
	if code, out, errw := call(t, "", "facts", tree, dir); code != exitOK || !strings.HasPrefix(out, "v1.2.3: 2 files, ") {
		t.Fatalf("exit %d: %s%s", code, out, errw)
	}
	write("db/x.cc", "void A::C() {}\n")
	write("db/x_test.cc", "TEST(S, T) {}\n")
	code, out, errw := call(t, "", "facts", tree, dir)
	for _, want := range []string{"+ db/x_test.cc", "+ S.T", "+ A::C", "- A::B"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q: %s%s", code, want, out, errw)
		}
	}
	if code, _, _ := call(t, "", "facts", filepath.Join(tree, "empty")); code != exitUsage {
		t.Errorf("a tree without source: exit %d", code)
	}
}

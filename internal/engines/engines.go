// No upstream twin: drives other engines in tests.

package engines

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tool gives the path of one of Debian's tools (ldb, sst_dump, db_bench).
func Tool(t testing.TB, name string) string {
	t.Helper()
	path := "/usr/bin/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("Debian's %s is not installed (package rocksdb-tools)", name)
	}
	return path
}

// npmDir gives where install.sh put the npm engines.
func npmDir(t testing.TB) string {
	t.Helper()
	dir, why := findNPM()
	if why != "" {
		t.Skip(why)
	}
	return dir
}

func findNPM() (dir, why string) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "no home directory, so no npm engines"
		}
		cache = filepath.Join(home, ".cache")
	}
	dir = filepath.Join(cache, "rocksdb-go", "engines")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "rocksdb-native")); err != nil {
		return "", "the npm engines are not installed (internal/engines/install.sh)"
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", "no node, so no npm engines"
	}
	return dir, ""
}

// Scan gives what an npm engine of that version reads of the database: lines
// "0xKEY ==> 0xVALUE".
func Scan(t testing.TB, version, db string) string {
	t.Helper()
	return run(t, "", "node", filepath.Join(npmDir(t), "engine.js"), version, "scan", db)
}

// Put lets an npm engine write lines of that form.
func Put(t testing.TB, version, db, lines string, options ...string) {
	t.Helper()
	args := append([]string{filepath.Join(npmDir(t), "engine.js"), version, "put", db}, options...)
	run(t, lines, "node", args...)
}

// ToolScan gives what Debian's ldb 7.8.3 reads of the database, in the form of
// Scan. flags are ldb's.
func ToolScan(t testing.TB, db string, flags ...string) string {
	t.Helper()
	out := run(t, "", Tool(t, "ldb"), append(flags, "--db="+db, "--ignore_unknown_options", "--hex", "scan")...)
	return strings.ReplaceAll(out, " : ", " ==> ")
}

// Run runs one of Debian's tools and gives what it prints.
func Run(t testing.TB, tool string, args ...string) string {
	t.Helper()
	return run(t, "", Tool(t, tool), args...)
}

func run(t testing.TB, input, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.String()))
	}
	return out.String()
}

// No upstream twin: the table of public cases.

package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFieldTable: each row of porting/field.tsv names tests that are there, or
// what the case waits for.
func TestFieldTable(t *testing.T) {
	root := "../.."
	files, err := exec.Command("git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("no git:", err)
	}
	have := map[string]bool{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for name := range strings.FieldsSeq(string(files)) {
		src, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted and not committed
		}
		for _, m := range test.FindAllSubmatch(src, -1) {
			have[string(m[1])] = true
		}
	}
	table, err := os.ReadFile(filepath.Join(root, "porting", "field.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(table), []byte("\n"))
	for _, line := range lines[1:] {
		f := strings.Split(string(line), "\t")
		if len(f) != 4 || (f[2] == "-") == (f[3] == "") {
			t.Errorf("%s: tests, or what it waits for", line)
			continue
		}
		for name := range strings.FieldsSeq(strings.TrimPrefix(f[2], "-")) {
			if !have[name] {
				t.Errorf("%s: no %s", f[1], name)
			}
		}
	}
}

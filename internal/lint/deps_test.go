// No upstream twin: the layer test.

package lint

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/rocksdb-go/rocksdb"

type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// readOrder gives each package's place, from bottom to top.
func readOrder(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile("package_order.txt")
	if err != nil {
		t.Fatal(err)
	}
	order := map[string]int{}
	for i, line := range strings.Fields(string(data)) {
		order[line] = i
	}
	return order
}

// top tells whether a package stands above the ordered ones: commands, the
// facade, and what belongs to the project rather than to the engine.
func top(path string) bool {
	return path == module || strings.HasPrefix(path, module+"/tools/") || path == module+"/db_stress" ||
		strings.HasPrefix(path, module+"/internal/cmd/") || path == module+"/internal/lint" || path == module+"/internal/xref" || path == module+"/internal/completion" || path == module+"/internal/gflags" || path == module+"/internal/engines" || path == module+"/internal/compat"
}

// TestPackageOrder holds package_order.txt: no package imports a later one, and
// none of the engine imports the facade.
func TestPackageOrder(t *testing.T) {
	order := readOrder(t)
	for _, p := range listPackages(t) {
		if top(p.ImportPath) {
			continue
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		at, known := order[name]
		if !known {
			t.Errorf("%s has no place in internal/lint/package_order.txt", name)
			continue
		}
		for _, imp := range p.Imports {
			if imp == module {
				t.Errorf("%s imports the facade", name)
				continue
			}
			dep, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			if depAt, known := order[dep]; known && depAt >= at {
				t.Errorf("%s imports %s, which is later in the order", name, dep)
			}
		}
	}
}

// TestPackageDocs wants a doc.go in every package with a package comment.
func TestPackageDocs(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) == 0 || strings.Contains(p.ImportPath, "/internal/cmd/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if err != nil {
			t.Errorf("%s has no doc.go", p.ImportPath)
			continue
		}
		if !strings.Contains(string(data), "// Package ") && !strings.Contains(string(data), "// Command ") {
			t.Errorf("%s/doc.go has no package comment", p.ImportPath)
		}
	}
}

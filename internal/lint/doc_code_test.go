// No upstream twin: the code in the documentation compiles.

package lint

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// preamble are the variables that the documentation's statements use.
const preamble = `package docs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/rocksdb-go/rocksdb"
)

var (
	_ = bytes.Compare
	_ = binary.LittleEndian
	_ = errors.Is
	_ = fmt.Sprint
	_ = log.Fatal
	_ = os.Exit
	_ = time.Now
)

var (
	db    *rocksdb.DB
	cf    *rocksdb.ColumnFamily
	cfs   []*rocksdb.ColumnFamily
	o     = rocksdb.DefaultOptions()
	t     = rocksdb.DefaultBlockBasedTableOptions()
	ro    = rocksdb.DefaultReadOptions()
	wo    = rocksdb.DefaultWriteOptions()
	fo    = rocksdb.DefaultFlushOptions()
	co    = rocksdb.DefaultCompactRangeOptions()
	b     = rocksdb.NewWriteBatch()
	it    *rocksdb.Iterator
	snap  rocksdb.Snapshot
	env   rocksdb.Env
	cache rocksdb.Cache
	v     rocksdb.PinnableSlice
	err   error

	key, value, begin, end, prefix []byte
	keys                           [][]byte
	values                         []rocksdb.PinnableSlice
	errs                           []error
	dir, path, name                string
	seq                            rocksdb.SequenceNumber
)
`

// importerOf reads the export data of the module's packages.
func importerOf(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", module, "os", "time", "errors", "log")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		path, file, _ := strings.Cut(s.Text(), "\t")
		files[path] = file
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("%s is not imported", path)
		}
		return os.Open(files[path])
	})
}

// snippet is a piece of code of a page.
type snippet struct {
	page string
	line int
	code string
}

// codeBlocks are the Go blocks of a page; of the page about migrating, the last
// column of its tables as well.
func codeBlocks(page, text string) (list []snippet) {
	var block []string
	in, start := "", 0
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```") && in == "":
			in, start, block = strings.TrimPrefix(line, "```"), i+1, nil
			if in == "" {
				in = "text"
			}
		case strings.HasPrefix(line, "```"):
			if in == "go" {
				list = append(list, snippet{page, start, strings.Join(block, "\n")})
			}
			in = ""
		case in != "":
			block = append(block, line)
		case page == "docs/migrating.md" && strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for _, m := range span.FindAllStringSubmatch(cells[len(cells)-1], -1) {
				list = append(list, snippet{page, i + 1, m[1]})
			}
		}
	}
	return list
}

// wrap makes a file of a snippet: it is one, or declarations, or statements.
func wrap(s *snippet) string {
	code := s.code
	switch {
	case strings.Contains(code, "package main"):
		return code
	case strings.HasPrefix(code, "func ") || strings.HasPrefix(code, "type "):
		return preamble + code
	}
	return preamble + "func _() {\n" + code + "\n}\n"
}

// harmless are complaints about code that shows a call and drops its result.
func harmless(err error) bool {
	e, ok := err.(types.Error)
	return ok && (e.Soft || strings.Contains(e.Msg, "is not used"))
}

// TestDocsCode type-checks the Go code of the pages.
func TestDocsCode(t *testing.T) {
	fset := token.NewFileSet()
	imp := importerOf(t, fset)
	n := 0
	for _, page := range docFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range codeBlocks(page, string(data)) {
			n++
			f, err := parser.ParseFile(fset, fmt.Sprintf("%s:%d", page, s.line), wrap(&s), parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%s:%d: %v\n%s", page, s.line, err, s.code)
				continue
			}
			config := types.Config{Importer: imp, Error: func(err error) {
				if !harmless(err) {
					t.Errorf("%s:%d: %v\n%s", page, s.line, err.(types.Error).Msg, s.code)
				}
			}}
			_, _ = config.Check("docs", fset, []*ast.File{f}, nil) // errors went to Error
		}
	}
	if n < 50 {
		t.Errorf("only %d pieces of code were found", n)
	}
}

// No upstream twin: the names of an upstream tree.

package xref

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
)

// Roots are upstream's directories that the tables cover.
var Roots = []string{"cache", "db", "db_stress_tool", "env", "file", "include", "logging", "memory", "memtable", "microbench", "monitoring",
	"options", "port", "table", "test_util", "tools", "trace_replay", "util", "utilities"}

// File is a source file of upstream.
type File struct {
	Path  string
	Kind  string // source, header, test, testutil, bench, script
	Lines int
}

// Fact is a name that is no symbol of C++, or more than one: an option, a
// ticker, a flag.
type Fact struct {
	Kind  string // one of FactKinds
	Name  string // as users write it
	Const string // the C++ constant, the option's table, the flag's type, the command's class
	File  string
	Line  int
}

// FactKinds are the kinds of facts: each is a table of porting/upstream.
var FactKinds = []string{"options", "tickers", "histograms", "perf_counters", "db_properties", "table_properties", "flags", "ldb_flags",
	"sst_dump_flags", "commands", "benchmarks", "sync_points"}

// Facts is what is known of an upstream tree.
type Facts struct {
	Version string
	Files   []File
	Symbols []Symbol
	Facts   []Fact

	fileAt map[string]int
	byFile map[string][]Symbol
}

// scanned is what one file gave.
type scanned struct {
	file    File
	symbols []Symbol
	facts   []Fact
}

// ReadTree reads an upstream source tree.
func ReadTree(root string) (*Facts, error) {
	var paths []string
	for _, dir := range Roots {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if rel, _ := filepath.Rel(root, path); !d.IsDir() && fileKind(filepath.ToSlash(rel)) != "" {
				paths = append(paths, filepath.ToSlash(rel))
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no source of upstream", root)
	}
	sort.Strings(paths)
	results := make([]scanned, len(paths))
	errs := make([]error, len(paths))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, path := range paths {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			src, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				errs[i] = err
				return
			}
			results[i] = scanFile(path, string(src))
		}()
	}
	wg.Wait()
	f := &Facts{Version: treeVersion(root)}
	for i, r := range results {
		if errs[i] != nil {
			return nil, errs[i]
		}
		f.Files = append(f.Files, r.file)
		f.Symbols = append(f.Symbols, r.symbols...)
		f.Facts = append(f.Facts, r.facts...)
	}
	f.trimCalls()
	f.finish()
	return f, nil
}

// trimCalls leaves of a function's calls those of its own file and header.
func (f *Facts) trimCalls() {
	own := map[string]map[string]bool{}
	for _, s := range f.Symbols {
		if s.Kind == KindFunc || s.Kind == KindDecl {
			at := stem(s.File)
			if own[at] == nil {
				own[at] = map[string]bool{}
			}
			own[at][lastName(s.Name)] = true
		}
	}
	for i := range f.Symbols {
		s := &f.Symbols[i]
		if s.Calls == "" {
			continue
		}
		var keep []string
		if kind := fileKind(s.File); kind == "source" || kind == "header" {
			for _, c := range strings.Fields(s.Calls) {
				if own[stem(s.File)][c] && c != lastName(s.Name) {
					keep = append(keep, c)
				}
			}
		}
		s.Calls = strings.Join(keep, " ")
	}
}

func treeVersion(root string) string {
	src, err := os.ReadFile(filepath.Join(root, "include/rocksdb/version.h"))
	if err != nil {
		return "unknown"
	}
	var n [3]string
	for i, word := range []string{"MAJOR", "MINOR", "PATCH"} {
		m := regexp.MustCompile(`#define ROCKSDB_` + word + ` (\d+)`).FindSubmatch(src)
		if m == nil {
			return "unknown"
		}
		n[i] = string(m[1])
	}
	return "v" + n[0] + "." + n[1] + "." + n[2]
}

// fileKind classes a path, "" for what the tables leave out.
func fileKind(path string) string {
	base := filepath.Base(path)
	switch filepath.Ext(path) {
	case ".cc", ".c", ".h":
	case ".py", ".sh":
		return "script"
	default:
		return ""
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), "_")
	switch {
	case strings.Contains(stem, "testutil") || strings.Contains(stem, "test_util") || strings.HasSuffix(stem, "_test_base"):
		return "testutil"
	case strings.HasSuffix(stem, "_test") && filepath.Ext(base) != ".h":
		return "test"
	case strings.HasSuffix(stem, "_bench") && filepath.Ext(base) == ".cc":
		return "bench"
	case filepath.Ext(base) == ".h":
		return "header"
	}
	return "source"
}

var pyDef = regexp.MustCompile(`^\s*def (\w+)`)

// scanFile reads one file.
func scanFile(path, src string) scanned {
	s := scanned{file: File{path, fileKind(path), strings.Count(src, "\n")}}
	if s.file.Kind == "script" {
		for i, line := range strings.Split(src, "\n") {
			if m := pyDef.FindStringSubmatch(line); m != nil && strings.HasSuffix(path, ".py") {
				s.symbols = append(s.symbols, Symbol{File: path, Kind: KindFunc, Name: m[1], Line: i + 1, End: i + 1})
			}
		}
		return s
	}
	p, toks := parseCpp(path, src)
	s.symbols = p.out
	for _, fl := range p.flags {
		s.facts = append(s.facts, Fact{"flags", fl.Name, fl.More, path, fl.Line})
	}
	s.facts = append(s.facts, scanFacts(path, toks, p.out)...)
	return s
}

// finish sorts, drops what stands twice, and indexes.
func (f *Facts) finish() {
	sort.SliceStable(f.Files, func(i, j int) bool { return f.Files[i].Path < f.Files[j].Path })
	sort.SliceStable(f.Symbols, func(i, j int) bool {
		a, b := f.Symbols[i], f.Symbols[j]
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.End > b.End
	})
	symbols := f.Symbols[:0]
	for i, s := range f.Symbols {
		if i == 0 || s != f.Symbols[i-1] {
			symbols = append(symbols, s)
		}
	}
	f.Symbols = symbols
	order := map[string]int{}
	for i, k := range FactKinds {
		order[k] = i
	}
	sort.SliceStable(f.Facts, func(i, j int) bool {
		a, b := f.Facts[i], f.Facts[j]
		if a.Kind != b.Kind {
			return order[a.Kind] < order[b.Kind]
		}
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Line < b.Line
	})
	type key struct{ kind, name, konst, file string }
	seen := map[key]bool{}
	facts := f.Facts[:0]
	for _, x := range f.Facts {
		k := key{x.Kind, x.Name, x.Const, x.File}
		if !seen[k] {
			seen[k] = true
			facts = append(facts, x)
		}
	}
	f.Facts = facts
	f.index()
}

func (f *Facts) index() {
	f.fileAt = map[string]int{}
	for i, x := range f.Files {
		f.fileAt[x.Path] = i
	}
	f.byFile = map[string][]Symbol{}
	for from := 0; from < len(f.Symbols); {
		to := from
		for to < len(f.Symbols) && f.Symbols[to].File == f.Symbols[from].File {
			to++
		}
		f.byFile[f.Symbols[from].File] = f.Symbols[from:to]
		from = to
	}
}

// HasFile tells whether upstream has a file.
func (f *Facts) HasFile(path string) bool {
	_, ok := f.fileAt[path]
	return ok
}

// Enclosing gives the innermost symbols of a file around a line: a function
// where there is one, and the class around it.
func (f *Facts) Enclosing(path string, line int) []Symbol {
	var found []Symbol
	for _, s := range f.byFile[path] {
		if s.Line <= line && line <= s.End {
			found = append(found, s)
		}
	}
	return found
}

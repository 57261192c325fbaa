// No upstream twin: what a patch adds to the names that users see.

package xref

import (
	"path"
	"regexp"
	"strings"
)

var (
	newTest    = regexp.MustCompile(`^(?:TEST(?:_F|_P)?|TYPED_TEST(?:_P)?)\(\s*(\w+)\s*,\s*(\w+)\s*\)`)
	newOption  = regexp.MustCompile(`^\s*\{"(\w+)",`)
	newNamed   = regexp.MustCompile(`^\s*\{([A-Z][A-Z0-9_]+),\s*$|^\s*\{([A-Z][A-Z0-9_]+),\s*"([\w.\-]+)"`)
	newCounter = regexp.MustCompile(`^\s+uint64_t (\w+)(?: = 0)?;`)
	newFlag    = regexp.MustCompile(`^DEFINE_(\w+)\(\s*(\w+)?`)
	newProp    = regexp.MustCompile(`Properties::(k\w+)\s*=`)
	newArg     = regexp.MustCompile(`(ARG_\w+)\s*=\s*"([\w-]+)"`)
	newCommand = regexp.MustCompile(`static std::string Name\(\) \{ return "(\w+)"; \}`)
	newPoint   = regexp.MustCompile(`TEST_(?:IDX_)?SYNC_POINT(?:_CALLBACK)?\(\s*"([^"]+)"`)
	newBench   = regexp.MustCompile(`name == "(\w+)"`)
)

// newNames lists the tests, options, tickers, counters, flags, commands,
// properties and sync points on a file's new lines that are not on its old ones.
func (r *Ref) newNames(f *DiffFile) []NewName {
	at := f.Path()
	plus, minus := map[string]bool{}, map[string]bool{}
	var order []NewName
	for _, h := range f.Hunks {
		var added []string
		for _, l := range h.Lines {
			if l[0] == '+' {
				added = append(added, l[1:])
			} else if l[0] == '-' {
				for _, n := range namesOnLine(at, l[1:], "") {
					minus[n.Kind+" "+n.Name] = true
				}
			}
		}
		for i, l := range added {
			next := ""
			if i+1 < len(added) {
				next = added[i+1]
			}
			for _, n := range namesOnLine(at, l, next) {
				if key := n.Kind + " " + n.Name; !plus[key] {
					plus[key] = true
					order = append(order, n)
				}
			}
		}
	}
	var out []NewName
	for _, n := range order {
		if minus[n.Kind+" "+n.Name] {
			continue
		}
		n.Known = r.knownPlace(n)
		out = append(out, n)
	}
	return out
}

// namesOnLine reads one line; next is the new line after it.
func namesOnLine(at, line, next string) []NewName {
	var out []NewName
	add := func(kind, name string) {
		if name != "" {
			out = append(out, NewName{Kind: kind, Name: name, File: at})
		}
	}
	joined := line
	if strings.HasSuffix(strings.TrimSpace(line), "(") || strings.HasSuffix(strings.TrimSpace(line), ",") || strings.HasSuffix(strings.TrimSpace(line), "=") {
		joined = strings.TrimRight(line, " ") + " " + strings.TrimSpace(next)
	}
	kind := fileKind(at)
	switch {
	case kind == "test":
		if m := newTest.FindStringSubmatch(strings.ReplaceAll(joined, "( ", "(")); m != nil {
			add("test", m[1]+"."+m[2])
		}
	case at == "monitoring/statistics.cc":
		if m := newNamed.FindStringSubmatch(joined); m != nil {
			add("ticker or histogram", m[1]+m[2])
		}
	case at == "include/rocksdb/perf_context.h" || at == "include/rocksdb/iostats_context.h":
		if m := newCounter.FindStringSubmatch(line); m != nil {
			add("perf counter", m[1])
		}
	case strings.HasPrefix(at, "options/") || strings.HasSuffix(at, "_table_factory.cc"):
		if m := newOption.FindStringSubmatch(line); m != nil {
			add("option", m[1])
		}
	case at == "db/internal_stats.cc":
		if m := newProp.FindStringSubmatch(joined); m != nil {
			add("DB property", m[1])
		}
	case at == "tools/ldb_cmd.cc":
		if m := newArg.FindStringSubmatch(joined); m != nil {
			add("flag of ldb", m[2])
		}
	case at == "tools/ldb_cmd_impl.h":
		if m := newCommand.FindStringSubmatch(line); m != nil {
			add("command of ldb", m[1])
		}
	case at == "tools/sst_dump_tool.cc":
		for _, m := range regexp.MustCompile(`"--([a-z_]+)=?"`).FindAllStringSubmatch(line, -1) {
			add("flag of sst_dump", m[1])
		}
	}
	if m := newFlag.FindStringSubmatch(strings.ReplaceAll(joined, "( ", "(")); m != nil && gflagTypes[m[1]] {
		add("flag of "+toolOf(at), m[2])
	}
	if at == "tools/db_bench_tool.cc" {
		if m := newBench.FindStringSubmatch(line); m != nil {
			add("benchmark of db_bench", m[1])
		}
	}
	if kind == "source" || kind == "header" {
		if m := newPoint.FindStringSubmatch(joined); m != nil {
			add("sync point", m[1])
		}
	}
	return out
}

// knownPlace says where a new name is here already.
func (r *Ref) knownPlace(n NewName) string {
	if n.Kind == "test" {
		if d := r.Go.tests[n.Name]; d != nil {
			return spot(d).String()
		}
		if row := r.Ledger.byName[n.Name]; row != nil {
			return "porting/" + row.Table + ": " + row.Why
		}
		return ""
	}
	for _, x := range r.Up.Facts {
		if x.Name != n.Name && x.Const != n.Name {
			continue
		}
		kind := titles[x.Kind]
		if x.Kind == "flags" {
			kind += " of " + toolOf(x.File)
		}
		if kind != n.Kind && !strings.Contains(n.Kind, kind) {
			continue
		}
		if p := r.Fact(x); p.Placed() {
			return p.Spots[0].String()
		}
	}
	return ""
}

// Recipe says what to do about a kind of new name: the recipe of CONTRIBUTING.md.
func Recipe(kind string) string {
	switch {
	case kind == "option":
		return `CONTRIBUTING.md, "Add an option"`
	case kind == "ticker or histogram" || kind == "perf counter":
		return `CONTRIBUTING.md, "Add a ticker or histogram"`
	case strings.HasPrefix(kind, "flag of") || strings.HasPrefix(kind, "command of") || strings.HasPrefix(kind, "benchmark of"):
		return `CONTRIBUTING.md, "Add a flag of a tool"`
	case kind == "DB property":
		return "a constant in include/rocksdb/properties.go, its row in db/internal_stats.go"
	case kind == "sync point":
		return "syncpoint.Process of test_util/syncpoint, at the same place"
	}
	return `CONTRIBUTING.md, "Port an upstream change": tests first`
}

// Skeleton gives the Go tests that a patch's new tests ask for, by Go file.
func (r *Ref) Skeleton(names []NewName) map[string][]string {
	out := map[string][]string{}
	for _, n := range names {
		if n.Kind != "test" || n.Known != "" {
			continue
		}
		file := goPathFor(n.File)
		if fs := r.Go.byUp[n.File]; len(fs) > 0 {
			file = fs[0].Path
			for _, f := range fs {
				if strings.TrimSuffix(path.Base(f.Path), ".go") == strings.TrimSuffix(path.Base(n.File), path.Ext(n.File)) {
					file = f.Path
				}
			}
		}
		out[file] = append(out[file], "func Test"+strings.ReplaceAll(n.Name, ".", "_")+"(t *testing.T)")
	}
	return out
}

// No upstream twin: options, tickers, flags and the like in C++ source.

package xref

import (
	"regexp"
	"strings"
)

// scanFacts reads the tables that upstream keeps in code.
func scanFacts(path string, t []tok, symbols []Symbol) []Fact {
	w := &factScan{path: path, t: t}
	w.syncPoints()
	switch {
	case path == "monitoring/statistics.cc":
		w.nameMap("TickersNameMap", "tickers")
		w.nameMap("HistogramsNameMap", "histograms")
	case path == "include/rocksdb/perf_context.h" || path == "include/rocksdb/iostats_context.h":
		for _, s := range symbols {
			if s.Kind == KindMember && !strings.HasSuffix(s.Name, "_") {
				i := strings.LastIndex(s.Name, "::")
				w.add("perf_counters", s.Name[i+2:], strings.TrimSuffix(filebase(path), ".h"), s.Line)
			}
		}
	case path == "db/internal_stats.cc":
		w.constants("db_properties", "Properties")
	case path == "table/table_properties.cc":
		w.constants("table_properties", "TablePropertiesNames")
	case path == "tools/ldb_cmd.cc":
		w.ldbFlags()
	case path == "tools/ldb_cmd_impl.h":
		w.ldbCommands(symbols)
	case path == "tools/sst_dump_tool.cc":
		w.sstDumpFlags()
	case path == "tools/db_bench_tool.cc":
		w.benchmarks()
	}
	if strings.HasSuffix(path, ".cc") && fileKind(path) == "source" {
		w.options()
	}
	return w.out
}

func filebase(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

type factScan struct {
	path string
	t    []tok
	out  []Fact
}

func (w *factScan) add(kind, name, konst string, line int) {
	w.out = append(w.out, Fact{kind, name, konst, w.path, line})
}

// is tells whether the words from i on are these; a "*" stands for any.
func (w *factScan) is(i int, words ...string) bool {
	if i < 0 || i+len(words) > len(w.t) {
		return false
	}
	for k, word := range words {
		if t := w.t[i+k]; word != "*" && (t.kind == tokString || t.text != word) {
			return false
		}
	}
	return true
}

// text gives the string at i, with those that follow it, and the index after.
func (w *factScan) text(i int) (string, int, bool) {
	if i >= len(w.t) || w.t[i].kind != tokString {
		return "", i, false
	}
	var b strings.Builder
	for i < len(w.t) && w.t[i].kind == tokString {
		b.WriteString(w.t[i].text)
		i++
	}
	return b.String(), i, true
}

func (w *factScan) syncPoints() {
	for i, t := range w.t {
		if t.kind != tokIdent || !strings.HasPrefix(t.text, "TEST_") && t.text != "TEST_KILL_RANDOM" || !strings.Contains(t.text, "SYNC_POINT") || !w.is(i+1, "(") {
			continue
		}
		if s, _, ok := w.text(i + 2); ok {
			w.add("sync_points", s, "", t.line)
		}
	}
}

// nameMap reads {CONSTANT, "name"}, ….
func (w *factScan) nameMap(table, kind string) {
	for i := range w.t {
		if !w.is(i, table) {
			continue
		}
		for j := i; j < len(w.t) && !w.is(j, ";"); j++ {
			if w.is(j, "{", "*", ",") && w.t[j+1].kind == tokIdent {
				if s, _, ok := w.text(j + 3); ok {
					w.add(kind, s, w.t[j+1].text, w.t[j+1].line)
				}
			}
		}
		return
	}
}

// constants reads "const std::string … Class::kName = a + "b";", with the plain
// constants of the file put in.
func (w *factScan) constants(kind, class string) {
	plain := map[string]string{}
	for i := range w.t {
		if w.t[i].kind != tokIdent || !w.is(i+1, "=") {
			continue
		}
		value, j := "", i+2
		for ; j < len(w.t) && !w.is(j, ";"); j++ {
			switch t := w.t[j]; t.kind {
			case tokString:
				value += t.text
			case tokIdent:
				value += plain[t.text]
			}
		}
		if w.is(i-2, class, "::") {
			if value != "" {
				w.add(kind, value, w.t[i].text, w.t[i].line)
			}
		} else if w.is(i-1, "string") {
			plain[w.t[i].text] = value
		}
	}
}

func (w *factScan) ldbFlags() {
	for i, t := range w.t {
		if t.kind == tokIdent && strings.HasPrefix(t.text, "ARG_") && w.is(i+1, "=") {
			if s, _, ok := w.text(i + 2); ok {
				w.add("ldb_flags", s, t.text, t.line)
			}
		}
	}
}

// ldbCommands reads static std::string Name() { return "…"; } of the commands'
// classes.
func (w *factScan) ldbCommands(symbols []Symbol) {
	for i := range w.t {
		if !w.is(i, "Name", "(", ")", "{", "return") {
			continue
		}
		s, _, ok := w.text(i + 5)
		if !ok {
			continue
		}
		class := ""
		for _, sym := range symbols {
			if sym.Kind == KindClass && sym.Line <= w.t[i].line && w.t[i].line <= sym.End {
				class = sym.Name
			}
		}
		w.add("commands", s, class, w.t[i].line)
	}
}

var dashed = regexp.MustCompile(`^--([a-z_]+)(=|=%.*)?$`)

func (w *factScan) sstDumpFlags() {
	for i, t := range w.t {
		if t.kind != tokString || !w.is(i-1, ",") && !w.is(i-1, "(") {
			continue
		}
		if m := dashed.FindStringSubmatch(t.text); m != nil {
			w.add("sst_dump_flags", m[1], "", t.line)
		}
	}
}

func (w *factScan) benchmarks() {
	for i := range w.t {
		if w.is(i, "name", "=", "=") {
			if s, _, ok := w.text(i + 3); ok {
				w.add("benchmarks", s, "", w.t[i].line)
			}
		}
	}
}

// options reads the rows of maps from names to OptionTypeInfo.
func (w *factScan) options() {
	for i := range w.t {
		if !w.is(i, "OptionTypeInfo", ">") || i+3 >= len(w.t) {
			continue
		}
		name := w.t[i+2]
		if name.kind != tokIdent {
			continue
		}
		depth := 0
		for j := i + 3; j < len(w.t); j++ {
			if w.is(j, "{") {
				depth++
				if s, _, ok := w.text(j + 1); ok && depth == 2 {
					w.add("options", s, name.text, w.t[j+1].line)
				}
			} else if w.is(j, "}") {
				depth--
			} else if w.is(j, ";") && depth == 0 {
				break
			}
		}
	}
}

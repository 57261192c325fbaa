// No upstream twin: which tickers, histograms and perf counters the engine
// counts. docs/statistics.md lists the others.

package lint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// counter is a ticker, histogram or perf counter.
type counter struct{ identifier, name string }

func readSource(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// allCounters reads the names from the tables that print them.
func allCounters(t *testing.T) []counter {
	t.Helper()
	var list []counter
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+): +"(rocksdb\.[^"]+)",$`).FindAllStringSubmatch(readSource(t, "include/rocksdb/statistics_names.go"), -1) {
		list = append(list, counter{m[1], m[2]})
	}
	statistics := len(list)
	perf := readSource(t, "include/rocksdb/perf_context.go")
	names := regexp.MustCompile(`(?s)var perfCounterNames = \[\.\.\.\]string\{(.*?)\n\}`).FindStringSubmatch(perf)
	fields := regexp.MustCompile(`(?s)func \(c \*PerfCounters\) counters\(\)(.*?)\n\}`).FindStringSubmatch(perf)
	if names == nil || fields == nil {
		t.Fatal("perf_context.go has changed its form")
	}
	n := regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(names[1], -1)
	f := regexp.MustCompile(`&c\.(\w+)`).FindAllStringSubmatch(fields[1], -1)
	if len(n) != len(f) || len(n) < 100 || statistics < 300 {
		t.Fatalf("%d names, %d fields, %d tickers and histograms", len(n), len(f), statistics)
	}
	for i := range n {
		list = append(list, counter{f[i][1], n[i][1]})
	}
	return list
}

// engineWords are the words of the engine's code, without comments.
func engineWords(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	comment, word := regexp.MustCompile(`//[^\n]*`), regexp.MustCompile(`\w+`)
	root := filepath.Join("..", "..")
	for _, dir := range []string{"cache", "db", "env", "file", "logging", "memory", "memtable", "monitoring", "options", "port", "table",
		"trace_replay", "util", "utilities"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			b, err := os.ReadFile(p)
			for _, w := range word.FindAll(comment.ReplaceAll(b, nil), -1) {
				words[string(w)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return words
}

// TestStatistics_Uncounted holds that what the engine does not count is what
// docs/statistics.md says it does not.
func TestStatistics_Uncounted(t *testing.T) {
	_, doc, ok := strings.Cut(readSource(t, "docs/statistics.md"), "## Counters that stay zero")
	if !ok {
		t.Fatal("docs/statistics.md has no such heading")
	}
	used := map[string]bool{}
	var patterns []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^|]+)` \\|").FindAllStringSubmatch(doc, -1) {
		patterns = append(patterns, strings.Split(m[1], "`, `")...)
	}
	words := engineWords(t)
	for _, c := range allCounters(t) {
		listed := false
		for _, p := range patterns {
			if ok, err := path.Match(p, c.name); err != nil {
				t.Errorf("%q: %v", p, err)
			} else if ok {
				listed, used[p] = true, true
			}
		}
		switch counted := words[c.identifier]; {
		case counted && listed:
			t.Errorf("%s is counted; docs/statistics.md says it stays zero", c.name)
		case !counted && !listed:
			t.Errorf("nothing counts %s, and docs/statistics.md does not say so", c.name)
		}
	}
	for _, p := range patterns {
		if !used[p] {
			t.Errorf("docs/statistics.md: %q is no counter", p)
		}
	}
}

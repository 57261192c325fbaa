// No upstream twin: the tables of the compatibility matrix.

package compat

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var engineVersions = []string{"7.8.3", "9.7.4", "10.5.1", "11.8.1"}

// refuses tells whether an engine's build is known not to read such a table.
// It has to say so; every other cell has to pass.
func refuses(engine string, c *cell) bool {
	switch engine {
	case "7.8.3":
		return c.version > 5 || apart(c.dataBlocks)
	case "9.7.4":
		return c.version > 6 || apart(c.dataBlocks) || c.compression != "none" && c.compression != "zstd"
	case "10.5.1":
		return apart(c.dataBlocks) || c.compression != "none"
	}
	return false
}

// direction is who wrote.
type direction string

const (
	writtenHere direction = "written here, read by"
	byOthers    direction = "read here, written by"
)

type resultKey struct {
	engine string
	dir    direction
	c      cell
}

// report collects what became of the cells.
type report struct {
	mu      sync.Mutex
	results map[resultKey]outcome
	failed  int
}

// add notes a cell's outcome; one that is neither right nor a known refusal
// fails the test.
func (r *report) add(t testing.TB, engine string, dir direction, c cell, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.results == nil {
		r.results = map[resultKey]outcome{}
	}
	r.results[resultKey{engine, dir, c}] = o
	if o == "" || dir == writtenHere && refuses(engine, &c) && !o.wrong() {
		return
	}
	if r.failed++; r.failed <= 30 {
		t.Errorf("%s %s: %+v: %.300s", dir, engine, c, o)
	}
}

// wrong tells whether something was read, but not what was written.
func (o outcome) wrong() bool { return strings.HasPrefix(string(o), "WRONG") }

var varying = regexp.MustCompile(`(?:in file:?|in)? ?/[^ ]*/([0-9]+\.sst|MANIFEST).*|exit status.*`)

// reason is a refusal without the parts that vary from run to run.
func (o outcome) reason() string {
	s := strings.TrimPrefix(string(o), "(scan) ")
	return strings.TrimSpace(varying.ReplaceAllString(s, ""))
}

// count is of cells that passed, were refused and failed.
type count struct {
	pass, refused, failed int
	reasons               map[string]int
}

func (n *count) add(engine string, c *cell, o outcome) {
	switch {
	case o == "":
		n.pass++
	case refuses(engine, c) && !o.wrong():
		n.refused++
		if n.reasons == nil {
			n.reasons = map[string]int{}
		}
		n.reasons[o.reason()]++
	default:
		n.failed++
	}
}

func (n *count) String() string {
	var parts []string
	if n.pass > 0 {
		parts = append(parts, fmt.Sprintf("%d pass", n.pass))
	}
	if n.refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", n.refused))
	}
	if n.failed > 0 {
		parts = append(parts, fmt.Sprintf("**%d fail**", n.failed))
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, ", ")
}

// gather counts the cells of an engine and direction by row and column.
func (r *report) gather(engine string, dir direction, row, column func(*cell) string) map[[2]string]*count {
	counts := map[[2]string]*count{}
	for k, o := range r.results {
		if k.engine != engine || k.dir != dir {
			continue
		}
		at := [2]string{row(&k.c), column(&k.c)}
		if counts[at] == nil {
			counts[at] = &count{}
		}
		counts[at].add(engine, &k.c, o)
	}
	return counts
}

var dimensions = []struct {
	name string
	of   func(*cell) string
}{
	{"checksum", func(c *cell) string { return c.checksum }},
	{"filter", func(c *cell) string { return c.filter }},
	{"index", func(c *cell) string { return c.index }},
	{"data blocks", func(c *cell) string { return c.dataBlocks }},
}

func compressionRow(c *cell) string {
	if c.dict == "none" {
		return c.compression
	}
	return c.compression + ", dictionary " + c.dict
}

func versionColumn(c *cell) string { return fmt.Sprint(c.version) }

// String gives the tables in Markdown.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s strings.Builder
	s.WriteString(preface)
	for _, dir := range []direction{writtenHere, byOthers} {
		for _, engine := range engineVersions {
			r.section(&s, engine, dir)
		}
	}
	return s.String()
}

const preface = `# What other engines read and write

Made by ` + "`make compat`" + `; the test runs in ` + "`make check`" + ` too. A cell is one table of one format version, compression and dictionary,
checksum, filter, index and kind of data blocks, with deletions of a key and of a range in it. The reader scans it whole and looks keys up,
some there and one not. Filters and indexes are crossed with each other and all the rest; kinds of data blocks with formats and compressions.
"Refused" is a cell that the engine's build says it cannot read; the errors stand below each table.

Debian's 7.8.3 writes whatever an OPTIONS file says; of the others, what their bindings let one choose. Tables that 11.8.1's db_bench wrote with
the rest of the options are read by the golden tests.
`

func (r *report) section(s *strings.Builder, engine string, dir direction) {
	counts := r.gather(engine, dir, compressionRow, versionColumn)
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(s, "\n## %s %s\n\n", strings.ToUpper(string(dir[:1]))+string(dir[1:]), engine)
	var rows, cols []string
	for at := range counts {
		if !slices.Contains(rows, at[0]) {
			rows = append(rows, at[0])
		}
		if !slices.Contains(cols, at[1]) {
			cols = append(cols, at[1])
		}
	}
	slices.Sort(cols)
	slices.SortFunc(rows, func(a, b string) int { return rank(a) - rank(b) })
	fmt.Fprintf(s, "| format_version | %s |\n|---|%s\n", strings.Join(cols, " | "), strings.Repeat("---|", len(cols)))
	reasons := map[string]int{}
	for _, row := range rows {
		fmt.Fprintf(s, "| %s |", row)
		for _, col := range cols {
			n := counts[[2]string{row, col}]
			if n == nil {
				n = &count{}
			}
			fmt.Fprintf(s, " %s |", n)
			for reason, k := range n.reasons {
				reasons[reason] += k
			}
		}
		s.WriteString("\n")
	}
	s.WriteString("\n")
	for _, d := range dimensions {
		r.line(s, engine, dir, d.name, d.of)
	}
	names := make([]string, 0, len(reasons))
	for reason := range reasons {
		names = append(names, reason)
	}
	slices.Sort(names)
	for _, reason := range names {
		fmt.Fprintf(s, "- refused, %d cells: `%s`\n", reasons[reason], reason)
	}
}

// line counts the cells by one dimension.
func (r *report) line(s *strings.Builder, engine string, dir direction, name string, of func(*cell) string) {
	counts := r.gather(engine, dir, of, func(*cell) string { return "" })
	var values []string
	for at := range counts {
		values = append(values, at[0])
	}
	slices.Sort(values)
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf("%s (%s)", v, counts[[2]string{v, ""}])
	}
	fmt.Fprintf(s, "- %s: %s\n", name, strings.Join(parts, "; "))
}

// rank sorts rows as compressions are numbered.
func rank(row string) int {
	name, dict, _ := strings.Cut(row, ", dictionary ")
	return 10*slices.Index(compressions, name) + slices.Index([]string{"", "samples", "trained", "finalized"}, dict)
}

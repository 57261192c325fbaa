// No upstream twin: the counters that v11.8.1's db_bench repeats exactly, run
// after run, come out the same here.

package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var statisticsDoc = flag.String("statistics-doc", "", "write the tables of docs/statistics.md to this file")

// readTSV reads a table of testdata/statistics without its heading.
func readTSV(t *testing.T, name string) (heading []string, rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/statistics", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows[0], rows[1:]
}

var (
	tickerLine    = regexp.MustCompile(`(?m)^(rocksdb\.\S+) COUNT : (\d+)$`)
	histogramLine = regexp.MustCompile(`(?m)^(rocksdb\.\S+) P50 :.*COUNT : (\d+) SUM : (\d+)$`)
)

// printedStatistics gives the last value that each line of db_bench's output has.
func printedStatistics(out string) map[string]string {
	m := map[string]string{}
	for _, x := range tickerLine.FindAllStringSubmatch(out, -1) {
		m[x[1]] = x[2]
	}
	for _, x := range histogramLine.FindAllStringSubmatch(out, -1) {
		m[x[1]+" (histogram count)"], m[x[1]+" (histogram sum)"] = x[2], x[3]
	}
	return m
}

// TestStatisticsExact runs the commands of testdata/statistics/commands.tsv. Each
// value of values.tsv (- where upstream's runs disagree) has to be printed, but
// for the lines of differs.tsv, whose reasons docs/statistics.md gives.
func TestStatisticsExact(t *testing.T) {
	_, commands := readTSV(t, "commands.tsv")
	runs, values := readTSV(t, "values.tsv")
	_, differs := readTSV(t, "differs.tsv")
	known := map[string][]string{}
	for _, d := range differs {
		known[d[0]+" "+d[1]] = d
	}
	var table strings.Builder
	table.WriteString("| run | flags | exact | not zero | equal |\n|---|---|---:|---:|---:|\n")
	var all, nonzero, equal int
	for _, c := range commands {
		column := slices.Index(runs, c[0])
		ok := t.Run(c[0], func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, code := runTool(t, append([]string{"--db=db"}, strings.Fields(c[1])...)...)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, out)
			}
			got := printedStatistics(out)
			var n, nz, eq int
			for _, row := range values {
				want := row[column]
				if want == "-" {
					continue
				}
				n++
				if want != "0" {
					nz++
				}
				d := known[c[0]+" "+row[0]]
				switch {
				case got[row[0]] == want && want != "0":
					eq++
				case got[row[0]] == want:
				case d == nil || d[2] != want:
					t.Errorf("%s is %s, upstream's %s", row[0], got[row[0]], want)
				case d[4] == "malloc" && d[3] != got[row[0]]:
					t.Errorf("%s is %s, upstream's %s, %s in differs.tsv", row[0], got[row[0]], want, d[3])
				}
			}
			all, nonzero, equal = all+n, nonzero+nz, equal+eq
			fmt.Fprintf(&table, "| %s | `%s` | %d | %d | %d |\n", c[0], specificFlags(c[1]), n, nz, eq)
		})
		if !ok && *statisticsDoc != "" {
			t.Fatal("no tables are written of a run that fails")
		}
	}
	fmt.Fprintf(&table, "| all | | %d | %d | %d |\n\n", all, nonzero, equal)
	table.WriteString("| run | statistic | upstream | here | why |\n|---|---|---:|---:|---|\n")
	for _, d := range differs {
		fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", d[0], d[1], d[2], d[3], d[4])
	}
	if *statisticsDoc != "" {
		updateDoc(t, *statisticsDoc, table.String())
	}
}

// commonFlags are those of every run.
var commonFlags = strings.Fields("--seed=42 --threads=1 --num=20000 --value_size=100 --key_size=16 --compression_type=none --statistics --stats_level=5")

func specificFlags(flags string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(flags), func(f string) bool { return slices.Contains(commonFlags, f) }), " ")
}

const docBegin, docEnd = "<!-- tables; `make statistics` writes them -->\n", "<!-- end of tables -->\n"

func updateDoc(t *testing.T, path, table string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), docBegin)
	_, after, ok2 := strings.Cut(rest, docEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", path)
	}
	if err := os.WriteFile(path, []byte(before+docBegin+"\n"+table+"\n"+docEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestStatisticsDoc holds that the page tells of every line that differs, and of
// no other, and gives each reason.
func TestStatisticsDoc(t *testing.T) {
	text, err := os.ReadFile("../../docs/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, differs := readTSV(t, "differs.tsv")
	reasons := map[string]bool{}
	for _, d := range differs {
		if row := fmt.Sprintf("| %s | `%s` | %s | %s | %s |\n", d[0], d[1], d[2], d[3], d[4]); strings.Count(string(text), row) != 1 {
			t.Errorf("docs/statistics.md lacks %s", row)
		}
		reasons[d[4]] = true
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		if !strings.Contains(string(text), "\n- **"+r+"**: ") {
			t.Errorf("docs/statistics.md does not say what %q means", r)
		}
	}
	_, tables, _ := strings.Cut(string(text), docBegin)
	tables, _, _ = strings.Cut(tables, docEnd)
	_, runs := readTSV(t, "commands.tsv")
	// The headings, the rulers and the sum are five rows more.
	if got, want := strings.Count(tables, "\n| ")+strings.Count(tables, "\n|---"), len(runs)+len(differs)+5; got != want {
		t.Errorf("docs/statistics.md has %d rows of tables, want %d: run make statistics", got, want)
	}
}

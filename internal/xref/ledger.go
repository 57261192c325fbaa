// No upstream twin: the ledger of porting/.

package xref

import (
	"os"
	"path/filepath"
	"strings"
)

// LedgerRow is a test of upstream that is not here, and why.
type LedgerRow struct {
	Table string // not_applicable.tsv, later.tsv
	Line  int
	File  string
	Test  string // Suite.Case
	Why   string
}

// Ledger is what porting/ says about upstream's tests and files.
type Ledger struct {
	Rows     []LedgerRow
	Mirrored []string // test files whose every case is accounted for
	// Broken are lines that have too few columns.
	Broken []string
	byTest map[string]*LedgerRow // file, tab, test
	byName map[string]*LedgerRow
	files  map[string]string // file to reason
}

// ReadLedger reads the tables in dir.
func ReadLedger(dir string) (*Ledger, error) {
	l := &Ledger{byTest: map[string]*LedgerRow{}, byName: map[string]*LedgerRow{}, files: map[string]string{}}
	for _, name := range []string{"not_applicable.tsv", "later.tsv"} {
		rows, err := l.table(dir, name)
		if err != nil {
			return nil, err
		}
		for i, c := range rows {
			if c == nil {
				continue
			}
			row := LedgerRow{Table: name, Line: i + 2, File: c[0], Test: c[1] + "." + c[2]}
			if len(c) > 3 {
				row.Why = strings.TrimSpace(c[3])
			}
			l.Rows = append(l.Rows, row)
		}
	}
	rows, err := l.table(dir, "mirrored.tsv")
	if err != nil {
		return nil, err
	}
	for _, c := range rows {
		if c != nil {
			l.Mirrored = append(l.Mirrored, c[0])
		}
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		l.byTest[r.File+"\t"+r.Test] = r
		l.byName[r.Test] = r
	}
	return l, nil
}

// table reads a table with a head line; a row of too few columns is nil.
func (l *Ledger) table(dir, name string) ([][]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	columns := len(strings.Split(lines[0], "\t"))
	var out [][]string
	for i, line := range lines[1:] {
		cols := strings.Split(line, "\t")
		if len(cols) < min(columns, 3) || strings.TrimSpace(cols[0]) == "" {
			l.Broken = append(l.Broken, "porting/"+name+":"+itoa(int64(i+2))+" has too few columns")
			out = append(out, nil)
			continue
		}
		out = append(out, cols)
	}
	return out, nil
}

func (l *Ledger) fileReason(file string) string { return l.files[file] }

// placeTest finds a test of upstream, or its row in the ledger.
func (r *Ref) placeTest(p *Placement) {
	name := p.Name
	if d := r.Go.tests[name]; d != nil {
		p.Spots, p.Rule = []Spot{spot(d)}, "mirrored test"
		return
	}
	if row := r.Ledger.byName[name]; row != nil {
		what := "waits for: "
		if row.Table == "not_applicable.tsv" {
			what = "not applicable: "
		}
		p.Why = what + row.Why
		return
	}
	p.Why = "not mirrored yet"
	if files := r.goFiles(p.File); len(files) > 0 {
		p.Why += "; " + p.File + " is mirrored in " + files[0].Path
	}
}

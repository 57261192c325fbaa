// No upstream twin: how far the port is.

package xref

import (
	"path"
	"sort"
	"strings"
)

// States of an upstream file.
const (
	StatePorted = "ported" // at least nine of ten of its names are found here
	StatePartly = "partly" // a header line names it; fewer of its names are found
	StateNot    = "not"    // no header line names it
)

// portedShare is the share of names from which a file counts as ported.
const portedShare = 0.9

// Count is so many of so many.
type Count struct {
	Have int `json:"have"`
	All  int `json:"all"`
}

func (c *Count) add(have bool) {
	c.All++
	if have {
		c.Have++
	}
}

func (c *Count) sum(o Count) { c.Have += o.Have; c.All += o.All }

// Tests counts test cases of upstream.
type Tests struct {
	Mirrored      int `json:"mirrored"`
	NotApplicable int `json:"not_applicable"`
	Later         int `json:"later"`
	Missing       int `json:"missing"`
}

func (t *Tests) sum(o Tests) {
	t.Mirrored += o.Mirrored
	t.NotApplicable += o.NotApplicable
	t.Later += o.Later
	t.Missing += o.Missing
}

// FileStatus is how far one file of upstream is.
type FileStatus struct {
	Path  string   `json:"path"`
	Kind  string   `json:"kind"`
	Lines int      `json:"lines"`
	State string   `json:"state,omitempty"` // of source and headers
	Names Count    `json:"names"`
	Tests Tests    `json:"tests"`
	Go    []string `json:"go,omitempty"`
	// Unplaced are the names that are not found.
	Unplaced []string `json:"unplaced,omitempty"`
}

// DirStatus sums up a directory.
type DirStatus struct {
	Dir    string `json:"dir"`
	Ported int    `json:"ported"`
	Partly int    `json:"partly"`
	Not    int    `json:"not"`
	Names  Count  `json:"names"`
	Tests  Tests  `json:"tests"`
}

// Status is the whole.
type Status struct {
	Version string           `json:"version"`
	Dirs    []DirStatus      `json:"dirs"`
	Files   []FileStatus     `json:"files"`
	Facts   map[string]Count `json:"facts"`
	Total   DirStatus        `json:"total"`
	// Missing are the options, tickers and so on that are not found, by kind.
	Missing map[string][]string `json:"missing"`
}

// StatusKinds are the rows of Status.Facts, in order. Flags are counted by tool.
var StatusKinds = []string{"options", "tickers", "histograms", "perf counters", "DB properties", "table properties", "sync points",
	"flags of db_bench", "benchmarks of db_bench", "flags of db_stress", "commands of ldb", "flags of ldb", "flags of sst_dump"}

func statusKind(x Fact) string {
	switch x.Kind {
	case "flags":
		if t := toolOf(x.File); t == "db_bench" || t == "db_stress" {
			return "flags of " + t
		}
		return ""
	case "ldb_flags":
		return "flags of ldb"
	case "sst_dump_flags":
		return "flags of sst_dump"
	case "commands":
		return "commands of ldb"
	case "benchmarks":
		return "benchmarks of db_bench"
	case "db_properties":
		return "DB properties"
	case "perf_counters", "table_properties", "sync_points":
		return strings.ReplaceAll(x.Kind, "_", " ")
	}
	return x.Kind
}

// counted tells the kinds of symbols that are counted and drawn: what an
// upstream engineer looks up. Members, aliases, macros and variables of a file
// are its own business.
func counted(s Symbol) bool {
	switch s.Kind {
	case KindClass, KindEnum, KindValue, KindFunc, KindDecl:
		return true
	}
	return false
}

// sourceFile tells the kinds of files whose names are counted.
func sourceFile(kind string) bool { return kind == "source" || kind == "header" }

// Names gives the symbols of a file that are counted, each name once: where it is
// defined, if the header or source beside it declares it as well.
func (r *Ref) Names(file string) []Symbol {
	var out []Symbol
	seen := map[string]bool{}
	for _, s := range r.Up.byFile[file] {
		if !counted(s) || seen[s.Name] {
			continue
		}
		if s.Kind == KindDecl && r.definedBeside(s) {
			continue
		}
		seen[s.Name] = true
		out = append(out, s)
	}
	return out
}

// definedBeside tells whether a declared function has its body in a file of the
// same stem.
func (r *Ref) definedBeside(s Symbol) bool {
	if r.bodies == nil {
		r.bodies = map[string]bool{}
		for _, x := range r.Up.Symbols {
			if x.Kind == KindFunc {
				r.bodies[stem(x.File)+"\t"+x.Name] = true
				// DBImpl's functions are in many files of their directory.
				r.bodies[dirOf(x.File)+"\t"+x.Name] = true
			}
		}
	}
	return r.bodies[stem(s.File)+"\t"+s.Name] || r.bodies[dirOf(s.File)+"\t"+s.Name]
}

// FileStatus gives how far one file is.
func (r *Ref) FileStatus(f File) FileStatus {
	x := FileStatus{Path: f.Path, Kind: f.Kind, Lines: f.Lines}
	for _, g := range r.Go.byUp[f.Path] {
		x.Go = append(x.Go, g.Path)
	}
	for _, s := range r.Up.byFile[f.Path] {
		if s.Kind != KindTest {
			continue
		}
		switch row := r.Ledger.byTest[f.Path+"\t"+s.Name]; {
		case r.Go.tests[s.Name] != nil:
			x.Tests.Mirrored++
		case row == nil:
			x.Tests.Missing++
		case row.Table == "not_applicable.tsv":
			x.Tests.NotApplicable++
		default:
			x.Tests.Later++
		}
	}
	if !sourceFile(f.Kind) {
		return x
	}
	if len(x.Go) == 0 {
		x.State = StateNot
		x.Names.All = len(r.Names(f.Path))
		return x
	}
	for _, s := range r.Names(f.Path) {
		p := r.Symbol(s)
		x.Names.add(p.Placed())
		if !p.Placed() {
			x.Unplaced = append(x.Unplaced, s.Name)
		}
	}
	x.State = StatePartly
	if float64(x.Names.Have) >= portedShare*float64(x.Names.All) {
		x.State = StatePorted
	}
	return x
}

// Status works out the whole, or what is below a prefix.
func (r *Ref) Status(under string) *Status {
	s := &Status{Version: r.Up.Version, Facts: map[string]Count{}, Missing: map[string][]string{}}
	dirs := map[string]*DirStatus{}
	for _, f := range r.Up.Files {
		if under != "" && f.Path != under && !strings.HasPrefix(f.Path, strings.TrimSuffix(under, "/")+"/") {
			continue
		}
		x := r.FileStatus(f)
		s.Files = append(s.Files, x)
		dir := path.Dir(f.Path)
		if dirs[dir] == nil {
			dirs[dir] = &DirStatus{Dir: dir}
		}
		for _, d := range []*DirStatus{dirs[dir], &s.Total} {
			switch x.State {
			case StatePorted:
				d.Ported++
			case StatePartly:
				d.Partly++
			case StateNot:
				d.Not++
			}
			d.Names.sum(x.Names)
			d.Tests.sum(x.Tests)
		}
	}
	s.Total.Dir = "total"
	for _, d := range dirs {
		s.Dirs = append(s.Dirs, *d)
	}
	sort.Slice(s.Dirs, func(i, j int) bool { return s.Dirs[i].Dir < s.Dirs[j].Dir })
	for _, x := range r.Up.Facts {
		kind := statusKind(x)
		if kind == "" || under != "" && x.File != under && !strings.HasPrefix(x.File, strings.TrimSuffix(under, "/")+"/") {
			continue
		}
		p := r.Fact(x)
		c := s.Facts[kind]
		c.add(p.Placed())
		s.Facts[kind] = c
		if !p.Placed() {
			s.Missing[kind] = append(s.Missing[kind], x.Name)
		}
	}
	return s
}

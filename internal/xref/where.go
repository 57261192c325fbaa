// No upstream twin: answers where a name is.

package xref

import (
	"path"
	"sort"
	"strings"
)

// Answer is what Where found.
type Answer struct {
	Query string `json:"query"`
	// Upstream are upstream's names that the query stands for, each with its
	// places here.
	Upstream []Placement `json:"upstream,omitempty"`
	// Go are names of this module that the query stands for, each with its place
	// upstream.
	Go []Reverse `json:"go,omitempty"`
	// Nearest are names to try instead, when there is neither.
	Nearest []string `json:"nearest,omitempty"`
	// Guess are the places of the first of these.
	Guess []Placement `json:"guess,omitempty"`
}

// Found tells whether a place was found.
func (a *Answer) Found() bool {
	for i := range a.Upstream {
		if a.Upstream[i].Placed() {
			return true
		}
	}
	for _, g := range a.Go {
		if len(g.Upstream) > 0 {
			return true
		}
	}
	return false
}

// Where looks a name up: an upstream file, class, function, enum value, option,
// ticker, flag, test, property or sync point, or a Go symbol.
func (r *Ref) Where(query string) Answer {
	a := Answer{Query: query}
	name := strings.TrimSpace(query)
	if strings.HasPrefix(name, "(") {
		a.Go = r.Reverse(name)
		if len(a.Go) == 0 {
			a.Nearest = r.nearest(name)
		}
		return a
	}
	name = strings.TrimSuffix(name, "()")
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "::"), "ROCKSDB_NAMESPACE::"), "rocksdb::")
	if a.Upstream = r.file(name); len(a.Upstream) > 0 {
		return a
	}
	a.Upstream = append(r.facts(strings.TrimPrefix(name, "FLAGS_")), r.symbols(name)...)
	a.Upstream = quiet(a.Upstream)
	if len(a.Upstream) == 0 || !a.Found() {
		a.Go = r.Reverse(name)
	}
	if len(a.Upstream) == 0 && len(a.Go) == 0 {
		a.Nearest = r.nearest(name)
		if len(a.Nearest) > 0 {
			a.Guess = append(r.facts(a.Nearest[0]), r.symbols(a.Nearest[0])...)
		}
	}
	return a
}

// quiet leaves out variables and members without a place where other kinds of
// names have one.
func quiet(list []Placement) []Placement {
	found := false
	for i := range list {
		found = found || list[i].Placed()
	}
	if !found {
		return list
	}
	out := list[:0]
	for _, p := range list {
		if p.Placed() || p.Kind != KindMember && p.Kind != KindVar {
			out = append(out, p)
		}
	}
	return out
}

// file answers for a path of upstream, whole or its end, with or without
// extension; and for a Go file.
func (r *Ref) file(name string) []Placement {
	if strings.Contains(name, "::") || strings.Contains(name, " ") {
		return nil
	}
	var found []File
	for _, f := range r.Up.Files {
		noExt := strings.TrimSuffix(f.Path, path.Ext(f.Path))
		if f.Path == name || strings.HasSuffix(f.Path, "/"+name) || strings.Contains(name, "/") && noExt == name ||
			toolNames[name] && noExt == "tools/"+name || name == "db_stress" && f.Path == "db_stress_tool/db_stress.cc" {
			found = append(found, f)
		}
	}
	var out []Placement
	for _, f := range found {
		out = append(out, r.File(f))
	}
	return out
}

// File places a file of upstream.
func (r *Ref) File(f File) Placement {
	p := Placement{Kind: "file (" + f.Kind + ")", Name: f.Path, File: f.Path, Line: 1}
	for _, g := range r.Go.byUp[f.Path] {
		p.Spots = append(p.Spots, Spot{Path: g.Path, Line: 1, Symbol: "package " + g.Package})
	}
	switch {
	case len(p.Spots) == 1 && strings.TrimSuffix(path.Base(p.Spots[0].Path), ".go") == strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path)):
		p.Rule = "same name, by its header line"
	case len(p.Spots) == 1:
		p.Rule = "renamed, by its header line"
	case len(p.Spots) > 1:
		p.Rule = "split, by the header lines"
	default:
		if twins := r.goFiles(f.Path); len(twins) > 0 {
			p.Why = "no header line names it; its twin is ported in " + twins[0].Path
		} else {
			p.Why = "not ported"
			if why := r.Ledger.fileReason(f.Path); why != "" {
				p.Why += ": " + why
			}
		}
	}
	return p
}

// tools whose names may stand before a flag or a command.
var toolNames = map[string]bool{"ldb": true, "sst_dump": true, "db_bench": true, "db_stress": true}

func (r *Ref) facts(name string) []Placement {
	tool := ""
	if first, rest, ok := strings.Cut(name, " "); ok && toolNames[first] {
		tool, name = first, strings.TrimSpace(rest)
	}
	name = strings.TrimLeft(name, "-")
	if head, _, ok := strings.Cut(name, "="); ok && !strings.Contains(head, ":") {
		name = head
	}
	var out []Placement
	for _, x := range r.Up.Facts {
		match := x.Name == name || x.Const == name && (x.Kind == "tickers" || x.Kind == "histograms" || x.Kind == "db_properties" ||
			x.Kind == "table_properties" || x.Kind == "ldb_flags")
		if !match || tool != "" && toolOf(x.File) != tool {
			continue
		}
		out = append(out, r.Fact(x))
	}
	return out
}

// rank orders symbols: definitions before what is only declared, and those
// before members.
var rank = map[string]int{KindTest: 0, KindClass: 1, KindFunc: 2, KindDecl: 3, KindEnum: 4, KindValue: 5, KindAlias: 6, KindVar: 7, KindMacro: 8, KindMember: 9}

// symbols answers for a C++ name, whole or its end.
func (r *Ref) symbols(name string) []Placement {
	if strings.Contains(name, " ") {
		return nil
	}
	var found []Symbol
	for _, s := range r.Up.Symbols {
		if s.Name == name || strings.HasSuffix(s.Name, "::"+name) {
			found = append(found, s)
		}
	}
	if len(found) == 0 { // a suite
		for _, s := range r.Up.Symbols {
			if s.Kind == KindTest && strings.HasPrefix(s.Name, name+".") {
				found = append(found, s)
			}
		}
	}
	whole := false
	for _, s := range found {
		whole = whole || s.Name == name
	}
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if whole && (a.Name == name) != (b.Name == name) {
			return a.Name == name
		}
		if rank[a.Kind] != rank[b.Kind] {
			return rank[a.Kind] < rank[b.Kind]
		}
		return r.isPorted(a.File) && !r.isPorted(b.File)
	})
	var out []Placement
	seen := map[string]bool{}
	for _, s := range found {
		key := s.Name + "\t" + stem(s.File)
		if s.Kind == KindTest {
			key = s.Name + "\t" + s.File
		}
		if s.Kind == KindDecl && (seen[key] || seen[s.Name+"\tdefined"]) {
			continue
		}
		if seen[key] && s.Kind != KindTest {
			continue
		}
		seen[key] = true
		if s.Kind == KindFunc {
			seen[s.Name+"\tdefined"] = true
		}
		out = append(out, r.Symbol(s))
	}
	return out
}

func (r *Ref) isPorted(file string) bool { return len(r.Go.byUp[file]) > 0 }

// nearest gives names like one that nobody has.
func (r *Ref) nearest(name string) []string {
	last := strings.TrimLeft(name, "-")
	if i := strings.LastIndexAny(last, ":. )/"); i >= 0 && i+1 < len(last) {
		last = last[i+1:]
	}
	type near struct {
		text string
		n    int
	}
	var all []near
	seen := map[string]bool{}
	add := func(text, part string) {
		if seen[text] {
			return
		}
		seen[text] = true
		a, b := flat(part), flat(last)
		switch {
		case a == b:
			all = append(all, near{text, 0})
		case len(b) > 4 && strings.Contains(a, b):
			all = append(all, near{text, 1 + len(a) - len(b)})
		case abs(len(a)-len(b)) < 3 && len(b) > 4:
			if d := distance(a, b, 3); d < 3 {
				all = append(all, near{text, d})
			}
		}
	}
	for _, s := range r.Up.Symbols {
		if s.Kind != KindMember {
			add(s.Name, lastName(s.Name))
		}
	}
	for _, x := range r.Up.Facts {
		add(x.Name, x.Name)
	}
	for _, f := range r.Up.Files {
		add(f.Path, path.Base(f.Path))
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].n < all[j].n })
	var out []string
	for _, x := range all {
		if len(out) == 8 {
			break
		}
		out = append(out, x.text)
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// distance counts edits between two words, up to a limit.
func distance(a, b string, limit int) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	cur := make([]int, len(b)+1)
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			least = min(least, cur[j])
		}
		if least >= limit {
			return limit
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}

// No upstream twin: from Go back to upstream.

package xref

import (
	"path"
	"sort"
	"strings"
)

// Reverse is a Go name with its places upstream.
type Reverse struct {
	Go       Spot     `json:"go"`
	Upstream []UpSpot `json:"upstream,omitempty"`
	Rule     string   `json:"rule,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// UpSpot is a place upstream.
type UpSpot struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Symbol string `json:"symbol"`
}

// String gives file:line symbol.
func (u UpSpot) String() string {
	if u.Line == 0 {
		return u.File
	}
	return u.File + ":" + itoa(int64(u.Line)) + " " + u.Symbol
}

// Reverse looks a Go symbol up: (*T).M, T.M, pkg.T, pkg.T.M, F, or a Go file.
func (r *Ref) Reverse(name string) []Reverse {
	if f := r.Go.byPath[name]; f != nil || strings.HasSuffix(name, ".go") {
		return r.reverseFile(name)
	}
	var out []Reverse
	for _, d := range r.goSymbols(name) {
		out = append(out, r.reverseOne(d))
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].Upstream) > 0 && len(out[j].Upstream) == 0 })
	return out
}

func (r *Ref) reverseFile(name string) []Reverse {
	var out []Reverse
	for _, f := range r.Go.Files {
		if f.Path != name && !strings.HasSuffix(f.Path, "/"+name) {
			continue
		}
		x := Reverse{Go: Spot{Path: f.Path, Line: 1, Symbol: "package " + f.Package}, Rule: "its header line"}
		for _, up := range f.Upstream {
			x.Upstream = append(x.Upstream, UpSpot{File: up})
		}
		if len(x.Upstream) == 0 {
			x.Rule, x.Why = "", f.Header
		}
		out = append(out, x)
	}
	return out
}

// goSymbols finds the declarations that a Go name stands for.
func (r *Ref) goSymbols(name string) []*GoDecl {
	name = strings.TrimPrefix(name, "&")
	pkg := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 { // db/dbiter.DBIter
		dir, rest, ok := strings.Cut(name[i+1:], ".")
		if !ok {
			return nil
		}
		pkg, name = name[:i+1]+dir, rest
	}
	name = strings.NewReplacer("(*", "", "(", "", ")", "", "*", "").Replace(name)
	parts := strings.Split(name, ".")
	last := parts[len(parts)-1]
	var out []*GoDecl
	for _, d := range r.Go.byName[flat(last)] {
		if d.Name != last || pkg != "" && dirOf(d.File.Path) != pkg && !strings.HasSuffix(dirOf(d.File.Path), "/"+pkg) {
			continue
		}
		ok := false
		switch len(parts) {
		case 1:
			ok = true
		case 2:
			ok = d.Recv == parts[0] || d.Recv == "" && (d.File.Package == parts[0] || path.Base(dirOf(d.File.Path)) == parts[0])
		case 3:
			ok = d.Recv == parts[1] && (d.File.Package == parts[0] || path.Base(dirOf(d.File.Path)) == parts[0])
		}
		if ok {
			out = append(out, d)
		}
	}
	return out
}

// reverseOne finds the upstream symbols whose place a declaration is.
func (r *Ref) reverseOne(d *GoDecl) Reverse {
	x := Reverse{Go: spot(d)}
	if m := mirroredTest.FindStringSubmatch(d.Name); m != nil && d.File.Test {
		for _, s := range r.Up.Symbols {
			if s.Kind == KindTest && s.Name == m[1]+"."+m[2] {
				x.Upstream = append(x.Upstream, UpSpot{s.File, s.Line, s.Name})
			}
		}
		if len(x.Upstream) > 0 {
			x.Rule = "mirrored test"
			return x
		}
	}
	tried := map[int]bool{}
	check := func(i int) {
		if tried[i] {
			return
		}
		tried[i] = true
		s := r.Up.Symbols[i]
		p := r.Symbol(s)
		for _, at := range p.Spots {
			if at.decl == d {
				x.Upstream = append(x.Upstream, UpSpot{s.File, s.Line, s.Name})
				if x.Rule == "" {
					x.Rule = p.Rule
				}
				return
			}
		}
	}
	// Names of its own, then those its comments give, then all of its files.
	for _, n := range []string{flat(d.Name), "k" + flat(d.Name), flat(strings.TrimSuffix(d.Name, "Locked")), flat(strings.TrimPrefix(d.Name, "new"))} {
		for _, i := range r.upFlat[n] {
			check(i)
		}
	}
	for _, name := range qualified.FindAllString(d.Doc, -1) {
		for _, i := range r.upFlat[flat(lastName(name))] {
			check(i)
		}
	}
	if len(x.Upstream) == 0 {
		for _, file := range d.File.Upstream {
			for i := range r.Up.Symbols {
				if r.Up.Symbols[i].File == file && r.Up.Symbols[i].Kind != KindMember {
					check(i)
				}
			}
		}
	}
	sort.SliceStable(x.Upstream, func(i, j int) bool {
		return inFiles(d.File, x.Upstream[i].File) && !inFiles(d.File, x.Upstream[j].File)
	})
	if len(x.Upstream) == 0 {
		x.Why = "no name of upstream leads here; the file: " + d.File.Header
	}
	return x
}

func inFiles(f *GoFile, up string) bool {
	for _, u := range f.Upstream {
		if u == up {
			return true
		}
	}
	return false
}

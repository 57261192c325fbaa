// No upstream twin: finds the Go places of options, tickers, flags and the like.

package xref

import (
	"path"
	"sort"
	"strings"
)

// titles are the kinds of facts as one of them is called.
var titles = map[string]string{"options": "option", "tickers": "ticker", "histograms": "histogram", "perf_counters": "perf counter",
	"db_properties": "DB property", "table_properties": "table property", "flags": "flag", "ldb_flags": "flag of ldb",
	"sst_dump_flags": "flag of sst_dump", "commands": "command of ldb", "benchmarks": "benchmark of db_bench", "sync_points": "sync point"}

// toolOf names the tool whose source a file is.
func toolOf(file string) string {
	switch {
	case strings.HasPrefix(file, "db_stress_tool/"):
		return "db_stress"
	case strings.HasPrefix(file, "tools/db_bench_tool"):
		return "db_bench"
	case strings.HasPrefix(file, "tools/ldb_"):
		return "ldb"
	case strings.HasPrefix(file, "tools/sst_dump"):
		return "sst_dump"
	}
	base := path.Base(file)
	return strings.TrimSuffix(strings.TrimSuffix(base, path.Ext(base)), "_tool")
}

// toolFile tells whether a Go file belongs to a tool of upstream.
func toolFile(tool string, f *GoFile) bool {
	dir, base := dirOf(f.Path), path.Base(f.Path)
	switch tool {
	case "ldb":
		return dir == "tools" && strings.HasPrefix(base, "ldb") || dir == "tools/ldb"
	case "sst_dump":
		return dir == "tools" && strings.HasPrefix(base, "sst_dump") || dir == "tools/sst_dump"
	case "db_stress":
		return strings.HasPrefix(dir, "db_stress") || dir == "tools/db_stress"
	}
	return dir == "tools/"+tool || strings.HasPrefix(dir, "tools/"+tool+"/")
}

// Fact places an option, a ticker and so on.
func (r *Ref) Fact(x Fact) Placement {
	p := Placement{Kind: titles[x.Kind], Name: x.Name, File: x.File, Line: x.Line}
	switch x.Kind {
	case "options":
		r.option(&p, x)
	case "tickers", "histograms":
		r.named(&p, x.Const, x.Name, "include/rocksdb", "same name in the order's place")
	case "perf_counters":
		r.named(&p, x.Name, "", "include/rocksdb", "same name")
	case "db_properties", "table_properties":
		r.property(&p, x)
	case "flags", "ldb_flags", "sst_dump_flags", "commands", "benchmarks":
		r.flag(&p, x)
	case "sync_points":
		if s := r.strings(x.Name, x.File); len(s) > 0 {
			p.Spots, p.Rule = s, "the sync point itself"
		} else {
			p.Why = "no code here reaches this sync point" + r.pointNear(x)
		}
	}
	if len(p.Spots) == 0 && p.Why == "" {
		p.Why = "no " + p.Kind + " of this name here"
	}
	return p
}

// pointNear says where the function stands that a sync point is named after.
func (r *Ref) pointNear(x Fact) string {
	name := qualified.FindString(x.Name)
	if name == "" {
		return ""
	}
	for _, i := range r.upFlat[flat(lastName(name))] {
		if s := r.Up.Symbols[i]; s.Name == name && s.Kind != KindMember {
			if p := r.Symbol(s); p.Placed() {
				return "; " + name + " is " + p.Spots[0].String()
			}
		}
	}
	return ""
}

// String gives file:line symbol.
func (s Spot) String() string {
	if s.Line == 0 {
		return s.Path
	}
	out := s.Path + ":" + itoa(int64(s.Line))
	if s.Symbol != "" {
		out += " " + s.Symbol
	}
	return out
}

// named finds a constant or field of the contract, and the text it goes by.
func (r *Ref) named(p *Placement, konst, text, dir, rule string) {
	for _, d := range r.Go.byName[flat(konst)] {
		if strings.HasPrefix(d.File.Path, dir) && (d.Kind == GoConst || d.Kind == GoField || d.Kind == GoVar) && !d.File.Test {
			p.Spots = append(p.Spots, spot(d))
		}
	}
	if text != "" {
		for _, s := range r.strings(text, "") {
			if strings.HasPrefix(s.Path, dir) {
				p.Spots = append(p.Spots, s)
			}
		}
	}
	if len(p.Spots) > 0 {
		p.Rule = rule
	}
}

// option finds the row of an option's table, and the field it stands for.
func (r *Ref) option(p *Placement, x Fact) {
	for _, s := range r.strings(x.Name, x.File) {
		if s.decl == nil || s.decl.File.Test || s.decl.File.NoTwin || strings.HasPrefix(s.Path, "tools/") || strings.HasPrefix(s.Path, "db_stress") {
			continue
		}
		if strings.Contains(path.Base(s.Path), "_rows") {
			p.Spots = append([]Spot{s}, p.Spots...)
		} else if !strings.HasSuffix(path.Base(s.Path), "_dump.go") {
			p.Spots = append(p.Spots, s)
		}
	}
	if len(p.Spots) > 0 {
		p.Rule = "row of the option table"
	}
	for _, d := range r.Go.byName[flat(x.Name)] {
		if d.Kind == GoField && strings.HasPrefix(d.File.Path, "include/rocksdb") {
			p.Spots = append(p.Spots, spot(d))
			if p.Rule == "" {
				p.Rule = "field of the same name"
			}
		}
	}
}

// property finds a property by its text, whole or without "rocksdb.".
func (r *Ref) property(p *Placement, x Fact) {
	add := func(s []Spot, rule string) {
		for _, x := range s {
			if x.decl == nil || !x.decl.File.Test && !strings.HasPrefix(x.Path, "tools/") {
				p.Spots = append(p.Spots, x)
			}
		}
		if len(p.Spots) > 0 && p.Rule == "" {
			p.Rule = rule
		}
	}
	add(r.strings(x.Name, ""), "the property's text")
	if len(p.Spots) == 0 {
		add(r.strings(strings.TrimPrefix(x.Name, "rocksdb."), ""), "the property's text without rocksdb.")
	}
	if len(p.Spots) == 0 {
		for _, n := range []string{"property" + flat(strings.TrimPrefix(x.Const, "k")), flat(x.Const), flat(strings.TrimPrefix(x.Const, "k"))} {
			for _, d := range r.Go.byName[n] {
				if d.Kind == GoConst || d.Kind == GoVar {
					p.Spots, p.Rule = append(p.Spots, spot(d)), "the constant's name"
				}
			}
		}
	}
}

// flag finds a flag, command or benchmark in the Go tool of the same name.
func (r *Ref) flag(p *Placement, x Fact) {
	tool := toolOf(x.File)
	if x.Kind == "flags" {
		p.Kind = "flag of " + tool
	}
	for _, text := range []string{x.Name, "--" + x.Name, "--" + x.Name + "=", "-" + x.Name} {
		for _, s := range r.strings(text, "") {
			if s.decl != nil && toolFile(tool, s.decl.File) && !s.decl.File.Test {
				p.Spots = append(p.Spots, s)
			}
		}
	}
	// A table's row goes before other uses.
	sort.SliceStable(p.Spots, func(i, j int) bool { return isRow(p.Spots[i]) && !isRow(p.Spots[j]) })
	if len(p.Spots) > 0 {
		p.Rule = "row or case of " + tool
		return
	}
	present := false
	for _, f := range r.Go.Files {
		present = present || toolFile(tool, f) && !strings.HasSuffix(f.Path, "doc.go")
	}
	if !present {
		p.Why = "the tool " + tool + " is not ported"
	} else {
		p.Why = "the tool " + tool + " has no such name"
	}
}

// isRow tells places in struct tags and in the files that hold tables.
func isRow(s Spot) bool {
	base := path.Base(s.Path)
	return base == "flags.go" || strings.Contains(base, "_table") || strings.Contains(base, "_args")
}

// No upstream twin: finds the Go types of upstream's classes.

package xref

import (
	"sort"
	"strings"
)

// classTypes are the Go types that stand for a class.
type classTypes struct {
	decls []*GoDecl
	rule  string
}

// has tells whether a method or field belongs to one of the types.
func (c *classTypes) has(d *GoDecl) bool {
	for _, t := range c.decls {
		if t.Name == d.Recv && t.File.Package == d.File.Package && dirOf(t.File.Path) == dirOf(d.File.Path) {
			return true
		}
	}
	return false
}

func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return "."
}

// matchClasses finds a Go type for each class of a ported file: by its name, by
// a comment that names it, or by what it holds.
func (r *Ref) matchClasses() {
	r.types = map[string]*classTypes{}
	members := map[string][]string{}
	for _, s := range r.Up.Symbols {
		if s.Kind != KindMember && s.Kind != KindFunc && s.Kind != KindDecl {
			continue
		}
		if i := strings.LastIndex(s.Name, "::"); i > 0 {
			name := s.Name[i+2:]
			if !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "operator") {
				members[s.Name[:i]] = append(members[s.Name[:i]], flat(name))
			}
		}
	}
	held := map[*GoFile]map[string]map[string]bool{}
	for _, s := range r.Up.Symbols {
		if s.Kind != KindClass || r.types[s.Name] != nil || len(r.goFiles(s.File)) == 0 {
			continue
		}
		p := Placement{}
		w := r.wantedOf(s)
		switch {
		case r.sameName(&p, &w), r.typeMentioned(&p, &w), r.varied(&p, &w):
		case r.typeByMembers(&p, &w, members[s.Name], held):
		default:
			r.typeByWords(&p, &w)
		}
		c := &classTypes{rule: p.Rule}
		for _, x := range p.Spots {
			if x.decl.Kind == GoType {
				c.decls = append(c.decls, x.decl)
			}
		}
		if len(c.decls) == 0 {
			r.pimpl(s, c)
		}
		r.types[s.Name] = c
	}
}

// pimpl takes the outer class's type for a class that only hides its members:
// X::Rep.
func (r *Ref) pimpl(s Symbol, c *classTypes) {
	i := strings.LastIndex(s.Name, "::")
	if i < 0 {
		return
	}
	switch s.Name[i+2:] {
	case "Rep", "Impl":
		if outer := r.types[s.Name[:i]]; outer != nil {
			c.decls, c.rule = outer.decls, "hidden members: the type itself"
			return
		}
		p := Placement{}
		outer := s
		outer.Name = s.Name[:i]
		w := r.wantedOf(outer)
		if r.sameName(&p, &w) || r.typeMentioned(&p, &w) {
			for _, x := range p.Spots {
				if x.decl.Kind == GoType {
					c.decls, c.rule = append(c.decls, x.decl), "hidden members: the type itself"
				}
			}
		}
	}
}

// typeMentioned finds a type whose comment names the class.
func (r *Ref) typeMentioned(p *Placement, w *wanted) bool {
	var found []*GoDecl
	for _, d := range r.Go.says[w.sym.Name] {
		if d.Kind == GoType {
			return p.take([]*GoDecl{d}, "named in its comment")
		}
	}
	for f := range w.files {
		for _, d := range f.Decls {
			if d.Kind == GoType && (wordIn(d.Doc, w.name) && len(w.name) > 5 || strings.Contains(w.sym.Name, "::") && wordIn(d.Doc, w.sym.Name)) {
				found = append(found, d)
			}
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Symbol() < found[j].Symbol() })
	if len(found) > 1 {
		found = found[:1]
	}
	return p.take(found, "named in its comment")
}

// typeByMembers finds a type of the class's files that has most of the class's
// methods and fields.
func (r *Ref) typeByMembers(p *Placement, w *wanted, names []string, held map[*GoFile]map[string]map[string]bool) bool {
	distinct := map[string]bool{}
	for _, n := range names {
		distinct[n] = true
	}
	if len(distinct) < 3 {
		return false
	}
	var best *GoDecl
	most := 0
	for f := range w.files {
		if held[f] == nil {
			held[f] = membersOf(f)
		}
		for typ, has := range held[f] {
			n := 0
			for name := range distinct {
				if has[name] {
					n++
				}
			}
			if n < 3 || 2*n < len(distinct) || n < most {
				continue
			}
			for _, d := range f.Decls {
				if d.Kind == GoType && d.Name == typ && (n > most || best == nil || d.Name < best.Name) {
					best, most = d, n
				}
			}
		}
	}
	if best == nil {
		return false
	}
	return p.take([]*GoDecl{best}, "renamed: the type with most of its members")
}

// typeByWords finds the one type of the class's files whose name is made of the
// class's words: FullFilterBlockReader and fullFilterReader.
func (r *Ref) typeByWords(p *Placement, w *wanted) bool {
	mine := words(w.name)
	var best []*GoDecl
	most := 0.59
	for f := range w.files {
		if f.Test {
			continue
		}
		for _, d := range f.Decls {
			theirs := words(d.Name)
			if d.Kind != GoType || len(theirs) < 2 || len(r.upFlat[flat(d.Name)]) > 0 {
				continue
			}
			common, all := overlap(mine, theirs)
			n := float64(common) / float64(all)
			switch {
			case common < len(theirs) || n < most:
			case n > most:
				best, most = []*GoDecl{d}, n
			default:
				best = append(best, d)
			}
		}
	}
	return len(best) == 1 && p.take(best, "similar name")
}

// membersOf gives the flat names of methods and fields by type.
func membersOf(f *GoFile) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, d := range f.Decls {
		if d.Recv == "" {
			continue
		}
		if out[d.Recv] == nil {
			out[d.Recv] = map[string]bool{}
		}
		out[d.Recv][flat(d.Name)] = true
	}
	return out
}

// No upstream twin: finds the Go counterpart of an upstream name.

package xref

import (
	"path"
	"sort"
	"strings"
)

// Spot is a place in this module.
type Spot struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Symbol string `json:"symbol"`
	decl   *GoDecl
}

// Placement says where an upstream name is in this module.
type Placement struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	Spots []Spot `json:"go,omitempty"`
	// Rule says how the places were found.
	Rule string `json:"rule,omitempty"`
	// Why says, of a name without a place, what is known.
	Why string `json:"why,omitempty"`
}

// Placed tells whether the name has a place.
func (p *Placement) Placed() bool { return len(p.Spots) > 0 }

// Ref is the cross-reference: both sides, and the ledger.
type Ref struct {
	Up     *Facts
	Go     *GoTree
	Ledger *Ledger

	classes map[string]bool // upstream's class names, last part
	upFlat  map[string][]int
	// types are the Go types of upstream's classes, by the class's full name.
	types map[string]*classTypes
	// calledBy finds callers: stem, tab, last name.
	calledBy map[string][]int
	// filesOf keeps what goFiles found.
	filesOf map[string][]*GoFile
	// states are those of files that were asked for.
	states map[string]string
	// bodies are the functions that have one: stem or directory, tab, name.
	bodies map[string]bool
	// cases are upstream's tests with their files.
	cases map[string][]string
	// testCalls are the mirrored tests by the flat names they call.
	testCalls map[string][]*GoDecl
	// claimed are the Go functions found by an upstream name.
	claimed map[*GoDecl]bool
}

// NewRef joins the sides.
func NewRef(up *Facts, g *GoTree, l *Ledger) *Ref {
	g.Link(up)
	r := &Ref{Up: up, Go: g, Ledger: l, classes: map[string]bool{}, upFlat: map[string][]int{}, filesOf: map[string][]*GoFile{},
		states: map[string]string{}}
	for i, s := range up.Symbols {
		if s.Kind == KindClass {
			r.classes[lastName(s.Name)] = true
		}
		r.upFlat[flat(lastName(s.Name))] = append(r.upFlat[flat(lastName(s.Name))], i)
	}
	r.matchClasses()
	return r
}

// stem is a path without extension and without the endings that upstream gives
// to parts of a file.
func stem(p string) string {
	p = strings.TrimSuffix(p, path.Ext(p))
	for _, end := range []string{"_sync_and_async", "_impl", "_internal", "_imp", "-inl"} {
		p = strings.TrimSuffix(p, end)
	}
	return p
}

// goFiles gives the Go files that port an upstream file or its twin (x.h and
// x.cc), those first that name the file itself.
func (r *Ref) goFiles(up string) []*GoFile {
	files, ok := r.filesOf[up]
	if !ok {
		files = r.findGoFiles(up)
		r.filesOf[up] = files
	}
	return files
}

func (r *Ref) findGoFiles(up string) []*GoFile {
	out := append([]*GoFile{}, r.Go.byUp[up]...)
	seen := map[*GoFile]bool{}
	for _, f := range out {
		seen[f] = true
	}
	want := stem(up)
	for _, twin := range []string{want + ".h", want + ".cc", "include/rocksdb/" + path.Base(want) + ".h", want + "_impl.h", want + "_impl.cc",
		want + "_internal.cc", want + "_sync_and_async.h", "include/rocksdb/utilities/" + path.Base(want) + ".h"} {
		for _, f := range r.Go.byUp[twin] {
			if !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	if strings.HasPrefix(up, "include/rocksdb/") {
		for _, other := range r.Go.upstream {
			if path.Base(stem(other)) != path.Base(want) {
				continue
			}
			for _, f := range r.Go.byUp[other] {
				if !seen[f] {
					seen[f] = true
					out = append(out, f)
				}
			}
		}
	}
	return out
}

func spot(d *GoDecl) Spot { return Spot{d.File.Path, d.Line, d.Symbol(), d} }

func spots(ds []*GoDecl) []Spot {
	out := make([]Spot, 0, len(ds))
	for _, d := range ds {
		out = append(out, spot(d))
	}
	return out
}

// wanted is an upstream symbol taken apart.
type wanted struct {
	sym    Symbol
	owner  string // class (or namespace) around, flat
	name   string // last part
	files  map[*GoFile]bool
	dir    string
	member bool // the owner is a class
	types  *classTypes
}

func (r *Ref) wantedOf(s Symbol) wanted {
	w := wanted{sym: s, name: lastName(s.Name), files: map[*GoFile]bool{}, dir: path.Dir(s.File)}
	parts := strings.Split(strings.ReplaceAll(s.Name, "::~", "::"), "::")
	if len(parts) > 1 {
		w.owner = flat(parts[len(parts)-2])
		w.member = r.classes[parts[len(parts)-2]]
		w.types = r.types[strings.Join(strings.Split(s.Name, "::")[:len(parts)-1], "::")]
	}
	for _, f := range r.goFiles(s.File) {
		w.files[f] = true
	}
	return w
}

// score tells how well a declaration fits; 0 is not at all.
func (w *wanted) score(d *GoDecl) int {
	n := 0
	if w.files[d.File] {
		n += 8
	}
	recv := flat(d.Recv)
	switch {
	case recv != "" && (recv == w.owner || w.types != nil && w.types.has(d)):
		n += 8
	case recv != "" && w.types != nil && len(w.types.decls) > 0 && len(w.name) < 12 && !related(recv, w.owner):
		return 0 // a common name, of another type
	case recv != "" && w.owner != "" && related(recv, w.owner):
		n += 4
	case recv == "" && !w.member:
		n += 2
	}
	if n == 0 {
		return 0
	}
	if d.File.Test != (fileKind(w.sym.File) == "test" || fileKind(w.sym.File) == "testutil") {
		n -= 3
	}
	dir := path.Dir(d.File.Path)
	if dir == w.dir || strings.HasPrefix(dir, w.dir+"/") {
		n += 3
	} else if strings.SplitN(dir, "/", 2)[0] == strings.SplitN(w.dir, "/", 2)[0] {
		n++
	}
	return n
}

// related tells whether two flat type names share most of their letters.
func related(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) > 3 && strings.Contains(b, a)
}

// pick gives the best of the declarations, those of equal standing together.
func (w *wanted) pick(ds []*GoDecl, floor int, kinds ...string) []*GoDecl {
	best := floor
	var out []*GoDecl
	for _, d := range ds {
		ok := len(kinds) == 0
		for _, k := range kinds {
			ok = ok || d.Kind == k
		}
		if !ok {
			continue
		}
		switch n := w.score(d); {
		case n > best:
			best, out = n, []*GoDecl{d}
		case n == best && n > floor:
			out = append(out, d)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].File.Path < out[j].File.Path })
	return out
}

// Symbol places an upstream symbol.
func (r *Ref) Symbol(s Symbol) Placement {
	p := Placement{Kind: s.Kind, Name: s.Name, File: s.File, Line: s.Line}
	if s.Kind == KindTest {
		r.placeTest(&p)
		return p
	}
	if c := r.types[s.Name]; s.Kind == KindClass && c != nil {
		if p.take(c.decls, c.rule) {
			return p
		}
	}
	w := r.wantedOf(s)
	for _, try := range []func(*Placement, *wanted) bool{r.constructor, r.sameName, r.special, r.mentioned, r.syncPoint, r.implementation, r.varied,
		r.similar, r.elsewhere, r.literal} {
		if try(&p, &w) {
			return p
		}
	}
	p.Why = r.unplaced(&w)
	return p
}

var callable = []string{GoFunc, GoMethod, GoVar, GoConst, GoField, GoType}

func kindsFor(kind string) []string {
	switch kind {
	case KindClass, KindEnum, KindAlias:
		return []string{GoType, GoFunc}
	case KindValue:
		return []string{GoConst, GoVar}
	case KindMember, KindVar:
		return []string{GoField, GoVar, GoConst, GoMethod, GoFunc}
	}
	return callable
}

func (p *Placement) take(ds []*GoDecl, rule string) bool {
	if len(ds) == 0 {
		return false
	}
	p.Spots, p.Rule = spots(ds), rule
	return true
}

// sameName finds the name itself, in Go's case.
func (r *Ref) sameName(p *Placement, w *wanted) bool {
	for _, n := range namesOf(w) {
		ds := w.pick(r.Go.byName[n], 4, kindsFor(w.sym.Kind)...)
		if len(ds) == 0 {
			continue
		}
		rule := "same name"
		if !w.files[ds[0].File] {
			rule = "same name, in another file than its header line says"
		} else if path.Base(stem(w.sym.File)) != strings.TrimSuffix(path.Base(ds[0].File.Path), ".go") {
			rule = "same name, file by its header line"
		}
		return p.take(ds, rule)
	}
	return false
}

// namesOf gives the flat names under which Go may have a symbol unchanged.
func namesOf(w *wanted) []string {
	name := flat(w.name)
	out := []string{name}
	if w.sym.Kind == KindValue || w.sym.Kind == KindVar || w.sym.Kind == KindMember {
		if k, ok := strings.CutPrefix(w.name, "k"); ok && k != strings.ToLower(k) {
			out = append(out, flat(k), w.owner+flat(k))
			if w.owner != "" && strings.HasSuffix(w.owner, "type") {
				out = append(out, strings.TrimSuffix(w.owner, "type")+flat(k))
			}
		} else if w.sym.Kind == KindValue {
			out = append(out, w.owner+name)
		}
	}
	return out
}

// constructor finds New… of a class, or the type itself.
func (r *Ref) constructor(p *Placement, w *wanted) bool {
	owner := w.owner
	if w.sym.Kind != KindFunc && w.sym.Kind != KindDecl || owner == "" || flat(w.name) != owner || strings.Contains(w.sym.Name, "~") {
		return false
	}
	var types []*GoDecl
	if c := r.types[strings.TrimSuffix(w.sym.Name, "::"+w.name)]; c != nil {
		types = c.decls
	}
	names := []string{owner}
	for _, t := range types {
		if flat(t.Name) != owner {
			names = append(names, flat(t.Name))
		}
	}
	var all []*GoDecl
	for _, n := range names {
		for _, verb := range []string{"new", "open", "make", "create", "init"} {
			all = append(all, r.Go.byName[verb+n]...)
		}
	}
	c := *w
	c.member = false
	if ds := c.pick(all, 2, GoFunc, GoMethod); len(ds) > 0 {
		return p.take(ds, "constructor")
	}
	if ds := r.Go.says[w.sym.Name]; len(ds) > 0 {
		return p.take(ds, "named in its comment")
	}
	return p.take(types, "constructor: the type's zero value or literal")
}

// special places what C++ has and Go has not: constructors, destructors,
// operators.
func (r *Ref) special(p *Placement, w *wanted) bool {
	if w.sym.Kind != KindFunc && w.sym.Kind != KindDecl {
		return false
	}
	owner := w.owner
	typ := func() []*GoDecl {
		if c := r.types[strings.TrimSuffix(w.sym.Name, "::"+lastPart(w.sym.Name))]; c != nil {
			return c.decls
		}
		return nil
	}
	switch {
	case strings.HasPrefix(w.name, "~") || strings.Contains(w.sym.Name, "::~"):
		w.owner = flat(strings.TrimPrefix(lastName(w.sym.Name), "~"))
		owner = w.owner
		var all []*GoDecl
		for _, n := range []string{"close", "release", "free", "destroy", "unref", "cleanup", "stop", "end", "finish", "reset"} {
			for _, d := range r.Go.byName[n] {
				if flat(d.Recv) == owner {
					all = append(all, d)
				}
			}
		}
		if ds := w.pick(all, 4, GoMethod); len(ds) > 0 {
			return p.take(ds[:1], "destructor")
		}
		return p.take(typ(), "destructor: the garbage collector's")
	case strings.HasPrefix(w.name, "operator"):
		rest := strings.TrimSpace(strings.TrimPrefix(w.name, "operator"))
		var all []*GoDecl
		for _, n := range map[string][]string{"==": {"equal", "equals"}, "!=": {"equal", "equals"}, "<": {"less", "compare", "before"},
			"<<": {"string", "debugstring"}, "()": {"compare", "less", "call", "run", "hash"}, "[]": {"at", "get", "byte"}}[rest] {
			all = append(all, r.Go.byName[n]...)
		}
		if ds := w.pick(all, 7, GoFunc, GoMethod); len(ds) > 0 {
			return p.take(ds[:1], "operator")
		}
		if owner != "" {
			return p.take(typ(), "operator: the language's")
		}
	}
	return false
}

// lastPart is the last part of a qualified name, with the ~ of a destructor.
func lastPart(name string) string {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		return name[i+2:]
	}
	return name
}

// mentioned finds a Go comment that names the symbol.
func (r *Ref) mentioned(p *Placement, w *wanted) bool {
	names := []string{w.sym.Name}
	parts := strings.Split(w.sym.Name, "::")
	if len(parts) > 2 {
		names = append(names, strings.Join(parts[len(parts)-2:], "::"))
	}
	if ds := r.Go.says[w.sym.Name]; len(ds) > 0 {
		return p.take(ds, "named in its comment")
	}
	type hit struct {
		d *GoDecl
		n int
	}
	var hits []hit
	for _, name := range names {
		for _, at := range r.Go.mentions[name] {
			if d := at.file.at(at.line); d != nil {
				n := w.score(d) + 1
				if strings.Contains(d.Doc, name) {
					n += 6
				}
				if d.Recv != "" && flat(d.Recv) == w.owner {
					n += 2
				}
				hits = append(hits, hit{d, n})
			}
		}
	}
	if len(parts) == 1 || !w.member && len(hits) == 0 {
		// A free function: its plain name in the doc of something in its files.
		for f := range w.files {
			for _, d := range f.Decls {
				if len(w.name) > 4 && wordIn(d.Doc, w.name) && (w.sym.Kind != KindClass || d.Kind == GoType) {
					hits = append(hits, hit{d, 7})
				}
			}
		}
	} else if len(hits) == 0 && len(w.name) > 4 && w.sym.Kind != KindMember && w.sym.Kind != KindClass {
		for f := range w.files {
			for _, d := range f.Decls {
				if wordIn(d.Doc, strings.TrimSuffix(w.name, "_")) && strings.ContainsAny(w.name[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") {
					hits = append(hits, hit{d, 5})
				}
			}
		}
	}
	if len(hits) == 0 {
		return false
	}
	sort.SliceStable(hits, func(i, j int) bool {
		if hits[i].n != hits[j].n {
			return hits[i].n > hits[j].n
		}
		if hits[i].d.File.Path != hits[j].d.File.Path {
			return hits[i].d.File.Path < hits[j].d.File.Path
		}
		return hits[i].d.Line < hits[j].d.Line
	})
	return p.take([]*GoDecl{hits[0].d}, "named in its comment")
}

// syncPoint finds a Go function that reaches a sync point named after the
// symbol.
func (r *Ref) syncPoint(p *Placement, w *wanted) bool {
	if w.sym.Kind != KindFunc && w.sym.Kind != KindDecl {
		return false
	}
	for _, at := range r.Go.points[w.sym.Name] {
		if d := at.file.at(at.line); d != nil && !at.file.Test && w.score(d) > 0 {
			return p.take([]*GoDecl{d}, "its sync point stands there")
		}
	}
	return false
}

// wordIn tells whether text has name as a whole word.
func wordIn(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isIdentByte(text[i-1])) && (end == len(text) || !isIdentByte(text[end])) {
			return true
		}
		from = end
	}
}

// varied tries the ways in which names change between the languages.
func (r *Ref) varied(p *Placement, w *wanted) bool {
	base := flat(w.name)
	var tries []string
	switch w.sym.Kind {
	case KindFunc, KindDecl:
		tries = append(tries, base+"locked", "new"+base)
		for _, cut := range []string{"test", "get", "set", "is", "has", "do", "maybe", "new", "create", "make", "internal"} {
			if rest, ok := strings.CutPrefix(base, cut); ok && len(rest) > 2 {
				tries = append(tries, rest, "new"+rest, rest+"locked")
			}
		}
		for _, cut := range []string{"impl", "internal", "locked", "helper", "nolock", "unlocked", "nothrow", "fast", "slow", "common"} {
			if rest, ok := strings.CutSuffix(base, cut); ok && len(rest) > 2 {
				tries = append(tries, rest)
			}
			tries = append(tries, base+cut)
		}
		tries = append(tries, w.owner+base, base+w.owner, "get"+base, "is"+base, "has"+base, "set"+base)
		if base == "name" || base == "id" {
			tries = append(tries, "name", "nickname", "kclassname")
		}
		if base == "kclassname" || base == "knickname" {
			tries = append(tries, "name")
		}
		switch base {
		case "create", "open":
			tries = append(tries, "new"+w.owner, "create"+w.owner, "open"+w.owner)
		case "size", "count":
			tries = append(tries, "len", "num")
		case "tostring":
			tries = append(tries, "string", "debugstring")
		case "debugstring":
			tries = append(tries, "string")
		case "status":
			tries = append(tries, "err", "status")
		case "empty":
			tries = append(tries, "isempty", "len")
		case "begin", "end":
			tries = append(tries, "all")
		case "compare":
			tries = append(tries, "compare", "cmp", "less")
		}
	case KindClass, KindAlias, KindEnum:
		for _, cut := range []string{"impl", "rep", "base", "interface", "struct", "tag", "t", "options", "context", "handler", "s"} {
			if rest, ok := strings.CutSuffix(base, cut); ok && len(rest) > 2 {
				tries = append(tries, rest)
			}
			tries = append(tries, base+cut)
		}
		if w.owner != "" {
			tries = append(tries, w.owner+base, base+w.owner)
		}
		tries = append(tries, "new"+base)
	case KindMember, KindVar:
		if strings.HasSuffix(base, "mutex") || base == "mu" {
			tries = append(tries, "mu", strings.TrimSuffix(base, "mutex")+"mu", "mutex")
		}
		for _, cut := range []string{"ptr", "count", "num"} {
			if rest, ok := strings.CutSuffix(base, cut); ok && len(rest) > 2 {
				tries = append(tries, rest)
			}
		}
	}
	for _, t := range tries {
		if ds := w.pick(r.Go.byName[t], 7, kindsFor(w.sym.Kind)...); len(ds) > 0 {
			return p.take(ds, "name varied ("+ds[0].Name+")")
		}
	}
	return false
}

// elsewhere takes a long name that only one Go declaration has.
func (r *Ref) elsewhere(p *Placement, w *wanted) bool {
	if len(w.name) < 9 || w.sym.Kind == KindMember || w.sym.Kind == KindAlias {
		return false
	}
	for _, n := range namesOf(w) {
		var ds []*GoDecl
		for _, d := range r.Go.byName[n] {
			for _, k := range kindsFor(w.sym.Kind) {
				if d.Kind == k && !d.File.Test && (d.Recv == "" && !w.member || w.score(d) > 0) {
					ds = append(ds, d)
				}
			}
		}
		if len(ds) == 1 {
			return p.take(ds, "same name, the only one here")
		}
	}
	return false
}

// implementation takes a method of an interface from the class upstream names
// after it: DB and DBImpl.
func (r *Ref) implementation(p *Placement, w *wanted) bool {
	if !w.member || w.sym.Kind != KindFunc && w.sym.Kind != KindDecl {
		return false
	}
	impl := r.types[strings.TrimSuffix(w.sym.Name, "::"+lastPart(w.sym.Name))+"Impl"]
	if impl == nil || len(impl.decls) == 0 {
		return false
	}
	var ds []*GoDecl
	for _, d := range r.Go.byName[flat(w.name)] {
		if d.Recv != "" && impl.has(d) {
			ds = append(ds, d)
		}
	}
	return p.take(ds, "of the class that implements it")
}

// literal finds values that Go has as text only.
func (r *Ref) literal(p *Placement, w *wanted) bool {
	if w.sym.Kind != KindValue && w.sym.Kind != KindVar && w.sym.Kind != KindMember && w.sym.Kind != KindFunc {
		return false
	}
	if len(w.name) < 6 {
		return false
	}
	for _, s := range r.strings(w.name, w.sym.File) {
		near := s.decl != nil && w.files[s.decl.File]
		if near || w.sym.Kind != KindMember && len(w.files) > 0 && strings.SplitN(s.Path, "/", 2)[0] == strings.SplitN(w.sym.File, "/", 2)[0] {
			p.Spots, p.Rule = append(p.Spots, s), "its name in a table"
		}
	}
	return p.Placed()
}

// strings gives the places of a literal: outside of tests first.
func (r *Ref) strings(text, near string) []Spot {
	var plain, tests []Spot
	for _, at := range r.Go.literals[text] {
		s := Spot{Path: at.file.Path, Line: at.line}
		if d := at.file.at(at.line); d != nil {
			s.Symbol, s.decl = d.Symbol(), d
		}
		if at.file.Test {
			tests = append(tests, s)
		} else {
			plain = append(plain, s)
		}
	}
	if len(plain) > 0 {
		return plain
	}
	return tests
}

// unplaced says what is known of a name that has no place.
func (r *Ref) unplaced(w *wanted) string {
	files := r.goFiles(w.sym.File)
	if len(files) == 0 {
		if why := r.Ledger.fileReason(w.sym.File); why != "" {
			return w.sym.File + " is not ported: " + why
		}
		return w.sym.File + " is not ported"
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Path)
	}
	differs := ""
	for _, f := range files {
		if f.Differs != "" && differs == "" {
			differs = "; " + f.Path + " differs: " + f.Differs
		}
	}
	if len(names) > 4 {
		names = append(names[:4], "…")
	}
	return "nothing here has this name; " + w.sym.File + " is ported in " + strings.Join(names, ", ") + differs
}

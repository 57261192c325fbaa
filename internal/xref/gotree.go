// No upstream twin: the Go side, read from the source.

package xref

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// GoFile is a source file of this module.
type GoFile struct {
	Path    string // from the module's root
	Package string
	Test    bool
	// Header is the comment before the package clause, without build lines.
	Header string
	// Named are the upstream files that the header names; Upstream those of them
	// that exist.
	Named    []string
	Upstream []string
	// Differs is what the header says after "Differs:".
	Differs string
	// Constraint is the file's build line.
	Constraint string
	NoTwin     bool
	Decls      []*GoDecl
	// mentions are upstream's qualified names in comments, by line.
	mentions []mention
	strings  []literal
	// embedsTest says that a struct here embeds a *testing.T.
	embedsTest bool
}

type mention struct {
	name string
	line int
}

type literal struct {
	text string
	line int
	tag  bool // from a struct's tag
}

// Kinds of Go declarations.
const (
	GoFunc   = "func"
	GoMethod = "method"
	GoType   = "type"
	GoField  = "field"
	GoConst  = "const"
	GoVar    = "var"
)

// GoDecl is a declaration of this module.
type GoDecl struct {
	File      *GoFile
	Kind      string
	Recv      string // type of a method or a field
	Name      string
	Doc       string
	Line, End int
	fn        *ast.FuncDecl
	pointer   bool
	calls     map[string]bool
}

// Symbol gives the name as Go programmers write it: (*T).Method, T.Field, F.
func (d *GoDecl) Symbol() string {
	switch {
	case d.Kind == GoMethod && d.pointer:
		return "(*" + d.Recv + ")." + d.Name
	case d.Recv != "":
		return d.Recv + "." + d.Name
	}
	return d.Name
}

// GoTree is this module's source.
type GoTree struct {
	Root   string
	Module string
	Files  []*GoFile
	Decls  []*GoDecl

	byName   map[string][]*GoDecl // by flat name
	byPath   map[string]*GoFile
	byUp     map[string][]*GoFile
	upstream []string // the keys of byUp, sorted
	literals map[string][]place
	mentions map[string][]place
	points   map[string][]place // literals that begin with a qualified name
	// says are the declarations whose comment says "Upstream: NAME" or "is
	// upstream's NAME".
	says  map[string][]*GoDecl
	tests map[string]*GoDecl
}

// place is a line of a file.
type place struct {
	file *GoFile
	line int
	tag  bool
}

// Tags are the build tags under which the module is listed. Files that other
// systems and tags take are read as well.
const Tags = "invariants,syncpoint"

// ReadGo reads the module at root: go/packages lists it, each file is parsed
// once.
func ReadGo(root string) (*GoTree, error) {
	cfg := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedModule, Dir: root, Tests: true,
		BuildFlags: []string{"-tags=" + Tags}}
	list, err := packages.Load(cfg, "./...")
	if err != nil {
		return nil, err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	g := &GoTree{Root: root}
	seen := map[string]bool{}
	var paths []string
	for _, p := range list {
		if p.Module != nil && p.Module.Main {
			g.Module = p.Module.Path
		}
		for _, files := range [][]string{p.GoFiles, p.IgnoredFiles} {
			for _, f := range files {
				rel, err := filepath.Rel(root, f)
				if err != nil || strings.HasPrefix(rel, "..") || !strings.HasSuffix(rel, ".go") || seen[rel] {
					continue
				}
				seen[rel] = true
				paths = append(paths, rel)
			}
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no Go module", root)
	}
	sort.Strings(paths)
	g.Files = make([]*GoFile, len(paths))
	errs := make([]error, len(paths))
	fset := token.NewFileSet()
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, path := range paths {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			g.Files[i], errs[i] = parseGo(fset, root, filepath.ToSlash(path))
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	g.index()
	return g, nil
}

func parseGo(fset *token.FileSet, root, path string) (*GoFile, error) {
	src, err := parser.ParseFile(fset, filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &GoFile{Path: path, Package: src.Name.Name, Test: strings.HasSuffix(path, "_test.go")}
	f.header(fset, src)
	r := &goReader{f: f, fset: fset}
	for _, d := range src.Decls {
		r.decl(d)
	}
	for _, c := range src.Comments {
		if c.Pos() > src.Package {
			r.comment(c)
		}
	}
	return f, nil
}

type goReader struct {
	f    *GoFile
	fset *token.FileSet
}

func (r *goReader) line(p token.Pos) int { return r.fset.Position(p).Line }

func (r *goReader) add(n ast.Node, kind, recv, name string, doc ...*ast.CommentGroup) *GoDecl {
	d := &GoDecl{File: r.f, Kind: kind, Recv: recv, Name: name, Line: r.line(n.Pos()), End: r.line(n.End())}
	for _, c := range doc {
		if c != nil {
			d.Doc += c.Text()
		}
	}
	r.f.Decls = append(r.f.Decls, d)
	return d
}

func (r *goReader) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		recv, pointer := receiver(d)
		kind := GoFunc
		if recv != "" {
			kind = GoMethod
		}
		x := r.add(d, kind, recv, d.Name.Name, d.Doc)
		x.fn, x.pointer = d, pointer
		if d.Body != nil {
			r.literals(d.Body)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				doc := s.Doc
				if doc == nil {
					doc = d.Doc
				}
				r.add(s, GoType, "", s.Name.Name, doc, s.Comment)
				r.members(s.Name.Name, s.Type)
			case *ast.ValueSpec:
				kind := GoVar
				if d.Tok == token.CONST {
					kind = GoConst
				}
				for _, n := range s.Names {
					x := r.add(n, kind, "", n.Name, s.Doc, s.Comment)
					if len(s.Names) == 1 {
						x.End = r.line(s.End())
					}
					if len(d.Specs) == 1 && d.Doc != nil {
						x.Doc += d.Doc.Text()
					}
				}
				for _, v := range s.Values {
					r.literals(v)
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) (name string, pointer bool) {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return "", false
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			pointer, e = true, x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x.Name, pointer
		default:
			return "", pointer
		}
	}
}

// members takes a type's fields and an interface's methods; fields of unnamed
// structs within count as the type's.
func (r *goReader) members(owner string, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructType:
		for _, f := range e.Fields.List {
			for _, n := range f.Names {
				r.add(n, GoField, owner, n.Name, f.Doc, f.Comment)
			}
			if f.Tag != nil {
				r.tag(f.Tag)
			}
			r.f.embedsTest = r.f.embedsTest || len(f.Names) == 0 && isTestingT(f.Type)
			if s, ok := f.Type.(*ast.StructType); ok {
				r.members(owner, s)
			}
		}
	case *ast.InterfaceType:
		for _, f := range e.Methods.List {
			for _, n := range f.Names {
				r.add(n, GoMethod, owner, n.Name, f.Doc, f.Comment)
			}
		}
	}
}

// isTestingT tells *testing.T and its kin.
func isTestingT(e ast.Expr) bool {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && (x.Name == "testing" || x.Name == "rapid") && (s.Sel.Name == "T" || s.Sel.Name == "TB")
}

func (r *goReader) literals(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if s, err := strconv.Unquote(n.Value); err == nil && len(s) <= 120 {
					r.f.strings = append(r.f.strings, literal{s, r.line(n.Pos()), false})
				}
			}
		case *ast.BinaryExpr:
			if s, ok := constantString(n); ok && len(s) <= 120 {
				r.f.strings = append(r.f.strings, literal{s, r.line(n.Pos()), false})
			}
		}
		return true
	})
}

// constantString joins literals that are added up.
func constantString(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		a, ok1 := constantString(e.X)
		b, ok2 := constantString(e.Y)
		return a + b, ok1 && ok2 && e.Op == token.ADD
	}
	return "", false
}

var tagValue = regexp.MustCompile(`\b\w+:"([\w-]+)`)

func (r *goReader) tag(l *ast.BasicLit) {
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return
	}
	if m := tagValue.FindStringSubmatch(s); m != nil {
		r.f.strings = append(r.f.strings, literal{m[1], r.line(l.Pos()), true})
	}
}

var qualified = regexp.MustCompile(`[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)+`)

func (r *goReader) comment(g *ast.CommentGroup) {
	for _, c := range g.List {
		at := r.line(c.Pos())
		for i, line := range strings.Split(c.Text, "\n") {
			for _, m := range qualified.FindAllString(line, -1) {
				r.f.mentions = append(r.f.mentions, mention{m, at + i})
			}
		}
	}
}

// header reads the comment before the package clause.
func (f *GoFile) header(fset *token.FileSet, src *ast.File) {
	var b strings.Builder
	for _, g := range src.Comments {
		if g.Pos() >= src.Package {
			break
		}
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, "//go:build") {
				f.Constraint = c.Text
			}
			if strings.HasPrefix(c.Text, "//go:") || strings.HasPrefix(c.Text, "// Code generated") {
				continue
			}
			b.WriteString(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")) + " ")
		}
		if fset.Position(g.End()).Line+1 >= fset.Position(src.Package).Line && g == src.Doc {
			break
		}
	}
	f.Header = strings.TrimSpace(b.String())
	f.NoTwin = strings.Contains(f.Header, "No upstream twin")
	text := f.Header
	if i := strings.Index(text, "Differs:"); i >= 0 {
		f.Differs = strings.TrimSpace(text[i+len("Differs:"):])
		text = text[:i]
	}
	i := strings.Index(text, "Port of ")
	if i < 0 {
		return
	}
	f.Named = headerFiles(text[i+len("Port of "):])
}

var pathWord = regexp.MustCompile(`(?:[\w./*+-]|\{[^{}]*\})+`)

// headerFiles gives the paths in a header, with braces expanded. A name without
// directory stands in the one before.
func headerFiles(text string) []string {
	var out []string
	dir := ""
	for _, w := range pathWord.FindAllString(text, -1) {
		w = strings.TrimRight(w, ".")
		for _, p := range expandBraces(w) {
			p = strings.TrimSpace(p)
			ext := filepath.Ext(p)
			if ext != ".h" && ext != ".cc" && ext != ".c" && ext != ".py" && ext != ".sh" {
				continue
			}
			if !strings.Contains(p, "/") && dir != "" {
				p = dir + "/" + p
			}
			out = append(out, p)
			if strings.Contains(p, "/") {
				dir = filepath.ToSlash(filepath.Dir(p))
			}
		}
	}
	return out
}

func expandBraces(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}
	}
	end := strings.IndexByte(s[open:], '}')
	if end < 0 {
		return []string{s}
	}
	end += open
	var out []string
	for _, part := range strings.Split(s[open+1:end], ",") {
		for _, rest := range expandBraces(s[end+1:]) {
			out = append(out, s[:open]+strings.TrimSpace(part)+rest)
		}
	}
	return out
}

// flat is a name without case and underscores, in which C++ and Go agree.
func flat(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

var mirroredTest = regexp.MustCompile(`^Test(\w+?)_(\w+)$`)

var (
	saying          = regexp.MustCompile(`(?:^|\n)Upstream: ([\w:~,\s]+)\.|(?:is|are)\s+upstream's\s+((?:[\w~]+(?:::~?\w+)*(?:,\s+|\s+and\s+|\.))+)`)
	wordOrQualified = regexp.MustCompile(`[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*`)
)

func (g *GoTree) index() {
	g.byName = map[string][]*GoDecl{}
	g.byPath = map[string]*GoFile{}
	g.literals = map[string][]place{}
	g.mentions = map[string][]place{}
	g.points = map[string][]place{}
	g.says = map[string][]*GoDecl{}
	g.tests = map[string]*GoDecl{}
	for _, f := range g.Files {
		g.byPath[f.Path] = f
		for _, d := range f.Decls {
			g.Decls = append(g.Decls, d)
			g.byName[flat(d.Name)] = append(g.byName[flat(d.Name)], d)
			for _, m := range saying.FindAllStringSubmatch(d.Doc, -1) {
				for _, name := range wordOrQualified.FindAllString(m[1]+m[2], -1) {
					if name != "and" {
						g.says[name] = append(g.says[name], d)
					}
				}
			}
			if m := mirroredTest.FindStringSubmatch(d.Name); m != nil && f.Test && d.Kind == GoFunc {
				g.tests[m[1]+"."+m[2]] = d
			}
		}
		for _, l := range f.strings {
			g.literals[l.text] = append(g.literals[l.text], place{f, l.line, l.tag})
			if name := qualified.FindString(l.text); name != "" && strings.HasPrefix(l.text, name) {
				g.points[name] = append(g.points[name], place{f, l.line, l.tag})
			}
		}
		for _, m := range f.mentions {
			g.mentions[m.name] = append(g.mentions[m.name], place{f, m.line, false})
		}
	}
}

// Link finds which of the named files exist upstream.
func (g *GoTree) Link(up *Facts) {
	g.byUp = map[string][]*GoFile{}
	for _, f := range g.Files {
		f.Upstream = nil
		for _, n := range f.Named {
			paths := up.match(n)
			if len(paths) > 10 {
				continue // "all headers" says nothing about one
			}
			for _, path := range paths {
				f.Upstream = append(f.Upstream, path)
				g.byUp[path] = append(g.byUp[path], f)
			}
		}
	}
	g.upstream = g.upstream[:0]
	for path := range g.byUp {
		g.upstream = append(g.upstream, path)
	}
	sort.Strings(g.upstream)
}

// match gives the files that a name, perhaps with *, stands for.
func (f *Facts) match(name string) []string {
	if f.HasFile(name) {
		return []string{name}
	}
	if !strings.Contains(name, "*") {
		return nil
	}
	var out []string
	for _, x := range f.Files {
		if ok, err := filepath.Match(name, x.Path); err == nil && ok {
			out = append(out, x.Path)
		}
	}
	return out
}

// at gives the declaration around a line, or the one just below a comment.
func (f *GoFile) at(line int) *GoDecl {
	var best *GoDecl
	for _, d := range f.Decls {
		if d.Line <= line && line <= d.End && (best == nil || d.End-d.Line <= best.End-best.Line) {
			best = d
		}
	}
	if best != nil {
		return best
	}
	for _, d := range f.Decls {
		if d.Line > line && (best == nil || d.Line < best.Line) {
			best = d
		}
	}
	return best
}

// No upstream twin: what the documentation names exists.

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// docFiles are the pages, by path from the root.
func docFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = strings.TrimPrefix(f, root+"/")
	}
	return append(files, "README.md", "CONTRIBUTING.md")
}

// declared are the names that the tree declares.
type declared struct {
	names    map[string]bool            // of anything
	members  map[string]map[string]bool // methods and fields, by type
	embeds   map[string]bool            // types that embed something
	packages map[string]map[string]bool // names at package level, by package
	text     map[string]bool            // words in string literals: options, sync points
	folded   map[string]bool            // names without case and underscores
	files    map[string]bool            // base names
}

var word = regexp.MustCompile(`[A-Za-z_]\w*`)

func (d *declared) member(typ, name string) {
	if d.members[typ] == nil {
		d.members[typ] = map[string]bool{}
	}
	d.members[typ][name] = true
	d.name(name)
}

func (d *declared) name(name string) { d.names[name], d.folded[fold(name)] = true, true }

// fold makes write_buffer_size and WriteBufferSize the same.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (d *declared) top(pkg, name string) {
	if d.packages[pkg] == nil {
		d.packages[pkg] = map[string]bool{}
	}
	d.packages[pkg][name] = true
	d.name(name)
}

// baseName is the name of a type behind pointers and type parameters.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func (d *declared) addType(pkg string, s *ast.TypeSpec) {
	d.top(pkg, s.Name.Name)
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		d.embeds[s.Name.Name] = true // an alias, or a type of another's shape
		return
	}
	var add func(fields *ast.FieldList)
	add = func(fields *ast.FieldList) {
		for _, f := range fields.List {
			if len(f.Names) == 0 {
				d.embeds[s.Name.Name] = true
			}
			for _, n := range f.Names {
				d.member(s.Name.Name, n.Name)
			}
			if inner, ok := f.Type.(*ast.StructType); ok { // a group of fields
				add(inner.Fields)
			}
		}
	}
	add(fields)
}

func (d *declared) addFile(f *ast.File) {
	pkg := f.Name.Name
	for _, decl := range f.Decls {
		switch x := decl.(type) {
		case *ast.FuncDecl:
			if x.Recv == nil {
				d.top(pkg, x.Name.Name)
			} else {
				d.member(baseName(x.Recv.List[0].Type), x.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range x.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					d.addType(pkg, s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						d.top(pkg, n.Name)
					}
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			d.text[strings.Trim(lit.Value, "\"`")] = true
			for _, w := range word.FindAllString(lit.Value, -1) {
				d.text[w] = true
			}
		}
		return true
	})
}

func readDeclared(t *testing.T) *declared {
	t.Helper()
	d := &declared{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}, map[string]bool{},
		map[string]bool{}, map[string]bool{}}
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		d.files[e.Name()] = true
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		d.addFile(f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	span     = regexp.MustCompile("`([^`\n]+)`")
	symbol   = regexp.MustCompile(`^\*?[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?$`)
	fileSpan = regexp.MustCompile(`^[\w./{},*-]+$`)
)

// proseOf is a page without its blocks of code.
func proseOf(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// isPath tells whether a span names a file or directory of this tree.
func isPath(s string, tops map[string]bool) bool {
	if !fileSpan.MatchString(s) {
		return false
	}
	first, _, slash := strings.Cut(s, "/")
	if slash {
		return tops[first]
	}
	switch filepath.Ext(s) {
	case ".go", ".md", ".tsv":
		return true
	}
	return false
}

var allCaps = regexp.MustCompile(`^[A-Z]+(_[A-Z0-9]+)+$`)

// isForeign tells names that are not the tree's: upstream's files, classes and
// enums.
func isForeign(s string) bool {
	return allCaps.MatchString(s) || strings.HasSuffix(s, ".cc") || strings.HasSuffix(s, ".h") || strings.HasSuffix(s, ".py") || strings.Contains(s, "::")
}

// exists tells whether a dotted name is one of the tree's: package.Name,
// Type.Member, a name, or a text of its own.
func (d *declared) exists(s string) bool {
	if d.text[s] { // a property, a file
		return true
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(s, "()"), "*"), ".")
	if len(parts) > 1 && d.packages[parts[0]] != nil {
		if !d.packages[parts[0]][parts[1]] {
			return false
		}
		parts = parts[1:]
	}
	if len(parts) == 1 {
		return d.names[parts[0]] || d.packages[parts[0]] != nil || d.text[parts[0]] || d.folded[fold(parts[0])] || d.files[parts[0]]
	}
	if len(parts) == 2 && d.names["Test"+parts[0]+"_"+parts[1]] { // upstream's test
		return true
	}
	for i := 1; i < len(parts); i++ {
		if !d.members[parts[i-1]][parts[i]] && !(d.embeds[parts[i-1]] && d.names[parts[i]]) && !(d.text[parts[i-1]] && d.text[parts[i]]) {
			return false
		}
	}
	return true
}

// TestDocsNames: every path and every name in backticks in the documentation
// exists. Pages about moving to this module name others' calls as well; their
// code is checked by TestDocsCode.
func TestDocsNames(t *testing.T) {
	d := readDeclared(t)
	tops := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		tops[e.Name()] = true
	}
	for _, page := range docFiles(t) {
		if page == "docs/porting.md" { // generated; its paths are upstream's
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(proseOf(string(data)), -1) {
			switch s := m[1]; {
			case isForeign(s):
			case isPath(s, tops):
				if !d.files[s] && !pathExists(page, s) {
					t.Errorf("%s: there is no file %s", page, s)
				}
			case page != "docs/migrating.md" && symbol.MatchString(s) && !d.exists(s):
				t.Errorf("%s: %s is not declared anywhere", page, s)
			}
		}
	}
}

// pathExists looks for a path from the root or beside the page; {a,b} are
// alternatives that all have to be there, * any.
func pathExists(page, s string) bool {
	for _, p := range expand(strings.TrimSuffix(s, "/")) {
		found := false
		for _, base := range []string{root, filepath.Join(root, filepath.Dir(page))} {
			if hits, err := filepath.Glob(filepath.Join(base, p)); err == nil && len(hits) > 0 {
				found = true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func expand(s string) []string {
	before, rest, ok := strings.Cut(s, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{s}
	}
	var all []string
	for alternative := range strings.SplitSeq(inner, ",") {
		all = append(all, expand(before+alternative+after)...)
	}
	return all
}

// TestDocsLinks: links between pages lead somewhere, and the entry page leads to
// every page.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	entry, err := os.ReadFile(root + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range docFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(proseOf(string(data)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			}
		}
		name := filepath.Base(page)
		if filepath.Dir(page) == "docs" && name != "architecture.md" && !strings.Contains(string(entry), "("+name+")") {
			t.Errorf("docs/architecture.md does not lead to %s", name)
		}
	}
}

// No upstream twin: a static look at tests.

package xref

import (
	"go/ast"
	"strings"
)

// isTest tells func TestX(t *testing.T).
func isTest(d *GoDecl) bool {
	return strings.HasPrefix(d.Name, "Test") && d.Name != "TestMain" && len(d.fn.Type.Params.List) == 1
}

// emptyBody tells a body of nothing but helpers' marks and logs.
func emptyBody(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		name := testCall(s)
		if name != "Parallel" && name != "Helper" && name != "Log" && name != "Logf" {
			return false
		}
	}
	return true
}

// skipsAlways tells a body whose own statements skip.
func skipsAlways(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if name := testCall(s); name == "Skip" || name == "Skipf" || name == "SkipNow" {
			return true
		}
	}
	return false
}

// testCall gives the method that a statement calls on t.
func testCall(s ast.Stmt) string {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	c, ok := e.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || !isTestValue(sel.X) {
		return ""
	}
	return sel.Sel.Name
}

// isTestValue tells t, tb, x.t and the like.
func isTestValue(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	switch strings.ToLower(name) {
	case "t", "tb", "tt", "rt", "st", "b", "f":
		return true
	}
	return false
}

// assertions tells which functions can fail a test.
type assertions struct {
	byDir map[string]map[string][]*GoDecl
	any   map[string][]*GoDecl
	// embeds are the directories whose tests' fixtures embed a *testing.T.
	embeds map[string]bool
	known  map[*GoDecl]int // 1 asserts, 2 does not, 3 being looked at
}

func newAssertions(g *GoTree) *assertions {
	a := &assertions{byDir: map[string]map[string][]*GoDecl{}, any: map[string][]*GoDecl{}, embeds: map[string]bool{}, known: map[*GoDecl]int{}}
	for _, f := range g.Files {
		if f.Test && f.embedsTest {
			a.embeds[dirOf(f.Path)] = true
		}
	}
	for _, d := range g.Decls {
		if d.fn == nil {
			continue
		}
		dir := dirOf(d.File.Path)
		if a.byDir[dir] == nil {
			a.byDir[dir] = map[string][]*GoDecl{}
		}
		a.byDir[dir][d.Name] = append(a.byDir[dir][d.Name], d)
		if takesTest(d.fn) {
			a.any[d.Name] = append(a.any[d.Name], d)
		}
	}
	return a
}

// takesTest tells whether a function gets a *testing.T or the like.
func takesTest(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		found := false
		ast.Inspect(p.Type, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && (x.Name == "testing" || x.Name == "rapid") {
					found = true
				}
			}
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// asserts tells whether a function fails a test somewhere, itself or in what it
// calls.
func (a *assertions) asserts(d *GoDecl) bool {
	switch a.known[d] {
	case 1:
		return true
	case 2, 3:
		return false
	}
	a.known[d] = 3
	yes := false
	if d.fn != nil && d.fn.Body != nil {
		yes = a.look(d, d.fn.Body)
	}
	a.known[d] = 2
	if yes {
		a.known[d] = 1
	}
	return yes
}

func (a *assertions) look(d *GoDecl, body ast.Node) bool {
	yes := false
	ast.Inspect(body, func(n ast.Node) bool {
		if yes {
			return false
		}
		var name string
		switch n := n.(type) {
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				_, plain := f.X.(*ast.Ident)
				if failing[f.Sel.Name] && (isTestValue(f.X) || plain && d.File.Test && a.embeds[dirOf(d.File.Path)]) {
					yes = true
					return false
				}
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			case *ast.IndexExpr:
				if id, ok := f.X.(*ast.Ident); ok {
					name = id.Name
				}
			}
		case *ast.Ident: // a function handed on: t.Run(name, check)
			name = n.Name
			if len(a.byDir[dirOf(d.File.Path)][name]) == 0 {
				return true
			}
		}
		if name == "" {
			return true
		}
		yes = a.named(d, name)
		return !yes
	})
	return yes
}

// named looks at the functions of a name: those of the directory, and helpers
// elsewhere that take a test.
func (a *assertions) named(from *GoDecl, name string) bool {
	for _, d := range a.byDir[dirOf(from.File.Path)][name] {
		if (d.File.Test || takesTest(d.fn)) && a.asserts(d) {
			return true
		}
	}
	for _, d := range a.any[name] {
		if a.asserts(d) {
			return true
		}
	}
	return false
}

var failing = map[string]bool{"Error": true, "Errorf": true, "Fatal": true, "Fatalf": true, "Fail": true, "FailNow": true}

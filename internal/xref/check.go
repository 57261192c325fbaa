// No upstream twin: what must hold between upstream's names, the code and the
// ledger.

package xref

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// Finding is something that does not hold.
type Finding struct {
	Rule string // one of the rules below
	At   string // file, or file:line
	Text string
}

func (f Finding) String() string { return f.At + ": " + f.Text + " [" + f.Rule + "]" }

// Rules of Check.
const (
	RuleHeader   = "header"   // a file names its upstream file, or says that it has none
	RuleFile     = "file"     // the upstream file named exists
	RuleName     = "name"     // a mirrored test's name exists upstream
	RuleTwice    = "twice"    // a test is mirrored once
	RuleEmpty    = "empty"    // a test does something
	RuleSkip     = "skip"     // a test does not skip itself
	RuleAssert   = "assert"   // a mirrored test asserts something
	RuleLedger   = "ledger"   // a row exists upstream, gives a reason, stands once, and its test is not here
	RuleMirrored = "mirrored" // each case of a mirrored file is here or in the ledger
	RuleMention  = "mention"  // a comment that names an upstream function names one that exists
	RuleCounts   = "counts"   // counts do not go down
	RuleDocs     = "docs"     // docs/porting.md is what the tables say
)

type checker struct {
	r    *Ref
	list []Finding
}

func (c *checker) add(rule, at, format string, args ...any) {
	c.list = append(c.list, Finding{rule, at, fmt.Sprintf(format, args...)})
}

// Check gives all that does not hold, but for the counts and the docs, which
// CheckFiles looks at.
func (r *Ref) Check() []Finding {
	c := &checker{r: r}
	c.headers()
	c.testNames()
	c.testBodies()
	c.ledger()
	c.mirrored()
	c.mentions()
	sort.SliceStable(c.list, func(i, j int) bool { return c.list[i].At < c.list[j].At })
	return c.list
}

func (c *checker) headers() {
	for _, f := range c.r.Go.Files {
		if path.Base(f.Path) == "doc.go" || strings.HasPrefix(f.Path, "internal/cmd/") {
			continue
		}
		if !f.NoTwin && !strings.Contains(f.Header, "Port of ") {
			c.add(RuleHeader, f.Path, "does not name its upstream file")
			continue
		}
		for _, n := range f.Named {
			if len(c.r.Up.match(n)) == 0 {
				c.add(RuleFile, f.Path, "names %s, which upstream does not have", n)
			}
		}
	}
}

// upstreamTests gives upstream's cases, and its suites.
func (r *Ref) upstreamTests() (cases map[string][]string, suites map[string]bool) {
	cases, suites = map[string][]string{}, map[string]bool{}
	for _, s := range r.Up.Symbols {
		if s.Kind == KindTest {
			cases[s.Name] = append(cases[s.Name], s.File)
			suite, _, _ := strings.Cut(s.Name, ".")
			suites[suite] = true
		}
	}
	return cases, suites
}

// mirrorsTests tells whether a file is the port of a test file.
func mirrorsTests(f *GoFile) bool {
	for _, u := range f.Upstream {
		if fileKind(u) == "test" {
			return true
		}
	}
	return false
}

func (c *checker) testNames() {
	cases, suites := c.r.upstreamTests()
	first := map[string]*GoDecl{}
	for _, d := range c.r.Go.Decls {
		m := mirroredTest.FindStringSubmatch(d.Name)
		if m == nil || !d.File.Test || d.Kind != GoFunc {
			continue
		}
		name := m[1] + "." + m[2]
		at := fmt.Sprintf("%s:%d", d.File.Path, d.Line)
		if len(cases[name]) == 0 {
			if suites[m[1]] {
				c.add(RuleName, at, "%s: upstream's suite %s has no case %s", d.Name, m[1], m[2])
			} else if mirrorsTests(d.File) && strings.Contains(m[1], "Test") && !c.r.knownType(m[1]) {
				c.add(RuleName, at, "%s: upstream has no suite %s", d.Name, m[1])
			}
			continue
		}
		if other := first[name]; other != nil && len(cases[name]) < 2 && !complementary(other.File, d.File) {
			c.add(RuleTwice, at, "%s is in %s, too", d.Name, other.File.Path)
		}
		first[name] = d
	}
}

// knownType tells whether a type or function of either side has a name: a test of
// our own may be called after it.
func (r *Ref) knownType(name string) bool {
	for _, d := range r.Go.byName[flat(name)] {
		if d.Kind == GoType || d.Kind == GoFunc && !d.File.Test || d.Kind == GoMethod {
			return true
		}
	}
	return r.classes[name] && !strings.HasSuffix(name, "Test")
}

// complementary tells files of which a build takes one at most.
func complementary(a, b *GoFile) bool { return a.Constraint != "" && b.Constraint != "" }

func (c *checker) testBodies() {
	look := newAssertions(c.r.Go)
	for _, d := range c.r.Go.Decls {
		if !d.File.Test || d.Kind != GoFunc || d.fn == nil || d.fn.Body == nil || !isTest(d) {
			continue
		}
		at := fmt.Sprintf("%s:%d", d.File.Path, d.Line)
		mirrored := len(c.r.mirrorOf(d)) > 0
		switch {
		case emptyBody(d.fn.Body):
			c.add(RuleEmpty, at, "%s has an empty body", d.Name)
		case skipsAlways(d.fn.Body):
			c.add(RuleSkip, at, "%s skips itself: take it out and put a row into porting/later.tsv or porting/not_applicable.tsv", d.Name)
		case mirrored && !look.asserts(d):
			c.add(RuleAssert, at, "%s asserts nothing", d.Name)
		}
	}
}

func (r *Ref) mirrorOf(d *GoDecl) []string {
	if r.cases == nil {
		r.cases, _ = r.upstreamTests()
	}
	m := mirroredTest.FindStringSubmatch(d.Name)
	if m == nil {
		return nil
	}
	return r.cases[m[1]+"."+m[2]]
}

func (c *checker) ledger() {
	cases, _ := c.r.upstreamTests()
	for _, b := range c.r.Ledger.Broken {
		at, text, _ := strings.Cut(b, " ")
		c.add(RuleLedger, at, "%s", text)
	}
	listed := map[string]bool{}
	for _, row := range c.r.Ledger.Rows {
		at := fmt.Sprintf("porting/%s:%d", row.Table, row.Line)
		key := row.File + "\t" + row.Test
		exists := false
		for _, f := range cases[row.Test] {
			exists = exists || f == row.File
		}
		switch {
		case !exists:
			c.add(RuleLedger, at, "%s has no test %s", row.File, row.Test)
		case listed[key]:
			c.add(RuleLedger, at, "%s is listed twice", row.Test)
		case row.Why == "":
			c.add(RuleLedger, at, "%s has no reason", row.Test)
		case c.r.Go.tests[row.Test] != nil && len(cases[row.Test]) == 1:
			c.add(RuleLedger, at, "%s is in %s: take the row out", row.Test, c.r.Go.tests[row.Test].File.Path)
		}
		listed[key] = true
	}
}

func (c *checker) mirrored() {
	seen := map[string]bool{}
	for _, f := range c.r.Ledger.Mirrored {
		if seen[f] {
			c.add(RuleMirrored, "porting/mirrored.tsv", "%s stands twice", f)
		}
		seen[f] = true
		var missing []string
		n := 0
		for _, s := range c.r.Up.byFile[f] {
			if s.Kind != KindTest {
				continue
			}
			n++
			if c.r.Go.tests[s.Name] == nil && c.r.Ledger.byTest[f+"\t"+s.Name] == nil {
				missing = append(missing, s.Name)
			}
		}
		if n == 0 {
			c.add(RuleMirrored, "porting/mirrored.tsv", "%s has no tests upstream", f)
		}
		if len(missing) > 0 {
			sort.Strings(missing)
			c.add(RuleMirrored, "porting/mirrored.tsv", "%s: %d of %d cases are neither here nor in the ledger: %s", f, len(missing), n, strings.Join(missing, " "))
		}
	}
}

// mentions holds what comments say: a function of a class that upstream has must
// exist there. Other words with "::" are not looked at.
func (c *checker) mentions() {
	names := map[string]bool{}
	classes := map[string]bool{}
	for _, s := range c.r.Up.Symbols {
		parts := strings.Split(s.Name, "::")
		for i := range parts {
			names[strings.Join(parts[i:], "::")] = true
		}
		if s.Kind == KindClass {
			classes[lastName(s.Name)] = true
		}
	}
	for _, f := range c.r.Go.Files {
		for _, m := range f.mentions {
			name := strings.TrimPrefix(m.name, "rocksdb::")
			parts := strings.Split(name, "::")
			if len(parts) < 2 || names[name] || !classes[parts[len(parts)-2]] {
				continue
			}
			c.add(RuleMention, fmt.Sprintf("%s:%d", f.Path, m.line), "upstream has no %s", m.name)
		}
	}
}

// No upstream twin: what a change of upstream touches here.

package xref

import (
	"path"
	"regexp"
	"sort"
	"strings"
)

// Patch is a diff of upstream, placed.
type Patch struct {
	Files []PatchFile `json:"files"`
	New   []NewName   `json:"new,omitempty"`
}

// PatchFile is one file of it.
type PatchFile struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // of a renamed or copied one
	Status  string `json:"status"`
	Binary  bool   `json:"binary,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Kind    string `json:"kind"`
	Go      []Spot `json:"go,omitempty"`
	Differs string `json:"differs,omitempty"`
	// Note says of a file that needs no Go code what to do instead, or why a file
	// has no counterpart.
	Note  string      `json:"note,omitempty"`
	OK    bool        `json:"placed"`
	Hunks []PatchHunk `json:"hunks,omitempty"`
}

// PatchHunk is a hunk with what it touches.
type PatchHunk struct {
	Line    int         `json:"line"`
	Context string      `json:"context,omitempty"`
	Touches []PatchName `json:"touches,omitempty"`
	OK      bool        `json:"placed"`
}

// PatchName is a function, class or test that a hunk touches.
type PatchName struct {
	Placement
	// Found says how the name was found in the hunk.
	Found string `json:"found"`
	// Near is the place of the function that calls one that has no place.
	Near *Placement `json:"near,omitempty"`
	// Differs is the header line of the Go file, where it says so.
	Differs string `json:"differs,omitempty"`
	// Tests are the mirrored tests that call the function, or with TestsOfFile
	// those of the test file beside the upstream file.
	Tests       []string `json:"tests,omitempty"`
	TestsOfFile string   `json:"tests_of_file,omitempty"`
	New         bool     `json:"new,omitempty"` // the patch makes it
}

// NewName is a test, option and so on that a patch adds.
type NewName struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	File  string `json:"file"`
	Known string `json:"known,omitempty"` // where it is here already
}

// OK tells whether everything has a place.
func (p *Patch) OK() bool {
	for _, f := range p.Files {
		if !f.OK {
			return false
		}
	}
	return true
}

// Patch places a diff.
func (r *Ref) Patch(files []DiffFile) *Patch {
	p := &Patch{}
	for i := range files {
		f := &files[i]
		p.Files = append(p.Files, r.patchFile(f))
		p.New = append(p.New, r.newNames(f)...)
	}
	return p
}

// elsewhereFiles are upstream's files that no Go code stands for, and what to do
// about them.
var elsewhereFiles = []struct{ prefix, suffix, kind, note string }{
	{"unreleased_history/", "", "release note", "write our own line into unreleased_history/"},
	{"HISTORY.md", "", "release note", "folded in at a release"},
	{"include/rocksdb/version.h", "", "release", "the version moves with upstream facts and include/rocksdb/version.go"},
	{"", ".md", "document", "see whether docs/ says the same"},
	{"docs/", "", "document", "see whether docs/ says the same"},
	{"java/", "", "Java", "not applicable: the Java binding"},
	{".github/", "", "build", "not applicable: upstream's CI"},
	{".circleci/", "", "build", "not applicable: upstream's CI"},
	{"build_tools/", "", "build", "not applicable: upstream's build"},
	{"cmake/", "", "build", "not applicable: upstream's build"},
	{"buckifier/", "", "build", "not applicable: upstream's build"},
	{"third-party/", "", "build", "not applicable: libraries that upstream carries"},
	{"BUCK", "", "build", "not applicable: upstream's build"},
	{"CMakeLists.txt", "", "build", "not applicable: upstream's build"},
	{"", "CMakeLists.txt", "build", "not applicable: upstream's build"},
	{"Makefile", "", "build", "not applicable: upstream's build"},
	{"src.mk", "", "build", "not applicable: upstream's build"},
	{"", ".mk", "build", "not applicable: upstream's build"},
	{"", ".bat", "build", "not applicable: upstream's build"},
	{"port/win/", "", "source", "not applicable: Windows by Win32 calls; Go's os package does it"},
	{"db/c.cc", "", "source", "not applicable: the C API"},
	{"db/c_test.c", "", "test", "not applicable: the C API"},
	{"include/rocksdb/c.h", "", "header", "not applicable: the C API"},
	{"tools/c_api_gen/", "", "source", "not applicable: the C API"},
	{"c_api_gen/", "", "source", "not applicable: the C API"},
	{"claude_md/", "", "document", "not applicable: upstream's own guide"},
	{".gitignore", "", "build", "not applicable: upstream's build"},
}

func (r *Ref) patchFile(f *DiffFile) PatchFile {
	at := f.Path()
	x := PatchFile{Path: at, Status: f.Status(), Binary: f.Binary, Mode: f.Mode, Kind: fileKind(at)}
	if f.Renamed || f.Copied {
		x.From = f.Old
	}
	for _, e := range elsewhereFiles {
		if e.prefix != "" && (at == e.prefix || strings.HasSuffix(e.prefix, "/") && strings.HasPrefix(at, e.prefix)) ||
			e.prefix == "" && strings.HasSuffix(at, e.suffix) {
			x.Kind, x.Note, x.OK = e.kind, e.note, true
			return x
		}
	}
	up := at
	if !r.Up.HasFile(up) && f.Old != "" {
		up = f.Old
	}
	files := r.Go.byUp[up]
	if len(files) == 0 {
		files = r.goFiles(up)
	}
	for _, g := range files {
		x.Go = append(x.Go, Spot{Path: g.Path})
		if g.Differs != "" && x.Differs == "" {
			x.Differs = g.Path + ": " + g.Differs
		}
	}
	if x.Kind == "" {
		x.Kind = "other"
	}
	x.OK = len(files) > 0
	if len(files) == 0 {
		x.Note = r.noCounterpart(f, up)
	}
	drift := r.drift(up, f)
	for i := range f.Hunks {
		h := r.patchHunk(up, f, &f.Hunks[i], drift(f.Hunks[i].OldLine))
		x.Hunks = append(x.Hunks, h)
		x.OK = x.OK && h.OK
	}
	return x
}

// noCounterpart says why nothing here ports a file.
func (r *Ref) noCounterpart(f *DiffFile, up string) string {
	switch {
	case f.Old == "":
		return "new upstream; a Go file for it would be " + goPathFor(up)
	case fileKind(up) == "test":
		later, not := 0, 0
		for _, s := range r.Up.byFile[up] {
			if row := r.Ledger.byTest[up+"\t"+s.Name]; row != nil && row.Table == "later.tsv" {
				later++
			} else if row != nil {
				not++
			}
		}
		if later+not > 0 {
			return "its tests are in the ledger: " + itoa(int64(later)) + " later, " + itoa(int64(not)) + " not applicable"
		}
		return "its tests are not mirrored; they would go to " + goPathFor(up)
	case !r.Up.HasFile(up):
		return "upstream " + r.Up.Version + " has no such file"
	}
	return "not ported; a Go file for it would be " + goPathFor(up)
}

// goPathFor is where a port of an upstream file goes by the layout's rules.
func goPathFor(up string) string {
	if strings.HasPrefix(up, "db_stress_tool/") {
		return "db_stress/" + strings.TrimSuffix(path.Base(up), path.Ext(up)) + ".go"
	}
	return strings.TrimSuffix(up, path.Ext(up)) + ".go"
}

// patchHunk finds what a hunk touches.
func (r *Ref) patchHunk(up string, f *DiffFile, h *DiffHunk, drift int) PatchHunk {
	out := PatchHunk{Line: h.OldLine, Context: h.Context, OK: true}
	files := r.Go.byUp[up]
	if f.Old == "" {
		out.Line = h.NewLine
	}
	for _, n := range r.touched(up, h, drift) {
		x := PatchName{Found: n.found, New: n.added}
		if n.sym.Name == "" {
			continue
		}
		x.Placement = r.Symbol(n.sym)
		if !x.Placed() && n.unknown {
			x.Why = "upstream " + r.Up.Version + " has no such name in " + up
			if n.added {
				x.Why = "new: it goes where " + up + " is ported"
			}
		}
		if x.Placed() {
			if d := x.Spots[0].decl; d != nil {
				x.Differs = d.File.Differs
				x.Tests, x.TestsOfFile = r.coveredBy(d, up)
			}
		} else if near := r.callerPlace(n.sym); near != nil {
			x.Near = near
			if d := near.Spots[0].decl; d != nil {
				x.Differs = d.File.Differs
				x.Tests, x.TestsOfFile = r.coveredBy(d, up)
			}
		}
		if !x.Placed() && x.Near == nil && n.sym.Kind != KindTest && len(files) > 0 && !sourceFile(fileKind(up)) {
			x.Spots, x.Rule, x.Why = []Spot{{Path: files[0].Path, Line: 1}}, "a helper of tests: in the file that mirrors it", ""
		}
		if !x.Placed() && x.Near == nil && !n.added {
			out.OK = false
		}
		out.Touches = append(out.Touches, x)
	}
	return out
}

// callerPlace gives the place of a function that calls one without a place of its
// own, through as many as two calls.
func (r *Ref) callerPlace(s Symbol) *Placement {
	seen := map[string]bool{s.Name: true}
	level := []Symbol{s}
	for range 2 {
		var next []Symbol
		for _, x := range level {
			for _, c := range r.callers(x) {
				if seen[c.Name] {
					continue
				}
				seen[c.Name] = true
				if p := r.Symbol(c); p.Placed() {
					return &p
				}
				next = append(next, c)
			}
		}
		level = next
	}
	return nil
}

// coveredBy names the mirrored tests that call a function, or else those of the
// test file beside the upstream file.
func (r *Ref) coveredBy(d *GoDecl, up string) (out []string, ofFile string) {
	if r.testCalls == nil {
		r.testCalls = map[string][]*GoDecl{}
		for _, t := range r.Go.tests {
			for name := range t.called() {
				r.testCalls[name] = append(r.testCalls[name], t)
			}
		}
	}
	if len(d.Name) > 4 {
		for _, t := range r.testCalls[flat(d.Name)] {
			if dirOf(t.File.Path) == dirOf(d.File.Path) || strings.HasPrefix(dirOf(d.File.Path), dirOf(t.File.Path)+"/") || d.Kind == GoFunc {
				out = append(out, t.Name)
			}
		}
	}
	if len(out) == 0 || len(out) > 60 {
		twin := strings.TrimSuffix(stem(up), "_test") + "_test.cc"
		out = out[:0]
		for _, s := range r.Up.byFile[twin] {
			if t := r.Go.tests[s.Name]; s.Kind == KindTest && t != nil {
				out = append(out, t.Name)
			}
		}
		if len(out) > 0 {
			ofFile = twin
		}
	}
	sort.Strings(out)
	return out, ofFile
}

// touch is a name found in a hunk.
type touch struct {
	sym     Symbol
	found   string
	added   bool // every line of it seen is new
	unknown bool // not in the tables
}

var (
	// definition is a function's first line in a .cc file: it starts at the margin.
	definition = regexp.MustCompile(`^(?:[A-Za-z_][\w:<>,&*~\s\[\]]*?[\s&*>])?((?:[A-Za-z_]\w*(?:<[^<>]*>)?::)*(?:~?[A-Za-z_]\w*|operator\s*[^\s(]+))\s*\(`)
	// inlineHead is a method's first line in a class.
	inlineHead = regexp.MustCompile(`^ {1,6}(?:[A-Za-z_\[~][\w:<>,&*\s\[\]]*?[\s&*>]|)(~?[A-Za-z_]\w*|operator\s*[^\s(]+)\s*\(`)
	testHead   = regexp.MustCompile(`^(TEST(?:_F|_P)?|TYPED_TEST(?:_P)?)\(\s*(\w+)\s*,\s*(\w+)?`)
	classHead  = regexp.MustCompile(`^\s*(?:template\s*<.*>\s*)?(?:class|struct|enum class|enum|union)\s+(?:\[\[\w+\]\]\s*)?((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)[^;()]*(\{|$|:)`)
	asyncHead  = regexp.MustCompile(`^(?:DEFINE|DECLARE)_SYNC_AND_ASYNC\w*\(`)
)

// notHeads are words before "(" that begin a statement.
var notHeads = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "return": true, "sizeof": true, "catch": true, "assert": true,
	"defined": true, "else": true, "do": true, "static_assert": true, "decltype": true, "alignas": true}

// touched finds the functions and classes whose lines a hunk changes: by the
// heads it shows, by the line that git puts after @@, and by the lines' numbers.
func (r *Ref) touched(up string, h *DiffHunk, drift int) []touch {
	w := &hunkWalk{r: r, up: up, seen: map[string]bool{}, drift: drift}
	w.cur = w.fromContext(h)
	line := h.OldLine
	for _, l := range h.Lines {
		mark, text := l[0], l[1:]
		w.pending(text, mark)
		if mark != ' ' && strings.TrimSpace(text) != "" && !boring(text) {
			w.change(line)
		}
		if text == "}" || strings.HasPrefix(text, "} ") || strings.HasPrefix(text, "};") {
			w.cur = touch{}
		}
		if mark != '+' {
			line++
		}
	}
	return w.out
}

// boring tells lines whose place does not matter.
func boring(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "#include") || strings.HasPrefix(t, "//") || t == "{" || t == "}" || strings.HasPrefix(t, "namespace ")
}

type hunkWalk struct {
	r     *Ref
	up    string
	cur   touch
	out   []touch
	seen  map[string]bool
	drift int // from the patch's line numbers to the table's
}

// change notes that a line of the current function changes.
func (w *hunkWalk) change(oldLine int) {
	t := w.cur
	if t.sym.Name == "" || t.sym.Kind == KindClass {
		if by := w.byLine(oldLine+w.drift, t); by.sym.Name != "" {
			t = by
		}
	}
	if t.sym.Name != "" && !w.seen[t.sym.Name] {
		w.seen[t.sym.Name] = true
		w.out = append(w.out, t)
	}
}

// byLine uses the table's line numbers; within a class that is known, only its
// own functions count.
func (w *hunkWalk) byLine(line int, within touch) touch {
	var best Symbol
	for _, s := range w.r.Up.Enclosing(w.up, line) {
		if s.Kind != KindFunc && s.Kind != KindDecl && s.Kind != KindClass && s.Kind != KindEnum && s.Kind != KindTest {
			continue
		}
		if within.sym.Name != "" && s.Name != within.sym.Name && !strings.HasPrefix(s.Name, within.sym.Name+"::") {
			continue
		}
		if best.Name == "" || s.End-s.Line <= best.End-best.Line {
			best = s
		}
	}
	return touch{sym: best, found: "by line number"}
}

// fromContext reads the text after @@.
func (w *hunkWalk) fromContext(h *DiffHunk) touch {
	c := h.Context
	if c == "" {
		return touch{}
	}
	if t, ok := w.head(c); ok {
		t.found = "by the hunk's header"
		return t
	}
	return touch{}
}

// pending looks whether a line begins a function, class or test.
func (w *hunkWalk) pending(text string, mark byte) {
	if t, ok := w.head(text); ok {
		t.found = "by its first line in the hunk"
		t.added = mark == '+' && t.unknown
		w.cur = t
	}
}

// drift tells, for a line of the patch, by how much the table's numbers differ
// there: by the nearest line that begins a function which the table has once.
func (r *Ref) drift(up string, f *DiffFile) func(line int) int {
	type anchor struct{ line, drift int }
	var anchors []anchor
	for i := range f.Hunks {
		h := &f.Hunks[i]
		w := &hunkWalk{r: r, up: up}
		w.cur = w.fromContext(h)
		line := h.OldLine
		for _, l := range h.Lines {
			if l[0] != '+' {
				if t, ok := w.head(l[1:]); ok {
					w.cur = t
					if !t.unknown && t.sym.File == up && r.once(up, t.sym.Name) {
						anchors = append(anchors, anchor{line, t.sym.Line - line})
					}
				}
				line++
			}
		}
	}
	return func(line int) int {
		best := anchor{line: 1 << 30}
		for _, a := range anchors {
			if abs(a.line-line) < abs(best.line-line) {
				best = a
			}
		}
		return best.drift
	}
}

// once tells whether a file has one symbol of a name.
func (r *Ref) once(file, name string) bool {
	n := 0
	for _, s := range r.Up.byFile[file] {
		if s.Name == name {
			n++
		}
	}
	return n == 1
}

// head tells what a line begins, if anything.
func (w *hunkWalk) head(text string) (touch, bool) {
	if m := testHead.FindStringSubmatch(text); m != nil {
		return w.lookup(m[2]+"."+m[3], KindTest), true
	}
	if asyncHead.MatchString(text) {
		p, _ := parseCpp(w.up, text+"\n() {}\n")
		for _, s := range p.out {
			return w.lookup(s.Name, KindFunc), true
		}
	}
	if m := classHead.FindStringSubmatch(text); m != nil && !strings.HasSuffix(strings.TrimSpace(text), ";") {
		return w.lookup(m[1], KindClass), true
	}
	if m := definition.FindStringSubmatch(text); m != nil {
		name := templateArgs.ReplaceAllString(m[1], "")
		if first, _, _ := strings.Cut(strings.TrimSpace(text), "("); !notHeads[lastWord(first)] && !strings.Contains(first, "=") && name != strings.ToUpper(name) &&
			!strings.HasPrefix(name, "DEFINE_") && !strings.HasPrefix(name, "DECLARE_") {
			return w.lookup(strings.ReplaceAll(name, " ", ""), KindFunc), true
		}
	}
	if m := inlineHead.FindStringSubmatch(text); m != nil && !notHeads[m[1]] {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "(")
		if fw := firstWord(first); notHeads[fw] || fw == "delete" || fw == "new" || fw == "throw" {
			return touch{}, false
		}
		indent := len(text) - len(strings.TrimLeft(text, " "))
		header := strings.HasSuffix(w.up, ".h")
		// A call looks like a head: at the margin of a class, and known to the
		// tables, it is one.
		if indent > 4 || !header && w.cur.sym.Kind == KindFunc || header && w.cur.sym.Kind == KindFunc && indent > 2 {
			return touch{}, false
		}
		if !strings.Contains(first, " ") && !strings.HasPrefix(m[1], "~") && indent > 2 {
			return touch{}, false
		}
		if t := w.lookup(m[1], KindFunc); !t.unknown {
			return t, true
		}
	}
	return touch{}, false
}

var templateArgs = regexp.MustCompile(`<[^<>]*>`)

func lastWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

func firstWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// lookup finds a name in the tables: in this file, within the class at hand, then
// anywhere.
func (w *hunkWalk) lookup(name, kind string) touch {
	owner := ""
	if w.cur.sym.Kind == KindClass {
		owner = w.cur.sym.Name + "::"
	} else if i := strings.LastIndex(w.cur.sym.Name, "::"); i > 0 && strings.HasSuffix(w.up, ".h") {
		owner = w.cur.sym.Name[:i+2]
	}
	best, rankBest := Symbol{}, 0
	for _, i := range w.r.upFlat[flat(lastName(name))] {
		s := w.r.Up.Symbols[i]
		if s.Name != name && !strings.HasSuffix(s.Name, "::"+name) || s.Kind == KindMember || s.Kind == KindMacro || s.Kind == KindVar && kind != KindVar {
			continue
		}
		n := 1
		if s.File == w.up {
			n += 16
		} else if stem(s.File) == stem(w.up) {
			n += 8
		} else if !strings.Contains(name, "::") && kind != KindTest {
			continue // a plain name elsewhere is another one
		}
		if owner != "" && s.Name == owner+name {
			n += 4
		}
		if s.Kind == KindFunc || s.Kind == KindTest || s.Kind == KindClass {
			n += 2
		}
		if n > rankBest {
			best, rankBest = s, n
		}
	}
	if rankBest > 0 {
		return touch{sym: best}
	}
	return touch{sym: Symbol{File: w.up, Kind: kind, Name: owner + name}, unknown: true}
}

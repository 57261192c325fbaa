// No upstream twin: finds functions that changed their name.

package xref

import (
	"go/ast"
	"sort"
	"strings"
	"unicode"
)

// synonyms bring words of both sides to one form.
var synonyms = map[string]string{
	"cf": "family", "cfd": "family", "families": "family", "column": "", "num": "count", "number": "count", "len": "size", "length": "size",
	"ctx": "context", "iter": "iterator", "seq": "sequence", "seqno": "sequence", "mem": "memtable", "memtables": "memtable",
	"del": "delete", "deletion": "delete", "remove": "delete", "ts": "timestamp", "idx": "index", "cmp": "compare", "comparator": "compare",
	"opts": "option", "options": "option", "buf": "buffer", "sv": "superversion", "log": "wal", "logs": "wal", "wals": "wal", "info": "",
	"get": "", "set": "", "the": "", "impl": "", "internal": "", "maybe": "", "do": "", "and": "", "for": "", "of": "", "to": "", "from": "",
	"with": "", "locked": "", "test": "", "if": "", "needed": "", "in": "", "on": "", "is": "", "a": "", "all": "", "helper": "", "k": "",
	"create": "new", "make": "new", "build": "new", "init": "new", "initialize": "new", "initialise": "new", "setup": "new", "prepare": "prepare", "verify": "check", "validate": "check",
	"checks": "check", "sst": "table", "finalize": "finish", "finalise": "finish", "free": "release", "clear": "reset", "bump": "add", "stats": "stat",
	"statistics": "stat", "prot": "protection", "prop": "property", "props": "property", "properties": "property", "dir": "directory",
	"mgr": "manager", "alloc": "allocate", "msg": "message", "ver": "version", "cond": "condition", "pos": "position", "val": "value",
	"values": "value", "entries": "entry", "bytes": "byte", "env": "env",
}

// words takes a name apart: camel case, underscores; articles and the like fall
// away.
func words(name string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) == 0 {
			return
		}
		w := strings.ToLower(string(cur))
		cur = cur[:0]
		if s, ok := synonyms[w]; ok {
			w = s
		} else if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") {
			w = strings.TrimSuffix(w, "s")
			if s, ok := synonyms[w]; ok {
				w = s
			}
		}
		if w != "" {
			out = append(out, w)
		}
	}
	rs := []rune(name)
	for i, c := range rs {
		switch {
		case c == '_':
			flush()
			continue
		case unicode.IsUpper(c) && i > 0 && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])):
			flush()
		}
		cur = append(cur, c)
	}
	flush()
	return out
}

// overlap gives the number of words in common, and of all.
func overlap(a, b []string) (common, all int) {
	has := map[string]bool{}
	for _, w := range a {
		has[w] = true
	}
	both := map[string]bool{}
	for _, w := range b {
		if has[w] {
			both[w] = true
		}
	}
	union := len(has)
	for _, w := range b {
		if !has[w] {
			has[w] = true
			union++
		}
	}
	return len(both), union
}

// called gives the flat names that a Go function calls.
func (d *GoDecl) called() map[string]bool {
	if d.fn == nil || d.fn.Body == nil {
		return nil
	}
	if d.calls == nil {
		d.calls = map[string]bool{}
		ast.Inspect(d.fn.Body, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				switch f := c.Fun.(type) {
				case *ast.Ident:
					d.calls[flat(f.Name)] = true
				case *ast.SelectorExpr:
					d.calls[flat(f.Sel.Name)] = true
				}
			}
			return true
		})
	}
	return d.calls
}

// callers gives the upstream functions of the same file that call one.
func (r *Ref) callers(s Symbol) []Symbol {
	if r.calledBy == nil {
		r.calledBy = map[string][]int{}
		for i, x := range r.Up.Symbols {
			for _, c := range strings.Fields(x.Calls) {
				key := stem(x.File) + "\t" + c
				r.calledBy[key] = append(r.calledBy[key], i)
			}
		}
	}
	var out []Symbol
	for _, i := range r.calledBy[stem(s.File)+"\t"+lastName(s.Name)] {
		out = append(out, r.Up.Symbols[i])
	}
	return out
}

// claim notes the Go functions that have an upstream function's own name: these
// stand for no other.
func (r *Ref) claim() {
	r.claimed = map[*GoDecl]bool{}
	for _, s := range r.Up.Symbols {
		if s.Kind != KindFunc && s.Kind != KindDecl || len(r.Go.byName[flat(lastName(s.Name))]) == 0 {
			continue
		}
		w := r.wantedOf(s)
		var p Placement
		if r.sameName(&p, &w) {
			for _, x := range p.Spots {
				r.claimed[x.decl] = true
			}
		}
	}
}

// similar finds, in the Go files and types of the function's own, one whose name
// has the same words, or some of them and the same callers and calls.
func (r *Ref) similar(p *Placement, w *wanted) bool {
	if w.sym.Kind != KindFunc && w.sym.Kind != KindDecl {
		return false
	}
	mine := words(w.name)
	if len(mine) == 0 {
		return false
	}
	if r.claimed == nil {
		r.claim()
	}
	type hit struct {
		d *GoDecl
		n float64
	}
	var hits []hit
	for f := range w.files {
		if f.Test {
			continue
		}
		for _, d := range f.Decls {
			if d.fn == nil || r.claimed[d] {
				continue
			}
			if w.member && d.Recv != "" && !related(flat(d.Recv), w.owner) && (w.types == nil || !w.types.has(d)) {
				continue
			}
			if n := r.alike(mine, w, d); n >= 0.7 {
				hits = append(hits, hit{d, n})
			}
		}
	}
	if len(hits) == 0 {
		return false
	}
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].n != hits[j].n {
			return hits[i].n > hits[j].n
		}
		return hits[i].d.File.Path+hits[i].d.Name < hits[j].d.File.Path+hits[j].d.Name
	})
	return p.take([]*GoDecl{hits[0].d}, "similar name")
}

// alike measures the likeness of a Go function: words of the name, and the calls
// between functions that both sides have.
func (r *Ref) alike(mine []string, w *wanted, d *GoDecl) float64 {
	theirs := words(d.Name)
	common, all := overlap(mine, theirs)
	if common == 0 {
		return 0
	}
	n := float64(common) / float64(all)
	if common == len(theirs) && common >= 2 {
		n = max(n, 0.4+0.5*float64(common)/float64(len(mine)))
	}
	calls := 0
	for _, c := range strings.Fields(w.sym.Calls) {
		if d.called()[flat(c)] {
			calls++
		}
	}
	for _, c := range r.callers(w.sym) {
		for _, g := range r.Go.byName[flat(lastName(c.Name))] {
			if w.files[g.File] && g.called()[flat(d.Name)] {
				calls++
				break
			}
		}
	}
	return n + 0.15*float64(min(calls, 2))
}

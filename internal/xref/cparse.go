// No upstream twin: finds the declarations of C++ source.

package xref

import (
	"strings"
)

// Kinds of symbols.
const (
	KindClass  = "class" // class, struct, union
	KindFunc   = "func"  // a function with its body
	KindDecl   = "decl"  // a function without: declared, pure, defaulted
	KindEnum   = "enum"
	KindValue  = "value" // of an enum
	KindMember = "member"
	KindVar    = "var" // of a namespace
	KindAlias  = "alias"
	KindMacro  = "macro"
	KindTest   = "test"
)

// Symbol is a name declared in upstream's source.
type Symbol struct {
	File string
	Kind string
	Name string // qualified by namespaces (but the outermost) and classes; Suite.Case for a test
	Line int    // first line
	End  int    // last line
	More string // value of an enum's value, macro of a test, type of a flag
	// Calls are the functions of its own file (and its header) that a function
	// calls, by their last names, with spaces between.
	Calls string
}

// cppParser walks over the words of a file. It knows just enough of C++ to tell
// declarations from each other: what is in a function's body it passes over.
type cppParser struct {
	file string
	t    []tok
	out  []Symbol
	// flags are the gflags the file defines.
	flags []Symbol
}

// parseCpp gives the symbols of a file.
func parseCpp(file, src string) (*cppParser, []tok) {
	all := lexCpp(src)
	p := &cppParser{file: file, t: resolveConditionals(all)}
	for _, t := range all {
		if t.kind == tokDirect {
			p.define(t)
		}
	}
	for i := 0; i < len(p.t); {
		i = p.scope(i, "", false)
	}
	return p, p.t
}

func (p *cppParser) define(t tok) {
	rest, ok := strings.CutPrefix(t.text, "define")
	if !ok {
		return
	}
	rest = strings.TrimLeft(rest, " \t")
	n := 0
	for n < len(rest) && isIdentByte(rest[n]) {
		n++
	}
	if n == 0 || strings.TrimSpace(rest[n:]) == "" {
		return // a header's guard
	}
	p.emit(KindMacro, rest[:n], t.line, t.line+strings.Count(t.text, "\n"), "")
}

func (p *cppParser) emit(kind, name string, line, end int, more string) {
	if name == "" {
		return
	}
	p.out = append(p.out, Symbol{File: p.file, Kind: kind, Name: name, Line: line, End: end, More: more})
}

// emitBody takes a function with the names it calls.
func (p *cppParser) emitBody(name string, start, open, end int) {
	if name == "" {
		return
	}
	seen := map[string]bool{}
	var calls []string
	for i := open; i < end; i++ {
		if p.ident(i) && (p.is(i+1, "(") || p.is(i+1, "<")) && !seen[p.t[i].text] {
			seen[p.t[i].text] = true
			calls = append(calls, p.t[i].text)
		}
	}
	p.out = append(p.out, Symbol{File: p.file, Kind: KindFunc, Name: name, Line: p.line(start), End: p.line(end - 1), Calls: strings.Join(calls, " ")})
}

func (p *cppParser) is(i int, text string) bool {
	return i < len(p.t) && p.t[i].kind != tokString && p.t[i].text == text
}

func (p *cppParser) ident(i int) bool { return i < len(p.t) && p.t[i].kind == tokIdent }

func (p *cppParser) line(i int) int {
	if i >= len(p.t) {
		i = len(p.t) - 1
	}
	return p.t[i].line
}

var closing = map[string]string{"(": ")", "{": "}", "[": "]"}

// balanced gives the index after the bracket that closes the one at i.
func (p *cppParser) balanced(i int) int {
	depth := 0
	for ; i < len(p.t); i++ {
		if p.t[i].kind != tokPunct {
			if depth > 0 && testMacros[p.t[i].text] && p.is(i+1, "(") && p.is(i+3, ",") && p.is(i+5, ")") && p.is(i+6, "{") {
				return i // code that is never compiled may lack a brace
			}
			continue
		}
		switch p.t[i].text {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// angles gives the index after the template arguments that start at i, or i if
// these are none.
func (p *cppParser) angles(i int) int {
	depth := 0
	for j := i; j < len(p.t); j++ {
		if p.t[j].kind != tokPunct {
			continue
		}
		switch p.t[j].text {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return j + 1
			}
		case "(", "[", "{":
			j = p.balanced(j) - 1
		case ";", "}", ")":
			return i
		}
	}
	return i
}

// toSemicolon gives the index after the statement's end.
func (p *cppParser) toSemicolon(i int) int {
	for i < len(p.t) {
		switch {
		case p.is(i, ";"):
			return i + 1
		case p.is(i, "}"):
			return i
		case p.t[i].kind == tokPunct && closing[p.t[i].text] != "":
			i = p.balanced(i)
		default:
			i++
		}
	}
	return i
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return name
	}
	return prefix + "::" + name
}

// scope reads declarations up to the closing brace, and gives the index after
// it.
func (p *cppParser) scope(i int, prefix string, inClass bool) int {
	for i < len(p.t) {
		t := p.t[i]
		switch {
		case p.is(i, "}"):
			return i + 1
		case t.kind == tokPunct && t.text != "~" && t.text != "[" && t.text != "::":
			i++
		case p.is(i, "[") && p.is(i+1, "["): // an attribute
			i = p.balanced(i)
		case p.is(i, "namespace") || p.is(i, "inline") && p.is(i+1, "namespace"):
			i = p.namespace(i, prefix)
		case p.is(i, "extern") && i+2 < len(p.t) && p.t[i+1].kind == tokString && p.is(i+2, "{"):
			i = p.scope(i+3, prefix, inClass)
		case (p.is(i, "public") || p.is(i, "private") || p.is(i, "protected")) && p.is(i+1, ":"):
			i += 2
		case p.is(i, "using") && p.ident(i+1) && p.is(i+2, "="):
			end := p.toSemicolon(i)
			p.emit(KindAlias, join(prefix, p.t[i+1].text), t.line, p.line(end-1), "")
			i = end
		case p.is(i, "typedef"):
			i = p.typedef(i, prefix)
		case p.is(i, "using") || p.is(i, "static_assert"):
			i = p.toSemicolon(i)
		case p.is(i, "friend") && (p.is(i+1, "class") || p.is(i+1, "struct")):
			i = p.toSemicolon(i)
		default:
			next := p.declaration(i, prefix, inClass)
			i = max(next, i+1)
		}
	}
	return i
}

func (p *cppParser) namespace(i int, prefix string) int {
	for !p.is(i, "namespace") {
		i++
	}
	name := prefix
	for i++; i < len(p.t) && !p.is(i, "{"); i++ {
		if p.is(i, ";") || p.is(i, "=") { // an alias
			return p.toSemicolon(i)
		}
		if n := p.t[i]; n.kind == tokIdent && n.text != "ROCKSDB_NAMESPACE" && n.text != "rocksdb" && n.text != "inline" {
			name = join(name, n.text)
		}
	}
	return p.scope(i+1, name, false)
}

// typedef takes the last word before the semicolon for its name.
func (p *cppParser) typedef(i int, prefix string) int {
	end := p.toSemicolon(i)
	for j := end - 2; j > i; j-- {
		if p.ident(j) {
			p.emit(KindAlias, join(prefix, p.t[j].text), p.line(i), p.line(end-1), "")
			break
		}
		if p.is(j, ")") || p.is(j, "]") {
			depth := 0
			for ; j > i; j-- {
				if p.is(j, ")") || p.is(j, "]") {
					depth++
				} else if p.is(j, "(") || p.is(j, "[") {
					if depth--; depth == 0 {
						break
					}
				}
			}
		}
	}
	return end
}

// attributeLike are words whose parentheses belong to no function's name.
var attributeLike = map[string]bool{"alignas": true, "__attribute__": true, "decltype": true, "__declspec": true, "noexcept": true,
	"throw": true, "requires": true, "ALIGN_AS": true, "STATIC_AVOID_DESTRUCTION": true, "ROCKSDB_PRINTF_FORMAT_ATTR": true,
	"DECLARE_SYNC_AND_ASYNC_OVERRIDE": false}

// declaration reads one, from its first word, and gives the index after it.
func (p *cppParser) declaration(start int, prefix string, inClass bool) int {
	i := start
	for {
		if p.is(i, "template") && p.is(i+1, "<") {
			next := p.angles(i + 1)
			if next == i+1 {
				return p.toSemicolon(i)
			}
			i = next
			if p.is(i, "requires") {
				i++
				if p.is(i, "(") {
					i = p.balanced(i)
				}
			}
			continue
		}
		break
	}
	if next, ok := p.typeDefinition(start, i, prefix); ok {
		return next
	}
	if next, ok := p.macroCall(start, i, prefix); ok {
		return next
	}
	return p.statement(start, i, prefix, inClass)
}

// typeDefinition reads a class or an enum with its body.
func (p *cppParser) typeDefinition(start, i int, prefix string) (int, bool) {
	for p.is(i, "static") || p.is(i, "const") || p.is(i, "constexpr") || p.is(i, "inline") || p.is(i, "mutable") {
		i++
	}
	word := ""
	if p.ident(i) {
		word = p.t[i].text
	}
	if word != "class" && word != "struct" && word != "union" && word != "enum" {
		return 0, false
	}
	name := ""
	for j := i + 1; j < len(p.t); j++ {
		t := p.t[j]
		switch {
		case p.is(j, "class") || p.is(j, "struct") || p.is(j, "final"):
		case p.is(j, "::"):
			name += "::"
		case t.kind == tokIdent && p.is(j+1, "("): // alignas and the like
			if t.text != "alignas" && t.text != "__attribute__" && strings.ToUpper(t.text) != t.text {
				return 0, false
			}
			j = p.balanced(j+1) - 1
		case t.kind == tokIdent:
			if strings.HasSuffix(name, "::") {
				name += t.text
			} else {
				name = t.text
			}
		case p.is(j, "<"):
			next := p.angles(j)
			if next == j {
				return 0, false
			}
			j = next - 1
		case p.is(j, "["):
			j = p.balanced(j) - 1
		case p.is(j, ":"):
			for j < len(p.t) && !p.is(j, "{") && !p.is(j, ";") {
				j++
			}
			if p.is(j, ";") { // a bit field
				return 0, false
			}
			j--
		case p.is(j, "{"):
			return p.typeBody(start, j, word, name, prefix), true
		case p.is(j, ";"):
			return j + 1, true // declared only
		default:
			return 0, false
		}
	}
	return len(p.t), true
}

func (p *cppParser) typeBody(start, open int, word, name, prefix string) int {
	full := prefix
	if name != "" {
		full = join(prefix, name)
	}
	end := p.balanced(open)
	if word == "enum" {
		if name != "" {
			p.emit(KindEnum, full, p.line(start), p.line(end-1), "")
		}
		p.enumValues(open+1, end-1, full)
	} else {
		if name != "" {
			p.emit(KindClass, full, p.line(start), p.line(end-1), "")
		}
		p.scope(open+1, full, true)
	}
	// Declarators after the body are members.
	for i := end; i < len(p.t); i++ {
		if p.is(i, ";") {
			return i + 1
		}
		if p.is(i, "{") || p.is(i, "(") || p.is(i, "[") {
			i = p.balanced(i) - 1
			continue
		}
		if p.is(i, "}") {
			return i
		}
		if p.ident(i) && (p.is(i+1, ";") || p.is(i+1, "=") || p.is(i+1, "{") || p.is(i+1, "[")) {
			p.emit(KindMember, join(prefix, p.t[i].text), p.line(i), p.line(i), "")
		}
	}
	return len(p.t)
}

// enumValues reads name [= value], … between two indexes.
func (p *cppParser) enumValues(i, end int, enum string) {
	next, known := int64(0), true
	values := map[string]int64{}
	for i < end {
		if !p.ident(i) {
			i++
			continue
		}
		name, line := p.t[i].text, p.t[i].line
		i++
		for p.is(i, "(") || p.is(i, "[") { // attributes of a deprecated one
			i = p.balanced(i)
		}
		if p.is(i, "=") {
			from := i + 1
			for i < end && !p.is(i, ",") {
				if p.t[i].kind == tokPunct && closing[p.t[i].text] != "" {
					i = p.balanced(i)
					continue
				}
				i++
			}
			next, known = constant(p.t[from:min(i, end)], values)
		}
		value := ""
		if known {
			value = itoa(next)
			values[name] = next
		}
		p.out = append(p.out, Symbol{File: p.file, Kind: KindValue, Name: join(enum, name), Line: line, End: line, More: value})
		next++
		i++
	}
}

// macroCall reads calls of macros that stand where a declaration may.
func (p *cppParser) macroCall(start, i int, prefix string) (int, bool) {
	if !p.ident(i) || !p.is(i+1, "(") {
		return 0, false
	}
	word := p.t[i].text
	if word == strings.ToLower(word) || word != strings.ToUpper(word) && !strings.HasPrefix(word, "DEFINE_") && !strings.HasPrefix(word, "DECLARE_") {
		return 0, false
	}
	end := p.balanced(i + 1)
	switch {
	case testMacros[word]:
		suite, name := p.t[i+2].text, ""
		if i+4 < len(p.t) {
			name = p.t[i+4].text
		}
		if p.is(end, "{") {
			end = p.balanced(end)
		}
		p.emit(KindTest, suite+"."+name, p.line(start), p.line(end-1), word)
		return end, true
	case strings.HasPrefix(word, "DEFINE_") && gflagTypes[strings.TrimPrefix(word, "DEFINE_")]:
		p.flags = append(p.flags, Symbol{File: p.file, Kind: "flag", Name: p.t[i+2].text, Line: p.line(i), End: p.line(end - 1), More: strings.TrimPrefix(word, "DEFINE_")})
		return end, true
	case strings.HasSuffix(word, "_SYNC_AND_ASYNC") || strings.HasSuffix(word, "_SYNC_AND_ASYNC_OVERRIDE") || strings.HasSuffix(word, "_SYNC_AND_ASYNC_CONST"):
		return p.syncAndAsync(start, i, end, prefix), true
	}
	if p.is(end, "{") { // a function made by a macro, or a class's attribute
		body := p.balanced(end)
		if p.ident(i + 2) {
			p.emit(KindFunc, join(prefix, word+"("+p.t[i+2].text+")"), p.line(start), p.line(body-1), "")
		}
		return body, true
	}
	return end, true
}

var testMacros = map[string]bool{"TEST": true, "TEST_F": true, "TEST_P": true, "TYPED_TEST": true, "TYPED_TEST_P": true, "GTEST_TEST_": true}

var gflagTypes = map[string]bool{"bool": true, "int32": true, "int64": true, "uint32": true, "uint64": true, "double": true, "string": true}

// syncAndAsync reads the functions that upstream writes once for calls and for
// coroutines: the macro has result and name, the parameters follow.
func (p *cppParser) syncAndAsync(start, i, end int, prefix string) int {
	j := i + 2
	for depth := 0; j < end; j++ {
		if p.is(j, "(") || p.is(j, "<") {
			depth++
		} else if p.is(j, ")") || p.is(j, ">") {
			depth--
		} else if p.is(j, ",") && depth == 0 {
			break
		}
	}
	name := ""
	for j++; j < end && (p.ident(j) || p.is(j, "::")); j++ {
		name += p.t[j].text
	}
	kind := KindDecl
	for end < len(p.t) {
		if p.is(end, ";") {
			end++
			break
		}
		if p.is(end, "(") {
			end = p.balanced(end)
			continue
		}
		if p.is(end, "{") {
			body := end
			end, kind = p.balanced(end), KindFunc
			p.emitBody(join(prefix, name), start, body, end)
			break
		}
		end++
	}
	if kind == KindDecl {
		p.emit(kind, join(prefix, name), p.line(start), p.line(end-1), "")
	}
	return end
}

// statement reads a function or a variable.
func (p *cppParser) statement(start, i int, prefix string, inClass bool) int {
	var head []tok
	for i < len(p.t) {
		t := p.t[i]
		switch {
		case p.is(i, ";"):
			p.variable(head, start, i, prefix, inClass)
			return i + 1
		case p.is(i, "}"):
			return i
		case p.is(i, "operator"):
			j, name := i+1, "operator"
			if p.is(j, "(") && p.is(j+1, ")") {
				name, j = "operator()", j+2
			}
			for j < len(p.t) && !p.is(j, "(") && !p.is(j, ";") {
				if p.ident(j) && name == "operator" {
					name += " "
				}
				name += p.t[j].text
				j++
			}
			head = append(head, tok{tokIdent, name, t.line})
			i = j
		case p.is(i, "<"):
			next := p.angles(i)
			if next == i {
				next++
			}
			i = next
		case p.is(i, "["):
			i = p.balanced(i)
		case p.is(i, "="):
			end := p.toSemicolon(i)
			p.variable(head, start, end-1, prefix, inClass)
			return end
		case p.is(i, "{"):
			p.variable(head, start, i, prefix, inClass)
			i = p.balanced(i)
			return p.toSemicolon(i)
		case p.is(i, ","):
			p.variable(head, start, i, prefix, inClass)
			i++
		case p.is(i, ":") && inClass: // a bit field
			p.variable(head, start, i, prefix, inClass)
			return p.toSemicolon(i)
		case p.is(i, "("):
			if n := len(head); n > 0 && head[n-1].kind == tokIdent && attributeLike[head[n-1].text] {
				head, i = head[:n-1], p.balanced(i)
				continue
			}
			if n := len(head); n > 0 && head[n-1].kind == tokIdent && n > 1 && attributeName(head[n-1].text) {
				head, i = head[:n-1], p.balanced(i)
				continue
			}
			return p.function(head, start, i, prefix, inClass)
		default:
			head = append(head, t)
			i++
		}
	}
	return i
}

// attributeName tells the annotations that follow a member: GUARDED_BY(mu) and
// its kin.
func attributeName(s string) bool {
	return strings.HasPrefix(s, "ROCKSDB_") || strings.HasSuffix(s, "GUARDED_BY") || strings.HasPrefix(s, "GUARDED_") ||
		strings.HasSuffix(s, "_REQUIRED") || s == "EXCLUSIVE_LOCKS_REQUIRED"
}

// nameOf gives the qualified name at the end of a head: A::B::c, ~A, operator==.
func nameOf(head []tok) string {
	n := len(head)
	if n == 0 || head[n-1].kind != tokIdent {
		return ""
	}
	name := head[n-1].text
	n--
	if n > 0 && head[n-1].text == "~" {
		name = "~" + name
		n--
	}
	for n >= 2 && head[n-1].text == "::" && head[n-2].kind == tokIdent {
		if head[n-2].text != "ROCKSDB_NAMESPACE" && head[n-2].text != "rocksdb" {
			name = head[n-2].text + "::" + name
		}
		n -= 2
	}
	return name
}

func (p *cppParser) variable(head []tok, start, end int, prefix string, inClass bool) {
	name := nameOf(head)
	if name == "" || len(head) < 2 {
		return
	}
	switch head[0].text {
	case "class", "struct", "return", "friend", "goto", "enum":
		if !strings.Contains(name, "_") {
			return
		}
	}
	kind := KindVar
	if inClass || strings.Contains(name, "::") {
		kind = KindMember
	}
	p.emit(kind, join(prefix, name), p.line(start), p.line(end), "")
}

// function reads from the parameters on. What turns out to be none is passed
// over.
func (p *cppParser) function(head []tok, start, i int, prefix string, inClass bool) int {
	name := nameOf(head)
	if (p.is(i+1, "*") || p.is(i+1, "&") || p.ident(i+1) && p.is(i+2, "::") && p.is(i+3, "*")) && p.is(p.balanced(i), "(") {
		for j := i; j < p.balanced(i); j++ { // a pointer to a function
			if p.ident(j) && (p.is(j+1, ")") || p.is(j+1, "[")) {
				kind := KindVar
				if inClass {
					kind = KindMember
				}
				p.emit(kind, join(prefix, p.t[j].text), p.line(start), p.line(j), "")
				break
			}
		}
		return p.toSemicolon(i)
	}
	i = p.balanced(i)
	for i < len(p.t) {
		t := p.t[i]
		switch {
		case p.is(i, ";"):
			p.emit(KindDecl, join(prefix, name), p.line(start), p.line(i), "")
			return i + 1
		case p.is(i, "="):
			end := p.toSemicolon(i)
			p.emit(KindDecl, join(prefix, name), p.line(start), p.line(end-1), "")
			return end
		case p.is(i, ":"):
			i = p.initialisers(i + 1)
			if !p.is(i, "{") {
				return i
			}
		case p.is(i, "{"):
			end := p.balanced(i)
			p.emitBody(join(prefix, name), start, i, end)
			return end
		case p.is(i, "}"):
			return i
		case p.is(i, "(") || p.is(i, "["):
			i = p.balanced(i)
		case p.is(i, "<"):
			i = max(p.angles(i), i+1)
		case t.kind == tokIdent && testMacros[t.text] && p.is(i+1, "("):
			return i // a macro call without semicolon stood before
		default:
			i++
		}
	}
	return i
}

// initialisers passes over a constructor's list, up to its body.
func (p *cppParser) initialisers(i int) int {
	for i < len(p.t) {
		for p.ident(i) || p.is(i, "::") {
			i++
		}
		if p.is(i, "<") {
			next := p.angles(i)
			if next == i {
				return i + 1
			}
			i = next
			for p.ident(i) || p.is(i, "::") {
				i++
			}
		}
		if !p.is(i, "(") && !p.is(i, "{") {
			return i + 1
		}
		i = p.balanced(i)
		for p.is(i, ".") { // a pack
			i++
		}
		if !p.is(i, ",") {
			return i
		}
		i++
	}
	return i
}

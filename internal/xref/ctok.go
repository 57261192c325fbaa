// No upstream twin: splits C++ source into words.

package xref

import (
	"strings"
)

// tok is a word of C++ source.
type tok struct {
	kind byte // one of the tok… constants
	text string
	line int
}

const (
	tokIdent  = 'i'
	tokNumber = 'n'
	tokChar   = 'c' // text is what stands between the quotes
	tokString = 's' // text is what stands between the quotes
	tokPunct  = 'p' // one character, "::" or "->"
	tokDirect = '#' // a preprocessor line without its #
)

// lexer walks over one file.
type lexer struct {
	src   string
	at    int
	line  int
	fresh bool // nothing but blanks so far on this line
	out   []tok
}

// lexCpp gives the words of src. Comments are gone; preprocessor lines are one
// word each, with their continuations.
func lexCpp(src string) []tok {
	l := &lexer{src: src, line: 1, fresh: true}
	for l.at < len(l.src) {
		l.step()
	}
	return l.out
}

func (l *lexer) add(kind byte, text string, line int) {
	l.out = append(l.out, tok{kind, text, line})
	l.fresh = false
}

func (l *lexer) step() {
	c := l.src[l.at]
	switch {
	case c == '\n':
		l.line++
		l.at++
		l.fresh = true
	case c == ' ' || c == '\t' || c == '\r' || c == '\\':
		l.at++
	case c == '/' && l.comment():
	case c == '#' && l.fresh:
		l.directive()
	case c == '"':
		l.quoted('"')
	case c == '\'':
		l.quoted('\'')
	case isIdentByte(c) && (c < '0' || c > '9'):
		l.ident()
	case c >= '0' && c <= '9':
		l.number()
	case strings.HasPrefix(l.src[l.at:], "::") || strings.HasPrefix(l.src[l.at:], "->"):
		l.add(tokPunct, l.src[l.at:l.at+2], l.line)
		l.at += 2
	default:
		l.add(tokPunct, l.src[l.at:l.at+1], l.line)
		l.at++
	}
}

func isIdentByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// comment passes over a comment, if one starts here.
func (l *lexer) comment() bool {
	rest := l.src[l.at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		for l.at < len(l.src) && l.src[l.at] != '\n' {
			if l.src[l.at] == '\\' && l.at+1 < len(l.src) && l.src[l.at+1] == '\n' {
				l.line++
				l.at++
			}
			l.at++
		}
		return true
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			end = len(rest) - 4
		}
		l.line += strings.Count(rest[:end+4], "\n")
		l.at += end + 4
		return true
	}
	return false
}

// directive takes a preprocessor line.
func (l *lexer) directive() {
	start, line := l.at+1, l.line
	var b strings.Builder
	for l.at++; l.at < len(l.src) && l.src[l.at] != '\n'; {
		if l.src[l.at] == '/' {
			b.WriteString(l.src[start:l.at])
			before := l.line
			if l.comment() {
				start = l.at
				if l.line > before && l.at < len(l.src) && l.src[l.at] == '\n' {
					break
				}
				continue
			}
			start = l.at
		}
		if l.src[l.at] == '\\' && l.at+1 < len(l.src) && (l.src[l.at+1] == '\n' || strings.HasPrefix(l.src[l.at+1:], "\r\n")) {
			l.line++
			l.at += strings.IndexByte(l.src[l.at:], '\n')
		}
		l.at++
	}
	b.WriteString(l.src[min(start, l.at):l.at])
	l.add(tokDirect, strings.TrimSpace(strings.ReplaceAll(b.String(), "\\\n", " ")), line)
}

// quoted takes a string or a character.
func (l *lexer) quoted(q byte) {
	start, line := l.at+1, l.line
	for l.at++; l.at < len(l.src) && l.src[l.at] != q && l.src[l.at] != '\n'; l.at++ {
		if l.src[l.at] == '\\' {
			if l.at+1 < len(l.src) && l.src[l.at+1] == '\n' {
				l.line++
			}
			l.at++
		}
	}
	end := min(l.at, len(l.src))
	l.at = min(l.at+1, len(l.src))
	kind := byte(tokString)
	if q == '\'' {
		kind = tokChar
	}
	l.add(kind, l.src[start:end], line)
}

func (l *lexer) ident() {
	start := l.at
	for l.at < len(l.src) && isIdentByte(l.src[l.at]) {
		l.at++
	}
	word := l.src[start:l.at]
	if l.at < len(l.src) && l.src[l.at] == '"' && strings.HasSuffix(word, "R") && len(word) <= 3 {
		l.rawString()
		return
	}
	l.add(tokIdent, word, l.line)
}

// rawString takes R"x(…)x".
func (l *lexer) rawString() {
	open := strings.IndexByte(l.src[l.at:], '(')
	if open < 0 {
		l.quoted('"')
		return
	}
	close := ")" + l.src[l.at+1:l.at+open] + `"`
	body := l.src[l.at+open+1:]
	end := strings.Index(body, close)
	if end < 0 {
		l.quoted('"')
		return
	}
	l.add(tokString, body[:end], l.line)
	l.line += strings.Count(body[:end], "\n")
	l.at += open + 1 + end + len(close)
}

func (l *lexer) number() {
	start := l.at
	for l.at < len(l.src) && (isIdentByte(l.src[l.at]) || l.src[l.at] == '.' ||
		l.src[l.at] == '\'' && l.at+1 < len(l.src) && isIdentByte(l.src[l.at+1])) {
		l.at++
	}
	l.add(tokNumber, strings.ReplaceAll(l.src[start:l.at], "'", ""), l.line)
}

// branch is one arm of a conditional of the preprocessor, being read.
type branch struct {
	braces, parens int
	unbalanced     bool // an earlier arm opened more than it closed, or the reverse
	drop           bool // words are dropped up to the next arm
	outer          bool // the whole conditional is dropped
}

// resolveConditionals drops the preprocessor's lines. Of a conditional, all arms
// stay where each is balanced by itself, so that functions of every system are
// seen; otherwise the first arm alone, so that braces match.
func resolveConditionals(in []tok) []tok {
	out := in[:0:0]
	var stack []branch
	braces, parens := 0, 0
	for i, t := range in {
		if t.kind == tokDirect {
			stack = conditional(in[i:], stack, braces, parens)
			continue
		}
		if n := len(stack); n > 0 && (stack[n-1].drop || stack[n-1].outer) {
			continue
		}
		if t.kind == tokPunct {
			switch t.text {
			case "{":
				braces++
			case "}":
				braces--
			case "(":
				parens++
			case ")":
				parens--
			}
		}
		out = append(out, t)
	}
	return out
}

// conditional follows one line of the preprocessor, the first of t.
func conditional(t []tok, stack []branch, braces, parens int) []branch {
	word, rest, _ := strings.Cut(t[0].text, " ")
	n := len(stack)
	switch word {
	case "if", "ifdef", "ifndef":
		outer := n > 0 && (stack[n-1].drop || stack[n-1].outer)
		drop := strings.TrimSpace(rest) == "0" || word != "ifndef" && windowsOnly(rest) && hasElse(t)
		stack = append(stack, branch{braces: braces, parens: parens, outer: outer, drop: drop})
	case "else", "elif":
		if n == 0 {
			break
		}
		b := &stack[n-1]
		if braces != b.braces || parens != b.parens {
			b.unbalanced = true
		}
		b.drop = b.unbalanced
	case "endif":
		if n > 0 {
			stack = stack[:n-1]
		}
	}
	return stack
}

func windowsOnly(condition string) bool {
	return !strings.ContainsAny(condition, "!&|") && (strings.Contains(condition, "OS_WIN") || strings.Contains(condition, "_MSC_VER"))
}

// hasElse tells whether the conditional that t begins with has another arm.
func hasElse(t []tok) bool {
	depth := 0
	for _, x := range t {
		if x.kind != tokDirect {
			continue
		}
		word, _, _ := strings.Cut(x.text, " ")
		switch word {
		case "if", "ifdef", "ifndef":
			depth++
		case "else", "elif":
			if depth == 1 {
				return true
			}
		case "endif":
			if depth--; depth == 0 {
				return false
			}
		}
	}
	return false
}

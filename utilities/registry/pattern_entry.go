// Port of include/rocksdb/utilities/object_registry.h: which names an entry of
// a library stands for.

package registry

import "strings"

type quantifier uint8

const (
	matchZeroOrMore quantifier = iota // separator, then anything
	matchAtLeastOne                   // separator, then at least one byte
	matchExact                        // separator alone
	matchInteger                      // separator, then an integer
	matchDecimal                      // separator, then a decimal number
)

type separator struct {
	text string
	mode quantifier
}

// PatternEntry matches names: one of several fixed beginnings, then parts that
// each start with a separator.
type PatternEntry struct {
	names      []string // the first is the entry's own
	optional   bool     // the name alone matches too
	minLen     int      // of all the separators' parts
	separators []separator
}

// NewPatternEntry matches name; with parts added to it, still the name alone
// as well (see SetOptional).
func NewPatternEntry(name string) *PatternEntry {
	return &PatternEntry{names: []string{name}, optional: true}
}

// AsIndividualID matches name alone and name@address#pid.
func AsIndividualID(name string) *PatternEntry {
	return NewPatternEntry(name).AddSeparator("@", true).AddSeparator("#", true)
}

// Name is the entry's own name.
func (p *PatternEntry) Name() string { return p.names[0] }

// AddSuffix adds a part that is the text itself.
func (p *PatternEntry) AddSuffix(text string) *PatternEntry {
	p.separators = append(p.separators, separator{text, matchExact})
	p.minLen += len(text)
	return p
}

// AddSeparator adds a part that starts with text and goes on with anything.
func (p *PatternEntry) AddSeparator(text string, atLeastOne bool) *PatternEntry {
	p.minLen += len(text)
	mode := matchZeroOrMore
	if atLeastOne {
		mode = matchAtLeastOne
		p.minLen++
	}
	p.separators = append(p.separators, separator{text, mode})
	return p
}

// AddNumber adds a part that starts with text and goes on with a number.
func (p *PatternEntry) AddNumber(text string, isInt bool) *PatternEntry {
	mode := matchDecimal
	if isInt {
		mode = matchInteger
	}
	p.separators = append(p.separators, separator{text, mode})
	p.minLen += len(text) + 1
	return p
}

// AnotherName lets names start with name as well.
func (p *PatternEntry) AnotherName(name string) *PatternEntry {
	p.names = append(p.names, name)
	return p
}

// SetOptional says whether the name alone matches.
func (p *PatternEntry) SetOptional(optional bool) *PatternEntry {
	p.optional = optional
	return p
}

// Matches tells whether the entry stands for target.
func (p *PatternEntry) Matches(target string) bool {
	for _, n := range p.names {
		if p.matchesTarget(n, target) {
			return true
		}
	}
	return false
}

func (p *PatternEntry) matchesTarget(name, target string) bool {
	switch {
	case len(p.separators) == 0:
		return name == target
	case len(name) == len(target):
		return p.optional && name == target
	case len(target) < len(name)+p.minLen || !strings.HasPrefix(target, name):
		return false
	}
	start, mode := len(name), matchExact
	for _, s := range p.separators {
		start = matchSeparatorAt(start, mode, target, s.text)
		if start < 0 {
			return false
		}
		mode = s.mode
	}
	switch mode {
	case matchExact:
		return start == len(target)
	case matchZeroOrMore:
		return start <= len(target)
	case matchInteger:
		return start < len(target) && isInteger(target[start:])
	case matchDecimal:
		return start < len(target) && isDecimal(target[start:])
	default:
		return start < len(target)
	}
}

// matchSeparatorAt finds sep behind a part of the given mode that begins at
// start and gives the place after it, -1 for no match.
func matchSeparatorAt(start int, mode quantifier, target, sep string) int {
	if len(target) < start+len(sep) {
		return -1
	}
	if mode == matchExact {
		if !strings.HasPrefix(target[start:], sep) {
			return -1
		}
		return start + len(sep)
	}
	pos := start + 1
	if pos > len(target) {
		return -1
	}
	if sep != "" {
		i := strings.Index(target[pos:], sep)
		if i < 0 {
			return -1
		}
		pos += i
	}
	part := target[start:pos]
	if mode == matchInteger && !isInteger(part) || mode == matchDecimal && !isDecimal(part) {
		return -1
	}
	return pos + len(sep)
}

func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits, point := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '.' && !point:
			point = true
		case s[i] >= '0' && s[i] <= '9':
			digits++
		default:
			return false
		}
	}
	return digits > 0
}

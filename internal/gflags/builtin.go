// No upstream twin: gflags' own flags (gflags.cc, gflags_reporting.cc).

package gflags

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// builtin handles the library's own flags and tells whether key is one.
func (s *Set) builtin(key string, value *string, hasValue *bool, next []string, tookNext *bool) bool {
	switch key {
	case "help", "helpfull", "helpshort", "helppackage", "version", "helpxml":
		yes := true
		if *hasValue {
			switch strings.ToLower(*value) {
			case "1", "t", "true", "y", "yes":
			case "0", "f", "false", "n", "no":
				yes = false
			default:
				s.errs[key] = fmt.Sprintf("ERROR: illegal value '%s' specified for bool flag '%s'\n", *value, key)
				return true
			}
		}
		if yes && s.asking == "" {
			s.asking = key
		}
		return true
	case "nohelp", "nohelpfull", "nohelpshort", "nohelppackage", "noversion", "nohelpxml":
		return true
	case "helpon", "helpmatch", "flagfile", "fromenv", "tryfromenv", "undefok":
	default:
		return false
	}
	if !*hasValue {
		if len(next) == 0 {
			s.errs[key] = missingArgument(key, "")
			return true
		}
		*value, *tookNext = next[0], true
	}
	switch key {
	case "helpon", "helpmatch":
		s.asking, s.match = key, *value
	case "flagfile":
		s.flagFiles(*value)
	case "fromenv", "tryfromenv":
		s.fromEnvironment(*value, key == "fromenv")
	case "undefok":
		for name := range strings.SplitSeq(*value, ",") {
			s.undef[strings.ReplaceAll(strings.TrimSpace(name), "-", "_")] = true
		}
	}
	return true
}

// fromEnvironment sets the named flags from the variables FLAGS_name.
func (s *Set) fromEnvironment(names string, must bool) {
	for name := range strings.SplitSeq(names, ",") {
		f := s.Lookup(name)
		if f == nil {
			s.errs[name] = fmt.Sprintf("ERROR: unknown command line flag '%s' (via --fromenv or --tryfromenv)\n", name)
			continue
		}
		value, ok := os.LookupEnv("FLAGS_" + f.Name)
		switch {
		case ok:
			s.assign(f, value)
		case must:
			s.errs[name] = fmt.Sprintf("ERROR: FLAGS_%s not found in environment\n", f.Name)
		}
	}
}

func (s *Set) flagFiles(paths string) {
	if s.depth >= maxFlagFileDepth {
		s.errs["flagfile"] = fmt.Sprintf("ERROR: flag files are nested deeper than %d\n", maxFlagFileDepth)
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	for path := range strings.SplitSeq(paths, ",") {
		text, err := os.ReadFile(path)
		if err != nil {
			s.errs["flagfile"] = fmt.Sprintf("ERROR: flagfile '%s': %v\n", path, err)
			continue
		}
		s.flagFile(string(text))
	}
}

// flagFile sets what a file's lines give: flags one a line, comments with #,
// and lines with program name patterns that the following flags are meant for.
func (s *Set) flagFile(text string) {
	applies, inNames := true, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '-' {
			inNames = false
			if !applies {
				continue
			}
			s.option(line, nil)
			continue
		}
		if !inNames {
			applies, inNames = false, true
		}
		for pattern := range strings.FieldsSeq(line) {
			if ok, _ := filepath.Match(pattern, filepath.Base(s.Program)); ok || pattern == s.Program {
				applies = true
			}
		}
	}
}

func (s *Set) help() *Exit {
	program := filepath.Base(s.Program)
	if s.asking == "version" {
		out := program + "\n"
		if s.Version != "" {
			out = fmt.Sprintf("%s version %s\n", program, s.Version)
		}
		return &Exit{Output: out, err: ErrHelp}
	}
	var b strings.Builder
	if s.asking == "helpxml" {
		s.helpXML(&b, program)
		return &Exit{Code: 1, Output: b.String(), err: ErrHelp}
	}
	fmt.Fprintf(&b, "%s: %s\n\n  Flags from %s:\n", program, s.Usage, program)
	for _, f := range s.All() {
		if s.asking == "helpmatch" && !strings.Contains(program, s.match) && !strings.Contains(f.Name, s.match) {
			continue
		}
		b.WriteString(describe(f))
	}
	b.WriteString("\n")
	return &Exit{Code: 1, Output: b.String(), err: ErrHelp}
}

// describe gives a flag's entry of the help text, broken at 80 columns.
func describe(f *Flag) string {
	def := f.Default
	if f.Type == "string" {
		def = `"` + def + `"`
	}
	words := strings.Fields(fmt.Sprintf("-%s (%s) type: %s default: %s", f.Name, f.Help, f.Type, def))
	if !f.IsDefault() {
		now := f.Value()
		if f.Type == "string" {
			now = `"` + now + `"`
		}
		words = append(words, "currently:", now)
	}
	var b strings.Builder
	b.WriteString("   ")
	column := 3
	for _, w := range words {
		if column+1+len(w) >= 80 && column > 6 {
			b.WriteString("\n     ")
			column = 5
		}
		b.WriteString(" " + w)
		column += 1 + len(w)
	}
	b.WriteString("\n")
	return b.String()
}

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;")

func (s *Set) helpXML(b *strings.Builder, program string) {
	fmt.Fprintf(b, "<?xml version=\"1.0\"?>\n<AllFlags>\n<program>%s</program>\n<usage>%s</usage>\n",
		xmlText.Replace(program), xmlText.Replace(s.Usage))
	for _, f := range s.All() {
		fmt.Fprintf(b, "<flag><file>%s</file><name>%s</name><meaning>%s</meaning><default>%s</default><current>%s</current><type>%s</type></flag>\n",
			xmlText.Replace(program), f.Name, xmlText.Replace(f.Help), xmlText.Replace(f.Default),
			xmlText.Replace(f.Value()), f.Type)
	}
	b.WriteString("</AllFlags>\n")
}

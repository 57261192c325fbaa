// No upstream twin: the part of gflags' gflags.cc that the tools need.

package gflags

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ErrHelp is in the chain of a *Exit that stands for --help or --version.
var ErrHelp = errors.New("help was asked for")

// Exit says that the program is to print Output and exit with Code.
type Exit struct {
	Code     int
	Output   string
	ToStderr bool
	err      error
}

// Error gives the output without the line's end.
func (e *Exit) Error() string { return strings.TrimSuffix(e.Output, "\n") }

// Print writes Output to where it belongs and gives Code.
func (e *Exit) Print(stdout, stderr io.Writer) int {
	if e.ToStderr {
		stdout = stderr
	}
	fmt.Fprint(stdout, e.Output)
	return e.Code
}

// Program runs a tool of that version: args, of which the first is its name, are
// read into target, and do does the rest. It gives the exit code; an error goes to
// stderr.
func Program(args []string, stdout, stderr io.Writer, target any, version string, do func(set *Set) error) int {
	set, err := New(args[0], target)
	if err == nil {
		set.Version = version
		_, err = set.Parse(args[1:])
	}
	var exit *Exit
	if errors.As(err, &exit) {
		return exit.Print(stdout, stderr)
	}
	if err == nil {
		err = do(set)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Unwrap gives ErrHelp where help was asked for.
func (e *Exit) Unwrap() error { return e.err }

// Flag is one flag, bound to a field of a struct.
type Flag struct {
	Name    string
	Type    string // bool, int32, int64, uint32, uint64, double, string
	Default string // as the command line would give it
	Help    string
	// Given tells whether the command line named the flag.
	Given bool

	tag      reflect.StructTag
	value    reflect.Value
	validate func() error
}

// IsDefault tells whether the flag has its default value, given or not.
func (f *Flag) IsDefault() bool {
	other := reflect.New(f.value.Type()).Elem()
	if err := setValue(other, f.Type, f.Default); err != nil {
		return false
	}
	return other.Equal(f.value)
}

// Value gives the present value as text.
func (f *Flag) Value() string { return formatValue(f.value, f.Type) }

// Tag gives an entry of the field's struct tag.
func (f *Flag) Tag(key string) string { return f.tag.Get(key) }

// HasTag tells whether the field's struct tag has the entry.
func (f *Flag) HasTag(key string) bool {
	_, ok := f.tag.Lookup(key)
	return ok
}

// Set is the flags of a program.
type Set struct {
	Program string // its name in messages
	Usage   string
	Version string

	flags  map[string]*Flag
	undef  map[string]bool   // --undefok
	errs   map[string]string // by flag
	depth  int               // of nested flag files
	asking string            // the help flag given, or ""
	match  string            // its value
}

const maxFlagFileDepth = 16

// New binds the fields of *target, a struct, that have a `flag` tag, and sets
// them to their defaults. A malformed tag is an error.
func New(program string, target any) (*Set, error) {
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("gflags: %T is not a pointer to a struct", target)
	}
	s := &Set{Program: program, flags: make(map[string]*Flag)}
	return s, s.bind(v.Elem())
}

func (s *Set) bind(v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			if err := s.bind(v.Field(i)); err != nil {
				return err
			}
			continue
		}
		tag, ok := field.Tag.Lookup("flag")
		if !ok {
			continue
		}
		name, def, _ := strings.Cut(tag, ",")
		f := &Flag{Name: name, Default: def, Help: field.Tag.Get("help"), tag: field.Tag, value: v.Field(i)}
		if f.Type = typeName(field.Type.Kind()); f.Type == "" {
			return fmt.Errorf("gflags: field %s has a type no flag can have", field.Name)
		}
		if s.flags[name] != nil {
			return fmt.Errorf("gflags: flag %s is there twice", name)
		}
		if err := setValue(f.value, f.Type, def); err != nil {
			return fmt.Errorf("gflags: default of flag %s: %w", name, err)
		}
		s.flags[name] = f
	}
	return nil
}

func typeName(k reflect.Kind) string {
	switch k {
	case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.String:
		return k.String()
	case reflect.Float64:
		return "double"
	}
	return ""
}

// Validate sets the check of a flag's values; it runs whenever one is set. Its
// error's text is reported before the library's own line.
func (s *Set) Validate(name string, check func() error) { s.flags[name].validate = check }

// Lookup finds a flag; dashes stand for underscores. nil when there is none.
func (s *Set) Lookup(name string) *Flag {
	if f := s.flags[name]; f != nil {
		return f
	}
	if strings.ContainsRune(name, '-') {
		return s.flags[strings.ReplaceAll(name, "-", "_")]
	}
	return nil
}

// All gives the flags sorted by name.
func (s *Set) All() []*Flag {
	all := make([]*Flag, 0, len(s.flags))
	for _, f := range s.flags {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Parse reads a command line without the program's name and gives what is not
// a flag. An error is always a *Exit: what to print, and the exit code.
func (s *Set) Parse(args []string) (rest []string, err error) {
	s.undef, s.errs = make(map[string]bool), make(map[string]string)
	s.depth, s.asking, s.match = 0, "", ""
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if s.option(arg, args[i+1:]) {
			i++
		}
	}
	if s.asking != "" {
		return rest, s.help()
	}
	var out strings.Builder
	for _, name := range slices.Sorted(mapKeys(s.errs)) {
		if s.undef[name] || s.undef[strings.TrimPrefix(name, "no")] {
			continue
		}
		out.WriteString(s.errs[name])
	}
	if out.Len() > 0 {
		return rest, &Exit{Code: 1, Output: out.String(), ToStderr: true}
	}
	return rest, nil
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// option sets one flag and tells whether its value was the next argument.
func (s *Set) option(arg string, next []string) (tookNext bool) {
	body := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
	key, value, hasValue := strings.Cut(body, "=")
	if s.builtin(key, &value, &hasValue, next, &tookNext) {
		return tookNext
	}
	f := s.Lookup(key)
	if f == nil {
		positive, isNo := strings.CutPrefix(key, "no")
		if isNo {
			f = s.Lookup(positive)
		}
		if f == nil {
			s.errs[key] = fmt.Sprintf("ERROR: unknown command line flag '%s'\n", key)
			return false
		}
		if f.Type != "bool" {
			s.errs[key] = fmt.Sprintf("ERROR: boolean value (%s) specified for %s command line flag\n", key, f.Type)
			return false
		}
		value, hasValue = "0", true
	}
	if !hasValue {
		switch {
		case f.Type == "bool":
			value = "1"
		case len(next) == 0:
			s.errs[f.Name] = missingArgument(f.Name, f.Help)
			return false
		default:
			value, tookNext = next[0], true
		}
	}
	s.assign(f, value)
	return tookNext
}

func missingArgument(name, help string) string {
	if help != "" {
		return fmt.Sprintf("ERROR: flag '%s' is missing its argument; flag description: %s\n", name, help)
	}
	return fmt.Sprintf("ERROR: flag '%s' is missing its argument\n", name)
}

// assign sets f to value; an error is kept for the end of the command line and
// leaves the flag as it was.
func (s *Set) assign(f *Flag, value string) {
	old := reflect.New(f.value.Type()).Elem()
	old.Set(f.value)
	if err := setValue(f.value, f.Type, value); err != nil {
		s.errs[f.Name] = fmt.Sprintf("ERROR: illegal value '%s' specified for %s flag '%s'\n", value, f.Type, f.Name)
		return
	}
	if f.validate != nil {
		if err := f.validate(); err != nil {
			text := err.Error()
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			s.errs[f.Name] = text + fmt.Sprintf("ERROR: failed validation of new value '%s' for flag '%s'\n",
				formatValue(f.value, f.Type), f.Name)
			f.value.Set(old)
			return
		}
	}
	f.Given = true
}

var errIllegal = errors.New("illegal value")

// setValue reads text as gflags does: the whole text has to be the number.
func setValue(v reflect.Value, typ, text string) error {
	switch typ {
	case "string":
		v.SetString(text)
		return nil
	case "bool":
		switch strings.ToLower(text) {
		case "1", "t", "true", "y", "yes":
			v.SetBool(true)
			return nil
		case "0", "f", "false", "n", "no":
			v.SetBool(false)
			return nil
		}
		return errIllegal
	}
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	if text == "" {
		return errIllegal
	}
	switch typ {
	case "int32", "int64":
		digits, base := numberBase(text)
		n, err := strconv.ParseInt(digits, base, v.Type().Bits())
		if err != nil || strings.ContainsRune(digits, '_') {
			return errIllegal
		}
		v.SetInt(n)
	case "uint32", "uint64":
		digits, base := numberBase(strings.TrimPrefix(text, "+"))
		n, err := strconv.ParseUint(digits, base, v.Type().Bits())
		if err != nil {
			return errIllegal
		}
		v.SetUint(n)
	case "double":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsRune(text, '_') {
			return errIllegal
		}
		v.SetFloat(n)
	}
	return nil
}

func numberBase(text string) (digits string, base int) {
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		return text[2:], 16
	}
	return text, 10
}

func formatValue(v reflect.Value, typ string) string {
	switch typ {
	case "bool":
		return strconv.FormatBool(v.Bool())
	case "int32", "int64":
		return strconv.FormatInt(v.Int(), 10)
	case "uint32", "uint64":
		return strconv.FormatUint(v.Uint(), 10)
	case "double":
		if f := v.Float(); f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return strconv.FormatFloat(v.Float(), 'g', 17, 64)
	}
	return v.String()
}

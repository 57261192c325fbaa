// Port of include/rocksdb/utilities/options_type.h and the OptionTypeInfo part
// of options/options_helper.cc. Differs: an option is a row with a Go accessor
// instead of an offset, and its kind is the type of the field; tables keep the
// order in which v11.8.1 writes its options.

package options

import (
	"math"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// Verification says how an option is compared with an OPTIONS file.
type Verification uint8

// The ways.
const (
	Normal Verification = iota
	// ByName compares plug-ins by what is written of them.
	ByName
	// ByNameAllowNull accepts "nullptr" in the file as well.
	ByNameAllowNull
	// ByNameAllowFromNull accepts it too, for options that were not written
	// before.
	ByNameAllowFromNull
	// Deprecated options are read and ignored.
	Deprecated
	// Alias is a second name for another row.
	Alias
)

// Flags of an option. The lowest byte is the sanity level from which the option
// is compared, 0 standing for exact match.
type Flags uint32

// The flags, with upstream's numbers.
const (
	CompareNever   = Flags(rocksdb.SanityLevelNone)
	CompareLoose   = Flags(rocksdb.SanityLevelLooselyCompatible)
	CompareExact   = Flags(rocksdb.SanityLevelExactMatch)
	Mutable        = Flags(0x0100) // may change while the database is open
	AllowNull      = Flags(0x1000)
	DontSerialize  = Flags(0x2000)
	DontPrepare    = Flags(0x4000)
	StringNameOnly = Flags(0x8000) // only the plug-in's name is written
	// WrappedTarget is not upstream's: the object that this one wraps, which is
	// written after all else and not where it is the default one.
	WrappedTarget = Flags(0x10000)
)

// Names in option strings.
const (
	nullptrString = "nullptr"
	idPropName    = "id"
	idPropSuffix  = ".id"
)

// Codec converts one kind of option. Addresses are pointers to the field.
type Codec interface {
	// Parse sets the field; name is the option's, or a part's of it.
	Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error
	Serialize(cfg *rocksdb.ConfigOptions, name string, addr any) (string, error)
	// Equal compares; where not equal, mismatch may name the part ("" stands for
	// the option itself).
	Equal(cfg *rocksdb.ConfigOptions, name string, a, b any) (ok bool, mismatch string)
}

// Row declares one option.
type Row struct {
	Name string
	// Field gives the field's address in the struct whose address is base; nil
	// for deprecated options.
	Field        func(base any) any
	Flags        Flags
	Verification Verification
	// Codec is nil for fields whose Go type tells all.
	Codec Codec
}

// Table is the options of one struct.
type Table struct {
	Name  string // the struct's, in OptionsPtr
	Rows  []Row
	index map[string]*Row
	// copyOf copies the struct; restore puts a copy back.
	copyOf  func(base any) any
	restore func(base, saved any)
}

// NewTable makes a table of struct S.
func NewTable[S any](name string, rows ...Row) *Table {
	t := &Table{Name: name, Rows: rows, index: make(map[string]*Row, len(rows))}
	for i := range rows {
		t.index[rows[i].Name] = &rows[i]
	}
	t.copyOf = func(base any) any { s := *base.(*S); return &s }
	t.restore = func(base, saved any) { *base.(*S) = *saved.(*S) }
	return t
}

// F makes a row of struct S.
func F[S any](name string, field func(*S) any, flags Flags) Row {
	return Row{Name: name, Field: func(base any) any { return field(base.(*S)) }, Flags: flags}
}

// With gives the row with a codec and a verification.
func (r Row) With(v Verification, c Codec) Row {
	r.Verification, r.Codec = v, c
	return r
}

// Old makes a row for an option that no longer exists.
func Old(name string, flags Flags) Row {
	return Row{Name: name, Flags: flags, Verification: Deprecated}
}

// SanityLevel is the level from which on the option is compared.
func (r *Row) SanityLevel() rocksdb.SanityLevel {
	if r.Verification == Deprecated || r.Verification == Alias {
		return rocksdb.SanityLevelNone
	}
	if l := rocksdb.SanityLevel(r.Flags & 0xFF); l != 0 {
		return l
	}
	return rocksdb.SanityLevelExactMatch
}

// ShouldSerialize tells whether the option is written.
func (r *Row) ShouldSerialize() bool {
	return r.Verification != Deprecated && r.Verification != Alias && r.Flags&DontSerialize == 0
}

// IsMutable tells whether the option may change while the database is open.
func (r *Row) IsMutable() bool { return r.Flags&Mutable != 0 }

func (r *Row) isByName() bool {
	return r.Verification == ByName || r.Verification == ByNameAllowNull ||
		r.Verification == ByNameAllowFromNull
}

// objectCodec is the codec of objects with options of their own.
type objectCodec interface {
	Codec
	// object gives the object, nil when there is none.
	object(addr any) any
	// replaceable says that a value may name another object (a plug-in), rather
	// than change the one there is.
	replaceable() bool
	// defaultName is what the object goes by that none stands for, "" where there
	// is no such object.
	defaultName() string
}

func (r *Row) objectCodec() objectCodec {
	c, _ := r.Codec.(objectCodec)
	return c
}

func (r *Row) isStruct() bool {
	_, ok := r.Codec.(*structCodec)
	return ok
}

func (r *Row) codec() Codec {
	if r.Codec != nil {
		return r.Codec
	}
	return plainCodec{}
}

// Find looks an option up: by name, or by the name before the first '.' where
// that is a struct or a plug-in; elem is then what follows.
func (t *Table) Find(name string) (row *Row, elem string) {
	if r := t.index[name]; r != nil {
		return r, name
	}
	if i := strings.IndexByte(name, '.'); i > 0 {
		if r := t.index[name[:i]]; r != nil && (r.isStruct() || r.objectCodec() != nil) {
			return r, name[i+1:]
		}
	}
	return nil, ""
}

// Parse sets the option in base.
func (r *Row) Parse(cfg *rocksdb.ConfigOptions, name, value string, base any) error {
	if r.Verification == Deprecated {
		return nil
	}
	if cfg.InputStringsEscaped {
		value = util.UnescapeOptionString(value)
	}
	c := *cfg
	c.InvokePrepareOptions = false
	err := r.codec().Parse(&c, name, value, r.Field(base))
	if err != nil && rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument {
		if s := rocksdb.AsStatus(err); !strings.Contains(s.Message, name) {
			return rocksdb.InvalidArgument("Error parsing "+name, s.Message)
		}
	}
	return err
}

// Serialize writes the option's value; "" where there is nothing to write.
func (r *Row) Serialize(cfg *rocksdb.ConfigOptions, name string, base any) (string, error) {
	if r.Verification == Deprecated {
		return "", nil
	}
	if r.Flags&DontSerialize != 0 {
		return "", rocksdb.NotSupported("Cannot serialize option: ", name)
	}
	addr := r.Field(base)
	oc := r.objectCodec()
	if oc == nil {
		if cfg.MutableOptionsOnly && !r.IsMutable() {
			return "", nil
		}
		return r.codec().Serialize(cfg, name, addr)
	}
	obj := oc.object(addr)
	switch {
	case obj == nil:
		if r.IsMutable() || !cfg.MutableOptionsOnly {
			return oc.Serialize(cfg, name, addr)
		}
		return "", nil
	case r.Flags&StringNameOnly != 0 && !cfg.IsDetailed():
		if !cfg.MutableOptionsOnly || r.IsMutable() {
			return objectID(obj), nil
		}
		return "", nil
	}
	c := *cfg
	c.Delimiter = ";"
	if r.IsMutable() {
		c.MutableOptionsOnly = false
	}
	value, err := ObjectToString(&c, obj)
	if err != nil || c.MutableOptionsOnly && !strings.Contains(value, "=") {
		return "", err
	}
	return value, nil
}

// AreEqual compares the option in two structs as cfg's sanity level asks.
func (r *Row) AreEqual(cfg *rocksdb.ConfigOptions, name string, a, b any) (ok bool, mismatch string) {
	level := r.SanityLevel()
	if !cfg.IsCheckEnabled(level) || r.Field == nil {
		return true, ""
	}
	c := cfg
	if r.objectCodec() != nil && level < cfg.SanityLevel {
		lower := *cfg
		lower.SanityLevel = level
		c = &lower
	}
	ok, part := r.codec().Equal(c, name, r.Field(a), r.Field(b))
	switch {
	case ok:
		return true, ""
	case part == "":
		return false, name
	case r.objectCodec() != nil:
		return false, name + "." + part
	}
	return false, part
}

// AreEqualByName compares what is written of a plug-in with a value from a
// file.
func (r *Row) AreEqualByName(cfg *rocksdb.ConfigOptions, name string, base any, value string) bool {
	if !r.isByName() {
		return false
	}
	mine, err := r.Serialize(cfg, name, base)
	if err != nil {
		return false
	}
	if value == nullptrString && r.Verification != ByName {
		return true
	}
	return mine == value
}

// parseType sets options by name; what is not found goes to unused, or is an
// error where that is nil and cfg does not ignore it.
func parseType(cfg *rocksdb.ConfigOptions, opts map[string]string, t *Table, base any, unused map[string]string) error {
	for _, key := range sortedKeys(opts) {
		row, elem := t.Find(key)
		if row == nil {
			if unused != nil {
				unused[key] = opts[key]
			} else if !cfg.IgnoreUnknownOptions {
				return rocksdb.NotFound("Unrecognized option", key)
			}
			continue
		}
		if err := row.Parse(cfg, elem, opts[key], base); err != nil {
			return err
		}
	}
	return nil
}

// parseTypeMutable is parseType for the mutable rows alone.
func parseTypeMutable(cfg *rocksdb.ConfigOptions, opts map[string]string, t *Table, base any) error {
	for _, key := range sortedKeys(opts) {
		row, elem := t.Find(key)
		if row == nil || !row.IsMutable() {
			return rocksdb.NotFound("Unrecognized option", key)
		}
		if err := row.Parse(cfg, elem, opts[key], base); err != nil {
			return err
		}
	}
	return nil
}

// structCodec is the codec of a struct with a table of its own.
type structCodec struct {
	name  string
	table *Table
	// legacy, when not nil, reads the old form without '='.
	legacy func(name, value string, addr any) error
}

func (c *structCodec) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	if c.legacy != nil && name == c.name && !strings.Contains(value, "=") {
		return c.legacy(name, value, addr)
	}
	if name == c.name || strings.HasSuffix(name, "."+c.name) {
		opts, err := StringToMap(value)
		if err != nil {
			return err
		}
		unused := map[string]string{}
		if err := parseType(cfg, opts, c.table, addr, unused); err != nil {
			return err
		}
		if len(unused) > 0 && !cfg.IgnoreUnknownOptions {
			return rocksdb.InvalidArgument("Unrecognized option", c.name+"."+sortedKeys(unused)[0])
		}
		return nil
	}
	row, elem := c.table.Find(strings.TrimPrefix(name, c.name+"."))
	if row == nil {
		if cfg.IgnoreUnknownOptions {
			return nil
		}
		return rocksdb.InvalidArgument("Unrecognized option", c.name+"."+strings.TrimPrefix(name, c.name+"."))
	}
	return row.Parse(cfg, elem, value, addr)
}

func (c *structCodec) Serialize(cfg *rocksdb.ConfigOptions, name string, addr any) (string, error) {
	if strings.HasSuffix(name, c.name) {
		embedded := *cfg
		embedded.Delimiter = ";"
		embedded.MutableOptionsOnly = false
		var b strings.Builder
		b.WriteByte('{')
		for i := range c.table.Rows {
			row := &c.table.Rows[i]
			if !row.ShouldSerialize() {
				continue
			}
			v, err := row.Serialize(&embedded, row.Name, addr)
			if err != nil {
				return "", err
			}
			b.WriteString(row.Name + "=" + v + ";")
		}
		b.WriteByte('}')
		return b.String(), nil
	}
	row, elem := c.table.Find(strings.TrimPrefix(name, c.name+"."))
	if row == nil {
		return "", rocksdb.InvalidArgument("Unrecognized option", name)
	}
	return row.Serialize(cfg, elem, addr)
}

func (c *structCodec) Equal(cfg *rocksdb.ConfigOptions, name string, a, b any) (bool, string) {
	rows := c.table.Rows
	if !strings.HasSuffix(name, c.name) {
		row, _ := c.table.Find(strings.TrimPrefix(name, c.name+"."))
		if row == nil {
			return false, c.name + "." + name
		}
		rows = []Row{*row}
	}
	for i := range rows {
		if ok, part := rows[i].AreEqual(cfg, rows[i].Name, a, b); !ok {
			return false, c.name + "." + part
		}
	}
	return true, ""
}

// StructCodec is the codec of a struct with a table of its own; name is the
// option's.
func StructCodec(name string, table *Table) Codec { return &structCodec{name: name, table: table} }

// vectorCodec is the codec of a list.
type vectorCodec[T any] struct {
	elem Codec
	sep  byte
}

// vectorSeparator stands between the elements of all lists of the engine.
const vectorSeparator = ':'

// VectorCodec is the codec of a []T. A nil elem stands for plain values.
func VectorCodec[T any](elem Codec, separator byte) Codec {
	if elem == nil {
		elem = plainCodec{}
	}
	return vectorCodec[T]{elem, separator}
}

func (c vectorCodec[T]) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	elemCfg := *cfg
	elemCfg.IgnoreUnsupportedOptions = false
	var out []T
	stripped := StripOuterBraces(value)
	for start, end := 0, 0; start < len(stripped) && end >= 0; start = end + 1 {
		var token string
		var err error
		if token, end, err = NextToken(stripped, c.sep, start); err != nil {
			return err
		}
		if elemCfg.InputStringsEscaped {
			token = util.UnescapeOptionString(token)
		}
		var e T
		err = c.elem.Parse(&elemCfg, name, token, &e)
		if err != nil && !(cfg.IgnoreUnsupportedOptions && rocksdb.IsNotSupported(err)) {
			return err
		}
		if err == nil {
			out = append(out, e)
		}
		if end < 0 {
			break
		}
	}
	*addr.(*[]T) = out
	return nil
}

func (c vectorCodec[T]) Serialize(cfg *rocksdb.ConfigOptions, name string, addr any) (string, error) {
	embedded := *cfg
	embedded.Delimiter = ";"
	var b strings.Builder
	printed := 0
	for i := range *addr.(*[]T) {
		s, err := c.elem.Serialize(&embedded, name, &(*addr.(*[]T))[i])
		if err != nil {
			return "", err
		}
		if s == "" {
			continue
		}
		if printed++; printed > 1 {
			b.WriteByte(c.sep)
		}
		if strings.IndexByte(s, c.sep) >= 0 {
			s = "{" + s + "}"
		}
		b.WriteString(s)
	}
	s := b.String()
	if strings.Contains(s, "=") || printed > 1 && s[0] == '{' {
		return "{" + s + "}", nil
	}
	return s, nil
}

func (c vectorCodec[T]) Equal(cfg *rocksdb.ConfigOptions, name string, a, b any) (bool, string) {
	x, y := *a.(*[]T), *b.(*[]T)
	if len(x) != len(y) {
		return false, ""
	}
	for i := range x {
		if ok, part := c.elem.Equal(cfg, name, &x[i], &y[i]); !ok {
			return false, part
		}
	}
	return true, ""
}

// plainCodec is the codec of numbers, strings, truth values and the enums of
// enums.go.
type plainCodec struct{}

func (plainCodec) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) (err error) {
	value = StripOuterBraces(value)
	switch p := addr.(type) {
	case *bool:
		return assign(p, value, func(s string) (bool, error) { return util.ParseBoolean(name, s) })
	case *int:
		return assign(p, value, util.ParseInt)
	case *int64:
		return assign(p, value, util.ParseInt64)
	case *uint8:
		return assign(p, value, util.ParseUint8)
	case *uint32:
		return assign(p, value, util.ParseUint32)
	case *uint64:
		return assign(p, value, util.ParseUint64)
	case *float64:
		return assign(p, value, util.ParseDouble)
	case *string:
		*p = value
		return nil
	case *rocksdb.VerifyOutputFlags:
		v, err := util.ParseUint32(value)
		if err == nil {
			*p = rocksdb.VerifyOutputFlags(v)
		}
		return err
	}
	if e := enumOf(addr); e != nil {
		if !e.parse(value, addr) {
			return rocksdb.InvalidArgument("No mapping for enum ", name)
		}
		return nil
	}
	return rocksdb.NotSupported("Deserializing the option " + name + " is not supported")
}

func assign[T any](p *T, value string, parse func(string) (T, error)) error {
	v, err := parse(value)
	if err == nil {
		*p = v
	}
	return err
}

func (plainCodec) Serialize(cfg *rocksdb.ConfigOptions, name string, addr any) (string, error) {
	switch p := addr.(type) {
	case *bool:
		return strconv.FormatBool(*p), nil
	case *int:
		return strconv.Itoa(*p), nil
	case *int64:
		return strconv.FormatInt(*p, 10), nil
	case *uint8:
		return strconv.FormatUint(uint64(*p), 10), nil
	case *uint32:
		return strconv.FormatUint(uint64(*p), 10), nil
	case *uint64:
		return strconv.FormatUint(*p, 10), nil
	case *float64:
		return strconv.FormatFloat(*p, 'f', 6, 64), nil
	case *string:
		return util.EscapeOptionString(*p), nil
	case *rocksdb.VerifyOutputFlags:
		return strconv.FormatUint(uint64(*p), 10), nil
	}
	if e := enumOf(addr); e != nil {
		if s, ok := e.name(addr); ok {
			return s, nil
		}
		return "", rocksdb.InvalidArgument("No mapping for enum ", name)
	}
	return "", rocksdb.InvalidArgument("Cannot serialize option: ", name)
}

func (plainCodec) Equal(cfg *rocksdb.ConfigOptions, name string, a, b any) (bool, string) {
	switch p := a.(type) {
	case *bool:
		return *p == *b.(*bool), ""
	case *int:
		return *p == *b.(*int), ""
	case *int64:
		return *p == *b.(*int64), ""
	case *uint8:
		return *p == *b.(*uint8), ""
	case *uint32:
		return *p == *b.(*uint32), ""
	case *uint64:
		return *p == *b.(*uint64), ""
	case *float64:
		return math.Abs(*p-*b.(*float64)) < 0.00001, ""
	case *string:
		return *p == *b.(*string), ""
	case *rocksdb.VerifyOutputFlags:
		return *p == *b.(*rocksdb.VerifyOutputFlags), ""
	}
	if e := enumOf(a); e != nil {
		return e.equal(a, b), ""
	}
	return false, ""
}

// int32Codec is the codec of a uint32 that is read and written as an int.
type int32Codec struct{ plainCodec }

func (int32Codec) Parse(_ *rocksdb.ConfigOptions, _, value string, addr any) error {
	v, err := util.ParseInt(StripOuterBraces(value))
	if err == nil {
		*addr.(*uint32) = uint32(int32(v))
	}
	return err
}

func (int32Codec) Serialize(_ *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	return strconv.Itoa(int(int32(*addr.(*uint32)))), nil
}

// lowUint32Codec is the codec of a uint32 that is read as the low half of a
// uint64.
type lowUint32Codec struct{ plainCodec }

func (lowUint32Codec) Parse(_ *rocksdb.ConfigOptions, _, value string, addr any) error {
	v, err := util.ParseUint64(StripOuterBraces(value))
	if err == nil {
		*addr.(*uint32) = uint32(v)
	}
	return err
}

// StripOuterBraces takes off one pair of braces that encloses all of value.
func StripOuterBraces(value string) string {
	n := len(value)
	if n < 2 || value[0] != '{' || value[n-1] != '}' {
		return value
	}
	depth := 0
	for i := 0; i < n-1; i++ {
		switch value[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return value
			}
		}
	}
	return value[1 : n-1]
}

// NextToken gives the token from pos up to the delimiter, without braces
// around it, and the delimiter's place: -1, or len(opts), at the end.
func NextToken(opts string, delimiter byte, pos int) (token string, end int, err error) {
	for pos < len(opts) && isSpace(opts[pos]) {
		pos++
	}
	if pos >= len(opts) {
		return "", -1, nil
	}
	if opts[pos] != '{' {
		if i := strings.IndexByte(opts[pos:], delimiter); i >= 0 {
			return util.Trim(opts[pos : pos+i]), pos + i, nil
		}
		return util.Trim(opts[pos:]), -1, nil
	}
	closing := matchingBrace(opts, pos)
	if closing < 0 {
		return "", 0, rocksdb.InvalidArgument("Mismatched curly braces for nested options")
	}
	end = closing + 1
	for end < len(opts) && isSpace(opts[end]) {
		end++
	}
	if end < len(opts) && opts[end] != delimiter {
		return "", 0, rocksdb.InvalidArgument("Unexpected chars after nested options")
	}
	return util.Trim(opts[pos+1 : closing]), end, nil
}

// matchingBrace gives the place of the brace that closes the one at pos, -1
// when there is none.
func matchingBrace(s string, pos int) int {
	depth := 0
	for i := pos; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// Port of options/configurable_test.{h,cc}. Differs: an object names its option
// sets; objects within objects are all of one form.

package options

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type testOptions struct {
	i int
	b bool
	d bool
	e testEnum
	s string
}

func simpleRows() []Row {
	return []Row{
		F("int", func(o *testOptions) any { return &o.i }, Mutable),
		F("bool", func(o *testOptions) any { return &o.b }, 0),
		F("string", func(o *testOptions) any { return &o.s }, 0),
	}
}

func testTable(rows ...Row) *Table { return NewTable[testOptions]("TestOptions", rows...) }

var (
	simpleTable   = testTable(simpleRows()...)
	enumTestTable = testTable(F("enum", func(o *testOptions) any { return &o.e }, 0).
			With(Normal, EnumCodec(map[string]testEnum{"A": enumA, "B": enumB})))
	structTable  = testTable(F("struct", func(o *testOptions) any { return o }, Mutable).With(Normal, StructCodec("struct", simpleTable)))
	immTable     = testTable(F("imm", func(o *testOptions) any { return o }, 0).With(Normal, StructCodec("imm", simpleTable)))
	uniqueTable  = NewTable[nested]("Unique", F("unique", func(o *nested) any { return &o.obj }, Mutable).With(Normal, NestedCodec[HasOptionSets]()))
	sharedTable  = NewTable[nested]("Shared", F("shared", func(o *nested) any { return &o.obj }, 0).With(Normal, NestedCodec[HasOptionSets]()))
	pointerTable = NewTable[nested]("Pointer", F("pointer", func(o *nested) any { return &o.obj }, 0).With(Normal, NestedCodec[HasOptionSets]()))
	dontPrepare  = NewTable[nested]("Unique", F("unique", func(o *nested) any { return &o.obj }, DontPrepare).With(Normal, NestedCodec[HasOptionSets]()))
)

type nested struct{ obj HasOptionSets }

const (
	simpleMode = 1 << iota
	enumMode
	sharedMode
	uniqueMode
	pointerMode
	nestedMode = sharedMode | uniqueMode | pointerMode
	allMode    = nestedMode | enumMode | simpleMode
)

type simpleConfigurable struct {
	opts                    testOptions
	unique, shared, pointer nested
	sets                    []OptionSet
}

func (c *simpleConfigurable) OptionSets() []OptionSet { return c.sets }

func newSimple(mode int, tables ...*Table) *simpleConfigurable {
	c := &simpleConfigurable{opts: testOptions{d: true}}
	if mode&simpleMode != 0 {
		c.sets = append(c.sets, OptionSet{simpleTable, &c.opts})
	}
	for _, t := range tables {
		c.sets = append(c.sets, OptionSet{t, &c.opts})
	}
	if mode&enumMode != 0 {
		c.sets = append(c.sets, OptionSet{enumTestTable, &c.opts})
	}
	for _, n := range []struct {
		mode  int
		inner *nested
		table *Table
	}{{uniqueMode, &c.unique, uniqueTable}, {sharedMode, &c.shared, sharedTable}, {pointerMode, &c.pointer, pointerTable}} {
		if mode&n.mode != 0 {
			n.inner.obj = newSimple(simpleMode)
			c.sets = append(c.sets, OptionSet{n.table, n.inner})
		}
	}
	return c
}

func innerOf(n nested) *testOptions { return &n.obj.(*simpleConfigurable).opts }

func configurableConfig() *rocksdb.ConfigOptions {
	c := testConfig()
	c.InvokePrepareOptions = false
	return c
}

func wantEquivalent(t *testing.T, a, b any, want bool) string {
	t.Helper()
	ok, m := ObjectsAreEquivalent(configurableConfig(), a, b)
	if ok != want {
		t.Errorf("equivalent: %v, %s", ok, m)
	}
	return m
}

func stringOf(t *testing.T, o HasOptionSets) string {
	t.Helper()
	s, err := GetOptionString(configurableConfig(), o.OptionSets())
	noError(t, err)
	return s
}

func TestConfigurableTest_GetOptionsPtrTest(t *testing.T) {
	f := newBlockBased(rocksdb.DefaultBlockBasedTableOptions())
	if f.OptionsPtr(rocksdb.BlockBasedTableOptionsName) == nil || f.OptionsPtr("bad-opt") != nil {
		t.Error("OptionsPtr")
	}
	check(t, len(optionSetsOf(f)), 1)
	check(t, optionSetsOf(f)[0].Table, BlockBasedTable)
}

func TestConfigurableTest_ConfigureFromMapTest(t *testing.T) {
	c := newSimple(simpleMode)
	noError(t, ConfigureObject(configurableConfig(), c, nil))
	noError(t, ConfigureObject(configurableConfig(), c, map[string]string{"int": "1", "bool": "true", "string": "string"}))
	check(t, c.opts, testOptions{i: 1, b: true, d: true, s: "string"})
}

func TestConfigurableTest_ConfigureFromStringTest(t *testing.T) {
	c := newSimple(simpleMode)
	noError(t, ConfigureObjectFromString(configurableConfig(), c, ""))
	noError(t, ConfigureObjectFromString(configurableConfig(), c, "int=1;bool=true;string=s"))
	check(t, c.opts, testOptions{i: 1, b: true, d: true, s: "s"})
}

func TestConfigurableTest_ConfigureIgnoreTest(t *testing.T) {
	c := newSimple(simpleMode)
	ignore := configurableConfig()
	ignore.IgnoreUnknownOptions = true
	wantError(t, ConfigureObject(configurableConfig(), c, map[string]string{"unused": "u"}))
	noError(t, ConfigureObject(ignore, c, map[string]string{"unused": "u"}))
	wantError(t, ConfigureObjectFromString(configurableConfig(), c, "unused=u"))
	noError(t, ConfigureObjectFromString(ignore, c, "unused=u"))
}

func TestConfigurableTest_ConfigureNestedOptionsTest(t *testing.T) {
	a, b := newSimple(allMode), newSimple(allMode)
	noError(t, ConfigureObjectFromString(configurableConfig(), a,
		"shared={int=10; string=10};unique={int=20; string=20};pointer={int=30; string=30};"))
	check(t, innerOf(a.shared).i, 10)
	noError(t, ConfigureObjectFromString(configurableConfig(), b, stringOf(t, a)))
	wantEquivalent(t, a, b, true)
}

func TestConfigurableTest_GetOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(allMode)
	for i, prefix := range []string{"", "shared.", "unique.", "pointer."} {
		want := strconv.Itoa(11 * (i + 1))
		for _, name := range []string{"int", "string"} {
			noError(t, ConfigureObjectOption(cfg, c, prefix+name, want))
			got, err := GetObjectOption(cfg, c, prefix+name)
			noError(t, err)
			check(t, got, want)
		}
		wantError(t, ConfigureObjectOption(cfg, c, prefix+"bad", want))
		got, err := GetObjectOption(cfg, c, "bad option")
		wantError(t, err)
		check(t, got, "")
	}
}

func TestConfigurableTest_ConfigureBadOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(simpleMode)
	noError(t, ConfigureObjectOption(cfg, c, "int", "42"))
	wantError(t, ConfigureObjectOption(cfg, c, "int", "fred"))
	wantError(t, ConfigureObjectOption(cfg, c, "bool", "fred"))
	wantError(t, ConfigureObjectFromString(cfg, c, "int=33;unused=u"))
	check(t, c.opts.i, 42)
}

func TestConfigurableTest_InvalidOptionTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(simpleMode)
	wantError(t, ConfigureObject(cfg, c, map[string]string{"bad-option": "bad"}))
	wantError(t, ConfigureObjectFromString(cfg, c, "bad-option=bad"))
	wantError(t, ConfigureObjectOption(cfg, c, "bad-option", "bad"))
}

// validatedState is what a validated object checks and counts.
type validatedState struct {
	validated bool
	prepared  int
}

var validatedTable = NewTable[validatedState]("Validated",
	F("validated", func(o *validatedState) any { return &o.validated }, 0),
	F("prepared", func(o *validatedState) any { return &o.prepared }, Mutable))

type validated struct {
	state  validatedState
	unique nested
	table  *Table
}

func (v *validated) OptionSets() []OptionSet {
	sets := []OptionSet{{validatedTable, &v.state}}
	if v.table != nil {
		sets = append(sets, OptionSet{v.table, &v.unique})
	}
	return sets
}

func (v *validated) PrepareOptions(*rocksdb.ConfigOptions) error {
	if v.state.prepared++; v.state.prepared <= 0 {
		return rocksdb.InvalidArgument("Cannot prepare option")
	}
	return nil
}

func (v *validated) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	if !v.state.validated {
		return rocksdb.InvalidArgument("Not Validated")
	}
	return nil
}

func TestConfigurableTest_ValidateOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	v := &validated{}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	noError(t, ConfigureObjectOption(cfg, v, "validated", "false"))
	wantInvalid(t, validateSets(&db, &cf, v.OptionSets(), v))
	noError(t, ConfigureObjectOption(cfg, v, "validated", "true"))
	noError(t, validateSets(&db, &cf, v.OptionSets(), v))
	outer := &validated{state: validatedState{validated: true}, unique: nested{&validated{}}, table: uniqueTable}
	wantInvalid(t, validateSets(&db, &cf, outer.OptionSets(), outer))
}

func TestConfigurableTest_PrepareOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	inner := &validated{}
	c := &validated{unique: nested{inner}, table: uniqueTable}
	want := func(outer, in int) {
		t.Helper()
		check(t, c.state.prepared, outer)
		check(t, inner.state.prepared, in)
	}
	noError(t, ConfigureObject(cfg, c, nil))
	want(0, 0)
	cfg.InvokePrepareOptions = true
	noError(t, ConfigureObject(cfg, c, nil))
	want(1, 1)
	noError(t, ConfigureObjectFromString(cfg, c, "prepared=0"))
	want(1, 2)
	wantError(t, ConfigureObjectFromString(cfg, c, "prepared=-2"))

	inner = &validated{}
	c = &validated{unique: nested{inner}, table: dontPrepare}
	noError(t, ConfigureObjectFromString(cfg, c, "prepared=0"))
	want(1, 0)
}

func TestConfigurableTest_MutableOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(simpleMode|uniqueMode|sharedMode, structTable, immTable)
	ok := func(name, value string) { t.Helper(); noError(t, ConfigureObjectOption(cfg, c, name, value)) }
	bad := func(name, value string) { t.Helper(); wantError(t, ConfigureObjectOption(cfg, c, name, value)) }
	ok("bool", "true")
	ok("int", "42")
	check(t, c.opts.i, 42)
	check(t, c.opts.b, true)
	ok("struct", "{bool=false;}")
	ok("imm", "{int=55;}")

	cfg.MutableOptionsOnly = true
	bad("bool", "true")
	ok("int", "24")
	check(t, c.opts.i, 24)
	check(t, c.opts.b, false)
	wantError(t, ConfigureObjectFromString(cfg, c, "bool=false;int=33;"))
	bad("imm", "{int=55;}")
	bad("imm.int", "55")
	check(t, c.opts.i, 24)
	check(t, c.opts.b, false)
	ok("struct", "{int=44;}")
	check(t, c.opts.i, 44)
	ok("struct.int", "55")
	check(t, c.opts.i, 55)
	bad("shared", "{bool=true;}")
	bad("shared.bool", "true")
	ok("unique", "{bool=true}")
	ok("unique.bool", "true")
}

func TestConfigurableTest_DeprecatedOptionsTest(t *testing.T) {
	r := Old("deprecated", 0)
	r.Field = func(o any) any { return &o.(*testOptions).d }
	c := newSimple(0, testTable(r))
	noError(t, ConfigureObjectOption(configurableConfig(), c, "deprecated", "false"))
	noError(t, ConfigureObjectFromString(configurableConfig(), c, "deprecated=false"))
	check(t, c.opts.d, true)
}

func TestConfigurableTest_AliasOptionsTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(0, testTable(F("bool", func(o *testOptions) any { return &o.b }, 0),
		F("alias", func(o *testOptions) any { return &o.b }, 0).With(Alias, nil)))
	noError(t, ConfigureObjectOption(cfg, c, "bool", "false"))
	noError(t, ConfigureObjectOption(cfg, c, "alias", "true"))
	check(t, c.opts.b, true)
	check(t, strings.Contains(stringOf(t, c), "alias"), false)
	noError(t, ConfigureObjectOption(cfg, c, "bool", "false"))
	s, err := GetObjectOption(cfg, c, "alias")
	noError(t, err)
	check(t, s, "false")
}

func nestedConfig(t *testing.T, mode int, name string, inner func(c *simpleConfigurable) nested) {
	cfg := configurableConfig()
	c := newSimple(simpleMode | mode)
	noError(t, ConfigureObjectFromString(cfg, c, "int=24;string=outer"))
	noError(t, ConfigureObjectFromString(cfg, c, name+"={int=42;string=nested}"))
	check(t, c.opts.i, 24)
	check(t, c.opts.s, "outer")
	check(t, innerOf(inner(c)).i, 42)
	check(t, innerOf(inner(c)).s, "nested")
}

func TestConfigurableTest_NestedUniqueConfigTest(t *testing.T) {
	nestedConfig(t, nestedMode, "unique", func(c *simpleConfigurable) nested { return c.unique })
}

func TestConfigurableTest_NestedSharedConfigTest(t *testing.T) {
	nestedConfig(t, sharedMode, "shared", func(c *simpleConfigurable) nested { return c.shared })
}

func TestConfigurableTest_NestedRawConfigTest(t *testing.T) {
	nestedConfig(t, pointerMode, "pointer", func(c *simpleConfigurable) nested { return c.pointer })
}

func TestConfigurableTest_MatchesTest(t *testing.T) {
	cfg := configurableConfig()
	a, b := newSimple(simpleMode|nestedMode), newSimple(simpleMode|nestedMode)
	for _, c := range []*simpleConfigurable{a, b} {
		noError(t, ConfigureObjectFromString(cfg, c, "int=11;string=outer;unique={int=22;string=u};shared={int=33;string=s}"))
	}
	wantEquivalent(t, a, b, true)
	noError(t, ConfigureObjectOption(cfg, a, "shared", "int=44"))
	m := wantEquivalent(t, a, b, false)
	check(t, m, "shared.int")
	v1, err := GetObjectOption(cfg, a, m)
	noError(t, err)
	v2, err := GetObjectOption(cfg, b, m)
	noError(t, err)
	check(t, v1, "44")
	check(t, v2, "33")
}

func TestConfigurableTest_ConfigureStructTest(t *testing.T) {
	cfg := configurableConfig()
	a, b := newSimple(0, structTable), newSimple(0, structTable)
	noError(t, ConfigureObjectFromString(cfg, a, "struct={int=10; string=10}"))
	noError(t, ConfigureObjectFromString(cfg, b, stringOf(t, a)))
	wantEquivalent(t, a, b, true)
	names := GetOptionNames(cfg, a.OptionSets())
	check(t, len(names), 1)
	check(t, names[0], "struct")
	noError(t, ConfigureObjectFromString(cfg, a, "struct={int=20; string=20}"))
	v, err := GetObjectOption(cfg, a, "struct")
	noError(t, err)
	noError(t, ConfigureObjectOption(cfg, b, "struct", v))
	wantEquivalent(t, a, b, true)
	wantError(t, ConfigureObjectFromString(cfg, a, "struct={int=10; string=10; bad=11}"))
	noError(t, ConfigureObjectOption(cfg, a, "struct.int", "42"))
	wantError(t, ConfigureObjectOption(cfg, a, "struct.bad", "42"))
	_, err = GetObjectOption(cfg, a, "struct.bad")
	wantError(t, err)
	v, err = GetObjectOption(cfg, a, "struct.int")
	noError(t, err)
	check(t, v, "42")
}

func TestConfigurableTest_ConfigurableEnumTest(t *testing.T) {
	cfg := configurableConfig()
	a, b := newSimple(enumMode), newSimple(enumMode)
	noError(t, ConfigureObjectFromString(cfg, a, "enum=B"))
	wantEquivalent(t, a, b, false)
	noError(t, ConfigureObjectFromString(cfg, b, stringOf(t, a)))
	wantEquivalent(t, a, b, true)
	wantError(t, ConfigureObjectOption(cfg, a, "enum", "bad"))
	wantError(t, ConfigureObjectOption(cfg, a, "unknown", "bad"))
}

func intTable(flags Flags) *Table {
	return testTable(F("int", func(o *testOptions) any { return &o.i }, flags))
}

func TestConfigurableTest_TestNoSerialize(t *testing.T) {
	c := newSimple(0, intTable(DontSerialize))
	noError(t, ConfigureObjectFromString(configurableConfig(), c, "int=10"))
	check(t, c.opts.i, 10)
	check(t, stringOf(t, c), "")
	_, err := GetObjectOption(configurableConfig(), c, "int")
	wantError(t, err)
}

func TestConfigurableTest_TestNoCompare(t *testing.T) {
	cfg := configurableConfig()
	never, normal := intTable(CompareNever), intTable(0)
	a, b := testOptions{i: 10}, testOptions{i: 20}
	ok, _ := tablesEqual(cfg, never, &a, &b, rowEqualOrByName)
	check(t, ok, true)
	ok, _ = tablesEqual(cfg, normal, &a, &b, rowEqualOrByName)
	check(t, ok, false)
}

func TestConfigurableTest_NullOptionMapTest(t *testing.T) {
	cfg := configurableConfig()
	c := newSimple(0)
	wantError(t, ConfigureObjectFromString(cfg, c, "int=10"))
	wantError(t, ConfigureObjectOption(cfg, c, "int", "20"))
	_, err := GetObjectOption(cfg, c, "int")
	wantError(t, err)
	check(t, len(GetOptionNames(cfg, c.OptionSets())), 0)
	noError(t, prepareOptions(cfg, c.OptionSets(), c))
	noError(t, validateSets(nil, nil, c.OptionSets(), c))
	check(t, stringOf(t, c), "")
	wantEquivalent(t, c, newSimple(0), true)
}

// dbObject and cfObject make whole option sets objects.
type dbObject struct{ o rocksdb.DBOptions }

func (o *dbObject) OptionSets() []OptionSet { return []OptionSet{{dbOptionsTable, &o.o}} }

type cfObject struct{ o rocksdb.ColumnFamilyOptions }

func (o *cfObject) OptionSets() []OptionSet { return []OptionSet{{cfOptionsTable, &o.o}} }

type bbObject struct {
	o rocksdb.BlockBasedTableOptions
}

func (o *bbObject) OptionSets() []OptionSet { return []OptionSet{{BlockBasedTable, &o.o}} }

var configurableParams = []struct {
	name, text string
	make       func() HasOptionSets
}{
	{"Simple", "int=42;bool=true;string=s", func() HasOptionSets { return newSimple(simpleMode) }},
	{"Mutable", "int=42;unique={int=33;string=unique}", func() HasOptionSets { return newSimple(simpleMode | nestedMode) }},
	{"Struct", "struct={int=33;bool=true;string=s;}", func() HasOptionSets { return newSimple(0, structTable) }},
	{"Shared", "int=33;bool=true;string=outer;shared={int=42;string=shared}", func() HasOptionSets { return newSimple(simpleMode | sharedMode) }},
	{"Unique", "int=33;bool=true;string=outer;unique={int=42;string=unique}", func() HasOptionSets { return newSimple(simpleMode | uniqueMode) }},
	{"Nested", "int=11;bool=true;string=outer;pointer={int=22;string=pointer};unique={int=33;string=unique};shared={int=44;string=shared}",
		func() HasOptionSets { return newSimple(simpleMode | nestedMode) }},
	{"ThreeDeep", "int=11;bool=true;string=outer;unique={int=22;string=inner;unique={int=33;string=unique}};",
		func() HasOptionSets {
			c := newSimple(simpleMode | uniqueMode)
			c.unique.obj = newSimple(simpleMode | uniqueMode)
			return c
		}},
	{"DBOptions", "max_background_jobs=100;max_open_files=200;", func() HasOptionSets { return &dbObject{rocksdb.DefaultDBOptions()} }},
	{"CFOptions", "table_factory=BlockBasedTable;disable_auto_compactions=true;", func() HasOptionSets { return &cfObject{rocksdb.DefaultColumnFamilyOptions()} }},
	{"BlockBased", "block_size=1024;no_block_cache=true;", func() HasOptionSets { return &bbObject{rocksdb.DefaultBlockBasedTableOptions()} }},
}

func TestConfigurableParamTest_GetDefaultOptionsTest(t *testing.T) {
	for _, p := range configurableParams {
		t.Run(p.name, func(t *testing.T) {
			cfg := configurableConfig()
			a, b := p.make(), p.make()
			noError(t, ConfigureObjectFromString(cfg, a, p.text))
			noError(t, ConfigureObjectFromString(cfg, b, stringOf(t, a)))
			wantEquivalent(t, a, b, true)

			b = p.make()
			for _, name := range GetOptionNames(cfg, a.OptionSets()) {
				v, err := GetObjectOption(cfg, a, name)
				if err == nil {
					err = ConfigureObjectOption(cfg, b, name, v)
				}
				if err != nil && !rocksdb.IsNotSupported(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			wantEquivalent(t, a, b, true)
		})
	}
}

func TestConfigurableParamTest_ConfigureFromPropsTest(t *testing.T) {
	for _, p := range configurableParams {
		t.Run(p.name, func(t *testing.T) {
			cfg := configurableConfig()
			a, b := p.make(), p.make()
			noError(t, ConfigureObjectFromString(cfg, a, p.text))
			cfg.Delimiter = "\n"
			s, err := GetOptionString(cfg, a.OptionSets())
			noError(t, err)
			m := map[string]string{}
			for i, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
				name, value, err := parseStatement(line, i)
				noError(t, err)
				m[name] = value
			}
			noError(t, ConfigureObject(cfg, b, m))
			wantEquivalent(t, a, b, true)
		})
	}
}

// Port of options/customizable_test.cc. Differs: one kind of plug-in field
// (ownership is the garbage collector's); the plug-ins of other packages are
// loaded in those packages' tests.

package options

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

const kindCustom = "test.custom"

// custom is a plug-in.
type custom interface{ Name() string }

type aOptions struct {
	i int
	b bool
}

type bOptions struct {
	s string
	b bool
}

var (
	aTable = NewTable[aOptions]("A", F("int", func(o *aOptions) any { return &o.i }, Mutable),
		F("bool", func(o *aOptions) any { return &o.b }, 0))
	bTable = NewTable[bOptions]("B", F("string", func(o *bOptions) any { return &o.s }, 0),
		F("bool", func(o *bOptions) any { return &o.b }, 0))
)

type aCustom struct {
	id   string
	opts aOptions
}

func (a *aCustom) Name() string            { return "A" }
func (a *aCustom) ID() string              { return a.id }
func (a *aCustom) OptionSets() []OptionSet { return []OptionSet{{aTable, &a.opts}} }

type bCustom struct {
	name string
	opts bOptions
}

func (b *bCustom) Name() string            { return b.name }
func (b *bCustom) OptionSets() []OptionSet { return []OptionSet{{bTable, &b.opts}} }

// plainCustom has a name alone.
type plainCustom struct{ name string }

func (c *plainCustom) Name() string { return c.name }

type pOptions struct{ can bool }

var pTable = NewTable[pOptions]("Prepare", F("can_prepare", func(o *pOptions) any { return &o.can }, 0))

// pCustom can be prepared, or not.
type pCustom struct{ opts pOptions }

func (p *pCustom) Name() string            { return "P" }
func (p *pCustom) OptionSets() []OptionSet { return []OptionSet{{pTable, &p.opts}} }
func (p *pCustom) PrepareOptions(*rocksdb.ConfigOptions) error {
	if !p.opts.can {
		return rocksdb.InvalidArgument("Cannot Prepare")
	}
	return nil
}

type customOptions struct {
	b                       bool
	unique, shared, pointer custom
	vector                  []custom
}

var customTable = NewTable[customOptions]("simple",
	F("bool", func(o *customOptions) any { return &o.b }, 0),
	F("unique", func(o *customOptions) any { return &o.unique }, AllowNull).With(Normal, CustomCodec[custom](kindCustom, "")),
	F("shared", func(o *customOptions) any { return &o.shared }, AllowNull).With(Normal, CustomCodec[custom](kindCustom, "")),
	F("pointer", func(o *customOptions) any { return &o.pointer }, AllowNull).With(Normal, CustomCodec[custom](kindCustom, "")))

var vectorTable = NewTable[customOptions]("vector", F("vector", func(o *customOptions) any { return &o.vector }, 0).
	With(Normal, VectorCodec[custom](CustomCodec[custom](kindCustom, ""), ':')))

// holder is an object with plug-ins.
type holder struct {
	opts   customOptions
	tables []*Table
}

func (h *holder) OptionSets() []OptionSet {
	var sets []OptionSet
	for _, t := range h.tables {
		sets = append(sets, OptionSet{t, &h.opts})
	}
	return sets
}

func newHolder() *holder { return &holder{opts: customOptions{b: true}, tables: []*Table{customTable}} }

var made int // A plug-ins made

func customConfig() *rocksdb.ConfigOptions {
	cfg := configurableConfig()
	l := cfg.Registry.(*registry.Registry).AddNewLibrary("CustomizableTest")
	l.AddPattern(kindCustom, registry.NewPatternEntry("A").AddSeparator("_", true), func(_ *rocksdb.ConfigOptions, id string) (any, error) {
		made++
		return &aCustom{id: id}, nil
	})
	for _, name := range []string{"B", "S"} {
		l.AddFactory(kindCustom, name, func(_ *rocksdb.ConfigOptions, id string) (any, error) { return &bCustom{name: id}, nil })
	}
	l.AddFactory(kindCustom, "P", func(*rocksdb.ConfigOptions, string) (any, error) { return &pCustom{pOptions{true}}, nil })
	return cfg
}

func idOf(c custom) string {
	if c == nil {
		return "nil"
	}
	return objectID(c)
}

// copied gives a holder configured by what is written of h.
func copied(t *testing.T, cfg *rocksdb.ConfigOptions, h *holder) *holder {
	t.Helper()
	s, err := GetOptionString(cfg, h.OptionSets())
	noError(t, err)
	c := &holder{opts: customOptions{b: true}, tables: h.tables}
	noError(t, ConfigureObjectFromString(cfg, c, s))
	return c
}

func TestCustomizableTest_CreateByNameTest(t *testing.T) {
	cfg := customConfig()
	cfg.Registry.(*registry.Registry).AddNewLibrary("TEST").AddPattern(kindCustom,
		registry.NewPatternEntry("TEST").SetOptional(false).AddSeparator("_", true),
		func(_ *rocksdb.ConfigOptions, id string) (any, error) { return &plainCustom{id}, nil })
	h := newHolder()
	for text, want := range map[string]string{"unique={id=TEST_1}": "TEST_1", "unique.id=TEST_2": "TEST_2", "unique=TEST_3": "TEST_3"} {
		noError(t, ConfigureObjectFromString(cfg, h, text))
		check(t, idOf(h.opts.unique), want)
	}
}

func TestCustomizableTest_ToStringTest(t *testing.T) {
	s, err := ObjectToString(customConfig(), &plainCustom{"test"})
	noError(t, err)
	check(t, s, "test")
}

func TestCustomizableTest_SimpleConfigureTest(t *testing.T) {
	cfg := customConfig()
	h := newHolder()
	noError(t, ConfigureObject(cfg, h, map[string]string{"unique": "id=A;int=1;bool=true", "shared": "id=B;string=s"}))
	check(t, h.opts.unique.(*aCustom).opts, aOptions{1, true})
	check(t, h.opts.shared.(*bCustom).opts, bOptions{"s", false})
	wantEquivalent(t, h, copied(t, cfg, h), true)
}

func TestCustomizableTest_ConfigureFromPropsTest(t *testing.T) {
	cfg := customConfig()
	h := newHolder()
	noError(t, ConfigureObject(cfg, h, map[string]string{
		"unique.id": "A", "unique.A.int": "1", "unique.A.bool": "true", "shared.id": "B", "shared.B.string": "s"}))
	check(t, h.opts.unique.(*aCustom).opts, aOptions{1, true})
	check(t, h.opts.shared.(*bCustom).opts.s, "s")
	cfg.Delimiter = "\n"
	s, err := GetOptionString(cfg, h.OptionSets())
	noError(t, err)
	m := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		name, value, err := parseStatement(line, i)
		noError(t, err)
		m[name] = value
	}
	c := newHolder()
	noError(t, ConfigureObject(cfg, c, m))
	wantEquivalent(t, h, c, true)
}

func TestCustomizableTest_ConfigureFromShortTest(t *testing.T) {
	h := newHolder()
	noError(t, ConfigureObject(customConfig(), h, map[string]string{
		"unique.id": "A", "unique.A.int": "1", "unique.A.bool": "true", "shared.id": "B", "shared.B.string": "s"}))
	check(t, idOf(h.opts.unique), "A")
}

func TestCustomizableTest_AreEquivalentOptionsTest(t *testing.T) {
	cfg := customConfig()
	loose := customConfig()
	loose.SanityLevel = rocksdb.SanityLevelLooselyCompatible
	a, b := newHolder(), newHolder()
	for _, h := range []*holder{a, b} {
		noError(t, ConfigureObject(cfg, h, map[string]string{"unique": "id=A;int=1;bool=true", "shared": "id=A;int=1;bool=true"}))
	}
	looselyEquivalent := func(x, y any, want bool) {
		t.Helper()
		ok, _ := ObjectsAreEquivalent(loose, x, y)
		check(t, ok, want)
	}
	wantEquivalent(t, a, b, true)
	wantEquivalent(t, a.opts.unique, a.opts.shared, true)
	noError(t, ConfigureObjectOption(cfg, a.opts.unique, "int", "2"))
	check(t, wantEquivalent(t, a.opts.unique, a.opts.shared, false), "int")
	check(t, wantEquivalent(t, a, b, false), "unique.int")
	looselyEquivalent(a, b, true)
	looselyEquivalent(a.opts.unique, a.opts.shared, true)

	noError(t, ConfigureObjectOption(cfg, a, "shared", "id=B;string=3"))
	looselyEquivalent(a, b, true)
	wantEquivalent(t, a, b, false)
	looselyEquivalent(a.opts.shared, a.opts.unique, false)
	a.opts.shared = nil
	looselyEquivalent(a, b, true)
	wantEquivalent(t, a, b, false)
}

func TestCustomizableTest_ConfigureStandaloneCustomTest(t *testing.T) {
	cfg := customConfig()
	a, err := registry.NewObject[custom](cfg, kindCustom, "A")
	noError(t, err)
	b, err := registry.NewObject[custom](cfg, kindCustom, "A")
	noError(t, err)
	noError(t, ConfigureObjectFromString(cfg, a, "int=33;bool=true"))
	s, err := GetOptionString(cfg, a.(*aCustom).OptionSets())
	noError(t, err)
	noError(t, ConfigureObjectFromString(cfg, b, s))
	wantEquivalent(t, a, b, true)
}

func TestCustomizableTest_BadNameTest(t *testing.T) {
	cfg := customConfig()
	cfg.IgnoreUnsupportedOptions = false
	wantError(t, ConfigureObjectFromString(cfg, newHolder(), "unique.shared.id=bad name"))
	cfg.IgnoreUnsupportedOptions = true
	noError(t, ConfigureObjectFromString(cfg, newHolder(), "unique.shared.id=bad name"))
}

func TestCustomizableTest_BadOptionTest(t *testing.T) {
	cfg, ignore := customConfig(), customConfig()
	ignore.IgnoreUnknownOptions = true
	h := newHolder()
	for _, bad := range []string{"A.int=11", "shared={id=B;int=1}", "B.int=11", "A.string=s", "shared.id=A;A.string=b}"} {
		wantError(t, ConfigureObjectFromString(cfg, h, bad))
	}
	for _, good := range []string{"shared={id=A;string=s}", "B.int=11", "A.string=s", "shared.id=A;A.string=s}"} {
		noError(t, ConfigureObjectFromString(ignore, h, good))
	}
}

func TestCustomizableTest_FailingFactoryTest(t *testing.T) {
	cfg := customConfig()
	cfg.Registry.(*registry.Registry).AddNewLibrary("failing").AddFactory(kindCustom, "failing",
		func(*rocksdb.ConfigOptions, string) (any, error) { return nil, rocksdb.InvalidArgument("Bad Factory") })
	for _, c := range []struct {
		ignoreUnknown, ignoreUnsupported bool
		failing, missing                 rocksdb.Code
	}{
		{false, false, rocksdb.CodeInvalidArgument, rocksdb.CodeNotSupported},
		{false, true, rocksdb.CodeInvalidArgument, rocksdb.CodeOK},
		{true, false, rocksdb.CodeOK, rocksdb.CodeOK},
	} {
		cfg.IgnoreUnknownOptions, cfg.IgnoreUnsupportedOptions = c.ignoreUnknown, c.ignoreUnsupported
		for _, field := range []string{"shared", "unique"} {
			check(t, rocksdb.CodeOf(ConfigureObjectFromString(cfg, newHolder(), field+".id=failing")), c.failing)
			check(t, rocksdb.CodeOf(ConfigureObjectFromString(cfg, newHolder(), field+".id=missing")), c.missing)
		}
	}
}

func TestCustomizableTest_UniqueIdTest(t *testing.T) {
	cfg := customConfig()
	h := newHolder()
	noError(t, ConfigureObjectFromString(cfg, h, "unique={id=A_1;int=1;bool=true}"))
	check(t, idOf(h.opts.unique), "A_1")
	c := copied(t, cfg, h)
	wantEquivalent(t, h, c, true)
	noError(t, ConfigureObjectFromString(cfg, h, "unique={id=A_2;int=1;bool=true}"))
	wantEquivalent(t, h, c, false)
	check(t, idOf(h.opts.unique), "A_2")
}

func TestCustomizableTest_IsInstanceOfTest(t *testing.T) {
	a := &aCustom{id: "A_1"}
	check(t, idOf(a), "A_1")
	check(t, rocksdb.IsInstanceOf(a, "A"), true)
	check(t, rocksdb.IsInstanceOf(a, "B"), false)
	check(t, rocksdb.IsInstanceOf(a, "A_1"), false)
	check(t, rocksdb.IsInstanceOf(&bCustom{name: "B"}, "B"), true)
	f := util.NewFixedPrefixTransform(3)
	check(t, rocksdb.IsInstanceOf(f, "fixed"), true)
	check(t, rocksdb.IsInstanceOf(f, "capped"), false)
}

func TestCustomizableTest_PrepareOptionsTest(t *testing.T) {
	cfg, prepared := customConfig(), customConfig()
	prepared.InvokePrepareOptions = true
	const text = "unique=A_1; shared={id=B;string=s}; pointer.id=S"
	for _, c := range []*rocksdb.ConfigOptions{prepared, cfg} {
		h := newHolder()
		noError(t, ConfigureObjectFromString(c, h, text))
		for _, o := range []custom{h.opts.unique, h.opts.shared, h.opts.pointer} {
			if o == nil {
				t.Error("a plug-in is missing")
			}
		}
		noError(t, prepareOptions(cfg, h.OptionSets(), h))
	}
	h := newHolder()
	wantError(t, ConfigureObjectFromString(prepared, h, "unique={id=P; can_prepare=false}"))
	check(t, idOf(h.opts.unique), "nil")
	noError(t, ConfigureObjectFromString(prepared, h, "unique={id=P; can_prepare=true}"))
	check(t, idOf(h.opts.unique), "P")
	noError(t, ConfigureObjectFromString(cfg, h, "unique={id=P; can_prepare=true}"))
	noError(t, prepareOptions(prepared, nil, h.opts.unique))
	noError(t, ConfigureObjectFromString(cfg, h, "unique={id=P; can_prepare=false}"))
	wantError(t, prepareOptions(prepared, nil, h.opts.unique))
}

func TestCustomizableTest_TestStringDepth(t *testing.T) {
	cfg := customConfig()
	table := NewTable[customOptions]("inner", F("inner", func(o *customOptions) any { return &o.unique }, StringNameOnly).
		With(Normal, CustomCodec[custom](kindCustom, "")))
	h := &holder{opts: customOptions{unique: &aCustom{id: "a"}}, tables: []*Table{table}}
	for depth, want := range map[rocksdb.Depth]string{
		rocksdb.DepthShallow: "inner=a;", rocksdb.DepthDefault: "inner=a;", rocksdb.DepthDetailed: "inner={id=a;int=0;bool=false;};",
	} {
		cfg.Depth = depth
		s, err := GetOptionString(cfg, h.OptionSets())
		noError(t, err)
		check(t, s, want)
	}
}

func TestCustomizableTest_NewUniqueCustomizableTest(t *testing.T) {
	cfg := customConfig()
	h := newHolder()
	made = 0
	for _, step := range []struct {
		text, id string
		made     int
	}{
		{"unique={id=A_1;int=1;bool=true}", "A_1", 1}, {"unique={id=A_1;int=1;bool=false}", "A_1", 2},
		{"unique={id=}", "nil", 2}, {"unique={id=A_2;int=1;bool=false}", "A_2", 3}, {"unique.id=", "nil", 3},
		{"unique=nullptr", "nil", 3}, {"unique.id=nullptr", "nil", 3},
	} {
		noError(t, ConfigureObjectFromString(cfg, h, step.text))
		check(t, idOf(h.opts.unique), step.id)
		check(t, made, step.made)
	}
}

func newEmpty(t *testing.T, name string, field func(*holder) *custom) {
	for _, text := range []string{"={id=}", "={id=nullptr}", "=", "=nullptr", ".id=", ".id=nullptr"} {
		h := newHolder()
		*field(h) = &bCustom{name: "B"}
		noError(t, ConfigureObjectFromString(customConfig(), h, name+text))
		check(t, idOf(*field(h)), "nil")
	}
}

func TestCustomizableTest_NewEmptyUniqueTest(t *testing.T) {
	newEmpty(t, "unique", func(h *holder) *custom { return &h.opts.unique })
}

func TestCustomizableTest_NewEmptySharedTest(t *testing.T) {
	newEmpty(t, "shared", func(h *holder) *custom { return &h.opts.shared })
}

func TestCustomizableTest_NewEmptyStaticTest(t *testing.T) {
	newEmpty(t, "pointer", func(h *holder) *custom { return &h.opts.pointer })
}

func TestCustomizableTest_VectorConfigTest(t *testing.T) {
	cfg := customConfig()
	h := newHolder()
	h.tables = append(h.tables, vectorTable)
	for _, id := range []string{"A", "B"} {
		c, err := CreateFromString[custom](cfg, kindCustom, id)
		noError(t, err)
		h.opts.vector = append(h.opts.vector, c)
	}
	noError(t, ConfigureObjectFromString(cfg, h, "unique=A2"))
	c := copied(t, cfg, h)
	check(t, len(c.opts.vector), 2)
	wantEquivalent(t, h, c, true)
}

func TestCustomizableTest_NoNameTest(t *testing.T) {
	h := newHolder()
	h.tables = append(h.tables, vectorTable)
	h.opts.unique = &aCustom{}
	h.opts.vector = []custom{&aCustom{}, &aCustom{id: "A_1"}}
	c := copied(t, customConfig(), h)
	check(t, len(c.opts.vector), 1)
	check(t, idOf(c.opts.vector[0]), "A_1")
	check(t, idOf(c.opts.unique), "nil")
}

func TestCustomizableTest_IgnoreUnknownObjects(t *testing.T) {
	cfg := customConfig()
	cfg.IgnoreUnsupportedOptions = false
	_, err := CreateFromString[custom](cfg, kindCustom, "Unknown")
	wantError(t, err)
	cfg.IgnoreUnsupportedOptions = true
	for _, id := range []string{"Unknown", "id=Unknown", "id=Unknown;option=bad"} {
		c, err := CreateFromString[custom](cfg, kindCustom, id)
		noError(t, err)
		check(t, idOf(c), "nil")
	}
}

func TestCustomizableTest_URLFactoryTest(t *testing.T) {
	cfg := customConfig()
	cfg.IgnoreUnsupportedOptions = false
	cfg.Registry.(*registry.Registry).AddNewLibrary("URL").AddPattern(kindCustom,
		registry.NewPatternEntry("Z").SetOptional(false).AddSeparator("", true),
		func(_ *rocksdb.ConfigOptions, id string) (any, error) { return &plainCustom{id}, nil })
	for _, id := range []string{"Z=1;x=y", "Z;x=y", "Z=1?x=y"} {
		c, err := CreateFromString[custom](cfg, kindCustom, id)
		noError(t, err)
		check(t, idOf(c), id)
	}
}

func TestCustomizableTest_MutableOptionsTest(t *testing.T) {
	cfg := customConfig()
	tables := []*Table{
		NewTable[customOptions]("mutable", F("mutable", func(o *customOptions) any { return &o.unique }, Mutable).With(Normal, CustomCodec[custom](kindCustom, ""))),
		NewTable[customOptions]("immutable", F("immutable", func(o *customOptions) any { return &o.shared }, AllowNull).With(Normal, CustomCodec[custom](kindCustom, ""))),
	}
	h, h2 := &holder{tables: tables}, &holder{tables: tables}
	ok := func(name, value string) { t.Helper(); noError(t, ConfigureObjectOption(cfg, h, name, value)) }
	bad := func(name, value string) { t.Helper(); wantError(t, ConfigureObjectOption(cfg, h, name, value)) }
	equivalent := func() (bool, string) { return ObjectsAreEquivalent(cfg, h, h2) }
	ok("mutable", "{id=B;}")
	cfg.MutableOptionsOnly = true
	s, err := GetOptionString(cfg, h.OptionSets())
	noError(t, err)
	noError(t, ConfigureObjectFromString(cfg, h2, s))
	same, _ := equivalent()
	check(t, same, true)

	cfg.MutableOptionsOnly = false
	ok("immutable", "{id=A; int=10}")
	cfg.MutableOptionsOnly = true
	bad("immutable", "{id=B;}")
	bad("immutable.id", "B")
	bad("immutable.bool", "true")
	bad("immutable", "bool=true")
	bad("immutable", "{int=11;bool=true}")
	im := h.opts.shared.(*aCustom)
	check(t, im.opts, aOptions{10, false})
	ok("immutable.int", "11")
	check(t, im.opts.i, 11)
	check(t, h.opts.shared.(*aCustom), im)

	ok("mutable.id", "A")
	ok("mutable", "A")
	ok("mutable", "{id=A}")
	ok("mutable", "{bool=true}")
	check(t, h.opts.unique.(*aCustom).opts.b, true)
	ok("mutable", "{int=22;bool=false}")
	check(t, h.opts.unique.(*aCustom).opts, aOptions{22, false})

	cfg.MutableOptionsOnly = false
	ok("immutable", "{id=B;}")
	cfg.MutableOptionsOnly = true
	s, err = GetOptionString(cfg, h.OptionSets())
	noError(t, err)
	noError(t, ConfigureObjectFromString(cfg, h2, s))
	same, _ = equivalent()
	check(t, same, true)
	cfg.MutableOptionsOnly = false
	same, m := equivalent()
	check(t, same, false)
	check(t, m, "immutable")
}

func TestCustomizableTest_CustomManagedObjects(t *testing.T) {
	cfg := customConfig()
	r := cfg.Registry.(*registry.Registry)
	load := func(value string) *aCustom {
		t.Helper()
		id, props := optionsMap(value, "")
		o, _, err := registry.GetOrCreateManagedObject(r, cfg, kindCustom, id, func(o *aCustom) error {
			return ConfigureObject(cfg, o, props)
		})
		noError(t, err)
		return o
	}
	a := load("id=A_1;int=1;bool=true")
	check(t, load("A_1"), a)
	check(t, a.opts, aOptions{1, true})
	check(t, load("A_2") != a, true)
}

func TestConfigOptionsTest_EnvFromConfigOptions(t *testing.T) {
	cfg := testConfig()
	made := &rocksdb.EnvWrapper{Env: env.Default()}
	cfg.Registry.(*registry.Registry).AddNewLibrary("custom-env").AddFactory(registry.KindEnv, "Custom",
		func(*rocksdb.ConfigOptions, string) (any, error) { return made, nil })
	cfg.Env = &rocksdb.EnvWrapper{Env: env.Default()}
	def, whole := rocksdb.DefaultDBOptions(), rocksdb.DefaultOptions()
	db, err := GetDBOptionsFromString(cfg, &def, "env=Custom")
	noError(t, err)
	o, err := GetOptionsFromString(cfg, &whole, "env=Custom")
	noError(t, err)
	check(t, db.Env, rocksdb.Env(made))
	check(t, o.Env, db.Env)
	for _, ignore := range []bool{true, false} {
		cfg.IgnoreUnsupportedOptions = ignore
		n, err := GetDBOptionsFromString(cfg, &db, "env=unknown")
		check(t, err == nil, ignore)
		check(t, n.Env, rocksdb.Env(made))
	}
}

func TestLoadCustomizableTest_LoadChecksumGenFactoryTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultDBOptions()
	_, err := CreateFromString[rocksdb.FileChecksumGenFactory](cfg, registry.KindFileChecksumGenFactory, "Mock")
	wantError(t, err)
	f, err := CreateFromString[rocksdb.FileChecksumGenFactory](cfg, registry.KindFileChecksumGenFactory, "")
	noError(t, err)
	if f != nil {
		t.Error("a factory of nothing")
	}
	db, err := GetDBOptionsFromString(cfg, &def, "file_checksum_gen_factory="+util.FileChecksumGenCrc32cFactoryName)
	noError(t, err)
	check(t, db.FileChecksumGenFactory.Name(), util.FileChecksumGenCrc32cFactoryName)
	cfg.Registry.(*registry.Registry).AddNewLibrary("mock").AddFactory(registry.KindFileChecksumGenFactory, "Mock",
		func(*rocksdb.ConfigOptions, string) (any, error) { return mockChecksum{}, nil })
	db, err = GetDBOptionsFromString(cfg, &def, "file_checksum_gen_factory=Mock")
	noError(t, err)
	check(t, db.FileChecksumGenFactory.Name(), "Mock")
}

func TestLoadCustomizableTest_LoadComparatorTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultColumnFamilyOptions()
	for _, c := range []rocksdb.Comparator{util.BytewiseComparator(), util.ReverseBytewiseComparator(),
		util.BytewiseComparatorWithU64Ts(), util.ReverseBytewiseComparatorWithU64Ts()} {
		got, err := GetColumnFamilyOptionsFromString(cfg, &def, "comparator="+c.Name())
		noError(t, err)
		check(t, got.Comparator, c)
	}
	_, err := CreateFromString[rocksdb.Comparator](cfg, registry.KindComparator, "Simple")
	wantError(t, err)
	cfg.Registry.(*registry.Registry).AddNewLibrary("simple").AddFactory(registry.KindComparator, "Simple",
		func(*rocksdb.ConfigOptions, string) (any, error) { return &comparator{name: "Simple"}, nil })
	c, err := CreateFromString[rocksdb.Comparator](cfg, registry.KindComparator, "Simple")
	noError(t, err)
	check(t, c.Name(), "Simple")
}

func TestLoadCustomizableTest_LoadSliceTransformFactoryTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultColumnFamilyOptions()
	_, err := CreateFromString[rocksdb.SliceTransform](cfg, registry.KindSliceTransform, "Mock")
	wantError(t, err)
	for id, want := range map[string]string{"fixed:16": "rocksdb.FixedPrefix.16", "capped:16": "rocksdb.CappedPrefix.16",
		"rocksdb.FixedPrefix.16": "rocksdb.FixedPrefix.16", "rocksdb.CappedPrefix.16": "rocksdb.CappedPrefix.16", "rocksdb.Noop": "rocksdb.Noop"} {
		cf, err := GetColumnFamilyOptionsFromString(cfg, &def, "prefix_extractor="+id)
		noError(t, err)
		check(t, cf.PrefixExtractor.AsString(), want)
	}
}

func TestLoadCustomizableTest_LoadTablePropertiesCollectorFactoryTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	_, err := CreateFromString[rocksdb.TablePropertiesCollectorFactory](cfg, registry.KindTablePropertiesCollectorFactory, "TestCollector")
	wantError(t, err)
	cfg.Registry.(*registry.Registry).AddNewLibrary("collector").AddFactory(registry.KindTablePropertiesCollectorFactory, "TestCollector",
		func(*rocksdb.ConfigOptions, string) (any, error) { return &collectorFactory{"x"}, nil })
	f, err := CreateFromString[rocksdb.TablePropertiesCollectorFactory](cfg, registry.KindTablePropertiesCollectorFactory, "TestCollector")
	noError(t, err)
	check(t, f.Name(), "TestCollector")
}

func TestLoadCustomizableTest_LoadEventListenerTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	_, err := CreateFromString[rocksdb.EventListener](cfg, registry.KindEventListener, "Mock")
	wantError(t, err)
	cfg.Registry.(*registry.Registry).AddNewLibrary("mock").AddFactory(registry.KindEventListener, "Mock",
		func(*rocksdb.ConfigOptions, string) (any, error) { return &listener{name: "Mock"}, nil })
	l, err := CreateFromString[rocksdb.EventListener](cfg, registry.KindEventListener, "Mock")
	noError(t, err)
	check(t, l.Name(), "Mock")
}

// wrapper1 and wrapper2 wrap another plug-in.
type wrapper1 struct{ inner rocksdb.Customizable }

func (w *wrapper1) Name() string                { return "Wrapped1" }
func (w *wrapper1) Inner() rocksdb.Customizable { return w.inner }

type wrapper2 struct{ inner rocksdb.Customizable }

func (w *wrapper2) Name() string                { return "Wrapped2" }
func (w *wrapper2) Inner() rocksdb.Customizable { return w.inner }

func wantCast[T comparable](t *testing.T, c rocksdb.Customizable, want T, wantOK bool) {
	t.Helper()
	got, ok := rocksdb.CheckedCast[T](c)
	check(t, ok, wantOK)
	check(t, got, want)
}

func TestCustomizableTest_WrappedInnerTest(t *testing.T) {
	a := &plainCustom{"A"}
	check(t, rocksdb.IsInstanceOf(a, "A"), true)
	wantCast(t, a, a, true)
	wantCast[*wrapper1](t, a, nil, false)
	w1 := &wrapper1{a}
	check(t, rocksdb.IsInstanceOf(w1, "Wrapped1"), true)
	wantCast(t, w1, w1, true)
	wantCast[*wrapper2](t, w1, nil, false)
	wantCast(t, w1, a, true)
	w2 := &wrapper2{w1}
	wantCast(t, w2, w2, true)
	wantCast(t, w2, w1, true)
	wantCast(t, w2, a, true)
	wantCast[*wrapper2](t, &wrapper1{}, nil, false)
}

// changlingFilter and changlingFilterFactory are known to tests only.
type changlingFilter struct{ rocksdb.CompactionFilter }

func (changlingFilter) Name() string { return "Changling" }

type changlingFilterFactory struct {
	rocksdb.CompactionFilterFactory
}

func (changlingFilterFactory) Name() string { return "Changling" }

func TestLoadCustomizableTest_LoadCompactionFilterTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultColumnFamilyOptions()
	_, err := GetColumnFamilyOptionsFromString(cfg, &def, "compaction_filter=Changling")
	wantError(t, err)
	cfg.Registry.(*registry.Registry).AddNewLibrary("changling").AddFactory(registry.KindCompactionFilter, "Changling",
		func(*rocksdb.ConfigOptions, string) (any, error) { return changlingFilter{}, nil })
	cf, err := GetColumnFamilyOptionsFromString(cfg, &def, "compaction_filter=Changling")
	noError(t, err)
	check(t, cf.CompactionFilter.Name(), "Changling")
}

func TestLoadCustomizableTest_LoadCompactionFilterFactoryTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultColumnFamilyOptions()
	_, err := GetColumnFamilyOptionsFromString(cfg, &def, "compaction_filter_factory=Changling")
	wantError(t, err)
	cfg.Registry.(*registry.Registry).AddNewLibrary("changling").AddFactory(registry.KindCompactionFilterFactory, "Changling",
		func(*rocksdb.ConfigOptions, string) (any, error) { return changlingFilterFactory{}, nil })
	cf, err := GetColumnFamilyOptionsFromString(cfg, &def, "compaction_filter_factory=Changling")
	noError(t, err)
	check(t, cf.CompactionFilterFactory.Name(), "Changling")
}

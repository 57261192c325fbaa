// Port of options/options_test.cc: single options. Differs: an option is a row
// with a codec; its address is the value itself.

package options

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// valueRow is a row whose struct is the value.
func valueRow(flags Flags, v Verification, c Codec) *Row {
	return &Row{Name: "v", Field: func(base any) any { return base }, Flags: flags, Verification: v, Codec: c}
}

// compareOption writes base, reads it into other, and compares.
func compareOption(t *testing.T, r *Row, name string, base, other any, strip bool) {
	t.Helper()
	cfg := testConfig()
	s, err := r.Serialize(cfg, name, base)
	noError(t, err)
	if strip {
		if s[0] != '{' || s[len(s)-1] != '}' {
			t.Fatalf("no braces around %s", s)
		}
		s = s[1 : len(s)-1]
	}
	noError(t, r.Parse(cfg, name, s, other))
	if ok, m := r.AreEqual(cfg, name, base, other); !ok {
		t.Errorf("differs in %s after %s", m, s)
	}
}

func parseAndCompare(t *testing.T, r *Row, name, value string, base, other any, strip bool) {
	t.Helper()
	noError(t, r.Parse(testConfig(), name, value, base))
	compareOption(t, r, name, base, other, strip)
}

func basicType[T comparable](t *testing.T, a, b T) {
	t.Helper()
	r := valueRow(0, Normal, nil)
	if ok, m := r.AreEqual(testConfig(), "base", &a, &b); ok || m != "base" {
		t.Errorf("equal %v, mismatch %q", ok, m)
	}
	compareOption(t, r, "base", &a, &b, false)
	check(t, a, b)
}

func TestOptionTypeInfoTest_BasicTypes(t *testing.T) {
	basicType(t, true, false)
	basicType(t, 100, 200)
	basicType[int64](t, 100, 200)
	basicType[uint8](t, 100, 200)
	basicType[uint32](t, 100, 200)
	basicType[uint64](t, 100, 200)
	basicType(t, "100", "200")
	basicType(t, 1.0, 2.0)
}

func TestOptionTypeInfoTest_TestInvalidArgs(t *testing.T) {
	r := valueRow(0, Normal, nil)
	for _, addr := range []any{new(bool), new(int), new(int64), new(uint8), new(uint32), new(uint64), new(float64), new(struct{})} {
		if err := r.Parse(testConfig(), "b", "x", addr); err == nil {
			t.Errorf("%T took x", addr)
		}
	}
	wantInvalid(t, r.Parse(testConfig(), "b", "5000000000", new(uint32)))
	wantInvalid(t, r.Parse(testConfig(), "b", "3000000000", new(int)))
	wantInvalid(t, r.Parse(testConfig(), "b", "256", new(uint8)))
}

// funcCodec is a codec made of functions.
type funcCodec struct {
	parse     func(name, value string, addr any) error
	serialize func(name string) (string, error)
	equal     func(name string, a, b any) (bool, string)
}

func (c funcCodec) Parse(_ *rocksdb.ConfigOptions, name, value string, addr any) error {
	return c.parse(name, value, addr)
}
func (c funcCodec) Serialize(_ *rocksdb.ConfigOptions, name string, _ any) (string, error) {
	return c.serialize(name)
}
func (c funcCodec) Equal(_ *rocksdb.ConfigOptions, name string, a, b any) (bool, string) {
	return c.equal(name, a, b)
}

func TestOptionTypeInfoTest_TestParseFunc(t *testing.T) {
	r := valueRow(0, Normal, funcCodec{parse: func(name, value string, addr any) error {
		if name == "Oops" {
			return rocksdb.InvalidArgument(value)
		}
		*addr.(*string) = value + " " + name
		return nil
	}})
	var base string
	noError(t, r.Parse(testConfig(), "World", "Hello", &base))
	check(t, base, "Hello World")
	wantInvalid(t, r.Parse(testConfig(), "Oops", "Hello", &base))
}

func TestOptionTypeInfoTest_TestSerializeFunc(t *testing.T) {
	r := valueRow(0, Normal, funcCodec{serialize: func(name string) (string, error) {
		if name == "Oops" {
			return "", rocksdb.InvalidArgument(name)
		}
		return name, nil
	}})
	v, err := r.Serialize(testConfig(), "Hello", new(string))
	noError(t, err)
	check(t, v, "Hello")
	_, err = r.Serialize(testConfig(), "Oops", new(string))
	wantInvalid(t, err)
}

func TestOptionTypeInfoTest_TestEqualsFunc(t *testing.T) {
	r := valueRow(0, Normal, funcCodec{equal: func(name string, a, b any) (bool, string) {
		x, y := *a.(*int), *b.(*int)
		switch name {
		case "LT":
			return x < y, ""
		case "GT":
			return x > y, ""
		case "EQ":
			return x == y, ""
		}
		return false, name + "???"
	}})
	a, b := 100, 200
	for name, want := range map[string]string{"LT": "", "GT": "GT", "EQ": "EQ", "NO": "NO???"} {
		ok, m := r.AreEqual(testConfig(), name, &a, &b)
		check(t, ok, want == "")
		check(t, m, want)
	}
}

func TestOptionTypeInfoTest_TestOptionFlags(t *testing.T) {
	cfg := testConfig()
	none, never := valueRow(DontSerialize, Normal, nil), valueRow(CompareNever, Normal, nil)
	alias, deprecated := valueRow(0, Alias, nil), valueRow(0, Deprecated, nil)
	base, comp := "base", "comp"
	_, err := none.Serialize(cfg, "None", &base)
	wantError(t, err)
	ok, _ := never.AreEqual(cfg, "Never", &base, &comp)
	check(t, ok, true)
	ok, _ = none.AreEqual(cfg, "Never", &base, &comp)
	check(t, ok, false)

	noError(t, alias.Parse(cfg, "Alias", "Alias", &base))
	s, err := alias.Serialize(cfg, "Alias", &base)
	noError(t, err)
	check(t, s, "Alias")
	ok, _ = alias.AreEqual(cfg, "Alias", &base, &comp)
	check(t, ok, true)
	check(t, base, "Alias")

	noError(t, deprecated.Parse(cfg, "Alias", "Deprecated", &base))
	s, err = deprecated.Serialize(cfg, "Alias", &base)
	noError(t, err)
	check(t, s, "")
	ok, _ = deprecated.AreEqual(cfg, "Alias", &base, &comp)
	check(t, ok, true)
	check(t, base, "Alias")
}

type testEnum int

const (
	enumA testEnum = iota
	enumB
	enumC
)

func TestOptionTypeInfoTest_TestCustomEnum(t *testing.T) {
	cfg := testConfig()
	r := valueRow(0, Normal, EnumCodec(map[string]testEnum{"A": enumA, "B": enumB, "C": enumC}))
	var e1 testEnum
	e2 := enumA
	noError(t, r.Parse(cfg, "", "B", &e1))
	s, err := r.Serialize(cfg, "", &e1)
	noError(t, err)
	check(t, e1, enumB)
	check(t, s, "B")
	ok, m := r.AreEqual(cfg, "Enum", &e1, &e2)
	check(t, ok, false)
	check(t, m, "Enum")
	parseAndCompare(t, r, "", "C", &e1, &e2, false)
	check(t, e2, enumC)
	wantError(t, r.Parse(cfg, "", "D", &e1))
	check(t, e1, enumC)
}

func builtinEnum[T comparable](t *testing.T, names enumTable[T]) {
	t.Helper()
	r := valueRow(0, Normal, nil)
	for _, n := range names {
		var a, b T
		parseAndCompare(t, r, "e", n.name, &a, &b, false)
		check(t, a, n.value)
	}
}

func TestOptionTypeInfoTest_TestBuiltinEnum(t *testing.T) {
	builtinEnum(t, compactionStyles)
	builtinEnum(t, compactionPris)
	builtinEnum(t, compressionTypes)
	builtinEnum(t, compactionStopStyles)
	builtinEnum(t, checksumTypes)
	builtinEnum(t, encodingTypes)
	builtinEnum(t, temperatures)
	builtinEnum(t, walRecoveryModes)
	check(t, len(compressionTypes), 9+127)
}

type basicOptions struct {
	i int
	s string
}

type extendedOptions struct {
	j int
	b basicOptions
}

func TestOptionTypeInfoTest_TestStruct(t *testing.T) {
	cfg := testConfig()
	basic := NewTable[basicOptions]("Basic",
		F("i", func(o *basicOptions) any { return &o.i }, 0), F("s", func(o *basicOptions) any { return &o.s }, 0))
	extended := NewTable[extendedOptions]("Extended",
		F("j", func(o *extendedOptions) any { return &o.j }, 0),
		F("b", func(o *extendedOptions) any { return &o.b }, 0).With(Normal, StructCodec("b", basic)),
		F("m", func(o *extendedOptions) any { return &o.b }, Mutable).With(Normal, StructCodec("m", basic)))
	rb, re := valueRow(Mutable, Normal, StructCodec("b", basic)), valueRow(Mutable, Normal, StructCodec("e", extended))
	e1 := extendedOptions{j: 11, b: basicOptions{42, "Hello"}}
	e2 := e1
	parseAndCompare(t, rb, "b", "{i=33;s=33}", &e1.b, &e2.b, false)
	check(t, e1.b, basicOptions{33, "33"})
	parseAndCompare(t, rb, "b.i", "44", &e1.b, &e2.b, false)
	check(t, e1.b.i, 44)
	parseAndCompare(t, rb, "i", "55", &e1.b, &e2.b, false)
	check(t, e1.b.i, 55)
	e1.b.i = 0
	for _, name := range []string{"b", "b.i", "i"} {
		ok, m := rb.AreEqual(cfg, name, &e1.b, &e2.b)
		check(t, ok, false)
		check(t, m, "b.i")
	}
	e1 = e2
	wantError(t, rb.Parse(cfg, "b", "{i=33;s=33;j=44}", &e1.b))
	wantError(t, rb.Parse(cfg, "b.j", "44", &e1.b))
	wantError(t, rb.Parse(cfg, "j", "44", &e1.b))

	parseAndCompare(t, re, "e", "b={i=55;s=55}; j=22;", &e1, &e2, false)
	check(t, e1, extendedOptions{22, basicOptions{55, "55"}})
	parseAndCompare(t, re, "e.b", "{i=66;s=66;}", &e1, &e2, false)
	check(t, e1, extendedOptions{22, basicOptions{66, "66"}})
	parseAndCompare(t, re, "e.b.i", "77", &e1, &e2, false)
	check(t, e1, extendedOptions{22, basicOptions{77, "66"}})
}

func TestOptionTypeInfoTest_TestVectorType(t *testing.T) {
	colon, bar := valueRow(0, Normal, VectorCodec[string](nil, ':')), valueRow(0, Normal, VectorCodec[string](nil, '|'))
	var a, b []string
	want := func(items ...string) {
		t.Helper()
		if len(a) != len(items) {
			t.Fatalf("got %q, want %q", a, items)
		}
		for i := range items {
			check(t, a[i], items[i])
		}
	}
	parseAndCompare(t, colon, "v", "a:b:c:d", &a, &b, false)
	want("a", "b", "c", "d")
	a[3] = "e"
	ok, m := colon.AreEqual(testConfig(), "v", &a, &b)
	check(t, ok, false)
	check(t, m, "v")
	parseAndCompare(t, colon, "v", "a:{b}:c:d", &a, &b, false)
	want("a", "b", "c", "d")
	parseAndCompare(t, colon, "v", "x|y|z", &a, &b, false)
	want("x|y|z")
	parseAndCompare(t, bar, "v", "a|{b1|b2}|{c1|c2|{d1|d2}}", &a, &b, false)
	want("a", "b1|b2", "c1|c2|{d1|d2}")
	parseAndCompare(t, bar, "v", "{a1|a2}|{b1|{c1|c2}}|d1", &a, &b, true)
	want("a1|a2", "b1|{c1|c2}", "d1")
	parseAndCompare(t, bar, "v", "{a1}", &a, &b, false)
	want("a1")
	parseAndCompare(t, bar, "v", "{a1|a2}|{b1|b2}", &a, &b, true)
	want("a1|a2", "b1|b2")
}

func TestOptionTypeInfoTest_TestStaticType(t *testing.T) {
	type simple struct {
		size   uint64
		verify bool
	}
	table := NewTable[simple]("Simple",
		F("size", func(o *simple) any { return &o.size }, 0), F("verify", func(o *simple) any { return &o.verify }, 0))
	cfg := testConfig()
	o, c := simple{12345, false}, simple{0, true}
	s, err := GetOptionString(cfg, []OptionSet{{table, &o}})
	noError(t, err)
	ok, _ := tablesEqual(cfg, table, &o, &c, rowEqualOrByName)
	check(t, ok, false)
	noError(t, ConfigureFromMap(cfg, mustMap(t, s), []OptionSet{{table, &c}}, nil))
	ok, _ = tablesEqual(cfg, table, &o, &c, rowEqualOrByName)
	check(t, ok, true)
}

func mustMap(t *testing.T, s string) map[string]string {
	t.Helper()
	m, err := StringToMap(s)
	noError(t, err)
	return m
}

func TestOffpeakTimes(t *testing.T) {
	at := func(h, m, s int64) int64 { return 100*secondsPerDay + h*3600 + m*60 + s }
	for _, c := range []struct {
		text  string
		now   int64
		want  bool
		until int
	}{
		{"", at(12, 0, 0), false, 0},
		{"06:30-23:30", at(6, 29, 59), false, 1},
		{"06:30-23:30", at(6, 30, 0), true, secondsPerDay},
		{"06:30-23:30", at(23, 30, 59), true, secondsPerDay - 17*3600 - 59},
		{"06:30-23:30", at(23, 31, 0), false, secondsPerDay - 17*3600 - 60},
		{"23:30-04:00", at(23, 30, 0), true, secondsPerDay},
		{"23:30-04:00", at(4, 0, 30), true, 19*3600 + 1800 - 30},
		{"23:30-04:00", at(4, 1, 0), false, 19*3600 + 1800 - 60},
	} {
		o := NewOffpeakTimeOption(c.text)
		check(t, o.GetOffpeakTimeInfo(c.now), OffpeakTimeInfo{c.want, c.until})
	}
	o := NewOffpeakTimeOption("06:30-23:30")
	o.SetFromOffpeakTimeString("nonsense")
	check(t, o.DailyOffpeakTimeUTC, "06:30-23:30")
	_, _, ok := util.TryParseTimeRangeString("nonsense")
	check(t, ok, false)
}

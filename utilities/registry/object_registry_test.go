// Port of utilities/object_registry_test.cc. Differs: objects are plain structs;
// ownership (static, unique, shared) is not the registry's in Go.

package registry

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const kindTest = "Test"

// object is a plug-in whose name is its ID up to '@'.
type object struct{ id string }

func (o *object) Name() string { return o.id[:strings.IndexByte(o.id+"@", '@')] }

func makeObject(_ *rocksdb.ConfigOptions, id string) (any, error) { return &object{id}, nil }

func config(r *Registry) *rocksdb.ConfigOptions {
	c := rocksdb.DefaultConfigOptions()
	c.Registry = r
	return &c
}

func wantObject(t *testing.T, r *Registry, id string) {
	t.Helper()
	o, err := NewObject[*object](config(r), kindTest, id)
	if err != nil || o.id != id {
		t.Errorf("%s: got %v, %v", id, o, err)
	}
}

func wantCode(t *testing.T, r *Registry, id string, code rocksdb.Code) {
	t.Helper()
	if _, err := NewObject[*object](config(r), kindTest, id); rocksdb.CodeOf(err) != code {
		t.Errorf("%s: got %v, want code %d", id, err, code)
	}
}

func TestObjRegistryTest_Basics(t *testing.T) {
	counts := map[string]int{}
	r := New(New(nil))
	l := r.parent.AddNewLibrary("default")
	for _, name := range []string{"a", "b"} {
		l.AddPattern(kindTest, NewPatternEntry(name).SetOptional(false).AddSeparator("://", true),
			func(c *rocksdb.ConfigOptions, id string) (any, error) {
				counts[name]++
				return makeObject(c, id)
			})
	}
	wantCode(t, r, "c://test", rocksdb.CodeNotSupported)
	wantObject(t, r, "a://test")
	if counts["a"] != 1 || counts["b"] != 0 {
		t.Errorf("made %v", counts)
	}
	wantObject(t, r, "b://test")
	if counts["a"] != 1 || counts["b"] != 1 {
		t.Errorf("made %v", counts)
	}
	if _, err := NewObject[rocksdb.Comparator](config(r), kindTest, "a://test"); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Errorf("an object of the wrong kind: %v", err)
	}
}

func TestObjRegistryTest_LocalRegistry(t *testing.T) {
	global := New(nil)
	global.AddNewLibrary("default").AddFactory(kindTest, "test-global", makeObject)
	local := New(global)
	local.AddNewLibrary("local").AddFactory(kindTest, "test-local", makeObject)
	wantCode(t, New(global), "test-local", rocksdb.CodeNotSupported)
	wantObject(t, New(global), "test-global")
	wantObject(t, local, "test-local")
	wantObject(t, local, "test-global")
}

func TestObjRegistryTest_FailingFactory(t *testing.T) {
	r := NewInstance()
	l := r.AddNewLibrary("failing")
	l.AddFactory(kindTest, "failing", func(*rocksdb.ConfigOptions, string) (any, error) {
		return nil, rocksdb.InvalidArgument("Bad Factory")
	})
	l.AddFactory(kindTest, "nothing", func(*rocksdb.ConfigOptions, string) (any, error) { return nil, nil })
	wantCode(t, r, "failing", rocksdb.CodeInvalidArgument)
	wantCode(t, r, "nothing", rocksdb.CodeInvalidArgument)
	wantCode(t, r, "missing", rocksdb.CodeNotSupported)
}

func TestObjRegistryTest_TestRegistryParents(t *testing.T) {
	grand := New(nil)
	grand.AddNewLibrary("default").AddFactory(kindTest, "a", makeObject)
	parent, uncle := New(grand), New(grand)
	child, cousin := New(parent), New(uncle)
	parent.AddNewLibrary("parent").AddFactory(kindTest, "parent", makeObject)
	cousin.AddNewLibrary("cousin").AddFactory(kindTest, "cousin", makeObject)
	for _, r := range []*Registry{parent, child, uncle, cousin} {
		wantObject(t, r, "a")
	}
	wantObject(t, parent, "parent")
	wantObject(t, child, "parent")
	wantCode(t, uncle, "parent", rocksdb.CodeNotSupported)
	wantCode(t, cousin, "parent", rocksdb.CodeNotSupported)
	wantObject(t, cousin, "cousin")
	for _, r := range []*Registry{parent, child, uncle} {
		wantCode(t, r, "cousin", rocksdb.CodeNotSupported)
	}
}

func TestObjRegistryTest_TestFactoryCount(t *testing.T) {
	grand, local := Default(), NewInstance()
	if !slices.Equal(grand.GetFactoryTypes(), local.GetFactoryTypes()) {
		t.Errorf("kinds %v and %v", grand.GetFactoryTypes(), local.GetFactoryTypes())
	}
	n := grand.GetFactoryCount(KindComparator)
	if n == 0 || local.GetFactoryCount(KindComparator) != n ||
		!slices.Equal(grand.GetFactoryNames(KindComparator), local.GetFactoryNames(KindComparator)) {
		t.Errorf("%d comparators", n)
	}
	l := local.AddNewLibrary("local")
	l.AddFactory(KindComparator, "A", makeObject)
	if local.GetFactoryCount(KindComparator) != n+1 || grand.GetFactoryCount(KindComparator) != n ||
		len(local.GetFactoryNames(KindComparator)) != n+1 {
		t.Errorf("%d comparators after one more", local.GetFactoryCount(KindComparator))
	}
	l.AddFactory(kindTest, "MY", makeObject)
	if grand.GetFactoryCount(kindTest) != 0 || !slices.Equal(local.GetFactoryNames(kindTest), []string{"MY"}) {
		t.Errorf("names %v", local.GetFactoryNames(kindTest))
	}
	if len(local.GetFactoryTypes()) != len(grand.GetFactoryTypes())+1 {
		t.Errorf("kinds %v", local.GetFactoryTypes())
	}
	l.AddFactory(kindTest, "MY", makeObject)
	if len(local.GetFactoryNames(kindTest)) != 2 {
		t.Errorf("names %v", local.GetFactoryNames(kindTest))
	}
	if f, k := l.GetTotalFactoryCount(); f != 3 || k != 2 {
		t.Errorf("%d factories of %d kinds", f, k)
	}
}

// collect lets unreferenced objects go.
func collect() {
	runtime.GC()
	runtime.GC()
}

func wantManaged(t *testing.T, r *Registry, id string, want *object) {
	t.Helper()
	if got := GetManagedObject[object](r, kindTest, id); got != want {
		t.Errorf("%s: got %p, want %p", id, got, want)
	}
}

func wantSet(t *testing.T, r *Registry, id string, o *object, ok bool) {
	t.Helper()
	if err := SetManagedObject(r, kindTest, id, o); (err == nil) != ok {
		t.Errorf("%s: %v", id, err)
	}
}

func TestObjRegistryTest_TestManagedObjects(t *testing.T) {
	r := NewInstance()
	a1, a2 := &object{"A"}, &object{"A"}
	wantManaged(t, r, "A", nil)
	wantSet(t, r, "A", a1, true)
	wantManaged(t, r, "A", a1)
	wantSet(t, r, "A", a2, false)
	wantSet(t, r, "A", a1, true)
	runtime.KeepAlive(a1)
	a1 = nil
	collect()
	wantManaged(t, r, "A", nil)
	wantSet(t, r, "A", a2, true)
	wantManaged(t, r, "A", a2)
}

func wantList(t *testing.T, r *Registry, name string, want ...*object) {
	t.Helper()
	if got := ListManagedObjects[object](r, kindTest, name); !slices.Equal(got, want) {
		t.Errorf("%q: got %v, want %v", name, got, want)
	}
}

func TestObjRegistryTest_TestTwoManagedObjects(t *testing.T) {
	r := NewInstance()
	a, b := &object{"A"}, &object{"B"}
	wantList(t, r, "")
	wantSet(t, r, "A", a, true)
	wantManaged(t, r, "B", nil)
	wantList(t, r, "", a)
	wantSet(t, r, "B", b, true)
	wantManaged(t, r, "A", a)
	wantManaged(t, r, "B", b)
	wantList(t, r, "", a, b)
	wantList(t, r, "A", a)
	wantList(t, r, "B", b)
	wantList(t, r, "C")
	runtime.KeepAlive(a)
	a = nil
	collect()
	wantManaged(t, r, "A", nil)
	wantManaged(t, r, "B", b)
	wantList(t, r, "", b)
	runtime.KeepAlive(b)
	b = nil
	collect()
	wantManaged(t, r, "B", nil)
}

func TestObjRegistryTest_TestAlternateNames(t *testing.T) {
	r := NewInstance()
	a, b := &object{"A"}, &object{"B"}
	wantSet(t, r, "TheOne", a, true)
	wantManaged(t, r, "A", nil)
	wantManaged(t, r, "TheOne", a)
	wantList(t, r, "", a)
	wantSet(t, r, "TheOne", b, false)
	wantSet(t, r, "TheOne", a, true)
	wantSet(t, r, "A", a, true)
	wantManaged(t, r, "A", a)
	wantManaged(t, r, "TheOne", a)
	wantList(t, r, "", a, a)
	runtime.KeepAlive(a)
	a = nil
	collect()
	wantManaged(t, r, "TheOne", nil)
	wantSet(t, r, "TheOne", b, true)
	wantManaged(t, r, "TheOne", b)
	wantList(t, r, "", b)
	runtime.KeepAlive(b)
	b = nil
	collect()
	wantManaged(t, r, "A", nil)
	wantManaged(t, r, "TheOne", nil)
	wantList(t, r, "")
}

func TestObjRegistryTest_TestTwoManagedClasses(t *testing.T) {
	r := NewInstance()
	a1, a2 := &object{"A"}, &object{"A"}
	second := func() *object { return GetManagedObject[object](r, "Test2", "A") }
	wantSet(t, r, "A", a1, true)
	if second() != nil {
		t.Error("found under another kind")
	}
	if err := SetManagedObject(r, "Test2", "A", a2); err != nil {
		t.Error(err)
	}
	wantManaged(t, r, "A", a1)
	if second() != a2 {
		t.Error("not found under its kind")
	}
	wantList(t, r, "", a1)
	runtime.KeepAlive(a1)
	a1 = nil
	collect()
	wantManaged(t, r, "A", nil)
	if second() != a2 {
		t.Error("gone with the other")
	}
}

func TestObjRegistryTest_TestManagedObjectsWithParent(t *testing.T) {
	base := NewInstance()
	r := New(base)
	a, b := &object{"A"}, &object{"A"}
	wantManaged(t, r, "A", nil)
	wantSet(t, base, "A", a, true)
	wantManaged(t, r, "A", a)
	wantSet(t, r, "A", b, false)
	wantSet(t, r, "A", a, true)
	runtime.KeepAlive(a)
	a = nil
	collect()
	wantManaged(t, r, "A", nil)
	wantSet(t, r, "A", b, true)
	wantManaged(t, r, "A", b)
}

func TestObjRegistryTest_TestGetOrCreateManagedObject(t *testing.T) {
	r := NewInstance()
	r.AddNewLibrary("test").AddPattern(kindTest, AsIndividualID("MC"), makeObject)
	get := func(id string, wantCreated bool) *object {
		t.Helper()
		o, created, err := GetOrCreateManagedObject[object](r, config(r), kindTest, id, nil)
		if err != nil || created != wantCreated || o.id != id {
			t.Fatalf("%s: got %v, created %v, %v", id, o, created, err)
		}
		return o
	}
	wantManaged(t, r, "MC@A#1", nil)
	a, b := get("MC@A#1", true), get("MC@B#1", true)
	wantManaged(t, r, "MC@A#1", a)
	if get("MC@A#1", false) != a || get("MC@B#1", false) != b {
		t.Error("another object")
	}
	wantList(t, r, "", a, b)
	wantList(t, r, "MC", a, b)
	runtime.KeepAlive(a)
	a = nil
	collect()
	get("MC@A#1", true)
	if get("MC@B#1", false) != b {
		t.Error("another object")
	}
	_, _, err := GetOrCreateManagedObject(r, config(r), kindTest, "MC@C#1", func(*object) error { return rocksdb.Busy("no") })
	if rocksdb.CodeOf(err) != rocksdb.CodeBusy {
		t.Errorf("got %v", err)
	}
	wantManaged(t, r, "MC@C#1", nil)
}

func TestObjRegistryTest_RegisterPlugin(t *testing.T) {
	r := NewInstance()
	register := func(l *Library, name string) int {
		l.AddFactory(kindTest, "unguarded", makeObject)
		return 1
	}
	wantCode(t, r, "unguarded", rocksdb.CodeNotSupported)
	if n := r.RegisterPlugin("Missing", nil); n != -1 {
		t.Errorf("got %d", n)
	}
	if n := r.RegisterPlugin("", register); n != -1 {
		t.Errorf("got %d", n)
	}
	if n := r.RegisterPlugin("Valid", register); n <= 0 {
		t.Errorf("got %d", n)
	}
	wantObject(t, r, "unguarded")
}

// matches checks an entry against names that match and names that do not.
func matches(t *testing.T, p *PatternEntry, yes, no string) {
	t.Helper()
	for _, s := range strings.Fields(yes) {
		if !p.Matches(s) {
			t.Errorf("%s does not match", s)
		}
	}
	for _, s := range strings.Fields(no) {
		if p.Matches(s) {
			t.Errorf("%s matches", s)
		}
	}
}

func TestPatternEntryTest_TestSimpleEntry(t *testing.T) {
	matches(t, NewPatternEntry("ABC"), "ABC", "AABC ABCA AABCA AB BC ABD BCA")
}

func TestPatternEntryTest_TestPatternEntry(t *testing.T) {
	p := NewPatternEntry("A").SetOptional(false).AddSeparator(":", true)
	matches(t, p, "A:B A:BB", "A AA AB B A: AA: AA:B AA:BB")
	matches(t, p.SetOptional(true), "A A:B A:BB", "AA AB B A: AA: AA:B AA:BB")
}

func TestPatternEntryTest_MatchZeroOrMore(t *testing.T) {
	p := NewPatternEntry("A").SetOptional(false).AddSeparator(":", false)
	matches(t, p, "A: A:B A:BB", "A AA AB B B: B:A AA: AA:B AA:BB")
	matches(t, p.SetOptional(true), "A A: A:B A:BB", "AA AB B B: B:A AA: AA:B AA:BB")
}

func TestPatternEntryTest_TestSuffixEntry(t *testing.T) {
	matches(t, NewPatternEntry("AA").AddSuffix("BB"), "AA AABB", "A AB B BB ABA BBAA AABBA AABBB")
}

func TestPatternEntryTest_TestNumericEntry(t *testing.T) {
	p := NewPatternEntry("A").SetOptional(false).AddNumber(":", true)
	matches(t, p, "A:1 A:11", "A AA A: AA: AA:1 AA:11 A:B A:1B A:B1")
	matches(t, p.AddSeparator(":", false), "A:1: A:11:", "A AA A: AA: A:1 A:B1: A:1B: A::")
}

func TestPatternEntryTest_TestDoubleEntry(t *testing.T) {
	p := NewPatternEntry("A").SetOptional(false).AddNumber(":", false)
	matches(t, p, "A:1 A:11 A:1.1 A:11.11 A:1. A:.1 A:0.1 A:1.0",
		"A AA A: AA: AA:1 AA:11 A:B A:1B A:B1 A:1.0. A:1.0.2 A:.1.0 A:..10 A:10.. A:.")
	matches(t, p.AddSeparator(":", false), "A:11: A:1.1: A:11.11: A:1.: A:.1: A:0.1: A:1.0:",
		"A:1 A:1.0 A:1.0.: A:1.0.2: A:.1.0: A:..10: A:10..: A:.: A::")
}

func TestPatternEntryTest_TestIndividualIdEntry(t *testing.T) {
	matches(t, AsIndividualID("AA"), "AA AA@123#456 AA@deadbeef#id", "A AAA AA@123 AA@123# AA@#123")
}

func TestPatternEntryTest_TestTwoNameEntry(t *testing.T) {
	matches(t, NewPatternEntry("A").AnotherName("B"), "A B", "AA BB BA AB")
}

func TestPatternEntryTest_TestTwoPatternEntry(t *testing.T) {
	matches(t, NewPatternEntry("AA").SetOptional(false).AddSeparator(":", true).AddSeparator(":", true),
		"AA:1:2 AA:1:2:", "AA AA: AA:: AA::12")
	matches(t, NewPatternEntry("AA").SetOptional(false).AddSeparator("::", true).AddSeparator("##", true),
		"AA::1##2 AA::12##34: AA::12::34##56 AA::12##34::56",
		"AA AA: AA:: AA::# AA::## AA##1::2 AA::123##")
}

func TestPatternEntryTest_TestTwoNumbersEntry(t *testing.T) {
	matches(t, NewPatternEntry("AA").SetOptional(false).AddNumber(":", true).AddNumber(":", true),
		"AA:1:2 AA:12:23456", "AA AA: AA:: AA::12 AA:1:2:")
	matches(t, NewPatternEntry("AA").SetOptional(false).AddNumber(":", true).AddNumber("#", true),
		"AA:1#2", "AA AA: AA:# AA#: AA:123# AA:123#B AA:B#123 AA:123#23: AA::12#234")
}

func TestPatternEntryTest_TestPatternAndSuffix(t *testing.T) {
	matches(t, NewPatternEntry("AA").SetOptional(false).AddSeparator("::", true).AddSuffix("##"),
		"AA::1##", "AA AA:: AA::## AB::1## AB::1##2 AA##1:: AA::1###")
	matches(t, NewPatternEntry("AA").SetOptional(false).AddSuffix("::").AddSeparator("##", true),
		"AA::##12", "AA AA:: AA::## AB::1## AB::1##2")
}

func TestPatternEntryTest_TestTwoNamesAndPattern(t *testing.T) {
	p := NewPatternEntry("AA").AddSeparator("::", true).AnotherName("BBB")
	matches(t, p, "AA AA::1 BBB BBB::2", "AA:: AAA:: BBB::")
	matches(t, p.SetOptional(false), "AA::1 BBB::2", "AA BBB AA:: AAA:: BBB::")
}

// Port of utilities/util_merge_operators_test.cc. Differs: tests the other
// operators, too.

package mergeoperators

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func slices(list []string) (out [][]byte) {
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

// fullMerge merges on top of existing, nil for none; the output buffer has
// something in it from before.
func fullMerge(t *testing.T, m rocksdb.MergeOperator, existing []byte, operands ...string) string {
	t.Helper()
	in := &rocksdb.MergeOperationInput{Key: []byte("key"), ExistingValue: existing, Operands: slices(operands)}
	out := &rocksdb.MergeOperationOutput{NewValue: []byte("before")}
	if !m.FullMergeV2(in, out) {
		t.Fatalf("%s: merge of %q and %q failed", m.Name(), existing, operands)
	}
	if out.ExistingOperand != nil {
		return string(out.ExistingOperand)
	}
	return string(out.NewValue)
}

func partialMerge(t *testing.T, m rocksdb.MergeOperator, operands ...string) string {
	t.Helper()
	got, ok := m.PartialMergeMulti([]byte("key"), slices(operands), []byte("dst:"), nil)
	if !ok {
		t.Fatalf("%s: partial merge of %q failed", m.Name(), operands)
	}
	rest, found := strings.CutPrefix(string(got), "dst:")
	if !found {
		t.Fatalf("%s: partial merge wrote over what was there: %q", m.Name(), got)
	}
	return rest
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestUtilMergeOperatorTest_MaxMergeOperator(t *testing.T) {
	m := MaxOperator{}
	expect(t, fullMerge(t, m, []byte("B"), "A"), "B")
	expect(t, fullMerge(t, m, []byte("A"), "B"), "B")
	expect(t, fullMerge(t, m, nil, "", "", ""), "")
	expect(t, fullMerge(t, m, nil, "A"), "A")
	expect(t, fullMerge(t, m, nil, "ABC"), "ABC")
	expect(t, fullMerge(t, m, nil, "ABC", "Z", "C", "AXX"), "Z")
	expect(t, fullMerge(t, m, nil, "ABC", "CC", "Z", "ZZZ"), "ZZZ")
	expect(t, fullMerge(t, m, []byte("a"), "ABC", "CC", "Z", "ZZZ"), "a")
	expect(t, partialMerge(t, m, "a", "z", "efqfqwgwew", "aaz", "hhhhh"), "z")
	expect(t, partialMerge(t, m, "a", "b"), "b")
	expect(t, partialMerge(t, m, "z", "azzz"), "z")
	expect(t, partialMerge(t, m, "a", ""), "a")
}

func fixed(n uint64) string { return string(util.AppendFixed64(nil, n)) }

func TestUInt64AddOperator(t *testing.T) {
	m := UInt64AddOperator{}
	expect(t, fullMerge(t, m, nil, fixed(5)), fixed(5))
	expect(t, fullMerge(t, m, []byte(fixed(1)), fixed(2), fixed(3)), fixed(6))
	expect(t, fullMerge(t, m, []byte("short"), fixed(2)), fixed(2))
	expect(t, fullMerge(t, m, nil, "", fixed(2), "too long to be one"), fixed(2))
	expect(t, fullMerge(t, m, nil, fixed(1<<63), fixed(1<<63), fixed(1)), fixed(1))
	expect(t, partialMerge(t, m, fixed(2), fixed(3)), fixed(5))
}

func TestPutOperators(t *testing.T) {
	for _, m := range []rocksdb.MergeOperator{PutOperator{}, PutOperatorV2{}} {
		expect(t, fullMerge(t, m, []byte("a"), "b", "c"), "c")
		expect(t, fullMerge(t, m, nil, "b", ""), "")
		expect(t, partialMerge(t, m, "x", "y"), "y")
	}
}

func TestBytesXOROperator(t *testing.T) {
	m := BytesXOROperator{}
	expect(t, fullMerge(t, m, nil, "\x01\x02"), "\x01\x02")
	expect(t, fullMerge(t, m, []byte("\x01\x02\x03"), "\x01", "\x00\x02"), "\x00\x00\x03")
	expect(t, fullMerge(t, m, []byte("\x01"), "\x01\x02"), "\x00\x02")
	expect(t, partialMerge(t, m, "\x0f", "\xf0\x01"), "\xff\x01")
}

func TestSortList(t *testing.T) {
	m := SortList{}
	expect(t, fullMerge(t, m, nil, "1,3,5", "2,4", "-7"), "-7,1,2,3,4,5")
	expect(t, fullMerge(t, m, []byte("2"), "1,3"), "1,2,3")
	expect(t, fullMerge(t, m, nil, "5"), "5")
	expect(t, partialMerge(t, m, "1,2", "2,3\x00"), "1,2,2,3")
	for _, bad := range []string{"", "1,", "one", "1,99999999999"} {
		in := &rocksdb.MergeOperationInput{Operands: [][]byte{[]byte(bad)}}
		if m.FullMergeV2(in, &rocksdb.MergeOperationOutput{}) {
			t.Errorf("%q was taken for a list", bad)
		}
	}
}

func TestStringAppendOperators(t *testing.T) {
	for _, m := range []rocksdb.MergeOperator{NewStringAppendOperator("::"), NewStringAppendTESTOperator("::")} {
		expect(t, fullMerge(t, m, nil, "a"), "a")
		expect(t, fullMerge(t, m, nil, "a", "", "b"), "a::::b")
		expect(t, fullMerge(t, m, []byte{}, "a"), "::a")
		expect(t, fullMerge(t, m, []byte("x"), "a", "b"), "x::a::b")
	}
	expect(t, partialMerge(t, NewStringAppendOperator(","), "a", "b", "c"), "a,b,c")
	if _, ok := NewStringAppendTESTOperator(",").PartialMergeMulti(nil, slices([]string{"a", "b"}), nil, nil); ok {
		t.Error("the operator for tests merged partially")
	}
}

// concat joins with brackets, so that the order of joins shows.
type concat struct{}

func (concat) Name() string     { return "Concat" }
func (concat) NickName() string { return "cat" }
func (concat) Merge(_, existing, value, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	if string(value) == "bad" {
		return dst, false
	}
	if existing == nil {
		return append(dst, value...), true
	}
	dst = append(append(append(dst, '('), existing...), '+')
	return append(append(dst, value...), ')'), true
}

func TestNewAssociative(t *testing.T) {
	m := NewAssociative(concat{})
	expect(t, fullMerge(t, m, nil, "a"), "a")
	expect(t, fullMerge(t, m, nil, "a", "b", "c", "d"), "(((a+b)+c)+d)")
	expect(t, fullMerge(t, m, []byte("x"), "a", "b", "c", "d", "e"), "(((((x+a)+b)+c)+d)+e)")
	expect(t, fullMerge(t, m, []byte{}, "a"), "(+a)")
	expect(t, partialMerge(t, m, "a", "b", "c"), "((a+b)+c)")
	if !rocksdb.IsInstanceOf(m, "cat") || !rocksdb.IsInstanceOf(m, "Concat") || m.AllowSingleOperand() {
		t.Error("names or defaults got lost")
	}
	for _, operands := range [][]string{{"bad"}, {"a", "bad", "b"}, {"a", "b", "bad"}} {
		in := &rocksdb.MergeOperationInput{Operands: slices(operands)}
		if m.FullMergeV2(in, &rocksdb.MergeOperationOutput{}) {
			t.Errorf("%q were merged", operands)
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct{ value, name, text string }{
		{"stringappend", StringAppendOperatorName, "{id=StringAppendOperator;delimiter=,;}"},
		{"id=StringAppendOperator;delimiter=<>", StringAppendOperatorName, "{id=StringAppendOperator;delimiter=<>;}"},
		// Empty values are not written: what is read back has the default, as
		// upstream's.
		{"{id=stringappendtest;delimiter=}", StringAppendTESTOperatorName, StringAppendTESTOperatorName},
		{"sortlist", SortListName, SortListName},
		{"bytesxor", BytesXOROperatorName, BytesXOROperatorName},
		{"uint64add", UInt64AddOperatorName, UInt64AddOperatorName},
		{"UInt64AddOperator", UInt64AddOperatorName, UInt64AddOperatorName},
		{"max", MaxOperatorName, MaxOperatorName},
		{"put", PutOperatorName, PutOperatorName},
		{"put_v1", PutOperatorName, PutOperatorName},
	} {
		m, err := New(c.value)
		if err != nil || m.Name() != c.name {
			t.Errorf("%q: %v, %v", c.value, m, err)
			continue
		}
		cfg := rocksdb.DefaultConfigOptions()
		text, err := options.ObjectToString(&cfg, m)
		if err != nil || !strings.Contains(text, c.text) {
			t.Errorf("%q is written as %q, %v", c.value, text, err)
		}
	}
	if _, ok := mustNew(t, "put").(PutOperatorV2); !ok {
		t.Error("put is not the newer operator")
	}
	if _, ok := mustNew(t, "put_v1").(PutOperator); !ok {
		t.Error("put_v1 is not the older operator")
	}
	if m, err := New(""); m != nil || err != nil {
		t.Error("an empty string is an operator")
	}
	if _, err := New("no such"); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := New("id=stringappend;no=such"); err == nil {
		t.Error("an unknown option was taken")
	}
	if n := Register(registry.NewLibrary("test")); n != 8 {
		t.Errorf("%d operators", n)
	}
}

func mustNew(t *testing.T, value string) rocksdb.MergeOperator {
	t.Helper()
	m, err := New(value)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMergesDoNotAllocate(t *testing.T) {
	operands := slices([]string{fixed(1), fixed(2), fixed(3)})
	for _, m := range []rocksdb.MergeOperator{UInt64AddOperator{}, NewStringAppendOperator(","), MaxOperator{}, PutOperatorV2{}, BytesXOROperator{}} {
		in := &rocksdb.MergeOperationInput{Operands: operands, ExistingValue: operands[0]}
		out := &rocksdb.MergeOperationOutput{NewValue: make([]byte, 0, 100)}
		dst := make([]byte, 0, 100)
		if n := testing.AllocsPerRun(100, func() {
			m.FullMergeV2(in, out)
			m.PartialMergeMulti(nil, operands, dst, nil)
		}); n > 0 {
			t.Errorf("%s: %.0f allocations", m.Name(), n)
		}
	}
}

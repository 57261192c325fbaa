// No upstream twin: db/comparator_db_test.cc tests the order inside a database;
// here are the built-in comparators by themselves.

package util_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var allComparators = []rocksdb.Comparator{
	util.BytewiseComparator(), util.ReverseBytewiseComparator(),
	util.BytewiseComparatorWithU64Ts(), util.ReverseBytewiseComparatorWithU64Ts(),
}

func TestComparatorNames(t *testing.T) {
	for i, want := range []string{
		"leveldb.BytewiseComparator", "rocksdb.ReverseBytewiseComparator",
		"leveldb.BytewiseComparator.u64ts", "rocksdb.ReverseBytewiseComparator.u64ts",
	} {
		c := allComparators[i]
		if c.Name() != want {
			t.Errorf("%s, want %s", c.Name(), want)
		}
		if again, ok := util.BuiltinComparator(want); !ok || again != c {
			t.Errorf("%s: %v %v", want, again, ok)
		}
		if util.IsBytewise(c) != (i == 0) || util.IsReverseBytewise(c) != (i == 1) {
			t.Errorf("%s: IsBytewise %v, IsReverseBytewise %v", want, util.IsBytewise(c), util.IsReverseBytewise(c))
		}
		if c.RootComparator() != allComparators[i%2] {
			t.Errorf("%s: root %s", want, c.RootComparator().Name())
		}
	}
	if _, ok := util.BuiltinComparator("other"); ok {
		t.Error("an unknown comparator was found")
	}
}

func TestShortestSeparator(t *testing.T) {
	for _, c := range []struct{ start, limit, bytewise, reverse string }{
		{"abc1xyz", "abc3xy", "abc2", "abc1xyz"},
		{"abc1xyz", "abc2xy", "abc2", "abc1xyz"},
		{"abc1xyz", "abc2", "abc1y", "abc1xyz"},
		{"AA1AAA", "AA2", "AA1B", "AA1AAA"},
		{"AA1\xff\xff", "AA2", "AA1\xff\xff", "AA1\xff\xff"},
		{"AA1\xffA", "AA2", "AA1\xffB", "AA1\xffA"},
		{"abc", "abcd", "abc", "abc"},
		{"abcd", "abc", "abcd", "abcd"},
		{"abc3xy", "abc1xyz", "abc3xy", "abc3"},
		{"abc3", "abc1xyz", "abc3", "abc3"},
		{"", "a", "", ""},
		{"a", "", "a", "a"},
	} {
		got := util.BytewiseComparator().FindShortestSeparator([]byte("p"), []byte(c.start), []byte(c.limit))
		if string(got) != "p"+c.bytewise {
			t.Errorf("%q %q: %q, want %q", c.start, c.limit, got, c.bytewise)
		}
		got = util.ReverseBytewiseComparator().FindShortestSeparator([]byte("p"), []byte(c.start), []byte(c.limit))
		if string(got) != "p"+c.reverse {
			t.Errorf("reverse %q %q: %q, want %q", c.start, c.limit, got, c.reverse)
		}
	}
	for key, want := range map[string]string{"abcd": "b", "\xff\xffa1": "\xff\xffb", "\xff\xff": "\xff\xff", "": ""} {
		if got := util.BytewiseComparator().FindShortSuccessor(nil, []byte(key)); string(got) != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
		if got := util.ReverseBytewiseComparator().FindShortSuccessor(nil, []byte(key)); string(got) != key {
			t.Errorf("reverse %q: %q", key, got)
		}
	}
}

func TestIsSameLengthImmediateSuccessor(t *testing.T) {
	for _, c := range []struct {
		s, t string
		want bool
	}{
		{"a", "b", true}, {"a\xff\xff", "b\x00\x00", true}, {"ab", "ac", true}, {"a", "c", false}, {"a", "a", false},
		{"", "", false}, {"a\xfe", "b\x00", false}, {"a\xff", "b\x01", false}, {"a", "b\x00", false}, {"b", "a", false},
		{"\xff", "\x00", false},
	} {
		if got := util.BytewiseComparator().IsSameLengthImmediateSuccessor([]byte(c.s), []byte(c.t)); got != c.want {
			t.Errorf("%q %q: %v", c.s, c.t, got)
		}
		if util.ReverseBytewiseComparator().IsSameLengthImmediateSuccessor([]byte(c.t), []byte(c.s)) {
			t.Errorf("reverse %q %q", c.t, c.s)
		}
	}
}

func TestU64TsComparators(t *testing.T) {
	key := func(user string, ts uint64) []byte { return util.AppendU64Ts([]byte(user), ts) }
	for i, c := range allComparators[2:] {
		sign := 1 - 2*i
		if got := c.Compare(key("a", 1), key("b", 9)); got != -sign {
			t.Errorf("%s: user keys compare as %d", c.Name(), got)
		}
		if c.Compare(key("a", 9), key("a", 1)) != -1 || c.Compare(key("a", 1), key("a", 9)) != 1 || !c.Equal(key("a", 1), key("a", 1)) {
			t.Errorf("%s: the newer is not first", c.Name())
		}
		if c.CompareWithoutTimestamp(key("a", 1), true, []byte("a"), false) != 0 ||
			c.CompareWithoutTimestamp([]byte("a"), false, key("b", 1), true) != -sign {
			t.Errorf("%s: CompareWithoutTimestamp", c.Name())
		}
		if c.TimestampSize() != 8 || c.CompareTimestamp(c.MinTimestamp(), c.MaxTimestamp()) != -1 ||
			c.TimestampToString(util.EncodeU64Ts(23)) != "23" {
			t.Errorf("%s: timestamps", c.Name())
		}
		// Damaged keys are ordered somehow.
		if c.Compare([]byte("short"), nil) == 0 || c.Compare(nil, nil) != 0 || c.CompareTimestamp(nil, []byte("x")) != 0 {
			t.Errorf("%s: short keys", c.Name())
		}
	}
	if v, err := util.DecodeU64Ts(util.EncodeU64Ts(12345)); v != 12345 || err != nil {
		t.Errorf("%d %v", v, err)
	}
	if _, err := util.DecodeU64Ts([]byte("1234567")); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("%v", err)
	}
}

// TestSeparatorProperties checks the contract of the shortening methods.
func TestSeparatorProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(allComparators[:2]).Draw(t, "comparator")
		keys := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff}), 0, 6)
		a, b := keys.Draw(t, "a"), keys.Draw(t, "b")
		if c.Compare(a, b) > 0 {
			a, b = b, a
		}
		sep := c.FindShortestSeparator(nil, a, b)
		if c.Compare(a, sep) > 0 || c.Compare(a, b) < 0 && c.Compare(sep, b) >= 0 || len(sep) > len(a) {
			t.Errorf("%s: %x is no separator of %x and %x", c.Name(), sep, a, b)
		}
		succ := c.FindShortSuccessor(nil, a)
		if c.Compare(a, succ) > 0 || len(succ) > len(a) {
			t.Errorf("%s: %x is no successor of %x", c.Name(), succ, a)
		}
		if c.Equal(a, b) != bytes.Equal(a, b) || c.Compare(a, b) != -c.Compare(b, a) {
			t.Errorf("%s: %x and %x", c.Name(), a, b)
		}
	})
}

func TestComparatorsDoNotAllocate(t *testing.T) {
	for _, c := range allComparators {
		a, b := []byte("key00001........"), []byte("key00002........")
		if n := testing.AllocsPerRun(100, func() { c.Compare(a, b); c.Equal(a, b) }); n != 0 {
			t.Errorf("%s: %v allocations", c.Name(), n)
		}
	}
}

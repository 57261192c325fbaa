// Port of util/slice_transform_test.cc.

package util_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestSliceTransformTest_CapPrefixTransform(t *testing.T) {
	const s = "abcdefge"
	for n, want := range map[int]string{6: "abcdef", 8: s, 10: s, 0: ""} {
		if got := util.NewCappedPrefixTransform(n).Transform([]byte(s)); string(got) != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := util.NewCappedPrefixTransform(0).Transform(nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
	six := util.NewCappedPrefixTransform(6)
	for prefix, want := range map[string]bool{"123456": true, "1234567": true, "12345": false} {
		if got := six.SameResultWhenAppended([]byte(prefix)); got != want {
			t.Errorf("SameResultWhenAppended(%q) = %v", prefix, got)
		}
	}
}

// TestBuiltinSliceTransforms has no upstream twin.
func TestBuiltinSliceTransforms(t *testing.T) {
	for id, want := range map[string]string{
		"fixed:8": "rocksdb.FixedPrefix.8", "rocksdb.FixedPrefix.8": "rocksdb.FixedPrefix.8",
		"capped:12": "rocksdb.CappedPrefix.12", "rocksdb.CappedPrefix.12": "rocksdb.CappedPrefix.12",
		"rocksdb.Noop": "rocksdb.Noop",
	} {
		got, ok := util.BuiltinSliceTransform(id)
		if !ok || got.AsString() != want || rocksdb.IDOf(got) != want || !util.SliceTransformIsInstanceOf(got, id) ||
			!util.SliceTransformIsInstanceOf(got, got.Name()) {
			t.Errorf("%s: %v %v", id, got, ok)
		}
	}
	for _, bad := range []string{"", "fixed", "fixed:", "fixed:x", "fixed:-1", "fixed.8", "rocksdb.FixedPrefix:8",
		"fixed:99999999999999999999", "nullptr"} {
		if got, ok := util.BuiltinSliceTransform(bad); ok {
			t.Errorf("%q: %v", bad, got)
		}
	}
	fixed := util.NewFixedPrefixTransform(3)
	if fixed.InDomain([]byte("ab")) || !fixed.InDomain([]byte("abc")) || string(fixed.Transform([]byte("abcd"))) != "abc" ||
		fixed.SameResultWhenAppended([]byte("ab")) || !fixed.SameResultWhenAppended([]byte("abc")) {
		t.Error("fixed prefix")
	}
	if n, ok := fixed.FullLengthEnabled(); n != 3 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	if util.SliceTransformIsInstanceOf(fixed, "fixed:4") || !util.SliceTransformIsInstanceOf(fixed, "fixed") {
		t.Error("instance")
	}
	noop := util.NewNoopTransform()
	if _, ok := noop.FullLengthEnabled(); ok || string(noop.Transform([]byte("ab"))) != "ab" || noop.SameResultWhenAppended([]byte("ab")) {
		t.Error("noop")
	}
}

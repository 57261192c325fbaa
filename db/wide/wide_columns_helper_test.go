// Port of db/wide/wide_columns_helper_test.cc.

package wide

import "testing"

func TestWideColumnsHelperTest_DumpWideColumns(t *testing.T) {
	if got := DumpWideColumns(cols("foo", "bar", "hello", "world"), false); got != "foo:bar hello:world" {
		t.Error(got)
	}
	if got := DumpWideColumns(cols("", "bar"), true); got != ":0x626172" {
		t.Error(got)
	}
}

func TestWideColumnsHelperTest_DumpSliceAsWideColumns(t *testing.T) {
	b := must[[]byte](t)(Serialize(nil, cols("foo", "bar", "hello", "world")))
	if got := must[string](t)(DumpEntity(b, false)); got != "foo:bar hello:world" {
		t.Error(got)
	}
}

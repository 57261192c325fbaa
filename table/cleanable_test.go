// Port of table/cleanable_test.cc. Differs: where upstream ends a scope, Reset.

package table_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// multiplier multiplies res when it is released.
func multiplier(res *int, n int) util.Releaser {
	return util.ReleaseFunc(func() { *res *= n })
}

func register(c *util.Cleanable, res *int, numbers ...int) {
	for _, n := range numbers {
		c.RegisterCleanup(multiplier(res, n))
	}
}

func want(t *testing.T, res, n int) {
	t.Helper()
	if res != n {
		t.Fatalf("the cleanups done give %d, want %d", res, n)
	}
}

func TestCleanableTest_Register(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    int
	}{{nil, 1}, {[]int{2}, 2}, {[]int{2, 3}, 6}} {
		res := 1
		var c1 util.Cleanable
		register(&c1, &res, c.numbers...)
		want(t, res, 1)
		c1.Reset()
		want(t, res, c.want)
		c1.Reset() // what was done is not done again
		want(t, res, c.want)
	}
	res := 1
	var c1 util.Cleanable
	register(&c1, &res, 2)
	c1.Reset()
	want(t, res, 2)
	register(&c1, &res, 3)
	c1.Reset()
	want(t, res, 6)
}

func TestCleanableTest_Delegation(t *testing.T) {
	for _, c := range []struct {
		from, to []int
		want     int
	}{
		{[]int{2}, nil, 2}, {nil, nil, 1}, {[]int{2, 3}, nil, 6}, {[]int{2, 3}, []int{5}, 30}, {[]int{2, 3}, []int{5, 7}, 210},
		{[]int{2}, []int{5, 7}, 70}, {nil, []int{5, 7}, 35}, {nil, []int{5}, 5},
	} {
		res := 1
		var c1, c2 util.Cleanable
		register(&c2, &res, c.to...)
		register(&c1, &res, c.from...)
		c1.DelegateCleanupsTo(&c2)
		c1.Reset()
		want(t, res, 1)
		c2.Reset()
		want(t, res, c.want)
	}
}

func TestCleanableTest_PinnableSlice(t *testing.T) {
	const text = "123"
	res := 1
	var value rocksdb.PinnableSlice
	value.PinSlice([]byte(text), multiplier(&res, 2))
	want(t, res, 1)
	if string(value.Data()) != text || !value.IsPinned() {
		t.Fatalf("%q, pinned %v", value.Data(), value.IsPinned())
	}
	value.Release()
	want(t, res, 2)

	// A value pinned anew gives the reference before back.
	res = 1
	value.PinSlice([]byte("old"), multiplier(&res, 2))
	value.PinSlice([]byte(text), multiplier(&res, 3))
	want(t, res, 2)
	value.PinSelf([]byte(text))
	want(t, res, 6)
	if string(value.Data()) != text || value.IsPinned() {
		t.Fatalf("%q, pinned %v", value.Data(), value.IsPinned())
	}
	value.Release()
	value.Release()
	want(t, res, 6)
}

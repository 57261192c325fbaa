// Port of utilities/agg_merge/agg_merge_test.cc and
// utilities/agg_merge/test_agg_merge.{h,cc}.

package aggmerge_test

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/agg_merge"
)

// fold aggregates numbers.
type fold func(a, b int64) int64

func (f fold) DoPartialAggregate() bool { return true }

func (f fold) Aggregate(payloads [][]byte, dst []byte) ([]byte, bool) {
	var result int64
	for i, p := range payloads {
		n, rest, ok := util.GetVarsignedint64(p)
		if !ok || len(rest) > 0 {
			return nil, false
		}
		if i == 0 {
			result = n
		} else {
			result = f(result, n)
		}
	}
	return util.AppendVarsignedint64(dst, result), true
}

// last3 gives three items, those of the newest lists first.
type last3 struct{}

func (last3) DoPartialAggregate() bool { return true }

func (last3) Aggregate(payloads [][]byte, dst []byte) ([]byte, bool) {
	n := 0
	for i := len(payloads) - 1; i >= 0; i-- {
		items, _ := aggmerge.ExtractList(payloads[i])
		for _, item := range items {
			if n++; n > 3 {
				return dst, true
			}
			dst = util.AppendLengthPrefixedSlice(dst, item)
		}
	}
	return dst, true
}

type aggTest struct {
	*testing.T
	db *rocksdb.DB
}

func (x aggTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x aggTest) encode(name string, payload []byte) []byte {
	x.Helper()
	b, err := aggmerge.EncodeAggFuncAndPayload(name, payload)
	x.must(err)
	return b
}

func (x aggTest) number(name string, n int64) []byte {
	x.Helper()
	return x.encode(name, util.AppendVarsignedint64(nil, n))
}

func list(items ...string) (b []byte) {
	for _, item := range items {
		b = util.AppendLengthPrefixedSlice(b, []byte(item))
	}
	return b
}

func (x aggTest) merge(key string, operands ...[]byte) {
	x.Helper()
	for _, op := range operands {
		x.must(x.db.Merge(nil, []byte(key), op))
	}
}

func (x aggTest) flush() { x.Helper(); x.must(x.db.Flush(nil)) }

func (x aggTest) want(key string, want []byte) {
	x.Helper()
	v, err := x.db.Get(nil, []byte(key))
	x.must(err)
	defer v.Release()
	if string(v.Data()) != string(want) {
		x.Errorf("%s is %q, not %q", key, v.Data(), want)
	}
}

func TestAggMergeTest_TestUsingMergeOperator(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.MergeOperator = true, aggmerge.AggMergeOperator{}
	d, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := aggTest{t, d}
	x.must(aggmerge.AddAggregator("sum", fold(func(a, b int64) int64 { return a + b })))
	x.must(aggmerge.AddAggregator("mul", fold(func(a, b int64) int64 { return a * b })))
	x.must(aggmerge.AddAggregator("last3", last3{}))

	x.merge("foo", x.number("sum", 10), x.number("sum", 20), x.number("sum", 15))
	x.merge("bar", x.encode("last3", list("a", "b")), x.encode("last3", list("c", "d", "e")))
	x.flush()
	x.merge("bar", x.encode("last3", list("f")))
	x.must(x.db.Put(nil, []byte("foo2"), x.number(aggmerge.UnnamedFuncName, 30)))
	x.merge("foo2", x.number("sum", 10), x.number("sum", 20))
	x.want("foo", x.number("sum", 45))
	x.want("bar", x.encode("last3", list("f", "c", "d")))
	x.want("foo2", x.number("sum", 60))

	// Another function, which what was before it is aggregated for.
	x.must(x.db.Put(nil, []byte("bar2"), x.number("mul", 10)))
	x.merge("bar2", x.number("mul", 20), x.number("sum", 30), x.number("sum", 40))
	x.want("bar2", x.number("sum", 10*20+30+40))
	x.merge("foo3", x.number("mul", 10))
	x.flush()
	x.merge("foo3", x.number("mul", 10), x.number("mul", 10), x.number("sum", 10))
	x.flush()
	x.want("foo3", x.number("sum", 10*10*10+10))

	// Operands over what was merged already.
	x.merge("foo4", x.number("sum", 1), x.number("sum", 2))
	x.flush()
	x.merge("foo4", x.number("sum", 3), x.number("sum", 4))
	x.flush()
	x.must(x.db.CompactRange(nil, nil, nil))
	x.merge("foo4", x.number("sum", 5))
	x.want("foo4", x.number("sum", 15))

	// A function that is not there, and a payload that the function refuses.
	unknown := []string{string(list("non_existing")) + "1", string(list("non_existing")) + "invalid"}
	x.merge("bar3", []byte(unknown[0]), []byte(unknown[1]))
	x.want("bar3", append(list(aggmerge.ErrorFuncName), list(unknown...)...))
	bad, good := x.encode("sum", []byte("invalid")), x.number("sum", 20)
	x.merge("bar4", bad, good)
	v, err := x.db.Get(nil, []byte("bar4"))
	x.must(err)
	defer v.Release()
	name, payload, ok := aggmerge.ExtractAggFuncAndValue(v.Data())
	items, whole := aggmerge.ExtractList(payload)
	if !ok || !whole || string(name) != aggmerge.ErrorFuncName || len(items) != 2 || string(items[0]) != string(bad) || string(items[1]) != string(good) {
		t.Errorf("%q of %q", name, items)
	}
}

func TestAggMerge_Names(t *testing.T) {
	if err := aggmerge.AddAggregator(aggmerge.ErrorFuncName, last3{}); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("registered: %v", err)
	}
	for _, name := range []string{aggmerge.ErrorFuncName, "nobody's"} {
		if _, err := aggmerge.EncodeAggFuncAndPayload(name, nil); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := aggmerge.ExtractList([]byte{3, 'a'}); ok {
		t.Error("a list that is cut short")
	}
}

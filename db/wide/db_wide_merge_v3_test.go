// Port of db/wide/db_wide_basic_test.cc (merge operators of columns).

package wide_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// columnsOperator is a merge operator that is one function of columns.
type columnsOperator struct {
	contract.MergeOperatorBase
	merge func(in *contract.MergeOperationInputV3, out *contract.MergeOperationOutputV3)
}

func (*columnsOperator) Name() string { return "ColumnsOperator" }

func (*columnsOperator) FullMergeV2(*contract.MergeOperationInput, *contract.MergeOperationOutput) bool {
	return false
}

func (o *columnsOperator) FullMergeV3(in *contract.MergeOperationInputV3, out *contract.MergeOperationOutputV3) bool {
	o.merge(in, out)
	return true
}

// mergeV3 merges operands into nothing, a plain value and an entity, and wants the
// outcome of reads, flushes and compactions.
func mergeV3(t *testing.T, merge func(in *contract.MergeOperationInputV3, out *contract.MergeOperationOutputV3), want ...rocksdb.WideColumns) {
	x := newWideTest(t, func(o *rocksdb.Options) { o.MergeOperator = &columnsOperator{merge: merge} })
	var snapshots []rocksdb.Snapshot // flushes merge nothing across them
	take := func() { snapshots = append(snapshots, x.db.GetSnapshot()) }
	release := func() {
		for _, s := range snapshots {
			x.db.ReleaseSnapshot(s)
		}
		snapshots = nil
	}
	write := func() {
		t.Helper()
		x.must(x.db.Delete(nil, []byte("first")))
		x.put("second", "foo")
		x.putEntity("third", columns("one", "ONE", "two", "TWO"))
		take()
		x.merge("first", "hello")
		x.merge("second", "bar")
		x.merge("third", "three")
		take()
		x.merge("first", "world")
		x.merge("second", "baz")
		x.merge("third", "four")
		take()
	}
	verify := func(operands ...int) {
		t.Helper()
		x.verify(entity{"first", want[0]}, entity{"second", want[1]}, entity{"third", want[2]})
		for i, key := range []string{"first", "second", "third"} {
			list := make([]rocksdb.PinnableSlice, operands[i])
			n, err := x.cfs[0].GetMergeOperands(nil, []byte(key), list, &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: operands[i]})
			x.must(err)
			if n != operands[i] {
				t.Errorf("%s has %d operands, not %d", key, n, operands[i])
			}
			for j := range list {
				list[j].Release()
			}
		}
	}
	write()
	verify(2, 3, 3)
	x.flush()
	verify(2, 3, 3)
	write()
	x.flush()
	release()
	x.compact()
	verify(1, 1, 1)
}

// The result is an entity of all there is, in upper case.
func TestDBWideMergeV3Test_MergeV3WideColumnOutput(t *testing.T) {
	mergeV3(t, func(in *contract.MergeOperationInputV3, out *contract.MergeOperationOutputV3) {
		add := func(name, value []byte) {
			out.NewColumns = append(out.NewColumns, contract.WideColumn{Name: name, Value: value})
		}
		base := "none"
		switch {
		case in.ExistingColumns != nil:
			base = "wide"
			for _, c := range in.ExistingColumns {
				add(c.Name, bytes.ToUpper(c.Value))
			}
		case in.ExistingValue != nil:
			base = "plain"
			add(in.ExistingValue, bytes.ToUpper(in.ExistingValue))
		}
		for _, op := range in.Operands {
			add(op, bytes.ToUpper(op))
		}
		add([]byte{}, []byte(base))
	},
		columns("", "none", "hello", "HELLO", "world", "WORLD"),
		columns("", "plain", "bar", "BAR", "baz", "BAZ", "foo", "FOO"),
		columns("", "wide", "four", "FOUR", "one", "ONE", "three", "THREE", "two", "TWO"))
}

// The result is a plain value, the number of operands and of what is under them.
func TestDBWideMergeV3Test_MergeV3PlainOutput(t *testing.T) {
	mergeV3(t, func(in *contract.MergeOperationInputV3, out *contract.MergeOperationOutputV3) {
		n := len(in.Operands) + len(in.ExistingColumns)
		if in.ExistingValue != nil {
			n++
		}
		out.NewValue = strconv.AppendInt(out.NewValue[:0], int64(n), 10)
	}, columns("", "2"), columns("", "3"), columns("", "4"))
}

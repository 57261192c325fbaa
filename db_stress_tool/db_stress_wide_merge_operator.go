// Port of db_stress_tool/db_stress_wide_merge_operator.{h,cc}.

package dbstresstool

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// stressWideMergeOperator is a put by merging: the newest operand is the value, or
// the entity that a write of it would have been.
// Upstream: DBStressWideMergeOperator.
type stressWideMergeOperator struct {
	mergeoperators.PutOperatorV2
	putEntityOneIn uint32
}

// Name is upstream's.
func (*stressWideMergeOperator) Name() string { return "DBStressWideMergeOperator" }

// FullMergeV3 implements rocksdb.MergeOperatorV3.
func (o *stressWideMergeOperator) FullMergeV3(in *rocksdb.MergeOperationInputV3, out *rocksdb.MergeOperationOutputV3) bool {
	latest := in.Operands[len(in.Operands)-1]
	base, ok := getValueBase(latest)
	if !ok {
		return false
	}
	if base%o.putEntityOneIn == 0 {
		out.NewColumns = generateWideColumns(base, latest)
	} else {
		out.ExistingOperand = latest
	}
	return true
}

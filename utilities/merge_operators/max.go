// Port of utilities/merge_operators/{max_operator.h,max.cc}.

package mergeoperators

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// MaxOperatorName is the name of MaxOperator.
const MaxOperatorName = "MaxOperator"

// MaxOperator keeps the greatest of value and operands, by their bytes.
type MaxOperator struct{ rocksdb.MergeOperatorBase }

// Name is MaxOperatorName.
func (MaxOperator) Name() string { return MaxOperatorName }

// NickName is "max".
func (MaxOperator) NickName() string { return "max" }

// greatest gives the index of the first greatest operand, -1 when v is at least
// as great as all of them.
func greatest(v []byte, operands [][]byte) int {
	at := -1
	for i, o := range operands {
		if bytes.Compare(v, o) < 0 {
			v, at = o, i
		}
	}
	return at
}

// FullMergeV2 gives the greatest.
func (MaxOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if at := greatest(in.ExistingValue, in.Operands); at >= 0 {
		out.ExistingOperand = in.Operands[at]
	} else {
		out.NewValue = append(out.NewValue[:0], in.ExistingValue...)
	}
	return true
}

// PartialMergeMulti gives the greatest.
func (MaxOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	if at := greatest(nil, operands); at >= 0 {
		dst = append(dst, operands[at]...)
	}
	return dst, true
}

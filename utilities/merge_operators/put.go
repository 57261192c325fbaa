// Port of utilities/merge_operators/{put_operator.h,put.cc}.

package mergeoperators

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// PutOperatorName is the name of both put operators.
const PutOperatorName = "PutOperator"

const putV1NickName = "put_v1"

// PutOperator makes a merge a put: the newest operand is the value. It copies
// the operand.
type PutOperator struct{ rocksdb.MergeOperatorBase }

// Name is PutOperatorName.
func (PutOperator) Name() string { return PutOperatorName }

// NickName is "put_v1".
func (PutOperator) NickName() string { return putV1NickName }

// FullMergeV2 gives the newest operand.
func (PutOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if len(in.Operands) == 0 {
		return false
	}
	out.NewValue = append(out.NewValue[:0], in.Operands[len(in.Operands)-1]...)
	return true
}

// PartialMergeMulti gives the newest operand.
func (PutOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	if len(operands) == 0 {
		return dst, false
	}
	return append(dst, operands[len(operands)-1]...), true
}

// PutOperatorV2 is PutOperator without the copy.
type PutOperatorV2 struct{ PutOperator }

// NickName is "put".
func (PutOperatorV2) NickName() string { return "put" }

// FullMergeV2 gives the newest operand itself.
func (PutOperatorV2) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if len(in.Operands) == 0 {
		return false
	}
	out.ExistingOperand = present(in.Operands[len(in.Operands)-1])
	return true
}

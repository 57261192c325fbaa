// Port of utilities/merge_operators/uint64add.{h,cc}. Differs: sums all
// operands at once.

package mergeoperators

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/util"
)

// UInt64AddOperatorName is the name of UInt64AddOperator.
const UInt64AddOperatorName = "UInt64AddOperator"

const uint64Size = 8

// UInt64AddOperator adds numbers of 8 bytes, little-endian; a value of another
// length is logged and counts as 0.
type UInt64AddOperator struct{ rocksdb.MergeOperatorBase }

// Name is UInt64AddOperatorName.
func (UInt64AddOperator) Name() string { return UInt64AddOperatorName }

// NickName is "uint64add".
func (UInt64AddOperator) NickName() string { return "uint64add" }

func decodeUint64(v []byte, logger rocksdb.Logger) uint64 {
	if len(v) != uint64Size {
		logging.Error(logger, "uint64 value corruption, size: %d > %d", len(v), uint64Size)
		return 0
	}
	return util.DecodeFixed64(v)
}

func addAll(sum uint64, operands [][]byte, logger rocksdb.Logger) uint64 {
	for _, v := range operands {
		sum += decodeUint64(v, logger)
	}
	return sum
}

// FullMergeV2 gives the sum.
func (UInt64AddOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	var sum uint64
	if in.ExistingValue != nil {
		sum = decodeUint64(in.ExistingValue, in.Logger)
	}
	out.NewValue = util.AppendFixed64(out.NewValue[:0], addAll(sum, in.Operands, in.Logger))
	return true
}

// PartialMergeMulti gives the sum.
func (UInt64AddOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, logger rocksdb.Logger) ([]byte, bool) {
	return util.AppendFixed64(dst, addAll(0, operands, logger)), true
}

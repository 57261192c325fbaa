// Port of utilities/merge_operators/bytesxor.{h,cc}.

package mergeoperators

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// BytesXOROperatorName is the name of BytesXOROperator.
const BytesXOROperatorName = "BytesXOR"

// BytesXOROperator joins values by exclusive or, byte by byte; the result is as
// long as the longest.
type BytesXOROperator struct{ rocksdb.MergeOperatorBase }

// Name is BytesXOROperatorName.
func (BytesXOROperator) Name() string { return BytesXOROperatorName }

// NickName is "bytesxor".
func (BytesXOROperator) NickName() string { return "bytesxor" }

// xorAll joins the operands into dst, whose first base bytes stay.
func xorAll(dst []byte, base int, operands [][]byte) []byte {
	for _, v := range operands {
		n := min(len(dst)-base, len(v))
		for i, c := range v[:n] {
			dst[base+i] ^= c
		}
		dst = append(dst, v[n:]...)
	}
	return dst
}

// FullMergeV2 joins all.
func (BytesXOROperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	out.NewValue = xorAll(append(out.NewValue[:0], in.ExistingValue...), 0, in.Operands)
	return true
}

// PartialMergeMulti joins all.
func (BytesXOROperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	return xorAll(dst, len(dst), operands), true
}

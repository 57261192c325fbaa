// Port of utilities/cassandra/merge_operator.{h,cc}. Differs: a damaged row fails
// the merge.

package cassandra

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// CassandraValueMergeOperatorName is the name of CassandraValueMergeOperator.
const CassandraValueMergeOperatorName = "CassandraValueMergeOperator"

// CassandraValueMergeOperator merges rows.
type CassandraValueMergeOperator struct{ withOptions }

// NewCassandraValueMergeOperator makes an operator; see CassandraOptions.
func NewCassandraValueMergeOperator(gcGracePeriodInSeconds uint32, operandsLimit int) *CassandraValueMergeOperator {
	return &CassandraValueMergeOperator{withOptions{table: mergeOperatorTable,
		o: CassandraOptions{GCGracePeriodInSeconds: gcGracePeriodInSeconds, OperandsLimit: operandsLimit}}}
}

// Name is CassandraValueMergeOperatorName.
func (*CassandraValueMergeOperator) Name() string { return CassandraValueMergeOperatorName }

// mergeAll merges rows in the stored form.
func mergeAll(list [][]byte) (r RowValue, ok bool) {
	rows := make([]RowValue, len(list))
	for i, b := range list {
		var err error
		if rows[i], err = DeserializeRowValue(b); err != nil {
			return r, false
		}
	}
	return MergeRows(rows), true
}

// FullMergeV2 merges the operands into the row, and drops the columns deleted long
// enough ago.
func (m *CassandraValueMergeOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	list := in.Operands
	if in.ExistingValue != nil {
		list = append([][]byte{in.ExistingValue}, in.Operands...)
	}
	row, ok := mergeAll(list)
	if !ok {
		return false
	}
	row = row.RemoveTombstones(m.o.GCGracePeriodInSeconds)
	out.NewValue = row.Serialize(out.NewValue[:0])
	return true
}

// PartialMergeMulti merges operands.
func (m *CassandraValueMergeOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	row, ok := mergeAll(operands)
	if !ok {
		return nil, false
	}
	return row.Serialize(dst), true
}

// AllowSingleOperand is true.
func (*CassandraValueMergeOperator) AllowSingleOperand() bool { return true }

// ShouldMerge is true of as many operands as the limit says.
func (m *CassandraValueMergeOperator) ShouldMerge(operands [][]byte) bool {
	return m.o.OperandsLimit > 0 && len(operands) >= m.o.OperandsLimit
}

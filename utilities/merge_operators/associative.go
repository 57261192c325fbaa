// Port of db/merge_operator.cc (AssociativeMergeOperator). Differs: a wrapper
// instead of a base class.

package mergeoperators

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

type associative struct {
	rocksdb.MergeOperatorBase
	inner rocksdb.AssociativeMergeOperator
}

// NewAssociative makes a merge operator that folds values and operands with
// inner, the oldest first.
func NewAssociative(inner rocksdb.AssociativeMergeOperator) rocksdb.MergeOperator {
	return &associative{inner: inner}
}

// Name is inner's.
func (a *associative) Name() string { return a.inner.Name() }

// NickName is inner's, "" where it has none.
func (a *associative) NickName() string {
	if n, ok := a.inner.(rocksdb.WithNickName); ok {
		return n.NickName()
	}
	return ""
}

// Inner gives the wrapped operator.
func (a *associative) Inner() rocksdb.Customizable { return a.inner }

// OptionSets are inner's options.
func (a *associative) OptionSets() []options.OptionSet {
	if h, ok := a.inner.(options.HasOptionSets); ok {
		return h.OptionSets()
	}
	return nil
}

// fold joins operands on top of existing and appends the result to dst. What is
// in between goes to two buffers in turn, as a join may not write over what it
// reads; the last join writes to dst, which none reads.
func (a *associative) fold(key, existing []byte, operands [][]byte, dst []byte, logger rocksdb.Logger) ([]byte, bool) {
	if len(operands) == 0 {
		return append(dst, existing...), true
	}
	last := len(operands) - 1
	var buffers [2][]byte
	for i, operand := range operands[:last] {
		joined, ok := a.inner.Merge(key, existing, operand, buffers[i&1][:0], logger)
		if !ok {
			return dst, false
		}
		buffers[i&1] = joined
		existing = present(joined)
	}
	return a.inner.Merge(key, existing, operands[last], dst, logger)
}

// FullMergeV2 folds all operands onto the existing value.
func (a *associative) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	v, ok := a.fold(in.Key, in.ExistingValue, in.Operands, out.NewValue[:0], in.Logger)
	out.NewValue = v
	return ok
}

// PartialMergeMulti folds the operands onto the first.
func (a *associative) PartialMergeMulti(key []byte, operands [][]byte, dst []byte, logger rocksdb.Logger) ([]byte, bool) {
	if len(operands) == 0 {
		return dst, false
	}
	return a.fold(key, present(operands[0]), operands[1:], dst, logger)
}

// present gives v for a place where nil means absent.
func present(v []byte) []byte {
	if v == nil {
		return []byte{}
	}
	return v
}

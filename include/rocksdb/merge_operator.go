// Port of include/rocksdb/merge_operator.h. Differs: one interface, whose
// optional methods MergeOperatorBase gives; FullMergeV3 is an interface of its own.

package rocksdb

// MergeOperationInput is what a full merge works on. Its slices are valid
// during the call only.
type MergeOperationInput struct {
	Key []byte
	// ExistingValue is the value under the operands; nil when there is none
	// (an empty value is a non-nil empty slice).
	ExistingValue []byte
	// Operands are in the order they were written, the oldest first.
	Operands [][]byte
	Logger   Logger // may be nil
}

// MergeOperationOutput is a full merge's result.
type MergeOperationOutput struct {
	// NewValue is the result; the operator may append to the buffer it finds
	// here (after truncating it).
	NewValue []byte
	// ExistingOperand, when not nil, is the result instead of NewValue: one of
	// the input's operands, unchanged.
	ExistingOperand []byte
	// OpFailureScope says how far a failure reaches.
	OpFailureScope OpFailureScope
}

// OpFailureScope says how far a failed merge reaches.
type OpFailureScope uint8

// The scopes.
const (
	OpFailureScopeDefault OpFailureScope = iota
	OpFailureScopeTryMerge
	OpFailureScopeMustMerge
)

// MergeOperator gives Merge its meaning. Its name goes to the OPTIONS file and
// table properties. Embed MergeOperatorBase for the optional methods.
type MergeOperator interface {
	Name() string
	// FullMergeV2 applies all operands to the existing value; false is a
	// failure, reported as a corruption.
	FullMergeV2(in *MergeOperationInput, out *MergeOperationOutput) bool
	// PartialMergeMulti joins operands (at least two) into one, appended to
	// dst; false when it cannot.
	PartialMergeMulti(key []byte, operands [][]byte, dst []byte, logger Logger) ([]byte, bool)
	// AllowSingleOperand lets PartialMergeMulti be called with one operand.
	AllowSingleOperand() bool
	// ShouldMerge lets a Get stop collecting operands early; operands come
	// newest first.
	ShouldMerge(operands [][]byte) bool
}

// MergeOperationInputV3 is what a full merge of columns works on. Its slices are
// valid during the call only.
type MergeOperationInputV3 struct {
	// The plain existing value, nil when there is none or ExistingColumns are.
	MergeOperationInput
	// ExistingColumns are those of the entity under the operands, in order; nil
	// when there is none.
	ExistingColumns WideColumns
}

// MergeOperationOutputV3 is its result: a plain value, or an entity.
type MergeOperationOutputV3 struct {
	MergeOperationOutput
	// NewColumns, when not nil, are the result, in any order. Their names and
	// values may be in the input's memory.
	NewColumns WideColumns
}

// MergeOperatorV3 is a MergeOperator that takes and gives entities. Where an
// operator has it, FullMergeV2 is not called. That of any other operator is
// called for the default column of an entity, whose other columns stay.
type MergeOperatorV3 interface {
	MergeOperator
	// FullMergeV3 applies all operands to the existing value or entity; false is
	// a failure, reported as a corruption.
	FullMergeV3(in *MergeOperationInputV3, out *MergeOperationOutputV3) bool
}

// MergeOperatorBase gives the optional methods of MergeOperator.
type MergeOperatorBase struct{}

// PartialMergeMulti declines.
func (MergeOperatorBase) PartialMergeMulti([]byte, [][]byte, []byte, Logger) ([]byte, bool) {
	return nil, false
}

// AllowSingleOperand is false.
func (MergeOperatorBase) AllowSingleOperand() bool { return false }

// ShouldMerge is false.
func (MergeOperatorBase) ShouldMerge([][]byte) bool { return false }

// AssociativeMergeOperator is the simple form: one method joins two values,
// operands and values having one format. Wrap it with package
// utilities/merge_operators' NewAssociative to get a MergeOperator.
type AssociativeMergeOperator interface {
	Name() string
	// Merge appends to dst the join of existing (nil when there is none) and
	// value.
	Merge(key, existing, value, dst []byte, logger Logger) ([]byte, bool)
}

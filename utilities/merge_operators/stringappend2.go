// Port of utilities/merge_operators/string_append/stringappend2.{h,cc}.

package mergeoperators

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// StringAppendTESTOperatorName is the name of StringAppendTESTOperator.
const StringAppendTESTOperatorName = "StringAppendTESTOperator"

// StringAppendTESTOperator is StringAppendOperator without partial merges: all
// operands stay until there is a full merge.
type StringAppendTESTOperator struct {
	rocksdb.MergeOperatorBase
	delim string
}

var stringAppendTESTTable = options.NewTable[StringAppendTESTOperator]("Delimiter",
	options.F("delimiter", func(o *StringAppendTESTOperator) any { return &o.delim }, 0))

// NewStringAppendTESTOperator makes an operator.
func NewStringAppendTESTOperator(delim string) *StringAppendTESTOperator {
	return &StringAppendTESTOperator{delim: delim}
}

// Name is StringAppendTESTOperatorName.
func (*StringAppendTESTOperator) Name() string { return StringAppendTESTOperatorName }

// NickName is "stringappendtest".
func (*StringAppendTESTOperator) NickName() string { return "stringappendtest" }

// OptionSets has the delimiter.
func (o *StringAppendTESTOperator) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: stringAppendTESTTable, Ptr: o}}
}

// FullMergeV2 appends the operands to the value; a lone operand is the result
// itself.
func (o *StringAppendTESTOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if in.ExistingValue == nil && len(in.Operands) == 1 {
		out.ExistingOperand = present(in.Operands[0])
		return true
	}
	b := grown(out.NewValue[:0], in.ExistingValue, in.Operands, o.delim)
	out.NewValue = appendJoined(append(b, in.ExistingValue...), in.Operands, o.delim, in.ExistingValue != nil)
	return true
}

// Port of utilities/merge_operators/string_append/stringappend.{h,cc}. Differs:
// appends all operands at once.

package mergeoperators

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// StringAppendOperatorName is the name of StringAppendOperator.
const StringAppendOperatorName = "StringAppendOperator"

// StringAppendOperator appends operands to the value, with a delimiter between
// them, of any length.
type StringAppendOperator struct {
	rocksdb.MergeOperatorBase
	delim string
}

var stringAppendTable = options.NewTable[StringAppendOperator]("Delimiter",
	options.F("delimiter", func(o *StringAppendOperator) any { return &o.delim }, 0))

// NewStringAppendOperator makes an operator.
func NewStringAppendOperator(delim string) *StringAppendOperator {
	return &StringAppendOperator{delim: delim}
}

// Name is StringAppendOperatorName.
func (*StringAppendOperator) Name() string { return StringAppendOperatorName }

// NickName is "stringappend".
func (*StringAppendOperator) NickName() string { return "stringappend" }

// OptionSets has the delimiter.
func (o *StringAppendOperator) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: stringAppendTable, Ptr: o}}
}

// appendJoined appends the strings to dst, with a delimiter before each but,
// unless more is set, the first.
func appendJoined(dst []byte, list [][]byte, delim string, more bool) []byte {
	for _, s := range list {
		if more {
			dst = append(dst, delim...)
		}
		dst = append(dst, s...)
		more = true
	}
	return dst
}

// grown gives b with room for a join, so that it grows once.
func grown(b []byte, existing []byte, list [][]byte, delim string) []byte {
	n := len(b) + len(existing)
	for _, s := range list {
		n += len(delim) + len(s)
	}
	if n <= cap(b) {
		return b
	}
	return append(make([]byte, 0, n), b...)
}

// FullMergeV2 appends the operands to the value.
func (o *StringAppendOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	b := grown(out.NewValue[:0], in.ExistingValue, in.Operands, o.delim)
	out.NewValue = appendJoined(append(b, in.ExistingValue...), in.Operands, o.delim, in.ExistingValue != nil)
	return true
}

// PartialMergeMulti joins the operands.
func (o *StringAppendOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	return appendJoined(grown(dst, nil, operands, o.delim), operands, o.delim, false), true
}

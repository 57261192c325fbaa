// Port of utilities/merge_operators.{h,cc}. Differs: Register is called
// explicitly.

package mergeoperators

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// defaultDelimiter is that of string appending operators made by name.
const defaultDelimiter = ","

// builtins are the operators by name and nickname. The older put operator goes
// by its nickname alone, as both put operators have one name.
var builtins = []struct {
	name, nickName string
	make           func() rocksdb.MergeOperator
}{
	{StringAppendOperatorName, "stringappend", func() rocksdb.MergeOperator { return NewStringAppendOperator(defaultDelimiter) }},
	{StringAppendTESTOperatorName, "stringappendtest", func() rocksdb.MergeOperator { return NewStringAppendTESTOperator(defaultDelimiter) }},
	{SortListName, "sortlist", func() rocksdb.MergeOperator { return SortList{} }},
	{BytesXOROperatorName, "bytesxor", func() rocksdb.MergeOperator { return BytesXOROperator{} }},
	{UInt64AddOperatorName, "uint64add", func() rocksdb.MergeOperator { return UInt64AddOperator{} }},
	{MaxOperatorName, "max", func() rocksdb.MergeOperator { return MaxOperator{} }},
	{PutOperatorName, "put", func() rocksdb.MergeOperator { return PutOperatorV2{} }},
	{putV1NickName, "", func() rocksdb.MergeOperator { return PutOperator{} }},
}

// Register registers the operators in l and gives their number.
func Register(l *registry.Library) int {
	for _, b := range builtins {
		e := registry.NewPatternEntry(b.name)
		if b.nickName != "" {
			e.AnotherName(b.nickName)
		}
		l.AddPattern(registry.KindMergeOperator, e, func(*rocksdb.ConfigOptions, string) (any, error) {
			return b.make(), nil
		})
	}
	return len(builtins)
}

var once sync.Once

// RegisterDefault registers the operators in the process's registry; further
// calls do nothing.
func RegisterDefault() { once.Do(func() { Register(registry.DefaultLibrary()) }) }

// New makes an operator from a name, a nickname or an option string such as
// "id=stringappend;delimiter=|", by the process's registry. The error is
// NotSupported for a name that nobody registered; an empty string is no
// operator, nil.
func New(value string) (rocksdb.MergeOperator, error) {
	RegisterDefault()
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	return options.CreateFromString[rocksdb.MergeOperator](&cfg, registry.KindMergeOperator, value)
}

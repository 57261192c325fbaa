// Port of the RegisterBuiltin… functions that upstream calls from its object
// registry.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/builtin"
	compactionfilters "github.com/rocksdb-go/rocksdb/utilities/compaction_filters"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// registerBuiltins fills the process's registry. Comparators, slice transforms
// and file checksums are in it from the start.
func registerBuiltins() {
	builtin.RegisterDefault()
	l := registry.DefaultLibrary()
	monitoring.RegisterBuiltinStatistics(l)
	mergeoperators.RegisterDefault()
	compactionfilters.Register(l)
	compaction.RegisterSstPartitionerFactories(l)
}

// NewMergeOperator makes a merge operator by name ("uint64add", "max",
// "StringAppendOperator", …) or from an option string, such as
// "id=stringappend;delimiter=|". The error is NotSupported for an unknown name.
func NewMergeOperator(name string) (MergeOperator, error) { return mergeoperators.New(name) }

// NewStringAppendOperator makes the operator that appends, with delim between.
func NewStringAppendOperator(delim string) MergeOperator {
	return mergeoperators.NewStringAppendOperator(delim)
}

// NewUInt64AddOperator makes the operator that adds numbers of 8 bytes,
// little-endian.
func NewUInt64AddOperator() MergeOperator { return mergeoperators.UInt64AddOperator{} }

// NewAssociativeMergeOperator makes a merge operator of the simple form.
func NewAssociativeMergeOperator(o AssociativeMergeOperator) MergeOperator {
	return mergeoperators.NewAssociative(o)
}

// NewSstPartitionerFixedPrefixFactory cuts tables where the first length bytes
// of the keys change.
func NewSstPartitionerFixedPrefixFactory(length int) SstPartitionerFactory {
	return compaction.NewSstPartitionerFixedPrefixFactory(length)
}

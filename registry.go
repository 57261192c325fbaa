// Port of the RegisterBuiltin… functions that upstream calls from its object
// registry.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/builtin"
	compactionfilters "github.com/rocksdb-go/rocksdb/utilities/compaction_filters"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
	tablepropertiescollectors "github.com/rocksdb-go/rocksdb/utilities/table_properties_collectors"
)

// registerBuiltins fills the process's registry. Comparators, slice transforms
// and file checksums are in it from the start.
func registerBuiltins() {
	builtin.RegisterDefault()
	fsutil.RegisterDefault()
	l := registry.DefaultLibrary()
	monitoring.RegisterBuiltinStatistics(l)
	mergeoperators.RegisterDefault()
	compactionfilters.Register(l)
	tablepropertiescollectors.Register(l)
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

// CompactOnDeletionCollectorFactory marks tables with many deletions for
// compaction.
type CompactOnDeletionCollectorFactory = tablepropertiescollectors.CompactOnDeletionCollectorFactory

// NewCompactOnDeletionCollectorFactory marks tables with deletionTrigger
// deletions or more among slidingWindowSize consecutive entries, or with a part
// of deletions of deletionRatio or more, and at least minFileSize bytes. A
// window of 0, and a ratio that is not above 0 and at most 1, are not looked at.
func NewCompactOnDeletionCollectorFactory(slidingWindowSize, deletionTrigger uint64, deletionRatio float64, minFileSize uint64) *CompactOnDeletionCollectorFactory {
	return tablepropertiescollectors.NewCompactOnDeletionCollectorFactory(slidingWindowSize, deletionTrigger, deletionRatio, minFileSize)
}

// CompactForTieringCollectorFactory marks tables for compaction whose entries
// may go to the last level.
type CompactForTieringCollectorFactory = tablepropertiescollectors.CompactForTieringCollectorFactory

// NewCompactForTieringCollectorFactory marks tables where that part of the
// entries, or more, may go to the last level.
func NewCompactForTieringCollectorFactory(compactionTriggerRatio float64) *CompactForTieringCollectorFactory {
	return tablepropertiescollectors.NewCompactForTieringCollectorFactory(compactionTriggerRatio)
}

// NewSstPartitionerFixedPrefixFactory cuts tables where the first length bytes
// of the keys change.
func NewSstPartitionerFixedPrefixFactory(length int) SstPartitionerFactory {
	return compaction.NewSstPartitionerFixedPrefixFactory(length)
}

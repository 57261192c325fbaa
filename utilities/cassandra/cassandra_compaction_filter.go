// Port of utilities/cassandra/cassandra_compaction_filter.{h,cc}. Differs: a
// damaged row is kept as it is.

package cassandra

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// CassandraCompactionFilterName is the name of CassandraCompactionFilter.
const CassandraCompactionFilterName = "CassandraCompactionFilter"

// CassandraCompactionFilter drops or deletes the expired columns of rows, and
// drops, out of rows that are not merge operands, the columns deleted long enough
// ago. A row of which nothing is left is removed.
type CassandraCompactionFilter struct{ withOptions }

// NewCassandraCompactionFilter makes a filter; see CassandraOptions.
func NewCassandraCompactionFilter(purgeTTLOnExpiration bool, gcGracePeriodInSeconds uint32) *CassandraCompactionFilter {
	return &CassandraCompactionFilter{withOptions{table: filterTable,
		o: CassandraOptions{GCGracePeriodInSeconds: gcGracePeriodInSeconds, PurgeTTLOnExpiration: purgeTTLOnExpiration}}}
}

// Name is CassandraCompactionFilterName.
func (*CassandraCompactionFilter) Name() string { return CassandraCompactionFilterName }

// IgnoreSnapshots is what all filters are.
func (*CassandraCompactionFilter) IgnoreSnapshots() bool { return true }

// FilterV3 implements rocksdb.CompactionFilter.
func (f *CassandraCompactionFilter) FilterV3(_ int, _ []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if vt != rocksdb.CompactionFilterValue && vt != rocksdb.CompactionFilterMergeOperand {
		return rocksdb.FilterKeep, nil, nil
	}
	row, err := DeserializeRowValue(existing)
	if err != nil {
		return rocksdb.FilterKeep, nil, nil
	}
	var changed bool
	if f.o.PurgeTTLOnExpiration {
		row, changed = row.RemoveExpiredColumns()
	} else {
		row, changed = row.ConvertExpiredColumnsToTombstones()
	}
	if vt == rocksdb.CompactionFilterValue {
		row = row.RemoveTombstones(f.o.GCGracePeriodInSeconds)
	}
	switch {
	case row.Empty():
		return rocksdb.FilterRemove, nil, nil
	case changed:
		return rocksdb.FilterChangeValue, row.Serialize(nil), nil
	}
	return rocksdb.FilterKeep, nil, nil
}

// CassandraCompactionFilterFactoryName is the name of
// CassandraCompactionFilterFactory.
const CassandraCompactionFilterFactoryName = "CassandraCompactionFilterFactory"

// CassandraCompactionFilterFactory makes filters for compactions.
type CassandraCompactionFilterFactory struct{ withOptions }

// NewCassandraCompactionFilterFactory makes a factory; see CassandraOptions.
func NewCassandraCompactionFilterFactory(purgeTTLOnExpiration bool, gcGracePeriodInSeconds uint32) *CassandraCompactionFilterFactory {
	return &CassandraCompactionFilterFactory{NewCassandraCompactionFilter(purgeTTLOnExpiration, gcGracePeriodInSeconds).withOptions}
}

// Name is CassandraCompactionFilterFactoryName.
func (*CassandraCompactionFilterFactory) Name() string { return CassandraCompactionFilterFactoryName }

// ShouldFilterTableFileCreation asks for compactions alone.
func (*CassandraCompactionFilterFactory) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == rocksdb.TableFileCreationReasonCompaction
}

// CreateCompactionFilter makes a filter with the factory's options.
func (f *CassandraCompactionFilterFactory) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return &CassandraCompactionFilter{f.withOptions}
}

// RegisterCassandraObjects registers the package's plug-ins in l and gives their
// number.
func RegisterCassandraObjects(l *registry.Library) int {
	for _, p := range []struct {
		kind, name string
		make       func() any
	}{
		{registry.KindMergeOperator, CassandraValueMergeOperatorName, func() any { return NewCassandraValueMergeOperator(0, 0) }},
		{registry.KindCompactionFilter, CassandraCompactionFilterName, func() any { return NewCassandraCompactionFilter(false, 0) }},
		{registry.KindCompactionFilterFactory, CassandraCompactionFilterFactoryName, func() any { return NewCassandraCompactionFilterFactory(false, 0) }},
	} {
		l.AddFactory(p.kind, p.name, func(*rocksdb.ConfigOptions, string) (any, error) { return p.make(), nil })
	}
	return 3
}

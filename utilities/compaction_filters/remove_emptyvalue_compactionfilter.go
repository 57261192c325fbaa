// Port of utilities/compaction_filters/remove_emptyvalue_compactionfilter.{h,cc}.

package compactionfilters

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// RemoveEmptyValueCompactionFilterName is the name of
// RemoveEmptyValueCompactionFilter.
const RemoveEmptyValueCompactionFilterName = "RemoveEmptyValueCompactionFilter"

// RemoveEmptyValueCompactionFilter removes keys whose value is empty; merge
// operands stay.
type RemoveEmptyValueCompactionFilter struct{}

// Name is RemoveEmptyValueCompactionFilterName.
func (RemoveEmptyValueCompactionFilter) Name() string { return RemoveEmptyValueCompactionFilterName }

// IgnoreSnapshots is true.
func (RemoveEmptyValueCompactionFilter) IgnoreSnapshots() bool { return true }

// FilterV3 removes plain values that are empty.
func (RemoveEmptyValueCompactionFilter) FilterV3(_ int, _ []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	if vt == rocksdb.CompactionFilterValue && len(existing) == 0 {
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterKeep, nil, nil
}

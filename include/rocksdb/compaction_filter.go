// Port of include/rocksdb/compaction_filter.h. Differs: the V4 decision method
// alone, whose default forms CompactionFilterBase gives.

package rocksdb

// CompactionFilterValueType is the kind of entry a filter sees.
type CompactionFilterValueType uint8

// The kinds.
const (
	CompactionFilterValue CompactionFilterValueType = iota
	CompactionFilterMergeOperand
	CompactionFilterBlobIndex
	CompactionFilterDeletion
	CompactionFilterWideColumnEntity
)

// CompactionFilterDecision is what to do with an entry.
type CompactionFilterDecision uint8

// The decisions.
const (
	FilterKeep CompactionFilterDecision = iota
	FilterRemove
	FilterChangeValue
	FilterRemoveAndSkipUntil
	FilterChangeBlobIndex
	FilterIOError
	FilterPurge
	FilterChangeWideColumnEntity
	FilterUndetermined
)

// CompactionFilterContext describes the job a filter is made for.
type CompactionFilterContext struct {
	IsFullCompaction     bool
	IsManualCompaction   bool
	InputStartLevel      int // -1 when not known
	ColumnFamilyID       uint32
	Reason               TableFileCreationReason
	InputTableProperties map[string]*TableProperties
	IsBottommostLevel    bool
}

// CompactionFilter may drop or change entries while they are rewritten. It is
// called from one goroutine at a time unless it was set as
// ColumnFamilyOptions.CompactionFilter.
type CompactionFilter interface {
	Name() string
	// FilterV3 decides about a value or merge operand of a key at a level.
	// newValue and skipUntil are used with FilterChangeValue and
	// FilterRemoveAndSkipUntil.
	FilterV3(level int, key []byte, vt CompactionFilterValueType, existing []byte) (d CompactionFilterDecision, newValue, skipUntil []byte)
	// IgnoreSnapshots must be true (upstream no longer supports false).
	IgnoreSnapshots() bool
}

// CompactionFilterFactory makes a filter for each job.
type CompactionFilterFactory interface {
	Name() string
	// ShouldFilterTableFileCreation asks for filtering in jobs other than
	// compactions.
	ShouldFilterTableFileCreation(reason TableFileCreationReason) bool
	// CreateCompactionFilter may return nil for no filtering.
	CreateCompactionFilter(ctx *CompactionFilterContext) CompactionFilter
}

// Port of include/rocksdb/compaction_filter.h. Differs: FilterV3 gets entities in
// the stored form; FilterV4 and FilterBlobByKey are interfaces of their own.

package rocksdb

// CompactionFilterValueType is the kind of entry a filter sees.
type CompactionFilterValueType uint8

// The kinds.
const (
	CompactionFilterValue CompactionFilterValueType = iota
	CompactionFilterMergeOperand
	CompactionFilterBlobIndex
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
	// FilterRemoveAndSkipUntil. An entity is shown in its stored form, values of
	// blobs in it; FilterChangeWideColumnEntity wants newValue in that form.
	FilterV3(level int, key []byte, vt CompactionFilterValueType, existing []byte) (d CompactionFilterDecision, newValue, skipUntil []byte)
	// IgnoreSnapshots must be true (upstream no longer supports false).
	IgnoreSnapshots() bool
}

// WideColumnBlobResolver reads columns that are in blob files, for a
// CompactionFilterV4, during its call.
type WideColumnBlobResolver interface {
	// IsBlobColumn tells whether the column of that place is in a blob file: its
	// value in the columns is a reference then.
	IsBlobColumn(column int) bool
	// ResolveColumn gives a column's value, wherever it is. An error fails the
	// compaction.
	ResolveColumn(column int) ([]byte, error)
}

// CompactionFilterV4 is a CompactionFilter that takes entities as columns. Where
// a filter has it, it is called and FilterV3 is not, but for merge operands.
type CompactionFilterV4 interface {
	CompactionFilter
	// FilterV4 decides about a value, which existing is, or an entity, which
	// columns are, in order; blobs reads those in blob files. newColumns, in any
	// order, is used with FilterChangeWideColumnEntity, which makes an entity of
	// a plain value, too.
	FilterV4(level int, key []byte, vt CompactionFilterValueType, existing []byte, columns WideColumns, blobs WideColumnBlobResolver) (d CompactionFilterDecision, newValue []byte, newColumns WideColumns, skipUntil []byte)
}

// CompactionFilterBlobByKey is a CompactionFilter that may decide about a plain
// value in a blob file by its key, which saves reading the blob. Columns of
// entities are not asked for.
type CompactionFilterBlobByKey interface {
	CompactionFilter
	// FilterBlobByKey decides about a key at a level, as FilterV3 does;
	// FilterUndetermined has the blob read and the filter asked again, with the
	// value.
	FilterBlobByKey(level int, key []byte) (d CompactionFilterDecision, newValue, skipUntil []byte)
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

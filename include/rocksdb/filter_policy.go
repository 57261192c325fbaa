// Port of include/rocksdb/filter_policy.h and the abstract classes of
// table/block_based/filter_policy_internal.h.

package rocksdb

// FilterBuildingContext describes the file a filter is built for.
type FilterBuildingContext struct {
	TableOptions     *BlockBasedTableOptions
	CompactionStyle  CompactionStyle
	NumLevels        int // -1 when not known
	InfoLog          Logger
	ColumnFamilyName string
	LevelAtCreation  int // -1 when not known
	IsBottommost     bool
	Reason           TableFileCreationReason
}

// FilterBitsBuilder collects one filter's keys. It is used by one goroutine.
type FilterBitsBuilder interface {
	// AddKey adds a key; equal keys in a row count once.
	AddKey(key []byte)
	// AddKeyAndAlt adds a key and its prefix (or other alternative), each
	// deduplicated against its own predecessor.
	AddKeyAndAlt(key, alt []byte)
	// EstimateEntriesAdded counts what was added so far.
	EstimateEntriesAdded() int
	// Finish returns the filter with its metadata; the slice belongs to the
	// caller. The builder is then empty.
	Finish() ([]byte, error)
	// CalculateSpace is the size of a filter of n keys, in bytes.
	CalculateSpace(n int) int
	// ApproximateNumEntries is how many keys fit in bytes.
	ApproximateNumEntries(bytes int) int
}

// FilterBitsReader answers from a finished filter. It is safe for concurrent
// use.
type FilterBitsReader interface {
	// MayMatch is false only when key was not added.
	MayMatch(key []byte) bool
	// MayMatchBatch answers for each key; may has keys' length.
	MayMatchBatch(keys [][]byte, may []bool)
	// HashMayMatch is MayMatch for a key already hashed with the 64-bit filter
	// hash.
	HashMayMatch(h uint64) bool
}

// FilterPolicy makes filters and reads them. Policies with one
// CompatibilityName read each other's filters.
type FilterPolicy interface {
	Name() string
	CompatibilityName() string
	// ID is what the OPTIONS file keeps, parameters included.
	ID() string
	// GetBuilderWithContext may return nil: no filter for this file.
	GetBuilderWithContext(ctx *FilterBuildingContext) FilterBitsBuilder
	// GetFilterBitsReader never fails: of contents it does not know it makes a
	// reader that matches all. It keeps contents.
	GetFilterBitsReader(contents []byte) FilterBitsReader
}

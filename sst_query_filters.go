// Port of include/rocksdb/experimental.h (query filters), as Go programs use it.

package rocksdb

import "github.com/rocksdb-go/rocksdb/db/experimental"

// What filters for range queries are made of; see package db/experimental.
type (
	KeyCategory                  = experimental.KeyCategory
	KeyCategorySet               = experimental.KeyCategorySet
	KeyKind                      = experimental.KeyKind
	KeySegments                  = experimental.KeySegments
	KeySegmentsExtractor         = experimental.KeySegmentsExtractor
	SstQueryFilterInput          = experimental.FilterInput
	SstQueryFilterConfig         = experimental.SstQueryFilterConfig
	SstQueryFilterConfigs        = experimental.SstQueryFilterConfigs
	SstQueryFilterNamedConfigs   = experimental.NamedConfigs
	SstQueryFilterVersionConfigs = experimental.VersionConfigs
	SstQueryFilterConfigsManager = experimental.SstQueryFilterConfigsManager
	SstQueryFilterFactory        = experimental.Factory
)

// AllKeyCategories is the set of all categories.
const AllKeyCategories = experimental.AllCategories

// NewKeyCategorySet is the set of some categories.
func NewKeyCategorySet(categories ...KeyCategory) KeyCategorySet {
	return experimental.NewKeyCategorySet(categories...)
}

// SelectWholeKey is a filter's input: the key without its timestamp.
func SelectWholeKey() SstQueryFilterInput { return experimental.SelectWholeKey() }

// SelectKeySegment is a segment of the key, counted from 0, up to 15.
func SelectKeySegment(i uint8) SstQueryFilterInput { return experimental.SelectKeySegment(i) }

// SelectKeySegmentRange is some segments in a row; see
// experimental.SelectKeySegmentRange.
func SelectKeySegmentRange(from, to uint8) SstQueryFilterInput {
	return experimental.SelectKeySegmentRange(from, to)
}

// NewCappedKeySegmentsExtractor gives the extractor of segments of the widths, in
// bytes.
func NewCappedKeySegmentsExtractor(byteWidths ...uint64) (KeySegmentsExtractor, error) {
	return experimental.NewCappedKeySegmentsExtractor(byteWidths...)
}

// NewBytewiseMinMaxSQFC keeps the least and greatest value of a part of the keys of
// some categories, for families in bytewise order.
func NewBytewiseMinMaxSQFC(input SstQueryFilterInput, categories KeyCategorySet) (*SstQueryFilterConfig, error) {
	return experimental.NewBytewiseMinMaxSQFC(input, categories)
}

// NewReverseBytewiseMinMaxSQFC is NewBytewiseMinMaxSQFC for reversed order.
func NewReverseBytewiseMinMaxSQFC(input SstQueryFilterInput, categories KeyCategorySet) (*SstQueryFilterConfig, error) {
	return experimental.NewReverseBytewiseMinMaxSQFC(input, categories)
}

// NewSstQueryFilterConfigsManager makes the manager of all versions of a program's
// filters; SstQueryFilterConfigsManager.NewFactory gives what goes into
// ColumnFamilyOptions.TablePropertiesCollectorFactories and makes
// ReadOptions.TableFilter.
func NewSstQueryFilterConfigsManager(data ...SstQueryFilterVersionConfigs) (*SstQueryFilterConfigsManager, error) {
	return experimental.NewSstQueryFilterConfigsManager(data...)
}

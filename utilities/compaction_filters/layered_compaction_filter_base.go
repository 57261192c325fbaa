// Port of utilities/compaction_filters/layered_compaction_filter_base.h.
// Differs: one field, as ownership is the garbage collector's.

package compactionfilters

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// LayeredCompactionFilterBase is a part of filters that look at entries before
// a user's filter does.
type LayeredCompactionFilterBase struct {
	// User is the user's filter, or nil.
	User rocksdb.CompactionFilter
}

// NewLayeredCompactionFilterBase takes the user's filter, or else the one that
// the user's factory made; both may be nil.
func NewLayeredCompactionFilterBase(filter, fromFactory rocksdb.CompactionFilter) LayeredCompactionFilterBase {
	if filter == nil {
		filter = fromFactory
	}
	return LayeredCompactionFilterBase{User: filter}
}

// Inner gives the user's filter.
func (b *LayeredCompactionFilterBase) Inner() rocksdb.Customizable {
	if b.User == nil {
		return nil
	}
	return b.User
}

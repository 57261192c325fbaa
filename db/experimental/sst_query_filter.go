// Port of db/experimental.cc (SstQueryFilterConfig, SstQueryFilterBuilder).

package experimental

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// Types of filters.
const (
	extractorAndCategoriesFilter = 0x01
	categoryScopeFilter          = 0x02
	bytewiseMinMaxFilter         = 0x10
	reverseBytewiseMinMaxFilter  = 0x11
)

// emptySeen is a flag of a filter: the part is empty in some keys, which the least
// and greatest value leave out.
const emptySeen = 1

// SstQueryFilterConfig is a kind of filter: the least and greatest value of a part
// of the keys of some categories.
type SstQueryFilterConfig struct {
	input      FilterInput
	categories KeyCategorySet
	reverse    bool
}

func newMinMax(input FilterInput, categories KeyCategorySet, reverse bool) (*SstQueryFilterConfig, error) {
	if _, ok := input.encode(); !ok {
		return nil, rocksdb.InvalidArgumentf("a filter of segments %d to %d is not supported", input.from, input.to)
	}
	return &SstQueryFilterConfig{input, categories, reverse}, nil
}

// NewBytewiseMinMaxSQFC is for families in bytewise order. The error is
// InvalidArgument for an input out of range.
// Upstream: MakeSharedBytewiseMinMaxSQFC.
func NewBytewiseMinMaxSQFC(input FilterInput, categories KeyCategorySet) (*SstQueryFilterConfig, error) {
	return newMinMax(input, categories, false)
}

// NewReverseBytewiseMinMaxSQFC is for families in reversed bytewise order.
// Upstream: MakeSharedReverseBytewiseMinMaxSQFC.
func NewReverseBytewiseMinMaxSQFC(input FilterInput, categories KeyCategorySet) (*SstQueryFilterConfig, error) {
	return newMinMax(input, categories, true)
}

// minMaxBuilder gathers a filter of a table.
type minMaxBuilder struct {
	*SstQueryFilterConfig
	smallest, largest []byte // bytewise; empty before the first
	emptySeen         bool
	outOfOrder        bool // parts are not in the keys' order: no filter
}

// add takes the next key, and the one before, nil at first.
func (b *minMaxBuilder) add(key []byte, s *KeySegments, prevKey []byte, prev *KeySegments) {
	if !b.categories.Contains(s.Category) {
		return
	}
	input, leadup := b.input.of(key, s)
	if prev != nil {
		prevInput, prevLeadup := b.input.of(prevKey, prev)
		if bytes.Equal(prevLeadup, leadup) {
			c := bytes.Compare(prevInput, input)
			b.outOfOrder = b.outOfOrder || c > 0 && !b.reverse || c < 0 && b.reverse
		}
	}
	switch {
	case b.outOfOrder:
	case len(input) == 0:
		b.emptySeen = true
	case len(b.largest) == 0:
		b.smallest, b.largest = append(b.smallest, input...), append(b.largest, input...)
	case bytes.Compare(input, b.largest) > 0:
		b.largest = append(b.largest[:0], input...)
	case bytes.Compare(input, b.smallest) < 0:
		b.smallest = append(b.smallest[:0], input...)
	}
}

// finish gives the filter, nil for none.
func (b *minMaxBuilder) finish() []byte {
	if len(b.largest) == 0 || b.outOfOrder {
		return nil
	}
	input, _ := b.input.encode()
	typ, first, last := byte(bytewiseMinMaxFilter), b.smallest, b.largest
	if b.reverse {
		typ, first, last = reverseBytewiseMinMaxFilter, last, first
	}
	flags := byte(0)
	if b.emptySeen {
		flags = emptySeen
	}
	var f []byte
	if b.categories != AllCategories {
		f = util.AppendVarint64([]byte{categoryScopeFilter}, uint64(b.categories))
		f = util.AppendVarint64(f, 1)
	}
	f = util.AppendVarint32(append(f, typ, flags, input), uint32(len(first)))
	return append(append(f, first...), last...)
}

// rangeQuery is a range that filters are asked about. What cannot be read may
// match.
// Upstream: RangeQueryFilterReader.
type rangeQuery struct {
	lower, upper []byte // upper is not in the range
	extractors   func(id string) KeySegmentsExtractor
}

// boundSegments are the segments of a range's bounds.
type boundSegments struct{ lower, upper KeySegments }

// mayMatch asks filters; s is nil outside of those of an extractor.
func (q *rangeQuery) mayMatch(filters []byte, s *boundSegments) bool {
	count, rest, ok := util.GetVarint64(filters)
	if !ok {
		return true
	}
	for i := range count {
		filter := rest
		if i+1 < count {
			var n uint64
			if n, rest, ok = util.GetVarint64(rest); !ok || n > uint64(len(rest)) {
				return true
			}
			filter, rest = rest[:n], rest[n:]
		}
		if len(filter) == 0 {
			return true
		}
		switch typ := filter[0]; {
		case typ == extractorAndCategoriesFilter:
			ok = q.extractorMayMatch(filter[1:])
		case typ == categoryScopeFilter && s != nil:
			ok = q.categoriesMayMatch(filter[1:], s)
		case (typ == bytewiseMinMaxFilter || typ == reverseBytewiseMinMaxFilter) && s != nil:
			ok = q.minMaxMayMatch(filter, s)
		default: // of a later version
			ok = true
		}
		if !ok {
			return false
		}
	}
	return true
}

func (q *rangeQuery) extractorMayMatch(filter []byte) bool {
	n, rest, ok := util.GetVarint64(filter)
	if !ok || n == 0 || n > uint64(len(rest)) {
		return true
	}
	extractor := q.extractors(string(rest[:n]))
	categories, filters, ok := util.GetVarint64(rest[n:])
	if extractor == nil || !ok {
		return true
	}
	var s boundSegments
	extractor.Extract(q.lower, InclusiveLowerBound, &s.lower)
	extractor.Extract(q.upper, ExclusiveUpperBound, &s.upper)
	if s.lower.Category >= minErrorCategory || s.upper.Category >= minErrorCategory {
		return true
	}
	// As categories lie together, a range within one meets no other.
	if s.lower.Category == s.upper.Category && !KeyCategorySet(categories).Contains(s.lower.Category) {
		return false
	}
	return q.mayMatch(filters, &s)
}

func (q *rangeQuery) categoriesMayMatch(filter []byte, s *boundSegments) bool {
	categories, filters, ok := util.GetVarint64(filter)
	if !ok || s.lower.Category != s.upper.Category || !KeyCategorySet(categories).Contains(s.lower.Category) {
		return true
	}
	return q.mayMatch(filters, s)
}

func (q *rangeQuery) minMaxMayMatch(filter []byte, s *boundSegments) bool {
	if len(filter) <= 4 {
		return true
	}
	input, ok := decodeFilterInput(filter[2])
	n, rest, read := util.GetVarint32(filter[3:])
	if !ok || !read || uint64(len(rest)) <= uint64(n) {
		return true
	}
	first, last := rest[:n], rest[n:]
	lower, lowerLeadup := input.of(q.lower, &s.lower)
	upper, upperLeadup := input.of(q.upper, &s.upper)
	switch {
	case !bytes.Equal(lowerLeadup, upperLeadup):
		return true // what comes before the part varies, so the part may be anything
	case filter[1]&emptySeen != 0 && len(lower) == 0:
		return true
	case filter[0] == reverseBytewiseMinMaxFilter:
		return bytes.Compare(upper, first) <= 0 && bytes.Compare(lower, last) >= 0
	}
	return bytes.Compare(upper, first) >= 0 && bytes.Compare(lower, last) <= 0
}

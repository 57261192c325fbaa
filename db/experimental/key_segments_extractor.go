// Port of include/rocksdb/experimental.h and db/experimental.cc (KeySegmentsExtractor, FilterInput).
// Differs: a range of segments is read as it was written; v11.8.1 reads each as 0 to 6.

package experimental

import (
	"math"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// KeyCategory divides keys into kinds, up to 64, which filters can tell apart. All
// keys of one lie together in the order of the family.
type KeyCategory uint8

// Categories with a meaning. From ErrorCategoryFilterScope on they say that a key
// should not be there: the table then gets no filters.
const (
	DefaultCategory          KeyCategory = 0
	ReservedLowCategory      KeyCategory = 62 // for keys before those meant
	ReservedHighCategory     KeyCategory = 63 // and after them
	MaxUsableCategory        KeyCategory = ReservedHighCategory
	ErrorCategoryFilterScope KeyCategory = math.MaxUint8 - 2
	ErrorCategoryFileScope   KeyCategory = math.MaxUint8 - 1
	ErrorCategoryDBScope     KeyCategory = math.MaxUint8
	minErrorCategory                     = ErrorCategoryFilterScope
)

// KeyCategorySet has a bit a category.
type KeyCategorySet uint64

// AllCategories is the set of all.
const AllCategories KeyCategorySet = math.MaxUint64

// NewKeyCategorySet is the set of some.
func NewKeyCategorySet(categories ...KeyCategory) (s KeyCategorySet) {
	for _, c := range categories {
		s.add(c)
	}
	return s
}

// Contains tells whether c is in s.
func (s KeyCategorySet) Contains(c KeyCategory) bool { return c <= MaxUsableCategory && s>>c&1 == 1 }

// add tells whether c is new.
func (s *KeyCategorySet) add(c KeyCategory) bool {
	had := s.Contains(c)
	*s |= 1 << c
	return !had
}

// KeyKind is what an extractor is given.
type KeyKind uint8

// A key without its timestamp, and the bounds of a range.
const (
	FullUserKey KeyKind = iota
	InclusiveLowerBound
	ExclusiveUpperBound
)

// KeySegments is what an extractor finds: the end of each segment in the key, where
// the next one begins, and the key's category. Segments of no bytes are allowed.
type KeySegments struct {
	SegmentEnds []uint32
	Category    KeyCategory
}

func (s *KeySegments) reset() {
	s.SegmentEnds, s.Category = s.SegmentEnds[:0], DefaultCategory
}

// KeySegmentsExtractor divides keys into segments. For filters to be right, the
// segments of a key have to depend on the bytes up to their end only. It is called
// by several goroutines at once.
type KeySegmentsExtractor interface {
	Name() string
	// GetID tells extractors apart that give different results; it is written to
	// tables.
	GetID() string
	// Extract appends to result's segments, which are none at first, and may set
	// its category.
	Extract(keyOrBound []byte, kind KeyKind, result *KeySegments)
}

// cappedExtractor gives segments of so many bytes, less at a key's end.
type cappedExtractor struct {
	ends []uint32
	id   string
}

// NewCappedKeySegmentsExtractor gives the extractor of segments of the widths, in
// bytes; where a key is shorter, the last ones are shorter or empty. The error is
// InvalidArgument for widths out of range.
func NewCappedKeySegmentsExtractor(byteWidths ...uint64) (KeySegmentsExtractor, error) {
	e := &cappedExtractor{id: (*cappedExtractor)(nil).Name()}
	end := uint64(0)
	for _, w := range byteWidths {
		if end += w; w > math.MaxUint32/2 || end > math.MaxUint32 {
			return nil, rocksdb.InvalidArgumentf("segments of %v bytes are too wide", byteWidths)
		}
		e.ends = append(e.ends, uint32(end))
		e.id += strconv.FormatUint(w, 10) + "b"
	}
	return e, nil
}

// Name implements KeySegmentsExtractor.
func (*cappedExtractor) Name() string { return "CappedKeySegmentsExtractor" }

// GetID implements KeySegmentsExtractor.
func (e *cappedExtractor) GetID() string { return e.id }

// Extract implements KeySegmentsExtractor.
func (e *cappedExtractor) Extract(keyOrBound []byte, _ KeyKind, result *KeySegments) {
	for _, end := range e.ends {
		result.SegmentEnds = append(result.SegmentEnds, uint32(min(uint64(end), uint64(len(keyOrBound)))))
	}
}

// FilterInput is the part of a key that a filter is of.
type FilterInput struct {
	whole    bool
	from, to uint8 // segments, both included
}

// SelectWholeKey is the key without its timestamp.
func SelectWholeKey() FilterInput { return FilterInput{whole: true} }

// SelectKeySegment is a segment, counted from 0, up to 15.
func SelectKeySegment(i uint8) FilterInput { return FilterInput{from: i, to: i} }

// SelectKeySegmentRange is the segments from from to to, both included; to is
// greater, and at most 5, or 6 with from 0.
func SelectKeySegmentRange(from, to uint8) FilterInput { return FilterInput{from: from, to: to} }

// FilterInput as a byte: 0 is the whole key, 0x1n segment n, 0x2n a range.
const (
	inputSegment      = 1 << 4
	inputSegmentRange = 2 << 4
)

// encode gives the byte; false for what has none.
func (f FilterInput) encode() (byte, bool) {
	switch {
	case f.whole:
		return 0, true
	case f.from == f.to:
		return inputSegment | f.from, f.from < 16
	case f.from > f.to || f.to > 6 || f.to == 6 && f.from > 0:
		return 0, false
	}
	return inputSegmentRange | (f.to-1)*f.to/2 + f.from, true
}

func decodeFilterInput(b byte) (FilterInput, bool) {
	low := b & 15
	switch b >> 4 {
	case 0:
		return SelectWholeKey(), low == 0
	case 1:
		return SelectKeySegment(low), true
	case 2:
		to := uint8(1)
		for ; low >= to*(to+1)/2; to++ {
		}
		return SelectKeySegmentRange(low-(to-1)*to/2, to), true
	}
	return FilterInput{}, false
}

// of gives the part of a key, and what is before it: all of the key where the part
// is empty.
// Upstream: GetFilterInput.
func (f FilterInput) of(key []byte, s *KeySegments) (input, leadup []byte) {
	start, end := 0, len(key)
	if !f.whole {
		n := len(s.SegmentEnds)
		if n <= int(f.from) {
			return nil, key
		}
		if f.from > 0 {
			start = int(s.SegmentEnds[f.from-1])
		}
		end = int(s.SegmentEnds[min(int(f.to), n-1)])
	}
	if start >= end || end > len(key) {
		return nil, key
	}
	return key[start:end], key[:start]
}

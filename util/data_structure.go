// Port of include/rocksdb/data_structure.h and util/data_structure.cc. Differs:
// a SmallEnumSet is one size (256 values) for all enums; ManagedPtr is C++'s
// destructors.

package util

import (
	"iter"
	"math/bits"
	"slices"
)

// SmallEnumSet is a set of enumerators below 256. Values compare with ==; the
// zero value is the empty set.
type SmallEnumSet[E ~uint8] struct{ words [4]uint64 }

// NewSmallEnumSet makes a set of those elements.
func NewSmallEnumSet[E ~uint8](elements ...E) SmallEnumSet[E] {
	return SmallEnumSet[E]{}.With(elements...)
}

// AllSmallEnumSet makes the set of all values up to and with last.
func AllSmallEnumSet[E ~uint8](last E) SmallEnumSet[E] {
	var s SmallEnumSet[E]
	for i := 0; i <= int(last); i++ {
		s.Add(E(i))
	}
	return s
}

// Contains tells whether e is in the set.
func (s SmallEnumSet[E]) Contains(e E) bool { return s.words[e>>6]&(1<<(e&63)) != 0 }

// Empty tells whether there are no elements.
func (s SmallEnumSet[E]) Empty() bool { return s == SmallEnumSet[E]{} }

// Count is the number of elements.
func (s SmallEnumSet[E]) Count() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Add adds e and tells whether it was not there.
func (s *SmallEnumSet[E]) Add(e E) bool {
	had := s.Contains(e)
	s.words[e>>6] |= 1 << (e & 63)
	return !had
}

// Remove removes e and tells whether it was there.
func (s *SmallEnumSet[E]) Remove(e E) bool {
	had := s.Contains(e)
	s.words[e>>6] &^= 1 << (e & 63)
	return had
}

// With is the set and those elements.
func (s SmallEnumSet[E]) With(elements ...E) SmallEnumSet[E] {
	for _, e := range elements {
		s.Add(e)
	}
	return s
}

// Without is the set but for those elements.
func (s SmallEnumSet[E]) Without(elements ...E) SmallEnumSet[E] {
	for _, e := range elements {
		s.Remove(e)
	}
	return s
}

// Elements gives the elements in rising order.
func (s SmallEnumSet[E]) Elements() iter.Seq[E] {
	return func(yield func(E) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(E(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Interval is [Start, End), or from Start on without an end.
type Interval[T any] struct {
	Start, End T
	HasEnd     bool
}

// IntervalSet keeps intervals apart and in order; overlapping and touching ones
// become one, or, if so asked, are refused. Not safe for concurrent use.
type IntervalSet[T any] struct {
	compare         func(a, b T) int
	failOnIntersect bool
	intervals       []Interval[T]
}

// NewIntervalSet makes an empty set.
func NewIntervalSet[T any](compare func(a, b T) int, failOnIntersect bool) *IntervalSet[T] {
	return &IntervalSet[T]{compare: compare, failOnIntersect: failOnIntersect}
}

// Intervals gives the intervals in order; they change with the set.
func (s *IntervalSet[T]) Intervals() []Interval[T] { return s.intervals }

// Size is the number of intervals.
func (s *IntervalSet[T]) Size() int { return len(s.intervals) }

// Empty tells whether there are no intervals.
func (s *IntervalSet[T]) Empty() bool { return len(s.intervals) == 0 }

// Clear removes all intervals.
func (s *IntervalSet[T]) Clear() { s.intervals = nil }

// Insert adds [start, end); false if it is empty or, with failOnIntersect, meets
// another.
func (s *IntervalSet[T]) Insert(start, end T) bool {
	return s.compare(start, end) < 0 && s.insert(Interval[T]{Start: start, End: end, HasEnd: true})
}

// InsertFrom adds the interval from start on.
func (s *IntervalSet[T]) InsertFrom(start T) bool { return s.insert(Interval[T]{Start: start}) }

func (s *IntervalSet[T]) insert(in Interval[T]) bool {
	// Those from lo to hi meet or touch in.
	lo := 0
	for lo < len(s.intervals) && s.intervals[lo].HasEnd && s.compare(s.intervals[lo].End, in.Start) < 0 {
		lo++
	}
	hi := lo
	for hi < len(s.intervals) && (!in.HasEnd || s.compare(s.intervals[hi].Start, in.End) <= 0) {
		hi++
	}
	if hi > lo {
		if s.failOnIntersect {
			return false
		}
		if first := s.intervals[lo]; s.compare(first.Start, in.Start) < 0 {
			in.Start = first.Start
		}
		switch last := s.intervals[hi-1]; {
		case !last.HasEnd:
			in.HasEnd = false
		case in.HasEnd && s.compare(last.End, in.End) > 0:
			in.End = last.End
		}
	}
	if !in.HasEnd {
		var zero T
		in.End = zero
	}
	s.intervals = slices.Replace(s.intervals, lo, hi, in)
	return true
}

// Port of monitoring/histogram.{h,cc}. Differs: no update is lost, since adding
// is atomic; the bucket of a value is found from its bit length.

package monitoring

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// numBuckets is the number of buckets from 1 to 2^64, growing by half.
const numBuckets = 109

// HistogramBucketMapper maps values to buckets. Bucket b holds the values up to
// and including BucketLimit(b) that the one before does not; the last one holds
// all larger values as well. Limits grow by 1.5 and are cut to two decimal
// digits for human readers.
type HistogramBucketMapper struct {
	bucketValues [numBuckets]uint64
	// firstOfLen is, for values of that bit length, the first bucket that can
	// hold one.
	firstOfLen [65]uint8
}

var bucketMapper = newHistogramBucketMapper()

func newHistogramBucketMapper() *HistogramBucketMapper {
	m := &HistogramBucketMapper{}
	m.bucketValues[0], m.bucketValues[1] = 1, 2
	n := 2
	for exact := 2 * 1.5; exact <= math.MaxUint64 && n < numBuckets; exact *= 1.5 {
		limit, powOfTen := uint64(exact), uint64(1)
		for limit/10 > 10 {
			limit /= 10
			powOfTen *= 10
		}
		m.bucketValues[n] = limit * powOfTen
		n++
	}
	for l := 1; l <= 64; l++ {
		least := uint64(1) << (l - 1)
		b := m.firstOfLen[l-1]
		for int(b) < numBuckets-1 && m.bucketValues[b] < least {
			b++
		}
		m.firstOfLen[l] = b
	}
	return m
}

// IndexForValue is the bucket of value.
func (m *HistogramBucketMapper) IndexForValue(value uint64) int {
	b := int(m.firstOfLen[bits.Len64(value)])
	for b < numBuckets-1 && m.bucketValues[b] < value {
		b++
	}
	return b
}

// BucketCount is the number of buckets.
func (m *HistogramBucketMapper) BucketCount() int { return numBuckets }

// FirstValue is the limit of the first bucket.
func (m *HistogramBucketMapper) FirstValue() uint64 { return m.bucketValues[0] }

// LastValue is the limit of the last bucket.
func (m *HistogramBucketMapper) LastValue() uint64 { return m.bucketValues[numBuckets-1] }

// BucketLimit is the largest value of bucket b.
func (m *HistogramBucketMapper) BucketLimit(b int) uint64 { return m.bucketValues[b] }

// HistogramStat is a histogram whose updates need no lock. Call Clear before the
// first use. Readers may see the parts of an Add that runs at the same time.
type HistogramStat struct {
	min        atomic.Uint64 // LastValue() when empty
	max        atomic.Uint64
	sum        atomic.Uint64
	sumSquares atomic.Uint64 // wraps around
	buckets    [numBuckets]atomic.Uint64
}

// Clear empties the histogram. Values added meanwhile may survive in part.
func (s *HistogramStat) Clear() {
	s.min.Store(bucketMapper.LastValue())
	s.max.Store(0)
	s.sum.Store(0)
	s.sumSquares.Store(0)
	for b := range s.buckets {
		s.buckets[b].Store(0)
	}
}

// Empty tells whether there are no values.
func (s *HistogramStat) Empty() bool { return s.Num() == 0 }

// Add adds a value.
func (s *HistogramStat) Add(value uint64) {
	s.buckets[bucketMapper.IndexForValue(value)].Add(1)
	lower(&s.min, value)
	raise(&s.max, value)
	s.sum.Add(value)
	s.sumSquares.Add(value * value)
}

func lower(a *atomic.Uint64, v uint64) {
	for old := a.Load(); v < old; old = a.Load() {
		if a.CompareAndSwap(old, v) {
			return
		}
	}
}

func raise(a *atomic.Uint64, v uint64) {
	for old := a.Load(); v > old; old = a.Load() {
		if a.CompareAndSwap(old, v) {
			return
		}
	}
}

// Merge adds the values of other.
func (s *HistogramStat) Merge(other *HistogramStat) {
	lower(&s.min, other.min.Load())
	raise(&s.max, other.max.Load())
	s.sum.Add(other.sum.Load())
	s.sumSquares.Add(other.sumSquares.Load())
	for b := range s.buckets {
		if n := other.buckets[b].Load(); n != 0 {
			s.buckets[b].Add(n)
		}
	}
}

// Min is the least value; the last bucket's limit when there is none.
func (s *HistogramStat) Min() uint64 { return s.min.Load() }

// Max is the greatest value.
func (s *HistogramStat) Max() uint64 { return s.max.Load() }

// Num is the number of values: the buckets', so that adding has one counter less.
func (s *HistogramStat) Num() (n uint64) {
	for b := range s.buckets {
		n += s.buckets[b].Load()
	}
	return n
}

// Sum is the sum of the values.
func (s *HistogramStat) Sum() uint64 { return s.sum.Load() }

// SumSquares is the sum of the squared values modulo 2^64.
func (s *HistogramStat) SumSquares() uint64 { return s.sumSquares.Load() }

// BucketAt is the number of values in bucket b.
func (s *HistogramStat) BucketAt(b int) uint64 { return s.buckets[b].Load() }

// Median is Percentile(50).
func (s *HistogramStat) Median() float64 { return s.Percentile(50) }

// Percentile estimates the value that p percent of the values do not exceed,
// taking values as evenly spread within their bucket.
func (s *HistogramStat) Percentile(p float64) float64 {
	threshold := float64(s.Num()) * (p / 100)
	var cumulative uint64
	for b := range s.buckets {
		inBucket := s.BucketAt(b)
		cumulative += inBucket
		if float64(cumulative) < threshold {
			continue
		}
		var left uint64
		if b > 0 {
			left = bucketMapper.BucketLimit(b - 1)
		}
		right := bucketMapper.BucketLimit(b)
		pos := 0.0
		if inBucket != 0 {
			pos = (threshold - float64(cumulative-inBucket)) / float64(inBucket)
		}
		// The conversion forbids a fused multiply-add, so that all platforms
		// print the same.
		r := float64(left) + float64(float64(right-left)*pos)
		if least := float64(s.Min()); r < least {
			r = least
		}
		if most := float64(s.Max()); r > most {
			r = most
		}
		return r
	}
	return float64(s.Max())
}

// Average is the mean; 0 when there are no values.
func (s *HistogramStat) Average() float64 {
	n := s.Num()
	if n == 0 {
		return 0
	}
	return float64(s.Sum()) / float64(n)
}

// StandardDeviation is that of the values; 0 when there are none.
func (s *HistogramStat) StandardDeviation() float64 {
	n, sum, squares := float64(s.Num()), float64(s.Sum()), float64(s.SumSquares())
	if n == 0 {
		return 0
	}
	variance := (float64(squares*n) - float64(sum*sum)) / (n * n)
	return math.Sqrt(max(variance, 0))
}

// ToString prints a summary and, unless empty, a line for each bucket in use.
func (s *HistogramStat) ToString() string {
	var b strings.Builder
	n := s.Num()
	least, most := s.Min(), s.Max()
	if n == 0 {
		least, most = 0, 0
	}
	fmt.Fprintf(&b, "Count: %d Average: %.4f  StdDev: %.2f\n", n, s.Average(), s.StandardDeviation())
	fmt.Fprintf(&b, "Min: %d  Median: %.4f  Max: %d\n", least, s.Median(), most)
	fmt.Fprintf(&b, "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n",
		s.Percentile(50), s.Percentile(75), s.Percentile(99), s.Percentile(99.9), s.Percentile(99.99))
	b.WriteString("------------------------------------------------------\n")
	if n == 0 {
		return b.String()
	}
	mult := 100 / float64(n)
	var cumulative uint64
	for i := range s.buckets {
		inBucket := s.BucketAt(i)
		if inBucket == 0 {
			continue
		}
		cumulative += inBucket
		open, left := '[', uint64(0)
		if i > 0 {
			open, left = '(', bucketMapper.BucketLimit(i-1)
		}
		percent := mult * float64(inBucket)
		fmt.Fprintf(&b, "%c %7d, %7d ] %8d %7.3f%% %7.3f%% ",
			open, left, bucketMapper.BucketLimit(i), inBucket, percent, mult*float64(cumulative))
		// 20 marks are 100%; buckets read while others add may exceed it.
		marks := int(min(percent/5+0.5, 100))
		b.WriteString(strings.Repeat("#", marks))
		b.WriteByte('\n')
	}
	return b.String()
}

// Data summarises the histogram.
func (s *HistogramStat) Data() rocksdb.HistogramData {
	return rocksdb.HistogramData{
		Median:            s.Median(),
		Percentile95:      s.Percentile(95),
		Percentile99:      s.Percentile(99),
		Max:               float64(s.Max()),
		Average:           s.Average(),
		StandardDeviation: s.StandardDeviation(),
		Count:             s.Num(),
		Sum:               s.Sum(),
		Min:               float64(s.Min()),
	}
}

// Histogram is what HistogramImpl and HistogramWindowingImpl have in common.
type Histogram interface {
	Name() string
	Clear()
	Empty() bool
	Add(value uint64)
	// Merge adds the values of a histogram of the same kind; others are
	// ignored.
	Merge(other Histogram)
	Min() uint64
	Max() uint64
	Num() uint64
	Median() float64
	Percentile(p float64) float64
	Average() float64
	StandardDeviation() float64
	Data() rocksdb.HistogramData
	ToString() string
}

// HistogramImpl is a histogram over all time. Make it with NewHistogramImpl.
type HistogramImpl struct {
	HistogramStat
	mu sync.Mutex // Clear and Merge among each other; Add goes on meanwhile
}

var _ Histogram = (*HistogramImpl)(nil)

// NewHistogramImpl gives an empty histogram.
func NewHistogramImpl() *HistogramImpl {
	h := &HistogramImpl{}
	h.HistogramStat.Clear()
	return h
}

// Name is the kind's name.
func (h *HistogramImpl) Name() string { return "HistogramImpl" }

// Clear empties the histogram.
func (h *HistogramImpl) Clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.HistogramStat.Clear()
}

// Merge adds the values of other, if that is a *HistogramImpl.
func (h *HistogramImpl) Merge(other Histogram) {
	if o, ok := other.(*HistogramImpl); ok {
		h.MergeImpl(o)
	}
}

// MergeImpl adds the values of other.
func (h *HistogramImpl) MergeImpl(other *HistogramImpl) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.HistogramStat.Merge(&other.HistogramStat)
}

// Port of monitoring/histogram_test.cc.

package monitoring

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const iota01 = 0.1 // how far percentiles may be off

// mockClock stands still unless it is told to sleep.
type mockClock struct {
	rocksdb.SystemClockWrapper
	micros atomic.Uint64
}

func newMockClock() *mockClock {
	return &mockClock{SystemClockWrapper: rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}}
}

func (c *mockClock) Name() string                    { return "MockSystemClock" }
func (c *mockClock) NowMicros() uint64               { return c.micros.Load() }
func (c *mockClock) NowNanos() uint64                { return c.micros.Load() * 1000 }
func (c *mockClock) CPUNanos() uint64                { return c.micros.Load() * 100 }
func (c *mockClock) SleepForMicroseconds(micros int) { c.micros.Add(uint64(micros)) }

func populateHistogram(h Histogram, clock rocksdb.SystemClock, low, high uint64, loop int) {
	for range loop {
		for i := low; i <= high; i++ {
			h.Add(i)
			clock.SleepForMicroseconds(rand.IntN(10))
		}
	}
	clock.SleepForMicroseconds(1)
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > iota01 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func checkEqual[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// bothKinds runs f for a HistogramImpl and for a HistogramWindowingImpl.
func bothKinds(t *testing.T, f func(t *testing.T, h, other Histogram, clock *mockClock)) {
	t.Run("HistogramImpl", func(t *testing.T) {
		f(t, NewHistogramImpl(), NewHistogramImpl(), newMockClock())
	})
	t.Run("HistogramWindowingImpl", func(t *testing.T) {
		f(t, NewDefaultHistogramWindowingImpl(), NewDefaultHistogramWindowingImpl(), newMockClock())
	})
}

func TestHistogramTest_BasicOperation(t *testing.T) {
	bothKinds(t, func(t *testing.T, h, _ Histogram, clock *mockClock) {
		populateHistogram(h, clock, 1, 110, 10)
		data := h.Data()
		checkNear(t, "P100", h.Percentile(100), 110)
		checkNear(t, "P99", data.Percentile99, 108.9)
		checkNear(t, "P95", data.Percentile95, 104.5)
		checkNear(t, "median", data.Median, 55)
		checkEqual(t, "average", data.Average, 55.5)
	})
}

func TestHistogramTest_BoundaryValue(t *testing.T) {
	// Both values are in the bucket [0, 1], whose limits belong to it.
	h := NewHistogramImpl()
	h.Add(0)
	h.Add(1)
	checkNear(t, "P50", h.Percentile(50), 0.5)
}

func TestHistogramTest_MergeHistogram(t *testing.T) {
	bothKinds(t, func(t *testing.T, h, other Histogram, clock *mockClock) {
		populateHistogram(h, clock, 1, 100, 1)
		populateHistogram(other, clock, 101, 250, 1)
		h.Merge(other)
		data := h.Data()
		checkNear(t, "P100", h.Percentile(100), 250)
		checkNear(t, "P99", data.Percentile99, 247.5)
		checkNear(t, "P95", data.Percentile95, 237.5)
		checkNear(t, "median", data.Median, 125)
		checkEqual(t, "average", data.Average, 125.5)
	})
}

func TestHistogramTest_EmptyHistogram(t *testing.T) {
	bothKinds(t, func(t *testing.T, h, _ Histogram, _ *mockClock) {
		checkEqual(t, "min", h.Min(), bucketMapper.LastValue())
		checkEqual(t, "max", h.Max(), 0)
		checkEqual(t, "num", h.Num(), 0)
		checkEqual(t, "median", h.Median(), 0)
		checkEqual(t, "P85", h.Percentile(85), 0)
		checkEqual(t, "average", h.Average(), 0)
		checkEqual(t, "standard deviation", h.StandardDeviation(), 0)
	})
}

func TestHistogramTest_ClearHistogram(t *testing.T) {
	bothKinds(t, func(t *testing.T, h, _ Histogram, _ *mockClock) {
		for i := range uint64(100) {
			h.Add(i + 1)
		}
		h.Clear()
		checkEqual(t, "empty", h.Empty(), true)
		checkEqual(t, "median", h.Median(), 0)
		checkEqual(t, "P85", h.Percentile(85), 0)
		checkEqual(t, "average", h.Average(), 0)
	})
}

func TestHistogramTest_HistogramWindowingExpire(t *testing.T) {
	const microsPerWindow = 1000000
	clock := newMockClock()
	h := NewHistogramWindowingImpl(3, microsPerWindow, 0, clock)
	for _, want := range []struct {
		add, num, min, max uint64
		average            float64
	}{
		{1, 100, 1, 1, 1},
		{2, 200, 1, 2, 1.5},
		{3, 300, 1, 3, 2},
		{4, 300, 2, 4, 3}, // the window of the ones is gone
		{5, 300, 3, 5, 4},
	} {
		populateHistogram(h, clock, want.add, want.add, 100)
		clock.SleepForMicroseconds(microsPerWindow)
		checkEqual(t, "num", h.Num(), want.num)
		checkEqual(t, "min", h.Min(), want.min)
		checkEqual(t, "max", h.Max(), want.max)
		checkEqual(t, "average", h.Average(), want.average)
		checkEqual(t, "has a deviation", h.StandardDeviation() > 0, want.add > 1)
	}
}

func TestHistogramTest_HistogramWindowingMerge(t *testing.T) {
	const microsPerWindow = 1000000
	clock := newMockClock()
	h := NewHistogramWindowingImpl(3, microsPerWindow, 0, clock)
	other := NewHistogramWindowingImpl(3, microsPerWindow, 0, clock)
	for v := uint64(1); v <= 3; v++ {
		populateHistogram(h, clock, v, v, 100)
		populateHistogram(other, clock, v, v, 100)
		clock.SleepForMicroseconds(microsPerWindow)
	}
	h.Merge(other)
	checkEqual(t, "num", h.Num(), 600)
	checkEqual(t, "min", h.Min(), 1)
	checkEqual(t, "max", h.Max(), 3)
	checkEqual(t, "average", h.Average(), 2)

	populateHistogram(h, clock, 4, 4, 100)
	clock.SleepForMicroseconds(microsPerWindow)
	checkEqual(t, "num", h.Num(), 500)
	checkEqual(t, "min", h.Min(), 2)
	checkEqual(t, "max", h.Max(), 4)

	populateHistogram(h, clock, 5, 5, 100)
	clock.SleepForMicroseconds(microsPerWindow)
	checkEqual(t, "num", h.Num(), 400)
	checkEqual(t, "min", h.Min(), 3)
	checkEqual(t, "max", h.Max(), 5)
}

func TestHistogramTest_LargeStandardDeviation(t *testing.T) {
	h := NewHistogramImpl()
	populateHistogram(h, newMockClock(), 1, 1000000, 1)
	if d := h.StandardDeviation(); math.Abs(d-288675) >= 1 {
		t.Errorf("standard deviation is %v", d)
	}
}

func TestHistogramTest_LostUpdateStandardDeviation(t *testing.T) {
	h := NewHistogramImpl()
	populateHistogram(h, newMockClock(), 100, 100, 100)
	h.sumSquares.Store(h.sumSquares.Load() - 10000)
	if d := h.StandardDeviation(); !(d >= 0) {
		t.Errorf("standard deviation is %v", d)
	}
}

// TestHistogramBucketMapper checks the boundaries against the way upstream makes
// them, and the shortcut by bit length against a plain search.
func TestHistogramBucketMapper(t *testing.T) {
	first := []uint64{1, 2, 3, 4, 6, 10, 15, 22, 34, 51, 76, 110, 170, 250, 380, 580, 870, 1300, 1900, 2900}
	for b, want := range first {
		checkEqual(t, "limit", bucketMapper.BucketLimit(b), want)
	}
	checkEqual(t, "count", bucketMapper.BucketCount(), 109)
	for b := range numBuckets {
		limit := bucketMapper.BucketLimit(b)
		if limit == 0 || b > 0 && limit <= bucketMapper.BucketLimit(b-1) {
			t.Fatalf("limit %d of bucket %d is not above the one before", limit, b)
		}
		for _, v := range []uint64{limit - 1, limit, limit + 1} {
			want := 0
			for want < numBuckets-1 && bucketMapper.BucketLimit(want) < v {
				want++
			}
			if got := bucketMapper.IndexForValue(v); got != want {
				t.Errorf("value %d is in bucket %d, want %d", v, got, want)
			}
		}
	}
	checkEqual(t, "bucket of 0", bucketMapper.IndexForValue(0), 0)
	checkEqual(t, "bucket of the greatest", bucketMapper.IndexForValue(math.MaxUint64), numBuckets-1)
}

// TestHistogramToString checks the form that tools parse.
func TestHistogramToString(t *testing.T) {
	h := NewHistogramImpl()
	const rule = "------------------------------------------------------\n"
	checkEqual(t, "empty", h.ToString(), "Count: 0 Average: 0.0000  StdDev: 0.00\n"+
		"Min: 0  Median: 0.0000  Max: 0\n"+
		"Percentiles: P50: 0.00 P75: 0.00 P99: 0.00 P99.9: 0.00 P99.99: 0.00\n"+rule)
	for _, v := range []uint64{1, 5, 5, 5000} {
		h.Add(v)
	}
	checkEqual(t, "text", h.ToString(), "Count: 4 Average: 1252.7500  StdDev: 2163.48\n"+
		"Min: 1  Median: 5.0000  Max: 5000\n"+
		"Percentiles: P50: 5.00 P75: 6.00 P99: 5000.00 P99.9: 5000.00 P99.99: 5000.00\n"+rule+
		"[       0,       1 ]        1  25.000%  25.000% #####\n"+
		"(       4,       6 ]        2  50.000%  75.000% ##########\n"+
		"(    4400,    6600 ]        1  25.000% 100.000% #####\n")
	if strings.Contains(h.ToString(), "NaN") {
		t.Error("NaN in the text")
	}
}

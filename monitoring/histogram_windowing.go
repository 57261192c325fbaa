// Port of monitoring/histogram_windowing.{h,cc}.

package monitoring

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// HistogramWindowingImpl is a histogram over the last few windows of time; old
// values leave a window at a time. Make it with NewHistogramWindowingImpl.
type HistogramWindowingImpl struct {
	clock rocksdb.SystemClock
	// stats is the sum of windowStats, and what all readers see.
	stats HistogramStat
	// windowStats is a ring; currentWindow is the one values go to.
	windowStats   []HistogramStat
	currentWindow atomic.Uint64
	lastSwapTime  atomic.Uint64 // microseconds

	numWindows      uint64
	microsPerWindow uint64
	minNumPerWindow uint64

	// mu serialises Clear, Merge and the change of windows. Add only tries for
	// it, and leaves the change to a later Add when somebody has it.
	mu sync.Mutex
}

var _ Histogram = (*HistogramWindowingImpl)(nil)

// NewHistogramWindowingImpl keeps numWindows windows (at least one; upstream's
// default is 5) of microsPerWindow each (60000000). A window is not left before
// it has minNumPerWindow values (0). A nil clock is the default clock.
func NewHistogramWindowingImpl(numWindows, microsPerWindow, minNumPerWindow uint64, clock rocksdb.SystemClock) *HistogramWindowingImpl {
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	h := &HistogramWindowingImpl{
		clock:           clock,
		numWindows:      max(numWindows, 1),
		microsPerWindow: microsPerWindow,
		minNumPerWindow: minNumPerWindow,
	}
	h.windowStats = make([]HistogramStat, h.numWindows)
	h.Clear()
	return h
}

// NewDefaultHistogramWindowingImpl keeps five windows of a minute.
func NewDefaultHistogramWindowingImpl() *HistogramWindowingImpl {
	return NewHistogramWindowingImpl(5, 60000000, 0, nil)
}

// Name is the kind's name.
func (h *HistogramWindowingImpl) Name() string { return "HistogramWindowingImpl" }

// Clear empties all windows and begins with the first.
func (h *HistogramWindowingImpl) Clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Clear()
	for i := range h.windowStats {
		h.windowStats[i].Clear()
	}
	h.currentWindow.Store(0)
	h.lastSwapTime.Store(h.clock.NowMicros())
}

// Empty tells whether there are no values.
func (h *HistogramWindowingImpl) Empty() bool { return h.stats.Empty() }

// Add adds a value to the current window, after moving to the next one when its
// time is over. A value added while another goroutine moves on may land in
// either window.
func (h *HistogramWindowingImpl) Add(value uint64) {
	h.timerTick()
	h.stats.Add(value)
	h.windowStats[h.currentWindow.Load()].Add(value)
}

// Merge adds the values of other, if that is a *HistogramWindowingImpl.
func (h *HistogramWindowingImpl) Merge(other Histogram) {
	if o, ok := other.(*HistogramWindowingImpl); ok {
		h.MergeWindowing(o)
	}
}

// MergeWindowing adds the values of other, window by window from the current
// ones backwards; where the windows differ in length, to the sum alone.
func (h *HistogramWindowingImpl) MergeWindowing(other *HistogramWindowingImpl) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Merge(&other.stats)
	if h.microsPerWindow != other.microsPerWindow {
		return
	}
	cur, otherCur := h.currentWindow.Load(), other.currentWindow.Load()
	for i := range min(h.numWindows, other.numWindows) {
		to := (cur + h.numWindows - i) % h.numWindows
		from := (otherCur + other.numWindows - i) % other.numWindows
		h.windowStats[to].Merge(&other.windowStats[from])
	}
}

// Min is the least value; the last bucket's limit when there is none.
func (h *HistogramWindowingImpl) Min() uint64 { return h.stats.Min() }

// Max is the greatest value.
func (h *HistogramWindowingImpl) Max() uint64 { return h.stats.Max() }

// Num is the number of values.
func (h *HistogramWindowingImpl) Num() uint64 { return h.stats.Num() }

// Median is Percentile(50).
func (h *HistogramWindowingImpl) Median() float64 { return h.Percentile(50) }

// Percentile is that of HistogramStat. It is tried again when values left
// meanwhile, and 0 when that happens three times.
func (h *HistogramWindowingImpl) Percentile(p float64) float64 {
	for range 3 {
		before := h.stats.Num()
		r := h.stats.Percentile(p)
		if h.stats.Num() >= before {
			return r
		}
	}
	return 0
}

// Average is the mean; 0 when there are no values.
func (h *HistogramWindowingImpl) Average() float64 { return h.stats.Average() }

// StandardDeviation is that of the values; 0 when there are none.
func (h *HistogramWindowingImpl) StandardDeviation() float64 { return h.stats.StandardDeviation() }

// Data summarises the histogram.
func (h *HistogramWindowingImpl) Data() rocksdb.HistogramData { return h.stats.Data() }

// ToString prints as HistogramStat does.
func (h *HistogramWindowingImpl) ToString() string { return h.stats.ToString() }

func (h *HistogramWindowingImpl) timerTick() {
	if h.clock.NowMicros()-h.lastSwapTime.Load() > h.microsPerWindow &&
		h.windowStats[h.currentWindow.Load()].Num() >= h.minNumPerWindow {
		h.swapHistoryBucket()
	}
}

// swapHistoryBucket takes the oldest window's values out of the sum and makes it
// the current one.
func (h *HistogramWindowingImpl) swapHistoryBucket() {
	if !h.mu.TryLock() {
		return
	}
	defer h.mu.Unlock()
	h.lastSwapTime.Store(h.clock.NowMicros())
	next := (h.currentWindow.Load() + 1) % h.numWindows
	drop := &h.windowStats[next]
	if !drop.Empty() {
		h.dropFromSum(drop, next)
		drop.Clear()
	}
	h.currentWindow.Store(next)
}

func (h *HistogramWindowingImpl) dropFromSum(drop *HistogramStat, next uint64) {
	for b := range h.stats.buckets {
		h.stats.buckets[b].Add(-drop.BucketAt(b))
	}
	if h.stats.Min() == drop.Min() {
		least := uint64(math.MaxUint64)
		for i := range h.windowStats {
			if uint64(i) != next {
				least = min(least, h.windowStats[i].Min())
			}
		}
		h.stats.min.Store(least)
	}
	if h.stats.Max() == drop.Max() {
		var most uint64
		for i := range h.windowStats {
			if uint64(i) != next {
				most = max(most, h.windowStats[i].Max())
			}
		}
		h.stats.max.Store(most)
	}
	h.stats.sum.Add(-drop.Sum())
	h.stats.sumSquares.Add(-drop.SumSquares())
}

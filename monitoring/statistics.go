// Port of monitoring/{statistics.cc,statistics_impl.h}. Differs: stripes are
// chosen by the caller's stack instead of its core, which Go does not tell.

package monitoring

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const cacheLineSize = 64

// statisticsData is one stripe. The padding keeps neighbours off its cache
// lines wherever the array begins.
type statisticsData struct {
	tickers    [rocksdb.TickerEnumMax]atomic.Uint64
	histograms [rocksdb.HistogramEnumMax]HistogramStat
	_          [cacheLineSize]byte
}

// StatisticsImpl is the built-in Statistics. Counters are striped, so that
// goroutines that count at the same time seldom share a cache line; a reader
// sums the stripes.
type StatisticsImpl struct {
	level   atomic.Uint32
	shift   uint8 // 64 - log2(len(stripes))
	stripes []statisticsData
	// stats, if not nil, is told of every update as well.
	stats rocksdb.Statistics
	// aggregateMu serialises those who look at or change several stripes.
	aggregateMu sync.Mutex
}

var _ rocksdb.Statistics = (*StatisticsImpl)(nil)

// CreateDBStatistics gives a Statistics at level ExceptDetailedTimers.
func CreateDBStatistics() rocksdb.Statistics { return NewStatisticsImpl(nil) }

// NewStatisticsImpl gives a Statistics that forwards updates to inner, which may
// be nil.
func NewStatisticsImpl(inner rocksdb.Statistics) *StatisticsImpl {
	logStripes := max(bits.Len(uint(runtime.GOMAXPROCS(0)-1)), 3)
	s := &StatisticsImpl{
		shift:   uint8(64 - logStripes),
		stripes: make([]statisticsData, 1<<logStripes),
		stats:   inner,
	}
	for i := range s.stripes {
		for h := range s.stripes[i].histograms {
			s.stripes[i].histograms[h].Clear()
		}
	}
	s.SetStatsLevel(rocksdb.ExceptDetailedTimers)
	return s
}

// stripe picks the caller's stripe by the address of its stack: goroutines have
// different stacks, and one mostly stays on one stripe. Any choice is correct.
func (s *StatisticsImpl) stripe() *statisticsData {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> 11 // stacks are 2 KiB and up
	return &s.stripes[page*0x9E3779B97F4A7C15>>s.shift]
}

// Name identifies the implementation in the OPTIONS file.
func (s *StatisticsImpl) Name() string { return "BasicStatistics" }

// Inner is the Statistics that is told of every update; nil when there is none.
func (s *StatisticsImpl) Inner() rocksdb.Statistics { return s.stats }

// OptionsPtr has "inner".
func (s *StatisticsImpl) OptionsPtr(name string) any {
	if name == rocksdb.StatisticsOptionsName {
		return &s.stats
	}
	return nil
}

// GetStatsLevel says what is collected.
func (s *StatisticsImpl) GetStatsLevel() rocksdb.StatsLevel {
	return rocksdb.StatsLevel(s.level.Load())
}

// SetStatsLevel sets what is collected from now on.
func (s *StatisticsImpl) SetStatsLevel(l rocksdb.StatsLevel) { s.level.Store(uint32(l)) }

// RecordTick adds n to t.
func (s *StatisticsImpl) RecordTick(t rocksdb.Ticker, n uint64) {
	if s.GetStatsLevel() <= rocksdb.ExceptTickers || t >= rocksdb.TickerEnumMax {
		return
	}
	s.stripe().tickers[t].Add(n)
	if s.stats != nil {
		s.stats.RecordTick(t, n)
	}
}

// RecordInHistogram adds v to h.
func (s *StatisticsImpl) RecordInHistogram(h rocksdb.Histogram, v uint64) {
	if s.GetStatsLevel() <= rocksdb.ExceptHistogramOrTimers || h >= rocksdb.HistogramEnumMax {
		return
	}
	s.stripe().histograms[h].Add(v)
	if s.stats != nil {
		s.stats.RecordInHistogram(h, v)
	}
}

// ReportTimeToHistogram adds v to h, if timers are collected.
func (s *StatisticsImpl) ReportTimeToHistogram(h rocksdb.Histogram, v uint64) {
	if s.GetStatsLevel() > rocksdb.ExceptTimers {
		s.RecordInHistogram(h, v)
	}
}

// MeasureTime is the old name of RecordInHistogram.
func (s *StatisticsImpl) MeasureTime(h rocksdb.Histogram, v uint64) { s.RecordInHistogram(h, v) }

// GetTickerCount is t's count.
func (s *StatisticsImpl) GetTickerCount(t rocksdb.Ticker) uint64 {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	return s.tickerCountLocked(t)
}

func (s *StatisticsImpl) tickerCountLocked(t rocksdb.Ticker) uint64 {
	if t >= rocksdb.TickerEnumMax {
		return 0
	}
	var n uint64
	for i := range s.stripes {
		n += s.stripes[i].tickers[t].Load()
	}
	return n
}

// SetTickerCount sets t's count, the inner Statistics' too.
func (s *StatisticsImpl) SetTickerCount(t rocksdb.Ticker, n uint64) {
	if t >= rocksdb.TickerEnumMax {
		return
	}
	s.aggregateMu.Lock()
	s.setTickerCountLocked(t, n)
	s.aggregateMu.Unlock()
	if s.stats != nil {
		s.stats.SetTickerCount(t, n)
	}
}

func (s *StatisticsImpl) setTickerCountLocked(t rocksdb.Ticker, n uint64) {
	for i := range s.stripes {
		s.stripes[i].tickers[t].Store(n)
		n = 0
	}
}

// GetAndResetTickerCount gives t's count and sets it to zero, without losing
// ticks in between; the inner Statistics' is set to zero too.
func (s *StatisticsImpl) GetAndResetTickerCount(t rocksdb.Ticker) uint64 {
	if t >= rocksdb.TickerEnumMax {
		return 0
	}
	s.aggregateMu.Lock()
	var n uint64
	for i := range s.stripes {
		n += s.stripes[i].tickers[t].Swap(0)
	}
	s.aggregateMu.Unlock()
	if s.stats != nil {
		s.stats.SetTickerCount(t, 0)
	}
	return n
}

// histogramLocked sums h's stripes.
func (s *StatisticsImpl) histogramLocked(h rocksdb.Histogram) *HistogramStat {
	sum := &HistogramStat{}
	sum.Clear()
	if h < rocksdb.HistogramEnumMax {
		for i := range s.stripes {
			sum.Merge(&s.stripes[i].histograms[h])
		}
	}
	return sum
}

// GetHistogramData summarises h.
func (s *StatisticsImpl) GetHistogramData(h rocksdb.Histogram) rocksdb.HistogramData {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	return s.histogramLocked(h).Data()
}

// GetHistogramString prints h as HistogramStat.ToString does.
func (s *StatisticsImpl) GetHistogramString(h rocksdb.Histogram) string {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	return s.histogramLocked(h).ToString()
}

// Reset sets all counters to zero, not those of the inner Statistics.
func (s *StatisticsImpl) Reset() error {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	for i := range s.stripes {
		d := &s.stripes[i]
		for t := range d.tickers {
			d.tickers[t].Store(0)
		}
		for h := range d.histograms {
			d.histograms[h].Clear()
		}
	}
	return nil
}

// ToString lists all tickers, then all histograms, a line each.
func (s *StatisticsImpl) ToString() string {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	var b strings.Builder
	b.Grow(24 << 10)
	for t, name := range rocksdb.TickersNameMap {
		fmt.Fprintf(&b, "%s COUNT : %d\n", name, s.tickerCountLocked(rocksdb.Ticker(t)))
	}
	for h, name := range rocksdb.HistogramsNameMap {
		d := s.histogramLocked(rocksdb.Histogram(h)).Data()
		fmt.Fprintf(&b, "%s P50 : %f P95 : %f P99 : %f P100 : %f COUNT : %d SUM : %d\n",
			name, d.Median, d.Percentile95, d.Percentile99, d.Max, d.Count, d.Sum)
	}
	return b.String()
}

// GetTickerMap gives the tickers by public name.
func (s *StatisticsImpl) GetTickerMap() map[string]uint64 {
	s.aggregateMu.Lock()
	defer s.aggregateMu.Unlock()
	m := make(map[string]uint64, rocksdb.TickerEnumMax)
	for t, name := range rocksdb.TickersNameMap {
		m[name] = s.tickerCountLocked(rocksdb.Ticker(t))
	}
	return m
}

// HistEnabledForType tells whether h exists.
func (s *StatisticsImpl) HistEnabledForType(h rocksdb.Histogram) bool {
	return h < rocksdb.HistogramEnumMax
}

// RecordTick adds n to t; stats may be nil.
func RecordTick(stats rocksdb.Statistics, t rocksdb.Ticker, n uint64) {
	if stats != nil {
		stats.RecordTick(t, n)
	}
}

// SetTickerCount sets t to n; stats may be nil.
func SetTickerCount(stats rocksdb.Statistics, t rocksdb.Ticker, n uint64) {
	if stats != nil {
		stats.SetTickerCount(t, n)
	}
}

// RecordInHistogram adds v to h; stats may be nil.
func RecordInHistogram(stats rocksdb.Statistics, h rocksdb.Histogram, v uint64) {
	if stats != nil {
		stats.RecordInHistogram(h, v)
	}
}

// RecordTimeToHistogram adds the duration v to h, if timers are collected; stats
// may be nil.
func RecordTimeToHistogram(stats rocksdb.Statistics, h rocksdb.Histogram, v uint64) {
	if stats != nil {
		stats.ReportTimeToHistogram(h, v)
	}
}

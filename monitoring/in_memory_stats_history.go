// Port of monitoring/in_memory_stats_history.{h,cc}. Differs: the database is
// seen through StatsSource.

package monitoring

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// StatsSource is the history a database keeps in memory.
type StatsSource interface {
	// FindStatsByTime gives the first snapshot with start <= time < end, in
	// seconds since 1970, and a copy of its map; false when there is none.
	FindStatsByTime(start, end uint64) (time uint64, stats map[string]uint64, ok bool)
}

// InMemoryStatsHistoryIterator walks a StatsSource. It holds a copy of the
// snapshot it stands on, so that one stays valid when the source drops it; when
// the source drops more, the walk has a gap.
type InMemoryStatsHistoryIterator struct {
	source  StatsSource
	endTime uint64
	time    uint64
	stats   map[string]uint64
	valid   bool
}

var _ rocksdb.StatsHistoryIterator = (*InMemoryStatsHistoryIterator)(nil)

// NewInMemoryStatsHistoryIterator stands on the first snapshot with
// startTime <= time < endTime, in seconds since 1970.
func NewInMemoryStatsHistoryIterator(startTime, endTime uint64, source StatsSource) *InMemoryStatsHistoryIterator {
	it := &InMemoryStatsHistoryIterator{source: source, endTime: endTime}
	it.advance(startTime)
	return it
}

func (it *InMemoryStatsHistoryIterator) advance(startTime uint64) {
	time, stats, ok := it.source.FindStatsByTime(startTime, it.endTime)
	it.valid = ok
	if ok {
		it.time, it.stats = time, stats
	}
}

// Valid tells whether the iterator stands on a snapshot.
func (it *InMemoryStatsHistoryIterator) Valid() bool { return it.valid }

// Next moves to the next snapshot.
func (it *InMemoryStatsHistoryIterator) Next() {
	if it.valid {
		it.advance(it.time + 1)
	}
}

// GetStatsTime is when the snapshot was taken.
func (it *InMemoryStatsHistoryIterator) GetStatsTime() uint64 { return it.time }

// GetStatsMap maps names to values.
func (it *InMemoryStatsHistoryIterator) GetStatsMap() map[string]uint64 { return it.stats }

// Err is always nil.
func (it *InMemoryStatsHistoryIterator) Err() error { return nil }

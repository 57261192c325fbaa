// Port of include/rocksdb/stats_history.h. Differs: no GetFormatVersion, which
// was never used.

package rocksdb

// StatsHistoryIterator walks the snapshots of tickers the database took every
// stats_persist_period_sec, oldest first. Each holds the differences to the one
// before.
type StatsHistoryIterator interface {
	Valid() bool
	// Next moves on; Valid has to be true.
	Next()
	// GetStatsTime is when the snapshot was taken, in seconds since 1970.
	GetStatsTime() uint64
	// GetStatsMap maps names to values; it is valid until the next call of Next.
	GetStatsMap() map[string]uint64
	// Err is what stopped the walk; nil at its ordinary end.
	Err() error
}

// Port of monitoring/persistent_stats_history.{h,cc}. Differs: the database is
// seen through functions; keys that are not of this format are skipped one by
// one, and errors of reading are reported.

package monitoring

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The persistent history is a column family with an entry for each ticker and
// snapshot:
//
//	key    ten digits: seconds since 1970 | '#' | ticker's name     (at most 99 bytes)
//	value  the difference to the snapshot before, in decimal
//
// and two entries FormatVersionKeyString and CompatibleVersionKeyString whose
// values are version numbers in decimal: that of the format, and the least that
// a reader has to know.
const (
	FormatVersionKeyString     = "__persistent_stats_format_version__"
	CompatibleVersionKeyString = "__persistent_stats_compatible_version__"

	StatsCFCurrentFormatVersion    uint64 = 1
	StatsCFCompatibleFormatVersion uint64 = 1

	nowSecondsStringLength   = 10
	persistentStatsKeyMaxLen = 99
)

// StatsVersionKeyType says which version number is meant.
type StatsVersionKeyType uint32

// The version numbers.
const (
	FormatVersion     StatsVersionKeyType = 1
	CompatibleVersion StatsVersionKeyType = 2
)

// DecodePersistentStatsVersionNumber reads a version number with get, which
// looks a key up in the statistics' column family. A missing one is NotFound.
func DecodePersistentStatsVersionNumber(get func(key []byte) ([]byte, error), which StatsVersionKeyType) (uint64, error) {
	var key string
	switch which {
	case FormatVersion:
		key = FormatVersionKeyString
	case CompatibleVersion:
		key = CompatibleVersionKeyString
	default:
		return 0, rocksdb.InvalidArgumentf("persistent stats: version key type %d", which)
	}
	value, err := get([]byte(key))
	if err != nil || len(value) == 0 {
		if err != nil && !rocksdb.IsNotFound(err) {
			return 0, err
		}
		return 0, rocksdb.NotFound("Persistent stats version key " + key + " not found.")
	}
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil {
		return 0, rocksdb.Corruptionf("persistent stats: version %q of key %s", value, key)
	}
	return n, nil
}

// EncodePersistentStatsKey gives the key of a ticker at a time in seconds since
// 1970.
func EncodePersistentStatsKey(nowSeconds uint64, name string) []byte {
	key := fmt.Appendf(make([]byte, 0, persistentStatsKeyMaxLen), "%010d#%s", nowSeconds, name)
	return key[:min(len(key), persistentStatsKeyMaxLen)]
}

// OptimizeForPersistentStats makes the statistics' column family small.
func OptimizeForPersistentStats(o *rocksdb.ColumnFamilyOptions) {
	o.WriteBufferSize = 2 << 20
	o.TargetFileSizeBase = 2 << 20
	o.MaxBytesForLevelBase = 10 << 20
	o.SoftPendingCompactionBytesLimit = 256 << 20
	o.HardPendingCompactionBytesLimit = 1 << 30
	o.Compression = rocksdb.NoCompression
}

// parsePersistentStatsKey takes a key apart; false when it is not one.
func parsePersistentStatsKey(key []byte) (seconds uint64, name []byte, ok bool) {
	digits, name, found := bytes.Cut(key, []byte{'#'})
	if !found || len(digits) < nowSecondsStringLength {
		return 0, nil, false
	}
	seconds, err := strconv.ParseUint(string(digits), 10, 64)
	return seconds, name, err == nil
}

// PersistentStatsHistoryIterator walks the history in the statistics' column
// family.
type PersistentStatsHistoryIterator struct {
	newIterator func() (rocksdb.Iterator, error)
	endTime     uint64
	time        uint64
	stats       map[string]uint64
	valid       bool
	err         error
}

var _ rocksdb.StatsHistoryIterator = (*PersistentStatsHistoryIterator)(nil)

// NewPersistentStatsHistoryIterator stands on the first snapshot with
// startTime <= time <= endTime, in seconds since 1970. newIterator gives an
// iterator over the statistics' column family, which is closed here.
func NewPersistentStatsHistoryIterator(startTime, endTime uint64, newIterator func() (rocksdb.Iterator, error)) *PersistentStatsHistoryIterator {
	it := &PersistentStatsHistoryIterator{newIterator: newIterator, endTime: endTime}
	it.advance(startTime)
	return it
}

func (it *PersistentStatsHistoryIterator) advance(startTime uint64) {
	it.valid = false
	iter, err := it.newIterator()
	if err != nil {
		it.err = err
		return
	}
	if err := it.read(iter, startTime); err != nil {
		it.err, it.valid = err, false
	}
	if err := iter.Close(); err != nil && it.err == nil {
		it.err, it.valid = err, false
	}
}

// read takes the first snapshot at or after startTime.
func (it *PersistentStatsHistoryIterator) read(iter rocksdb.Iterator, startTime uint64) error {
	for iter.Seek(fmt.Appendf(nil, "%010d", startTime)); iter.Valid(); iter.Next() {
		seconds, name, ok := parsePersistentStatsKey(iter.Key())
		if !ok || seconds < startTime {
			continue
		}
		if it.valid && seconds != it.time {
			break
		}
		if !it.valid {
			if seconds > it.endTime {
				break
			}
			it.valid, it.time, it.stats = true, seconds, make(map[string]uint64)
		}
		v, err := strconv.ParseUint(string(iter.Value()), 10, 64)
		if err != nil {
			return rocksdb.Corruptionf("persistent stats: value %q of key %q", iter.Value(), iter.Key())
		}
		it.stats[string(name)] = v
	}
	return iter.Status()
}

// Valid tells whether the iterator stands on a snapshot.
func (it *PersistentStatsHistoryIterator) Valid() bool { return it.valid }

// Next moves to the next snapshot.
func (it *PersistentStatsHistoryIterator) Next() {
	if it.valid {
		it.advance(it.time + 1)
	}
}

// GetStatsTime is when the snapshot was taken.
func (it *PersistentStatsHistoryIterator) GetStatsTime() uint64 { return it.time }

// GetStatsMap maps names to values.
func (it *PersistentStatsHistoryIterator) GetStatsMap() map[string]uint64 { return it.stats }

// Err is what stopped the walk; nil at its ordinary end.
func (it *PersistentStatsHistoryIterator) Err() error { return it.err }

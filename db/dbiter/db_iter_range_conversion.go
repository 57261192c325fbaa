// Port of db/db_iter.{h,cc} (conversion of tombstone runs into range
// tombstones). Differs: a read callback turns the conversion off, instead of
// being asked for its least uncommitted sequence number.

package dbiter

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// TombstoneMemtable is the memtable that range tombstones made from runs of
// point tombstones go to.
type TombstoneMemtable interface {
	ActiveMemtable
	GetEarliestSequenceNumber() rocksdb.SequenceNumber
	// RangeTombstoneCovers tells whether a range tombstone visible at seq covers
	// all of [start, end).
	RangeTombstoneCovers(seq rocksdb.SequenceNumber, start, end []byte) bool
	// AddLogicallyRedundantRangeTombstone may decline, which false says.
	AddLogicallyRedundantRangeTombstone(seq rocksdb.SequenceNumber, start, end []byte, ingestLock *sync.RWMutex) bool
}

// conversionState follows the run of tombstones an iterator is passing over.
type conversionState struct {
	mem        TombstoneMemtable
	ingestLock *sync.RWMutex
	log        rocksdb.Logger
	threshold  uint32 // 0: off
	count      uint32 // of the run
	hasEnd     bool
	first      []byte // the run's least key, with its timestamp
	end        []byte // reverse: the key above the run
}

// initConversion turns the conversion on where a scan sees all there is between
// the keys it shows: a table filter, a prefix seek without bounds or a timestamp
// can hide live keys.
func (d *DBIter) initConversion(c *Config) {
	if c.MinTombstonesForRangeConversion == 0 || c.TombstoneMemtable == nil || c.Callback != nil || d.ro.TableFilter != nil ||
		!d.expectTotalOrder && !d.prefixSameAsStart || !d.hasFullTimestampVisibility() {
		return
	}
	d.convert.mem, d.convert.ingestLock, d.convert.log = c.TombstoneMemtable, c.IngestLock, c.InfoLog
	d.convert.threshold = c.MinTombstonesForRangeConversion
}

func (d *DBIter) hasFullTimestampVisibility() bool {
	if d.ro.IterStartTS != nil {
		return false
	}
	for _, b := range d.ro.Timestamp {
		if b != 0xff {
			return false
		}
	}
	return true
}

// resetRun is upstream's DBIter::ResetContiguousTombstoneTracking.
func (c *conversionState) resetRun() {
	c.count = 0
	c.hasEnd = false
}

// setEnd says that what comes before key, going back, may be a run.
func (c *conversionState) setEnd(key []byte) {
	c.end = append(c.end[:0], key...)
	c.hasEnd = len(key) > 0
}

// trackTombstone counts a tombstone of userKey to the run.
// Upstream: DBIter::TrackContiguousTombstone.
func (d *DBIter) trackTombstone(userKey []byte) {
	if d.convert.count == 0 || d.dir == reverse {
		d.convert.first = append(d.convert.first[:0], userKey...)
	}
	d.convert.count++
}

// endRun converts the run that ends before end.
// Upstream: DBIter::FlushPendingTombstoneRun.
func (d *DBIter) endRun(end []byte) {
	if d.convert.count == 0 {
		return
	}
	d.insertRun(end)
	d.convert.resetRun()
}

// endReverseRun converts the run below the key that reverse iteration came
// from, if that key has the prefix sought.
func (d *DBIter) endReverseRun() {
	if d.convert.count == 0 || !d.convert.hasEnd {
		return
	}
	if d.prefixCheck(d.convert.end) {
		d.insertRun(d.convert.end)
	}
	d.convert.resetRun()
}

// insertRun is upstream's DBIter::MaybeInsertRangeTombstone.
func (d *DBIter) insertRun(end []byte) {
	c := &d.convert
	if c.count < c.threshold {
		return
	}
	// Entries between the iterator's view and the memtable's begin would be
	// covered though they are newer.
	ticker := rocksdb.ReadPathRangeTombstonesDiscarded
	if d.sequence >= c.mem.GetEarliestSequenceNumber() && !c.mem.RangeTombstoneCovers(d.sequence, c.first, end) &&
		c.mem.AddLogicallyRedundantRangeTombstone(d.sequence, c.first, end, c.ingestLock) {
		ticker = rocksdb.ReadPathRangeTombstonesInserted
		logging.Debug(c.log, "Inserted range tombstone [%X, %X) @ seq %d (count=%d, snapshot=%d)", c.first, end, d.sequence, c.count, d.sequence)
	}
	monitoring.RecordTick(d.stats, ticker, 1)
}

// trackReverse notes what findValueForCurrentKey made of the saved key.
func (d *DBIter) trackReverse() {
	if !d.convert.hasEnd {
		return
	}
	key := d.savedKey.GetUserKey()
	switch {
	case d.valid:
		d.endReverseRun()
	case d.foundVisible && d.prefixCheck(key):
		d.trackTombstone(key)
	}
}

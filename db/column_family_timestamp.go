// Port of db/column_family.{h,cc} and util/udt_util.{h,cc}: families whose
// timestamps are kept in memtables alone.

package db

import "encoding/binary"

// keepsTimestampsInMemtablesOnly tells whether the family's tables have no
// timestamps though its keys do.
func (c *ColumnFamilyData) keepsTimestampsInMemtablesOnly() bool {
	return c.icmp.TimestampSize() > 0 && !c.ioptions.PersistUserDefinedTimestamps
}

// SetFlushSkipReschedule lets the queued flush go ahead even where history is to
// be kept: a caller asked for it. The DB mutex is held, here and below.
func (c *ColumnFamilyData) SetFlushSkipReschedule() {
	if c.keepsTimestampsInMemtablesOnly() {
		c.flushSkipsReschedule = true
	}
}

// GetAndClearFlushSkipReschedule tells whether that was asked for, once.
func (c *ColumnFamilyData) GetAndClearFlushSkipReschedule() bool {
	was := c.flushSkipsReschedule
	c.flushSkipsReschedule = false
	return was
}

// ShouldPostponeFlushToRetainUDT tells whether a memtable up to maxMemtableID
// has timestamps from full_history_ts_low on, which a flush would lose. With no
// full_history_ts_low nothing is kept for its history.
func (c *ColumnFamilyData) ShouldPostponeFlushToRetainUDT(maxMemtableID uint64) bool {
	low := c.fullHistoryTSLow
	if !c.keepsTimestampsInMemtablesOnly() || len(low) == 0 {
		return false
	}
	ucmp := c.UserComparator()
	for _, ts := range c.imm.GetTablesNewestUDT(maxMemtableID) {
		if ts != nil && ucmp.CompareTimestamp(ts, low) >= 0 {
			return true
		}
	}
	return false
}

// FullHistoryTsLowFromCutoff is the full_history_ts_low that leaves history up
// to a timestamp, of 8 bytes, behind.
// Upstream: GetFullHistoryTsLowFromU64CutoffTs.
func FullHistoryTsLowFromCutoff(cutoff []byte) []byte {
	return binary.LittleEndian.AppendUint64(nil, binary.LittleEndian.Uint64(cutoff)+1)
}

// CutoffFromFullHistoryTsLow is the greatest timestamp below a
// full_history_ts_low of 8 bytes.
// Upstream: GetU64CutoffTsFromFullHistoryTsLow.
func CutoffFromFullHistoryTsLow(low []byte) []byte {
	n := binary.LittleEndian.Uint64(low)
	return binary.LittleEndian.AppendUint64(nil, max(n, 1)-1)
}

// Port of db/write_stall_stats.{h,cc}.

package db

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// cfStall is a counter of stalls with its place in properties.
type cfStall struct {
	stat      InternalCFStat
	cause     WriteStallCause
	condition rocksdb.WriteStallCondition
	name      string
}

var cfStalls = []cfStall{
	{MemtableLimitDelays, StallMemtableLimit, rocksdb.WriteStallConditionDelayed, "memtable-limit-delays"},
	{MemtableLimitStops, StallMemtableLimit, rocksdb.WriteStallConditionStopped, "memtable-limit-stops"},
	{L0FileCountLimitDelays, StallL0FileCountLimit, rocksdb.WriteStallConditionDelayed, "l0-file-count-limit-delays"},
	{L0FileCountLimitStops, StallL0FileCountLimit, rocksdb.WriteStallConditionStopped, "l0-file-count-limit-stops"},
	{PendingCompactionBytesLimitDelays, StallPendingCompactionBytes, rocksdb.WriteStallConditionDelayed, "pending-compaction-bytes-delays"},
	{PendingCompactionBytesLimitStops, StallPendingCompactionBytes, rocksdb.WriteStallConditionStopped, "pending-compaction-bytes-stops"},
}

// internalCFStat gives the counter of a stall, if it has one.
func internalCFStat(cause WriteStallCause, condition rocksdb.WriteStallCondition) (t InternalCFStat, ok bool) {
	for i := range cfStalls {
		if c := &cfStalls[i]; c.cause == cause && c.condition == condition {
			return c.stat, true
		}
	}
	return 0, false
}

// writeBufferManagerStops is the name of the one counter of stalls that the
// database as a whole has.
const writeBufferManagerStops = "write-buffer-manager-limit-stops"

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// addCFWriteStalls puts the family's stalls into m and gives their number.
func (s *InternalStats) addCFWriteStalls(m map[string]string) (total uint64) {
	var delays, stops uint64
	for i := range cfStalls {
		c := &cfStalls[i]
		n := s.cfCount[c.stat]
		m[c.name] = decimal(n)
		if c.condition == rocksdb.WriteStallConditionDelayed {
			delays += n
		} else {
			stops += n
		}
	}
	m[rocksdb.WriteStallStatsCFL0FileCountLimitDelaysWithOngoingCompaction] = decimal(s.cfCount[L0FileCountLimitDelaysWithOngoingCompaction])
	m[rocksdb.WriteStallStatsCFL0FileCountLimitStopsWithOngoingCompaction] = decimal(s.cfCount[L0FileCountLimitStopsWithOngoingCompaction])
	m[rocksdb.WriteStallStatsTotalDelays] = decimal(delays)
	m[rocksdb.WriteStallStatsTotalStops] = decimal(stops)
	return delays + stops
}

func writeStallLine(m map[string]string) string {
	list := make([]string, 0, len(m))
	for k, v := range m {
		list = append(list, k+": "+v)
	}
	sort.Strings(list)
	return "Write Stall (count): " + strings.Join(list, ", ") + "\n"
}

// cfWriteStallText is a line of the family's stalls; withInterval adds one about
// those since the last periodic dump, if there ever was one.
func (s *InternalStats) cfWriteStallText(withInterval bool) (text string, total uint64) {
	m := map[string]string{}
	total = s.addCFWriteStalls(m)
	text = writeStallLine(m)
	if withInterval && total > 0 {
		text += fmt.Sprintf("interval: %d total count\n", total-s.lastCF.stallCount)
	}
	return text, total
}

func (s *InternalStats) dbWriteStalls() map[string]string {
	return map[string]string{writeBufferManagerStops: decimal(s.GetDBStats(WriteBufferManagerLimitStops))}
}

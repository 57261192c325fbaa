// Port of db/internal_stats.cc (properties).

package db

import (
	"fmt"
	"strconv"
	"strings"
)

// StatsHost is what properties ask of the database; the DB mutex is held.
type StatsHost interface{}

// GetStringProperty gives a property as text; ok is false when there is none of
// that name. The DB mutex is held.
func (s *InternalStats) GetStringProperty(name string, host StatsHost) (value string, ok bool) {
	if v, ok := s.GetIntProperty(name, host); ok {
		return strconv.FormatUint(v, 10), true
	}
	const atLevel = "rocksdb.num-files-at-level"
	if rest, found := strings.CutPrefix(name, atLevel); found {
		level, err := strconv.Atoi(rest)
		if err != nil || level < 0 || level >= s.cfd.NumberLevels() {
			return "", false
		}
		return strconv.Itoa(s.cfd.current.StorageInfo().NumLevelFiles(level)), true
	}
	switch name {
	case "rocksdb.levelstats":
		var b strings.Builder
		b.WriteString("Level Files Size(MB)\n--------------------\n")
		vs := s.cfd.current.StorageInfo()
		for level := range vs.NumLevels() {
			fmt.Fprintf(&b, "%3d %8d %8.0f\n", level, vs.NumLevelFiles(level), float64(vs.NumLevelBytes(level))/1048576)
		}
		return b.String(), true
	case "rocksdb.sstables":
		return s.cfd.current.DebugString(true, false), true
	}
	return "", false
}

// GetIntProperty gives a property that is a number. The DB mutex is held.
func (s *InternalStats) GetIntProperty(name string, _ StatsHost) (value uint64, ok bool) {
	c := s.cfd
	switch name {
	case "rocksdb.num-immutable-mem-table":
		return uint64(c.imm.NumNotFlushed()), true
	case "rocksdb.background-errors":
		return s.bgErrorCount, true
	case "rocksdb.cur-size-active-mem-table":
		return c.mem.ApproximateMemoryUsageFast(), true
	case "rocksdb.num-entries-active-mem-table":
		return c.mem.NumEntries(), true
	case "rocksdb.total-sst-files-size":
		return c.current.GetSstFilesSize(), true
	case "rocksdb.base-level":
		return uint64(c.current.StorageInfo().BaseLevel()), true
	}
	return 0, false
}

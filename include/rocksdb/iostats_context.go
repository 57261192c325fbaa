// Port of include/rocksdb/iostats_context.h and monitoring/iostats_context.cc.
// Differs: a value handed in by the caller instead of a thread-local, with its
// PerfLevel as a field.

package rocksdb

import "strings"

// FileIOByTemperature counts file reads by the file's temperature; files of
// unknown temperature by level.
type FileIOByTemperature struct {
	HotFileBytesRead             uint64
	WarmFileBytesRead            uint64
	CoolFileBytesRead            uint64
	ColdFileBytesRead            uint64
	IceFileBytesRead             uint64
	UnknownNonLastLevelBytesRead uint64
	UnknownLastLevelBytesRead    uint64
	HotFileReadCount             uint64
	WarmFileReadCount            uint64
	CoolFileReadCount            uint64
	ColdFileReadCount            uint64
	IceFileReadCount             uint64
	UnknownNonLastLevelReadCount uint64
	UnknownLastLevelReadCount    uint64
}

// Reset sets all counters to zero.
func (f *FileIOByTemperature) Reset() { *f = FileIOByTemperature{} }

// Merge adds the counters of other.
func (f *FileIOByTemperature) Merge(other *FileIOByTemperature) {
	f.HotFileBytesRead += other.HotFileBytesRead
	f.WarmFileBytesRead += other.WarmFileBytesRead
	f.CoolFileBytesRead += other.CoolFileBytesRead
	f.ColdFileBytesRead += other.ColdFileBytesRead
	f.IceFileBytesRead += other.IceFileBytesRead
	f.UnknownNonLastLevelBytesRead += other.UnknownNonLastLevelBytesRead
	f.UnknownLastLevelBytesRead += other.UnknownLastLevelBytesRead
	f.HotFileReadCount += other.HotFileReadCount
	f.WarmFileReadCount += other.WarmFileReadCount
	f.CoolFileReadCount += other.CoolFileReadCount
	f.ColdFileReadCount += other.ColdFileReadCount
	f.IceFileReadCount += other.IceFileReadCount
	f.UnknownNonLastLevelReadCount += other.UnknownNonLastLevelReadCount
	f.UnknownLastLevelReadCount += other.UnknownLastLevelReadCount
}

// IOStatsContext counts the file system work of the operations it is handed to.
// Nanos are nanoseconds. The zero value counts bytes; set Level for time. A nil
// context turns collection off. It is not safe for concurrent use.
type IOStatsContext struct {
	// Level is what to collect; PerfLevelUninitialized means EnableCount.
	Level PerfLevel
	// DisableIOStats keeps side work, such as logging, out of the counters.
	DisableIOStats bool

	ThreadPoolID uint64 // a Priority; TotalPriority outside of a pool

	BytesWritten uint64
	BytesRead    uint64

	OpenNanos         uint64 // opening files
	AllocateNanos     uint64 // fallocate
	WriteNanos        uint64
	ReadNanos         uint64
	RangeSyncNanos    uint64 // sync_file_range
	FsyncNanos        uint64
	PrepareWriteNanos uint64 // allocation ahead of writes and the like
	LoggerNanos       uint64 // writing the info log
	CPUWriteNanos     uint64
	CPUReadNanos      uint64 // not for asynchronous reads

	FileIOStatsByTemperature FileIOByTemperature
}

// Enabled tells whether metrics that start at level are collected. It is false
// on a nil context and while DisableIOStats is set.
func (c *IOStatsContext) Enabled(level PerfLevel) bool {
	return c != nil && !c.DisableIOStats &&
		(c.Level >= level || c.Level == PerfLevelUninitialized && level <= EnableCount)
}

// AddBytesRead counts bytes read, unless the context is nil or disabled. As
// upstream, bytes are counted at any Level.
func (c *IOStatsContext) AddBytesRead(n uint64) {
	if c != nil && !c.DisableIOStats {
		c.BytesRead += n
	}
}

// AddBytesWritten counts bytes written, as AddBytesRead.
func (c *IOStatsContext) AddBytesWritten(n uint64) {
	if c != nil && !c.DisableIOStats {
		c.BytesWritten += n
	}
}

// Reset sets all counters to zero and ThreadPoolID to TotalPriority; Level and
// DisableIOStats stay.
func (c *IOStatsContext) Reset() {
	*c = IOStatsContext{
		Level:          c.Level,
		DisableIOStats: c.DisableIOStats,
		ThreadPoolID:   uint64(TotalPriority),
	}
}

// Merge adds the counters of other.
func (c *IOStatsContext) Merge(other *IOStatsContext) {
	c.BytesRead += other.BytesRead
	c.BytesWritten += other.BytesWritten
	c.OpenNanos += other.OpenNanos
	c.AllocateNanos += other.AllocateNanos
	c.WriteNanos += other.WriteNanos
	c.ReadNanos += other.ReadNanos
	c.RangeSyncNanos += other.RangeSyncNanos
	c.FsyncNanos += other.FsyncNanos
	c.PrepareWriteNanos += other.PrepareWriteNanos
	c.LoggerNanos += other.LoggerNanos
	c.CPUWriteNanos += other.CPUWriteNanos
	c.CPUReadNanos += other.CPUReadNanos
	c.FileIOStatsByTemperature.Merge(&other.FileIOStatsByTemperature)
}

// ToString prints "name = value" separated by ", "; zeros are left out on
// request. The ice and unknown temperatures are not printed, as upstream.
func (c *IOStatsContext) ToString(excludeZeroCounters bool) string {
	t := &c.FileIOStatsByTemperature
	var b strings.Builder
	for _, p := range []struct {
		name string
		v    uint64
	}{
		{"thread_pool_id", c.ThreadPoolID},
		{"bytes_read", c.BytesRead},
		{"bytes_written", c.BytesWritten},
		{"open_nanos", c.OpenNanos},
		{"allocate_nanos", c.AllocateNanos},
		{"write_nanos", c.WriteNanos},
		{"read_nanos", c.ReadNanos},
		{"range_sync_nanos", c.RangeSyncNanos},
		{"fsync_nanos", c.FsyncNanos},
		{"prepare_write_nanos", c.PrepareWriteNanos},
		{"logger_nanos", c.LoggerNanos},
		{"cpu_write_nanos", c.CPUWriteNanos},
		{"cpu_read_nanos", c.CPUReadNanos},
		{"file_io_stats_by_temperature.hot_file_bytes_read", t.HotFileBytesRead},
		{"file_io_stats_by_temperature.warm_file_bytes_read", t.WarmFileBytesRead},
		{"file_io_stats_by_temperature.cool_file_bytes_read", t.CoolFileBytesRead},
		{"file_io_stats_by_temperature.cold_file_bytes_read", t.ColdFileBytesRead},
		{"file_io_stats_by_temperature.hot_file_read_count", t.HotFileReadCount},
		{"file_io_stats_by_temperature.warm_file_read_count", t.WarmFileReadCount},
		{"file_io_stats_by_temperature.cool_file_read_count", t.CoolFileReadCount},
		{"file_io_stats_by_temperature.cold_file_read_count", t.ColdFileReadCount},
	} {
		writeCounter(&b, p.name, p.v, excludeZeroCounters)
	}
	return strings.TrimRight(b.String(), ", ")
}

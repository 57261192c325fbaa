// Port of include/rocksdb/perf_context.h and monitoring/perf_context.cc. Differs:
// a value handed in through ReadOptions or WriteOptions instead of a
// thread-local, with its PerfLevel as a field; per-level counters sit behind
// AtLevel.

package rocksdb

import (
	"slices"
	"strconv"
	"strings"
)

// PerfContextByLevel counts point lookups of one level of the tree.
// Upstream: PerfContextByLevelInt.
type PerfContextByLevel struct {
	BloomFilterUseful           uint64 // files not read thanks to a filter
	BloomFilterFullPositive     uint64 // whole-key filters that let the read pass
	BloomFilterFullTruePositive uint64 // … where the key was there
	UserKeyReturnCount          uint64 // keys found, not those deleted or merged without a base
	GetFromTableNanos           uint64 // reading table files
	BlockCacheHitCount          uint64
	BlockCacheMissCount         uint64
}

// Reset sets all counters to zero.
func (c *PerfContextByLevel) Reset() { *c = PerfContextByLevel{} }

// Merge adds the counters of other.
func (c *PerfContextByLevel) Merge(other *PerfContextByLevel) {
	c.BloomFilterUseful += other.BloomFilterUseful
	c.BloomFilterFullPositive += other.BloomFilterFullPositive
	c.BloomFilterFullTruePositive += other.BloomFilterFullTruePositive
	c.UserKeyReturnCount += other.UserKeyReturnCount
	c.GetFromTableNanos += other.GetFromTableNanos
	c.BlockCacheHitCount += other.BlockCacheHitCount
	c.BlockCacheMissCount += other.BlockCacheMissCount
}

// PerfContext counts what the operations it is handed to do. Names that end in
// Time or Nanos are nanoseconds, Byte(s) bytes, the others numbers of events.
//
// The zero value counts events; set Level for time. A nil *PerfContext turns
// collection off and is what the engine's fast paths test for. It is not safe
// for concurrent use: give each goroutine its own and Merge them.
type PerfContext struct {
	// Level is what to collect; PerfLevelUninitialized means EnableCount.
	Level PerfLevel
	// PerLevelPerfContextEnabled turns the counters behind AtLevel on.
	PerLevelPerfContextEnabled bool
	// LevelToPerfContext holds them; see EnablePerLevelPerfContext.
	LevelToPerfContext map[uint32]*PerfContextByLevel

	PerfCounters
}

// PerfCounters are the counters of a PerfContext.
type PerfCounters struct {
	// Blocks and the block cache.
	UserKeyComparisonCount            uint64
	BlockCacheHitCount                uint64
	BlockReadCount                    uint64 // blocks read from files
	BlockReadByte                     uint64
	BlockReadTime                     uint64
	BlockReadCPUTime                  uint64 // not for asynchronous reads
	BlockCacheIndexHitCount           uint64
	BlockCacheStandaloneHandleCount   uint64 // found in the secondary cache, not put into the primary one
	BlockCacheRealHandleCount         uint64 // found in the secondary cache and put into the primary one
	IndexBlockReadCount               uint64
	BlockCacheFilterHitCount          uint64
	FilterBlockReadCount              uint64
	CompressionDictBlockReadCount     uint64
	BlockCacheIndexReadByte           uint64
	BlockCacheFilterReadByte          uint64
	BlockCacheCompressionDictReadByte uint64
	BlockCacheReadByte                uint64

	// Secondary caches; compressed ones count bytes before and after.
	SecondaryCacheHitCount              uint64
	CompressedSecCacheInsertRealCount   uint64
	CompressedSecCacheInsertDummyCount  uint64 // placeholders put in on a first eviction
	CompressedSecCacheUncompressedBytes uint64
	CompressedSecCacheCompressedBytes   uint64

	// Work on blocks read.
	BlockChecksumTime    uint64
	BlockDecompressTime  uint64
	BlockDecompressCount uint64

	// Bytes of keys and values returned.
	GetReadBytes      uint64
	MultigetReadBytes uint64
	IterReadBytes     uint64

	// Blobs.
	BlobCacheHitCount  uint64
	BlobCacheReadByte  uint64
	BlobReadCount      uint64
	BlobReadByte       uint64
	BlobReadTime       uint64
	BlobChecksumTime   uint64
	BlobDecompressTime uint64

	// Entries iterators and lookups had to pass or merge.
	InternalKeySkippedCount       uint64 // keys passed over: the previous position, overwritten and hidden entries
	InternalDeleteSkippedCount    uint64 // tombstones passed over, each once
	InternalRecentSkippedCount    uint64 // entries newer than the snapshot
	InternalMergeCount            uint64 // merge operands given to the operator by iterators, without base values
	InternalMergePointLookupCount uint64 // merge operands given to the operator by point lookups
	InternalRangeDelReseekCount   uint64 // reseeks past a newer range tombstone

	// Phases of Get and of iterator seeks.
	GetSnapshotTime        uint64
	GetFromMemtableTime    uint64
	GetFromMemtableCount   uint64
	GetPostProcessTime     uint64 // after the key was found
	GetFromOutputFilesTime uint64
	SeekOnMemtableTime     uint64
	SeekOnMemtableCount    uint64 // Seek and SeekForPrev, not SeekToFirst and SeekToLast
	NextOnMemtableCount    uint64
	PrevOnMemtableCount    uint64
	SeekChildSeekTime      uint64
	SeekChildSeekCount     uint64
	SeekMinHeapTime        uint64
	SeekMaxHeapTime        uint64
	SeekInternalSeekTime   uint64
	FindNextUserEntryTime  uint64

	// Phases of Write. Inaccurate with two-phase commit, two write queues or
	// pipelined writes. The third last is what the others do not cover.
	WriteWALTime                          uint64
	WriteMemtableTime                     uint64 // collected from EnableWait
	WriteDelayTime                        uint64
	WriteSchedulingFlushesCompactionsTime uint64
	WritePreAndPostProcessTime            uint64
	WriteThreadWaitNanos                  uint64

	// Waiting for the DB mutex and its condition variables; merge operators.
	DBMutexLockNanos       uint64
	DBConditionWaitNanos   uint64
	MergeOperatorTimeNanos uint64

	// Phases of reading a table; from the cache or from the file.
	ReadIndexBlockNanos    uint64
	ReadFilterBlockNanos   uint64
	NewTableBlockIterNanos uint64
	NewTableIteratorNanos  uint64
	BlockSeekNanos         uint64
	FindTableNanos         uint64

	// Filters.
	BloomMemtableHitCount  uint64
	BloomMemtableMissCount uint64
	BloomSSTHitCount       uint64
	BloomSSTMissCount      uint64

	// Transactions' key locks: waits for another transaction.
	KeyLockWaitTime  uint64 // collected from EnableTimeExceptForMutex
	KeyLockWaitCount uint64

	// File system calls; only with TimedEnv.
	EnvNewSequentialFileNanos         uint64
	EnvNewRandomAccessFileNanos       uint64
	EnvNewWritableFileNanos           uint64
	EnvReuseWritableFileNanos         uint64
	EnvNewRandomRwFileNanos           uint64
	EnvNewDirectoryNanos              uint64
	EnvFileExistsNanos                uint64
	EnvGetChildrenNanos               uint64
	EnvGetChildrenFileAttributesNanos uint64
	EnvDeleteFileNanos                uint64
	EnvCreateDirNanos                 uint64
	EnvCreateDirIfMissingNanos        uint64
	EnvDeleteDirNanos                 uint64
	EnvGetFileSizeNanos               uint64
	EnvGetFileModificationTimeNanos   uint64
	EnvRenameFileNanos                uint64
	EnvLinkFileNanos                  uint64
	EnvLockFileNanos                  uint64
	EnvUnlockFileNanos                uint64
	EnvNewLoggerNanos                 uint64

	// CPU time of operations.
	GetCPUNanos      uint64
	IterNextCPUNanos uint64
	IterPrevCPUNanos uint64
	IterSeekCPUNanos uint64

	// Calls of iterators; all seeks count as iter_seek_count.
	IterNextCount uint64
	IterPrevCount uint64
	IterSeekCount uint64

	// Encrypted file systems.
	EncryptDataNanos uint64
	DecryptDataNanos uint64

	// Asynchronous seeks.
	NumberAsyncSeek uint64

	// IngestExternalFile: from end to end, and while writes were blocked.
	FileIngestionNanos                   uint64
	FileIngestionBlockingLiveWritesNanos uint64

	// block_read_byte by kind of block.
	DataBlockReadByte            uint64
	IndexBlockReadByte           uint64
	FilterBlockReadByte          uint64
	CompressionDictBlockReadByte uint64
	MetadataBlockReadByte        uint64

	// MultiScan's prefetching, as the tickers of that name.
	MultiscanPrepareCount           uint64
	MultiscanBlocksPrefetched       uint64 // blocks to be read from files
	MultiscanBlocksFromCache        uint64 // blocks found in the cache
	MultiscanPrefetchBytes          uint64
	MultiscanIORequests             uint64 // reads after coalescing
	MultiscanIOCoalescedNonadjacent uint64 // blocks joined to a read across a gap
}

// perfCounterNames gives the printed names, in the order of counters().
var perfCounterNames = [...]string{
	"user_key_comparison_count",
	"block_cache_hit_count",
	"block_read_count",
	"block_read_byte",
	"block_read_time",
	"block_read_cpu_time",
	"block_cache_index_hit_count",
	"block_cache_standalone_handle_count",
	"block_cache_real_handle_count",
	"index_block_read_count",
	"block_cache_filter_hit_count",
	"filter_block_read_count",
	"compression_dict_block_read_count",
	"block_cache_index_read_byte",
	"block_cache_filter_read_byte",
	"block_cache_compression_dict_read_byte",
	"block_cache_read_byte",
	"secondary_cache_hit_count",
	"compressed_sec_cache_insert_real_count",
	"compressed_sec_cache_insert_dummy_count",
	"compressed_sec_cache_uncompressed_bytes",
	"compressed_sec_cache_compressed_bytes",
	"block_checksum_time",
	"block_decompress_time",
	"block_decompress_count",
	"get_read_bytes",
	"multiget_read_bytes",
	"iter_read_bytes",
	"blob_cache_hit_count",
	"blob_cache_read_byte",
	"blob_read_count",
	"blob_read_byte",
	"blob_read_time",
	"blob_checksum_time",
	"blob_decompress_time",
	"internal_key_skipped_count",
	"internal_delete_skipped_count",
	"internal_recent_skipped_count",
	"internal_merge_count",
	"internal_merge_point_lookup_count",
	"internal_range_del_reseek_count",
	"get_snapshot_time",
	"get_from_memtable_time",
	"get_from_memtable_count",
	"get_post_process_time",
	"get_from_output_files_time",
	"seek_on_memtable_time",
	"seek_on_memtable_count",
	"next_on_memtable_count",
	"prev_on_memtable_count",
	"seek_child_seek_time",
	"seek_child_seek_count",
	"seek_min_heap_time",
	"seek_max_heap_time",
	"seek_internal_seek_time",
	"find_next_user_entry_time",
	"write_wal_time",
	"write_memtable_time",
	"write_delay_time",
	"write_scheduling_flushes_compactions_time",
	"write_pre_and_post_process_time",
	"write_thread_wait_nanos",
	"db_mutex_lock_nanos",
	"db_condition_wait_nanos",
	"merge_operator_time_nanos",
	"read_index_block_nanos",
	"read_filter_block_nanos",
	"new_table_block_iter_nanos",
	"new_table_iterator_nanos",
	"block_seek_nanos",
	"find_table_nanos",
	"bloom_memtable_hit_count",
	"bloom_memtable_miss_count",
	"bloom_sst_hit_count",
	"bloom_sst_miss_count",
	"key_lock_wait_time",
	"key_lock_wait_count",
	"env_new_sequential_file_nanos",
	"env_new_random_access_file_nanos",
	"env_new_writable_file_nanos",
	"env_reuse_writable_file_nanos",
	"env_new_random_rw_file_nanos",
	"env_new_directory_nanos",
	"env_file_exists_nanos",
	"env_get_children_nanos",
	"env_get_children_file_attributes_nanos",
	"env_delete_file_nanos",
	"env_create_dir_nanos",
	"env_create_dir_if_missing_nanos",
	"env_delete_dir_nanos",
	"env_get_file_size_nanos",
	"env_get_file_modification_time_nanos",
	"env_rename_file_nanos",
	"env_link_file_nanos",
	"env_lock_file_nanos",
	"env_unlock_file_nanos",
	"env_new_logger_nanos",
	"get_cpu_nanos",
	"iter_next_cpu_nanos",
	"iter_prev_cpu_nanos",
	"iter_seek_cpu_nanos",
	"iter_next_count",
	"iter_prev_count",
	"iter_seek_count",
	"encrypt_data_nanos",
	"decrypt_data_nanos",
	"number_async_seek",
	"file_ingestion_nanos",
	"file_ingestion_blocking_live_writes_nanos",
	"data_block_read_byte",
	"index_block_read_byte",
	"filter_block_read_byte",
	"compression_dict_block_read_byte",
	"metadata_block_read_byte",
	"multiscan_prepare_count",
	"multiscan_blocks_prefetched",
	"multiscan_blocks_from_cache",
	"multiscan_prefetch_bytes",
	"multiscan_io_requests",
	"multiscan_io_coalesced_nonadjacent",
}

// counters lists the counters in the order of perfCounterNames.
func (c *PerfCounters) counters() [len(perfCounterNames)]*uint64 {
	return [...]*uint64{
		&c.UserKeyComparisonCount,
		&c.BlockCacheHitCount,
		&c.BlockReadCount,
		&c.BlockReadByte,
		&c.BlockReadTime,
		&c.BlockReadCPUTime,
		&c.BlockCacheIndexHitCount,
		&c.BlockCacheStandaloneHandleCount,
		&c.BlockCacheRealHandleCount,
		&c.IndexBlockReadCount,
		&c.BlockCacheFilterHitCount,
		&c.FilterBlockReadCount,
		&c.CompressionDictBlockReadCount,
		&c.BlockCacheIndexReadByte,
		&c.BlockCacheFilterReadByte,
		&c.BlockCacheCompressionDictReadByte,
		&c.BlockCacheReadByte,
		&c.SecondaryCacheHitCount,
		&c.CompressedSecCacheInsertRealCount,
		&c.CompressedSecCacheInsertDummyCount,
		&c.CompressedSecCacheUncompressedBytes,
		&c.CompressedSecCacheCompressedBytes,
		&c.BlockChecksumTime,
		&c.BlockDecompressTime,
		&c.BlockDecompressCount,
		&c.GetReadBytes,
		&c.MultigetReadBytes,
		&c.IterReadBytes,
		&c.BlobCacheHitCount,
		&c.BlobCacheReadByte,
		&c.BlobReadCount,
		&c.BlobReadByte,
		&c.BlobReadTime,
		&c.BlobChecksumTime,
		&c.BlobDecompressTime,
		&c.InternalKeySkippedCount,
		&c.InternalDeleteSkippedCount,
		&c.InternalRecentSkippedCount,
		&c.InternalMergeCount,
		&c.InternalMergePointLookupCount,
		&c.InternalRangeDelReseekCount,
		&c.GetSnapshotTime,
		&c.GetFromMemtableTime,
		&c.GetFromMemtableCount,
		&c.GetPostProcessTime,
		&c.GetFromOutputFilesTime,
		&c.SeekOnMemtableTime,
		&c.SeekOnMemtableCount,
		&c.NextOnMemtableCount,
		&c.PrevOnMemtableCount,
		&c.SeekChildSeekTime,
		&c.SeekChildSeekCount,
		&c.SeekMinHeapTime,
		&c.SeekMaxHeapTime,
		&c.SeekInternalSeekTime,
		&c.FindNextUserEntryTime,
		&c.WriteWALTime,
		&c.WriteMemtableTime,
		&c.WriteDelayTime,
		&c.WriteSchedulingFlushesCompactionsTime,
		&c.WritePreAndPostProcessTime,
		&c.WriteThreadWaitNanos,
		&c.DBMutexLockNanos,
		&c.DBConditionWaitNanos,
		&c.MergeOperatorTimeNanos,
		&c.ReadIndexBlockNanos,
		&c.ReadFilterBlockNanos,
		&c.NewTableBlockIterNanos,
		&c.NewTableIteratorNanos,
		&c.BlockSeekNanos,
		&c.FindTableNanos,
		&c.BloomMemtableHitCount,
		&c.BloomMemtableMissCount,
		&c.BloomSSTHitCount,
		&c.BloomSSTMissCount,
		&c.KeyLockWaitTime,
		&c.KeyLockWaitCount,
		&c.EnvNewSequentialFileNanos,
		&c.EnvNewRandomAccessFileNanos,
		&c.EnvNewWritableFileNanos,
		&c.EnvReuseWritableFileNanos,
		&c.EnvNewRandomRwFileNanos,
		&c.EnvNewDirectoryNanos,
		&c.EnvFileExistsNanos,
		&c.EnvGetChildrenNanos,
		&c.EnvGetChildrenFileAttributesNanos,
		&c.EnvDeleteFileNanos,
		&c.EnvCreateDirNanos,
		&c.EnvCreateDirIfMissingNanos,
		&c.EnvDeleteDirNanos,
		&c.EnvGetFileSizeNanos,
		&c.EnvGetFileModificationTimeNanos,
		&c.EnvRenameFileNanos,
		&c.EnvLinkFileNanos,
		&c.EnvLockFileNanos,
		&c.EnvUnlockFileNanos,
		&c.EnvNewLoggerNanos,
		&c.GetCPUNanos,
		&c.IterNextCPUNanos,
		&c.IterPrevCPUNanos,
		&c.IterSeekCPUNanos,
		&c.IterNextCount,
		&c.IterPrevCount,
		&c.IterSeekCount,
		&c.EncryptDataNanos,
		&c.DecryptDataNanos,
		&c.NumberAsyncSeek,
		&c.FileIngestionNanos,
		&c.FileIngestionBlockingLiveWritesNanos,
		&c.DataBlockReadByte,
		&c.IndexBlockReadByte,
		&c.FilterBlockReadByte,
		&c.CompressionDictBlockReadByte,
		&c.MetadataBlockReadByte,
		&c.MultiscanPrepareCount,
		&c.MultiscanBlocksPrefetched,
		&c.MultiscanBlocksFromCache,
		&c.MultiscanPrefetchBytes,
		&c.MultiscanIORequests,
		&c.MultiscanIOCoalescedNonadjacent,
	}
}

var perfLevelCounterNames = [...]string{
	"bloom_filter_useful",
	"bloom_filter_full_positive",
	"bloom_filter_full_true_positive",
	"user_key_return_count",
	"get_from_table_nanos",
	"block_cache_hit_count",
	"block_cache_miss_count",
}

func (c *PerfContextByLevel) counters() [len(perfLevelCounterNames)]uint64 {
	return [...]uint64{
		c.BloomFilterUseful,
		c.BloomFilterFullPositive,
		c.BloomFilterFullTruePositive,
		c.UserKeyReturnCount,
		c.GetFromTableNanos,
		c.BlockCacheHitCount,
		c.BlockCacheMissCount,
	}
}

// Enabled tells whether metrics that start at level are collected. It is false
// on a nil context.
func (c *PerfContext) Enabled(level PerfLevel) bool {
	return c != nil && (c.Level >= level || c.Level == PerfLevelUninitialized && level <= EnableCount)
}

// CountEnabled is Enabled(EnableCount), for fast paths.
func (c *PerfContext) CountEnabled() bool {
	return c != nil && c.Level != DisablePerf
}

// AtLevel gives the counters of a level of the tree, to be added to; nil when
// they are not collected.
func (c *PerfContext) AtLevel(level int) *PerfContextByLevel {
	if c == nil || !c.PerLevelPerfContextEnabled || c.Level == DisablePerf || c.LevelToPerfContext == nil {
		return nil
	}
	l := c.LevelToPerfContext[uint32(level)]
	if l == nil {
		l = new(PerfContextByLevel)
		c.LevelToPerfContext[uint32(level)] = l
	}
	return l
}

// EnablePerLevelPerfContext turns per-level counters on.
func (c *PerfContext) EnablePerLevelPerfContext() {
	if c.LevelToPerfContext == nil {
		c.LevelToPerfContext = make(map[uint32]*PerfContextByLevel)
	}
	c.PerLevelPerfContextEnabled = true
}

// DisablePerLevelPerfContext stops per-level counting and keeps the counters.
func (c *PerfContext) DisablePerLevelPerfContext() { c.PerLevelPerfContextEnabled = false }

// ClearPerLevelPerfContext stops per-level counting and drops the counters.
func (c *PerfContext) ClearPerLevelPerfContext() {
	c.LevelToPerfContext = nil
	c.PerLevelPerfContextEnabled = false
}

// Reset sets all counters to zero, those of levels too where they are on, and
// keeps Level.
func (c *PerfContext) Reset() {
	c.PerfCounters = PerfCounters{}
	if c.PerLevelPerfContextEnabled {
		for _, l := range c.LevelToPerfContext {
			l.Reset()
		}
	}
}

// Merge adds the counters of other, those of levels where other collects them.
func (c *PerfContext) Merge(other *PerfContext) {
	to, from := c.counters(), other.counters()
	for i := range to {
		*to[i] += *from[i]
	}
	if !other.PerLevelPerfContextEnabled || other.LevelToPerfContext == nil {
		return
	}
	c.EnablePerLevelPerfContext()
	for level, l := range other.LevelToPerfContext {
		mine := c.LevelToPerfContext[level]
		if mine == nil {
			mine = new(PerfContextByLevel)
			c.LevelToPerfContext[level] = mine
		}
		mine.Merge(l)
	}
}

// Clone gives a copy that shares nothing.
func (c *PerfContext) Clone() *PerfContext {
	d := *c
	if c.LevelToPerfContext != nil {
		d.LevelToPerfContext = make(map[uint32]*PerfContextByLevel, len(c.LevelToPerfContext))
		for level, l := range c.LevelToPerfContext {
			copied := *l
			d.LevelToPerfContext[level] = &copied
		}
	}
	return &d
}

// ToString prints "name = value" separated by ", ", per-level counters as
// "name = value@levelN, …". Counters that are zero are left out on request.
func (c *PerfContext) ToString(excludeZeroCounters bool) string {
	var b strings.Builder
	for i, p := range c.counters() {
		writeCounter(&b, perfCounterNames[i], *p, excludeZeroCounters)
	}
	if c.PerLevelPerfContextEnabled && c.LevelToPerfContext != nil {
		levels := make([]uint32, 0, len(c.LevelToPerfContext))
		for level := range c.LevelToPerfContext {
			levels = append(levels, level)
		}
		slices.Sort(levels)
		for i, name := range perfLevelCounterNames {
			b.WriteString(name)
			b.WriteString(" = ")
			for _, level := range levels {
				v := c.LevelToPerfContext[level].counters()[i]
				if !excludeZeroCounters || v > 0 {
					b.WriteString(strconv.FormatUint(v, 10))
					b.WriteString("@level")
					b.WriteString(strconv.FormatUint(uint64(level), 10))
					b.WriteString(", ")
				}
			}
		}
	}
	return strings.TrimRight(b.String(), ", ")
}

// writeCounter appends one "name = value, " of ToString.
func writeCounter(b *strings.Builder, name string, v uint64, excludeZero bool) {
	if excludeZero && v == 0 {
		return
	}
	b.WriteString(name)
	b.WriteString(" = ")
	b.WriteString(strconv.FormatUint(v, 10))
	b.WriteString(", ")
}

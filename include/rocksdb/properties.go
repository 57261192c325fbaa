// Port of include/rocksdb/db.h (DB::Properties).

package rocksdb

// Names of the properties that GetProperty gives. Those with a number at their
// end in the comment take an argument there.
const (
	// PropertyNumFilesAtLevelPrefix, e.g. "rocksdb.num-files-at-level3", is the
	// number of files of a level.
	PropertyNumFilesAtLevelPrefix = "rocksdb.num-files-at-level"
	// PropertyCompressionRatioAtLevelPrefix, with a level, is what the data of
	// a level would take uncompressed over what it takes; -1 without files.
	PropertyCompressionRatioAtLevelPrefix = "rocksdb.compression-ratio-at-level"
	// PropertyStats is PropertyCFStats and PropertyDBStats.
	PropertyStats = "rocksdb.stats"
	// PropertySSTables lists the files by level.
	PropertySSTables = "rocksdb.sstables"
	// PropertyCFStats is the family's figures with the latencies of reads; also
	// a map.
	PropertyCFStats = "rocksdb.cfstats"
	// PropertyCFStatsNoFileHistogram is PropertyCFStats without latencies.
	PropertyCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram"
	// PropertyCFFileHistogram is the latencies of file reads by level.
	PropertyCFFileHistogram = "rocksdb.cf-file-histogram"
	// PropertyCFWriteStallStats counts the family's write stalls; also a map.
	PropertyCFWriteStallStats = "rocksdb.cf-write-stall-stats"
	// PropertyDBWriteStallStats counts the database's write stalls; also a map.
	PropertyDBWriteStallStats = "rocksdb.db-write-stall-stats"
	// PropertyDBStats is the database's figures, kept with the default family;
	// also a map.
	PropertyDBStats = "rocksdb.dbstats"
	// PropertyLevelStats is the number and size of files by level.
	PropertyLevelStats = "rocksdb.levelstats"
	// PropertyBlockCacheEntryStats tells by role what is in the block cache;
	// also a map.
	PropertyBlockCacheEntryStats = "rocksdb.block-cache-entry-stats"
	// PropertyFastBlockCacheEntryStats is the same from older figures, which
	// costs less.
	PropertyFastBlockCacheEntryStats = "rocksdb.fast-block-cache-entry-stats"
	// PropertyNumImmutableMemTable is the number of memtables to flush.
	PropertyNumImmutableMemTable = "rocksdb.num-immutable-mem-table"
	// PropertyNumImmutableMemTableFlushed is that of flushed ones still kept.
	PropertyNumImmutableMemTableFlushed = "rocksdb.num-immutable-mem-table-flushed"
	// PropertyMemTableFlushPending is 1 when a flush is due.
	PropertyMemTableFlushPending = "rocksdb.mem-table-flush-pending"
	// PropertyCompactionPending is 1 when a compaction is due.
	PropertyCompactionPending = "rocksdb.compaction-pending"
	// PropertyNumRunningCompactions is the database's number of compactions at
	// work.
	PropertyNumRunningCompactions = "rocksdb.num-running-compactions"
	// PropertyNumRunningCompactionSortedRuns is the number of sorted runs that
	// compactions at work read.
	PropertyNumRunningCompactionSortedRuns = "rocksdb.num-running-compaction-sorted-runs"
	// PropertyCompactionAbortCount is the number of AbortAllCompactions not yet
	// undone.
	PropertyCompactionAbortCount = "rocksdb.compaction-abort-count"
	// PropertyNumRunningFlushes is the number of flushes at work.
	PropertyNumRunningFlushes = "rocksdb.num-running-flushes"
	// PropertyBackgroundErrors is the number of background errors so far.
	PropertyBackgroundErrors = "rocksdb.background-errors"
	// PropertyCurSizeActiveMemTable is the active memtable's bytes.
	PropertyCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table"
	// PropertyCurSizeAllMemTables is the bytes of memtables not flushed.
	PropertyCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables"
	// PropertySizeAllMemTables is the bytes of all memtables, flushed ones that
	// are still kept included.
	PropertySizeAllMemTables = "rocksdb.size-all-mem-tables"
	// PropertyNumEntriesActiveMemTable and the next three count entries and
	// deletions.
	PropertyNumEntriesActiveMemTable = "rocksdb.num-entries-active-mem-table"
	PropertyNumEntriesImmMemTables   = "rocksdb.num-entries-imm-mem-tables"
	PropertyNumDeletesActiveMemTable = "rocksdb.num-deletes-active-mem-table"
	PropertyNumDeletesImmMemTables   = "rocksdb.num-deletes-imm-mem-tables"
	// PropertyEstimateNumKeys estimates the number of keys.
	PropertyEstimateNumKeys = "rocksdb.estimate-num-keys"
	// PropertyEstimateTableReadersMem is the bytes that open tables use outside
	// the block cache.
	PropertyEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem"
	// PropertyIsFileDeletionsEnabled is 1 unless deletions are disabled.
	PropertyIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled"
	// PropertyNumSnapshots is the number of snapshots taken.
	PropertyNumSnapshots = "rocksdb.num-snapshots"
	// PropertyOldestSnapshotTime is in Unix seconds, 0 without snapshots.
	PropertyOldestSnapshotTime = "rocksdb.oldest-snapshot-time"
	// PropertyOldestSnapshotSequence is 0 without snapshots.
	PropertyOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence"
	// PropertyNumLiveVersions is the number of versions that readers hold.
	PropertyNumLiveVersions = "rocksdb.num-live-versions"
	// PropertyCurrentSuperVersionNumber rises with each change of the tree.
	PropertyCurrentSuperVersionNumber = "rocksdb.current-super-version-number"
	// PropertyEstimateLiveDataSize estimates the bytes of the newest values.
	PropertyEstimateLiveDataSize = "rocksdb.estimate-live-data-size"
	// PropertyMinLogNumberToKeep is the oldest log that recovery needs.
	PropertyMinLogNumberToKeep = "rocksdb.min-log-number-to-keep"
	// PropertyMinObsoleteSstNumberToKeep is the least number of a table that a
	// job may be writing.
	PropertyMinObsoleteSstNumberToKeep = "rocksdb.min-obsolete-sst-number-to-keep"
	// PropertyTotalSstFilesSize is the bytes of the tables of all versions.
	PropertyTotalSstFilesSize = "rocksdb.total-sst-files-size"
	// PropertyLiveSstFilesSize is the bytes of the current version's tables.
	PropertyLiveSstFilesSize = "rocksdb.live-sst-files-size"
	// PropertyObsoleteSstFilesSize is the bytes of tables to delete.
	PropertyObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size"
	// PropertyBaseLevel is the level that compactions of L0 write to.
	PropertyBaseLevel = "rocksdb.base-level"
	// PropertyEstimatePendingCompactionBytes is the bytes to rewrite until all
	// levels are within their limits.
	PropertyEstimatePendingCompactionBytes = "rocksdb.estimate-pending-compaction-bytes"
	// PropertyAggregatedTableProperties sums up the tables' properties; also a
	// map.
	PropertyAggregatedTableProperties = "rocksdb.aggregated-table-properties"
	// PropertyAggregatedTablePropertiesAtLevel, with a level, is the same for
	// one level.
	PropertyAggregatedTablePropertiesAtLevel = "rocksdb.aggregated-table-properties-at-level"
	// PropertyActualDelayedWriteRate is in bytes/s, 0 without a delay.
	PropertyActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate"
	// PropertyIsWriteStopped is 1 while writers are stopped.
	PropertyIsWriteStopped = "rocksdb.is-write-stopped"
	// PropertyEstimateOldestKeyTime is in Unix seconds; of FIFO families that
	// do not compact.
	PropertyEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time"
	// PropertyBlockCacheCapacity and the next two are in bytes.
	PropertyBlockCacheCapacity    = "rocksdb.block-cache-capacity"
	PropertyBlockCacheUsage       = "rocksdb.block-cache-usage"
	PropertyBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage"
	// PropertyOptionsStatistics is the Statistics as text.
	PropertyOptionsStatistics = "rocksdb.options-statistics"
	// PropertyLiveSstFilesSizeAtTemperature, with a temperature's number, is
	// the bytes of its tables.
	PropertyLiveSstFilesSizeAtTemperature = "rocksdb.live-sst-files-size-at-temperature"
	// PropertyNumBlobFiles is the number of blob files.
	PropertyNumBlobFiles = "rocksdb.num-blob-files"
	// PropertyBlobStats is text.
	PropertyBlobStats = "rocksdb.blob-stats"
	// PropertyTotalBlobFileSize and the next two are in bytes.
	PropertyTotalBlobFileSize       = "rocksdb.total-blob-file-size"
	PropertyLiveBlobFileSize        = "rocksdb.live-blob-file-size"
	PropertyLiveBlobFileGarbageSize = "rocksdb.live-blob-file-garbage-size"
	// PropertyBlobCacheCapacity and the next two are in bytes.
	PropertyBlobCacheCapacity    = "rocksdb.blob-cache-capacity"
	PropertyBlobCacheUsage       = "rocksdb.blob-cache-usage"
	PropertyBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage"
)

// Keys of the map properties PropertyCFWriteStallStats and
// PropertyDBWriteStallStats; further ones are of the form cause-condition.
const (
	WriteStallStatsTotalStops                                    = "total-stops"
	WriteStallStatsTotalDelays                                   = "total-delays"
	WriteStallStatsCFL0FileCountLimitDelaysWithOngoingCompaction = "cf-l0-file-count-limit-delays-with-ongoing-compaction"
	WriteStallStatsCFL0FileCountLimitStopsWithOngoingCompaction  = "cf-l0-file-count-limit-stops-with-ongoing-compaction"
)

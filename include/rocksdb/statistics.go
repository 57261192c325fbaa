// Port of include/rocksdb/statistics.h. Differs: histogram constants carry the
// prefix Hist and colliding tickers the prefix Ticker (Go has one namespace a
// package); the name tables are arrays indexed by the constant; the stats level
// is part of the interface, since an interface has no fields.

package rocksdb

// Ticker is a counter of Statistics. The numbers are upstream's order and only
// live in memory.
type Ticker uint32

// Block cache. The four plain counters are sums over the kinds below them; bytes
// inserted count what went in, whether or not it stayed.
const (
	BlockCacheMiss Ticker = iota
	BlockCacheHit
	BlockCacheAdd
	BlockCacheAddFailures
	BlockCacheIndexMiss
	BlockCacheIndexHit
	BlockCacheIndexAdd
	BlockCacheIndexBytesInsert
	BlockCacheFilterMiss
	BlockCacheFilterHit
	BlockCacheFilterAdd
	BlockCacheFilterBytesInsert
	BlockCacheDataMiss
	BlockCacheDataHit
	BlockCacheDataAdd
	BlockCacheDataBytesInsert
	BlockCacheBytesRead
	BlockCacheBytesWrite
	BlockCacheCompressionDictMiss
	BlockCacheCompressionDictHit
	BlockCacheCompressionDictAdd
	BlockCacheCompressionDictBytesInsert
	BlockCacheAddRedundant
	BlockCacheIndexAddRedundant
	BlockCacheFilterAddRedundant
	BlockCacheDataAddRedundant
	BlockCacheCompressionDictAddRedundant
)

// Secondary caches.
const (
	SecondaryCacheHits Ticker = iota + 27
	SecondaryCacheFilterHits
	SecondaryCacheIndexHits
	SecondaryCacheDataHits
	CompressedSecondaryCacheDummyHits
	CompressedSecondaryCacheHits
	CompressedSecondaryCachePromotions
	CompressedSecondaryCachePromotionSkips
)

// Filters of table files. "Useful" is a file not read; "full positive" is a
// whole-key filter that passed, "true positive" one that passed rightly.
const (
	BloomFilterUseful Ticker = iota + 35
	BloomFilterFullPositive
	BloomFilterFullTruePositive
	BloomFilterPrefixChecked
	BloomFilterPrefixUseful
	BloomFilterPrefixTruePositive
)

// Persistent and simulated caches.
const (
	PersistentCacheHit Ticker = iota + 41
	PersistentCacheMiss
	SimBlockCacheHit
	SimBlockCacheMiss
)

// Where point lookups ended.
const (
	MemtableHit Ticker = iota + 45
	MemtableMiss
	GetHitL0
	GetHitL1
	GetHitL2AndUp
)

// Why compaction dropped entries, and compactions given up.
const (
	CompactionKeyDropNewerEntry Ticker = iota + 50
	CompactionKeyDropObsolete
	CompactionKeyDropRangeDel
	CompactionKeyDropUser
	CompactionRangeDelDropObsolete
	CompactionOptimizedDelDropObsolete
	CompactionCancelled
	CompactionAborted
)

// User operations. Bytes are uncompressed keys and values; a batch counts once
// written, an iterator step that finds nothing is not "found".
const (
	NumberKeysWritten Ticker = iota + 58
	NumberKeysRead
	NumberKeysUpdated
	BytesWritten
	BytesRead
	NumberDBSeek
	NumberDBNext
	NumberDBPrev
	NumberDBSeekFound
	NumberDBNextFound
	NumberDBPrevFound
	IterBytesRead
	NumberIterSkip
	NumberOfReseeksInIteration
	NoIteratorCreated
	NoIteratorDeleted
)

// File opens, stalls and waits, in microseconds where the name says so.
const (
	NoFileOpens Ticker = iota + 74
	NoFileErrors
	StallMicros
	DBMutexWaitMicros
)

// MultiGet, merges and log tailing.
const (
	NumberMultigetCalls Ticker = iota + 78
	NumberMultigetKeysRead
	NumberMultigetBytesRead
	NumberMultigetKeysFound
	NumberMergeFailures
	GetUpdatesSinceCalls
)

// Write-ahead log and write groups.
const (
	WALFileSynced Ticker = iota + 84
	WALFileBytes
	WALPrecreateHit
	WALPrecreateMiss
	WALPrecreateWaited
	WALPrecreateWaitMicros
	WALPrecreateFailed
	WriteDoneBySelf
	WriteDoneByOther
	WriteWithWAL
)

// Bytes of flush and compaction, also by the reason of the compaction.
const (
	CompactReadBytes Ticker = iota + 94
	CompactWriteBytes
	FlushWriteBytes
	CompactReadBytesMarked
	CompactReadBytesPeriodic
	CompactReadBytesTTL
	CompactWriteBytesMarked
	CompactWriteBytesPeriodic
	CompactWriteBytesTTL
)

// Table properties read past the table cache; super versions.
const (
	NumberDirectLoadTableProperties Ticker = iota + 103
	NumberSuperversionAcquires
	NumberSuperversionReleases
	NumberSuperversionCleanups
)

// Block compression. "Bypassed" was not tried, "rejected" did not pay.
const (
	NumberBlockCompressed Ticker = iota + 107
	NumberBlockDecompressed
	BytesCompressedFrom
	BytesCompressedTo
	BytesCompressionBypassed
	BytesCompressionRejected
	NumberBlockCompressionBypassed
	NumberBlockCompressionRejected
	BytesDecompressedFrom
	BytesDecompressedTo
)

// Time in plug-ins (nanoseconds) and compaction CPU (microseconds).
const (
	MergeOperationTotalTime Ticker = iota + 117
	FilterOperationTotalTime
	CompactionCPUTotalTime
)

// Row cache; read amplification estimate.
const (
	RowCacheHit Ticker = iota + 120
	RowCacheMiss
	ReadAmpEstimateUsefulBytes
	ReadAmpTotalReadBytes
)

// Rate limiter.
const (
	NumberRateLimiterDrains Ticker = iota + 124
	RateLimiterBytesRead
	RateLimiterBytesWrite
	RateLimiterRequestsRead
	RateLimiterRequestsWrite
	RateLimiterDelayedRequestsRead
	RateLimiterDelayedRequestsWrite
	RateLimiterTotalWaitMicrosRead
	RateLimiterTotalWaitMicrosWrite
)

// Blob files and the stacked BlobDB.
const (
	BlobDBNumPut Ticker = iota + 133
	BlobDBNumWrite
	BlobDBNumGet
	BlobDBNumMultiget
	BlobDBNumSeek
	BlobDBNumNext
	BlobDBNumPrev
	BlobDBNumKeysWritten
	BlobDBNumKeysRead
	BlobDBBytesWritten
	BlobDBBytesRead
	BlobDBWriteInlinedDeprecated
	BlobDBWriteInlinedTTLDeprecated
	BlobDBWriteBlob
	BlobDBWriteBlobTTL
	BlobDBBlobFileBytesWritten
	BlobDBBlobFileBytesRead
	BlobDBBlobFileSynced
	BlobDBBlobIndexExpiredCount
	BlobDBBlobIndexExpiredSize
	BlobDBBlobIndexEvictedCount
	BlobDBBlobIndexEvictedSize
	BlobDBGCNumFiles
	BlobDBGCNumNewFiles
	BlobDBGCFailures
	BlobDBGCNumKeysRelocated
	BlobDBGCBytesRelocated
	BlobDBFIFONumFilesEvicted
	BlobDBFIFONumKeysEvicted
	BlobDBFIFOBytesEvicted
	BlobDBCacheMiss
	BlobDBCacheHit
	BlobDBCacheAdd
	BlobDBCacheAddFailures
	BlobDBCacheBytesRead
	BlobDBCacheBytesWrite
)

// Write-prepared transactions: slow paths taken.
const (
	TxnPrepareMutexOverhead Ticker = iota + 169
	TxnOldCommitMapMutexOverhead
	TxnDuplicateKeyOverhead
	TxnSnapshotMutexOverhead
	TxnGetTryAgain
)

// File deletion.
const (
	FilesMarkedTrash Ticker = iota + 174
	FilesDeletedFromTrashQueue
	FilesDeletedImmediately
)

// Background errors and automatic resumption.
const (
	ErrorHandlerBGErrorCount Ticker = iota + 177
	ErrorHandlerBGIOErrorCount
	ErrorHandlerBGRetryableIOErrorCount
	ErrorHandlerAutoresumeCount
	ErrorHandlerAutoresumeRetryTotalCount
	ErrorHandlerAutoresumeSuccessCount
)

// Live and overwritten bytes of memtables when flushed.
const (
	MemtablePayloadBytesAtFlush Ticker = iota + 183
	MemtableGarbageBytesAtFlush
)

// Bytes of other readers and writers.
const (
	VerifyChecksumReadBytes Ticker = iota + 185
	BackupReadBytes
	BackupWriteBytes
	RemoteCompactReadBytes
	RemoteCompactWriteBytes
	RemoteCompactResumedBytes
)

// Reads by temperature and by level.
const (
	HotFileReadBytes Ticker = iota + 191
	WarmFileReadBytes
	CoolFileReadBytes
	ColdFileReadBytes
	IceFileReadBytes
	HotFileReadCount
	WarmFileReadCount
	CoolFileReadCount
	ColdFileReadCount
	IceFileReadCount
	LastLevelReadBytes
	LastLevelReadCount
	NonLastLevelReadBytes
	NonLastLevelReadCount
)

// Iterator seeks by level: filtered out, passed by the filter, data read, data
// read and useful.
const (
	LastLevelSeekFiltered Ticker = iota + 205
	LastLevelSeekFilterMatch
	LastLevelSeekData
	LastLevelSeekDataUsefulNoFilter
	LastLevelSeekDataUsefulFilterMatch
	NonLastLevelSeekFiltered
	NonLastLevelSeekFilterMatch
	NonLastLevelSeekData
	NonLastLevelSeekDataUsefulNoFilter
	NonLastLevelSeekDataUsefulFilterMatch
)

// Checksums; asynchronous and prefetching reads.
const (
	BlockChecksumComputeCount Ticker = iota + 215
	BlockChecksumMismatchCount
	MultigetCoroutineCount
	ReadAsyncMicros
	AsyncReadErrorCount
	TableOpenPrefetchTailMiss
	TableOpenPrefetchTailHit
)

// User-timestamp table filter, readahead, FIFO compaction.
const (
	TimestampFilterTableChecked Ticker = iota + 222
	TimestampFilterTableFiltered
	ReadaheadTrimmed
	FIFOMaxSizeCompactions
	FIFOTTLCompactions
	FIFOChangeTemperatureCompactions
)

// Prefetch buffer.
const (
	PrefetchBytes Ticker = iota + 228
	PrefetchBytesUseful
	PrefetchHits
)

// Corruption found and read again; special ingestion and indexes.
const (
	SSTFooterCorruptionCount Ticker = iota + 231
	FileReadCorruptionRetryCount
	FileReadCorruptionRetrySuccessCount
	NumberWBWIIngest
	SSTUserDefinedIndexLoadFailCount
)

// MultiScan.
const (
	MultiscanPrepareCalls Ticker = iota + 236
	MultiscanPrepareErrors
	MultiscanBlocksPrefetched
	MultiscanBlocksFromCache
	MultiscanPrefetchBytes
	MultiscanPrefetchBlocksWasted
	MultiscanIORequests
	MultiscanIOCoalescedNonadjacent
	MultiscanSeekErrors
)

// Memory budget of the prefetcher.
const (
	PrefetchMemoryBytesGranted Ticker = iota + 245
	PrefetchMemoryBytesReleased
	PrefetchMemoryRequestsBlocked
)

// Range tombstones written by readers; file-open hints; MANIFEST checks.
const (
	ReadPathRangeTombstonesInserted Ticker = iota + 248
	ReadPathRangeTombstonesDiscarded
	FileOpenMetadataRetrieved
	FileOpenMetadataPassed
	ManifestValidationFailureCount
)

// Why flushes were asked for. The first three carry the prefix Ticker, as the
// plain names are values of FlushReason.
const (
	TickerFlushReasonWriteBufferFull Ticker = iota + 253
	TickerFlushReasonWriteBufferManager
	TickerFlushReasonMemtableMaxRangeDeletions
	AtomicFlushRequestReasonWriteBufferFull
	AtomicFlushRequestReasonWriteBufferManager
	AtomicFlushRequestReasonMemtableMaxRangeDeletions
	AtomicFlushRequestReasonOther
)

// Checkpoints; asynchronous reads done synchronously.
const (
	CheckpointReadBytes Ticker = iota + 260
	CheckpointWriteBytes
	FileSubmitAsyncReadFallback

	// TickerEnumMax is the number of tickers.
	TickerEnumMax
)

// Histogram is a distribution kept by Statistics. Unless its name says bytes,
// nanos or a count, its values are microseconds. The numbers are upstream's
// order and only live in memory.
type Histogram uint32

// The histograms; HistogramsNameMap gives the public names.
const (
	HistDBGet Histogram = iota
	HistDBWrite
	HistCompactionTime
	HistCompactionCPUTime
	HistSubcompactionSetupTime
	HistTableSyncMicros
	HistCompactionOutfileSyncMicros
	HistWALFileSyncMicros
	HistManifestFileSyncMicros
	HistTableOpenIOMicros
	HistDBMultiget
	HistReadBlockCompactionMicros
	HistReadBlockGetMicros
	HistWriteRawBlockMicros
	HistNumFilesInSingleCompaction
	HistDBSeek
	HistWriteStall
	HistSSTReadMicros
	HistFileReadFlushMicros
	HistFileReadCompactionMicros
	HistFileReadDBOpenMicros
	HistFileReadGetMicros
	HistFileReadMultigetMicros
	HistFileReadDBIteratorMicros
	HistFileReadVerifyDBChecksumMicros
	HistFileReadVerifyFileChecksumsMicros
	HistSSTWriteMicros
	HistFileWriteFlushMicros
	HistFileWriteCompactionMicros
	HistFileWriteDBOpenMicros
	HistNumSubcompactionsScheduled
	HistBytesPerRead
	HistBytesPerWrite
	HistBytesPerMultiget
	HistCompressionTimesNanos
	HistDecompressionTimesNanos
	HistReadNumMergeOperands
	HistBlobDBKeySize
	HistBlobDBValueSize
	HistBlobDBWriteMicros
	HistBlobDBGetMicros
	HistBlobDBMultigetMicros
	HistBlobDBSeekMicros
	HistBlobDBNextMicros
	HistBlobDBPrevMicros
	HistBlobDBBlobFileWriteMicros
	HistBlobDBBlobFileReadMicros
	HistBlobDBBlobFileSyncMicros
	HistBlobDBCompressionMicros
	HistBlobDBDecompressionMicros
	HistFlushTime
	HistSSTBatchSize
	HistMultigetIOBatchSize
	HistNumIndexAndFilterBlocksReadPerLevel
	HistNumSSTReadPerLevel
	HistNumLevelReadPerMultiget
	HistErrorHandlerAutoresumeRetryCount
	HistAsyncReadBytes
	HistPollWaitMicros
	HistCompactionPrefetchBytes
	HistPrefetchedBytesDiscarded
	HistAsyncPrefetchAbortMicros
	HistTableOpenPrefetchTailReadBytes
	HistNumOpPerTransaction
	HistMultiscanPrepareIterators
	HistMultiscanPrepareMicros
	HistMultiscanBlocksPerPrepare
	HistIODispatcherAsyncReadObservedCompletionMicros
	HistIODispatcherAsyncReadPollWaitMicros
	HistIODispatcherAsyncReadPrefetchLeadMicros
	HistBlockKeyDistributionCV
	HistIngestExternalFilePrepareTime
	HistIngestExternalFileRunTime
	HistRateLimiterWaitMicrosRead
	HistRateLimiterWaitMicrosWrite
	HistFlushMemtableMemoryBytes
	HistFlushMemtableTotalDataSize
	HistFlushWriteBufferFullMemtableMemoryBytes
	HistFlushWriteBufferManagerMemtableMemoryBytes
	HistOpenAndCompactDBOpenMicros

	// HistogramEnumMax is the number of histograms.
	HistogramEnumMax
)

// String gives the public name, as in Statistics.ToString.
func (t Ticker) String() string {
	if t < TickerEnumMax {
		return TickersNameMap[t]
	}
	return "unknown"
}

// String gives the public name, as in Statistics.ToString.
func (h Histogram) String() string {
	if h < HistogramEnumMax {
		return HistogramsNameMap[h]
	}
	return "unknown"
}

// HistogramData summarises a histogram.
type HistogramData struct {
	Median            float64
	Percentile95      float64
	Percentile99      float64
	Average           float64
	StandardDeviation float64
	Max               float64
	Count             uint64
	Sum               uint64
	Min               float64
}

// StatsLevel bounds what Statistics collects, so that costly measurements can be
// left out. Each level adds to the one before.
type StatsLevel uint8

// The levels.
const (
	// DisableAll collects nothing.
	DisableAll StatsLevel = iota
	// ExceptHistogramOrTimers collects tickers alone.
	ExceptHistogramOrTimers
	// ExceptTimers adds histograms that need no clock.
	ExceptTimers
	// ExceptDetailedTimers adds timers, without those inside mutexes and of
	// compression. It is the default.
	ExceptDetailedTimers
	// ExceptTimeForMutex adds the detailed timers.
	ExceptTimeForMutex
	// StatsLevelAll adds timers of mutexes.
	StatsLevelAll

	// ExceptTickers is DisableAll under its other name.
	ExceptTickers = DisableAll
)

// Statistics counts what databases do. One object may serve several databases.
// The engine calls RecordTick and RecordInHistogram on its hot paths: they have
// to be cheap and must not block. A nil Statistics turns collection off; the
// helpers of package monitoring take that into account.
//
// Tickers and histograms out of range are ignored.
type Statistics interface {
	// Name identifies the implementation in the OPTIONS file.
	Name() string
	GetTickerCount(t Ticker) uint64
	GetHistogramData(h Histogram) HistogramData
	// GetHistogramString is the histogram's table of buckets as text.
	GetHistogramString(h Histogram) string
	// RecordTick adds n.
	RecordTick(t Ticker, n uint64)
	SetTickerCount(t Ticker, n uint64)
	GetAndResetTickerCount(t Ticker) uint64
	// RecordInHistogram adds one value.
	RecordInHistogram(h Histogram, v uint64)
	// ReportTimeToHistogram is RecordInHistogram for durations: nothing at
	// level ExceptTimers and below.
	ReportTimeToHistogram(h Histogram, v uint64)
	// MeasureTime is the old name of RecordInHistogram.
	MeasureTime(h Histogram, v uint64)
	// Reset sets all to zero.
	Reset() error
	// ToString lists all tickers, then all histograms, a line each.
	ToString() string
	// GetTickerMap gives the tickers by public name; nil when unsupported.
	GetTickerMap() map[string]uint64
	HistEnabledForType(h Histogram) bool
	GetStatsLevel() StatsLevel
	SetStatsLevel(l StatsLevel)
}

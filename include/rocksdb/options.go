// Port of include/rocksdb/options.h: the options of a database and of its
// column families. Differs: AdvancedColumnFamilyOptions is part of
// ColumnFamilyOptions; defaults that need higher packages are nil and filled in
// when the database opens; a duration is a time.Duration where upstream has
// chrono and a number in the named unit elsewhere. The options of single calls
// are in options_calls.go.

package rocksdb

import "math"

// WALRecoveryMode says what a damaged log means at open.
type WALRecoveryMode uint8

// The modes.
const (
	// TolerateCorruptedTailRecords ignores an incomplete record at a log's end.
	TolerateCorruptedTailRecords WALRecoveryMode = iota
	// AbsoluteConsistency refuses any damage.
	AbsoluteConsistency
	// PointInTimeRecovery stops at the first damage.
	PointInTimeRecovery
	// SkipAnyCorruptedRecords goes on behind damage.
	SkipAnyCorruptedRecords
)

// DBPath is a directory for table files and how much it should take.
type DBPath struct {
	Path       string
	TargetSize uint64 // bytes
}

// HostnameForDBHostID as DBOptions.DBHostID stands for the machine's name.
const HostnameForDBHostID = "__hostname__"

// DefaultColumnFamilyName is the column family every database has.
const DefaultColumnFamilyName = "default"

// DBOptions are the options of a database as a whole. Get them from
// DefaultDBOptions: the zero value is not the default.
type DBOptions struct {
	// CreateIfMissing makes a database where there is none. Default false.
	CreateIfMissing bool
	// CreateMissingColumnFamilies makes column families named at open. Default
	// false.
	CreateMissingColumnFamilies bool
	// ErrorIfExists refuses a database that is there. Default false.
	ErrorIfExists bool
	// ParanoidChecks turns any inconsistency found into an error. Default true.
	ParanoidChecks bool
	// FlushVerifyMemtableCount compares entries read with those written. Default
	// true.
	FlushVerifyMemtableCount bool
	// CompactionVerifyRecordCount does so in compactions. Default true.
	CompactionVerifyRecordCount bool
	// TrackAndVerifyWALsInManifest records log sizes in the MANIFEST. Default
	// false.
	TrackAndVerifyWALsInManifest bool
	// TrackAndVerifyWALs chains each log to its predecessor. Default false.
	TrackAndVerifyWALs bool
	// VerifySstUniqueIDInManifest compares table IDs at open. Default true.
	VerifySstUniqueIDInManifest bool
	// Env is the system to run on; nil (default) is package env's Default.
	Env Env
	// RateLimiter limits flush and compaction I/O; nil (default) is none.
	RateLimiter RateLimiter
	// SstFileManager watches the space used; nil makes the default one.
	SstFileManager SstFileManager
	// InfoLog takes the engine's messages; nil makes the file LOG.
	InfoLog Logger
	// InfoLogLevel is the least level written. Default InfoLevel.
	InfoLogLevel InfoLogLevel
	// MaxOpenFiles limits open table files; -1 (default) keeps all open.
	MaxOpenFiles int
	// MaxFileOpeningThreads opens files at open in parallel. Default 16.
	MaxFileOpeningThreads int
	// ReadIOExecutorThreads run reads given to an executor. Default 1.
	ReadIOExecutorThreads int
	// OpenFilesAsync opens table files in the background after Open, which then is
	// quick for a database of many files (with MaxOpenFiles of -1). Errors show in
	// what reads the file, and as the background error. Needs
	// SkipStatsUpdateOnDBOpen; not for FIFO compaction. Default false.
	OpenFilesAsync bool
	// MaxTotalWALSize in bytes forces flushes of what holds the oldest log; 0
	// (default) is four times the sum of all memtables.
	MaxTotalWALSize uint64
	// Statistics; nil (default) is none.
	Statistics Statistics
	// UseFsync syncs with fsync rather than fdatasync. Default false.
	UseFsync bool
	// DBPaths are directories for table files, the fastest first. Default
	// empty: the database's own.
	DBPaths []DBPath
	// DBLogDir is where LOG files go. Default "": the database's directory.
	DBLogDir string
	// WALDir is where logs go. Default "": the database's directory.
	WALDir string
	// DeleteObsoleteFilesPeriodMicros is the time between full scans for files
	// to delete. Default 6 hours.
	DeleteObsoleteFilesPeriodMicros uint64
	// MaxBackgroundJobs is flushes and compactions at once. Default 2.
	MaxBackgroundJobs int
	// MaxBackgroundCompactions is derived from MaxBackgroundJobs when -1
	// (default). Deprecated upstream.
	MaxBackgroundCompactions int
	// MaxSubcompactions splits one compaction. Default 1.
	MaxSubcompactions uint32
	// MaxBackgroundFlushes is derived from MaxBackgroundJobs when -1 (default).
	// Deprecated upstream.
	MaxBackgroundFlushes int
	// MaxLogFileSize rolls LOG at that many bytes; 0 (default) never.
	MaxLogFileSize uint64
	// LogFileTimeToRoll rolls LOG after that many seconds; 0 (default) never.
	LogFileTimeToRoll uint64
	// KeepLogFileNum is how many LOG files are kept. Default 1000.
	KeepLogFileNum uint64
	// RecycleLogFileNum is how many logs are kept for reuse. Default 0.
	RecycleLogFileNum uint64
	// AsyncWALPrecreate makes the next log in the background. Default false.
	AsyncWALPrecreate bool
	// MaxManifestFileSize in bytes starts a new MANIFEST. Default 1 GiB.
	MaxManifestFileSize uint64
	// VerifyManifestContentOnClose rereads the MANIFEST. Default false.
	VerifyManifestContentOnClose bool
	// OptimizeManifestForRecovery. Default false.
	OptimizeManifestForRecovery bool
	// ReuseManifestOnOpen goes on in the old MANIFEST. Default false.
	ReuseManifestOnOpen bool
	// MaxManifestSpaceAmpPct is the accepted growth of the MANIFEST over its
	// compacted size, in percent. Default 500.
	MaxManifestSpaceAmpPct int
	// TableCacheNumshardbits shards the table cache. Default 6.
	TableCacheNumshardbits int
	// WALTTLSeconds keeps logs that long in the archive; 0 (default) with
	// WALSizeLimitMB 0 deletes them.
	WALTTLSeconds uint64
	// WALSizeLimitMB keeps that many MiB in the archive.
	WALSizeLimitMB uint64
	// ManifestPreallocationSize in bytes. Default 4 MiB.
	ManifestPreallocationSize uint64
	// AllowMmapReads reads tables by mapping them. Default false.
	AllowMmapReads bool
	// AllowMmapWrites writes by mapping. Default false.
	AllowMmapWrites bool
	// UseDirectReads bypasses the page cache for reads. Default false.
	UseDirectReads bool
	// UseDirectIOForCompactionReads does so for compactions alone. Default
	// false.
	UseDirectIOForCompactionReads bool
	// UseDirectIOForFlushAndCompaction does so for writes in the background.
	// Default false.
	UseDirectIOForFlushAndCompaction bool
	// AllowFallocate preallocates files. Default true.
	AllowFallocate bool
	// IsFDCloseOnExec keeps files from child processes. Default true.
	IsFDCloseOnExec bool
	// StatsDumpPeriodSec writes statistics to LOG; 0 never. Default 600.
	StatsDumpPeriodSec uint32
	// StatsPersistPeriodSec keeps a history of statistics; 0 never. Default 600.
	StatsPersistPeriodSec uint32
	// PersistStatsToDisk keeps it in a hidden column family. Default false.
	PersistStatsToDisk bool
	// StatsHistoryBufferSize limits it in memory, bytes. Default 1 MiB.
	StatsHistoryBufferSize uint64
	// AdviseRandomOnOpen tells the system of random reads. Default true.
	AdviseRandomOnOpen bool
	// DBWriteBufferSize limits all memtables together, bytes; 0 (default) does
	// not.
	DBWriteBufferSize uint64
	// WriteBufferManager does so across databases; nil makes one of
	// DBWriteBufferSize.
	WriteBufferManager WriteBufferManager
	// CompactionReadaheadSize in bytes. Default 2 MiB.
	CompactionReadaheadSize uint64
	// WritableFileMaxBufferSize is the write buffer of a file. Default 1 MiB.
	WritableFileMaxBufferSize uint64
	// UseAdaptiveMutex is kept for OPTIONS files; Go's mutexes spin by
	// themselves.
	UseAdaptiveMutex bool
	// BytesPerSync syncs table files step by step; 0 (default) does not.
	BytesPerSync uint64
	// WALBytesPerSync does so with logs. Default 0.
	WALBytesPerSync uint64
	// StrictBytesPerSync waits for each step. Default false.
	StrictBytesPerSync bool
	// Listeners are told of events.
	Listeners []EventListener
	// EnableThreadTracking keeps the state of background jobs. Default false.
	EnableThreadTracking bool
	// DelayedWriteRate in bytes a second, when writes are slowed; 0 (default)
	// is the rate limiter's or 16 MiB.
	DelayedWriteRate uint64
	// EnablePipelinedWrite separates log and memtable writes. Default false.
	EnablePipelinedWrite bool
	// UnorderedWrite gives up the order of memtable writes. Default false.
	UnorderedWrite bool
	// AllowConcurrentMemtableWrite. Default true.
	AllowConcurrentMemtableWrite bool
	// EnableWriteThreadAdaptiveYield spins before waiting. Default true.
	EnableWriteThreadAdaptiveYield bool
	// MaxWriteBatchGroupSizeBytes limits a group. Default 1 MiB.
	MaxWriteBatchGroupSizeBytes uint64
	// WriteThreadMaxYieldUsec is the longest spin. Default 100.
	WriteThreadMaxYieldUsec uint64
	// WriteThreadSlowYieldUsec ends spinning on a slow yield. Default 3.
	WriteThreadSlowYieldUsec uint64
	// SkipStatsUpdateOnDBOpen leaves files' statistics unread. Default false.
	SkipStatsUpdateOnDBOpen bool
	// WALRecoveryMode. Default PointInTimeRecovery.
	WALRecoveryMode WALRecoveryMode
	// Allow2PC keeps prepared transactions' logs. Default false.
	Allow2PC bool
	// RowCache keeps whole rows; nil (default) is none.
	RowCache Cache
	// WalFilter sees log records in recovery; nil (default) is none.
	WalFilter WalFilter
	// DumpMallocStats adds the allocator's statistics. Default false.
	DumpMallocStats bool
	// AvoidFlushDuringRecovery keeps recovered data in memory. Default false.
	AvoidFlushDuringRecovery bool
	// EnforceWriteBufferManagerDuringRecovery. Default true.
	EnforceWriteBufferManagerDuringRecovery bool
	// AvoidFlushDuringShutdown leaves unlogged data unflushed at close: it is
	// lost. Default false.
	AvoidFlushDuringShutdown bool
	// AllowIngestBehind reserves the last level. Default false.
	AllowIngestBehind bool
	// TwoWriteQueues has a second queue for log-only writes. Default false.
	TwoWriteQueues bool
	// ManualWALFlush writes the log on FlushWAL only. Default false.
	ManualWALFlush bool
	// WALCompression compresses log records; ZSTD or none. Default
	// NoCompression.
	WALCompression CompressionType
	// BackgroundCloseInactiveWALs. Default false.
	BackgroundCloseInactiveWALs bool
	// AtomicFlush flushes column families together. Default false.
	AtomicFlush bool
	// AvoidUnnecessaryBlockingIO moves deletions to the background. Default
	// false.
	AvoidUnnecessaryBlockingIO bool
	// WriteDBIDToManifest. Default true.
	WriteDBIDToManifest bool
	// WriteIdentityFile. Default true.
	WriteIdentityFile bool
	// PrefixSeekOptInOnly makes total order the default of seeks. Default false.
	PrefixSeekOptInOnly bool
	// LogReadaheadSize in bytes for recovery. Default 0.
	LogReadaheadSize uint64
	// FileChecksumGenFactory makes whole-file checksums; nil (default) none.
	FileChecksumGenFactory FileChecksumGenFactory
	// BestEffortsRecovery opens what is left. Default false.
	BestEffortsRecovery bool
	// MaxBGErrorResumeCount is how often recovery from a retryable error is
	// tried. Default MaxInt32.
	MaxBGErrorResumeCount int
	// BGErrorResumeRetryInterval in microseconds. Default 1000000.
	BGErrorResumeRetryInterval uint64
	// AllowDataInErrors lets messages show keys. Default false.
	AllowDataInErrors bool
	// DBHostID goes into table properties. Default HostnameForDBHostID.
	DBHostID string
	// ChecksumHandoffFileTypes get checksums with each write. Default empty.
	ChecksumHandoffFileTypes FileTypeSet
	// CompactionService runs compactions elsewhere; nil (default) none.
	CompactionService CompactionService
	// LowestUsedCacheTier. Default NonVolatileBlockTier.
	LowestUsedCacheTier CacheTier
	// EnforceSingleDelContracts makes misuse of SingleDelete an error. Default
	// true.
	EnforceSingleDelContracts bool
	// DailyOffpeakTimeUTC is "HH:mm-HH:mm" when the load is low. Default "".
	DailyOffpeakTimeUTC string
	// MaxCompactionTriggerWakeupSeconds is the longest time between looks for
	// due compactions. Default 43200.
	MaxCompactionTriggerWakeupSeconds uint64
	// FollowerRefreshCatchupPeriodMS. Default 10000.
	FollowerRefreshCatchupPeriodMS uint64
	// FollowerCatchupRetryCount. Default 10.
	FollowerCatchupRetryCount uint64
	// FollowerCatchupRetryWaitMS. Default 100.
	FollowerCatchupRetryWaitMS uint64
	// MetadataWriteTemperature of MANIFEST and the like. Default unknown.
	MetadataWriteTemperature Temperature
	// WALWriteTemperature. Default unknown.
	WALWriteTemperature Temperature
	// CalculateSstWriteLifetimeHintSet are the styles with lifetime hints.
	// Default level alone.
	CalculateSstWriteLifetimeHintSet CompactionStyleSet
	// FastSstOpen keeps what open needs in the MANIFEST. Default false.
	FastSstOpen bool
}

// DefaultDBOptions gives the defaults.
func DefaultDBOptions() DBOptions {
	return DBOptions{
		ParanoidChecks: true, FlushVerifyMemtableCount: true, CompactionVerifyRecordCount: true,
		VerifySstUniqueIDInManifest: true, InfoLogLevel: InfoLevel,
		MaxOpenFiles: -1, MaxFileOpeningThreads: 16, ReadIOExecutorThreads: 1,
		DeleteObsoleteFilesPeriodMicros: 6 * 60 * 60 * 1000000,
		MaxBackgroundJobs:               2, MaxBackgroundCompactions: -1, MaxSubcompactions: 1, MaxBackgroundFlushes: -1,
		KeepLogFileNum: 1000, MaxManifestFileSize: 1 << 30, MaxManifestSpaceAmpPct: 500,
		TableCacheNumshardbits: 6, ManifestPreallocationSize: 4 << 20,
		AllowFallocate: true, IsFDCloseOnExec: true,
		StatsDumpPeriodSec: 600, StatsPersistPeriodSec: 600, StatsHistoryBufferSize: 1 << 20,
		AdviseRandomOnOpen: true, CompactionReadaheadSize: 2 << 20, WritableFileMaxBufferSize: 1 << 20,
		AllowConcurrentMemtableWrite: true, EnableWriteThreadAdaptiveYield: true,
		MaxWriteBatchGroupSizeBytes: 1 << 20, WriteThreadMaxYieldUsec: 100, WriteThreadSlowYieldUsec: 3,
		WALRecoveryMode: PointInTimeRecovery, EnforceWriteBufferManagerDuringRecovery: true,
		WriteDBIDToManifest: true, WriteIdentityFile: true,
		MaxBGErrorResumeCount: math.MaxInt32, BGErrorResumeRetryInterval: 1000000,
		DBHostID: HostnameForDBHostID, LowestUsedCacheTier: NonVolatileBlockTier,
		EnforceSingleDelContracts: true, MaxCompactionTriggerWakeupSeconds: 43200,
		FollowerRefreshCatchupPeriodMS: 10000, FollowerCatchupRetryCount: 10, FollowerCatchupRetryWaitMS: 100,
		CalculateSstWriteLifetimeHintSet: NewCompactionStyleSet(CompactionStyleLevel),
	}
}

// ColumnFamilyOptions are the options of one column family. Get them from
// DefaultColumnFamilyOptions: the zero value is not the default.
// Upstream: AdvancedColumnFamilyOptions.
type ColumnFamilyOptions struct {
	// Comparator orders the keys; nil (default) is bytewise.
	Comparator Comparator
	// MergeOperator gives Merge its meaning; nil (default) refuses it.
	MergeOperator MergeOperator
	// CompactionFilter is used by all compactions, concurrently; nil (default)
	// is none. It wins over CompactionFilterFactory.
	CompactionFilter CompactionFilter
	// CompactionFilterFactory makes a filter for each job; nil (default) none.
	CompactionFilterFactory CompactionFilterFactory
	// WriteBufferSize is a memtable's size in bytes. Default 64 MiB.
	WriteBufferSize uint64
	// Compression of new blocks. Default LZ4Compression.
	Compression CompressionType
	// BottommostCompression of the last level; DisableCompressionOption
	// (default) is like the others.
	BottommostCompression CompressionType
	// BottommostCompressionOpts go with it when Enabled.
	BottommostCompressionOpts CompressionOptions
	// CompressionOpts go with all other levels.
	CompressionOpts CompressionOptions
	// CompressionManager; nil (default) is the built-in one.
	CompressionManager CompressionManager
	// Level0FileNumCompactionTrigger starts a compaction. Default 4.
	Level0FileNumCompactionTrigger int
	// PrefixExtractor cuts prefixes for filters and prefix seeks; nil (default)
	// is none.
	PrefixExtractor SliceTransform
	// MaxBytesForLevelBase is the size of level 1 in bytes. Default 256 MiB.
	MaxBytesForLevelBase uint64
	// DisableAutoCompactions. Default false.
	DisableAutoCompactions bool
	// TableFactory is the format of tables; nil (default) is block-based.
	TableFactory TableFactory
	// CFPaths are directories for this column family. Default empty: DBPaths.
	CFPaths []DBPath
	// CompactionThreadLimiter limits compactions across column families; nil
	// (default) does not.
	CompactionThreadLimiter ConcurrentTaskLimiter
	// SstPartitionerFactory cuts compaction outputs; nil (default) none.
	SstPartitionerFactory SstPartitionerFactory
	// MemtableMaxRangeDeletions flushes a memtable with that many; 0 (default)
	// never.
	MemtableMaxRangeDeletions uint32
	// UncacheAggressiveness, above 0, erases an obsolete file's blocks from the
	// cache. Default 0.
	UncacheAggressiveness uint32

	// MaxWriteBufferNumber is memtables in memory. Default 2.
	MaxWriteBufferNumber int
	// MinWriteBufferNumberToMerge before a flush. Default 1.
	MinWriteBufferNumberToMerge int
	// MaxWriteBufferSizeToMaintain keeps flushed memtables, bytes; 0 (default)
	// does not, -1 is MaxWriteBufferNumber * WriteBufferSize.
	MaxWriteBufferSizeToMaintain int64
	// InplaceUpdateSupport overwrites values in memtables. Default false.
	InplaceUpdateSupport bool
	// InplaceUpdateNumLocks. Default 10000.
	InplaceUpdateNumLocks uint64
	// ExperimentalMempurgeThreshold. Default 0.
	ExperimentalMempurgeThreshold float64
	// InplaceCallback; nil (default) is none.
	InplaceCallback InplaceCallback
	// MemtablePrefixBloomSizeRatio of WriteBufferSize. Default 0.
	MemtablePrefixBloomSizeRatio float64
	// MemtableWholeKeyFiltering. Default false.
	MemtableWholeKeyFiltering bool
	// MemtableHugePageSize in bytes. Default 0.
	MemtableHugePageSize uint64
	// MemtableInsertWithHintPrefixExtractor; nil (default) is none.
	MemtableInsertWithHintPrefixExtractor SliceTransform
	// BloomLocality. Default 0.
	BloomLocality uint32
	// ArenaBlockSize in bytes; 0 (default) is an eighth of WriteBufferSize, at
	// most 1 MiB.
	ArenaBlockSize uint64
	// CompressionPerLevel replaces Compression. Default empty.
	CompressionPerLevel []CompressionType
	// NumLevels. Default 7.
	NumLevels int
	// Level0SlowdownWritesTrigger. Default 20.
	Level0SlowdownWritesTrigger int
	// Level0StopWritesTrigger. Default 36.
	Level0StopWritesTrigger int
	// TargetFileSizeBase in bytes, of level 1. Default 64 MiB.
	TargetFileSizeBase uint64
	// TargetFileSizeMultiplier from level to level. Default 1.
	TargetFileSizeMultiplier int
	// TargetFileSizeIsUpperBound. Default false.
	TargetFileSizeIsUpperBound bool
	// LevelCompactionDynamicLevelBytes sizes levels from the last. Default true.
	LevelCompactionDynamicLevelBytes bool
	// MaxBytesForLevelMultiplier. Default 10.
	MaxBytesForLevelMultiplier float64
	// MaxBytesForLevelMultiplierAdditional by level. Default all 1.
	MaxBytesForLevelMultiplierAdditional []int
	// MaxCompactionBytes; 0 (default) is 25 times the target file size.
	MaxCompactionBytes uint64
	// SoftPendingCompactionBytesLimit slows writes. Default 64 GiB.
	SoftPendingCompactionBytesLimit uint64
	// HardPendingCompactionBytesLimit stops writes. Default 256 GiB.
	HardPendingCompactionBytesLimit uint64
	// CompactionStyle. Default CompactionStyleLevel.
	CompactionStyle CompactionStyle
	// CompactionPri. Default MinOverlappingRatio.
	CompactionPri CompactionPri
	// CompactionOptionsUniversal for that style.
	CompactionOptionsUniversal CompactionOptionsUniversal
	// CompactionOptionsFIFO for that style.
	CompactionOptionsFIFO CompactionOptionsFIFO
	// MaxSequentialSkipInIterations before a seek. Default 8.
	MaxSequentialSkipInIterations uint64
	// MemtableFactory; nil (default) is the skip list.
	MemtableFactory MemTableRepFactory
	// TablePropertiesCollectorFactories. Default empty.
	TablePropertiesCollectorFactories []TablePropertiesCollectorFactory
	// MaxSuccessiveMerges in a memtable before merging; 0 (default) no limit.
	MaxSuccessiveMerges uint64
	// StrictMaxSuccessiveMerges reads files to merge. Default false.
	StrictMaxSuccessiveMerges bool
	// OptimizeFiltersForHits leaves the last level without filters. Default
	// false.
	OptimizeFiltersForHits bool
	// ParanoidFileChecks rereads each new file. Default false.
	ParanoidFileChecks bool
	// VerifyOutputFlags. Default VerifyNone.
	VerifyOutputFlags VerifyOutputFlags
	// ForceConsistencyChecks of the file tree. Default true.
	ForceConsistencyChecks bool
	// ReportBGIOStats measures background I/O. Default false.
	ReportBGIOStats bool
	// DisallowMemtableWrites makes the column family ingest-only. Default false.
	DisallowMemtableWrites bool
	// TTL in seconds; UnknownTTL (default) lets the engine choose.
	TTL uint64
	// PeriodicCompactionSeconds; UnknownTTL (default) lets the engine choose.
	PeriodicCompactionSeconds uint64
	// ReadTriggeredCompactionThreshold. Default 0.
	ReadTriggeredCompactionThreshold float64
	// SampleForCompression tries one block in that many; 0 (default) none.
	SampleForCompression uint64
	// LastLevelTemperature. Default unknown.
	LastLevelTemperature Temperature
	// DefaultWriteTemperature of new files. Default unknown.
	DefaultWriteTemperature Temperature
	// DefaultTemperature of files without one. Default unknown.
	DefaultTemperature Temperature
	// PrecludeLastLevelDataSeconds keeps young data out of the last level.
	// Default 0.
	PrecludeLastLevelDataSeconds uint64
	// PreserveInternalTimeSeconds. Default 0.
	PreserveInternalTimeSeconds uint64
	// EnableBlobFiles stores large values apart. Default false.
	EnableBlobFiles bool
	// MinBlobSize in bytes. Default 0.
	MinBlobSize uint64
	// BlobFileSize in bytes. Default 256 MiB.
	BlobFileSize uint64
	// BlobCompressionType. Default NoCompression.
	BlobCompressionType CompressionType
	// BlobCompressionOpts go with it.
	BlobCompressionOpts CompressionOptions
	// EnableBlobGarbageCollection. Default false.
	EnableBlobGarbageCollection bool
	// BlobGarbageCollectionAgeCutoff, a share of the blob files. Default 0.25.
	BlobGarbageCollectionAgeCutoff float64
	// BlobGarbageCollectionForceThreshold, a share of garbage. Default 1.
	BlobGarbageCollectionForceThreshold float64
	// BlobCompactionReadaheadSize in bytes. Default 0.
	BlobCompactionReadaheadSize uint64
	// BlobFileStartingLevel. Default 0.
	BlobFileStartingLevel int
	// BlobCache; nil (default) is none.
	BlobCache Cache
	// PrepopulateBlobCache. Default PrepopulateBlobCacheDisable.
	PrepopulateBlobCache PrepopulateBlobCache
	// EnableBlobDirectWrite writes blobs before the memtable. Default false.
	EnableBlobDirectWrite bool
	// BlobDirectWritePartitions. Default 1.
	BlobDirectWritePartitions uint32
	// BlobDirectWritePartitionStrategy; nil (default) is round robin.
	BlobDirectWritePartitionStrategy BlobFilePartitionStrategy
	// MemtableProtectionBytesPerKey: 0 (default), 1, 2, 4 or 8.
	MemtableProtectionBytesPerKey uint32
	// PersistUserDefinedTimestamps. Default true.
	PersistUserDefinedTimestamps bool
	// BlockProtectionBytesPerKey: 0 (default), 1, 2, 4 or 8.
	BlockProtectionBytesPerKey uint8
	// BottommostFileCompactionDelay in seconds. Default 0.
	BottommostFileCompactionDelay uint32
	// ParanoidMemoryChecks of memtable order. Default false.
	ParanoidMemoryChecks bool
	// MemtableVerifyPerKeyChecksumOnSeek. Default false.
	MemtableVerifyPerKeyChecksumOnSeek bool
	// MemtableOpScanFlushTrigger. Default 0.
	MemtableOpScanFlushTrigger uint32
	// MemtableAvgOpScanFlushTrigger. Default 0.
	MemtableAvgOpScanFlushTrigger uint32
	// MinTombstonesForRangeConversion. Default 0.
	MinTombstonesForRangeConversion uint32
	// CFAllowIngestBehind reserves the last level. Default false.
	CFAllowIngestBehind bool
	// MemtableBatchLookupOptimization. Default false.
	MemtableBatchLookupOptimization bool
}

// DefaultColumnFamilyOptions gives the defaults.
func DefaultColumnFamilyOptions() ColumnFamilyOptions {
	return ColumnFamilyOptions{
		WriteBufferSize: 64 << 20, Compression: LZ4Compression,
		BottommostCompression:          DisableCompressionOption,
		BottommostCompressionOpts:      DefaultCompressionOptions(),
		CompressionOpts:                DefaultCompressionOptions(),
		Level0FileNumCompactionTrigger: 4, MaxBytesForLevelBase: 256 << 20,
		MaxWriteBufferNumber: 2, MinWriteBufferNumberToMerge: 1, InplaceUpdateNumLocks: 10000,
		NumLevels: 7, Level0SlowdownWritesTrigger: 20, Level0StopWritesTrigger: 36,
		TargetFileSizeBase: 64 << 20, TargetFileSizeMultiplier: 1,
		LevelCompactionDynamicLevelBytes: true, MaxBytesForLevelMultiplier: 10,
		MaxBytesForLevelMultiplierAdditional: []int{1, 1, 1, 1, 1, 1, 1},
		SoftPendingCompactionBytesLimit:      64 << 30, HardPendingCompactionBytesLimit: 256 << 30,
		CompactionStyle: CompactionStyleLevel, CompactionPri: MinOverlappingRatio,
		CompactionOptionsUniversal:    DefaultCompactionOptionsUniversal(),
		CompactionOptionsFIFO:         DefaultCompactionOptionsFIFO(),
		MaxSequentialSkipInIterations: 8, ForceConsistencyChecks: true,
		TTL: UnknownTTL, PeriodicCompactionSeconds: UnknownTTL,
		BlobFileSize: 1 << 28, BlobCompressionOpts: DefaultCompressionOptions(),
		BlobGarbageCollectionAgeCutoff: 0.25, BlobGarbageCollectionForceThreshold: 1.0,
		BlobDirectWritePartitions: 1, PersistUserDefinedTimestamps: true,
	}
}

// Options are a database's options with those of its column families.
type Options struct {
	DBOptions
	ColumnFamilyOptions
}

// DefaultOptions gives the defaults.
func DefaultOptions() Options {
	return Options{DBOptions: DefaultDBOptions(), ColumnFamilyOptions: DefaultColumnFamilyOptions()}
}

// ColumnFamilyDescriptor names a column family and its options.
type ColumnFamilyDescriptor struct {
	Name    string
	Options ColumnFamilyOptions
}

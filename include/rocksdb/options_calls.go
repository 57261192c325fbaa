// Port of include/rocksdb/options.h: the options of single calls. Differs: see
// options.go.

package rocksdb

import (
	"math"
	"sync/atomic"
	"time"
)

// ReadTier says how far a read may go for data.
type ReadTier uint8

// The tiers.
const (
	ReadAllTier    ReadTier = iota // memtable, caches, files
	BlockCacheTier                 // memtable and block cache; else Incomplete
	PersistedTier                  // files, and memtables whose data is logged
	MemtableTier                   // memtables; for memtable iterators
)

// Range is the keys from Start up to but not including Limit.
type Range struct{ Start, Limit []byte }

// RangeOpt is a range either of whose ends may be open (nil).
type RangeOpt struct{ Start, Limit []byte }

// ScanOptions is one range of a MultiScan.
type ScanOptions struct {
	Range RangeOpt
	// PropertyBag is handed to user-defined indexes; may be nil.
	PropertyBag map[string]string
}

// MultiScanArgs are the ranges of a MultiScan, in order and apart from each
// other.
type MultiScanArgs struct {
	// IOCoalesceThreshold joins reads with gaps up to so many bytes. Default
	// 16 KiB.
	IOCoalesceThreshold uint64
	// MaxPrefetchSize limits what is read ahead, bytes; 0 (default) does not.
	MaxPrefetchSize uint64
	// UseAsyncIO. Default false.
	UseAsyncIO bool
	// Reverse scans each range from its end. Default false.
	Reverse bool
	// IODispatcher runs the reads; nil (default) makes one.
	IODispatcher IODispatcher
	// Comparator orders the keys.
	Comparator Comparator
	// Ranges to scan.
	Ranges []ScanOptions
}

// DefaultMultiScanArgs gives the defaults.
func DefaultMultiScanArgs(c Comparator) MultiScanArgs {
	return MultiScanArgs{IOCoalesceThreshold: 16 << 10, Comparator: c}
}

// Insert adds a range; a nil limit leaves it open.
func (a *MultiScanArgs) Insert(start, limit []byte) {
	a.Ranges = append(a.Ranges, ScanOptions{Range: RangeOpt{Start: start, Limit: limit}})
}

// HasBoundedScanRanges tells whether there are ranges and all have both ends.
func (a *MultiScanArgs) HasBoundedScanRanges() bool {
	for i := range a.Ranges {
		if a.Ranges[i].Range.Start == nil || a.Ranges[i].Range.Limit == nil {
			return false
		}
	}
	return len(a.Ranges) > 0
}

// IODispatcher runs groups of block reads; its methods are in package
// util/iodispatcher.
type IODispatcher interface{ Name() string }

// IODispatcherOptions are NewIODispatcher's.
type IODispatcherOptions struct {
	// MaxPrefetchMemoryBytes bounds what all scans together have read ahead; 0
	// (default) does not.
	MaxPrefetchMemoryBytes uint64
	// Statistics, when not nil, count the memory.
	Statistics Statistics
}

// ReadOptions are the options of a read. The engine copies the slices in it
// before a call returns. Get them from DefaultReadOptions: the zero value is
// not the default. A nil *ReadOptions means the defaults.
type ReadOptions struct {
	// Snapshot to read at; nil (default) is the present.
	Snapshot Snapshot
	// Timestamp is the newest version to see; needed exactly with user-defined
	// timestamps.
	Timestamp []byte
	// IterStartTS, when not nil, gives all versions from it to Timestamp.
	IterStartTS []byte
	// Deadline of the call since the Unix epoch; 0 (default) is none.
	Deadline time.Duration
	// IOTimeout of one file read; 0 (default) is none.
	IOTimeout time.Duration
	// ReadTier. Default ReadAllTier.
	ReadTier ReadTier
	// RateLimiterPriority charges file reads; IOTotal (default) does not.
	RateLimiterPriority IOPriority
	// ValueSizeSoftLimit of a MultiGet in bytes: keys past it get Aborted.
	// Default no limit.
	ValueSizeSoftLimit uint64
	// MergeOperandCountThreshold, when not nil, makes Get and MultiGet give
	// ErrMergeOperandThresholdExceeded beside the value of a key that merged
	// more operands. Iterators take no notice of it.
	MergeOperandCountThreshold *uint64
	// VerifyChecksums of what is read from files. Default true.
	VerifyChecksums bool
	// FillCache puts blocks read in the cache. Default true.
	FillCache bool
	// IgnoreRangeDeletions skips them. Default false. Deprecated upstream.
	IgnoreRangeDeletions bool
	// AsyncIO reads ahead asynchronously. Default false.
	AsyncIO bool
	// OptimizeMultigetForIO reads levels in parallel with AsyncIO. Default true.
	OptimizeMultigetForIO bool

	// ReadaheadSize of iterators in bytes; 0 (default) is automatic.
	ReadaheadSize uint64
	// MaxSkippableInternalKeys before a seek is Incomplete; 0 (default) none.
	MaxSkippableInternalKeys uint64
	// IterateLowerBound is the first key of an iterator; nil (default) none.
	IterateLowerBound []byte
	// IterateUpperBound ends an iterator before it; nil (default) none.
	IterateUpperBound []byte
	// Tailing sees new data. Default false.
	Tailing bool
	// TotalOrderSeek ignores prefix indexes and filters. Default false.
	TotalOrderSeek bool
	// AutoPrefixMode uses prefixes where the result is the same. Default false.
	AutoPrefixMode bool
	// PrefixSameAsStart ends at the prefix of the seek. Default false.
	PrefixSameAsStart bool
	// PinData keeps blocks for the iterator's life. Default false.
	PinData bool
	// AdaptiveReadahead keeps the readahead size across files. Default false.
	AdaptiveReadahead bool
	// BackgroundPurgeOnIteratorCleanup deletes files in the background. Default
	// false.
	BackgroundPurgeOnIteratorCleanup bool
	// TableFilter, when not nil, leaves out tables it is false for.
	TableFilter func(*TableProperties) bool
	// AutoReadaheadSize trims readahead by bounds and cache. Default true.
	AutoReadaheadSize bool
	// AllowUnpreparedValue leaves values unread until PrepareValue. Default
	// false.
	AllowUnpreparedValue bool
	// AutoRefreshIteratorWithSnapshot lets an iterator with Snapshot go on, at
	// its moves, to the files and memtables of the present, still showing the
	// snapshot's data, so that it holds no old ones for long. With PinData it
	// changes nothing. Default false.
	AutoRefreshIteratorWithSnapshot bool
	// TableIndexFactory selects a user-defined index; nil (default) none.
	TableIndexFactory UserDefinedIndexFactory
	// ReadScopedBlockBufferProvider lends the memory of the data blocks that
	// iterators and MultiScan read, which then bypass the block cache; nil
	// (default) does not. It has to live as long as they and what they pin. Point
	// lookups take no notice of it, nor reads of mapped files.
	ReadScopedBlockBufferProvider ReadScopedBlockBufferProvider
	// IOActivity is set by the engine.
	IOActivity IOActivity
	// RequestID is handed to the file system.
	RequestID string

	// PerfContext, when not nil, counts what the call does. It must not be
	// shared between goroutines.
	PerfContext *PerfContext
	// IOStatsContext, when not nil, counts its I/O.
	IOStatsContext *IOStatsContext
}

// DefaultReadOptions gives the defaults.
func DefaultReadOptions() ReadOptions {
	return ReadOptions{
		RateLimiterPriority: IOTotal, ValueSizeSoftLimit: math.MaxUint64,
		VerifyChecksums: true, FillCache: true, OptimizeMultigetForIO: true,
		AutoReadaheadSize: true, IOActivity: IOActivityUnknown,
	}
}

// GetMergeOperandsOptions are the options of GetMergeOperands.
// Upstream: include/rocksdb/db.h.
type GetMergeOperandsOptions struct {
	// ExpectedMaxNumberOfOperands is the most to give; a key with more is an
	// Incomplete.
	ExpectedMaxNumberOfOperands int
	// ContinueCB, when not nil, is called with each operand, newest first, but
	// not with a base value; false ends the lookup with that operand. It must
	// not keep the slice.
	ContinueCB func(operand []byte) bool
}

// WriteOptions are the options of a write. A nil *WriteOptions means
// DefaultWriteOptions.
type WriteOptions struct {
	// Sync makes the write survive a crash of the machine. Default false.
	Sync bool
	// DisableWAL skips the log. Default false.
	DisableWAL bool
	// IgnoreMissingColumnFamilies skips entries of dropped ones. Default false.
	IgnoreMissingColumnFamilies bool
	// NoSlowdown fails with Incomplete rather than wait. Default false.
	NoSlowdown bool
	// LowPri gives way when compactions are behind. Default false.
	LowPri bool
	// MemtableInsertHintPerBatch keeps insert positions for the batch. Default
	// false.
	MemtableInsertHintPerBatch bool
	// RateLimiterPriority charges log writes: IOUser or IOTotal (default, not
	// charged), for which IOLow, the zero value, stands too.
	RateLimiterPriority IOPriority
	// ProtectionBytesPerKey: 0 (default) or 8.
	ProtectionBytesPerKey uint64
	// IOActivity is set by the engine.
	IOActivity IOActivity

	// PerfContext, when not nil, counts what the call does. It must not be
	// shared between goroutines.
	PerfContext *PerfContext
	// IOStatsContext, when not nil, counts its I/O.
	IOStatsContext *IOStatsContext
}

// DefaultWriteOptions gives the defaults.
func DefaultWriteOptions() WriteOptions {
	return WriteOptions{RateLimiterPriority: IOTotal, IOActivity: IOActivityUnknown}
}

// FlushOptions are the options of Flush.
type FlushOptions struct {
	// Wait for the flush. Default true.
	Wait bool
	// AllowWriteStall flushes even when writes then stall. Default false.
	AllowWriteStall bool
	// ForceAtomicFlush flushes all column families as one. Default false.
	ForceAtomicFlush bool
	// ListenerWait waits for OnFlushCompleted as well. Default false.
	ListenerWait bool
}

// DefaultFlushOptions gives the defaults.
func DefaultFlushOptions() FlushOptions { return FlushOptions{Wait: true} }

// FlushWALOptions are the options of FlushWAL.
type FlushWALOptions struct {
	// Sync the log as well. Default false.
	Sync bool
	// RateLimiterPriority. Default IOTotal.
	RateLimiterPriority IOPriority
}

// DefaultFlushWALOptions gives the defaults.
func DefaultFlushWALOptions() FlushWALOptions { return FlushWALOptions{RateLimiterPriority: IOTotal} }

// CompactionOptions are the options of CompactFiles.
type CompactionOptions struct {
	// Compression of the output; DisableCompressionOption (default) is as the
	// column family says.
	Compression CompressionType
	// OutputFileSizeLimit in bytes. Default no limit.
	OutputFileSizeLimit uint64
	// MaxSubcompactions; 0 (default) is as the database says.
	MaxSubcompactions uint32
	// Canceled, when not nil and true as the compaction begins, refuses it; one
	// that runs goes on.
	Canceled *atomic.Bool
	// OutputTemperatureOverride. Default unknown: as the column family says.
	OutputTemperatureOverride Temperature
	// AllowTrivialMove. Default false.
	AllowTrivialMove bool
}

// DefaultCompactionOptions gives the defaults.
func DefaultCompactionOptions() CompactionOptions {
	return CompactionOptions{Compression: DisableCompressionOption, OutputFileSizeLimit: math.MaxUint64}
}

// BottommostLevelCompaction says whether a manual compaction rewrites the last
// level.
type BottommostLevelCompaction uint8

// The choices.
const (
	BottommostLevelCompactionSkip BottommostLevelCompaction = iota
	BottommostLevelCompactionIfHaveCompactionFilter
	BottommostLevelCompactionForce
	// BottommostLevelCompactionForceOptimized leaves out files it just made.
	BottommostLevelCompactionForceOptimized
)

// BlobGarbageCollectionPolicy overrides blob garbage collection for one manual
// compaction.
type BlobGarbageCollectionPolicy uint8

// The choices.
const (
	BlobGarbageCollectionPolicyForce BlobGarbageCollectionPolicy = iota
	BlobGarbageCollectionPolicyDisable
	BlobGarbageCollectionPolicyUseDefault
)

// CompactRangeOptions are the options of CompactRange.
type CompactRangeOptions struct {
	// ExclusiveManualCompaction runs alone. Default false.
	ExclusiveManualCompaction bool
	// ChangeLevel moves the result to TargetLevel or as low as it can. Default
	// false.
	ChangeLevel bool
	// TargetLevel with ChangeLevel; -1 (default) is the least possible.
	TargetLevel int
	// TargetPathID among DBPaths. Default 0.
	TargetPathID uint32
	// BottommostLevelCompaction. Default IfHaveCompactionFilter.
	BottommostLevelCompaction BottommostLevelCompaction
	// AllowWriteStall starts even when writes then stall. Default false.
	AllowWriteStall bool
	// MaxSubcompactions; 0 (default) is as the database says.
	MaxSubcompactions uint32
	// FullHistoryTSLow, when not nil, lets older versions go.
	FullHistoryTSLow []byte
	// Canceled, when not nil and true, ends the compaction with Incomplete and
	// SubCodeManualCompactionPaused. DisableManualCompaction sets it too.
	Canceled *atomic.Bool
	// BlobGarbageCollectionPolicy. Default UseDefault.
	BlobGarbageCollectionPolicy BlobGarbageCollectionPolicy
	// BlobGarbageCollectionAgeCutoff from 0 to 1 overrides the column family's;
	// -1 (default) does not.
	BlobGarbageCollectionAgeCutoff float64
}

// DefaultCompactRangeOptions gives the defaults.
func DefaultCompactRangeOptions() CompactRangeOptions {
	return CompactRangeOptions{
		TargetLevel:                    -1,
		BottommostLevelCompaction:      BottommostLevelCompactionIfHaveCompactionFilter,
		BlobGarbageCollectionPolicy:    BlobGarbageCollectionPolicyUseDefault,
		BlobGarbageCollectionAgeCutoff: -1,
	}
}

// IngestExternalFileOptions are the options of IngestExternalFile.
type IngestExternalFileOptions struct {
	// MoveFiles links instead of copying and removes the originals. Default
	// false.
	MoveFiles bool
	// LinkFiles links and keeps the originals. Default false.
	LinkFiles bool
	// FailedMoveFallBackToCopy. Default true.
	FailedMoveFallBackToCopy bool
	// SnapshotConsistency hides the data from older snapshots. Default true.
	SnapshotConsistency bool
	// AllowGlobalSeqno gives the file's entries a sequence number. Default true.
	AllowGlobalSeqno bool
	// AllowBlockingFlush flushes overlapping memtables. Default true.
	AllowBlockingFlush bool
	// IngestBehind puts the file under all data. Default false.
	IngestBehind bool
	// WriteGlobalSeqno writes the number into the file, for versions before
	// 5.16. Default false.
	WriteGlobalSeqno bool
	// VerifyChecksumsBeforeIngest reads all blocks. Default false.
	VerifyChecksumsBeforeIngest bool
	// VerifyChecksumsReadaheadSize in bytes. Default 0.
	VerifyChecksumsReadaheadSize uint64
	// VerifyFileChecksum compares whole-file checksums. Default true.
	VerifyFileChecksum bool
	// FailIfNotBottommostLevel. Default false.
	FailIfNotBottommostLevel bool
	// AllowDBGeneratedFiles takes files of another database. Default false.
	AllowDBGeneratedFiles bool
	// FillCache with blocks read meanwhile. Default true.
	FillCache bool
	// PrefetchLmaxIndexAndFilterBlocks when opening the files. Default true.
	PrefetchLmaxIndexAndFilterBlocks bool
	// FileOpeningThreads. Default 1.
	FileOpeningThreads int
	// PerfContext, when not nil, counts the time of the ingestion.
	PerfContext *PerfContext
}

// DefaultIngestExternalFileOptions gives the defaults.
func DefaultIngestExternalFileOptions() IngestExternalFileOptions {
	return IngestExternalFileOptions{
		FailedMoveFallBackToCopy: true, SnapshotConsistency: true, AllowGlobalSeqno: true,
		AllowBlockingFlush: true, VerifyFileChecksum: true, FillCache: true,
		PrefetchLmaxIndexAndFilterBlocks: true, FileOpeningThreads: 1,
	}
}

// PreparedFileInfo is what a table writer knows of a file it made, so that
// ingesting need not open it. It may be shared and must not be changed.
type PreparedFileInfo struct {
	FileSize uint64 // bytes
	// Smallest and Largest are encoded internal keys that bound the file, range
	// deletions included.
	Smallest        []byte
	Largest         []byte
	TableProperties TableProperties
}

// IngestExternalFileArg is what goes into one column family.
type IngestExternalFileArg struct {
	ColumnFamily           ColumnFamilyHandle
	ExternalFiles          []string
	Options                IngestExternalFileOptions
	FilesChecksums         []string
	FilesChecksumFuncNames []string
	// FileTemperature to read the files with.
	FileTemperature Temperature
	// AtomicReplaceRange, when not nil, is emptied first.
	AtomicReplaceRange *RangeOpt
	FileInfos          []*PreparedFileInfo
}

// TraceFilterType is a set of operations left out of a trace.
type TraceFilterType uint64

// The operations.
const (
	TraceFilterNone                TraceFilterType = 0
	TraceFilterGet                 TraceFilterType = 1 << 0
	TraceFilterWrite               TraceFilterType = 1 << 1
	TraceFilterIteratorSeek        TraceFilterType = 1 << 2
	TraceFilterIteratorSeekForPrev TraceFilterType = 1 << 3
	TraceFilterMultiGet            TraceFilterType = 1 << 4
)

// TraceOptions are the options of StartTrace.
type TraceOptions struct {
	// MaxTraceFileSize in bytes. Default 64 GiB.
	MaxTraceFileSize uint64
	// SamplingFrequency keeps one operation in that many. Default 1.
	SamplingFrequency uint64
	// Filter leaves operations out. Default TraceFilterNone.
	Filter TraceFilterType
	// PreserveWriteOrder traces writes as they are ordered. Default false.
	PreserveWriteOrder bool
}

// DefaultTraceOptions gives the defaults.
func DefaultTraceOptions() TraceOptions {
	return TraceOptions{MaxTraceFileSize: 64 << 30, SamplingFrequency: 1}
}

// ImportColumnFamilyOptions are the options of
// CreateColumnFamilyWithImport.
type ImportColumnFamilyOptions struct {
	// MoveFiles instead of copying. Default false.
	MoveFiles bool
}

// SizeApproximationOptions are the options of GetApproximateSizes.
type SizeApproximationOptions struct {
	// IncludeMemtables. Default false.
	IncludeMemtables bool
	// IncludeFiles. Default true.
	IncludeFiles bool
	// IncludeBlobFiles. Default false.
	IncludeBlobFiles bool
	// FilesSizeErrorMargin is an accepted error as a share; negative (default
	// -1) is exact to the block.
	FilesSizeErrorMargin float64
}

// DefaultSizeApproximationOptions gives the defaults.
func DefaultSizeApproximationOptions() SizeApproximationOptions {
	return SizeApproximationOptions{IncludeFiles: true, FilesSizeErrorMargin: -1}
}

// CompactionServiceJobStatus is a remote compaction's outcome.
type CompactionServiceJobStatus uint8

// The outcomes.
const (
	CompactionServiceJobSuccess CompactionServiceJobStatus = iota
	CompactionServiceJobFailure
	CompactionServiceJobAborted
	CompactionServiceJobUseLocal
)

// CompactionServiceJobInfo describes a remote compaction.
type CompactionServiceJobInfo struct {
	DBName             string
	DBID               string
	DBSessionID        string
	CFID               uint32
	CFName             string
	JobID              uint64
	Priority           Priority
	CompactionReason   CompactionReason
	IsFullCompaction   bool
	IsManualCompaction bool
	BottommostLevel    bool
	BaseInputLevel     int
	OutputLevel        int
}

// CompactionServiceScheduleResponse answers Schedule.
type CompactionServiceScheduleResponse struct {
	ScheduledJobID string
	Status         CompactionServiceJobStatus
}

// CompactionService runs compactions in other processes.
type CompactionService interface {
	Name() string
	// Schedule starts a job from its encoded input.
	Schedule(info *CompactionServiceJobInfo, input []byte) CompactionServiceScheduleResponse
	// Wait waits for it and gives its encoded result.
	Wait(scheduledJobID string) (CompactionServiceJobStatus, []byte)
	CancelAwaitingJobs()
	// OnInstallation tells what became of the result.
	OnInstallation(scheduledJobID string, status CompactionServiceJobStatus)
}

// CompactionServiceOptionsOverride are the plug-ins a remote worker uses.
type CompactionServiceOptionsOverride struct {
	Env                               Env
	FileChecksumGenFactory            FileChecksumGenFactory
	Comparator                        Comparator
	MergeOperator                     MergeOperator
	CompactionFilter                  CompactionFilter
	CompactionFilterFactory           CompactionFilterFactory
	PrefixExtractor                   SliceTransform
	TableFactory                      TableFactory
	SstPartitionerFactory             SstPartitionerFactory
	Listeners                         []EventListener
	Statistics                        Statistics
	InfoLog                           Logger
	TablePropertiesCollectorFactories []TablePropertiesCollectorFactory
	// OptionsMap overrides options by name.
	OptionsMap map[string]string
}

// OpenAndCompactOptions are the options of OpenAndCompact.
type OpenAndCompactOptions struct {
	// Canceled, when not nil and true, ends the compaction.
	Canceled *atomic.Bool
	// AllowResumption goes on with an interrupted job. Default false.
	AllowResumption bool
}

// LiveFilesStorageInfoOptions are the options of GetLiveFilesStorageInfo.
type LiveFilesStorageInfoOptions struct {
	// IncludeChecksumInfo. Default false.
	IncludeChecksumInfo bool
	// WALSizeForFlush flushes first when the logs have that many bytes; 0
	// (default) always, MaxUint64 never.
	WALSizeForFlush uint64
	// AtomicFlush flushes all column families as one. Default false.
	AtomicFlush bool
}

// WaitForCompactOptions are the options of WaitForCompact.
type WaitForCompactOptions struct {
	// AbortOnPause returns Aborted when background work is paused. Default
	// false.
	AbortOnPause bool
	// Flush first. Default false.
	Flush bool
	// WaitForPurge waits for obsolete files to be deleted. Default false.
	WaitForPurge bool
	// CloseDB afterwards. Default false.
	CloseDB bool
	// Timeout; 0 (default) is none.
	Timeout time.Duration
}

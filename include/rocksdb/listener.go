// Port of include/rocksdb/listener.h. Differs: a database is a DBRef; statuses
// are errors, nil for success.

package rocksdb

import "time"

// DBRef is a database as listeners see it; assert it to dbiface.DB for more.
type DBRef interface {
	GetName() string
}

// FileCreationBriefInfo names a file that is being made.
type FileCreationBriefInfo struct {
	DBName   string
	CFName   string
	FilePath string
	JobID    int
}

// TableFileCreationBriefInfo names a table file that is being made.
type TableFileCreationBriefInfo struct {
	FileCreationBriefInfo
	Reason TableFileCreationReason
}

// TableFileCreationInfo describes a table file that was made, or failed.
type TableFileCreationInfo struct {
	TableFileCreationBriefInfo
	FileSize             uint64 // bytes
	TableProperties      TableProperties
	Status               error
	FileChecksum         string
	FileChecksumFuncName string
}

// BlobFileCreationBriefInfo names a blob file that is being made.
type BlobFileCreationBriefInfo struct {
	FileCreationBriefInfo
	Reason BlobFileCreationReason
}

// BlobFileCreationInfo describes a blob file that was made, or failed.
type BlobFileCreationInfo struct {
	BlobFileCreationBriefInfo
	TotalBlobCount       uint64
	TotalBlobBytes       uint64
	Status               error
	FileChecksum         string
	FileChecksumFuncName string
}

// CompactionReason says why a compaction runs.
type CompactionReason int32

// The reasons.
const (
	CompactionReasonUnknown CompactionReason = iota
	CompactionReasonLevelL0FilesNum
	CompactionReasonLevelMaxLevelSize
	CompactionReasonUniversalSizeAmplification
	CompactionReasonUniversalSizeRatio
	CompactionReasonUniversalSortedRunNum
	CompactionReasonFIFOMaxSize
	CompactionReasonFIFOReduceNumFiles
	CompactionReasonFIFOTtl
	CompactionReasonManualCompaction
	CompactionReasonFilesMarkedForCompaction
	CompactionReasonBottommostFiles
	CompactionReasonTtl
	CompactionReasonFlush
	CompactionReasonExternalSstIngestion
	CompactionReasonPeriodicCompaction
	CompactionReasonChangeTemperature
	CompactionReasonForcedBlobGC
	CompactionReasonRoundRobinTtl
	CompactionReasonRefitLevel
	CompactionReasonReadTriggered
	NumCompactionReasons
)

var compactionReasonNames = [NumCompactionReasons]string{
	"Unknown", "LevelL0FilesNum", "LevelMaxLevelSize", "UniversalSizeAmplification",
	"UniversalSizeRatio", "UniversalSortedRunNum", "FIFOMaxSize", "FIFOReduceNumFiles",
	"FIFOTtl", "ManualCompaction", "FilesMarkedForCompaction", "BottommostFiles", "Ttl",
	"Flush", "ExternalSstIngestion", "PeriodicCompaction", "ChangeTemperature",
	"ForcedBlobGC", "RoundRobinTtl", "RefitLevel", "ReadTriggered",
}

// String is the name in LOG and events.
func (r CompactionReason) String() string {
	if r >= 0 && r < NumCompactionReasons {
		return compactionReasonNames[r]
	}
	return "Invalid"
}

// FlushReason says why a flush runs.
type FlushReason int32

// The reasons.
const (
	FlushReasonOthers FlushReason = iota
	FlushReasonGetLiveFiles
	FlushReasonShutDown
	FlushReasonExternalFileIngestion
	FlushReasonManualCompaction
	FlushReasonWriteBufferManager
	FlushReasonWriteBufferFull
	FlushReasonTest
	FlushReasonDeleteFiles
	FlushReasonAutoCompaction
	FlushReasonManualFlush
	FlushReasonErrorRecovery
	FlushReasonErrorRecoveryRetryFlush
	FlushReasonWalFull
	FlushReasonCatchUpAfterErrorRecovery
	FlushReasonMemtableMaxRangeDeletions
	numFlushReasons
)

var flushReasonNames = [numFlushReasons]string{
	"Other Reasons", "Get Live Files", "Shut down", "External File Ingestion",
	"Manual Compaction", "Write Buffer Manager", "Write Buffer Full", "Test",
	"Delete Files", "Auto Compaction", "Manual Flush", "Error Recovery",
	"Error Recovery Retry Flush", "WAL Full", "Catch Up After Error Recovery",
	"Memtable Max Range Deletions",
}

// String is the name in LOG and events.
func (r FlushReason) String() string {
	if r >= 0 && r < numFlushReasons {
		return flushReasonNames[r]
	}
	return "Invalid"
}

// BackgroundErrorReason says what failed in the background.
type BackgroundErrorReason uint8

// The reasons.
const (
	BackgroundErrorReasonFlush BackgroundErrorReason = iota
	BackgroundErrorReasonCompaction
	BackgroundErrorReasonWriteCallback
	BackgroundErrorReasonMemTable
	BackgroundErrorReasonManifestWrite
	BackgroundErrorReasonFlushNoWAL
	BackgroundErrorReasonManifestWriteNoWAL
	BackgroundErrorReasonAsyncFileOpen
)

// WriteStallInfo tells of a change of a column family's stall condition.
type WriteStallInfo struct {
	CFName string
	Cur    WriteStallCondition
	Prev   WriteStallCondition
}

// FileDeletionInfo tells of a deleted file.
type FileDeletionInfo struct {
	DBName   string
	FilePath string
	JobID    int
	Status   error
}

// TableFileDeletionInfo tells of a deleted table file.
type TableFileDeletionInfo struct{ FileDeletionInfo }

// BlobFileDeletionInfo tells of a deleted blob file.
type BlobFileDeletionInfo struct{ FileDeletionInfo }

// FileOperationType is a kind of file operation.
type FileOperationType uint8

// The kinds.
const (
	FileOperationTypeRead FileOperationType = iota
	FileOperationTypeWrite
	FileOperationTypeTruncate
	FileOperationTypeClose
	FileOperationTypeFlush
	FileOperationTypeSync
	FileOperationTypeFsync
	FileOperationTypeRangeSync
	FileOperationTypeAppend
	FileOperationTypePositionedAppend
	FileOperationTypeOpen
	FileOperationTypeVerify
)

// FileOperationInfo tells of a finished file operation.
type FileOperationInfo struct {
	Type        FileOperationType
	Path        string
	Temperature Temperature
	Offset      uint64
	Length      int
	Duration    time.Duration
	StartTS     time.Time
	Status      error
}

// BlobFileInfo names a blob file.
type BlobFileInfo struct {
	BlobFilePath   string
	BlobFileNumber uint64
}

// BlobFileAdditionInfo tells of a new blob file.
type BlobFileAdditionInfo struct {
	BlobFileInfo
	TotalBlobCount uint64
	TotalBlobBytes uint64
}

// BlobFileGarbageInfo tells of new garbage in a blob file.
type BlobFileGarbageInfo struct {
	BlobFileInfo
	GarbageBlobCount uint64
	GarbageBlobBytes uint64
}

// ManualFlushInfo tells of a flush somebody asked for.
type ManualFlushInfo struct {
	CFID        uint32
	CFName      string
	FlushReason FlushReason
}

// FlushJobInfo describes a flush.
type FlushJobInfo struct {
	CFID                    uint32
	CFName                  string
	FilePath                string
	FileNumber              uint64
	OldestBlobFileNumber    uint64
	ThreadID                uint64
	JobID                   int
	TriggeredWritesSlowdown bool
	TriggeredWritesStop     bool
	SmallestSeqno           SequenceNumber
	LargestSeqno            SequenceNumber
	TableProperties         TableProperties
	FlushReason             FlushReason
	BlobCompressionType     CompressionType
	BlobFileAdditionInfos   []BlobFileAdditionInfo
}

// CompactionFileInfo names a file of a compaction.
type CompactionFileInfo struct {
	Level                int
	FileNumber           uint64
	OldestBlobFileNumber uint64
}

// SubcompactionJobInfo describes a part of a compaction.
type SubcompactionJobInfo struct {
	CFID                uint32
	CFName              string
	Status              error
	ThreadID            uint64
	JobID               int
	SubcompactionJobID  int
	BaseInputLevel      int
	OutputLevel         int
	CompactionReason    CompactionReason
	Compression         CompressionType
	Stats               CompactionJobStats
	BlobCompressionType CompressionType
}

// CompactionJobInfo describes a compaction.
type CompactionJobInfo struct {
	CFID                  uint32
	CFName                string
	Status                error
	ThreadID              uint64
	JobID                 int
	NumL0Files            int
	BaseInputLevel        int
	OutputLevel           int
	InputFiles            []string
	InputFileInfos        []CompactionFileInfo
	OutputFiles           []string
	OutputFileInfos       []CompactionFileInfo
	TableProperties       TablePropertiesCollection
	CompactionReason      CompactionReason
	Compression           CompressionType
	Stats                 CompactionJobStats
	BlobCompressionType   CompressionType
	BlobFileAdditionInfos []BlobFileAdditionInfo
	BlobFileGarbageInfos  []BlobFileGarbageInfo
	Aborted               bool
}

// MemTableInfo describes a memtable that was sealed.
type MemTableInfo struct {
	CFName        string
	FirstSeqno    SequenceNumber
	EarliestSeqno SequenceNumber
	NumEntries    uint64
	NumDeletes    uint64
	NewestUDT     []byte
}

// ExternalFileIngestionInfo tells of an ingested file.
type ExternalFileIngestionInfo struct {
	CFName           string
	ExternalFilePath string
	InternalFilePath string
	GlobalSeqno      SequenceNumber
	TableProperties  TableProperties
}

// BackgroundErrorRecoveryInfo tells of an end of recovery.
type BackgroundErrorRecoveryInfo struct {
	OldBGError error
	NewBGError error
}

// IOErrorInfo tells of a failed file operation.
type IOErrorInfo struct {
	IOStatus  error
	Operation FileOperationType
	FilePath  string
	Length    int
	Offset    uint64
}

// BackgroundJobPressure says how much background work waits and runs.
type BackgroundJobPressure struct {
	CompactionScheduled       int
	CompactionRunning         int
	CompactionLowScheduled    int
	CompactionLowRunning      int
	CompactionBottomScheduled int
	CompactionBottomRunning   int
	FlushScheduled            int
	FlushRunning              int
	WriteStallProximityPct    int
	CompactionSpeedupActive   bool
}

// EventListener is told of events, by the goroutine that causes them and with
// no lock of the database held unless said otherwise; a slow listener slows
// that work down. Infos are valid during the call. Embed EventListenerBase.
type EventListener interface {
	Name() string
	OnFlushBegin(db DBRef, info *FlushJobInfo)
	OnFlushCompleted(db DBRef, info *FlushJobInfo)
	OnManualFlushScheduled(db DBRef, info []ManualFlushInfo)
	OnTableFileDeleted(info *TableFileDeletionInfo)
	OnCompactionBegin(db DBRef, info *CompactionJobInfo)
	// OnCompactionPreCommit runs before the result is installed.
	OnCompactionPreCommit(db DBRef, info *CompactionJobInfo)
	OnCompactionCompleted(db DBRef, info *CompactionJobInfo)
	OnSubcompactionBegin(info *SubcompactionJobInfo)
	OnSubcompactionCompleted(info *SubcompactionJobInfo)
	OnTableFileCreated(info *TableFileCreationInfo)
	OnTableFileCreationStarted(info *TableFileCreationBriefInfo)
	OnMemTableSealed(info *MemTableInfo)
	OnColumnFamilyHandleDeletionStarted(handle ColumnFamilyHandle)
	OnExternalFileIngested(db DBRef, info *ExternalFileIngestionInfo)
	// OnBackgroundError may set *bgError to nil to go on as if nothing had
	// happened, or to another error.
	OnBackgroundError(reason BackgroundErrorReason, bgError *error)
	// OnStallConditionsChanged is called with the database's lock held.
	OnStallConditionsChanged(info *WriteStallInfo)
	OnFileReadFinish(info *FileOperationInfo)
	OnFileWriteFinish(info *FileOperationInfo)
	OnFileFlushFinish(info *FileOperationInfo)
	OnFileSyncFinish(info *FileOperationInfo)
	OnFileRangeSyncFinish(info *FileOperationInfo)
	OnFileTruncateFinish(info *FileOperationInfo)
	OnFileCloseFinish(info *FileOperationInfo)
	// ShouldBeNotifiedOnFileIO turns the OnFile… calls on.
	ShouldBeNotifiedOnFileIO() bool
	// OnErrorRecoveryBegin may set *autoRecovery to false.
	OnErrorRecoveryBegin(reason BackgroundErrorReason, bgError error, autoRecovery *bool)
	OnErrorRecoveryCompleted(oldBGError error)
	OnErrorRecoveryEnd(info *BackgroundErrorRecoveryInfo)
	OnBlobFileCreationStarted(info *BlobFileCreationBriefInfo)
	OnBlobFileCreated(info *BlobFileCreationInfo)
	OnBlobFileDeleted(info *BlobFileDeletionInfo)
	OnIOError(info *IOErrorInfo)
	OnBackgroundJobPressureChanged(db DBRef, info *BackgroundJobPressure)
	OnDBShutdownBegin(db DBRef)
}

// EventListenerBase does nothing on any event. Embed it.
type EventListenerBase struct{}

var _ EventListener = EventListenerBase{}

// Name is empty.
func (EventListenerBase) Name() string { return "" }

// OnFlushBegin does nothing.
func (EventListenerBase) OnFlushBegin(DBRef, *FlushJobInfo) {}

// OnFlushCompleted does nothing.
func (EventListenerBase) OnFlushCompleted(DBRef, *FlushJobInfo) {}

// OnManualFlushScheduled does nothing.
func (EventListenerBase) OnManualFlushScheduled(DBRef, []ManualFlushInfo) {}

// OnTableFileDeleted does nothing.
func (EventListenerBase) OnTableFileDeleted(*TableFileDeletionInfo) {}

// OnCompactionBegin does nothing.
func (EventListenerBase) OnCompactionBegin(DBRef, *CompactionJobInfo) {}

// OnCompactionPreCommit does nothing.
func (EventListenerBase) OnCompactionPreCommit(DBRef, *CompactionJobInfo) {}

// OnCompactionCompleted does nothing.
func (EventListenerBase) OnCompactionCompleted(DBRef, *CompactionJobInfo) {}

// OnSubcompactionBegin does nothing.
func (EventListenerBase) OnSubcompactionBegin(*SubcompactionJobInfo) {}

// OnSubcompactionCompleted does nothing.
func (EventListenerBase) OnSubcompactionCompleted(*SubcompactionJobInfo) {}

// OnTableFileCreated does nothing.
func (EventListenerBase) OnTableFileCreated(*TableFileCreationInfo) {}

// OnTableFileCreationStarted does nothing.
func (EventListenerBase) OnTableFileCreationStarted(*TableFileCreationBriefInfo) {}

// OnMemTableSealed does nothing.
func (EventListenerBase) OnMemTableSealed(*MemTableInfo) {}

// OnColumnFamilyHandleDeletionStarted does nothing.
func (EventListenerBase) OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle) {}

// OnExternalFileIngested does nothing.
func (EventListenerBase) OnExternalFileIngested(DBRef, *ExternalFileIngestionInfo) {}

// OnBackgroundError does nothing.
func (EventListenerBase) OnBackgroundError(BackgroundErrorReason, *error) {}

// OnStallConditionsChanged does nothing.
func (EventListenerBase) OnStallConditionsChanged(*WriteStallInfo) {}

// OnFileReadFinish does nothing.
func (EventListenerBase) OnFileReadFinish(*FileOperationInfo) {}

// OnFileWriteFinish does nothing.
func (EventListenerBase) OnFileWriteFinish(*FileOperationInfo) {}

// OnFileFlushFinish does nothing.
func (EventListenerBase) OnFileFlushFinish(*FileOperationInfo) {}

// OnFileSyncFinish does nothing.
func (EventListenerBase) OnFileSyncFinish(*FileOperationInfo) {}

// OnFileRangeSyncFinish does nothing.
func (EventListenerBase) OnFileRangeSyncFinish(*FileOperationInfo) {}

// OnFileTruncateFinish does nothing.
func (EventListenerBase) OnFileTruncateFinish(*FileOperationInfo) {}

// OnFileCloseFinish does nothing.
func (EventListenerBase) OnFileCloseFinish(*FileOperationInfo) {}

// ShouldBeNotifiedOnFileIO is false.
func (EventListenerBase) ShouldBeNotifiedOnFileIO() bool { return false }

// OnErrorRecoveryBegin does nothing.
func (EventListenerBase) OnErrorRecoveryBegin(BackgroundErrorReason, error, *bool) {}

// OnErrorRecoveryCompleted does nothing.
func (EventListenerBase) OnErrorRecoveryCompleted(error) {}

// OnErrorRecoveryEnd does nothing.
func (EventListenerBase) OnErrorRecoveryEnd(*BackgroundErrorRecoveryInfo) {}

// OnBlobFileCreationStarted does nothing.
func (EventListenerBase) OnBlobFileCreationStarted(*BlobFileCreationBriefInfo) {}

// OnBlobFileCreated does nothing.
func (EventListenerBase) OnBlobFileCreated(*BlobFileCreationInfo) {}

// OnBlobFileDeleted does nothing.
func (EventListenerBase) OnBlobFileDeleted(*BlobFileDeletionInfo) {}

// OnIOError does nothing.
func (EventListenerBase) OnIOError(*IOErrorInfo) {}

// OnBackgroundJobPressureChanged does nothing.
func (EventListenerBase) OnBackgroundJobPressureChanged(DBRef, *BackgroundJobPressure) {}

// OnDBShutdownBegin does nothing.
func (EventListenerBase) OnDBShutdownBegin(DBRef) {}

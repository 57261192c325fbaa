// Port of include/rocksdb/thread_status.h. Differs: a "thread" is whatever
// registered itself (a pool's worker, a user's operation); the functions that
// turn values into names are in package monitoring, where upstream has them.

package rocksdb

// ThreadType is the kind of a thread.
type ThreadType int

// The kinds.
const (
	ThreadTypeHighPriority ThreadType = iota // worker of the HighPriority pool
	ThreadTypeLowPriority
	ThreadTypeUser // not a worker
	ThreadTypeBottomPriority
	NumThreadTypes
)

// OperationType is what a thread is doing as a whole.
type OperationType int

// The operations.
const (
	OpUnknown OperationType = iota
	OpCompaction
	OpFlush
	OpDBOpen
	OpGet
	OpMultiGet
	OpDBIterator
	OpVerifyDBChecksum
	OpVerifyFileChecksums
	OpGetEntity
	OpMultiGetEntity
	OpGetFileChecksumsFromCurrentManifest
	NumOpTypes
)

// OperationStage is the step of its operation a thread is at.
type OperationStage int

// The stages.
const (
	StageUnknown OperationStage = iota
	StageFlushRun
	StageFlushWriteL0
	StageCompactionPrepare
	StageCompactionRun
	StageCompactionProcessKV
	StageCompactionInstall
	StageCompactionSyncFile
	StagePickMemtablesToFlush
	StageMemtableRollback
	StageMemtableInstallFlushResults
	NumOpStages
)

// The properties of a compaction: indexes of ThreadStatus.OpProperties.
const (
	CompactionJobID            = iota
	CompactionInputOutputLevel // base input level << 32 | output level
	CompactionPropFlags        // 2 manual, 4 deletion, 8 trivial move
	CompactionTotalInputBytes
	CompactionBytesRead
	CompactionBytesWritten
	NumCompactionProperties
)

// The properties of a flush: indexes of ThreadStatus.OpProperties.
const (
	FlushJobID = iota
	FlushBytesMemtables
	FlushBytesWritten
	NumFlushProperties
)

// NumOperationProperties is the most properties an operation has.
const NumOperationProperties = max(NumCompactionProperties, NumFlushProperties)

// StateType is what a thread is doing at this moment.
type StateType int

// The states.
const (
	StateUnknown StateType = iota
	StateMutexWait
	NumStateTypes
)

// ThreadStatus is what one thread is doing.
type ThreadStatus struct {
	ThreadID   uint64
	ThreadType ThreadType
	// DBName and CFName are empty when the thread works on no database or
	// column family.
	DBName          string
	CFName          string
	OperationType   OperationType
	OpElapsedMicros uint64
	OperationStage  OperationStage
	// OpProperties are numbers about the operation; their meaning depends on
	// its type.
	OpProperties [NumOperationProperties]uint64
	StateType    StateType
}

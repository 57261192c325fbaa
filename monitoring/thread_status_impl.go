// Port of monitoring/thread_status_impl.cc and util/thread_operation.h. Differs:
// plain functions instead of static members of ThreadStatus.

package monitoring

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

var operationNames = [rocksdb.NumOpTypes]string{
	rocksdb.OpCompaction:                          "Compaction",
	rocksdb.OpFlush:                               "Flush",
	rocksdb.OpDBOpen:                              "DBOpen",
	rocksdb.OpGet:                                 "Get",
	rocksdb.OpMultiGet:                            "MultiGet",
	rocksdb.OpDBIterator:                          "DBIterator",
	rocksdb.OpVerifyDBChecksum:                    "VerifyDBChecksum",
	rocksdb.OpVerifyFileChecksums:                 "VerifyFileChecksums",
	rocksdb.OpGetEntity:                           "GetEntity",
	rocksdb.OpMultiGetEntity:                      "MultiGetEntity",
	rocksdb.OpGetFileChecksumsFromCurrentManifest: "GetFileChecksumsFromCurrentManifest",
}

var operationStageNames = [rocksdb.NumOpStages]string{
	rocksdb.StageFlushRun:                    "FlushJob::Run",
	rocksdb.StageFlushWriteL0:                "FlushJob::WriteLevel0Table",
	rocksdb.StageCompactionPrepare:           "CompactionJob::Prepare",
	rocksdb.StageCompactionRun:               "CompactionJob::Run",
	rocksdb.StageCompactionProcessKV:         "CompactionJob::ProcessKeyValueCompaction",
	rocksdb.StageCompactionInstall:           "CompactionJob::Install",
	rocksdb.StageCompactionSyncFile:          "CompactionJob::FinishCompactionOutputFile",
	rocksdb.StagePickMemtablesToFlush:        "MemTableList::PickMemtablesToFlush",
	rocksdb.StageMemtableRollback:            "MemTableList::RollbackMemtableFlush",
	rocksdb.StageMemtableInstallFlushResults: "MemTableList::TryInstallMemtableFlushResults",
}

var stateNames = [rocksdb.NumStateTypes]string{
	rocksdb.StateMutexWait: "Mutex Wait",
}

var compactionPropertyNames = [rocksdb.NumCompactionProperties]string{
	rocksdb.CompactionJobID:            "JobID",
	rocksdb.CompactionInputOutputLevel: "InputOutputLevel",
	rocksdb.CompactionPropFlags:        "Manual/Deletion/Trivial",
	rocksdb.CompactionTotalInputBytes:  "TotalInputBytes",
	rocksdb.CompactionBytesRead:        "BytesRead",
	rocksdb.CompactionBytesWritten:     "BytesWritten",
}

var flushPropertyNames = [rocksdb.NumFlushProperties]string{
	rocksdb.FlushJobID:          "JobID",
	rocksdb.FlushBytesMemtables: "BytesMemtables",
	rocksdb.FlushBytesWritten:   "BytesWritten",
}

// GetThreadTypeName gives the kind of thread as text.
func GetThreadTypeName(t rocksdb.ThreadType) string {
	switch t {
	case rocksdb.ThreadTypeHighPriority:
		return "High Pri"
	case rocksdb.ThreadTypeLowPriority:
		return "Low Pri"
	case rocksdb.ThreadTypeUser:
		return "User"
	case rocksdb.ThreadTypeBottomPriority:
		return "Bottom Pri"
	}
	return "Unknown"
}

// GetOperationName gives the operation as text, empty when unknown.
func GetOperationName(op rocksdb.OperationType) string {
	if op < 0 || op >= rocksdb.NumOpTypes {
		return operationNames[rocksdb.OpUnknown]
	}
	return operationNames[op]
}

// GetOperationStageName gives the stage as text, empty when unknown.
func GetOperationStageName(stage rocksdb.OperationStage) string {
	if stage < 0 || stage >= rocksdb.NumOpStages {
		return operationStageNames[rocksdb.StageUnknown]
	}
	return operationStageNames[stage]
}

// GetStateName gives the state as text, empty when unknown.
func GetStateName(state rocksdb.StateType) string {
	if state < 0 || state >= rocksdb.NumStateTypes {
		return stateNames[rocksdb.StateUnknown]
	}
	return stateNames[state]
}

// GetOperationPropertyName names property i of an operation, "" when it has no
// such property.
func GetOperationPropertyName(op rocksdb.OperationType, i int) string {
	var names []string
	switch op {
	case rocksdb.OpCompaction:
		names = compactionPropertyNames[:]
	case rocksdb.OpFlush:
		names = flushPropertyNames[:]
	}
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}

// InterpretOperationProperties names the properties of an operation, with packed
// ones taken apart.
func InterpretOperationProperties(op rocksdb.OperationType, props *[rocksdb.NumOperationProperties]uint64) map[string]uint64 {
	m := make(map[string]uint64)
	for i, v := range props {
		name := GetOperationPropertyName(op, i)
		switch {
		case name == "":
			return m
		case op == rocksdb.OpCompaction && i == rocksdb.CompactionInputOutputLevel:
			m["BaseInputLevel"] = v >> 32
			m["OutputLevel"] = v & 0xffffffff
		case op == rocksdb.OpCompaction && i == rocksdb.CompactionPropFlags:
			m["IsManual"] = v >> 1 & 1
			m["IsDeletion"] = v >> 2 & 1
			m["IsTrivialMove"] = v >> 3 & 1
		default:
			m[name] = v
		}
	}
	return m
}

// MicrosToString prints a duration for human readers; 0 is "".
func MicrosToString(micros uint64) string {
	const second = 1000000
	seconds := float64(micros%(60*second)) / second
	switch {
	case micros == 0:
		return ""
	case micros < 10000:
		return fmt.Sprintf("%d us", micros)
	case micros < 10*second:
		return fmt.Sprintf("%.3f ms", float64(micros)/1000)
	case micros < 60*second:
		return fmt.Sprintf("%.3f sec", float64(micros)/second)
	case micros < 3600*second:
		return fmt.Sprintf("%02d:%05.3f M:S", micros/second/60, seconds)
	}
	return fmt.Sprintf("%02d:%02d:%05.3f H:M:S", micros/second/3600, micros/second/60%60, seconds)
}

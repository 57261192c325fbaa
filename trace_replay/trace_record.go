// Port of include/rocksdb/trace_record.h, include/rocksdb/trace_record_result.h and
// trace_replay/trace_record{,_result}.cc. Differs: records and results are structs,
// told apart by a type switch in the place of upstream's handlers.

package tracereplay

// TraceRecord is an operation of a trace: a WriteQueryTraceRecord,
// GetQueryTraceRecord, IteratorSeekQueryTraceRecord or MultiGetQueryTraceRecord.
type TraceRecord interface {
	GetTraceType() TraceType
	// GetTimestamp is when the operation began, in microseconds since 1970.
	GetTimestamp() uint64
}

// WriteQueryTraceRecord is a write of a batch.
type WriteQueryTraceRecord struct {
	Timestamp     uint64
	WriteBatchRep []byte
}

// GetTraceType is TraceWrite.
func (*WriteQueryTraceRecord) GetTraceType() TraceType { return TraceWrite }

// GetTimestamp implements TraceRecord.
func (r *WriteQueryTraceRecord) GetTimestamp() uint64 { return r.Timestamp }

// GetQueryTraceRecord is a Get.
type GetQueryTraceRecord struct {
	Timestamp      uint64
	ColumnFamilyID uint32
	Key            []byte
}

// GetTraceType is TraceGet.
func (*GetQueryTraceRecord) GetTraceType() TraceType { return TraceGet }

// GetTimestamp implements TraceRecord.
func (r *GetQueryTraceRecord) GetTimestamp() uint64 { return r.Timestamp }

// IteratorSeekQueryTraceRecord is a Seek or a SeekForPrev of an iterator with those
// bounds, empty for none.
type IteratorSeekQueryTraceRecord struct {
	Timestamp              uint64
	SeekType               TraceType // TraceIteratorSeek or TraceIteratorSeekForPrev
	ColumnFamilyID         uint32
	Key                    []byte
	LowerBound, UpperBound []byte
}

// GetTraceType is the SeekType.
func (r *IteratorSeekQueryTraceRecord) GetTraceType() TraceType { return r.SeekType }

// GetTimestamp implements TraceRecord.
func (r *IteratorSeekQueryTraceRecord) GetTimestamp() uint64 { return r.Timestamp }

// MultiGetQueryTraceRecord is a MultiGet, with a family for each key.
type MultiGetQueryTraceRecord struct {
	Timestamp       uint64
	ColumnFamilyIDs []uint32
	Keys            [][]byte
}

// GetTraceType is TraceMultiGet.
func (*MultiGetQueryTraceRecord) GetTraceType() TraceType { return TraceMultiGet }

// GetTimestamp implements TraceRecord.
func (r *MultiGetQueryTraceRecord) GetTimestamp() uint64 { return r.Timestamp }

// TraceRecordResult is what an operation gave when it was done again: a
// StatusOnlyTraceExecutionResult, SingleValueTraceExecutionResult,
// MultiValuesTraceExecutionResult or IteratorTraceExecutionResult.
type TraceRecordResult interface {
	GetTraceType() TraceType
	// GetLatency is in microseconds.
	GetLatency() uint64
}

// TraceExecutionResult is what all results have.
type TraceExecutionResult struct {
	TraceType                    TraceType
	StartTimestamp, EndTimestamp uint64 // microseconds since 1970
}

// GetTraceType is that of the record.
func (r *TraceExecutionResult) GetTraceType() TraceType { return r.TraceType }

// GetLatency is in microseconds.
func (r *TraceExecutionResult) GetLatency() uint64 { return r.EndTimestamp - r.StartTimestamp }

// StatusOnlyTraceExecutionResult is a write's.
type StatusOnlyTraceExecutionResult struct {
	TraceExecutionResult
	Status error
}

// SingleValueTraceExecutionResult is a Get's.
type SingleValueTraceExecutionResult struct {
	TraceExecutionResult
	Status error // NotFound or nil
	Value  []byte
}

// MultiValuesTraceExecutionResult is a MultiGet's.
type MultiValuesTraceExecutionResult struct {
	TraceExecutionResult
	MultiStatus []error // each NotFound or nil
	Values      [][]byte
}

// IteratorTraceExecutionResult is a seek's.
type IteratorTraceExecutionResult struct {
	TraceExecutionResult
	Valid      bool
	Key, Value []byte // where it is valid
}

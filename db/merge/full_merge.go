// Port of db/merge_helper.{h,cc} (TimedFullMerge) and db/merge_operator.cc
// (the default FullMergeV3).

package merge

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// BaseValueKind says what lies under the operands.
type BaseValueKind uint8

// The kinds: nothing, a plain value, an entity without blobs.
const (
	NoBaseValue BaseValueKind = iota
	PlainBaseValue
	WideBaseValue
)

// FullMerge is one application of a merge operator to all operands of a key.
// It may be used again, which keeps its buffers.
type FullMerge struct {
	Operator    rocksdb.MergeOperator
	Key         []byte
	Base        BaseValueKind
	Value       []byte   // the base value, of either kind
	Operands    [][]byte // oldest first
	Logger      rocksdb.Logger
	Statistics  rocksdb.Statistics
	Clock       rocksdb.SystemClock
	PerfContext *rocksdb.PerfContext
	// UpdateNumOpsStats records the number of operands (reads do).
	UpdateNumOpsStats bool

	// OpFailureScope says after a failure how far it reaches; never Default.
	OpFailureScope rocksdb.OpFailureScope

	in      rocksdb.MergeOperationInput
	out     rocksdb.MergeOperationOutput
	columns rocksdb.WideColumns
	entity  []byte
}

var emptyValue = []byte{}

var errMergeOperatorFailed = rocksdb.WithSubCode(rocksdb.CodeCorruption, rocksdb.SubCodeMergeOperatorFailed)

// run calls the operator. The result is that of the default column where the
// base is an entity, whose columns are then in m.columns, the default first.
func (m *FullMerge) run() ([]byte, error) {
	if m.UpdateNumOpsStats {
		monitoring.RecordInHistogram(m.Statistics, rocksdb.HistReadNumMergeOperands, uint64(len(m.Operands)))
	}
	m.in = rocksdb.MergeOperationInput{Key: m.Key, Operands: m.Operands, Logger: m.Logger}
	switch m.Base {
	case PlainBaseValue:
		m.in.ExistingValue = m.Value
	case WideBaseValue:
		var err error
		if m.columns, err = wide.DeserializeSimple(append(m.columns[:0], rocksdb.WideColumn{Name: emptyValue}), m.Value); err != nil {
			return nil, err
		}
		if len(m.columns) > 1 && len(m.columns[1].Name) == 0 {
			m.columns = append(m.columns[:0], m.columns[1:]...)
		}
		m.in.ExistingValue = m.columns[0].Value
	}
	if m.Base != NoBaseValue && m.in.ExistingValue == nil {
		m.in.ExistingValue = emptyValue
	}
	m.out = rocksdb.MergeOperationOutput{NewValue: m.out.NewValue[:0]}
	ok := m.call()
	if !ok {
		monitoring.RecordTick(m.Statistics, rocksdb.NumberMergeFailures, 1)
		m.OpFailureScope = m.out.OpFailureScope
		if m.OpFailureScope == rocksdb.OpFailureScopeDefault {
			m.OpFailureScope = rocksdb.OpFailureScopeTryMerge
		}
		return nil, errMergeOperatorFailed
	}
	result := m.out.NewValue
	if m.out.ExistingOperand != nil {
		result = m.out.ExistingOperand
	}
	if uint64(len(result)) > math.MaxUint32 {
		return nil, rocksdb.Corruption("Merge result exceeds 4GB limit")
	}
	return result, nil
}

func (m *FullMerge) call() bool {
	timed := m.Statistics != nil || m.PerfContext != nil
	if !timed || m.Clock == nil {
		return m.Operator.FullMergeV2(&m.in, &m.out)
	}
	start := m.Clock.NowNanos()
	ok := m.Operator.FullMergeV2(&m.in, &m.out)
	addMergeTime(m.Statistics, m.PerfContext, m.Clock.NowNanos()-start)
	return ok
}

func addMergeTime(stats rocksdb.Statistics, perf *rocksdb.PerfContext, nanos uint64) {
	monitoring.RecordTick(stats, rocksdb.MergeOperationTotalTime, nanos)
	if perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		perf.MergeOperatorTimeNanos += nanos
	}
}

// Result gives what a compaction stores: a plain value, or an entity where the
// base is one. It is valid until the next call and may be one of the operands.
func (m *FullMerge) Result() ([]byte, dbformat.ValueType, error) {
	result, err := m.run()
	if err != nil || m.Base != WideBaseValue {
		return result, dbformat.TypeValue, err
	}
	m.columns[0].Value = result
	m.entity, err = wide.Serialize(m.entity[:0], m.columns)
	if err == nil && uint64(len(m.entity)) > math.MaxUint32 {
		err = rocksdb.Corruption("Merge result exceeds 4GB limit")
	}
	return m.entity, dbformat.TypeWideColumnEntity, err
}

// ResultValue gives what Get returns: the plain value, that of the default
// column where the base is an entity. It is valid until the next call and may
// be one of the operands.
func (m *FullMerge) ResultValue() ([]byte, error) { return m.run() }

// ResultEntity sets columns to what GetEntity returns, a copy.
func (m *FullMerge) ResultEntity(columns *rocksdb.PinnableWideColumns) error {
	result, t, err := m.Result()
	if err != nil {
		columns.Reset()
		return err
	}
	if t == dbformat.TypeValue {
		columns.SetPlainValue(result, nil)
		return nil
	}
	return columns.SetWideColumnValue(result, nil, wide.DeserializeSimple)
}

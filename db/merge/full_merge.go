// Port of db/merge_helper.{h,cc} (TimedFullMerge) and db/merge_operator.cc
// (the default FullMergeV3). Differs: the default column of an operator's columns is
// found in any order.

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

	v3      rocksdb.MergeOperatorV3 // Operator, where it takes columns
	in      rocksdb.MergeOperationInputV3
	out     rocksdb.MergeOperationOutputV3
	columns rocksdb.WideColumns
	entity  []byte
}

var emptyValue = []byte{}

var errMergeOperatorFailed = rocksdb.WithSubCode(rocksdb.CodeCorruption, rocksdb.SubCodeMergeOperatorFailed)

// run calls the operator. The result is value or, when that is isEntity, m.columns,
// which are in order.
func (m *FullMerge) run() (value []byte, isEntity bool, err error) {
	if m.UpdateNumOpsStats {
		monitoring.RecordInHistogram(m.Statistics, rocksdb.HistReadNumMergeOperands, uint64(len(m.Operands)))
	}
	m.v3, _ = m.Operator.(rocksdb.MergeOperatorV3)
	if err := m.setInput(); err != nil {
		return nil, false, err
	}
	m.out = rocksdb.MergeOperationOutputV3{MergeOperationOutput: rocksdb.MergeOperationOutput{NewValue: m.out.NewValue[:0]}}
	if ok := m.timedCall(); !ok {
		monitoring.RecordTick(m.Statistics, rocksdb.NumberMergeFailures, 1)
		m.OpFailureScope = m.out.OpFailureScope
		if m.OpFailureScope == rocksdb.OpFailureScopeDefault {
			m.OpFailureScope = rocksdb.OpFailureScopeTryMerge
		}
		return nil, false, errMergeOperatorFailed
	}
	if m.out.NewColumns != nil {
		m.columns = append(m.columns[:0], m.out.NewColumns...)
		wide.SortColumns(m.columns)
		return nil, true, nil
	}
	value = m.out.NewValue
	if m.out.ExistingOperand != nil {
		value = m.out.ExistingOperand
	}
	if uint64(len(value)) > math.MaxUint32 {
		return nil, false, rocksdb.Corruption("Merge result exceeds 4GB limit")
	}
	if m.Base == WideBaseValue && m.v3 == nil {
		m.columns[0].Value = value
		return nil, true, nil
	}
	return value, false, nil
}

// setInput shows an entity to an operator of columns as it is. To another one it
// shows the default column, which m.columns then begins with.
func (m *FullMerge) setInput() (err error) {
	m.in = rocksdb.MergeOperationInputV3{MergeOperationInput: rocksdb.MergeOperationInput{Key: m.Key, Operands: m.Operands, Logger: m.Logger}}
	switch {
	case m.Base == PlainBaseValue:
		m.in.ExistingValue = m.Value
	case m.Base == WideBaseValue && m.v3 != nil:
		if m.columns, err = wide.DeserializeSimple(m.columns[:0], m.Value); err != nil {
			return err
		}
		if m.in.ExistingColumns = m.columns; m.columns == nil {
			m.in.ExistingColumns = rocksdb.WideColumns{}
		}
		return nil
	case m.Base == WideBaseValue:
		if m.columns, err = wide.DeserializeSimple(append(m.columns[:0], rocksdb.WideColumn{Name: emptyValue}), m.Value); err != nil {
			return err
		}
		if len(m.columns) > 1 && len(m.columns[1].Name) == 0 {
			m.columns = append(m.columns[:0], m.columns[1:]...)
		}
		m.in.ExistingValue = m.columns[0].Value
	}
	if m.Base != NoBaseValue && m.in.ExistingValue == nil {
		m.in.ExistingValue = emptyValue
	}
	return nil
}

func (m *FullMerge) call() bool {
	if m.v3 != nil {
		return m.v3.FullMergeV3(&m.in, &m.out)
	}
	return m.Operator.FullMergeV2(&m.in.MergeOperationInput, &m.out.MergeOperationOutput)
}

func (m *FullMerge) timedCall() bool {
	timed := m.Statistics != nil || m.PerfContext != nil
	if !timed || m.Clock == nil {
		return m.call()
	}
	start := m.Clock.NowNanos()
	ok := m.call()
	addMergeTime(m.Statistics, m.PerfContext, m.Clock.NowNanos()-start)
	return ok
}

func addMergeTime(stats rocksdb.Statistics, perf *rocksdb.PerfContext, nanos uint64) {
	monitoring.RecordTick(stats, rocksdb.MergeOperationTotalTime, nanos)
	if perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		perf.MergeOperatorTimeNanos += nanos
	}
}

// Result gives what a compaction stores: a plain value or an entity. It is valid
// until the next call and may be one of the operands.
func (m *FullMerge) Result() ([]byte, dbformat.ValueType, error) {
	value, isEntity, err := m.run()
	if err != nil || !isEntity {
		return value, dbformat.TypeValue, err
	}
	m.entity, err = wide.Serialize(m.entity[:0], m.columns)
	if err == nil && uint64(len(m.entity)) > math.MaxUint32 {
		err = rocksdb.Corruption("Merge result exceeds 4GB limit")
	}
	return m.entity, dbformat.TypeWideColumnEntity, err
}

// ResultValue gives what Get returns: the plain value, that of the default
// column of an entity. It is valid until the next call and may be one of the
// operands.
func (m *FullMerge) ResultValue() ([]byte, error) {
	value, isEntity, err := m.run()
	if isEntity {
		value = wide.GetDefaultColumn(m.columns)
	}
	return value, err
}

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

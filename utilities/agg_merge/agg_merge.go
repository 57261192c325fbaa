// Port of utilities/agg_merge/agg_merge.cc, utilities/agg_merge/agg_merge_impl.h
// and include/rocksdb/utilities/agg_merge.h. Differs: functions may be registered
// while others run.

package aggmerge

import (
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// AggMergeOperatorName is the name of AggMergeOperator.
const AggMergeOperatorName = "AggMergeOperator.v1"

const (
	// UnnamedFuncName is for values that any function may aggregate.
	UnnamedFuncName = ""
	// ErrorFuncName marks what could not be aggregated: its payload is the list
	// of the value, if there was one, and the operands.
	ErrorFuncName = "kErrorFuncName"
)

// Aggregator is an aggregation function.
type Aggregator interface {
	// Aggregate appends to dst what payloads, the oldest first, come to; false
	// when they cannot be aggregated.
	Aggregate(payloads [][]byte, dst []byte) ([]byte, bool)
	// DoPartialAggregate lets operands be aggregated without their value.
	DoPartialAggregate() bool
}

var functions struct {
	sync.RWMutex
	byName map[string]Aggregator
}

// AddAggregator registers a function for the process; the first one of a name
// stays. ErrorFuncName is an invalid argument.
func AddAggregator(name string, a Aggregator) error {
	if name == ErrorFuncName {
		return rocksdb.InvalidArgument("Cannot register function name kErrorFuncName")
	}
	functions.Lock()
	defer functions.Unlock()
	if functions.byName == nil {
		functions.byName = map[string]Aggregator{}
	}
	if functions.byName[name] == nil {
		functions.byName[name] = a
	}
	return nil
}

// function gives the registered function, or nil.
func function(name []byte) Aggregator {
	functions.RLock()
	defer functions.RUnlock()
	return functions.byName[string(name)]
}

func encode(dst []byte, name, payload []byte) []byte {
	return append(util.AppendLengthPrefixedSlice(dst, name), payload...)
}

// EncodeAggFuncAndPayload makes a value or operand for a function, which has to be
// registered or UnnamedFuncName.
func EncodeAggFuncAndPayload(name string, payload []byte) ([]byte, error) {
	if name == ErrorFuncName {
		return nil, rocksdb.InvalidArgument("Cannot use error function name")
	}
	if name != UnnamedFuncName && function([]byte(name)) == nil {
		return nil, rocksdb.InvalidArgument("Function name not registered: ", name)
	}
	return encode(nil, []byte(name), payload), nil
}

// ExtractAggFuncAndValue takes a value or operand apart; not ok when it is none.
func ExtractAggFuncAndValue(op []byte) (name, payload []byte, ok bool) {
	return util.GetLengthPrefixedSlice(op)
}

// ExtractList takes apart the payload of ErrorFuncName; not ok when it is none.
func ExtractList(encoded []byte) (list [][]byte, ok bool) {
	for len(encoded) > 0 {
		var item []byte
		if item, encoded, ok = util.GetLengthPrefixedSlice(encoded); !ok {
			return list, false
		}
		list = append(list, item)
	}
	return list, true
}

// AggMergeOperator is the merge operator.
type AggMergeOperator struct{ rocksdb.MergeOperatorBase }

// Name is AggMergeOperatorName.
func (AggMergeOperator) Name() string { return AggMergeOperatorName }

// AllowSingleOperand is true.
func (AggMergeOperator) AllowSingleOperand() bool { return true }

// FullMergeV2 aggregates the value and the operands, or keeps them side by side.
func (AggMergeOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	list := in.Operands
	if in.ExistingValue != nil {
		list = append([][]byte{in.ExistingValue}, in.Operands...)
	}
	var a accumulator
	for _, op := range list {
		a.add(op)
	}
	b, ok := a.result(out.NewValue[:0])
	if !ok {
		b = util.AppendLengthPrefixedSlice(out.NewValue[:0], []byte(ErrorFuncName))
		for _, op := range list {
			b = util.AppendLengthPrefixedSlice(b, op)
		}
	}
	out.NewValue = b
	return true
}

// PartialMergeMulti aggregates operands of one function that allows it.
func (AggMergeOperator) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	var a accumulator
	for _, op := range operands {
		if !a.addPartial(op) {
			return nil, false
		}
	}
	return a.result(dst)
}

// accumulator collects the payloads of one function. Each other function that
// comes has those before aggregated first.
type accumulator struct {
	name     []byte
	named    bool // a function was named
	payloads [][]byte
	broken   bool // operands are taken no more
}

func (a *accumulator) add(op []byte) {
	if a.broken {
		return
	}
	name, payload, ok := ExtractAggFuncAndValue(op)
	switch {
	case !ok:
		a.broken = true
		return
	case !a.named:
		a.name, a.named = name, len(name) > 0
	case string(name) != string(a.name):
		aggregated, ok := a.aggregate(nil)
		if !ok {
			a.named, a.broken = false, true
			return
		}
		a.payloads = append(a.payloads[:0], aggregated)
		a.name = name
	}
	a.payloads = append(a.payloads, payload)
}

// addPartial is add for a partial merge, which is off when it is false.
func (a *accumulator) addPartial(op []byte) bool {
	if name, _, ok := ExtractAggFuncAndValue(op); ok && !a.broken {
		if a.named && string(name) != string(a.name) {
			return false
		}
		if f := function(name); len(name) > 0 && (f == nil || !f.DoPartialAggregate()) {
			return false
		}
	}
	a.add(op)
	return true
}

func (a *accumulator) aggregate(dst []byte) ([]byte, bool) {
	f := function(a.name)
	if f == nil {
		return nil, false
	}
	return f.Aggregate(a.payloads, dst)
}

// result appends the aggregated value to dst.
func (a *accumulator) result(dst []byte) ([]byte, bool) {
	if !a.named {
		return nil, false
	}
	payload, ok := a.aggregate(nil)
	if !ok {
		return nil, false
	}
	return encode(slices.Grow(dst, len(a.name)+len(payload)+5), a.name, payload), true
}

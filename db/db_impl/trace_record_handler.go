// Port of trace_replay/trace_record_handler.{h,cc}.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// traceExecutionHandler does the operations of a trace.
type traceExecutionHandler struct {
	d        *DBImpl
	families map[uint32]rocksdb.ColumnFamilyHandle
}

// NewDefaultReplayer makes a replayer of a trace, which it closes. Operations go to
// those of the families that have their IDs.
func (d *DBImpl) NewDefaultReplayer(families []rocksdb.ColumnFamilyHandle, r rocksdb.TraceReader) *trace.Replayer {
	h := &traceExecutionHandler{d, map[uint32]rocksdb.ColumnFamilyHandle{}}
	for _, cf := range families {
		h.families[cf.GetID()] = cf
	}
	return trace.NewReplayer(r, h.execute)
}

func (h *traceExecutionHandler) execute(r tracereplay.TraceRecord) (tracereplay.TraceRecordResult, error) {
	switch r := r.(type) {
	case *tracereplay.WriteQueryTraceRecord:
		return h.write(r)
	case *tracereplay.GetQueryTraceRecord:
		return h.get(r)
	case *tracereplay.IteratorSeekQueryTraceRecord:
		return h.seek(r)
	case *tracereplay.MultiGetQueryTraceRecord:
		return h.multiGet(r)
	}
	return nil, rocksdb.NotSupported("Unsupported trace type.")
}

func (h *traceExecutionHandler) family(id uint32) (rocksdb.ColumnFamilyHandle, error) {
	cf, ok := h.families[id]
	if !ok {
		return nil, rocksdb.Corruptionf("Invalid Column Family ID %d.", id)
	}
	return cf, nil
}

func (h *traceExecutionHandler) result(r tracereplay.TraceRecord, start uint64) tracereplay.TraceExecutionResult {
	return tracereplay.TraceExecutionResult{TraceType: r.GetTraceType(), StartTimestamp: start, EndTimestamp: h.d.clock.NowMicros()}
}

func (h *traceExecutionHandler) write(r *tracereplay.WriteQueryTraceRecord) (tracereplay.TraceRecordResult, error) {
	start := h.d.clock.NowMicros()
	b, err := writebatch.NewFromRep(r.WriteBatchRep)
	if err == nil {
		err = h.d.Write(nil, b)
	}
	if err != nil {
		return nil, err
	}
	return &tracereplay.StatusOnlyTraceExecutionResult{TraceExecutionResult: h.result(r, start)}, nil
}

func (h *traceExecutionHandler) get(r *tracereplay.GetQueryTraceRecord) (tracereplay.TraceRecordResult, error) {
	cf, err := h.family(r.ColumnFamilyID)
	if err != nil {
		return nil, err
	}
	start := h.d.clock.NowMicros()
	var v rocksdb.PinnableSlice
	err = h.d.Get(nil, cf, r.Key, &v)
	defer v.Release()
	if err != nil && !rocksdb.IsNotFound(err) {
		return nil, err
	}
	return &tracereplay.SingleValueTraceExecutionResult{TraceExecutionResult: h.result(r, start), Status: err,
		Value: append([]byte(nil), v.Data()...)}, nil
}

func (h *traceExecutionHandler) seek(r *tracereplay.IteratorSeekQueryTraceRecord) (tracereplay.TraceRecordResult, error) {
	cf, err := h.family(r.ColumnFamilyID)
	if err != nil {
		return nil, err
	}
	ro := rocksdb.DefaultReadOptions()
	if len(r.LowerBound) > 0 {
		ro.IterateLowerBound = r.LowerBound
	}
	if len(r.UpperBound) > 0 {
		ro.IterateUpperBound = r.UpperBound
	}
	it := h.d.NewIterator(&ro, cf)
	defer it.Close() //nolint:errcheck // its status is looked at
	start := h.d.clock.NowMicros()
	if r.SeekType == tracereplay.TraceIteratorSeekForPrev {
		it.SeekForPrev(r.Key)
	} else {
		it.Seek(r.Key)
	}
	x := &tracereplay.IteratorTraceExecutionResult{TraceExecutionResult: h.result(r, start), Valid: it.Valid()}
	if x.Valid {
		x.Key, x.Value = append(x.Key, it.Key()...), append(x.Value, it.Value()...)
	}
	if err := it.Status(); err != nil {
		return nil, err
	}
	return x, nil
}

func (h *traceExecutionHandler) multiGet(r *tracereplay.MultiGetQueryTraceRecord) (tracereplay.TraceRecordResult, error) {
	families := make([]rocksdb.ColumnFamilyHandle, len(r.ColumnFamilyIDs))
	for i, id := range r.ColumnFamilyIDs {
		var err error
		if families[i], err = h.family(id); err != nil {
			return nil, err
		}
	}
	n := len(r.Keys)
	switch {
	case n == 0 || len(families) == 0:
		return nil, rocksdb.InvalidArgument("Empty MultiGet cf_ids or keys.")
	case n != len(families):
		return nil, rocksdb.InvalidArgument("MultiGet cf_ids and keys size mismatch.")
	}
	start := h.d.clock.NowMicros()
	values, errs := make([]rocksdb.PinnableSlice, n), make([]error, n)
	h.d.MultiGetCF(nil, families, r.Keys, values, errs)
	x := &tracereplay.MultiValuesTraceExecutionResult{TraceExecutionResult: h.result(r, start), MultiStatus: errs, Values: make([][]byte, n)}
	var failed error
	for i := range values {
		if errs[i] != nil && !rocksdb.IsNotFound(errs[i]) && failed == nil {
			failed = errs[i]
		}
		x.Values[i] = append([]byte(nil), values[i].Data()...)
		values[i].Release()
	}
	if failed != nil {
		return nil, failed
	}
	return x, nil
}

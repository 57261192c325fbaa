// Port of Tracer of trace_replay/trace_replay.{h,cc}.

package tracereplay

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// Tracer writes a trace of operations. It is not safe for concurrent use.
type Tracer struct {
	clock   rocksdb.SystemClock
	opts    rocksdb.TraceOptions
	w       rocksdb.TraceWriter
	skipped uint64
	err     error // of the first failed write; nothing is written after it
	payload []byte
	record  []byte
}

// NewTracer begins a trace in w, which Close closes.
func NewTracer(clock rocksdb.SystemClock, opts *rocksdb.TraceOptions, w rocksdb.TraceWriter) *Tracer {
	t := &Tracer{clock: clock, opts: *opts, w: w}
	header := fmt.Sprintf("%s\tTrace Version: %d.%d\tRocksDB Version: %d.%d\tFormat: Timestamp OpType Payload\n",
		Magic, FileMajorVersion, FileMinorVersion, rocksdb.Major, rocksdb.Minor)
	_ = t.write(TraceBegin, []byte(header)) // kept, and given by all that follow
	return t
}

// IsWriteOrderPreserved tells whether writes are to be traced in their order.
func (t *Tracer) IsWriteOrderPreserved() bool { return t.opts.PreserveWriteOrder }

// skips tells whether an operation is left out: by the filter, for the file's size,
// or as one between the samples.
// Upstream: Tracer::ShouldSkipTrace.
func (t *Tracer) skips(op rocksdb.TraceFilterType) bool {
	if t.w.GetFileSize() > t.opts.MaxTraceFileSize || t.opts.Filter&op != 0 {
		return true
	}
	if t.skipped++; t.skipped < t.opts.SamplingFrequency {
		return true
	}
	t.skipped = 0
	return false
}

// begin starts a payload that has those fields.
func (t *Tracer) begin(fields ...PayloadType) (p []byte) {
	var m uint64
	for _, f := range fields {
		m |= 1 << f
	}
	return util.AppendFixed64(t.payload[:0], m)
}

// Write traces a batch.
func (t *Tracer) Write(batch []byte) error {
	if t.skips(rocksdb.TraceFilterWrite) {
		return nil
	}
	t.payload = util.AppendLengthPrefixedSlice(t.begin(WriteBatchData), batch)
	return t.write(TraceWrite, t.payload)
}

// Get traces a lookup.
func (t *Tracer) Get(family uint32, key []byte) error {
	if t.skips(rocksdb.TraceFilterGet) {
		return nil
	}
	p := util.AppendFixed32(t.begin(GetCFID, GetKey), family)
	t.payload = util.AppendLengthPrefixedSlice(p, key)
	return t.write(TraceGet, t.payload)
}

// IteratorSeek traces a seek of an iterator with those bounds, empty for none.
func (t *Tracer) IteratorSeek(family uint32, key, lower, upper []byte) error {
	return t.seek(TraceIteratorSeek, rocksdb.TraceFilterIteratorSeek, family, key, lower, upper)
}

// IteratorSeekForPrev traces a seek backwards.
func (t *Tracer) IteratorSeekForPrev(family uint32, key, lower, upper []byte) error {
	return t.seek(TraceIteratorSeekForPrev, rocksdb.TraceFilterIteratorSeekForPrev, family, key, lower, upper)
}

func (t *Tracer) seek(typ TraceType, filter rocksdb.TraceFilterType, family uint32, key, lower, upper []byte) error {
	if t.skips(filter) {
		return nil
	}
	fields := []PayloadType{IterCFID, IterKey}
	if len(lower) > 0 {
		fields = append(fields, IterLowerBound)
	}
	if len(upper) > 0 {
		fields = append(fields, IterUpperBound)
	}
	p := util.AppendFixed32(t.begin(fields...), family)
	p = util.AppendLengthPrefixedSlice(p, key)
	if len(lower) > 0 {
		p = util.AppendLengthPrefixedSlice(p, lower)
	}
	if len(upper) > 0 {
		p = util.AppendLengthPrefixedSlice(p, upper)
	}
	t.payload = p
	return t.write(typ, p)
}

// MultiGet traces lookups of keys, each in the family that familyOf gives.
func (t *Tracer) MultiGet(keys [][]byte, familyOf func(i int) uint32) error {
	if len(keys) == 0 || t.skips(rocksdb.TraceFilterMultiGet) {
		return nil
	}
	var families, all []byte
	for i, key := range keys {
		families = util.AppendFixed32(families, familyOf(i))
		all = util.AppendLengthPrefixedSlice(all, key)
	}
	p := util.AppendFixed32(t.begin(MultiGetSize, MultiGetCFIDs, MultiGetKeys), uint32(len(keys)))
	p = util.AppendLengthPrefixedSlice(p, families)
	t.payload = util.AppendLengthPrefixedSlice(p, all)
	return t.write(TraceMultiGet, t.payload)
}

func (t *Tracer) write(typ TraceType, payload []byte) error {
	if t.err != nil {
		return rocksdb.Incomplete("Tracing has seen error", t.err.Error())
	}
	t.record = AppendTrace(t.record[:0], &Trace{TS: t.clock.NowMicros(), Type: typ, Payload: payload})
	t.err = t.w.Write(t.record)
	return t.err
}

// Close ends the trace.
func (t *Tracer) Close() error {
	err := t.write(TraceEnd, nil)
	if e := t.w.Close(); err == nil {
		err = e
	}
	return err
}

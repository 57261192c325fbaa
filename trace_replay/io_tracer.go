// Port of trace_replay/io_tracer.{h,cc}. Differs: a trace that was ended is closed.

package tracereplay

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// TraceIO is the kind of all records of a trace of I/O.
const TraceIO TraceType = 12

// IOTraceOp is a field that only some operations have; its bit in
// IOTraceRecord.IOOpData says that it is there.
type IOTraceOp uint8

// The fields, in the order of a record.
const (
	IOFileSize IOTraceOp = 0
	IOLen      IOTraceOp = 1
	IOOffset   IOTraceOp = 2
)

// ioRequestID is the bit of IOTraceRecord.TraceData for RequestID.
const ioRequestID = 0

// IOTraceRecord is one operation on a file or on the file system.
type IOTraceRecord struct {
	AccessTimestamp uint64 // nanoseconds
	TraceType       TraceType
	IOOpData        uint64 // bits of IOTraceOp
	FileOperation   string
	Latency         uint64 // nanoseconds
	IOStatus        string
	FileName        string // without its directory

	// As IOOpData says, in bytes.
	Len, Offset, FileSize uint64

	TraceData uint64 // of a record read: bits of what follows
	RequestID string // "" for none
}

// IOTraceWriter writes records. A record is, in the frame of all traces:
//
//	IOOpData (fixed64), operation (length-prefixed), latency (fixed64)
//	status, file name (length-prefixed)
//	each field of IOOpData (fixed64)
//	TraceData (fixed64); bit 0: request ID (length-prefixed)
//
// It is not safe for concurrent use.
type IOTraceWriter struct {
	clock   rocksdb.SystemClock
	o       rocksdb.TraceOptions
	w       rocksdb.TraceWriter
	payload []byte
	record  []byte
}

// NewIOTraceWriter makes a writer to w, which Close closes. Of o MaxTraceFileSize
// matters: what comes then is dropped.
func NewIOTraceWriter(clock rocksdb.SystemClock, o *rocksdb.TraceOptions, w rocksdb.TraceWriter) *IOTraceWriter {
	return &IOTraceWriter{clock: clock, o: *o, w: w}
}

// WriteHeader comes first.
func (w *IOTraceWriter) WriteHeader() error {
	return w.w.Write(appendHeader(w.record[:0], w.clock.NowMicros()))
}

// WriteIOOp adds a record.
func (w *IOTraceWriter) WriteIOOp(r *IOTraceRecord) error {
	if w.w.GetFileSize() > w.o.MaxTraceFileSize {
		return nil
	}
	p := util.AppendFixed64(w.payload[:0], r.IOOpData)
	p = util.AppendLengthPrefixedSlice(p, []byte(r.FileOperation))
	p = util.AppendFixed64(p, r.Latency)
	p = util.AppendLengthPrefixedSlice(p, []byte(r.IOStatus))
	p = util.AppendLengthPrefixedSlice(p, []byte(r.FileName))
	for op, v := range [...]uint64{IOFileSize: r.FileSize, IOLen: r.Len, IOOffset: r.Offset} {
		if r.IOOpData>>op&1 != 0 {
			p = util.AppendFixed64(p, v)
		}
	}
	if r.RequestID != "" {
		p = util.AppendFixed64(p, 1<<ioRequestID)
		p = util.AppendLengthPrefixedSlice(p, []byte(r.RequestID))
	} else {
		p = util.AppendFixed64(p, 0)
	}
	w.payload = p
	w.record = AppendTrace(w.record[:0], &Trace{TS: r.AccessTimestamp, Type: r.TraceType, Payload: p})
	return w.w.Write(w.record)
}

// Close closes the trace.
func (w *IOTraceWriter) Close() error { return w.w.Close() }

// IOTraceReader reads what an IOTraceWriter wrote.
type IOTraceReader struct{ r rocksdb.TraceReader }

// NewIOTraceReader reads r, which stays the caller's.
func NewIOTraceReader(r rocksdb.TraceReader) *IOTraceReader { return &IOTraceReader{r} }

// ReadHeader comes first.
func (r *IOTraceReader) ReadHeader() (TraceHeader, error) { return readHeader(r.r) }

// ReadIOOp reads the next record; at the end it is Incomplete.
func (r *IOTraceReader) ReadIOOp() (a IOTraceRecord, err error) {
	t, err := readTrace(r.r)
	if err != nil {
		return a, err
	}
	a.AccessTimestamp, a.TraceType = t.TS, t.Type
	p := payloadReader{p: t.Payload}
	p.fixed64(&a.IOOpData, "trace data")
	a.FileOperation = string(p.slice("file operation"))
	p.fixed64(&a.Latency, "latency")
	a.IOStatus = string(p.slice("IO status"))
	a.FileName = string(p.slice("file name"))
	fields := [...]struct {
		to   *uint64
		what string
	}{IOFileSize: {&a.FileSize, "file size"}, IOLen: {&a.Len, "length"}, IOOffset: {&a.Offset, "offset"}}
	if bits.Len64(a.IOOpData) > len(fields) {
		return a, rocksdb.Corruptionf("An I/O trace's record with fields %#x.", a.IOOpData)
	}
	for op, f := range fields {
		if a.IOOpData>>op&1 != 0 {
			p.fixed64(f.to, f.what)
		}
	}
	p.fixed64(&a.TraceData, "trace op")
	if a.TraceData > 1<<ioRequestID {
		return a, rocksdb.Corruptionf("An I/O trace's record with data %#x.", a.TraceData)
	}
	if a.TraceData != 0 {
		a.RequestID = string(p.slice("request id"))
	}
	return a, p.err()
}

// IOTracer writes a trace while one is on: between StartIOTrace and EndIOTrace. It
// is safe for concurrent use; a nil one never traces.
type IOTracer struct {
	on atomic.Bool
	mu struct {
		sync.Mutex
		w *IOTraceWriter // nil: none
	}
}

// StartIOTrace traces to w from now on, which EndIOTrace closes. While another
// trace is on it is Busy, and w stays the caller's.
func (t *IOTracer) StartIOTrace(clock rocksdb.SystemClock, o *rocksdb.TraceOptions, w rocksdb.TraceWriter) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.w != nil {
		return rocksdb.Busy()
	}
	t.mu.w = NewIOTraceWriter(clock, o, w)
	t.on.Store(true)
	return t.mu.w.WriteHeader()
}

// EndIOTrace ends the trace, if one is on.
func (t *IOTracer) EndIOTrace() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.mu.w
	t.on.Store(false)
	t.mu.w = nil
	if w == nil {
		return nil
	}
	return w.Close()
}

// IsTracingEnabled tells whether a trace is on.
func (t *IOTracer) IsTracingEnabled() bool { return t != nil && t.on.Load() }

// WriteIOOp adds a record to the trace, if one is on. A trace that cannot be
// written does not hinder what is traced.
func (t *IOTracer) WriteIOOp(r *IOTraceRecord) {
	if !t.IsTracingEnabled() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.w != nil {
		_ = t.mu.w.WriteIOOp(r)
	}
}

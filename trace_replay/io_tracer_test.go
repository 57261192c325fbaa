// Port of trace_replay/io_tracer_test.cc.

package tracereplay_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// ioTrace is a trace of I/O.
type ioTrace struct {
	*testing.T
	path string
}

func newIOTrace(t *testing.T) *ioTrace { return &ioTrace{t, filepath.Join(t.TempDir(), "io_trace")} }

func (x *ioTrace) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *ioTrace) newWriter() rocksdb.TraceWriter {
	x.Helper()
	fo := rocksdb.DefaultFileOptions()
	w, err := trace.NewFileTraceWriter(env.DefaultFileSystem(), x.path, &fo)
	x.must(err)
	return w
}

func (x *ioTrace) start() *tracereplay.IOTracer {
	x.Helper()
	o := rocksdb.DefaultTraceOptions()
	t := new(tracereplay.IOTracer)
	x.must(t.StartIOTrace(rocksdb.DefaultSystemClock(), &o, x.newWriter()))
	return t
}

// verify checks that the trace has those records and no others.
func (x *ioTrace) verify(want ...tracereplay.IOTraceRecord) {
	x.Helper()
	fo := rocksdb.DefaultFileOptions()
	f, err := trace.NewFileTraceReader(env.DefaultFileSystem(), x.path, &fo)
	x.must(err)
	defer f.Close()
	r := tracereplay.NewIOTraceReader(f)
	h, err := r.ReadHeader()
	x.must(err)
	if h.MajorVersion != rocksdb.Major || h.MinorVersion != rocksdb.Minor {
		x.Errorf("header %+v", h)
	}
	for i, w := range want {
		got, err := r.ReadIOOp()
		x.must(err)
		if d := cmp.Diff(w, got); d != "" {
			x.Errorf("record %d: %s", i, d)
		}
	}
	if _, err := r.ReadIOOp(); err == nil {
		x.Error("one more record")
	}
}

// ioRecord is the n-th operation, without fields of its own.
func ioRecord(n int) tracereplay.IOTraceRecord {
	ops := [...]string{"CreateDir", "GetChildren", "FileSize", "DeleteDir"}
	return tracereplay.IOTraceRecord{TraceType: tracereplay.TraceIO, FileOperation: ops[n%4], Latency: 10, IOStatus: "OK",
		FileName: fmt.Sprint("/dummy/file", n)}
}

func TestIOTracerTest_MultipleRecordsWithDifferentIOOpOptions(t *testing.T) {
	const size, length, offset = 1 << tracereplay.IOFileSize, 1 << tracereplay.IOLen, 1 << tracereplay.IOOffset
	x := newIOTrace(t)
	tracer := x.start()
	var want []tracereplay.IOTraceRecord
	for i, p := range []struct {
		given, stored tracereplay.IOTraceRecord
	}{
		{},
		{tracereplay.IOTraceRecord{IOOpData: size, FileSize: 256}, tracereplay.IOTraceRecord{FileSize: 256}},
		{tracereplay.IOTraceRecord{IOOpData: length, Len: 100, Offset: 200}, tracereplay.IOTraceRecord{Len: 100}},
		{tracereplay.IOTraceRecord{IOOpData: length | offset, Len: 120, Offset: 17}, tracereplay.IOTraceRecord{Len: 120, Offset: 17}},
		{tracereplay.IOTraceRecord{IOOpData: offset, Len: 13, Offset: 50}, tracereplay.IOTraceRecord{Offset: 50}},
		{tracereplay.IOTraceRecord{RequestID: "request_id_1"}, tracereplay.IOTraceRecord{RequestID: "request_id_1", TraceData: 1}},
	} {
		r := ioRecord(i)
		r.IOOpData, r.FileSize, r.Len, r.Offset, r.RequestID = p.given.IOOpData, p.given.FileSize, p.given.Len, p.given.Offset, p.given.RequestID
		tracer.WriteIOOp(&r)
		r.FileSize, r.Len, r.Offset, r.TraceData = p.stored.FileSize, p.stored.Len, p.stored.Offset, p.stored.TraceData
		want = append(want, r)
	}
	x.must(tracer.EndIOTrace())
	x.verify(want...)
}

func TestIOTracerTest_AtomicWrite(t *testing.T) {
	x := newIOTrace(t)
	tracer, r := x.start(), ioRecord(0)
	tracer.WriteIOOp(&r)
	x.must(tracer.EndIOTrace())
	x.verify(r)
}

func TestIOTracerTest_AtomicWriteBeforeStartTrace(t *testing.T) {
	x := newIOTrace(t)
	w := x.newWriter()
	r := ioRecord(0)
	new(tracereplay.IOTracer).WriteIOOp(&r)
	x.must(w.Close())
	fo := rocksdb.DefaultFileOptions()
	f, err := trace.NewFileTraceReader(env.DefaultFileSystem(), x.path, &fo)
	x.must(err)
	defer f.Close()
	if h, err := tracereplay.NewIOTraceReader(f).ReadHeader(); err == nil {
		t.Errorf("header %+v", h)
	}
}

func TestIOTracerTest_AtomicNoWriteAfterEndTrace(t *testing.T) {
	x := newIOTrace(t)
	tracer, r := x.start(), ioRecord(2)
	r.IOOpData, r.FileSize = 1<<tracereplay.IOFileSize, 10
	tracer.WriteIOOp(&r)
	x.must(tracer.EndIOTrace())
	tracer.WriteIOOp(&r)
	x.verify(r)
}

func TestIOTracerTest_AtomicMultipleWrites(t *testing.T) {
	x := newIOTrace(t)
	o := rocksdb.DefaultTraceOptions()
	w := tracereplay.NewIOTraceWriter(rocksdb.DefaultSystemClock(), &o, x.newWriter())
	x.must(w.WriteHeader())
	var want []tracereplay.IOTraceRecord
	for i := range 10 {
		r := ioRecord(i)
		r.IOOpData, r.Len, r.Offset = 1<<tracereplay.IOLen|1<<tracereplay.IOOffset, uint64(i), uint64(i)+20
		x.must(w.WriteIOOp(&r))
		want = append(want, r)
	}
	x.must(w.Close())
	x.verify(want...)
}

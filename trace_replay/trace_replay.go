// Port of trace_replay/trace_replay.{h,cc} and
// include/rocksdb/trace_record.h. Differs: writes only; reads are neither
// traced nor decoded yet.

package tracereplay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// TraceType is the kind of a record.
type TraceType uint8

// The kinds. Those of block caches and of I/O are of other traces.
const (
	TraceNone                TraceType = 0
	TraceBegin               TraceType = 1
	TraceEnd                 TraceType = 2
	TraceWrite               TraceType = 3
	TraceGet                 TraceType = 4
	TraceIteratorSeek        TraceType = 5
	TraceIteratorSeekForPrev TraceType = 6
	TraceMultiGet            TraceType = 13
)

// PayloadType is a field of a payload.
type PayloadType uint8

// WriteBatchData is the field of a write.
const WriteBatchData PayloadType = 1

// Of the file.
const (
	Magic            = "feedcafedeadbeef"
	MetadataSize     = 13 // bytes of a record before its payload
	FileMajorVersion = 0
	FileMinorVersion = 2

	versionWithPayloadMap = 2
)

// Trace is one record.
type Trace struct {
	TS      uint64 // microseconds since 1970
	Type    TraceType
	Payload []byte
}

// AppendTrace adds the record's bytes to dst.
func AppendTrace(dst []byte, t *Trace) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, t.TS)
	dst = append(dst, byte(t.Type))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.Payload)))
	return append(dst, t.Payload...)
}

// DecodeTrace reads a record as a TraceReader gives it; the payload is part of
// data.
func DecodeTrace(data []byte) (t Trace, err error) {
	if len(data) < MetadataSize {
		return t, rocksdb.Incomplete("Decode trace string failed")
	}
	t.TS, t.Type = binary.LittleEndian.Uint64(data), TraceType(data[8])
	t.Payload = data[MetadataSize:]
	return t, nil
}

// DecodeHeader reads the first record and gives the file's version: its parts
// as one number, so that 0.2 is 2 and 1.3 is 13.
func DecodeHeader(data []byte) (version int, err error) {
	t, err := DecodeTrace(data)
	if err != nil {
		return 0, err
	}
	if t.Type != TraceBegin {
		return 0, rocksdb.Corruption("Corrupted trace file. Incorrect header.")
	}
	if !bytes.HasPrefix(t.Payload, []byte(Magic)) {
		return 0, rocksdb.Corruption("Corrupted trace file. Incorrect magic.")
	}
	for field := range strings.SplitSeq(string(t.Payload), "\t") {
		text, ok := strings.CutPrefix(field, "Trace Version: ")
		if !ok {
			continue
		}
		major, minor, dot := strings.Cut(text, ".")
		a, err1 := strconv.Atoi(major)
		b, err2 := strconv.Atoi(minor)
		if !dot || err1 != nil || err2 != nil || a < 0 || b < 0 || a > 1<<20 || b > 9 {
			break
		}
		return a*10 + b, nil
	}
	return 0, rocksdb.Corruption("Corrupted trace file. Incorrect trace version.")
}

// DecodeWrite gives the batch of a write, as part of the payload.
func DecodeWrite(t *Trace, fileVersion int) ([]byte, error) {
	if fileVersion < versionWithPayloadMap {
		return t.Payload, nil
	}
	if len(t.Payload) < 8 {
		return nil, rocksdb.Corruption("Corrupted trace file. Short payload.")
	}
	fields, rest := binary.LittleEndian.Uint64(t.Payload), t.Payload[8:]
	if fields != 1<<WriteBatchData {
		return nil, rocksdb.Corruption(fmt.Sprintf("Corrupted trace file. A write with fields %#x.", fields))
	}
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)-size) {
		return nil, rocksdb.Corruption("Corrupted trace file. Short write batch.")
	}
	return rest[size:][:n], nil
}

// Tracer writes a trace.
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

// Write traces a batch.
func (t *Tracer) Write(batch []byte) error {
	if t.opts.Filter&rocksdb.TraceFilterWrite != 0 || t.w.GetFileSize() > t.opts.MaxTraceFileSize {
		return nil
	}
	if t.skipped++; t.skipped < t.opts.SamplingFrequency {
		return nil
	}
	t.skipped = 0
	p := binary.LittleEndian.AppendUint64(t.payload[:0], 1<<WriteBatchData)
	p = binary.AppendUvarint(p, uint64(len(batch)))
	t.payload = append(p, batch...)
	return t.write(TraceWrite, t.payload)
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

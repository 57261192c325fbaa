// Port of trace_replay/trace_replay.{h,cc}: the frame of records. The Tracer is in
// tracer.go, operations are decoded in trace_decode.go.

package tracereplay

import (
	"bytes"
	"encoding/binary"
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

// The fields, in the order of a record; a record's type has some of them.
const (
	WriteBatchData PayloadType = 1 // of a write: length-prefixed
	GetCFID        PayloadType = 2 // fixed32
	GetKey         PayloadType = 3 // length-prefixed
	IterCFID       PayloadType = 4
	IterKey        PayloadType = 5
	IterLowerBound PayloadType = 6
	IterUpperBound PayloadType = 7
	MultiGetSize   PayloadType = 8  // fixed32
	MultiGetCFIDs  PayloadType = 9  // length-prefixed: a fixed32 a key
	MultiGetKeys   PayloadType = 10 // length-prefixed: keys, length-prefixed
)

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

// Port of what trace_replay/block_cache_tracer.cc and trace_replay/io_tracer.cc
// have in common: headers, and the fields of records.

package tracereplay

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// TraceHeader begins a trace of a block cache or of I/O.
type TraceHeader struct {
	StartTime                  uint64 // microseconds since 1970
	MajorVersion, MinorVersion uint32
}

// appendHeader adds the record that begins such a trace.
func appendHeader(dst []byte, micros uint64) []byte {
	p := util.AppendLengthPrefixedSlice(nil, []byte(Magic))
	p = util.AppendFixed32(p, rocksdb.Major)
	p = util.AppendFixed32(p, rocksdb.Minor)
	return AppendTrace(dst, &Trace{TS: micros, Type: TraceBegin, Payload: p})
}

func readTrace(r rocksdb.TraceReader) (Trace, error) {
	data, err := r.Read()
	if err != nil {
		return Trace{}, err
	}
	return DecodeTrace(data)
}

func readHeader(r rocksdb.TraceReader) (h TraceHeader, err error) {
	t, err := readTrace(r)
	if err != nil {
		return h, err
	}
	h.StartTime = t.TS
	magic, p, ok := util.GetLengthPrefixedSlice(t.Payload)
	switch {
	case !ok:
		return h, rocksdb.Corruption("Corrupted header in the trace file: Failed to read the magic number.")
	case string(magic) != Magic:
		return h, rocksdb.Corruption("Corrupted header in the trace file: Magic number does not match.")
	}
	if h.MajorVersion, p, ok = util.GetFixed32(p); ok {
		h.MinorVersion, p, ok = util.GetFixed32(p)
	}
	switch {
	case !ok:
		return h, rocksdb.Corruption("Corrupted header in the trace file: Failed to read the version number.")
	case len(p) > 0:
		return h, rocksdb.Corruption("Corrupted header in the trace file: The length of header is too long.")
	}
	return h, nil
}

// payloadReader takes a payload apart. lacks is the first field that is not there.
type payloadReader struct {
	p     []byte
	lacks string
}

func (r *payloadReader) fail(ok bool, what string) bool {
	if !ok && r.lacks == "" {
		r.lacks = what
	}
	return r.lacks != ""
}

func (r *payloadReader) fixed64(dst *uint64, what string) {
	if v, rest, ok := util.GetFixed64(r.p); !r.fail(ok, what) {
		*dst, r.p = v, rest
	}
}

func (r *payloadReader) fixed32(dst *uint32, what string) {
	if v, rest, ok := util.GetFixed32(r.p); !r.fail(ok, what) {
		*dst, r.p = v, rest
	}
}

func (r *payloadReader) slice(what string) (s []byte) {
	if v, rest, ok := util.GetLengthPrefixedSlice(r.p); !r.fail(ok, what) {
		s, r.p = bytes.Clone(v), rest
	}
	return s
}

func (r *payloadReader) byte(what string) (b byte) {
	if !r.fail(len(r.p) > 0, what) {
		b, r.p = r.p[0], r.p[1:]
	}
	return b
}

// err is Incomplete when a field was not there.
func (r *payloadReader) err() error {
	if r.lacks != "" {
		return rocksdb.Incomplete("Incomplete access record: Failed to read " + r.lacks + ".")
	}
	return nil
}

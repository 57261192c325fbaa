// No upstream twin: Go package documentation.

// Package tracereplay writes and reads traces of a database's operations.
//
// A trace file is a sequence of records; numbers have their least byte first:
//
//	0   time in microseconds since 1970, 8 bytes
//	8   TraceType, 1
//	9   length of the payload, 4
//	13  payload
//
// The first record is of type TraceBegin; its payload is text: the magic, and
// after tabs "Trace Version: 0.2", "RocksDB Version: 11.8" and the format. The
// last one, which a killed process leaves out, is TraceEnd.
//
// Payloads begin with a map, 8 bytes, of the fields they have; bit n is the
// PayloadType n, which says how the field is encoded. Before version 0.2 there was
// no map: a write was its batch, a read its family's ID (fixed32) and its key
// (length-prefixed).
//
// Traces of accesses to a block cache and of I/O have the same frame; their records
// are described in block_cache_tracer.go and io_tracer.go.
//
// Main types: Tracer, which is not safe for concurrent use, BlockCacheTracer and
// IOTracer, which are. Read trace_replay.go.
package tracereplay

// No upstream twin: Go package documentation.

// Package trace keeps traces of operations in files.
//
// FileTraceWriter and FileTraceReader implement rocksdb.TraceWriter and
// rocksdb.TraceReader; the format stands in trace_replay.
package trace

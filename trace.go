// Port of the tracing of include/rocksdb/db.h, and of
// include/rocksdb/trace_reader_writer.h and block_cache_trace_writer.h. Differs:
// the second StartBlockCacheTrace is StartBlockCacheTraceTo.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/env"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// The trace of a block cache: a writer of one's own gets each access as it is.
type (
	BlockCacheTraceOptions       = tracereplay.BlockCacheTraceOptions
	BlockCacheTraceWriterOptions = tracereplay.BlockCacheTraceWriterOptions
	BlockCacheTraceWriter        = tracereplay.BlockCacheTraceWriter
	BlockCacheTraceRecord        = tracereplay.BlockCacheTraceRecord
)

// NewBlockCacheTraceWriter writes accesses to w as upstream does.
func NewBlockCacheTraceWriter(clock SystemClock, o BlockCacheTraceWriterOptions, w TraceWriter) BlockCacheTraceWriter {
	return tracereplay.NewBlockCacheTraceWriter(clock, o, w)
}

// NewFileTraceWriter makes or empties a file for a trace. e may be nil.
func NewFileTraceWriter(e Env, o *FileOptions, name string) (TraceWriter, error) {
	return trace.NewFileTraceWriter(fileSystemOf(e), name, orDefaultFile(o))
}

// NewFileTraceReader opens a trace. e may be nil.
func NewFileTraceReader(e Env, o *FileOptions, name string) (TraceReader, error) {
	return trace.NewFileTraceReader(fileSystemOf(e), name, orDefaultFile(o))
}

func fileSystemOf(e Env) FileSystem {
	if e == nil {
		return env.DefaultFileSystem()
	}
	return e.GetFileSystem()
}

func orDefaultFile(o *FileOptions) *FileOptions {
	if o == nil {
		d := DefaultFileOptions()
		return &d
	}
	return o
}

// StartTrace traces operations to w from now on: writes, Get, MultiGet and seeks of
// iterators. EndTrace closes w.
func (db *DB) StartTrace(o TraceOptions, w TraceWriter) error { return db.impl.StartTrace(&o, w) }

// EndTrace ends the trace; without one it is an IOError.
func (db *DB) EndTrace() error { return db.impl.EndTrace() }

// Replays of traces.
type (
	Replayer          = trace.Replayer
	ReplayOptions     = trace.ReplayOptions
	TraceRecord       = tracereplay.TraceRecord
	TraceRecordResult = tracereplay.TraceRecordResult
)

// DefaultReplayOptions gives the defaults.
func DefaultReplayOptions() ReplayOptions { return trace.DefaultReplayOptions() }

// NewDefaultReplayer makes a replayer of a trace that StartTrace wrote; it closes r.
// Operations go to those of the families that have the trace's IDs.
func (db *DB) NewDefaultReplayer(families []*ColumnFamily, r TraceReader) *Replayer {
	handles := make([]ColumnFamilyHandle, len(families))
	for i, f := range families {
		handles[i] = f.ColumnFamilyHandleImpl
	}
	return db.impl.NewDefaultReplayer(handles, r)
}

// StartBlockCacheTrace traces accesses to the block cache to w from now on, which
// EndBlockCacheTrace closes. It is Busy while another such trace is on, and w stays
// the caller's. Of o the size and the sampling matter.
func (db *DB) StartBlockCacheTrace(o TraceOptions, w TraceWriter) error {
	return db.impl.StartBlockCacheTrace(&o, w)
}

// StartBlockCacheTraceTo is StartBlockCacheTrace to a writer of accesses.
func (db *DB) StartBlockCacheTraceTo(o BlockCacheTraceOptions, w BlockCacheTraceWriter) error {
	return db.impl.StartBlockCacheTraceTo(o, w)
}

// EndBlockCacheTrace ends the trace, if one is on.
func (db *DB) EndBlockCacheTrace() error { return db.impl.EndBlockCacheTrace() }

// StartIOTrace traces what the database does with files to w from now on, which
// EndIOTrace closes; io_tracer_parser prints it. It is Busy while another such trace
// is on, and w stays the caller's. Of o the size matters.
func (db *DB) StartIOTrace(o TraceOptions, w TraceWriter) error {
	return db.impl.StartIOTrace(&o, w)
}

// EndIOTrace ends the trace, if one is on.
func (db *DB) EndIOTrace() error { return db.impl.EndIOTrace() }

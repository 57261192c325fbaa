// Port of the traces of tools/db_bench_tool.cc.

package main

import (
	"errors"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// startTraces begins the traces that flags ask for.
func (b *benchmark) startTraces(name string) error {
	if b.flags.TraceFile != "" && name != "replay" {
		if err := b.startTrace(); err != nil {
			b.out.errf("Encountered an error starting a trace, %v\n", err)
			return exitCode(1)
		}
		b.out.printf("Tracing the workload to: [%s]\n", b.flags.TraceFile)
	}
	if b.flags.BlockCacheTraceFile != "" {
		return b.startBlockCacheTrace()
	}
	return nil
}

// startTrace traces the workload. The file is the last benchmark's.
func (b *benchmark) startTrace() error {
	if b.db.db != nil {
		_ = b.db.db.EndTrace() // of the benchmark before, if there was one
	}
	w, err := b.newTrace(b.flags.TraceFile)
	if err != nil {
		return err
	}
	return b.db.db.StartTrace(rocksdb.DefaultTraceOptions(), w)
}

// startBlockCacheTrace is refused while the benchmark before is still traced; one
// with a database of its own is not.
func (b *benchmark) startBlockCacheTrace() error {
	f := b.flags
	if f.BlockCacheTraceSamplingFrequency <= 0 {
		b.out.errf("Block cache trace sampling frequency must be higher than 0.\n")
		return exitCode(1)
	}
	if f.BlockCacheTraceMaxTraceFileSizeInBytes <= 0 {
		b.out.errf("The maximum file size for block cache tracing must be higher than 0.\n")
		return exitCode(1)
	}
	w, err := b.newTrace(f.BlockCacheTraceFile)
	if err != nil {
		b.out.errf("Encountered an error when creating trace writer, %v\n", err)
		return exitCode(1)
	}
	o := rocksdb.DefaultTraceOptions()
	o.MaxTraceFileSize = uint64(f.BlockCacheTraceMaxTraceFileSizeInBytes)
	o.SamplingFrequency = uint64(f.BlockCacheTraceSamplingFrequency)
	if err := b.db.db.StartBlockCacheTrace(o, w); err != nil {
		b.out.errf("Encountered an error when starting block cache tracing, %v\n", errors.Join(err, w.Close()))
		return exitCode(1)
	}
	b.out.printf("Tracing block cache accesses to: [%s]\n", f.BlockCacheTraceFile)
	return nil
}

// newTrace makes a trace file.
func (b *benchmark) newTrace(name string) (rocksdb.TraceWriter, error) {
	if b.db.db == nil {
		return nil, rocksdb.NotSupported("traces of several databases")
	}
	return engine.NewFileTraceWriter(b.tool.sysEnv, nil, name)
}

// endTraces ends what startTraces began; last is the last benchmark.
func (b *benchmark) endTraces(last string) {
	if b.flags.TraceFile != "" && last != "replay" && b.db.db != nil {
		if err := b.db.db.EndTrace(); err != nil {
			b.out.errf("Encountered an error ending the trace, %v\n", err)
		}
	}
	if b.flags.BlockCacheTraceFile != "" && b.db.db != nil {
		if err := b.db.db.EndBlockCacheTrace(); err != nil {
			b.out.errf("Encountered an error ending the block cache tracing, %v\n", err)
		}
	}
}

// replay does the operations of --trace_file. As upstream, what goes wrong with them
// does not end the program.
func (b *benchmark) replay(t *threadState) error {
	if b.db.db == nil {
		return nil
	}
	r, err := engine.NewFileTraceReader(b.tool.sysEnv, nil, b.flags.TraceFile)
	if err != nil {
		b.out.errf("Encountered an error creating a TraceReader from the trace file. Error: %v\n", err)
		return &fatalError{err, "Replay: create TraceReader failed"}
	}
	families := b.db.cfs
	if len(families) == 0 {
		families = []*ColumnFamily{b.db.db.ColumnFamily}
	}
	replayer := b.db.db.NewDefaultReplayer(families, r)
	defer replayer.Close() //nolint:errcheck // it was read only
	if err := replayer.Prepare(); err != nil {
		b.out.errf("Prepare for replay failed. Error: %v\n", err)
	}
	o := engine.ReplayOptions{NumThreads: uint32(max(b.flags.TraceReplayThreads, 0)), FastForward: b.flags.TraceReplayFastForward}
	if err := replayer.Replay(o, nil); err != nil {
		b.out.errf("Replay failed. Error: %v\n", err)
		return nil
	}
	b.out.printf("Replay completed from trace_file: %s\n", b.flags.TraceFile)
	return nil
}

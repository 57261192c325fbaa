// Port of the traces of tools/db_bench_tool.cc.

package main

import (
	"errors"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// startTraces begins the traces that flags ask for. A benchmark that begins while
// the one before is still traced is refused; one with a database of its own is not.
func (b *benchmark) startTraces() error {
	f := b.flags
	if f.BlockCacheTraceFile == "" {
		return nil
	}
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

// endTraces ends what startTraces began.
func (b *benchmark) endTraces() {
	if b.flags.BlockCacheTraceFile != "" && b.db.db != nil {
		if err := b.db.db.EndBlockCacheTrace(); err != nil {
			b.out.errf("Encountered an error ending the block cache tracing, %v\n", err)
		}
	}
}

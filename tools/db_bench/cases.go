// Port of the names of Benchmark::Run of tools/db_bench_tool.cc.

package main

import (
	"strings"
	"sync/atomic"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// benchmarkCase is what a benchmark's name stands for. Without a method there
// is nothing to measure: find did it all.
type benchmarkCase struct {
	method  benchmarkFunc
	fresh   bool // wants an empty database
	threads int
}

// notBuilt are upstream's benchmarks that this program does not have yet.
const notBuilt = " fillseqdeterministic filluniquerandomdeterministic readrandomcoroutine multireadrandomcoroutine" +
	" randomtransaction backup restore openandcompact "

// find looks a benchmark up and does what belongs to its name alone.
func (b *benchmark) find(name string, c *benchmarkCase) error {
	if b.findFill(name, c) || b.findRead(name, c) {
		return nil
	}
	if ok, err := b.findMeta(name, c); ok || err != nil {
		return err
	}
	if strings.Contains(notBuilt, " "+name+" ") {
		if name == "fillseqdeterministic" || name == "filluniquerandomdeterministic" {
			if !b.flags.DisableAutoCompactions {
				b.out.errf("Please disable_auto_compactions in FillDeterministic benchmark\n")
				return exitCode(1)
			}
		}
		b.out.errf("db_bench: benchmark '%s' is not supported yet\n", name)
		return exitCode(1)
	}
	b.out.errf("unknown benchmark '%s'\n", name)
	return exitCode(1)
}

// findFill knows the benchmarks that write.
func (b *benchmark) findFill(name string, c *benchmarkCase) bool {
	fill := func(mode writeMode) {
		c.method = func(t *threadState) error { return b.doWrite(t, mode, b.writes) }
	}
	switch name {
	case "fillseq":
		c.fresh = true
		fill(writeSequential)
	case "fillbatch":
		c.fresh = true
		b.entriesPerBatch = 1000
		fill(writeSequential)
	case "fillrandom":
		c.fresh = true
		fill(writeRandom)
	case "filluniquerandom", "fillanddeleteuniquerandom":
		c.fresh = true
		if c.threads > 1 {
			b.out.errf("filluniquerandom and fillanddeleteuniquerandom multithreaded not supported, use 1 thread")
			c.threads = 1
		}
		fill(writeUniqueRandom)
	case "overwrite":
		fill(writeRandom)
	case "fillsync":
		c.fresh = true
		b.num /= 1000
		b.writeOptions.Sync = true
		fill(writeRandom)
	case "fill100K":
		c.fresh = true
		b.num /= 1000
		b.valueSize = 100 * 1000
		fill(writeRandom)
	case "fillseekseq":
		c.method = b.writeSeqSeekSeq
	case "deleteseq":
		c.method = func(t *threadState) error { return b.doDelete(t, true) }
	case "deleterandom":
		c.method = func(t *threadState) error { return b.doDelete(t, false) }
	case "updaterandom":
		c.method = b.updateRandom
	case "xorupdaterandom":
		c.method = b.xorUpdateRandom
	case "appendrandom":
		c.method = b.appendRandom
	case "readrandomwriterandom":
		c.method = b.readRandomWriteRandom
	case "randomwithverify":
		c.method = b.randomWithVerify
	case "randomreplacekeys":
		c.fresh = true
		c.method = b.randomReplaceKeys
	case "mixgraph":
		c.method = b.mixGraph
	case "timeseries":
		c.fresh = true
		c.method = b.timeSeries
		b.startTimeSeries()
	default:
		return false
	}
	return true
}

// findRead knows the benchmarks that mostly read.
func (b *benchmark) findRead(name string, c *benchmarkCase) bool {
	withWriter := func(m benchmarkFunc, op operationType) {
		c.threads++
		c.method = func(t *threadState) error {
			if t.tid > 0 {
				return m(t)
			}
			return b.bgWriter(t, op)
		}
	}
	switch name {
	case "readseq":
		c.method = b.readSequential
	case "readtocache":
		c.method = b.readSequential
		c.threads = 1
		b.reads = b.num
	case "readreverse":
		c.method = b.readReverse
	case "readrandom":
		if b.flags.MultireadStride != 0 {
			b.printEntriesPerBatch()
		}
		c.method = b.readRandom
	case "readrandomoperands":
		c.method = b.readRandomOperands
	case "getmergeoperands":
		c.method = b.getMergeOperands
	case "readrandomfast":
		c.method = b.readRandomFast
	case "readrandomsmall":
		b.reads /= 1000
		c.method = b.readRandom
	case "readmissing":
		b.keys.keySize++
		c.method = b.readRandom
	case "multireadrandom":
		b.printEntriesPerBatch()
		c.method = b.multiReadRandom
	case "readrandomentity":
		c.method = b.readRandomEntity
	case "multireadentity":
		b.printEntriesPerBatch()
		c.method = b.multiReadEntity
	case "multireadwhilewriting":
		b.printEntriesPerBatch()
		withWriter(b.multiReadRandom, opWrite)
	case "approximatesizerandom":
		b.printEntriesPerBatch()
		c.method = b.approximateSizeRandom
	case "approximatememtablestats":
		c.method = b.approximateMemtableStats
	case "multiscan":
		b.printMultiScan()
		c.method = b.multiScan
	case "multiscanrandom":
		b.printMultiScanRandom()
		c.method = b.multiScanRandom
	case "newiterator":
		c.method = b.iteratorCreation
	case "newiteratorwhilewriting":
		withWriter(b.iteratorCreation, opWrite)
	case "seekrandom":
		c.method = b.seekRandom
	case "seekrandomwhilewriting":
		withWriter(b.seekRandom, opWrite)
	case "seekrandomwhilemerging":
		withWriter(b.seekRandom, opMerge)
	case "readwhilewriting":
		withWriter(b.readRandom, opWrite)
	case "readwhilemerging":
		withWriter(b.readRandom, opMerge)
	case "readwhilescanning":
		c.threads++
		c.method = func(t *threadState) error {
			if t.tid > 0 {
				return b.readRandom(t)
			}
			return b.bgScan(t)
		}
	default:
		return false
	}
	return true
}

func (b *benchmark) printEntriesPerBatch() {
	b.out.errf("entries_per_batch = %d\n", b.entriesPerBatch)
}

// findMeta knows the rest: merges, which need an operator, what runs without
// the database, and what is not measured.
func (b *benchmark) findMeta(name string, c *benchmarkCase) (ok bool, err error) {
	switch name {
	case "mergerandom", "readrandommergerandom":
		if b.flags.MergeOperator == "" {
			b.out.printf("%-12s : skipped (--merge_operator is unknown)\n", name)
			return true, exitCode(1)
		}
		c.method = b.mergeRandom
		if name == "readrandommergerandom" {
			c.method = b.readRandomMergeRandom
		}
	case "readtorowcache":
		if !b.flags.UseExistingKeys || b.flags.RowCacheSize == 0 {
			b.out.errf("Please set use_existing_keys to true and specify a row cache size in readtorowcache benchmark\n")
			return true, exitCode(1)
		}
		c.method = b.readToRowCache
	case "crc32c":
		c.method = checksumBenchmark(opCrc, crc32cOf)
	case "xxhash":
		c.method = checksumBenchmark(opHash, xxhash32Of)
	case "xxhash64":
		c.method = checksumBenchmark(opHash, xxhash64Of)
	case "xxh3":
		c.method = checksumBenchmark(opHash, xxh3Of)
	case "acquireload":
		c.method = acquireLoad
	case "compress":
		c.method = b.compress
	case "compressreject":
		c.method = b.compressReject
	case "uncompress":
		c.method = b.uncompress
	case "compact":
		c.method = b.compact
	case "ingestexternalfile":
		c.method, c.threads = b.ingestExternalFile, 1
	case "fillembeddedentity", "fillembeddedblob":
		c.fresh, c.threads = true, 1
		c.method = func(t *threadState) error { return b.fillEmbedded(t, name == "fillembeddedentity") }
	case "replay":
		if c.threads > 1 {
			b.out.errf("Multi-threaded replay is not yet supported\n")
			return true, exitCode(1)
		}
		if b.flags.TraceFile == "" {
			b.out.errf("Please set --trace_file to be replayed from\n")
			return true, exitCode(1)
		}
		c.method = b.replay
	case "verifychecksum":
		c.method = b.verifyChecksum
	case "verifyfilechecksums":
		c.method = b.verifyFileChecksums
	case "compact0":
		return true, b.compactLevel(0)
	case "compact1":
		return true, b.compactLevel(1)
	case "compactall":
		return true, b.compactAll()
	case "waitforcompaction":
		return true, b.waitForCompaction()
	case "flush":
		return true, b.flush()
	case "verify":
		return true, b.verifyDBFromDB(b.flags.TruthDB)
	case "resetstats":
		return true, b.resetStats()
	case "cache_report_problems":
		// An LRUCache has none to report.
	case "block_cache_entry_stats":
		return true, b.printStats("rocksdb.block-cache-entry-stats")
	case "stats":
		if err := b.printStats("rocksdb.stats"); err != nil {
			return true, err
		}
		return true, b.printStalls()
	case "stats_history":
		return true, b.printStatsHistory()
	case "levelstats":
		return true, b.printStats("rocksdb.levelstats")
	case "sstables":
		return true, b.printStats("rocksdb.sstables")
	case "memstats":
		return true, b.printStatsOf("rocksdb.num-immutable-mem-table", "rocksdb.cur-size-active-mem-table",
			"rocksdb.cur-size-all-mem-tables", "rocksdb.size-all-mem-tables",
			"rocksdb.num-entries-active-mem-table", "rocksdb.num-entries-imm-mem-tables")
	default:
		return false, nil
	}
	return true, nil
}

// errorHandlerListener remembers that the engine recovered from an error.
type errorHandlerListener struct {
	rocksdb.EventListenerBase
	recovered atomic.Bool
}

// Name is upstream's.
func (*errorHandlerListener) Name() string { return "ErrorHandlerListener" }

// OnErrorRecoveryCompleted notes it.
func (l *errorHandlerListener) OnErrorRecoveryCompleted(error) { l.recovered.Store(true) }

// waitForRecovery tells, once, whether there was a recovery. Upstream means to
// wait ten minutes, but gives that as an absolute time, which is long past.
func (l *errorHandlerListener) waitForRecovery() bool { return l.recovered.Swap(false) }

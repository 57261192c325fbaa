// Port of Benchmark::PrintHeader, PrintWarnings and PrintEnvironment of
// tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

func (b *benchmark) printHeader() error {
	f, out := b.flags, b.out
	b.printEnvironment()
	out.printf("Keys:       %d bytes each (+ %d bytes user-defined timestamp)\n", f.KeySize, f.UserTimestampSize)
	avg := int64(f.ValueSize)
	afterwards := func() int { return int(float64(avg)*f.CompressionRatio + 0.5) }
	if b.tool.valueDistribution == distributionFixed {
		out.printf("Values:     %d bytes each (%d bytes after compression)\n", avg, afterwards())
	} else {
		avg = (int64(f.ValueSizeMin) + int64(f.ValueSizeMax)) / 2
		out.printf("Values:     %d avg bytes each (%d bytes after compression)\n", avg, afterwards())
		out.printf("Values Distribution: %s (min: %d, max: %d)\n", f.ValueSizeDistributionType, f.ValueSizeMin, f.ValueSizeMax)
	}
	out.printf("Entries:    %d\n", uint64(b.num))
	out.printf("Prefix:    %d bytes\n", f.PrefixSize)
	out.printf("Keys per prefix:    %d\n", uint64(b.keys.keysPerPrefix))
	out.printf("RawSize:    %.1f MB (estimated)\n", float64((int64(f.KeySize)+avg)*b.num)/1048576.0)
	out.printf("FileSize:   %.1f MB (estimated)\n",
		(float64(f.KeySize)+float64(avg)*f.CompressionRatio)*float64(b.num)/1048576.0)
	out.printf("Write rate: %d bytes/second\n", f.BenchmarkWriteRateLimit)
	out.printf("Read rate: %d ops/second\n", f.BenchmarkReadRateLimit)
	if f.EnableNUMA {
		out.errf("Running in NUMA enabled mode.\nNUMA is not defined in the system.\n")
		return exitCode(1)
	}
	name := compression.CompressionTypeToString(b.tool.compressionType)
	if b.tool.compressionManager != nil {
		out.printf("Compression manager: %s\n", f.CompressionManager)
		name = "zstd" // upstream says so whatever the type is
	}
	out.printf("Compression: %s\n", name)
	out.printf("Compression sampling rate: %d\n", f.SampleForCompression)
	rep := "SkipListFactory"
	if m := b.openOptions.MemtableFactory; m != nil {
		rep = m.ID()
	}
	out.printf("Memtablerep: %s\n", rep)
	out.printf("Perf Level: %d\n", f.PerfLevel)
	b.printWarnings(name)
	out.printf("------------------------------------------------\n")
	return nil
}

func (b *benchmark) printWarnings(name string) {
	if invariants.Enabled {
		b.out.printf("WARNING: Assertions are enabled; benchmarks unnecessarily slow\n")
	}
	if b.tool.compressionType == rocksdb.NoCompression {
		return
	}
	c := b.compressor()
	if c == nil {
		b.out.printf("WARNING: %s compression is not available\n", name)
		return
	}
	input := bytes.Repeat([]byte{'y'}, int(max(b.flags.BlockSize, 0)))
	_, actual, err := c.CompressBlock(input, make([]byte, len(input)), nil)
	switch {
	case err != nil:
		b.out.printf("WARNING: compression test run failure: %v\n", err)
	case actual == rocksdb.NoCompression:
		b.out.printf("WARNING: %s compression is not effective or declined\n", name)
	case actual != b.tool.compressionType:
		b.out.printf("WARNING: using %s compression in place of %s (unsupported?)\n",
			compression.CompressionTypeToString(actual), name)
	}
}

// compressor makes a compressor of --compression_type; nil when there is none.
func (b *benchmark) compressor() rocksdb.Compressor {
	opts := rocksdb.DefaultCompressionOptions()
	opts.Level = int(b.flags.CompressionLevel)
	t := b.tool.compressionType
	c := compression.GetBuiltinV2CompressionManager().GetCompressor(&opts, t)
	if c == nil || compression.CanonicalCompressionType(c.GetPreferredCompressionType()) != compression.CanonicalCompressionType(t) {
		return nil
	}
	return c
}

func (b *benchmark) printEnvironment() {
	b.out.errf("RocksDB:    version %s\n", rocksdb.GetRocksVersionAsString(true))
	b.out.errf("Date:       %s\n", time.Now().Format(time.ANSIC))
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		b.out.errf("CPU:        %d * %s\n", runtime.NumCPU(), runtime.GOARCH)
		return
	}
	cpus, model, cache := 0, "", ""
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "model name":
			cpus++
			model = strings.TrimSpace(value)
		case "cache size":
			cache = strings.TrimSpace(value)
		}
	}
	b.out.errf("CPU:        %d * %s\n", cpus, model)
	b.out.errf("CPUCache:   %s\n", cache)
}

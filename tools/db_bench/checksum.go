// Port of the benchmarks without a database of tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"fmt"
	"sync/atomic"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

func crc32cOf(data []byte) uint32   { return util.Crc32cValue(data) }
func xxhash32Of(data []byte) uint32 { return util.ComputeXXH32(data) }
func xxhash64Of(data []byte) uint32 { return uint32(util.ComputeXXH64(data)) }
func xxh3Of(data []byte) uint32     { return uint32(util.ComputeXXH3(data)) }

// checksumBenchmark runs fn over 5 GB of blocks.
func checksumBenchmark(op operationType, fn func([]byte) uint32) benchmarkFunc {
	return func(t *threadState) error {
		size := int64(t.stats.env.flags.BlockSize)
		data := bytes.Repeat([]byte{'x'}, int(size))
		total, val := int64(0), uint32(0)
		for total < 5000*1048576 {
			val += fn(data)
			t.stats.finishedOps(nil, 1, op)
			total += size
		}
		t.stats.env.out.errf("... val=0x%x\r", val)
		t.stats.addBytes(total)
		t.stats.addMessage(fmt.Sprintf("(%d per op)", size))
		return nil
	}
}

func acquireLoad(t *threadState) error {
	var target int
	var p atomic.Pointer[int]
	p.Store(&target)
	t.stats.addMessage("(each op is 1000 loads)")
	var last *int
	for range 100000 {
		for range 1000 {
			last = p.Load()
		}
		t.stats.finishedOps(nil, 1, opOthers)
	}
	if last != &target {
		return t.failed("acquireload", rocksdb.Corruption("a load gave another pointer"))
	}
	return nil
}

// compressLoop compresses one block over and over, 3 GB of it, into dst.
func (b *benchmark) compressLoop(t *threadState, dst func(input []byte) []byte, accept func(actual rocksdb.CompressionType) error) (produced, total int64, input []byte, err error) {
	input = b.newGenerator().generateN(int(b.flags.BlockSize))
	c := b.compressor()
	if c == nil {
		t.stats.addMessage("(compression type not supported)")
		return 0, 0, input, nil
	}
	area := c.ObtainWorkingArea()
	defer c.ReleaseWorkingArea(area)
	out := dst(input)
	for total < 3<<30 && err == nil {
		var n int
		var actual rocksdb.CompressionType
		if n, actual, err = c.CompressBlock(input, out, area); err == nil {
			err = accept(actual)
		}
		if err != nil {
			t.stats.addMessage(fmt.Sprintf("(compression failure: %v)", err))
			return produced, total, input, err
		}
		produced += int64(n)
		total += int64(len(input))
		t.stats.finishedOps(nil, 1, opCompress)
	}
	t.stats.addBytes(total)
	return produced, total, input, nil
}

func (b *benchmark) compress(t *threadState) error {
	produced, total, _, err := b.compressLoop(t,
		func(input []byte) []byte { return make([]byte, len(input)) },
		func(actual rocksdb.CompressionType) error {
			if actual == rocksdb.NoCompression {
				return rocksdb.Aborted("Unable to compress smaller than input")
			}
			return nil
		})
	if err == nil && total > 0 {
		t.stats.addMessage(fmt.Sprintf("(output: %.1f%%)", float64(produced)*100/float64(total)))
	}
	return nil
}

// compressReject gives the compressor too little room: a tenth of the input
// less than it is expected to need.
func (b *benchmark) compressReject(t *threadState) error {
	room := 0
	_, total, input, err := b.compressLoop(t,
		func(input []byte) []byte {
			room = max(1, int(max(0, b.flags.CompressionRatio-0.10)*float64(len(input))))
			return make([]byte, room)
		},
		func(actual rocksdb.CompressionType) error {
			if actual != rocksdb.NoCompression {
				return rocksdb.Aborted("Compression unexpectedly not rejected; try a smaller compression_ratio")
			}
			return nil
		})
	if err == nil && total > 0 {
		t.stats.addMessage(fmt.Sprintf("(rejected; output buffer %.1f%% of input)", float64(room)*100/float64(len(input))))
	}
	return nil
}

func (b *benchmark) uncompress(t *threadState) error {
	input := b.newGenerator().generateN(int(b.flags.BlockSize))
	c := b.compressor()
	if c == nil {
		t.stats.addMessage("(compression type not supported)")
		return nil
	}
	compressed := make([]byte, len(input))
	n, actual, err := c.CompressBlock(input, compressed, nil)
	if err != nil {
		t.stats.addMessage(fmt.Sprintf("(compression failure: %v)", err))
		return nil
	}
	if actual != b.tool.compressionType {
		t.stats.addMessage("(failed to compress smaller than input)")
		return nil
	}
	d := compression.GetBuiltinV2CompressionManager().GetDecompressorOptimizeFor(actual)
	args := rocksdb.DecompressArgs{WorkingArea: d.ObtainWorkingArea(actual)}
	defer d.ReleaseWorkingArea(args.WorkingArea)
	var out []byte
	for total := int64(0); total < 20<<30; {
		args.CompressionType, args.CompressedData = actual, compressed[:n]
		if err = d.ExtractUncompressedSize(&args); err == nil {
			if uint64(cap(out)) < args.UncompressedSize {
				out = make([]byte, args.UncompressedSize)
			}
			err = d.DecompressBlock(&args, out[:args.UncompressedSize])
		}
		if err != nil {
			t.stats.addMessage(fmt.Sprintf("(decompression failure: %v)", err))
			return nil
		}
		total += int64(len(input))
		t.stats.bytes = total
		t.stats.finishedOps(nil, 1, opUncompress)
	}
	return nil
}

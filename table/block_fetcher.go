// Port of table/block_fetcher.{h,cc}, table/block_fetcher_sync_and_async.h,
// ReadFooterFromFile and DecompressBlockData of table/format.cc, and VerifyBlockChecksum of
// table/block_based/reader_common.cc. Differs: no persistent cache and no
// asynchronous reads yet; a block that lies outside its file is a corruption
// before anything is read.

package table

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// PrefetchBuffer is what block reads ask first; *file.FilePrefetchBuffer is
// one.
type PrefetchBuffer interface {
	// TryReadFromCache gives n bytes at offset when the buffer has them, or
	// has read them ahead now; they are valid until its next use.
	TryReadFromCache(opts *rocksdb.IOOptions, r *file.RandomAccessFileReader, offset uint64, n int, forCompaction bool) (data []byte, ok bool, err error)
}

// BlockFetcher reads one block: from a prefetch buffer or the file, checks it,
// and decompresses it. It may be used again, which keeps its buffers; the
// fields up to BlockType have to be set.
type BlockFetcher struct {
	File           *file.RandomAccessFileReader
	PrefetchBuffer PrefetchBuffer // nil for none
	Footer         *format.Footer
	ReadOptions    *rocksdb.ReadOptions
	IOptions       *options.ImmutableOptions
	// FileSize bounds what is believed of Handle; 0 when not known.
	FileSize  uint64
	Handle    format.BlockHandle
	BlockType block.BlockType

	// DoUncompress gives the block uncompressed; otherwise it is given as it
	// is in the file. Decompressor is then needed for compressed blocks.
	DoUncompress bool
	// MaybeCompressed is false for kinds of blocks that never are.
	MaybeCompressed bool
	Decompressor    rocksdb.Decompressor
	// Memory gives the block's memory.
	Memory format.BlockMemory
	// Lease is the memory that what PrefetchBuffer has lies in; a block that is
	// not compressed then stays there. nil: it is copied.
	Lease         *format.Lease
	ForCompaction bool

	// CompressionType is that of the block read last.
	CompressionType rocksdb.CompressionType
	// KeepCompressed makes Compressed a copy of the block as it is in the file,
	// where it was compressed and has been decompressed.
	KeepCompressed bool
	Compressed     []byte

	opts    rocksdb.IOOptions
	args    rocksdb.DecompressArgs
	scratch []byte
	aligned file.AlignedBuf
}

var fetcherPool = sync.Pool{New: func() any { return new(BlockFetcher) }}

// GetBlockFetcher takes a fetcher, all of whose fields are zero, from a pool.
func GetBlockFetcher() *BlockFetcher { return fetcherPool.Get().(*BlockFetcher) }

// maxPooledScratch bounds what a pooled fetcher keeps, in bytes.
const maxPooledScratch = 256 * 1024

// PutBlockFetcher gives it back.
func PutBlockFetcher(f *BlockFetcher) {
	scratch := f.scratch
	if cap(scratch) > maxPooledScratch {
		scratch = nil
	}
	*f = BlockFetcher{scratch: scratch}
	fetcherPool.Put(f)
}

// GetBlockSizeWithTrailer is the size of the block in the file.
func (f *BlockFetcher) GetBlockSizeWithTrailer() int {
	return int(f.Handle.Size) + f.Footer.BlockTrailerSize
}

func (f *BlockFetcher) corruption(text string) *rocksdb.Status {
	return rocksdb.Corruption(text).InAt(f.File.FileName(), f.Handle.Offset)
}

// maxBlockSize is more than any writer makes.
const maxBlockSize = 1<<32 - 1

// ReadBlockContents reads the block. The contents are the caller's to free, or
// point into the file's mapping.
func (f *BlockFetcher) ReadBlockContents() (format.BlockContents, error) {
	trailer := uint64(f.Footer.BlockTrailerSize)
	if f.Handle.Size > maxBlockSize || f.FileSize > 0 && !f.Handle.FitsIn(f.FileSize, trailer) {
		return format.BlockContents{}, f.corruption("block handle " + f.Handle.ToString() + " lies outside the file")
	}
	if err := f.File.PrepareIOOptions(f.ReadOptions, &f.opts); err != nil {
		return format.BlockContents{}, err
	}
	data, from, contents, err := f.read()
	if rocksdb.IsCorruption(err) && f.canReconstruct() {
		contents.Free()
		data, from, contents, err = f.readAgain()
	}
	if err != nil {
		contents.Free()
		return format.BlockContents{}, err
	}
	size := int(f.Handle.Size)
	if f.DoUncompress && f.CompressionType != rocksdb.NoCompression {
		out, err := f.decompress(data[:size])
		if f.KeepCompressed && err == nil {
			f.Compressed = append([]byte(nil), data[:size]...)
		}
		contents.Free()
		return out, err
	}
	switch from {
	case fromAllocation:
		contents.Data = data[:size:size]
		return contents, nil
	case fromMapping:
		contents.Free()
		return format.BorrowBlock(data[:size:size]), nil
	}
	// As much as a read into it would have taken, trailer included, so that a
	// block's charge does not depend on how it was read.
	out, err := f.Memory.Allocate(size + int(f.Footer.BlockTrailerSize))
	if err == nil {
		out.Data = out.Data[:copy(out.Data[:size], data)]
	}
	return out, err
}

// readRaw gives the block with its trailer, unverified and as it is in the
// file. The contents are the caller's to free.
func (f *BlockFetcher) readRaw(reconstruct bool) (format.BlockContents, error) {
	trailer := uint64(f.Footer.BlockTrailerSize)
	if f.Handle.Size > maxBlockSize || f.FileSize > 0 && !f.Handle.FitsIn(f.FileSize, trailer) {
		return format.BlockContents{}, f.corruption("block handle " + f.Handle.ToString() + " lies outside the file")
	}
	if err := f.File.PrepareIOOptions(f.ReadOptions, &f.opts); err != nil {
		return format.BlockContents{}, err
	}
	f.opts.VerifyAndReconstructRead = reconstruct
	if reconstruct {
		f.PrefetchBuffer = nil
	}
	data, from, contents, err := f.read()
	if err != nil {
		contents.Free()
		return format.BlockContents{}, err
	}
	if from == fromAllocation {
		return contents, nil
	}
	contents.Free()
	out, err := f.Memory.Allocate(len(data))
	copy(out.Data, data)
	return out, err
}

func (f *BlockFetcher) canReconstruct() bool {
	return f.IOptions != nil && supportsReconstruction(f.IOptions.FS)
}

func supportsReconstruction(fs rocksdb.FileSystem) bool {
	return fs != nil && fs.SupportedOps()>>uint(rocksdb.VerifyAndReconstructRead)&1 != 0
}

// dataSource says whose the bytes of a block are.
type dataSource uint8

const (
	fromScratch    dataSource = iota // a buffer that is used again
	fromAllocation                   // the contents' own memory
	fromMapping                      // valid as long as the file is open
)

// read gets block and trailer and checks them.
// Upstream: BlockFetcher::ReadBlock.
func (f *BlockFetcher) read() (data []byte, from dataSource, contents format.BlockContents, err error) {
	n := f.GetBlockSizeWithTrailer()
	if f.PrefetchBuffer != nil {
		data, ok, err := f.PrefetchBuffer.TryReadFromCache(&f.opts, f.File, f.Handle.Offset, n, f.ForCompaction)
		if err != nil {
			return nil, 0, contents, err
		}
		if ok {
			if len(data) != n {
				return nil, 0, contents, f.truncated(n, len(data))
			}
			if err = f.processTrailer(data); err == nil && f.Lease != nil && f.CompressionType == rocksdb.NoCompression {
				return data, fromAllocation, f.Lease.Block(data), nil
			}
			return data, fromScratch, contents, err
		}
	}
	return f.readFile(n)
}

// readAgain is read after a corruption, from redundant copies.
func (f *BlockFetcher) readAgain() (data []byte, from dataSource, contents format.BlockContents, err error) {
	monitoring.RecordTick(f.stats(), rocksdb.FileReadCorruptionRetryCount, 1)
	f.opts.VerifyAndReconstructRead = true
	data, from, contents, err = f.readFile(f.GetBlockSizeWithTrailer())
	f.opts.VerifyAndReconstructRead = false
	if err == nil {
		monitoring.RecordTick(f.stats(), rocksdb.FileReadCorruptionRetrySuccessCount, 1)
	}
	return data, from, contents, err
}

func (f *BlockFetcher) truncated(want, got int) error {
	return rocksdb.Corruptionf("truncated block read from %s offset %d, expected %d bytes, got %d",
		f.File.FileName(), f.Handle.Offset, want, got)
}

func (f *BlockFetcher) stats() rocksdb.Statistics {
	if f.IOptions == nil {
		return nil
	}
	return f.IOptions.Stats
}

func (f *BlockFetcher) readFile(n int) (data []byte, from dataSource, contents format.BlockContents, err error) {
	var scratch []byte
	var aligned *file.AlignedBuf
	mmap := f.IOptions != nil && f.IOptions.AllowMmapReads
	switch {
	case f.File.UseDirectIO() && f.Memory.Provider != nil && !f.MaybeCompressed:
		return f.readIntoLease(n)
	case f.File.UseDirectIO():
		aligned = &f.aligned
	case f.DoUncompress && f.MaybeCompressed || mmap:
		// What is read will likely not be what is given.
		if cap(f.scratch) < n {
			f.scratch = make([]byte, n)
		}
		scratch = f.scratch[:n]
	default:
		if contents, err = f.Memory.Allocate(n); err != nil {
			return nil, from, contents, err
		}
		scratch, from = contents.Data, fromAllocation
	}
	data, err = f.timedRead(n, scratch, aligned)
	f.countRead(n)
	if err != nil {
		return nil, from, contents, err
	}
	if len(data) != n {
		return nil, from, contents, f.truncated(n, len(data))
	}
	if aligned == nil && n > 0 && &data[0] != &scratch[0] {
		from = fromMapping
	}
	return data, from, contents, f.processTrailer(data)
}

// readIntoLease is readFile for direct reads into the provider's memory.
func (f *BlockFetcher) readIntoLease(n int) (data []byte, from dataSource, contents format.BlockContents, err error) {
	var lease *format.Lease
	aligned := file.AlignedBuf{Alloc: LeaseAlloc(f.Memory.Provider, &lease)}
	data, err = f.timedRead(n, nil, &aligned)
	if lease == nil {
		return nil, fromAllocation, contents, err
	}
	defer lease.Release()
	f.countRead(n)
	contents = lease.Block(data)
	if err == nil && len(data) != n {
		err = f.truncated(n, len(data))
	}
	if err == nil {
		err = f.processTrailer(data)
	}
	return data, fromAllocation, contents, err
}

// LeaseAlloc is for AlignedBuf.Alloc: it borrows the memory of p, and leaves its
// lease in *l.
func LeaseAlloc(p rocksdb.ReadScopedBlockBufferProvider, l **format.Lease) func(size, alignment int) ([]byte, error) {
	return func(size, alignment int) (b []byte, err error) {
		if *l, err = format.NewLease(p, size, alignment); err != nil {
			return nil, err
		}
		return (*l).Bytes(), nil
	}
}

func (f *BlockFetcher) timedRead(n int, scratch []byte, aligned *file.AlignedBuf) ([]byte, error) {
	perf := f.ReadOptions.PerfContext
	if !perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		return f.File.Read(&f.opts, f.Handle.Offset, n, scratch, aligned)
	}
	clock := rocksdb.DefaultSystemClock()
	if f.IOptions != nil && f.IOptions.Clock != nil {
		clock = f.IOptions.Clock
	}
	var t, cpu monitoring.PerfStepTimer
	t.Start(&perf.BlockReadTime, clock)
	if perf.Enabled(rocksdb.EnableTimeAndCPUTimeExceptForMutex) {
		cpu.StartCPU(&perf.BlockReadCPUTime, clock)
	}
	data, err := f.File.Read(&f.opts, f.Handle.Offset, n, scratch, aligned)
	cpu.Stop()
	t.Stop()
	return data, err
}

func (f *BlockFetcher) countRead(n int) {
	perf := f.ReadOptions.PerfContext
	if !perf.CountEnabled() {
		return
	}
	bytes := uint64(n)
	perf.BlockReadCount++
	perf.BlockReadByte += bytes
	switch f.BlockType {
	case block.TypeData:
		perf.DataBlockReadByte += bytes
	case block.TypeFilter, block.TypeFilterPartitionIndex:
		perf.FilterBlockReadCount++
		perf.FilterBlockReadByte += bytes
	case block.TypeCompressionDictionary:
		perf.CompressionDictBlockReadCount++
		perf.CompressionDictBlockReadByte += bytes
	case block.TypeIndex:
		perf.IndexBlockReadCount++
		perf.IndexBlockReadByte += bytes
	default:
		perf.MetadataBlockReadByte += bytes
	}
}

// processTrailer checks a block with its trailer and notes its compression.
func (f *BlockFetcher) processTrailer(data []byte) error {
	f.CompressionType = rocksdb.NoCompression
	if f.Footer.BlockTrailerSize == 0 {
		return nil
	}
	if f.ReadOptions.VerifyChecksums {
		perf := f.ReadOptions.PerfContext
		var t monitoring.PerfStepTimer
		if perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
			t.Start(&perf.BlockChecksumTime, nil)
		}
		err := VerifyBlockChecksum(f.Footer, data, f.File.FileName(), f.Handle.Offset, f.BlockType)
		t.Stop()
		monitoring.RecordTick(f.stats(), rocksdb.BlockChecksumComputeCount, 1)
		if err != nil {
			monitoring.RecordTick(f.stats(), rocksdb.BlockChecksumMismatchCount, 1)
			return err
		}
	}
	f.CompressionType = GetBlockCompressionType(data)
	return nil
}

// GetBlockCompressionType reads the trailer of a block of a block-based table.
func GetBlockCompressionType(blockAndTrailer []byte) rocksdb.CompressionType {
	return rocksdb.CompressionType(blockAndTrailer[len(blockAndTrailer)-format.BlockTrailerSize])
}

// VerifyBlockChecksum checks a block of a block-based table, trailer included,
// that lies at offset of a file.
func VerifyBlockChecksum(footer *format.Footer, blockAndTrailer []byte, fileName string, offset uint64, t block.BlockType) error {
	size := len(blockAndTrailer) - format.BlockTrailerSize
	if size < 0 {
		return rocksdb.Corruptionf("block of %d bytes has no trailer", len(blockAndTrailer)).InAt(fileName, offset)
	}
	stored := util.DecodeFixed32(blockAndTrailer[size+1:])
	computed := format.ComputeBuiltinChecksum(footer.ChecksumType, blockAndTrailer[:size+1])
	modifier := format.ChecksumModifierForContext(footer.BaseContextChecksum, offset)
	stored -= modifier
	if stored == computed {
		return nil
	}
	note := ""
	if modifier != 0 {
		note = "(context removed)"
	}
	if footer.ChecksumType == rocksdb.CRC32c { // people compare with plain CRCs
		stored, computed = util.Crc32cUnmask(stored), util.Crc32cUnmask(computed)
	}
	return rocksdb.Corruptionf("block checksum mismatch: stored%s = %d, computed = %d, type = %d  in %s offset %d size %d, block_type = %s",
		note, stored, computed, footer.ChecksumType, fileName, offset, size, t)
}

// maxDecompressionRatio is beyond what any of the algorithms reaches (zstd
// stores 128 KiB of one byte in 4 bytes).
const maxDecompressionRatio = 40000

func (f *BlockFetcher) decompress(compressed []byte) (format.BlockContents, error) {
	perf := f.ReadOptions.PerfContext
	var t monitoring.PerfStepTimer
	if perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		t.Start(&perf.BlockDecompressTime, nil)
	}
	f.args = rocksdb.DecompressArgs{CompressionType: f.CompressionType, CompressedData: compressed}
	contents, err := DecompressBlockData(&f.args, f.Decompressor, f.stats(), perf, f.Memory)
	t.Stop()
	if err != nil {
		s := *rocksdb.AsStatus(err)
		err = s.InAt(f.File.FileName(), f.Handle.Offset)
	}
	return contents, err
}

// DecompressBlockData decompresses args' data into memory of mem.
func DecompressBlockData(args *rocksdb.DecompressArgs, d rocksdb.Decompressor, stats rocksdb.Statistics, perf *rocksdb.PerfContext, mem format.BlockMemory) (format.BlockContents, error) {
	if d == nil {
		return format.BlockContents{}, rocksdb.Corruptionf("block of compression type %d in a table without compression", args.CompressionType)
	}
	timed := stats != nil && stats.GetStatsLevel() > rocksdb.ExceptDetailedTimers
	start := uint64(0)
	if timed {
		start = rocksdb.DefaultSystemClock().NowNanos()
	}
	size := len(args.CompressedData)
	if err := d.ExtractUncompressedSize(args); err != nil {
		return format.BlockContents{}, err
	}
	if args.UncompressedSize > uint64(size)*maxDecompressionRatio || args.UncompressedSize > maxBlockSize {
		return format.BlockContents{}, rocksdb.Corruptionf("block of %d bytes claims to have %d bytes uncompressed", size, args.UncompressedSize)
	}
	contents, err := mem.Allocate(int(args.UncompressedSize))
	if err != nil {
		return format.BlockContents{}, err
	}
	if err := d.DecompressBlock(args, contents.Data); err != nil {
		contents.Free()
		return format.BlockContents{}, err
	}
	if timed {
		monitoring.RecordTimeToHistogram(stats, rocksdb.HistDecompressionTimesNanos, rocksdb.DefaultSystemClock().NowNanos()-start)
	}
	if stats != nil {
		stats.RecordTick(rocksdb.BytesDecompressedFrom, uint64(len(args.CompressedData)))
		stats.RecordTick(rocksdb.BytesDecompressedTo, args.UncompressedSize)
		stats.RecordTick(rocksdb.NumberBlockDecompressed, 1)
	}
	if perf.CountEnabled() {
		perf.BlockDecompressCount++
	}
	if syncpoint.Enabled {
		var err error
		syncpoint.ProcessArg("DecompressBlockData:TamperWithReturnValue", &err)
		syncpoint.ProcessArg("DecompressBlockData:TamperWithDecompressionOutput", &contents)
		if err != nil {
			contents.Free()
			return format.BlockContents{}, err
		}
	}
	return contents, nil
}

// ReadFooterFromFile reads and checks the footer of a table of expectedFileSize
// bytes. With enforceMagic other than 0, another magic number is a corruption.
func ReadFooterFromFile(opts *rocksdb.IOOptions, r *file.RandomAccessFileReader, fs rocksdb.FileSystem, prefetch PrefetchBuffer,
	expectedFileSize uint64, enforceMagic uint64, stats rocksdb.Statistics) (format.Footer, error) {
	return readFooterAgain(opts, r, fs, prefetch, expectedFileSize, enforceMagic, stats, (*format.Footer).DecodeFrom)
}

// footerDecoder is Footer.DecodeFrom or Footer.DecodeForImport.
type footerDecoder func(f *format.Footer, input []byte, inputOffset, enforceMagic uint64) error

// readFooterAgain reads a footer, once more where the file system can
// reconstruct what was damaged.
func readFooterAgain(opts *rocksdb.IOOptions, r *file.RandomAccessFileReader, fs rocksdb.FileSystem, prefetch PrefetchBuffer,
	expectedFileSize uint64, enforceMagic uint64, stats rocksdb.Statistics, decode footerDecoder) (format.Footer, error) {
	footer, err := readFooter(opts, r, fs, prefetch, expectedFileSize, enforceMagic, decode)
	if !rocksdb.IsCorruption(err) || !supportsReconstruction(fs) {
		return footer, err
	}
	again := *opts
	again.VerifyAndReconstructRead = true
	footer, err = readFooter(&again, r, fs, nil, expectedFileSize, enforceMagic, decode)
	monitoring.RecordTick(stats, rocksdb.FileReadCorruptionRetryCount, 1)
	if err == nil {
		monitoring.RecordTick(stats, rocksdb.FileReadCorruptionRetrySuccessCount, 1)
	}
	return footer, err
}

func readFooter(opts *rocksdb.IOOptions, r *file.RandomAccessFileReader, fs rocksdb.FileSystem, prefetch PrefetchBuffer, expectedFileSize, enforceMagic uint64,
	decode footerDecoder) (footer format.Footer, err error) {
	name := r.FileName()
	size, err := r.File().GetFileSize()
	if err != nil && fs != nil { // an open file may not know it
		if size, err = fs.GetFileSize(name, nil); err != nil {
			return footer, err
		}
	}
	if err == nil && size != expectedFileSize {
		return footer, rocksdb.Corruptionf("Sst file size mismatch between expected %d and file system %d sstable: %s", expectedFileSize, size, name)
	}
	if expectedFileSize < format.FooterMinEncodedLength {
		return footer, rocksdb.Corruptionf("file is too short (%d bytes) to be an sstable: %s", expectedFileSize, name)
	}
	n := int(min(expectedFileSize, format.FooterMaxEncodedLength))
	offset := expectedFileSize - uint64(n)
	var input []byte
	ok := false
	if prefetch != nil {
		if input, ok, err = prefetch.TryReadFromCache(opts, r, offset, n, false); err != nil {
			return footer, err
		}
	}
	if !ok {
		var aligned *file.AlignedBuf
		var scratch []byte
		if r.UseDirectIO() {
			aligned = new(file.AlignedBuf)
		} else {
			scratch = make([]byte, n)
		}
		if input, err = r.Read(opts, offset, n, scratch, aligned); err != nil {
			return footer, err
		}
	}
	syncpoint.ProcessArg("ReadFooterFromFileInternal:0", input)
	if len(input) != n {
		return footer, rocksdb.Corruptionf("The number of bytes read for Footer input %d is smaller than the %d expected for file %s", len(input), n, name)
	}
	if err := decode(&footer, input, offset, enforceMagic); err != nil {
		return footer, rocksdb.AppendMessage(err, " in ", name)
	}
	return footer, nil
}

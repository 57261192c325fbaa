// Port of table/block_based/block_based_table_builder.cc: compressing blocks
// and writing them with their trailers.

package blockbased

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// builderCompression holds a builder's compressors. basic nil means that
// nothing is compressed.
type builderCompression struct {
	manager         rocksdb.CompressionManager
	explicit        bool // the manager was given in the options
	basic           rocksdb.Compressor
	data            rocksdb.Compressor // of data blocks; nil while buffered
	index           rocksdb.Compressor
	guidance        rocksdb.CompressionDictConfig
	verify          rocksdb.Decompressor // nil: no verification
	verifyData      rocksdb.Decompressor
	dataArea        any
	indexArea       any
	out             []byte // of blocks written without workers
	maxBytesPerKB   int
	parallelThreads uint32
	typesUsed       [256]atomic.Bool

	sampleOneIn    uint64
	fast, slow     rocksdb.Compressor // of samples
	sampledIn      uint64
	sampledSlow    uint64
	sampledFast    uint64
	compressible   atomic.Uint64
	uncompressible atomic.Uint64
	rejected       atomic.Uint64
	bypassed       atomic.Uint64
}

func (c *builderCompression) setData(d rocksdb.Compressor) {
	c.data = d
	c.dataArea = d.ObtainWorkingArea()
}

func (c *builderCompression) release() {
	if c.data != nil && c.dataArea != nil {
		c.data.ReleaseWorkingArea(c.dataArea)
		c.dataArea = nil
	}
	if c.index != nil && c.indexArea != nil {
		c.index.ReleaseWorkingArea(c.indexArea)
		c.indexArea = nil
	}
}

// specialized is upstream's MaybeCloneSpecialized.
func specialized(c rocksdb.Compressor, role rocksdb.CacheEntryRole, d rocksdb.CompressionDictConfig) (rocksdb.Compressor, error) {
	s, err := c.MaybeCloneSpecialized(role, d)
	if s == nil {
		s = c
	}
	return s, err
}

func (b *BlockBasedTableBuilder) initCompression(tbo *table.TableBuilderOptions, ctx *rocksdb.FilterBuildingContext) error {
	c := &b.comp
	opts := tbo.CompressionOpts
	c.manager, c.explicit = defaultCompressionManager(tbo.MOptions.CompressionManager)
	b.props.CompressionOptions = compression.CompressionOptionsToString(&opts) +
		"_type=" + strconv.Itoa(int(tbo.CompressionType)) + "; "
	if c.explicit {
		b.props.CompressionOptions += "_compression_manager=" + c.manager.Name() + "; "
	}
	c.maxBytesPerKB = min(1023, opts.MaxCompressedBytesPerKB)
	c.parallelThreads = opts.ParallelThreads
	c.basic = c.manager.GetCompressorForSST(ctx, &opts, tbo.CompressionType)
	if err := b.initCompressors(tbo); err != nil {
		return err
	}
	if b.opts.PartitionFilters && !b.opts.DecouplePartitionedFilters {
		c.parallelThreads = 1 // filter partitions end with index entries
	}
	if c.sampleOneIn = b.mopts.SampleForCompression; c.sampleOneIn > 0 {
		def := rocksdb.DefaultCompressionOptions()
		builtin := compression.GetBuiltinV2CompressionManager()
		c.fast = builtin.GetCompressor(&def, rocksdb.LZ4Compression)
		c.slow = builtin.GetCompressor(&def, rocksdb.ZSTD)
	}
	if format.FormatVersionUsesCompressionManagerName(b.opts.FormatVersion) {
		if c.basic != nil {
			b.props.CompressionName = c.manager.CompatibilityName()
		}
		b.props.CompressionName += ";"
	} else if c.manager.CompatibilityName() != compression.BuiltinCompatibilityName {
		return rocksdb.InvalidArgument("a custom compression manager needs format_version 7")
	}
	return nil
}

func (b *BlockBasedTableBuilder) initCompressors(tbo *table.TableBuilderOptions) error {
	c := &b.comp
	if c.basic == nil {
		return nil
	}
	disabled := rocksdb.CompressionDictConfig{Kind: rocksdb.DictDisabled}
	var err error
	if b.opts.EnableIndexCompression {
		if c.index, err = specialized(c.basic, rocksdb.CacheEntryRoleIndexBlock, disabled); err != nil {
			return err
		}
		c.indexArea = c.index.ObtainWorkingArea()
	}
	c.guidance = c.basic.GetDictGuidance(rocksdb.CacheEntryRoleDataBlock)
	var data rocksdb.Compressor
	switch {
	case c.guidance.Kind == rocksdb.DictSampling && c.guidance.MaxSampleBytes > 0:
		b.state = stateBuffered
		b.initBuffering(tbo)
	case c.guidance.Kind == rocksdb.DictPreDefined && len(c.guidance.DictData) > 0:
		data, err = specialized(c.basic, rocksdb.CacheEntryRoleDataBlock, c.guidance)
	default:
		data, err = specialized(c.basic, rocksdb.CacheEntryRoleDataBlock, disabled)
	}
	if err != nil {
		return err
	}
	if b.opts.VerifyCompression {
		c.verify = c.manager.GetDecompressorOptimizeFor(c.basic.GetPreferredCompressionType())
	}
	if data != nil {
		c.setData(data)
		c.verifyData = c.verify
		if dict := data.GetSerializedDict(); c.verify != nil && len(dict) > 0 {
			if c.verifyData, err = c.verify.MaybeCloneForDict(dict); err != nil {
				return err
			}
		}
	}
	if n := c.basic.GetRecommendedParallelThreads(); n > 0 {
		c.parallelThreads = n
	}
	return nil
}

func (b *BlockBasedTableBuilder) initBuffering(tbo *table.TableBuilderOptions) {
	limit, target := tbo.CompressionOpts.MaxDictBufferBytes, tbo.TargetFileSize
	if limit == 0 || target != 0 && target < limit {
		limit = target
	}
	b.buffered.limit = limit
	charged := rocksdb.CacheEntryRoleFallback
	role := rocksdb.CacheEntryRoleCompressionDictionaryBuildingBuffer
	if o, ok := b.opts.CacheUsageOptions.OptionsOverrides[role]; ok {
		charged = o.Charged
	}
	if b.opts.BlockCache != nil && charged != rocksdb.CacheEntryRoleDisabled {
		b.buffered.reservation = cache.NewCacheReservationManager(b.opts.BlockCache, role, false)
	}
}

// sampleCompression compresses one block in so many two ways, for the
// properties that tell what compression would give.
func (b *BlockBasedTableBuilder) sampleCompression(raw []byte) {
	c := &b.comp
	var slow, fast uint64
	if c.sampleOneIn > 0 && rand.Uint64N(c.sampleOneIn) == 0 {
		size := func(k rocksdb.Compressor) uint64 {
			n, t, err := k.CompressBlock(raw, make([]byte, len(raw)), nil)
			if err != nil || t == rocksdb.NoCompression {
				n = len(raw)
			}
			return uint64(n)
		}
		slow, fast = size(c.slow), size(c.fast)
		c.sampledIn += uint64(len(raw))
		c.sampledSlow += slow
		c.sampledFast += fast
	}
	for _, k := range b.collectors {
		k.BlockAdd(uint64(len(raw)), fast, slow)
	}
}

// startCompressionTimer is the time where it is to be measured, else 0.
func (b *BlockBasedTableBuilder) startCompressionTimer() uint64 {
	if stats := b.ioptions.Stats; stats != nil && stats.GetStatsLevel() > rocksdb.ExceptDetailedTimers {
		return rocksdb.DefaultSystemClock().NowNanos()
	}
	return 0
}

// compressAndVerify compresses raw into *out where that pays. It may be called
// by several goroutines, each with areas of its own.
func (b *BlockBasedTableBuilder) compressAndVerify(raw []byte, isData bool, area any, out *[]byte) ([]byte, rocksdb.CompressionType, error) {
	c := &b.comp
	k, verify := c.index, c.verify
	if isData {
		k, verify = c.data, c.verifyData
	}
	t, n := rocksdb.NoCompression, 0
	var err error
	if len(raw) < compressionSizeLimit {
		if k != nil {
			limit := int(uint64(c.maxBytesPerKB) * uint64(len(raw)) >> 10)
			if cap(*out) < limit {
				*out = make([]byte, limit)
			}
			start := b.startCompressionTimer()
			n, t, err = k.CompressBlock(raw, (*out)[:limit], area)
			syncpoint.ProcessArg("BlockBasedTableBuilder::CompressAndVerifyBlock:TamperWithResultType", &t)
			if err == nil && t != rocksdb.NoCompression && verify != nil {
				if err = b.verifyCompressed(verify, t, (*out)[:n], raw); err != nil {
					logging.Error(b.ioptions.Logger, "%v", err)
				}
			}
			if start > 0 {
				monitoring.RecordTimeToHistogram(b.ioptions.Stats, rocksdb.HistCompressionTimesNanos, rocksdb.DefaultSystemClock().NowNanos()-start)
			}
		}
		if isData {
			c.compressible.Add(uint64(len(raw)))
			c.uncompressible.Add(format.BlockTrailerSize)
		}
	} else if isData {
		c.uncompressible.Add(uint64(len(raw)) + format.BlockTrailerSize)
	}
	if err != nil {
		return nil, t, err
	}
	stats := b.ioptions.Stats
	if t != rocksdb.NoCompression {
		monitoring.RecordTick(stats, rocksdb.NumberBlockCompressed, 1)
		monitoring.RecordTick(stats, rocksdb.BytesCompressedFrom, uint64(len(raw)))
		monitoring.RecordTick(stats, rocksdb.BytesCompressedTo, uint64(n))
		return (*out)[:n], t, nil
	}
	if n > 0 {
		monitoring.RecordTick(stats, rocksdb.NumberBlockCompressionRejected, 1)
		monitoring.RecordTick(stats, rocksdb.BytesCompressionRejected, uint64(len(raw)))
		if isData {
			c.rejected.Add(1)
		}
	} else {
		monitoring.RecordTick(stats, rocksdb.NumberBlockCompressionBypassed, 1)
		monitoring.RecordTick(stats, rocksdb.BytesCompressionBypassed, uint64(len(raw)))
		if isData {
			c.bypassed.Add(1)
		}
	}
	return raw, t, nil
}

func (b *BlockBasedTableBuilder) verifyCompressed(d rocksdb.Decompressor, t rocksdb.CompressionType, compressed, raw []byte) error {
	args := rocksdb.DecompressArgs{CompressionType: t, CompressedData: compressed}
	contents, err := table.DecompressBlockData(&args, d, b.ioptions.Stats, nil, format.BlockMemory{})
	if err != nil {
		return rocksdb.Corruption("Could not decompress", rocksdb.AsStatus(err).Message).Wrap(err)
	}
	defer contents.Free()
	if !bytes.Equal(contents.Data, raw) {
		return rocksdb.Corruption("Decompressed block did not match pre-compression block")
	}
	return nil
}

// writeBlock compresses a data or index block and writes it.
func (b *BlockBasedTableBuilder) writeBlock(raw []byte, t block.BlockType) (handle format.BlockHandle, skipDelta bool) {
	isData := t == block.TypeData
	area := b.comp.indexArea
	if isData {
		area = b.comp.dataArea
	}
	contents, ct, err := b.compressAndVerify(raw, isData, area, &b.comp.out)
	if ct != rocksdb.NoCompression {
		syncpoint.ProcessArg("BlockBasedTableBuilder::WriteBlock:TamperWithCompressedData", &contents)
	}
	if err != nil {
		b.setErr(err)
		return handle, false
	}
	handle, skipDelta = b.writeMaybeCompressed(contents, ct, t, raw)
	if isData && !b.failed.Load() {
		b.props.DataSize = b.offset.Load()
		b.props.UncompressedDataSize += uint64(len(raw))
	}
	return handle, skipDelta
}

// writeRaw writes a block that is never compressed.
func (b *BlockBasedTableBuilder) writeRaw(raw []byte, t block.BlockType) format.BlockHandle {
	handle, _ := b.writeMaybeCompressed(raw, rocksdb.NoCompression, t, raw)
	return handle
}

// writeMaybeCompressed appends a block and its trailer:
//
//	compression type (1 byte)
//	checksum of block and type, plus the context modifier (fixed32)
//
// skipDelta tells that padding came before it, so that its handle does not
// follow from the one before.
func (b *BlockBasedTableBuilder) writeMaybeCompressed(contents []byte, ct rocksdb.CompressionType, t block.BlockType, raw []byte) (handle format.BlockHandle, skipDelta bool) {
	if b.failed.Load() {
		return handle, false
	}
	isData := t == block.TypeData
	if isData && b.opts.SuperBlockAlignmentSize != 0 {
		skipDelta = b.padToSuperBlock(len(contents))
	}
	timer := startTimer(b.ioptions, rocksdb.HistWriteRawBlockMicros)
	defer timer.Stop()
	offset := b.offset.Load()
	handle = format.BlockHandle{Offset: offset, Size: uint64(len(contents))}
	if err := b.file.Append(&b.ioOpts, contents, 0); err != nil {
		b.setErr(err)
		return handle, skipDelta
	}
	b.comp.typesUsed[ct].Store(true)
	if t == block.TypeFilter && b.filter != nil {
		if err := b.filter.MaybePostVerifyFilter(contents); err != nil {
			b.setErr(err)
			return handle, skipDelta
		}
	}
	var trailer [format.BlockTrailerSize]byte
	trailer[0] = byte(ct)
	sum := format.ComputeBuiltinChecksumWithLastByte(b.opts.Checksum, contents, byte(ct)) +
		format.ChecksumModifierForContext(b.contextChecksum, offset)
	binary.LittleEndian.PutUint32(trailer[1:], sum)
	syncpoint.ProcessArg("BlockBasedTableBuilder::WriteMaybeCompressedBlock:TamperWithChecksum", trailer[1:])
	if err := b.file.Append(&b.ioOpts, trailer[:], 0); err != nil {
		b.setErr(err)
		return handle, skipDelta
	}
	if b.warm.enabled {
		if err := b.warmCache(raw, handle, t); err != nil {
			b.setErr(err)
			return handle, skipDelta
		}
	}
	b.preCompression += uint64(len(raw)) + format.BlockTrailerSize
	b.offset.Add(uint64(len(contents)) + format.BlockTrailerSize)
	if b.opts.BlockAlign && isData {
		used := (len(contents) + format.BlockTrailerSize) & (b.alignment - 1)
		b.pad((b.alignment - used) & (b.alignment - 1))
	}
	return handle, skipDelta
}

func (b *BlockBasedTableBuilder) pad(n int) {
	if n == 0 {
		return
	}
	if err := b.file.Pad(&b.ioOpts, n); err != nil {
		b.setErr(err)
		return
	}
	b.preCompression += uint64(n)
	b.offset.Add(uint64(n))
}

// padToSuperBlock pads where a block would cross a super block's end and the
// padding is within its limit.
func (b *BlockBasedTableBuilder) padToSuperBlock(size int) bool {
	align, ratio := b.opts.SuperBlockAlignmentSize, b.opts.SuperBlockAlignmentSpaceOverheadRatio
	offset := b.offset.Load()
	if ratio == 0 || offset&^(align-1) == (offset+uint64(size))&^(align-1) {
		return false
	}
	n := align - offset&(align-1)
	if n >= align/ratio {
		syncpoint.Process("BlockBasedTableBuilder::WriteMaybeCompressedBlock:SuperBlockAlignmentPaddingBytesExceedLimit")
		return false
	}
	b.pad(int(n))
	syncpoint.Process("BlockBasedTableBuilder::WriteMaybeCompressedBlock:SuperBlockAlignment")
	return true
}

// finishCompressionProperties fills the compression name in, now that the types
// used are known.
// Upstream: BlockBasedTableBuilder::Rep::PostPopulateCompressionProperties.
func (b *BlockBasedTableBuilder) finishCompressionProperties() {
	c := &b.comp
	var used []rocksdb.CompressionType
	for t := range c.typesUsed {
		if ct := rocksdb.CompressionType(t); ct != rocksdb.NoCompression && c.typesUsed[t].Load() {
			used = append(used, ct)
		}
	}
	if c.explicit {
		id := ""
		if c.data != nil {
			id = c.data.ID()
		}
		b.props.CompressionOptions += "_compressor=" + id + "; "
	}
	if format.FormatVersionUsesCompressionManagerName(b.opts.FormatVersion) {
		var s strings.Builder
		s.WriteString(b.props.CompressionName)
		for _, t := range used {
			const digits = "0123456789ABCDEF"
			s.WriteByte(digits[t>>4])
			s.WriteByte(digits[t&15])
		}
		s.WriteByte(';')
		b.props.CompressionName = s.String()
		return
	}
	name := rocksdb.NoCompression
	switch {
	case len(used) > 0:
		name = used[0]
		for _, t := range used {
			if t == rocksdb.ZSTD {
				name = t
			}
		}
	case c.data != nil:
		// All blocks were rejected; the name is still that of the option.
		name = c.data.GetPreferredCompressionType()
	}
	b.props.CompressionName = compression.CompressionTypeToString(name)
}

// parallelCompression compresses data blocks by several goroutines and writes
// them, in order, by one. Blocks circulate: free ones are taken by the builder,
// go to work and order at once, and come back once written.
type parallelCompression struct {
	free     chan *parallelBlock
	work     chan *parallelBlock
	order    chan *parallelBlock
	inflight atomic.Int64 // bytes not written yet, at most
	workers  sync.WaitGroup
	writer   sync.WaitGroup
}

// parallelBlock is upstream's
// BlockBasedTableBuilder::ParallelCompressionRep::BlockRep.
type parallelBlock struct {
	raw      []byte
	out      []byte
	contents []byte
	ct       rocksdb.CompressionType
	err      error
	size     int64
	entry    PreparedIndexEntry
	done     chan struct{} // capacity 1
}

func (p *parallelCompression) next() *parallelBlock { return <-p.free }

// startParallel starts the goroutines, if there is a compressor for them.
// Upstream: BlockBasedTableBuilder::BGWorker.
func (b *BlockBasedTableBuilder) startParallel() {
	n := b.comp.parallelThreads
	if b.parallel != nil || n <= 1 || b.comp.data == nil {
		return
	}
	syncpoint.ProcessArg("BlockBasedTableBuilder::MaybeStartParallelCompression:Started", &b.comp.parallelThreads)
	n = min(n, 31)
	slots := 2 * int(n)
	p := &parallelCompression{
		free: make(chan *parallelBlock, slots), work: make(chan *parallelBlock, slots),
		order: make(chan *parallelBlock, slots),
	}
	for range slots {
		p.free <- &parallelBlock{done: make(chan struct{}, 1)}
	}
	b.parallel = p
	for range n {
		p.workers.Add(1)
		go func() {
			defer p.workers.Done()
			area := b.comp.data.ObtainWorkingArea()
			for r := range p.work {
				if !b.failed.Load() {
					r.contents, r.ct, r.err = b.compressAndVerify(r.raw, true, area, &r.out)
				}
				r.done <- struct{}{}
			}
			b.comp.data.ReleaseWorkingArea(area)
		}()
	}
	p.writer.Add(1)
	go func() {
		defer p.writer.Done()
		for r := range p.order {
			<-r.done
			b.writeParallel(r)
			p.inflight.Add(-r.size)
			p.free <- r
		}
	}()
}

func (b *BlockBasedTableBuilder) emitParallel(r *parallelBlock, lastKey, nextKey []byte) {
	r.size = int64(len(r.raw)) + format.BlockTrailerSize
	r.err = nil
	b.parallel.inflight.Add(r.size)
	b.index.PrepareIndexEntry(lastKey, nextKey, &r.entry)
	b.parallel.order <- r
	b.parallel.work <- r
}

func (b *BlockBasedTableBuilder) writeParallel(r *parallelBlock) {
	if r.err != nil {
		b.setErr(r.err)
	}
	if b.failed.Load() {
		return
	}
	handle, skipDelta := b.writeMaybeCompressed(r.contents, r.ct, block.TypeData, r.raw)
	if b.failed.Load() {
		return
	}
	b.props.DataSize = b.offset.Load()
	b.props.UncompressedDataSize += uint64(len(r.raw))
	b.index.FinishIndexEntry(handle, &r.entry, skipDelta)
}

// stopParallel waits until all blocks are written.
func (b *BlockBasedTableBuilder) stopParallel() {
	if p := b.parallel; p != nil {
		close(p.work)
		p.workers.Wait()
		close(p.order)
		p.writer.Wait()
		b.parallel = nil
	}
}

// Port of table/block_based/block_based_table_builder.{h,cc}: adding keys and
// ending blocks. Compressing and writing blocks is in builder_write.go, what
// Finish writes in builder_finish.go. Differs: parallel compression is a pool of
// compressing goroutines and one that writes, over channels; num_data_blocks also
// counts blocks that waited for a dictionary.

package blockbased

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// builderState is where a builder stands. It begins buffered where a
// compression dictionary is to be made of the first blocks, and else
// unbuffered; it goes from buffered to unbuffered once the dictionary is made,
// and from there to closed by Finish or Abandon.
// Upstream: BlockBasedTableBuilder::Rep::State.
type builderState uint8

const (
	stateBuffered builderState = iota
	stateUnbuffered
	stateClosed
)

// compressionSizeLimit is the least size of block that is not compressed.
const compressionSizeLimit = math.MaxInt32

// BlockBasedTableBuilder writes a block-based table. One goroutine uses it.
type BlockBasedTableBuilder struct {
	table.TableBuilderBase

	ioptions         *options.ImmutableOptions
	mopts            *options.MutableCFOptions
	opts             rocksdb.BlockBasedTableOptions
	icmp             *dbformat.InternalKeyComparator
	tsSize           int
	persistTS        bool
	prefixExtractor  rocksdb.SliceTransform
	file             *file.WritableFileWriter
	ioOpts           rocksdb.IOOptions
	reason           rocksdb.TableFileCreationReason
	state            builderState
	offset           atomic.Uint64 // of the writer; others read it
	alignment        int
	baseCacheKey     cache.OffsetableCacheKey
	contextChecksum  uint32
	preCompression   uint64
	tailSize         uint64
	valueDeltaInIdx  bool
	dataBlock        *block.BlockBuilder
	rangeDelBlock    *block.BlockBuilder
	flushPolicy      rocksdb.FlushBlockPolicy
	index            IndexBuilder
	partitionedIndex *partitionedIndexBuilder
	userIndex        *userIndexBuilder   // nil: none
	embedded         *embeddedBlobWriter // nil: none
	filter           FilterBlockBuilder
	lastIKey         []byte
	props            rocksdb.TableProperties
	collectors       []tblpropcoll.InternalTblPropColl
	warm             warmCacheConfig
	create           blockCreateContext

	comp     builderCompression
	buffered bufferedBlocks
	parallel *parallelCompression

	errMu struct {
		sync.Mutex
		err error
	}
	failed atomic.Bool
}

// bufferedBlocks are the data blocks held back for a dictionary.
type bufferedBlocks struct {
	blocks      [][]byte
	bytes       uint64
	limit       uint64 // bytes; 0: none
	reservation *cache.CacheReservationManager
}

// warmCacheConfig says whether written blocks go to the block cache.
type warmCacheConfig struct {
	enabled  bool
	priority rocksdb.CachePriority
}

// computeWarmCache is upstream's WarmCacheConfig::Compute.
func computeWarmCache(mode rocksdb.PrepopulateBlockCache, reason rocksdb.TableFileCreationReason) warmCacheConfig {
	flush := reason == rocksdb.TableFileCreationReasonFlush
	compaction := reason == rocksdb.TableFileCreationReasonCompaction
	w := warmCacheConfig{priority: rocksdb.CachePriorityLow}
	switch mode {
	case rocksdb.PrepopulateBlockCacheFlushOnly:
		w.enabled = flush
	case rocksdb.PrepopulateBlockCacheFlushAndCompaction:
		w.enabled = flush || compaction
		if compaction {
			w.priority = rocksdb.CachePriorityBottom
		}
	}
	return w
}

// NewBlockBasedTableBuilder begins a table in f, which stays the caller's. opts
// is that of a factory, sanitized.
func NewBlockBasedTableBuilder(opts *rocksdb.BlockBasedTableOptions, tbo *table.TableBuilderOptions, f *file.WritableFileWriter) (*BlockBasedTableBuilder, error) {
	if err := validateUserDefinedIndex(opts, max(tbo.MOptions.CompressionOpts.ParallelThreads,
		tbo.MOptions.BottommostCompressionOpts.ParallelThreads, tbo.CompressionOpts.ParallelThreads)); err != nil {
		return nil, err
	}
	icmp := tbo.InternalComparator
	b := &BlockBasedTableBuilder{
		ioptions: tbo.IOptions, mopts: tbo.MOptions, opts: *opts, icmp: icmp,
		tsSize: icmp.TimestampSize(), persistTS: tbo.IOptions.PersistUserDefinedTimestamps,
		prefixExtractor: tbo.MOptions.PrefixExtractor, file: f, reason: tbo.Reason, state: stateUnbuffered,
		// Delta encoding takes blocks to follow one another.
		valueDeltaInIdx: opts.FormatVersion >= 4 && !opts.BlockAlign && tbo.EmbeddedBlobs == nil,
		warm:            computeWarmCache(opts.PrepopulateBlockCache, tbo.Reason),
	}
	b.ioOpts = rocksdb.DefaultIOOptions()
	file.PrepareIOFromWriteOptions(tbo.WriteOptions, &b.ioOpts)
	if opts.BlockAlign {
		b.alignment = min(int(opts.BlockSize), 4096)
	}
	b.newDataBlocks()
	filterCtx := b.filterContext(tbo)
	if err := b.initCompression(tbo, filterCtx); err != nil {
		return nil, err
	}
	if b.alignment > 0 && b.comp.basic != nil {
		return nil, rocksdb.InvalidArgument("Enable block_align, but compression enabled")
	}
	if err := b.initIndexAndFilter(tbo, filterCtx); err != nil {
		return nil, err
	}
	b.initCollectors(tbo)
	b.initProperties(tbo)
	if format.FormatVersionUsesContextChecksum(opts.FormatVersion) {
		for b.contextChecksum == 0 {
			b.contextChecksum = rand.Uint32() >> 1 // as upstream's generator, 31 bits
		}
	}
	syncpoint.ProcessArg("BlockBasedTableBuilder::BlockBasedTableBuilder:PreSetupBaseCacheKey", &b.props)
	b.baseCacheKey = setupBaseCacheKey(&b.props, tbo.DBSessionID, tbo.CurFileNum)
	b.create = blockCreateContext{
		opts: &b.opts, icmp: icmp, statistics: b.ioptions.Stats, protection: b.mopts.BlockProtectionBytesPerKey,
		indexValueIsFull: !b.valueDeltaInIdx, indexHasFirstKey: opts.IndexType == rocksdb.BinarySearchWithFirstKey,
	}
	if tbo.EmbeddedBlobs != nil {
		b.embedded = newEmbeddedBlobWriter(b, tbo.EmbeddedBlobs)
		b.comp.parallelThreads = 1 // blobs are written between blocks
	}
	b.startParallel()
	return b, nil
}

func (b *BlockBasedTableBuilder) newDataBlocks() {
	o := &b.opts
	indexType := o.DataBlockIndexType
	if b.icmp.UserComparator().CanKeysWithDifferentByteContentsBeEqual() {
		indexType = rocksdb.DataBlockBinarySearch // equal keys would hash apart
	}
	b.dataBlock = block.NewBlockBuilder(&block.BlockBuilderOptions{
		BlockRestartInterval: o.BlockRestartInterval, UseDeltaEncoding: o.UseDeltaEncoding, IndexType: indexType,
		DataBlockHashTableUtilRatio: o.DataBlockHashTableUtilRatio, TSSize: b.tsSize,
		PersistUserDefinedTimestamps: b.persistTS, UseSeparatedKVStorage: o.SeparateKeyValueInDataBlock,
		Statistics: b.ioptions.Stats, UniformCVThreshold: -1,
		ReserveSize: int(min(o.BlockSize+o.BlockSize/4, 1<<20)),
	})
	b.rangeDelBlock = block.NewBlockBuilder(&block.BlockBuilderOptions{
		BlockRestartInterval: 1, UseDeltaEncoding: true, TSSize: b.tsSize,
		PersistUserDefinedTimestamps: b.persistTS, UniformCVThreshold: -1,
	})
	var policy rocksdb.FlushBlockPolicyFactory = FlushBlockBySizePolicyFactory{}
	if o.FlushBlockPolicyFactory != nil {
		policy = o.FlushBlockPolicyFactory
	}
	b.flushPolicy = policy.NewFlushBlockPolicy(o, b.dataBlock)
}

func (b *BlockBasedTableBuilder) filterContext(tbo *table.TableBuilderOptions) *rocksdb.FilterBuildingContext {
	ctx := &rocksdb.FilterBuildingContext{
		TableOptions: &b.opts, InfoLog: b.ioptions.Logger, ColumnFamilyName: tbo.ColumnFamilyName,
		Reason: tbo.Reason, NumLevels: -1, LevelAtCreation: -1, CompactionStyle: rocksdb.CompactionStyleLevel,
	}
	// A file made outside a database knows nothing of the rest.
	if tbo.Reason != rocksdb.TableFileCreationReasonMisc {
		ctx.CompactionStyle, ctx.NumLevels = b.ioptions.CompactionStyle, b.ioptions.NumLevels
		ctx.LevelAtCreation, ctx.IsBottommost = tbo.LevelAtCreation, tbo.IsBottommost
	}
	return ctx
}

// initIndexAndFilter is upstream's CreateFilterBlockBuilder.
func (b *BlockBasedTableBuilder) initIndexAndFilter(tbo *table.TableBuilderOptions, ctx *rocksdb.FilterBuildingContext) error {
	o := &b.opts
	cfg := indexConfig{
		icmp: b.icmp, restartInterval: o.IndexBlockRestartInterval, formatVersion: o.FormatVersion,
		valueDelta: b.valueDeltaInIdx, shortening: o.IndexShortening, persistTS: b.persistTS,
		statistics: b.ioptions.Stats, uniformCV: o.UniformCVThreshold,
	}
	var err error
	if b.index, err = newIndexBuilder(o, cfg, b.prefixExtractor); err != nil {
		return err
	}
	b.partitionedIndex, _ = b.index.(*partitionedIndexBuilder)
	if b.userIndex, err = newUserIndexBuilder(o, b.icmp); err != nil {
		return err
	}
	if b.userIndex != nil {
		b.comp.parallelThreads = 1 // whatever a compression manager recommends
	}
	if o.FilterPolicy == nil || b.ioptions.OptimizeFiltersForHits && tbo.IsBottommost {
		return nil
	}
	bits := o.FilterPolicy.GetBuilderWithContext(ctx)
	if bits == nil {
		return nil
	}
	if !o.PartitionFilters {
		b.filter = newFullFilterBlockBuilder(b.prefixExtractor, o.WholeKeyFiltering, bits)
		return nil
	}
	if b.partitionedIndex == nil {
		return rocksdb.InvalidArgument("partition_filters needs index_type kTwoLevelIndexSearch")
	}
	// Keep clear of the size after which the allocator takes a whole class more.
	size := int(o.MetadataBlockSize*uint64(100-o.BlockSizeDeviation)+99) / 100
	b.filter = newPartitionedFilterBlockBuilder(b.prefixExtractor, o.WholeKeyFiltering, bits, &cfg,
		b.partitionedIndex, max(size, 1), o.DecouplePartitionedFilters)
	return nil
}

func (b *BlockBasedTableBuilder) initCollectors(tbo *table.TableBuilderOptions) {
	b.collectors = append(tbo.NewCollectors(), &ownPropertiesCollector{
		indexType: b.opts.IndexType, wholeKey: b.opts.WholeKeyFiltering, prefix: b.prefixExtractor != nil,
		decoupled: b.opts.DecouplePartitionedFilters,
	})
	if b.tsSize > 0 && b.persistTS {
		b.collectors = append(b.collectors, tblpropcoll.NewTimestampTablePropertiesCollector(b.icmp.UserComparator()))
	}
}

func (b *BlockBasedTableBuilder) initProperties(tbo *table.TableBuilderOptions) {
	p := &b.props
	compressionOptions, compressionName := p.CompressionOptions, p.CompressionName
	*p = rocksdb.NewTableProperties()
	p.CompressionOptions, p.CompressionName = compressionOptions, compressionName
	p.ColumnFamilyID, p.ColumnFamilyName = uint64(tbo.ColumnFamilyID), tbo.ColumnFamilyName
	p.OldestKeyTime, p.NewestKeyTime = uint64(tbo.OldestKeyTime), uint64(tbo.NewestKeyTime)
	p.FileCreationTime, p.OrigFileNumber = tbo.FileCreationTime, tbo.CurFileNum
	p.DBID, p.DBSessionID, p.DBHostID = tbo.DBID, tbo.DBSessionID, table.DBHostID(b.ioptions)
	p.FormatVersion = uint64(b.opts.FormatVersion)
	p.DataBlockRestartInterval = uint64(b.opts.BlockRestartInterval)
	p.IndexBlockRestartInterval = uint64(b.opts.IndexBlockRestartInterval)
	if b.opts.SeparateKeyValueInDataBlock {
		p.SeparateKeyValueInDataBlock = 1
	}
	p.KeyLargestSeqno = 0 // the maximum is taken from here on
	p.UserCollectedProperties = rocksdb.UserCollectedProperties{}
	p.ReadableProperties = rocksdb.UserCollectedProperties{}
}

// ownPropertiesCollector adds the properties of this table format.
type ownPropertiesCollector struct {
	indexType                   rocksdb.IndexType
	wholeKey, prefix, decoupled bool
}

func (*ownPropertiesCollector) Name() string                                           { return "BlockBasedTablePropertiesCollector" }
func (*ownPropertiesCollector) InternalAdd(_, _ []byte, _ uint64) error                { return nil }
func (*ownPropertiesCollector) BlockAdd(_, _, _ uint64)                                {}
func (*ownPropertiesCollector) NeedCompact() bool                                      { return false }
func (*ownPropertiesCollector) GetReadableProperties() rocksdb.UserCollectedProperties { return nil }

func (c *ownPropertiesCollector) Finish(p rocksdb.UserCollectedProperties) error {
	p[rocksdb.BlockBasedTablePropertyIndexType] = string(util.AppendFixed32(nil, uint32(c.indexType)))
	p[rocksdb.BlockBasedTablePropertyWholeKeyFiltering] = boolProperty(c.wholeKey)
	p[rocksdb.BlockBasedTablePropertyPrefixFiltering] = boolProperty(c.prefix)
	if c.decoupled {
		p[rocksdb.BlockBasedTablePropertyDecoupledPartitionedFilter] = boolProperty(true)
	}
	return nil
}

func boolProperty(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

// Add implements table.TableBuilder.
func (b *BlockBasedTableBuilder) Add(ikey, value []byte) error {
	if b.failed.Load() || b.state == stateClosed {
		return b.addFailed()
	}
	if len(ikey) < dbformat.NumInternalBytes+b.tsSize {
		b.setErr(rocksdb.Corruptionf("BlockBasedTableBuilder::Add() received an internal key of %d bytes", len(ikey)))
		return b.Status()
	}
	if uint64(len(value)) > math.MaxUint32 {
		b.setErr(rocksdb.Corruptionf("BlockBasedTableBuilder::Add() received a value sized >= 4GB. "+
			"This could be a random corruption. size=%d", len(value)))
		return b.Status()
	}
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(ikey))
	p := &b.props
	p.KeyLargestSeqno, p.KeySmallestSeqno = max(p.KeyLargestSeqno, seq), min(p.KeySmallestSeqno, seq)
	switch {
	case dbformat.IsValueType(t):
		if b.embedded != nil {
			var err error
			if ikey, value, err = b.embedded.extract(ikey, value, t); err != nil {
				b.setErr(err)
				return b.Status()
			}
		}
		skip := false
		syncpoint.ProcessArg("BlockBasedTableBuilder::Add::skip", &skip)
		if skip {
			return nil
		}
		b.addPoint(ikey, value)
	case t == dbformat.TypeRangeDeletion:
		b.addTombstone(ikey, value)
	default:
		b.setErr(rocksdb.InvalidArgumentf("BlockBasedTableBuilder::Add() received a key with invalid value type %d", t))
	}
	if b.failed.Load() {
		return b.Status()
	}
	p.NumEntries++
	p.RawKeySize += uint64(len(ikey))
	if !b.persistTS {
		p.RawKeySize -= uint64(b.tsSize)
	}
	p.RawValueSize += uint64(len(value))
	switch t {
	case dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeDeletionWithTimestamp:
		p.NumDeletions++
	case dbformat.TypeRangeDeletion:
		p.NumDeletions++
		p.NumRangeDeletions++
	case dbformat.TypeMerge:
		p.NumMergeOperands++
	}
	return nil
}

// TestInjectIOError makes the builder fail as after a failed write.
func (b *BlockBasedTableBuilder) TestInjectIOError() {
	b.setErr(rocksdb.IOError("injected by a test"))
}

func (b *BlockBasedTableBuilder) addFailed() error {
	if err := b.Status(); err != nil {
		return err
	}
	return rocksdb.InvalidArgument("table builder is closed")
}

func (b *BlockBasedTableBuilder) addPoint(ikey, value []byte) {
	if b.flushPolicy.Update(ikey, value) {
		b.flush(ikey)
		if b.failed.Load() {
			return
		}
	}
	if b.state == stateUnbuffered {
		if b.filter != nil {
			var last []byte
			if len(b.lastIKey) > 0 {
				last = dbformat.ExtractUserKeyAndStripTimestamp(b.lastIKey, b.tsSize)
			}
			b.filter.AddWithPrevKey(dbformat.ExtractUserKeyAndStripTimestamp(ikey, b.tsSize), last)
		}
		b.index.OnKeyAdded(ikey)
		if b.userIndex != nil {
			b.userIndex.onKeyAdded(ikey, value)
		}
	}
	b.dataBlock.AddWithLastKey(ikey, value, b.lastIKey, nil, false)
	b.lastIKey = append(b.lastIKey[:0], ikey...)
	b.notifyAdd(ikey, value)
}

func (b *BlockBasedTableBuilder) addTombstone(ikey, endKey []byte) {
	end := endKey
	if b.tsSize > 0 && !b.persistTS {
		if len(end) < b.tsSize {
			b.setErr(rocksdb.Corruption("range tombstone's end key is shorter than its timestamp"))
			return
		}
		end = dbformat.StripTimestampFromUserKey(end, b.tsSize)
	}
	b.rangeDelBlock.Add(ikey, end, nil, false)
	b.notifyAdd(ikey, endKey)
}

func (b *BlockBasedTableBuilder) notifyAdd(ikey, value []byte) {
	for _, c := range b.collectors {
		if err := c.InternalAdd(ikey, value, b.offset.Load()); err != nil {
			logging.Warn(b.ioptions.Logger, "[%s] Add: %v", c.Name(), err)
		}
	}
}

// flush ends the data block. nextKey is the first of the next, nil at the end.
func (b *BlockBasedTableBuilder) flush(nextKey []byte) {
	if b.failed.Load() || b.dataBlock.Empty() {
		return
	}
	raw := b.dataBlock.Finish()
	b.sampleCompression(raw)
	if b.state == stateBuffered {
		kept := b.dataBlock.SwapAndReset(nil)
		b.buffered.blocks = append(b.buffered.blocks, kept)
		b.buffered.bytes += uint64(len(kept))
		b.maybeEnterUnbuffered(nextKey)
		return
	}
	b.blockEnded()
	if b.parallel != nil {
		// The block's buffer goes to the workers; an empty one comes back.
		r := b.parallel.next()
		r.raw = b.dataBlock.SwapAndReset(r.raw[:0])
		b.emitParallel(r, b.lastIKey, nextKey)
		return
	}
	b.emitBlock(raw, b.lastIKey, nextKey)
	b.dataBlock.Reset()
}

func (b *BlockBasedTableBuilder) blockEnded() {
	b.props.NumDataBlocks++
	if b.filter != nil {
		b.filter.OnDataBlockFinalized(b.props.NumDataBlocks)
	}
}

// emitBlock writes a data block and adds its index entry, whose key may be
// chosen shorter now that the next block's first key is known.
func (b *BlockBasedTableBuilder) emitBlock(raw, lastKey, nextKey []byte) {
	handle, skipDelta := b.writeBlock(raw, block.TypeData)
	if !b.failed.Load() {
		if b.userIndex != nil {
			b.userIndex.addIndexEntry(lastKey, nextKey, handle)
		}
		b.index.AddIndexEntry(lastKey, nextKey, handle, skipDelta)
	}
}

// maybeEnterUnbuffered makes the dictionary and writes the blocks held back,
// once there are enough of them or no more will come.
func (b *BlockBasedTableBuilder) maybeEnterUnbuffered(nextKey []byte) {
	if nextKey != nil && !(b.buffered.limit != 0 && b.buffered.bytes > b.buffered.limit) {
		if b.buffered.reservation == nil || b.buffered.reservation.UpdateCacheReservation(int(b.buffered.bytes)) == nil {
			return
		}
	}
	b.state = stateUnbuffered
	if len(b.buffered.blocks) == 0 {
		b.comp.data = b.comp.basic
		return
	}
	if err := b.makeDictionary(); err != nil {
		b.setErr(err)
		return
	}
	b.startParallel()
	b.replayBuffered(nextKey)
	b.buffered.blocks, b.buffered.bytes = nil, 0
	if b.buffered.reservation != nil {
		b.buffered.reservation.Close()
		b.buffered.reservation = nil
	}
}

// sampleBlocks picks buffered blocks from all over, by steps of a large prime.
func (b *BlockBasedTableBuilder) sampleBlocks(maxBytes int) (data []byte, lens []int) {
	const prime = 545055921143
	n := len(b.buffered.blocks)
	step, at := int(prime%uint64(n)), n/2
	for i := 0; i < n && len(data) < maxBytes; i++ {
		blk := b.buffered.blocks[at]
		take := min(maxBytes-len(data), len(blk))
		data, lens = append(data, blk[:take]...), append(lens, take)
		if at += step; at >= n {
			at -= n
		}
	}
	return data, lens
}

func (b *BlockBasedTableBuilder) makeDictionary() error {
	data, lens := b.sampleBlocks(b.comp.guidance.MaxSampleBytes)
	c, err := b.comp.basic.MaybeCloneSpecialized(rocksdb.CacheEntryRoleDataBlock, rocksdb.CompressionDictConfig{
		Kind: rocksdb.DictSampling, MaxSampleBytes: b.comp.guidance.MaxSampleBytes, SampleData: data, SampleLens: lens,
	})
	if err != nil {
		return err
	}
	if c == nil {
		c = b.comp.basic
	}
	b.comp.setData(c)
	if b.comp.verify == nil {
		return nil
	}
	b.comp.verifyData = b.comp.verify
	if dict := c.GetSerializedDict(); len(dict) > 0 {
		b.comp.verifyData, err = b.comp.verify.MaybeCloneForDict(dict)
	}
	return err
}

// replayBuffered feeds the blocks held back to filter, index and file.
func (b *BlockBasedTableBuilder) replayBuffered(nextKey []byte) {
	iterOf := func(i int) *block.DataBlockIter {
		blk := block.NewBlock(format.BorrowBlock(b.buffered.blocks[i]), 0, nil)
		it := blk.NewDataIterator(b.icmp, block.DataIterOptions{
			GlobalSeqno: dbformat.DisableGlobalSequenceNumber, PadMinTimestamp: !b.persistTS,
		}, nil)
		it.SeekToFirst()
		return it
	}
	var it *block.DataBlockIter
	for i := range b.buffered.blocks {
		if it == nil {
			it = iterOf(i)
		}
		for ; it.Valid(); it.Next() {
			if b.filter != nil {
				b.filter.Add(dbformat.ExtractUserKeyAndStripTimestamp(it.Key(), b.tsSize))
			}
			b.index.OnKeyAdded(it.Key())
			if b.userIndex != nil {
				b.userIndex.onKeyAdded(it.Key(), it.Value())
			}
		}
		next := nextKey
		var nextIt *block.DataBlockIter
		if i+1 < len(b.buffered.blocks) {
			nextIt = iterOf(i + 1)
			next = nextIt.Key()
		}
		it.SeekToLast()
		if err := it.Status(); err != nil {
			b.setErr(err)
			return
		}
		b.blockEnded()
		if b.parallel != nil {
			r := b.parallel.next()
			r.raw = append(r.raw[:0], b.buffered.blocks[i]...)
			b.emitParallel(r, it.Key(), next)
		} else {
			b.emitBlock(b.buffered.blocks[i], it.Key(), next)
		}
		if b.failed.Load() {
			return
		}
		it = nextIt
	}
}

// setErr is upstream's BlockBasedTableBuilder::Rep::SetFailedIOStatus.
func (b *BlockBasedTableBuilder) setErr(err error) {
	if err == nil {
		return
	}
	b.errMu.Lock()
	if b.errMu.err == nil {
		b.errMu.err = err
	}
	b.errMu.Unlock()
	b.failed.Store(true)
}

// Status is the first error.
func (b *BlockBasedTableBuilder) Status() error {
	if !b.failed.Load() {
		return nil
	}
	b.errMu.Lock()
	defer b.errMu.Unlock()
	return b.errMu.err
}

// IOStatus is Status where it came of I/O.
func (b *BlockBasedTableBuilder) IOStatus() error {
	if err := b.Status(); rocksdb.IsIOError(err) {
		return err
	}
	return nil
}

// NumEntries counts the calls of Add.
func (b *BlockBasedTableBuilder) NumEntries() uint64 { return b.props.NumEntries }

// IsEmpty tells whether nothing was added.
func (b *BlockBasedTableBuilder) IsEmpty() bool {
	return b.props.NumEntries == 0 && b.props.NumRangeDeletions == 0
}

// PreCompressionSize is the file's size before compression, in bytes.
func (b *BlockBasedTableBuilder) PreCompressionSize() uint64 { return b.preCompression }

// FileSize is the size written so far, in bytes.
func (b *BlockBasedTableBuilder) FileSize() uint64 { return b.offset.Load() }

// EstimatedFileSize also counts blocks on their way through compression.
func (b *BlockBasedTableBuilder) EstimatedFileSize() uint64 {
	n := b.FileSize()
	if b.parallel != nil {
		n += uint64(max(b.parallel.inflight.Load(), 0))
	}
	return n
}

// EstimatedTailSize is about what Finish would write, in bytes, generously.
func (b *BlockBasedTableBuilder) EstimatedTailSize() uint64 {
	const properties, metaindex = 2048, 1024
	n := b.index.CurrentIndexSizeEstimate() + properties + metaindex + format.FooterMaxEncodedLength
	if b.filter != nil {
		n += uint64(b.filter.CurrentFilterSizeEstimate())
	}
	if b.comp.data != nil {
		n += uint64(len(b.comp.data.GetSerializedDict()))
	}
	if !b.rangeDelBlock.Empty() {
		n += uint64(b.rangeDelBlock.CurrentSizeEstimate())
	}
	return n
}

// GetTailSize is the size of all after the data blocks, after Finish.
func (b *BlockBasedTableBuilder) GetTailSize() uint64 { return b.tailSize }

// NeedCompact tells whether a collector asks for a compaction.
func (b *BlockBasedTableBuilder) NeedCompact() bool {
	for _, c := range b.collectors {
		if c.NeedCompact() {
			return true
		}
	}
	return false
}

// GetTableProperties gives a copy of the properties.
func (b *BlockBasedTableBuilder) GetTableProperties() rocksdb.TableProperties { return b.props }

// GetFileChecksum is the file writer's.
func (b *BlockBasedTableBuilder) GetFileChecksum() string { return b.file.GetFileChecksum() }

// GetFileChecksumFuncName is the file writer's.
func (b *BlockBasedTableBuilder) GetFileChecksumFuncName() string {
	return b.file.GetFileChecksumFuncName()
}

// SetSeqnoTimeTableProperties implements table.TableBuilder.
func (b *BlockBasedTableBuilder) SetSeqnoTimeTableProperties(relevant *seqnotime.SeqnoToTimeMapping, oldestAncestorTime uint64) {
	b.props.SeqnoToTimeMapping = string(relevant.EncodeTo(nil))
	b.props.CreationTime = oldestAncestorTime
}

// GetWorkerCPUMicros is not measured: goroutines have no CPU clocks.
func (b *BlockBasedTableBuilder) GetWorkerCPUMicros() uint64 { return 0 }

var _ table.TableBuilder = (*BlockBasedTableBuilder)(nil)

func defaultCompressionManager(m rocksdb.CompressionManager) (rocksdb.CompressionManager, bool) {
	if m == nil {
		return compression.GetBuiltinV2CompressionManager(), false
	}
	return m, true
}

// Port of table/block_based/block_cache.{h,cc} and of BlockBasedTable's block
// retrieval (block_based_table_reader*.{h,cc}).

package blockbased

import (
	"math"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// ParsedFullFilterBlock is a filter block with its reader. It owns its contents.
type ParsedFullFilterBlock struct {
	contents format.BlockContents
	bits     rocksdb.FilterBitsReader // nil without contents
}

// Free gives the memory back.
func (f *ParsedFullFilterBlock) Free() { f.contents.Free() }

// ApproximateMemoryUsage is in bytes.
func (f *ParsedFullFilterBlock) ApproximateMemoryUsage() int {
	return f.contents.ApproximateMemoryUsage()
}

// DecompressorDict is a file's dictionary and its decompressor. It owns the
// dictionary's bytes.
type DecompressorDict struct {
	contents     format.BlockContents
	decompressor rocksdb.Decompressor
}

// Free gives the memory back.
func (d *DecompressorDict) Free() { d.contents.Free() }

// ApproximateMemoryUsage is in bytes: as upstream counts, the dictionary's length,
// or what an allocator says, and both objects.
func (d *DecompressorDict) ApproximateMemoryUsage() int {
	return d.contents.DataUsage() + 64 + d.decompressor.ApproximateOwnedMemoryUsage()
}

// blockCreateContext is what parsing a block needs to know.
type blockCreateContext struct {
	opts             *rocksdb.BlockBasedTableOptions
	icmp             *dbformat.InternalKeyComparator
	statistics       rocksdb.Statistics
	decompressor     rocksdb.Decompressor
	protection       uint8
	indexValueIsFull bool
	indexHasFirstKey bool
	indexKeySeq      bool
}

// parseBlock makes a block of keys and values of contents, which it takes over.
func (c *blockCreateContext) parseBlock(contents format.BlockContents, t block.BlockType) *block.Block {
	readAmp := 0
	if t == block.TypeData {
		readAmp = int(c.opts.ReadAmpBytesPerBit)
	}
	b := block.NewBlock(contents, readAmp, c.statistics)
	if c.protection > 0 {
		switch t {
		case block.TypeData:
			b.InitializeDataBlockProtectionInfo(c.protection, c.icmp)
		case block.TypeIndex, block.TypeFilterPartitionIndex:
			first := t == block.TypeIndex && c.indexHasFirstKey
			b.InitializeIndexBlockProtectionInfo(c.protection, c.icmp, c.indexValueIsFull, first, c.indexKeySeq)
		case block.TypeMetaIndex:
			b.InitializeMetaIndexBlockProtectionInfo(c.protection)
		}
	}
	return b
}

func (c *blockCreateContext) parseFilter(contents format.BlockContents) *ParsedFullFilterBlock {
	f := &ParsedFullFilterBlock{contents: contents}
	if len(contents.Data) > 0 && c.opts.FilterPolicy != nil {
		f.bits = c.opts.FilterPolicy.GetFilterBitsReader(contents.Data)
	}
	return f
}

func (c *blockCreateContext) parseDict(contents format.BlockContents) (*DecompressorDict, error) {
	d, err := c.decompressor.MaybeCloneForDict(contents.Data)
	if err != nil {
		contents.Free()
		return nil, err
	}
	return &DecompressorDict{contents, d}, nil
}

// setupBaseCacheKey makes a file's base cache key: of its properties where
// these identify it, else of its present session and number.
func setupBaseCacheKey(p *rocksdb.TableProperties, sessionID string, fileNumber uint64) cache.OffsetableCacheKey {
	if p != nil && p.DBSessionID != "" && p.OrigFileNumber > 0 {
		return cache.NewOffsetableCacheKey(p.DBID, p.DBSessionID, p.OrigFileNumber)
	}
	return cache.NewOffsetableCacheKey("unknown", sessionID, fileNumber)
}

func blockCacheKey(base cache.OffsetableCacheKey, h format.BlockHandle) cache.CacheKey {
	return base.WithOffsetForMinSizeRecord(h.Offset)
}

func (t *BlockBasedTable) cachePriority(bt block.BlockType) rocksdb.CachePriority {
	if bt != block.TypeData && bt != block.TypeProperties && t.opts.CacheIndexAndFilterBlocksWithHighPriority {
		return rocksdb.CachePriorityHigh
	}
	return rocksdb.CachePriorityLow
}

// readContext is what a lookup hands down to block reads.
type readContext struct {
	ro            *rocksdb.ReadOptions
	gc            *table.GetContext // nil outside point lookups
	prefetch      table.PrefetchBuffer
	forCompaction bool
	cacheMissed   bool                      // the cache was asked for the data block; it is read with others
	caller        rocksdb.TableReaderCaller // for the trace of the block cache; 0: not traced
	point         *pointTrace               // of a traced Get or MultiGet
	// provider lends the memory of data blocks, which are then not the cache's;
	// nil in all but scans.
	provider rocksdb.ReadScopedBlockBufferProvider
}

// scanContext is the context of a scan's reads.
// Upstream: GetReadScopedBlockBufferProvider.
func (t *BlockBasedTable) scanContext(ro *rocksdb.ReadOptions) readContext {
	rc := readContext{ro: ro}
	if !t.ioptions.AllowMmapReads {
		rc.provider = ro.ReadScopedBlockBufferProvider
	}
	return rc
}

// startTimer measures for a histogram.
func startTimer(o *options.ImmutableOptions, h rocksdb.Histogram) (w stopwatch.StopWatch) {
	if o.Stats == nil {
		return w
	}
	clock := o.Clock
	if clock == nil {
		clock = rocksdb.DefaultSystemClock()
	}
	return stopwatch.NewStopWatch(clock, o.Stats, h)
}

// cacheable is a parsed block of any kind.
type cacheable interface {
	block.Freer
	comparable
	ApproximateMemoryUsage() int
}

var errNoBlockingIO = rocksdb.Incomplete("no blocking io")

// retrieve gets a block from the cache or the file. parse makes the object of
// uncompressed contents, which it takes over, also on an error.
func retrieve[T cacheable](t *BlockBasedTable, rc *readContext, h format.BlockHandle, bt block.BlockType, d rocksdb.Decompressor,
	useCache bool, parse func(*BlockBasedTable, format.BlockContents, block.BlockType) (T, error)) (e block.CachableEntry[T], err error) {
	e, hit, err := retrieveUntraced(t, rc, h, bt, d, useCache, parse)
	if useCache && t.traces(rc) && !(rc.cacheMissed && bt == block.TypeData) {
		var v any
		if !e.IsEmpty() {
			v = e.Value()
		}
		t.traceLookup(rc, h, bt, hit, v)
	}
	return e, err
}

// retrieveUntraced tells whether the block was in the cache.
// Upstream: BlockBasedTable::MaybeReadBlockAndLoadToCache.
func retrieveUntraced[T cacheable](t *BlockBasedTable, rc *readContext, h format.BlockHandle, bt block.BlockType, d rocksdb.Decompressor,
	useCache bool, parse func(*BlockBasedTable, format.BlockContents, block.BlockType) (T, error)) (e block.CachableEntry[T], hit bool, err error) {
	noIO := rc.ro.ReadTier == rocksdb.BlockCacheTier
	cached := useCache && t.blockCache != nil && cacheItemHelpers[bt] != nil && (rc.provider == nil || bt != block.TypeData)
	var key cache.CacheKey
	if cached {
		key = blockCacheKey(t.baseCacheKey, h)
		known := rc.cacheMissed && bt == block.TypeData
		if known {
			// Neither look it up nor count it again.
		} else if ch := t.cacheLookupFull(rc, key, bt, d); ch != nil {
			if v, ok := ch.Value().(T); ok {
				t.countCacheHit(rc, bt, ch)
				if u, ok := rc.prefetch.(patternUpdater); ok {
					u.UpdateReadPattern(h.Offset, int(h.Size)+format.BlockTrailerSize, rc.ro.AdaptiveReadahead)
				}
				e.SetCachedValue(v, t.blockCache, ch)
				return e, true, nil
			}
			t.blockCache.Release(ch, false)
			return e, false, t.corrupt("block cache entry is of another kind of block", h)
		}
		if !known {
			t.countCacheMiss(rc, bt)
		}
	}
	if noIO {
		return e, false, errNoBlockingIO
	}
	hist := rocksdb.HistReadBlockGetMicros
	if rc.forCompaction {
		hist = rocksdb.HistReadBlockCompactionMicros
	}
	var timer stopwatch.StopWatch
	if !rc.cacheMissed || bt != block.TypeData { // a batch's reads are not timed
		timer = startTimer(t.ioptions, hist)
	}
	contents, compressed, typ, err := t.readBlock(rc, h, bt, d)
	timer.Stop()
	if err != nil {
		return e, false, err
	}
	owned := contents.OwnBytes()
	v, err := parse(t, contents, bt)
	if err != nil {
		return e, false, err
	}
	if cached && owned && !rc.ro.FillCache && bt == block.TypeData {
		// Not found by others, but charged to the cache while it is used.
		h := t.blockCache.CreateStandalone(key.AsSlice(), v, t.helper(bt), v.ApproximateMemoryUsage(), true)
		e.SetCachedValue(v, t.blockCache, h)
		return e, false, nil
	}
	if !cached || !rc.ro.FillCache || !owned {
		e.SetOwnedValue(v)
		return e, false, nil
	}
	e, err = insertBlock(t, rc, key, v, bt, compressed, typ)
	return e, false, err
}

// patternUpdater is a prefetch buffer that wants to know of reads it did not
// serve.
type patternUpdater interface {
	UpdateReadPattern(offset uint64, n int, decrease bool)
}

// insertBlock is upstream's BlockBasedTable::PutDataBlockToCache.
func insertBlock[T cacheable](t *BlockBasedTable, rc *readContext, key cache.CacheKey, v T, bt block.BlockType,
	compressed []byte, typ rocksdb.CompressionType) (e block.CachableEntry[T], err error) {
	charge := v.ApproximateMemoryUsage()
	ch, err := t.cacheInsert(key, v, bt, charge, compressed, typ)
	if err != nil {
		v.Free()
		monitoring.RecordTick(t.ioptions.Stats, rocksdb.BlockCacheAddFailures, 1)
		return e, err
	}
	r, ok := ch.(rocksdb.RedundantInsert)
	countCacheAdd(rc.gc, t.ioptions.Stats, bt, uint64(charge), ok && r.WasRedundant())
	e.SetCachedValue(v, t.blockCache, ch)
	return e, nil
}

// readBlock reads, checks and decompresses a block of the file. Where the cache
// has tiers that want it, compressed is the block as it is in the file.
func (t *BlockBasedTable) readBlock(rc *readContext, h format.BlockHandle, bt block.BlockType, d rocksdb.Decompressor) (
	contents format.BlockContents, compressed []byte, typ rocksdb.CompressionType, err error) {
	f := table.GetBlockFetcher()
	f.File, f.PrefetchBuffer, f.Footer = t.file, rc.prefetch, &t.footer
	f.ReadOptions, f.IOptions, f.FileSize = rc.ro, t.ioptions, t.fileSize
	f.Handle, f.BlockType, f.ForCompaction = h, bt, rc.forCompaction
	maybe := bt != block.TypeFilter && bt != block.TypeCompressionDictionary
	f.MaybeCompressed, f.DoUncompress, f.Decompressor = maybe && d != nil, maybe, d
	f.Memory.Allocator = t.allocator
	if bt == block.TypeData {
		f.Memory.Provider = rc.provider
		if one, ok := rc.prefetch.(*batchRead); ok {
			f.Lease = one.lease
		}
	}
	f.KeepCompressed = t.tiered != nil && t.wantsCompressed()
	contents, err = f.ReadBlockContents()
	compressed, typ = f.Compressed, f.CompressionType
	table.PutBlockFetcher(f)
	if rc.gc != nil {
		switch bt {
		case block.TypeIndex:
			rc.gc.Stats.NumIndexRead++
		case block.TypeFilter, block.TypeFilterPartitionIndex:
			rc.gc.Stats.NumFilterRead++
		}
	}
	return contents, compressed, typ, err
}

func parseBlockOf(t *BlockBasedTable, c format.BlockContents, bt block.BlockType) (*block.Block, error) {
	return t.create.parseBlock(c, bt), nil
}

func parseFilterOf(t *BlockBasedTable, c format.BlockContents, _ block.BlockType) (*ParsedFullFilterBlock, error) {
	return t.create.parseFilter(c), nil
}

func parseDictOf(t *BlockBasedTable, c format.BlockContents, _ block.BlockType) (*DecompressorDict, error) {
	return t.create.parseDict(c)
}

// retrieveBlock gets a block of keys and values.
func (t *BlockBasedTable) retrieveBlock(rc *readContext, h format.BlockHandle, bt block.BlockType, useCache bool) (block.CachableEntry[*block.Block], error) {
	d := t.decompressor
	if bt == block.TypeData && t.dict != nil {
		// Read ahead is of data blocks; the dictionary lies behind them all.
		prefetch := rc.prefetch
		rc.prefetch = nil
		dict, err := t.dict.get(rc)
		rc.prefetch = prefetch
		if err != nil {
			return block.CachableEntry[*block.Block]{}, err
		}
		defer dict.Release()
		d = dict.Value().decompressor
	}
	return retrieve(t, rc, h, bt, d, useCache, parseBlockOf)
}

// newDataBlockIterator sets it on a data block. Errors are its status.
func (t *BlockBasedTable) newDataBlockIterator(rc *readContext, h format.BlockHandle, bt block.BlockType, it *block.DataBlockIter) {
	var timer monitoring.PerfStepTimer
	if perf := rc.ro.PerfContext; perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.NewTableBlockIterNanos, nil)
	}
	e, err := t.retrieveBlock(rc, h, bt, true)
	if err != nil {
		timer.Stop()
		it.Invalidate(err)
		return
	}
	t.initDataIter(rc, &e, h, it)
	timer.Stop()
}

func (t *BlockBasedTable) initDataIter(rc *readContext, e *block.CachableEntry[*block.Block], h format.BlockHandle, it *block.DataBlockIter) {
	b := e.Value()
	b.NewDataIterator(t.icmp, block.DataIterOptions{
		GlobalSeqno: t.globalSeqno,
		// An owned block lives as long as the iterator's reference on it.
		BlockContentsPinned: e.IsCached() || e.OwnValue(),
		PadMinTimestamp:     !t.udtPersisted,
		Statistics:          t.ioptions.Stats,
	}, it)
	it.SetEntry(*e)
	it.SetPerfContext(rc.ro.PerfContext)
	if err := it.Status(); err != nil {
		it.Invalidate(t.located(err, h))
	}
}

// located names file and offset in a corruption that does not yet.
func (t *BlockBasedTable) located(err error, h format.BlockHandle) error {
	if !rocksdb.IsCorruption(err) {
		return err
	}
	if s := rocksdb.AsStatus(err); s.File == "" {
		return s.InAt(t.file.FileName(), h.Offset)
	}
	return err
}

func (t *BlockBasedTable) corrupt(text string, h format.BlockHandle) error {
	return rocksdb.Corruption(text).InAt(t.file.FileName(), h.Offset)
}

// countCacheHit and countCacheMiss go to the point lookup's statistics or, where
// there is none, to the tickers.
// Upstream: BlockBasedTable::UpdateCacheHitMetrics.
func (t *BlockBasedTable) countCacheHit(rc *readContext, bt block.BlockType, ch rocksdb.CacheHandle) {
	perf := rc.ro.PerfContext
	if rc.gc == nil && t.ioptions.Stats == nil && !perf.CountEnabled() {
		return
	}
	usage := uint64(t.blockCache.GetUsageOf(ch))
	if perf.CountEnabled() {
		perf.BlockCacheHitCount++
		perf.BlockCacheReadByte += usage
		t.perfLevel(perf, func(l *rocksdb.PerfContextByLevel) { l.BlockCacheHitCount++ })
		switch bt {
		case block.TypeFilter, block.TypeFilterPartitionIndex:
			perf.BlockCacheFilterHitCount++
			perf.BlockCacheFilterReadByte += usage
		case block.TypeCompressionDictionary:
			perf.BlockCacheCompressionDictReadByte += usage
		case block.TypeIndex:
			perf.BlockCacheIndexHitCount++
			perf.BlockCacheIndexReadByte += usage
		}
	}
	if rc.gc != nil {
		s := &rc.gc.Stats
		s.NumCacheHit++
		s.NumCacheBytesRead += usage
		*kindOf(bt, &s.NumCacheFilterHit, &s.NumCacheCompressionDictHit, &s.NumCacheIndexHit, &s.NumCacheDataHit)++
		return
	}
	monitoring.RecordTick(t.ioptions.Stats, rocksdb.BlockCacheHit, 1)
	monitoring.RecordTick(t.ioptions.Stats, rocksdb.BlockCacheBytesRead, usage)
	monitoring.RecordTick(t.ioptions.Stats, kindOf(bt, rocksdb.BlockCacheFilterHit, rocksdb.BlockCacheCompressionDictHit,
		rocksdb.BlockCacheIndexHit, rocksdb.BlockCacheDataHit), 1)
}

// countCacheMiss is upstream's BlockBasedTable::UpdateCacheMissMetrics.
func (t *BlockBasedTable) countCacheMiss(rc *readContext, bt block.BlockType) {
	if perf := rc.ro.PerfContext; perf.CountEnabled() {
		t.perfLevel(perf, func(l *rocksdb.PerfContextByLevel) { l.BlockCacheMissCount++ })
	}
	if rc.gc != nil {
		s := &rc.gc.Stats
		s.NumCacheMiss++
		*kindOf(bt, &s.NumCacheFilterMiss, &s.NumCacheCompressionDictMiss, &s.NumCacheIndexMiss, &s.NumCacheDataMiss)++
		return
	}
	monitoring.RecordTick(t.ioptions.Stats, rocksdb.BlockCacheMiss, 1)
	monitoring.RecordTick(t.ioptions.Stats, kindOf(bt, rocksdb.BlockCacheFilterMiss, rocksdb.BlockCacheCompressionDictMiss,
		rocksdb.BlockCacheIndexMiss, rocksdb.BlockCacheDataMiss), 1)
}

// countCacheAdd is upstream's BlockBasedTable::UpdateCacheInsertionMetrics.
func countCacheAdd(gc *table.GetContext, stats rocksdb.Statistics, bt block.BlockType, charge uint64, redundant bool) {
	if gc != nil {
		s := &gc.Stats
		if redundant {
			s.NumCacheAddRedundant++
			*kindOf(bt, &s.NumCacheFilterAddRedundant, &s.NumCacheCompressionDictAddRedundant, &s.NumCacheIndexAddRedundant,
				&s.NumCacheDataAddRedundant)++
		}
		s.NumCacheAdd++
		s.NumCacheBytesWrite += charge
		*kindOf(bt, &s.NumCacheFilterAdd, &s.NumCacheCompressionDictAdd, &s.NumCacheIndexAdd, &s.NumCacheDataAdd)++
		*kindOf(bt, &s.NumCacheFilterBytesInsert, &s.NumCacheCompressionDictBytesInsert, &s.NumCacheIndexBytesInsert,
			&s.NumCacheDataBytesInsert) += charge
		return
	}
	if stats == nil {
		return
	}
	if redundant {
		stats.RecordTick(rocksdb.BlockCacheAddRedundant, 1)
		stats.RecordTick(kindOf(bt, rocksdb.BlockCacheFilterAddRedundant, rocksdb.BlockCacheCompressionDictAddRedundant,
			rocksdb.BlockCacheIndexAddRedundant, rocksdb.BlockCacheDataAddRedundant), 1)
	}
	stats.RecordTick(rocksdb.BlockCacheAdd, 1)
	stats.RecordTick(rocksdb.BlockCacheBytesWrite, charge)
	stats.RecordTick(kindOf(bt, rocksdb.BlockCacheFilterAdd, rocksdb.BlockCacheCompressionDictAdd,
		rocksdb.BlockCacheIndexAdd, rocksdb.BlockCacheDataAdd), 1)
	stats.RecordTick(kindOf(bt, rocksdb.BlockCacheFilterBytesInsert, rocksdb.BlockCacheCompressionDictBytesInsert,
		rocksdb.BlockCacheIndexBytesInsert, rocksdb.BlockCacheDataBytesInsert), charge)
}

func kindOf[V any](bt block.BlockType, filter, dict, index, data V) V {
	switch bt {
	case block.TypeFilter, block.TypeFilterPartitionIndex:
		return filter
	case block.TypeCompressionDictionary:
		return dict
	case block.TypeIndex:
		return index
	}
	return data
}

// warmCache puts a block just written into the block cache, uncompressed.
// Upstream: BlockBasedTableBuilder::InsertBlockInCacheHelper.
func (b *BlockBasedTableBuilder) warmCache(raw []byte, h format.BlockHandle, bt block.BlockType) error {
	bc := b.opts.BlockCache
	helper := cacheItemHelpers[bt]
	if bc == nil || helper == nil || len(raw) == 0 {
		return nil
	}
	if b.ioptions.LowestUsedCacheTier == rocksdb.VolatileTier {
		helper = helper.WithoutSecondaryCompat
	}
	contents := format.AllocateBlock(len(raw), nil)
	copy(contents.Data, raw)
	var obj interface {
		block.Freer
		ApproximateMemoryUsage() int
	}
	switch bt {
	case block.TypeFilter:
		obj = b.create.parseFilter(contents)
	case block.TypeCompressionDictionary:
		b.create.decompressor = b.comp.manager.GetDecompressor()
		d, err := b.create.parseDict(contents)
		if err != nil {
			return err
		}
		obj = d
	default:
		b.create.indexKeySeq = b.index.SeparatorIsKeyPlusSeq()
		obj = b.create.parseBlock(contents, bt)
	}
	charge := obj.ApproximateMemoryUsage()
	key := blockCacheKey(b.baseCacheKey, h).AsSlice()
	if _, err := bc.Insert(key, obj, helper, charge, b.warm.priority, false); err != nil {
		obj.Free()
		monitoring.RecordTick(b.ioptions.Stats, rocksdb.BlockCacheAddFailures, 1)
		return err
	}
	countCacheAdd(nil, b.ioptions.Stats, bt, uint64(charge), false)
	return nil
}

// uncacheAdvisor decides how long to go on erasing an obsolete file's blocks
// from the cache: until too few were there, given how hard one shall try.
type uncacheAdvisor struct {
	allowance         int
	threshold         float64
	useful, notUseful int
}

func newUncacheAdvisor(aggressiveness uint32) *uncacheAdvisor {
	return &uncacheAdvisor{
		allowance: int(min(aggressiveness, 3)),
		threshold: math.Pow(0.99, float64(aggressiveness-1)),
	}
}

func (a *uncacheAdvisor) report(erased bool) {
	if erased {
		a.useful++
	} else {
		a.notUseful++
	}
}

func (a *uncacheAdvisor) shouldContinue() bool {
	if a.notUseful < a.allowance {
		return true
	}
	return (float64(a.useful)+1)/(float64(a.useful+a.notUseful-a.allowance)+1.5) >= a.threshold
}

// Port of table/block_based/block_based_table_reader.{h,cc}: opening and
// closing. Lookups are in reader_get.go, checks and dumps in reader_verify.go,
// blocks come through block_cache.go. Blobs within the
// file are in embedded_blobs.go, the trace of the block cache in
// block_cache_trace.go. Differs: no persistent cache yet; tables of format versions 0 and 1 are read for importing
// (TableReaderOptions.OldFormats).

package blockbased

import (
	"math"
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// filterType is the kind of a file's filter.
type filterType uint8

const (
	noFilter filterType = iota
	fullFilter
	partitionedFilter
)

// BlockBasedTable reads a block-based table. All fields are set by Open and
// then constant.
type BlockBasedTable struct {
	table.TableReaderBase

	ioptions       *options.ImmutableOptions
	opts           *rocksdb.BlockBasedTableOptions
	icmp           *dbformat.InternalKeyComparator
	file           *file.RandomAccessFileReader
	fileSize       uint64
	level          int
	fsPrefetch     bool // the file system reads ahead itself
	immortal       bool // stays open as long as the database
	blockCache     rocksdb.Cache
	lru            *cache.LRUCache        // blockCache, where it is one
	hyperClock     *cache.HyperClockCache // the same
	tiered         rocksdb.TieredCache    // the same
	tracer         *tracereplay.BlockCacheTracer
	allocator      rocksdb.MemoryAllocator
	footer         format.Footer
	props          *rocksdb.TableProperties
	baseCacheKey   cache.OffsetableCacheKey
	create         blockCreateContext
	decompressor   rocksdb.Decompressor // nil: no compressed blocks
	dict           *dictReader          // nil: no dictionary
	index          indexReader
	indexHandle    format.BlockHandle
	indexType      rocksdb.IndexType
	filter         filterBlockReader // nil: none
	filterHandle   format.BlockHandle
	filterType     filterType
	rangeDels      *rangedel.FragmentedRangeTombstoneList
	globalSeqno    rocksdb.SequenceNumber
	minTimestamp   []byte
	tableExtractor rocksdb.SliceTransform // that the file was written with
	reservation    *cache.CacheReservationHandle
	times          writeTimes
	blobs          *blobformat.SimpleGen2File // within the file; nil: none
	blobSource     table.EmbeddedBlobSource   // nil: read directly

	wholeKeyFiltering bool
	prefixFiltering   bool
	indexKeySeq       bool // index keys are internal keys
	indexValueFull    bool
	indexFirstKey     bool
	udtPersisted      bool
	verifiedOnOpen    bool // checksums, by ReadOptions of Open
	uncache           atomic.Uint32
}

// tailBuffer is the prefetch buffer of Open.
type openState struct {
	ro       rocksdb.ReadOptions
	rc       readContext
	meta     *block.Block
	metaIter *block.MetaBlockIter
	tail     *file.FilePrefetchBuffer
	o        *table.TableReaderOptions
}

// OpenParams is what Open takes beside a factory's options.
type OpenParams struct {
	Table                         *rocksdb.BlockBasedTableOptions // sanitized; kept
	Reader                        *table.TableReaderOptions
	PrefetchIndexAndFilterInCache bool
	TailPrefetchStats             *TailPrefetchStats // may be nil
	// Reservation charges readers' memory to a cache; may be nil.
	Reservation *cache.ConcurrentCacheReservationManager
}

// Open reads a table's metadata. It takes f over, also on an error.
func Open(ro *rocksdb.ReadOptions, p *OpenParams, f *file.RandomAccessFileReader, fileSize uint64) (*BlockBasedTable, error) {
	t := &BlockBasedTable{
		ioptions: p.Reader.IOptions, opts: p.Table, icmp: p.Reader.InternalComparator, file: f, fileSize: fileSize,
		level: p.Reader.Level, immortal: p.Reader.Immortal, blockCache: p.Table.BlockCache, udtPersisted: p.Reader.UserDefinedTimestampsPersisted,
		wholeKeyFiltering: p.Table.WholeKeyFiltering, prefixFiltering: true,
		globalSeqno: dbformat.DisableGlobalSequenceNumber, tracer: p.Reader.BlockCacheTracer,
	}
	if p.Table.NoBlockCache {
		t.blockCache = nil
	}
	t.lru, _ = t.blockCache.(*cache.LRUCache)
	t.hyperClock, _ = t.blockCache.(*cache.HyperClockCache)
	t.tiered, _ = t.blockCache.(rocksdb.TieredCache)
	if a, ok := t.blockCache.(interface {
		MemoryAllocator() rocksdb.MemoryAllocator
	}); ok {
		t.allocator = a.MemoryAllocator()
	}
	if fs := t.ioptions.FS; fs != nil {
		t.fsPrefetch = fs.SupportedOps()>>uint(rocksdb.FSPrefetch)&1 != 0
	}
	if err := t.open(ro, p); err != nil {
		t.release()
		_ = f.Close() // the first error is the one to tell
		return nil, err
	}
	return t, nil
}

// openReadOptions keeps of ro what is meant for opening.
func openReadOptions(ro *rocksdb.ReadOptions) rocksdb.ReadOptions {
	o := rocksdb.DefaultReadOptions()
	if ro != nil {
		o.Deadline, o.IOTimeout, o.RateLimiterPriority = ro.Deadline, ro.IOTimeout, ro.RateLimiterPriority
		o.VerifyChecksums, o.IOActivity, o.FillCache = ro.VerifyChecksums, ro.IOActivity, ro.FillCache
		o.PerfContext, o.IOStatsContext = ro.PerfContext, ro.IOStatsContext
	}
	return o
}

func (t *BlockBasedTable) open(ro *rocksdb.ReadOptions, p *OpenParams) error {
	s := &openState{ro: openReadOptions(ro), o: p.Reader}
	s.rc.ro, s.rc.caller = &s.ro, rocksdb.CallerPrefetch
	prefetchAll := p.PrefetchIndexAndFilterInCache || t.level == 0 && !p.Reader.AvoidSharedMetadataCache
	if err := t.prefetchTail(s, prefetchAll, p.TailPrefetchStats); err != nil {
		return err
	}
	defer s.tail.Close()
	s.rc.prefetch = s.tail
	m := table.MetaReader{
		File: t.file, PrefetchBuffer: s.tail, FileSize: t.fileSize, ReadOptions: &s.ro, IOptions: t.ioptions,
		OldFormats: p.Reader.OldFormats,
	}
	var err error
	s.meta, t.footer, err = m.ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
	if err != nil {
		if rocksdb.IsCorruption(err) {
			monitoring.RecordTick(t.ioptions.Stats, rocksdb.SSTFooterCorruptionCount, 1)
		}
		return err
	}
	defer s.meta.Free()
	s.metaIter = s.meta.NewMetaIterator(true)
	if err := t.readProperties(s, &m); err != nil {
		return err
	}
	if t.isOldFormat() {
		t.decompressor = compression.GetLevelDBDecompressor()
	} else if t.decompressor, err = decompressorFor(t.props.CompressionName, p.Reader.CompressionManager, t.footer.FormatVersion); err != nil {
		return t.named(err)
	}
	t.create = blockCreateContext{
		opts: t.opts, icmp: t.icmp, statistics: t.ioptions.Stats, decompressor: t.decompressor,
		protection: p.Reader.BlockProtectionBytesPerKey, indexValueIsFull: t.indexValueFull,
		indexHasFirstKey: t.indexFirstKey, indexKeySeq: t.indexKeySeq,
	}
	if err := t.checkUniqueID(p.Reader); err != nil {
		return err
	}
	t.setTableExtractor(p.Reader.PrefixExtractor)
	syncpoint.ProcessArg("BlockBasedTable::Open::ForceNullTablePrefixExtractor", &t.tableExtractor)
	t.baseCacheKey = setupBaseCacheKey(t.props, p.Reader.CurDBSessionID, p.Reader.CurFileNum)
	t.setupEmbeddedBlobs(p.Reader.BlobSource)
	if err := t.readRangeDels(s); err != nil {
		return err
	}
	t.verifiedOnOpen = s.ro.VerifyChecksums
	if err := t.prefetchIndexAndFilter(s, prefetchAll); err != nil {
		return err
	}
	if st := p.TailPrefetchStats; st != nil && s.tail.MinOffsetRead() < t.fileSize {
		st.RecordEffectiveSize(t.fileSize - s.tail.MinOffsetRead())
	}
	if p.Reservation != nil {
		if t.reservation, err = p.Reservation.MakeCacheReservation(t.ApproximateMemoryUsage()); err != nil {
			return rocksdb.WithSubCode(rocksdb.CodeAborted, rocksdb.SubCodeMemoryLimit, "Can't allocate BlockBasedTableReader "+
				"due to memory limit based on cache capacity for memory allocation").Wrap(err)
		}
	}
	return nil
}

// isOldFormat tells whether the table is one that is read for importing only.
func (t *BlockBasedTable) isOldFormat() bool {
	return t.footer.FormatVersion < format.MinSupportedBbtFormatVersionForRead
}

func (t *BlockBasedTable) named(err error) error {
	if s := rocksdb.AsStatus(err); s.File == "" {
		return s.In(t.file.FileName())
	}
	return err
}

// prefetchTail reads all after the data blocks at once, as far as its size is
// known or can be guessed.
func (t *BlockBasedTable) prefetchTail(s *openState, prefetchAll bool, stats *TailPrefetchStats) error {
	if t.ioptions.AllowMmapReads || s.o.FileOptions.UseMmapReads {
		s.tail = file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{Disable: true, TrackMinOffset: true})
		return nil
	}
	size := s.o.TailSize
	if size == 0 && stats != nil {
		size = stats.GetSuggestedPrefetchSize()
	}
	if size == 0 {
		size = 4 << 10
		if prefetchAll || !t.opts.CacheIndexAndFilterBlocks {
			size = 512 << 10
		}
	}
	size = min(size, t.fileSize)
	syncpoint.ProcessArg("BlockBasedTable::Open::TailPrefetchLen", &size)
	off := t.fileSize - size
	var opts rocksdb.IOOptions
	if err := t.file.PrepareIOOptions(&s.ro, &opts); err != nil {
		return err
	}
	if !t.file.UseDirectIO() && !s.o.ForceDirectPrefetch {
		if err := t.file.Prefetch(&opts, off, int(size)); !rocksdb.IsNotSupported(err) {
			s.tail = file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{Disable: true, TrackMinOffset: true})
			return nil
		}
	}
	s.tail = file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{
		TrackMinOffset: true, Stats: t.ioptions.Stats, Usage: file.TableOpenPrefetchTail,
	})
	return s.tail.Prefetch(&opts, t.file, off, int(size))
}

func (t *BlockBasedTable) readProperties(s *openState, m *table.MetaReader) error {
	h, err := table.FindOptionalMetaBlock(s.metaIter, table.PropertiesBlockName)
	if err != nil {
		return t.named(err)
	}
	old := t.isOldFormat()
	if h.IsNull() && old {
		// LevelDB's tables tell nothing about themselves: index keys and values
		// are whole, and all but a filter before the metaindex is data.
		props := rocksdb.NewTableProperties()
		t.props = &props
		t.props.DataSize = t.footer.MetaindexHandle.Offset
		t.indexKeySeq, t.indexValueFull = true, true
		return nil
	}
	if h.IsNull() {
		return rocksdb.Corruption("Cannot find Properties block from file.").In(t.file.FileName())
	}
	if t.props, err = m.ReadTablePropertiesHelper(h, &t.footer); err != nil {
		return err
	}
	user := t.props.UserCollectedProperties
	t.wholeKeyFiltering = t.wholeKeyFiltering && t.featureSupported(rocksdb.BlockBasedTablePropertyWholeKeyFiltering)
	t.prefixFiltering = t.featureSupported(rocksdb.BlockBasedTablePropertyPrefixFiltering)
	t.indexKeySeq = t.props.IndexKeyIsUserKey == 0
	t.indexValueFull = t.props.IndexValueIsDeltaEncoded == 0
	it, ok := user[rocksdb.BlockBasedTablePropertyIndexType]
	if !ok && old {
		it, ok = "\x00\x00\x00\x00", true // the only type there was
	}
	if !ok {
		return rocksdb.Corruption("Missing index type property").In(t.file.FileName())
	}
	v, _, ok := util.GetFixed32([]byte(it))
	if !ok || v > uint32(rocksdb.BinarySearchWithFirstKey) {
		return rocksdb.Corruptionf("Unrecognized index type property of %d bytes", len(it)).In(t.file.FileName())
	}
	t.indexType = rocksdb.IndexType(v)
	t.indexFirstKey = t.indexType == rocksdb.BinarySearchWithFirstKey
	if ts := user["rocksdb.timestamp_min"]; len(ts) == t.icmp.TimestampSize() {
		t.minTimestamp = []byte(ts)
	}
	t.globalSeqno, err = globalSequenceNumber(t.props, s.o.LargestSeqno)
	if err != nil {
		logging.Error(t.ioptions.Logger, "%v", err)
		return t.named(err)
	}
	return nil
}

// featureSupported is false only when a property says so; older files lack it.
func (t *BlockBasedTable) featureSupported(name string) bool {
	v, ok := t.props.UserCollectedProperties[name]
	if !ok {
		return true
	}
	if v != "0" && v != "1" {
		logging.Warn(t.ioptions.Logger, "Property %s has invalid value %s", name, v)
	}
	return v != "0"
}

// globalSequenceNumber gives the number that takes the place of all keys' in a
// file made outside the database (version 2); others have none.
func globalSequenceNumber(p *rocksdb.TableProperties, largest rocksdb.SequenceNumber) (rocksdb.SequenceNumber, error) {
	const none = dbformat.DisableGlobalSequenceNumber
	user := p.UserCollectedProperties
	versionBytes, external := user[table.ExternalSstFileVersionProperty]
	seqnoBytes, hasSeqno := user[table.ExternalSstFileGlobalSeqnoProperty]
	if !external {
		if hasSeqno {
			return none, rocksdb.Corruptionf("A non-external sst file have global seqno property with value %q", seqnoBytes)
		}
		return none, nil
	}
	version, _, ok := util.GetFixed32([]byte(versionBytes))
	if !ok || version != 1 && version != 2 {
		return none, rocksdb.Corruptionf("An external sst file has corrupted version %d.", version)
	}
	if version == 1 {
		if hasSeqno {
			return none, rocksdb.Corruptionf("An external sst file with version %d has global seqno property with value %q", version, seqnoBytes)
		}
		return none, nil
	}
	seqno := rocksdb.SequenceNumber(0)
	if hasSeqno {
		if seqno, _, ok = util.GetFixed64([]byte(seqnoBytes)); !ok {
			return none, rocksdb.Corruptionf("global seqno property has %d bytes", len(seqnoBytes))
		}
	}
	// MaxSequenceNumber stands for not known.
	if largest < dbformat.MaxSequenceNumber {
		if seqno == 0 {
			seqno = largest
		}
		if seqno != largest {
			return none, rocksdb.Corruptionf("An external sst file with version %d have global seqno property with value %d, "+
				"while largest seqno in the file is %d", version, seqno, largest)
		}
	}
	if seqno > dbformat.MaxSequenceNumber {
		return none, rocksdb.Corruptionf("An external sst file with version %d have global seqno property with value %d, "+
			"which is greater than kMaxSequenceNumber", version, seqno)
	}
	return seqno, nil
}

// decompressorFor finds what a file's compression property asks for; nil when
// nothing in it is compressed.
func decompressorFor(name string, manager rocksdb.CompressionManager, formatVersion uint32) (rocksdb.Decompressor, error) {
	builtin := compression.GetBuiltinV2CompressionManager()
	if name == "" {
		return builtin.GetDecompressor(), nil // before 4.9
	}
	if !format.FormatVersionUsesCompressionManagerName(formatVersion) {
		switch t := compression.CompressionTypeFromString(name); t {
		case rocksdb.DisableCompressionOption:
			return nil, rocksdb.Corruption("Unrecognized compression_name", name)
		case rocksdb.NoCompression:
			return nil, nil
		default:
			return builtin.GetDecompressorOptimizeFor(t), nil
		}
	}
	fields := strings.Split(name, ";")
	if len(fields) < 3 {
		return nil, rocksdb.Corruption("compression_name property has too few fields", name)
	}
	types, err := parseCompressionTypes(fields[1])
	if err != nil {
		return nil, err
	}
	compatibility := fields[0]
	if compatibility == "" || compatibility == "nullptr" {
		if len(types) > 0 {
			return nil, rocksdb.Corruption("compression_name property has types but no manager", name)
		}
		return nil, nil
	}
	found := compression.FindCompatible(manager, compatibility)
	if found == nil {
		return nil, rocksdb.NotSupported("Could not load CompressionManager", compatibility)
	}
	return found.GetDecompressorForTypes(types), nil
}

func parseCompressionTypes(hex string) ([]rocksdb.CompressionType, error) {
	if len(hex)%2 != 0 {
		return nil, rocksdb.Corruption("Second field of compression_name has odd size")
	}
	b, ok := util.DecodeHex(hex)
	types := make([]rocksdb.CompressionType, len(b))
	for i, c := range b {
		types[i] = rocksdb.CompressionType(c)
		ok = ok && types[i] != rocksdb.NoCompression && types[i] < rocksdb.DisableCompressionOption
	}
	if !ok {
		return nil, rocksdb.Corruption("Error parsing second field of compression_name")
	}
	return types, nil
}

func (t *BlockBasedTable) checkUniqueID(o *table.TableReaderOptions) error {
	if o.UniqueID == (uniqueid.UniqueId64x2{}) {
		syncpoint.Process("BlockBasedTable::Open::SkippedVerifyUniqueId")
		return nil
	}
	actual, err := uniqueid.GetSstInternalUniqueId(t.props.DBID, t.props.DBSessionID, t.props.OrigFileNumber, true)
	if err != nil {
		return t.named(err)
	}
	if got := actual.Standard(); got != o.UniqueID {
		return rocksdb.Corruptionf("Mismatch in unique ID on table file %d. Expected: %s Actual: %s", o.CurFileNum,
			uniqueid.InternalUniqueIdToHumanString(o.UniqueID), uniqueid.InternalUniqueIdToHumanString(got)).In(t.file.FileName())
	}
	syncpoint.ProcessArg("BlockBasedTable::Open::PassedVerifyUniqueId", &o.UniqueID)
	return nil
}

// setTableExtractor finds the prefix extractor the file was written with.
func (t *BlockBasedTable) setTableExtractor(configured rocksdb.SliceTransform) {
	name := t.props.PrefixExtractorName
	if !extractorChanged(name, configured) {
		t.tableExtractor = configured
		return
	}
	if name == "" || name == "nullptr" {
		return
	}
	if e, ok := util.BuiltinSliceTransform(name); ok {
		t.tableExtractor = e
	} else {
		logging.Error(t.ioptions.Logger, "Failed to create prefix extractor[%s]", name)
	}
}

func extractorChanged(tableName string, e rocksdb.SliceTransform) bool {
	return e == nil || tableName == "" || tableName != e.AsString()
}

// prefixExtractorChanged tells whether e is not the file's.
func (t *BlockBasedTable) prefixExtractorChanged(e rocksdb.SliceTransform) bool {
	if e != nil && e == t.tableExtractor {
		return false
	}
	return extractorChanged(t.props.PrefixExtractorName, e)
}

func (t *BlockBasedTable) readRangeDels(s *openState) error {
	h, err := table.FindOptionalMetaBlock(s.metaIter, table.RangeDelBlockName)
	if err != nil || h.IsNull() {
		return err
	}
	it := new(block.DataBlockIter)
	t.newDataBlockIterator(&s.rc, h, block.TypeRangeDeletion, it)
	if err := it.Status(); err != nil {
		it.Invalidate(nil)
		return err
	}
	t.rangeDels, err = rangedel.NewFragmentedRangeTombstoneList(it, t.icmp, false, nil, t.udtPersisted)
	it.Invalidate(nil)
	return err
}

func pinned(tier, fallback rocksdb.PinningTier, maybeFlushed bool) bool {
	if tier == rocksdb.PinningTierFallback {
		tier = fallback
	}
	return tier == rocksdb.PinningTierAll || tier == rocksdb.PinningTierFlushedAndSimilar && maybeFlushed
}

func tierIf(cond bool, tier rocksdb.PinningTier) rocksdb.PinningTier {
	if cond {
		return tier
	}
	return rocksdb.PinningTierNone
}

func (t *BlockBasedTable) prefetchIndexAndFilter(s *openState, prefetchAll bool) error {
	o := t.opts
	shared := !s.o.AvoidSharedMetadataCache
	useCache := o.CacheIndexAndFilterBlocks && shared
	if syncpoint.Enabled {
		syncpoint.ProcessArg("BlockBasedTable::PrefetchIndexAndFilterBlocks:SharedMetadataCache", [2]bool{!shared, useCache})
	}
	maybeFlushed := shared && t.level == 0 && t.fileSize <= s.o.MaxFileSizeForL0MetaPin
	mc := &o.MetadataCacheOptions
	l0 := tierIf(o.PinL0FilterAndIndexBlocksInCache, rocksdb.PinningTierFlushedAndSimilar)
	pinTop := shared && pinned(mc.TopLevelIndexPinning, tierIf(o.PinTopLevelIndexAndFilter, rocksdb.PinningTierAll), maybeFlushed)
	pinPartition := shared && pinned(mc.PartitionPinning, l0, maybeFlushed)
	pinUnpartitioned := shared && pinned(mc.UnpartitionedPinning, l0, maybeFlushed)
	pick := func(twoLevel bool) bool {
		if twoLevel {
			return pinTop
		}
		return pinUnpartitioned
	}
	if err := t.findHandles(s); err != nil {
		return err
	}
	pinIndex := pick(t.indexType == rocksdb.TwoLevelIndexSearch)
	var err error
	if t.index, err = t.createIndexReader(s, useCache, prefetchAll || pinIndex, pinIndex); err != nil {
		return err
	}
	if err := t.addUserIndexReader(s); err != nil {
		return err
	}
	partitions := shared && (prefetchAll || pinPartition)
	if partitions {
		if err := t.index.cacheDependencies(&s.rc, pinPartition); err != nil {
			return err
		}
	}
	pinFilter := pick(t.filterType == partitionedFilter)
	if t.filterType != noFilter && !s.o.SkipFilters {
		if t.filter, err = t.createFilterReader(s, useCache, prefetchAll || pinFilter, pinFilter); err != nil {
			// A table is readable without its filter.
			logging.Warn(t.ioptions.Logger, "filter of %s cannot be read: %v", t.file.FileName(), err)
			t.filter = nil
		} else if partitions {
			if err := t.filter.cacheDependencies(&s.rc, pinPartition); err != nil {
				return err
			}
		}
	}
	return t.openDict(s, useCache, prefetchAll || pinUnpartitioned, pinUnpartitioned)
}

func (t *BlockBasedTable) findHandles(s *openState) error {
	if policy := t.opts.FilterPolicy; policy != nil {
		name := policy.CompatibilityName()
		for _, k := range [...]struct {
			t      filterType
			prefix string
		}{
			{fullFilter, FullFilterBlockPrefix}, {partitionedFilter, PartitionedFilterBlockPrefix}, {noFilter, ObsoleteFilterBlockPrefix},
		} {
			h, err := table.FindOptionalMetaBlock(s.metaIter, k.prefix+name)
			if err != nil {
				return t.named(err)
			}
			if h.IsNull() {
				continue
			}
			t.filterHandle, t.filterType = h, k.t
			if k.t == noFilter {
				logging.Warn(t.ioptions.Logger, "Detected obsolete filter type in %s. Read performance might suffer "+
					"until DB is fully re-compacted.", t.file.FileName())
			}
			break
		}
	}
	if t.filterType == partitionedFilter && t.indexType != rocksdb.TwoLevelIndexSearch {
		return rocksdb.Corruption("partitioned filter without partitioned index").In(t.file.FileName())
	}
	if format.FormatVersionUsesIndexHandleInFooter(t.footer.FormatVersion) {
		t.indexHandle = t.footer.IndexHandle
		return nil
	}
	h, err := table.FindMetaBlock(s.metaIter, table.IndexBlockName)
	if err != nil {
		return t.named(err)
	}
	t.indexHandle = h
	return nil
}

func (t *BlockBasedTable) openDict(s *openState, useCache, prefetch, pin bool) error {
	h, err := table.FindOptionalMetaBlock(s.metaIter, table.CompressionDictBlockName)
	if err != nil {
		return t.named(err)
	}
	// Some versions wrote a dictionary without compression.
	if h.IsNull() || t.decompressor == nil {
		return nil
	}
	d := &dictReader{t: t, handle: h, useCache: useCache}
	if prefetch || !useCache {
		e, err := retrieve(t, &s.rc, h, block.TypeCompressionDictionary, nil, useCache, parseDictOf)
		if err != nil {
			return err
		}
		if useCache && !pin {
			e.Release()
		} else {
			d.entry = e
		}
	}
	t.dict = d
	return nil
}

// dictReader gives a file's compression dictionary.
type dictReader struct {
	t        *BlockBasedTable
	handle   format.BlockHandle
	useCache bool
	entry    block.CachableEntry[*DecompressorDict] // where it stays
}

// get gives the dictionary; the caller releases the entry.
func (d *dictReader) get(rc *readContext) (e block.CachableEntry[*DecompressorDict], err error) {
	if !d.entry.IsEmpty() {
		e.SetUnownedValue(d.entry.Value())
		return e, nil
	}
	return retrieve(d.t, rc, d.handle, block.TypeCompressionDictionary, nil, d.useCache, parseDictOf)
}

// release gives up all that the reader holds but the file.
func (t *BlockBasedTable) release() {
	if t.filter != nil {
		t.filter.release()
	}
	if t.index != nil {
		t.index.release()
	}
	if t.dict != nil {
		t.dict.entry.Release()
	}
	if t.reservation != nil {
		t.reservation.Release()
		t.reservation = nil
	}
	t.filter, t.index, t.dict = nil, nil, nil
}

// Close gives up blocks and file. No iterator may be open.
func (t *BlockBasedTable) Close() error {
	if n := t.uncache.Load(); n > 0 && t.blockCache != nil && !t.ioptions.AllowMmapReads {
		t.uncacheBlocks(n)
	}
	t.release()
	return t.file.Close()
}

// uncacheBlocks erases an obsolete file's blocks from the cache, without
// reading anything.
func (t *BlockBasedTable) uncacheBlocks(aggressiveness uint32) {
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	rc := readContext{ro: &ro}
	if t.filter != nil {
		partitions := t.filter.partitionHandles(&rc)
		t.filter.release()
		t.filter = nil
		t.eraseAllFromCache(partitions, aggressiveness)
		t.eraseFromCache(t.filterHandle)
	}
	if t.index == nil {
		return
	}
	it := t.newIndexIterator(&rc, true, nil)
	advisor := newUncacheAdvisor(aggressiveness)
	for it.SeekToFirst(); it.Valid() && advisor.shouldContinue(); it.Next() {
		advisor.report(t.eraseFromCache(it.Value().Handle))
	}
	_ = it.Close() // what is not in the cache ends it
	partitions := t.index.partitionHandles(&rc)
	t.index.release()
	t.index = nil
	t.eraseAllFromCache(partitions, aggressiveness)
	t.eraseFromCache(t.indexHandle)
}

func (t *BlockBasedTable) eraseAllFromCache(handles []format.BlockHandle, aggressiveness uint32) {
	advisor := newUncacheAdvisor(aggressiveness)
	for i := 0; i < len(handles) && advisor.shouldContinue(); i++ {
		advisor.report(t.eraseFromCache(handles[i]))
	}
}

func (t *BlockBasedTable) eraseFromCache(h format.BlockHandle) bool {
	ch := t.cacheLookup(blockCacheKey(t.baseCacheKey, h), block.TypeData)
	return ch != nil && t.blockCache.Release(ch, true)
}

// MarkObsolete implements table.TableReader.
func (t *BlockBasedTable) MarkObsolete(aggressiveness uint32) { t.uncache.Store(aggressiveness) }

// SetupForCompaction has nothing to do.
func (t *BlockBasedTable) SetupForCompaction() {}

// GetTableProperties gives the properties.
func (t *BlockBasedTable) GetTableProperties() *rocksdb.TableProperties { return t.props }

// ApproximateMemoryUsage is in bytes, blocks in the cache apart.
func (t *BlockBasedTable) ApproximateMemoryUsage() int {
	n := 1024 + approximatePropertiesSize(t.props)
	if t.filter != nil {
		n += t.filter.memoryUsage()
	}
	if t.index != nil {
		n += t.index.memoryUsage()
	}
	if t.dict != nil && t.dict.entry.OwnValue() {
		n += t.dict.entry.Value().ApproximateMemoryUsage()
	}
	return n
}

func approximatePropertiesSize(p *rocksdb.TableProperties) int {
	if p == nil {
		return 0
	}
	n := 600 + len(p.DBID) + len(p.DBSessionID) + len(p.DBHostID) + len(p.ColumnFamilyName) + len(p.FilterPolicyName) +
		len(p.ComparatorName) + len(p.MergeOperatorName) + len(p.PrefixExtractorName) + len(p.PropertyCollectorsNames) +
		len(p.CompressionName) + len(p.CompressionOptions)
	for k, v := range p.UserCollectedProperties {
		n += len(k) + len(v) + 32
	}
	return n
}

func (t *BlockBasedTable) perfLevel(p *rocksdb.PerfContext, f func(*rocksdb.PerfContextByLevel)) {
	if t.level < 0 {
		return
	}
	if l := p.AtLevel(t.level); l != nil {
		f(l)
	}
}

// FragmentedRangeTombstones gives the range tombstones, nil for none.
func (t *BlockBasedTable) FragmentedRangeTombstones() *rangedel.FragmentedRangeTombstoneList {
	return t.rangeDels
}

// NewRangeTombstoneIterator implements table.TableReader.
func (t *BlockBasedTable) NewRangeTombstoneIterator(ro *rocksdb.ReadOptions) *rangedel.FragmentedRangeTombstoneIterator {
	seq := dbformat.MaxSequenceNumber
	if ro.Snapshot != nil {
		seq = ro.Snapshot.GetSequenceNumber()
	}
	return t.NewRangeTombstoneIteratorAt(seq, ro.Timestamp)
}

// NewRangeTombstoneIteratorAt implements table.TableReader.
func (t *BlockBasedTable) NewRangeTombstoneIteratorAt(seq rocksdb.SequenceNumber, timestamp []byte) *rangedel.FragmentedRangeTombstoneIterator {
	if t.rangeDels == nil {
		return nil
	}
	return rangedel.NewFragmentedRangeTombstoneIterator(t.rangeDels, t.icmp, seq, timestamp, 0)
}

var _ table.TableReader = (*BlockBasedTable)(nil)

// noOffset stands for an offset that is not known.
const noOffset = math.MaxUint64

func extractUserKeyNoTS(ikey []byte, tsSize int) []byte {
	return dbformat.ExtractUserKeyAndStripTimestamp(ikey, tsSize)
}

// Port of db/table_cache.{h,cc} and db/table_cache_sync_and_async.h. Differs:
// the order of keys and the file options are those the cache was made with;
// tombstones for compaction go through the same iterator call.

package tablecache

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// InfiniteCapacity is the capacity of the cache when all files stay open.
const InfiniteCapacity = 0x400000

// loadConcurrency is how many tables may be opened at once.
const loadConcurrency = 128

// readerHelper describes open tables to the cache.
var readerHelper = rocksdb.CacheItemHelper{
	Role:    rocksdb.CacheEntryRoleMisc,
	Deleter: func(obj any) { _ = obj.(table.TableReader).Close() },
}

// TableCache opens a column family's tables. Safe for concurrent use.
type TableCache struct {
	ioptions    *options.ImmutableOptions
	icmp        *dbformat.InternalKeyComparator
	fileOptions rocksdb.FileOptions
	// compactionReadahead takes the place of the one in fileOptions.
	compactionReadahead atomic.Uint64
	cache               rocksdb.Cache
	sessionID           string
	rowCacheID          []byte
	// pinHandles: the cache has no limit, so that reads pin what they open.
	pinHandles  atomic.Bool
	immortal    atomic.Bool
	fastSstOpen atomic.Bool
	blobSource  table.EmbeddedBlobSource
	tracer      *tracereplay.BlockCacheTracer
	loaders     [loadConcurrency]sync.Mutex
}

// New makes a table cache above the database's cache of open tables.
func New(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator, fo rocksdb.FileOptions,
	cache rocksdb.Cache, dbSessionID string) *TableCache {
	c := &TableCache{ioptions: io, icmp: icmp, fileOptions: fo, cache: cache, sessionID: dbSessionID}
	c.compactionReadahead.Store(fo.CompactionReadaheadSize)
	c.pinHandles.Store(cache.GetCapacity() >= InfiniteCapacity)
	if io.RowCache != nil {
		// The row cache may be shared between databases.
		c.rowCacheID = util.AppendVarint64(nil, io.RowCache.NewID())
	}
	return c
}

// Cache is the cache of open tables.
func (c *TableCache) Cache() rocksdb.Cache { return c.cache }

// Capacity is the most tables that may be open.
func (c *TableCache) Capacity() int { return c.cache.GetCapacity() }

// Usage is the number of open tables.
func (c *TableCache) Usage() int { return c.cache.GetUsage() }

// SetTablesAreImmortal says that no file will be deleted while the database is
// open; for a database that does not change. With a bound on open files they may
// be closed all the same.
func (c *TableCache) SetTablesAreImmortal() {
	c.immortal.Store(c.cache.GetCapacity() >= InfiniteCapacity)
}

// UpdatedMutableDBOptions takes over what options say of opening tables: whether
// it is done with what the file system left in the MANIFEST, how much
// compactions read ahead, and whether open tables are pinned, by the present
// capacity of the cache. Upstream: SetFastSstOpen, UpdateShouldPinTableHandles.
func (c *TableCache) UpdatedMutableDBOptions(o *options.MutableDBOptions) {
	c.fastSstOpen.Store(o.FastSstOpen)
	c.compactionReadahead.Store(o.CompactionReadaheadSize)
	c.pinHandles.Store(c.cache.GetCapacity() >= InfiniteCapacity)
}

// SetBlobSource sets where blobs within tables are read through. Before use.
func (c *TableCache) SetBlobSource(s table.EmbeddedBlobSource) { c.blobSource = s }

// SetBlockCacheTracer sets who traces the tables' lookups of blocks. Before use.
func (c *TableCache) SetBlockCacheTracer(t *tracereplay.BlockCacheTracer) { c.tracer = t }

// OpenOptions say how a table is looked up and, if need be, opened.
type OpenOptions struct {
	FileReadHist *monitoring.HistogramImpl // of reads' micros, may be nil
	SkipFilters  bool
	Level        int // -1 when not known
	// NoIO makes a table that is not open Incomplete.
	NoIO bool
	// NoPrefetchIndexAndFilter leaves the block cache alone while opening.
	NoPrefetchIndexAndFilter bool
	MaxFileSizeForL0MetaPin  uint64 // bytes
	// Pin pins the table to its metadata.
	Pin bool
	// FileOpenMetadata, when not nil, gets what the file system wants back on
	// the next opening.
	FileOpenMetadata *string
	// Ephemeral opens a reader of its own, in no cache.
	Ephemeral bool
	// DirectReads lets it read past the system's cache.
	DirectReads bool
	// AvoidSharedMetadataCache keeps meta blocks out of the block cache.
	AvoidSharedMetadataCache bool
}

// Handle holds a table open; the zero value holds nothing. Release it once.
type Handle struct {
	cache  rocksdb.Cache
	handle rocksdb.CacheHandle
	own    table.TableReader // closed on release
}

// IsZero tells whether there is nothing to release.
func (h *Handle) IsZero() bool { return h.handle == nil && h.own == nil }

// Release gives the table back.
func (h *Handle) Release() {
	if h.handle != nil {
		h.cache.Release(h.handle, false)
		h.handle = nil
	}
	if h.own != nil {
		_ = h.own.Close()
		h.own = nil
	}
}

// FindTable gives f's open table. The reader is good until the handle is
// released; a pinned one comes with an empty handle.
func (c *TableCache) FindTable(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions,
	o *OpenOptions) (table.TableReader, Handle, error) {
	if p := f.FD.Pinned.Load(); p != nil && !o.Ephemeral {
		return p.Reader, Handle{}, nil
	}
	var timer monitoring.PerfStepTimer
	if pc := ro.PerfContext; pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&pc.FindTableNanos, c.ioptions.Clock)
	}
	defer timer.Stop()
	if o.Ephemeral {
		syncpoint.ProcessArg("TableCache::FindTable:FreshTableReader", o)
		if o.NoIO {
			return nil, Handle{}, rocksdb.Incomplete("fresh TableReader requested but no_io is set; cannot open file")
		}
		reader, err := c.getTableReader(ro, f, mo, o)
		if err != nil {
			monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileErrors, 1)
			return nil, Handle{}, err
		}
		return reader, Handle{own: reader}, nil
	}
	h := c.cache.Lookup(f.FD.TableCacheKey(), &readerHelper, nil, rocksdb.CachePriorityLow, nil)
	syncpoint.ProcessArg("TableCache::FindTable:0", o.NoIO)
	if h == nil {
		if o.NoIO {
			return nil, Handle{}, rocksdb.Incomplete("Table not found in table_cache, no_io is set")
		}
		return c.load(ro, f, mo, o)
	}
	reader := h.Value().(table.TableReader)
	if o.Pin {
		mu := c.loader(f)
		mu.Lock()
		c.pin(f, h, reader)
		mu.Unlock()
		return reader, Handle{}, nil
	}
	return reader, Handle{cache: c.cache, handle: h}, nil
}

func (c *TableCache) loader(f *version.FileMetaData) *sync.Mutex {
	return &c.loaders[f.FD.GetNumber()%loadConcurrency]
}

// pin hands h to f, or gives it back when f is pinned already. The loader
// mutex is held.
func (c *TableCache) pin(f *version.FileMetaData, h rocksdb.CacheHandle, reader table.TableReader) {
	if f.FD.Pinned.Load() != nil {
		c.cache.Release(h, false)
		return
	}
	f.FD.Pinned.Store(&version.PinnedTableReader{Reader: reader, Release: func() { c.cache.Release(h, false) }})
}

// load opens the table unless another goroutine did so in the meantime.
// Failures are not kept: they may pass.
func (c *TableCache) load(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions,
	o *OpenOptions) (table.TableReader, Handle, error) {
	mu := c.loader(f)
	mu.Lock()
	defer mu.Unlock()
	if p := f.FD.Pinned.Load(); p != nil {
		return p.Reader, Handle{}, nil
	}
	var reader table.TableReader
	h := c.cache.Lookup(f.FD.TableCacheKey(), &readerHelper, nil, rocksdb.CachePriorityLow, nil)
	if h != nil {
		reader = h.Value().(table.TableReader)
	} else {
		var err error
		if reader, err = c.getTableReader(ro, f, mo, o); err != nil {
			monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileErrors, 1)
			return nil, Handle{}, err
		}
		if h, err = c.cache.Insert(f.FD.TableCacheKey(), reader, &readerHelper, 1, rocksdb.CachePriorityLow, true); err != nil {
			_ = reader.Close()
			return nil, Handle{}, err
		}
	}
	if o.Pin {
		c.pin(f, h, reader)
		return reader, Handle{}, nil
	}
	return reader, Handle{cache: c.cache, handle: h}, nil
}

// getTableReader opens the file: under its name, or under LevelDB's.
func (c *TableCache) getTableReader(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions,
	o *OpenOptions) (table.TableReader, error) {
	factory, ok := mo.TableFactory.(table.Factory)
	if !ok {
		return nil, rocksdb.InvalidArgument("table_factory cannot open tables")
	}
	name := filename.TableFileName(c.ioptions.CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
	fo := c.fileOptions
	fo.UseDirectReads = fo.UseDirectReads || o.DirectReads
	fo.CompactionReadaheadSize = c.compactionReadahead.Load()
	temperature := f.Temperature
	fo.Temperature = temperature
	fo.FileChecksum, fo.FileChecksumFuncName = f.FileChecksum, f.FileChecksumFuncName
	if c.fastSstOpen.Load() && f.FileOpenMetadata != "" {
		fo.FileMetadata = []byte(f.FileOpenMetadata)
		monitoring.RecordTick(c.ioptions.Stats, rocksdb.FileOpenMetadataPassed, 1)
	}
	if err := file.PrepareIOFromReadOptions(ro, c.ioptions.Clock, &fo.IOOptions); err != nil {
		return nil, err
	}
	raw, err := c.ioptions.FS.NewRandomAccessFile(name, &fo)
	if rocksdb.IsPathNotFound(err) {
		old := filename.Rocks2LevelTableFileName(name)
		if f2, err2 := c.ioptions.FS.NewRandomAccessFile(old, &fo); err2 == nil {
			raw, name, err = f2, old, nil
		}
	}
	if err != nil {
		return nil, err
	}
	monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileOpens, 1)
	if o.FileOpenMetadata != nil {
		*o.FileOpenMetadata = c.fileOpenMetadata(raw, name)
	}
	if c.ioptions.AdviseRandomOnOpen {
		raw.Hint(rocksdb.AccessRandom)
	}
	if temperature == rocksdb.TemperatureUnknown {
		temperature = c.ioptions.DefaultTemperature
	}
	watch := stopwatch.NewStopWatch(c.ioptions.Clock, c.ioptions.Stats, rocksdb.HistTableOpenIOMicros)
	defer watch.Stop()
	fr := file.NewRandomAccessFileReader(raw, name, &file.ReaderOptions{
		Clock: c.ioptions.Clock, Stats: c.ioptions.Stats, HistType: rocksdb.HistSSTReadMicros, FileReadHist: o.FileReadHist,
		RateLimiter: c.ioptions.RateLimiter, Listeners: c.ioptions.Listeners, FileTemperature: temperature,
		IsLastLevel: o.Level == c.ioptions.NumLevels-1,
	})
	tro := table.DefaultTableReaderOptions(c.ioptions, c.icmp)
	tro.PrefixExtractor = mo.PrefixExtractor
	tro.CompressionManager = mo.CompressionManager
	tro.FileOptions = c.fileOptions
	tro.SkipFilters = o.SkipFilters
	tro.Immortal = c.immortal.Load()
	tro.Level = o.Level
	tro.LargestSeqno = f.FD.LargestSeqno
	tro.MaxFileSizeForL0MetaPin = o.MaxFileSizeForL0MetaPin
	tro.CurDBSessionID, tro.CurFileNum = c.sessionID, f.FD.GetNumber()
	if c.ioptions.VerifySstUniqueIDInManifest {
		tro.UniqueID = f.UniqueID
	}
	tro.BlockProtectionBytesPerKey = mo.BlockProtectionBytesPerKey
	tro.TailSize = f.TailSize
	tro.UserDefinedTimestampsPersisted = f.UserDefinedTimestampsPersisted
	tro.AvoidSharedMetadataCache = o.AvoidSharedMetadataCache
	tro.BlobSource, tro.BlockCacheTracer = c.blobSource, c.tracer
	reader, err := factory.NewTableReader(ro, &tro, fr, f.FD.GetFileSize(),
		!o.NoPrefetchIndexAndFilter && !o.AvoidSharedMetadataCache)
	syncpoint.Process("TableCache::GetTableReader:0")
	return reader, err
}

func (c *TableCache) fileOpenMetadata(raw rocksdb.FSRandomAccessFile, name string) string {
	m, err := raw.GetFileOpenMetadata()
	if err != nil || len(m) == 0 {
		return ""
	}
	if len(m) > rocksdb.MaxFileOpenMetadataSize {
		logging.Warn(c.ioptions.Logger, "File open metadata for %s too large (%d bytes), ignoring", name, len(m))
		return ""
	}
	monitoring.RecordTick(c.ioptions.Stats, rocksdb.FileOpenMetadataRetrieved, 1)
	return string(m)
}

// IteratorOptions are NewIterator's arguments besides file and options.
type IteratorOptions struct {
	OpenOptions
	Caller               rocksdb.TableReaderCaller
	CompactionReadahead  uint64 // bytes, for compaction
	AllowUnpreparedValue bool
	// RangeDelAgg, when not nil, gets the table's range tombstones, cut to the
	// compaction keys or, where those are nil, to the file's bounds.
	RangeDelAgg           rangedel.RangeDelAggregator
	SmallestCompactionKey []byte
	LargestCompactionKey  []byte
	// RangeDelIter, when not nil, is set to the file's range tombstones as of
	// RangeDelReadSeqno; nil for none.
	RangeDelIter      **rangedel.TruncatedRangeDelIterator
	RangeDelReadSeqno rocksdb.SequenceNumber
	// MaybePin pins the table when nothing limits the open files.
	MaybePin bool
}

// NewIterator gives an iterator over f's point entries; the caller closes it.
// Errors come from its Status.
func (c *TableCache) NewIterator(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions,
	o *IteratorOptions) internaliter.InternalIterator {
	var timer monitoring.PerfStepTimer
	if pc := ro.PerfContext; pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&pc.NewTableIteratorNanos, nil)
		defer timer.Stop()
	}
	oo := o.OpenOptions
	oo.NoIO = ro.ReadTier == rocksdb.BlockCacheTier
	oo.Pin = o.MaybePin && c.pinHandles.Load() && !oo.Ephemeral
	syncpoint.ProcessArg("TableCache::NewIterator::BeforeFindTable", &f.FD)
	reader, h, err := c.FindTable(ro, f, mo, &oo)
	if err != nil {
		return internaliter.NewErrorInternalIterator(err)
	}
	if o.Caller == rocksdb.CallerCompaction {
		reader.SetupForCompaction()
	}
	var it internaliter.InternalIterator
	if ro.TableFilter != nil && !ro.TableFilter(reader.GetTableProperties()) {
		it = internaliter.NewEmptyInternalIterator()
	} else {
		it = reader.NewIterator(ro, mo.PrefixExtractor, o.SkipFilters, o.Caller, o.CompactionReadahead, o.AllowUnpreparedValue)
	}
	if !ro.IgnoreRangeDeletions {
		c.addTombstones(ro, reader, f, o)
	}
	if h.IsZero() {
		return it
	}
	return &releasingIterator{InternalIterator: it, handle: h}
}

func (c *TableCache) addTombstones(ro *rocksdb.ReadOptions, reader table.TableReader, f *version.FileMetaData, o *IteratorOptions) {
	if o.RangeDelIter != nil {
		*o.RangeDelIter = nil
		if t := reader.NewRangeTombstoneIteratorAt(o.RangeDelReadSeqno, ro.Timestamp); t != nil && !t.Empty() {
			*o.RangeDelIter = rangedel.NewTruncatedRangeDelIterator(t, c.icmp, f.Smallest, f.Largest)
		}
	}
	if o.RangeDelAgg != nil && o.RangeDelAgg.AddFile(f.FD.GetNumber()) {
		if t := reader.NewRangeTombstoneIterator(ro); t != nil {
			smallest, largest := o.SmallestCompactionKey, o.LargestCompactionKey
			if smallest == nil {
				smallest = f.Smallest
			}
			if largest == nil {
				largest = f.Largest
			}
			o.RangeDelAgg.AddTombstones(t, smallest, largest)
		}
	}
}

// releasingIterator gives the table back when it is closed.
type releasingIterator struct {
	internaliter.InternalIterator
	handle Handle
}

func (it *releasingIterator) Close() error {
	err := it.InternalIterator.Close()
	it.handle.Release()
	return err
}

// Get looks key, an internal key, up in f.
func (c *TableCache) Get(ro *rocksdb.ReadOptions, f *version.FileMetaData, key []byte, gc *table.GetContext,
	mo *options.MutableCFOptions, o *OpenOptions) error {
	// Rows may hold fewer operands than are wanted, where the merge operator was
	// satisfied with them, and a lookup of operands may end early.
	if c.ioptions.RowCache != nil && !gc.NeedToReadSequence() && !gc.CollectsOperands() {
		return c.getWithRowCache(ro, f, key, gc, mo, o)
	}
	_, err := c.getFromTable(ro, f, key, gc, mo, o)
	return err
}

// getFromTable also tells whether the table has range tombstones.
func (c *TableCache) getFromTable(ro *rocksdb.ReadOptions, f *version.FileMetaData, key []byte, gc *table.GetContext,
	mo *options.MutableCFOptions, o *OpenOptions) (tombstones bool, err error) {
	syncpoint.ProcessArg("TableCache::Get::BeforeFindTable", &f.FD)
	var reader table.TableReader
	var h Handle
	if p := f.FD.Pinned.Load(); p != nil {
		reader = p.Reader
	} else {
		oo := *o
		oo.NoIO, oo.Pin = ro.ReadTier == rocksdb.BlockCacheTier, c.pinHandles.Load()
		if reader, h, err = c.FindTable(ro, f, mo, &oo); err != nil {
			if oo.NoIO && rocksdb.IsIncomplete(err) {
				gc.MarkKeyMayExist()
			}
			return false, err
		}
		defer h.Release()
	}
	if list := reader.FragmentedRangeTombstones(); list != nil && !list.Empty() {
		tombstones = true
		if covering := gc.MaxCoveringTombstoneSeq(); covering != nil && !ro.IgnoreRangeDeletions {
			c.updateCoveringTombstone(ro, reader, dbformat.ExtractUserKey(key), covering, gc)
		}
	}
	return tombstones, reader.Get(ro, key, gc, mo.PrefixExtractor, o.SkipFilters)
}

// updateCoveringTombstone raises covering to the newest tombstone of the table,
// which has some, over userKey.
func (c *TableCache) updateCoveringTombstone(ro *rocksdb.ReadOptions, reader table.TableReader, userKey []byte,
	covering *rocksdb.SequenceNumber, gc *table.GetContext) {
	it := reader.NewRangeTombstoneIterator(ro)
	if it == nil {
		return
	}
	if seq := it.MaxCoveringTombstoneSeqnum(userKey); seq > *covering {
		*covering = seq
		if gc.NeedTimestamp() {
			gc.SetTimestampFromRangeTombstone(it.Timestamp())
		}
	}
}

// GetRangeTombstoneIterator gives f's tombstones as of ro's snapshot, nil when
// there are none. They outlive the table's reader.
func (c *TableCache) GetRangeTombstoneIterator(ro *rocksdb.ReadOptions, f *version.FileMetaData,
	mo *options.MutableCFOptions) (*rangedel.FragmentedRangeTombstoneIterator, error) {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1})
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return reader.NewRangeTombstoneIterator(ro), nil
}

func (c *TableCache) updateCoveringTombstones(ro *rocksdb.ReadOptions, reader table.TableReader, r *table.MultiGetRange) {
	if list := reader.FragmentedRangeTombstones(); list == nil || list.Empty() {
		return
	}
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		k := r.Key(i)
		c.updateCoveringTombstone(ro, reader, k.UKeyWithTS, &k.MaxCoveringTombstoneSeq, k.GetContext)
	}
}

// PendingMultiGet is a MultiGet that waits for its reads; the zero value waits
// for nothing. One of its methods has to be called, once.
type PendingMultiGet struct {
	table  table.PendingMultiGet
	handle Handle
}

// IsZero tells that there is nothing to wait for.
func (p *PendingMultiGet) IsZero() bool { return p.table == nil }

// Finish waits and looks the keys up.
func (p *PendingMultiGet) Finish() {
	p.table.Finish()
	p.handle.Release()
}

// Abandon waits for the reads alone.
func (p *PendingMultiGet) Abandon() {
	p.table.Abandon()
	p.handle.Release()
}

// NumReads is the number of reads under way.
func (p *PendingMultiGet) NumReads() int { return p.table.NumReads() }

// BeginMultiGet looks all keys of r up in f. Errors of one key go to its
// context. With ReadOptions.AsyncIO it may end with reads under way; r and ro
// have to live until what it returns is finished.
func (c *TableCache) BeginMultiGet(ro *rocksdb.ReadOptions, f *version.FileMetaData, r *table.MultiGetRange,
	mo *options.MutableCFOptions, skipRangeDeletions bool, o *OpenOptions) (pending PendingMultiGet, err error) {
	if c.ioptions.RowCache != nil && !r.Key(r.First()).GetContext.NeedToReadSequence() {
		// Rows are cached one by one.
		for i := r.First(); i < r.End(); i = r.NextIndex(i) {
			k := r.Key(i)
			if err := c.getWithRowCache(ro, f, k.IKey, k.GetContext, mo, o); err != nil && !rocksdb.IsIncomplete(err) {
				*k.Err = err
			}
		}
		return PendingMultiGet{}, nil
	}
	syncpoint.ProcessArg("TableCache::MultiGet::BeforeFindTable", &f.FD)
	var reader table.TableReader
	var h Handle
	if p := f.FD.Pinned.Load(); p != nil {
		reader = p.Reader
	} else {
		oo := *o
		oo.NoIO, oo.Pin = ro.ReadTier == rocksdb.BlockCacheTier, c.pinHandles.Load()
		reader, h, err = c.FindTable(ro, f, mo, &oo)
		syncpoint.ProcessArg("TableCache::MultiGet:FindTable", &err)
		if err != nil {
			if !oo.NoIO || !rocksdb.IsIncomplete(err) {
				return PendingMultiGet{}, err
			}
			for i := r.First(); i < r.End(); i = r.NextIndex(i) {
				k := r.Key(i)
				k.GetContext.MarkKeyMayExist()
				*k.Err = err
			}
			return PendingMultiGet{}, nil
		}
	}
	if !ro.IgnoreRangeDeletions && !skipRangeDeletions {
		c.updateCoveringTombstones(ro, reader, r)
	}
	if ro.AsyncIO && rocksdb.CheckFSFeatureSupport(c.ioptions.FS, rocksdb.AsyncIO) {
		if a, ok := reader.(table.AsyncMultiGetter); ok {
			if p := a.BeginMultiGet(ro, r, mo.PrefixExtractor, o.SkipFilters); p != nil {
				return PendingMultiGet{table: p, handle: h}, nil
			}
			h.Release()
			return PendingMultiGet{}, nil
		}
	}
	reader.MultiGet(ro, r, mo.PrefixExtractor, o.SkipFilters)
	h.Release()
	return PendingMultiGet{}, nil
}

// GetTableProperties gives the properties of an open table; with noIO, a table
// that is not open is Incomplete.
func (c *TableCache) GetTableProperties(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions,
	noIO bool) (*rocksdb.TableProperties, error) {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1, NoIO: noIO})
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return reader.GetTableProperties(), nil
}

// ApproximateKeyAnchors gives keys that split the table evenly.
func (c *TableCache) ApproximateKeyAnchors(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions) ([]table.Anchor, error) {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1})
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return reader.ApproximateKeyAnchors(ro)
}

// GetMemoryUsageByTableReader is in bytes, 0 for a table that is not open.
func (c *TableCache) GetMemoryUsageByTableReader(ro *rocksdb.ReadOptions, f *version.FileMetaData, mo *options.MutableCFOptions) int {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1, NoIO: true})
	if err != nil {
		return 0
	}
	defer h.Release()
	return reader.ApproximateMemoryUsage()
}

// ApproximateOffsetOf is about the place in the file, in bytes, of an internal
// key; 0 when the table cannot be opened.
func (c *TableCache) ApproximateOffsetOf(ro *rocksdb.ReadOptions, key []byte, f *version.FileMetaData,
	caller rocksdb.TableReaderCaller, mo *options.MutableCFOptions) uint64 {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1})
	if err != nil {
		return 0
	}
	defer h.Release()
	return reader.ApproximateOffsetOf(ro, key, caller)
}

// ApproximateSize is about the file's bytes between two internal keys; 0 when
// the table cannot be opened.
func (c *TableCache) ApproximateSize(ro *rocksdb.ReadOptions, start, end []byte, f *version.FileMetaData,
	caller rocksdb.TableReaderCaller, mo *options.MutableCFOptions) uint64 {
	reader, h, err := c.FindTable(ro, f, mo, &OpenOptions{Level: -1})
	if err != nil {
		return 0
	}
	defer h.Release()
	return reader.ApproximateSize(ro, start, end, caller)
}

// Evict takes a file out of the cache of open tables; readers in use stay open
// until they are given back.
func (c *TableCache) Evict(number uint64) { Evict(c.cache, number) }

// Evict is the method for a cache.
func Evict(cache rocksdb.Cache, number uint64) {
	var key [8]byte
	util.EncodeFixed64(key[:], number)
	cache.Erase(key[:])
}

// ReleaseObsolete closes the table of a file that is going to be deleted, as
// soon as no read uses it, dropping its blocks from the block cache the harder
// the greater uncacheAggressiveness.
func ReleaseObsolete(cache rocksdb.Cache, f *version.FileMetaData, uncacheAggressiveness uint32) {
	if p := f.FD.Pinned.Swap(nil); p != nil {
		p.Reader.MarkObsolete(uncacheAggressiveness)
		cache.Erase(f.FD.TableCacheKey())
		p.Release()
		return
	}
	if h := cache.Lookup(f.FD.TableCacheKey(), &readerHelper, nil, rocksdb.CachePriorityLow, nil); h != nil {
		h.Value().(table.TableReader).MarkObsolete(uncacheAggressiveness)
		cache.Erase(f.FD.TableCacheKey())
		cache.Release(h, false)
	}
}

// rowHelper describes rows to the row cache.
var rowHelper = rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}

// rowCacheKey is the row cache's id, the file's number, which view of the row
// it is, and the user key. A snapshot that may not see all of the file is a
// view of its own (its sequence number + 1; 0 is the view of everything).
func (c *TableCache) rowCacheKey(ro *rocksdb.ReadOptions, f *version.FileMetaData, key []byte, gc *table.GetContext) (k []byte, seq rocksdb.SequenceNumber) {
	var view uint64
	if ro.Snapshot != nil && (gc.HasCallback() || ro.Snapshot.GetSequenceNumber() <= f.FD.LargestSeqno) {
		seq = dbformat.GetInternalKeySeqno(key)
		view = seq + 1
	}
	k = append(k, c.rowCacheID...)
	k = util.AppendVarint64(k, f.FD.GetNumber())
	k = util.AppendVarint64(k, view)
	return append(k, dbformat.ExtractUserKey(key)...), seq
}

// rowPinner keeps a row in the cache while a value points into it.
type rowPinner struct {
	cache  rocksdb.Cache
	handle rocksdb.CacheHandle
}

func (p *rowPinner) Pin() rocksdb.Releaser {
	if !p.cache.Ref(p.handle) {
		return nil
	}
	return &rowPinner{p.cache, p.handle}
}

// Release gives the reference back.
func (p *rowPinner) Release() { p.cache.Release(p.handle, false) }

// getWithRowCache replays a cached row, or reads the table and caches what was
// found.
func (c *TableCache) getWithRowCache(ro *rocksdb.ReadOptions, f *version.FileMetaData, key []byte, gc *table.GetContext,
	mo *options.MutableCFOptions, o *OpenOptions) error {
	cache := c.ioptions.RowCache
	rowKey, seq := c.rowCacheKey(ro, f, key, gc)
	if h := cache.Lookup(rowKey, &rowHelper, nil, rocksdb.CachePriorityLow, nil); h != nil {
		monitoring.RecordTick(c.ioptions.Stats, rocksdb.RowCacheHit, 1)
		pinner := &rowPinner{cache, h}
		defer pinner.Release()
		return table.ReplayGetContextLog(h.Value().([]byte), dbformat.ExtractUserKey(key), gc, pinner, seq)
	}
	monitoring.RecordTick(c.ioptions.Stats, rocksdb.RowCacheMiss, 1)
	var log []byte
	gc.SetReplayLog(&log)
	tombstones, err := c.getFromTable(ro, f, key, gc, mo, o)
	gc.SetReplayLog(nil)
	// A row says nothing of the tombstones over it.
	if err == nil && len(log) > 0 && !tombstones {
		// A full row cache is no error.
		_, _ = cache.Insert(rowKey, log, &rowHelper, cap(log)+sliceHeader, rocksdb.CachePriorityLow, false)
	}
	return err
}

// sliceHeader is what a row costs besides its bytes.
const sliceHeader = 24

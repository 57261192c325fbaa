// Port of db/blob/blob_source.{h,cc}. MultiGetBlob is in blob_read_request.go.

package blob

import (
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
)

// basicContentsHelper and contentsHelper describe blobs, which are uncompressed, to
// the blob cache: without and with a secondary cache.
var (
	basicContentsHelper = rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleBlobValue}
	contentsHelper      = rocksdb.CacheItemHelper{
		Role:   rocksdb.CacheEntryRoleBlobValue,
		SizeOf: func(obj any) int { return len(obj.([]byte)) },
		SaveTo: func(obj any, from int, out []byte) error {
			copy(out, obj.([]byte)[from:])
			return nil
		},
		Create: func(data []byte, typ rocksdb.CompressionType, source rocksdb.CacheTier, _ rocksdb.CacheCreateContext, _ rocksdb.MemoryAllocator) (any, int, error) {
			if typ != rocksdb.NoCompression || source != rocksdb.VolatileTier {
				return nil, 0, rocksdb.InvalidArgument("a compressed blob from a secondary cache")
			}
			b := append([]byte(nil), data...)
			return b, contentsCharge(b), nil
		},
		WithoutSecondaryCompat: &basicContentsHelper,
	}
)

// sliceHeader is what a cached blob costs besides its bytes.
const sliceHeader = 24

func contentsCharge(b []byte) int { return cap(b) + sliceHeader }

// helperFor describes blobs to the cache tiers that are used
// (lowest_used_cache_tier).
func helperFor(io *options.ImmutableOptions) *rocksdb.CacheItemHelper {
	if io.LowestUsedCacheTier == rocksdb.VolatileTier {
		return &basicContentsHelper
	}
	return &contentsHelper
}

// BlobSource reads a column family's blobs, through the blob cache where one is
// configured. Safe for concurrent use.
type BlobSource struct {
	dbID      *string
	sessionID string
	stats     rocksdb.Statistics
	files     *BlobFileCache
	cache     rocksdb.Cache // nil for none
	helper    *rocksdb.CacheItemHelper
}

// NewBlobSource makes the source of one family. dbID is looked at when blobs are
// read: a family may be there before the database has its ID. mo's table options
// may have the blob cache charged to the block cache.
func NewBlobSource(io *options.ImmutableOptions, mo *options.MutableCFOptions, dbID *string, dbSessionID string, files *BlobFileCache) *BlobSource {
	return &BlobSource{dbID: dbID, sessionID: dbSessionID, stats: io.Stats, files: files, cache: maybeCharged(io.BlobCache, mo),
		helper: helperFor(io)}
}

func maybeCharged(c rocksdb.Cache, mo *options.MutableCFOptions) rocksdb.Cache {
	if c == nil || mo.TableFactory == nil {
		return c
	}
	o, ok := mo.TableFactory.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
	if !ok || o.BlockCache == nil || o.CacheUsageOptions.OptionsOverrides[rocksdb.CacheEntryRoleBlobCache].Charged != rocksdb.CacheEntryRoleEnabled {
		return c
	}
	return cache.NewChargedCache(c, o.BlockCache)
}

// Close gives back what the block cache was charged. No blob may be in use.
func (s *BlobSource) Close() {
	if c, charged := s.cache.(*cache.ChargedCache); charged {
		c.Close()
	}
}

// Evict lets go of the reader of a file that is not needed any more.
func (s *BlobSource) Evict(number uint64) { s.files.Evict(number) }

// cachedBlob holds a blob in the cache for a value.
type cachedBlob struct {
	cache  rocksdb.Cache
	handle rocksdb.CacheHandle
}

// Release gives the blob back to the cache.
func (b *cachedBlob) Release() { b.cache.Release(b.handle, false) }

func (s *BlobSource) pin(h rocksdb.CacheHandle, value *rocksdb.PinnableSlice) {
	value.PinSlice(h.Value().([]byte), &cachedBlob{s.cache, h})
}

func (s *BlobSource) key(number, offset uint64) cache.CacheKey {
	return cache.NewOffsetableCacheKey(*s.dbID, s.sessionID, number).WithOffset(offset)
}

// lookup gives nil when the cache does not have the blob.
func (s *BlobSource) lookup(key []byte, pc *rocksdb.PerfContext) rocksdb.CacheHandle {
	h := s.cache.Lookup(key, s.helper, nil, rocksdb.CachePriorityBottom, s.stats)
	if h == nil {
		monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheMiss, 1)
		return nil
	}
	n := uint64(len(h.Value().([]byte)))
	if pc.Enabled(rocksdb.EnableCount) {
		pc.BlobCacheHitCount++
		pc.BlobCacheReadByte += n
	}
	monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheHit, 1)
	monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheBytesRead, n)
	return h
}

// GetBlob reads the blob of userKey whose value, of valueSize stored bytes, lies
// at offset of a blob file; value, which has to be empty, gets it uncompressed.
// bytesRead is the size of what is read of the file, also when the cache has it.
// prefetch is the file's prefetch buffer, nil for none.
func (s *BlobSource) GetBlob(ro *rocksdb.ReadOptions, userKey []byte, number, offset, valueSize uint64,
	c rocksdb.CompressionType, prefetch *file.FilePrefetchBuffer, value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	var buf [cache.CacheKeySize]byte
	var key []byte
	if s.cache != nil {
		key = s.key(number, offset).Append(buf[:0])
		if h := s.lookup(key, ro.PerfContext); h != nil {
			s.pin(h, value)
			return valueSize + adjustmentOf(ro, userKey), nil
		}
	}
	if ro.ReadTier == rocksdb.BlockCacheTier {
		return 0, rocksdb.Incomplete("Cannot read blob(s): no disk I/O allowed")
	}
	blob, bytesRead, err := s.readFromFile(ro, userKey, number, offset, valueSize, c, prefetch)
	if err != nil {
		return 0, err
	}
	if s.cache == nil || !ro.FillCache {
		*value = rocksdb.NewPinnableSlice(blob, nil)
		return bytesRead, nil
	}
	h, err := s.insert(key, blob)
	if err != nil {
		return 0, err
	}
	s.pin(h, value)
	return bytesRead, nil
}

func (s *BlobSource) insert(key, blob []byte) (rocksdb.CacheHandle, error) {
	h, err := s.cache.Insert(key, blob, s.helper, contentsCharge(blob), rocksdb.CachePriorityBottom, true)
	if err != nil {
		monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheAddFailures, 1)
		return nil, err
	}
	monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheAdd, 1)
	monitoring.RecordTick(s.stats, rocksdb.BlobDBCacheBytesWrite, uint64(len(blob)))
	return h, nil
}

// GetSimpleGen2Blob implements table.EmbeddedBlobSource.
func (s *BlobSource) GetSimpleGen2Blob(ro *rocksdb.ReadOptions, f *blobformat.SimpleGen2File, index *blobformat.BlobIndex) (
	data []byte, owner rocksdb.Releaser, err error) {
	var buf [cache.CacheKeySize]byte
	var key []byte
	if s.cache != nil {
		key = f.RecordCacheKey(index.Offset).Append(buf[:0])
		if h := s.lookup(key, ro.PerfContext); h != nil {
			return h.Value().([]byte), &cachedBlob{s.cache, h}, nil
		}
	}
	if ro.ReadTier == rocksdb.BlockCacheTier {
		return nil, nil, rocksdb.Incomplete("Cannot read blob(s): no disk I/O allowed")
	}
	if data, err = f.Read(ro, index); err != nil {
		return nil, nil, err
	}
	n := uint64(len(data)) + blobformat.SimpleGen2BlobTrailerSize
	monitoring.RecordTick(s.stats, rocksdb.BlobDBBlobFileBytesRead, n)
	if pc := ro.PerfContext; pc.Enabled(rocksdb.EnableCount) {
		pc.BlobReadCount++
		pc.BlobReadByte += n
	}
	if s.cache == nil || !ro.FillCache {
		return data, nil, nil
	}
	h, err := s.insert(key, data)
	if err != nil {
		return nil, nil, err
	}
	return data, &cachedBlob{s.cache, h}, nil
}

// readFromFile reads the blob. When it looks damaged the file is opened afresh
// and read once more: the reader may have been opened while it was written.
func (s *BlobSource) readFromFile(ro *rocksdb.ReadOptions, userKey []byte, number, offset, valueSize uint64,
	c rocksdb.CompressionType, prefetch *file.FilePrefetchBuffer) (blob []byte, bytesRead uint64, err error) {
	h, err := s.files.GetBlobFileReader(ro, number)
	if err != nil {
		return nil, 0, err
	}
	blob, bytesRead, err = h.Reader().GetBlob(ro, userKey, offset, valueSize, c, prefetch)
	mismatch := c != h.Reader().GetCompressionType()
	h.Release()
	if !rocksdb.IsCorruption(err) || mismatch {
		return blob, bytesRead, err
	}
	stale := err
	s.files.Evict(number)
	fresh, err := s.files.OpenBlobFileReaderUncached(ro, number)
	if err == nil {
		if blob, bytesRead, err = fresh.GetBlob(ro, userKey, offset, valueSize, c, nil); err == nil {
			// Should the cache not take it, it is closed.
			_ = s.files.RefreshBlobFileReader(number, fresh)
			return blob, bytesRead, nil
		}
		_ = fresh.Close()
	}
	return nil, 0, refreshRetryFailure(stale, err)
}

// refreshRetryFailure is the error of a blob that the file's old reader found
// damaged (stale) and a fresh one could not give (err).
// Upstream: AppendBlobRefreshRetryFailure.
func refreshRetryFailure(stale, err error) error {
	if rocksdb.IsCorruption(err) {
		return err
	}
	st := *rocksdb.AsStatus(stale)
	st.Message += "; refresh retry failed: " + err.Error()
	return &st
}

// TESTBlobInCache tells whether the blob is in the blob cache; the look counts
// in the statistics.
func (s *BlobSource) TESTBlobInCache(number, offset uint64) bool {
	if s.cache == nil {
		return false
	}
	h := s.lookup(s.key(number, offset).AsSlice(), nil)
	if h == nil {
		return false
	}
	s.cache.Release(h, false)
	return true
}

// Port of db/blob/blob_file_cache.{h,cc}.

package blob

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// numMutexStripes is how many files may be opened at once.
const numMutexStripes = 128

// fileReaderHelper describes open blob files to the cache.
var fileReaderHelper = rocksdb.CacheItemHelper{
	Role:    rocksdb.CacheEntryRoleMisc,
	Deleter: func(obj any) { _ = obj.(*BlobFileReader).Close() },
}

// BlobFileCache opens a column family's blob files. It shares the cache of open
// tables, whose keys are file numbers too. Safe for concurrent use.
type BlobFileCache struct {
	cache       rocksdb.Cache
	ioptions    *options.ImmutableOptions
	fileOptions rocksdb.FileOptions
	familyID    uint32
	readHist    *monitoring.HistogramImpl // may be nil
	stripes     [numMutexStripes]sync.Mutex
}

// NewBlobFileCache makes the cache of one family. hist may be nil.
func NewBlobFileCache(cache rocksdb.Cache, io *options.ImmutableOptions, fo rocksdb.FileOptions, columnFamilyID uint32,
	hist *monitoring.HistogramImpl) *BlobFileCache {
	return &BlobFileCache{cache: cache, ioptions: io, fileOptions: fo, familyID: columnFamilyID, readHist: hist}
}

// ReaderHandle holds a blob file open. Release it once.
type ReaderHandle struct {
	cache  rocksdb.Cache
	handle rocksdb.CacheHandle
}

// Reader is the open file.
func (h *ReaderHandle) Reader() *BlobFileReader { return h.handle.Value().(*BlobFileReader) }

// Release gives the file back.
func (h *ReaderHandle) Release() {
	if h.handle != nil {
		h.cache.Release(h.handle, false)
		h.handle = nil
	}
}

func cacheKeyOf(number uint64) (key [8]byte) {
	util.EncodeFixed64(key[:], number)
	return key
}

func (c *BlobFileCache) lookup(key []byte) ReaderHandle {
	return ReaderHandle{c.cache, c.cache.Lookup(key, &fileReaderHelper, nil, rocksdb.CachePriorityLow, nil)}
}

// GetBlobFileReader gives the open file, opening it if need be.
func (c *BlobFileCache) GetBlobFileReader(ro *rocksdb.ReadOptions, number uint64) (ReaderHandle, error) {
	key := cacheKeyOf(number)
	if h := c.lookup(key[:]); h.handle != nil {
		return h, nil
	}
	syncpoint.Process("BlobFileCache::GetBlobFileReader:DoubleCheck")
	mu := &c.stripes[number%numMutexStripes]
	mu.Lock()
	defer mu.Unlock()
	if h := c.lookup(key[:]); h.handle != nil {
		return h, nil
	}
	r, err := c.OpenBlobFileReaderUncached(ro, number)
	if err != nil {
		logging.Warn(c.ioptions.Logger, "BlobFileCache open failed for blob file %d in CF %d: %v", number, c.familyID, err)
		return ReaderHandle{}, err
	}
	return c.insert(key[:], r)
}

// insert takes r, which is closed on an error.
func (c *BlobFileCache) insert(key []byte, r *BlobFileReader) (ReaderHandle, error) {
	h, err := c.cache.Insert(key, r, &fileReaderHelper, 1, rocksdb.CachePriorityLow, true)
	if err != nil {
		monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileErrors, 1)
		_ = r.Close()
		return ReaderHandle{}, err
	}
	return ReaderHandle{c.cache, h}, nil
}

// OpenBlobFileReaderUncached opens the file for the caller alone.
func (c *BlobFileCache) OpenBlobFileReaderUncached(ro *rocksdb.ReadOptions, number uint64) (*BlobFileReader, error) {
	monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileOpens, 1)
	r, err := OpenBlobFileReader(c.ioptions, ro, &c.fileOptions, c.familyID, c.readHist, number)
	if err != nil {
		monitoring.RecordTick(c.ioptions.Stats, rocksdb.NoFileErrors, 1)
	}
	return r, err
}

// RefreshBlobFileReader takes r in place of the file's reader, unless that saw
// the file longer or as long; then r is closed.
func (c *BlobFileCache) RefreshBlobFileReader(number uint64, r *BlobFileReader) error {
	key := cacheKeyOf(number)
	mu := &c.stripes[number%numMutexStripes]
	mu.Lock()
	defer mu.Unlock()
	if h := c.lookup(key[:]); h.handle != nil {
		larger := h.Reader().GetFileSize() >= r.GetFileSize()
		h.Release()
		if larger {
			return r.Close()
		}
		c.cache.Erase(key[:])
	}
	h, err := c.insert(key[:], r)
	h.Release()
	return err
}

// Evict closes the file once no read uses it.
func (c *BlobFileCache) Evict(number uint64) {
	key := cacheKeyOf(number)
	c.cache.Erase(key[:])
}

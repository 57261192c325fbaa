// Port of db/blob/blob_source_test.cc and db/blob/blob_file_cache_test.cc, what
// reads blobs one by one.

package blob

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

var testDBID = "db_id"

func (b *blobTest) fileCache(capacity int) *BlobFileCache {
	b.t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.MetadataChargePolicy, o.StrictCapacityLimit = 0, rocksdb.DontChargeCacheMetadata, true
	c, err := cache.NewLRUCache(o)
	b.noErr(err)
	return NewBlobFileCache(c, &b.io, b.fo, testFamily, nil)
}

func (b *blobTest) wantTicks(want map[rocksdb.Ticker]uint64) {
	b.t.Helper()
	for ticker, n := range want {
		if got := b.stats.GetTickerCount(ticker); got != n {
			b.t.Errorf("ticker %d is %d, want %d", ticker, got, n)
		}
	}
}

func TestBlobFileCacheTest_GetBlobFileReader(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")
	c := b.fileCache(10)
	first, err := c.GetBlobFileReader(&b.ro, 1)
	b.noErr(err)
	second, err := c.GetBlobFileReader(&b.ro, 1)
	b.noErr(err)
	if first.Reader() != second.Reader() {
		t.Error("the file was opened twice")
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.NoFileOpens: 1, rocksdb.NoFileErrors: 0})
	first.Release()
	second.Release()
}

func TestBlobFileCacheTest_GetBlobFileReader_Race(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")
	c := b.fileCache(10)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			h, err := c.GetBlobFileReader(&b.ro, 1)
			if err != nil {
				t.Error(err)
			}
			h.Release()
		})
	}
	wg.Wait()
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.NoFileOpens: 1, rocksdb.NoFileErrors: 0})
}

func TestBlobFileCacheTest_RefreshBlobFileReaderPrefersLargestObservedFileSize(t *testing.T) {
	b := newBlobTest(t)
	open := func(c *BlobFileCache) *BlobFileReader {
		t.Helper()
		r, err := c.OpenBlobFileReaderUncached(&b.ro, 1)
		b.noErr(err)
		return r
	}
	cached := func(c *BlobFileCache) *BlobFileReader {
		t.Helper()
		h, err := c.GetBlobFileReader(&b.ro, 1)
		b.noErr(err)
		defer h.Release()
		return h.Reader()
	}
	c := b.fileCache(10)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key0", "blob0")
	first, stale := open(c), open(c)
	b.noErr(c.RefreshBlobFileReader(1, first))
	if cached(c) != first {
		t.Error("the first reader was not taken")
	}
	b.noErr(os.Remove(b.path(1)))
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key0", "blob0", "key1", "blob1")
	fresh := open(c)
	if fresh.GetFileSize() <= stale.GetFileSize() {
		t.Fatalf("sizes %d and %d", stale.GetFileSize(), fresh.GetFileSize())
	}
	b.noErr(c.RefreshBlobFileReader(1, fresh))
	b.noErr(c.RefreshBlobFileReader(1, stale))
	if cached(c) != fresh {
		t.Error("the reader of the longer file was not kept")
	}
}

func TestBlobFileCacheTest_GetBlobFileReader_IOError(t *testing.T) {
	b := newBlobTest(t)
	c := b.fileCache(10)
	if _, err := c.GetBlobFileReader(&b.ro, 1); !rocksdb.IsIOError(err) {
		t.Errorf("a missing file: %v", err)
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.NoFileOpens: 1, rocksdb.NoFileErrors: 1})
}

func TestBlobFileCacheTest_GetBlobFileReader_CacheFull(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")
	c := b.fileCache(0)
	if _, err := c.GetBlobFileReader(&b.ro, 1); rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeMemoryLimit {
		t.Errorf("a full cache: %v", err)
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.NoFileOpens: 1, rocksdb.NoFileErrors: 1})
}

func newBlobSourceTest(t *testing.T) (*blobTest, *BlobSource) {
	b := newBlobTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
		o := rocksdb.DefaultLRUCacheOptions(8 << 20)
		o.NumShardBits = 0
		c, err := cache.NewLRUCache(o)
		if err != nil {
			t.Fatal(err)
		}
		cf.BlobCache = c
	})
	b.ro.PerfContext = &rocksdb.PerfContext{Level: rocksdb.EnableTime}
	return b, NewBlobSource(&b.io, &b.mo, &testDBID, "session", b.fileCache(100))
}

// getAll reads all blobs, and looks for each in the cache before and after.
func (b *blobTest) getAll(s *BlobSource, c rocksdb.CompressionType, blobs []string, at []location, wantBefore, wantAfter bool) {
	b.t.Helper()
	for i, blob := range blobs {
		key := fmt.Appendf(nil, "key%02d", i)
		if got := s.TESTBlobInCache(1, at[i].offset); got != wantBefore {
			b.t.Errorf("blob %d is in the cache before: %t", i, got)
		}
		var value rocksdb.PinnableSlice
		n, err := s.GetBlob(&b.ro, key, 1, at[i].offset, at[i].size, c, nil, &value)
		want := at[i].size
		if b.ro.VerifyChecksums {
			want += blobformat.CalculateAdjustmentForRecordHeader(uint64(len(key)))
		}
		if err != nil || string(value.Data()) != blob || n != want {
			b.t.Errorf("blob %d: %d bytes of value, %d read, %v; want %d", i, value.Size(), n, err, want)
		}
		if got := s.TESTBlobInCache(1, at[i].offset); got != wantAfter {
			b.t.Errorf("blob %d is in the cache after: %t", i, got)
		}
		value.Release()
	}
}

func testBlobs() (kvs, blobs []string) {
	for i := range 16 {
		blob := strings.Repeat(fmt.Sprintf("blob%02d", i), 30)
		blobs = append(blobs, blob)
		kvs = append(kvs, fmt.Sprintf("key%02d", i), blob)
	}
	return kvs, blobs
}

func TestBlobSourceTest_GetBlobsFromCache(t *testing.T) {
	b, s := newBlobSourceTest(t)
	kvs, blobs := testBlobs()
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, kvs...)
	n := uint64(len(blobs))
	var valueBytes, recordBytes uint64
	for i := range at {
		valueBytes += at[i].size
		recordBytes += at[i].size + blobformat.CalculateAdjustmentForRecordHeader(5)
	}
	pc := b.ro.PerfContext

	b.ro.FillCache = false
	b.getAll(s, rocksdb.NoCompression, blobs, at, false, false)
	if pc.BlobCacheHitCount != 0 || pc.BlobCacheReadByte != 0 || pc.BlobReadCount != n || pc.BlobReadByte != recordBytes ||
		pc.BlobChecksumTime == 0 || pc.BlobDecompressTime != 0 {
		t.Errorf("without filling: %d hits, %d bytes of hits, %d reads, %d bytes", pc.BlobCacheHitCount, pc.BlobCacheReadByte, pc.BlobReadCount, pc.BlobReadByte)
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 3 * n, rocksdb.BlobDBCacheHit: 0, rocksdb.BlobDBCacheAdd: 0,
		rocksdb.BlobDBCacheBytesRead: 0, rocksdb.BlobDBCacheBytesWrite: 0})

	b.ro.FillCache = true
	b.getAll(s, rocksdb.NoCompression, blobs, at, false, true)
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 5 * n, rocksdb.BlobDBCacheHit: n, rocksdb.BlobDBCacheAdd: n,
		rocksdb.BlobDBCacheBytesRead: valueBytes, rocksdb.BlobDBCacheBytesWrite: valueBytes})

	*pc = rocksdb.PerfContext{}
	b.ro.ReadTier = rocksdb.BlockCacheTier
	b.getAll(s, rocksdb.NoCompression, blobs, at, true, true)
	if pc.BlobCacheHitCount != n || pc.BlobCacheReadByte != valueBytes || pc.BlobReadCount != 0 {
		t.Errorf("from the cache: %d hits, %d bytes, %d reads", pc.BlobCacheHitCount, pc.BlobCacheReadByte, pc.BlobReadCount)
	}

	// What is in no cache cannot be had without I/O.
	b.io.BlobCache.EraseUnRefEntries()
	var value rocksdb.PinnableSlice
	if got, err := s.GetBlob(&b.ro, []byte("key00"), 1, at[0].offset, at[0].size, rocksdb.NoCompression, nil, &value); !rocksdb.IsIncomplete(err) ||
		got != 0 || value.Size() != 0 {
		t.Errorf("no I/O: %q, %d bytes, %v", value.Data(), got, err)
	}
	// Nor can a blob of a file that is not there.
	b.ro.ReadTier = rocksdb.ReadAllTier
	if got, err := s.GetBlob(&b.ro, []byte("key00"), 100, at[0].offset, at[0].size, rocksdb.NoCompression, nil, &value); !rocksdb.IsIOError(err) ||
		got != 0 || value.Size() != 0 {
		t.Errorf("no file: %q, %d bytes, %v", value.Data(), got, err)
	}
}

func TestBlobSourceTest_GetCompressedBlobs(t *testing.T) {
	b, s := newBlobSourceTest(t)
	kvs, blobs := testBlobs()
	at := b.write(1, blobformat.BlobLogHeader{Compression: rocksdb.SnappyCompression}, blobformat.BlobLogFooter{}, kvs...)
	b.getAll(s, rocksdb.SnappyCompression, blobs, at, false, true)
	if pc := b.ro.PerfContext; pc.BlobDecompressTime == 0 {
		t.Error("no time of decompression was counted")
	}
	*b.ro.PerfContext = rocksdb.PerfContext{}
	b.ro.ReadTier = rocksdb.BlockCacheTier
	b.getAll(s, rocksdb.SnappyCompression, blobs, at, true, true) // uncompressed there
}

func TestBlobSourceTest_GetBlobPreservesCorruptionDetailsWhenRefreshOpenFails(t *testing.T) {
	b, s := newBlobSourceTest(t)
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key00", "blob")[0]
	var value rocksdb.PinnableSlice
	_, err := s.GetBlob(&b.ro, []byte("key00"), 1, at.offset, at.size, rocksdb.NoCompression, nil, &value)
	b.noErr(err)
	value.Release()
	b.noErr(os.Remove(b.path(1)))
	n, err := s.GetBlob(&b.ro, []byte("key00"), 1, at.offset+1000, at.size, rocksdb.NoCompression, nil, &value)
	if !rocksdb.IsCorruption(err) || n != 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
	for _, want := range []string{"Invalid blob offset", "refresh retry failed", "IO error"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// A file that was rewritten under an open reader is read afresh.
func TestBlobSource_RefreshedReader(t *testing.T) {
	b, s := newBlobSourceTest(t)
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key00", "blob0")
	var value rocksdb.PinnableSlice
	_, err := s.GetBlob(&b.ro, []byte("key00"), 1, at[0].offset, at[0].size, rocksdb.NoCompression, nil, &value)
	b.noErr(err)
	value.Release()
	b.noErr(os.Remove(b.path(1)))
	at = b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key00", "blob0", "key01", "blob1")
	if _, err = s.GetBlob(&b.ro, []byte("key01"), 1, at[1].offset, at[1].size, rocksdb.NoCompression, nil, &value); err != nil ||
		string(value.Data()) != "blob1" {
		t.Errorf("got %q, %v", value.Data(), err)
	}
	value.Release()
}

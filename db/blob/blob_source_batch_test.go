// Port of db/blob/blob_source_test.cc (reads in batches, charging, a secondary
// cache) and of the batches of db/blob/blob_file_reader_test.cc.

package blob

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// blobsOfFiles are n blobs of each file, alike in all files.
type blobsOfFiles struct {
	b                       *blobTest
	at                      []location
	blobs                   []string
	values                  map[uint64][]rocksdb.PinnableSlice
	valueBytes, recordBytes uint64
}

func (b *blobTest) writeFiles(n int, numbers ...uint64) *blobsOfFiles {
	b.t.Helper()
	x := &blobsOfFiles{b: b, values: map[uint64][]rocksdb.PinnableSlice{}}
	var kvs []string
	for i := range n {
		key, blob := fmt.Sprint("key", i), fmt.Sprint("blob", i)
		kvs, x.blobs = append(kvs, key, blob), append(x.blobs, blob)
		x.valueBytes += uint64(len(blob))
		x.recordBytes += uint64(blobformat.BlobLogRecordHeaderSize + len(key) + len(blob))
	}
	for _, number := range numbers {
		x.at = b.write(number, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, kvs...)
	}
	return x
}

// release gives back what was read of a file.
func (x *blobsOfFiles) release(number uint64) {
	for i := range x.values[number] {
		x.values[number][i].Release()
	}
}

// requests asks for every step-th blob of a file, from the first on.
func (x *blobsOfFiles) requests(number uint64, first, step int) BlobFileReadRequests {
	x.release(number)
	values := make([]rocksdb.PinnableSlice, len(x.blobs))
	x.values[number] = values
	f := BlobFileReadRequests{FileNumber: number}
	for i := first; i < len(x.blobs); i += step {
		f.Requests = append(f.Requests, &BlobReadRequest{UserKey: fmt.Append(nil, "key", i), Offset: x.at[i].offset,
			Size: x.at[i].size, Result: &values[i]})
	}
	return f
}

// wantRead wants the values of a file's requests, and them in the cache.
func (x *blobsOfFiles) wantRead(s *BlobSource, f BlobFileReadRequests, first, step int) {
	x.b.t.Helper()
	values := x.values[f.FileNumber]
	for i, r := range f.Requests {
		n := first + i*step
		if r.Err != nil || string(values[n].Data()) != x.blobs[n] || !values[n].IsPinned() {
			x.b.t.Fatalf("blob %d of file %d is %q, %v", n, f.FileNumber, values[n].Data(), r.Err)
		}
		if !s.TESTBlobInCache(f.FileNumber, r.Offset) {
			x.b.t.Errorf("blob %d of file %d is not in the cache", n, f.FileNumber)
		}
	}
}

// wantFailed wants an error of every request of a file.
func (x *blobsOfFiles) wantFailed(s *BlobSource, f BlobFileReadRequests, is func(error) bool) {
	x.b.t.Helper()
	for i, r := range f.Requests {
		if !is(r.Err) || r.Result.Size() != 0 || r.Result.IsPinned() {
			x.b.t.Errorf("blob %d of file %d is %q, %v", i, f.FileNumber, r.Result.Data(), r.Err)
		}
		if s.TESTBlobInCache(f.FileNumber, r.Offset) {
			x.b.t.Errorf("blob %d of file %d is in the cache", i, f.FileNumber)
		}
	}
}

// wantPerf wants counts of blobs since the last call; looks of TESTBlobInCache do
// not count.
func (b *blobTest) wantPerf(hits, hitBytes, reads, readBytes uint64) {
	b.t.Helper()
	pc := b.ro.PerfContext
	if pc.BlobCacheHitCount != hits || pc.BlobCacheReadByte != hitBytes || pc.BlobReadCount != reads || pc.BlobReadByte != readBytes ||
		pc.BlobDecompressTime != 0 {
		b.t.Errorf("%d hits of %d bytes, %d reads of %d bytes; want %d, %d, %d, %d",
			pc.BlobCacheHitCount, pc.BlobCacheReadByte, pc.BlobReadCount, pc.BlobReadByte, hits, hitBytes, reads, readBytes)
	}
	*pc = rocksdb.PerfContext{Level: pc.Level}
	b.noErr(b.stats.Reset())
}

func TestBlobSourceTest_MultiGetBlobsFromMultiFiles(t *testing.T) {
	b, s := newBlobSourceTest(t)
	const n = 32
	x := b.writeFiles(n, 1, 2)
	files := []BlobFileReadRequests{x.requests(1, 0, 1), x.requests(2, 0, 1)}
	if got := s.MultiGetBlob(&b.ro, files); got != 2*x.recordBytes {
		t.Errorf("%d bytes read, want %d", got, 2*x.recordBytes)
	}
	for _, f := range files {
		x.wantRead(s, f, 0, 1)
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 2 * n, rocksdb.BlobDBCacheHit: 2 * n, rocksdb.BlobDBCacheAdd: 2 * n,
		rocksdb.BlobDBCacheBytesRead: 2 * x.valueBytes, rocksdb.BlobDBCacheBytesWrite: 2 * x.valueBytes})
	b.wantPerf(0, 0, 2*n, 2*x.recordBytes)

	// Once more, from the cache, and of a file that is not there.
	files = append(files, x.requests(100, 0, 1))
	s.MultiGetBlob(&b.ro, files)
	for _, f := range files[:2] {
		x.wantRead(s, f, 0, 1)
	}
	x.wantFailed(s, files[2], rocksdb.IsIOError)
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 2 * n, rocksdb.BlobDBCacheHit: 4 * n, rocksdb.BlobDBCacheAdd: 0,
		rocksdb.BlobDBCacheBytesRead: 4 * x.valueBytes, rocksdb.BlobDBCacheBytesWrite: 0})
	b.wantPerf(2*n, 2*x.valueBytes, 0, 0)
}

func TestBlobSourceTest_MultiGetBlobsFromCache(t *testing.T) {
	b, s := newBlobSourceTest(t)
	const n = 16
	x := b.writeFiles(n, 1)
	get := func(number uint64, first, step int) (BlobFileReadRequests, uint64) {
		f := x.requests(number, first, step)
		return f, s.MultiGetBlobFromOneFile(&b.ro, number, f.Requests)
	}
	// Half of them, then the others one by one.
	even, _ := get(1, 0, 2)
	x.wantRead(s, even, 0, 2)
	var evenBytes, evenRecords uint64
	for i := 0; i < n; i += 2 {
		evenBytes += x.at[i].size
		evenRecords += x.at[i].size + adjustmentOf(&b.ro, fmt.Append(nil, "key", i))
		if s.TESTBlobInCache(1, x.at[i+1].offset) {
			t.Errorf("blob %d is in the cache", i+1)
		}
	}
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: n, rocksdb.BlobDBCacheHit: n / 2, rocksdb.BlobDBCacheAdd: n / 2,
		rocksdb.BlobDBCacheBytesRead: evenBytes, rocksdb.BlobDBCacheBytesWrite: evenBytes})
	b.wantPerf(0, 0, n/2, evenRecords)
	for i := 1; i < n; i += 2 {
		var value rocksdb.PinnableSlice
		_, err := s.GetBlob(&b.ro, fmt.Append(nil, "key", i), 1, x.at[i].offset, x.at[i].size, rocksdb.NoCompression, nil, &value)
		b.noErr(err)
		if string(value.Data()) != x.blobs[i] || !value.IsPinned() {
			t.Errorf("blob %d is %q", i, value.Data())
		}
		value.Release()
	}

	// All from the cache, without I/O.
	b.ro.ReadTier = rocksdb.BlockCacheTier
	b.noErr(b.stats.Reset())
	*b.ro.PerfContext = rocksdb.PerfContext{Level: rocksdb.EnableTime}
	all, bytes := get(1, 0, 1)
	if bytes != x.recordBytes {
		t.Errorf("%d bytes, want %d", bytes, x.recordBytes)
	}
	x.wantRead(s, all, 0, 1)
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 0, rocksdb.BlobDBCacheHit: 2 * n, rocksdb.BlobDBCacheAdd: 0,
		rocksdb.BlobDBCacheBytesRead: 2 * x.valueBytes, rocksdb.BlobDBCacheBytesWrite: 0})
	b.wantPerf(n, x.valueBytes, 0, 0)

	// What is not there cannot be had without I/O.
	x.release(1)
	b.io.BlobCache.EraseUnRefEntries()
	for _, number := range []uint64{1, 100} {
		left, bytes := get(number, 1, 2)
		if bytes != 0 {
			t.Errorf("%d bytes without I/O", bytes)
		}
		x.wantFailed(s, left, rocksdb.IsIncomplete)
		b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: n, rocksdb.BlobDBCacheHit: 0, rocksdb.BlobDBCacheAdd: 0})
		b.wantPerf(0, 0, 0, 0)
	}

	// Nor can a blob of a file that is not there.
	b.ro.ReadTier = rocksdb.ReadAllTier
	missing, bytes := get(100, 0, 1)
	if bytes != 0 {
		t.Errorf("%d bytes of a missing file", bytes)
	}
	x.wantFailed(s, missing, rocksdb.IsIOError)
	b.wantTicks(map[rocksdb.Ticker]uint64{rocksdb.BlobDBCacheMiss: 2 * n, rocksdb.BlobDBCacheHit: 0, rocksdb.BlobDBCacheAdd: 0})
	b.wantPerf(0, 0, 0, 0)
}

func TestBlobSourceTest_MultiGetBlobPreservesCorruptionDetailsWhenRefreshOpenFails(t *testing.T) {
	b, s := newBlobSourceTest(t)
	x := b.writeFiles(2, 1)
	f := x.requests(1, 0, 1)
	s.MultiGetBlob(&b.ro, []BlobFileReadRequests{f})
	x.wantRead(s, f, 0, 1)
	x.release(1)
	b.io.BlobCache.EraseUnRefEntries()
	b.noErr(os.Remove(b.path(1)))
	f = x.requests(1, 0, 1)
	f.Requests[1].Offset += 1000
	if got, want := s.MultiGetBlob(&b.ro, []BlobFileReadRequests{f}), x.recordBytes-x.at[1].size-adjustmentOf(&b.ro, []byte("key1")); got != want {
		t.Errorf("%d bytes read, want %d", got, want)
	}
	if r := f.Requests[0]; r.Err != nil || string(r.Result.Data()) != "blob0" {
		t.Errorf("the good one is %q, %v", r.Result.Data(), r.Err)
	}
	err := f.Requests[1].Err
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "Invalid blob offset") || !strings.Contains(err.Error(), "refresh retry failed: ") {
		t.Errorf("the bad one: %v", err)
	}
}

func TestBlobFileReaderTest_MultiGetBlobWithFailedValidation(t *testing.T) {
	b := newBlobTest(t)
	x := b.writeFiles(3, 1)
	reqs := x.requests(1, 0, 1).Requests
	reqs[0].Offset = 0 // there is no place for a record before it
	reads := make([]fileRead, len(reqs))
	for i, r := range reqs {
		reads[i].BlobReadRequest = r
	}
	b.mustOpen().MultiGetBlob(&b.ro, reads)
	b.wantCorruption(reads[0].Err)
	if reads[0].value != nil {
		t.Errorf("a value %q", reads[0].value)
	}
	for i := 1; i < 3; i++ {
		if reads[i].Err != nil || string(reads[i].value) != x.blobs[i] {
			t.Errorf("blob %d is %q, %v", i, reads[i].value, reads[i].Err)
		}
	}
}

func TestBlobSecondaryCacheTest_GetBlobsFromSecondaryCache(t *testing.T) {
	so := rocksdb.DefaultCompressedSecondaryCacheOptions(8 << 20)
	so.NumShardBits, so.MetadataChargePolicy, so.CompressionType = 0, rocksdb.DontChargeCacheMetadata, rocksdb.SnappyCompression
	secondary, err := cache.NewCompressedSecondaryCache(so)
	if err != nil {
		t.Fatal(err)
	}
	lo := rocksdb.DefaultLRUCacheOptions(1024)
	lo.NumShardBits, lo.MetadataChargePolicy, lo.SecondaryCache = 0, rocksdb.DontChargeCacheMetadata, secondary
	primary, err := cache.MakeSharedLRUCache(lo)
	if err != nil {
		t.Fatal(err)
	}
	b := newBlobTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) { cf.BlobCache = primary })
	rnd := util.NewRandom(301)
	blobs := []string{rnd.RandomString(512), rnd.RandomString(768)}
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key0", blobs[0], "key1", blobs[1])
	s := NewBlobSource(&b.io, &b.mo, &testDBID, "session", b.fileCache(1024))
	get := func(i int) {
		t.Helper()
		var value rocksdb.PinnableSlice
		_, err := s.GetBlob(&b.ro, fmt.Append(nil, "key", i), 1, at[i].offset, at[i].size, rocksdb.NoCompression, nil, &value)
		b.noErr(err)
		if string(value.Data()) != blobs[i] {
			t.Fatalf("blob %d is %q", i, value.Data())
		}
		value.Release()
	}
	wantCached := func(i int, want bool) {
		t.Helper()
		if got := s.TESTBlobInCache(1, at[i].offset); got != want {
			t.Errorf("blob %d is in the cache: %t", i, got)
		}
	}
	// inPrimary looks without the help that a secondary cache needs.
	inPrimary := func(i int, want bool) {
		t.Helper()
		h := primary.Lookup(s.key(1, at[i].offset).AsSlice(), &basicContentsHelper, nil, rocksdb.CachePriorityLow, nil)
		if (h != nil) != want {
			t.Errorf("blob %d is in the primary cache: %t", i, h != nil)
		}
		if h != nil {
			if got := h.Value().([]byte); string(got) != blobs[i] {
				t.Errorf("blob %d is cached as %q", i, got)
			}
			primary.Release(h, false)
		}
	}
	inSecondary := func(i int, want bool) {
		t.Helper()
		h, kept := secondary.Lookup(s.key(1, at[i].offset).AsSlice(), &contentsHelper, nil, true, true, nil)
		if (h != nil) != want || kept {
			t.Fatalf("blob %d is in the secondary cache: %t, kept %t", i, h != nil, kept)
		}
		if h != nil {
			if got := h.Value().([]byte); string(got) != blobs[i] {
				t.Errorf("blob %d is in the secondary cache as %q", i, got)
			}
		}
	}
	// One fits. What goes the first time leaves a dummy in the secondary cache.
	get(0)
	get(1)
	get(0)
	wantCached(0, true)
	get(1) // 0 goes the second time
	wantCached(1, true)
	inPrimary(0, false)
	inSecondary(0, true)
	wantCached(0, false)
	inPrimary(1, true)
	inSecondary(1, false)
	wantCached(1, true)
	get(0)
	inPrimary(0, true)
	inPrimary(1, false)
	primary.Erase(s.key(1, at[0].offset).AsSlice())
	inPrimary(0, false)
	// 1 comes up for the reader alone, and stays in the primary cache when it is
	// wanted again.
	wantCached(1, true)
	inPrimary(1, false)
	wantCached(1, true)
	inPrimary(1, true)
}

// chargingFactory has table options and makes no tables.
type chargingFactory struct {
	rocksdb.TableFactory
	o rocksdb.BlockBasedTableOptions
}

func (f *chargingFactory) OptionsPtr(string) any { return &f.o }

func newCacheReservationTest(t *testing.T) (*blobTest, *BlobSource, *cache.ConcurrentCacheReservationManager) {
	newCache := func(high, low float64) rocksdb.Cache {
		o := rocksdb.DefaultLRUCacheOptions(2 * cache.DummyEntrySize)
		o.NumShardBits, o.MetadataChargePolicy, o.HighPriPoolRatio, o.LowPriPoolRatio = 0, rocksdb.DontChargeCacheMetadata, high, low
		c, err := cache.NewLRUCache(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	f := &chargingFactory{o: rocksdb.DefaultBlockBasedTableOptions()}
	f.o.BlockCache = newCache(0.5, 0.5)
	f.o.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
		rocksdb.CacheEntryRoleBlobCache: {Charged: rocksdb.CacheEntryRoleEnabled}}
	b := newBlobTest(t, func(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
		db.LowestUsedCacheTier = rocksdb.VolatileTier
		cf.BlobCache, cf.TableFactory = newCache(0, 0), f
	})
	s := NewBlobSource(&b.io, &b.mo, &testDBID, "session", b.fileCache(10))
	t.Cleanup(func() {
		s.Close()
		if got := f.o.BlockCache.GetUsage(); got != 0 {
			t.Errorf("the block cache is charged %d after the end", got)
		}
	})
	return b, s, s.cache.(*cache.ChargedCache).GetCacheReservationManager()
}

// wantCharged wants what the blob cache uses charged.
func (b *blobTest) wantCharged(m *cache.ConcurrentCacheReservationManager, reserved, used int) {
	b.t.Helper()
	if r, u, c := m.GetTotalReservedCacheSize(), m.GetTotalMemoryUsed(), b.io.BlobCache.GetUsage(); r != reserved || u != used || c != used {
		b.t.Fatalf("%d bytes reserved for %d, the cache uses %d; want %d for %d", r, u, c, reserved, used)
	}
}

// getCharged reads a blob, which is cached then, and gives what it uses of the
// cache.
func (x *blobsOfFiles) getCharged(s *BlobSource, i int) int {
	x.b.t.Helper()
	before := x.b.io.BlobCache.GetUsage()
	var value rocksdb.PinnableSlice
	_, err := s.GetBlob(&x.b.ro, fmt.Append(nil, "key", i), 1, x.at[i].offset, x.at[i].size, rocksdb.NoCompression, nil, &value)
	x.b.noErr(err)
	value.Release()
	return x.b.io.BlobCache.GetUsage() - before
}

func TestBlobSourceCacheReservationTest_SimpleCacheReservation(t *testing.T) {
	b, s, m := newCacheReservationTest(t)
	x := b.writeFiles(16, 1)
	b.ro.FillCache = false
	for i := range x.blobs {
		x.getCharged(s, i)
		b.wantCharged(m, 0, 0)
	}
	b.ro.FillCache = true
	charges, used := make([]int, len(x.blobs)), 0
	for i := range x.blobs {
		charges[i] = x.getCharged(s, i)
		used += charges[i]
		b.wantCharged(m, cache.DummyEntrySize, used)
	}
	for i := range x.blobs {
		s.cache.Erase(s.key(1, x.at[i].offset).AsSlice())
		used -= charges[i]
		reserved := cache.DummyEntrySize
		if i == len(x.blobs)-1 {
			reserved = 0
		}
		b.wantCharged(m, reserved, used)
	}
}

func TestBlobSourceCacheReservationTest_IncreaseCacheReservation(t *testing.T) {
	b, s, m := newCacheReservationTest(t)
	x := &blobsOfFiles{b: b}
	var kvs []string
	for i := range 16 {
		blob := fmt.Sprint("blob", i)
		x.blobs = append(x.blobs, blob+strings.Repeat("@", 24<<10-len(blob)))
		kvs = append(kvs, fmt.Sprint("key", i), x.blobs[i])
	}
	x.at = b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, kvs...)
	b.ro.FillCache = false
	for i := range x.blobs {
		x.getCharged(s, i)
		b.wantCharged(m, 0, 0)
	}
	b.ro.FillCache = true
	used := 0
	for i := range x.blobs {
		used += x.getCharged(s, i)
		reserved := cache.DummyEntrySize
		if used > cache.DummyEntrySize {
			reserved *= 2
		}
		b.wantCharged(m, reserved, used)
	}
}

// Port of db/blob/db_blob_basic_test.cc: the cases about the blob cache,
// properties, sizes, entities and timestamps. Differs: it stands with the other
// cases of whole databases.

package db_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
)

// sharedCache makes one cache the block and the blob cache, and counts.
func sharedCache(t *testing.T, capacity int) func(o *rocksdb.Options) {
	t.Helper()
	lo := rocksdb.DefaultLRUCacheOptions(capacity)
	lo.NumShardBits, lo.MetadataChargePolicy = 2, rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(lo)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *rocksdb.Options) {
		o.BlobCache, o.Statistics = c, rocksdb.NewStatistics()
		*o = blockTable(*o, func(b *rocksdb.BlockBasedTableOptions) { b.BlockCache, b.CacheIndexAndFilterBlocks = c, true })
	}
}

// fromFiles are options to read without filling caches.
func fromFiles() rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false
	return ro
}

// takeTicker gives a count and sets it to zero.
func (x *dbTest) takeTicker(t rocksdb.Ticker) int {
	return int(x.last.Statistics.GetAndResetTickerCount(t))
}

func (x *dbTest) wantTaken(t rocksdb.Ticker, want int) {
	x.Helper()
	if got := x.takeTicker(t); got != want {
		x.Errorf("%v is %d, not %d", t, got, want)
	}
}

func TestDBBlobBasicTest_GetBlobFromCache(t *testing.T) {
	x := newBlobTest(t, sharedCache(t, 2<<20))
	x.puts(0, "key", "blob_value", "flush")
	x.wantMultiGet(fromFiles(), "key", "blob_value")
	x.wantGetWith(fromFiles(), "key", "blob_value")
	x.wantIncomplete("key")
	x.wantGet(0, "key", "blob_value")
	x.wantGetWith(cacheTier(), "key", "blob_value")
}

// wantGetWith is wantGet with options.
func (x *dbTest) wantGetWith(ro rocksdb.ReadOptions, key, want string) {
	x.Helper()
	v, err := x.db.Get(&ro, []byte(key))
	x.must(err)
	defer v.Release()
	if string(v.Data()) != want {
		x.Fatalf("%s is %q, not %q", key, v.Data(), want)
	}
}

func TestDBBlobBasicTest_MultiGetBlobsFromCache(t *testing.T) {
	x := newBlobTest(t, sharedCache(t, 2<<20), func(o *rocksdb.Options) { o.MinBlobSize = 6 })
	pairs := []string{"first_key", "short", "second_key", "long_value", "third_key", "other_long_value"}
	x.puts(0, append(pairs, "flush")...)
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false
	x.wantMultiGet(ro, pairs...)
	// Upstream's MultiGet reads tables whatever the tier is.
	x.wantGet(0, "first_key", "short")
	ro.ReadTier = rocksdb.BlockCacheTier
	values, errs := x.multiGetRaw(0, ro, "first_key", "second_key", "third_key")
	x.must(errs[0])
	same(x, "the value that is no blob", values[0], "short")
	x.wantIs(errs[1], rocksdb.ErrIncomplete)
	x.wantIs(errs[2], rocksdb.ErrIncomplete)
	ro = rocksdb.DefaultReadOptions()
	x.wantMultiGet(ro, pairs...)
	ro.ReadTier = rocksdb.BlockCacheTier
	x.wantMultiGet(ro, pairs...)
}

func TestDBBlobBasicTest_IterateBlobsFromCache(t *testing.T) {
	x := newBlobTest(t, sharedCache(t, 2<<20))
	const n = 5
	want := ""
	for i := range n {
		x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("blob", i))
		want += fmt.Sprintf("key%d=blob%d ", i, i)
	}
	x.flush(0)
	walk := func(ro rocksdb.ReadOptions) (string, error) {
		it := x.db.NewIterator(&ro)
		defer it.Close()
		var got strings.Builder
		for k, v := range it.All() {
			fmt.Fprintf(&got, "%s=%s ", k, v)
		}
		return got.String(), it.Err()
	}
	for _, step := range []struct {
		ro     rocksdb.ReadOptions
		cached int // -1: what is not cached is not to be had
	}{{fromFiles(), 0}, {cacheTier(), -1}, {rocksdb.DefaultReadOptions(), n}, {cacheTier(), 0}} {
		got, err := walk(step.ro)
		if step.cached < 0 {
			if got != "" || !errors.Is(err, rocksdb.ErrIncomplete) {
				t.Errorf("from caches: %q, %v", got, err)
			}
		} else if got != want || err != nil {
			t.Errorf("%q, %v, not %q", got, err, want)
		}
		x.wantTaken(rocksdb.BlobDBCacheAdd, max(step.cached, 0))
	}
}

func TestDBBlobBasicTest_IterateBlobsFromCachePinning(t *testing.T) {
	lo := rocksdb.DefaultLRUCacheOptions(2048)
	lo.NumShardBits, lo.MetadataChargePolicy = 0, rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(lo)
	if err != nil {
		t.Fatal(err)
	}
	x := newBlobTest(t, func(o *rocksdb.Options) { o.BlobCache, o.MinBlobSize = c, 6 })
	entries := []struct {
		key, value string
		pinned     bool
	}{{"first_key", "long_value", true}, {"second_key", "short", false}, {"third_key", "other_long_value", true}}
	for _, e := range entries {
		x.mustPut(0, e.key, e.value)
	}
	x.flush(0)
	walk := func(ro rocksdb.ReadOptions, backwards, pinned bool) {
		t.Helper()
		it := x.db.NewIterator(&ro)
		defer it.Close()
		i, step, next := 0, 1, it.Next
		if backwards {
			i, step, next = len(entries)-1, -1, it.Prev
			it.SeekToLast()
		} else {
			it.SeekToFirst()
		}
		for ; i >= 0 && i < len(entries); i += step {
			e := entries[i]
			if !it.Valid() || string(it.Key()) != e.key || string(it.Value()) != e.value {
				t.Fatalf("at %q, %v, not at %q", it.Key(), it.Err(), e.key)
			}
			if pinned && (c.GetPinnedUsage() > 0) != e.pinned {
				t.Errorf("%d bytes are pinned at %s", c.GetPinnedUsage(), e.key)
			}
			next()
		}
		if it.Valid() || it.Err() != nil {
			t.Errorf("goes on, %v", it.Err())
		}
		if pinned && c.GetPinnedUsage() != 0 {
			t.Errorf("%d bytes are pinned at the end", c.GetPinnedUsage())
		}
	}
	walk(rocksdb.DefaultReadOptions(), false, false)
	walk(cacheTier(), false, true)
	walk(cacheTier(), true, true)
}

func TestDBBlobBasicTest_MultiGetBlob_ExceedSoftLimit(t *testing.T) {
	x := newBlobTest(t)
	x.puts(0, "foo0", "blob_value0", "foo1", "blob_value1", "foo2", "blob_value2", "flush")
	ro := rocksdb.DefaultReadOptions()
	ro.ValueSizeSoftLimit = 1
	_, errs := x.multiGetRaw(0, ro, "foo0", "foo1", "foo2")
	for i, err := range errs {
		if !errors.Is(err, rocksdb.ErrAborted) {
			t.Errorf("foo%d: %v", i, err)
		}
	}
}

// recordSize is what a blob takes in its file.
func recordSize(key, blob string) uint64 {
	return blobformat.CalculateAdjustmentForRecordHeader(uint64(len(key))) + uint64(len(blob))
}

const blobFileOverhead = blobformat.BlobLogHeaderSize + blobformat.BlobLogFooterSize

func (x *dbTest) wantIntProperty(name string, want uint64) {
	x.Helper()
	if got := x.intProperty(0, name); got != want {
		x.Errorf("%s is %d, not %d", name, got, want)
	}
}

func TestDBBlobBasicTest_Properties(t *testing.T) {
	x := newBlobTest(t)
	blob, longer := strings.Repeat("0", 14), strings.Repeat("0", 20)
	x.puts(0, "key1", blob, "key2", longer, "flush", "key3", blob, "flush")
	total := 2*blobFileOverhead + recordSize("key1", blob) + recordSize("key2", longer) + recordSize("key3", blob)
	x.wantIntProperty(rocksdb.PropertyNumBlobFiles, 2)
	x.wantIntProperty(rocksdb.PropertyLiveBlobFileSize, total)
	x.wantIntProperty(rocksdb.PropertyLiveBlobFileGarbageSize, 0)
	x.wantIntProperty(rocksdb.PropertyTotalBlobFileSize, total)

	x.mustDelete(0, "key2")
	x.flush(0)
	x.compact(0, "", "")
	garbage := recordSize("key2", longer)
	want := fmt.Sprintf("Number of blob files: 2\nTotal size of blob files: %d\nTotal size of garbage in blob files: %d\nBlob file space amplification: %.6g\n",
		total, garbage, float64(total)/float64(total-garbage))
	if got := x.property(0, rocksdb.PropertyBlobStats); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	x.wantIntProperty(rocksdb.PropertyLiveBlobFileGarbageSize, garbage)
}

func TestDBBlobBasicTest_PropertiesMultiVersion(t *testing.T) {
	x := newBlobTest(t)
	blob := strings.Repeat("0", 10)
	x.puts(0, "key1", blob, "flush", "key2", blob, "flush")
	it := x.db.NewIterator(nil) // keeps the version
	defer it.Close()
	x.mustDelete(0, "key1")
	x.puts(0, "key3", blob, "flush")
	x.compact(0, "", "")
	x.wantIntProperty(rocksdb.PropertyTotalBlobFileSize, 3*(blobFileOverhead+recordSize("key1", blob)))
}

// warmCache has blobs put into the cache by flushes.
func warmCache(t *testing.T) func(o *rocksdb.Options) {
	shared := sharedCache(t, 1<<25)
	return func(o *rocksdb.Options) {
		shared(o)
		o.DisableAutoCompactions = true
		o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 1
		o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCacheFlushOnly
	}
}

func TestDBBlobBasicTest_WarmCacheWithBlobsDuringFlush(t *testing.T) {
	x := newBlobTest(t, warmCache(t))
	const n = 10
	value := strings.Repeat("a", 100)
	for i := 1; i <= n; i++ {
		first, second := fmt.Sprint(i), fmt.Sprint(i+n)
		x.puts(0, first, value, second, value, "flush")
		x.wantTicker(rocksdb.BlobDBCacheAdd, 2*i)
		x.wantGet(0, first, value)
		x.wantGet(0, second, value)
		x.wantTicker(rocksdb.BlobDBCacheMiss, 0)
		x.wantTicker(rocksdb.BlobDBCacheHit, 2*i)
	}
	x.compact(0, "", "")
	x.wantTicker(rocksdb.BlobDBCacheAdd, 2*n)
}

func TestDBBlobBasicTest_DynamicallyWarmCacheDuringFlush(t *testing.T) {
	x := newBlobTest(t, warmCache(t))
	const n = 10
	value := strings.Repeat("a", 100)
	for i := 1; i <= n; i++ {
		warm := i <= n/2
		if i == n/2+1 {
			x.setOptions("prepopulate_blob_cache", "kDisable")
		}
		first, second := fmt.Sprint(i), fmt.Sprint(i+n)
		x.puts(0, first, value, second, value, "flush")
		atFlush, atGet := 2, 0
		if !warm {
			atFlush, atGet = 0, 2
		}
		x.wantTaken(rocksdb.BlobDBCacheAdd, atFlush)
		x.wantGet(0, first, value)
		x.wantGet(0, second, value)
		x.wantTaken(rocksdb.BlobDBCacheAdd, atGet)
		x.wantTaken(rocksdb.BlobDBCacheMiss, atGet)
		x.wantTaken(rocksdb.BlobDBCacheHit, 2-atGet)
	}
	x.compact(0, "", "")
	x.wantTicker(rocksdb.BlobDBCacheAdd, 0)
}

func TestDBBlobBasicTest_GetEntityBlob(t *testing.T) {
	x := newBlobTest(t)
	pairs := []string{"key", "blob_value", "other_key", "other_blob_value"}
	x.puts(0, append(pairs, "flush")...)
	want := func(columns *rocksdb.PinnableWideColumns, err error, value string) {
		t.Helper()
		x.must(err)
		defer columns.Reset()
		if c := columns.Columns(); len(c) != 1 || len(c[0].Name) != 0 || string(c[0].Value) != value {
			t.Errorf("%v, not %q alone", c, value)
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		var c rocksdb.PinnableWideColumns
		err := x.db.GetEntity(nil, []byte(pairs[i]), &c)
		want(&c, err, pairs[i+1])
	}
	results, errs := make([]rocksdb.PinnableWideColumns, 2), make([]error, 2)
	x.db.MultiGetEntity(nil, [][]byte{[]byte(pairs[0]), []byte(pairs[2])}, results, errs)
	for i := range results {
		want(&results[i], errs[i], pairs[2*i+1])
	}
}

func TestDBBlobBasicTest_GetApproximateSizesIncludingBlobFiles(t *testing.T) {
	x := newBlobTest(t)
	const n = 1000
	for i := range n {
		x.mustPut(0, key(i), strings.Repeat(string(rune('a'+i%26)), 1024))
	}
	x.flush(0)
	if x.countFiles(rocksdb.BlobFile) == 0 {
		t.Fatal("no blob files")
	}
	sizes := func(blobs bool, bounds ...int) []uint64 {
		t.Helper()
		o := rocksdb.DefaultSizeApproximationOptions()
		o.IncludeBlobFiles = blobs
		var ranges []rocksdb.Range
		for i := 0; i < len(bounds); i += 2 {
			ranges = append(ranges, rocksdb.Range{Start: []byte(key(bounds[i])), Limit: []byte(key(bounds[i+1]))})
		}
		list, err := x.db.GetApproximateSizes(&o, ranges)
		x.must(err)
		return list
	}
	without, full := sizes(false, 0, n)[0], sizes(true, 0, n)[0]
	if without == 0 || full <= without {
		t.Errorf("%d bytes without blobs, %d with them", without, full)
	}
	if none := sizes(true, n+100, n+200)[0]; none != 0 {
		t.Errorf("%d bytes where nothing is", none)
	}
	if half := sizes(true, 0, n/2)[0]; half == 0 || half >= full {
		t.Errorf("%d bytes of half the keys, %d of all", half, full)
	}
	halves := sizes(true, 0, n/2, n/2, n)
	if halves[0] == 0 || halves[1] == 0 || math.Abs(float64(halves[0]+halves[1])-float64(full)) > 0.1*float64(full) {
		t.Errorf("halves of %d and %d bytes, %d together", halves[0], halves[1], full)
	}
}

func TestDBBlobBasicTest_WarmCacheWithBlobsSecondary(t *testing.T) {
	so := rocksdb.DefaultCompressedSecondaryCacheOptions(1 << 20)
	so.NumShardBits, so.MetadataChargePolicy, so.CompressionType = 0, rocksdb.DontChargeCacheMetadata, rocksdb.NoCompression
	secondary, err := rocksdb.NewCompressedSecondaryCache(so)
	if err != nil {
		t.Fatal(err)
	}
	lo := rocksdb.DefaultLRUCacheOptions(1024)
	lo.NumShardBits, lo.MetadataChargePolicy, lo.SecondaryCache = 0, rocksdb.DontChargeCacheMetadata, secondary
	c, err := rocksdb.NewLRUCacheWithOptions(lo)
	if err != nil {
		t.Fatal(err)
	}
	x := newBlobTest(t, func(o *rocksdb.Options) {
		o.Statistics, o.BlobCache = rocksdb.NewStatistics(), c
		o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCacheFlushOnly
	})
	// The cache holds one of the two.
	first, second := strings.Repeat("a", 512), strings.Repeat("b", 768)
	x.puts(0, "foo", first, "flush")
	x.wantTaken(rocksdb.BlobDBCacheAdd, 1)
	x.puts(0, "bar", second, "flush")
	x.wantTaken(rocksdb.BlobDBCacheAdd, 1)
	for _, step := range []struct {
		key, value            string
		miss, hit, fromSecond int
	}{
		{"foo", first, 1, 0, 0}, // a dummy is in the second cache
		{"bar", second, 1, 0, 0},
		{"foo", first, 0, 1, 1}, // evicted the second time
		{"foo", first, 0, 1, 1},
	} {
		x.wantGet(0, step.key, step.value)
		x.wantTaken(rocksdb.BlobDBCacheMiss, step.miss)
		x.wantTaken(rocksdb.BlobDBCacheHit, step.hit)
		x.wantTaken(rocksdb.SecondaryCacheHits, step.fromSecond)
	}
}

// putsAt is puts at a timestamp.
func (x *dbTest) putsAt(ts uint64, pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.putU64(pairs[i], ts, pairs[i+1])
	}
	x.flush(0)
}

func TestDBBlobWithTimestampTest_MultiGetBlobs(t *testing.T) {
	x := newBlobTSTest(t, func(o *rocksdb.Options) { o.MinBlobSize = 6 })
	pairs := []string{"first_key", "short", "second_key", "long_value", "third_key", "other_long_value"}
	x.putsAt(1, pairs...)
	x.wantMultiGet(*readAt(u64ts(2)), pairs...)
}

func TestDBBlobWithTimestampTest_MultiGetMergeBlobWithPut(t *testing.T) {
	x := newBlobTSTest(t, appending)
	x.putsAt(1, "Key0", "v0_0", "Key1", "v1_0", "Key2", "v2_0")
	for _, operands := range [][]string{{"Key0", "v0_1", "Key1", "v1_1"}, {"Key0", "v0_2"}} {
		for i := 0; i < len(operands); i += 2 {
			x.must(x.db.MergeWithTimestamp(nil, []byte(operands[i]), u64ts(1), []byte(operands[i+1])))
		}
		x.flush(0)
	}
	x.wantMultiGet(*readAt(u64ts(2)), "Key0", "v0_0,v0_1,v0_2", "Key1", "v1_0,v1_1", "Key2", "v2_0")
}

func TestDBBlobWithTimestampTest_IterateBlobs(t *testing.T) {
	x := newBlobTSTest(t)
	const n = 5
	for i := range n {
		for ts := uint64(1); ts <= 2; ts++ {
			x.putU64(fmt.Sprint("key", i), ts, fmt.Sprint("blob", i, ts-1))
		}
	}
	x.flush(0)
	type entry struct {
		i  int
		ts uint64
	}
	check := func(it *rocksdb.Iterator, e entry, internal bool) {
		t.Helper()
		key := fmt.Sprint("key", e.i)
		if internal {
			key += string(u64ts(e.ts))
		}
		ok := it.Valid() && string(it.Timestamp()) == string(u64ts(e.ts)) && string(it.Value()) == fmt.Sprint("blob", e.i, e.ts-1)
		if ok && internal {
			ok = strings.HasPrefix(string(it.Key()), key) && len(it.Key()) == len(key)+8
		} else if ok {
			ok = string(it.Key()) == key
		}
		if !ok {
			t.Fatalf("at %q = %q, %v, not %+v", it.Key(), it.Value(), it.Err(), e)
		}
	}
	walk := func(ro *rocksdb.ReadOptions, entries []entry, backwards, turn bool) {
		t.Helper()
		it := x.db.NewIterator(ro)
		defer it.Close()
		next, back := it.Next, it.Prev
		if backwards {
			it.SeekToLast()
			next, back = back, next
		} else {
			it.SeekToFirst()
		}
		for i, e := range entries {
			check(it, e, ro.IterStartTS != nil)
			if !turn || i != len(entries)-1 {
				next()
			}
		}
		if !turn {
			if it.Valid() || it.Err() != nil {
				t.Fatalf("goes on at %q, %v", it.Key(), it.Err())
			}
			return
		}
		for i := len(entries) - 1; i >= 0; i-- {
			check(it, entries[i], ro.IterStartTS != nil)
			back()
		}
	}
	reversed := func(e []entry) (out []entry) {
		for i := len(e) - 1; i >= 0; i-- {
			out = append(out, e[i])
		}
		return out
	}
	var newest, all []entry
	for i := range n {
		newest = append(newest, entry{i, 2})
		all = append(all, entry{i, 2}, entry{i, 1})
	}
	ro := readAt(u64ts(3))
	for _, turn := range []bool{false, true} {
		walk(ro, newest, false, turn)
		walk(ro, reversed(newest), true, turn)
	}
	ro.IterStartTS = u64ts(0)
	walk(ro, all, false, false)
	walk(ro, reversed(all), true, false)
	ro.IterateLowerBound, ro.IterateUpperBound = []byte("key1"), []byte("key3")
	walk(ro, all[2:6], false, false)
	walk(ro, reversed(all[2:6]), true, false)
}

// Port of db/blob/db_blob_basic_test.cc (what needs no sync points). Differs: it
// stands with the other cases of whole databases.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/util"
)

// newBlobTest opens a database where all values that are not empty go to blob
// files.
func newBlobTest(t *testing.T, change ...func(o *rocksdb.Options)) *dbTest {
	t.Helper()
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles, o.MinBlobSize = true, 0
	for _, f := range change {
		f(&o)
	}
	x.destroyAndReopen(o)
	return x
}

// cacheTier are options to read from caches alone.
func cacheTier() rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	return ro
}

// wantIncomplete wants a key whose value cannot be had without reading files.
func (x *dbTest) wantIncomplete(key string) {
	x.Helper()
	ro := cacheTier()
	_, err := x.db.Get(&ro, []byte(key))
	x.wantIs(err, rocksdb.ErrIncomplete)
}

// wantAll reads the keys of pairs at once and wants their values.
func (x *dbTest) wantMultiGet(ro rocksdb.ReadOptions, pairs ...string) {
	x.Helper()
	var keys, want []string
	for i := 0; i < len(pairs); i += 2 {
		keys, want = append(keys, pairs[i]), append(want, pairs[i+1])
	}
	values, errs := x.multiGetRaw(0, ro, keys...)
	for i, k := range keys {
		if errs[i] != nil || values[i] != want[i] {
			x.Fatalf("%s is %q, %v, not %q", k, values[i], errs[i], want[i])
		}
	}
}

func TestDBBlobBasicTest_GetBlob(t *testing.T) {
	x := newBlobTest(t)
	x.puts(0, "key", "blob_value", "flush")
	x.wantGet(0, "key", "blob_value")
	x.wantIncomplete("key") // the table's blocks are cached, the blob is not
}

func TestDBBlobBasicTest_EmptyValueNotStoredAsBlob(t *testing.T) {
	x := newBlobTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	x.puts(0, "empty_key", "", "nonempty_key", "blob_value", "flush")
	x.wantGet(0, "empty_key", "")
	x.wantGet(0, "nonempty_key", "blob_value")
	ro := cacheTier()
	v, err := x.db.Get(&ro, []byte("empty_key"))
	x.must(err)
	if len(v.Data()) != 0 {
		t.Errorf("the empty value is %q", v.Data())
	}
	v.Release()
	x.wantIncomplete("nonempty_key")
}

func TestDBBlobBasicTest_IterateBlobsAllowUnpreparedValue(t *testing.T) {
	x := newBlobTest(t)
	const n = 5
	for i := range n {
		x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("blob", i))
	}
	x.flush(0)
	ro := rocksdb.DefaultReadOptions()
	ro.AllowUnpreparedValue = true
	it := x.db.NewIterator(&ro)
	defer it.Close()
	walk := func(what string, i, step, count int, next func()) {
		t.Helper()
		for ; it.Valid(); next() {
			if string(it.Key()) != fmt.Sprint("key", i) || len(it.Value()) != 0 {
				t.Fatalf("%s: %q = %q before PrepareValue", what, it.Key(), it.Value())
			}
			if !it.PrepareValue() || string(it.Key()) != fmt.Sprint("key", i) || string(it.Value()) != fmt.Sprint("blob", i) {
				t.Fatalf("%s: %q = %q, %v", what, it.Key(), it.Value(), it.Err())
			}
			i += step
			count--
		}
		if it.Err() != nil || count != 0 {
			t.Fatalf("%s: %d entries are missing, %v", what, count, it.Err())
		}
	}
	it.SeekToFirst()
	walk("forward", 0, 1, n, it.Next)
	it.SeekToLast()
	walk("backward", n-1, -1, n, it.Prev)
	it.Seek([]byte("key1"))
	walk("forward from 1", 1, 1, n-1, it.Next)
	it.SeekForPrev([]byte("key3"))
	walk("backward from 3", 3, -1, n-1, it.Prev)
}

func TestDBBlobBasicTest_MultiGetBlobs(t *testing.T) {
	x := newBlobTest(t, func(o *rocksdb.Options) { o.MinBlobSize = 6 })
	x.puts(0, "first_key", "short", "second_key", "long_value", "third_key", "other_long_value", "flush")
	x.wantMultiGet(rocksdb.DefaultReadOptions(), "first_key", "short", "second_key", "long_value", "third_key", "other_long_value")
	// What is in the table is cached, blobs are not.
	_, errs := x.multiGetRaw(0, cacheTier(), "first_key", "second_key", "third_key")
	if errs[0] != nil || !errors.Is(errs[1], rocksdb.ErrIncomplete) || !errors.Is(errs[2], rocksdb.ErrIncomplete) {
		t.Errorf("from caches: %v", errs)
	}
}

func TestDBBlobBasicTest_MultiGetBlobsFromMultipleFiles(t *testing.T) {
	lo := rocksdb.DefaultLRUCacheOptions(2 << 20)
	lo.NumShardBits, lo.MetadataChargePolicy = 2, rocksdb.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(lo)
	if err != nil {
		t.Fatal(err)
	}
	x := newBlobTest(t, func(o *rocksdb.Options) {
		o.BlobCache = c
		*o = blockTable(*o, func(b *rocksdb.BlockBasedTableOptions) { b.BlockCache, b.CacheIndexAndFilterBlocks = c, true })
	})
	var keys, pairs []string
	for i := range 3 {
		for j := range 3 {
			k, v := fmt.Sprintf("key%d_%d", i, j), fmt.Sprintf("value_as_blob%d_%d", i, j)
			x.mustPut(0, k, v)
			keys, pairs = append(keys, k), append(pairs, k, v)
		}
		x.flush(0)
	}
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false
	x.wantMultiGet(ro, pairs...)
	_, errs := x.multiGetRaw(0, cacheTier(), keys...)
	for i, err := range errs {
		if !errors.Is(err, rocksdb.ErrIncomplete) {
			t.Errorf("%s from caches: %v", keys[i], err)
		}
	}
	ro.FillCache = true
	x.wantMultiGet(ro, pairs...)
	x.wantMultiGet(cacheTier(), pairs...)
}

// fakeIndex writes a blob index as a key's value.
func (x *dbTest) fakeIndex(key string, index []byte) {
	x.Helper()
	b := rocksdb.NewWriteBatch()
	x.must(b.PutBlobIndex(0, []byte(key), index))
	x.must(x.db.Write(nil, b))
	x.flush(0)
	_, err := x.db.Get(nil, []byte(key))
	x.wantIs(err, rocksdb.ErrCorruption)
}

func TestDBBlobBasicTest_GetBlob_InlinedTTLIndex(t *testing.T) {
	x := newBlobTest(t, func(o *rocksdb.Options) { o.MinBlobSize = 10 })
	x.fakeIndex("key", blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("short")))
}

func TestDBBlobBasicTest_GetBlob_IndexWithInvalidFileNumber(t *testing.T) {
	x := newBlobTest(t)
	x.fakeIndex("key", blobformat.EncodeBlob(nil, 1000, 1234, 5678, rocksdb.NoCompression))
}

func TestDBBlobBasicTest_BestEffortsRecovery_MissingNewestBlobFile(t *testing.T) {
	x := newBlobTest(t)
	x.must(x.db.DisableFileDeletions())
	for i := range 2 {
		x.puts(0, "a", fmt.Sprint("value", i), "b", fmt.Sprint("value", i), "flush")
	}
	o := x.last
	x.close()
	blobs := x.files(rocksdb.BlobFile)
	x.must(os.Remove(blobs[len(blobs)-1]))
	o.BestEffortsRecovery = true
	x.reopen(o)
	x.wantGet(0, "a", "value0")
}

func appending(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator(",") }

func TestDBBlobBasicTest_GetMergeBlobWithPut(t *testing.T) {
	x := newBlobTest(t, appending)
	x.puts(0, "Key1", "v1", "flush")
	x.mustMerge(0, "Key1", "v2")
	x.flush(0)
	x.mustMerge(0, "Key1", "v3")
	x.flush(0)
	x.wantGet(0, "Key1", "v1,v2,v3")
}

func TestDBBlobBasicTest_GetMergeBlobFromMemoryTier(t *testing.T) {
	x := newBlobTest(t, appending)
	x.puts(0, key(0), "v1", "flush")
	x.mustMerge(0, key(0), "v2")
	x.flush(0)
	x.wantGet(0, key(0), "v1,v2") // which caches the blocks, but not the blob
	x.wantIncomplete(key(0))
}

func TestDBBlobBasicTest_MultiGetMergeBlobWithPut(t *testing.T) {
	x := newBlobTest(t, appending)
	x.puts(0, "Key0", "v0_0", "Key1", "v1_0", "Key2", "v2_0", "flush")
	x.mustMerge(0, "Key0", "v0_1")
	x.mustMerge(0, "Key1", "v1_1")
	x.flush(0)
	x.mustMerge(0, "Key0", "v0_2")
	x.flush(0)
	x.wantMultiGet(rocksdb.DefaultReadOptions(), "Key0", "v0_0,v0_1,v0_2", "Key1", "v1_0,v1_1", "Key2", "v2_0")
}

// newBlobTSTest is newBlobTest with timestamps of 8 bytes.
func newBlobTSTest(t *testing.T, change ...func(o *rocksdb.Options)) *dbTest {
	t.Helper()
	return newBlobTest(t, append(change, func(o *rocksdb.Options) { o.Comparator = util.BytewiseComparatorWithU64Ts() })...)
}

func TestDBBlobWithTimestampTest_GetBlob(t *testing.T) {
	x := newBlobTSTest(t)
	x.putU64("key", 1, "blob_value")
	x.flush(0)
	x.wantU64("key", 2, "blob_value")
	ro := cacheTier()
	ro.Timestamp = u64ts(2)
	_, err := x.db.Get(&ro, []byte("key"))
	x.wantIs(err, rocksdb.ErrIncomplete)
}

func TestDBBlobWithTimestampTest_GetMergeBlobWithPut(t *testing.T) {
	x := newBlobTSTest(t, appending)
	x.putU64("Key1", 1, "v1")
	x.flush(0)
	for i, v := range []string{"v2", "v3"} {
		x.must(x.db.MergeWithTimestamp(nil, []byte("Key1"), u64ts(uint64(i+2)), []byte(v)))
		x.flush(0)
	}
	x.wantU64("Key1", 1, "v1")
	x.wantU64("Key1", 2, "v1,v2")
	x.wantU64("Key1", 3, "v1,v2,v3")
}

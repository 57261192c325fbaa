// Port of db/blob/db_blob_compaction_test.cc (what needs no sync points). Differs:
// it stands with the other cases of whole databases.

package db_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
)

// blobFilter is a compaction filter that is one function of a value.
type blobFilter func(value []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte)

func (blobFilter) Name() string          { return "rocksdb.compaction.filter.blob" }
func (blobFilter) IgnoreSnapshots() bool { return true }
func (f blobFilter) FilterV3(_ int, _ []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if vt != rocksdb.CompactionFilterValue {
		return rocksdb.FilterKeep, nil, nil
	}
	return f(existing)
}

func (f blobFilter) set(o *rocksdb.Options) { o.CompactionFilter = f }

func keepAll([]byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return rocksdb.FilterKeep, nil, nil
}

// padded appends to all values.
func padded(padding string) blobFilter {
	return func(value []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		return rocksdb.FilterChangeValue, append(slices.Clone(value), padding...), nil
	}
}

// blobKeyFilter is a compaction filter that decides by keys where values are in
// blob files, and alike about all others.
type blobKeyFilter struct {
	key   func(key []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte)
	value rocksdb.CompactionFilterDecision
}

func (blobKeyFilter) Name() string          { return "rocksdb.compaction.filter.blob.key" }
func (blobKeyFilter) IgnoreSnapshots() bool { return true }
func (f blobKeyFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	return f.value, nil, nil
}

func (f blobKeyFilter) FilterBlobByKey(_ int, key []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	return f.key(key)
}

func (f blobKeyFilter) set(o *rocksdb.Options) { o.CompactionFilter = f }

// wantBlobBytes checks whether compactions to level 1 read and wrote blobs.
func (x *dbTest) wantBlobBytes(read, written bool) {
	x.Helper()
	s := x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats()[1]
	if s.BytesReadBlob > 0 != read || s.BytesWrittenBlob > 0 != written {
		x.Errorf("compactions read %d bytes of blobs and wrote %d", s.BytesReadBlob, s.BytesWrittenBlob)
	}
}

func TestDBBlobCompactionTest_FilterByKeyLength(t *testing.T) {
	shorter := blobKeyFilter{key: func(key []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		if len(key) < 2 {
			return rocksdb.FilterRemove, nil, nil
		}
		return rocksdb.FilterKeep, nil, nil
	}}
	x := newBlobTest(t, shorter.set)
	x.puts(0, "a", "value", "abc", "value", "flush")
	x.compact(0, "", "")
	x.wantGet(0, "a", "NOT_FOUND")
	x.wantGet(0, "abc", "value")
	x.wantBlobBytes(false, false)
}

func TestDBBlobCompactionTest_BlindWriteFilter(t *testing.T) {
	blind := blobKeyFilter{key: func([]byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		return rocksdb.FilterChangeValue, []byte("new_blob_value"), nil
	}}
	x := newBlobTest(t, blind.set)
	x.puts(0, "a", "a_value", "b", "b_value", "c", "c_value", "flush")
	x.compact(0, "", "")
	for _, k := range []string{"a", "b", "c"} {
		x.wantGet(0, k, "new_blob_value")
	}
	x.wantBlobBytes(false, true)
}

// Neither decision is one that a filter of users may make; of keys with "a" the
// value decides.
func TestDBBlobBadCompactionFilterTest_BadDecisionFromCompactionFilter(t *testing.T) {
	x := newBlobTest(t)
	_, x.env = x.emulatedTime(true) // background jobs sleep after an error
	for _, byKey := range []rocksdb.CompactionFilterDecision{rocksdb.FilterChangeBlobIndex, rocksdb.FilterIOError} {
		for _, byValue := range []rocksdb.CompactionFilterDecision{rocksdb.FilterUndetermined, rocksdb.FilterChangeBlobIndex, rocksdb.FilterIOError} {
			bad := blobKeyFilter{value: byValue, key: func(key []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
				if key[0] == 'a' {
					return rocksdb.FilterUndetermined, nil, nil
				}
				return byKey, nil, nil
			}}
			o := x.last
			o.Env, o.CompactionFilter = x.env, bad
			for _, k := range []string{"a", "b"} {
				x.destroyAndReopen(o)
				x.puts(0, k+"_key", "value", "flush")
				x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrNotSupported)
			}
		}
	}
}

func TestDBBlobCompactionTest_FilterByValueLength(t *testing.T) {
	shorter := blobFilter(func(value []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
		if len(value) < 5 {
			return rocksdb.FilterRemove, nil, nil
		}
		return rocksdb.FilterKeep, nil, nil
	})
	x := newBlobTest(t, shorter.set, func(o *rocksdb.Options) { o.MinBlobSize = 5 })
	for _, k := range []string{"a", "e", "j"} {
		x.mustPut(0, k, "val")
	}
	for _, k := range []string{"b", "f", "k"} {
		x.mustPut(0, k, "valuevalue")
	}
	x.flush(0)
	x.compact(0, "", "")
	for _, k := range []string{"a", "e", "j"} {
		x.wantGet(0, k, "NOT_FOUND")
	}
	for _, k := range []string{"b", "f", "k"} {
		x.wantGet(0, k, "valuevalue")
	}
	x.wantBlobBytes(true, false)
}

func TestDBBlobCompactionTest_BlobCompactWithStartingLevel(t *testing.T) {
	for _, c := range []struct{ level, blobFiles int }{{5, 0}, {1, 1}} {
		x := newBlobTest(t, func(o *rocksdb.Options) {
			o.MinBlobSize, o.BlobFileStartingLevel = 1000, c.level
			o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(1)
		})
		x.puts(0, "a", strings.Repeat("a", 3000), "b", strings.Repeat("b", 6000), "d", strings.Repeat("d", 3000), "flush",
			"c", strings.Repeat("c", 3000), "flush")
		same(x, "blob files of flushes", x.countFiles(rocksdb.BlobFile), 0)
		same(x, "files of level 0", x.numTableFilesAtLevel(0, 0), 2)
		x.compact(0, "", "")
		same(x, "blob files", x.countFiles(rocksdb.BlobFile), c.blobFiles)
		same(x, "files of level 0", x.numTableFilesAtLevel(0, 0), 0)
		same(x, "files of level 1", x.numTableFilesAtLevel(1, 0), 4)
	}
}

func TestDBBlobCompactionTest_CompactionFilter_InlinedTTLIndex(t *testing.T) {
	x := newBlobTest(t, padded("").set)
	b := rocksdb.NewWriteBatch()
	x.must(b.PutBlobIndex(0, []byte("key"), blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("blob"))))
	x.must(x.db.Write(nil, b))
	x.flush(0)
	x.wantIs(x.db.CompactRange(nil, nil, nil), rocksdb.ErrCorruption)
}

func TestDBBlobCompactionTest_CompactionFilter(t *testing.T) {
	x := newBlobTest(t, padded("_delta").set)
	x.puts(0, "a", "a_value", "b", "b_value", "c", "c_value", "flush")
	x.compact(0, "", "")
	for _, k := range []string{"a", "b", "c"} {
		x.wantGet(0, k, k+"_value_delta")
	}
	x.wantBlobBytes(true, true)
}

func TestDBBlobCompactionTest_CompactionFilterReadBlobAndKeep(t *testing.T) {
	x := newBlobTest(t, blobFilter(keepAll).set)
	x.puts(0, "foo", "foo_value", "flush")
	files := x.files(rocksdb.BlobFile)
	same(x, "blob files", len(files), 1)
	x.compact(0, "", "")
	if got := x.files(rocksdb.BlobFile); !slices.Equal(got, files) {
		t.Errorf("blob files %v, not %v", got, files)
	}
	x.wantBlobBytes(true, false)
}

func TestDBBlobCompactionTest_TrackGarbage(t *testing.T) {
	x := newBlobTest(t)
	x.puts(0, "first_key", "first_value", "second_key", "second_value", "third_key", "third_value", "fourth_key", "fourth_value", "flush",
		"first_key", "new_first_value", "second_key", "new_second_value", "flush")
	x.compact(0, "", "")
	files := x.storage(0).GetBlobFiles()
	same(x, "blob files", len(files), 2)
	garbage := recordSize("first_key", "first_value") + recordSize("second_key", "second_value")
	for i, want := range []struct{ count, bytes, garbageCount, garbageBytes uint64 }{
		{4, garbage + recordSize("third_key", "third_value") + recordSize("fourth_key", "fourth_value"), 2, garbage},
		{2, recordSize("first_key", "new_first_value") + recordSize("second_key", "new_second_value"), 0, 0},
	} {
		same(x, "blobs", files[i].GetTotalBlobCount(), want.count)
		same(x, "bytes", files[i].GetTotalBlobBytes(), want.bytes)
		same(x, "blobs that are garbage", files[i].GetGarbageBlobCount(), want.garbageCount)
		same(x, "bytes that are garbage", files[i].GetGarbageBlobBytes(), want.garbageBytes)
	}
}

func TestDBBlobCompactionTest_MergeBlobWithBase(t *testing.T) {
	x := newBlobTest(t, appending, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	x.puts(0, "Key1", "v1_1", "Key2", "v2_1", "flush")
	x.mustMerge(0, "Key1", "v1_2")
	x.mustMerge(0, "Key2", "v2_2")
	x.flush(0)
	x.mustMerge(0, "Key1", "v1_3")
	x.flush(0)
	x.compact(0, "", "")
	x.wantGet(0, "Key1", "v1_1,v1_2,v1_3")
	x.wantGet(0, "Key2", "v2_1,v2_2")
}

func TestDBBlobCompactionTest_CompactionDoNotFillCache(t *testing.T) {
	x := newBlobTest(t, sharedCache(t, 1<<20), func(o *rocksdb.Options) {
		o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff, o.DisableAutoCompactions = true, 1, true
	})
	x.puts(0, "key", "lime", "foo", "bar", "flush", "key", "pie", "foo", "baz", "flush")
	x.compact(0, "", "")
	x.wantTicker(rocksdb.BlobDBCacheAdd, 0)
}

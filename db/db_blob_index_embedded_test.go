// Port of db/blob/db_blob_index_test.cc (blobs embedded in table files, without
// injected errors). Differs: it stands with the other cases of whole databases.

package db_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// newEmbeddedTest opens a database by the options of upstream's fixture.
func newEmbeddedTest(t *testing.T, change ...func(o *contract.Options)) *dbTest {
	t.Helper()
	x := newDBTest(t)
	o := x.defaultOptions()
	o.NumLevels, o.DisableAutoCompactions = 2, true
	o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 10, 10
	o.MergeOperator = x.mergeOperator("stringappend")
	for _, f := range change {
		f(&o)
	}
	x.destroyAndReopen(o)
	return x
}

// blobEntity is a key with its columns; a plain value has no names.
type blobEntity struct {
	key     string
	columns contract.WideColumns
}

func blobValue(key, value string) blobEntity {
	return blobEntity{key, contract.WideColumns{{Value: []byte(value)}}}
}

// ingestEmbedded makes a table whose values of 8 bytes or more are blobs in it,
// and ingests it.
func (x *dbTest) ingestEmbedded(entities ...blobEntity) {
	x.Helper()
	name := x.dir + "/embedded.sst"
	w := rocksdb.NewSstFileWriter(x.last, nil)
	defer w.Close()
	o := contract.DefaultSstFileWriterEmbeddedBlobOptions()
	o.MinBlobSize = 8
	x.must(w.OpenWithEmbeddedBlobs(name, &o, contract.TemperatureUnknown))
	for _, e := range entities {
		if len(e.columns) == 1 {
			x.must(w.Put([]byte(e.key), e.columns[0].Value))
		} else {
			x.must(w.PutEntity([]byte(e.key), e.columns))
		}
	}
	x.must(w.Finish(nil))
	x.ingest(name)
}

// wantEntity wants the iterator on an entity.
func (x *dbTest) wantEntity(it *rocksdb.Iterator, e blobEntity) {
	x.Helper()
	if !it.Valid() || string(it.Key()) != e.key || string(it.Value()) != string(e.columns[0].Value) ||
		columnsString(it.Columns()) != columnsString(e.columns) {
		x.Fatalf("not on %s: valid %t, %v", e.key, it.Valid(), it.Err())
	}
}

// getEntity reads an entity; what it holds is released at the test's end.
func (x *dbTest) getEntity(key string) *contract.PinnableWideColumns {
	x.Helper()
	p := new(contract.PinnableWideColumns)
	x.must(x.db.GetEntity(nil, []byte(key), p))
	x.Cleanup(p.Reset)
	return p
}

func TestDBBlobIndexTest_EmbeddedBlobIteratorWithFirstKeyIndex(t *testing.T) {
	x := newEmbeddedTest(t, func(o *contract.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.IndexType, b.BlockSize = contract.BinarySearchWithFirstKey, 1
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	})
	entities := []blobEntity{blobValue("k1", strings.Repeat("x", 1024)), blobValue("k2", strings.Repeat("y", 1024)),
		blobValue("k3", strings.Repeat("z", 1024))}
	x.ingestEmbedded(entities...)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.SeekToFirst()
	for _, e := range entities {
		if x.get(0, e.key) != string(e.columns[0].Value) {
			t.Fatal(e.key)
		}
		x.wantEntity(it, e)
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		t.Fatal(it.Err())
	}
	it.Seek([]byte("k2"))
	x.wantEntity(it, entities[1])
}

func TestDBBlobIndexTest_EmbeddedBlobBackwardIteration(t *testing.T) {
	x := newEmbeddedTest(t)
	entities := []blobEntity{blobValue("k1", strings.Repeat("x", 1024)),
		{"k2", columns("", "dd", "big", strings.Repeat("c", 1024))}, blobValue("k3", strings.Repeat("z", 1024))}
	x.ingestEmbedded(entities...)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.SeekToLast()
	for _, i := range []int{2, 1, 0} {
		x.wantEntity(it, entities[i])
		it.Prev()
	}
	if it.Valid() || it.Err() != nil {
		t.Fatal(it.Err())
	}
	it.SeekForPrev([]byte("k2"))
	x.wantEntity(it, entities[1])
	it.Prev()
	x.wantEntity(it, entities[0])
}

// withBlobCache has statistics and a blob cache.
func withBlobCache(o *contract.Options) {
	o.Statistics = rocksdb.NewStatistics()
	o.BlobCache = rocksdb.NewLRUCache(8 << 20)
}

func TestDBBlobIndexTest_EmbeddedBlobBlobCacheHitMiss(t *testing.T) {
	x := newEmbeddedTest(t, withBlobCache)
	big1, big2 := blobValue("k1", strings.Repeat("x", 1024)), blobValue("k2", strings.Repeat("y", 1024))
	x.ingestEmbedded(big1, big2)
	want := func(miss, hit, add int, read bool) {
		t.Helper()
		for _, c := range []struct {
			t    contract.Ticker
			want int
		}{{contract.BlobDBCacheMiss, miss}, {contract.BlobDBCacheHit, hit}, {contract.BlobDBCacheAdd, add}} {
			x.wantTicker(c.t, c.want)
		}
		if n := x.ticker(contract.BlobDBBlobFileBytesRead); n > 0 != read {
			t.Errorf("%d bytes read", n)
		}
		x.must(x.last.Statistics.Reset())
	}
	x.must(x.last.Statistics.Reset())
	perf := &contract.PerfContext{Level: contract.EnableCount}
	for _, hit := range []uint64{0, 1} {
		perf.Reset()
		if x.getPerf(0, "k1", perf) != string(big1.columns[0].Value) {
			t.Fatal("k1")
		}
		want(int(1-hit), int(hit), int(1-hit), hit == 0)
		if perf.BlobReadCount != 1-hit || perf.BlobCacheHitCount != hit {
			t.Errorf("%d blobs read, %d from the cache", perf.BlobReadCount, perf.BlobCacheHitCount)
		}
	}
	for _, hit := range []int{0, 1} {
		it := x.db.NewIterator(nil)
		it.Seek([]byte("k2"))
		if !it.Valid() || string(it.Value()) != string(big2.columns[0].Value) {
			t.Fatal(it.Err())
		}
		x.must(it.Close())
		want(1-hit, hit, 1-hit, hit == 0)
	}
}

func TestDBBlobIndexTest_EmbeddedBlobSharedBlockAndBlobCache(t *testing.T) {
	x := newEmbeddedTest(t, withBlobCache, func(o *contract.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockCache, b.CacheIndexAndFilterBlocks = o.BlobCache, true
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	})
	entities := []blobEntity{blobValue("k1", strings.Repeat("x", 1024)), blobValue("k2", strings.Repeat("y", 1024))}
	x.ingestEmbedded(entities...)
	for range 2 {
		for _, e := range entities {
			if x.get(0, e.key) != string(e.columns[0].Value) {
				t.Fatal(e.key)
			}
		}
	}
	for _, c := range []contract.Ticker{contract.BlobDBCacheHit, contract.BlockCacheHit} {
		if x.ticker(c) == 0 {
			t.Errorf("no %v", c)
		}
	}
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.SeekToFirst()
	for _, e := range entities {
		x.wantEntity(it, e)
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		t.Fatal(it.Err())
	}
}

func TestDBBlobIndexTest_EmbeddedBlobWideColumnGetEntityZeroCopy(t *testing.T) {
	x := newEmbeddedTest(t, withBlobCache)
	e := blobEntity{"k", columns("", "d", "big1", strings.Repeat("a", 1024), "big2", strings.Repeat("b", 2048))}
	x.ingestEmbedded(e)
	var at [2]*byte // where the blobs are: in the cache
	check := func(p *contract.PinnableWideColumns) {
		t.Helper()
		got := p.Columns()
		if columnsString(got) != columnsString(e.columns) {
			t.Fatal("other columns")
		}
		here := [2]*byte{&got[1].Value[0], &got[2].Value[0]}
		if at[0] != nil && here != at {
			t.Fatal("a blob was copied")
		}
		at = here
	}
	check(x.getEntity("k"))
	moved := *x.getEntity("k")
	check(&moved)
	check(x.getEntity("k"))
	var results [1]contract.PinnableWideColumns
	var errs [1]error
	x.db.MultiGetEntity(nil, [][]byte{[]byte("k")}, results[:], errs[:])
	x.must(errs[0])
	check(&results[0])
	results[0].Reset()
}

func TestDBBlobIndexTest_EmbeddedBlobWideColumnGetDefaultColumn(t *testing.T) {
	x := newEmbeddedTest(t)
	e := blobEntity{"k", columns("", strings.Repeat("x", 1024), "attr", "s")}
	x.ingestEmbedded(e)
	if x.get(0, "k") != string(e.columns[0].Value) {
		t.Error("another default column")
	}
	if columnsString(x.getEntity("k").Columns()) != columnsString(e.columns) {
		t.Error("other columns")
	}
}

func TestDBBlobIndexTest_EmbeddedBlobWideColumnMergeBase(t *testing.T) {
	x := newEmbeddedTest(t)
	base := strings.Repeat("D", 1024)
	x.ingestEmbedded(blobEntity{"k", columns("", base, "attr", "s")})
	x.mustMerge(0, "k", "op1")
	if x.get(0, "k") != base+",op1" {
		t.Error("another merge result")
	}
	x.wantOperands("k", base, "op1")
}

func TestDBBlobIndexTest_EmbeddedBlobWideColumnGetEntityBlockCacheTier(t *testing.T) {
	x := newEmbeddedTest(t)
	x.ingestEmbedded(blobEntity{"k", columns("", "d", "big", strings.Repeat("a", 1024))})
	x.getEntity("k") // its data block is in the cache then
	ro := cacheTier()
	var p contract.PinnableWideColumns
	x.wantIs(x.db.GetEntity(&ro, []byte("k"), &p), rocksdb.ErrIncomplete)
}

// A row cache has no table to read blobs of, so it keeps them whole; compactions
// write values out of the tables with blobs.
func TestEmbeddedBlobsInRowCacheAndCompaction(t *testing.T) {
	x := newEmbeddedTest(t, withBlobCache, func(o *contract.Options) { o.RowCache = rocksdb.NewLRUCache(1 << 20) })
	value := blobValue("k1", strings.Repeat("x", 1024))
	entity := blobEntity{"k2", columns("", strings.Repeat("d", 100), "big", strings.Repeat("c", 1024))}
	x.ingestEmbedded(value, entity)
	for range 2 {
		if x.get(0, "k1") != string(value.columns[0].Value) || x.get(0, "k2") != string(entity.columns[0].Value) {
			t.Fatal("other values")
		}
		if columnsString(x.getEntity("k2").Columns()) != columnsString(entity.columns) {
			t.Fatal("other columns")
		}
	}
	x.wantTicker(contract.RowCacheHit, 4)
	x.puts(0, "k0", "v", "k3", "v", "flush")
	x.compact(0, "", "")
	x.reopen(x.last)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.Seek([]byte("k1"))
	x.wantEntity(it, value)
	it.Next()
	x.wantEntity(it, entity)
	if _, ok := x.onlyTable(0).UserCollectedProperties["rocksdb.embedded.blob.stats"]; ok {
		t.Error("a table with embedded blobs after a compaction")
	}
}

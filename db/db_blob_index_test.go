// Port of db/blob/db_blob_index_test.cc (entities whose columns are in blob files).
// Differs: it stands with the other cases of whole databases.

package db_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestBlobIndexTest_SameFileBlobIndex(t *testing.T) {
	var index blobformat.BlobIndex
	encoded := blobformat.EncodeBlob(nil, blobformat.CurrentFileBlobIndexFileNumber, 123, 456, contract.NoCompression)
	if err := index.DecodeFrom(encoded); err != nil {
		t.Fatal(err)
	}
	if !index.IsSameFile() || index.FileNumber != blobformat.CurrentFileBlobIndexFileNumber ||
		!strings.Contains(index.DebugString(false), "file:same") {
		t.Errorf("%+v, %s", index, index.DebugString(false))
	}
}

// newBlobIndexTest opens a database where values of 10 bytes or more go to blob
// files, and that compacts nothing by itself.
func newBlobIndexTest(t *testing.T, change ...func(o *contract.Options)) *dbTest {
	t.Helper()
	return newEmbeddedTest(t, append([]func(*contract.Options){func(o *contract.Options) { o.EnableBlobFiles, o.MinBlobSize = true, 10 }}, change...)...)
}

func collectAll(o *contract.Options) {
	o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 1
}

// defaultOf is the value of the default column, which is the first if there is
// one.
func defaultOf(c contract.WideColumns) string {
	if len(c) > 0 && len(c[0].Name) == 0 {
		return string(c[0].Value)
	}
	return ""
}

// writeEntities writes entities, and plain values as such.
func (x *dbTest) writeEntities(entities ...blobEntity) {
	x.Helper()
	for _, e := range entities {
		if len(e.columns) == 1 && len(e.columns[0].Name) == 0 {
			x.mustPut(0, e.key, string(e.columns[0].Value))
		} else {
			x.must(x.db.PutEntity(nil, []byte(e.key), e.columns))
		}
	}
}

// wantEntities reads entities, whole and by their default column.
func (x *dbTest) wantEntities(s rocksdb.Snapshot, entities ...blobEntity) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s
	for _, e := range entities {
		var p contract.PinnableWideColumns
		x.must(x.db.GetEntity(&ro, []byte(e.key), &p))
		same(x, e.key, columnsString(p.Columns()), columnsString(e.columns))
		p.Reset()
		x.wantGetAt(0, e.key, s, defaultOf(e.columns))
	}
}

// wantAllEntities wants an iterator to give these entities, and no others.
func (x *dbTest) wantAllEntities(entities ...blobEntity) {
	x.Helper()
	x.wantEntities(nil, entities...)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.SeekToFirst()
	for _, e := range entities {
		if !it.Valid() {
			x.Fatalf("no %s: %v", e.key, it.Err())
		}
		same(x, "key", string(it.Key()), e.key)
		same(x, e.key, columnsString(it.Columns()), columnsString(e.columns))
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		x.Fatalf("more than that: %t, %v", it.Valid(), it.Err())
	}
}

func TestDBBlobIndexTest_EntityBlobFlushCompactionRoundtrip(t *testing.T) {
	x := newBlobIndexTest(t, collectAll, func(o *contract.Options) { o.Statistics = rocksdb.NewStatistics() })
	entities := []blobEntity{
		{"entity_key1", columns("", dummyString(100, 'v'), "attr1", dummyString(150, 'v'))},
		{"entity_key2", columns("attr1", dummyString(150, 'v'), "attr2", dummyString(200, 'v'))},
		{"entity_key3", columns("", "small", "attr1", dummyString(150, 'v'))},
	}
	x.writeEntities(entities...)
	x.wantAllEntities(entities...)
	x.flush(0)
	x.wantAllEntities(entities...)

	entities = append(entities, blobEntity{"entity_key4", columns("", dummyString(120, 'v'), "attr1", dummyString(80, 'v'))})
	x.writeEntities(entities[3])
	x.flush(0)
	x.compact(0, "", "")
	if x.countFiles(contract.BlobFile) == 0 || x.intProperty(0, contract.PropertyNumBlobFiles) == 0 ||
		x.intProperty(0, contract.PropertyTotalBlobFileSize) == 0 || x.ticker(contract.BlobDBBlobFileBytesWritten) == 0 {
		t.Error("nothing went to blob files")
	}
	x.wantAllEntities(entities...)

	for cycle := range 3 {
		e := blobEntity{fmt.Sprint("cycle_key", cycle), columns("", dummyString(100, 'v'), "cycle_attr", dummyString(50, 'v'))}
		x.writeEntities(e)
		x.flush(0)
		x.compact(0, "", "")
		x.wantEntities(nil, e)
	}
}

func TestDBBlobIndexTest_EntityBlobGCWithSnapshot(t *testing.T) {
	x := newBlobIndexTest(t, collectAll)
	old := blobEntity{"snapshot_key", columns("", dummyString(100, 'v'), "attr1", dummyString(80, 'v'))}
	updated := blobEntity{"snapshot_key", columns("", dummyString(150, 'v'), "attr1", dummyString(120, 'v'))}
	x.writeEntities(old)
	x.flush(0)
	s := x.db.GetSnapshot()
	x.writeEntities(updated)
	x.flush(0)
	x.compact(0, "", "")
	x.wantEntities(nil, updated)
	x.wantEntities(s, old)
	x.db.ReleaseSnapshot(s)
	x.compact(0, "", "")
	x.wantEntities(nil, updated)
}

func TestDBBlobIndexTest_EntityBlobRecoveryReplaysUnflushedWAL(t *testing.T) {
	x := newBlobIndexTest(t, func(o *contract.Options) { o.AvoidFlushDuringShutdown = true })
	entities := []blobEntity{
		{"recovery_key1", columns("", dummyString(100, 'v'), "attr1", dummyString(80, 'v'))},
		{"recovery_key2", columns("attr1", dummyString(150, 'v'), "attr2", "small")},
		{"recovery_key3", columns("", "small", "attr1", dummyString(200, 'v'))},
		{"recovery_key4", columns("", dummyString(120, 'v'), "attr1", "unflushed_attr")},
		{"recovery_key5", columns("", dummyString(140, 'v'), "attr1", "recovered_with_avoid_flush")},
	}
	x.writeEntities(entities[:2]...)
	x.flush(0)
	x.writeEntities(entities[2])
	x.flush(0)
	x.compact(0, "", "")
	x.writeEntities(entities[3]) // in the log only
	o := x.last
	x.reopen(o)
	x.wantAllEntities(entities[:4]...)
	x.writeEntities(entities[4])
	o.AvoidFlushDuringRecovery = true
	x.reopen(o)
	x.wantAllEntities(entities...)
}

func TestDBBlobIndexTest_EntityBlobMixedWithRegularPut(t *testing.T) {
	x := newBlobIndexTest(t, collectAll)
	entities := []blobEntity{
		{"entity_key1", columns("", dummyString(120, 'v'), "attr1", dummyString(80, 'v'))},
		{"entity_key2", columns("attr1", dummyString(90, 'v'), "attr2", dummyString(110, 'v'))},
		blobValue("put_key1", dummyString(100, 'v')), blobValue("put_key2", "small"), blobValue("put_key3", dummyString(200, 'v')),
	}
	x.writeEntities(entities...)
	x.flush(0)
	x.wantAllEntities(entities...)
	more := []blobEntity{blobValue("put_key4", dummyString(150, 'v')), {"entity_key3", columns("", dummyString(130, 'v'), "attr1", "small")}}
	x.writeEntities(more...)
	x.flush(0)
	x.compact(0, "", "")
	x.wantEntities(nil, append(entities, more...)...)
	updated := []blobEntity{blobValue("put_key1", dummyString(180, 'v')), {"entity_key1", columns("", dummyString(190, 'v'), "attr1", dummyString(85, 'v'))}}
	x.writeEntities(updated...)
	x.flush(0)
	x.compact(0, "", "")
	x.wantEntities(nil, updated...)
}

// entityFilter is a compaction filter of entities. It reads the column small_col
// where that is not in a blob file, and large_col where it is, if resolves is
// set; it keeps all, errors or not.
type entityFilter struct {
	resolves     bool
	calls        int
	checks       int // of where columns are
	small, large string
	failures     []error
}

func (*entityFilter) Name() string          { return "EntityFilter" }
func (*entityFilter) IgnoreSnapshots() bool { return true }
func (*entityFilter) FilterV3(int, []byte, contract.CompactionFilterValueType, []byte) (contract.CompactionFilterDecision, []byte, []byte) {
	return contract.FilterKeep, nil, nil
}

func (f *entityFilter) FilterV4(_ int, _ []byte, vt contract.CompactionFilterValueType, _ []byte, c contract.WideColumns,
	blobs contract.WideColumnBlobResolver) (d contract.CompactionFilterDecision, newValue []byte, newColumns contract.WideColumns, skipUntil []byte) {
	if vt != contract.CompactionFilterWideColumnEntity {
		return contract.FilterKeep, nil, nil, nil
	}
	f.calls++
	for i := range c {
		f.checks++
		inBlob := blobs.IsBlobColumn(i)
		switch {
		case string(c[i].Name) == "small_col" && !inBlob:
			f.small = string(c[i].Value)
		case string(c[i].Name) == "large_col" && inBlob && f.resolves:
			v, err := blobs.ResolveColumn(i)
			if err != nil {
				f.failures = append(f.failures, err)
			}
			f.large = string(v)
		}
	}
	return contract.FilterKeep, nil, nil, nil
}

// largeAndSmall is an entity with a column in a blob file and one that is not.
func largeAndSmall() blobEntity {
	return blobEntity{"test_key", columns("large_col", dummyString(10<<10, 'L'), "small_col", "sssss")}
}

// compactFiltered writes an entity to a file and compacts it through f.
func compactFiltered(t *testing.T, f contract.CompactionFilter) (x *dbTest, e blobEntity, bytesRead int) {
	t.Helper()
	x = newBlobIndexTest(t, func(o *contract.Options) { o.Statistics, o.CompactionFilter = rocksdb.NewStatistics(), f })
	e = largeAndSmall()
	x.writeEntities(e)
	x.flush(0)
	before := x.ticker(contract.BlobDBBlobFileBytesRead)
	x.compact(0, "", "")
	return x, e, x.ticker(contract.BlobDBBlobFileBytesRead) - before
}

func filterSkipsBlobs(t *testing.T) {
	f := &entityFilter{}
	x, e, read := compactFiltered(t, f)
	if f.calls == 0 || f.checks < 2 || f.small != "sssss" {
		t.Errorf("%d calls, %d checks, %q", f.calls, f.checks, f.small)
	}
	same(t, "bytes of blobs read", read, 0)
	x.wantEntities(nil, e)
}

func TestDBBlobIndexTest_EntityBlobLazyLoadingFilterSkipsBlobs(t *testing.T) { filterSkipsBlobs(t) }

func TestDBBlobIndexTest_EntityBlobCompactionFilterAccessesOnlySmallColumn(t *testing.T) {
	filterSkipsBlobs(t)
}

func TestDBBlobIndexTest_EntityBlobLazyLoadingFilterResolvesBlobs(t *testing.T) {
	f := &entityFilter{resolves: true}
	x, e, read := compactFiltered(t, f)
	if f.calls == 0 || f.large != string(e.columns[0].Value) || read < len(f.large) {
		t.Errorf("%d calls, a column of %d bytes, %d bytes of blobs read", f.calls, len(f.large), read)
	}
	x.wantEntities(nil, e)
}

// compactWithoutBlob compacts an entity whose blob file is gone through f.
func compactWithoutBlob(t *testing.T, f contract.CompactionFilter) *dbTest {
	t.Helper()
	x := newBlobIndexTest(t, func(o *contract.Options) { o.ParanoidChecks, o.CompactionFilter = true, f })
	x.writeEntities(largeAndSmall())
	x.flush(0)
	files := x.files(contract.BlobFile)
	same(x, "blob files", len(files), 1)
	x.must(os.Remove(files[0]))
	if err := x.db.CompactRange(nil, nil, nil); !contract.IsCorruption(err) && !contract.IsIOError(err) && !contract.IsNotFound(err) {
		t.Fatalf("the compaction ended with %v", err)
	}
	return x
}

// The filter keeps the entity though it could not read it.
func TestDBBlobIndexTest_EntityBlobLazyLoadingFilterMissingBlobFailsCompaction(t *testing.T) {
	f := &entityFilter{resolves: true}
	x := compactWithoutBlob(t, f)
	if f.calls == 0 || len(f.failures) != 1 || f.failures[0] == nil {
		t.Errorf("%d calls, failures %v", f.calls, f.failures)
	}
	if err := x.full().TestGetBGError(); err == nil || contract.AsStatus(err).Severity < contract.SeverityHardError {
		t.Errorf("background error %v", err)
	}
}

// storedFilter is a compaction filter that takes entities in the stored form.
type storedFilter struct {
	decision contract.CompactionFilterDecision
	calls    int
	large    string
}

func (*storedFilter) Name() string          { return "StoredFilter" }
func (*storedFilter) IgnoreSnapshots() bool { return true }
func (f *storedFilter) FilterV3(_ int, _ []byte, vt contract.CompactionFilterValueType, existing []byte) (contract.CompactionFilterDecision, []byte, []byte) {
	if vt != contract.CompactionFilterWideColumnEntity {
		return contract.FilterKeep, nil, nil
	}
	f.calls++
	c, _, err := wide.Deserialize(nil, nil, existing)
	if err == nil && len(c) > 0 && string(c[0].Name) == "large_col" {
		f.large = string(c[0].Value)
	}
	return f.decision, nil, nil
}

func TestDBBlobIndexTest_EntityBlobFilterV3BackwardCompatibility(t *testing.T) {
	f := &storedFilter{}
	_, e, _ := compactFiltered(t, f)
	if f.calls == 0 || f.large != string(e.columns[0].Value) {
		t.Errorf("%d calls, a column of %d bytes", f.calls, len(f.large))
	}
}

func TestDBBlobIndexTest_EntityBlobFilterV3MissingBlobFailsCompaction(t *testing.T) {
	f := &storedFilter{}
	compactWithoutBlob(t, f)
	if f.calls != 0 || f.large != "" {
		t.Errorf("%d calls, a column of %d bytes", f.calls, len(f.large))
	}
}

func TestDBBlobIndexTest_EntityBlobFilterV3Remove(t *testing.T) {
	x, e, _ := compactFiltered(t, &storedFilter{decision: contract.FilterRemove})
	x.wantGet(0, e.key, "NOT_FOUND")
}

// ttlFilter drops entities by a column that is in no blob file.
type ttlFilter struct {
	entityFilter
	enabled bool
}

func (f *ttlFilter) FilterV4(_ int, _ []byte, vt contract.CompactionFilterValueType, _ []byte, c contract.WideColumns,
	blobs contract.WideColumnBlobResolver) (d contract.CompactionFilterDecision, newValue []byte, newColumns contract.WideColumns, skipUntil []byte) {
	if f.enabled && vt == contract.CompactionFilterWideColumnEntity {
		for i := range c {
			if !blobs.IsBlobColumn(i) && string(c[i].Name) == "ttl" && string(c[i].Value) == "expired" {
				return contract.FilterRemove, nil, nil, nil
			}
		}
	}
	return contract.FilterKeep, nil, nil, nil
}

// Blob files of which nothing is left go without garbage collection.
func TestDBBlobIndexTest_PassiveGCForWideColumnEntitiesWithBlobColumns(t *testing.T) {
	f := &ttlFilter{}
	x := newBlobIndexTest(t, func(o *contract.Options) {
		o.CompactionStyle, o.NumLevels = contract.CompactionStyleUniversal, 7
		o.BlobFileSize, o.CompactionFilter = 500, f // about an entity in each
	})
	entity := func(key, ttl string) blobEntity {
		return blobEntity{key, columns("data", dummyString(200, 'D'), "ttl", ttl)}
	}
	survivor := entity("aaa_survivor", "alive")
	x.writeEntities(survivor)
	for i := range 8 {
		x.writeEntities(entity(fmt.Sprintf("drop_%02d", i), "expired"))
	}
	x.flush(0)
	x.compact(0, "", "")
	before := x.countFiles(contract.BlobFile)
	if before < 3 {
		t.Fatalf("%d blob files", before)
	}
	f.enabled = true
	x.writeEntities(entity("drop_00", "expired"))
	x.flush(0)
	x.compact(0, "", "")
	x.wantAllEntities(survivor)
	if after := x.countFiles(contract.BlobFile); after >= before {
		t.Errorf("%d blob files, before %d", after, before)
	}
}

func TestDBBlobIndexTest_IntegratedBlobIterate(t *testing.T) {
	x := newEmbeddedTest(t, func(o *contract.Options) { o.EnableBlobFiles, o.MinBlobSize = true, 0 })
	x.puts(0, "key0", "key0_value0", "flush", "key1", "key1_value0", "flush")
	for i := 1; i <= 3; i++ {
		x.mustMerge(0, "key1", fmt.Sprint("key1_value", i))
		x.flush(0)
	}
	x.puts(0, "key2", "key2_value0", "flush")
	want := func() {
		t.Helper()
		for _, move := range []func(it *rocksdb.Iterator){
			func(it *rocksdb.Iterator) { it.Seek([]byte("key1")) },
			func(it *rocksdb.Iterator) { it.Seek([]byte("key0")); it.Next() },
			func(it *rocksdb.Iterator) { it.SeekForPrev([]byte("key1")) },
			func(it *rocksdb.Iterator) { it.Seek([]byte("key2")); it.Prev() },
		} {
			it := x.db.NewIterator(nil)
			x.must(it.Refresh(nil))
			move(it)
			if !it.Valid() || string(it.Value()) != "key1_value0,key1_value1,key1_value2,key1_value3" {
				t.Errorf("value %q, %v", it.Value(), it.Err())
			}
			x.must(it.Close())
		}
	}
	want()
	x.must(x.db.SetOptions(map[string]string{"max_sequential_skip_in_iterations": "0"}))
	want()
}

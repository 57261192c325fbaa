// Port of db/compaction/compaction_iterator_test.cc (entities whose columns are or
// go to blob files). Differs: a resolver of blobs is asked by a filter.

package compaction_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// entityRun runs entities through a CompactionIterator.
type entityRun struct {
	t       *testing.T
	minSize uint64 // of values that go to blob files; 0: there are none
	filter  rocksdb.CompactionFilter
	fetcher blobformat.BlobFetcher
	cutoff  uint64 // blob files below it are collected
	builder *blob.BlobFileBuilder
	err     error
}

// run gives the entities that come out, by key; all have to be entities.
func (r *entityRun) run(keys []string, entities ...[]byte) map[string][]byte {
	r.t.Helper()
	icmp := dbformat.NewInternalKeyComparator(util.BytewiseComparator())
	var ikeys []string
	for i, k := range keys {
		ikeys = append(ikeys, keyStr(k, rocksdb.SequenceNumber(10-i), tEntity))
	}
	in := internaliter.NewVectorIterator(vectorOf(ikeys), entities, icmp.Compare)
	in.SeekToFirst()
	o := compaction.CompactionIteratorOptions{Input: in, Comparator: icmp, EarliestSnapshot: maxSeq,
		EarliestWriteConflictSnapshot: maxSeq, JobSnapshot: maxSeq, AllowDataInErrors: true, EnforceSingleDelContracts: true,
		Compaction: &fakeCompaction{bottommost: true}, CompactionFilter: r.filter, BlobFetcher: r.fetcher,
		BlobGarbageCollectionCutoffFileNumber: r.cutoff,
		MergeHelper:                           merge.NewMergeHelper(merge.MergeHelperOptions{UserComparator: icmp.UserComparator()}),
	}
	if r.minSize > 0 {
		r.builder = r.newBuilder()
		o.BlobFileBuilder = r.builder
	}
	it := compaction.NewCompactionIterator(o)
	defer func() { _ = it.Close() }() // its status is looked at
	out := map[string][]byte{}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		p, err := dbformat.ParseInternalKey(it.Key(), true)
		if err != nil || p.Type != tEntity {
			r.t.Fatalf("%+v, %v", p, err)
		}
		out[string(p.UserKey)] = append([]byte(nil), it.Value()...)
	}
	r.err = it.Status()
	if r.builder != nil {
		if err := r.builder.Finish(); err != nil {
			r.t.Fatal(err)
		}
	}
	return out
}

func (r *entityRun) newBuilder() *blob.BlobFileBuilder {
	o := rocksdb.DefaultOptions()
	o.CFPaths = []rocksdb.DBPath{{Path: r.t.TempDir()}}
	o.EnableBlobFiles, o.MinBlobSize = true, r.minSize
	o.Env = env.Default()
	io := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions)
	mo := options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	fo, wo := rocksdb.NewFileOptions(&o.DBOptions), rocksdb.DefaultWriteOptions()
	number := uint64(1)
	return blob.NewBlobFileBuilder(blob.BlobFileBuilderOptions{NewFileNumber: func() uint64 { number++; return number },
		IOptions: &io, MutableCFOptions: &mo, FileOptions: fo, WriteOptions: &wo, JobID: 1, ColumnFamilyName: "default",
		WriteHint: rocksdb.WriteLifeMedium, Reason: rocksdb.BlobFileCreationReasonCompaction})
}

// columnsOf makes columns of names and values.
func columnsOf(pairs ...string) (c rocksdb.WideColumns) {
	for i := 0; i < len(pairs); i += 2 {
		c = append(c, rocksdb.WideColumn{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return c
}

// blobIn is a column in a blob file.
func blobIn(column int, file, offset, size uint64) wide.BlobColumn {
	return wide.BlobColumn{Column: column, Index: blobformat.BlobIndex{Type: blobformat.BlobIndexBlob, FileNumber: file, Offset: offset, Size: size}}
}

// entityOf is the stored form.
func entityOf(t *testing.T, columns rocksdb.WideColumns, blobs ...wide.BlobColumn) (b []byte) {
	t.Helper()
	var err error
	if len(blobs) > 0 {
		b, err = wide.SerializeV2(nil, columns, blobs)
	} else {
		b, err = wide.Serialize(nil, columns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// partsOf takes an entity apart.
func partsOf(t *testing.T, entity []byte) (rocksdb.WideColumns, []wide.BlobColumn) {
	t.Helper()
	columns, blobs, err := wide.Deserialize(nil, nil, entity)
	if err != nil {
		t.Fatal(err)
	}
	return columns, blobs
}

// extract wants the columns at those places, and no others, to go to a blob file.
func extract(t *testing.T, columns rocksdb.WideColumns, moved ...int) {
	t.Helper()
	r := &entityRun{t: t, minSize: 100}
	entity := entityOf(t, columns)
	out := r.run([]string{"key1"}, entity)
	if r.err != nil || len(out) != 1 {
		t.Fatalf("%d entities, %v", len(out), r.err)
	}
	got, blobs := partsOf(t, out["key1"])
	var at []int
	for _, b := range blobs {
		at = append(at, b.Column)
		if b.Index.IsInlined() || b.Index.Size != uint64(len(columns[b.Column].Value)) {
			t.Errorf("column %d: %s", b.Column, b.Index.DebugString(false))
		}
		got[b.Column].Value = columns[b.Column].Value
	}
	if d := cmp.Diff(moved, at); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(columns, got); d != "" {
		t.Error(d)
	}
	files := 1
	if len(moved) == 0 {
		files = 0
		if string(out["key1"]) != string(entity) {
			t.Error("the entity changed")
		}
	}
	if n := len(r.builder.Additions()); n != files {
		t.Errorf("%d blob files", n)
	}
}

func TestWideColumnEntityBlobExtractionTest_WideColumnEntityBlobExtractionSingleColumn(t *testing.T) {
	extract(t, columnsOf("col1", strings.Repeat("x", 1000)), 0)
}

func TestWideColumnEntityBlobExtractionTest_WideColumnEntityBlobExtractionMultipleColumns(t *testing.T) {
	extract(t, columnsOf("col1", strings.Repeat("a", 500), "col2", strings.Repeat("b", 600), "col3", strings.Repeat("c", 700)), 0, 1, 2)
}

func TestWideColumnEntityBlobExtractionTest_WideColumnEntityNoExtractionBelowThreshold(t *testing.T) {
	extract(t, columnsOf("col1", strings.Repeat("x", 50), "col2", strings.Repeat("y", 80)))
}

func TestWideColumnEntityBlobExtractionTest_WideColumnEntityMixedSizes(t *testing.T) {
	extract(t, columnsOf("large_col", strings.Repeat("l", 200), "small_col", strings.Repeat("s", 50)), 0)
}

func TestWideColumnEntityBlobExtractionTest_WideColumnEntityDefaultColumnBlobExtraction(t *testing.T) {
	extract(t, columnsOf("", strings.Repeat("d", 500), "regular", strings.Repeat("r", 30)), 0)
}

// passesThrough wants an entity with blobs to stay as it is.
func passesThrough(t *testing.T, minSize uint64, columns rocksdb.WideColumns, blobs ...wide.BlobColumn) {
	t.Helper()
	entity := entityOf(t, columns, blobs...)
	r := &entityRun{t: t, minSize: minSize}
	out := r.run([]string{"key1"}, entity)
	if r.err != nil || len(out) != 1 {
		t.Fatalf("%d entities, %v", len(out), r.err)
	}
	got, gotBlobs := partsOf(t, out["key1"])
	if d := cmp.Diff(blobs, gotBlobs); d != "" {
		t.Error(d)
	}
	for _, b := range blobs {
		got[b.Column].Value = columns[b.Column].Value
	}
	if d := cmp.Diff(columns, got); d != "" {
		t.Error(d)
	}
}

func TestWideColumnEntityBlobGCTest_WideColumnEntityBlobGCRelocate(t *testing.T) {
	passesThrough(t, 100, columnsOf("blob_col", strings.Repeat("B", 500), "inline_col", "inline_data"), blobIn(0, 1, 100, 500))
}

func TestWideColumnEntityBlobGCTest_WideColumnEntityBlobGCNoRelocateNewerFile(t *testing.T) {
	passesThrough(t, 100, columnsOf("blob_col", strings.Repeat("B", 500), "inline_col", "inline_data"), blobIn(0, 10, 100, 500))
}

func TestWideColumnEntityBlobGCTest_WideColumnEntityBlobGCPartialRelocation(t *testing.T) {
	passesThrough(t, 100, columnsOf("col1", strings.Repeat("A", 500), "col2", strings.Repeat("B", 600), "col3", strings.Repeat("C", 700)),
		blobIn(0, 2, 100, 500), blobIn(1, 8, 200, 600), blobIn(2, 3, 300, 700))
}

func TestWideColumnEntityBlobGCTest_WideColumnEntityBlobGCToInline(t *testing.T) {
	passesThrough(t, 1000, columnsOf("inline", "regular", "small_blob", strings.Repeat("X", 50)), blobIn(1, 1, 100, 50))
}

// mockFetcher has values by blob file.
type mockFetcher map[uint64]string

func (f mockFetcher) FetchBlob(_ []byte, index *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (uint64, error) {
	v, ok := f[index.FileNumber]
	if !ok {
		return 0, rocksdb.NotFound("Blob not found in mock")
	}
	value.PinSelf([]byte(v))
	return uint64(len(v)), nil
}

// With a cutoff, columns below it move: to a new blob file or, where they are
// small, into the entity.
func TestEntityBlobsBelowCutoffMove(t *testing.T) {
	large, small := strings.Repeat("A", 500), "small"
	r := &entityRun{t: t, minSize: 100, cutoff: 5, fetcher: mockFetcher{2: large, 3: small}}
	out := r.run([]string{"key1"}, entityOf(t, columnsOf("col1", "", "col2", "", "col3", ""),
		blobIn(0, 2, 100, 500), blobIn(1, 8, 200, 600), blobIn(2, 3, 300, 5)))
	if r.err != nil || len(out) != 1 {
		t.Fatalf("%d entities, %v", len(out), r.err)
	}
	columns, blobs := partsOf(t, out["key1"])
	if len(blobs) != 2 || blobs[0].Column != 0 || blobs[0].Index.Size != 500 || len(r.builder.Additions()) != 1 ||
		blobs[0].Index.FileNumber != r.builder.Additions()[0].GetBlobFileNumber() || !cmp.Equal(blobs[1], blobIn(1, 8, 200, 600)) ||
		string(columns[2].Value) != small {
		t.Errorf("%q, %+v", columns, blobs)
	}
}

// columnFilter is a filter of columns.
type columnFilter func(key string, columns rocksdb.WideColumns, blobs rocksdb.WideColumnBlobResolver) rocksdb.CompactionFilterDecision

func (columnFilter) Name() string          { return "columnFilter" }
func (columnFilter) IgnoreSnapshots() bool { return true }
func (columnFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return rocksdb.FilterKeep, nil, nil
}
func (f columnFilter) FilterV4(_ int, key []byte, _ rocksdb.CompactionFilterValueType, _ []byte, columns rocksdb.WideColumns,
	blobs rocksdb.WideColumnBlobResolver) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns, []byte) {
	return f(string(key), columns, blobs), nil, nil, nil
}

func TestWideColumnEntityBlobGCTest_BlobResolverNullFetcher(t *testing.T) {
	asked := false
	r := &entityRun{t: t, filter: columnFilter(func(_ string, columns rocksdb.WideColumns, blobs rocksdb.WideColumnBlobResolver) rocksdb.CompactionFilterDecision {
		asked = true
		if !blobs.IsBlobColumn(0) || blobs.IsBlobColumn(1) || len(columns) != 2 {
			t.Error("other columns")
		}
		for range 2 {
			if v, err := blobs.ResolveColumn(1); err != nil || string(v) != "value1" {
				t.Errorf("%q, %v", v, err)
			}
			if _, err := blobs.ResolveColumn(0); !rocksdb.IsNotSupported(err) {
				t.Error(err)
			}
		}
		return rocksdb.FilterKeep
	})}
	r.run([]string{"test_key"}, entityOf(t, columnsOf("blob_col", "x", "inline_col", "value1"), blobIn(0, 1, 0, 100)))
	if !asked || !rocksdb.IsNotSupported(r.err) {
		t.Errorf("asked %t, %v", asked, r.err)
	}
}

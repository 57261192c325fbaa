//go:build syncpoint

// Port of db/compaction/compaction_iterator_test.cc (how often entities are taken
// apart). Differs: an entity is taken apart once, for the filter or for the
// output, whether it has blobs or not.

package compaction_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// countParsed counts the entities that are taken apart for the output, and those
// that a filter has taken apart already.
func countParsed(t *testing.T) (parsed, skipped *int) {
	parsed, skipped = new(int), new(int)
	syncpoint.SetCallBack("CompactionIterator::PrepareOutput:DeserializeEntity", func(any) { *parsed++ })
	syncpoint.SetCallBack("CompactionIterator::PrepareOutput:SkipDeserializeEntity", func(any) { *skipped++ })
	syncpoint.EnableProcessing()
	t.Cleanup(syncpoint.Reset)
	return parsed, skipped
}

func TestWideColumnEntityBlobGCTest_EntityDeserializationSkippedAfterFilterKeep(t *testing.T) {
	entity := entityOf(t, columnsOf("col1", "value1", "col2", "x"), blobIn(1, 5, 0, 100))
	keep := columnFilter(func(string, rocksdb.WideColumns, rocksdb.WideColumnBlobResolver) rocksdb.CompactionFilterDecision {
		return rocksdb.FilterKeep
	})
	// Without blob files nothing has to be looked at again.
	for minSize, want := range map[uint64]int{0: 0, 100: 1} {
		parsed, skipped := countParsed(t)
		r := &entityRun{t: t, minSize: minSize, filter: keep}
		if out := r.run([]string{"key1"}, entity); r.err != nil || string(out["key1"]) != string(entity) {
			t.Fatalf("%q, %v", out, r.err)
		}
		if *parsed != 0 || *skipped != want {
			t.Errorf("blob size %d: parsed %d times, skipped %d", minSize, *parsed, *skipped)
		}
	}
}

func TestWideColumnEntityBlobGCTest_EntityDeserializedStateResetAfterDroppedEntity(t *testing.T) {
	parsed, skipped := countParsed(t)
	drop := columnFilter(func(key string, _ rocksdb.WideColumns, _ rocksdb.WideColumnBlobResolver) rocksdb.CompactionFilterDecision {
		if key == "drop_key" {
			return rocksdb.FilterRemove
		}
		return rocksdb.FilterKeep
	})
	large := strings.Repeat("K", 128)
	r := &entityRun{t: t, minSize: 100, filter: drop}
	out := r.run([]string{"drop_key", "keep_key"}, entityOf(t, columnsOf("alpha", "small", "zeta", "x"), blobIn(1, 5, 0, 128)),
		entityOf(t, columnsOf("alpha", large, "zeta", "inline")))
	if r.err != nil || len(out) != 1 {
		t.Fatalf("%d entities, %v", len(out), r.err)
	}
	columns, blobs := partsOf(t, out["keep_key"])
	if len(columns) != 2 || string(columns[1].Value) != "inline" || len(blobs) != 1 || blobs[0].Column != 0 || blobs[0].Index.Size != uint64(len(large)) {
		t.Errorf("%q, %+v", columns, blobs)
	}
	if *parsed != 0 || *skipped != 1 {
		t.Errorf("parsed %d times, skipped %d", *parsed, *skipped)
	}
}

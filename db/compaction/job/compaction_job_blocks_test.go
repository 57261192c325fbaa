// Port of db/compaction/compaction_job_test.cc
// (CompactionJobTimestampTestWithBbTable): block based tables, so that the
// compaction is cut at their anchors.

package job_test

import (
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/util"
)

// newBlockJobTest is a database of keys with timestamps, in block based tables,
// that is compacted in up to four parts.
func newBlockJobTest(t *testing.T) *jobTest {
	x := newJobTest(t)
	o := rocksdb.DefaultBlockBasedTableOptions()
	x.mock, x.cf.TableFactory = nil, blockbased.NewBlockBasedTableFactory(&o)
	x.cf.Comparator, x.cf.TargetFileSizeBase, x.target, x.parts = util.BytewiseComparatorWithU64Ts(), 20, 20, 4
	x.newDB()
	return x
}

// writeTable writes a block based table and gives its size.
func (x *jobTest) writeTable(path string, kvs []mocktable.KV) uint64 {
	x.Helper()
	w, err := file.CreateWritableFileWriter(x.imm.FS, path, nil, &file.WriterOptions{})
	x.must(err)
	to := table.DefaultTableBuilderOptions(x.cfd().IOptions(), x.cfd().GetLatestMutableCFOptions(), x.cfd().InternalComparator())
	wo, ro := rocksdb.DefaultWriteOptions(), rocksdb.DefaultReadOptions()
	to.WriteOptions, to.ReadOptions = &wo, &ro
	b, err := x.cf.TableFactory.(table.Factory).NewTableBuilder(&to, w)
	x.must(err)
	for _, kv := range kvs {
		x.must(b.Add(kv.Key, kv.Value))
	}
	x.must(b.Finish())
	x.must(w.Close(nil))
	return b.FileSize()
}

// wantTables compares the entries of a level's tables.
func (x *jobTest) wantTables(level int, want ...string) {
	x.Helper()
	files := x.level(level)
	if len(files) != len(want) {
		x.Fatalf("%d tables, want %d", len(files), len(want))
	}
	ro := rocksdb.DefaultReadOptions()
	for i, f := range files {
		it := x.cfd().TableCache().NewIterator(&ro, f, x.cfd().GetLatestMutableCFOptions(), &tablecache.IteratorOptions{Caller: rocksdb.CallerUncategorized})
		var kvs []mocktable.KV
		for it.SeekToFirst(); it.Valid(); it.Next() {
			kvs = append(kvs, mocktable.KV{Key: dbformat.InternalKey(slices.Clone(it.Key())), Value: slices.Clone(it.Value())})
		}
		x.must(it.Status())
		x.must(it.Close())
		wantKVs := x.entries(want[i])
		if !slices.EqualFunc(kvs, wantKVs, func(a, b mocktable.KV) bool {
			return string(a.Key) == string(b.Key) && string(a.Value) == string(b.Value)
		}) {
			x.Errorf("table %d: %v, want %v", i, kvs, wantKVs)
		}
	}
}

// Keys of different timestamps stay together, however small the parts.
func TestCompactionJobTimestampTestWithBbTable_SubcompactionAnchorL1(t *testing.T) {
	x := newBlockJobTest(t)
	x.addFile(1, "a@20 200 put a20; b@21 210 put b21; b@20 200 put b20")
	x.addFile(1, "b@18 180 put b18; c@17 170 put c17; c@16 160 put c16")
	x.addFile(1, "c@15 150 put c15")
	x.lastSequence(20)
	x.work(x.pick([]int{1}, 2))
	x.wantTables(2, "a@20 200 put a20", "b@21 210 put b21; b@20 200 put b20; b@18 180 put b18", "c@17 170 put c17; c@16 160 put c16; c@15 150 put c15")
}

func TestCompactionJobTimestampTestWithBbTable_SubcompactionL0(t *testing.T) {
	x := newBlockJobTest(t)
	x.addFile(0, "c@16 160 put c16; c@15 150 put c15")
	x.addFile(0, "b@18 180 put b18; c@17 170 put c17")
	x.addFile(0, "a@20 200 put a20; b@20 200 put b20; b@19 190 put b19")
	x.lastSequence(20)
	x.compact([]int{0})
	x.wantTables(1, "a@20 200 put a20", "b@20 200 put b20; b@19 190 put b19; b@18 180 put b18", "c@17 170 put c17; c@16 160 put c16; c@15 150 put c15")
}

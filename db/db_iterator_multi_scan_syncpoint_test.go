//go:build syncpoint

// Port of db/db_iterator_test.cc (what Prepare of DBIteratorBaseTest prunes).

package db_test

import (
	"testing"

	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// pruned is a scan of a database in the layout at hand, whose Prepare is to
// leave out what has no part in it.
type pruned struct {
	ranges []string // begin, end, …
	keys   string   // that the ranges have, one after the other
	tables int      // table iterators that NewIterator or Prepare make
	files  int      // files that are under an iterator
	kinds  string   // of the iterators over files
	merges int      // merging iterators
}

func (x *dbTest) wantPruned(w pruned) {
	x.Helper()
	tables := countHits("TableCache::NewIterator::BeforeFindTable")
	files := countHits("Version::AddIteratorsForLevel:AddedFile")
	kinds := ""
	syncpoint.SetCallBack("Version::AddIteratorsForLevel:IteratorType", func(kind any) { kinds += kind.(string) + " " })
	merging := 0
	syncpoint.SetCallBack("MergeIteratorBuilder::Finish:UseMergingIterator", func(use any) {
		if use.(bool) {
			merging++
		}
	})
	syncpoint.EnableProcessing()
	defer syncpoint.Reset()
	ro := contract.DefaultReadOptions()
	ro.IterateUpperBound = []byte(w.ranges[1])
	it := x.db.NewIterator(&ro)
	defer it.Close()
	if *tables != 0 || *files != 0 || kinds != "" || merging != 0 {
		x.Errorf("before Prepare: %d tables, %d files, %q", *tables, *files, kinds)
	}
	it.Prepare(scanArgs(w.ranges...))
	if *tables != w.tables || *files != w.files || kinds != w.kinds || merging != w.merges {
		x.Errorf("Prepare: %d tables, %d files, %q, merging %d", *tables, *files, kinds, merging)
	}
	keys := ""
	for i := 0; i < len(w.ranges); i += 2 {
		it.SetBounds(nil, []byte(w.ranges[i+1]))
		for it.Seek([]byte(w.ranges[i])); it.Valid(); it.Next() {
			keys += string(it.Key()) + " "
		}
		x.must(it.Status())
	}
	if keys != w.keys {
		x.Errorf("keys %q, want %q", keys, w.keys)
	}
}

// newPruneTest makes a database with a file a key, in the level given, the oldest
// first: "a0" is key a in level 0.
func newPruneTest(t *testing.T, files ...string) *dbTest {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	for _, f := range files {
		x.puts(0, f[:1], "v"+f[:1], "flush")
		if level := int(f[1] - '0'); level > 0 {
			x.moveFilesToLevel(level, 0)
		}
	}
	return x
}

func TestDBIteratorBaseTest_PrepareWithMultiScanPrunesNonIntersectingFiles(t *testing.T) {
	x := newPruneTest(t, "a0", "z0")
	x.wantPruned(pruned{ranges: []string{"a", "b"}, keys: "a ", tables: 1, files: 1, kinds: "table "})
}

func TestDBIteratorBaseTest_PrepareWithMultiScanPrunesNonIntersectingLevels(t *testing.T) {
	x := newPruneTest(t, "z2", "a1", "m1")
	x.wantPruned(pruned{ranges: []string{"a", "n"}, keys: "a m ", files: 2, kinds: "level ", merges: 1})
}

func TestDBIteratorBaseTest_PrepareWithMultiScanDedupsMultipleRangesInSameFile(t *testing.T) {
	x := newPruneTest(t)
	x.puts(0, "a", "va", "m", "vm", "z", "vz", "flush")
	x.moveFilesToLevel(1, 0)
	x.wantPruned(pruned{ranges: []string{"a", "b", "m", "n"}, keys: "a m ", tables: 1, files: 1, kinds: "table "})
}

func TestDBIteratorBaseTest_PrepareWithMultiScanPrunesOverlappingL0Files(t *testing.T) {
	x := newPruneTest(t, "a0", "m0")
	x.wantPruned(pruned{ranges: []string{"a", "n"}, keys: "a m ", tables: 2, files: 2, kinds: "table table ", merges: 1})
}

func TestDBIteratorBaseTest_PrepareWithMultiScanPrunesNonIntersectingMemTables(t *testing.T) {
	x := newPruneTest(t, "a1")
	x.must(x.db.PauseBackgroundWork())
	x.mustPut(0, "z_imm", "vz")
	x.must(x.full().TestSwitchMemtable(nil))
	x.mustPut(0, "z_mem", "vz")
	x.wantPruned(pruned{ranges: []string{"a", "b"}, keys: "a ", tables: 1, files: 1, kinds: "table "})
	x.must(x.db.ContinueBackgroundWork())
}

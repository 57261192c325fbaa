//go:build syncpoint

// Port of db/repair_test.cc.

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// manifestPath is the MANIFEST in use.
func (x *dbTest) manifestPath() string {
	x.Helper()
	return filepath.Join(x.dir, fmt.Sprintf("MANIFEST-%06d", x.manifestNumber()))
}

// reopenWithSSTIDVerify reopens and makes sure that tables' unique ids were
// compared with the MANIFEST's.
func (x *dbTest) reopenWithSSTIDVerify() {
	x.Helper()
	var passed atomic.Int32
	syncpoint.SetCallBack("BlockBasedTable::Open::PassedVerifyUniqueId", func(arg any) {
		if *arg.(*uniqueid.UniqueId64x2) != uniqueid.NullUniqueId64x2 {
			passed.Add(1)
		}
	})
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.VerifySstUniqueIDInManifest = true
	x.reopen(o)
	if passed.Load() == 0 {
		x.Error("no unique id was verified")
	}
	syncpoint.DisableProcessing()
	syncpoint.ClearAllCallBacks()
}

// repair closes and repairs the database with its present options.
func (x *dbTest) repair() {
	x.Helper()
	x.close()
	x.must(rocksdb.RepairDB(x.dir, x.currentOptions()))
}

// loseManifest closes the database and deletes its MANIFEST.
func (x *dbTest) loseManifest() {
	x.Helper()
	path := x.manifestPath()
	x.close()
	x.must(os.Remove(path))
}

// twoTables leaves one key in each of two tables of level 0.
func (x *dbTest) twoTables() {
	x.Helper()
	x.mustPut(0, "key", "val")
	x.flush(0)
	x.mustPut(0, "key2", "val2")
	x.flush(0)
}

func TestRepairTest_SortRepairedDBL0ByEpochNumber(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "k1", "oldest")
	x.mustPut(0, "k1", "older")
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	x.mustPut(0, "k1", "old")
	x.flush(0)
	x.mustPut(0, "k1", "new")
	epochs := func(level int, want ...uint64) {
		t.Helper()
		files := x.storage(0).LevelFiles(level)
		if len(files) != len(want) {
			t.Fatalf("%d files at level %d", len(files), level)
		}
		for i, f := range files {
			if f.EpochNumber != want[i] {
				t.Errorf("file %d of level %d has epoch %d, want %d", i, level, f.EpochNumber, want[i])
			}
		}
	}
	epochs(0, 2)
	epochs(1, 1)
	x.loseManifest()
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "k1", "new")
	epochs(0, 3, 2, 1)
	epochs(1)
}

func TestRepairTest_LostManifest(t *testing.T) {
	x := newDBTest(t)
	x.twoTables()
	x.loseManifest()
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "key", "val")
	x.wantGet(0, "key2", "val2")
}

func TestRepairTest_LostManifestMoreDbFeatures(t *testing.T) {
	x := newDBTest(t)
	for i, k := range []string{"key", "key2", "key3", "key4"} {
		x.mustPut(0, k, []string{"val", "val2", "val3", "val4"}[i])
	}
	x.flush(0)
	// A table of nothing but a range tombstone.
	x.must(x.db.DeleteRange(nil, []byte("key2"), []byte("key3z")))
	x.flush(0)
	x.loseManifest()
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "key", "val")
	x.wantGet(0, "key2", "NOT_FOUND")
	x.wantGet(0, "key3", "NOT_FOUND")
	x.wantGet(0, "key4", "val4")
}

func TestRepairTest_CorruptManifest(t *testing.T) {
	x := newDBTest(t)
	x.twoTables()
	path := x.manifestPath()
	x.close()
	x.must(os.WriteFile(path, []byte("blah"), 0o644))
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "key", "val")
	x.wantGet(0, "key2", "val2")
}

func TestRepairTest_IncompleteManifest(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key", "val")
	x.flush(0)
	old, err := os.ReadFile(x.manifestPath())
	x.must(err)
	x.mustPut(0, "key2", "val2")
	x.flush(0)
	path := x.manifestPath()
	x.close()
	// One that knows of the first table only.
	x.must(os.WriteFile(path, old, 0o644))
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "key", "val")
	x.wantGet(0, "key2", "val2")
}

func TestRepairTest_PostRepairSstFileNumbering(t *testing.T) {
	x := newDBTest(t)
	x.twoTables()
	before := x.full().Versions().CurrentNextFileNumber()
	x.repair()
	x.reopenWithSSTIDVerify()
	if after := x.full().Versions().CurrentNextFileNumber(); after < before {
		t.Errorf("the next file number fell from %d to %d", before, after)
	}
}

// wantOneOfTwo makes sure that exactly one key of twoTables is there.
func (x *dbTest) wantOneOfTwo() {
	x.Helper()
	if (x.get(0, "key") == "val") == (x.get(0, "key2") == "val2") {
		x.Errorf("key is %q, key2 is %q", x.get(0, "key"), x.get(0, "key2"))
	}
}

func TestRepairTest_LostSst(t *testing.T) {
	x := newDBTest(t)
	x.twoTables()
	x.must(os.Remove(x.files(rocksdb.TableFile)[0]))
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantOneOfTwo()
}

func TestRepairTest_CorruptSst(t *testing.T) {
	x := newDBTest(t)
	x.twoTables()
	x.must(os.WriteFile(x.files(rocksdb.TableFile)[0], []byte("blah"), 0o644))
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantOneOfTwo()
}

// wantLogs makes sure how many logs and whether any tables there are.
func (x *dbTest) wantLogs(n int, tables bool) {
	x.Helper()
	logs, err := x.db.GetSortedWalFiles()
	x.must(err)
	if len(logs) != n {
		x.Errorf("%d logs, want %d", len(logs), n)
	}
	if got := x.countFiles(rocksdb.TableFile) > 0; got != tables {
		x.Errorf("tables: %t, want %t", got, tables)
	}
}

func TestRepairTest_UnflushedSst(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key", "val")
	x.wantLogs(1, false)
	x.loseManifest()
	x.repair()
	x.reopenWithSSTIDVerify()
	x.wantLogs(0, true)
	x.wantGet(0, "key", "val")
}

func TestRepairTestWithTimestamp_UnflushedSst(t *testing.T) {
	for _, paranoid := range []bool{false, true} {
		t.Run(fmt.Sprintf("paranoid=%t", paranoid), func(t *testing.T) {
			x := newDBTest(t)
			o := x.defaultOptions()
			o.Comparator = util.BytewiseComparatorWithU64Ts()
			o.ParanoidFileChecks = paranoid
			x.destroyAndReopen(o)
			ts := util.EncodeU64Ts(1)
			batch := rocksdb.NewWriteBatch()
			for _, k := range []string{"bar", "foo"} {
				x.must(batch.PutWithTimestamp(x.db, []byte(k), ts, []byte(k+":val")))
			}
			x.must(x.db.Write(nil, batch))
			x.wantLogs(1, false)
			x.loseManifest()
			x.must(rocksdb.RepairDB(x.dir, o))
			x.reopen(o)
			x.wantLogs(0, true)
			files := x.storage(0).LevelFiles(0)
			if len(files) != 1 {
				t.Fatalf("%d files", len(files))
			}
			if s, l := string(files[0].Smallest.UserKey()), string(files[0].Largest.UserKey()); s != "bar"+string(ts) || l != "foo"+string(ts) {
				t.Errorf("bounds %q, %q", s, l)
			}
			ro := rocksdb.DefaultReadOptions()
			ro.Timestamp = ts
			it := x.db.NewIterator(&ro)
			defer it.Close()
			for _, k := range []string{"bar", "foo"} {
				v, err := x.db.Get(&ro, []byte(k))
				x.must(err)
				it.Seek([]byte(k))
				if string(v.Data()) != k+":val" || !it.Valid() || string(it.Timestamp()) != string(ts) {
					t.Errorf("%s is %q at %x", k, v.Data(), it.Timestamp())
				}
				v.Release()
			}
		})
	}
}

func TestRepairTest_SeparateWalDir(t *testing.T) {
	x := newDBTest(t)
	for {
		o := x.currentOptions()
		x.destroyAndReopen(o)
		x.mustPut(0, "key", "val")
		x.mustPut(0, "foo", "bar")
		x.wantLogs(1, false)
		x.loseManifest()
		x.must(rocksdb.RepairDB(x.dir, o))
		// All of the WALs are in tables now.
		x.reopenWithSSTIDVerify()
		x.wantLogs(0, true)
		x.wantGet(0, "key", "val")
		x.wantGet(0, "foo", "bar")
		if !x.changeWalOptions() {
			return
		}
	}
}

func TestRepairTest_RepairMultipleColumnFamilies(t *testing.T) {
	const families, entries = 3, 2
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu1", "pikachu2"}, x.currentOptions())
	for i := range families {
		for j := range entries {
			x.mustPut(i, fmt.Sprintf("key%d", j), fmt.Sprintf("val%d", j))
			if j == entries-1 && i == families-1 {
				continue // one entry stays in the WAL
			}
			x.flush(i)
		}
	}
	x.loseManifest()
	x.repair()
	x.reopenWithColumnFamilies([]string{"default", "pikachu1", "pikachu2"}, x.currentOptions())
	for i := range families {
		for j := range entries {
			x.wantGet(i, fmt.Sprintf("key%d", j), fmt.Sprintf("val%d", j))
		}
	}
}

func TestRepairTest_RepairColumnFamilyOptions(t *testing.T) {
	const families, entries = 2, 2
	x := newDBTest(t)
	o, reverse := x.currentOptions(), x.currentOptions()
	reverse.Comparator = rocksdb.ReverseBytewiseComparator()
	x.createColumnFamilies([]string{"reverse"}, reverse)
	names := []string{"default", "reverse"}
	x.reopenWithColumnFamilies(names, o, reverse)
	for i := range families {
		for j := range entries {
			x.mustPut(i, fmt.Sprintf("key%d", j), fmt.Sprintf("val%d", j))
			if i == families-1 && j == entries-1 {
				continue
			}
			x.flush(i)
		}
	}
	check := func() {
		t.Helper()
		x.reopenWithColumnFamilies(names, o, reverse)
		for i := range families {
			for j := range entries {
				x.wantGet(i, fmt.Sprintf("key%d", j), fmt.Sprintf("val%d", j))
			}
		}
	}
	x.close()
	x.must(rocksdb.RepairDBColumnFamilies(x.dir, o.DBOptions, descriptors(names, []rocksdb.Options{o, reverse}), &o.ColumnFamilyOptions))
	check()
	props, err := x.cf(1).GetPropertiesOfAllTables()
	x.must(err)
	if len(props) != 2 {
		t.Errorf("%d tables", len(props))
	}
	for name, p := range props {
		if p.ComparatorName != reverse.Comparator.Name() {
			t.Errorf("%s: comparator %s", name, p.ComparatorName)
		}
	}
	// The comparator may come by the options of unknown families, too.
	x.close()
	x.must(rocksdb.RepairDBColumnFamilies(x.dir, o.DBOptions, descriptors(names[:1], []rocksdb.Options{o}), &reverse.ColumnFamilyOptions))
	check()
}

func TestRepairTest_DbNameContainsTrailingSlash(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key", "val")
	x.flush(0)
	x.close()
	x.must(rocksdb.RepairDB(x.dir+"/", x.currentOptions()))
	x.reopenWithSSTIDVerify()
	x.wantGet(0, "key", "val")
}

// Port of db/import_column_family_test.cc. Differs: the case that needs sync
// points is in import_column_family_syncpoint_test.go.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
)

// importTest is the suite's fixture: a database with the family koko.
type importTest struct {
	*extTest
	o       rocksdb.Options
	exports int
}

func newImportTest(t *testing.T, change func(o *rocksdb.Options)) *importTest {
	t.Helper()
	x := &importTest{extTest: newExtTest(t)}
	x.o = x.currentOptions()
	if change != nil {
		change(&x.o)
	}
	x.createAndReopenWithCF([]string{"koko"}, x.o)
	return x
}

// external describes external files for an import: name, level and sequence
// numbers each.
type external struct {
	name     string
	level    int
	from, to uint64
}

func (x *importTest) metadata(o rocksdb.Options, files ...external) *rocksdb.ExportImportFilesMetaData {
	m := &rocksdb.ExportImportFilesMetaData{DBComparatorName: "leveldb.BytewiseComparator"}
	if o.Comparator != nil {
		m.DBComparatorName = o.Comparator.Name()
	}
	for _, f := range files {
		m.Files = append(m.Files, rocksdb.LiveFileMetaData{Level: f.level, SstFileMetaData: rocksdb.SstFileMetaData{
			Name: f.name, DBPath: x.sst, SmallestSeqno: f.from, LargestSeqno: f.to}})
	}
	return m
}

func (x *importTest) imports(name string, move bool, from ...*rocksdb.ExportImportFilesMetaData) *rocksdb.ColumnFamily {
	x.Helper()
	cf, err := x.db.CreateColumnFamilyWithImport(x.o.ColumnFamilyOptions, name, &rocksdb.ImportColumnFamilyOptions{MoveFiles: move}, from...)
	x.must(err)
	x.cfs = append(x.cfs, cf)
	return cf
}

func (x *importTest) export(db *rocksdb.DB, cf *rocksdb.ColumnFamily) *rocksdb.ExportImportFilesMetaData {
	x.Helper()
	x.exports++
	m, err := rocksdb.NewCheckpoint(db).ExportColumnFamily(cf, fmt.Sprintf("%s_export%d", x.dir, x.exports))
	x.must(err)
	return m
}

// writeAs makes an external file for a family.
func (x *importTest) writeAs(cf *rocksdb.ColumnFamily, o rocksdb.Options, name string, es []extEntry) {
	x.Helper()
	c := rocksdb.DefaultSstFileWriterOptions()
	if cf != nil {
		c.ColumnFamily = cf.ColumnFamilyHandleImpl
	}
	_, _, err := x.tryWrite(o, &c, name, es)
	x.must(err)
}

// read gives a value of any database, or "NOT_FOUND".
func (x *importTest) read(cf *rocksdb.ColumnFamily, key string, s rocksdb.Snapshot) string {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s
	v, err := cf.Get(&ro, []byte(key))
	if rocksdb.IsNotFound(err) {
		return "NOT_FOUND"
	}
	x.must(err)
	defer v.Release()
	return string(v.Data())
}

func (x *importTest) wantRead(cf *rocksdb.ColumnFamily, key, want string) {
	x.Helper()
	if got := x.read(cf, key, nil); got != want {
		x.Fatalf("%s: %q, not %q", key, got, want)
	}
}

// openCopy opens another database beside.
func (x *importTest) openCopy() *rocksdb.DB {
	x.Helper()
	db, err := rocksdb.Open(x.dir+"_copy", x.o)
	x.must(err)
	x.Cleanup(func() { db.Close() })
	return db
}

func TestImportColumnFamilyTest_ImportSSTFileWriterFiles(t *testing.T) {
	x := newImportTest(t, nil)
	x.writeAs(x.cf(1), x.o, "cf1.sst", kv("K1", "V1", "K2", "V2"))
	x.writeAs(nil, x.o, "cf_unknown.sst", kv("K3", "V1", "K4", "V2"))
	toto := x.imports("toto", false, x.metadata(x.o, external{"cf1.sst", 0, 10, 19}))
	x.wantRead(toto, "K1", "V1")
	x.wantRead(toto, "K2", "V2")
	x.must(x.db.DropColumnFamily(toto))
	x.must(toto.Close())
	x.cfs = x.cfs[:2]
	yoyo := x.imports("yoyo", false, x.metadata(x.o, external{"cf_unknown.sst", 0, 20, 29}))
	x.wantRead(yoyo, "K3", "V1")
	x.wantRead(yoyo, "K4", "V2")
	o := x.o
	o.VerifySstUniqueIDInManifest = true
	x.reopenWithColumnFamilies([]string{"default", "koko", "yoyo"}, o)
	x.wantGet(2, "K3", "V1")
}

// every makes puts of each n-th key.
func every(from, to, n int, suffix string) (es []extEntry) {
	for k := from; k < to; k += n {
		es = append(es, extEntry{'P', key(k), key(k) + suffix})
	}
	return es
}

func TestImportColumnFamilyTest_ImportSSTFileWriterFilesWithOverlap(t *testing.T) {
	x := newImportTest(t, nil)
	for name, es := range map[string][]extEntry{"file3.sst": every(0, 100, 1, "_val"), "file2.sst": every(0, 100, 2, "_overwrite1"),
		"file1a.sst": every(0, 52, 4, "_overwrite2"), "file1b.sst": every(52, 100, 4, "_overwrite2"),
		"file0a.sst": every(0, 100, 16, "_overwrite3"), "file0b.sst": every(0, 100, 16, "_overwrite4")} {
		x.writeAs(x.cf(1), x.o, name, es)
	}
	cf := x.imports("toto", false, x.metadata(x.o, external{"file3.sst", 3, 10, 19}, external{"file2.sst", 2, 20, 29},
		external{"file1a.sst", 1, 30, 34}, external{"file1b.sst", 1, 35, 39}, external{"file0a.sst", 0, 40, 49}, external{"file0b.sst", 0, 50, 59}))
	check := func(fifth bool) {
		t.Helper()
		for i := range 100 {
			want := "_val"
			switch {
			case fifth && i%5 == 0:
				want = "_overwrite5"
			case i%16 == 0:
				want = "_overwrite4"
			case i%4 == 0:
				want = "_overwrite2"
			case i%2 == 0:
				want = "_overwrite1"
			}
			x.wantRead(cf, key(i), key(i)+want)
		}
	}
	check(false)
	for i := 0; i < 100; i += 5 {
		x.must(cf.Put(nil, []byte(key(i)), []byte(key(i)+"_overwrite5")))
	}
	x.must(cf.Flush(nil))
	check(true)
	x.must(cf.CompactRange(nil, nil, nil))
	check(true)
}

func TestImportColumnFamilyTest_ImportSSTFileWriterFilesWithRangeTombstone(t *testing.T) {
	x := newImportTest(t, nil)
	x.writeAs(x.cf(1), x.o, "cf1.sst", append(kv("K1", "V1", "K2", "V2"), extEntry{'R', "K3", "K4"}, extEntry{'R', "K7", "K9"}))
	cf := x.imports("toto", false, x.metadata(x.o, external{"cf1.sst", 0, 0, 19}))
	m := cf.GetColumnFamilyMetaData(nil)
	if m.FileCount != 1 || string(dbformat.ExtractUserKey(m.Levels[0].Files[0].Largest)) != "K9" {
		t.Fatalf("%+v", m)
	}
	x.wantRead(cf, "K1", "V1")
	x.wantRead(cf, "K2", "V2")
}

func (x *importTest) putAll(cf *rocksdb.ColumnFamily, from, to int, suffix string) {
	x.Helper()
	for i := from; i < to; i++ {
		x.must(cf.Put(nil, []byte(key(i)), []byte(key(i)+suffix)))
	}
}

func TestImportColumnFamilyTest_ImportExportedSSTFromAnotherCF(t *testing.T) {
	x := newImportTest(t, nil)
	koko := x.cf(1)
	x.putAll(koko, 0, 100, "_val")
	x.flush(1)
	x.compact(1, "", "")
	for _, s := range []string{"_overwrite", "_overwrite2"} {
		x.putAll(koko, 0, 100, s)
		x.flush(1)
	}
	m := x.export(x.db, koko)
	toto, yoyo := x.imports("toto", false, m), x.imports("yoyo", true, m)
	for i := range 100 {
		x.wantRead(toto, key(i), x.get(1, key(i)))
		x.wantRead(yoyo, key(i), x.get(1, key(i)))
	}
	for i := range 25 {
		x.must(toto.Delete(nil, []byte(key(i))))
	}
	x.putAll(toto, 25, 50, "_overwrite3")
	check := func() {
		t.Helper()
		for i := range 100 {
			want := key(i) + "_overwrite2"
			if i < 25 {
				want = "NOT_FOUND"
			} else if i < 50 {
				want = key(i) + "_overwrite3"
			}
			x.wantRead(toto, key(i), want)
			x.wantRead(yoyo, key(i), x.get(1, key(i)))
		}
	}
	check()
	x.must(toto.Flush(nil))
	x.must(toto.CompactRange(nil, nil, nil))
	check()
}

func TestImportColumnFamilyTest_ImportExportedSSTFromAnotherDB(t *testing.T) {
	x := newImportTest(t, nil)
	x.putAll(x.cf(1), 0, 100, "_val")
	x.flush(1)
	x.compact(1, "", "")
	x.putAll(x.cf(1), 0, 50, "_overwrite")
	x.flush(1)
	x.putAll(x.cf(1), 0, 25, "_overwrite2")
	x.flush(1)
	m := x.export(x.db, x.cf(1))
	other := x.openCopy()
	cf, err := other.CreateColumnFamilyWithImport(rocksdb.DefaultOptions().ColumnFamilyOptions, "yoyo", nil, m)
	x.must(err)
	for i := range 100 {
		x.wantRead(cf, key(i), x.get(1, key(i)))
	}
}

func TestImportColumnFamilyTest_ImportExportedSSTFromAnotherCFWithRangeTombstone(t *testing.T) {
	x := newImportTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	koko := x.cf(1)
	x.putAll(koko, 10, 20, "_val")
	x.flush(1)
	x.moveFilesToLevel(1, 1)
	s := x.db.GetSnapshot()
	x.must(koko.DeleteRange(nil, []byte(key(0)), []byte(key(25))))
	x.mustPut(1, key(1), "t")
	x.flush(1)
	// It goes with the flush of the export.
	x.must(koko.DeleteRange(nil, []byte(key(0)), []byte(key(2))))
	m := x.export(x.db, koko)
	for _, cf := range []*rocksdb.ColumnFamily{x.imports("toto", false, m), x.imports("yoyo", true, m)} {
		for i := 10; i < 20; i++ {
			x.wantRead(cf, key(i), "NOT_FOUND")
			if got, want := x.read(cf, key(i), s), x.getAt(1, key(i), s); got != want || want == "NOT_FOUND" {
				t.Fatalf("%q, not %q", got, want)
			}
		}
		x.wantRead(cf, key(1), "NOT_FOUND")
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestImportColumnFamilyTest_LevelFilesOverlappingAtEndpoints(t *testing.T) {
	// Files of level 1 that share their only user key.
	const fileBytes, valueBytes, files = 128 << 10, 1 << 10, 4
	x := newImportTest(t, func(o *rocksdb.Options) {
		o.DisableAutoCompactions, o.NumLevels = true, 2
		// As many bytes of values go into each output as into each flush.
		o.TargetFileSizeBase = fileBytes
	})
	rnd := util.NewRandom(301)
	var snapshots []rocksdb.Snapshot
	for range files {
		for range fileBytes / valueBytes {
			x.mustPut(1, "key", string(rnd.RandomString(valueBytes)))
			snapshots = append(snapshots, x.db.GetSnapshot())
		}
		x.flush(1)
	}
	x.compact(1, "", "")
	if n := x.numTableFilesAtLevel(1, 1); n <= 1 {
		t.Fatalf("%d files", n)
	}
	m := x.export(x.db, x.cf(1))
	other := x.openCopy()
	cf, err := other.CreateColumnFamilyWithImport(rocksdb.DefaultOptions().ColumnFamilyOptions, "yoyo", nil, m)
	x.must(err)
	if x.read(cf, "key", nil) != x.get(1, "key") {
		t.Fatal("another value")
	}
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestImportColumnFamilyTest_ImportColumnFamilyNegativeTest(t *testing.T) {
	x := newImportTest(t, nil)
	fails := func(name, why string, m *rocksdb.ExportImportFilesMetaData) {
		t.Helper()
		tables := x.countFiles(rocksdb.TableFile)
		cf, err := x.db.CreateColumnFamilyWithImport(rocksdb.DefaultOptions().ColumnFamilyOptions, name, nil, m)
		if cf != nil || err == nil || !strings.Contains(err.Error(), why) {
			t.Fatalf("%v, error %v", cf, err)
		}
		if n := x.countFiles(rocksdb.TableFile); n != tables {
			t.Fatalf("%d tables are left of it", n-tables)
		}
	}
	fails("koko", "Column family already exists", x.metadata(x.o))
	fails("yoyo", "The list of files is empty", x.metadata(x.o))
	x.writeAs(x.cf(1), x.o, "file1.sst", kv("K1", "V1", "K2", "V2"))
	x.writeAs(x.cf(1), x.o, "file2.sst", kv("K2", "V2", "K3", "V3"))
	// They overlap in a sorted level.
	fails("yoyo", "", x.metadata(x.o, external{"file1.sst", 1, 10, 19}, external{"file2.sst", 1, 10, 19}))
	o := x.o
	o.Comparator = rocksdb.ReverseBytewiseComparator()
	x.writeAs(x.cf(1), o, "file1.sst", kv("K2", "V2", "K1", "V1"))
	fails("coco", "Comparator name mismatch", x.metadata(o, external{"file1.sst", 1, 10, 19}))
	x.writeAs(x.cf(1), x.o, "file1.sst", kv("K1", "V1", "K2", "V2"))
	fails("yoyo", "No such file or directory", x.metadata(x.o, external{"file1.sst", 1, 10, 19}, external{"file3.sst", 1, 10, 19}))
	x.wantRead(x.imports("yoyo", false, x.metadata(x.o, external{"file1.sst", 1, 10, 19})), "K1", "V1")
}

func TestImportColumnFamilyTest_ImportMultiColumnFamilyTest(t *testing.T) {
	x := newImportTest(t, nil)
	x.putAll(x.cf(1), 0, 100, "_val")
	x.flush(1)
	x.compact(1, "", "")
	x.putAll(x.cf(1), 0, 100, "_overwrite")
	x.flush(1)
	m1 := x.export(x.db, x.cf(1))
	other := x.openCopy()
	cf2, err := other.CreateColumnFamily(x.o.ColumnFamilyOptions, "koko")
	x.must(err)
	for _, s := range []string{"_val", "_overwrite", "_overwrite2"} {
		x.putAll(cf2, 100, 200, s)
		x.must(other.Flush(nil))
	}
	m2 := x.export(other, cf2)
	cf := x.imports("toto", false, m1, m2)
	for i := range 100 {
		x.wantRead(cf, key(i), x.get(1, key(i)))
		x.wantRead(cf, key(100+i), x.read(cf2, key(100+i), nil))
	}
}

func TestImportColumnFamilyTest_ImportMultiColumnFamilyWithOverlap(t *testing.T) {
	x := newImportTest(t, nil)
	x.putAll(x.cf(1), 0, 100, "_val")
	m1 := x.export(x.db, x.cf(1))
	other := x.openCopy()
	cf2, err := other.CreateColumnFamily(x.o.ColumnFamilyOptions, "koko")
	x.must(err)
	x.putAll(cf2, 50, 150, "_val")
	x.must(other.Flush(nil))
	m2 := x.export(other, cf2)
	_, err = x.db.CreateColumnFamilyWithImport(x.o.ColumnFamilyOptions, "toto", nil, m1, m2)
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "CFs have overlapping ranges") {
		t.Fatal(err)
	}
}

func TestImportColumnFamilyTest_ImportMultiColumnFamilySeveralFilesWithOverlap(t *testing.T) {
	x := newImportTest(t, nil)
	second, err := x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "toto")
	x.must(err)
	x.cfs = append(x.cfs, second)
	x.writeAs(x.cf(1), x.o, "file1.sst", kv("K1", "V1", "K2", "V2"))
	x.writeAs(x.cf(1), x.o, "file2.sst", kv("K2", "V2", "K3", "V3"))
	x.writeAs(second, x.o, "file3.sst", kv("K3", "V3", "K4", "V4"))
	x.writeAs(second, x.o, "file4.sst", kv("K4", "V4", "K5", "V5"))
	_, err = x.db.CreateColumnFamilyWithImport(rocksdb.DefaultOptions().ColumnFamilyOptions, "yoyo", nil,
		x.metadata(x.o, external{"file1.sst", 1, 1, 2}, external{"file2.sst", 1, 3, 4}),
		x.metadata(x.o, external{"file3.sst", 1, 1, 2}, external{"file4.sst", 1, 3, 4}))
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "CFs have overlapping ranges") {
		t.Fatal(err)
	}
}

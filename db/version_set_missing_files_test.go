// Port of db/version_set_test.cc, recoveries from MANIFESTs that list files
// which are not there.

package db

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

// tableInfo describes a table of one key.
type tableInfo struct {
	number  uint64
	level   int
	key     string
	missing bool
	blob    uint64 // the oldest blob file
}

// createTable writes the table, unless it is to be missing, and describes it;
// the epoch is the file's number.
func (v *versionSetTest) createTable(info tableInfo) *version.FileMetaData {
	v.t.Helper()
	o := rocksdb.DefaultBlockBasedTableOptions()
	path := filename.MakeTableFileName(v.dir, info.number)
	w, err := file.CreateWritableFileWriter(v.imm.FS, path, nil, &file.WriterOptions{})
	v.noErr(err)
	b := newBuilderTest(v.t)
	to := table.DefaultTableBuilderOptions(&b.io, &b.mo, bytewiseInternal)
	wo, ro := rocksdb.DefaultWriteOptions(), rocksdb.DefaultReadOptions()
	to.WriteOptions, to.ReadOptions = &wo, &ro
	tb, err := blockbased.NewBlockBasedTableFactory(&o).NewTableBuilder(&to, w)
	v.noErr(err)
	key := dbformat.NewInternalKey([]byte(info.key), 0, dbformat.TypeValue)
	v.noErr(tb.Add(key, []byte("value")))
	v.noErr(tb.Finish())
	v.noErr(w.Close(nil))
	f := version.NewFileMetaData()
	f.FD.Set(info.number, 0, tb.FileSize(), 0, 0)
	f.Smallest, f.Largest, f.EpochNumber, f.OldestBlobFileNumber = key, key, info.number, info.blob
	if info.missing {
		v.noErr(os.Remove(path))
	}
	return f
}

var bytewiseInternal = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func (v *versionSetTest) createBlobFile(number uint64, key, value string) blobformat.BlobFileAddition {
	v.t.Helper()
	h := blobformat.BlobLogHeader{Version: blobformat.Version1}
	r := blobformat.BlobLogRecord{Key: []byte(key), Value: []byte(value)}
	data := r.EncodeHeaderTo(h.EncodeTo(nil))
	data = append(append(data, key...), value...)
	footer := blobformat.BlobLogFooter{BlobCount: 1}
	v.noErr(os.WriteFile(filename.BlobFileName(v.dir, number), footer.EncodeTo(data), 0o644))
	return blobAddition(number, key, value)
}

func blobAddition(number uint64, key, value string) blobformat.BlobFileAddition {
	return blobformat.NewBlobFileAddition(number, 1, uint64(len(key)+len(value)), "", "")
}

// missingFilesManifest begins a MANIFEST of four families.
func missingFilesManifest() []*version.VersionEdit {
	edits := []*version.VersionEdit{{}}
	for i, e := range addFamilies(3) {
		edits = append(edits, e, edit(func(e *version.VersionEdit) {
			e.SetColumnFamily(uint32(i + 1))
			e.SetLogNumber(0)
		}))
	}
	return append(edits, edit(func(e *version.VersionEdit) {
		e.SetNextFile(7)
		e.SetLastSequence(2)
	}))
}

// recoverMissing recovers from a MANIFEST of the beginning and edits.
func (v *versionSetTest) recoverMissing(wantMissing bool, edits ...*version.VersionEdit) {
	v.t.Helper()
	for i, e := range edits {
		e.SetLastSequence(uint64(3 + i))
	}
	v.writeManifest(1, append(missingFilesManifest(), edits...)...)
	missing, err := v.tryRecoverCurrent(v.descriptors(testFamilies...), false)
	v.noErr(err)
	if missing != wantMissing {
		v.t.Errorf("files are missing: %t", missing)
	}
}

// wantL0 compares level 0 of the default family; the others are empty.
func (v *versionSetTest) wantL0(want ...uint64) {
	v.t.Helper()
	for _, cfd := range v.vs.GetColumnFamilySet().All() {
		var got []uint64
		for _, f := range cfd.Current().StorageInfo().LevelFiles(0) {
			got = append(got, f.FD.GetNumber())
		}
		slices.Sort(got)
		if cfd.GetID() != 0 {
			want = nil
		}
		if !slices.Equal(got, want) {
			v.t.Errorf("%s: level 0 has %v, want %v", cfd.GetName(), got, want)
		}
	}
}

// phantoms adds files that never were.
func phantoms(first, end uint64) *version.VersionEdit {
	return edit(func(e *version.VersionEdit) {
		for n := first; n < end; n++ {
			e.AddFile(0, metaOf(n, "a", "b", 1, epoch(n)))
		}
	})
}

func (v *versionSetTest) fiveTables() []*version.FileMetaData {
	v.t.Helper()
	var files []*version.FileMetaData
	for i, n := range []uint64{100, 102, 103, 107, 110} {
		files = append(files, v.createTable(tableInfo{number: n, key: string(rune('a' + i))}))
	}
	return files
}

func addFiles(files ...*version.FileMetaData) *version.VersionEdit {
	return edit(func(e *version.VersionEdit) {
		for _, f := range files {
			e.AddFile(0, f)
		}
	})
}

func TestVersionSetTestMissingFiles_ManifestFarBehindSst(t *testing.T) {
	v := newVersionSetTest(t)
	v.fiveTables()
	v.recoverMissing(true, phantoms(10, 15), edit(func(e *version.VersionEdit) { e.DeleteFile(0, 10) }))
	v.wantL0()
}

func TestVersionSetTestMissingFiles_ManifestAheadofSst(t *testing.T) {
	v := newVersionSetTest(t)
	files := v.fiveTables()
	v.recoverMissing(true, addFiles(files[3:]...), phantoms(120, 130))
	v.wantL0(107, 110)
}

func TestVersionSetTestMissingFiles_NoFileMissing(t *testing.T) {
	v := newVersionSetTest(t)
	files := v.fiveTables()
	v.recoverMissing(false, addFiles(files...), edit(func(e *version.VersionEdit) { e.DeleteFile(0, 100) }))
	v.wantL0(102, 103, 107, 110)
}

// recoverIncomplete recovers a database of the tables and blob files and gives
// what is live.
func (v *versionSetTest) recoverIncomplete(tables []tableInfo, blobs ...blobformat.BlobFileAddition) (liveTables, liveBlobs int) {
	v.t.Helper()
	e := new(version.VersionEdit)
	for _, i := range tables {
		e.AddFile(i.level, v.createTable(i))
	}
	for _, b := range blobs {
		e.AddBlobFile(b)
	}
	v.recoverMissing(true, e)
	t, b := v.vs.AddLiveFiles(nil, nil)
	return len(t), len(b)
}

func (v *versionSetTest) wantLevelFiles(want ...int) {
	v.t.Helper()
	for level, n := range want {
		if got := v.def().Current().StorageInfo().NumLevelFiles(level); got != n {
			v.t.Errorf("level %d has %d files, want %d", level, got, n)
		}
	}
}

func TestBestEffortsRecoverIncompleteVersionTest_NonL0MissingFiles(t *testing.T) {
	v := newVersionSetTest(t)
	if n, _ := v.recoverIncomplete([]tableInfo{{100, 1, "a", true, 0}, {101, 0, "a", false, 0}, {102, 0, "a", false, 0}}); n != 0 {
		t.Errorf("%d tables are live", n)
	}
}

func TestBestEffortsRecoverIncompleteVersionTest_MissingNonSuffixL0Files(t *testing.T) {
	v := newVersionSetTest(t)
	if n, _ := v.recoverIncomplete([]tableInfo{{100, 1, "a", false, 0}, {101, 0, "a", true, 0}, {102, 0, "a", false, 0}}); n != 0 {
		t.Errorf("%d tables are live", n)
	}
}

func TestBestEffortsRecoverIncompleteVersionTest_MissingBlobFiles(t *testing.T) {
	v := newVersionSetTest(t)
	n, _ := v.recoverIncomplete([]tableInfo{{100, 0, "a", false, 102}, {101, 0, "a", false, 103}},
		blobAddition(102, "a", "blob1"), blobAddition(103, "a", "blob2"))
	if n != 0 {
		t.Errorf("%d tables are live", n)
	}
}

func TestBestEffortsRecoverIncompleteVersionTest_MissingL0SuffixOnly(t *testing.T) {
	v := newVersionSetTest(t)
	if n, _ := v.recoverIncomplete([]tableInfo{{100, 1, "a", false, 0}, {101, 0, "a", false, 0}, {102, 0, "a", true, 0}}); n != 2 {
		t.Errorf("%d tables are live, want 2", n)
	}
	v.wantLevelFiles(1, 1)
}

func TestBestEffortsRecoverIncompleteVersionTest_MissingL0SuffixAndTheirBlobFiles(t *testing.T) {
	v := newVersionSetTest(t)
	tables, blobs := v.recoverIncomplete([]tableInfo{{100, 1, "a", false, 0}, {101, 0, "a", false, 103}, {102, 0, "a", true, 104}},
		v.createBlobFile(103, "a", "blob1"), blobAddition(104, "a", "blob2"))
	if tables != 2 || blobs != 1 {
		t.Errorf("%d tables and %d blob files are live, want 2 and 1", tables, blobs)
	}
	v.wantLevelFiles(1, 1)
	if n := len(v.def().Current().StorageInfo().GetBlobFiles()); n != 1 {
		t.Errorf("%d blob files", n)
	}
}

// A blob file that lost its end is as good as missing.
func TestBestEffortsRecoverDamagedBlobFile(t *testing.T) {
	v := newVersionSetTest(t)
	b := v.createBlobFile(103, "a", "blob1")
	path := filename.BlobFileName(v.dir, 103)
	data, err := os.ReadFile(path)
	v.noErr(err)
	data[len(data)-1] ^= 1
	v.noErr(os.WriteFile(path, data, 0o644))
	if n, _ := v.recoverIncomplete([]tableInfo{{101, 0, "a", false, 103}}, b); n != 0 {
		t.Errorf("%d tables are live", n)
	}
}

// atomicGroupTest is a database whose MANIFEST has a group of one file for
// each of four families.
type atomicGroupTest struct {
	*versionSetTest
	edits []*version.VersionEdit
	seq   uint64
}

func newAtomicGroupTest(t *testing.T) *atomicGroupTest {
	a := &atomicGroupTest{versionSetTest: newVersionSetTest(t)}
	for i, name := range append([]string{""}, testFamilies...) {
		a.edits = append(a.edits, edit(func(e *version.VersionEdit) {
			if i > 0 {
				e.AddColumnFamily(name)
				e.SetColumnFamily(uint32(i))
			}
			e.SetLogNumber(0)
			e.SetNextFile(2)
			e.SetLastSequence(uint64(i))
		}))
	}
	a.seq = 4
	return a
}

// addFile makes an edit that adds the family's file under a number, which need
// not be its own.
func (a *atomicGroupTest) addFile(family uint32, number uint64, remaining int) {
	a.t.Helper()
	f := a.createTable(tableInfo{number: uint64(10 + family)})
	f.FD.Set(number, 0, f.FD.FileSize, 0, 0)
	a.seq++
	a.edits = append(a.edits, edit(func(e *version.VersionEdit) {
		e.SetColumnFamily(family)
		e.AddFile(0, f)
		e.SetLastSequence(a.seq)
		if remaining >= 0 {
			e.MarkAtomicGroup(uint32(remaining))
		}
	}))
}

// addGroup adds a file to each family; lastNumber is that of the last family's.
func (a *atomicGroupTest) addGroup(lastNumber uint64, more int) {
	a.t.Helper()
	for family := range uint32(4) {
		number := uint64(10 + family)
		if family == 3 {
			number = lastNumber
		}
		a.addFile(family, number, 3-int(family)+more)
	}
}

func (a *atomicGroupTest) addEdit(fill func(e *version.VersionEdit)) {
	a.edits = append(a.edits, edit(fill))
}

// recover wants so many live tables in the end.
func (a *atomicGroupTest) recover(wantMissing bool, wantTables int, more ...string) {
	a.t.Helper()
	a.writeManifest(1, a.edits...)
	_, missing, err := a.vs.TryRecover(a.descriptors(append(slices.Clone(testFamilies), more...)...), false, []string{"MANIFEST-000001"})
	a.noErr(err)
	if missing != wantMissing {
		a.t.Errorf("files are missing: %t", missing)
	}
	if tables, _ := a.vs.AddLiveFiles(nil, nil); len(tables) != wantTables {
		a.t.Errorf("live tables %v, want %d", tables, wantTables)
	}
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupUpdatesValidInitially(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(13, 0)
	a.recover(false, 4)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupUpdatesValidLater(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(20, 0)
	a.addEdit(func(e *version.VersionEdit) {
		e.SetColumnFamily(3)
		e.DeleteFile(0, 20)
	})
	a.addFile(0, 30, 0) // a group that cannot be
	a.recover(true, 3)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupUpdatesInvalid(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(20, 0)
	a.recover(true, 0)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupUpdatesValidTooLate(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(20, 0)
	// What mends the first group comes with what cannot be.
	a.addFile(0, 30, 1)
	a.addEdit(func(e *version.VersionEdit) {
		e.SetColumnFamily(3)
		e.DeleteFile(0, 20)
		e.MarkAtomicGroup(0)
	})
	a.recover(true, 0)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupUpdatesInDuplicateInvalid(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(13, 1)
	a.addFile(0, 20, 0)
	a.recover(true, 0)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupMadeWholeByDeletingCf(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(20, 0)
	a.addEdit(func(e *version.VersionEdit) {
		e.DropColumnFamily()
		e.SetColumnFamily(3)
	})
	a.recover(false, 3)
}

func TestAtomicGroupBestEffortRecoveryTest_HandleAtomicGroupMadeWholeAfterNewCf(t *testing.T) {
	a := newAtomicGroupTest(t)
	a.addGroup(20, 0)
	a.addEdit(func(e *version.VersionEdit) {
		e.AddColumnFamily("extra_cf")
		e.SetColumnFamily(4)
	})
	a.addFile(4, 30, -1) // the new family lacks a file as well
	a.addEdit(func(e *version.VersionEdit) {
		e.SetColumnFamily(3)
		e.DeleteFile(0, 20)
	})
	a.recover(true, 3, "extra_cf")
}

// newChargeTest is a database whose files' metadata is charged to a cache.
func newChargeTest(t *testing.T, capacity int) (*versionSetTest, rocksdb.Cache) {
	t.Helper()
	co := rocksdb.DefaultLRUCacheOptions(capacity)
	co.NumShardBits, co.StrictCapacityLimit = 0, true
	blocks, err := cache.NewLRUCache(co)
	if err != nil {
		t.Fatal(err)
	}
	v := newVersionSetTest(t)
	o := rocksdb.DefaultBlockBasedTableOptions()
	o.BlockCache = blocks
	o.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
		rocksdb.CacheEntryRoleFileMetadata: {Charged: rocksdb.CacheEntryRoleEnabled}}
	v.cf.TableFactory = blockbased.NewBlockBasedTableFactory(&o)
	v.reset()
	v.newDB(testFamilies...)
	v.mustRecover(testFamilies...)
	return v, blocks
}

func TestVersionSet_ChargeFileMetadata(t *testing.T) {
	v, _ := newChargeTest(t, 4*cache.DummyEntrySize)
	charge := v.vs.metadataCharges[0]
	if charge == nil {
		t.Fatal("nothing is charged")
	}
	files := v.fiveTables()
	v.noErr(v.logAndApply(v.def(), addFiles(files...)))
	want := 0
	for _, f := range v.def().Current().StorageInfo().LevelFiles(0) {
		want += f.ApproximateMemoryUsage()
	}
	if got := charge.GetTotalMemoryUsed(); got != want || charge.GetTotalReservedCacheSize() != cache.DummyEntrySize {
		t.Errorf("%d bytes are charged by %d, want %d", got, charge.GetTotalReservedCacheSize(), want)
	}
	// An edit that fails leaves nothing charged.
	v.wantCorruption(v.logAndApply(v.def(), edit(func(e *version.VersionEdit) {
		e.AddFile(0, v.createTable(tableInfo{number: 120, key: "z"}))
		e.DeleteFile(1, 99)
	})), "Cannot delete table file #99")
	if got := charge.GetTotalMemoryUsed(); got != want {
		t.Errorf("%d bytes are charged after a failure, want %d", got, want)
	}
	v.noErr(v.apply(func(e *version.VersionEdit) {
		for _, f := range files {
			e.DeleteFile(0, f.FD.GetNumber())
		}
	}))
	obsolete, _, _ := v.vs.GetObsoleteFiles(1000)
	if len(obsolete) != len(files) {
		t.Errorf("%d files are obsolete", len(obsolete))
	}
	for i := range obsolete {
		obsolete[i].DeleteMetadata()
	}
	if got := charge.GetTotalMemoryUsed(); got != 0 || charge.GetTotalReservedCacheSize() != 0 {
		t.Errorf("%d bytes are charged in the end", got)
	}
}

func TestVersionSet_ChargeFileMetadataLimit(t *testing.T) {
	v, _ := newChargeTest(t, cache.DummyEntrySize/2)
	err := v.logAndApply(v.def(), addFiles(v.fiveTables()...))
	if rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeMemoryLimit || !strings.Contains(err.Error(), "FileMetadata") ||
		!strings.Contains(err.Error(), "memory limit based on cache capacity") {
		t.Errorf("got %v", err)
	}
	if got := v.vs.metadataCharges[0].GetTotalMemoryUsed(); got != 0 {
		t.Errorf("%d bytes are charged", got)
	}
}

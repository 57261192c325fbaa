// Port of db/version_set_test.cc, edits and recoveries. Differs: what upstream
// learns from sync points is read from the MANIFEST where that tells it.

package db

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var testFamilies = []string{"alice", "bob", "charles"}

func (v *versionSetTest) noErr(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *versionSetTest) wantCorruption(err error, message string) {
	v.t.Helper()
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), message) {
		v.t.Errorf("got %v, want a corruption saying %q", err, message)
	}
}

// newVersionSetTestDB is a recovered database of four families.
func newVersionSetTestDB(t *testing.T) *versionSetTest {
	t.Helper()
	v := newVersionSetTest(t)
	v.newDB(testFamilies...)
	v.mustRecover(testFamilies...)
	if n := v.vs.GetColumnFamilySet().NumberOfColumnFamilies(); n != 4 {
		t.Fatalf("%d families", n)
	}
	return v
}

func (v *versionSetTest) def() *ColumnFamilyData { return v.vs.GetColumnFamilySet().GetDefault() }

func (v *versionSetTest) apply(fill func(e *version.VersionEdit)) error {
	v.t.Helper()
	return v.logAndApply(v.def(), edit(fill))
}

func (v *versionSetTest) newManifest() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.noErr(v.vs.LogAndApply(&LogAndApplyRequest{CFD: v.def(), Edits: []*version.VersionEdit{{}}, Mutex: &v.mu, NewDescriptorLog: true}))
}

// reopen recovers a new set from the same directory.
func (v *versionSetTest) reopen() (dbID string) {
	v.t.Helper()
	v.reset()
	dbID, err := v.vs.Recover(v.descriptors(testFamilies...), false, nil)
	v.noErr(err)
	return dbID
}

func (v *versionSetTest) manifestPath() string {
	v.t.Helper()
	path, _, err := GetCurrentManifestPath(v.dir, v.imm.FS, false)
	v.noErr(err)
	return path
}

// manifestEdits reads the edits of the current MANIFEST.
func (v *versionSetTest) manifestEdits() []*version.VersionEdit {
	v.t.Helper()
	var c firstCorruption
	fo := rocksdb.DefaultFileOptions()
	r, err := openManifest(v.imm.FS, v.manifestPath(), &fo, &file.SequentialReaderOptions{}, nil, &c)
	v.noErr(err)
	defer r.Close()
	var edits []*version.VersionEdit
	for {
		record, ok := r.ReadRecord(rocksdb.AbsoluteConsistency)
		if !ok {
			v.noErr(c.err)
			return edits
		}
		e := new(version.VersionEdit)
		v.noErr(e.DecodeFrom(record))
		edits = append(edits, e)
	}
}

// wantWals compares the set's WALs.
func (v *versionSetTest) wantWals(want ...version.WalAddition) {
	v.t.Helper()
	if got := v.vs.GetWalSet().GetWals(); !slices.Equal(got, want) {
		v.t.Errorf("WALs %v, want %v", got, want)
	}
}

func created(n version.WalNumber) version.WalAddition {
	return version.NewWalAddition(n, version.UnsyncedWalMetadata())
}

func syncedWal(n version.WalNumber, size uint64) version.WalAddition {
	return version.NewWalAddition(n, version.NewWalMetadata(size))
}

// addWals makes an edit of WALs.
func addWals(ws ...version.WalAddition) func(*version.VersionEdit) {
	return func(e *version.VersionEdit) {
		for _, w := range ws {
			e.AddWal(w.GetLogNumber(), w.GetMetadata())
		}
	}
}

func TestVersionSetTest_PersistBlobFileStateInNewManifest(t *testing.T) {
	v := newVersionSetTestDB(t)
	s := v.def().Current().StorageInfo()
	s.AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(123, 456, 77777777, "SHA1", testChecksum, nil), nil, 89, 1000000))
	s.AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(234, 555, 66666, "CRC32", "\x3d\x87\xff\x57", nil), nil, 0, 0))
	v.newManifest()
	additions, garbages := 0, 0
	for _, e := range v.manifestEdits() {
		additions += len(e.GetBlobFileAdditions())
		garbages += len(e.GetBlobFileGarbages())
	}
	if additions != 2 || garbages != 1 {
		t.Errorf("%d additions, %d records of garbage; want 2 and 1", additions, garbages)
	}
}

func TestVersionSetTest_AddLiveBlobFiles(t *testing.T) {
	v := newVersionSetTestDB(t)
	cfd := v.def()
	first := cfd.Current()
	firstBlob := blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(234, 555, 66666, "CRC32", "\x3d\x87\xff\x57", nil), nil, 0, 0)
	first.StorageInfo().AddBlobFile(firstBlob)
	first.Ref()
	if _, blobs := first.AddLiveFiles(nil, nil); !slices.Equal(blobs, []uint64{234}) {
		t.Errorf("the version has blob files %v", blobs)
	}
	v.vs.TESTCreateAndAppendVersion(cfd)
	second := cfd.Current()
	if second == first {
		t.Fatal("no version was made")
	}
	second.StorageInfo().AddBlobFile(firstBlob)
	second.StorageInfo().AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(456, 100, 2000000, "CRC32B", "\x6d\xbd\xf2\x3a", nil), nil, 0, 0))
	if _, blobs := v.vs.AddLiveFiles(nil, nil); !slices.Equal(blobs, []uint64{234, 234, 456}) {
		t.Errorf("the set has blob files %v", blobs)
	}
	first.Unref()
}

func TestVersionSetTest_ObsoleteBlobFile(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(func(e *version.VersionEdit) {
		addBlob1234(e)
		e.AddBlobFileGarbage(garbage(1234, 5678, 999999).GetBlobFileGarbages()[0])
	}))
	for _, c := range []struct {
		minPending uint64
		want       []uint64
	}{{1234, nil}, {1235, []uint64{1234}}, {1235, nil}} {
		_, blobs, _ := v.vs.GetObsoleteFiles(c.minPending)
		var got []uint64
		for _, b := range blobs {
			got = append(got, b.BlobFileNumber)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("pending from %d: obsolete %v, want %v", c.minPending, got, c.want)
		}
	}
}

// fiveWals are edits that add WALs 1 … 5 and then drop those before WAL from.
func fiveWals(from version.WalNumber) []*version.VersionEdit {
	var edits []*version.VersionEdit
	for n := version.WalNumber(1); n <= 5; n++ {
		edits = append(edits, edit(addWals(syncedWal(n, n))))
	}
	return append(edits, edit(func(e *version.VersionEdit) { e.DeleteWalsBefore(from) }))
}

func TestVersionSetTest_WalEditsNotAppliedToVersion(t *testing.T) {
	v := newVersionSetTestDB(t)
	before := v.def().Current()
	v.noErr(v.logAndApply(v.def(), fiveWals(3)...))
	if v.def().Current() != before {
		t.Error("edits of WALs alone made a version")
	}
	v.wantWals(syncedWal(3, 3), syncedWal(4, 4), syncedWal(5, 5))
}

func TestVersionSetTest_NonWalEditsAppliedToVersion(t *testing.T) {
	v := newVersionSetTestDB(t)
	before := v.def().Current()
	v.noErr(v.logAndApply(v.def(), append(fiveWals(3), edit(func(e *version.VersionEdit) { e.SetDBId("db_db") }))...))
	if v.def().Current() == before {
		t.Error("no version was made")
	}
}

func TestVersionSetTest_WalAddition(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(created(10))))
	v.wantWals(created(10))
	for delta := uint64(100); delta > 0; delta /= 2 { // synced again and again
		v.noErr(v.apply(addWals(syncedWal(10, 111-delta))))
		v.wantWals(syncedWal(10, 111-delta))
	}
	v.noErr(v.apply(addWals(syncedWal(10, 111))))
	v.wantWals(syncedWal(10, 111))
	v.reopen()
	v.wantWals(syncedWal(10, 111))
}

func TestVersionSetTest_WalCloseWithoutSync(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(created(10))))
	v.wantWals(created(10))
	v.noErr(v.apply(addWals(syncedWal(10, 55))))
	v.wantWals(syncedWal(10, 55))
	v.noErr(v.apply(addWals(created(11)))) // WAL 10 is closed now
	v.wantWals(syncedWal(10, 55), created(11))
	v.reopen()
	v.wantWals(syncedWal(10, 55), created(11))
}

func TestVersionSetTest_WalDeletion(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(syncedWal(10, 111), created(20))))
	v.wantWals(syncedWal(10, 111), created(20))
	v.noErr(v.apply(func(e *version.VersionEdit) { e.DeleteWalsBefore(20) }))
	v.wantWals(created(20))
	v.reopen()
	v.wantWals(created(20))

	v.newManifest()
	var written []version.WalAddition
	for _, e := range v.manifestEdits() {
		written = append(written, e.GetWalAdditions()...)
	}
	if !slices.Equal(written, []version.WalAddition{created(20)}) {
		t.Errorf("the new MANIFEST has WALs %v", written)
	}
	v.reopen()
	v.wantWals(created(20))
}

func TestVersionSetTest_WalCreateTwice(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(created(10))))
	v.wantCorruption(v.apply(addWals(created(10))), "WAL 10 is created more than once")
}

func TestVersionSetTest_WalCreateAfterClose(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(created(10), syncedWal(10, 111))))
	v.wantCorruption(v.apply(addWals(created(10))), "WAL 10 is created more than once")
}

func TestVersionSetTest_AddWalWithSmallerSize(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(syncedWal(10, 111))))
	v.noErr(v.apply(addWals(syncedWal(10, 55))))
	v.wantWals(syncedWal(10, 111))
}

func TestVersionSetTest_DeleteWalsBeforeNonExistingWalNumber(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(syncedWal(10, 111), syncedWal(20, 111))))
	v.noErr(v.apply(func(e *version.VersionEdit) { e.DeleteWalsBefore(15) }))
	v.reopen()
	v.wantWals(syncedWal(20, 111))
}

func TestVersionSetTest_DeleteAllWals(t *testing.T) {
	v := newVersionSetTestDB(t)
	v.noErr(v.apply(addWals(syncedWal(10, 111))))
	v.noErr(v.apply(func(e *version.VersionEdit) { e.DeleteWalsBefore(20) }))
	v.reopen()
	v.wantWals()
}

func TestVersionSetTest_AtomicGroupWithWalEdits(t *testing.T) {
	v := newVersionSetTestDB(t)
	edits := slices.Insert(fiveWals(5), 5, edit(func(e *version.VersionEdit) { e.SetDBId("db_db") }))
	for i, e := range edits {
		e.MarkAtomicGroup(uint32(len(edits) - 1 - i))
	}
	v.noErr(v.logAndApply(v.def(), edits...))
	if id := v.reopen(); id != "db_db" {
		t.Errorf("identity %q", id)
	}
	v.wantWals(syncedWal(5, 5))
}

func TestVersionSetTest_OffpeakTimeInfoTest(t *testing.T) {
	v := newVersionSetTest(t)
	const minute, hour, day = 60, 3600, 86400
	now := rand.Int64N(100)*day + 13*hour + 30*minute
	v.vs.ChangeOffpeakTimeOption("23:30-04:30")
	check := func(want bool) {
		t.Helper()
		if got := v.vs.offpeak.GetOffpeakTimeInfo(now).IsNowOffpeak; got != want {
			t.Errorf("%02d:%02d is offpeak: %t", now%day/hour, now%hour/minute, got)
		}
	}
	check(false)
	for _, step := range []struct {
		sleep int64
		want  bool
	}{{3 * hour, false}, {7 * hour, true}, {3 * hour, true}, {2 * hour, true}, {minute, false}} {
		now += step.sleep
		check(step.want)
	}
	v.vs.ChangeOffpeakTimeOption("00:00-23:59") // all day
	check(true)
	for _, sleep := range []int64{3 * hour, 20 * hour, 59 * minute, 59, 1, 1} {
		now += sleep
		check(true)
	}
}

// testFullHistoryTsLow applies the bounds in one call; the highest stays.
func testFullHistoryTsLow(t *testing.T, bounds ...uint64) {
	v := newVersionSetTestDB(t)
	o := v.cf
	o.Comparator = util.BytewiseComparatorWithU64Ts()
	id := v.vs.GetColumnFamilySet().GetNextColumnFamilyID()
	v.mu.Lock()
	err := v.vs.LogAndApply(&LogAndApplyRequest{Mutex: &v.mu, NewCFOptions: &o, Edits: []*version.VersionEdit{edit(func(e *version.VersionEdit) {
		e.AddColumnFamily("new_cf")
		e.SetColumnFamily(id)
		e.SetLogNumber(0)
		e.SetComparatorName(o.Comparator.Name())
		e.SetPersistUserDefinedTimestamps(o.PersistUserDefinedTimestamps)
	})}})
	v.mu.Unlock()
	v.noErr(err)
	cfd := v.vs.GetColumnFamilySet().GetColumnFamilyByName("new_cf")
	if cfd == nil {
		t.Fatal("the family was not made")
	}
	var edits []*version.VersionEdit
	for _, b := range bounds {
		edits = append(edits, edit(func(e *version.VersionEdit) {
			e.SetColumnFamily(id)
			e.SetFullHistoryTsLow(string(util.AppendFixed64(nil, b)))
		}))
	}
	v.noErr(v.logAndApply(cfd, edits...))

	v.reset()
	ds := append(v.descriptors(testFamilies...), rocksdb.ColumnFamilyDescriptor{Name: "new_cf", Options: o})
	if _, err := v.vs.Recover(ds, false, nil); err != nil {
		t.Fatal(err)
	}
	for _, cfd := range v.vs.GetColumnFamilySet().All() {
		want := ""
		if cfd.GetName() == "new_cf" {
			want = string(util.AppendFixed64(nil, slices.Max(bounds)))
		}
		if got := string(cfd.GetFullHistoryTsLow()); got != want {
			t.Errorf("%s: bound %x, want %x", cfd.GetName(), got, want)
		}
	}
}

func TestVersionSetWithTimestampTest_SetFullHistoryTsLbOnce(t *testing.T) {
	testFullHistoryTsLow(t, 100)
}

func TestVersionSetWithTimestampTest_IncreaseFullHistoryTsLb(t *testing.T) {
	testFullHistoryTsLow(t, 100, 101, 102, 103)
}

func TestVersionSetWithTimestampTest_TryDecreaseFullHistoryTsLb(t *testing.T) {
	testFullHistoryTsLow(t, 103, 102, 101, 100)
}

func TestVersionSetTestDropOneCF_HandleDroppedColumnFamilyInAtomicGroup(t *testing.T) {
	for _, dropped := range testFamilies {
		t.Run(dropped, func(t *testing.T) {
			v := newVersionSetTestDB(t)
			cfs := v.vs.GetColumnFamilySet()
			victim := cfs.GetColumnFamilyByName(dropped)
			victim.Ref()
			defer func() {
				v.mu.Lock()
				defer v.mu.Unlock()
				victim.UnrefLocked(new([]*memtable.MemTable))
			}()
			v.noErr(v.logAndApply(victim, edit(func(e *version.VersionEdit) {
				e.DropColumnFamily()
				e.SetColumnFamily(victim.GetID())
			})))
			before := len(v.manifestEdits())
			var groups []EditsForFamily
			for i, name := range testFamilies {
				cfd := victim
				if name != dropped {
					cfd = cfs.GetColumnFamilyByName(name)
				}
				groups = append(groups, EditsForFamily{cfd, []*version.VersionEdit{edit(func(e *version.VersionEdit) {
					e.SetColumnFamily(cfd.GetID())
					e.SetLogNumber(0)
					e.SetNextFile(2)
					e.SetLastSequence(uint64(5 + i))
				})}})
			}
			v.mu.Lock()
			err := v.vs.LogAndApplyGroup(groups, &v.mu, nil)
			v.mu.Unlock()
			v.noErr(err)
			// The group was written without the dropped family.
			group := v.manifestEdits()[before:]
			if len(group) != 2 {
				t.Fatalf("%d edits were written, want 2", len(group))
			}
			for i, e := range group {
				if e.GetColumnFamily() == victim.GetID() || !e.IsInAtomicGroup() || e.GetRemainingEntries() != uint32(1-i) {
					t.Errorf("edit %d: %s", i, e.DebugString(false))
				}
			}
			v.reset()
			var left []string
			for _, name := range testFamilies {
				if name != dropped {
					left = append(left, name)
				}
			}
			v.mustRecover(left...)
		})
	}
}

// tryRecoverCurrent recovers what can be from the current MANIFEST.
func (v *versionSetTest) tryRecoverCurrent(ds []rocksdb.ColumnFamilyDescriptor, readOnly bool) (missing bool, err error) {
	v.t.Helper()
	_, missing, err = v.vs.tryRecoverFromOneManifest(v.manifestPath(), ds, readOnly)
	return missing, err
}

func TestEmptyDefaultCfNewManifest_Recover(t *testing.T) {
	v := newVersionSetTest(t)
	v.writeManifest(1, edit(func(e *version.VersionEdit) { e.SetLogNumber(0) }), edit(func(e *version.VersionEdit) {
		e.AddColumnFamily("alice")
		e.SetColumnFamily(1)
		e.SetLastSequence(2)
		e.SetNextFile(2)
	}))
	if path := v.manifestPath(); path != filename.DescriptorFileName(v.dir, 1) {
		t.Errorf("the current MANIFEST is %s", path)
	}
	missing, err := v.tryRecoverCurrent(v.descriptors("alice"), false)
	v.noErr(err)
	if missing {
		t.Error("files are said to be missing")
	}
}

// emptyDBTest recovers an empty database with and without identity, read-only
// or not, with several lists of families. edits follow the first edit;
// unchanging also makes the set of a read-only database one that cannot change.
func emptyDBTest(t *testing.T, unchanging bool, edits func() []*version.VersionEdit, check func(v *versionSetTest, readOnly bool, names []string, missing bool, err error)) {
	def := rocksdb.DefaultColumnFamilyName
	for _, writeID := range []bool{false, true} {
		for _, readOnly := range []bool{false, true} {
			for _, names := range [][]string{nil, {def}, testFamilies, {def, "alice"},
				{def, "alice", "bob", "charles"}, {def, "alice", "bob", "charles", "unknown"}} {
				t.Run(fmt.Sprintf("%t/%t/%s", writeID, readOnly, strings.Join(names, "+")), func(t *testing.T) {
					v := newVersionSetTest(t)
					first := new(version.VersionEdit)
					if writeID {
						first.SetDBId("identity")
					}
					v.writeManifest(1, append([]*version.VersionEdit{first}, edits()...)...)
					var ds []rocksdb.ColumnFamilyDescriptor
					for _, n := range names {
						ds = append(ds, rocksdb.ColumnFamilyDescriptor{Name: n, Options: v.cf})
					}
					v.vs.unchanging = unchanging && readOnly
					missing, err := v.tryRecoverCurrent(ds, readOnly)
					if !slices.Contains(names, def) {
						if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
							t.Errorf("without the default family: %v", err)
						}
						return
					}
					check(v, readOnly, names, missing, err)
				})
			}
		}
	}
}

// corruptManifest wants a corruption that names the MANIFEST.
func corruptManifest(v *versionSetTest, _ bool, _ []string, _ bool, err error) {
	v.t.Helper()
	v.wantCorruption(err, v.manifestPath())
}

func addFamilies(n int) []*version.VersionEdit {
	var edits []*version.VersionEdit
	for i, name := range testFamilies[:n] {
		edits = append(edits, edit(func(e *version.VersionEdit) {
			e.AddColumnFamily(name)
			e.SetColumnFamily(uint32(i + 1))
		}))
	}
	return edits
}

func TestVersionSetTestEmptyDb_OpenFromIncompleteManifest0(t *testing.T) {
	emptyDBTest(t, false, func() []*version.VersionEdit { return nil }, corruptManifest)
}

func TestVersionSetTestEmptyDb_OpenFromIncompleteManifest1(t *testing.T) {
	emptyDBTest(t, false, func() []*version.VersionEdit { return addFamilies(1) }, corruptManifest)
}

func TestVersionSetTestEmptyDb_OpenFromInCompleteManifest2(t *testing.T) {
	emptyDBTest(t, false, func() []*version.VersionEdit { return addFamilies(3) }, corruptManifest)
}

// numbersOf is the edit that completes a MANIFEST.
func numbersOf(family uint32) *version.VersionEdit {
	return edit(func(e *version.VersionEdit) {
		e.SetColumnFamily(family)
		e.SetLogNumber(0)
		e.SetNextFile(2)
		e.SetLastSequence(0)
	})
}

func TestVersionSetTestEmptyDb_OpenManifestWithUnknownCF(t *testing.T) {
	emptyDBTest(t, false, func() []*version.VersionEdit { return append(addFamilies(3), numbersOf(4)) }, corruptManifest)
}

func TestVersionSetTestEmptyDb_OpenCompleteManifest(t *testing.T) {
	emptyDBTest(t, true, func() []*version.VersionEdit { return append(addFamilies(3), numbersOf(0)) },
		func(v *versionSetTest, readOnly bool, names []string, missing bool, err error) {
			if !readOnly && len(names) < 4 {
				if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
					v.t.Errorf("families are not opened: %v", err)
				}
				return
			}
			v.noErr(err)
			if missing {
				v.t.Error("files are said to be missing")
			}
			if v.vs.GetColumnFamilySet().GetColumnFamilyByName("unknown") != nil {
				v.t.Error("a family that is not in the MANIFEST was made")
			}
		})
}

func TestVersionSetTestMissingFiles_MinLogNumberToKeep2PC(t *testing.T) {
	v := newVersionSetTest(t)
	v.db.Allow2PC = true
	v.reset()
	v.newDB(testFamilies...)
	v.mustRecover(testFamilies...)
	f := v.createTable(tableInfo{number: 100, key: "a"})
	v.noErr(v.apply(func(e *version.VersionEdit) {
		e.AddFile(0, f)
		e.SetMinLogNumberToKeep(10)
	}))
	for range 4 {
		if got := v.vs.MinLogNumberToKeep(); got != 10 {
			t.Errorf("least WAL %d, want 10", got)
		}
		v.newManifest()
		v.reopen()
	}
}

// Calls from many goroutines are written in some order, none is lost.
func TestVersionSet_ConcurrentLogAndApply(t *testing.T) {
	v := newVersionSetTestDB(t)
	cfs := v.vs.GetColumnFamilySet().All()
	const each = 10
	var files []*version.FileMetaData
	for n := range 2 * each * len(cfs) {
		files = append(files, v.createTable(tableInfo{number: uint64(1000 + n), key: fmt.Sprintf("%06d", n)}))
	}
	var wg sync.WaitGroup
	for i, cfd := range cfs {
		for worker := range 2 {
			wg.Go(func() {
				for n := range each {
					e := new(version.VersionEdit)
					e.SetColumnFamily(cfd.GetID())
					e.AddFile(6, files[(2*i+worker)*each+n])
					if err := v.logAndApply(cfd, e); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	check := func() {
		t.Helper()
		for _, cfd := range v.vs.GetColumnFamilySet().All() {
			if n := cfd.Current().StorageInfo().NumLevelFiles(6); n != 2*each {
				t.Errorf("%s has %d files, want %d", cfd.GetName(), n, 2*each)
			}
		}
	}
	check()
	v.newManifest()
	v.reopen()
	check()
}

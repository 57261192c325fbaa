// Port of db/db_basic_test.cc (MANIFEST and recovery). Differs: a file of its
// own.

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
)

// tableFiles collects the paths of tables that are made, by family.
type tableFiles struct {
	rocksdb.EventListenerBase
	flushesOnly bool
	mu          sync.Mutex
	paths       map[string][]string
}

func (l *tableFiles) OnTableFileCreated(info *rocksdb.TableFileCreationInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flushesOnly && info.Reason != rocksdb.TableFileCreationReasonFlush {
		return
	}
	if l.paths == nil {
		l.paths = map[string][]string{}
	}
	l.paths[info.CFName] = append(l.paths[info.CFName], info.FilePath)
}

func (l *tableFiles) of(x *dbTest, family string, n int) []string {
	x.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.paths[family]) != n {
		x.Fatalf("family %s: tables %q, not %d of them", family, l.paths[family], n)
	}
	return l.paths[family]
}

// putFlush writes and flushes a key of the default family.
func (x *dbTest) putFlush(key, value string) {
	x.Helper()
	x.mustPut(0, key, value)
	x.flush(0)
}

// manifestNumber is the number of the MANIFEST in use.
func (x *dbTest) manifestNumber() uint64 { return x.full().Versions().ManifestFileNumber() }

// manifest is the path of the only MANIFEST.
func (x *dbTest) manifest() string {
	x.Helper()
	list := x.files(rocksdb.DescriptorFile)
	if len(list) != 1 {
		x.Fatal(list)
	}
	return list[0]
}

func (x *dbTest) fileSize(path string) int64 {
	x.Helper()
	info, err := os.Stat(path)
	x.must(err)
	return info.Size()
}

// optimized are options whose recovery writes only what changes something.
func (x *dbTest) optimized() rocksdb.Options {
	o := x.currentOptions()
	o.OptimizeManifestForRecovery = true
	return o
}

func (x *dbTest) reusing() rocksdb.Options {
	o := x.currentOptions()
	o.ReuseManifestOnOpen = true
	return o
}

func TestDBBasicTest_OptimizeManifestForRecoveryRespectsTwoPC(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	o.Allow2PC = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	before := x.full().Versions().MinLogNumberToKeep()
	x.reopen(o)
	if after := x.full().Versions().MinLogNumberToKeep(); after != before {
		t.Fatal(before, after)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoveryZeroGrowthOnCleanReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	o.ReuseManifestOnOpen, o.TrackAndVerifyWALsInManifest, o.AvoidFlushDuringRecovery = true, true, true
	o.WriteDBIDToManifest = false
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.close()
	before := x.fileSize(x.manifest())
	x.reopen(o)
	if after := x.fileSize(x.manifest()); after != before || before == 0 {
		t.Fatalf("MANIFEST of %d bytes, after reopening of %d", before, after)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoveryImmediateCloseAfterWarmReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.createAndReopenWithCF([]string{"empty_cf"}, o)
	x.mustPut(0, "k", "v")
	before := x.full().TestLogfileNumber()
	x.must(x.full().TestSwitchMemtable(nil))
	if x.full().TestLogfileNumber() <= before {
		t.Fatal("no new log")
	}
	next := x.full().TestLogfileNumber() + 1
	if got := x.full().Versions().CurrentNextFileNumber(); got != next {
		t.Fatal(got, next)
	}
	x.reopenWithColumnFamilies([]string{"default", "empty_cf"}, o)
	if got := x.full().Versions().CurrentNextFileNumber(); got <= next {
		t.Fatal(got, next)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoverySkipsDroppedCF(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.createAndReopenWithCF([]string{"to_drop", "keeper"}, o)
	x.mustPut(1, "k", "v1")
	x.mustPut(2, "k", "v2")
	x.flush(1)
	x.flush(2)
	x.must(x.db.DropColumnFamily(x.cfs[1]))
	x.reopenWithColumnFamilies([]string{"default", "keeper"}, o)
	x.wantGet(1, "k", "v2")
}

func TestDBBasicTest_ReuseManifestOnOpenAppendsToExistingFile(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.reopen(o)
	number := x.manifestNumber()
	x.putFlush("k2", "v2")
	if got := x.manifestNumber(); got != number {
		t.Fatal(got, number)
	}
	x.wantGet(0, "k", "v")
	x.wantGet(0, "k2", "v2")
}

func TestDBBasicTest_ReuseManifestOnOpenAdoptsOnDiskSize(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.reopen(o)
	path := filename.DescriptorFileName(x.dir, x.manifestNumber())
	size := x.fileSize(path)
	if size == 0 {
		t.Fatal("empty MANIFEST")
	}
	x.putFlush("k2", "v2")
	x.close()
	if after := x.fileSize(path); after < size {
		t.Fatal(size, after)
	}
}

func TestDBBasicTest_ReuseManifestOnOpenMultiCF(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	x.createAndReopenWithCF([]string{"alpha", "beta"}, o)
	write := func(key string, values ...string) {
		t.Helper()
		for i, v := range values {
			x.mustPut(i, key, v)
		}
		for i := range values {
			x.flush(i)
		}
	}
	write("k", "v0", "v1", "v2")
	x.reopenWithColumnFamilies([]string{"default", "alpha", "beta"}, o)
	write("k2", "v0b", "v1b", "v2b")
	for i, v := range []string{"v0", "v1", "v2"} {
		x.wantGet(i, "k", v)
		x.wantGet(i, "k2", v+"b")
	}
}

func TestDBBasicTest_WritableFileWriterInitialFileSizeAdoptsExistingSize(t *testing.T) {
	fs := env.DefaultFileSystem()
	name := filepath.Join(t.TempDir(), "set_file_size_test")
	if err := os.WriteFile(name, []byte("hello world"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, initial := range []uint64{0, 11} {
		f, err := fs.ReopenWritableFile(name, &rocksdb.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w := file.NewWritableFileWriter(f, name, &rocksdb.FileOptions{}, &file.WriterOptions{InitialFileSize: initial})
		if got := w.GetFileSize(); got != initial {
			t.Fatal(got, initial)
		}
		if got := w.GetFlushedSize(); got != initial {
			t.Fatal(got, initial)
		}
		if initial == 11 { // the other one would cut the file
			if err := w.Close(&rocksdb.IOOptions{}); err != nil {
				t.Fatal(err)
			}
		} else if err := f.Close(&rocksdb.IOOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "hello world" {
		t.Fatal(string(data), err)
	}
}

func TestDBBasicTest_ReuseManifestOnOpenIncompleteAtomicGroupAtTail(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.close()

	// Two records of a group of three, sound in themselves.
	path := x.manifest()
	size := uint64(x.fileSize(path))
	f, err := env.DefaultFileSystem().ReopenWritableFile(path, &rocksdb.FileOptions{})
	x.must(err)
	w := wal.NewWriter(file.NewWritableFileWriter(f, path, &rocksdb.FileOptions{}, &file.WriterOptions{InitialFileSize: size}),
		wal.WriterOptions{InitialBlockOffset: int(size % wal.BlockSize)})
	for left := uint32(2); left >= 1; left-- {
		e := &version.VersionEdit{}
		e.SetLogNumber(0)
		e.SetNextFile(100)
		e.SetLastSequence(100)
		e.MarkAtomicGroup(left)
		record, ok := e.EncodeTo(nil, 0)
		if !ok {
			t.Fatal("edit is not encoded")
		}
		x.must(w.AddRecord(&rocksdb.IOOptions{}, record, 0))
	}
	x.must(w.Close(&rocksdb.IOOptions{}))

	// The group is passed over, and nothing may be appended to it.
	x.reopen(o)
	x.wantGet(0, "k", "v")
	x.putFlush("k2", "v2")
	x.reopen(o)
	x.wantGet(0, "k", "v")
	x.wantGet(0, "k2", "v2")
}

func TestDBBasicTest_LockFileRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	for _, o.BestEffortsRecovery = range []bool{false, true} {
		x.destroyAndReopen(o)
		id := x.db.GetDbIdentity()
		x.close()
		x.must(os.Remove(filename.LockFileName(x.dir)))
		x.reopen(o)
		if got := x.db.GetDbIdentity(); got != id {
			t.Fatal(got, id)
		}
	}
}

func TestDBBasicTest_IncrementalRecoveryNoCorrupt(t *testing.T) {
	const n = 1000
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu", "eevee"}, o)
	value := func(cf, i int) string { return strings.Join([]string{"v", key(cf), key(i)}, "_") }
	for cf := range 3 {
		for i := range n {
			x.mustPut(cf, key(i), value(cf, i))
			if i%100 == 0 {
				x.flush(cf)
			}
		}
	}
	for cf := range 3 {
		x.flush(cf)
	}
	o.BestEffortsRecovery = true
	x.reopenWithColumnFamilies([]string{"default", "pikachu", "eevee"}, o)
	for cf := range 3 {
		for i := range n {
			x.wantGet(cf, key(i), value(cf, i))
		}
	}
}

func TestDBBasicTest_LastSstFileNotInManifest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.close()
	const number = 100
	stray := filename.MakeTableFileName(x.dir, number)
	x.must(os.WriteFile(stray, []byte("bad sst file content"), 0o644))
	l := &tableFiles{}
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	if _, err := os.Stat(stray); !os.IsNotExist(err) {
		t.Fatal("the table of nobody is still there", err)
	}
	x.putFlush("k", "v")
	name := filepath.Base(l.of(x, "default", 1)[0])
	if p, ok := filename.ParseFileName(name, ""); !ok || p.Type != rocksdb.TableFile || p.Number <= number {
		t.Fatal(name)
	}
}

func TestDBBasicTest_RecoverWithMissingFiles(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	l := &tableFiles{}
	o.DisableAutoCompactions = true
	o.Listeners = append(o.Listeners, l)
	x.createAndReopenWithCF([]string{"pikachu", "eevee"}, o)
	names := []string{"default", "pikachu", "eevee"}
	for cf := range names {
		for _, k := range []string{"a", "b", "c"} {
			x.mustPut(cf, k, "0_value")
			x.flush(cf)
		}
	}
	// The last table of each family is cut, of the others some are gone.
	for i, name := range names {
		paths := l.of(x, name, 3)
		x.must(os.Truncate(paths[2], x.fileSize(paths[2])-2))
		for j := 1; j >= i; j-- {
			x.must(os.Remove(paths[j]))
		}
	}
	o.BestEffortsRecovery = true
	x.reopenWithColumnFamilies(names, o)
	for cf, want := range []string{"", "a", "a,b"} {
		if got := strings.Join(x.keysOf(x.cf(cf).NewIterator(nil)), ","); got != want {
			t.Fatal(cf, got)
		}
	}
}

func TestDBBasicTest_BestEffortsRecoveryTryMultipleManifests(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.putFlush("foo", "value0")
	x.close()
	for _, name := range []string{"MANIFEST-001000", "001001.sst"} {
		x.must(os.WriteFile(filepath.Join(x.dir, name), make([]byte, 10), 0o644))
	}
	o.BestEffortsRecovery = true
	x.reopen(o)
	x.mustPut(0, "bar", "value")
	x.wantGet(0, "foo", "value0")
}

func TestDBBasicTest_RecoverWithNoCurrentFile(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	o.BestEffortsRecovery = true
	names := []string{"default", "pikachu"}
	x.reopenWithColumnFamilies(names, o)
	x.mustPut(0, "foo", "value")
	x.mustPut(1, "bar", "value")
	x.flush(0)
	x.flush(1)
	x.close()
	x.must(os.Remove(filename.CurrentFileName(x.dir)))
	x.reopenWithColumnFamilies(names, o)
	got, err := rocksdb.ListColumnFamilies(o.DBOptions, x.dir)
	x.must(err)
	if strings.Join(got, ",") != "default,pikachu" {
		t.Fatal(got)
	}
}

func TestDBBasicTest_RecoverWithNoManifest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.putFlush("foo", "value")
	x.close()
	for _, path := range x.files(rocksdb.DescriptorFile) {
		x.must(os.Remove(path))
	}
	o.BestEffortsRecovery, o.CreateIfMissing = true, false
	x.wantIs(x.tryReopen(o), rocksdb.ErrInvalidArgument)
	o.CreateIfMissing = true
	x.reopen(o)
	// Without any MANIFEST there is no database to recover: a new one is made.
	x.wantGet(0, "foo", "NOT_FOUND")
}

func TestDBBasicTest_SkipWALIfMissingTableFiles(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	l := &tableFiles{}
	o.Listeners = append(o.Listeners, l)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	names := []string{"default", "pikachu"}
	for cf := range names {
		x.mustPut(cf, "a", "0_value")
		x.flush(cf)
		x.mustPut(cf, "b", "0_value")
	}
	for i, name := range names {
		paths := l.of(x, name, 1)
		for j := len(paths) - 1; j >= i; j-- {
			x.must(os.Remove(paths[j]))
		}
	}
	o.BestEffortsRecovery, o.AvoidFlushDuringShutdown = true, true
	x.must(x.db.SetDBOptions(map[string]string{"avoid_flush_during_shutdown": "true"}))
	x.reopenWithColumnFamilies(names, o)
	for cf, want := range []string{"", "a"} {
		if got := strings.Join(x.keysOf(x.cf(cf).NewIterator(nil)), ","); got != want {
			t.Fatal(cf, got)
		}
	}
}

func TestDBBasicTest_DisableTrackWal(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TrackAndVerifyWALsInManifest = true
	o.WriteBufferSize = 100 // a new log often
	x.destroyAndReopen(o)
	for i := range 100 {
		x.mustPut(0, "foo"+key(i), "value"+key(i))
	}
	x.must(x.full().TestSwitchMemtable(nil))
	x.must(x.db.SyncWAL())
	tracked := func() (n int) {
		x.full().TestWithMutex(func() { n = len(x.full().Versions().GetWalSet().GetWals()) })
		return n
	}
	if tracked() == 0 {
		t.Fatal("no log is tracked")
	}
	o.CreateIfMissing = false
	for _, o.TrackAndVerifyWALsInManifest = range []bool{false, true} {
		x.reopen(o)
		if n := tracked(); n != 0 {
			t.Fatal(n, o.TrackAndVerifyWALsInManifest)
		}
	}
}

func TestDBBasicTestTrackWal_DoNotTrackObsoleteWal(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		t.Run(fmt.Sprint(atomic), func(t *testing.T) { testDoNotTrackObsoleteWal(t, atomic) })
	}
}

func testDoNotTrackObsoleteWal(t *testing.T, atomic bool) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TrackAndVerifyWALsInManifest, o.AtomicFlush = true, atomic
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"cf"}, o)
	x.must(x.db.DisableFileDeletions())
	const n = 10
	var logs []uint64
	for i := range n {
		// Each pair gets a log of its own.
		l, err := x.db.GetCurrentWalFile()
		x.must(err)
		logs = append(logs, l.LogNumber)
		x.mustPut(i%2, key(i), "v"+key(i))
		x.must(x.db.FlushColumnFamilies(nil, x.cfs))
	}
	files, err := x.db.GetSortedWalFiles()
	x.must(err)
	if len(files) != n {
		t.Fatal(files)
	}
	x.must(x.db.SyncWAL())
	x.close()
	for _, number := range logs {
		x.must(os.Remove(filename.LogFileName(x.dir, number)))
	}
	// Had SyncWAL tracked logs that no longer matter, they would be missing now.
	x.reopenWithColumnFamilies([]string{"default", "cf"}, o)
}

// TestFamilyPathsAreSynced has no upstream twin: a family's own directories are
// synced when tables were made in them.
func TestFamilyPathsAreSynced(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CFPaths = []rocksdb.DBPath{{Path: x.dir + "_cf", TargetSize: 1 << 30}}
	x.createAndReopenWithCF([]string{"made"}, o)
	x.createColumnFamilies([]string{"new"}, o)
	names := []string{"default", "made", "new"}
	for cf := range names {
		x.mustPut(cf, "k", "v")
		x.flush(cf)
	}
	x.close()
	x.must(x.fault.DeleteFilesCreatedAfterLastDirSync(&rocksdb.IOOptions{}))
	x.reopenWithColumnFamilies(names, o)
	for cf := range names {
		x.wantGet(cf, "k", "v")
	}
}

// TestBestEffortsRecoverIncompleteVersionTest_Basic leaves enable_blob_files
// out, which is not built.
func TestBestEffortsRecoverIncompleteVersionTest_Basic(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	l := &tableFiles{flushesOnly: true}
	o.DisableAutoCompactions = true
	o.Listeners = append(o.Listeners, l)
	names := []string{"default", "pikachu", "eevee"}
	x.createAndReopenWithCF(names[1:], o)
	for cf := range names {
		put := func(key, value string) {
			t.Helper()
			x.mustPut(cf, key, value)
			x.flush(cf)
		}
		put("a", "a_value")
		x.compact(cf, "a", "d") // so that the next compaction is no mere move
		put("a", "a_value_new")
		put("b", "b_value")
		put("f", "f_value")
		x.compact(cf, "a", "d")
	}
	x.full().TestDeleteObsoleteFiles()
	// The newest table of level 0 is lost: what it has is newer than all else.
	for _, name := range names {
		x.must(os.Remove(l.of(x, name, 4)[3]))
	}
	o.BestEffortsRecovery = true
	x.reopenWithColumnFamilies(names, o)
	for cf := range names {
		x.wantFiles(cf, "0,1")
		if got := x.contents(cf); got != "(a->a_value_new)(b->b_value)" {
			t.Fatal(cf, got)
		}
	}
	for cf := range names {
		x.mustPut(cf, "g", "g_value")
		x.flush(cf)
		x.compact(cf, "", "")
		x.wantGet(cf, "g", "g_value")
	}
}

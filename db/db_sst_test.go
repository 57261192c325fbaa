// Port of db/db_sst_test.cc (what needs no sync points). Differs: the hook in
// writes of tables is a file system of its own.

package db_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
)

// tableWriteFS calls hook at each write to a table.
type tableWriteFS struct {
	rocksdb.FileSystemWrapper
	mu   sync.Mutex
	hook func()
}

type hookedFile struct {
	rocksdb.FSWritableFileWrapper
	fs *tableWriteFS
}

func (f *tableWriteFS) setHook(hook func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

func (f *tableWriteFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystemWrapper.NewWritableFile(name, o)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return w, err
	}
	return &hookedFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, nil
}

func (w *hookedFile) Append(data []byte, o *rocksdb.IOOptions) error {
	w.fs.mu.Lock()
	hook := w.fs.hook
	w.fs.mu.Unlock()
	if hook != nil {
		hook()
	}
	return w.FSWritableFileWrapper.Append(data, o)
}

func (x *dbTest) hookTableWrites(o rocksdb.Options) (*tableWriteFS, rocksdb.Options) {
	fs := &tableWriteFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	return fs, x.onFS(o, fs)
}

// dataFiles gives the sizes of the database's files of some kinds by path.
// Upstream: GetAllDataFiles.
func (x *dbTest) dataFiles(types ...rocksdb.FileType) (sizes map[string]uint64, total uint64) {
	x.Helper()
	sizes = map[string]uint64{}
	for _, ft := range types {
		for _, path := range x.files(ft) {
			st, err := os.Stat(path)
			x.must(err)
			sizes[path] = uint64(st.Size())
			total += uint64(st.Size())
		}
	}
	return sizes, total
}

// newSFM makes a manager of the test's environment, closed after the test.
func (x *dbTest) newSFM(rate int64, maxTrashDBRatio float64) *rocksdb.SstFileManagerImpl {
	m := rocksdb.NewSstFileManager(x.env, nil, rate)
	m.SetMaxTrashDBRatio(maxTrashDBRatio)
	x.Cleanup(m.Close)
	return m
}

// wantTracked checks that the manager knows the database's files.
func (x *dbTest) wantTracked(m *rocksdb.SstFileManagerImpl, types ...rocksdb.FileType) {
	x.Helper()
	want, total := x.dataFiles(types...)
	if got := m.GetTrackedFiles(); !maps.Equal(got, want) {
		x.Fatalf("tracked files: %v, not %v", got, want)
	}
	if got := m.GetTotalSize(); got != total {
		x.Fatalf("tracked size %d, not %d", got, total)
	}
}

// wantNothingTracked checks that the manager has forgotten all.
func (x *dbTest) wantNothingTracked(m *rocksdb.SstFileManagerImpl) {
	x.Helper()
	if n, size := len(m.GetTrackedFiles()), m.GetTotalSize(); n != 0 || size != 0 {
		x.Fatalf("%d files of %d bytes are tracked", n, size)
	}
}

// generateNewFile writes a hundred keys from *next on. Upstream:
// GenerateNewFile.
func (x *dbTest) generateNewFile(cf int, rnd *util.Random, next *int) {
	x.Helper()
	for i := range 100 {
		size := 990
		if i == 99 {
			size = 1
		}
		x.mustPut(cf, key(*next), rnd.RandomString(size))
		*next++
	}
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.must(x.full().TestWaitForCompact())
}

// generateNewRandomFile is upstream's.
func (x *dbTest) generateNewRandomFile(rnd *util.Random) {
	x.Helper()
	for range 51 {
		x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(2000))
	}
	x.mustPut(0, "key"+rnd.RandomString(7), rnd.RandomString(200))
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.must(x.full().TestWaitForCompact())
}

// deletionListener counts deletions, and those of an expected file.
type deletionListener struct {
	rocksdb.EventListenerBase
	mu       sync.Mutex
	expected string
	matched  int
	others   []string
}

func (l *deletionListener) OnTableFileDeleted(info *rocksdb.TableFileDeletionInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.expected == "":
	case l.expected == info.FilePath:
		l.matched++
		l.expected = ""
	default:
		l.others = append(l.others, info.FilePath)
	}
}

func (l *deletionListener) expect(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expected = path
}

func (l *deletionListener) wantMatched(t *testing.T, n int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.matched != n || len(l.others) > 0 {
		t.Fatalf("%d expected deletions, not %d; others: %v", l.matched, n, l.others)
	}
}

func TestDBSSTTest_DontDeletePendingOutputs(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Env = x.env
	fs, o := x.hookTableWrites(o)
	x.destroyAndReopen(o)
	// A full scan at each write to a table may not take away the table itself.
	fs.setHook(func() {
		x.full().TestPurgeObsoleteFiles(x.full().TestFindObsoleteFiles(true, false))
	})
	for range 2 {
		x.mustPut(0, "a", "begin")
		x.mustPut(0, "z", "end")
		x.flush(0)
	}
	x.compact(0, "a", "b")
	fs.setHook(nil)
}

func TestDBSSTTest_SSTsWithLdbSuffixHandling(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 110 << 10
	o.NumLevels = 4
	x.destroyAndReopen(o)
	rnd, next := util.NewRandom(301), 0
	for range 10 {
		x.generateNewFile(0, rnd, &next)
	}
	x.flush(0)
	x.close()
	tables := x.files(rocksdb.TableFile)
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	x.reopen(o)
	values := make([]string, next)
	for k := range values {
		values[k] = x.get(0, key(k))
	}
	x.close()
	renamed := 0
	for i, path := range tables {
		if i&1 == 0 {
			x.must(os.Rename(path, filename.Rocks2LevelTableFileName(path)))
			renamed++
		}
	}
	if n := len(x.files(rocksdb.TableFile)); renamed == 0 || n != len(tables) {
		t.Fatalf("%d of %d tables renamed, %d left", renamed, len(tables), n)
	}
	x.reopen(o)
	for k, v := range values {
		x.wantGet(0, key(k), v)
	}
	x.destroy(o)
}

func TestDBSSTTest_DontDeleteMovedFile(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxBytesForLevelBase = 1 << 20
	o.Level0FileNumCompactionTrigger = 2
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 2 {
		for j := range 100 {
			x.mustPut(0, key(i*50+j), rnd.RandomString(10*1024))
		}
		x.flush(0)
	}
	// Both the compaction to level 1 and the move to level 2.
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,1")
	x.reopen(o)
}

// A table made while an older job's outputs are pending, and consumed by then,
// goes as soon as nobody holds it.
func TestDBSSTTest_DeleteObsoleteFilesPendingOutputs(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 2 << 20
	o.MaxBytesForLevelBase = 1 << 20
	o.Level0FileNumCompactionTrigger = 2
	o.MaxBackgroundFlushes, o.MaxBackgroundCompactions = 2, 2
	listener := &deletionListener{}
	o.Listeners = append(o.Listeners, listener)
	fs, o := x.hookTableWrites(o)
	x.reopen(o)
	rnd := util.NewRandom(301)
	for i := range 2 {
		for j := range 100 {
			x.mustPut(0, key(i*50+j), rnd.RandomString(10*1024))
		}
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,1")

	// The next flush stops at its first write; the numbers after its own are
	// pending until it ends.
	var once sync.Once
	asleep, wake := make(chan struct{}), make(chan struct{})
	fs.setHook(func() {
		first := false
		once.Do(func() { first = true })
		if first {
			close(asleep)
			<-wake
		}
	})
	for j := range 256 {
		x.mustPut(0, key(j), rnd.RandomString(10*1024))
	}
	<-asleep
	x.must(x.full().TestCompactRange(2, nil, nil, nil, false))
	x.wantFiles(0, "0,0,0,1")
	live := x.db.GetLiveFilesMetaData()
	if len(live) != 1 {
		t.Fatalf("%d live files", len(live))
	}
	moved := filepath.Join(x.dir, live[0].Name)
	listener.expect(moved)
	x.must(x.full().TestCompactRange(3, nil, nil, nil, true))
	x.wantFiles(0, "0,0,0,0,1")
	close(wake)
	x.must(x.full().TestWaitForFlushMemTable(nil))
	// The table just flushed is too large for levels 0 and 1.
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,0,1,0,1")
	if n := len(x.db.GetLiveFilesMetaData()); n != 2 {
		t.Fatalf("%d live files", n)
	}
	if _, err := os.Stat(moved); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", moved, err)
	}
	listener.wantMatched(t, 1)
}

func TestDBSSTTest_DeleteFileNotCalledForNotCreatedSSTFile(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	listener := &deletionListener{}
	o.Listeners = append(o.Listeners, listener)
	x.reopen(o)
	listener.expect("any")
	x.flush(0)
	x.wantFiles(0, "")
	if n := len(x.db.GetLiveFilesMetaData()); n != 0 {
		t.Fatalf("%d live files", n)
	}
	listener.wantMatched(t, 0)
}

func TestDBSSTTest_DeleteFileNotCalledForCreatedSSTFile(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	listener := &deletionListener{}
	o.Listeners = append(o.Listeners, listener)
	x.reopen(o)
	listener.expect("any")
	x.mustPut(0, "pika", "choo")
	x.flush(0)
	x.wantFiles(0, "1")
	if n := len(x.db.GetLiveFilesMetaData()); n != 1 {
		t.Fatalf("%d live files", n)
	}
	listener.wantMatched(t, 0)
}

func TestDBWALTestWithParam_WALTrashCleanupOnOpen(t *testing.T) {
	for _, c := range []struct {
		walDir string
		same   bool
	}{{"", true}, {"_wal_dir", false}} {
		t.Run(fmt.Sprintf("wal_dir=%q", c.walDir), func(t *testing.T) { walTrashCleanup(t, c.walDir, c.same) })
	}
}

// keepTrashFS does as if it deleted the trash of logs.
type keepTrashFS struct {
	rocksdb.FileSystemWrapper
	keep bool
}

func (f *keepTrashFS) DeleteFile(name string, o *rocksdb.IOOptions) error {
	if f.keep && strings.Contains(name, ".log.trash") {
		return nil
	}
	return f.FileSystemWrapper.DeleteFile(name, o)
}

func walTrashCleanup(t *testing.T, walDir string, same bool) {
	x := newDBTest(t)
	x.destroy(x.last)
	fs := &keepTrashFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, keep: true}
	o := x.onFS(x.currentOptions(), fs)
	o.DisableAutoCompactions = true
	o.Compression = rocksdb.NoCompression
	o.WALDir = x.dir + walDir
	m := x.newSFM(0, 3.1)
	m.SetDeleteRateBytesPerSecond(10 << 10)
	o.SstFileManager = m
	x.reopen(o)
	for v := byte('a'); v <= 'd'; v++ {
		if v == 'c' {
			// So slow that the last log is still in the trash at Close. The rate
			// of a file takes effect at the one after it.
			m.SetDeleteRateBytesPerSecond(1)
		}
		for _, k := range []string{"Key2", "Key3", "Key4", "Key1", "Key4"} {
			x.mustPut(0, k, dummyString(1024, v))
		}
		x.flush(0)
	}
	x.wantFiles(0, "4")
	x.close()

	o.SstFileManager = nil
	if !same {
		x.must(os.WriteFile(o.WALDir+"/1000.log.trash", nil, 0o644))
	}
	trash := func() int {
		t.Helper()
		names, err := filepath.Glob(o.WALDir + "/*.log.trash")
		x.must(err)
		return len(names)
	}
	if trash() == 0 {
		t.Fatal("no log in the trash")
	}
	fs.keep = false
	x.reopen(o)
	if n := trash(); n != 0 {
		t.Errorf("%d logs left in the trash", n)
	}
	x.close()
}

func TestDBSSTTest_DBWithMaxSpaceAllowed(t *testing.T) {
	x := newDBTest(t)
	m := x.newSFM(0, 0.25)
	o := x.currentOptions()
	o.SstFileManager = m
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 100 {
		x.mustPut(0, key(i), rnd.RandomString(50))
	}
	x.flush(0)
	_, size := x.dataFiles(rocksdb.TableFile)
	if got := m.GetTotalSize(); got != size {
		t.Fatalf("tracked size %d, not %d", got, size)
	}
	m.SetMaxAllowedSpaceUsage(size + 1)
	x.mustPut(0, "key1", "val1")
	if err := x.db.Flush(nil); err == nil {
		t.Fatal("a flush beyond the space allowed")
	}
}

func TestDBSSTTest_OpenDBWithInfiniteMaxOpenFiles(t *testing.T) {
	for _, threads := range []int{1, 5} {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.WriteBufferSize = 100000
			o.DisableAutoCompactions = true
			o.MaxOpenFiles = -1
			o.MaxFileOpeningThreads = threads
			x.destroyAndReopen(o)
			x.fillLevels2And0(12)
			x.close()
			x.reopen(o)
			x.wantFiles(0, "12,0,12")
			s := x.storage(0)
			for level := range s.NumLevels() {
				for _, f := range s.LevelFiles(level) {
					if f.FD.PinnedReader() == nil {
						t.Errorf("level %d: file %d is not open", level, f.FD.GetNumber())
					}
				}
			}
			for i := range 12 {
				x.wantGet(0, "L0_"+key(i), "L0_"+key(i)+dummyString(1000, 'a'))
				x.wantGet(0, "L2_"+key(i), "L2_"+key(i)+dummyString(1000, 'a'))
			}
		})
	}
}

// fillLevels2And0 makes n tables on level 2 and as many on level 0.
func (x *dbTest) fillLevels2And0(n int) {
	x.Helper()
	write := func(prefix string) {
		for i := range n {
			k := prefix + key(i)
			x.mustPut(0, k, k+dummyString(1000, 'a'))
			x.flush(0)
		}
	}
	write("L2_")
	c := rocksdb.DefaultCompactRangeOptions()
	c.ChangeLevel, c.TargetLevel = true, 2
	x.must(x.db.CompactRange(&c, nil, nil))
	write("L0_")
}

func TestDBSSTTest_OpenDBWithInfiniteMaxOpenFilesSubjectToMemoryLimit(t *testing.T) {
	for _, charge := range []rocksdb.CacheEntryRoleDecision{rocksdb.CacheEntryRoleEnabled, rocksdb.CacheEntryRoleDisabled} {
		for _, threads := range []int{1, 5} {
			t.Run(fmt.Sprintf("charge=%d,threads=%d", charge, threads), func(t *testing.T) {
				x := newDBTest(t)
				o := rocksdb.DefaultOptions()
				o.Env = x.env
				o.CreateIfMissing = true
				o.WriteBufferSize = 100000
				o.DisableAutoCompactions = true
				o.MaxOpenFiles = -1
				o.MaxFileOpeningThreads = threads
				tables := rocksdb.DefaultBlockBasedTableOptions()
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(tables)
				x.destroyAndReopen(o)
				x.fillLevels2And0(5)
				x.close()

				tables.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
					rocksdb.CacheEntryRoleBlockBasedTableReader: {Charged: charge}}
				lo := rocksdb.DefaultLRUCacheOptions(1024)
				lo.NumShardBits, lo.StrictCapacityLimit = 0, true
				c, err := rocksdb.NewLRUCacheWithOptions(lo)
				x.must(err)
				tables.BlockCache = c
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(tables)
				err = x.tryReopen(o)
				if charge == rocksdb.CacheEntryRoleDisabled {
					x.must(err)
					x.wantFiles(0, "5,0,5")
					return
				}
				if rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeMemoryLimit || !strings.Contains(err.Error(), "BlockBasedTableReader") ||
					!strings.Contains(err.Error(), "memory limit based on cache capacity") {
					t.Errorf("opened beyond the cache's capacity: %v", err)
				}
			})
		}
	}
}

func TestDBSSTTest_GetTotalSstFilesSizeVersionsFilesShared(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.Compression = rocksdb.NoCompression
	x.destroyAndReopen(o)
	for i := range 5 {
		x.mustPut(0, key(i), "val")
		x.flush(0)
	}
	x.wantFiles(0, "5")
	single := x.db.GetLiveFilesMetaData()[0].Size
	x.wantSizes(5, 5, single)
	it1 := x.db.NewIterator(nil)
	x.must(it1.Status())
	// The tables are moved: they are in two versions, and count once.
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "0,5")
	x.wantSizes(5, 5, single)
	it2 := x.db.NewIterator(nil)
	x.must(it2.Status())
	for i := range 5 {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantFiles(0, "")
	x.wantSizes(0, 5, single)
	x.must(it1.Close())
	x.must(it2.Close())
	x.wantSizes(0, 0, single)
}

// wantSizes checks the number of live tables and of all that are still on
// disk, all of one size.
func (x *dbTest) wantSizes(live, total int, single uint64) {
	x.Helper()
	files := x.db.GetLiveFilesMetaData()
	size := uint64(0)
	for _, f := range files {
		size += f.Size
	}
	if len(files) != live || size != uint64(live)*single {
		x.Fatalf("%d live tables of %d bytes, not %d of %d each", len(files), size, live, single)
	}
	if got := x.intProperty(0, "rocksdb.total-sst-files-size"); got != uint64(total)*single {
		x.Fatalf("total size %d, not %d of %d", got, total, single)
	}
}

func TestDBSSTTest_SstGetFileSizeFails(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "x", "zaphod")
	x.flush(0)
	o := x.currentOptions()
	o.ParanoidChecks = false // sizes are not checked on open
	for i := range 4 {
		x.fault.SetFailRandomAccessGetFileSizeSst(false)
		x.fault.SetFailFilesystemGetFileSizeSst(false)
		x.close()
		x.fault.SetFailRandomAccessGetFileSizeSst(i == 1 || i == 3)
		x.fault.SetFailFilesystemGetFileSizeSst(i == 2 || i == 3)
		x.must(x.tryReopen(o))
		v, err := x.db.Get(nil, []byte("x"))
		if i < 3 {
			x.must(err)
			v.Release()
			continue
		}
		if !errors.Is(err, rocksdb.ErrIOError) || rocksdb.AsStatus(err).Message != "FileSystem::GetFileSize failed" {
			t.Errorf("neither size is known: %v", err)
		}
	}
	x.close()
}

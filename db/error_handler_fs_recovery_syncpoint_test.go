//go:build syncpoint

// Port of db/error_handler_fs_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

func noResume(o *rocksdb.Options) { o.MaxBGErrorResumeCount = 0 }

func resumeTwice(o *rocksdb.Options) {
	o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 2, 100000
}

func resumeTwiceAndCompact(o *rocksdb.Options) { resumeTwice(o); o.Level0FileNumCompactionTrigger = 2 }

func fileScopeError() error {
	s := *rocksdb.IOError("File Scope Data Loss Error")
	s.DataLoss, s.Scope = true, rocksdb.IOErrorScopeFile
	return &s
}

func (x *errorTest) wantQuarantine(some bool) {
	x.Helper()
	if q := x.full().TestGetFilesToQuarantine(); (len(q) > 0) != some {
		x.Fatalf("in quarantine: %v", q)
	}
}

// manifest is the present MANIFEST's path.
func (x *errorTest) manifest() string {
	x.Helper()
	list := x.files(rocksdb.DescriptorFile)
	return list[len(list)-1]
}

func (x *errorTest) wantNewManifest(old string) {
	x.Helper()
	if x.manifest() == old {
		x.Fatal("the MANIFEST is the old one")
	}
}

func (x *errorTest) wantRecovered() {
	x.Helper()
	x.must(x.waitForRecovery())
}

// flushWALFails has the sync of closed logs before a flush fail.
func flushWALFails(t *testing.T, atomic bool) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { noResume(o); o.AtomicFlush = atomic })
	x.createAndReopenWithCF([]string{"pikachu, sdfsdfsdf"}, x.o)
	x.failAt("DBImpl::SyncClosedWals:Start", retryable("Retryable IO Error"))
	x.mustPut(0, key(1), "val1")
	x.wantSeverity(x.cf(0).Flush(nil), rocksdb.SeverityHardError)
	x.activate()
	_ = x.db.DropColumnFamily(x.cfs[1]) // may be refused
	x.must(x.full().Resume())
	x.wantGet(0, key(1), "val1")
	x.mustPut(0, key(3), "val3")
	x.wantGet(0, key(3), "val3")
	x.flush(0)
	x.wantGet(0, key(3), "val3")
}

func TestDBErrorHandlingFSTest_FlushWALWriteRetryableError(t *testing.T) { flushWALFails(t, false) }

func TestDBErrorHandlingFSTest_FlushWALAtomicWriteRetryableError(t *testing.T) {
	flushWALFails(t, true)
}

// flushNoWALFails has the flush of what is in no log fail at a point.
func flushNoWALFails(t *testing.T, point string) *errorTest {
	x := newErrorTest(t, false, noResume)
	x.putNoWAL(0, key(1), "val1")
	x.failAt(point, retryable("Retryable IO Error"))
	err := flushNow(x)
	x.putNoWAL(0, key(2), "val2")
	x.wantSeverity(err, rocksdb.SeveritySoftError)
	x.wantGet(0, key(2), "val2")
	x.activate()
	x.must(x.full().Resume())
	x.wantGet(0, key(1), "val1")
	x.wantGet(0, key(2), "val2")
	x.putNoWAL(0, key(3), "val3")
	x.wantGet(0, key(3), "val3")
	x.flush(0)
	x.wantGet(0, key(3), "val3")
	return x
}

func TestDBErrorHandlingFSTest_FlushWritNoWALRetryableError1(t *testing.T) {
	flushNoWALFails(t, "BuildTable:BeforeFinishBuildTable").wantTickers(1, 1, 1, 0)
}

func TestDBErrorHandlingFSTest_FlushWriteNoWALRetryableError2(t *testing.T) {
	flushNoWALFails(t, "BuildTable:BeforeSyncTable")
}

func TestDBErrorHandlingFSTest_FlushWriteNoWALRetryableError3(t *testing.T) {
	flushNoWALFails(t, "BuildTable:BeforeCloseTableFile")
}

// manifestFails has a flush fail at its write of the MANIFEST; a Resume makes
// another one.
func manifestFails(t *testing.T, failure error, put func(x *errorTest, key string)) {
	x := newErrorTest(t, false, noResume)
	old := x.manifest()
	put(x, key(0))
	x.flush(0)
	put(x, key(1))
	x.failAt("VersionSet::LogAndApply:WriteManifest", failure)
	err := flushNow(x)
	x.wantQuarantine(true)
	x.wantSeverity(err, rocksdb.SeveritySoftError)
	x.activate()
	x.must(x.full().Resume())
	x.wantNewManifest(old)
	x.wantQuarantine(false)
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

func putVal(x *errorTest, key string) { x.Helper(); x.mustPut(0, key, "val") }

func putValNoWAL(x *errorTest, key string) { x.Helper(); x.putNoWAL(0, key, "val") }

func TestDBErrorHandlingFSTest_ManifestWriteFileScopeError(t *testing.T) {
	manifestFails(t, fileScopeError(), putVal)
}

func TestDBErrorHandlingFSTest_ManifestWriteNoWALRetryableError(t *testing.T) {
	manifestFails(t, retryable("Retryable IO Error"), putValNoWAL)
}

func TestDBErrorHandlingFSTest_DoubleManifestWriteError(t *testing.T) {
	x := newErrorTest(t, false, nil)
	old := x.manifest()
	x.mustPut(0, key(0), "val")
	x.flush(0)
	x.mustPut(0, key(1), "val")
	x.failAt("VersionSet::LogAndApply:WriteManifest", rocksdb.NoSpace("Out of space"))
	failed := func(err error) {
		t.Helper()
		if !rocksdb.IsNoSpace(err) {
			t.Fatal(err)
		}
		x.wantSeverity(x.full().TestGetBGError(), rocksdb.SeverityHardError)
		x.wantQuarantine(true)
		x.fault.SetFilesystemActive(true, nil)
	}
	failed(flushNow(x))
	failed(x.full().Resume()) // which writes a MANIFEST
	x.activate()
	x.must(x.full().Resume())
	x.wantNewManifest(old)
	x.wantQuarantine(false)
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

// failManifestOfCompaction prepares a compaction by a second flush, that fails at
// its write of the MANIFEST.
func (x *errorTest) failManifestOfCompaction(failure error, order ...[2]string) {
	x.mustPut(0, key(0), "val")
	x.mustPut(0, key(2), "val")
	x.flush(0)
	inOrder(append([][2]string{{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"},
		{"BackgroundCallCompaction:1", "test:0"}, {"test:1", "DBImpl::BackgroundCallCompaction:FoundObsoleteFiles"}}, order...)...)
	var fail atomic.Bool
	syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) { fail.Store(true) })
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifest", func(any) {
		if fail.Load() {
			x.fault.SetFilesystemActive(false, failure)
		}
	})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val")
	x.flush(0)
	syncpoint.Process("test:0")
}

func (x *errorTest) wantThreeKeys() {
	x.Helper()
	x.reopen(x.o)
	for i := range 3 {
		x.wantGet(0, key(i), "val")
	}
}

func TestDBErrorHandlingFSTest_CompactionManifestWriteError(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 2 })
	old := x.manifest()
	x.failManifestOfCompaction(rocksdb.NoSpace("Out of space"), [2]string{"SstFileManagerImpl::ErrorCleared", "test:2"})
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.ClearAllCallBacks()
	x.wantQuarantine(true)
	syncpoint.Process("test:1")
	syncpoint.Process("test:2")
	x.must(x.full().TestWaitForCompact())
	endSyncPoints()
	x.wantNewManifest(old)
	x.wantQuarantine(false)
	x.wantThreeKeys()
}

func hardError() *rocksdb.Status {
	return rocksdb.AsStatus(retryable("Retryable IO Error")).WithSeverity(rocksdb.SeverityHardError)
}

func TestDBErrorHandlingFSTest_CompactionManifestWriteRetryableError(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { noResume(o); o.Level0FileNumCompactionTrigger = 2 })
	old := x.manifest()
	x.listener.override.Store(hardError())
	x.failManifestOfCompaction(retryable("Retryable IO Error"))
	x.wantQuarantine(true)
	syncpoint.Process("test:1")
	x.wantSeverity(x.full().TestWaitForCompact(), rocksdb.SeverityHardError)
	x.activate()
	x.must(x.full().Resume())
	x.wantNewManifest(old)
	x.wantQuarantine(false)
	x.wantThreeKeys()
}

func TestDBErrorHandlingFSTest_CompactionManifestWriteRetryableErrorAutoRecover(t *testing.T) {
	x := newErrorTest(t, false, resumeTwiceAndCompact)
	old := x.manifest()
	x.listener.override.Store(hardError())
	x.failManifestOfCompaction(retryable("Retryable IO Error"), [2]string{"test:2", "RecoverFromRetryableBGIOError:BeforeStart"},
		[2]string{"RecoverFromRetryableBGIOError:BeforeResume0", "test:3"}, [2]string{"test:4", "RecoverFromRetryableBGIOError:BeforeResume1"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "test:5"})
	syncpoint.Process("test:1")
	x.wantSeverity(x.full().TestWaitForCompact(), rocksdb.SeverityHardError)
	syncpoint.Process("test:2")
	syncpoint.Process("test:3")
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.ClearAllCallBacks()
	syncpoint.Process("test:4")
	syncpoint.Process("test:5")
	endSyncPoints()
	x.wantNewManifest(old)
	x.wantThreeKeys()
}

// compactionFailsOnce has the first compaction fail at a point; the file system
// works again when the second one starts.
func compactionFailsOnce(t *testing.T, point string, set func(o *rocksdb.Options), fill func(x *errorTest)) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) {
		o.Level0FileNumCompactionTrigger = 2
		if set != nil {
			set(o)
		}
	})
	fill(x)
	x.flush(0)
	x.listener.override.Store(hardError())
	inOrder([2]string{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"},
		[2]string{"CompactionJob::FinishCompactionOutputFile1", "test:0"})
	syncpoint.SetCallBack("DBImpl::BackgroundCompaction:Start", func(any) { x.fault.SetFilesystemActive(true, nil) })
	var compacting, failed atomic.Bool
	syncpoint.SetCallBack("BackgroundCallCompaction:0", func(any) { compacting.Store(true) })
	syncpoint.SetCallBack(point, func(any) {
		if compacting.Load() && failed.CompareAndSwap(false, true) {
			x.fault.SetFilesystemActive(false, retryable("Retryable IO Error"))
		}
	})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val")
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	syncpoint.Process("test:0")
	x.activate()
	if !failed.Load() {
		t.Error("no failure")
	}
	x.wantFiles(0, "0,1")
	x.reopen(x.o)
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_CompactionWriteRetryableErrorAutoRecover(t *testing.T) {
	compactionFailsOnce(t, "CompactionJob::OpenCompactionOutputFile", nil, func(x *errorTest) {
		x.mustPut(0, key(0), "va;")
		x.mustPut(0, key(2), "va;")
	})
}

func TestDBErrorHandlingFSTest_CompactionReadRetryableErrorAutoRecover(t *testing.T) {
	compactionFailsOnce(t, "CompactionJob::ProcessKeyValueCompaction()::Processing", func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.NoBlockCache = true
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	}, func(x *errorTest) {
		rnd := util.NewRandom(301)
		for i := range 100 {
			x.mustPut(0, key(i), rnd.RandomString(1024))
		}
	})
}

// compactionFailsAndWorkEnds is what the disabled cases want: a compaction fails
// while background work is cancelled, and that is no background error.
func compactionFailsAndWorkEnds(t *testing.T, failure error) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { noResume(o); o.Level0FileNumCompactionTrigger = 2 })
	x.mustPut(0, key(0), "va;")
	x.mustPut(0, key(2), "va;")
	x.flush(0)
	x.listener.override.Store(hardError())
	inOrder([2]string{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"})
	syncpoint.SetCallBack("CompactionJob::OpenCompactionOutputFile", func(any) {
		x.full().CancelAllBackgroundWork(false)
		x.fault.SetFilesystemActive(false, failure)
	})
	syncpoint.EnableProcessing()
	x.mustPut(0, key(1), "val")
	x.flush(0)
	x.must(x.full().TestWaitForBackgroundWork())
	if err := x.full().TestGetBGError(); err != nil && !errors.Is(err, rocksdb.ErrShutdownInProgress) {
		x.wantSeverity(err, rocksdb.SeverityHardError) // of the listener
	}
	x.activate()
	x.reopen(x.o)
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_DISABLED_CompactionWriteRetryableError(t *testing.T) {
	compactionFailsAndWorkEnds(t, retryable("Retryable IO Error"))
}

func TestDBErrorHandlingFSTest_DISABLED_CompactionWriteFileScopeError(t *testing.T) {
	compactionFailsAndWorkEnds(t, fileScopeError())
}

// writeSynced writes a synced batch of keys from..from+n-1 to families.
func (x *errorTest) writeSynced(rnd *util.Random, from, n int, cfs ...int) error {
	b := rocksdb.NewWriteBatch()
	for _, cf := range cfs {
		for i := from; i < from+n; i++ {
			x.must(b.PutCF(x.cf(cf).Impl(), []byte(key(i)), []byte(rnd.RandomString(1024))))
		}
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	return x.db.Write(&wo, b)
}

// failThirdAppend has the file system fail from the third append of a file on.
func (x *errorTest) failThirdAppend(failure error) {
	var n atomic.Int32
	syncpoint.SetCallBack("WritableFileWriter::Append:BeforePrepareWrite", func(any) {
		if n.Add(1) > 2 {
			x.fault.SetFilesystemActive(false, failure)
		}
	})
	syncpoint.EnableProcessing()
}

// wantKeys checks which of the keys up to n are there.
func (x *errorTest) wantKeys(cf, n int, there func(i int) bool) {
	x.Helper()
	for i := range n {
		if found := x.get(cf, key(i)) != "NOT_FOUND"; found != there(i) {
			x.Fatalf("family %d: key %d: %v", cf, i, found)
		}
	}
}

func firstHundred(i int) bool { return i < 100 }

func smallWrites(o *rocksdb.Options) { o.WritableFileMaxBufferSize = 32768 }

func TestDBErrorHandlingFSTest_WALWriteError(t *testing.T) {
	x := newErrorTest(t, true, smallWrites)
	rnd := util.NewRandom(301)
	x.must(x.writeSynced(rnd, 0, 100, 0))
	x.failThirdAppend(rocksdb.NoSpace("Out of space"))
	if err := x.writeSynced(rnd, 100, 99, 0); !rocksdb.IsNoSpace(err) {
		t.Fatal(err)
	}
	x.activate()
	x.wantRecovered()
	x.wantKeys(0, 199, firstHundred)
	x.reopen(x.o)
	x.wantKeys(0, 199, firstHundred)
}

func TestDBErrorHandlingFSTest_WALWriteRetryableError(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) { smallWrites(o); noResume(o); o.ParanoidChecks = true })
	rnd := util.NewRandom(301)
	x.must(x.writeSynced(rnd, 0, 100, 0))
	x.failThirdAppend(retryable("Retryable IO Error"))
	if err := x.writeSynced(rnd, 100, 100, 0); !rocksdb.IsIOError(err) {
		t.Fatal(err)
	}
	x.activate()
	x.wantKeys(0, 199, firstHundred)
	x.must(x.full().Resume())
	x.must(x.writeSynced(rnd, 200, 100, 0))
	x.reopen(x.o)
	x.wantKeys(0, 300, func(i int) bool { return i < 100 || i >= 200 })
}

func TestDBErrorHandlingFSTest_WALWriteRetryableErrorAutoRecover2(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) { smallWrites(o); resumeTwice(o); o.ParanoidChecks = true })
	rnd := util.NewRandom(301)
	x.must(x.writeSynced(rnd, 0, 100, 0))
	inOrder([2]string{"RecoverFromRetryableBGIOError:BeforeWait0", "test:0"}, [2]string{"test:1", "RecoverFromRetryableBGIOError:BeforeWait1"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "test:2"})
	x.failThirdAppend(retryable("Retryable IO Error"))
	if err := x.writeSynced(rnd, 100, 100, 0); !rocksdb.IsIOError(err) {
		t.Fatal(err)
	}
	syncpoint.Process("test:0")
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.ClearAllCallBacks()
	syncpoint.Process("test:1")
	syncpoint.Process("test:2")
	endSyncPoints()
	x.wantKeys(0, 199, firstHundred)
	x.must(x.writeSynced(rnd, 200, 100, 0))
	x.reopen(x.o)
	x.wantKeys(0, 300, func(i int) bool { return i < 100 || i >= 200 })
}

func TestDBErrorHandlingFSTest_MultiCFWALWriteError(t *testing.T) {
	x := newErrorTest(t, true, smallWrites)
	names := []string{"one", "two", "three"}
	x.createAndReopenWithCF(names, x.o)
	rnd := util.NewRandom(301)
	x.must(x.writeSynced(rnd, 0, 100, 1, 2, 3))
	x.failThirdAppend(rocksdb.NoSpace("Out of space"))
	if err := x.writeSynced(rnd, 100, 99, 2); !rocksdb.IsNoSpace(err) {
		t.Fatal(err)
	}
	x.activate()
	x.wantRecovered()
	for range 2 {
		for cf := 1; cf < 4; cf++ {
			if n := x.numTableFilesAtLevel(0, cf); n != 1 {
				t.Errorf("family %d: %d files", cf, n)
			}
			x.wantKeys(cf, 199, firstHundred)
		}
		x.reopenWithColumnFamilies(append([]string{"default"}, names...), x.o)
	}
}

// severalDBs are databases of one SstFileManager, each on a file system of its
// own over one that they share.
type severalDBs struct {
	*errorTest
	full      atomic.Bool // the device that the SstFileManager sees
	dbs       []*rocksdb.DB
	faults    []*fsutil.FaultInjectionTestFS
	listeners []*errorListener
	sfm       *rocksdb.SstFileManagerImpl
}

// freeSpaceFS says that nothing is free while full.
type freeSpaceFS struct {
	rocksdb.FileSystemWrapper
	full *atomic.Bool
}

func (f *freeSpaceFS) GetFreeSpace(path string, o *rocksdb.IOOptions) (uint64, error) {
	if f.full.Load() {
		return 0, nil
	}
	return f.Target().GetFreeSpace(path, o)
}

// failingListener fails the file system at the creation of the n-th table.
type failingListener struct {
	rocksdb.EventListenerBase
	fs *fsutil.FaultInjectionTestFS
	n  atomic.Int32
}

func (l *failingListener) OnTableFileCreationStarted(*rocksdb.TableFileCreationBriefInfo) {
	if l.n.Add(-1) == 0 {
		l.fs.SetFilesystemActive(false, rocksdb.NoSpace("Out of space"))
	}
}

// newSeveralDBs opens one database for each of failAt, the number of the table
// whose creation fails, 0 for none.
func newSeveralDBs(t *testing.T, failAt ...int32) *severalDBs {
	x := &severalDBs{errorTest: newErrorTest(t, true, nil)}
	base := env.NewCompositeEnvWrapper(x.env, &freeSpaceFS{rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, &x.full}, nil)
	x.sfm = rocksdb.NewSstFileManager(base, nil, 0)
	for i, n := range failAt {
		fs := fsutil.NewFaultInjectionTestFS(x.env.GetFileSystem())
		l := &errorListener{ended: make(chan error, 100)}
		fails := &failingListener{fs: fs}
		fails.n.Store(n)
		o := x.defaultOptions()
		o.Env = env.NewCompositeEnvWrapper(base, fs, nil)
		o.Level0FileNumCompactionTrigger, o.WritableFileMaxBufferSize = 2, 32768
		o.Listeners = append(o.Listeners, l, fails)
		o.SstFileManager = x.sfm
		db, err := rocksdb.Open(filepath.Join(x.dir, fmt.Sprint("several_", i)), o)
		x.must(err)
		x.dbs, x.faults, x.listeners = append(x.dbs, db), append(x.faults, fs), append(x.listeners, l)
	}
	return x
}

// fill writes and flushes a table; it gives the flush's error.
func (x *severalDBs) fill(i int, rnd *util.Random, from, n int) error {
	x.Helper()
	b := rocksdb.NewWriteBatch()
	for k := from; k < from+n; k++ {
		x.must(b.Put([]byte(key(k)), []byte(rnd.RandomString(1024))))
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	x.must(x.dbs[i].Write(&wo, b))
	return x.dbs[i].Flush(nil)
}

func (x *severalDBs) wantLevels(i int, want ...string) {
	x.Helper()
	for level, n := range want {
		if got, _ := x.dbs[i].GetProperty(fmt.Sprintf("rocksdb.num-files-at-level%d", level)); got != n {
			x.Errorf("database %d: %s files at level %d", i, got, level)
		}
	}
}

func (x *severalDBs) closeAll() {
	x.Helper()
	x.sfm.Close()
	for i, db := range x.dbs {
		x.faults[i].SetFilesystemActive(true, nil)
		x.must(db.Close())
	}
}

func (x *severalDBs) waitFor(i int) {
	x.Helper()
	x.must((&errorTest{dbTest: x.dbTest, listener: x.listeners[i]}).waitForRecovery())
}

func TestDBErrorHandlingFSTest_MultiDBCompactionError(t *testing.T) {
	x := newSeveralDBs(t, 3, 3, 3) // the compaction's
	rnd := util.NewRandom(301)
	for i := range x.dbs {
		x.must(x.fill(i, rnd, 0, 101))
	}
	x.full.Store(true)
	for i := range x.dbs {
		x.must(x.fill(i, rnd, 100, 99))
	}
	for i, db := range x.dbs {
		x.wantSeverity(db.Impl().TestWaitForCompact(), rocksdb.SeveritySoftError)
		x.faults[i].SetFilesystemActive(true, nil)
	}
	x.full.Store(false)
	for i, db := range x.dbs {
		x.waitFor(i)
		x.must(db.Impl().TestWaitForCompact())
		x.wantLevels(i, "0", "1")
	}
	x.closeAll()
}

func TestDBErrorHandlingFSTest_MultiDBVariousErrors(t *testing.T) {
	x := newSeveralDBs(t, 3, 2, 0) // a compaction's, a flush's, none
	rnd := util.NewRandom(301)
	for i := range x.dbs {
		x.must(x.fill(i, rnd, 0, 101))
	}
	x.full.Store(true)
	for i := range x.dbs {
		if err := x.fill(i, rnd, 100, 99); i != 1 && err != nil || i == 1 && !rocksdb.IsNoSpace(err) {
			t.Fatalf("database %d: %v", i, err)
		}
	}
	for i, db := range x.dbs {
		switch err := db.Impl().TestWaitForCompact(); i {
		case 0:
			x.wantSeverity(err, rocksdb.SeveritySoftError)
		case 1:
			x.wantSeverity(err, rocksdb.SeverityHardError)
		default:
			x.must(err)
		}
		x.faults[i].SetFilesystemActive(true, nil)
	}
	x.full.Store(false)
	for i, db := range x.dbs {
		if i < 2 {
			x.waitFor(i)
			x.must(db.Impl().TestWaitForCompact())
		}
		x.wantLevels(i, "0", "1")
	}
	x.closeAll()
}

func TestDBErrorHandlingFSTest_MultipleRecoveryThreads(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.MaxBGErrorResumeCount, o.BGErrorResumeRetryInterval = 100, 1000000 })
	failure := retryable("Retryable IO Error")
	x.fault.SetFilesystemActive(false, failure)
	inOrder([2]string{"NotifyOnErrorRecoveryEnd:MutexUnlocked:1", "test:1"}, [2]string{"test:2", "NotifyOnErrorRecoveryEnd:MutexUnlocked:2"},
		[2]string{"StartRecoverFromRetryableBGIOError:BeforeWaitingForOtherThread", "test:3"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "test:4"},
		[2]string{"test:4", "StartRecoverFromRetryableBGIOError:AfterWaitingForOtherThread"})
	syncpoint.EnableProcessing()
	x.putNoWAL(0, key(1), "val1")
	if flushNow(x) == nil {
		t.Fatal("flushed")
	}
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.Process("test:1") // the recovery is telling listeners of its end
	var wg sync.WaitGroup
	wg.Go(func() {
		x.fault.SetFilesystemActive(false, failure)
		if err := x.db.Put(noWAL, []byte(key(2)), []byte("val2")); err != nil {
			t.Error(err)
		}
		if flushNow(x) == nil {
			t.Error("flushed")
		}
	})
	syncpoint.Process("test:3")
	syncpoint.Process("test:2")
	syncpoint.Process("test:4")
	wg.Wait()
	inOrder([2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "test:6"})
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.Process("test:6")
	endSyncPoints()
	x.wantRecovered()
	x.wantRecovered()
	x.wantGet(0, key(1), "val1")
	x.wantGet(0, key(2), "val2")
}

func TestDBErrorHandlingFSTest_FlushWritNoWALRetryableErrorAutoRecover2(t *testing.T) {
	x := newErrorTest(t, false, resumeTwice)
	x.putNoWAL(0, key(1), "val1")
	x.failAt("BuildTable:BeforeFinishBuildTable", retryable("Retryable IO Error"))
	err := flushNow(x)
	x.wantGet(0, key(1), "val1")
	x.wantSeverity(err, rocksdb.SeveritySoftError)
	x.activate()
	x.wantRecovered()
	x.wantGet(0, key(1), "val1")
	if n := x.o.Statistics.GetTickerCount(rocksdb.ErrorHandlerAutoresumeCount); n != 1 {
		t.Errorf("%d resumes", n)
	}
	x.putNoWAL(0, key(2), "val2")
	x.flush(0)
	x.wantGet(0, key(2), "val2")
}

func TestDBErrorHandlingFSTest_FlushWritRetryableErrorAutoRecover2(t *testing.T) {
	x := newErrorTest(t, false, resumeTwice)
	x.mustPut(0, key(1), "val1")
	inOrder([2]string{"test:0", "RecoverFromRetryableBGIOError:BeforeStart"}, [2]string{"RecoverFromRetryableBGIOError:LoopOut", "test:1"})
	x.failAt("BuildTable:BeforeFinishBuildTable", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	syncpoint.Process("test:0")
	syncpoint.Process("test:1")
	x.activate()
	x.wantGet(0, key(1), "val1")
	x.must(x.full().Resume())
	x.wantGet(0, key(1), "val1")
	x.mustPut(0, key(2), "val2")
	x.flush(0)
	x.wantGet(0, key(2), "val2")
}

// manifestFailsAndRecovers is a failed write of the MANIFEST, with the second of
// two resumes successful.
func manifestFailsAndRecovers(t *testing.T, put func(x *errorTest, key string)) {
	x := newErrorTest(t, false, resumeTwice)
	old := x.manifest()
	put(x, key(0))
	x.flush(0)
	put(x, key(1))
	inOrder([2]string{"RecoverFromRetryableBGIOError:BeforeStart", "test:0"}, [2]string{"test:1", "RecoverFromRetryableBGIOError:BeforeWait1"},
		[2]string{"RecoverFromRetryableBGIOError:RecoverSuccess", "test:2"})
	x.failAt("VersionSet::LogAndApply:WriteManifest", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	syncpoint.Process("test:0")
	x.fault.SetFilesystemActive(true, nil)
	syncpoint.ClearAllCallBacks()
	syncpoint.Process("test:1")
	syncpoint.Process("test:2")
	endSyncPoints()
	x.wantNewManifest(old)
	x.reopen(x.o)
	x.wantGet(0, key(0), "val")
	x.wantGet(0, key(1), "val")
}

func TestDBErrorHandlingFSTest_ManifestWriteRetryableErrorAutoRecover(t *testing.T) {
	manifestFailsAndRecovers(t, putVal)
}

func TestDBErrorHandlingFSTest_ManifestWriteNoWALRetryableErrorAutoRecover(t *testing.T) {
	manifestFailsAndRecovers(t, putValNoWAL)
}

func TestDBErrorHandlingFSTest_FlushWritRetryableErrorAbortRecovery(t *testing.T) {
	x := newErrorTest(t, false, resumeTwice)
	x.mustPut(0, key(1), "val1")
	x.failAt("BuildTable:BeforeFinishBuildTable", retryable("Retryable IO Error"))
	x.wantSeverity(flushNow(x), rocksdb.SeveritySoftError)
	if err := x.waitForRecovery(); !errors.Is(err, rocksdb.ErrAborted) {
		t.Error(err)
	}
	x.activate()
}

func TestDBErrorHandlingFSTest_FlushErrorRecoveryRaceWithDBDestruction(t *testing.T) {
	x := newErrorTest(t, true, nil)
	x.mustPut(0, "k1", "val")
	var once, closeOnce sync.Once
	syncpoint.SetCallBack("BuildTable:BeforeOutputValidation", func(any) {
		once.Do(func() { x.fault.SetFilesystemActive(false, retryable("Injected")) })
	})
	closed := make(chan error, 1)
	syncpoint.SetCallBack("BuildTable:BeforeDeleteFile", func(any) {
		closeOnce.Do(func() {
			x.fault.SetFilesystemActive(true, nil)
			inOrder([2]string{"PostEndAutoRecovery", "FlushJob::WriteLevel0Table"})
			go func() { closed <- x.db.Close() }()
		})
	})
	syncpoint.EnableProcessing()
	if flushNow(x) == nil {
		t.Error("flushed")
	}
	if err := x.waitForRecovery(); rocksdb.CodeOf(err) != rocksdb.CodeShutdownInProgress {
		t.Error(err)
	}
	x.must(<-closed)
	x.activate()
	x.reopen(x.o)
	x.wantGet(0, "k1", "val")
}

// readFails has a flush's table fail when it is read; recovery begins at once.
func readFails(t *testing.T, atomic bool) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { o.AtomicFlush = atomic })
	families := 1
	if atomic {
		x.createAndReopenWithCF([]string{"pikachu"}, x.o)
		families = 2
	}
	for cf := range families {
		x.mustPut(cf, key(0), "val")
	}
	syncpoint.SetCallBack("BuildTable:BeforeDeleteFile", func(any) { x.fault.SetFilesystemActive(true, nil) })
	s := *rocksdb.IOError()
	s.Retryable, s.Scope = true, rocksdb.IOErrorScopeFile
	x.failAt("BuildTable:BeforeOutputValidation", &s)
	err := x.flushFamilies(families)
	x.wantSeverity(err, rocksdb.SeveritySoftError)
	x.activate()
	x.wantRecovered()
	for ticker, want := range map[rocksdb.Ticker]uint64{rocksdb.ErrorHandlerBGErrorCount: 1, rocksdb.ErrorHandlerBGIOErrorCount: 1,
		rocksdb.ErrorHandlerBGRetryableIOErrorCount: 1, rocksdb.ErrorHandlerAutoresumeCount: 1} {
		if n := x.o.Statistics.GetTickerCount(ticker); n < want {
			t.Errorf("ticker %d: %d", ticker, n)
		}
	}
	x.must(x.full().TestGetBGError())
	x.reopenFamilies(families)
	for cf := range families {
		x.wantGet(cf, key(0), "val")
	}
}

func (x *errorTest) flushFamilies(n int) error {
	if n == 1 {
		return flushNow(x)
	}
	o := rocksdb.DefaultFlushOptions()
	return flushAll(x.dbTest, &o)
}

func (x *errorTest) reopenFamilies(n int) {
	x.Helper()
	if n == 1 {
		x.reopen(x.defaultOptions())
	} else {
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, x.defaultOptions())
	}
}

func TestDBErrorHandlingFSTest_FlushReadError(t *testing.T) { readFails(t, false) }

func TestDBErrorHandlingFSTest_AtomicFlushReadError(t *testing.T) { readFails(t, true) }

func TestDBErrorHandlingFSTest_AtomicFlushNoSpaceError(t *testing.T) {
	x := newErrorTest(t, true, func(o *rocksdb.Options) { o.AtomicFlush = true })
	x.createAndReopenWithCF([]string{"pikachu"}, x.o)
	x.mustPut(0, key(0), "val")
	x.mustPut(1, key(0), "val")
	syncpoint.SetCallBack("BuildTable:BeforeDeleteFile", func(any) { x.fault.SetFilesystemActive(true, nil) })
	x.failAt("BuildTable:create_file", rocksdb.NoSpace())
	x.wantSeverity(x.flushFamilies(2), rocksdb.SeverityHardError)
	x.activate()
	x.wantRecovered()
	if x.o.Statistics.GetTickerCount(rocksdb.ErrorHandlerBGErrorCount) == 0 || x.o.Statistics.GetTickerCount(rocksdb.ErrorHandlerBGIOErrorCount) == 0 {
		t.Error("not counted")
	}
	x.must(x.full().TestGetBGError())
	x.reopenFamilies(2)
	x.wantGet(0, key(0), "val")
	x.wantGet(1, key(0), "val")
}

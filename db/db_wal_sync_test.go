// Port of db/db_wal_test.cc (what happens to the log files). Differs: a file
// system that calls back stands for the special environment.

package db_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

type walFS struct {
	rocksdb.FileSystemWrapper
	onAppend      func(name string)
	onSync        func(name string) error // before; an error is the outcome
	afterSync     func(name string)
	onPreallocate func(name string, size int)
	onDelete      func(name string) (skip bool)
	onOpen        func(name string) // for reading
	onReuse       func()
}

func (x *dbTest) walEnv(f *walFS) rocksdb.Env {
	f.FileSystem = x.fault
	return envOver(f)
}

func isWal(name string) bool { return strings.HasSuffix(name, ".log") }

func (f *walFS) wrap(name string, w rocksdb.FSWritableFile, err error) (rocksdb.FSWritableFile, error) {
	if err != nil || !isWal(name) {
		return w, err
	}
	return &walFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f, name}, nil
}

func (f *walFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystem.NewWritableFile(name, o)
	return f.wrap(name, w, err)
}

func (f *walFS) ReuseWritableFile(name, old string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if f.onReuse != nil {
		f.onReuse()
	}
	w, err := f.FileSystem.ReuseWritableFile(name, old, o)
	return f.wrap(name, w, err)
}

func (f *walFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	if f.onOpen != nil && isWal(name) {
		f.onOpen(name)
	}
	return f.FileSystem.NewSequentialFile(name, o)
}

func (f *walFS) DeleteFile(name string, o *rocksdb.IOOptions) error {
	if f.onDelete != nil && isWal(name) && f.onDelete(name) {
		return nil
	}
	return f.FileSystem.DeleteFile(name, o)
}

type walFile struct {
	rocksdb.FSWritableFileWrapper
	fs   *walFS
	name string
}

func (f *walFile) Append(data []byte, o *rocksdb.IOOptions) error {
	if f.fs.onAppend != nil {
		f.fs.onAppend(f.name)
	}
	return f.FSWritableFile.Append(data, o)
}

func (f *walFile) Sync(o *rocksdb.IOOptions) error {
	if f.fs.onSync != nil {
		if err := f.fs.onSync(f.name); err != nil {
			return err
		}
	}
	err := f.FSWritableFile.Sync(o)
	if f.fs.afterSync != nil {
		f.fs.afterSync(f.name)
	}
	return err
}

func (f *walFile) SetPreallocationBlockSize(size int) {
	if f.fs.onPreallocate != nil {
		f.fs.onPreallocate(f.name, size)
	}
	f.FSWritableFile.SetPreallocationBlockSize(size)
}

func TestDBWALTest_WALWithChecksumHandoff(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		fault := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
		options := func() rocksdb.Options {
			o := x.currentOptions()
			o.ChecksumHandoffFileTypes = o.ChecksumHandoffFileTypes.With(rocksdb.WalFile)
			o.Env = envOver(fault)
			return o
		}
		refuse := func(key, value string) {
			x.Helper()
			if err := x.putWith(1, key, value, nil); err == nil {
				x.Fatalf("put of %q as %q succeeded", key, value)
			}
		}
		fault.SetChecksumHandoffFuncType(rocksdb.CRC32c)
		x.createAndReopenWithCF([]string{"pikachu"}, options())
		x.mustPutWith(1, "foo", "v1", walOff)
		x.mustPutWith(1, "bar", "v1", walOff)
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v1")

		x.mustPutWith(1, "bar", "v2", nil)
		x.mustPutWith(1, "foo", "v2", walOff)
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		x.wantGet(1, "bar", "v2")
		x.wantGet(1, "foo", "v2")

		x.mustPutWith(1, "bar", "v3", walOff)
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		x.mustPutWith(1, "zoo", "v3", nil)
		x.must(x.db.SyncWAL())
		// The checksum handed over is of another kind than is checked.
		fault.SetChecksumHandoffFuncType(rocksdb.XXHash)
		refuse("foo", "v3")
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		if got := x.get(1, "foo"); got == "v3" {
			x.Fatal("a refused write is there")
		}
		x.wantGet(1, "zoo", "v3")
		x.wantGet(1, "bar", "v3")

		fault.SetChecksumHandoffFuncType(rocksdb.CRC32c)
		fault.IngestDataCorruptionBeforeWrite()
		x.mustPutWith(1, "bar", "v4", walOff)
		refuse("foo", "v4")
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		for _, k := range []string{"foo", "bar"} {
			if got := x.get(1, k); got == "v4" {
				x.Fatalf("a refused write of %q is there", k)
			}
		}
		fault.NoDataCorruptionBeforeWrite()

		fault.SetChecksumHandoffFuncType(rocksdb.NoChecksum)
		x.mustPutWith(1, "bar", "v5", walOff)
		x.mustPutWith(1, "foo", "v5", nil)
		x.reopenWithColumnFamilies(defaultAndPikachu, options())
		x.wantGet(1, "foo", "v5")
		x.wantGet(1, "bar", "v5")
		x.destroy(options())
	})
}

func TestDBWALTest_SyncMultipleLogs(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 4096
	x.reopen(o)
	b := rocksdb.NewWriteBatch()
	for range 2 {
		b.Clear()
		for i := range 1000 {
			x.must(b.Put([]byte(key(i)), []byte(dummyString(128, 'a'))))
		}
		x.must(x.db.Write(walSynced, b))
	}
	x.must(x.db.SyncWAL())
	for i := range 1000 {
		x.wantGet(0, key(i), dummyString(128, 'a'))
	}
}

func TestDBWALTest_SyncWalPartialFailure(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxWriteBufferNumber = 4
	o.TrackAndVerifyWALsInManifest = true
	o.MaxBGErrorResumeCount = 0
	var beforeFailure atomic.Int64
	beforeFailure.Store(1 << 40)
	o.Env = x.walEnv(&walFS{onSync: func(string) error {
		if beforeFailure.Add(-1) == -1 {
			return rocksdb.IOError("fault")
		}
		return nil
	}})
	x.reopen(o)
	// A log that is synced, one that is not, and the one that is written to.
	x.must(x.full().PauseBackgroundWork())
	x.mustPut(0, "key1", "val1")
	x.must(x.full().TestSwitchMemtable(nil))
	x.must(x.db.SyncWAL())
	x.mustPut(0, "key2", "val2")
	x.must(x.full().TestSwitchMemtable(nil))
	x.mustPut(0, "key3", "val3")

	beforeFailure.Store(1)
	for range 2 {
		if err := x.db.SyncWAL(); err == nil {
			t.Fatal("SyncWAL succeeded")
		}
	}
	if err := x.full().Resume(); err == nil {
		t.Fatal("a failure of the log can be resumed from")
	}
	x.reopen(o)
	x.wantGet(0, "key1", "val1")
	x.wantGet(0, "key2", "val2")
	x.wantGet(0, "key3", "val3")
}

func TestDBWALTest_PartOfWritesWithWALDisabled(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.createAndReopenWithCF([]string{"dummy"}, o)
	x.mustPutWith(1, "dummy", "d1", walSynced) // sequence number 1
	x.mustPutWith(1, "dummy", "d2", walOff)
	x.mustPutWith(1, "dummy", "d3", walOff)
	x.mustPutWith(0, "key", "v4", walSynced) // 4
	x.flush(0)
	x.mustPutWith(0, "key", "v5", walSynced) // 5
	x.wantGet(0, "key", "v5")
	x.must(x.db.FlushWAL(false))
	x.fault.SetFilesystemActive(false, nil)
	x.close()
	x.fault.SetFilesystemActive(true, nil)
	x.reopenWithColumnFamilies([]string{"default", "dummy"}, o)
	// It has its own number, not one counted from the log's first.
	x.wantGet(0, "key", "v5")
	if n := x.db.GetLatestSequenceNumber(); n != 5 {
		t.Errorf("latest sequence number is %d, not 5", n)
	}
}

func TestDBWALTest_WALWriteErrorNoRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.ManualWALFlush = true
	x.destroyAndReopen(o)
	x.fault.SetErrorContext(fsutil.FaultInjectionWrite, 7, 1, true, false)
	x.fault.EnableErrorInjection(fsutil.FaultInjectionWrite)
	x.mustPut(0, "k", "v")
	if err := x.db.FlushWAL(false); !rocksdb.IsIOError(err) {
		t.Fatalf("FlushWAL: %v", err)
	}
	err := x.full().TestGetBGError()
	if err == nil || rocksdb.AsStatus(err).Severity != rocksdb.SeverityFatalError {
		t.Errorf("background error %v", err)
	}
	if x.full().TestIsRecoveryInProgress() {
		t.Error("a recovery is running")
	}
	x.fault.DisableErrorInjection(fsutil.FaultInjectionWrite)
	x.destroy(o)
}

func TestDBWALTest_SyncWALNotBlockWrite(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxWriteBufferNumber = 4
	reached, release := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	o.Env = x.walEnv(&walFS{onSync: func(string) error {
		if hold.CompareAndSwap(true, false) {
			close(reached)
			<-release
		}
		return nil
	}})
	x.destroyAndReopen(o)
	x.mustPut(0, "foo1", "bar1")
	x.mustPut(0, "foo5", "bar5")
	hold.Store(true)
	synced := make(chan error, 1)
	go func() { synced <- x.db.SyncWAL() }()
	<-reached
	x.mustPut(0, "foo2", "bar2")
	x.mustPut(0, "foo3", "bar3")
	x.must(x.cf(0).Flush(&rocksdb.FlushOptions{Wait: false}))
	x.mustPut(0, "foo4", "bar4")
	close(release)
	x.must(<-synced)
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		x.wantGet(0, "foo"+n, "bar"+n)
	}
}

func TestDBWALTest_SyncWALNotWaitWrite(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	// The write is held within its append to the log.
	reached, release := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	o.Env = x.walEnv(&walFS{onAppend: func(string) {
		if hold.CompareAndSwap(true, false) {
			close(reached)
			<-release
		}
	}})
	x.reopen(o)
	x.mustPut(0, "foo1", "bar1")
	x.mustPut(0, "foo3", "bar3")
	hold.Store(true)
	wrote := make(chan error, 1)
	go func() { wrote <- x.put(0, "foo2", "bar2") }()
	<-reached
	synced := make(chan error, 1)
	go func() { synced <- x.db.SyncWAL() }()
	select {
	case err := <-synced:
		x.must(err)
	case <-time.After(20 * time.Second):
		t.Error("SyncWAL waits for a write")
	}
	close(release)
	x.must(<-wrote)
	x.wantGet(0, "foo1", "bar1")
	x.wantGet(0, "foo2", "bar2")
}

func TestSyncWALCoversWritesDuringSync(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxWriteBufferNumber = 4
	o.AvoidFlushDuringShutdown = true
	reached, release := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	var syncs atomic.Int64
	o.Env = x.walEnv(&walFS{afterSync: func(string) {
		syncs.Add(1)
		if hold.CompareAndSwap(true, false) {
			close(reached)
			<-release
		}
	}})
	x.reopen(o)
	x.must(x.full().PauseBackgroundWork())
	x.mustPut(0, "before", "v")
	hold.Store(true)
	synced := make(chan error, 1)
	go func() { synced <- x.db.SyncWAL() }()
	<-reached
	x.mustPut(0, "during", "v")
	x.must(x.full().TestSwitchMemtable(nil))
	x.mustPut(0, "after", "v")
	close(release)
	x.must(<-synced)
	before := syncs.Load()
	x.must(x.db.SyncWAL())
	if n := syncs.Load() - before; n != 2 {
		t.Errorf("%d logs were synced, not 2", n)
	}
	x.must(x.full().ContinueBackgroundWork())
}

func TestDBWALTest_PreallocateBlock(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 10 * 1000 * 1000
	var calls atomic.Int64
	var want atomic.Int64
	o.Env = x.walEnv(&walFS{onPreallocate: func(name string, size int) {
		calls.Add(1)
		if int64(size) != want.Load() {
			t.Errorf("%s is preallocated by %d bytes, not %d", name, size, want.Load())
		}
	}})
	x.destroy(x.last)
	check := func(bytes int64) {
		t.Helper()
		want.Store(bytes)
		calls.Store(0)
		x.reopen(o)
		x.mustPut(0, "", "")
		x.flush(0)
		x.mustPut(0, "", "")
		x.close()
		if n := calls.Load(); n != 2 {
			t.Errorf("%d logs were made, not 2", n)
		}
	}
	check(11 * 1000 * 1000)
	o.MaxTotalWALSize = 1000 * 1000
	check(1000 * 1000)
	o.DBWriteBufferSize = 800 * 1000
	check(800 * 1000)
	o.WriteBufferManager = memtable.NewWriteBufferManager(700*1000, nil, false)
	check(700 * 1000)
}

func TestDBWALTest_FullPurgePreservesLogPendingReuse(t *testing.T) {
	for _, ownDir := range []bool{false, true} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.RecycleLogFileNum = 1
		o.WALRecoveryMode = rocksdb.PointInTimeRecovery
		if ownDir {
			o.WALDir = x.dir + "_wal"
		}
		var purges atomic.Int64
		o.Env = x.walEnv(&walFS{onReuse: func() {
			// The log is chosen, and not renamed yet: a full purge leaves it.
			purges.Add(1)
			x.must(x.full().EnableFileDeletions())
		}})
		x.destroyAndReopen(o)
		for range 2 {
			x.mustPut(0, "foo", "bar")
			x.flush(0)
			x.must(x.full().TestWaitForBackgroundWork())
		}
		x.mustPut(0, "foo", "bar2")
		x.wantGet(0, "foo", "bar2")
		if purges.Load() == 0 {
			t.Error("no log was used again")
		}
		x.reopen(o)
		x.wantGet(0, "foo", "bar2")
	}
}

func TestDBWALTestWithEnrichedEnv_SkipDeletedWALs(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Allow2PC = true
	o.WriteBufferSize = 128
	var mu sync.Mutex
	var skipped, largest string
	var deleted int
	var reopened, gap bool
	o.Env = x.walEnv(&walFS{
		onDelete: func(name string) (skip bool) {
			mu.Lock()
			defer mu.Unlock()
			deleted++
			if skipped == "" || skipped == name {
				skipped = name
				return true
			}
			largest = max(largest, name)
			return false
		},
		onOpen: func(name string) {
			mu.Lock()
			defer mu.Unlock()
			if name == skipped {
				reopened = true
				gap = gap || name <= largest
			}
		}})
	x.reopen(o)
	for range 128 * 5 {
		x.mustPut(0, "foo", "v1")
	}
	x.flush(0)
	x.must(x.full().TestWaitForBackgroundWork())
	mu.Lock()
	if deleted == 0 || skipped == "" {
		t.Fatalf("%d logs deleted, %q left", deleted, skipped)
	}
	reopened, gap = false, false
	mu.Unlock()
	x.reopen(o)
	mu.Lock()
	defer mu.Unlock()
	if reopened || gap {
		t.Errorf("log %s was read again (a gap: %t)", skipped, gap)
	}
}

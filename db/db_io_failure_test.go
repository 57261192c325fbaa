// Port of db/db_io_failure_test.cc (DBIOFailureTest; DBIOCorruptionTest is in
// db_io_corruption_syncpoint_test.go). Differs: SpecialEnv's
// failures are those of a file system of this file.

package db_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
)

// failureFS fails writes by the kind of file.
type failureFS struct {
	rocksdb.FileSystemWrapper
	dropWrites, noSpace, nonWritable, manifestSync, manifestWrite, logWrite atomic.Bool
	// tableOp, unless it is empty, is the operation of a table that fails once.
	tableOp atomic.Value
	failed  atomic.Int32
}

const dummyError = "dummy error"

type failureFile struct {
	rocksdb.FSWritableFileWrapper
	fs   *failureFS
	kind string // of file
}

func (f *failureFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if f.nonWritable.Load() {
		return nil, rocksdb.IOError("simulated write error")
	}
	w, err := f.Target().NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	kind := filepath.Ext(name)
	if strings.HasPrefix(filepath.Base(name), "MANIFEST") {
		kind = "MANIFEST"
	}
	return &failureFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f, kind}, nil
}

// table gives the error of a table's operation.
func (f *failureFile) table(op string) error {
	if f.kind == ".sst" && f.fs.tableOp.Load() == op && f.fs.failed.Add(1) == 1 {
		return rocksdb.IOError(op + " " + dummyError)
	}
	return nil
}

func (f *failureFile) Append(data []byte, o *rocksdb.IOOptions) error {
	switch fs := f.fs; {
	case f.kind == ".sst" && fs.dropWrites.Load():
		return nil
	case f.kind == ".sst" && fs.noSpace.Load():
		return rocksdb.NoSpace("No space left on device")
	case f.kind == "MANIFEST" && fs.manifestWrite.Load(), f.kind == ".log" && fs.logWrite.Load():
		return rocksdb.IOError("simulated writer error")
	}
	return f.FSWritableFile.Append(data, o)
}

func (f *failureFile) AppendWithVerification(data []byte, o *rocksdb.IOOptions, _ rocksdb.DataVerificationInfo) error {
	return f.Append(data, o)
}

func (f *failureFile) Sync(o *rocksdb.IOOptions) error {
	if f.kind == "MANIFEST" && f.fs.manifestSync.Load() {
		return rocksdb.IOError("simulated sync error")
	}
	if err := f.table("sync"); err != nil {
		return err
	}
	return f.FSWritableFile.Sync(o)
}

func (f *failureFile) Close(o *rocksdb.IOOptions) error {
	if err := f.FSWritableFile.Close(o); err != nil {
		return err
	}
	return f.table("close")
}

func (f *failureFile) RangeSync(offset, n uint64, o *rocksdb.IOOptions) error {
	if err := f.table("range sync"); err != nil {
		return err
	}
	return f.FSWritableFile.RangeSync(offset, n, o)
}

// sleepCounter counts sleeps instead of sleeping.
type sleepCounter struct {
	rocksdb.SystemClockWrapper
	n atomic.Int32
}

func (c *sleepCounter) Name() string { return "SleepCounter" }

func (c *sleepCounter) SleepForMicroseconds(int) { c.n.Add(1) }

type failureTest struct {
	*dbTest
	fs    *failureFS
	clock *sleepCounter
}

func newFailureTest(t *testing.T) *failureTest {
	x := &failureTest{dbTest: newDBTest(t)}
	x.fs = &failureFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
	x.clock = &sleepCounter{SystemClockWrapper: rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}}
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fs, x.clock)
	return x
}

// eachCompactOptions runs f with each configuration of compactions.
func eachCompactOptions(t *testing.T, f func(x *failureTest)) {
	x := newFailureTest(t)
	x.reopen(x.currentOptions())
	for f(x); x.changeCompactOptions(); {
		f(x)
	}
}

func (x *failureTest) wantBackgroundErrors(want uint64) {
	x.Helper()
	if n := x.intProperty(0, "rocksdb.background-errors"); n != want {
		x.Fatalf("%d background errors, not %d", n, want)
	}
}

func (x *failureTest) allFiles() int {
	x.Helper()
	list, err := os.ReadDir(x.dir)
	x.must(err)
	return len(list)
}

func TestDBIOFailureTest_DropWrites(t *testing.T) {
	eachCompactOptions(t, func(x *failureTest) {
		o := x.currentOptions()
		o.ParanoidChecks = false
		x.reopen(o)
		x.mustPut(0, "foo", "v1")
		x.wantGet(0, "foo", "v1")
		x.compact(0, "a", "z")
		files := x.allFiles()
		x.fs.dropWrites.Store(true)
		x.clock.n.Store(0)
		check := func(err error) {
			t.Helper()
			if err != nil && !rocksdb.IsCorruption(err) {
				t.Fatal(err)
			}
		}
		for range 5 {
			if x.config == configUniversalCompactionMultiLevel || x.config == configUniversalSubcompactions {
				check(x.db.CompactRange(nil, nil, nil))
				continue
			}
			levels := x.full().TestCFD(nil).NumberLevels()
			for level := range levels {
				if level > 0 && level == levels-1 {
					break
				}
				check(x.full().TestCompactRange(level, nil, nil, nil, true))
			}
		}
		x.wantBackgroundErrors(5)
		x.fs.dropWrites.Store(false)
		if n := x.allFiles(); n >= files+3 {
			t.Errorf("%d files after %d", n, files)
		}
		if n := x.clock.n.Load(); n < 4 {
			t.Errorf("%d sleeps", n)
		}
	})
}

func TestDBIOFailureTest_DropWritesFlush(t *testing.T) {
	eachCompactOptions(t, func(x *failureTest) {
		o := x.currentOptions()
		o.MaxBackgroundFlushes = 1
		x.reopen(o)
		x.mustPut(0, "foo", "v1")
		x.fs.dropWrites.Store(true)
		x.wantBackgroundErrors(0)
		if err := x.full().TestFlushMemTable(true, false, nil); !rocksdb.IsCorruption(err) {
			t.Fatal(err)
		}
		x.wantBackgroundErrors(1)
		x.fs.dropWrites.Store(false)
	})
}

func TestDBIOFailureTest_NoSpaceCompactRange(t *testing.T) {
	eachCompactOptions(t, func(x *failureTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.reopen(o)
		for i := range 5 {
			x.mustPut(0, key(i), key(i)+"v")
			x.flush(0)
		}
		x.fs.noSpace.Store(true)
		if err := x.full().TestCompactRange(0, nil, nil, nil, true); !rocksdb.IsNoSpace(err) || !rocksdb.IsIOError(err) {
			t.Fatal(err)
		}
		x.fs.noSpace.Store(false)
	})
}

func TestDBIOFailureTest_NonWritableFileSystem(t *testing.T) {
	eachCompactOptions(t, func(x *failureTest) {
		o := x.currentOptions()
		o.WriteBufferSize, o.ArenaBlockSize = 4096, 4096
		x.reopen(o)
		x.mustPut(0, "foo", "v1")
		x.fs.nonWritable.Store(true)
		failures := 0
		for range 20 {
			if x.put(0, "foo", dummyString(100000, 'x')) != nil {
				failures++
			}
		}
		if failures == 0 {
			t.Error("all written")
		}
		x.fs.nonWritable.Store(false)
	})
}

// A MANIFEST that may name a compaction's file keeps it from being deleted.
func TestDBIOFailureTest_ManifestWriteError(t *testing.T) {
	for _, atSync := range []bool{true, false} {
		x := newFailureTest(t)
		failure := &x.fs.manifestWrite
		if atSync {
			failure = &x.fs.manifestSync
		}
		const last = 2
		o := x.currentOptions()
		o.ParanoidChecks = true
		x.destroyAndReopen(o)
		x.mustPut(0, "foo", "bar")
		x.flush(0)
		x.wantGet(0, "foo", "bar")
		x.moveFilesToLevel(last, 0)
		x.wantFiles(0, "0,0,1")
		failure.Store(true)
		if x.full().TestCompactRange(last, nil, nil, nil, false) == nil {
			t.Error("compacted")
		}
		x.wantGet(0, "foo", "bar")
		failure.Store(false)
		if x.put(0, "foo2", "bar2") == nil {
			t.Error("written")
		}
		x.wantGet(0, "foo", "bar")
		o.ParanoidChecks = false
		x.reopen(o)
		failure.Store(true)
		if err := x.full().TestCompactRange(last, nil, nil, nil, false); atSync && err != nil || !atSync && !rocksdb.IsIOError(err) {
			t.Errorf("sync %v: %v", atSync, err)
		}
		x.wantGet(0, "foo", "bar")
		failure.Store(false)
		x.reopen(o)
		x.wantGet(0, "foo", "bar")
		x.mustPut(0, "foo2", "bar2")
		x.wantGet(0, "foo", "bar")
		x.wantGet(0, "foo2", "bar2")
	}
}

func TestDBIOFailureTest_PutFailsParanoid(t *testing.T) {
	for _, paranoid := range []bool{true, false} {
		x := newFailureTest(t)
		o := x.currentOptions()
		o.ParanoidChecks = paranoid
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.mustPut(1, "foo", "bar")
		x.mustPut(1, "foo1", "bar1")
		x.fs.logWrite.Store(true)
		if x.put(1, "foo2", "bar2") == nil {
			t.Error("written")
		}
		x.fs.logWrite.Store(false)
		if err := x.put(1, "foo3", "bar3"); (err == nil) == paranoid {
			t.Errorf("paranoid %v: %v", paranoid, err)
		}
		x.wantGet(1, "foo", "bar")
	}
}

func (x *failureTest) failTable(op string) { x.fs.tableOp.Store(op) }

// wantTableError checks the error of a table's operation, and that nothing is
// written after it.
func (x *failureTest) wantTableError(err error) {
	x.Helper()
	if !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), dummyError) {
		x.Fatal(err)
	}
	if x.put(1, "foo2", "bar3") == nil {
		x.Error("written")
	}
}

func (x *failureTest) pikachu(o rocksdb.Options) {
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
}

func (x *failureTest) putAll(kv ...string) {
	x.Helper()
	for i := 0; i < len(kv); i += 2 {
		x.mustPut(1, kv[i], kv[i+1])
	}
}

func (x *failureTest) rangeSyncOptions() rocksdb.Options {
	o := x.currentOptions()
	o.ParanoidChecks = true
	o.WriteBufferSize, o.WritableFileMaxBufferSize, o.BytesPerSync = 256<<20, 128<<10, 128<<10
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	return o
}

func TestDBIOFailureTest_FlushSstRangeSyncError(t *testing.T) {
	x := newFailureTest(t)
	o := x.rangeSyncOptions()
	o.MemtableFactory = newSpecialSkipListFactory(10)
	x.pikachu(o)
	x.failTable("range sync")
	rnd := util.NewRandom(301)
	s, large := rnd.RandomString(64<<10), rnd.RandomString(512<<10)
	x.putAll("foo", "bar", "foo0_0", large, "foo0_1", large, "foo1_1", s, "foo1_2", s, "foo1_3", s, "foo2", "bar", "foo3_1", s, "foo3_2", s,
		"foo3_3", s)
	_ = x.put(1, "foo4", "bar") // it may see the error already
	x.wantTableError(x.full().TestWaitForFlushMemTable(x.cf(1).Impl()))
	x.wantGet(1, "foo", "bar")
	x.failTable("")
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.wantGet(1, "foo", "bar")
}

func (x *failureTest) compactPikachu() error {
	x.Helper()
	x.must(x.cf(1).SetOptions(map[string]string{"disable_auto_compactions": "false"}))
	return x.full().TestWaitForCompact()
}

func TestDBIOFailureTest_CompactSstRangeSyncError(t *testing.T) {
	x := newFailureTest(t)
	o := x.rangeSyncOptions()
	o.Level0FileNumCompactionTrigger, o.TargetFileSizeBase, o.DisableAutoCompactions = 2, 256<<20, true
	x.pikachu(o)
	rnd := util.NewRandom(301)
	s, large := rnd.RandomString(64<<10), rnd.RandomString(512<<10)
	x.putAll("foo", "bar", "foo0_0", large, "foo0_1", large, "foo1_1", s, "foo1_2", s, "foo1_3", s)
	x.flush(1)
	x.putAll("foo", "bar", "foo3_1", s, "foo3_2", s, "foo3_3", s, "foo4", "bar")
	x.flush(1)
	x.failTable("range sync")
	x.wantTableError(x.compactPikachu())
	x.wantGet(1, "foo", "bar")
	x.failTable("")
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.wantGet(1, "foo", "bar")
}

func flushTableFails(t *testing.T, op string) {
	x := newFailureTest(t)
	o := x.currentOptions()
	o.ParanoidChecks, o.UseFsync = true, false
	o.Level0FileNumCompactionTrigger = 4
	o.MemtableFactory = newSpecialSkipListFactory(2)
	x.pikachu(o)
	x.failTable(op)
	x.putAll("foo", "bar", "foo1", "bar1")
	value := "bar2"
	if x.put(1, "foo", value) != nil {
		value = "bar" // it saw the error already
	}
	x.wantTableError(x.full().TestWaitForFlushMemTable(x.cf(1).Impl()))
	x.failTable("")
	for range 2 {
		x.wantGet(1, "foo", value)
		x.wantGet(1, "foo1", "bar1")
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	}
}

func TestDBIOFailureTest_FlushSstCloseError(t *testing.T) { flushTableFails(t, "close") }

func TestDBIOFailureTest_FlushSstSyncError(t *testing.T) { flushTableFails(t, "sync") }

func compactionTableFails(t *testing.T, op string) {
	x := newFailureTest(t)
	o := x.currentOptions()
	o.ParanoidChecks, o.UseFsync = true, false
	o.Level0FileNumCompactionTrigger, o.DisableAutoCompactions = 2, true
	x.pikachu(o)
	for _, v := range []string{"bar", "bar2", "bar3"} {
		x.putAll("foo", v, "foo2", "bar")
		x.flush(1)
	}
	x.must(x.full().TestWaitForCompact())
	x.failTable(op)
	x.wantTableError(x.compactPikachu())
	x.wantGet(1, "foo", "bar3")
	x.failTable("")
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.wantGet(1, "foo", "bar3")
}

func TestDBIOFailureTest_CompactionSstCloseError(t *testing.T) { compactionTableFails(t, "close") }

func TestDBIOFailureTest_CompactionSstSyncError(t *testing.T) { compactionTableFails(t, "sync") }

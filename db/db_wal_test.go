// Port of db/db_wal_test.cc. Differs: what needs sync points is in
// db_wal_syncpoint_test.go, recovery from damage in db_wal_recovery_test.go.

package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

var (
	defaultAndPikachu = []string{"default", "pikachu"}
	walOff            = &rocksdb.WriteOptions{DisableWAL: true}
	walSynced         = &rocksdb.WriteOptions{Sync: true}
)

// eachWalOptions runs f with a fresh database of each configuration that
// matters to logs.
func eachWalOptions(t *testing.T, f func(x *dbTest)) {
	x := newDBTest(t)
	for f(x); x.changeWalOptions(); {
		f(x)
	}
}

// putWith writes with write options.
func (x *dbTest) putWith(cf int, key, value string, wo *rocksdb.WriteOptions) error {
	return x.cf(cf).Put(wo, []byte(key), []byte(value))
}

func (x *dbTest) mustPutWith(cf int, key, value string, wo *rocksdb.WriteOptions) {
	x.Helper()
	x.must(x.putWith(cf, key, value, wo))
}

// wals lists the logs, oldest first.
func (x *dbTest) wals() []rocksdb.LogFile {
	x.Helper()
	list, err := x.full().GetSortedWalFiles()
	x.must(err)
	return list
}

func (x *dbTest) wantWals(want int) {
	x.Helper()
	if got := x.wals(); len(got) != want {
		x.Fatalf("%d logs, not %d: %v", len(got), want, got)
	}
}

// walNumbers lists the numbers of the log files, rising.
func (x *dbTest) walNumbers() (out []uint64) {
	x.Helper()
	for _, path := range x.files(rocksdb.WalFile) {
		p, _ := filename.ParseFileName(filepath.Base(path), "")
		out = append(out, p.Number)
	}
	return out
}

func (x *dbTest) writeWal(number uint64, contents string) {
	x.Helper()
	x.must(os.WriteFile(filename.LogFileName(x.dir, number), []byte(contents), 0o644))
}

// wantTables checks how many tables each of the families has.
func (x *dbTest) wantTables(want ...int) {
	x.Helper()
	for cf, n := range want {
		if got := x.totalTableFiles(cf); got != n {
			x.Fatalf("family %d has %d tables, not %d", cf, got, n)
		}
	}
}

func (x *dbTest) waitForFlush(cf int) {
	x.Helper()
	x.must(x.full().TestWaitForFlushMemTable(x.cf(cf).Impl()))
}

// envOver makes an environment with another file system.
func envOver(fs rocksdb.FileSystem) rocksdb.Env {
	return env.NewCompositeEnvWrapper(env.Default(), fs, nil)
}

func TestDBWALTest_WAL(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		if x.config == configRecycleLogFiles {
			// Upstream sanitizes recycling away in this recovery mode, and so do we.
			if n := x.full().GetDBOptions().RecycleLogFileNum; n != 0 {
				x.Fatalf("%d logs are recycled", n)
			}
		}
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPutWith(1, "foo", "v1", walOff)
		x.mustPutWith(1, "bar", "v1", walOff)
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v1")

		x.mustPutWith(1, "bar", "v2", nil)
		x.mustPutWith(1, "foo", "v2", walOff)
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "bar", "v2")
		x.wantGet(1, "foo", "v2")

		x.mustPutWith(1, "bar", "v3", walOff)
		x.mustPutWith(1, "foo", "v3", nil)
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "foo", "v3")
		x.wantGet(1, "bar", "v3")
	})
}

func TestDBWALTest_RollLog(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.mustPut(1, "baz", "v5")
		for range 4 {
			x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		}
		x.mustPut(1, "foo", "v4")
		for range 4 {
			x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		}
		x.wantGet(1, "foo", "v4")
		x.wantGet(1, "baz", "v5")
	})
}

func TestDBWALTest_Recover(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.mustPut(1, "baz", "v5")
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "baz", "v5")
		x.mustPut(1, "bar", "v2")
		x.mustPut(1, "foo", "v3")
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "foo", "v3")
		x.mustPut(1, "foo", "v4")
		x.wantGet(1, "foo", "v4")
		x.wantGet(1, "bar", "v2")
		x.wantGet(1, "baz", "v5")
	})
}

func TestDBWALTest_LockWal(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.destroyAndReopen(x.currentOptions())
		x.mustPut(0, "foo", "v")
		x.mustPut(0, "bar", "v")
		x.must(x.full().LockWAL())
		err := x.putWith(0, "foo", "dontcare", &rocksdb.WriteOptions{NoSlowdown: true})
		if !errors.Is(err, rocksdb.ErrIncomplete) {
			x.Fatalf("put while locked: %v", err)
		}
		if len(x.wals()) == 0 {
			x.Fatal("no logs")
		}
		flushed := make(chan error, 1)
		go func() {
			o := rocksdb.DefaultFlushOptions()
			flushed <- x.cf(0).Flush(&o)
		}()
		if err := x.cf(0).Flush(&rocksdb.FlushOptions{Wait: false}); !errors.Is(err, rocksdb.ErrTryAgain) {
			x.Fatalf("flush while locked: %v", err)
		}
		x.must(x.full().UnlockWAL())
		x.mustPutWith(0, "foo", "dontcare", nil)
		x.must(<-flushed)
	})
}

func copyFiles(x *dbTest, from, to string, names []string) {
	x.Helper()
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(from, n))
		x.must(err)
		x.must(os.WriteFile(filepath.Join(to, n), data, 0o644))
	}
}

func TestDBWALTest_IgnoreRecoveredLog(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		backup := x.TempDir()
		o := x.currentOptions()
		m, err := mergeoperators.New("uint64add")
		x.must(err)
		o.MergeOperator = m
		o.WALDir = filepath.Join(x.dir, "logs")
		x.destroyAndReopen(o)

		one := string(util.AppendFixed64(nil, 1))
		two := string(util.AppendFixed64(nil, 2))
		wantBoth := func() {
			x.Helper()
			x.wantGet(0, "foo", two)
			x.wantGet(0, "bar", one)
		}
		x.mustMerge(0, "foo", one)
		x.mustMerge(0, "foo", one)
		x.mustMerge(0, "bar", one)
		entries, err := os.ReadDir(o.WALDir)
		x.must(err)
		var logs []string
		for _, e := range entries {
			logs = append(logs, e.Name())
		}
		copyFiles(x, o.WALDir, backup, logs)

		x.reopen(o)
		wantBoth()
		x.close()
		// Logs that were replayed before are not replayed again.
		copyFiles(x, backup, o.WALDir, logs)
		x.reopen(o)
		wantBoth()
		x.destroy(o)
		x.reopen(o)
		x.close()
		// They are in a database that knows nothing of them.
		x.must(os.MkdirAll(o.WALDir, 0o755))
		copyFiles(x, backup, o.WALDir, logs)
		x.reopen(o)
		wantBoth()
		x.destroy(o)
		// A new database does not take logs that are there.
		x.must(os.MkdirAll(o.WALDir, 0o755))
		copyFiles(x, backup, o.WALDir, logs)
		if err := x.tryReopen(o); err == nil {
			x.Fatal("a new database was made beside logs")
		}
		x.must(os.RemoveAll(x.dir))
	})
}

func TestDBWALTest_RecoveryWithEmptyLog(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.mustPut(1, "foo", "v2")
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.mustPut(1, "foo", "v3")
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		x.wantGet(1, "foo", "v3")
	})
}

func TestDBWALTest_FullPurgePreservesRecycledLog(t *testing.T) {
	for _, ownDir := range []bool{false, true} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.RecycleLogFileNum = 2
		o.WALRecoveryMode = rocksdb.PointInTimeRecovery
		dir := x.dir
		if ownDir {
			dir = x.dir + "_wal"
			o.WALDir = dir
		}
		x.destroyAndReopen(o)
		x.mustPut(0, "foo", "v1")
		logs := x.wals()
		if len(logs) == 0 {
			t.Fatal("no logs")
		}
		x.flush(0)
		// The first log waits to be used again; a full purge leaves it.
		x.full().TestDeleteObsoleteFiles()
		if _, err := os.Stat(filename.LogFileName(dir, logs[0].LogNumber)); err != nil {
			t.Error(err)
		}
	}
}

func TestDBWALTest_GetSortedWalFiles(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.wantWals(0)
		x.mustPut(1, "foo", "v1")
		x.wantWals(1)
	})
}

func TestDBWALTest_GetCurrentWalFile(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		current := func() rocksdb.LogFile {
			x.Helper()
			l, err := x.full().GetCurrentWalFile()
			x.must(err)
			if l.StartSequence != 0 || l.Type != rocksdb.AliveLogFile || l.LogNumber == 0 {
				x.Fatalf("%+v", l)
			}
			return l
		}
		first := current()
		if first.SizeFileBytes != 0 {
			x.Fatalf("nothing written, but %d bytes", first.SizeFileBytes)
		}
		for _, k := range []string{"foo", "foo2", "foo3"} {
			x.mustPut(0, k, "v")
		}
		if l := current(); l.SizeFileBytes == 0 {
			x.Fatalf("%+v", l)
		}
		for range 4 {
			x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		}
		for _, k := range []string{"foo4", "foo5", "foo6"} {
			x.mustPut(0, k, "v")
		}
		if l := current(); l.SizeFileBytes == 0 || l.LogNumber <= first.LogNumber {
			x.Fatalf("%+v after %+v", l, first)
		}
	})
}

func TestDBWALTest_RecoveryWithLogDataForSomeCFs(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.mustPut(1, "foo", "v2")
		earliest := func() uint64 {
			if l := x.wals(); len(l) > 0 {
				return l[0].LogNumber
			}
			return ^uint64(0)
		}
		before := earliest()
		x.reopenWithColumnFamilies(defaultAndPikachu, x.currentOptions())
		if after := earliest(); before >= after {
			x.Fatalf("log %d is still there", after)
		}
	})
}

func TestDBWALTest_RecoverWithLargeLog(t *testing.T) {
	eachWalOptions(t, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		values := map[string]string{"big1": dummyString(200000, '1'), "big2": dummyString(200000, '2'),
			"small3": dummyString(10, '3'), "small4": dummyString(10, '4')}
		for _, k := range []string{"big1", "big2", "small3", "small4"} {
			x.mustPut(1, k, values[k])
		}
		if n := x.numTableFilesAtLevel(0, 1); n != 0 {
			x.Fatalf("%d tables", n)
		}
		// A small write buffer makes the replay flush within the log.
		o := x.currentOptions()
		o.WriteBufferSize = 100000
		x.reopenWithColumnFamilies(defaultAndPikachu, o)
		if n := x.numTableFilesAtLevel(0, 1); n != 3 {
			x.Fatalf("%d tables, not 3", n)
		}
		for k, v := range values {
			x.wantGet(1, k, v)
		}
	})
}

func TestDBWALTest_RecoverCheckFileAmountWithSmallWriteBuffer(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 5000000
	names := []string{"pikachu", "dobrynia", "nikitich"}
	x.createAndReopenWithCF(names, o)
	for range 4 {
		x.mustPut(1, key(10), dummyString(1000000, 'a'))
	}
	x.mustPut(3, key(10), "a")
	// dobrynia is flushed, and a new log begins.
	x.mustPut(2, key(10), dummyString(7500000, 'a'))
	x.mustPut(2, key(1), "a")
	x.waitForFlush(2)
	if n := x.countFiles(rocksdb.TableFile); n != 1 {
		t.Fatalf("%d tables, not 1", n)
	}
	x.wantTables(0, 0, 1, 0)
	for range 2 {
		x.mustPut(1, key(1), "a")
	}
	for range 3 {
		x.mustPut(3, key(10), "a")
	}
	o.WriteBufferSize = 4096
	o.ArenaBlockSize = 4096
	o.DisableAutoCompactions = true // else pikachu's tables are compacted while they are counted
	x.reopenWithColumnFamilies(append([]string{"default"}, names...), o)
	// pikachu: each large value in a table of its own, the small ones together.
	x.wantTables(0, 5, 2, 1)
}

func TestDBWALTest_RecoverCheckFileAmount(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	o.ArenaBlockSize = 4 << 10
	o.AvoidFlushDuringRecovery = false
	names := []string{"pikachu", "dobrynia", "nikitich"}
	x.createAndReopenWithCF(names, o)
	small := func() {
		for cf := range 3 {
			x.mustPut(cf, key(1), "a")
		}
	}
	fill := func(tables int) {
		x.mustPut(3, key(10), dummyString(1002400, 'a'))
		x.mustPut(3, key(1), "a")
		x.waitForFlush(3)
		small()
		if n := x.countFiles(rocksdb.TableFile); n != tables {
			t.Fatalf("%d tables, not %d", n, tables)
		}
		x.wantTables(0, 0, 0, tables)
	}
	small()
	fill(1)
	fill(2)
	x.reopenWithColumnFamilies(append([]string{"default"}, names...), o)
	// What three logs hold of a family went into one table.
	x.wantTables(1, 1, 1, 3)
}

// missingWalFS lists no logs while missing is set.
type missingWalFS struct {
	rocksdb.FileSystemWrapper
	missing atomic.Bool
}

func (f *missingWalFS) GetChildren(dir string, o *rocksdb.IOOptions) ([]string, error) {
	names, err := f.FileSystem.GetChildren(dir, o)
	if !f.missing.Load() {
		return names, err
	}
	var out []string
	for _, n := range names {
		if !strings.HasSuffix(n, ".log") {
			out = append(out, n)
		}
	}
	return out, err
}

func TestDBWALTest_WalInManifestButNotInSortedWals(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TrackAndVerifyWALsInManifest = true
	o.WALRecoveryMode = rocksdb.AbsoluteConsistency
	fs := &missingWalFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
	o.Env = envOver(fs)
	x.createAndReopenWithCF([]string{"blah"}, o)
	x.mustPut(0, "x", "y")
	x.must(x.db.SyncWAL())
	x.mustPut(1, "x", "y")
	x.must(x.db.SyncWAL())
	x.flush(1)
	if len(x.full().Versions().GetWalSet().GetWals()) == 0 {
		t.Fatal("no log is in the MANIFEST")
	}
	x.wals()
	fs.missing.Store(true)
	if _, err := x.full().GetSortedWalFiles(); err == nil {
		t.Error("a log that the MANIFEST names is missing unnoticed")
	}
	fs.missing.Store(false)
}

func TestDBWALTest_WalTermTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.mustPut(1, "foo", "bar")
	b := rocksdb.NewWriteBatch()
	x.must(b.Put([]byte("foo"), []byte("bar")))
	b.MarkWalTerminationPoint()
	x.must(b.Put([]byte("foo2"), []byte("bar2")))
	x.must(x.db.Write(walSynced, b))
	x.reopenWithColumnFamilies(defaultAndPikachu, o)
	x.wantGet(1, "foo", "bar")
	x.wantGet(1, "foo2", "NOT_FOUND")
	x.wantGet(0, "foo", "bar")
	x.wantGet(0, "foo2", "NOT_FOUND") // after the mark: not in the log
}

func TestDBWALTest_GetCompressedWalsAfterSync(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	o.AvoidFlushDuringRecovery = true
	o.TrackAndVerifyWALsInManifest = true
	o.WALCompression = rocksdb.ZSTD
	x.destroyAndReopen(o)
	x.mustPut(0, "a", "v")
	x.reopen(o)
	x.must(x.full().TestSwitchWAL())
	x.mustPut(0, "b", "v")
	x.must(x.db.SyncWAL())
	x.wals()
	x.reopen(o)
	x.wantGet(0, "a", "v")
	x.wantGet(0, "b", "v")
}

func TestDBWALTest_EmptyWalReopenTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.reopenWithColumnFamilies(defaultAndPikachu, o)
	if n := x.countFiles(rocksdb.WalFile); n != 1 {
		t.Errorf("%d log files, not 1", n)
	}
}

func TestDBWALTest_ReadOnlyErrorIfWalFileExistsIgnoresEmptyWals(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.close()
	empty := uint64(1)
	if n := x.walNumbers(); len(n) > 0 {
		empty = n[len(n)-1] + 1
	}
	x.writeWal(empty, "")
	open := func() error {
		d, cfs, err := rocksdb.OpenColumnFamiliesForReadOnly(x.dir, o.DBOptions, descriptors([]string{"default"}, []rocksdb.Options{o}), true)
		if err != nil {
			return err
		}
		for _, c := range cfs {
			x.must(c.Close())
		}
		x.must(d.Close())
		return nil
	}
	x.must(open())
	x.writeWal(empty+1, "not empty")
	if err := open(); err == nil {
		t.Error("opened beside a log with data")
	}
}

func TestDBWALTest_RecoveryToleratesEmptyFutureWal(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TrackAndVerifyWALs = true
	o.TrackAndVerifyWALsInManifest = true
	o.AvoidFlushDuringRecovery = true
	x.destroyAndReopen(o)
	x.mustPut(0, "key", "value")
	x.close()
	n := x.walNumbers()
	if len(n) == 0 {
		t.Fatal("no log")
	}
	x.writeWal(n[len(n)-1]+1, "")
	x.reopen(o)
	x.wantGet(0, "key", "value")
	x.mustPut(0, "after-recovery", "value2")
	x.wantGet(0, "after-recovery", "value2")
	x.reopen(o)
	x.wantGet(0, "key", "value")
	x.wantGet(0, "after-recovery", "value2")
}

// What was written while SyncWAL was syncing its log, which a flush made an old
// one meanwhile, is durable after the next SyncWAL. No twin upstream.
// Recovery leaves out a log that should have been deleted before others that
// were.

//go:build syncpoint

// Port of db/db_etc2_test.cc (faults while a database is opened, unique ids).

package db_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// A crash after one of several families was flushed in recovery leaves that
// family behind the log that is damaged.
func TestDBTest2_CrashInRecoveryMultipleCF(t *testing.T) {
	for _, point := range []string{"DBImpl::RecoverLogFiles:BeforeFlushFinalMemtable", "VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0"} {
		t.Run(point, func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.WALRecoveryMode = rocksdb.PointInTimeRecovery
			x.createAndReopenWithCF(pikachu[1:], o)
			x.puts(0, "foo", "bar", "flush")
			x.puts(1, "foo", "bar", "flush")
			x.mustPut(0, "foo", "bar")
			x.mustPut(1, "foo", "bar")
			large := dummyString(400, ' ') // goes over a block's end
			x.puts(0, "foo1", large, "foo2", large)
			x.close()
			path := x.files(rocksdb.WalFile)[0]
			data, err := os.ReadFile(path)
			x.must(err)
			copy(data[400:], "ha")
			x.must(os.WriteFile(path, data, 0o644))

			syncpoint.SetCallBack(point, func(any) { x.fault.SetFilesystemActive(false, nil) })
			syncpoint.EnableProcessing()
			if err := x.tryReopenWithColumnFamilies(pikachu, o); err == nil {
				t.Error("opened on a file system that failed")
			}
			syncpoint.Reset()
			x.fault.SetFilesystemActive(true, nil)
			x.reopenWithColumnFamilies(pikachu, o)
			x.wantGet(0, "foo", "bar")
			x.wantGet(1, "foo", "bar")
		})
	}
}

func TestDBTest2_FileConsistencyCheckInOpen(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, "foo", "bar", "flush")
	syncpoint.SetCallBack("VersionBuilder::CheckConsistencyBeforeReturn", func(arg any) {
		*arg.(*error) = rocksdb.Corruption("fcc")
	})
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.ForceConsistencyChecks = true
	x.wantIs(x.tryReopen(o), rocksdb.ErrCorruption)
}

// eachRenameFault runs f with a database under options of a MANIFEST that is
// written anew each time, and with what makes CURRENT's renaming fail: before or
// after it is done.
func eachRenameFault(t *testing.T, f func(x *dbTest, o rocksdb.Options, fail func())) {
	for _, point := range []string{"SetCurrentFile:BeforeRename", "SetCurrentFile:AfterRename"} {
		t.Run(point, func(t *testing.T) {
			x := newDBTest(t)
			x.destroy(x.last)
			f(x, x.defaultOptions(), func() {
				syncpoint.SetCallBack(point, func(arg any) { *arg.(*error) = rocksdb.IOError("Injected IO error.") })
				syncpoint.EnableProcessing()
			})
		})
	}
}

func TestRenameCurrentTest_Open(t *testing.T) {
	eachRenameFault(t, func(x *dbTest, o rocksdb.Options, fail func()) {
		fail()
		if err := x.tryReopen(o); err == nil {
			x.Error("opened without CURRENT")
		}
		syncpoint.Reset()
		x.reopen(o)
	})
}

func TestRenameCurrentTest_Flush(t *testing.T) {
	eachRenameFault(t, func(x *dbTest, o rocksdb.Options, fail func()) {
		o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
		x.reopen(o)
		x.mustPut(0, "key", "value")
		fail()
		if err := x.db.Flush(nil); err == nil {
			x.Error("flushed")
		}
		if err := x.put(0, "foo", "value"); err == nil {
			x.Error("written after an error of CURRENT")
		}
		syncpoint.Reset()
		x.reopen(o)
		x.wantAll("key", "value", "foo", "NOT_FOUND")
	})
}

func TestRenameCurrentTest_Compaction(t *testing.T) {
	eachRenameFault(t, func(x *dbTest, o rocksdb.Options, fail func()) {
		o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
		x.reopen(o)
		x.puts(0, "a", "a_value", "c", "c_value", "flush", "b", "b_value", "d", "d_value", "flush")
		fail()
		if err := x.db.CompactRange(nil, nil, nil); err == nil {
			x.Error("compacted")
		}
		if err := x.put(0, "foo", "value"); err == nil {
			x.Error("written after an error of CURRENT")
		}
		syncpoint.Reset()
		x.reopen(o)
		x.wantAll("foo", "NOT_FOUND", "d", "d_value")
	})
}

func TestDBTest2_PointInTimeRecoveryWithIOErrorWhileReadingWal(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "value0")
	x.close()
	reading := false
	syncpoint.SetCallBack("DBImpl::RecoverLogFiles:BeforeReadWal", func(any) { reading = true })
	syncpoint.SetCallBack("LogReader::ReadMore:AfterReadFile", func(arg any) {
		if reading {
			*arg.(*error) = rocksdb.IOError("Injected IOError")
		}
	})
	syncpoint.EnableProcessing()
	o.AvoidFlushDuringRecovery, o.WALRecoveryMode = true, rocksdb.PointInTimeRecovery
	x.wantIs(x.tryReopen(o), rocksdb.ErrIOError)
}

func TestDBTest2_PointInTimeRecoveryWithSyncFailureInCFCreation(t *testing.T) {
	const point = "PointInTimeRecoveryWithSyncFailureInCFCreation:"
	x := newDBTest(t)
	var failing atomic.Bool
	fs := &walFS{}
	fs.onSync = func(string) error {
		if failing.Load() {
			return rocksdb.IOError("Ingested Sync Failure")
		}
		return nil
	}
	o := x.currentOptions()
	o.Env = x.walEnv(fs)
	x.destroyAndReopen(o)
	order("DBImpl::BackgroundCallFlush:Start:1", point+"1", point+"2", "DBImpl::BackgroundCallFlush:Start:2")
	x.createColumnFamilies([]string{"test1"}, o)
	x.must(x.db.Put(nil, []byte("foo"), []byte("bar")))
	flushed := make(chan error, 1)
	go func() {
		fo := rocksdb.DefaultFlushOptions()
		flushed <- x.db.Flush(&fo)
	}()
	// A family is made while a flush is about to sync the closed log, and fails.
	syncpoint.Process(point + "1")
	x.createColumnFamilies([]string{"test2"}, o)
	failing.Store(true)
	syncpoint.Process(point + "2")
	if err := <-flushed; err == nil {
		t.Error("flushed with a log that cannot be synced")
	}
	failing.Store(false)
	syncpoint.Reset()
	o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	x.reopenWithColumnFamilies([]string{"default", "test1", "test2"}, o)
}

// tamperWithUniqueIDs writes another session into tables than the MANIFEST has.
func tamperWithUniqueIDs() {
	syncpoint.SetCallBack("PropertyBlockBuilder::AddTableProperty:Start", func(arg any) {
		arg.(*contract.TableProperties).DBSessionID = env.GenerateDBSessionID()
	})
	syncpoint.EnableProcessing()
}

// hundredKeys flushes tables of a hundred keys, from table first on.
func (x *dbTest) hundredKeys(cf, first, end int) {
	x.Helper()
	for i := first; i < end; i++ {
		for j := range 100 {
			x.mustPut(cf, key(i*10+j), "value")
		}
		x.flush(cf)
	}
}

const (
	uniqueIDTables  = 3
	uniqueIDTrigger = 4
)

func (x *dbTest) uniqueIDOptions(verify bool) rocksdb.Options {
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.VerifySstUniqueIDInManifest = uniqueIDTrigger, verify
	return o
}

func TestDBTest2_SstUniqueIdVerifyBackwardCompatible(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.uniqueIDOptions(false))
	skipped, passed := passes("BlockBasedTable::Open::SkippedVerifyUniqueId"), passes("BlockBasedTable::Open::PassedVerifyUniqueId")
	syncpoint.EnableProcessing()
	want := func(wantSkipped, wantPassed int64) {
		t.Helper()
		same(t, "skipped", skipped.Swap(0), wantSkipped)
		same(t, "passed", passed.Swap(0), wantPassed)
	}
	x.hundredKeys(0, 0, uniqueIDTables)
	want(uniqueIDTables, 0)
	verified := x.uniqueIDOptions(true)
	x.reopen(verified)
	want(0, uniqueIDTables)
	// From here on the MANIFEST is written without ids, as old versions did.
	syncpoint.SetCallBack("VersionEdit::EncodeTo:UniqueId", func(arg any) { *arg.(*uniqueid.UniqueId64x2) = uniqueid.UniqueId64x2{} })
	x.hundredKeys(0, uniqueIDTables, uniqueIDTrigger)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1")
	x.close()
	want(skipped.Load(), passed.Load())
	x.reopen(verified)
	want(1, 0)
}

func TestDBTest2_SstUniqueIdVerify(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.uniqueIDOptions(false))
	tamperWithUniqueIDs()
	x.hundredKeys(0, 0, uniqueIDTables)
	x.wantIs(x.tryReopen(x.uniqueIDOptions(true)), rocksdb.ErrCorruption)
	x.reopen(x.uniqueIDOptions(false))
	x.hundredKeys(0, uniqueIDTables, uniqueIDTrigger)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1") // a compaction's table
	x.wantIs(x.tryReopen(x.uniqueIDOptions(true)), rocksdb.ErrCorruption)
}

func TestDBTest2_SstUniqueIdVerifyMultiCFs(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"one", "two"}, x.uniqueIDOptions(false))
	x.hundredKeys(0, 0, uniqueIDTables)
	x.hundredKeys(2, 0, uniqueIDTables)
	tamperWithUniqueIDs()
	x.hundredKeys(1, 0, uniqueIDTables)
	x.wantIs(x.tryReopenWithColumnFamilies([]string{"default", "one", "two"}, x.uniqueIDOptions(true)), rocksdb.ErrCorruption)
}

func TestDBTest2_BestEffortsRecoveryWithSstUniqueIdVerification(t *testing.T) {
	const trigger, keys = 8, 10
	x := newDBTest(t)
	for bad := range trigger - 1 {
		o := x.currentOptions()
		o.Level0FileNumCompactionTrigger, o.VerifySstUniqueIDInManifest = trigger, false
		x.destroyAndReopen(o)
		for i := range trigger - 1 {
			for j := range keys {
				x.mustPut(0, fmt.Sprint(j), fmt.Sprint("v", i))
			}
			if i == bad {
				tamperWithUniqueIDs()
			}
			x.flush(0)
		}
		o.VerifySstUniqueIDInManifest = true
		x.wantIs(x.tryReopen(o), rocksdb.ErrCorruption)
		var want strings.Builder
		for j := range keys {
			if bad > 0 { // the state before the first bad table
				fmt.Fprintf(&want, "(%d->v%d)", j, bad-1)
			}
		}
		for _, best := range []bool{true, false} {
			o.BestEffortsRecovery = best
			x.reopen(o)
			same(t, "contents", x.contents(0), want.String())
		}
		syncpoint.Reset()
		for j := range keys {
			x.mustPut(0, fmt.Sprint(j), "v")
		}
		x.flush(0)
		x.reopen(o)
		for j := range keys {
			x.wantGet(0, fmt.Sprint(j), "v")
		}
	}
}

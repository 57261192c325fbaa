//go:build syncpoint

// Port of db/db_flush_test.cc (what needs sync points).

package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func (x *dbTest) flushNoWait() {
	x.Helper()
	x.must(x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: true}))
}

func TestDBFlushTest_FlushWhileWritingManifest(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.DisableAutoCompactions, o.MaxBackgroundFlushes = true, 2
	x.reopen(o)
	inOrder([2]string{"VersionSet::LogAndApply:WriteManifest", "test:1"},
		[2]string{"MemTableList::TryInstallMemtableFlushResults:InProgress", "VersionSet::LogAndApply:WriteManifestDone"})
	syncpoint.EnableProcessing()
	x.mustPut(0, "foo", "v")
	x.flushNoWait()
	syncpoint.Process("test:1")
	x.mustPut(0, "bar", "v")
	x.flushNoWait()
	x.must(x.full().TestWaitForFlushMemTable(nil))
	same(t, "tables", x.totalTableFiles(0), 2)
	endSyncPoints()
}

func TestDBFlushTest_SyncFail(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.DisableAutoCompactions = true
	inOrder([2]string{"test:1", "DBImpl::SyncClosedWals:Start"}, [2]string{"DBImpl::SyncClosedWals:Failed", "test:2"})
	syncpoint.EnableProcessing()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.mustPut(0, "key", "value")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	x.fault.SetFilesystemActive(false, nil)
	syncpoint.Process("test:1")
	syncpoint.Process("test:2")
	x.fault.SetFilesystemActive(true, nil)
	if x.full().TestWaitForFlushMemTable(nil) == nil {
		t.Error("flushed though the log could not be synced")
	}
	x.wantFiles(0, "")
	endSyncPoints()
}

func TestDBFlushTest_SyncSkip(t *testing.T) {
	x := newDBTest(t)
	inOrder([2]string{"test:1", "DBImpl::SyncClosedWals:Skip"}, [2]string{"DBImpl::SyncClosedWals:Skip", "test:2"})
	syncpoint.EnableProcessing()
	x.reopen(x.currentOptions())
	x.mustPut(0, "key", "value")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	syncpoint.Process("test:1")
	syncpoint.Process("test:2")
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.wantFiles(0, "1")
	endSyncPoints()
}

// Differs: that flushes run in the pool of compactions is seen by keeping its
// only goroutine busy; goroutines have no identity.
func TestDBFlushTest_FlushInLowPriThreadPool(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.MemtableFactory = 4, newSpecialSkipListFactory(1)
	x.reopen(o)
	x.env.SetBackgroundThreads(0, rocksdb.HighPriority)
	flushes, compactions := countPoint("DBImpl::BGWorkFlush"), countPoint("DBImpl::BGWorkCompaction")
	wake := sleepingTask(x.env, rocksdb.LowPriority)
	x.puts(0, "key", "val", "key", "val")
	same(t, "flushes while the pool is busy", flushes.Load(), 0)
	wake()
	x.must(x.full().TestWaitForFlushMemTable(nil))
	for range 3 {
		x.mustPut(0, "key", "val")
		x.must(x.full().TestWaitForFlushMemTable(nil))
	}
	x.must(x.full().TestWaitForCompact())
	same(t, "flushes", flushes.Load(), 4)
	same(t, "compactions", compactions.Load(), 1)
	endSyncPoints()
}

func TestDBFlushTest_CloseDBWhenFlushInLowPri(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxBackgroundFlushes, o.MaxTotalWALSize = 1, 8192
	x.destroyAndReopen(o)
	x.cfs = append(x.cfs, x.db.ColumnFamily)
	x.createColumnFamilies([]string{"cf1", "cf2"}, o)
	x.env.SetBackgroundThreads(0, rocksdb.HighPriority)
	flushes := countPoint("DBImpl::BGWorkFlush")
	low, high := countPoint("DBImpl::UnscheduleLowFlushCallback"), countPoint("DBImpl::UnscheduleHighFlushCallback")
	x.mustPut(0, "key1", dummyString(8192, 'a'))
	wake := sleepingTask(x.env, rocksdb.LowPriority)
	x.mustPut(0, "key2", dummyString(8192, 'a')) // switches the log, which asks for a flush
	x.close()
	wake()
	same(t, "flushes", flushes.Load(), 0)
	same(t, "flushes taken back from the pool of compactions", low.Load(), 1)
	same(t, "flushes taken back from the pool of flushes", high.Load(), 0)
	x.reopenWithColumnFamilies([]string{"default", "cf1", "cf2"}, o)
	x.mustPut(0, "key3", dummyString(8192, 'a'))
	x.flush(0)
	same(t, "flushes", flushes.Load(), 1)
	endSyncPoints()
}

func TestDBFlushTest_ManualFlushWithMinWriteBufferNumberToMerge(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 100, 4, 3
	x.reopen(o)
	inOrder([2]string{"DBImpl::BGWorkFlush", "test:1"}, [2]string{"test:2", "FlushJob::WriteLevel0Table"})
	syncpoint.EnableProcessing()
	x.mustPut(0, "key1", "value1")
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := x.db.Flush(nil); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process("test:1")
	x.mustPut(0, "key2", "value2")
	x.must(x.full().TestSwitchMemtable(nil))
	syncpoint.Process("test:2")
	wg.Wait()
	x.wantFiles(0, "1")
	endSyncPoints()
}

func TestDBFlushTest_ScheduleOnlyOneBgThread(t *testing.T) {
	x := newDBTest(t)
	var called, left atomic.Int32
	syncpoint.SetCallBack("DBImpl::MaybeScheduleFlushOrCompaction:AfterSchedule:0", func(arg any) {
		called.Add(1)
		left.Store(int32(*arg.(*int)))
	})
	syncpoint.EnableProcessing()
	x.mustPut(0, "a", "foo")
	x.flush(0)
	same(t, "flushes scheduled", called.Load(), 1)
	same(t, "flushes left to schedule", left.Load(), 0)
	endSyncPoints()
}

func TestDBFlushDirectIOTest_DirectIO(t *testing.T) {
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprint(direct), func(t *testing.T) {
			x := newDBTest(t)
			o := x.onFS(x.defaultOptions(), mockenv.NewMockFileSystem(env.Default().GetSystemClock(), true))
			o.DisableAutoCompactions, o.MaxBackgroundFlushes, o.UseDirectIOForFlushAndCompaction = true, 2, direct
			var tables atomic.Int32
			syncpoint.SetCallBack("BuildTable:create_file", func(arg any) {
				tables.Add(1)
				same(t, "use_direct_writes", *arg.(*bool), direct)
			})
			syncpoint.EnableProcessing()
			x.reopen(o)
			x.mustPut(0, "foo", "v")
			x.flush(0)
			same(t, "tables", tables.Load(), 1)
			x.close()
			endSyncPoints()
		})
	}
}

func TestDBFlushTest_CFDropRaceWithWaitForFlushMemTables(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	inOrder([2]string{"DBImpl::FlushMemTable:AfterScheduleFlush", "BeforeDrop"},
		[2]string{"AfterFree", "DBImpl::BackgroundCallFlush:start"},
		[2]string{"DBImpl::BackgroundCallFlush:start", "DBImpl::FlushMemTable:BeforeWaitForBgFlush"})
	syncpoint.EnableProcessing()
	x.mustPut(1, "key", "value")
	dropped := x.cfs[1]
	handle := dropped.Impl()
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("BeforeDrop")
		if err := errors.Join(x.db.DropColumnFamily(dropped), dropped.Close()); err != nil {
			t.Error(err)
		}
		syncpoint.Process("AfterFree")
	})
	if x.full().TestFlushMemTable(true, true, handle) == nil {
		t.Error("flush of a dropped family")
	}
	wg.Wait()
	x.cfs = x.cfs[:1]
	x.close()
	endSyncPoints()
}

// committedListener checks that what a flush covers is gone from the immutable
// memtables when it is told of.
type committedListener struct {
	rocksdb.EventListenerBase
	x            *dbTest
	first        atomic.Uint64 // sequence number of the first entry
	done1, done2 atomic.Int32
}

func (l *committedListener) OnFlushCompleted(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	if info.SmallestSeqno != info.LargestSeqno || info.SmallestSeqno == 0 {
		l.x.Errorf("flush of %d to %d", info.SmallestSeqno, info.LargestSeqno)
	}
	if uint64(info.SmallestSeqno) == l.first.Load() {
		l.done1.Add(1)
	} else {
		l.done2.Add(1)
	}
	l.x.full().TestWithMutex(func() {
		if left := l.x.db.Impl().DefaultColumnFamily().CFD().Imm().Current().GetEarliestSequenceNumber(false); info.SmallestSeqno >= left {
			l.x.Errorf("flush of %d told of while memtables from %d on are there", info.SmallestSeqno, left)
		}
	})
}

func TestDBFlushTest_FireOnFlushCompletedAfterCommittedResult(t *testing.T) {
	x := newDBTest(t)
	l := &committedListener{x: x}
	inOrder([2]string{"DBImpl::FlushMemTableToOutputFile:AfterPickMemtables", "WaitFirst"},
		[2]string{"DBImpl::FlushMemTableToOutputFile:Finish", "WaitSecond"})
	syncpoint.SetCallBack("FlushJob::WriteLevel0Table", func(arg any) {
		if m := *arg.(*[]*memtable.MemTable); uint64(m[0].GetEarliestSequenceNumber())+1 == l.first.Load() {
			syncpoint.Process("WaitSecond")
		}
	})
	o := x.currentOptions()
	o.Listeners = append(o.Listeners, l)
	o.MaxBackgroundJobs, o.MaxWriteBufferNumber = 8, 3
	x.reopen(o)
	syncpoint.EnableProcessing()
	x.mustPut(0, "foo", "v")
	l.first.Store(uint64(x.db.GetLatestSequenceNumber()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := x.db.Flush(&rocksdb.FlushOptions{Wait: true, ListenerWait: true}); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process("WaitFirst")
	x.mustPut(0, "bar", "v")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	wg.Wait()
	same(t, "first flush", l.done1.Load(), 1)
	same(t, "second flush", l.done2.Load(), 1)
	endSyncPoints()
}

// handoffOptions are those of the tests of checksums that go with writes of
// files of some types.
func (x *dbTest) handoffOptions(types ...rocksdb.FileType) rocksdb.Options {
	o := x.currentOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.DisableAutoCompactions = 100, 4, 3, true
	o.ChecksumHandoffFileTypes = contract.NewFileTypeSet(types...)
	return o
}

// flushWith flushes two memtables of two keys each; at the point, something
// happens.
func (x *dbTest) flushWith(point string, f func()) error {
	x.Helper()
	x.puts(0, "key1", "value1", "key2", "value2")
	x.must(x.full().TestSwitchMemtable(nil))
	syncpoint.SetCallBack(point, func(any) { f() })
	x.puts(0, "key3", "value3", "key4", "value4")
	syncpoint.EnableProcessing()
	defer endSyncPoints()
	return x.db.Flush(nil)
}

func (x *dbTest) wantSeverity(err error, want contract.Severity) {
	x.Helper()
	var s *contract.Status
	if !errors.As(err, &s) || s.Severity != want {
		x.Errorf("error %v, not one of severity %v", err, want)
	}
}

func TestDBFlushTest_FlushWithChecksumHandoff1(t *testing.T) {
	x := newDBTest(t)
	o := x.handoffOptions(rocksdb.TableFile)
	x.reopen(o)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	err := x.flushWith("FlushJob::Start", func() { x.fault.SetChecksumHandoffFuncType(contract.XXHash) })
	x.wantSeverity(err, contract.SeverityUnrecoverableError)
	x.destroyAndReopen(o)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	err = x.flushWith("FlushJob::Start", x.fault.IngestDataCorruptionBeforeWrite)
	x.fault.NoDataCorruptionBeforeWrite()
	x.wantSeverity(err, contract.SeverityUnrecoverableError)
}

func TestDBFlushTest_FlushWithChecksumHandoff2(t *testing.T) {
	x := newDBTest(t)
	o := x.handoffOptions()
	x.reopen(o)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	x.must(x.flushWith("FlushJob::Start", func() { x.fault.SetChecksumHandoffFuncType(contract.XXHash) }))
	x.destroyAndReopen(o)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	// Nobody asked for checksums: the damage is not noticed.
	x.must(x.flushWith("FlushJob::Start", x.fault.IngestDataCorruptionBeforeWrite))
	x.fault.NoDataCorruptionBeforeWrite()
}

func TestDBFlushTest_FlushWithChecksumHandoffManifest1(t *testing.T) {
	x := newDBTest(t)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	x.reopen(x.handoffOptions(rocksdb.DescriptorFile))
	x.puts(0, "key1", "value1", "key2", "value2")
	x.flush(0)
	err := x.flushWith("VersionSet::LogAndApply:WriteManifest", func() { x.fault.SetChecksumHandoffFuncType(contract.XXHash) })
	x.wantSeverity(err, contract.SeverityFatalError)
}

func TestDBFlushTest_FlushWithChecksumHandoffManifest2(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.handoffOptions(rocksdb.DescriptorFile))
	x.puts(0, "key5", "value5", "key6", "value6")
	x.flush(0)
	x.fault.SetChecksumHandoffFuncType(contract.CRC32c)
	err := x.flushWith("VersionSet::LogAndApply:WriteManifest", x.fault.IngestDataCorruptionBeforeWrite)
	x.fault.NoDataCorruptionBeforeWrite()
	x.wantSeverity(err, contract.SeverityFatalError)
}

func TestDBFlushTest_LeakedTableCacheEntryOnFlushInstallFailure(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.ParanoidFileChecks, o.MaxBGErrorResumeCount = true, 0
	x.destroyAndReopen(o)
	x.mustPut(0, "a", dummyString(1024, 'x'))
	syncpoint.SetCallBack("FlushJob::Run:PostBuildTable", func(arg any) {
		*arg.(*error) = rocksdb.IOError("injected")
		x.fault.SetFilesystemActive(false, nil)
	})
	syncpoint.EnableProcessing()
	if x.db.Flush(nil) == nil {
		t.Error("flushed")
	}
	endSyncPoints()
	entries := 0
	x.full().TestTableCache().ApplyToAllEntries(func([]byte, any, int, *contract.CacheItemHelper) { entries++ })
	same(t, "tables left in the cache", entries, 0)
	x.fault.SetFilesystemActive(true, nil)
}

func TestDBFlushTest_PickRightMemtables(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	o.MaxWriteBufferNumber = 128
	x.createAndReopenWithCF([]string{"test_cf"}, o)
	x.mustPut(0, "key", "value")
	x.mustPut(1, "key", "value")
	syncpoint.SetCallBack("DBImpl::SyncClosedWals:BeforeReLock", func(any) {
		if err := errors.Join(x.put(1, "what", "v"), x.full().TestSwitchMemtable(x.cf(1).Impl())); err != nil {
			t.Error(err)
		}
	})
	var picked atomic.Int32
	syncpoint.SetCallBack("DBImpl::FlushMemTableToOutputFile:AfterPickMemtables", func(arg any) {
		picked.Add(1)
		if m := arg.(*db.FlushJob).MemTables(); len(m) != 1 || m[0].GetID() != 1 {
			t.Errorf("picked %d memtables", len(m))
		}
	})
	syncpoint.EnableProcessing()
	x.flush(1)
	endSyncPoints()
	same(t, "flushes", picked.Load(), 1)
}

// overwriteListener deletes and writes a key while a flush begins.
type overwriteListener struct {
	rocksdb.EventListenerBase
	x        *dbTest
	snapshot rocksdb.Snapshot
}

func (l *overwriteListener) OnFlushBegin(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	x := l.x
	same(x, "family", info.CFID, 0)
	if err := x.db.Delete(nil, []byte("foo")); err != nil {
		x.Error(err)
	}
	l.snapshot = x.db.GetSnapshot()
	if err := errors.Join(x.put(0, "foo", "value"), x.full().TestSwitchMemtable(nil)); err != nil {
		x.Error(err)
	}
}

func TestDBFlushTest_TombstoneVisibleInSnapshot(t *testing.T) {
	x := newDBTest(t)
	l := &overwriteListener{x: x}
	o := x.currentOptions()
	o.Listeners = append(o.Listeners, l)
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "value0")
	before := x.db.GetSnapshot()
	x.flush(0)
	x.wantGetAt(0, "foo", l.snapshot, "NOT_FOUND")
	x.wantGetAt(0, "foo", before, "value0")
	x.must(x.db.ReleaseSnapshot(l.snapshot))
	x.must(x.db.ReleaseSnapshot(before))
}

func TestDBFlushTest_VerifyOutputRecordCount(t *testing.T) {
	const expect = "Number of keys in flush output SST files does not match"
	for name, factory := range map[string]rocksdb.TableFactory{
		"BlockBasedTableBuilder": rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions()),
		"PlainTableBuilder":      rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions()),
	} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.FlushVerifyMemtableCount, o.MergeOperator = true, x.mergeOperator("stringappend")
			x.destroyAndReopen(o)
			x.mustMerge(0, "k0", "v1")
			x.puts(0, "k1", "v1", "k2", "v1")
			x.mustSingleDelete(0, "k2")
			x.mustDelete(0, "k2")
			x.mustDelete(0, "k3")
			x.deleteRange(0, "k1", "k3")
			x.flush(0)
			o.TableFactory = factory
			x.destroyAndReopen(o)
			syncpoint.SetCallBack(name+"::Add::skip", func(arg any) { *arg.(*bool) = true })
			syncpoint.EnableProcessing()
			wantMismatch := func(err error) {
				t.Helper()
				if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), expect) {
					t.Errorf("error %v", err)
				}
			}
			x.puts(0, "k1", "v1", "k2", "v1")
			wantMismatch(x.tryReopen(o))
			x.destroyAndReopen(o)
			x.puts(0, "k1", "v1", "k2", "v1")
			wantMismatch(x.db.Flush(nil))
			endSyncPoints()
		})
	}
}

func TestDBFlushTestBlobError_FlushError(t *testing.T) {
	for _, point := range []string{"BlobFileBuilder::WriteBlobToFile:AddRecord", "BlobFileBuilder::WriteBlobToFile:AppendFooter"} {
		t.Run(point, func(t *testing.T) {
			x := newDBTest(t)
			o := x.defaultOptions()
			o.EnableBlobFiles, o.DisableAutoCompactions = true, true
			x.reopen(o)
			x.mustPut(0, "key", "blob")
			syncpoint.SetCallBack(point, func(arg any) { *arg.(*error) = rocksdb.IOError(point) })
			syncpoint.EnableProcessing()
			if x.db.Flush(nil) == nil {
				t.Error("flushed")
			}
			endSyncPoints()
			same(t, "tables", len(x.storage(0).LevelFiles(0)), 0)
			same(t, "blob files", len(x.storage(0).GetBlobFiles()), 0)
			same(t, "table files", x.countFiles(rocksdb.TableFile), 0)
			same(t, "blob files on disk", x.countFiles(rocksdb.BlobFile), 0)
			tableBytes, tables := uint64(0), 0
			if strings.HasSuffix(point, "AppendFooter") {
				// The table was written, and counts.
				tableBytes, tables = x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats()[0].BytesWritten, 1
				if tableBytes == 0 {
					t.Error("the table is not counted")
				}
			}
			x.wantFlushStats(tableBytes, 0, tables, 0)
		})
	}
}

func TestDBFlushTest_BuilderWriteFaultPropagationDuringFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.FlushVerifyMemtableCount = true
	x.destroyAndReopen(o)
	for i := range 100 {
		x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint(dummyString(100, 'v'), i))
	}
	syncpoint.SetCallBack("BlockBasedTableBuilder::Add::skip", func(arg any) { *arg.(*bool) = true })
	syncpoint.SetCallBack("BuildTable:BeforeCheckEmpty", func(arg any) { arg.(interface{ TestInjectIOError() }).TestInjectIOError() })
	syncpoint.EnableProcessing()
	err := x.db.Flush(nil)
	endSyncPoints()
	x.wantIs(err, rocksdb.ErrIOError)
	x.close()
}

func TestDBFlushSuperBlockTest_SuperBlock(t *testing.T) {
	const lowRatio, keys = 256, 6000
	for _, align := range []bool{false, true} {
		for _, size := range []uint64{0, 32 << 10, 16 << 10} {
			for _, ratio := range []uint64{4, lowRatio} {
				t.Run(fmt.Sprint(align, size, ratio), func(t *testing.T) {
					x, rnd := newDBTest(t), newRandom()
					b := rocksdb.DefaultBlockBasedTableOptions()
					b.BlockAlign, b.IndexBlockRestartInterval, b.BlockSize = align, 3, 2048 // small blocks, so that few keys are enough
					b.SuperBlockAlignmentSize, b.SuperBlockAlignmentSpaceOverheadRatio = size, ratio
					o := x.defaultOptions()
					o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
					o.ParanoidFileChecks, o.WriteBufferSize = true, 1<<20
					o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
					if align {
						o.Compression = rocksdb.NoCompression
					}
					x.reopen(o)
					const point = "BlockBasedTableBuilder::WriteMaybeCompressedBlock:SuperBlockAlignment"
					pads, exceeding := countPoint(point), countPoint(point+"PaddingBytesExceedLimit")
					want := make([]string, keys)
					for i := range want {
						want[i] = rnd.str(int(rnd.Next() % 1000))
						x.mustPut(0, fmt.Sprintf("%010d", i), want[i])
					}
					x.reopen(o)
					endSyncPoints()
					padding := size != 0 && !align
					if (pads.Load() > 0) != padding || padding && ratio == lowRatio && exceeding.Load() == 0 {
						t.Errorf("%d paddings, %d that would have been too large", pads.Load(), exceeding.Load())
					}
					verify := func() {
						t.Helper()
						for i, v := range want {
							x.wantGet(0, fmt.Sprintf("%010d", i), v)
						}
						x.reopen(o)
						it, n := x.db.NewIterator(nil), 0
						defer it.Close()
						for k, v := range it.All() {
							if string(k) != fmt.Sprintf("%010d", n) || string(v) != want[n] {
								t.Fatalf("entry %d has the key %s", n, k)
							}
							n++
						}
						x.must(it.Err())
						same(t, "entries", n, keys)
						x.must(x.db.VerifyFileChecksums(nil))
					}
					verify()
					b.SuperBlockAlignmentSize = 16<<10 - min(size, 16<<10)
					o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
					x.reopen(o)
					verify()
				})
			}
		}
	}
}

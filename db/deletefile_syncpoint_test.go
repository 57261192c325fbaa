//go:build syncpoint

// Port of db/deletefile_test.cc (the cases with sync points).

package db_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDeleteFileTest_WaitForCompactWithWaitForPurgeOptionTest(t *testing.T) {
	x, _ := newDelTest(t)
	x.createTwoLevels()
	it := x.purgingIterator()
	x.compactToLevel2()
	inOrder([2]string{"DBImpl::BGWorkPurge:start", "test:Purging"},
		[2]string{"DBImpl::WaitForCompact:InsideLoop", "DBImpl::BackgroundCallPurge:beforeMutexLock"})
	syncpoint.EnableProcessing()
	x.must(it.Close())
	syncpoint.Process("test:Purging")
	x.wantTables(3)
	x.must(x.db.WaitForCompact(&rocksdb.WaitForCompactOptions{WaitForPurge: true}))
	x.wantTables(1)
	endSyncPoints()
}

func TestDeleteFileTest_CloseWaitsForPurgeScheduledDuringClose(t *testing.T) {
	x, _ := newDelTest(t, func(o *rocksdb.Options) { o.AvoidUnnecessaryBlockingIO = true })
	cf, err := x.db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), "dropme")
	x.must(err)
	x.must(cf.Put(nil, []byte("key"), []byte("value")))
	x.must(cf.Flush(nil))
	x.must(x.db.DropColumnFamily(cf))
	x.full().TestWaitForPurge()

	var hold atomic.Bool
	syncpoint.SetCallBack("DBImpl::PurgeObsoleteFiles:BeforePendingPurgeFinished", func(any) {
		if hold.Swap(false) {
			syncpoint.Process("test:Pending")
			syncpoint.Process("test:PendingHeld")
		}
	})
	inOrder([2]string{"DBImpl::CloseHelper:CFHandleCleanupUnlocked", "test:LetGo"},
		[2]string{"test:Pending", "test:WaitForPending"},
		[2]string{"test:Pending", "DBImpl::CloseHelper:CFHandleCleanupAllowed"},
		[2]string{"DBImpl::CloseHelper:FinalPurgeDrainWait", "test:WaitForDrain"},
		[2]string{"test:ReleasePending", "test:PendingHeld"},
		[2]string{"test:ReleasePurge", "DBImpl::BackgroundCallPurge:beforeMutexLock"})
	syncpoint.EnableProcessing()
	var closer, letGo sync.WaitGroup
	var closed atomic.Bool
	closer.Go(func() {
		if err := x.db.Close(); err != nil {
			t.Error(err)
		}
		closed.Store(true)
	})
	syncpoint.Process("test:LetGo")
	hold.Store(true)
	letGo.Go(func() { cf.Close() })
	syncpoint.Process("test:WaitForPending")
	syncpoint.Process("test:WaitForDrain")
	if closed.Load() {
		t.Error("closed while a purge was under way")
	}
	syncpoint.Process("test:ReleasePending")
	letGo.Wait()
	if closed.Load() {
		t.Error("closed before the purge in the background")
	}
	syncpoint.Process("test:ReleasePurge")
	closer.Wait()
	endSyncPoints()
	x.db = nil
	x.wantCounts(x.dir, 0, 0, -1)
}

func TestDeleteFileTest_PurgeDuringOpen(t *testing.T) {
	x := delTest{newDBTest(t)}
	o := x.currentOptions()
	o.CreateIfMissing, o.AvoidUnnecessaryBlockingIO = false, false
	x.wantCounts(x.dir, -1, 0, -1)
	leave := func() {
		x.close()
		x.must(os.WriteFile(filepath.Join(x.dir, "000002.sst"), nil, 0o644))
		x.wantCounts(x.dir, -1, 1, -1)
	}
	leave()
	x.reopen(o)
	x.wantCounts(x.dir, -1, 0, -1)

	o.AvoidUnnecessaryBlockingIO = true
	leave()
	inOrder([2]string{"test:Purge", "DBImpl::BGWorkPurge:start"})
	syncpoint.EnableProcessing()
	x.reopen(o)
	x.wantCounts(x.dir, -1, 1, -1)
	syncpoint.Process("test:Purge")
	x.full().TestWaitForPurge()
	x.wantCounts(x.dir, -1, 0, -1)
	endSyncPoints()
}

func TestDeleteFileTest_BackgroundPurgeCFDropTest(t *testing.T) {
	x, o := newDelTest(t)
	drop := func(background bool) {
		t.Helper()
		co := rocksdb.DefaultColumnFamilyOptions()
		co.MaxWriteBufferSizeToMaintain = int64(co.WriteBufferSize)
		cf, err := x.db.CreateColumnFamily(co, "dropme")
		x.must(err)
		x.must(cf.Put(nil, []byte("pika"), []byte("chu")))
		x.must(cf.Flush(nil))
		x.wantTables(1)
		if background {
			inOrder([2]string{"test:Purge", "DBImpl::BGWorkPurge:start"})
			syncpoint.EnableProcessing()
		}
		x.must(x.db.DropColumnFamily(cf))
		x.wantTables(1) // as long as the handle is there
		x.must(cf.Close())
		want := 0
		if background {
			want = 1
		}
		x.wantTables(want)
		syncpoint.Process("test:Purge")
		sleepingTask(x.env, rocksdb.HighPriority)()
		x.wantTables(0)
	}
	drop(false)
	o.AvoidUnnecessaryBlockingIO, o.CreateIfMissing = true, false
	x.reopen(o)
	x.full().TestWaitForPurge()
	drop(true)
	endSyncPoints()
}

func TestDeleteFileTest_BackgroundPurgeTestMultipleJobs(t *testing.T) {
	x, _ := newDelTest(t)
	x.env.SetBackgroundThreads(1, rocksdb.HighPriority)
	x.createTwoLevels()
	it1 := x.purgingIterator()
	x.createTwoLevels()
	it2 := x.purgingIterator()
	x.compactToLevel2()
	x.wantTables(5)
	inOrder([2]string{"DBImpl::~DBImpl:WaitJob", "DBImpl::BGWorkPurge"},
		[2]string{"test:GuardFinish", "test:Closed"})
	syncpoint.EnableProcessing()
	x.must(it1.Close())
	x.env.Schedule(func() { time.Sleep(200 * time.Millisecond) }, rocksdb.HighPriority, nil, nil)
	x.must(it2.Close())
	x.env.Schedule(func() { syncpoint.Process("test:GuardFinish") }, rocksdb.HighPriority, nil, nil)
	x.close() // waits for all of it
	syncpoint.Process("test:Closed")
	x.wantTables(1)
	endSyncPoints()
}

//go:build syncpoint

// Port of db/fault_injection_test.cc (UninstalledCompaction).

package db_test

import (
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestFaultInjectionTest_UninstalledCompaction(t *testing.T) {
	eachFaultConfig(t, func(x *faultTest) {
		o := &x.options
		o.TargetFileSizeBase, o.WriteBufferSize = 32<<10, 100<<10
		o.Level0FileNumCompactionTrigger, o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = 6, 1<<10, 1<<10
		o.MaxBackgroundCompactions = 1
		x.open()
		if !x.sequential {
			syncpoint.LoadDependency(
				syncpoint.Pair{Predecessor: "FaultInjectionTest::FaultTest:0", Successor: "DBImpl::BGWorkCompaction"},
				syncpoint.Pair{Predecessor: "CompactionJob::Run():End", Successor: "FaultInjectionTest::FaultTest:1"},
				syncpoint.Pair{Predecessor: "FaultInjectionTest::FaultTest:2", Successor: "DBImpl::BackgroundCompaction:NonTrivial:AfterRun"},
			)
		}
		syncpoint.EnableProcessing()
		const keys = 1000
		x.build(false, 0, keys)
		x.flush(0)
		x.must(x.db.Put(nil, nil, nil))
		syncpoint.Process("FaultInjectionTest::FaultTest:0")
		syncpoint.Process("FaultInjectionTest::FaultTest:1")
		x.fault.SetFilesystemActive(false, nil)
		syncpoint.Process("FaultInjectionTest::FaultTest:2")
		x.close()
		syncpoint.DisableProcessing()
		x.reset(resetDropUnsyncedData, nil)

		var opened atomic.Bool
		syncpoint.SetCallBack("DBImpl::Open:Opened", func(any) { opened.Store(true) })
		syncpoint.SetCallBack("DBImpl::BGWorkCompaction", func(any) {
			if !opened.Load() {
				x.Error("compaction before the database is open")
			}
		})
		syncpoint.EnableProcessing()
		x.open()
		x.verify(0, keys, true)
		x.waitCompaction()
		x.verify(0, keys, true)
		syncpoint.DisableProcessing()
		syncpoint.ClearAllCallBacks()
	})
}

//go:build syncpoint

// Port of db/db_wal_test.cc (DBWALTest.RecoveryFlushSwitchWALOnEmptyMemtable).
// Differs: faults are of the whole file system; what recovers waits meanwhile.

package db_test

import (
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// A write that failed leaves an entry in the log; were that log gone on with
// after the recovery, two entries would have one sequence number.
func TestDBWALTest_RecoveryFlushSwitchWALOnEmptyMemtable(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	x.destroyAndReopen(o)
	inOrder([2]string{"test:CheckedEmpty", "RecoverFromRetryableBGIOError:BeforeStart"})
	syncpoint.EnableProcessing()
	x.fault.SetErrorContext(fsutil.FaultInjectionMetadataWrite, 7, 1, true, false)
	x.fault.EnableErrorInjection(fsutil.FaultInjectionMetadataWrite)
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	err := x.db.Put(&wo, []byte("k"), []byte("old_v"))
	x.wantIs(err, rocksdb.ErrIOError)
	if !x.cf(0).Impl().CFD().Mem().IsEmpty() {
		t.Error("the failed write is in the memtable")
	}
	x.wantGet(0, "k", "NOT_FOUND")
	x.fault.DisableErrorInjection(fsutil.FaultInjectionMetadataWrite)
	syncpoint.Process("test:CheckedEmpty")
	endSyncPoints()
	for deadline := time.Now().Add(2 * time.Minute); err != nil; time.Sleep(time.Millisecond) {
		if err = x.put(0, "k", "new_v"); time.Now().After(deadline) {
			t.Fatalf("not recovered: %v", err)
		}
	}
	o.AvoidFlushDuringRecovery = false
	x.reopen(o)
	x.wantGet(0, "k", "new_v")
}

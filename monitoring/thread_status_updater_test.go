// No upstream twin: upstream tests these with a thread pool
// (util/thread_list_test.cc) and a database (db/db_test.cc).

package monitoring

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestThreadStatusUpdater(t *testing.T) {
	var u ThreadStatusUpdater
	db, cf := NewInfoKey(), NewInfoKey()
	u.NewColumnFamilyInfo(db, "/db", cf, "default")
	d := u.RegisterThread(rocksdb.ThreadTypeHighPriority, 7)
	list := func() rocksdb.ThreadStatus {
		t.Helper()
		l, err := u.GetThreadList()
		if err != nil || len(l) != 1 {
			t.Fatalf("list %v, %v", l, err)
		}
		return l[0]
	}
	d.SetColumnFamily(cf)
	d.SetThreadOperation(rocksdb.OpFlush) // tracking is off
	checkEqual(t, "status", list(), rocksdb.ThreadStatus{ThreadID: 7, DBName: "/db", CFName: "default"})

	d.SetEnableTracking(true)
	d.SetThreadOperationStage(rocksdb.StageFlushRun)
	d.SetThreadOperationProperty(rocksdb.FlushJobID, 3)
	d.IncreaseThreadOperationProperty(rocksdb.FlushBytesWritten, 10)
	d.IncreaseThreadOperationProperty(rocksdb.FlushBytesWritten, 5)
	d.SetThreadOperationProperty(-1, 1)
	d.SetThreadOperationProperty(rocksdb.NumOperationProperties, 1)
	d.SetThreadOperation(rocksdb.OpFlush)
	d.SetThreadState(rocksdb.StateMutexWait)
	got := list()
	got.OpElapsedMicros = 0
	checkEqual(t, "status", got, rocksdb.ThreadStatus{
		ThreadID: 7, DBName: "/db", CFName: "default", OperationType: rocksdb.OpFlush,
		OperationStage: rocksdb.StageFlushRun, OpProperties: [rocksdb.NumOperationProperties]uint64{3, 0, 15},
		StateType: rocksdb.StateMutexWait,
	})
	checkEqual(t, "stage before", d.SetThreadOperationStage(rocksdb.StageFlushWriteL0), rocksdb.StageFlushRun)

	u.EraseColumnFamilyInfo(cf)
	checkEqual(t, "erased", list(), rocksdb.ThreadStatus{ThreadID: 7})
	u.NewColumnFamilyInfo(db, "/db", cf, "default")
	u.EraseDatabaseInfo(db)
	u.EraseDatabaseInfo(db)
	checkEqual(t, "erased", list(), rocksdb.ThreadStatus{ThreadID: 7})

	d.ResetThreadStatus()
	checkEqual(t, "operation", d.GetThreadOperation(), rocksdb.OpUnknown)
	checkEqual(t, "column family", d.GetColumnFamily(), 0)
	u.UnregisterThread(d)
	if l, _ := u.GetThreadList(); len(l) != 0 {
		t.Errorf("list %v", l)
	}

	var none *ThreadStatusUpdater
	nobody := none.RegisterThread(rocksdb.ThreadTypeUser, 1)
	nobody.SetThreadOperation(rocksdb.OpFlush)
	none.UnregisterThread(nobody)
	if _, err := none.GetThreadList(); !rocksdb.IsNotSupported(err) {
		t.Errorf("a list of nothing: %v", err)
	}
}

func TestThreadStatus_Text(t *testing.T) {
	for micros, want := range map[uint64]string{
		0: "", 9999: "9999 us", 10000: "10.000 ms", 9999999: "9999.999 ms",
		10000000: "10.000 sec", 61500000: "01:1.500 M:S", 3661500000: "01:01:1.500 H:M:S",
	} {
		checkEqual(t, "duration", MicrosToString(micros), want)
	}
	checkEqual(t, "type", GetThreadTypeName(rocksdb.ThreadTypeBottomPriority), "Bottom Pri")
	checkEqual(t, "type", GetThreadTypeName(rocksdb.NumThreadTypes), "Unknown")
	checkEqual(t, "operation", GetOperationName(rocksdb.OperationType(-1)), "")
	checkEqual(t, "property", GetOperationPropertyName(rocksdb.OpFlush, 9), "")
	m := InterpretOperationProperties(rocksdb.OpCompaction, &[...]uint64{4, 1<<32 | 2, 2 | 8, 100, 50, 40})
	for name, want := range map[string]uint64{
		"JobID": 4, "BaseInputLevel": 1, "OutputLevel": 2, "IsManual": 1, "IsDeletion": 0, "IsTrivialMove": 1,
		"TotalInputBytes": 100, "BytesRead": 50, "BytesWritten": 40,
	} {
		checkEqual(t, name, m[name], want)
	}
	checkEqual(t, "properties", len(m), 9)
}

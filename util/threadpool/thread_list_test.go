// Port of util/thread_list_test.cc. Differs: pools and updater are the test's
// own; the operation tables of util/thread_operation.h are in package monitoring.

package threadpool

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// simulatedBackgroundTask claims an operation until it is finished.
type simulatedBackgroundTask struct {
	db, cf   monitoring.InfoKey
	op       rocksdb.OperationType
	state    rocksdb.StateType
	finished chan struct{}
	done     sync.WaitGroup
}

func newSimulatedTask(u *monitoring.ThreadStatusUpdater, op rocksdb.OperationType, state rocksdb.StateType) *simulatedBackgroundTask {
	s := &simulatedBackgroundTask{
		db: monitoring.NewInfoKey(), cf: monitoring.NewInfoKey(), op: op, state: state, finished: make(chan struct{}),
	}
	u.NewColumnFamilyInfo(s.db, "running", s.cf, "pikachu")
	return s
}

func (s *simulatedBackgroundTask) run(status *monitoring.ThreadStatusData) {
	defer s.done.Done()
	status.SetEnableTracking(true)
	status.SetColumnFamily(s.cf)
	status.SetThreadOperation(s.op)
	status.SetThreadState(s.state)
	<-s.finished
	status.ClearThreadState()
	status.ClearThreadOperation()
	status.SetColumnFamily(0)
}

// schedule starts n of them and waits until they run.
func (s *simulatedBackgroundTask) schedule(pool *ThreadPoolImpl, n int) {
	for range n {
		s.done.Add(1)
		pool.ScheduleWithStatus(s.run, nil, nil)
	}
	synctest.Wait()
}

func (s *simulatedBackgroundTask) finish() {
	close(s.finished)
	s.done.Wait()
	synctest.Wait()
}

func threadList(t *testing.T, u *monitoring.ThreadStatusUpdater) []rocksdb.ThreadStatus {
	t.Helper()
	list, err := u.GetThreadList()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestThreadListTest_GlobalTables(t *testing.T) {
	// Each value but the first has a name, and no two have the same.
	distinct := func(what string, n int, name func(i int) string) {
		seen := map[string]bool{}
		for i := range n {
			if s := name(i); (s == "") != (i == 0) || seen[s] {
				t.Errorf("%s %d is named %q", what, i, s)
			} else {
				seen[s] = true
			}
		}
	}
	distinct("operation", int(rocksdb.NumOpTypes), func(i int) string {
		return monitoring.GetOperationName(rocksdb.OperationType(i))
	})
	distinct("state", int(rocksdb.NumStateTypes), func(i int) string {
		return monitoring.GetStateName(rocksdb.StateType(i))
	})
	distinct("stage", int(rocksdb.NumOpStages), func(i int) string {
		return monitoring.GetOperationStageName(rocksdb.OperationStage(i))
	})
	check(t, "last operation", monitoring.GetOperationName(rocksdb.NumOpTypes-1), "GetFileChecksumsFromCurrentManifest")
	check(t, "last stage", monitoring.GetOperationStageName(rocksdb.NumOpStages-1), "MemTableList::TryInstallMemtableFlushResults")
	check(t, "last state", monitoring.GetStateName(rocksdb.NumStateTypes-1), "Mutex Wait")
}

func TestThreadListTest_SimpleColumnFamilyInfoTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const highThreads, lowThreads = 3, 5
		const simulatedHigh, simulatedLow = highThreads - 1, lowThreads / 3
		var u monitoring.ThreadStatusUpdater
		high := NewThreadPoolImpl(rocksdb.HighPriority, &u)
		low := NewThreadPoolImpl(rocksdb.LowPriority, &u)
		high.SetBackgroundThreads(highThreads)
		low.SetBackgroundThreads(lowThreads)
		synctest.Wait()
		task := newSimulatedTask(&u, rocksdb.OpUnknown, rocksdb.StateUnknown)
		task.schedule(high, simulatedHigh)
		task.schedule(low, simulatedLow)
		check(t, "reserved", high.ReserveThreads(highThreads), highThreads-simulatedHigh)
		check(t, "reserved", low.ReserveThreads(lowThreads), lowThreads-simulatedLow)

		count := func() (running [rocksdb.NumThreadTypes]int) {
			list := threadList(t, &u)
			check(t, "threads", len(list), highThreads+lowThreads)
			for _, s := range list {
				if s.CFName == "pikachu" && s.DBName == "running" {
					running[s.ThreadType]++
				}
			}
			return running
		}
		running := count()
		check(t, "reserved", high.ReserveThreads(highThreads), 0)
		check(t, "reserved", low.ReserveThreads(lowThreads), 0)
		check(t, "high", running[rocksdb.ThreadTypeHighPriority], simulatedHigh)
		check(t, "low", running[rocksdb.ThreadTypeLowPriority], simulatedLow)
		check(t, "user", running[rocksdb.ThreadTypeUser], 0)

		task.finish()
		check(t, "released", high.ReleaseThreads(highThreads), highThreads-simulatedHigh)
		check(t, "released", low.ReleaseThreads(lowThreads), lowThreads-simulatedLow)
		check(t, "running", count(), [rocksdb.NumThreadTypes]int{})
		high.JoinAllThreads()
		low.JoinAllThreads()
		check(t, "threads after joining", len(threadList(t, &u)), 0)
	})
}

func TestThreadListTest_SimpleEventTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u monitoring.ThreadStatusUpdater
		high := NewThreadPoolImpl(rocksdb.HighPriority, &u)
		low := NewThreadPoolImpl(rocksdb.LowPriority, &u)
		tasks := []struct {
			*simulatedBackgroundTask
			pool *ThreadPoolImpl
			n    int
		}{
			{newSimulatedTask(&u, rocksdb.OpFlush, rocksdb.StateUnknown), high, 3},       // flush write
			{newSimulatedTask(&u, rocksdb.OpCompaction, rocksdb.StateUnknown), low, 4},   // compaction write
			{newSimulatedTask(&u, rocksdb.OpCompaction, rocksdb.StateUnknown), low, 5},   // compaction read
			{newSimulatedTask(&u, rocksdb.OpCompaction, rocksdb.StateMutexWait), low, 6}, // compaction wait
		}
		var ops [rocksdb.NumOpTypes]int
		var states [rocksdb.NumStateTypes]int
		for _, task := range tasks {
			ops[task.op] += task.n
			states[task.state] += task.n
		}
		high.SetBackgroundThreads(ops[rocksdb.OpFlush])
		low.SetBackgroundThreads(ops[rocksdb.OpCompaction])
		for _, task := range tasks {
			task.schedule(task.pool, task.n)
		}
		verify := func() {
			t.Helper()
			var gotOps [rocksdb.NumOpTypes]int
			var gotStates [rocksdb.NumStateTypes]int
			for _, s := range threadList(t, &u) {
				gotOps[s.OperationType]++
				gotStates[s.StateType]++
			}
			check(t, "operations", gotOps, ops)
			check(t, "states", gotStates, states)
		}
		verify()
		for _, i := range []int{3, 0, 1, 2} {
			task := tasks[i]
			task.finish()
			ops[task.op] -= task.n
			ops[rocksdb.OpUnknown] += task.n
			states[task.state] -= task.n
			states[rocksdb.StateUnknown] += task.n
			verify()
		}
		high.JoinAllThreads()
		low.JoinAllThreads()
	})
}

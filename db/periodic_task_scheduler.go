// Port of db/periodic_task_scheduler.{h,cc}. Differs: each scheduler has a timer of
// its own, by its database's clock.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/timer"
)

// PeriodicTaskType is a kind of work that a database does every so often.
type PeriodicTaskType uint8

// The kinds.
const (
	PeriodicTaskDumpStats PeriodicTaskType = iota
	PeriodicTaskPersistStats
	PeriodicTaskFlushInfoLog
	PeriodicTaskRecordSeqnoTime
	PeriodicTaskTriggerCompaction
	NumPeriodicTaskTypes
)

var periodicTaskTypeNames = [NumPeriodicTaskTypes]string{"dump_st", "pst_st", "flush_info_log", "record_seq_time", "trigger_compaction"}

// FlushInfoLogPeriodSec is how often the info log is flushed.
const FlushInfoLogPeriodSec = 10

// lastInitialDelay spreads what several databases do over their periods.
var lastInitialDelay atomic.Uint64

// PeriodicTaskScheduler runs a database's tasks, one at a time. The zero value
// with a clock is ready for use; it is safe for concurrent use, but not from
// within a task.
type PeriodicTaskScheduler struct {
	Clock rocksdb.SystemClock

	mu struct {
		sync.Mutex
		timer   *timer.Timer                // nil while there is no task
		periods map[PeriodicTaskType]uint64 // seconds
	}
}

// PeriodicTaskRegistration is what the sync point of Register gets.
type PeriodicTaskRegistration struct {
	Type   PeriodicTaskType
	Period uint64
}

// Register runs fn each period seconds, for the first time after one period or,
// if immediately, soon. A task of that type with another period is replaced; one
// with the same stays. A period of 0 is InvalidArgument.
func (s *PeriodicTaskScheduler) Register(t PeriodicTaskType, fn func(), period uint64, immediately bool) error {
	if period == 0 {
		return rocksdb.InvalidArgument("Invalid task repeat period")
	}
	const second = 1000000
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.periods[t] == period {
		return nil
	}
	if s.mu.timer == nil {
		s.mu.timer = timer.NewTimer(s.Clock)
		s.mu.timer.Start()
		s.mu.periods = map[PeriodicTaskType]uint64{}
	}
	s.mu.timer.Cancel(periodicTaskTypeNames[t])
	delay := (lastInitialDelay.Add(1) - 1) % period * second
	if !immediately {
		delay += period * second
	}
	if !s.mu.timer.Add(fn, periodicTaskTypeNames[t], delay, period*second) {
		return rocksdb.Aborted("Failed to register periodic task")
	}
	s.mu.periods[t] = period
	syncpoint.ProcessArg("PeriodicTaskScheduler::Register:TaskRegistered", &PeriodicTaskRegistration{t, period})
	return nil
}

// Unregister ends a task, after its function has returned if it runs.
func (s *PeriodicTaskScheduler) Unregister(t PeriodicTaskType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.timer == nil {
		return
	}
	s.mu.timer.Cancel(periodicTaskTypeNames[t])
	delete(s.mu.periods, t)
	if len(s.mu.periods) == 0 {
		s.mu.timer.Shutdown()
		s.mu.timer = nil
	}
}

// UnregisterAll ends all tasks.
func (s *PeriodicTaskScheduler) UnregisterAll() {
	for t := range NumPeriodicTaskTypes {
		s.Unregister(t)
	}
}

// TestSetInitialDelay sets what the next task registered is delayed by, in seconds.
func TestSetInitialDelay(seconds uint64) { lastInitialDelay.Store(seconds) }

// TestWaitForRun calls advance, which moves the clock, and waits for the tasks
// that are due then; upstream: TEST_WaitForRun.
func (s *PeriodicTaskScheduler) TestWaitForRun(advance func()) {
	s.mu.Lock()
	t := s.mu.timer
	s.mu.Unlock()
	if t == nil {
		advance()
		return
	}
	t.TestWaitForRun(advance)
}

// TestGetValidTaskNum counts the tasks; upstream: TEST_GetValidTaskNum.
func (s *PeriodicTaskScheduler) TestGetValidTaskNum() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.mu.periods)
}

// TestHasTask tells whether there is a task; upstream: TEST_HasTask.
func (s *PeriodicTaskScheduler) TestHasTask(t PeriodicTaskType) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.periods[t] != 0
}

// Port of include/rocksdb/concurrent_task_limiter.h.

package rocksdb

// ConcurrentTaskLimiter bounds the compactions that run at a time over all the
// column families, and databases, that share it. Safe for concurrent use. Only
// the built-in one can be given to the engine: util.NewConcurrentTaskLimiter.
type ConcurrentTaskLimiter interface {
	GetName() string
	// SetMaxOutstandingTask sets the bound: 0 allows no new task, a negative
	// limit any number.
	SetMaxOutstandingTask(limit int32)
	// ResetMaxOutstandingTask removes the bound.
	ResetMaxOutstandingTask()
	// GetOutstandingTask is the number of tasks that run.
	GetOutstandingTask() int32
}

// Port of util/concurrent_task_limiter_impl.{h,cc}. Differs: a token is given
// back by Release; Go has no destructors.

package util

import "sync/atomic"

// ConcurrentTaskLimiterImpl is the built-in rocksdb.ConcurrentTaskLimiter. Safe
// for concurrent use.
type ConcurrentTaskLimiterImpl struct {
	name        string
	limit       atomic.Int32
	outstanding atomic.Int32
}

// NewConcurrentTaskLimiter makes a limiter; a negative limit is none.
func NewConcurrentTaskLimiter(name string, limit int32) *ConcurrentTaskLimiterImpl {
	l := &ConcurrentTaskLimiterImpl{name: name}
	l.limit.Store(limit)
	return l
}

// GetName is the name given to it.
func (l *ConcurrentTaskLimiterImpl) GetName() string { return l.name }

// SetMaxOutstandingTask sets the limit.
func (l *ConcurrentTaskLimiterImpl) SetMaxOutstandingTask(limit int32) { l.limit.Store(limit) }

// ResetMaxOutstandingTask removes the limit.
func (l *ConcurrentTaskLimiterImpl) ResetMaxOutstandingTask() { l.limit.Store(-1) }

// GetOutstandingTask is the number of tokens out.
func (l *ConcurrentTaskLimiterImpl) GetOutstandingTask() int32 { return l.outstanding.Load() }

// GetToken asks leave for a task: nil if the limit is reached, unless force.
func (l *ConcurrentTaskLimiterImpl) GetToken(force bool) *TaskLimiterToken {
	limit := l.limit.Load()
	for {
		tasks := l.outstanding.Load()
		if !force && limit >= 0 && tasks >= limit {
			return nil
		}
		if l.outstanding.CompareAndSwap(tasks, tasks+1) {
			return &TaskLimiterToken{limiter: l}
		}
	}
}

// TaskLimiterToken is leave for one task. It belongs to one goroutine at a time.
type TaskLimiterToken struct{ limiter *ConcurrentTaskLimiterImpl }

// Release gives the token back; again, or on nil, it does nothing.
func (t *TaskLimiterToken) Release() {
	if t != nil && t.limiter != nil {
		t.limiter.outstanding.Add(-1)
		t.limiter = nil
	}
}

// Port of include/rocksdb/threadpool.h and of Env::Priority and CpuPriority of
// include/rocksdb/env.h. Differs: NewThreadPool is in util/threadpool.

package rocksdb

// Priority names a pool of background goroutines.
type Priority uint8

// The pools, lowest first. TotalPriority is their number.
const (
	BottomPriority Priority = iota
	LowPriority
	HighPriority
	UserPriority
	TotalPriority
)

// String gives upstream's name of the pool.
func (p Priority) String() string {
	switch p {
	case BottomPriority:
		return "Bottom"
	case LowPriority:
		return "Low"
	case HighPriority:
		return "High"
	case UserPriority:
		return "User"
	}
	return "Invalid"
}

// CPUPriority is how eagerly the system runs a pool's threads.
type CPUPriority int8

// The CPU priorities, lowest first.
const (
	CPUPriorityIdle CPUPriority = iota
	CPUPriorityLow
	CPUPriorityNormal
	CPUPriorityHigh
)

// ThreadPool runs jobs on a bounded number of goroutines.
type ThreadPool interface {
	// JoinAllThreads waits for the running jobs and drops those not started.
	JoinAllThreads()
	// SetBackgroundThreads sets how many jobs may run at once.
	SetBackgroundThreads(num int)
	GetBackgroundThreads() int
	// GetQueueLen is the number of jobs not started.
	GetQueueLen() uint
	// WaitForJobsAndJoinAllThreads waits until all jobs, started or not, are
	// done. After it or JoinAllThreads the pool has no goroutines: jobs wait
	// until SetBackgroundThreads gives it some.
	WaitForJobsAndJoinAllThreads()
	// SubmitJob queues a job; the same function may be queued several times.
	SubmitJob(job func())
	// ReserveThreads keeps up to n idle goroutines from taking jobs and returns
	// how many it got.
	ReserveThreads(n int) int
	// ReleaseThreads gives up to n of them back and returns how many.
	ReleaseThreads(n int) int
}

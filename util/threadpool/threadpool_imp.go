// Port of util/threadpool_imp.{h,cc}. Differs: workers are goroutines, which keep
// to a thread of their own once its priority was lowered; a job may ask for its
// worker's status; joining drops queued jobs.

package threadpool

import (
	"runtime"
	"strconv"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// item is a queued job.
type item struct {
	tag     any
	run     func(*monitoring.ThreadStatusData)
	unsched func() // may be nil
}

// ThreadPoolImpl is the built-in ThreadPool. Make it with NewThreadPoolImpl.
type ThreadPoolImpl struct {
	mu struct {
		sync.Mutex
		signal   *sync.Cond // something a worker waits for has changed
		taken    *sync.Cond // what AwaitPickup waits for has changed
		priority rocksdb.Priority
		updater  *monitoring.ThreadStatusUpdater // nil: no status

		queue []item // first to run first
		limit int    // workers wanted
		// workers are numbered from 0; those from limit on are surplus.
		workers  int
		joined   *sync.Cond // alive has become 0
		alive    int        // workers whose goroutine has not ended
		reserved int        // waiting workers that may not take jobs
		waiting  int        // workers without a job

		exitAll     bool // being joined
		waitForJobs bool // … after all jobs

		lowIOPriority bool
		cpuPriority   rocksdb.CPUPriority
	}
}

var _ rocksdb.ThreadPool = (*ThreadPoolImpl)(nil)

// NewThreadPool gives a pool of numThreads goroutines.
func NewThreadPool(numThreads int) *ThreadPoolImpl {
	p := NewThreadPoolImpl(rocksdb.LowPriority, nil)
	p.SetBackgroundThreads(numThreads)
	return p
}

// NewThreadPoolImpl gives a pool without goroutines. Its workers are listed by
// updater as threads of that priority; updater may be nil.
func NewThreadPoolImpl(priority rocksdb.Priority, updater *monitoring.ThreadStatusUpdater) *ThreadPoolImpl {
	p := &ThreadPoolImpl{}
	p.mu.signal = sync.NewCond(&p.mu)
	p.mu.taken = sync.NewCond(&p.mu)
	p.mu.joined = sync.NewCond(&p.mu)
	p.mu.priority = priority
	p.mu.updater = updater
	p.mu.cpuPriority = rocksdb.CPUPriorityNormal
	return p
}

// GetThreadPriority is the pool's priority.
func (p *ThreadPoolImpl) GetThreadPriority() rocksdb.Priority {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.priority
}

// SetThreadPriority sets it for workers not yet made.
func (p *ThreadPoolImpl) SetThreadPriority(priority rocksdb.Priority) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.priority = priority
}

// SetBackgroundThreads sets how many jobs may run at once. When that is fewer
// than before, surplus workers end after their jobs.
func (p *ThreadPoolImpl) SetBackgroundThreads(num int) { p.setBackgroundThreads(num, true) }

// IncBackgroundThreadsIfNeeded is SetBackgroundThreads that never lowers.
func (p *ThreadPoolImpl) IncBackgroundThreadsIfNeeded(num int) { p.setBackgroundThreads(num, false) }

func (p *ThreadPoolImpl) setBackgroundThreads(num int, allowReduce bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.exitAll {
		return
	}
	if num > p.mu.limit || num < p.mu.limit && allowReduce {
		p.mu.limit = max(0, num)
		p.mu.signal.Broadcast()
		p.mu.taken.Broadcast()
		p.startWorkersLocked()
	}
}

// GetBackgroundThreads is how many jobs may run at once.
func (p *ThreadPoolImpl) GetBackgroundThreads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.limit
}

// GetQueueLen is the number of jobs not started.
func (p *ThreadPoolImpl) GetQueueLen() uint {
	p.mu.Lock()
	defer p.mu.Unlock()
	return uint(len(p.mu.queue))
}

// LowerIOPriority makes the workers' reads and writes yield to all others, from
// their next job on; Linux only, and only with a scheduler that knows priorities.
func (p *ThreadPoolImpl) LowerIOPriority() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.lowIOPriority = true
}

// LowerCPUPriority lowers the workers' CPU priority from their next job on; a
// higher one than they have is ignored. Linux only.
func (p *ThreadPoolImpl) LowerCPUPriority(pri rocksdb.CPUPriority) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.cpuPriority = pri
}

// SubmitJob queues a job that cannot be taken back.
func (p *ThreadPoolImpl) SubmitJob(job func()) { p.Schedule(job, nil, nil) }

// Schedule queues a job. UnSchedule with an equal tag takes it back, unless it
// has started, and then calls unsched, if not nil, instead. Dynamic types of tags
// have to be comparable.
func (p *ThreadPoolImpl) Schedule(job func(), tag any, unsched func()) {
	p.ScheduleWithStatus(func(*monitoring.ThreadStatusData) { job() }, tag, unsched)
}

// ScheduleWithStatus is Schedule for a job that says what it is doing. It gets
// its worker's status, nil when the pool keeps none, and has to leave it reset.
func (p *ThreadPoolImpl) ScheduleWithStatus(job func(*monitoring.ThreadStatusData), tag any, unsched func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.exitAll {
		return
	}
	p.startWorkersLocked()
	p.mu.queue = append(p.mu.queue, item{tag: tag, run: job, unsched: unsched})
	syncpoint.Process("ThreadPoolImpl::Submit::Enqueue")
	if p.mu.workers > p.mu.limit {
		p.mu.signal.Broadcast() // the one woken might be one that has to end
	} else {
		p.mu.signal.Signal()
	}
}

// AwaitPickup waits until the workers that wait for jobs have taken those queued.
// Where all processors are busy a job would else start only when some goroutine is
// through with its time slice: the scheduler prefers whoever became runnable last
// to the worker that was woken.
func (p *ThreadPoolImpl) AwaitPickup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.mu.queue) > 0 && p.mu.waiting > p.mu.reserved && p.mu.workers <= p.mu.limit {
		p.mu.taken.Wait()
	}
}

// UnSchedule takes the queued jobs with that tag back, calls their unsched
// functions and returns how many there were.
func (p *ThreadPoolImpl) UnSchedule(tag any) int {
	p.mu.Lock()
	kept := make([]item, 0, len(p.mu.queue))
	var removed []item
	for _, it := range p.mu.queue {
		if it.tag == tag {
			removed = append(removed, it)
		} else {
			kept = append(kept, it)
		}
	}
	p.mu.queue = kept
	p.mu.taken.Broadcast()
	p.mu.Unlock()
	for _, it := range removed {
		if it.unsched != nil {
			it.unsched()
		}
	}
	return len(removed)
}

// ReserveThreads keeps up to n of the waiting workers from taking jobs and
// returns how many it got.
func (p *ThreadPoolImpl) ReserveThreads(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Fewer may wait than are reserved, after surplus workers have ended.
	got := max(0, min(p.mu.waiting-p.mu.reserved, n))
	p.mu.reserved += got
	p.mu.taken.Broadcast()
	return got
}

// ReleaseThreads gives up to n of them back and returns how many.
func (p *ThreadPoolImpl) ReleaseThreads(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	released := max(0, min(p.mu.reserved, n))
	p.mu.reserved -= released
	p.mu.signal.Broadcast()
	return released
}

// JoinAllThreads waits for the running jobs, drops those not started and ends
// all workers.
func (p *ThreadPoolImpl) JoinAllThreads() { p.joinThreads(false) }

// WaitForJobsAndJoinAllThreads runs all jobs, started or not, and ends all
// workers. Without workers it drops them.
func (p *ThreadPoolImpl) WaitForJobsAndJoinAllThreads() { p.joinThreads(true) }

func (p *ThreadPoolImpl) joinThreads(waitForJobs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.waitForJobs = waitForJobs
	p.mu.exitAll = true
	p.mu.limit = 0 // so that jobs submitted meanwhile make no workers
	p.mu.reserved = 0
	p.mu.signal.Broadcast()
	for p.mu.alive > 0 {
		p.mu.joined.Wait()
	}
	p.mu.queue = nil
	p.mu.workers = 0
	p.mu.exitAll = false
	p.mu.waitForJobs = false
}

func (p *ThreadPoolImpl) startWorkersLocked() {
	for ; p.mu.workers < p.mu.limit; p.mu.workers++ {
		p.mu.alive++
		go p.worker(p.mu.workers, p.mu.updater.RegisterThread(threadType(p.mu.priority), monitoring.NewThreadID()))
	}
}

func threadType(priority rocksdb.Priority) rocksdb.ThreadType {
	switch priority {
	case rocksdb.HighPriority:
		return rocksdb.ThreadTypeHighPriority
	case rocksdb.LowPriority:
		return rocksdb.ThreadTypeLowPriority
	case rocksdb.BottomPriority:
		return rocksdb.ThreadTypeBottomPriority
	}
	return rocksdb.ThreadTypeUser
}

// worker takes and runs jobs until it has to end.
func (p *ThreadPoolImpl) worker(id int, status *monitoring.ThreadStatusData) {
	own := threadPriorities{cpu: rocksdb.CPUPriorityNormal}
	p.mu.Lock()
	for {
		it, ok := p.nextLocked(id)
		if !ok {
			break
		}
		lowIO, cpu, priority := p.mu.lowIOPriority, p.mu.cpuPriority, p.mu.priority
		p.mu.Unlock()
		own.lower(lowIO, cpu)
		if syncpoint.Enabled {
			syncpoint.ProcessArg("ThreadPoolImpl::Impl::BGThread:BeforeRun", &priority)
		}
		it.run(status)
		it = item{} // let go of what the job holds while waiting
		p.mu.Lock()
	}
	updater := p.mu.updater
	p.mu.Unlock()
	updater.UnregisterThread(status)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.alive--; p.mu.alive == 0 {
		p.mu.joined.Broadcast()
	}
}

// nextLocked waits for a job; false when the worker has to end.
func (p *ThreadPoolImpl) nextLocked(id int) (item, bool) {
	p.mu.waiting++
	if syncpoint.Enabled {
		syncpoint.Process("ThreadPoolImpl::BGThread::WaitingThreadsInc")
		syncpoint.Process("ThreadPoolImpl::BGThread::Start:th" + strconv.Itoa(id))
	}
	// isLast: the worker is surplus, and the one to end first.
	isLast := func() bool { return id >= p.mu.limit && id == p.mu.workers-1 }
	for !p.mu.exitAll && !isLast() &&
		(len(p.mu.queue) == 0 || id >= p.mu.limit || p.mu.waiting <= p.mu.reserved) {
		p.mu.signal.Wait()
	}
	p.mu.waiting--
	p.mu.taken.Broadcast()
	switch {
	case p.mu.exitAll:
		if !p.mu.waitForJobs || len(p.mu.queue) == 0 {
			return item{}, false
		}
	case isLast():
		p.mu.workers--
		if p.mu.workers > p.mu.limit {
			p.mu.signal.Broadcast()
		}
		if syncpoint.Enabled {
			syncpoint.Process("ThreadPoolImpl::BGThread::Termination:th" + strconv.Itoa(id))
			syncpoint.Process("ThreadPoolImpl::BGThread::Termination")
		}
		return item{}, false
	}
	it := p.mu.queue[0]
	p.mu.queue[0] = item{}
	p.mu.queue = p.mu.queue[1:]
	return it, true
}

// threadPriorities are those of a worker's thread.
type threadPriorities struct {
	locked bool
	lowIO  bool
	cpu    rocksdb.CPUPriority
}

// lower sets the thread's priorities, once the pool's are lower. The goroutine
// then keeps the thread, which ends with it.
func (t *threadPriorities) lower(lowIO bool, cpu rocksdb.CPUPriority) {
	if lowIO == t.lowIO && cpu >= t.cpu {
		return
	}
	if !t.locked {
		runtime.LockOSThread()
		t.locked = true
	}
	if cpu < t.cpu {
		if syncpoint.Enabled {
			syncpoint.ProcessArg("ThreadPoolImpl::BGThread::BeforeSetCpuPriority", &t.cpu)
		}
		setThreadCPUPriority(cpu)
		t.cpu = cpu
		if syncpoint.Enabled {
			syncpoint.ProcessArg("ThreadPoolImpl::BGThread::AfterSetCpuPriority", &t.cpu)
		}
	}
	if lowIO && !t.lowIO {
		setThreadIOPriorityIdle()
		t.lowIO = true
	}
}

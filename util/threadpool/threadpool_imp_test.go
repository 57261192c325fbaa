// Port of the cases of env/env_test.cc that concern the pool alone. Differs: they
// run on the pool itself.

package threadpool

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// sleepingTask runs until it is woken.
type sleepingTask struct {
	mu       sync.Mutex
	sleeping bool
	wake     chan struct{}
}

func newTasks(n int) []*sleepingTask {
	tasks := make([]*sleepingTask, n)
	for i := range tasks {
		tasks[i] = &sleepingTask{wake: make(chan struct{})}
	}
	return tasks
}

func (s *sleepingTask) set(sleeping bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sleeping = sleeping
}

func (s *sleepingTask) run() {
	s.set(true)
	<-s.wake
	s.set(false)
}

// poolTest is a pool in a bubble, and its tasks.
type poolTest struct {
	*testing.T
	pool  *ThreadPoolImpl
	tasks []*sleepingTask
}

func testPool(t *testing.T, tasks int, f func(p *poolTest)) {
	synctest.Test(t, func(t *testing.T) {
		p := &poolTest{t, NewThreadPoolImpl(rocksdb.HighPriority, nil), newTasks(tasks)}
		f(p)
		p.pool.JoinAllThreads()
		check(t, "threads", p.pool.GetBackgroundThreads(), 0)
	})
}

func (p *poolTest) schedule(from, to int) {
	for _, task := range p.tasks[from:to] {
		p.pool.Schedule(task.run, nil, nil)
	}
}

func (p *poolTest) wake(tasks ...int) {
	for _, i := range tasks {
		close(p.tasks[i].wake)
	}
}

// expect waits until nothing moves, and checks which tasks run.
func (p *poolTest) expect(queueLen uint, running ...int) {
	p.Helper()
	synctest.Wait()
	var got []int
	for i, task := range p.tasks {
		task.mu.Lock()
		if task.sleeping {
			got = append(got, i)
		}
		task.mu.Unlock()
	}
	if !slices.Equal(got, running) || p.pool.GetQueueLen() != queueLen {
		p.Errorf("running %v and %d queued, want %v and %d", got, p.pool.GetQueueLen(), running, queueLen)
	}
}

func TestEnvPosixTestWithParam_DecreaseNumBgThreads(t *testing.T) {
	testPool(t, 10, func(p *poolTest) {
		p.pool.SetBackgroundThreads(1)
		p.schedule(0, 3)
		p.expect(2, 0)
		p.pool.SetBackgroundThreads(2)
		p.expect(1, 0, 1)
		p.pool.SetBackgroundThreads(1)
		p.expect(1, 0, 1)
		p.wake(1)
		p.expect(1, 0)
		p.pool.SetBackgroundThreads(5)
		p.expect(0, 0, 2)
		p.pool.SetBackgroundThreads(7)
		p.wake(2)
		p.expect(0, 0)
		for _, n := range []int{3, 4, 5, 4} {
			p.pool.SetBackgroundThreads(n)
			p.expect(0, 0)
		}
		p.schedule(3, 8)
		p.expect(2, 0, 3, 4, 5)
		p.wake(0, 3, 4)
		p.expect(0, 5, 6, 7)
		p.pool.SetBackgroundThreads(1)
		p.expect(0, 5, 6, 7)
		p.wake(6)
		p.expect(0, 5, 7)
		p.wake(7)
		p.expect(0, 5)
		p.schedule(8, 10)
		synctest.Wait()
		if n := p.pool.GetQueueLen(); n == 0 {
			t.Error("both new tasks run")
		}
		p.pool.SetBackgroundThreads(4)
		p.expect(0, 5, 8, 9)
		p.pool.SetBackgroundThreads(1)
		p.wake(9)
		p.expect(0, 5, 8)
		p.wake(8)
		p.expect(0, 5)
		p.wake(5)
		p.expect(0)
	})
}

func TestEnvPosixTestWithParam_ReserveThreads(t *testing.T) {
	testPool(t, 4, func(p *poolTest) {
		p.pool.SetBackgroundThreads(3)
		synctest.Wait()
		check(t, "reserved", p.pool.ReserveThreads(2), 2)
		p.schedule(0, 3)
		p.expect(2, 0)
		check(t, "released", p.pool.ReleaseThreads(2), 2)
		p.expect(0, 0, 1, 2)
		check(t, "reserved", p.pool.ReserveThreads(3), 0)
		p.pool.SetBackgroundThreads(4)
		synctest.Wait()
		check(t, "reserved", p.pool.ReserveThreads(3), 1)
		check(t, "reserved", p.pool.ReserveThreads(3), 0)
		p.wake(0)
		p.expect(0, 1, 2)
		check(t, "reserved", p.pool.ReserveThreads(3), 1)
		// The last worker ends, so fewer wait than are reserved.
		p.pool.SetBackgroundThreads(1)
		synctest.Wait()
		check(t, "released", p.pool.ReleaseThreads(2), 2)
		if n := p.pool.ReserveThreads(2); n >= 2 {
			t.Errorf("reserved %d", n)
		}
		p.schedule(3, 4)
		p.expect(1, 1, 2)
		p.pool.SetBackgroundThreads(3)
		p.wake(1)
		p.expect(0, 2, 3)
		if n := p.pool.ReleaseThreads(3); n >= 2 {
			t.Errorf("released %d", n)
		}
		p.wake(2, 3)
		p.expect(0)
		check(t, "reserved", p.pool.ReserveThreads(-1), 0)
		check(t, "released", p.pool.ReleaseThreads(-1), 0)
	})
}

func TestThreadPoolImpl_UnSchedule(t *testing.T) {
	testPool(t, 1, func(p *poolTest) {
		p.pool.SetBackgroundThreads(1)
		p.schedule(0, 1)
		synctest.Wait()
		ran, undone := 0, 0
		job, undo := func() { ran++ }, func() { undone++ }
		type tag struct{ n int }
		p.pool.Schedule(job, tag{1}, undo)
		p.pool.Schedule(job, tag{2}, undo)
		p.pool.Schedule(job, tag{1}, undo)
		p.pool.Schedule(job, tag{1}, nil)
		check(t, "queued", p.pool.GetQueueLen(), 4)
		check(t, "taken back", p.pool.UnSchedule(tag{1}), 3)
		check(t, "taken back again", p.pool.UnSchedule(tag{1}), 0)
		check(t, "undone", undone, 2)
		p.wake(0)
		p.expect(0)
		check(t, "ran", ran, 1)
	})
}

func TestThreadPoolImpl_RunMany(t *testing.T) {
	testPool(t, 0, func(p *poolTest) {
		p.pool.SetBackgroundThreads(1)
		var order []int
		for i := range 100 {
			p.pool.SubmitJob(func() { order = append(order, i) })
		}
		p.pool.WaitForJobsAndJoinAllThreads()
		check(t, "jobs", len(order), 100)
		check(t, "in order", slices.IsSorted(order), true)
	})
}

func TestThreadPoolImpl_TwoPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []int{2, 4} {
			pool := NewThreadPool(limit)
			running, most, done := 0, 0, 0
			var mu sync.Mutex
			for range 20 {
				pool.SubmitJob(func() {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Millisecond)
					mu.Lock()
					running--
					done++
					mu.Unlock()
				})
			}
			pool.WaitForJobsAndJoinAllThreads()
			check(t, "done", done, 20)
			check(t, "most at once", most, limit)
		}
	})
}

func TestThreadPoolImpl_JoinAllThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewThreadPool(1)
		done := 0
		for range 3 {
			pool.SubmitJob(func() {
				time.Sleep(time.Second)
				done++
			})
		}
		synctest.Wait()
		pool.JoinAllThreads() // waits for the first, drops the others
		check(t, "done", done, 1)
		check(t, "queued", pool.GetQueueLen(), 0)
		pool.JoinAllThreads()

		// Without workers jobs wait; the pool can be used again.
		pool.SubmitJob(func() { done += 10 })
		synctest.Wait()
		check(t, "queued", pool.GetQueueLen(), 1)
		pool.IncBackgroundThreadsIfNeeded(2)
		pool.IncBackgroundThreadsIfNeeded(1)
		check(t, "threads", pool.GetBackgroundThreads(), 2)
		pool.SetBackgroundThreads(-1)
		check(t, "threads", pool.GetBackgroundThreads(), 0)
		pool.SetBackgroundThreads(1)
		pool.WaitForJobsAndJoinAllThreads()
		check(t, "done", done, 11)
	})
}

func TestThreadPoolImpl_LowerPriority(t *testing.T) {
	pool := NewThreadPool(1)
	done := make(chan struct{})
	pool.LowerIOPriority()
	pool.LowerCPUPriority(rocksdb.CPUPriorityHigh) // never raised
	pool.SubmitJob(func() { done <- struct{}{} })
	<-done
	pool.LowerCPUPriority(rocksdb.CPUPriorityLow)
	pool.SubmitJob(func() { done <- struct{}{} })
	<-done
	pool.LowerCPUPriority(rocksdb.CPUPriorityIdle)
	pool.SubmitJob(func() { done <- struct{}{} })
	<-done
	pool.JoinAllThreads()
}

// TestThreadPoolImpl_Concurrent is for the race detector.
func TestThreadPoolImpl_Concurrent(t *testing.T) {
	pool := NewThreadPool(2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	ran, undone := 0, 0
	for i := range 4 {
		wg.Go(func() {
			for n := range 200 {
				pool.Schedule(func() { mu.Lock(); ran++; mu.Unlock() }, i, func() { mu.Lock(); undone++; mu.Unlock() })
				switch n % 50 {
				case 10:
					pool.SetBackgroundThreads(1 + i)
				case 20:
					pool.UnSchedule(i)
				case 30:
					pool.ReleaseThreads(pool.ReserveThreads(1))
				}
			}
		})
	}
	wg.Wait()
	pool.IncBackgroundThreadsIfNeeded(1)
	pool.WaitForJobsAndJoinAllThreads()
	check(t, "jobs", ran+undone, 800)
}

// AwaitPickup waits for idle workers only.
func TestThreadPoolImpl_AwaitPickup(t *testing.T) {
	p := NewThreadPool(1)
	defer p.JoinAllThreads()
	p.AwaitPickup() // nothing is queued
	for range 100 {
		started, done := make(chan struct{}), make(chan struct{})
		p.SubmitJob(func() { close(started); <-done })
		p.AwaitPickup()
		<-started
		p.SubmitJob(func() {})
		p.AwaitPickup() // the only worker is busy
		if n := p.GetQueueLen(); n != 1 {
			t.Fatalf("%d jobs are queued behind the only worker", n)
		}
		close(done)
		for p.GetQueueLen() != 0 {
			p.AwaitPickup()
		}
	}
	if n := p.ReserveThreads(1); n == 1 {
		p.SubmitJob(func() {})
		p.AwaitPickup() // no worker may take it
		p.ReleaseThreads(1)
	}
}

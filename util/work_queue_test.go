// Port of util/work_queue_test.cc.

package util_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rocksdb-go/rocksdb/util"
)

func wantPop(t *testing.T, q *util.WorkQueue[int], want int) {
	t.Helper()
	if got, ok := q.Pop(); !ok || got != want {
		t.Errorf("%d %v, want %d", got, ok, want)
	}
}

func wantEnd(t *testing.T, q *util.WorkQueue[int]) {
	t.Helper()
	if got, ok := q.Pop(); ok {
		t.Errorf("%d after the end", got)
	}
}

func TestWorkQueue_SingleThreaded(t *testing.T) {
	q := util.NewWorkQueue[int](0)
	q.Push(5)
	wantPop(t, q, 5)
	for i := 0; i < 2; i++ {
		q.Push(1)
		q.Push(2)
		if i == 1 {
			q.Finish()
		}
		wantPop(t, q, 1)
		wantPop(t, q, 2)
	}
	wantEnd(t, q)
	q.WaitUntilFinished()
}

func TestWorkQueue_SPSC(t *testing.T) {
	const n = 100
	q := util.NewWorkQueue[int](0)
	for i := 0; i < 10; i++ {
		q.Push(i)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			got, ok := q.Pop()
			if !ok {
				if i != n {
					t.Errorf("%d items", i)
				}
				return
			}
			if got != i {
				t.Errorf("%d, want %d", got, i)
			}
		}
	})
	for i := 10; i < n; i++ {
		q.Push(i)
	}
	q.Finish()
	wg.Wait()
}

// testWorkQueue has pushers push each itemsEach of their own numbers to poppers.
func testWorkQueue(t *testing.T, maxSize, pushers, itemsEach, poppers int) {
	t.Helper()
	q := util.NewWorkQueue[int](maxSize)
	results := make([]int, pushers*itemsEach)
	var mu sync.Mutex
	var pushing, popping sync.WaitGroup
	for i := 0; i < poppers; i++ {
		popping.Go(func() {
			for {
				v, ok := q.Pop()
				if !ok {
					return
				}
				mu.Lock()
				results[v]++
				mu.Unlock()
			}
		})
	}
	for i := 0; i < pushers; i++ {
		pushing.Go(func() {
			for j := i * itemsEach; j < (i+1)*itemsEach; j++ {
				if !q.Push(j) {
					t.Errorf("%d was not pushed", j)
				}
			}
		})
	}
	pushing.Wait()
	q.Finish()
	popping.Wait()
	for v, n := range results {
		if n != 1 {
			t.Errorf("%d came %d times", v, n)
		}
	}
}

func TestWorkQueue_SPMC(t *testing.T) { testWorkQueue(t, 0, 1, 50, 5) }

func TestWorkQueue_MPMC(t *testing.T) { testWorkQueue(t, 0, 2, 50, 4) }

func TestWorkQueue_BoundedSizeMPMC(t *testing.T) { testWorkQueue(t, 10, 2, 100, 4) }

func TestWorkQueue_BoundedSizeWorks(t *testing.T) {
	q := util.NewWorkQueue[int](1)
	for i := 0; i < 3; i++ {
		q.Push(5)
		if i == 2 {
			q.Finish()
		}
		wantPop(t, q, 5)
	}
}

// testPushRefused has a pusher wait for room until the queue is finished.
func testPushRefused(t *testing.T, maxSize int, items ...int) {
	synctest.Test(t, func(t *testing.T) {
		q := util.NewWorkQueue[int](len(items))
		for _, v := range items {
			q.Push(v)
		}
		q.SetMaxSize(maxSize)
		var pushed bool
		var wg sync.WaitGroup
		wg.Go(func() { pushed = q.Push(7) })
		synctest.Wait()
		q.Finish()
		for _, v := range items {
			wantPop(t, q, v)
		}
		wantEnd(t, q)
		wg.Wait()
		if pushed {
			t.Error("pushed after the end")
		}
	})
}

func TestWorkQueue_BoundedSizePushAfterFinish(t *testing.T) { testPushRefused(t, 1, 5) }

func TestWorkQueue_SetMaxSize(t *testing.T) { testPushRefused(t, 1, 5, 6) }

func TestWorkQueue_FailedPush(t *testing.T) {
	q := util.NewWorkQueue[int](0)
	if !q.Push(1) {
		t.Error("not pushed")
	}
	q.Finish()
	if q.Push(1) {
		t.Error("pushed after the end")
	}
}

func TestWorkQueue_FailedPop(t *testing.T) {
	q := util.NewWorkQueue[int](0)
	if !q.Push(5) {
		t.Error("not pushed")
	}
	q.Finish()
	wantPop(t, q, 5)
	wantEnd(t, q)
}

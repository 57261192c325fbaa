// Port of util/timer_queue_test.cc. Differs: time is that of testing/synctest,
// and what upstream's test prints is checked.

package timer

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimerQueueTest_BasicFunctionality(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTimerQueue()
		start := time.Now()
		type call struct {
			timer   int
			aborted bool
			after   time.Duration
		}
		var mu sync.Mutex
		var calls []call
		take := func() []call {
			mu.Lock()
			defer mu.Unlock()
			got := calls
			calls = nil
			slices.SortFunc(got, func(a, b call) int { return int(a.after-b.after) + a.timer - b.timer })
			return got
		}
		add := func(n int, ms int64, repeat bool) uint64 {
			return q.Add(ms, func(aborted bool) (bool, int64) {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, call{n, aborted, time.Since(start)})
				return repeat && !aborted, -1
			})
		}
		add(1, 10000, false)
		add(2, 10001, false)
		add(3, 1000, true)
		id := add(4, 2000, true)
		pass(2500 * 1000)
		want := []call{{3, false, time.Second}, {3, false, 2 * time.Second}, {4, false, 2 * time.Second}}
		if calls := take(); !slices.Equal(calls, want) {
			t.Errorf("calls %v, want %v", calls, want)
		}
		check(t, "cancelled", q.Cancel(id), true)
		check(t, "cancelled again", q.Cancel(id), false)
		synctest.Wait()
		want = []call{{4, true, 2500 * time.Millisecond}}
		if calls := take(); !slices.Equal(calls, want) {
			t.Errorf("calls %v, want %v", calls, want)
		}
		q.Shutdown()
		q.Shutdown()
		check(t, "ID after the end", add(5, 1, false), 0)
		at := 2500 * time.Millisecond
		want = []call{{1, true, at}, {2, true, at}, {3, true, at}}
		if calls := take(); !slices.Equal(calls, want) {
			t.Errorf("calls %v, want %v", calls, want)
		}
	})
}

func TestTimerQueue_CancelAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTimerQueue()
		var aborted, ran counter
		handler := func(a bool) (bool, int64) {
			if a {
				aborted.add()
			} else {
				ran.add()
			}
			return ran.get() < 3, 5
		}
		q.Add(10, handler)
		q.Add(20, handler)
		check(t, "cancelled", q.CancelAll(), 2)
		synctest.Wait()
		check(t, "aborted", aborted.get(), 2)
		q.Add(10, handler) // the queue works as before: at 10, 15, 20 ms
		pass(100 * 1000)
		check(t, "ran", ran.get(), 3)
		q.Shutdown()
		check(t, "aborted", aborted.get(), 2)
	})
}

// Port of util/timer_test.cc. Differs: time is that of testing/synctest instead
// of a mock clock; a timer is shut down instead of destroyed.

package timer

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const usPerSec = 1000000

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// counter is counted by a timer's goroutine and read by the test.
type counter struct{ n atomic.Int64 }

func (c *counter) add()      { c.n.Add(1) }
func (c *counter) set(n int) { c.n.Store(int64(n)) }
func (c *counter) get() int  { return int(c.n.Load()) }

// pass lets time pass, and what is due then run.
func pass(us uint64) {
	time.Sleep(time.Duration(us) * time.Microsecond)
	synctest.Wait()
}

// withTimer runs f with a timer that is shut down afterwards.
func withTimer(t *testing.T, f func(t *testing.T, timer *Timer)) {
	synctest.Test(t, func(t *testing.T) {
		timer := NewTimer(nil)
		f(t, timer)
		timer.Shutdown()
		check(t, "pending", timer.HasPendingTask(), false)
	})
}

func TestTimerTest_SingleScheduleOnce(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		var count counter
		check(t, "added", timer.Add(func() { count.add() }, "fn_sch_test", usPerSec, 0), true)
		check(t, "started", timer.Start(), true)
		check(t, "started again", timer.Start(), false)
		check(t, "count", count.get(), 0)
		check(t, "pending", timer.HasPendingTask(), true)
		pass(usPerSec)
		check(t, "count", count.get(), 1)
		check(t, "pending", timer.HasPendingTask(), false)
		pass(10 * usPerSec)
		check(t, "count", count.get(), 1)
		check(t, "shut down", timer.Shutdown(), true)
		check(t, "shut down again", timer.Shutdown(), false)
	})
}

func TestTimerTest_MultipleScheduleOnce(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		var count1, count2 counter
		timer.Add(func() { count1.add() }, "fn_sch_test1", usPerSec, 0)
		timer.Add(func() { count2.add() }, "fn_sch_test2", 3*usPerSec, 0)
		timer.Start()
		check(t, "first", count1.get(), 0)
		check(t, "second", count2.get(), 0)
		pass(usPerSec)
		check(t, "first", count1.get(), 1)
		check(t, "second", count2.get(), 0)
		pass(2 * usPerSec)
		check(t, "first", count1.get(), 1)
		check(t, "second", count2.get(), 1)
	})
}

func TestTimerTest_SingleScheduleRepeatedly(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		var count counter
		timer.Add(func() { count.add() }, "fn_sch_test", usPerSec, usPerSec)
		timer.Start()
		check(t, "count", count.get(), 0)
		for i := 1; i <= 5; i++ {
			pass(usPerSec)
			check(t, "count", count.get(), i)
		}
	})
}

func TestTimerTest_MultipleScheduleRepeatedly(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		const iterations, repeat, largeRepeat = 5, 2, 100
		var count1, count2, count3 counter
		timer.Add(func() { count1.add() }, "fn_sch_test1", 0, repeat*usPerSec)
		timer.Add(func() { count2.add() }, "fn_sch_test2", usPerSec, repeat*usPerSec)
		timer.Add(func() { count3.add() }, "fn_sch_test3", 0, largeRepeat*usPerSec)
		timer.Start()
		check(t, "second", count2.get(), 0)
		for i := 1; i < iterations*repeat; i++ {
			pass(usPerSec)
			check(t, "first", count1.get(), (i+2)/repeat)
			check(t, "second", count2.get(), (i+1)/repeat)
			check(t, "third", count3.get(), 1)
		}
		timer.Cancel("fn_sch_test1")
		pass(usPerSec)
		check(t, "first", count1.get(), iterations)
		check(t, "second", count2.get(), iterations)
		check(t, "third", count3.get(), 1)
		timer.Cancel("fn_sch_test2")
		check(t, "first", count1.get(), iterations)
		check(t, "second", count2.get(), iterations)
		pass((largeRepeat - iterations*repeat) * usPerSec)
		check(t, "first", count1.get(), iterations)
		check(t, "second", count2.get(), iterations)
		check(t, "third", count3.get(), 2)
	})
}

func TestTimerTest_AddAfterStartTest(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		synctest.Wait() // it waits for a first function
		var count counter
		timer.Add(func() { count.add() }, "fn_sch_test", usPerSec, usPerSec)
		check(t, "count", count.get(), 0)
		for i := 1; i <= 5; i++ {
			pass(usPerSec)
			check(t, "count", count.get(), i)
		}
	})
}

func TestTimerTest_CancelRunningTask(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var value counter
		running := make(chan struct{})
		timer.Add(func() {
			close(running)
			time.Sleep(time.Second)
			value.set(1)
		}, "test_func", 0, usPerSec)
		<-running
		timer.Cancel("test_func")
		check(t, "value", value.get(), 1) // so it waited
		pass(5 * usPerSec)                // closing twice would panic
		check(t, "added anew", timer.Add(func() { value.set(2) }, "test_func", 0, 0), true)
		pass(0)
		check(t, "value", value.get(), 2)
	})
}

func TestTimerTest_ShutdownRunningTask(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var value counter
		running := make(chan struct{})
		timer.Add(func() {
			close(running)
			time.Sleep(time.Second)
			value.set(1)
		}, "test_func1", 0, usPerSec)
		timer.Add(func() { value.set(2) }, "test_func2", 1, usPerSec)
		<-running
		check(t, "shut down", timer.Shutdown(), true)
		check(t, "value", value.get(), 1)
		pass(5 * usPerSec)
		check(t, "value", value.get(), 1)
	})
}

func TestTimerTest_AddSameFuncName(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var counter1, other, counter2 counter
		check(t, "added", timer.Add(func() { counter1.add() }, "duplicated_func", usPerSec, 5*usPerSec), true)
		check(t, "added", timer.Add(func() { other.add() }, "func2", usPerSec, 4*usPerSec), true)
		check(t, "added", timer.Add(func() { counter2.add() }, "duplicated_func", usPerSec, 5*usPerSec), false)
		check(t, "first", counter1.get(), 0)
		check(t, "other", other.get(), 0)
		pass(usPerSec)
		check(t, "first", counter1.get(), 1)
		check(t, "other", other.get(), 1)
		pass(5 * usPerSec)
		check(t, "first", counter1.get(), 2)
		check(t, "other", other.get(), 2)
		check(t, "second", counter2.get(), 0)
	})
}

func TestTimerTest_RepeatIntervalWithFuncRunningTime(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var counter counter
		timer.Add(func() {
			time.Sleep(time.Second)
			counter.add()
		}, "func", usPerSec, 5*usPerSec)
		pass(2 * usPerSec)
		check(t, "counter", counter.get(), 1)
		// The interval counts from the function's end: next is 7 to 8 s.
		pass(4 * usPerSec) // 6 s
		check(t, "counter", counter.get(), 1)
		pass(usPerSec + usPerSec/2) // 7.5 s: it runs
		check(t, "counter", counter.get(), 1)
		pass(usPerSec / 2)
		check(t, "counter", counter.get(), 2)
	})
}

func TestTimerTest_DestroyRunningTimer(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		var count counter
		timer.Add(func() { count.add() }, "fn_sch_test", usPerSec, usPerSec)
		timer.Start()
		pass(usPerSec)
		timer.Shutdown()
		pass(5 * usPerSec)
		check(t, "count", count.get(), 1)
		// A timer can be started again.
		check(t, "started", timer.Start(), true)
		timer.Add(func() { count.add() }, "fn_sch_test", usPerSec, 0)
		pass(usPerSec)
		check(t, "count", count.get(), 2)
	})
}

func TestTimerTest_DestroyTimerWithRunningFunc(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var count counter
		timer.Add(func() {
			time.Sleep(time.Second)
			count.add()
		}, "fn_running_test", 0, usPerSec)
		pass(usPerSec / 2)
		timer.Shutdown()
		check(t, "count", count.get(), 1)
	})
}

func TestTimer_CancelAll(t *testing.T) {
	withTimer(t, func(t *testing.T, timer *Timer) {
		timer.Start()
		var count counter
		timer.Add(func() { count.add() }, "a", usPerSec, usPerSec)
		timer.Add(func() { count.add() }, "b", usPerSec, usPerSec)
		check(t, "pending", timer.PendingTaskNum(), 2)
		timer.Cancel("no such function")
		timer.CancelAll()
		timer.CancelAll()
		check(t, "pending", timer.PendingTaskNum(), 0)
		pass(3 * usPerSec)
		check(t, "count", count.get(), 0)
	})
}

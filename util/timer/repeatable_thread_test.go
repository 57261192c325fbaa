// Port of util/repeatable_thread_test.cc. Differs: time is that of
// testing/synctest.

package timer

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestRepeatableThreadTest_TimedTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const iterations = 3
		var count counter
		done := make(chan struct{})
		prev := time.Now()
		r := NewRepeatableThread(func() {
			count.add()
			now := time.Now()
			if count.get() > 1 && now.Sub(prev) < time.Second {
				t.Errorf("run %d comes %v after the one before", count.get(), now.Sub(prev))
			}
			prev = now
			if count.get() == iterations {
				close(done)
			}
		}, "rt_test", nil, usPerSec, 0)
		<-done
		r.Cancel()
		check(t, "running", r.IsRunning(), false)
		check(t, "count", count.get(), iterations)
	})
}

func TestRepeatableThreadTest_MockEnvTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count counter
		r := NewRepeatableThread(func() { count.add() }, "rt_test", nil, usPerSec, usPerSec)
		check(t, "running", r.IsRunning(), true)
		pass(usPerSec / 2)
		for i := range 3 {
			check(t, "count", count.get(), i)
			pass(usPerSec)
		}
		check(t, "count", count.get(), 3)
		r.Cancel()
		r.Cancel()
		pass(5 * usPerSec)
		check(t, "count", count.get(), 3)
	})
}

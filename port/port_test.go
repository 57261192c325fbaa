// No upstream twin: upstream tests its port through what uses it.

package port_test

import (
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocksdb-go/rocksdb/port"
)

func TestCondVar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		cv := port.NewCondVar(&mu)
		var woken []int
		var wg sync.WaitGroup
		for i := 0; i < 4; i++ {
			wg.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				cv.Wait()
				woken = append(woken, i)
			})
			synctest.Wait()
		}
		cv.Signal()
		synctest.Wait()
		if len(woken) != 1 || woken[0] != 0 {
			t.Errorf("after one signal: %v", woken)
		}
		cv.SignalAll()
		wg.Wait()
		if len(woken) != 4 {
			t.Errorf("after all signals: %v", woken)
		}
		cv.Signal() // nobody there: nothing is kept
		mu.Lock()
		start := time.Now()
		if !cv.TimedWait(start.Add(time.Second)) || time.Since(start) != time.Second {
			t.Errorf("waited for %v", time.Since(start))
		}
		if !cv.TimedWait(start) {
			t.Error("a time that has passed was not out")
		}
		wg.Go(func() {
			time.Sleep(time.Second)
			cv.Signal()
		})
		start = time.Now()
		if cv.TimedWait(start.Add(time.Hour)) || time.Since(start) != time.Second {
			t.Errorf("signalled after %v", time.Since(start))
		}
		mu.Unlock()
		wg.Wait()
	})
}

func TestCondVarManyWaiters(t *testing.T) {
	var mu sync.Mutex
	cv := port.NewCondVar(&mu)
	tokens, taken := 0, 0
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Go(func() {
			for n := 0; n < 200; n++ {
				mu.Lock()
				for tokens == 0 {
					cv.TimedWait(time.Now().Add(time.Millisecond))
				}
				tokens--
				taken++
				mu.Unlock()
			}
		})
		wg.Go(func() {
			for n := 0; n < 200; n++ {
				mu.Lock()
				tokens++
				mu.Unlock()
				cv.Signal()
			}
		})
	}
	wg.Wait()
	if tokens != 0 || taken != 1600 {
		t.Errorf("%d taken, %d left", taken, tokens)
	}
}

func TestGenerateRFCUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := port.GenerateRFCUUID(), port.GenerateRFCUUID()
	if !form.MatchString(a) || !form.MatchString(b) || a == b {
		t.Errorf("%s %s", a, b)
	}
}

func TestLimits(t *testing.T) {
	if n := port.GetMaxOpenFiles(); n == 0 || n < -1 {
		t.Errorf("%d open files", n)
	}
	if port.PageSize()%4096 != 0 || port.CacheLineSize < 32 || port.GetProcessID() <= 0 {
		t.Errorf("%d %d %d", port.PageSize(), port.CacheLineSize, port.GetProcessID())
	}
}

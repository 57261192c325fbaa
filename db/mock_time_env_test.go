// Port of test_util/mock_time_env.{h,cc}. Differs: TimedWait is woken by the clock
// itself.

package db_test

import (
	"sync"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
)

// mockSystemClock stands still until it is moved; it begins at 0.
type mockSystemClock struct {
	rocksdb.SystemClock
	mu    sync.Mutex
	now   uint64        // microseconds
	moved chan struct{} // closed at the next move
}

func newMockSystemClock() *mockSystemClock {
	return &mockSystemClock{SystemClock: rocksdb.DefaultSystemClock(), moved: make(chan struct{})}
}

func (c *mockSystemClock) NowMicros() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *mockSystemClock) NowNanos() uint64 { return c.NowMicros() * 1000 }

func (c *mockSystemClock) NowSeconds() uint64 { return c.NowMicros() / 1000000 }

func (c *mockSystemClock) GetCurrentTime() (int64, error) { return int64(c.NowSeconds()), nil }

func (c *mockSystemClock) SleepForMicroseconds(micros int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += uint64(micros)
	close(c.moved)
	c.moved = make(chan struct{})
}

// MockSleepForSeconds moves the clock.
func (c *mockSystemClock) MockSleepForSeconds(n int) { c.SleepForMicroseconds(n * 1000000) }

func (c *mockSystemClock) TimedWait(wake <-chan struct{}, deadlineMicros uint64) bool {
	for {
		c.mu.Lock()
		now, moved := c.now, c.moved
		c.mu.Unlock()
		if now >= deadlineMicros {
			return true
		}
		select {
		case <-wake:
			return false
		case <-moved:
		}
	}
}

// mockTime gives the options an environment that lives by a mock clock.
func (x *dbTest) mockTime() (*mockSystemClock, rocksdb.Env) {
	c := newMockSystemClock()
	return c, env.NewCompositeEnvWrapper(x.env, x.fault, c)
}

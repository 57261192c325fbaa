// Port of db/write_controller.{h,cc}. Differs: a token is released by a call.

package writethread

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

// WriteController says whether writers stop, slow down, or may go on, by the
// tokens that are out. GetDelay is called with the DB mutex held.
type WriteController struct {
	totalStopped            atomic.Int32
	totalDelayed            atomic.Int32
	totalCompactionPressure atomic.Int32
	lowPri                  *ratelimiter.GenericRateLimiter

	// Under the DB mutex.
	creditInBytes       uint64
	nextRefillTime      uint64 // µs, 0: not started
	maxDelayedWriteRate uint64 // bytes/s
	delayedWriteRate    uint64 // bytes/s
}

// DefaultDelayedWriteRate is 32 MiB/s.
const DefaultDelayedWriteRate = 32 << 20

// lowPriRate is that of writes of low priority while compactions are behind, in
// bytes/s.
const lowPriRate = 1 << 20

// NewWriteController limits delayed writes to rate bytes/s.
func NewWriteController(rate uint64) *WriteController {
	// The arguments, constants, are valid.
	lowPri, _ := ratelimiter.NewGenericRateLimiter(lowPriRate, 100000, 10, rocksdb.WritesOnly, false, 0)
	c := &WriteController{lowPri: lowPri}
	c.SetMaxDelayedWriteRate(rate)
	return c
}

// Token holds writers back until it is released.
type Token struct{ counter *atomic.Int32 }

// Release takes the token back; a nil token or a second call does nothing.
func (t *Token) Release() {
	if t != nil && t.counter != nil {
		t.counter.Add(-1)
		t.counter = nil
	}
}

// GetStopToken stops all writers.
func (c *WriteController) GetStopToken() *Token {
	c.totalStopped.Add(1)
	return &Token{&c.totalStopped}
}

// GetDelayToken slows writers down to rate bytes/s.
func (c *WriteController) GetDelayToken(rate uint64) *Token {
	if c.totalDelayed.Add(1) == 1 {
		c.nextRefillTime = 0
		c.creditInBytes = 0
	}
	c.SetDelayedWriteRate(rate)
	return &Token{&c.totalDelayed}
}

// GetCompactionPressureToken makes compactions run with more threads.
func (c *WriteController) GetCompactionPressureToken() *Token {
	c.totalCompactionPressure.Add(1)
	return &Token{&c.totalCompactionPressure}
}

// IsStopped tells whether a stop token is out.
func (c *WriteController) IsStopped() bool { return c.totalStopped.Load() > 0 }

// NeedsDelay tells whether a delay token is out.
func (c *WriteController) NeedsDelay() bool { return c.totalDelayed.Load() > 0 }

// NeedSpeedupCompaction tells whether any token is out.
func (c *WriteController) NeedSpeedupCompaction() bool {
	return c.IsStopped() || c.NeedsDelay() || c.totalCompactionPressure.Load() > 0
}

// LowPriRateLimiter is for writes of low priority while NeedSpeedupCompaction.
func (c *WriteController) LowPriRateLimiter() rocksdb.RateLimiter { return c.lowPri }

// DelayedWriteRate is the present rate in bytes/s.
func (c *WriteController) DelayedWriteRate() uint64 { return c.delayedWriteRate }

// MaxDelayedWriteRate bounds DelayedWriteRate.
func (c *WriteController) MaxDelayedWriteRate() uint64 { return c.maxDelayedWriteRate }

// SetDelayedWriteRate sets the rate, within [1, MaxDelayedWriteRate].
func (c *WriteController) SetDelayedWriteRate(rate uint64) {
	c.delayedWriteRate = min(max(rate, 1), c.maxDelayedWriteRate)
}

// SetMaxDelayedWriteRate sets both rates.
func (c *WriteController) SetMaxDelayedWriteRate(rate uint64) {
	c.maxDelayedWriteRate = max(rate, 1)
	c.delayedWriteRate = c.maxDelayedWriteRate
}

const (
	microsPerSecond = 1000000
	microsPerRefill = 1000
)

// GetDelay gives the microseconds a write of numBytes has to sleep, and counts
// on it that it does.
func (c *WriteController) GetDelay(clock rocksdb.SystemClock, numBytes uint64) uint64 {
	if c.IsStopped() || !c.NeedsDelay() {
		return 0
	}
	if c.creditInBytes >= numBytes {
		c.creditInBytes -= numBytes
		return 0
	}
	now := clock.NowNanos() / 1000
	if c.nextRefillTime == 0 {
		c.nextRefillTime = now
	}
	if c.nextRefillTime <= now {
		elapsed := now - c.nextRefillTime + microsPerRefill
		c.creditInBytes += uint64(float64(elapsed)/microsPerSecond*float64(c.delayedWriteRate) + 0.999999)
		c.nextRefillTime = now + microsPerRefill
		if c.creditInBytes >= numBytes {
			c.creditInBytes -= numBytes
			return 0
		}
	}
	over := numBytes - c.creditInBytes
	c.creditInBytes = 0
	c.nextRefillTime += uint64(float64(over) / float64(c.delayedWriteRate) * microsPerSecond)
	return max(c.nextRefillTime-now, microsPerRefill)
}

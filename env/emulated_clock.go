// Port of env/emulated_clock.h.

package env

import (
	"strconv"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// EmulatedSystemClock is a clock for tests: sleeping may pass time without
// waiting. It is safe for concurrent use.
type EmulatedSystemClock struct {
	rocksdb.SystemClockWrapper
	startingTime int64 // seconds; the time while it passes by sleeping only

	sleepCounter        atomic.Int32
	cpuCounter          atomic.Int32
	addonMicros         atomic.Int64
	timeElapseOnlySleep atomic.Bool
	noSlowdown          atomic.Bool
}

// NewEmulatedSystemClock runs over base. With timeElapseOnlySleep time stands
// still but for sleeping.
func NewEmulatedSystemClock(base rocksdb.SystemClock, timeElapseOnlySleep bool) *EmulatedSystemClock {
	c := &EmulatedSystemClock{SystemClockWrapper: rocksdb.SystemClockWrapper{Target: base}}
	c.startingTime, _ = base.GetCurrentTime()
	c.SetTimeElapseOnlySleep(timeElapseOnlySleep)
	return c
}

// Name is TimeEmulatedSystemClock.
func (c *EmulatedSystemClock) Name() string { return "TimeEmulatedSystemClock" }

// OptionPairs are whether the clock is stopped and whether sleeping is mocked.
func (c *EmulatedSystemClock) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{
		{Name: "time_elapse_only_sleep", Value: strconv.FormatBool(c.IsTimeElapseOnlySleep())},
		{Name: "mock_sleep", Value: strconv.FormatBool(c.IsMockSleepEnabled())},
	}
}

// ConfigureOption sets one of OptionPairs.
func (c *EmulatedSystemClock) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	var set func(bool)
	switch name {
	case "time_elapse_only_sleep":
		set = c.SetTimeElapseOnlySleep
	case "mock_sleep":
		set = c.SetMockSleep
	default:
		return rocksdb.NotFound("Unrecognized option", name)
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return rocksdb.InvalidArgument("Error parsing "+name, value)
	}
	set(on)
	return nil
}

// SleepForMicroseconds waits unless sleeping is mocked.
func (c *EmulatedSystemClock) SleepForMicroseconds(micros int) {
	c.sleepCounter.Add(1)
	mock := c.noSlowdown.Load()
	if mock || c.timeElapseOnlySleep.Load() {
		c.addonMicros.Add(int64(micros))
	}
	if !mock {
		c.SystemClockWrapper.SleepForMicroseconds(micros)
	}
}

// TimedWait waits for as long as is left by this clock.
func (c *EmulatedSystemClock) TimedWait(wake <-chan struct{}, deadlineMicros uint64) bool {
	left := uint64(0)
	if now := c.NowMicros(); deadlineMicros > now {
		left = deadlineMicros - now
	}
	return c.Target.TimedWait(wake, c.Target.NowMicros()+left)
}

// MockSleepForMicroseconds passes time at once; sleeping has to be mocked.
func (c *EmulatedSystemClock) MockSleepForMicroseconds(micros int64) {
	c.sleepCounter.Add(1)
	c.addonMicros.Add(micros)
}

// MockSleepForSeconds passes time at once.
func (c *EmulatedSystemClock) MockSleepForSeconds(seconds int64) {
	c.MockSleepForMicroseconds(seconds * 1000000)
}

// SetTimeElapseOnlySleep stops the clock but for sleeping, which is then
// mocked. Not while a database is open.
func (c *EmulatedSystemClock) SetTimeElapseOnlySleep(enabled bool) {
	c.timeElapseOnlySleep.Store(enabled)
	c.noSlowdown.Store(enabled)
}

// IsTimeElapseOnlySleep tells whether the clock is stopped.
func (c *EmulatedSystemClock) IsTimeElapseOnlySleep() bool { return c.timeElapseOnlySleep.Load() }

// SetMockSleep makes sleeping pass time at once.
func (c *EmulatedSystemClock) SetMockSleep(enabled bool) { c.noSlowdown.Store(enabled) }

// IsMockSleepEnabled tells whether it does.
func (c *EmulatedSystemClock) IsMockSleepEnabled() bool { return c.noSlowdown.Load() }

// GetSleepCounter counts sleeps.
func (c *EmulatedSystemClock) GetSleepCounter() int { return int(c.sleepCounter.Load()) }

// GetCPUCounter counts questions for CPU time.
func (c *EmulatedSystemClock) GetCPUCounter() int { return int(c.cpuCounter.Load()) }

// ResetCounters sets both counters to 0.
func (c *EmulatedSystemClock) ResetCounters() {
	c.cpuCounter.Store(0)
	c.sleepCounter.Store(0)
}

// GetCurrentTime includes the time slept.
func (c *EmulatedSystemClock) GetCurrentTime() (int64, error) {
	t := c.startingTime
	if !c.timeElapseOnlySleep.Load() {
		var err error
		if t, err = c.SystemClockWrapper.GetCurrentTime(); err != nil {
			return 0, err
		}
	}
	return t + c.addonMicros.Load()/1000000, nil
}

// CPUNanos counts the question.
func (c *EmulatedSystemClock) CPUNanos() uint64 {
	c.cpuCounter.Add(1)
	return c.SystemClockWrapper.CPUNanos()
}

// CPUMicros counts the question.
func (c *EmulatedSystemClock) CPUMicros() uint64 {
	c.cpuCounter.Add(1)
	return c.SystemClockWrapper.CPUMicros()
}

// NowNanos includes the time slept; a stopped clock begins at 0.
func (c *EmulatedSystemClock) NowNanos() uint64 {
	t := uint64(c.addonMicros.Load()) * 1000
	if !c.timeElapseOnlySleep.Load() {
		t += c.SystemClockWrapper.NowNanos()
	}
	return t
}

// NowMicros is as NowNanos.
func (c *EmulatedSystemClock) NowMicros() uint64 {
	t := uint64(c.addonMicros.Load())
	if !c.timeElapseOnlySleep.Load() {
		t += c.SystemClockWrapper.NowMicros()
	}
	return t
}

// Port of include/rocksdb/system_clock.h and the PosixClock of env/env_posix.cc.
// Differs: TimedWait waits for a channel, Go's condition variables having no
// timed wait; TimeToString is not padded with zero bytes.

package rocksdb

import (
	"fmt"
	"time"
)

// DefaultSystemClockName is the name of the default clock.
const DefaultSystemClockName = "DefaultClock"

// SystemClock is the source of time of a database. Tests replace it.
type SystemClock interface {
	Name() string
	// NowMicros is the wall clock, in microseconds since 1970 for the default
	// clock. It may jump.
	NowMicros() uint64
	// NowNanos is a monotonic clock; only differences mean something.
	NowNanos() uint64
	// CPUMicros is the CPU time the calling operating system thread has used; 0
	// when unsupported. Differences mean something only while the goroutine
	// stays on its thread (runtime.LockOSThread).
	CPUMicros() uint64
	// CPUNanos is CPUMicros in nanoseconds.
	CPUNanos() uint64
	SleepForMicroseconds(micros int)
	// TimedWait waits until wake can be received from (or is closed), or
	// NowMicros has reached deadlineMicros. It returns true on the latter. It
	// may return early, with false.
	TimedWait(wake <-chan struct{}, deadlineMicros uint64) bool
	// GetCurrentTime is the wall clock in seconds since 1970 (UTC).
	GetCurrentTime() (int64, error)
	// TimeToString prints seconds since 1970 as local time, followed by a space.
	TimeToString(seconds uint64) string
}

type defaultSystemClock struct{}

// monotonicStart is the zero point of NowNanos.
var monotonicStart = time.Now()

// DefaultSystemClock gives the operating system's clock.
func DefaultSystemClock() SystemClock { return defaultSystemClock{} }

func (defaultSystemClock) Name() string { return DefaultSystemClockName }

func (defaultSystemClock) NickName() string { return "PosixClock" }

func (defaultSystemClock) NowMicros() uint64 { return uint64(time.Now().UnixMicro()) }

func (defaultSystemClock) NowNanos() uint64 { return uint64(time.Since(monotonicStart)) }

func (defaultSystemClock) CPUMicros() uint64 { return threadCPUNanos() / 1000 }

func (defaultSystemClock) CPUNanos() uint64 { return threadCPUNanos() }

func (defaultSystemClock) SleepForMicroseconds(micros int) {
	time.Sleep(time.Duration(micros) * time.Microsecond)
}

func (c defaultSystemClock) TimedWait(wake <-chan struct{}, deadlineMicros uint64) bool {
	now := c.NowMicros()
	if deadlineMicros <= now {
		select {
		case <-wake:
			return false
		default:
			return true
		}
	}
	const maxWait = uint64(time.Hour / time.Microsecond) // early returns are allowed
	timer := time.NewTimer(time.Duration(min(deadlineMicros-now, maxWait)) * time.Microsecond)
	defer timer.Stop()
	select {
	case <-wake:
		return false
	case <-timer.C:
		return c.NowMicros() >= deadlineMicros
	}
}

func (defaultSystemClock) GetCurrentTime() (int64, error) { return time.Now().Unix(), nil }

func (defaultSystemClock) TimeToString(seconds uint64) string {
	t := time.Unix(int64(seconds), 0)
	return fmt.Sprintf("%04d/%02d/%02d-%02d:%02d:%02d ",
		t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second())
}

// SystemClockWrapper forwards all but Name to Target; embed it to replace some
// methods.
type SystemClockWrapper struct {
	Target SystemClock
}

// Inner is Target.
func (w *SystemClockWrapper) Inner() Customizable {
	if w.Target == nil {
		return nil
	}
	return w.Target
}

// OptionsPtr has "target".
func (w *SystemClockWrapper) OptionsPtr(name string) any {
	if name == SystemClockTargetOptionsName {
		return &w.Target
	}
	return nil
}

// NowMicros forwards.
func (w *SystemClockWrapper) NowMicros() uint64 { return w.Target.NowMicros() }

// NowNanos forwards.
func (w *SystemClockWrapper) NowNanos() uint64 { return w.Target.NowNanos() }

// CPUMicros forwards.
func (w *SystemClockWrapper) CPUMicros() uint64 { return w.Target.CPUMicros() }

// CPUNanos forwards.
func (w *SystemClockWrapper) CPUNanos() uint64 { return w.Target.CPUNanos() }

// SleepForMicroseconds forwards.
func (w *SystemClockWrapper) SleepForMicroseconds(micros int) {
	w.Target.SleepForMicroseconds(micros)
}

// TimedWait forwards.
func (w *SystemClockWrapper) TimedWait(wake <-chan struct{}, deadlineMicros uint64) bool {
	return w.Target.TimedWait(wake, deadlineMicros)
}

// GetCurrentTime forwards.
func (w *SystemClockWrapper) GetCurrentTime() (int64, error) { return w.Target.GetCurrentTime() }

// TimeToString forwards.
func (w *SystemClockWrapper) TimeToString(seconds uint64) string {
	return w.Target.TimeToString(seconds)
}

// Port of PosixClock::CPUNanos of env/env_posix.cc.

package rocksdb

import "golang.org/x/sys/unix"

// threadCPUNanos is the CPU time of the calling thread, 0 when the kernel
// refuses to tell.
func threadCPUNanos() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano())
}

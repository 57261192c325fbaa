// Port of the priorities of util/threadpool_imp.cc and port/port_posix.cc.

package threadpool

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The kernel's numbers, which package unix does not have.
const (
	schedOther       = 0
	schedIdle        = 5
	ioprioWhoProcess = 1
	ioprioClassIdle  = 3
	ioprioClassShift = 13
)

// setThreadCPUPriority sets the calling thread's priority as far as the kernel
// allows; a refusal leaves it as it was.
func setThreadCPUPriority(pri rocksdb.CPUPriority) {
	policy, nice := schedOther, 0
	switch pri {
	case rocksdb.CPUPriorityHigh:
		nice = -20
	case rocksdb.CPUPriorityLow:
		nice = 19
	case rocksdb.CPUPriorityIdle:
		policy = schedIdle
	}
	var param struct{ priority int32 }
	_, _, _ = unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, uintptr(policy), uintptr(unsafe.Pointer(&param)))
	if policy == schedOther {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	}
}

// setThreadIOPriorityIdle puts the calling thread into the idle class.
func setThreadIOPriorityIdle() {
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, 0, ioprioClassIdle<<ioprioClassShift)
}

// Port of port/port_posix.cc: what Linux offers.

package port

import (
	"math"

	"golang.org/x/sys/unix"
)

// GetMaxOpenFiles is the most files the process may have open; -1 when there is
// no telling.
func GetMaxOpenFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return -1
	}
	return int(min(limit.Cur, math.MaxInt32))
}

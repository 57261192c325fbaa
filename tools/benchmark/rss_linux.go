// No upstream twin: what the system tells of a process that has ended.

package main

import (
	"os"
	"syscall"
)

// maxRSS is the most memory a process had, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) * kib
	}
	return 0
}

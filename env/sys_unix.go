//go:build unix && !linux

// No upstream twin: mapping and locking on the systems that have the POSIX
// calls for it.

package env

import (
	"io"
	"math"

	"golang.org/x/sys/unix"
)

func (f sysFile) mmap(off int64, length uint64, writable bool) ([]byte, error) {
	if length > math.MaxInt {
		return nil, unix.ENOMEM
	}
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	return unix.Mmap(int(f.f.Fd()), off, int(length), prot, unix.MAP_SHARED)
}

func munmap(b []byte) error { return unix.Munmap(b) }

func msync(b []byte) error { return unix.Msync(b, unix.MS_SYNC) }

// lock takes or gives up a write lock on the whole file; it does not wait.
func (f sysFile) lock(take bool) error {
	typ := int16(unix.F_UNLCK)
	if take {
		typ = unix.F_WRLCK
	}
	return unix.FcntlFlock(f.f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: typ, Whence: int16(io.SeekStart)})
}

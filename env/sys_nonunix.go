//go:build !unix

// No upstream twin: mapping is missing, and a lock is held against this
// process only, where the system's calls are not bound.

package env

import "syscall"

func (f sysFile) mmap(int64, uint64, bool) ([]byte, error) { return nil, syscall.ENOSYS }

func munmap([]byte) error { return syscall.ENOSYS }

func msync([]byte) error { return syscall.ENOSYS }

func (f sysFile) lock(take bool) error { return lockWhole(f.f, take) }

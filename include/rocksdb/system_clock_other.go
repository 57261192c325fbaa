//go:build !linux

// Port of PosixClock::CPUNanos of env/env_posix.cc. Differs: unsupported here.

package rocksdb

func threadCPUNanos() uint64 { return 0 }

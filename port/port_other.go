// Port of port/port_posix.cc: the fallback.

//go:build !linux

package port

// GetMaxOpenFiles is the most files the process may have open; -1 when there is
// no telling.
func GetMaxOpenFiles() int { return -1 }

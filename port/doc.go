// Package port holds what depends on the machine and the operating system:
// cache line and page size, limits of the process, a condition variable with a
// deadline. Mutexes, threads and once-initialization are Go's own.
//
// CondVar's own lock is taken last and never held while waiting or calling out.
// Read port.go first; port_linux.go has what only Linux offers, port_other.go
// its fallback.
package port

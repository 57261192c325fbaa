//go:build !linux

// No upstream twin: there is no io_uring; making one always fails, and the
// goroutines of async_read.go read.

package env

import "syscall"

// ioRing is never made.
type ioRing struct{}

func newIORing(uint32, uint32) (*ioRing, error) { return nil, syscall.ENOSYS }

func (*ioRing) probe() error                                     { return syscall.ENOSYS }
func (*ioRing) close()                                           {}
func (*ioRing) prepareRead(sysFile, []byte, uint64, uint64) bool { return false }
func (*ioRing) prepareCancel(uint64, uint64) bool                { return false }
func (*ioRing) pending() int                                     { return 0 }
func (*ioRing) takeBack(func(uint64))                            {}
func (*ioRing) enter(int) (int, error)                           { return 0, syscall.ENOSYS }
func (*ioRing) await(int) error                                  { return syscall.ENOSYS }
func (*ioRing) take() (userData uint64, res int, ok bool)        { return 0, 0, false }
func isRetryable(error) bool                                     { return false }
func isRefusal(error) bool                                       { return true }

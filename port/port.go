// Port of port/port_posix.{h,cc}. Differs: no Mutex, RWMutex, Thread, InitOnce
// (Go has them), no prefetching, no core number and no CPU priority of a thread.

package port

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// CacheLineSize is the number of bytes to keep apart what different cores write.
const CacheLineSize = int(unsafe.Sizeof(cpu.CacheLinePad{}))

// LittleEndian tells whether the machine stores the least significant byte
// first.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// PageSize is the size of a page of memory, in bytes.
func PageSize() int { return os.Getpagesize() }

// GetProcessID is the process's number.
func GetProcessID() int64 { return int64(os.Getpid()) }

// GenerateRFCUUID gives a random UUID of version 4 in its text form.
func GenerateRFCUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// CondVar is a condition variable that can wait until a time, which sync.Cond
// cannot. L is held around the waits and whatever they wait for.
type CondVar struct {
	L  sync.Locker
	mu struct {
		sync.Mutex
		waiters []chan struct{} // in order of arrival
	}
}

// NewCondVar makes a condition variable for l.
func NewCondVar(l sync.Locker) *CondVar { return &CondVar{L: l} }

func (c *CondVar) enqueue() chan struct{} {
	ch := make(chan struct{})
	c.mu.Lock()
	c.mu.waiters = append(c.mu.waiters, ch)
	c.mu.Unlock()
	return ch
}

// Wait gives L up, waits for a signal, and takes L again.
func (c *CondVar) Wait() {
	ch := c.enqueue()
	c.L.Unlock()
	<-ch
	c.L.Lock()
}

// TimedWait is Wait until deadline at the latest; it tells whether the time ran
// out.
func (c *CondVar) TimedWait(deadline time.Time) (timedOut bool) {
	ch := c.enqueue()
	c.L.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	select {
	case <-ch:
	case <-timer.C:
		timedOut = c.leave(ch)
	}
	timer.Stop()
	c.L.Lock()
	return timedOut
}

// leave takes a waiter out; false if a signal has come meanwhile, which then
// counts.
func (c *CondVar) leave(ch chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range c.mu.waiters {
		if w == ch {
			c.mu.waiters = append(c.mu.waiters[:i], c.mu.waiters[i+1:]...)
			return true
		}
	}
	return false
}

// Signal wakes the waiter that has waited longest. L need not be held.
func (c *CondVar) Signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.mu.waiters) > 0 {
		close(c.mu.waiters[0])
		c.mu.waiters[0] = nil
		c.mu.waiters = c.mu.waiters[1:]
	}
}

// SignalAll wakes all waiters. L need not be held.
func (c *CondVar) SignalAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.mu.waiters {
		close(ch)
	}
	c.mu.waiters = nil
}

// Port of env/io_posix.h (CreateIOUring and what it needs of liburing).
// Differs: the rings are bound here, over the three system calls' numbers; any
// thread may enter a ring, since a goroutine moves between threads.

package env

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// The kernel's numbers (linux/io_uring.h).
const (
	ioringOpNop         = 0
	ioringOpAsyncCancel = 14
	ioringOpRead        = 22

	ioringSetupCQSize = 1 << 3

	ioringFeatSingleMmap = 1 << 0
	ioringFeatNoDrop     = 1 << 1
	// ioringFeatRWCurPos came with the kernel that brought ioringOpRead, 5.6.
	ioringFeatRWCurPos = 1 << 3
	ioringFeatNeeded   = ioringFeatSingleMmap | ioringFeatNoDrop | ioringFeatRWCurPos

	ioringEnterGetEvents = 1

	ioringOffRings = 0
	ioringOffSQEs  = 0x10000000
)

// ioSQE is struct io_uring_sqe, a request.
type ioSQE struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	opFlags  uint32
	userData uint64
	_        [3]uint64
}

// ioCQE is struct io_uring_cqe, a completion.
type ioCQE struct {
	userData uint64
	res      int32 // bytes, or -errno
	flags    uint32
}

// ioParams is struct io_uring_params.
type ioParams struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sqOff                                                                  struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		userAddr                                            uint64
	}
	cqOff struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		userAddr                                            uint64
	}
}

// ioRing is a pair of rings shared with the kernel. One goroutine at a time may
// prepare and submit, and one may take completions; the two need not be the
// same one.
type ioRing struct {
	fd int
	// rings and requests are the mappings that the pointers lead into.
	rings, requests []byte

	sqHead, sqTail, cqHead, cqTail *uint32
	sqMask, cqMask                 uint32
	sqes                           []ioSQE
	cqes                           []ioCQE
	// tail is where the next request goes. Those from *sqTail on were not
	// shown to the kernel yet.
	tail uint32
}

// newIORing makes rings for entries requests to submit at a time and
// completions of cqEntries.
func newIORing(entries, cqEntries uint32) (*ioRing, error) {
	p := ioParams{flags: ioringSetupCQSize, cqEntries: cqEntries}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, errno
	}
	r := &ioRing{fd: int(fd)}
	if p.features&ioringFeatNeeded != ioringFeatNeeded {
		r.close()
		return nil, unix.ENOSYS
	}
	if err := r.mapRings(&p); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ioRing) mapRings(p *ioParams) error {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	size := max(int(p.sqOff.array)+int(p.sqEntries)*4, int(p.cqOff.cqes)+int(p.cqEntries)*int(unsafe.Sizeof(ioCQE{})))
	var err error
	if r.rings, err = unix.Mmap(r.fd, ioringOffRings, size, prot, flags); err != nil {
		return err
	}
	if r.requests, err = unix.Mmap(r.fd, ioringOffSQEs, int(p.sqEntries)*int(unsafe.Sizeof(ioSQE{})), prot, flags); err != nil {
		return err
	}
	word := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[off])) }
	r.sqHead, r.sqTail = word(p.sqOff.head), word(p.sqOff.tail)
	r.cqHead, r.cqTail = word(p.cqOff.head), word(p.cqOff.tail)
	r.sqMask, r.cqMask = *word(p.sqOff.mask), *word(p.cqOff.mask)
	r.sqes = unsafe.Slice((*ioSQE)(unsafe.Pointer(&r.requests[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*ioCQE)(unsafe.Pointer(&r.rings[p.cqOff.cqes])), p.cqEntries)
	// A slot of the submission ring names a request; here always its own.
	array := unsafe.Slice(word(p.sqOff.array), p.sqEntries)
	for i := range array {
		array[i] = uint32(i)
	}
	r.tail = *r.sqTail
	return nil
}

// probe sends a request that does nothing through the ring.
func (r *ioRing) probe() error {
	sqe := r.next()
	if sqe == nil {
		return unix.EBUSY
	}
	*sqe = ioSQE{opcode: ioringOpNop}
	for {
		_, err := r.enter(1)
		if err != nil && !isRetryable(err) {
			return err
		}
		if _, _, ok := r.take(); ok {
			return nil
		}
	}
}

func (r *ioRing) close() {
	if r.rings != nil {
		_ = unix.Munmap(r.rings)
	}
	if r.requests != nil {
		_ = unix.Munmap(r.requests)
	}
	_ = unix.Close(r.fd)
	*r = ioRing{fd: -1}
}

// next is a place for a request, nil when the ring is full of those that were
// not submitted.
func (r *ioRing) next() *ioSQE {
	if r.tail-atomic.LoadUint32(r.sqHead) >= uint32(len(r.sqes)) {
		return nil
	}
	sqe := &r.sqes[r.tail&r.sqMask]
	r.tail++
	return sqe
}

// prepareRead asks for a read into p, which somebody has to keep alive on the
// heap until the completion was taken: the kernel knows its address only. p is
// not empty and holds less than 4 GiB. False when the ring is full.
func (r *ioRing) prepareRead(f sysFile, p []byte, off uint64, userData uint64) bool {
	sqe := r.next()
	if sqe == nil {
		return false
	}
	*sqe = ioSQE{
		opcode: ioringOpRead, fd: int32(f.fd), off: off, addr: uint64(uintptr(unsafe.Pointer(&p[0]))),
		len: uint32(len(p)), userData: userData,
	}
	return true
}

// prepareCancel asks to cancel the request that has target as its userData.
func (r *ioRing) prepareCancel(target, userData uint64) bool {
	sqe := r.next()
	if sqe == nil {
		return false
	}
	*sqe = ioSQE{opcode: ioringOpAsyncCancel, fd: -1, addr: target, userData: userData}
	return true
}

// pending counts the requests that the kernel has not taken yet.
func (r *ioRing) pending() int { return int(r.tail - atomic.LoadUint32(r.sqHead)) }

// takeBack drops the requests that the kernel has not taken; each gets their
// userData.
func (r *ioRing) takeBack(each func(userData uint64)) {
	head, tail := atomic.LoadUint32(r.sqHead), r.tail
	r.tail = head
	atomic.StoreUint32(r.sqTail, head)
	for ; head != tail; head++ {
		each(r.sqes[head&r.sqMask].userData)
	}
}

// enter submits what is pending and waits until wait completions can be taken,
// though not when fewer were submitted than are pending. n counts those
// submitted.
func (r *ioRing) enter(wait int) (n int, err error) {
	pending := r.pending()
	atomic.StoreUint32(r.sqTail, r.tail)
	return r.enterRaw(pending, wait)
}

// await waits only; it may run while another goroutine submits.
func (r *ioRing) await(wait int) error {
	_, err := r.enterRaw(0, wait)
	return err
}

// ioEnter is a call about to be made; tests change it.
type ioEnter struct {
	submit, wait int
	err          error // to fail with instead
}

func (r *ioRing) enterRaw(submit, wait int) (int, error) {
	call := ioEnter{submit: submit, wait: wait}
	syncpoint.ProcessArg("ioRing::enter", &call)
	if call.err != nil {
		return 0, call.err
	}
	var flags uintptr
	if call.wait > 0 {
		flags = ioringEnterGetEvents
	}
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(call.submit), uintptr(call.wait), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// take gives the oldest completion, if there is one.
func (r *ioRing) take() (userData uint64, res int, ok bool) {
	head := *r.cqHead // written by takers only
	if head == atomic.LoadUint32(r.cqTail) {
		return 0, 0, false
	}
	cqe := &r.cqes[head&r.cqMask]
	userData, res = cqe.userData, int(cqe.res)
	atomic.StoreUint32(r.cqHead, head+1)
	syncpoint.ProcessArg("ioRing::take", &res)
	return userData, res, true
}

// isRetryable is for what passes by itself: a signal, a lack of requests, too
// many completions that were not taken.
func isRetryable(err error) bool {
	return err == unix.EINTR || err == unix.EAGAIN || err == unix.EBUSY
}

// isRefusal tells whether rings cannot be made at all, as opposed to not now.
func isRefusal(err error) bool {
	switch err {
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EAGAIN, unix.EINTR:
		return false
	}
	return true
}

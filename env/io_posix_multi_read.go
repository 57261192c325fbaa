// Port of env/io_posix.cc (PosixRandomAccessFile::MultiRead). Differs: rings
// come from a free list, not one a thread; a read's error is its request's
// Status alone, worded as Read's; while requests wait for a place, half of
// those under way are waited for.

package env

import (
	"fmt"
	"math"
	"syscall"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MultiRead submits all the reads at once. It returns an error only when the
// ring fails; requests that were not done then have it as their Status.
func (r *posixRandomAccessFile) MultiRead(reqs []rocksdb.FSReadRequest, _ *rocksdb.IOOptions) error {
	if len(reqs) > 1 {
		if m := r.async.getRing(); m != nil {
			err := m.read(r, reqs)
			if m.broken {
				m.close()
			} else {
				r.async.putRing(m)
			}
			return err
		}
		if !r.async.ringsOnly() {
			r.multiReadByGoroutines(reqs)
			return nil
		}
	}
	for i := range reqs {
		r.readRequest(&reqs[i])
	}
	return nil
}

// readRequest does one of several reads by pread.
func (r *posixRandomAccessFile) readRequest(q *rocksdb.FSReadRequest) {
	if q.Len < 0 || q.Len > len(q.Scratch) {
		q.Result, q.Status = nil, rocksdb.InvalidArgumentf("MultiRead of %d bytes into %d: %s", q.Len, len(q.Scratch), r.name)
		return
	}
	q.Result, q.Status = r.Read(q.Offset, q.Len, nil, q.Scratch)
}

// multiSlot is a read under way; done bytes of it are there.
type multiSlot struct {
	req        *rocksdb.FSReadRequest
	done, want int // want of the part asked for now
}

// multiRing is a ring and the reads it does for one MultiRead at a time. The
// slots keep the requests' memory alive while the kernel writes to it.
type multiRing struct {
	*ioRing
	slots  [ioUringDepth]multiSlot
	free   [ioUringDepth]uint16
	nfree  int
	flying int // reads that the kernel has
	broken bool
}

func newMultiRing() (*multiRing, error) {
	ring, err := newIORing(ioUringDepth, 2*ioUringDepth)
	if err != nil {
		return nil, err
	}
	m := &multiRing{ioRing: ring, nfree: ioUringDepth}
	for i := range m.free {
		m.free[i] = uint16(ioUringDepth - 1 - i)
	}
	return m, nil
}

// read does all of reqs.
func (m *multiRing) read(r *posixRandomAccessFile, reqs []rocksdb.FSReadRequest) error {
	for next := 0; ; {
		for ; next < len(reqs) && m.nfree > 0; next++ {
			q := &reqs[next]
			if q.Len <= 0 || q.Len > len(q.Scratch) || q.Offset > math.MaxInt64-uint64(q.Len) {
				r.readRequest(q) // empty or an error
				continue
			}
			m.nfree--
			slot := m.free[m.nfree]
			m.slots[slot] = multiSlot{req: q}
			m.prepare(r, slot)
		}
		wait := m.pending() + m.flying
		if wait == 0 {
			return nil
		}
		if next < len(reqs) {
			wait = (wait + 1) / 2
		}
		if err := m.submit(r, wait); err != nil {
			return m.fail(r, reqs[next:], err)
		}
		for {
			slot, n, ok := m.take()
			if !ok {
				break
			}
			m.flying--
			m.complete(r, uint16(slot), n)
		}
	}
}

// prepare asks for what a slot still misses. There is a place for each slot.
func (m *multiRing) prepare(r *posixRandomAccessFile, slot uint16) {
	s := &m.slots[slot]
	s.want = min(s.req.Len-s.done, ioChunk)
	if !m.prepareRead(r.f, s.req.Scratch[s.done:s.done+s.want], s.req.Offset+uint64(s.done), uint64(slot)) {
		m.readRest(r, slot)
	}
}

// release frees a slot whose request has its result.
func (m *multiRing) release(slot uint16) {
	m.slots[slot] = multiSlot{}
	m.free[m.nfree] = slot
	m.nfree++
}

// submit hands over all that is pending and waits for completions; there may be
// fewer when a signal came. When the kernel lacks memory, what it does not take
// is read here.
func (m *multiRing) submit(r *posixRandomAccessFile, wait int) error {
	for try := 0; try == 0 || m.pending() > 0; try++ {
		n, err := m.enter(wait)
		m.flying += n
		switch {
		case err == nil && (n > 0 || m.pending() == 0):
			continue
		case err == nil:
			return rocksdb.IOError("io_uring_submit_and_wait()", errNothingSubmitted.Error(), r.name)
		case (err == syscall.ENOMEM || try >= maxTries) && m.pending() > 0:
			m.takeBack(func(slot uint64) { m.readRest(r, uint16(slot)) })
		case !isRetryable(err):
			return IOError("io_uring_submit_and_wait() failed", r.name, err)
		case m.flying > 0:
			if err != syscall.EINTR {
				_ = m.await(1) // what completes makes room
			}
			return nil
		default:
			pause(try)
		}
	}
	left := m.pending()
	syncpoint.ProcessArg("PosixRandomAccessFile::MultiRead:io_uring_sq_ready:return1", &left)
	if left > 0 {
		return rocksdb.IOError(fmt.Sprintf("io_uring_submit_and_wait() left %d of %d requests", left, m.flying+left), r.name)
	}
	return nil
}

// complete takes what a read brought: n bytes, or -errno.
func (m *multiRing) complete(r *posixRandomAccessFile, slot uint16, n int) {
	s := &m.slots[slot]
	q := s.req
	if n < 0 {
		if err := syscall.Errno(-n); !isPassing(err) {
			q.Result, q.Status = nil, r.preadError(q.Offset, q.Len, err)
			m.release(slot)
			return
		}
		m.prepare(r, slot)
		return
	}
	syncpoint.ProcessArg("UpdateResults::io_uring_result", &n)
	switch align := r.alignment(); {
	case n > s.want:
		q.Result, q.Status = nil, rocksdb.IOError("Req returned more bytes than requested", r.name)
		m.release(slot)
	case n == 0:
		m.readRest(r, slot) // the end, or not: pread knows
	case s.done+n == q.Len, align > 0 && n%align != 0:
		// All; or, with direct I/O, a part of a sector, the file's last.
		q.Result, q.Status = q.Scratch[:s.done+n], nil
		m.release(slot)
	default:
		s.done += n
		m.prepare(r, slot)
	}
}

// readRest reads by pread what a slot still misses.
func (m *multiRing) readRest(r *posixRandomAccessFile, slot uint16) {
	s := &m.slots[slot]
	q := s.req
	n, err := preadUpTo(r.f, q.Scratch[s.done:q.Len], q.Offset+uint64(s.done), r.alignment())
	if err != nil {
		q.Result, q.Status = nil, r.preadError(q.Offset, q.Len, err)
	} else {
		q.Result, q.Status = q.Scratch[:s.done+n], nil
	}
	m.release(slot)
}

// fail ends a MultiRead whose ring does not work any more: it waits until the
// kernel lets go of the memory. rest was not begun.
func (m *multiRing) fail(r *posixRandomAccessFile, rest []rocksdb.FSReadRequest, err error) error {
	m.broken = true
	m.takeBack(func(uint64) {})
	for try := 0; m.flying > 0; {
		// The completions come even when waiting for them does not work.
		if m.await(m.flying) != nil {
			pause(try)
			try++
		}
		for {
			if _, _, ok := m.take(); !ok {
				break
			}
			m.flying--
		}
	}
	syncpoint.ProcessArg("PosixRandomAccessFile::MultiRead:io_uring_submit_and_wait:return2", m)
	for i := range m.slots {
		if q := m.slots[i].req; q != nil {
			q.Result, q.Status = nil, err
		}
	}
	for i := range rest {
		rest[i].Result, rest[i].Status = nil, err
	}
	return err
}

// Port of env/fs_posix.cc and env/io_posix.cc (ReadAsync, Poll, AbortIO,
// SupportedOps). Differs: rings are shared by all goroutines, not one a thread,
// so that any may poll a handle; the callback runs in the goroutine that polls
// or aborts; Poll returns after minCompletions; where there is no io_uring,
// goroutines read.

package env

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// AsyncReadMode says how MultiRead and ReadAsync read.
type AsyncReadMode uint32

const (
	// AsyncReadAuto is io_uring where the system has it, else goroutines.
	AsyncReadAuto AsyncReadMode = iota
	// AsyncReadIOUring is io_uring or nothing, as upstream: without it
	// ReadAsync is not supported and MultiRead does one read after another.
	AsyncReadIOUring
	// AsyncReadGoroutines leaves io_uring alone.
	AsyncReadGoroutines
)

const (
	// ioUringDepth is how many reads a ring takes at a time.
	ioUringDepth = 256
	// asyncQueueDepth is how many reads may be under way on one shared ring.
	asyncQueueDepth = 1024
	// maxIdleRings bounds the rings kept for MultiRead, maxAsyncQueues the
	// shared ones.
	maxIdleRings   = 32
	maxAsyncQueues = 8
	// maxReadGoroutines bounds those that read at a time, each on a thread of
	// its own; maxParallelRead those of one MultiRead.
	maxReadGoroutines = 128
	maxParallelRead   = 32

	// maxTries bounds the tries of a submission that the kernel has no memory
	// for.
	maxTries = 200

	// cancelData is the userData of cancel requests, whose outcome does not
	// matter: the read that was to be cancelled has a completion of its own.
	cancelData = math.MaxUint64
)

// What is known of io_uring here.
const (
	ringsUnknown = iota
	ringsWork
	ringsRefused
)

// asyncReads is a file system's means to read asynchronously.
type asyncReads struct {
	mode   atomic.Uint32 // AsyncReadMode
	state  atomic.Uint32
	tokens chan struct{} // one in it for each goroutine that reads
	// byGoroutine are the reads done by goroutines.
	byGoroutine asyncQueue

	mu struct {
		sync.Mutex
		idle   []*multiRing
		queues []*asyncQueue // copied when changed
	}
}

func newAsyncReads() *asyncReads {
	return &asyncReads{tokens: make(chan struct{}, maxReadGoroutines)}
}

// SetAsyncReadMode takes effect for files that are open as well.
func (p *PosixFileSystem) SetAsyncReadMode(m AsyncReadMode) { p.async.mode.Store(uint32(m)) }

// AsyncReadMode is what SetAsyncReadMode set last.
func (p *PosixFileSystem) AsyncReadMode() AsyncReadMode { return AsyncReadMode(p.async.mode.Load()) }

// RocksDbIOUringEnable allows the default file system to use io_uring, as it
// does from the start, or forbids it.
func RocksDbIOUringEnable(enable bool) {
	m := AsyncReadAuto
	if !enable {
		m = AsyncReadGoroutines
	}
	defaultFileSystem().SetAsyncReadMode(m)
}

// SupportedOps is FSPrefetch, and AsyncIO unless io_uring alone was asked for
// and the system refuses it.
func (p *PosixFileSystem) SupportedOps() int64 {
	ops := int64(1 << rocksdb.FSPrefetch)
	if p.async.usesRings() || !p.async.ringsOnly() {
		ops |= 1 << rocksdb.AsyncIO
	}
	return ops
}

func (a *asyncReads) ringsOnly() bool { return AsyncReadMode(a.mode.Load()) == AsyncReadIOUring }

// usesRings tells whether io_uring is allowed and works. A refusal is
// remembered, passing shortages are not.
func (a *asyncReads) usesRings() bool {
	if AsyncReadMode(a.mode.Load()) == AsyncReadGoroutines {
		return false
	}
	if s := a.state.Load(); s != ringsUnknown {
		return s == ringsWork
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.state.Load(); s != ringsUnknown {
		return s == ringsWork
	}
	m, err := newMultiRing()
	if err == nil {
		if err = m.probe(); err != nil {
			m.close()
			m = nil
		}
	}
	syncpoint.ProcessArg("PosixFileSystem::SupportedOps:CreateIOUring", &m)
	switch {
	case m != nil:
		a.mu.idle = append(a.mu.idle, m)
		a.state.Store(ringsWork)
		return true
	case err == nil || isRefusal(err):
		a.state.Store(ringsRefused)
	}
	return false
}

// getRing lends a ring for one MultiRead; nil when there is none.
func (a *asyncReads) getRing() *multiRing {
	if !a.usesRings() {
		return nil
	}
	a.mu.Lock()
	if n := len(a.mu.idle); n > 0 {
		m := a.mu.idle[n-1]
		a.mu.idle = a.mu.idle[:n-1]
		a.mu.Unlock()
		return m
	}
	a.mu.Unlock()
	m, err := newMultiRing()
	if err != nil {
		return nil
	}
	return m
}

func (a *asyncReads) putRing(m *multiRing) {
	a.mu.Lock()
	if len(a.mu.idle) < maxIdleRings {
		a.mu.idle = append(a.mu.idle, m)
		m = nil
	}
	a.mu.Unlock()
	if m != nil {
		m.close()
	}
}

// close gives the rings back. No read may be under way.
func (a *asyncReads) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.mu.idle {
		m.close()
	}
	for _, q := range a.mu.queues {
		q.ring.close()
	}
	a.mu.idle, a.mu.queues = nil, nil
	a.state.Store(ringsUnknown)
}

// asyncQueue has reads under way: of one ring, or those of goroutines.
type asyncQueue struct {
	mu   sync.Mutex
	ring *ioRing // nil for goroutines

	// reads are those that the kernel has, by slot. They keep the memory that
	// it writes to alive.
	reads []*asyncRead
	free  []uint32 // slots
	count uint32   // of reads ever begun; tells a slot's users apart

	// taking: some goroutine waits in the kernel. It alone may take
	// completions until it is back, or it might wait for one that is gone.
	taking  bool
	waiters []*pollWaiter
}

func newAsyncQueue() (*asyncQueue, error) {
	ring, err := newIORing(ioUringDepth, 2*asyncQueueDepth) // and the cancels
	if err != nil {
		return nil, err
	}
	q := &asyncQueue{ring: ring, reads: make([]*asyncRead, asyncQueueDepth), free: make([]uint32, asyncQueueDepth)}
	for i := range q.free {
		q.free[i] = uint32(asyncQueueDepth - 1 - i)
	}
	return q, nil
}

// pollWaiter is a goroutine in Poll that waits for need more reads of a queue.
type pollWaiter struct {
	need int           // guarded by the queue's mu
	wake chan struct{} // holds one
}

var pollWaiters = sync.Pool{New: func() any { return &pollWaiter{wake: make(chan struct{}, 1)} }}

func (w *pollWaiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// asyncRead is a read under way; it is the IOHandle.
type asyncRead struct {
	q   *asyncQueue
	r   *posixRandomAccessFile
	req *rocksdb.FSReadRequest
	buf []byte // what to read into
	cb  func(*rocksdb.FSReadRequest)
	run func() // readNow, made once

	// Guarded by q.mu. err is a goroutine's, n with a ring may be -errno.
	slot    uint32
	data    uint64 // userData
	n       int
	err     error
	done    bool
	aborted bool
	waiters []*pollWaiter

	// finished is guarded by its mutex, held while the callback runs.
	finished struct {
		sync.Mutex
		yes bool
	}
}

var asyncReadPool = sync.Pool{New: func() any {
	h := new(asyncRead)
	h.run = h.readNow
	return h
}}

// Release lets the handle be used for another read; no Poll or AbortIO of it
// may be under way or follow. One that was not finished is left to the garbage
// collector, its memory once the read is done.
func (h *asyncRead) Release() {
	h.finished.Lock()
	reuse := h.finished.yes
	h.finished.Unlock()
	if reuse {
		h.recycle()
	}
}

func (h *asyncRead) recycle() {
	h.q, h.r, h.req, h.buf, h.cb = nil, nil, nil, nil, nil
	h.slot, h.data, h.n, h.err = 0, 0, 0, nil
	h.done, h.aborted, h.finished.yes = false, false, false
	h.waiters = h.waiters[:0]
	asyncReadPool.Put(h)
}

// ReadAsync begins a read. cb runs during Poll or AbortIO, or at once when
// there is nothing to wait for. The result may be short, as a read's in the
// system may be. The handle has to be polled or aborted before the file is
// closed; several goroutines may do so. cb may begin further reads, but not
// poll its own.
func (r *posixRandomAccessFile) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	if req.Len < 0 || req.Len > len(req.Scratch) {
		return nil, rocksdb.InvalidArgumentf("ReadAsync of %d bytes into %d: %s", req.Len, len(req.Scratch), r.name)
	}
	if req.Len == 0 || req.Offset > math.MaxInt64 {
		req.Result, req.Status = r.Read(req.Offset, req.Len, opts, req.Scratch)
		cb(req)
		return nil, nil
	}
	h := asyncReadPool.Get().(*asyncRead)
	h.r, h.req, h.cb = r, req, cb
	// A longer read is short.
	h.buf = req.Scratch[:min(req.Len, ioChunk)]
	rings := r.async.usesRings()
	if rings {
		full, err := r.async.submit(h)
		switch {
		case err != nil:
			h.recycle()
			return nil, err
		case !full:
			return h, nil
		case r.async.ringsOnly():
			h.recycle()
			return nil, rocksdb.Busy("PosixRandomAccessFile::ReadAsync: io_uring submission queue is full")
		}
	}
	if !rings && r.async.ringsOnly() {
		h.recycle()
		return nil, rocksdb.NotSupported("ReadAsync: failed to init io_uring")
	}
	h.q = &r.async.byGoroutine
	r.reading.Add(1)
	go h.run()
	return h, nil
}

// submit gives h to a shared ring, one that no other goroutine is at, if there
// is such a one. full: none has room.
func (a *asyncReads) submit(h *asyncRead) (full bool, err error) {
	skip := false
	syncpoint.ProcessArg("PosixRandomAccessFile::ReadAsync:skip_io_uring_get_sqe", &skip)
	if skip {
		return true, nil
	}
	a.mu.Lock()
	queues := a.mu.queues
	a.mu.Unlock()
	for _, q := range queues {
		if q.mu.TryLock() {
			full, err = q.submitLocked(h)
			q.mu.Unlock()
			if !full {
				return false, err
			}
		}
	}
	if q := a.addQueue(); q != nil {
		queues = append(queues[:len(queues):len(queues)], q)
	}
	for i := len(queues) - 1; i >= 0; i-- {
		q := queues[i]
		q.mu.Lock()
		full, err = q.submitLocked(h)
		q.mu.Unlock()
		if !full {
			return false, err
		}
	}
	return true, nil
}

// addQueue makes one more shared ring, within bounds.
func (a *asyncReads) addQueue() *asyncQueue {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.mu.queues) >= min(maxAsyncQueues, runtime.GOMAXPROCS(0)) {
		return nil
	}
	q, err := newAsyncQueue()
	if err != nil {
		return nil
	}
	a.mu.queues = append(a.mu.queues[:len(a.mu.queues):len(a.mu.queues)], q)
	return q
}

func (q *asyncQueue) submitLocked(h *asyncRead) (full bool, err error) {
	if len(q.free) == 0 {
		q.reapLocked()
	}
	last := len(q.free) - 1
	if last < 0 {
		return true, nil
	}
	slot := q.free[last]
	q.count++
	data := uint64(q.count&math.MaxInt32)<<32 | uint64(slot) // not cancelData
	if !q.ring.prepareRead(h.r.f, h.buf, h.req.Offset, data) {
		return true, nil
	}
	q.free = q.free[:last]
	h.q, h.slot, h.data = q, slot, data
	q.reads[slot] = h
	if err := q.enterLocked(); err != nil {
		q.reads[slot] = nil
		q.free = append(q.free, slot)
		return false, IOError("PosixRandomAccessFile::ReadAsync: io_uring_submit()", h.r.name, err)
	}
	return false, nil
}

var errNothingSubmitted = errors.New("nothing was submitted")

// enterLocked submits what was prepared; what the kernel does not take is taken
// back.
func (q *asyncQueue) enterLocked() error {
	for try := 0; q.ring.pending() > 0; try++ {
		n, err := q.ring.enter(0)
		switch {
		case err != nil && isRetryable(err) && try < maxTries:
			q.reapLocked()
			pause(try)
		case err == nil && n == 0:
			err = errNothingSubmitted
			fallthrough
		case err != nil:
			if q.ring.pending() > 0 {
				q.ring.takeBack(func(uint64) {})
				return err
			}
		}
	}
	return nil
}

// pause is between tries of what will pass.
func pause(try int) {
	if try < 10 {
		runtime.Gosched()
	} else {
		time.Sleep(50 * time.Microsecond)
	}
}

// reapLocked takes the completions that are there.
func (q *asyncQueue) reapLocked() {
	if q.ring == nil || q.taking {
		return
	}
	for {
		data, n, ok := q.ring.take()
		if !ok {
			return
		}
		if data == cancelData {
			continue
		}
		if slot := uint32(data); int(slot) < len(q.reads) && q.reads[slot] != nil && q.reads[slot].data == data {
			h := q.reads[slot]
			q.reads[slot] = nil
			q.free = append(q.free, slot)
			h.n = n
			h.completeLocked()
		}
	}
}

func (h *asyncRead) completeLocked() {
	h.done = true
	for _, w := range h.waiters {
		if w.need--; w.need == 0 {
			w.signal()
		}
	}
	h.waiters = h.waiters[:0]
}

// wait returns when need of the handles that belong to the queue are done; or
// all of them, if they are fewer.
func (q *asyncQueue) wait(handles []rocksdb.IOHandle, need int) {
	w := pollWaiters.Get().(*pollWaiter)
	q.mu.Lock()
	q.reapLocked()
	waitFor := 0
	for _, x := range handles {
		if h, ok := x.(*asyncRead); ok && h.q == q && !h.done && (len(h.waiters) == 0 || h.waiters[len(h.waiters)-1] != w) {
			h.waiters = append(h.waiters, w)
			waitFor++
		}
	}
	w.need = min(need, waitFor)
	if w.need > 0 {
		q.waiters = append(q.waiters, w)
		q.waitLocked(w)
		q.waiters = without(q.waiters, w)
	}
	for _, x := range handles {
		if h, ok := x.(*asyncRead); ok && h.q == q && !h.done {
			h.waiters = without(h.waiters, w)
		}
	}
	if q.ring != nil && !q.taking && len(q.waiters) > 0 {
		q.waiters[0].signal() // to go on taking
	}
	q.mu.Unlock()
	select {
	case <-w.wake:
	default:
	}
	pollWaiters.Put(w)
}

func (q *asyncQueue) waitLocked(w *pollWaiter) {
	for try := 0; w.need > 0; {
		if q.ring == nil || q.taking {
			q.mu.Unlock()
			<-w.wake
			q.mu.Lock()
			continue
		}
		q.taking = true
		q.mu.Unlock()
		err := q.ring.await(1)
		if err != nil {
			pause(try)
			try++
		}
		q.mu.Lock()
		q.taking = false
		q.reapLocked()
	}
}

func without(ws []*pollWaiter, w *pollWaiter) []*pollWaiter {
	for i := range ws {
		if ws[i] == w {
			last := len(ws) - 1
			ws[i], ws[last] = ws[last], nil
			return ws[:last]
		}
	}
	return ws
}

// Poll waits until minCompletions of the handles are done, all if there are not
// so many, and runs the callbacks of those that are. Handles that are nil or
// were polled before count as done.
func (p *PosixFileSystem) Poll(handles []rocksdb.IOHandle, minCompletions int) error {
	if err := checkHandles("Poll", handles); err != nil {
		return err
	}
	for {
		done := 0
		var first *asyncRead
		for _, x := range handles {
			h, _ := x.(*asyncRead)
			switch {
			case h == nil || h.finishIfDone():
				done++
			case first == nil:
				first = h
			}
		}
		if first == nil || done >= minCompletions {
			return nil
		}
		first.q.wait(handles, minCompletions-done)
	}
}

// AbortIO cancels the reads that are not done and waits until the system lets
// go of their memory. Whatever they had read, their callbacks get Aborted.
func (p *PosixFileSystem) AbortIO(handles []rocksdb.IOHandle) error {
	if err := checkHandles("AbortIO", handles); err != nil {
		return err
	}
	for _, x := range handles {
		if h, _ := x.(*asyncRead); h != nil {
			h.abort()
		}
	}
	return p.Poll(handles, len(handles))
}

func checkHandles(what string, handles []rocksdb.IOHandle) error {
	for _, x := range handles {
		if _, ok := x.(*asyncRead); x != nil && !ok {
			return rocksdb.InvalidArgumentf("%s of a handle that is another file system's (%T)", what, x)
		}
	}
	return nil
}

func (h *asyncRead) abort() {
	q := h.q
	q.mu.Lock()
	defer q.mu.Unlock()
	h.aborted = true
	q.reapLocked()
	if q.ring == nil || h.done {
		return
	}
	// Without a cancel the read just takes its time.
	if q.ring.prepareCancel(h.data, cancelData) {
		_ = q.enterLocked()
	}
}

// finishIfDone runs the callback of a read that is done, once.
func (h *asyncRead) finishIfDone() bool {
	h.q.mu.Lock()
	if !h.done {
		h.q.reapLocked()
	}
	done := h.done
	h.q.mu.Unlock()
	if !done {
		return false
	}
	// Whoever comes second waits until the callback has returned.
	h.finished.Lock()
	defer h.finished.Unlock()
	if h.finished.yes {
		return true
	}
	h.finished.yes = true
	h.setResult()
	h.cb(h.req)
	return true
}

func (h *asyncRead) setResult() {
	h.q.mu.Lock()
	aborted, n, err := h.aborted, h.n, h.err
	h.q.mu.Unlock()
	if aborted {
		h.req.Result, h.req.Status = nil, rocksdb.Aborted()
		return
	}
	if n < 0 {
		n, err = 0, syscall.Errno(-n)
		if isPassing(err) {
			if h.r.closed.Load() {
				err = syscall.EBADF
			} else {
				n, err = preadUpTo(h.r.f, h.buf, h.req.Offset, h.r.alignment())
			}
		}
	}
	if err != nil {
		h.req.Result, h.req.Status = h.buf[:0], IOError("Req failed", h.r.name, err)
		return
	}
	syncpoint.ProcessArg("UpdateResults::io_uring_result", &n)
	if n > len(h.buf) {
		h.req.Result, h.req.Status = h.buf[:0], rocksdb.IOError("Req returned more bytes than requested", h.r.name)
		return
	}
	h.req.Result, h.req.Status = h.buf[:n], nil
}

// isPassing is for a read's errors that another try may not meet. The kernel
// also cancels what a thread began that ends.
func isPassing(err error) bool {
	return err == syscall.EINTR || err == syscall.EAGAIN || err == syscall.ECANCELED
}

// readNow is a goroutine that reads.
func (h *asyncRead) readNow() {
	q, r := h.q, h.r // h may be released once it is done
	r.async.tokens <- struct{}{}
	q.mu.Lock()
	aborted := h.aborted
	q.mu.Unlock()
	var n int
	var err error
	if !aborted {
		n, err = preadUpTo(r.f, h.buf, h.req.Offset, r.alignment())
	}
	<-r.async.tokens // before anybody sees the read done
	r.reading.Done()
	q.mu.Lock()
	h.n, h.err = n, err
	h.completeLocked()
	q.mu.Unlock()
}

// parallelRead is a MultiRead by goroutines.
type parallelRead struct {
	r    *posixRandomAccessFile
	reqs []rocksdb.FSReadRequest
	next atomic.Int64
	done sync.WaitGroup
	run  func() // made once
}

var parallelReads = sync.Pool{New: func() any {
	p := new(parallelRead)
	p.run = func() {
		tokens := p.r.async.tokens
		p.work()
		<-tokens
		p.done.Done()
	}
	return p
}}

func (p *parallelRead) work() {
	for {
		i := p.next.Add(1) - 1
		if i >= int64(len(p.reqs)) {
			return
		}
		p.r.readRequest(&p.reqs[i])
	}
}

// multiReadByGoroutines reads in this goroutine and as many others as may be.
func (r *posixRandomAccessFile) multiReadByGoroutines(reqs []rocksdb.FSReadRequest) {
	p := parallelReads.Get().(*parallelRead)
	p.r, p.reqs = r, reqs
	p.next.Store(0)
spawn:
	for range min(len(reqs), maxParallelRead) - 1 {
		select {
		case r.async.tokens <- struct{}{}:
			p.done.Add(1)
			go p.run()
		default:
			break spawn // the machine has enough to do
		}
	}
	p.work()
	p.done.Wait()
	p.r, p.reqs = nil, nil
	parallelReads.Put(p)
}

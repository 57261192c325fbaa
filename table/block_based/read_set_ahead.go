// Port of util/io_dispatcher_imp.cc (what is done ahead of the caller). Differs: upstream checks
// and decompresses the blocks of a scan in the caller's thread alone.

package blockbased

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	// aheadDistance is how many blocks of its first ReadSet the caller parses
	// itself: it waits for the first read, so that the goroutine that works ahead
	// takes the next ones.
	aheadDistance = 16
	// aheadLimit bounds what is parsed and not taken yet, in bytes of the file.
	// At half of it the goroutine goes on.
	aheadLimit = 1 << 20
	// aheadSpins bounds the tries before the caller sleeps until a block is
	// parsed.
	aheadSpins = 64

	// readWindow is how many bytes of a scan's reads are under way at a time. A
	// device that is given everything at once serves all of it at the same time,
	// and the scan's first blocks come with its last.
	readWindow = 256 << 10
	// slowRead tells a device whose reads take long however few there are: it is
	// given everything at once.
	slowRead = time.Millisecond
)

// AheadQueue carries the asynchronous reads of one scan's ReadSets along, in the
// order in which the scan comes to them: it begins those that were held back as
// the first are done, and has the blocks parsed by another goroutine than the
// scan's. That goroutine ends when it has come to the end of all sets, or they
// are closed.
//
// At most readWindow bytes are under way, but for what the scan asks for, and
// until a read was slow.
//
// Locks: a ReadSet's mu comes before the queue's.
type AheadQueue struct {
	limit  int64        // aheadLimit, but in tests
	window uint64       // readWindow, but in tests
	bytes  atomic.Int64 // parsed and not taken
	parked atomic.Bool  // the goroutine waits for bytes to fall
	held   atomic.Bool  // waiting is not empty

	mu      sync.Mutex
	room    sync.Cond // on mu: bytes fell below half the limit
	sets    []*ReadSet
	running bool
	flying  uint64     // bytes under way
	slow    bool       // a read was: the window is open
	waiting []*ReadSet // those with groups held back
}

// NewAheadQueue makes a queue for one scan. It needs no closing.
func NewAheadQueue() *AheadQueue {
	q := &AheadQueue{limit: aheadLimit, window: readWindow}
	q.room.L = &q.mu
	return q
}

// add appends a set, of which some reads may be held back. Contexts of the
// caller's count in its own goroutine alone, so that with them nothing is parsed
// ahead.
func (q *AheadQueue) add(s *ReadSet, held bool) {
	ro := s.job.ReadOptions
	alone := ro.PerfContext != nil || ro.IOStatsContext != nil || runtime.GOMAXPROCS(0) == 1
	q.mu.Lock()
	defer q.mu.Unlock()
	if held {
		q.waiting = append(q.waiting, s)
		q.held.Store(true)
	}
	if alone {
		return
	}
	q.sets = append(q.sets, s)
	if !q.running {
		q.running = true
		go q.run()
	}
}

// fly asks for n bytes of the window; with force it does not ask.
func (q *AheadQueue) fly(n uint64, force bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !force && !q.slow && q.flying > 0 && q.flying+n > q.window {
		return false
	}
	q.flying += n
	return true
}

// land is for n bytes that have come, or were given up.
func (q *AheadQueue) land(n uint64, slow bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying -= n
	q.slow = q.slow || slow
}

// dispatch begins reads that were held back, as far as the window goes. The
// caller holds no ReadSet's mu.
func (q *AheadQueue) dispatch() {
	for q.held.Load() {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.held.Store(false)
			q.mu.Unlock()
			return
		}
		s := q.waiting[0]
		q.mu.Unlock()
		if s.DispatchPending() {
			return
		}
		q.mu.Lock()
		if len(q.waiting) > 0 && q.waiting[0] == s {
			q.waiting[0] = nil
			q.waiting = q.waiting[1:]
		}
		q.mu.Unlock()
	}
}

// dispatchIfIdle is dispatch where no goroutine is there to do it.
func (q *AheadQueue) dispatchIfIdle() {
	if !q.held.Load() {
		return
	}
	q.mu.Lock()
	idle := !q.running || q.parked.Load()
	q.mu.Unlock()
	if idle {
		q.dispatch()
	}
}

func (q *AheadQueue) run() {
	for skip := aheadDistance; ; skip = 0 {
		q.mu.Lock()
		if len(q.sets) == 0 {
			q.running = false
			q.mu.Unlock()
			return
		}
		s := q.sets[0]
		q.sets[0] = nil
		q.sets = q.sets[1:]
		q.mu.Unlock()
		s.parseAhead(q, skip)
	}
}

// took counts n bytes that the scan has taken, or given up.
func (q *AheadQueue) took(n uint64) {
	if q.bytes.Add(-int64(n)) < q.limit/2 && q.parked.Load() {
		q.mu.Lock()
		q.room.Signal()
		q.mu.Unlock()
	}
}

// park waits while too much is parsed.
func (q *AheadQueue) park() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parked.Store(true)
	for q.bytes.Load() >= q.limit/2 {
		q.room.Wait()
	}
	q.parked.Store(false)
}

// parseAhead parses the set's blocks, in the order in which the scan takes them
// and after the first skip, as their reads are done. Those that the scan has come
// to itself are left to it, and those whose reads wait for memory.
func (s *ReadSet) parseAhead(q *AheadQueue, skip int) {
	rc := s.job.Table.scanContext(s.job.ReadOptions)
	var one batchRead
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := skip; n < len(s.blocks); n++ {
		i := s.byOffset(n)
		if s.job.Reverse {
			i = s.byOffset(len(s.blocks) - 1 - n)
		}
		b := &s.blocks[i]
		for q.bytes.Load() >= q.limit && !s.closed {
			s.mu.Unlock()
			q.park()
			s.mu.Lock()
		}
		if s.closed {
			return
		}
		if b.state == blockPending {
			opts := s.opts
			s.dispatchPending(&opts, true)
		}
		if b.state != blockReading || b.failed {
			continue
		}
		r := b.read
		err := s.wait(r)
		if q.held.Load() {
			s.mu.Unlock()
			q.dispatch()
			s.mu.Lock()
		}
		if err != nil || s.closed || b.state != blockReading {
			continue // the scan is to see the error
		}
		b.state = blockAhead
		s.mu.Unlock()
		syncpoint.Process("ReadSet::parseAhead")
		e, ok, err := s.parse(&rc, &one, r, i)
		s.mu.Lock()
		if !ok || err != nil {
			b.state, b.failed = blockReading, true
		} else {
			b.state, b.entry, b.ahead = blockPinned, e, q
			q.bytes.Add(int64(s.size(i)))
			s.drop(b)
		}
		s.progress.Broadcast()
	}
}

// awaitAhead waits until b is parsed. mu is held, and released meanwhile.
func (s *ReadSet) awaitAhead(b *setBlock) {
	for range aheadSpins {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
		if b.state != blockAhead {
			return
		}
	}
	for b.state == blockAhead {
		s.progress.Wait()
	}
}

// tookAhead counts block i, which is the scan's now, off the queue's bytes.
func (s *ReadSet) tookAhead(i int) {
	if b := &s.blocks[i]; b.ahead != nil {
		b.ahead.took(s.size(i))
		b.ahead = nil
	}
}

// wait waits for a read. mu is held, and released meanwhile: the scan and the
// goroutine that works ahead may want different reads.
func (s *ReadSet) wait(r *setRead) error {
	for r.polled {
		s.progress.Wait()
	}
	if r.handle != nil {
		r.polled = true
		s.mu.Unlock()
		r.lead.Stop()
		timer := startTimer(s.job.Table.ioptions, rocksdb.HistIODispatcherAsyncReadPollWaitMicros)
		h := [1]rocksdb.IOHandle{r.handle}
		err := s.job.Table.ioptions.FS.Poll(h[:], 1)
		timer.Stop()
		s.mu.Lock()
		r.polled = false
		s.progress.Broadcast()
		if err != nil {
			return err
		}
		r.handle.Release()
		r.handle = nil
		s.land(r, true)
	}
	if r.async {
		r.async = false
		s.stats.AsyncReads += uint64(len(r.group))
	}
	return r.req.Status
}

// land takes r out of the queue's window; came: its bytes are there.
func (s *ReadSet) land(r *setRead, came bool) {
	if n := r.flying; n > 0 {
		r.flying = 0
		s.job.Ahead.land(n, came && time.Since(r.begun) > slowRead)
	}
}

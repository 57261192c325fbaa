// Port of util/io_dispatcher_imp.cc (what is done ahead of the caller). Differs: upstream checks
// and decompresses the blocks of a scan in the caller's thread alone.

package blockbased

import (
	"runtime"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	// aheadDistance is how many blocks the caller parses itself while the
	// goroutine that works ahead wakes up.
	aheadDistance = 2
	// aheadLeast is how many blocks there have to be for it.
	aheadLeast = 4
	// aheadSpins bounds the tries before the caller sleeps until a block is
	// parsed.
	aheadSpins = 64
)

// workAhead has the blocks of r that come some after block i parsed by another
// goroutine, in asynchronous sets. Contexts of the caller's count in its own
// goroutine alone, so that with them nothing is done ahead. mu is held.
func (s *ReadSet) workAhead(r *setRead, i int) {
	ro := s.rc.ro
	if s.busy || !s.job.Async || r.left < aheadDistance+aheadLeast || ro.PerfContext != nil || ro.IOStatsContext != nil ||
		runtime.GOMAXPROCS(0) == 1 {
		return
	}
	for n, j := range r.group {
		if j == i {
			if rest := r.group[n+1:]; len(rest) >= aheadDistance+aheadLeast {
				s.busy = true
				go s.parseAhead(r, rest[aheadDistance:])
			}
			return
		}
	}
}

// parseAhead parses blocks of r, whose read is done, until the caller has come
// to the last of them or closes the set.
func (s *ReadSet) parseAhead(r *setRead, group []int) {
	rc := readContext{ro: s.job.ReadOptions}
	var one batchRead
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range group {
		if s.closed {
			break
		}
		b := &s.blocks[i]
		if b.state != blockReading || b.failed {
			continue
		}
		b.state = blockAhead
		s.mu.Unlock()
		syncpoint.Process("ReadSet::parseAhead")
		e, ok, err := s.parse(&rc, &one, r, i)
		s.mu.Lock()
		if !ok || err != nil {
			b.state, b.failed = blockReading, true
		} else {
			b.state, b.entry = blockPinned, e
			s.drop(b)
		}
		s.ahead.Signal() // the caller alone waits
	}
	s.busy = false
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
		s.ahead.Wait()
	}
}

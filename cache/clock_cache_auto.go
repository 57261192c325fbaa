// Port of cache/clock_cache.{h,cc}: AutoHyperClockTable. Differs: entries are
// objects of the heap on one list ordered by reversed hashes, into which the
// table points, where upstream has chains through one mapping: the collector
// frees what readers may still stand on, so that looking up needs no shifts and
// no markers of ends.

package cache

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	// autoLoadFactor is the number of entries a bucket that makes the table
	// grow.
	autoLoadFactor = 0.60
	// autoSlotCharge is what a bucket is charged: upstream's slot. Ours is a
	// head and its part of the entries' own bookkeeping.
	autoSlotCharge  = 64
	autoMinBuckets  = 64 // the length of the first segment
	autoSlotsAPage  = 64
	autoMaxSegments = 64
	// autoSmallCapacity is up to where the table begins with 4 buckets, not with
	// a segment.
	autoSmallCapacity = 4096
)

// clockLink is a place on the list: a bucket's head (its order is even), which
// stays for ever, or an entry's (odd), at the beginning of its autoHandle.
type clockLink struct {
	next  atomic.Pointer[clockLink]
	order uint64
}

// autoHead begins a bucket. Its mutex is held by who changes links from the head
// up to the next head; readers need no lock.
type autoHead struct {
	clockLink
	mu sync.Mutex
}

// autoHandle is an entry of the table. It is never used again once it is off
// the list, and its hash does not change.
type autoHandle struct {
	clockLink
	ClockHandle
}

func (l *clockLink) isHead() bool { return l.order&1 == 0 }

func (l *clockLink) entry() *ClockHandle { return &(*autoHandle)(unsafe.Pointer(l)).ClockHandle }

func (l *clockLink) head() *autoHead { return (*autoHead)(unsafe.Pointer(l)) }

// entryOrder is where the entries of a hash stand. Reversed, all hashes with the
// same low bits are neighbours, so that splitting a bucket moves nothing.
func entryOrder(hash *[2]uint64) uint64 { return bits.Reverse64(hash[1]) | 1 }

// autoTable is a hash table that grows by one bucket at a time. With n buckets,
// a hash belongs to that of its low bits: as many as number n-1 has, or one
// fewer where that is beyond the end.
type autoTable struct {
	used     atomic.Uint64 // buckets
	maxUsed  atomic.Uint64
	segments [autoMaxSegments]atomic.Pointer[autoHead] // each the first of its heads
	grow     sync.Mutex
}

func (t *autoTable) at(i uint64) *autoHead {
	seg := bits.Len64(i / autoMinBuckets)
	if seg > 0 {
		i -= autoMinBuckets << (seg - 1)
	}
	// A segment's length is what the bits of i leave; i is below used.
	return (*autoHead)(unsafe.Add(unsafe.Pointer(t.segments[seg%autoMaxSegments].Load()), uintptr(i)*unsafe.Sizeof(autoHead{})))
}

func (t *autoTable) headOf(hash *[2]uint64) *autoHead {
	n := t.used.Load()
	mask := uint64(1)<<bits.Len64(n-1) - 1
	i := hash[1] & mask
	if i >= n {
		i &= mask >> 1
	}
	return t.at(i)
}

func autoMaxBuckets(capacity, minEntryCharge int, metadata bool) uint64 {
	charge := float64(minEntryCharge) * autoLoadFactor
	if metadata {
		charge += autoSlotCharge
	}
	n := uint64(float64(capacity)/charge + 0.999999)
	return max((n+autoSlotsAPage-1)/autoSlotsAPage*autoSlotsAPage, autoSlotsAPage)
}

func autoOccupancyLimit(buckets uint64) int64 {
	return int64(float64(buckets)*autoLoadFactor + 0.999)
}

func (s *clockShard) initAuto(capacity, minEntryCharge int, o *rocksdb.HyperClockCacheOptions) {
	s.initBase(capacity, o)
	t := new(autoTable)
	s.auto = t
	t.maxUsed.Store(autoMaxBuckets(capacity, minEntryCharge, s.metadata))
	first := make([]autoHead, autoMinBuckets)
	t.segments[0].Store(&first[0])
	n := uint64(autoMinBuckets)
	if capacity <= autoSmallCapacity {
		n = 4
	}
	for i := range n {
		first[i].order = bits.Reverse64(i)
		if i > 0 {
			t.link(&first[0], &first[i].clockLink)
		}
	}
	t.used.Store(n)
	s.occupancyLimit.Store(autoOccupancyLimit(n))
	if s.metadata {
		s.usage.Store(int64(n) * autoSlotCharge)
	}
}

// growFor makes the table large enough for a number of entries; false where it
// must not grow any more.
func (s *clockShard) growFor(occupancy int64) bool {
	t := s.auto
	for occupancy > s.occupancyLimit.Load() {
		if t.used.Load() >= t.maxUsed.Load() || !s.chargeBucket() {
			return false
		}
		t.grow.Lock()
		n := t.used.Load()
		if occupancy <= s.occupancyLimit.Load() || n >= t.maxUsed.Load() {
			t.grow.Unlock()
			if s.metadata {
				s.usage.Add(-autoSlotCharge)
			}
			continue
		}
		if seg := bits.Len64(n / autoMinBuckets); t.segments[seg].Load() == nil {
			heads := make([]autoHead, autoMinBuckets<<(seg-1))
			t.segments[seg].Store(&heads[0])
		}
		h := t.at(n)
		h.order = bits.Reverse64(n)
		t.link(t.at(n&^(1<<(bits.Len64(n)-1))), &h.clockLink)
		t.used.Store(n + 1)
		s.occupancyLimit.Store(autoOccupancyLimit(n + 1))
		t.grow.Unlock()
	}
	return true
}

// chargeBucket charges a new bucket; false where a strict limit forbids it. No
// lock is held, as entries may have to go.
func (s *clockShard) chargeBucket() bool {
	if !s.metadata {
		return true
	}
	if s.strict.Load() {
		return s.chargeStrict(autoSlotCharge, false) == nil
	}
	s.usage.Add(autoSlotCharge)
	return true
}

// lockedBefore gives the last link before order, from head on, and the head,
// locked, of the bucket that it is in: a later one where the table has grown.
func lockedBefore(head *autoHead, order uint64) (*autoHead, *clockLink) {
	head.mu.Lock()
	prev := &head.clockLink
	for l := prev.next.Load(); l != nil && l.order < order; l = prev.next.Load() {
		if l.isHead() {
			head.mu.Unlock()
			head = l.head()
			head.mu.Lock()
		}
		prev = l
	}
	return head, prev
}

// link puts l on the list, behind head.
func (t *autoTable) link(head *autoHead, l *clockLink) {
	head, prev := lockedBefore(head, l.order)
	l.next.Store(prev.next.Load())
	prev.next.Store(l)
	head.mu.Unlock()
}

// unlink takes an entry that this goroutine owns off the list. Its own link
// stays as it is, for readers that stand on it.
func (t *autoTable) unlink(h *ClockHandle) {
	head, prev := lockedBefore(t.headOf(&h.hash), entryOrder(&h.hash))
	for l := prev.next.Load(); l != nil; l = prev.next.Load() {
		if !l.isHead() && l.entry() == h {
			prev.next.Store(l.next.Load())
			break
		}
		prev = l // of the same order: no head is between
	}
	head.mu.Unlock()
}

func (t *autoTable) lookup(hash *[2]uint64) *ClockHandle {
	for l := t.headOf(hash).next.Load(); l != nil; l = l.next.Load() {
		if l.isHead() {
			if l.order > entryOrder(hash) {
				return nil
			}
			continue // the bucket has been split meanwhile
		}
		h := l.entry()
		if h.hash != *hash {
			continue
		}
		old := h.add(clockAcquireOne)
		if old.isVisible() {
			return h
		}
		if old.isShareable() {
			h.unref(1)
		}
	}
	return nil
}

// insert gives nil where the key is there already, or the table is full.
func (s *clockShard) insertAuto(e *clockEntry, countdown uint64, keepRef bool) *ClockHandle {
	t := s.auto
	if uint64(s.occupancy.Load()) > t.used.Load() {
		return nil
	}
	n := &autoHandle{}
	n.order = entryOrder(&e.hash)
	h := &n.ClockHandle
	h.hash, h.value, h.helper, h.totalCharge = e.hash, e.value, e.helper, e.charge
	released := countdown
	if keepRef {
		released--
	}
	h.meta.Store(clockVisibleState | released<<clockCounterBits | countdown)
	head, prev := lockedBefore(t.headOf(&e.hash), n.order)
	for l := prev.next.Load(); l != nil && l.order == n.order; l = l.next.Load() {
		other := l.entry()
		if other.hash != e.hash {
			continue
		}
		// As many references as make the match look used.
		old := other.add(countdown * clockAcquireOne)
		if old.isVisible() {
			old = other.add(countdown * clockReleaseOne)
			other.correctNearOverflow(old)
			head.mu.Unlock()
			return nil
		}
		if old.isShareable() {
			other.unref(countdown)
		}
	}
	n.next.Store(prev.next.Load())
	prev.next.Store(&n.clockLink)
	head.mu.Unlock()
	return h
}

func (t *autoTable) erase(s *clockShard, hash *[2]uint64) {
	order := entryOrder(hash)
	for l := t.headOf(hash).next.Load(); l != nil && l.order <= order; l = l.next.Load() {
		if l.order != order {
			continue
		}
		h := l.entry()
		if h.hash != *hash {
			continue
		}
		old := h.add(clockAcquireOne)
		switch {
		case old.isVisible():
			s.eraseRefed(h)
		case old.isShareable():
			h.unref(1)
		}
	}
}

// each calls f for every entry of the list.
func (t *autoTable) each(f func(h *ClockHandle)) {
	for l := t.at(0).next.Load(); l != nil; l = l.next.Load() {
		if !l.isHead() {
			f(l.entry())
		}
	}
}

// evictAuto is evict: the hand passes the buckets in their order, together with
// those that were split off them since their number was a power of two.
func (s *clockShard) evictAuto(charge int64) (e evicted) {
	const step = 4
	t := s.auto
	used := t.used.Load()
	major := uint64(1) << (bits.Len64(used) - 1)
	var end uint64
	for {
		at := s.clockPointer.Add(step) - step
		if end == 0 {
			end = at + (clockMaxCountdown+1)*major
		}
		for base := at & (major - 1); base < used; base += major {
			for i := base; i < min(base+step, used); i++ {
				s.evictBucket(t.at(i), &e)
			}
		}
		switch {
		case e.charge >= charge || at+step >= end:
			return e
		case s.tooMuchEffort(&e):
			return e
		}
	}
}

func (s *clockShard) evictBucket(head *autoHead, e *evicted) {
	for l := head.next.Load(); l != nil && !l.isHead(); l = l.next.Load() {
		h := l.entry()
		if took, hit := h.clockUpdate(e); took {
			s.freeOwned(h, true, hit)
		}
	}
}

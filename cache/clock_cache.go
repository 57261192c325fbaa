// Port of cache/clock_cache.{h,cc}: entries' states, charging, and the table of
// fixed size. clock_cache_auto.go has the table that grows.

package cache

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/util"
)

// clockMeta is the state of a slot: two counters of 30 bits, of references
// taken and given back, and flags. In the slot of an unreferenced entry both
// counters are its countdown: how many times the clock's hand passes before it
// is evicted. A slot is
//   - empty: all bits zero;
//   - under construction (occupied): owned by one goroutine; the counter of
//     references taken may change and means nothing;
//   - invisible (shareable): an entry with references that Lookup does not find;
//   - visible.
type clockMeta uint64

const (
	clockCounterBits = 30
	clockCounterMask = 1<<clockCounterBits - 1
	clockAcquireOne  = 1
	clockReleaseOne  = 1 << clockCounterBits

	// clockHit tells that Lookup has found the entry since it was inserted. It
	// is kept where somebody wants to know of evictions.
	clockHit       = 1 << 60
	clockOccupied  = 1 << 61
	clockShareable = 1 << 62
	clockVisible   = 1 << 63

	clockConstruction   = clockOccupied
	clockInvisibleState = clockOccupied | clockShareable
	clockVisibleState   = clockOccupied | clockShareable | clockVisible

	clockHighCountdown   = 3
	clockLowCountdown    = 2
	clockBottomCountdown = 1
	clockMaxCountdown    = clockHighCountdown

	// clockLoadFactor is aimed at, clockStrictLoadFactor is not exceeded.
	clockLoadFactor       = 0.7
	clockStrictLoadFactor = 0.84

	clockMinShardSize = 32 << 20
)

func (m clockMeta) acquired() uint32  { return uint32(m) & clockCounterMask }
func (m clockMeta) released() uint32  { return uint32(m>>clockCounterBits) & clockCounterMask }
func (m clockMeta) refs() uint32      { return (m.acquired() - m.released()) & clockCounterMask }
func (m clockMeta) isShareable() bool { return m&clockShareable != 0 }
func (m clockMeta) isVisible() bool   { return m&clockVisible != 0 }
func (m clockMeta) isInvisible() bool { return m&clockVisibleState == clockInvisibleState }

// ClockHandle is an entry of a HyperClockCache and a reference on it. Whoever
// holds a reference may read the other fields, whoever constructs may change
// them.
type ClockHandle struct {
	meta atomic.Uint64
	// displacements counts the entries whose probing passed over this slot;
	// the slot's own goroutine need not hold it.
	displacements atomic.Uint32
	standalone    bool
	redundant     bool      // standalone since there is another entry of the key
	hash          [2]uint64 // the key, hashed reversibly
	value         any
	helper        *rocksdb.CacheItemHelper
	totalCharge   int
}

// Value is the object; it implements rocksdb.CacheHandle.
func (h *ClockHandle) Value() any { return h.value }

// WasRedundant implements rocksdb.RedundantInsert.
func (h *ClockHandle) WasRedundant() bool { return h.redundant }

func (h *ClockHandle) load() clockMeta { return clockMeta(h.meta.Load()) }

// add gives the state before.
func (h *ClockHandle) add(n uint64) clockMeta { return clockMeta(h.meta.Add(n) - n) }

// unref takes back references that were not for use.
func (h *ClockHandle) unref(n uint64) { h.meta.Add(-n) }

// own takes an entry over for good, if its state is still m.
func (h *ClockHandle) own(m clockMeta) bool {
	return h.meta.CompareAndSwap(uint64(m), clockConstruction)
}

func (h *ClockHandle) runDeleter() {
	if h.helper != nil && h.helper.Deleter != nil {
		h.helper.Deleter(h.value)
	}
}

// correctNearOverflow keeps the counters of an entry that is used again and
// again, and never met by the clock's hand, from overflowing: it clears both
// top bits. All countdowns of at least clockMaxCountdown being alike, that
// changes nothing.
func (h *ClockHandle) correctNearOverflow(m clockMeta) {
	const top = 1 << (clockCounterBits - 1)
	if m.released() > top+clockMaxCountdown {
		h.meta.And(^uint64(top | top<<clockCounterBits))
	}
}

// clockShard is a shard of a HyperClockCache: an open-addressing table of slots
// with double hashing, in which entries stay where they are, or an autoTable.
type clockShard struct {
	capacity  atomic.Int64
	strict    atomic.Bool
	effortCap uint64
	metadata  bool // charged
	// onEvict is the cache's eviction callback, with the key unhashed.
	onEvict atomic.Pointer[func(h *ClockHandle, wasHit bool) bool]

	auto           *autoTable // nil: slots
	slots          []ClockHandle
	mask           uint64
	occupancyLimit atomic.Int64

	_               [64]byte
	clockPointer    atomic.Uint64
	occupancy       atomic.Int64
	usage           atomic.Int64
	standaloneUsage atomic.Int64
	effortExceeded  atomic.Uint64
	_               [64]byte
}

// clockHashBits gives the logarithm of the number of slots.
func clockHashBits(capacity, entryCharge int, metadata bool) int {
	slotCharge := float64(entryCharge) * clockLoadFactor
	size := int(unsafe.Sizeof(ClockHandle{}))
	if metadata {
		slotCharge += float64(size)
	}
	n := max(uint64(float64(capacity)/slotCharge+0.999999), 1)
	b := util.FloorLog2(n<<1 - 1)
	for metadata && b > 0 && size<<b > capacity {
		b--
	}
	return b
}

func (s *clockShard) initBase(capacity int, o *rocksdb.HyperClockCacheOptions) {
	s.capacity.Store(int64(capacity))
	s.strict.Store(o.StrictCapacityLimit)
	s.effortCap = uint64(max(o.EvictionEffortCap, 1))
	s.metadata = o.MetadataChargePolicy == rocksdb.FullChargeCacheMetadata
}

func (s *clockShard) init(capacity, entryCharge int, o *rocksdb.HyperClockCacheOptions) {
	s.initBase(capacity, o)
	n := 1 << clockHashBits(capacity, entryCharge, s.metadata)
	s.slots, s.mask = make([]ClockHandle, n), uint64(n-1)
	s.occupancyLimit.Store(int64(float64(n) * clockStrictLoadFactor))
	if s.metadata {
		s.usage.Store(int64(n) * int64(unsafe.Sizeof(ClockHandle{})))
	}
}

// probe walks the slots in which a key may be: p.next() until it is false.
type clockProbe struct{ first, at, step uint64 }

func (s *clockShard) probe(hash *[2]uint64) clockProbe {
	at := hash[1] & s.mask
	return clockProbe{at, at, hash[0] | 1} // odd, so that all slots are met
}

func (s *clockShard) next(p *clockProbe) bool {
	p.at = (p.at + p.step) & s.mask
	return p.at != p.first
}

// rollback takes back the displacements of an entry up to its slot.
func (s *clockShard) rollback(hash *[2]uint64, h *ClockHandle) {
	for p := s.probe(hash); &s.slots[p.at] != h; p.at = (p.at + p.step) & s.mask {
		s.slots[p.at].displacements.Add(math.MaxUint32)
	}
}

func (s *clockShard) reclaim(charge int) {
	s.occupancy.Add(-1)
	n := s.usage.Add(-int64(charge))
	if invariants.Enabled && n < 0 {
		panic("cache: usage below zero")
	}
}

// evicted is what an eviction has done.
type evicted struct {
	charge, count int64
	seenPinned    uint64
}

// clockUpdate is the hand's visit. It tells whether it took the entry over, and
// whether that had been looked up.
func (h *ClockHandle) clockUpdate(e *evicted) (took, hit bool) {
	m := h.load()
	if !m.isShareable() {
		return false, false
	}
	count := m.acquired()
	if count != m.released() {
		e.seenPinned++
		return false, false
	}
	if m.isVisible() && count > 0 {
		count = min(count-1, clockMaxCountdown-1)
		h.meta.CompareAndSwap(uint64(m), clockVisibleState|uint64(m&clockHit)|uint64(count)<<clockCounterBits|uint64(count))
		return false, false
	}
	if !h.own(m) { // it has been used
		return false, false
	}
	e.charge += int64(h.totalCharge)
	e.count++
	return true, m&clockHit != 0
}

func (s *clockShard) tooMuchEffort(e *evicted) bool {
	if uint64(e.count+1)*s.effortCap <= e.seenPinned && !s.strict.Load() {
		s.effortExceeded.Add(1)
		return true
	}
	return false
}

// freeOwned takes an entry that this goroutine owns out of the table and frees
// it. It is for the caller to reclaim its charge.
func (s *clockShard) freeOwned(h *ClockHandle, byEviction, hit bool) {
	if s.auto != nil {
		s.auto.unlink(h)
	} else {
		hash := h.hash
		s.rollback(&hash, h)
	}
	taken := false
	if byEviction {
		if f := s.onEvict.Load(); f != nil {
			taken = (*f)(h, hit)
		}
	}
	if !taken {
		h.runDeleter()
	}
	h.value, h.helper = nil, nil
	if s.auto == nil {
		h.meta.Store(0)
	}
}

// evict frees unreferenced entries of a total charge, or gives up: after the
// hand's passing all of them often enough, or for meeting too many pinned ones.
func (s *clockShard) evict(charge int64) (e evicted) {
	if s.auto != nil {
		return s.evictAuto(charge)
	}
	const step = 4
	at := s.clockPointer.Add(step) - step
	end := at + clockMaxCountdown*uint64(len(s.slots))
	for {
		for i := range uint64(step) {
			h := &s.slots[(at+i)&s.mask]
			if took, hit := h.clockUpdate(&e); took {
				s.freeOwned(h, true, hit)
			}
		}
		switch {
		case e.charge >= charge || at >= end:
			return e
		case s.tooMuchEffort(&e):
			return e
		}
		at = s.clockPointer.Add(step) - step
	}
}

func clockFull(what string) error {
	return rocksdb.WithSubCode(rocksdb.CodeAborted, rocksdb.SubCodeMemoryLimit, "Insert failed because of "+what)
}

// chargeStrict adds to the usage what is inserted, evicting as much as exceeds
// the capacity.
func (s *clockShard) chargeStrict(charge int64, forOccupancy bool) error {
	capacity := s.capacity.Load()
	if charge > capacity {
		return clockFull("an entry too large for a single cache shard")
	}
	old := s.usage.Load()
	usage := old
	for {
		usage = min(capacity, old+charge)
		if usage == old || s.usage.CompareAndSwap(old, usage) {
			break
		}
		old = s.usage.Load()
	}
	need := old + charge - usage
	request := need
	if forOccupancy && request == 0 {
		request = 1
	}
	if request == 0 {
		return nil
	}
	e := s.evict(request)
	s.occupancy.Add(-e.count)
	if e.charge < need || forOccupancy && e.count == 0 {
		s.usage.Add(-(e.charge + usage - old))
		if e.charge < need {
			return clockFull("nothing to evict within the capacity limit")
		}
		return clockFull("nothing to evict within the table's occupancy limit")
	}
	s.usage.Add(-(e.charge - need))
	return nil
}

// chargeNonStrict does so as well as it can; false when the table is too full.
func (s *clockShard) chargeNonStrict(charge int64, forOccupancy bool) bool {
	old, capacity := s.usage.Load(), s.capacity.Load()
	need := int64(0)
	// There is no use in looking for more than there is.
	if old+charge > capacity && charge <= old {
		need = charge
		if old > capacity {
			// Get back below it, without all inserters' doing so at once.
			need += min(capacity/1024, charge) + 1
		}
	}
	if forOccupancy && need == 0 {
		need = 1
	}
	var e evicted
	if need > 0 {
		e = s.evict(need)
		s.occupancy.Add(-e.count)
		if forOccupancy && e.count == 0 {
			return false
		}
	}
	s.usage.Add(charge - e.charge)
	return true
}

// clockEntry is what is inserted.
type clockEntry struct {
	hash   [2]uint64
	value  any
	helper *rocksdb.CacheItemHelper
	charge int
}

func (e *clockEntry) runDeleter() {
	if e.helper != nil && e.helper.Deleter != nil {
		e.helper.Deleter(e.value)
	}
}

func (s *clockShard) standalone(e *clockEntry) *ClockHandle {
	h := &ClockHandle{standalone: true, hash: e.hash, value: e.value, helper: e.helper, totalCharge: e.charge}
	h.meta.Store(clockInvisibleState | clockAcquireOne)
	s.standaloneUsage.Add(int64(e.charge))
	return h
}

func (s *clockShard) createStandalone(e *clockEntry, allowUncharged bool) *ClockHandle {
	if s.strict.Load() {
		if s.chargeStrict(int64(e.charge), false) != nil {
			if !allowUncharged {
				return nil
			}
			e.charge = 0
		}
	} else if !s.chargeNonStrict(int64(e.charge), false) {
		s.usage.Add(int64(e.charge))
	}
	return s.standalone(e)
}

func countdownOf(p rocksdb.CachePriority) uint64 {
	switch p {
	case rocksdb.CachePriorityHigh:
		return clockHighCountdown
	case rocksdb.CachePriorityLow:
		return clockLowCountdown
	}
	return clockBottomCountdown
}

// insert adds an entry. An entry of that key which is there already stays: the
// new one is then standalone, as when the table is full, or with no handle
// wanted gone at once.
func (s *clockShard) insert(e *clockEntry, p rocksdb.CachePriority, wantHandle bool) (*ClockHandle, error) {
	charge := int64(e.charge)
	occupancy := s.occupancy.Add(1)
	tooFull := occupancy > s.occupancyLimit.Load() && (s.auto == nil || !s.growFor(occupancy))
	if s.strict.Load() {
		if err := s.chargeStrict(charge, tooFull); err != nil {
			s.occupancy.Add(-1)
			return nil, err
		}
	} else if !s.chargeNonStrict(charge, tooFull) {
		s.occupancy.Add(-1)
		if !wantHandle {
			e.runDeleter()
			return nil, nil
		}
		s.usage.Add(charge)
		return s.standalone(e), nil
	}
	if h := s.doInsert(e, countdownOf(p), wantHandle); h != nil {
		return h, nil
	}
	s.occupancy.Add(-1)
	if !wantHandle {
		s.usage.Add(-charge)
		e.runDeleter()
		return nil, nil
	}
	h := s.standalone(e)
	h.redundant = true
	return h, nil
}

func (s *clockShard) doInsert(e *clockEntry, countdown uint64, keepRef bool) *ClockHandle {
	if s.auto != nil {
		return s.insertAuto(e, countdown, keepRef)
	}
	for p := s.probe(&e.hash); ; {
		h := &s.slots[p.at]
		ok, matches := h.beginInsert(e, countdown)
		if ok {
			h.standalone, h.hash, h.value, h.helper, h.totalCharge = false, e.hash, e.value, e.helper, e.charge
			released := countdown
			if keepRef {
				released--
			}
			h.meta.Store(clockVisibleState | released<<clockCounterBits | countdown)
			return h
		}
		if matches {
			s.rollback(&e.hash, h)
			return nil
		}
		h.displacements.Add(1)
		if !s.next(&p) { // every slot was taken in the moment we saw it
			s.undisplaceAll()
			return nil
		}
	}
}

// undisplaceAll takes back the displacements of a probe that met every slot.
func (s *clockShard) undisplaceAll() {
	for i := range s.slots {
		s.slots[i].displacements.Add(math.MaxUint32)
	}
}

// beginInsert takes an empty slot over; matches tells that it holds the key.
func (h *ClockHandle) beginInsert(e *clockEntry, countdown uint64) (ok, matches bool) {
	old := clockMeta(h.meta.Or(clockOccupied))
	if old&clockVisibleState == 0 {
		return true, false
	}
	if !old.isVisible() {
		return false, false
	}
	// As many references as make the match look used.
	old = h.add(countdown * clockAcquireOne)
	switch {
	case old.isVisible() && h.hash == e.hash:
		old = h.add(countdown * clockReleaseOne)
		h.correctNearOverflow(old)
		return false, true
	case old.isShareable():
		h.unref(countdown)
	}
	return false, false
}

func (s *clockShard) lookup(hash *[2]uint64) (h *ClockHandle) {
	if s.auto != nil {
		h = s.auto.lookup(hash)
	} else {
		h = s.lookupSlot(hash)
	}
	if h != nil && s.onEvict.Load() != nil {
		h.meta.Or(clockHit)
	}
	return h
}

func (s *clockShard) lookupSlot(hash *[2]uint64) *ClockHandle {
	for p := s.probe(hash); ; {
		h := &s.slots[p.at]
		old := h.add(clockAcquireOne)
		if old.isVisible() && h.hash == *hash {
			return h
		}
		if old.isShareable() {
			h.unref(1)
		}
		if h.displacements.Load() == 0 || !s.next(&p) {
			return nil
		}
	}
}

// release gives a reference back; not useful pretends it was never taken.
func (s *clockShard) release(h *ClockHandle, useful, eraseIfLastRef bool) bool {
	var m clockMeta // after
	if useful {
		m = clockMeta(h.meta.Add(clockReleaseOne))
	} else {
		m = clockMeta(h.meta.Add(^uint64(0)))
	}
	if !eraseIfLastRef && !m.isInvisible() {
		h.correctNearOverflow(m)
		return false
	}
	for {
		if m.refs() != 0 {
			h.correctNearOverflow(m)
			return false
		}
		if !m.isShareable() { // somebody else took it over
			return false
		}
		if h.own(m) {
			break
		}
		m = h.load()
	}
	charge := h.totalCharge
	if h.standalone {
		h.runDeleter()
		s.standaloneUsage.Add(-int64(charge))
		s.usage.Add(-int64(charge))
		return true
	}
	s.freeOwned(h, false, false)
	s.reclaim(charge)
	return true
}

func (s *clockShard) erase(hash *[2]uint64) {
	if s.auto != nil {
		s.auto.erase(s, hash)
		return
	}
	for p := s.probe(hash); ; {
		h := &s.slots[p.at]
		old := h.add(clockAcquireOne)
		switch {
		case old.isVisible() && h.hash == *hash:
			s.eraseRefed(h)
		case old.isShareable():
			h.unref(1)
		}
		if h.displacements.Load() == 0 || !s.next(&p) {
			return
		}
	}
}

// eraseRefed erases an entry on which this goroutine holds a reference.
func (s *clockShard) eraseRefed(h *ClockHandle) {
	for m := h.load(); ; m = h.load() {
		if m.refs() > 1 {
			h.meta.And(^uint64(clockVisible))
			h.unref(1)
			return
		}
		if h.own(m) {
			charge := h.totalCharge
			s.freeOwned(h, false, false)
			s.reclaim(charge)
			return
		}
	}
}

func (s *clockShard) eraseUnRefEntries() {
	s.each(func(h *ClockHandle) {
		if m := h.load(); m.isShareable() && m.refs() == 0 && h.own(m) {
			charge := h.totalCharge
			s.freeOwned(h, false, false)
			s.reclaim(charge)
		}
	})
}

// each calls f for every slot, or every entry of the growing table.
func (s *clockShard) each(f func(h *ClockHandle)) {
	if s.auto != nil {
		s.auto.each(f)
		return
	}
	for i := range s.slots {
		f(&s.slots[i])
	}
}

// apply calls f for the entries, each referenced meanwhile; all includes those
// that Lookup does not find.
func (s *clockShard) apply(all bool, f func(h *ClockHandle)) {
	s.each(func(h *ClockHandle) {
		if m := h.load(); !m.isShareable() || !all && !m.isVisible() {
			return
		}
		m := h.add(clockAcquireOne)
		if !m.isShareable() {
			return // not a reference, and of no effect
		}
		if all || m.isVisible() {
			f(h)
		}
		h.unref(1)
	})
}

// tableSize is the number of slots or buckets.
func (s *clockShard) tableSize() int {
	if s.auto != nil {
		return int(s.auto.used.Load())
	}
	return len(s.slots)
}

func (s *clockShard) pinnedUsage() int {
	n := 0
	s.apply(true, func(h *ClockHandle) {
		if h.load().refs() > 1 {
			n += h.totalCharge
			if s.metadata {
				n += int(unsafe.Sizeof(*h))
			}
		}
	})
	return n + int(s.standaloneUsage.Load())
}

// Port of cache/lru_cache.{h,cc}. Differs: handles are Go objects, kept for
// reuse by their shard; a 16-byte key (a block's) lives in two words of the
// handle; the charge for metadata is that of our handle.

package cache

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	flagInCache       = 1 << iota // in the hash table
	flagHasHit                    // looked up at least once
	flagInHighPriPool             // counted in the high-priority pool
	flagInLowPriPool              // counted in the low-priority pool
	flagIsHighPri
	flagIsLowPri
	flagIsStandalone
)

// LRUHandle is an entry of an LRUCache and a reference on it. An entry is in
// one of three states:
//   - referenced from outside and in the table;
//   - unreferenced and in the table: then it is in the LRU list;
//   - referenced and not in the table (erased, replaced or standalone): freed
//     with its last reference.
//
// All but value, helper, key and charge is the shard's, under its mutex.
type LRUHandle struct {
	value       any
	helper      *rocksdb.CacheItemHelper
	nextHash    *LRUHandle
	next, prev  *LRUHandle
	longKey     *[]byte // nil for 16-byte keys
	key16       CacheKey
	totalCharge int
	hash        uint32
	refs        uint32
	flags       uint8
	redundant   bool // another entry was in its place; does not change once it is in the table
}

// Value is the object; it implements rocksdb.CacheHandle.
func (h *LRUHandle) Value() any { return h.value }

// WasRedundant implements rocksdb.RedundantInsert.
func (h *LRUHandle) WasRedundant() bool { return h.redundant }

// AppendKey appends the entry's key to dst.
func (h *LRUHandle) AppendKey(dst []byte) []byte {
	if h.longKey != nil {
		return append(dst, *h.longKey...)
	}
	return h.key16.Append(dst)
}

func (h *LRUHandle) is(flag uint8) bool { return h.flags&flag != 0 }

func (h *LRUHandle) set(flag uint8, on bool) {
	if on {
		h.flags |= flag
	} else {
		h.flags &^= flag
	}
}

func (h *LRUHandle) setPriority(p rocksdb.CachePriority) {
	h.set(flagIsHighPri, p == rocksdb.CachePriorityHigh)
	h.set(flagIsLowPri, p == rocksdb.CachePriorityLow)
}

func (h *LRUHandle) metaCharge(policy rocksdb.CacheMetadataChargePolicy) int {
	if policy != rocksdb.FullChargeCacheMetadata {
		return 0
	}
	n := int(unsafe.Sizeof(*h))
	if h.longKey != nil {
		n += int(unsafe.Sizeof(*h.longKey)) + len(*h.longKey)
	}
	return n
}

func (h *LRUHandle) charge(policy rocksdb.CacheMetadataChargePolicy) int {
	return max(h.totalCharge-h.metaCharge(policy), 0) // 0 for an uncharged standalone entry
}

// runDeleter frees the object. It runs outside the shard's mutex.
func (h *LRUHandle) runDeleter() {
	if h.helper != nil && h.helper.Deleter != nil {
		h.helper.Deleter(h.value)
	}
}

// lruKey is a key in either form. long is used when it is not nil.
type lruKey struct {
	short CacheKey
	long  []byte
}

func makeLRUKey(key []byte) lruKey {
	if k, ok := CacheKeyFromBytes(key); ok {
		return lruKey{short: k}
	}
	if key == nil {
		key = []byte{}
	}
	return lruKey{long: key}
}

func (k *lruKey) matches(h *LRUHandle) bool {
	if k.long == nil {
		return h.longKey == nil && h.key16 == k.short
	}
	return h.longKey != nil && string(*h.longKey) == string(k.long)
}

// lruHandleTable is a hash table with chains, indexed by the upper bits of the
// hash, as the lower ones choose the shard.
type lruHandleTable struct {
	list          []*LRUHandle
	lengthBits    uint
	maxLengthBits uint
	elems         int
}

func (t *lruHandleTable) init(maxUpperHashBits uint) {
	t.lengthBits = 4
	t.maxLengthBits = maxUpperHashBits
	t.list = make([]*LRUHandle, 1<<t.lengthBits)
}

// find gives the place of the pointer to the entry, or the end of its chain.
func (t *lruHandleTable) find(k *lruKey, hash uint32) **LRUHandle {
	p := &t.list[hash>>(32-t.lengthBits)]
	for *p != nil && ((*p).hash != hash || !k.matches(*p)) {
		p = &(*p).nextHash
	}
	return p
}

func (t *lruHandleTable) lookup(k *lruKey, hash uint32) *LRUHandle { return *t.find(k, hash) }

// insert returns the entry that h replaces, or nil.
func (t *lruHandleTable) insert(k *lruKey, h *LRUHandle) *LRUHandle {
	p := t.find(k, h.hash)
	old := *p
	if old == nil {
		h.nextHash = nil
	} else {
		h.nextHash = old.nextHash
	}
	*p = h
	if old == nil {
		t.elems++
		if t.elems>>t.lengthBits > 0 { // average chain above 1
			t.resize()
		}
	}
	return old
}

func (t *lruHandleTable) remove(k *lruKey, hash uint32) *LRUHandle {
	p := t.find(k, hash)
	h := *p
	if h != nil {
		*p = h.nextHash
		t.elems--
	}
	return h
}

// removeHandle takes out an entry known to be in the table.
func (t *lruHandleTable) removeHandle(h *LRUHandle) {
	p := &t.list[h.hash>>(32-t.lengthBits)]
	for *p != h {
		p = &(*p).nextHash
	}
	*p = h.nextHash
	t.elems--
}

func (t *lruHandleTable) resize() {
	if t.lengthBits >= t.maxLengthBits || t.lengthBits >= 31 {
		return
	}
	newBits := t.lengthBits + 1
	list := make([]*LRUHandle, 1<<newBits)
	for _, h := range t.list {
		for h != nil {
			next := h.nextHash
			p := &list[h.hash>>(32-newBits)]
			h.nextHash = *p
			*p = h
			h = next
		}
	}
	t.list, t.lengthBits = list, newBits
}

// lruCacheShard is a shard of an LRUCache. The LRU list is a ring through lru:
// lru.next is the oldest entry and lru.prev the newest. From old to new it
// holds the bottom-priority pool up to lruBottomPri, the low-priority pool up
// to lruLowPri, and the high-priority pool; a pointer equal to the end of the
// pool before it means an empty pool.
type lruCacheShard struct {
	policy  rocksdb.CacheMetadataChargePolicy
	onEvict *atomic.Pointer[rocksdb.EvictionCallback] // the cache's

	mu struct {
		sync.Mutex
		capacity            int
		strictCapacityLimit bool
		highPriPoolUsage    int
		lowPriPoolUsage     int
		highPriPoolRatio    float64
		lowPriPoolRatio     float64
		highPriPoolCapacity float64
		lowPriPoolCapacity  float64
		usage               int
		lruUsage            int
		lru                 LRUHandle
		lruLowPri           *LRUHandle
		lruBottomPri        *LRUHandle
		table               lruHandleTable
		free                *LRUHandle // handles to use again, by next
		numFree             int
	}
	_ [64]byte // keeps neighbours' counters off this shard's last line
}

// maxFreeHandles bounds what a shard keeps for reuse.
const maxFreeHandles = 256

func (s *lruCacheShard) init(capacity int, o *rocksdb.LRUCacheOptions) {
	s.policy = o.MetadataChargePolicy
	if s.onEvict == nil {
		s.onEvict = new(atomic.Pointer[rocksdb.EvictionCallback])
	}
	m := &s.mu
	m.strictCapacityLimit = o.StrictCapacityLimit
	m.highPriPoolRatio, m.lowPriPoolRatio = o.HighPriPoolRatio, o.LowPriPoolRatio
	m.table.init(uint(32 - o.NumShardBits))
	m.lru.next, m.lru.prev = &m.lru, &m.lru
	m.lruLowPri, m.lruBottomPri = &m.lru, &m.lru
	s.setCapacity(capacity)
}

func (s *lruCacheShard) lruRemoveLocked(e *LRUHandle) {
	m := &s.mu
	if m.lruLowPri == e {
		m.lruLowPri = e.prev
	}
	if m.lruBottomPri == e {
		m.lruBottomPri = e.prev
	}
	e.next.prev = e.prev
	e.prev.next = e.next
	e.prev, e.next = nil, nil
	m.lruUsage -= e.totalCharge
	if e.is(flagInHighPriPool) {
		m.highPriPoolUsage -= e.totalCharge
	} else if e.is(flagInLowPriPool) {
		m.lowPriPoolUsage -= e.totalCharge
	}
}

func linkAfter(e, pos *LRUHandle) {
	e.prev, e.next = pos, pos.next
	pos.next.prev = e
	pos.next = e
}

func (s *lruCacheShard) lruInsertLocked(e *LRUHandle) {
	m := &s.mu
	switch {
	case m.highPriPoolRatio > 0 && e.flags&(flagIsHighPri|flagHasHit) != 0:
		linkAfter(e, m.lru.prev)
		e.set(flagInHighPriPool, true)
		e.set(flagInLowPriPool, false)
		m.highPriPoolUsage += e.totalCharge
		s.maintainPoolSizeLocked()
	case m.lowPriPoolRatio > 0 && e.flags&(flagIsHighPri|flagIsLowPri|flagHasHit) != 0:
		linkAfter(e, m.lruLowPri)
		e.set(flagInHighPriPool, false)
		e.set(flagInLowPriPool, true)
		m.lowPriPoolUsage += e.totalCharge
		m.lruLowPri = e
		s.maintainPoolSizeLocked()
	default:
		linkAfter(e, m.lruBottomPri)
		e.set(flagInHighPriPool, false)
		e.set(flagInLowPriPool, false)
		if m.lruBottomPri == m.lruLowPri { // the low-priority pool is empty
			m.lruLowPri = e
		}
		m.lruBottomPri = e
	}
	m.lruUsage += e.totalCharge
}

// maintainPoolSizeLocked moves the oldest entries of a pool that is too large
// to the pool below.
func (s *lruCacheShard) maintainPoolSizeLocked() {
	m := &s.mu
	for float64(m.highPriPoolUsage) > m.highPriPoolCapacity {
		m.lruLowPri = m.lruLowPri.next
		e := m.lruLowPri
		e.set(flagInHighPriPool, false)
		e.set(flagInLowPriPool, true)
		m.highPriPoolUsage -= e.totalCharge
		m.lowPriPoolUsage += e.totalCharge
	}
	for float64(m.lowPriPoolUsage) > m.lowPriPoolCapacity {
		m.lruBottomPri = m.lruBottomPri.next
		e := m.lruBottomPri
		e.set(flagInHighPriPool, false)
		e.set(flagInLowPriPool, false)
		m.lowPriPoolUsage -= e.totalCharge
	}
}

// evictFromLRULocked makes room for charge bytes as far as unreferenced
// entries allow. It puts the victims before deleted, chained by next.
func (s *lruCacheShard) evictFromLRULocked(charge int, deleted *LRUHandle) *LRUHandle {
	m := &s.mu
	for m.usage+charge > m.capacity && m.lru.next != &m.lru {
		deleted = s.evictOneLocked(m.lru.next, deleted)
	}
	return deleted
}

func (s *lruCacheShard) evictOneLocked(old, deleted *LRUHandle) *LRUHandle {
	s.lruRemoveLocked(old)
	s.mu.table.removeHandle(old)
	old.set(flagInCache, false)
	s.mu.usage -= old.totalCharge
	old.next = deleted
	return old
}

// freeEntries runs the deleters of a chain and keeps its handles for reuse.
func (s *lruCacheShard) freeEntries(chain *LRUHandle) {
	for h := chain; h != nil; h = h.next {
		h.runDeleter()
	}
	s.recycle(chain)
}

// freeEvicted is freeEntries for what was evicted rather than erased.
func (s *lruCacheShard) freeEvicted(chain *LRUHandle) {
	f := s.onEvict.Load()
	if f == nil || chain == nil {
		s.freeEntries(chain)
		return
	}
	for h := chain; h != nil; h = h.next {
		if !(*f)(h.AppendKey(nil), h, h.is(flagHasHit)) {
			h.runDeleter()
		}
	}
	s.recycle(chain)
}

func (s *lruCacheShard) recycle(chain *LRUHandle) {
	if chain == nil {
		return
	}
	s.mu.Lock()
	for chain != nil {
		h := chain
		chain = h.next
		*h = LRUHandle{}
		// With invariants on, a handle is never used again, so that use
		// after the last release shows as a nil value.
		if !invariants.Enabled && s.mu.numFree < maxFreeHandles {
			h.next = s.mu.free
			s.mu.free = h
			s.mu.numFree++
		}
	}
	s.mu.Unlock()
}

// newHandleLocked gives an unlinked handle with no reference.
func (s *lruCacheShard) newHandleLocked(k *lruKey, hash uint32, obj any, helper *rocksdb.CacheItemHelper, charge int) *LRUHandle {
	h := s.mu.free
	if h != nil {
		s.mu.free = h.next
		s.mu.numFree--
		h.next = nil
	} else {
		h = new(LRUHandle)
	}
	h.value, h.helper, h.hash, h.key16 = obj, helper, hash, k.short
	if k.long != nil {
		long := append([]byte{}, k.long...)
		h.longKey = &long
	}
	h.totalCharge = charge + h.metaCharge(s.policy)
	return h
}

func (s *lruCacheShard) insert(k *lruKey, hash uint32, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (*LRUHandle, error) {
	s.mu.Lock()
	e := s.newHandleLocked(k, hash, obj, helper, charge)
	e.setPriority(priority)
	m := &s.mu
	deleted := s.evictFromLRULocked(e.totalCharge, nil)
	if m.usage+e.totalCharge > m.capacity && (m.strictCapacityLimit || !wantHandle) {
		if !wantHandle {
			// As if it had been inserted and evicted at once.
			e.next = deleted
			s.mu.Unlock()
			s.freeEvicted(e)
			return nil, nil
		}
		s.mu.Unlock()
		s.freeEvicted(deleted)
		s.recycle(e)
		return nil, rocksdb.WithSubCode(rocksdb.CodeAborted, rocksdb.SubCodeMemoryLimit, "Insert failed due to LRU cache being full.")
	}
	e.set(flagInCache, true)
	if old := m.table.insert(k, e); old != nil {
		e.redundant = true
		old.set(flagInCache, false)
		if old.refs == 0 {
			s.lruRemoveLocked(old)
			m.usage -= old.totalCharge
			old.next = deleted
			deleted = old
		}
	}
	m.usage += e.totalCharge
	if wantHandle {
		e.refs++
	} else {
		s.lruInsertLocked(e)
	}
	s.mu.Unlock()
	if deleted != nil {
		s.freeEvicted(deleted)
	}
	if !wantHandle {
		return nil, nil
	}
	return e, nil
}

func (s *lruCacheShard) createStandalone(k *lruKey, hash uint32, obj any, helper *rocksdb.CacheItemHelper, charge int, allowUncharged bool) *LRUHandle {
	s.mu.Lock()
	e := s.newHandleLocked(k, hash, obj, helper, charge)
	e.set(flagIsStandalone, true)
	e.refs = 1
	deleted := s.evictFromLRULocked(e.totalCharge, nil)
	refused := false
	if s.mu.strictCapacityLimit && s.mu.usage+e.totalCharge > s.mu.capacity {
		if allowUncharged {
			e.totalCharge = 0
		} else {
			refused = true
		}
	} else {
		s.mu.usage += e.totalCharge
	}
	s.mu.Unlock()
	s.freeEvicted(deleted)
	if refused {
		s.recycle(e)
		return nil
	}
	return e
}

func (s *lruCacheShard) lookup(k *lruKey, hash uint32) *LRUHandle {
	s.mu.Lock()
	e := s.mu.table.lookup(k, hash)
	if e != nil {
		if e.refs == 0 {
			s.lruRemoveLocked(e)
		}
		e.refs++
		e.flags |= flagHasHit
	}
	s.mu.Unlock()
	return e
}

func (s *lruCacheShard) ref(h *LRUHandle) {
	s.mu.Lock()
	if invariants.Enabled && h.refs == 0 {
		s.mu.Unlock()
		panic("cache: Ref of an entry without references")
	}
	h.refs++
	s.mu.Unlock()
}

func (s *lruCacheShard) release(h *LRUHandle, eraseIfLastRef bool) bool {
	s.mu.Lock()
	m := &s.mu
	if h.refs == 0 { // released too often: a bug of the caller's
		s.mu.Unlock()
		if invariants.Enabled {
			panic("cache: Release of an entry without references")
		}
		return false
	}
	h.refs--
	mustFree := h.refs == 0
	if mustFree && h.is(flagInCache) {
		if m.usage > m.capacity || eraseIfLastRef {
			m.table.removeHandle(h)
			h.set(flagInCache, false)
		} else {
			s.lruInsertLocked(h)
			mustFree = false
		}
	}
	if mustFree {
		m.usage -= h.totalCharge
	}
	s.mu.Unlock()
	if mustFree {
		h.next = nil
		s.freeEntries(h)
	}
	return mustFree
}

func (s *lruCacheShard) erase(k *lruKey, hash uint32) {
	s.mu.Lock()
	e := s.mu.table.remove(k, hash)
	last := false
	if e != nil {
		e.set(flagInCache, false)
		if e.refs == 0 {
			s.lruRemoveLocked(e)
			s.mu.usage -= e.totalCharge
			last = true
		}
	}
	s.mu.Unlock()
	if last {
		e.next = nil
		s.freeEntries(e)
	}
}

func (s *lruCacheShard) eraseUnRefEntries() {
	s.mu.Lock()
	var deleted *LRUHandle
	for s.mu.lru.next != &s.mu.lru {
		deleted = s.evictOneLocked(s.mu.lru.next, deleted)
	}
	s.mu.Unlock()
	s.freeEntries(deleted)
}

func (s *lruCacheShard) setCapacity(capacity int) {
	s.mu.Lock()
	m := &s.mu
	m.capacity = capacity
	m.highPriPoolCapacity = float64(capacity) * m.highPriPoolRatio
	m.lowPriPoolCapacity = float64(capacity) * m.lowPriPoolRatio
	deleted := s.evictFromLRULocked(0, nil)
	s.mu.Unlock()
	s.freeEvicted(deleted)
}

// applyToSomeEntries goes on from *state, the hash reached so far (which holds
// across resizes, as the table is indexed by upper bits), and sets it to
// applyDone after the last chain. f runs with the mutex held.
func (s *lruCacheShard) applyToSomeEntries(f func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper), chainsPerLock int, state *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shift := 64 - s.mu.table.lengthBits
	begin := int(*state >> shift)
	end := begin + chainsPerLock
	if end >= len(s.mu.table.list) {
		end = len(s.mu.table.list)
		*state = applyDone
	} else {
		*state = uint64(end) << shift
	}
	var buf [64]byte
	for _, h := range s.mu.table.list[begin:end] {
		for h != nil {
			next := h.nextHash
			f(h.AppendKey(buf[:0]), h.value, h.charge(s.policy), h.helper)
			h = next
		}
	}
}

const applyDone = ^uint64(0)

// LRUCache is a sharded cache that evicts what was used longest ago.
type LRUCache struct {
	shardedCacheBase
	shards  []lruCacheShard
	policy  rocksdb.CacheMetadataChargePolicy
	onEvict atomic.Pointer[rocksdb.EvictionCallback]
}

var _ rocksdb.Cache = (*LRUCache)(nil)

// NewLRUCache makes a cache; it fails for ratios or shard counts out of range.
func NewLRUCache(opts rocksdb.LRUCacheOptions) (*LRUCache, error) {
	if opts.NumShardBits >= 20 {
		return nil, rocksdb.InvalidArgumentf("LRUCacheOptions.NumShardBits %d: the cache cannot be sharded into so many pieces", opts.NumShardBits)
	}
	if !(opts.HighPriPoolRatio >= 0 && opts.HighPriPoolRatio <= 1) {
		return nil, rocksdb.InvalidArgumentf("LRUCacheOptions.HighPriPoolRatio %g is not within 0..1", opts.HighPriPoolRatio)
	}
	if !(opts.LowPriPoolRatio >= 0 && opts.LowPriPoolRatio <= 1) {
		return nil, rocksdb.InvalidArgumentf("LRUCacheOptions.LowPriPoolRatio %g is not within 0..1", opts.LowPriPoolRatio)
	}
	if opts.LowPriPoolRatio+opts.HighPriPoolRatio > 1 {
		return nil, rocksdb.InvalidArgumentf("LRUCacheOptions: HighPriPoolRatio %g and LowPriPoolRatio %g exceed 1 together", opts.HighPriPoolRatio, opts.LowPriPoolRatio)
	}
	if opts.SecondaryCache != nil {
		return nil, rocksdb.InvalidArgument("LRUCacheOptions.SecondaryCache is for MakeSharedLRUCache")
	}
	if opts.NumShardBits < 0 {
		opts.NumShardBits = GetDefaultCacheShardBits(opts.Capacity, DefaultMinShardSize)
	}
	c := &LRUCache{policy: opts.MetadataChargePolicy}
	c.shardedCacheBase.init(&opts.ShardedCacheOptions)
	c.shards = make([]lruCacheShard, c.GetNumShards())
	perShard := c.computePerShardCapacity(opts.Capacity)
	for i := range c.shards {
		c.shards[i].onEvict = &c.onEvict
		c.shards[i].init(perShard, &opts)
	}
	return c, nil
}

// NewLRUCacheOfCapacity makes a cache of a capacity in bytes with upstream's
// default options.
func NewLRUCacheOfCapacity(capacity int) *LRUCache {
	c, err := NewLRUCache(rocksdb.DefaultLRUCacheOptions(capacity))
	if err != nil { // the defaults are in range
		panic(err)
	}
	return c
}

// SetEvictionCallback implements rocksdb.EvictionNotifier.
func (c *LRUCache) SetEvictionCallback(f rocksdb.EvictionCallback) {
	if f == nil {
		c.onEvict.Store(nil)
		return
	}
	c.onEvict.Store(&f)
}

// Name is "LRUCache".
func (c *LRUCache) Name() string { return "LRUCache" }

func (c *LRUCache) shard(hash uint32) *lruCacheShard { return &c.shards[hash&c.shardMask] }

func (c *LRUCache) hashKey(key []byte) uint32 {
	return util.Lower32of64(util.NPHash64(key, uint64(c.hashSeed)))
}

// hashShort is hashKey of a 16-byte key; buf never leaves the stack.
func (c *LRUCache) hashShort(k CacheKey) uint32 {
	var buf [CacheKeySize]byte
	return c.hashKey(k.Append(buf[:0]))
}

// LookupKey is Lookup for hot paths: nil when there is no entry.
func (c *LRUCache) LookupKey(key CacheKey) *LRUHandle {
	hash := c.hashShort(key)
	k := lruKey{short: key}
	return c.shard(hash).lookup(&k, hash)
}

// InsertKey is Insert for hot paths.
func (c *LRUCache) InsertKey(key CacheKey, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (*LRUHandle, error) {
	hash := c.hashShort(key)
	k := lruKey{short: key}
	return c.shard(hash).insert(&k, hash, obj, helper, charge, priority, wantHandle)
}

// ReleaseHandle is Release for hot paths.
func (c *LRUCache) ReleaseHandle(h *LRUHandle, eraseIfLastRef bool) bool {
	return c.shard(h.hash).release(h, eraseIfLastRef)
}

// RefHandle is Ref for hot paths.
func (c *LRUCache) RefHandle(h *LRUHandle) { c.shard(h.hash).ref(h) }

// Insert implements rocksdb.Cache.
func (c *LRUCache) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	hash := c.hashKey(key)
	k := makeLRUKey(key)
	h, err := c.shard(hash).insert(&k, hash, obj, helper, charge, priority, wantHandle)
	if h == nil {
		return nil, err
	}
	return h, err
}

// CreateStandalone implements rocksdb.Cache.
func (c *LRUCache) CreateStandalone(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, allowUncharged bool) rocksdb.CacheHandle {
	hash := c.hashKey(key)
	k := makeLRUKey(key)
	if h := c.shard(hash).createStandalone(&k, hash, obj, helper, charge, allowUncharged); h != nil {
		return h
	}
	return nil
}

// Lookup implements rocksdb.Cache.
func (c *LRUCache) Lookup(key []byte, _ *rocksdb.CacheItemHelper, _ rocksdb.CacheCreateContext, _ rocksdb.CachePriority, _ rocksdb.Statistics) rocksdb.CacheHandle {
	hash := c.hashKey(key)
	k := makeLRUKey(key)
	if h := c.shard(hash).lookup(&k, hash); h != nil {
		return h
	}
	return nil
}

// Ref implements rocksdb.Cache.
func (c *LRUCache) Ref(h rocksdb.CacheHandle) bool {
	e, ok := h.(*LRUHandle)
	if ok {
		c.RefHandle(e)
	}
	return ok
}

// Release implements rocksdb.Cache.
func (c *LRUCache) Release(h rocksdb.CacheHandle, eraseIfLastRef bool) bool {
	e, ok := h.(*LRUHandle)
	return ok && e != nil && c.ReleaseHandle(e, eraseIfLastRef)
}

// Erase implements rocksdb.Cache.
func (c *LRUCache) Erase(key []byte) {
	hash := c.hashKey(key)
	k := makeLRUKey(key)
	c.shard(hash).erase(&k, hash)
}

// SetCapacity implements rocksdb.Cache.
func (c *LRUCache) SetCapacity(capacity int) {
	c.config.Lock()
	defer c.config.Unlock()
	c.config.capacity = capacity
	perShard := c.computePerShardCapacity(capacity)
	for i := range c.shards {
		c.shards[i].setCapacity(perShard)
	}
}

// SetStrictCapacityLimit implements rocksdb.Cache.
func (c *LRUCache) SetStrictCapacityLimit(strict bool) {
	c.config.Lock()
	defer c.config.Unlock()
	c.config.strictCapacityLimit = strict
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.mu.strictCapacityLimit = strict
		s.mu.Unlock()
	}
}

func (c *LRUCache) sum(f func(*lruCacheShard) int) int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += f(s)
		s.mu.Unlock()
	}
	return n
}

// GetUsage implements rocksdb.Cache.
func (c *LRUCache) GetUsage() int { return c.sum(func(s *lruCacheShard) int { return s.mu.usage }) }

// GetPinnedUsage implements rocksdb.Cache.
func (c *LRUCache) GetPinnedUsage() int {
	return c.sum(func(s *lruCacheShard) int { return s.mu.usage - s.mu.lruUsage })
}

// GetOccupancyCount implements rocksdb.Cache.
func (c *LRUCache) GetOccupancyCount() int {
	return c.sum(func(s *lruCacheShard) int { return s.mu.table.elems })
}

// GetTableAddressCount is the number of slots of the hash tables.
func (c *LRUCache) GetTableAddressCount() int {
	return c.sum(func(s *lruCacheShard) int { return len(s.mu.table.list) })
}

// GetUsageOf implements rocksdb.Cache.
func (c *LRUCache) GetUsageOf(h rocksdb.CacheHandle) int { return c.GetCharge(h) }

// GetCharge implements rocksdb.Cache.
func (c *LRUCache) GetCharge(h rocksdb.CacheHandle) int {
	if e, ok := h.(*LRUHandle); ok {
		return e.charge(c.policy)
	}
	return 0
}

// GetCacheItemHelper implements rocksdb.Cache.
func (c *LRUCache) GetCacheItemHelper(h rocksdb.CacheHandle) *rocksdb.CacheItemHelper {
	if e, ok := h.(*LRUHandle); ok {
		return e.helper
	}
	return nil
}

// ApplyToHandle calls f for one entry.
func (c *LRUCache) ApplyToHandle(h rocksdb.CacheHandle, f func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper)) {
	if e, ok := h.(*LRUHandle); ok {
		f(e.AppendKey(nil), e.value, e.charge(c.policy), e.helper)
	}
}

// ApplyToAllEntries implements rocksdb.Cache; f must not use the cache. Entries
// that come or go meanwhile may be seen or not; every other one is seen once.
func (c *LRUCache) ApplyToAllEntries(f func(key []byte, obj any, charge int, helper *rocksdb.CacheItemHelper)) {
	const chainsPerLock = 1 // f may be slow
	states := make([]uint64, len(c.shards))
	for more := true; more; {
		more = false
		for i := range c.shards {
			if states[i] != applyDone {
				c.shards[i].applyToSomeEntries(f, chainsPerLock, &states[i])
				more = more || states[i] != applyDone
			}
		}
	}
}

// EraseUnRefEntries implements rocksdb.Cache.
func (c *LRUCache) EraseUnRefEntries() {
	for i := range c.shards {
		c.shards[i].eraseUnRefEntries()
	}
}

// DisownData implements rocksdb.Cache. The garbage collector frees what the
// cache holds, so nothing has to be done.
func (c *LRUCache) DisownData() {}

// GetPrintableOptions implements rocksdb.Cache.
func (c *LRUCache) GetPrintableOptions() string {
	s := &c.shards[0]
	s.mu.Lock()
	high, low := s.mu.highPriPoolRatio, s.mu.lowPriPoolRatio
	s.mu.Unlock()
	return c.printableOptions() + fmt.Sprintf("    high_pri_pool_ratio: %.3f\n    low_pri_pool_ratio: %.3f\n", high, low)
}

// GetHighPriPoolRatio is the high-priority pool's part of the capacity.
func (c *LRUCache) GetHighPriPoolRatio() float64 {
	s := &c.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.highPriPoolRatio
}

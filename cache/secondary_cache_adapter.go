// Port of cache/secondary_cache_adapter.{h,cc}. Differs: Close ends the tie to the
// cache; counts are kept here too, as evictions belong to no reader's perf context.

package cache

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// dummyEntry is the object of a placeholder: its key was looked up once and is in
// the secondary cache.
type dummyEntry struct{ _ byte }

var theDummy = new(dummyEntry)

var noopItemHelper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}

func isDummy(h rocksdb.CacheHandle) bool {
	_, ok := h.Value().(*dummyEntry)
	return ok
}

// TieredCacheName is what a cache made by NewTieredCache calls itself.
const TieredCacheName = "TieredCache"

// reservationChunkSize is by how much reservations go over to the secondary cache.
const reservationChunkSize = 1 << 20

// CacheWithSecondaryAdapter puts a secondary cache below a cache. What is evicted
// is offered to it, and what is missed is looked up there. An object found there
// stays outside the upper cache at first, which notes its key by a placeholder, and
// goes into it the second time.
//
// With distributed reservations (a tiered cache), the whole capacity is the upper
// cache's, and it holds a reservation as large as the lower one; placeholders of
// memory used elsewhere are charged to both in proportion.
type CacheWithSecondaryAdapter struct {
	rocksdb.CacheWrapper
	secondary     rocksdb.SecondaryCache
	policy        atomic.Uint32 // a TieredAdmissionPolicy
	distributeRes bool

	standaloneHandles, realHandles, hits atomic.Uint64

	res struct {
		sync.Mutex
		pri   *ConcurrentCacheReservationManager
		ratio float64
		// placeholders is the charge of all placeholders, reserved, at most that,
		// what is charged to both caches, and secReserved the lower one's part.
		placeholders, reserved, secReserved int
	}
}

var _ rocksdb.TieredCache = (*CacheWithSecondaryAdapter)(nil)

// NewCacheWithSecondaryAdapter puts secondary below target, which has to be an
// EvictionNotifier that nobody else listens to.
func NewCacheWithSecondaryAdapter(target rocksdb.Cache, secondary rocksdb.SecondaryCache, policy rocksdb.TieredAdmissionPolicy, distributeRes bool) (*CacheWithSecondaryAdapter, error) {
	n, ok := target.(rocksdb.EvictionNotifier)
	if !ok {
		return nil, rocksdb.NotSupported("a secondary cache below", target.Name())
	}
	c := &CacheWithSecondaryAdapter{CacheWrapper: rocksdb.CacheWrapper{Cache: target}, secondary: secondary, distributeRes: distributeRes}
	c.policy.Store(uint32(policy))
	if distributeRes {
		capacity, err := secondary.GetCapacity()
		if err != nil {
			return nil, err
		}
		c.res.pri = NewConcurrentCacheReservationManager(NewCacheReservationManager(target, rocksdb.CacheEntryRoleMisc, false))
		if err := c.res.pri.UpdateCacheReservation(capacity); err != nil {
			return nil, err
		}
		if total := target.GetCapacity(); total > 0 {
			c.res.ratio = float64(capacity) / float64(total)
		}
	}
	n.SetEvictionCallback(c.evicted)
	return c, nil
}

// Close ends offering to the secondary cache what is evicted; the cache can be used
// on.
func (c *CacheWithSecondaryAdapter) Close() { c.SetEvictionCallback(nil) }

func (c *CacheWithSecondaryAdapter) admission() rocksdb.TieredAdmissionPolicy {
	return rocksdb.TieredAdmissionPolicy(c.policy.Load())
}

func (c *CacheWithSecondaryAdapter) evicted(key []byte, h rocksdb.CacheHandle, wasHit bool) bool {
	helper := c.GetCacheItemHelper(h)
	policy := c.admission()
	if helper == nil || !helper.IsSecondaryCacheCompatible() || policy == rocksdb.AdmPolicyThreeQueue || isDummy(h) {
		return false
	}
	force := policy == rocksdb.AdmPolicyAllowAll || policy == rocksdb.AdmPolicyAllowCacheHits && wasHit
	_ = c.secondary.Insert(key, h.Value(), helper, force) // it need not take it
	return false
}

// dropDummy lets go of a placeholder.
func (c *CacheWithSecondaryAdapter) dropDummy(h *rocksdb.CacheHandle, erase bool) bool {
	if *h == nil || !isDummy(*h) {
		return false
	}
	c.Cache.Release(*h, erase)
	*h = nil
	return true
}

func perfOf(ctx rocksdb.CacheCreateContext) *rocksdb.PerfContext {
	if p, ok := ctx.(rocksdb.PerfContextHolder); ok {
		if pc := p.CachePerfContext(); pc.CountEnabled() {
			return pc
		}
	}
	return nil
}

// promote makes a handle of what the secondary cache has found.
func (c *CacheWithSecondaryAdapter) promote(found rocksdb.SecondaryCacheResultHandle, l *rocksdb.AsyncLookupHandle) rocksdb.CacheHandle {
	obj := found.Value()
	if obj == nil {
		return nil
	}
	switch l.Helper.Role {
	case rocksdb.CacheEntryRoleFilterBlock:
		monitoring.RecordTick(l.Stats, rocksdb.SecondaryCacheFilterHits, 1)
	case rocksdb.CacheEntryRoleIndexBlock:
		monitoring.RecordTick(l.Stats, rocksdb.SecondaryCacheIndexHits, 1)
	case rocksdb.CacheEntryRoleDataBlock:
		monitoring.RecordTick(l.Stats, rocksdb.SecondaryCacheDataHits, 1)
	}
	monitoring.RecordTick(l.Stats, rocksdb.SecondaryCacheHits, 1)
	perf := perfOf(l.CreateContext)
	if perf != nil {
		perf.SecondaryCacheHitCount++
	}
	c.hits.Add(1)
	charge := found.Size()
	if !c.secondary.SupportForceErase() || l.FoundDummy {
		helper := l.Helper
		if l.KeptInSec {
			helper = helper.WithoutSecondaryCompat
		}
		if h, err := c.Insert(l.Key, obj, helper, charge, l.Priority, true); err == nil {
			c.realHandles.Add(1)
			if perf != nil {
				perf.BlockCacheRealHandleCount++
			}
			return h
		}
		return c.standalone(l, obj, charge, perf)
	}
	h := c.standalone(l, obj, charge, perf)
	_, _ = c.Insert(l.Key, theDummy, noopItemHelper, 0, l.Priority, false) // only a note
	return h
}

func (c *CacheWithSecondaryAdapter) standalone(l *rocksdb.AsyncLookupHandle, obj any, charge int, perf *rocksdb.PerfContext) rocksdb.CacheHandle {
	c.standaloneHandles.Add(1)
	if perf != nil {
		perf.BlockCacheStandaloneHandleCount++
	}
	return c.CreateStandalone(l.Key, obj, l.Helper, charge, true)
}

// AdapterCounters are what an adapter has done, of all users together.
type AdapterCounters struct{ StandaloneHandles, RealHandles, SecondaryHits uint64 }

// Counters gives the figures so far.
func (c *CacheWithSecondaryAdapter) Counters() AdapterCounters {
	return AdapterCounters{c.standaloneHandles.Load(), c.realHandles.Load(), c.hits.Load()}
}

// Insert implements rocksdb.Cache.
func (c *CacheWithSecondaryAdapter) Insert(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool) (rocksdb.CacheHandle, error) {
	return c.InsertCompressed(key, obj, helper, charge, priority, wantHandle, nil, rocksdb.NoCompression)
}

// InsertCompressed implements rocksdb.TieredCache.
func (c *CacheWithSecondaryAdapter) InsertCompressed(key []byte, obj any, helper *rocksdb.CacheItemHelper, charge int, priority rocksdb.CachePriority, wantHandle bool, compressed []byte, typ rocksdb.CompressionType) (rocksdb.CacheHandle, error) {
	h, err := c.Cache.Insert(key, obj, helper, charge, priority, wantHandle)
	if err == nil && obj == nil && c.distributeRes && h != nil {
		if err := c.placeholderAdded(c.GetCharge(h)); err != nil {
			c.Cache.Release(h, true)
			return nil, err
		}
	}
	if obj != nil && len(compressed) > 0 && c.admission() == rocksdb.AdmPolicyThreeQueue && helper.IsSecondaryCacheCompatible() {
		_ = c.secondary.InsertSaved(key, compressed, typ, rocksdb.VolatileTier) // it need not take it
	}
	return h, err
}

// WantsCompressed tells whether InsertCompressed uses the compressed bytes.
func (c *CacheWithSecondaryAdapter) WantsCompressed() bool {
	return c.admission() == rocksdb.AdmPolicyThreeQueue
}

// placeholderAdded charges the part of the lower cache, once that is a chunk more.
func (c *CacheWithSecondaryAdapter) placeholderAdded(charge int) error {
	r := &c.res
	r.Lock()
	defer r.Unlock()
	r.placeholders += charge
	if r.placeholders > c.Cache.GetCapacity() || r.placeholders-r.reserved < reservationChunkSize {
		return nil
	}
	r.reserved = r.placeholders &^ (reservationChunkSize - 1)
	delta := int(float64(r.reserved)*r.ratio) - r.secReserved
	r.secReserved += delta
	if err := c.secondary.Deflate(delta); err != nil {
		return err
	}
	return r.pri.UpdateCacheReservationBy(-delta)
}

func (c *CacheWithSecondaryAdapter) placeholderGone(charge int) {
	r := &c.res
	r.Lock()
	defer r.Unlock()
	r.placeholders -= charge
	if r.placeholders > c.Cache.GetCapacity() || r.placeholders >= r.reserved {
		return
	}
	r.reserved = r.placeholders &^ (reservationChunkSize - 1)
	delta := r.secReserved - int(float64(r.reserved)*r.ratio)
	r.secReserved -= delta
	_ = c.secondary.Inflate(delta)            // giving back cannot fail
	_ = r.pri.UpdateCacheReservationBy(delta) // with a strict limit it is made up for later
}

// Lookup implements rocksdb.Cache.
func (c *CacheWithSecondaryAdapter) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, priority rocksdb.CachePriority, stats rocksdb.Statistics) rocksdb.CacheHandle {
	h := c.Cache.Lookup(key, helper, ctx, priority, stats)
	compatible := helper != nil && helper.IsSecondaryCacheCompatible()
	found := c.dropDummy(&h, compatible)
	if h != nil || !compatible {
		return h
	}
	sec, kept := c.secondary.Lookup(key, helper, ctx, true, found, stats)
	if sec == nil {
		return nil
	}
	l := rocksdb.AsyncLookupHandle{Key: key, Helper: helper, CreateContext: ctx, Priority: priority, Stats: stats, FoundDummy: found, KeptInSec: kept}
	return c.promote(sec, &l)
}

// Release implements rocksdb.Cache.
func (c *CacheWithSecondaryAdapter) Release(h rocksdb.CacheHandle, eraseIfLastRef bool) bool {
	if eraseIfLastRef && c.distributeRes && h.Value() == nil {
		c.placeholderGone(c.GetCharge(h))
	}
	return c.Cache.Release(h, eraseIfLastRef)
}

func (c *CacheWithSecondaryAdapter) startSecondary(l *rocksdb.AsyncLookupHandle) {
	var sec rocksdb.SecondaryCacheResultHandle
	sec, l.KeptInSec = c.secondary.Lookup(l.Key, l.Helper, l.CreateContext, false, l.FoundDummy, l.Stats)
	if sec != nil {
		l.Pending, l.PendingCache = sec, c.secondary
	}
}

// StartAsyncLookup implements rocksdb.TieredCache.
func (c *CacheWithSecondaryAdapter) StartAsyncLookup(l *rocksdb.AsyncLookupHandle) {
	rocksdb.StartAsyncLookup(c.Cache, l)
	if l.IsPending() {
		return
	}
	compatible := l.Helper != nil && l.Helper.IsSecondaryCacheCompatible()
	if c.dropDummy(&l.Result, compatible) {
		l.FoundDummy = true
	}
	if l.Result == nil && compatible {
		c.startSecondary(l)
	}
}

// WaitAll implements rocksdb.TieredCache.
func (c *CacheWithSecondaryAdapter) WaitAll(all []*rocksdb.AsyncLookupHandle) {
	var mine, inner []*rocksdb.AsyncLookupHandle
	for _, l := range all {
		switch {
		case l.PendingCache == nil:
		case l.PendingCache == c.secondary:
			l.PendingCache = nil
			mine = append(mine, l)
		default:
			inner = append(inner, l)
		}
	}
	if len(inner) > 0 {
		c.CacheWrapper.WaitAll(inner)
		for _, l := range inner {
			if l.Result != nil {
				continue
			}
			if c.startSecondary(l); l.IsPending() {
				l.PendingCache = nil
				mine = append(mine, l)
			}
		}
	}
	if len(mine) == 0 {
		return
	}
	handles := make([]rocksdb.SecondaryCacheResultHandle, len(mine))
	for i, l := range mine {
		handles[i] = l.Pending
	}
	c.secondary.WaitAll(handles)
	for i, l := range mine {
		l.Pending = nil
		l.Result = c.promote(handles[i], l)
	}
}

// GetPrintableOptions implements rocksdb.Cache.
func (c *CacheWithSecondaryAdapter) GetPrintableOptions() string {
	return c.Cache.GetPrintableOptions() + "  secondary_cache:\n" + c.secondary.GetPrintableOptions()
}

// Name is the upper cache's, or TieredCacheName.
func (c *CacheWithSecondaryAdapter) Name() string {
	if c.distributeRes {
		return TieredCacheName
	}
	return c.Cache.Name()
}

// SetCapacity implements rocksdb.Cache; of a tiered cache both capacities change.
func (c *CacheWithSecondaryAdapter) SetCapacity(capacity int) {
	if !c.distributeRes {
		c.Cache.SetCapacity(capacity)
		return
	}
	r := &c.res
	r.Lock()
	defer r.Unlock()
	secCapacity := int(float64(capacity) * r.ratio)
	old, err := c.secondary.GetCapacity()
	if err != nil {
		return
	}
	if old <= secCapacity {
		c.Cache.SetCapacity(capacity)
		_ = r.pri.UpdateCacheReservationBy(secCapacity - old)
		_ = c.secondary.SetCapacity(secCapacity)
		return
	}
	// Smaller: the lower cache first, so that its memory is free when the upper
	// one counts without it.
	if c.secondary.SetCapacity(secCapacity) != nil {
		return
	}
	if r.placeholders > capacity {
		// More than there is: the part below is bounded by the capacity.
		r.reserved = capacity &^ (reservationChunkSize - 1)
	}
	newReserved := int(float64(r.reserved) * r.ratio)
	_ = r.pri.UpdateCacheReservationBy(-((old - secCapacity) - (r.secReserved - newReserved)))
	r.secReserved = newReserved
	c.Cache.SetCapacity(capacity)
}

// GetSecondaryCacheCapacity implements rocksdb.TieredCache.
func (c *CacheWithSecondaryAdapter) GetSecondaryCacheCapacity() (int, error) {
	return c.secondary.GetCapacity()
}

// GetSecondaryCachePinnedUsage implements rocksdb.TieredCache.
func (c *CacheWithSecondaryAdapter) GetSecondaryCachePinnedUsage() (int, error) {
	if !c.distributeRes {
		return 0, nil
	}
	c.res.Lock()
	defer c.res.Unlock()
	capacity, err := c.secondary.GetCapacity()
	if err != nil {
		return 0, err
	}
	return capacity - c.res.pri.GetTotalMemoryUsed(), nil
}

// UpdateCacheReservationRatio changes the lower cache's part of the capacity.
func (c *CacheWithSecondaryAdapter) UpdateCacheReservationRatio(ratio float64) error {
	if !c.distributeRes {
		return rocksdb.NotSupported("a ratio of", c.Name())
	}
	r := &c.res
	r.Lock()
	defer r.Unlock()
	secCapacity := int(float64(c.Cache.GetCapacity()) * ratio)
	old, err := c.secondary.GetCapacity()
	if err != nil {
		return err
	}
	r.ratio = ratio
	newReserved := int(float64(r.reserved) * ratio)
	delta := newReserved - r.secReserved
	if secCapacity > old {
		// First the part of the reservations, then the room: the lower cache must
		// not use what the upper one has not given up.
		if err := c.secondary.Deflate(delta); err != nil {
			return err
		}
		if err := r.pri.UpdateCacheReservationBy(secCapacity - old - delta); err != nil {
			return err
		}
		r.secReserved = newReserved
		return c.secondary.SetCapacity(secCapacity)
	}
	if err := c.secondary.SetCapacity(secCapacity); err != nil {
		return err
	}
	if err := r.pri.UpdateCacheReservationBy(-(old - secCapacity + delta)); err != nil {
		return err
	}
	r.secReserved = newReserved
	return c.secondary.Inflate(-delta)
}

// UpdateAdmissionPolicy changes the policy.
func (c *CacheWithSecondaryAdapter) UpdateAdmissionPolicy(p rocksdb.TieredAdmissionPolicy) {
	c.policy.Store(uint32(p))
}

// GetCache and GetSecondaryCache are the two tiers.
func (c *CacheWithSecondaryAdapter) GetCache() rocksdb.Cache { return c.Cache }

// GetSecondaryCache is the lower tier.
func (c *CacheWithSecondaryAdapter) GetSecondaryCache() rocksdb.SecondaryCache { return c.secondary }

// MakeSharedLRUCache makes an LRU cache, with the options' secondary cache below
// it where there is one.
func MakeSharedLRUCache(o rocksdb.LRUCacheOptions) (rocksdb.Cache, error) {
	secondary := o.SecondaryCache
	o.SecondaryCache = nil
	c, err := NewLRUCache(o)
	if err != nil {
		return nil, err
	}
	return withSecondary(c, secondary)
}

// MakeSharedHyperClockCache is MakeSharedLRUCache for a HyperClockCache.
func MakeSharedHyperClockCache(o rocksdb.HyperClockCacheOptions) (rocksdb.Cache, error) {
	secondary := o.SecondaryCache
	o.SecondaryCache = nil
	c, err := NewHyperClockCache(o)
	if err != nil {
		return nil, err
	}
	return withSecondary(c, secondary)
}

func withSecondary(c rocksdb.Cache, secondary rocksdb.SecondaryCache) (rocksdb.Cache, error) {
	if secondary == nil {
		return c, nil
	}
	return NewCacheWithSecondaryAdapter(c, secondary, rocksdb.AdmPolicyAuto, false)
}

// NewTieredCache makes a cache of two or three tiers; InvalidArgument where the
// admission policy does not go with them.
func NewTieredCache(o rocksdb.TieredCacheOptions) (rocksdb.Cache, error) {
	policy := o.AdmPolicy
	valid := true
	switch policy {
	case rocksdb.AdmPolicyAuto:
		policy = rocksdb.AdmPolicyPlaceholder
		if o.NvmSecCache != nil {
			policy = rocksdb.AdmPolicyThreeQueue
		}
	case rocksdb.AdmPolicyPlaceholder, rocksdb.AdmPolicyAllowCacheHits, rocksdb.AdmPolicyAllowAll:
		valid = o.NvmSecCache == nil
	case rocksdb.AdmPolicyThreeQueue:
		valid = o.NvmSecCache != nil
	default:
		valid = false
	}
	if !valid {
		return nil, rocksdb.InvalidArgumentf("TieredCacheOptions.AdmPolicy %d does not go with the tiers", o.AdmPolicy)
	}
	var primary rocksdb.Cache
	var err error
	switch {
	case o.CacheType == rocksdb.CacheTypeLRU && o.LRU != nil:
		lru := *o.LRU
		lru.Capacity, lru.SecondaryCache = o.TotalCapacity, nil
		primary, err = NewLRUCache(lru)
	case o.CacheType == rocksdb.CacheTypeHCC && o.HCC != nil:
		hcc := *o.HCC
		hcc.Capacity, hcc.SecondaryCache = o.TotalCapacity, nil
		primary, err = NewHyperClockCache(hcc)
	default:
		err = rocksdb.InvalidArgument("TieredCacheOptions without options of the upper cache's type")
	}
	if err != nil {
		return nil, err
	}
	comp := o.CompCacheOpts
	comp.Capacity = int(float64(o.TotalCapacity) * o.CompressedSecondaryRatio)
	sec, err := NewCompressedSecondaryCache(comp)
	if err != nil {
		return nil, err
	}
	var secondary rocksdb.SecondaryCache = sec
	if o.NvmSecCache != nil {
		secondary = NewTieredSecondaryCache(sec, o.NvmSecCache)
	}
	return NewCacheWithSecondaryAdapter(primary, secondary, policy, true)
}

// UpdateTieredCache changes a cache of NewTieredCache: its whole capacity in bytes
// where that is above 0, the lower cache's part of it where that is within 0..1,
// and the admission policy unless it is AdmPolicyMax. A part of 0 turns the lower
// cache off.
func UpdateTieredCache(c rocksdb.Cache, totalCapacity int, ratio float64, policy rocksdb.TieredAdmissionPolicy) error {
	t, ok := c.(*CacheWithSecondaryAdapter)
	if !ok || !t.distributeRes {
		return rocksdb.InvalidArgument("not a cache of NewTieredCache")
	}
	if totalCapacity > 0 {
		t.SetCapacity(totalCapacity)
	}
	var err error
	if ratio >= 0 && ratio <= 1 {
		err = t.UpdateCacheReservationRatio(ratio)
	}
	if policy < rocksdb.AdmPolicyMax {
		t.UpdateAdmissionPolicy(policy)
	}
	return err
}

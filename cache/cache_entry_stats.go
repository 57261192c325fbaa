// Port of cache/cache_entry_stats.h. Differs: the figures' type is an interface
// of its pointer.

package cache

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// EntryStats are figures about all entries of a cache, *S being what collects
// them.
type EntryStats[S any] interface {
	*S
	// BeginCollection, then CountEntry for each entry, then EndCollection;
	// times are in microseconds.
	BeginCollection(c rocksdb.Cache, startMicros uint64)
	CountEntry(charge int, helper *rocksdb.CacheItemHelper)
	EndCollection(endMicros uint64)
	// SkippedCollection notes that older figures were good enough.
	SkippedCollection()
}

// EntryStatsCollector goes over a cache's entries, seldom enough to cost
// little. It is in the cache itself, so that all who use the cache share it.
type EntryStatsCollector[S any, P EntryStats[S]] struct {
	cache rocksdb.Cache
	clock rocksdb.SystemClock

	working struct { // held during a collection
		sync.Mutex
		stats     S
		lastStart uint64 // µs
		lastEnd   uint64
	}
	saved atomic.Pointer[S] // never nil
}

// A collector that has not collected pretends to have done so at this time, so
// that a clock near zero does not make figures look fresh.
const neverCollected = 10 * 1000 * 1000 // µs

// The collector is of no special kind for the cache's own figures.
var collectorHelper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}

var (
	collectorMu   sync.Mutex // held while a collector is put into a cache
	collectorKeys sync.Map   // of the figures' type (a nil *S) to the key's bytes
)

func collectorKey[S any]() []byte {
	kind := any((*S)(nil))
	if k, ok := collectorKeys.Load(kind); ok {
		return k.([]byte)
	}
	k, _ := collectorKeys.LoadOrStore(kind, CreateUniqueForProcessLifetime().AsSlice())
	return k.([]byte)
}

// SharedEntryStatsCollector gives the collector of c, which stays in the cache
// until all who got it have called release. The error is the cache's when it is
// full.
func SharedEntryStatsCollector[S any, P EntryStats[S]](c rocksdb.Cache, clock rocksdb.SystemClock) (col *EntryStatsCollector[S, P], release func(), err error) {
	key := collectorKey[S]()
	collectorMu.Lock()
	defer collectorMu.Unlock()
	h := c.Lookup(key, collectorHelper, nil, rocksdb.CachePriorityHigh, nil)
	if h == nil {
		col = &EntryStatsCollector[S, P]{cache: c, clock: clock}
		col.working.lastEnd = neverCollected
		col.saved.Store(new(S))
		// Charged nothing, so that the usage of an empty cache is that of its
		// bookkeeping.
		if h, err = c.Insert(key, col, collectorHelper, 0, rocksdb.CachePriorityHigh, true); err != nil {
			return nil, nil, err
		}
	}
	col, ok := h.Value().(*EntryStatsCollector[S, P])
	if !ok {
		c.Release(h, false)
		return nil, nil, rocksdb.Corruption("another object in the place of the cache's collector of figures")
	}
	var once sync.Once
	return col, func() { once.Do(func() { c.Release(h, false) }) }, nil
}

// CollectStats goes over the entries unless the last time is at most
// minIntervalSeconds, or minIntervalFactor times as long as that took, ago.
func (c *EntryStatsCollector[S, P]) CollectStats(minIntervalSeconds, minIntervalFactor int) {
	w := &c.working
	w.Lock()
	defer w.Unlock()
	maxAge := uint64(max(minIntervalSeconds, 0)) * 1000 * 1000
	if w.lastEnd > w.lastStart && minIntervalFactor > 0 {
		maxAge = max(maxAge, uint64(minIntervalFactor)*(w.lastEnd-w.lastStart))
	}
	stats := P(&w.stats)
	if start := c.clock.NowMicros(); start-w.lastEnd > maxAge {
		w.lastStart = start
		stats.BeginCollection(c.cache, start)
		c.cache.ApplyToAllEntries(func(_ []byte, _ any, charge int, helper *rocksdb.CacheItemHelper) {
			stats.CountEntry(charge, helper)
		})
		syncpoint.Process("CacheEntryStatsCollector::GetStats:AfterApplyToAllEntries")
		w.lastEnd = c.clock.NowMicros()
		stats.EndCollection(w.lastEnd)
	} else {
		stats.SkippedCollection()
	}
	saved := w.stats
	c.saved.Store(&saved)
}

// GetStats gives the last figures, of whatever age; they do not change.
func (c *EntryStatsCollector[S, P]) GetStats() *S { return c.saved.Load() }

// Port of utilities/simulator_cache/cache_simulator.{h,cc}. Differs: the kinds of
// simulators are one struct with a policy.

package simcache

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

const microsInSecond = 1000 * 1000

// CacheConfiguration is a cache to be simulated, at several capacities.
type CacheConfiguration struct {
	// CacheName is "lru", "lru_priority", "lru_hybrid" or
	// "lru_hybrid_no_insert_on_row_miss"; after "ghost_", a block enters at its
	// second access.
	CacheName          string
	NumShardBits       int
	GhostCacheCapacity uint64   // bytes
	CacheCapacities    []uint64 // bytes
}

// MissRatioStats counts accesses and misses. The zero value has none.
type MissRatioStats struct {
	accesses, misses         uint64
	userAccesses, userMisses uint64
	accessTimeline           map[uint64]uint64
	missTimeline             map[uint64]uint64
}

// ResetCounter forgets the numbers, and not the timelines.
func (s *MissRatioStats) ResetCounter() {
	s.accesses, s.misses, s.userAccesses, s.userMisses = 0, 0, 0, 0
}

func ratio(misses, accesses uint64) float64 {
	if accesses == 0 {
		return -1
	}
	return float64(misses) * 100 / float64(accesses)
}

// MissRatio is in percent, -1 without accesses.
func (s *MissRatioStats) MissRatio() float64 { return ratio(s.misses, s.accesses) }

// UserMissRatio is MissRatio of what applications wait for.
func (s *MissRatioStats) UserMissRatio() float64 { return ratio(s.userMisses, s.userAccesses) }

// TotalAccesses counts all accesses.
func (s *MissRatioStats) TotalAccesses() uint64 { return s.accesses }

// TotalMisses counts all misses.
func (s *MissRatioStats) TotalMisses() uint64 { return s.misses }

// UserAccesses counts those that applications wait for.
func (s *MissRatioStats) UserAccesses() uint64 { return s.userAccesses }

// UserMisses counts their misses.
func (s *MissRatioStats) UserMisses() uint64 { return s.userMisses }

// NumAccessesTimeline has the accesses of each second; it must not be changed.
func (s *MissRatioStats) NumAccessesTimeline() map[uint64]uint64 { return s.accessTimeline }

// NumMissesTimeline has the misses of each second with accesses; it must not be
// changed.
func (s *MissRatioStats) NumMissesTimeline() map[uint64]uint64 { return s.missTimeline }

// UpdateMetrics counts an access, at a time in microseconds.
func (s *MissRatioStats) UpdateMetrics(micros uint64, user, miss bool) {
	if s.accessTimeline == nil {
		s.accessTimeline, s.missTimeline = map[uint64]uint64{}, map[uint64]uint64{}
	}
	var n uint64
	if miss {
		n = 1
	}
	second := micros / microsInSecond
	s.accessTimeline[second]++
	s.missTimeline[second] += n
	s.accesses++
	s.misses += n
	if user {
		s.userAccesses++
		s.userMisses += n
	}
}

// lookup tells whether the cache has the key.
func lookup(c rocksdb.Cache, key []byte) bool {
	h := c.Lookup(key, keyHelper, nil, rocksdb.CachePriorityLow, nil)
	if h == nil {
		return false
	}
	c.Release(h, false)
	return true
}

// insert puts a key of so many bytes into the cache; one that does not take it
// misses the next time as well.
func insert(c rocksdb.Cache, key []byte, charge uint64, p rocksdb.CachePriority) {
	_, _ = c.Insert(key, nil, keyHelper, int(charge), p, false)
}

// GhostCache admits keys on their second access.
type GhostCache struct{ keys rocksdb.Cache }

// NewGhostCache keeps the keys seen in c.
func NewGhostCache(c rocksdb.Cache) *GhostCache { return &GhostCache{c} }

// Admit tells whether key was seen before.
func (g *GhostCache) Admit(key []byte) bool {
	if lookup(g.keys, key) {
		return true
	}
	insert(g.keys, key, uint64(len(key)), rocksdb.CachePriorityLow)
	return false
}

// simulatorPolicy is what a CacheSimulator does beside looking blocks up.
type simulatorPolicy struct {
	prioritized bool // index, filter and dictionary blocks stay longer
	rows        bool // what a Get reads is looked up first
	blocks      bool // the blocks of a row that is not there are inserted
}

// CacheSimulator is a cache without contents, by which a trace is run.
type CacheSimulator struct {
	stats  MissRatioStats
	ghost  *GhostCache // nil: all is admitted
	cache  rocksdb.Cache
	policy simulatorPolicy
	gets   map[uint64]*getStatus // by their IDs
}

// rowState is what has become of a row.
type rowState uint8

const (
	rowNotInserted rowState = iota
	rowInserted
	rowAdmitted // to be inserted once its size is known
)

// getStatus is a Get under way. One that is complete has found its row: its
// further accesses are hits.
type getStatus struct {
	complete bool
	rows     map[string]rowState
}

// NewCacheSimulator looks blocks up in c. ghost may be nil.
func NewCacheSimulator(ghost *GhostCache, c rocksdb.Cache) *CacheSimulator {
	return &CacheSimulator{ghost: ghost, cache: c}
}

// NewPrioritizedCacheSimulator inserts index, filter and dictionary blocks with
// high priority.
func NewPrioritizedCacheSimulator(ghost *GhostCache, c rocksdb.Cache) *CacheSimulator {
	return &CacheSimulator{ghost: ghost, cache: c, policy: simulatorPolicy{prioritized: true}}
}

// NewHybridRowBlockCacheSimulator keeps rows too: a Get looks its key up first, and
// when that is there reads no blocks. insertBlocks says whether the blocks of a key
// that is not there are kept.
func NewHybridRowBlockCacheSimulator(ghost *GhostCache, c rocksdb.Cache, insertBlocks bool) *CacheSimulator {
	return &CacheSimulator{ghost: ghost, cache: c, policy: simulatorPolicy{prioritized: true, rows: true, blocks: insertBlocks},
		gets: map[uint64]*getStatus{}}
}

// ResetCounter forgets the numbers of accesses, and not what the cache has.
func (s *CacheSimulator) ResetCounter() { s.stats.ResetCounter() }

// MissRatioStats gives the numbers.
func (s *CacheSimulator) MissRatioStats() *MissRatioStats { return &s.stats }

func (s *CacheSimulator) priority(a *tracereplay.BlockCacheTraceRecord) rocksdb.CachePriority {
	if s.policy.prioritized {
		switch a.BlockType {
		case tracereplay.BlockTraceFilterBlock, tracereplay.BlockTraceIndexBlock, tracereplay.BlockTraceUncompressionDictBlock:
			return rocksdb.CachePriorityHigh
		}
	}
	return rocksdb.CachePriorityLow
}

// access looks a key up and inserts it where it is not there.
func (s *CacheSimulator) access(key []byte, size uint64, p rocksdb.CachePriority, noInsert bool) (miss, admitted bool) {
	admitted = true
	if s.ghost != nil && !noInsert {
		admitted = s.ghost.Admit(key)
	}
	if lookup(s.cache, key) {
		return false, admitted
	}
	if !noInsert && admitted && size > 0 {
		insert(s.cache, key, size, p)
	}
	return true, admitted
}

// Access runs one access.
func (s *CacheSimulator) Access(a *tracereplay.BlockCacheTraceRecord) {
	if s.policy.rows && a.Caller == rocksdb.CallerUserGet && a.GetID != tracereplay.ReservedGetID {
		s.stats.UpdateMetrics(a.AccessTimestamp, true, s.accessRow(a))
		return
	}
	miss, _ := s.access(a.BlockKey, a.BlockSize, s.priority(a), a.NoInsert)
	s.stats.UpdateMetrics(a.AccessTimestamp, tracereplay.IsUserAccess(a.Caller), miss)
}

// accessRow runs an access of a Get.
func (s *CacheSimulator) accessRow(a *tracereplay.BlockCacheTraceRecord) (miss bool) {
	get := s.gets[a.GetID]
	if get == nil {
		get = &getStatus{rows: map[string]rowState{}}
		s.gets[a.GetID] = get
	}
	if get.complete {
		return false
	}
	row := a.ComputeRowKey()
	if _, seen := get.rows[row]; !seen {
		miss, admitted := s.access([]byte(row), a.ReferencedDataSize, rocksdb.CachePriorityHigh, false)
		switch {
		case admitted && a.ReferencedDataSize > 0:
			get.rows[row] = rowInserted
		case admitted:
			get.rows[row] = rowAdmitted
		default:
			get.rows[row] = rowNotInserted
		}
		if !miss {
			get.complete = true
			return false
		}
	}
	miss, _ = s.access(a.BlockKey, a.BlockSize, s.priority(a), !s.policy.blocks || a.NoInsert)
	if get.rows[row] == rowAdmitted && a.ReferencedDataSize > 0 {
		insert(s.cache, []byte(row), a.ReferencedDataSize, rocksdb.CachePriorityHigh)
		get.rows[row] = rowInserted
	}
	return miss
}

// SimulatedCaches are the simulators of one configuration, by its capacities.
type SimulatedCaches struct {
	Configuration CacheConfiguration
	Simulators    []*CacheSimulator
}

// BlockCacheTraceSimulator runs a trace by caches of several configurations.
type BlockCacheTraceSimulator struct {
	warmup     uint64 // microseconds
	warmedUp   bool
	start      uint64 // microseconds; 0: no access yet
	downsample uint64
	caches     []SimulatedCaches
}

const ghostCachePrefix = "ghost_"

// NewBlockCacheTraceSimulator makes the caches. Accesses of the first seconds
// count for the caches' contents alone. A trace of one block in downsampleRatio
// needs caches that are as much smaller.
func NewBlockCacheTraceSimulator(warmupSeconds uint64, downsampleRatio uint32, configurations []CacheConfiguration) (*BlockCacheTraceSimulator, error) {
	s := &BlockCacheTraceSimulator{warmup: warmupSeconds * microsInSecond, downsample: uint64(max(downsampleRatio, 1))}
	for _, c := range configurations {
		made := SimulatedCaches{Configuration: c}
		for _, capacity := range c.CacheCapacities {
			sim, err := newSimulator(&c, capacity/s.downsample)
			if err != nil {
				return nil, err
			}
			made.Simulators = append(made.Simulators, sim)
		}
		s.caches = append(s.caches, made)
	}
	slices.SortStableFunc(s.caches, func(a, b SimulatedCaches) int {
		x, y := &a.Configuration, &b.Configuration
		return cmp.Or(strings.Compare(x.CacheName, y.CacheName), cmp.Compare(x.NumShardBits, y.NumShardBits),
			cmp.Compare(x.GhostCacheCapacity, y.GhostCacheCapacity))
	})
	return s, nil
}

func newLRU(capacity uint64, shardBits int, highPriority float64) (*cache.LRUCache, error) {
	o := rocksdb.DefaultLRUCacheOptions(int(capacity))
	o.NumShardBits, o.HighPriPoolRatio = shardBits, highPriority
	return cache.NewLRUCache(o)
}

func newSimulator(c *CacheConfiguration, capacity uint64) (*CacheSimulator, error) {
	name, hasGhost := strings.CutPrefix(c.CacheName, ghostCachePrefix)
	policies := map[string]simulatorPolicy{
		"lru":                              {},
		"lru_priority":                     {prioritized: true},
		"lru_hybrid":                       {prioritized: true, rows: true, blocks: true},
		"lru_hybrid_no_insert_on_row_miss": {prioritized: true, rows: true},
	}
	policy, ok := policies[name]
	if !ok {
		return nil, rocksdb.InvalidArgument("Unknown cache name " + c.CacheName)
	}
	highPriority := 0.0
	if policy.prioritized {
		highPriority = 0.5
	}
	lru, err := newLRU(capacity, c.NumShardBits, highPriority)
	if err != nil {
		return nil, err
	}
	s := &CacheSimulator{cache: lru, policy: policy, gets: map[uint64]*getStatus{}}
	if hasGhost {
		ghost, err := newLRU(c.GhostCacheCapacity, 1, 0)
		if err != nil {
			return nil, err
		}
		s.ghost = NewGhostCache(ghost)
	}
	return s, nil
}

// Access runs one access by all caches.
func (s *BlockCacheTraceSimulator) Access(a *tracereplay.BlockCacheTraceRecord) {
	if s.start == 0 {
		s.start = a.AccessTimestamp
	}
	reset := !s.warmedUp && s.start+s.warmup <= a.AccessTimestamp
	s.warmedUp = s.warmedUp || reset
	for _, c := range s.caches {
		for _, sim := range c.Simulators {
			if reset {
				sim.ResetCounter()
			}
			sim.Access(a)
		}
	}
}

// SimCaches gives the simulators, in the order of the configurations' names.
func (s *BlockCacheTraceSimulator) SimCaches() []SimulatedCaches { return s.caches }

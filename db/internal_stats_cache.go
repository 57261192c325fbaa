// Port of db/internal_stats.{h,cc} (CacheEntryRoleStats).

package db

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// CacheEntryRoleStats tells by role what is in a block cache. Sizes are in
// bytes, times in microseconds.
type CacheEntryRoleStats struct {
	CacheID       string
	CacheCapacity uint64
	CacheUsage    uint64
	TableSize     uint64 // 0 where the cache does not tell
	Occupancy     uint64
	HashSeed      uint32
	TotalCharges  [rocksdb.NumCacheEntryRoles]uint64
	EntryCounts   [rocksdb.NumCacheEntryRoles]uint64

	CollectionCount        uint32
	CopiesOfLastCollection uint32 // since the last collection
	LastStartTimeMicros    uint64
	LastEndTimeMicros      uint64
}

// BeginCollection starts over; the number of collections stays.
func (s *CacheEntryRoleStats) BeginCollection(c rocksdb.Cache, startMicros uint64) {
	*s = CacheEntryRoleStats{CollectionCount: s.CollectionCount + 1, LastStartTimeMicros: startMicros,
		CacheID: fmt.Sprintf("%s@%p#%d", c.Name(), c, os.Getpid()), CacheCapacity: uint64(c.GetCapacity()),
		CacheUsage: uint64(c.GetUsage()), Occupancy: uint64(c.GetOccupancyCount())}
	if t, ok := c.(interface{ GetTableAddressCount() int }); ok {
		s.TableSize = uint64(t.GetTableAddressCount())
	}
	if h, ok := c.(interface{ GetHashSeed() uint32 }); ok {
		s.HashSeed = h.GetHashSeed()
	}
}

// CountEntry counts an entry.
func (s *CacheEntryRoleStats) CountEntry(charge int, helper *rocksdb.CacheItemHelper) {
	role := rocksdb.CacheEntryRoleMisc
	if helper != nil && helper.Role < rocksdb.NumCacheEntryRoles {
		role = helper.Role
	}
	s.EntryCounts[role]++
	s.TotalCharges[role] += uint64(charge)
}

// EndCollection notes the time.
func (s *CacheEntryRoleStats) EndCollection(endMicros uint64) { s.LastEndTimeMicros = endMicros }

// SkippedCollection counts a use of older figures.
func (s *CacheEntryRoleStats) SkippedCollection() { s.CopiesOfLastCollection++ }

// GetLastDurationMicros is how long the last collection took.
func (s *CacheEntryRoleStats) GetLastDurationMicros() uint64 {
	if s.LastEndTimeMicros > s.LastStartTimeMicros {
		return s.LastEndTimeMicros - s.LastStartTimeMicros
	}
	return 0
}

func (s *CacheEntryRoleStats) secondsSince(now uint64) uint64 {
	return (now - min(s.LastEndTimeMicros, now)) / microsInSec
}

func (s *CacheEntryRoleStats) percent(role rocksdb.CacheEntryRole) float64 {
	return 100 * float64(s.TotalCharges[role]) / float64(s.CacheCapacity)
}

// ToString gives the figures in two lines; now is in microseconds.
func (s *CacheEntryRoleStats) ToString(now uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Block cache %s capacity: %s seed: %d usage: %s table_size: %d occupancy: %d collections: %d last_copies: %d last_secs: %.6g secs_since: %d\n",
		s.CacheID, util.BytesToHumanString(s.CacheCapacity), s.HashSeed, util.BytesToHumanString(s.CacheUsage), s.TableSize, s.Occupancy,
		s.CollectionCount, s.CopiesOfLastCollection, float64(s.GetLastDurationMicros())/microsInSec, s.secondsSince(now))
	b.WriteString("Block cache entry stats(count,size,portion):")
	for role, n := range s.EntryCounts {
		if n > 0 {
			r := rocksdb.CacheEntryRole(role)
			fmt.Fprintf(&b, " %s(%d,%s,%.6g%%)", cache.CacheEntryRoleToCamelString(r), n, util.BytesToHumanString(s.TotalCharges[role]), s.percent(r))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// ToMap gives the figures by name; now is in microseconds.
func (s *CacheEntryRoleStats) ToMap(now uint64) map[string]string {
	m := map[string]string{
		cache.BlockCacheEntryStatsCacheID:                       s.CacheID,
		cache.BlockCacheEntryStatsCacheCapacityBytes:            decimal(s.CacheCapacity),
		cache.BlockCacheEntryStatsLastCollectionDurationSeconds: fixed6(float64(s.GetLastDurationMicros()) / microsInSec),
		cache.BlockCacheEntryStatsLastCollectionAgeSeconds:      decimal(s.secondsSince(now)),
	}
	for role := range s.EntryCounts {
		r := rocksdb.CacheEntryRole(role)
		m[cache.BlockCacheEntryStatsEntryCount(r)] = decimal(s.EntryCounts[role])
		m[cache.BlockCacheEntryStatsUsedBytes(r)] = decimal(s.TotalCharges[role])
		m[cache.BlockCacheEntryStatsUsedPercent(r)] = fixed6(s.percent(r))
	}
	return m
}

// fixed6 has six digits after the point.
func fixed6(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

// How old figures may be, in seconds and as a multiple of the time they took:
// for who asks for them, and for periodic and fast uses, which must cost less
// than 0.2% of a thread.
const (
	foregroundCacheStatsAge    = 10
	foregroundCacheStatsFactor = 10
	backgroundCacheStatsAge    = 180
	backgroundCacheStatsFactor = 500
)

// CollectCacheEntryStats brings the figures of the block cache up to date. The
// DB mutex is not held.
func (s *InternalStats) CollectCacheEntryStats(foreground bool) {
	switch {
	case s.cacheStats == nil:
	case foreground:
		s.cacheStats.CollectStats(foregroundCacheStatsAge, foregroundCacheStatsFactor)
	default:
		s.cacheStats.CollectStats(backgroundCacheStatsAge, backgroundCacheStatsFactor)
	}
}

// ReportCacheProblems lets the block cache, unless it is among those seen, log its
// problems. The DB mutex is not held.
func (s *InternalStats) ReportCacheProblems(log rocksdb.Logger, seen map[rocksdb.Cache]bool) {
	c := s.blockCache()
	if c == nil || seen[c] {
		return
	}
	seen[c] = true
	if r, ok := c.(rocksdb.ProblemReporter); ok {
		r.ReportProblems(log)
	}
}

// TESTGetCacheEntryRoleStats gives the figures of the block cache, nil without
// one.
func (s *InternalStats) TESTGetCacheEntryRoleStats(foreground bool) *CacheEntryRoleStats {
	return s.cacheEntryRoleStats(foreground)
}

func (s *InternalStats) cacheEntryRoleStats(foreground bool) *CacheEntryRoleStats {
	if s.cacheStats == nil {
		return nil
	}
	s.CollectCacheEntryStats(foreground)
	return s.cacheStats.GetStats()
}

// blockCache gives the block cache of the family's tables, nil without one.
func (s *InternalStats) blockCache() rocksdb.Cache {
	if s.cfd == nil {
		return nil
	}
	c, ok := s.cfd.GetLatestMutableCFOptions().TableFactory.(rocksdb.Configurable)
	if !ok {
		return nil
	}
	cache, _ := c.OptionsPtr(rocksdb.BlockCacheOptsName).(rocksdb.Cache)
	return cache
}

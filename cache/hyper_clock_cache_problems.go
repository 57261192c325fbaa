// Port of cache/clock_cache.cc (FixedHyperClockCache::ReportProblems). Differs:
// figures about slots and chains are not logged at the debug level.

package cache

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// loadEvaluation is what would become of the tables' load if full shards were
// full of entries of the size that they have.
type loadEvaluation struct {
	loads          []float64 // of the shards that are full, by bytes or by entries
	recommendation int       // the least EstimatedEntryCharge that would do for one, in bytes
}

// Upstream: AddShardEvaluation.
func (e *loadEvaluation) add(s *clockShard) {
	usage, occupancy := s.usage.Load()-s.standaloneUsage.Load(), s.occupancy.Load()
	usageRatio := float64(usage) / float64(s.capacity.Load())
	occupancyRatio := float64(occupancy) / float64(s.occupancyLimit.Load())
	if usage <= 0 || occupancy <= 0 || usageRatio < 0.8 && occupancyRatio < 0.95 {
		return
	}
	e.loads = append(e.loads, occupancyRatio/usageRatio*clockStrictLoadFactor)
	e.recommendation = min(e.recommendation, int(usage/occupancy))
}

// lost is the part of the capacity that cannot be used since tables are full,
// and of how many shards.
func (e *loadEvaluation) lost(shards int) (part float64, full int) {
	for _, load := range e.loads {
		if load > clockStrictLoadFactor {
			full++
			part += (load - clockStrictLoadFactor) / load / float64(shards)
		}
	}
	return part, full
}

// ReportProblems implements rocksdb.ProblemReporter: it logs that
// EstimatedEntryCharge is far from what entries are charged, on average over the
// shards.
func (c *HyperClockCache) ReportProblems(log rocksdb.Logger) {
	if c.shards[0].auto != nil {
		return // no estimate
	}
	e := loadEvaluation{recommendation: math.MaxInt}
	for i := range c.shards {
		e.add(&c.shards[i])
	}
	if len(e.loads) == 0 {
		return
	}
	average := 0.0
	for _, load := range e.loads {
		average += load / float64(len(c.shards))
	}
	const lowLoad, midLoad = clockLoadFactor / 2, clockLoadFactor / 1.414
	switch {
	case average > clockLoadFactor:
		lost, full := e.lost(len(c.shards))
		level := rocksdb.WarnLevel
		switch {
		case lost > 0.2:
			level = rocksdb.ErrorLevel
		case lost > 0.1:
		case lost > 0.01:
			if rand.IntN(100) >= int(lost*100) { // now and then
				level = rocksdb.InfoLevel
			}
		default:
			return
		}
		logging.Log(log, level, "%s@%p: %.1f%% of the capacity cannot be used because the tables of %d of %d shards are full (EstimatedEntryCharge is too high). Recommended: EstimatedEntryCharge=%d",
			c.Name(), c, lost*100, full, len(c.shards), e.recommendation)
	case slices.Max(e.loads) < lowLoad && average < lowLoad/1.414:
		level := rocksdb.InfoLevel
		if average < lowLoad/2 {
			level = rocksdb.WarnLevel
		}
		logging.Log(log, level, "%s@%p: the tables are mostly empty when the cache is full. An EstimatedEntryCharge %.1f times as high would likely make it faster. Recommended: EstimatedEntryCharge=%d",
			c.Name(), c, midLoad/average, e.recommendation)
	}
}

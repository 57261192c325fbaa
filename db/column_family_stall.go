// Port of db/column_family.cc (RecalculateWriteStallConditions and what it
// needs).

package db

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// WriteStallCause says what holds writers back.
type WriteStallCause uint8

// The causes.
const (
	StallMemtableLimit WriteStallCause = iota
	StallL0FileCountLimit
	StallPendingCompactionBytes
	StallNone
)

// GetWriteStallConditionAndCause decides by the number of unflushed memtables,
// of L0 files and of bytes to compact.
func GetWriteStallConditionAndCause(numUnflushed, numL0Files int, pendingBytes uint64,
	mo *options.MutableCFOptions, minWriteBufferNumberToMerge int) (rocksdb.WriteStallCondition, WriteStallCause) {
	auto := !mo.DisableAutoCompactions
	switch {
	case numUnflushed >= mo.MaxWriteBufferNumber:
		return rocksdb.WriteStallConditionStopped, StallMemtableLimit
	case auto && numL0Files >= mo.Level0StopWritesTrigger:
		return rocksdb.WriteStallConditionStopped, StallL0FileCountLimit
	case auto && mo.HardPendingCompactionBytesLimit > 0 && pendingBytes >= mo.HardPendingCompactionBytesLimit:
		return rocksdb.WriteStallConditionStopped, StallPendingCompactionBytes
	case mo.MaxWriteBufferNumber > 3 && numUnflushed >= mo.MaxWriteBufferNumber-1 && numUnflushed-1 >= minWriteBufferNumberToMerge:
		return rocksdb.WriteStallConditionDelayed, StallMemtableLimit
	case auto && mo.Level0SlowdownWritesTrigger >= 0 && numL0Files >= mo.Level0SlowdownWritesTrigger:
		return rocksdb.WriteStallConditionDelayed, StallL0FileCountLimit
	case auto && mo.SoftPendingCompactionBytesLimit > 0 && pendingBytes >= mo.SoftPendingCompactionBytesLimit:
		return rocksdb.WriteStallConditionDelayed, StallPendingCompactionBytes
	}
	return rocksdb.WriteStallConditionNormal, StallNone
}

// setupDelay takes a delay token at a rate that follows how the debt develops.
func setupDelay(wc *writethread.WriteController, needed, previous uint64, penalizeStop, autoDisabled bool) *writethread.Token {
	maxRate, rate := wc.MaxDelayedWriteRate(), wc.DelayedWriteRate()
	if autoDisabled {
		rate = maxRate
	} else if wc.NeedsDelay() && maxRate > minDelayedWriteRate {
		switch {
		case penalizeStop:
			rate = max(uint64(float64(rate)*nearStopSlowdownRatio), minDelayedWriteRate)
		case previous > 0 && previous <= needed:
			rate = max(uint64(float64(rate)*incSlowdownRatio), minDelayedWriteRate)
		case previous > needed:
			rate = min(uint64(float64(rate)*decSlowdownRatio), maxRate)
		}
	}
	return wc.GetDelayToken(rate)
}

// GetL0FileCountForCompactionSpeedup is the number of L0 files from which on
// compactions get more threads.
func GetL0FileCountForCompactionSpeedup(trigger, slowdown int) int {
	if trigger < 0 {
		return math.MaxInt32
	}
	t := int64(trigger)
	return int(min(2*t, t+(int64(slowdown)-t)/4, math.MaxInt32))
}

// pendingBytesForSpeedup is the debt from which on compactions get more
// threads.
func pendingBytesForSpeedup(mo *options.MutableCFOptions, vs *version.StorageInfo) uint64 {
	var bottommost uint64
	for _, f := range vs.BottommostFiles() {
		bottommost += f.File.FD.GetFileSize()
	}
	slowdown := mo.SoftPendingCompactionBytesLimit / 4
	if bottommost == 0 {
		return slowdown
	}
	// The debt has to be larger than one full compaction of L0 into the base
	// level, so that a small family does not take the threads.
	return min(max(bottommost/8, 2*mo.MaxBytesForLevelBase), slowdown)
}

// RecalculateWriteStallConditions takes the token that the family's state asks
// for. The DB mutex is held.
func (c *ColumnFamilyData) RecalculateWriteStallConditions(mo *options.MutableCFOptions) rocksdb.WriteStallCondition {
	if c.current == nil || c.dropped.Load() {
		return rocksdb.WriteStallConditionNormal
	}
	vs := c.current.StorageInfo()
	wc := c.set.writeController
	needed := vs.EstimatedCompactionNeededBytes()
	numL0, numImm := vs.L0DelayTriggerCount(), c.imm.NumNotFlushed()
	condition, cause := GetWriteStallConditionAndCause(numImm, numL0, needed, mo, c.ioptions.MinWriteBufferNumberToMerge)
	wasStopped, neededDelay := wc.IsStopped(), wc.NeedsDelay()

	old := c.writeControllerToken
	switch condition {
	case rocksdb.WriteStallConditionStopped:
		c.writeControllerToken = wc.GetStopToken()
		c.countStall(condition, cause)
		logging.Warn(c.ioptions.InfoLog, "[%s] Stopping writes: %d immutable memtables (limit %d), %d level-0 files, %d pending compaction bytes",
			c.name, numImm, mo.MaxWriteBufferNumber, numL0, needed)
	case rocksdb.WriteStallConditionDelayed:
		penalize := wasStopped
		switch cause {
		case StallL0FileCountLimit:
			penalize = penalize || numL0 >= mo.Level0StopWritesTrigger-2
		case StallPendingCompactionBytes:
			soft, hard := mo.SoftPendingCompactionBytesLimit, mo.HardPendingCompactionBytesLimit
			penalize = penalize || hard > 0 && needed-soft > 3*(hard-soft)/4
		}
		c.writeControllerToken = setupDelay(wc, needed, c.prevCompactionNeededBytes, penalize, mo.DisableAutoCompactions)
		c.countStall(condition, cause)
		logging.Warn(c.ioptions.InfoLog, "[%s] Stalling writes: %d immutable memtables (limit %d), %d level-0 files, %d pending compaction bytes, rate %d",
			c.name, numImm, mo.MaxWriteBufferNumber, numL0, needed, wc.DelayedWriteRate())
	default:
		c.writeControllerToken = nil
		if numL0 >= GetL0FileCountForCompactionSpeedup(mo.Level0FileNumCompactionTrigger, mo.Level0SlowdownWritesTrigger) ||
			mo.SoftPendingCompactionBytesLimit == 0 ||
			needed >= pendingBytesForSpeedup(mo, vs) ||
			len(vs.FilesMarkedForCompaction()) >= markedFilesForSpeedup {
			c.writeControllerToken = wc.GetCompactionPressureToken()
		}
		if neededDelay {
			rate := wc.DelayedWriteRate()
			wc.SetDelayedWriteRate(uint64(float64(rate) * delayRecoverSlowdown))
			// It stays so after the delay, while compactions lag behind.
			wc.LowPriRateLimiter().SetBytesPerSecond(int64(max(rate/lowPriShare, 1)))
		}
	}
	// Only now, so that a delay that goes on keeps its credit.
	old.Release()
	c.prevCompactionNeededBytes = needed
	return condition
}

func (c *ColumnFamilyData) countStall(condition rocksdb.WriteStallCondition, cause WriteStallCause) {
	l0Busy := cause == StallL0FileCountLimit && c.picker.IsLevel0CompactionInProgress()
	c.internalStats.CountStall(condition, cause, l0Busy)
}

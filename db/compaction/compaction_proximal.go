// Port of db/compaction/compaction.{h,cc} (the level above the last one, as a second
// place for outputs). Differs: what upstream asserts of a key's place is an answer
// here (WithinProximalLevelOutputRange).

package compaction

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// ProximalOutputRangeType says which keys of a compaction into the last level may
// stay on the level above, the proximal one.
type ProximalOutputRangeType uint8

// The kinds.
const (
	ProximalOutputNotSupported ProximalOutputRangeType = iota // none, ever
	ProximalOutputFullRange                                   // any
	ProximalOutputNonLastRange                                // those within the inputs above the last level
	ProximalOutputDisabled                                    // none of this compaction
)

// String is upstream's name of the kind.
func (t ProximalOutputRangeType) String() string {
	switch t {
	case ProximalOutputNotSupported:
		return "NotSupported"
	case ProximalOutputFullRange:
		return "FullRange"
	case ProximalOutputNonLastRange:
		return "NonLastRange"
	case ProximalOutputDisabled:
		return "Disabled"
	}
	return "Invalid"
}

// proximalOutput is where a compaction may keep new data out of the last level.
type proximalOutput struct {
	level     int // InvalidLevel: nowhere
	rangeType ProximalOutputRangeType
	// The keys that may go there; nil: none.
	smallest, largest dbformat.InternalKey
	// What is in the last level up to this sequence number stays there.
	keepInLastLevelThrough rocksdb.SequenceNumber
}

// EvaluateProximalLevel is the level that a compaction into outputLevel may keep
// new data on, the one above the last; InvalidLevel for none. Which keys may go
// there is another question; perhaps none.
func EvaluateProximalLevel(vs *version.StorageInfo, mo *options.MutableCFOptions, io *options.ImmutableOptions, startLevel, outputLevel int) int {
	style := io.CompactionStyle
	if style != rocksdb.CompactionStyleLevel && style != rocksdb.CompactionStyleUniversal ||
		outputLevel != io.NumLevels-1 || outputLevel-1 <= 0 {
		return InvalidLevel
	}
	// A compaction within the last level has nothing to do with the level above,
	// unless that is empty and can be had all.
	if startLevel == outputLevel && (style != rocksdb.CompactionStyleUniversal || vs.NumLevelFiles(outputLevel-1) > 0) {
		return InvalidLevel
	}
	enabled := mo.PrecludeLastLevelDataSeconds > 0
	syncpoint.ProcessArg("Compaction::SupportsPerKeyPlacement:Enabled", &enabled)
	if !enabled {
		return InvalidLevel
	}
	return outputLevel - 1
}

// setProximalOutput is upstream's Compaction::PopulateProximalLevelOutputRange.
func (c *Compaction) setProximalOutput() {
	o := &c.proximal
	o.level, o.keepInLastLevelThrough = InvalidLevel, dbformat.MaxSequenceNumber
	if c.p.Reason != rocksdb.CompactionReasonExternalSstIngestion && c.p.Reason != rocksdb.CompactionReasonRefitLevel {
		o.level = EvaluateProximalLevel(c.vstorage, c.mo, c.io, c.StartLevel(), c.p.OutputLevel)
	}
	if o.level == InvalidLevel {
		return
	}
	if c.io.CompactionStyle == rocksdb.CompactionStyleUniversal && c.hasAllOf(o.level) {
		o.rangeType, o.keepInLastLevelThrough = ProximalOutputFullRange, 0
		o.smallest, o.largest = c.boundaryInternalKeys(InvalidLevel)
		return
	}
	// The level is shared: what is in the last level stays, since moved up it could
	// meet files, or come under range tombstones, that it was below.
	o.rangeType, o.keepInLastLevelThrough = ProximalOutputNonLastRange, 0
	o.smallest, o.largest = c.boundaryInternalKeys(c.numLevels - 1)
	for i := range c.inputs {
		if c.inputs[i].Level != c.p.OutputLevel {
			continue
		}
		for _, f := range c.inputs[i].Files {
			o.keepInLastLevelThrough = max(o.keepInLastLevelThrough, f.FD.LargestSeqno)
		}
	}
}

// hasAllOf tells whether all files of a level are inputs.
func (c *Compaction) hasAllOf(level int) bool {
	n := 0
	for i := range c.inputs {
		if c.inputs[i].Level == level {
			n += len(c.inputs[i].Files)
		}
	}
	return n == c.vstorage.NumLevelFiles(level)
}

// boundaryInternalKeys gives the least and greatest key of the inputs, those of one
// level left out; nil for none.
// Upstream: Compaction::GetBoundaryInternalKeys.
func (c *Compaction) boundaryInternalKeys(excludeLevel int) (smallest, largest dbformat.InternalKey) {
	for i := range c.inputs {
		if c.inputs[i].Level == excludeLevel {
			continue
		}
		for _, f := range c.inputs[i].Files {
			if smallest == nil || c.icmp.Compare(f.Smallest, smallest) < 0 {
				smallest = f.Smallest
			}
			if largest == nil || c.icmp.Compare(f.Largest, largest) > 0 {
				largest = f.Largest
			}
		}
	}
	return smallest, largest
}

// SupportsPerKeyPlacement tells whether outputs may go to the proximal level.
func (c *Compaction) SupportsPerKeyPlacement() bool { return c.proximal.level != InvalidLevel }

// GetProximalLevel is the level above the last one if outputs may go there, else
// InvalidLevel.
func (c *Compaction) GetProximalLevel() int { return c.proximal.level }

// GetProximalOutputRangeType tells which keys may go to the proximal level.
func (c *Compaction) GetProximalOutputRangeType() ProximalOutputRangeType {
	return c.proximal.rangeType
}

// GetKeepInLastLevelThroughSeqno is up to which sequence number everything has to
// go to the last level.
func (c *Compaction) GetKeepInLastLevelThroughSeqno() rocksdb.SequenceNumber {
	return c.proximal.keepInLastLevelThrough
}

// OverlapProximalLevelOutputRange tells whether the user keys overlap those that
// may go to the proximal level.
func (c *Compaction) OverlapProximalLevelOutputRange(smallest, largest []byte) bool {
	o := &c.proximal
	return o.smallest != nil && c.icmp.CompareWithoutTimestamp(smallest, o.largest.UserKey()) <= 0 &&
		c.icmp.CompareWithoutTimestamp(largest, o.smallest.UserKey()) >= 0
}

// WithinProximalLevelOutputRange tells whether a user key may go to the proximal
// level.
// Upstream: Compaction::TEST_AssertWithinProximalLevelOutputRange.
func (c *Compaction) WithinProximalLevelOutputRange(userKey []byte) bool {
	o := &c.proximal
	return o.smallest != nil && c.icmp.CompareWithoutTimestamp(userKey, o.smallest.UserKey()) >= 0 &&
		c.icmp.CompareWithoutTimestamp(userKey, o.largest.UserKey()) <= 0
}

// Port of utilities/table_properties_collectors/compact_for_tiering_collector.{h,cc}.

package tablepropertiescollectors

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// CompactForTieringCollectorName is the factory's name.
const CompactForTieringCollectorName = "CompactForTieringCollector"

// NumEligibleLastLevelEntriesPropertyName is the property that counts a table's
// entries that may go to the last level.
const NumEligibleLastLevelEntriesPropertyName = "rocksdb.eligible.last.level.entries"

// compactForTieringCollector counts entries older than a sequence number.
type compactForTieringCollector struct {
	threshold         rocksdb.SequenceNumber
	triggerRatio      float64
	eligible, entries uint64
	needCompact       bool
}

var _ rocksdb.TablePropertiesCollector = (*compactForTieringCollector)(nil)

// Name is CompactForTieringCollector.
func (c *compactForTieringCollector) Name() string { return CompactForTieringCollectorName }

// AddUserKey counts an entry; a timed put by the time it names.
func (c *compactForTieringCollector) AddUserKey(_, value []byte, t rocksdb.EntryType, seq rocksdb.SequenceNumber, _ uint64) error {
	if t == rocksdb.EntryTimedPut {
		_, preferred, ok := seqnotime.ParsePackedValueWithSeqno(value)
		if !ok {
			return rocksdb.Corruptionf("timed put of %d bytes", len(value))
		}
		seq = preferred
	}
	if seq < c.threshold {
		c.eligible++
	}
	c.entries++
	return nil
}

// BlockAdd does nothing.
func (c *compactForTieringCollector) BlockAdd(_, _, _ uint64) {}

// Finish decides, and adds the number of eligible entries where there are some.
func (c *compactForTieringCollector) Finish(p rocksdb.UserCollectedProperties) error {
	c.needCompact = float64(c.eligible) >= c.triggerRatio*float64(c.entries)
	if c.eligible > 0 && p != nil {
		p[NumEligibleLastLevelEntriesPropertyName] = strconv.FormatUint(c.eligible, 10)
	}
	return nil
}

// GetReadableProperties has the number of eligible entries.
func (c *compactForTieringCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return rocksdb.UserCollectedProperties{NumEligibleLastLevelEntriesPropertyName: strconv.FormatUint(c.eligible, 10)}
}

// NeedCompact tells whether enough entries may go to the last level.
func (c *compactForTieringCollector) NeedCompact() bool { return c.needCompact }

// CompactForTieringCollectorFactory marks a table for compaction when at least
// a part of its entries may go to the last level, in a family with a limit on
// what goes there (preclude_last_level_data_seconds). It is safe for concurrent
// use.
type CompactForTieringCollectorFactory struct {
	compactionTriggerRatio atomic.Uint64 // bits of a float64
}

var (
	_ rocksdb.TablePropertiesCollectorFactory = (*CompactForTieringCollectorFactory)(nil)
	_ rocksdb.StringConfigurable              = (*CompactForTieringCollectorFactory)(nil)
)

// NewCompactForTieringCollectorFactory makes a factory. With a ratio of 0 or
// less there is no collector; with one above 1 it only counts.
func NewCompactForTieringCollectorFactory(compactionTriggerRatio float64) *CompactForTieringCollectorFactory {
	f := &CompactForTieringCollectorFactory{}
	f.SetCompactionTriggerRatio(compactionTriggerRatio)
	return f
}

// Name is CompactForTieringCollector.
func (f *CompactForTieringCollectorFactory) Name() string { return CompactForTieringCollectorName }

// CreateTablePropertiesCollector makes a collector; nil for tables of the last
// level and of families where nothing is kept from it.
func (f *CompactForTieringCollectorFactory) CreateTablePropertiesCollector(ctx rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	ratio := f.GetCompactionTriggerRatio()
	if !(ratio > 0) || ctx.LevelAtCreation == ctx.NumLevels-1 || ctx.LastLevelInclusiveMaxSeqnoThreshold == dbformat.MaxSequenceNumber {
		return nil
	}
	return &compactForTieringCollector{threshold: ctx.LastLevelInclusiveMaxSeqnoThreshold, triggerRatio: ratio}
}

// SetCompactionTriggerRatio sets the part of entries that marks a table.
func (f *CompactForTieringCollectorFactory) SetCompactionTriggerRatio(ratio float64) {
	f.compactionTriggerRatio.Store(math.Float64bits(ratio))
}

// GetCompactionTriggerRatio is what SetCompactionTriggerRatio set.
func (f *CompactForTieringCollectorFactory) GetCompactionTriggerRatio() float64 {
	return math.Float64frombits(f.compactionTriggerRatio.Load())
}

// String is upstream's ToString.
func (f *CompactForTieringCollectorFactory) String() string {
	return fmt.Sprintf("%s, compaction trigger ratio:%g\n", f.Name(), f.GetCompactionTriggerRatio())
}

// ConfigureOption knows "compaction_trigger_ratio".
func (f *CompactForTieringCollectorFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	if name == "compaction_trigger_ratio" {
		return setDouble(f.SetCompactionTriggerRatio, name, value)
	}
	return rocksdb.NotFound("Could not find option", name)
}

// OptionPairs has the ratio.
func (f *CompactForTieringCollectorFactory) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{{Name: "compaction_trigger_ratio", Value: formatDouble(f.GetCompactionTriggerRatio())}}
}

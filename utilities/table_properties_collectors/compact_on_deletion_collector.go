// Port of utilities/table_properties_collectors/compact_on_deletion_collector.{h,cc}
// and include/rocksdb/utilities/table_properties_collectors.h. Differs: Register is called explicitly.

package tablepropertiescollectors

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// CompactOnDeletionCollectorName is the factory's name.
const CompactOnDeletionCollectorName = "CompactOnDeletionCollector"

// numBuckets is the precision of the sliding window.
const numBuckets = 128

// compactOnDeletionCollector counts deletions in a ring of buckets of entries.
type compactOnDeletionCollector struct {
	bucketSize      uint64
	deletionTrigger uint64
	deletionRatio   float64
	minFileSize     uint64

	deletionsInBuckets  [numBuckets]uint64
	bucket              int
	keysInBucket        uint64
	deletionsInWindow   uint64
	maxDeletions        uint64 // that were in the window at once
	entries, deletions  uint64
	fileSize            uint64
	ratioEnabled, marks bool
}

var _ rocksdb.TablePropertiesCollector = (*compactOnDeletionCollector)(nil)

// Name is CompactOnDeletionCollector.
func (c *compactOnDeletionCollector) Name() string { return CompactOnDeletionCollectorName }

// AddUserKey counts an entry.
func (c *compactOnDeletionCollector) AddUserKey(_, _ []byte, t rocksdb.EntryType, _ rocksdb.SequenceNumber, fileSize uint64) error {
	if c.marks {
		return nil
	}
	deletion := t == rocksdb.EntryDelete || t == rocksdb.EntrySingleDelete || t == rocksdb.EntryDeleteWithTimestamp
	if c.ratioEnabled {
		c.entries++
		if deletion {
			c.deletions++
		}
		c.fileSize = fileSize
	}
	if c.bucketSize > 0 {
		c.addToWindow(deletion)
		// A file that was too small when the window was full may grow.
		c.marks = c.maxDeletions >= c.deletionTrigger && fileSize >= c.minFileSize
	}
	return nil
}

func (c *compactOnDeletionCollector) addToWindow(deletion bool) {
	if c.keysInBucket == c.bucketSize {
		// The oldest bucket leaves the window.
		c.bucket = (c.bucket + 1) % numBuckets
		c.deletionsInWindow -= c.deletionsInBuckets[c.bucket]
		c.deletionsInBuckets[c.bucket] = 0
		c.keysInBucket = 0
	}
	c.keysInBucket++
	if deletion {
		c.deletionsInWindow++
		c.deletionsInBuckets[c.bucket]++
		c.maxDeletions = max(c.maxDeletions, c.deletionsInWindow)
	}
}

// BlockAdd does nothing.
func (c *compactOnDeletionCollector) BlockAdd(_, _, _ uint64) {}

// Finish decides by the ratio in the whole file; it adds no properties.
func (c *compactOnDeletionCollector) Finish(rocksdb.UserCollectedProperties) error {
	if !c.marks && c.ratioEnabled && c.entries > 0 && c.fileSize >= c.minFileSize {
		c.marks = float64(c.deletions)/float64(c.entries) >= c.deletionRatio
	}
	return nil
}

// GetReadableProperties has none.
func (c *compactOnDeletionCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return nil
}

// NeedCompact tells whether the file has many deletions.
func (c *compactOnDeletionCollector) NeedCompact() bool { return c.marks }

// CompactOnDeletionCollectorFactory marks a table for compaction when there are
// at least as many deletions as the trigger among as many consecutive entries
// as the window has, or when the part of deletions in the whole table is the
// ratio or more. It is safe for concurrent use.
type CompactOnDeletionCollectorFactory struct {
	slidingWindowSize atomic.Uint64
	deletionTrigger   atomic.Uint64
	deletionRatio     atomic.Uint64 // bits of a float64
	minFileSize       atomic.Uint64
}

var (
	_ rocksdb.TablePropertiesCollectorFactory = (*CompactOnDeletionCollectorFactory)(nil)
	_ rocksdb.StringConfigurable              = (*CompactOnDeletionCollectorFactory)(nil)
)

// NewCompactOnDeletionCollectorFactory makes a factory. A window of 0 entries
// is none, and so is a ratio that is not above 0 and at most 1. Tables below
// minFileSize bytes are not marked; the size is known up to the last data block
// written.
func NewCompactOnDeletionCollectorFactory(slidingWindowSize, deletionTrigger uint64, deletionRatio float64, minFileSize uint64) *CompactOnDeletionCollectorFactory {
	f := &CompactOnDeletionCollectorFactory{}
	f.SetWindowSize(slidingWindowSize)
	f.SetDeletionTrigger(deletionTrigger)
	f.SetDeletionRatio(deletionRatio)
	f.SetMinFileSize(minFileSize)
	return f
}

// Name is CompactOnDeletionCollector.
func (f *CompactOnDeletionCollectorFactory) Name() string { return CompactOnDeletionCollectorName }

// CreateTablePropertiesCollector makes a collector with the present settings.
func (f *CompactOnDeletionCollectorFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	ratio, window := f.GetDeletionRatio(), f.GetWindowSize()
	bucket := window / numBuckets
	if window%numBuckets != 0 {
		bucket++
	}
	return &compactOnDeletionCollector{bucketSize: bucket, deletionTrigger: f.GetDeletionTrigger(), deletionRatio: ratio,
		minFileSize: f.GetMinFileSize(), ratioEnabled: ratio > 0 && ratio <= 1}
}

// SetWindowSize sets the number of consecutive entries; 0 is no window.
func (f *CompactOnDeletionCollectorFactory) SetWindowSize(entries uint64) {
	f.slidingWindowSize.Store(entries)
}

// GetWindowSize is what SetWindowSize set.
func (f *CompactOnDeletionCollectorFactory) GetWindowSize() uint64 { return f.slidingWindowSize.Load() }

// SetDeletionTrigger sets how many deletions in a window mark a table.
func (f *CompactOnDeletionCollectorFactory) SetDeletionTrigger(deletions uint64) {
	f.deletionTrigger.Store(deletions)
}

// GetDeletionTrigger is what SetDeletionTrigger set.
func (f *CompactOnDeletionCollectorFactory) GetDeletionTrigger() uint64 {
	return f.deletionTrigger.Load()
}

// SetDeletionRatio sets the part of deletions that marks a table.
func (f *CompactOnDeletionCollectorFactory) SetDeletionRatio(ratio float64) {
	f.deletionRatio.Store(math.Float64bits(ratio))
}

// GetDeletionRatio is what SetDeletionRatio set.
func (f *CompactOnDeletionCollectorFactory) GetDeletionRatio() float64 {
	return math.Float64frombits(f.deletionRatio.Load())
}

// SetMinFileSize sets the size in bytes from which on tables are marked.
func (f *CompactOnDeletionCollectorFactory) SetMinFileSize(bytes uint64) { f.minFileSize.Store(bytes) }

// GetMinFileSize is what SetMinFileSize set.
func (f *CompactOnDeletionCollectorFactory) GetMinFileSize() uint64 { return f.minFileSize.Load() }

// String is upstream's ToString.
func (f *CompactOnDeletionCollectorFactory) String() string {
	return fmt.Sprintf("%s (Sliding window size = %d Deletion trigger = %d Deletion ratio = %g)",
		f.Name(), f.GetWindowSize(), f.GetDeletionTrigger(), f.GetDeletionRatio())
}

// ConfigureOption knows "window_size", "deletion_trigger", "deletion_ratio" and
// "min_file_size".
func (f *CompactOnDeletionCollectorFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	switch name {
	case "window_size":
		return setSize(f.SetWindowSize, name, value)
	case "deletion_trigger":
		return setSize(f.SetDeletionTrigger, name, value)
	case "deletion_ratio":
		return setDouble(f.SetDeletionRatio, name, value)
	case "min_file_size":
		return setSize(f.SetMinFileSize, name, value)
	}
	return rocksdb.NotFound("Could not find option", name)
}

// OptionPairs has the four.
func (f *CompactOnDeletionCollectorFactory) OptionPairs() []rocksdb.OptionPair {
	size := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return []rocksdb.OptionPair{
		{Name: "deletion_ratio", Value: formatDouble(f.GetDeletionRatio())},
		{Name: "deletion_trigger", Value: size(f.GetDeletionTrigger())},
		{Name: "min_file_size", Value: size(f.GetMinFileSize())},
		{Name: "window_size", Value: size(f.GetWindowSize())},
	}
}

func setSize(set func(uint64), name, value string) error {
	n, err := util.ParseSizeT(value)
	if err != nil {
		return rocksdb.InvalidArgument("option "+name, value)
	}
	set(n)
	return nil
}

func setDouble(set func(float64), name, value string) error {
	v, err := util.ParseDouble(value)
	if err != nil {
		return rocksdb.InvalidArgument("option "+name, value)
	}
	set(v)
	return nil
}

// formatDouble prints as std::to_string does.
func formatDouble(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

// Register makes both factories known to l by name, without any trigger, and
// gives their number.
func Register(l *registry.Library) int {
	l.AddFactory(registry.KindTablePropertiesCollectorFactory, CompactOnDeletionCollectorName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewCompactOnDeletionCollectorFactory(0, 0, 0, 0), nil
	})
	l.AddFactory(registry.KindTablePropertiesCollectorFactory, CompactForTieringCollectorName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewCompactForTieringCollectorFactory(0), nil
	})
	return 2
}

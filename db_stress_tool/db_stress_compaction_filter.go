// Port of db_stress_tool/db_stress_compaction_filter.h and
// db_stress_table_properties_collector.h.

package dbstresstool

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// stressCompactionFilter drops keys that the expected state does not have.
type stressCompactionFilter struct {
	shared *sharedState // nil until the state is restored
	keys   *keyGenerator
	cf     int
}

// Name is upstream's.
func (*stressCompactionFilter) Name() string { return "DbStressCompactionFilter" }

// IgnoreSnapshots is what all filters are.
func (*stressCompactionFilter) IgnoreSnapshots() bool { return true }

// FilterV3 removes a key that is deleted and not being written.
func (c *stressCompactionFilter) FilterV3(_ int, key []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if c.shared == nil || len(key) == 0 || '0' <= key[0] && key[0] <= '9' {
		return rocksdb.FilterKeep, nil, nil
	}
	n, ok := c.keys.intVal(c.shared.flags.stripTimestamp(key))
	if !ok || int64(n) >= c.shared.flags.MaxKey {
		return rocksdb.FilterKeep, nil, nil
	}
	lock := c.shared.keyLock(c.cf, int64(n))
	if !lock.TryLock() {
		return rocksdb.FilterKeep, nil, nil
	}
	exists, overwrite := c.shared.exists(c.cf, int64(n)), c.shared.allowsOverwrite(int64(n))
	lock.Unlock()
	switch {
	case exists:
		return rocksdb.FilterKeep, nil, nil
	case overwrite:
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterPurge, nil, nil
}

type stressCompactionFilterFactory struct {
	shared atomic.Pointer[sharedState]
	keys   *keyGenerator
}

// Name is upstream's.
func (*stressCompactionFilterFactory) Name() string { return "DbStressCompactionFilterFactory" }

// ShouldFilterTableFileCreation is for compactions only.
func (*stressCompactionFilterFactory) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == rocksdb.TableFileCreationReasonCompaction
}

// CreateCompactionFilter makes a filter of the family.
func (f *stressCompactionFilterFactory) CreateCompactionFilter(ctx *rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return &stressCompactionFilter{f.shared.Load(), f.keys, int(ctx.ColumnFamilyID)}
}

// stressCollector counts, unsynchronized on purpose, and marks some tables for
// compaction.
type stressCollector struct {
	needCompact                bool
	keysAdded, blocks, allCall int
}

// Name is upstream's.
func (*stressCollector) Name() string { return "DbStressTablePropertiesCollector" }

// AddUserKey counts.
func (c *stressCollector) AddUserKey(_, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	c.keysAdded++
	c.allCall++
	return nil
}

// BlockAdd counts.
func (c *stressCollector) BlockAdd(_, _, _ uint64) {
	c.blocks++
	c.allCall++
}

// Finish writes the counts.
func (c *stressCollector) Finish(p rocksdb.UserCollectedProperties) error {
	c.allCall++
	p["db_stress_collector_property"] = fmt.Sprintf("%d;%d;%d", c.keysAdded, c.blocks, c.allCall)
	return nil
}

// GetReadableProperties gives the same.
func (c *stressCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	p := rocksdb.UserCollectedProperties{}
	_ = c.Finish(p)
	return p
}

// NeedCompact is as drawn.
func (c *stressCollector) NeedCompact() bool {
	c.allCall++
	return c.needCompact
}

type stressCollectorFactory struct{ oneIn int }

// Name is upstream's.
func (*stressCollectorFactory) Name() string { return "DbStressTablePropertiesCollectorFactory" }

// CreateTablePropertiesCollector draws whether the table is marked.
func (f *stressCollectorFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return &stressCollector{needCompact: f.oneIn > 0 && rand.IntN(f.oneIn) == 0}
}

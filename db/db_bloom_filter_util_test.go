// Port of db/db_bloom_filter_test.cc (its parameters and helpers).

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

// bloomTest is a database under test with a filter's parameters.
type bloomTest struct {
	*dbTest
	impl          string // class name of the filter policy
	partitioned   bool
	decoupled     bool
	formatVersion uint32
	perf          *contract.PerfContext
}

func newBloomTest(t *testing.T) *bloomTest {
	x := &bloomTest{dbTest: newDBTest(t), impl: blockbased.BloomFilterClassName,
		formatVersion: contract.DefaultBlockBasedTableOptions().FormatVersion, perf: new(contract.PerfContext)}
	x.perf.EnablePerLevelPerfContext()
	return x
}

// eachPartitioning runs f with whole and with partitioned filters.
func eachPartitioning(t *testing.T, f func(x *bloomTest)) {
	for _, c := range []struct {
		name                   string
		partitioned, decoupled bool
	}{{"unpartitioned", false, false}, {"coupled", true, false}, {"decoupled", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			x := newBloomTest(t)
			x.partitioned, x.decoupled = c.partitioned, c.decoupled
			f(x)
		})
	}
}

// eachFilterFormat runs f with upstream's combinations of policy, partitioning
// and format version.
func eachFilterFormat(t *testing.T, versions []uint32, f func(x *bloomTest)) {
	for _, v := range versions {
		for _, c := range []struct {
			name, impl             string
			partitioned, decoupled bool
		}{
			{"bloom_coupled", blockbased.BloomFilterClassName, true, false},
			{"bloom_decoupled", blockbased.BloomFilterClassName, true, true},
			{"bloom_unpartitioned", blockbased.BloomFilterClassName, false, false},
			{"ribbon_unpartitioned", blockbased.RibbonFilterClassName, false, false},
		} {
			t.Run(c.name+"_"+string(rune('0'+v)), func(t *testing.T) {
				x := newBloomTest(t)
				x.impl, x.partitioned, x.decoupled, x.formatVersion = c.impl, c.partitioned, c.decoupled, v
				f(x)
			})
		}
	}
}

var bloomFormats = []uint32{contract.DefaultBlockBasedTableOptions().FormatVersion, 7}

// table are table options with the parameters.
func (x *bloomTest) table(bits float64) contract.BlockBasedTableOptions {
	t := contract.DefaultBlockBasedTableOptions()
	t.PartitionFilters = x.partitioned
	if x.partitioned {
		t.IndexType = contract.TwoLevelIndexSearch
		t.DecouplePartitionedFilters = x.decoupled
	}
	t.FilterPolicy = blockbased.CreateBloomLikeFilterPolicy(x.impl, bits)
	t.FormatVersion = x.formatVersion
	return t
}

func withTable(o contract.Options, t contract.BlockBasedTableOptions) contract.Options {
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	return o
}

// lookUp is get, counted in perf.
func (x *bloomTest) lookUp(cf int, key string) string { x.Helper(); return x.getPerf(cf, key, x.perf) }

func (x *bloomTest) wantLookUp(cf int, key, want string) {
	x.Helper()
	if got := x.lookUp(cf, key); got != want {
		x.Fatalf("family %d: %q is %.100q, not %.100q", cf, key, got, want)
	}
}

// pop reads a ticker and sets it to zero.
func (x *dbTest) pop(t contract.Ticker) int { return int(x.last.Statistics.GetAndResetTickerCount(t)) }

func (x *dbTest) wantPop(t contract.Ticker, want int) {
	x.Helper()
	if got := x.pop(t); got != want {
		x.Fatalf("%v is %d, not %d", t, got, want)
	}
}

// wantUseful checks what a level's perf context counted since the last call.
func (x *bloomTest) wantUseful(level, want int) {
	x.Helper()
	l := x.perf.AtLevel(level)
	if int(l.BloomFilterUseful) != want {
		x.Fatalf("level %d: bloom_filter_useful is %d, not %d", level, l.BloomFilterUseful, want)
	}
	l.BloomFilterUseful = 0
}

// usefulOfAllLevels adds up what the levels' filters spared.
func (x *bloomTest) usefulOfAllLevels() (n int) {
	for _, l := range x.perf.LevelToPerfContext {
		n += int(l.BloomFilterUseful)
	}
	return n
}

// changeFilterOptions goes through the configurations with filters.
func (x *dbTest) changeFilterOptions() bool {
	return x.changeTo(map[optionConfig]optionConfig{configDefault: configFilter, configFilter: configFullFilterWithNewTableReaderForCompactions,
		configFullFilterWithNewTableReaderForCompactions: configPartitionedFilterWithNewTableReader})
}

// countFrom counts an iterator's entries from a key on.
func (it testIter) countFrom(key string) (n int) {
	it.x.Helper()
	for it.Seek([]byte(key)); it.Valid(); it.Next() {
		n++
		_, _ = it.Key(), it.Value()
	}
	it.x.must(it.Status())
	return n
}

func (it testIter) wantFrom(key string, want int) {
	it.x.Helper()
	if got := it.countFrom(key); got != want {
		it.x.Fatalf("%d entries from %q, not %d", got, key, want)
	}
}

// customTransform is a prefix extractor made of two functions.
type customTransform struct {
	name      string
	transform func([]byte) []byte
	inDomain  func([]byte) bool
}

func (t *customTransform) Name() string                       { return t.name }
func (t *customTransform) AsString() string                   { return t.name }
func (t *customTransform) Transform(k []byte) []byte          { return t.transform(k) }
func (t *customTransform) InDomain(k []byte) bool             { return t.inDomain(k) }
func (t *customTransform) FullLengthEnabled() (int, bool)     { return 0, false }
func (t *customTransform) SameResultWhenAppended([]byte) bool { return false }
func firstFive(k []byte) []byte                               { return k[:5] }
func limitedDomain() contract.SliceTransform {
	return &customTransform{"SliceTransformLimitedDomain", firstFive, func(k []byte) bool { return len(k) >= 5 && k[0] == 'x' }}
}
func limitedDomainGeneric() contract.SliceTransform {
	return &customTransform{"SliceTransformLimitedDomainGeneric", firstFive, func(k []byte) bool { return len(k) >= 5 }}
}

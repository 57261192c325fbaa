// Port of table/table_factory.cc and of the registrations in
// table/block_based/filter_policy.cc, memtable/*rep.cc and cache/cache.cc.
// Differs: one explicit call registers all.

package builtin

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/memtable"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

var once sync.Once

// RegisterDefault registers everything in the process's registry; further calls
// do nothing.
func RegisterDefault() { once.Do(func() { Register(registry.DefaultLibrary()) }) }

// Register registers everything in l and gives the number of its factories.
func Register(l *registry.Library) int {
	registerTableFactories(l)
	registerFilterPolicies(l)
	memtable.RegisterBuiltinMemTableRepFactory(l)
	registerCaches(l)
	registerRateLimiters(l)
	registerMemoryAllocators(l)
	l.AddFactory(registry.KindCompressionManager, compression.BuiltinCompatibilityName, func(config, string) (any, error) {
		return compression.GetBuiltinV2CompressionManager(), nil
	})
	n, _ := l.GetTotalFactoryCount()
	return n
}

type config = *rocksdb.ConfigOptions

func registerTableFactories(l *registry.Library) {
	l.AddFactory(registry.KindTableFactory, rocksdb.BlockBasedTableName, func(config, string) (any, error) {
		return blockbased.NewBlockBasedTableFactory(nil), nil
	})
	l.AddFactory(registry.KindTableFactory, rocksdb.PlainTableName, func(config, string) (any, error) {
		return plain.NewPlainTableFactory(nil), nil
	})
	l.AddFactory(registry.KindTableFactory, rocksdb.CuckooTableName, func(config, string) (any, error) {
		return cuckoo.NewCuckooTableFactory(nil), nil
	})
	l.AddFactory(registry.KindFlushBlockPolicyFactory, rocksdb.FlushBlockBySizePolicyFactoryName, func(config, string) (any, error) {
		return blockbased.FlushBlockBySizePolicyFactory{}, nil
	})
	l.AddFactory(registry.KindFlushBlockPolicyFactory, blockbased.FlushBlockEveryKeyPolicyFactory{}.Name(), func(config, string) (any, error) {
		return blockbased.FlushBlockEveryKeyPolicyFactory{}, nil
	})
}

func registerFilterPolicies(l *registry.Library) {
	make := func(_ config, id string) (any, error) { return blockbased.FilterPolicyFromString(id) }
	withBits := func(name string) *registry.PatternEntry {
		return registry.NewPatternEntry(name).SetOptional(false).AddNumber(":", false)
	}
	bloom := func() *registry.PatternEntry {
		return withBits(blockbased.BloomFilterClassName).AnotherName(blockbased.BloomFilterNickName)
	}
	ribbon := func() *registry.PatternEntry {
		return withBits(blockbased.RibbonFilterClassName).AnotherName(blockbased.RibbonFilterNickName)
	}
	l.AddFactory(registry.KindFilterPolicy, blockbased.BuiltinFilterCompatibilityName, make)
	for _, e := range []*registry.PatternEntry{
		bloom(), bloom().AddSuffix(":false"), bloom().AddSuffix(":true"),
		ribbon(), ribbon().AddNumber(":", true),
		withBits(blockbased.LegacyBloomFilterClassName), withBits(blockbased.FastLocalBloomFilterClassName),
		withBits(blockbased.Standard128RibbonFilterClassName),
	} {
		l.AddPattern(registry.KindFilterPolicy, e, make)
	}
}

// registerCaches takes the strings that name no scheme: a capacity, or the
// options of an LRU cache.
func registerCaches(l *registry.Library) {
	l.AddPattern(registry.KindCache, registry.NewPatternEntry("").SetOptional(false).AddSeparator("", true),
		func(cfg config, id string) (any, error) { return cache.FromString(cfg, id) })
}

// registerRateLimiters takes bytes a second.
func registerRateLimiters(l *registry.Library) {
	const refillPeriodUs, fairness = 100 * 1000, 10
	l.AddPattern(registry.KindRateLimiter, registry.NewPatternEntry("").SetOptional(false).AddSeparator("", true),
		func(_ config, id string) (any, error) {
			rate, err := util.ParseUint64(id)
			if err != nil {
				return nil, err
			}
			return ratelimiter.NewGenericRateLimiter(int64(rate), refillPeriodUs, fairness, rocksdb.WritesOnly, false, 0)
		})
}

// registerMemoryAllocators refuses those that need C.
func registerMemoryAllocators(l *registry.Library) {
	for _, name := range []string{"DefaultMemoryAllocator", "CountedMemoryAllocator", "JemallocNodumpAllocator", "MemkindKmemAllocator"} {
		l.AddFactory(registry.KindMemoryAllocator, name, func(config, string) (any, error) { return memory.CreateMemoryAllocator(name) })
	}
}

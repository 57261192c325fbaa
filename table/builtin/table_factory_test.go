// Port of options/options_test.cc and options/customizable_test.cc, the cases
// that need the engine's own plug-ins. Differs: the tests of package options use
// plug-ins of their own.

package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func check[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testConfig is strict, with all plug-ins.
func testConfig() config {
	r := registry.NewInstance()
	Register(r.AddNewLibrary("builtin"))
	c := rocksdb.DefaultConfigOptions()
	c.Registry = r
	c.IgnoreUnsupportedOptions = false
	return &c
}

func tableOptions(t *testing.T, text string) rocksdb.BlockBasedTableOptions {
	t.Helper()
	base := rocksdb.DefaultBlockBasedTableOptions()
	o, err := options.GetBlockBasedTableOptionsFromString(testConfig(), &base, text)
	noError(t, err)
	return o
}

func TestLoadCustomizableTest_LoadFilterPolicyTest(t *testing.T) {
	for id, want := range map[string]string{
		"bloomfilter:4.567:false": "bloomfilter:4.567:false", "bloomfilter:4": "bloomfilter:4:false",
		"bloomfilter:4:true": "bloomfilter:4:false", "rocksdb.BloomFilter:1.234": "bloomfilter:1.234:false",
		"ribbonfilter:5.678:-1": "ribbonfilter:5.678:-1", "ribbonfilter:6.789": "ribbonfilter:6.789:0",
		"ribbonfilter:6.789:5": "ribbonfilter:6.789:5", "rocksdb.RibbonFilter:6.789:5": "ribbonfilter:6.789:5",
		"rocksdb.internal.LegacyBloomFilter:3":           "rocksdb.internal.LegacyBloomFilter:3",
		"rocksdb.internal.FastLocalBloomFilter:1.234":    "rocksdb.internal.FastLocalBloomFilter:1.234",
		"rocksdb.internal.Standard128RibbonFilter:1.234": "rocksdb.internal.Standard128RibbonFilter:1.234",
		blockbased.BuiltinFilterCompatibilityName:        blockbased.BuiltinFilterCompatibilityName,
	} {
		check(t, tableOptions(t, "filter_policy="+id).FilterPolicy.ID(), want)
	}
	o := tableOptions(t, "filter_policy=bloomfilter:4.567:false")
	bloom := o.FilterPolicy.(*blockbased.BloomFilterPolicy)
	check(t, bloom.GetMillibitsPerKey(), 4567)
	check(t, bloom.GetWholeBitsPerKey(), 5)
	o = tableOptions(t, "filter_policy=ribbonfilter:6.789:5")
	check(t, o.FilterPolicy.(*blockbased.RibbonFilterPolicy).BloomBeforeLevel(), 5)
	if tableOptions(t, "filter_policy=nullptr").FilterPolicy != nil {
		t.Error("a policy of nullptr")
	}
	base := rocksdb.DefaultBlockBasedTableOptions()
	for _, bad := range []string{"bloomfilter", "bloomfilterxx:4:true", "Mock"} {
		if _, err := options.GetBlockBasedTableOptionsFromString(testConfig(), &base, "filter_policy="+bad); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestLoadCustomizableTest_LoadCacheTest(t *testing.T) {
	capacity := func(text string) *cache.LRUCache {
		t.Helper()
		c, ok := tableOptions(t, "block_cache="+text).BlockCache.(*cache.LRUCache)
		if !ok {
			t.Fatalf("%s gave another cache", text)
		}
		return c
	}
	check(t, capacity("1M").GetCapacity(), 1<<20)
	c := capacity("{capacity=1M;num_shard_bits=4;strict_capacity_limit=true;high_pri_pool_ratio=0.5;}")
	check(t, c.GetCapacity(), 1<<20)
	check(t, c.GetNumShardBits(), 4)
	check(t, c.HasStrictCapacityLimit(), true)
	check(t, c.GetHighPriPoolRatio(), 0.5)
	c = capacity("{capacity=2M}")
	check(t, c.GetCapacity(), 2<<20)
	check(t, c.GetNumShardBits(), cache.GetDefaultCacheShardBits(2<<20, cache.DefaultMinShardSize))
	check(t, c.HasStrictCapacityLimit(), false)
	c = capacity("{num_shard_bits=5;high_pri_pool_ratio=0.5;}")
	check(t, c.GetCapacity(), 0)
	check(t, c.GetNumShardBits(), 5)
	if tableOptions(t, "block_cache=null").BlockCache != nil {
		t.Error("a cache of null")
	}
	base := rocksdb.DefaultBlockBasedTableOptions()
	for _, bad := range []string{"{capacity=1M;num_shard_bits=40}", "x", "Mock://", "{capacity=1M;bad=1}"} {
		if _, err := options.GetBlockBasedTableOptionsFromString(testConfig(), &base, "block_cache="+bad); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
	// A plug-in's options, as CacheLib's build script writes them.
	_, err := options.GetBlockBasedTableOptionsFromString(testConfig(), &base,
		"block_cache={capacity=1M;num_shard_bits=4;secondary_cache={id=CacheLibSecondaryCache;truncate=false}}")
	if err == nil || !strings.Contains(err.Error(), "Unrecognized option: .secondary_cache") {
		t.Error(err)
	}
	cf := rocksdb.DefaultColumnFamilyOptions()
	cf, err = options.GetColumnFamilyOptionsFromString(testConfig(), &cf,
		"blob_cache={capacity=1M;num_shard_bits=4;strict_capacity_limit=true;high_pri_pool_ratio=0.5;};")
	noError(t, err)
	check(t, cf.BlobCache.(*cache.LRUCache).GetNumShardBits(), 4)
}

func TestLoadCustomizableTest_LoadFlushBlockPolicyFactoryTest(t *testing.T) {
	for _, name := range []string{"FlushBlockBySizePolicyFactory", "FlushBlockEveryKeyPolicyFactory"} {
		check(t, tableOptions(t, "flush_block_policy_factory="+name).FlushBlockPolicyFactory.Name(), name)
	}
	base := rocksdb.DefaultBlockBasedTableOptions()
	if _, err := options.GetBlockBasedTableOptionsFromString(testConfig(), &base, "flush_block_policy_factory=Test"); err == nil {
		t.Error("no error")
	}
}

func TestLoadCustomizableTest_LoadMemTableRepFactoryTest(t *testing.T) {
	for id, want := range map[string]string{
		"skip_list": "SkipListFactory", "SkipListFactory": "SkipListFactory", "skip_list:16": "SkipListFactory:16",
		"vector": "VectorRepFactory", "VectorRepFactory:8": "VectorRepFactory",
		"prefix_hash": "HashSkipListRepFactory", "prefix_hash:1000": "HashSkipListRepFactory",
		"hash_linkedlist": "HashLinkListRepFactory", "hash_linkedlist:1000": "HashLinkListRepFactory",
	} {
		f, err := options.GetMemTableRepFactoryFromString(testConfig(), id)
		noError(t, err)
		check(t, f.ID(), want)
	}
	for _, bad := range []string{"skip_list:16:invalid_opt", "cuckoo", "cuckoo:1024", "bad_factory", "invalid_opt=10"} {
		if _, err := options.GetMemTableRepFactoryFromString(testConfig(), bad); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
}

func TestOptionsTest_CheckBlockBasedTableOptions(t *testing.T) {
	cfg := testConfig()
	cf, db := rocksdb.DefaultColumnFamilyOptions(), rocksdb.DefaultDBOptions()
	cf, err := options.GetColumnFamilyOptionsFromString(cfg, &cf, "prefix_extractor=capped:8")
	noError(t, err)
	load := func() *blockbased.BlockBasedTableFactory {
		tf, err := options.CreateFromString[rocksdb.TableFactory](cfg, registry.KindTableFactory, "BlockBasedTable")
		noError(t, err)
		return tf.(*blockbased.BlockBasedTableFactory)
	}
	tf := load()
	noError(t, options.ConfigureObjectFromString(cfg, tf, "block_cache={capacity=1M;num_shard_bits=4;};"+
		"block_size_deviation=101;block_restart_interval=0;index_block_restart_interval=5;"+
		"partition_filters=true;index_type=kHashSearch;no_block_cache=1;"))
	o := tf.Options()
	if o.BlockCache != nil {
		t.Error("a block cache")
	}
	check(t, o.BlockSizeDeviation, 0)
	check(t, o.BlockRestartInterval, 1)
	check(t, o.IndexBlockRestartInterval, 1)
	check(t, o.PartitionFilters, false)
	tf = load()
	noError(t, options.ConfigureObjectFromString(cfg, tf, "no_block_cache=0;"))
	if tf.Options().BlockCache == nil {
		t.Error("no block cache")
	}
	cf.TableFactory = tf
	noError(t, options.ValidateOptions(&db, &cf))

	for _, bad := range []string{"cache_index_and_filter_blocks=1;no_block_cache=1", "pin_l0_filter_and_index_blocks_in_cache=1;no_block_cache=1"} {
		tf = load()
		noError(t, options.ConfigureObjectFromString(cfg, tf, bad))
		cf.TableFactory = tf
		if err := options.ValidateOptions(&db, &cf); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Files that v11.8.1 wrote come out byte for byte with the engine's own
// plug-ins as well.
func TestGoldenOptionsFilesWithOwnPlugins(t *testing.T) {
	for _, name := range []string{"blob_files", "fifo", "filter_prefix", "filter_ribbon", "index_partitioned", "timestamps", "universal", "wal_zstd"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("..", "..", "options", "testdata", "11.8.1", name+".ini"))
			noError(t, err)
			cfg := testConfig()
			cfg.Registry.(*registry.Registry).AddNewLibrary("stress").AddFactory(registry.KindEventListener, "ErrorHandlerListener",
				func(config, string) (any, error) { return listener{}, nil })
			p := options.NewParser()
			noError(t, p.ParseText(cfg, string(want)))
			got, err := options.AppendRocksDBOptions(nil, cfg, p.DBOptions(), p.CFNames(), p.CFOptions())
			noError(t, err)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("written again (-golden +ours):\n%s", diff)
			}
		})
	}
}

type listener struct{ rocksdb.EventListenerBase }

func (listener) Name() string { return "ErrorHandlerListener" }

func TestConfigOptionsTest_ConfiguringOptionsDoesNotRevertRateLimiterBandwidth(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o, err := options.GetOptionsFromString(testConfig(), &o, "rate_limiter_bytes_per_sec=1M")
	noError(t, err)
	check(t, o.RateLimiter.GetBytesPerSecond(), 1<<20)
	o.RateLimiter.SetBytesPerSecond(2 << 20)
	check(t, o.RateLimiter.GetBytesPerSecond(), 2<<20)
	_, err = options.GetOptionsFromString(testConfig(), &o, "")
	noError(t, err)
	check(t, o.RateLimiter.GetBytesPerSecond(), 2<<20)
}

func TestRegisterDefaultMakesTheDefaultTableFactory(t *testing.T) {
	RegisterDefault()
	RegisterDefault()
	cfg := rocksdb.DefaultConfigOptions()
	o := rocksdb.DefaultOptions()
	noError(t, options.OptimizeForPointLookup(&cfg, &o.ColumnFamilyOptions, 10))
	b := o.TableFactory.(*blockbased.BlockBasedTableFactory).Options()
	check(t, b.BlockCache.GetCapacity(), 10<<20)
	check(t, b.FilterPolicy.ID(), "bloomfilter:10:false")
	check(t, b.DataBlockIndexType, rocksdb.DataBlockBinaryAndHash)
	noError(t, options.OptimizeForSmallDB(&cfg, &o, cache.NewLRUCacheOfCapacity(16<<20), nil))
	check(t, o.TableFactory.(*blockbased.BlockBasedTableFactory).Options().IndexType, rocksdb.TwoLevelIndexSearch)
}

type testStatistics struct{ *monitoring.StatisticsImpl }

func (testStatistics) Name() string { return "Test" }

func TestLoadCustomizableTest_LoadStatisticsTest(t *testing.T) {
	cfg := testConfig()
	r := cfg.Registry.(*registry.Registry)
	monitoring.RegisterBuiltinStatistics(r.AddNewLibrary("statistics"))
	stats, err := options.CreateStatisticsFromString(cfg, "")
	noError(t, err)
	check(t, stats.Name(), "BasicStatistics")
	def := rocksdb.DefaultDBOptions()
	_, err = options.GetDBOptionsFromString(cfg, &def, "statistics=Test")
	if err == nil {
		t.Error("made unknown Statistics")
	}
	db, err := options.GetDBOptionsFromString(cfg, &def, "statistics=BasicStatistics")
	noError(t, err)
	check(t, db.Statistics.Name(), "BasicStatistics")
	r.AddNewLibrary("test").AddFactory(registry.KindStatistics, "Test",
		func(config, string) (any, error) { return testStatistics{monitoring.NewStatisticsImpl(nil)}, nil })
	db, err = options.GetDBOptionsFromString(cfg, &def, "statistics=Test")
	noError(t, err)
	check(t, db.Statistics.Name(), "Test")

	inner := func(s rocksdb.Statistics) string {
		return (*s.(rocksdb.Configurable).OptionsPtr(rocksdb.StatisticsOptionsName).(*rocksdb.Statistics)).Name()
	}
	db, err = options.GetDBOptionsFromString(cfg, &def, "statistics={id=Test;inner=BasicStatistics}")
	noError(t, err)
	check(t, db.Statistics.Name(), "Test")
	check(t, inner(db.Statistics), "BasicStatistics")
	stats, err = options.CreateStatisticsFromString(cfg, "id=BasicStatistics;inner=Test")
	noError(t, err)
	check(t, stats.Name(), "BasicStatistics")
	check(t, inner(stats), "Test")
}

// Port of cache/cache.cc: caches of strings.

package cache

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// lruStrings and compressedStrings have the capacity in the type that sizes are
// read as.
type lruStrings struct {
	rocksdb.LRUCacheOptions
	capacity uint64
}

type compressedStrings struct {
	rocksdb.CompressedSecondaryCacheOptions
	capacity uint64
}

var lruTable = options.NewTable[lruStrings]("LRUCacheOptions",
	options.F("capacity", func(o *lruStrings) any { return &o.capacity }, options.Mutable),
	options.F("num_shard_bits", func(o *lruStrings) any { return &o.NumShardBits }, options.Mutable),
	options.F("strict_capacity_limit", func(o *lruStrings) any { return &o.StrictCapacityLimit }, options.Mutable),
	options.F("high_pri_pool_ratio", func(o *lruStrings) any { return &o.HighPriPoolRatio }, options.Mutable),
	options.F("low_pri_pool_ratio", func(o *lruStrings) any { return &o.LowPriPoolRatio }, options.Mutable))

var compressedTable = options.NewTable[compressedStrings]("CompressedSecondaryCacheOptions",
	options.F("capacity", func(o *compressedStrings) any { return &o.capacity }, options.Mutable),
	options.F("num_shard_bits", func(o *compressedStrings) any { return &o.NumShardBits }, options.Mutable),
	options.F("compression_type", func(o *compressedStrings) any { return &o.CompressionType }, options.Mutable),
	options.F("enable_custom_split_merge", func(o *compressedStrings) any { return &o.EnableCustomSplitMerge }, options.Mutable))

// parse sets the options of a string of them.
func parse(cfg *rocksdb.ConfigOptions, text string, table *options.Table, ptr any) error {
	return options.StructCodec("", table).Parse(cfg, "", text, ptr)
}

// FromString makes an LRU cache of a capacity ("8M") or of its options
// ("capacity=8M;num_shard_bits=4"). Strings of other schemes (a "://") are for
// registered caches.
func FromString(cfg *rocksdb.ConfigOptions, value string) (rocksdb.Cache, error) {
	switch {
	case strings.Contains(value, "://"):
		return nil, rocksdb.NotSupported("Could not load Cache", value)
	case !strings.Contains(value, "="):
		n, err := util.ParseSizeT(value)
		if err != nil {
			return nil, err
		}
		return NewLRUCacheOfCapacity(int(n)), nil
	}
	o := lruStrings{LRUCacheOptions: rocksdb.DefaultLRUCacheOptions(0)}
	if err := parse(cfg, value, lruTable, &o); err != nil {
		return nil, err
	}
	o.Capacity = int(o.capacity)
	return NewLRUCache(o.LRUCacheOptions)
}

const compressedScheme = "compressed_secondary_cache://"

// SecondaryCacheFromString makes a compressed secondary cache of
// "compressed_secondary_cache://" and its options, or what is registered for the
// string.
func SecondaryCacheFromString(cfg *rocksdb.ConfigOptions, value string) (rocksdb.SecondaryCache, error) {
	text, ok := strings.CutPrefix(value, compressedScheme)
	if !ok {
		return registry.NewObject[rocksdb.SecondaryCache](cfg, registry.KindSecondaryCache, value)
	}
	o := compressedStrings{CompressedSecondaryCacheOptions: rocksdb.DefaultCompressedSecondaryCacheOptions(0)}
	if err := parse(cfg, text, compressedTable, &o); err != nil {
		return nil, err
	}
	o.Capacity = int(o.capacity)
	return NewCompressedSecondaryCache(o.CompressedSecondaryCacheOptions)
}

// Port of tools/db_bench_tool.cc: NewCache.

package main

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

var admissionPolicies = map[string]rocksdb.TieredAdmissionPolicy{
	"auto": rocksdb.AdmPolicyAuto, "placeholder": rocksdb.AdmPolicyPlaceholder, "allow_cache_hits": rocksdb.AdmPolicyAllowCacheHits,
	"three_queue": rocksdb.AdmPolicyThreeQueue, "allow_all": rocksdb.AdmPolicyAllowAll,
}

// newCache makes a block cache; nil for no capacity.
func (t *tool) newCache(capacity int64) (rocksdb.Cache, error) {
	if capacity <= 0 {
		return nil, nil
	}
	c, err := t.makeCache(capacity)
	if err == nil || isExit(err) {
		return c, err
	}
	t.out.errf("Unable to allocate block cache: %v\n", err)
	return nil, exitCode(1)
}

func isExit(err error) bool {
	_, ok := err.(exitCode)
	return ok
}

func (t *tool) makeCache(capacity int64) (rocksdb.Cache, error) {
	f := &t.flags
	comp, err := t.compressedCacheOptions()
	if err != nil {
		return nil, err
	}
	tiered := f.UseCompressedSecondaryCache && f.UseTieredCache
	var secondary rocksdb.SecondaryCache
	config := rocksdb.DefaultConfigOptions()
	if f.SecondaryCacheURI != "" {
		if f.UseCompressedSecondaryCache && !tiered {
			t.out.errf("Cannot specify both --secondary_cache_uri and --use_compressed_secondary_cache when using a non-tiered cache\n")
			return nil, exitCode(1)
		}
		if secondary, err = cache.SecondaryCacheFromString(&config, f.SecondaryCacheURI); err != nil {
			t.out.errf("No secondary cache registered matching string: %s status=%v\n", f.SecondaryCacheURI, err)
			return nil, exitCode(1)
		}
	} else if f.UseCompressedSecondaryCache && !tiered {
		if secondary, err = cache.NewCompressedSecondaryCache(comp); err != nil {
			return nil, err
		}
	}
	if f.CacheURI != "" {
		c, err := cache.FromString(&config, f.CacheURI)
		if err != nil {
			t.out.errf("No  cache registered matching string: %s status=%v\n", f.CacheURI, err)
			return nil, exitCode(1)
		}
		return c, nil
	}
	o := rocksdb.TieredCacheOptions{CompCacheOpts: comp, NvmSecCache: secondary, TotalCapacity: int(capacity) + comp.Capacity}
	o.CompressedSecondaryRatio = float64(comp.Capacity) / float64(o.TotalCapacity)
	if tiered {
		policy, ok := admissionPolicies[strings.ToLower(f.TieredAdmPolicy)]
		if !ok {
			t.out.errf("Cannot parse admission policy %s\n", f.TieredAdmPolicy)
			return nil, exitCode(1)
		}
		o.AdmPolicy = policy
	}
	seed := int32(t.seedBase) & 0x7fffffff
	if f.CacheType != "lru_cache" { // the kinds of clock cache; see refuseUnbuilt
		hcc := rocksdb.DefaultHyperClockCacheOptions(int(capacity))
		hcc.NumShardBits, hcc.HashSeed = int(f.CacheNumshardbits), seed
		if f.CacheType == "fixed_hyper_clock_cache" {
			hcc.EstimatedEntryCharge = int(f.BlockSize)
		}
		if tiered {
			o.CacheType, o.HCC = rocksdb.CacheTypeHCC, &hcc
			return cache.NewTieredCache(o)
		}
		hcc.SecondaryCache = secondary
		return cache.MakeSharedHyperClockCache(hcc)
	}
	lru := rocksdb.DefaultLRUCacheOptions(int(capacity))
	lru.NumShardBits, lru.HashSeed = int(f.CacheNumshardbits), seed
	lru.HighPriPoolRatio, lru.LowPriPoolRatio = f.CacheHighPriPoolRatio, f.CacheLowPriPoolRatio
	if tiered {
		o.CacheType, o.LRU = rocksdb.CacheTypeLRU, &lru
		return cache.NewTieredCache(o)
	}
	lru.SecondaryCache = secondary
	return cache.MakeSharedLRUCache(lru)
}

func (t *tool) compressedCacheOptions() (rocksdb.CompressedSecondaryCacheOptions, error) {
	f := &t.flags
	o := rocksdb.DefaultCompressedSecondaryCacheOptions(0)
	if !f.UseCompressedSecondaryCache {
		return o, nil
	}
	o.Capacity, o.NumShardBits = int(f.CompressedSecondaryCacheSize), int(f.CompressedSecondaryCacheNumshardbits)
	o.HighPriPoolRatio, o.LowPriPoolRatio = f.CompressedSecondaryCacheHighPriPoolRatio, f.CompressedSecondaryCacheLowPriPoolRatio
	typ, err := t.stringToCompressionType(f.CompressedSecondaryCacheCompressionType)
	if err != nil {
		return o, err
	}
	o.CompressionType, o.CompressionOpts.Level = typ, int(f.CompressedSecondaryCacheCompressionLevel)
	return o, nil
}

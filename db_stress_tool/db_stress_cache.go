// Port of db_stress_tool/db_stress_test_base.cc (NewCache) and
// db_stress_common.cc (CompressedCacheSetCapacityThread).

package dbstresstool

import (
	"math"
	"strings"
	"time"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities"
)

// newCache makes the block cache of all databases; nil without capacity.
func (t *Tool) newCache() (rocksdb.Cache, error) {
	f := t.flags
	if f.CacheSize <= 0 {
		return nil, nil
	}
	secondary, err := t.newSecondaryCache()
	if err != nil {
		return nil, err
	}
	kind, tiered := strings.CutPrefix(f.CacheType, "tiered_")
	size := int(f.CacheSize)
	if f.UseWriteBufferManager {
		size += int(f.DBWriteBufferSize)
	}
	o := rocksdb.TieredCacheOptions{
		TotalCapacity: size, CompressedSecondaryRatio: 0.5, AdmPolicy: rocksdb.TieredAdmissionPolicy(f.AdmPolicy),
		CompCacheOpts: rocksdb.DefaultCompressedSecondaryCacheOptions(0),
	}
	if tiered && o.AdmPolicy == rocksdb.AdmPolicyThreeQueue {
		if o.NvmSecCache, err = cache.NewCompressedSecondaryCache(rocksdb.DefaultCompressedSecondaryCacheOptions(size)); err != nil {
			return nil, err
		}
	}
	switch kind {
	case "clock_cache":
		return nil, rocksdb.InvalidArgument("Old clock cache implementation has been removed.")
	case "fixed_hyper_clock_cache", "auto_hyper_clock_cache", "hyper_clock_cache":
		hcc := rocksdb.DefaultHyperClockCacheOptions(size)
		hcc.NumShardBits = int(f.CacheNumshardbits)
		if kind == "fixed_hyper_clock_cache" {
			hcc.EstimatedEntryCharge = int(f.BlockSize)
		}
		hcc.HashSeed = int32(f.Seed & math.MaxInt32)
		if tiered {
			o.CacheType, o.HCC = rocksdb.CacheTypeHCC, &hcc
			return cache.NewTieredCache(o)
		}
		hcc.SecondaryCache = secondary
		return cache.MakeSharedHyperClockCache(hcc)
	case "lru_cache":
		lru := rocksdb.DefaultLRUCacheOptions(int(f.CacheSize))
		lru.NumShardBits = int(f.CacheNumshardbits)
		lru.MetadataChargePolicy = rocksdb.CacheMetadataChargePolicy(f.MetadataChargePolicy)
		lru.HighPriPoolRatio, lru.LowPriPoolRatio = f.HighPriPoolRatio, f.LowPriPoolRatio
		if tiered {
			o.CacheType, o.LRU = rocksdb.CacheTypeLRU, &lru
			return cache.NewTieredCache(o)
		}
		lru.SecondaryCache = secondary
		return cache.MakeSharedLRUCache(lru)
	}
	return nil, rocksdb.InvalidArgument("Cache type not supported.", f.CacheType)
}

// newSecondaryCache is nil where the flags have none.
func (t *Tool) newSecondaryCache() (rocksdb.SecondaryCache, error) {
	f := t.flags
	tiered := strings.HasPrefix(f.CacheType, "tiered_")
	if f.SecondaryCacheUri != "" {
		if strings.Contains(f.SecondaryCacheUri, "compressed_secondary_cache") &&
			(f.CompressedSecondaryCacheSize != 0 || f.CompressedSecondaryCacheRatio != 0 || tiered) {
			return nil, rocksdb.InvalidArgument("--secondary_cache_uri and another compressed secondary cache")
		}
		o := rocksdb.DefaultConfigOptions()
		c, err := cache.SecondaryCacheFromString(&o, f.SecondaryCacheUri)
		if err != nil {
			return nil, rocksdb.AppendMessage(err, "; ", "No secondary cache registered matching string: "+f.SecondaryCacheUri)
		}
		if f.SecondaryCacheFaultOneIn > 0 {
			c = utilities.NewFaultInjectionSecondaryCache(c, uint32(f.Seed), int(f.SecondaryCacheFaultOneIn))
		}
		return c, nil
	}
	if f.CompressedSecondaryCacheSize == 0 {
		return nil, nil
	}
	if tiered {
		return nil, rocksdb.InvalidArgument("Cannot specify both compressed_secondary_cache_size and " + f.CacheType)
	}
	o := rocksdb.DefaultCompressedSecondaryCacheOptions(int(f.CompressedSecondaryCacheSize))
	o.NumShardBits = int(f.CompressedSecondaryCacheNumshardbits)
	if f.EnableDoNotCompressRoles {
		o.DoNotCompressRoles = 1<<rocksdb.NumCacheEntryRoles - 1
	}
	o.EnableCustomSplitMerge = f.EnableCustomSplitMerge
	c, err := cache.NewCompressedSecondaryCache(o)
	if err != nil {
		return nil, err
	}
	t.compressedSecondary = c
	return c, nil
}

// pause waits as long, or until the test is over.
func (s *stressTest) pause(d time.Duration) {
	const step = 50 * time.Millisecond
	for ; d > 0; d -= step {
		s.shared.mu.Lock()
		stop := s.shared.mu.stopBG
		s.shared.mu.Unlock()
		if stop {
			return
		}
		time.Sleep(min(d, step))
	}
}

// changeCapacities changes the capacities of the caches for a while, and back.
func (s *stressTest) changeCapacities(rnd *util.Random) {
	const lasting = 10 * time.Second
	f, t := s.flags, s.tool
	s.pause(time.Duration(f.SecondaryCacheUpdateInterval) * time.Microsecond)
	set := func(capacity int) {
		err := t.compressedSecondary.SetCapacity(capacity)
		if got, e := t.compressedSecondary.GetCapacity(); err != nil || e != nil || got != capacity {
			t.errf("Compressed cache Set/GetCapacity of %d gave %d: %v\n", capacity, got, err)
		}
	}
	update := func(ratio float64) {
		if err := cache.UpdateTieredCache(t.cache, -1, ratio, rocksdb.AdmPolicyMax); err != nil {
			t.errf("UpdateTieredCache returned error: %v\n", err)
		}
	}
	switch {
	case t.compressedSecondary != nil:
		set(0)
		s.pause(lasting)
		set(int(f.CompressedSecondaryCacheSize))
	case rnd.OneIn(2):
		capacity := t.cache.GetCapacity()
		usable := capacity
		if f.UseWriteBufferManager {
			usable -= int(f.DBWriteBufferSize)
		}
		t.cache.SetCapacity(capacity - usable*int(rnd.Uniform(50))/100)
		t.printf("New cache capacity = %d\n", t.cache.GetCapacity())
		s.pause(lasting)
		t.cache.SetCapacity(capacity)
	default:
		ratio := float64(rnd.Uniform(max(int(f.CompressedSecondaryCacheRatio*100), 1))) / 100
		t.printf("New comp cache ratio = %f\n", ratio)
		update(ratio)
		s.pause(lasting)
		update(f.CompressedSecondaryCacheRatio)
	}
}

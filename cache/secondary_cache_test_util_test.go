// Port of test_util/secondary_cache_test_util.{h,cc}.

package cache

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// createContext makes items, or fails to.
type createContext struct{ fail bool }

type testItem struct{ buf []byte }

func newItem(s []byte) *testItem { return &testItem{append([]byte(nil), s...)} }

var (
	itemBasicHelpers, itemHelpers, itemFailHelpers [rocksdb.NumCacheEntryRoles]rocksdb.CacheItemHelper
)

func init() {
	for i := range itemHelpers {
		role := rocksdb.CacheEntryRole(i)
		itemBasicHelpers[i] = rocksdb.CacheItemHelper{Role: role}
		itemHelpers[i] = rocksdb.CacheItemHelper{
			Role:   role,
			SizeOf: func(obj any) int { return len(obj.(*testItem).buf) },
			SaveTo: func(obj any, from int, out []byte) error {
				if from != 0 || len(out) != len(obj.(*testItem).buf) {
					return rocksdb.InvalidArgument("a part of an item")
				}
				copy(out, obj.(*testItem).buf)
				return nil
			},
			Create: func(data []byte, _ rocksdb.CompressionType, _ rocksdb.CacheTier, ctx rocksdb.CacheCreateContext, _ rocksdb.MemoryAllocator) (any, int, error) {
				if ctx.(*createContext).fail {
					return nil, 0, rocksdb.NotSupported("create")
				}
				return newItem(data), len(data), nil
			},
			WithoutSecondaryCompat: &itemBasicHelpers[i],
		}
		itemFailHelpers[i] = itemHelpers[i]
		itemFailHelpers[i].SaveTo = func(any, int, []byte) error { return rocksdb.NotSupported("save") }
	}
}

var (
	itemHelper     = &itemHelpers[rocksdb.CacheEntryRoleDataBlock]
	itemFailHelper = &itemFailHelpers[rocksdb.CacheEntryRoleDataBlock]
)

var testingCacheTypes = []string{"lru", "fixed_hyper_clock", "auto_hyper_clock"}

// eachCacheType runs a test for each type of primary cache.
func eachCacheType(t *testing.T, f func(t *testing.T, typ string)) {
	for _, typ := range testingCacheTypes {
		t.Run(typ, func(t *testing.T) { f(t, typ) })
	}
}

// newCacheOfType makes a cache that charges no metadata.
func newCacheOfType(t *testing.T, typ string, capacity, estimate int, modify func(o *rocksdb.ShardedCacheOptions)) rocksdb.Cache {
	t.Helper()
	var c rocksdb.Cache
	var err error
	if typ == "lru" {
		o := rocksdb.DefaultLRUCacheOptions(capacity)
		o.HashSeed = 0
		modify(&o.ShardedCacheOptions)
		c, err = MakeSharedLRUCache(o)
	} else {
		o := rocksdb.DefaultHyperClockCacheOptions(capacity)
		if typ == "fixed_hyper_clock" {
			o.EstimatedEntryCharge = estimate
		}
		o.MinAvgEntryCharge = max(1, estimate/2)
		o.HashSeed = 0
		modify(&o.ShardedCacheOptions)
		c, err = MakeSharedHyperClockCache(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newCacheAbove is a cache of one shard above a secondary cache.
func newCacheAbove(t *testing.T, typ string, capacity int, strict bool, secondary rocksdb.SecondaryCache) rocksdb.Cache {
	t.Helper()
	return newCacheOfType(t, typ, capacity, 1, func(o *rocksdb.ShardedCacheOptions) {
		o.NumShardBits, o.StrictCapacityLimit, o.MetadataChargePolicy, o.SecondaryCache = 0, strict, dontCharge, secondary
	})
}

// compressibleString is n bytes that compress to about a part of them.
func compressibleString(rnd *util.Random, part float64, n int) []byte {
	raw := []byte(rnd.RandomString(max(int(float64(n)*part), 1)))
	var b []byte
	for len(b) < n {
		b = append(b, raw...)
	}
	return b[:n]
}

// NewCacheAbove is newCacheAbove without a strict limit, for tests of databases.
func NewCacheAbove(t *testing.T, typ string, capacity int, secondary rocksdb.SecondaryCache) rocksdb.Cache {
	return newCacheAbove(t, typ, capacity, false, secondary)
}

// Port of db/db_bloom_filter_test.cc (ChargeFilterConstructionTestWithParam).

package db_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

// chargeTracker is a cache that notes the peaks of what one role is charged.
// Upstream: TargetCacheChargeTrackingCache.
type chargeTracker struct {
	contract.Cache
	helper               *contract.CacheItemHelper
	now, peak, rise, sum int
	peaks                []int
	falling              bool
}

func trackCharges(c contract.Cache, role contract.CacheEntryRole) *chargeTracker {
	return &chargeTracker{Cache: c, helper: cache.PlaceholderHelper(role)}
}

func (c *chargeTracker) Insert(key []byte, obj any, helper *contract.CacheItemHelper, charge int, p contract.CachePriority, want bool) (contract.CacheHandle, error) {
	h, err := c.Cache.Insert(key, obj, helper, charge, p, want)
	if helper == c.helper {
		if c.falling {
			c.peak, c.rise, c.falling = 0, 0, false
		}
		if err == nil {
			c.now += charge
		}
		c.peak = max(c.peak, c.now)
		c.rise += charge
	}
	return h, err
}

func (c *chargeTracker) Release(h contract.CacheHandle, erase bool) bool {
	if c.GetCacheItemHelper(h) == c.helper {
		if !c.falling {
			c.peaks = append(c.peaks, c.peak)
			c.sum += c.rise
			c.falling = true
		}
		c.now -= c.GetCharge(h)
	}
	return c.Cache.Release(h, erase)
}

func TestChargeFilterConstructionTestWithParam_Basic(t *testing.T) {
	const legacy, bloom, ribbon = blockbased.LegacyBloomFilterClassName, blockbased.FastLocalBloomFilterClassName, blockbased.Standard128RibbonFilterClassName
	for _, c := range []struct {
		charge                 bool
		impl                   string
		partitioned, decoupled bool
		detect                 bool
	}{
		{false, bloom, false, false, false}, {true, bloom, false, false, false}, {true, bloom, false, false, true}, {true, bloom, true, false, false},
		{true, bloom, true, false, true}, {true, bloom, true, true, true}, {true, ribbon, false, false, false}, {true, ribbon, false, false, true},
		{true, ribbon, true, false, false}, {true, ribbon, true, false, true}, {true, ribbon, true, true, true}, {true, legacy, false, false, false},
	} {
		t.Run(fmt.Sprintf("charge=%v/%s/%v/%v/detect=%v", c.charge, c.impl, c.partitioned, c.decoupled, c.detect), func(t *testing.T) {
			x := newBloomTest(t)
			x.impl, x.partitioned, x.decoupled = c.impl, c.partitioned, c.decoupled
			x.filterConstruction(c.charge, c.detect)
		})
	}
}

// filterConstruction builds a table of so many keys that their hashes are a
// multiple of what is charged at a time.
func (x *bloomTest) filterConstruction(charge, detect bool) {
	x.Helper()
	const unit = cache.DummyEntrySize
	ribbon := x.impl == blockbased.Standard128RibbonFilterClassName
	none := !charge || x.impl == blockbased.LegacyBloomFilterClassName
	units := 1 // of hashes
	switch {
	case x.partitioned:
		units = 18 // two partitions
	case ribbon:
		units = 12 // or the filter would be no peak of its own
	}
	keys := units * unit / 8
	if none {
		keys = 5
	}
	co := contract.DefaultLRUCacheOptions(100 << 20)
	co.NumShardBits, co.StrictCapacityLimit = 0, true
	lru, err := rocksdb.NewLRUCacheWithOptions(co)
	x.must(err)
	tracker := trackCharges(lru, contract.CacheEntryRoleFilterConstruction)
	table := x.table(10)
	decision := contract.CacheEntryRoleDisabled
	if charge {
		decision = contract.CacheEntryRoleEnabled
	}
	table.CacheUsageOptions.OptionsOverrides = map[contract.CacheEntryRole]contract.CacheEntryRoleOptions{
		contract.CacheEntryRoleFilterConstruction: {Charged: decision},
	}
	table.DetectFilterConstructCorruption, table.BlockCache = detect, tracker
	if x.partitioned {
		table.MetadataBlockSize = 409000
	}
	o := withTable(x.currentOptions(), table)
	o.WriteBufferSize, o.DisableAutoCompactions, o.Compression = 640<<20, true, contract.NoCompression
	x.destroyAndReopen(o)
	wo := contract.DefaultWriteOptions()
	wo.DisableWAL = true
	b := rocksdb.NewWriteBatch()
	for i := range keys {
		x.must(b.Put([]byte(key(i)), nil))
		if i%1000 == 999 || i == keys-1 {
			x.must(x.db.Write(&wo, b))
			b.Clear()
		}
	}
	if tracker.sum != 0 {
		x.Fatal("flushed too early")
	}
	x.flush(0)
	if none {
		if len(tracker.peaks) != 0 {
			x.Errorf("%d peaks", len(tracker.peaks))
		}
		return
	}
	within := func(what string, got, want int) {
		x.Helper()
		if d := math.Abs(float64(got - want)); d > 0.1*float64(want) {
			x.Errorf("%s: %d bytes, not about %d; peaks %v", what, got, want, tracker.peaks)
		}
	}
	wantPeaks := func(least, most int) {
		x.Helper()
		if n := len(tracker.peaks); n < least || n > most {
			x.Fatalf("%d peaks, not %d to %d", n, least, most)
		}
	}
	factor := 1.0
	if ribbon {
		factor = 0.7
	}
	hashes := units * unit
	filter := int(math.Ceil(float64(units)/6*factor)) * unit
	banding := int(math.Ceil(float64(units)*2.5)) * unit
	if !ribbon {
		banding = 0
	}
	switch {
	case x.partitioned:
		least := 2
		if ribbon && !detect {
			least = 3
		}
		wantPeaks(least, 1<<30)
		within("all rises", tracker.sum, hashes+banding+filter)
	case ribbon && !detect:
		wantPeaks(2, 2) // hashes are given back before the filter is charged
		within("first peak", tracker.peaks[0], hashes+banding)
	default:
		wantPeaks(1, 1)
		if tracker.peaks[0] <= hashes {
			x.Errorf("peak of %d, hashes of %d", tracker.peaks[0], hashes)
		}
		within("peak", tracker.peaks[0], hashes+banding+filter)
	}
}

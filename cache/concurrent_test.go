// No upstream twin: every kind of cache under many goroutines.

package cache

import (
	"encoding/binary"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// crowdObject is what is cached; it notices when it is freed twice or too early.
type crowdObject struct {
	key   uint64
	freed atomic.Bool
}

// crowd counts objects made and freed.
type crowd struct {
	t           *testing.T
	made, freed atomic.Int64
	helper      *rocksdb.CacheItemHelper
}

const crowdSize = 400 // bytes of an object below

func newCrowd(t *testing.T) *crowd {
	w := &crowd{t: t}
	free := func(obj any) {
		if obj.(*crowdObject).freed.Swap(true) {
			t.Error("freed twice")
		}
		w.freed.Add(1)
	}
	w.helper = &rocksdb.CacheItemHelper{
		Role: rocksdb.CacheEntryRoleDataBlock, Deleter: free,
		SizeOf: func(any) int { return crowdSize },
		SaveTo: func(obj any, from int, out []byte) error {
			clear(out)
			if obj.(*crowdObject).freed.Load() {
				t.Error("a freed object is saved")
			}
			binary.LittleEndian.PutUint64(out, obj.(*crowdObject).key)
			return nil
		},
		Create: func(data []byte, _ rocksdb.CompressionType, _ rocksdb.CacheTier, _ rocksdb.CacheCreateContext, _ rocksdb.MemoryAllocator) (any, int, error) {
			return w.object(binary.LittleEndian.Uint64(data)), crowdSize, nil
		},
		WithoutSecondaryCompat: &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleDataBlock, Deleter: free},
	}
	return w
}

func (w *crowd) object(key uint64) *crowdObject {
	w.made.Add(1)
	return &crowdObject{key: key}
}

// use does a goroutine's share.
func (w *crowd) use(c rocksdb.Cache, seed int64, ops int) {
	rnd := rand.New(rand.NewSource(seed))
	var held []rocksdb.CacheHandle
	for range ops {
		k := uint64(rnd.Intn(600))
		key := CacheKey{7, k}.AsSlice()
		var h rocksdb.CacheHandle
		switch op := rnd.Intn(20); {
		case op == 0:
			c.Erase(key)
			continue
		case op == 1:
			c.ApplyToAllEntries(func(_ []byte, obj any, _ int, _ *rocksdb.CacheItemHelper) {
				if o, ok := obj.(*crowdObject); ok && o.freed.Load() {
					w.t.Error("a freed object is in the cache")
				}
			})
			continue
		case op < 5:
			l := rocksdb.AsyncLookupHandle{Key: key, Helper: w.helper, Priority: rocksdb.CachePriorityLow}
			rocksdb.StartAsyncLookup(c, &l)
			h = rocksdb.WaitAsyncLookup(c, &l)
		default:
			h = c.Lookup(key, w.helper, nil, rocksdb.CachePriorityLow, nil)
		}
		if h == nil {
			o := w.object(k)
			var err error
			if h, err = c.Insert(key, o, w.helper, crowdSize, rocksdb.CachePriority(rnd.Intn(3)), true); err != nil {
				w.helper.Deleter(o) // it stayed ours
				continue
			}
		}
		if o := h.Value().(*crowdObject); o.key != k || o.freed.Load() {
			w.t.Error("a wrong or freed object")
		}
		if rnd.Intn(8) == 0 && len(held) < 4 {
			held = append(held, h)
			continue
		}
		c.Release(h, rnd.Intn(30) == 0)
	}
	for _, h := range held {
		c.Release(h, false)
	}
}

// TestCacheCrowd: caches under 32 goroutines free every object once, never pass a
// strict limit, and have nothing pinned in the end.
func TestCacheCrowd(t *testing.T) {
	const capacity = 64 << 10
	compressed := func() *CompressedSecondaryCache {
		o := rocksdb.DefaultCompressedSecondaryCacheOptions(16 << 10)
		o.NumShardBits = 1
		c, err := NewCompressedSecondaryCache(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	newCache := func(kind string, strict bool) (c rocksdb.Cache, err error) {
		lru, hcc := rocksdb.DefaultLRUCacheOptions(capacity), rocksdb.DefaultHyperClockCacheOptions(capacity)
		lru.StrictCapacityLimit, hcc.StrictCapacityLimit = strict, strict
		lru.NumShardBits, hcc.NumShardBits = 1, 1
		switch kind {
		case "LRU":
			return MakeSharedLRUCache(lru)
		case "FixedHyperClock":
			hcc.EstimatedEntryCharge = crowdSize
			return MakeSharedHyperClockCache(hcc)
		case "AutoHyperClock":
			return MakeSharedHyperClockCache(hcc)
		case "CompressedSecondary":
			hcc.SecondaryCache = compressed()
			return MakeSharedHyperClockCache(hcc)
		case "CompressedSecondaryLRU":
			lru.SecondaryCache = compressed()
			return MakeSharedLRUCache(lru)
		}
		o := rocksdb.TieredCacheOptions{
			HCC: &hcc, CacheType: rocksdb.CacheTypeHCC, TotalCapacity: 2 << 20, CompressedSecondaryRatio: 0.4,
			CompCacheOpts: rocksdb.DefaultCompressedSecondaryCacheOptions(0),
		}
		if kind == "ThreeTiers" {
			o.NvmSecCache = compressed()
		}
		return NewTieredCache(o)
	}
	for _, kind := range []string{"LRU", "FixedHyperClock", "AutoHyperClock", "CompressedSecondary", "CompressedSecondaryLRU", "Tiered", "ThreeTiers"} {
		for _, strict := range []bool{false, true} {
			name := kind
			if strict {
				name += "Strict"
			}
			t.Run(name, func(t *testing.T) {
				w := newCrowd(t)
				c, err := newCache(kind, strict)
				if err != nil {
					t.Fatal(err)
				}
				idle := c.GetPinnedUsage() // a tiered cache's reservation
				var users sync.WaitGroup
				for g := range 32 {
					users.Add(1)
					go func() {
						defer users.Done()
						w.use(c, int64(g), 300)
						if strict && c.GetUsage() > c.GetCapacity() {
							t.Errorf("usage %d of %d", c.GetUsage(), c.GetCapacity())
						}
					}()
				}
				stop, watched := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(watched)
					for strict {
						select {
						case <-stop:
							return
						default:
						}
						if u := c.GetUsage(); u > c.GetCapacity() {
							t.Errorf("usage %d of %d", u, c.GetCapacity())
							return
						}
					}
				}()
				users.Wait()
				close(stop)
				<-watched
				if n := c.GetPinnedUsage(); n != idle {
					t.Errorf("%d bytes are pinned, %d without users", n, idle)
				}
				c.EraseUnRefEntries()
				if w.made.Load() != w.freed.Load() {
					t.Errorf("%d objects made, %d freed", w.made.Load(), w.freed.Load())
				}
				if a, ok := c.(*CacheWithSecondaryAdapter); ok {
					if s, ok := a.GetSecondaryCache().(*CompressedSecondaryCache); ok && s.GetPinnedUsage() != 0 {
						t.Errorf("%d bytes are pinned below", s.GetPinnedUsage())
					}
				}
			})
		}
	}
}

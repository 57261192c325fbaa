// Port of cache/lru_cache_test.cc.

package cache

import (
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type shardTest struct {
	t *testing.T
	s *lruCacheShard
}

var noopHelper = &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}

func newShardTest(t *testing.T, capacity int, high, low float64) *shardTest {
	s := &lruCacheShard{}
	s.init(capacity, &rocksdb.LRUCacheOptions{
		ShardedCacheOptions: rocksdb.ShardedCacheOptions{MetadataChargePolicy: rocksdb.DontChargeCacheMetadata, NumShardBits: 8},
		HighPriPoolRatio:    high, LowPriPoolRatio: low,
	})
	return &shardTest{t, s}
}

func (c *shardTest) insertCharge(key string, p rocksdb.CachePriority, charge int) {
	c.t.Helper()
	k := makeLRUKey([]byte(key))
	if _, err := c.s.insert(&k, 0, nil, noopHelper, charge, p, false); err != nil {
		c.t.Fatal(err)
	}
}

// do runs steps: +x inserts x at low priority, ^x at high, _x at bottom, -x
// erases x, ?x looks x up, which has to be there, and !x looks x up, which must
// not. An element may be followed by the list expected, as =abc/high,low,bottom.
func (c *shardTest) do(steps string) {
	c.t.Helper()
	for _, step := range strings.Fields(steps) {
		key := step[1:]
		switch step[0] {
		case '+':
			c.insertCharge(key, rocksdb.CachePriorityLow, 1)
		case '^':
			c.insertCharge(key, rocksdb.CachePriorityHigh, 1)
		case '_':
			c.insertCharge(key, rocksdb.CachePriorityBottom, 1)
		case '-':
			k := makeLRUKey([]byte(key))
			c.s.erase(&k, 0)
		case '?', '!':
			k := makeLRUKey([]byte(key))
			h := c.s.lookup(&k, 0)
			if (h != nil) != (step[0] == '?') {
				c.t.Fatalf("lookup of %q: found is %v", key, h != nil)
			}
			if h != nil {
				c.s.release(h, false)
			}
		case '=':
			c.validate(step)
		}
	}
}

func (c *shardTest) validate(step string) {
	c.t.Helper()
	keys, counts, _ := strings.Cut(step[1:], "/")
	var got strings.Builder
	var n [3]int // high, low, bottom
	m := &c.s.mu
	pool := 2
	if m.lruBottomPri == &m.lru {
		pool = 1
	}
	if m.lruLowPri == &m.lru {
		pool = 0
	}
	for h := m.lru.next; h != &m.lru; h = h.next {
		got.Write(h.AppendKey(nil))
		n[pool]++
		if h.is(flagInHighPriPool) != (pool == 0) || h.is(flagInLowPriPool) != (pool == 1) {
			c.t.Fatalf("%s: flags of %q do not fit pool %d", step, h.AppendKey(nil), pool)
		}
		if h == m.lruBottomPri {
			pool = 1
		}
		if h == m.lruLowPri {
			pool = 0
		}
	}
	if pool != 0 {
		c.t.Fatalf("%s: the list ends in pool %d", step, pool)
	}
	var want [3]int
	for i, f := range strings.Split(counts, ",") {
		want[i] = int(f[0] - '0')
	}
	if got.String() != keys || n != want {
		c.t.Fatalf("list is %s/%v, want %s", got.String(), n, step)
	}
}

func TestLRUCacheTest_BasicLRU(t *testing.T) {
	c := newShardTest(t, 5, 0, 1)
	c.do("+a +b +c +d +e =abcde/0,5,0 +x +y +z =dexyz/0,5,0 !b =dexyz/0,5,0 ?e =dxyze/0,5,0 ?z =dxyez/0,5,0" +
		" -x =dyez/0,4,0 ?d =yezd/0,4,0 +u =yezdu/0,5,0 +v =ezduv/0,5,0")
}

func TestLRUCacheTest_LowPriorityMidpointInsertion(t *testing.T) {
	c := newShardTest(t, 5, 0.40, 0.60)
	c.do("+a +b +c ^x ^y =abcxy/2,3,0 +d =bcdxy/2,3,0 ?d =bcxyd/2,3,0 ^z =cxydz/2,3,0")
}

func TestLRUCacheTest_BottomPriorityMidpointInsertion(t *testing.T) {
	c := newShardTest(t, 6, 0.35, 0.35)
	c.do("_a _b +i +j ^x ^y =abijxy/2,2,2 +k =bijkxy/2,2,2 ?k =bijxyk/2,2,2 ^z =ijxykz/2,2,2 -x =ijykz/2,1,2 -y =ijkz/2,0,2" +
		" _c =ijckz/2,0,3 _d =ijcdkz/2,0,4 _e =jcdekz/2,0,4 +l =cdelkz/2,1,3 +m =delmkz/2,2,2 -k =delmz/1,2,2 -z =delm/0,2,2" +
		" _f =deflm/0,2,3 _g =defglm/0,2,4 ^o =efglmo/1,2,3 ^p =fglmop/2,2,2")
}

func TestLRUCacheTest_EntriesWithPriority(t *testing.T) {
	c := newShardTest(t, 6, 0.35, 0.35)
	c.do("+a +b =ab/0,2,0 +c =abc/0,2,1 +t +u =abctu/0,2,3 +v =abctuv/0,2,4 +w =bctuvw/0,2,4 ^X ^Y =tuvwXY/2,2,2" +
		" ^Z =uvwXYZ/2,2,2 +a =vwXaYZ/2,2,2 ?v =wXaYZv/2,2,2 ?X =waYZvX/2,2,2 ?Z =waYvXZ/2,2,2 -Y =wavXZ/2,1,2 -X =wavZ/1,1,2" +
		" +d +e =wavdeZ/1,2,3 +f +g =vdefgZ/1,2,3 ?d =vefgZd/2,2,2 -e -f -Z =vgd/1,1,1 _o =vogd/1,1,2 _p =vopgd/1,1,3" +
		" _q =vopqgd/1,1,4 ^x =opqgdx/2,1,3 ^y =pqgdxy/2,2,2 ^z =qgdxyz/2,2,2 ?g =qdxyzg/2,2,2 ?z =qdxygz/2,2,2 ?d =qxygzd/2,2,2" +
		" _m =xmygzd/2,2,2 ?m =xygzdm/2,2,2")
}

func TestLRUCacheTest_InsertAfterReducingCapacity(t *testing.T) {
	c := newShardTest(t, 10, 0.2, 0.8)
	c.do("^x ^y")
	c.s.setCapacity(5)
	c.insertCharge("aaa", rocksdb.CachePriorityLow, 3)
	// x must have been charged to the low pool when it left the high one.
	if m := &c.s.mu; m.highPriPoolUsage != 1 || m.lowPriPoolUsage != 4 || m.lruUsage != 5 {
		t.Fatalf("usage: high %d, low %d, list %d", m.highPriPoolUsage, m.lowPriPoolUsage, m.lruUsage)
	}
}

// No upstream twin. Strategy: goroutines use a small cache at random with
// deleters that count; invariant: what went in comes out once, and an object is
// never freed while its handle is held.
func TestLRUCache_Concurrent(t *testing.T) {
	opts := rocksdb.DefaultLRUCacheOptions(64 << 10)
	opts.NumShardBits = 2
	c, err := NewLRUCache(opts)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		mu    sync.Mutex
		freed int
	}
	helper := &rocksdb.CacheItemHelper{Deleter: func(o any) {
		x := o.(*object)
		x.mu.Lock()
		x.freed++
		x.mu.Unlock()
	}}
	var mu sync.Mutex
	var all []*object
	base := NewOffsetableCacheKey("id", "AAAAAAAAAAAAAAAAAAAA", 7)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewSource(int64(g)))
			for range 5000 {
				key := base.WithOffset(uint64(r.Intn(200)))
				h := c.LookupKey(key)
				if h == nil {
					o := &object{}
					mu.Lock()
					all = append(all, o)
					mu.Unlock()
					var err error
					if h, err = c.InsertKey(key, o, helper, 300+r.Intn(500), rocksdb.CachePriority(r.Intn(3)), true); err != nil {
						t.Error(err)
						return
					}
				}
				o := h.Value().(*object)
				o.mu.Lock()
				if o.freed != 0 {
					t.Error("freed while in use")
				}
				o.mu.Unlock()
				c.ReleaseHandle(h, r.Intn(20) == 0)
				if r.Intn(50) == 0 {
					c.Erase(key.AsSlice())
				}
			}
		}()
	}
	wg.Wait()
	if got := c.GetPinnedUsage(); got != 0 {
		t.Errorf("pinned usage is %d", got)
	}
	if c.GetUsage() > c.GetCapacity()+4*1000 {
		t.Errorf("usage %d is above capacity %d", c.GetUsage(), c.GetCapacity())
	}
	c.EraseUnRefEntries()
	if c.GetUsage() != 0 || c.GetOccupancyCount() != 0 {
		t.Errorf("usage %d, entries %d after all were erased", c.GetUsage(), c.GetOccupancyCount())
	}
	for _, o := range all {
		if o.freed != 1 {
			t.Fatalf("freed %d times", o.freed)
		}
	}
}

func BenchmarkLRUCacheLookupRelease(b *testing.B) {
	c := NewLRUCacheOfCapacity(64 << 20)
	base := NewOffsetableCacheKey("id", "AAAAAAAAAAAAAAAAAAAA", 7)
	for i := range 4096 {
		if _, err := c.InsertKey(base.WithOffset(uint64(i)), nil, noopHelper, 4096, rocksdb.CachePriorityLow, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i = (i*1103515245 + 12345) & 4095
		h := c.LookupKey(base.WithOffset(i))
		c.ReleaseHandle(h, false)
	}
}

// The hot path must not allocate.
func TestLRUCache_LookupAllocations(t *testing.T) {
	c := NewLRUCacheOfCapacity(1 << 20)
	key := NewOffsetableCacheKey("id", "AAAAAAAAAAAAAAAAAAAA", 7).WithOffset(1)
	if _, err := c.InsertKey(key, t, noopHelper, 1, rocksdb.CachePriorityLow, false); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { c.ReleaseHandle(c.LookupKey(key), false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

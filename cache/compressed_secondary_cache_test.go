// Port of cache/compressed_secondary_cache_test.cc. Differs: counts are the
// caches' own; an allocator of the engine's stands for jemalloc's.

package cache

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// Keys of 16 bytes, as HyperClockCache needs.
var testKeys = [4][]byte{[]byte("____    ____key0"), []byte("____    ____key1"), []byte("____    ____key2"), []byte("____    ____key3")}

// secTest drives a compressed secondary cache.
type secTest struct {
	*testing.T
	c   *CompressedSecondaryCache
	ctx createContext
	was CompressedSecondaryCounters
}

func newSecTest(t *testing.T, o rocksdb.CompressedSecondaryCacheOptions) *secTest {
	t.Helper()
	c, err := NewCompressedSecondaryCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return &secTest{T: t, c: c}
}

func (s *secTest) insert(key []byte, value []byte) {
	s.Helper()
	if err := s.c.Insert(key, newItem(value), itemHelper, false); err != nil {
		s.Fatal(err)
	}
}

// lookup gives the item, nil for a miss.
func (s *secTest) lookup(key []byte, adviseErase bool) (item *testItem, kept bool) {
	h, kept := s.c.Lookup(key, itemHelper, &s.ctx, true, adviseErase, nil)
	if h == nil {
		return nil, kept
	}
	return h.Value().(*testItem), kept
}

func (s *secTest) missing(key []byte, adviseErase bool) {
	s.Helper()
	if item, _ := s.lookup(key, adviseErase); item != nil {
		s.Fatalf("%s is there", key)
	}
}

func (s *secTest) has(key, want []byte, adviseErase, wantKept bool) {
	s.Helper()
	item, kept := s.lookup(key, adviseErase)
	if item == nil || !bytes.Equal(item.buf, want) || kept != wantKept {
		s.Fatalf("%s: found %t, kept %t", key, item != nil, kept)
	}
}

// counts checks what has been inserted so far.
func (s *secTest) counts(dummies, reals uint64) {
	s.Helper()
	if got := s.c.Counters(); got.InsertDummy != dummies || got.InsertReal != reals {
		s.Fatalf("%+v, want %d placeholders and %d entries", got, dummies, reals)
	}
}

// bytes gives the bytes compressed since the last call.
func (s *secTest) bytes() (uncompressed, compressed uint64) {
	now := s.c.Counters()
	uncompressed, compressed = now.UncompressedBytes-s.was.UncompressedBytes, now.CompressedBytes-s.was.CompressedBytes
	s.was = now
	return uncompressed, compressed
}

func (s *secTest) compressedTo(n int, compressed bool, from, to uint64) {
	s.Helper()
	u, c := s.bytes()
	if !compressed {
		if u != 0 || c != 0 {
			s.Fatalf("%d bytes were compressed", u)
		}
		return
	}
	if u != uint64(n) || c < from || c > to {
		s.Fatalf("%d bytes compressed to %d, want %d to %d..%d", u, c, n, from, to)
	}
}

func (s *secTest) charge(key []byte) int {
	h := s.c.cache.Lookup(key, nil, nil, 0, nil)
	if h == nil {
		return 0
	}
	defer s.c.cache.Release(h, false)
	return s.c.cache.GetCharge(h)
}

func (s *secTest) basic(compressed bool) {
	s.Helper()
	key0, key1, key2, key3 := testKeys[0], testKeys[1], testKeys[2], testKeys[3]
	s.missing(key0, true)
	rnd := util.NewRandom(301)
	str1 := compressibleString(rnd, 0.5, 1000)
	// The first time a placeholder is inserted.
	s.insert(key1, str1)
	s.counts(1, 0)
	s.compressedTo(0, false, 0, 0)
	s.missing(key1, false)
	s.insert(key1, str1)
	s.counts(1, 1)
	if c := s.charge(key1); compressed && (c <= 250 || c >= 750) || !compressed && (c < 1000 || c > 1048) {
		s.Fatalf("charge %d", c)
	}
	s.has(key1, str1, true, false)
	s.compressedTo(1000, compressed, 251, 749)
	s.missing(key1, true)

	str2 := compressibleString(rnd, 0.5, 1017)
	s.insert(key2, str2)
	s.counts(2, 1)
	s.missing(key2, false)
	s.insert(key2, str2)
	s.counts(2, 2)
	s.compressedTo(1017, compressed, 255, 762)
	s.has(key2, str2, false, true)
	s.c.WaitAll(nil)

	str3 := []byte(rnd.RandomBinaryString(480)) // cannot be compressed
	s.insert(key3, str3)
	s.counts(3, 2)
	s.missing(key3, false)
	s.insert(key3, str3)
	s.counts(3, 3)
	s.compressedTo(480, compressed, 480, 480)
	s.has(key3, str3, false, true)
	if c := s.charge(key3); c < 480 || c > 512 {
		s.Fatalf("charge %d", c)
	}
}

func eachBool(t *testing.T, name string, f func(t *testing.T, on bool)) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprintf("%s=%t", name, on), func(t *testing.T) { f(t, on) })
	}
}

// compressedOptions are of one shard.
func compressedOptions(capacity int, compressed bool) rocksdb.CompressedSecondaryCacheOptions {
	o := rocksdb.DefaultCompressedSecondaryCacheOptions(capacity)
	o.NumShardBits = 0
	if !compressed {
		o.CompressionType = rocksdb.NoCompression
	}
	return o
}

func TestCompressedSecCacheTestWithCompressAndAllocatorParam_BasicTes(t *testing.T) {
	eachBool(t, "compressed", func(t *testing.T, compressed bool) {
		eachBool(t, "allocator", func(t *testing.T, allocator bool) {
			o := compressedOptions(2048, compressed)
			if allocator {
				o.MemoryAllocator = memory.DefaultMemoryAllocator{}
			}
			newSecTest(t, o).basic(compressed)
		})
	})
}

func fromStringTest(t *testing.T, more string) {
	eachBool(t, "compressed", func(t *testing.T, compressed bool) {
		typ := "kNoCompression"
		if compressed {
			typ = "kLZ4Compression"
		}
		o := rocksdb.DefaultConfigOptions()
		c, err := SecondaryCacheFromString(&o, "compressed_secondary_cache://capacity=2048;num_shard_bits=0;compression_type="+typ+more)
		if err != nil {
			t.Fatal(err)
		}
		(&secTest{T: t, c: c.(*CompressedSecondaryCache)}).basic(compressed)
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_BasicTestFromString(t *testing.T) {
	fromStringTest(t, "")
}

func TestCompressedSecondaryCacheTestWithCompressionParam_BasicTestFromStringWithSplit(t *testing.T) {
	fromStringTest(t, ";enable_custom_split_merge=true")
}

func TestCompressedSecondaryCacheTestWithCompressionParam_FailsTest(t *testing.T) {
	eachBool(t, "compressed", func(t *testing.T, compressed bool) {
		o := compressedOptions(1400, compressed)
		o.StrictCapacityLimit = true
		s := newSecTest(t, o)
		key1, key2, key3 := testKeys[1], testKeys[2], testKeys[3]
		rnd := util.NewRandom(301)
		str1 := []byte(rnd.RandomString(1000))
		s.insert(key1, str1)
		s.insert(key1, str1)
		str2 := []byte(rnd.RandomString(500))
		s.insert(key2, str2) // a placeholder, which evicts nothing
		s.has(key1, str1, false, true)
		s.insert(key2, str2)
		s.missing(key1, false)
		s.has(key2, str2, false, true)
		s.insert(key1, str1) // a placeholder
		s.missing(key1, false)
		s.ctx.fail = true
		s.missing(key2, true)
		str3 := []byte(rnd.RandomString(10))
		if err := s.c.Insert(key3, newItem(str3), itemFailHelper, false); err != nil {
			t.Fatal(err) // only a placeholder
		}
		if err := s.c.Insert(key3, newItem(str3), itemFailHelper, false); err == nil {
			t.Fatal("saved what cannot be")
		}
	})
}

// aboveTest is a cache above a compressed secondary cache.
type aboveTest struct {
	*secTest
	cache rocksdb.Cache
	stats rocksdb.Statistics
}

func (a *aboveTest) put(key, value []byte, helper *rocksdb.CacheItemHelper) {
	a.Helper()
	if _, err := a.cache.Insert(key, newItem(value), helper, len(value), rocksdb.CachePriorityLow, false); err != nil {
		a.Fatal(err)
	}
}

// get looks up; a nil value is a miss.
func (a *aboveTest) get(key, want []byte, helper *rocksdb.CacheItemHelper) {
	a.Helper()
	h := a.cache.Lookup(key, helper, &a.ctx, rocksdb.CachePriorityLow, a.stats)
	if (h == nil) != (want == nil) {
		a.Fatalf("%s: found %t", key, h != nil)
	}
	if h == nil {
		return
	}
	if !bytes.Equal(h.Value().(*testItem).buf, want) {
		a.Fatalf("%s has another value", key)
	}
	a.cache.Release(h, false)
}

// handles checks how many objects were kept outside the upper cache.
func (a *aboveTest) standalone(want uint64) {
	a.Helper()
	if got := a.cache.(*CacheWithSecondaryAdapter).Counters(); got.StandaloneHandles != want {
		a.Fatalf("%+v, want %d standalone", got, want)
	}
}

func newAboveTest(t *testing.T, typ string, o rocksdb.CompressedSecondaryCacheOptions, strict bool) *aboveTest {
	t.Helper()
	s := newSecTest(t, o)
	return &aboveTest{s, newCacheAbove(t, typ, 1300, strict, s.c), monitoring.CreateDBStatistics()}
}

func TestCompressedSecCacheTestWithCompressAndSplitParam_BasicIntegrationTest(t *testing.T) {
	eachCacheType(t, func(t *testing.T, typ string) {
		eachBool(t, "compressed", func(t *testing.T, compressed bool) {
			eachBool(t, "split", func(t *testing.T, split bool) {
				o := compressedOptions(6000, compressed)
				o.EnableCustomSplitMerge = split
				testBasicIntegration(newAboveTest(t, typ, o, true), compressed)
			})
		})
	})
}

func testBasicIntegration(a *aboveTest, compressed bool) {
	key0, key1, key2, key3 := testKeys[0], testKeys[1], testKeys[2], testKeys[3]
	rnd := util.NewRandom(301)
	str1, str2, str3 := compressibleString(rnd, 0.5, 1001), compressibleString(rnd, 0.5, 1012), compressibleString(rnd, 0.5, 1024)
	a.put(key1, str1, itemHelper)
	a.put(key2, str2, itemHelper) // evicts 1: its placeholder
	a.counts(1, 0)
	a.put(key3, str3, itemHelper) // and 2's
	a.counts(2, 0)
	a.put(key1, str1, itemHelper) // and 3's
	a.counts(3, 0)
	a.compressedTo(0, false, 0, 0)
	a.put(key2, str2, itemHelper) // evicts 1 again
	a.counts(3, 1)
	a.compressedTo(1001, compressed, 101, 1000)
	a.put(key3, str3, itemHelper)
	a.counts(3, 2)
	a.compressedTo(1012, compressed, 102, 1011)
	a.get(key3, str3, itemHelper)
	a.get(key0, nil, itemHelper)
	// Only a placeholder in the upper cache; 1 stays below.
	a.get(key1, str1, itemHelper)
	a.standalone(1)
	// Now 1 comes up, and 3 goes down.
	a.get(key1, str1, itemHelper)
	a.standalone(1)
	a.counts(3, 3)
	a.get(key2, str2, itemHelper)
	a.standalone(2)

	if err := a.c.SetCapacity(0); err != nil {
		a.Fatal(err)
	}
	a.get(key3, nil, itemHelper)
	if err := a.c.SetCapacity(7000); err != nil {
		a.Fatal(err)
	}
	if n, err := a.c.GetCapacity(); err != nil || n != 7000 {
		a.Fatal(n, err)
	}
	// Charges as upstream's, which exchanges them.
	put := func(key, value []byte, charge int) {
		a.Helper()
		if _, err := a.cache.Insert(key, newItem(value), itemHelper, charge, rocksdb.CachePriorityLow, false); err != nil {
			a.Fatal(err)
		}
	}
	put(key1, str1, len(str2))
	a.counts(3, 4)
	put(key2, str2, len(str1))
	a.counts(4, 4)
	put(key1, str1, len(str2))
	a.counts(5, 4)
	put(key2, str2, len(str2))
	a.counts(5, 5)
	a.get(key1, str1, itemHelper)
	a.standalone(3)
}

// eachIntegration runs a test of a cache above a compressed secondary cache.
func eachIntegration(t *testing.T, strict bool, f func(a *aboveTest)) {
	eachCacheType(t, func(t *testing.T, typ string) {
		eachBool(t, "compressed", func(t *testing.T, compressed bool) {
			f(newAboveTest(t, typ, compressedOptions(6000, compressed), strict))
		})
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_BasicIntegrationFailTest(t *testing.T) {
	eachIntegration(t, false, func(a *aboveTest) {
		a.put(testKeys[1], []byte(util.NewRandom(301).RandomString(1001)), itemHelper)
		a.get(testKeys[2], nil, nil)
		a.get(testKeys[2], nil, itemHelper)
		l := rocksdb.AsyncLookupHandle{Key: testKeys[2], Helper: itemHelper, CreateContext: &a.ctx, Priority: rocksdb.CachePriorityLow}
		rocksdb.StartAsyncLookup(a.cache, &l)
		if rocksdb.WaitAsyncLookup(a.cache, &l) != nil {
			a.Fatal("found")
		}
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_IntegrationSaveFailTest(t *testing.T) {
	eachIntegration(t, true, func(a *aboveTest) {
		rnd := util.NewRandom(301)
		str1, str2 := []byte(rnd.RandomString(1001)), []byte(rnd.RandomString(1002))
		a.put(testKeys[1], str1, itemFailHelper)
		a.put(testKeys[2], str2, itemFailHelper)
		a.get(testKeys[2], str2, itemFailHelper)
		a.get(testKeys[1], nil, itemFailHelper)
		a.get(testKeys[2], str2, itemFailHelper)
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_IntegrationCreateFailTest(t *testing.T) {
	eachIntegration(t, true, func(a *aboveTest) {
		rnd := util.NewRandom(301)
		str1, str2 := []byte(rnd.RandomString(1001)), []byte(rnd.RandomString(1002))
		a.put(testKeys[1], str1, itemHelper)
		a.put(testKeys[2], str2, itemHelper)
		a.ctx.fail = true
		a.get(testKeys[2], str2, itemHelper)
		a.get(testKeys[1], nil, itemHelper)
		a.get(testKeys[2], str2, itemHelper)
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_IntegrationFullCapacityTest(t *testing.T) {
	eachIntegration(t, false, func(a *aboveTest) {
		rnd := util.NewRandom(301)
		str1, str2 := []byte(rnd.RandomString(1001)), []byte(rnd.RandomString(1002))
		a.put(testKeys[1], str1, itemHelper)
		a.put(testKeys[2], str2, itemHelper)
		a.put(testKeys[1], str1, itemHelper)
		a.put(testKeys[2], str2, itemHelper)
		a.get(testKeys[2], str2, itemHelper)
		a.get(testKeys[1], str1, itemHelper)
		a.get(testKeys[2], str2, itemHelper)
	})
}

func TestCompressedSecondaryCacheTestWithCompressionParam_EntryRoles(t *testing.T) {
	eachBool(t, "compressed", func(t *testing.T, compressed bool) {
		for _, set := range []rocksdb.CacheEntryRoleSet{
			0, rocksdb.MakeCacheEntryRoleSet(rocksdb.CacheEntryRoleFilterBlock),
			rocksdb.MakeCacheEntryRoleSet(rocksdb.CacheEntryRoleDataBlock, rocksdb.CacheEntryRoleBlobValue, rocksdb.CacheEntryRoleMisc),
		} {
			o := compressedOptions(2048, compressed)
			o.DoNotCompressRoles = set
			s := newSecTest(t, o)
			junk := compressibleString(util.NewRandom(301), 0.5, 1000)
			for role := rocksdb.CacheEntryRole(0); role < rocksdb.NumCacheEntryRoles; role++ {
				junk[0] = byte(role)
				key, helper := junk[:16], &itemHelpers[role]
				for range 2 {
					if err := s.c.Insert(key, newItem(junk), helper, false); err != nil {
						t.Fatal(err)
					}
				}
				s.counts(uint64(role)+1, uint64(role)+1)
				h, _ := s.c.Lookup(key, helper, &s.ctx, true, true, nil)
				if h == nil || !bytes.Equal(h.Value().(*testItem).buf, junk) {
					t.Fatalf("role %d: another value", role)
				}
				s.compressedTo(1000, compressed && !set.Contains(role), 251, 749)
			}
		}
	})
}

// chunkSizes gives the sizes of a chain.
func chunkSizes(c *valueChunk) (n []int) {
	for ; c != nil; c = c.next {
		n = append(n, len(c.data))
	}
	return n
}

func TestCompressedSecondaryCacheTest_SplitValueIntoChunksTest(t *testing.T) {
	const size = 8500 // 8169 + 233 + 98
	head, charge := splitValueIntoChunks([]byte(util.NewRandom(301).RandomString(size)))
	if charge != size+3*chunkHeader {
		t.Errorf("charge %d", charge)
	}
	if n := chunkSizes(head); len(n) != 3 || n[0] != 8192-chunkHeader || n[1] != 256-chunkHeader || n[2] != 98 {
		t.Errorf("chunks %v", n)
	}
	compHelper.Deleter(&compValue{chunks: head})
}

func TestCompressedSecondaryCacheTest_MergeChunksIntoValueTest(t *testing.T) {
	rnd := util.NewRandom(301)
	var want []byte
	var head *valueChunk
	tail := &head
	for _, n := range []int{2048, 256, 31} {
		s := []byte(rnd.RandomString(n))
		want = append(want, s...)
		c := &valueChunk{data: s}
		*tail, tail = c, &c.next
	}
	if got := mergeChunksIntoValue(head, new([]byte)); !bytes.Equal(*got, want) {
		t.Errorf("%d bytes, want %d", len(*got), len(want))
	}
}

func TestCompressedSecondaryCacheTest_SplictValueAndMergeChunksTest(t *testing.T) {
	const size = 8500
	str := []byte(util.NewRandom(301).RandomString(size))
	head, charge := splitValueIntoChunks(str)
	if charge != size+3*chunkHeader {
		t.Errorf("charge %d", charge)
	}
	if got := mergeChunksIntoValue(head, new([]byte)); !bytes.Equal(*got, str) {
		t.Error("another value")
	}
	compHelper.Deleter(&compValue{chunks: head})
}

// tieredTest is a tiered cache and reservations in it.
type tieredTest struct {
	*testing.T
	typ   rocksdb.PrimaryCacheType
	cache *CacheWithSecondaryAdapter
	sec   *CompressedSecondaryCache
	res   *CacheReservationManager
	ctx   createContext
}

func eachTiered(t *testing.T, f func(x *tieredTest)) {
	for typ, name := range []string{"LRU", "HCC"} {
		t.Run(name, func(t *testing.T) {
			lru, hcc := rocksdb.DefaultLRUCacheOptions(0), rocksdb.DefaultHyperClockCacheOptions(0)
			lru.NumShardBits, lru.HighPriPoolRatio = 0, 0
			hcc.EstimatedEntryCharge, hcc.NumShardBits, hcc.EvictionEffortCap = 256<<10, 0, 100
			o := rocksdb.TieredCacheOptions{
				LRU: &lru, HCC: &hcc, CacheType: rocksdb.PrimaryCacheType(typ), AdmPolicy: rocksdb.AdmPolicyAllowCacheHits,
				CompCacheOpts: rocksdb.DefaultCompressedSecondaryCacheOptions(0), TotalCapacity: 100 << 20, CompressedSecondaryRatio: 0.3,
			}
			o.CompCacheOpts.NumShardBits = 0
			c, err := NewTieredCache(o)
			if err != nil {
				t.Fatal(err)
			}
			a := c.(*CacheWithSecondaryAdapter)
			f(&tieredTest{T: t, typ: o.CacheType, cache: a, sec: a.GetSecondaryCache().(*CompressedSecondaryCache),
				res: NewCacheReservationManager(c, rocksdb.CacheEntryRoleMisc, false)})
		})
	}
}

// near checks bytes against MiB, by 1 percent.
func (x *tieredTest) near(what string, got, mib int) {
	x.Helper()
	want := mib << 20
	if got >= want+want/100 || got <= want-want/100 {
		x.Fatalf("%s is %d, want about %d MiB", what, got, mib)
	}
}

func (x *tieredTest) reserve(mib int) {
	x.Helper()
	if err := x.res.UpdateCacheReservation(mib << 20); err != nil {
		x.Fatal(err)
	}
}

func (x *tieredTest) update(mib int, ratio float64) {
	x.Helper()
	capacity := -1
	if mib > 0 {
		capacity = mib << 20
	}
	if err := UpdateTieredCache(x.cache, capacity, ratio, rocksdb.AdmPolicyMax); err != nil {
		x.Fatal(err)
	}
}

func (x *tieredTest) primary(mib int) {
	x.Helper()
	x.near("primary usage", x.cache.GetCache().GetUsage(), mib)
}

func (x *tieredTest) secondary(mib int) {
	x.Helper()
	if mib == 0 {
		equal(x, 0, x.sec.GetUsage())
		return
	}
	x.near("secondary usage", x.sec.GetUsage(), mib)
}

func (x *tieredTest) secCapacity(mib int) {
	x.Helper()
	n, err := x.sec.GetCapacity()
	if err != nil || n != mib<<20 {
		x.Fatalf("secondary capacity %d, want %d MiB: %v", n, mib, err)
	}
}

const sameRatio = -1

func TestCompressedSecCacheTestWithTiered_CacheReservationManager(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		x.primary(30)
		x.secondary(0)
		x.reserve(10)
		x.primary(37)
		x.secondary(3)
		x.reserve(0)
		x.primary(30)
		x.secondary(0)
	})
}

func TestCompressedSecCacheTestWithTiered_CacheReservationManagerMultipleUpdate(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		x.primary(30)
		x.secondary(0)
		for i := range 10 {
			x.reserve(1 + i)
		}
		x.primary(37)
		x.secondary(3)
		for i := 10; i > 0; i-- {
			x.reserve(i - 1)
		}
		x.primary(30)
		x.secondary(0)
	})
}

func TestCompressedSecCacheTestWithTiered_AdmissionPolicy(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		const size = 10<<20 - 1<<18
		keys := make([][]byte, 14)
		value := []byte(util.NewRandom(301).RandomString(4096))
		value = bytes.Repeat(value, size/len(value)+1)[:size]
		put := func(from, to int) {
			for i := from; i < to; i++ {
				keys[i] = CreateUniqueForCacheLifetime(x.cache.GetCache()).AsSlice()
				if _, err := x.cache.Insert(keys[i], newItem(value), itemHelper, size, rocksdb.CachePriorityLow, false); err != nil {
					t.Fatal(err)
				}
			}
		}
		found := func(i int, want bool) rocksdb.CacheHandle {
			t.Helper()
			h := x.cache.Lookup(keys[i], itemHelper, &x.ctx, rocksdb.CachePriorityLow, nil)
			if (h != nil) != want {
				t.Fatalf("key %d found: %t", i, h != nil)
			}
			return h
		}
		put(0, 7)
		h0, h1 := found(0, true), found(1, true)
		x.cache.Release(h0, false)
		x.cache.Release(h1, false)
		put(7, 14) // flushes those out
		// These two had been hit.
		h0, h1 = found(0, true), found(1, true)
		x.cache.Release(h0, false)
		x.cache.Release(h1, false)
		found(2, false)
		found(3, false)
	})
}

func TestCompressedSecCacheTestWithTiered_DynamicUpdate(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		x.primary(30)
		x.secCapacity(30)
		for _, u := range []struct {
			capacity int
			ratio    float64
			want     int
		}{{130, sameRatio, 39}, {70, sameRatio, 21}, {100, sameRatio, 30}, {0, 0.4, 40}, {0, 0.2, 20}, {0, 1, 100}} {
			x.update(u.capacity, u.ratio)
			x.primary(u.want)
			x.secCapacity(u.want)
		}
		x.update(0, 0)
		if x.typ == rocksdb.CacheTypeLRU { // the other charges its table
			equal(t, 0, x.cache.GetCache().GetUsage())
		}
		x.secCapacity(0)
		x.update(0, 0.3)
		x.primary(30)
		x.secCapacity(30)
	})
}

func TestCompressedSecCacheTestWithTiered_DynamicUpdateWithReservation(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		x.reserve(10)
		x.primary(37)
		x.secondary(3)
		x.secCapacity(30)
		for _, u := range []struct {
			capacity       int
			ratio          float64
			pri, sec, room int
			lruOnly        bool
		}{
			{70, sameRatio, 28, 3, 21, true}, {130, sameRatio, 46, 3, 39, false}, {100, sameRatio, 37, 3, 30, false},
			{0, 0.39, 45, 4, 39, false}, {0, 0.2, 28, 2, 20, true}, {0, 1, 100, 10, 100, false}, {0, 0, 10, 0, 0, false}, {0, 0.3, 37, 3, 30, false},
		} {
			x.update(u.capacity, u.ratio)
			if !u.lruOnly || x.typ == rocksdb.CacheTypeLRU {
				x.primary(u.pri)
			}
			if u.room > 0 {
				x.secondary(u.sec)
			}
			x.secCapacity(u.room)
			if u.capacity == 100 {
				n, err := x.cache.GetSecondaryCacheCapacity()
				equal(t, nil, err)
				equal(t, 30<<20, n)
				n, err = x.cache.GetSecondaryCachePinnedUsage()
				equal(t, nil, err)
				x.near("pinned", n, 3)
			}
		}
		x.reserve(0)
	})
}

func TestCompressedSecCacheTestWithTiered_ReservationOverCapacity(t *testing.T) {
	eachTiered(t, func(x *tieredTest) {
		x.reserve(110)
		x.primary(110)
		x.secondary(30)
		x.secCapacity(30)
		x.update(0, 0.39)
		x.primary(110)
		x.secondary(39)
		x.secCapacity(39)
		x.reserve(90)
		x.primary(94)
		x.secondary(35)
		x.secCapacity(39)
		x.reserve(0)
	})
}

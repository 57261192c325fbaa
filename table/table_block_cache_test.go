// Port of table/table_test.cc: block-based tables and the block cache, indexes
// that hold first keys or hashes.

package table_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

func newLRUWith(o rocksdb.LRUCacheOptions) rocksdb.Cache {
	c, err := cache.NewLRUCache(o)
	if err != nil {
		panic(err)
	}
	return c
}

func newLRU(capacity, shardBits int) rocksdb.Cache {
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits = shardBits
	return newLRUWith(o)
}

// addSeven adds entries that blocks of 1024 bytes hold as k01-k03, k04, k05,
// k06-k07.
func addSeven(c *tableConstructor) {
	c.Add("k01", "hello")
	c.Add("k02", "hello2")
	c.Add("k03", strings.Repeat("x", 10000))
	c.Add("k04", strings.Repeat("x", 200000))
	c.Add("k05", strings.Repeat("x", 300000))
	c.Add("k06", "hello3")
	c.Add("k07", strings.Repeat("x", 100000))
}

// keyInCache tells whether a key's data block is in the block cache.
func keyInCache(t *testing.T, c *tableConstructor, key string) bool {
	t.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	it := c.iterator(&ro, nil)
	defer it.Close()
	it.Seek(maxIkey(key))
	if err := it.Status(); err != nil && !rocksdb.IsIncomplete(err) {
		t.Fatal(err)
	}
	return it.Valid()
}

func TestBlockBasedTableTest_PrefetchTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.BlockSize = 1024
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		addSeven(c)
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		key := func(k string) []byte {
			if k == "" {
				return nil
			}
			return []byte(k)
		}
		for _, p := range []struct {
			begin, end string // "" is open
			in, out    string
			err        bool
		}{
			{"k01", "k05", "k01 k02 k03 k04 k05", "k06 k07", false},
			{"k01", "k01", "k01 k02 k03", "k04 k05 k06 k07", false},
			{"a", "z", "k01 k02 k03 k04 k05 k06 k07", "", false},
			{"k00", "k00", "k01 k02 k03", "k04 k05 k06 k07", false},
			{"k00", "k06", "k01 k02 k03 k04 k05 k06 k07", "", false},
			{"k00", "zzz", "k01 k02 k03 k04 k05 k06 k07", "", false},
			{"", "", "k01 k02 k03 k04 k05 k06 k07", "", false},
			{"k04", "", "k04 k05 k06 k07", "k01 k02 k03", false},
			{"", "k05", "k01 k02 k03 k04 k05", "k06 k07", false},
			{"k06", "k00", "", "", true},
		} {
			bbto.BlockCache = newLRU(16<<20, 4)
			o := optionsFor(&bbto)
			fatalIf(t, c.Reopen(&o))
			ro := rocksdb.DefaultReadOptions()
			err := c.reader.Prefetch(&ro, key(p.begin), key(p.end))
			checkEq(t, "fails", rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument, p.err)
			checkEq(t, "ok", err == nil, !p.err)
			for _, k := range strings.Fields(p.in) {
				checkEq(t, fmt.Sprintf("%s-%s: %s", p.begin, p.end, k), keyInCache(t, c, k), true)
			}
			for _, k := range strings.Fields(p.out) {
				checkEq(t, fmt.Sprintf("%s-%s: %s", p.begin, p.end, k), keyInCache(t, c, k), false)
			}
		}
	})
}

func readAll(t *testing.T, c *tableConstructor) {
	t.Helper()
	it := c.iterator(nil, nil)
	defer it.Close()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		_, _ = it.Key(), it.Value()
	}
	fatalIf(t, it.Status())
}

func TestBlockBasedTableTest_BlockCacheLeak(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.BlockSize, bbto.BlockCache = 1024, newLRU(16<<20, 4)
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		addSeven(c)
		o := optionsFor(&bbto)
		keys := c.Finish(&o, icmp)
		readAll(t, c)
		fatalIf(t, c.Reopen(&o))
		for _, k := range keys {
			checkEq(t, k, keyInCache(t, c, k), true)
		}
		bbto.BlockCache = newLRU(16<<20, 4)
		o = optionsFor(&bbto)
		fatalIf(t, c.Reopen(&o))
		for _, k := range keys {
			checkEq(t, k, keyInCache(t, c, k), false)
		}
	})
}

// countedAllocator counts.
type countedAllocator struct{ got, freed atomic.Int64 }

func (*countedAllocator) Name() string { return "CountedMemoryAllocator" }
func (a *countedAllocator) Allocate(n int) []byte {
	a.got.Add(1)
	return make([]byte, n)
}
func (a *countedAllocator) Deallocate([]byte)            { a.freed.Add(1) }
func (*countedAllocator) UsableSize(_ []byte, n int) int { return n }

func TestBlockBasedTableTest_MemoryAllocator(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		a := new(countedAllocator)
		lo := rocksdb.DefaultLRUCacheOptions(16 << 20)
		lo.NumShardBits, lo.MemoryAllocator = 4, a
		bbto.BlockSize, bbto.BlockCache = 1024, newLRUWith(lo)
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		addSeven(c)
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		readAll(t, c)
		c.Close()
		bbto.BlockCache.EraseUnRefEntries()
		checkEq(t, "freed", a.freed.Load(), a.got.Load())
		checkEq(t, "used", a.got.Load() > 0, true)
	})
}

// wantTickers checks misses and hits of index, filter and data blocks.
func wantTickers(t *testing.T, s rocksdb.Statistics, want ...uint64) {
	t.Helper()
	tickers := []rocksdb.Ticker{rocksdb.BlockCacheIndexMiss, rocksdb.BlockCacheIndexHit, rocksdb.BlockCacheFilterMiss,
		rocksdb.BlockCacheFilterHit, rocksdb.BlockCacheDataMiss, rocksdb.BlockCacheDataHit}
	for i, k := range tickers {
		checkEq(t, fmt.Sprintf("ticker %d", i), s.GetTickerCount(k), want[i])
	}
	checkEq(t, "misses", s.GetTickerCount(rocksdb.BlockCacheMiss), want[0]+want[2]+want[4])
	checkEq(t, "hits", s.GetTickerCount(rocksdb.BlockCacheHit), want[1]+want[3]+want[5])
}

// tableGet looks a user key up and tells whether it is there.
func tableGet(t *testing.T, c *tableConstructor, ikey []byte, perf *rocksdb.PerfContext, prefix rocksdb.SliceTransform) (string, bool) {
	t.Helper()
	var v rocksdb.PinnableSlice
	gc := new(table.GetContext)
	gc.Init(&table.GetContextParams{Comparator: icmp, UserKey: dbformat.ExtractUserKey(ikey), Value: &v, DoMerge: true, PerfContext: perf})
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext = perf
	fatalIf(t, c.reader.Get(&ro, ikey, gc, prefix, false))
	s := string(v.Data())
	v.Release()
	return s, gc.State() == table.GetFound
}

func TestBlockBasedTableTest_BlockCacheDisabledTest(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.BlockCache, bbto.FilterPolicy = newLRU(1024, 4), blockbased.NewBloomFilterPolicy(10)
		o := optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		c.Add("key", "value")
		c.Finish(&o, icmp)
		// The reader holds index and filter itself.
		checkEq(t, "usage", bbto.BlockCache.GetUsage(), 0)
		wantTickers(t, o.Statistics, 0, 0, 0, 0, 0, 0)
		_, found := tableGet(t, c, maxIkey("non-exist-key"), nil, nil)
		checkEq(t, "found", found, false)
		wantTickers(t, o.Statistics, 0, 0, 0, 0, 0, 0)
	})
}

func TestBlockBasedTableTest_FilterBlockInBlockCache(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		lo := rocksdb.DefaultLRUCacheOptions(2048)
		lo.NumShardBits, lo.MetadataChargePolicy = 2, rocksdb.DontChargeCacheMetadata
		bbto.BlockCache, bbto.CacheIndexAndFilterBlocks = newLRUWith(lo), true
		o := optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		c.Add("key", "value")
		c.Finish(&o, icmp)
		var lastRead uint64
		wantBytes := func(more bool) {
			t.Helper()
			n := o.Statistics.GetTickerCount(rocksdb.BlockCacheBytesRead)
			checkEq(t, "more read", n > lastRead, more)
			checkEq(t, "written", o.Statistics.GetTickerCount(rocksdb.BlockCacheBytesWrite), uint64(bbto.BlockCache.GetUsage()))
			lastRead = n
		}
		wantTickers(t, o.Statistics, 1, 0, 0, 0, 0, 0)
		wantBytes(false)
		it := c.iterator(nil, nil)
		wantTickers(t, o.Statistics, 1, 1, 0, 0, 0, 0)
		wantBytes(true)
		it.SeekToFirst()
		fatalIf(t, it.Status())
		wantTickers(t, o.Statistics, 1, 1, 0, 0, 1, 0)
		wantBytes(false)
		it.Close()
		it = c.iterator(nil, nil)
		it.SeekToFirst()
		fatalIf(t, it.Status())
		wantTickers(t, o.Statistics, 1, 2, 0, 0, 1, 1)
		wantBytes(true)
		it.Close()

		// A cache too small for a single block.
		bbto.BlockCache = newLRU(1, 4)
		o = optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		fatalIf(t, c.Reopen(&o))
		wantTickers(t, o.Statistics, 1, 0, 0, 0, 0, 0)
		it = c.iterator(nil, nil)
		wantTickers(t, o.Statistics, 2, 0, 0, 0, 0, 0)
		it.SeekToFirst()
		fatalIf(t, it.Status())
		wantTickers(t, o.Statistics, 2, 0, 0, 0, 1, 0)
		checkEq(t, "read", o.Statistics.GetTickerCount(rocksdb.BlockCacheBytesRead), 0)
		it.Close()

		// A filter that the reader wants and the file does not have.
		bbto.BlockCache, bbto.CacheIndexAndFilterBlocks = newLRU(4096, 4), false
		o = optionsFor(&bbto)
		c3 := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c3.Close()
		key := ikeyOf("k01", 0)
		c3.Add(string(key), "hello")
		c3.Finish(&o, icmp)
		bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(1)
		o = optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		fatalIf(t, c3.Reopen(&o))
		v, found := tableGet(t, c3, key, nil, nil)
		checkEq(t, "found", found, true)
		checkEq(t, "value", v, "hello")
		// A lookup's data blocks are counted by the caller of the table.
		wantTickers(t, o.Statistics, 0, 0, 0, 0, 0, 0)
	})
}

func TestBlockBasedTableTest_BlockReadCountTest(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		for _, inCache := range []bool{false, true} {
			bbto.BlockCache, bbto.CacheIndexAndFilterBlocks, bbto.FilterPolicy = newLRU(1, 0), inCache, blockbased.NewBloomFilterPolicy(10)
			o := optionsFor(&bbto)
			c := newTableConstructor(t, util.BytewiseComparator(), false)
			key := ikeyOf("k04", 0)
			c.Add(string(key), "hello")
			c.Finish(&o, icmp)
			check := func(key []byte, count, index, filter uint64) {
				t.Helper()
				p := new(rocksdb.PerfContext)
				v, found := tableGet(t, c, key, p, nil)
				checkEq(t, "found", found, v == "hello")
				checkEq(t, "found", found, string(key[:3]) == "k04")
				checkEq(t, "bytes", p.BlockReadByte, p.DataBlockReadByte+p.IndexBlockReadByte+p.FilterBlockReadByte+
					p.CompressionDictBlockReadByte+p.MetadataBlockReadByte)
				checkEq(t, "blocks", p.BlockReadCount, count)
				checkEq(t, "index blocks", p.IndexBlockReadCount, index)
				checkEq(t, "filter blocks", p.FilterBlockReadCount, filter)
				checkEq(t, "index bytes", p.IndexBlockReadByte > 0, index > 0)
				checkEq(t, "filter bytes", p.FilterBlockReadByte > 0, filter > 0)
				checkEq(t, "data bytes", p.DataBlockReadByte > 0, found)
			}
			if inCache {
				check(key, 3, 1, 1)
				// The filter is read first, and is enough.
				check(ikeyOf("does-not-exist", 0), 1, 0, 1)
			} else {
				check(key, 1, 0, 0)
				check(ikeyOf("does-not-exist", 0), 0, 0, 0)
			}
			c.Close()
		}
	})
}

// fixedCounts flushes a block before each entry that would be one too many.
type fixedCounts []int

type fixedCountsPolicy struct {
	counts []int
	n      int
}

func (fixedCounts) Name() string { return "CustomFlushBlockPolicy" }
func (f fixedCounts) NewFlushBlockPolicy(*rocksdb.BlockBasedTableOptions, rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return &fixedCountsPolicy{counts: f}
}
func (p *fixedCountsPolicy) Update(_, _ []byte) bool {
	if p.n >= p.counts[0] {
		p.counts, p.n = p.counts[1:], 1
		return true
	}
	p.n++
	return false
}

func TestBlockBasedTableTest_BinaryIndexWithFirstKey2(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		for _, first := range []bool{false, true} {
			firstKey2(t, bbto, first)
		}
	})
}

func firstKey2(t *testing.T, bbto rocksdb.BlockBasedTableOptions, first bool) {
	if first {
		bbto.IndexType = rocksdb.BinarySearchWithFirstKey
	}
	bbto.BlockCache, bbto.IndexShortening, bbto.FlushBlockPolicyFactory = newLRU(10000, -1), rocksdb.NoShortening, fixedCounts{2, 1, 3, 2}
	o := optionsFor(&bbto)
	o.Statistics = monitoring.CreateDBStatistics()
	c := newTableConstructor(t, util.BytewiseComparator(), false)
	defer c.Close()
	rnd := util.NewRandom(1023)
	for i, p := range strings.Fields("aaaa aaac aaca caaa caac caae ccaa ccac") {
		addLong(c, rnd, p, fmt.Sprintf("v%d", i))
	}
	keys := c.Finish(&o, icmp)
	checkEq(t, "blocks", c.props().NumDataBlocks, 4)
	ro := rocksdb.DefaultReadOptions()
	it := c.reader.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, true)
	defer it.Close()
	// want checks the entry (-1 is none), then the block cache's misses and
	// hits: the first number with first keys in the index, the second without.
	want := func(what string, entry int, miss, hit [2]uint64) {
		t.Helper()
		i := 1
		if first {
			i = 0
		}
		checkEq(t, what, it.Valid(), entry >= 0)
		if entry >= 0 {
			checkEq(t, what, string(it.Key()), keys[entry])
		}
		checkEq(t, what+": misses", o.Statistics.GetTickerCount(rocksdb.BlockCacheDataMiss), miss[i])
		checkEq(t, what+": hits", o.Statistics.GetTickerCount(rocksdb.BlockCacheDataHit), hit[i])
	}
	value := func(v string) {
		t.Helper()
		checkEq(t, "prepared", it.PrepareValue(), true)
		checkEq(t, "value", string(it.Value()), v)
	}
	type n = [2]uint64
	want("new", -1, n{0, 0}, n{0, 0})
	// Between blocks: with the first key known, only the value needs reading.
	it.Seek(ikeyOf("aaba", 0))
	want("aaba", 2, n{0, 1}, n{0, 0})
	value("v2")
	want("aaba", 2, n{1, 1}, n{0, 0})
	it.Seek(ikeyOf("caab", 0))
	want("caab", 4, n{2, 2}, n{0, 0})
	value("v4")
	// The block stays pinned.
	it.Seek(ikeyOf("baaa", 0))
	want("baaa", 3, n{2, 2}, n{0, 0})
	it.Seek(ikeyOf("caae", 0))
	want("caae", 5, n{2, 2}, n{0, 0})
	value("v5")
	want("caae", 5, n{2, 2}, n{0, 0})
	it.Next()
	want("next", 6, n{2, 3}, n{0, 0})
	it.Next()
	want("next", 7, n{3, 3}, n{0, 0})
	value("v7")
	it.Next()
	want("end", -1, n{3, 3}, n{0, 0})
	// A block of one entry.
	it.Seek(ikeyOf("aaca", 0))
	want("aaca", 2, n{3, 3}, n{0, 1})
	it.Next()
	want("next", 3, n{3, 3}, n{1, 2})
	value("v3")
	want("next", 3, n{3, 3}, n{2, 2})
	it.Seek(ikeyOf("aaca", 0))
	want("aaca", 2, n{3, 3}, n{2, 3})
	it.Prev()
	want("prev", 1, n{4, 4}, n{2, 3})
	value("v1")
	it.Next()
	want("next", 2, n{4, 4}, n{2, 4})
	it.SeekToFirst()
	want("first", 0, n{4, 4}, n{2, 5})
	it.Prev()
	want("before", -1, n{4, 4}, n{2, 5})
	it.SeekForPrev(ikeyOf("caad", 0))
	want("caad", 4, n{4, 4}, n{3, 6})
	value("v4")
	want("caad", 4, n{4, 4}, n{3, 6})
	it.SeekToLast()
	want("last", 7, n{4, 4}, n{4, 7})
	value("v7")
	want("last", 7, n{4, 4}, n{4, 7})
}

func TestBlockBasedTableTest_BinaryIndexWithFirstKeyGlobalSeqno(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType, bbto.BlockCache = rocksdb.BinarySearchWithFirstKey, newLRU(10000, -1)
		o := optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c.Close()
		c.largestSeqno = 42
		c.Add(string(ikeyOf("b", 0)), "x")
		c.Add(string(ikeyOf("c", 0)), "y")
		c.Finish(&o, icmp)
		checkEq(t, "blocks", c.props().NumDataBlocks, 1)
		ro := rocksdb.DefaultReadOptions()
		it := c.reader.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, true)
		defer it.Close()
		it.Seek(ikeyOf("a", 0))
		wantAt(t, it, "b")
		checkEq(t, "key", string(it.Key()), string(ikeyOf("b", 42)))
		checkEq(t, "misses", o.Statistics.GetTickerCount(rocksdb.BlockCacheDataMiss), 0)
		checkEq(t, "prepared", it.PrepareValue(), true)
		checkEq(t, "value", string(it.Value()), "x")
		checkEq(t, "misses", o.Statistics.GetTickerCount(rocksdb.BlockCacheDataMiss), 1)
		checkEq(t, "hits", o.Statistics.GetTickerCount(rocksdb.BlockCacheDataHit), 0)
		checkEq(t, "key", string(it.Key()), string(ikeyOf("b", 42)))
	})
}

func TestBlockBasedTableTest_IndexSeekOptimizationIncomplete(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		o := optionsFor(&bbto)
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c.Close()
		addLong(c, util.NewRandom(1023), "pika", "v")
		c.Finish(&o, icmp)
		ro := rocksdb.DefaultReadOptions()
		ro.ReadTier = rocksdb.BlockCacheTier
		it := c.iterator(&ro, nil)
		defer it.Close()
		for range 2 {
			it.Seek(ikeyOf("pika", 0))
			checkEq(t, "valid", it.Valid(), false)
			checkEq(t, "incomplete", rocksdb.IsIncomplete(it.Status()), true)
		}
	})
}

func TestBlockBasedTableTest_DataBlockHashIndex(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.DataBlockIndexType = rocksdb.DataBlockBinaryAndHash
		o := optionsFor(&bbto)
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c.Close()
		rnd := util.NewRandom(1048)
		for range 500 {
			c.Add(string(ikeyOf(rnd.RandomString(7)+"1", 0)), rnd.RandomString(40))
		}
		c.Finish(&o, icmp)
		it := c.iterator(nil, nil)
		defer it.Close()
		for i := 0; i < c.data.Len(); i++ {
			k, v := c.data.At(i)
			userKey := string(dbformat.ExtractUserKey([]byte(k)))
			it.Seek([]byte(k))
			wantAt(t, it, userKey)
			checkEq(t, "value", string(it.Value()), v)
			got, found := tableGet(t, c, []byte(k), nil, nil)
			checkEq(t, "found", found, true)
			checkEq(t, "value", got, v)
			absent := userKey[:len(userKey)-1] + "0"
			it.Seek(ikeyOf(absent, 0))
			fatalIf(t, it.Status())
			checkEq(t, "after", !it.Valid() || string(it.UserKey()) > absent, true)
			_, found = tableGet(t, c, ikeyOf(absent, 0), nil, nil)
			checkEq(t, "found", found, false)
		}
	})
}

func TestIndexBlockRestartIntervalTest_IndexBlockRestartInterval(t *testing.T) {
	for _, interval := range []int{-1, 0, 1, 8, 16, 32} {
		for _, fv := range []uint32{3, 4} {
			bbto := rocksdb.DefaultBlockBasedTableOptions()
			bbto.BlockSize, bbto.IndexBlockRestartInterval, bbto.FormatVersion = 64, interval, fv
			o := optionsFor(&bbto)
			c := newTableConstructor(t, util.BytewiseComparator(), false)
			rnd := util.NewRandom(301)
			for range 2000 {
				c.Add(string(ikeyOf(rnd.RandomString(100), 0)), rnd.RandomString(500))
			}
			c.Finish(&o, icmp)
			it := c.iterator(nil, nil)
			check := func(i int) {
				t.Helper()
				k, v := c.data.At(i)
				fatalIf(t, it.Status())
				checkEq(t, "valid", it.Valid(), true)
				checkEq(t, "key", string(it.Key()), k)
				checkEq(t, "value", string(it.Value()), v)
			}
			for i := 0; i < c.data.Len(); i++ {
				k, _ := c.data.At(i)
				it.Seek([]byte(k))
				check(i)
			}
			n := 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				check(n)
				n++
			}
			fatalIf(t, it.Status())
			checkEq(t, "entries", n, c.data.Len())
			it.Close()
			c.Close()
		}
	}
}

// TestHyperClockBlockCache reads tables by a cache that is not an LRUCache.
func TestHyperClockBlockCache(t *testing.T) {
	hc, err := cache.NewHyperClockCache(rocksdb.DefaultHyperClockCacheOptions(64 << 10))
	if err != nil {
		t.Fatal(err)
	}
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockCache, bbto.CacheIndexAndFilterBlocks, bbto.BlockSize = hc, true, 1024
	bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
	o := optionsFor(&bbto)
	o.Statistics = monitoring.CreateDBStatistics()
	c := newTableConstructor(t, util.BytewiseComparator(), false)
	for i := range 5000 {
		c.Add(string(ikeyOf(fmt.Sprintf("%06d", 2*i), 1)), fmt.Sprintf("%050d", i))
	}
	c.Finish(&o, icmp)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := g; i < 5000; i += 3 {
				if v, found := tableGet(t, c, ikeyOf(fmt.Sprintf("%06d", 2*i), 1), nil, nil); !found || v != fmt.Sprintf("%050d", i) {
					t.Errorf("%d: %q", i, v)
				}
				if _, found := tableGet(t, c, ikeyOf(fmt.Sprintf("%06d", 2*i+1), 1), nil, nil); found {
					t.Errorf("%d found", 2*i+1)
				}
			}
			readAll(t, c)
		}()
	}
	wg.Wait()
	checkEq(t, "hits", o.Statistics.GetTickerCount(rocksdb.BlockCacheIndexHit) > 0, true)
	c.Close()
	checkEq(t, "pinned", hc.GetPinnedUsage(), 0)
	usage := hc.GetUsage()
	checkEq(t, "within capacity", usage <= 64<<10+8192, true)
	hc.EraseUnRefEntries()
	checkEq(t, "occupancy", hc.GetOccupancyCount(), 0)
}

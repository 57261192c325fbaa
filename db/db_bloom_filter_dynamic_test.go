// Port of db/db_bloom_filter_test.cc: memtables' filters, prefix extractors that
// change or are odd, and policies that change. Differs: the perf context is
// handed in.

package db_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

// contextPolicy chooses bits by the building context, and writes it down.
type contextPolicy struct {
	contract.FilterPolicy // of FIFO
	level0, otherwise     contract.FilterPolicy
	report                string
}

func (p *contextPolicy) Name() string { return "LevelAndStyleCustomFilterPolicy" }

func (p *contextPolicy) GetBuilderWithContext(c *contract.FilterBuildingContext) contract.FilterBitsBuilder {
	bottom := 0
	if c.IsBottommost {
		bottom = 1
	}
	p.report += fmt.Sprintf("cf=%s,s=%s,n=%d,l=%d,b=%d,r=%d\n", c.ColumnFamilyName, options.CompactionStyleToString(c.CompactionStyle),
		c.NumLevels, c.LevelAtCreation, bottom, c.Reason)
	switch {
	case c.CompactionStyle == contract.CompactionStyleFIFO:
		return p.FilterPolicy.GetBuilderWithContext(c)
	case c.LevelAtCreation == 0:
		return p.level0.GetBuilderWithContext(c)
	}
	return p.otherwise.GetBuilderWithContext(c)
}

func TestDBBloomFilterTest_ContextCustomFilterPolicy(t *testing.T) {
	x := newBloomTest(t)
	p := &contextPolicy{FilterPolicy: rocksdb.NewBloomFilterPolicy(15), level0: rocksdb.NewBloomFilterPolicy(8), otherwise: rocksdb.NewBloomFilterPolicy(5)}
	wantReport := func(want string) {
		t.Helper()
		if p.report != want {
			t.Errorf("%q, not %q", p.report, want)
		}
		p.report = ""
	}
	const maxKey = 10000
	for _, fifo := range []bool{true, false} {
		o := x.currentOptions()
		o.Statistics, o.CompactionStyle = rocksdb.NewStatistics(), contract.CompactionStyleLevel
		family, style, least, most := "bob", "kCompactionStyleLevel", 0.975, 0.98
		if fifo {
			o.CompactionStyle, o.MaxOpenFiles = contract.CompactionStyleFIFO, -1
			family, style, least, most = "abe", "kCompactionStyleFIFO", 0.9980, 0.9995
		}
		o = blockTable(o, func(t *contract.BlockBasedTableOptions) {
			t.FilterPolicy, t.FormatVersion, t.OptimizeFiltersForMemory = p, 5, false
		})
		x.reopen(o)
		x.createAndReopenWithCF([]string{family}, o)
		flushed := fmt.Sprintf("cf=%s,s=%s,n=7,l=0,b=0,r=%d\n", family, style, contract.TableFileCreationReasonFlush)
		for i := range maxKey {
			x.mustPut(1, key(i), key(i))
			if i == maxKey/2-1 { // the first file has a wide range
				x.mustPut(1, key(maxKey+55555), key(maxKey+55555))
				x.flush(1)
				wantReport(flushed)
			}
		}
		x.flush(1)
		wantReport(flushed)
		for i := range maxKey {
			x.wantGet(1, key(i), key(i))
		}
		if n := x.pop(contract.BloomFilterUseful); n > maxKey {
			t.Error(n)
		}
		missing := func(least, most float64) {
			t.Helper()
			for i := range maxKey {
				x.wantGet(1, key(i+33333), "NOT_FOUND")
			}
			if n := float64(x.pop(contract.BloomFilterUseful)) / maxKey; n < least || n > most {
				t.Errorf("filters were useful for %v of the keys, not %v to %v", n, least, most)
			}
		}
		missing(2*least, 2*most)
		if !fifo {
			x.compact(1, "", "")
			wantReport(fmt.Sprintf("cf=bob,s=kCompactionStyleLevel,n=7,l=1,b=1,r=%d\n", contract.TableFileCreationReasonCompaction))
			missing(0.90, 0.91)
		} else {
			c := rocksdb.SstFileWriterOptions{ColumnFamily: x.cf(1)}
			w := rocksdb.NewSstFileWriter(o, &c)
			x.must(w.Open(filepath.Join(x.dir, "external.sst"), contract.TemperatureUnknown))
			x.must(w.Put([]byte("key"), []byte("value")))
			x.must(w.Finish(nil))
			wantReport(fmt.Sprintf("cf=abe,s=kCompactionStyleLevel,n=-1,l=-1,b=0,r=%d\n", contract.TableFileCreationReasonMisc))
		}
		x.must(x.db.DropColumnFamily(x.cfs[1]))
		x.must(x.cfs[1].Close())
		x.cfs = x.cfs[:1]
	}
}

// bitsPerKey writes so many keys and gives the size of their filter.
func (x *bloomTest) bitsPerKey(keys int, value string) float64 {
	x.Helper()
	for i := range keys {
		x.mustPut(0, key(i), value)
	}
	x.flush(0)
	for i := range keys {
		x.wantGet(0, key(i), value)
	}
	return float64(x.pop(contract.BlockCacheFilterBytesInsert)) * 8 / float64(keys)
}

func (x *bloomTest) wantBits(value string, want float64) {
	x.Helper()
	if got := x.bitsPerKey(8000, value); got < want-0.3 || got > want+0.3 {
		x.Errorf("%s: %v bits a key, not %v", value, got, want)
	}
}

func TestDBBloomFilterTest_MutatingRibbonFilterPolicy(t *testing.T) {
	x := newBloomTest(t)
	p := blockbased.NewRibbonFilterPolicy(10, 1<<31-1) // Bloom filters only
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(blockTable(o, func(t *contract.BlockBasedTableOptions) { t.FilterPolicy, t.CacheIndexAndFilterBlocks = p, true }))
	set := func(name, value string) {
		t.Helper()
		x.must(x.db.SetOptions(map[string]string{name: value}))
	}
	x.wantBits("a", 10)
	for i, c := range []struct {
		factory, level string
		bits           float64
	}{{"table_factory", "0", 10}, {"block_based_table_factory", "-1", 7}} {
		// Others do no harm.
		set("level0_file_num_compaction_trigger", "10")
		set("block_based_table_factory", "{block_size=1234}")
		set(c.factory+".block_size", "12345")
		set(c.factory+".filter_policy.bloom_before_level", c.level)
		now := x.db.GetOptions().TableFactory.(*blockbased.BlockBasedTableFactory).Options().FilterPolicy
		if now != contract.FilterPolicy(p) || fmt.Sprint(p.BloomBeforeLevel()) != c.level {
			t.Fatalf("%v, level %d", now, p.BloomBeforeLevel())
		}
		x.wantBits(string(rune('b'+i)), c.bits)
	}
}

func TestDBBloomFilterTest_MutableFilterPolicy(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	o.Statistics, o.Level0FileNumCompactionTrigger = rocksdb.NewStatistics(), 6
	x.reopen(blockTable(o, func(t *contract.BlockBasedTableOptions) {
		t.FilterPolicy, t.CacheIndexAndFilterBlocks = rocksdb.NewBloomFilterPolicy(10), true
	}))
	x.wantBits("a", 10)
	for i, c := range []struct {
		policy string
		bits   float64
	}{{"{id=ribbonfilter:12:-1;bloom_before_level=-1;}", 8.4}, {"nullptr", 0}, {"bloomfilter:5", 5}, {"ribbonfilter:10:-1", 7}} {
		x.must(x.db.SetOptions(map[string]string{"block_based_table_factory": "{filter_policy=" + c.policy + "}"}))
		x.wantBits(string(rune('b'+i)), c.bits)
	}
}

func TestDBBloomFilterTest_MemtableWholeKeyBloomFilter(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.MemtablePrefixBloomSizeRatio = 1<<20, 8.0/1024
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(4)
	look := func(key string, hit, miss uint64) {
		t.Helper()
		x.reopen(o)
		x.mustPut(0, key, "value")
		x.wantLookUp(0, "AAAACCCC", "NOT_FOUND")
		x.wantBloom(hit, miss, 0, 0)
	}
	look("AAAABBBB", 1, 0) // the prefix is there
	o.MemtableWholeKeyFiltering = true
	look("AAAADDDD", 1, 1)
	o.PrefixExtractor = nil
	look("AAAAEEEE", 1, 2)
}

func TestDBBloomFilterTest_MemtableWholeKeyBloomFilterMultiGet(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	o.MemtablePrefixBloomSizeRatio, o.MemtableWholeKeyFiltering = 0.015, true
	x.reopen(o)
	x.puts(0, "AA", "1", "BB", "2", "flush", "CC", "3")
	s := x.db.GetSnapshot()
	x.mustPut(0, "DD", "4")
	x.deleteRange(0, "BA", "CZ")
	keys := []string{"EE", "AA", "BB", "CC", "DD"}
	check := func(s contract.Snapshot, want ...string) {
		t.Helper()
		for i, v := range x.multiGet(0, s, keys...) {
			if v != want[i] || x.getAt(0, keys[i], s) != want[i] {
				t.Errorf("%s: %s, and %s by Get, not %s", keys[i], v, x.getAt(0, keys[i], s), want[i])
			}
		}
	}
	check(nil, "NOT_FOUND", "1", "NOT_FOUND", "NOT_FOUND", "4")
	check(s, "NOT_FOUND", "1", "2", "3", "NOT_FOUND")
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBBloomFilterTest_TestMemtableBloomAndWBM(t *testing.T) {
	x := newBloomTest(t)
	const size = 4000000
	o := x.currentOptions()
	o.ArenaBlockSize, o.WriteBufferSize = 4096, size
	co := contract.DefaultLRUCacheOptions(3 * size)
	co.NumShardBits, co.HighPriPoolRatio, co.MetadataChargePolicy = 1, 0, contract.DontChargeCacheMetadata
	c, err := rocksdb.NewLRUCacheWithOptions(co)
	x.must(err)
	o.WriteBufferManager = memtable.NewWriteBufferManager(size, c, false)
	within := func(least, most int) {
		t.Helper()
		if n := c.GetUsage(); n < least || n > most {
			t.Errorf("%d bytes charged, not %d to %d", n, least, most)
		}
	}
	x.reopen(o)
	x.mustPut(0, "foo", "bar")
	within(4096, cache.DummyEntrySize)
	o.MemtablePrefixBloomSizeRatio, o.MemtableWholeKeyFiltering = 0.25, true
	x.reopen(o)
	x.mustPut(0, "foo2", "bar2")
	within(size/4, size/4+2*cache.DummyEntrySize)
	it := x.iter(0) // keeps the memtable
	it.walk("seek foo2", "=foo2")
	x.flush(0)
	x.mustPut(0, "foo2", "bar2")
	within(2*size/4, 2*size/4+2*cache.DummyEntrySize)
}

// popBloom gives hits and misses of filters since the last call: of tables, by
// the tickers of seeks, or of memtables.
func (x *bloomTest) popBloom(sst bool) [2]int {
	if sst {
		return [2]int{x.pop(contract.NonLastLevelSeekFilterMatch), x.pop(contract.NonLastLevelSeekFiltered)}
	}
	p := x.perf
	n := [2]int{int(p.BloomMemtableHitCount), int(p.BloomMemtableMissCount)}
	p.BloomMemtableHitCount, p.BloomMemtableMissCount = 0, 0
	return n
}

func (x *bloomTest) wantPopBloom(sst bool, hits, misses int) {
	x.Helper()
	if got := x.popBloom(sst); got != [2]int{hits, misses} {
		x.Fatalf("hits and misses %v, not %d and %d", got, hits, misses)
	}
}

// counted counts in the test's perf context.
func (x *bloomTest) counted(ro *contract.ReadOptions) { ro.PerfContext = x.perf }

func TestDBBloomFilterTest_MemtablePrefixBloom(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	o.PrefixExtractor, o.MemtablePrefixBloomSizeRatio = rocksdb.NewFixedPrefixTransform(4), 0.25
	x.reopen(o)
	x.puts(0, "key", "v", "goat1", "g1", "goat2", "g2")
	get := func(key, want string, hits, misses int) {
		t.Helper()
		x.wantLookUp(0, key, want)
		x.wantPopBloom(false, hits, misses)
	}
	get("key", "v", 0, 0) // out of domain
	get("goat1", "g1", 1, 0)
	get("goat9", "NOT_FOUND", 1, 0)
	get("goan1", "NOT_FOUND", 0, 1)
	var it testIter
	seek := func(hits, misses int, steps ...string) {
		t.Helper()
		it.walk(steps...)
		x.wantPopBloom(false, hits, misses)
	}
	it = x.iter(0, x.counted)
	seek(0, 0, "seek ke", "=key", "for-prev kez", "=key")
	seek(0, 1, "seek goan", "(invalid)")
	seek(1, 0, "seek goat", "=goat1")

	// Another extractor passes by the filter there is.
	x.must(x.db.SetOptions(map[string]string{"prefix_extractor": "fixed:5"}))
	it = x.iter(0, x.counted)
	seek(0, 0, "seek goan", "=goat1")
	seek(0, 0, "seek goat2", "=goat2")

	// A new memtable has a filter of the new prefixes.
	for _, k := range []string{"key", "goat1", "goat2"} {
		x.mustSingleDelete(0, k)
	}
	x.flush(0)
	x.puts(0, "key", "_v", "goat1", "_g1", "goat2", "_g2")
	get("key", "_v", 0, 0)
	get("goat1", "_g1", 1, 0)
	get("goat11", "NOT_FOUND", 1, 0)
	get("goat9", "NOT_FOUND", 0, 1)
	get("goan1", "NOT_FOUND", 0, 1)
	it = x.iter(0, x.counted)
	seek(0, 0, "seek goan", "=goat1")
	seek(1, 0, "seek goat2", "=goat2")
	seek(0, 1, "seek goat0", "(invalid)")
}

// eachFixedFilter opens a database whose tables have filters of each kind.
func eachFixedFilter(t *testing.T, e contract.SliceTransform, shorten bool, f func(x *bloomTest, o contract.Options)) {
	for _, impl := range blockbased.AllFixedFilterImpls {
		t.Run(impl, func(t *testing.T) {
			x := newBloomTest(t)
			x.impl = impl
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.Env, o.PrefixExtractor, o.DisableAutoCompactions = true, x.env, e, true
			o.Statistics = rocksdb.NewStatistics()
			table := x.table(10)
			table.CacheIndexAndFilterBlocks = true
			if shorten {
				table.IndexShortening = contract.ShortenSeparatorsAndSuccessor
			}
			o = withTable(o, table)
			x.destroyAndReopen(o)
			f(x, o)
		})
	}
}

// setExtractor changes the default family's prefix extractor.
func (x *bloomTest) setExtractor(cf int, value, name string) {
	x.Helper()
	x.must(x.cf(cf).SetOptions(map[string]string{"prefix_extractor": value}))
	if got := x.cf(cf).GetOptions().PrefixExtractor.AsString(); got != name {
		x.Fatalf("%s, not %s", got, name)
	}
}

func TestDBBloomFilterTest_DynamicBloomFilterMultipleSST(t *testing.T) {
	eachFixedFilter(t, rocksdb.NewFixedPrefixTransform(1), false, func(x *bloomTest, o contract.Options) {
		count := func(it testIter, key string, n, filtered, match int) {
			x.Helper()
			it.wantFrom(key, n)
			x.wantPopBloom(true, match, filtered)
		}
		x.puts(0, "foo2", "bar2", "foo", "bar", "foq1", "bar1", "fpa", "0", "flush")
		old := x.iter(0, prefixSameAsStart)
		count(old, "foo", 4, 0, 1)

		x.setExtractor(0, "capped:3", "rocksdb.CappedPrefix.3")
		bounded := func() testIter { return x.iter(0, prefixSameAsStart, upperBound("foz90000")) }
		it := bounded()
		count(it, "foo", 2, 0, 1)
		count(it, "gpk", 0, 0, 0)
		x.puts(0, "foo3", "bar3", "foo4", "bar4", "foq5", "bar5", "fpb", "1", "flush")
		tmp := bounded()
		count(tmp, "foo", 4, 0, 2)
		count(tmp, "gpk", 0, 1, 0) // one of the files has a filter of this kind

		x.setExtractor(0, "fixed:2", "rocksdb.FixedPrefix.2")
		x.puts(0, "foo6", "bar6", "foo7", "bar7", "foq8", "bar8", "fpc", "2", "flush")
		tmp = bounded()
		count(tmp, "foo", 9, 0, 2)
		count(tmp, "gpk", 0, 1, 0)

		count(old, "foo", 4, 0, 1) // sees the first file only
		count(it, "foo", 2, 0, 1)
		all := bounded()
		count(all, "foo", 9, 0, 2)
		count(all, "gpk", 0, 1, 0)
		x.setExtractor(0, "capped:3", "rocksdb.CappedPrefix.3")
		all = bounded()
		count(all, "foo", 6, 0, 3)
		count(all, "gpk", 0, 1, 0)
	})
}

func TestDBBloomFilterTest_DynamicBloomFilterNewColumnFamily(t *testing.T) {
	eachFixedFilter(t, rocksdb.NewFixedPrefixTransform(1), false, func(x *bloomTest, o contract.Options) {
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		o.PrefixExtractor = rocksdb.NewCappedPrefixTransform(3)
		x.createColumnFamilies([]string{"ramen_dojo"}, o)
		if got := x.cf(2).GetOptions().PrefixExtractor.AsString(); got != "rocksdb.CappedPrefix.3" {
			x.Fatal(got)
		}
		x.puts(2, "foo3", "bar3", "foo4", "bar4", "foo5", "bar5", "foq6", "bar6", "fpq7", "bar7")
		x.flush(0)
		x.iter(2, prefixSameAsStart).wantFrom("foo", 3)
		x.setExtractor(2, "fixed:2", "rocksdb.FixedPrefix.2")
		x.iter(2, prefixSameAsStart).wantFrom("foo", 4)
		x.wantTicker(contract.BloomFilterPrefixChecked, 0)
		x.wantTicker(contract.BloomFilterPrefixUseful, 0)
	})
}

func TestDBBloomFilterTest_DynamicBloomFilterOptions(t *testing.T) {
	eachFixedFilter(t, rocksdb.NewFixedPrefixTransform(1), false, func(x *bloomTest, o contract.Options) {
		x.puts(0, "foo2", "bar2", "foo", "bar", "foo1", "bar1", "fpa", "0", "flush", "foo3", "bar3", "foo4", "bar4", "foo5", "bar5", "fpb", "1", "flush",
			"foo6", "bar6", "foo7", "bar7", "foo8", "bar8", "fpc", "2", "flush")
		count := func(it testIter, key string, n, filtered, match int) {
			x.Helper()
			it.wantFrom(key, n)
			x.wantPopBloom(true, match, filtered)
		}
		count(x.iter(0, prefixSameAsStart), "foo", 12, 0, 3)
		old := x.iter(0, prefixSameAsStart)
		count(old, "foo", 12, 0, 3)
		x.setExtractor(0, "capped:3", "rocksdb.CappedPrefix.3")
		count(x.iter(0, prefixSameAsStart), "foo", 9, 0, 0)
		count(old, "foo", 12, 0, 3) // made before
		count(old, "abc", 0, 3, 0)
	})
}

// backwardBytewise orders keys by their bytes from the last to the first.
type backwardBytewise struct{ contract.ComparatorBase }

func (*backwardBytewise) Name() string { return "BackwardBytewiseComparator" }
func (*backwardBytewise) Compare(a, b []byte) int {
	for i := 1; i <= min(len(a), len(b)); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

// weirdComparator orders keys of fewer than five bytes, backwards, before others.
type weirdComparator struct{ contract.ComparatorBase }

func (*weirdComparator) Name() string { return "WeirdComparator" }
func (*weirdComparator) Compare(a, b []byte) int {
	switch {
	case len(a) >= 5 && len(b) >= 5:
		return util.BytewiseComparator().Compare(a, b)
	case len(a) >= 5:
		return 1
	case len(b) >= 5:
		return -1
	}
	return util.ReverseBytewiseComparator().Compare(a, b)
}

// weirdBound is a scan from a key to a bound, the entries it gives and what
// filters say: a hit, a miss or nothing.
type weirdBound struct {
	from, to   string
	want       int
	hits, miss int
	memtable   bool // what memtables' filters say does not matter
}

// weirdPrefixes runs scans on a memtable and on a table.
func (x *bloomTest) weirdPrefixes(o contract.Options, pairs []string, scans []weirdBound, more func(sst bool)) {
	x.Helper()
	table := contract.DefaultBlockBasedTableOptions()
	table.FilterPolicy, table.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
	o = withTable(o, table)
	o.MemtablePrefixBloomSizeRatio, o.Statistics = 0.1, rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	x.puts(0, pairs...)
	for _, sst := range []bool{false, true} {
		if sst {
			x.flush(0)
		}
		x.popBloom(sst)
		for _, s := range scans {
			it := x.iter(0, x.counted, upperBound(s.to), func(ro *contract.ReadOptions) { ro.AutoPrefixMode = sst })
			it.wantFrom(s.from, s.want)
			if got := x.popBloom(sst); got != [2]int{s.hits, s.miss} && (sst || !s.memtable) {
				x.Errorf("table %v: [%s, %s): hits and misses %v, not %d and %d", sst, s.from, s.to, got, s.hits, s.miss)
			}
		}
		if more != nil {
			more(sst)
		}
	}
}

func TestDBBloomFilterTest_WeirdPrefixExtractorWithFilter1(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	c := &backwardBytewise{}
	c.Self = c
	o.Comparator = c
	// Keys do not start with their prefixes.
	o.PrefixExtractor = &customTransform{"FixedSuffixTransform", func(k []byte) []byte { return k[len(k)-4:] }, func(k []byte) bool { return len(k) >= 4 }}
	x.weirdPrefixes(o, []string{"321aaaa", "val1", "112aaaa", "val2", "009aaaa", "val3", "baa", "val4", "321abaa", "val5", "zzz", "val6"}, []weirdBound{
		{"aaaa", "999aaaa", 3, 1, 0, false}, {"abaa", "999abaa", 1, 1, 0, false}, {"acaa", "999acaa", 0, 0, 1, false},
		{"baa", "zzzz", 3, 0, 0, true},
	}, nil)
}

func TestDBBloomFilterTest_WeirdPrefixExtractorWithFilter2(t *testing.T) {
	x := newBloomTest(t)
	o := x.currentOptions()
	// Prefixes come after their keys.
	o.Comparator, o.PrefixExtractor = util.ReverseBytewiseComparator(), rocksdb.NewFixedPrefixTransform(4)
	x.weirdPrefixes(o, []string{"aaaa123", "val1", "aaaa211", "val2", "aaaa900", "val3", "aab", "val4", "aaba123", "val5", "qqqq123", "val7",
		"qqqq", "val8", "zzz", "val8"}, []weirdBound{
		{"aaaa999", "aaaa000", 3, 1, 0, false}, {"aaaa999", "aaaa", 3, 1, 0, false}, {"aaaa", "aaaa500", 0, 1, 0, false},
		{"aaba999", "aaba000", 1, 1, 0, false}, {"aaca999", "aaca000", 0, 0, 1, false}, {"zzz", "aaaz", 5, 0, 0, false},
	}, func(sst bool) {
		it := x.iter(0, x.counted, prefixSameAsStart)
		it.wantFrom("qqqq", 1) // the others of the prefix are before it
		x.wantPopBloom(sst, 1, 0)
	})
}

func TestDBBloomFilterTest_WeirdPrefixExtractorWithFilter3(t *testing.T) {
	for _, weird := range []bool{false, true} {
		x := newBloomTest(t)
		o := x.currentOptions()
		// A prefix has no prefix, and with the comparator prefixes are ordered
		// otherwise than their keys.
		o.PrefixExtractor = &customTransform{"NonIdempotentFixed4Transform", func(k []byte) []byte { return k[:4] }, func(k []byte) bool { return len(k) >= 5 }}
		counts := [4]int{2, 1, 5}
		if weird {
			c := &weirdComparator{}
			c.Self = c
			o.Comparator = c
			counts = [4]int{7, 8, 6}
		}
		x.weirdPrefixes(o, []string{"aaaa123", "val1", "aaaa211", "val2", "aaaa900", "val3", "aab", "val4", "aaba123", "val5", "qqqq123", "val7",
			"qqqq", "val8", "zzzz", "val8"}, []weirdBound{
			{"aaaa000", "aaaa999", 3, 1, 0, false}, {"aaaa", "aaaa999", 3, 0, 0, false}, {"aaba0", "aaba9", 1, 1, 0, false},
			{"aaca0", "aaca9", 0, 0, 1, false}, {"qqqq0", "qqqq9", 1, 1, 0, false}, {"qqqq", "qqqq9", counts[0], 0, 0, false},
			{"zzzz", "zzzz9", counts[1], 0, 0, false}, {"aab", "zzzz9", counts[2], 0, 0, false},
		}, nil)
	}
}

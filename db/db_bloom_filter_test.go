// Port of db/db_bloom_filter_test.cc: cases whose filters do not change. Differs:
// the perf context is handed in.

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

func TestDBBloomFilterTestDefFormatVersion_KeyMayExist(t *testing.T) {
	eachFilterFormat(t, bloomFormats[:1], func(x *bloomTest) {
		if x.partitioned { // needs partitioned indexes
			for _, x.config = range []optionConfig{configBlockBasedTableWithPartitionedIndex, configBlockBasedTableWithPartitionedIndexFormat4,
				configPartitionedFilterWithNewTableReader} {
				x.destroyAndReopen(x.currentOptions())
				x.keyMayExist()
			}
			return
		}
		for first := true; first || x.changeOptions(skipPlainTable|skipHashIndex|skipFIFOCompaction); first = false {
			x.keyMayExist()
		}
	})
}

func (x *bloomTest) keyMayExist() {
	x.Helper()
	o := x.currentOptions()
	if f, ok := o.TableFactory.(*blockbased.BlockBasedTableFactory); ok {
		table := *f.Options()
		table.FilterPolicy = blockbased.CreateBloomLikeFilterPolicy(x.impl, 20)
		table.PartitionFilters, table.MetadataBlockSize = x.partitioned, 32
		o = withTable(o, table)
	}
	o.Statistics = rocksdb.NewStatistics()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	mayExist := func(key string, want, wantFound bool) {
		x.Helper()
		opens, added := x.ticker(contract.NoFileOpens), x.ticker(contract.BlockCacheAdd)
		ro := contract.DefaultReadOptions()
		var v contract.PinnableSlice
		may, found := x.full().KeyMayExist(&ro, x.cf(1).Impl(), []byte(key), &v)
		if may != want || found != wantFound || found && string(v.Data()) != "b" {
			x.Fatalf("%q: %v, found %v, %q", key, may, found, v.Data())
		}
		v.Release()
		// No file was opened and no block read.
		x.wantTicker(contract.NoFileOpens, opens)
		x.wantTicker(contract.BlockCacheAdd, added)
	}
	mayExist("a", false, false)
	x.mustPut(1, "a", "b")
	mayExist("a", true, true)
	x.flush(1)
	mayExist("a", true, false)
	x.mustDelete(1, "a")
	mayExist("a", false, false)
	x.flush(1)
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(1).Impl(), true))
	mayExist("a", false, false)
	x.mustDelete(1, "c")
	mayExist("c", false, false)
}

// filteredByPrefix runs the two cases with prefixes of some kind.
func (x *bloomTest) filteredByPrefix(e contract.SliceTransform, reopen bool) {
	x.Helper()
	table := x.table(10)
	table.WholeKeyFiltering = false
	o := withTable(x.last, table)
	o.PrefixExtractor, o.Statistics = e, rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	x.puts(0, "barbarbar", "foo", "barbarbar2", "foo2", "foofoofoo", "bar", "flush")
	get := func(key, want string, useful int) {
		x.Helper()
		x.wantLookUp(0, key, want)
		x.wantPop(contract.BloomFilterPrefixUseful, useful)
		x.wantUseful(0, useful)
	}
	get("barbarbar", "foo", 0)
	get("barbarbar2", "foo2", 0)
	get("barbarbar3", "NOT_FOUND", 0)
	get("barfoofoo", "NOT_FOUND", 1)
	get("foobarbar", "NOT_FOUND", 1)
	// Total order does not matter to lookups.
	ro := contract.DefaultReadOptions()
	ro.TotalOrderSeek, ro.PerfContext = true, x.perf
	if v, err := x.cf(0).Get(&ro, []byte("foobarbar")); !contract.IsNotFound(err) {
		x.Fatal(v, err)
	}
	x.wantPop(contract.BloomFilterPrefixUseful, 1)
	x.wantUseful(0, 1)
	x.must(x.db.SetOptions(map[string]string{"prefix_extractor": "capped:10"}))
	get("foobarbar", "NOT_FOUND", 0)
	if reopen {
		o.PrefixExtractor = rocksdb.NewCappedPrefixTransform(10)
		x.reopen(o)
		get("foobarbar", "NOT_FOUND", 0)
	}
}

func TestDBBloomFilterTestWithPartitioningParam_GetFilterByPrefixBloomCustomPrefixExtractor(t *testing.T) {
	eachPartitioning(t, func(x *bloomTest) { x.filteredByPrefix(limitedDomainGeneric(), true) })
}

func TestDBBloomFilterTestWithPartitioningParam_GetFilterByPrefixBloom(t *testing.T) {
	eachPartitioning(t, func(x *bloomTest) { x.filteredByPrefix(rocksdb.NewFixedPrefixTransform(8), false) })
}

func TestDBBloomFilterTestWithPartitioningParam_FilterNumEntriesCoalesce(t *testing.T) {
	eachPartitioning(t, func(x *bloomTest) {
		for _, prefix := range []bool{true, false} {
			for _, whole := range []bool{true, false} {
				table := x.table(10)
				table.WholeKeyFiltering = whole
				o := withTable(x.last, table)
				o.PrefixExtractor = nil
				want := uint64(0)
				if prefix {
					o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
					want += 2
				}
				if whole {
					want += 5
				}
				x.destroyAndReopen(o)
				var snapshots []contract.Snapshot // keep versions apart
				for i := 1; i <= 3; i++ {
					v := fmt.Sprint("val", i)
					x.puts(0, "foo1", v, "foo2", v, "bar1", v, "bar2", v, "bar3", v)
					snapshots = append(snapshots, x.db.GetSnapshot())
				}
				x.flush(0)
				all, err := x.db.GetPropertiesOfAllTables()
				x.must(err)
				if len(all) != 1 {
					x.Fatalf("%d tables", len(all))
				}
				for _, p := range all {
					if p.NumEntries != 15 || p.NumFilterEntries != want {
						x.Errorf("prefix %v, whole keys %v: %d entries, %d filter entries, not %d", prefix, whole, p.NumEntries, p.NumFilterEntries, want)
					}
				}
				for _, s := range snapshots {
					x.must(x.db.ReleaseSnapshot(s))
				}
			}
		}
	})
}

func TestDBBloomFilterTestWithPartitioningParam_WholeKeyFilterProp(t *testing.T) {
	eachPartitioning(t, func(x *bloomTest) {
		fixed3 := rocksdb.NewFixedPrefixTransform(3)
		o := x.last
		o.Statistics = rocksdb.NewStatistics()
		options := func(e contract.SliceTransform, whole bool) contract.Options {
			table := x.table(10)
			table.WholeKeyFiltering = whole
			o.PrefixExtractor = e
			return withTable(o, table)
		}
		get := func(key, want string, prefix, whole int) {
			x.Helper()
			x.wantLookUp(0, key, want)
			x.wantPop(contract.BloomFilterPrefixUseful, prefix)
			x.wantPop(contract.BloomFilterUseful, whole)
		}
		none := func() {
			x.Helper()
			x.wantPop(contract.BloomFilterPrefixUseful, 0)
			x.wantPop(contract.BloomFilterUseful, 0)
		}
		x.destroyAndReopen(options(fixed3, false))
		x.puts(0, "foobar", "foo", "aaa", "", "zzz", "", "flush")
		x.reopen(options(fixed3, false))
		none()
		get("foo", "NOT_FOUND", 0, 0)
		get("bar", "NOT_FOUND", 1, 0)
		get("foobar", "foo", 0, 0)

		// Whole keys to be filtered, without prefixes: the file's filter is of
		// neither.
		x.reopen(options(nil, true))
		unfiltered := func() {
			x.Helper()
			none()
			get("foo", "NOT_FOUND", 0, 0)
			get("bar", "NOT_FOUND", 0, 0)
			get("foobar", "foo", 0, 0)
		}
		unfiltered()
		x.puts(0, "foobar", "foo", "aaa", "", "zzz", "")
		x.compact(0, "", "")

		// The file has a filter of whole keys, only prefixes are wanted.
		x.reopen(options(fixed3, false))
		unfiltered()
		x.puts(0, "foobar", "foo", "aaa", "", "zzz", "")
		x.compact(0, "", "")

		// An old file with a filter of prefixes, a new one with one of whole keys.
		x.reopen(options(nil, true))
		x.puts(0, "barfoo", "bar", "aaa", "", "zzz", "", "flush")
		for range 2 {
			none()
			get("foo", "NOT_FOUND", 0, 1)
			get("bar", "NOT_FOUND", 0, 1)
			get("foobar", "foo", 0, 1)
			get("barfoo", "bar", 0, 0)
			x.reopen(options(nil, true))
		}

		// Both kinds of filter.
		x.reopen(options(fixed3, true))
		none()
		get("foo", "NOT_FOUND", 0, 1)
		get("bar", "NOT_FOUND", 1, 1)
		get("foobar", "foo", 0, 1)
		get("barfoo", "bar", 0, 0)

		// Prefixes alone.
		x.reopen(options(fixed3, false))
		none()
		get("foo", "NOT_FOUND", 0, 0)
		get("bar", "NOT_FOUND", 1, 0)
		get("foobar", "foo", 0, 0)
		get("barfoo", "bar", 0, 0)
		if n := x.usefulOfAllLevels(); n != 12 {
			x.Errorf("filters of all levels spared %d reads, not 12", n)
		}
	})
}

func TestDBBloomFilterTestWithFormatParams_BloomFilter(t *testing.T) {
	eachFilterFormat(t, bloomFormats, func(x *bloomTest) {
		for first := true; first || x.formatVersion == bloomFormats[0] && x.changeCompactOptions(); first = false {
			x.bloomFilter(2500)
		}
	})
}

func (x *bloomTest) bloomFilter(n int) {
	x.Helper()
	bits, meta := 10.0, uint64(32)
	if x.partitioned && x.decoupled || !x.partitioned {
		bits, meta = 10.5, 320
	}
	table := x.table(bits)
	table.NoBlockCache, table.OptimizeFiltersForMemory = true, false
	table.IndexBlockRestartInterval, table.MetadataBlockSize = 8, meta
	x.createAndReopenWithCF([]string{"pikachu"}, withTable(x.currentOptions(), table))
	for i := range n {
		x.mustPut(1, key(i), key(i))
	}
	x.compact(1, "a", "z")
	for i := 0; i < n; i += 100 {
		x.mustPut(1, key(i), key(i))
	}
	x.flush(1)
	reads := func(suffix string) int {
		x.Helper()
		x.count.ResetCounters()
		for i := range n {
			want := "NOT_FOUND"
			if suffix == "" {
				want = key(i)
			}
			x.wantGet(1, key(i)+suffix, want)
		}
		return int(x.count.Counters().Reads.Ops.Load())
	}
	// Keys that are there: the small table is hardly ever read.
	most, mostMissing := n+2*n/100, 3*n/100
	if x.partitioned {
		most, mostMissing = 4*n+2*n/100, 2*n+3*n/100
	}
	if r := reads(""); r < n || r > most {
		x.Errorf("%d reads for %d keys", r, n)
	}
	if r := reads(".missing"); r > mostMissing {
		x.Errorf("%d reads for %d keys that are not there", r, n)
	}
	props, ok := x.cf(1).GetMapProperty("rocksdb.aggregated-table-properties")
	if !ok {
		x.Fatal("no aggregated table properties")
	}
	var size, entries int
	fmt.Sscan(props["filter_size"], &size)
	fmt.Sscan(props["num_filter_entries"], &entries)
	keys, upper, lower := n+n/100, 11, 10
	if x.partitioned {
		upper = 12
	}
	if x.impl == blockbased.RibbonFilterClassName {
		lower = 7
	}
	if entries != keys || size > upper*keys/8 || size < lower*keys/8 {
		x.Errorf("%d filter entries, %d bytes for %d keys", entries, size, keys)
	}
	x.close()
}

// alwaysTruePolicy makes filters that let all pass, or none.
type alwaysTruePolicy struct {
	blockbased.BuiltinFilterPolicy
	skip bool
}

type alwaysTrueBuilder struct{ n int }

func (b *alwaysTrueBuilder) AddKey([]byte)             { b.n++ }
func (b *alwaysTrueBuilder) AddKeyAndAlt(_, _ []byte)  { b.n += 2 }
func (b *alwaysTrueBuilder) EstimateEntriesAdded() int { return b.n }
func (b *alwaysTrueBuilder) Finish() ([]byte, error) {
	b.n = 0
	return make([]byte, 6), nil // no probes, a byte of bits
}
func (b *alwaysTrueBuilder) CalculateSpace(int) int        { return 6 }
func (b *alwaysTrueBuilder) ApproximateNumEntries(int) int { return 1 << 40 }

func (p *alwaysTruePolicy) GetBuilderWithContext(*contract.FilterBuildingContext) contract.FilterBitsBuilder {
	if p.skip {
		return nil
	}
	return new(alwaysTrueBuilder)
}

func TestDBBloomFilterTestWithFormatParams_SkipFilterOnEssentiallyZeroBpk(t *testing.T) {
	const maxKey = 10
	eachFilterFormat(t, bloomFormats, func(x *bloomTest) {
		get := func() {
			x.Helper()
			for i := range 2 * maxKey {
				want := "NOT_FOUND"
				if i < maxKey {
					want = key(i)
				}
				x.wantGet(0, key(i), want)
			}
		}
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		table := x.table(0.4)
		run := func(p contract.FilterPolicy, positive, truePositive int, none bool) {
			x.Helper()
			table.FilterPolicy = p
			x.destroyAndReopen(withTable(o, table))
			for i := range maxKey {
				x.mustPut(0, key(i), key(i))
			}
			x.flush(0)
			get()
			x.wantPop(contract.BloomFilterFullPositive, positive)
			x.wantPop(contract.BloomFilterFullTruePositive, truePositive)
			props, _ := x.db.GetMapProperty("rocksdb.aggregated-table-properties")
			if (props["filter_size"] == "0") != none {
				x.Errorf("filter_size %q", props["filter_size"])
			}
		}
		run(table.FilterPolicy, 0, 0, true) // too few bits
		run(&alwaysTruePolicy{skip: true}, 0, 0, true)
		run(&alwaysTruePolicy{}, 2*maxKey, maxKey, false)
		// The name that old OPTIONS files have reads filters and makes none.
		builtin, err := blockbased.FilterPolicyFromString("rocksdb.BuiltinBloomFilter")
		x.must(err)
		table.FilterPolicy = builtin
		x.reopen(withTable(o, table))
		get()
		x.wantPop(contract.BloomFilterFullPositive, 2*maxKey)
		x.wantPop(contract.BloomFilterFullTruePositive, maxKey)
		run(builtin, 0, 0, true)
	})
}

func TestDBBloomFilterTestWithFormatParams_FilterBitsBuilderDedup(t *testing.T) {
	eachFilterFormat(t, bloomFormats, func(x *bloomTest) {
		table := x.table(10)
		b := table.FilterPolicy.GetBuilderWithContext(&contract.FilterBuildingContext{TableOptions: &table})
		for _, c := range []struct {
			key, alt string
			want     int
		}{
			{"", "", 0}, {"abc", "", 1}, {"abc1", "abc", 2}, {"bcd", "bcd", 3}, {"cde-1", "cde", 5}, {"cde", "cde", 5}, {"cde1", "cde", 6},
			{"def-1", "def", 8}, {"def", "def", 8}, {"def$$", "", 9}, {"def$$", "", 9}, {"efg42", "efg", 11}, {"efg", "efg", 11},
		} {
			if c.alt != "" {
				b.AddKeyAndAlt([]byte(c.key), []byte(c.alt))
			} else if c.key != "" {
				b.AddKey([]byte(c.key))
			}
			if n := b.EstimateEntriesAdded(); n != c.want {
				x.Fatalf("%d entries after %q, %q, not %d", n, c.key, c.alt, c.want)
			}
		}
	})
}

func TestDBBloomFilterTest_BloomFilterRate(t *testing.T) {
	x := newBloomTest(t)
	for x.changeFilterOptions() {
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		const maxKey = 10000
		for i := range maxKey {
			x.mustPut(1, key(i), key(i))
		}
		x.mustPut(1, key(maxKey+55555), key(maxKey+55555))
		x.flush(1)
		for i := range maxKey {
			x.wantLookUp(1, key(i), key(i))
		}
		x.wantTicker(contract.BloomFilterUseful, 0)
		for i := range maxKey {
			x.wantLookUp(1, key(i+33333), "NOT_FOUND")
		}
		if n, p := x.ticker(contract.BloomFilterUseful), x.perf.AtLevel(0).BloomFilterUseful; n < maxKey*98/100 || p < maxKey*98/100 {
			x.Errorf("filters spared %d reads, %d by the perf context", n, p)
		}
		x.perf.Reset()
	}
}

func TestDBBloomFilterTest_BloomFilterCompatibility(t *testing.T) {
	x := newBloomTest(t)
	bloom, ribbon := rocksdb.NewBloomFilterPolicy(20), rocksdb.NewRibbonFilterPolicy(20, -1)
	configs := []func(t *contract.BlockBasedTableOptions){
		func(t *contract.BlockBasedTableOptions) { t.FilterPolicy = bloom },
		func(t *contract.BlockBasedTableOptions) { t.FilterPolicy, t.PartitionFilters = bloom, true },
		func(t *contract.BlockBasedTableOptions) { t.FilterPolicy, t.FormatVersion = bloom, 4 },
		func(t *contract.BlockBasedTableOptions) { t.FilterPolicy = ribbon },
		func(t *contract.BlockBasedTableOptions) { t.FilterPolicy, t.PartitionFilters = ribbon, true },
	}
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Level0FileNumCompactionTrigger, o.MaxOpenFiles = len(configs)+1, -1
	options := func(i int) contract.Options {
		return blockTable(o, func(t *contract.BlockBasedTableOptions) {
			configs[i](t)
			if t.PartitionFilters {
				t.IndexType = contract.TwoLevelIndexSearch
			}
		})
	}
	for i := range configs {
		x.reopen(options(i))
		x.puts(0, fmt.Sprintf("%d_A", i), "val", fmt.Sprintf("%d_Z", i), "val", "flush")
	}
	for i := range configs {
		x.reopen(options(i))
		for j := range configs {
			x.wantGet(0, fmt.Sprintf("%d_A", j), "val")
			x.wantGet(0, fmt.Sprintf("%d_Z", j), "val")
			x.wantGet(0, fmt.Sprintf("%d_Q", j), "NOT_FOUND")
			x.wantPop(contract.BloomFilterFullPositive, 2)
			x.wantPop(contract.BloomFilterUseful, 1)
		}
	}
}

func TestDBBloomFilterTest_PrefixExtractorWithFilter1(t *testing.T) {
	x := newBloomTest(t)
	table := x.table(10)
	table.WholeKeyFiltering = false
	o := withTable(x.currentOptions(), table)
	o.PrefixExtractor = limitedDomain()
	x.destroyAndReopen(o)
	pairs := []string{"x1111_AAAA", "val1", "x1112_AAAA", "val2", "x1113_AAAA", "val3", "x1114_AAAA", "val4", "zzzzz_AAAA", "val5"}
	x.puts(0, append(pairs[:10:10], "flush")...)
	for i := 0; i < len(pairs); i += 2 {
		x.wantGet(0, pairs[i], pairs[i+1])
	}
}

func TestDBBloomFilterTest_PrefixExtractorWithFilter2(t *testing.T) {
	x := newBloomTest(t)
	o := withTable(x.currentOptions(), x.table(10))
	o.PrefixExtractor = limitedDomain()
	x.destroyAndReopen(o)
	x.puts(0, "x1113_AAAA", "val3", "x1114_AAAA", "val4", "zzzzz_AAAA", "val1", "zzzzz_AAAB", "val2", "zzzzz_AAAC", "val3", "zzzzz_AAAD", "val4", "flush")
	// The seek's key is out of domain.
	x.iter(0).walk("seek zzzzz_AAAA", "zzzzz_AAAA->val1", "next", "zzzzz_AAAB->val2", "next", "zzzzz_AAAC->val3", "next", "zzzzz_AAAD->val4",
		"next", "(invalid)")
}

func TestDBBloomFilterTestVaryPrefixAndFormatVer_PartitionedMultiGet(t *testing.T) {
	for _, prefix := range []bool{false, true} {
		for v := uint32(2); v <= 5; v++ {
			t.Run(fmt.Sprintf("prefix=%v/version=%d", prefix, v), func(t *testing.T) { partitionedMultiGet(newBloomTest(t), prefix, v) })
		}
	}
}

func partitionedMultiGet(x *bloomTest, prefix bool, version uint32) {
	const n, q = 12000, 29
	table := contract.DefaultBlockBasedTableOptions()
	table.FilterPolicy, table.PartitionFilters, table.IndexType = rocksdb.NewBloomFilterPolicy(20), true, contract.TwoLevelIndexSearch
	table.WholeKeyFiltering, table.MetadataBlockSize, table.FormatVersion = !prefix, 290, version
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	useful, checked, truePositive := contract.BloomFilterUseful, contract.BloomFilterFullPositive, contract.BloomFilterFullTruePositive
	if prefix {
		o.PrefixExtractor, table.MetadataBlockSize = rocksdb.NewCappedPrefixTransform(9), 63 // smaller than a filter can be
		useful, checked, truePositive = contract.BloomFilterPrefixUseful, contract.BloomFilterPrefixChecked, contract.BloomFilterPrefixTruePositive
	}
	x.destroyAndReopen(withTable(o, table))
	for i := 0; i < n; i += 2 {
		x.mustPut(0, key(i), key(i))
	}
	x.flush(0)
	if x.totalTableFiles(0) != 1 {
		x.Fatal(x.filesPerLevel(0))
	}
	for _, t := range []contract.Ticker{contract.BlockCacheFilterHit, contract.BlockCacheFilterMiss, useful, checked, truePositive} {
		x.pop(t)
	}
	// lookUp gives how often partitions were asked for; missed is how many
	// keys that are not there may pass the filter.
	lookUp := func(start, stride, missed int) int {
		x.Helper()
		keys := make([]string, q)
		for i := range keys {
			keys[i] = key(start + i*stride)
		}
		notFound := 0
		for i, v := range x.multiGet(0, nil, keys...) {
			if (start+i*stride)%2 != 0 {
				notFound++
				if v != "NOT_FOUND" {
					x.Fatalf("%s is %q", keys[i], v)
				}
			} else if v != keys[i] {
				x.Fatalf("%s is %q", keys[i], v)
			}
		}
		u := x.pop(useful)
		c := x.pop(checked)
		if !prefix {
			c += u
		}
		if u > notFound || u < notFound-missed || c != q {
			x.Errorf("filters were useful %d times, checked %d times; %d keys not there", u, c, notFound)
		}
		x.wantPop(truePositive, q-notFound)
		return x.pop(contract.BlockCacheFilterHit) + x.pop(contract.BlockCacheFilterMiss)
	}
	if a := lookUp(0, 1, 0); a != 1 {
		x.Errorf("%d partitions for neighbours", a)
	}
	if a := lookUp(0, n/q|1, 0); a < q/2+1 {
		x.Errorf("%d partitions for keys far apart", a)
	}
	spanning := 0
	for start := 0; start < n/2 && spanning < 2; {
		switch a := lookUp(start, 1, 2); a {
		case 2:
			spanning++
			start += 2 // so that both sides have keys of both kinds once
		case 1:
			start += q - 4
		default:
			x.Fatalf("%d partitions", a)
		}
	}
	if spanning < 2 {
		x.Errorf("%d lookups met two partitions", spanning)
	}
}

func eachBloomStats(t *testing.T, f func(x *bloomTest)) {
	const plainTable = "plain"
	for _, c := range []struct {
		impl                   string
		partitioned, decoupled bool
	}{
		{blockbased.LegacyBloomFilterClassName, false, false}, {blockbased.LegacyBloomFilterClassName, true, false},
		{blockbased.LegacyBloomFilterClassName, true, true}, {blockbased.FastLocalBloomFilterClassName, false, false},
		{blockbased.FastLocalBloomFilterClassName, true, false}, {blockbased.FastLocalBloomFilterClassName, true, true}, {plainTable, false, false},
	} {
		t.Run(fmt.Sprintf("%s/%v/%v", c.impl, c.partitioned, c.decoupled), func(t *testing.T) {
			x := newBloomTest(t)
			x.impl, x.partitioned, x.decoupled = c.impl, c.partitioned, c.decoupled
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.Env, o.PrefixExtractor = true, x.env, rocksdb.NewFixedPrefixTransform(4)
			o.MemtablePrefixBloomSizeRatio = 8 * 1024 / float64(o.WriteBufferSize)
			if c.impl == plainTable {
				o.TableFactory = rocksdb.NewPlainTableFactory(contract.DefaultPlainTableOptions())
			} else {
				o = withTable(o, x.table(10))
			}
			x.destroyAndReopen(o)
			x.puts(0, "AAAA", "Value1", "ZBRA", "Value3")
			f(x)
		})
	}
}

// wantBloom checks the perf context's counts of filters.
func (x *bloomTest) wantBloom(memHit, memMiss, hit, miss uint64) {
	x.Helper()
	p := x.perf
	if p.BloomMemtableHitCount != memHit || p.BloomMemtableMissCount != memMiss || p.BloomSSTHitCount != hit || p.BloomSSTMissCount != miss {
		x.Fatalf("memtable hits %d, misses %d, table hits %d, misses %d; not %d, %d, %d, %d", p.BloomMemtableHitCount, p.BloomMemtableMissCount,
			p.BloomSSTHitCount, p.BloomSSTMissCount, memHit, memMiss, hit, miss)
	}
}

func TestBloomStatsTestWithParam_BloomStatsTest(t *testing.T) {
	eachBloomStats(t, func(x *bloomTest) {
		x.wantLookUp(0, "AAAA", "Value1")
		x.wantBloom(1, 0, 0, 0)
		x.wantLookUp(0, "ZBRA", "Value3")
		x.wantBloom(2, 0, 0, 0)
		x.wantLookUp(0, "RXDB", "NOT_FOUND")
		x.wantBloom(2, 1, 0, 0)
		x.flush(0)
		x.wantBloom(2, 1, 0, 0)
		x.wantLookUp(0, "AAAA", "Value1")
		x.wantBloom(2, 1, 1, 0)
		x.wantLookUp(0, "ZBRA", "Value3")
		x.wantBloom(2, 1, 2, 0)
		x.wantLookUp(0, "RXDB", "NOT_FOUND")
		x.wantBloom(2, 1, 2, 1)
	})
}

func TestBloomStatsTestWithParam_BloomStatsTestWithIter(t *testing.T) {
	eachBloomStats(t, func(x *bloomTest) {
		counted := func(ro *contract.ReadOptions) { ro.PerfContext = x.perf }
		it := x.iter(0, counted)
		it.walk("seek AAAA", "AAAA->Value1")
		x.wantBloom(1, 0, 0, 0)
		it.walk("seek ZBRA", "ZBRA->Value3")
		x.wantBloom(2, 0, 0, 0)
		it.walk("seek RXDB", "(invalid)")
		x.wantBloom(2, 1, 0, 0)
		x.flush(0)
		p := x.perf
		table := func(hit, miss uint64) { // the empty memtable is asked, too
			x.Helper()
			if p.BloomSSTHitCount != hit || p.BloomSSTMissCount != miss {
				x.Fatalf("table hits %d, misses %d; not %d, %d", p.BloomSSTHitCount, p.BloomSSTMissCount, hit, miss)
			}
		}
		it = x.iter(0, counted)
		it.walk("seek AAAA", "AAAA->Value1")
		table(1, 0)
		it.walk("seek ZBRA", "ZBRA->Value3")
		table(2, 0)
		it.walk("seek RXDB", "(invalid)")
		table(2, 1)
	})
}

func TestDBBloomFilterTest_PrefixScan(t *testing.T) {
	x := newBloomTest(t)
	for x.changeFilterOptions() {
		o := x.currentOptions()
		o.PrefixExtractor, o.DisableAutoCompactions, o.MaxBackgroundCompactions = rocksdb.NewFixedPrefixTransform(8), true, 2
		o.MemtableFactory, o.AllowConcurrentMemtableWrite = memtable.NewHashSkipListRepFactory(16, 4, 4), false
		o = blockTable(o, func(t *contract.BlockBasedTableOptions) {
			t.NoBlockCache, t.FilterPolicy, t.WholeKeyFiltering = true, rocksdb.NewBloomFilterPolicy(10), false
		})
		x.destroyAndReopen(o)
		table := func(from, to int) {
			x.Helper()
			s, e := fmt.Sprintf("%02d______:start", from), fmt.Sprintf("%02d______:end", to)
			x.puts(0, s, s, e, e, "flush")
		}
		// One table on level 1, five small ranges and five large ones on level 0.
		table(0, 10)
		x.compact(0, "", "")
		for i := 1; i <= 5; i++ {
			table(i, i+1)
		}
		for i := 1; i <= 5; i++ {
			table(0, 5+i+1)
		}
		x.count.ResetCounters()
		it := x.iter(0)
		n := 0
		for it.Seek([]byte("03______")); it.Valid() && string(it.Key()[:8]) == "03______"; it.Next() {
			n++
		}
		x.must(it.Status())
		if r := x.count.Counters().Reads.Ops.Load(); n != 2 || r != 2 {
			x.Errorf("%d entries by %d reads", n, r)
		}
		x.close()
	}
}

func TestDBBloomFilterTest_SeekForPrevWithPartitionedFilters(t *testing.T) {
	for _, whole := range []bool{true, false} {
		x := newBloomTest(t)
		const n = 10000
		o := x.currentOptions()
		o.MemtableFactory, o.PrefixExtractor, o.Compression = newSpecialSkipListFactory(n+10), rocksdb.NewFixedPrefixTransform(4), contract.NoCompression
		o = blockTable(o, func(t *contract.BlockBasedTableOptions) {
			t.FilterPolicy, t.IndexShortening, t.IndexType = rocksdb.NewBloomFilterPolicy(50), contract.NoShortening, contract.TwoLevelIndexSearch
			t.BlockSize, t.MetadataBlockSize, t.PartitionFilters, t.WholeKeyFiltering = 128, 128, true, whole
		})
		x.destroyAndReopen(o)
		wo := contract.DefaultWriteOptions()
		wo.DisableWAL = true
		for i := range n {
			x.must(x.db.Put(&wo, fmt.Appendf(nil, "%04d", i), make([]byte, 64)))
		}
		x.flush(0)
		it := x.iter(0)
		for i := range n {
			it.SeekForPrev(fmt.Appendf(nil, "%04da", i))
			if x.must(it.Status()); !it.Valid() {
				x.Fatalf("nothing at or before %04da", i)
			}
		}
	}
}

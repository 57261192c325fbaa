//go:build syncpoint

// Port of db/db_bloom_filter_test.cc (cases with sync points).

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// eachConstruction runs f with upstream's kinds of filters being built.
func eachConstruction(t *testing.T, f func(x *bloomTest, table contract.BlockBasedTableOptions)) {
	for _, c := range []struct {
		detect                 bool
		impl                   string
		partitioned, decoupled bool
	}{
		{false, blockbased.FastLocalBloomFilterClassName, false, false}, {true, blockbased.FastLocalBloomFilterClassName, false, false},
		{true, blockbased.FastLocalBloomFilterClassName, true, false}, {true, blockbased.FastLocalBloomFilterClassName, true, true},
		{true, blockbased.Standard128RibbonFilterClassName, false, false}, {true, blockbased.Standard128RibbonFilterClassName, true, false},
		{true, blockbased.Standard128RibbonFilterClassName, true, true},
	} {
		t.Run(fmt.Sprintf("detect=%v/%s/%v/%v", c.detect, c.impl, c.partitioned, c.decoupled), func(t *testing.T) {
			x := newBloomTest(t)
			x.impl, x.partitioned, x.decoupled = c.impl, c.partitioned, c.decoupled
			table := x.table(10)
			table.DetectFilterConstructCorruption = c.detect
			if c.partitioned {
				table.MetadataBlockSize = 10
			}
			f(x, table)
		})
	}
}

// flushFiltered flushes 5000 keys, with a callback at a sync point, and wants an
// error with a text, or none.
func (x *bloomTest) flushFiltered(point string, tamper func(any), want string) {
	x.Helper()
	for i := range 5000 {
		x.mustPut(0, key(i), key(i))
	}
	if tamper != nil {
		syncpoint.SetCallBack(point, tamper)
		syncpoint.EnableProcessing()
	}
	o := contract.DefaultFlushOptions()
	err := x.db.Flush(&o)
	syncpoint.Reset()
	if want == "" {
		x.must(err)
	} else if !contract.IsCorruption(err) || !strings.Contains(err.Error(), want) {
		x.Fatalf("%v, not %s", err, want)
	}
}

const (
	tamperHashes = "XXPH3FilterBitsBuilder::Finish::TamperHashEntries"
	tamperFilter = "XXPH3FilterBitsBuilder::Finish::TamperFilter"
)

func flipHash(arg any)   { arg.([]uint64)[0] ^= 1 }
func zeroFilter(arg any) { clear(arg.([]byte)[:8]) }

func TestDBFilterConstructionCorruptionTestWithParam_DetectCorruption(t *testing.T) {
	eachConstruction(t, func(x *bloomTest, table contract.BlockBasedTableOptions) {
		o := withTable(x.currentOptions(), table)
		o.DisableAutoCompactions = true
		x.destroyAndReopen(o)
		x.flushFiltered("", nil, "")
		hashes, filter := "", ""
		if table.DetectFilterConstructCorruption {
			hashes, filter = "Filter's hash entries checksum mismatched", "Corrupted filter content"
		}
		x.flushFiltered(tamperHashes, flipHash, hashes)
		x.destroyAndReopen(o)
		x.flushFiltered(tamperFilter, zeroFilter, filter)
	})
}

func TestDBFilterConstructionCorruptionTestWithParam_DynamicallyTurnOnAndOffDetectConstructCorruption(t *testing.T) {
	eachConstruction(t, func(x *bloomTest, table contract.BlockBasedTableOptions) {
		table.DetectFilterConstructCorruption = false
		x.destroyAndReopen(withTable(x.currentOptions(), table))
		set := func(on bool) {
			x.Helper()
			x.must(x.db.SetOptions(map[string]string{"block_based_table_factory": fmt.Sprintf("{detect_filter_construct_corruption=%v;}", on)}))
			if got := x.db.GetOptions().TableFactory.(*blockbased.BlockBasedTableFactory).Options().DetectFilterConstructCorruption; got != on {
				x.Fatal(got)
			}
		}
		x.flushFiltered(tamperHashes, flipHash, "")
		set(true)
		x.flushFiltered(tamperHashes, flipHash, "Filter's hash entries checksum mismatched")
		set(false)
	})
}

func TestDBBloomFilterTest_DynamicBloomFilterUpperBound(t *testing.T) {
	eachFixedFilter(t, rocksdb.NewCappedPrefixTransform(4), true, func(x *bloomTest, o contract.Options) {
		x.puts(0, "abcdxxx0", "val1", "abcdxxx1", "val2", "abcdxxx2", "val3", "abcdxxx3", "val4", "flush")
		// The tickers add up.
		scan := func(from, to string, n, match, filtered int) {
			x.Helper()
			x.iter(0, prefixSameAsStart, upperBound(to)).wantFrom(from, n)
			x.wantTicker(contract.NonLastLevelSeekFilterMatch, match)
			x.wantTicker(contract.NonLastLevelSeekFiltered, filtered)
		}
		scan("abcd0000", "abce", 4, 1, 0)
		x.wantTicker(contract.NonLastLevelSeekDataUsefulFilterMatch, 1)
		scan("abcd0000", "abcdzzzz", 4, 2, 0)
		x.setExtractor(0, "fixed:5", "rocksdb.FixedPrefix.5")
		scan("abcdxx00", "abce", 4, 3, 0)  // adjacent prefixes
		scan("abcdxx01", "abcey", 4, 3, 0) // the bound is too long
		scan("abcdxx02", "abcdy", 4, 4, 0) // the same prefix
		scan("aaaaaaaa", "abce", 0, 4, 0)  // neither
		x.setExtractor(0, "fixed:3", "rocksdb.FixedPrefix.3")
		scan("abc", "abd", 4, 4, 0) // the bound is too short
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
		x.reopen(o)
		scan("abc", "abd", 4, 4, 0)
		o.PrefixExtractor = rocksdb.NewCappedPrefixTransform(4)
		x.reopen(o)
		scan("abc", "abd", 0, 4, 1)
		// The same where the table's own extractor could not be made.
		syncpoint.SetCallBack("BlockBasedTable::Open::ForceNullTablePrefixExtractor", func(arg any) { *arg.(*contract.SliceTransform) = nil })
		syncpoint.EnableProcessing()
		x.reopen(o)
		scan("abc", "abd", 0, 4, 2)
		syncpoint.Reset()
	})
}

func TestDBBloomFilterTest_OptimizeFiltersForHits(t *testing.T) {
	const perFlush, numKeys = 1000, 100000 // upstream: 200000
	x := newBloomTest(t)
	o := x.currentOptions()
	o.MemtableFactory, o.TargetFileSizeBase, o.MaxBytesForLevelBase = newSpecialSkipListFactory(perFlush), 64<<10, 256<<10
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2, 4
	o.MaxWriteBufferNumber, o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = 2, 8, 8
	o.Compression, o.CompactionStyle, o.LevelCompactionDynamicLevelBytes = contract.NoCompression, contract.CompactionStyleLevel, true
	o.OptimizeFiltersForHits = true
	options := func() contract.Options { // with a cache and statistics of their own
		o.Statistics = rocksdb.NewStatistics()
		return blockTable(o, func(t *contract.BlockBasedTableOptions) {
			t.CacheIndexAndFilterBlocks, t.FilterPolicy = true, rocksdb.NewBloomFilterPolicy(10)
		})
	}
	x.createAndReopenWithCF([]string{"mypikachu"}, options())
	order := newRandom()
	keys := make([]int, numKeys/2)
	for i := range keys {
		keys[i] = 2 * i
	}
	for i := len(keys) - 1; i > 0; i-- {
		j := int(order.Uniform(i + 1))
		keys[i], keys[j] = keys[j], keys[i]
	}
	wait := func() {
		t.Helper()
		x.must(x.full().TestWaitForFlushMemTable(x.cf(1).Impl()))
		x.must(x.full().TestWaitForCompact())
	}
	for i, k := range keys {
		x.mustPut(1, key(k), "val")
		if i >= perFlush && i%perFlush == 0 {
			wait()
		}
	}
	ends := func() {
		x.puts(1, key(0), "val", key(numKeys), "val", "flush")
		x.must(x.full().TestWaitForCompact())
	}
	if ends(); x.numTableFilesAtLevel(0, 1) == 0 {
		ends()
	}
	for i := 1; i < numKeys; i += 2 {
		x.wantLookUp(1, key(i), "NOT_FOUND")
	}
	for _, c := range []contract.Ticker{contract.GetHitL0, contract.GetHitL1, contract.GetHitL2AndUp} {
		x.wantTicker(c, 0)
	}
	// Three sorted runs; most of the last one's tables have no filter. Most keys
	// are checked twice.
	least, most := numKeys*65/100, numKeys*120/100
	if n, p := x.ticker(contract.BloomFilterUseful), x.usefulOfAllLevels(); n < least || n > most || p < least || p > most {
		t.Errorf("filters were useful %d times, %d by the perf context; %d to %d expected; %s", n, p, least, most, x.filesPerLevel(1))
	}
	for i := 0; i < numKeys; i += 2 {
		x.wantGet(1, key(i), "val")
	}

	// Filters in the last level, which are cached without the option only.
	families := []string{"default", "mypikachu"}
	o.DisableAutoCompactions, o.NumLevels, o.OptimizeFiltersForHits = true, 9, false
	x.reopenWithColumnFamilies(families, options())
	x.moveFilesToLevel(7, 1)
	x.get(1, key(0))
	hits := x.ticker(contract.BlockCacheFilterHit)
	x.get(1, key(0))
	x.wantTicker(contract.BlockCacheFilterHit, hits+1)

	o.OptimizeFiltersForHits = true
	unfiltered := func() {
		t.Helper()
		x.wantTicker(contract.BlockCacheFilterMiss, 0)
		x.wantTicker(contract.BlockCacheFilterHit, 0)
		x.wantTicker(contract.BlockCacheAdd, 2) // index and data
	}
	x.reopenWithColumnFamilies(families, options())
	x.get(1, key(0))
	unfiltered()

	same := func(f func()) {
		t.Helper()
		hits, misses := x.ticker(contract.BlockCacheFilterHit), x.ticker(contract.BlockCacheFilterMiss)
		f()
		x.wantTicker(contract.BlockCacheFilterHit, hits)
		x.wantTicker(contract.BlockCacheFilterMiss, misses)
	}
	o.MaxOpenFiles = -1 // tables are opened with the database
	x.reopenWithColumnFamilies(families, options())
	same(func() { x.get(1, key(0)) })

	// A table that is moved to the last level.
	o.MaxOpenFiles = 100
	x.reopenWithColumnFamilies(families, options())
	x.puts(1, key(numKeys+1), "val")
	x.flush(1)
	moves, others := countHits("DBImpl::BackgroundCompaction:TrivialMove"), countHits("DBImpl::BackgroundCompaction:NonTrivial")
	syncpoint.EnableProcessing()
	co := contract.DefaultCompactRangeOptions()
	co.BottommostLevelCompaction, co.ChangeLevel, co.TargetLevel = contract.BottommostLevelCompactionSkip, true, 7
	x.must(x.cf(1).CompactRange(&co, nil, nil))
	syncpoint.Reset()
	if *moves < 1 || *others != 0 {
		t.Errorf("%d moves, %d other compactions", *moves, *others)
	}
	same(func() { x.get(1, key(numKeys+1)) })

	x.reopenWithColumnFamilies(families, options())
	x.iter(1).SeekToFirst()
	unfiltered()
}

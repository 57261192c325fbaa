// Port of db/db_etc2_test.cc (prefixes, filters, iterators).

package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestPrefixFullBloomWithReverseComparator_PrefixFullBloomWithReverseComparator(t *testing.T) {
	for _, cached := range []bool{false, true} {
		t.Run(fmt.Sprint("cached=", cached), func(t *testing.T) {
			x := newDBTest(t)
			o := x.last
			o.Comparator, o.PrefixExtractor, o.Statistics = util.ReverseBytewiseComparator(), util.NewCappedPrefixTransform(3), rocksdb.NewStatistics()
			b := rocksdb.DefaultBlockBasedTableOptions()
			if cached {
				b.CacheIndexAndFilterBlocks, b.BlockCache = true, rocksdb.NewLRUCache(1)
			}
			b.FilterPolicy, b.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			x.destroyAndReopen(o)
			x.puts(0, "bar123", "foo", "bar234", "foo2", "foo123", "foo3", "flush")
			if cached {
				b.BlockCache.EraseUnRefEntries()
			}
			x.iter(0).walk("seek bar345", "bar234->foo2", "next", "bar123->foo", "seek foo234", "foo123->foo3", "seek bar", "(invalid)")
		})
	}
}

// prefixBloomOptions filter tables by prefixes of three bytes alone.
func (x *dbTest) prefixBloomOptions() rocksdb.Options {
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) {
		b.FilterPolicy, b.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
	})
	o.PrefixExtractor = util.NewCappedPrefixTransform(3)
	return o
}

// twoFilteredFiles leaves [aaa1 ccc1] and [ddd0] at level 1.
func (x *dbTest) twoFilteredFiles() {
	x.Helper()
	x.puts(0, "aaa1", "", "ccc1", "", "flush", "ddd0", "", "flush")
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = contract.BottommostLevelCompactionSkip
	x.must(x.db.CompactRange(&cro, nil, nil))
}

func TestDBTest2_PrefixBloomReseek(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.prefixBloomOptions())
	x.twoFilteredFiles()
	x.mustPut(0, "bbb1", "")
	// The first file's filter turns bbb1 away, so that level 1 stands in the second
	// file; ccc1 is in the first one again.
	x.iter(0).walk("seek bbb1", "=bbb1", "seek ccc1", "=ccc1")
}

func TestDBTest2_PrefixBloomFilteredOut(t *testing.T) {
	x := newDBTest(t)
	for _, optIn := range []bool{false, true} {
		o := x.prefixBloomOptions()
		o.PrefixSeekOptInOnly = optIn
		x.destroyAndReopen(o)
		x.twoFilteredFiles()
		for _, sameAsStart := range []bool{false, true} {
			want := "(invalid)"
			if optIn && !sameAsStart {
				want = "=ccc1"
			}
			x.iter(0, func(ro *contract.ReadOptions) { ro.PrefixSameAsStart = sameAsStart }).walk("seek bbb1", want)
		}
	}
}

func TestDBTest2_RowCacheSnapshot(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics, o.RowCache = rocksdb.NewStatistics(), rocksdb.NewLRUCache(8*8192)
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "bar1")
	s1 := x.db.GetSnapshot()
	x.puts(0, "foo", "bar2", "flush", "foo2", "bar")
	s2 := x.db.GetSnapshot()
	x.mustPut(0, "foo3", "bar")
	s3 := x.db.GetSnapshot()
	x.wantRows(0, 0)
	for _, step := range []struct {
		s            rocksdb.Snapshot
		want         string
		hits, misses uint64
	}{{nil, "bar2", 0, 1}, {nil, "bar2", 1, 1}, {s1, "bar1", 1, 2}, {s2, "bar2", 2, 2}, {s1, "bar1", 3, 2}, {s3, "bar2", 4, 2}} {
		x.wantGetAt(0, "foo", step.s, step.want)
		x.wantRows(step.hits, step.misses)
	}
	for _, s := range []rocksdb.Snapshot{s1, s2, s3} {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDBTest2_SeekFileRangeDeleteTail(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.PrefixExtractor, o.NumLevels = util.NewCappedPrefixTransform(1), 3
	x.destroyAndReopen(o)
	x.mustPut(0, "a", "a")
	s := x.db.GetSnapshot()
	x.deleteRange(0, "a", "f")
	x.puts(0, "b", "a", "flush", "x", "a", "z", "a", "flush")
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.iter(0, func(ro *contract.ReadOptions) { ro.TotalOrderSeek = true }).walk("seek e", "=x")
	x.must(x.db.ReleaseSnapshot(s))
}

// hashIndexOptions have a hash index over prefixes of one byte and small blocks.
func (x *dbTest) hashIndexOptions() rocksdb.Options {
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) {
		b.BlockSize, b.IndexType, b.IndexShortening = 300, contract.HashSearch, contract.NoShortening
	})
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	return o
}

func TestDBTest2_BlockBasedTablePrefixIndexSeekForPrev(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.hashIndexOptions())
	large := util.NewRandom(301).RandomString(500)
	x.puts(0, "a1", large, "x1", large, "y1", large, "flush")
	it := x.iter(0)
	it.walk("for-prev x3", "=x1", "for-prev a3", "=a1", "for-prev y3", "=y1")
	// Prefixes that are not there: an empty bucket, or another prefix's.
	for _, k := range []string{"b1", "c1", "d1"} {
		if it.SeekForPrev([]byte(k)); it.Valid() {
			same(t, "key before "+k, string(it.Key()), "a1")
		}
		x.must(it.Status())
	}
	it.walk("for-prev y3", "=y1")
}

func TestDBTest2_BlockBasedTablePrefixGetIndexNotFound(t *testing.T) {
	x := newDBTest(t)
	o := x.hashIndexOptions()
	o.Level0FileNumCompactionTrigger = 8
	x.reopen(o)
	x.puts(0, "b1", "ok", "flush")
	for i := range 5 { // with b's bucket empty in at least one of them
		x.puts(0, fmt.Sprint("a", i+1), "", fmt.Sprint("c", i+1), "", "flush")
	}
	x.wantGet(0, "b1", "ok")
}

// wantSeeks checks how often filters were asked for a seek since the last time,
// and said yes or no.
func (x *dbTest) wantSeeks(hits, misses int) {
	x.Helper()
	hit, miss := contract.NonLastLevelSeekFilterMatch, contract.NonLastLevelSeekFiltered
	if x.last.NumLevels == 1 {
		hit, miss = contract.LastLevelSeekFilterMatch, contract.LastLevelSeekFiltered
	}
	x.wantPop(hit, hits)
	x.wantPop(miss, misses)
}

func TestDBTest2_ChangePrefixExtractor(t *testing.T) {
	for _, partitioned := range []bool{true, false} {
		t.Run(fmt.Sprint("partitioned=", partitioned), func(t *testing.T) { testChangePrefixExtractor(t, partitioned) })
	}
}

func testChangePrefixExtractor(t *testing.T, partitioned bool) {
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) {
		b.FilterPolicy, b.PartitionFilters = rocksdb.NewBloomFilterPolicy(10), partitioned
		if partitioned {
			b.IndexType = contract.TwoLevelIndexSearch
		}
	})
	o.PrefixSeekOptInOnly, o.Statistics, o.PrefixExtractor = false, rocksdb.NewStatistics(), rocksdb.NewFixedPrefixTransform(2)
	x.destroyAndReopen(o)
	x.puts(0, "aa", "", "xb", "", "xx1", "", "xz1", "", "zz", "", "flush")

	// Each step's last number is how often a filter said that a key may be there.
	type step struct {
		op, want string
		matches  int
	}
	scan := func(upper string, steps ...step) {
		t.Helper()
		set := []func(*contract.ReadOptions){}
		if upper != "" {
			set = append(set, upperBound(upper))
		}
		it := x.iter(0, set...)
		for _, s := range steps {
			it.walk(s.op, s.want)
			if !partitioned { // a partitioned filter may be asked more often
				x.wantPop(contract.NonLastLevelSeekFilterMatch, s.matches)
			}
		}
	}
	// With prefixes of one byte the filters of two are used where the bound shows
	// that this changes nothing.
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	x.reopen(o)
	scan("", step{"seek xa", "=xb", 0}, step{"seek xz", "=xz1", 0})
	scan("xg9", step{"for-prev xg0", "=xb", 0})
	scan("xx9", step{"seek x", "=xb", 0}, step{"seek xx0", "=xx1", 1})

	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = contract.BottommostLevelCompactionForce
	for range 2 {
		x.must(x.db.CompactRange(&cro, nil, nil))
	}
	scan("", step{"seek x", "=xb", 1}, step{"seek xg", "=xx1", 1}, step{"seek xz", "=xz1", 1})
	scan("xx9", step{"for-prev xx0", "=xb", 1}, step{"seek xx0", "=xx1", 1})
	scan("xg9", step{"for-prev xg0", "=xb", 1})
}

func TestDBTest2_AutoPrefixMode1(t *testing.T) {
	eachOptions(t, skipPlainTable, func(x *dbTest) {
		o := x.currentOptions()
		b := *blockBasedOf(x.T, o.TableFactory)
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		o.TableFactory, o.PrefixExtractor, o.Statistics = rocksdb.NewBlockBasedTableFactory(b), rocksdb.NewFixedPrefixTransform(1), rocksdb.NewStatistics()
		x.reopen(o)
		x.autoPrefixBytewise()
		o.Comparator = util.ReverseBytewiseComparator()
		x.destroyAndReopen(o)
		x.autoPrefixReverse()
		o.Comparator = util.BytewiseComparator()
		// These ask the extractor for prefixes of keys that have none.
		hashed := b.IndexType == contract.HashSearch || x.config == configHashSkipList || x.config == configHashLinkList
		for _, p := range []rocksdb.SliceTransform{rocksdb.NewFixedPrefixTransform(2), rocksdb.NewCappedPrefixTransform(2)} {
			if hashed && !p.InDomain([]byte("a")) {
				continue
			}
			o.PrefixExtractor = p
			x.destroyAndReopen(o)
			x.autoPrefixShortKeys()
		}
	})
}

// boundedStep is a move of an iterator below a bound ("" for none), where it
// leads, and the answers of filters on the way.
type boundedStep struct {
	upper, op, want string
	hits, misses    int
}

// autoPrefix takes steps; between two of them only the bound changes.
func (x *dbTest) autoPrefix(steps ...boundedStep) {
	x.Helper()
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.AutoPrefixMode = true })
	defer it.Close()
	for _, s := range steps {
		it.SetBounds(nil, boundOf(s.upper))
		it.walk(s.op, s.want)
		x.wantSeeks(s.hits, s.misses)
	}
}

func (x *dbTest) autoPrefixBytewise() {
	x.Helper()
	large := util.NewRandom(301).RandomString(500)
	x.puts(0, "a1", large, "x1", large, "y1", large, "flush")
	for _, s := range []boundedStep{{"", "seek b1", "=x1", 0, 0}, {"b9", "seek b1", "(invalid)", 0, 1}, {"z", "seek b1", "=x1", 0, 0},
		{"c", "seek b1", "(invalid)", 0, 1}, {"c1", "seek b1", "(invalid)", 0, 0}} {
		set := []func(*contract.ReadOptions){func(ro *contract.ReadOptions) { ro.AutoPrefixMode = true }}
		if s.upper != "" {
			set = append(set, upperBound(s.upper))
		}
		it := x.iter(0, set...)
		it.walk(s.op, s.want)
		x.wantSeeks(s.hits, s.misses)
		x.must(it.Close())
	}
	x.autoPrefix(boundedStep{"b9", "seek b1", "(invalid)", 0, 1}, boundedStep{"z", "seek b1", "=x1", 0, 0},
		boundedStep{"c", "seek b1", "(invalid)", 0, 1}, boundedStep{"b9", "for-prev b1", "=a1", 0, 0},
		boundedStep{"zz", "last", "=y1", 0, 0}, boundedStep{"zz", "first", "=a1", 0, 0})
}

func (x *dbTest) autoPrefixReverse() {
	x.Helper()
	large := util.NewRandom(301).RandomString(500)
	x.puts(0, "a1", large, "x1", large, "y1", large, "flush")
	// A bound just behind the prefix in bytewise order is none in this one.
	x.autoPrefix(boundedStep{"b1", "seek b9", "(invalid)", 0, 1}, boundedStep{"b1", "seek z", "=y1", 0, 0},
		boundedStep{"b1", "seek c", "(invalid)", 0, 0}, boundedStep{"b", "seek c9", "(invalid)", 0, 0},
		boundedStep{"a", "seek b9", "=a1", 0, 0}, boundedStep{"b", "seek a", "(invalid)", 0, 0},
		boundedStep{"b1", "for-prev b9", "=x1", 0, 0}, boundedStep{"a", "last", "=a1", 0, 0}, boundedStep{"a", "first", "=y1", 0, 0})
}

// autoPrefixShortKeys has keys that are shorter than prefixes, which the mode may
// leave out.
func (x *dbTest) autoPrefixShortKeys() {
	x.Helper()
	large := util.NewRandom(301).RandomString(500)
	x.puts(0, "a", large, "b", large, "b\x00X", large, "c", large, "flush")
	x.autoPrefix(boundedStep{"a\xffXY", "seek a\xff", "(invalid)", 0, 1}, boundedStep{"b\x00", "seek a\xff", "(invalid)", 0, 1})
	it := x.iter(0, upperBound("b\x00"), func(ro *contract.ReadOptions) { ro.TotalOrderSeek = true })
	it.walk("seek a\xff", "=b")
	x.wantSeeks(0, 0)
	x.must(it.Close())
}

func TestDBTest2_SameSmallestInSameLevel(t *testing.T) {
	x := newDBTest(t)
	// Files of one level that hold nothing but the same key.
	x.destroyAndReopen(x.withOperator(x.currentOptions(), "stringappend"))
	x.puts(0, "key", "1", "key", "2")
	x.mergeAll("key", "3", "4")
	x.flush(0)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	x.must(x.db.CompactRange(&cro, nil, nil))
	for _, v := range []string{"5", "6", "7", "8"} {
		x.mustMerge(0, "key", v)
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,4,1")
	x.wantGet(0, "key", "2,3,4,5,6,7,8")
}

func TestDBTest2_TableCacheMissDuringReadFromBlockCacheTier(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(o)
	x.full().TestTableCache().SetCapacity(0) // no table stays open
	x.puts(0, "foo", "bar", "flush")
	opens := x.ticker(contract.NoFileOpens)
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = contract.BlockCacheTier
	_, err := x.db.Get(&ro, []byte("foo"))
	x.wantIs(err, rocksdb.ErrIncomplete)
	x.wantTicker(contract.NoFileOpens, opens)
}

func TestDBTestConcurrentRangeTombstoneConversions_MixedWritesWithConcurrentReaders(t *testing.T) {
	for _, concurrent := range []bool{false, true} {
		for _, least := range []uint32{0, 4} {
			t.Run(fmt.Sprintf("concurrent=%t,least=%d", concurrent, least), func(t *testing.T) { testMixedConversions(t, concurrent, least) })
		}
	}
}

func testMixedConversions(t *testing.T, concurrent bool, least uint32) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowConcurrentMemtableWrite, o.MinTombstonesForRangeConversion = concurrent, least
	o.Statistics, o.WriteBufferSize = rocksdb.NewStatistics(), 64<<20
	x.destroyAndReopen(o)
	for i := range 100 {
		x.mustPut(0, key(i), fmt.Sprint("seed_", i))
	}
	x.flush(0)
	k := func(i int) []byte { return []byte(key(i)) }
	var writers, deleter, readers sync.WaitGroup
	errs := make(chan error, 100)
	writers.Go(func() {
		for i := range 10 {
			errs <- errors.Join(x.db.Put(nil, k(i), []byte(fmt.Sprint("new_", i))), x.db.SingleDelete(nil, k(i)))
		}
	})
	deleter.Go(func() {
		for i := 20; i < 30; i++ {
			errs <- x.db.Delete(nil, k(i))
		}
	})
	writers.Go(func() {
		for _, i := range []int{40, 60, 80} {
			errs <- x.db.DeleteRange(nil, k(i), k(i+10))
		}
	})
	deleter.Wait() // the readers meet its tombstones
	for range 4 {
		readers.Go(func() {
			it := x.db.NewIterator(nil)
			for it.Seek(k(20)); it.Valid() && string(it.Key()) < key(30); it.Next() {
			}
			errs <- errors.Join(it.Err(), it.Close())
		})
		readers.Go(func() {
			it := x.db.NewIterator(nil)
			for it.SeekForPrev(k(30)); it.Valid() && string(it.Key()) >= key(20); it.Prev() {
			}
			errs <- errors.Join(it.Err(), it.Close())
		})
	}
	readers.Wait()
	writers.Wait()
	close(errs)
	for err := range errs {
		x.must(err)
	}
	if n := x.ticker(contract.ReadPathRangeTombstonesInserted) + x.ticker(contract.ReadPathRangeTombstonesDiscarded); least > 0 && n == 0 {
		t.Error("no tombstones were converted")
	}
	want := ""
	for i := range 100 {
		if i >= 10 && i/10%2 == 1 {
			want += fmt.Sprintf("(%s->seed_%d)", key(i), i)
		}
	}
	same(t, "contents", x.contents(0), want)
}

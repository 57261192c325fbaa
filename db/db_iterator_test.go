// Port of db/db_iterator_test.cc (DBIteratorTest: moves, bounds, snapshots).
// Differs: bounds are copies, so that tests which change theirs call SetBounds.

package db_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestDBIteratorBaseTest_APICallsWithPerfContext(t *testing.T) {
	x := newDBTest(t)
	for i := 1; i <= 3; i++ {
		x.mustPut(0, strconv.Itoa(i), strconv.Itoa(i))
	}
	var perf contract.PerfContext
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = &perf })
	want := func(seeks, nexts, prevs uint64) {
		t.Helper()
		if perf.IterSeekCount != seeks || perf.IterNextCount != nexts || perf.IterPrevCount != prevs {
			t.Fatal(perf.IterSeekCount, perf.IterNextCount, perf.IterPrevCount)
		}
	}
	want(0, 0, 0)
	it.walk("seek 2", "first", "last", "for-prev 2")
	want(4, 0, 0)
	it.Next()
	want(4, 1, 0)
	it.Prev()
	want(4, 1, 1)
}

func TestDBIteratorTest_IteratorProperty(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "1", "2")
		x.mustDelete(1, "2")
		it := x.iter(1)
		it.SeekToFirst()
		if _, err := it.GetProperty("non_existing.value"); err == nil {
			x.Fatal("a property that does not exist")
		}
		it.wantProperty("is-key-pinned", "0")
		it.wantProperty("is-value-pinned", "0")
		it.wantProperty("internal-key", "1")
		it.Next()
		it.wantProperty("is-key-pinned", "Iterator is not valid.")
		it.wantProperty("is-value-pinned", "Iterator is not valid.")
		// Where the iteration stopped: a deletion.
		it.wantProperty("internal-key", "2")
		it.wantProperty("write-time", strings.Repeat("\xff", 8))
	})
}

func TestDBIteratorTest_PersistedTierOnIterator(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	ro := readOptions(func(ro *contract.ReadOptions) { ro.ReadTier = contract.PersistedTier })
	it := x.cf(1).NewIterator(ro)
	defer it.Close()
	if !rocksdb.IsNotSupported(it.Status()) {
		t.Fatal(it.Status())
	}
	if _, err := x.db.NewIterators(ro, []*rocksdb.ColumnFamily{x.cf(1)}); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
}

func TestDBIteratorTest_NonBlockingIteration(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for {
			o := x.currentOptions()
			o.Statistics = rocksdb.NewStatistics()
			x.createAndReopenWithCF([]string{"pikachu"}, o)
			cacheOnly := func(ro *contract.ReadOptions) { ro.ReadTier = contract.BlockCacheTier }
			x.mustPut(1, "a", "b")
			it := x.iter(1, cacheOnly)
			if n := it.count(false); n != 1 || it.Status() != nil {
				x.Fatal(n, it.Status())
			}
			it.Close()
			x.flush(1)

			opens, added := x.ticker(contract.NoFileOpens), x.ticker(contract.BlockCacheAdd)
			it = x.iter(1, cacheOnly)
			if n := it.count(false); n != 0 {
				x.Fatal(n)
			}
			it.wantError(rocksdb.IsIncomplete)
			x.wantTicker(contract.NoFileOpens, opens)
			x.wantTicker(contract.BlockCacheAdd, added)
			it.Close()

			x.wantGet(1, "a", "b")
			opens, added = x.ticker(contract.NoFileOpens), x.ticker(contract.BlockCacheAdd)
			it = x.iter(1, cacheOnly)
			if n := it.count(false); n != 1 || it.Status() != nil {
				x.Fatal(n, it.Status())
			}
			x.wantTicker(contract.NoFileOpens, opens)
			x.wantTicker(contract.BlockCacheAdd, added)
			it.Close()
			if !x.changeOptions(skipPlainTable | skipNoSeekToLast | skipMmapReads) {
				return
			}
		}
	})
}

func TestDBIteratorTest_IterSeekBeforePrev(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "a", "b", "c", "d", "flush", "0", "f", "1", "h", "flush", "2", "j")
		x.iter(0).walk("seek c", "prev", "=a", "seek a", "prev", "=2")
	})
}

func TestDBIteratorTest_IterReseekNewUpperBound(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSize, t.BlockSizeDeviation = 1024, 50 })
		o.Compression = contract.NoCompression
		x.reopen(o)
		v := string(util.NewRandom(301).RandomString(400))
		x.puts(0, "a", v, "aabb", v, "aaef", v, "b", v, "flush")
		it := x.iter(0, upperBound("aa"))
		it.walk("seek a", "=a")
		it.SetBounds(nil, []byte("b"))
		it.walk("seek aabc", "=aaef")
	})
}

func TestDBIteratorTest_IterSeekForPrevBeforeNext(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "a", "b", "c", "d", "flush", "0", "f", "1", "h", "flush", "2", "j")
		x.iter(0).walk("for-prev 0", "next", "=1", "for-prev 1", "next", "=2")
	})
}

func TestDBIteratorTest_IterLongKeys(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		k := func(n int, c byte) string { return dummyString(n, c) }
		x.puts(0, k(20, 0), "0", k(32, 2), "2", "a", "b", "flush", k(50, 1), "1", k(127, 3), "3", k(64, 4), "4")
		it := x.iter(0)
		it.walk("seek "+k(20, 0), k(20, 0)+"->0", "next", k(50, 1)+"->1", "next", k(32, 2)+"->2", "next", k(127, 3)+"->3", "next", k(64, 4)+"->4",
			"for-prev "+k(127, 3), k(127, 3)+"->3", "prev", k(32, 2)+"->2", "prev", k(50, 1)+"->1")
		x.iter(0).walk("seek "+k(50, 1), k(50, 1)+"->1", "next", k(32, 2)+"->2", "next", k(127, 3)+"->3")
	})
}

// overwrite writes versions of b that an older iterator has to skip.
func (x *iterTest) overwrite() {
	for range x.last.MaxSequentialSkipInIterations + 1 {
		x.mustPut(0, "b", "f")
	}
}

func TestDBIteratorTest_IterNextWithNewerSeq(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "0", "0", "flush", "a", "b", "c", "d", "d", "e")
		it := x.iter(0)
		x.overwrite()
		it.walk("seek a", "a->b", "next", "c->d", "for-prev b", "a->b", "next", "c->d")
	})
}

func TestDBIteratorTest_IterPrevWithNewerSeq(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "0", "0", "flush", "a", "b", "c", "d", "d", "e")
		it := x.iter(0)
		x.overwrite()
		it.walk("seek d", "d->e", "prev", "c->d", "prev", "a->b", "prev", "for-prev d", "d->e", "prev", "c->d", "prev", "a->b", "prev", "0->0")
	})
}

func TestDBIteratorTest_IterPrevWithNewerSeq2(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "0", "0", "flush", "a", "b", "c", "d", "e", "f")
		a, b := x.iter(0), x.iter(0)
		a.walk("seek c", "c->d")
		b.walk("for-prev d", "c->d")
		x.overwrite()
		a.walk("prev", "a->b", "prev")
		b.walk("prev", "a->b", "prev", "0->0")
	})
}

// eachCompaction runs f with a fresh database and the family pikachu of each
// configuration of compactions, without and with a read callback.
func eachCompaction(t *testing.T, f func(x *iterTest)) {
	eachCallback(t, func(x *iterTest) {
		for {
			x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
			f(x)
			if !x.changeCompactOptions() {
				return
			}
		}
	})
}

func TestDBIteratorTest_IterEmpty(t *testing.T) {
	eachCompaction(t, func(x *iterTest) {
		x.iter(1).walk("first", "(invalid)", "last", "(invalid)", "seek foo", "(invalid)", "for-prev foo", "(invalid)")
	})
}

func TestDBIteratorTest_IterSingle(t *testing.T) {
	eachCompaction(t, func(x *iterTest) {
		x.mustPut(1, "a", "va")
		const none = "(invalid)"
		x.iter(1).walk("first", "a->va", "next", none, "first", "a->va", "prev", none,
			"last", "a->va", "next", none, "last", "a->va", "prev", none,
			"seek ", "a->va", "next", none, "for-prev ", none,
			"seek a", "a->va", "next", none, "for-prev a", "a->va", "prev", none,
			"seek b", none, "for-prev b", "a->va", "prev", none)
	})
}

func TestDBIteratorTest_IterMulti(t *testing.T) {
	eachCompaction(t, func(x *iterTest) {
		x.puts(1, "a", "va", "b", "vb", "c", "vc")
		it := x.iter(1)
		const none = "(invalid)"
		it.walk("first", "a->va", "next", "b->vb", "next", "c->vc", "next", none, "first", "a->va", "prev", none,
			"last", "c->vc", "prev", "b->vb", "prev", "a->va", "prev", none, "last", "c->vc", "next", none,
			"seek ", "a->va", "seek a", "a->va", "seek ax", "b->vb", "for-prev d", "c->vc", "for-prev c", "c->vc", "for-prev bx", "b->vb",
			"seek b", "b->vb", "seek z", none, "for-prev b", "b->vb", "for-prev ", none)
		it.walk("last", "prev", "prev", "next", "b->vb") // reverse to forward
		it.walk("first", "next", "next", "prev", "b->vb")
		x.puts(1, "a", "va2", "a2", "va3", "b", "vb2", "c", "vc2")
		x.mustDelete(1, "b")
		it.walk("first", "a->va", "next", "b->vb", "next", "c->vc", "next", none,
			"last", "c->vc", "prev", "b->vb", "prev", "a->va", "prev", none)
	})
}

func TestDBIteratorTest_IterReseek(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MaxSequentialSkipInIterations = 3
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		reseeks := func(n int) { x.Helper(); x.wantTicker(contract.NumberOfReseeksInIteration, n) }

		x.puts(1, "a", "zero", "a", "one", "a", "two", "b", "bone")
		it := x.iter(1)
		it.walk("first", "a->two")
		reseeks(0)
		it.walk("next", "b->bone")
		reseeks(0)
		x.mustPut(1, "a", "three")
		x.iter(1).walk("first", "a->three", "next", "b->bone")
		reseeks(0)
		x.mustPut(1, "a", "four") // one too many to step over
		it = x.iter(1)
		it.walk("first", "a->four")
		reseeks(0)
		it.walk("next", "b->bone")
		reseeks(1)

		x.mustPut(1, "b", "btwo")
		it = x.iter(1)
		it.walk("last", "b->btwo")
		reseeks(1)
		it.walk("prev", "a->four")
		reseeks(2)
		x.puts(1, "b", "bthree", "b", "bfour")
		it = x.iter(1)
		it.walk("last", "b->bfour")
		reseeks(3)
		it.walk("prev", "a->four")
		reseeks(4)
	})
}

func TestDBIteratorTest_ReseekUponDirectionChange(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	o.Statistics = rocksdb.NewStatistics()
	o.MergeOperator = x.mergeOperator("stringappendtest")
	x.destroyAndReopen(o)
	x.puts(0, "foo", "value", "bar", "value")
	x.iter(0).walk("last", "prev", "next", "=foo")
	x.wantTicker(contract.NumberOfReseeksInIteration, 1)
	x.mustPut(0, "good", "orig")
	x.mustMerge(0, "good", "suffix")
	it := x.iter(0)
	it.walk("seek good", "=good")
	before := x.ticker(contract.NumberOfReseeksInIteration)
	it.Prev()
	x.wantTicker(contract.NumberOfReseeksInIteration, before+1)
}

func TestDBIteratorTest_IterSmallAndLargeMix(t *testing.T) {
	eachCompaction(t, func(x *iterTest) {
		b, d, e := dummyString(100000, 'b'), dummyString(100000, 'd'), dummyString(100000, 'e')
		x.puts(1, "a", "va", "b", b, "c", "vc", "d", d, "e", e)
		x.iter(1).walk("first", "a->va", "next", "b->"+b, "next", "c->vc", "next", "d->"+d, "next", "e->"+e, "next", "(invalid)",
			"last", "e->"+e, "prev", "d->"+d, "prev", "c->vc", "prev", "b->"+b, "prev", "a->va", "prev", "(invalid)")
	})
}

func TestDBIteratorTest_IterMultiWithDelete(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for {
			x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
			x.puts(1, "ka", "va", "kb", "vb", "kc", "vc")
			x.mustDelete(1, "kb")
			x.wantGet(1, "kb", "NOT_FOUND")
			it := x.iter(1)
			it.walk("seek kc", "kc->vc")
			if !x.noBackwards() {
				it.walk("prev", "ka->va")
			}
			if !x.changeOptions(skipNone) {
				return
			}
		}
	})
}

func TestDBIteratorTest_IterPrevMaxSkip(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for {
			x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
			for range 2 {
				x.puts(1, "key1", "v1", "key2", "v2", "key3", "v3", "key4", "v4", "key5", "v5")
			}
			for n := 5; n > 0; n-- {
				i := strconv.Itoa(n)
				x.iter(1).walk("last", "key"+i+"->v"+i)
				x.mustDelete(1, "key"+i)
			}
			x.iter(1).walk("last", "(invalid)")
			if !x.changeOptions(skipMergePut | skipNoSeekToLast) {
				return
			}
		}
	})
}

func TestDBIteratorTest_IterWithSnapshot(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for {
			x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
			x.puts(1, "key1", "val1", "key2", "val2", "key3", "val3", "key4", "val4", "key5", "val5")
			s := x.db.GetSnapshot()
			it := x.iter(1, atSnapshot(s))
			x.puts(1, "key0", "val0", "key100", "val100", "key101", "val101")
			it.walk("seek key5", "key5->val5")
			if !x.noBackwards() {
				it.walk("prev", "key4->val4", "prev", "key3->val3", "next", "key4->val4", "next", "key5->val5")
			}
			if x.config != configMergePut {
				it.walk("next", "(invalid)")
			}
			if !x.noBackwards() {
				it.walk("for-prev key1", "key1->val1", "next", "key2->val2", "next", "key3->val3", "prev", "key2->val2", "prev", "key1->val1", "prev", "(invalid)")
			}
			x.must(x.db.ReleaseSnapshot(s))
			x.must(it.Status())
			if !x.changeOptions(skipNone) {
				return
			}
		}
	})
}

func TestDBIteratorTest_IteratorPinsRef(t *testing.T) {
	eachCompaction(t, func(x *iterTest) {
		x.mustPut(1, "foo", "hello")
		it := x.iter(1)
		x.mustPut(1, "foo", "newvalue1")
		for i := range 100 {
			x.mustPut(1, key(i), key(i)+dummyString(100000, 'v'))
		}
		x.mustPut(1, "foo", "newvalue2")
		it.walk("first", "foo->hello", "next", "(invalid)")
	})
}

func (x *iterTest) closeFamily(i int) {
	x.Helper()
	x.must(x.cfs[i].Close())
	x.cfs = append(x.cfs[:i], x.cfs[i+1:]...)
}

func TestDBIteratorTest_IteratorDeleteAfterCfDelete(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.puts(1, "foo", "delete-cf-then-delete-iter", "hello", "value2")
		it := x.iter(1)
		it.walk("first", "foo->delete-cf-then-delete-iter")
		x.closeFamily(1)
		it.walk("next", "hello->value2")
		x.must(it.Close())
	})
}

func TestDBIteratorTest_IteratorSeekAfterCfDelete(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.puts(1, "foo", "delete-cf-then-seek-iter", "hello", "value2")
		it := x.iter(1)
		x.closeFamily(1)
		it.walk("seek foo", "foo->delete-cf-then-seek-iter", "for-prev hello", "hello->value2", "first", "foo->delete-cf-then-seek-iter", "next", "hello->value2")
		x.must(it.Close())
	})
}

func TestDBIteratorTest_IteratorAutoRefreshAfterCfDeleteBeforeLazyInit(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.puts(1, "foo", "delete-cf-then-auto-refresh", "flush")
		s := x.db.GetSnapshot()
		it := x.iter(1, atSnapshot(s), func(ro *contract.ReadOptions) { ro.AutoRefreshIteratorWithSnapshot = true })
		x.puts(1, "zzz", "after-snapshot", "flush")
		x.closeFamily(1)
		it.walk("seek foo", "foo->delete-cf-then-auto-refresh", "for-prev foo", "foo->delete-cf-then-auto-refresh", "next", "(invalid)")
		x.must(it.Close())
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestDBIteratorTest_IteratorDeleteAfterCfDrop(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "drop-cf-then-delete-iter")
		it := x.iter(1)
		it.walk("first", "foo->drop-cf-then-delete-iter")
		x.must(x.db.DropColumnFamily(x.cf(1)))
		x.closeFamily(1)
		x.must(it.Close())
	})
}

func TestDBIteratorTest_IteratorSeekAfterCfDrop(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "drop-cf-then-seek-iter")
		it := x.iter(1)
		x.must(x.db.DropColumnFamily(x.cf(1)))
		x.closeFamily(1)
		const foo = "foo->drop-cf-then-seek-iter"
		it.walk("seek foo", foo, "for-prev foo", foo, "first", foo)
		x.must(it.Close())
	})
}

func TestDBIteratorTest_DBIteratorBoundTest(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.PrefixExtractor = nil
		x.destroyAndReopen(o)
		data := []string{"a", "0", "foo", "bar", "foo1", "bar1", "g1", "0"}
		x.puts(0, data...)
		x.iter(0).walk("seek foo", "=foo", "next", "=foo1", "next", "=g1", "for-prev g1", "=g1", "prev", "=foo1", "prev", "=foo")
		x.iter(0, upperBound("foo2")).walk("seek foo", "=foo", "next", "=foo1", "next", "(invalid)")
		x.iter(0, upperBound("foo")).walk("last", "=a")

		x.must(x.db.SetOptions(map[string]string{"prefix_extractor": "fixed:1"}))
		x.puts(0, data...)
		x.iter(0, upperBound("g")).walk("seek foo", "=foo", "next", "=foo1", "next", "(invalid)")

		x.destroyAndReopen(o)
		x.puts(0, "a", "0", "b", "0", "b1", "0", "c", "0", "d", "0", "e", "0")
		x.mustDelete(0, "c")
		x.mustDelete(0, "d")
		var perf contract.PerfContext
		counting := func(ro *contract.ReadOptions) { ro.PerfContext = &perf }
		it := x.iter(0, counting)
		it.walk("seek b", "=b", "next", "=b1")
		perf = contract.PerfContext{}
		it.walk("next", "=e")
		if n := perf.InternalDeleteSkippedCount; n != 2 {
			x.Fatal(n)
		}
		perf = contract.PerfContext{}
		x.iter(0, counting, upperBound("c")).walk("seek b", "=b", "next", "=b1", "next", "(invalid)")
		if n := perf.InternalDeleteSkippedCount; n != 0 {
			x.Fatal(n)
		}
	})
}

func TestDBIteratorTest_DBIteratorBoundMultiSeek(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.puts(0, "a", "0", "z", "0", "flush", "foo1", "bar1", "foo2", "bar2", "foo3", "bar3", "foo4", "bar4")
		it := x.iter(0, upperBound("foo5"))
		it.walk("seek foo1", "=foo1")
		hit, miss := x.ticker(contract.BlockCacheHit), x.ticker(contract.BlockCacheMiss)
		if hit+miss == 0 {
			x.Fatal("no block was read")
		}
		it.walk("seek foo4", "=foo4", "seek foo2", "=foo2", "next", "=foo3")
		x.wantTicker(contract.BlockCacheHit, hit)
		x.wantTicker(contract.BlockCacheMiss, miss)
	})
}

func TestDBIteratorTest_IndexWithFirstKey(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for _, tailing := range []bool{false, true} {
			x.Run("tailing="+strconv.FormatBool(tailing), func(t *testing.T) {
				y := &iterTest{newDBTest(t), x.callback}
				y.indexWithFirstKey(tailing)
			})
		}
	})
}

func (x *iterTest) firstKeyIndex(cache int) {
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) {
		blockAKey(t)
		t.IndexType, t.IndexShortening = contract.BinarySearchWithFirstKey, contract.NoShortening
		t.BlockCache = rocksdb.NewLRUCache(cache)
	})
	o.MergeOperator = x.mergeOperator("stringappend")
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
}

func (x *iterTest) merges(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		x.mustMerge(0, pairs[i], pairs[i+1])
	}
	x.flush(0)
}

func (x *iterTest) indexWithFirstKey(tailing bool) {
	x.firstKeyIndex(8000)
	x.merges("a1", "x1", "b1", "y1", "c0", "z1")
	x.merges("a2", "x2", "b2", "y2", "c0", "z2")
	x.merges("a3", "x3", "b3", "y3", "c3", "z3")
	tail := func(ro *contract.ReadOptions) { ro.Tailing = tailing }
	cacheOnly := func(ro *contract.ReadOptions) { ro.ReadTier = contract.BlockCacheTier }
	want := func(hit, miss int) {
		x.Helper()
		x.wantTicker(contract.BlockCacheDataHit, hit)
		x.wantTicker(contract.BlockCacheDataMiss, miss)
	}
	it, cached := x.iter(0, tail), x.iter(0, tail, cacheOnly)
	it.walk("seek b10", "b2->y2")
	want(0, 1)
	cached.walk("seek b10", "b2->y2")
	want(1, 1)
	cached.Next()
	cached.wantError(rocksdb.IsIncomplete)
	cached.Seek([]byte("b20"))
	cached.wantError(rocksdb.IsIncomplete)
	it.walk("next", "b3->y3")
	want(1, 4)
	cached.walk("seek b20", "b3->y3")
	want(2, 4)
	it.walk("seek c0", "c0->z1,z2")
	want(2, 6)
	it.walk("next", "c3->z3")
	want(2, 7)
	x.must(it.Close())
	// Blocks that are wholly above the bound are not read.
	it = x.iter(0, tail, cacheOnly, upperBound("b3"))
	it.walk("seek b2", "b2->y2")
	want(3, 7)
	it.walk("next", "(invalid)")
	want(3, 7)
}

func TestDBIteratorTest_IndexWithFirstKeyGet(t *testing.T) {
	x := &iterTest{newDBTest(t), false}
	x.firstKeyIndex(1000)
	x.merges("a", "x1", "c", "y1", "e", "z1")
	x.merges("c", "y2", "e", "z2")
	want := func(miss int) {
		t.Helper()
		x.wantTicker(contract.BlockCacheDataHit, 0)
		x.wantTicker(contract.BlockCacheDataMiss, miss)
	}
	x.wantGet(0, "b", "NOT_FOUND") // between blocks
	want(0)
	x.wantGet(0, "c", "y1,y2")
	want(2)
	x.wantGet(0, "a", "x1")
	want(3)
	if got := x.multiGet(0, nil, "b", "e"); got[0] != "NOT_FOUND" || got[1] != "z1,z2" {
		t.Fatal(got)
	}
}

func TestDBIteratorTest_PrevAfterAndNextAfterMerge(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.defaultOptions()
		o.MergeOperator = x.mergeOperator("put")
		x.destroyAndReopen(o)
		for i := 1; i <= 3; i++ {
			x.mustMerge(0, strconv.Itoa(i), "data"+strconv.Itoa(i))
		}
		x.iter(0).walk("seek 2", "=2", "prev", "=1", "for-prev 1", "=1", "next", "=2")
	})
}

func TestDBIteratorTest_DBIteratorSkipRecentDuplicatesTest(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MaxSequentialSkipInIterations = 3
		o.WriteBufferSize = 1 << 27
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.mustPut(0, "b", "0")
		var perf contract.PerfContext
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = &perf })
		for i := range 100 {
			x.mustPut(0, "b", strconv.Itoa(i+1))
		}
		if v := x.property(0, "rocksdb.num-files-at-level0"); v != "0" {
			x.Fatal(v)
		}
		perf = contract.PerfContext{}
		it.walk("seek a", "b->0")
		// Well below the hundred versions.
		if perf.InternalKeySkippedCount >= 4 || perf.InternalRecentSkippedCount >= 8 || perf.SeekOnMemtableCount >= 10 ||
			perf.NextOnMemtableCount >= 10 || perf.PrevOnMemtableCount >= 10 {
			x.Fatalf("%+v", perf)
		}
		if perf.InternalDeleteSkippedCount != 0 || perf.InternalMergeCount != 0 || perf.InternalRecentSkippedCount < 2 || perf.SeekOnMemtableCount < 2 {
			x.Fatalf("%+v", perf)
		}
		x.wantTicker(contract.NumberOfReseeksInIteration, 1)
	})
}

func TestDBIteratorTest_Refresh(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.mustPut(0, "x", "y")
		it := x.iter(0)
		it.walk("seek a", "=x", "next", "(invalid)")
		x.mustPut(0, "c", "d")
		it.walk("seek a", "=x", "next", "(invalid)")
		x.must(it.Refresh(nil))
		it.walk("seek a", "=c", "next", "=x", "next", "(invalid)")
		x.flush(0)
		x.mustPut(0, "m", "n")
		it.walk("seek a", "=c", "next", "=x", "next", "(invalid)")
		x.must(it.Refresh(nil))
		it.walk("seek a", "=c", "next", "=m", "next", "=x", "next", "(invalid)")
	})
}

func TestDBIteratorTest_RefreshWithSnapshot(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, key(0), "val0", key(5), "val5", "flush")
		x.moveFilesToLevel(1, 0)
		x.puts(0, key(1), "val1", key(4), "val4", "flush", key(2), "val2", key(3), "val3")
		s1 := x.db.GetSnapshot()
		x.mustPut(0, key(2), "new val")
		x.deleteRange(0, key(4), key(7))
		s2 := x.db.GetSnapshot()
		x.wantFiles(0, "1,1")
		it := x.iter(0, atSnapshot(s1))
		x.mustPut(0, key(6), "val6")
		steps := func(from, to int, key2 string) {
			x.Helper()
			for i := from; i < to; i++ {
				v := "val" + strconv.Itoa(i)
				if i == 2 {
					v = key2
				}
				it.walk(key(i)+"->"+v, "next")
			}
		}
		refresh := func(s contract.Snapshot) {
			x.Helper()
			x.must(it.Refresh(s))
			it.walk("(invalid)")
		}
		for range 2 {
			it.walk("seek " + key(1))
			steps(1, 3, "val2")
			refresh(s1)
			it.walk("seek " + key(3))
			steps(3, 6, "")
			it.walk("(invalid)")
			refresh(s2)
			it.SeekToFirst()
			steps(0, 4, "new val")
			it.walk("(invalid)")
			refresh(s1)
			it.walk("seek " + key(3))
			steps(3, 6, "")
			it.walk("(invalid)")
			refresh(nil)
			it.walk("seek " + key(2))
			steps(2, 4, "new val")
			steps(6, 7, "")
			it.walk("(invalid)")
			x.flush(0)
			refresh(s1)
		}
		x.must(it.Close())
		x.must(x.db.ReleaseSnapshot(s1))
		x.must(x.db.ReleaseSnapshot(s2))
	})
}

func TestDBIteratorTest_UpperBoundWithChangeDirection(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MaxSequentialSkipInIterations = 3
		x.destroyAndReopen(o)
		x.puts(0, "a", "1", "y", "1", "y1", "1", "y2", "1", "y3", "1", "z", "1", "flush", "a", "1", "z", "1", "bar", "1", "foo", "1")
		it := x.iter(0, upperBound("x"), func(ro *contract.ReadOptions) { ro.MaxSkippableInternalKeys = 1000 })
		it.walk("seek foo", "=foo", "prev", "=bar")
	})
}

func TestDBIteratorTest_TableFilter(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "a", "1", "flush", "b", "2", "c", "3", "flush", "d", "4", "e", "5", "f", "6", "flush")
		unseen := map[uint64]bool{1: true, 2: true, 3: true}
		x.iter(0, func(ro *contract.ReadOptions) {
			ro.TableFilter = func(p *contract.TableProperties) bool {
				if !unseen[p.NumEntries] {
					x.Errorf("a table of %d entries", p.NumEntries)
				}
				delete(unseen, p.NumEntries)
				return true
			}
		}).walk("first", "a->1", "next", "b->2", "next", "c->3", "next", "d->4", "next", "e->5", "next", "f->6", "next", "(invalid)")
		if len(unseen) > 0 {
			x.Fatal(unseen)
		}
		x.iter(0, func(ro *contract.ReadOptions) {
			ro.TableFilter = func(p *contract.TableProperties) bool { return p.NumEntries != 2 }
		}).walk("first", "a->1", "next", "d->4", "next", "e->5", "next", "f->6", "next", "(invalid)")
	})
}

func TestDBIteratorTest_UpperBoundWithPrevReseek(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MaxSequentialSkipInIterations = 3
		x.destroyAndReopen(o)
		x.puts(0, "a", "1", "y", "1", "z", "1", "flush", "a", "1", "z", "1", "bar", "1",
			"foo", "1", "foo", "2", "foo", "3", "foo", "4", "foo", "5")
		s := x.db.GetSnapshot()
		x.mustPut(0, "foo", "6")
		it := x.iter(0, atSnapshot(s), upperBound("x"))
		it.walk("for-prev goo", "=foo", "prev", "=bar")
		x.must(it.Close())
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestDBIteratorTest_SkipStatistics(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.puts(0, "a", "1", "b", "1", "c", "1", "flush", "d", "1", "e", "1", "f", "1", "a", "2", "b", "2", "flush")
		for _, k := range []string{"d", "e", "f"} {
			x.mustDelete(0, k)
		}
		skipped := 0
		want := func(it testIter, backwards bool, entries, skips int) {
			x.Helper()
			if n := it.count(backwards); n != entries || it.Status() != nil {
				x.Fatal(n, it.Status())
			}
			x.must(it.Close())
			skipped += skips
			x.wantTicker(contract.NumberIterSkip, skipped)
		}
		want(x.iter(0), false, 3, 8)
		want(x.iter(0), true, 3, 8)
		x.puts(0, "aa", "1", "ab", "1", "ac", "1", "ad", "1", "flush")
		for _, k := range []string{"ab", "ac", "ad"} {
			x.mustDelete(0, k)
		}
		it := x.iter(0, upperBound("b"))
		it.walk("seek aa", "=aa", "next", "(invalid)")
		x.must(it.Close())
		skipped += 6
		x.wantTicker(contract.NumberIterSkip, skipped)
		want(x.iter(0, upperBound("b")), true, 2, 7)
	})
}

func TestDBIteratorTest_SeekAfterHittingManyInternalKeys(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.destroyAndReopen(x.currentOptions())
		two := func(ro *contract.ReadOptions) { ro.MaxSkippableInternalKeys = 2 }
		x.mustPut(0, "1", "val_1")
		for _, k := range []string{"2", "3", "4", "5"} {
			x.mustDelete(0, k)
		}
		x.mustPut(0, "6", "val_6")
		it := x.iter(0, two)
		it.walk("first", "1->val_1")
		it.Next()
		it.wantError(rocksdb.IsIncomplete)
		it.wantProperty("internal-key", "4")
		x.iter(0, two).walk("seek 4", "6->val_6")
	})
}

func TestDBIteratorTest_NonBlockingIterationBugRepro(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.destroyAndReopen(blockTable(x.currentOptions(), blockAKey))
		x.puts(0, "b", "", "d", "", "flush")
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.ReadTier = contract.BlockCacheTier })
		for range 20 {
			x.mustPut(0, "c", "")
		}
		x.iter(0).walk("seek d", "=d") // the second block is cached now
		it.Seek([]byte("a"))
		if !rocksdb.IsIncomplete(it.Status()) {
			x.Fatal(it.at(), it.Status())
		}
	})
}

func TestDBIteratorTest_SeekBackwardAfterOutOfUpperBound(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "a", "", "b", "", "flush")
		x.iter(0, upperBound("b")).walk("for-prev a", "=a", "next", "(invalid)", "for-prev a", "=a")
	})
}

func TestDBIteratorTest_IterateBoundChangedBeforeSeek(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSize = 100 })
		o.Compression = contract.NoCompression
		x.reopen(o)
		x.puts(0, "aaa", dummyString(50, 'v'), "flush", "bbb", "v", "ccc", "v", "ddd", "v", "flush", "eee", "v", "flush")
		x.compact(0, "", "")
		it := x.iter(0, upperBound("e"))
		it.walk("seek b", "=bbb")
		it.SetBounds(nil, []byte("c"))
		it.walk("seek b", "=bbb", "next", "(invalid)")
		it = x.iter(0, lowerBound("a"))
		it.walk("for-prev d", "=ccc")
		it.SetBounds([]byte("c"), nil)
		it.walk("for-prev d", "=ccc", "prev", "(invalid)")
	})
}

func TestDBIteratorTest_IterateWithLowerBoundAcrossFileBoundary(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		x.puts(0, "aaa", "v", "bbb", "v", "flush", "ccc", "v", "ddd", "v", "flush")
		x.compact(0, "", "")
		x.iter(0, lowerBound("b")).walk("for-prev d", "=ccc", "prev", "=bbb", "prev", "(invalid)")
	})
}

func TestDBIteratorTest_PrefixSameAsStartSeekToNonInDomainKey(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.PrefixExtractor = true, rocksdb.NewFixedPrefixTransform(3)
	x.destroyAndReopen(o)
	x.puts(0, "abc1", "v1", "abc2", "v2", "abc3", "v3")
	x.iter(0, prefixSameAsStart).walk("seek ab", "abc1->v1", "next", "=abc2", "next", "=abc3")
}

func prefixSameAsStart(ro *contract.ReadOptions) { ro.PrefixSameAsStart = true }

func TestDBIteratorTest_PrefixSameAsStartIteratePastOutOfDomainKey(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.PrefixExtractor = true, rocksdb.NewFixedPrefixTransform(3)
	x.destroyAndReopen(o)
	x.puts(0, "abc1", "v1", "abc2", "v2", "zz", "short")
	x.iter(0, prefixSameAsStart).walk("seek abc1", "=abc1", "next", "=abc2", "next", "(invalid)")
}

func TestDBIteratorWithReadCallbackTest_ReadCallback(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, "foo", "v1", "foo", "v2", "foo", "v3", "a", "va", "z", "vz")
	seq := x.full().GetLatestSequenceNumber()
	x.puts(0, "foo", "v4", "foo", "v5", "bar", "v7")
	under := func(seen contract.SequenceNumber) testIter {
		it := testIter{x.full().NewIteratorImpl(nil, x.cf(0).Impl(), x.full().GetLatestSequenceNumber(), &seenUpTo{seen}), x}
		x.toClose = append(x.toClose, it)
		return it
	}
	under(seq).walk("seek foo", "foo->v3", "seek bar", "foo->v3", "seek a", "a->va", "next", "foo->v3",
		"seek z", "z->vz", "prev", "foo->v3", "prev", "a->va", "for-prev y", "foo->v3", "for-prev bar", "a->va")
	// More versions than are stepped over: the seek finds the newest that is seen.
	n := int(x.last.MaxSequentialSkipInIterations) + 10
	for i := range n {
		x.mustPut(0, "bar", strconv.Itoa(i))
	}
	seq = x.full().GetLatestSequenceNumber()
	x.mustPut(0, "bar", "v8")
	under(seq).walk("seek z", "z->vz", "prev", "foo->v5", "prev", "bar->"+strconv.Itoa(n-1))
}

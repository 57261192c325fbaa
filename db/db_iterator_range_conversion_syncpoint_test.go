//go:build syncpoint

// Port of db/db_iterator_test.cc (ReadPathRangeTombstoneTest) and
// db/db_flush_test.cc (FlushAfterReadPathRangeTombstoneInsertion).

package db_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const addRangePoint = "MemTable::AddLogicallyRedundantRangeTombstone:AddRange"

// rangeTest notes the ranges that iterators try to add.
type rangeTest struct {
	*dbTest
	forward  bool
	udt      bool
	ts       []byte
	attempts [][2]string
	stats    rocksdb.Statistics
}

func eachDirection(t *testing.T, f func(x *rangeTest)) {
	for name, forward := range map[string]bool{"reverse": false, "forward": true} {
		t.Run(name, func(t *testing.T) {
			x := &rangeTest{dbTest: newDBTest(t), forward: forward}
			x.observe(func() {})
			f(x)
		})
	}
}

func eachDirectionWithTimestamps(t *testing.T, f func(x *rangeTest)) {
	eachDirection(t, func(x *rangeTest) {
		for _, x.udt = range []bool{false, true} {
			f(x)
		}
	})
}

func (x *rangeTest) observe(then func()) {
	syncpoint.SetCallBack(addRangePoint, func(arg any) {
		r := arg.([2][]byte)
		x.attempts = append(x.attempts, [2]string{string(r[0]), string(r[1])})
		then()
	})
	syncpoint.EnableProcessing()
}

// open makes a fresh database that converts runs of n tombstones.
func (x *rangeTest) open(n uint32, change func(o *rocksdb.Options)) {
	x.Helper()
	o := x.currentOptions()
	o.MinTombstonesForRangeConversion = n
	x.stats = monitoring.CreateDBStatistics()
	o.Statistics = x.stats
	if x.udt {
		o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
		x.ts = []byte{1, 0, 0, 0, 0, 0, 0, 0}
	} else {
		x.ts = nil
	}
	if change != nil {
		change(&o)
	}
	x.destroyAndReopen(o)
	x.attempts = nil
}

// prefixFiltered makes tables with a filter of prefixes of n bytes.
func prefixFiltered(n int) func(o *rocksdb.Options) {
	return func(o *rocksdb.Options) {
		o.DisableAutoCompactions = true
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(n)
		to := rocksdb.DefaultBlockBasedTableOptions()
		to.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		to.WholeKeyFiltering = false
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(to)
	}
}

func (x *rangeTest) write(key, value string) {
	x.Helper()
	if x.udt {
		x.must(x.db.PutWithTimestamp(nil, []byte(key), x.ts, []byte(value)))
		return
	}
	x.mustPut(0, key, value)
}

func (x *rangeTest) delete(keys string) {
	x.Helper()
	for _, k := range strings.Fields(keys) {
		if x.udt {
			x.must(x.db.DeleteWithTimestamp(nil, []byte(k), x.ts))
		} else {
			x.mustDelete(0, k)
		}
	}
}

// setup writes the keys from first to last, flushes, and deletes.
func (x *rangeTest) setup(first, last byte, flushed, inMemtable string) {
	x.Helper()
	for c := first; c <= last; c++ {
		x.write(string(c), "v"+string(c))
	}
	x.flush(0)
	if flushed != "" {
		x.delete(flushed)
		x.flush(0)
	}
	x.delete(inMemtable)
	x.attempts = nil
}

func (x *rangeTest) readOptions() *rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	if x.udt {
		ro.Timestamp = bytes.Repeat([]byte{0xff}, 8)
	}
	return &ro
}

// keys are those an iterator shows in x's direction, in order.
func (x *rangeTest) keys(ro *rocksdb.ReadOptions) string {
	x.Helper()
	it := x.db.NewIterator(ro)
	var got []string
	if x.forward {
		for it.SeekToFirst(); it.Valid(); it.Next() {
			got = append(got, string(it.Key()))
		}
	} else {
		for it.SeekToLast(); it.Valid(); it.Prev() {
			got = append(got, string(it.Key()))
		}
		slices.Reverse(got)
	}
	x.must(it.Status())
	x.must(it.Close())
	return strings.Join(got, " ")
}

func (x *rangeTest) wantKeys(ro *rocksdb.ReadOptions, want string) {
	x.Helper()
	if got := x.keys(ro); got != want {
		x.Fatalf("keys %q, want %q", got, want)
	}
}

// wantAttempts checks the ranges that were tried: start, end, start, end, …
func (x *rangeTest) wantAttempts(want ...string) {
	x.Helper()
	var got []string
	for _, r := range x.attempts {
		got = append(got, r[0], r[1])
	}
	if !slices.Equal(got, want) {
		x.Fatalf("ranges %q, want %q", got, want)
	}
}

func (x *rangeTest) wantInserted(n uint64) {
	x.Helper()
	if got := x.stats.GetTickerCount(rocksdb.ReadPathRangeTombstonesInserted); got != n {
		x.Fatalf("%d inserted, want %d", got, n)
	}
}

func (x *rangeTest) discarded() uint64 {
	return x.stats.GetTickerCount(rocksdb.ReadPathRangeTombstonesDiscarded)
}

func (x *rangeTest) wantGets(pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.wantGet(0, pairs[i], pairs[i+1])
	}
}

const gone = "NOT_FOUND"

func TestReadPathRangeTombstoneTest_BasicInsertion(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		for _, flush := range []bool{false, true} {
			x.open(4, nil)
			x.setup('a', 'n', "b c d e f", "i j k l m")
			if flush {
				x.flush(0)
			}
			x.wantKeys(nil, "a g h n")
			if x.forward {
				x.wantAttempts("b", "g", "i", "n")
			} else {
				x.wantAttempts("i", "n", "b", "g")
			}
			if flush {
				return
			}
			x.wantInserted(2)
			x.attempts = nil
			x.wantKeys(nil, "a g h n")
			x.wantAttempts()
			x.wantInserted(2)
			x.mustPut(0, "b", "b_new")
			x.wantGet(0, "b", "b_new")
		}
	})
}

func TestReadPathRangeTombstoneTest_NonContiguous(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "b c", "e f")
		x.wantKeys(nil, "a d g h")
		x.wantInserted(0)
	})
}

func TestReadPathRangeTombstoneTest_MemtableSwitch(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "b c d e f")
		x.observe(func() { x.cf(0).Impl().CFD().Mem().MarkImmutable() })
		x.wantKeys(nil, "a g h")
		x.wantAttempts("b", "g")
		if n := x.discarded(); n != 1 {
			t.Fatal(n)
		}
		x.wantGets("a", "va", "b", gone, "d", gone, "g", "vg")
	})
}

func TestReadPathRangeTombstoneTest_ExhaustedIteratorWithBounds(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'j', "a b c d", "g h i j")
		ro := x.readOptions()
		ro.IterateLowerBound, ro.IterateUpperBound = []byte("a"), []byte("z")
		x.wantKeys(ro, "e f")
		if x.forward {
			x.wantAttempts("a", "e", "g", "j")
		} else {
			x.wantAttempts("g", "z", "a", "e")
		}
		x.wantInserted(2)
		x.wantGets("e", "ve", "f", "vf", "a", gone, "d", gone, "g", gone, "j", gone)
		x.attempts = nil
		x.wantKeys(ro, "e f")
		x.wantAttempts()
		x.wantInserted(2)
	})
}

func TestReadPathRangeTombstoneTest_ExhaustedIteratorNoBounds(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'j', "a b c d", "g h i j")
		x.wantKeys(nil, "e f")
		if x.forward {
			x.wantAttempts("a", "e", "g", "j")
			x.wantInserted(2)
		} else {
			x.wantAttempts("a", "e")
			x.wantInserted(1)
		}
	})
}

func TestReadPathRangeTombstoneTest_DirectionChange(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'p', "c d e", "f g j k l m n")
		it := x.db.NewIterator(nil)
		defer it.Close()
		want := func(keys string, move func()) {
			t.Helper()
			for _, k := range strings.Fields(keys) {
				if !it.Valid() || string(it.Key()) != k {
					t.Fatalf("%s, want %s", iterStatus(it), k)
				}
				move()
			}
		}
		if x.forward {
			it.SeekToFirst()
			want("a b h i", it.Next)
			want("o", it.Prev)
			want("i", func() {})
			x.wantAttempts("c", "h", "j", "o")
		} else {
			it.SeekToLast()
			want("p o i h", it.Prev)
			want("b", it.Next)
			want("h", func() {})
			x.wantAttempts("j", "o", "c", "h")
		}
		x.must(it.Status())
		x.wantInserted(2)
		if n := x.discarded(); n != 1 {
			t.Fatal(n)
		}
	})
}

func TestReadPathRangeTombstoneTest_MixedDeleteAndSingleDelete(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "b d f")
		x.mustSingleDelete(0, "c")
		x.mustSingleDelete(0, "e")
		x.wantKeys(nil, "a g h")
		x.wantAttempts("b", "g")
		x.wantInserted(1)
		x.wantGets("a", "va", "b", gone, "c", gone, "d", gone, "e", gone, "f", gone, "g", "vg")
	})
}

func TestReadPathRangeTombstoneTest_SingleDeleteOnlyRun(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "")
		for c := 'b'; c <= 'f'; c++ {
			x.mustSingleDelete(0, string(c))
		}
		x.wantKeys(nil, "a g h")
		x.wantAttempts("b", "g")
		x.wantInserted(1)
	})
}

// walk goes from a seek to the end in x's direction.
func (x *rangeTest) walk(it *rocksdb.Iterator) {
	x.Helper()
	for it.Valid() {
		if x.forward {
			it.Next()
		} else {
			it.Prev()
		}
	}
	x.must(it.Status())
	x.must(it.Close())
}

func TestReadPathRangeTombstoneTest_PrefixFilterDefaultReadOptions(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, prefixFiltered(1))
		x.mustPut(0, "bc", "live_b")
		x.flush(0)
		x.delete("ba bb")
		it := x.db.NewIterator(nil)
		if x.forward {
			it.Seek([]byte("b"))
		} else if it.Seek([]byte("bc")); !it.Valid() {
			t.Fatal(iterStatus(it))
		}
		x.walk(it)
		x.wantAttempts()
		x.wantInserted(0)
	})
}

// prefixData has a run over the end of a prefix, before a live key of a table.
func (x *rangeTest) prefixData() {
	x.write("cb", "live_value")
	x.flush(0)
	x.write("aa", "below")
	x.delete("ba bb ca")
	x.write("fa", "above")
	x.attempts = nil
}

func TestReadPathRangeTombstoneTest_PrefixFilterTotalOrderSeek(t *testing.T) {
	eachDirectionWithTimestamps(t, func(x *rangeTest) {
		x.open(2, prefixFiltered(1))
		x.prefixData()
		ro := x.readOptions()
		ro.TotalOrderSeek = true
		it := x.db.NewIterator(ro)
		if x.forward {
			it.Seek([]byte("b"))
		} else if it.Seek([]byte("fa")); !it.Valid() {
			t.Fatal(iterStatus(it))
		}
		x.walk(it)
		x.wantAttempts("ba"+string(x.ts), "cb"+string(x.ts))
	})
}

func TestReadPathRangeTombstoneTest_PrefixFilterPrefixSameAsStart(t *testing.T) {
	eachDirectionWithTimestamps(t, func(x *rangeTest) {
		for _, total := range []bool{false, true} {
			x.open(2, prefixFiltered(1))
			x.prefixData()
			ro := x.readOptions()
			ro.PrefixSameAsStart, ro.TotalOrderSeek = true, total
			it := x.db.NewIterator(ro)
			end := string(x.ts)
			if x.forward {
				it.Seek([]byte("ba"))
			} else {
				end = strings.Repeat("\x00", len(x.ts))
				if it.SeekForPrev([]byte("bb")); it.Valid() {
					t.Fatal(iterStatus(it))
				}
			}
			x.walk(it)
			x.wantAttempts("ba"+string(x.ts), "bb"+end)
			x.wantInserted(1)
			v, err := x.db.Get(ro, []byte("cb"))
			x.must(err)
			if string(v.Data()) != "live_value" {
				t.Fatal(string(v.Data()))
			}
			v.Release()
		}
	})
}

func TestReadPathRangeTombstoneTest_PrefixFilterUpperBoundDoesNotCoverSkippedLiveKey(t *testing.T) {
	x := &rangeTest{dbTest: newDBTest(t), forward: true}
	x.observe(func() {})
	x.open(3, prefixFiltered(1))
	x.mustPut(0, "be", "live_b")
	x.flush(0)
	x.delete("ba bb bc")
	x.mustPut(0, "bz", "live_z")
	ro := x.readOptions()
	ro.PrefixSameAsStart, ro.IterateUpperBound = true, []byte("bd")
	it := x.db.NewIterator(ro)
	if it.Seek([]byte("ba")); it.Valid() {
		t.Fatal(iterStatus(it))
	}
	x.walk(it)
	x.wantAttempts("ba", "bc")
	x.wantGet(0, "be", "live_b")
}

func TestReadPathRangeTombstoneTest_PrefixFilterOutOfDomainSeek(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, prefixFiltered(4))
		x.mustPut(0, "aaaa", "v1")
		x.delete("bbbb bbcc bbcd")
		x.mustPut(0, "bbdd", "v2")
		x.mustPut(0, "cccc", "v3")
		ro := x.readOptions()
		ro.PrefixSameAsStart = true
		it := x.db.NewIterator(ro)
		if x.forward {
			it.Seek([]byte("b"))
		} else if it.Seek([]byte("c")); !it.Valid() {
			t.Fatal(iterStatus(it))
		}
		x.walk(it)
		x.wantAttempts("bbbb", "bbdd")
	})
}

func TestReadPathRangeTombstoneTest_TableFilterNotAllowed(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
		for _, k := range []string{"a", "b", "c", "d"} {
			x.mustPut(0, k, "v"+k)
		}
		x.flush(0)
		x.delete("a b")
		x.flush(0)
		x.mustPut(0, "zz", "tail_mem")
		it := x.db.NewIterator(nil)
		for it.SeekToFirst(); it.Valid(); it.Next() {
		}
		x.must(it.Status())
		x.must(it.Close())
		if len(x.attempts) == 0 || x.attempts[0] != [2]string{"a", "c"} {
			t.Fatal(x.attempts)
		}
		ro := x.readOptions()
		ro.TableFilter = func(p *rocksdb.TableProperties) bool { return p.NumEntries != 2 }
		it = x.db.NewIterator(ro)
		if err := it.Status(); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "table_filter is not supported") {
			t.Fatal(err)
		}
		it.Close()
		if _, err := x.db.NewIterators(ro, []*rocksdb.ColumnFamily{x.cf(0)}); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Fatal(err)
		}
		x.wantKeys(nil, "c d zz")
	})
}

func TestReadPathRangeTombstoneTest_SnapshotPredatesMemtable(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "b c d e f", "")
		snap := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snap)
		x.mustPut(0, "x", "vx")
		x.flush(0)
		x.mustPut(0, "y", "vy")
		ro := x.readOptions()
		ro.Snapshot = snap
		x.wantKeys(ro, "a g h")
		x.wantInserted(0)
		if x.discarded() == 0 {
			t.Fatal("nothing discarded")
		}
	})
}

func TestReadPathRangeTombstoneTest_NoInsertionOnBlockCacheTierIncomplete(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, func(o *rocksdb.Options) {
			to := rocksdb.DefaultBlockBasedTableOptions()
			to.FlushBlockPolicyFactory = blockbased.FlushBlockEveryKeyPolicyFactory{}
			to.BlockCache = rocksdb.NewLRUCache(1 << 20)
			to.CacheIndexAndFilterBlocks = true
			to.PinL0FilterAndIndexBlocksInCache = true
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(to)
		})
		x.setup('a', 'h', "", "")
		warm, deleted, cold := "a b c d e f g", "d e f g", "h"
		if !x.forward {
			warm, deleted, cold = "b c d e f g h", "b c d e", "a"
		}
		for _, k := range strings.Fields(warm) {
			x.wantGet(0, k, "v"+k)
		}
		x.delete(deleted)
		ro := x.readOptions()
		ro.ReadTier, ro.IterateUpperBound = rocksdb.BlockCacheTier, []byte("z")
		it := x.db.NewIterator(ro)
		if x.forward {
			for it.SeekToFirst(); it.Valid(); it.Next() {
			}
		} else {
			for it.SeekToLast(); it.Valid(); it.Prev() {
			}
		}
		if err := it.Status(); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
			t.Fatal(err)
		}
		it.Close()
		x.wantAttempts()
		x.wantInserted(0)
		x.wantGet(0, cold, "v"+cold)
	})
}

func TestReadPathRangeTombstoneTest_SkipInsertionWhenCoveredByExistingRange(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "")
		x.must(x.cf(0).DeleteRange(nil, []byte("c"), []byte("h")))
		x.delete("d e f g")
		ro := x.readOptions()
		ro.IterateUpperBound = []byte("z")
		x.wantKeys(ro, "a b h")
		x.wantInserted(0)
		if x.discarded() == 0 {
			t.Fatal("nothing discarded")
		}
	})
}

func TestReadPathRangeTombstoneTest_UDTBasicScan(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.udt = true
		x.open(4, nil)
		x.setup('a', 'h', "", "b c d e f")
		x.wantKeys(x.readOptions(), "a g h")
		x.wantAttempts("b"+string(x.ts), "g"+string(x.ts))
		x.wantInserted(1)
	})
}

func TestReadPathRangeTombstoneTest_UDTOlderTimestampDisablesInsertion(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.udt = true
		x.open(2, nil)
		x.write("a", "va1")
		x.write("c", "vc1")
		x.write("d", "vd1")
		x.flush(0)
		x.ts = []byte{2, 0, 0, 0, 0, 0, 0, 0}
		x.delete("a c")
		x.ts = []byte{3, 0, 0, 0, 0, 0, 0, 0}
		x.write("a", "va3")
		x.write("b", "vb3")
		x.write("c", "vc3")
		ro := x.readOptions()
		ro.Timestamp = []byte{2, 0, 0, 0, 0, 0, 0, 0}
		x.wantKeys(ro, "d")
		x.wantAttempts()
		x.wantInserted(0)
		x.wantKeys(x.readOptions(), "a b c d")
	})
}

func TestReadPathRangeTombstoneTest_ExhaustedWithUDT(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.udt = true
		x.open(4, nil)
		ro := x.readOptions()
		if x.forward {
			x.setup('a', 'h', "", "e f g h")
			ro.IterateUpperBound = []byte("z")
			x.wantKeys(ro, "a b c d")
			x.wantAttempts("e"+string(x.ts), "h"+string(x.ts))
		} else {
			x.setup('a', 'h', "", "a b c d")
			x.wantKeys(ro, "e f g h")
			x.wantAttempts("a"+string(x.ts), "e"+string(x.ts))
		}
		x.wantInserted(1)
	})
}

func TestReadPathRangeTombstoneTest_SeekForPrevTombstone(t *testing.T) {
	eachDirectionWithTimestamps(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "e f g h")
		end := string(x.ts)
		if x.forward {
			x.wantKeys(x.readOptions(), "a b c d")
		} else {
			end = strings.Repeat("\x00", len(x.ts))
			it := x.db.NewIterator(x.readOptions())
			if it.SeekForPrev([]byte("h")); !it.Valid() || string(it.Key()) != "d" {
				t.Fatal(iterStatus(it))
			}
			x.walk(it)
		}
		x.wantAttempts("e"+string(x.ts), "h"+end)
		x.wantInserted(1)
	})
}

func TestReadPathRangeTombstoneTest_UpperBoundTombstone(t *testing.T) {
	eachDirectionWithTimestamps(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'h', "", "e f g h")
		ro := x.readOptions()
		ro.IterateUpperBound = []byte("i")
		x.wantKeys(ro, "a b c d")
		if x.forward {
			x.wantAttempts("e"+string(x.ts), "h"+string(x.ts))
		} else {
			x.wantAttempts("e"+string(x.ts), "i"+strings.Repeat("\xff", len(x.ts)))
		}
		x.wantInserted(1)
	})
}

func TestReadPathRangeTombstoneTest_LowerBoundTruncatesReverse(t *testing.T) {
	eachDirectionWithTimestamps(t, func(x *rangeTest) {
		x.open(4, nil)
		x.setup('a', 'j', "", "a b c d e f g h")
		ro := x.readOptions()
		ro.IterateLowerBound, ro.IterateUpperBound = []byte("e"), []byte("z")
		x.wantKeys(ro, "i j")
		x.wantAttempts("e"+string(x.ts), "i"+string(x.ts))
		x.wantInserted(1)
	})
}

func TestReadPathRangeTombstoneTest_ReseekDiscoveredDeleteRunPreservesOlderSnapshots(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, func(o *rocksdb.Options) { o.MaxSequentialSkipInIterations = 2 })
		x.setup('a', 'd', "", "")
		for _, k := range []string{"b", "c"} {
			for _, v := range []string{"_v2", "_v3", "_v4"} {
				x.mustPut(0, k, k+v)
			}
		}
		snap := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snap)
		x.delete("b c")
		x.wantKeys(nil, "a d")
		x.wantAttempts("b", "d")
		ro := x.readOptions()
		ro.Snapshot = snap
		x.wantKeys(ro, "a b c d")
	})
}

func TestReadPathRangeTombstoneTest_InvisibleKeysDontBreakTombstoneRun(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, nil)
		for _, k := range []string{"a", "b", "d", "f"} {
			x.mustPut(0, k, "v"+k)
		}
		x.flush(0)
		x.delete("b d")
		snap := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snap)
		x.mustPut(0, "c", "vc")
		x.mustPut(0, "e", "ve")
		ro := x.readOptions()
		ro.Snapshot = snap
		x.wantKeys(ro, "a f")
		x.wantAttempts("b", "f")
	})
}

// ingestLive ingests c=vc_live.
func (x *rangeTest) ingestLive() {
	x.Helper()
	path := x.dir + "_live_c.sst"
	w := rocksdb.NewSstFileWriter(x.last, nil)
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	x.must(w.Put([]byte("c"), []byte("vc_live")))
	x.must(w.Finish(nil))
	w.Close()
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.AllowBlockingFlush = false
	x.must(x.cf(0).IngestExternalFile([]string{path}, &o))
}

func TestReadPathRangeTombstoneTest_NewerPointInOlderFileStillVisible(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
		x.setup('b', 'd', "b c", "")
		x.mustPut(0, "z", "vz_anchor")
		snap := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snap)
		x.ingestLive()
		x.wantGet(0, "c", "vc_live")
		ro := x.readOptions()
		ro.Snapshot = snap
		x.wantKeys(ro, "d z")
		x.wantAttempts("b", "d")
		x.wantInserted(0)
		latest := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(latest)
		x.wantGetAt(0, "c", latest, "vc_live")
		if got := x.multiGet(0, latest, "c"); !slices.Equal(got, []string{"vc_live"}) {
			t.Fatal(got)
		}
		// A public report: nor is it hidden after a flush and a compaction.
		x.wantGetAt(0, "c", snap, gone)
		x.flush(0)
		x.compact(0, "", "")
		x.wantKeys(nil, "c d z")
	})
}

func TestReadPathRangeTombstoneTest_SeekToLastStaleSavedKey(t *testing.T) {
	x := &rangeTest{dbTest: newDBTest(t)}
	x.seekThenLast()
}

func TestReadPathRangeTombstoneTest_SeekToLastTombstones(t *testing.T) {
	x := &rangeTest{dbTest: newDBTest(t)}
	x.observe(func() {})
	x.seekThenLast()
	x.wantAttempts("x", "z")
}

func (x *rangeTest) seekThenLast() {
	x.open(2, nil)
	x.setup('a', 'z', "", "x y")
	it := x.db.NewIterator(nil)
	defer it.Close()
	want := func(k string) {
		x.Helper()
		if !it.Valid() || string(it.Key()) != k {
			x.Fatalf("%s, want %s", iterStatus(it), k)
		}
		x.must(it.Status())
	}
	it.Seek([]byte("a"))
	want("a")
	it.SeekToLast()
	want("z")
	x.wantAttempts()
	it.Prev()
	want("w")
}

func TestReadPathRangeTombstoneTest_RangeDeletedInteriorPreservesOlderSnapshots(t *testing.T) {
	eachDirection(t, func(x *rangeTest) {
		x.open(2, nil)
		x.setup('a', 'n', "", "b m")
		snap := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snap)
		x.wantGetAt(0, "c", snap, "vc")
		x.must(x.cf(0).DeleteRange(nil, []byte("c"), []byte("m")))
		x.wantKeys(nil, "a n")
		x.wantAttempts("b", "n")
		x.wantGetAt(0, "c", snap, "vc")
	})
}

func TestDBFlushTest_FlushAfterReadPathRangeTombstoneInsertion(t *testing.T) {
	x := &rangeTest{dbTest: newDBTest(t)}
	x.open(2, func(o *rocksdb.Options) { o.FlushVerifyMemtableCount = true })
	x.setup('a', 'h', "", "b c d e")
	cfd := x.cf(0).Impl().CFD()
	syncpoint.SetCallBack("DBImpl::SwitchMemtable:AfterConstructFragmentedRangeTombstones", func(any) {
		if cfd.Mem().AddLogicallyRedundantRangeTombstone(1, []byte("b"), []byte("f"), cfd.IngestSstLock()) {
			t.Error("added to a memtable whose tombstones are fixed")
		}
	})
	syncpoint.EnableProcessing()
	x.flush(0)
	syncpoint.Reset()
	x.wantGets("a", "va", "b", gone, "d", gone, "f", "vf")
}

// Refresh moves the iterator to the memtable of the new view.
func TestRangeConversion_Refresh(t *testing.T) {
	x := &rangeTest{dbTest: newDBTest(t), forward: true}
	x.observe(func() {})
	x.open(2, nil)
	x.setup('a', 'h', "", "b c")
	it := x.db.NewIterator(nil)
	defer it.Close()
	x.flush(0)
	x.delete("e f")
	x.must(it.Refresh(nil))
	for it.SeekToFirst(); it.Valid(); it.Next() {
	}
	x.must(it.Status())
	x.wantAttempts("b", "d", "e", "g")
	x.wantInserted(2)
	if n := x.cf(0).Impl().CFD().Mem().NumRangeDeletion(); n != 2 {
		t.Fatal(n)
	}
}

// Port of db/db_iterator_test.cc (pinned data, keys across files and blocks).
// Differs: a file of its own.

package db_test

import (
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func pinData(ro *contract.ReadOptions) { ro.PinData = true }

// pinnedKey is the present key, which has to be pinned.
func (it testIter) pinnedKey() []byte {
	it.x.Helper()
	it.wantProperty("is-key-pinned", "1")
	return it.Key()
}

// pinnedDataRandomized reads random data by pinned keys, after between. Upstream
// writes ten times as many.
func pinnedDataRandomized(t *testing.T, flushEvery int, between func(x *dbTest, o contract.Options)) {
	eachCallback(t, func(x *iterTest) {
		const puts = 10000
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.UseDeltaEncoding = false })
		o.MergeOperator, o.WriteBufferSize = x.mergeOperator("put"), 1<<20
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		keys := make([]string, puts*7/10)
		for i := range keys {
			keys[i] = rnd.RandomString(100)
		}
		data := map[string]bool{}
		var seeks []string
		for i := range puts {
			k, v := keys[rnd.Uniform(len(keys))], rnd.RandomString(1000)
			data[k] = true
			if rnd.PercentTrue(20) {
				x.mustMerge(0, k, v)
			} else {
				x.mustPut(0, k, v)
			}
			if rnd.PercentTrue(20) {
				seeks = append(seeks, k)
			}
			if rnd.PercentTrue(20) {
				delete(data, k)
				x.mustDelete(0, k)
			}
			if flushEvery > 0 && i > 0 && i%flushEvery == 0 {
				x.flush(0)
			}
		}
		if between != nil {
			between(x.dbTest, o)
		}
		sorted := slices.Sorted(maps.Keys(data))
		it := x.iter(0, pinData)
		check := func(got [][]byte, want []string) {
			t.Helper()
			if len(got) != len(want) {
				t.Fatalf("%d keys, not %d", len(got), len(want))
			}
			for i := range got {
				if string(got[i]) != want[i] {
					t.Fatalf("key %d is %.20q, not %.20q", i, got[i], want[i])
				}
			}
		}
		var got [][]byte
		var want []string
		for _, k := range seeks {
			it.Seek([]byte(k))
			at := sort.SearchStrings(sorted, k)
			if it.Valid() != (at < len(sorted)) {
				t.Fatal(it.Valid(), it.Status())
			}
			if it.Valid() {
				got, want = append(got, it.pinnedKey()), append(want, sorted[at])
			}
		}
		check(got, want)
		got, want = nil, nil
		for _, k := range seeks {
			it.SeekForPrev([]byte(k))
			at := sort.SearchStrings(sorted, k+"\x00") - 1
			if it.Valid() != (at >= 0) {
				t.Fatal(it.Valid(), it.Status())
			}
			if it.Valid() {
				got, want = append(got, it.pinnedKey()), append(want, sorted[at])
			}
		}
		check(got, want)
		got = nil
		for it.SeekToFirst(); it.Valid(); it.Next() {
			got = append(got, it.pinnedKey())
		}
		check(got, sorted)
		got = nil
		for it.SeekToLast(); it.Valid(); it.Prev() {
			got = append(got, it.pinnedKey())
		}
		x.must(it.Status())
		slices.Reverse(got)
		check(got, sorted)
	})
}

func TestDBIteratorTestForPinnedData_PinnedDataIteratorRandomizedNormal(t *testing.T) {
	pinnedDataRandomized(t, 0, nil)
}

func TestDBIteratorTestForPinnedData_PinnedDataIteratorRandomizedCLoseAndOpen(t *testing.T) {
	pinnedDataRandomized(t, 0, func(x *dbTest, o contract.Options) { x.reopen(o) })
}

func TestDBIteratorTestForPinnedData_PinnedDataIteratorRandomizedCompactBeforeRead(t *testing.T) {
	pinnedDataRandomized(t, 0, func(x *dbTest, _ contract.Options) { x.compact(0, "", "") })
}

func TestDBIteratorTestForPinnedData_PinnedDataIteratorRandomizedFlush(t *testing.T) {
	pinnedDataRandomized(t, 1000, nil)
}

// pair is a key and a value that an iterator pins.
type pair struct{ key, value []byte }

// pinnedPairs walks all entries, whose keys and, as value says, values are
// pinned.
func (it testIter) pinnedPairs(value string) (list []pair) {
	it.x.Helper()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		it.wantProperty("is-key-pinned", "1")
		it.wantProperty("is-value-pinned", value)
		p := pair{it.Key(), it.Value()}
		if value == "0" {
			p.value = append([]byte(nil), p.value...)
		}
		list = append(list, p)
	}
	it.x.must(it.Status())
	return list
}

func wantPairs(t *testing.T, got []pair, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, not %d", len(got), len(want))
	}
	for i, k := range slices.Sorted(maps.Keys(want)) {
		if string(got[i].key) != k || string(got[i].value) != want[k] {
			t.Fatalf("entry %d: %.20q->%.20q, not %.20q->%.20q", i, got[i].key, got[i].value, k, want[k])
		}
	}
}

func TestDBIteratorTest_PinnedDataIteratorMultipleFiles(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.UseDeltaEncoding = false })
		o.DisableAutoCompactions, o.WriteBufferSize = true, 10<<20
		x.destroyAndReopen(o)
		rnd, want := util.NewRandom(301), map[string]string{}
		put := func(factor int, flush bool) {
			for i := 1; i <= 1000; i++ {
				k, v := key(i*factor), rnd.RandomString(100)
				x.mustPut(0, k, v)
				want[k] = v
				if flush && i%250 == 0 {
					x.flush(0)
				}
			}
		}
		put(3, true)
		x.wantFiles(0, "4")
		x.compact(0, "", "")
		x.wantFiles(0, "0,4")
		put(2, true)
		put(1, false)
		x.wantFiles(0, "4,4")
		wantPairs(t, x.iter(0, pinData).pinnedPairs("1"), want)
	})
}

func TestDBIteratorTest_PinnedDataIteratorMergeOperator(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.UseDeltaEncoding = false })
		o.MergeOperator = x.mergeOperator("uint64add")
		x.destroyAndReopen(o)
		number := func(n int) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
		want := map[string]string{}
		for i, step := range []int{1, 2, 5} {
			for j := 0; j < 1000; j += step {
				x.mustMerge(0, key(j), number(i+1))
			}
		}
		for j := range 1000 {
			n := 1
			if j%2 == 0 {
				n += 2
			}
			if j%5 == 0 {
				n += 3
			}
			want[key(j)] = number(n)
		}
		wantPairs(t, x.iter(0, pinData).pinnedPairs("0"), want)
	})
}

func TestDBIteratorTest_PinnedDataIteratorReadAfterUpdate(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.UseDeltaEncoding = false })
		o.WriteBufferSize = 100000
		x.destroyAndReopen(o)
		rnd, want := util.NewRandom(301), map[string]string{}
		for range 1000 {
			k, v := rnd.RandomString(10), rnd.RandomString(1000)
			x.mustPut(0, k, v)
			want[k] = v
		}
		it := x.iter(0, pinData)
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if rnd.OneIn(2) {
				x.mustDelete(0, k)
			} else {
				x.mustPut(0, k, rnd.RandomString(1000))
			}
		}
		wantPairs(t, it.pinnedPairs("1"), want)
	})
}

func TestDBIteratorTest_SeekForPrevKeyPinnedWithManyVersions(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MaxSequentialSkipInIterations, o.Statistics = 8, rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		for i := range 20 {
			x.mustPut(0, "key1", "value"+string(rune('a'+i)))
		}
		it := x.iter(0, pinData)
		it.walk("seek key1", "=key1")
		it.wantProperty("is-key-pinned", "1")
		before := x.ticker(contract.NumberOfReseeksInIteration)
		it.walk("for-prev key1", "=key1")
		if n := x.ticker(contract.NumberOfReseeksInIteration); n <= before {
			t.Errorf("%d reseeks before, %d after", before, n)
		}
		it.wantProperty("is-key-pinned", "1")
	})
}

func seekForPrevCrossingFiles(t *testing.T, e contract.SliceTransform) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10) })
		o.PrefixExtractor, o.DisableAutoCompactions = e, true
		x.destroyAndReopen(o)
		x.puts(0, "a1", "va1", "a2", "va2", "a3", "va3", "flush", "b1", "vb1", "b2", "vb2", "b3", "vb3", "flush",
			"b4", "vb4", "d1", "vd1", "d2", "vd2", "d4", "vd4", "flush")
		x.moveFilesToLevel(1, 0)
		x.iter(0).walk("for-prev a4", "a3->va3", "for-prev c2", "=b3", "for-prev d3", "=d2", "for-prev b5", "=b4")
		x.iter(0, prefixSameAsStart).walk("for-prev c2", "(invalid)")
	})
}

func TestDBIteratorTest_IterSeekForPrevCrossingFiles(t *testing.T) {
	seekForPrevCrossingFiles(t, rocksdb.NewFixedPrefixTransform(1))
}

func TestDBIteratorTest_IterSeekForPrevCrossingFilesCustomPrefixExtractor(t *testing.T) {
	seekForPrevCrossingFiles(t, &customTransform{"SliceTransformLimitedDomainGeneric", func(k []byte) []byte { return k[:1] },
		func(k []byte) bool { return len(k) >= 1 }})
}

func TestDBIteratorTest_IterPrevKeyCrossingBlocks(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSize = 1 })
		o.MergeOperator, o.DisableAutoCompactions, o.MaxSequentialSkipInIterations = x.mergeOperator("stringappendtest"), true, 8
		x.destroyAndReopen(o)
		for range 10 { // so that Prev falls back to a seek
			x.mustDelete(0, "key4")
			x.flush(0)
		}
		x.puts(0, "key1", "val1.0", "key2", "val2.0", "key3", "val3.0", "key4", "val4.0", "key5", "val5.0", "flush")
		x.mergeAll("key1", "val1.1", "val1.2")
		x.mergeAll("key2", "val2.1", "val2.2", "val2.3")
		x.mergeAll("key3", "val3.1", "val3.2", "val3.3", "val3.4")
		x.flush(0)
		x.iter(0, func(ro *contract.ReadOptions) { ro.FillCache = false }).walk("last", "key5->val5.0", "prev", "key4->val4.0",
			"prev", "key3->val3.0,val3.1,val3.2,val3.3,val3.4", "prev", "key2->val2.0,val2.1,val2.2,val2.3", "prev", "key1->val1.0,val1.1,val1.2")
	})
}

func TestDBIteratorTest_IterPrevKeyCrossingBlocksRandomized(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.MergeOperator, o.DisableAutoCompactions, o.MaxSequentialSkipInIterations = x.mergeOperator("stringappendtest"), true, 8
		o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<30, 1<<30
		x.destroyAndReopen(o)
		const keys, size = 200, 4 * 4096 // a key a block
		for range 10 {
			for i := 0; i < keys; i += 2 {
				x.mustDelete(0, key(i))
			}
			x.flush(0)
		}
		rnd, data := util.NewRandom(301), map[string]string{}
		for i := range keys {
			v := rnd.RandomString(size)
			x.mustPut(0, key(i), v)
			data[key(i)] = v
		}
		x.flush(0)
		for i := range keys { // in a file of their own, not to be merged by a flush
			if rnd.PercentTrue(20) {
				continue
			}
			all := []string{data[key(i)]}
			for range 3 {
				v := rnd.RandomString(size)
				x.mustMerge(0, key(i), v)
				all = append(all, v)
			}
			data[key(i)] = strings.Join(all, ",")
		}
		x.flush(0)
		for i := range keys {
			if rnd.PercentTrue(10) {
				x.mustDelete(0, key(i))
				delete(data, key(i))
			}
		}
		x.flush(0)
		sorted := slices.Sorted(maps.Keys(data))
		noFill := func(ro *contract.ReadOptions) { ro.FillCache = false }
		it := x.iter(0, noFill)
		check := func(at int) {
			t.Helper()
			if !it.Valid() || string(it.Key()) != sorted[at] || string(it.Value()) != data[sorted[at]] {
				t.Fatalf("at %d: %.40q, %v", at, it.at(), it.Status())
			}
		}
		at := len(sorted)
		for it.SeekToLast(); it.Valid(); it.Prev() {
			at--
			check(at)
		}
		if x.must(it.Status()); at != 0 {
			t.Fatal(at)
		}
		it = x.iter(0, noFill)
		at = len(sorted)
		for it.SeekToLast(); it.Valid(); it.Prev() {
			at--
			check(at)
			bySeek, steps := rnd.OneIn(2), 0
			if right := len(sorted) - 1 - at; right > 0 {
				steps = int(rnd.Uniform(min(right, 10)))
			}
			for i := range steps {
				it.Next()
				check(at + i + 1)
			}
			if bySeek {
				it.Seek([]byte(sorted[at]))
				check(at)
			} else {
				for i := steps - 1; i >= 0; i-- {
					it.Prev()
					check(at + i)
				}
			}
		}
		if x.must(it.Status()); at != 0 {
			t.Fatal(at)
		}
	})
}

// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc: the
// index, its iterators, save points. Lookups are in
// write_batch_with_index_get_test.go.

package writebatchwithindex_test

import (
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
	writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"
)

// record is an update of TestValueAsSecondaryIndex.
type record struct {
	key, value string
	t          rocksdb.WriteType
}

// grouped are records by key or value, in order, the newest of one first; with
// overwrite the newest only, but for those below what keep says.
func grouped(records []record, by func(record) string, replaces func(record) bool) (keys []string, groups map[string][]record) {
	groups = map[string][]record{}
	for _, r := range records {
		k := by(r)
		switch g := groups[k]; {
		case len(g) == 0:
			keys = append(keys, k)
			groups[k] = []record{r}
		case replaces(r):
			g[0] = r
		default:
			groups[k] = slices.Insert(g, 0, r)
		}
	}
	slices.Sort(keys)
	return keys, groups
}

// checkGroups compares a batch iterator with groups by all ways of moving.
func (x *wbwiTest) checkGroups(cf rocksdb.ColumnFamilyHandle, keys []string, groups map[string][]record, show func(k string, r record) string) {
	x.Helper()
	it := x.batch.NewIterator(cf)
	var all []string
	for _, k := range keys {
		for _, r := range groups[k] {
			all = append(all, show(k, r))
		}
	}
	for _, start := range []func(){it.SeekToFirst, func() { it.Seek(nil) }} {
		start()
		for _, want := range all {
			x.expect("forward", entry(it), want)
			it.Next()
		}
		x.expect("the end", entry(it), "-")
	}
	it.SeekToLast()
	for _, want := range slices.Backward(all) {
		x.expect("backward", entry(it), want)
		it.Prev()
	}
	x.expect("the beginning", entry(it), "-")
	for _, k := range slices.Backward(keys) {
		it.Seek([]byte(k))
		for _, r := range groups[k] {
			x.expect("after Seek "+k, entry(it), show(k, r))
			it.Next()
		}
	}
	for _, k := range keys {
		it.SeekForPrev([]byte(k))
		for _, r := range slices.Backward(groups[k]) { // from the oldest
			x.expect("after SeekForPrev "+k, entry(it), show(k, r))
			it.Prev()
		}
	}
}

func (x *wbwiTest) checkSecondaryIndex(records []record) {
	x.Helper()
	data, index := &dummyHandle{6, rocksdb.BytewiseComparator()}, &dummyHandle{8, rocksdb.BytewiseComparator()}
	for _, r := range records {
		key, value := []byte(r.key), []byte(r.value)
		switch r.t {
		case rocksdb.PutRecord:
			x.must(x.batch.PutCF(data, key, value), x.batch.PutCF(index, value, key))
		case rocksdb.MergeRecord:
			x.must(x.batch.MergeCF(data, key, value), x.batch.PutCF(index, value, key))
		case rocksdb.DeleteRecord:
			it := x.batch.NewIterator(data)
			it.Seek(key)
			x.expect("what is deleted", entry(it), "PUT("+r.key+"):"+r.value)
			x.must(x.batch.DeleteCF(data, key), x.batch.PutCF(index, value, nil))
		}
	}
	keys, groups := grouped(records, func(r record) string { return r.key },
		func(r record) bool { return x.overwrite && r.t != rocksdb.MergeRecord })
	x.checkGroups(data, keys, groups, func(_ string, r record) string {
		s := typeNames[r.t] + "(" + r.key + ")"
		if r.t != rocksdb.DeleteRecord {
			s += ":" + r.value
		}
		return s
	})
	keys, groups = grouped(records, func(r record) string { return r.value }, func(record) bool { return x.overwrite })
	x.checkGroups(index, keys, groups, func(k string, r record) string {
		if r.t == rocksdb.DeleteRecord {
			return "PUT(" + k + "):"
		}
		return "PUT(" + k + "):" + r.key
	})

	seen := x.record().seen
	if len(seen[6]) != len(records) || len(seen[8]) != len(records) {
		x.Fatalf("%d and %d records in the batch, expected %d", len(seen[6]), len(seen[8]), len(records))
	}
	for i, r := range records {
		d, e := seen[6][i], seen[8][i]
		if d.Type != r.t || string(d.Key) != r.key || string(e.Key) != r.value {
			x.Errorf("record %d: %v %q, index %q", i, d.Type, d.Key, e.Key)
		}
		if r.t != rocksdb.DeleteRecord && (string(d.Value) != r.value || string(e.Value) != r.key) {
			x.Errorf("record %d: values %q and %q", i, d.Value, e.Value)
		}
	}
}

func TestWriteBatchWithIndexTest_TestValueAsSecondaryIndex(t *testing.T) {
	const put, merge, del = rocksdb.PutRecord, rocksdb.MergeRecord, rocksdb.DeleteRecord
	eachMode(t, func(x *wbwiTest) {
		x.checkSecondaryIndex([]record{
			{"aaa", "0005", put}, {"b", "0002", put}, {"cdd", "0002", merge}, {"aab", "00001", put},
			{"cc", "00005", put}, {"cdd", "0002", put}, {"aab", "0003", put}, {"cc", "00005", del},
		})
		x.checkCount()
		x.batch.Clear()
		x.checkSecondaryIndex([]record{
			{"aaa", "0005", put}, {"e", "0002", put}, {"add", "0002", put}, {"aab", "00001", put},
			{"zz", "00005", put}, {"add", "0002", merge}, {"aab", "0003", put}, {"zz", "00005", del},
		})
	})
}

func TestWriteBatchWithIndexTest_WBWIIteratorImpl(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.do(nil, "merge k0 k0m0", "put k0 k0p1", "merge k1 k1m0", "merge k1 k1m1", "sdel k2", "put k3 k3p0", "merge k3 k3m1")
		if x.overwrite {
			x.checkUpdateCounts(nil)
		}
		it := x.batch.NewIterator(nil)
		x.walkEntries(it,
			"seek k0 -> PUT(k0):k0p1", "next_key -> MERGE(k1):k1m1", "next_key -> SINGLE-DEL(k2)", "next_key -> MERGE(k3):k3m1",
			"prev_key -> SINGLE-DEL(k2)",
			"for_prev k3 -> PUT(k3):k3p0", "prev_key -> SINGLE-DEL(k2)", "prev_key -> MERGE(k1):k1m1", "prev_key -> PUT(k0):k0p1",
			"next_key -> MERGE(k1):k1m1", "first -> PUT(k0):k0p1")

		var operands dbformat.MergeContext
		find := func(key string, want writebatchwithindex.Result, entry string, wantOperands ...string) {
			x.Helper()
			got := writebatchwithindex.Result(0)
			if key == "" {
				got = it.FindLatestUpdate(&operands)
			} else {
				got = it.FindLatestUpdateOf([]byte(key), &operands)
			}
			var texts []string
			for _, o := range operands.GetOperands() {
				texts = append(texts, string(o))
			}
			if got != want || !slices.Equal(texts, wantOperands) {
				x.Fatalf("FindLatestUpdate of %q: %v with %v, expected %v with %v", key, got, texts, want, wantOperands)
			}
			x.walkEntries(it, "here -> "+entry)
		}
		find("k1", writebatchwithindex.NotFound, "PUT(k0):k0p1") // the iterator is not there
		find("k0", writebatchwithindex.Found, "PUT(k0):k0p1")
		x.walkEntries(it, "next_key -> MERGE(k1):k1m1")
		find("k1", writebatchwithindex.MergeInProgress, "MERGE(k1):k1m0", "k1m0", "k1m1")
		x.walkEntries(it, "next -> SINGLE-DEL(k2)")
		find("k2", writebatchwithindex.Deleted, "SINGLE-DEL(k2)")
		x.walkEntries(it, "next -> MERGE(k3):k3m1")
		find("", writebatchwithindex.Found, "PUT(k3):k3p0", "k3m1")
		x.walkEntries(it, "last -> PUT(k3):k3p0")
		find("", writebatchwithindex.Found, "PUT(k3):k3p0", "k3m1") // from the older entry
	})
}

func TestWriteBatchWithIndexTest_TestComparatorForCF(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1, reverse, cf2 := &dummyHandle{6, nil}, &dummyHandle{66, rocksdb.ReverseBytewiseComparator()}, &dummyHandle{88, rocksdb.BytewiseComparator()}
		x.do(cf1, "put ddd")
		x.do(cf2, "put aaa", "put eee")
		x.do(cf1, "put ccc")
		x.do(reverse, "put a11")
		x.do(cf1, "put bbb")
		x.do(reverse, "put a33", "put a22")

		x.walkEntries(x.batch.NewIterator(cf1), "seek -> PUT(bbb):", "next -> PUT(ccc):", "next -> PUT(ddd):", "next -> -")
		x.walkEntries(x.batch.NewIterator(cf2), "seek -> PUT(aaa):", "next -> PUT(eee):", "next -> -")
		x.walkEntries(x.batch.NewIterator(reverse), "seek -> -", "seek z -> PUT(a33):", "next -> PUT(a22):", "next -> PUT(a11):", "next -> -",
			"seek a22 -> PUT(a22):", "seek a13 -> PUT(a11):")
	})
}

func TestWBWIOverwriteTest_TestOverwriteKey(t *testing.T) {
	x := newWBWITest(t, true)
	cf1, reverse, cf2 := &dummyHandle{6, nil}, &dummyHandle{66, rocksdb.ReverseBytewiseComparator()}, &dummyHandle{88, rocksdb.BytewiseComparator()}
	x.do(cf1, "merge ddd", "put ddd", "del ddd")
	x.do(cf2, "put aaa", "del aaa", "put aaa aaa", "put eee eee")
	x.do(cf1, "put ccc")
	x.do(reverse, "put a11")
	x.do(cf1, "del ccc")
	x.do(reverse, "put a33 a33", "put a11 a11", "del a33")

	x.walkEntries(x.batch.NewIterator(cf1), "seek -> DEL(ccc)", "next -> DEL(ddd)", "next -> -")
	x.walkEntries(x.batch.NewIterator(cf2), "last -> PUT(eee):eee", "prev -> PUT(aaa):aaa", "prev -> -",
		"first -> PUT(aaa):aaa", "next -> PUT(eee):eee", "next -> -")
	x.walkEntries(x.batch.NewIterator(reverse), "seek -> -", "seek z -> DEL(a33)", "next -> PUT(a11):a11", "next -> -",
		"last -> PUT(a11):a11", "prev -> DEL(a33)", "prev -> -")
}

func TestWriteBatchWithIndexTest_TestWBWIIterator(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1, cf2 := &dummyHandle{1, rocksdb.BytewiseComparator()}, &dummyHandle{2, rocksdb.BytewiseComparator()}
		x.do(cf1, "put a a1", "put c c1", "put c c2", "put e e1", "put e e2", "put e e3")
		it1, it2 := x.batch.NewIterator(cf1), x.batch.NewIterator(cf2)
		expectKeys := func(it *rocksdb.WBWIIterator, keys ...string) {
			x.Helper()
			it.SeekToFirst()
			for _, k := range keys {
				x.expect("key", string(it.Entry().Key), k)
				it.NextKey()
			}
			x.expect("the end", entry(it), "-")
			it.SeekToLast()
			for _, k := range slices.Backward(keys) {
				x.expect("key", string(it.Entry().Key), k)
				it.PrevKey()
			}
			x.expect("the beginning", entry(it), "-")
		}
		expectKeys(it1, "a", "c", "e")
		expectKeys(it2)
		x.do(cf2, "put a a2", "merge b b1", "merge b b2", "del d", "merge d d2", "merge d d3", "del f")
		expectKeys(it1, "a", "c", "e")
		expectKeys(it2, "a", "b", "d", "f")
		if x.overwrite {
			x.checkUpdateCounts(nil)
			x.checkUpdateCounts(cf1)
			x.checkUpdateCounts(cf2)
		}
	})
}

func TestWriteBatchWithIndexTest_TestRandomIteraratorWithBase(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1, cf2, cf3 := &dummyHandle{6, rocksdb.BytewiseComparator()}, &dummyHandle{2, rocksdb.BytewiseComparator()}, &dummyHandle{8, rocksdb.BytewiseComparator()}
		for seed := uint32(301); seed < 366; seed++ {
			rnd := util.NewRandom(seed)
			x.batch.Clear()
			if seed%2 == 0 {
				x.do(cf2, "put zoo bar")
			}
			if seed%4 == 1 {
				x.do(cf3, "put zoo bar")
			}
			base, merged := kvMap{}, kvMap{}
			for c := 'a'; c <= 'j'; c++ {
				key := string(c)
				value := key + key
				switch rnd.Uniform(6) {
				case 0: // in base only
					base[key], merged[key] = value, value
				case 1: // in both
					x.do(cf1, "put "+key+" "+value)
					base[key], merged[key] = value, value
				case 2: // in both, the batch's wins
					x.do(cf1, "put "+key+" "+value)
					base[key], merged[key] = "wrong_value", value
				case 3, 4: // deleted by the batch
					x.do(cf1, "del "+key)
					base[key] = "wrong_value"
				}
			}
			it, want := x.over(cf1, base), newKVIter(merged)
			moves := []string{"first", "last", "seek", "for_prev", "next", "prev"}
			valid := false
			for range 128 {
				x.must(it.Status())
				move := moves[rnd.Uniform(len(moves))]
				if move == "seek" || move == "for_prev" {
					move += " " + string(rune('a'+rnd.Uniform(10)))
				} else if !valid && (move == "next" || move == "prev") {
					continue
				}
				x.move(it, move)
				x.move(want, move)
				x.expect(move, keyed(it), keyed(want))
				valid = it.Valid()
			}
			x.must(it.Status())
			if x.overwrite {
				x.checkUpdateCounts(cf1)
				x.checkUpdateCounts(cf2)
				x.checkUpdateCounts(cf3)
			}
		}
	})
}

func TestWriteBatchWithIndexTest_TestIteraratorWithBase(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1, cf2 := &dummyHandle{6, rocksdb.BytewiseComparator()}, &dummyHandle{2, rocksdb.BytewiseComparator()}
		x.walk(x.over(cf1, kvMap{"a": "aa", "c": "cc", "e": "ee"}),
			"first -> a=aa", "next -> c=cc", "next -> e=ee", "next -> -",
			"last -> e=ee", "prev -> c=cc", "prev -> a=aa", "prev -> -",
			"seek b -> c=cc", "prev -> a=aa", "seek a -> a=aa")

		x.do(cf2, "put zoo bar")
		x.do(cf1, "put a aa")
		x.walk(x.over(cf1, kvMap{}), "first -> a=aa", "next -> -")

		x.do(cf1, "del b", "put c cc", "put d dd", "del e")
		x.walk(x.over(cf1, kvMap{"b": "", "cc": "cccc", "f": "ff"}),
			"first -> a=aa", "next -> c=cc", "next -> cc=cccc", "next -> d=dd", "next -> f=ff", "next -> -",
			"last -> f=ff", "prev -> d=dd", "prev -> cc=cccc", "prev -> c=cc", "next -> cc=cccc", "prev -> c=cc", "prev -> a=aa", "prev -> -",
			"seek c -> c=cc", "seek cb -> cc=cccc", "seek cc -> cc=cccc", "next -> d=dd",
			"seek e -> f=ff", "prev -> d=dd", "next -> f=ff")
		x.walk(x.over(cf1, kvMap{}),
			"first -> a=aa", "next -> c=cc", "next -> d=dd", "next -> -",
			"last -> d=dd", "prev -> c=cc", "prev -> a=aa", "prev -> -",
			"seek aa -> c=cc", "next -> d=dd", "seek ca -> d=dd", "prev -> c=cc")
	})
}

func TestWriteBatchWithIndexTest_TestIteraratorWithBaseReverseCmp(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1, cf2 := &dummyHandle{6, rocksdb.ReverseBytewiseComparator()}, &dummyHandle{2, rocksdb.ReverseBytewiseComparator()}
		x.do(cf2, "put zoo bar")
		x.do(cf1, "put a aa")
		x.walk(x.over(cf1, kvMap{}), "first -> a=aa", "next -> -")
		x.do(cf1, "put c cc")
		x.walk(x.over(cf1, kvMap{}),
			"first -> c=cc", "next -> a=aa", "next -> -", "last -> a=aa", "prev -> c=cc", "prev -> -",
			"seek b -> a=aa", "prev -> c=cc", "seek a -> a=aa")
		x.do(nil, "put a b")
		x.walk(x.over(nil, kvMap{"b": ""}),
			"first -> a=b", "next -> b=", "next -> -", "last -> b=", "prev -> a=b", "prev -> -",
			"seek b -> b=", "prev -> a=b", "seek 0 -> a=b")
		if x.overwrite {
			x.checkUpdateCounts(nil)
			x.checkUpdateCounts(cf1)
			x.checkUpdateCounts(cf2)
		}
	})
}

// putAlphabet puts a=a to z=z.
func (x *wbwiTest) putAlphabet() {
	for c := 'a'; c <= 'z'; c++ {
		x.do(nil, "put "+string(c)+" "+string(c))
	}
}

func TestWBWIOverwriteTest_MutateWhileIteratingCorrectnessTest(t *testing.T) {
	x := newWBWITest(t, true)
	x.putAlphabet()
	it := x.batch.NewIterator(nil)
	x.walkEntries(it, "seek k -> PUT(k):k", "next -> PUT(l):l")
	x.do(nil, "put ab cc")
	x.walkEntries(it, "next -> PUT(m):m")
	x.do(nil, "put mm kk")
	x.walkEntries(it, "next -> PUT(mm):kk")
	x.do(nil, "del mm")
	x.walkEntries(it, "next -> PUT(n):n", "prev -> DEL(mm)", "seek ab -> PUT(ab):cc")
	x.do(nil, "del x")
	x.walkEntries(it, "seek x -> DEL(x)", "prev -> PUT(w):w")
}

func TestWBWIOverwriteTest_MutateWhileIteratingBaseCorrectnessTest(t *testing.T) {
	x := newWBWITest(t, true)
	x.putAlphabet()
	it := x.over(nil, kvMap{"aa": "aa", "cc": "cc", "ee": "ee", "em": "me"})
	x.walk(it, "seek k -> k=k", "next -> l=l")
	x.do(nil, "put ab cc")
	x.walk(it, "next -> m=m")
	x.do(nil, "put mm kk")
	x.walk(it, "next -> mm=kk")
	x.do(nil, "del mm")
	x.walk(it, "next -> n=n", "prev -> m=m")
	x.walk(it, "seek ab -> ab=cc", "prev -> aa=aa", "prev -> a=a")
	x.do(nil, "del aa")
	x.walk(it, "next -> ab=cc", "prev -> a=a")
	x.do(nil, "del x")
	x.walk(it, "seek x -> y=y", "next -> z=z", "prev -> y=y", "prev -> w=w")
	x.do(nil, "del e")
	x.walk(it, "seek e -> ee=ee")
	x.do(nil, "put ee xx")
	x.expect("the present value", keyed(it), "ee=ee")
	x.walk(it, "next -> em=me", "prev -> ee=xx")
	x.must(it.Status())
}

func TestWBWIOverwriteTest_MutateWhileIteratingBaseStressTest(t *testing.T) {
	x := newWBWITest(t, true)
	x.putAlphabet()
	base := kvMap{}
	for c := 'a'; c <= 'z'; c++ {
		base[string(c)+string(c)] = string(c) + string(c)
	}
	it := x.over(nil, base)
	rnd := util.NewRandom(301)
	for range 100000 {
		random := rnd.Uniform(8)
		one := []byte{byte('a' + rnd.Uniform(26))}
		two := []byte{one[0], one[0]}
		switch random {
		case 0:
			x.must(x.batch.Put(one, []byte("xxx")))
		case 1:
			x.must(x.batch.Put(two, []byte("xxx")))
		case 2:
			x.must(x.batch.Delete(one))
		case 3:
			x.must(x.batch.Delete(two))
		case 4:
			it.Seek(one)
		case 5:
			it.Seek(two)
		case 6:
			if it.Valid() {
				it.Next()
			}
		case 7:
			if it.Valid() {
				it.Prev()
			}
		}
	}
	x.must(it.Status())
	x.checkUpdateCounts(nil)
}

func TestWriteBatchWithIndexTest_TestNewIteratorWithBaseFromWbwi(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.walk(x.over(&dummyHandle{6, rocksdb.BytewiseComparator()}, kvMap{"a": "aa", "c": "cc", "e": "ee"}), "first -> a=aa")
	})
}

// unpreparedIter is a kvIter whose values want PrepareValue.
func unpreparedIter(fail bool) *kvIter {
	it := newKVIter(kvMap{"a": "aa", "c": "cc", "e": "ee"})
	it.unprepared, it.failPrepare = true, fail
	return it
}

func TestWriteBatchWithIndexTest_NewIteratorWithBasePrepareValue(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1 := &dummyHandle{1, rocksdb.BytewiseComparator()}
		x.do(cf1, "put c cc1")
		x.walk(x.batch.NewIteratorWithBase(cf1, unpreparedIter(false), nil),
			"first -> a=aa", "next -> c=cc1", "next -> e=ee", "next -> -", "last -> e=ee", "prev -> c=cc1", "prev -> a=aa", "prev -> -")
		it := x.batch.NewIteratorWithBase(cf1, unpreparedIter(true), nil)
		x.walk(it, "first -> "+corruption, "last -> "+corruption)
		if it.Valid() {
			t.Error("valid after an error")
		}
	})
}

func TestWriteBatchWithIndexTest_NewIteratorWithBaseAllowUnpreparedValue(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1 := &dummyHandle{1, rocksdb.BytewiseComparator()}
		x.do(cf1, "put c cc1")
		x.ro.AllowUnpreparedValue = true
		it := x.batch.NewIteratorWithBase(cf1, unpreparedIter(false), &x.ro)
		// Values of the base are there once they are prepared; those of the batch
		// always are.
		for _, s := range []struct{ move, before, after string }{
			{"first", "a=", "a=aa"}, {"next", "c=cc1", "c=cc1"}, {"next", "e=", "e=ee"}, {"next", "-", ""},
			{"last", "e=", "e=ee"}, {"prev", "c=cc1", "c=cc1"}, {"prev", "a=", "a=aa"}, {"prev", "-", ""},
		} {
			x.walk(it, s.move+" -> "+s.before)
			if !it.Valid() {
				continue
			}
			if !it.PrepareValue() {
				t.Fatal(it.Status())
			}
			x.expect("prepared", keyed(it), s.after)
		}

		it = x.batch.NewIteratorWithBase(cf1, unpreparedIter(true), &x.ro)
		for _, s := range []string{"first -> a=", "last -> e="} {
			x.walk(it, s)
			if it.PrepareValue() || it.Valid() {
				t.Error("a value that cannot be prepared is")
			}
			x.expect("status", keyed(it), corruption)
		}
	})
}

func TestWriteBatchWithIndexTest_TestBoundsCheckingInDeltaIterator(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.do(nil, "put a aa", "put b bb", "put c cc")
		for _, bounds := range [][2]string{{"b", "c"}, {"a.1", "c"}, {"b", "b.2"}} {
			x.ro.IterateLowerBound, x.ro.IterateUpperBound = []byte(bounds[0]), []byte(bounds[1])
			x.walk(x.batch.NewIteratorWithBase(x.cf(), newKVIter(kvMap{}), &x.ro),
				"first -> b=bb", "prev -> -", "last -> b=bb", "next -> -",
				"seek a -> b=bb", "seek b -> b=bb", "seek c -> -",
				"for_prev c -> b=bb", "for_prev b -> b=bb", "for_prev a -> -",
				"for_prev a.1 -> -", "seek b.1 -> -")
		}
	})
}

func TestWriteBatchWithIndexTest_TestBoundsCheckingInSeekToFirstAndLastOfDeltaIterator(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.do(nil, "put c cc")
		for _, bounds := range [][2]string{{"b", "c"}, {"d", "e"}} {
			x.ro.IterateLowerBound, x.ro.IterateUpperBound = []byte(bounds[0]), []byte(bounds[1])
			x.walk(x.batch.NewIteratorWithBase(x.cf(), newKVIter(kvMap{}), &x.ro), "first -> -", "last -> -")
		}
	})
}

func TestWriteBatchWithIndexTest_SavePointTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf1 := &dummyHandle{1, rocksdb.BytewiseComparator()}
		it0, it1 := x.over(nil, kvMap{}), x.over(cf1, kvMap{})
		expect := func(m0, m1 kvMap) {
			x.Helper()
			x.expectAll(it0, m0)
			x.expectAll(it1, m1)
		}
		rollback := func() { x.Helper(); x.must(x.batch.RollbackToSavePoint()) }

		x.do(nil, "put A a", "put B b", "put A aa")
		x.do(cf1, "put A a1", "del B", "put C c1", "put E e1")
		zero, one := kvMap{"A": "aa", "B": "b"}, kvMap{"A": "a1", "C": "c1", "E": "e1"}
		expect(zero, one)
		x.batch.SetSavePoint() // 1

		x.do(nil, "put C cc", "put B bb", "del A")
		x.do(cf1, "put B b1", "del A", "sdel E")
		x.batch.SetSavePoint() // 2
		zero1, one1 := kvMap{"B": "bb", "C": "cc"}, kvMap{"B": "b1", "C": "c1"}
		expect(zero1, one1)

		x.do(nil, "put A aaa", "put A xxx", "del B")
		x.do(cf1, "put B b2", "del C")
		x.batch.SetSavePoint() // 3
		x.batch.SetSavePoint() // 4
		zero2, one2 := kvMap{"A": "xxx", "C": "cc"}, kvMap{"B": "b2"}
		expect(zero2, one2)

		x.do(nil, "sdel D")
		x.do(cf1, "del D", "del E")
		expect(zero2, one2)
		rollback() // to 4
		expect(zero2, one2)
		rollback() // to 3
		expect(zero2, one2)
		rollback() // to 2
		expect(zero1, one1)

		x.batch.SetSavePoint() // 5
		x.do(nil, "put X x")
		expect(kvMap{"B": "bb", "C": "cc", "X": "x"}, one1)
		rollback() // to 5
		expect(zero1, one1)
		rollback() // to 1
		expect(zero, one)
		if err := x.batch.RollbackToSavePoint(); !rocksdb.IsNotFound(err) {
			t.Error(err)
		}
		expect(zero, one)

		x.batch.SetSavePoint() // 6
		x.batch.Clear()
		x.expect("a cleared family", x.contents(nil)+x.contents(cf1), "")
		if err := x.batch.RollbackToSavePoint(); !rocksdb.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func TestWriteBatchWithIndexTest_SingleDeleteDeltaIterTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.do(nil, "put A a", "put A a2", "put B b", "sdel A", "del B")
		x.expectAll(x.over(nil, kvMap{}), kvMap{})
		base := kvMap{"A": "aa", "C": "cc", "D": "dd"}
		x.do(nil, "sdel B", "sdel C", "sdel Z")
		x.expectAll(x.over(nil, base), kvMap{"D": "dd"})
		x.do(nil, "put A a3", "put B b3", "sdel A", "sdel A", "sdel D", "sdel D", "del D")
		base["E"] = "ee"
		x.expectAll(x.over(nil, base), kvMap{"B": "b3", "E": "ee"})
	})
}

func TestWriteBatchWithIndexTest_FakeMergeWithIteratorTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		result := kvMap{"odm": "odm2", "mp": "mp1", "omp": "omp2", "mmp": "mmp2"}
		for k, v := range result {
			x.expect(k, x.add(x.cf(), k), v)
		}
		for _, k := range []string{"md", "mmd", "omd"} {
			x.add(x.cf(), k)
		}
		x.expectAll(x.over(x.cf(), kvMap{"odm": "odm0", "omd": "omd0", "omp": "omp0"}), result)
	})
}

// mergeResults are what letters of deletions, puts and merges come to alone.
var mergeResults = kvMap{
	"m": "m0", "mm": "mm0,mm1", "dm": "dm1", "dmm": "dmm1,dmm2", "mdm": "mdm2", "mpm": "mpm1,mpm2",
	"pm": "pm0,pm1", "pmm": "pmm0,pmm1,pmm2",
}

func TestWriteBatchWithIndexTest_IteratorMergeTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		for k, v := range mergeResults {
			x.expect(k, x.add(x.cf(), k), v)
		}
		x.expectAll(x.over(x.cf(), kvMap{}), mergeResults)
	})
}

func TestWriteBatchWithIndexTest_IteratorMergeTestWithOrig(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		base, results := kvMap{}, kvMap{}
		for k, v := range mergeResults {
			x.add(x.cf(), k)
			base[k], results[k] = "o"+k, v
		}
		results["m"], results["mm"] = "om,m0", "omm,mm0,mm1" // they have no update below
		x.expectAll(x.over(x.cf(), base), results)
	})
}

func TestWriteBatchWithIndexTest_TrackAndClearCFStats(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		expect := func(want map[uint32]rocksdb.CFStat) {
			x.Helper()
			got := x.batch.GetCFStats()
			if len(got) != len(want) {
				x.Fatalf("%v, expected %v", got, want)
			}
			for id, s := range want {
				if got[id] != s {
					x.Fatalf("family %d: %v, expected %v", id, got[id], s)
				}
			}
		}
		x.do(nil, "put A val", "sdel B")
		x.do(&dummyHandle{1, rocksdb.BytewiseComparator()}, "put bar foo")
		expect(map[uint32]rocksdb.CFStat{0: {EntryCount: 2}, 1: {EntryCount: 1}})
		x.batch.Clear()
		expect(nil)

		one := func(keep, overwrite rocksdb.CFStat) map[uint32]rocksdb.CFStat {
			if x.overwrite {
				return map[uint32]rocksdb.CFStat{0: overwrite}
			}
			return map[uint32]rocksdb.CFStat{0: keep}
		}
		x.do(nil, "put A val", "sdel A")
		expect(one(rocksdb.CFStat{EntryCount: 2}, rocksdb.CFStat{EntryCount: 1}))
		x.do(nil, "put A new_val")
		expect(one(rocksdb.CFStat{EntryCount: 3}, rocksdb.CFStat{EntryCount: 1, OverwrittenSDCount: 1}))
	})
}

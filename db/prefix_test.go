// Port of db/prefix_test.cc. Differs: fewer prefixes and rounds, and no times.

package db_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// prefixKey is a key of two numbers, of which the first is the prefix.
func prefixKey(prefix, sorted uint64) string {
	return string(util.AppendFixed64(util.AppendFixed64(nil, prefix), sorted))
}

// prefixOrder orders keys by their numbers; one may be a prefix only, and is
// before its keys.
func prefixOrder() rocksdb.Comparator {
	return newOrder("TestKeyComparator", func(a, b []byte) int {
		for len(a) >= 8 && len(b) >= 8 {
			x, y := util.DecodeFixed64(a), util.DecodeFixed64(b)
			if x != y {
				return map[bool]int{true: -1, false: 1}[x < y]
			}
			a, b = a[8:], b[8:]
		}
		return len(a) - len(b)
	})
}

// samePrefix has the keys that begin with it in its domain.
type samePrefix string

func (p samePrefix) Name() string                       { return "rocksdb.SamePrefix." + string(p) }
func (p samePrefix) AsString() string                   { return p.Name() }
func (p samePrefix) Transform([]byte) []byte            { return []byte(p) }
func (p samePrefix) InDomain(key []byte) bool           { return strings.HasPrefix(string(key), string(p)) }
func (p samePrefix) FullLengthEnabled() (int, bool)     { return 0, false }
func (p samePrefix) SameResultWhenAppended([]byte) bool { return false }

func prefixFilter() rocksdb.TableFactory {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.FilterPolicy, t.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
	return rocksdb.NewBlockBasedTableFactory(t)
}

func TestSamePrefixTest_InDomainTest(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.PrefixExtractor, o.TableFactory = samePrefix("HHKB"), prefixFilter()
	check := func(target, value string, kvs ...string) {
		t.Helper()
		x.destroyAndReopen(o)
		x.putAll(kvs...)
		x.flush(0)
		it := x.db.NewIterator(nil)
		defer it.Close()
		it.Seek([]byte(target))
		if x.must(it.Status()); !it.Valid() || string(it.Key()) != target || string(it.Value()) != value {
			t.Fatalf("%v, %q", it.Valid(), it.Key())
		}
	}
	check("Realforce 87u", "idk", "HHKB pro2", "Mar 24, 2006", "HHKB pro2 Type-S", "June 29, 2011", "Realforce 87u", "idk")
	check("Mewtwo", "idk", "pikachu", "1", "Meowth", "1", "Mewtwo", "idk")
}

// prefixTest is a database of prefixKeys.
type prefixTest struct {
	*dbTest
	o rocksdb.Options
}

func newPrefixTest(t *testing.T) *prefixTest {
	x := &prefixTest{dbTest: newDBTest(t)}
	x.o = rocksdb.DefaultOptions()
	x.o.Env, x.o.CreateIfMissing, x.o.Comparator = x.env, true, prefixOrder()
	x.o.WriteBufferSize, x.o.MaxWriteBufferNumber, x.o.MinWriteBufferNumberToMerge = 32<<20, 2, 1
	x.o.MemtablePrefixBloomSizeRatio, x.o.MemtableHugePageSize = 0.1, 2<<20
	x.o.PrefixExtractor, x.o.TableFactory = rocksdb.NewFixedPrefixTransform(8), prefixFilter()
	x.o.AllowConcurrentMemtableWrite = false
	return x
}

// eachHashMemtable runs f with a fresh database of each kind of memtable.
func eachHashMemtable(t *testing.T, buckets int, f func(x *prefixTest)) {
	huge := memtable.NewHashLinkListRepFactory(buckets)
	huge.HugePageTLBSize = 2 << 20
	toSkipList := memtable.NewHashLinkListRepFactory(buckets)
	toSkipList.BucketEntriesLoggingThreshold = 3
	low := memtable.NewHashLinkListRepFactory(buckets)
	low.ThresholdUseSkiplist = 3
	for name, factory := range map[string]rocksdb.MemTableRepFactory{
		"HashSkipList": memtable.NewHashSkipListRepFactory(buckets, 4, 0), "HashLinkList": memtable.NewHashLinkListRepFactory(buckets),
		"HashLinkListHugePageTlb": huge, "HashLinkListTriggerSkipList": toSkipList, "HashLinkListOfSkipLists": low,
	} {
		t.Run(fmt.Sprintf("%s,buckets=%d", name, buckets), func(t *testing.T) {
			x := newPrefixTest(t)
			x.o.MemtableFactory = factory
			x.destroyAndReopen(x.o)
			f(x)
		})
	}
}

func (x *prefixTest) seek(it *rocksdb.Iterator, prefix, sorted uint64, want string) {
	x.Helper()
	it.Seek([]byte(prefixKey(prefix, sorted)))
	x.at(it, want)
}

// next moves on, over want.
func (x *prefixTest) next(it *rocksdb.Iterator, want ...string) {
	x.Helper()
	for _, w := range want {
		it.Next()
		x.at(it, w)
	}
}

// at checks the iterator's value; "" is not valid.
func (x *prefixTest) at(it *rocksdb.Iterator, want string) {
	x.Helper()
	x.must(it.Status())
	if it.Valid() != (want != "") || it.Valid() && string(it.Value()) != want {
		x.Fatalf("iterator is valid: %v, want %q", it.Valid(), want)
	}
}

func (x *prefixTest) wantKeys(want map[[2]uint64]string) {
	x.Helper()
	for k, v := range want {
		x.wantGet(0, prefixKey(k[0], k[1]), v)
	}
}

// withIterator runs f with an iterator.
func (x *prefixTest) withIterator(f func(it *rocksdb.Iterator)) {
	it := x.db.NewIterator(nil)
	defer it.Close()
	f(it)
}

func TestPrefixTest_TestResult(t *testing.T) {
	for buckets := 1; buckets <= 2; buckets++ {
		eachHashMemtable(t, buckets, checkPrefixResults)
	}
}

func checkPrefixResults(x *prefixTest) {
	put := func(prefix, sorted uint64) {
		x.mustPut(0, prefixKey(prefix, sorted), fmt.Sprintf("v%d%d", prefix, sorted))
	}
	put(1, 6)
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 1, 6, "v16")
		x.seek(it, 1, 5, "v16")
		x.seek(it, 1, 5, "v16")
		x.next(it, "")
		x.seek(it, 2, 0, "")
	})
	x.wantKeys(map[[2]uint64]string{{1, 6}: "v16", {1, 5}: "NOT_FOUND", {1, 7}: "NOT_FOUND", {0, 6}: "NOT_FOUND", {2, 6}: "NOT_FOUND"})
	put(1, 7) // at the end of the bucket
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 1, 7, "v17")
		x.seek(it, 1, 6, "v16")
		x.next(it, "v17", "")
		x.seek(it, 2, 0, "")
	})
	put(1, 5) // at its head
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 1, 7, "v17")
		x.seek(it, 1, 5, "v15")
		x.next(it, "v16", "v17")
		x.seek(it, 1, 5, "v15")
	})
	x.wantKeys(map[[2]uint64]string{{1, 5}: "v15", {1, 6}: "v16", {1, 7}: "v17"})
	put(2, 2) // a larger prefix
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 2, 2, "v22")
		x.seek(it, 2, 0, "v22")
		x.seek(it, 1, 5, "v15")
		x.seek(it, 1, 7, "v17")
	})
	put(0, 2) // a smaller one
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 0, 2, "v02")
		x.seek(it, 0, 0, "v02")
		x.seek(it, 2, 0, "v22")
		x.seek(it, 1, 5, "v15")
		x.seek(it, 1, 7, "v17")
	})
	put(1, 3)
	put(1, 8)
	x.withIterator(func(it *rocksdb.Iterator) {
		x.seek(it, 1, 7, "v17")
		x.seek(it, 1, 3, "v13")
		x.next(it, "v15", "v16", "v17", "v18")
		x.seek(it, 0, 0, "v02")
		x.seek(it, 2, 0, "v22")
	})
	x.wantKeys(map[[2]uint64]string{{2, 2}: "v22", {0, 2}: "v02", {1, 3}: "v13", {1, 5}: "v15", {1, 6}: "v16", {1, 7}: "v17", {1, 8}: "v18"})
}

func TestPrefixTest_PrefixValid(t *testing.T) {
	for buckets := 1; buckets <= 2; buckets++ {
		eachHashMemtable(t, buckets, func(x *prefixTest) {
			for i := uint64(6); i <= 9; i++ {
				x.mustPut(0, prefixKey(12345, i), fmt.Sprint("v1", i))
			}
			x.mustPut(0, prefixKey(12346, 8), "v16")
			x.flush(0)
			x.mustDelete(0, prefixKey(12346, 8))
			x.flush(0)
			ro := rocksdb.DefaultReadOptions()
			ro.PrefixSameAsStart = true
			it := x.db.NewIterator(&ro)
			defer it.Close()
			x.seek(it, 12345, 6, "v16")
			x.next(it, "v17", "v18", "v19", "")
			x.wantGet(0, prefixKey(12346, 8), "NOT_FOUND")
			x.seek(it, 12345, 10, "")
		})
	}
}

func TestPrefixTest_DynamicPrefixIterator(t *testing.T) {
	const prefixes, itemsPerPrefix = 3000, 1
	eachHashMemtable(t, 3000, func(x *prefixTest) {
		value := string(make([]byte, 40))
		for p := range uint64(prefixes) {
			for i := range uint64(itemsPerPrefix) {
				x.mustPut(0, prefixKey(p, i), value)
			}
		}
		x.withIterator(func(it *rocksdb.Iterator) {
			for p := range uint64(prefixes) {
				n, key := 0, prefixKey(p, itemsPerPrefix/2)
				for it.Seek([]byte(key)); it.Valid() && strings.HasPrefix(string(it.Key()), key[:8]); it.Next() {
					n++
				}
				if n != itemsPerPrefix-itemsPerPrefix/2 {
					x.Fatalf("prefix %d has %d keys", p, n)
				}
			}
			for p := uint64(prefixes); p < prefixes+1000; p++ {
				x.seek(it, p, 0, "")
			}
		})
	})
}

type testKey struct{ prefix, sorted uint64 }

func compareTestKeys(a, b testKey) int {
	return slices.Compare([]uint64{a.prefix, a.sorted}, []uint64{b.prefix, b.sorted})
}

func TestPrefixTest_PrefixSeekModePrev(t *testing.T) {
	x := newPrefixTest(t)
	op, err := mergeoperators.New("put")
	x.must(err)
	x.o.MergeOperator, x.o.WriteBufferSize = op, 1<<20
	rnd := util.NewRandom(1)
	for range 25 {
		x.destroyAndReopen(x.o)
		whole := map[testKey]string{}
		tables := [3]map[testKey]string{{}, {}, {}}
		for i := range uint64(10) {
			for j := range uint64(10) {
				v := fmt.Sprintf("v%d%d", i, j)
				whole[testKey{i, j}] = v
				tables[rnd.Uniform(int(i%3+1))][testKey{i, j}] = v
			}
		}
		for i, m := range tables {
			for _, k := range slices.SortedFunc(maps.Keys(m), compareTestKeys) {
				if key := prefixKey(k.prefix, k.sorted); rnd.OneIn(3) {
					x.mustPut(0, key, m[k])
				} else {
					x.mustMerge(0, key, m[k])
				}
			}
			if i < 2 {
				x.flush(0)
			}
		}
		for _, m := range tables[:2] {
			for _, k := range slices.SortedFunc(maps.Keys(m), compareTestKeys) {
				if rnd.OneIn(10) {
					delete(whole, k)
					x.mustDelete(0, prefixKey(k.prefix, k.sorted))
				}
			}
		}
		x.withIterator(func(it *rocksdb.Iterator) { x.walkPrefixes(it, whole, rnd) })
	}
}

// walkPrefixes goes to and fro within prefixes.
func (x *prefixTest) walkPrefixes(it *rocksdb.Iterator, whole map[testKey]string, rnd *util.Random) {
	keys := slices.SortedFunc(maps.Keys(whole), compareTestKeys)
	for prefix := range uint64(10) {
		start := testKey{prefix, uint64(rnd.Uniform(9))}
		it.Seek([]byte(prefixKey(start.prefix, start.sorted)))
		at, ok := slices.BinarySearchFunc(keys, start, compareTestKeys)
		if !ok {
			continue
		}
		x.at(it, whole[start])
		for range 9 {
			if rnd.OneIn(2) || at == 0 {
				it.Next()
				at++
			} else {
				it.Prev()
				at--
			}
			if !it.Valid() || util.DecodeFixed64(it.Key()) != prefix {
				break
			}
			x.at(it, whole[keys[at]])
		}
	}
	x.must(it.Status())
}

// putTestKeys writes keys with values of their numbers and flushes.
func (x *prefixTest) putTestKeys(keys ...testKey) {
	x.Helper()
	for _, k := range keys {
		x.mustPut(0, prefixKey(k.prefix, k.sorted), fmt.Sprintf("v%d%d", k.prefix, k.sorted))
	}
	x.flush(0)
}

// After the seek one table's iterator is at 21 and the other's at 33. Prev seeks
// both back from 21, and then the filter has to make the other one invalid.
func TestPrefixTest_PrefixSeekModePrev2(t *testing.T) {
	x := newPrefixTest(t)
	x.o.WriteBufferSize = 1 << 20
	x.destroyAndReopen(x.o)
	x.putTestKeys(testKey{1, 2}, testKey{1, 4}, testKey{3, 3}, testKey{3, 4})
	x.putTestKeys(testKey{1, 1}, testKey{1, 3}, testKey{2, 1}, testKey{2, 2})
	x.withIterator(func(it *rocksdb.Iterator) {
		it.Seek([]byte(prefixKey(1, 5)))
		it.Prev()
		x.at(it, "v13")
	})
}

// SeekToLast below an upper bound.
func TestPrefixTest_PrefixSeekModePrev3(t *testing.T) {
	x := newPrefixTest(t)
	x.o.WriteBufferSize = 1 << 20
	ro := rocksdb.DefaultReadOptions()
	ro.IterateUpperBound = []byte(prefixKey(1, 5))
	last := func(first, second []testKey) {
		t.Helper()
		x.destroyAndReopen(x.o)
		x.putTestKeys(first...)
		x.putTestKeys(second...)
		it := x.db.NewIterator(&ro)
		defer it.Close()
		it.SeekToLast()
		x.at(it, "v14")
	}
	last([]testKey{{1, 2}, {1, 4}}, []testKey{{1, 1}, {1, 3}, {2, 1}, {2, 2}})
	last([]testKey{{1, 2}, {1, 4}, {3, 3}, {3, 4}}, []testKey{{1, 1}, {1, 3}})
}

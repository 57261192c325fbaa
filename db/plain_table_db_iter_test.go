// Port of db/plain_table_db_test.cc: the cases of PlainTableDBTest with iterators.

package db_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// seekTo seeks; want "key->value" or "key" is where the iterator has to be, "" is
// nowhere.
func (x *plainTest) seekTo(it *rocksdb.Iterator, target, want string) {
	x.Helper()
	it.Seek([]byte(target))
	x.iterAt(it, want)
}

func (x *plainTest) nextTo(it *rocksdb.Iterator, want string) {
	x.Helper()
	it.Next()
	x.iterAt(it, want)
}

func (x *plainTest) iterAt(it *rocksdb.Iterator, want string) {
	x.Helper()
	x.must(it.Status())
	key, value, hasValue := strings.Cut(want, "->")
	switch {
	case !it.Valid() && want == "":
	case !it.Valid():
		x.Fatalf("iterator is not valid, want %s", want)
	case string(it.Key()) != key || hasValue && string(it.Value()) != value:
		x.Fatalf("iterator is at %s->%s, want %s", it.Key(), it.Value(), want)
	}
}

func (x *plainTest) nineFoos() {
	x.Helper()
	x.putAll("1000000000foo002", "v_2", "0000000000000bar", "random", "1000000000foo001", "v1", "3000000000000bar", "bar_v",
		"1000000000foo003", "v__3", "1000000000foo004", "v__4", "1000000000foo005", "v__5", "1000000000foo007", "v__7", "1000000000foo008", "v__8")
	x.flush(0)
	x.wantAll("1000000000foo001", "v1", "1000000000foo003", "v__3")
}

func TestPlainTableDBTest_Iterator(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		eachPlainOption(x, func(p rocksdb.PlainTableOptions, totalOrder bool) {
			if p.EncodingType == rocksdb.EncodingPrefix && totalOrder {
				return
			}
			for _, bits := range []int{0, 117} {
				p.UserKeyLen, p.BloomBitsPerKey = 16, bits
				x.with(p, totalOrder)
				x.checkIterator(bits > 0, totalOrder)
			}
		})
	})
}

func (x *plainTest) checkIterator(filter, totalOrder bool) {
	x.Helper()
	x.nineFoos()
	perf := rocksdb.PerfContext{Level: rocksdb.EnableCount}
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext = &perf
	it := x.db.NewIterator(&ro)
	defer it.Close()
	x.seekTo(it, "1000000000foo000", "1000000000foo001->v1")
	x.nextTo(it, "1000000000foo002->v_2")
	x.nextTo(it, "1000000000foo003->v__3")
	x.nextTo(it, "1000000000foo004->v__4")
	x.seekTo(it, "3000000000000bar", "3000000000000bar->bar_v")
	x.seekTo(it, "1000000000foo000", "1000000000foo001->v1")
	x.seekTo(it, "1000000000foo005", "1000000000foo005->v__5")
	x.seekTo(it, "1000000000foo006", "1000000000foo007->v__7")
	x.seekTo(it, "1000000000foo008", "1000000000foo008->v__8")
	if !totalOrder {
		x.seekTo(it, "1000000000foo009", "3000000000000bar")
	}
	if perf.BloomSSTMissCount != 0 {
		x.Errorf("filters missed %d", perf.BloomSSTMissCount)
	}
	if !filter {
		return
	}
	if !totalOrder {
		perf.BloomSSTHitCount = 0
		x.seekTo(it, "2not000000000bar", "")
		if perf.BloomSSTHitCount != 0 || perf.BloomSSTMissCount == 0 {
			x.Errorf("filters found %d and missed %d", perf.BloomSSTHitCount, perf.BloomSSTMissCount)
		}
	}
	x.wantFiltered("2not000000000bar", true)
}

// largeKeys writes keys and iterates over them.
func (x *plainTest) largeKeys(o rocksdb.Options, keys []string) {
	x.Helper()
	x.destroyAndReopen(o)
	for i, k := range keys {
		x.mustPut(0, k, strconv.Itoa(i))
	}
	x.flush(0)
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.Seek([]byte(keys[0]))
	for i, k := range keys {
		x.iterAt(it, k+"->"+strconv.Itoa(i))
		it.Next()
	}
	x.iterAt(it, "")
}

var largeKeyLengths = []int{30, 16, 32, 60, 90, 50, 26}

func TestPlainTableDBTest_IteratorLargeKeys(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		p := rocksdb.DefaultPlainTableOptions()
		p.BloomBitsPerKey, p.HashTableRatio = 0, 0
		o := x.options()
		o.TableFactory, o.PrefixExtractor = rocksdb.NewPlainTableFactory(p), nil
		var keys []string
		for i, n := range largeKeyLengths {
			keys = append(keys, strings.Repeat(strconv.Itoa(i), n))
		}
		x.largeKeys(o, keys)
	})
}

func TestPlainTableDBTest_IteratorLargeKeysWithPrefix(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		p := rocksdb.DefaultPlainTableOptions()
		p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness = 16, 0, 0.8, 3
		p.EncodingType = rocksdb.EncodingPrefix
		o := x.options()
		o.TableFactory = rocksdb.NewPlainTableFactory(p)
		var keys []string
		for i, n := range largeKeyLengths {
			keys = append(keys, "00000000"+strings.Repeat(strconv.Itoa(i), n-8))
		}
		x.largeKeys(o, keys)
	})
}

// simpleSuffixReverse orders by the first 8 bytes, then backwards by the rest.
func simpleSuffixReverse() rocksdb.Comparator {
	return newOrder("SimpleSuffixReverseComparator", func(a, b []byte) int {
		if c := bytes.Compare(a[:8], b[:8]); c != 0 {
			return c
		}
		return bytes.Compare(b[8:], a[8:])
	})
}

func TestPlainTableDBTest_IteratorReverseSuffixComparator(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		o.Comparator = simpleSuffixReverse()
		x.destroyAndReopen(o)
		x.nineFoos()
		it := x.db.NewIterator(nil)
		defer it.Close()
		x.seekTo(it, "1000000000foo009", "1000000000foo008->v__8")
		x.nextTo(it, "1000000000foo007->v__7")
		x.nextTo(it, "1000000000foo005->v__5")
		x.nextTo(it, "1000000000foo004->v__4")
		x.seekTo(it, "3000000000000bar", "3000000000000bar->bar_v")
		x.seekTo(it, "1000000000foo005", "1000000000foo005->v__5")
		x.seekTo(it, "1000000000foo006", "1000000000foo005->v__5")
		x.seekTo(it, "1000000000foo008", "1000000000foo008->v__8")
		x.seekTo(it, "1000000000foo000", "3000000000000bar")
	})
}

// conflict opens databases whose prefixes are all in one bucket, with several
// distances between index entries.
func conflict(t *testing.T, comparator rocksdb.Comparator, f func(x *plainTest, it *rocksdb.Iterator)) {
	eachPlain(t, func(x *plainTest) {
		for _, huge := range []uint64{0, testHugePage} {
			for i := uint64(1); i <= 3; i++ {
				p := rocksdb.DefaultPlainTableOptions()
				p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness, p.HugePageTLBSize = 16, 0, 0, 2^i, huge
				o := x.options()
				o.TableFactory = rocksdb.NewPlainTableFactory(p)
				if comparator != nil {
					o.Comparator = comparator
				}
				x.destroyAndReopen(o)
				x.putAll("5000000000000fo0", "v1", "5000000000000fo1", "v2", "5000000000000fo2", "v",
					"2000000000000fo0", "v3", "2000000000000fo1", "v4", "2000000000000fo2", "v", "2000000000000fo3", "v")
				x.flush(0)
				x.wantAll("5000000000000fo0", "v1", "5000000000000fo1", "v2", "2000000000000fo0", "v3", "2000000000000fo1", "v4",
					"5000000000000bar", "NOT_FOUND", "2000000000000bar", "NOT_FOUND", "5000000000000fo8", "NOT_FOUND", "2000000000000fo8", "NOT_FOUND")
				it := x.db.NewIterator(nil)
				f(x, it)
				x.seekTo(it, "1000000000000fo2", "")
				x.seekTo(it, "3000000000000fo2", "")
				x.seekTo(it, "8000000000000fo2", "")
				it.Close()
			}
		}
	})
}

func TestPlainTableDBTest_HashBucketConflict(t *testing.T) {
	conflict(t, nil, func(x *plainTest, it *rocksdb.Iterator) {
		x.seekTo(it, "5000000000000fo0", "5000000000000fo0")
		x.nextTo(it, "5000000000000fo1")
		x.seekTo(it, "5000000000000fo1", "5000000000000fo1")
		x.seekTo(it, "2000000000000fo0", "2000000000000fo0")
		x.nextTo(it, "2000000000000fo1")
		x.seekTo(it, "2000000000000fo1", "2000000000000fo1")
		x.seekTo(it, "2000000000000bar", "2000000000000fo0")
		x.seekTo(it, "5000000000000bar", "5000000000000fo0")
		it.Seek([]byte("2000000000000fo8"))
		if x.must(it.Status()); it.Valid() && string(it.Key()) <= "20000001" {
			x.Errorf("iterator is at %s", it.Key())
		}
		x.seekTo(it, "5000000000000fo8", "")
	})
}

func TestPlainTableDBTest_HashBucketConflictReverseSuffixComparator(t *testing.T) {
	conflict(t, simpleSuffixReverse(), func(x *plainTest, it *rocksdb.Iterator) {
		x.seekTo(it, "5000000000000fo1", "5000000000000fo1")
		x.nextTo(it, "5000000000000fo0")
		x.seekTo(it, "5000000000000fo1", "5000000000000fo1")
		x.seekTo(it, "2000000000000fo1", "2000000000000fo1")
		x.nextTo(it, "2000000000000fo0")
		x.seekTo(it, "2000000000000fo1", "2000000000000fo1")
		x.seekTo(it, "2000000000000var", "2000000000000fo3")
		x.seekTo(it, "5000000000000var", "5000000000000fo2")
		it.Seek([]byte("2000000000000bar"))
		if x.must(it.Status()); it.Valid() && strings.HasPrefix(string(it.Key()), "20000000") {
			x.Errorf("iterator is at %s", it.Key())
		}
	})
}

func TestPlainTableDBTest_NonExistingKeyToNonEmptyBucket(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		p := rocksdb.DefaultPlainTableOptions()
		p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness = 16, 0, 0, 5
		o := x.options()
		o.TableFactory = rocksdb.NewPlainTableFactory(p)
		x.destroyAndReopen(o)
		x.putAll("5000000000000fo0", "v1", "5000000000000fo1", "v2", "5000000000000fo2", "v3")
		x.flush(0)
		x.wantAll("5000000000000fo0", "v1", "5000000000000fo1", "v2", "5000000000000fo2", "v3",
			"8000000000000bar", "NOT_FOUND", "1000000000000bar", "NOT_FOUND")
		it := x.db.NewIterator(nil)
		defer it.Close()
		x.seekTo(it, "5000000000000bar", "5000000000000fo0")
		x.seekTo(it, "5000000000000fo8", "")
		x.seekTo(it, "1000000000000fo2", "")
		x.seekTo(it, "8000000000000fo2", "")
	})
}

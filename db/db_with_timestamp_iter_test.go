// Port of db/db_with_timestamp_basic_test.cc: iterators.

package db_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// versionsAt gives options to see all versions from low halves start to ts.
func versionsAt(start, ts uint64) *rocksdb.ReadOptions {
	ro := readAt(timestamp(ts, 0))
	ro.IterStartTS = timestamp(start, 0)
	return ro
}

func TestDBBasicTestWithTimestamp_SimpleIterate(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.MemtableFactory = newSpecialSkipListFactory(128) })
	for i, ts := range roWritten {
		for k := roStart[i]; k <= roMaxKey; k++ {
			x.must(x.db.PutWithTimestamp(nil, key1(k), ts, fmt.Append(nil, "value", i)))
		}
	}
	for i, at := range roReadAt {
		value, written, start := fmt.Sprint("value", i), roWritten[i], roStart[i]
		ro := readAt(at)
		it := x.db.NewIterator(ro)
		k := start
		for it.Seek(key1(0)); it.Valid(); it.Next() {
			checkIterUserEntry(t, it, key1(k), false, value, written)
			k++
		}
		x.must(it.Err())
		if k != roMaxKey+1 {
			t.Fatalf("forward to %d", k)
		}
		for it.SeekForPrev(key1(roMaxKey)); it.Valid(); it.Prev() {
			k--
			checkIterUserEntry(t, it, key1(k), false, value, written)
		}
		x.must(it.Err())
		if k != start {
			t.Fatalf("backward to %d", k)
		}
		it.Close()
		for l, r := uint64(0), uint64(roMaxKey+1); l < r; l, r = l+roMaxKey/100, r-roMaxKey/100 {
			ro.IterateLowerBound, ro.IterateUpperBound = key1(l), key1(r)
			it := x.db.NewIterator(ro)
			k := max(l, start)
			for it.SeekToFirst(); it.Valid(); it.Next() {
				checkIterUserEntry(t, it, key1(k), false, value, written)
				k++
			}
			x.must(it.Err())
			if k != r {
				t.Fatalf("[%d, %d): forward to %d", l, r, k)
			}
			for it.SeekToLast(); it.Valid(); it.Prev() {
				k--
				checkIterUserEntry(t, it, key1(k), false, value, written)
			}
			x.must(it.Err())
			it.Close()
		}
	}
}

func TestDBBasicTestWithTimestamp_ChangeIterationDirection(t *testing.T) {
	var stats rocksdb.Statistics
	x := newTSTest(t, func(o *rocksdb.Options) {
		o.PrefixExtractor, o.PrefixSeekOptInOnly = rocksdb.NewFixedPrefixTransform(1), false
		o.Statistics = monitoring.CreateDBStatistics()
		stats = o.Statistics
	})
	for _, ts := range [][]byte{timestamp(1, 1), timestamp(0, 2), timestamp(4, 3)} {
		b := rocksdb.NewWriteBatch()
		x.must(b.PutWithTimestamp(x.db.ColumnFamily, []byte("aa"), ts, []byte("value1")))
		x.must(b.PutWithTimestamp(x.db.ColumnFamily, []byte("ab"), ts, []byte("value2")))
		x.must(x.db.Write(nil, b))
	}
	it := x.db.NewIterator(readAt(timestamp(5, 3)))
	defer it.Close()
	valid := func(want bool) {
		t.Helper()
		if it.Valid() != want {
			t.Fatalf("valid %v, %v", it.Valid(), it.Err())
		}
	}
	reseeks := func(want uint64) {
		t.Helper()
		if got := stats.GetTickerCount(rocksdb.NumberOfReseeksInIteration); got != want {
			t.Fatalf("%d reseeks, want %d", got, want)
		}
	}
	aa := func() { t.Helper(); checkIterUserEntry(t, it, []byte("aa"), false, "value1", timestamp(4, 3)) }
	ab := func() { t.Helper(); checkIterUserEntry(t, it, []byte("ab"), false, "value2", timestamp(4, 3)) }
	it.SeekToFirst()
	valid(true)
	it.Prev()
	valid(false)
	it.SeekToLast()
	valid(true)
	reseeks(0)
	it.Next()
	valid(false)
	reseeks(1)
	it.Seek([]byte("aa"))
	aa()
	it.Next()
	ab()
	it.Prev()
	aa()
	reseeks(1)
	it.Next()
	ab()
	reseeks(2)
	it.SeekForPrev([]byte("ab"))
	ab()
	it.Prev()
	aa()
	before := stats.GetTickerCount(rocksdb.NumberOfReseeksInIteration)
	it.Next()
	ab()
	reseeks(before + 1)
}

// twoVersionsOfAll puts keys 0 to roMaxKey at times 1 and 3.
func twoVersionsOfAll(t *testing.T) *dbTest {
	x := newTSTest(t, func(o *rocksdb.Options) { o.MemtableFactory = newSpecialSkipListFactory(128) })
	for i, ts := range roWritten {
		for k := range uint64(roMaxKey + 1) {
			x.must(x.db.PutWithTimestamp(nil, key1(k), ts, fmt.Append(nil, "value", i)))
		}
	}
	return x
}

func TestDBBasicTestWithTimestamp_SimpleForwardIterateLowerTsBound(t *testing.T) {
	x := twoVersionsOfAll(t)
	for i := range roWritten {
		it := x.db.NewIterator(versionsAt(1, uint64(2*i+2)))
		k := uint64(0)
		for it.Seek(key1(0)); it.Valid(); it.Next() {
			checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, fmt.Sprint("value", i), roWritten[i])
			if i > 0 {
				it.Next()
				checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, "value0", roWritten[0])
			}
			k++
		}
		x.must(it.Err())
		if k != roMaxKey+1 {
			t.Fatal(k)
		}
		it.Close()
	}
	for k := range uint64(roMaxKey + 1) {
		x.must(x.db.DeleteWithTimestamp(nil, key1(k), timestamp(5, 0)))
	}
	it := x.db.NewIterator(versionsAt(2, 6))
	defer it.Close()
	k := uint64(0)
	for it.Seek(key1(0)); it.Valid(); it.Next() {
		checkIterEntry(t, it, key1(k), 0, dbformat.TypeDeletionWithTimestamp, "", timestamp(5, 0))
		it.Next() // the value
		checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, "value1", timestamp(3, 0))
		k++
	}
	x.must(it.Err())
	if k != roMaxKey+1 {
		t.Fatal(k)
	}
}

func TestDBBasicTestWithTimestamp_BackwardIterateLowerTsBound(t *testing.T) {
	x := twoVersionsOfAll(t)
	for i := range roWritten {
		it := x.db.NewIterator(versionsAt(1, uint64(2*i+2)))
		k := uint64(roMaxKey + 1)
		for it.SeekForPrev(key1(roMaxKey)); it.Valid(); it.Prev() {
			k--
			checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, "value0", roWritten[0])
			if i > 0 {
				it.Prev()
				checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, "value1", roWritten[1])
			}
		}
		x.must(it.Err())
		if k != 0 {
			t.Fatal(k)
		}
		it.Close()
	}
	for k := range uint64(roMaxKey + 1) {
		x.must(x.db.DeleteWithTimestamp(nil, key1(k), timestamp(5, 0)))
	}
	it := x.db.NewIterator(versionsAt(2, 6))
	defer it.Close()
	k := uint64(roMaxKey + 1)
	for it.SeekForPrev(key1(roMaxKey)); it.Valid(); it.Prev() {
		k--
		checkIterEntry(t, it, key1(k), 0, dbformat.TypeValue, "value1", timestamp(3, 0))
		it.Prev()
		checkIterEntry(t, it, key1(k), 0, dbformat.TypeDeletionWithTimestamp, "", timestamp(5, 0))
	}
	x.must(it.Err())
	if k != 0 {
		t.Fatal(k)
	}
}

func TestDBBasicTestWithTimestamp_SimpleBackwardIterateLowerTsBound(t *testing.T) {
	x := newTSTest(t, nil)
	none := func(it *rocksdb.Iterator) {
		t.Helper()
		if it.Valid() || it.Err() != nil {
			t.Fatalf("valid %v, %v", it.Valid(), it.Err())
		}
	}
	it := x.db.NewIterator(versionsAt(1, 5))
	it.SeekToLast()
	none(it)
	it.SeekForPrev([]byte("foo"))
	none(it)
	it.Close()
	x.putTS("a", 0, "v0")
	x.must(x.db.SingleDeleteWithTimestamp(nil, []byte("a"), timestamp(1, 0)))
	for i := range uint64(5) {
		x.putTS("b", i, fmt.Sprint("v", i))
	}
	ro := versionsAt(1, 5)
	ro.IterateUpperBound = []byte("b")
	it = x.db.NewIterator(ro)
	it.SeekToLast()
	checkIterEntry(t, it, []byte("a"), 0, dbformat.TypeSingleDeletion, "", timestamp(1, 0))
	it.Close()
	ro.IterateUpperBound = []byte("a")
	it = x.db.NewIterator(ro)
	it.SeekToLast()
	none(it)
	it.Close()
}

func TestDBBasicTestWithTimestamp_BackwardIterateLowerTsBound_Reseek(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.MaxSequentialSkipInIterations = 2 })
	for _, k := range []string{"a", "b"} {
		for i := range uint64(10) {
			x.putTS(k, i, fmt.Sprint("v", i))
		}
	}
	it := x.db.NewIterator(versionsAt(4, 6))
	defer it.Close()
	it.SeekToLast()
	for _, k := range []string{"b", "a"} {
		for i := uint64(4); i < 7; i++ {
			checkIterEntry(t, it, []byte(k), 0, dbformat.TypeValue, fmt.Sprint("v", i), timestamp(i, 0))
			it.Prev()
		}
	}
	x.must(it.Err())
}

// newReseekTest skips at most 8 versions one by one; reseeks checks the count.
func newReseekTest(t *testing.T) (x *dbTest, reseeks func(uint64)) {
	var stats rocksdb.Statistics
	x = newTSTest(t, func(o *rocksdb.Options) {
		o.MaxSequentialSkipInIterations, o.Statistics = 8, monitoring.CreateDBStatistics()
		stats = o.Statistics
	})
	return x, func(want uint64) {
		t.Helper()
		if got := stats.GetTickerCount(rocksdb.NumberOfReseeksInIteration); got != want {
			t.Fatalf("%d reseeks, want %d", got, want)
		}
	}
}

func (x *dbTest) put16Versions(key string) {
	for i := range uint64(16) {
		x.putTS(key, i+1, fmt.Sprint("value", i))
	}
}

func TestDBBasicTestWithTimestamp_ReseekToTargetTimestamp(t *testing.T) {
	x, reseeks := newReseekTest(t)
	x.put16Versions("foo")
	it := x.db.NewIterator(readAt(timestamp(1, 0)))
	it.SeekToFirst()
	checkIterUserEntry(t, it, []byte("foo"), false, "value0", timestamp(1, 0))
	it.Close()
	reseeks(1)
	it = x.db.NewIterator(readAt(timestamp(16, 0)))
	it.SeekToLast()
	checkIterUserEntry(t, it, []byte("foo"), false, "value15", timestamp(16, 0))
	it.Close()
	reseeks(2)
}

func TestDBBasicTestWithTimestamp_ReseekToNextUserKey(t *testing.T) {
	x, reseeks := newReseekTest(t)
	x.put16Versions("a")
	b := rocksdb.NewWriteBatch()
	x.must(b.PutWithTimestamp(x.db.ColumnFamily, []byte("a"), timestamp(17, 0), []byte("new_value")))
	x.must(b.PutWithTimestamp(x.db.ColumnFamily, []byte("b"), timestamp(17, 0), []byte("new_value")))
	x.must(x.db.Write(nil, b))
	it := x.db.NewIterator(readAt(timestamp(17, 0)))
	it.Seek([]byte("a"))
	it.Next()
	checkIterUserEntry(t, it, []byte("b"), false, "new_value", timestamp(17, 0))
	it.Close()
	reseeks(1)
}

func TestDBBasicTestWithTimestamp_ReseekToUserKeyBeforeSavedKey(t *testing.T) {
	x, reseeks := newReseekTest(t)
	x.put16Versions("b")
	x.putTS("a", 1, "value")
	it := x.db.NewIterator(readAt(timestamp(1, 0)))
	it.SeekToLast()
	it.Prev()
	checkIterUserEntry(t, it, []byte("a"), false, "value", timestamp(1, 0))
	it.Close()
	reseeks(1)
}

// maxSkipped iterates with many versions of one key to skip.
func maxSkipped(t *testing.T, many, one string, step func(*rocksdb.Iterator)) {
	x := newTSTest(t, nil)
	x.putTS(one, 1, "value")
	for i := range uint64(4) {
		x.putTS(many, i+1, fmt.Sprint("value", i))
	}
	ro := readAt(timestamp(1, 0))
	ro.MaxSkippableInternalKeys = 2
	it := x.db.NewIterator(ro)
	step(it)
	if !errors.Is(it.Err(), rocksdb.ErrIncomplete) {
		t.Error(it.Err())
	}
	it.Close()
}

func TestDBBasicTestWithTimestamp_MaxKeysSkippedDuringNext(t *testing.T) {
	maxSkipped(t, "b", "a", func(it *rocksdb.Iterator) { it.SeekToFirst(); it.Next() })
}

func TestDBBasicTestWithTimestamp_MaxKeysSkippedDuringPrev(t *testing.T) {
	maxSkipped(t, "a", "b", func(it *rocksdb.Iterator) { it.SeekToLast(); it.Prev() })
}

func TestDBBasicTestWithTimestamp_IterSeekToLastWithIterateUpperbound(t *testing.T) {
	x := newTSTest(t, nil)
	x.putTS(key(1), 2, "val")
	ro := versionsAt(0, 3)
	ro.IterateUpperBound = []byte(key(1))
	it := x.db.NewIterator(ro)
	defer it.Close()
	if it.SeekToLast(); it.Valid() || it.Err() != nil {
		t.Errorf("valid %v, %v", it.Valid(), it.Err())
	}
}

// Port of db/db_readonly_with_timestamp_test.cc.

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

const roMaxKey = 1024

// roTimestampTest writes 1025 keys, with timestamps or without, and reopens for
// reading. perFile is how many entries fill a memtable.
func roTimestampTest(t *testing.T, perFile int64, withTS, flushed bool) *dbTest {
	return timestampTest(t, (*dbTest).tryReadOnlyReopen, perFile, withTS, flushed)
}

// timestampTest is roTimestampTest with another way to reopen.
func timestampTest(t *testing.T, reopen func(*dbTest, rocksdb.Options) error, perFile int64, withTS, flushed bool) *dbTest {
	x := newDBTest(t)
	o := x.currentOptions()
	if withTS {
		o.Comparator = newTSComparator()
	}
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.DisableAutoCompactions = flushed
	x.destroyAndReopen(o)
	for k := uint64(0); k <= roMaxKey; k++ {
		v := []byte(fmt.Sprint("value", k))
		if withTS {
			x.must(x.db.PutWithTimestamp(nil, key1(k), timestamp(1, 0), v))
		} else {
			x.must(x.db.Put(nil, key1(k), v))
		}
	}
	if flushed {
		x.must(x.db.Flush(nil))
		o.MaxOpenFiles = -1
	}
	x.must(reopen(x, o))
	if flushed {
		x.checkOneLevel0File()
	}
	return x
}

// roTwoVersions writes the keys from 1 on at time 1 and from 0 on at time 3.
func roTwoVersions(t *testing.T, perFile int64, compacted, flushed bool) *dbTest {
	return twoVersions(t, (*dbTest).tryReadOnlyReopen, perFile, compacted, flushed)
}

func twoVersions(t *testing.T, reopen func(*dbTest, rocksdb.Options) error, perFile int64, compacted, flushed bool) *dbTest {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = newTSComparator()
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	o.DisableAutoCompactions = flushed
	x.destroyAndReopen(o)
	for i, ts := range roWritten {
		for k := roStart[i]; k <= roMaxKey; k++ {
			x.must(x.db.PutWithTimestamp(nil, key1(k), ts, []byte(fmt.Sprint("value", i))))
		}
	}
	if flushed {
		x.must(x.db.Flush(nil))
		o.MaxOpenFiles = -1
	}
	if compacted {
		x.must(x.db.CompactRange(nil, nil, nil))
	}
	x.must(reopen(x, o))
	switch {
	case compacted:
		x.checkOnlyHighestLevel()
	case flushed:
		x.checkOneLevel0File()
	}
	return x
}

var (
	roStart   = []uint64{1, 0}
	roWritten = [][]byte{timestamp(1, 0), timestamp(3, 0)}
	roReadAt  = [][]byte{timestamp(2, 0), timestamp(4, 0)}
	shortTS   = []byte{2, 0, 0, 0}
)

func (x *dbTest) checkOneLevel0File() {
	x.Helper()
	if n := x.numTableFilesAtLevel(0, 0); n != 1 || x.storage(0).NumNonEmptyLevels() != 1 {
		x.Fatalf("%d files in level 0, %d levels", n, x.storage(0).NumNonEmptyLevels())
	}
}

func (x *dbTest) checkOnlyHighestLevel() {
	x.Helper()
	last := x.storage(0).NumNonEmptyLevels() - 1
	for level := range last {
		if n := x.numTableFilesAtLevel(level, 0); n != 0 {
			x.Fatalf("%d files in level %d", n, level)
		}
	}
	if last < 1 || x.numTableFilesAtLevel(last, 0) == 0 {
		x.Fatalf("last level %d", last)
	}
}

// wantAllRefused wants iterators and lookups of every key refused.
func (x *dbTest) wantAllRefused(ro *rocksdb.ReadOptions, iterator bool) {
	x.Helper()
	if iterator {
		it := x.db.NewIterator(ro)
		if it.Valid() {
			x.Fatal("valid")
		}
		wantInvalid(x, "iterator", it.Err())
		it.Close()
	}
	for k := uint64(0); k <= roMaxKey; k++ {
		_, _, err := x.db.GetWithTimestamp(ro, key1(k))
		wantInvalid(x, "get", err)
	}
}

func (x *dbTest) wantIteratorsRefused(ro *rocksdb.ReadOptions) {
	x.Helper()
	_, err := x.db.NewIterators(ro, []*rocksdb.ColumnFamily{x.db.ColumnFamily})
	wantInvalid(x, "iterators", err)
}

func (x *dbTest) wantMultiGetRefused(ro *rocksdb.ReadOptions) {
	x.Helper()
	keys, values, ts, errs := multiGetKeys(0)
	x.db.MultiGetWithTimestamps(ro, keys, values, ts, errs)
	for _, err := range errs {
		wantInvalid(x, "multi get", err)
	}
}

func multiGetKeys(from uint64) (keys [][]byte, values []rocksdb.PinnableSlice, ts [][]byte, errs []error) {
	for k := from; k <= roMaxKey; k++ {
		keys = append(keys, key1(k))
	}
	return keys, make([]rocksdb.PinnableSlice, len(keys)), make([][]byte, len(keys)), make([]error, len(keys))
}

func TestDBReadOnlyTestWithTimestamp_IteratorAndGetReadTimestampSizeMismatch(t *testing.T) {
	roTimestampTest(t, 128, true, false).wantAllRefused(readAt(shortTS), true)
}

func TestDBReadOnlyTestWithTimestamp_IteratorAndGetReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	roTimestampTest(t, 128, false, false).wantAllRefused(readAt(timestamp(2, 0)), true)
}

func TestDBReadOnlyTestWithTimestamp_IteratorAndGetWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	roTimestampTest(t, 128, true, false).wantAllRefused(readAt(nil), true)
}

func TestDBReadOnlyTestWithTimestamp_IteratorAndGet(t *testing.T) {
	roTwoVersions(t, 128, false, false).wantIteratorsAndGets()
}

// wantIteratorsAndGets is for twoVersions.
func (x *dbTest) wantIteratorsAndGets() {
	t := x.T
	for i, ts := range roReadAt {
		value, written, start := fmt.Sprint("value", i), roWritten[i], roStart[i]
		ro := readAt(ts)
		check := func(it *rocksdb.Iterator, k uint64) {
			checkIterUserEntry(t, it, key1(k), false, value, written)
			wantGetTS(t, x.db.ColumnFamily, readAt(ts), it.Key(), string(it.Value()), written)
		}
		it := x.db.NewIterator(ro)
		k := start
		for it.Seek(key1(0)); it.Valid(); it.Next() {
			check(it, k)
			k++
		}
		x.must(it.Err())
		if k != roMaxKey+1 {
			t.Fatalf("forward to %d", k)
		}
		k = roMaxKey + 1
		for it.SeekForPrev(key1(roMaxKey)); it.Valid(); it.Prev() {
			k--
			check(it, k)
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
				check(it, k)
				k++
			}
			x.must(it.Err())
			if k != r {
				t.Fatalf("[%d, %d): forward to %d", l, r, k)
			}
			for it.SeekToLast(); it.Valid(); it.Prev() {
				k--
				check(it, k)
			}
			x.must(it.Err())
			if k != max(l, start) {
				t.Fatalf("[%d, %d): backward to %d", l, r, k)
			}
			it.Close()
		}
	}
}

func TestDBReadOnlyTestWithTimestamp_Iterators(t *testing.T) {
	roTimestampTest(t, 128, true, false).wantIterators()
}

// wantIterators is for timestampTest.
func (x *dbTest) wantIterators() {
	t := x.T
	its, err := x.db.NewIterators(readAt(timestamp(2, 0)), []*rocksdb.ColumnFamily{x.db.ColumnFamily})
	x.must(err)
	if len(its) != 1 {
		t.Fatal(len(its))
	}
	k := uint64(0)
	for its[0].Seek(key1(0)); its[0].Valid(); its[0].Next() {
		checkIterUserEntry(t, its[0], key1(k), false, fmt.Sprint("value", k), timestamp(1, 0))
		k++
	}
	x.must(its[0].Err())
	if k != roMaxKey+1 {
		t.Fatal(k)
	}
	its[0].Close()
}

func TestDBReadOnlyTestWithTimestamp_IteratorsReadTimestampSizeMismatch(t *testing.T) {
	roTimestampTest(t, 128, true, false).wantIteratorsRefused(readAt(shortTS))
}

func TestDBReadOnlyTestWithTimestamp_IteratorsReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	roTimestampTest(t, 128, false, false).wantIteratorsRefused(readAt(timestamp(2, 0)))
}

func TestDBReadOnlyTestWithTimestamp_IteratorsWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	roTimestampTest(t, 128, true, false).wantIteratorsRefused(readAt(nil))
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBGetReadTimestampSizeMismatch(t *testing.T) {
	roTimestampTest(t, 1026, true, true).wantAllRefused(readAt(shortTS), false)
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBGetReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	roTimestampTest(t, 1026, false, true).wantAllRefused(readAt(timestamp(2, 0)), false)
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBGetWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	roTimestampTest(t, 1026, true, true).wantAllRefused(readAt(nil), false)
}

func (x *dbTest) wantTwoVersions() {
	x.Helper()
	for i, ts := range roReadAt {
		for k := roStart[i]; k <= roMaxKey; k++ {
			wantGetTS(x, x.db.ColumnFamily, readAt(ts), key1(k), fmt.Sprint("value", i), roWritten[i])
		}
	}
}

func (x *dbTest) wantTwoVersionsByMultiGet() {
	x.Helper()
	for i, at := range roReadAt {
		keys, values, ts, errs := multiGetKeys(roStart[i])
		x.db.MultiGetWithTimestamps(readAt(at), keys, values, ts, errs)
		for j := range keys {
			x.must(errs[j])
			if string(values[j].Data()) != fmt.Sprint("value", i) || !bytes.Equal(ts[j], roWritten[i]) {
				x.Fatalf("%x: %q at %x", keys[j], values[j].Data(), ts[j])
			}
			values[j].Release()
		}
	}
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBGetWithOnlyOneL0File(t *testing.T) {
	roTwoVersions(t, 1026*2, false, true).wantTwoVersions()
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBGetWithOnlyHighestNonEmptyLevelFiles(t *testing.T) {
	roTwoVersions(t, 128, true, true).wantTwoVersions()
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBMultiGetReadTimestampSizeMismatch(t *testing.T) {
	roTimestampTest(t, 1026, true, true).wantMultiGetRefused(readAt(shortTS))
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBMultiGetReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	roTimestampTest(t, 1026, false, true).wantMultiGetRefused(readAt(timestamp(2, 0)))
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBMultiGetWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	roTimestampTest(t, 1026, true, true).wantMultiGetRefused(readAt(nil))
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBMultiGetWithOnlyOneL0File(t *testing.T) {
	roTwoVersions(t, 1026*2, false, true).wantTwoVersionsByMultiGet()
}

func TestDBReadOnlyTestWithTimestamp_CompactedDBMultiGetWithOnlyHighestNonEmptyLevelFiles(t *testing.T) {
	roTwoVersions(t, 128, true, true).wantTwoVersionsByMultiGet()
}

func TestDBReadOnlyTestWithTimestamp_FullHistoryTsLowSanityCheckFail(t *testing.T) {
	testHistoryTsLow(t, (*dbTest).tryReadOnlyReopen)
}

// testHistoryTsLow reads below what a flush collapsed.
func testHistoryTsLow(t *testing.T, reopen func(*dbTest, rocksdb.Options) error) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator, o.PersistUserDefinedTimestamps = rocksdb.BytewiseComparatorWithU64Ts(), false
	o.AllowConcurrentMemtableWrite = false
	x.destroyAndReopen(o)
	foo := []byte("foo")
	x.must(x.db.PutWithTimestamp(nil, foo, u64ts(1), []byte("val1")))
	x.must(x.db.IncreaseFullHistoryTsLow(u64ts(3)))
	x.must(x.db.Flush(nil))
	x.close()
	x.must(reopen(x, o))
	ro := readAt(u64ts(2))
	_, err := x.db.Get(ro, foo)
	wantInvalid(t, "get", err)
	it := x.db.NewIterator(ro)
	wantInvalid(t, "iterator", it.Err())
	it.Close()
	_, err = x.db.NewIterators(ro, []*rocksdb.ColumnFamily{x.db.ColumnFamily})
	wantInvalid(t, "iterators", err)
}

// Port of db/db_with_timestamp_basic_test.cc: writing, history, tables.
// Iterators are in db_with_timestamp_iter_test.go.

package db_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// newTSTest opens a database whose default family has timestamps of 16 bytes.
func newTSTest(t *testing.T, change func(o *rocksdb.Options)) *dbTest {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = newTSComparator()
	if change != nil {
		change(&o)
	}
	x.destroyAndReopen(o)
	return x
}

func (x *dbTest) putTS(key string, ts uint64, value string) {
	x.Helper()
	x.must(x.db.PutWithTimestamp(nil, []byte(key), timestamp(ts, 0), []byte(value)))
}

// getTS gives value and timestamp of a key, read at low half ts.
func (x *dbTest) getTS(key string, ts uint64) (string, []byte, error) {
	v, got, err := x.db.GetWithTimestamp(readAt(timestamp(ts, 0)), []byte(key))
	if err != nil {
		return "", got, err
	}
	defer v.Release()
	return string(v.Data()), got, nil
}

func (x *dbTest) wantTS(key string, at uint64, value string) {
	x.Helper()
	if got, _, err := x.getTS(key, at); err != nil || got != value {
		x.Fatalf("%s at %d: %q, %v, want %q", key, at, got, err, value)
	}
}

// wantGoneTS wants a key not found, deleted at low half ts.
func (x *dbTest) wantGoneTS(key string, at, ts uint64) {
	x.Helper()
	if _, got, err := x.getTS(key, at); !rocksdb.IsNotFound(err) || !bytes.Equal(got, timestamp(ts, 0)) {
		x.Fatalf("%s at %d: %v, deleted at %x, want %d", key, at, err, got, ts)
	}
}

func TestDBBasicTestWithTimestamp_SanityChecks(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	o.MergeOperator = mergeoperators.NewStringAppendTESTOperator(",")
	x.destroyAndReopen(o)
	o1 := o
	o1.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	data, err := x.db.CreateColumnFamily(o1.ColumnFamilyOptions, "data")
	x.must(err)
	defer data.Close()
	key, value := []byte("key"), []byte("value")
	begin, end := []byte("begin_key"), []byte("end_key")
	stamped := func(cf *rocksdb.ColumnFamily, ts []byte) {
		t.Helper()
		wantInvalid(t, "put", cf.PutWithTimestamp(nil, key, ts, value))
		wantInvalid(t, "merge", cf.MergeWithTimestamp(nil, key, ts, value))
		wantInvalid(t, "delete", cf.DeleteWithTimestamp(nil, key, ts))
		wantInvalid(t, "single delete", cf.SingleDeleteWithTimestamp(nil, key, ts))
		wantInvalid(t, "delete range", cf.DeleteRangeWithTimestamp(nil, begin, end, ts))
	}
	stamped(x.db.ColumnFamily, make([]byte, 8))
	wantInvalid(t, "put", data.Put(nil, key, value))
	wantInvalid(t, "delete", data.Delete(nil, key))
	wantInvalid(t, "single delete", data.SingleDelete(nil, key))
	wantInvalid(t, "merge", data.Merge(nil, key, value))
	wantInvalid(t, "delete range", data.DeleteRange(nil, begin, end))
	for i, fill := range []func(b *rocksdb.WriteBatch) error{
		func(b *rocksdb.WriteBatch) error { return b.PutCF(data, key, value) },
		func(b *rocksdb.WriteBatch) error { return b.DeleteCF(data, key) },
		func(b *rocksdb.WriteBatch) error { return b.SingleDeleteCF(data, key) },
		func(b *rocksdb.WriteBatch) error { return b.DeleteRangeCF(data, begin, end) },
	} {
		b := rocksdb.NewWriteBatch()
		x.must(fill(b))
		wantInvalid(t, fmt.Sprint("batch ", i), x.db.Write(nil, b))
	}
	stamped(data, make([]byte, 4))
}

func TestDBBasicTestWithTimestamp_MixedCfs(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	x.destroyAndReopen(o)
	o1 := x.currentOptions()
	o1.Comparator = newTSComparator()
	data, err := x.db.CreateColumnFamily(o1.ColumnFamilyOptions, "data")
	x.must(err)
	b := rocksdb.NewWriteBatch()
	x.must(b.Put([]byte("a"), []byte("value")))
	x.must(b.PutCF(data, []byte("a"), []byte("value")))
	id := data.GetID()
	x.must(b.UpdateTimestamps(timestamp(1, 0), func(cf uint32) int {
		if cf == id {
			return tsSize
		}
		return 0
	}))
	x.must(x.db.Write(nil, b))
	verify := func(cf *rocksdb.ColumnFamily) {
		t.Helper()
		x.wantGet(0, "a", "value")
		wantGetTS(t, cf, readAt(timestamp(1, 0)), []byte("a"), "value", timestamp(1, 0))
	}
	verify(data)
	data.Close()
	o.CreateIfMissing = false
	x.reopenWithColumnFamilies([]string{rocksdb.DefaultColumnFamilyName, "data"}, o, o1)
	verify(x.cf(1))
}

func TestDBBasicTestWithTimestamp_MultiGetMultipleCfs(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.AvoidFlushDuringShutdown = true })
	o := x.last
	data, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "data")
	x.must(err)
	defer data.Close()
	cfs := []*rocksdb.ColumnFamily{x.db.ColumnFamily, data}
	b := rocksdb.NewWriteBatch()
	for _, cf := range cfs {
		x.must(b.PutWithTimestamp(cf, []byte("a"), timestamp(1, 0), []byte("value")))
	}
	x.must(x.db.Write(nil, b))
	keys := [][]byte{[]byte("a"), []byte("a")}
	values, ts, errs := make([]rocksdb.PinnableSlice, 2), make([][]byte, 2), make([]error, 2)
	x.db.MultiGetCFWithTimestamps(readAt(timestamp(1, 0)), cfs, keys, values, ts, errs)
	for i := range keys {
		x.must(errs[i])
		if string(values[i].Data()) != "value" || !bytes.Equal(ts[i], timestamp(1, 0)) {
			t.Errorf("%d: %q at %x", i, values[i].Data(), ts[i])
		}
		values[i].Release()
	}
}

func TestDBBasicTestWithTimestamp_CompactRangeWithSpecifiedRange(t *testing.T) {
	x := newTSTest(t, nil)
	for _, k := range []string{"foo1", "foo2"} {
		x.putTS(k, 1, "bar")
		x.must(x.db.Flush(nil))
	}
	x.must(x.db.CompactRange(nil, []byte("foo"), []byte("foo2")))
	// Both tables were in the range.
	if n := x.numTableFilesAtLevel(0, 0); n != 0 {
		t.Errorf("%d tables in level 0", n)
	}
}

func compactTo(ts uint64, force bool) *rocksdb.CompactRangeOptions {
	o := rocksdb.DefaultCompactRangeOptions()
	o.FullHistoryTSLow = timestamp(ts, 0)
	if force {
		o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	}
	return &o
}

func TestDBBasicTestWithTimestamp_GcPreserveLatestVersionBelowFullHistoryLow(t *testing.T) {
	x := newTSTest(t, nil)
	for i := 1; i <= 3; i++ {
		x.putTS(fmt.Sprint("k", i), 1, fmt.Sprint("v", i))
	}
	x.must(x.db.DeleteWithTimestamp(nil, []byte("k3"), timestamp(2, 0)))
	x.putTS("k1", 4, "v5")
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte("k0"), []byte("k9"), timestamp(5, 0)))
	x.must(x.db.CompactRange(compactTo(3, false), nil, nil))
	x.must(x.db.Flush(nil))
	x.wantTS("k1", 3, "v1")
	x.wantGoneTS("k3", 3, 2)
	x.wantGoneTS("k2", 5, 5)
	if _, err := x.db.Get(readAt(timestamp(5, 0)), []byte("k2")); !rocksdb.IsNotFound(err) {
		t.Error(err)
	}
}

func TestDBBasicTestWithTimestamp_UpdateFullHistoryTsLow(t *testing.T) {
	x := newTSTest(t, nil)
	wantLow := func(ts uint64) {
		t.Helper()
		if got, err := x.db.GetFullHistoryTsLow(); err != nil || !bytes.Equal(got, timestamp(ts, 0)) {
			t.Fatalf("%x, %v, want %d", got, err, ts)
		}
	}
	x.must(x.db.CompactRange(compactTo(5, true), nil, nil))
	wantLow(5)
	for i := range uint64(10) {
		x.putTS("test kKey", i, key(int(i)))
	}
	x.must(x.db.Flush(nil))
	for i := range uint64(10) {
		if i >= 5 {
			x.wantTS("test kKey", i, key(int(i)))
			continue
		}
		_, _, err := x.getTS("test kKey", i)
		wantInvalid(t, "get", err)
	}
	for i := uint64(10); i < 20; i++ {
		x.putTS("test kKey", i, key(int(i)))
	}
	x.must(x.db.Flush(nil))
	o := compactTo(15, true)
	x.must(x.db.CompactRange(o, nil, nil))
	wantLow(15)
	for i := uint64(15); i < 20; i++ {
		x.wantTS("test kKey", i, key(int(i)))
	}
	k := []byte("test kKey")
	wantInvalid(t, "range", x.db.CompactRange(o, k, k))
	wantInvalid(t, "range", x.db.CompactRange(o, k, nil))
	wantInvalid(t, "range", x.db.CompactRange(o, nil, k))
	wantInvalid(t, "falling", x.db.CompactRange(compactTo(14, true), nil, nil))
	// It is in the MANIFEST.
	x.reopen(x.last)
	wantLow(15)
}

func TestDBBasicTestWithTimestamp_UpdateFullHistoryTsLowWithPublicAPI(t *testing.T) {
	x := newTSTest(t, nil)
	x.must(x.db.IncreaseFullHistoryTsLow(timestamp(9, 0)))
	if got, err := x.db.GetFullHistoryTsLow(); err != nil || !bytes.Equal(got, timestamp(9, 0)) {
		t.Fatalf("%x, %v", got, err)
	}
	wantInvalid(t, "falling", x.db.IncreaseFullHistoryTsLow(timestamp(8, 0)))
	wantInvalid(t, "long", x.db.IncreaseFullHistoryTsLow(bytes.Repeat([]byte("a"), tsSize+1)))
	wantInvalid(t, "none", x.db.IncreaseFullHistoryTsLow(nil))
	o := x.last
	o.Comparator = rocksdb.BytewiseComparator()
	x.destroyAndReopen(o)
	wantInvalid(t, "no timestamps", x.db.IncreaseFullHistoryTsLow(timestamp(10, 0)))
	_, err := x.db.GetFullHistoryTsLow()
	wantInvalid(t, "no timestamps", err)
}

func TestDBBasicTestWithTimestamp_GetTimestampTableProperties(t *testing.T) {
	x := newTSTest(t, nil)
	for range 2 {
		for i := range uint64(10) {
			x.putTS("key", i, key(int(i)))
		}
		x.must(x.db.Flush(nil))
	}
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	if len(props) != 2 {
		t.Fatalf("%d tables", len(props))
	}
	for _, p := range props {
		u := p.UserCollectedProperties
		if u["rocksdb.timestamp_min"] != string(timestamp(0, 0)) || u["rocksdb.timestamp_max"] != string(timestamp(9, 0)) {
			t.Errorf("%x", u)
		}
	}
}

var tsIndexTypes = []rocksdb.IndexType{rocksdb.BinarySearch, rocksdb.HashSearch, rocksdb.TwoLevelIndexSearch, rocksdb.BinarySearchWithFirstKey}

// eachTSIndex runs f with each index type and small blocks.
func eachTSIndex(t *testing.T, change func(*rocksdb.Options, *rocksdb.BlockBasedTableOptions), f func(x *dbTest)) {
	for _, index := range tsIndexTypes {
		t.Run(fmt.Sprint("index", index), func(t *testing.T) {
			f(newTSTest(t, func(o *rocksdb.Options) {
				b := rocksdb.DefaultBlockBasedTableOptions()
				b.IndexType, b.BlockSize = index, 100
				o.Compression = rocksdb.NoCompression
				o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
				change(o, &b)
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			}))
		})
	}
}

func TestDBBasicTestWithTimestampTableOptions_GetAndMultiGet(t *testing.T) {
	eachTSIndex(t, func(*rocksdb.Options, *rocksdb.BlockBasedTableOptions) {}, func(x *dbTest) {
		const n = 1024
		for k := range uint64(n) {
			x.must(x.db.PutWithTimestamp(nil, key1(k), timestamp(1, 0), []byte(fmt.Sprint("value", k))))
		}
		x.must(x.db.Flush(nil))
		ro := readAt(timestamp(2, 0))
		ro.TotalOrderSeek = true
		it := x.db.NewIterator(ro)
		found := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			wantGetTS(x, x.db.ColumnFamily, ro, it.Key(), string(it.Value()), timestamp(1, 0))
			found++
		}
		x.must(it.Err())
		it.Close()
		if found != n {
			x.Fatal(found)
		}
		values, ts, errs := make([]rocksdb.PinnableSlice, 2), make([][]byte, 2), make([]error, 2)
		for k := uint64(0); k < n; k += 2 {
			x.db.MultiGetWithTimestamps(ro, [][]byte{key1(k), key1(k + 1)}, values, ts, errs)
			for i := range values {
				if errs[i] != nil || string(values[i].Data()) != fmt.Sprint("value", k+uint64(i)) || !bytes.Equal(ts[i], timestamp(1, 0)) {
					x.Fatalf("%d: %q at %x, %v", k, values[i].Data(), ts[i], errs[i])
				}
				values[i].Release()
			}
		}
	})
}

// TestTimestamps_BatchesOfFamilies reads versions of two families, some flushed.
func TestTimestamps_BatchesOfFamilies(t *testing.T) {
	const files, versions, keys = 2, 10, 100
	x := newTSTest(t, func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	})
	x.reopenWithColumnFamilies([]string{rocksdb.DefaultColumnFamilyName}, x.last)
	x.createColumnFamilies([]string{"pikachu"}, x.last)
	for v := range uint64(versions) {
		for cf := range 2 {
			b := rocksdb.NewWriteBatch()
			for k := range uint64(keys) {
				x.must(b.PutWithTimestamp(x.cf(cf), key1(k), timestamp(v*2, 0), []byte(fmt.Sprintf("value_%d_%d_%d", k, v, cf))))
			}
			x.must(x.db.Write(nil, b))
			if v%(versions/files) == 0 {
				x.must(x.cf(cf).Flush(nil))
			}
		}
	}
	var all [][]byte
	for k := range uint64(keys) {
		all = append(all, key1(k))
	}
	values, ts, errs := make([]rocksdb.PinnableSlice, keys), make([][]byte, keys), make([]error, keys)
	for v := range uint64(versions) {
		for cf := range 2 {
			x.cf(cf).MultiGetWithTimestamps(readAt(timestamp(v*2+1, 0)), all, values, ts, errs)
			for k := range all {
				if errs[k] != nil || string(values[k].Data()) != fmt.Sprintf("value_%d_%d_%d", k, v, cf) || !bytes.Equal(ts[k], timestamp(v*2, 0)) {
					t.Fatalf("%d of %d: %q at %x, %v", k, v, values[k].Data(), ts[k], errs[k])
				}
				values[k].Release()
			}
		}
	}
}

func TestDBBasicTestWithTimestamp_MultiGetNoReturnTs(t *testing.T) {
	x := newTSTest(t, nil)
	// Longer than a timestamp: their ends must not be taken for one.
	names := []string{"fooxxxxxxxxxxxxxxxx", "barxxxxxxxxxxxxxxxx", "foo", "bar"}
	for _, k := range names {
		x.putTS(k, 1, "value")
	}
	for _, asked := range [][]string{names[2:], names} {
		var keys [][]byte
		for _, k := range asked {
			keys = append(keys, []byte(k))
		}
		values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
		x.db.MultiGet(readAt(timestamp(2, 0)), keys, values, errs)
		for i := range keys {
			if errs[i] != nil || string(values[i].Data()) != "value" {
				t.Errorf("%s: %q, %v", keys[i], values[i].Data(), errs[i])
			}
			values[i].Release()
		}
	}
}

func TestDBBasicTestWithTimestamp_CompactDeletionWithTimestampMarkerToBottom(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.NumLevels, o.Level0FileNumCompactionTrigger = 2, 2 })
	x.putTS("a", 1, "value0")
	x.must(x.db.Flush(nil))
	// The second table overlaps the first, so that both are compacted.
	x.putTS("b", 2, "value0")
	x.must(x.db.DeleteWithTimestamp(nil, []byte("a"), timestamp(3, 0)))
	x.must(x.db.Flush(nil))
	x.must(x.db.WaitForCompact(nil))
	x.wantFiles(0, "0,1")
	x.wantTS("a", 1, "value0")
	x.wantGoneTS("a", 3, 3)
	x.wantTS("a", 2, "value0")
}

func TestDBBasicTestWithTimestamp_MergeBasic(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.MergeOperator = mergeoperators.NewStringAppendTESTOperator(".") })
	const keys = 100
	for i := range uint64(3) {
		ts := timestamp(100*(i+1), 0)
		for k := range uint64(keys) {
			if i == 0 {
				x.must(x.db.PutWithTimestamp(nil, key1(k), ts, fmt.Appendf(nil, "v%d_0", k)))
			} else {
				x.must(x.db.MergeWithTimestamp(nil, key1(k), ts, fmt.Append(nil, i)))
			}
		}
	}
	suffixes := []string{"", ".1", ".1.2"}
	check := func() {
		t.Helper()
		for i, suffix := range suffixes {
			ro, written := readAt(timestamp(uint64(150+100*i), 0)), timestamp(uint64(100*(i+1)), 0)
			it := x.db.NewIterator(ro)
			value := func(k uint64) string { return fmt.Sprintf("v%d_0", k) + suffix }
			for k := range uint64(keys) {
				wantGetTS(t, x.db.ColumnFamily, ro, key1(k), value(k), written)
				it.Seek(key1(k))
				checkIterUserEntry(t, it, key1(k), false, value(k), written)
				it.SeekForPrev(key1(k))
				checkIterUserEntry(t, it, key1(k), false, value(k), written)
			}
			k := uint64(0)
			for it.SeekToFirst(); it.Valid(); it.Next() {
				checkIterUserEntry(t, it, key1(k), false, value(k), written)
				k++
			}
			x.must(it.Err())
			if k != keys {
				t.Fatalf("forward to %d", k)
			}
			for it.SeekToLast(); it.Valid(); it.Prev() {
				k--
				checkIterUserEntry(t, it, key1(k), false, value(k), written)
			}
			x.must(it.Err())
			if k != 0 {
				t.Fatalf("backward to %d", k)
			}
			it.Close()
		}
	}
	check()
	x.must(x.db.Flush(nil))
	check()
	x.must(x.db.CompactRange(nil, nil, nil))
	check()
}

func TestDBBasicTestWithTimestamp_MergeAfterDeletion(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.MergeOperator = mergeoperators.NewStringAppendTESTOperator(".") })
	const keys, merges = 10, 2
	for k := range uint64(keys) {
		x.must(x.db.DeleteWithTimestamp(nil, key1(k), timestamp(k+10000, 0)))
		for j := uint64(1); j <= merges; j++ {
			x.must(x.db.MergeWithTimestamp(nil, key1(k), timestamp(k+10000+j, 0), fmt.Append(nil, j)))
		}
	}
	it := x.db.NewIterator(readAt(timestamp(20000, 0)))
	defer it.Close()
	k := uint64(0)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		checkIterUserEntry(t, it, key1(k), false, "1.2", timestamp(k+10000+merges, 0))
		k++
	}
	x.must(it.Err())
	if k != keys {
		t.Fatalf("forward to %d", k)
	}
	for it.SeekToLast(); it.Valid(); it.Prev() {
		k--
		checkIterUserEntry(t, it, key1(k), false, "1.2", timestamp(k+10000+merges, 0))
	}
	x.must(it.Err())
	if k != 0 {
		t.Fatalf("backward to %d", k)
	}
}

func TestDBBasicTestWithTimestamp_RangeTombstoneApproximateSize(t *testing.T) {
	x := newTSTest(t, nil)
	x.putTS(key(1), 1, "val")
	x.must(x.db.Flush(nil))
	x.moveFilesToLevel(5, 0) // so that the compaction below is not of the last level
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte(key(0)), []byte(key(1)), timestamp(1, 0)))
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte(key(1)), []byte(key(2)), timestamp(2, 0)))
	x.must(x.db.Flush(nil))
	x.must(x.full().TestCompactRange(0, nil, nil, nil, true))
}

func TestDeleteRangeWithTimestampTableOptions_BasicReadAndIterate(t *testing.T) {
	const num, rangeBegin, rangeEnd, perFile = 200, 50, 150, 25
	eachTSIndex(t, func(o *rocksdb.Options, _ *rocksdb.BlockBasedTableOptions) {
		o.DisableAutoCompactions, o.Comparator = true, rocksdb.BytewiseComparatorWithU64Ts()
		o.MemtableFactory = newSpecialSkipListFactory(perFile)
	}, func(x *dbTest) {
		for i := range uint64(num) {
			if i == num/2 {
				x.must(x.db.DeleteRangeWithTimestamp(nil, key1(rangeBegin), key1(rangeEnd), u64ts(i)))
			}
			x.must(x.db.PutWithTimestamp(nil, key1(i), u64ts(i), fmt.Append(nil, "val", i)))
			if i == num-perFile {
				x.must(x.db.Flush(nil))
			}
		}
		ro := readAt(u64ts(num))
		ro.TotalOrderSeek = true
		var live [][]byte // below rangeBegin, and from num/2 on
		for i := range uint64(num) {
			if i < rangeBegin || i >= num/2 {
				live = append(live, key1(i))
			}
		}
		it := x.db.NewIterator(ro)
		walk := func(what string, step func(), want [][]byte) {
			x.Helper()
			for ; it.Valid(); step() {
				if len(want) == 0 || !bytes.Equal(it.Key(), want[0]) {
					x.Fatalf("%s: %x, %d left", what, it.Key(), len(want))
				}
				want = want[1:]
			}
			x.must(it.Err())
			if len(want) > 0 {
				x.Fatalf("%s: %d left", what, len(want))
			}
		}
		it.SeekToFirst()
		walk("all", it.Next, live)
		it.Seek(key1(num / 2))
		walk("from the middle", it.Next, live[rangeBegin:])
		it.SeekForPrev(key1(num/2 - 1))
		back := slices.Clone(live[:rangeBegin])
		slices.Reverse(back)
		walk("back", it.Prev, back)
		it.Close()
		first := readAt(u64ts(0))
		first.TotalOrderSeek = true
		it = x.db.NewIterator(first)
		it.SeekToFirst()
		walk("at 0", it.Next, live[:1])
		it.Close()

		var keys [][]byte
		for i := range uint64(num) {
			keys = append(keys, key1(i))
		}
		values, ts, errs := make([]rocksdb.PinnableSlice, num), make([][]byte, num), make([]error, num)
		x.db.MultiGetWithTimestamps(ro, keys, values, ts, errs)
		for i := range uint64(num) {
			v, got, err := x.db.GetWithTimestamp(ro, key1(i))
			if i >= rangeBegin && i < num/2 {
				if !rocksdb.IsNotFound(err) || !rocksdb.IsNotFound(errs[i]) || !bytes.Equal(got, u64ts(num/2)) || !bytes.Equal(ts[i], u64ts(num/2)) {
					x.Fatalf("%d: %v, %v; %x, %x", i, err, errs[i], got, ts[i])
				}
				continue
			}
			want := fmt.Sprint("val", i)
			if err != nil || errs[i] != nil || string(v.Data()) != want || string(values[i].Data()) != want || !bytes.Equal(got, u64ts(i)) || !bytes.Equal(ts[i], u64ts(i)) {
				x.Fatalf("%d: %v, %v; %q, %q; %x, %x", i, err, errs[i], v.Data(), values[i].Data(), got, ts[i])
			}
			v.Release()
			values[i].Release()
		}
		co := rocksdb.DefaultCompactRangeOptions()
		co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		x.must(x.db.CompactRange(&co, nil, nil))
		for i := uint64(rangeBegin); i < num/2; i++ {
			if _, got, err := x.db.GetWithTimestamp(ro, key1(i)); !rocksdb.IsNotFound(err) || !bytes.Equal(got, u64ts(num/2)) {
				x.Fatalf("%d: %v, %x", i, err, got)
			}
		}
	})
}

func TestDBBasicTestWithTimestamp_DeleteRangeGetIteratorWithSnapshot(t *testing.T) {
	const num, rangeBegin, rangeEnd = 4, 1, 3
	x := newTSTest(t, nil)
	var before rocksdb.Snapshot
	var keys [][]byte
	for i := range uint64(num) {
		keys = append(keys, key1(i))
		x.must(x.db.PutWithTimestamp(nil, key1(i), timestamp(i, 0), fmt.Append(nil, "val", i)))
		if i == rangeBegin {
			before = x.db.GetSnapshot()
			x.must(x.db.DeleteRangeWithTimestamp(nil, key1(rangeBegin), key1(rangeEnd), timestamp(rangeBegin, 0)))
		}
		if i == num/2 {
			x.must(x.db.Flush(nil))
		}
	}
	after := x.db.GetSnapshot()
	// Each key is found with its own timestamp, deleted with one, or unknown.
	const found, deleted, unknown = 'f', 'd', 'u'
	verify := func(s rocksdb.Snapshot, at uint64, want string) {
		t.Helper()
		ro := readAt(timestamp(at, 0))
		ro.Snapshot = s
		values, ts, errs := make([]rocksdb.PinnableSlice, num), make([][]byte, num), make([]error, num)
		x.db.MultiGetWithTimestamps(ro, keys, values, ts, errs)
		it, seek := x.db.NewIterator(ro), x.db.NewIterator(ro)
		defer it.Close()
		defer seek.Close()
		it.SeekToFirst()
		for i := range uint64(num) {
			own, value := timestamp(i, 0), fmt.Sprint("val", i)
			_, got, err := x.db.GetWithTimestamp(ro, keys[i])
			if !bytes.Equal(got, ts[i]) || (err == nil) != (errs[i] == nil) {
				t.Fatalf("%d: %x, %v by Get, %x, %v by MultiGet", i, got, err, ts[i], errs[i])
			}
			switch want[i] {
			case found:
				wantGetTS(t, x.db.ColumnFamily, ro, keys[i], value, own)
				if errs[i] != nil || string(values[i].Data()) != value {
					t.Fatalf("%d: %q, %v", i, values[i].Data(), errs[i])
				}
				values[i].Release()
				checkIterUserEntry(t, it, keys[i], false, value, own)
				it.Next()
				seek.Seek(keys[i])
				checkIterUserEntry(t, seek, keys[i], false, value, own)
				seek.SeekForPrev(keys[i])
				checkIterUserEntry(t, seek, keys[i], false, value, own)
			case deleted:
				if !rocksdb.IsNotFound(err) || !bytes.Equal(got, own) {
					t.Fatalf("%d: %v, %x", i, err, got)
				}
			case unknown:
				if !rocksdb.IsNotFound(err) || len(got) > 0 {
					t.Fatalf("%d: %v, %x", i, err, got)
				}
			}
		}
		if it.Valid() {
			t.Fatalf("%x too many", it.Key())
		}
		x.must(it.Err())
	}
	verify(before, rangeBegin-1, "fuuu")
	verify(before, num, "ffuu")
	verify(after, rangeBegin-1, "fuuu")
	verify(after, num, "fdff")
	x.must(x.db.ReleaseSnapshot(before))
	x.must(x.db.ReleaseSnapshot(after))
}

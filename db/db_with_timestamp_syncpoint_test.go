//go:build syncpoint

// Port of db/db_with_timestamp_basic_test.cc: reads beside writes, and families
// whose timestamps only memtables keep.

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// writeBetween runs write when point before is passed; after, unless empty,
// waits for its end. The result waits for it.
func (x *dbTest) writeBetween(before, after string, write func() error) (wait func()) {
	pairs := [][2]string{{before, "DataVisibilityTest:BeforePut"}}
	if after != "" {
		pairs = append(pairs, [2]string{"DataVisibilityTest:AfterPut", after})
	}
	inOrder(pairs...)
	syncpoint.EnableProcessing()
	x.Cleanup(resetSyncPoints)
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("DataVisibilityTest:BeforePut")
		if err := write(); err != nil {
			x.Error(err)
		}
		syncpoint.Process("DataVisibilityTest:AfterPut")
	})
	return wg.Wait
}

func (x *dbTest) wantNotFound(ro *rocksdb.ReadOptions, key string) {
	x.Helper()
	if _, err := x.db.Get(ro, []byte(key)); !rocksdb.IsNotFound(err) {
		x.Fatalf("%s: %v", key, err)
	}
}

// putFoo writes foo, and with flush also flushes it and writes bar.
func (x *dbTest) putFoo(flush bool) func() error {
	return func() error {
		err := x.db.PutWithTimestamp(nil, []byte("foo"), timestamp(1, 0), []byte("value"))
		if err != nil || !flush {
			return err
		}
		if err = x.db.Flush(nil); err == nil {
			err = x.db.PutWithTimestamp(nil, []byte("bar"), timestamp(2, 0), []byte("value"))
		}
		return err
	}
}

func lookupWithoutSnapshot(t *testing.T, flush bool) {
	x := newTSTest(t, nil)
	wait := x.writeBetween("DBImpl::GetImpl:3", "DBImpl::GetImpl:4", x.putFoo(flush))
	x.wantNotFound(readAt(timestamp(3, 0)), "foo")
	wait()
}

func TestDataVisibilityTest_PointLookupWithoutSnapshot1(t *testing.T) {
	lookupWithoutSnapshot(t, false)
}

func TestDataVisibilityTest_PointLookupWithoutSnapshot2(t *testing.T) {
	lookupWithoutSnapshot(t, true)
}

func TestDataVisibilityTest_PointLookupWithSnapshot1(t *testing.T) {
	x := newTSTest(t, nil)
	wait := x.writeBetween("DataVisibilityTest:AfterSnapshot", "DBImpl::GetImpl:1", x.putFoo(false))
	ro := readAt(timestamp(3, 0))
	ro.Snapshot = x.db.GetSnapshot()
	syncpoint.Process("DataVisibilityTest:AfterSnapshot")
	x.wantNotFound(ro, "foo")
	wait()
	x.must(x.db.ReleaseSnapshot(ro.Snapshot))
}

func TestDataVisibilityTest_PointLookupWithSnapshot2(t *testing.T) {
	x := newTSTest(t, nil)
	wait := x.writeBetween("DataVisibilityTest:AfterSnapshot", "", x.putFoo(true))
	ro := readAt(timestamp(3, 0))
	ro.Snapshot = x.db.GetSnapshot()
	syncpoint.Process("DataVisibilityTest:AfterSnapshot")
	wait()
	x.wantNotFound(ro, "foo")
	x.must(x.db.ReleaseSnapshot(ro.Snapshot))
}

// putThree writes three keys at three times.
func (x *dbTest) putThree() (err error) {
	for i := range uint64(3) {
		if err == nil {
			err = x.db.PutWithTimestamp(nil, fmt.Append(nil, "key", i), timestamp(i+1, 0), fmt.Append(nil, "value", i))
		}
	}
	return err
}

func TestDataVisibilityTest_RangeScanWithoutSnapshot(t *testing.T) {
	x := newTSTest(t, nil)
	wait := x.writeBetween("DBImpl::NewIterator:3", "", x.putThree)
	ro := readAt(timestamp(10, 0))
	ro.TotalOrderSeek = true
	it := x.db.NewIterator(ro)
	defer it.Close()
	wait()
	if it.SeekToFirst(); it.Valid() || it.Err() != nil {
		t.Fatalf("valid %v, %v", it.Valid(), it.Err())
	}
}

func TestDataVisibilityTest_RangeScanWithSnapshot(t *testing.T) {
	x := newTSTest(t, nil)
	wait := x.writeBetween("DataVisibilityTest:AfterSnapshot", "", x.putThree)
	ro := readAt(timestamp(10, 0))
	ro.Snapshot, ro.TotalOrderSeek = x.db.GetSnapshot(), true
	syncpoint.Process("DataVisibilityTest:AfterSnapshot")
	wait()
	it := x.db.NewIterator(ro)
	if it.Seek([]byte("key0")); it.Valid() || it.Err() != nil {
		t.Fatalf("valid %v, %v", it.Valid(), it.Err())
	}
	it.Close()
	x.must(x.db.ReleaseSnapshot(ro.Snapshot))
}

// visibility is three keys, each written at its number as the low half of its
// timestamp.
type visibility struct {
	*dbTest
	seqs [3]rocksdb.SequenceNumber // when they were written; 0 for not yet
	keys [][]byte
}

func newVisibility(x *dbTest) *visibility {
	return &visibility{dbTest: x, keys: [][]byte{[]byte("key0"), []byte("key1"), []byte("key2")}}
}

func (v *visibility) put(i int) error {
	err := v.db.PutWithTimestamp(nil, v.keys[i], timestamp(uint64(i), 0), fmt.Append(nil, "value", i))
	v.seqs[i] = v.db.GetLatestSequenceNumber()
	return err
}

// verify reads at all times, with all ways of reading several keys.
func (v *visibility) verify(snaps ...rocksdb.Snapshot) {
	v.Helper()
	for _, s := range append(snaps, nil) {
		for ts := range 4 {
			ro := readAt(timestamp(uint64(ts), 0))
			at := rocksdb.SequenceNumber(1) << 60
			if s != nil {
				ro.Snapshot, at = s, s.GetSequenceNumber()
			}
			cf := v.db.ColumnFamily
			cfs := []*rocksdb.ColumnFamily{cf, cf, cf}
			for way := range 4 {
				vs, stamps, errs := make([]rocksdb.PinnableSlice, 3), make([][]byte, 3), make([]error, 3)
				switch way {
				case 0:
					v.db.MultiGet(ro, v.keys, vs, errs)
				case 1:
					v.db.MultiGetWithTimestamps(ro, v.keys, vs, stamps, errs)
				case 2:
					v.db.MultiGetCF(ro, cfs, v.keys, vs, errs)
				default:
					v.db.MultiGetCFWithTimestamps(ro, cfs, v.keys, vs, stamps, errs)
				}
				for i := range vs {
					seen := v.seqs[i] > 0 && v.seqs[i] <= at && i <= ts
					if seen != (errs[i] == nil) || !seen && !rocksdb.IsNotFound(errs[i]) {
						v.Fatalf("way %d, key %d at %d, sequence %d of %v: %v", way, i, ts, at, v.seqs, errs[i])
					}
					vs[i].Release()
				}
			}
		}
	}
}

func TestDataVisibilityTest_MultiGetWithTimestamp(t *testing.T) {
	x := newTSTest(t, nil)
	v := newVisibility(x)
	var snaps []rocksdb.Snapshot
	for i := range 3 {
		snaps = append(snaps, x.db.GetSnapshot())
		x.must(v.put(i))
		v.verify(snaps...)
		if i == 1 {
			x.must(x.db.Flush(nil))
		}
	}
	for _, s := range snaps {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDataVisibilityTest_MultiGetWithoutSnapshot(t *testing.T) {
	x := newTSTest(t, nil)
	v := newVisibility(x)
	wait := x.writeBetween("DBImpl::MultiCFSnapshot:AfterGetSeqNum1", "DBImpl::MultiCFSnapshot:AfterGetSeqNum2", func() error {
		return errors.Join(v.put(0), v.put(1))
	})
	vs, errs := make([]rocksdb.PinnableSlice, 3), make([]error, 3)
	x.db.MultiGet(readAt(timestamp(3, 0)), v.keys, vs, errs)
	wait()
	for _, err := range errs {
		if !rocksdb.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	resetSyncPoints()
	v.verify()
}

func TestDataVisibilityTest_MultiGetCrossCF(t *testing.T) {
	x := newTSTest(t, nil)
	x.createAndReopenWithCF([]string{"second"}, x.last)
	v := newVisibility(x)
	var snaps []rocksdb.Snapshot
	for i := range 3 {
		snaps = append(snaps, x.db.GetSnapshot())
		x.must(v.put(i))
		x.must(x.cf(1).PutWithTimestamp(nil, v.keys[i], timestamp(uint64(i), 0), []byte("value")))
		v.verify(snaps...)
		if i == 1 {
			x.flush(0)
		}
	}
	ro := readAt(timestamp(3, 0))
	ro.Snapshot = snaps[1]
	keys := append(v.keys, v.keys...)
	cfs := []*rocksdb.ColumnFamily{x.cf(0), x.cf(0), x.cf(0), x.cf(1), x.cf(1), x.cf(1)}
	vs, errs := make([]rocksdb.PinnableSlice, 6), make([]error, 6)
	x.db.MultiGetCF(ro, cfs, keys, vs, errs)
	for i, err := range errs {
		if i%3 == 0 && err != nil || i%3 != 0 && !rocksdb.IsNotFound(err) {
			t.Errorf("%d: %v", i, err)
		}
		vs[i].Release()
	}
	for _, s := range snaps {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestUpdateFullHistoryTsLowTest_ConcurrentUpdate(t *testing.T) {
	x := newTSTest(t, nil)
	t.Cleanup(resetSyncPoints)
	var edit *version.VersionEdit
	syncpoint.SetCallBack("DBImpl::IncreaseFullHistoryTsLowImpl:BeforeEdit", func(arg any) { edit = arg.(*version.VersionEdit) })
	syncpoint.SetCallBack("VersionSet::LogAndApply:BeforeWriterWaiting", func(any) { edit.SetFullHistoryTsLow(string(timestamp(25, 0))) })
	syncpoint.EnableProcessing()
	if err := x.db.IncreaseFullHistoryTsLow(timestamp(10, 0)); rocksdb.CodeOf(err) != rocksdb.CodeTryAgain {
		t.Fatal(err)
	}
}

// memtableOnly opens a database whose timestamps only memtables keep, unless
// persist.
func memtableOnly(x *dbTest, persist bool, change ...func(*rocksdb.Options)) rocksdb.Options {
	o := x.currentOptions()
	o.Comparator, o.PersistUserDefinedTimestamps = rocksdb.BytewiseComparatorWithU64Ts(), persist
	o.AllowConcurrentMemtableWrite = persist
	for _, f := range change {
		f(&o)
	}
	x.destroyAndReopen(o)
	return o
}

// onlyFile is the only table in level 0, after reopening.
func (x *dbTest) onlyFile(o rocksdb.Options) *version.FileMetaData {
	x.Helper()
	x.must(x.db.Flush(nil))
	o.CreateIfMissing = false
	x.reopen(o)
	files := x.storage(0).LevelFiles(0)
	if len(files) != 1 {
		x.Fatalf("%d files", len(files))
	}
	return files[0]
}

func stamped(key string, ts uint64) []byte { return append([]byte(key), u64ts(ts)...) }

func TestHandleFileBoundariesTest_ConfigurePersistUdtWithPut(t *testing.T) {
	for _, persist := range []bool{false, true} {
		t.Run(fmt.Sprint(persist), func(t *testing.T) {
			x := newDBTest(t)
			o := memtableOnly(x, persist)
			for _, k := range []string{"bar", "foo"} {
				x.must(x.db.PutWithTimestamp(nil, []byte(k), u64ts(1), []byte("val")))
			}
			f := x.onlyFile(o)
			want := uint64(0)
			if persist {
				want = 1
			}
			if !bytes.Equal(f.Smallest.UserKey(), stamped("bar", want)) || !bytes.Equal(f.Largest.UserKey(), stamped("foo", want)) {
				t.Errorf("%q to %q", f.Smallest, f.Largest)
			}
		})
	}
}

func TestHandleFileBoundariesTest_ConfigurePersistUdtWithRangeDelete(t *testing.T) {
	for _, persist := range []bool{false, true} {
		t.Run(fmt.Sprint(persist), func(t *testing.T) {
			x := newDBTest(t)
			o := memtableOnly(x, persist)
			x.must(x.db.DeleteRangeWithTimestamp(nil, []byte("bar"), []byte("foo"), u64ts(1)))
			f := x.onlyFile(o)
			want := uint64(0)
			if persist {
				want = 1
			}
			if !bytes.Equal(f.Smallest.UserKey(), stamped("bar", want)) || !bytes.Equal(f.Largest.UserKey(), stamped("foo", ^uint64(0))) ||
				dbformat.ExtractInternalKeyFooter(f.Largest) != dbformat.RangeTombstoneSentinel {
				t.Errorf("%q to %q", f.Smallest, f.Largest)
			}
		})
	}
}

func TestEnableDisableUDTTest_Basic(t *testing.T) {
	for _, flush := range []bool{true, false} {
		t.Run(fmt.Sprint("flush ", flush), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.Comparator = rocksdb.BytewiseComparator()
			o.AvoidFlushDuringShutdown = !flush
			x.destroyAndReopen(o)
			foo, bar, baz := []byte("foo"), []byte("bar"), []byte("baz")
			plain := func(value string) {
				t.Helper()
				x.mustPut(0, "foo", value)
				x.mustPut(0, "bar", value)
				x.must(x.db.DeleteRange(nil, bar, baz))
				x.wantGet(0, "foo", value)
				x.wantGet(0, "bar", "NOT_FOUND")
				if flush {
					x.flush(0)
				}
			}
			plain("val0")

			on := o
			on.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
			on.PersistUserDefinedTimestamps, on.AllowConcurrentMemtableWrite = false, false
			x.reopen(on)
			ro := readAt(u64ts(1))
			for range 2 {
				_, err := x.db.Get(nil, foo)
				wantInvalid(t, "no timestamp", err)
				wantGetTS(t, x.db.ColumnFamily, ro, foo, "val0", u64ts(0))
				x.wantNotFound(ro, "bar")
				x.must(x.db.CompactRange(nil, nil, nil))
			}
			x.must(x.db.PutWithTimestamp(nil, foo, u64ts(1), []byte("val1")))
			x.must(x.db.PutWithTimestamp(nil, bar, u64ts(1), []byte("val1")))
			x.must(x.db.DeleteRangeWithTimestamp(nil, bar, baz, u64ts(2)))
			wantGetTS(t, x.db.ColumnFamily, ro, foo, "val1", u64ts(1))
			wantGetTS(t, x.db.ColumnFamily, ro, bar, "val1", u64ts(1))
			x.wantNotFound(readAt(u64ts(2)), "bar")
			if flush {
				x.flush(0)
			}

			off := on
			off.Comparator = rocksdb.BytewiseComparator()
			x.reopen(off)
			for range 2 {
				_, err := x.db.Get(ro, foo)
				wantInvalid(t, "timestamp", err)
				x.wantGet(0, "foo", "val1")
				x.wantGet(0, "bar", "NOT_FOUND")
				x.must(x.db.CompactRange(nil, nil, nil))
			}
			plain("val2")
		})
	}
}

func TestDBBasicTestWithTimestamp_FullHistoryTsLowSanityCheckPassReadIsConsistent(t *testing.T) {
	x := newDBTest(t)
	memtableOnly(x, false)
	t.Cleanup(resetSyncPoints)
	foo := []byte("foo")
	cf := x.db.ColumnFamily
	ro := readAt(u64ts(2))
	x.must(x.db.PutWithTimestamp(nil, foo, u64ts(1), []byte("val1")))
	wantGetTS(t, cf, ro, foo, "val1", u64ts(1))
	x.must(x.db.IncreaseFullHistoryTsLow(u64ts(2)))
	x.must(x.db.Flush(nil))
	x.must(x.db.PutWithTimestamp(nil, foo, u64ts(3), []byte("val3")))
	wantGetTS(t, cf, ro, foo, "val1", u64ts(0))
	// The limit rises, and history goes, once the read has its state.
	syncpoint.SetCallBack("DBImpl::GetImpl:AfterAcquireSv", func(any) {
		if low, err := x.db.GetFullHistoryTsLow(); err != nil || !bytes.Equal(low, u64ts(2)) {
			return
		}
		if err := errors.Join(x.db.IncreaseFullHistoryTsLow(u64ts(4)), x.db.Flush(nil)); err != nil {
			t.Error(err)
		}
	})
	syncpoint.EnableProcessing()
	wantGetTS(t, cf, ro, foo, "val1", u64ts(0))
	_, err := x.db.Get(ro, foo)
	wantInvalid(t, "below the limit", err)
}

// collapsed writes a key to two families and loses its history below 3.
func collapsed(t *testing.T) *dbTest {
	x := newDBTest(t)
	o := memtableOnly(x, false)
	x.createAndReopenWithCF([]string{"data"}, o)
	for cf := range 2 {
		x.must(x.cf(cf).PutWithTimestamp(nil, []byte("foo"), u64ts(1), []byte("val1")))
		x.must(x.cf(cf).IncreaseFullHistoryTsLow(u64ts(3)))
		x.flush(cf)
	}
	return x
}

func TestDBBasicTestWithTimestamp_FullHistoryTsLowSanityCheckFail(t *testing.T) {
	x := collapsed(t)
	ro := readAt(u64ts(2))
	foo := []byte("foo")
	_, err := x.cf(0).Get(ro, foo)
	wantInvalid(t, "get", err)
	for _, cfs := range [][]*rocksdb.ColumnFamily{{x.cf(0), x.cf(1)}, {x.cf(0)}} {
		keys := [][]byte{foo, foo}[:len(cfs)]
		errs := make([]error, len(cfs))
		x.db.MultiGetCF(ro, cfs, keys, make([]rocksdb.PinnableSlice, len(cfs)), errs)
		for _, err := range errs {
			wantInvalid(t, "multiget", err)
		}
	}
	errs := make([]error, 1)
	x.cf(0).MultiGet(ro, [][]byte{foo}, make([]rocksdb.PinnableSlice, 1), errs)
	wantInvalid(t, "multiget of one family", errs[0])
	for cf := range 2 {
		it := x.cf(cf).NewIterator(ro)
		wantInvalid(t, "iterator", it.Err())
		it.Close()
	}
	_, err = x.db.NewIterators(ro, []*rocksdb.ColumnFamily{x.cf(0), x.cf(1)})
	wantInvalid(t, "iterators", err)
}

func TestGetNewestUserDefinedTimestampTest_Basic(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.currentOptions())
	_, err := x.db.GetNewestUserDefinedTimestamp()
	wantInvalid(t, "no timestamps", err)
	more := func(o *rocksdb.Options) { o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 5, 4 }
	memtableOnly(x, true, more)
	if _, err = x.db.GetNewestUserDefinedTimestamp(); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatal(err)
	}
	o := memtableOnly(x, false, more)
	newest := func(want []byte) {
		t.Helper()
		if got, err := x.db.GetNewestUserDefinedTimestamp(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x, %v, want %x", got, err, want)
		}
	}
	put := func(ts uint64) {
		t.Helper()
		x.must(x.db.PutWithTimestamp(nil, []byte(key(1)), u64ts(ts), fmt.Append(nil, "val", ts)))
	}
	newest(nil)
	put(1)
	newest(u64ts(1))
	put(2)
	x.must(x.full().TestSwitchMemtable(x.db.ColumnFamily))
	newest(u64ts(2))
	put(3)
	put(4)
	x.must(x.full().TestSwitchMemtable(x.db.ColumnFamily))
	newest(u64ts(4))
	put(5)
	newest(u64ts(5))
	x.flush(0)
	newest(u64ts(5))
	x.reopen(o)
	newest(u64ts(5))
}

func TestGetNewestUserDefinedTimestampTest_ConcurrentWrites(t *testing.T) {
	x := newDBTest(t)
	memtableOnly(x, false)
	var wg sync.WaitGroup
	var now atomic.Uint64
	for i := range 10 {
		wg.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = x.db.GetNewestUserDefinedTimestamp()
			} else {
				err = x.db.PutWithTimestamp(nil, []byte(key(1)), u64ts(now.Add(1)-1), fmt.Append(nil, "val", i))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestTimestamps_UnsortedTombstones: tombstones that overlap in a memtable
// become more fragments, and none is lost on the way to the table.
func TestTimestamps_UnsortedTombstones(t *testing.T) { // facebook/rocksdb#14579
	x := newDBTest(t)
	memtableOnly(x, false, func(o *rocksdb.Options) { o.FlushVerifyMemtableCount = true })
	put := func(k string, ts uint64) { x.must(x.db.PutWithTimestamp(nil, []byte(k), u64ts(ts), []byte("v"))) }
	del := func(a, b string, ts uint64) {
		x.must(x.db.DeleteRangeWithTimestamp(nil, []byte(a), []byte(b), u64ts(ts)))
	}
	put("b", 1)
	put("k", 1)
	del("m", "p", 2)
	del("a", "c", 3)
	del("a", "c", 4)
	del("b", "d", 5)
	x.must(x.db.IncreaseFullHistoryTsLow(u64ts(10)))
	x.must(x.db.Flush(nil))
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	for _, p := range props {
		if p.NumEntries != 8 || p.NumRangeDeletions != 7 {
			t.Errorf("%d entries, %d range deletions", p.NumEntries, p.NumRangeDeletions)
		}
	}
	check := func() {
		t.Helper()
		x.wantNotFound(readAt(u64ts(20)), "b")
		wantGetTS(t, x.db.ColumnFamily, readAt(u64ts(20)), []byte("k"), "v", u64ts(0))
	}
	check()
	x.must(x.db.CompactRange(nil, nil, nil))
	check()
}

// Port of db/db_range_del_test.cc (iterators, sentinels, sizes, snapshots).

package db_test

import (
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// uint64Keys reopens under numeric keys with memtables of n entries.
func (x *dbTest) uint64Keys(n int64) {
	x.Helper()
	o := x.currentOptions()
	o.Comparator = rocksdb.Uint64Comparator()
	o.MemtableFactory = newSpecialSkipListFactory(n)
	x.destroyAndReopen(o)
}

func TestDBRangeDelTest_IteratorRemovesCoveredKeys(t *testing.T) {
	const num, begin, end = 200, 50, 150
	x := newDBTest(t)
	x.uint64Keys(25)
	for i := range num {
		if i == num/2 {
			x.deleteRange(0, numKey(begin), numKey(end))
		}
		x.mustPut(0, numKey(i), "val")
	}
	it := x.iter(0)
	want := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if string(it.Key()) != numKey(want) {
			t.Fatalf("%x, want %d", it.Key(), want)
		}
		if want++; want == begin {
			want = num / 2
		}
	}
	if want != num || it.Status() != nil {
		t.Fatal(want, it.Status())
	}
}

func TestDBRangeDelTest_IteratorOverUserSnapshot(t *testing.T) {
	const num, begin, end = 200, 50, 150
	x := newDBTest(t)
	x.uint64Keys(25)
	var s rocksdb.Snapshot
	for i := range num {
		if i == num/2 {
			s = x.db.GetSnapshot()
			x.deleteRange(0, numKey(begin), numKey(end))
		}
		x.mustPut(0, numKey(i), "val")
	}
	it := x.iter(0, atSnapshot(s))
	want := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if string(it.Key()) != numKey(want) {
			t.Fatalf("%x, want %d", it.Key(), want)
		}
		want++
	}
	if want != num/2 || it.Status() != nil {
		t.Fatal(want, it.Status())
	}
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_IteratorIgnoresRangeDeletions(t *testing.T) {
	x := newDBTest(t)
	s := x.inEveryPlace()
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.IgnoreRangeDeletions = true })
	it.walk("first", "=imm_key", "next", "=mem_key", "next", "=sst_key", "next", "(invalid)")
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_TailingIteratorRangeTombstoneUnsupported(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "key", "val")
	s := x.db.GetSnapshot()
	x.deleteRange(0, "a", "z")
	for _, where := range []string{"memtable", "L0", "L1"} {
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.Tailing = true })
		if where == "L1" {
			it.SeekToFirst() // files are opened on demand
		}
		if !rocksdb.IsNotSupported(it.Status()) {
			t.Fatal(where, it.Status())
		}
		it.Close()
		switch where {
		case "memtable":
			x.flush(0)
		case "L0":
			x.moveFilesToLevel(1, 0)
		}
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_SnapshotPreventsDroppedKeys(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions, o.TargetFileSizeBase = contract.NoCompression, true, 1<<20
	x.reopen(o)
	x.mustPut(0, key(0), "a")
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(0), key(10))
	x.flush(0)
	it := x.iter(0, atSnapshot(s))
	it.walk("first", "="+key(0), "next", "(invalid)")
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_SnapshotPreventsDroppedKeysInImmMemTables(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions, o.TargetFileSizeBase = contract.NoCompression, true, 1<<20
	x.reopen(o)
	x.must(x.db.PauseBackgroundWork()) // the memtable stays immutable
	x.mustPut(0, key(0), "a")
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(0), key(10))
	x.must(x.full().TestSwitchMemtable(nil))
	it := x.iter(0, atSnapshot(s))
	x.must(x.db.ContinueBackgroundWork())
	it.walk("first", "="+key(0), "next", "(invalid)")
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_IteratorRefresh(t *testing.T) {
	x := newDBTest(t)
	for _, flush := range []bool{false, true} {
		x.puts(0, "key1", "value1", "key2", "value2")
		it := x.iter(0)
		x.deleteRange(0, "key2", "key3")
		if flush {
			x.flush(0)
		}
		x.must(it.Refresh(nil))
		it.walk("first", "=key1", "next", "(invalid)")
	}
}

// reseekTest has an iterator whose reseeks for range tombstones are counted.
type reseekTest struct {
	*dbTest
	it   testIter
	perf contract.PerfContext
}

// newTombstoneTest opens without compression and compactions, and with small files.
func newTombstoneTest(t *testing.T, set ...func(o *contract.Options)) *reseekTest {
	x := &reseekTest{dbTest: newDBTest(t)}
	o := x.currentOptions()
	o.Compression, o.DisableAutoCompactions = contract.NoCompression, true
	for _, f := range set {
		f(&o)
	}
	x.destroyAndReopen(o)
	return x
}

func fileSize(n uint64) func(o *contract.Options) {
	return func(o *contract.Options) { o.TargetFileSizeBase = n }
}

// open makes the iterator.
func (x *reseekTest) open() {
	x.it = x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = &x.perf })
}

// reseeks takes steps and wants so many reseeks meanwhile.
func (x *reseekTest) reseeks(n uint64, steps ...string) {
	x.Helper()
	x.perf = contract.PerfContext{}
	x.it.walk(steps...)
	if x.perf.InternalRangeDelReseekCount != n {
		x.Fatalf("%q: %d reseeks, not %d", steps, x.perf.InternalRangeDelReseekCount, n)
	}
}

// ks makes steps of key numbers: "seek 3" is a seek to key(3), "=3" its key.
func ks(steps ...string) []string {
	out := slices.Clone(steps)
	for i, s := range out {
		if c := s[len(s)-1]; c >= '0' && c <= '9' {
			out[i] = s[:len(s)-1] + key(int(c-'0'))
		}
	}
	return out
}

func TestDBRangeDelTest_IteratorReseek(t *testing.T) {
	x := newTombstoneTest(t)
	x.deleteRange(0, key(3), key(4))
	x.flushTo(1)
	x.deleteRange(0, key(2), key(3))
	x.flush(0)
	x.wantFiles(0, "1,1")
	x.deleteRange(0, key(1), key(2))
	x.must(x.db.PauseBackgroundWork())
	defer x.db.ContinueBackgroundWork()
	x.must(x.full().TestSwitchMemtable(nil))
	x.deleteRange(0, key(0), key(1))
	if n := x.intProperty(0, "rocksdb.num-immutable-mem-table"); n != 1 {
		t.Fatal(n)
	}
	x.open()
	x.reseeks(3, ks("seek 0", "(invalid)")...)
	x.reseeks(2, ks("for-prev 1", "(invalid)")...)
	x.reseeks(0, "first", "(invalid)")
	x.reseeks(0, "last", "(invalid)")
}

func TestDBRangeDelTest_ReseekDuringNextAndPrev(t *testing.T) {
	x := newTombstoneTest(t)
	x.puts(0, key(1), "foo", key(2), "foo", key(3), "foo")
	x.flushTo(1)
	x.puts(0, key(2), "foo", "flush")
	x.wantFiles(0, "1,1")
	x.deleteRange(0, key(0), key(1))
	x.deleteRange(0, key(2), key(3))
	x.open()
	forward := func() {
		t.Helper()
		x.it.walk(ks("=1")...)
		x.reseeks(2, ks("next", "=3")...)
		x.reseeks(2, ks("prev", "=1")...)
		x.reseeks(2, ks("next", "=3")...)
		x.it.walk("next", "(invalid)")
	}
	x.reseeks(2, ks("seek 0")...)
	forward()
	x.reseeks(0, ks("seek 1")...)
	forward()
	x.reseeks(2, ks("for-prev 2")...)
	forward()
	x.reseeks(0, ks("for-prev 1")...)
	forward()
	x.reseeks(0, "first")
	forward()
	x.it.walk("last", "prev")
	forward()
}

func TestDBRangeDelTest_TombstoneFromCurrentLevel(t *testing.T) {
	x := newTombstoneTest(t)
	x.puts(0, key(1), "foo", key(2), "foo", key(3), "foo")
	x.flushTo(1)
	x.mustPut(0, key(2), "foo")
	x.deleteRange(0, key(2), key(3))
	x.flush(0)
	x.wantFiles(0, "1,1")
	x.deleteRange(0, key(0), key(1))
	x.open()
	x.reseeks(2, ks("seek 0", "=1")...)
	x.reseeks(1, ks("next", "=3")...)
}

func TestDBRangeDelTest_TombstoneAcrossFileBoundary(t *testing.T) {
	x := newTombstoneTest(t, fileSize(2*1024), func(o *contract.Options) {
		o.MaxCompactionBytes = 2 * 1024
		o.SstPartitionerFactory = cutAt{func(k string) bool { return k == key(5) }}
	})
	r := newRandom()
	x.mustPut(0, key(5), r.str(1<<9))
	x.flushTo(2)
	x.puts(0, key(5), r.str(1<<10), key(7), r.str(1<<10), "flush", key(1), r.str(1<<10), key(3), r.str(1<<10))
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(2), key(6))
	x.flush(0)
	x.wantFiles(0, "2,0,1")
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,2,1")
	x.open()
	x.reseeks(1, ks("seek 1", "=1", "next", "=7")...)
	x.must(x.it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_NonOverlappingTombstonAtBoundary(t *testing.T) {
	x := newTombstoneTest(t, fileSize(4*1024))
	r := newRandom()
	x.mustPut(0, key(5), r.str(4<<10))
	x.flushTo(2)
	x.puts(0, key(6), r.str(4<<10), key(8), r.str(4<<10), "flush", key(1), r.str(4<<10), key(3), r.str(4<<10))
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(4), key(7))
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,2,1")
	wantBound(t, x.level(1)[0].Largest, key(6), dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion)
	x.open()
	x.it.walk(ks("seek 3", "=3")...)
	x.reseeks(1, ks("next", "=8")...)
	for _, k := range []string{"seek 4", "seek 5", "seek 6"} {
		x.reseeks(1, ks(k, "=8")...)
	}
	x.must(x.it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_OlderLevelHasNewerData(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	r := newRandom()
	x.puts(0, key(1), r.str(4<<10), key(3), r.str(4<<10))
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(2), key(7))
	x.flushTo(1)
	x.puts(0, key(5), r.str(4<<10), key(6), r.str(4<<10))
	x.flushTo(1)
	x.wantFiles(0, "0,2")
	x.must(x.full().TestCompactRange(1, []byte(key(6)), nil, nil, false))
	x.wantFiles(0, "0,1,1")
	x.iter(0).walk(ks("seek 3", "=5", "next", "=6")...)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_LevelBoundaryDefinedByTombstone(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	r := newRandom()
	x.puts(0, key(4), "foo", "flush")
	s := x.db.GetSnapshot()
	x.moveFilesToLevel(2, 0)
	x.puts(0, key(1), r.str(4<<10), key(2), r.str(4<<10))
	x.deleteRange(0, key(4), key(5))
	x.flushTo(1)
	x.wantFiles(0, "0,1,1")
	x.iter(0).walk(ks("seek 3", "(invalid)", "for-prev 5", "=2")...)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_TombstoneOnlyFile(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	r := newRandom()
	x.mustPut(0, key(3), "foo")
	x.flushTo(2)
	x.puts(0, key(1), r.str(4<<10), key(2), r.str(4<<10))
	x.flushTo(1)
	x.deleteRange(0, key(3), key(5))
	x.flushTo(1)
	x.wantFiles(0, "0,2,1")
	x.iter(0).walk(ks("seek 2", "=2", "next", "(invalid)", "for-prev 4", "=2", "next", "(invalid)")...)
}

// levelIterator gives the iterator of level 1, made aware of range tombstones by
// the merging iterator over it, which done closes.
func (x *dbTest) levelIterator() (it internaliter.InternalIterator, done func()) {
	cfd := x.cf(0).Impl().CFD()
	b := table.NewMergeIteratorBuilder(cfd.InternalComparator(), false, nil)
	sv := cfd.GetReferencedSuperVersion()
	it = sv.Current.TESTGetLevelIterator(readOptions(), b, 1, true)
	m := b.Finish(nil)
	return it, func() {
		x.must(m.Close())
		sv.Release()
	}
}

// wantInner wants the keys from here on, and then the end.
func (x *dbTest) wantInner(it internaliter.InternalIterator, forward bool, keys ...int) {
	x.Helper()
	for _, k := range keys {
		if !it.Valid() || string(it.UserKey()) != key(k) {
			x.Fatalf("key %d: valid %v, %v", k, it.Valid(), it.Status())
		}
		if forward {
			it.Next()
		} else {
			it.Prev()
		}
	}
	if it.Valid() || it.Status() != nil {
		x.Fatal(it.Valid(), it.Status())
	}
}

func seekKey(k int) []byte {
	return dbformat.AppendInternalKey(nil, []byte(key(k)), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
}

func seekForPrevKey(k int) []byte {
	return dbformat.AppendInternalKey(nil, []byte(key(k)), 0, dbformat.ValueTypeForSeekForPrev)
}

func TestDBRangeDelTest_TombstoneOnlyLevel(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	x.puts(0, key(3), "foo", key(4), "bar")
	x.flushTo(2)
	x.deleteRange(0, key(3), key(5))
	x.flushTo(1)
	x.wantFiles(0, "0,1,1")
	x.open()
	count := func(yes bool) uint64 {
		if yes {
			return 1
		}
		return 0
	}
	for i := range 7 {
		x.reseeks(count(i < 5), "seek "+key(i), "(invalid)")
		x.reseeks(count(i > 2), "for-prev "+key(i), "(invalid)")
		x.reseeks(1, "first", "(invalid)")
		x.reseeks(1, "last", "(invalid)")
	}
	it, done := x.levelIterator()
	defer done()
	it.Seek(seekKey(3))
	x.wantInner(it, true, 5) // the sentinel, the file's bound
	it.SeekForPrev(seekForPrevKey(5))
	x.wantInner(it, false, 3)
	it.SeekToFirst()
	x.wantInner(it, true, 5)
	it.SeekToLast()
	x.wantInner(it, false, 3)
}

func TestDBRangeDelTest_TombstoneOnlyWithOlderVisibleKey(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	x.puts(0, key(2), "foo", key(4), "bar", key(5), "foobar")
	x.flushTo(2)
	x.deleteRange(0, key(3), key(5))
	x.flushTo(1)
	x.wantFiles(0, "0,1,1")
	it := x.iter(0)
	backward, forward := ks("=5", "prev", "=2", "prev", "(invalid)"), ks("=2", "next", "=5", "next", "(invalid)")
	it.walk(append(ks("seek 4"), backward...)...)
	it.walk(append(ks("for-prev 4", "next"), backward...)...)
	it.walk(append(ks("seek 4", "prev"), forward...)...)
	it.walk(append(ks("for-prev 4"), forward...)...)
	it.walk(append([]string{"first"}, forward...)...)
	it.walk(append([]string{"last"}, backward...)...)
}

func TestDBRangeDelTest_TombstoneSentinelDirectionChange(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	x.mustPut(0, key(4), "bar")
	x.flushTo(3)
	x.deleteRange(0, key(4), key(6))
	x.flushTo(2)
	x.mustPut(0, key(7), "foobar")
	x.flushTo(1)
	x.wantFiles(0, "0,1,1,1")
	x.iter(0).walk(ks("seek 5", "=7", "prev", "(invalid)")...)
	x.mustPut(0, key(5), "foobar")
	x.flushTo(1)
	x.wantFiles(0, "0,2,1,1")
	x.iter(0).walk(ks("seek 5", "=5", "prev", "(invalid)")...)
}

func TestDBRangeDelTest_LeftSentinelKeyTest(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024), func(o *contract.Options) { o.MaxCompactionBytes = 2048 })
	r := newRandom()
	x.mustPut(0, key(2), "foo")
	x.flushTo(2)
	x.puts(0, key(0), r.str(4<<10), key(1), r.str(4<<10))
	x.flushTo(1)
	x.mustPut(0, key(5), "bar")
	x.deleteRange(0, key(2), key(3))
	x.flushTo(1)
	x.wantFiles(0, "0,2,1")
	x.iter(0).walk(ks("for-prev 4", "=1", "prev", "=0", "prev", "(invalid)")...)
}

func TestDBRangeDelTest_LeftSentinelKeyTestWithNewerKey(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024), func(o *contract.Options) { o.MaxCompactionBytes = 3 * 1024 })
	r := newRandom()
	x.mustPut(0, key(3), "foo")
	x.flushTo(2)
	x.mustPut(0, key(5), "bar")
	x.deleteRange(0, key(2), key(4))
	x.flushTo(1)
	x.puts(0, key(1), r.str(4<<10), key(2), r.str(4<<10))
	seq := x.full().GetLatestSequenceNumber()
	x.flushTo(1)
	x.wantFiles(0, "0,2,1")
	it, done := x.full().TestNewInternalIterator(x.cf(0).Impl())
	defer done()
	defer it.Close()
	it.SeekForPrev(seekForPrevKey(4))
	if !it.Valid() || string(it.UserKey()) != key(2) {
		t.Fatal(it.Valid(), it.Status())
	}
	wantBound(t, it.Key(), key(2), seq, dbformat.TypeValue)
	it.Prev()
	x.wantInner(it, false, 1)
}

func TestDBRangeDelTest_SentinelKeyCommonCaseTest(t *testing.T) {
	x := newTombstoneTest(t, fileSize(3*1024))
	r := newRandom()
	x.puts(0, key(1), r.str(4<<10), key(2), r.str(4<<10))
	x.flushTo(1)
	x.deleteRange(0, key(3), key(4))
	x.puts(0, key(5), r.str(4<<10), key(6), r.str(4<<10))
	x.deleteRange(0, key(7), key(8))
	x.flushTo(1)
	x.mustPut(0, key(9), r.str(4<<10))
	x.flushTo(1)
	x.wantFiles(0, "0,3")
	it, done := x.levelIterator()
	defer done()
	it.Seek(seekKey(7))
	x.wantInner(it, true, 8, 9, 9) // the last is a sentinel
	it.Seek(seekKey(6))
	x.wantInner(it, true, 6, 8, 9, 9)
	it.SeekForPrev(seekForPrevKey(4))
	x.wantInner(it, false, 3, 2, 1, 1)
	it.SeekForPrev(seekForPrevKey(5))
	x.wantInner(it, false, 5, 3, 2, 1, 1)
	it.SeekToFirst()
	x.wantInner(it, true, 1, 2, 2, 5, 6, 8, 9, 9)
	it.SeekToLast()
	x.wantInner(it, false, 9, 9, 6, 5, 3, 2, 1, 1)
}

func TestDBRangeDelTest_PrefixSentinelKey(t *testing.T) {
	x := newTombstoneTest(t, func(o *contract.Options) {
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
		*o = blockTable(*o, func(t *contract.BlockBasedTableOptions) {
			t.FilterPolicy, t.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
		})
	})
	r := newRandom()
	x.puts(0, "aaac", r.str(10), "aaae", r.str(10))
	x.flushTo(2)
	x.deleteRange(0, "aaaa", "aaad")
	x.mustPut(0, "bbbb", r.str(10))
	x.flushTo(1)
	x.wantFiles(0, "0,1,1")
	x.iter(0).walk("seek aaab", "=aaae")
}

func TestDBRangeDelTest_RefreshMemtableIter(t *testing.T) {
	x := newTombstoneTest(t)
	x.deleteRange(0, "a", "z")
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.ReadTier = contract.MemtableTier })
	x.flush(0)
	x.must(it.Refresh(nil))
	x.must(it.Refresh(nil))
	it.walk("first", "(invalid)")
}

func (x *dbTest) size(begin, end string) uint64 {
	x.Helper()
	o := contract.DefaultSizeApproximationOptions()
	sizes, err := x.cf(0).GetApproximateSizes(&o, []contract.Range{{Start: []byte(begin), Limit: []byte(end)}})
	x.must(err)
	return sizes[0]
}

func (x *dbTest) wantCompensated(level int, want uint64) {
	x.Helper()
	f := x.level(level)
	if len(f) != 1 || f[0].CompensatedRangeDeletionSize != want {
		x.Fatalf("level %d: %d files, %d bytes, not %d", level, len(f), f[0].CompensatedRangeDeletionSize, want)
	}
}

func TestDBRangeDelTest_RangetombesoneCompensateFilesize(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	r := newRandom()
	x.puts(0, "a", r.str(1<<10), "b", r.str(1<<10))
	x.flushTo(2)
	l2 := x.size("a", "c")
	x.puts(0, "d", r.str(1<<10), "e", r.str(1<<10))
	x.flushTo(1)
	l1 := x.size("d", "f")
	if l1 == 0 || l2 == 0 {
		t.Fatal(l1, l2)
	}
	x.deleteRange(0, "a", "f")
	x.flush(0)
	x.wantCompensated(0, l1+l2)
	x.wantCompensated(1, 0)
	x.wantCompensated(2, 0)
	x.compactLevel(0, "", "")
	x.wantFiles(0, "0,1,1")
	x.wantCompensated(1, l2)
	x.wantCompensated(2, 0)
}

func TestDBRangeDelTest_RangetombesoneCompensateFilesizePersistDuringReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	r := newRandom()
	x.puts(0, "a", r.str(1<<10), "b", r.str(1<<10))
	x.flushTo(2)
	x.deleteRange(0, "a", "c")
	x.flushTo(1)
	x.deleteRange(0, "a", "z")
	x.flush(0)
	x.wantFiles(0, "1,1,1")
	l1, l2 := x.level(1)[0].FD.GetFileSize(), x.level(2)[0].FD.GetFileSize()
	for range 2 {
		x.wantCompensated(0, l1+l2)
		x.wantCompensated(1, l2)
		x.reopen(o)
	}
}

func TestDBRangeDelTest_SingleKeyFile(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.TargetFileSizeBase = true, 1<<10
	x.destroyAndReopen(o)
	snapshots := []rocksdb.Snapshot{x.db.GetSnapshot()}
	r := newRandom()
	x.mustPut(0, key(2), r.str(8<<10))
	x.flushTo(6) // what follows is not bottommost
	x.deleteRange(0, key(2), key(5))
	snapshots = append(snapshots, x.db.GetSnapshot())
	for range 3 {
		x.mustPut(0, key(2), r.str(8<<10))
		snapshots = append(snapshots, x.db.GetSnapshot())
		x.flush(0)
	}
	if n := x.numTableFilesAtLevel(0, 0); n != 3 {
		t.Fatal(n)
	}
	x.compactLevel(0, "", "")
	if n := x.numTableFilesAtLevel(1, 0); n != 2 {
		t.Fatal(n)
	}
	wantBound(t, x.level(1)[0].Largest, key(2), 4, dbformat.TypeValue)
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDBRangeDelTest_DoubleCountRangeTombstoneCompensatedSize(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	r := newRandom()
	x.puts(0, key(1), r.str(1<<10), key(2), r.str(1<<10))
	x.flushTo(2)
	l2 := x.size(key(1), key(3))
	x.puts(0, key(3), r.str(1<<10), key(4), r.str(1<<10))
	x.flushTo(1)
	l1 := x.size(key(3), key(5))
	if l1 == 0 || l2 == 0 {
		t.Fatal(l1, l2)
	}
	x.deleteRange(0, key(1), key(5))
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(1), key(5))
	x.flush(0)
	x.wantCompensated(0, l1+l2)
	x.compactLevel(0, "", "")
	x.wantCompensated(1, l2)
	x.must(x.db.ReleaseSnapshot(s))
}

func (x *dbTest) wantRangeDeletions(want uint64) {
	x.Helper()
	props, err := x.cf(0).GetPropertiesOfAllTables()
	x.must(err)
	n := uint64(0)
	for _, p := range props {
		n += p.NumRangeDeletions
	}
	if n != want {
		x.Fatalf("%d range deletions, not %d", n, want)
	}
}

func TestDBRangeDelTest_NonBottommostCompactionDropRangetombstone(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Level0FileNumCompactionTrigger = 7, 3
	x.destroyAndReopen(o)
	r := newRandom()
	put := func(keys ...int) {
		for _, k := range keys {
			x.mustPut(0, key(k), r.str(100))
		}
	}
	put(2, 3)
	x.flush(0)
	put(7, 8)
	x.flushTo(6)
	if n := x.numTableFilesAtLevel(6, 0); n != 2 {
		t.Fatal(n)
	}
	x.deleteRange(0, key(4), key(5))
	x.flush(0)
	put(3, 6)
	x.deleteRange(0, key(8), key(9))
	x.flush(0)
	x.wantRangeDeletions(2)
	put(1, 9)
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	if n := x.numTableFilesAtLevel(1, 0); n != 1 {
		t.Fatal(n)
	}
	x.wantRangeDeletions(1)
	put(4)
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(4), key(5))
	co := contract.DefaultCompactRangeOptions()
	co.BottommostLevelCompaction = contract.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&co, nil, nil))
	x.wantFiles(0, "0,0,0,0,0,0,1")
	x.wantRangeDeletions(1)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_MemtableMaxRangeDeletions(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MemtableMaxRangeDeletions, o.Level0FileNumCompactionTrigger = 50, 5
	x.destroyAndReopen(o)
	want := func(n int) {
		t.Helper()
		x.waitForFlush(0)
		if got := x.numTableFilesAtLevel(0, 0); got != n {
			t.Fatal(got)
		}
	}
	for i := range 50 {
		x.puts(0, key(i), "val1", key(i+1), "val2")
		x.deleteRange(0, key(i), key(i+2))
		want(0)
	}
	x.mustPut(0, key(50), "val")
	want(1)
	x.must(x.db.SetOptions(map[string]string{"memtable_max_range_deletions": "1"}))
	x.flush(0) // the option is the next memtable's
	want(2)
	x.deleteRange(0, key(50), key(100))
	want(2)
	x.mustPut(0, key(50), "new val")
	want(3)
}

func TestDBRangeDelTest_ReleaseSnapshotAfterIteratorCreation(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, key(0), "v", "key000100", "v")
	x.flushTo(2)
	x.puts(0, key(1), "v", key(2), "v")
	x.deleteRange(0, key(3), key(4))
	x.flushTo(1)
	x.puts(0, key(5), "v", key(6), "v")
	x.deleteRange(0, key(5), key(6))
	x.flushTo(1)
	x.wantFiles(0, "0,2,1")
	s := x.db.GetSnapshot()
	it := x.iter(0, atSnapshot(s))
	x.must(x.db.ReleaseSnapshot(s))
	it.walk(ks("seek 1", "=1", "next", "=2", "next", "=6", "next")...)
	it.walk("=key000100", "next", "(invalid)")
}

func TestDBRangeDelTest_RefreshWithSnapshot(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, key(4), "4", key(6), "6")
	s := x.db.GetSnapshot()
	x.deleteRange(0, key(3), key(5))
	it := x.iter(0)
	refresh := func(now string) {
		t.Helper()
		x.must(it.Refresh(nil))
		it.walk("first", now)
		x.must(it.Refresh(s))
		it.walk(ks("first", "=4")...)
	}
	six := "=" + key(6)
	refresh(six)
	x.must(x.full().TestSwitchMemtable(nil))
	refresh(six)
	x.flush(0)
	x.wantFiles(0, "1")
	refresh(six)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,1")
	refresh(six)
	x.mustPut(0, key(2), "2")
	x.flushTo(1)
	x.wantFiles(0, "0,2")
	refresh("=" + key(2)) // the level iterator enters its second file
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBRangeDelTest_RowCache(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.RowCache = rocksdb.NewLRUCache(8 << 10)
	x.destroyAndReopen(o)
	x.mustPut(0, key(3), "val")
	if err := x.db.DeleteRange(nil, []byte(key(3)), []byte(key(5))); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
	b := rocksdb.NewWriteBatch()
	x.must(b.Put([]byte(key(6)), []byte("abc")))
	x.must(b.DeleteRange([]byte(key(1)), []byte(key(5))))
	if err := x.db.Write(nil, b); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
	x.wantGet(0, key(3), "val")
	x.mustPut(0, key(5), "foo") // the database goes on
}

func TestDBRangeDelTest_SeekForPrevTest(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.CompactionStyle = contract.CompactionStyleUniversal
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(2)
	x.reopen(o)
	x.puts(0, "ka1", "value_1", "ka2", "value_2", "kb1", "value_3", "kc1", "value_4", "kc2", "value_5", "flush")
	x.compact(0, "", "")
	s := x.db.GetSnapshot()
	it := x.iter(0, atSnapshot(s))
	it.walk("first", "ka1->value_1", "next", "ka2->value_2", "next", "kb1->value_3", "next", "kc1->value_4", "next", "kc2->value_5", "next", "(invalid)")
	x.deleteRange(0, "ka2", "kc2")
	x.flush(0)
	x.compact(0, "", "")
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
	it = x.iter(0)
	it.walk("first", "=ka1", "next", "=kc2", "next", "(invalid)")
	it.walk("for-prev ka1", "=ka1", "for-prev ka2", "=ka1", "for-prev kb1", "=ka1", "for-prev kc1", "=ka1", "for-prev kc2", "=kc2")
}

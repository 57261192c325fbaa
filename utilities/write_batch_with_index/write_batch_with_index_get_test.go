// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc:
// lookups.

package writebatchwithindex_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestWriteBatchWithIndexTest_TestGetFromBatch(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.expectBatch(nil, "b", notFound)
		x.do(nil, "put a a", "put b b", "put c c", "put a z", "del c", "del d", "del e", "put e e")
		x.expectBatch(nil, "b", "b", "a", "z", "c", notFound, "d", notFound, "x", notFound, "e", "e")
		x.do(nil, "merge z z")
		if got := x.fromBatch(nil, "z"); got == "z" || got == notFound {
			t.Errorf("an operand without what it is merged into gave %q", got)
		}
		x.expectBatch(nil, "b", "b")
	})
}

func TestWriteBatchWithIndexTest_TestGetFromBatchMerge(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.expectBatch(nil, "x", notFound)
		x.do(nil, "put x X")
		expected := "X"
		for i := range 5 {
			x.do(nil, fmt.Sprintf("merge x %d", i))
			expected += "," + strconv.Itoa(i)
			if i%2 == 0 {
				x.do(nil, fmt.Sprintf("put y %d", i/2))
			}
			x.do(nil, "merge z z")
			x.expectBatch(x.cf(), "x", expected, "y", strconv.Itoa(i/2), "z", mergeInProgress)
		}
	})
}

func TestWBWIOverwriteTest_TestGetFromBatchMerge2(t *testing.T) {
	x := newWBWITest(t, true)
	x.open()
	x.expectBatch(x.cf(), "X", notFound)
	for _, s := range [][2]string{
		{"put X x", "x"}, {"put X x2", "x2"}, {"merge X aaa", "x2,aaa"}, {"merge X bbb", "x2,aaa,bbb"}, {"put X x3", "x3"},
		{"merge X ccc", "x3,ccc"}, {"del X", notFound}, {"merge X ddd", "ddd"},
	} {
		x.do(x.cf(), s[0])
		x.expectBatch(x.cf(), "X", s[1])
	}
}

// dbDo makes updates of the database: "put k v", "merge k v", "del k".
func (x *wbwiTest) dbDo(ops ...string) {
	x.Helper()
	b := x.newBatch(rocksdb.WriteBatchWithIndexOptions{})
	y := &wbwiTest{T: x.T, batch: b}
	y.do(nil, ops...)
	x.must(x.db.Write(nil, b.GetWriteBatch()))
}

func TestWriteBatchWithIndexTest_TestGetFromBatchAndDB(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put a a", "put b b", "put c c")
		x.do(nil, "put a batch.a", "del b")
		x.expectBoth("a", "batch.a", "b", notFound, "c", "c", "x", notFound)
		x.dbDo("del x")
		x.expectBoth("x", notFound)
	})
}

func TestWriteBatchWithIndexTest_TestGetFromBatchAndDBMerge(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put a a0", "put b b0", "merge b b1", "merge c c0", "merge d d0")
		x.do(nil, "merge a a1", "merge a a2", "merge b b2", "merge d d1", "merge e e0")
		x.expectBoth("a", "a0,a1,a2", "b", "b0,b1,b2", "c", "c0", "d", "d0,d1", "e", "e0")
		x.dbDo("del x")
		x.expectBoth("x", notFound)

		snapshot := x.db.GetSnapshot()
		defer func() { x.must(x.db.ReleaseSnapshot(snapshot)) }()
		expect := func(key, now, before string) {
			x.Helper()
			x.expectBoth(key, now)
			x.ro.Snapshot = snapshot
			x.expectBoth(key, before)
			x.ro.Snapshot = nil
		}
		x.dbDo("del a")
		expect("a", "a1,a2", "a0,a1,a2")
		x.do(nil, "del a")
		expect("a", notFound, notFound)
		x.dbDo("merge c c1")
		expect("c", "c0,c1", "c0")
		x.dbDo("put e e1")
		expect("e", "e1,e0", "e0")
		x.dbDo("del e")
		expect("e", "e0", "e0")
	})
}

func TestWBWIOverwriteTest_TestGetFromBatchAndDBMerge2(t *testing.T) {
	x := newWBWITest(t, true)
	x.open()
	x.expectBoth("A", notFound)
	x.do(nil, "merge A xxx")
	x.expectBoth("A", "xxx")
	x.do(nil, "merge A yyy")
	x.expectBoth("A", "xxx,yyy")
	x.dbDo("put A a0")
	x.expectBoth("A", "a0,xxx,yyy")
	x.do(nil, "del A")
	x.expectBoth("A", notFound)
}

func TestWriteBatchWithIndexTest_TestGetFromBatchAndDBMerge3(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put A 1")
		x.must(x.db.Flush(nil))
		x.do(nil, "merge A 2")
		x.expectBoth("A", "1,2")
	})
}

func TestWriteBatchWithIndexTest_TestPinnedGetFromBatchAndDB(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put a a0", "put b b0", "merge b b1", "merge c c0", "merge d d0")
		x.do(nil, "merge a a1", "merge a a2", "merge b b2", "merge d d1", "merge e e0")
		var v rocksdb.PinnableSlice // used again without Release
		defer v.Release()
		for i := range 2 {
			if i == 1 {
				x.must(x.db.Flush(nil))
			}
			for _, s := range [][2]string{{"a", "a0,a1,a2"}, {"b", "b0,b1,b2"}, {"c", "c0"}, {"d", "d0,d1"}, {"e", "e0"}} {
				err := x.batch.GetFromBatchAndDB(x.db, nil, nil, []byte(s[0]), &v)
				x.expect(s[0], outcome(v.Data(), err), s[1])
			}
			x.dbDo("del x")
			err := x.batch.GetFromBatchAndDB(x.db, nil, nil, []byte("x"), &v)
			x.expect("x", outcome(v.Data(), err), notFound)
		}
	})
}

func TestWriteBatchWithIndexTest_SingleDeleteTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.do(nil, "sdel A")
		x.expectBatch(nil, "A", notFound, "B", notFound)
		x.batch.Clear()
		x.do(nil, "put A a", "put A a2", "put B b", "sdel A")
		x.expectBatch(nil, "A", notFound, "B", "b")
		x.do(nil, "put C c", "put A a3", "del B", "sdel B", "sdel C")
		x.expectBatch(nil, "A", "a3", "B", notFound, "C", notFound, "D", notFound)
		x.do(nil, "put B b4", "put C c4", "put D d4", "sdel D", "sdel D", "del A")
		x.expectBatch(nil, "A", notFound, "B", "b4", "C", "c4", "D", notFound)
	})
}

// multiGet is MultiGetFromBatchAndDB of keys.
func (x *wbwiTest) multiGet(cf rocksdb.ColumnFamilyHandle, keys []string) []string {
	list, values, errs := make([][]byte, len(keys)), make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	x.batch.MultiGetFromBatchAndDB(x.db, &x.ro, cf, list, values, errs)
	got := make([]string, len(keys))
	for i := range got {
		got[i] = outcome(values[i].Data(), errs[i])
		values[i].Release()
	}
	return got
}

func TestWriteBatchWithIndexTest_MultiGetTest(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		var keys []string
		for i := range 100 {
			keys = append(keys, strconv.Itoa(i))
			if i%2 == 0 {
				x.dbDo(fmt.Sprintf("put %d val%d", i, i))
			}
		}
		for i, k := range keys {
			if i%5 == 0 {
				x.do(x.cf(), "del "+k)
			} else if i%7 == 0 {
				x.do(x.cf(), "put "+k+" new"+k)
			}
			if i > 0 && i%3 == 0 {
				x.do(x.cf(), "merge "+k+" merge")
			}
		}
		for i, got := range x.multiGet(x.cf(), keys) {
			want := notFound
			switch {
			case i%5 == 0:
			case i%7 == 0:
				want = "new" + keys[i]
			case i%2 == 0:
				want = "val" + keys[i]
			}
			if i > 0 && i%3 == 0 {
				if want == notFound {
					want = "merge"
				} else {
					want += ",merge"
				}
			}
			x.expect(keys[i], got, want)
		}
	})
}

func TestWriteBatchWithIndexTest_MultiGetTest2(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		const numKeys, keysPerPass = 700, 100
		// By hundreds: a Put in the batch, a Put in the database, Put and Delete,
		// Put, Delete and Merge, Put and Merge, Merge alone, nothing.
		for i := 100; i < 500; i++ {
			x.dbDo(fmt.Sprintf("put %d %d", i, i))
		}
		x.must(x.db.Flush(nil))
		for i := range 100 {
			x.do(x.cf(), fmt.Sprintf("put %d %d", i, i))
		}
		for i := 200; i < 400; i++ {
			x.do(x.cf(), fmt.Sprintf("del %d", i))
		}
		for i := 300; i < 600; i++ {
			x.do(x.cf(), fmt.Sprintf("merge %d %dm", i, i))
		}
		rnd := util.NewRandom(301)
		for range 40 {
			keys := make([]string, keysPerPass)
			for i := range keys {
				keys[i] = strconv.Itoa(int(rnd.Uniform(numKeys)))
			}
			for i, got := range x.multiGet(x.cf(), keys) {
				k := keys[i]
				n, _ := strconv.Atoi(k)
				x.expect(k, got, []string{k, k, notFound, k + "m", k + "," + k + "m", k + "m", notFound}[n/100])
			}
		}
	})
}

func TestWriteBatchWithIndexTest_GetFromBatchAfterMerge(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put o aa")
		x.do(nil, "merge o bb", "merge m cc")
		x.expectBatch(nil, "m", mergeInProgress, "o", mergeInProgress)
		x.must(x.db.Write(nil, x.batch.GetWriteBatch()))
		for k, want := range map[string]string{"o": "aa,bb", "m": "cc"} {
			v, err := x.db.Get(nil, []byte(k))
			x.expect(k, outcome(v.Data(), err), want)
			v.Release()
		}
	})
}

func TestWriteBatchWithIndexTest_GetFromBatchAndDBAfterMerge(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put o aa")
		x.do(nil, "merge o bb", "merge m cc")
		x.expectBoth("o", "aa,bb", "m", "cc")
	})
}

// getAfter makes updates of "key" and looks it up after each, in the batch and in
// both.
func (x *wbwiTest) getAfter(steps ...[3]string) {
	x.Helper()
	for _, s := range steps {
		x.do(nil, s[0])
		x.expectBatch(x.cf(), "key", s[1])
		x.expectBoth("key", s[2])
	}
}

func TestWriteBatchWithIndexTest_GetAfterPut(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put key orig")
		x.getAfter([3]string{"put key aa", "aa", "aa"}, [3]string{"merge key bb", "aa,bb", "aa,bb"},
			[3]string{"merge key cc", "aa,bb,cc", "aa,bb,cc"})
	})
}

func TestWriteBatchWithIndexTest_GetAfterMergePut(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put key orig")
		x.getAfter([3]string{"merge key aa", mergeInProgress, "orig,aa"}, [3]string{"merge key bb", mergeInProgress, "orig,aa,bb"},
			[3]string{"put key cc", "cc", "cc"}, [3]string{"merge key dd", "cc,dd", "cc,dd"})
	})
}

func TestWriteBatchWithIndexTest_GetAfterMergeDelete(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.getAfter([3]string{"merge key aa", mergeInProgress, "aa"}, [3]string{"merge key bb", mergeInProgress, "aa,bb"},
			[3]string{"del key", notFound, notFound}, [3]string{"merge key cc", "cc", "cc"}, [3]string{"merge key dd", "cc,dd", "cc,dd"})
	})
}

// failingMergeOperator merges nothing.
type failingMergeOperator struct{ rocksdb.MergeOperator }

func (failingMergeOperator) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}
func (failingMergeOperator) Name() string { return "Failing" }

func TestWriteBatchWithIndexTest_TestBadMergeOperator(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.o.MergeOperator = failingMergeOperator{x.o.MergeOperator}
		x.open()
		x.dbDo("put a a0")
		x.do(nil, "put b b0", "merge a a1")
		x.expect("a", x.fromBoth("a"), corruption)
		x.expectBatch(x.cf(), "a", mergeInProgress)
		x.expectBoth("b", "b0")
		x.expectBatch(x.cf(), "b", "b0")
	})
}

func key32(i int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(i)) }

func TestWriteBatchWithIndexTest_ColumnFamilyWithTimestamp(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		cf2 := &dummyHandle{2, rocksdb.BytewiseComparatorWithU64Ts()}
		key, ts, value := []byte("key"), []byte("ts"), []byte("value")
		b := x.batch
		for i, err := range []error{b.PutWithTimestamp(cf2, key, ts, value), b.DeleteWithTimestamp(cf2, key, ts), b.SingleDeleteWithTimestamp(cf2, key, ts)} {
			if !isCode(err, rocksdb.ErrNotSupported) {
				t.Errorf("%d: %v", i, err)
			}
		}
		for i, err := range []error{b.PutWithTimestamp(nil, key, ts, value), b.DeleteWithTimestamp(nil, key, ts), b.SingleDeleteWithTimestamp(nil, key, ts)} {
			if !isCode(err, rocksdb.ErrInvalidArgument) {
				t.Errorf("%d: %v", i, err)
			}
		}
		var v rocksdb.PinnableSlice
		if err := b.GetFromBatchAndDB(x.db, nil, cf2, key, &v); !isCode(err, rocksdb.ErrInvalidArgument) {
			t.Error(err)
		}
		for _, got := range x.multiGet(cf2, []string{"", ""}) {
			x.expect("a family with timestamps without one", got, invalidArgument)
		}

		const maxKey = 10
		size := func(id uint32) int {
			if id == cf2.id {
				return 8
			}
			return writebatch.UnknownTimestampSize
		}
		for i := range maxKey {
			x.must(b.PutCF(cf2, key32(i), fmt.Appendf(nil, "value%d", i)))
		}
		x.must(b.GetWriteBatch().UpdateTimestamps(make([]byte, 8), size))
		for i := range maxKey {
			x.expectBatch(cf2, string(key32(i)), fmt.Sprintf("value%d", i))
		}
		n := 0
		it := b.NewIterator(cf2)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			x.expect("entry", entry(it), fmt.Sprintf("PUT(%s):value%d", key32(n), n))
			n++
		}
		if n != maxKey {
			t.Fatalf("%d entries", n)
		}

		for i := range maxKey {
			if i%2 == 0 {
				x.must(b.DeleteCF(cf2, key32(i)))
			} else {
				x.must(b.SingleDeleteCF(cf2, key32(i)))
			}
		}
		x.must(b.GetWriteBatch().UpdateTimestamps([]byte("\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe"), size))
		for i := range maxKey {
			x.expectBatch(cf2, string(key32(i)), notFound)
		}
		it = b.NewIterator(cf2)
		it.SeekToFirst()
		for n = 0; n < maxKey; n++ {
			want := rocksdb.DeleteRecord
			if n%2 == 1 {
				want = rocksdb.SingleDeleteRecord
			}
			if e := it.Entry(); string(e.Key) != string(key32(n)) || e.Type != want {
				t.Fatalf("%q of type %d", e.Key, e.Type)
			}
			if !x.overwrite {
				if it.Next(); it.Entry().Type != rocksdb.PutRecord {
					t.Fatalf("an entry of type %d below the deletion", it.Entry().Type)
				}
			}
			it.Next()
		}
		x.expect("the end", entry(it), "-")
	})
}

func TestWriteBatchWithIndexTest_IndexNoTs(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		cf := &dummyHandle{1, rocksdb.BytewiseComparatorWithU64Ts()}
		x.batch = x.newBatch(rocksdb.WriteBatchWithIndexOptions{})
		x.do(cf, "put a a0", "put a a1")
		x.must(x.batch.GetWriteBatch().UpdateTimestamps(binary.LittleEndian.AppendUint64(nil, 10000), func(id uint32) int {
			if id == 1 {
				return 8
			}
			return 0
		}))
		x.expectBatch(cf, "a", "a1")
	})
}

// A rollback makes the index anew of records that have timestamps.
func TestWBWI_RollbackWithTimestamps(t *testing.T) {
	x := newWBWITest(t, true)
	cf := &dummyHandle{1, rocksdb.BytewiseComparatorWithU64Ts()}
	x.do(cf, "put a a0", "put a a1")
	x.batch.SetSavePoint()
	x.do(cf, "del a")
	x.must(x.batch.RollbackToSavePoint())
	x.expect("entries", x.contents(cf), "PUT(a):a1")
}

func TestWBWI_CallsThatAreRefused(t *testing.T) {
	x := newWBWITest(t, false)
	cf := &dummyHandle{1, rocksdb.BytewiseComparator()}
	b := x.batch
	for i, err := range []error{
		b.DeleteRange([]byte("a"), []byte("b")), b.DeleteRangeCF(cf, []byte("a"), []byte("b")), b.DeleteRangeWithTimestamp(cf, nil, nil, nil),
		b.TimedPut(cf, nil, nil, 1), b.MergeWithTimestamp(cf, nil, nil, nil),
		b.PutEntityAttributeGroups(nil, []rocksdb.AttributeGroup{{}}),
	} {
		if !isCode(err, rocksdb.ErrNotSupported) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := b.PutEntityAttributeGroups(nil, nil); !isCode(err, rocksdb.ErrInvalidArgument) {
		t.Error(err)
	}
	var v rocksdb.PinnableSlice
	errs := make([]error, 1)
	b.MultiGetFromBatchAndDB(nil, nil, nil, [][]byte{[]byte("k")}, make([]rocksdb.PinnableSlice, 1), errs)
	x.open()
	for i, err := range []error{b.GetFromBatchAndDB(nil, nil, nil, []byte("k"), &v), errs[0], x.db.IngestWriteBatchWithIndex(nil, nil)} {
		if !isCode(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("call %d without its object: %v", i, err)
		}
	}
	if _, err := rocksdb.NewWriteBatchWithIndex(rocksdb.WriteBatchWithIndexOptions{ProtectionBytesPerKey: 3}); err == nil {
		t.Error("checksums of 3 bytes")
	}
	x.batch = x.newBatch(rocksdb.WriteBatchWithIndexOptions{MaxBytes: 20})
	x.do(nil, "put a")
	if err := x.batch.Put([]byte("key"), make([]byte, 20)); !isCode(err, rocksdb.ErrAborted) {
		t.Error(err)
	}
	x.expect("what fits", x.contents(nil), "PUT(a):")
}

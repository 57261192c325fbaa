// Port of db/column_family_test.cc: dropped families that are read, paths and
// options of families.

package db_test

import (
	"errors"
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
)

// manyTables are options whose many small tables are left as they are.
func (x *cfTest) manyTables() rocksdb.ColumnFamilyOptions {
	o := x.cfo
	o.Level0FileNumCompactionTrigger = 100
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 200, 200
	o.WriteBufferSize = 100000
	return o
}

// wantCount goes on with an iterator, checks how many entries there are, and
// closes it.
func (x *cfTest) wantCount(it *rocksdb.Iterator, want int) {
	x.Helper()
	n := 0
	for ; it.Valid(); it.Next() {
		n++
	}
	x.must(it.Status())
	x.must(it.Close())
	x.want(n == want, "%d entries, not %d", n, want)
}

func TestColumnFamilyTest_ReadDroppedColumnFamily(t *testing.T) {
	// The first time the family is dropped, the second time its handle is closed.
	const n = 10000
	for iter := range 2 {
		x := newCFTest(t)
		x.dbo.CreateMissingColumnFamilies = true
		x.dbo.MaxOpenFiles = 20
		x.dbo.DeleteObsoleteFilesPeriodMicros = 0 // always
		x.open("default", "one", "two")
		o := x.manyTables()
		x.reopen(o, o, o)
		for cf := range 3 {
			x.putRandom(cf, n, 100)
		}
		it := x.cfs[2].NewIterator(nil)
		it.SeekToFirst()
		if iter == 0 {
			x.must(x.db.DropColumnFamily(x.cfs[2]))
		} else {
			x.must(x.cfs[2].Close())
			x.cfs[2] = nil
		}
		x.wantCount(it, n)

		// The others take writes.
		x.putRandom(0, n, 100)
		x.putRandom(1, n, 100)
		if iter == 1 {
			x.reopen()
		}
		for cf := range 3 {
			want := 2 * n
			if cf == 2 {
				want = n
			}
			it := x.cfs[cf].NewIterator(nil)
			it.SeekToFirst()
			x.wantCount(it, want)
		}
		x.destroy()
	}
}

func TestColumnFamilyTest_LiveIteratorWithDroppedColumnFamily(t *testing.T) {
	const n = 10000
	x := newCFTest(t)
	x.dbo.CreateMissingColumnFamilies = true
	x.dbo.MaxOpenFiles = 20
	x.dbo.DeleteObsoleteFilesPeriodMicros = 0 // always
	x.open("default", "one", "two")
	o := x.manyTables()
	x.reopen(o, o, o)
	x.putRandom(1, n, 100)
	it := x.cfs[1].NewIterator(nil)
	it.SeekToFirst()
	x.drop(1)
	x.wantCount(it, n)
	x.reopen()
	x.destroy()
}

// testShortLivedFamily makes a family, writes a table and drops it.
func testShortLivedFamily(t *testing.T, beforeDrop func(x *cfTest)) {
	x := newCFTest(t)
	x.open()
	o := rocksdb.DefaultColumnFamilyOptions()
	c, err := x.db.CreateColumnFamily(o, "yoyo")
	x.must(err)
	o = rocksdb.ColumnFamilyOptions{} // the database has its own
	x.must(c.Put(nil, []byte("foo"), []byte("bar")))
	x.must(c.Flush(nil))
	beforeDrop(x)
	x.must(x.db.DropColumnFamily(c))
	x.must(c.Close())
	x.wantLiveFiles(0)
	x.close()
	x.wantFamilies("default")
}

func TestColumnFamilyTest_CreateAndDestroyOptions(t *testing.T) {
	testShortLivedFamily(t, func(*cfTest) {})
}

func TestColumnFamilyTest_CreateDropAndDestroy(t *testing.T) {
	testShortLivedFamily(t, func(x *cfTest) {
		n := x.countTables(x.dir)
		x.want(n == 1, "%d tables", n)
	})
}

func TestColumnFamilyTest_CreateDropAndDestroyWithoutFileDeletion(t *testing.T) {
	testShortLivedFamily(t, func(x *cfTest) { x.must(x.db.DisableFileDeletions()) })
}

func TestColumnFamilyTest_DefaultCfPathsTest(t *testing.T) {
	x := newCFTest(t)
	x.open()
	one := x.cfo
	one.CFPaths = []rocksdb.DBPath{{Path: x.dir + "_one_1", TargetSize: math.MaxUint64}}
	x.create([]string{"one", "two"}, one, x.cfo)
	x.reopen(x.cfo, one, x.cfo)
	wantTables := func(dir string, want int) {
		t.Helper()
		n := x.countTables(dir)
		x.want(n == want, "%d tables in %s, not %d", n, dir, want)
	}
	x.putRandom(1, 100, 100)
	x.flush(1)
	wantTables(one.CFPaths[0].Path, 1)
	wantTables(x.dir, 0)
	// Without paths of its own a family goes by the database's.
	x.putRandom(2, 100, 100)
	x.flush(2)
	wantTables(x.dir, 1)
}

func TestColumnFamilyTest_MultipleCFPathsTest(t *testing.T) {
	x := newCFTest(t)
	x.open()
	one, two := x.cfo, x.cfo
	one.CFPaths = []rocksdb.DBPath{{Path: x.dir + "_one_1", TargetSize: math.MaxUint64}}
	two.CFPaths = []rocksdb.DBPath{{Path: x.dir + "_two_1", TargetSize: math.MaxUint64}}
	x.create([]string{"one", "two"}, one, two)
	x.reopen(x.cfo, one, two)
	for cf, o := range map[int]*rocksdb.ColumnFamilyOptions{1: &one, 2: &two} {
		x.putRandom(cf, 100, 100, true)
		x.flush(cf)
		n, elsewhere := x.countTables(o.CFPaths[0].Path), x.countTables(x.dir)
		x.want(n == 1 && elsewhere == 0, "%d tables in the family's path, %d in the database's", n, elsewhere)
	}
	x.reopen(x.cfo, one, two)
	for cf := 1; cf < 3; cf++ {
		ro := rocksdb.DefaultReadOptions()
		ro.ReadaheadSize = 0
		it := x.cfs[cf].NewIterator(&ro)
		for k := range it.All() {
			x.want(x.keys[cf][string(k)], "family %d has %q", cf, k)
		}
		x.must(it.Err())
		x.must(it.Close())
		x.wantSaved(cf)
	}
}

// wantValid checks which values an option may have.
func wantValid[T any](t *testing.T, set func(o *rocksdb.ColumnFamilyOptions, v T), good, bad []T, code error) {
	dbo := rocksdb.DefaultDBOptions()
	o := rocksdb.DefaultColumnFamilyOptions()
	o.EnableBlobGarbageCollection = true
	for _, v := range bad {
		set(&o, v)
		if err := db.ValidateOptions(&dbo, &o); !errors.Is(err, code) {
			t.Errorf("%v: %v", v, err)
		}
	}
	for _, v := range good {
		set(&o, v)
		if err := db.ValidateOptions(&dbo, &o); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

func TestColumnFamilyTest_ValidateBlobGCCutoff(t *testing.T) {
	wantValid(t, func(o *rocksdb.ColumnFamilyOptions, v float64) { o.BlobGarbageCollectionAgeCutoff = v },
		[]float64{0, 0.5, 1}, []float64{-0.5, 1.5}, rocksdb.ErrInvalidArgument)
}

func TestColumnFamilyTest_ValidateBlobGCForceThreshold(t *testing.T) {
	wantValid(t, func(o *rocksdb.ColumnFamilyOptions, v float64) { o.BlobGarbageCollectionForceThreshold = v },
		[]float64{0, 0.5, 1}, []float64{-0.5, 1.5}, rocksdb.ErrInvalidArgument)
}

func TestColumnFamilyTest_ValidateMemtableKVChecksumOption(t *testing.T) {
	wantValid(t, func(o *rocksdb.ColumnFamilyOptions, v uint32) { o.MemtableProtectionBytesPerKey = v },
		[]uint32{0, 1}, []uint32{5, 16}, rocksdb.ErrNotSupported)
}

// Port of db/db_inplace_update_test.cc.

package db_test

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
)

// inPlaceTest runs f with a family that is updated in place, in some
// configurations of compaction.
func inPlaceTest(t *testing.T, callback rocksdb.InplaceCallback, f func(x *dbTest)) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.InplaceUpdateSupport, o.InplaceCallback = true, callback
		o.WriteBufferSize, o.AllowConcurrentMemtableWrite = 100000, false
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		f(x)
	}
}

// wantVersions checks how many entries of the key there are, from the newest
// sequence number, which is n, down.
func (x *dbTest) wantVersions(n, cf int) {
	x.Helper()
	it, done := x.full().TestNewInternalIterator(x.cf(cf))
	defer done()
	defer it.Close()
	seq := uint64(n)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		x.must(err)
		if k.Sequence != seq {
			x.Errorf("sequence number %d, not %d", k.Sequence, seq)
		}
		seq--
	}
	x.must(it.Status())
	if seq != 0 {
		x.Errorf("%d entries are missing", seq)
	}
}

func (x *dbTest) putAndGet(value string) {
	x.Helper()
	x.mustPut(1, "key", value)
	x.wantGet(1, "key", value)
}

func TestDBTestInPlaceUpdate_InPlaceUpdate(t *testing.T) {
	inPlaceTest(t, nil, func(x *dbTest) {
		for i := 10; i > 0; i-- {
			x.putAndGet(dummyString(i, 'a'))
		}
		x.wantVersions(1, 1)
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateLargeNewValue(t *testing.T) {
	inPlaceTest(t, nil, func(x *dbTest) {
		for i := range 10 {
			x.putAndGet(dummyString(i, 'a'))
		}
		x.wantVersions(10, 1)
	})
}

func (x *dbTest) putEntity(n int) {
	x.Helper()
	b := rocksdb.NewWriteBatch()
	x.must(b.PutEntityCF(x.cf(1), []byte("key"), rocksdb.WideColumns{{Name: []byte("attr"), Value: []byte(dummyString(n, 'a'))}}))
	x.must(x.db.Write(nil, b))
}

func TestDBTestInPlaceUpdate_InPlaceUpdateEntitySmallerNewValue(t *testing.T) {
	inPlaceTest(t, nil, func(x *dbTest) {
		for i := 10; i > 0; i-- {
			x.putEntity(i)
		}
		x.wantVersions(1, 1)
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateEntityLargerNewValue(t *testing.T) {
	inPlaceTest(t, nil, func(x *dbTest) {
		for i := range 10 {
			x.putEntity(i)
		}
		x.wantVersions(10, 1)
	})
}

// shrinkTo makes a callback that writes a value of c anew, and values of b over
// it, of the length that size gives.
func shrinkTo(size func(n int) int) rocksdb.InplaceCallback {
	return func(existing, delta []byte) (rocksdb.UpdateStatus, int, []byte) {
		if existing == nil {
			return rocksdb.UpdatedNewValue, 0, bytes.Repeat([]byte{'c'}, len(delta))
		}
		n := size(len(existing))
		copy(existing, bytes.Repeat([]byte{'b'}, n))
		return rocksdb.UpdatedInplace, n, nil
	}
}

func TestDBTestInPlaceUpdate_InPlaceUpdateCallbackSmallerSize(t *testing.T) {
	inPlaceTest(t, shrinkTo(func(n int) int { return n - 1 }), func(x *dbTest) {
		x.mustPut(1, "key", dummyString(10, 'a'))
		x.wantGet(1, "key", dummyString(10, 'c'))
		for i := 10; i > 0; i-- {
			x.mustPut(1, "key", dummyString(i, 'a'))
			x.wantGet(1, "key", dummyString(i-1, 'b'))
		}
		x.wantVersions(1, 1)
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateCallbackSmallerVarintSize(t *testing.T) {
	inPlaceTest(t, shrinkTo(func(int) int { return 1 }), func(x *dbTest) {
		x.mustPut(1, "key", dummyString(265, 'a'))
		x.wantGet(1, "key", dummyString(265, 'c'))
		for i := 265; i > 0; i-- {
			x.mustPut(1, "key", dummyString(i, 'a'))
			x.wantGet(1, "key", "b")
		}
		x.wantVersions(1, 1)
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateCallbackLargeNewValue(t *testing.T) {
	anew := func(_, delta []byte) (rocksdb.UpdateStatus, int, []byte) {
		return rocksdb.UpdatedNewValue, 0, bytes.Repeat([]byte{'c'}, len(delta))
	}
	inPlaceTest(t, anew, func(x *dbTest) {
		for i := range 10 {
			x.mustPut(1, "key", dummyString(i, 'a'))
			x.wantGet(1, "key", dummyString(i, 'c'))
		}
		x.wantVersions(10, 1)
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateCallbackNoAction(t *testing.T) {
	nothing := func(_, _ []byte) (rocksdb.UpdateStatus, int, []byte) { return rocksdb.UpdateFailed, 0, nil }
	inPlaceTest(t, nothing, func(x *dbTest) {
		x.mustPut(1, "key", "a")
		x.wantGet(1, "key", "NOT_FOUND")
	})
}

func TestDBTestInPlaceUpdate_InPlaceUpdateAndSnapshot(t *testing.T) {
	inPlaceTest(t, nil, func(x *dbTest) {
		for i := 2; i > 0; i-- {
			s := x.db.GetSnapshot()
			if s != nil {
				t.Fatal("a snapshot")
			}
			x.putAndGet(dummyString(i, 'a'))
			x.must(x.db.ReleaseSnapshot(s))
		}
		x.wantVersions(1, 1)
	})
}

// The callback gets the value of a table when the memtable has none.
func TestInPlaceUpdateOfFlushedValue(t *testing.T) {
	inPlaceTest(t, shrinkTo(func(n int) int { return n - 1 }), func(x *dbTest) {
		x.mustPut(1, "key", dummyString(10, 'a'))
		x.flush(1)
		x.mustPut(1, "key", "delta")
		x.wantGet(1, "key", dummyString(9, 'b'))
		x.mustPut(1, "key", "delta")
		x.wantGet(1, "key", dummyString(8, 'b'))
	})
}

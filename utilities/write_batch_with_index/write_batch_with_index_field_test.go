// No upstream twin: public reports about batches with an index, each with the
// outcome that is right. Their ids stand beside the tests.

package writebatchwithindex_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// overDB is the batch laid over the database.
func (x *wbwiTest) overDB() *rocksdb.BaseDeltaIterator {
	return x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&x.ro), &x.ro)
}

func TestFieldBatchBounds(t *testing.T) { // cockroachdb/pebble#3564
	x := newWBWITest(t, true)
	x.open()
	x.dbDo("put a db", "put b db", "put c db", "put d db")
	x.do(x.cf(), "put a1 wb", "put b1 wb", "put c1 wb", "put d1 wb", "del c")
	lower, upper := []byte("a"), []byte("c")
	x.ro.IterateLowerBound, x.ro.IterateUpperBound = lower, upper
	it1 := x.overDB()
	x.ro.IterateLowerBound, x.ro.IterateUpperBound = []byte("b"), []byte("d")
	it2 := x.overDB()
	lower[0], upper[0] = 'x', 'y' // the caller's, which were copied
	x.walk(it1, "first -> a=db", "next -> a1=wb", "next -> b=db", "next -> b1=wb", "next -> -",
		"seek c -> -", "for_prev z -> b1=wb")
	x.walk(it2, "first -> b=db", "next -> b1=wb", "next -> c1=wb", "next -> -",
		"seek a -> b=db", "for_prev z -> c1=wb", "last -> c1=wb")
	it1.SetBounds([]byte("b"), []byte("d"))
	x.walk(it1, "first -> b=db", "next -> b1=wb", "next -> c1=wb", "next -> -")
	x.must(it1.Close(), it2.Close())

	// Without options the batch's entries have no bounds.
	it := x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&x.ro), nil)
	x.walk(it, "first -> a1=wb", "next -> b=db", "next -> b1=wb", "next -> c1=wb", "next -> d1=wb", "next -> -")
	x.must(it.Close())
}

func TestFieldBatchPrefix(t *testing.T) { // facebook/rocksdb#14610
	eachMode(t, func(x *wbwiTest) {
		x.o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(4)
		x.open()
		x.do(x.cf(), "put foo:1 1", "put foo:2 2", "put goo:1 1")
		x.ro.PrefixSameAsStart = true
		it := x.overDB()
		x.walk(it, "seek foo: -> foo:1=1", "next -> foo:2=2", "next -> -", "first -> foo:1=1", "next -> foo:2=2", "next -> -",
			"last -> goo:1=1", "prev -> -", "for_prev foo:9 -> foo:2=2", "prev -> foo:1=1", "prev -> -")
		x.must(it.Close())
		x.dbDo("put foo:3 3", "put goo:0 0")
		it = x.overDB()
		x.walk(it, "seek foo: -> foo:1=1", "next -> foo:2=2", "next -> foo:3=3", "prev -> foo:2=2", "next -> foo:3=3", "next -> -")
		x.must(it.Close())
	})
}

func TestFieldBatchSeekForPrev(t *testing.T) { // facebook/rocksdb#4559
	x := newWBWITest(t, false)
	x.do(nil, "put k 1", "put k 2", "put j 0", "put l 9")
	x.walkEntries(x.batch.NewIterator(nil),
		"seek k -> PUT(k):2", "next -> PUT(k):1", "next -> PUT(l):9",
		"for_prev k -> PUT(k):1", "prev -> PUT(k):2", "prev -> PUT(j):0",
		"for_prev kz -> PUT(k):1", "for_prev i -> -")
}

func TestFieldBatchMergePinned(t *testing.T) { // facebook/rocksdb#5577
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put A 1")
		x.must(x.db.Flush(nil))
		x.do(nil, "merge A 2")
		x.expectBoth("A", "1,2")
		var v rocksdb.PinnableSlice
		x.must(x.db.GetInto(nil, []byte("A"), &v)) // pins a block
		for range 2 {
			err := x.batch.GetFromBatchAndDB(x.db, nil, x.cf(), []byte("A"), &v)
			x.expect("A", outcome(v.Data(), err), "1,2")
		}
		v.Release()
	})
}

func TestFieldBatchMerge(t *testing.T) { // facebook/rocksdb#8135
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put k0 v0", "put kd vd")
		x.do(x.cf(), "put k v1", "merge k v2", "merge k0 v1", "del kd", "merge kd x", "merge kn n1", "merge kn n2")
		x.expectBatch(x.cf(), "k", "v1,v2", "kd", "x", "k0", mergeInProgress, "kn", mergeInProgress)
		x.expectBatch(nil, "k", invalidArgument, "kd", invalidArgument, "k0", mergeInProgress)
		x.expectBoth("k", "v1,v2", "k0", "v0,v1", "kd", "x", "kn", "n1,n2")
		it := x.overDB()
		x.walk(it, "first -> k=v1,v2", "next -> k0=v0,v1", "next -> kd=x", "next -> kn=n1,n2", "next -> -",
			"last -> kn=n1,n2", "prev -> kd=x", "prev -> k0=v0,v1", "prev -> k=v1,v2", "prev -> -")
		x.must(it.Close())
	})
}

//go:build syncpoint

// Port of db/db_tailing_iter_test.cc (TailingIteratorTrimSeekToNext).

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBTestTailingIterator_TailingIteratorTrimSeekToNext(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		const records = 500
		small := func(o *contract.Options) {
			o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 150<<10, 3, 2
		}
		x.pikachu(small)
		value := dummyString(1024, 'a')
		bound := func(ro *contract.ReadOptions) { ro.IterateUpperBound = []byte(tailKey("00b0", 0)) }
		it, itn, ith := x.tail(1, bound), x.tail(1, bound), x.tail(1, bound)
		held, deleted, timesDeleted := 0, 0, 0
		for _, point := range []string{"ForwardIterator::SeekInternal:Return", "ForwardIterator::Next:Return"} {
			syncpoint.SetCallBack(point, func(f any) { deleted, held = f.(*db.ForwardIterator).TestCheckDeletedIters() })
		}
		null, copied := countHits("ForwardIterator::RenewIterators:Null"), countHits("ForwardIterator::RenewIterators:Copy")
		syncpoint.EnableProcessing()
		defer syncpoint.Reset()
		// Entries within the bound are all in the newest tables, or in memtables.
		trimmed := func() {
			t.Helper()
			if held > 1 {
				t.Errorf("%d tables and levels held, %d let go", held, deleted)
			}
			if deleted > 0 {
				timesDeleted++
			}
		}
		for i := 1; i < records; i++ {
			key := tailKey("00a0", i*5)
			x.mustPut(1, key, value)
			x.mustPut(1, tailKey("00b0", i*5), value)
			if i%100 == 99 {
				x.flush(1)
				x.must(x.full().TestWaitForCompact())
				ith.Seek([]byte(tailKey("00a0", i*5/2)))
				for j := (i + 1) * 5 / 2; j < i*5; j += 5 {
					if ith.Next(); !ith.Valid() {
						t.Fatalf("not valid at %d of %d; %v", j, i, ith.Status())
					}
				}
			}
			it.walk("seek "+tailKey("00a0", i*5-2), "="+key)
			trimmed()
			if i == 1 {
				itn.walk("first", "="+key)
			} else {
				itn.walk("next", "="+key)
			}
			trimmed()
		}
		if *null == 0 || *copied == 0 || timesDeleted < records {
			t.Errorf("%d tables let go and %d held were kept when the state changed; %d times some were let go", *null, *copied, timesDeleted)
		}
		syncpoint.Reset()
		for _, iter := range []testIter{it, itn, ith} {
			iter.Close()
		}

		// What would have to be read is not.
		o := x.currentOptions()
		small(&o)
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, blockTable(o, func(b *contract.BlockBasedTableOptions) { b.NoBlockCache = true }))
		cached := x.tail(1, bound, func(ro *contract.ReadOptions) { ro.ReadTier = contract.BlockCacheTier })
		cached.Seek([]byte(tailKey("00a0", records/2*5-2)))
		cached.wantError(contract.IsIncomplete)
		cached.Close()

		// Seeks that go back find again what was let go.
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
		back := x.tail(1, bound)
		for i := 2 * records; i > 0; i-- {
			key := tailKey("00a0", i*5)
			x.mustPut(1, key, value)
			if i%100 == 99 {
				x.flush(1)
			}
			back.walk("seek "+tailKey("00a0", i*5-2), "="+key)
		}
	})
}

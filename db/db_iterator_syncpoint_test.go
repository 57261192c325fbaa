//go:build syncpoint

// Port of db/db_iterator_test.cc (cases with sync points) and of
// DBMergeOperatorTest.TailingIteratorMemtableUnrefedBySomeoneElse and
// DBMergeOperandTest.FlushedMergeOperandReadAfterFreeBug. Differs: SuperVersions
// are counted, not kept by a thread, so that there are no local ones to look at.

package db_test

import (
	"fmt"
	"sync"
	"testing"

	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// countHits counts how often a sync point is met.
func countHits(name string) *int {
	n := new(int)
	syncpoint.SetCallBack(name, func(any) { *n++ })
	return n
}

func TestDBIteratorTest_DBIteratorBoundOptimizationTest(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		for v := uint32(2); v <= 4; v++ {
			hits := countHits("BlockBasedTableIterator:out_of_bound")
			syncpoint.EnableProcessing()
			x.destroyAndReopen(blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.FormatVersion = v; blockAKey(t) }))
			x.puts(0, "foo1", "bar1", "foo2", "bar2", "foo4", "bar4", "flush")
			it := x.iter(0, upperBound("foo3"))
			for i, s := range []string{"seek foo", "next", "next"} {
				it.walk(s, []string{"=foo1", "=foo2", "(invalid)"}[i])
				if want := i / 2; *hits != want {
					t.Fatalf("%s: the bound was met %d times, not %d", s, *hits, want)
				}
			}
			syncpoint.Reset()
		}
	})
}

func TestDBIteratorTest_CreationFailure(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		syncpoint.SetCallBack("DBImpl::NewInternalIterator:StatusCallback", func(arg any) { *arg.(*error) = contract.Corruption("test status") })
		syncpoint.EnableProcessing()
		it := x.iter(0)
		if it.Valid() {
			t.Fatal("valid")
		}
		it.SeekToFirst()
		it.wantError(contract.IsCorruption)
		syncpoint.Reset()
	})
}

func TestDBIteratorTest_AvoidReseekLevelIterator(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSize = 800 })
		o.Compression = contract.NoCompression
		x.reopen(o)
		v := newRandom().str(180)
		// Four keys a block.
		x.puts(0, "1", v, "2", v, "3", v, "4", v, "5", v, "6", v, "7", v, "flush", "8", v, "9", v, "flush")
		x.compact(0, "", "")
		files, seeks := countHits("LevelIterator::Seek:BeforeFindFile"), countHits("IndexBlockIter::Seek:0")
		syncpoint.EnableProcessing()
		it := x.iter(0)
		for i, s := range []struct {
			move         string
			files, seeks int
		}{
			{"seek 1", 1, 1}, {"seek 2", 1, 1}, {"seek 3", 1, 1}, {"next", 1, 1}, {"seek 5", 1, 2}, {"seek 6", 1, 2}, {"seek 7", 1, 3},
			// A boundary key that equals the target is no proof.
			{"seek 8", 2, 4}, {"seek 5", 3, 5}, {"next", 3, 5},
			{"seek 5", 3, 6}, // backwards
		} {
			it.walk(s.move)
			if !it.Valid() || *files != s.files || *seeks != s.seeks {
				t.Fatalf("step %d, %s: valid %v, %d searches of a file, %d seeks in index blocks; not %d and %d", i, s.move, it.Valid(), *files, *seeks, s.files, s.seeks)
			}
		}
		syncpoint.Reset()
	})
}

func TestDBIteratorTest_IteratorRefreshReturnSV(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.deleteRange(0, "a", "z")
	it := x.iter(0)
	syncpoint.SetCallBack("ArenaWrappedDBIter::Refresh:SV", func(any) {
		syncpoint.DisableProcessing()
		x.mustPut(0, "dummy", "new SV")
		x.flush(0)
	})
	syncpoint.EnableProcessing()
	x.must(it.Refresh(nil))
	x.must(it.Close())
	if err := x.db.Close(); err != nil { // a state still referenced would be an error
		t.Fatal(err)
	}
	x.db = nil
}

// consistentView lets check make and look at iterators over the default and other
// families, with new values and a flush between the first family's view and the
// second's; s is a snapshot from before, or nil.
func (x *dbTest) consistentView(families []string, atomic, snapshot bool, check func(s contract.Snapshot)) {
	x.Helper()
	o := x.defaultOptions()
	o.AtomicFlush = atomic
	x.createAndReopenWithCF(families, o)
	put := func(suffix string) {
		for i := range len(families) + 1 {
			x.mustPut(i, fmt.Sprintf("cf%d_key", i), fmt.Sprintf("cf%d_val%s", i, suffix))
		}
	}
	put("")
	var s contract.Snapshot
	if snapshot {
		s = x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(s)
	}
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::BGWorkFlush:done", Successor: "DBImpl::MultiCFSnapshot::BeforeCheckingSnapshot"})
	var once sync.Once
	syncpoint.SetCallBack("DBImpl::MultiCFSnapshot::AfterRefSV", func(any) {
		once.Do(func() {
			put("_new")
			x.flush(map[bool]int{false: 1, true: 0}[atomic])
		})
	})
	syncpoint.EnableProcessing()
	check(s)
	syncpoint.Reset()
}

// consistentIterators looks at one iterator for each of three families.
func (x *dbTest) consistentIterators(atomic bool, snapshot bool, suffix string) {
	x.Helper()
	x.consistentView([]string{"cf_1", "cf_2"}, atomic, snapshot, func(s contract.Snapshot) {
		x.Helper()
		ro := contract.DefaultReadOptions()
		ro.Snapshot = s
		its, err := x.db.NewIterators(&ro, x.cfs)
		x.must(err)
		for i, it := range its {
			it.SeekToFirst()
			if got, want := iterStatus(it), fmt.Sprintf("cf%d_key->cf%d_val%s", i, i, suffix); got != want {
				x.Errorf("%s, not %s", got, want)
			}
			x.must(it.Close())
		}
	})
}

func TestDBIteratorTest_IteratorsConsistentViewImplicitSnapshot(t *testing.T) {
	newDBTest(t).consistentIterators(false, false, "_new")
}

func TestDBIteratorTest_IteratorsConsistentViewExplicitSnapshot(t *testing.T) {
	newDBTest(t).consistentIterators(true, true, "")
}

func TestDBMergeOperatorTest_TailingIteratorMemtableUnrefedBySomeoneElse(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend")
	x.mustMerge(0, "key", "sst")
	x.flush(0)
	x.mustMerge(0, "key", "memtable")
	other := x.iter(0) // the only one to hold the state, until the second operand is met
	first, next := 0, 0
	syncpoint.SetCallBack("DBIter::MergeValuesNewToOld:PushedFirstOperand", func(any) {
		first++
		x.flush(0)
	})
	syncpoint.SetCallBack("DBIter::MergeValuesNewToOld:SteppedToNextOperand", func(any) {
		next++
		x.must(other.Close())
	})
	syncpoint.EnableProcessing()
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.Tailing = true })
	it.walk("seek key", "key->sst,memtable")
	if first != 1 || next != 1 {
		t.Error(first, next)
	}
}

func TestDBMergeOperandTest_FlushedMergeOperandReadAfterFreeBug(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend")
	x.mustMerge(0, "key", "value")
	const flush, flushed = "DBMergeOperandTest::FlushedMergeOperandReadAfterFreeBug:PreFlush", "DBMergeOperandTest::FlushedMergeOperandReadAfterFreeBug:PostFlush"
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::GetImpl:PostMemTableGet:0", Successor: flush},
		syncpoint.Pair{Predecessor: flushed, Successor: "DBImpl::GetImpl:PostMemTableGet:1"})
	syncpoint.EnableProcessing()
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process(flush)
		o := contract.DefaultFlushOptions()
		if err := x.db.Flush(&o); err != nil {
			t.Error(err)
		}
		syncpoint.Process(flushed)
	})
	x.wantOperands("key", "value")
	wg.Wait()
}

// consistentCoalescing looks at one iterator over four families.
func (x *dbTest) consistentCoalescing(atomic, snapshot bool, check func(it func() multiIter)) {
	x.Helper()
	x.consistentView(threeFamilies, atomic, snapshot, func(s contract.Snapshot) {
		check(func() multiIter { return x.coalesce(order0123, atSnapshot(s)) })
	})
}

func TestCoalescingIteratorTest_ConsistentViewExplicitSnapshot(t *testing.T) {
	newDBTest(t).consistentCoalescing(true, true, func(it func() multiIter) {
		it().walk("seek ", "cf0_key->cf0_val", "next", "cf1_key->cf1_val")
		it().walk("for-prev ", "(invalid)", "for-prev cf2_key", "cf2_key->cf2_val", "prev", "cf1_key->cf1_val")
	})
}

func TestCoalescingIteratorTest_ConsistentViewImplicitSnapshot(t *testing.T) {
	newDBTest(t).consistentCoalescing(false, false, func(it func() multiIter) {
		it().walk("seek cf2_key", "cf2_key->cf2_val_new", "next", "cf3_key->cf3_val_new")
		it().walk("for-prev ", "(invalid)", "for-prev cf1_key", "cf1_key->cf1_val_new", "prev", "cf0_key->cf0_val_new")
	})
}

func TestCoalescingIteratorTest_AllowUnpreparedValue_Corruption(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles = true
	x.sharedKeys(o)
	x.flush(0)
	it := x.coalesce(order3201, func(ro *contract.ReadOptions) { ro.AllowUnpreparedValue = true }).it
	it.SeekToFirst()
	if !it.Valid() || string(it.Key()) != "key_1" || len(it.Value()) != 0 {
		t.Fatal(it.Status())
	}
	syncpoint.SetCallBack("BlobFileReader::GetBlob:TamperWithResult", func(arg any) { p := arg.(*[]byte); *p = (*p)[1:] })
	syncpoint.EnableProcessing()
	if it.PrepareValue() || it.Valid() || !contract.IsCorruption(it.Status()) {
		t.Error(it.Status())
	}
	syncpoint.Reset()
	x.must(it.Close())
}

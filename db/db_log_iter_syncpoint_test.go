//go:build syncpoint

// Port of db/db_log_iter_test.cc (the cases with sync points).

package db_test

import (
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBTestXactLogIterator_TransactionLogIteratorRace(t *testing.T) {
	for _, point := range []string{"WalManager::GetSortedWalFiles", "WalManager::GetSortedWalsOfType"} {
		t.Run(point, func(t *testing.T) {
			eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
				syncpoint.DisableProcessing()
				syncpoint.ClearTrace()
				for _, k := range []string{"key1", "key2", "key3"} {
					x.mustPut(0, k, dummyString(1024, 'a'))
					x.flush(0)
				}
				x.mustPut(0, "key4", dummyString(1024, 'a'))
				x.must(x.db.FlushWAL(false))
				x.expectRecords(4, x.updatesSince(0))
				// A log moves to the archive while the logs are listed.
				syncpoint.LoadDependency(syncpoint.Pair{Predecessor: point + ":1", Successor: "WalManager::PurgeObsoleteFiles:1"},
					syncpoint.Pair{Predecessor: "WalManager::PurgeObsoleteFiles:2", Successor: point + ":2"})
				syncpoint.EnableProcessing()
				fo := rocksdb.DefaultFlushOptions()
				fo.Wait = false
				x.must(x.db.Flush(&fo))
				x.mustPut(0, "key5", dummyString(1024, 'a'))
				x.must(x.db.FlushWAL(false))
				x.expectRecords(5, x.updatesSince(0))
				syncpoint.DisableProcessing()
			})
		})
	}
}

func TestDBTestXactLogIterator_TransactionLogIteratorCheckWhenArchive(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		x.createColumnFamilies([]string{"CF"}, x.defaultOptions())
		cf := x.cfs[len(x.cfs)-1]
		x.must(cf.Put(nil, []byte("key1"), []byte(dummyString(1024, 'a'))))
		for _, k := range []string{"key2", "key3", "key4"} {
			x.must(x.db.Put(nil, []byte(k), []byte(dummyString(1024, 'a'))))
			x.must(x.db.Flush(nil))
		}
		var hit atomic.Bool
		syncpoint.SetCallBack("WalManager::PurgeObsoleteFiles:1", func(any) {
			x.expectRecords(4, x.updatesSince(0))
			hit.Store(true)
		})
		syncpoint.EnableProcessing()
		x.must(cf.Flush(nil))
		x.must(x.full().TestSwitchWAL())
		x.must(x.full().TestWaitForBackgroundWork())
		if !hit.Load() {
			t.Error("no log moved to the archive")
		}
		syncpoint.Reset()
	})
}

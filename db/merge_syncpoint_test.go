//go:build syncpoint

// Port of db/merge_test.cc (a flush whose MANIFEST record another thread writes).

package db_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// While SetOptions writes to the MANIFEST a compaction and a flush queue for it, and
// the compaction writes for both. When the flush finds that it is done, and has not
// got the mutex back yet, its operand must be read once: from the table, and not from
// the memtable too.
func TestMergeTest_MergeWithCompactionAndFlush(t *testing.T) {
	const prefix = "testCountersWithFlushAndCompaction::"
	c := openCounters(t, false, 0)
	defer func() { c.must(c.db.Close()) }()
	c.must(c.db.Put(nil, []byte("1"), []byte("1")))
	c.flush()

	// They queue in this order: SetOptions, the compaction, the flush.
	var queued, written, done atomic.Int32
	syncpoint.SetCallBack("VersionSet::LogAndApply:BeforeWriterWaiting", func(any) {
		switch queued.Add(1) {
		case 2:
			syncpoint.Process(prefix + "bg_compact_thread:0")
		case 3:
			syncpoint.Process(prefix + "bg_flush_thread:0")
		}
	})
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifest", func(any) {
		if written.Add(1) == 1 {
			syncpoint.Process(prefix + "set_options_thread:0")
			syncpoint.Process(prefix + "set_options_thread:1")
		}
	})
	syncpoint.SetCallBack("VersionSet::LogAndApply:WakeUpAndDone", func(arg any) {
		mu := arg.(sync.Locker)
		done.Add(1)
		mu.Unlock()
		syncpoint.Process(prefix + "bg_flush_thread:1")
		syncpoint.Process(prefix + "bg_flush_thread:2")
		mu.Lock()
	})
	syncpoint.LoadDependency(
		syncpoint.Pair{Predecessor: prefix + "set_options_thread:0", Successor: prefix + "BeforeCompact"},
		syncpoint.Pair{Predecessor: prefix + "bg_compact_thread:0", Successor: prefix + "BeforeIncCounters"},
		syncpoint.Pair{Predecessor: prefix + "bg_flush_thread:0", Successor: prefix + "set_options_thread:1"},
		syncpoint.Pair{Predecessor: prefix + "bg_flush_thread:1", Successor: prefix + "BeforeVerification"},
		syncpoint.Pair{Predecessor: prefix + "AfterGet", Successor: prefix + "bg_flush_thread:2"})
	// SetOptions itself only waits for its turn.
	syncpoint.SetCallBack("DBImpl::SetOptions:dummy_edit", func(arg any) { arg.(*version.VersionEdit).Clear() })
	syncpoint.EnableProcessing()
	defer syncpoint.Reset()

	db := c.db.(plainDB).DB
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.SetOptions(map[string]string{"disable_auto_compactions": "false"}); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process(prefix + "BeforeCompact")
	wg.Go(func() {
		if err := db.CompactRange(nil, nil, nil); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process(prefix + "BeforeIncCounters")
	c.add("test-key", 1)
	c.must(db.Flush(&rocksdb.FlushOptions{Wait: false}))
	syncpoint.Process(prefix + "BeforeVerification")
	c.want("test-key", 1)
	syncpoint.Process(prefix + "AfterGet")
	wg.Wait()
	if done.Load() != 1 {
		t.Errorf("%d writers were done by another", done.Load())
	}
	c.want("test-key", 1)
}

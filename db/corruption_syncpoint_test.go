//go:build syncpoint

// Port of db/corruption_test.cc (cases that hook into the engine).

package db_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestCorruptionTest_FlushKeyOrderCheck(t *testing.T) {
	x := newCorruptionTest(t)
	for _, k := range []string{"foo1", "foo2", "foo3", "foo4"} {
		x.mustPut(0, k, "v1")
	}
	n := 0
	syncpoint.SetCallBack("MemTableIterator::Next:0", func(arg any) {
		if n++; n == 3 { // some keys come again
			it := arg.(*rep.InlineSkipListIterator)
			it.Prev()
			it.Prev()
		}
	})
	syncpoint.EnableProcessing()
	err := x.db.Flush(nil)
	syncpoint.DisableProcessing()
	syncpoint.ClearAllCallBacks()
	if err == nil || n < 3 {
		t.Errorf("%v after %d steps", err, n)
	}
}

// failAt makes the engine fail at a point while f runs.
func failAt(point string, f func()) {
	syncpoint.SetCallBack(point, func(arg any) { *arg.(*error) = contract.IOError("Injected") })
	syncpoint.EnableProcessing()
	f()
	syncpoint.DisableProcessing()
	syncpoint.ClearAllCallBacks()
}

// crashDuringRecovery writes with fill, cuts bytes off a log, counted from the
// newest, lets a recovery fail, and opens.
func crashDuringRecovery(t *testing.T, buffers int, fill func(x *corruptionTest), log int, check func(x *corruptionTest)) {
	t.Helper()
	for _, avoidFlush := range []bool{true, false} {
		for _, track := range []bool{false, true} {
			t.Run(fmt.Sprintf("avoid_flush=%t,track=%t", avoidFlush, track), func(t *testing.T) {
				x := newCorruptionTest(t)
				o := x.other(func(o *rocksdb.Options) {
					o.TrackAndVerifyWALsInManifest = track
					o.WALRecoveryMode = rocksdb.PointInTimeRecovery
					o.MaxWriteBufferNumber = buffers
				})
				x.fresh(o)
				x.createColumnFamilies([]string{"test_cf"}, o)
				names := []string{"default", "test_cf"}
				x.reopenWithColumnFamilies(names, o)
				fill(x)
				x.close()
				logs := x.files(contract.WalFile)
				if len(logs) < log {
					t.Fatal(logs)
				}
				path := logs[len(logs)-log]
				info, err := os.Stat(path)
				x.must(err)
				x.must(os.Truncate(path, info.Size()-8))
				o.AvoidFlushDuringRecovery = true
				failAt("DBImpl::GetLogSizeAndMaybeTruncate:0", func() { err = x.tryReopenWithColumnFamilies(names, o) })
				if rocksdb.CodeOf(err) != rocksdb.CodeIOError || !strings.Contains(err.Error(), "Injected") {
					t.Fatal(err)
				}
				o.AvoidFlushDuringRecovery = avoidFlush
				x.reopenWithColumnFamilies(names, o)
				check(x)
			})
		}
	}
}

func TestCrashDuringRecoveryWithCorruptionTest_CrashDuringRecovery(t *testing.T) {
	crashDuringRecovery(t, 8, func(x *corruptionTest) {
		x.mustPut(1, "old_key", "dontcare")
		x.flush(1)
		for i := range 2 {
			x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
			x.must(x.full().TestSwitchMemtable(x.cf(0).Impl()))
		}
	}, 2, func(x *corruptionTest) {
		x.wantGet(1, "old_key", "dontcare")
		x.wantGet(0, "key0", "value0")
		x.wantGet(0, "key1", "NOT_FOUND") // its log was cut
	})
}

func TestCrashDuringRecoveryWithCorruptionTest_CrashDuringRecoveryWithFlush(t *testing.T) {
	crashDuringRecovery(t, 2, func(x *corruptionTest) {
		x.mustPut(1, "old_key", "dontcare")
		for i := range 2 {
			x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
			x.flush(0)
		}
		x.mustPut(1, "dontcare", "dontcare")
	}, 1, func(x *corruptionTest) {
		x.wantGet(1, "old_key", "dontcare")
		for i := range 2 {
			x.wantGet(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
		}
		x.wantGet(1, "dontcare", "NOT_FOUND")
	})
}

// Port of db/db_write_buffer_manager_test.cc: one budget for several databases,
// and budgets during the recovery of logs; writers that are made to wait are in
// db_write_buffer_manager_syncpoint_test.go.

package db_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// eachCost runs f without and with a cache that the memory is charged to.
func eachCost(t *testing.T, f func(x *dbTest, c rocksdb.Cache)) {
	for _, cost := range []bool{false, true} {
		t.Run(fmt.Sprint(cost), func(t *testing.T) {
			var c rocksdb.Cache
			if cost {
				c = rocksdb.NewLRUCache(4 << 20)
			}
			f(newDBTest(t), c)
		})
	}
}

// sharing opens n more databases, each in a directory of its own.
func (x *dbTest) sharing(n int, o rocksdb.Options) (dbs []*rocksdb.DB) {
	x.Helper()
	for i := range n {
		d, err := rocksdb.Open(filepath.Join(x.TempDir(), fmt.Sprint("shared", i)), o)
		x.must(err)
		dbs = append(dbs, d)
	}
	x.Cleanup(func() {
		for _, d := range dbs {
			if err := d.Close(); err != nil {
				x.Error(err)
			}
		}
	})
	return dbs
}

func TestDBWriteBufferManagerTest_StopSwitchingMemTablesOnceFlushing(t *testing.T) {
	eachCost(t, func(x *dbTest, c rocksdb.Cache) {
		o := x.currentOptions()
		o.ArenaBlockSize, o.WriteBufferSize = 4<<10, 1<<20
		o.WriteBufferManager = rocksdb.NewWriteBufferManager(512<<10, c, false)
		x.reopen(o)
		shared := x.sharing(1, o)[0]
		// The last write takes all of the budget; only a write to the other
		// database makes it flush something.
		for _, full := range []bool{false, true} {
			x.mustPut(0, key(1), dummyString(256<<10, 'a'))
			same(t, "full", o.WriteBufferManager.ShouldFlush(), full)
		}
		wake := sleepingTask(x.env, rocksdb.HighPriority)
		for i := range 3 {
			x.must(shared.Put(nil, []byte(key(1)), []byte("a")))
			for _, p := range []string{"rocksdb.num-immutable-mem-table", "rocksdb.mem-table-flush-pending"} {
				v, _ := shared.GetProperty(p)
				same(t, p, v, fmt.Sprint(min(i, 1)))
			}
		}
		wake()
	})
}

// recoveryBudget are options with which only the budget asks for flushes.
func (x *dbTest) recoveryBudget(limit uint64, enforce bool) rocksdb.Options {
	o := x.currentOptions()
	o.ArenaBlockSize, o.WriteBufferSize, o.MaxWriteBufferNumber = 4096, 10<<20, 10
	o.DisableAutoCompactions, o.AvoidFlushDuringRecovery = true, true
	o.EnforceWriteBufferManagerDuringRecovery = enforce
	o.WriteBufferManager = rocksdb.NewWriteBufferManager(limit, nil, true)
	return o
}

// fillBudget writes 2.5 MB.
func (x *dbTest) fillBudget(d *rocksdb.DB) {
	x.Helper()
	for i := range 50 {
		x.must(d.Put(nil, []byte(key(i)), []byte(dummyString(50<<10, 'a'))))
	}
}

func TestDBWriteBufferManagerTest_WriteBufferManagerLimitDuringWALRecoverySingleDB(t *testing.T) {
	const limit = 1 << 20
	x := newDBTest(t)
	// recovered gives the memory after a recovery.
	recovered := func(enforce bool) uint64 {
		x.destroyAndReopen(x.recoveryBudget(100<<20, enforce))
		x.fillBudget(x.db)
		same(t, "tables", x.totalTableFiles(0), 0)
		o := x.recoveryBudget(limit, enforce)
		x.reopen(o)
		x.waitForFlush(0)
		return o.WriteBufferManager.MutableMemtableMemoryUsage()
	}
	free := recovered(false)
	if free <= limit {
		t.Errorf("%d bytes of memtables without enforcement", free)
	}
	same(t, "tables", x.totalTableFiles(0), 0)
	if enforced := recovered(true); enforced >= limit {
		t.Errorf("%d bytes of memtables", enforced)
	}
	same(t, "tables", x.totalTableFiles(0), int(free/(limit*7/8)+1))
}

func TestDBWriteBufferManagerTest_WriteBufferManagerLimitDuringWALRecoveryMultipleDBs(t *testing.T) {
	const limit = 4 << 20
	x := newDBTest(t)
	o := x.recoveryBudget(limit, false)
	o.ArenaBlockSize = 2048
	used := o.WriteBufferManager.MutableMemtableMemoryUsage
	x.destroyAndReopen(o)
	x.fillBudget(x.db)
	same(t, "tables", x.totalTableFiles(0), 0)
	if n := used(); n >= limit {
		t.Errorf("%d bytes of memtables", n)
	}
	x.close()
	same(t, "bytes of memtables", used(), 0)
	x.fillBudget(x.sharing(1, o)[0])
	x.reopen(o)
	x.waitForFlush(0)
	same(t, "tables", x.totalTableFiles(0), 0)
	if n := used(); n <= limit {
		t.Errorf("%d bytes of memtables without enforcement", n)
	}
	o.EnforceWriteBufferManagerDuringRecovery = true
	x.reopen(o)
	x.waitForFlush(0)
	if n := x.totalTableFiles(0); n == 0 || used() >= limit {
		t.Errorf("%d tables, %d bytes of memtables", n, used())
	}
	x.close()
}

func TestDBWriteBufferManagerTest_DoubleSchedulingBugDuringWALRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.recoveryBudget(128<<10, true)
	o.WriteBufferSize = 64 << 10
	x.destroyAndReopen(o)
	for i := range 50 {
		x.mustPut(0, key(i), dummyString(4096, 'a'))
	}
	x.reopen(o)
	for i := range 50 {
		x.wantGet(0, key(i), dummyString(4096, 'a'))
	}
}

func TestDBWriteBufferManagerTest_ReadOnlyRecoveryWithEnforceWBMDoesNotAssert(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.recoveryBudget(100<<20, true))
	x.fillBudget(x.db)
	same(t, "tables", x.totalTableFiles(0), 0)
	x.must(x.tryReadOnlyReopen(x.recoveryBudget(1<<20, true)))
	for i := range 50 {
		x.wantGet(0, key(i), dummyString(50<<10, 'a'))
	}
}

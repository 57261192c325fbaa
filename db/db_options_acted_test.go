// No upstream twin: options of the engine that other mirrored tests do not set.

package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 2000 {
		if f() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal(what)
}

// A limiter at zero holds automatic compactions back, but not manual ones, until
// it is raised.
func TestDBOptions_CompactionThreadLimiter(t *testing.T) {
	x := newDBTest(t)
	limiter := util.NewConcurrentTaskLimiter("limiter", 0)
	o := x.currentOptions()
	o.CompactionThreadLimiter = limiter
	o.Level0FileNumCompactionTrigger = 2
	x.destroyAndReopen(o)
	table := func() {
		x.mustPut(0, "a", "v")
		x.mustPut(0, "z", "v")
		x.flush(0)
	}
	for range 4 {
		table()
	}
	time.Sleep(50 * time.Millisecond)
	if n := x.numTableFilesAtLevel(0, 0); n != 4 {
		t.Fatalf("%d tables at level 0", n)
	}
	limiter.SetMaxOutstandingTask(1)
	eventually(t, "no compaction", func() bool { return x.numTableFilesAtLevel(0, 0) == 0 })
	x.must(x.db.WaitForCompact(nil))
	if n := limiter.GetOutstandingTask(); n != 0 {
		t.Fatalf("%d tokens are out", n)
	}
	limiter.SetMaxOutstandingTask(0)
	table()
	x.must(x.db.CompactRange(nil, nil, nil))
	if n := x.numTableFilesAtLevel(0, 0); n != 0 || limiter.GetOutstandingTask() != 0 {
		t.Fatalf("%d tables at level 0, %d tokens are out", n, limiter.GetOutstandingTask())
	}
}

// Recovery flushes as it goes where the memory budget says so.
func TestDBOptions_EnforceWriteBufferManagerDuringRecovery(t *testing.T) {
	for _, enforce := range []bool{true, false} {
		t.Run(fmt.Sprint(enforce), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.AvoidFlushDuringShutdown, o.AvoidFlushDuringRecovery = true, true
			o.EnforceWriteBufferManagerDuringRecovery = enforce
			x.destroyAndReopen(o)
			for i := range 200 {
				x.mustPut(0, key(i), dummyString(10000, 'v'))
			}
			o.WriteBufferManager = memtable.NewWriteBufferManager(500000, nil, false)
			x.reopen(o)
			if n := x.totalTableFiles(0); (n > 0) != enforce {
				t.Fatalf("%d tables", n)
			}
			for i := range 200 {
				x.wantGet(0, key(i), dummyString(10000, 'v'))
			}
		})
	}
}

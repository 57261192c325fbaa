//go:build syncpoint

// Port of db/db_write_buffer_manager_test.cc: writers that are made to wait.

package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// wbmStallTest holds flushes back until as many writers wait, or have been turned
// away, as the case wants.
type wbmStallTest struct {
	*dbTest
	o  rocksdb.Options
	wg sync.WaitGroup

	mu       sync.Mutex
	want     int          // how many of the following together let flushes go on
	blocked  int          // databases that wait for memory
	waiting  map[any]bool // writers that wait for the one of their database that does
	refused  int          // writers that do not want to wait
	firstOne chan struct{}
}

// eachStall runs f with a budget of 100 kB, without and with costs to a cache.
func eachStall(t *testing.T, f func(x *wbmStallTest)) {
	eachCost(t, func(d *dbTest, c rocksdb.Cache) {
		x := &wbmStallTest{dbTest: d, o: d.currentOptions(), waiting: map[any]bool{}, firstOne: make(chan struct{})}
		x.o.ArenaBlockSize, x.o.WriteBufferSize = 4096, 500000
		x.o.WriteBufferManager = rocksdb.NewWriteBufferManager(100000, c, true)
		f(x)
		endSyncPoints()
	})
}

// hold starts holding flushes back.
func (x *wbmStallTest) hold(want int) {
	x.want = want
	inOrder([2]string{"test:0", "DBImpl::BackgroundCallFlush:start"})
	syncpoint.SetCallBack("WBMStallInterface::BlockDB", func(any) {
		x.count(func() {
			if x.blocked++; x.blocked == 1 {
				close(x.firstOne)
			}
		})
	})
	syncpoint.SetCallBack("WriteThread::WriteStall::Wait", func(w any) { x.count(func() { x.waiting[w] = true }) })
	syncpoint.EnableProcessing()
}

func (x *wbmStallTest) count(what func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if what(); x.blocked+len(x.waiting)+x.refused == x.want {
		syncpoint.Process("test:0")
	}
}

// write puts in a goroutine; with slowdown false it has to be turned away.
func (x *wbmStallTest) write(cf *rocksdb.ColumnFamily, key string, slowdown bool) {
	x.wg.Go(func() {
		wo := *noWAL
		wo.NoSlowdown = !slowdown
		err := cf.Put(&wo, []byte(key), []byte("a"))
		if (err == nil) != slowdown {
			x.Errorf("write that may wait %v: %v", slowdown, err)
		}
		if !slowdown {
			x.count(func() { x.refused++ })
		}
	})
}

// writeFirst is the write that makes its database wait.
func (x *wbmStallTest) writeFirst(cf *rocksdb.ColumnFamily, key string) {
	x.write(cf, key, true)
	<-x.firstOne
}

// end waits for the writers and compares.
func (x *wbmStallTest) end(blocked, waiting, refused int) {
	x.Helper()
	x.wg.Wait()
	same(x, "databases that waited", x.blocked, blocked)
	same(x, "writers that waited", len(x.waiting), waiting)
	same(x, "writers turned away", x.refused, refused)
}

// fillFamilies uses the budget up with three families.
func (x *wbmStallTest) fillFamilies() {
	x.Helper()
	x.createAndReopenWithCF([]string{"cf1", "cf2", "cf3"}, x.o)
	x.putNoWAL(3, key(1), "a")
	x.flush(3)
	x.putNoWAL(3, key(1), "a")
	x.putNoWAL(0, key(1), "a")
	x.flush(0)
	x.putNoWAL(3, key(1), dummyString(30000, 'a'))
	x.putNoWAL(0, key(1), dummyString(40000, 'a'))
	x.putNoWAL(2, key(1), "a")
	x.putNoWAL(3, key(2), dummyString(40000, 'a'))
}

// fillDatabases opens n more databases and uses the budget up.
func (x *wbmStallTest) fillDatabases(n int) []*rocksdb.DB {
	x.Helper()
	x.createAndReopenWithCF([]string{"cf1", "cf2"}, x.o)
	dbs := x.sharing(n, x.o)
	for _, d := range dbs {
		x.must(d.Put(noWAL, []byte(key(1)), []byte(dummyString(20000, 'a'))))
	}
	x.putNoWAL(0, key(1), dummyString(30000, 'a'))
	return dbs
}

func TestDBWriteBufferManagerTest_SharedBufferAcrossCFs1(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		stalls := countPoint("WBMStallInterface::BlockDB")
		x.fillFamilies()
		same(t, "stalls while there is room", stalls.Load(), 0)
		x.putNoWAL(0, key(2), "a")
		x.wantGet(0, key(2), "a")
	})
}

func TestDBWriteBufferManagerTest_SharedWriteBufferAcrossCFs2(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		x.fillFamilies()
		const writers = 4
		x.hold(1 + writers)
		x.writeFirst(x.cf(1), "foo0")
		for i := range writers {
			x.write(x.cf(i), fmt.Sprint("foo", i+1), true)
		}
		x.end(1, writers, 0)
	})
}

func TestDBWriteBufferManagerTest_SharedWriteBufferLimitAcrossDB(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		dbs := x.fillDatabases(3)
		x.hold(len(dbs) + 1)
		x.writeFirst(x.cf(0), key(3))
		for _, d := range dbs {
			x.write(d.ColumnFamily, key(3), true)
		}
		x.end(len(dbs)+1, 0, 0)
	})
}

func TestDBWriteBufferManagerTest_SharedWriteBufferLimitAcrossDB1(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		dbs := x.fillDatabases(3)
		x.hold(2*len(dbs) + 1)
		x.writeFirst(x.cf(0), key(3))
		for i, d := range dbs {
			x.write(x.cf(i), key(3), true)
			x.write(d.ColumnFamily, key(3), true)
		}
		x.end(len(dbs)+1, len(dbs), 0)
	})
}

func TestDBWriteBufferManagerTest_MixedSlowDownOptionsSingleDB(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		x.fillFamilies()
		const writers = 4
		x.hold(1 + writers)
		x.writeFirst(x.cf(1), "foo0")
		for i := range writers {
			x.write(x.cf(i), fmt.Sprint("foo", i+1), i%2 == 1)
		}
		x.end(1, writers/2, writers/2)
	})
}

func TestDBWriteBufferManagerTest_MixedSlowDownOptionsMultipleDB(t *testing.T) {
	eachStall(t, func(x *wbmStallTest) {
		dbs := x.fillDatabases(4)
		x.hold(2*len(dbs) + 1)
		x.writeFirst(x.cf(0), "foo0")
		for i, d := range dbs {
			x.write(x.cf(0), fmt.Sprint("foo", i+1), i%2 == 0)
			x.write(d.ColumnFamily, fmt.Sprint("foo", i+1), i%2 == 0)
		}
		x.end(len(dbs)/2+1, len(dbs)/2, len(dbs))
	})
}

func TestDBWriteBufferManagerTest_RuntimeChangeableAllowStall(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferManager = rocksdb.NewWriteBufferManager(1, nil, true)
	x.destroyAndReopen(o)
	wake := sleepingTask(x.env, rocksdb.HighPriority)
	big := dummyString(10000, 'a')
	noWait := rocksdb.DefaultWriteOptions()
	noWait.NoSlowdown = true
	wantStall := func() {
		t.Helper()
		if err := x.putWith(0, key(0), big, &noWait); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete || !strings.Contains(err.Error(), "Write stall") {
			t.Errorf("error %v", err)
		}
	}
	wantStall()
	inOrder([2]string{"WBMStallInterface::BlockDB", "test:ChangeParameter"})
	syncpoint.EnableProcessing()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := x.put(0, key(0), big); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		syncpoint.Process("test:ChangeParameter")
		o.WriteBufferManager.SetAllowStall(false)
	})
	wg.Wait()
	endSyncPoints()
	x.mustPutWith(0, key(0), big, &noWait)
	o.WriteBufferManager.SetAllowStall(true)
	wantStall()
	wake()
}

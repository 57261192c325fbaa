//go:build syncpoint

// Port of db/listener_test.cc (the cases that need points in the engine).

package db_test

import (
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	inc "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestEventListenerTest_MultiCF(t *testing.T) {
	for name, atomicFlush := range map[string]bool{"each": false, "atomic": true} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			l := &flushListener{t: t, env: x.env}
			o := x.flushListenerOptions(l)
			o.WriteBufferSize, o.AtomicFlush = 110<<10, atomicFlush
			x.createAndReopenWithCF(listenerFamilies, o)
			x.putToFamilies(0)
			syncpoint.EnableProcessing()
			var dbs []inc.DBRef
			for i := range listenerFamilies {
				syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::NotifyOnFlushCompleted::PostAllOnFlushCompleted",
					Successor: "EventListenerTest.MultiCF:PreVerifyListener"})
				x.flush(i + 1)
				syncpoint.Process("EventListenerTest.MultiCF:PreVerifyListener")
				dbs = append(dbs, x.full())
				l.wantFlushes(dbs, listenerFamilies[:i+1])
			}
			syncpoint.DisableProcessing()
		})
	}
}

func TestEventListenerTest_OnDBShutdownBeginOnFailedOpen(t *testing.T) {
	x := newDBTest(t)
	x.close()
	l := &shutdownListener{}
	o := x.currentOptions()
	o.Listeners = []inc.EventListener{l}
	syncpoint.SetCallBack("PersistRocksDBOptions:create", func(any) { x.fault.SetFilesystemActive(false, inc.IOError("Not active")) })
	syncpoint.SetCallBack("PersistRocksDBOptions:written", func(any) { x.fault.SetFilesystemActive(true, nil) })
	syncpoint.EnableProcessing()
	db, err := rocksdb.Open(x.dir, o)
	if !inc.IsIOError(err) || db != nil {
		t.Errorf("%v, %v", db, err)
	}
	if l.count != 1 || l.db == nil {
		t.Errorf("%d calls, of %v", l.count, l.db)
	}
	x.fault.SetFilesystemActive(true, nil)
}

func TestEventListenerTest_BackgroundErrorListenerFailedFlushTest(t *testing.T) {
	x := newDBTest(t)
	fs, e := newTableFS(x, newSteppedClock())
	l := &suppressListener{fs: fs}
	o := inc.DefaultOptions()
	o.Env, o.CreateIfMissing, o.ParanoidChecks = e, true, true
	o.MemtableFactory = newSpecialSkipListFactory(1)
	o.Listeners = []inc.EventListener{l}
	x.destroyAndReopen(o)
	done := make(chan bool)
	var once sync.Once
	syncpoint.SetCallBack("DBImpl::BGWorkFlush:done", func(any) { once.Do(func() { close(done) }) })
	syncpoint.EnableProcessing()
	fs.dropWrites.Store(true)
	x.mustPut(0, "key0", "val")
	x.mustPut(0, "key1", "val")
	<-done
	if n := l.count.Load(); n != 1 {
		t.Errorf("%d errors", n)
	}
	x.mustPut(0, "key2", "val")
	x.must(x.full().TestWaitForFlushMemTable(nil))
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables", n)
	}
}

//go:build syncpoint

// Port of db/db_flush_test.cc (MemPurge). Differs: fewer overwrites where they
// are many.

package db_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// purgeTest counts mempurges and the tables of flushes.
type purgeTest struct {
	*dbTest
	o              rocksdb.Options
	purges, tables atomic.Int32
	rnd            *util.Random
	want           map[string]string // of the default family; "" for a deleted key
}

func newPurgeTest(t *testing.T, threshold float64, seed uint32, set func(o *rocksdb.Options)) *purgeTest {
	x := &purgeTest{dbTest: newDBTest(t), rnd: util.NewRandom(seed), want: map[string]string{}}
	x.o = x.currentOptions()
	x.o.Compression = rocksdb.NoCompression
	x.o.AllowConcurrentMemtableWrite = true
	x.o.WriteBufferSize = 1 << 20
	x.o.ExperimentalMempurgeThreshold = threshold
	if set != nil {
		set(&x.o)
	}
	x.reopen(x.o)
	x.countPurges()
	return x
}

func (x *purgeTest) countPurges() {
	syncpoint.SetCallBack("DBImpl::FlushJob:MemPurgeSuccessful", func(any) { x.purges.Add(1) })
	syncpoint.SetCallBack("DBImpl::FlushJob:SSTFileCreated", func(any) { x.tables.Add(1) })
	syncpoint.EnableProcessing()
}

// putRandom gives keys random values of 10 kB.
func (x *purgeTest) putRandom(keys ...string) {
	x.Helper()
	for _, k := range keys {
		v := x.rnd.RandomString(10240)
		x.mustPut(0, k, v)
		x.want[k] = v
	}
}

func (x *purgeTest) delete(key string) {
	x.Helper()
	x.mustDelete(0, key)
	x.want[key] = ""
}

func (x *purgeTest) check() {
	x.Helper()
	for k, v := range x.want {
		if v == "" {
			v = "NOT_FOUND"
		}
		x.wantGet(0, k, v)
	}
}

// wantPurged checks that there were mempurges and no flushes, or flushes.
func (x *purgeTest) wantPurged(purged, flushed bool) {
	x.Helper()
	if n, m := x.purges.Swap(0), x.tables.Swap(0); purged && n == 0 || flushed != (m > 0) {
		x.Errorf("%d mempurges, %d tables", n, m)
	}
}

func (x *purgeTest) setThreshold(value string) {
	x.Helper()
	x.must(x.db.SetOptions(map[string]string{"experimental_mempurge_threshold": value}))
}

func iamKeys(from, to int) (keys []string) {
	for i := from; i < to; i++ {
		keys = append(keys, fmt.Sprintf("IamKey%d", i))
	}
	return keys
}

func TestDBFlushTest_MemPurgeBasic(t *testing.T) {
	x := newPurgeTest(t, 0, 719, nil)
	x.setThreshold("1.0")
	x.putRandom(iamKeys(1, 5)...)
	for range 100 {
		x.putRandom(iamKeys(5, 10)...)
		x.check()
	}
	x.wantPurged(true, false)
	for range 100 {
		random := []string{x.rnd.RandomString(57), x.rnd.RandomString(57), x.rnd.RandomString(57)}
		x.putRandom(random...)
		x.check()
		for _, k := range random[:2] {
			delete(x.want, k)
		}
	}
	if n, m := x.purges.Swap(0), x.tables.Swap(0); n == 0 || m == 0 {
		t.Errorf("%d mempurges, %d tables", n, m)
	}
	x.check()
}

func TestDBFlushTest_MemPurgeBasicToggle(t *testing.T) {
	x := newPurgeTest(t, -25.3, 719, nil)
	x.setThreshold("3.7898")
	for range 100 {
		x.putRandom(iamKeys(0, 3)...)
		x.check()
	}
	x.wantPurged(true, false)
	x.setThreshold("-1023.0")
	x.must(x.full().TestWaitForBackgroundWork()) // one with the option as it was
	x.purges.Store(0)
	for range 100 {
		x.putRandom(iamKeys(0, 3)...)
		x.check()
	}
	if n, m := x.purges.Load(), x.tables.Load(); n != 0 || m == 0 {
		t.Errorf("%d mempurges, %d tables", n, m)
	}
}

func TestDBFlushTest_MemPurgeWithAtomicFlush(t *testing.T) {
	x := newPurgeTest(t, 153.245, 106, func(o *rocksdb.Options) { o.AtomicFlush = true })
	x.createAndReopenWithCF([]string{"pikachu", "eevie"}, x.o)
	x.mustPut(1, "foo", "bar")
	x.mustPut(2, "bar", "baz")
	x.purges.Store(0)
	x.tables.Store(0)
	for range 100 {
		for _, k := range iamKeys(0, 3) {
			other := x.rnd.RandomString(128)
			x.putRandom(k)
			x.mustPut(1, other, x.want[k])
			x.wantGet(0, k, x.want[k])
			x.wantGet(1, other, x.want[k])
		}
	}
	if n, m := x.purges.Load(), x.tables.Load(); n != 0 || m == 0 {
		t.Errorf("%d mempurges, %d tables", n, m)
	}
}

func TestDBFlushTest_MemPurgeDeleteAndDeleteRange(t *testing.T) {
	x := newPurgeTest(t, 15, 117, nil)
	k := func(i int) string { return fmt.Sprintf("ThisIsKey%d", i) }
	deleteRange := func(from, to int) {
		x.must(x.db.DeleteRange(nil, []byte(k(from)), []byte(k(to))))
		for i := from; i < to; i++ {
			x.want[k(i)] = ""
		}
	}
	ro := rocksdb.DefaultReadOptions()
	ro.PinData, ro.TotalOrderSeek = true, true
	scan := func(write func()) {
		t.Helper()
		it := x.db.NewIterator(&ro)
		defer it.Close()
		want := map[string]string{}
		for key, v := range x.want {
			if v != "" {
				want[key] = v
			}
		}
		it.SeekToFirst()
		if write != nil {
			write()
		}
		n := 0
		for ; it.Valid(); it.Next() {
			if n++; string(it.Value()) != want[string(it.Key())] {
				t.Fatalf("%s is %.20q, not %.20q", it.Key(), it.Value(), want[string(it.Key())])
			}
		}
		x.must(it.Err())
		if n != len(want) {
			t.Fatalf("%d keys, not %d", n, len(want))
		}
	}
	for range 100 {
		x.putRandom(k(1), k(2), k(3), k(4), k(5))
		x.delete(k(2))
		deleteRange(2, 4)
		x.putRandom(k(3))
		deleteRange(1, 3)
		x.delete(k(1))
		x.check()
		scan(nil)
	}
	x.wantPurged(true, false)
	x.putRandom(k(2))
	scan(func() { x.putRandom(k(4)) }) // not seen
}

// conditionalUpdate is a filter and its factory: in flushes it gives the keys
// before a key a new value.
type conditionalUpdate struct{ before string }

const updatedValue = "NewValue"

func (*conditionalUpdate) Name() string          { return "ConditionalUpdateFilter" }
func (*conditionalUpdate) IgnoreSnapshots() bool { return true }

func (f *conditionalUpdate) FilterV3(_ int, key []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	if string(key) < f.before {
		return rocksdb.FilterChangeValue, []byte(updatedValue), nil
	}
	return rocksdb.FilterKeep, nil, nil
}

func (*conditionalUpdate) ShouldFilterTableFileCreation(r rocksdb.TableFileCreationReason) bool {
	return r == rocksdb.TableFileCreationReasonFlush
}

func (f *conditionalUpdate) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return f
}

func TestDBFlushTest_MemPurgeAndCompactionFilter(t *testing.T) {
	x := newPurgeTest(t, 26.55, 53, func(o *rocksdb.Options) { o.CompactionFilterFactory = &conditionalUpdate{before: "IamKey4"} })
	x.putRandom(iamKeys(1, 6)...)
	x.delete("IamKey1")
	for range 200 {
		x.putRandom(iamKeys(6, 10)...)
		x.delete("IamKey7")
	}
	x.wantPurged(true, false)
	x.want["IamKey2"], x.want["IamKey3"] = updatedValue, updatedValue
	x.check()
}

// Upstream's is disabled; what it wants holds here.
func TestDBFlushTest_DISABLED_MemPurgeWALSupport(t *testing.T) {
	x := newPurgeTest(t, 2.5, 719, func(o *rocksdb.Options) { o.WriteBufferSize = 128 << 10 })
	for more := true; more; more = x.changeWalOptions() {
		o := x.currentOptions()
		o.Compression, o.WriteBufferSize, o.ExperimentalMempurgeThreshold = rocksdb.NoCompression, 128<<10, 2.5
		x.countPurges()
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		names := []string{"default", "pikachu"}
		x.mustPut(1, "foo", "v1")
		x.mustPut(1, "baz", "v5")
		x.reopenWithColumnFamilies(names, o)
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "baz", "v5")
		x.mustPut(0, "bar", "v2")
		x.mustPut(1, "bar", "v2")
		x.mustPut(1, "foo", "v3")
		var want [2]map[string]string
		put := func(cf int, keys ...string) {
			t.Helper()
			for _, k := range keys {
				want[cf][k] = x.rnd.RandomString(1024)
				x.mustPut(cf, k, want[cf][k])
			}
		}
		check := func() {
			t.Helper()
			for cf, m := range want {
				for k, v := range m {
					x.wantGet(cf, k, v)
				}
			}
		}
		x.purges.Store(0)
		for cf := range want {
			want[cf] = map[string]string{}
			put(cf, iamKeys(0, 5)...)
		}
		check()
		for cf := range want {
			// Logs that only the other family's purged memtables need are kept.
			for range 100 {
				put(cf, iamKeys(5, 10)...)
			}
			check()
		}
		if x.purges.Load() == 0 {
			t.Error("no mempurge")
		}
		x.reopenWithColumnFamilies(names, o)
		x.wantGet(1, "foo", "v3")
		x.mustPut(1, "foo", "v4")
		x.wantGet(1, "bar", "v2")
		x.wantGet(1, "baz", "v5")
		check()
		x.tables.Store(0)
		key := ""
		for range 100 {
			key = x.rnd.RandomString(4096)
			want[1][key] = x.rnd.RandomString(1024)
			x.mustPut(1, key, want[1][key])
		}
		if x.tables.Load() == 0 {
			t.Error("no flush")
		}
		x.reopenWithColumnFamilies(names, o)
		x.wantGet(1, "foo", "v4")
		check()
	}
}

func TestDBFlushTest_MemPurgeCorrectLogNumberAndSSTFileCreation(t *testing.T) {
	x := newPurgeTest(t, 1, 117, func(o *rocksdb.Options) {
		o.MinWriteBufferNumberToMerge, o.MaxWriteBufferNumber = 3, 5
		o.MaxWriteBufferSizeToMaintain = 2 << 20
		o.DisableAutoCompactions = true
	})
	var first atomic.Uint64
	syncpoint.SetCallBack("FlushJob::WriteLevel0Table:num_memtables", func(arg any) { first.CompareAndSwap(0, *arg.(*uint64)) })
	x.putRandom(iamKeys(1, 6)...)
	for range 100 {
		x.putRandom(iamKeys(6, 10)...)
		x.check()
	}
	x.must(x.full().TestWaitForBackgroundWork())
	x.wantPurged(true, false)
	key := ""
	for range 300 {
		delete(x.want, key)
		key = x.rnd.RandomString(10240)
		x.putRandom(key)
		x.check()
	}
	x.must(x.full().TestWaitForBackgroundWork())
	if x.tables.Load() == 0 || first.Load() < 2 {
		t.Errorf("%d tables, the first one of %d memtables", x.tables.Load(), first.Load())
	}
	x.check()
}

// pausedPurge stops the first mempurge, of overwritten keys, before it takes the
// mutex; resume lets it go on.
func pausedPurge(t *testing.T, set func(o *rocksdb.Options)) (x *purgeTest, keys []string, resume func()) {
	x = newPurgeTest(t, 1, 301, func(o *rocksdb.Options) {
		o.MaxWriteBufferNumber = 8
		if set != nil {
			set(o)
		}
	})
	inOrder([2]string{"FlushJob::MemPurge:BeforeReacquireMutex", "test:StartWriting"}, [2]string{"test:SwitchDone", "FlushJob::MemPurge:AfterWaitForTest"})
	keys = iamKeys(0, 30)
	for range 4 {
		x.putRandom(keys...)
	}
	syncpoint.Process("test:StartWriting")
	return x, keys, func() { syncpoint.Process("test:SwitchDone") }
}

func TestDBFlushTest_MemPurgeIdOrdering(t *testing.T) {
	x, _, resume := pausedPurge(t, nil)
	for i := range 120 {
		x.putRandom(fmt.Sprintf("newkey%d", i))
	}
	resume()
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.check()
}

// What was written while a mempurge ran is newer than what it kept.
func TestMemPurgeDoesNotHideNewer(t *testing.T) {
	x, keys, resume := pausedPurge(t, nil)
	for range 4 {
		x.putRandom(keys...)
	}
	resume()
	x.must(x.full().TestWaitForBackgroundWork())
	x.check()
	x.reopen(x.o)
	x.check()
}

// A flush that is asked for while a mempurge runs ends.
func TestMemPurgeAndManualFlush(t *testing.T) {
	x, _, resume := pausedPurge(t, nil)
	done := make(chan error, 1)
	scheduled := make(chan bool, 10)
	syncpoint.SetCallBack("DBImpl::FlushMemTable:AfterScheduleFlush", func(any) { scheduled <- true })
	go func() { done <- x.db.Flush(nil) }()
	<-scheduled
	resume()
	x.must(<-done)
	if n := x.purges.Load(); n != 0 {
		t.Errorf("%d mempurges", n)
	}
	x.check()
}

// What a mempurge left is in no table and in no log: Close flushes it.
func TestMemPurgeWithoutWAL(t *testing.T) {
	x := newPurgeTest(t, 1, 17, nil)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	for x.purges.Load() == 0 {
		for _, k := range iamKeys(0, 5) {
			x.want[k] = strings.Repeat(k, 1000)
			x.must(x.db.Put(&wo, []byte(k), []byte(x.want[k])))
		}
	}
	x.must(x.full().TestWaitForBackgroundWork())
	x.must(x.full().TestSwitchMemtable(nil))
	x.reopen(x.o)
	x.check()
}

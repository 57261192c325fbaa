//go:build syncpoint

// Port of db/db_test.cc. Differs: what sleeps for others to queue up waits for
// them where it can see them.

package db_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func noSlowdown(no bool) *rocksdb.WriteOptions {
	wo := rocksdb.DefaultWriteOptions()
	wo.NoSlowdown = no
	return &wo
}

func (x *dbTest) smallBuffer() {
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	x.createAndReopenWithCF(pikachu[1:], o)
}

func TestDBTest_SkipDelay(t *testing.T) {
	x := newDBTest(t)
	x.smallBuffer()
	for _, c := range []struct{ sync, noWAL bool }{{true, false}, {false, true}, {false, false}} {
		token := x.full().TestWriteController().GetDelayToken(1)
		sleeps := passes("DBImpl::DelayWrite:Sleep")
		syncpoint.EnableProcessing()
		wo := noSlowdown(true)
		wo.Sync, wo.DisableWAL = c.sync, c.noWAL
		value := dummyString(1024, 'x')
		_ = x.putWith(0, "foo", value, wo) // the delay goes by the write before
		if err := x.putWith(0, "foo2", value, wo); err == nil {
			t.Error("written while writes are delayed")
		}
		token.Release()
		token = x.full().TestWriteController().GetDelayToken(1000000)
		wo.NoSlowdown = false
		x.mustPutWith(0, "foo3", value, wo)
		token.Release()
		if sleeps.Load() == 0 {
			t.Error("nothing was delayed")
		}
	}
}

// writers starts writers that are to succeed and others that are to fail.
type writers struct {
	x  *dbTest
	wg sync.WaitGroup
	n  atomic.Int64
}

func (w *writers) start(count int, noSlow bool) {
	for range count {
		w.wg.Go(func() {
			err := w.x.db.Put(noSlowdown(noSlow), fmt.Append(nil, "foo", w.n.Add(1)), []byte("bar"))
			if (err != nil) != noSlow {
				w.x.Errorf("no_slowdown %t: %v", noSlow, err)
			}
		})
	}
}

func (x *dbTest) putTwo() {
	x.Helper()
	x.must(x.db.Put(noSlowdown(false), []byte("foo"), []byte("bar")))
	x.must(x.db.Put(noSlowdown(false), []byte("foo2"), []byte("bar2"))) // delayed by the size of the one before
}

func TestDBTest_MixedSlowdownOptions(t *testing.T) {
	x := newDBTest(t)
	x.smallBuffer()
	token := x.full().TestWriteController().GetDelayToken(10)
	w := &writers{x: x}
	var once sync.Once
	stalls := 0
	syncpoint.SetCallBack("DBImpl::DelayWrite:BeginWriteStallDone", func(any) {
		stalls++
		once.Do(func() {
			w.start(2, false)
			w.start(2, true)
		})
	})
	syncpoint.EnableProcessing()
	x.putTwo()
	token.Release()
	w.wg.Wait()
	if stalls == 0 {
		t.Error("nothing was delayed")
	}
	x.must(x.db.Put(noSlowdown(true), []byte("foo3"), []byte("bar")))
}

func TestDBTest_MixedSlowdownOptionsInQueue(t *testing.T) {
	x := newDBTest(t)
	x.smallBuffer()
	token := x.full().TestWriteController().GetDelayToken(10)
	w := &writers{x: x}
	sleeps := 0
	syncpoint.SetCallBack("DBImpl::DelayWrite:Sleep", func(any) {
		if sleeps++; sleeps == 1 {
			w.start(2, true)
			eventually(t, "no writer in the queue", func() bool { return w.n.Load() == 2 })
			time.Sleep(200 * time.Millisecond)
		}
	})
	syncpoint.EnableProcessing()
	x.putTwo()
	token.Release()
	w.wg.Wait()
	same(t, "sleeps", sleeps, 1)
}

func TestDBTest_MixedSlowdownOptionsStop(t *testing.T) {
	x := newDBTest(t)
	x.smallBuffer()
	token := x.full().TestWriteController().GetStopToken()
	w := &writers{x: x}
	var once sync.Once
	waits := 0
	syncpoint.SetCallBack("DBImpl::DelayWrite:Wait", func(any) {
		waits++
		once.Do(func() {
			w.start(2, false)
			w.start(2, true)
			eventually(t, "no writer in the queue", func() bool { return w.n.Load() == 4 })
			time.Sleep(200 * time.Millisecond)
			token.Release()
			go x.full().TestWakeWriters()
		})
	})
	syncpoint.EnableProcessing()
	x.putTwo()
	w.wg.Wait()
	if waits == 0 {
		t.Error("nothing was stopped")
	}
	x.must(x.db.Put(noSlowdown(true), []byte("foo3"), []byte("bar")))
}

func TestDBTest_GroupCommitTest(t *testing.T) {
	const threads, keys = 4, 100 // a tenth of upstream's
	eachOptions(t, skipNoSeekToLast, func(x *dbTest) {
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.reopen(o)
		syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "WriteThread::JoinBatchGroup:BeganWaiting", Successor: "DBImpl::WriteImpl:BeforeLeaderEnters"},
			syncpoint.Pair{Predecessor: "WriteThread::AwaitState:BlockingWaiting", Successor: "WriteThread::EnterAsBatchGroupLeader:End"})
		syncpoint.EnableProcessing()
		var wg sync.WaitGroup
		var want []string
		for id := range threads {
			for i := range keys {
				want = append(want, fmt.Sprint(id*keys+i))
			}
			wg.Go(func() {
				for i := range keys {
					kv := fmt.Append(nil, id*keys+i)
					if err := x.db.Put(nil, kv, kv); err != nil {
						x.Error(err)
					}
				}
			})
		}
		wg.Wait()
		syncpoint.Reset()
		if o.Statistics.GetTickerCount(rocksdb.WriteDoneByOther) == 0 {
			x.Error("no writer had its write done by another")
		}
		slices.Sort(want)
		it := x.db.NewIterator(nil)
		i := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if i >= len(want) || string(it.Key()) != want[i] || string(it.Value()) != want[i] {
				x.Fatalf("entry %d is %q->%q", i, it.Key(), it.Value())
			}
			i++
		}
		x.must(errors.Join(it.Err(), it.Close()))
		same(x, "entries", i, len(want))
		if d := o.Statistics.GetHistogramData(rocksdb.HistDBWrite); d.Average <= 0 {
			x.Error("no time of writes")
		}
	})
}

func hashIndex(prefix rocksdb.SliceTransform) func(o *rocksdb.Options) {
	return func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		if prefix != nil {
			b.IndexType = rocksdb.HashSearch
		}
		o.TableFactory, o.PrefixExtractor = rocksdb.NewBlockBasedTableFactory(b), prefix
	}
}

func TestDBTest_BlockBasedTablePrefixIndexTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	both := func() {
		t.Helper()
		x.wantGet(0, "k1", "v1")
		x.wantGet(0, "k2", "v2")
	}
	with := func(prefix rocksdb.SliceTransform) {
		hashIndex(prefix)(&o)
		x.reopen(o)
	}
	with(util.NewFixedPrefixTransform(1))
	x.mustPut(0, "k1", "v1")
	x.flush(0)
	x.mustPut(0, "k2", "v2")
	// With another prefix the binary index is used.
	with(util.NewFixedPrefixTransform(2))
	both()
	x.setOptions("prefix_extractor", "fixed:1")
	both()
	// As where the table's extractor cannot be had.
	syncpoint.SetCallBack("BlockBasedTable::Open::ForceNullTablePrefixExtractor", func(arg any) { *arg.(*contract.SliceTransform) = nil })
	syncpoint.EnableProcessing()
	with(util.NewFixedPrefixTransform(1))
	both()
	x.setOptions("prefix_extractor", "fixed:2")
	both()
	syncpoint.DisableProcessing()
	with(nil)
	both()
}

func TestDBTest_BlockBasedTablePrefixIndexTotalOrderSeek(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxOpenFiles = 10
	hashIndex(util.NewFixedPrefixTransform(1))(&o)
	syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = 11 }) // not 20
	syncpoint.EnableProcessing()
	x.reopen(o)
	x.mustPut(0, "k1", "v1")
	x.flush(0)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 1
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.full().TestTableCache().SetCapacity(0) // evicts the table
	x.full().TestTableCache().SetCapacity(1)
	for _, total := range []bool{true, false} {
		ro := rocksdb.DefaultReadOptions()
		ro.TotalOrderSeek = total
		it := x.db.NewIterator(&ro)
		it.Seek([]byte("k1"))
		same(t, "entry", iterStatus(it), "k1->v1")
		x.must(it.Close())
	}
}

// prefixes is an iterator that keeps to its prefix, by the extractor in force
// when it was made.
type prefixes struct {
	x  *dbTest
	ro rocksdb.ReadOptions
	it *rocksdb.Iterator
}

func (p *prefixes) renew() {
	if p.it != nil {
		p.x.must(p.it.Close())
	}
	p.it = p.x.db.NewIterator(&p.ro)
}

func (p *prefixes) at(want string) {
	p.x.Helper()
	p.x.must(p.it.Err())
	same(p.x, "entry", iterStatus(p.it), want)
}

// length checks that prefixes have so many characters, 4 or 5.
func (p *prefixes) length(n int) {
	p.x.Helper()
	p.it.Seek([]byte("game1"))
	p.at("(invalid)")
	p.it.Seek([]byte("goat1"))
	p.at("goat1->g1")
	p.it.Next()
	if n == 4 {
		p.at("goat2->g2")
		return
	}
	p.at("(invalid)")
	p.it.Seek([]byte("goat2"))
	p.at("goat2->g2")
	p.it.Next()
	p.at("(invalid)")
}

func TestDBTest_SetOptionsEffectiveInSuperVersions(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.PrefixExtractor, o.PrefixSeekOptInOnly = util.NewFixedPrefixTransform(5), false
	x.reopen(o)
	x.mustPut(0, "goat1", "g1")
	x.mustPut(0, "goat2", "g2")
	p := &prefixes{x: x, ro: rocksdb.DefaultReadOptions()}
	p.ro.PrefixSameAsStart = true
	p.renew()
	defer func() { p.it.Close() }()
	during := func(point string, f func()) {
		t.Helper()
		calls := 0
		syncpoint.SetCallBack(point, func(any) {
			calls++
			x.setOptions("prefix_extractor", "fixed:4")
			p.renew()
			p.length(4)
		})
		syncpoint.EnableProcessing()
		f()
		syncpoint.Reset()
		same(t, "calls at "+point, calls, 1)
	}
	for i := range 3 {
		p.length(5)
		switch i {
		case 0:
			x.setOptions("prefix_extractor", "fixed:4")
			p.length(5) // it keeps the old SuperVersion
			x.must(p.it.Refresh(nil))
		case 1:
			during("FlushJob::WriteLevel0Table:num_memtables", func() { x.flush(0) })
		case 2:
			during("CompactionJob::Run():EndStatusSet", func() {
				x.mustPut(0, "aaaaa", "a")
				x.mustPut(0, "zzzzz", "a")
				x.compact(0, "", "")
			})
		}
		p.length(4)
		p.renew()
		p.length(4)
		x.setOptions("prefix_extractor", "fixed:5")
		p.renew()
	}
	p.length(5)
}

func TestDBTest_DynamicMemtableOptions(t *testing.T) {
	const k64, k128, k5 = 1 << 16, 1 << 17, 5 << 10
	x := newDBTest(t)
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	o := x.plainOptions()
	o.Compression, o.MaxBackgroundCompactions = rocksdb.NoCompression, 1
	o.WriteBufferSize, o.ArenaBlockSize, o.MaxWriteBufferNumber = k64, 16<<10, 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1024, 1024, 1024
	x.destroyAndReopen(o)
	generate := func(kb int) {
		rnd := util.NewRandom(301)
		for i := range kb {
			x.mustPut(0, key(i), rnd.RandomString(1024))
			if i%64 == 63 {
				x.waitForFlush(0) // one memtable a file
			}
		}
		x.waitForFlush(0)
	}
	level0 := func(files int, low, high uint64) {
		t.Helper()
		same(t, "files", x.numTableFilesAtLevel(0, 0), files)
		if n := x.sizeAtLevel(0); n <= low || n >= high {
			t.Errorf("%d bytes, not %d to %d", n, low, high)
		}
	}
	generate(64)
	level0(1, k64-k5*2, k64+k5)
	x.compact(0, "", "")
	same(t, "files", x.numTableFilesAtLevel(0, 0), 0)
	x.setOptions("write_buffer_size", "131072") // the memtable grows
	generate(192)
	level0(1, k128-4*k5, k128+2*k5)
	x.setOptions("write_buffer_size", "65536") // less than is in use
	generate(2)
	level0(2, k128+k64-4*k5, k128+k64+2*k5)

	// Flushes run in the pool of compactions, which is held up until writes stop.
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.env.SetBackgroundThreads(0, rocksdb.HighPriority)
	fill := func(most, low, high int) {
		t.Helper()
		wake := x.blockThreads(rocksdb.LowPriority)
		var woken atomic.Bool
		syncpoint.SetCallBack("DBImpl::DelayWrite:Wait", func(any) {
			woken.Store(true)
			wake()
		})
		syncpoint.EnableProcessing()
		rnd := util.NewRandom(301)
		n := 0
		for ; n < most && !woken.Load(); n++ {
			x.mustPut(0, key(n), rnd.RandomString(1024))
		}
		syncpoint.Reset()
		wake()
		if n <= low*8/10 || n >= high*12/10 {
			t.Errorf("%d puts", n)
		}
	}
	fill(256, 128, 128)
	for _, c := range []struct {
		buffers         string
		most, low, high int
	}{{"8", 1024, 512, 512}, {"4", 1024, 256, 266}} {
		x.setOptions("max_write_buffer_number", c.buffers)
		x.compact(0, "", "")
		fill(c.most, c.low, c.high)
	}
}

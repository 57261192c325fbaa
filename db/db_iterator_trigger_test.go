// Port of db/db_iterator_test.cc (flushes that scans ask for, statistics,
// readahead, automatic refreshing, damaged files). Differs: a file of its own.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// scanTrigger opens a database whose scans of skipped memtable entries ask for
// a flush, with n keys in the last level.
func (x *dbTest) scanTrigger(n int, o contract.Options) {
	x.Helper()
	o.CreateIfMissing, o.Env, o.LevelCompactionDynamicLevelBytes = true, x.env, true
	x.destroyAndReopen(o)
	for i := range n {
		x.mustPut(0, key(i), dummyString(100, 'b'))
	}
	x.flush(0)
	x.compact(0, "", "")
	if x.numTableFilesAtLevel(6, 0) != 1 {
		x.Fatal(x.filesPerLevel(0))
	}
}

// hide overwrites and deletes keys, or only deletes them.
func (x *dbTest) hide(from, to int, deleteOnly bool) {
	x.Helper()
	for i := from; i < to && deleteOnly; i++ {
		x.mustSingleDelete(0, key(i))
	}
	for i := from; i < to && !deleteOnly; i++ {
		x.mustPut(0, key(i), dummyString(100, 'h'))
	}
	for i := from; i < to && !deleteOnly; i++ {
		x.mustDelete(0, key(i))
	}
}

// wantScanFlush writes twice, which carries out what a scan asked for.
func (x *dbTest) wantScanFlush(first, second string, files int) {
	x.Helper()
	x.mustPut(0, first, "val")
	x.mustPut(0, second, "val")
	x.must(x.db.WaitForCompact(nil))
	if n := x.numTableFilesAtLevel(0, 0); n != files {
		x.Fatalf("%d files on level 0, not %d", n, files)
	}
}

func eachScanTrigger(t *testing.T, f func(x *dbTest, trigger, keys int, deleteOnly bool)) {
	for _, trigger := range []int{10, 11} {
		for _, deleteOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("trigger=%d/delete_only=%v", trigger, deleteOnly), func(t *testing.T) {
				keys := 5
				if deleteOnly {
					keys = 10
				}
				f(newDBTest(t), trigger, keys, deleteOnly)
			})
		}
	}
}

func TestDBIteratorTest_MemtableOpsScanFlushTriggerWithSeek(t *testing.T) {
	eachScanTrigger(t, func(x *dbTest, trigger, keys int, deleteOnly bool) {
		o := rocksdb.DefaultOptions()
		o.MemtableOpScanFlushTrigger = uint32(trigger)
		x.scanTrigger(keys, o)
		x.hide(0, keys, deleteOnly)
		perf := new(contract.PerfContext)
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = perf })
		it.walk("seek "+key(0), "(invalid)")
		if perf.NextOnMemtableCount != 10 {
			x.Fatal(perf.NextOnMemtableCount)
		}
		files, deletes := 1, 0
		if trigger > 10 {
			files, deletes = 0, keys
		}
		x.wantScanFlush(key(11), key(12), files)
		if n := x.intProperty(0, "rocksdb.num-deletes-active-mem-table"); int(n) != deletes {
			x.Fatal(n)
		}
	})
}

func TestDBIteratorTest_MemtableOpsScanFlushTriggerWithNext(t *testing.T) {
	eachScanTrigger(t, func(x *dbTest, trigger, keys int, deleteOnly bool) {
		o := rocksdb.DefaultOptions()
		o.MemtableOpScanFlushTrigger = uint32(trigger)
		x.scanTrigger(keys+1, o)
		x.mustPut(0, key(0), "val")
		x.hide(1, keys+1, deleteOnly)
		// What several steps skip does not add up.
		x.mustPut(0, key(keys+1), "v1")
		x.mustDelete(0, key(keys+2))
		x.mustPut(0, key(keys+3), "v3")
		perf := new(contract.PerfContext)
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = perf })
		for i, want := range []uint64{0, 11, 13} {
			if i == 0 {
				it.walk("seek "+key(0), key(0)+"->val")
			} else {
				it.Next()
			}
			if perf.NextOnMemtableCount != want {
				x.Fatalf("%d steps in the memtable, not %d", perf.NextOnMemtableCount, want)
			}
		}
		files, deletes := 1, 0
		if trigger > 10 {
			files, deletes = 0, keys+1
		}
		x.wantScanFlush(key(11), key(12), files)
		if n := x.intProperty(0, "rocksdb.num-deletes-active-mem-table"); int(n) != deletes {
			x.Fatal(n)
		}
	})
}

func TestDBIteratorTest_AverageMemtableOpsScanFlushTrigger(t *testing.T) {
	const avg, most, keys = 10, 500, 1000
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.MemtableOpScanFlushTrigger, o.MemtableAvgOpScanFlushTrigger = most, avg
	x.scanTrigger(keys, o)
	for i := range keys {
		if i%(avg+2) != 0 { // slightly more deletions than the average asks for
			x.mustSingleDelete(0, key(i))
		}
	}
	perf := new(contract.PerfContext)
	counted := func(ro *contract.ReadOptions) { ro.PerfContext = perf }
	it := x.iter(0, counted)
	it.Seek([]byte(key(1)))
	if perf.NextOnMemtableCount != avg+1 {
		t.Fatal(perf.NextOnMemtableCount)
	}
	x.must(it.Close())
	x.wantScanFlush(key(0), key(0), 0) // few entries in all

	perf.Reset()
	it = x.iter(0, counted)
	it.walk("seek "+key(0), "="+key(0))
	last, skipped, ops := perf.NextOnMemtableCount, uint64(0), uint64(1)
	it.Next()
	for ops++; it.Valid(); ops++ {
		n := perf.NextOnMemtableCount - last
		if n < avg+1 {
			t.Fatalf("%d entries skipped", n)
		}
		last = perf.NextOnMemtableCount
		skipped += n
		it.Next()
	}
	x.must(it.Status())
	x.must(it.Close()) // asks for the flush
	if skipped < avg*ops || skipped < most {
		t.Fatal(skipped, ops)
	}
	x.wantScanFlush(key(0), key(0), 1)
}

func TestDBIteratorTest_AverageMemtableOpsScanFlushTriggerByOverwrites(t *testing.T) {
	const avg, keys = 25, 100
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.MemtableOpScanFlushTrigger, o.MemtableAvgOpScanFlushTrigger = 250, avg
	x.scanTrigger(keys, o)
	for i := range keys {
		if i%10 != 0 { // three entries, none of them visible
			x.puts(0, key(i), "v", key(i), "v")
			x.mustDelete(0, key(i))
		}
	}
	perf := new(contract.PerfContext)
	it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = perf })
	it.Seek([]byte(key(1)))
	if perf.NextOnMemtableCount <= avg {
		t.Fatal(perf.NextOnMemtableCount)
	}
	it.Seek([]byte(key(1)))
	if x.cf(0).Impl().CFD().Mem().IsMarkedForFlush() {
		t.Fatal("marked for a flush by few entries")
	}
	x.wantScanFlush(key(0), key(0), 0)
	perf.Reset()
	ops := uint64(1)
	for it.Seek([]byte(key(1))); it.Valid(); it.Next() {
		ops++
	}
	if perf.NextOnMemtableCount <= ops*avg {
		t.Fatal(perf.NextOnMemtableCount, ops)
	}
	it.Seek([]byte(key(80))) // looks at the average
	x.wantScanFlush(key(0), key(0), 1)
}

// What a file hides does not count for the active memtable, an empty one least of
// all: it would be flushed after its first entry.
func TestDBIterator_ScanFlushTriggerOfEmptyMemtable(t *testing.T) {
	const keys = 100
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.MemtableOpScanFlushTrigger, o.MemtableAvgOpScanFlushTrigger = 10, 2
	o.DisableAutoCompactions = true
	x.scanTrigger(keys, o)
	x.hide(0, keys, true)
	x.flush(0)
	it := x.iter(0)
	it.SeekToFirst()
	if it.Valid() {
		t.Fatalf("%q is visible", it.Key())
	}
	x.must(it.Close())
	if x.cf(0).Impl().CFD().Mem().IsMarkedForFlush() {
		t.Fatal("an empty memtable is marked for a flush")
	}
	x.wantScanFlush(key(0), key(0), 1) // that of the deletes
}

func TestDBIteratorTest_IteratorWithLocalStatistics(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		rnd := util.NewRandom(301)
		for range 1000 {
			x.mustPut(0, rnd.RandomString(10), rnd.RandomString(10))
		}
		var steps, found [2]atomic.Int64 // forwards and backwards
		var bytes atomic.Int64
		var wg sync.WaitGroup
		for i := range 25 {
			dir, perf := min(i/10, 1), new(contract.PerfContext)
			it := x.iter(0, func(ro *contract.ReadOptions) { ro.PerfContext = perf })
			wg.Go(func() {
				move := it.Next
				if dir == 0 {
					it.SeekToFirst()
				} else {
					it.SeekToLast()
					move = it.Prev
				}
				n := len(it.Key()) + len(it.Value())
				for {
					move()
					steps[dir].Add(1)
					if !it.Valid() {
						break
					}
					found[dir].Add(1)
					n += len(it.Key()) + len(it.Value())
				}
				if err := it.Close(); err != nil || perf.IterReadBytes != uint64(n) {
					t.Errorf("%d bytes by the perf context, not %d; %v", perf.IterReadBytes, n, err)
				}
				bytes.Add(int64(n))
			})
		}
		wg.Wait()
		x.wantTicker(contract.NumberDBNext, int(steps[0].Load()))
		x.wantTicker(contract.NumberDBNextFound, int(found[0].Load()))
		x.wantTicker(contract.NumberDBPrev, int(steps[1].Load()))
		x.wantTicker(contract.NumberDBPrevFound, int(found[1].Load()))
		x.wantTicker(contract.IterBytesRead, int(bytes.Load()))
	})
}

func TestDBIteratorTest_ReadAhead(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := rocksdb.DefaultOptions()
		o.Env, o.DisableAutoCompactions, o.WriteBufferSize, o.Compression = x.env, true, 4<<20, contract.NoCompression
		o.Statistics = rocksdb.NewStatistics()
		o = blockTable(o, func(t *contract.BlockBasedTableOptions) { t.BlockSize, t.NoBlockCache = 1024, true })
		x.reopen(o)
		value := dummyString(1024, 'a')
		for _, level := range []int{2, 1, 0} {
			for i := range 100 {
				x.mustPut(0, key(i), value)
			}
			x.flushTo(level)
		}
		x.wantFiles(0, "1,1,1")
		first := func(set ...func(ro *contract.ReadOptions)) (opens int, bytes uint64) {
			x.count.ResetCounters()
			o.Statistics.SetTickerCount(contract.NoFileOpens, 0)
			it := x.iter(0, set...)
			it.SeekToFirst()
			x.must(it.Close())
			return x.ticker(contract.NoFileOpens), x.count.Counters().Reads.Bytes.Load()
		}
		ahead := func(ro *contract.ReadOptions) { ro.ReadaheadSize = 10 * 1024 }
		opens, bytes := first()
		opensAhead, bytesAhead := first(ahead)
		if opens != opensAhead || bytesAhead <= bytes || bytesAhead <= 3*10*1024 {
			t.Errorf("%d opens and %d bytes, ahead %d and %d", opens, bytes, opensAhead, bytesAhead)
		}
		it := x.iter(0, ahead)
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if string(it.Value()) != value {
				t.Fatal(n)
			}
			n++
		}
		if n != 100 {
			t.Fatal(n)
		}
		for i := range 100 {
			it.walk("seek "+key(i), key(i)+"->"+value)
		}
	})
}

func TestDBIteratorTest_AutoRefreshIterator(t *testing.T) {
	const keys = 1000
	eachCallback(t, func(x *iterTest) {
		if x.callback {
			return // what the callback saw is not known of a newer state
		}
		for i := range 8 {
			x.autoRefresh(keys, i&1 != 0, i&2 != 0, i&4 != 0)
		}
	})
}

func (x *iterTest) autoRefresh(keys int, backwards, enabled, explicit bool) {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	// A file each on levels 0 and 1, the rest and an overlap in the memtable.
	for i := range keys + 2 {
		x.mustPut(0, key(i%keys), fmt.Sprint("val", i))
		if i <= 1 {
			x.flush(0)
		}
		if i == 0 {
			x.moveFilesToLevel(1, 0)
		}
	}
	var snapshot contract.Snapshot
	if explicit {
		snapshot = x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(snapshot)
	}
	it := x.iter(0, atSnapshot(snapshot), func(ro *contract.ReadOptions) { ro.AutoRefreshIteratorWithSnapshot = enabled })
	x.mustPut(0, key(keys/2+1), "new val") // not to be seen
	x.wantFiles(0, "1,1")
	version := func() (n uint64) {
		s, err := it.GetProperty("rocksdb.iterator.super-version-number")
		x.must(err)
		fmt.Sscan(s, &n)
		return n
	}
	sv, old := version(), x.db.GetLiveFilesMetaData()
	move, want, step := it.Next, 0, 1
	if backwards {
		move, want, step = it.Prev, keys-1, -1
		it.SeekToLast()
	} else {
		it.SeekToFirst()
	}
	var memtables uint64
	n := 0
	for ; it.Valid(); move() {
		n++
		switch n {
		case keys / 2:
			x.flush(0)
			x.compact(0, "", "")
			x.must(x.full().TestWaitForBackgroundWork())
			x.full().TestWaitForPurge()
			memtables = x.intProperty(0, "rocksdb.size-all-mem-tables")
		case keys/2 + 1:
			after := x.intProperty(0, "rocksdb.size-all-mem-tables")
			refreshed := enabled && explicit
			if refreshed != (version() > sv) || refreshed != (after < memtables) {
				x.Fatalf("state %d, now %d; %d bytes of memtables, now %d", sv, version(), memtables, after)
			}
			x.full().TestWaitForPurge()
			for _, f := range old {
				if _, err := os.Stat(filepath.Join(f.DBPath, f.Name)); refreshed != errors.Is(err, os.ErrNotExist) {
					x.Fatal(f.Name, err)
				}
			}
		}
		value := want
		if value <= 1 {
			value += keys
		}
		if at := fmt.Sprintf("%s->val%d", key(want), value); it.at() != at {
			x.Fatalf("%s, not %s", it.at(), at)
		}
		want += step
	}
	if x.must(it.Status()); n != keys {
		x.Fatal(n)
	}
	x.must(it.Close())
}

func TestDBIteratorTest_Blob(t *testing.T) {
	eachCallback(t, func(x *iterTest) {
		o := x.currentOptions()
		o.EnableBlobFiles, o.MaxSequentialSkipInIterations, o.Statistics = true, 2, rocksdb.NewStatistics()
		x.reopen(o)
		// Three hidden entries of b: a move between b and c seeks again.
		x.puts(0, "a", "va", "flush", "b", "vb0", "flush", "b", "vb1", "flush", "b", "vb2", "flush", "b", "vb3", "flush", "c", "vc", "flush")
		it := x.iter(0)
		for i, s := range []struct {
			move, want string
			reseeks    int
		}{
			{"first", "a->va", 0}, {"next", "b->vb3", 0}, {"next", "c->vc", 1}, {"next", "(invalid)", 1}, {"first", "a->va", 1}, {"prev", "(invalid)", 1},
			{"last", "c->vc", 1}, {"prev", "b->vb3", 2}, {"prev", "a->va", 2}, {"prev", "(invalid)", 2}, {"last", "c->vc", 2}, {"next", "(invalid)", 2},
		} {
			it.walk(s.move, s.want)
			if n := x.ticker(contract.NumberOfReseeksInIteration); n != s.reseeks {
				t.Fatalf("step %d, %s: %d reseeks, not %d", i, s.move, n, s.reseeks)
			}
		}
		it.walk("seek ", "a->va", "seek a", "a->va", "seek ax", "b->vb3", "seek b", "b->vb3", "seek z", "(invalid)", "for-prev b", "b->vb3",
			"for-prev az", "a->va", "for-prev z", "c->vc")
		it.walk("seek b", "next", "c->vc", "prev", "b->vb3", "prev", "a->va", "next", "b->vb3")
		// The iterator keeps to its state.
		x.puts(0, "a", "va2", "a2", "va3", "b", "vb2", "c", "vc2")
		x.mustDelete(0, "b")
		it.walk("first", "a->va", "next", "b->vb3", "next", "c->vc", "next", "(invalid)", "last", "c->vc", "prev", "b->vb3", "prev", "a->va", "prev", "(invalid)")
	})
}

// readFault fails reads of files whose name ends in suffix: at offset 0, or at
// any.
type readFault struct {
	contract.FileSystemWrapper
	suffix    string
	anyOffset bool
}

type faultyFile struct {
	contract.FSRandomAccessFile
	fs   *readFault
	name string
}

func (f *readFault) NewRandomAccessFile(name string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	file, err := f.Target().NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f, name}, nil
}

func (f *faultyFile) Read(offset uint64, n int, o *contract.IOOptions, scratch []byte) ([]byte, error) {
	if f.fs.suffix != "" && strings.HasSuffix(f.name, f.fs.suffix) && (offset == 0 || f.fs.anyOffset) {
		return nil, contract.IOError("injected")
	}
	return f.FSRandomAccessFile.Read(offset, n, o, scratch)
}

func TestDBIteratorTest_ErrorWhenReadFile(t *testing.T) {
	x := newDBTest(t)
	fs := &readFault{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.NoBlockCache = true })
	o.NumLevels, o.Compression = 7, contract.NoCompression
	x.destroyAndReopen(x.onFS(o, fs))
	rnd, values := newRandom(), make([]string, 200)
	put := func(from, to, level int) {
		for i := from; i < to; i++ {
			values[i] = rnd.str(100)
			x.mustPut(0, key(i), values[i])
		}
		x.flushTo(level)
	}
	put(50, 150, 6)
	put(0, 100, 5)
	put(100, 200, 5)
	var f1, f2, f3 string
	for _, f := range x.db.GetLiveFilesMetaData() {
		switch {
		case f.Level == 6:
			f3 = f.Name
		case string(f.SmallestKey) == key(0):
			f1 = f.Name
		default:
			f2 = f.Name
		}
	}
	if f1 == "" || f2 == "" || f3 == "" {
		t.Fatal(f1, f2, f3)
	}
	var it testIter
	ok := func(i int) {
		t.Helper()
		if x.must(it.Status()); !it.Valid() || string(it.Value()) != values[i] {
			t.Fatal(it.at())
		}
	}
	fails := func() { t.Helper(); it.wantError(contract.IsIOError) }

	fs.suffix = f1
	it = x.iter(0)
	it.SeekToFirst()
	fails()
	it.Seek([]byte(key(90))) // not in the first block
	ok(90)
	it.Seek([]byte(key(1)))
	fails()

	fs.suffix = f2
	it = x.iter(0)
	it.Seek([]byte(key(99)))
	ok(99)
	it.Next()
	fails()
	it.Seek([]byte(key(190)))
	ok(190)
	it.Seek([]byte(key(100)))
	fails()
	it.SeekToLast()
	ok(199)
	it.SeekForPrev([]byte(key(100)))
	fails()
	it.SeekForPrev([]byte(key(98)))
	ok(98)

	fs.suffix = f3
	it = x.iter(0)
	it.SeekToFirst()
	fails()
	it.Seek([]byte(key(50)))
	fails()
	it.SeekForPrev([]byte(key(50)))
	fails()
	it.Seek([]byte(key(150))) // not of that file
	ok(150)

	fs.suffix = ""
	it.SeekForPrev([]byte(key(101)))
	ok(101)
	fs.suffix, fs.anyOffset = f1, true
	// Nothing of the key before may be older than what f1 has.
	it.Prev()
	fails()
	fs.suffix = ""
}

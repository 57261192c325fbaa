//go:build syncpoint

// Port of db/db_etc2_test.cc (compactions that are canceled, forwarded, limited).

package db_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

func TestDBTest2_CancelManualCompaction2(t *testing.T) {
	x := newDBTest(t)
	x.sevenLevels()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.Canceled, cro.MaxSubcompactions = &atomic.Bool{}, 1
	levels, entries := passes("DBImpl::RunManualCompaction()::1"), int64(0)
	stoppedLevels, stoppedEntries := int64(0), int64(0)
	syncpoint.SetCallBack("CompactionIterator:ProcessKV", func(any) {
		if entries++; entries == 6 {
			cro.Canceled.Store(true)
			stoppedLevels, stoppedEntries = levels.Load(), entries
		}
	})
	syncpoint.EnableProcessing()
	if err := x.db.CompactRange(&cro, nil, nil); !isPaused(err) {
		t.Error(err)
	}
	x.must(x.full().TestWaitForCompact())
	same(t, "entries compacted", entries, stoppedEntries) // the one that stopped it was the last
	same(t, "levels compacted", levels.Load(), stoppedLevels)
	syncpoint.Reset()
	cro.Canceled.Store(false)
	x.wantAllCompacted(&cro)
}

// cancelListener counts compactions of level 0 that begin and end, all with the
// status expected.
type cancelListener struct {
	rocksdb.EventListenerBase
	x            *dbTest
	begun, ended atomic.Int64
	paused       atomic.Bool // compactions end so
}

func (l *cancelListener) check(i *rocksdb.CompactionJobInfo) {
	if i.CFName != "default" || i.BaseInputLevel != 0 {
		l.x.Errorf("compaction of %s from level %d", i.CFName, i.BaseInputLevel)
	}
}

func (l *cancelListener) OnCompactionBegin(_ rocksdb.DBRef, i *rocksdb.CompactionJobInfo) {
	l.check(i)
	l.begun.Add(1)
}

func (l *cancelListener) OnCompactionCompleted(_ rocksdb.DBRef, i *rocksdb.CompactionJobInfo) {
	l.check(i)
	if want := l.paused.Load(); want && !isPaused(i.Status) || !want && i.Status != nil {
		l.x.Errorf("a compaction's status is %v, paused: %t", i.Status, want)
	}
	l.ended.Add(1)
}

// wantTold checks whether compactions were told of since the last call.
func (l *cancelListener) wantTold(want bool) {
	l.x.Helper()
	begun, ended := l.begun.Swap(0), l.ended.Swap(0)
	if begun != ended || begun > 0 != want {
		l.x.Fatalf("%d compactions begun, %d ended", begun, ended)
	}
}

func TestDBTest2_CancelManualCompactionWithListener(t *testing.T) {
	x := newDBTest(t)
	l := &cancelListener{x: x}
	o := x.currentOptions()
	o.DisableAutoCompactions, o.Listeners = true, append(o.Listeners, l)
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 10 {
		for j := range 10 {
			x.mustPut(0, key(i+j*10), rnd.RandomString(50))
		}
		x.flush(0)
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.Canceled, cro.MaxSubcompactions = &atomic.Bool{}, 1
	cancel := func(any) { cro.Canceled.Store(true) }
	syncpoint.SetCallBack("CompactionIterator:ProcessKV", cancel)
	outputs := passes("CompactionJob::FinishCompactionOutputFile1")
	syncpoint.EnableProcessing()

	compact := func(paused, told bool) {
		t.Helper()
		l.paused.Store(paused)
		if err := x.db.CompactRange(&cro, nil, nil); isPaused(err) != paused || !paused && err != nil {
			t.Fatal(err)
		}
		x.must(x.full().TestWaitForCompact())
		l.wantTold(told)
	}
	compact(true, true)  // canceled while it runs
	compact(true, false) // canceled before
	same(t, "outputs", outputs.Load(), 0)
	syncpoint.ClearCallBack("CompactionIterator:ProcessKV")
	syncpoint.SetCallBack("CompactionJob::Run:BeforeVerify", cancel)
	cro.Canceled.Store(false)
	compact(false, true) // canceled when all is done
	if outputs.Load() == 0 {
		t.Error("nothing was written")
	}
}

func TestDBTest2_CompactionOnBottomPriorityWithListener(t *testing.T) {
	const trigger = 4
	x := newDBTest(t)
	x.poolSize(0, rocksdb.HighPriority)
	x.poolSize(0, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.BottomPriority)
	l := &cancelListener{x: x}
	o := x.currentOptions()
	o.CompactionStyle, o.NumLevels, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, 3, trigger
	o.WriteBufferSize, o.TargetFileSizeBase = 100<<10, 32<<10
	o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 110
	o.Listeners = append(o.Listeners, l)
	x.destroyAndReopen(o)
	forwarded, jobs := passes("DBImpl::BackgroundCompaction:ForwardToBottomPriPool"), passes("CompactionJob::Run():End")
	syncpoint.EnableProcessing()
	rnd := util.NewRandom(301)
	for range trigger {
		next := 0
		x.generateFile(0, rnd, &next, false)
		x.waitForFlush(0)
	}
	x.must(x.full().TestWaitForCompact())
	if forwarded.Load() == 0 {
		t.Error("no compaction went to the bottom pool")
	}
	same(t, "compactions", jobs.Load(), 1)
	l.wantTold(true)
}

func TestDBTest2_RateLimitedCompactionReads(t *testing.T) {
	const keys, valueSize, files = 128, 1024, 4
	for _, readahead := range []uint64{0, 32 << 10} {
		for _, direct := range []bool{false, true} {
			t.Run(fmt.Sprintf("readahead=%d,direct=%t", readahead, direct), func(t *testing.T) {
				x := newDBTest(t)
				// Each interval permits less than a block, so that reads are cut up.
				limiter, err := ratelimiter.NewGenericRateLimiter(files*keys*valueSize*4, 2500, 10, contract.ReadsOnly, false, 0)
				x.must(err)
				o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) { b.BlockSize, b.NoBlockCache = 16384, true })
				o.CompactionReadaheadSize, o.Compression, o.Level0FileNumCompactionTrigger = readahead, rocksdb.NoCompression, files
				o.MemtableFactory, o.RateLimiter = newSpecialSkipListFactory(keys), limiter
				o.UseDirectReads, o.UseDirectIOForFlushAndCompaction = direct, direct
				x.destroy(x.last)
				if direct {
					x.reopenDirect(o)
				} else {
					x.reopen(o)
				}
				wake := x.blockThreads(rocksdb.LowPriority) // flushes read as well
				for i := range files {
					for j := range keys + 1 {
						x.mustPut(0, key(j), dummyString(valueSize, 'a'))
					}
					x.waitForFlush(0)
					if i+1 < files {
						x.wantLevelFiles(0, i+1)
					}
				}
				before := limiter.GetTotalBytesThrough(rocksdb.IOTotal)
				wake()
				x.must(x.full().TestWaitForCompact())
				x.wantLevelFiles(0, 0)
				read := limiter.GetTotalBytesThrough(rocksdb.IOTotal) - before
				ofCompactions := func() int64 {
					return limiter.GetTotalBytesThrough(rocksdb.IOLow) + limiter.GetTotalBytesThrough(rocksdb.IOUser)
				}
				same(t, "bytes of compactions", ofCompactions(), read)
				extra := int64(0)
				if direct { // the footer is read ahead
					extra = 512 << 10
				}
				if least := int64(keys * valueSize * files); read < least || read >= 2*least+extra {
					t.Errorf("%d bytes were read for %d of values", read, least)
				}
				it := x.db.NewIterator(nil)
				for _, v := range it.All() {
					same(t, "value", string(v), dummyString(valueSize, 'a'))
				}
				x.must(errors.Join(it.Err(), it.Close()))
				same(t, "bytes of compactions after a scan", ofCompactions(), read)
			})
		}
	}
}

func TestDBTest2_TestCompactFiles(t *testing.T) {
	x := newExtTest(t)
	order("TestCompactFiles::IngestExternalFile1", "TestCompactFiles::IngestExternalFile2")
	o := x.plainOptions()
	o.NumLevels, o.DisableAutoCompactions = 2, true
	x.reopen(o)
	same(t, "levels", x.cf(0).Impl().CFD().NumberLevels(), 2)
	first := x.write(o, "test_compact_files1.sst_t", kv("1", "1", "2", "2"))
	second := x.write(o, "test_compact_files2.sst_t", kv("3", "3", "4", "4"))
	third := x.write(o, "test_compact_files3.sst_t", kv("5", "5", "6", "6"))
	x.ingest(0, first, third)
	same(t, "files at level 1", x.numTableFilesAtLevel(1, 0), 2)
	files := x.files(rocksdb.TableFile)
	same(t, "files", len(files), 2)
	var wg sync.WaitGroup
	var compactErr, ingestErr error
	wg.Go(func() { _, compactErr = x.db.CompactFiles(nil, files, 1, -1, nil) })
	wg.Go(func() {
		ingestErr = x.db.IngestExternalFile([]string{second}, nil)
		syncpoint.Process("TestCompactFiles::IngestExternalFile1")
	})
	wg.Wait()
	x.must(errors.Join(compactErr, ingestErr))
}

func TestDBTest2_TestCancelCompactFiles(t *testing.T) {
	const keys, files = 1000, 10 // a hundredth of upstream's
	x := newExtTest(t)
	o := x.plainOptions()
	o.NumLevels, o.DisableAutoCompactions = 2, true
	x.reopen(o)
	var paths []string
	for i := range files {
		var entries []string
		for j := range keys {
			entries = append(entries, key(j+keys*i), strconv.Itoa(j))
		}
		paths = append(paths, x.write(o, fmt.Sprintf("test_compact_files%d.sst_t", i), kv(entries...)))
	}
	x.ingest(0, paths...)
	tables := x.files(rocksdb.TableFile)
	same(t, "files", len(tables), files)
	co := rocksdb.DefaultCompactionOptions()
	co.Canceled = &atomic.Bool{}
	compact := func(canceled, paused bool, left int) {
		t.Helper()
		co.Canceled.Store(canceled)
		if _, err := x.db.CompactFiles(&co, tables, 1, -1, nil); isPaused(err) != paused || !paused && err != nil {
			t.Fatal(err)
		}
		same(t, "files at level 1", x.numTableFilesAtLevel(1, 0), left)
	}
	compact(true, true, files)

	disable := false
	syncpoint.SetCallBack("TestCancelCompactFiles:SuccessfulCompaction", func(arg any) {
		paused := int32(0)
		if disable {
			x.db.DisableManualCompaction()
			paused = 1
		} else {
			co.Canceled.Store(true)
		}
		same(t, "paused", arg.(*atomic.Int32).Load(), paused)
	})
	syncpoint.EnableProcessing()
	compact(false, true, files) // canceled before it is looked at
	disable = true
	compact(false, true, files)
	same(t, "canceled by DisableManualCompaction", co.Canceled.Load(), false) // unlike CompactRange's
	syncpoint.ClearAllCallBacks()
	x.db.EnableManualCompaction()
	syncpoint.SetCallBack("CompactFilesImpl:0", func(any) { co.Canceled.Store(true) })
	compact(false, false, 1) // too late
}

func TestDBTest2_SwitchMemtableRaceWithNewManifest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 10, 0
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(0, "foo", "value")
	for i := range o.Level0FileNumCompactionTrigger {
		x.puts(1, "a", fmt.Sprint(i), "flush")
	}
	flushed := make(chan error, 1)
	go func() {
		fo := rocksdb.DefaultFlushOptions()
		flushed <- x.db.Flush(&fo)
	}()
	x.must(x.full().TestWaitForCompact())
	x.must(<-flushed)
}

// No upstream twin: options of the engine that other mirrored tests do not set.

package db_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
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

// The file manager knows the tables, refuses compactions there is no room for,
// and stops writes when the space allowed is used up.
func TestDBOptions_SstFileManager(t *testing.T) {
	x := newDBTest(t)
	m := file.NewSstFileManager(env.Default(), nil, nil, 0, 0.25, 0)
	defer m.Close()
	stats := rocksdb.NewStatistics()
	o := x.currentOptions()
	o.SstFileManager, o.Statistics = m, stats
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	table := func() {
		for i := range 100 {
			x.mustPut(0, key(i), dummyString(100, 'v'))
		}
		x.flush(0)
	}
	table()
	table()
	tracked := m.GetTrackedFiles()
	if len(tracked) != 2 || m.GetTotalSize() == 0 {
		t.Fatalf("tracked: %v", tracked)
	}
	x.close()
	if n := len(m.GetTrackedFiles()); n != 0 {
		t.Fatalf("%d files tracked after Close", n)
	}
	x.reopen(o)
	again := m.GetTrackedFiles()
	for path := range tracked {
		if again[path] != tracked[path] {
			t.Fatalf("tracked %v, before %v", again, tracked)
		}
	}
	m.SetMaxAllowedSpaceUsage(m.GetTotalSize() + m.GetTotalSize()/2)
	err := x.db.CompactRange(nil, nil, nil)
	if rocksdb.CodeOf(err) != rocksdb.CodeCompactionTooLarge {
		t.Fatalf("compaction without room: %v", err)
	}
	if n := stats.GetTickerCount(rocksdb.CompactionCancelled); n == 0 {
		t.Fatal("the cancelled compaction is not counted")
	}
	m.SetMaxAllowedSpaceUsage(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	if n := m.GetCompactionsReservedSize(); n != 0 {
		t.Fatalf("%d bytes still reserved", n)
	}
	m.SetMaxAllowedSpaceUsage(1)
	x.mustPut(0, "k", "v")
	_ = x.db.Flush(nil)
	if err := x.put(0, "k", "v"); err == nil {
		t.Fatal("written beyond the space allowed")
	}
}

// The statistics are dumped and kept at the periods asked for, which
// SetDBOptions changes.
func TestDBOptions_StatsPeriods(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 0, 0
	o.DumpMallocStats = true
	x.destroyAndReopen(o)
	logText := func() string {
		b, err := os.ReadFile(filepath.Join(x.dir, "LOG"))
		x.must(err)
		return string(b)
	}
	x.mustPut(0, "k", "v")
	if it := x.full().GetStatsHistory(0, math.MaxUint64); it.Valid() || strings.Contains(logText(), "DUMPING STATS") {
		t.Fatal("statistics with periods of 0")
	}
	x.must(x.db.SetDBOptions(map[string]string{"stats_dump_period_sec": "1", "stats_persist_period_sec": "1"}))
	eventually(t, "no dump", func() bool { return strings.Contains(logText(), "DUMPING STATS") })
	eventually(t, "no memory statistics", func() bool { return strings.Contains(logText(), "allocated: ") })
	eventually(t, "no history", func() bool {
		x.mustPut(0, "k", "v")
		for it := x.full().GetStatsHistory(0, math.MaxUint64); it.Valid(); it.Next() {
			if it.GetStatsMap()["rocksdb.number.keys.written"] > 0 {
				return true
			}
		}
		return false
	})
	x.must(x.db.SetDBOptions(map[string]string{"stats_history_buffer_size": "0"}))
	eventually(t, "history beyond its limit", func() bool { return !x.full().GetStatsHistory(0, math.MaxUint64).Valid() })
}

// SetOptions by many at once: one OPTIONS file after the other is written and
// verified, though the filter policy is changed in place.
func TestDBOptions_SetOptionsByMany(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FilterPolicy = rocksdb.NewRibbonFilterPolicy(8, 0)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				if err := x.db.SetOptions(map[string]string{"table_factory.filter_policy.bloom_before_level": strconv.Itoa((i + j) % 5)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// What a table factory would refuse of the options at Open, SetOptions takes.
func TestDBOptions_SetOptionsAsksNoTableFactory(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression = rocksdb.NoCompression
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockAlign = true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	x.must(x.db.SetOptions(map[string]string{"block_based_table_factory": "{block_size=18802}"}))
	for i := range 100 {
		x.mustPut(0, fmt.Sprint(i), dummyString(1000, 'v'))
	}
	x.flush(0)
	x.must(x.db.VerifyChecksum(nil))
}

// Who locks the WAL while another one is at it waits for the writes under way
// as well.
func TestDBWAL_LockWALByTwo(t *testing.T) {
	x := newDBTest(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := x.db.Put(nil, []byte(fmt.Sprint(i, j%100)), []byte("v")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var lockers sync.WaitGroup
	for range 4 {
		lockers.Go(func() {
			for range 300 {
				if err := x.full().LockWAL(); err != nil {
					t.Error(err)
					return
				}
				before := x.db.GetLatestSequenceNumber()
				runtime.Gosched()
				if after := x.db.GetLatestSequenceNumber(); after != before {
					t.Errorf("sequence number went from %d to %d", before, after)
				}
				if err := x.full().UnlockWAL(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	lockers.Wait()
	close(stop)
	wg.Wait()
}

// CompactRange with atomic flush flushes all families.
func TestDBAtomicFlush_CompactRange(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AtomicFlush = true
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for cf := range 2 {
		x.must(x.cfs[cf].Put(&rocksdb.WriteOptions{DisableWAL: true}, []byte("k"), []byte("v")))
	}
	x.compact(1, "", "")
	if n := x.numTableFilesAtLevel(0, 0); n != 1 {
		t.Errorf("%d tables of the other family", n)
	}
}

// TestDBOptions_SetDBOptionsSwitchesLog: another way of syncing the log begins
// with a new one, and logs larger than now allowed are done with.
func TestDBOptions_SetDBOptionsSwitchesLog(t *testing.T) {
	x := newDBTest(t)
	set := func(name, value string, switches bool) {
		t.Helper()
		x.mustPut(0, "key", dummyString(10000, 'v'))
		before := x.full().TestLogfileNumber()
		x.must(x.db.SetDBOptions(map[string]string{name: value}))
		if after := x.full().TestLogfileNumber(); after != before != switches {
			t.Errorf("%s=%s: log %d after %d", name, value, after, before)
		}
		x.must(x.full().TestWaitForBackgroundWork())
	}
	set("wal_bytes_per_sync", "4096", true)
	set("wal_bytes_per_sync", "4096", false)
	set("max_total_wal_size", "1000000", false)
	set("max_total_wal_size", "1000", true)
	x.wantGet(0, "key", dummyString(10000, 'v'))
}

// lentBlocks lends memory to scans and overwrites what comes back.
type lentBlocks struct {
	mu          sync.Mutex
	live, total int
}

func (l *lentBlocks) Allocate(size, _ int) (rocksdb.BlockBufferLease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live++
	l.total++
	b := make([]byte, size)
	return rocksdb.BlockBufferLease{Data: b, Release: func() {
		clear(b)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.live--
	}}, nil
}

// Scans give the same out of a provider's memory, which comes back; the block cache
// gets no data blocks.
func TestDBOptions_ReadScopedBlockBufferProvider(t *testing.T) {
	x := newDBTest(t)
	for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.LZ4Compression} {
		o, b := x.currentOptions(), rocksdb.DefaultBlockBasedTableOptions()
		o.Compression, o.Statistics = c, rocksdb.NewStatistics()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		x.destroyAndReopen(o)
		for i := range 2000 {
			x.mustPut(0, fmt.Sprintf("key%04d", i*7%2000), strings.Repeat(strconv.Itoa(i), 20))
			if i%500 == 499 {
				x.flush(0)
			}
		}
		plain := rocksdb.DefaultReadOptions()
		var want, got []string
		scan := func(ro *rocksdb.ReadOptions) (all []string) {
			it := x.db.NewIterator(ro)
			for it.SeekToFirst(); it.Valid(); it.Next() {
				all = append(all, string(it.Key())+string(it.Value()))
			}
			for it.SeekForPrev([]byte("key1000")); it.Valid(); it.Prev() {
				all = append(all, string(it.Key())+string(it.Value()))
			}
			x.must(it.Err())
			x.must(it.Close())
			return all
		}
		l := new(lentBlocks)
		for _, pin := range []bool{false, true} {
			ro := plain
			ro.ReadScopedBlockBufferProvider, ro.PinData, ro.AsyncIO = l, pin, pin
			got = append(got, scan(&ro)...)
		}
		if n := o.Statistics.GetTickerCount(rocksdb.BlockCacheDataAdd); n != 0 || l.live != 0 || l.total == 0 {
			t.Errorf("%d blocks were cached, %d of %d pieces of memory did not come back", n, l.live, l.total)
		}
		want = append(scan(&plain), scan(&plain)...)
		if !slices.Equal(got, want) {
			t.Errorf("%d entries, want %d", len(got), len(want))
		}
	}
}

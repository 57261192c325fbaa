//go:build syncpoint

// Port of db/column_family_test.cc (ColumnFamilyRetainUDTTest and the like:
// timestamps that only memtables keep).

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	checkFlushRequest = "DBImpl::BackgroundFlush:CheckFlushRequest:cb"
	afterReschedule   = "DBImpl::AfterRetainUDTReschedule:cb"
)

func newRetainUDTTest(t *testing.T) *cfTest {
	x := newCFTest(t)
	x.dbo.AllowConcurrentMemtableWrite = false
	x.cfo.Comparator = util.BytewiseComparatorWithU64Ts()
	x.cfo.PersistUserDefinedTimestamps = false
	return x
}

func (x *cfTest) putTS(key string, ts uint64, value string) {
	x.Helper()
	x.must(x.cfs[0].PutWithTimestamp(nil, []byte(key), u64ts(ts), []byte(value)))
}

func (x *cfTest) wantGetAtTS(key string, ts uint64, want string) {
	x.Helper()
	v, err := x.cfs[0].Get(readAt(u64ts(ts)), []byte(key))
	x.must(err)
	x.want(string(v.Data()) == want, "%s at %d is %q, not %q", key, ts, v.Data(), want)
	v.Release()
}

func (x *cfTest) raiseLow(ts uint64) {
	x.Helper()
	x.must(x.cfs[0].IncreaseFullHistoryTsLow(u64ts(ts)))
}

// wantCutoff checks full_history_ts_low.
func (x *cfTest) wantCutoff(want uint64) {
	x.Helper()
	low, err := x.cfs[0].GetFullHistoryTsLow()
	x.must(err)
	x.want(bytes.Equal(low, u64ts(want)), "full_history_ts_low %x, not %d", low, want)
}

// wantTries checks how often a flush request was taken up before it ran.
func (x *cfTest) wantTries(want int) *atomic.Int32 {
	var seen atomic.Int32
	syncpoint.SetCallBack(checkFlushRequest, func(arg any) {
		if n := *arg.(*int); n != want {
			x.Errorf("a flush request was taken up %d times, not %d", n, want)
		}
		seen.Add(1)
	})
	syncpoint.EnableProcessing()
	return &seen
}

// switchAndFlush makes the log grow too old, which flushes automatically.
func (x *cfTest) switchAndFlush() {
	x.Helper()
	x.must(x.full().TestSwitchWAL())
	x.waitForFlush(0)
}

func TestColumnFamilyRetainUDTTest_SanityCheck(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	o := rocksdb.DefaultColumnFamilyOptions()
	o.PersistUserDefinedTimestamps = false
	o.Comparator = newTSComparator() // of 16 bytes
	if _, err := x.db.CreateColumnFamily(o, "pikachu"); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatal(err)
	}
	x.destroy()
	x.dbo.AtomicFlush = true
	if err := x.tryOpen([]string{"default"}); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatal(err)
	}
	x.dbo.AtomicFlush = false
	x.dbo.AllowConcurrentMemtableWrite = true
	if err := x.tryOpen([]string{"default"}); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatal(err)
	}
}

func TestAutoFlushRetainUDTTest_FullHistoryTsLowNotSet(t *testing.T) {
	x := newRetainUDTTest(t)
	x.wantTries(1)
	x.open()
	x.putTS("foo", 1, "v1")
	x.switchAndFlush()
	x.wantCutoff(2)
}

func TestAutoFlushRetainUDTTest_AllKeysExpired(t *testing.T) {
	x := newRetainUDTTest(t)
	x.wantTries(1)
	x.open()
	x.putTS("foo", 1, "v1")
	x.raiseLow(3)
	x.switchAndFlush()
	x.wantCutoff(3)
}

func TestAutoFlushRetainUDTTest_NotAllKeysExpiredFlushToAvoidWriteStall(t *testing.T) {
	x := newRetainUDTTest(t)
	x.wantTries(1)
	x.open()
	x.putTS("foo", 1, "v1")
	x.raiseLow(1)
	x.must(x.cfs[0].SetOptions(map[string]string{"max_write_buffer_number": "1"}))
	x.switchAndFlush()
	x.wantCutoff(2)
}

func TestAutoFlushRetainUDTTest_NotAllKeysExpiredFlushRescheduled(t *testing.T) {
	x := newRetainUDTTest(t)
	syncpoint.SetCallBack(afterReschedule, func(any) {
		if err := x.cfs[0].IncreaseFullHistoryTsLow(u64ts(3)); err != nil {
			t.Error(err)
		}
	})
	seen := x.wantTries(2)
	x.open()
	x.putTS("foo", 1, "v1")
	x.raiseLow(1)
	x.switchAndFlush()
	x.want(seen.Load() == 1, "%d requests", seen.Load())
	x.wantCutoff(3)
}

// wantAutomaticFlushWaits writes an entry whose timestamp is to be kept and
// checks that the automatic flush waits for it to expire.
func (x *cfTest) wantAutomaticFlushWaits(ts uint64) {
	x.Helper()
	syncpoint.SetCallBack(afterReschedule, func(any) {
		if err := x.cfs[0].IncreaseFullHistoryTsLow(u64ts(ts + 1)); err != nil {
			x.Error(err)
		}
	})
	seen := x.wantTries(2)
	x.putTS("foo", ts, fmt.Sprint("foo", ts))
	x.switchAndFlush()
	x.want(seen.Load() == 1, "%d requests", seen.Load())
	endSyncPoints()
}

func TestManualFlushSkipRetainUDTTest_ManualFlush(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	x.raiseLow(0)
	x.putTS("foo", 1, "v1")
	x.flush(0)
	x.wantCutoff(2)
	x.wantAutomaticFlushWaits(3)
}

// onlyTable gives the properties of the one table there is.
func (x *cfTest) onlyTable() *rocksdb.TableProperties {
	x.Helper()
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	x.want(len(props) == 1, "%d tables", len(props))
	for _, p := range props {
		return p
	}
	return nil
}

func TestManualFlushSkipRetainUDTTest_FlushRemovesStaleEntries(t *testing.T) {
	x := newRetainUDTTest(t)
	x.cfo.MaxWriteBufferNumber = 4
	x.open()
	x.raiseLow(0)
	for v := range uint64(100) {
		if v == 50 {
			x.must(x.full().TestSwitchMemtable(x.cfs[0]))
		}
		x.putTS("foo", v, fmt.Sprint("v", v))
	}
	x.flush(0)
	p := x.onlyTable()
	x.want(p.NumEntries == 1 && p.NumDeletions == 0 && p.NumRangeDeletions == 0, "%d entries, %d deletions, %d of ranges",
		p.NumEntries, p.NumDeletions, p.NumRangeDeletions)
	x.wantCutoff(100)
	x.wantAutomaticFlushWaits(101)
}

func TestManualFlushSkipRetainUDTTest_RangeDeletionFlushRemovesStaleEntries(t *testing.T) {
	x := newRetainUDTTest(t)
	x.cfo.MaxWriteBufferNumber = 4
	x.open()
	x.raiseLow(9)
	name := func(i int) string { return fmt.Sprint("foo", i) }
	for i := 10; i < 100; i++ {
		x.putTS(name(i), uint64(i), fmt.Sprint("val", i))
		if i%2 == 1 {
			x.must(x.cfs[0].DeleteRangeWithTimestamp(nil, []byte(name(i-1)), []byte(name(i)), u64ts(uint64(i))))
		}
	}
	x.flush(0)
	x.wantCutoff(100)
	it := x.cfs[0].NewIterator(readAt(u64ts(100)))
	i := 11
	for it.SeekToFirst(); it.Valid(); it.Next() {
		checkIterUserEntry(t, it, []byte(name(i)), false, fmt.Sprint("val", i), u64ts(0))
		i += 2
	}
	x.must(it.Err())
	x.must(it.Close())
	x.want(i == 101, "ended at %d", i)
	p := x.onlyTable()
	x.want(p.NumEntries == 90 && p.NumDeletions == 45 && p.NumRangeDeletions == 45, "%d entries, %d deletions, %d of ranges",
		p.NumEntries, p.NumDeletions, p.NumRangeDeletions)
}

func TestManualFlushSkipRetainUDTTest_ManualCompaction(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	x.raiseLow(0)
	x.putTS("foo", 1, "v2")
	x.must(x.cfs[0].CompactRange(nil, nil, nil))
	x.wantCutoff(2)
	x.wantAutomaticFlushWaits(3)
}

func TestManualFlushSkipRetainUDTTest_BulkLoading(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	x.raiseLow(0)
	x.putTS("foo", 1, "v1")
	dir := t.TempDir()
	x.must(os.MkdirAll(dir, 0o755))
	write := func(name, key, value string) string {
		w := rocksdb.NewSstFileWriter(rocksdb.Options{DBOptions: x.dbo, ColumnFamilyOptions: x.cfo}, nil)
		path := filepath.Join(dir, name)
		x.must(w.Open(path, rocksdb.TemperatureUnknown))
		x.must(w.PutWithTS([]byte(key), u64ts(0), []byte(value)))
		x.must(w.Finish(nil))
		x.must(w.Close())
		return path
	}
	// It overlaps with keys that the database has.
	o := rocksdb.DefaultIngestExternalFileOptions()
	x.wantInvalid(x.cfs[0].IngestExternalFile([]string{write("file1.sst", "foo", "v2")}, &o))
	x.must(x.cfs[0].IngestExternalFile([]string{write("file2.sst", "bar", "val")}, &o))
	x.wantGetAtTS("foo", 1, "v1")
	x.wantGetAtTS("bar", 0, "val")
	x.wantCutoff(0)
	x.wantAutomaticFlushWaits(1)
}

func TestManualFlushSkipRetainUDTTest_AutomaticFlushQueued(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	x.raiseLow(0)
	x.putTS("foo", 1, "v1")
	x.must(x.full().TestSwitchWAL())
	x.wantCutoff(0)
	// The automatic flush goes ahead for the sake of this one.
	x.flush(0)
	x.wantCutoff(2)
	x.wantAutomaticFlushWaits(3)
}

func TestManualFlushSkipRetainUDTTest_ConcurrentManualFlushes(t *testing.T) {
	x := newRetainUDTTest(t)
	x.open()
	x.raiseLow(0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	turn := sync.NewCond(&mu)
	next := uint64(0)
	for ts := range uint64(10) {
		wg.Go(func() {
			mu.Lock()
			for next != ts {
				turn.Wait()
			}
			err := x.cfs[0].PutWithTimestamp(nil, fmt.Append(nil, "foo", ts), u64ts(ts), fmt.Append(nil, "val_", ts))
			next++
			turn.Broadcast()
			mu.Unlock()
			if err == nil && ts%2 == 0 {
				err = x.cfs[0].Flush(nil)
			} else if err == nil {
				err = x.cfs[0].CompactRange(nil, nil, nil)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	x.wantCutoff(10)
	x.wantAutomaticFlushWaits(11)
}

// TestRetainUDT_Recovery: what a crash left in the log comes back with its
// timestamps, or without them where recovery flushes; the newest timestamp seen
// is known either way.
func TestRetainUDT_Recovery(t *testing.T) {
	for _, keepInMemory := range []bool{true, false} {
		t.Run(fmt.Sprint("avoid_flush ", keepInMemory), func(t *testing.T) {
			x := newRetainUDTTest(t)
			x.dbo.AvoidFlushDuringShutdown = true
			x.dbo.AvoidFlushDuringRecovery = keepInMemory
			x.open()
			newest := func(want []byte) {
				t.Helper()
				got, err := x.cfs[0].GetNewestUserDefinedTimestamp()
				x.must(err)
				x.want(bytes.Equal(got, want), "newest timestamp %x, not %x", got, want)
			}
			newest(nil)
			x.putTS("a", 1, "old")
			x.flush(0)
			newest(u64ts(1))
			x.putTS("a", 5, "new")
			x.must(x.cfs[0].DeleteRangeWithTimestamp(nil, []byte("b"), []byte("c"), u64ts(7)))
			newest(u64ts(7))
			x.reopen()
			x.wantGetAtTS("a", 9, "new")
			newest(u64ts(7))
			if keepInMemory {
				x.wantCutoff(2)
				x.wantGetAtTS("a", 3, "old")
				x.flush(0)
			}
			x.wantCutoff(8)
			if _, err := x.cfs[0].Get(readAt(u64ts(3)), []byte("a")); !errors.Is(err, rocksdb.ErrInvalidArgument) {
				t.Errorf("history below the limit: %v", err)
			}
			x.wantGetAtTS("a", 8, "new")
			it := x.cfs[0].NewIterator(readAt(u64ts(8)))
			it.SeekToFirst()
			checkIterUserEntry(t, it, []byte("a"), false, "new", u64ts(0))
			it.Next()
			x.want(!it.Valid() && it.Err() == nil, "another entry, or %v", it.Err())
			x.must(it.Close())
			x.must(x.cfs[0].CompactRange(nil, nil, nil))
			x.reopen()
			x.wantGetAtTS("a", 8, "new")
		})
	}
}

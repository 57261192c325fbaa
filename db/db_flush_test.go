// Port of db/db_flush_test.cc: statistics of flushes, blob files, errors; what
// needs sync points is in db_flush_syncpoint_test.go, atomic flushes are in
// db_flush_atomic_syncpoint_test.go, mempurge in db_flush_mempurge_syncpoint_test.go.

package db_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// garbageTest counts what a memtable holds and what of it is overwritten.
type garbageTest struct {
	*dbTest
	rnd              random
	payload, garbage int
}

func newGarbageTest(t *testing.T) *garbageTest {
	x := &garbageTest{dbTest: newDBTest(t), rnd: newRandom()}
	o := x.currentOptions()
	o.Statistics = monitoring.CreateDBStatistics()
	o.Statistics.SetStatsLevel(contract.StatsLevelAll)
	o.Compression, o.WriteBufferSize = rocksdb.NoCompression, 64<<20
	x.reopen(o)
	return x
}

// count adds an entry; one that does not last is garbage as well.
func (x *garbageTest) count(key, value string, lasts bool) {
	n := len(key) + 8 + len(value)
	x.payload += n
	if !lasts {
		x.garbage += n
	}
}

func (x *garbageTest) putCounted(key, value string, lasts bool) {
	x.Helper()
	x.mustPut(0, key, value)
	x.count(key, value, lasts)
}

func (x *garbageTest) deleteCounted(key string, lasts bool) {
	x.Helper()
	x.mustDelete(0, key)
	x.count(key, "", lasts)
}

func (x *garbageTest) deleteRangeCounted(begin, end string, lasts bool) {
	x.Helper()
	x.deleteRange(0, begin, end)
	x.count(begin, end, lasts)
}

// putThree writes values of n bytes that are going to be overwritten.
func (x *garbageTest) putThree(n int) {
	x.Helper()
	for _, k := range []string{"key1", "key2", "key3"} {
		x.putCounted(k, x.rnd.str(n), false)
	}
}

func (x *garbageTest) flushAndCompare() {
	x.Helper()
	x.flush(0)
	x.wantTicker(contract.MemtablePayloadBytesAtFlush, x.payload)
	x.wantTicker(contract.MemtableGarbageBytesAtFlush, x.garbage)
}

func TestDBFlushTest_StatisticsGarbageBasic(t *testing.T) {
	x := newGarbageTest(t)
	for range 2000 {
		x.putThree(172)
	}
	for k, v := range map[string]string{"key1": "value1", "key2": "value2", "key3": "value3"} {
		x.putCounted(k, v, true)
		x.wantGet(0, k, v)
	}
	x.flushAndCompare()
}

func TestDBFlushTest_StatisticsGarbageInsertAndDeletes(t *testing.T) {
	x := newGarbageTest(t)
	const n = 2000
	for i := range n {
		x.putThree(37)
		for _, k := range []string{"key1", "key2", "key3"} {
			x.deleteCounted(k, i == n-1)
		}
	}
	for _, k := range []string{"key4", "key5", "key6"} {
		x.deleteCounted(k, true)
	}
	for _, k := range []string{"key1", "key2", "key3"} {
		x.wantGet(0, k, "NOT_FOUND")
	}
	x.flushAndCompare()
}

func TestDBFlushTest_StatisticsGarbageRangeDeletes(t *testing.T) {
	x := newGarbageTest(t)
	const n = 1000
	for i := range n {
		x.putThree(42)
		x.deleteRangeCounted("key1", "key2", i == n-1)
		x.deleteRangeCounted("key2", "key3", i == n-1)
	}
	x.putCounted("key3", "value3", true)
	x.deleteRangeCounted("key4", "key5", true)
	x.deleteRangeCounted("key5", "key6", true)
	x.wantGet(0, "key1", "NOT_FOUND")
	x.wantGet(0, "key2", "NOT_FOUND")
	x.wantGet(0, "key3", "value3")
	x.flushAndCompare()
}

func TestDBFlushTest_FlushReasonStatsWriteBufferFull(t *testing.T) {
	x := newDBTest(t)
	c := &flushCounter{want: contract.FlushReasonWriteBufferFull}
	o := x.currentOptions()
	o.Statistics = monitoring.CreateDBStatistics()
	o.Statistics.SetStatsLevel(contract.StatsLevelAll)
	o.Compression, o.DisableAutoCompactions, o.AvoidFlushDuringShutdown = rocksdb.NoCompression, true, true
	o.WriteBufferSize, o.MaxWriteBufferNumber = 16<<10, 8
	o.Listeners = append(o.Listeners, c)
	x.reopen(o)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	for i := range 20 {
		x.mustPutWith(0, key(i), dummyString(10<<10, 'a'), &wo)
	}
	x.waitForFlush(0)
	x.must(x.full().TestWaitForBackgroundWork())
	flushes := x.ticker(contract.TickerFlushReasonWriteBufferFull)
	if flushes == 0 || c.other.Load() != 0 {
		t.Errorf("%d flushes of full memtables, %d others", flushes, c.other.Load())
	}
	x.wantTicker(contract.TickerFlushReasonWriteBufferManager, 0)
	for h, exact := range map[contract.Histogram]bool{contract.HistFlushMemtableMemoryBytes: false, contract.HistFlushMemtableTotalDataSize: false,
		contract.HistFlushWriteBufferFullMemtableMemoryBytes: true} {
		data := o.Statistics.GetHistogramData(h)
		if int(data.Count) < flushes || exact && int(data.Count) != flushes || data.Sum == 0 {
			t.Errorf("histogram %d: %d, sum %d, after %d flushes", h, data.Count, data.Sum, flushes)
		}
	}
	same(t, "flushes for the write buffer manager", o.Statistics.GetHistogramData(contract.HistFlushWriteBufferManagerMemtableMemoryBytes).Count, 0)
}

func TestDBFlushTest_FlushError(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.DisableAutoCompactions = 100, 4, 3, true
	x.reopen(o)
	x.puts(0, "key1", "value1", "key2", "value2")
	x.fault.SetFilesystemActive(false, nil)
	err := x.full().TestSwitchMemtable(nil)
	x.fault.SetFilesystemActive(true, nil)
	if err == nil {
		t.Error("the memtable was switched without a file system")
	}
}

func TestDBFlushTest_ManualFlushFailsInReadOnlyMode(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.MaxWriteBufferNumber = 2
	x.reopen(o)
	x.must(x.full().PauseBackgroundWork())
	x.mustPut(0, "key1", "value1")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	x.mustPut(0, "key2", "value2")
	x.fault.SetFilesystemActive(false, nil)
	defer x.fault.SetFilesystemActive(true, nil)
	x.must(x.full().ContinueBackgroundWork())
	if x.full().TestWaitForFlushMemTable(nil) == nil {
		t.Error("flushed without a file system")
	}
	if x.intProperty(0, "rocksdb.background-errors") == 0 {
		t.Error("no background error counted")
	}
	if x.db.Flush(nil) == nil {
		t.Error("manual flush of a stopped database")
	}
	x.close()
}

// wantFlushStats checks what the family's statistics say of flushes: with
// tables, blobs or neither.
func (x *dbTest) wantFlushStats(tableBytes, blobBytes uint64, tables, blobs int) {
	x.Helper()
	stats := x.cf(0).Impl().CFD().InternalStats()
	s := stats.TESTGetCompactionStats()[0]
	same(x, "bytes of tables", s.BytesWritten, tableBytes)
	same(x, "bytes of blob files", s.BytesWrittenBlob, blobBytes)
	same(x, "tables", s.NumOutputFiles, tables)
	same(x, "blob files", s.NumOutputFilesBlob, blobs)
	same(x, "flushed bytes", stats.GetCFStats(db.BytesFlushed), tableBytes+blobBytes)
}

func TestDBFlushTest_FlushWithBlob(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles, o.MinBlobSize, o.DisableAutoCompactions = true, 10, true
	x.reopen(o)
	x.puts(0, "key1", "short", "key2", "long_value")
	x.flush(0)
	x.wantGet(0, "key1", "short")
	x.wantGet(0, "key2", "long_value")
	files, blobs := x.storage(0).LevelFiles(0), x.storage(0).GetBlobFiles()
	if len(files) != 1 || len(blobs) != 1 {
		t.Fatalf("%d tables, %d blob files", len(files), len(blobs))
	}
	f := files[0]
	same(t, "smallest key", string(f.Smallest.UserKey()), "key1")
	same(t, "largest key", string(f.Largest.UserKey()), "key2")
	same(t, "smallest sequence number", f.FD.SmallestSeqno, 1)
	same(t, "largest sequence number", f.FD.LargestSeqno, 2)
	same(t, "oldest blob file", f.OldestBlobFileNumber, blobs[0].GetBlobFileNumber())
	same(t, "blobs", blobs[0].GetTotalBlobCount(), 1)
	x.wantFlushStats(f.FD.GetFileSize(), blobs[0].GetTotalBlobBytes(), 1, 1)
}

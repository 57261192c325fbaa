// Port of db/db_with_timestamp_compaction_test.cc (what needs no sync points).

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// newTSCompactionTest opens a database with timestamps of 8 bytes.
func newTSCompactionTest(t *testing.T, change func(o *rocksdb.Options)) *dbTest {
	t.Helper()
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator = util.BytewiseComparatorWithU64Ts()
	if change != nil {
		change(&o)
	}
	x.destroyAndReopen(o)
	return x
}

// fourLevels are the options of the cases about tables' timestamps.
func fourLevels(o *rocksdb.Options) {
	o.CompactionStyle = rocksdb.CompactionStyleLevel
	o.NumLevels = 4
	o.PersistUserDefinedTimestamps = true
}

func (x *dbTest) putU64(key string, ts uint64, value string) {
	x.Helper()
	x.must(x.db.PutWithTimestamp(nil, []byte(key), u64ts(ts), []byte(value)))
}

func (x *dbTest) wantU64(key string, at uint64, value string) {
	x.Helper()
	v, err := x.db.Get(readAt(u64ts(at)), []byte(key))
	x.must(err)
	defer v.Release()
	if string(v.Data()) != value {
		x.Fatalf("%q at %d is %q, not %q", key, at, v.Data(), value)
	}
}

// tableStamps are the ranges of timestamps of the tables, as their metadata has
// them.
func (x *dbTest) tableStamps() (ranges [][2]uint64) {
	x.Helper()
	s := x.storage(0)
	for level := range s.NumLevels() {
		for _, f := range s.LevelFiles(level) {
			if len(f.MinTimestamp) != 8 || len(f.MaxTimestamp) != 8 {
				x.Fatalf("level %d: file %d has timestamps %x to %x", level, f.FD.GetNumber(), f.MinTimestamp, f.MaxTimestamp)
			}
			ranges = append(ranges, [2]uint64{util.DecodeFixed64([]byte(f.MinTimestamp)), util.DecodeFixed64([]byte(f.MaxTimestamp))})
		}
	}
	return ranges
}

// wantStamps wants the tables' timestamps to go from lowest to highest, before
// and after opening again.
func (x *dbTest) wantStamps(lowest, highest uint64) {
	x.Helper()
	check := func() int {
		x.Helper()
		ranges := x.tableStamps()
		if len(ranges) == 0 {
			x.Fatal("no tables")
		}
		low, high := ^uint64(0), uint64(0)
		for _, r := range ranges {
			low, high = min(low, r[0]), max(high, r[1])
		}
		if low != lowest || high != highest {
			x.Fatalf("timestamps %d to %d, not %d to %d", low, high, lowest, highest)
		}
		return len(ranges)
	}
	before := check()
	x.reopen(x.last)
	if after := check(); after != before {
		x.Fatalf("%d tables, then %d", before, after)
	}
}

// writeStamps writes keys at the two timestamps in turn, and flushes.
func (x *dbTest) writeStamps(from, to int, even, odd uint64) {
	x.Helper()
	for i := from; i < to; i++ {
		ts := even
		if i%2 != 0 {
			ts = odd
		}
		x.putU64(key(i), ts, fmt.Sprint("value", i))
	}
	x.flush(0)
}

func TestTimestampCompatibleCompactionTest_MultipleSubCompactions(t *testing.T) {
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		o.CompactionStyle = rocksdb.CompactionStyleUniversal
		o.Level0FileNumCompactionTrigger = 3
		o.MaxSubcompactions = 3
		o.TargetFileSizeBase = 1024
		o.Statistics = rocksdb.NewStatistics()
	})
	const keys = 1000
	for k := range uint64(keys) {
		x.putU64(string(key1(k)), 100+k, fmt.Sprint("foo_", k))
	}
	x.flush(0)
	x.must(x.full().TestRunManualCompaction(nil, 0, 1))
	if h := x.last.Statistics.GetHistogramData(rocksdb.HistNumSubcompactionsScheduled); h.Sum <= 1 {
		t.Errorf("%d subcompactions", h.Sum)
	}
	for k := range uint64(keys) {
		x.wantU64(string(key1(k)), 100+keys, fmt.Sprint("foo_", k))
	}
}

// cutAlways ends the table before each key.
type cutAlways struct{}

func (cutAlways) Name() string { return "TestFilePartitioner" }
func (cutAlways) ShouldPartition(*rocksdb.PartitionerRequest) rocksdb.PartitionerResult {
	return rocksdb.Required
}
func (cutAlways) CanDoTrivialMove(_, _ []byte) bool { return false }
func (cutAlways) CreatePartitioner(*rocksdb.SstPartitionerContext) rocksdb.SstPartitioner {
	return cutAlways{}
}

// fooVersions writes two versions of one key into each of n tables.
func (x *dbTest) fooVersions(n int) (next uint64) {
	x.Helper()
	next = 10000
	for range n {
		for i := range 2 {
			x.putU64("foo", next, fmt.Sprint("v", i))
			next++
		}
		x.flush(0)
	}
	return next
}

// A table of level 0 goes together with all older ones that have the key.
func TestTimestampCompatibleCompactionTest_CompactFilesRangeCheckL0(t *testing.T) {
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		o.SstPartitionerFactory = cutAlways{}
		o.DisableAutoCompactions = true
	})
	const files = 10
	x.fooVersions(files)
	tables := x.files(rocksdb.TableFile)
	if len(tables) != files {
		t.Fatalf("%d tables", len(tables))
	}
	co := rocksdb.DefaultCompactionOptions()
	var info rocksdb.CompactionJobInfo
	_, err := x.db.CompactFiles(&co, []string{filepath.Base(tables[files/2])}, 1, -1, &info)
	x.must(err)
	if n := len(info.InputFiles); n != files/2+1 {
		t.Errorf("%d inputs, not %d", n, files/2+1)
	}
}

func TestTimestampCompatibleCompactionTest_CompactFilesRangeCheckL1(t *testing.T) {
	const files = 4
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		o.SstPartitionerFactory = cutAlways{}
		o.Level0FileNumCompactionTrigger = files
	})
	ts := x.fooVersions(files)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, fmt.Sprintf("0,%d", 2*files))
	for range 2 {
		x.putU64("foo", ts, "v")
		ts++
		x.flush(0)
	}
	x.wantFiles(0, fmt.Sprintf("2,%d", 2*files))
	var inputs []string
	one := false
	for _, f := range x.db.GetLiveFilesMetaData() {
		if f.Level == 0 || !one {
			one = one || f.Level > 0
			inputs = append(inputs, f.RelativeFilename)
		}
	}
	if len(inputs) != 3 {
		t.Fatalf("inputs %v", inputs)
	}
	co := rocksdb.DefaultCompactionOptions()
	var info rocksdb.CompactionJobInfo
	outputs, err := x.db.CompactFiles(&co, inputs, 1, -1, &info)
	x.must(err)
	if len(outputs) != 2*files+2 || len(info.InputFiles) != 2*files+2 {
		t.Errorf("%d outputs, %d inputs, not %d", len(outputs), len(info.InputFiles), 2*files+2)
	}
}

func TestTimestampCompatibleCompactionTest_EmptyCompactionOutput(t *testing.T) {
	x := newTSCompactionTest(t, nil)
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte("k1"), []byte("k3"), u64ts(1)))
	x.flush(0)
	c := rocksdb.DefaultCompactRangeOptions()
	c.FullHistoryTSLow = u64ts(3)
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&c, nil, nil))
}

// hundredStamps makes a table of the last level with the timestamps 100 to 199.
func (x *dbTest) hundredStamps() {
	x.Helper()
	for i := range 100 {
		x.putU64(key(i), uint64(100+i), fmt.Sprint("value", i))
	}
	x.flush(0)
	c := rocksdb.DefaultCompactRangeOptions()
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&c, nil, nil))
}

// raiseLowAndSettle raises full_history_ts_low, has the files of the last level
// looked at by way of a snapshot, and waits for compactions to end.
func (x *dbTest) raiseLowAndSettle(ts uint64) {
	x.Helper()
	if ts > 0 {
		x.must(x.db.IncreaseFullHistoryTsLow(u64ts(ts)))
	}
	x.db.ReleaseSnapshot(x.db.GetSnapshot())
	// A compaction that changes nothing may not begin again and again.
	x.must(x.full().WaitForCompact(&rocksdb.WaitForCompactOptions{Timeout: 2 * time.Minute}))
}

func TestTimestampCompatibleCompactionTest_BottommostCompactionRespectsFullHistoryTsLow(t *testing.T) {
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		fourLevels(o)
		o.Level0FileNumCompactionTrigger = 4
	})
	x.hundredStamps()
	x.raiseLowAndSettle(150)
	x.raiseLowAndSettle(300)
}

func TestTimestampCompatibleCompactionTest_BottommostCompactionSkipsWhenFullHistoryTsLowNotSet(t *testing.T) {
	x := newTSCompactionTest(t, fourLevels)
	x.hundredStamps()
	if len(x.tableStamps()) == 0 {
		t.Fatal("no tables")
	}
	x.raiseLowAndSettle(0)
	x.raiseLowAndSettle(300)
	x.wantU64(key(0), 300, "value0")
}

func TestTimestampCompatibleCompactionTest_IngestedFileTimestampsExtractedFromTableProperties(t *testing.T) {
	x := newTSCompactionTest(t, fourLevels)
	path := filepath.Join(t.TempDir(), "ingested_udt_file.sst")
	w := rocksdb.NewSstFileWriter(x.last, nil)
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	for i := range 10 {
		x.must(w.PutWithTS([]byte(key(i)), u64ts(uint64(100+i%2*100)), fmt.Append(nil, "value", i)))
	}
	x.must(w.Finish(nil))
	r := rocksdb.NewSstFileReader(x.last)
	x.must(r.Open(path))
	for _, name := range []string{"rocksdb.timestamp_min", "rocksdb.timestamp_max"} {
		if _, ok := r.GetTableProperties().UserCollectedProperties[name]; !ok {
			t.Errorf("no property %s", name)
		}
	}
	x.must(r.Close())
	io := rocksdb.DefaultIngestExternalFileOptions()
	x.must(x.db.IngestExternalFile([]string{path}, &io))
	want := [2]uint64{100, 200}
	for range 2 {
		if got := x.tableStamps(); !slices.Contains(got, want) {
			t.Errorf("timestamps %v", got)
		}
		x.reopen(x.last)
	}
	x.wantU64(key(0), 200, "value0")
	x.must(os.Remove(path))
}

func TestTimestampCompatibleCompactionTest_TimestampRangePersistenceFlush(t *testing.T) {
	x := newTSCompactionTest(t, fourLevels)
	x.writeStamps(0, 50, 100, 200)
	p := x.onlyTable(0).UserCollectedProperties
	if p["rocksdb.timestamp_min"] != string(u64ts(100)) || p["rocksdb.timestamp_max"] != string(u64ts(200)) {
		t.Errorf("properties %x", p)
	}
	x.wantStamps(100, 200)
	x.wantU64(key(0), 200, "value0")
}

func TestTimestampCompatibleCompactionTest_TimestampRangePersistenceCompaction(t *testing.T) {
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		fourLevels(o)
		o.DisableAutoCompactions = true
	})
	x.writeStamps(0, 10, 100, 150)
	x.writeStamps(10, 20, 50, 80)
	x.writeStamps(20, 30, 200, 300)
	x.wantFiles(0, "3")
	if n := len(x.tableStamps()); n != 3 {
		t.Fatalf("%d tables", n)
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantStamps(50, 300)
	for _, i := range []int{0, 15, 25} {
		x.wantU64(key(i), 300, fmt.Sprint("value", i))
	}
}

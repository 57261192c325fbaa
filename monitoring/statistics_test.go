// Port of monitoring/statistics_test.cc.

package monitoring

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// readTable gives the rows of a table of upstream's names, without its header.
func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		rows = append(rows, strings.Split(s.Text(), "\t"))
	}
	return rows[1:]
}

func checkNames(t *testing.T, path string, names []string) {
	t.Helper()
	rows := readTable(t, path)
	if len(rows) != len(names) {
		t.Fatalf("%d names, upstream has %d", len(names), len(rows))
	}
	for i, row := range rows {
		if row[0] != strconv.Itoa(i) || row[1] != names[i] {
			t.Errorf("number %d is %q, upstream's %s is %q", i, names[i], row[0], row[1])
		}
	}
}

func TestStatisticsTest_SanityTickers(t *testing.T) {
	checkNames(t, "testdata/tickers.tsv", rocksdb.TickersNameMap[:])
	// The first and last of a few groups, to bind constants to names.
	for ticker, name := range map[rocksdb.Ticker]string{
		rocksdb.BlockCacheMiss:                   "rocksdb.block.cache.miss",
		rocksdb.GetHitL2AndUp:                    "rocksdb.l2andup.hit",
		rocksdb.NumberDBSeek:                     "rocksdb.number.db.seek",
		rocksdb.WALFileSynced:                    "rocksdb.wal.synced",
		rocksdb.TickerFlushReasonWriteBufferFull: "rocksdb.flush.reason.write_buffer_full",
		rocksdb.FileSubmitAsyncReadFallback:      rocksdb.TickersNameMap[rocksdb.TickerEnumMax-1],
	} {
		checkEqual(t, "name", ticker.String(), name)
	}
}

func TestStatisticsTest_SanityHistograms(t *testing.T) {
	checkNames(t, "testdata/histograms.tsv", rocksdb.HistogramsNameMap[:])
	checkEqual(t, "name", rocksdb.HistDBGet.String(), "rocksdb.db.get.micros")
	checkEqual(t, "name", rocksdb.HistBytesPerRead.String(), "rocksdb.bytes.per.read")
	checkEqual(t, "last", rocksdb.HistOpenAndCompactDBOpenMicros, rocksdb.HistogramEnumMax-1)
}

func TestStatisticsImpl_Levels(t *testing.T) {
	s := NewStatisticsImpl(nil)
	checkEqual(t, "level", s.GetStatsLevel(), rocksdb.ExceptDetailedTimers)
	record := func() {
		s.RecordTick(rocksdb.BytesRead, 3)
		s.RecordInHistogram(rocksdb.HistBytesPerRead, 7)
		s.ReportTimeToHistogram(rocksdb.HistDBGet, 9)
	}
	for _, c := range []struct {
		level              rocksdb.StatsLevel
		tick, bytes, times uint64
	}{
		{rocksdb.DisableAll, 0, 0, 0},
		{rocksdb.ExceptHistogramOrTimers, 3, 0, 0},
		{rocksdb.ExceptTimers, 3, 1, 0},
		{rocksdb.ExceptDetailedTimers, 3, 1, 1},
		{rocksdb.StatsLevelAll, 3, 1, 1},
	} {
		if err := s.Reset(); err != nil {
			t.Fatal(err)
		}
		s.SetStatsLevel(c.level)
		record()
		checkEqual(t, "ticks", s.GetTickerCount(rocksdb.BytesRead), c.tick)
		checkEqual(t, "values", s.GetHistogramData(rocksdb.HistBytesPerRead).Count, c.bytes)
		checkEqual(t, "times", s.GetHistogramData(rocksdb.HistDBGet).Count, c.times)
	}
}

func TestStatisticsImpl_Concurrent(t *testing.T) {
	s := CreateDBStatistics()
	const workers, each = 8, 2000
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range uint64(each) {
				RecordTick(s, rocksdb.NumberKeysRead, 2)
				RecordInHistogram(s, rocksdb.HistBytesPerRead, i)
			}
		})
	}
	wg.Wait()
	checkEqual(t, "ticks", s.GetTickerCount(rocksdb.NumberKeysRead), 2*workers*each)
	d := s.GetHistogramData(rocksdb.HistBytesPerRead)
	checkEqual(t, "values", d.Count, workers*each)
	checkEqual(t, "sum", d.Sum, workers*each*(each-1)/2)
	checkEqual(t, "max", d.Max, each-1)
	checkEqual(t, "taken", s.GetAndResetTickerCount(rocksdb.NumberKeysRead), 2*workers*each)
	checkEqual(t, "left", s.GetTickerCount(rocksdb.NumberKeysRead), 0)
}

func TestStatisticsImpl_Inner(t *testing.T) {
	inner := NewStatisticsImpl(nil)
	s := NewStatisticsImpl(inner)
	s.RecordTick(rocksdb.MemtableHit, 5)
	s.RecordInHistogram(rocksdb.HistDBSeek, 5)
	checkEqual(t, "inner ticks", inner.GetTickerCount(rocksdb.MemtableHit), 5)
	checkEqual(t, "inner values", inner.GetHistogramData(rocksdb.HistDBSeek).Count, 1)
	s.SetTickerCount(rocksdb.MemtableHit, 8)
	checkEqual(t, "inner ticks", inner.GetTickerCount(rocksdb.MemtableHit), 8)
	checkEqual(t, "ticks", s.GetAndResetTickerCount(rocksdb.MemtableHit), 8)
	checkEqual(t, "inner ticks", inner.GetTickerCount(rocksdb.MemtableHit), 0)
}

func TestStatisticsImpl_OutOfRange(t *testing.T) {
	s := CreateDBStatistics()
	s.RecordTick(rocksdb.TickerEnumMax, 1)
	s.SetTickerCount(rocksdb.TickerEnumMax+1, 1)
	s.RecordInHistogram(rocksdb.HistogramEnumMax, 1)
	checkEqual(t, "count", s.GetTickerCount(rocksdb.TickerEnumMax), 0)
	checkEqual(t, "count", s.GetAndResetTickerCount(rocksdb.TickerEnumMax), 0)
	checkEqual(t, "values", s.GetHistogramData(rocksdb.HistogramEnumMax).Count, 0)
	checkEqual(t, "enabled", s.HistEnabledForType(rocksdb.HistogramEnumMax), false)
	RecordTick(nil, rocksdb.BytesRead, 1)
	SetTickerCount(nil, rocksdb.BytesRead, 1)
	RecordInHistogram(nil, rocksdb.HistDBGet, 1)
	RecordTimeToHistogram(nil, rocksdb.HistDBGet, 1)
}

func TestStatisticsImpl_ToString(t *testing.T) {
	s := CreateDBStatistics()
	s.RecordTick(rocksdb.BlockCacheMiss, 42)
	s.RecordInHistogram(rocksdb.HistDBGet, 10)
	lines := strings.Split(strings.TrimSuffix(s.ToString(), "\n"), "\n")
	if len(lines) != int(rocksdb.TickerEnumMax)+int(rocksdb.HistogramEnumMax) {
		t.Fatalf("%d lines", len(lines))
	}
	checkEqual(t, "ticker line", lines[0], "rocksdb.block.cache.miss COUNT : 42")
	checkEqual(t, "histogram line", lines[rocksdb.TickerEnumMax],
		"rocksdb.db.get.micros P50 : 10.000000 P95 : 10.000000 P99 : 10.000000 P100 : 10.000000 COUNT : 1 SUM : 10")
	m := s.GetTickerMap()
	checkEqual(t, "map size", len(m), int(rocksdb.TickerEnumMax))
	checkEqual(t, "map entry", m["rocksdb.block.cache.miss"], 42)
}

func TestStatisticsImpl_NoAllocation(t *testing.T) {
	s := CreateDBStatistics()
	if n := testing.AllocsPerRun(100, func() {
		RecordTick(s, rocksdb.BytesRead, 1)
		RecordTimeToHistogram(s, rocksdb.HistDBGet, 12)
		if !syncpoint.Enabled { // sync points may allocate
			ShouldSampleFileRead()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRecordTick(b *testing.B) {
	s := CreateDBStatistics()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			RecordTick(s, rocksdb.BytesRead, 1)
		}
	})
}

func BenchmarkRecordInHistogram(b *testing.B) {
	s := CreateDBStatistics()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for v := uint64(0); pb.Next(); v++ {
			RecordInHistogram(s, rocksdb.HistBytesPerRead, v&4095)
		}
	})
}

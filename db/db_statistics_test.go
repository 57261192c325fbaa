// Port of db/db_statistics_test.cc. Differs: the mutex is waited for behind a
// goroutine that holds it, where upstream delays its taking.

package db_test

import (
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	inc "github.com/rocksdb-go/rocksdb/include/rocksdb"
	dbcompression "github.com/rocksdb-go/rocksdb/util/compression"
)

// statTest is a database with statistics.
func statTest(t *testing.T, level inc.StatsLevel) (*dbTest, rocksdb.Options) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Statistics.SetStatsLevel(level)
	x.destroyAndReopen(o)
	return x, o
}

// wantTicks checks tickers and sets them to zero; near allows a tenth of scale.
func wantTicks(t *testing.T, s inc.Statistics, what string, want map[inc.Ticker]uint64, scale uint64) {
	t.Helper()
	for ticker, n := range want {
		got := s.GetAndResetTickerCount(ticker)
		if got > n+scale/10 || got+scale/10 < n {
			t.Errorf("%s: ticker %d is %d, not %d", what, ticker, got, n)
		}
	}
}

func TestDBStatisticsTest_CompressionStatsTest(t *testing.T) {
	const numKeys, length = 100, 4096 / 3
	const estimate = numKeys * (length + 20)
	none := map[inc.Ticker]uint64{inc.NumberBlockCompressed: 0, inc.NumberBlockDecompressed: 0, inc.BytesCompressedFrom: 0, inc.BytesCompressedTo: 0,
		inc.BytesDecompressedFrom: 0, inc.BytesDecompressedTo: 0}
	for c := inc.SnappyCompression; c <= inc.ZSTD; c++ {
		if c == inc.BZip2Compression || !dbcompression.CompressionTypeSupported(c) {
			continue // as upstream
		}
		t.Run(dbcompression.CompressionTypeToString(c), func(t *testing.T) {
			x := newDBTest(t)
			r := newRandom()
			fill := func(o rocksdb.Options, value func() string) inc.Statistics {
				o.Statistics = rocksdb.NewStatistics()
				o.Statistics.SetStatsLevel(inc.ExceptTimeForMutex)
				b := inc.DefaultBlockBasedTableOptions()
				b.EnableIndexCompression = false
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				x.destroyAndReopen(o)
				for i := range numKeys {
					x.mustPut(0, key(i), value())
				}
				x.flush(0)
				return o.Statistics
			}
			read := func() {
				for i := range numKeys {
					x.get(0, key(i))
				}
			}
			o := x.currentOptions()
			o.Compression = c
			s := fill(o, func() string { return compressible(r, length) })
			wantTicks(t, s, "written", map[inc.Ticker]uint64{inc.NumberBlockCompressed: 34, inc.NumberBlockDecompressed: 0, inc.BytesDecompressedFrom: 0, inc.BytesDecompressedTo: 0}, 0)
			wantTicks(t, s, "written", map[inc.Ticker]uint64{inc.BytesCompressedFrom: estimate, inc.BytesCompressedTo: estimate / 2}, estimate)
			read()
			wantTicks(t, s, "read", map[inc.Ticker]uint64{inc.NumberBlockDecompressed: 34, inc.BytesCompressionBypassed: 0, inc.BytesCompressionRejected: 0,
				inc.NumberBlockCompressionBypassed: 0, inc.NumberBlockCompressionRejected: 0}, 0)
			wantTicks(t, s, "read", map[inc.Ticker]uint64{inc.BytesDecompressedTo: estimate, inc.BytesDecompressedFrom: estimate / 2}, estimate)

			s = fill(o, func() string { return binaryString(r, length) })
			read()
			wantTicks(t, s, "rejected", map[inc.Ticker]uint64{inc.NumberBlockCompressionRejected: 34, inc.NumberBlockCompressionBypassed: 0, inc.BytesCompressionBypassed: 0}, 0)
			wantTicks(t, s, "rejected", map[inc.Ticker]uint64{inc.BytesCompressionRejected: estimate}, estimate)
			wantTicks(t, s, "rejected", none, 0)

			o.Compression = inc.NoCompression
			s = fill(o, func() string { return binaryString(r, length) })
			read()
			wantTicks(t, s, "bypassed", map[inc.Ticker]uint64{inc.NumberBlockCompressionBypassed: 34, inc.NumberBlockCompressionRejected: 0, inc.BytesCompressionRejected: 0}, 0)
			wantTicks(t, s, "bypassed", map[inc.Ticker]uint64{inc.BytesCompressionBypassed: estimate}, estimate)
			wantTicks(t, s, "bypassed", none, 0)
		})
	}
}

// compressible is a value of n bytes of which half is a repetition.
func compressible(r random, n int) string {
	half := binaryString(r, n/2)
	return (half + half + half)[:n]
}

func binaryString(r random, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uniform(256))
	}
	return string(b)
}

// waitForMutex makes Flush wait for the database's mutex.
func waitForMutex(x *dbTest) {
	x.Helper()
	held, done := make(chan bool), make(chan bool)
	go func() {
		x.full().TestWithMutex(func() {
			close(held)
			inc.DefaultSystemClock().SleepForMicroseconds(100000)
		})
		close(done)
	}()
	<-held
	x.mustPut(0, "hello", "rocksdb")
	x.flush(0)
	<-done
}

func TestDBStatisticsTest_MutexWaitStatsDisabledByDefault(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	waitForMutex(x)
	if n := o.Statistics.GetTickerCount(inc.DBMutexWaitMicros); n != 0 {
		t.Errorf("%d µs", n)
	}
}

func TestDBStatisticsTest_MutexWaitStats(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.Statistics.SetStatsLevel(inc.StatsLevelAll)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	waitForMutex(x)
	if n := o.Statistics.GetTickerCount(inc.DBMutexWaitMicros); n < 100 {
		t.Errorf("%d µs", n)
	}
}

func TestDBStatisticsTest_ResetStats(t *testing.T) {
	x, o := statTest(t, inc.ExceptDetailedTimers)
	s := o.Statistics
	for i := range 2 {
		if n, h := s.GetTickerCount(inc.NumberKeysWritten), s.GetHistogramData(inc.HistDBWrite); n != 0 || h.Max != 0 {
			t.Errorf("round %d: %d keys, at most %f µs", i, n, h.Max)
		}
		if i > 0 {
			break
		}
		x.mustPut(0, "hello", "rocksdb")
		if n, h := s.GetTickerCount(inc.NumberKeysWritten), s.GetHistogramData(inc.HistDBWrite); n != 1 || h.Max <= 0 && h.Count != 1 {
			t.Errorf("%d keys, at most %f µs", n, h.Max)
		}
		x.must(s.Reset())
	}
}

func TestDBStatisticsTest_ExcludeTickers(t *testing.T) {
	x, o := statTest(t, inc.ExceptDetailedTimers)
	o.Statistics.SetStatsLevel(inc.ExceptTickers)
	x.mustPut(0, "foo", "value")
	if n := o.Statistics.GetTickerCount(inc.BytesWritten); n != 0 {
		t.Errorf("%d bytes written", n)
	}
	o.Statistics.SetStatsLevel(inc.ExceptHistogramOrTimers)
	x.reopen(o)
	x.wantGet(0, "foo", "value")
	if n := o.Statistics.GetTickerCount(inc.BytesRead); n == 0 {
		t.Error("no bytes read")
	}
}

func TestDBStatisticsTest_VerifyChecksumReadStat(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.FileChecksumGenFactory = rocksdb.GetFileChecksumGenCrc32cFactory()
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(o)
	read := func() uint64 { return o.Statistics.GetTickerCount(inc.VerifyChecksumReadBytes) }
	// What is in the WAL alone is not verified.
	x.mustPut(0, "foo", "value")
	x.must(x.db.VerifyFileChecksums(nil))
	x.must(x.db.VerifyChecksum(nil))
	if n := read(); n != 0 {
		t.Errorf("%d bytes", n)
	}
	x.flush(0)
	var size uint64
	for _, path := range x.files(inc.TableFile) {
		info, err := os.Stat(path)
		x.must(err)
		size += uint64(info.Size())
	}
	x.must(o.Statistics.Reset())
	x.must(x.db.VerifyFileChecksums(nil))
	if n := read(); n != size {
		t.Errorf("%d bytes of %d", n, size)
	}
	// Opening the table for it may read parts twice.
	x.must(o.Statistics.Reset())
	x.must(x.db.VerifyChecksum(nil))
	if n := read(); n < size {
		t.Errorf("%d bytes of %d", n, size)
	}
}

func TestDBStatisticsTest_BlockChecksumStats(t *testing.T) {
	x, o := statTest(t, inc.ExceptDetailedTimers)
	want := func(computed, mismatched uint64) {
		t.Helper()
		s := o.Statistics
		if c, m := s.GetTickerCount(inc.BlockChecksumComputeCount), s.GetTickerCount(inc.BlockChecksumMismatchCount); c != computed || m != mismatched {
			t.Errorf("%d checksums, %d wrong; not %d, %d", c, m, computed, mismatched)
		}
		x.must(s.Reset())
	}
	x.mustPut(0, "foo", "value")
	x.must(x.db.VerifyChecksum(nil))
	want(0, 0)
	// Metaindex, properties, index and data.
	x.flush(0)
	x.must(o.Statistics.Reset())
	x.must(x.db.VerifyChecksum(nil))
	want(4, 0)
	// The data block, last verified, is damaged.
	files := x.files(inc.TableFile)
	if len(files) != 1 {
		t.Fatalf("%d tables", len(files))
	}
	b, err := os.ReadFile(files[0])
	x.must(err)
	for i := range 3 {
		b[i] ^= 0x80
	}
	x.must(os.WriteFile(files[0], b, 0o644))
	if err := x.db.VerifyChecksum(nil); err == nil {
		t.Error("the damage is not seen")
	}
	want(4, 1)
}

// Upstream goes on with transactions, which are not built.
func TestDBStatisticsTest_BytesWrittenStats(t *testing.T) {
	x, o := statTest(t, inc.ExceptHistogramOrTimers)
	x.must(o.Statistics.Reset())
	for i := range 100 {
		x.mustPut(0, key(i), "val")
	}
	wal, written := o.Statistics.GetAndResetTickerCount(inc.WALFileBytes), o.Statistics.GetAndResetTickerCount(inc.BytesWritten)
	if wal != written || wal == 0 {
		t.Errorf("%d bytes in the WAL, %d written", wal, written)
	}
}

// Port of db/compaction/compaction_job_stats_test.cc. Differs: the parameter,
// which upstream reads as a bool, is 1 in both of its instances, so that there
// are no subtests.

package db_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	inc "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// statsChecker compares each compaction's statistics with the oldest expected.
type statsChecker struct {
	inc.EventListenerBase
	t      *testing.T
	verify func(c *statsChecker, got, want *inc.CompactionJobStats)

	mu         sync.Mutex
	expected   []inc.CompactionJobStats
	compressed bool
	wantIO     bool // the next compaction has to have times of I/O
}

func (c *statsChecker) OnCompactionCompleted(_ inc.DBRef, info *inc.CompactionJobInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &info.Stats
	if c.wantIO {
		c.wantIO = false
		if s.FileWriteNanos == 0 || s.FileRangeSyncNanos == 0 || s.FileFsyncNanos == 0 || s.FilePrepareWriteNanos == 0 {
			c.t.Errorf("write %d, range sync %d, fsync %d, prepare %d ns", s.FileWriteNanos, s.FileRangeSyncNanos, s.FileFsyncNanos, s.FilePrepareWriteNanos)
		}
	}
	if len(c.expected) > 0 {
		c.verify(c, s, &c.expected[0])
		c.expected = c.expected[1:]
	}
}

func (c *statsChecker) expect(s inc.CompactionJobStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected = append(c.expected, s)
}

// left wants n statistics not verified yet.
func (c *statsChecker) left(n int) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.expected) != n {
		c.t.Fatalf("%d statistics are not verified, not %d", len(c.expected), n)
	}
}

// verifyJobStats wants all the same, but for sizes, of which a tenth, compressed
// a fifth, may differ.
func verifyJobStats(c *statsChecker, got, want *inc.CompactionJobStats) {
	if got.ElapsedMicros == 0 {
		c.t.Error("no time elapsed")
	}
	bias := 1.1
	if c.compressed {
		bias = 1.2
	}
	near := func(a, b uint64) bool { return float64(a)*bias >= float64(b) && float64(a) <= float64(b)*bias }
	if !near(got.TotalInputBytes, want.TotalInputBytes) || !near(got.TotalOutputBytes, want.TotalOutputBytes) {
		c.t.Errorf("%d bytes in, %d out, not %d, %d", got.TotalInputBytes, got.TotalOutputBytes, want.TotalInputBytes, want.TotalOutputBytes)
	}
	type counts struct {
		InputRecords, OutputRecords, Replaced, Corrupt, RawKeys, RawValues uint64
		InputFiles, InputFilesAtOutput, OutputFiles                        uint64
		Full, Manual                                                       bool
		Smallest, Largest                                                  string
	}
	of := func(s *inc.CompactionJobStats) counts {
		return counts{s.NumInputRecords, s.NumOutputRecords, s.NumRecordsReplaced, s.NumCorruptKeys, s.TotalInputRawKeyBytes, s.TotalInputRawValueBytes,
			uint64(s.NumInputFiles), uint64(s.NumInputFilesAtOutputLevel), uint64(s.NumOutputFiles), s.IsFullCompaction, s.IsManualCompaction,
			s.SmallestOutputKeyPrefix, s.LargestOutputKeyPrefix}
	}
	if g, w := of(got), of(want); g != w {
		c.t.Errorf("%+v, not %+v", g, w)
	}
}

func verifyDeletionStats(c *statsChecker, got, want *inc.CompactionJobStats) {
	if got.NumInputDeletionRecords != want.NumInputDeletionRecords || got.NumExpiredDeletionRecords != want.NumExpiredDeletionRecords ||
		got.NumRecordsReplaced != want.NumRecordsReplaced || got.NumCorruptKeys != want.NumCorruptKeys {
		c.t.Errorf("%+v, not %+v", got, want)
	}
}

// jobSize is a compaction, as the checker expects it.
type jobSize struct {
	smallest, largest        string
	inFiles, inFilesAtOutput int
	inRecords                int
	valueSize                int
	outFiles, outRecords     int
	ratio                    float64
	replaced                 int
	full, automatic          bool
}

const statsKeySize = 10

func statsKey(n int) string { return fmt.Sprintf("%0*d", statsKeySize, n) }

func estimatedFileSize(records, valueSize int, ratio float64) int {
	data := int(float64(records) * (statsKeySize + float64(valueSize)*ratio + 8))
	return data + 512 + records*10/8 + data*(statsKeySize+8)/4096
}

func (j *jobSize) stats() inc.CompactionJobStats {
	var s inc.CompactionJobStats
	s.NumInputRecords, s.NumOutputRecords, s.NumRecordsReplaced = uint64(j.inRecords), uint64(j.outRecords), uint64(j.replaced)
	s.NumInputFiles = j.inFiles
	s.NumInputFilesAtOutputLevel = j.inFilesAtOutput
	s.NumOutputFiles = j.outFiles
	s.TotalInputBytes = uint64(estimatedFileSize(j.inRecords/j.inFiles, j.valueSize, j.ratio) * j.inFiles)
	s.TotalOutputBytes = uint64(estimatedFileSize(j.outRecords/j.outFiles, j.valueSize, j.ratio) * j.outFiles)
	s.TotalInputRawKeyBytes, s.TotalInputRawValueBytes = uint64(j.inRecords*(statsKeySize+8)), uint64(j.inRecords*j.valueSize)
	s.IsFullCompaction, s.IsManualCompaction = j.full, !j.automatic
	s.SmallestOutputKeyPrefix = j.smallest[:min(len(j.smallest), inc.CompactionJobStatsMaxPrefixLength)]
	s.LargestOutputKeyPrefix = j.largest[:min(len(j.largest), inc.CompactionJobStatsMaxPrefixLength)]
	return s
}

// makeTable flushes a table of keys from smallest up to largest.
func (x *dbTest) makeTable(r random, smallest, largest, valueSize, interval int, ratio float64) {
	x.Helper()
	for k := smallest; k < largest; k += interval {
		x.mustPut(1, statsKey(k), compressibleTo(r, valueSize, ratio))
	}
	x.flush(1)
}

// compressibleTo is a value of n bytes of which the ratio is not a repetition.
func compressibleTo(r random, n int, ratio float64) string {
	raw := r.str(max(1, int(float64(n)*ratio)))
	b := make([]byte, 0, n+len(raw))
	for len(b) < n {
		b = append(b, raw...)
	}
	return string(b[:n])
}

func statsOptions(x *dbTest, c *statsChecker) rocksdb.Options {
	o := inc.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.LevelCompactionDynamicLevelBytes = false
	o.NumLevels, o.Compression, o.MaxSubcompactions = 3, inc.NoCompression, 1
	o.Listeners = []inc.EventListener{c}
	return o
}

func TestCompactionJobStatsTest_CompactionJobStatsTest(t *testing.T) {
	const base, perFile, scale, valueSize = 100000000, 100, 8, 1000
	const interval = base / perFile
	x := newDBTest(t)
	c := &statsChecker{t: t, verify: verifyJobStats}
	o := statsOptions(x, c)
	o.Level0FileNumCompactionTrigger = scale + 1
	o.BytesPerSync, o.ReportBGIOStats = 512*1024, true
	r := newRandom()
	ratio := 1.0
	for round := range 2 {
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		l0 := 0
		for start := base; start <= base*scale; start += base {
			x.makeTable(r, start, start+base-1, valueSize, interval, ratio)
			l0++
			x.wantFiles(1, fmt.Sprint(l0))
		}
		compactL0 := func(j jobSize, smallest, largest string) {
			t.Helper()
			j.smallest, j.largest, j.valueSize, j.ratio = smallest, largest, valueSize, ratio
			c.expect(j.stats())
			c.left(1)
			x.must(x.full().TestCompactRange(0, []byte(smallest), []byte(largest), x.cf(1).Impl(), true))
		}
		// Six files go down one by one, the other two into one.
		const single = 6
		for i := 1; i <= single; i++ {
			compactL0(jobSize{inFiles: 1, inRecords: perFile, outFiles: 1, outRecords: perFile}, statsKey(base*i), statsKey(base*i+base-interval))
			x.wantFiles(1, fmt.Sprintf("%d,%d", l0-i, i))
		}
		rest := l0 - single
		compactL0(jobSize{inFiles: rest, inRecords: perFile * rest, outFiles: 1, outRecords: perFile * rest},
			statsKey(base*(single+1)), statsKey(base*(scale+1)-interval))
		l1 := l0 - rest + 1
		l0 = 0
		x.wantFiles(1, fmt.Sprintf("0,%d", l1))

		// Files over twice the range, which each rewrite two below.
		const sparse = 2
		for start := base; start <= base*scale; start += base * sparse {
			x.makeTable(r, start, start+base*sparse-1, valueSize, base*sparse/perFile, ratio)
			l0++
			x.wantFiles(1, fmt.Sprintf("%d,%d", l0, l1))
		}
		compact := func(j jobSize, smallest, largest string) {
			t.Helper()
			j.valueSize, j.ratio = valueSize, ratio
			c.expect(j.stats())
			c.left(1)
			x.compact(1, smallest, largest)
		}
		for start := base; l0 > 1; start += base * sparse {
			smallest, largest := statsKey(start), statsKey(start+base*sparse-interval)
			compact(jobSize{smallest: smallest, largest: largest, inFiles: 3, inFilesAtOutput: 2, inRecords: perFile * 3, outFiles: 1,
				outRecords: perFile * 2, replaced: perFile}, smallest, largest)
			l0--
			l1--
			x.wantFiles(1, fmt.Sprintf("%d,%d", l0, l1))
		}
		smallest, largest := statsKey(base), statsKey(base*(scale+1)-interval)
		compact(jobSize{smallest: statsKey(base * (scale + 1 - sparse)), largest: largest, inFiles: 2, inFilesAtOutput: 1, inRecords: perFile * 3,
			outFiles: 1, outRecords: perFile * 2, replaced: perFile}, smallest, largest)
		x.wantFiles(1, "0,4")

		o.Compression = inc.SnappyCompression
		c.mu.Lock()
		c.compressed = true
		c.mu.Unlock()
		ratio = 0.5
		for i := range 5 {
			x.mustPut(1, statsKey(base+i), r.str(512*1024))
		}
		x.flush(1)
		x.must(x.full().TestWaitForCompact())
		c.mu.Lock()
		c.wantIO = true
		c.mu.Unlock()
		x.compact(1, smallest, largest)
		x.must(x.full().TestWaitForBackgroundWork())
		c.mu.Lock()
		if c.wantIO {
			t.Errorf("round %d: no compaction for the times of I/O", round)
		}
		c.mu.Unlock()
	}
	c.left(0)
}

func TestCompactionJobStatsTest_DeletionStatsTest(t *testing.T) {
	const base, perFile, scale, valueSize = 100000, 20, 8, 100
	const interval = base / perFile
	const last, cutoff = base*(scale+1) - interval, base*(scale/2+1) - interval
	x := newDBTest(t)
	c := &statsChecker{t: t, verify: verifyDeletionStats}
	o := statsOptions(x, c)
	o.Level0FileNumCompactionTrigger, o.MaxBytesForLevelMultiplier = scale+1, 2
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	r := newRandom()
	// The lower half of the keys at level 2, all at level 1.
	for start := base; start <= base*scale/2; start += base {
		x.makeTable(r, start, start+base-1, valueSize, interval, 1)
	}
	cro := inc.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 2
	x.must(x.cf(1).CompactRange(&cro, nil, nil))
	if x.numTableFilesAtLevel(2, 1) == 0 {
		t.Fatal("no file at level 2")
	}
	for start := base; start <= base*scale; start += base {
		x.makeTable(r, start, start+base-1, valueSize, interval, 1)
	}
	toL1 := func() {
		x.must(x.full().TestCompactRange(0, []byte(statsKey(base-10)), []byte(statsKey(last+10)), x.cf(1).Impl(), true))
	}
	toL1()
	if x.numTableFilesAtLevel(1, 1) == 0 {
		t.Fatal("no file at level 1")
	}
	x.mustPut(1, statsKey(base-6), "test")
	x.flush(1)

	// Every third key is deleted; above the cutoff nothing is left below. Of the
	// keys that are not there one lies in the range of level 2.
	var s inc.CompactionJobStats
	for k, n := base, 1; k <= last; k, n = k+interval, n+1 {
		if n%3 == 0 {
			x.mustDelete(1, statsKey(k))
			s.NumInputDeletionRecords++
			s.NumRecordsReplaced++
			if k > cutoff {
				s.NumExpiredDeletionRecords++
			}
		}
	}
	for _, k := range []int{base + 1, base - 1, base - 9} {
		x.mustDelete(1, statsKey(k))
		s.NumInputDeletionRecords++
		if k < base {
			s.NumExpiredDeletionRecords++
		}
	}
	x.flush(1)
	c.expect(s)
	toL1()
	c.left(0)
}

// universalInputUnits is how many flushes a universal compaction takes in after
// so many, 0 for none.
func universalInputUnits(flushes int) int {
	for units := 1; flushes >= units; units *= 2 {
		if flushes&units != 0 {
			if units > 1 {
				return units
			}
			return 0
		}
	}
	return 0
}

func TestCompactionJobStatsTest_UniversalCompactionTest(t *testing.T) {
	const base, perTable, scale, valueSize = 100000000, 100, 6, 900
	const interval = base / perTable
	x := newDBTest(t)
	c := &statsChecker{t: t, verify: verifyJobStats}
	o := statsOptions(x, c)
	o.Level0FileNumCompactionTrigger, o.TargetFileSizeBase = 2, perTable*1000
	o.CompactionStyle = inc.CompactionStyleUniversal
	o.CompactionOptionsUniversal.SizeRatio, o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 1, 1000
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for flushes := 2; flushes <= scale; flushes++ {
		units := universalInputUnits(flushes)
		if units == 0 {
			continue
		}
		full := flushes == units
		smallest := base * (flushes - 1)
		if full {
			smallest = base
		}
		atOutput := 0
		if units > 2 {
			atOutput = units / 2
		}
		j := jobSize{smallest: statsKey(smallest), largest: statsKey(smallest + base*units - interval), inFiles: units, inFilesAtOutput: atOutput,
			inRecords: perTable * units, valueSize: valueSize, outFiles: units, outRecords: perTable * units, ratio: 1, full: full, automatic: true}
		c.expect(j.stats())
	}
	c.left(3)
	r := newRandom()
	for start := base; start <= base*scale; start += base {
		x.makeTable(r, start, start+base-1, valueSize, interval, 1)
		x.must(x.full().TestWaitForCompact())
	}
	c.left(0)
}

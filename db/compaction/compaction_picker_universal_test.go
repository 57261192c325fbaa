// Port of db/compaction/compaction_picker_test.cc (universal and FIFO
// compaction).

package compaction_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func newUniversalTest(t *testing.T, levels int) *pickerTest {
	p := newPickerTest(t)
	p.io.CompactionStyle = universal
	p.storage(levels, universal)
	return p
}

func TestCompactionPickerTest_NeedsCompactionUniversal(t *testing.T) {
	p := newUniversalTest(t, 1)
	p.update()
	if p.universal().NeedsCompaction(p.vs) {
		t.Fatal("an empty tree needs compaction")
	}
	for i := 1; i <= p.mo.Level0FileNumCompactionTrigger*2; i++ {
		p.storage(1, universal)
		p.files(0, fmt.Sprintf("%d %d %d 1000000 %d %d", i, (i+100)*1000, (i+100)*1000+999, i*100, i*100+99))
		p.update()
		if p.universal().NeedsCompaction(p.vs) != (p.vs.CompactionScore(0) >= 1) {
			t.Fatalf("%d files: score %v", i, p.vs.CompactionScore(0))
		}
	}
}

func TestCompactionPickerTest_CompactionUniversalIngestBehindReservedLevel(t *testing.T) {
	for _, ofFamily := range []bool{false, true} {
		p := newUniversalTest(t, 3)
		p.io.NumLevels = 3
		p.io.CFAllowIngestBehind, p.io.AllowIngestBehind = ofFamily, !ofFamily
		p.update()
		if p.universal().NeedsCompaction(p.vs) {
			t.Fatal("an empty tree needs compaction")
		}
		p.storage(3, universal)
		p.files(0, "1 150 200 100000 500 550", "2 201 250 100000 401 450", "4 260 300 100000 260 300")
		p.files(1, "5 100 151 100000 200 251", "3 301 350 100000 101 150")
		p.files(2, "6 120 200 100000 20 100")
		p.update()
		c := p.mustPick(p.universal())
		p.wantOutput(c, 1)
		for i := range c.NumInputLevels() {
			if c.NumInputFiles(i) > 0 && c.InputLevel(i) >= 2 {
				t.Errorf("inputs %q", inputsText(c))
			}
		}
	}
}

func TestCompactionPickerTest_CannotTrivialMoveUniversal(t *testing.T) {
	p := newUniversalTest(t, 3)
	p.mo.CompactionOptionsUniversal.AllowTrivialMove = true
	p.files(0, "1 150 200 100000 500 550", "2 201 250 100000 401 450", "4 260 300 100000 260 300")
	p.files(1, "5 100 151 100000 200 251", "3 301 350 100000 101 150")
	p.files(2, "6 120 200 100000 20 100")
	p.update()
	if p.mustPick(p.universal()).IsTrivialMoveAllowed() {
		t.Error("files overlap")
	}
}

func TestCompactionPickerTest_AllowsTrivialMoveUniversal(t *testing.T) {
	p := newUniversalTest(t, 3)
	p.mo.CompactionOptionsUniversal.AllowTrivialMove = true
	p.files(0, "1 150 200 100000 500 550", "2 201 250 100000 401 450", "4 260 300 100000 260 300")
	p.files(1, "5 010 080 100000 200 251")
	p.files(2, "3 301 350 100000 101 150")
	p.update()
	if !p.mustPick(p.universal()).IsTrivialMoveAllowed() {
		t.Error("files do not overlap")
	}
}

func newPeriodicTest(t *testing.T) *pickerTest {
	p := newUniversalTest(t, 5)
	p.mo.PeriodicCompactionSeconds = 1000
	return p
}

func (p *pickerTest) markPeriodic(level int, number uint64) {
	p.vs.TESTAddFileMarkedForPeriodicCompaction(level, p.byNumber[number])
}

func TestCompactionPickerTest_UniversalPeriodicCompaction1(t *testing.T) {
	// As many runs as there are after the busy one.
	p := newPeriodicTest(t)
	p.files(0, "1 150 200 100000 500 550", "2 201 250 100000 401 450 busy", "4 260 300 100000 260 300")
	p.files(3, "5 010 080 100000 200 251")
	p.files(4, "3 301 350 100000 101 150", "6 501 750 100000 101 150")
	p.update()
	p.markPeriodic(4, 3)
	c := p.mustPick(p.universal())
	p.wantInputs(c, "0: 4 | 3: 5 | 4: 3 6")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_UniversalPeriodicCompaction2(t *testing.T) {
	// The oldest run alone is not due.
	p := newPeriodicTest(t)
	p.files(0, "1 150 200 100000 500 550")
	p.files(3, "5 010 080 100000 200 251 busy")
	p.files(4, "3 301 350 100000 101 150", "6 501 750 100000 101 150")
	p.update()
	p.markPeriodic(0, 1)
	p.wantNone(p.universal())
}

func TestCompactionPickerTest_UniversalPeriodicCompaction3(t *testing.T) {
	p := newPeriodicTest(t)
	p.files(0, "1 150 200 100000 500 550", "5 010 080 100000 200 251 busy", "6 501 750 100000 101 150")
	p.update()
	p.markPeriodic(0, 1)
	p.wantNone(p.universal())
}

func TestCompactionPickerTest_UniversalPeriodicCompaction4(t *testing.T) {
	p := newPeriodicTest(t)
	p.files(0, "1 150 200 100000 500 550")
	p.files(2, "2 010 080 100000 200 251 busy")
	p.files(3, "5 010 080 100000 200 251")
	p.files(4, "3 301 350 100000 101 150", "6 501 750 100000 101 150")
	p.update()
	p.markPeriodic(0, 2)
	if c := p.pick(p.universal()); c != nil && c.StartLevel() == c.OutputLevel() {
		t.Errorf("inputs %q go to level %d", inputsText(c), c.OutputLevel())
	}
}

func TestCompactionPickerTest_UniversalPeriodicCompaction5(t *testing.T) {
	p := newPeriodicTest(t)
	p.files(0, "6 150 200 100000 500 550")
	p.update()
	p.markPeriodic(0, 6)
	c := p.mustPick(p.universal())
	p.wantInputs(c, "0: 6")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_UniversalPeriodicCompaction6(t *testing.T) {
	p := newPeriodicTest(t)
	p.files(4, "5 150 200 100000 500 550", "6 350 400 100000 500 550")
	p.update()
	p.markPeriodic(4, 6)
	c := p.mustPick(p.universal())
	p.wantInputs(c, "4: 5 6")
	p.wantOutput(c, 4)
}

func newIncrementalTest(t *testing.T, maxBytes uint64) *pickerTest {
	p := newUniversalTest(t, 5)
	p.mo.MaxCompactionBytes = maxBytes
	p.mo.CompactionOptionsUniversal.Incremental = true
	p.mo.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 30
	p.files(0, "1 150 200 100000 500 550")
	return p
}

func (p *pickerTest) incrementalLastLevel() {
	p.files(4, "10 201 250 100000 101 150", "11 301 350 100000 101 150", "12 401 450 100000 101 150",
		"13 501 750 100000 101 150", "14 801 850 100000 101 150", "15 901 950 100000 101 150")
}

func TestCompactionPickerTest_UniversalIncrementalSpace1(t *testing.T) {
	p := newIncrementalTest(t, 555555)
	p.files(2, "2 010 080 100000 200 251")
	p.files(3, "5 310 380 100000 200 251", "6 410 880 100000 200 251", "7 910 980 1 200 251")
	p.incrementalLastLevel()
	p.update()
	c := p.mustPick(p.universal())
	p.wantInputs(c, "3: 5 6 | 4: 11 12 13 14")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_UniversalIncrementalSpace2(t *testing.T) {
	p := newIncrementalTest(t, 400000)
	p.files(1, "2 010 080 100000 200 251")
	p.files(2, "5 310 380 100000 200 251", "6 410 880 100000 200 251", "7 910 980 100000 200 251")
	p.incrementalLastLevel()
	p.update()
	c := p.mustPick(p.universal())
	p.wantInputs(c, "2: 7 | 4: 15")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_UniversalIncrementalSpace3(t *testing.T) {
	p := newIncrementalTest(t, 300000)
	p.files(2, "2 010 080 100000 200 251")
	p.files(3, "5 000 180 100000 200 251", "6 181 190 100000 200 251", "7 710 810 100000 200 251", "8 820 830 100000 200 251",
		"9 900 991 100000 200 251")
	p.incrementalLastLevel()
	p.update()
	c := p.mustPick(p.universal())
	p.wantInputs(c, "2: 2 | 3: 5 6")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_UniversalIncrementalSpace4(t *testing.T) {
	p := newIncrementalTest(t, 3200000)
	p.files(2, "2 010 080 100000 200 251")
	for i := 11; i < 79; i++ {
		p.files(3, fmt.Sprintf("%d %d %d 100000 200 251", 100+i*3, i*100, i*100+80))
		if i == 66 {
			p.files(3, "10000 6690 6699 100000 200 251") // more on one file below
		}
		p.files(4, fmt.Sprintf("%d %d %d 100000 200 251", 101+i*3, i*100+30, i*100+50),
			fmt.Sprintf("%d %d %d 100000 200 251", 102+i*3, i*100+60, i*100+110))
	}
	p.update()
	c := p.mustPick(p.universal())
	p.wantOutput(c, 4)
	if c.StartLevel() != 3 || c.NumInputFiles(0) != 6 || c.Input(0, 0).FD.GetNumber() != 286 ||
		c.Input(0, 5).FD.GetNumber() != 10000 || c.NumInputFiles(1) != 11 {
		t.Errorf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_UniversalIncrementalSpace5(t *testing.T) {
	p := newIncrementalTest(t, 3200000)
	p.files(2, "2 010 080 100000 200 251")
	for i := 11; i < 70; i++ {
		size := 100000
		if i%10 == 9 {
			size *= 100
		}
		p.files(3, fmt.Sprintf("%d %d %d %d 200 251", 100+i*3, i*100, i*100+80, size))
		p.files(4, fmt.Sprintf("%d %d %d 100000 200 251", 101+i*3, i*100+30, i*100+50),
			fmt.Sprintf("%d %d %d 100000 200 251", 102+i*3, i*100+60, i*100+110))
	}
	p.update()
	c := p.mustPick(p.universal())
	p.wantOutput(c, 4)
	if c.StartLevel() != 3 || c.NumInputFiles(0) != 6 || c.Input(0, 0).FD.GetNumber() != 142 ||
		c.Input(0, 5).FD.GetNumber() != 157 || c.NumInputFiles(1) != 13 {
		t.Errorf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_UniversalMarkedCompactionStartOutputOverlap(t *testing.T) {
	// Whichever of the two marked files is tried first, the other is blocked
	// afterwards.
	started := map[int]bool{}
	for i := 0; len(started) < 2 && i < 1000; i++ {
		p := newUniversalTest(t, 5)
		p.files(0, "1 260 300 400000 260 300 marked")
		p.files(3, "2 010 020 200000 201 248", "3 250 270 200000 202 249", "4 290 310 200000 203 250", "5 310 320 200000 204 251 marked")
		p.files(4, "6 301 350 800000 101 150", "7 501 750 800000 101 150")
		p.update()
		picker := p.universal()
		c := p.mustPick(picker)
		p.wantReason(c, rocksdb.CompactionReasonFilesMarkedForCompaction)
		started[c.StartLevel()] = true
		if c.StartLevel() == 0 {
			p.wantInputs(c, "0: 1 | 3: 3 4 5")
			p.wantOutput(c, 3)
		} else {
			p.wantInputs(c, "3: 4 5 | 4: 6")
			p.wantOutput(c, 4)
		}
		p.vs.ComputeCompactionScore(p.io, p.mo, "")
		p.wantNone(picker)
	}
	if !started[0] || !started[3] {
		t.Errorf("started at %v", started)
	}
}

func (p *pickerTest) markedL0Files() {
	p.files(0, "4 260 300 100000 260 300 marked", "5 240 290 200000 201 250", "3 301 350 400000 101 150", "6 501 750 800000 50 100")
	p.update()
}

func TestCompactionPickerTest_UniversalMarkedL0NoOverlap(t *testing.T) {
	p := newUniversalTest(t, 1)
	p.markedL0Files()
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonFilesMarkedForCompaction)
	p.wantInputs(c, "0: 4 5 3 6")
	p.wantOutput(c, 0)
	for n, f := range p.byNumber {
		if !f.BeingCompacted {
			t.Errorf("file %d is not being compacted", n)
		}
	}
}

func TestCompactionPickerTest_UniversalMarkedL0WithOverlap(t *testing.T) {
	p := newUniversalTest(t, 1)
	p.markedL0Files()
	p.byNumber[3].BeingCompacted = true
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonFilesMarkedForCompaction)
	p.wantInputs(c, "0: 4 5")
	p.wantOutput(c, 0)
}

func TestCompactionPickerTest_UniversalMarkedManualCompaction(t *testing.T) {
	p := newUniversalTest(t, 7)
	p.files(0, "3 301 350 400000 101 150 marked", "4 260 300 100000 260 300 marked", "5 240 290 200000 201 250 marked")
	p.update()
	if n := len(p.vs.FilesMarkedForCompaction()); n != 3 {
		t.Fatalf("%d files are marked", n)
	}
	o := rocksdb.DefaultCompactRangeOptions()
	c, end, conflict := p.universal().CompactRange("dummy", p.mo, p.mdb, p.vs, compaction.ManualRange{
		InputLevel: compaction.CompactAllLevels, OutputLevel: 6, Options: &o, MaxFileNumToIgnore: math.MaxUint64})
	if c == nil || conflict || end != nil {
		t.Fatalf("compaction %v, conflict %v, end %q", c, conflict, end)
	}
	p.wantReason(c, rocksdb.CompactionReasonManualCompaction)
	p.wantOutput(c, 6)
	if c.StartLevel() != 0 || c.NumInputFiles(0) != 3 {
		t.Errorf("inputs %q", inputsText(c))
	}
	if n := len(p.vs.FilesMarkedForCompaction()); n != 0 {
		t.Errorf("%d files are still marked", n)
	}
}

func TestCompactionPickerTest_UniversalSizeAmpTierCompactionNonLastLevel(t *testing.T) {
	p := newUniversalTest(t, 7)
	p.mo.PrecludeLastLevelDataSeconds = 1000
	p.mo.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 200
	p.mo.CompactionOptionsUniversal.MaxMergeWidth = 2
	p.files(0, "100 100 300 100000", "101 200 400 100000")
	p.files(4, "90 100 600 400000")
	p.files(5, "80 200 300 200000")
	p.update()
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonUniversalSizeAmplification)
	p.wantOutput(c, 6)
	p.wantInputs(c, "0: 100 101 | 4: 90 | 5: 80")
}

func TestCompactionPickerTest_NeedsCompactionFIFO(t *testing.T) {
	p := newPickerTest(t)
	p.storage(1, fifo)
	count := p.mo.Level0FileNumCompactionTrigger * 3
	p.mo.CompactionOptionsFIFO.MaxTableFilesSize = uint64(100000 * count / 2)
	p.update()
	if p.fifo().NeedsCompaction(p.vs) {
		t.Fatal("an empty tree needs compaction")
	}
	for i := 1; i <= count; i++ {
		p.storage(1, fifo)
		p.files(0, fmt.Sprintf("%d %d %d 100000 %d %d", i, (i+100)*1000, (i+100)*1000+999, i*100, i*100+99))
		p.update()
		if p.fifo().NeedsCompaction(p.vs) != (p.vs.CompactionScore(0) >= 1) {
			t.Fatalf("file %d: score %v", i, p.vs.CompactionScore(0))
		}
	}
}

// fifoToTemperature has files of rising age, given in seconds from the newest
// on; its own temperature may follow each.
func fifoToTemperature(t *testing.T, thresholds []rocksdb.FileTemperatureAge, files [][2]uint64, wantFile uint64, want rocksdb.Temperature) {
	for _, known := range []bool{false, true} {
		t.Run(fmt.Sprintf("newestKeyTimeKnown=%v", known), func(t *testing.T) {
			p := newPickerTest(t)
			p.io.CompactionStyle = fifo
			p.storage(1, fifo)
			p.mo.CompactionOptionsFIFO.MaxTableFilesSize = 100000 * 100000
			p.mo.CompactionOptionsFIFO.FileTemperatureAgeThresholds = thresholds
			p.mo.Level0FileNumCompactionTrigger = 100
			p.mo.MaxCompactionBytes = 100000 * 100
			now, err := p.io.Clock.GetCurrentTime()
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range files {
				when := uint64(now) - f[0]
				n := uint64(len(files) - i)
				spec := fmt.Sprintf("%d 200 300 200000 %d %d temp=%d", n, 1000+n*200, 1100+n*200, f[1])
				if known {
					spec += fmt.Sprintf(" newest=%d", when)
				} else {
					// A file's newest key is as old as the next file's oldest
					// ancestor.
					spec += fmt.Sprintf(" oldest=%d", when)
				}
				p.files(0, spec)
			}
			p.update()
			picker := p.fifo()
			if !picker.NeedsCompaction(p.vs) {
				t.Fatal("no need of compaction")
			}
			c := p.mustPick(picker)
			p.wantReason(c, rocksdb.CompactionReasonChangeTemperature)
			p.wantInputs(c, fmt.Sprintf("0: %d", wantFile))
			if c.GetOutputTemperature(false) != want {
				t.Errorf("temperature %#x, want %#x", c.GetOutputTemperature(false), want)
			}
		})
	}
}

const tempCold = uint64(rocksdb.TemperatureCold)

var coldAfter2000 = []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureCold, Age: 2000}}

func TestCompactionPickerTest_FIFOToColdMaxCompactionSize(t *testing.T) {
	// Several are due; the oldest goes, alone.
	fifoToTemperature(t, coldAfter2000, [][2]uint64{{100}, {1900}, {4000}, {5000}, {6000}, {7000}}, 1, rocksdb.TemperatureCold)
}

func TestCompactionPickerTest_FIFOToColdWithExistingCold(t *testing.T) {
	fifoToTemperature(t, coldAfter2000, [][2]uint64{{100}, {1900}, {4000}, {5000}, {6000}, {7000, tempCold}}, 2, rocksdb.TemperatureCold)
}

func TestCompactionPickerTest_FIFOToColdWithHotBetweenCold(t *testing.T) {
	fifoToTemperature(t, coldAfter2000, [][2]uint64{{100}, {1900}, {4000}, {5000, tempCold}, {6000}, {7000, tempCold}}, 2, rocksdb.TemperatureCold)
}

func TestCompactionPickerTest_FIFOToHotAndWarm(t *testing.T) {
	fifoToTemperature(t, []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureHot, Age: 2000}, {Temperature: rocksdb.TemperatureWarm, Age: 10000}},
		[][2]uint64{{100}, {1900}, {2200}, {10100}, {14000}, {15000}}, 1, rocksdb.TemperatureWarm)
}

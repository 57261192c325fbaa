// Port of db/compaction/compaction_picker_test.cc (files marked and read much,
// read amplification, timestamps).

package compaction_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// hot has a file been read so often where entries could be collapsed.
func (p *pickerTest) hot(number, reads uint64) {
	p.byNumber[number].Stats.NumCollapsibleEntryReadsSampled.Store(reads)
}

func (p *pickerTest) wantHot(want ...uint64) {
	p.Helper()
	var got []uint64
	for _, f := range p.vs.ReadTriggeredCompactionFiles() {
		got = append(got, f.File.FD.GetNumber())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.Fatalf("files read much: %v, not %v", got, want)
	}
}

func newReadTriggeredTest(t *testing.T, threshold float64) *pickerTest {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.ReadTriggeredCompactionThreshold = threshold
	return p
}

func TestCompactionPickerTest_ReadTriggeredCompactionDisabled(t *testing.T) {
	p := newReadTriggeredTest(t, 0)
	p.files(0, "1 100 200 1000")
	p.hot(1, 999999)
	p.update()
	p.wantHot()
}

func TestCompactionPickerTest_ReadTriggeredCompactionBelowThreshold(t *testing.T) {
	p := newReadTriggeredTest(t, 1)
	p.files(0, "1 100 200 1000")
	p.hot(1, 500)
	p.update()
	p.wantHot()
}

func TestCompactionPickerTest_ReadTriggeredCompactionAboveThreshold(t *testing.T) {
	p := newReadTriggeredTest(t, 0.5)
	p.files(0, "1 100 200 1000")
	p.files(1, "2 300 400 1000")
	p.files(2, "3 500 600 1000")
	p.files(4, "4 700 800 1000") // below all of them
	p.hot(1, 600)
	p.hot(2, 300)
	p.hot(3, 800)
	p.update()
	p.wantHot(3, 1) // the hottest first
}

func TestCompactionPickerTest_NeedsCompactionReadTriggered(t *testing.T) {
	p := newReadTriggeredTest(t, 0.1)
	p.files(1, "1 100 200 1000")
	p.files(3, "2 300 400 1000")
	p.hot(1, 500)
	p.update()
	p.wantHot(1)
	if !p.level().NeedsCompaction(p.vs) {
		t.Error("no need of compaction")
	}
}

func TestCompactionPickerTest_ReadTriggeredPicksFile(t *testing.T) {
	p := newReadTriggeredTest(t, 0.1)
	p.files(1, "1 100 200 1000")
	p.files(3, "2 300 400 1000")
	p.hot(1, 500)
	p.update()
	p.wantReason(p.mustPick(p.level()), rocksdb.CompactionReasonReadTriggered)
}

func newUniversalReadTest(t *testing.T, levels int) *pickerTest {
	p := newUniversalTest(t, levels)
	p.mo.ReadTriggeredCompactionThreshold = 0.001
	p.mo.Level0FileNumCompactionTrigger = 10 // nothing else is to be picked
	return p
}

func TestCompactionPickerTest_UniversalReadTriggeredCompaction(t *testing.T) {
	p := newUniversalReadTest(t, 5)
	p.files(0, "1 150 200 100000 500 550")
	p.files(2, "2 301 350 100000 201 250")
	p.files(4, "3 301 400 100000 101 150")
	p.hot(2, 100000)
	p.update()
	if !p.universal().NeedsCompaction(p.vs) {
		t.Error("no need of compaction")
	}
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonReadTriggered)
	if c.StartLevel() != 2 {
		t.Errorf("start level %d", c.StartLevel())
	}
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_ReadTriggeredSkipsLastLevel(t *testing.T) {
	p := newUniversalReadTest(t, 5)
	p.files(0, "1 150 200 100000 500 550")
	p.files(4, "3 301 350 100000 101 150")
	p.hot(3, 100000)
	p.update()
	p.wantHot()
}

func TestCompactionPickerTest_UniversalReadTriggeredNoPickWhenNotMarked(t *testing.T) {
	p := newUniversalReadTest(t, 5)
	p.mo.Level0FileNumCompactionTrigger = 4
	p.files(0, "1 150 200 100000 500 550")
	p.files(4, "3 301 350 100000 101 150")
	p.update()
	p.wantHot()
	if p.universal().NeedsCompaction(p.vs) {
		t.Error("there is need of compaction")
	}
}

func TestCompactionPickerTest_UniversalReadTriggeredIntraL0(t *testing.T) {
	p := newUniversalReadTest(t, 1)
	p.files(0, "1 100 300 100000 500 550", "2 200 400 100000 400 450")
	p.hot(1, 100000)
	p.update()
	p.wantHot(1)
	if !p.universal().NeedsCompaction(p.vs) {
		t.Error("no need of compaction")
	}
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonReadTriggered)
	if c.StartLevel() != 0 {
		t.Errorf("start level %d", c.StartLevel())
	}
	p.wantOutput(c, 0)
}

func TestCompactionPickerTest_CompactionPriMinOverlappingManyFiles(t *testing.T) {
	p := newMinOverlappingTest(t, 15000000)
	for i := range 8 { // over a large file
		p.files(2, fmt.Sprintf("%d 0%d0 0%d1 6100", 13+i, i+1, i+1))
	}
	p.files(2, "6 150 167 60000000", "7 168 169 60000000", "8 201 300 61000000") // 8 is the largest over one file
	for i := range 4 {
		p.files(2, fmt.Sprintf("%d 6%d0 6%d1 6100", 9+i, i+1, i+1))
	}
	p.files(3, "31 001 100 260000000", "26 160 165 260000000", "27 166 170 260000000", "28 180 400 260000000",
		"29 401 500 260000000", "30 601 700 260000000")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 8 {
		t.Errorf("inputs %q", inputsText(c))
	}
}

// another begins a tree beside the files there are.
func (p *pickerTest) another(levels int) {
	p.vs = version.NewStorageInfo(version.StorageInfoOptions{InternalComparator: p.icmp, NumLevels: levels, CompactionStyle: universal,
		EpochNumberRequirement: version.EpochNumberMustPresent, Clock: p.io.Clock})
}

func TestCompactionPickerTest_UniversalMarkedCompactionFullOverlap(t *testing.T) {
	p := newUniversalTest(t, 5)
	p.io.CompactionStyle = universal
	p.files(0, "1 150 200 100000 500 550 epoch=3", "2 201 250 200000 401 450 epoch=2", "4 260 300 400000 260 300 epoch=1")
	p.files(3, "5 010 080 800000 200 251")
	p.files(4, "3 301 350 800000 101 150", "6 501 750 800000 101 150")
	p.update()
	picker := p.universal()
	c := p.mustPick(picker)
	p.wantReason(c, rocksdb.CompactionReasonUniversalSortedRunNum)
	p.wantOutput(c, 0)
	p.wantInputs(c, "0: 1 2")
	// A file flushed meanwhile and marked has to wait.
	p.another(5)
	p.files(0, "7 150 200 100000 551 600 marked epoch=4")
	for _, n := range []uint64{1, 2, 4} {
		p.vs.AddFile(0, p.byNumber[n])
	}
	p.vs.AddFile(3, p.byNumber[5])
	p.vs.AddFile(4, p.byNumber[3])
	p.vs.AddFile(4, p.byNumber[6])
	p.update()
	p.wantNone(picker)
}

func TestCompactionPickerTest_UniversalMarkedCompactionFullOverlap2(t *testing.T) {
	p := newUniversalTest(t, 5)
	p.io.CompactionStyle = universal
	p.files(0, "4 260 300 400000 260 300 marked epoch=1")
	p.files(3, "5 240 290 800000 201 250")
	p.files(4, "3 301 350 800000 101 150", "6 501 750 800000 101 150")
	p.update()
	picker := p.universal()
	c := p.mustPick(picker)
	p.wantReason(c, rocksdb.CompactionReasonFilesMarkedForCompaction)
	p.wantOutput(c, 3)
	p.wantInputs(c, "0: 4 | 3: 5")
	// The regular compaction has to wait.
	p.another(5)
	p.files(0, "1 150 200 100000 500 550 epoch=3", "2 201 250 200000 401 450 epoch=2")
	p.vs.AddFile(0, p.byNumber[4])
	p.vs.AddFile(3, p.byNumber[5])
	p.vs.AddFile(4, p.byNumber[3])
	p.vs.AddFile(4, p.byNumber[6])
	p.update()
	p.wantNone(picker)
}

func TestCompactionPickerTest_UniversalMarkedL0Overlap2(t *testing.T) {
	p := newUniversalTest(t, 1)
	p.io.CompactionStyle = universal
	p.files(0, "4 260 300 100000 260 300 epoch=4", "5 240 290 200000 201 250 marked epoch=3", "3 301 350 400000 101 150 epoch=2",
		"6 501 750 800000 50 100 epoch=1")
	p.update()
	picker := p.universal()
	c := p.mustPick(picker)
	p.wantReason(c, rocksdb.CompactionReasonFilesMarkedForCompaction)
	p.wantOutput(c, 0)
	p.wantInputs(c, "0: 5 3 6")
	for _, n := range []uint64{5, 3, 6} {
		if !p.byNumber[n].BeingCompacted {
			t.Errorf("file %d is not being compacted", n)
		}
	}
	p.another(1)
	p.files(0, "1 150 200 100000 500 550 epoch=6", "2 201 250 100000 401 450 epoch=5")
	for _, n := range []uint64{4, 5, 3, 6} {
		p.vs.AddFile(0, p.byNumber[n])
	}
	p.update()
	p.wantInputs(p.mustPick(picker), "0: 1 2 4")
}

func TestCompactionPickerTest_PartiallyExcludeL0ToReduceWriteStopForSizeAmpCompaction(t *testing.T) {
	const level0, levels = 30, 5
	for _, whole := range []bool{false, true} {
		p := newUniversalTest(t, levels)
		p.mo.Level0StopWritesTrigger = 36
		u := &p.mo.CompactionOptionsUniversal
		u.MaxSizeAmplificationPercent, u.MaxMergeWidth = 1, math.MaxUint32
		excluded := level0 / 10
		if whole { // as many as leave room before writes stop
			u.MaxMergeWidth, excluded = uint32(p.mo.Level0StopWritesTrigger-(level0+1)), 0
		}
		for i := 1; i <= level0+1; i++ {
			level := 0
			if i > level0 {
				level = levels - 1
			}
			p.files(level, fmt.Sprintf("%d %d %d 100000 %d %d", i, (i+100)*1000, (i+100)*1000+999, i*100, i*100+99))
		}
		p.update()
		if !p.universal().NeedsCompaction(p.vs) {
			t.Error("no need of compaction")
		}
		c := p.mustPick(p.universal())
		p.wantReason(c, rocksdb.CompactionReasonUniversalSizeAmplification)
		if c.NumInputFiles(0) != level0-excluded || c.NumInputFiles(levels-1) != 1 {
			t.Errorf("inputs %q", inputsText(c))
		}
		for level := 1; level <= levels-2; level++ {
			if c.NumInputFiles(level) != 0 {
				t.Errorf("inputs of level %d: %q", level, inputsText(c))
			}
		}
	}
}

func newMarkedDynamicTest(t *testing.T) *pickerTest {
	p := newPickerTest(t)
	p.io.LevelCompactionDynamicLevelBytes, p.io.CompactionPri = true, rocksdb.MinOverlappingRatio
	p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = 200, 10
	p.storage(7, leveled)
	return p
}

func TestCompactionPickerTest_LevelCompactionPrioritizeFilesMarkedForCompaction1(t *testing.T) {
	p := newMarkedDynamicTest(t)
	p.files(6, "1 100 200 100 0 0", "2 300 400 1000 0 0", "3 500 600 100 0 0")
	p.files(5, "4 100 200 100 100 200", "5 300 400 100 300 400 marked", "6 500 600 200 400 500") // 5 overlaps most
	p.update()
	picker := p.level()
	for _, want := range []uint64{5, 6} {
		c := p.mustPick(picker)
		p.wantOutput(c, 6)
		if c.StartLevel() != 5 || c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != want {
			t.Errorf("inputs %q, not %d", inputsText(c), want)
		}
	}
}

func TestCompactionPickerTest_LevelCompactionPrioritizeFilesMarkedForCompaction2(t *testing.T) {
	p := newMarkedDynamicTest(t)
	p.files(6, "1 100 200 20000 0 0 comp=100")
	p.files(5, "2 100 200 2000 100 200 marked")
	p.files(4, "3 100 200 2000 300 400") // this level's score is higher
	p.update()
	c := p.mustPick(p.level())
	p.wantOutput(c, 5)
	if c.StartLevel() != 4 || c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 3 {
		t.Errorf("inputs %q", inputsText(c))
	}
}

func newReadAmpTest(t *testing.T, amp int) *pickerTest {
	p := newUniversalTest(t, 50)
	p.io.CompactionStyle, p.io.NumLevels = universal, 50
	p.refresh()
	p.mo.WriteBufferSize = 256 << 20
	u := &p.mo.CompactionOptionsUniversal
	u.SizeRatio, u.MaxSizeAmplificationPercent, u.MaxReadAmp = 10, 200, amp
	return p
}

func TestCompactionPickerTest_UniversalMaxReadAmpLargeDB(t *testing.T) {
	const runs = 8 // that a last level of 20 GB is reckoned to need by the size ratio
	for _, amp := range []int{runs, 0, -1} {
		for i := range runs + 1 {
			p := newReadAmpTest(t, amp)
			p.mo.Level0FileNumCompactionTrigger = 4
			if amp == -1 {
				p.mo.Level0FileNumCompactionTrigger = runs
			}
			p.files(49, fmt.Sprintf("10 100 200 %d 0 0", uint64(20)<<30))
			size := 1 << 20
			for j := range i {
				p.files(j, fmt.Sprintf("%d 100 200 %d %d %d", 100-j, size, 100-j, 100-j))
				size *= 2
			}
			p.update()
			if got := p.universal().NeedsCompaction(p.vs); got != (i+1 >= p.mo.Level0FileNumCompactionTrigger) {
				t.Errorf("max_read_amp %d, %d runs: need of compaction %t", amp, i+1, got)
			}
			if i < runs {
				p.wantNone(p.universal())
				continue
			}
			c := p.mustPick(p.universal())
			p.wantReason(c, rocksdb.CompactionReasonUniversalSortedRunNum)
			p.wantInputs(c, "0: 100 | 1: 99")
			p.wantOutput(c, 1)
		}
	}
}

func TestCompactionPickerTest_UniversalMaxReadAmpSmallDB(t *testing.T) {
	for _, amp := range []int{-1, 1, 0} {
		p := newReadAmpTest(t, amp)
		p.mo.Level0FileNumCompactionTrigger = 1
		p.files(49, "10 100 200 8192 0 0") // one level is enough
		p.update()
		if !p.universal().NeedsCompaction(p.vs) {
			t.Errorf("max_read_amp %d: no need of compaction", amp)
		}
		p.wantNone(p.universal())
	}
}

func TestCompactionPickerTest_StandaloneRangeDeletionOnlyPicksOlderFiles(t *testing.T) {
	p := newUniversalTest(t, 6)
	p.files(0, "1 100 200 1 100 100 epoch=5", "2 150 250 1 200 200 marked epoch=4")
	f := p.byNumber[2]
	f.NumEntries, f.NumRangeDeletions = 1, 1
	if !f.FileIsStandAloneRangeTombstone() {
		t.Fatal("the file is not one range tombstone")
	}
	p.files(4, "10 000 400 1")
	p.files(5, "20 000 400 100")
	p.update()
	if !p.universal().NeedsCompaction(p.vs) {
		t.Error("no need of compaction")
	}
	p.wantInputs(p.mustPick(p.universal()), "0: 2 | 4: 10") // not the newer file
}

// newU64TsTest is the fixture with keys that end with timestamps.
func newU64TsTest(t *testing.T) *pickerTest {
	p := newPickerTest(t)
	p.icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparatorWithU64Ts())
	p.io.UserComparator = util.BytewiseComparatorWithU64Ts()
	return p
}

// stamp puts timestamps behind the keys of a file.
func (p *pickerTest) stamp(number, smallest, largest uint64) {
	f := p.byNumber[number]
	key := func(k dbformat.InternalKey, ts uint64, seq rocksdb.SequenceNumber) dbformat.InternalKey {
		return dbformat.NewInternalKey(append(append([]byte(nil), k.UserKey()...), util.EncodeU64Ts(ts)...), seq, tValue)
	}
	f.Smallest, f.Largest = key(f.Smallest, smallest, f.FD.SmallestSeqno), key(f.Largest, largest, f.FD.LargestSeqno)
	f.MinTimestamp, f.MaxTimestamp = string(util.EncodeU64Ts(min(smallest, largest))), string(util.EncodeU64Ts(max(smallest, largest)))
}

func TestCompactionPickerU64TsTest_Overlap(t *testing.T) {
	p := newU64TsTest(t)
	p.storage(7, leveled)
	p.files(0, "20 500 600")
	p.stamp(20, 12345, 56789)
	p.update()
	picker := p.level()
	inputs, err := picker.GetCompactionInputsFromFileNumbers(map[uint64]struct{}{20: {}}, p.vs)
	if err != nil {
		t.Fatal(err)
	}
	o := rocksdb.DefaultCompactionOptions()
	picker.PickCompactionForCompactFiles(&o, inputs, 0, p.vs, p.mo, p.mdb, 0, nil, nil)
	// The keys meet, though by timestamps they would not.
	for key, ts := range map[string]uint64{"600": 56788, "500": 12346} {
		k := append([]byte(key), util.EncodeU64Ts(ts)...)
		if !picker.RangeOverlapWithCompaction(k, k, 0) {
			t.Errorf("%s at %d does not overlap", key, ts)
		}
	}
}

func TestCompactionPickerU64TsTest_CannotTrivialMoveUniversal(t *testing.T) {
	p := newU64TsTest(t)
	p.mo.Level0FileNumCompactionTrigger, p.mo.CompactionOptionsUniversal.AllowTrivialMove = 2, true
	p.storage(1, universal)
	p.update()
	if p.universal().NeedsCompaction(p.vs) {
		t.Error("need of compaction without files")
	}
	p.storage(3, universal)
	p.files(1, "1 150 150 100000")
	p.files(2, "2 150 150 100000")
	p.stamp(1, 9000, 8000)
	p.stamp(2, 7000, 6000)
	p.update()
	p.wantTrivialMove(p.mustPick(p.universal()), false)
}

// bottommostFile puts a file of timestamps on the last level, and moves
// full_history_ts_low ("" for none) and the oldest snapshot above it.
func (p *pickerTest) bottommostFile(lo, hi uint64, low string) {
	p.storage(6, leveled)
	p.files(5, "1 100 200 1000 10 40")
	p.stamp(1, lo, hi)
	p.vs.PrepareForVersionAppend(p.io, p.mo)
	p.vs.ComputeCompactionScore(p.io, p.mo, low)
	p.vs.SetFinalized()
	p.vs.UpdateOldestSnapshot(50, false, low)
}

func (p *pickerTest) wantBottommost(want ...uint64) {
	p.Helper()
	var got []uint64
	for _, f := range p.vs.BottommostFilesMarkedForCompaction() {
		if f.Level != 5 {
			p.Errorf("file of level %d", f.Level)
		}
		got = append(got, f.File.FD.GetNumber())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.Fatalf("bottommost files marked: %v, not %v", got, want)
	}
}

func TestCompactionPickerU64TsTest_BottommostNotMarkedWhenTimestampAboveFullHistoryTsLow(t *testing.T) {
	p := newU64TsTest(t)
	p.bottommostFile(500, 1000, string(util.EncodeU64Ts(500)))
	p.wantBottommost()
}

func TestCompactionPickerU64TsTest_BottommostMarkedWhenTimestampBelowFullHistoryTsLow(t *testing.T) {
	p := newU64TsTest(t)
	p.bottommostFile(50, 100, string(util.EncodeU64Ts(500)))
	p.wantBottommost(1)
}

func TestCompactionPickerU64TsTest_BottommostNotMarkedWithEmptyFullHistoryTsLow(t *testing.T) {
	p := newU64TsTest(t)
	p.bottommostFile(500, 1000, "")
	p.wantBottommost()
}

// pickStamped picks from two files of level 0 with timestamps, and finishes the
// pick with a full_history_ts_low between them.
func pickStamped(t *testing.T, levels int, style rocksdb.CompactionStyle, size int) {
	p := newU64TsTest(t)
	p.mo.Level0FileNumCompactionTrigger = 2
	p.storage(levels, style)
	p.files(0, fmt.Sprintf("2 150 250 %d 200 200", size), fmt.Sprintf("1 100 200 %d 100 100", size))
	p.stamp(1, 100, 200)
	p.stamp(2, 100, 200)
	p.update()
	picker := p.level()
	if style == universal {
		picker = p.universal()
	}
	c := p.mustPick(picker)
	if c.NumInputFiles(0) != 2 || c.StartLevel() != 0 {
		t.Errorf("inputs %q", inputsText(c))
	}
	p.vs.ComputeCompactionScore(p.io, p.mo, string(util.EncodeU64Ts(150)))
	p.wantNone(picker)
}

func TestCompactionPickerU64TsTest_LevelPickCompactionWithFullHistoryTsLow(t *testing.T) {
	pickStamped(t, 6, leveled, 1)
}

func TestCompactionPickerU64TsTest_UniversalPickCompactionWithFullHistoryTsLow(t *testing.T) {
	pickStamped(t, 1, universal, 100000)
}

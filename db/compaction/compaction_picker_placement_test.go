// Port of db/compaction/compaction_picker_test.cc (data kept out of the last level).

package compaction_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func newTierTest(t *testing.T, levels int) *pickerTest {
	p := newUniversalTest(t, levels)
	p.mo.PrecludeLastLevelDataSeconds = 1000
	p.mo.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 200
	return p
}

func TestCompactionPickerTest_UniversalSizeRatioTierCompactionLastLevel(t *testing.T) {
	p := newTierTest(t, 7)
	p.files(0, "100 100 300 100000", "101 200 400 100000")
	p.files(5, "90 100 600 400000")
	p.files(6, "80 200 300 200000")
	p.update()
	// The last level does not count for the amplification of size.
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonUniversalSizeRatio)
	p.wantOutput(c, 4)
	p.wantInputs(c, "0: 100 101")
}

func TestCompactionPickerTest_UniversalSizeAmpTierCompactionNotSuport(t *testing.T) {
	p := newTierTest(t, 2)
	p.mo.CompactionOptionsUniversal.MaxMergeWidth = 2
	p.files(0, "100 100 300 100000", "101 200 400 100000", "90 100 600 400000")
	p.files(1, "80 200 300 200000")
	p.update()
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonUniversalSizeAmplification)
	p.wantOutput(c, 1)
	p.wantInputs(c, "0: 100 101 90 | 1: 80")
}

func TestCompactionPickerTest_UniversalSizeAmpTierCompactionLastLevel(t *testing.T) {
	p := newTierTest(t, 7)
	p.files(0, "100 100 300 300000", "101 200 400 200000")
	p.files(5, "90 100 600 200000")
	p.files(6, "80 200 300 200000")
	p.update()
	c := p.mustPick(p.universal())
	p.wantReason(c, rocksdb.CompactionReasonUniversalSizeAmplification)
	p.wantOutput(c, 5)
	p.wantInputs(c, "0: 100 101 | 5: 90")
}

// placementTest is a tree of which some files are being compacted.
type placementTest struct {
	*pickerTest
	picker  compaction.Picker
	enabled bool // some data is kept out of the last level
}

// eachPlacement runs f with the feature on and off, on trees of seven levels.
func eachPlacement(t *testing.T, style rocksdb.CompactionStyle, f func(p *placementTest)) {
	for _, enabled := range []bool{false, true} {
		t.Run(fmt.Sprintf("placement=%t", enabled), func(t *testing.T) {
			p := &placementTest{pickerTest: newPickerTest(t), enabled: enabled}
			p.io.CompactionStyle = style
			if enabled {
				p.mo.PrecludeLastLevelDataSeconds = 10000
			}
			p.storage(7, style)
			p.picker = p.level()
			if style == universal {
				p.picker = p.universal()
			}
			f(p)
		})
	}
}

func (p *placementTest) inputs(numbers ...uint64) []compaction.CompactionInputFiles {
	p.Helper()
	set := map[uint64]struct{}{}
	for _, n := range numbers {
		set[n] = struct{}{}
	}
	inputs, err := p.picker.GetCompactionInputsFromFileNumbers(set, p.vs)
	if err != nil {
		p.Fatal(err)
	}
	return inputs
}

// compact begins to compact files and wants outputs to be allowed on the proximal
// level or not.
func (p *placementTest) compact(outputLevel int, proximal bool, numbers ...uint64) {
	p.Helper()
	o := rocksdb.DefaultCompactionOptions()
	c := p.picker.PickCompactionForCompactFiles(&o, p.inputs(numbers...), outputLevel, p.vs, p.mo, p.mdb, 0, nil, nil)
	if got := c.GetProximalLevel() != compaction.InvalidLevel; got != proximal {
		p.Fatalf("proximal level %d", c.GetProximalLevel())
	}
}

// wantConflict tells whether a compaction of the files would be in the way of what
// runs.
func (p *placementTest) wantConflict(want bool, outputLevel int, numbers ...uint64) {
	p.Helper()
	inputs := p.inputs(numbers...)
	proximal := compaction.EvaluateProximalLevel(p.vs, p.mo, p.io, inputs[0].Level, outputLevel)
	if got := p.picker.FilesRangeOverlapWithCompaction(inputs, outputLevel, proximal); got != want {
		p.Fatalf("files %v into L%d: conflict %t", numbers, outputLevel, got)
	}
}

func overlapWithNormal(t *testing.T, style rocksdb.CompactionStyle) {
	eachPlacement(t, style, func(p *placementTest) {
		p.files(0, "21 100 150 60000000", "22 300 350 60000000")
		p.files(5, "40 200 250 60000000")
		p.files(6, "50 101 351 60000000")
		p.update()
		p.compact(5, false, 40)
		p.wantConflict(p.enabled, 6, 21, 22, 50)
	})
}

func TestPerKeyPlacementCompactionPickerTest_OverlapWithNormalCompaction(t *testing.T) {
	overlapWithNormal(t, leveled)
}

func TestPerKeyPlacementCompactionPickerTest_OverlapWithNormalCompactionUniveral(t *testing.T) {
	overlapWithNormal(t, universal)
}

func normalOverlap(t *testing.T, style rocksdb.CompactionStyle) {
	eachPlacement(t, style, func(p *placementTest) {
		p.files(0, "21 100 150 60000000", "22 300 350 60000000")
		p.files(4, "40 200 220 60000000", "41 230 250 60000000")
		p.files(6, "50 101 351 60000000")
		p.update()
		p.compact(6, p.enabled, 21, 22, 50)
		p.wantConflict(p.enabled, 5, 40, 41)
	})
}

func TestPerKeyPlacementCompactionPickerTest_NormalCompactionOverlap(t *testing.T) {
	normalOverlap(t, leveled)
}

func TestPerKeyPlacementCompactionPickerTest_NormalCompactionOverlapUniversal(t *testing.T) {
	normalOverlap(t, universal)
}

// threeAboveLast is a tree whose level 5 is empty.
func (p *placementTest) threeAboveLast() {
	p.files(4, "40 200 220 60000000", "41 230 250 60000000", "42 360 380 60000000")
	p.files(6, "60 101 351 60000000")
	p.update()
}

func TestPerKeyPlacementCompactionPickerTest_ProximalOverlapUniversal(t *testing.T) {
	eachPlacement(t, universal, func(p *placementTest) {
		p.threeAboveLast()
		p.compact(6, p.enabled, 40, 60)
		p.wantConflict(p.enabled, 5, 41)
		p.wantConflict(false, 5, 42)
	})
}

func TestPerKeyPlacementCompactionPickerTest_LastLevelOnlyOverlapUniversal(t *testing.T) {
	eachPlacement(t, universal, func(p *placementTest) {
		p.threeAboveLast()
		p.compact(6, p.enabled, 60)
		p.wantConflict(p.enabled, 5, 41)
		p.wantConflict(false, 5, 42)
	})
}

func TestPerKeyPlacementCompactionPickerTest_LastLevelOnlyFailProximalUniversal(t *testing.T) {
	eachPlacement(t, universal, func(p *placementTest) {
		p.files(4, "40 200 220 60000000")
		p.files(5, "50 230 250 60000000")
		p.files(6, "60 101 351 60000000")
		p.update()
		p.compact(6, false, 60)
		p.wantConflict(false, 5, 40)
		p.compact(5, false, 40)
	})
}

func TestPerKeyPlacementCompactionPickerTest_LastLevelOnlyConflictWithOngoingUniversal(t *testing.T) {
	eachPlacement(t, universal, func(p *placementTest) {
		p.threeAboveLast()
		p.compact(5, false, 40)
		p.wantConflict(p.enabled, 6, 60)
		if !p.enabled {
			p.compact(6, false, 60)
		}
	})
}

func TestPerKeyPlacementCompactionPickerTest_LastLevelOnlyNoConflictWithOngoingUniversal(t *testing.T) {
	eachPlacement(t, universal, func(p *placementTest) {
		p.threeAboveLast()
		p.compact(5, false, 42)
		p.wantConflict(false, 6, 60)
		p.compact(6, p.enabled, 60)
	})
}

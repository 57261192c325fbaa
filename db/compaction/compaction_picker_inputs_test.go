// Port of db/compaction/compaction_picker_test.cc (clean cuts and trivial moves).

package compaction_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestCompactionPickerTest_OverlappingUserKeys(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "1 100 150", "2 200 400", "3 400 500 1000000000 0 100")
	p.files(2, "4 600 700")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 2 3")
}

func TestCompactionPickerTest_OverlappingUserKeys2(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "1 200 400 1000000000", "2 400 500 1 0 100")
	p.files(2, "3 000 100", "4 100 600 1 0 100", "5 600 700 1 0 100")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 1 2 | 2: 3 4 5")
}

func TestCompactionPickerTest_OverlappingUserKeys3(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "1 100 150", "2 150 200 1 0 100", "3 200 250 1000000000 0 100", "4 250 300 1 0 100", "5 300 350 1 0 100")
	p.files(2, "6 050 100", "7 350 400")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 1 2 3 4 5 | 2: 6 7")
}

func TestCompactionPickerTest_OverlappingUserKeys4(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxBytesForLevelBase = 1000000
	p.files(1, "1 100 150", "2 150 199 1 0 100", "3 200 250 1100000 0 100", "4 251 300 1 0 100", "5 300 350 1 0 100")
	p.files(2, "6 100 115", "7 125 325", "8 350 400")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 3 | 2: 7")
}

func TestCompactionPickerTest_OverlappingUserKeys5(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "1 200 400 1000000000", "2 400 500 1 0 100")
	p.files(2, "3 000 100", "4 100 600 1 0 100", "5 600 700 1 0 100 busy")
	p.update()
	p.wantNone(p.level())
}

func TestCompactionPickerTest_OverlappingUserKeys6(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "1 200 400 1 0 100 marked", "2 401 500 1 0 100 marked")
	p.files(2, "3 000 100", "4 100 300 1 0 100", "5 305 450 1 0 100", "6 460 600 1 0 100", "7 600 700 1 0 100")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputLevels() != 2 || c.NumInputFiles(0) != 1 || c.NumInputFiles(1) != 3 {
		t.Fatalf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_OverlappingUserKeys7(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "1 200 400 1 0 100", "2 401 500 1000000000 0 100")
	p.files(2, "3 100 250", "4 300 600 1 0 100", "5 600 800 1 0 100")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputLevels() != 2 || c.NumInputFiles(0) < 1 || c.NumInputFiles(1) < 2 {
		t.Fatalf("inputs %q", inputsText(c))
	}
	// The file that shares 600 is in.
	if last := c.Input(1, c.NumInputFiles(1)-1).FD.GetNumber(); last != 5 {
		t.Errorf("last file %d", last)
	}
}

func TestCompactionPickerTest_OverlappingUserKeys8(t *testing.T) {
	// Files within the range of the output level's are added as long as the
	// output level's do not become more.
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "1 101 150", "2 151 200", "3 201 300 1000000000", "4 301 400", "5 401 500")
	p.files(2, "6 150 200", "7 200 450 1 0 100", "8 500 600")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 2 3 4 | 2: 6 7")
}

func TestCompactionPickerTest_OverlappingUserKeys9(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "1 121 150", "2 151 200", "3 201 300 1000000000", "4 301 400", "5 401 500")
	p.files(2, "6 100 120", "7 150 200", "8 200 450 1 0 100", "9 501 600")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 1 2 3 4 5 | 2: 7 8")
}

func TestCompactionPickerTest_OverlappingUserKeys10(t *testing.T) {
	// The larger file shares a key with one that is being compacted.
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "1 100 150 1 busy", "2 150 200 1000000000 0 0", "3 201 250 900000000")
	p.files(2, "4 100 150", "5 151 200", "6 201 250")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 3 | 2: 6")
}

func TestCompactionPickerTest_OverlappingUserKeys11(t *testing.T) {
	// Level 1's file is blocked in level 2 by way of a shared key.
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "2 151 200 1000000000", "3 201 250 1")
	p.files(2, "4 100 149 5000000000", "5 150 201 1", "6 201 249 1 0 0 busy")
	p.files(3, "7 100 149 1")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "2: 4 | 3: 7")
}

func TestCompactionPickerTest_IsTrivialMoveOn(t *testing.T) {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = 10000, 10001
	p.trivialMoveFiles()
	p.wantTrivialMove(p.mustPick(p.level()), true)
}

func (p *pickerTest) trivialMoveFiles() {
	p.storage(6, leveled)
	p.files(1, "1 100 150 3000", "2 151 200 3001", "3 201 250 3000", "4 251 300 3000")
	p.files(3, "5 120 130 7000", "6 170 180 7000", "7 220 230 7000", "8 270 280 7000")
	p.update()
}

func TestCompactionPickerTest_IsTrivialMoveOffSstPartitioned(t *testing.T) {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = 10000, 10001
	p.io.SstPartitionerFactory = compaction.NewSstPartitionerFixedPrefixFactory(1)
	p.trivialMoveFiles()
	p.wantTrivialMove(p.mustPick(p.level()), false)
}

func TestCompactionPickerTest_IsTrivialMoveOff(t *testing.T) {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = 1000000, 10000
	p.storage(6, leveled)
	p.files(1, "1 100 150 300000 0 100", "2 150 200 300000 0 100", "3 200 250 300000 0 100", "4 250 300 300000 0 100")
	p.files(3, "5 120 130 6000", "6 140 150 6000")
	p.update()
	p.wantTrivialMove(p.mustPick(p.level()), false)
}

func newL0TrivialMoveTest(t *testing.T, levelBase uint64) *pickerTest {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = levelBase, 10000000
	p.mo.Level0FileNumCompactionTrigger = 4
	p.storage(6, leveled)
	return p
}

func TestCompactionPickerTest_L0TrivialMove1(t *testing.T) {
	p := newL0TrivialMoveTest(t, 10000000)
	p.files(0, "1 100 150 3000 710 800", "2 151 200 3001 610 700", "3 301 350 3000 510 600", "4 451 400 3000 410 500")
	p.files(1, "5 120 130 7000", "6 170 180 7000", "7 220 230 7000", "8 270 280 7000")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 3 4")
	p.wantTrivialMove(c, true)
}

func TestCompactionPickerTest_L0TrivialMoveOneFile(t *testing.T) {
	p := newL0TrivialMoveTest(t, 10000000)
	p.files(0, "1 100 150 3000 710 800", "2 551 600 3001 610 700", "3 101 150 3000 510 600", "4 451 400 3000 410 500")
	p.files(1, "5 120 130 7000", "6 170 180 7000", "7 220 230 7000", "8 270 280 7000")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 4")
	p.wantTrivialMove(c, true)
}

func TestCompactionPickerTest_L0TrivialMoveWholeL0(t *testing.T) {
	p := newL0TrivialMoveTest(t, 10000000)
	p.files(0, "1 300 350 3000 710 800", "2 651 600 3001 610 700", "3 501 550 3000 510 600", "4 451 400 3000 410 500")
	p.files(1, "5 120 130 7000", "6 970 980 7000")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 1 4 3 2")
	p.wantTrivialMove(c, true)
}

func TestCompactionPickerTest_NonL0TrivialMoveExtendBothDirection(t *testing.T) {
	p := newL0TrivialMoveTest(t, 5000)
	p.files(1, "1 300 350 3000 710 800", "2 600 651 3001 610 700", "3 700 750 3000 500 550")
	p.files(2, "4 800 850 4000 150 200")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "1: 1 2 3")
	p.wantTrivialMove(c, true)
}

func TestCompactionPickerTest_L0TrivialMoveToEmptyLevel(t *testing.T) {
	p := newL0TrivialMoveTest(t, 5000)
	p.files(0, "1 450 599 3000 710 800", "2 600 651 3001 610 700", "3 300 350 3000 500 550", "4 500 550 2999 300 350")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 2") // the largest, and it overlaps none
	p.wantTrivialMove(c, true)
}

func testTrivialMoveMultipleFiles(t *testing.T, level2, level3 []string, want string) {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = 1000, 10000001
	p.io.CompactionPri = rocksdb.MinOverlappingRatio
	p.storage(6, leveled)
	p.files(2, level2...)
	p.files(3, level3...)
	p.update()
	c := p.mustPick(p.level())
	p.wantTrivialMove(c, true)
	p.wantInputs(c, want)
}

var (
	moveLevel3      = []string{"15 120 130 700", "16 170 180 700", "17 220 230 700", "18 870 880 700"}
	moveLevel3Gap   = []string{"15 120 130 700", "17 220 230 700", "18 870 880 700"}
	moveLevel2Right = []string{"5 551 500 3000", "6 651 600 3000", "7 751 700 3000", "8 851 900 3000"}
)

func TestCompactionPickerTest_TrivialMoveMultipleFiles1(t *testing.T) {
	testTrivialMoveMultipleFiles(t, append([]string{"1 100 150 3000", "2 151 200 3001", "3 301 350 3000", "4 451 400 3000"}, moveLevel2Right...),
		moveLevel3, "2: 3 4 5 6") // four at most
}

func TestCompactionPickerTest_TrivialMoveMultipleFiles2(t *testing.T) {
	testTrivialMoveMultipleFiles(t, append([]string{"1 100 150 3000", "2 151 160 3001", "3 161 179 3000", "4 220 400 3000"}, moveLevel2Right...),
		moveLevel3Gap, "2: 2 3") // until one overlaps
}

func TestCompactionPickerTest_TrivialMoveMultipleFiles3(t *testing.T) {
	testTrivialMoveMultipleFiles(t, append([]string{"1 100 150 3000", "2 151 160 3001"}, moveLevel2Right...),
		moveLevel3Gap, "2: 2") // a file of the next level lies between
}

func TestCompactionPickerTest_TrivialMoveMultipleFiles4(t *testing.T) {
	testTrivialMoveMultipleFiles(t, []string{"1 100 150 4000", "2 151 160 4001", "3 161 179 4000"}, moveLevel3Gap, "2: 2 3")
}

func TestCompactionPickerTest_TrivialMoveMultipleFiles5(t *testing.T) {
	testTrivialMoveMultipleFiles(t, []string{"1 100 150 4000", "2 151 160 4001", "3 161 179 4000", "4 180 185 4000", "5 185 190 4000"},
		moveLevel3Gap, "2: 2 3") // the next would not be a clean cut
}

func TestCompactionPickerTest_TrivialMoveMultipleFiles6(t *testing.T) {
	testTrivialMoveMultipleFiles(t, []string{"1 100 150 3000", "2 151 200 3001", "3 301 350 3000", "4 451 400 3000", "5 551 500 3000 busy",
		"6 651 600 3000", "7 751 700 3000", "8 851 900 3000"}, moveLevel3, "2: 3 4") // until one is busy
}

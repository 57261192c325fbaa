// Port of db/compaction/compaction_picker_test.cc (what needs compacting first, and
// how much).

package compaction_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/version"
)

func TestCompactionPickerTest_FileTtlBoosterLargeNumLevels(t *testing.T) {
	b := version.NewFileTtlBooster(1000000, 2048, 100, 1)
	f := version.NewFileMetaData()
	f.OldestAncesterTime = 1000000 - 1023
	if got := b.GetBoostScore(f); got != 1 {
		t.Errorf("score %d", got)
	}
}

func TestCompactionPickerTest_FileTtlBooster(t *testing.T) {
	// Of a TTL of 2048 the second half is boosted in, less a thirty-second; half of
	// that range, a quarter and so on belong to the levels from the second last up.
	for _, c := range []struct {
		level int
		age   int64
		want  uint64
	}{
		{3, 1023, 1}, {3, 1024, 1}, {3, -10, 1},
		{3, 1024 + 120 + 6, 1}, // within a step
		{3, 1024 + 120 + 7, 2}, {3, 1024 + 120 + 8, 2}, {3, 1024 + 120 + 30, 5}, {3, 1024 + 120 + 700, 101},
		{5, 1024 + 480, 1}, {5, 1024 + 480 + 60, 3},
		{6, 1024 + 480, 1}, {6, 1024 + 480 + 60, 1}, {6, 3000, 1}, // the last level is never boosted
	} {
		b := version.NewFileTtlBooster(1000000, 2048, 7, c.level)
		f := version.NewFileMetaData()
		f.OldestAncesterTime = uint64(1000000 - c.age)
		if got := b.GetBoostScore(f); got != c.want {
			t.Errorf("level %d, age %d: score %d, not %d", c.level, c.age, got, c.want)
		}
	}
}

func testBytesNeeded(t *testing.T, trigger int, dynamic bool, want uint64, add func(p *pickerTest)) {
	p := newPickerTest(t)
	p.io.LevelCompactionDynamicLevelBytes = dynamic
	p.mo.Level0FileNumCompactionTrigger = trigger
	p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = 1000, 10
	p.storage(7, leveled)
	add(p)
	p.update()
	if got := p.vs.EstimatedCompactionNeededBytes(); got != want {
		t.Errorf("%d bytes, not %d", got, want)
	}
}

func TestCompactionPickerTest_EstimateCompactionBytesNeeded1(t *testing.T) {
	testBytesNeeded(t, 4, false, 200*9+10900+900*9, func(p *pickerTest) {
		p.files(0, "1 150 200 200", "2 150 200 200", "3 150 200 200")
		p.files(1, "4 400 500 600", "5 600 700 600") // 200 too much
		p.files(2, "6 150 200 2500", "7 201 210 2000", "8 300 310 2600", "9 400 500 2500")
		p.files(3, "10 400 500 101000") // 1000 too much
		p.files(4, "11 400 500 999900") // 900 too much then
		p.files(5, "12 400 500 8007200")
	})
}

func TestCompactionPickerTest_EstimateCompactionBytesNeeded2(t *testing.T) {
	testBytesNeeded(t, 3, false, 1400+3000, func(p *pickerTest) {
		p.files(0, "1 150 200 200", "2 150 200 200", "4 150 200 200", "5 150 200 200", "6 150 200 200")
		p.files(1, "7 400 500 200", "8 600 700 200")
		p.files(2, "9 150 200 9100")
		p.files(3, "10 400 500 101000") // too much, but a move is enough
	})
}

func TestCompactionPickerTest_EstimateCompactionBytesNeeded3(t *testing.T) {
	testBytesNeeded(t, 3, false, 10000+18000, func(p *pickerTest) {
		p.files(0, "1 150 200 2000", "2 150 200 2000", "4 150 200 2000", "5 150 200 2000", "6 150 200 1000")
		p.files(1, "7 400 500 500", "8 600 700 500")
		p.files(2, "9 150 200 10000")
	})
}

func TestCompactionPickerTest_EstimateCompactionBytesNeededDynamicLevel(t *testing.T) {
	testBytesNeeded(t, 3, true, 2100+3823+11617, func(p *pickerTest) {
		p.files(6, "10 400 500 50000")
		p.files(0, "1 150 200 200", "2 150 200 200", "4 150 200 200", "5 150 200 200", "6 150 200 200")
		p.files(4, "7 400 500 550", "8 600 700 550")
		p.files(5, "9 150 200 5200")
	})
}

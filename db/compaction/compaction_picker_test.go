// Port of db/compaction/compaction_picker_test.cc (the fixture, leveled
// compaction's picks).

package compaction_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	leveled   = rocksdb.CompactionStyleLevel
	universal = rocksdb.CompactionStyleUniversal
	fifo      = rocksdb.CompactionStyleFIFO
)

// pickerTest is the fixture: a made-up tree of files.
type pickerTest struct {
	*testing.T
	icmp      *dbformat.InternalKeyComparator
	io        *options.ImmutableOptions
	mo        *options.MutableCFOptions
	mdb       *options.MutableDBOptions
	numLevels int
	vs        *version.StorageInfo
	byNumber  map[uint64]*version.FileMetaData
}

func newPickerTest(t *testing.T) *pickerTest {
	dbo, cfo := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	dbo.Env = env.Default()
	io := options.NewImmutableOptions(&dbo, &cfo)
	mo := options.NewMutableCFOptions(&cfo)
	mdb := options.NewMutableDBOptions(&dbo)
	p := &pickerTest{T: t, icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator()), io: &io, mo: &mo, mdb: &mdb, numLevels: cfo.NumLevels}
	io.Clock = rocksdb.DefaultSystemClock()
	mo.TTL, mo.PeriodicCompactionSeconds = 0, 0
	io.CompactionPri = rocksdb.ByCompensatedSize
	io.CFPaths = []rocksdb.DBPath{{Path: "dummy", TargetSize: math.MaxUint64}}
	io.LevelCompactionDynamicLevelBytes = false
	mo.CompactionOptionsFIFO.MaxTableFilesSize = 1
	return p
}

// refresh recomputes the file sizes by level.
func (p *pickerTest) refresh() { p.mo.RefreshDerivedOptions(p.io.NumLevels, p.io.CompactionStyle) }

// storage begins a tree.
func (p *pickerTest) storage(levels int, style rocksdb.CompactionStyle) {
	p.numLevels = levels
	p.byNumber = map[uint64]*version.FileMetaData{}
	p.vs = version.NewStorageInfo(version.StorageInfoOptions{InternalComparator: p.icmp, NumLevels: levels, CompactionStyle: style,
		EpochNumberRequirement: version.EpochNumberMustPresent, Clock: p.io.Clock})
	p.vs.PrepareForVersionAppend(p.io, p.mo)
}

// propertiesReader is an open table of which only the properties are read.
type propertiesReader struct {
	table.TableReader
	props rocksdb.TableProperties
}

func (r *propertiesReader) GetTableProperties() *rocksdb.TableProperties { return &r.props }

// files adds files to a level. Each is "number smallest largest", then
// optionally the size (1), the sequence numbers of the two keys (100 100), and
// words: busy, marked, comp=SIZE, newest=TIME, oldest=TIME, epoch=N, path=N,
// temp=N.
func (p *pickerTest) files(level int, specs ...string) {
	p.Helper()
	for _, spec := range specs {
		words := strings.Fields(spec)
		f := version.NewFileMetaData()
		var nums []uint64
		var newest, path uint64
		for _, w := range words[3:] {
			name, arg, _ := strings.Cut(w, "=")
			n, _ := strconv.ParseUint(arg, 10, 64) // 0 without an argument
			switch name {
			case "busy":
				f.BeingCompacted = true
			case "marked":
				f.MarkedForCompaction.Store(true)
			case "comp":
				f.CompensatedFileSize = n
			case "newest":
				newest = n
			case "oldest":
				f.OldestAncesterTime = n
			case "epoch":
				f.EpochNumber = n
			case "path":
				path = n
			case "temp":
				f.Temperature = rocksdb.Temperature(n)
			default:
				n, err := strconv.ParseUint(w, 10, 64)
				if err != nil {
					p.Fatalf("file %q: %v", spec, err)
				}
				nums = append(nums, n)
			}
		}
		size, lo, hi := uint64(1), uint64(100), uint64(100)
		if len(nums) > 0 {
			size = nums[0]
		}
		if len(nums) > 2 {
			lo, hi = nums[1], nums[2]
		}
		number, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			p.Fatalf("file %q: %v", spec, err)
		}
		f.FD.Set(number, uint32(path), size, lo, hi)
		f.Smallest = dbformat.NewInternalKey([]byte(words[1]), lo, tValue)
		f.Largest = dbformat.NewInternalKey([]byte(words[2]), hi, tValue)
		if f.CompensatedFileSize == 0 {
			f.CompensatedFileSize = size
		}
		f.FD.Pinned.Store(&version.PinnedTableReader{Reader: &propertiesReader{props: rocksdb.TableProperties{NewestKeyTime: newest}}, Release: func() {}})
		p.vs.AddFile(level, f)
		p.byNumber[number] = f
	}
}

// update computes everything that follows from the files.
func (p *pickerTest) update() {
	p.vs.PrepareForVersionAppend(p.io, p.mo)
	p.vs.ComputeCompactionScore(p.io, p.mo, "")
	p.vs.SetFinalized()
}

func (p *pickerTest) level() compaction.Picker {
	return compaction.NewLevelCompactionPicker(p.io, p.icmp)
}
func (p *pickerTest) universal() compaction.Picker {
	return compaction.NewUniversalCompactionPicker(p.io, p.icmp)
}
func (p *pickerTest) fifo() compaction.Picker {
	return compaction.NewFIFOCompactionPicker(p.io, p.icmp)
}

func (p *pickerTest) pick(picker compaction.Picker) *compaction.Compaction {
	return picker.PickCompaction("dummy", p.mo, p.mdb, nil, nil, p.vs, false)
}

// mustPick picks and wants something.
func (p *pickerTest) mustPick(picker compaction.Picker) *compaction.Compaction {
	p.Helper()
	c := p.pick(picker)
	if c == nil {
		p.Fatal("nothing was picked")
	}
	return c
}

func (p *pickerTest) wantNone(picker compaction.Picker) {
	p.Helper()
	if c := p.pick(picker); c != nil {
		p.Fatalf("picked %s", inputsText(c))
	}
}

// inputsText is "level: numbers | level: numbers", levels without files left
// out.
func inputsText(c *compaction.Compaction) string {
	var parts []string
	for i := range c.NumInputLevels() {
		if c.NumInputFiles(i) == 0 {
			continue
		}
		s := fmt.Sprintf("%d:", c.InputLevel(i))
		for _, f := range c.InputFiles(i) {
			s += fmt.Sprintf(" %d", f.FD.GetNumber())
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " | ")
}

func (p *pickerTest) wantInputs(c *compaction.Compaction, want string) {
	p.Helper()
	if got := inputsText(c); got != want {
		p.Fatalf("inputs %q, want %q", got, want)
	}
}

func (p *pickerTest) wantOutput(c *compaction.Compaction, level int) {
	p.Helper()
	if c.OutputLevel() != level {
		p.Fatalf("output level %d, want %d", c.OutputLevel(), level)
	}
}

func (p *pickerTest) wantReason(c *compaction.Compaction, r rocksdb.CompactionReason) {
	p.Helper()
	if c.CompactionReason() != r {
		p.Fatalf("reason %v, want %v", c.CompactionReason(), r)
	}
}

func (p *pickerTest) wantTrivialMove(c *compaction.Compaction, want bool) {
	p.Helper()
	if c.IsTrivialMove() != want {
		p.Fatalf("trivial move: %v", !want)
	}
}

func TestCompactionPickerTest_Empty(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.update()
	p.wantNone(p.level())
}

func TestCompactionPickerTest_Single(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.Level0FileNumCompactionTrigger = 2
	p.files(0, "1 p q")
	p.update()
	p.wantNone(p.level())
}

func TestCompactionPickerTest_Level0Trigger(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.Level0FileNumCompactionTrigger = 2
	p.files(0, "1 150 200", "2 200 250")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "0: 1 2")
}

func TestCompactionPickerTest_Level1Trigger(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(1, "66 150 200 1000000000")
	p.update()
	p.wantInputs(p.mustPick(p.level()), "1: 66")
}

func TestCompactionPickerTest_Level1Trigger2(t *testing.T) {
	p := newPickerTest(t)
	p.mo.TargetFileSizeBase = 10000000000
	p.refresh()
	p.storage(6, leveled)
	p.files(1, "66 150 200 1000000001", "88 201 300 1000000000")
	p.files(2, "6 150 179 1000000000", "7 180 220 1000000000", "8 221 300 1000000000")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "1: 66 | 2: 6 7")
	if got := c.OutputFilePreallocationSize(); got != 1<<30 {
		t.Errorf("preallocation %d", got)
	}
}

func TestCompactionPickerTest_LevelMaxScore(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.TargetFileSizeBase = 10000000
	p.mo.MaxBytesForLevelBase = 10 << 20
	p.refresh()
	p.files(0, "1 150 200 1000000")
	p.files(1, "66 150 200 6000000", "88 201 300 6000000")                       // score 1.2
	p.files(2, "6 150 179 60000000", "7 180 220 60000001", "8 221 300 60000000") // 1.8
	p.files(3, "26 150 170 260000000", "27 171 179 260000000", "28 191 220 260000000", "29 221 300 260000000")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 7 {
		t.Fatalf("inputs %q", inputsText(c))
	}
	if got := c.OutputFilePreallocationSize(); got != 11000000 {
		t.Errorf("preallocation %d", got)
	}
}

func TestCompactionPickerTest_NeedsCompactionLevel(t *testing.T) {
	p := newPickerTest(t)
	const fileCount = 20
	for level := range 5 {
		p.storage(6, leveled)
		size := p.vs.MaxBytesForLevel(level) * 2 / fileCount
		for n := 1; n <= fileCount; n++ {
			p.storage(6, leveled)
			for i := range n {
				p.files(level, fmt.Sprintf("%d %d %d %d %d %d", i, (i+100)*1000, (i+100)*1000+999, size, i*100, i*100+99))
			}
			p.update()
			if p.vs.CompactionScoreLevel(0) != level {
				t.Fatalf("level %d, %d files: level %d has the highest score", level, n, p.vs.CompactionScoreLevel(0))
			}
			if p.level().NeedsCompaction(p.vs) != (p.vs.CompactionScore(0) >= 1) {
				t.Fatalf("level %d, %d files: score %v", level, n, p.vs.CompactionScore(0))
			}
		}
	}
}

func newDynamicTest(t *testing.T) *pickerTest {
	p := newPickerTest(t)
	p.io.LevelCompactionDynamicLevelBytes = true
	p.mo.Level0FileNumCompactionTrigger = 2
	p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = 200, 10
	p.storage(7, leveled)
	return p
}

func TestCompactionPickerTest_Level0TriggerDynamic(t *testing.T) {
	p := newDynamicTest(t)
	p.files(0, "1 150 200", "2 200 250")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 1 2")
	p.wantOutput(c, 6)
}

func (p *pickerTest) wantBase(level int) {
	p.Helper()
	if p.vs.BaseLevel() != level {
		p.Fatalf("base level %d, want %d", p.vs.BaseLevel(), level)
	}
}

func TestCompactionPickerTest_Level0TriggerDynamic2(t *testing.T) {
	p := newDynamicTest(t)
	p.files(0, "1 150 200", "2 200 250")
	p.files(6, "3 200 250 300")
	p.update()
	p.wantBase(5)
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 1 2")
	p.wantOutput(c, 5)
}

func TestCompactionPickerTest_Level0TriggerDynamic3(t *testing.T) {
	p := newDynamicTest(t)
	p.files(0, "1 150 200", "2 200 250")
	p.files(6, "3 200 250 300", "4 300 350 3000")
	p.update()
	p.wantBase(4)
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 1 2")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_Level0TriggerDynamic4(t *testing.T) {
	p := newDynamicTest(t)
	p.files(0, "1 150 200", "2 200 250")
	p.files(6, "3 200 250 300", "4 300 350 3000")
	p.files(4, "5 150 180 3", "6 181 300 3", "7 400 450 3")
	p.update()
	p.wantBase(4)
	c := p.mustPick(p.level())
	p.wantInputs(c, "0: 1 2 | 4: 5 6")
	p.wantOutput(c, 4)
}

func TestCompactionPickerTest_LevelTriggerDynamic4(t *testing.T) {
	p := newDynamicTest(t)
	p.io.CompactionPri = rocksdb.MinOverlappingRatio
	p.files(0, "1 150 200")
	p.files(6, "2 200 250 300", "3 300 350 3000", "4 400 450 3")
	p.files(5, "5 150 180 300", "6 181 350 500", "7 400 450 200")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "5: 5")
	p.wantOutput(c, 6)
}

func TestCompactionPickerTest_CompactFilesOutputTemperature(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.files(0, "66 150 200 1000000000")
	p.update()
	picker := p.level()
	inputs, err := picker.GetCompactionInputsFromFileNumbers(map[uint64]struct{}{66: {}}, p.vs)
	if err != nil {
		t.Fatal(err)
	}
	o := rocksdb.DefaultCompactionOptions()
	o.OutputTemperatureOverride = rocksdb.TemperatureCold
	c := picker.PickCompactionForCompactFiles(&o, inputs, 1, p.vs, p.mo, p.mdb, 0, nil, nil)
	if c.GetOutputTemperature(false) != rocksdb.TemperatureCold {
		t.Errorf("temperature %d", c.GetOutputTemperature(false))
	}
}

func newMinOverlappingTest(t *testing.T, levelBase uint64) *pickerTest {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.io.CompactionPri = rocksdb.MinOverlappingRatio
	p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = levelBase, 10
	return p
}

func TestCompactionPickerTest_CompactionPriMinOverlapping1(t *testing.T) {
	p := newMinOverlappingTest(t, 10<<20)
	p.mo.TargetFileSizeBase, p.mo.TargetFileSizeMultiplier = 100000000000, 10
	p.refresh()
	p.files(2, "6 150 179 50000000", "7 180 220 50000000", "8 321 400 50000000", "9 721 800 50000000")
	p.files(3, "26 150 170 260000000", "27 171 179 260000000", "28 191 220 260000000", "29 221 300 260000000", "30 750 900 260000000")
	p.update()
	c := p.mustPick(p.level())
	p.wantInputs(c, "2: 8") // overlaps nothing
	if got := c.OutputFilePreallocationSize(); got > 55000000 {
		t.Errorf("preallocation %d", got)
	}
}

func TestCompactionPickerTest_CompactionPriMinOverlapping2(t *testing.T) {
	p := newMinOverlappingTest(t, 10<<20)
	p.mo.TargetFileSizeBase, p.mo.TargetFileSizeMultiplier = 10000000, 10
	p.files(2, "6 150 175 60000000", "7 176 200 60000000", "8 201 300 60000000") // 521, 520 and 521 MB below
	p.files(3, "25 100 110 261000000", "26 150 170 261000000", "27 171 179 260000000", "28 191 220 260000000", "29 221 300 261000000", "30 321 400 261000000")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 7 {
		t.Fatalf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_CompactionPriMinOverlapping3(t *testing.T) {
	p := newMinOverlappingTest(t, 10000000)
	p.files(2, "6 150 167 60000000", "7 168 169 60000000", "8 201 300 61000000")
	p.files(3, "26 160 165 260000000", "27 166 170 260000000", "28 180 400 260000000", "29 401 500 260000000")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 8 {
		t.Fatalf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_CompactionPriMinOverlapping4(t *testing.T) {
	p := newMinOverlappingTest(t, 10000000)
	p.files(2, "6 150 167 60000000 comp=180000000", "7 178 189 60000000", "8 401 500 61000000")
	p.files(3, "26 160 165 60000000", "27 166 170 60000000 comp=260000000", "28 180 400 60000000", "29 401 500 60000000")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != 6 {
		t.Fatalf("inputs %q", inputsText(c)) // 120/180 is the least ratio
	}
}

func TestCompactionPickerTest_CompactionPriRoundRobin(t *testing.T) {
	for _, x := range []struct {
		cursor string
		want   uint64
	}{{"249", 8}, {"600", 6}, {"", 6}} {
		p := newPickerTest(t)
		p.io.CompactionPri = rocksdb.RoundRobin
		p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = 12000000, 10
		p.storage(6, leveled)
		p.setCursor(x.cursor)
		p.files(2, "6 150 199 50000000", "7 200 249 50000000", "8 300 600 50000000")
		p.files(3, "26 130 165 60000000", "27 166 170 60000000", "28 270 340 60000000", "29 401 500 60000000")
		p.update()
		c := p.mustPick(p.level())
		if c.NumInputFiles(0) != 1 || c.Input(0, 0).FD.GetNumber() != x.want {
			t.Fatalf("cursor %q: inputs %q, want file %d", x.cursor, inputsText(c), x.want)
		}
	}
}

// setCursor puts level 2's round-robin cursor.
func (p *pickerTest) setCursor(userKey string) {
	p.vs.ResizeCompactCursors(6)
	var key dbformat.InternalKey
	if userKey != "" {
		key = dbformat.NewInternalKey([]byte(userKey), 100, tValue)
	}
	p.vs.AddCursorForOneLevel(2, key)
}

func testMultipleFilesRoundRobin(t *testing.T, maxBytes uint64, cursor, file27 string, want ...uint64) {
	p := newPickerTest(t)
	p.io.CompactionPri = rocksdb.RoundRobin
	p.mo.MaxCompactionBytes = maxBytes
	p.mo.MaxBytesForLevelBase, p.mo.MaxBytesForLevelMultiplier = 120, 10
	p.storage(6, leveled)
	p.setCursor(cursor)
	p.files(2, "6 150 199 500", "7 200 249 500", "8 300 600 500", "9 700 800 500", "10 850 950 500")
	p.files(3, "26 130 165 600", file27, "28 270 340 600", "29 401 500 600", "30 601 800 600", "31 830 890 600")
	p.update()
	c := p.mustPick(p.level())
	var got []uint64
	for _, f := range c.InputFiles(0) {
		got = append(got, f.FD.GetNumber())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("files %v, want %v", got, want)
	}
}

func TestCompactionPickerTest_CompactionPriMultipleFilesRoundRobin1(t *testing.T) {
	// Until the level is back at its size.
	testMultipleFilesRoundRobin(t, 100000000, "199", "27 166 170 600", 7, 8, 9)
}

func TestCompactionPickerTest_CompactionPriMultipleFilesRoundRobin2(t *testing.T) {
	// Up to max_compaction_bytes.
	testMultipleFilesRoundRobin(t, 2500, "1000", "27 166 230 600", 6, 7)
}

func TestCompactionPickerTest_CompactionPriMultipleFilesRoundRobin3(t *testing.T) {
	// To the level's end.
	testMultipleFilesRoundRobin(t, 1000000, "700", "27 166 170 600", 9, 10)
}

func TestCompactionPickerTest_ParentIndexResetBug(t *testing.T) {
	p := newPickerTest(t)
	p.mo.Level0FileNumCompactionTrigger = 2
	p.mo.MaxBytesForLevelBase = 200
	p.storage(7, leveled)
	p.files(0, "1 150 200 marked")
	p.files(1, "3 400 500 600") // too large, but what is below is busy
	p.files(2, "4 150 200", "5 201 210", "6 300 310", "7 400 500 busy")
	p.update()
	// Upstream's only assertion is that nothing fails.
	if c := p.pick(p.level()); c != nil && c.Input(0, 0).FD.GetNumber() != 1 {
		t.Errorf("inputs %q", inputsText(c))
	}
}

func TestCompactionPickerTest_NotScheduleL1IfL0WithHigherPri1(t *testing.T) {
	testL1BehindL0(t, " busy", "", [2]int{0, 1}, "")
}

func TestCompactionPickerTest_NotScheduleL1IfL0WithHigherPri2(t *testing.T) {
	testL1BehindL0(t, "", "", [2]int{0, 1}, "any")
}

func TestCompactionPickerTest_NotScheduleL1IfL0WithHigherPri3(t *testing.T) {
	testL1BehindL0(t, " busy", "51 351 400 6000000000 0 100", [2]int{1, 0}, "any")
}

// testL1BehindL0 has level 0 waiting for a file of level 1.
func testL1BehindL0(t *testing.T, file4, more string, levels [2]int, want string) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.Level0FileNumCompactionTrigger = 2
	p.mo.MaxBytesForLevelBase = 900000000
	p.files(0, "1 000 400 1", "2 001 400 1 0 100", "3 001 400 1000000000 0 100", "31 001 400 1000000000 0 100",
		"32 001 400 1000000000 0 100", "33 001 400 1000000000 0 100")
	p.files(1, "4 050 300 1000000000 0 100"+file4, "5 301 350 1000000000 0 100")
	if more != "" {
		p.files(1, more)
	}
	p.files(2, "6 050 100 1", "7 300 400 1")
	p.update()
	if got := [2]int{p.vs.CompactionScoreLevel(0), p.vs.CompactionScoreLevel(1)}; got != levels {
		t.Fatalf("levels by score %v, want %v", got, levels)
	}
	if want == "" {
		p.wantNone(p.level())
	} else {
		p.mustPick(p.level())
	}
}

func TestCompactionPickerTest_CompactionLimitWhenAddFileFromInputLevel(t *testing.T) {
	testCompactionLimit(t, 300000, "1: 1 2 3 4 | 2: 5")
}

func TestCompactionPickerTest_HitCompactionLimitWhenAddFileFromInputLevel(t *testing.T) {
	testCompactionLimit(t, 400000, "1: 2 | 2: 5")
}

func testCompactionLimit(t *testing.T, size int, want string) {
	p := newPickerTest(t)
	p.mo.MaxBytesForLevelBase, p.mo.MaxCompactionBytes = 1000000, 800000
	p.storage(6, leveled)
	p.files(1, fmt.Sprintf("1 100 150 %d", size), fmt.Sprintf("2 151 200 %d 0 100", size+1), fmt.Sprintf("3 201 250 %d 0 100", size),
		fmt.Sprintf("4 251 300 %d 0 100", size), fmt.Sprintf("6 325 400 %d 0 100", size))
	p.files(2, "5 100 350 1", "7 375 425 1")
	p.update()
	p.wantInputs(p.mustPick(p.level()), want)
}

func TestCompactionPickerTest_CompactRangeMaxCompactionBytes(t *testing.T) {
	p := newPickerTest(t)
	p.mo.MaxCompactionBytes = 800000
	p.storage(6, leveled)
	p.files(1, "1 100 110 10000", "2 200 210 10000 0 100", "3 400 410 10000 0 100")
	p.files(2, "4 300 310 400000", "5 320 330 400000")
	p.update()
	o := rocksdb.DefaultCompactRangeOptions()
	c, end, conflict := p.level().CompactRange("dummy", p.mo, p.mdb, p.vs,
		compaction.ManualRange{InputLevel: 1, OutputLevel: 2, Options: &o, MaxFileNumToIgnore: math.MaxUint64})
	if c == nil || conflict {
		t.Fatalf("compaction %v, conflict %v", c, conflict)
	}
	p.wantInputs(c, "1: 1 2")
	p.wantOutput(c, 2)
	// The next step goes on with the third file.
	if string(end) != string(p.byNumber[3].Smallest) {
		t.Errorf("next step begins at %q", end)
	}
}

func TestCompactionPickerTest_CacheNextCompactionIndex(t *testing.T) {
	p := newPickerTest(t)
	p.storage(6, leveled)
	p.mo.MaxCompactionBytes = 100000000000
	p.files(1, "1 100 149 1000000000 busy", "2 150 199 900000000", "3 200 249 800000000", "4 250 299 700000000")
	p.files(2, "5 150 199 100 busy", "6 200 240 1", "7 260 270 1")
	p.update()
	picker := p.level()
	for i, want := range []string{"1: 3 | 2: 6", "1: 4 | 2: 7", ""} {
		c := p.pick(picker)
		got := ""
		if c != nil {
			got = inputsText(c)
		}
		if got != want || p.vs.NextCompactionIndex(1) != i+2 {
			t.Fatalf("pick %d: inputs %q, next index %d; want %q, %d", i, got, p.vs.NextCompactionIndex(1), want, i+2)
		}
	}
}

func testIntraL0MaxCompactionBytes(t *testing.T, maxBytes uint64, want int) {
	p := newPickerTest(t)
	p.mo.Level0FileNumCompactionTrigger = 3
	p.mo.MaxCompactionBytes = maxBytes
	p.storage(6, leveled)
	for i := range 5 {
		p.files(0, fmt.Sprintf("%d %d %d 200000 %d %d", i+1, 100+50*i+min(i, 1), 150+50*i, 100+2*i, 101+2*i))
	}
	p.files(1, "6 100 350 200000 110 111 busy")
	p.update()
	c := p.mustPick(p.level())
	if c.NumInputLevels() != 1 || c.NumInputFiles(0) != want {
		t.Fatalf("inputs %q, want %d files", inputsText(c), want)
	}
	p.wantReason(c, rocksdb.CompactionReasonLevelL0FilesNum)
	p.wantOutput(c, 0)
}

func TestCompactionPickerTest_IntraL0MaxCompactionBytesNotHit(t *testing.T) {
	testIntraL0MaxCompactionBytes(t, 1000000, 5)
}

func TestCompactionPickerTest_IntraL0MaxCompactionBytesHit(t *testing.T) {
	testIntraL0MaxCompactionBytes(t, 999999, 4)
}

func TestCompactionPickerTest_IntraL0WhenL0IsSmall(t *testing.T) {
	for _, factor := range []int{1, 10, 11, 40} {
		p := newPickerTest(t)
		p.mo.Level0FileNumCompactionTrigger = 4
		p.mo.MaxBytesForLevelMultiplier = 10
		p.storage(6, leveled)
		p.files(0, "1 100 200 10 10 11 comp=1000", "2 100 100 10 20 21 comp=1000", "3 100 200 10 30 31 comp=1000", "4 100 200 10 40 41 comp=1000")
		p.files(1, fmt.Sprintf("5 100 200 %d 0 0", 8000*factor))
		p.update()
		c := p.mustPick(p.level())
		p.wantReason(c, rocksdb.CompactionReasonLevelL0FilesNum)
		levels, output := 2, 1
		if factor > 10 {
			levels, output = 1, 0 // the base level is too large to be rewritten for this
		}
		if c.NumInputFiles(0) != 4 || c.NumInputLevels() != levels {
			t.Fatalf("factor %d: inputs %q", factor, inputsText(c))
		}
		p.wantOutput(c, output)
	}
}

func TestCompactionPickerTest_IsBottommostLevelTest(t *testing.T) {
	upper := func(p *pickerTest) {
		p.files(0, "1 a m", "2 c z")
		p.files(1, "3 d e", "4 l p")
		p.files(2, "5 g i", "6 x z")
	}
	type input struct {
		level   int
		numbers []uint64
	}
	from1to2 := []input{{1, []uint64{3}}, {2, []uint64{5}}}
	all0 := input{0, []uint64{1, 2, 3, 4}}
	for _, x := range []struct {
		name  string
		files func(p *pickerTest)
		in    []input
		want  bool
	}{
		{"nothing below", upper, from1to2, true},
		{"others below", func(p *pickerTest) {
			upper(p)
			p.files(3, "7 k p", "8 t w")
			p.files(4, "9 a b")
			p.files(5, "10 c cc")
		}, from1to2, true},
		{"overlap in the next level", func(p *pickerTest) {
			upper(p)
			p.files(3, "7 e g", "8 h k")
			p.files(4, "9 a b")
			p.files(5, "10 c cc")
		}, from1to2, false},
		{"overlap in the last level", func(p *pickerTest) {
			upper(p)
			p.files(3, "7 j k", "8 l m")
			p.files(4, "9 a b")
			p.files(5, "10 c cc", "11 h k", "12 y yy", "13 z zz")
		}, from1to2, false},
		{"touching the smallest key", func(p *pickerTest) {
			upper(p)
			p.files(3, "7 j k", "8 l m")
			p.files(4, "9 a b")
			p.files(5, "10 c cc", "11 ccc d", "12 y yy", "13 z zz")
		}, from1to2, false},
		{"level 0 reaching over", func(p *pickerTest) {
			p.files(0, "1 s t", "2 a m", "3 b z", "4 e f")
			p.files(5, "10 y z")
		}, []input{all0}, false},
		{"level 0 not reaching over", func(p *pickerTest) {
			p.files(0, "1 s t", "2 a m", "3 b k", "4 e f")
			p.files(5, "10 y z")
		}, []input{all0}, true},
		{"level 1 reaching over", func(p *pickerTest) {
			p.files(0, "1 s t", "2 a m", "3 b k", "4 e f")
			p.files(1, "5 a m", "6 n o", "7 w y")
			p.files(5, "10 y z")
		}, []input{all0, {1, []uint64{5, 6, 7}}}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := newPickerTest(t)
			p.storage(6, leveled)
			x.files(p)
			p.update()
			var ins []compaction.CompactionInputFiles
			for _, in := range x.in {
				f := compaction.CompactionInputFiles{Level: in.level}
				for _, n := range in.numbers {
					f.Files = append(f.Files, p.byNumber[n])
				}
				ins = append(ins, f)
			}
			if got := compaction.IsBottommostLevel(2, p.vs, ins); got != x.want {
				t.Errorf("bottommost %v", got)
			}
		})
	}
}

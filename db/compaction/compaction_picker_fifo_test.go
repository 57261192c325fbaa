// Port of db/compaction/compaction_picker_test.cc (FIFO compaction with blob
// files).

package compaction_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	kB = uint64(1) << 10
	mB = uint64(1) << 20
	gB = uint64(1) << 30
)

// fifoRatio sets FIFO compaction up with limits for tables, and for tables and
// blob files.
func (p *pickerTest) fifoRatio(tables, data uint64, trigger int, allow, ratio bool, levels int) {
	p.io.CompactionStyle = fifo
	p.storage(levels, fifo)
	f := &p.mo.CompactionOptionsFIFO
	f.MaxTableFilesSize, f.MaxDataFilesSize, f.AllowCompaction, f.UseKVRatioCompaction = tables, data, allow, ratio
	p.mo.Level0FileNumCompactionTrigger = trigger
}

func newFIFORatioTest(t *testing.T, tables, data uint64) *pickerTest {
	p := newPickerTest(t)
	p.fifoRatio(tables, data, 4, true, true, 1)
	return p
}

// sizes adds files of keys behind each other to level 0, numbered from 1.
func (p *pickerTest) sizes(list ...uint64) {
	for i, n := range list {
		p.files(0, fmt.Sprintf("%d %d00 %d99 %d", i+1, i+1, i+1, n))
	}
}

func (p *pickerTest) blobs(list ...uint64) {
	for i, n := range list {
		p.vs.AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(uint64(100+i), 1, n, "", "", nil), nil, 0, 0))
	}
}

func repeat(n uint64, times int) []uint64 { return slices.Repeat([]uint64{n}, times) }

// pickFIFO computes what follows from the files, and picks.
func (p *pickerTest) pickFIFO() *compaction.Compaction {
	p.update()
	return p.pick(p.fifo())
}

// wantMerged wants files of level 0 to be merged.
func (p *pickerTest) wantMerged() *compaction.Compaction {
	p.Helper()
	c := p.pickFIFO()
	if c == nil {
		p.Fatal("nothing was picked")
	}
	p.wantReason(c, rocksdb.CompactionReasonFIFOReduceNumFiles)
	p.wantOutput(c, 0)
	return c
}

func (p *pickerTest) wantNothing() {
	p.Helper()
	if c := p.pickFIFO(); c != nil {
		p.Fatalf("picked %s", inputsText(c))
	}
}

func TestCompactionPickerTest_FIFOToCold1(t *testing.T) {
	for _, known := range []bool{false, true} {
		p := newPickerTest(t)
		p.io.CompactionStyle = fifo
		p.storage(1, fifo)
		f := &p.mo.CompactionOptionsFIFO
		f.MaxTableFilesSize, f.FileTemperatureAgeThresholds = 100000*100000, coldAfter2000
		f.AllowTrivialCopyWhenChangeTemperature, f.TrivialCopyBufferSize = true, 16*mB
		p.mo.Level0FileNumCompactionTrigger, p.mo.MaxCompactionBytes = 100, 100000*100
		now, err := p.io.Clock.GetCurrentTime()
		if err != nil {
			t.Fatal(err)
		}
		word := "oldest"
		if known {
			word = "newest"
		}
		p.files(0, fmt.Sprintf("4 260 300 100000 2500 2600 marked %s=%d", word, now-2000-2000),
			fmt.Sprintf("3 200 300 400000 2300 2400 marked %s=%d", word, now-2000-3000))
		p.update()
		picker := p.fifo()
		if !picker.NeedsCompaction(p.vs) {
			t.Error("no need of compaction")
		}
		c := p.mustPick(picker)
		p.wantReason(c, rocksdb.CompactionReasonChangeTemperature)
		p.wantInputs(c, "0: 3")
		if c.GetOutputTemperature(false) != rocksdb.TemperatureCold {
			t.Errorf("temperature %v", c.GetOutputTemperature(false))
		}
	}
}

func TestCompactionPickerTest_FIFORatioBasedCompactionFileCountThreshold(t *testing.T) {
	p := newFIFORatioTest(t, 10*mB, gB)
	p.sizes(repeat(64*kB, 3)...)
	p.blobs(repeat(64*mB, 3)...)
	p.wantNothing()

	p = newFIFORatioTest(t, 10*mB, gB)
	p.sizes(64*kB, 32*kB, 48*kB, 96*kB)
	p.blobs(repeat(64*mB, 4)...)
	p.wantMerged()

	p = newFIFORatioTest(t, 100*mB, 500*mB)
	p.sizes(64*kB, 32*kB, 48*kB, 96*kB, 64*kB, 48*kB, 64*kB, 64*kB)
	p.blobs(repeat(50*mB, 8)...)
	if n := p.wantMerged().NumInputFiles(0); n < 2 {
		t.Errorf("%d inputs", n)
	}
}

func TestCompactionPickerTest_FIFORatioBasedCompactionNoBlobsFallback(t *testing.T) {
	p := newFIFORatioTest(t, 10*mB, 10*gB)
	p.sizes(repeat(64*kB, 4)...)
	if n := p.wantMerged().NumInputFiles(0); n < 2 {
		t.Errorf("%d inputs", n)
	}
}

func TestCompactionPickerTest_FIFORatioBasedCompactionNoRecompaction(t *testing.T) {
	p := newFIFORatioTest(t, 100*mB, 500*mB)
	p.mo.MaxCompactionBytes = 256 * kB // which all files are above
	p.sizes(repeat(300*kB, 4)...)
	p.wantNothing()
}

func TestCompactionPickerTest_FIFORatioBasedCompactionWithExplicitMaxCompactionBytes(t *testing.T) {
	p := newFIFORatioTest(t, 100*mB, 10*gB)
	p.mo.MaxCompactionBytes = 256 * kB
	p.sizes(repeat(64*kB, 6)...)
	p.wantMerged()
}

func TestCompactionPickerTest_FIFORatioBasedCompactionFallbackToOldPath(t *testing.T) {
	p := newPickerTest(t)
	p.fifoRatio(10*mB, 0, 4, false, false, 1)
	p.sizes(repeat(64*kB, 4)...)
	p.wantNothing()

	p = newPickerTest(t)
	p.fifoRatio(10*mB, 0, 4, true, false, 1)
	p.mo.MaxCompactionBytes = 64 * mB
	p.sizes(repeat(64*kB, 4)...)
	p.wantMerged()
}

func TestCompactionPickerTest_FIFOOptionValidation(t *testing.T) {
	for name, set := range map[string]func(o *rocksdb.ColumnFamilyOptions){
		"plain":                   func(*rocksdb.ColumnFamilyOptions) {},
		"leveled":                 func(o *rocksdb.ColumnFamilyOptions) { o.CompactionStyle = leveled },
		"without compaction":      func(o *rocksdb.ColumnFamilyOptions) { o.CompactionOptionsFIFO.AllowCompaction = false },
		"without a limit of data": func(o *rocksdb.ColumnFamilyOptions) { o.CompactionOptionsFIFO.MaxDataFilesSize = 0 },
		"four levels":             func(o *rocksdb.ColumnFamilyOptions) { o.NumLevels = 4 },
		"data below tables": func(o *rocksdb.ColumnFamilyOptions) {
			f := &o.CompactionOptionsFIFO
			f.UseKVRatioCompaction, f.MaxTableFilesSize, f.MaxDataFilesSize = false, gB, 500*mB
		},
		"data as tables": func(o *rocksdb.ColumnFamilyOptions) {
			f := &o.CompactionOptionsFIFO
			f.UseKVRatioCompaction, f.MaxTableFilesSize, f.MaxDataFilesSize = false, gB, gB
		},
	} {
		dbo, o := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
		o.CompactionStyle, o.NumLevels = fifo, 1
		f := &o.CompactionOptionsFIFO
		f.AllowCompaction, f.UseKVRatioCompaction, f.MaxDataFilesSize = true, true, gB
		set(&o)
		if err := db.ValidateOptions(&dbo, &o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompactionPickerTest_FIFORatioBasedFallbackOnInvalidConfig(t *testing.T) {
	for _, c := range [][2]uint64{{10 * mB, 0}, {gB, 500 * mB}} {
		p := newFIFORatioTest(t, c[0], c[1])
		p.mo.MaxCompactionBytes = 10 * mB
		p.sizes(repeat(64*kB, 4)...)
		p.wantMerged()
	}
}

func TestCompactionPickerTest_FIFORatioBasedMultiLevelMigration(t *testing.T) {
	p := newPickerTest(t)
	p.fifoRatio(100*mB, gB, 4, true, true, 4)
	p.sizes(repeat(64*kB, 5)...)
	p.files(2, fmt.Sprintf("10 100 600 %d", 50*mB))
	p.blobs(64*mB, 64*mB)
	if c := p.pickFIFO(); c != nil && c.CompactionReason() == rocksdb.CompactionReasonFIFOReduceNumFiles && c.MaxOutputFileSize() != 16*mB {
		t.Errorf("by the ratio: files of %d bytes", c.MaxOutputFileSize())
	}
	p = newPickerTest(t)
	p.fifoRatio(100*mB, gB, 4, true, true, 4)
	p.sizes(64*kB, 32*kB, 48*kB, 96*kB)
	p.blobs(repeat(64*mB, 4)...)
	p.wantMerged()
}

// newTTLTest has two files that have expired below two that have not.
func newTTLTest(t *testing.T, levels int, limit uint64) *pickerTest {
	p := newPickerTest(t)
	p.fifoRatio(limit, limit, 4, true, false, levels)
	p.mo.TTL = 3600
	now, err := p.io.Clock.GetCurrentTime()
	if err != nil {
		t.Fatal(err)
	}
	for i, newest := range []int64{now, now, 1, 1} {
		p.files(0, fmt.Sprintf("%d %d00 %d99 %d 100 100 newest=%d", i+1, i+1, i+1, 50*kB, newest))
	}
	return p
}

func TestCompactionPickerTest_FIFOTTLBlobEstimationSingleLevel(t *testing.T) {
	for _, c := range []struct {
		blobs, limit uint64
		expires      bool
	}{{400 * kB, 500 * kB, true}, {4 * mB, 100 * kB, false}, {0, 150 * kB, true}} {
		p := newTTLTest(t, 1, c.limit)
		if c.blobs > 0 {
			p.blobs(c.blobs/2, c.blobs/2)
		}
		pick := p.pickFIFO()
		if got := pick != nil && pick.CompactionReason() == rocksdb.CompactionReasonFIFOTtl; got != c.expires {
			t.Errorf("blobs of %d, limit %d: expired %t", c.blobs, c.limit, got)
		} else if got && pick.NumInputFiles(0) != 2 {
			t.Errorf("inputs %q", inputsText(pick))
		}
	}
}

func TestCompactionPickerTest_FIFOTTLBlobEstimationMultiLevel(t *testing.T) {
	// What is left is a share of the blobs by the tables of all levels: 300 KB of
	// tables with 600 KB of blobs, more than allowed.
	p := newTTLTest(t, 4, 850*kB)
	p.files(2, fmt.Sprintf("10 100 600 %d", 200*kB))
	p.blobs(400*kB, 400*kB)
	if c := p.pickFIFO(); c != nil && c.CompactionReason() == rocksdb.CompactionReasonFIFOTtl {
		t.Errorf("expired %q", inputsText(c))
	}
}

func TestCompactionPickerTest_FIFOBlobAwareSizeDropping(t *testing.T) {
	p := newPickerTest(t)
	p.fifoRatio(200*mB, 200*mB, 4, true, false, 1)
	p.sizes(repeat(40*kB, 5)...)
	p.blobs(repeat(100*mB, 5)...)
	c := p.pickFIFO()
	if c == nil || c.NumInputFiles(0) < 1 {
		t.Fatal("nothing is dropped")
	}
	p.wantReason(c, rocksdb.CompactionReasonFIFOMaxSize)

	p = newPickerTest(t)
	p.fifoRatio(400*kB, 400*kB, 4, true, false, 4)
	p.sizes(50*kB, 50*kB)
	p.files(2, fmt.Sprintf("10 100 299 %d", 50*kB), fmt.Sprintf("11 300 499 %d", 50*kB), fmt.Sprintf("12 500 700 %d", 50*kB))
	p.blobs(250*kB, 250*kB)
	c = p.pickFIFO()
	if c == nil || c.StartLevel() != 2 || c.NumInputFiles(0) < 1 {
		t.Fatal("nothing of level 2 is dropped")
	}
	p.wantReason(c, rocksdb.CompactionReasonFIFOMaxSize)

	p = newFIFORatioTest(t, gB, gB)
	p.sizes(repeat(64*kB, 4)...)
	p.blobs(repeat(50*mB, 4)...)
	if c := p.pickFIFO(); c != nil && c.CompactionReason() == rocksdb.CompactionReasonFIFOMaxSize {
		t.Errorf("dropped %q", inputsText(c))
	}
}

func TestCompactionPickerTest_FIFOBlobAwareScoreComputation(t *testing.T) {
	p := newPickerTest(t)
	p.fifoRatio(200*mB, 200*mB, 4, false, false, 1)
	p.sizes(repeat(25*kB, 4)...)
	p.blobs(500 * mB)
	p.update()
	if s := p.vs.CompactionScore(0); s <= 2 {
		t.Errorf("score %f with blobs", s)
	}
	p = newPickerTest(t)
	p.fifoRatio(mB, 0, 4, false, false, 1)
	p.sizes(repeat(100*kB, 4)...)
	p.blobs(500 * mB)
	p.update()
	if s := p.vs.CompactionScore(0); s >= 1 {
		t.Errorf("score %f without blobs", s)
	}
}

// ratioFile is a file of level 0 with its share of blobs.
type ratioFile struct {
	size, blobs uint64
	compacted   bool
}

// ratioRun flushes and compacts by what the picker says.
type ratioRun struct {
	*testing.T
	files              []ratioFile // the newest first
	flushed, compacted uint64      // bytes
	compactions        int
}

// pick gives the places of the files picked, and why.
func (r *ratioRun) pick(trigger int, limit uint64) (places []int, reason rocksdb.CompactionReason) {
	p := newPickerTest(r.T)
	p.fifoRatio(limit, limit, trigger, true, true, 1)
	n, blobs := len(r.files), uint64(0)
	for i, f := range r.files {
		k := 10000 + (n-i)*10
		p.files(0, fmt.Sprintf("%d k%d k%d %d", n-i, k, k+9, f.size))
		blobs += f.blobs
	}
	if blobs > 0 {
		p.blobs(blobs)
	}
	c := p.pickFIFO()
	if c == nil {
		return nil, 0
	}
	for i := range c.NumInputFiles(0) {
		places = append(places, n-int(c.Input(0, i).FD.GetNumber()))
	}
	slices.Sort(places)
	return places, c.CompactionReason()
}

func (r *ratioRun) run(rounds, trigger int, limit uint64, flush func() (size, blobs uint64)) {
	for range rounds {
		size, blobs := flush()
		r.files = slices.Insert(r.files, 0, ratioFile{size, blobs, false})
		r.flushed += size
		places, reason := r.pick(trigger, limit)
		if len(places) == 0 {
			continue
		}
		out := ratioFile{compacted: true}
		for _, i := range slices.Backward(places) {
			out.size += r.files[i].size
			out.blobs += r.files[i].blobs
			r.files = slices.Delete(r.files, i, i+1)
		}
		if reason == rocksdb.CompactionReasonFIFOMaxSize || reason == rocksdb.CompactionReasonFIFOTtl {
			continue
		}
		r.compacted += out.size
		r.compactions++
		r.files = slices.Insert(r.files, places[len(places)-1]-(len(places)-1), out)
	}
}

func (r *ratioRun) wantWriteAmp(most float64) {
	r.Helper()
	if amp := float64(r.flushed+r.compacted) / float64(r.flushed); amp > most {
		r.Errorf("write amplification %f, at most %f", amp, most)
	}
}

func (r *ratioRun) wantFiles(most int) {
	r.Helper()
	if len(r.files) > most {
		r.Errorf("%d files, at most %d", len(r.files), most)
	}
}

// wantUniform bounds how much the sizes of compacted files vary.
func (r *ratioRun) wantUniform(most float64) {
	r.Helper()
	var n, sum, squares float64
	for _, f := range r.files {
		if f.compacted {
			s := float64(f.size)
			n, sum, squares = n+1, sum+s, squares+s*s
		}
	}
	if n < 2 {
		return
	}
	mean := sum / n
	if cv := math.Sqrt(max(squares/n-mean*mean, 0)) / mean; cv > most {
		r.Errorf("%.0f compacted files vary by %f, at most %f", n, cv, most)
	}
}

// wantGraduatedKept checks that files of the target size are left alone.
func (r *ratioRun) wantGraduatedKept(trigger int, limit uint64) {
	r.Helper()
	places, reason := r.pick(trigger, limit)
	if reason != rocksdb.CompactionReasonFIFOReduceNumFiles {
		return
	}
	var size, blobs uint64
	for _, f := range r.files {
		size, blobs = size+f.size, blobs+f.blobs
	}
	target := uint64(float64(limit)*float64(size)/float64(size+blobs)) / uint64(trigger)
	for _, i := range places {
		if r.files[i].size >= target {
			r.Errorf("a file of %d bytes is picked, target %d", r.files[i].size, target)
		}
	}
}

func constantly(size, blobs uint64) func() (uint64, uint64) {
	return func() (uint64, uint64) { return size, blobs }
}

func TestFIFORatioBasedCompactionPickingTest_VariableFlushWithFIFODropping(t *testing.T) {
	rnd, r := util.NewRandom(42), &ratioRun{T: t}
	r.run(200, 10, 500*mB, func() (uint64, uint64) {
		return uint64(32+rnd.Next()%97) * kB, uint64(32+rnd.Next()%65) * mB
	})
	r.wantFiles(10 * 3)
	r.wantUniform(0.4)
	r.wantWriteAmp(3)
}

func TestFIFORatioBasedCompactionPickingTest_NoCascadingReCompaction(t *testing.T) {
	r := &ratioRun{T: t}
	r.run(200, 10, 10*gB, constantly(64*kB, 64*mB))
	r.wantGraduatedKept(10, 10*gB)
	r.wantWriteAmp(4)
}

func TestFIFORatioBasedCompactionPickingTest_EarlyMemtableFlush(t *testing.T) {
	rnd, r := util.NewRandom(123), &ratioRun{T: t}
	r.run(100, 10, gB, func() (uint64, uint64) {
		size := uint64(0)
		if rnd.Next()%5 == 0 {
			size = uint64(64+rnd.Next()%65) * kB
		} else {
			size = uint64(8+rnd.Next()%25) * kB
		}
		return size, 32 * mB
	})
	r.wantFiles(10 * 5)
	r.wantUniform(0.5)
	r.wantWriteAmp(4)
}

func TestFIFORatioBasedCompactionPickingTest_BlobCompressionVariation(t *testing.T) {
	rnd, r := util.NewRandom(456), &ratioRun{T: t}
	r.run(150, 10, 300*mB, func() (uint64, uint64) { return 64 * kB, uint64(20+rnd.Next()%61) * mB })
	r.wantUniform(0.3)
}

func TestFIFORatioBasedCompactionPickingTest_TieredLargeRatio(t *testing.T) {
	r := &ratioRun{T: t}
	r.run(500, 10, 10*gB, constantly(kB, mB)) // a target of a thousand flushes
	r.wantWriteAmp(6)
	r.wantFiles(10 * 6)
}

func TestFIFORatioBasedCompactionPickingTest_TieredProgression(t *testing.T) {
	r := &ratioRun{T: t}
	r.run(200, 4, 100*mB, constantly(10*kB, mB))
	if !slices.ContainsFunc(r.files, func(f ratioFile) bool { return f.compacted }) {
		t.Error("no compacted file")
	}
	r.wantWriteAmp(5)
}

func TestFIFORatioBasedCompactionPickingTest_GraduatedFilesNotRecompacted(t *testing.T) {
	r := &ratioRun{T: t}
	r.run(60, 4, 500*mB, constantly(64*kB, 50*mB))
	r.wantGraduatedKept(4, 500*mB)
}

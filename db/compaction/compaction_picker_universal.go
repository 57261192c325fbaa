// Port of db/compaction/compaction_picker_universal.{h,cc}.

package compaction

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// UniversalCompactionPicker is the picker of universal (tiered) compaction.
type UniversalCompactionPicker struct{ CompactionPicker }

// NewUniversalCompactionPicker makes one.
func NewUniversalCompactionPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) *UniversalCompactionPicker {
	return &UniversalCompactionPicker{newCompactionPicker(io, icmp)}
}

// NeedsCompaction tells whether there are many sorted runs, or files are marked.
func (p *UniversalCompactionPicker) NeedsCompaction(vs *version.StorageInfo) bool {
	return vs.CompactionScore(0) >= 1 || len(vs.FilesMarkedForPeriodicCompaction()) > 0 ||
		len(vs.FilesMarkedForCompaction()) > 0 || len(vs.ReadTriggeredCompactionFiles()) > 0
}

// PickCompaction gives what most needs compacting.
func (p *UniversalCompactionPicker) PickCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	snapshots []rocksdb.SequenceNumber, checker dbformat.SnapshotChecker, vs *version.StorageInfo, requireMaxOutputLevel bool) *Compaction {
	b := &universalCompactionBuilder{cfName: cfName, vs: vs, picker: p, mo: mo, mdb: mdb, o: &mo.CompactionOptionsUniversal,
		requireMaxOutputLevel: requireMaxOutputLevel, runOfMarkedFile: map[uint64]int{}}
	b.maxOutputLevel = vs.MaxOutputLevel(p.io.CFAllowIngestBehind || p.io.AllowIngestBehind)
	if p.icmp.TimestampSize() == 0 {
		earliest := dbformat.MaxSequenceNumber
		if len(snapshots) > 0 {
			earliest = snapshots[0]
		}
		b.earliestSnapshot, b.checker = &earliest, checker
	}
	return b.pickCompaction()
}

// sortedRun is a file of level 0, or a level.
type sortedRun struct {
	level           int
	file            *version.FileMetaData // of level 0
	size            uint64
	compensatedSize uint64
	// beingCompacted: some file of it is.
	beingCompacted bool
	// hasMarkedRangeDel: a file of it is one range tombstone and marked for
	// compaction. Such runs are left to the compaction that is for them.
	hasMarkedRangeDel bool
}

func (r *sortedRun) busy() bool { return r.beingCompacted || r.hasMarkedRangeDel }

func (r *sortedRun) dump(printPath bool) string {
	switch {
	case r.level > 0:
		return fmt.Sprintf("level %d", r.level)
	case printPath && r.file.FD.GetPathId() != 0:
		return fmt.Sprintf("file %d(path %d)", r.file.FD.GetNumber(), r.file.FD.GetPathId())
	}
	return fmt.Sprintf("file %d", r.file.FD.GetNumber())
}

func (r *sortedRun) dumpSizeInfo(i int) string {
	name := fmt.Sprintf("level %d", r.level)
	if r.level == 0 {
		name = fmt.Sprintf("file %d", r.file.FD.GetNumber())
	}
	return fmt.Sprintf("%s[%d] with size %d (compensated size %d)", name, i, r.size, r.compensatedSize)
}

// universalCompactionBuilder makes one pick.
type universalCompactionBuilder struct {
	cfName string
	vs     *version.StorageInfo
	picker *UniversalCompactionPicker
	mo     *options.MutableCFOptions
	mdb    *options.MutableDBOptions
	o      *rocksdb.CompactionOptionsUniversal

	requireMaxOutputLevel bool
	maxOutputLevel        int
	earliestSnapshot      *rocksdb.SequenceNumber // nil with timestamps
	checker               dbformat.SnapshotChecker

	score           float64
	runs            []sortedRun // newest first
	maxRunSize      uint64
	runOfMarkedFile map[uint64]int // index in runs by file number
}

func (b *universalCompactionBuilder) log(format string, args ...any) {
	b.picker.log("[%s] Universal: "+format, append([]any{b.cfName}, args...)...)
}

func (b *universalCompactionBuilder) meetsOutputLevelRequirements(level int) bool {
	return !b.requireMaxOutputLevel || level > 0 && level == b.maxOutputLevel
}

func (b *universalCompactionBuilder) calculateSortedRuns() {
	note := func(f *version.FileMetaData) {
		if b.earliestSnapshot != nil && f.MarkedForCompaction.Load() {
			b.runOfMarkedFile[f.FD.GetNumber()] = len(b.runs)
		}
	}
	for _, f := range b.vs.LevelFiles(0) {
		note(f)
		size := f.FD.GetFileSize()
		b.runs = append(b.runs, sortedRun{file: f, size: size, compensatedSize: f.CompensatedFileSize,
			beingCompacted: f.BeingCompacted, hasMarkedRangeDel: f.MarkedForCompaction.Load() && f.FileIsStandAloneRangeTombstone()})
		b.maxRunSize = max(b.maxRunSize, size)
	}
	for level := 1; level <= b.maxOutputLevel; level++ {
		r := sortedRun{level: level}
		for _, f := range b.vs.LevelFiles(level) {
			note(f)
			r.size += f.FD.GetFileSize()
			r.compensatedSize += f.CompensatedFileSize
			// A move or a compaction for deletions may hold a part of a level.
			r.beingCompacted = r.beingCompacted || f.BeingCompacted
			r.hasMarkedRangeDel = r.hasMarkedRangeDel || f.MarkedForCompaction.Load() && f.FileIsStandAloneRangeTombstone()
		}
		if r.compensatedSize > 0 {
			b.runs = append(b.runs, r)
		}
		b.maxRunSize = max(b.maxRunSize, r.size)
	}
}

func (b *universalCompactionBuilder) pickCompaction() *Compaction {
	b.score = b.vs.CompactionScore(0)
	if b.maxOutputLevel == 0 && !b.meetsOutputLevelRequirements(0) {
		return nil
	}
	b.calculateSortedRuns()
	trigger := b.mo.Level0FileNumCompactionTrigger
	if len(b.runs) == 0 || len(b.vs.FilesMarkedForPeriodicCompaction()) == 0 && len(b.vs.FilesMarkedForCompaction()) == 0 &&
		len(b.vs.ReadTriggeredCompactionFiles()) == 0 && len(b.runs) < trigger {
		b.log("nothing to do")
		syncpoint.ProcessArg("UniversalCompactionBuilder::PickCompaction:Return", (*Compaction)(nil))
		return nil
	}
	b.log("sorted runs: %d files: %s", len(b.runs), b.vs.LevelSummary())
	c := b.pickFirst(trigger)
	if c == nil {
		syncpoint.ProcessArg("UniversalCompactionBuilder::PickCompaction:Return", (*Compaction)(nil))
		return nil
	}
	if b.o.AllowTrivialMove && c.CompactionReason() != rocksdb.CompactionReasonPeriodicCompaction {
		c.SetIsTrivialMove(b.isInputFilesNonOverlapping(c))
	}
	files := 0
	for i := range c.Inputs() {
		files += c.NumInputFiles(i)
	}
	monitoring.RecordInHistogram(b.picker.io.Stats, rocksdb.HistNumFilesInSingleCompaction, uint64(files))
	b.picker.register(c, b.vs, b.mo)
	syncpoint.ProcessArg("UniversalCompactionBuilder::PickCompaction:Return", c)
	return c
}

// pickFirst tries the reasons to compact, the most urgent first.
func (b *universalCompactionBuilder) pickFirst(trigger int) *Compaction {
	if len(b.vs.FilesMarkedForPeriodicCompaction()) > 0 {
		c := b.pickPeriodicCompaction()
		syncpoint.ProcessArg("PostPickPeriodicCompaction", c)
		if c != nil {
			b.log("picked for periodic compaction")
			return c
		}
	}
	if len(b.runs) >= trigger {
		if c := b.pickCompactionToReduceSizeAmp(); c != nil {
			syncpoint.Process("PickCompactionToReduceSizeAmpReturnNonnullptr")
			b.log("picked for size amp compaction")
			return c
		}
		if c := b.pickCompactionToReduceSortedRuns(b.o.SizeRatio, math.MaxUint32); c != nil {
			syncpoint.Process("PickCompactionToReduceSortedRunsReturnNonnullptr")
			b.log("picked for size ratio compaction to reduce sorted run")
			return c
		}
		if c := b.pickByMaxReadAmp(trigger); c != nil {
			return c
		}
	}
	if c := b.pickDeleteTriggeredCompaction(); c != nil {
		syncpoint.Process("PickDeleteTriggeredCompactionReturnNonnullptr")
		b.log("picked for delete triggered compaction")
		return c
	}
	if len(b.vs.ReadTriggeredCompactionFiles()) > 0 {
		if c := b.pickReadTriggeredCompaction(); c != nil {
			b.log("picked for read triggered compaction")
			return c
		}
	}
	return nil
}

// maxNumRuns is how many sorted runs are allowed.
func (b *universalCompactionBuilder) maxNumRuns(trigger int) int {
	n := b.o.MaxReadAmp
	switch {
	case n < 0:
		return trigger
	case n > 0:
		return n
	case b.o.StopStyle != rocksdb.CompactionStopStyleTotalSize:
		return trigger
	}
	// As many as it takes for runs that grow from the size of a memtable as
	// fast as size_ratio allows to reach the greatest run's size.
	n = 1
	level, total := float64(b.mo.WriteBufferSize), 0.0
	for level > 0 && level < float64(b.maxRunSize) {
		total += level
		level = (100.0 + float64(b.o.SizeRatio)) / 100.0 * total
		n++
	}
	return n
}

// pickByMaxReadAmp compacts whatever it takes to have few enough sorted runs.
func (b *universalCompactionBuilder) pickByMaxReadAmp(trigger int) *Compaction {
	idle := 0
	for i := range b.runs {
		if !b.runs[i].busy() {
			idle++
		}
	}
	maxRuns := b.maxNumRuns(trigger)
	if idle <= maxRuns {
		b.log("skipping compaction to reduce sorted run, num sorted runs not being compacted -- %d, max num runs allowed -- %d, max_run_size -- %d",
			idle, maxRuns, b.maxRunSize)
		return nil
	}
	n := uint32(idle - maxRuns + 1)
	c := b.pickCompactionToReduceSortedRuns(math.MaxUint32, n)
	if c != nil {
		b.log("picked for sorted run num compaction to reduce sorted run, to compact file num -- %d, max num runs allowed-- %d, max_run_size -- %d",
			n, maxRuns, b.maxRunSize)
	}
	return c
}

// pathID gives the first path that has room for a file of that size and, in the
// paths up to it, for what will be written before the file is compacted again.
func (b *universalCompactionBuilder) pathID(size uint64) uint32 {
	paths := b.picker.io.CFPaths
	future := size * (100 - uint64(b.o.SizeRatio)) / 100
	var before uint64
	p := 0
	for ; p < len(paths)-1; p++ {
		target := paths[p].TargetSize
		if target > size && before+(target-size) > future {
			break
		}
		before += target
	}
	return uint32(p)
}

// findRuns looks for consecutive runs none of which is much greater than those
// before it (by percent).
func (b *universalCompactionBuilder) findRuns(percent, maxRuns uint32) (start, count int) {
	minWidth := max(int(b.o.MinMergeWidth), 2)
	maxWidth := min(b.o.MaxMergeWidth, maxRuns)
	grow := 100.0 + float64(percent)
	for i := 0; i < len(b.runs); i++ {
		for ; i < len(b.runs) && b.runs[i].busy(); i++ {
			if r := &b.runs[i]; r.beingCompacted {
				b.log("%s[%d] being compacted, skipping for compaction to reduce sorted runs", r.dump(false), i)
			} else {
				b.log("%s[%d] has standalone range tombstone files marked for compaction, skipping for compaction to reduce sorted runs", r.dump(false), i)
			}
		}
		if i == len(b.runs) {
			break
		}
		b.log("Possible candidate for compaction to reduce sorted runs %s[%d].", b.runs[i].dump(true), i)
		size := b.runs[i].compensatedSize
		n := 1
		for j := i + 1; uint32(n) < maxWidth && j < len(b.runs); j++ {
			next := &b.runs[j]
			if next.busy() || float64(size)*grow/100.0 < float64(next.size) {
				break
			}
			if b.o.StopStyle == rocksdb.CompactionStopStyleSimilarSize {
				if float64(next.size)*grow/100.0 < float64(size) {
					break // far smaller
				}
				size = next.compensatedSize
			} else {
				size += next.compensatedSize
			}
			n++
		}
		if n >= minWidth {
			return i, n
		}
		for j := i; j < i+n; j++ {
			b.log("Skipping %s", b.runs[j].dumpSizeInfo(i))
		}
	}
	return 0, 0
}

// pickCompactionToReduceSortedRuns merges consecutive runs of fitting sizes.
func (b *universalCompactionBuilder) pickCompactionToReduceSortedRuns(percent, maxRuns uint32) *Compaction {
	start, count := b.findRuns(percent, maxRuns)
	if count <= 1 {
		return nil
	}
	after := start + count
	var size uint64
	for i := range b.runs[:after] {
		size += b.runs[i].size
	}
	outputLevel := b.maxOutputLevel
	if after < len(b.runs) {
		outputLevel = max(b.runs[after].level-1, 0)
	}
	if !b.meetsOutputLevelRequirements(outputLevel) {
		return nil
	}
	inputs := b.inputsOfRuns(start, after, "Picking")
	// In incremental mode outputs end where the next level's files do.
	var grandparents []*version.FileMetaData
	if b.o.Incremental && after < len(b.runs) && b.runs[after].level > 1 {
		grandparents = b.vs.LevelFiles(b.runs[after].level)
	}
	if outputLevel != 0 && b.picker.conflicts(b.vs, b.mo, inputs, outputLevel) {
		return nil
	}
	p := b.params(inputs, outputLevel, b.enableCompression(after))
	p.OutputPathID, p.Grandparents = b.pathID(size), grandparents
	p.Reason = rocksdb.CompactionReasonUniversalSortedRunNum
	if maxRuns == math.MaxUint32 {
		p.Reason = rocksdb.CompactionReasonUniversalSizeRatio
	}
	return NewCompaction(b.vs, b.picker.io, b.mo, b.mdb, p)
}

// enableCompression is false when the runs from index after on already are the
// share of the data that is to be compressed.
func (b *universalCompactionBuilder) enableCompression(after int) bool {
	percent := b.o.CompressionSizePercent
	if percent < 0 {
		return true
	}
	var total, older uint64
	for i := range b.runs {
		total += b.runs[i].compensatedSize
	}
	for i := len(b.runs) - 1; i >= after; i-- {
		older += b.runs[i].size
		if older*100 >= total*uint64(percent) {
			return false
		}
	}
	return true
}

// inputsOfRuns gives the files of runs[start:end] by level. The list has an
// element for each level from the first run's on, as upstream's.
func (b *universalCompactionBuilder) inputsOfRuns(start, end int, what string) []CompactionInputFiles {
	first := b.runs[start].level
	inputs := make([]CompactionInputFiles, b.maxOutputLevel+1)
	for i := range inputs {
		inputs[i].Level = first + i
	}
	for i := start; i < end; i++ {
		r := &b.runs[i]
		if r.level == 0 {
			inputs[0].Files = append(inputs[0].Files, r.file)
		} else {
			inputs[r.level-first].Files = slices.Clone(b.vs.LevelFiles(r.level))
		}
		b.log("%s %s", what, r.dumpSizeInfo(i))
	}
	return inputs
}

func (b *universalCompactionBuilder) params(inputs []CompactionInputFiles, outputLevel int, compress bool) Params {
	p := DefaultParams()
	p.Inputs, p.OutputLevel = inputs, outputLevel
	p.TargetFileSize = options.MaxFileSizeForLevel(b.mo, outputLevel, rocksdb.CompactionStyleUniversal, 1, false)
	p.MaxCompactionBytes = math.MaxUint64
	if b.o.Incremental {
		p.MaxCompactionBytes = b.mo.TargetFileSizeBase / 2 * 3
	}
	p.Compression = GetCompressionType(b.vs, b.mo, outputLevel, 1, compress)
	p.CompressionOpts = GetCompressionOptions(b.mo, b.vs, outputLevel, compress)
	p.Score = b.score
	return p
}

// pickCompactionToReduceSizeAmp merges everything into the oldest run when the
// newer ones are too much beside it.
func (b *universalCompactionBuilder) pickCompactionToReduceSizeAmp() *Compaction {
	end := len(b.runs) - 1
	if b.mo.PrecludeLastLevelDataSeconds > 0 && b.picker.io.NumLevels > 2 &&
		b.runs[end].level == b.picker.io.NumLevels-1 && end > 0 {
		end--
	}
	if b.runs[end].busy() {
		return nil
	}
	base := b.runs[end].size
	start := end
	var size uint64
	l0 := 0
	for ; start > 0; start-- {
		r := &b.runs[start-1]
		if r.busy() {
			why := "sorted run undergoing compaction"
			if !r.beingCompacted {
				why = "sorted run that has standalone range tombstone files marked for compaction"
			}
			b.log("stopping for size amp compaction at %s: %s[%d]", why, r.dump(true), start-1)
			break
		}
		size += r.compensatedSize
		if r.level == 0 {
			l0++
		}
	}
	if start == end {
		return nil
	}
	n, size := b.newL0sToExclude(l0, start, end, size)
	start += n
	b.log("Excluding for size amp compaction %d latest L0 files to reduce potential write stop triggered by `level0_stop_writes_trigger`", n)
	b.log("First candidate %s[%d]  to reduce size amp.", b.runs[start].dump(true), start)
	needed := size*100 >= uint64(b.o.MaxSizeAmplificationPercent)*base
	not := ""
	if !needed {
		not = "not "
	}
	b.log("size amp compaction %sneeded. newer-files-total-size %d earliest-file-size %d", not, size, base)
	if !needed {
		return nil
	}
	if b.o.Incremental {
		// Taking a part may not cost much more than taking all: up to 80%.
		if c := b.pickIncrementalForReduceSizeAmp(float64(base) / float64(size) * 1.8); c != nil {
			return c
		}
	}
	return b.pickCompactionWithSortedRunRange(start, end, rocksdb.CompactionReasonUniversalSizeAmplification, "size amp")
}

// newL0sToExclude gives how many of the newest files to leave out, so that a
// long compaction does not hold so many files that a few flushes stop writes.
// What remains must be nearly as good a compaction. It also gives the size left.
func (b *universalCompactionBuilder) newL0sToExclude(l0, start, end int, size uint64) (n int, left uint64) {
	if l0 == 0 {
		return 0, size
	}
	// At least one file of level 0 and two runs stay.
	most := min(l0-1, end-start-1)
	room := max(b.mo.Level0StopWritesTrigger-(end-start+1), 0) // flushes until writes stop
	over := func(width uint32) int {
		return int(min(max(int64(width)-int64(room), 0), int64(most)))
	}
	left = size
	for k := over(b.o.MinMergeWidth); k <= over(b.o.MaxMergeWidth); k++ {
		s := left
		for j := n; j < k; j++ {
			s -= b.runs[start+j].compensatedSize
		}
		if s*100 < uint64(b.o.MaxSizeAmplificationPercent)*b.runs[end].size || s < size*9/10 {
			break
		}
		n, left = k, s
	}
	return n, left
}

// incrementalWindow is a span of the second last level's files and what it
// overlaps in the last level.
type incrementalWindow struct {
	start, end int
	fanout     float64
}

// findIncrementalWindow slides a window of about max_compaction_bytes/2 over the
// second last level and gives the one with the least bytes below it for each
// byte of its own.
func (b *universalCompactionBuilder) findIncrementalWindow(files, bottom []*version.FileMetaData, best float64) incrementalWindow {
	icmp := b.picker.icmp
	w := incrementalWindow{fanout: best}
	limit := b.mo.MaxCompactionBytes / 2 // the rest is for clean cuts and upper levels
	start, bottomStart, bottomEnd := 0, 0, 0
	var upper, lower uint64
	counted := false // bottom[bottomEnd] is in lower
	for end, f := range files {
		skipped := 0
		for bottomEnd < len(bottom) && icmp.Compare(bottom[bottomEnd].Largest, f.Smallest) < 0 {
			if !counted {
				lower += bottom[bottomEnd].FD.GetFileSize()
			}
			bottomEnd++
			counted = false
			skipped++
		}
		if skipped > 1 {
			start = end // a file of the last level lies in the gap: a new window
		}
		if start == end {
			upper, lower = 0, 0
			bottomStart = bottomEnd
			counted = false
		}
		upper += f.FD.GetFileSize()
		for bottomEnd < len(bottom) && icmp.Compare(bottom[bottomEnd].Smallest, f.Largest) < 0 {
			if !counted {
				lower += bottom[bottomEnd].FD.GetFileSize()
				counted = true
			}
			if icmp.Compare(bottom[bottomEnd].Largest, f.Largest) > 0 {
				break
			}
			bottomEnd++
			counted = false
		}
		if upper+lower <= limit && end < len(files)-1 || upper == 0 {
			continue
		}
		if fanout := float64(lower) / float64(upper); fanout < w.fanout {
			w = incrementalWindow{start, end, fanout}
		}
		for upper+lower > limit && start <= end {
			upper -= files[start].FD.GetFileSize()
			start++
			if start == len(files) {
				break
			}
			for bottomStart <= bottomEnd && bottomStart < len(bottom) &&
				icmp.Compare(bottom[bottomStart].Largest, files[start].Smallest) < 0 {
				lower -= min(lower, bottom[bottomStart].FD.GetFileSize())
				bottomStart++
			}
		}
	}
	return w
}

// pickIncrementalForReduceSizeAmp merges a part of the second last level, and
// what lies above it, into the last.
func (b *universalCompactionBuilder) pickIncrementalForReduceSizeAmp(threshold float64) *Compaction {
	second := b.runs[len(b.runs)-2].level
	if second == 0 {
		return nil // level 0 cannot be split
	}
	outputLevel := b.runs[len(b.runs)-1].level
	files := b.vs.LevelFiles(second)
	w := b.findIncrementalWindow(files, b.vs.LevelFiles(outputLevel), threshold)
	if w.fanout >= threshold {
		return nil
	}
	in := CompactionInputFiles{Level: second, Files: slices.Clone(files[w.start : w.end+1])}
	if areFilesInCompaction(in.Files) || !b.picker.expandToCleanCut(b.vs, &in) {
		return nil
	}
	out := CompactionInputFiles{Level: outputLevel}
	if !b.picker.SetupOtherInputs(b.cfName, b.mo, b.vs, &in, &out, false, nil) {
		return nil
	}
	inputs := []CompactionInputFiles{in, out}
	lo, hi := b.picker.GetRange(&in)
	for i := len(b.runs) - 3; i >= 0 && b.runs[i].level > 0; i-- {
		fs, _ := b.vs.GetCleanInputsWithinInterval(b.runs[i].level, lo, hi)
		if len(fs) == 0 {
			continue
		}
		above := CompactionInputFiles{Level: b.runs[i].level, Files: fs}
		lo, hi = b.picker.GetRange(&above)
		inputs = slices.Insert(inputs, 0, above)
	}
	if outputLevel != 0 && b.picker.conflicts(b.vs, b.mo, inputs, outputLevel) {
		return nil
	}
	p := b.params(inputs, outputLevel, true)
	p.Reason = rocksdb.CompactionReasonUniversalSizeAmplification
	return NewCompaction(b.vs, b.picker.io, b.mo, b.mdb, p)
}

// shouldSkipMarkedFile keeps a file of one range tombstone back until every
// snapshot sees it and no such file is in the next older run: it then can do its
// whole work.
func (b *universalCompactionBuilder) shouldSkipMarkedFile(f *version.FileMetaData) bool {
	if b.earliestSnapshot == nil || !f.FileIsStandAloneRangeTombstone() {
		return false
	}
	if !dataIsDefinitelyInSnapshot(f.FD.LargestSeqno, *b.earliestSnapshot, b.checker) {
		return true
	}
	i, ok := b.runOfMarkedFile[f.FD.GetNumber()]
	return ok && i+1 < len(b.runs) && b.runs[i+1].hasMarkedRangeDel
}

// pickDeleteTriggeredCompaction compacts a marked file: on one level with all
// older runs, otherwise with the next level as leveled compaction does.
func (b *universalCompactionBuilder) pickDeleteTriggeredCompaction() *Compaction {
	in := CompactionInputFiles{}
	if b.vs.NumLevels() == 1 {
		start := -1
		for i := 0; i+1 < len(b.runs); i++ { // the last would be alone
			if f := b.runs[i].file; !b.runs[i].beingCompacted && f.MarkedForCompaction.Load() && !b.shouldSkipMarkedFile(f) {
				start = i
				break
			}
		}
		if start < 0 {
			return nil
		}
		in.Files = append(in.Files, b.runs[start].file)
		for i := start + 1; i < len(b.runs) && !b.runs[i].busy(); i++ {
			in.Files = append(in.Files, b.runs[i].file)
		}
	} else {
		b.picker.pickFilesMarkedForCompaction(b.vs, &in, b.shouldSkipMarkedFile)
		if in.Empty() {
			return nil
		}
	}
	return b.buildCompactionToNextLevel(&in, rocksdb.CompactionReasonFilesMarkedForCompaction)
}

func (b *universalCompactionBuilder) pickReadTriggeredCompaction() *Compaction {
	b.log("Read Triggered Compaction")
	in := CompactionInputFiles{}
	for _, lf := range b.vs.ReadTriggeredCompactionFiles() {
		if lf.File.BeingCompacted || lf.Level == 0 && len(b.picker.level0) > 0 {
			continue
		}
		in = CompactionInputFiles{Level: lf.Level, Files: []*version.FileMetaData{lf.File}}
		if b.picker.expandToCleanCut(b.vs, &in) {
			break
		}
		in.clear()
	}
	if in.Empty() {
		return nil
	}
	if b.vs.NumLevels() == 1 && !b.picker.getOverlappingL0Files(b.vs, &in, 0, nil) {
		return nil
	}
	return b.buildCompactionToNextLevel(&in, rocksdb.CompactionReasonReadTriggered)
}

// buildCompactionToNextLevel merges in into the next level with files; with
// level 0 alone, into that.
func (b *universalCompactionBuilder) buildCompactionToNextLevel(in *CompactionInputFiles, reason rocksdb.CompactionReason) *Compaction {
	outputLevel := in.Level + 1
	for outputLevel <= b.maxOutputLevel && b.vs.NumLevelFiles(outputLevel) == 0 {
		outputLevel++
	}
	if outputLevel > b.maxOutputLevel {
		if in.Level != 0 {
			return nil // a move would free nothing
		}
		outputLevel = b.maxOutputLevel
	}
	if in.Size() <= 1 && outputLevel == 0 {
		return nil
	}
	var inputs []CompactionInputFiles
	var grandparents []*version.FileMetaData
	if outputLevel == 0 {
		inputs = []CompactionInputFiles{*in}
	} else {
		if !b.meetsOutputLevelRequirements(outputLevel) {
			return nil
		}
		// A tombstone alone is not merged with newer files, which it does not
		// cover.
		var startingL0File *version.FileMetaData
		if in.Level == 0 {
			if in.Size() == 1 && in.Files[0].FileIsStandAloneRangeTombstone() {
				startingL0File = in.Files[0]
			}
			if !b.picker.getOverlappingL0Files(b.vs, in, outputLevel, startingL0File) {
				return nil
			}
		}
		out := CompactionInputFiles{Level: outputLevel}
		if !b.picker.SetupOtherInputs(b.cfName, b.mo, b.vs, in, &out, false, startingL0File) {
			return nil
		}
		inputs = []CompactionInputFiles{*in}
		if !out.Empty() {
			inputs = append(inputs, out)
		}
		if b.picker.conflicts(b.vs, b.mo, inputs, outputLevel) {
			return nil
		}
		grandparents = b.picker.GetGrandparents(b.vs, in, &out)
	}
	p := b.params(inputs, outputLevel, true)
	p.OutputPathID = b.pathID(version.TotalFileSize(b.vs.LevelFiles(outputLevel)))
	p.Grandparents, p.Reason = grandparents, reason
	p.EarliestSnapshot, p.SnapshotChecker = b.earliestSnapshot, b.checker
	return NewCompaction(b.vs, b.picker.io, b.mo, b.mdb, p)
}

// pickCompactionWithSortedRunRange merges runs[start:end+1] as far down as the
// next older run allows.
func (b *universalCompactionBuilder) pickCompactionWithSortedRunRange(start, end int, reason rocksdb.CompactionReason, why string) *Compaction {
	var size uint64
	for i := start; i <= end; i++ {
		size += b.runs[i].size
	}
	inputs := b.inputsOfRuns(start, end+1, why+" picking")
	outputLevel := b.maxOutputLevel
	if end < len(b.runs)-1 {
		outputLevel = b.runs[end+1].level - 1
	}
	if !b.meetsOutputLevelRequirements(outputLevel) {
		return nil
	}
	if outputLevel != 0 && b.picker.conflicts(b.vs, b.mo, inputs, outputLevel) {
		return nil
	}
	p := b.params(inputs, outputLevel, true) // everything, so always compressed
	p.OutputPathID, p.Reason = b.pathID(size), reason
	return NewCompaction(b.vs, b.picker.io, b.mo, b.mdb, p)
}

// pickPeriodicCompaction merges all runs from the oldest back to one that is
// busy: the old data is in the oldest, greatest run anyway.
func (b *universalCompactionBuilder) pickPeriodicCompaction() *Compaction {
	b.log("Periodic Compaction")
	start := len(b.runs)
	for start > 0 && !b.runs[start-1].busy() {
		start--
	}
	last := len(b.runs) - 1
	if start > last {
		return nil
	}
	if start == last && !slices.ContainsFunc(b.vs.FilesMarkedForPeriodicCompaction(), func(m version.LevelFile) bool {
		if b.runs[last].level != 0 {
			return m.Level == b.runs[last].level
		}
		return m.File == b.runs[last].file
	}) {
		// The oldest run alone, and it is not due.
		b.log("Cannot form a compaction covering file marked for periodic compaction")
		return nil
	}
	c := b.pickCompactionWithSortedRunRange(start, last, rocksdb.CompactionReasonPeriodicCompaction, "periodic compaction")
	syncpoint.ProcessArg("UniversalCompactionPicker::PickPeriodicCompaction:Return", c)
	return c
}

// isInputFilesNonOverlapping tells whether no two inputs share a user key.
func (b *universalCompactionBuilder) isInputFilesNonOverlapping(c *Compaction) bool {
	var files []*version.FileMetaData
	for i := range c.Inputs() {
		files = append(files, c.InputFiles(i)...)
	}
	icmp := b.picker.icmp
	sort.SliceStable(files, func(i, j int) bool {
		return icmp.CompareWithoutTimestamp(files[i].Smallest.UserKey(), files[j].Smallest.UserKey()) < 0
	})
	for i := 1; i < len(files); i++ {
		if icmp.CompareWithoutTimestamp(files[i-1].Largest.UserKey(), files[i].Smallest.UserKey()) >= 0 {
			return false
		}
	}
	return true
}

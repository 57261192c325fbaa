// Port of db/compaction/compaction_picker_level.{h,cc}.

package compaction

import (
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// minFilesForIntraL0Compaction is from how many files on level 0 is compacted
// into itself.
const minFilesForIntraL0Compaction = 4

// maxMultiTrivialMove bounds the files of one trivial move above level 0.
const maxMultiTrivialMove = 4

// LevelCompactionPicker is the picker of leveled compaction.
type LevelCompactionPicker struct{ CompactionPicker }

// NewLevelCompactionPicker makes one.
func NewLevelCompactionPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) *LevelCompactionPicker {
	return &LevelCompactionPicker{newCompactionPicker(io, icmp)}
}

// NeedsCompaction tells whether a score is 1 or more, or files are marked.
func (p *LevelCompactionPicker) NeedsCompaction(vs *version.StorageInfo) bool {
	if len(vs.ExpiredTtlFiles()) > 0 || len(vs.FilesMarkedForPeriodicCompaction()) > 0 ||
		len(vs.BottommostFilesMarkedForCompaction()) > 0 || len(vs.FilesMarkedForCompaction()) > 0 ||
		len(vs.FilesMarkedForForcedBlobGC()) > 0 || len(vs.ReadTriggeredCompactionFiles()) > 0 {
		return true
	}
	for i := 0; i <= vs.MaxInputLevel(); i++ {
		if vs.CompactionScore(i) >= 1 {
			return true
		}
	}
	return false
}

// PickCompaction gives what most needs compacting.
func (p *LevelCompactionPicker) PickCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	_ []rocksdb.SequenceNumber, _ dbformat.SnapshotChecker, vs *version.StorageInfo, _ bool) *Compaction {
	b := levelCompactionBuilder{cfName: cfName, vs: vs, picker: p, mo: mo, mdb: mdb, startLevel: -1, outputLevel: -1}
	return b.pickCompaction()
}

// levelCompactionBuilder makes one pick, step by step.
type levelCompactionBuilder struct {
	cfName string
	vs     *version.StorageInfo
	picker *LevelCompactionPicker
	mo     *options.MutableCFOptions
	mdb    *options.MutableDBOptions

	startLevel, outputLevel int
	score                   float64
	isL0TrivialMove         bool
	start, output           CompactionInputFiles
	inputs                  []CompactionInputFiles
	grandparents            []*version.FileMetaData
	reason                  rocksdb.CompactionReason
}

// compactTo says where marked files go.
type compactTo uint8

const (
	compactToSameLevel compactTo = iota
	compactToNextLevel           // but those of the last level to itself
	compactToNextLevelSkipLast
)

func (b *levelCompactionBuilder) roundRobin() bool {
	return b.picker.io.CompactionPri == rocksdb.RoundRobin
}

func (b *levelCompactionBuilder) pickCompaction() *Compaction {
	b.setupInitialFiles()
	if b.start.Empty() {
		return nil
	}
	if b.startLevel == 0 && b.outputLevel != 0 && !b.isL0TrivialMove &&
		!b.picker.getOverlappingL0Files(b.vs, &b.start, b.outputLevel, nil) {
		return nil
	}
	if !b.setupOtherInputsIfNeeded() {
		return nil
	}
	c := b.getCompaction()
	syncpoint.ProcessArg("LevelCompactionPicker::PickCompaction:Return", c)
	return c
}

// setupInitialFiles picks the first file, with its clean cut: by the levels'
// scores, then by the lists of marked files.
func (b *levelCompactionBuilder) setupInitialFiles() {
	if b.pickByScore() {
		return
	}
	b.startLevel, b.outputLevel = b.picker.pickFilesMarkedForCompaction(b.vs, &b.start,
		func(*version.FileMetaData) bool { return false })
	if !b.start.Empty() {
		b.reason = rocksdb.CompactionReasonFilesMarkedForCompaction
		return
	}
	if b.pickMarked(b.vs.BottommostFilesMarkedForCompaction(), compactToSameLevel, rocksdb.CompactionReasonBottommostFiles) {
		return
	}
	expired := b.vs.ExpiredTtlFiles()
	if b.roundRobin() && len(expired) > 0 {
		// The list is sorted by level.
		if b.startLevel = expired[0].Level; b.startLevel > 0 {
			b.outputLevel = b.startLevel + 1
			if b.pickFileToCompact() {
				b.reason = rocksdb.CompactionReasonRoundRobinTtl
				return
			}
		}
	}
	if b.pickMarked(expired, compactToNextLevelSkipLast, rocksdb.CompactionReasonTtl) {
		return
	}
	to := compactToSameLevel
	if b.picker.io.LevelCompactionDynamicLevelBytes {
		to = compactToNextLevel
	}
	if b.pickMarked(b.vs.FilesMarkedForPeriodicCompaction(), to, rocksdb.CompactionReasonPeriodicCompaction) ||
		b.pickMarked(b.vs.FilesMarkedForForcedBlobGC(), compactToSameLevel, rocksdb.CompactionReasonForcedBlobGC) {
		return
	}
	b.pickMarked(b.vs.ReadTriggeredCompactionFiles(), compactToNextLevel, rocksdb.CompactionReasonReadTriggered)
}

func (b *levelCompactionBuilder) pickByScore() bool {
	skippedL0ToBase := false
	for i := 0; i < b.picker.NumberLevels()-1; i++ {
		b.score, b.startLevel = b.vs.CompactionScore(i), b.vs.CompactionScoreLevel(i)
		if b.score < 1 {
			break // the rest is lower
		}
		if skippedL0ToBase && b.startLevel == b.vs.BaseLevel() {
			continue // or level 0 would wait for ever
		}
		b.outputLevel = b.startLevel + 1
		if b.startLevel == 0 {
			b.outputLevel = b.vs.BaseLevel()
		}
		picked := b.pickFileToCompact()
		syncpoint.ProcessArg("PostPickFileToCompact", &picked)
		if picked {
			b.reason = rocksdb.CompactionReasonLevelMaxLevelSize
			if b.startLevel == 0 {
				b.reason = rocksdb.CompactionReasonLevelL0FilesNum
			}
			break
		}
		b.start.clear()
		if b.startLevel == 0 {
			skippedL0ToBase = true
			// While the way down is blocked, fewer files on level 0 keep writes
			// from stalling.
			if b.pickIntraL0Compaction() {
				b.outputLevel = 0
				b.reason = rocksdb.CompactionReasonLevelL0FilesNum
				break
			}
		}
	}
	return !b.start.Empty()
}

// pickMarked takes the first of the files that can go.
func (b *levelCompactionBuilder) pickMarked(files []version.LevelFile, to compactTo, reason rocksdb.CompactionReason) bool {
	last := b.vs.NumNonEmptyLevels() - 1
	for _, lf := range files {
		if lf.File.BeingCompacted {
			continue
		}
		b.startLevel = lf.Level
		if to == compactToNextLevelSkipLast && b.startLevel == last || b.startLevel == 0 && len(b.picker.level0) > 0 {
			continue
		}
		switch {
		case to == compactToSameLevel || b.startLevel >= last:
			b.outputLevel = b.startLevel
		case b.startLevel == 0:
			b.outputLevel = b.vs.BaseLevel()
		default:
			b.outputLevel = b.startLevel + 1
		}
		b.start = CompactionInputFiles{Level: b.startLevel, Files: []*version.FileMetaData{lf.File}}
		if b.picker.expandToCleanCut(b.vs, &b.start) {
			b.reason = reason
			return true
		}
	}
	b.start.clear()
	return false
}

// setupOtherInputsIfNeeded takes the output level's files and more of the start
// level's. Outputs on level 0 only concern the files picked.
func (b *levelCompactionBuilder) setupOtherInputsIfNeeded() bool {
	if b.outputLevel == 0 {
		b.inputs = append(b.inputs, b.start)
		return true
	}
	b.output.Level = b.outputLevel
	expandRoundRobin := b.roundRobin() && b.reason == rocksdb.CompactionReasonLevelMaxLevelSize
	if expandRoundRobin {
		b.setupOtherFilesWithRoundRobinExpansion()
	}
	if !b.isL0TrivialMove && !b.picker.SetupOtherInputs(b.cfName, b.mo, b.vs, &b.start, &b.output, expandRoundRobin, nil) {
		return false
	}
	b.inputs = append(b.inputs, b.start)
	if !b.output.Empty() {
		b.inputs = append(b.inputs, b.output)
	}
	// A manual compaction that is not exclusive, or an ingestion, may be writing
	// there.
	if b.picker.conflicts(b.vs, b.mo, b.inputs, b.outputLevel) {
		return false
	}
	if !b.isL0TrivialMove {
		b.grandparents = b.picker.GetGrandparents(b.vs, &b.start, &b.output)
	}
	return true
}

// setupOtherFilesWithRoundRobinExpansion adds the files after the one picked, up
// to the level's end, one that is being compacted, max_compaction_bytes with the
// output level's files, or until the level would be back at its size. A trivial
// move is not made a merge.
func (b *levelCompactionBuilder) setupOtherFilesWithRoundRobinExpansion() {
	if b.start.Empty() {
		return
	}
	files := b.vs.LevelFiles(b.startLevel)
	var levelBytes, wanted uint64
	for _, f := range files {
		if !f.BeingCompacted {
			levelBytes += f.FD.GetFileSize()
		}
	}
	if limit := b.vs.MaxBytesForLevel(b.startLevel); levelBytes > limit {
		wanted = levelBytes - limit
	}
	startIndex := b.vs.FilesByCompactionPri(b.startLevel)[0]
	lo, hi := b.picker.GetRange(&b.start)
	out := CompactionInputFiles{Level: b.outputLevel, Files: b.vs.GetOverlappingInputs(b.outputLevel, lo, hi)}
	if out.Empty() && b.tryExtendNonL0TrivialMove(startIndex, true) {
		return
	}
	if b.start.Files[0].FD.GetFileSize() >= wanted {
		return
	}
	tmp := CompactionInputFiles{Level: b.start.Level, Files: slices.Clone(b.start.Files)}
	next := startIndex + 1
	last := b.start.Files[len(b.start.Files)-1]
	for j := next; j < len(files); j++ {
		if files[j] == last {
			next = j + 1
			break
		}
	}
	for _, f := range files[min(next, len(files)):] {
		if f.BeingCompacted {
			return
		}
		tmp.Files = append(tmp.Files, f)
		if !b.picker.expandToCleanCut(b.vs, &tmp) ||
			b.picker.conflicts(b.vs, b.mo, []CompactionInputFiles{tmp}, b.outputLevel) {
			return
		}
		lo, hi = b.picker.GetRange(&tmp)
		out.Files = b.vs.GetOverlappingInputs(b.outputLevel, lo, hi)
		if !out.Empty() && !b.picker.expandToCleanCut(b.vs, &out) {
			return
		}
		startBytes := version.TotalFileSize(tmp.Files)
		if startBytes+version.TotalFileSize(out.Files) > b.mo.MaxCompactionBytes {
			return
		}
		b.start.Files = slices.Clone(tmp.Files)
		if startBytes > wanted {
			return
		}
	}
}

func (b *levelCompactionBuilder) getCompaction() *Compaction {
	io := b.picker.io
	p := DefaultParams()
	// One file of level 0 alone overlaps none, or more would have been taken.
	p.L0FilesMightOverlap = b.startLevel == 0 && !b.isL0TrivialMove && (len(b.inputs) > 1 || b.inputs[0].Size() > 1)
	p.Inputs, p.OutputLevel = b.inputs, b.outputLevel
	p.TargetFileSize = options.MaxFileSizeForLevel(b.mo, b.outputLevel, io.CompactionStyle, b.vs.BaseLevel(), io.LevelCompactionDynamicLevelBytes)
	p.MaxCompactionBytes = b.mo.MaxCompactionBytes
	p.OutputPathID = levelPathID(io, b.mo, b.outputLevel)
	p.Compression = GetCompressionType(b.vs, b.mo, b.outputLevel, b.vs.BaseLevel(), true)
	p.CompressionOpts = GetCompressionOptions(b.mo, b.vs, b.outputLevel, true)
	p.Grandparents, p.Reason, p.Score = b.grandparents, b.reason, b.score
	return b.picker.register(NewCompaction(b.vs, io, b.mo, b.mdb, p), b.vs, b.mo)
}

// levelPathID gives the first path that has room for all levels up to level;
// the last takes the rest. Level 0 is taken to be as large as level 1.
func levelPathID(io *options.ImmutableOptions, mo *options.MutableCFOptions, level int) uint32 {
	room := io.CFPaths[0].TargetSize
	size := mo.MaxBytesForLevelBase
	cur := 0
	p := 0
	for p < len(io.CFPaths)-1 {
		if size <= room {
			if cur == level {
				return uint32(p)
			}
			room -= size
			if cur > 0 {
				m := mo.MaxBytesForLevelMultiplier
				if !io.LevelCompactionDynamicLevelBytes {
					m *= float64(mo.MaxBytesMultiplerAdditional(cur))
				}
				size = uint64(float64(size) * m)
			}
			cur++
			continue
		}
		p++
		room = io.CFPaths[p].TargetSize
	}
	return uint32(p)
}

// tryPickL0TrivialMove takes files of level 0, the oldest first, as long as they
// overlap neither each other nor the output level. An empty output level is left
// to the usual pick; so are compressions by level, for which a move might be
// wrong.
func (b *levelCompactionBuilder) tryPickL0TrivialMove() bool {
	if b.vs.BaseLevel() <= 0 || b.startLevel != 0 || len(b.mo.CompressionPerLevel) > 0 ||
		b.vs.NumLevelFiles(b.outputLevel) == 0 || len(b.picker.io.DBPaths) > 1 {
		return false
	}
	files := b.vs.LevelFiles(0)
	icmp := b.picker.icmp
	var lo, hi dbformat.InternalKey
	for _, f := range slices.Backward(files) {
		apart := true
		switch {
		case lo == nil:
			lo, hi = f.Smallest, f.Largest
		case icmp.Compare(f.Largest, lo) < 0:
			lo = f.Smallest
		case icmp.Compare(f.Smallest, hi) > 0:
			hi = f.Largest
		default:
			apart = false
		}
		if !apart || len(b.vs.GetOverlappingInputs(b.outputLevel, lo, hi)) > 0 {
			break
		}
		b.start.Files = append(b.start.Files, f)
	}
	if b.start.Empty() {
		return false
	}
	slices.SortFunc(b.start.Files, func(x, y *version.FileMetaData) int { return icmp.Compare(x.Smallest, y.Smallest) })
	b.isL0TrivialMove = true
	return true
}

// tryExtendNonL0TrivialMove adds neighbours of the one file picked, at
// startIndex, that overlap nothing in the output level either.
func (b *levelCompactionBuilder) tryExtendNonL0TrivialMove(startIndex int, onlyRight bool) bool {
	if b.start.Size() != 1 || len(b.picker.io.DBPaths) > 1 || len(b.mo.CompressionPerLevel) > 0 {
		return false
	}
	files := b.vs.LevelFiles(b.startLevel)
	icmp := b.picker.icmp
	initial := b.start.Files[0]
	total := initial.FD.GetFileSize()
	touches := func(i int) bool { // files i and i+1 share a user key
		return icmp.CompareWithoutTimestamp(files[i].Largest.UserKey(), files[i+1].Smallest.UserKey()) == 0
	}
	for i := startIndex + 1; i < len(files) && b.start.Size() < maxMultiTrivialMove; i++ {
		f := files[i]
		if f.BeingCompacted || len(b.vs.GetOverlappingInputs(b.outputLevel, initial.Smallest, f.Largest)) > 0 {
			break
		}
		if i < len(files)-1 && touches(i) {
			syncpoint.Process("LevelCompactionBuilder::TryExtendNonL0TrivialMove:NoCleanCut")
			break
		}
		if total += f.FD.GetFileSize(); total > b.mo.MaxCompactionBytes {
			break
		}
		b.start.Files = append(b.start.Files, f)
	}
	for i := startIndex - 1; !onlyRight && i >= 0 && b.start.Size() < maxMultiTrivialMove; i-- {
		f := files[i]
		if f.BeingCompacted || len(b.vs.GetOverlappingInputs(b.outputLevel, f.Smallest, initial.Largest)) > 0 {
			break
		}
		if i > 0 && touches(i-1) {
			break
		}
		if total += f.FD.GetFileSize(); total > b.mo.MaxCompactionBytes {
			break
		}
		b.start.Files = slices.Insert(b.start.Files, 0, f)
	}
	return b.start.Size() > 1
}

// pickFileToCompact picks from startLevel what to compact to outputLevel: one
// file, or several for a trivial move.
func (b *levelCompactionBuilder) pickFileToCompact() bool {
	// Files of level 0 overlap, so that only one compaction from there to below
	// can run.
	if b.startLevel == 0 && len(b.picker.level0) > 0 {
		if b.pickSizeBasedIntraL0Compaction() {
			return true
		}
		syncpoint.Process("LevelCompactionPicker::PickCompactionBySize:0")
		return false
	}
	b.start = CompactionInputFiles{Level: b.startLevel}
	if b.tryPickL0TrivialMove() || b.startLevel == 0 && b.pickSizeBasedIntraL0Compaction() {
		return true
	}
	files := b.vs.LevelFiles(b.startLevel)
	order := b.vs.FilesByCompactionPri(b.startLevel)
	i := b.vs.NextCompactionIndex(b.startLevel)
	for ; i < len(order); i++ {
		if b.tryFile(files, order[i]) {
			break
		}
		b.start.clear()
		if b.roundRobin() {
			return false // its turn comes when it is free
		}
	}
	if !b.roundRobin() {
		b.vs.SetNextCompactionIndex(b.startLevel, i)
	}
	return !b.start.Empty()
}

// tryFile takes the file, unless it, its clean cut, or what they overlap in the
// output level is being compacted.
func (b *levelCompactionBuilder) tryFile(files []*version.FileMetaData, index int) bool {
	if files[index].BeingCompacted {
		return false
	}
	b.start.Files = []*version.FileMetaData{files[index]}
	if !b.picker.expandToCleanCut(b.vs, &b.start) ||
		b.picker.conflicts(b.vs, b.mo, []CompactionInputFiles{b.start}, b.outputLevel) {
		return false
	}
	lo, hi := b.picker.GetRange(&b.start)
	out := CompactionInputFiles{Level: b.outputLevel, Files: b.vs.GetOverlappingInputs(b.outputLevel, lo, hi)}
	if out.Empty() {
		if b.startLevel > 0 {
			b.tryExtendNonL0TrivialMove(index, b.roundRobin())
		}
		return true
	}
	return b.picker.expandToCleanCut(b.vs, &out)
}

// pickIntraL0Compaction compacts level 0 into itself when its files have become
// many.
func (b *levelCompactionBuilder) pickIntraL0Compaction() bool {
	b.start.clear()
	files := b.vs.LevelFiles(0)
	if len(files) < b.mo.Level0FileNumCompactionTrigger+2 || files[0].BeingCompacted {
		return false
	}
	b.start = CompactionInputFiles{Level: 0,
		Files: PickCostBasedIntraL0Compaction(files, minFilesForIntraL0Compaction, math.MaxUint64, b.mo.MaxCompactionBytes)}
	return !b.start.Empty()
}

// pickSizeBasedIntraL0Compaction compacts level 0 into itself when it is so
// small next to the base level that merging it there would rewrite too much.
func (b *levelCompactionBuilder) pickSizeBasedIntraL0Compaction() bool {
	base := b.vs.BaseLevel()
	if base <= 0 {
		return false
	}
	files := b.vs.LevelFiles(0)
	minFiles := max(2, b.mo.Level0FileNumCompactionTrigger)
	if len(files) < minFiles {
		return false
	}
	var size uint64
	for _, f := range files {
		size += f.CompensatedFileSize // deletions should go down
	}
	minBase := options.MultiplyCheckOverflow(size, max(10.0, b.mo.MaxBytesForLevelMultiplier)*2)
	if version.TotalFileSize(b.vs.LevelFiles(base)) <= minBase {
		return false
	}
	b.start = CompactionInputFiles{Level: 0}
	for _, f := range files {
		if f.BeingCompacted {
			break
		}
		b.start.Files = append(b.start.Files, f)
	}
	if b.start.Size() < minFiles {
		b.start.clear()
		return false
	}
	b.outputLevel = 0
	return true
}

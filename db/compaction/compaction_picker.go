// Port of db/compaction/compaction_picker.{h,cc}. Differs: manual compactions
// get one struct of arguments; the log buffer is set once a pick.

package compaction

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Levels of a manual compaction that are not levels.
const (
	CompactAllLevels   = -1 // input: all of them
	CompactToBaseLevel = -2 // output: where level 0 goes
)

// ManualRange is one step of a manual compaction.
type ManualRange struct {
	InputLevel, OutputLevel int
	Options                 *rocksdb.CompactRangeOptions
	Begin, End              dbformat.InternalKey // nil is open
	// MaxFileNumToIgnore leaves out files from that number on, which this
	// manual compaction made itself; MaxUint64 for none.
	MaxFileNumToIgnore uint64
	TrimTS             string
}

// Picker chooses files to compact for one column family. All calls need the
// database's mutex.
type Picker interface {
	// PickCompaction gives what most needs compacting, nil for nothing. The
	// compaction is registered; the caller calls its FinalizeInputInfo next.
	// With requireMaxOutputLevel only compactions into the last level are
	// picked. snapshots rise.
	PickCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions, snapshots []rocksdb.SequenceNumber,
		checker dbformat.SnapshotChecker, vs *version.StorageInfo, requireMaxOutputLevel bool) *Compaction
	// CompactRange gives one step of a manual compaction, nil when there is
	// nothing to do in the range. compactionEnd is where the next step begins,
	// nil when this one is the last. conflict says that another compaction is
	// in the way.
	CompactRange(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions, vs *version.StorageInfo,
		in ManualRange) (c *Compaction, compactionEnd dbformat.InternalKey, conflict bool)
	NeedsCompaction(vs *version.StorageInfo) bool
	// MaxOutputLevel is the last level that outputs may go to.
	MaxOutputLevel() int
	NumberLevels() int
	IsLevel0CompactionInProgress() bool
	IsCompactionInProgress() bool
	RegisterCompaction(c *Compaction)
	UnregisterCompaction(c *Compaction)
	// ReleaseCompactionFiles unregisters c; after an error its level is
	// searched from the start again.
	ReleaseCompactionFiles(c *Compaction, err error)
	// SanitizeCompactionInputFiles adds to input, table file numbers, the files
	// that have to be compacted with them, and gives all by level.
	SanitizeCompactionInputFiles(input map[uint64]struct{}, outputLevel int, meta *rocksdb.ColumnFamilyMetaData,
		vs *version.StorageInfo, mo *options.MutableCFOptions) ([]CompactionInputFiles, error)
	// GetCompactionInputsFromFileNumbers gives the files by level.
	GetCompactionInputsFromFileNumbers(input map[uint64]struct{}, vs *version.StorageInfo) ([]CompactionInputFiles, error)
	// PickCompactionForCompactFiles makes a compaction of sanitized inputs.
	// earliestSnapshot may be nil.
	PickCompactionForCompactFiles(o *rocksdb.CompactionOptions, inputs []CompactionInputFiles, outputLevel int,
		vs *version.StorageInfo, mo *options.MutableCFOptions, mdb *options.MutableDBOptions, outputPathID uint32,
		earliestSnapshot *rocksdb.SequenceNumber, checker dbformat.SnapshotChecker) *Compaction
	// RangeOverlapWithCompaction tells whether a running compaction writes to
	// the level within the user keys from smallest to largest.
	RangeOverlapWithCompaction(smallest, largest []byte, level int) bool
	// FilesRangeOverlapWithCompaction is the same for the range of inputs, and for
	// what of it may go to proximalLevel, unless that is InvalidLevel.
	FilesRangeOverlapWithCompaction(inputs []CompactionInputFiles, level, proximalLevel int) bool
	// SetLogBuffer sets where the next picks log to; nil for nowhere.
	SetLogBuffer(b *logging.LogBuffer)
}

// NewPicker makes the picker of the options' compaction style.
func NewPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) Picker {
	switch io.CompactionStyle {
	case rocksdb.CompactionStyleLevel:
		return NewLevelCompactionPicker(io, icmp)
	case rocksdb.CompactionStyleUniversal:
		return NewUniversalCompactionPicker(io, icmp)
	case rocksdb.CompactionStyleFIFO:
		return NewFIFOCompactionPicker(io, icmp)
	}
	return NewNullCompactionPicker(io, icmp)
}

// CompactionPicker is what all pickers share.
type CompactionPicker struct {
	io        *options.ImmutableOptions
	icmp      *dbformat.InternalKeyComparator
	logBuffer *logging.LogBuffer
	level0    map[*Compaction]struct{} // those from level 0, or all of a universal picker
	running   map[*Compaction]struct{}
}

func newCompactionPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) CompactionPicker {
	return CompactionPicker{io: io, icmp: icmp, level0: map[*Compaction]struct{}{}, running: map[*Compaction]struct{}{}}
}

// SetLogBuffer sets where the next picks log to; nil for nowhere.
func (p *CompactionPicker) SetLogBuffer(b *logging.LogBuffer) { p.logBuffer = b }

func (p *CompactionPicker) log(format string, args ...any) {
	if p.logBuffer != nil {
		logging.ToBuffer(p.logBuffer, format, args...)
	}
}

// NumberLevels is the number of levels.
func (p *CompactionPicker) NumberLevels() int { return p.io.NumLevels }

// MaxOutputLevel is the last level that outputs may go to.
func (p *CompactionPicker) MaxOutputLevel() int {
	if p.io.CompactionStyle == rocksdb.CompactionStyleFIFO {
		return 0
	}
	return p.io.NumLevels - 1
}

// IsLevel0CompactionInProgress tells whether one from level 0 runs.
func (p *CompactionPicker) IsLevel0CompactionInProgress() bool { return len(p.level0) > 0 }

// IsCompactionInProgress tells whether one runs.
func (p *CompactionPicker) IsCompactionInProgress() bool {
	return len(p.level0) > 0 || len(p.running) > 0
}

// RegisterCompaction notes a running compaction; nil is none.
func (p *CompactionPicker) RegisterCompaction(c *Compaction) {
	if c == nil {
		return
	}
	// An ingestion's start level is not a level.
	if c.StartLevel() == 0 && c.CompactionReason() != rocksdb.CompactionReasonExternalSstIngestion ||
		p.io.CompactionStyle == rocksdb.CompactionStyleUniversal {
		p.level0[c] = struct{}{}
	}
	p.running[c] = struct{}{}
	syncpoint.ProcessArg("CompactionPicker::RegisterCompaction:Registered", c)
}

// UnregisterCompaction forgets one; nil is none.
func (p *CompactionPicker) UnregisterCompaction(c *Compaction) {
	delete(p.level0, c)
	delete(p.running, c)
}

// ReleaseCompactionFiles unregisters c; after an error its level is searched
// from the start again.
func (p *CompactionPicker) ReleaseCompactionFiles(c *Compaction, err error) {
	p.UnregisterCompaction(c)
	if err != nil {
		c.ResetNextCompactionIndex()
	}
}

// GetRange gives the least and greatest key of one level's inputs.
func (p *CompactionPicker) GetRange(in *CompactionInputFiles) (smallest, largest dbformat.InternalKey) {
	fs := in.Files
	if in.Level > 0 {
		return fs[0].Smallest, fs[len(fs)-1].Largest
	}
	smallest, largest = fs[0].Smallest, fs[0].Largest
	for _, f := range fs[1:] {
		if p.icmp.Compare(f.Smallest, smallest) < 0 {
			smallest = f.Smallest
		}
		if p.icmp.Compare(f.Largest, largest) > 0 {
			largest = f.Largest
		}
	}
	return smallest, largest
}

// GetRangeAll gives the least and greatest key of all inputs, of which at least
// one has files.
func (p *CompactionPicker) GetRangeAll(inputs ...*CompactionInputFiles) (smallest, largest dbformat.InternalKey) {
	for _, in := range inputs {
		if in.Empty() {
			continue
		}
		lo, hi := p.GetRange(in)
		if smallest == nil || p.icmp.Compare(lo, smallest) < 0 {
			smallest = lo
		}
		if largest == nil || p.icmp.Compare(hi, largest) > 0 {
			largest = hi
		}
	}
	return smallest, largest
}

// ExpandInputsToCleanCut adds files of the inputs' level until none outside
// shares a user key with one inside. It is false when one of them is being
// compacted. nextSmallest is the key after the inputs, nil for the level's end.
func (p *CompactionPicker) ExpandInputsToCleanCut(vs *version.StorageInfo, in *CompactionInputFiles) (ok bool, nextSmallest dbformat.InternalKey) {
	if in.Level == 0 {
		return true, nil // GetOverlappingInputs does right for level 0
	}
	for {
		n := in.Size()
		lo, hi := p.GetRange(in)
		in.Files, _, nextSmallest = vs.GetOverlappingInputsWithOptions(in.Level, lo, hi, version.OverlapOptions{})
		if in.Size() <= n {
			break
		}
	}
	return !areFilesInCompaction(in.Files), nextSmallest
}

func (p *CompactionPicker) expandToCleanCut(vs *version.StorageInfo, in *CompactionInputFiles) bool {
	ok, _ := p.ExpandInputsToCleanCut(vs, in)
	return ok
}

func areFilesInCompaction(files []*version.FileMetaData) bool {
	for _, f := range files {
		if f.BeingCompacted {
			return true
		}
	}
	return false
}

// RangeOverlapWithCompaction tells whether a running compaction writes to the
// level within the user keys from smallest to largest.
func (p *CompactionPicker) RangeOverlapWithCompaction(smallest, largest []byte, level int) bool {
	for c := range p.running {
		if c.OutputLevel() == level && p.icmp.CompareWithoutTimestamp(smallest, c.GetLargestUserKey()) <= 0 &&
			p.icmp.CompareWithoutTimestamp(largest, c.GetSmallestUserKey()) >= 0 {
			return true
		}
		if c.OverlapProximalLevelOutputRange(smallest, largest) {
			return true
		}
	}
	return false
}

// FilesRangeOverlapWithCompaction is RangeOverlapWithCompaction for the range
// of inputs, and for what of it may go to proximalLevel, unless that is
// InvalidLevel.
func (p *CompactionPicker) FilesRangeOverlapWithCompaction(inputs []CompactionInputFiles, level, proximalLevel int) bool {
	lo, hi := p.GetRangeAll(pointers(inputs)...)
	if lo == nil {
		return false
	}
	if proximalLevel != InvalidLevel {
		plo, phi := lo, hi
		if p.io.CompactionStyle != rocksdb.CompactionStyleUniversal {
			// What is in the last level does not move up.
			above := slices.DeleteFunc(slices.Clone(inputs), func(in CompactionInputFiles) bool { return in.Level == level })
			plo, phi = p.GetRangeAll(pointers(above)...)
		}
		if plo != nil && p.RangeOverlapWithCompaction(plo.UserKey(), phi.UserKey(), proximalLevel) {
			return true
		}
	}
	return p.RangeOverlapWithCompaction(lo.UserKey(), hi.UserKey(), level)
}

// conflicts tells whether a compaction of inputs, the first of which is of the
// start level, into outputLevel would write where a running one does.
func (p *CompactionPicker) conflicts(vs *version.StorageInfo, mo *options.MutableCFOptions, inputs []CompactionInputFiles, outputLevel int) bool {
	return p.FilesRangeOverlapWithCompaction(inputs, outputLevel, EvaluateProximalLevel(vs, mo, p.io, inputs[0].Level, outputLevel))
}

func pointers(inputs []CompactionInputFiles) []*CompactionInputFiles {
	ps := make([]*CompactionInputFiles, len(inputs))
	for i := range inputs {
		ps[i] = &inputs[i]
	}
	return ps
}

// isRangeInCompaction tells whether a file of the level within the range is
// being compacted.
func (p *CompactionPicker) isRangeInCompaction(vs *version.StorageInfo, lo, hi dbformat.InternalKey, level int) bool {
	return areFilesInCompaction(vs.GetOverlappingInputs(level, lo, hi))
}

// SetupOtherInputs sets output's files to those that overlap in, and then adds
// to in what does not add to output's. It is false when one of output's files
// is being compacted. startingL0File, when not nil, leaves out newer files.
func (p *CompactionPicker) SetupOtherInputs(cfName string, mo *options.MutableCFOptions, vs *version.StorageInfo,
	in, output *CompactionInputFiles, onlyExpandTowardsRight bool, startingL0File *version.FileMetaData) bool {
	if in.Level == output.Level {
		return true
	}
	lo, hi := p.GetRange(in)
	output.Files = vs.GetOverlappingInputs(output.Level, lo, hi)
	if areFilesInCompaction(output.Files) {
		return false
	}
	if output.Empty() {
		return true // likely a trivial move
	}
	if !p.expandToCleanCut(vs, output) {
		return false
	}
	outputSize, inputSize := version.TotalFileSize(output.Files), version.TotalFileSize(in.Files)
	allLo, allHi := p.GetRangeAll(in, output)
	expanded := CompactionInputFiles{Level: in.Level}
	begin := allLo
	if onlyExpandTowardsRight {
		begin = lo
	}
	expanded.Files, _, _ = vs.GetOverlappingInputsWithOptions(in.Level, begin, allHi,
		version.OverlapOptions{StartingL0File: startingL0File})
	expandedSize := version.TotalFileSize(expanded.Files)
	tryOverlapping := !expanded.Empty() && p.expandToCleanCut(vs, &expanded)
	// Taking more of the input level at once saves rewriting the same output
	// files later, so the limit is softer than for the pick itself.
	limit := options.MultiplyCheckOverflow(mo.MaxCompactionBytes, 2.0)
	expand := false
	if tryOverlapping && expanded.Size() > in.Size() && !areFilesInCompaction(expanded.Files) && outputSize+expandedSize < limit {
		newLo, newHi := p.GetRange(&expanded)
		out := CompactionInputFiles{Level: output.Level, Files: vs.GetOverlappingInputs(output.Level, newLo, newHi)}
		expand = !areFilesInCompaction(out.Files) && p.expandToCleanCut(vs, &out) && out.Size() == output.Size()
	}
	if !expand {
		expanded.Files, _ = vs.GetCleanInputsWithinInterval(in.Level, allLo, allHi)
		expandedSize = version.TotalFileSize(expanded.Files)
		expand = expanded.Size() > in.Size() && !areFilesInCompaction(expanded.Files) && outputSize+expandedSize < limit
	}
	if expand {
		logging.Info(p.io.Logger, "[%s] Expanding@%d %d+%d(%d+%d bytes) to %d+%d (%d+%d bytes)", cfName, in.Level,
			in.Size(), output.Size(), inputSize, outputSize, expanded.Size(), output.Size(), expandedSize, outputSize)
		in.Files = expanded.Files
	}
	return true
}

// GetGrandparents gives the files of the first level below output's that has
// some in the range of the inputs.
func (p *CompactionPicker) GetGrandparents(vs *version.StorageInfo, in, output *CompactionInputFiles) []*version.FileMetaData {
	lo, hi := p.GetRangeAll(in, output)
	for level := output.Level + 1; level < p.NumberLevels(); level++ {
		if fs := vs.GetOverlappingInputs(level, lo, hi); len(fs) > 0 {
			return fs
		}
	}
	return nil
}

// register makes c a running compaction. The level's scores go by the files
// that are not being compacted, so they change.
func (p *CompactionPicker) register(c *Compaction, vs *version.StorageInfo, mo *options.MutableCFOptions) *Compaction {
	p.RegisterCompaction(c)
	vs.ComputeCompactionScore(p.io, mo, "")
	return c
}

// CompactRange gives one step of a manual compaction.
func (p *CompactionPicker) CompactRange(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo, in ManualRange) (c *Compaction, compactionEnd dbformat.InternalKey, conflict bool) {
	if in.InputLevel == CompactAllLevels {
		c, conflict = p.compactAllLevels(mo, mdb, vs, &in)
		return c, nil, conflict
	}
	inputs := CompactionInputFiles{Level: in.InputLevel}
	begin, end := in.Begin, in.End
	if p.io.CompactionStyle == rocksdb.CompactionStyleUniversal {
		begin, end = nil, nil // a run is compacted as a whole
	}
	inputs.Files = vs.GetOverlappingInputs(in.InputLevel, begin, end)
	if inputs.Empty() {
		return nil, nil, false
	}
	if in.InputLevel == 0 && len(p.level0) > 0 {
		syncpoint.Process("CompactionPicker::CompactRange:Conflict")
		return nil, nil, true // one at a time
	}
	whole := true
	if in.InputLevel > 0 {
		whole = p.limitManualInputs(mo, vs, &inputs, in.OutputLevel)
	}
	if b := in.Options.BottommostLevelCompaction; (b == rocksdb.BottommostLevelCompactionForceOptimized ||
		b == rocksdb.BottommostLevelCompactionIfHaveCompactionFilter) && in.MaxFileNumToIgnore != math.MaxUint64 {
		if !ignoreNewFiles(&inputs, in.MaxFileNumToIgnore) {
			whole = false
		}
		if inputs.Empty() {
			return nil, nil, false
		}
	}
	ok, nextSmallest := p.ExpandInputsToCleanCut(vs, &inputs)
	if !ok {
		return nil, nil, true
	}
	if !whole {
		compactionEnd = slices.Clone(nextSmallest)
	}
	outputLevel := in.OutputLevel
	if outputLevel == CompactToBaseLevel {
		outputLevel = vs.BaseLevel()
	}
	output := CompactionInputFiles{Level: outputLevel}
	if in.InputLevel != outputLevel && !p.SetupOtherInputs(cfName, mo, vs, &inputs, &output, false, nil) {
		return nil, compactionEnd, true
	}
	all := []CompactionInputFiles{inputs}
	if !output.Empty() {
		all = append(all, output)
	}
	if areFilesInCompaction(inputs.Files) || areFilesInCompaction(output.Files) ||
		p.conflicts(vs, mo, all, outputLevel) {
		return nil, compactionEnd, true
	}
	params := manualParams(&in)
	params.Inputs, params.OutputLevel = all, outputLevel
	params.TargetFileSize = options.MaxFileSizeForLevel(mo, outputLevel, p.io.CompactionStyle, vs.BaseLevel(), p.io.LevelCompactionDynamicLevelBytes)
	params.MaxCompactionBytes = mo.MaxCompactionBytes
	params.Compression = GetCompressionType(vs, mo, outputLevel, vs.BaseLevel(), true)
	params.CompressionOpts = GetCompressionOptions(mo, vs, outputLevel, true)
	params.Grandparents = p.GetGrandparents(vs, &inputs, &output)
	c = NewCompaction(vs, p.io, mo, mdb, params)
	syncpoint.ProcessArg("CompactionPicker::CompactRange:Return", c)
	return p.register(c, vs, mo), compactionEnd, false
}

func manualParams(in *ManualRange) Params {
	params := DefaultParams()
	params.OutputPathID = in.Options.TargetPathID
	params.MaxSubcompactions = in.Options.MaxSubcompactions
	params.Reason = rocksdb.CompactionReasonManualCompaction
	params.TrimTS = in.TrimTS
	params.BlobGarbageCollectionPolicy = in.Options.BlobGarbageCollectionPolicy
	params.BlobGarbageCollectionAgeCutoff = in.Options.BlobGarbageCollectionAgeCutoff
	return params
}

// compactAllLevels is a universal manual compaction: all files to the last
// level.
func (p *CompactionPicker) compactAllLevels(mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo, in *ManualRange) (c *Compaction, conflict bool) {
	last := vs.MaxOutputLevel(p.io.CFAllowIngestBehind || p.io.AllowIngestBehind)
	start := 0
	for start <= last && vs.NumLevelFiles(start) == 0 {
		start++
	}
	if start > last {
		return nil, false
	}
	if start == 0 && len(p.level0) > 0 {
		return nil, true
	}
	var inputs []CompactionInputFiles
	for level := start; level <= last; level++ {
		files := slices.Clone(vs.LevelFiles(level))
		if areFilesInCompaction(files) {
			return nil, true
		}
		inputs = append(inputs, CompactionInputFiles{Level: level, Files: files})
	}
	if p.conflicts(vs, mo, inputs, in.OutputLevel) {
		return nil, true
	}
	params := manualParams(in)
	params.Inputs, params.OutputLevel = inputs, in.OutputLevel
	params.TargetFileSize = options.MaxFileSizeForLevel(mo, in.OutputLevel, p.io.CompactionStyle, 1, false)
	params.MaxCompactionBytes = math.MaxInt64
	params.Compression = GetCompressionType(vs, mo, in.OutputLevel, 1, true)
	params.CompressionOpts = GetCompressionOptions(mo, vs, in.OutputLevel, true)
	return p.register(NewCompaction(vs, p.io, mo, mdb, params), vs, mo), false
}

// limitManualInputs keeps the first of the inputs, up to max_compaction_bytes
// with what they overlap in the output level. It is true when that is all.
func (p *CompactionPicker) limitManualInputs(mo *options.MutableCFOptions, vs *version.StorageInfo,
	inputs *CompactionInputFiles, outputLevel int) bool {
	total := inputs.Files[0].FD.GetFileSize() // the first always goes
	smallest := inputs.Files[0].Smallest
	for i := 1; i < inputs.Size(); i++ {
		f := inputs.Files[i]
		var below uint64
		if outputLevel < vs.NumNonEmptyLevels() {
			below = version.TotalFileSize(vs.GetOverlappingInputs(outputLevel, smallest, f.Largest))
		}
		total += f.FD.GetFileSize()
		if total+below > mo.MaxCompactionBytes {
			inputs.Files = inputs.Files[:i]
			return false
		}
	}
	return true
}

// ignoreNewFiles keeps the first consecutive files with numbers below limit. It
// is false when more such files follow.
func ignoreNewFiles(inputs *CompactionInputFiles, limit uint64) (whole bool) {
	files := inputs.Files
	isOld := func(f *version.FileMetaData) bool { return f.FD.GetNumber() < limit }
	first := slices.IndexFunc(files, isOld)
	if first < 0 {
		inputs.clear()
		return true
	}
	n := first
	for n < len(files) && isOld(files[n]) {
		n++
	}
	inputs.Files = files[first:n:n]
	return !slices.ContainsFunc(files[n:], isOld)
}

// PickCompactionForCompactFiles makes a compaction of sanitized inputs.
func (p *CompactionPicker) PickCompactionForCompactFiles(o *rocksdb.CompactionOptions, inputs []CompactionInputFiles,
	outputLevel int, vs *version.StorageInfo, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	outputPathID uint32, earliestSnapshot *rocksdb.SequenceNumber, checker dbformat.SnapshotChecker) *Compaction {
	params := DefaultParams()
	params.Compression = o.Compression
	if o.Compression == rocksdb.DisableCompressionOption {
		base := 1
		if p.io.CompactionStyle == rocksdb.CompactionStyleLevel {
			base = vs.BaseLevel()
		}
		params.Compression = GetCompressionType(vs, mo, outputLevel, base, true)
	}
	params.CompressionOpts = GetCompressionOptions(mo, vs, outputLevel, true)
	params.Inputs, params.OutputLevel, params.OutputPathID = inputs, outputLevel, outputPathID
	params.TargetFileSize, params.MaxCompactionBytes = o.OutputFileSizeLimit, mo.MaxCompactionBytes
	params.OutputTemperatureOverride, params.MaxSubcompactions = o.OutputTemperatureOverride, o.MaxSubcompactions
	params.EarliestSnapshot, params.SnapshotChecker = earliestSnapshot, checker
	params.Reason = rocksdb.CompactionReasonManualCompaction
	c := NewCompaction(vs, p.io, mo, mdb, params)
	p.RegisterCompaction(c)
	return c
}

// GetCompactionInputsFromFileNumbers gives the files by level, from the first
// level with one to the last.
func (p *CompactionPicker) GetCompactionInputsFromFileNumbers(input map[uint64]struct{}, vs *version.StorageInfo) ([]CompactionInputFiles, error) {
	if len(input) == 0 {
		return nil, rocksdb.InvalidArgument("Compaction must include at least one file.")
	}
	matched := make([]CompactionInputFiles, vs.NumLevels())
	found := map[uint64]struct{}{}
	first, last := -1, -1
	for level := range matched {
		matched[level].Level = level
		for _, f := range vs.LevelFiles(level) {
			if _, ok := input[f.FD.GetNumber()]; !ok {
				continue
			}
			found[f.FD.GetNumber()] = struct{}{}
			matched[level].Files = append(matched[level].Files, f)
			last = level
			if first < 0 {
				first = level
			}
		}
	}
	if len(found) < len(input) {
		var missing []uint64
		for n := range input {
			if _, ok := found[n]; !ok {
				missing = append(missing, n)
			}
		}
		slices.Sort(missing)
		msg := "Cannot find matched SST files for the following file numbers:"
		for _, n := range missing {
			msg += fmt.Sprintf(" %d", n)
		}
		return nil, rocksdb.InvalidArgument(msg)
	}
	return matched[first : last+1], nil
}

// SanitizeCompactionInputFiles adds to input the files that have to be compacted
// with those there, and gives all by level. mo are the options of vs.
func (p *CompactionPicker) SanitizeCompactionInputFiles(input map[uint64]struct{}, outputLevel int,
	meta *rocksdb.ColumnFamilyMetaData, vs *version.StorageInfo, mo *options.MutableCFOptions) ([]CompactionInputFiles, error) {
	if last := len(meta.Levels) - 1; outputLevel > last {
		return nil, rocksdb.InvalidArgumentf("Output level for column family %s must between [0, %d].", meta.Name, meta.Levels[last].Level)
	}
	if outputLevel > p.MaxOutputLevel() {
		return nil, rocksdb.InvalidArgumentf("Exceed the maximum output level defined by the current compaction algorithm --- %d", p.MaxOutputLevel())
	}
	if outputLevel < 0 {
		return nil, rocksdb.InvalidArgument("Output level cannot be negative.")
	}
	if len(input) == 0 {
		return nil, rocksdb.InvalidArgument("A compaction must contain at least one file.")
	}
	if err := p.sanitizeForAllLevels(input, meta, outputLevel); err != nil {
		return nil, err
	}
	if err := checkCompactionInputs(input, meta, outputLevel); err != nil {
		return nil, err
	}
	inputs, err := p.GetCompactionInputsFromFileNumbers(input, vs)
	if err != nil {
		return nil, err
	}
	if outputLevel != 0 && p.conflicts(vs, mo, inputs, outputLevel) {
		return nil, rocksdb.Aborted("A running compaction is writing to the same output level(s) in an overlapping key range")
	}
	return inputs, nil
}

func checkCompactionInputs(input map[uint64]struct{}, meta *rocksdb.ColumnFamilyMetaData, outputLevel int) error {
	type place struct {
		level int
		busy  bool
	}
	places := map[uint64]place{}
	for i := range meta.Levels {
		for j := range meta.Levels[i].Files {
			f := &meta.Levels[i].Files[j]
			places[filename.TableFileNameToNumber(f.Name)] = place{meta.Levels[i].Level, f.BeingCompacted}
		}
	}
	for n := range input {
		at, ok := places[n]
		name := filename.MakeTableFileName("", n)
		switch {
		case !ok:
			return rocksdb.InvalidArgumentf("Specified compaction input file %s does not exist in column family %s.", name, meta.Name)
		case at.busy:
			return rocksdb.Aborted("Specified compaction input file " + name + " is already being compacted.")
		case at.level > outputLevel:
			return rocksdb.InvalidArgumentf("Cannot compact file to up level, input file: %s level %d > output level %d", name, at.level, outputLevel)
		}
	}
	return nil
}

// sanitizeForAllLevels adds, level by level, the files between the inputs, those
// that share keys with them, and what their range overlaps further down.
func (p *CompactionPicker) sanitizeForAllLevels(input map[uint64]struct{}, meta *rocksdb.ColumnFamilyMetaData, outputLevel int) error {
	var smallest, largest []byte
	initialized := false
	for l := 0; l <= outputLevel; l++ {
		files := meta.Levels[l].Files
		first, last := len(files), -1
		for i := range files {
			if _, ok := input[filename.TableFileNameToNumber(files[i].Name)]; !ok {
				continue
			}
			first, last = min(first, i), i
			if !initialized {
				smallest, largest = files[i].SmallestKey, files[i].LargestKey
				initialized = true
			}
		}
		if last < 0 {
			continue
		}
		if l > 0 {
			for first > 0 && p.icmp.CompareWithoutTimestamp(files[first-1].LargestKey, files[first].SmallestKey) >= 0 {
				first--
			}
			for last < len(files)-1 && p.icmp.CompareWithoutTimestamp(files[last+1].SmallestKey, files[last].LargestKey) <= 0 {
				last++
			}
		} else if outputLevel > 0 {
			last = len(files) - 1
		}
		for i := first; i <= last; i++ {
			f := &files[i]
			if f.BeingCompacted {
				return rocksdb.Aborted("Necessary compaction input file " + f.Name + " is currently being compacted.")
			}
			input[filename.TableFileNameToNumber(f.Name)] = struct{}{}
			if p.icmp.CompareWithoutTimestamp(smallest, f.SmallestKey) > 0 {
				smallest = f.SmallestKey
			}
			if p.icmp.CompareWithoutTimestamp(largest, f.LargestKey) < 0 {
				largest = f.LargestKey
			}
		}
		// This level as well: the range may have come from the levels above.
		for m := max(l, 1); m <= outputLevel; m++ {
			for i := range meta.Levels[m].Files {
				f := &meta.Levels[m].Files[i]
				if p.icmp.CompareWithoutTimestamp(f.SmallestKey, largest) > 0 || p.icmp.CompareWithoutTimestamp(f.LargestKey, smallest) < 0 {
					continue
				}
				if f.BeingCompacted {
					return rocksdb.Aborted("File " + f.Name +
						" that has overlapping key range with one of the compaction  input file is currently being compacted.")
				}
				input[filename.TableFileNameToNumber(f.Name)] = struct{}{}
			}
		}
	}
	return nil
}

// pickFilesMarkedForCompaction sets in to a marked file, with its clean cut, and
// gives the levels; in stays empty when none can go. skip tells which not to
// take.
func (p *CompactionPicker) pickFilesMarkedForCompaction(vs *version.StorageInfo, in *CompactionInputFiles,
	skip func(f *version.FileMetaData) bool) (startLevel, outputLevel int) {
	marked := vs.FilesMarkedForCompaction()
	if len(marked) == 0 {
		return -1, -1
	}
	try := func(m version.LevelFile) bool {
		if m.File.BeingCompacted || skip(m.File) {
			return false
		}
		startLevel, outputLevel = m.Level, m.Level+1
		if m.Level == 0 {
			outputLevel = vs.BaseLevel()
			if len(p.level0) > 0 {
				return false
			}
		}
		in.Files, in.Level = []*version.FileMetaData{m.File}, m.Level
		return p.expandToCleanCut(vs, in)
	}
	// Any of them first, so that one that cannot go does not hold up the rest.
	i := rand.IntN(len(marked))
	syncpoint.ProcessArg("CompactionPicker::PickFilesMarkedForCompaction", &i)
	if try(marked[i]) {
		return startLevel, outputLevel
	}
	for _, m := range marked {
		if try(m) {
			return startLevel, outputLevel
		}
	}
	in.clear()
	return startLevel, outputLevel
}

// getOverlappingL0Files adds to in, of level 0, the files that overlap. It is
// false when a file of the output level in the range is being compacted.
func (p *CompactionPicker) getOverlappingL0Files(vs *version.StorageInfo, in *CompactionInputFiles, outputLevel int,
	startingL0File *version.FileMetaData) bool {
	lo, hi := p.GetRange(in)
	in.Files, _, _ = vs.GetOverlappingInputsWithOptions(0, lo, hi, version.OverlapOptions{StartingL0File: startingL0File})
	lo, hi = p.GetRange(in)
	return !p.isRangeInCompaction(vs, lo, hi, outputLevel)
}

// PickCostBasedIntraL0Compaction takes files of level 0 from the newest on, as
// long as the bytes rewritten for each file saved go down and stay below
// maxBytesPerDelFile; nil for fewer than minFiles.
func PickCostBasedIntraL0Compaction(files []*version.FileMetaData, minFiles int, maxBytesPerDelFile, maxCompactionBytes uint64) []*version.FileMetaData {
	syncpoint.Process("PickCostBasedIntraL0Compaction")
	if len(files) == 0 || files[0].BeingCompacted {
		return nil
	}
	total := files[0].FD.GetFileSize()
	perFile := uint64(math.MaxUint64)
	n := 1
	for ; n < len(files); n++ {
		total += files[n].FD.GetFileSize()
		next := total / uint64(n)
		if files[n].BeingCompacted || next > perFile || total > maxCompactionBytes {
			break
		}
		perFile = next
	}
	if n >= minFiles && perFile < maxBytesPerDelFile {
		return slices.Clone(files[:n])
	}
	return nil
}

// GetCompressionType is the compression of files written to a level.
func GetCompressionType(vs *version.StorageInfo, mo *options.MutableCFOptions, level, baseLevel int, enable bool) rocksdb.CompressionType {
	switch {
	case !enable:
		return rocksdb.NoCompression
	case mo.BottommostCompression != rocksdb.DisableCompressionOption && level >= vs.NumNonEmptyLevels()-1:
		return mo.BottommostCompression
	case len(mo.CompressionPerLevel) > 0:
		i := 0
		if level != 0 {
			i = level - baseLevel + 1
		}
		return mo.CompressionPerLevel[max(0, min(i, len(mo.CompressionPerLevel)-1))]
	}
	return mo.Compression
}

// GetCompressionOptions go with GetCompressionType.
func GetCompressionOptions(mo *options.MutableCFOptions, vs *version.StorageInfo, level int, enable bool) rocksdb.CompressionOptions {
	if enable && level >= vs.NumNonEmptyLevels()-1 && mo.BottommostCompressionOpts.Enabled {
		return mo.BottommostCompressionOpts
	}
	return mo.CompressionOpts
}

// NullCompactionPicker picks nothing: only the application's CompactFiles
// compacts.
type NullCompactionPicker struct{ CompactionPicker }

// NewNullCompactionPicker makes one.
func NewNullCompactionPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) *NullCompactionPicker {
	return &NullCompactionPicker{newCompactionPicker(io, icmp)}
}

// PickCompaction gives nil.
func (*NullCompactionPicker) PickCompaction(string, *options.MutableCFOptions, *options.MutableDBOptions, []rocksdb.SequenceNumber,
	dbformat.SnapshotChecker, *version.StorageInfo, bool) *Compaction {
	return nil
}

// CompactRange gives nil.
func (*NullCompactionPicker) CompactRange(string, *options.MutableCFOptions, *options.MutableDBOptions, *version.StorageInfo,
	ManualRange) (*Compaction, dbformat.InternalKey, bool) {
	return nil, nil, false
}

// NeedsCompaction is false.
func (*NullCompactionPicker) NeedsCompaction(*version.StorageInfo) bool { return false }

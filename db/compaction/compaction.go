// Port of db/compaction/compaction.{h,cc}. Differs: the input version and the
// column family are seen through InputVersion and CFView.

package compaction

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// InvalidLevel is no level.
const InvalidLevel = -1

// AtomicCompactionUnitBoundary is the range of the files of a level that have to
// be compacted together with a file, since they share user keys one by one. The
// file's range tombstones count within it.
type AtomicCompactionUnitBoundary struct {
	Smallest, Largest dbformat.InternalKey
}

// CompactionInputFiles are the inputs from one level.
type CompactionInputFiles struct {
	Level int
	Files []*version.FileMetaData
	// AtomicCompactionUnitBoundaries has one element a file, but is empty for
	// level 0; NewCompaction fills it in.
	AtomicCompactionUnitBoundaries []AtomicCompactionUnitBoundary
}

// Empty tells whether there is no file.
func (f *CompactionInputFiles) Empty() bool { return len(f.Files) == 0 }

// Size is the number of files.
func (f *CompactionInputFiles) Size() int { return len(f.Files) }

func (f *CompactionInputFiles) clear() { f.Files = nil }

// InputVersion is the version a compaction reads; the DB's is one. Ref and
// Unref need the database's mutex.
type InputVersion interface {
	Ref()
	Unref() bool
	StorageInfo() *version.StorageInfo
	GetVersionNumber() uint64
	// GetTableProperties reads a table's properties; name is its path.
	GetTableProperties(ro *rocksdb.ReadOptions, f *version.FileMetaData, name string) (*rocksdb.TableProperties, error)
}

// CFView is what a compaction sees of its column family.
type CFView struct {
	ID         uint32
	Name       string
	IOptions   *options.ImmutableOptions
	Comparator *dbformat.InternalKeyComparator
	Picker     Picker
	// FullHistoryTSLow is the timestamp below which history may go, as it was
	// when the compaction was picked.
	FullHistoryTSLow []byte
}

// Params are NewCompaction's arguments that describe the work. Get them from
// DefaultParams: the zero value is not the default.
type Params struct {
	// Inputs in the order of levels; at least one file.
	Inputs             []CompactionInputFiles
	OutputLevel        int
	TargetFileSize     uint64 // bytes
	MaxCompactionBytes uint64
	OutputPathID       uint32
	Compression        rocksdb.CompressionType
	CompressionOpts    rocksdb.CompressionOptions
	// OutputTemperatureOverride other than unknown is the outputs' temperature.
	OutputTemperatureOverride rocksdb.Temperature
	MaxSubcompactions         uint32 // 0: the database's
	Grandparents              []*version.FileMetaData
	// EarliestSnapshot, when known, lets input files be left unread that a
	// standalone range tombstone file covers.
	EarliestSnapshot *rocksdb.SequenceNumber
	SnapshotChecker  dbformat.SnapshotChecker
	Reason           rocksdb.CompactionReason
	TrimTS           string
	Score            float64 // by which it was picked
	// L0FilesMightOverlap is false when the inputs of level 0 are known not to.
	L0FilesMightOverlap            bool
	BlobGarbageCollectionPolicy    rocksdb.BlobGarbageCollectionPolicy
	BlobGarbageCollectionAgeCutoff float64 // outside 0 … 1: the column family's
}

// DefaultParams gives the defaults.
func DefaultParams() Params {
	return Params{Score: -1, L0FilesMightOverlap: true,
		BlobGarbageCollectionPolicy:    rocksdb.BlobGarbageCollectionPolicyUseDefault,
		BlobGarbageCollectionAgeCutoff: -1}
}

// Compaction is the choice of files to merge into one level. From its making
// until ReleaseCompactionFiles its input files are marked as being compacted.
// What it tells does not change after FinalizeInputInfo, unless a method says
// so; those need the database's mutex.
type Compaction struct {
	p         Params
	vstorage  *version.StorageInfo
	io        *options.ImmutableOptions
	mo        *options.MutableCFOptions
	icmp      *dbformat.InternalKeyComparator
	inputs    []CompactionInputFiles
	numLevels int

	maxOutputFileSize uint64
	maxSubcompactions uint32
	outputSplitKey    dbformat.InternalKey
	bottommostLevel   bool
	isFull            bool
	isTrivialMove     bool
	blobGC            bool
	blobGCAgeCutoff   float64
	proximal          proximalOutput
	smallestUserKey   []byte
	largestUserKey    []byte

	// What is read of the inputs, and what is not because a range tombstone
	// covers it.
	inputLevels                []version.LevelFilesBrief
	filteredInputLevels        [][]*version.FileMetaData
	nonStartLevelInputFiltered [][]bool
	inputVersion               InputVersion
	view                       *CFView
	edit                       version.VersionEdit
	inputProps                 map[string]*rocksdb.TableProperties
	outputProps                map[string]*rocksdb.TableProperties
	notifyOnCompletion         bool
	notifyOnPreCommitWasCalled bool
}

// NewCompaction makes a compaction and marks its inputs. The picker that makes
// it registers it. The database's mutex is held.
func NewCompaction(vs *version.StorageInfo, io *options.ImmutableOptions, mo *options.MutableCFOptions,
	mdb *options.MutableDBOptions, p Params) *Compaction {
	c := &Compaction{p: p, vstorage: vs, io: io, mo: mo, icmp: vs.InternalComparator(), numLevels: vs.NumLevels(),
		maxSubcompactions: p.MaxSubcompactions}
	c.inputs = populateWithAtomicBoundaries(c.icmp, p.Inputs)
	c.p.Inputs = nil
	if p.Reason != rocksdb.CompactionReasonExternalSstIngestion && p.Reason != rocksdb.CompactionReasonRefitLevel {
		c.bottommostLevel = IsBottommostLevel(p.OutputLevel, vs, c.inputs)
	}
	c.isFull = isFullCompaction(vs, c.inputs)
	switch p.BlobGarbageCollectionPolicy {
	case rocksdb.BlobGarbageCollectionPolicyForce:
		c.blobGC = true
	case rocksdb.BlobGarbageCollectionPolicyDisable:
	default:
		c.blobGC = mo.EnableBlobGarbageCollection
	}
	c.blobGCAgeCutoff = p.BlobGarbageCollectionAgeCutoff
	if c.blobGCAgeCutoff < 0 || c.blobGCAgeCutoff > 1 {
		c.blobGCAgeCutoff = mo.BlobGarbageCollectionAgeCutoff
	}
	c.MarkFilesBeingCompacted(true)
	if c.maxSubcompactions == 0 {
		c.maxSubcompactions = mdb.MaxSubcompactions
	}
	// Above the bottom, outputs may grow past the target in order to end where
	// the next level's files do.
	c.maxOutputFileSize = p.TargetFileSize
	if !c.bottommostLevel && len(p.Grandparents) > 0 {
		c.maxOutputFileSize = 2 * p.TargetFileSize
	}
	c.inputLevels = make([]version.LevelFilesBrief, len(c.inputs))
	c.filteredInputLevels = make([][]*version.FileMetaData, len(c.inputs))
	if p.EarliestSnapshot == nil || !c.filterInputs() {
		for i := range c.inputs {
			c.inputLevels[i] = version.DoGenerateLevelFilesBrief(c.inputs[i].Files, c.icmp)
		}
	}
	c.smallestUserKey, c.largestUserKey = getBoundaryKeys(c.icmp, c.inputs)
	c.setOutputSplitKey()
	c.setProximalOutput()
	return c
}

// setOutputSplitKey makes outputs end at the output level's round-robin cursor.
func (c *Compaction) setOutputSplitKey() {
	if c.io.CompactionStyle != rocksdb.CompactionStyleLevel || c.io.CompactionPri != rocksdb.RoundRobin {
		return
	}
	cursors := c.vstorage.GetCompactCursors()
	if c.p.OutputLevel >= len(cursors) || len(cursors[c.p.OutputLevel]) == 0 {
		return
	}
	cursor := cursors[c.p.OutputLevel]
	uk := cursor.UserKey()
	if c.icmp.CompareWithoutTimestamp(uk, c.smallestUserKey) > 0 && c.icmp.CompareWithoutTimestamp(uk, c.largestUserKey) <= 0 {
		c.outputSplitKey = cursor
	}
}

func populateWithAtomicBoundaries(icmp *dbformat.InternalKeyComparator, inputs []CompactionInputFiles) []CompactionInputFiles {
	for i := range inputs {
		in := &inputs[i]
		if in.Level == 0 || in.Empty() {
			continue
		}
		bs := make([]AtomicCompactionUnitBoundary, len(in.Files))
		first := 0 // of the present unit
		for j, f := range in.Files {
			if j > 0 && version.SstableKeyCompare(icmp, in.Files[j-1].Largest, f.Smallest) == 0 {
				for k := first; k < j; k++ {
					bs[k].Largest = f.Largest
				}
				bs[j] = bs[first]
				continue
			}
			first = j
			bs[j] = AtomicCompactionUnitBoundary{f.Smallest, f.Largest}
		}
		in.AtomicCompactionUnitBoundaries = bs
	}
	return inputs
}

// getBoundaryKeys gives the least and greatest user key of the inputs.
func getBoundaryKeys(icmp *dbformat.InternalKeyComparator, inputs []CompactionInputFiles) (smallest, largest []byte) {
	first := true
	add := func(lo, hi []byte) {
		if first || icmp.CompareUserKey(lo, smallest) < 0 {
			smallest = lo
		}
		if first || icmp.CompareUserKey(hi, largest) > 0 {
			largest = hi
		}
		first = false
	}
	for i := range inputs {
		in := &inputs[i]
		if in.Empty() {
			continue
		}
		if in.Level == 0 {
			for _, f := range in.Files {
				add(f.Smallest.UserKey(), f.Largest.UserKey())
			}
		} else {
			add(in.Files[0].Smallest.UserKey(), in.Files[len(in.Files)-1].Largest.UserKey())
		}
	}
	return smallest, largest
}

// IsBottommostLevel tells whether nothing older than the inputs' range can be
// below the outputs.
func IsBottommostLevel(outputLevel int, vs *version.StorageInfo, inputs []CompactionInputFiles) bool {
	l0 := -1
	if outputLevel == 0 {
		// The outputs take the place of the oldest input.
		last := inputs[0].Files[len(inputs[0].Files)-1]
		for l0 = 0; l0 < vs.NumLevelFiles(0) && vs.LevelFiles(0)[l0] != last; l0++ {
		}
	}
	smallest, largest := getBoundaryKeys(vs.InternalComparator(), inputs)
	return !vs.RangeMightExistAfterSortedRun(smallest, largest, outputLevel, l0)
}

func isFullCompaction(vs *version.StorageInfo, inputs []CompactionInputFiles) bool {
	total, picked := 0, 0
	for level := 0; level < vs.NumLevels(); level++ {
		total += vs.NumLevelFiles(level)
	}
	for i := range inputs {
		picked += inputs[i].Size()
	}
	return total == picked
}

// filterInputs leaves out input files that a file of one range tombstone, seen
// by every snapshot, covers. It is false when there is no such tombstone.
func (c *Compaction) filterInputs() bool {
	files := c.inputs[0].Files
	cand := files[0]
	if c.inputs[0].Level == 0 {
		cand = files[len(files)-1]
	}
	if c.icmp.TimestampSize() > 0 || !cand.FileIsStandAloneRangeTombstone() ||
		!dataIsDefinitelyInSnapshot(cand.FD.SmallestSeqno, *c.p.EarliestSnapshot, c.p.SnapshotChecker) {
		return false
	}
	start, end := cand.Smallest.UserKey(), cand.Largest.UserKey()
	seqno := cand.FD.SmallestSeqno
	c.inputLevels[0] = version.DoGenerateLevelFilesBrief(files, c.icmp)
	for i := 1; i < len(c.inputs); i++ {
		var rest []*version.FileMetaData
		var filtered []bool
		for _, f := range c.inputs[i].Files {
			// At the same sequence number an entry wins over a tombstone; the
			// tombstone's end is exclusive.
			covered := seqno > f.FD.LargestSeqno && c.icmp.CompareWithoutTimestamp(start, f.Smallest.UserKey()) <= 0 &&
				c.icmp.CompareWithoutTimestamp(end, f.Largest.UserKey()) > 0
			filtered = append(filtered, covered)
			if covered {
				c.filteredInputLevels[i] = append(c.filteredInputLevels[i], f)
			} else {
				rest = append(rest, f)
			}
		}
		c.nonStartLevelInputFiltered = append(c.nonStartLevelInputFiltered, filtered)
		c.inputLevels[i] = version.DoGenerateLevelFilesBrief(rest, c.icmp)
	}
	return true
}

// NewIntendedCompaction stands for c, whose files are released, until a pool has
// time for it and files are picked anew. Its inputs are c's last sorted run, so
// that the others may be compacted meanwhile.
// Upstream: DBImpl::CreateIntendedCompactionForwardedToBottomPriorityPool.
func NewIntendedCompaction(c *Compaction, mdb *options.MutableDBOptions) *Compaction {
	p := c.p
	p.EarliestSnapshot, p.SnapshotChecker = nil, nil
	for _, in := range slices.Backward(c.inputs) {
		if in.Empty() {
			continue
		}
		last := CompactionInputFiles{Level: in.Level, Files: in.Files}
		if in.Level == 0 {
			last.Files = in.Files[len(in.Files)-1:]
		}
		p.Inputs = []CompactionInputFiles{last}
		break
	}
	return NewCompaction(c.vstorage, c.io, c.mo, mdb, p)
}

// FinalizeInputInfo gives the compaction its version, which it references until
// Close, and its column family. The database's mutex is held.
func (c *Compaction) FinalizeInputInfo(v InputVersion, view *CFView) {
	c.inputVersion, c.view = v, view
	v.Ref()
	c.edit.SetColumnFamily(view.ID)
	if c.icmp.TimestampSize() > 0 && len(view.FullHistoryTSLow) > 0 {
		// The picker does not know FullHistoryTSLow.
		c.vstorage.ComputeCompactionScore(c.io, c.mo, string(view.FullHistoryTSLow))
	}
}

// Close drops the reference on the input version. The database's mutex is held.
func (c *Compaction) Close() {
	if c.inputVersion != nil {
		c.inputVersion.Unref()
		c.inputVersion = nil
	}
}

// Level is the first input level.
func (c *Compaction) Level() int { return c.inputs[0].Level }

// InputLevel is the level of the i-th inputs.
func (c *Compaction) InputLevel(i int) int { return c.inputs[i].Level }

// StartLevel is the first input level.
func (c *Compaction) StartLevel() int { return c.inputs[0].Level }

// OutputLevel is where the outputs go.
func (c *Compaction) OutputLevel() int { return c.p.OutputLevel }

// NumInputLevels is the number of levels with inputs.
func (c *Compaction) NumInputLevels() int { return len(c.inputs) }

// NumInputFiles is the number of the i-th inputs, 0 beyond the last.
func (c *Compaction) NumInputFiles(i int) int {
	if i < len(c.inputs) {
		return len(c.inputs[i].Files)
	}
	return 0
}

// Input is one input file.
func (c *Compaction) Input(i, j int) *version.FileMetaData { return c.inputs[i].Files[j] }

// InputFiles are the i-th inputs. Not to be changed.
func (c *Compaction) InputFiles(i int) []*version.FileMetaData { return c.inputs[i].Files }

// Inputs are all inputs. Not to be changed.
func (c *Compaction) Inputs() []CompactionInputFiles { return c.inputs }

// Boundaries are those of the i-th inputs.
func (c *Compaction) Boundaries(i int) []AtomicCompactionUnitBoundary {
	return c.inputs[i].AtomicCompactionUnitBoundaries
}

// InputLevelFiles are the i-th inputs that are read.
func (c *Compaction) InputLevelFiles(i int) *version.LevelFilesBrief { return &c.inputLevels[i] }

// FilteredInputLevels are the i-th inputs that need not be read, for a range
// tombstone covers them.
func (c *Compaction) FilteredInputLevels(i int) []*version.FileMetaData {
	return c.filteredInputLevels[i]
}

// Edit is the version edit to install.
func (c *Compaction) Edit() *version.VersionEdit { return &c.edit }

// InputVersion is what FinalizeInputInfo set.
func (c *Compaction) InputVersion() InputVersion { return c.inputVersion }

// InputStorageInfo is the tree that the files were picked from.
func (c *Compaction) InputStorageInfo() *version.StorageInfo { return c.vstorage }

// CF is the column family, nil before FinalizeInputInfo.
func (c *Compaction) CF() *CFView { return c.view }

// Comparator orders internal keys.
func (c *Compaction) Comparator() *dbformat.InternalKeyComparator { return c.icmp }

// MaxOutputFileSize is where an output file has to end, in bytes.
func (c *Compaction) MaxOutputFileSize() uint64 { return c.maxOutputFileSize }

// TargetOutputFileSize is the size aimed at, in bytes.
func (c *Compaction) TargetOutputFileSize() uint64 { return c.p.TargetFileSize }

// MaxCompactionBytes bounds how much of the next level an output overlaps.
func (c *Compaction) MaxCompactionBytes() uint64 { return c.p.MaxCompactionBytes }

// OutputCompression is the outputs' compression.
func (c *Compaction) OutputCompression() rocksdb.CompressionType { return c.p.Compression }

// OutputCompressionOpts go with OutputCompression.
func (c *Compaction) OutputCompressionOpts() *rocksdb.CompressionOptions { return &c.p.CompressionOpts }

// OutputPathID is the path that outputs go to.
func (c *Compaction) OutputPathID() uint32 { return c.p.OutputPathID }

// GetOutputSplitKey is where an output has to end, nil for nowhere.
func (c *Compaction) GetOutputSplitKey() dbformat.InternalKey { return c.outputSplitKey }

// DeletionCompaction tells that the inputs are to be dropped without reading.
func (c *Compaction) DeletionCompaction() bool {
	return c.p.Reason == rocksdb.CompactionReasonFIFOTtl || c.p.Reason == rocksdb.CompactionReasonFIFOMaxSize
}

// Score is that by which the compaction was picked.
func (c *Compaction) Score() float64 { return c.p.Score }

// BottommostLevel tells that no older entry of the inputs' keys is below the
// outputs.
func (c *Compaction) BottommostLevel() bool { return c.bottommostLevel }

// IsLastLevel tells whether outputs go to the last level.
func (c *Compaction) IsLastLevel() bool { return c.p.OutputLevel == c.io.NumLevels-1 }

// IsFullCompaction tells whether all files are inputs.
func (c *Compaction) IsFullCompaction() bool { return c.isFull }

// IsManualCompaction tells whether a user asked for it.
func (c *Compaction) IsManualCompaction() bool {
	return c.p.Reason == rocksdb.CompactionReasonManualCompaction
}

// TrimTS is the timestamp above which entries are dropped, "" for none.
func (c *Compaction) TrimTS() string { return c.p.TrimTS }

// SetIsTrivialMove says whether the universal picker allows a move.
func (c *Compaction) SetIsTrivialMove(v bool) { c.isTrivialMove = v }

// NumberLevels is the number of levels.
func (c *Compaction) NumberLevels() int { return c.numLevels }

// ImmutableOptions are the column family's.
func (c *Compaction) ImmutableOptions() *options.ImmutableOptions { return c.io }

// MutableCFOptions are the column family's as they were when it was picked.
func (c *Compaction) MutableCFOptions() *options.MutableCFOptions { return c.mo }

// CompactionReason says why it was picked.
func (c *Compaction) CompactionReason() rocksdb.CompactionReason { return c.p.Reason }

// Grandparents are the files that the outputs will meet in the next compaction.
func (c *Compaction) Grandparents() []*version.FileMetaData { return c.p.Grandparents }

// MaxSubcompactions bounds the parallel parts.
func (c *Compaction) MaxSubcompactions() uint32 { return c.maxSubcompactions }

// AllowIngestBehind tells that files may be ingested below everything.
func (c *Compaction) AllowIngestBehind() bool {
	return c.io.CFAllowIngestBehind || c.io.AllowIngestBehind
}

// GetSmallestUserKey is the least user key of the inputs.
func (c *Compaction) GetSmallestUserKey() []byte { return c.smallestUserKey }

// GetLargestUserKey is the greatest user key of the inputs.
func (c *Compaction) GetLargestUserKey() []byte { return c.largestUserKey }

// EnableBlobGarbageCollection tells whether values move out of old blob files.
func (c *Compaction) EnableBlobGarbageCollection() bool { return c.blobGC }

// BlobGarbageCollectionAgeCutoff is which share of the blob files is old.
func (c *Compaction) BlobGarbageCollectionAgeCutoff() float64 { return c.blobGCAgeCutoff }

// inputCompressionMatchesOutput tells whether a moved file would be compressed
// as its new level wants it.
func (c *Compaction) inputCompressionMatchesOutput() bool {
	if GetCompressionType(c.vstorage, c.mo, c.StartLevel(), c.vstorage.BaseLevel(), true) == c.p.Compression {
		syncpoint.Process("Compaction::InputCompressionMatchesOutput:Matches")
		return true
	}
	syncpoint.Process("Compaction::InputCompressionMatchesOutput:DidntMatch")
	return false
}

// IsTrivialMoveAllowed tells what SetIsTrivialMove set.
func (c *Compaction) IsTrivialMoveAllowed() bool { return c.isTrivialMove }

// IsTrivialMove tells whether the inputs can go to the output level as they are.
// A move that would later make for a very large merge is not made.
func (c *Compaction) IsTrivialMove() bool {
	if c.StartLevel() == 0 && !c.vstorage.Level0NonOverlapping() && c.p.L0FilesMightOverlap {
		return false
	}
	if c.IsManualCompaction() && (c.io.CompactionFilter != nil || c.io.CompactionFilterFactory != nil) {
		return false // it shall run the filter
	}
	if c.StartLevel() == c.p.OutputLevel || c.p.Reason == rocksdb.CompactionReasonChangeTemperature {
		return false
	}
	if c.mo.CompactionOptionsUniversal.AllowTrivialMove && c.p.OutputLevel != 0 &&
		c.io.CompactionStyle == rocksdb.CompactionStyleUniversal {
		return c.isTrivialMove
	}
	if len(c.inputs) != 1 || c.Input(0, 0).FD.GetPathId() != c.p.OutputPathID || !c.inputCompressionMatchesOutput() {
		return false
	}
	if c.p.OutputLevel+1 < c.numLevels {
		partitioner := c.CreateSstPartitioner()
		for _, f := range c.inputs[0].Files {
			below := c.vstorage.GetOverlappingInputs(c.p.OutputLevel+1, f.Smallest, f.Largest)
			if f.FD.GetFileSize()+version.TotalFileSize(below) > c.p.MaxCompactionBytes {
				return false
			}
			if partitioner != nil && !partitioner.CanDoTrivialMove(f.Smallest.UserKey(), f.Largest.UserKey()) {
				return false
			}
		}
	}
	return !c.SupportsPerKeyPlacement()
}

// IsTrivialCopyCompaction tells that only the file's temperature changes and
// its bytes may be copied.
func (c *Compaction) IsTrivialCopyCompaction() bool {
	return c.io.CompactionStyle == rocksdb.CompactionStyleFIFO && c.p.Reason == rocksdb.CompactionReasonChangeTemperature &&
		c.mo.CompactionOptionsFIFO.AllowTrivialCopyWhenChangeTemperature
}

// AddInputDeletions makes edit delete the inputs.
func (c *Compaction) AddInputDeletions(edit *version.VersionEdit) {
	for i := range c.inputs {
		for _, f := range c.inputs[i].Files {
			edit.DeleteFile(c.inputs[i].Level, f.FD.GetNumber())
		}
	}
}

// KeyNotExistsBeyondOutputLevel tells that no level below the output can hold
// userKey, as far as is known without reading. levelPtrs has a place for every
// level and keeps what was found; keys have to rise from call to call with it.
func (c *Compaction) KeyNotExistsBeyondOutputLevel(userKey []byte, levelPtrs []int) bool {
	if c.bottommostLevel {
		return true
	}
	if c.p.OutputLevel == 0 || c.io.CompactionStyle != rocksdb.CompactionStyleLevel {
		return false
	}
	for level := c.p.OutputLevel + 1; level < c.numLevels; level++ {
		files := c.vstorage.LevelFiles(level)
		i := levelPtrs[level]
		for i < len(files) && c.icmp.CompareUserKey(userKey, files[i].Largest.UserKey()) > 0 {
			i++
		}
		levelPtrs[level] = i
		// The file's smallest key may be an older version of userKey, which
		// sorts behind it.
		if i < len(files) && c.icmp.CompareWithoutTimestamp(userKey, files[i].Smallest.UserKey()) >= 0 {
			return false
		}
	}
	return true
}

// KeyRangeNotExistsBeyondOutputLevel is KeyNotExistsBeyondOutputLevel for the
// user keys from begin up to end, excluded.
func (c *Compaction) KeyRangeNotExistsBeyondOutputLevel(begin, end []byte, levelPtrs []int) bool {
	if c.bottommostLevel {
		return true
	}
	if c.p.OutputLevel == 0 || c.io.CompactionStyle != rocksdb.CompactionStyleLevel {
		return false
	}
	for level := c.p.OutputLevel + 1; level < c.numLevels; level++ {
		files := c.vstorage.LevelFiles(level)
		i := levelPtrs[level]
		for i < len(files) && c.icmp.CompareWithoutTimestamp(begin, files[i].Largest.UserKey()) > 0 {
			i++
		}
		levelPtrs[level] = i
		if i < len(files) && c.icmp.CompareWithoutTimestamp(end, files[i].Smallest.UserKey()) > 0 {
			return false
		}
	}
	return true
}

// MarkFilesBeingCompacted marks the inputs or takes the mark off. The
// database's mutex is held.
func (c *Compaction) MarkFilesBeingCompacted(v bool) {
	for i := range c.inputs {
		for _, f := range c.inputs[i].Files {
			f.BeingCompacted = v
		}
	}
}

// ReleaseCompactionFiles ends the compaction: its inputs may be picked again.
// The database's mutex is held.
func (c *Compaction) ReleaseCompactionFiles(err error) {
	c.MarkFilesBeingCompacted(false)
	c.view.Picker.ReleaseCompactionFiles(c, err)
}

// ResetNextCompactionIndex makes the start level be searched from its first
// file again.
func (c *Compaction) ResetNextCompactionIndex() {
	c.vstorage.ResetNextCompactionIndex(c.StartLevel())
}

// InputLevelSummary is a text such as "3@0 + 2@3 files to L5".
func (c *Compaction) InputLevelSummary() string {
	var b strings.Builder
	for i := range c.inputs {
		if c.inputs[i].Empty() {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" + ")
		}
		fmt.Fprintf(&b, "%d@%d", len(c.inputs[i].Files), c.inputs[i].Level)
	}
	fmt.Fprintf(&b, " files to L%d", c.p.OutputLevel)
	return b.String()
}

// summarySize bounds Summary, in bytes, as upstream's buffer does.
const summarySize = 2345

// Summary lists the inputs.
func (c *Compaction) Summary() string {
	b := fmt.Appendf(nil, "Base version %d Base level %d, inputs: [", c.inputVersion.GetVersionNumber(), c.StartLevel())
	for i := range c.inputs {
		if i > 0 {
			b = append(b, "], ["...)
		}
		start := len(b)
		for j, f := range c.inputs[i].Files {
			before := len(b)
			b = fmt.Appendf(b, "%d(%s", f.FD.GetNumber(), humanBytes(f.FD.GetFileSize()))
			if i > 0 && len(c.nonStartLevelInputFiltered) > 0 {
				b = fmt.Appendf(b, " filtered:%t", c.nonStartLevelInputFiltered[i-1][j])
			}
			b = append(b, ") "...)
			if len(b) >= summarySize {
				b = b[:before]
				break
			}
		}
		if len(b) > start {
			b = b[:len(b)-1]
		}
	}
	return string(append(b, ']'))
}

func humanBytes(n uint64) string {
	switch {
	case n >= 10<<40:
		return fmt.Sprintf("%dTB", n>>40)
	case n >= 10<<30:
		return fmt.Sprintf("%dGB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%dMB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%dKB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}

// CalculateTotalInputSize sums up the inputs, in bytes.
func (c *Compaction) CalculateTotalInputSize() uint64 {
	var n uint64
	for i := range c.inputs {
		n += version.TotalFileSize(c.inputs[i].Files)
	}
	return n
}

// OutputFilePreallocationSize is how much to reserve for an output, in bytes.
func (c *Compaction) OutputFilePreallocationSize() uint64 {
	n := c.CalculateTotalInputSize()
	if c.maxOutputFileSize != math.MaxUint64 &&
		(c.io.CompactionStyle == rocksdb.CompactionStyleLevel || c.p.OutputLevel > 0) {
		n = min(n, c.maxOutputFileSize)
	}
	// A little over, so as not to just miss; not more than 1 GiB.
	return min(1<<30, n+n/10)
}

// GetOrInitInputTableProperties reads the inputs' properties; empty when that
// fails.
func (c *Compaction) GetOrInitInputTableProperties() map[string]*rocksdb.TableProperties {
	if len(c.inputProps) > 0 {
		return c.inputProps
	}
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityCompaction
	props := map[string]*rocksdb.TableProperties{}
	for i := range c.inputs {
		for _, f := range c.inputs[i].Files {
			name := filename.TableFileName(c.io.CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
			tp, err := c.inputVersion.GetTableProperties(&ro, f, name)
			if err != nil {
				logging.Error(c.io.Logger, "Unable to load table properties for file %d --- %s", f.FD.GetNumber(), err.Error())
				return nil
			}
			props[name] = tp
		}
	}
	c.inputProps = props
	return props
}

// GetInputTableProperties are those that were read, by path.
func (c *Compaction) GetInputTableProperties() map[string]*rocksdb.TableProperties {
	return c.inputProps
}

// SetOutputTableProperties notes an output's properties. One goroutine at a
// time.
func (c *Compaction) SetOutputTableProperties(name string, tp *rocksdb.TableProperties) {
	if c.outputProps == nil {
		c.outputProps = map[string]*rocksdb.TableProperties{}
	}
	c.outputProps[name] = tp
}

// GetOutputTableProperties are the outputs' properties by path.
func (c *Compaction) GetOutputTableProperties() map[string]*rocksdb.TableProperties {
	return c.outputProps
}

// CreateCompactionFilter asks the factory for a filter, nil for none.
func (c *Compaction) CreateCompactionFilter() rocksdb.CompactionFilter {
	f := c.io.CompactionFilterFactory
	if f == nil || !f.ShouldFilterTableFileCreation(rocksdb.TableFileCreationReasonCompaction) {
		return nil
	}
	ctx := &rocksdb.CompactionFilterContext{IsFullCompaction: c.isFull, IsManualCompaction: c.IsManualCompaction(),
		InputStartLevel: c.StartLevel(), ColumnFamilyID: c.view.ID, Reason: rocksdb.TableFileCreationReasonCompaction,
		InputTableProperties: c.inputProps, IsBottommostLevel: c.bottommostLevel}
	if len(ctx.InputTableProperties) == 0 {
		logging.Warn(c.io.InfoLog, "Unable to set `input_table_properties` of `CompactionFilter::Context` for compaction.")
	}
	return f.CreateCompactionFilter(ctx)
}

// CreateSstPartitioner asks the factory for a partitioner, nil for none.
func (c *Compaction) CreateSstPartitioner() rocksdb.SstPartitioner {
	if c.io.SstPartitionerFactory == nil {
		return nil
	}
	return c.io.SstPartitionerFactory.CreatePartitioner(&rocksdb.SstPartitionerContext{IsFullCompaction: c.isFull,
		IsManualCompaction: c.IsManualCompaction(), OutputLevel: c.p.OutputLevel,
		SmallestUserKey: c.smallestUserKey, LargestUserKey: c.largestUserKey})
}

// IsOutputLevelEmpty tells whether there is no input from the output level.
func (c *Compaction) IsOutputLevelEmpty() bool {
	last := &c.inputs[len(c.inputs)-1]
	return last.Level != c.p.OutputLevel || last.Empty()
}

// ShouldFormSubcompactions tells whether the work may be done in parallel parts.
func (c *Compaction) ShouldFormSubcompactions() bool {
	if c.view == nil || c.mo.TableFactory.Name() == rocksdb.PlainTableName {
		return false
	}
	// Round-robin makes parts by default, even more than MaxSubcompactions.
	if c.io.CompactionPri == rocksdb.RoundRobin && c.io.CompactionStyle == rocksdb.CompactionStyleLevel {
		return c.p.OutputLevel > 0
	}
	if c.maxSubcompactions <= 1 {
		return false
	}
	switch c.io.CompactionStyle {
	case rocksdb.CompactionStyleLevel:
		return (c.StartLevel() == 0 || c.IsManualCompaction()) && c.p.OutputLevel > 0
	case rocksdb.CompactionStyleUniversal:
		return c.numLevels > 1 && c.p.OutputLevel > 0
	}
	return false
}

// DoesInputReferenceBlobFiles tells whether inputs have values in blob files.
func (c *Compaction) DoesInputReferenceBlobFiles() bool {
	if len(c.vstorage.GetBlobFiles()) == 0 {
		return false
	}
	for i := range c.inputs {
		for _, f := range c.inputs[i].Files {
			if f.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
				return true
			}
		}
	}
	return false
}

// eachInput calls do with the inputs that overlap the internal keys from start
// to end; nil is open.
func (c *Compaction) eachInput(start, end dbformat.InternalKey, do func(f *version.FileMetaData)) {
	for i := range c.inputs {
		for _, f := range c.inputs[i].Files {
			if start != nil && c.icmp.Compare(f.Largest, start) < 0 || end != nil && c.icmp.Compare(f.Smallest, end) > 0 {
				continue
			}
			do(f)
		}
	}
}

// MaxInputFileNewestKeyTime is the newest key's time, in seconds, of the inputs
// that overlap the range.
func (c *Compaction) MaxInputFileNewestKeyTime(start, end dbformat.InternalKey) uint64 {
	newest := version.UnknownNewestKeyTime
	c.eachInput(start, end, func(f *version.FileMetaData) { newest = max(newest, f.TryGetNewestKeyTime(nil)) })
	return newest
}

// MinInputFileOldestAncesterTime is the oldest ancestor's time, in seconds, of
// the inputs that overlap the range; MaxUint64 when none is known.
func (c *Compaction) MinInputFileOldestAncesterTime(start, end dbformat.InternalKey) uint64 {
	oldest := uint64(math.MaxUint64)
	c.eachInput(start, end, func(f *version.FileMetaData) {
		if t := f.TryGetOldestAncesterTime(); t != 0 {
			oldest = min(oldest, t)
		}
	})
	return oldest
}

// MinInputFileEpochNumber is the least epoch of the inputs, which the outputs
// get.
func (c *Compaction) MinInputFileEpochNumber() uint64 {
	epoch := uint64(math.MaxUint64)
	c.eachInput(nil, nil, func(f *version.FileMetaData) { epoch = min(epoch, f.EpochNumber) })
	return epoch
}

// GetOutputTemperature is where outputs, on the proximal level or not, are to be
// stored.
func (c *Compaction) GetOutputTemperature(proximal bool) rocksdb.Temperature {
	switch {
	case c.p.OutputTemperatureOverride != rocksdb.TemperatureUnknown:
		return c.p.OutputTemperatureOverride
	case c.IsLastLevel() && !proximal && c.mo.LastLevelTemperature != rocksdb.TemperatureUnknown:
		return c.mo.LastLevelTemperature
	}
	return c.mo.DefaultWriteTemperature
}

// SetNotifyOnCompactionCompleted says that listeners were told of the begin.
func (c *Compaction) SetNotifyOnCompactionCompleted() { c.notifyOnCompletion = true }

// ShouldNotifyOnCompactionCompleted tells whether listeners were told of the
// begin.
func (c *Compaction) ShouldNotifyOnCompactionCompleted() bool { return c.notifyOnCompletion }

// SetNotifyOnCompactionPreCommitCalled says that listeners were told before the
// result is installed.
func (c *Compaction) SetNotifyOnCompactionPreCommitCalled() { c.notifyOnPreCommitWasCalled = true }

// WasNotifyOnCompactionPreCommitCalled tells what that set.
func (c *Compaction) WasNotifyOnCompactionPreCommitCalled() bool { return c.notifyOnPreCommitWasCalled }
